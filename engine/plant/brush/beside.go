package brush

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/contact"
)

// maxContacts is the number of contacts closed at once for which a brush in the tick has room: its steps must not allocate.
const maxContacts = 24

// Beside is the brush of a motor that is measured and not simulated: angle, speed and current come from outside, and nothing
// goes back. Both brushes of the motor do the same. The caller says how many sub-steps a call may take; none means the averaged
// contact, whose work does not depend on the speed.
//
// The torque passes from one contact model to the other without a jump. Meanwhile the brush stands still where it was. A
// step of the brush that is refused because something was not finite starts it anew, and is counted. Not for concurrent use.
type Beside struct {
	Counts BesideCounts

	p    Params
	side brushSide
	mean Averaged
	comm *Commutation
	drop Drop
	q, u [dof]float64

	averagedActive bool
	fullTorque     float64 // N·m  torque of one brush by the full model, low-passed
	switchAge      float64 // s    since the model changed
}

// BesideCounts counts since the start.
type BesideCounts struct {
	Sub           int // sub-steps of the full model
	AveragedCalls int // calls with the averaged contact
	Unverified    int // sub-steps whose contact problem was not verified
	Restarts      int // brushes started anew
}

// BesideOut is what the brush shows over one call.
type BesideOut struct {
	Tilt     float64 // rad  at the end; held while the contact is averaged
	Force    float64 // N    on the face of one brush, mean
	Torque   float64 // N·m  of both brushes on the commutator, against positive rotation, mean
	Drop     float64 // V    of one brush, mean
	Loss     float64 //      share of the time without face force, over the last 50 ms
	Sparking float64 // A    broken when the last bar left
}

// NewBeside builds the brush; the step of the scheme is set from call to call.
func NewBeside(p Params, scheme contact.MoreauOptions) (*Beside, error) {
	b := &Beside{p: p, mean: NewAveraged(&p), drop: p.Circuit().Drop, switchAge: math.Inf(1)}
	s := &b.side
	s.win = Window{Span: minWindow, MinInterruption: 5e-4, Memory: memory}
	var err error
	if s.b, err = New(p); err != nil {
		return nil, err
	}
	if b.comm, err = p.Commutation(); err != nil {
		return nil, err
	}
	scheme.Step, scheme.MaxContacts = 20e-6, maxContacts
	if s.m, err = contact.NewMoreau(s.b, scheme); err != nil {
		return nil, err
	}
	s.b.Drive(0, 0, 0)
	if err = s.b.Start(s.q0[:], s.u0[:]); err != nil {
		return nil, err
	}
	b.q, b.u = s.q0, s.u0
	return b, nil
}

// Need is the least number of steps in dt (s) that resolve the surface at the speed omega (rad/s), as Resolvable says. It is no
// whole number.
func (b *Beside) Need(dt, omega float64) float64 {
	way, _, _ := b.p.resolved()
	return math.Abs(omega) * b.p.Commutator.Radius * dt / way
}

// Step advances the brush by dt (s) in n sub-steps while the commutator turns at omega (rad/s) to the angle theta (rad), with
// current (A) in the armature; n < 1: averaged contact. Numbers that are not finite change nothing. NotConverged: a sub-step was
// not verified; Limited: the brush was started anew.
func (b *Beside) Step(dt, theta, omega, current float64, n int, out *BesideOut) engine.Status {
	if sum := dt + theta + omega + current; !(dt > 0) || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return engine.NonFinite
	}
	if averaged := n < 1; averaged != b.averagedActive {
		b.averagedActive, b.switchAge = averaged, 0
		b.u = [dof]float64{} // from where it stood, at rest
	}
	if b.averagedActive {
		b.stepAveraged(dt, theta, omega, current, out)
		return engine.OK
	}
	p, s := &b.p, &b.side
	if p.Material.drifts() {
		s.b.Heat(p.Material.Temperature, b.density(current))
	}
	h, status := dt/float64(n), engine.OK
	from, mean := theta-omega*dt, b.meanTorque(omega, current)
	var force, torque, volts float64
	for k := range n {
		at := from + float64(k)*h*omega
		st := b.sub(h, at, omega)
		one := s.torque
		if st == engine.Limited {
			one = mean
		}
		status = max(status, st)
		if share := b.switchAge / blend; share < 1 {
			one = mean + share*(one-mean)
		}
		b.fullTorque += (one - b.fullTorque) * min(1, h/blend)
		b.switchAge += h

		b.comm.Step(h, at+omega*h-math.Pi/2, current, b.drop.faceResistance(current, s.force))
		touch := Touch{Force: s.force, Gap: s.gap, Crowd: b.comm.Crowd}
		force += s.subForce
		torque += one
		volts += b.drop.ArcLimitedVoltage(current, &touch)
	}
	w := 1 / float64(n)
	*out = BesideOut{Tilt: b.q[2], Force: w * force, Torque: 2 * w * torque, Drop: w * volts, Loss: s.win.Loss, Sparking: b.comm.Index}
	return status
}

// Probe takes n sub-steps of h (s) with the full model and shows nothing of them: what they cost is to be learnt while the
// averaged contact is in force.
func (b *Beside) Probe(h, theta, omega float64, n int) {
	if sum := h + theta + omega; !(h > 0) || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return
	}
	loss := b.side.win
	for k := range n {
		b.sub(h, theta+float64(k)*h*omega, omega)
	}
	b.side.win = loss
}

// sub is one step of the brush, counted.
func (b *Beside) sub(h, theta, omega float64) engine.Status {
	st := b.side.advance(h, theta, omega, b.q[:], b.u[:])
	b.Counts.Sub++
	switch st {
	case engine.Limited:
		b.Counts.Restarts++
	case engine.NotConverged:
		b.Counts.Unverified++
	}
	return st
}

func (b *Beside) density(current float64) float64 {
	return math.Abs(current) / (b.p.Brush.Width * b.p.Brush.Depth)
}

// meanTorque is that of one brush with the averaged contact (N·m).
func (b *Beside) meanTorque(omega, current float64) float64 {
	c := &b.p.Commutator
	v := omega * c.Radius
	mu := b.p.FaceMu(b.p.Material.Temperature, b.density(current), v)
	return c.Radius * mu * b.mean.Force * b.mean.At(v).Rise * math.Tanh(omega/smoothingSpeed)
}

// stepAveraged is a call with the averaged contact. The coils are followed in parts of at most half a pitch, 64 of them at most:
// beyond that they start anew.
func (b *Beside) stepAveraged(dt, theta, omega, current float64, out *BesideOut) {
	b.Counts.AveragedCalls++
	s, c := &b.side, &b.p.Commutator
	fit := b.mean.At(omega * c.Radius)
	mean := b.meanTorque(omega, current)
	s.force, s.subForce = b.mean.Force, b.mean.Force
	s.win.Hold(dt, s.force, fit.Loss)
	b.switchAge += dt
	one := mean + (b.fullTorque-mean)*math.Exp(-b.switchAge/blend)

	touch := Touch{OpenShare: b.mean.Turn(dt, &fit)}
	if touch.OpenShare < 1 {
		touch.Force = s.force / (1 - fit.WindowLoss) * fit.Weak
	} else {
		touch.OpenShare = 0
	}
	const parts = 64
	n := int(math.Min(parts, 1+math.Abs(omega)*dt*c.Bars/math.Pi))
	h, from, r := dt/float64(n), theta-omega*dt-math.Pi/2, b.drop.faceResistance(current, touch.Force)
	volts := 0.0
	for k := range n {
		b.comm.Step(h, from+float64(k+1)*h*omega, current, r)
		touch.Crowd = b.comm.Crowd
		volts += b.drop.ArcLimitedVoltage(current, &touch) / float64(n)
	}
	*out = BesideOut{Tilt: b.q[2], Force: s.force, Torque: 2 * one, Drop: volts, Loss: fit.Loss, Sparking: b.comm.Index}
}
