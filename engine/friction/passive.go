package friction

import (
	"iter"
	"math"
)

// speeds is a logarithmic grid from lo to hi (m/s). It ends, whatever its ends are: what lies outside 1e-60 to 1e60 is cut.
func speeds(lo, hi float64, perDecade float64) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		step := math.Pow(10, 1/perDecade)
		for v := max(lo, 1e-60); v <= min(hi, 1e60) && yield(v); v *= step {
		}
	}
}

// onset halves [lo, hi] down to the speed at which active becomes true.
func onset(lo, hi float64, active func(v float64) bool) float64 {
	for range 60 {
		if mid := 0.5 * (lo + hi); active(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// Passive tells whether the port from velocity to force is passive for every motion that starts with |z| ≤ Fs/σ0: no
// motion takes more work out of the contact than was put in. If not, speed is the lowest speed (m/s) at which the contact
// can be active, +Inf when it is so in the limit of high speed only. The offset is a load, not friction, and left out.
//
// With V = σ0·z²/2 and y = σ0·z·sgn(v)/g the balance of the continuous law is, exactly,
//
//	F·v − dV/dt = g·|v|·y² + v²·(σ2 + σ1(v)·(1 − y)),
//
// and y reaches at most Fs/g. The right-hand side is a parabola in y; it is checked at its lowest admissible point for
// every speed of a logarithmic grid (25 a decade, from 1e-4 to 1e4 times the characteristic speeds), and in the limit.
// For constant σ1 the limit is the condition of [BO00], σ2 ≥ σ1·(Fs − Fc)/Fc; σ1(v) ≤ 4·g(v)/|v| is sufficient without
// any viscous friction [C95].
func (p *LuGre) Passive() (ok bool, speed float64) {
	lo, hi := p.Vs, p.Vs
	if p.Vd > 0 {
		lo, hi = min(lo, p.Vd), max(hi, p.Vd)
	}
	// speed at which the relaxation and the damping of the bristles balance
	if p.Sigma1 > 0 {
		v := p.Fc / p.Sigma1
		lo, hi = min(lo, v), max(hi, v)
	}
	const perDecade = 25
	active := func(v float64) bool { return p.surplus(v) < 0 }
	for v := range speeds(1e-4*lo, 1e4*hi, perDecade) {
		if active(v) {
			return false, onset(v/math.Pow(10, 1.0/perDecade), v, active)
		}
	}
	// v → ∞: g → Fc, the v² term decides
	if top := max(p.Fs, p.Fc) / p.Fc; p.Vd == 0 && p.Sigma2+p.Sigma1*(1-top) < 0 {
		return false, math.Inf(1)
	}
	return true, 0
}

// surplus is the least value over all admissible deflections of (F·v − dV/dt)/|v| (N), at speed v > 0.
func (p *LuGre) surplus(v float64) float64 {
	g, s1 := p.g(v), p.sigma1(v)
	top := max(p.Fs, p.Fc) / g
	y := min(top, s1*v/(2*g))
	return g*y*y + v*(p.Sigma2+s1*(1-y))
}

// Remedy proposes how fast the bristle damping should fade: the largest vd (m/s) for which σ1·exp(−(v/vd)²) < g(v)/|v| at
// every speed. That makes the law passive whatever σ2 is, and lets the force lag a varying velocity in the right direction
// (larger while the speed rises, in the falling part of the Stribeck curve). Any smaller vd does so too. ok is false when
// there is nothing to fade, σ1 = 0.
//
// Where σ1·v ≤ g the condition holds for any vd; elsewhere it reads vd < v/√ln(σ1·v/g(v)), so vd is the minimum of the
// right-hand side, found on a logarithmic grid (100 a decade) and refined by halving. With g = Fc it is √(2e)·Fc/σ1. A
// thousandth is taken off, because the inequality is strict.
func (p *LuGre) Remedy() (vd float64, ok bool) {
	if p.Sigma1 == 0 {
		return 0, false
	}
	// the minimum lies above the speed where σ1·v first meets g, and below the one where v alone outgrows the bound for the
	// largest g: v/√ln(σ1·v/gmin) > √(2e)·gmax/σ1
	top, low := max(p.Fs, p.Fc), min(p.Fs, p.Fc)
	bound := math.Sqrt(2*math.E) * top / p.Sigma1
	if !(bound < maxSpeed) {
		return maxSpeed, true
	}
	limit := func(v float64) float64 {
		if l := math.Log(p.Sigma1 * v / p.g(v)); l > 0 {
			return v / math.Sqrt(l)
		}
		return math.Inf(1)
	}
	const perDecade = 100
	best := 0.0
	vd = math.Inf(1)
	for v := range speeds(low/p.Sigma1, math.Inf(1), perDecade) {
		if !(v/math.Sqrt(math.Log(p.Sigma1*v/low)+1) < bound) {
			break
		}
		if l := limit(v); l < vd {
			best, vd = v, l
		}
	}
	// halve the stride around the best point of the grid
	for d := math.Pow(10, 0.5/perDecade); d-1 > 1e-8; d = math.Sqrt(d) {
		for _, v := range [2]float64{best / d, best * d} {
			if l := limit(v); l < vd {
				best, vd = v, l
			}
		}
	}
	return min(0.999*vd, maxSpeed), true
}
