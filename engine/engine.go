// Package engine is the vocabulary that every model of this program speaks: named signals with units, parameters with
// bounds, a status instead of an error inside a step, and the System that plants implement.
//
// Inside the program everything is SI; units are converted once, at the edge (configs). Friction opposes motion and is
// positive for positive velocity. State vectors are flat, x = [q | v | a]: generalised positions, velocities and
// auxiliary states (currents, bristles, temperatures), cut with a Layout.
package engine

// Signal names one number of a row, a state or an input, with its SI unit ("rad/s"; "" for a pure number).
type Signal struct{ Name, Unit string }

// Param is one tunable number of a model with its unit and the range in which it makes sense.
type Param struct {
	Name, Unit string
	Doc        string // what it is, in a few words
	Value      float64
	Lo, Hi     float64
	Fixed      bool
}

// Layout describes the flat vectors of a System: x = [q | v | a], the inputs u and the outputs y.
type Layout struct {
	NQ, NV, NA int
	States     []Signal // length NQ+NV+NA, in the order of x
	Inputs     []Signal // the order of u
	Outputs    []Signal // the order of y
}

// System advances a model in place by dt seconds with the input u held constant, writes the outputs y that belong to the
// end of the step, allocates nothing, and reports trouble as a Status.
type System interface {
	Layout() Layout
	Step(dt float64, x, u, y []float64) Status
}

// Tunable is all that an identification method sees of a model.
type Tunable interface {
	Params() []Param
	SetParams(theta []float64) error
}

// Status is what a step says about itself; the tick turns it into a flag bit and the guard decides.
type Status uint8

const (
	OK           Status = iota
	NotConverged        // an iteration hit its cap; the result is the best so far
	NonFinite           // an input or a result was not a finite number; the state was left or reset
	Limited             // a result was clamped to its bound
	Lost                // where it goes on is not decided: the state was left, and stays until it begins anew
)

func (s Status) String() string {
	switch s {
	case OK:
		return "ok"
	case NotConverged:
		return "not converged"
	case NonFinite:
		return "non-finite"
	case Limited:
		return "limited"
	case Lost:
		return "lost"
	}
	return "unknown status"
}
