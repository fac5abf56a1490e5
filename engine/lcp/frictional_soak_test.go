//go:build soak

package lcp

import (
	"math"
	"testing"
)

// 240 parameter sets over more than the ranges of the brush's study, down to no clearance, tilts, soft joints and strong friction.
func TestFrictionHypercube(t *testing.T) {
	const sets, steps = 240, 5000
	r := source(11)
	perm := make([][]int, 8)
	for i := range perm {
		perm[i] = r.Perm(sets)
	}
	total, bad, eased, worstSet := 0, 0, 0, 0
	by := map[FrictionMethod]int{}
	for k := range sets {
		at := func(i int, lo, hi float64) float64 { return lo + (hi-lo)*(float64(perm[i][k])+r.Float64())/sets }
		s := newSlider(r)
		s.length = at(0, 0.010, 0.032)
		s.tilt = at(1, -5e-3, 5e-3)
		s.kappa = math.Exp(at(2, math.Log(0.1), math.Log(2)))
		s.clearance = at(3, 0, 2e-4)
		s.preload = at(4, 0.03, 0.07)
		s.muFace, s.muHolder, s.muSpring = at(5, 0.1, 0.3), at(6, 0.1, 0.3), 0.15
		s.epsFace = at(7, 0, 0.6)
		s.start()
		mine := 0
		for range steps {
			s.step(20e-6)
			total++
			by[s.last.Method]++
			if s.last.Eased > 0 {
				eased++
			}
			if s.last.Status != Verified {
				mine++
			}
		}
		bad, worstSet = bad+mine, max(worstSet, mine)
	}
	t.Logf("%d steps by %v: %d eased, %d not verified, at most %d in a set", total, by, eased, bad, worstSet)
	if bad > total/10000 {
		t.Errorf("%d of %d steps not verified", bad, total)
	}
}
