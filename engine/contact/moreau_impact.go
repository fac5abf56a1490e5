package contact

import "math"

// A contact that closes with ġ_N < 0 does so at the time
//
//	s = h/2 + g_N(q_m)/|ġ_N|  after the beginning of the step, −h/2 < s ≤ h/2
//
// Moreau's step lets the jump of its velocities act from (1 − θ)·h on, and gives back the approach at the beginning of the step. With
// Positions both are put right, so that an impact is of second order in h: without that it comes too late by half a step on the mean.

// rebound is the velocity that restitution asks for at closed contact k after an impact (m/s): with a = dġ_N/dt under the forces of the
// step and of the contacts that last,
//
//	ġ_N⁺ = −ε·(ġ_N + s·a) + (h − s)·a,  not below 0
//
// Impulses of the step before that were, or came with, those of an impact are no forces. Nor can the rebound be faster than the approach by
// more than twice of what forces other than of contact change the velocity in a step.
func (m *Moreau) rebound(d []float64, k int) float64 {
	eps := m.Set.Law[m.ClosedPlaces[k]].EpsN
	if !m.opt.Positions || eps == 0 {
		return -eps * m.vk[k]
	}
	gain := m.vf[2*k] - m.vk[k]
	for j, p := range m.Impulse {
		if !m.mem.slot[m.memPlaces[j/2]].hit {
			gain += d[4*k*len(m.ClosedPlaces)+j] * p
		}
	}
	s := ((1-m.opt.Theta)*m.opt.Step - m.lag[k]) / m.opt.Step
	return min(max(-eps*(m.vk[k]+s*gain)+(1-s)*gain, 0), -eps*m.vk[k]+2*math.Abs(m.vf[2*k]-m.vk[k]))
}

// sinceImpact moves q by what the impacts of the step have done since. Impulses of contacts that share bodies are one impact, which others
// of them pass on: it has one time s, the mean of its closures by P_N·|ġ_N|. With a time each, impulses that hold each other would move
// bodies. Where all its bodies part,
//
//	q⁺ += ((1−θ)·h − s)·M̂⁻¹W·P
//
// Where some stay together impulses hold the forces after the impact as well, and would leave a gap, from which bodies at rest hop. Then
//
//	q⁺ = q + s·u + (h − s)·u⁺
func (m *Moreau) sinceImpact(d, u, q []float64) {
	n := len(m.ClosedPlaces)
	for k, lag := range m.lag[:n] {
		m.stays[k] = m.struck && m.positionSolver != nil && lag == 0 // others may have been pushed into each other
		m.visited[k] = false
	}
	if !m.struck {
		return
	}
	clear(m.coordMoved)
	for seed, p := range m.Impulse[:2*n] {
		if p == 0 || m.visited[seed/2] {
			continue
		}
		impact := m.impactGroup(d, seed/2)
		var weight, lag, speed float64
		for _, k := range impact {
			if l := m.lag[k]; l != 0 {
				w := -m.vk[k] * m.Impulse[2*k]
				weight, lag, speed = weight+w, lag+w*l, max(speed, -m.vk[k])
			}
		}
		if weight == 0 {
			continue
		}
		lag /= weight
		m.maxLag = max(m.maxLag, lag)
		lasts := false
		for _, k := range impact {
			v := m.vf[2*k]
			for j, p := range m.Impulse {
				v += d[2*int(k)*2*n+j] * p
			}
			if v < 1e-6*speed {
				lasts = true
				m.stays[k] = m.positionSolver != nil && m.lag[k] >= 0
			}
		}
		for _, k := range impact {
			for l := 2 * int(k); l < 2*int(k)+2; l++ {
				for j, x := range m.x[l*m.dof : (l+1)*m.dof] {
					switch {
					case !lasts:
						q[j] += lag * m.Impulse[l] * x
					case x != 0 && !m.coordMoved[j]:
						q[j] += lag * (m.unew[j] - u[j])
						m.coordMoved[j] = true
					}
				}
			}
		}
	}
}

// impactGroup lists the closed contacts with impulses that share bodies with contact k, directly or through others of them, k among them.
func (m *Moreau) impactGroup(d []float64, k int) []int32 {
	n := len(m.ClosedPlaces)
	m.queue = append(m.queue[:0], int32(k))
	m.visited[k] = true
	for at := 0; at < len(m.queue); at++ {
		i := int(m.queue[at])
		for j := range n {
			if p, a, b := m.Impulse[2*j:], d[4*i*n+2*j:], d[(4*i+2)*n+2*j:]; !m.visited[j] && (p[0] != 0 || p[1] != 0) &&
				(a[0] != 0 || a[1] != 0 || b[0] != 0 || b[1] != 0) {
				m.queue = append(m.queue, int32(j))
				m.visited[j] = true
			}
		}
	}
	return m.queue
}
