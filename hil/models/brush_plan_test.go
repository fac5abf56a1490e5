package models

import (
	"testing"

	"hilrig/hil"
)

// tick is a period of 1 ms of which 0.4 ms are the brush's.
func tick(busy float64) *hil.ModelInput {
	return &hil.ModelInput{Dt: 1e-3, Room: 0.4e-3, StepTime: busy}
}

// plans runs a plan for n steps at a constant cost (ns) and speed, and returns the share of averaged steps of the last half and
// the sub-steps of the last step.
func plans(p *brushPlan, n int, base, each, surface float64) (averaged float64, steps int) {
	busy, rested := 0.0, 0
	for k := range n {
		m, probe := p.next(tick(busy), surface)
		busy = 1e-9 * (base + each*float64(m))
		if k >= n/2 && p.level() == 1 {
			rested++
		}
		if steps = m; probe {
			steps = 0
		}
	}
	return float64(rested) / float64(n-n/2), steps
}

// Speed decides: the surface asks for more sub-steps than find room.
func TestContactFollowsTheSpeed(t *testing.T) {
	p := &brushPlan{step: 20e-6}
	// 3 µs: at most 133 find room
	for _, c := range []struct {
		surface  float64
		averaged float64
		steps    int
	}{{0, 0, 50}, {40.5, 0, 50}, {90.5, 0, 91}, {128, 0, 128}, {140, 1, 0}, {128, 1, 0}, {115, 0, 115}, {10, 0, 50}, {1e9, 1, 0}, {0, 0, 50}} {
		averaged, steps := plans(p, 2000, 0, 3000, c.surface)
		if averaged != c.averaged || steps != c.steps {
			t.Errorf("%g sub-steps needed: averaged %g of the time, %d sub-steps; want %g, %d", c.surface, averaged, steps, c.averaged, c.steps)
		}
	}
	// choices that leave nothing to decide
	full := &brushPlan{choice: ContactFull, step: 20e-6}
	if averaged, steps := plans(full, 200, 4000, 3000, 1e4); averaged != 0 || steps < 130 || steps > 134 {
		t.Errorf("full: averaged %g, %d sub-steps", averaged, steps)
	}
	if averaged, steps := plans(full, 400, 4000, 90000, 1e4); averaged != 0 || steps != 25 {
		t.Errorf("full, far too dear: averaged %g, %d sub-steps", averaged, steps)
	}
	mean := &brushPlan{choice: ContactAveraged, step: 20e-6}
	if averaged, steps := plans(mean, 200, 4000, 3000, 0); averaged != 1 || steps != 0 {
		t.Errorf("averaged: %g of the time, %d sub-steps", averaged, steps)
	}
}

// A host that takes the processor away now and then does not make the model look dear; one that does in every tenth step does.
func TestHiccupsOfTheHost(t *testing.T) {
	for _, c := range []struct {
		every int
		rest  bool
	}{{200, false}, {10, true}} {
		p := &brushPlan{step: 20e-6}
		busy, averaged := 0.0, 0
		for k := range 20000 {
			n, _ := p.next(tick(busy), 0)
			busy = 1e-9 * (4000 + 3000*float64(n))
			if k%c.every == c.every-1 {
				busy = 0.8e-3
			}
			if p.level() == 1 {
				averaged++
			}
		}
		if (averaged > 0) != c.rest {
			t.Errorf("0.8 of a period in every %d. step: averaged in %d of 20000", c.every, averaged)
		}
	}
}
