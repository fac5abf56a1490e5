// Package models holds what is computed beside a rig and only watched: the brush of a motor, rival friction laws, a rolling ball, a second
// sensor, a machine of bodies and motors. Each kind has a file. A model is driven by the estimated motion of an axis or by what a device
// measures, in the tick but after the command has left, and has no way back to one. Package hil runs the list, measures what a step takes
// and tells the model; a kind with cheaper levels decides by that.
package models

import (
	"hilrig/engine/plant/brush"
	"hilrig/hil"
)

// Kind is one kind of model.
type Kind struct {
	Name, Title string
	Keys        []string // keys of its section that other kinds do not have
	Build       func(*Spec) (hil.Model, error)
}

// Kinds are all kinds, by Choice.
var Kinds = []Kind{
	{Name: "brush", Title: "brush of a motor", Keys: []string{"contact", "step", "parameters"},
		Build: func(s *Spec) (hil.Model, error) { return NewBrush(s) }},
	{Name: "rival-laws", Title: "rival friction laws", Keys: []string{"laws", "memory"},
		Build: func(s *Spec) (hil.Model, error) { return NewRivalLaws(s) }},
	{Name: "ball", Title: "friction of a rolling ball", Keys: []string{"ball"},
		Build: func(s *Spec) (hil.Model, error) { return NewBall(s.Ball) }},
	{Name: "second-sensor", Title: "second sensor of an axis", Keys: []string{"sensor"},
		Build: func(s *Spec) (hil.Model, error) { return NewSensor(s.Sensor) }},
	{Name: "machine", Title: "machine of bodies and motors", Keys: []string{"file", "text", "joints", "outputs", "audit"}, Build: newMachine},
}

// Spec is what the kinds are built from; each takes its own part.
type Spec struct {
	Axis int // whose motion drives the model
	BrushKeys
	Brush brush.Params
	LawsKeys
	Laws       []Rival
	Resolution float64 // rad or m  of the position
	Effort     string  // unit of friction: N·m or N
	Ball       *BallSpec
	Sensor     *SensorSpec
	Machine    *MachineSpec
	Chain      *ChainSpec // in place of Machine
}

// newMachine is a machine, or a chain on a beam.
func newMachine(s *Spec) (hil.Model, error) {
	if s.Chain != nil {
		return NewChain(s.Chain)
	}
	return NewMachine(s.Machine)
}

// Choice is a kind: its place in Kinds.
type Choice uint8

const (
	BrushChoice Choice = iota
	LawsChoice
	BallChoice
	SensorChoice
	MachineChoice
)

// Words are the names of the kinds.
func (Choice) Words() []string {
	names := make([]string, len(Kinds))
	for i, k := range Kinds {
		names[i] = k.Name
	}
	return names
}

func (c Choice) String() string { return c.Kind().Name }

// Kind describes the kind.
func (c Choice) Kind() *Kind { return &Kinds[c] }
