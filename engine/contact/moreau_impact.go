package contact

import "math"

// A contact that closes with ġ_N < 0 does so at the time
//
//	s = h/2 + g_N(q_m)/|ġ_N|  after the beginning of the step, −h/2 < s ≤ h/2
//
// Moreau's step lets the jump of its velocities act from (1 − θ)·h on, and gives back the approach at the beginning of the step. With
// Positions both are put right, so that an impact is of second order in h: without that it comes too late by half a step on the mean.

// rebound is the velocity that restitution asks for at closed contact k after an impact (m/s): with a = dġ_N/dt under the forces of the step and
// of the contacts that last,
//
//	ġ_N⁺ = −ε·(ġ_N + s·a) + (h − s)·a,  not below 0
//
// Impulses of the step before that were, or came with, those of an impact are no forces. Nor can the rebound be faster than the approach by more
// than twice of what forces other than of contact change the velocity in a step.
func (m *Moreau) rebound(d []float64, k int) float64 {
	eps := m.Set.Law[m.Chosen[k]].EpsN
	if !m.opt.Positions || eps == 0 {
		return -eps * m.vk[k]
	}
	gain := m.vf[2*k] - m.vk[k]
	for j, p := range m.Impulse {
		if !m.mem.slot[m.at[j/2]].hit {
			gain += d[4*k*len(m.Chosen)+j] * p
		}
	}
	s := ((1-m.opt.Theta)*m.opt.Step - m.lag[k]) / m.opt.Step
	return min(max(-eps*(m.vk[k]+s*gain)+(1-s)*gain, 0), -eps*m.vk[k]+2*math.Abs(m.vf[2*k]-m.vk[k]))
}

// sinceImpact moves q by what the impacts of the step have done since. Bodies that stay together are left in each other by as much as they came too
// far, which positions takes back at once: impulses hold the forces after the impact as well, and would leave a gap, from which bodies at rest hop.
func (m *Moreau) sinceImpact(d, q []float64) {
	n := len(m.Chosen)
	for k, lag := range m.lag[:n] {
		m.stays[k] = m.struck && m.back != nil // others may have been pushed into each other
		if lag == 0 {
			continue
		}
		m.late = max(m.late, lag)
		first := 2 * k
		m.stays[k] = false
		if m.back != nil && lag > 0 {
			v := m.vf[2*k]
			for j, p := range m.Impulse {
				v += d[2*k*2*n+j] * p
			}
			if m.stays[k] = v < 1e-6*-m.vk[k]; m.stays[k] {
				first++
			}
		}
		for l := first; l < 2*k+2; l++ {
			for j, x := range m.x[l*m.dof : (l+1)*m.dof] {
				q[j] += lag * m.Impulse[l] * x
			}
		}
	}
}
