package brush

import (
	"fmt"
	"math"
)

const maxCoils = 16 // shorted at a time

// Commutation follows the coils that one brush shorts. Bars lie side by side under the brush, numbered from the edge
// towards positive rotation; coil k joins bars k and k+1 and carries +a before and −a after a brush that is passed forwards,
// a = i/2 the current of either armature path. While the brush touches both bars,
//
//	Lc·dc_k/dt + Rc·c_k + e + V_k − V_k+1 = 0,   V_k = R_k·I_k,   |V_k| ≤ Varc
//	I_1 = a + c_1,   I_k = c_k − c_k−1,   I_n+1 = a − c_n,   R_k = R·ΣA/A_k
//
// where A_k is the length of bar k under the face and R the resistance of all of it: the conductance goes with the area. A
// bar whose share vanishes cannot hold back more than an arc. For two bars this is the textbook's
// Lc·dc/dt + Rc·c + e + R_1·(a + c) − R_2·(a − c) = 0.
//
// When a bar leaves the face the current that still flows in it is broken: |a + c_1|, the index of sparking. The two brushes
// of a motor see the same by symmetry. A current through the face that is not uniform loses more than the resistance R
// tells, and the factor is Crowd = ΣR_k·I_k²/(R·i²) ≥ 1. It is what the bars' passing does to the armature current here; that
// the number of active conductors also changes by one coil is left out.
//
// Between the passing of slots, at which a step is cut, the scheme is the L-stable SDIRK of order 2 [HW96] (IV.6) with the
// areas of each stage; current, speed and R are held.
type Commutation struct {
	Lc, Rc float64 // H, Ω  one coil
	EMF    float64 // V     induced in each shorted coil; may change between steps
	Varc   float64 // V

	Crowd    float64 // 1  after a step, within 1 … 10
	Index    float64 // A  current broken when the last bar left
	Breaks   int     // bars that left
	Broken   float64 // A  sum of all Index
	Sparks   float64 // J  ½·Lc·Index² of all of them
	Unstable int     // steps that turned by more than a bar; the coils start anew

	pitch, halfFace, slot float64 // rad
	hi                    float64 // rad  slots within ±hi are bridged
	firstSlot, lastSlot   int     // numbers of the first and last bridged slot; lastSlot < firstSlot: none
	theta                 float64
	set                   bool
	c                     [maxCoils + 1]float64 // A   c_k, from the edge at +half
	area                  [maxCoils + 2]float64 // rad A_k
	g                     [maxCoils + 2]float64 // Ω   R_k of the stage
	arc                   [maxCoils + 2]float64 // V   voltage of a bar that arcs, 0: it does not
	d, e                  [maxCoils + 1]float64
	k1                    [maxCoils + 1]float64 // A/s
}

// NewCommutation prepares a brush of the given width on a commutator (m), whose slots have their centres at whole multiples of
// 2π/bars in its own frame.
func NewCommutation(radius, width, slot float64, bars int, lc, rc, varc float64) (*Commutation, error) {
	m := &Commutation{Lc: lc, Rc: rc, Varc: varc, Crowd: 1, pitch: 2 * math.Pi / float64(bars), halfFace: width / 2 / radius,
		slot: slot / radius}
	m.hi, m.lastSlot = m.halfFace-m.slot/2, -1
	if sum := radius + width + slot + lc + rc + varc; bars < 1 || !(radius > 0 && width > 0 && slot >= 0 && lc > 0 && rc >= 0 && varc > 0) ||
		math.IsInf(sum, 0) {
		return nil, fmt.Errorf("commutation: radius %g m, width %g m, slot %g m, %d bars, coil %g H %g ohm, arc %g V: want positive finite "+
			"numbers", radius, width, slot, bars, lc, rc, varc)
	}
	if n := 2*m.hi/m.pitch + 1; n > maxCoils {
		return nil, fmt.Errorf("commutation: a brush of %g m shorts up to %.0f coils, want at most %d", width, n, maxCoils)
	}
	return m, nil
}

// Coils is the number of coils that are shorted now.
func (m *Commutation) Coils() int { return max(0, m.lastSlot-m.firstSlot+1) }

// Coil is the current of shorted coil k, counted from the edge towards positive rotation (A).
func (m *Commutation) Coil(k int) float64 { return m.c[k] }

// Step follows the coils for h (s) while the commutator turns from where it was to theta (rad), at the brush current i (A) and
// the face's resistance r (Ω). theta is counted from where slot 0 is under the middle of the brush.
func (m *Commutation) Step(h, theta, i, r float64) {
	if sum := h + theta + i + r + m.EMF; !(h > 0) || !(r >= 0) || math.IsNaN(sum) || math.IsInf(sum, 0) {
		m.Crowd = 1
		return
	}
	if m.hi <= 0 { // a brush narrower than a slot shorts nothing
		return
	}
	a := i / 2
	if !m.set || math.Abs(theta-m.theta) > m.pitch {
		if m.set {
			m.Unstable++
		}
		m.start(theta, a)
	}
	from, left := m.theta, h
	rate := (theta - from) / h
	// cut the step where a slot enters or leaves the face
	for left > 0 && rate != 0 {
		next, enters := m.event(rate > 0)
		t := (next - from) / rate
		if !(t <= left) {
			break
		}
		if t > 0 {
			m.coils(t, from, rate, a, r)
			from, left = next, left-t
		}
		m.pass(rate > 0, enters, a)
	}
	if left > 0 {
		m.coils(left, from, rate, a, r)
	}
	m.theta = theta
	m.crowd(theta, i, r)
}

// at is the place of slot k; slots are numbered against the rotation.
func (m *Commutation) at(theta float64, k int) float64 { return theta - float64(k)*m.pitch }

// start puts every bridged coil on the straight line of uniform density.
func (m *Commutation) start(theta, a float64) {
	m.theta, m.set = theta, true
	m.firstSlot = int(math.Ceil((theta - m.hi) / m.pitch))
	m.lastSlot = int(math.Floor((theta + m.hi) / m.pitch))
	for k := m.firstSlot; k <= m.lastSlot; k++ {
		m.c[k-m.firstSlot] = -a * max(-1, min(1, m.at(theta, k)/m.halfFace))
	}
}

// event is the angle at which the next slot enters or leaves when the commutator turns on.
func (m *Commutation) event(forward bool) (theta float64, enters bool) {
	in, out := -m.hi+float64(m.lastSlot+1)*m.pitch, m.hi+float64(m.firstSlot)*m.pitch
	if !forward {
		in, out = m.hi+float64(m.firstSlot-1)*m.pitch, -m.hi+float64(m.lastSlot)*m.pitch
		return max(in, out), in > out
	}
	return min(in, out), in < out
}

// pass takes a coil in, or breaks the current of the bar that leaves.
func (m *Commutation) pass(forward, enters bool, a float64) {
	n := m.Coils()
	switch {
	case enters && forward:
		m.c[n] = a
		m.lastSlot++
		return
	case enters:
		copy(m.c[1:n+1], m.c[:n])
		m.c[0] = -a
		m.firstSlot--
		return
	}
	if forward {
		m.Index = math.Abs(a + m.c[0])
		copy(m.c[:n-1], m.c[1:n])
		m.firstSlot++
	} else {
		m.Index = math.Abs(a - m.c[n-1])
		m.lastSlot--
	}
	m.Breaks++
	m.Broken += m.Index
	m.Sparks += m.Lc / 2 * m.Index * m.Index
}

// areas fills A_k and R_k of all bars under the face at the angle theta.
func (m *Commutation) areas(theta, r float64) {
	n, sum := m.Coils(), 0.0
	upper := min(m.halfFace, m.at(theta, m.firstSlot-1)-m.slot/2) // edge of the face or of the bar
	for j := range n {
		s := m.at(theta, m.firstSlot+j)
		m.area[j] = max(1e-9*m.halfFace, upper-(s+m.slot/2))
		sum += m.area[j]
		upper = s - m.slot/2
	}
	m.area[n] = max(1e-9*m.halfFace, upper-max(-m.halfFace, m.at(theta, m.lastSlot+1)+m.slot/2))
	sum += m.area[n]
	for j := range n + 1 {
		m.g[j] = r * sum / m.area[j]
	}
}

// coils advances the currents by t from the angle from, without a slot passing.
func (m *Commutation) coils(t, from, rate, a, r float64) {
	n := m.Coils()
	if n == 0 {
		return
	}
	const gamma = 1 - math.Sqrt2/2
	old := m.c
	m.areas(from+rate*gamma*t, r)
	m.stage(n, gamma*t, a)
	for k := range n {
		m.k1[k] = (m.c[k] - old[k]) / (gamma * t)
		m.c[k] = old[k] + (1-gamma)*t*m.k1[k]
	}
	m.areas(from+rate*t, r)
	m.stage(n, gamma*t, a)
}

// stage solves c + (τ/Lc)·(Rc·c + e + V_k − V_k+1) = c0 in place. Bars that arc hold their voltage; which ones do is found by
// trying, from none on: the losses are monotone in the currents, so a few rounds settle it.
func (m *Commutation) stage(n int, tau, a float64) {
	f := tau / m.Lc
	rhs := m.c
	for j := range n + 1 {
		m.arc[j] = 0
	}
	for range 4 {
		// tridiagonal, diagonally dominant
		for k := range n {
			gu, gl := m.g[k], m.g[k+1]
			b := rhs[k] - f*m.EMF
			if m.arc[k] != 0 {
				gu = 0
				b -= f * m.arc[k]
			} else if k == 0 {
				b -= f * gu * a
			}
			if m.arc[k+1] != 0 {
				gl = 0
				b += f * m.arc[k+1]
			} else if k == n-1 {
				b += f * gl * a
			}
			m.d[k] = 1 + f*(m.Rc+gu+gl)
			m.c[k] = b
			if k > 0 && gu > 0 { // the bar above is shared with coil k−1
				m.e[k] = -f * gu
				l := m.e[k] / m.d[k-1]
				m.d[k] -= l * m.e[k]
				m.c[k] -= l * m.c[k-1]
			} else {
				m.e[k] = 0
			}
		}
		for k := n - 1; k >= 0; k-- {
			if k < n-1 {
				m.c[k] -= m.e[k+1] * m.c[k+1]
			}
			m.c[k] /= m.d[k]
		}
		changed := false
		for j := range n + 1 {
			v, was := m.g[j]*m.bar(j, n, a), m.arc[j]
			switch {
			case v > m.Varc:
				m.arc[j] = m.Varc
			case v < -m.Varc:
				m.arc[j] = -m.Varc
			default:
				m.arc[j] = 0
			}
			changed = changed || m.arc[j] != was
		}
		if !changed {
			return
		}
	}
}

// bar is the current from bar j into the brush (A).
func (m *Commutation) bar(j, n int, a float64) float64 {
	i := 0.0
	if j == 0 {
		i += a
	} else {
		i -= m.c[j-1]
	}
	if j == n {
		i += a
	} else {
		i += m.c[j]
	}
	return i
}

// crowd compares the loss in the face with that of a uniform current.
func (m *Commutation) crowd(theta, i, r float64) {
	m.Crowd = 1
	n := m.Coils()
	if n == 0 || r == 0 || i == 0 {
		return
	}
	m.areas(theta, r)
	p := 0.0
	for j := range n + 1 {
		c := math.Abs(m.bar(j, n, i/2))
		p += c * min(m.g[j]*c, m.Varc)
	}
	m.Crowd = max(1, min(10, p/(r*i*i)))
}
