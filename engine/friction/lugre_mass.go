package friction

import "math"

// quickRel is the tolerance of the velocity of a step of LuGreMass. Derivatives by differences of simulations want it far below that of
// Mass, whose last evaluation is usually far better than its tolerance too.
const quickRel = 3e-12

// LuGreMass takes the steps of Midpoint of a mass on LuGre friction under a load that is linear in position and velocity, as a fit takes
// them by the million. It solves the same equation as Mass does, to the same tolerance, with fewer evaluations:
//
//   - Newton's method starts where the steps before lead: the change of the load moves the velocity by itself, at the slope of the step
//     before,
//     and what else changed goes on as a straight line. A load that is held over several steps jumps, and the rest does not.
//   - One evaluation is enough where the curvature says so: behind a Newton step d the velocity is off by at most bound·d²/slope. Force and
//     deflection follow with their derivatives. Where that bound is too large, the second derivatives at the place take part in the step.
//
// What it cannot take so, a step through the velocity zero above all, is refused and belongs to Mass. Where both take a step they agree
// within the tolerance.
type LuGreMass struct {
	mass *Mass
	law  *LuGre

	h, inertia    float64 // s, kg/s
	overVs, hs    float64 // s/m, N·s/m: h·σ0
	dip, minLevel float64 // N: Fs − Fc, and what g never falls below
	k             float64 // factor of all forces by the normal load
	bound         float64 // half the largest |∂²F/∂w²| of force and bristle
	creep         float64 // m/s, added to the velocity that the tolerance is relative to
	u, slope      float64 // N, kg/s: of the step before; slope 0: there is none
	gained        float64 // m/s, w − v of the step before
	drift, older  float64 // m/s, change of that from step to step without what the load did, of the step before and of that before it
	evals         int     // so far

	// of the evaluation with which the last step was taken
	W                    float64 // m/s, with the last correction
	w, z, e, r, g, dg    float64
	s, y, p1, rest, bend float64
	s1, ds1, rate, miss  float64
	forceV, stateV       float64
}

// Bristle is the mass as a LuGreMass; nil: it is on another law, or in another scheme.
func (b *Mass) Bristle() *LuGreMass {
	if b.lugre == nil || b.scheme != Midpoint {
		return nil
	}
	return &LuGreMass{mass: b, law: b.lugre}
}

// Begin takes the parameters of mass and law as they are now, for steps of h (s) from a state at which no step has ended.
func (m *LuGreMass) Begin(h float64) {
	p := m.law
	m.h, m.inertia, m.overVs, m.hs = h, 2*m.mass.M/h, 1/p.Vs, h*p.Sigma0
	m.dip, m.minLevel, m.k = p.Fs-p.Fc, min(p.Fs, p.Fc), 1
	m.creep = 1e-3 * p.Vs
	m.slope, m.gained, m.drift, m.older = 0, 0, 0, 0
	// With κ = hσ0, y = |w|/g, a = κy, R = 1 − φ1(a), E = 1 − e^{−a} and the missing force D = g·sgn w − ζ,
	//
	//	F̄ = ζ + D·R + (σ1/κ)·D·E + σ2·w,   z⁺ = z + D·E/σ0,   |D| ≤ 2·max g,  R, E ≤ 1,  R' ≤ ½,  |R″| ≤ ⅓ by a,
	//
	// and the bell of g has slopes of at most √(2/e)·|Fs − Fc|/vs and 2·|Fs − Fc|/vs². A fading σ1 is a bell of its own.
	top, dip := max(p.Fs, p.Fc), math.Abs(m.dip)
	g1, g2 := math.Sqrt(2/math.E)*dip*m.overVs, 2*dip*m.overVs*m.overVs
	y1 := (top + 0.74*dip) / (m.minLevel * m.minLevel)
	y2 := (2*g1*y1 + 1.6*dip*m.overVs/m.minLevel) / m.minLevel
	a1, a2, d := m.hs*y1, m.hs*y2, 2*top
	ends := g2 + 2*g1*a1 + d*(a2+a1*a1) // of D·E
	bend := g2 + g1*a1 + d*(a1*a1/3+a2/2) + (p.Sigma1/m.hs+1)*ends
	if p.Vd > 0 {
		f1, f2 := math.Sqrt(2/math.E)/p.Vd, 2/(p.Vd*p.Vd)
		bend += p.Sigma1 / m.hs * (2*f1*(g1+d*a1) + f2*d)
	}
	m.bound = 0.5 * bend
}

// Step advances x = [position m, velocity m/s, deflection m] by h under the load u − kx·x − kv·v, u (N) being its mean over the
// step. False: x is as it was, and Mass has to take the step.
func (m *LuGreMass) Step(x []float64, u, kx, kv float64) bool {
	p, h, x0, v, z := m.law, m.h, x[0], x[1], x[2]
	if p.N0 > 0 {
		m.k = p.load(m.mass.N)
	}
	drag := kv + 0.5*h*kx
	w, pushed := v+m.gained, 0.0 // m/s, by the change of the load
	if m.slope > 0 {
		pushed = (u - m.u) / m.slope
		w += pushed + 2*m.drift - m.older
	}
	held := u - kx*x0 - p.Offset + m.inertia*v // what does not depend on w
	zeta := p.Sigma0 * z
	for range 4 {
		m.evals++
		r := w * m.overVs
		e := expNeg(r * r)
		g, dg := p.Fc+m.dip*e, -2*r*m.overVs*e*m.dip
		if g < m.minLevel {
			g = m.minLevel // rounding only
		}
		s1, ds1 := p.Sigma1, 0.0
		if p.Vd != 0 {
			s1, ds1 = p.sigma1Slope(w)
		}
		s := math.Copysign(1, w)
		over := 1 / g
		y := math.Abs(w) * over
		dy := (s - y*dg) * over
		p1, rest, bend := phiRest(m.hs * y)
		da := m.hs * dy
		miss, dmiss := s*g-zeta, s*dg
		rate := miss * y * p1
		drate := (dmiss*y+miss*dy)*p1 - miss*y*bend*da
		f := m.k * (zeta + miss*rest + s1*rate + p.Sigma2*w)
		df := m.k * (dmiss*rest + miss*bend*da + ds1*rate + s1*drate + p.Sigma2)
		slope := m.inertia + drag + df
		step := (held - (m.inertia+drag)*w - f) / slope
		next := w + step
		if !(slope > 0) || !(w*next > 0) || math.IsInf(next, 0) {
			return false
		}
		small, bent := quickRel*(math.Abs(next)+m.creep)*slope, 0.0
		if m.k*m.bound*step*step > small {
			// the curvature here, and the sum of the sizes of its terms, which stands for its change over the step
			a := m.hs * y
			left := 1 - a*p1
			third := -1.0/3 + a*(1.0/4-a*(1.0/10-a*(1.0/36))) // ∂²R/∂a²
			if a > 0.1 {
				third = (left - 2*bend) / a
			}
			ddg := m.dip * e * (4*r*r - 2) * m.overVs * m.overVs
			dda := -m.hs * (2*dg*dy + y*ddg) * over
			ends := [3]float64{s * ddg * a * p1, 2 * dmiss * left * da, miss * left * (dda - da*da)}
			bends := [3]float64{s * ddg * rest, 2 * dmiss * bend * da, miss * (third*da*da + bend*dda)}
			in := 1 / m.hs
			ddrate := (ends[0] + ends[1] + ends[2]) * in
			curve := m.k * (bends[0] + bends[1] + bends[2] + s1*ddrate + 2*ds1*drate)
			size := math.Abs(bends[0]) + math.Abs(bends[1]) + math.Abs(bends[2]) + (math.Abs(ends[0])+math.Abs(ends[1])+math.Abs(ends[2]))*(1+s1*in)
			sharp := math.Abs(da) + 2*m.overVs
			if p.Vd != 0 {
				in := 1 / p.Vd
				dds1 := s1 * (4*w*w*in*in - 2) * in * in
				curve += m.k * dds1 * rate
				size += math.Abs(dds1*rate) + 2*math.Abs(ds1*drate)
				sharp += 2 * in
			}
			if m.k*size*step*step*math.Abs(step)*2*sharp > small {
				w = next
				continue
			}
			step -= 0.5 * curve * step * step / slope
			next, bent = w+step, 0.5*ddrate*step*step
			if !(w*next > 0) {
				return false
			}
		}
		m.w, m.z, m.e, m.r, m.g, m.dg = w, z, e, r, g, dg
		m.s, m.y, m.p1, m.rest, m.bend = s, y, p1, rest, bend
		m.s1, m.ds1, m.rate, m.miss = s1, ds1, rate, miss
		m.forceV, m.stateV = df, h*drate
		m.W = next
		if m.slope > 0 {
			m.older, m.drift = m.drift, next-v-m.gained-pushed
		}
		m.gained = next - v
		m.u, m.slope = u, slope
		x[0] = x0 + h*next
		x[1] = 2*next - v
		x[2] = z + h*(rate+drate*step+bent)
		return true
	}
	return false
}

// Skip says that Mass took a step, from velocity v at the mean velocity w (m/s): the next one starts from there.
func (m *LuGreMass) Skip(v, w float64) { m.slope, m.gained, m.drift, m.older = 0, w-v, 0, 0 }

// Slopes are those of the last step, as TrialSlopes gives them, without another evaluation.
func (m *LuGreMass) Slopes(d *Slopes) {
	p, h := m.law, m.h
	w, z, s := m.w, m.z, m.s
	zeta, b := p.Sigma0*z, m.hs*m.y
	over := 1 / m.g
	over0 := 1 / p.Sigma0
	k := m.miss * (m.p1 - b*m.bend)
	yp := m.y * m.p1
	rateZeta, rateG, rate0 := -yp, (s*yp - k*m.y*over), -m.miss*m.y*m.bend*b*over0
	aZeta, aG, a0 := -m.rest, s*m.rest-m.miss*m.bend*b*over, m.miss*m.bend*b*over0
	forceZeta, forceG := m.k*(1+aZeta+m.s1*rateZeta), m.k*(aG+m.s1*rateG)
	d.ForceZ, d.StateZ = p.Sigma0*forceZeta, 1+m.hs*rateZeta
	d.ForceV, d.StateV = m.forceV, m.stateV
	f, x := d.Force[:9], d.State[:9]
	f[0], x[0] = m.k*(a0+m.s1*rate0)+z*forceZeta, h*(rate0+z*rateZeta)
	share := 1.0
	if p.Vd > 0 && p.Sigma1 > 0 {
		share = m.s1 / p.Sigma1
	}
	f[1], x[1] = m.k*share*m.rate, 0
	f[2], x[2] = m.k*w, 0
	hg := h * rateG
	f[3], x[3] = forceG*(1-m.e), hg*(1-m.e)
	f[4], x[4] = forceG*m.e, hg*m.e
	dip := m.dip * m.e * 2 * m.r * m.r * m.overVs // ∂g/∂vs
	f[5], x[5] = forceG*dip, hg*dip
	f[6], x[6] = 0, 0
	if p.Vd > 0 {
		q := w / p.Vd
		f[6] = m.k * m.rate * m.s1 * 2 * q * q / p.Vd
	}
	f[7], x[7] = 1, 0
	f[8], x[8] = 0, 0
	if p.N0 > 0 && m.mass.N > 0 {
		f[8] = -m.k / p.N0 * (zeta + m.miss*m.rest + m.s1*m.rate + p.Sigma2*w)
	}
}
