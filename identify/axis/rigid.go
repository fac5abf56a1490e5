package axis

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
)

// The variational equations of a contact with a rigid stick mode. A part of a step that slides solves what tangent.go says, with the
// friction f(|w|) of the speed alone. Where the body comes to rest within it, at the share q = v/(2(v − w)), the time of arrest
// moves too, and with it the beginning and the length of the part behind; so it does where the load crosses the break-away level L,
//
//	δτ = (δL − s·δu)/(s·∂u/∂t),   s the direction of the slip.
//
// At rest δv = 0. A held force jumps past the level between two samples. Then the slip begins at a sample, and at the next one as soon
// as the level is above the force: the derivative is zero, but for jumps by the acceleration (L − f(0))/M over an interval. Over many
// slips these come to what a force would do that runs straight from sample to sample, δv = −s·(L − f(0))/M·δτ, and that is taken.

// stepRigid moves a body with such a contact, and its derivatives, by h (s).
func (t *tangent) stepRigid(h float64, columns []int) engine.Status {
	b := t.b
	x, v := b.x[0], b.x[1]
	r := b.mass.Step(h, b.x, &b.loads)
	if r.Status == engine.NonFinite {
		return r.Status
	}
	end := b.x[1]
	switch {
	case r.Parts == 1 && v*end > 0:
		t.slide(&friction.Part{H: h, MeanLength: h, V: v, W: r.W, EndVelocity: end}, x, columns, false)
	case r.Parts == 1 && v == 0 && end == 0:
		t.rest(columns)
	default:
		t.events(h, x, v, columns)
	}
	t.restForce = math.NaN()
	if b.x[1] == 0 {
		t.restForce, _, _ = b.loads.At(h, b.x[0], 0)
	}
	return r.Status
}

// rest keeps the velocity at zero.
func (t *tangent) rest(columns []int) {
	for _, j := range columns {
		t.sv[j] = 0
	}
}

// events goes through the parts of a step of h (s) that began at x (m) and v (m/s).
func (t *tangent) events(h, x, v float64, columns []int) {
	b := t.b
	after := [2]float64{b.x[0], b.x[1]}
	b.x[0], b.x[1] = x, v
	t.parts = t.parts[:0]
	t.rigidContact.Parts(&t.parts, b.mass.M, b.x, friction.Input{Dt: h, N: b.mass.N, I: b.mass.I}, &b.loads)
	b.x[0], b.x[1] = after[0], after[1]
	for _, j := range columns {
		t.st[j] = 0
	}
	moved := false // the times of the parts
	for i := range t.parts {
		switch p := &t.parts[i]; {
		case p.Freed != 0 && p.Jumped:
			t.jump(p, x, columns)
		case p.Freed != 0:
			moved = t.release(p, x, columns) || moved
		case p.V == 0 && p.EndVelocity == 0: // fell back at once
			t.rest(columns)
		default:
			t.slide(p, x, columns, moved)
			if p.EndVelocity != 0 {
				x += p.H * p.W
			} else {
				x, moved = x+p.H*p.V/2, true
			}
		}
	}
	if after[1] == 0 {
		t.rest(columns)
	}
}

// slide is a part in which the body slides, from x on.
func (t *tangent) slide(p *friction.Part, x float64, columns []int, moved bool) {
	b, l, h, v, w := t.b, &t.b.loads, p.MeanLength, p.V, p.W
	dir, speed := 1.0, w
	if v < 0 || v == 0 && w < 0 {
		dir, speed = -1, -w
	}
	d := t.slopes.Force
	fall := t.rigidContact.SlidingSlopes(friction.Input{Dt: h, V: max(speed, 0), N: b.mass.N, I: b.mass.I}, t.exponent, d)
	if speed < 0 {
		fall = 0
	}
	xm, inertia := x+h/2*w, 2*b.mass.M/h
	_, ux, uv := l.At(p.Tau+h/2, xm, w)
	over := 1 / (inertia - h/2*ux - uv + fall)
	by := [...]float64{2 / h * (w - v), 1, xm, 0, 0, w, math.Abs(w)}
	if l.turns {
		by[3], by[4] = math.Sincos(xm)
	}
	longer, later := inertia/h*(w-v)+ux*w/2, (l.du+l.kd*l.dp)/2
	bends := t.bends[0]
	for _, j := range columns {
		rhs := inertia*t.sv[j] + ux*t.sx[j] + t.du[j]
		if j < len(bends) {
			for _, m := range bends[j] {
				rhs -= dir * d[m.place] * m.rate
			}
			for _, m := range t.placeMoves[j] {
				rhs -= m.rate * by[m.place]
			}
		}
		dh := 0.0
		if moved {
			dh = -t.st[j]
			rhs += (longer - later) * dh
		}
		dw, dv := rhs*over, t.sv[j]
		if p.EndVelocity != 0 {
			t.sx[j] += h*dw + w*dh
			t.sv[j] = 2*dw - dv
			continue
		}
		fast := 0.5 / (v - w)
		dH := p.H/h*dh + h*fast*(dv-2*v*fast*(dv-dw))
		t.sx[j] += (dH*v + p.H*dv) / 2
		t.sv[j] = 0
		t.st[j] += dH
	}
}

// excessSlope is by how much the level exceeds the load in the direction dir, for every newton and metre by which column j moves them.
func (t *tangent) excessSlope(j int, dir, x, ux float64) float64 {
	du := ux*t.sx[j] + t.du[j]
	level := 0.0
	if j < len(t.bends[0]) {
		for _, m := range t.bends[0][j] {
			level += t.level[m.place] * m.rate
		}
		by := [...]float64{0, 1, x, 0, 0, 0, 0}
		if t.b.loads.turns {
			by[3], by[4] = math.Sincos(x)
		}
		for _, m := range t.placeMoves[j] {
			du -= m.rate * by[m.place]
		}
	}
	return level - dir*du
}

// release is where the load crosses the level within the step; false where it does not rise.
func (t *tangent) release(p *friction.Part, x float64, columns []int) bool {
	l := &t.b.loads
	rate := p.Freed * (l.du + l.kd*l.dp)
	if !(rate > 0) {
		return false
	}
	t.rigidContact.LevelSlopes(friction.Input{N: t.b.mass.N, I: t.b.mass.I}, t.level)
	_, ux, _ := l.At(p.Tau+p.H, x, 0)
	for _, j := range columns {
		t.st[j] += t.excessSlope(j, p.Freed, x, ux) / rate
		t.sv[j] = 0
	}
	return true
}

// jump is where the load has passed the level between two samples.
func (t *tangent) jump(p *friction.Part, x float64, columns []int) {
	drop := t.rigidContact.LevelSlopes(friction.Input{N: t.b.mass.N, I: t.b.mass.I}, t.level)
	u, ux, _ := t.b.loads.At(p.Tau, x, 0)
	rise := p.Freed * (u - t.restForce)
	if !(rise > 0) || drop == 0 || p.Tau > 0 {
		return
	}
	for _, j := range columns {
		t.sv[j] -= p.Freed * drop / t.b.mass.M * t.excessSlope(j, p.Freed, x, ux) * t.dt / rise
	}
}
