package axis

import (
	"math"

	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// motion is the reference as the loop uses it: a generator that starts, pauses and changes scale without a jump. The
// desired motion is base·(1−s) + (scale·gen + offset)·s, where s rises from 0 to 1 over the fade time, or over a longer one: what the
// way to the reference adds to its own speed stays below approach, and so does what a change of scale or offset adds.
type motion struct {
	gen      reference.Generator
	fade     float64 // s
	approach float64 // rad/s  0: no limit

	wantScale, wantOffset float64
	scale, offset         glide
	t                     float64 // s  time in the generator
	s                     float64 // s  time since start
	length                float64 // s  of the fade since then
	base                  float64 // rad  where the axis was at the start
	paused                bool
	set                   bool
}

// start begins at position θ; after a pause the generator goes on where it was.
func (m *motion) start(theta float64, resume bool) {
	m.base, m.s, m.paused = theta, 0, false
	if !resume {
		m.t = 0
	}
	if !m.set || !resume {
		m.scale, m.offset, m.set = glide{x: m.wantScale}, glide{x: m.wantOffset}, true
	}
	if m.length = m.fade; m.approach > 0 {
		p, _, _ := m.gen.At(m.t)
		m.length = max(m.fade, 15./8*math.Abs(m.scale.x*p+m.offset.x-theta)/m.approach) // the top speed of the blend is 15/8 of its mean
	}
}

// pause freezes the reference at θ.
func (m *motion) pause(theta float64) { m.base, m.paused = theta, true }

// step advances by dt and gives position, velocity and acceleration.
func (m *motion) step(dt float64) (pos, vel, acc float64) {
	if m.paused {
		return m.base, 0, 0
	}
	m.t += dt
	m.s += dt
	w := 0.0
	if m.fade > 0 {
		w = 6 / m.fade
	}
	p, v, a := m.gen.At(m.t)
	most := math.Inf(1)
	if m.approach > 0 {
		most = m.approach
	}
	ks, ds, dds := m.scale.limited(m.wantScale, w, dt, most/math.Abs(p))
	ko, do, ddo := m.offset.limited(m.wantOffset, w, dt, most)
	p, v, a = ks*p+ko, ks*v+ds*p+do, ks*a+2*ds*v+dds*p+ddo
	if m.length <= 0 || m.s >= m.length {
		return p, v, a
	}
	// quintic blend: position, velocity and acceleration are continuous
	x, q := m.s/m.length, p-m.base
	d := 30 * x * x * (1 - x) * (1 - x) / m.length
	dd := 60 * x * (1 - x) * (1 - 2*x) / (m.length * m.length)
	// the reference has moved away since the start: time in the blend goes slower, so that d·q stays
	if fast := math.Abs(d * q); fast > most {
		m.s -= dt * (1 - most/fast)
		x = m.s / m.length
		d *= most / fast
		dd = -d * v / q
	}
	s := x * x * x * (10 + x*(-15+6*x))
	return m.base + s*q, s*v + d*q, s*a + 2*d*v + dd*q
}

// glide follows a number that jumps, critically damped, so that what is multiplied by it keeps a continuous velocity.
type glide struct{ x, dx float64 }

// follow is limited without a limit.
func (g *glide) follow(want, w, dt float64) (x, dx, ddx float64) {
	return g.limited(want, w, dt, math.Inf(1))
}

// limited advances by dt towards want with the natural frequency w (1/s; 0 or too fast for the step: jump), at most as fast as most (1/s),
// and gives the value with its two derivatives; where it has arrived it stays. The step is implicit in both states: stable for any w·dt.
// It does not overshoot where it was held back: it leaves the limit at a distance of 2·most/w, from which it comes to rest by itself.
func (g *glide) limited(want, w, dt, most float64) (x, dx, ddx float64) {
	before := g.dx
	switch {
	case g.x == want && g.dx == 0:
		return want, 0, 0
	case w <= 0 || w*dt > 1:
		if math.Abs(want-g.x) <= most*dt {
			g.x, g.dx = want, 0
			return want, 0, 0
		}
		g.dx = math.Copysign(most, want-g.x)
	default:
		// dx⁺ = dx + dt·(w²(want − x⁺) − 2w·dx⁺), x⁺ = x + dt·dx⁺
		q := w * dt
		g.dx = (g.dx + q*w*(want-g.x)) / (1 + 2*q + q*q)
		g.dx = min(most, max(-most, g.dx))
	}
	g.x += dt * g.dx
	return g.x, g.dx, (g.dx - before) / dt
}

// approachShare is the part of the top speed of an axis with which it goes to its reference, where nothing else is said.
const approachShare = 0.1

// approach is the limit of the speed (rad/s) of the way to the reference; 0: there is none.
func (s *Spec) approach() float64 {
	switch {
	case s.RefKind != OfPosition:
		return 0
	case s.Approach > 0:
		return s.Approach
	}
	return approachShare * s.topSpeed()
}

// topSpeed is the largest speed (rad/s) that is declared, or that the largest command can make; 0: not known.
func (s *Spec) topSpeed() float64 {
	switch {
	case s.MaxSpeed > 0:
		return s.MaxSpeed
	case s.Drive == plant.VelocityDrive:
		return s.TopCommand
	case s.Drive == plant.VoltageDrive && s.Motor.K > 0:
		return s.TopCommand / s.Motor.K
	}
	return 0
}
