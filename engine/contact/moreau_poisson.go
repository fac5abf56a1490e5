package contact

import (
	"math"

	"hilrig/engine/lcp"
)

// poisson settles the contacts of a step in two phases, compression and expansion, by Impact: contacts that hit rebound with
// their ε, the others with none. Forces of the step count as part of the compression.
type poisson struct {
	im   *Impact
	laws []Law
}

func newPoisson(n int) *poisson { return &poisson{im: NewImpact(Poisson, n), laws: make([]Law, n)} }

// solve fills the impulses of m. Where no impulses for the laws exist, the contacts are settled without restitution.
func (p *poisson) solve(m *Moreau, d []float64) lcp.FrictionResult {
	n := len(m.Chosen)
	hits := false
	for k, c := range m.Chosen {
		l := m.Set.Law[c]
		if m.vk[2*k] >= -m.opt.VTh {
			l.EpsN, l.EpsT = 0, 0
		}
		hits = hits || l.EpsN > 0
		p.laws[k] = l
	}
	b := m.b[:2*n]
	if hits {
		r := p.im.Solve(d, b, p.laws[:n], m.Impulse)
		if r.Status != Unsolved {
			if r.Status == Lowered {
				m.Lowered++
			}
			for k := range n {
				m.State[k] = stateOf(m.Impulse[2*k], m.Impulse[2*k+1], m.mu[k])
			}
			return lcp.FrictionResult{Pivots: r.Pivots, Method: lcp.ByLemke}
		}
		m.Lowered++
	}
	return m.fric.Solve(d, b, m.mu[:n], m.State, m.Impulse)
}

// stateOf is the state that impulses belong to.
func stateOf(pn, pt, mu float64) lcp.State {
	switch {
	case pn <= 0:
		return lcp.Open
	case math.Abs(pt) < mu*pn*(1-1e-9):
		return lcp.Stick
	case pt < 0:
		return lcp.SlipPlus
	}
	return lcp.SlipMinus
}
