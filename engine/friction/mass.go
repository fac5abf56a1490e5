package friction

import (
	"fmt"
	"math"

	"hilrig/engine"
)

// Load is everything that acts on a mass besides friction. Span and At belong together: a step may be cut at events or into
// sub-steps, and every part is announced before it is asked about.
type Load interface {
	// Span announces the part of the step that starts tau (s) after its beginning, at position x (m), and lasts h (s). Parts
	// come in order of tau; the first one starts at 0. A part may end early: then the next one starts before tau + h.
	Span(tau, h, x float64)
	// At is the load (N) at tau (s) after the beginning of the step, at position x (m) and velocity v (m/s), and its
	// derivatives with respect to x (N/m) and v (N·s/m). Asked in the middle of the part it stands for the mean over it;
	// asked at its beginning, as the explicit schemes do, for the mean over half a step before and half a step after. So a
	// force that is held and jumps at the beginning of the part answers there with ½(before + after).
	At(tau, x, v float64) (force, dx, dv float64)
}

// Scheme is a way to couple a Smooth law to a mass with a fixed step. Switched laws have their own, of second order.
type Scheme uint8

const (
	// Midpoint finds the mean velocity w of the step with 2M(w−v)/h = u½ − F̄, F̄ the mean force of the law over the step,
	// and continues with v⁺ = 2w−v: second order, work balance exact in every step. The default.
	Midpoint Scheme = iota
	// Implicit finds the velocity at the end from the forces at the end: first order, damps the bristle mode.
	Implicit
	// Explicit steps the law with the old velocity, then the mass: cheap, stable up to a limit. It is a leapfrog. In the
	// state [x v z] before a step from t to t + h, x belongs to t, v to t − h/2 and z to t − h; friction and load of the
	// step belong to t, its W to t + h/2. The velocity at t is the mean of v before and after the step, and z at t is the
	// one after it. Read like this a conservative motion is second order; the damping terms σ1·ż and σ2·v lag by half a
	// step, which makes a damped one first order (with a mean velocity in them the scheme would be worse, because z moves
	// with the old one).
	Explicit
	// ExplicitPade is Explicit with e^{−a} replaced by 1/(1+a+a²/2), for populations.
	ExplicitPade
)

// Words are the schemes by number.
func (Scheme) Words() []string {
	return []string{"midpoint", "implicit", "explicit", "explicit-pade"}
}

func (s Scheme) String() string {
	if s <= ExplicitPade {
		return s.Words()[s]
	}
	return "unknown scheme"
}

// Mass is a mass under a friction law. Its state is the caller's slice x = [position m, velocity m/s, state of the law …].
// Not for concurrent use: it owns the workspace of its steps.
type Mass struct {
	M float64 // kg  may change between steps
	N float64 // N   normal load, for the laws that ask for it
	I float64 // A   current through the contact

	scheme      Scheme
	law         Model
	smoothLaw   Smooth   // one of these two is set
	switchedLaw Switched //
	starter     starter  // smoothLaw once more if it knows where the search for the speed of a step begins
	writer      writer   // switchedLaw once more if it can write its result in place
	r           MassStep // result of the step under way: a local one would escape through writer
	stiffness   Stiffness
	lugre       *LuGre // the law once more if it is this one: without the calls through interfaces a step takes half the time
	zn          []float64
}

// writer is a Switched law that sets every field of r instead of returning them, see step.
type writer interface {
	moveInto(r *MassStep, m float64, x []float64, in Input, load Load)
}

// starter is a Smooth law so steep that Newton's method from the old velocity would not do: start estimates the w of
// c·(w − v) + force(w) = u, and creeps tells whether the inertia c (kg/s) has a say at that speed under the normal load n.
type starter interface {
	start(z []float64, c, v, u float64, in Input) float64
	creeps(w, c, n float64) bool
}

// NewMass attaches a law to a mass m (kg). The parameters of the law are to stay as they are from then on: what its steps
// have to resolve is asked here.
func NewMass(m float64, law Model, scheme Scheme) (*Mass, error) {
	if !(m > 0) || math.IsInf(m, 0) {
		return nil, fmt.Errorf("mass: %g kg, want a finite number > 0", m)
	}
	if err := law.Validate(); err != nil {
		return nil, err
	}
	if scheme > ExplicitPade {
		return nil, fmt.Errorf("scheme: %d is unknown", scheme)
	}
	b := &Mass{M: m, law: law, scheme: scheme, zn: make([]float64, law.StateDim())}
	b.smoothLaw, _ = law.(Smooth)
	b.switchedLaw, _ = law.(Switched)
	b.starter, _ = law.(starter)
	b.writer, _ = law.(writer)
	b.lugre, _ = law.(*LuGre)
	if (b.smoothLaw == nil) == (b.switchedLaw == nil) {
		return nil, fmt.Errorf("law %T is neither smooth nor switched: it cannot carry a mass", law)
	}
	b.stiffness = law.Stiffness()
	return b, nil
}

// NewState is the mass at rest at x = 0 with a relaxed contact.
func (b *Mass) NewState() []float64 {
	x := make([]float64, 2+b.law.StateDim())
	b.law.Reset(x[2:])
	return x
}

// Limit is the longest step (s) that the scheme takes, and why. Step does not look at it: a caller who wants more divides.
//
// Explicit: h²K/M + 2hC/M < 4 and hC/M < 2 with the stiffness K and the damping C of the sticking contact, whose slope the
// load may add to. Midpoint and Implicit: the equation of a step has one root as long as the mass outweighs the fall of the
// steady curve, 2M/h > Fall or M/h > Fall.
func (b *Mass) Limit() (h float64, why string) {
	s := b.stiffness
	switch {
	case b.switchedLaw != nil:
		if l, ok := b.law.(interface {
			Longest(m float64) (h float64, why string)
		}); ok { // a dead zone has to catch the mass
			return l.Longest(b.M)
		}
		return math.Inf(1), "no limit: the step is cut at the events"
	case b.scheme == Midpoint:
		return 2 * b.M / s.Fall, "above it the equation of a step may have several roots: the mass is lighter than the fall of the Stribeck curve"
	case b.scheme == Implicit:
		return b.M / s.Fall, "above it the equation of a step may have several roots: the mass is lighter than the fall of the Stribeck curve"
	}
	// the positive root of h²K + 2hC − 4M; a tenth is left for the load
	c := s.C
	h = 2 * b.M / c
	if s.K > 0 {
		h = min(h, (math.Sqrt(c*c+4*b.M*s.K)-c)/s.K)
	}
	return 0.9 * h, "above it the explicit scheme is unstable while the contact sticks"
}

// MassStep says what happened in a step. W belongs to its middle; F and Load belong to the middle for Midpoint, to the end
// for Implicit and to the beginning for the explicit schemes.
type MassStep struct {
	W      float64 // m/s  mean velocity, Δx/h
	F      float64 // N    mean friction
	Load   float64 // N    mean load
	Work   float64 // J    work done against friction, the sum of F̄·Δx over the parts of the step
	Evals  int     // evaluations of the residual
	Parts  int     // parts that the step was cut into
	Status engine.Status
}

// add appends a part of h (s) of a step of whole (s).
func (r *MassStep) add(p MassStep, h, whole float64) {
	q := h / whole
	r.W += q * p.W
	r.F += q * p.F
	r.Load += q * p.Load
	r.Work += p.Work
	r.Evals += p.Evals
	r.Parts += p.Parts
	r.Status = max(r.Status, p.Status)
}

// Step advances x by h (s). A non-finite load or state leaves x as it was, or as it was at the last event of the step, with
// the status NonFinite; NotConverged marks a step whose equation was solved to the best that the cap on evaluations allowed.
func (b *Mass) Step(h float64, x []float64, load Load) (r MassStep) {
	r.W, r.F, r.Load, r.Work, r.Evals, r.Parts, r.Status = b.step(h, x, load)
	return
}

// step does what Step says and returns the fields of a MassStep. Step is short enough to be expanded where it is called: a
// struct of seven fields would be copied there, in blocks that wait for the fields just written, and that took a quarter of
// the step of a cheap law.
func (b *Mass) step(h float64, x []float64, load Load) (w, f, u, work float64, evals, parts int, status engine.Status) {
	r := &b.r
	switch {
	case b.writer != nil:
		b.writer.moveInto(r, b.M, x, Input{Dt: h, N: b.N, I: b.I}, load)
	case b.switchedLaw != nil:
		*r = b.switchedLaw.Move(b.M, x, Input{Dt: h, N: b.N, I: b.I}, load)
	default:
		load.Span(0, h, x[0])
		b.part(r, 0, h, x, load)
	}
	return r.split()
}

// split returns the fields.
func (r *MassStep) split() (w, f, u, work float64, evals, parts int, status engine.Status) {
	return r.W, r.F, r.Load, r.Work, r.Evals, r.Parts, r.Status
}

// Substeps advances x by h (s) in n equal parts.
func (b *Mass) Substeps(n int, h float64, x []float64, load Load) (sum MassStep) {
	if n <= 1 || b.switchedLaw != nil {
		return b.Step(h, x, load)
	}
	hn := h / float64(n)
	for i := range n {
		var r MassStep
		tau := float64(i) * hn
		load.Span(tau, hn, x[0])
		b.part(&r, tau, hn, x, load)
		sum.add(r, hn, h)
	}
	return sum
}

// part is one part of a step of a smooth law, announced to the load. It sets every field of r.
func (b *Mass) part(r *MassStep, tau, h float64, x []float64, load Load) {
	if b.scheme >= Explicit {
		b.explicit(r, tau, h, x, load)
	} else {
		b.solve(r, tau, h, x, load)
	}
}

// explicit steps the law with the old velocity, then the mass with the force of the law and the load at the beginning.
func (b *Mass) explicit(r *MassStep, tau, h float64, x []float64, load Load) {
	v, z := x[1], x[2:]
	u, _, _ := load.At(tau, x[0], v)
	var f float64
	if p := b.lugre; p != nil {
		f, _, b.zn[0] = p.trial(b.scheme, z[0], Input{Dt: h, V: v, N: b.N})
	} else {
		f, _ = b.smoothLaw.Trial(b.scheme, z, b.zn, Input{Dt: h, V: v, N: b.N, I: b.I})
	}
	vn := v + h/b.M*(u-f)
	if math.IsNaN(vn) || math.IsInf(vn, 0) {
		*r = MassStep{W: v, Evals: 1, Parts: 1, Status: engine.NonFinite}
		return
	}
	//lint:ignore S1001 a law has one or two numbers: the call behind copy would cost more
	for i, q := range b.zn {
		z[i] = q
	}
	x[0] += h * vn
	x[1] = vn
	// the force belongs to t, the velocities to h/2 before and after: so the work balances the kinetic energy
	r.W, r.F, r.Load, r.Work, r.Evals, r.Parts, r.Status = vn, f, u, f*h*0.5*(v+vn), 1, 1, engine.OK
}
