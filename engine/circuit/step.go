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
// Brushes and diodes are followed inside the step: a part of it ends where they leave the lines on which they are taken. The line of brushes
// is the tangent of drop·tanh(i/i0) where the part begins; what the drop misses of it at the end acts on the part as the square of the time,
// which is an exponential Rosenbrock method of two stages [HO10]. A diode is on one of its two, and the instant at which it changes is found.

// stepper is the workspace of Trial.
type stepper struct {
	lin               int       // states that are linear: currents and voltages
	a, b              []float64 // x′ = A·x + b
	x, mean           []float64 // at the end of the part; over it
	stepMean          []float64 // mean over the step
	y                 []float64 // solution for the mean
	drive             []float64 // ∂b/∂v of one axis
	dx                []float64 // ∂x/∂v, a row for each axis that moves
	dmean             []float64 // ∂(mean over the step)/∂v
	dend              []float64
	partEnd           []float64 // state at the end of the part
	coupledAxes       []int     // axes that some group or lead moves with
	spin              []int     // leads that move with an axis
	j, dj             []float64 // their mean currents over the step, and ∂/∂v, a row for each axis that moves
	phi               phis
	qm                []float64
	w                 []float64 // mean speeds of the step
	rate              []float64 // 1/s²  of the speeds
	speed             []float64 // in the middle of the part
	startTime, length float64   // s  of the step
	middleOffset      float64   // s  of the middle of the part before that of the step
	shortParts        int       // that diodes ended in the step
	event             int       // conductor that leaves its line at the end of the part; −1: none
	brushed           bool
	rectified         bool      // there are diodes
	matricesValid     bool      // fields, resistances and A are those in force
	derivativeStep    float64   // s  step for which dx, dmean, dj and dy are those of a switched-linear circuit; NaN: none
	dy                []float64 // ∂(solution for the mean)/∂v, a row for each axis that moves, of a switched-linear circuit
}

func newStepper(c *Circuit) stepper {
	lin := len(c.windings) + len(c.capacitors)
	s := stepper{lin: lin, a: make([]float64, lin*lin), phi: newPhis(lin),
		y: make([]float64, c.n), derivativeStep: math.NaN(), qm: make([]float64, c.axes), rate: make([]float64, c.axes),
		w: make([]float64, c.axes), speed: make([]float64, c.axes)}
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
	for k := range c.conductors {
		s.rectified = s.rectified || c.conductors[k].kind == rectifying
	}
	return s
}

const (
	maxParts  = 10000 // of a step; what is left then is taken at once
	brushSpan = 0.1   // change of atan(sinh(i/i0)) over which the drop of brushes is near its tangent
	onLine    = 1e-12 // V  by which a diode may be off its line
	shortPart = 1e-9  // share of the step: a part that is shorter is short
	maxShort  = 20    // short parts of a step; for what is left then diodes are on the lines of the mean
	maxTurns  = 60    // that look for the instant of a diode, or for the lines of a mean
)

// Trial advances x, which it leaves alone, from t by h > 0 (s) when the machine starts at the positions q with the speeds v and has the
// mean speeds w. It writes the state at the end to xn (which may be x itself), adds the mean forces to tau and their derivatives with
// respect to w to slope (row-major, one row a coordinate). Mean powers of the step are returned where Audited is set, else its work
// alone. Limited says that the step came to more than 10000 parts and the rest of it was taken at once.
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
	s.startTime, s.length, s.shortParts = t, h, 0
	copy(s.w, w)
	if s.matricesValid = s.matricesValid && c.switchedLinear; !s.matricesValid {
		c.fields(s.qm)
		c.setResistances(x)
		c.warmer(h, x)
		c.setTangents(x)
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
		duration, p, st := c.part(at, d, part < maxParts)
		if st == engine.NonFinite {
			return Power{}, st
		}
		worst = max(worst, st) // part has said NonFinite already
		sum.Input += p.Input * duration / h
		sum.Loss += p.Loss * duration / h
		if at += duration; duration == d {
			at = next
		}
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

// part advances the state from the time at by d, or by less where divided is set and brushes or diodes leave their lines before, and adds
// to the means of the step. It returns the duration (s) of what it advanced.
func (c *Circuit) part(at, d float64, divided bool) (duration float64, p Power, st engine.Status) {
	s := &c.step
	if duration = d; s.brushed || s.rectified {
		c.setMiddle(at, d)
		if s.brushed {
			c.setTangents(s.x)
			s.matricesValid = false
		}
		if st = c.solveDiodes(func() { c.fill(at+d/2, -d/2, s.x, s.speed, s.y) }, s.y); st == engine.NonFinite {
			return 0, Power{}, st
		}
		c.factored = true // L is frozen in the step
		divided = divided && st == engine.OK
		for k := range c.windings {
			if w := &c.windings[k]; divided && w.drop > 0 {
				if reach, rate := w.tangentRange(s.x[k], s.y[k]), math.Abs(s.y[k]); rate*duration > reach {
					duration = reach / rate
				}
			}
		}
	}
	ok := false
	s.event = -1
	switch {
	case s.rectified && divided && s.shortParts < maxShort:
		duration, ok = c.advanceToDiode(at, duration)
	case s.rectified:
		ok, st = c.advanceOnMean(at, duration)
	default:
		ok = c.advance(at, duration)
	}
	if !ok {
		return 0, Power{}, engine.NonFinite
	}
	mid, h := at+duration/2, s.length
	if s.brushed {
		c.correctBrushes(duration)
	}
	c.fill(mid, 0, s.mean, s.speed, s.y)
	c.lu.Solve(s.y)
	if !numeric.AllFinite(s.y...) {
		return 0, Power{}, engine.NonFinite
	}
	for k, v := range s.mean {
		s.stepMean[k] += v * duration / h
	}
	for k, l := range s.spin {
		s.j[k] += s.y[len(c.windings)+len(c.nodes)+l] * duration / h
	}
	if s.derivativeStep != h {
		c.sensitivity(duration, h, 1+2*s.middleOffset/h)
	}
	if c.switchedLinear && duration == h {
		s.derivativeStep = h
	}
	if c.Audited {
		// the loss is a square: Simpson's rule with the mean as its middle
		for k, x := range [3][]float64{s.x, s.mean, s.partEnd} {
			c.fill(mid, 0, x, s.speed, c.solution.y)
			c.lu.Solve(c.solution.y)
			in, loss := c.power(mid, x, c.solution.y)
			p.Loss += loss * [3]float64{1. / 6, 4. / 6, 1. / 6}[k]
			if k == 1 {
				p.Input = in
			}
		}
	}
	copy(s.x, s.partEnd)
	copy(c.solution.y, s.y)
	if s.event >= 0 {
		c.changeLine(&c.conductors[s.event])
	}
	return duration, p, st
}

// setMiddle takes speeds and switches of the middle of a part from the time at over d.
func (c *Circuit) setMiddle(at, d float64) {
	s := &c.step
	if s.middleOffset = at + d/2 - (s.startTime + s.length/2); d == s.length {
		s.middleOffset = 0
	}
	for k, r := range s.rate {
		s.speed[k] = s.w[k] + r*s.middleOffset
	}
	c.throw(at + d/2)
}

// advance finds the state after a part from the time at over d, with brushes and diodes on their lines, and its mean; false: not a number.
func (c *Circuit) advance(at, d float64) bool {
	s := &c.step
	c.setMiddle(at, d)
	mid := at + d/2
	if !c.system(mid, s.speed) {
		return false
	}
	s.phi.set(s.a, d)
	clear(s.mean)
	times(s.mean, s.phi.p1, s.x, 1)
	times(s.mean, s.phi.p2, s.b, d)
	clear(c.solution.y)
	c.affineRate(mid, 1, s.rate, s.mean, c.solution.y)
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
	return true
}

// deviates is by how much the diode is off its line that is furthest off it, at the state x a time after t; s.event is that diode.
func (c *Circuit) deviates(t, after float64, x []float64) (off float64) {
	s := &c.step
	c.fill(t, after, x, s.speed, c.solution.y)
	c.lu.Solve(c.solution.y)
	off, s.event = c.diodeDeviation(c.solution.y)
	return off
}

// advanceToDiode advances from the time at until a diode leaves its line, over d at most.
func (c *Circuit) advanceToDiode(at, d float64) (duration float64, ok bool) {
	s := &c.step
	lowest, _ := c.diodeDeviation(s.y) // s.y is the solution at the beginning
	// by which it is off after a part of d: at its end, or in the mean of a part in which it comes and goes
	after := func(d float64) float64 {
		if ok = c.advance(at, d); !ok {
			return 0
		}
		off := c.deviates(at+d/2, 0, s.mean)
		if event, end := s.event, c.deviates(at+d/2, d/2, s.partEnd); end > off {
			off = end
		} else {
			s.event = event
		}
		ok = off-off == 0
		return off
	}
	lo, low := 0.0, min(lowest, 0)
	hi, high := d, after(d)
	if !ok || !(high > onLine) {
		s.event = -1
		return d, ok
	}
	// regula falsi with Illinois weights
	for side, turn := 0, 0; hi-lo > 1e-15*hi && turn < maxTurns; turn++ {
		middle := lo + (hi-lo)*min(max(low/(low-high), 0.001), 0.999)
		off := after(middle)
		switch {
		case !ok:
			return 0, false
		case off > 0:
			if hi, high = middle, off; side > 0 {
				low /= 2
			}
			side = 1
		default:
			if lo, low = middle, off; side < 0 {
				high /= 2
			}
			side = -1
		}
	}
	if hi < shortPart*s.length {
		s.shortParts++
	}
	after(hi)
	return hi, ok
}

// advanceOnMean advances with diodes on the lines on which they are in the mean of the part.
func (c *Circuit) advanceOnMean(at, d float64) (ok bool, st engine.Status) {
	s := &c.step
	for turn := 0; c.advance(at, d); turn++ {
		c.fill(at+d/2, 0, s.mean, s.speed, s.y)
		c.lu.Solve(s.y)
		if turn == maxTurns {
			return true, engine.NotConverged
		}
		if !c.turn(s.y, turn >= 4) {
			return true, engine.OK
		}
	}
	return false, engine.NonFinite
}

// correctBrushes moves end and mean of a part of d by what the drops of the brushes at its end miss of their tangents.
func (c *Circuit) correctBrushes(d float64) {
	s := &c.step
	y := c.solution.y
	clear(y)
	for k := range c.windings {
		if w := &c.windings[k]; w.drop > 0 {
			i := s.partEnd[k]
			y[k] = (c.solution.slope[k]-c.solution.ohm[k])*i + c.solution.offset[k] - w.brushes(i)
		}
	}
	c.lu.Solve(y)
	c.rates(y, s.drive)
	times(s.partEnd, s.phi.p3, s.drive, 2*d)
	times(s.mean, s.phi.p3, s.drive, d/2) // for 2·d·P4, which it is for small Z
}

// tangentRange is by how much (A) the current i, which changes by rate, may change before the drop of the brushes bends.
func (w *winding) tangentRange(i, rate float64) float64 {
	y := math.Abs(i) / w.scale
	if i*rate >= 0 {
		return brushSpan * w.scale * math.Cosh(y)
	}
	return w.scale * (y - math.Asinh(math.Tan(math.Atan(math.Sinh(y))-brushSpan)))
}

// fill writes the right-hand side at the state x, a time after t, of which sources and speeds are.
func (c *Circuit) fill(t, after float64, x, w, y []float64) {
	c.homogeneous(x, w, y)
	c.affine(t, w, y)
	if after != 0 {
		c.affineRate(t, after, c.step.rate, x, y)
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
	if !c.constantFields { // the speed is in A
		s.matricesValid = false
	}
	clear(s.mean)
	for j := range n {
		if s.matricesValid {
			break
		}
		s.mean[j] = 1
		c.homogeneous(s.mean, w, s.y)
		c.lu.Solve(s.y)
		c.rates(s.y, s.drive)
		for i := range n {
			s.a[i*n+j] = s.drive[i]
		}
		s.mean[j] = 0
	}
	s.matricesValid = true
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

// affineRate adds what the right-hand side changes in d seconds: sources with their own rates, what moves with rate.
func (c *Circuit) affineRate(t, d float64, rate, i, y []float64) {
	m, nn := len(c.windings), len(c.nodes)
	for axis, r := range rate {
		if r != 0 {
			c.induced(axis, r*d, i, y)
		}
	}
	for k := range c.injections {
		p := &c.injections[k]
		_, di, _ := p.u.At(t)
		c.leave(p.fromNode, p.toNode, di*d, y)
	}
	for _, p := range c.cuts {
		for _, k := range p.injections {
			_, _, ddi := c.injections[max(k, ^k)].u.At(t)
			y[m+p.row] -= signOf(k) * ddi * d
		}
	}
	for k := range c.leads {
		if p := &c.leads[k]; p.u != nil {
			_, du, _ := p.u.At(t)
			y[m+nn+k] += p.weight * du * d
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
		end := th.ta + th.res*c.heat(k, x[k])
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
		end := th.ta + th.res*(c.heat(k, x[k])+4*c.heat(k, s.stepMean[k])+c.heat(k, s.x[k]))/6
		xn[at] = x[at] + (end-x[at])*-math.Expm1(-h/(th.res*th.capacity))
	}
}
