package ball

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/plant/ball"
)

// energy regresses the energy of the smoothed motion on the work that each term would take with a coefficient of one:
//
//	E(t) = E0 − Σ θ·∫(φ, ω)·dt
//
// No second derivative enters but through N.
func energy(p *ball.Params, free []term, ms []motion) (Level, error) {
	m := p.Unchecked()
	work := make([]float64, len(free)+1)
	power := make([]float64, len(free)+1) // the last one is of what is known
	before := make([]float64, len(free)+1)
	x := make([]float64, len(free)+1)
	l, err := linear("energy", "J", free, 1, func(add func([]float64, float64)) {
		for i := range ms {
			s := &ms[i]
			_, force := m.Inverse(&s.f, s.w, s.dw)
			for k := range free {
				power[k] = r3.Dot(free[k].phi(&s.f, s.w, force.Z), s.w)
			}
			power[len(free)] = -r3.Dot(knownMoment(p, free, &s.f, s.w, force.Z), s.w)
			if !s.directed(p, free) { // at rest nothing works
				clear(power)
			}
			if i > 0 {
				h := (s.t - ms[i-1].t) / 2
				for k := range power {
					work[k] += h * (before[k] + power[k])
				}
			}
			copy(before, power)
			for k := range free {
				x[k] = -work[k]
			}
			x[len(free)] = 1
			state := ball.State{Q: s.q, X: s.p.X, Y: s.p.Y, W: s.w}
			m.Constrain(&state)
			add(x, m.Energy(&state)+work[len(free)])
		}
	})
	l.share(ms)
	l.Warning = "neighbouring frames are not independent; inertia and centre of mass are taken for exact"
	return l, err
}

// weak integrates the equations of motion against ψ(t) = (1 − τ²)², τ = (t−t0)/T from −1 to 1, in each axis of the body:
//
//	∫ψ·M dt = ∫ψ·(h − dK/dt·ω) dt − ∫dψ/dt·K·ω dt
//
// so that dω/dt is never formed. The windows overlap by half.
func weak(p *ball.Params, free []term, ms []motion, half float64) (Level, error) {
	m := p.Unchecked()
	l, err := linear("weak", "N·m·s", free, 0, func(add func([]float64, float64)) {
		for t0 := ms[0].t + half; t0+half <= ms[len(ms)-1].t; t0 += half {
			var y r3.Vec
			phi := make([]r3.Vec, len(free))
			count, directed := 0, true
			for i := range ms {
				a := &ms[i]
				tau := (a.t - t0) / half
				if math.Abs(tau) >= 1 {
					continue
				}
				count++
				directed = directed && a.directed(p, free)
				dt := (ms[min(i+1, len(ms)-1)].t - ms[max(i-1, 0)].t) / 2
				b := 1 - tau*tau
				psi, dpsi := b*b*dt, -4*tau*b/half*dt
				h, force := m.Inverse(&a.f, a.w, r3.Vec{})
				if slices.ContainsFunc(free, func(t term) bool { return t.unit == "m" }) { // of the normal force
					_, force = m.Inverse(&a.f, a.w, a.dw)
				}
				l, rate := m.Momentum(&a.f, a.w)
				known := knownMoment(p, free, &a.f, a.w, force.Z)
				y = r3.Add(y, r3.Sub(r3.Scale(psi, r3.Sub(r3.Sub(h, rate), known)), r3.Scale(dpsi, l)))
				for k := range free {
					phi[k] = r3.Add(phi[k], r3.Scale(psi, free[k].phi(&a.f, a.w, force.Z)))
				}
			}
			if count < 5 || !directed {
				continue
			}
			addVector(add, phi, y)
		}
	})
	l.Warning = "inertia and centre of mass are taken for exact"
	return l, err
}
