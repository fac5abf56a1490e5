package hil

import (
	"math"
	"slices"
	"testing"

	"hilrig/engine"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// A tick that woke late finds a sample from after its deadline. The speed across the gap is way over time all the same: taken for as
// old as the deadline, the sample would show three times the speed, and the guard would trip for it.
func TestLateTickKeepsSpeed(t *testing.T) {
	b := newBench(t, benchOptions{seed: 1, ref: reference.Spec{Kind: "constant"}})
	s := b.controller.s
	s.Meas = append(slices.Clone(s.Meas), Of("drive", engine.Signal{Name: "age", Unit: "s"})...)
	s.Guard.Meas = append(append([]MeasLimit{}, s.Guard.Meas...), MeasLimit{})
	s.Ages = []int{2, 2, 2}
	c, err := NewController(s)
	if err != nil {
		t.Fatal(err)
	}
	var r Row
	schema := c.Schema()
	var blocks Blocks
	blocks.Meas, blocks.Est, blocks.Model, blocks.Cmd = schema.Blocks(&r)
	const omega = 100.0
	tick := func(at, age float64, fresh bool) {
		r.T, r.FreshSignals = int64(at*1e9), Fresh{}
		if fresh {
			r.FreshSignals = Fresh{7}
			blocks.Meas[0] = omega * (at - age)
		}
		blocks.Meas[1], blocks.Meas[2] = 0.1, age
		c.estimate(&r, &blocks)
	}
	now := 1.0
	for range 200 {
		now += 1e-3
		tick(now, 0.3e-3, true)
	}
	for k := range 3 {
		now += 1e-3
		tick(now, 0.3e-3+float64(k+1)*1e-3, false)
	}
	now += 1e-3
	tick(now, -8e-3, true) // woke 8 ms late
	if v := blocks.Est[estimator.XVel]; math.Abs(v-omega) > 0.1*omega {
		t.Errorf("speed %.1f rad/s after a late tick, want %g", v, omega)
	}
	if p, want := blocks.Est[estimator.XPos], omega*(now+8e-3); math.Abs(p-want) > 0.05 {
		t.Errorf("position %.3f rad, want %.3f, that of the sample", p, want)
	}
	// the ticks after it go on from there
	for range 3 {
		now += 4e-3
		tick(now, 0.3e-3, true)
	}
	if v := blocks.Est[estimator.XVel]; math.Abs(v-omega) > 0.1*omega {
		t.Errorf("speed %.1f rad/s a few ticks later, want %g", v, omega)
	}
}
