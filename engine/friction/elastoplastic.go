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
func (p *ElastoPlastic) Trial(s Scheme, z, zn []float64, in Input) (force, slope float64) {
	h, w, q := in.Dt, in.V, &p.Bristle
	g, dg := q.gSlope(w)
	s1, ds1 := q.sigma1Slope(w)
	t := p.travel(z[0], w, h, g/q.Sigma0, dg/q.Sigma0)
	rate := (t.end - z[0]) / h
	f, df := t.mean, t.dmean
	if s != Midpoint {
		f, df = t.end, t.dend
	}
	zn[0] = t.end
	k := q.load(in.N)
	f = k*(q.Sigma0*f+s1*rate+q.Sigma2*w) + q.Offset
	return f, k * (q.Sigma0*df + ds1*rate + s1*t.dend/h + q.Sigma2)
}

// epPath is what a path does to the bristle: its deflection at the end and the mean over the path (m), and how they change
// with the velocity (s).
type epPath struct{ end, mean, dend, dmean float64 }

// travel moves the bristle from z (m) at velocity w for h (s), given zmax = m (m) and dm/dw (s). The derivatives follow from
// the end and the mean alone:
//
//	∂ȳ/∂D = (y⁺ − ȳ)/D          the mean over a path D that grows
//	∂ȳ/∂y = (y⁺ − y)/(D·r)      to start further on, by the rate r = dy/dξ at the start, is to start later
//
// and ∂/∂m, since y, D and zba may be measured in units of zmax (rough where zba is fixed).
func (p *ElastoPlastic) travel(z, w, h, m, dm float64) epPath {
	s, d := 1.0, h*w
	if w < 0 {
		s, d = -1, -d
	}
	y, b := s*z, p.knee(m)
	if d <= b-y { // elastic all the way
		return epPath{z + s*d, z + s*d/2, h, h / 2}
	}
	if d == 0 {
		r := rateAt(y, b, m)
		return epPath{z, z, h * r, h * r / 2}
	}
	end, mean, rate, rateEnd := elastoPlastic(y, d, b, m)
	im, id := 1/m, 1/d
	a := d * im
	sEnd := 1 / (1 + a + a*a/2) // start near zmax, where the rates vanish together
	sMean := (1 + a/2) * sEnd
	if rate > 1e-6 || rate < -1e-6 {
		ir := 1 / rate
		sEnd, sMean = rateEnd*ir, (end-y)*id*ir
	}
	dMean := (end - mean) * id
	byM := (mean - y*sMean - d*dMean) * im
	byMEnd := (end - y*sEnd - d*rateEnd) * im
	return epPath{s * end, s * mean, h*rateEnd + s*byMEnd*dm, h*dMean + s*byM*dm}
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
	r := min(u, 1-u)
	t := math.Pi * math.Pi * r * r
	q := t * (1.0/4 - t*(1.0/48-t*(1.0/1440-t*(1.0/80640-t*(1.0/7257600-t*(1.0/958003200))))))
	if u > 0.5 {
		return 1 - q
	}
	return q
}

// rateAt is dy/dξ, the deflection gained per path.
func rateAt(y, b, m float64) float64 { return 1 - plastic(y, b, m)*y/m }

// elastoPlastic moves a deflection y (m, counted in the direction of motion) along a path d > 0 (m). It returns the
// deflection at the end and its mean over the path (m), and dy/dξ at the start and at the end.
func elastoPlastic(y, d, b, m float64) (end, mean, rate, rateEnd float64) {
	sum, left := 0.0, d
	rate = 1
	// elastic: deflection and path grow together
	if y < b {
		if left <= b-y {
			return y + left, y + left/2, 1, 1
		}
		sum = (b - y) * (y + b) / 2
		left -= b - y
		y = b
	}
	im, tail := 1/m, epTail*(m-b)
	// yielding: midpoint steps with α of the middle, found from the rates of the two parts before. With the mean ½(y + y⁺)
	// the work of such a step is the stored energy plus α times a square.
	if m-y > tail {
		rate = rateAt(y, b, m)
		part, last, change := epParts*(m-b), rate, 0.0
		for m-y > tail {
			e := min(part, left)
			a := plastic(y+e/2*(last+0.75*change), b, m) * e * im / 2
			yn := (y*(1-a) + e) / (1 + a)
			r := (yn - y) / e
			last, change = r, r-last
			sum += e * (y + yn) / 2
			y = yn
			left -= e
			if left <= 0 {
				return y, sum / d, rate, last + change/2
			}
		}
	}
	// close to zmax and above. With ε = 1 − y/m: dε/dξ = −(ε + c·ε²)/m, c chosen to meet α here and 0 above zmax; then
	// ε⁺ = ε·e^{−a}/(1 + x), ε̄ = ln(1 + x)/(c·a), x = c·ε·(1 − e^{−a}), a = ξ/m.
	eps := (m - y) * im
	gone, p1, _ := phi(left * im)
	avg, eps1, c := eps*p1, eps*(1-gone), 0.0
	if eps > 1e-9 {
		c = sineSquare((m-y)/(m-b)) * (1 - eps) / (eps * eps)
		x := c * eps * gone
		eps1 /= 1 + x
		if x > 1e-4 {
			avg *= math.Log1p(x) / x
		} else {
			avg *= 1 - x/2 + x*x/3
		}
	}
	if left == d {
		rate = eps + c*eps*eps
	}
	return m * (1 - eps1), (sum + left*m*(1-avg)) / d, rate, eps1 + c*eps1*eps1
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

// Steady is the force (N) of long sliding at v (m/s): that of LuGre.
func (p *ElastoPlastic) Steady(v float64) float64 { return p.Bristle.Steady(v) }

// Energy is what the bristles store (J), at the normal load N0.
func (p *ElastoPlastic) Energy(z []float64) float64 { return p.Bristle.Energy(z) }

// Bounds is |z| ≤ max(Fs, Fc)/σ0.
func (p *ElastoPlastic) Bounds(top []float64) { p.Bristle.Bounds(top) }

// Stiffness bounds the slopes of the law.
func (p *ElastoPlastic) Stiffness() Stiffness { return p.Bristle.Stiffness() }

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
