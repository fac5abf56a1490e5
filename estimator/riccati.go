package estimator

import (
	"fmt"
	"math"
)

// steadyGain is the constant correction for one set of fresh samples.
type steadyGain struct {
	k    [nMax * 2]float64 // n×2 row-major; per rad and per A
	sinv [4]float64        // inverse covariance of the innovation, 2×2
}

// riccati runs the covariance over the declared pattern of samples until it repeats, and keeps the gain for every set of
// fresh samples. A set that the pattern never shows (a lost sample, for example) is treated with the covariance before the
// richest tick of the pattern.
func (k *Kalman) riccati() error {
	n := k.n
	every := k.s.Every
	cycle := every[0]
	if every[1] > 0 {
		cycle = lcm(every[0], every[1])
	}
	pattern := func(tick int) int {
		mask := 0
		for j, e := range every {
			if e > 0 && tick%e == 0 {
				mask |= 1 << j
			}
		}
		return mask
	}

	k.Reset(0)
	var before [4][nMax * nMax]float64 // covariance before the correction, by set
	var seen [4]bool
	const most = 2_000_000 // ticks; a filter slower than that is no use in a run
	var last [nMax * nMax]float64
	for tick := 0; ; tick++ {
		if tick > most {
			return fmt.Errorf("kalman: no steady gain after %d ticks (torque walk %g N·m/√s): use a larger walk or the varying gain", most, k.s.TorqueWalk)
		}
		k.spread(&k.whole)
		mask := pattern(tick)
		before[mask], seen[mask] = k.p, true
		k.correct([2]float64{}, mask)
		if tick%cycle == cycle-1 {
			worst := 0.0
			for i := range n {
				for j := range n {
					scale := math.Sqrt(k.p[i*n+i] * k.p[j*n+j])
					worst = max(worst, math.Abs(k.p[i*n+j]-last[i*n+j])/scale)
				}
			}
			if worst < 1e-12 {
				break
			}
			last = k.p
		}
	}

	// gains from the covariance before each kind of tick
	rich := 3
	for !seen[rich] {
		rich--
	}
	for mask := 1; mask < 4; mask++ {
		if seen[mask] {
			k.p = before[mask]
		} else {
			k.p = before[rich]
		}
		k.gain[mask] = k.solveGain(mask)
	}
	// what StdDevs reports: after the richest tick
	k.p = before[rich]
	k.correct([2]float64{}, rich)
	k.steadyP = k.p
	return nil
}

// solveGain is K = P·Hᵀ·(H·P·Hᵀ + R)⁻¹ for the sensors in mask.
func (k *Kalman) solveGain(mask int) (g steadyGain) {
	n := k.n
	var s [4]float64
	for a := range 2 {
		for b := range 2 {
			v := k.times(hIndex[a], b)
			if a == 1 && n > XBias {
				v += k.times(XBias, b)
			}
			s[2*a+b] = v
		}
		s[3*a] += k.r[a]
	}
	switch mask {
	case 1:
		g.sinv[0] = 1 / s[0]
	case 2:
		g.sinv[3] = 1 / s[3]
	case 3:
		det := s[0]*s[3] - s[1]*s[2]
		g.sinv = [4]float64{s[3] / det, -s[1] / det, -s[2] / det, s[0] / det}
	}
	for i := range n {
		p0, p1 := k.times(i, 0), k.times(i, 1)
		g.k[2*i] = p0*g.sinv[0] + p1*g.sinv[2]
		g.k[2*i+1] = p0*g.sinv[1] + p1*g.sinv[3]
	}
	return g
}

// correctSteady corrects with the constant gain that belongs to the fresh samples.
func (k *Kalman) correctSteady(y [2]float64, mask int) {
	k.nis, k.used = 0, 0
	if mask == 0 {
		return
	}
	var nu [2]float64
	for j := range y {
		if mask&(1<<j) != 0 {
			nu[j] = y[j] - k.predicted(j)
			k.used++
		}
	}
	g := &k.gain[mask]
	for i := range k.n {
		k.x[i] += g.k[2*i]*nu[0] + g.k[2*i+1]*nu[1]
	}
	k.nis = nu[0]*(g.sinv[0]*nu[0]+g.sinv[1]*nu[1]) + nu[1]*(g.sinv[2]*nu[0]+g.sinv[3]*nu[1])
}

func lcm(a, b int) int {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}
