package contact

import "hilrig/engine/lcp"

// positions takes penetration back by moving q and leaves velocities alone:
//
//	q⁺ += M̂⁻¹W_N·λ,   0 ≤ λ ⊥ W_NᵀM̂⁻¹W_N·λ + β·g_N(q⁺) ≥ 0
//
// over the closed contacts, with β = 1 where g_N(q⁺) > 0 and for contacts that close in this step and stay. In the rows of velocity
// β·g_N/h leaves a speed behind when a contact opens, β/2 of that of the impact and more, whatever h: an impact with ε = 0 rebounds.
// This does not.
type positions struct {
	b, p, mu []float64
	state    []lcp.State
}

func newPositions(n int) *positions {
	return &positions{b: make([]float64, 2*n), p: make([]float64, 2*n), mu: make([]float64, n), state: make([]lcp.State, n)}
}

// correct moves q after a step whose impulses are known and whose contacts were looked for at qm.
func (c *positions) correct(m *Moreau, qm, q []float64) {
	h, n, f := m.opt.Step, len(m.ClosedPlaces), m.dof
	x, d := m.x[:2*n*f], m.d[:4*n*n]
	deep := false
	for k, i := range m.ClosedPlaces {
		gap := m.Set.Gap[i] + 0.5*h*m.Set.VN[i] + 0.25*h*m.turn[k]
		for j, w := range m.Set.RowN(int(i)) {
			gap += w * (q[j] - qm[j])
		}
		r := gap
		if gap < 0 { // what an approach of a step explains is taken back at once where it stays; deeper ones would rock others into each other
			r = m.opt.Beta * gap
			if m.stays[k] {
				r = max(gap, r-(1-m.opt.Beta)*h*max(-m.vk[k], 0))
			}
		}
		deep = deep || r < 0
		c.b[2*k], c.b[2*k+1] = r, 0
		c.p[2*k], c.p[2*k+1] = 0, 0
		switch old := &m.mem.slot[m.memPlaces[k]]; {
		case old.stamp == m.Steps-1 && old.id == m.Set.ID[i]:
			c.state[k], c.p[2*k] = old.positionState, old.lambda
		case r < 0:
			c.state[k] = lcp.SlipPlus
		default:
			c.state[k] = lcp.Open
		}
	}
	if !deep || m.fric.Solve(d, c.b[:2*n], c.mu[:n], c.state[:n], c.p[:2*n]).Status != lcp.Verified {
		clear(c.state[:n]) // what is left is taken back in the steps to come
		clear(c.p[:2*n])
	}
	addRows(q, c.p[:2*n], x)
}
