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
// coordinate of the dependent one, and λ; the beam enters by N·S·Nᵀ, of
// which the columns of S for one element are kept as long as the tip is there. One method has no memory, so a step may be split anywhere.
const (
	stages      = 3
	sdirkG      = 0.43586652150845899942 // root of x³ − 3x² + 3x/2 − 1/6
	sdirkB1     = -(6*sdirkG*sdirkG - 16*sdirkG + 1) / 4
	sdirkB2     = (6*sdirkG*sdirkG - 20*sdirkG + 5) / 4
	corrections = 25 // corrections at most, a stage
	maxLandings = 3  // a step: then the tip stays down for the rest of it
	splits      = 32 // at most, a step
	rubTries    = 20 // at most, for the force of friction

	slopeRounds = 4 // for what friction does to the slope: each is better by g²·F·N_x·S·Nᵀ, which is below 1e-3
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

	band          beam.Band // S⁻¹, factored
	length        float64   // s  of step that it is factored for
	a, v          [stages]joints
	ac, vc        [stages][]float64
	lambda        [stages]float64
	slip          [stages]float64 // m/s
	normal        [stages]float64 // N
	unconstrained []float64       // S·(…) without λ
	give          [4][]float64    // columns of S for the coordinates of an element
	giveOf        int             // of this one; −1: none
	pq, pv        []float64       // q̃_c + g·ṽ_c, ṽ_c
	z             []float64
	lu            engine.LU
	unknown       [MostJoints + 1]float64
	passes        int      // solutions of this step so far, each with its own force of friction
	pass          [3]pass  // the one at hand and the two before it
	newtons       int      // corrections by Newton's method so far
	endAccel      accel    // of the end of the step
	events        *[]Event // where events are listed; nil: nowhere
	followers     [MostJoints]led
}

// pass is a solution of a step with one force of friction.
type pass struct {
	force  float64 // N
	a      [stages]joints
	dep    [stages]float64 // rad or m, coordinate of the dependent joint
	lambda [stages]float64
}

// mode is what beside positions and velocities makes a state.
type mode struct {
	t         float64
	e         int // element
	inContact bool
	offBeam   bool // the tip has left the beam: nothing moves any more
	dep       int  // place in freeJoints of the dependent joint
	force     float64
}

func (m *Model) newStepper() *stepper {
	n := m.beam.N
	p := &stepper{w: m.newWork(), band: beam.NewBand(n), lu: engine.NewLU(MostJoints + 1), length: math.NaN(), giveOf: -1}
	p.s, p.to = *p.w.newState(), *p.w.newState()
	for i := range stages {
		p.ac[i], p.vc[i] = make([]float64, n), make([]float64, n)
	}
	for k := range p.give {
		p.give[k] = make([]float64, n)
	}
	p.unconstrained, p.pq, p.pv = make([]float64, n), make([]float64, n), make([]float64, n)
	p.z = make([]float64, len(p.s.z))
	p.endAccel.ac, p.endAccel.dz = make([]float64, n), make([]float64, len(p.s.z))
	return p
}

// advance moves the state by h (s) with element, contact and dependent joint as they are: from s to to. begun: a solution with the force of
// friction at the start is there already, by begin.
func (p *stepper) advance(h float64, begun bool) engine.Status {
	law := p.w.m.p.Friction
	if !begun {
		if st := p.begin(h); st != engine.OK {
			return st
		}
	}
	switch {
	case law == nil:
		return engine.OK
	case !p.inContact:
		copy(p.to.z, p.s.z)
		law.Step(p.to.z, friction.Input{Dt: h, V: 0, N: -1})
		return engine.OK
	}
	// the mean force of friction over the step belongs to its mean speed and normal force: secant
	a := p.force
	fa := p.frictionResidual(h, a)
	b := a + fa
	for range rubTries {
		if fa == 0 {
			return engine.OK
		}
		if st := p.solve(h, b); st != engine.OK {
			return st
		}
		p.force = b
		fb := p.frictionResidual(h, b)
		if math.Abs(fb) <= 1e-10*(1e-3+math.Abs(b)) || fb == fa {
			return engine.OK
		}
		a, fa, b = b, fb, b-fb*(b-a)/(fb-fa)
	}
	return engine.NotConverged
}

// begin is a step of h (s) with the force of friction of the step before: the first pass of advance, and near enough to tell whether
// the step has to be split.
func (p *stepper) begin(h float64) engine.Status {
	if p.passes = 0; !p.inContact {
		p.force = 0
	}
	return p.solve(h, p.force)
}

// frictionResidual is by how much the force of friction (N) of the step that was solved with f is larger.
func (p *stepper) frictionResidual(h, f float64) float64 {
	copy(p.to.z, p.s.z)
	v := sdirkB1*p.slip[0] + sdirkB2*p.slip[1] + sdirkG*p.slip[2]
	n := sdirkB1*p.normal[0] + sdirkB2*p.normal[1] + sdirkG*p.normal[2]
	return p.w.m.p.Friction.Step(p.to.z, friction.Input{Dt: h, V: v, N: normal(p.w.m.p.Unilateral, n)}) - f
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
		p.length, p.giveOf = h, -1
	}
	if p.inContact && p.giveOf != p.e {
		at := m.beam.PlaceIn(p.e, 0)
		for k, i := range at.I {
			if clear(p.give[k]); i >= 0 {
				p.give[k][i] = 1
				p.band.Solve(p.give[k])
			}
		}
		p.giveOf = p.e
	}
	p.pass[2], p.pass[1] = p.pass[1], p.pass[0]
	p.pass[0].force = f
	for i := range stages {
		if st := p.stage(i, h, f); st != engine.OK {
			return st
		}
	}
	p.passes++
	return engine.OK
}

// Step advances the state by dt (s): in one step, or in several that end where the tip crosses a border, the contact opens or closes.
func (p *stepper) Step(dt float64) engine.Status {
	w, m := p.w, p.w.m
	if p.offBeam {
		return engine.Limited
	}
	if !(dt >= 0) || !numeric.AllFinite(p.s.q[:m.n]...) || !numeric.AllFinite(p.s.v[:m.n]...) || !numeric.AllFinite(p.s.qc...) ||
		!numeric.AllFinite(p.s.vc...) {
		return engine.NonFinite
	}
	w.place(&p.s, p.e, true)
	if p.inContact {
		dep, err := w.choose(p.dep)
		if err != nil {
			return engine.NotConverged
		}
		p.dep = dep
	}
	left := dt
	hold, last, landings := false, "", 0 // the contact is kept; what happened last
	most := math.Max(0, p.lambda[stages-1])
	for range splits {
		if left <= 1e-12*dt {
			return engine.OK
		}
		x0, vx0, phi0, rate0 := w.pose.tip.X, w.pose.tip.VX, w.c.Phi, w.c.Rate
		lambda0 := p.lambda[stages-1]
		if st := p.begin(left); st != engine.OK {
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
		next := p.e
		if x, vx := w.pose.tip.X, w.pose.tip.VX; x > hi+borderTolerance && (x0 <= hi || vx > 0) {
			next++
			earlier(Border, crossing(x0-hi, vx0, x-hi, vx, left))
		} else if x < lo-borderTolerance && (x0 >= lo || vx < 0) {
			next--
			earlier(Border, crossing(x0-lo, vx0, x-lo, vx, left))
		}
		if !p.inContact && w.c.Phi > touchTolerance {
			earlier(Closes, crossing(phi0, rate0, w.c.Phi, w.c.Rate, left))
		}
		if p.inContact && m.p.Unilateral && p.lambda[stages-1] < 0 && !hold {
			earlier(Opens, left*math.Max(0, lambda0)/(math.Max(0, lambda0)-p.lambda[stages-1]))
		}
		switch {
		case event == "" || h >= left*(1-1e-9):
			if st := p.advance(left, true); st != engine.OK {
				return st
			}
		case h > 1e-9*dt:
			if st := p.advance(h, false); st != engine.OK {
				return st
			}
		default:
			h = 0
			p.copyState(&p.to, &p.s)
		}
		w.place(&p.to, p.e, true)
		p.copyState(&p.s, &p.to)
		p.t += h
		left -= h
		from := p.e
		if hold && -p.lambda[stages-1] > math.Max(most, math.Abs(p.force)) {
			return engine.NotConverged
		}
		switch event {
		case Border:
			if p.e = next; p.e < 0 || p.e >= m.p.Beam.Elements {
				p.e = min(max(p.e, 0), m.p.Beam.Elements-1)
				p.offBeam = true
				p.note(Event{T: p.t, Kind: Left, Value: w.pose.tip.X})
				return engine.Limited
			}
			p.note(Event{T: p.t, Kind: Border, FromIndex: from + 1, ToIndex: p.e + 1})
			w.place(&p.s, p.e, true)
		case Opens:
			p.inContact = false
			p.lambda = [stages]float64{}
			p.note(Event{T: p.t, Kind: Opens})
		case Closes:
			p.inContact = true
			blow, st := p.strike()
			if st != engine.OK {
				return st
			}
			// one that opened at this instant was about to: friction, a mean over the step, lets λ pass zero now on one side, now on the
			// other. Ever smaller hops end in contact. Either opens with the next step, as long as it pulls by less than it
			// pressed or rubs.
			landings++
			if most = math.Max(most, math.Abs(blow)/dt); last == Opens && h < 1e-3*dt {
				hold = true
				p.forget()
				break
			}
			hold = landings > maxLandings
			p.note(Event{T: p.t, Kind: Closes, Value: blow})
		}
		last = event
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

// forget takes the last event off the list.
func (p *stepper) forget() {
	if p.events != nil {
		*p.events = (*p.events)[:len(*p.events)-1]
	}
}

// strike makes the velocities of s those after a blow without rebound, which it returns (N·s).
func (p *stepper) strike() (blow float64, st engine.Status) {
	w := p.w
	dep, err := w.choose(-1)
	if err != nil {
		return 0, engine.NotConverged
	}
	p.dep = dep
	blow, err = w.impulse(&p.s, &p.s.v)
	if err != nil {
		return 0, engine.NotConverged
	}
	w.place(&p.s, p.e, true)
	// λ right after it, from which on it may fall
	var da joints
	for _, d := range w.m.drivenJoints {
		_, _, da[d] = p.motion(d, p.t)
	}
	if err := w.accelerate(&w.elimination, &p.s, &da, true, &p.endAccel); err == nil {
		p.lambda[stages-1], p.a[stages-1] = p.endAccel.lambda, p.endAccel.a
	}
	return blow, engine.OK
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
		if y := cubic(x, h, y0, d0, y1, d1); (y > 0) == (y1 > 0) {
			hi = x
		} else {
			lo = x
		}
	}
	return hi * h
}
