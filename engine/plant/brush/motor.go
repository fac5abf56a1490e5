package brush

import "math"

// Supply is what the commanded voltage means at the motor's terminals: itself for direct current, the effective value of
// √2·V·sin(2πft) otherwise.
type Supply struct {
	Frequency float64 // Hz   0: direct
	phase     float64 // rad  0 … 2π
}

// Mean is the mean voltage (V) over the next h seconds at the command v, exactly; the phase moves on.
func (s *Supply) Mean(h, v float64) float64 {
	if s.Frequency == 0 {
		return v
	}
	d := math.Pi * s.Frequency * h // half the advance
	mid := s.phase + d
	sinc := 1 - d*d/6
	if d > 1e-3 {
		sinc = math.Sin(d) / d
	}
	s.phase = math.Mod(s.phase+2*d, 2*math.Pi)
	return math.Sqrt2 * v * math.Sin(mid) * sinc
}

// Circuit is the electrical side with these parameters.
func (p *Params) Circuit() Circuit {
	e, m := &p.Electric, &p.Motor
	return Circuit{
		R: m.Resistance, L: m.Inductance, K: m.Constant, Series: m.Series,
		Drop: Drop{
			V0: e.Drop, Ilin: e.LinearCurrent, AR: e.Constriction, BR: e.Film, Rb: p.BodyResistance(),
			Varc: e.ArcVoltage, Earc: e.ArcGradient, Iarc: e.ArcCurrent,
		},
	}
}

// Commutation is that of one brush with these parameters. The resistance of a coil is that of the armature over the 4/n_b of
// its two paths; of a series winding half of the resistance is taken to be the armature's.
func (p *Params) Commutation() (*Commutation, error) {
	armature := p.Motor.Resistance
	if p.Motor.Series {
		armature /= 2
	}
	c := &p.Commutator
	return NewCommutation(c.Radius, p.Brush.Width, c.SlotWidth, int(c.Bars), p.Motor.CoilInductance, 4*armature/c.Bars, p.Electric.ArcVoltage)
}
