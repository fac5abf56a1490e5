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

// Max is the highest level of the contact (N).
func (l Levels) Max() float64 { return max(l.Rest.Max(), l.Sliding.Max()) }

// sameLevels are those of a law that does not know directions.
func sameLevels(rest, sliding float64) Levels {
	return Levels{Rest: ByDirection{rest, rest}, Sliding: ByDirection{sliding, sliding}}
}

// DryForce is the dry part of the steady curve (N) in the direction of v ≠ 0 m/s: |SteadyForce(v)| without viscous part and offset.
func DryForce(m Model, v float64) float64 {
	if l := sidesOf(m); l != nil {
		if m = l.forward; v < 0 {
			m = l.backward
		}
	}
	v = math.Abs(v)
	return m.SteadyForce(v) - m.Viscous(v) - m.Levels().Offset
}

// Ceiling is the highest dry friction (N) at any speed: the top of the levels, or what the steady curve has beyond it, as that of a contact
// which grows rougher with its own heat.
func Ceiling(m Model) float64 {
	top := m.Levels().Max()
	for i := range 151 {
		for _, side := range [2]float64{1, -1} {
			v := side * math.Pow(10, -9+float64(i)/10)
			if f := DryForce(m, v); f > top*(1+1e-9)+1e-12*(math.Abs(m.Viscous(v))+math.Abs(m.Levels().Offset)) { // not by rounding
				top = f
			}
		}
	}
	return top
}
