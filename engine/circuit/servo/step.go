package servo

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/circuit"
)

// In a fixed step a continuous controller is taken in the middle: it sees positions q + h·w/2, the mean speeds w, the mean currents, and
// integrals that have grown for half of the step; what it sets is held. The scheme stays of order two. The mean currents depend on the
// voltages u in turn, nearly as a straight line, and the equations
//
//	u = C(ī(u, w), w)
//
// are solved by Newton's method with the slopes G = ∂ī/∂u and T = ∂τ/∂u of the circuit, which are found by differences and kept from step
// to step. So a current loop that is faster than the step is stable.

const (
	maxIterations   = 60
	metRel          = 1e-11 // of the largest voltage
	metAbs          = 1e-13 // V
	refreshInterval = 5     // turns after which G and T are found again
	// of a step of Newton's method
	minShare = 1. / 1024
)

// stepper is the workspace of Trial.
type stepper struct {
	n              int       // unknowns: outputs of continuous controllers that set sources
	measuredStates []int     // states of the circuit that controllers measure
	axes           []int     // that the circuit moves with, and that controllers measure or act on
	u, c           []float64 // n
	midpoint       view
	meanStates     []float64 // states of the circuit, those in measuredStates are means
	sum            []float64 // integrals in the middle
	force          []float64 // efforts, by axis
	tau            []float64
	slope          []float64
	shiftedTau     []float64 // tau of a difference
	waste          []float64
	zc             []float64
	g              []float64 // measuredStates×n
	t              []float64 // axes of the machine×n
	ci             []float64 // n×measuredStates
	step           float64   // s  for which g and t are; 0: none
	lu             engine.LU
	try            []float64
	newtonStart    []float64 // where a step of Newton's method begins, and what it is
	newtonStep     []float64
}

func newStepper(p *Part) stepper {
	s := stepper{axes: p.coupledAxes}
	see := func(k int) {
		for _, x := range s.measuredStates {
			if x == k {
				return
			}
		}
		s.measuredStates = append(s.measuredStates, k)
	}
	for _, c := range p.list {
		for k := range c.Channels {
			if ch := &c.Channels[k]; ch.Quantity == State {
				see(ch.stateIndex)
			}
		}
		if !c.sampled() && p.sets(c) {
			c.implicit = true
			s.n += len(c.Channels)
		}
	}
	na, n := p.axes, s.n
	f := func(n int) []float64 { return make([]float64, n) }
	s.u, s.c, s.try, s.newtonStart, s.newtonStep, s.meanStates, s.sum = f(n), f(n), f(n), f(n), f(n), f(p.size), f(2)
	s.midpoint.q, s.midpoint.v, s.midpoint.x = f(na), f(na), s.meanStates
	s.force, s.tau, s.shiftedTau, s.slope, s.waste, s.zc = f(na), f(na), f(na), f(na*na), f(na*na), f(p.size)
	s.g, s.t, s.ci = f(len(s.measuredStates)*n), f(na*n), f(n*len(s.measuredStates))
	s.lu = engine.NewLU(n)
	return s
}

// sets tells whether a controller sets sources of the circuit rather than references or efforts.
func (p *Part) sets(c *Controller) bool {
	if c.Channels[0].To.Source == nil {
		return false
	}
	for _, o := range p.list {
		if refers(c, o) {
			return false
		}
	}
	return true
}

// laws asks the controllers in the middle of the step: voltages to c, efforts to force. States at its beginning are z.
func (p *Part) laws(h float64, z, c, force []float64) {
	s := &p.step
	clear(force)
	n := 0
	for _, k := range p.list {
		out := p.outputs[k.origin : k.origin+len(k.Channels)]
		if k.sampled() {
			copy(out, z[k.stateOffset+len(k.Channels):])
			k.applyOutput(out, force)
			continue
		}
		for j := range k.Channels {
			e, _ := k.Channels[j].errorOf(&s.midpoint)
			s.sum[j] = k.Clamp(z[k.stateOffset+j] + h/2*k.Growth(e))
		}
		if k.act(&s.midpoint, s.sum, out); k.implicit {
			n += copy(c[n:], out)
		} else {
			k.applyOutput(out, force)
		}
	}
}

// supply sets the sources.
func (p *Part) supply(u []float64) {
	for _, k := range p.list {
		if k.implicit {
			k.applyOutput(u, nil)
			u = u[len(k.Channels):]
		}
	}
}

// run tries the step of the circuit with the sources u, and takes the means that are seen.
func (p *Part) run(t, h float64, q, v, w, z, u, tau, slope []float64) (circuit.Power, engine.Status) {
	s := &p.step
	p.supply(u)
	clear(tau)
	clear(slope)
	power, st := p.Circuit.Trial(t, h, q, v, w, z[:p.size], s.zc, tau, slope)
	for _, k := range s.measuredStates {
		s.meanStates[k], _ = p.Circuit.Mean(k, 0)
	}
	return power, st
}

// probe finds g and t by differences about the sources u, whose step was tried.
func (p *Part) probe(t, h float64, q, v, w, z []float64) engine.Status {
	s := &p.step
	copy(s.try, s.u)
	for j := range s.n {
		d := 1e-3 * (1 + math.Abs(s.u[j]))
		s.try[j] += d
		for i, k := range s.measuredStates {
			s.g[i*s.n+j] = -s.meanStates[k] / d
		}
		if _, st := p.run(t, h, q, v, w, z, s.try, s.shiftedTau, s.waste); st == engine.NonFinite {
			return st
		}
		for i, k := range s.measuredStates {
			s.g[i*s.n+j] += s.meanStates[k] / d
		}
		for a := range p.axes {
			s.t[a*s.n+j] = (s.shiftedTau[a] - s.tau[a]) / d
		}
		s.try[j] = s.u[j]
		for i, k := range s.measuredStates { // back
			s.meanStates[k] -= s.g[i*s.n+j] * d
		}
	}
	s.step = h
	return engine.OK
}

// slopes finds ∂C/∂ī, and factors 1 − ∂C/∂ī·G; false: it is singular.
func (p *Part) slopes(h float64, z []float64) bool {
	s := &p.step
	ns := len(s.measuredStates)
	for i, k := range s.measuredStates {
		was := s.meanStates[k]
		d := 1e-6 * (1 + math.Abs(was))
		s.meanStates[k] = was + d
		p.laws(h, z, s.try, s.shiftedTau)
		s.meanStates[k] = was
		for j := range s.n {
			s.ci[j*ns+i] = (s.try[j] - s.c[j]) / d
		}
	}
	for j := range s.n {
		for l := range s.n {
			x := 0.0
			for i := range s.measuredStates {
				x -= s.ci[j*ns+i] * s.g[i*s.n+l]
			}
			if j == l {
				x++
			}
			s.lu.A[j*s.n+l] = x
		}
	}
	return s.lu.Factor()
}

// Trial is a fixed step, see drivetrain.Part.
func (p *Part) Trial(t, h float64, q, v, w, z, zn, tau, slope []float64) (power circuit.Power, st engine.Status) {
	s := &p.step
	s.midpoint.t = t + h/2
	for k := range q {
		s.midpoint.q[k], s.midpoint.v[k] = q[k]+h/2*w[k], w[k]
	}
	if p.Circuit == nil {
		p.laws(h, z, s.c, s.force)
	} else if power, st = p.meet(t, h, q, v, w, z); st == engine.NonFinite {
		return power, st
	}
	p.steepen(h, w, z, slope)
	for k := range tau {
		tau[k] += s.tau[k] + s.force[k]
		power.Input += s.force[k] * w[k]
		power.Output += s.force[k] * w[k]
	}
	copy(zn, s.zc)
	for _, c := range p.list {
		n := len(c.Channels)
		if c.sampled() {
			copy(zn[c.stateOffset:c.stateOffset+2*n], z[c.stateOffset:])
			continue
		}
		for k := range n {
			e, _ := c.Channels[k].errorOf(&s.midpoint)
			zn[c.stateOffset+k] = c.Clamp(z[c.stateOffset+k] + h*c.Growth(e))
		}
	}
	return power, st
}

// meet finds the sources of the step. c, force, wide and tau are those of the solution afterwards.
func (p *Part) meet(t, h float64, q, v, w, z []float64) (power circuit.Power, st engine.Status) {
	s := &p.step
	if s.step != h {
		s.step = 0
	}
	p.laws(h, z, s.c, s.force) // what is held, before the circuit goes
	last, share := math.Inf(1), 1.0
	for turn := 0; ; turn++ {
		if power, st = p.run(t, h, q, v, w, z, s.u, s.tau, s.slope); st == engine.NonFinite {
			return power, st
		}
		p.laws(h, z, s.c, s.force)
		miss, size := 0.0, 0.0
		for j := range s.n {
			miss, size = max(miss, math.Abs(s.c[j]-s.u[j])), max(size, math.Abs(s.c[j]), math.Abs(s.u[j]))
		}
		if miss-miss != 0 {
			return power, engine.NonFinite
		}
		if s.n == 0 || miss <= metRel*size+metAbs && s.step == h {
			return power, st
		}
		if turn == maxIterations {
			return power, engine.NotConverged
		}
		if turn > 0 && miss > 0.9*last && share > minShare {
			// beyond a corner of the law, where its limit begins: less of the way
			share /= 2
			for j := range s.n {
				s.u[j] = s.newtonStart[j] + share*s.newtonStep[j]
			}
			continue
		}
		if s.step != h || turn%refreshInterval == refreshInterval-1 {
			if st := p.probe(t, h, q, v, w, z); st == engine.NonFinite {
				return power, st
			}
		}
		if !p.slopes(h, z) {
			return power, engine.NonFinite
		}
		for j := range s.n {
			s.newtonStep[j] = s.c[j] - s.u[j]
		}
		s.lu.Solve(s.newtonStep)
		share, last = 1, miss
		for j := range s.n {
			s.newtonStart[j] = s.u[j]
			s.u[j] += s.newtonStep[j]
		}
	}
}

// steepen adds the slopes of the forces by the mean speeds: those of the circuit with the sources held, of the efforts, and of the sources.
func (p *Part) steepen(h float64, w, z, slope []float64) {
	s := &p.step
	na, ns := p.axes, len(s.measuredStates)
	if p.Circuit != nil {
		for k, x := range s.slope {
			slope[k] += x
		}
		if s.n > 0 && !p.slopes(h, z) {
			return
		}
	}
	for _, axis := range s.axes {
		d := 1e-6 * (1 + math.Abs(w[axis]))
		s.midpoint.v[axis] += d
		s.midpoint.q[axis] += h / 2 * d
		p.laws(h, z, s.try, s.shiftedTau)
		s.midpoint.v[axis] = w[axis]
		s.midpoint.q[axis] -= h / 2 * d
		for a := range na {
			slope[a*na+axis] += (s.shiftedTau[a] - s.force[a]) / d
		}
		for j := range s.n {
			s.try[j] = (s.try[j] - s.c[j]) / d
			for i, k := range s.measuredStates {
				_, dx := p.Circuit.Mean(k, axis)
				s.try[j] += s.ci[j*ns+i] * dx
			}
		}
		if s.n == 0 {
			continue
		}
		s.lu.Solve(s.try)
		for j := range s.n {
			for a := range na {
				slope[a*na+axis] += s.t[a*s.n+j] * s.try[j]
			}
		}
	}
	p.laws(h, z, s.c, s.force) // as they are
}
