package machine

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/multibody"
	"hilrig/engine/numeric"
)

const (
	maxRounds   = 20    // evaluations of the equations of motion in a step; two or three are usual
	maxNewton   = 40    // of Newton's method for what acts on P
	maxSweeps   = 100   // of the movers
	meetRel     = 1e-9  // of the speeds of the step
	meetAbs     = 1e-12 // rad/s, m/s
	meetLoads   = 1e-2  // times that where loads of joints are found by repetition alone, whose errors are all of one sign
	restTol     = 1e-5  // of the speeds: what joints that come to rest together within one step may disagree on
	squareTol   = 1e-4  // of the speeds: what Newton's method leaves from there is a square of it, and the next evaluation sees it
	minMobility = 1e-12 // share of its own mobility below which a joint is held by the constraints
	restSpeed   = 1e-10 // rad/s, m/s  to which the projection is exact
)

// stride is a Step without samples inside.
func (s *Stepper) stride(t, h float64, x []float64) engine.Status {
	m := s.M
	if s.inSingular {
		s.LastStatus = multibody.NotConverged
		return engine.Lost
	}
	s.failedMover = ""
	s.pace.pass(h, s.pace.remaining)
	if !(h > 0) || !numeric.AllFinite(x...) || !numeric.AllFinite(s.push...) {
		s.LastStatus = multibody.NonFinite
		return engine.NonFinite
	}
	q, v, z := m.split(x)
	flat, energy := s.paced && len(m.rows.list) == 0 && (s.pace.leadsOverFlat || s.crossing.Imminent(h)), 0.0
	if flat {
		kinetic, stored := s.energyOf(q, v, z)
		energy = kinetic + stored
	}
	s.crossing.Begin(m.Data, h)
	for k := range s.ledMotions {
		s.ledMotions[k].startMotion = s.ledMotions[k].endMotion
	}
	s.motions(t + h)
	for k := range s.ledMotions {
		// speeds at the beginning are those of the state: it may have begun elsewhere
		a := &m.axes[s.ledMotions[k].axis]
		s.ledMotions[k].startMotion.X, s.ledMotions[k].startMotion.V = q[a.iq], v[a.iv]
	}
	s.externalTorques(t + h/2)
	s.strike(t, h, q, v)
	s.yield(h, q, v)
	s.from(q, v)
	s.guess.means(h, v, s.w)
	for _, r := range m.rows.list {
		r.rate = r.lastBias
	}
	st, met := s.means(t, h, q, v, z)
	clear(m.Data.Implicit)
	if st != multibody.OK && st != multibody.Singular {
		return s.fail(st)
	}
	if !s.finishParts(t, h, z) {
		return s.fail(multibody.NonFinite)
	}
	s.tieStep(t, h, q, v, z)
	copy(s.meanSpeeds, s.w)
	for k := range s.movers {
		b := &s.movers[k]
		if a := &m.axes[b.axis]; a.cutIndex < 0 {
			s.a[a.iv] = (b.endSpeed - v[a.iv]) / h
		}
	}
	for k := range s.ledMotions {
		l := &s.ledMotions[k]
		s.meanSpeeds[m.axes[l.axis].iv] = (l.endMotion.X - l.startMotion.X) / h
	}
	if flat {
		s.bend(h)
	}
	multibody.Integrate(m.Model, q, s.meanSpeeds, h, s.q1)
	for i := range v {
		s.v1[i] = v[i] + h*s.a[i]
	}
	for k := range s.ledMotions {
		l := &s.ledMotions[k]
		m.Data.Drive(k, l.endMotion)
	}
	continued := s.crossing.Active()
	p, end := s.crossing.End(m.Data, s.q1, s.v1, h)
	switch {
	case end.Missed: // once more without: it knows nothing then
		s.guess.forget()
		if s.crossing.Miss(m.Data, q, v) {
			if flat {
				s.setEnergy(q, v, z, energy)
			}
			return s.stride(t, h, x)
		}
		fallthrough
	case len(s.o.MotionJoints) == 0 && (end.Undecided || p == multibody.OK && s.turnsTooFar(h, v) || !met && s.crossing.Imminent(h)):
		s.fail(multibody.NotConverged)
		s.inSingular = true
		return engine.Lost
	case p != multibody.OK:
		return s.fail(p)
	}
	met = met && !(end.Undecided && continued) // who leads joints may lead them back
	if s.LastStatus = st; !numeric.AllFinite(s.v1...) || !numeric.AllFinite(s.q1...) {
		return s.fail(multibody.NonFinite)
	}
	if what := m.magnetOutOfRange(s.q1); what != "" {
		s.failedMover = what
		return s.fail(multibody.NonFinite)
	}
	if flat {
		s.keepEnergy(h, energy)
	}
	if s.o.Audited {
		s.spend(h, s.meanSpeeds)
	}
	copy(q, s.q1)
	copy(v, s.v1)
	copy(z, s.z1)
	for k := range s.movers {
		b := &s.movers[k]
		b.rests = b.endSpeed == 0
		if a := &m.axes[b.axis]; b.rests && a.cutIndex < 0 && math.Abs(v[a.iv]) < restSpeed {
			v[a.iv] = 0 // stopped by its law: the rounding of the projection would set it loose
		}
	}
	s.guess.learn(s.a)
	if !met {
		s.failedMover = "the equations of the step were not met"
		return engine.NotConverged
	}
	return engine.OK
}

// fail leaves the state alone.
func (s *Stepper) fail(st multibody.Status) engine.Status {
	s.LastStatus = st
	s.guess.forget()
	for k := range s.ledMotions {
		s.ledMotions[k].endMotion = s.ledMotions[k].startMotion
	}
	if st == multibody.NotConverged {
		return engine.NotConverged
	}
	return engine.NonFinite
}

// StatusText says what the last step has met, in words.
func (s *Stepper) StatusText() string {
	if s.inSingular {
		return "a singular position of the loops: how the machine goes on from there is not decided by the equations of the step; it stays. " +
			"Take a shorter step, or lengths that keep it away from there"
	}
	if s.failedMover != "" {
		return s.failedMover
	}
	if s.LastStatus == multibody.NotConverged {
		return s.M.open(s.LastStatus)
	}
	return s.M.named(s.LastStatus)
}

// externalTorques gathers the torques that do not depend on the motion, at the time t (s).
func (s *Stepper) externalTorques(t float64) {
	clear(s.base)
	for _, e := range s.M.efforts {
		f, _, _ := e.generator.At(t)
		s.M.axes[e.axis].push(f, s.base)
	}
	for k, iv := range s.torqueVelocities {
		s.base[iv] += s.push[k]
	}
}

// yield adds what dampers and springs do at the velocities v to the torques that do not depend on the accelerations, and says how they
// yield to these.
func (s *Stepper) yield(h float64, q, v []float64) {
	copy(s.passiveTorque, s.base)
	for k := range s.passive {
		e := &s.passive[k]
		x := e.x
		if e.k != 0 {
			x = q[e.q]
		}
		s.passiveTorque[e.index] += e.pull(x+h/2*v[e.index], v[e.index])
		s.M.Data.Implicit[e.index] += h/2*e.c + h*h/4*e.k
	}
}

// from are the speeds of the movers at the beginning of the step. A loop that rested rests: its direction turns, so that the velocities
// of the end tell its speed to the error of the step only.
func (s *Stepper) from(q, v []float64) {
	m := s.M
	if len(m.cuts) > 0 {
		multibody.Positions(m.Model, m.Data, q)
		m.direct()
	}
	for k := range s.movers {
		b := &s.movers[k]
		a := &m.axes[b.axis]
		if b.startSpeed = a.velocity(v); a.cutIndex >= 0 && b.rests {
			b.startSpeed = 0
		}
	}
}

// means finds w and a of the step, and what parts and movers make of them.
func (s *Stepper) means(t, h float64, q, v, z []float64) (st multibody.Status, met bool) {
	m := s.M
	last, first := math.Inf(1), 1
	if len(m.loads) > 0 || len(m.rows.list) > 0 {
		first = 2 // those of the step before come first
	}
	for round := 1; ; round++ {
		s.square = 0
		copy(s.lastW, s.w)
		if st = s.evaluate(h, q, v); st != multibody.OK && st != multibody.Singular {
			return st, false
		}
		ok, calm := s.acting(t, h, q, v, z)
		if !ok {
			return multibody.NonFinite, false
		}
		// of all velocities
		n := len(s.a)
		copy(s.a, s.a0)
		for k, f := range s.tp {
			for i, c := range s.col[k*n : k*n+n] {
				s.a[i] += f * c
			}
		}
		for i, a := range s.a {
			s.meanSpeeds[i] = v[i] + h/2*a
		}
		for k := range s.movers {
			b := &s.movers[k]
			if a := &m.axes[b.axis]; a.cutIndex < 0 {
				s.meanSpeeds[a.iv] = b.w
			}
		}
		change, size := 0.0, 0.0
		for i, w := range s.meanSpeeds {
			change, size = max(change, math.Abs(w-s.lastW[i])), max(size, math.Abs(w), math.Abs(v[i]))
			s.w[i] = w
		}
		change = max(change, s.tieStep(t, h, q, v, z))
		if change-change != 0 {
			return multibody.NonFinite, false
		}
		if len(m.loads) > 0 {
			s.press()
		}
		tol := meetRel*size + meetAbs
		if len(m.loads) > 0 {
			tol *= meetLoads
		}
		if round > 1 {
			s.guess.watch(last, change)
		}
		if round >= first && (!(change > tol) || first == 1 && s.square*s.square <= tol*size && s.guess.converged(round, change, tol)) {
			return st, calm
		}
		if round == maxRounds {
			return st, change <= restTol*size
		}
		last = change
	}
}

// evaluate takes the equations of motion in the middle of the step at the speeds w: accelerations a0 without the forces along P, and what
// a unit of each does.
func (s *Stepper) evaluate(h float64, q, v []float64) (st multibody.Status) {
	m := s.M
	model, data := m.Model, m.Data
	n := model.NV()
	multibody.Integrate(model, q, s.w, h/2, s.qm)
	for k := range s.ledMotions {
		l := &s.ledMotions[k]
		data.Drive(k, multibody.Motion{X: (l.startMotion.X + l.endMotion.X) / 2, V: (l.startMotion.V + l.endMotion.V) / 2,
			A: (l.endMotion.V - l.startMotion.V) / h})
	}
	data.Springless, data.Bodies = s.spatial, s.spatial
	st = multibody.Accelerate(model, data, s.qm, s.w, s.passiveTorque)
	data.Springless, data.Bodies = false, false
	if st != multibody.OK && st != multibody.Singular {
		return st
	}
	copy(s.a0, data.QDD)
	for k := range s.p {
		p, col := &s.p[k], s.col[k*n:k*n+n]
		switch {
		case p.iv >= 0:
			clear(col)
			col[p.iv] = 1
		case p.axis != nil:
			model.CutRow(data, p.axis.cutIndex, p.row)
			copy(col, p.row)
		default:
			p.x = model.SpringRow(data, p.spring, p.row)
			copy(col, p.row)
		}
		multibody.Answer(model, data, col)
	}
	for k := range s.p {
		p := &s.p[k]
		s.wp[k], s.vp[k], s.ap[k] = p.velocity(s.w), p.velocity(v), p.velocity(s.a0)
		for l := range s.p {
			s.c[k*len(s.p)+l] = p.velocity(s.col[l*n : l*n+n])
		}
		if p.spring >= 0 {
			p.x -= h / 2 * s.wp[k] // so that the middle of the speeds w is met
		}
	}
	s.guess.stiffSpring = false
	for k := range s.elastic {
		e := &s.elastic[k]
		s.guess.stiffSpring = s.guess.stiffSpring || h/2*(h/2*e.k+e.c)*s.c[e.index*len(s.p)+e.index] > 1
	}
	return st
}

// press finds the loads of the joints in the middle of the step.
func (s *Stepper) press() {
	m := s.M
	copy(s.total, s.passiveTorque)
	for k := range s.p {
		s.p[k].push(s.tp[k], s.total)
	}
	m.Data.Springless = true
	multibody.Reaccelerate(m.Model, m.Data, s.qm, s.w, s.total)
	for k := range s.p {
		switch p := &s.p[k]; {
		case p.axis != nil:
			m.Model.RubCut(m.Data, p.axis.cutIndex, -s.tp[k])
		case p.spring >= 0:
			m.Model.PullSpring(m.Data, p.spring, -s.tp[k])
		}
	}
	multibody.Loads(m.Model, m.Data, s.w)
	m.Data.Springless = false
	m.press()
}

// acting finds the forces tp along P with the equations of motion as they stand: Newton's method for the parts, in each turn of which the
// movers meet. It begins at the speeds at.
func (s *Stepper) acting(t, h float64, q, v, z []float64) (ok, met bool) {
	p := len(s.p)
	if p == 0 {
		return s.parts(t, h, q, v, z), true
	}
	last := math.Inf(1)
	for turn := 0; ; turn++ {
		if !s.parts(t, h, q, v, z) {
			return false, false
		}
		// (1 − h/2·C·S)·ŵ = v + h/2·(a0 + C·(τ − S·w)),   D = (1 − h/2·C·S)⁻¹·h/2·C
		if !s.implicit(h) {
			return false, false
		}
		s.solve(s.hat)
		for k := range s.movers {
			at := s.movers[k].place
			d := s.d[k*p : k*p+p]
			for l := range p {
				d[l] = h / 2 * s.c[l*p+at]
			}
			s.solve(d)
		}
		calm := s.meet(h, q)
		// speeds with the forces of the movers, and the torques that go with them
		change, size := 0.0, 0.0
		for l := range p {
			w := s.hat[l]
			for k := range s.movers {
				w += s.d[k*p+l] * s.movers[k].f
			}
			change, size = max(change, math.Abs(w-s.wp[l])), max(size, math.Abs(w), math.Abs(s.vp[l]))
			s.hat[l] = w
		}
		for l := range p {
			for j := range p {
				s.tp[l] += s.sp[l*p+j] * (s.hat[j] - s.wp[j])
			}
		}
		for k := range s.movers {
			s.tp[s.movers[k].place] += s.movers[k].f
		}
		if s.guess.stiffSpring {
			s.refine(h)
		}
		if change-change != 0 {
			return false, false
		}
		if change <= squareTol*size+meetAbs || len(s.M.Parts) == 0 {
			if len(s.M.Parts) > 0 {
				s.square = change
			}
			return true, calm
		}
		if turn == maxNewton {
			return true, false
		}
		// the whole way; half of it where that has not come nearer: a contact that opens and closes
		share := 1.0
		if change > 0.7*last {
			share = 0.5
		}
		for l := range p {
			s.wp[l] += share * (s.hat[l] - s.wp[l])
		}
		last = change
	}
}

// implicit factors 1 − h/2·C·S and writes what the speeds without the forces of movers come from. S is mostly diagonal, or zero: of each of
// its rows the part is taken that is not zero. false: the matrix is singular or not finite.
func (s *Stepper) implicit(h float64) bool {
	p := len(s.p)
	s.sloped = false
	for l := range p {
		row := s.sp[l*p : l*p+p]
		first, end := 0, p
		for end > 0 && row[end-1] == 0 {
			end--
		}
		for first < end && row[first] == 0 {
			first++
		}
		s.filled[l] = [2]int{first, end}
		s.sloped = s.sloped || first < end
		f := s.tp[l]
		for j := first; j < end; j++ {
			f -= row[j] * s.wp[j]
		}
		s.constantForces[l] = f
	}
	for k := range p {
		c, x := s.c[k*p:k*p+p], s.vp[k]+h/2*s.ap[k]
		for l, f := range s.constantForces {
			x += h / 2 * c[l] * f
		}
		s.hat[k] = x
		if !s.sloped {
			continue
		}
		to := s.lu.A[k*p : k*p+p]
		clear(to)
		for l, filled := range s.filled {
			for j := filled[0]; j < filled[1]; j++ {
				to[j] += c[l] * s.sp[l*p+j]
			}
		}
		for j := range to {
			to[j] *= -h / 2
		}
		to[k]++
	}
	return !s.sloped || s.lu.Factor()
}

// solve replaces b by (1 − h/2·C·S)⁻¹·b.
func (s *Stepper) solve(b []float64) {
	if s.sloped {
		s.lu.Solve(b)
	}
}

// refine takes from the forces tp what rounding has left in them: S·ŵ has the rounding of ŵ times S, and the tension of a stiff spring is a
// small difference of two such forces. With what is missed, ρ = τ + S·(v + h/2·(a0 + C·tp) − w) − tp,
//
//	tp⁺ = tp + (1 − h/2·S·C)⁻¹·ρ = tp + ρ + S·(1 − h/2·C·S)⁻¹·h/2·C·ρ.
func (s *Stepper) refine(h float64) {
	p, speed, missed := len(s.p), s.speed, s.missed
	copy(missed, s.constantForces)
	for k := range s.movers {
		missed[s.movers[k].place] += s.movers[k].f
	}
	for k := range p {
		speed[k] = s.vp[k] + h/2*(s.ap[k]+dot(s.c[k*p:k*p+p], s.tp))
	}
	for k := range p {
		missed[k] += dot(s.sp[k*p:k*p+p], speed) - s.tp[k]
	}
	for k := range p {
		speed[k] = h / 2 * dot(s.c[k*p:k*p+p], missed)
	}
	s.solve(speed)
	for k := range p {
		s.tp[k] += missed[k] + dot(s.sp[k*p:k*p+p], speed)
	}
}

// parts puts the forces of parts, dampers and springs at the speeds at, and their slopes, into tp and sp.
func (s *Stepper) parts(t, h float64, q, v, z []float64) bool {
	m, p, na := s.M, len(s.p), len(s.M.axes)
	clear(s.sp)
	clear(s.tp)
	for k := range s.elastic {
		e := &s.elastic[k]
		w := s.wp[e.index]
		s.tp[e.index] += e.pull(s.p[e.index].x+h/2*w, w)
		s.sp[e.index*p+e.index] -= e.c + h/2*e.k
	}
	if len(m.Parts) == 0 {
		return true
	}
	// parts speak of axes
	clear(s.tau)
	clear(s.slope)
	for k := range m.axes {
		a := &m.axes[k]
		if at := s.placeOfAxis[k]; at >= 0 {
			m.v[k], s.trialSpeeds[k] = s.vp[at], s.wp[at]
		} else if a.cutIndex < 0 {
			m.v[k], s.trialSpeeds[k] = v[a.iv], s.w[a.iv]
		}
		if a.cutIndex < 0 {
			m.q[k] = q[a.iq]
		}
	}
	for k, part := range m.Parts {
		power, st := part.Trial(t, h, m.q, m.v, s.trialSpeeds, m.partStates(k, z), m.partStates(k, s.z1), s.tau, s.slope)
		if st == engine.NonFinite {
			s.failedMover = part.Name() + ": " + st.String()
			return false
		}
		s.powers[k] = power
	}
	for k, at := range s.placeOfAxis {
		if at < 0 {
			continue
		}
		s.tp[at] += s.tau[k]
		for l, to := range s.placeOfAxis {
			if to >= 0 {
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

// finishParts takes the states of the parts at the end of the step to the speeds w, which the last trial missed by what the equations of
// motion changed since.
func (s *Stepper) finishParts(t, h float64, z []float64) bool {
	m := s.M
	if len(m.Parts) == 0 {
		return true
	}
	dw, moved := m.force, 0.0
	for k := range m.axes {
		w := m.axes[k].velocity(s.w)
		dw[k] = w - s.trialSpeeds[k]
		s.trialSpeeds[k] = w
		moved = max(moved, math.Abs(dw[k]))
	}
	if moved == 0 {
		return true
	}
	for k, part := range m.Parts {
		if p, ok := part.(affine); ok && p.Affine() {
			if power, ok := p.Shift(s.trialSpeeds, dw, m.partStates(k, s.z1)); ok {
				s.powers[k] = power
				continue
			}
		}
		clear(s.tau)
		power, st := part.Trial(t, h, m.q, m.v, s.trialSpeeds, m.partStates(k, z), m.partStates(k, s.z1), s.tau, s.slope)
		if s.powers[k] = power; st == engine.NonFinite {
			s.failedMover = part.Name() + ": " + st.String()
			return false
		}
	}
	return true
}
