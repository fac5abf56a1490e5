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

// riccati runs the covariance over the declared pattern of samples until it repeats, and keeps a gain for every set of
// fresh samples and every age that the samples before them can have in the pattern. What the pattern never shows (a lost
// sample, for example) is treated with the covariance before its richest tick.
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
	rich := pattern(0)

	k.Reset(0)
	before := make([][nMax * nMax]float64, cycle) // covariance before the correction, by tick of the cycle
	const most = 2_000_000                        // ticks; a filter slower than that is no use in a run
	var last [nMax * nMax]float64
	for tick := 0; ; tick++ {
		if tick > most {
			return fmt.Errorf("kalman: no steady gain after %d ticks (torque walk %g N·m/√s): use a larger walk or the varying gain", most, k.s.TorqueWalk)
		}
		k.spread(&k.whole)
		mask := pattern(tick)
		before[tick%cycle] = k.p
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

	// gains: first what the pattern never shows, then the pattern
	k.gain = make([]steadyGain, 4*every[0]*max(1, every[1]))
	k.p = before[0]
	for i := range k.gain {
		k.gain[i] = k.solveGain(i & 3)
	}
	for tick := range cycle {
		k.p = before[tick]
		k.age = [2]int{1 + (tick+every[0]-1)%every[0], 1}
		if every[1] > 0 {
			k.age[1] = 1 + (tick+every[1]-1)%every[1]
		}
		mask := pattern(tick)
		k.gain[k.slot(mask)] = k.solveGain(mask)
	}
	// what StdDevs reports: after the richest tick
	k.p = before[0]
	k.correct([2]float64{}, rich)
	k.steadyP = k.p
	return nil
}

// slot is where the gain for the fresh samples in mask is kept, given the ticks since the last sample of each sensor.
func (k *Kalman) slot(mask int) int {
	a, b := min(k.age[0], k.s.Every[0])-1, min(k.age[1], max(1, k.s.Every[1]))-1
	return (a*max(1, k.s.Every[1])+b)*4 + mask
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
	g := &k.gain[k.slot(mask)]
	var nu [2]float64
	for j := range y {
		if mask&(1<<j) != 0 {
			nu[j] = y[j] - k.predicted(j)
			k.used++
			k.age[j] = 0
		}
		k.age[j]++
	}
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
