package bristle

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"hilrig/identify/fit"
)

// bootstrap corrects the separable fit for what smoothing does to it, and widens its errors to what they are.
//
// A record with known parameters is made and fitted like the measured one, several times; the mean shift of the parameters
// is the bias. The smoothed motion cannot serve as its truth, because it lacks the sharp reversals that cause the bias. So
// the fitted model runs under the recorded force, smoothed, and a soft virtual position loop keeps it near the smoothed
// motion: it turns round as the model does. (Theory §9.2 has a stiff loop; that imposes the smoothed reversals again.) The
// force gets noise of such a size that the simulated fits leave as much as the real one, the position the rounding of the
// encoder. The second pass starts from the corrected parameters.
type bootstrap struct {
	m     *model
	d     *data
	o     *Options
	f     *smoothed
	x, u  []float64 // of the follower
	drive []float64 // recorded force without noise
}

// rounds of the bias correction.
const rounds = 2

// loopStiff is the stiffness of the position loop as a share of σ0: soft, so that the contact turns round in its own way.
const loopStiff = 0.005

// follow makes the record of parameters t, without noise.
func (b *bootstrap) follow(t *theta) bool {
	h := b.d.h
	stiff := loopStiff * t[sigma0]
	damp := 1.4 * math.Sqrt(stiff*t[inertia])
	n := substeps(t, h)
	var m mover
	m.set(t, h/float64(n))
	mo := b.f.mo
	s := state{x: mo.x[0], v: mo.v[0]}
	// the recorded force drives, the loop only keeps the motion from drifting away
	feed := func(k int) float64 { return b.drive[k] }
	for k := range mo.x {
		b.x[k] = s.x
		last := k+1 == len(mo.x)
		next := k
		if !last {
			next++
		}
		f0, f1 := feed(k), feed(next)
		b.u[k] = f0 + stiff*(mo.x[k]-s.x) + damp*(mo.v[k]-s.v)
		if last {
			break
		}
		ahead := 0.0
		for i := range n {
			// the reference half a sub-step on, the loop with the state at its beginning
			c := (float64(i) + 0.5) / float64(n)
			a0, a1 := mo.a[k], mo.a[next]
			dt := c * h
			ref := mo.x[k] + dt*(mo.v[k]+dt/2*(a0+(a1-a0)*c/3))
			rv := mo.v[k] + dt*(a0+(a1-a0)*c/2)
			half := h / float64(n) / 2
			u := f0 + (f1-f0)*c + stiff*(ref-s.x-half*s.v) + damp*(rv-s.v-ahead/2)
			v := s.v
			tan := tangent{}
			if _, ok := m.move(&s, u, v+ahead/2, &tan); !ok || !finite(s.x) {
				return false
			}
			ahead = s.v - v
		}
	}
	return true
}

// run returns the corrected parameters, the shift that was taken off and the scatter of the simulated fits, all of the last
// pass. False if a simulation failed.
func (b *bootstrap) run(ctx context.Context, watch fit.Watch) (t, shift, scatter theta, ok bool) {
	n := len(b.d.y)
	b.x, b.u, b.drive = make([]float64, n), make([]float64, n), quiet(b.d.u)
	real := b.f.cost / float64(b.f.mo.last-b.f.mo.first)
	sd := b.o.ForceNoise
	if sd == 0 {
		sd = math.Sqrt(real)
	}
	order := b.o.Order
	if order == 0 {
		order = 4
	}
	t = b.f.theta
	for pass := range rounds {
		truth := t
		if !b.follow(&truth) {
			return t, shift, scatter, false
		}
		var sum, squares theta
		left := 0.0 // mean square that the simulated fits leave
		for i := range b.o.Bootstrap {
			if ctx.Err() != nil {
				return t, shift, scatter, false
			}
			watch.Say(fit.Progress{Method: "lugre", Phase: "bootstrap", Step: pass*b.o.Bootstrap + i, Of: rounds * b.o.Bootstrap})
			r := rand.New(rand.NewPCG(b.o.Seed, uint64(pass*b.o.Bootstrap+i)))
			e, ms, err := b.refit(ctx, r, &truth, sd, order)
			if err != nil {
				return t, shift, scatter, false
			}
			left += ms / float64(b.o.Bootstrap)
			for j := range e {
				sum[j] += e[j] - truth[j]
				squares[j] += (e[j] - truth[j]) * (e[j] - truth[j])
			}
		}
		if b.o.ForceNoise == 0 { // some of it comes from smoothing and is made anew every time
			sd = math.Sqrt(max(sd*sd+real-left, 0.01*real))
		}
		c := float64(b.o.Bootstrap)
		for j := range t {
			mean := sum[j] / c
			shift[j] = mean
			scatter[j] = math.Sqrt(max(squares[j]/c-mean*mean, 0) * c / (c - 1))
			t[j] = b.f.theta[j] - mean
		}
		b.m.clip(&t)
		if t[breakout] == t[coulomb] {
			t[breakout] = t[coulomb] * (1 + thin)
		}
	}
	return t, shift, scatter, true
}

// refit fits one noisy copy of the follower.
func (b *bootstrap) refit(ctx context.Context, r *rand.Rand, truth *theta, sd float64, order int) (theta, float64, error) {
	n := len(b.x)
	d := &data{h: b.d.h, y: make([]float64, n), u: make([]float64, n), quantum: b.d.quantum, noise: b.d.noise}
	rounding := d.quantum / math.Sqrt(12)
	white := math.Sqrt(max(0, d.noise*d.noise-rounding*rounding))
	at := d.quantum * r.Float64()
	for k := range n {
		d.y[k] = b.x[k] + white*r.NormFloat64()
		if d.quantum > 0 {
			d.y[k] = math.Round((d.y[k]+at)/d.quantum) * d.quantum
		}
		d.u[k] = b.u[k] + sd*r.NormFloat64()
	}
	sm := newSmoother(order, n)
	sm.run(d.y, b.f.lambda)
	s := &search{m: b.m, d: d, mo: newMotion(d, Linear), workers: b.o.Workers}
	copy(s.mo.x, sm.x)
	s.mo.derive()
	s.mo.rows()
	t, cost, err := s.polish(ctx, *truth, 1e-8)
	return t, cost / float64(s.mo.last-s.mo.first), err
}

// apply puts the outcome into the solution.
func (b *bootstrap) apply(ctx context.Context, s *fit.Solution, watch fit.Watch) {
	t, shift, scatter, ok := b.run(ctx, watch)
	if !ok {
		s.Notes = append(s.Notes, "The bootstrap failed: the fitted model cannot follow the measured motion. Values and errors are those of the smoothed motion.")
		return
	}
	errors, ok := standardErrors(s)
	if !ok {
		return
	}
	moved, wide := map[string]float64{}, map[string]float64{}
	for j, i := range b.m.free {
		// one fit scatters as the simulated ones do, and their mean is known to 1/√n of that
		e := scatter[i] * math.Sqrt(1+1/float64(b.o.Bootstrap))
		moved[b.m.name(i)], wide[b.m.name(i)] = shift[i], e
		if e > 0 && errors[j] > 0 {
			for k := j; k < len(s.Jac); k += len(b.m.free) {
				s.Jac[k] *= errors[j] / e
			}
		}
	}
	b.f.theta = t
	s.Params, s.Free = b.m.answer(t)
	s.Extra["bootstrap_shift"], s.Extra["bootstrap_error"] = moved, wide
	s.Notes[0] = "The motion was smoothed; what that does to the parameters was found with simulated records and taken off, and the errors are the scatter of their fits. The Kalman filter needs no such correction."
}

// standardErrors of the free parameters by (JᵀJ)⁻¹·s².
func standardErrors(s *fit.Solution) ([]float64, bool) {
	n := len(s.Free)
	var q, cov mat.Dense
	j := mat.NewDense(len(s.Residual), n, s.Jac)
	q.Mul(j.T(), j)
	d := make([]float64, n)
	for i := range d {
		d[i] = 1 / math.Sqrt(max(q.At(i, i), 1e-300))
	}
	for i := range n {
		for k := range n {
			q.Set(i, k, q.At(i, k)*d[i]*d[k])
		}
	}
	if cov.Inverse(&q) != nil {
		return nil, false
	}
	v := 1.0
	if !s.Known {
		v = 2 * s.Cost / float64(len(s.Residual)-n)
	}
	for i := range d {
		d[i] *= math.Sqrt(v * cov.At(i, i))
	}
	return d, true
}
