package pose

import (
	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
)

// flow is what the equations do to the moving states in a step: Φ of (δ, ω, x, y) by (δ, ω) and by the coefficients. By their own, x and y
// are as they were, and by the contact velocity they move by h.
type flow struct {
	b [dynamicStates][6]float64
	c [dynamicStates][3]float64
}

// transition is 1 + A·h + A²·h²/2 of the states, A the equations linearised at q and ω, where dω/dt is a:
//
//	dδ/dt = δω − ω×δ,   δ(dω/dt) = Aδ·δ + Aω·δω + Aμ·δμ,   δ(dx/dt) = R·(ŷ, R·(δω − ω×δ)) + δu,   δ(dy/dt) = −R·(x̂, …) + δu
func (f *Rolling) transition(q quat.Number, w, a r3.Vec, h float64, phi *flow) {
	var b [dynamicStates][6]float64
	var c [3][3]float64 // dω/dt by the coefficients
	g := ball.FrameOf(q)
	s := f.model.Slopes(&g, w, a)
	skew := rotation.Skew(r3.Scale(-1, w))
	for i := range 3 {
		b[i][0], b[i][1], b[i][2], b[i][3+i] = skew[i][0], skew[i][1], skew[i][2], 1
		b[3][i], b[4][i], b[5][i] = s.Turn[i].X, s.Turn[i].Y, s.Turn[i].Z
		b[3][3+i], b[4][3+i], b[5][3+i] = s.Omega[i].X, s.Omega[i].Y, s.Omega[i].Z
	}
	for k, v := range [3]r3.Vec{s.Roll, s.Spin, s.Quadratic} {
		c[0][k], c[1][k], c[2][k] = v.X, v.Y, v.Z
	}
	for k, v := range [2]r3.Vec{r3.Scale(f.spec.Ball.Radius, g.B), r3.Scale(-f.spec.Ball.Radius, g.A)} {
		turned := r3.Cross(w, v) // (v, −ω×δ) = (ω×v, δ)
		b[6+k] = [6]float64{turned.X, turned.Y, turned.Z, v.X, v.Y, v.Z}
	}
	for i := range dynamicStates {
		bi := &b[i]
		for j := range 3 {
			// A² by its columns: δ meets −ω× and Aδ, ω meets 1 and Aω
			turn := bi[0]*b[0][j] + bi[1]*b[1][j] + bi[2]*b[2][j] + bi[3]*b[3][j] + bi[4]*b[4][j] + bi[5]*b[5][j]
			omega := bi[j] + bi[3]*b[3][3+j] + bi[4]*b[4][3+j] + bi[5]*b[5][3+j]
			phi.b[i][j] = h * (bi[j] + h/2*turn)
			phi.b[i][3+j] = h * (bi[3+j] + h/2*omega)
			phi.c[i][j] = h * h / 2 * (bi[3]*c[0][j] + bi[4]*c[1][j] + bi[5]*c[2][j])
		}
		if i < 6 {
			phi.b[i][i]++
		}
	}
	for i := range 3 {
		for j := range 3 {
			phi.c[3+i][j] += h * c[i][j]
		}
	}
}

// propagate replaces P by Φ·P·Φᵀ.
func (m *flow) propagate(p *square, h float64, n int) {
	var a [dynamicStates][maxStates]float64 // Φ·P
	for i := range dynamicStates {
		b, c := &m.b[i], &m.c[i]
		row := a[i][:n]
		for j := range row {
			row[j] = b[0]*p[0][j] + b[1]*p[1][j] + b[2]*p[2][j] + b[3]*p[3][j] + b[4]*p[4][j] + b[5]*p[5][j] +
				c[0]*p[iRoll][j] + c[1]*p[iSpin][j] + c[2]*p[iQuadratic][j]
		}
		if i >= iPlace {
			for j := range row {
				row[j] += p[i][j] + h*p[iSlip-iPlace+i][j]
			}
		}
	}
	for i := range dynamicStates {
		x := &a[i]
		for j := range i + 1 {
			b, c := &m.b[j], &m.c[j]
			s := b[0]*x[0] + b[1]*x[1] + b[2]*x[2] + b[3]*x[3] + b[4]*x[4] + b[5]*x[5] + c[0]*x[iRoll] + c[1]*x[iSpin] + c[2]*x[iQuadratic]
			if j >= iPlace {
				s += x[j] + h*x[iSlip-iPlace+j]
			}
			p[i][j], p[j][i] = s, s
		}
		for j := dynamicStates; j < n; j++ {
			p[i][j], p[j][i] = x[j], x[j]
		}
	}
}
