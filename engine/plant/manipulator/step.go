package manipulator

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/beam"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
)

// The step in real time is the stiffly accurate diagonally implicit method of three stages and third order [Alex77], L-stable, on the
// independent joints and the beam; the dependent joint and its speed follow from Φ = 0 and Φ′ = 0 in every stage, so nothing drifts.
// Within a stage Q = q̃ + g·ṽ + g²·A with g = γ·h, and the beam is linear:
//
//	A_c = S·(P − D·ṽ_c − K·(q̃_c + g·ṽ_c) − Nᵀ·λ),   S = (M + g·D + g²·K)⁻¹
//
// S is a band that is factored once for a length of step. Newton's method seeks the accelerations of the independent joints, the
// coordinate of the dependent one, and λ; the beam enters by N·S·Nᵀ. One method has no memory, so a step may be split anywhere.
const (
	stages   = 3
	sdirkG   = 0.43586652150845899942 // root of x³ − 3x² + 3x/2 − 1/6
	sdirkB1  = -(6*sdirkG*sdirkG - 16*sdirkG + 1) / 4
	sdirkB2  = (6*sdirkG*sdirkG - 20*sdirkG + 5) / 4
	newtons  = 25 // at most, a stage
	splits   = 32 // at most, a step
	rubTries = 20 // at most, for the force of friction
)

var (
	sdirkA = [stages][stages]float64{{sdirkG}, {(1 - sdirkG) / 2, sdirkG}, {sdirkB1, sdirkB2, sdirkG}}
	sdirkC = [stages]float64{sdirkG, (1 + sdirkG) / 2, 1}
)

// stepper carries out steps. Its state is all that a motion needs to go on.
type stepper struct {
	w *work
	mode
	s, to state // at the beginning and at the end of a step

	band    beam.Band // S⁻¹, factored
	length  float64   // s  of step that it is factored for
	a, v    [stages]joints
	ac, vc  [stages][]float64
	lambda  [stages]float64
	slip    [stages]float64 // m/s
	normal  [stages]float64 // N
	still   []float64       // S·(…) without λ
	push    []float64       // S·Nᵀ
	pq, pv  []float64       // q̃_c + g·ṽ_c, ṽ_c
	z       []float64
	lu      engine.LU
	unknown [MostJoints + 1]float64
	out     accel    // of the end of the step
	events  *[]Event // where events are listed; nil: nowhere
}

// mode is what beside positions and velocities makes a state.
type mode struct {
	t      float64
	e      int // element
	closed bool
	left   bool // the tip has left the beam: nothing moves any more
	dep    int  // place in free of the dependent joint
	force  float64
}

func (m *Model) newStepper() *stepper {
	n := m.beam.N
	p := &stepper{w: m.newWork(), band: beam.NewBand(n), lu: engine.NewLU(MostJoints + 1), length: math.NaN()}
	p.s, p.to = *p.w.newState(), *p.w.newState()
	for i := range stages {
		p.ac[i], p.vc[i] = make([]float64, n), make([]float64, n)
	}
	p.still, p.push, p.pq, p.pv = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	p.z = make([]float64, len(p.s.z))
	p.out.ac, p.out.dz = make([]float64, n), make([]float64, len(p.s.z))
	return p
}

// advance moves the state by h (s) with element, contact and dependent joint as they are: from s to to.
func (p *stepper) advance(h float64) engine.Status {
	law := p.w.m.p.Friction
	if law == nil || !p.closed {
		p.force = 0
		st := p.solve(h, 0)
		if law != nil && st == engine.OK {
			copy(p.to.z, p.s.z)
			law.Step(p.to.z, friction.Input{Dt: h, V: 0, N: -1})
		}
		return st
	}
	// the mean force of friction over the step belongs to its mean speed and normal force: secant
	cost := func(f float64) (float64, engine.Status) {
		st := p.solve(h, f)
		if st != engine.OK {
			return 0, st
		}
		copy(p.to.z, p.s.z)
		v := sdirkB1*p.slip[0] + sdirkB2*p.slip[1] + sdirkG*p.slip[2]
		n := sdirkB1*p.normal[0] + sdirkB2*p.normal[1] + sdirkG*p.normal[2]
		return law.Step(p.to.z, friction.Input{Dt: h, V: v, N: normal(p.w.m.p.Unilateral, n)}) - f, engine.OK
	}
	a := p.force
	fa, st := cost(a)
	if st != engine.OK || fa == 0 {
		return st
	}
	b := a + fa
	for range rubTries {
		fb, st := cost(b)
		if st != engine.OK {
			return st
		}
		if p.force = b; math.Abs(fb) <= 1e-10*(1e-3+math.Abs(b)) || fb == fa {
			return engine.OK
		}
		a, fa, b = b, fb, b-fb*(b-a)/(fb-fa)
	}
	return engine.NotConverged
}

// solve does the stages of a step of h with the friction force f.
func (p *stepper) solve(h, f float64) engine.Status {
	m := p.w.m
	if p.length != h {
		g := sdirkG * h
		p.band.Sum(1, &m.beam.M, g, &m.beam.D)
		p.band.Sum(1, &p.band, g*g, &m.beam.K)
		if !p.band.Factor() {
			return engine.NonFinite
		}
		p.length = h
	}
	for i := range stages {
		if st := p.stage(i, h, f); st != engine.OK {
			return st
		}
	}
	return engine.OK
}

// stage solves stage i; its result is in to.
func (p *stepper) stage(i int, h, f float64) engine.Status {
	w, m, to := p.w, p.w.m, &p.to
	g := sdirkG * h
	row := &sdirkA[i]
	for k := range p.pv {
		v, q := p.s.vc[k], p.s.qc[k]
		for j := range i {
			v += h * row[j] * p.ac[j][k]
			q += h * row[j] * p.vc[j][k]
		}
		p.pv[k], p.pq[k] = v, q+g*v
	}
	m.beam.K.Mul(p.pq, p.still)
	m.beam.D.Mul(p.pv, w.load)
	for k := range p.still {
		p.still[k] = m.weight[k] - p.still[k] - w.load[k]
	}
	p.band.Solve(p.still)

	// where the stage would be without acceleration, and a first guess of it
	var pq, pv, a joints
	for _, d := range m.driven {
		to.q[d], to.v[d], a[d] = m.p.Joints[d].Drive.At(p.t + sdirkC[i]*h)
	}
	last := (i + stages - 1) % stages // the stage before, for the first the end of the step before
	lambda := p.lambda[last]
	for _, k := range m.free {
		v, q := p.s.v[k], p.s.q[k]
		for j := range i {
			v += h * row[j] * p.a[j][k]
			q += h * row[j] * p.v[j][k]
		}
		a[k] = p.a[last][k]
		pv[k], pq[k] = v, q+g*v
		to.q[k], to.v[k] = pq[k]+g*g*a[k], v+g*a[k]
	}
	st := engine.NotConverged
	for range newtons {
		var done bool
		if done, st = p.newton(g, f, &pq, &pv, &a, &lambda); done || st != engine.OK {
			break
		}
		st = engine.NotConverged
	}
	if st != engine.OK {
		return st
	}
	// all of the beam
	c := &w.c
	cs := cosine(c)
	press := 0.0
	if p.closed {
		press = lambda - f*c.Slope/cs
	}
	for k, x := range p.still {
		if p.closed {
			x -= press * p.push[k]
		}
		p.ac[i][k] = x
		to.vc[k] = p.pv[k] + g*x
		to.qc[k] = p.pq[k] + g*g*x
		p.vc[i][k] = to.vc[k]
	}
	p.a[i], p.v[i], p.lambda[i] = a, to.v, lambda
	p.slip[i], p.normal[i] = w.pose.tip.VX*cs, lambda*cs
	return engine.OK
}

// newton evaluates a stage and corrects its unknowns once. done: the correction was below rounding.
func (p *stepper) newton(g, f float64, pq, pv, a *joints, lambda *float64) (done bool, st engine.Status) {
	w, m, to := p.w, p.w.m, &p.to
	nf := len(m.free)
	if !p.closed {
		return p.newtonOpen(g, pq, pv, a)
	}
	v := m.free[p.dep]
	m.evaluate(&to.q, &to.v, false, &w.pose)
	at := m.beam.In(p.e, w.pose.tip.X)
	clear(p.push)
	at.Add(1, p.push)
	p.band.Solve(p.push)
	soft := at.Of(&at.N, p.push)
	// the four coordinates of the element, at this λ
	slope := w.c.Slope
	press := *lambda - f*slope/cosine(&w.c)
	bend := 0.0
	for k, i := range at.I {
		if i >= 0 {
			x := p.still[i] - press*p.push[i]
			to.vc[i], to.qc[i] = p.pv[i]+g*x, p.pq[i]+g*g*x
			bend += at.N[k] * x
		}
	}
	// speed of the dependent joint
	w.c = m.beam.Contact(p.e, &w.pose.tip, to.qc, to.vc)
	w.c.Row(w.pose.jx[:m.n], w.pose.jy[:m.n], w.jr[:m.n])
	jv := w.jr[v]
	if jv == 0 {
		return false, engine.NotConverged
	}
	to.v[v] -= w.c.Rate / jv
	w.place(to, p.e, true)
	jv = w.jr[v]
	sum := bend + w.c.Gamma
	for i := range m.n {
		if i != v {
			sum += w.jr[i] * a[i]
		}
	}
	a[v] = -sum / jv

	// residuals, and a matrix that has all but the velocity terms
	n := nf + 1
	p.lu.Resize(n)
	mat, r := p.lu.A, p.unknown[:n]
	cs := cosine(&w.c)
	joint := m.p.Joints[v]
	for k, i := range m.free {
		r[k] = w.pose.h[i] + w.jr[i]**lambda + f/cs*(w.pose.jx[i]+w.c.Slope*w.pose.jy[i])
		for j := range m.n {
			r[k] += w.pose.m[i][j] * a[j]
		}
		miv := w.pose.m[i][v]
		if i == v {
			miv += g * joint.Damping
		}
		for c, j := range m.free {
			switch {
			case j == v:
				mat[k*n+c] = 0
				if i == v {
					mat[k*n+c] = joint.Spring
				}
			default:
				x := w.pose.m[i][j] - miv*w.jr[j]/jv
				if i == j {
					x += g*m.p.Joints[i].Damping + g*g*m.p.Joints[i].Spring
				}
				mat[k*n+c] = x
			}
		}
		mat[k*n+nf] = w.jr[i] + miv*soft/jv
	}
	r[nf] = w.c.Phi
	for c, j := range m.free {
		mat[nf*n+c] = g * g * w.jr[j]
		if j == v {
			mat[nf*n+c] = jv
		}
	}
	mat[nf*n+nf] = -g * g * soft
	if !p.lu.Factor() {
		return false, engine.NotConverged
	}
	p.lu.Solve(r)
	far := 0.0
	for k, i := range m.free {
		if i == v {
			to.q[i] -= r[k]
			far = math.Max(far, math.Abs(r[k]))
			continue
		}
		a[i] -= r[k]
		to.q[i], to.v[i] = pq[i]+g*g*a[i], pv[i]+g*a[i]
		far = math.Max(far, g*math.Abs(r[k]))
	}
	*lambda -= r[nf]
	if far-far != 0 {
		return false, engine.NonFinite
	}
	return far <= 1e-14 && math.Abs(r[nf]) <= 1e-10*(1+math.Abs(*lambda)), engine.OK
}

// newtonOpen is newton without contact.
func (p *stepper) newtonOpen(g float64, pq, pv, a *joints) (done bool, st engine.Status) {
	w, m, to := p.w, p.w.m, &p.to
	nf := len(m.free)
	m.evaluate(&to.q, &to.v, true, &w.pose)
	p.lu.Resize(nf)
	mat, r := p.lu.A, p.unknown[:nf]
	for k, i := range m.free {
		r[k] = w.pose.h[i]
		for j := range m.n {
			r[k] += w.pose.m[i][j] * a[j]
		}
		for c, j := range m.free {
			if mat[k*nf+c] = w.pose.m[i][j]; i == j {
				mat[k*nf+c] += g*m.p.Joints[i].Damping + g*g*m.p.Joints[i].Spring
			}
		}
	}
	if !p.lu.Factor() {
		return false, engine.NotConverged
	}
	p.lu.Solve(r)
	far := 0.0
	for k, i := range m.free {
		a[i] -= r[k]
		to.q[i], to.v[i] = pq[i]+g*g*a[i], pv[i]+g*a[i]
		far = math.Max(far, g*math.Abs(r[k]))
	}
	if far-far != 0 {
		return false, engine.NonFinite
	}
	return far <= 1e-14, engine.OK
}

// Step advances the state by dt (s): in one step, or in several that end where the tip crosses a border, the contact opens or closes.
func (p *stepper) Step(dt float64) engine.Status {
	w, m := p.w, p.w.m
	if p.left {
		return engine.Limited
	}
	if !(dt >= 0) || !numeric.AllFinite(p.s.q[:m.n]...) || !numeric.AllFinite(p.s.v[:m.n]...) || !numeric.AllFinite(p.s.qc...) || !numeric.AllFinite(p.s.vc...) {
		return engine.NonFinite
	}
	w.place(&p.s, p.e, true)
	if p.closed {
		dep, err := w.choose(p.dep)
		if err != nil {
			return engine.NotConverged
		}
		p.dep = dep
	}
	left := dt
	for range splits {
		if left <= 1e-12*dt {
			return engine.OK
		}
		x0, vx0, phi0, rate0 := w.pose.tip.X, w.pose.tip.VX, w.c.Phi, w.c.Rate
		lambda0 := p.lambda[stages-1]
		if st := p.advance(left); st != engine.OK {
			return st
		}
		w.place(&p.to, p.e, true)
		h, event := left, ""
		earlier := func(what string, t float64) {
			if t < h || event == "" {
				h, event = math.Max(0, math.Min(t, left)), what
			}
		}
		l := m.beam.Element()
		lo, hi := float64(p.e)*l, float64(p.e+1)*l
		if x := w.pose.tip.X; x > hi+borderTolerance {
			earlier(Border, crossing(x0-hi, vx0, x-hi, w.pose.tip.VX, left))
		} else if x < lo-borderTolerance {
			earlier(Border, crossing(x0-lo, vx0, x-lo, w.pose.tip.VX, left))
		}
		if !p.closed && w.c.Phi > touchTolerance {
			earlier(Closes, crossing(phi0, rate0, w.c.Phi, w.c.Rate, left))
		}
		if p.closed && m.p.Unilateral && p.lambda[stages-1] < 0 {
			earlier(Opens, left*math.Max(0, lambda0)/(math.Max(0, lambda0)-p.lambda[stages-1]))
		}
		if event != "" && h < left*(1-1e-9) {
			if h > 1e-9*dt {
				if st := p.advance(h); st != engine.OK {
					return st
				}
				w.place(&p.to, p.e, true)
			} else {
				h = 0
				p.copyState(&p.to, &p.s)
				w.place(&p.to, p.e, true)
			}
		}
		p.copyState(&p.s, &p.to)
		p.t += h
		left -= h
		from := p.e
		switch event {
		case Border:
			if w.pose.tip.VX > 0 {
				p.e++
			} else {
				p.e--
			}
			if p.e < 0 || p.e >= m.p.Beam.Elements {
				p.e = min(max(p.e, 0), m.p.Beam.Elements-1)
				p.left = true
				p.note(Event{T: p.t, What: Left, Value: w.pose.tip.X})
				return engine.Limited
			}
			p.note(Event{T: p.t, What: Border, From: from + 1, To: p.e + 1})
			w.place(&p.s, p.e, true)
		case Opens:
			p.closed = false
			p.lambda = [stages]float64{}
			p.note(Event{T: p.t, What: Opens})
		case Closes:
			p.closed = true
			if st := p.strike(); st != engine.OK {
				return st
			}
		}
	}
	return engine.NotConverged
}

// note lists an event.
func (p *stepper) note(e Event) {
	if p.events != nil {
		*p.events = append(*p.events, e)
	}
}

// borderTolerance is how far (m) beside its element the tip may end a step: the error of a border that was found.
const borderTolerance = 1e-12

// strike makes the velocities of s those after a blow without rebound.
func (p *stepper) strike() engine.Status {
	w := p.w
	dep, err := w.choose(-1)
	if err != nil {
		return engine.NotConverged
	}
	p.dep = dep
	blow, err := w.impulse(&p.s, &p.s.v)
	if err != nil {
		return engine.NotConverged
	}
	p.note(Event{T: p.t, What: Closes, Value: blow})
	w.place(&p.s, p.e, true)
	return engine.OK
}

// copyState copies a state.
func (p *stepper) copyState(to, from *state) {
	to.q, to.v = from.q, from.v
	copy(to.qc, from.qc)
	copy(to.vc, from.vc)
	copy(to.z, from.z)
}

// crossing is the first time in a step of h at which the cubic through values and slopes at both ends is zero; y0 and y1 have different
// signs, or y0 is rounding beside zero. Bisection, then what is left is below 1e-15 of the step.
func crossing(y0, d0, y1, d1, h float64) float64 {
	if (y0 > 0) == (y1 > 0) {
		return 0
	}
	lo, hi := 0.0, 1.0
	for range 50 {
		x := (lo + hi) / 2
		up := 1 - x
		y := up*up*(1+2*x)*y0 + x*x*(1+2*up)*y1 + h*x*up*(up*d0-x*d1)
		if (y > 0) == (y1 > 0) {
			hi = x
		} else {
			lo = x
		}
	}
	return hi * h
}
