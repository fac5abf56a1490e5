package friction

import "math"

// A Part is a stretch of a step in which a contact with a rigid stick mode does one thing.
type Part struct {
	Tau, H      float64 // s, where it begins in the step, and its length
	MeanLength  float64 // s, the length for which the mean velocity was sought: more than H where the body comes to rest before
	V, W        float64 // m/s, velocity at its beginning, and the mean one of MeanLength
	EndVelocity float64 // m/s, velocity at its end

	// Freed is the direction of a slip that the load begins: at Tau, or, where the load has jumped above the level between the steps,
	// before the step began. 0: the body moved before, or stays.
	Freed  float64
	Jumped bool
}

// Rigid is a Switched law whose friction depends on the speed alone, with a break-away level that stays: the derivatives of its
// steps are to be had, for the variational equations.
type Rigid interface {
	Switched

	// SlidingSlopes writes the derivatives of the sliding friction at the speed in.V ≥ 0 with respect to the parameters in the
	// order of Params, and returns that with respect to the speed (N·s/m). That of an exponent, delta, takes as long as all others:
	// it is 0 where nobody asks.
	SlidingSlopes(in Input, exponent bool, d []float64) (slope float64)
	// LevelSlopes writes those of the break-away level, and returns by how much (N) it exceeds the friction of the slowest motion.
	LevelSlopes(in Input, d []float64) (drop float64)
	// Parts repeats what Move does and appends the parts of the step.
	Parts(parts *[]Part, m float64, x []float64, in Input, load Load)
}

// Parts of the step.
func (p *Coulomb) Parts(parts *[]Part, m float64, x []float64, in Input, load Load) {
	partsOf(parts, nil, p.line(in.N), m, x, in, load)
}

// SlidingSlopes are those of the level.
func (p *Coulomb) SlidingSlopes(in Input, exponent bool, d []float64) (slope float64) {
	d[0], d[1], d[2] = 1, 0, 0
	if p.Mu > 0 {
		d[0] = 0
		if in.N != 0 {
			d[1] = max(in.N, 0)
		} else if p.N0 > 0 {
			d[1], d[2] = p.N0, p.Mu
		}
	}
	return 0
}

// LevelSlopes are the same.
func (p *Coulomb) LevelSlopes(in Input, d []float64) (drop float64) {
	return p.SlidingSlopes(in, false, d)
}

// Parts of the step.
func (p *StaticCoulombViscous) Parts(parts *[]Part, m float64, x []float64, in Input, load Load) {
	c, line := p.contact()
	partsOf(parts, c, line, m, x, in, load)
}

// SlidingSlopes of Fc + Fv·s^δ.
func (p *StaticCoulombViscous) SlidingSlopes(in Input, exponent bool, d []float64) (slope float64) {
	s := in.V
	d[0], d[1], d[2], d[3] = 1, 0, s, 0
	if p.Delta == 1 {
		if exponent && s > 0 {
			d[3] = p.Fv * s * math.Log(s)
		}
		return p.Fv
	}
	unit, slope := (&Viscous{Fv: 1, Delta: p.Delta}).power(s)
	if d[2] = unit; exponent && s >= creep {
		d[3] = p.Fv * unit * math.Log(s)
	}
	return p.Fv * slope
}

// LevelSlopes of Fs.
func (p *StaticCoulombViscous) LevelSlopes(in Input, d []float64) (drop float64) {
	d[0], d[1], d[2], d[3] = 0, 1, 0, 0
	return p.Fs - p.Fc
}

// Parts of the step.
func (p *Stribeck) Parts(parts *[]Part, m float64, x []float64, in Input, load Load) {
	partsOf(parts, p, straight{}, m, x, in, load)
}

// SlidingSlopes of the curve: with q(r) the share of Fs − Fc that is left, ∂q/∂vs = −q'·r/vs.
func (p *Stribeck) SlidingSlopes(in Input, exponent bool, d []float64) (slope float64) {
	share, by := p.share(in.V / p.Vs)
	d[0], d[1], d[2], d[3] = 1-share, share, -(p.Fs-p.Fc)*by*in.V/(p.Vs*p.Vs), in.V
	if p.Curve == BoPavelescu {
		d[4] = 0
		if exponent && share > 0 && share < 1 {
			d[4] = (p.Fs - p.Fc) * share * math.Log(share) * math.Log(in.V/p.Vs)
		}
	}
	return (p.Fs-p.Fc)/p.Vs*by + p.Fv
}

// LevelSlopes of Fs, from which the curve begins.
func (p *Stribeck) LevelSlopes(in Input, d []float64) (drop float64) {
	clear(d)
	d[1] = 1
	return 0
}

// partsOf is stepContact with a note of every part.
func partsOf(parts *[]Part, c contact, line straight, m float64, x []float64, in Input, load Load) {
	var res MassStep
	r := rider{c: c, line: line, m: m, x: x, z: x[2:], input: in, load: load, log: parts}
	r.step(&res)
}
