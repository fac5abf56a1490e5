package axis

import (
	"hilrig/engine/reference"
)

// motion is the reference as the loop uses it: a generator that starts, pauses and changes scale without a jump. The
// desired motion is base·(1−s) + (scale·gen + offset)·s, where s rises from 0 to 1 over the fade time.
type motion struct {
	gen  reference.Generator
	fade float64 // s

	wantScale, wantOffset float64
	scale, offset         glide
	t                     float64 // s  time in the generator
	s                     float64 // s  time since start
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
	ks, ds, dds := m.scale.follow(m.wantScale, w, dt)
	ko, do, ddo := m.offset.follow(m.wantOffset, w, dt)
	p, v, a := m.gen.At(m.t)
	p, v, a = ks*p+ko, ks*v+ds*p+do, ks*a+2*ds*v+dds*p+ddo
	if m.fade <= 0 || m.s >= m.fade {
		return p, v, a
	}
	// quintic blend: position, velocity and acceleration are continuous
	x := m.s / m.fade
	s := x * x * x * (10 + x*(-15+6*x))
	d := 30 * x * x * (1 - x) * (1 - x) / m.fade
	dd := 60 * x * (1 - x) * (1 - 2*x) / (m.fade * m.fade)
	q := p - m.base
	return m.base + s*q, s*v + d*q, s*a + 2*d*v + dd*q
}

// glide follows a number that jumps, critically damped, so that what is multiplied by it keeps a continuous velocity.
type glide struct{ x, dx float64 }

// follow advances by dt towards want with the natural frequency w (1/s; 0 or too fast for the step: jump) and gives the
// value with its two derivatives; where it has arrived it stays. The step is implicit in both states: stable for any w·dt.
func (g *glide) follow(want, w, dt float64) (x, dx, ddx float64) {
	if w <= 0 || w*dt > 1 || g.x == want && g.dx == 0 {
		g.x, g.dx = want, 0
		return want, 0, 0
	}
	// dx⁺ = dx + dt·(w²(want − x⁺) − 2w·dx⁺), x⁺ = x + dt·dx⁺
	q := w * dt
	before := g.dx
	g.dx = (g.dx + q*w*(want-g.x)) / (1 + 2*q + q*q)
	g.x += dt * g.dx
	return g.x, g.dx, (g.dx - before) / dt
}
