package friction

import (
	"math"

	"hilrig/engine"
)

const (
	sevenCuts  = 4      // events in a step that cut it
	sevenNear  = 1e-3   // share of a part within which an event is taken for its beginning or end
	sevenCreep = 1e-300 // m/s  least speed in the direction of slip after break-away
)

// Move advances the mass by a step of second order in closed form. With w the mean velocity of a part of length h, the
// load taken in the middle of the part, u = u0 + (h/2·∂u/∂x + ∂u/∂v)·(w − v), and v⁺ = 2w − v, x⁺ = x + hw,
//
//	2M(w−v)/h = u − F,   stick  F = kt·(ξ + hw/2) + ct·w, clamped to ±(Fc + Fs)
//	                     slip   F = ±[Fc + Fs,b/(1 + (v(t+h/2−τL)/vs)²)] + Fv·w
//
// Within a part v is a straight line and x a parabola: break-away and arrest are found on them. The part is then done once
// more, only as long as up to the event, so that its forces are those of its own middle; the event moves by a fraction of
// second order and ends the part, and the rest of the step is done in the new mode. Every part keeps the balance
// ½M(v⁺² − v²) = (u − F)·Δx.
//
// The lagged velocity is read from the velocities at the ends of whole steps, 0 before the start. With a memory so short
// that t + h/2 − τL lies inside the step, it is read from the step.
func (p *Seven) Move(m float64, x []float64, in Input, load Load) (r MassStep) {
	p.moveInto(&r, m, x, in, load)
	return r
}

// moveInto is Move with the result in place. What nearly every step is, one part without an event, is done here; cut does
// the others, and announces them again.
func (p *Seven) moveInto(r *MassStep, m float64, x []float64, in Input, load Load) {
	h := in.Dt
	if !(h > 0) {
		*r = MassStep{W: x[1], F: p.instantForce(x[2:2+sevenDim], x[1])}
		return
	}
	half := h / 2
	load.Span(0, h, x[0])
	u, dx, dv := load.At(half, x[0]+half*x[1], x[1])

	y := (*[2 + sevenDim]float64)(x)
	z := (*[sevenDim]float64)(y[2:])
	line := (*[delayDim]float64)(z[sevenDelay:])
	v, dir, t := y[1], z[sevenDir], z[sevenTime]
	slope := half*dx + dv
	a := m - half*slope
	if t == 0 || line[delaySpan] != delaySlack*p.TauL || a <= 0 {
		p.advance(r, m, x, h, load)
		return
	}
	// (a + h/2·c)·w = a·v + h/2·(u − k): the equation of the part times h/2, with the friction k + c·w. The steps wait for
	// each other through the load, so as little as possible comes behind it
	var w, f float64
	if dir == 0 {
		xi, t2, fsa := z[sevenXi], z[sevenRest], z[sevenFsa]
		k, c := p.Kt*xi, p.Kt*half+p.Ct
		q := 1 / (a + half*c)
		w = (a*v-half*k)*q + half*q*u
		f = k + c*w
		// Fs(t2) costs a division: it is asked for only above the least it can be
		least := p.Fc + fsa
		if p.FsInf < fsa {
			least = p.Fc + p.FsInf
		}
		if math.Abs(f) > least {
			if top := p.Fc + p.static(fsa, t2+half); math.Abs(f) > top {
				f = math.Copysign(top, f)
				w = v + half*(u-f)/a
			}
		}
		xi += h * w
		if !(p.Kt*math.Abs(xi) <= least) && !(p.margin(fsa, t2+h, xi) >= 0) { // or not a number
			p.advance(r, m, x, h, load)
			return
		}
		z[sevenXi], z[sevenRest] = xi, t2+h
	} else {
		back := p.TauL - half
		if back < 0 || v*dir <= 0 {
			p.advance(r, m, x, h, load)
			return
		}
		lag := delayAt(line[:], t-back)
		k, c := dir*(p.Fc+z[sevenFsb]*p.stribeck(lag)), p.Fv
		q := 1 / (a + half*c)
		w = (a*v-half*k)*q + half*q*u
		f = k + c*w
		if w-w != 0 || (2*w-v)*dir <= 0 {
			p.advance(r, m, x, h, load)
			return
		}
	}
	dist, vn := h*w, 2*w-v
	y[0] += dist
	y[1] = vn
	z[sevenTime] = t + h
	delayAppend(line, t+h, vn)
	r.W, r.F, r.Load, r.Work, r.Evals, r.Parts, r.Status = w, f, u+slope*(w-v), f*dist, 1, 1, engine.OK
}

// advance is a step of any kind, of the length dt > 0 (s).
func (p *Seven) advance(r *MassStep, m float64, x []float64, dt float64, load Load) {
	z := x[2 : 2+sevenDim]
	line := z[sevenDelay:]
	t := z[sevenTime]
	delayFor(line, p.TauL)
	if t == 0 {
		delayPush(line, 0, x[1])
	}
	pos, v, dir, xi, t2, fsa, fsb := x[0], x[1], z[sevenDir], z[sevenXi], z[sevenRest], z[sevenFsa], z[sevenFsb]
	if dir != 0 && v*dir <= 0 { // stopped or turned from outside
		fsa = fsb * p.stribeck(delayAt(line, t-p.TauL))
		xi, t2, dir = dir*(p.Fc+fsa)/p.Kt, 0, 0
	}
	// sums over the parts
	var path, impulse, drive, work, tau float64
	parts := 0
	var whole sevenPart // a part that an event cut, while it is done once more
	h := dt
	for {
		half := h / 2
		// friction of the part is k + c·w; where the lagged time lies before the step, it is known ahead of the load
		k, c := p.Kt*xi, p.Kt*half+p.Ct
		back := p.TauL - tau - half
		if dir != 0 {
			lag := v
			if back >= 0 {
				lag = delayAt(line, t-back)
			}
			k, c = dir*(p.Fc+fsb*p.stribeck(lag)), p.Fv
		}
		load.Span(tau, h, pos)
		u, dx, dv := load.At(tau+half, pos+half*v, v)
		slope := half*dx + dv
		a := m - half*slope
		if a <= 0 { // a load that runs away faster than the step: taken as it is in the beginning
			a, slope = m, 0
		}
		q := 1 / (a + half*c)
		w := (a*v-half*k)*q + half*q*u
		f := k + c*w

		theta := 1.0 // share of the part before an event
		event := false
		if dir == 0 {
			// Fs(t2) costs a division: it is asked for only above the least it can be
			least := p.Fc + min(fsa, p.FsInf)
			if math.Abs(f) > least {
				if top := p.Fc + p.static(fsa, t2+half); math.Abs(f) > top {
					f = math.Copysign(top, f)
					w = v + half*(u-f)/a
				}
			}
			if whole.h == 0 && p.Kt*math.Abs(xi+h*w) > least && parts < sevenCuts && p.margin(fsa, t2+h, xi+h*w) < 0 {
				event, theta = p.release(fsa, t2, xi, h, v, w)
			}
		} else {
			if back < 0 {
				// the velocity of the part at −back, from the w that it gave before
				for range 2 {
					k = dir * (p.Fc + fsb*p.stribeck(inStep(x[1], v, w, tau, h, -back)))
					w = (a*v + half*(u-k)) * q
					f = k + c*w
				}
			}
			if whole.h == 0 && (2*w-v)*dir <= 0 {
				event, theta = true, v/(2*(v-w))
			}
		}
		if w-w != 0 { // not finite: nothing has been written yet
			*r = MassStep{W: x[1], Evals: parts + 1, Parts: 1, Status: engine.NonFinite}
			return
		}

		if event && theta > sevenNear && theta < 1-sevenNear {
			whole = sevenPart{h, w, f, u, slope, theta}
			h *= theta
			continue
		}
		if whole.h != 0 {
			if theta = p.stretched(dir, fsa, t2, xi, h, v, w); theta > 0 && tau+theta*h <= dt {
				event = true
			} else { // the two do not agree: a contact far from smooth, the first one will do
				h, w, f, u, slope, theta, event = whole.h, whole.w, whole.f, whole.u, whole.slope, whole.theta, true
			}
			whole.h = 0
		}

		// the part, as far as its event
		g, vn, dist := h, 2*w-v, h*w
		if event {
			g, vn = theta*h, v+2*theta*(w-v)
			dist = g * (v + vn) / 2
		}
		pos += dist
		if dir == 0 {
			xi += dist
			t2 += g
		}
		u += slope * (w - v)
		parts++
		path, impulse, drive, work = path+dist, impulse+f*g, drive+u*g, work+f*dist
		tau += g
		rest := dt - tau
		switch {
		case !event:
			v, rest = vn, 0
		case dir == 0: // released
			dir, fsb = math.Copysign(1, xi), p.static(fsa, t2)
			v = dir * max(dir*vn, sevenCreep)
		default: // arrested
			var lag float64
			if back := p.TauL - tau; back >= 0 {
				lag = delayAt(line, t-back)
			} else {
				lag = inStep(x[1], v, w, tau-g, h, -back)
			}
			fsa = fsb * p.stribeck(lag)
			xi, t2, v, dir = dir*(p.Fc+fsa)/p.Kt, 0, 0, 0
		}
		if rest <= 1e-12*dt || parts > sevenCuts {
			// after the last cut the body stands for the rest of the step
			impulse, drive = impulse+rest*u, drive+rest*u
			r.W, r.F, r.Load, r.Work = path/dt, impulse/dt, drive/dt, work
			break
		}
		h = rest
	}
	x[0], x[1] = pos, v
	z[sevenDir], z[sevenXi], z[sevenRest], z[sevenFsa], z[sevenFsb] = dir, xi, t2, fsa, fsb
	z[sevenTime] = t + dt
	delayPush(line, t+dt, v)
	r.Evals, r.Parts, r.Status = parts, parts, engine.OK
}

// sevenPart is a part as it would go on without its event.
type sevenPart struct{ h, w, f, u, slope, theta float64 }

// stretched tells which share of a part that was cut at its event the event is at now that the part has been done once more;
// it may lie behind its end. 0: there is none nearby.
func (p *Seven) stretched(dir, fsa, t2, xi, h, v, w float64) float64 {
	const far = 1.25
	theta := 0.0
	if dir != 0 {
		theta = v / (2 * (v - w))
	} else if p.margin(fsa, t2+far*h, xi+far*h*(v+far*(w-v))) < 0 {
		_, theta = p.release(fsa, t2, xi, far*h, v, v+far*(w-v))
		theta *= far
	}
	if theta > 0.75 && theta < far {
		return theta
	}
	return 0
}

// inStep is the velocity at tau (s) after the beginning of a step that began with v0 and whose present part begins at
// start with v and has the mean velocity w over h: two straight lines.
func inStep(v0, v, w, start, h, tau float64) float64 {
	if tau < start {
		return v0 + (v-v0)*tau/start
	}
	return v + 2*(w-v)*min(1, (tau-start)/h)
}

// margin is what is left of the static friction (N) at the deflection xi after the rest t2.
func (p *Seven) margin(fsa, t2, xi float64) float64 {
	return p.Fc + p.static(fsa, t2) - p.Kt*math.Abs(xi)
}

// release tells where the margin vanishes in a part of h (s) that begins at deflection xi with the velocity v, has the mean
// velocity w, and ends without margin. A contact overloaded from the start breaks away at once, unless it is on its way
// back.
func (p *Seven) release(fsa, t2, xi, h, v, w float64) (ok bool, theta float64) {
	at := func(s float64) float64 { return p.margin(fsa, t2+s*h, xi+s*h*(v+s*(w-v))) }
	c0 := at(0)
	if c0 <= 0 {
		return v*xi >= 0, 0
	}
	// false position; an end that stays twice counts half (Illinois). Its first point is c0/(c0 − c1)
	lo, hi, c1, side := 0.0, 1.0, at(1), 0.0
	for range 40 {
		theta = lo + (hi-lo)*c0/(c0-c1)
		c := at(theta)
		if math.Abs(c) <= 1e-14*p.Fc || hi-lo < 1e-13 {
			break
		}
		if c > 0 {
			if lo, c0 = theta, c; side > 0 {
				c1 /= 2
			}
		} else {
			if hi, c1 = theta, c; side < 0 {
				c0 /= 2
			}
		}
		side = c
	}
	return true, theta
}
