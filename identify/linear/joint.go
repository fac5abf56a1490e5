package linear

import (
	"math"
)

// Joint is an axis that is the only joint of a machine: the same regression with the parameters of its body. Names and units are those of
// the machine, and the columns of inertia and weight are those of the inertial parameters.
type Joint struct {
	Names    map[Term]string
	Units    map[Term]string
	Inertial map[Term]Inertial // in the place of Inertia, GravitySin and GravityCos
}

// Inertial is the column of an inertial parameter about an axis that stands still: mass·a + constant + sin·sin(q) + cos·cos(q).
type Inertial struct{ Mass, Constant, Sin, Cos float64 }

func (c Inertial) at(q float64) float64 {
	sin, cos := math.Sincos(q)
	return c.Constant + c.Sin*sin + c.Cos*cos
}

// Slope is the derivative by q.
func (c Inertial) Slope(q float64) float64 {
	sin, cos := math.Sincos(q)
	return c.Sin*cos - c.Cos*sin
}

// inertial is the column of a term by the parameters of a body; false: it is an ordinary one.
func (s *Spec) inertial(t Term) (c Inertial, ok bool) {
	if s.Joint != nil {
		c, ok = s.Joint.Inertial[t]
	}
	return c, ok
}

// column evaluates the term along a motion that goes in the direction in which dir has its sign. It may be one of these, and is not to be
// written to, or stands in room.
func (s *Spec) column(room []float64, t Term, q, v, a, dir []float64) []float64 {
	c, own := s.inertial(t)
	if !own {
		return t.column(room, q, v, a, dir)
	}
	for k := range room {
		room[k] = c.Mass*a[k] + c.at(q[k])
	}
	return room
}

// slope are the derivatives of a column by q, v and a where it does not jump; nil: zero.
func (s *Spec) slope(t Term) func(q, dir float64) [3]float64 {
	if c, own := s.inertial(t); own {
		return func(q, _ float64) [3]float64 { return [3]float64{c.Slope(q), 0, c.Mass} }
	}
	return properties[t].slope
}

// nameOf and unitOf are those of the parameter of a term, the lag among them.
func (s *Spec) nameOf(t Term) string {
	if s.Joint != nil {
		return s.Joint.Names[t]
	}
	if t == Lag {
		return "lag"
	}
	return t.symbol(s.Rotary)
}

func (s *Spec) unitOf(t Term) string {
	switch {
	case t == Lag:
		return "s"
	case s.Joint != nil:
		return s.Joint.Units[t]
	}
	return s.ordinaryUnit(t)
}
