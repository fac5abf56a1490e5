package lcp

import (
	"math"
	"math/rand/v2"
)

// slider is a brush in its holder on a rough wheel, cut down to what the solver sees: 11 coordinates
// (x, y, φ, u1, s1, u2, s2, u3, s3, φ_h, φ_s), 15 face points, four holder ends, one spring tip, stiff joints taken
// implicitly, Moreau's scheme with θ = 0.55 at 20 µs and a share of the penetration given back in every step.
type slider struct {
	length, clearance, kappa, tilt float64
	muFace, muHolder, muSpring     float64
	epsFace, epsHolder, epsSpring  float64
	give                           float64 // share of a penetration given back
	preload                        float64 // N·m
	speed                          float64 // rad/s

	q, u        [11]float64
	t           float64
	face        [15]float64
	amp, phase  [40]float64
	state       [20]State
	impulse     [40]float64
	q0          friction // the last problem
	ids         []int
	f           *Frictional
	st          []State
	p           []float64
	last        FrictionResult
	corrections []float64
	kmat, cmat  [121]float64
	seen        func(q friction, c []float64, st []State, p []float64)
}

const sliderDOF = 11

func newSlider(r *rand.Rand) *slider {
	s := &slider{length: 0.032, clearance: 1.4e-4, kappa: 1, muFace: 0.2, muHolder: 0.15, muSpring: 0.15, epsFace: 0.3, epsHolder: 0.4,
		epsSpring: 0.2, give: 0.2, preload: 0.05, speed: 2 * math.Pi * 50, f: NewFrictional(20)}
	for i := range s.face {
		s.face[i] = 1.5e-6 * r.NormFloat64()
	}
	for i := range s.amp {
		s.amp[i], s.phase[i] = 0.35e-6*r.NormFloat64(), 2*math.Pi*r.Float64()
	}
	return s
}

const (
	sliderR, sliderW, sliderHs, sliderLh = 0.011, 6.3e-3, 1e-3, 0.020
	sliderLs, sliderRs, sliderTop        = 0.020, 1.5e-3, 0.10
)

func (s *slider) start() {
	s.q[1] = sliderR + 20e-6 + sliderHs + (s.length-sliderHs)/2 + 3e-6
	s.q[2] = s.tilt
	ka, ks := 1e6*s.kappa, 0.35e6*s.kappa
	const ca, cs = 20, 12
	for i := range 3 {
		for e, kc := range [2][2]float64{{ka, ca}, {ks, cs}} {
			a := 3 + 2*i + e
			s.kmat[a*12] += kc[0]
			s.cmat[a*12] += kc[1]
			if i < 2 {
				b := a + 2
				k, c := kc[0]/2, kc[1]/2
				s.kmat[a*12] += k
				s.kmat[b*12] += k
				s.kmat[a*11+b] -= k
				s.kmat[b*11+a] -= k
				s.cmat[a*12] += c
				s.cmat[b*12] += c
				s.cmat[a*11+b] -= c
				s.cmat[b*11+a] -= c
			}
		}
	}
	s.kmat[9*12], s.cmat[9*12] = 500, 5e-3
	s.kmat[10*12], s.cmat[10*12] = 8e-3, 2e-5
	// arm so that the tip touches
	s.q[10] = 0
	for range 60 {
		g, _, _, _ := s.tip(s.q)
		s.q[10] -= g / sliderLs
	}
}

// tip is the gap of the spring tip, its normal and the contact point.
func (s *slider) tip(q [11]float64) (g float64, n, c, arm [2]float64) {
	sp, cp := math.Sincos(q[2] + sliderTop)
	n = [2]float64{-sp, cp}
	sb, cb := math.Sincos(q[2])
	half := (s.length - sliderHs) / 2
	sa, ca := math.Sincos(q[10])
	arm = [2]float64{sliderLs * ca, sliderLs * sa}
	tx, ty := -0.018+arm[0], sliderR+s.length+4e-3+arm[1]
	g = (tx-q[0]+half*sb)*n[0] + (ty-q[1]-half*cb)*n[1] - sliderRs
	c = [2]float64{tx - sliderRs*n[0], ty - sliderRs*n[1]}
	return g, n, c, [2]float64{c[0] + 0.018, c[1] - (sliderR + s.length + 4e-3)}
}

// profile of the wheel and its slope by the angle.
func (s *slider) profile(a float64) (r, dr float64) {
	r = sliderR
	for i, x := range s.amp {
		k := float64(2 + 3*i)
		sn, cs := math.Sincos(k*a + s.phase[i])
		r += x * sn
		dr += k * x * cs
	}
	// slots: dips of 10 µm
	pitch := 2 * math.Pi / 24
	x := math.Mod(a, pitch)
	if x < 0 {
		x += pitch
	}
	x = (x - pitch/2) * sliderR
	const half = 2.5e-4 + 3e-4
	if math.Abs(x) < half {
		r -= 0.5e-5 * (1 + math.Cos(math.Pi*x/half))
		dr += 0.5e-5 * math.Sin(math.Pi*x/half) * math.Pi / half * sliderR
	}
	return r, dr
}

// step makes one step and leaves the problem it solved in q0.
func (s *slider) step(h float64) {
	const th, f = 0.55, sliderDOF
	var m, mh [121]float64
	s.mass(s.q, &m)
	var force [11]float64
	force[1] = -9.81 * m[0]
	force[10] -= s.preload
	for i := range f {
		for j := range f {
			k, c := s.kmat[i*f+j], s.cmat[i*f+j]
			force[i] -= k*s.q[j] + c*s.u[j] + h*th*k*s.u[j]
			mh[i*f+j] = m[i*f+j] + h*th*c + h*h*th*th*k
		}
	}
	for i := range force {
		force[i] *= h
	}
	chol(mh[:], f)
	cholSolve(mh[:], f, force[:])
	var free, qm [11]float64
	for i := range f {
		free[i] = s.u[i] + force[i]
		qm[i] = s.q[i] + h/2*s.u[i]
	}
	var rows [][]float64
	var b, mu []float64
	s.ids, s.st, s.p = s.ids[:0], s.st[:0], s.p[:0]
	s.corrections = s.corrections[:0]
	add := func(id int, g, mui, eps float64, wn, wt [11]float64, vn, vt float64) {
		if g > 0 {
			return
		}
		old, bn, bt := vn, vn, vt
		for i := range f {
			old += wn[i] * s.u[i]
			bn += wn[i] * free[i]
			bt += wt[i] * free[i]
		}
		c := s.give * g / h
		if old < -1e-3 {
			c += eps * old
		}
		rows = append(rows, append([]float64(nil), wn[:]...), append([]float64(nil), wt[:]...))
		b, mu = append(b, bn, bt), append(mu, mui)
		s.ids = append(s.ids, id)
		s.st = append(s.st, s.state[id])
		s.p = append(s.p, s.impulse[2*id], s.impulse[2*id+1])
		s.corrections = append(s.corrections, c, 0)
	}
	s.contacts(qm, s.t+h/2, add)
	n2 := len(rows)
	d := make([]float64, n2*n2)
	x := make([][]float64, n2)
	for i := range rows {
		x[i] = append([]float64(nil), rows[i]...)
		cholSolve(mh[:], f, x[i])
	}
	for i := range n2 {
		for j := range n2 {
			for l := range f {
				d[i*n2+j] += rows[i][l] * x[j][l]
			}
		}
	}
	for i := range n2 {
		for j := range i {
			d[i*n2+j] = d[j*n2+i]
		}
	}
	s.q0 = friction{d, b, mu}
	if s.seen != nil {
		s.seen(s.q0, s.corrections, s.st, s.p)
	}
	s.last = s.f.SolveEased(d, b, s.corrections, mu, s.st, s.p)
	clear(s.state[:])
	clear(s.impulse[:])
	next := free
	for k, id := range s.ids {
		s.state[id] = s.st[k]
		s.impulse[2*id], s.impulse[2*id+1] = s.p[2*k], s.p[2*k+1]
		for l := range f {
			next[l] += x[2*k][l]*s.p[2*k] + x[2*k+1][l]*s.p[2*k+1]
		}
	}
	for i := range f {
		s.q[i] += h * (th*next[i] + (1-th)*s.u[i])
	}
	s.u = next
	s.t += h
}

func (s *slider) mass(q [11]float64, m *[121]float64) {
	const rho, lax = 1600, 11e-3
	body := s.length - sliderHs
	m0 := rho * sliderW * lax * body
	j0 := m0 * (sliderW*sliderW + body*body) / 12
	mi := rho * sliderW / 3 * lax * sliderHs
	ji := mi * (sliderW*sliderW/9 + sliderHs*sliderHs) / 12
	m[0], m[12], m[24], m[9*12], m[10*12] = m0, m0, j0+3*ji, 1.5e-6, 2e-7
	sn, cs := math.Sincos(q[2])
	for i := range 3 {
		xi, eta := float64(i-1)*sliderW/3+q[4+2*i], -s.length/2+q[3+2*i]
		var jx, jy [11]float64
		jx[0], jy[1] = 1, 1
		jx[2], jy[2] = -sn*xi-cs*eta, cs*xi-sn*eta
		jx[3+2*i], jy[3+2*i] = -sn, cs
		jx[4+2*i], jy[4+2*i] = cs, sn
		for a := range 11 {
			for b := range 11 {
				m[a*11+b] += mi * (jx[a]*jx[b] + jy[a]*jy[b])
			}
		}
	}
}

func (s *slider) contacts(q [11]float64, t float64, add func(id int, g, mu, eps float64, wn, wt [11]float64, vn, vt float64)) {
	sn, cs := math.Sincos(q[2])
	// face points on the wheel
	for k := range 15 {
		i := k / 5
		lx := float64(k%5-2) / 4 * sliderW / 3
		at := float64(i-1)*sliderW/3 + lx
		xi := at + q[4+2*i]
		const rf = 1.01 * sliderR
		eta := -s.length/2 + q[3+2*i] - sliderHs/2 - (rf - math.Sqrt(rf*rf-at*at)) + s.face[k]
		px, py := xi*cs-eta*sn, xi*sn+eta*cs
		x, y := q[0]+px, q[1]+py
		dist := math.Hypot(x, y)
		r, dr := s.profile(math.Atan2(y, x) - s.speed*t)
		ex, ey := x/dist, y/dist
		sl := dr / r
		nx, ny := ex+sl*ey, ey-sl*ex
		l := math.Hypot(nx, ny)
		nx, ny = nx/l, ny/l
		var wn, wt [11]float64
		fill := func(w *[11]float64, dx, dy float64) {
			w[0], w[1], w[2] = dx, dy, -py*dx+px*dy
			w[3+2*i], w[4+2*i] = -sn*dx+cs*dy, cs*dx+sn*dy
		}
		fill(&wn, nx, ny)
		fill(&wt, ny, -nx)
		vx, vy := s.speed*y, -s.speed*x
		add(k, dist-r, s.muFace, s.epsFace, wn, wt, nx*vx+ny*vy, ny*vx-nx*vy)
	}
	// ends of the holder walls on the sides
	sh, ch := math.Sincos(q[9] + s.tilt)
	for k := range 4 {
		side, end := float64(2*(k&1)-1), float64(k&2-1)
		hx, hy := side*(sliderW+s.clearance)/2, end*sliderLh/2
		ax, ay := hx*ch-hy*sh, hx*sh+hy*ch
		x, y := ax, sliderR+2e-3+sliderLh/2+ay
		rx, ry := x-q[0], y-q[1]
		g := side*(rx*cs+ry*sn) - sliderW/2
		nx, ny := -side*cs, -side*sn
		var wn, wt [11]float64
		fill := func(w *[11]float64, dx, dy float64) {
			w[0], w[1], w[2] = dx, dy, -ry*dx+rx*dy
			w[9] = ay*dx - ax*dy
		}
		fill(&wn, nx, ny)
		fill(&wt, ny, -nx)
		add(15+k, g, s.muHolder, s.epsHolder, wn, wt, 0, 0)
	}
	// spring tip on the top
	g, n, c, arm := s.tip(q)
	rx, ry := c[0]-q[0], c[1]-q[1]
	var wn, wt [11]float64
	fill := func(w *[11]float64, dx, dy float64) {
		w[0], w[1], w[2] = -dx, -dy, ry*dx-rx*dy
		w[10] = -arm[1]*dx + arm[0]*dy
	}
	fill(&wn, n[0], n[1])
	fill(&wt, n[1], -n[0])
	add(19, g, s.muSpring, s.epsSpring, wn, wt, 0, 0)
}

// chol replaces the lower triangle of a by its Cholesky factor.
func chol(a []float64, n int) {
	for j := range n {
		for i := j; i < n; i++ {
			v := a[i*n+j]
			for k := range j {
				v -= a[i*n+k] * a[j*n+k]
			}
			if i == j {
				a[i*n+j] = math.Sqrt(v)
			} else {
				a[i*n+j] = v / a[j*n+j]
			}
		}
	}
}

func cholSolve(a []float64, n int, x []float64) {
	for i := range n {
		for k := range i {
			x[i] -= a[i*n+k] * x[k]
		}
		x[i] /= a[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= a[k*n+i] * x[k]
		}
		x[i] /= a[i*n+i]
	}
}
