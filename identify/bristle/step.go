package bristle

import (
	"math"

	"hilrig/engine/friction"
)

// mover advances mass and bristles by a fixed step with the mean-force midpoint rule of the engine [theory §4.3 C]: with the
// mean velocity w of the step of
//
//	2M·(w − v)/h = u − F̄(ζ, w),    v⁺ = 2w − v,    x⁺ = x + h·w,
//
// F̄ the exact mean force of the bristles at constant velocity w. Second order. What is added here are the derivatives of
// the step, which the engine does not need, by differentiating its equation: exact for the step as it is done.
type mover struct {
	h           float64 // s
	hs0         float64 // N per m/s: h·σ0
	inert       float64 // kg/s: 2M/h
	s1, s2      float64 // N·s/m
	fc, df, vs1 float64 // N, N, s/m: Coulomb level, increment, 1/vs
	fg          float64 // N
	vd1         float64 // s/m: 1/vd, 0: sigma1 does not fade
	tol         float64 // m/s, of w
	work        int     // evaluations of the equation of a step so far
}

func (m *mover) set(t *theta, h float64) {
	*m = mover{work: m.work, h: h, hs0: h * t[sigma0], inert: 2 * t[inertia] / h, s1: t[sigma1], s2: t[sigma2],
		fc: t[coulomb], df: t[breakout] - t[coulomb], vs1: 1 / t[stribeck], fg: t[offset], vd1: t.fade()}
	// Newton's method doubles its digits: a last change of 1e-3·vs, carried through, leaves less than 1e-6·vs, as long as
	// 2M/h exceeds the fall of the Stribeck curve
	m.tol = 1e-3 * t[stribeck]
}

// fade is 1/vd (s/m); 0: sigma1 does not fade.
func (t *theta) fade() float64 {
	if t[fading] > 0 {
		return 1 / t[fading]
	}
	return 0
}

// part is F̄ at the mean velocity w and what follows from it.
type part struct {
	f, fw, fz float64 // mean force, its derivatives with respect to w and ζ
	z, zw, zz float64 // ζ at the end, likewise
}

// at evaluates a step at constant velocity w from ζ = z. With a = h·σ0|w|/g the bristles relax by e^{−a}:
//
//	φ1 = (1 − e^{−a})/a,   mean of dz/dt = (|w|/g)·φ1·D,   F̄ = ζ + D·(1 − φ1) + …,   D = g·sgn w − ζ.
func (m *mover) at(w, z float64, p *part) {
	r := w * m.vs1
	bell := m.df * friction.ExpNeg(r*r)
	g, dg := m.fc+bell, -2*r*m.vs1*bell
	s := math.Copysign(1, w)
	over := 1 / g
	y := math.Abs(w) * over
	dy := (s - y*dg) * over
	a, da := m.hs0*y, m.hs0*dy
	p1, rest, slope := phi(a)

	miss, dmiss := s*g-z, s*dg
	rate := miss * y * p1
	drate := (dmiss*y+miss*dy)*p1 - miss*y*slope*da
	s1, ds1 := m.s1, 0.0
	if m.vd1 > 0 {
		q := w * m.vd1
		s1 *= friction.ExpNeg(q * q)
		ds1 = -2 * q * m.vd1 * s1
	}
	p.f = z + miss*rest + s1*rate + m.s2*w + m.fg
	p.fw = dmiss*rest + miss*slope*da + s1*drate + ds1*rate + m.s2
	p.fz = p1 * (1 - s1*y)
	p.z = z + m.hs0*rate
	p.zw = m.hs0 * drate
	p.zz = 1 - a*p1
}

// phi returns φ1(a), 1 − φ1(a) without cancellation, and the derivative of the latter, for a ≥ 0.
func phi(a float64) (p1, rest, slope float64) {
	if a < 0.03 { // truncated behind a⁵, 2e-13 of the result
		q := a * a
		rest = a * ((1.0/2 - a*(1.0/6)) + q*((1.0/24-a*(1.0/120))+q*(1.0/720)))
		slope = (1.0/2 - a*(1.0/3)) + q*((1.0/8-a*(1.0/30))+q*(1.0/144))
		return 1 - rest, rest, slope
	}
	e := friction.ExpNeg(a)
	p1 = (1 - e) / a
	return p1, 1 - p1, (p1 - e) / a
}

// tangent is the derivative of one or more steps: of (x, v, ζ) at the end with respect to (v, ζ) at the beginning and to
// the force. With respect to x it is (1, 0, 0).
type tangent struct {
	xv, xz, xu float64
	vv, vz, vu float64
	zv, zz, zu float64
}

// state is where the mass is.
type state struct{ x, v, z float64 }

// move advances s by a step under the mean force u, and continues the tangent t over it. guess is an estimate of w.
// ok is false if w was not found; the state is then the best that was.
func (m *mover) move(s *state, u, guess float64, t *tangent) (w float64, ok bool) {
	var p part
	w = guess
	lo, hi := math.Inf(-1), math.Inf(1)
	for range 30 {
		m.at(w, s.z, &p)
		m.work++
		res := m.inert*(w-s.v) + p.f - u
		slope := m.inert + p.fw
		if res > 0 {
			hi = w
		} else {
			lo = w
		}
		d := -res / slope
		if math.Abs(d) <= m.tol && slope > 0 {
			// the last correction is carried through to first order
			w += d
			p.z += p.zw * d
			ok = true
			break
		}
		// the residual rises with w; its derivative jumps at w = 0, where Newton's method may go to and fro
		if next := w + d; slope > 0 && next > lo && next < hi {
			w = next
		} else if !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
			w = (lo + hi) / 2
		} else {
			w -= math.Copysign(2*(math.Abs(w-s.v)+m.tol), res)
		}
	}

	// derivatives of w follow from those of its equation
	k := 1 / (m.inert + p.fw)
	wv, wz, wu := k*m.inert, -k*p.fz, k
	*t = tangent{
		xv: t.xv + m.h*(wv*t.vv+wz*t.zv), xz: t.xz + m.h*(wv*t.vz+wz*t.zz), xu: t.xu + m.h*(wv*t.vu+wz*t.zu+wu),
		vv: (2*wv-1)*t.vv + 2*wz*t.zv, vz: (2*wv-1)*t.vz + 2*wz*t.zz, vu: (2*wv-1)*t.vu + 2*wz*t.zu + 2*wu,
		zv: p.zw*wv*t.vv + (p.zz+p.zw*wz)*t.zv, zz: p.zw*wv*t.vz + (p.zz+p.zw*wz)*t.zz, zu: p.zw*wv*t.vu + (p.zz+p.zw*wz)*t.zu + p.zw*wu,
	}
	s.x += m.h * w
	s.v = 2*w - s.v
	s.z = p.z
	return w, ok
}
