package axis

import (
	"math"

	"hilrig/engine"
)

// Derivatives of the loop by forward sensitivities: every state of the simulation carries its derivatives with respect to
// the free parameters θ, and every statement of a step is followed by its differential. One such run costs as much as five
// plain ones with ten parameters, where central differences take twenty, and it is exact: a difference has to be larger than
// the kinks of the simulation, a differential passes between them. With the next bristle force ζ⁺ = N/D, p = g + a/2,
//
//	N = ζg² + a·s·g·p,  D = g·p + a(g + a)/2
//	D·dζ⁺ = g²·dζ + [2ζg + a·s·(g + p) − ζ⁺(2g + a)]·dg + [s·g·(g + a) − ζ⁺(g + a)]·da
//
// The number of parts of a sample is taken as it is.

// seed is the derivative of the numbers of the loop with respect to one parameter.
type seed struct {
	m, overVs, sigma0, sigma1, offset, lag float64
	fc, rise, s2                           [2]float64 // positive, negative motion
	x, v                                   float64    // of the start
	piece                                  int        // whose start
}

// bristleRun is a run of a bristle law, which knows its derivatives.
type bristleRun struct {
	*loopRun
	seeds []seed
	dw    [maxParts]window // ∂w/∂δ, of windows
	d     differentials
}

// differentials of what a step carries on and of what it computes, one number per parameter.
type differentials struct {
	x, v, zeta, u0, u1, u2, un, f []float64
	eff                           []float64 // of 1/(1 + hD/2M)
	past                          []float64 // of the positions at the last samples, a ring of rows
}

func newBristleRun(e *loopRun) *bristleRun {
	n, ring := len(e.at), 0
	for i := range e.tracks {
		ring = max(ring, e.tracks[i].pad+2)
	}
	b := &bristleRun{loopRun: e, seeds: make([]seed, n)}
	for _, s := range []*[]float64{&b.d.x, &b.d.v, &b.d.zeta, &b.d.u0, &b.d.u1, &b.d.u2, &b.d.un, &b.d.f, &b.d.eff} {
		*s = make([]float64, n)
	}
	b.d.past = make([]float64, ring*n)
	return b
}

// sow finds the seeds at the parameters that are set.
func (b *bristleRun) sow() {
	c := &b.c
	ratio := false
	for _, s := range b.slots {
		ratio = ratio || s.is == isZeta
	}
	held := [2]bool{c.plus.rise <= (leastFs-1)*c.plus.fc, c.minus.rise <= (leastFs-1)*c.minus.fc}
	total := false
	for _, s := range b.slots {
		total = total || s.is == isFs
	}
	for i, j := range b.at {
		s := seed{}
		level := func(k int) { // a Coulomb force moves the level at rest, or, with Fs given, only what is above it
			s.fc[k] = 1
			switch {
			case held[k]:
				s.rise[k] = leastFs - 1
			case total:
				s.rise[k] = -1
			}
		}
		above := func() {
			for k := range held {
				if !held[k] {
					s.rise[k] = 1
				}
			}
		}
		switch b.slots[j].is {
		case isMass:
			s.m = 1
			if ratio {
				s.sigma1 = c.sigma1 / (2 * c.m)
			}
		case isLag:
			s.lag = 1
		case isFc:
			level(0)
			level(1)
		case isFcPlus:
			level(0)
		case isFcMinus:
			level(1)
		case isFs, isRise:
			above()
		case isVs:
			s.overVs = -c.overVs * c.overVs
		case isViscous:
			s.s2 = [2]float64{1, 1}
		case isViscousPlus:
			s.s2[0] = 1
		case isViscousMinus:
			s.s2[1] = 1
		case isSigma0:
			s.sigma0 = 1
			if ratio {
				s.sigma1 = c.sigma1 / (2 * c.sigma0)
			}
		case isSigma1:
			s.sigma1 = 1
		case isZeta:
			s.sigma1 = c.sigma1 / b.full[j]
		case isOffset:
			s.offset = 1
		case isX0:
			s.x, s.piece = 1, b.slots[j].piece
		case isV0:
			s.v, s.piece = 1, b.slots[j].piece
		}
		b.seeds[i] = s
	}
}

// Jacobian writes the residuals and their derivatives.
func (b *bristleRun) Jacobian(theta, r, jac []float64) engine.Status {
	_, status := b.simulate(theta, r, math.Inf(1))
	clear(jac)
	if !b.c.sound() {
		return status
	}
	b.sow()
	n := len(b.at)
	for i := range b.tracks {
		t := &b.tracks[i]
		rows := (len(t.force) + b.step - 1) / b.step
		if parts := b.c.parts(t.h); parts > 0 {
			delta := b.lag / t.h
			windows(b.w[:parts], min(max(delta, lagLo), lagHi), b.linear)
			clear(b.dw[:])
			if delta >= lagLo && delta <= lagHi {
				windowSlopes(b.dw[:parts], delta, b.linear)
			}
			b.tangents(i, b.w[:parts], b.dw[:parts], jac[:rows*n])
		}
		// a residual that is cut off stays where it is; a derivative beyond all numbers tells nothing
		for k := range rows {
			row := jac[k*n : k*n+n]
			if math.Abs(r[k]) >= b.lost {
				clear(row)
			}
			for p, v := range row {
				if v-v != 0 {
					row[p] = 0
				}
			}
		}
		r, jac = r[rows:], jac[rows*n:]
	}
	return status
}

// tangents runs piece i with its differentials.
func (b *bristleRun) tangents(i int, w, dw []window, jac []float64) {
	t, c, d, sd, np := &b.tracks[i], &b.c, &b.d, b.seeds, len(b.at)
	n, h, pad := len(t.force), t.h, t.pad
	hp := h / float64(len(w))
	push := hp / c.m
	ring := len(d.past) / max(np, 1)
	row := func(k int) []float64 { // of the position at sample k ≥ −pad
		j := (k + pad) % ring
		return d.past[j*np : j*np+np]
	}
	s0 := hp * c.sigma0
	half := 0.5 * push
	sides := [2]*side{&c.plus, &c.minus}
	mean, delay := max(t.ctl.Mean, 1), t.ctl.Delay
	stiff := t.ctl.Gain * t.ctl.Kv * t.ctl.Kp
	damp := t.ctl.Gain * t.ctl.Kv / (float64(mean) * h)
	limit := math.Inf(1)
	if t.ctl.Limit > 0 {
		limit = t.ctl.Gain * t.ctl.Limit
	}
	ahead, share := foresight(w)
	dAhead, _ := foresight(dw)
	slope := stiff
	if delay == 0 {
		slope += damp
	}
	inertia := h * h / c.m
	next, dNext := ahead[before+1]+2*ahead[before+2], dAhead[before+1]+2*dAhead[before+2]
	peek := t.closed && (next != 0 || dNext != 0)

	// the start
	at := t.begin(c, b.starts[i], len(w))
	x, v, zeta, u1, u2 := at.x, at.v, at.zeta, 0.0, 0.0
	clear(d.u0)
	clear(d.u1)
	clear(d.u2)
	clear(d.un)
	for p := range sd {
		dx, dv := sd[p].x, sd[p].v
		if sd[p].piece != i {
			dx, dv = 0, 0
		}
		d.x[p], d.v[p], d.zeta[p] = dx, dv, c.beginSlope(b.starts[i].v, dv, &sd[p])
		for k := -pad; k < 0; k++ {
			row(k)[p] = dx + float64(k)*h*dv
		}
	}

	var u0, un, un2 float64
	for k := range n {
		now := row(k)
		copy(now, d.x)
		t.x[pad+k] = x // again: what the controller looks back on has to be this run, to the last bit
		if t.closed {
			recent, old := row(k-delay), row(k-delay-mean)
			u0 = stiff*(t.reference[k]-x) - damp*(t.x[pad+k-delay]-t.x[pad+k-delay-mean])
			if k < pad {
				u0 = t.asked[k]
				clear(d.u0)
			} else if math.Abs(u0) < limit {
				for p := range d.u0 {
					d.u0[p] = -stiff*now[p] - damp*(recent[p]-old[p])
				}
			} else {
				u0 = math.Copysign(limit, u0)
				clear(d.u0)
			}
			if t.pulse != nil {
				u0 += t.pulse[k]
			}
			if k == 0 {
				u1, u2 = u0, u0
				copy(d.u1, d.u0)
				copy(d.u2, d.u0)
			}
			un, un2 = u0, u0
			copy(d.un, d.u0)
		} else {
			u0, u1, u2 = t.force[k], t.force[max(k-1, 0)], t.force[max(k-2, 0)]
			un, un2 = t.force[min(k+1, n-1)], t.force[min(k+2, n-1)]
		}
		twice := false // d u_{k+2} is 2·d u_{k+1} − d u_k, else that of u_k
		for j := range w {
			q, dq := &w[j], &dw[j]
			u := q[0]*u2 + q[1]*u1 + q[2]*u0 + q[3]*un + q[4]*un2
			// friction, as in rub
			way, sign := 0, 1.0
			if v < 0 {
				way, sign = 1, -1
			}
			side := sides[way]
			r := v * c.overVs
			e := bell(r * r)
			g := side.fc + side.rise*e
			a := s0 * sign * v
			p2 := g + 0.5*a
			den := g*p2 + 0.5*a*(g+a)
			zn := (zeta*g*g + s0*v*g*p2) / den
			over := 1 / den
			kz := g * g * over
			kg := (2*zeta*g + a*sign*(g+p2) - zn*(2*g+a)) * over
			ka := (sign*g - zn) * (g + a) * over
			bend := -2 * e * r // ∂g/∂r, in units of the rise
			gv, gw := bend*side.rise*c.overVs, bend*side.rise*v
			zeta = zn
			rest := zn + c.offset
			to, toward := 0, 1.0
			if v+half*(u-rest) < 0 {
				to, toward = 1, -1
			}
			side = sides[to]
			overG := 1 / (side.fc + side.rise*e)
			slip := 1 - toward*zn*overG
			damp2 := c.sigma1*slip + side.s2
			f := rest + damp2*v
			eff := 1 / max(1+half*damp2, leastMass)
			effSlope := -eff * eff
			if eff == 1/leastMass {
				effSlope = 0
			}
			hv, hw := bend*side.rise*c.overVs, bend*side.rise*v
			kn, kh := -c.sigma1*toward*overG, c.sigma1*toward*zn*overG*overG
			dz, dv, df, de := d.zeta[:len(sd)], d.v[:len(sd)], d.f[:len(sd)], d.eff[:len(sd)]
			for p := range sd {
				s := &sd[p]
				dg := s.fc[way] + e*s.rise[way] + gw*s.overVs + gv*dv[p]
				da := sign * (s0*dv[p] + hp*v*s.sigma0)
				dn := kz*dz[p] + kg*dg + ka*da
				dz[p] = dn
				dh := s.fc[to] + e*s.rise[to] + hw*s.overVs + hv*dv[p]
				dd := slip*s.sigma1 + kn*dn + kh*dh + s.s2[to]
				df[p] = dn + s.offset + v*dd + damp2*dv[p]
				de[p] = effSlope * half * (dd - damp2/c.m*s.m)
			}
			if peek && j == 0 && k+1 < n {
				known := ahead[0]*u2 + ahead[1]*u1 + (ahead[2]-ahead[4])*u0
				dKnown := dAhead[0]*u2 + dAhead[1]*u1 + (dAhead[2]-dAhead[4])*u0
				if t.pulse != nil {
					known += next * t.pulse[k+1]
					dKnown += dNext * t.pulse[k+1]
				}
				target := stiff*t.reference[k+1] + damp*t.x[pad+k+1-delay-mean]
				if delay > 0 {
					target -= damp * t.x[pad+k+1-delay]
				}
				left := known - share*f
				move := inertia * eff
				answered := 1 / (1 + slope*move*next)
				un = (target - slope*(x+h*v+move*left)) * answered
				recent, old := row(k+1-delay), row(k+1-delay-mean)
				for p := range sd {
					dMove := inertia*d.eff[p] - move/c.m*sd[p].m
					dTarget := damp * old[p]
					if delay > 0 {
						dTarget -= damp * recent[p]
					}
					dk := ahead[0]*d.u2[p] + ahead[1]*d.u1[p] + (ahead[2]-ahead[4])*d.u0[p] + dKnown*sd[p].lag/h
					dx := d.x[p] + h*d.v[p] + dMove*left + move*(dk-share*d.f[p])
					d.un[p] = (dTarget - slope*dx - un*slope*(dMove*next+move*dNext*sd[p].lag/h)) * answered
				}
				if k+1 < pad {
					un = t.asked[k+1]
					clear(d.un)
				} else if !(math.Abs(un) < limit) {
					un = math.Copysign(limit, un)
					clear(d.un)
				}
				if t.pulse != nil {
					un += t.pulse[k+1]
				}
				un2, twice = 2*un-u0, true
			}
			ubar := q[0]*u2 + q[1]*u1 + q[2]*u0 + q[3]*un + q[4]*un2
			dLag := (dq[0]*u2 + dq[1]*u1 + dq[2]*u0 + dq[3]*un + dq[4]*un2) / h
			q2, q3 := q[2]+q[4], q[3]
			if twice {
				q2, q3 = q[2]-q[4], q[3]+2*q[4]
			}
			left := push * (ubar - f)
			dx, du0, du1, du2, dun := d.x[:len(sd)], d.u0[:len(sd)], d.u1[:len(sd)], d.u2[:len(sd)], d.un[:len(sd)]
			for p := range sd {
				du := q[0]*du2[p] + q[1]*du1[p] + q2*du0[p] + q3*dun[p] + dLag*sd[p].lag
				dv[p] += push*eff*(du-df[p]) + left*(de[p]-eff/c.m*sd[p].m)
				dx[p] += hp * dv[p]
			}
			v += push * eff * (ubar - f)
			x += hp * v
		}
		if !(math.Abs(x) < t.reach) {
			return
		}
		if k%b.step == 0 {
			out := jac[k/b.step*np:]
			switch b.output {
			case Position:
				copy(out, now)
			case Velocity:
				behind := row(k - 1)
				for p := range d.x {
					out[p] = (d.x[p] - behind[p]) / (2 * h)
				}
			default:
				copy(out, d.u0)
			}
		}
		u2, u1 = u1, u0
		d.u2, d.u1, d.u0 = d.u1, d.u0, d.u2
	}
}
