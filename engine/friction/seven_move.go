package friction

import (
	"math"

	"hilrig/engine"
)

const (
	sevenCuts  = 4      // events in a step that cut it
	sevenCreep = 1e-300 // m/s  least speed in the direction of slip after break-away
)

// Move advances the mass by a step of second order in closed form. With w the mean velocity of a part of length h, the
// load taken in the middle of the part, u = u0 + (h/2·∂u/∂x + ∂u/∂v)·(w − v), and v⁺ = 2w − v, x⁺ = x + hw,
//
//	2M(w−v)/h = u − F,   stick  F = kt·(ξ + hw/2) + ct·w, clamped to ±(Fc + Fs)
//	                     slip   F = ±[Fc + Fs,b/(1 + (v(t+h/2−τL)/vs)²)] + Fv·w
//
// Within a part v is a straight line and x a parabola: break-away and arrest are found on them, end the part, and the rest
// of the step is done in the new mode. Every part keeps the balance ½M(v⁺² − v²) = (u − F)·Δx.
//
// The lagged velocity is read from the velocities at the ends of whole steps, 0 before the start. With a memory so short
// that t + h/2 − τL lies inside the step, it is read from the step.
func (p *Seven) Move(m float64, x []float64, in Input, load Load) MassStep {
	z := x[2 : 2+sevenDim]
	line := z[sevenDelay:]
	t := z[sevenTime]
	if !(in.Dt > 0) {
		return MassStep{W: x[1], F: p.now(z, x[1])}
	}
	if t == 0 {
		delayPush(line, 0, x[1])
	}
	pos, v, dir, xi, t2, fsa, fsb := x[0], x[1], z[sevenDir], z[sevenXi], z[sevenRest], z[sevenFsa], z[sevenFsb]
	if dir != 0 && v*dir <= 0 { // stopped or turned from outside
		fsa = fsb * p.stribeck(delayAt(line, t-p.TauL))
		xi, t2, dir = dir*(p.Fc+fsa)/p.Kt, 0, 0
	}
	var r MassStep // W, F and Load as sums over the parts, divided by the step at the end
	tau := 0.0
	for h := in.Dt; ; h = in.Dt - tau {
		half := h / 2
		load.Span(tau, h, pos)
		u, dx, dv := load.At(tau+half, pos+half*v, v)
		// the equation of the part times h/2: (a + …)·w = b − h/2·F
		slope := half*dx + dv
		a := m - half*slope
		if a <= 0 { // a load that runs away faster than the step: taken as it is in the beginning
			a, slope = m, 0
		}
		b := a*v + half*u

		var w, f float64
		released, arrested, theta := false, false, 1.0 // theta is the share of the part before an event
		if dir == 0 {
			k := p.Kt*half + p.Ct
			w = (b - half*p.Kt*xi) / (a + half*k)
			f = p.Kt*xi + k*w
			// Fs(t2) costs a division: it is asked for only above the least it can be
			least := p.Fc + min(fsa, p.FsInf)
			if math.Abs(f) > least {
				if top := p.Fc + p.static(fsa, t2+half); math.Abs(f) > top {
					f = math.Copysign(top, f)
					w = (b - half*f) / a
				}
			}
			if p.Kt*math.Abs(xi+h*w) > least && r.Parts < sevenCuts && p.margin(fsa, t2+h, xi+h*w) < 0 {
				released, theta = p.release(fsa, t2, xi, h, v, w)
			}
		} else {
			if back := p.TauL - tau - half; back >= 0 { // lagged time before the step
				k := dir * (p.Fc + fsb*p.stribeck(delayAt(line, t-back)))
				w = (b - half*k) / (a + half*p.Fv)
				f = k + p.Fv*w
			} else {
				// the velocity of the part at −back: from v, then from the w that it gave
				lag := v
				for range 3 {
					k := dir * (p.Fc + fsb*p.stribeck(lag))
					w = (b - half*k) / (a + half*p.Fv)
					f = k + p.Fv*w
					lag = inStep(x[1], v, w, tau, h, -back)
				}
			}
			if (2*w-v)*dir <= 0 {
				arrested, theta = true, v/(2*(v-w))
			}
		}
		if w-w != 0 { // not finite: nothing has been written yet
			return MassStep{W: x[1], Evals: r.Evals + 1, Parts: 1, Status: engine.NonFinite}
		}

		// the part, as far as its event
		g, vn := h, 2*w-v
		dist := h * w
		if theta < 1 {
			g, vn = theta*h, v+2*theta*(w-v)
			dist = g * (v + vn) / 2
		}
		pos += dist
		r.W += dist
		r.F += f * g
		r.Load += (u + slope*(w-v)) * g
		r.Work += f * dist
		r.Parts++
		if dir == 0 {
			xi += dist
			t2 += g
		}
		if !released && !arrested {
			v = vn
			break
		}
		tau += g
		if released {
			dir, fsb = math.Copysign(1, xi), p.static(fsa, t2)
			v = dir * max(dir*vn, sevenCreep)
		} else {
			var lag float64
			if back := p.TauL - tau; back >= 0 {
				lag = delayAt(line, t-back)
			} else {
				lag = inStep(x[1], v, w, tau-g, h, -back)
			}
			fsa = fsb * p.stribeck(lag)
			xi, t2, v, dir = dir*(p.Fc+fsa)/p.Kt, 0, 0, 0
		}
		if rest := in.Dt - tau; rest <= 1e-12*in.Dt || r.Parts > sevenCuts {
			r.F += rest * u // after the last cut the body stands for the rest of the step
			r.Load += rest * u
			break
		}
	}
	x[0], x[1] = pos, v
	z[sevenDir], z[sevenXi], z[sevenRest], z[sevenFsa], z[sevenFsb] = dir, xi, t2, fsa, fsb
	z[sevenTime] = t + in.Dt
	delayPush(line, t+in.Dt, v)
	q := 1 / in.Dt
	r.W *= q
	r.F *= q
	r.Load *= q
	r.Evals = r.Parts
	return r
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
	// false position with the halving of a stuck end; its first point is c0/(c0 − c1)
	lo, hi, c1 := 0.0, 1.0, at(1)
	for range 40 {
		theta = lo + (hi-lo)*c0/(c0-c1)
		switch c := at(theta); {
		case math.Abs(c) <= 1e-14*p.Fc || hi-lo < 1e-13:
			return true, theta
		case c > 0:
			lo, c0 = theta, c
			c1 /= 2
		default:
			hi, c1 = theta, c
			c0 /= 2
		}
	}
	return true, theta
}
