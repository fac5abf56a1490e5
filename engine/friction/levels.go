package friction

import "math"

// Levels are the dry levels of a contact (N), as magnitudes, at the nominal load and the temperature at which it begins. Viscosity is
// not in them. With Viscous they take the steady curve apart,
//
//	Steady(v) = dry(|v|)·sgn v + Viscous(v) + Offset,   dry from Rest at v → 0 to Sliding at speed.
type Levels struct {
	Rest    ByDirection // N  break-away of a contact that has been at rest for ever
	Sliding ByDirection // N  Coulomb friction: what the dry part ends at when the speed grows
	Offset  float64     // N  constant force opposing positive motion
}

// ByDirection is a number for v > 0 and one for v < 0.
type ByDirection struct{ Forward, Backward float64 }

// Max is the larger one.
func (d ByDirection) Max() float64 { return max(d.Forward, d.Backward) }

// Top is the highest level of the contact (N).
func (l Levels) Top() float64 { return max(l.Rest.Max(), l.Sliding.Max()) }

// sameLevels are those of a law that does not know directions.
func sameLevels(rest, sliding float64) Levels {
	return Levels{Rest: ByDirection{rest, rest}, Sliding: ByDirection{sliding, sliding}}
}

// Dry is the dry part of the steady curve (N) at the speed |v| in the direction of v: |Steady(v)| without its viscous part and the offset.
func Dry(m Model, v float64) float64 {
	f := m.Steady(v) - m.Viscous(v) - m.Levels().Offset
	return math.Copysign(1, v) * f
}
