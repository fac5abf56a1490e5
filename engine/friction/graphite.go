package friction

import (
	"math"

	"hilrig/engine"
)

// Brush is the sliding contact of a graphite brush on a commutator or slip ring: bristles whose coefficient of friction
// depends on speed, contact temperature and current density,
//
//	μ(v, T, J) = max(μv(|v|)·mT(T)·mJ(J), μmin)
//	μv = μc + (μs − μc)·exp(−(v/vs)²)
//	mT = 1 + aT·(T − T0) + bT·(T − T0)²,   mJ = 1 + aJ·J + bJ·J²,   J = |I|/A
//
// Friction is LuGre with g = N0·μ; all forces are multiplied by N/N0, so the stiffness of the bristles grows with the load and
// their deflection stays:
//
//	dz/dt = v − σ0·|v|·z/(N0·μ)
//	F     = (N/N0)·(σ0·z + σ1(v)·dz/dt + σ2·v)
//
// The contact is heated by friction and by the voltage drop, and cooled to its surroundings:
//
//	Cth·dT/dt = |F·v| + Udrop·|I| − (T − Tamb)/Rth
//
// [SB06] identified the coefficient of such a contact as a function of temperature and current density; its fitted numbers
// are not public: the form is the program's own, and the defaults are typical sizes, to be replaced by measured ones.
//
// A step takes μ at the temperature of its beginning and is then exact for the motion: the bristles relax exponentially, and
// so does the temperature, towards what the mean power of the step would settle at. The polynomial mT is held at its values
// at −100 and 500 °C outside of them, and the floor μmin holds where a polynomial turns too small.
type Brush struct {
	Sigma0 float64 // N/m    bristle stiffness at N0
	Sigma1 float64 // N·s/m  bristle damping at rest, at N0
	Sigma2 float64 // N·s/m  viscous friction at N0
	MuC    float64 // 1      coefficient of sliding, at T0 without current
	MuS    float64 // 1      coefficient of break-away
	Vs     float64 // m/s    Stribeck velocity
	Vd     float64 // m/s    velocity at which σ1 has decayed to 1/e; 0: constant σ1
	AT     float64 // 1/K
	BT     float64 // 1/K²
	T0     float64 // °C
	AJ     float64 // m²/A   1e-6 m²/A is 1 mm²/A
	BJ     float64 // m⁴/A²
	MuMin  float64 // 1
	Area   float64 // m²     contact area
	N0     float64 // N      normal load if none is given
	Rth    float64 // K/W    to the surroundings
	Cth    float64 // J/K    of the contact
	Udrop  float64 // V      voltage drop of the contact
	Tamb   float64 // °C
}

const (
	brushCold = -100.0 // °C  end of the polynomial mT
	brushHot  = 500.0  // °C
)

// StateDim is 2: the mean bristle deflection (m) and the contact temperature (°C).
func (p *Brush) StateDim() int { return 2 }

// Reset relaxes the bristles at the temperature of the surroundings.
func (p *Brush) Reset(z []float64) { z[0], z[1] = 0, p.Tamb }

// States names the bristle deflection and the temperature.
func (p *Brush) States() []engine.Signal {
	return []engine.Signal{{Name: "bristle", Unit: "m"}, {Name: "temperature", Unit: "degC"}}
}

// Mu is the coefficient of friction at speed v (m/s), temperature t (°C) and current density j (A/m²), with its floor.
func (p *Brush) Mu(v, t, j float64) float64 {
	mu, _ := p.muSlope(v, t, j)
	return mu
}

// muSlope is Mu and its derivative with respect to v.
func (p *Brush) muSlope(v, t, j float64) (mu, slope float64) {
	b, db := bell(v, p.Vs)
	m := p.factor(t, j)
	if mu = m * (p.MuC + (p.MuS-p.MuC)*b); !(mu > p.MuMin) {
		return p.MuMin, 0
	}
	return mu, m * (p.MuS - p.MuC) * db
}

// damping is σ1 at velocity v and its derivative.
func (p *Brush) damping(v float64) (s1, slope float64) {
	if p.Vd == 0 {
		return p.Sigma1, 0
	}
	b, db := bell(v, p.Vd)
	return p.Sigma1 * b, p.Sigma1 * db
}

// factor is mT·mJ.
func (p *Brush) factor(t, j float64) float64 {
	d := min(max(t, brushCold), brushHot) - p.T0
	j = math.Abs(j)
	return (1 + d*(p.AT+d*p.BT)) * (1 + j*(p.AJ+j*p.BJ))
}

// load is the normal load (N); a lifted brush has none.
func (p *Brush) load(in Input) float64 {
	if in.N == 0 {
		return p.N0
	}
	return max(0, in.N)
}

// Step advances the deflection and the temperature over in.Dt at the velocity in.V, under the load in.N (N, 0: N0) and the
// current in.I (A), and returns the mean force over the step (N). A step without length returns the instantaneous force.
func (p *Brush) Step(z []float64, in Input) float64 {
	if !(in.Dt > 0) {
		var dz [2]float64
		return p.Flow(z, dz[:], in)
	}
	f, _ := p.Trial(Midpoint, z, z, in)
	return f
}

// Trial is a step of the scheme: the mean force for Midpoint, the force at the end for the others, which share the
// deflection of the exact step. With D = g·sgn v − σ0z and a = hσ0|v|/g:
//
//	(z⁺ − z)/h = (|v|/g)·φ1(a)·D,   σ0z̄ = σ0z + D·(1 − φ1(a)).
func (p *Brush) Trial(scheme Scheme, z, zn []float64, in Input) (force, slope float64) {
	h, w := in.Dt, in.V
	mu, dmu := p.muSlope(w, z[1], in.I/p.Area)
	g, dg := p.N0*mu, p.N0*dmu
	s1, ds1 := p.damping(w)

	s := math.Copysign(1, w)
	over, hs := 1/g, h*p.Sigma0
	y := math.Abs(w) * over
	dy := (s - y*dg) * over
	p1, rest, dr := phiRest(hs * y)
	da := hs * dy
	zeta := p.Sigma0 * z[0]
	miss, dmiss := s*g-zeta, s*dg
	rate := miss * y * p1
	drate := (dmiss*y+miss*dy)*p1 - miss*y*dr*da
	f, df := zeta, 0.0
	if scheme == Midpoint {
		f, df = zeta+miss*rest, dmiss*rest+miss*dr*da
	} else {
		f, df = zeta+hs*rate, hs*drate
	}
	f += s1*rate + p.Sigma2*w
	df += ds1*rate + s1*drate + p.Sigma2
	n := p.load(in) / p.N0
	f, df = n*f, n*df

	zn[0] = z[0] + h*rate
	left, gone := decay(h / (p.Rth * p.Cth))
	zn[1] = z[1]*left + p.steadyTemperature(f*w, in.I)*gone
	return f, df
}

// steadyTemperature is the temperature (°C) that the power of friction f·v (W) and a current (A) end at.
func (p *Brush) steadyTemperature(power, current float64) float64 {
	return p.Tamb + p.Rth*(math.Abs(power)+p.Udrop*math.Abs(current))
}

// Flow is the differential form.
func (p *Brush) Flow(z, dz []float64, in Input) float64 {
	g := p.N0 * p.Mu(in.V, z[1], in.I/p.Area)
	s1, _ := p.damping(in.V)
	dz[0] = in.V - p.Sigma0*math.Abs(in.V)*z[0]/g
	f := p.load(in) / p.N0 * (p.Sigma0*z[0] + s1*dz[0] + p.Sigma2*in.V)
	dz[1] = (p.steadyTemperature(f*in.V, in.I) - z[1]) / (p.Rth * p.Cth)
	return f
}

// SteadyForce is the force (N) of long sliding at v (m/s) under N0 without current, once the temperature has settled, too. At
// v = 0 it is whatever holds the body; SteadyForce returns 0 there.
func (p *Brush) SteadyForce(v float64) float64 {
	f, _ := p.SteadyAt(v, p.N0, 0)
	return f
}

// SteadyAt is the force (N) and the temperature (°C) of long sliding at v (m/s) under a normal load n (N) with a current i
// (A): the first temperature above Tamb, on the way up from there, at which heat and cooling balance.
func (p *Brush) SteadyAt(v, n, i float64) (force, temp float64) {
	at := func(t float64) float64 {
		f := p.N0*p.Mu(v, t, i/p.Area) + p.Sigma2*math.Abs(v)
		return n / p.N0 * f
	}
	excess := func(t float64) float64 { return p.steadyTemperature(at(t)*v, i) - t }
	// where the coefficient no longer changes, the balance is explicit; below, a grid finds the first sign change
	lo, hi := p.Tamb, p.Tamb
	for k := 1; k <= 600 && excess(hi) > 0; k++ {
		lo, hi = hi, p.Tamb+float64(k*k)*(brushHot-brushCold)/36e4
	}
	if excess(hi) > 0 {
		lo, hi = hi, max(hi, p.steadyTemperature(at(max(hi, brushHot))*v, i))
	}
	for range 200 {
		mid := 0.5 * (lo + hi)
		if mid <= lo || mid >= hi {
			break
		}
		if excess(mid) > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	if v == 0 {
		return 0, hi
	}
	return math.Copysign(at(hi), v), hi
}

// Energy is what the bristles store (J), at the normal load N0.
func (p *Brush) Energy(z []float64) float64 { return p.Sigma0 / 2 * z[0] * z[0] }

// Bounds knows none: the coefficient has no ceiling, and the temperature follows the power.
func (p *Brush) Bounds(top []float64) { top[0], top[1] = math.Inf(1), math.Inf(1) }

// Stiffness bounds the slopes of the law at N0 and T0, without current.
func (p *Brush) Stiffness() Stiffness {
	fall := p.N0 * math.Sqrt(2/math.E) * (p.MuS - p.MuC) / p.Vs
	return Stiffness{K: p.Sigma0, C: p.Sigma1 + p.Sigma2, Speed: p.Vs, Fall: max(0, fall-p.Sigma2)}
}

// Levels are N0·µ at rest and at speed, at the temperature of the surroundings and without current.
func (p *Brush) Levels() Levels {
	return sameLevels(p.N0*p.Mu(0, p.Tamb, 0), p.N0*p.Mu(math.MaxFloat64, p.Tamb, 0))
}

// Viscous is σ2·v (N).
func (p *Brush) Viscous(v float64) float64 { return p.Sigma2 * v }

// Passive tells whether the contact, at constant load, can never give out more work than was put in, whatever temperature
// and current do to the coefficient. The balance g·|v|·y² + v²·(σ2 + σ1(v)·(1 − y)) is nowhere negative if
// σ1(v)·|v| ≤ 4·g, and g is at least N0·μmin: sufficient, not necessary. With Vd the product is largest at vd/√2.
func (p *Brush) Passive() (ok bool, speed float64) {
	limit := 4 * p.N0 * p.MuMin
	switch {
	case p.Sigma1 == 0:
		return true, 0
	case p.Vd == 0:
		return false, limit / p.Sigma1
	}
	most := p.Vd / math.Sqrt(2*math.E)
	if p.Sigma1*most <= limit {
		return true, 0
	}
	// first crossing of σ1·v·exp(−(v/vd)²) = limit below vd/√2
	return false, onset(0, p.Vd/math.Sqrt2, func(v float64) bool {
		r := v / p.Vd
		return p.Sigma1*v*expNeg(r*r) > limit
	})
}

func (p *Brush) fields() []field {
	return []field{
		{"sigma0", "N/m", &p.Sigma0, tiny, maxStiffness, "bristle stiffness at N0"},
		{"sigma1", "N·s/m", &p.Sigma1, 0, maxDamping, "bristle damping at rest, at N0"},
		{"sigma2", "N·s/m", &p.Sigma2, 0, maxDamping, "viscous friction at N0"},
		{"mu_c", "", &p.MuC, 1e-6, 1e3, "coefficient of sliding at T0 without current"},
		{"mu_s", "", &p.MuS, 1e-6, 1e3, "coefficient of break-away at T0 without current"},
		{"vs", "m/s", &p.Vs, tiny, maxSpeed, "Stribeck velocity"},
		{"vd", "m/s", &p.Vd, 0, maxSpeed, "velocity at which sigma1 has faded to 1/e; 0: it does not fade"},
		{"aT", "1/K", &p.AT, -1, 1, "relative change of the coefficient with temperature, linear"},
		{"bT", "1/K²", &p.BT, -1, 1, "relative change of the coefficient with temperature, quadratic"},
		{"T0", "degC", &p.T0, brushCold, brushHot, "temperature the coefficient belongs to"},
		{"aJ", "m²/A", &p.AJ, -1, 1, "relative change of the coefficient with current density, linear; 1e-6 m²/A is 1 mm²/A"},
		{"bJ", "m⁴/A²", &p.BJ, -1, 1, "relative change of the coefficient with current density, quadratic; 1e-12 m⁴/A² is 1 mm⁴/A²"},
		{"mu_min", "", &p.MuMin, 1e-6, 1e3, "floor of the coefficient"},
		{"area", "m²", &p.Area, tiny, 1e3, "contact area that carries the current"},
		{"N0", "N", &p.N0, tiny, maxForce, "normal load the stiffness belongs to, and the load if none is given"},
		{"Rth", "K/W", &p.Rth, 1e-9, 1e9, "thermal resistance from the contact to its surroundings"},
		{"Cth", "J/K", &p.Cth, 1e-9, 1e9, "heat capacity of the contact"},
		{"Udrop", "V", &p.Udrop, 0, 1e3, "voltage drop of the contact"},
		{"Tamb", "degC", &p.Tamb, brushCold, brushHot, "temperature of the surroundings"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *Brush) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *Brush) SetParams(theta []float64) error {
	return setParams("graphite-brush", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range.
func (p *Brush) Validate() error { return checkFields("graphite-brush", p.fields()) }
