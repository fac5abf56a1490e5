package friction

import (
	"math"

	"hilrig/engine"
)

// ElastoPlastic is the bristle law of [D02]: as LuGre, but the bristle slips only above a break-away deflection, so a bias
// with a vibration that stays below it does not creep.
//
//	dz/dt = v·(1 − α(z, v)·σ0·z·sgn(v)/g(v))
//	F     = σ0·z + σ1(v)·dz/dt + σ2·v + offset
//
// With y = z·sgn v, the deflection in the direction of motion, and zmax = g(v)/σ0:
//
//	α = 0                                              y ≤ zba, elastic; also while z opposes the motion
//	α = ½ + ½·sin(π·(y − (zmax + zba)/2)/(zmax − zba))  zba < y < zmax
//	α = 1                                              y ≥ zmax
//
// g, σ1(v), the offset and the dependence on the normal load are those of LuGre. The source asks for zba < zmax at every
// speed; here zba = Zba·Fs/σ0 yields to 0.95·zmax where the Stribeck curve dips below it, so that the steady force stays
// g(v)·sgn v + σ2·v.
//
// For a given motion the deflection depends on the path alone. The elastic part and y ≥ zmax are stepped exactly. In
// between α is frozen over parts of the path, each a midpoint step, and near zmax the equation is replaced by one with a
// closed solution. Every part is the motion of a bristle with some α in [0, 1], so the mean force keeps the storage
// inequality of the law for any step.
type ElastoPlastic struct {
	Bristle LuGre   // σ0, σ1, σ2, g and the load
	Zba     float64 // 1  break-away deflection as a share of Fs/σ0; 0.7 is typical
}

const (
	zbaTop  = 0.95    // largest share of zmax that is elastic
	epParts = 1 / 12. // path of a part with frozen α, as a share of zmax − zba; up to ¼ the deflection cannot pass zmax
	minPath = 1e-200  // path that counts as none: its reciprocal would overflow
	epTail  = 0.15    // share of zmax − zba from which the closed solution takes over
)

// StateDim is 1: the mean bristle deflection (m).
func (p *ElastoPlastic) StateDim() int { return 1 }

// Reset relaxes the bristles.
func (p *ElastoPlastic) Reset(z []float64) { z[0] = 0 }

// States names the bristle deflection.
func (p *ElastoPlastic) States() []engine.Signal { return p.Bristle.States() }

// Step advances z[0] (m) over in.Dt at the velocity in.V and returns the mean force over the step (N). The mean belongs
// to the middle of the step. A step without length returns the instantaneous force.
func (p *ElastoPlastic) Step(z []float64, in Input) float64 {
	if !(in.Dt > 0) {
		var dz [1]float64
		return p.Flow(z, dz[:], in)
	}
	f, _ := p.Trial(Midpoint, z, z, in)
	return f
}

// Trial is a step of the scheme: the mean force for Midpoint, the force at the end for the others, which share the
// deflection of the law for the given motion.
//
// In units of zmax the law has one parameter, ρ = zba/zmax. With the deflection y at the start and the path D, the mean ȳ
// over the path, the end y⁺ and the rates r = dy/dξ there, the derivatives follow from numbers that are known already:
//
//	∂ȳ/∂D = (y⁺ − ȳ)/D,   ∂ȳ/∂y = (y⁺ − y)/(D·r),   ∂y⁺/∂D = r⁺,   ∂y⁺/∂y = r⁺/r
//
// (to start further on is to start later); that ρ changes with the speed is left out.
func (p *ElastoPlastic) Trial(scheme Scheme, z, zn []float64, in Input) (force, slope float64) {
	h, w, q := in.Dt, in.V, &p.Bristle
	g, dg := q.gSlope(w)
	s1, ds1 := q.sigma1Slope(w)
	over, hs, s := 1/g, h*q.Sigma0, math.Copysign(1, w)
	y, d := s*q.Sigma0*z[0]*over, hs*math.Abs(w)*over
	rho := p.Zba * q.Fs * over
	if rho > zbaTop { // not min: y and all that follows wait for it
		rho = zbaTop
	}

	var f, df, rate, drate float64
	switch {
	case d <= rho-y: // elastic all the way
		rate, drate = w, 1
		f, df = q.Sigma0*z[0]+hs*w/2, hs/2
		if scheme != Midpoint {
			f, df = f+hs*w/2, hs
		}
	case d < minPath:
		drate = rateAt(y, rho, 1)
		f, df = q.Sigma0*z[0], hs*drate
		if scheme == Midpoint {
			df /= 2
		}
	default:
		end, sum, r, rEnd := elastoPlastic(y, d, rho)
		id := 1 / d
		byEnd, byMean := 0.0, 0.0
		if r > 1e-6 || r < -1e-6 {
			ir := 1 / r
			byEnd, byMean = rEnd*ir, (end-y)*id*ir
		} else { // start near zmax, where the rates vanish together
			byEnd = 1 / (1 + d*(1+d/2))
			byMean = (1 + d/2) * byEnd
		}
		rate = w * (end - y) * id
		grow := end - y*byEnd - d*rEnd // what g changes at the end
		drate = rEnd + s*dg*grow/hs
		mean := sum * id
		if scheme == Midpoint {
			dMean := (end - mean) * id
			f, df = s*g*mean, hs*dMean+s*dg*(mean-y*byMean-d*dMean)
		} else {
			f, df = s*g*end, hs*rEnd+s*dg*grow
		}
	}
	zn[0] = z[0] + h*rate
	k := q.load(in.N)
	return k*(f+s1*rate+q.Sigma2*w) + q.Offset, k * (df + ds1*rate + s1*drate + q.Sigma2)
}

// knee is zba (m) where the largest deflection is m.
func (p *ElastoPlastic) knee(m float64) float64 {
	return min(p.Zba*p.Bristle.Fs/p.Bristle.Sigma0, zbaTop*m)
}

// plastic is α at deflection y (m) between zba = b and zmax = m.
func plastic(y, b, m float64) float64 {
	switch {
	case y <= b:
		return 0
	case y >= m:
		return 1
	}
	return sineSquare((y - b) / (m - b))
}

// sineSquare is sin²(πu/2) = ½ − ½·cos πu for 0 ≤ u ≤ 1, by the series of cos 2x − 1 for |x| ≤ π/4; it is within
// 4e-9.
func sineSquare(u float64) float64 {
	r := u
	if u > 0.5 {
		r = 1 - u
	}
	t := math.Pi * math.Pi * r * r
	t2 := t * t
	q := t * ((1.0/4 - t*(1.0/48)) + t2*((1.0/1440-t*(1.0/80640))+t2*(1.0/7257600-t*(1.0/958003200))))
	if u > 0.5 {
		return 1 - q
	}
	return q
}

// rateAt is dy/dξ, the deflection gained per path.
func rateAt(y, b, m float64) float64 { return 1 - plastic(y, b, m)*y/m }

// elastoPlastic moves a deflection y, counted in the direction of motion, along a path d > 0, both in units of zmax. It
// returns the deflection at the end, its integral over the path, and dy/dξ at the start and at the end.
func elastoPlastic(y, d, rho float64) (end, sum, rate, rateEnd float64) {
	left := d
	rate = 1
	// elastic: deflection and path grow together
	if y < rho {
		if left <= rho-y {
			return y + left, left * (y + left/2), 1, 1
		}
		sum = (rho - y) * (y + rho) / 2
		left -= rho - y
		y = rho
	}
	width := 1 - rho
	scale := 1 / width
	// yielding: midpoint steps with α of the middle, found from the rates of the two parts before. With the mean ½(y + y⁺)
	// the work of such a step is the stored energy plus α times a square.
	if 1-y > epTail*width {
		if left == d && y > rho {
			rate = 1 - y*sineSquare((y-rho)*scale)
		}
		part, last, change := epParts*width, rate, 0.0
		for 1-y > epTail*width {
			e := part
			if left < e {
				e = left
			}
			u := (y + e/2*(last+0.75*change) - rho) * scale
			if u > 1 {
				u = 1
			}
			alpha := sineSquare(u)
			r := (1 - alpha*y) / (1 + alpha*e/2)
			last, change = r, r-last
			sum += e * (y + e*r/2)
			y += e * r
			left -= e
			if left <= 0 {
				return y, sum, rate, last + change/2
			}
		}
	}
	// close to zmax and above. With ε = 1 − y: dε/dξ = −(ε + c·ε²), c chosen to meet α here and 0 above zmax; then
	// ε⁺ = ε·e^{−D}/(1 + x), ∫ε dξ = ln(1 + x)/c, x = c·ε·(1 − e^{−D}).
	eps := 1 - y
	stay, gone := decay(left)
	eps1, part, c := eps*stay, eps*gone, 0.0
	if eps > 1e-9 {
		x := sineSquare(eps*scale) * y / eps // c·ε
		c = x / eps
		x *= gone
		eps1 /= 1 + x
		if x > 0.03 {
			part *= ln(1+x) / x
		} else {
			part *= 1 - x*(1.0/2-x*(1.0/3-x*(1.0/4-x*(1.0/5))))
		}
	}
	if left == d {
		rate = eps + c*eps*eps
	}
	return 1 - eps1, sum + left - part, rate, eps1 + c*eps1*eps1
}

// Flow is the differential form.
func (p *ElastoPlastic) Flow(z, dz []float64, in Input) float64 {
	q := &p.Bristle
	m, s := q.g(in.V)/q.Sigma0, 1.0
	if in.V < 0 {
		s = -1
	}
	dz[0] = in.V * rateAt(s*z[0], p.knee(m), m)
	return q.load(in.N)*(q.Sigma0*z[0]+q.sigma1(in.V)*dz[0]+q.Sigma2*in.V) + q.Offset
}

// SteadyForce is the force (N) of long sliding at v (m/s): that of LuGre.
func (p *ElastoPlastic) SteadyForce(v float64) float64 { return p.Bristle.SteadyForce(v) }

// Energy is what the bristles store (J), at the normal load N0.
func (p *ElastoPlastic) Energy(z []float64) float64 { return p.Bristle.Energy(z) }

// Bounds is |z| ≤ max(Fs, Fc)/σ0.
func (p *ElastoPlastic) Bounds(top []float64) { p.Bristle.Bounds(top) }

// Stiffness bounds the slopes of the law.
func (p *ElastoPlastic) Stiffness() Stiffness { return p.Bristle.Stiffness() }

// Levels are those of LuGre.
func (p *ElastoPlastic) Levels() Levels { return p.Bristle.Levels() }

// Viscous is that of LuGre.
func (p *ElastoPlastic) Viscous(v float64) float64 { return p.Bristle.Viscous(v) }

// Passive tells whether the contact can give back more than was put in, as for LuGre. The balance is
//
//	F·v − dV/dt = α·g·|v|·y² + v²·(σ2 + σ1(v)·(1 − α·y)),   y = σ0·z·sgn(v)/g,
//
// which can be negative for y > 1 only. There α = 1, and the balance is that of LuGre: so is the verdict.
func (p *ElastoPlastic) Passive() (ok bool, speed float64) { return p.Bristle.Passive() }

func (p *ElastoPlastic) fields() []field {
	return append(p.Bristle.fields(),
		field{"zba_ratio", "", &p.Zba, 0, zbaTop, "break-away deflection as a share of Fs/sigma0, below which the contact is elastic"})
}

// Params lists the parameters in the order of SetParams.
func (p *ElastoPlastic) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *ElastoPlastic) SetParams(theta []float64) error {
	return setParams("elasto-plastic", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range.
func (p *ElastoPlastic) Validate() error { return checkFields("elasto-plastic", p.fields()) }
