package circuit

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// A step is exact for speeds and sources that change by a constant rate, at a position that is held: currents and voltages of capacitors
// follow x′ = A·x + b + b′·(t − middle), with A and b at the positions of the middle of the step, its mean speeds and the sources in
// the middle of each part between their jumps, b′ by the rates of both (phi.go). Nothing limits the step from the side of L/R: a
// winding of any time constant goes where it goes, one without inductance is quasi-static by its equations. What is held makes the
// scheme second order. So do the energies of a step: the mean force times the mean speed differs from what the back-emf takes out of
// the circuit by what current and speed vary together in it.
//
// Brushes: drop·tanh(i/i0) is taken as the resistance drop·tanh(ī/i0)/ī of the mean current, found by iteration. Diodes stay on one
// of their lines for a part; it is the one of the mean of the part, so the instant of a change is known to a part: first order there.

// stepper is the workspace of Trial.
type stepper struct {
	lin            int       // states that are linear: currents and voltages
	a, b           []float64 // x′ = A·x + b
	x, mean        []float64 // at the end of the part; over it
	stepMean       []float64 // mean over the step
	secant         []float64 // Ω  of the brushes, by winding
	lastSecant     []float64 // Ω  … of the turn before
	lastMiss       []float64 // Ω  … by which the drop at the mean current missed it
	y              []float64 // solution for the mean
	drive          []float64 // ∂b/∂v of one axis
	dx             []float64 // ∂x/∂v, a row for each axis that moves
	dmean          []float64 // ∂(mean over the step)/∂v
	dend           []float64
	partEnd        []float64 // state at the end of the part
	coupledAxes    []int     // axes that some group or lead moves with
	spin           []int     // leads that move with an axis
	j, dj          []float64 // their mean currents over the step, and ∂/∂v, a row for each axis that moves
	phi            phis
	qm             []float64
	rate           []float64 // 1/s²  of the speeds
	speed          []float64 // in the middle of the part
	brushed        bool
	matricesValid  bool      // fields, resistances and A are those of the last step: of a switched-linear circuit only
	derivativeStep float64   // s  step for which dx, dmean, dj and dy are those of a switched-linear circuit; NaN: none
	dy             []float64 // ∂(solution for the mean)/∂v, a row for each axis that moves, of a switched-linear circuit
}

func newStepper(c *Circuit) stepper {
	lin := len(c.windings) + len(c.capacitors)
	s := stepper{lin: lin, a: make([]float64, lin*lin), phi: newPhis(lin), secant: make([]float64, len(c.windings)),
		lastSecant: make([]float64, len(c.windings)), lastMiss: make([]float64, len(c.windings)),
		y: make([]float64, c.n), derivativeStep: math.NaN(), qm: make([]float64, c.axes), rate: make([]float64, c.axes),
		speed: make([]float64, c.axes)}
	for axis := range c.axes {
		uses := false
		for _, g := range c.groups {
			uses = uses || g.axis == axis
		}
		for _, l := range c.leads {
			uses = uses || l.axis == axis
		}
		if uses {
			s.coupledAxes = append(s.coupledAxes, axis)
		}
	}
	for k, l := range c.leads {
		if l.axis >= 0 {
			s.spin = append(s.spin, k)
		}
	}
	s.dy = make([]float64, c.n*len(s.coupledAxes))
	s.j, s.dj = make([]float64, len(s.spin)), make([]float64, len(s.spin)*len(s.coupledAxes))
	v := make([]float64, (7+2*len(s.coupledAxes))*lin)
	cut := func(n int) (part []float64) { part, v = v[:n:n], v[n:]; return part }
	s.b, s.x, s.mean, s.stepMean, s.drive, s.dend, s.partEnd = cut(lin), cut(lin), cut(lin), cut(lin), cut(lin), cut(lin), cut(lin)
	s.dx, s.dmean = cut(lin*len(s.coupledAxes)), cut(lin*len(s.coupledAxes))
	for k := range c.windings {
		s.brushed = s.brushed || c.windings[k].drop > 0
	}
	return s
}

// maxParts is how many parts one step may be cut into by the jumps of its sources.
const maxParts = 10000

// Trial advances x, which it leaves alone, from t by h > 0 (s) when the machine starts at the positions q with the speeds v and has the
// mean speeds w. It writes the state at the end to xn (which may be x itself), adds the mean forces to tau and their derivatives with
// respect to w to slope (row-major, one row a coordinate). Mean powers of the step are returned where Audited is set, else its work
// alone. Limited says that sources jumped more than 10000 times and the rest of the step was taken at once.
func (c *Circuit) Trial(t, h float64, q, v, w, x, xn, tau, slope []float64) (Power, engine.Status) {
	if !numeric.AllFinite(x...) || !numeric.AllFinite(q...) || !numeric.AllFinite(w...) {
		return Power{}, engine.NonFinite
	}
	s := &c.step
	for k, p := range q {
		s.qm[k] = p + h/2*w[k]
	}
	for k := range s.rate {
		s.rate[k] = 2 * (w[k] - v[k]) / h
	}
	if !s.matricesValid {
		c.fields(s.qm)
		c.setResistances(x)
		c.warmer(h, x)
	}
	if c.varyingFields {
		c.factored = false
	}
	copy(s.x, x)
	clear(s.stepMean)
	clear(s.j)
	c.throw(t + h/2)
	if !(c.switchedLinear && s.matricesValid && s.derivativeStep == h && c.Next(t) >= t+h) {
		s.derivativeStep = math.NaN()
		clear(s.dx)
		clear(s.dmean)
		clear(s.dj)
		clear(s.dy)
	}
	var sum Power
	var worst engine.Status
	for part, at, end := 0, t, t+h; at < end; part++ {
		next := min(end, c.Next(at))
		if end-next < 1e-12*h {
			next = end
		}
		if part == maxParts {
			next, worst = end, engine.Limited
		}
		d := next - at
		if at == t && next == end {
			d = h
		}
		lead := at + d/2 - (t + h/2) // of the middle of the part before that of the step
		if d == h {
			lead = 0
		}
		for k, r := range s.rate {
			s.speed[k] = w[k] + r*lead
		}
		p, st := c.part(at, d, h, lead)
		if st == engine.NonFinite {
			return Power{}, st
		}
		worst = max(worst, st) // part has said NonFinite already
		sum.Input += p.Input * d / h
		sum.Loss += p.Loss * d / h
		at = next
	}
	c.temperatures(h, x, xn)
	copy(xn, s.x)
	for _, axis := range s.coupledAxes {
		f := c.meanForce(axis)
		tau[axis] += f
		sum.Output += f * w[axis]
		for k, other := range s.coupledAxes {
			slope[axis*c.axes+other] += c.meanSlope(axis, k)
		}
		slope[axis*c.axes+axis] += h / 2 * c.stiffness(axis)
	}
	return sum, worst
}

// part advances the state by d, a part of a step of h that begins at t, and adds to the means of the step.
func (c *Circuit) part(t, d, h, lead float64) (Power, engine.Status) {
	s := &c.step
	w := s.speed
	mid := t + d/2
	c.throw(mid)
	clear(s.secant)
	for k := range c.windings {
		s.secant[k] = c.windings[k].secant(s.x[k])
	}
	var st engine.Status
	for turn := 0; ; turn++ {
		if !c.system(mid, w) {
			return Power{}, engine.NonFinite
		}
		s.phi.set(s.a, d)
		clear(s.mean)
		times(s.mean, s.phi.p1, s.x, 1)
		times(s.mean, s.phi.p2, s.b, d)
		if c.switchedLinear {
			break
		}
		// the whole solution at the mean: voltages and currents without a state
		c.fill(mid, s.mean, w, s.y)
		c.lu.Solve(s.y)
		if !numeric.AllFinite(s.y...) {
			return Power{}, engine.NonFinite
		}
		again := c.turn(s.y, turn >= 4)
		for k := range c.windings {
			if !s.brushed {
				break
			}
			p, r := &c.windings[k], s.secant[k]
			found := p.secant(s.mean[k])
			miss := found - r
			again = again || math.Abs(miss) > 1e-10*(found+c.solution.ohm[k])
			// by the chord through this turn and the one before: where the drop takes most of the voltage the plain iteration needs 60 turns
			if chord := r - miss*(r-s.lastSecant[k])/(miss-s.lastMiss[k]); turn > 0 && turn < 16 && chord > 0 && chord*p.scale < p.drop {
				found = chord
			}
			s.lastSecant[k], s.lastMiss[k], s.secant[k] = r, miss, found
		}
		if !again {
			break
		}
		if turn > 64 {
			st = engine.NotConverged
			break
		}
	}
	c.affineRate(mid, s.rate, s.mean, c.solution.y)
	c.lu.Solve(c.solution.y)
	c.rates(c.solution.y, s.drive)
	next := s.partEnd
	clear(next)
	times(next, s.phi.e, s.x, 1)
	times(next, s.phi.p1, s.b, d)
	times(next, s.phi.p2, s.drive, d*d)
	times(next, s.phi.p1, s.drive, -d*d/2)
	times(s.mean, s.phi.p3, s.drive, d*d)
	times(s.mean, s.phi.p2, s.drive, -d*d/2)
	c.fill(mid, s.mean, w, s.y)
	c.lu.Solve(s.y)
	if !numeric.AllFinite(s.y...) {
		return Power{}, engine.NonFinite
	}
	for k, v := range s.mean {
		s.stepMean[k] += v * d / h
	}
	for k, l := range s.spin {
		s.j[k] += s.y[len(c.windings)+len(c.nodes)+l] * d / h
	}
	if s.derivativeStep != h {
		c.sensitivity(d, h, 1+2*lead/h)
	}
	if c.switchedLinear && d == h {
		s.derivativeStep = h
	}
	var p Power
	if c.Audited {
		// the loss is a square: Simpson's rule with the mean as its middle
		for k, x := range [3][]float64{s.x, s.mean, next} {
			c.fill(mid, x, w, c.solution.y)
			c.lu.Solve(c.solution.y)
			in, loss := c.power(mid, x, c.solution.y)
			p.Loss += loss * [3]float64{1. / 6, 4. / 6, 1. / 6}[k]
			if k == 1 {
				p.Input = in
			}
		}
	}
	copy(s.x, next)
	copy(c.solution.y, s.y)
	return p, st
}

// secant is the resistance (Ω) that has the drop of the brushes at the current i.
func (p *winding) secant(i float64) float64 {
	if p.drop == 0 {
		return 0
	}
	if y := i / p.scale; math.Abs(y) > 1e-6 {
		return p.drop * math.Tanh(y) / i
	}
	return p.drop / p.scale
}

// fill writes the right-hand side at the state x.
func (c *Circuit) fill(t float64, x, w, y []float64) {
	c.homogeneous(x, w, y)
	c.affine(t, w, y)
	for k, r := range c.step.secant {
		y[k] -= r * x[k]
	}
}

// rates takes the derivatives of the state out of a solution.
func (c *Circuit) rates(y, dx []float64) {
	m := len(c.windings)
	copy(dx[:m], y[:m])
	for k := range c.capacitors {
		dx[m+k] = y[m+len(c.nodes)+c.capacitors[k].leadIndex] / c.capacitors[k].c
	}
}

// system writes A and b.
func (c *Circuit) system(t float64, w []float64) bool {
	s := &c.step
	if !c.factorFor() {
		return false
	}
	n := s.lin
	clear(s.mean)
	for j := range n {
		if s.matricesValid {
			break
		}
		s.mean[j] = 1
		c.homogeneous(s.mean, w, s.y)
		if j < len(s.secant) {
			s.y[j] -= s.secant[j]
		}
		c.lu.Solve(s.y)
		c.rates(s.y, s.drive)
		for i := range n {
			s.a[i*n+j] = s.drive[i]
		}
		s.mean[j] = 0
	}
	s.matricesValid = c.switchedLinear
	clear(s.y)
	c.affine(t, w, s.y)
	c.lu.Solve(s.y)
	c.rates(s.y, s.b)
	return true
}

// factorFor factors the matrix once for a step, L being frozen in it.
func (c *Circuit) factorFor() bool {
	if c.factored {
		return true
	}
	ok := c.factor()
	c.factored = ok // until the next Trial or Flow takes the fields anew
	return ok
}

// affineRate writes how fast the right-hand side changes: sources with their own rates, what moves with rate.
func (c *Circuit) affineRate(t float64, rate, i, y []float64) {
	clear(y)
	m, nn := len(c.windings), len(c.nodes)
	for axis, r := range rate {
		if r != 0 {
			c.induced(axis, r, i, y)
		}
	}
	for k := range c.injections {
		p := &c.injections[k]
		_, di, _ := p.u.At(t)
		c.leave(p.fromNode, p.toNode, di, y)
	}
	for _, p := range c.cuts {
		for _, k := range p.injections {
			_, _, ddi := c.injections[max(k, ^k)].u.At(t)
			y[m+p.row] -= signOf(k) * ddi
		}
	}
	for k := range c.leads {
		if p := &c.leads[k]; p.u != nil {
			_, du, _ := p.u.At(t)
			y[m+nn+k] += p.weight * du
		}
	}
}

// induced adds to a right-hand side what the speed v of an axis does to it.
func (c *Circuit) induced(axis int, v float64, i, y []float64) {
	for g := range c.groups {
		p := &c.groups[g]
		if p.axis != axis {
			continue
		}
		for a := range p.m {
			e := p.mag.EMF[a]
			for b := range p.m {
				e += p.mag.Turn[a*p.m+b] * i[p.firstWinding+b]
			}
			y[p.firstWinding+a] -= v * e
		}
	}
	base := len(c.windings) + len(c.nodes)
	for l := range c.leads {
		if p := &c.leads[l]; p.axis == axis {
			y[base+l] += v * p.k
		}
	}
}

// warmer takes the resistances at the temperatures of the middle of the step, as the currents x at its beginning heat.
func (c *Circuit) warmer(h float64, x []float64) {
	for k := range c.windings {
		p := &c.windings[k]
		if p.heat < 0 {
			continue
		}
		th := &c.heaters[p.heat]
		end := th.ta + th.res*(c.solution.ohm[k]*x[k]+p.brushes(x[k]))*x[k]
		from := x[c.step.lin+p.heat]
		c.solution.ohm[k] = p.ohm(th, from+(end-from)*-math.Expm1(-h/2/(th.res*th.capacity)))
	}
}

// temperatures takes the losses of the step as constant: exact for them.
func (c *Circuit) temperatures(h float64, x, xn []float64) {
	s := &c.step
	for k := range c.windings {
		p := &c.windings[k]
		if p.heat < 0 {
			continue
		}
		th := &c.heaters[p.heat]
		at := s.lin + p.heat
		square := (x[k]*x[k] + 4*s.stepMean[k]*s.stepMean[k] + s.x[k]*s.x[k]) / 6
		end := th.ta + th.res*(c.solution.ohm[k]*square+p.brushes(s.stepMean[k])*s.stepMean[k])
		xn[at] = x[at] + (end-x[at])*-math.Expm1(-h/(th.res*th.capacity))
	}
}
