package lcp

import (
	"math"
	"testing"
)

// brushes run from easy to impossible: below zero clearance the holder squeezes the brush.
var brushes = []struct {
	name string
	set  func(s *slider)
}{
	{"new", func(*slider) {}},
	{"worn", func(s *slider) { s.length = 0.012 }},
	{"tight", func(s *slider) { s.clearance = 6e-5 }},
	{"wedged", func(s *slider) { s.clearance = 1e-5; s.kappa = 0.1; s.muHolder = 0.3; s.muFace = 0.3 }},
	{"wedged, tilted", func(s *slider) { s.clearance = 0; s.kappa = 0.1; s.muHolder = 0.3; s.muFace = 0.3; s.tilt = 5e-3 }},
	{"jammed", func(s *slider) { s.clearance = -1e-5; s.kappa = 0.1; s.muHolder = 0.3; s.muFace = 0.3 }},
	{"jammed, sticking", func(s *slider) { s.clearance = -2e-6; s.kappa = 0.1; s.muHolder = 1; s.muFace = 1; s.speed = 10 }},
	{"at rest", func(s *slider) {
		s.clearance = 0
		s.kappa = 0.1
		s.muHolder = 0.3
		s.muFace = 0.3
		s.speed = 0
		s.preload = 0.4
	}},
	{"at rest, jammed", func(s *slider) {
		s.clearance = -1e-6
		s.kappa = 0.1
		s.muHolder = 0.3
		s.muFace = 0.3
		s.speed = 0
		s.preload = 0.4
	}},
}

func TestFrictionBrushes(t *testing.T) {
	for _, c := range brushes {

		s := newSlider(source(3))
		c.set(s)
		s.start()
		by, active, bad, rounds, eased := map[FrictionMethod]int{}, map[int]int{}, 0, 0, 0
		worst := 0.0
		const steps = 1000
		for range steps {
			s.step(20e-6)
			by[s.last.Method]++
			if s.last.Eased > 0 {
				eased++
			}
			active[len(s.ids)]++
			rounds += s.last.Rounds
			if s.last.Status != Verified {
				bad++
			} else {
				worst = max(worst, s.last.Residual)
			}
			if math.IsNaN(s.q[0]) {
				t.Fatal("NaN")
			}
		}
		t.Logf("%s: %v, contacts %v, rounds %.2f, unverified %d of %d, residual %.1e; phi %.2g, eased %d", c.name, by, active,
			float64(rounds)/steps, bad, steps, worst, s.q[2], eased)
	}
}
