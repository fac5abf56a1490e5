package contact

import (
	"math"

	"hilrig/engine/lcp"
)

// poisson settles the contacts of a step by Impact, by Poisson's law in its two phases or with Positions by Newton's, and then what β
// and the forces ask for beyond that:
//
//	P₁ from ġ(u_free) + D·P₀,  P₂ from ġ(u_free) + D·P₁ + β·g_N/h,  P = P₁ + P₂
//
// with P₀ the impulses of the step before of contacts that last, which hold the forces of the step. Forces that are left are part of
// the compression, as they have to be where stiff joints pass the blow on within a step. ε multiplies no more than the share of the
// approach that was there before the step, with Positions at the time of the impact: the weight of a ball on the ground does not make it
// rebound.
type poisson struct {
	im   *Impact
	laws []Law
	p1   []float64
	v    []float64 // ġ(u_free) + D·P₁, for the balance of energy
	seq  *sequence
}

func newPoisson(law ImpactLaw, n int) *poisson {
	return &poisson{im: NewImpact(law, n), laws: make([]Law, n), p1: make([]float64, 2*n), v: make([]float64, 2*n), seq: newSequence(n)}
}

// solve fills the impulses of m and returns the work of the contacts as Moreau.work does.
func (p *poisson) solve(m *Moreau, d []float64) (r lcp.FrictionResult, e, scale float64) {
	n := len(m.ClosedPlaces)
	p1, v := p.p1[:2*n], p.v[:2*n]
	clear(p1)
	hits := p.compression(m, d, v)
	if hits {
		// without impulses for these laws the contacts are settled without restitution
		if s := p.im.Solve(d, v, p.laws[:n], p1).Status; s != Resolved {
			m.Lowered++
		}
		if p.seq.differs(m, p, d, v, p1) {
			m.Merged++
		}
	}
	copy(v, m.vf)
	if hits {
		e, scale = work(d, p1, m.vf)
		for i := range v {
			dp := 0.0
			for j, x := range p1 {
				dp += d[i*2*n+j] * x
			}
			v[i] += dp
		}
	}
	r = m.fric.SolveEased(d, v, m.c[:2*n], m.mu[:n], m.State, m.Impulse)
	if r.Status == lcp.Failed {
		return r, 0, 0
	}
	e2, s2 := work(d, m.Impulse, v)
	for i, x := range p1 {
		m.Impulse[i] += x
	}
	for k := range n {
		if p1[2*k] > 0 {
			m.State[k] = stateOf(m.Impulse[2*k], m.Impulse[2*k+1], m.mu[k])
		}
	}
	return r, e + e2, scale + s2
}

// compression fills v with the velocities that the impacts of the step begin with, and the laws. It is false without an impact that
// rebounds. Contacts that last carry the forces of the step, as far as those are known from the step compression: what is left for an
// impact to compress is its own.
func (p *poisson) compression(m *Moreau, d, v []float64) (hits bool) {
	n, springy := len(m.ClosedPlaces), false
	for k, c := range m.ClosedPlaces {
		p.laws[k] = m.Set.Law[c]
		hits = hits || m.vk[k] < -m.opt.VTh && m.vf[2*k] < 0
		springy = springy || p.laws[k].EpsN > 0
	}
	copy(v, m.vf)
	if !hits || !springy {
		return false
	}
	for j, x := range m.Impulse {
		if x == 0 || m.mem.slot[m.memPlaces[j/2]].hit {
			continue
		}
		for i := range v {
			v[i] += d[2*n*i+j] * x
		}
	}
	for k := range n {
		l := &p.laws[k]
		switch start, free := m.vk[k], v[2*k]; {
		case start >= -m.opt.VTh && math.Abs(start) <= m.opt.VTh:
			v[2*k] = max(free, 0)
		case start >= -m.opt.VTh || free >= 0:
			l.EpsN, l.EpsT = 0, 0
		case free < start || m.opt.Positions:
			l.EpsN = min(m.rebound(d, k)/-free, 1)
		}
	}
	return true
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
