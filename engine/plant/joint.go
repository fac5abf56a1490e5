package plant

import (
	"hilrig/engine"
	"hilrig/engine/friction"
)

// Joint is an Axis that is a joint of a machine: drive, friction, stops and what else acts on the axis alone make its step, the machine
// says what mass it feels and what torque comes from elsewhere. The inertia of the axis belongs to the machine, as an armature.
type Joint struct {
	*Axis
	x  []float64 // state of the axis
	dt float64   // s  of the step under way
	r  friction.MassStep
}

// NewJoint checks the description.
func NewJoint(s AxisSpec) (*Joint, error) {
	s.ExternalInertia = true
	a, err := NewAxis(s)
	if err != nil {
		return nil, err
	}
	return &Joint{Axis: a, x: a.NewState()}, nil
}

// OwnStates is how many numbers of state a joint has beside position and speed: those from Current on.
func (j *Joint) OwnStates() int { return len(j.x) - Current }

// Begin prepares a step of dt (s) with the command and enable u from the position q, the speed v and its own state; false: something is not
// finite.
func (j *Joint) Begin(dt, q, v float64, own, u []float64) bool {
	j.dt = dt
	j.x[Theta], j.x[Omega] = q, v
	copy(j.x[Current:], own)
	return j.begin(dt, j.x, u)
}

// Move makes the step as a mass under a torque that is held, see machine.Mover.
func (j *Joint) Move(h, q, v, mass, torque float64) (w, end float64, st engine.Status) {
	j.inertia, j.couplingTorque = mass, torque
	j.r = j.advance(h, j.x)
	return j.r.W, j.xm[1], j.r.Status
}

// Finish takes the step that Move made, to the position q and speed v that the machine has in the end, and writes its own state and the
// outputs.
func (j *Joint) Finish(q, v float64, own, y []float64) {
	j.finish(j.dt, j.x, y, &j.r)
	j.x[Theta], j.x[Omega] = q, v
	copy(own, j.x[Current:])
	j.outputs(j.x, y)
}

// Leave writes the outputs of a joint that made no step.
func (j *Joint) Leave(y []float64) { j.outputs(j.x, y) }

// Supply sets the upper edge of the supply (V) and returns what it was.
func (j *Joint) Supply(v float64) (was float64) {
	was = j.supply[1]
	j.supply = Supplied(j.s.Supply, v)
	return was
}

// Load sets the constant load (N·m) and returns what it was.
func (j *Joint) Load(v float64) (was float64) {
	was, j.s.LoadTorque = j.s.LoadTorque, v
	return was
}

// Settings are those of a joint behind its name: load and temperature.
func (j *Joint) Settings() []engine.Signal { return Settings(j.s.Linear, j.s.Name)[1:] }
