package machine

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/multibody"
	"hilrig/engine/numeric"
)

const (
	mostRounds = 20    // evaluations of the equations of motion in a step; two or three are usual
	mostNewton = 40    // of Newton's method for what acts on P
	mostSweeps = 100   // of the movers
	meetRel    = 1e-9  // of the speeds of the step
	meetAbs    = 1e-12 // rad/s, m/s
	near       = 1e-4  // of the speeds: what Newton's method leaves from there is a square of it, and the next evaluation sees it
	held       = 1e-12 // share of its own mobility below which a joint is held by the constraints
	still      = 1e-10 // rad/s, m/s  to which the projection is exact
)

// Step moves x from t by h, both in s, and allocates nothing. Where something is NonFinite, or the loops cannot be closed, which is NotConverged
// with Last the same, x stays as it was. Why says what is wrong.
func (s *Stepper) Step(t, h float64, x []float64) engine.Status {
	m := s.M
	s.who = ""
	if !(h > 0) || !numeric.AllFinite(x...) || !numeric.AllFinite(s.push...) {
		s.Last = multibody.NonFinite
		return engine.NonFinite
	}
	q, v, z := m.cut(x)
	for k := range s.led {
		s.led[k].was = s.led[k].now
	}
	s.motions(t + h)
	for k := range s.led {
		// speeds at the beginning are those of the state: it may have begun elsewhere
		a := &m.axes[s.led[k].axis]
		s.led[k].was.X, s.led[k].was.V = q[a.iq], v[a.iv]
	}
	s.outside(t + h/2)
	// where the accelerations of the steps before lead to
	for i := range s.w {
		switch s.w[i] = v[i]; {
		case s.gone == 1:
			s.w[i] += h / 2 * s.a[i]
		case s.gone > 1:
			s.w[i] += h / 2 * (2*s.a[i] - s.past[i])
		}
	}
	copy(s.past, s.a)
	st, met := s.means(t, h, q, v, z)
	if st != multibody.OK && st != multibody.Singular {
		return s.fail(st)
	}
	if !s.settle(t, h, z) {
		return s.fail(multibody.NonFinite)
	}
	copy(s.wide, s.w)
	for k := range s.movers {
		b := &s.movers[k]
		iv := m.axes[b.axis].iv
		s.a[iv] = (b.end - v[iv]) / h
	}
	for k := range s.led {
		l := &s.led[k]
		s.wide[m.axes[l.axis].iv] = (l.now.X - l.was.X) / h
	}
	multibody.Integrate(m.Model, q, s.wide, h, s.q1)
	for i := range v {
		s.v1[i] = v[i] + h*s.a[i]
	}
	for k := range s.led {
		l := &s.led[k]
		m.Data.Drive(k, l.now)
	}
	if p := multibody.Project(m.Model, m.Data, s.q1, s.v1); p != multibody.OK {
		return s.fail(p)
	}
	if s.Last = st; !numeric.AllFinite(s.v1...) || !numeric.AllFinite(s.q1...) {
		return s.fail(multibody.NonFinite)
	}
	if s.o.Audited {
		s.spend(h, q, s.wide)
	}
	copy(q, s.q1)
	copy(v, s.v1)
	copy(z, s.z1)
	for k := range s.movers {
		b := &s.movers[k]
		if iv := m.axes[b.axis].iv; b.end == 0 && math.Abs(v[iv]) < still {
			v[iv] = 0 // stopped by its law: the rounding of the projection would set it loose
		}
	}
	s.gone = min(s.gone+1, 2)
	if !met {
		s.who = "the equations of the step were not met"
		return engine.NotConverged
	}
	return engine.OK
}

// fail leaves the state alone.
func (s *Stepper) fail(st multibody.Status) engine.Status {
	s.Last, s.gone = st, 0
	for k := range s.led {
		s.led[k].now = s.led[k].was
	}
	if st == multibody.NotConverged {
		return engine.NotConverged
	}
	return engine.NonFinite
}

// Why says what the last step has met, in words.
func (s *Stepper) Why() string {
	if s.who != "" {
		return s.who
	}
	if s.Last == multibody.NotConverged {
		return s.M.open(s.Last)
	}
	return s.M.named(s.Last)
}

// outside gathers the torques that do not depend on the motion, at the time t (s).
func (s *Stepper) outside(t float64) {
	clear(s.base)
	for _, e := range s.M.efforts {
		f, _, _ := e.by.At(t)
		s.base[s.M.axes[e.axis].iv] += f
	}
	for k, iv := range s.pushed {
		s.base[iv] += s.push[k]
	}
}

// means finds w and a of the step, and what parts and movers make of them.
func (s *Stepper) means(t, h float64, q, v, z []float64) (st multibody.Status, met bool) {
	m := s.M
	model, data := m.Model, m.Data
	n := model.NV()
	last := math.Inf(1)
	for round := 1; ; round++ {
		copy(s.before, s.w)
		multibody.Integrate(model, q, s.w, h/2, s.qm)
		for k := range s.led {
			l := &s.led[k]
			data.Drive(k, multibody.Motion{X: (l.was.X + l.now.X) / 2, V: (l.was.V + l.now.V) / 2, A: (l.now.V - l.was.V) / h})
		}
		st = multibody.Accelerate(model, data, s.qm, s.w, s.base)
		if st != multibody.OK && st != multibody.Singular {
			return st, false
		}
		copy(s.a0, data.QDD)
		for k, i := range s.p {
			multibody.Response(model, data, i, s.col[k*n:k*n+n])
		}
		ok, calm := s.acting(t, h, q, v, z)
		if !ok {
			return multibody.NonFinite, false
		}
		// of all velocities
		copy(s.a, s.a0)
		for k, f := range s.tp {
			for i, c := range s.col[k*n : k*n+n] {
				s.a[i] += f * c
			}
		}
		for i, a := range s.a {
			s.wide[i] = v[i] + h/2*a
		}
		for k := range s.movers {
			b := &s.movers[k]
			s.wide[m.axes[b.axis].iv] = b.w
		}
		change, size := 0.0, 0.0
		for i, w := range s.wide {
			change, size = max(change, math.Abs(w-s.before[i])), max(size, math.Abs(w), math.Abs(v[i]))
			s.w[i] = w
		}
		if change-change != 0 {
			return multibody.NonFinite, false
		}
		tol := meetRel*size + meetAbs
		if !(change > tol) || round > 1 && change < 0.1*last && change*change <= tol*last {
			return st, calm
		}
		if round == mostRounds {
			return st, false
		}
		last = change
	}
}

// acting finds the torques tp on P with the equations of motion as they stand: Newton's method for the parts, in each turn of which the movers
// meet. It begins at the speeds w.
func (s *Stepper) acting(t, h float64, q, v, z []float64) (ok, met bool) {
	p := len(s.p)
	if p == 0 {
		return s.parts(t, h, q, v, z), true
	}
	m, n := s.M, s.M.Model.NV()
	for k, i := range s.p {
		s.at[k] = s.w[i]
	}
	last := math.Inf(1)
	for turn := 0; ; turn++ {
		for k, i := range s.p {
			s.w[i] = s.at[k]
		}
		if !s.parts(t, h, q, v, z) {
			return false, false
		}
		// (1 − h/2·C·S)·ŵ = v + h/2·(a0 + C·(τ − S·w)),   D = (1 − h/2·C·S)⁻¹·h/2·C
		a := s.lu.A
		for k := range p {
			s.hat[k] = 0
		}
		for k, i := range s.p {
			x := v[i] + h/2*s.a0[i]
			for l := range p {
				c := h / 2 * s.col[l*n+i]
				f := s.tp[l]
				for j := range p {
					f -= s.sp[l*p+j] * s.at[j]
				}
				x += c * f
			}
			s.hat[k] = x
			for j := range p {
				sum := 0.0
				for l := range p {
					sum += s.col[l*n+i] * s.sp[l*p+j]
				}
				a[k*p+j] = -h / 2 * sum
			}
			a[k*p+k]++
		}
		if !s.lu.Factor() {
			return false, false
		}
		s.lu.Solve(s.hat)
		for k := range s.movers {
			at := s.movers[k].place
			d := s.d[k*p : k*p+p]
			for l, i := range s.p {
				d[l] = h / 2 * s.col[at*n+i]
			}
			s.lu.Solve(d)
		}
		calm := s.meet(h, q, v)
		// speeds with the forces of the movers, and the torques that go with them
		change, size := 0.0, 0.0
		for l, i := range s.p {
			w := s.hat[l]
			for k := range s.movers {
				w += s.d[k*p+l] * s.movers[k].f
			}
			change, size = max(change, math.Abs(w-s.at[l])), max(size, math.Abs(w), math.Abs(v[i]))
			s.hat[l] = w
		}
		for l := range p {
			for j := range p {
				s.tp[l] += s.sp[l*p+j] * (s.hat[j] - s.at[j])
			}
		}
		for k := range s.movers {
			s.tp[s.movers[k].place] += s.movers[k].f
		}
		if change-change != 0 {
			return false, false
		}
		if change <= near*size+meetAbs || len(m.Parts) == 0 {
			return true, calm
		}
		if turn == mostNewton {
			return true, false
		}
		// the whole way; half of it where that has not come nearer: a contact that opens and closes
		share := 1.0
		if change > 0.7*last {
			share = 0.5
		}
		for l := range p {
			s.at[l] += share * (s.hat[l] - s.at[l])
		}
		last = change
	}
}

// parts puts the torques of parts, dampers and springs at the speeds w, and their slopes, into tp and sp.
func (s *Stepper) parts(t, h float64, q, v, z []float64) bool {
	m, p, na := s.M, len(s.p), len(s.M.axes)
	clear(s.sp)
	clear(s.tp)
	for k := range s.elastic {
		e := &s.elastic[k]
		at := s.of[e.v]
		s.tp[at] -= e.c * s.w[e.v]
		s.sp[at*p+at] -= e.c
		if e.k != 0 {
			s.tp[at] -= e.k * (q[e.q] + h/2*s.w[e.v] - e.x)
			s.sp[at*p+at] -= h / 2 * e.k
		}
	}
	if len(m.Parts) == 0 {
		return true
	}
	// parts speak of axes
	clear(s.tau)
	clear(s.slope)
	for k, a := range m.axes {
		m.q[k], m.v[k], s.tried[k] = q[a.iq], v[a.iv], s.w[a.iv]
	}
	for k, part := range m.Parts {
		power, st := part.Trial(t, h, m.q, m.v, s.tried, m.own(k, z), m.own(k, s.z1), s.tau, s.slope)
		if st == engine.NonFinite {
			s.who = part.Name() + ": " + st.String()
			return false
		}
		s.powers[k] = power
	}
	for k, a := range m.axes {
		at := s.of[a.iv]
		if at < 0 {
			continue
		}
		s.tp[at] += s.tau[k]
		for l, b := range m.axes {
			if to := s.of[b.iv]; to >= 0 {
				s.sp[at*p+to] += s.slope[k*na+l]
			}
		}
	}
	return true
}

// affine is a part whose states at the end may be a straight line in the mean speeds.
type affine interface {
	Affine() bool
	Shift(w, dw, zn []float64) (circuit.Power, bool)
}

// settle takes the states of the parts at the end of the step to the speeds w, which the last trial missed by what the equations of motion changed since.
func (s *Stepper) settle(t, h float64, z []float64) bool {
	m := s.M
	dw, moved := m.force, 0.0
	for k, a := range m.axes {
		dw[k] = s.w[a.iv] - s.tried[k]
		s.tried[k] = s.w[a.iv]
		moved = max(moved, math.Abs(dw[k]))
	}
	if moved == 0 {
		return true
	}
	for k, part := range m.Parts {
		if p, ok := part.(affine); ok && p.Affine() {
			if power, ok := p.Shift(s.tried, dw, m.own(k, s.z1)); ok {
				s.powers[k] = power
				continue
			}
		}
		clear(s.tau)
		power, st := part.Trial(t, h, m.q, m.v, s.tried, m.own(k, z), m.own(k, s.z1), s.tau, s.slope)
		if s.powers[k] = power; st == engine.NonFinite {
			s.who = part.Name() + ": " + st.String()
			return false
		}
	}
	return true
}
