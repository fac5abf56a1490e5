package hil

import (
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/contact"
	"hilrig/engine/numeric"
	"hilrig/engine/plant/brush"
	"hilrig/estimator"
)

// BesideSpec describes the brush model that runs beside a rig.
type BesideSpec struct {
	Name    string // of the model
	Axis    string // that turns it
	Params  brush.Params
	Contact BesideContact
	Step    float64 // s  sub-step wanted
	Share   float64 //    largest share of the period that it may use
}

// BesideContact says which contact the model has.
type BesideContact uint8

const (
	BesideAuto     BesideContact = iota // full while the period has room for the sub-steps that the speed needs, else averaged
	BesideFull                          // always full, also where the surface is not resolved
	BesideAveraged                      // always averaged
)

// Words are the choices by number.
func (BesideContact) Words() []string { return []string{"auto", "full", "averaged"} }

// besideSignals follow the signals of the model and of a learning compensation.
var besideSignals = []engine.Signal{
	{Name: "tilt", Unit: "rad"}, {Name: "force", Unit: "N"}, {Name: "torque", Unit: "N·m"}, {Name: "drop", Unit: "V"},
	{Name: "loss"}, {Name: "averaged"}, {Name: "unverified"}, {Name: "sparking", Unit: "A"},
	{Name: "substeps"}, {Name: "room"},
}

const (
	bTilt = iota
	bForce
	bTorque
	bDrop
	bLoss
	bAveraged
	bUnverified
	bSparking
	bSubsteps // taken in this tick, as the model
	bRoom     // that would find room
)

// beside is a brush turned by the estimated motion and carrying the measured current. It tells what the brush of the rig does
// that nobody measures, and has no way to the command: it runs when the command has left.
type beside struct {
	b    *brush.Beside
	plan besidePlan
	dt   float64
	out  brush.BesideOut
}

// newBeside builds the brush for ticks of dt (s); nil without a description.
func newBeside(s *BesideSpec, dt float64) (*beside, error) {
	if s == nil {
		return nil, nil
	}
	if !(s.Step > 0 && s.Share > 0 && s.Share <= 1) || math.IsInf(s.Step, 0) {
		return nil, fmt.Errorf("step %g s and share %g, want > 0, and a share of at most 1", s.Step, s.Share)
	}
	b := &beside{dt: dt, plan: besidePlan{choice: s.Contact, period: dt, budget: s.Share * dt, step: s.Step}}
	var err error
	b.b, err = brush.NewBeside(s.Params, contact.MoreauOptions{})
	return b, err
}

// channels are those of the model as the file calls it.
func (b *beside) channels(s *BesideSpec) []Channel {
	if b == nil {
		return nil
	}
	out := Of(s.Name, besideSignals...)
	for i := range out {
		out[i].Axis = s.Axis
	}
	return out
}

// instead says what else would make room in a row.
func (b *beside) instead() string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf(", or leave out the brush, which has %d", len(besideSignals))
}

// step runs the brush through one tick: the estimated motion in est, the current in A, busy the tick before in ns. Time that
// was skipped is left out. A tick that has no numbers for it leaves the signals as they were.
func (b *beside) step(r *Row, busy int32, est []float64, current float64, y []float64) {
	theta, omega := est[estimator.XPos], est[estimator.XVel]
	surface := b.b.Need(b.dt, omega)
	if !numeric.Finite(surface) || !numeric.Finite(theta) {
		r.Flags |= FlagEstimator
		return
	}
	if !numeric.Finite(current) {
		current = 0
	}
	n, probe := b.plan.next(float64(busy)*1e-9, surface)
	take := n
	if probe {
		take = 0
	}
	if st := b.b.Step(b.dt, theta, omega, current, take, &b.out); st == engine.NonFinite || st == engine.Limited {
		r.Flags |= FlagEstimator
	}
	if probe {
		h := b.plan.step
		if surface > 0 {
			h = min(h, b.dt/surface)
		}
		b.b.Probe(h, theta, omega, n)
	}
	o := &b.out
	y[bTilt], y[bForce], y[bTorque], y[bDrop], y[bLoss], y[bSparking] = o.Tilt, o.Force, o.Torque, o.Drop, o.Loss, o.Sparking
	y[bAveraged] = 0
	if take == 0 {
		y[bAveraged] = 1
	}
	y[bUnverified], y[bSubsteps], y[bRoom] = float64(b.b.Counts.Unverified), float64(take), math.Floor(b.plan.fit())
}
