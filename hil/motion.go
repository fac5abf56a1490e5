package hil

import (
	"math"

	"hilrig/engine/reference"
)

// motion is the reference as the loop uses it: a generator that starts, pauses and changes scale without a jump. The
// desired motion is base·(1−s) + (scale·gen + offset)·s, where s rises from 0 to 1 over the fade time.
type motion struct {
	gen  reference.Generator
	fade float64 // s

	wantScale, wantOffset float64
	scale, offset         float64
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
		m.scale, m.offset, m.set = m.wantScale, m.wantOffset, true
	}
}

// pause freezes the reference at θ.
func (m *motion) pause(theta float64) { m.base, m.paused = theta, true }

// step advances by dt and gives position, velocity and acceleration.
func (m *motion) step(dt float64) (pos, vel, acc float64) {
	if m.paused {
		return m.base, 0, 0
	}
	// a changed scale or offset is approached with the fade time as time constant
	k := 1.0
	if m.fade > 0 {
		k = -math.Expm1(-3 * dt / m.fade)
	}
	ds, do := (m.wantScale-m.scale)*k, (m.wantOffset-m.offset)*k
	m.scale += ds
	m.offset += do
	m.t += dt
	m.s += dt
	p, v, a := m.gen.At(m.t)
	p, v, a = m.scale*p+m.offset, m.scale*v+(ds*p+do)/dt, m.scale*a
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
