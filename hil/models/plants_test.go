package models_test

import (
	"math"
	"math/rand/v2"
)

// Plants for rival laws: the motor of the demo with a friction of its own, integrated here from the equations of the laws in steps of 10
// µs by the symplectic Euler scheme. Nothing of the program's laws, schemes or machines is in them.

const (
	pFc, pFs, pVs = 15e-3, 21e-3, 0.5 // N·m, N·m, rad/s
	pS0, pS1, pVd = 11.0, 0.02, 0.3   // N·m/rad, N·m·s/rad, rad/s
	pFv           = 1.5e-4            // N·m·s/rad
	pC            = 0.5               // N·m/s  attraction of slipping elements
	pElements     = 4
	pRatio        = 1.5
	pFine         = 1e-5 // s
)

// dry is the friction of a plant: the torque against the motion over the next h (s) at the speed v under the effort tau, and whether the
// axis stays at rest.
type dry interface {
	torque(h, v, tau float64) (f float64, stuck bool)
}

// stribeckLevel is the sliding level at the speed v.
func stribeckLevel(v float64) float64 {
	r := v / pVs
	return pFc + (pFs-pFc)*math.Exp(-r*r)
}

// rigidDry slides at a level and sticks below another.
type rigidDry struct {
	rest  float64
	slide func(v float64) float64
}

func (d rigidDry) torque(_, v, tau float64) (float64, bool) {
	if v == 0 {
		if math.Abs(tau) <= d.rest {
			return tau, true
		}
		return math.Copysign(d.slide(0), tau), false
	}
	return math.Copysign(d.slide(v), v), false
}

// dahlDry is ż = v·(1 − σ0·z·sgn v/Fc), F = σ0·z.
type dahlDry struct{ z float64 }

func (d *dahlDry) torque(h, v, _ float64) (float64, bool) {
	d.z += h * (v - pS0*math.Abs(v)*d.z/pFc)
	return pS0 * d.z, false
}

// lugreDry is ż = v − σ0·|v|·z/g(v), F = σ0·z + σ1(v)·ż.
type lugreDry struct{ z float64 }

func (d *lugreDry) torque(h, v, _ float64) (float64, bool) {
	dz := v - pS0*math.Abs(v)*d.z/stribeckLevel(v)
	d.z += h * dz
	return pS0*d.z + pS1*math.Exp(-v*v/(pVd*pVd))*dz, false
}

// gmsDry are springs in parallel that slip at their share of the sliding level and stick where the motion turns round.
type gmsDry struct {
	f     [pElements]float64
	slips [pElements]bool
	was   float64
}

func (d *gmsDry) torque(h, v, _ float64) (sum float64, _ bool) {
	if v*d.was < 0 {
		d.slips = [pElements]bool{}
	}
	if v != 0 {
		d.was = v
	}
	s, share := stribeckLevel(v), 1.0/pElements
	k, all := 1.0, 0.0
	for range pElements {
		all, k = all+k, k/pRatio
	}
	k = pS0 / all
	for i := range d.f {
		if d.slips[i] {
			step := pC * (math.Copysign(share, v) - d.f[i]/s)
			if top := k * math.Abs(v); step*v > 0 && math.Abs(step) > top {
				step = math.Copysign(top, step)
			}
			d.f[i] += h * step
		} else if d.f[i] += h * k * v; math.Abs(d.f[i]) >= share*s {
			d.f[i], d.slips[i] = math.Copysign(share*s, d.f[i]), true
		}
		sum += d.f[i]
		k /= pRatio
	}
	return sum, false
}

// apart is a motor with a dry friction and viscosity.
type apart struct {
	dry
	theta, omega, current float64
	viscous               float64 // N·m·s/rad
	rng                   *rand.Rand
}

func (p *apart) advance(dt, volts float64) {
	const r, l, k, drop, scale, j = 1.2, 0.6e-3, 0.042, 0.6, 0.05, 7e-5
	n := int(dt/pFine + 0.5)
	for range n {
		p.current += pFine / l * (volts - r*p.current - k*p.omega - drop*math.Tanh(p.current/scale))
		tau := k*p.current - p.viscous*p.omega
		f, stuck := p.torque(pFine, p.omega, tau)
		before := p.omega
		if p.omega += pFine / j * (tau - f); stuck || before*p.omega < 0 && rigid(p.dry) {
			p.omega = 0
		}
		p.theta += pFine * p.omega
	}
}

func rigid(d dry) bool { _, ok := d.(rigidDry); return ok }

func (p *apart) read() (angle, current float64) { return p.theta, p.current + 0.02*p.rng.NormFloat64() }
