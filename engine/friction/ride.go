package friction

import (
	"math"

	"hilrig/engine"
)

// The machine described in rigid.go.

// maxParts is far more than any step needs that resolves its load at all: only a body that turns round at once, again and
// again, gets there.
const maxParts = 8

// rider is one step of a mass under such a contact.
type rider struct {
	c     contact // nil: line
	line  straight
	m     float64
	x, z  []float64
	input Input
	load  Load

	dir        float64 // direction of the slip, 0 while stuck
	arrested   bool    // arrested at the beginning of this part
	stuckToEnd bool    // stays stuck until the end of the step

	log *[]Part // of what was done; nil: nobody asks
}

// glide is stepContact for the straight contact in the two cases that nearly every step is: stuck throughout, or slipping
// throughout under a linear load. If it is neither, x is as it was, and stepContact has to do it. r is written in place: copies of
// it would cost as much as the step.
func (l straight) glide(r *MassStep, m, h float64, x []float64, load Load) bool {
	x0, v := x[0], x[1]
	load.Span(0, h, x0)
	if v == 0 {
		end, _, _ := load.At(h, x0, 0)
		mean, _, _ := load.At(h/2, x0, 0)
		if math.Abs(end) <= l.fs && math.Abs(mean) <= l.fs {
			r.W, r.F, r.Load, r.Work, r.Evals, r.Parts, r.Status = 0, mean, mean, 0, 1, 1, engine.OK
			return true
		}
		return false
	}
	// closed form of the mean speed, confirmed by the residual: the load need not be linear
	u, dx, dv := load.At(h/2, x0+h/2*v, v)
	dir := math.Copysign(1, v)
	s0, inertia := dir*v, 2*m/h
	s := s0 + (dir*u-l.fc-l.fv*s0)/(inertia-h/2*dx-dv+l.fv)
	if 2*s > s0 {
		w := dir * s
		u, _, _ = load.At(h/2, x0+h/2*w, w)
		f := l.fc + l.fv*s
		if res := inertia*(s-s0) - dir*u + f; math.Abs(res) <= wRel*(inertia*s+f) {
			x[0] = x0 + h*w
			x[1] = 2*w - v
			r.W, r.F, r.Load, r.Work, r.Evals, r.Parts, r.Status = w, dir*f, u, f*s*h, 2, 1, engine.OK
			return true
		}
	}
	return false
}

// rideLine is stepContact for the straight contact.
func rideLine(r *MassStep, line straight, m float64, x []float64, in Input, load Load) {
	if !line.glide(r, m, in.Dt, x, load) {
		stepContact(r, nil, line, m, x, in, load)
	}
}

// stepContact advances x by in.Dt under the contact c, or under the line if c is nil, and sets every field of res. A non-finite load
// leaves x as it was, or, if it shows up only behind an event, as it was at the event.
func stepContact(res *MassStep, c contact, line straight, m float64, x []float64, in Input, load Load) {
	r := rider{c: c, line: line, m: m, x: x, z: x[2:], input: in, load: load}
	r.step(res)
}

// step advances the mass by all of in.Dt: part after part, each of stick or of slip in one direction.
func (r *rider) step(res *MassStep) {
	if v := r.x[1]; v > 0 {
		r.dir = 1
	} else if v < 0 {
		r.dir = -1
	} else if v != v {
		res.set(v, 0, 0, 0, 0, engine.NonFinite)
		return
	}
	// no event: almost always
	if h := r.part(res, 0, r.input.Dt); h != r.input.Dt && res.Status != engine.NonFinite {
		r.goOn(res, h)
	}
}

// set is one part. The fields are written one by one, see writer.
func (r *MassStep) set(w, f, load, work float64, evals int, status engine.Status) {
	r.W, r.F, r.Load, r.Work, r.Evals, r.Parts, r.Status = w, f, load, work, evals, 1, status
}

// goOn makes the rest of a step whose first part, res, ended after h (s) with an event.
func (r *rider) goOn(res *MassStep, h float64) {
	var sum, p MassStep
	tau, whole := 0.0, r.input.Dt
	sum.add(*res, h, whole)
	for n := 1; ; n++ {
		tau += h
		left := whole - tau
		if left <= 1e-12*whole { // rounding
			break
		}
		if n >= maxParts && r.dir == 0 && !r.stuckToEnd {
			r.stuckToEnd = true
			sum.Status = max(sum.Status, engine.NotConverged)
		}
		h = r.part(&p, tau, left)
		if p.Status == engine.NonFinite {
			sum.Status = p.Status
			break
		}
		sum.add(p, h, whole)
	}
	*res = sum
}

// part makes the part that begins tau (s) into the step and would last h. It sets every field of p and returns how long the
// part lasted.
func (r *rider) part(p *MassStep, tau, h float64) float64 {
	if r.dir != 0 {
		return r.slip(p, tau, h)
	}
	return r.stick(p, tau, h)
}

// note appends a part.
func (r *rider) note(p Part) { *r.log = append(*r.log, p) }

// level is the break-away friction after a further rest (s).
func (r *rider) level(rest float64) float64 {
	if r.c == nil {
		return r.line.fs
	}
	return r.c.level(r.z, rest)
}

// stick keeps the body where it is until the load crosses the level.
func (r *rider) stick(p *MassStep, tau, h float64) float64 {
	x := r.x[0]
	r.load.Span(tau, h, x)
	if r.arrested && !r.stuckToEnd {
		r.arrested = false
		if u, _, _ := r.load.At(tau, x, 0); math.Abs(u) > r.level(0) {
			r.dir = math.Copysign(1, u)
			*p = MassStep{}
			return 0
		}
	}
	end, _, _ := r.load.At(tau+h, x, 0)
	mean, _, _ := r.load.At(tau+h/2, x, 0)
	if d := end - mean; d-d != 0 {
		p.set(0, 0, mean, 0, 1, engine.NonFinite)
		return h
	}
	if !r.stuckToEnd {
		over := 0.0 // share of the part after which the load is known to lie above the level, and there it is u
		u := end
		if math.Abs(end) > r.level(h) {
			over = 1
		} else if math.Abs(mean) > r.level(h/2) {
			over, u = 0.5, mean
		}
		if over > 0 {
			h *= r.release(tau, h, over, u)
			if r.log != nil {
				r.note(Part{Tau: tau, H: h, MeanLength: h, Freed: r.dir, Jumped: h == 0})
			}
			if h == 0 {
				*p = MassStep{}
				return 0
			}
			// announced again, for the mean over what is left of it
			r.load.Span(tau, h, x)
			mean, _, _ = r.load.At(tau+h/2, x, 0)
		}
	}
	if r.c != nil {
		r.c.advanceState(r.z, h, 0, true)
	}
	p.set(0, mean, mean, 0, 1, engine.OK)
	return h
}

// release sets the direction of the slip that begins before the share over of a part, where the load is u (N), and returns
// the share at which it begins: the zero of level − |u|, by the secant that keeps its bracket (Illinois), exact at once for a
// ramp against a constant level.
func (r *rider) release(tau, h, over, u float64) float64 {
	x := r.x[0]
	u0, _, _ := r.load.At(tau, x, 0)
	if math.Abs(u0) > r.level(0) { // the load has jumped between the steps
		r.dir = math.Copysign(1, u0)
		return 0
	}
	r.dir = math.Copysign(1, u)
	a, ca := 0.0, r.level(0)-r.dir*u0
	b, cb := over, r.level(over*h)-r.dir*u
	q, side := b, 0.0 // side: of the zero that the point before was on
	for range 10 {
		if ca == 0 {
			return a
		}
		q = a + (b-a)*ca/(ca-cb)
		u, _, _ = r.load.At(tau+q*h, x, 0)
		c := r.level(q*h) - r.dir*u
		switch {
		case math.Abs(c) <= 1e-12*math.Abs(u) || !(q > a && q < b):
			return min(max(q, a), b)
		case c > 0:
			if a, ca = q, c; side > 0 {
				cb /= 2
			}
		default:
			if b, cb = q, c; side < 0 {
				ca /= 2
			}
		}
		side = c
	}
	return q
}

// slip moves the sliding body until it comes to rest.
func (r *rider) slip(p *MassStep, tau, h float64) float64 {
	x, dir := r.x[0], r.dir
	s0 := dir * r.x[1]
	r.load.Span(tau, h, x)
	s, f, u, n, status := r.speed(tau+h/2, h, s0)
	if status == engine.NonFinite {
		p.set(r.x[1], 0, u, 0, n, status)
		return h
	}
	s1 := 2*s - s0
	if r.log != nil {
		q := 1.0
		if s1 <= 0 {
			q = 0
			if s0 > 0 {
				q = min(1, s0/(s0-s1))
			}
		}
		r.note(Part{Tau: tau, H: q * h, MeanLength: h, V: dir * s0, W: dir * s, EndVelocity: dir * max(0, s1)})
	}
	if s1 > 0 { // slides on
		p.set(dir*s, dir*f, u, f*s*h, n, status)
		r.x[0] = x + h*dir*s
		r.x[1] = dir * s1
		if r.c != nil {
			r.c.advanceState(r.z, h, r.x[1], false)
		}
		return h
	}
	r.dir, r.arrested = 0, true
	if s0 <= 0 { // the load fell back before the body could move
		r.stuckToEnd = true
		r.x[1] = 0
		*p = MassStep{Evals: n}
		return 0
	}
	if q := s0 / (s0 - s1); q < 1 {
		h *= q
	}
	p.set(dir*s0/2, dir*f, u, f*s0/2*h, n, status)
	r.x[0] = x + h*dir*s0/2
	r.x[1] = 0
	if r.c != nil {
		r.c.advanceState(r.z, h, 0, false)
	}
	return h
}

// speed solves for the mean speed s (m/s, along the slip) of a part of h (s) that starts at the speed s0 and has its middle
// at mid:
//
//	R(s) = 2M(s − s0)/h − dir·u(mid, x + dir·hs/2, dir·s) + f(max(s, 0)) = 0,
//
// by Newton's method inside a bracket of sign changes. On a line with a linear load the second evaluation confirms the
// closed form that the first one gave. It returns the friction f (N, ≥ 0) and the load u (N) with it.
func (r *rider) speed(mid, h, s0 float64) (s, f, u float64, n int, status engine.Status) {
	var (
		x, dir  = r.x[0], r.dir
		inertia = 2 * r.m / h
		lo, hi  = math.Inf(-1), math.Inf(1)
		reach   = 0.0
		in      = r.input
		slope   float64
		last    = 0.0 // step of Newton's method before; 0: another one
	)
	s, in.Dt = s0, h
	for n < maxEvals {
		n++
		var dx, dv float64
		u, dx, dv = r.load.At(mid, x+dir*h/2*s, dir*s)
		if r.c == nil {
			f, slope = r.line.fc+r.line.fv*max(s, 0), r.line.fv
		} else {
			in.V = max(s, 0)
			f, slope = r.c.sliding(r.z, s0, in)
		}
		if s < 0 { // f stays what it is at rest, however steep the curve begins there
			slope = 0
		}
		res := inertia*(s-s0) - dir*u + f
		if res-res != 0 {
			return s0, f, u, n, engine.NonFinite
		}
		dr := inertia - h/2*dx - dv + slope
		step := -res / dr
		// as fine as the speeds of the step, the one it had and the one that friction takes away; and the forces nearly in
		// balance: where a curve begins upright, the first step of Newton's method from there is tiny and means nothing
		if res == 0 || dr > 0 && math.Abs(step) <= wRel*(s0+math.Abs(s)+f/inertia) && math.Abs(res) <= 1e-6*(math.Abs(u)+f) {
			// the friction that closes the balance; on an upright curve it differs from f by more than rounding
			s += step
			return s, max(0, dir*u-inertia*(s-s0)), u, n, engine.OK
		}
		// the next step would be as much smaller as its square root tells: the law need not be asked again
		if q := step / last; dr > 0 && math.Abs(step)*q*q <= wRel/10*(s0+math.Abs(s)) && s > 0 && s+step > 0 && last != 0 {
			s += step
			u, _, _ = r.load.At(mid, x+dir*h/2*s, dir*s)
			return s, max(0, dir*u-inertia*(s-s0)), u, n + 1, engine.OK
		}
		last = 0
		if res > 0 {
			hi = s
		} else {
			lo = s
		}
		// Newton inside the bracket, halving otherwise; without a bracket stride out until the sign changes
		next := s + step
		switch {
		case dr > 0 && next > lo && next < hi && n < maxEvals/2:
			last = step
		case !math.IsInf(lo, 0) && !math.IsInf(hi, 0):
			next = 0.5 * (lo + hi)
		default:
			if reach == 0 {
				reach = math.Abs(res) / inertia
			}
			next = s - math.Copysign(reach, res)
			reach *= 4
		}
		if next == s { // the bracket has shrunk to neighbouring numbers
			return s, f, u, n, engine.OK
		}
		s = next
	}
	return s, f, u, n, engine.NotConverged
}
