package friction

import "math"

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
	step := math.Pow(10, 1.0/25)
	for v := 1e-4 * lo; v <= 1e4*hi; v *= step {
		if p.surplus(v) < 0 {
			return false, p.onset(v/step, v)
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

// onset halves [lo, hi] down to the speed at which surplus turns negative.
func (p *LuGre) onset(lo, hi float64) float64 {
	for range 60 {
		mid := 0.5 * (lo + hi)
		if p.surplus(mid) < 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
