package friction

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
)

// GMS is the generalised Maxwell-slip law of [L03]: n elements in parallel, each a spring that slips, F = ΣFi + σ2·v. With
// s(v) = Fc + (Fs − Fc)·exp(−(v/vs)²), an element that
//
//	sticks  follows   dFi/dt = ki·v
//	slips   follows   dFi/dt = C·(αi·sgn v − Fi/s(v)), but rises no faster than ki·|v|
//
// It slips from |Fi| = αi·s(v) on and sticks when the motion turns round. The reversal points are remembered one inside the
// other: a minor loop closes, and behind it the law has forgotten that it was there. In slip the forces follow the Stribeck
// curve with the time constant s(v)/C, the lag of lubricated contacts.
//
// The bound on the rise is a departure. In the source a slipping element whose level s(v) rises is loaded by time alone:
// stop quickly, wait, turn back, and the contact gives out more work than it took, as often as one likes. A spring is
// loaded by being stretched; with the bound dFi/dt·Fi/ki ≤ Fi·v always, so the law is passive and the force is continuous
// where the motion turns. Fast motion does not notice: the bound acts below |v| = C·αi/ki·(1 − |Fi|/(αi·s)).
//
// Shares and stiffnesses follow from two numbers: αi = 1/n, ki+1 = ki/ratio, Σki = σ0. Every element breaks away at ratio
// times the displacement of the one before, the first at Fs/(n·k1), so the virgin curve has corners at equal steps of
// force and geometric steps of displacement.
//
// For a given motion the step is exact, with the transitions where they happen inside it.
type GMS struct {
	Sigma0   float64 // N/m    stiffness of all elements together
	Ratio    float64 // 1      break-away displacement of an element over that of the one before
	Elements float64 // 1      number of elements n, a whole number
	C        float64 // N/s    attraction to the sliding curve
	Sigma2   float64 // N·s/m  viscous friction
	Fc       float64 // N      Coulomb level
	Fs       float64 // N      break-away level, ≥ Fc
	Vs       float64 // m/s    Stribeck velocity
}

const gmsMost = 10 // elements

// StateDim is n + 1: the forces of the elements (N), and which of them slip.
func (p *GMS) StateDim() int { return int(p.Elements) + 1 }

// Reset relaxes the elements.
func (p *GMS) Reset(z []float64) { clear(z) }

// States names the forces of the elements, the stiffest first, and the set of those that slip: 1 for the first, 2 for the
// second, 4 for the third …, added up, with the sign of the motion.
func (p *GMS) States() []engine.Signal {
	var s []engine.Signal
	for i := range int(p.Elements) {
		s = append(s, engine.Signal{Name: fmt.Sprintf("element%d", i+1), Unit: "N"})
	}
	return append(s, engine.Signal{Name: "slipping"})
}

// Step advances z over in.Dt at the velocity in.V and returns the mean force over the step (N). A step without length
// returns the instantaneous force.
func (p *GMS) Step(z []float64, in Input) float64 {
	if !(in.Dt > 0) {
		f := p.Sigma2 * in.V
		for _, e := range z[:len(z)-1] {
			f += e
		}
		return f
	}
	f, _ := p.Trial(Midpoint, z, z, in)
	return f
}

// first is the stiffness of the first element (N/m) of n and the factor from one to the next.
func (p *GMS) first(n int) (k, q float64) {
	q = 1 / p.Ratio
	sum := 1.0
	for range n - 1 {
		sum = 1 + q*sum
	}
	return p.Sigma0 / sum, q
}

// Trial is a step of the scheme: the mean force for Midpoint, the force at the end for the others.
//
// With f = Fi·sgn v, the level l = αi·s(v), the path D and a = hC/s(v), the parts of an element's step are
//
//	stick     f⁺ = f + ki·D               until f⁺ = l, where it stays
//	slip      f⁺ = l + (f − l)·e^{−a},    f̄ = l + (f − l)·φ1(a)
//	on rise   f⁺ = f + ki·D               until l − f = ki·D/a, then slip for the rest
func (p *GMS) Trial(scheme Scheme, z, zn []float64, in Input) (force, slope float64) {
	n := len(z) - 1
	h, w, s := in.Dt, in.V, 1.0
	if w < 0 {
		s = -1
	}
	d := s * h * w
	if d == 0 {
		for i, f := range z[:n] {
			zn[i] = f
			force += f
		}
		zn[n] = z[n]
		return force, p.Sigma0*h/2 + p.Sigma2
	}
	// the motion turned round: everything sticks
	var was, now uint32
	if z[n]*s > 0 {
		was = uint32(math.Abs(z[n]))
	}
	b, db := bell(w, p.Vs)
	g := p.Fc + (p.Fs-p.Fc)*b
	share := 1 / float64(n)
	level, dlevel := g*share, (p.Fs-p.Fc)*db*share*s
	a := h * p.C / g
	var e, p1 float64 // relaxation over the whole step, when an element asks
	k, q := p.first(n)
	var sum, dsum float64
	for i, f := range z[:n] {
		f *= s
		pull, bit := k*d, uint32(1)<<i
		var end, mean, dend, dmean float64
		switch slips := was&bit != 0; {
		case !slips && f+pull <= level:
			end, mean = f+pull, f+pull/2
			dend, dmean = k*h, k*h/2
		case !slips && f <= level:
			x := (level - f) / pull // share of the path before break-away
			end, mean = level, level-x/2*(level-f)
			dend, dmean = dlevel, x*x*k*h/2+dlevel*(1-x)
			now |= bit
		case (level-f)*a > pull:
			now |= bit
			x := (level-f)/pull - 1/a // share of the path on which the spring is too slow
			if x >= 1 {
				end, mean = f+pull, f+pull/2
				dend, dmean = k*h, k*h/2
				break
			}
			gap := pull / a
			e, p1, _ := phi(a * (1 - x))
			end = level - gap*(1-e)
			mean = x*(f+level-gap)/2 + (1-x)*(level-gap*p1)
			dend, dmean = dlevel*e, x*x*k*h/2
		default:
			now |= bit
			if p1 == 0 {
				e, p1, _ = phi(a)
			}
			end, mean = level+(f-level)*(1-e), level+(f-level)*p1
			dend, dmean = dlevel*e, dlevel*(1-p1)
		}
		zn[i] = s * end
		if scheme == Midpoint {
			sum, dsum = sum+mean, dsum+dmean
		} else {
			sum, dsum = sum+end, dsum+dend
		}
		k *= q
	}
	zn[n] = s * float64(now)
	return s*sum + p.Sigma2*w, dsum + p.Sigma2
}

// SteadyForce is the force (N) of long sliding at v (m/s), s(v)·sgn v + σ2·v. At v = 0 it is whatever holds the body; SteadyForce
// returns 0 there.
func (p *GMS) SteadyForce(v float64) float64 {
	if v == 0 {
		return 0
	}
	b, _ := bell(v, p.Vs)
	return math.Copysign(p.Fc+(p.Fs-p.Fc)*b, v) + p.Sigma2*v
}

// Energy is what the springs store (J), ΣFi²/(2ki).
func (p *GMS) Energy(z []float64) float64 {
	n := len(z) - 1
	k, q := p.first(n)
	sum := 0.0
	for _, f := range z[:n] {
		sum += f * f / (2 * k)
		k *= q
	}
	return sum
}

// Bounds is |Fi| ≤ αi·Fs.
func (p *GMS) Bounds(top []float64) {
	n := len(top) - 1
	for i := range n {
		top[i] = p.Fs / float64(n)
	}
	top[n] = float64(uint32(1)<<n - 1)
}

// Passive is true: the energy of every spring grows by no more than its work, see GMS.
func (p *GMS) Passive() (ok bool, speed float64) { return true, 0 }

// Stiffness bounds the slopes of the law.
func (p *GMS) Stiffness() Stiffness {
	return Stiffness{K: p.Sigma0, C: p.Sigma2, Speed: p.Vs,
		Fall: max(0, math.Sqrt(2/math.E)*(p.Fs-p.Fc)/p.Vs-p.Sigma2)}
}

// Levels are Fs and Fc.
func (p *GMS) Levels() Levels { return sameLevels(p.Fs, p.Fc) }

// Viscous is σ2·v (N).
func (p *GMS) Viscous(v float64) float64 { return p.Sigma2 * v }

func (p *GMS) fields() []field {
	return []field{
		{"sigma0", "N/m", &p.Sigma0, tiny, maxStiffness, "stiffness of all elements together"},
		{"ratio", "", &p.Ratio, 1, 10, "break-away displacement of an element over that of the one before"},
		{"elements", "", &p.Elements, 1, gmsMost, "number of elements, fixed once the law is in use"},
		{"C", "N/s", &p.C, 0, 1e12, "attraction of a slipping element to the sliding curve"},
		{"sigma2", "N·s/m", &p.Sigma2, 0, maxDamping, "viscous friction"},
		{"Fc", "N", &p.Fc, tiny, maxForce, "Coulomb friction"},
		{"Fs", "N", &p.Fs, tiny, maxForce, "break-away friction (total, not the increment), at least Fc"},
		{"vs", "m/s", &p.Vs, tiny, maxSpeed, "Stribeck velocity"},
	}
}

// Params lists the parameters in the order of SetParams. The number of elements is not for fitting.
func (p *GMS) Params() []engine.Param {
	ps := paramsOf(p.fields())
	ps[2].Fixed = true
	return ps
}

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *GMS) SetParams(theta []float64) error {
	return setParams("gms", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range, a broken number of elements, and Fs below Fc: an element that sticks
// above its sliding level has no force at rest.
func (p *GMS) Validate() error {
	err := checkLevels("gms", p.fields(), "Fs", p.Fc)
	if p.Elements != math.Trunc(p.Elements) {
		err = errors.Join(err, fmt.Errorf("gms: elements: %g, want a whole number", p.Elements))
	}
	return err
}
