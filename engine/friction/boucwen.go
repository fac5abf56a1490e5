package friction

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
)

// BoucWen is the hysteretic spring of Bouc and Wen [BW76], theory §7.4, with the redundant factor A of the source fixed at 1:
//
//	dz/dt = v − β·|v|·|z|^{n−1}·z − γ·v·|z|^n
//	F     = α·k·x + (1 − α)·k·z
//
// The states are the hysteretic displacement z and the displacement x of the parallel spring, both in m, both 0 when
// relaxed. z is bounded by zc = (β + γ)^{−1/n}, so the contact slides at (1 − α)·k·zc. β = γ unloads along a straight line;
// n = 1, γ = 0, α = 0, β = σ0/Fc and k = σ0 is the law of Dahl. The force depends on the path only.
//
// For a given motion the step is exact for n = 1 and n = 2, and within 1e-8 of zc by an error-controlled integration otherwise.
// In units of zc, with ξ = |Δx|/zc and y = z·sgn(Δx)/zc,
//
//	dy/dξ = 1 − y^n for y ≥ 0,   dy/dξ = 1 + ρ·|y|^n for y < 0,   ρ = (β − γ)/(β + γ) ≥ 0.
type BoucWen struct {
	K     float64 // N/m   stiffness when relaxed
	Alpha float64 //       share of the stiffness that stays: a spring in parallel
	Beta  float64 // m^−n  loss
	Gamma float64 // m^−n  shape; −β < γ ≤ β
	N     float64 //       sharpness of the transition to sliding
}

// StateDim is 2: the hysteretic displacement and the displacement (m).
func (p *BoucWen) StateDim() int { return 2 }

// Reset relaxes the contact at the origin of the spring.
func (p *BoucWen) Reset(z []float64) { z[0], z[1] = 0, 0 }

// States names the hysteretic displacement and the displacement.
func (p *BoucWen) States() []engine.Signal {
	return []engine.Signal{{Name: "hysteresis", Unit: "m"}, {Name: "displacement", Unit: "m"}}
}

// maxDeflection is zc (m), the bound of z.
func (p *BoucWen) maxDeflection() float64 {
	switch sum := p.Beta + p.Gamma; p.N {
	case 1:
		return 1 / sum
	case 2:
		return 1 / math.Sqrt(sum)
	default:
		return math.Pow(sum, -1/p.N)
	}
}

// Step advances z over in.Dt at the velocity in.V and returns the mean force over the step (N). The mean belongs to the
// middle of the step. A step without length returns the instantaneous force.
func (p *BoucWen) Step(z []float64, in Input) float64 {
	if !(in.Dt > 0) {
		return p.force(z[0], z[1])
	}
	f, _ := p.Trial(Midpoint, z, z, in)
	return f
}

// Trial is a step of the scheme. The force at the end is known for a given motion, so Implicit takes it instead of a
// backward Euler step; ExplicitPade is Explicit.
//
// The mean force depends on Δx alone, and d(F̄·Δx)/dΔx is the force at the end: dF̄/dw = (F⁺ − F̄)/w.
func (p *BoucWen) Trial(s Scheme, z, zn []float64, in Input) (force, slope float64) {
	h, w := in.Dt, in.V
	zc := p.maxDeflection()
	sg := math.Copysign(zc, w)
	xi, y := h*math.Abs(w)/zc, z[0]/sg
	rho := (p.Beta - p.Gamma) / (p.Beta + p.Gamma)
	end, avg := rise(y, xi, p.N, rho)
	z0, x0 := z[0], z[1]
	z1, x1 := z0+sg*end, x0+h*w
	zn[0], zn[1] = z1, x1
	if s == Midpoint {
		tangent := 0.5 * (1 - bend(y, p.N, rho))
		if xi > 1e-6 {
			tangent = (end - avg) / xi
		}
		return p.force(z0+sg*avg, x0+h*w/2), h * p.K * (p.Alpha/2 + (1-p.Alpha)*tangent)
	}
	return p.force(z1, x1), h * p.K * (p.Alpha + (1-p.Alpha)*(1-bend(y+end, p.N, rho)))
}

// force is the force (N) at the states.
func (p *BoucWen) force(z, x float64) float64 { return p.K * (p.Alpha*x + (1-p.Alpha)*z) }

// bend is what the slope dy/dξ falls short of 1.
func bend(y, n, rho float64) float64 {
	u := math.Abs(y)
	switch n {
	case 1:
	case 2:
		u *= u
	default:
		u = math.Pow(u, n)
	}
	if y < 0 {
		return -rho * u
	}
	return u
}

// rise is y⁺ − y and ȳ − y over the path ξ.
func rise(y, xi, n, rho float64) (end, mean float64) {
	switch {
	case xi == 0:
		return 0, 0
	case n != 1 && n != 2:
		return climb(y, xi, n, rho)
	case y >= 0:
		return loading(y, xi, n)
	}
	zero := emptied(-y, n, rho)
	if xi <= zero {
		return unloading(-y, xi, n, rho)
	}
	// down to y = 0, then on from there
	_, m0 := unloading(-y, zero, n, rho)
	e1, m1 := loading(0, xi-zero, n)
	return e1 - y, (m0*zero + (m1-y)*(xi-zero)) / xi
}

// loading is the rise from y ≥ 0 for n = 1, 1 − y⁺ = (1 − y)·e^{−ξ}, and n = 2, y⁺ = tanh(artanh y + ξ). For the latter,
// with g = 1 − e^{−2ξ}: tanh ξ = g/(2 − g), ∫y dξ = ln(cosh ξ + y·sinh ξ) = ξ + ln(1 − (1 − y)·g/2).
func loading(y, xi, n float64) (end, mean float64) {
	if n == 1 {
		e, _, p2 := phi(xi)
		return (1 - y) * e, (1 - y) * xi * p2
	}
	_, g := decay(2 * xi)
	t := g / (2 - g)
	return t * (1 - y) * (1 + y) / (1 + y*t), 1 - y + math.Log1p((y-1)*g/2)/xi
}

// emptied is the path on which p = −y > 0 falls to 0.
func emptied(p, n, rho float64) float64 {
	switch {
	case rho == 0:
		return p
	case n == 1:
		return math.Log1p(rho*p) / rho
	}
	c := math.Sqrt(rho)
	return math.Atan(c*p) / c
}

// unloading is the fall of p = −y > 0 on a path on which it does not empty, at the end and on the average; it is the rise
// of y. n = 1: p⁺ + 1/ρ = (p + 1/ρ)·e^{−ρξ}; n = 2: √ρ·p⁺ = tan(arctan(√ρ·p) − √ρ·ξ), ∫p dξ = ln(cos √ρξ + √ρ·p·sin √ρξ)/ρ.
func unloading(p, xi, n, rho float64) (end, mean float64) {
	switch {
	case rho == 0:
		return xi, xi / 2
	case n == 1:
		_, p1, p2 := phi(rho * xi)
		return (1 + rho*p) * xi * p1, (1 + rho*p) * xi * p2
	}
	c := math.Sqrt(rho)
	sin, cos := math.Sincos(c * xi)
	t, half := sin/cos/c, math.Sin(c*xi/2)
	return t * (1 + rho*p*p) / (1 + rho*p*t), p - math.Log1p(c*p*sin-2*half*half)/(rho*xi)
}

// Integration of the rise for other n, with the pair of [DP80], order 5 and error estimate of order 4, for y and ∫y dξ. From
// y = climbTop on, y = 1 − u·e^{−σ} turns the relaxation to 1 into
//
//	dσ/dξ = (1 − y^n)/(1 − y),
//
// which is bounded and tends to n, so that a method for equations that are not stiff takes long steps. A step that passes
// y = 0, where the slope has a kink, is shortened until it ends there.
const (
	riseTol  = 1e-10 // of y per step
	riseCap  = 400   // attempted steps, after which the rest is taken at once; 220 are needed at most for ρ up to 2e4
	riseZero = 1e-6  // of y, near enough to 0
	climbTop = 0.5
)

// climb is rise by integration.
func climb(y0, xi, n, rho float64) (end, mean float64) {
	at, step := 0.0, xi
	for try := 0; at < xi; try++ {
		y := y0 + end
		u := 1 - y
		if math.Abs(u) < 1e-6 { // 1 − y decays as e^{−nξ}
			rest := xi - at
			e, _, p2 := phi(n * rest)
			return end + u*e, mean + (end+u*n*rest*p2)*rest/xi
		}
		step = min(step, xi-at)
		if y < climbTop && try < riseCap {
			step = min(step, (climbTop+0.25-y)/(1-min(0, bend(y, n, rho))))
		}
		if try >= riseCap {
			step = xi - at
		}
		up, area, ex, ea := riseStep(y, step, n, rho)
		miss := max(math.Abs(ex), math.Abs(ea)/xi)
		next := y + up
		switch grow := 0.9 * math.Pow(riseTol/max(miss, 1e-30), 0.2); {
		case miss > riseTol && try < riseCap:
			step *= max(0.1, grow)
		case y < -riseZero && next > riseZero && try < riseCap:
			step *= -y / up
		default:
			// from here on the mean counts what has been risen before
			mean += (end*step + area) / xi
			end += up
			if at += step; try >= riseCap || at >= xi*(1-1e-15) {
				return end, mean
			}
			step *= min(5, max(0.1, grow))
		}
	}
	return end, mean
}

// riseStep is one step of the pair from y: the rise, the integral of the rise over the step, and their estimated errors.
func riseStep(y, step, n, rho float64) (up, area, upErr, areaErr float64) {
	var k, rose [7]float64 // rate and rise at the stages
	top, u := y >= climbTop, 1-y
	if k[0] = 1 - bend(y, n, rho); top {
		k[0] = climbRate(u, n)
	}
	for i := range 6 {
		var x float64
		area = 0
		row := &engine.DormandPrinceA[i+1]
		for j := range i + 1 {
			x += step * row[j] * k[j]
			area += step * row[j] * rose[j]
		}
		if top {
			left, gone := decay(max(x, 0))
			k[i+1], rose[i+1] = climbRate(u*left, n), u*gone
		} else {
			k[i+1], rose[i+1] = 1-bend(y+x, n, rho), x
		}
	}
	for i, e := range engine.DormandPrinceE {
		upErr += step * e * k[i]
		areaErr += step * e * rose[i]
	}
	if up = rose[6]; top {
		upErr *= u - up // what the error of σ makes of y
	}
	return up, area, upErr, areaErr
}

// climbRate is dσ/dξ at the distance d = 1 − y from the end.
func climbRate(d, n float64) float64 {
	if d == 0 {
		return n
	}
	return -math.Expm1(n*math.Log1p(-d)) / d
}

// Flow is the differential form.
func (p *BoucWen) Flow(z, dz []float64, in Input) float64 {
	u := math.Pow(math.Abs(z[0]), p.N)
	dz[0] = in.V*(1-p.Gamma*u) - p.Beta*math.Abs(in.V)*math.Copysign(u, z[0])
	dz[1] = in.V
	return p.force(z[0], z[1])
}

// Energy is the storage αk·x²/2 + (1 − α)k·z²/2 (J). It bounds what the contact can give back; with γ < β unloading itself
// dissipates.
func (p *BoucWen) Energy(z []float64) float64 {
	return p.K / 2 * (p.Alpha*z[1]*z[1] + (1-p.Alpha)*z[0]*z[0])
}

// Bounds is |z| ≤ zc; the displacement is not bounded.
func (p *BoucWen) Bounds(top []float64) { top[0], top[1] = p.maxDeflection(), math.Inf(1) }

// SteadyForce is the force (N) of long sliding without the parallel spring, which for α > 0 keeps growing.
func (p *BoucWen) SteadyForce(v float64) float64 {
	return coulomb((1-p.Alpha)*p.K*p.maxDeflection(), v)
}

// Stiffness bounds the slopes of the law: a contact bent to the limit is 1 + ρ times as stiff on the way back. The law
// knows no speed; a break-away displacement in a millisecond stands in.
func (p *BoucWen) Stiffness() Stiffness {
	back := 2 * p.Beta / (p.Beta + p.Gamma)
	return Stiffness{K: p.K * (p.Alpha + (1-p.Alpha)*max(1, back)), Speed: p.maxDeflection() / 1e-3}
}

// Levels are those of the hysteretic part, (1 − α)·k·zc; the spring beside it holds what it is told by the position.
func (p *BoucWen) Levels() Levels {
	f := p.SteadyForce(1)
	return sameLevels(f, f)
}

// Viscous is zero.
func (p *BoucWen) Viscous(float64) float64 { return 0 }

// Passive is true: with V of Energy, F·v − dV/dt = (1 − α)k·|z|^{n+1}·|v|·(β + γ·sgn(v·z)), and |γ| ≤ β.
func (p *BoucWen) Passive() (ok bool, speed float64) { return true, 0 }

func (p *BoucWen) fields() []field {
	return []field{
		{"k", "N/m", &p.K, tiny, maxStiffness, "stiffness when relaxed"},
		{"alpha", "", &p.Alpha, 0, 1, "share of the stiffness that stays"},
		{"beta", "m^-n", &p.Beta, 1e-150, 1e150, "loss"},
		{"gamma", "m^-n", &p.Gamma, -1e150, 1e150, "shape; above −beta, at most beta"},
		{"n", "", &p.N, 1, 20, "sharpness of the transition to sliding"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *BoucWen) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *BoucWen) SetParams(theta []float64) error {
	return setParams("bouc-wen", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range, and a γ with which unloading gains work on the stored energy or
// sliding has no bound.
func (p *BoucWen) Validate() error {
	err := checkFields("bouc-wen", p.fields())
	if err != nil {
		return err
	}
	if p.Gamma > p.Beta {
		err = fmt.Errorf("bouc-wen: gamma: %g, want ≤ beta (%g): above it unloading gives back more work than k·z²/2", p.Gamma, p.Beta)
	}
	if p.Gamma <= -p.Beta {
		return errors.Join(err, fmt.Errorf("bouc-wen: gamma: %g, want > −beta (%g): at or below it the force grows without bound", p.Gamma,
			-p.Beta))
	}
	if zc := p.maxDeflection(); err == nil && !(zc >= tiny && zc <= maxExtent) {
		return fmt.Errorf("bouc-wen: (beta + gamma)^(−1/n): %g m, want %g to %g m: the displacement at which the contact slides", zc,
			tiny, maxExtent)
	}
	return err
}
