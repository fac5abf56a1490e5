package models

import (
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/contact"
	"hilrig/engine/numeric"
	"hilrig/engine/plant/brush"
	"hilrig/hil"
)

// BrushContact says which contact the brush has.
type BrushContact uint8

const (
	ContactAuto     BrushContact = iota // full while there is room for the sub-steps that the speed needs, else averaged
	ContactFull                         // always full, also where the surface is not resolved
	ContactAveraged                     // always averaged
)

// Words are the choices by number.
func (BrushContact) Words() []string { return []string{"auto", "full", "averaged"} }

func (c BrushContact) String() string { return c.Words()[c] }

// BrushKeys are those of kind brush beside its parameters.
type BrushKeys struct {
	Contact BrushContact `yaml:"contact" doc:"of kind brush. auto: full while the model's share of the period has room for the sub-steps that the speed needs, else averaged, with an event at each change; full: also where the surface is not resolved; averaged: always"`
	Step    float64      `yaml:"step" unit:"s" want:">=1e-06 <=0.0001" doc:"of kind brush: sub-step; up to twice as long where there is no room for more"`
}

// brushSignals are those of the model.
var brushSignals = []engine.Signal{
	{Name: "tilt", Unit: "rad"}, {Name: "force", Unit: "N"}, {Name: "torque", Unit: "N·m"}, {Name: "drop", Unit: "V"},
	{Name: "loss"}, {Name: "unverified"}, {Name: "sparking", Unit: "A"}, {Name: "substeps"}, {Name: "room"},
}

const (
	bTilt = iota
	bForce
	bTorque
	bDrop
	bLoss
	bUnverified
	bSparking
	bSubsteps // taken in this tick, as the model
	bRoom     // that would find room
)

// Brush is the brush of a motor, turned by the estimated motion of an axis and carrying the measured current: it shows what the brush of
// the rig does that nobody measures. Its levels are the full contact and the averaged one.
type Brush struct {
	b      *brush.Beside
	axis   int
	plan   brushPlan
	output brush.BesideOut
}

// NewBrush builds the brush.
func NewBrush(s *Spec) (*Brush, error) {
	if !(s.Step > 0) || math.IsInf(s.Step, 0) {
		return nil, fmt.Errorf("brush: step %g s, want > 0", s.Step)
	}
	b, err := brush.NewBeside(s.Brush, contact.MoreauOptions{})
	if err != nil {
		return nil, err
	}
	return &Brush{b: b, axis: s.Axis, plan: brushPlan{choice: s.Contact, step: s.Step}}, nil
}

func (m *Brush) Signals() []engine.Signal { return brushSignals }

// Step takes as many sub-steps as find room. Time that was skipped is left out. A tick that has no numbers for the brush leaves it and
// its signals as they were.
func (m *Brush) Step(in *hil.ModelInput, y []float64) (engine.Status, uint8) {
	a := &in.Axes[m.axis]
	theta, omega, current := a.Position, a.Velocity, a.Current
	if !numeric.IsFinite(current) { // a current that is not there is not 0 A: nothing is known of the brush
		for _, i := range [...]int{bTilt, bForce, bTorque, bDrop, bLoss, bSparking} {
			y[i] = math.NaN()
		}
		return engine.OK, m.plan.level()
	}
	surface := m.b.Need(in.Dt, omega)
	if !numeric.IsFinite(surface) || !numeric.IsFinite(theta) {
		return engine.NonFinite, m.plan.level()
	}
	n, probe := m.plan.next(in, surface)
	take := n
	if probe {
		take = 0
	}
	st := m.b.Step(in.Dt, theta, omega, current, take, &m.output)
	if probe {
		h := m.plan.step
		if surface > 0 {
			h = min(h, in.Dt/surface)
		}
		m.b.Probe(h, theta, omega, n)
	}
	o := &m.output
	y[bTilt], y[bForce], y[bTorque], y[bDrop], y[bLoss], y[bSparking] = o.Tilt, o.Force, o.Torque, o.Drop, o.Loss, o.Sparking
	y[bUnverified], y[bSubsteps], y[bRoom] = float64(m.b.Counts.Unverified), float64(take), math.Floor(m.plan.fit())
	return st, m.plan.level()
}
