package multibody

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// turnedBy writes r·exp(θ) to to.
func turnedBy(r *rotation.Matrix, theta r3.Vec, to *rotation.Matrix) {
	if theta == (r3.Vec{}) {
		*to = *r
		return
	}
	e := rotation.MatrixOf(rotation.Exp(theta))
	multiply(r, &e, to)
}

// carry adds what hangs on a node to its flexible body: seen from there, a unit of a mode moves the node by its column.
func (m *Model) carry(d *Data, j int) {
	s := &d.body[j]
	t, e := &s.art, d.body[m.body[j].parent].flex
	t.push(&s.cor)
	for k := range s.modes {
		c := &s.modes[k]
		f := t.times(c)
		e.c1[k].push(Wrench{r3.Add(f.M, r3.Cross(s.arm, f.F)), f.F})
		e.cp[k] += r3.Dot(c.ang, t.p.M) + r3.Dot(c.lin, t.p.F)
		for i := range s.modes {
			e.c2[k*len(s.modes)+i] += r3.Dot(s.modes[i].ang, f.M) + r3.Dot(s.modes[i].lin, f.F)
		}
	}
	t.shift(s.arm, &d.body[m.body[j].parent].art)
}

// times is I^A·c.
func (t *articulated) times(c *spatial) (f Wrench) {
	p := t.p
	t.p = Wrench{}
	t.push(c)
	f, t.p = t.p, p
	return f
}

// condense eliminates the modes of a flexible body under the forces tau, after all that hangs on it was carried:
// I^A − M1·M2⁻¹·M1ᵀ, p^A − M1·M2⁻¹(p_a − τ_a). The source's (12) without its misprint.
func (t *articulated) condense(e *flexData, tau []float64) bool {
	n := len(tau)
	for k := range n {
		e.u[k] = tau[k] - e.cp[k]
		// row k of L, M2 = L·Lᵀ, and of L⁻¹·M1ᵀ and L⁻¹·u
		for i := range k + 1 {
			x := e.c2[k*n+i]
			for l := range i {
				x -= e.c2[k*n+l] * e.c2[i*n+l]
			}
			if i < k {
				e.c2[k*n+i] = x / e.c2[i*n+i]
			} else if !(x > 0) {
				return false
			} else {
				e.c2[k*n+k] = math.Sqrt(x)
			}
		}
		g := e.c1[k]
		for i := range k {
			x := e.c2[k*n+i]
			g = Wrench{r3.Sub(g.M, r3.Scale(x, e.c1[i].M)), r3.Sub(g.F, r3.Scale(x, e.c1[i].F))}
			e.u[k] -= x * e.u[i]
		}
		x := 1 / e.c2[k*n+k]
		e.c1[k] = Wrench{r3.Scale(x, g.M), r3.Scale(x, g.F)}
		e.u[k] *= x
	}
	for k := range n {
		t.downdate(e.c1[k].M, e.c1[k].F, 1)
		t.p.push(Wrench{r3.Scale(e.u[k], e.c1[k].M), r3.Scale(e.u[k], e.c1[k].F)})
	}
	return true
}

// expand writes the accelerations of the modes for that of the body.
func (e *flexData) expand(acc *spatial, to []float64) {
	n := len(to)
	for k := range n {
		to[k] = e.u[k] - r3.Dot(e.c1[k].M, acc.ang) - r3.Dot(e.c1[k].F, acc.lin)
	}
	for k := n - 1; k >= 0; k-- {
		for i := k + 1; i < n; i++ {
			to[k] -= e.c2[i*n+k] * to[i]
		}
		to[k] /= e.c2[k*n+k]
	}
}

// compose adds the inertia of all that hangs on a node to the modes of its flexible body, for CRBA.
func (m *Model) compose(d *Data, j int) {
	s := &d.body[j]
	e := d.body[m.body[j].parent].flex
	for k := range s.modes {
		c := &s.modes[k]
		fl := r3.Add(r3.Scale(s.mass, c.lin), r3.Cross(c.ang, s.mcAll))
		fa := r3.Add(s.ioAll.vec(c.ang), r3.Cross(s.mcAll, c.lin))
		e.c1[k].push(Wrench{r3.Add(fa, r3.Cross(s.arm, fl)), fl})
		for i := range s.modes {
			e.c2[k*len(s.modes)+i] += r3.Dot(s.modes[i].ang, fa) + r3.Dot(s.modes[i].lin, fl)
		}
	}
}
