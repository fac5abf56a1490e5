package axis

import (
	"math"
	"testing"

	"hilrig/engine/plant"
	"hilrig/estimator"
)

// The balance by hand: R 2 Ω, K 0.5 V·s, tolerance 1 V and half of the terms; to both sides, at the edges.
func TestSignsBalance(t *testing.T) {
	s := &signs{s: &Spec{Motor: plant.Motor{R: 2, K: 0.5}}, current: true}
	for _, c := range []struct {
		u, i, omega float64
		fault       Fault
		over, limit float64
	}{
		{12, 3, 12, Fine, 0, 0},
		{4, 2, 0, Fine, 0, 0},
		{3, 1, -2, Fine, 0, 0},                     // over 2, limit 2.5
		{12, 3, -12, Direction, 12, 7},             // encoder: u = R·i − K·ω
		{6, -3, 0, Direction, 12, 4},               // drive, at rest: −u = R·i
		{12, -3, -12, Direction, 24, 7},            // drive in motion: −u = R·i + K·ω
		{12, -3, 12, Direction, 12, 7},             // current: u = −R·i + K·ω
		{12, 3, 0, Frozen, 6, 4},                   // the motion that is left over does not show
		{12, 0, 0, Frozen, 12, 1},                  // … or the drive does nothing
		{12, 3, 1, Frozen, 5.5, 4.25},              // less than a tenth of it shows
		{12, 3, 1.2, Fine, 0, 0},                   // more: 0.6 V of 5.4
		{1, 0, 0, Fine, 0, 0},                      // the edge of the tolerance
		{math.Nextafter(1, 2), 0, 0, Frozen, 1, 1}, // and beyond
		{20, 2, 8, Fine, 0, 0},                     // 12 V over: a weak supply is no sign
		{20, 2, -13.7, Fine, 0, 0},                 // 22.85 over, 9.15 with the encoder turned: more than a third
		{20, 2, -17.2, Direction, 24.6, 7.3},       // 7.4 with the encoder turned
		{12, 2, -12, Direction, 14, 6},             // 14 over, 2 with the encoder turned
		{4, 5.1, 0, Disagree, -6.2, 6.1},           // 10.2 V of current under 4 V
		{4, 4.9, 0, Fine, 0, 0},                    // 5.8 V too much, tolerated 5.9
		{1.9, -2, 0, Fine, 0, 0},                   // 5.9 V over are more than all of the voltage and the tolerance of 3 V: no way
		{-2, 12.5, -12, Disagree, -21, 16.5},       // motion does not explain it either: 25 V, 2 and 6
		{-2, 11.9, -12, Fine, 0, 0},                // 23.8 V, and 2, 6 and 15.9 V are as much
	} {
		for _, side := range []float64{1, -1} {
			got := s.balance(side*c.u, s.winding(side*c.i), side*0.5*c.omega, 0.5, 1)
			want := Finding{c.fault, estimator.Position, side * c.over, c.limit}
			switch c.fault {
			case Frozen: // the way in 20 ms
				want.Value, want.Limit = want.Value*20e-3/0.5, want.Limit*20e-3/0.5
			case Disagree: // the current
				want.Quantity, want.Value, want.Limit = estimator.Current, want.Value/2, want.Limit/2
			}
			if got.Fault != want.Fault || got.Quantity != want.Quantity || math.Abs(got.Value-want.Value) > 1e-12 ||
				math.Abs(got.Limit-want.Limit) > 1e-12 {
				t.Errorf("u %g i %g ω %g: %+v, want %+v", side*c.u, side*c.i, side*c.omega, got, want)
			}
		}
	}
	// the drop of the brushes has the sign of the current
	s.s.Motor.BrushDrop, s.s.Motor.DropScale = 1, 1e-6
	for _, side := range []float64{1, -1} {
		if got := s.balance(side*5, s.winding(side*2), 0, 0.5, 1e-9); got.Fault != Fine {
			t.Errorf("with the drop: %+v", got)
		}
	}
}

// How long it takes, what begins it anew, and which voltage counts.
func TestSignsTiming(t *testing.T) {
	spec := func() Spec {
		groups := []estimator.Group{{SamplePeriod: 1e-3, Quantities: []estimator.Quantity{estimator.Position, estimator.Current}}}
		return Spec{Tick: 1e-3, SamplePeriod: 1e-3, TopCommand: 20, Motor: plant.Motor{R: 2, K: 0.5},
			Sampling: estimator.AxisSpec{Groups: groups}}
	}
	type tick struct {
		off      bool
		skip     uint32
		doubtful bool
		meas     []float64 // position, current
		u        float64
		old      bool // no new sample
	}
	// first is the tick, from 1, in which it is found and in which it would be put down to it; 0: never
	first := func(s *signs, at func(k int) tick) (bad, hint int) {
		for k := 1; k <= 300; k++ {
			c := at(k)
			b, h := s.step(Tick{Energised: !c.off, Skip: c.skip}, !c.old, c.doubtful, c.u, c.u, [2]float64(c.meas))
			if b.Fault != Fine && bad == 0 {
				bad = k
			}
			if h.Fault != Fine && hint == 0 {
				hint = k
			}
		}
		return
	}
	still := []float64{0, 0}
	steady := tick{meas: still, u: 8}
	for _, c := range []struct {
		name      string
		at        func(k int) tick
		bad, hint int
	}{
		{"voltage and nothing else", func(int) tick { return steady }, 50, 35}, // one to begin, 30 of three times 10 ms, then 20 or 5
		{"the other way", func(int) tick { c := steady; c.u = -8; return c }, 50, 35},
		{"at rest", func(int) tick { c := steady; c.off = true; return c }, 0, 0},
		{"no voltage", func(int) tick { c := steady; c.u = 0; return c }, 0, 0},
		{"ticks of 5 ms", func(int) tick { c := steady; c.skip = 4; return c }, 10, 7},
		{"stale for a tick", func(k int) tick {
			c := steady
			if k == 20 {
				c.doubtful = true
			}
			return c
		}, 69, 54},
		{"out of range for a tick", func(k int) tick {
			c := steady
			if k == 48 {
				c.doubtful = true
			}
			return c
		}, 97, 35},
		{"no number for a tick", func(k int) tick {
			c := steady
			if k == 20 {
				c.meas = []float64{0, math.NaN()}
			}
			return c
		}, 70, 55}, // the next one begins it
		{"stopped for a tick", func(k int) tick {
			c := steady
			if k == 20 {
				c.off = true
			}
			return c
		}, 70, 55},
		{"now and then", func(k int) tick { // on for 4 ms, off for 4: never 20 ms long with 8 V in the mean
			c := steady
			c.meas = []float64{0, 1e-3 * float64(k%2)}
			if k/4%2 == 0 {
				c.u = -8
			}
			return c
		}, 0, -1},
		{"the same, and the current stays a number", func(k int) tick { // 30 to settle, 200 ms for as long as it may
			c := steady
			if k/4%2 == 0 {
				c.u = -8
			}
			return c
		}, 231, -1},
		{"0.39 V now and then, and the current stays a number", func(k int) tick {
			c := steady
			if c.u = 0.39; k/60%2 == 0 {
				c.u = 0
			}
			return c
		}, 0, -1},
		{"0.42 V now and then, and the current stays a number", func(k int) tick {
			c := steady
			if c.u = 0.42; k/60%2 == 0 {
				c.u = 0
			}
			return c
		}, 231, -1},
		{"a sample every fifth tick", func(k int) tick { c := steady; c.old = k%5 != 1; return c }, 46, 31}, // an interval counts whole
		{"no sample for 40 ms, in motion as it should be", func(k int) tick {
			c := tick{meas: []float64{8e-3 * float64(k), 2 + 1e-3*float64(k%2)}, u: 8}
			if k > 120 && k < 160 {
				c.old, c.meas = true, []float64{8e-3 * 120, 2}
			}
			return c
		}, 0, 0},
		{"as it should be", func(k int) tick { // 4 V in the winding, 4 V of motion
			return tick{meas: []float64{8e-3 * float64(k), 2}, u: 8}
		}, 0, 0},
		{"the same current while it gets faster", func(k int) tick { // u − K·ω stays 4 V, u goes from 4 V to 10 V
			at := 1e-3 * float64(k)
			return tick{meas: []float64{20 * at * at, 2}, u: 4 + 0.5*40*(at-0.5e-3)}
		}, 0, 0},
		{"less than an eighth of the tolerance", func(int) tick { return tick{meas: still, u: 0.124} }, 0, 0},
		{"more than an eighth of the tolerance", func(int) tick { return tick{meas: still, u: -0.126} }, 0, 35},
		{"the axis runs backwards", func(k int) tick { return tick{meas: []float64{-8e-3 * float64(k), 2}, u: 8} }, 50, 35},
	} {
		if bad, hint := first(newSigns(ptr(spec()), plant.VoltageDrive, 20), c.at); bad != c.bad || hint != c.hint && c.hint >= 0 {
			t.Errorf("%s: found in tick %d, put down to it in %d; want %d and %d", c.name, bad, hint, c.bad, c.hint)
		}
	}
	// the tolerance: the larger side of the limit of the drive, and the drop; without either there is nothing to go by
	for _, c := range []struct {
		top, drop, want float64
	}{{20, 0, 1}, {20, 0.3, 1.6}, {0, 0, 0}} {
		sp := spec()
		sp.TopCommand, sp.Motor.BrushDrop = c.top, c.drop
		if s := newSigns(&sp, plant.VoltageDrive, sp.TopCommand); math.Abs(s.floor-c.want) > 1e-12 {
			t.Errorf("limit %g V, drop %g V: tolerance %g V, want %g", c.top, c.drop, s.floor, c.want)
		}
	}
	sp := spec()
	sp.Sampling.Groups[0].Quantities = sp.Sampling.Groups[0].Quantities[:1]
	if bad, _ := first(newSigns(&sp, plant.VoltageDrive, sp.TopCommand), func(int) tick { return steady }); bad != 0 {
		t.Error("without a current there is nothing to compare")
	}
	sp = spec()
	sp.TopCommand = 0
	if bad, _ := first(newSigns(&sp, plant.VoltageDrive, sp.TopCommand), func(int) tick { return steady }); bad != 0 {
		t.Error("without a tolerance everything would be wrong")
	}
}

// A current that stays the same number is told with the range of the voltage that it left over, and with what it may be: twice the drop
// and 2 % of the largest command. The range does not begin at zero.
func TestFrozenCurrentIsTold(t *testing.T) {
	for _, side := range []float64{1, -1} {
		groups := []estimator.Group{{SamplePeriod: 1e-3, Quantities: []estimator.Quantity{estimator.Position, estimator.Current}}}
		s := newSigns(&Spec{Tick: 1e-3, SamplePeriod: 1e-3, TopCommand: 20, Motor: plant.Motor{R: 2, K: 0.5},
			Sampling: estimator.AxisSpec{Groups: groups}}, plant.VoltageDrive, 20)
		var found Finding
		for k := range 2000 {
			u := side * 8
			if k/300%2 == 1 { // long enough for a mean over 10 ms to get there
				u = side * 9
			}
			if bad, _ := s.step(Tick{Energised: true}, true, false, u, u, [2]float64{0, side * 4.25}); bad.Fault != Fine {
				found = bad
			}
		}
		if found.Fault != FrozenCurrent || found.Quantity != estimator.Current || math.Abs(found.Value-1) > 1e-9 ||
			math.Abs(found.Limit-0.4) > 1e-12 {
			t.Errorf("side %+g: %+v, want 1 V beyond 0.4 V", side, found)
		}
	}
}

// The means are over five samples and 10 ms at least. Without a measured current five times break-away, as a voltage, is tolerated beside
// the rest; without a limit of the drive and a drop there is no tolerance, and nothing is judged.
func TestSignsTolerances(t *testing.T) {
	spec := Spec{Tick: 1e-3, TopCommand: 20, Motor: plant.Motor{R: 2, K: 0.5, BrushDrop: 0.25}, Law: demoLaw()}
	for every, want := range map[float64]float64{1e-3: 10e-3, 2e-3: 10e-3, 4e-3: 20e-3, 20e-3: 100e-3} {
		spec.SamplePeriod = every
		if s := newSigns(&spec, plant.VoltageDrive, spec.TopCommand); math.Abs(s.tau-want) > 1e-15 {
			t.Errorf("a sample every %g s: means over %g s, want %g", every, s.tau, want)
		}
	}
	blind, sees := newSigns(&spec, plant.VoltageDrive, spec.TopCommand), spec
	sees.Sampling.Groups = []estimator.Group{{SamplePeriod: 1e-3, Quantities: []estimator.Quantity{estimator.Position, estimator.Current}}}
	if got, want := blind.floor, 1.5+5*21e-3*2/0.5; math.Abs(got-want) > 1e-12 {
		t.Errorf("without a current: tolerance %g V, want %g", got, want)
	}
	if got := newSigns(&sees, plant.VoltageDrive, sees.TopCommand).floor; got != 1.5 {
		t.Errorf("with a current: tolerance %g V, want 1.5", got)
	}
	spec.TopCommand, spec.Motor.BrushDrop = 0, 0
	if got := newSigns(&spec, plant.VoltageDrive, spec.TopCommand).floor; got != 0 {
		t.Errorf("nothing is declared: tolerance %g V, want none", got)
	}
}

func ptr[T any](x T) *T { return &x }
