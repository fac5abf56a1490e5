package drivetrain

import (
	"fmt"

	"hilrig/engine"
	"hilrig/engine/circuit"
)

// Input is a source that is set from outside at the beginning of each step.
type Input struct {
	engine.Signal
	Source *circuit.Held
}

// System is a Train with a clock and inputs as an engine.System. Outputs are positions, speeds, the parts' states, then the
// multiplier of each row (mean of the step). Not for concurrent use.
type System struct {
	*Train
	Inputs []Input
	Time   float64 // s  at the beginning of the next step
}

var _ engine.System = (*System)(nil)

// NewSystem checks that every input has a source and a name of its own.
func NewSystem(tr *Train, inputs []Input) (*System, error) {
	seen := map[string]bool{}
	for _, in := range inputs {
		switch {
		case in.Source == nil:
			return nil, fmt.Errorf("input %q: no source", in.Name)
		case in.Name == "" || seen[in.Name]:
			return nil, fmt.Errorf("input %q: want a name of its own", in.Name)
		}
		seen[in.Name] = true
	}
	return &System{Train: tr, Inputs: inputs}, nil
}

// Layout names states, inputs and outputs.
func (s *System) Layout() engine.Layout {
	l := s.Train.Layout()
	for _, in := range s.Inputs {
		l.Inputs = append(l.Inputs, in.Signal)
	}
	l.Outputs = append([]engine.Signal(nil), l.States...)
	for _, r := range s.Rows {
		l.Outputs = append(l.Outputs, engine.Signal{Name: r.Name() + ".multiplier", Unit: "N·m"})
	}
	return l
}

// Step advances x by dt (s) with the inputs u held. Where it is NonFinite x and the clock stay as they were.
func (s *System) Step(dt float64, x, u, y []float64) engine.Status {
	for k := range s.Inputs {
		s.Inputs[k].Source.Value = u[k]
	}
	st := s.Train.Step(s.Time, dt, x)
	if st != engine.NonFinite {
		s.Time += dt
	}
	copy(y[copy(y, x):], s.Multipliers()[:len(s.Rows)])
	return st
}
