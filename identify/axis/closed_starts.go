package axis

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/identify/fit"
)

// Starts of a general law in a controller, after the way of a Loop [theory §9.6]: inertia and sliding friction from inverse
// dynamics, and what a law has beyond them drawn several times from a box that the same numbers span.

// slide takes first guesses from inverse dynamics of the longest piece.
func (m *Model) slide(r *rough) {
	longest := m.pieces[0]
	for _, p := range m.pieces {
		if p.n > longest.n {
			longest = p
		}
	}
	g := inverse(*longest.rec, longest.force, m.spec.Rotary)
	if !g.linear { // ranges alone: the regression of this model is as good
		g.m, g.fc, g.s2, g.offset = r.m, r.fc, r.fv, r.offset
		g.plus, g.minus = side{fc: g.fc, s2: g.s2}, side{fc: g.fc, s2: g.s2}
	}
	if inertia, ok := m.spec.Known[m.names.inertia]; ok && inertia > 0 {
		g.m = inertia
	}
	m.slides = g
	r.m, r.fc, r.fv, r.offset = g.m, g.fc, max(g.s2, 0.01*r.f/r.v), g.offset
}

// sliding moves the parameters to the guesses, those of a contact to the middle of the box of their draws.
func (m *Model) sliding(ps []fit.Param) {
	by := m.slides.start(m.spec, m.slides.box(m.spec.Rotary), [4]float64{0.5, 0.5, 0.5, 0.5})
	stiff := 0.0
	for i := range ps {
		p := &ps[i]
		if p.Fixed {
			continue
		}
		x, ok := by[p.Name]
		if !ok {
			x, ok = m.drawn(p, 0.5, &stiff)
		}
		if ok {
			p.Value = min(max(x, p.Lo), p.Hi)
		}
	}
}

// drawn is the value of a parameter of the contact at the share u of its box; ok is false for those that are not drawn. stiff
// is the stiffness (N/m) drawn before, to which damping belongs; 0: none yet.
func (m *Model) drawn(p *fit.Param, u float64, stiff *float64) (x float64, ok bool) {
	info, is := friction.Find(m.spec.Law)
	if !is || p.Fixed {
		return 0, false
	}
	base := strings.TrimRight(p.Name, "+-")
	params := info.New().Params()
	i := slices.IndexFunc(params, func(q engine.Param) bool { return q.Name == base })
	g := &m.slides
	b := g.box(m.spec.Rotary)
	switch {
	case base == "dFs":
		return b.rise.at(u), true
	case i < 0 || base == "Fc" || base == "alpha0" || base == dampedBy(m.spec.Law):
		return 0, false
	case base == "Fs" || base == "Fs_inf":
		return g.fc + b.rise.at(u), true
	}
	switch params[i].Unit {
	case "N/m":
		*stiff = b.sigma0.at(u)
		return *stiff, true
	case "N·s/m":
		if *stiff == 0 {
			*stiff = b.sigma0.mid()
		}
		return 2 * b.zeta.at(u) * math.Sqrt(*stiff*g.m), true
	case "m/s":
		return b.vs.at(u), true
	case "m": // a deflection
		return interval{lo: g.fc / b.sigma0.hi, hi: g.fc / b.sigma0.lo, log: true}.at(u), true
	}
	return interval{lo: p.Lo, hi: p.Hi, log: p.Log}.at(u), true
}

// Starts are points, in the free parameters, from which to descend in a controller: the best of each of n groups of draws
// (0: 5 of 20) of what the law has beyond sliding friction. The first group begins with the params as they are; a law without
// more than that has one start, these.
func (m *Model) Starts(params []fit.Param, n, draws int, seed uint64) ([][]float64, error) {
	all, err := m.merge(params)
	if err != nil {
		return nil, err
	}
	q, err := m.plan(all)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		n = 5
	}
	if draws == 0 {
		draws = 20
	}
	free, _ := fit.Free(all)
	own := make([]float64, len(free))
	contact := false
	for j := range free {
		own[j] = free[j].Value
		var stiff float64
		_, drawn := m.drawn(&free[j], 0.5, &stiff)
		contact = contact || drawn
	}
	if !contact || m.spec.Drive != Servo {
		return [][]float64{own}, nil
	}
	e := q.evaluator(1)
	out := make([][]float64, n)
	for i := range out {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		best, least := own, math.Inf(1)
		for d := range draws {
			theta := slices.Clone(own)
			stiff := 0.0
			for j := range free {
				if x, ok := m.drawn(&free[j], rng.Float64(), &stiff); ok && i+d > 0 {
					theta[j] = min(max(x, free[j].Lo), free[j].Hi)
				}
			}
			if cost := e.Cost(theta, least); cost < least {
				best, least = theta, cost
			}
		}
		out[i] = best
	}
	return out, nil
}

// Fit searches the parameters that are not fixed, from Starts. The solution is complete; its Extra is that of fit.MultiStart.
func (m *Model) Fit(ctx context.Context, params []fit.Param, s Search, watch fit.Watch) (*fit.Solution, error) {
	p, err := m.Problem(params)
	if err != nil {
		return nil, err
	}
	from, err := m.Starts(params, max(s.Starts, 0), max(s.Draws, 0), s.Seed)
	if err != nil {
		return nil, err
	}
	sol, err := s.descend(ctx, p, from, watch)
	if err != nil {
		return nil, err
	}
	return sol, m.Complete(params, sol)
}
