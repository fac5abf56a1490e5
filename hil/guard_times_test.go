package hil

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Skipped ticks are time too: HOLD, i²t and the patience with the status word do not last longer because the host was away.
func TestGuardSkippedTime(t *testing.T) {
	g := newRigged(t, func(s *GuardSpec) { s.HoldTime = 0.010 })
	g.running()
	g.meas[0] = math.NaN()
	g.row.Skip = 4
	g.ticks(2, 1)
	g.want(Hold, CauseNonFinite) // 10 ms
	g.ticks(1, 1)
	g.want(Trip, CauseNonFinite)

	g = newRigged(t, nil)
	g.running()
	g.meas[1] = 10
	g.row.Skip = 9
	n := 0
	for ; g.row.Mode == Run; n++ {
		g.tick(1, 0)
	}
	if n != 3 { // 28.8 ms
		t.Errorf("i²t with 10 ms a tick: tripped after %d ticks", n)
	}
}

// A supervisor that died and one that starved are told apart by the silence, whose value is told.
func TestGuardSupervisor(t *testing.T) {
	for _, c := range []struct {
		silence float64
		cause   Cause
		value   float64
	}{{0.002, CauseSupervisor, 0}, {0.25, CauseSupervisor, 0}, {0.2501, CauseStarved, 0.2501}} {
		g := newRigged(t, nil)
		g.running()
		g.row.Flags, g.row.Value = FlagSupLost, c.silence
		g.Decide(&g.row, g.meas)
		g.want(Trip, c.cause)
		if g.row.Value != c.value || c.value != 0 && g.row.Limit != 0.25 {
			t.Errorf("silence %g: value %g, limit %g", c.silence, g.row.Value, g.row.Limit)
		}
	}
}

// Missed deadlines: the single one at its edge, and the count in a window of exactly 100 ticks.
func TestGuardOverrunEdges(t *testing.T) {
	for _, c := range []struct {
		late int32
		mode Mode
	}{{50e6, Run}, {50e6 + 1, Trip}} {
		g := newRigged(t, func(s *GuardSpec) { s.OverrunLimit = 50e6 })
		g.running()
		g.late(c.late)
		if g.row.Mode != c.mode || c.mode == Trip && (g.row.Cause != CauseOverrun || g.row.Value != float64(c.late)*1e-9 || g.row.Limit != 0.05) {
			t.Errorf("%d ns late: %v (%v), %g of %g s", c.late, g.row.Mode, g.row.Cause, g.row.Value, g.row.Limit)
		}
	}
	// without a limit, and at rest, nothing trips
	g := newRigged(t, nil)
	g.running()
	g.late(2e9)
	g.want(Run, CauseCommand)
	g = newRigged(t, func(s *GuardSpec) { s.OverrunLimit, s.Overrun = 1, OverrunTrip })
	for range 30 {
		g.late(1e9)
	}
	g.want(Ready, CauseNone)

	for _, policy := range []OverrunPolicy{OverrunHold, OverrunTrip} {
		for _, c := range []struct {
			gap  int // ticks between the first and the last of four misses
			want bool
		}{{99, true}, {100, false}} {
			g := newRigged(t, func(s *GuardSpec) { s.Overrun, s.OverrunMax = policy, 3 })
			g.running()
			g.ticks(200, 1)
			g.late(2e6)
			g.late(2e6)
			g.late(2e6)
			g.ticks(c.gap-3, 1)
			g.late(2e6)
			mode := map[OverrunPolicy]Mode{OverrunHold: Hold, OverrunTrip: Trip}[policy]
			if !c.want {
				mode = Run
			}
			if g.row.Mode != mode || c.want && (g.row.Cause != CauseLateTicks || g.row.Value != 4 || g.row.Limit != 3) {
				t.Errorf("policy %d, four misses within %d ticks: %v (%v), %g of %g", policy, c.gap+1, g.row.Mode, g.row.Cause, g.row.Value,
					g.row.Limit)
			}
		}
	}
	// a skipped tick is a miss like a late one
	g = newRigged(t, func(s *GuardSpec) { s.Overrun, s.OverrunMax = OverrunTrip, 0 })
	g.running()
	g.row.T += 1e6
	g.row.Flags = FlagSkipped
	g.Decide(&g.row, g.meas)
	g.want(Trip, CauseLateTicks)
}

// The status word is looked at 0.1 s after the drive was enabled, not before, and tells its bits.
func TestGuardStatusPatience(t *testing.T) {
	g := newRigged(t, func(s *GuardSpec) { s.Meas[0] = MeasLimit{Status: true} })
	g.running()
	g.meas[0] = 6
	for k := 1; g.row.Mode == Run; k++ {
		g.tick(1, 0)
		if g.row.Mode == Trip && (k < 100 || k > 102) || k > 102 {
			t.Errorf("%v after %d ms", g.row.Mode, k)
			break
		}
	}
	g.want(Trip, CauseDevice)
	if g.row.CauseSignal != 1 || g.row.Value != 6 {
		t.Errorf("signal %d, status %g", g.row.CauseSignal, g.row.Value)
	}
	// stop and run again: the patience begins anew
	g = newRigged(t, func(s *GuardSpec) { s.Meas[0] = MeasLimit{Status: true} })
	g.running()
	g.ticks(300, 1)
	g.tick(0, ReqStop)
	g.tick(0, ReqArm)
	g.tick(0, ReqRun)
	g.meas[0] = 6
	g.ticks(50, 1)
	g.want(Run, CauseCommand)
}

// Times at their edges, in ticks of a quarter of a second, which binary numbers hold exactly.
func TestGuardTimes(t *testing.T) {
	s := GuardSpec{Dt: 0.25, GuardLimits: GuardLimits{SelfTest: 1, HoldTime: 0.5}, Meas: []MeasLimit{{Age: true}, {Lo: -1, Hi: 1}},
		Cmd: []CmdLimit{{Drives: true, Lo: -1, Hi: 1}}}
	g := NewGuard(s)
	var r Row
	tick := func(x float64, q Request) (Mode, Refusal) {
		r.T, r.FreshSignals, r.Req, r.Res, r.Flags = r.T+250e6, Fresh{3}, uint8(q), 0, 0
		g.Decide(&r, []float64{0, x})
		return r.Mode, r.Res
	}
	modes := func(x float64, want ...Mode) {
		t.Helper()
		for k, m := range want {
			if got, _ := tick(x, 0); got != m {
				t.Errorf("tick %d at %g: %v, want %v", k, x, got, m)
			}
		}
	}
	modes(0, SelfTest, SelfTest, SelfTest, Ready, Ready)
	modes(2, SelfTest)
	modes(0, SelfTest, SelfTest, SelfTest, Ready)
	// a stop is taken everywhere, also where nothing changes, and parameters are none of the guard's business
	for _, q := range []Request{ReqStop, ReqSet, 200} {
		if m, res := tick(0, q); m != Ready || res != Taken {
			t.Errorf("%v in READY: %v, refusal %d", q, m, res)
		}
	}
	tick(0, ReqArm)
	tick(0, ReqRun)
	modes(2, Hold, Hold, Trip)
	for _, q := range []Request{ReqStop, ReqRun} {
		if m, res := tick(2, q); m != Trip || (res == Taken) != (q == ReqStop) {
			t.Errorf("%v in TRIP: %v, refusal %d", q, m, res)
		}
	}
	// hold time in instalments: its edge within a second is still good, more trips; after a second it is forgotten
	again := func() {
		t.Helper()
		tick(0, ReqReset)
		modes(0, SelfTest, SelfTest, SelfTest, Ready)
		tick(0, ReqArm)
		tick(0, ReqRun)
	}
	again()
	modes(2, Hold)
	modes(0, Run)
	modes(2, Hold)
	modes(2, Trip)
	again()
	modes(2, Hold, Hold)
	modes(0, Run)
	modes(2, Trip)
	again()
	modes(2, Hold, Hold)
	modes(0, Run, Run, Run)
	modes(2, Hold, Hold, Trip)
	// asked for while it waits for a sensor: taken, and it stays when the sensor is well
	again()
	modes(2, Hold)
	if m, res := tick(2, ReqHold); m != Hold || res != Taken {
		t.Errorf("hold in a blind HOLD: %v, refusal %d", m, res)
	}
	modes(0, Hold, Hold, Hold, Hold, Hold)
	if m, res := tick(0, ReqHold); m != Hold || res != Taken {
		t.Errorf("hold in HOLD: %v, refusal %d", m, res)
	}
	modes(2, Hold, Hold, Trip)
	again()
	if m, res := tick(2, ReqHold); m != Hold || res != Taken { // in the very tick in which the sensor falls sick
		t.Errorf("hold beside a sick sensor: %v, refusal %d", m, res)
	}
	modes(0, Hold, Hold)
	if m, _ := tick(0, ReqRun); m != Run {
		t.Errorf("run out of it: %v", m)
	}
}

// ARMED ends by itself, at its edge and not before; run within that time stays.
func TestGuardArmedTime(t *testing.T) {
	for _, c := range []struct {
		limit float64
		ticks int // in ARMED, the one in which it was asked for included
	}{{0.5, 2}, {0.25, 1}, {0, 1000}} {
		g := NewGuard(GuardSpec{Dt: 0.25, GuardLimits: GuardLimits{Armed: c.limit}, Cmd: []CmdLimit{{Drives: true, Lo: -1, Hi: 1}}})
		var r Row
		tick := func(q Request) Mode {
			r.T, r.Req, r.Res, r.Flags = r.T+250e6, uint8(q), 0, 0
			g.Decide(&r, nil)
			return r.Mode
		}
		for tick(ReqNone) != Ready {
		}
		n := 0
		for m := tick(ReqArm); m == Armed && n < 1000; n++ {
			m = tick(ReqNone)
		}
		if n != c.ticks || c.limit > 0 && (r.Mode != Ready || r.Cause != CauseArmed || r.Value != c.limit+0.25 || r.Limit != c.limit) {
			t.Errorf("limit %g s: %v (%v) after %d ticks, %g of %g s", c.limit, r.Mode, r.Cause, n, r.Value, r.Limit)
		}
		if c.limit > 0.3 {
			tick(ReqArm)
			if tick(ReqRun) != Run {
				t.Fatalf("run in ARMED: %v, refusal %d", r.Mode, r.Res)
			}
			for range 100 {
				tick(ReqNone)
			}
			if r.Mode != Run {
				t.Errorf("run within the time: %v", r.Mode)
			}
		}
	}
}

// A stop, arm and run between two instalments forgets nothing, and a skipped tick is time too.
func TestGuardInstalmentsOverAStop(t *testing.T) {
	for _, c := range []struct {
		between int // ms
		want    Mode
	}{{800, Trip}, {1100, Hold}} {
		g := newRigged(t, func(s *GuardSpec) { s.HoldTime = 0.1 })
		g.running()
		g.meas[0] = math.NaN()
		g.ticks(90, 1)
		g.meas[0] = 0
		g.tick(0, ReqStop)
		g.tick(0, ReqArm)
		g.ticks(c.between, 0)
		g.tick(0, ReqRun)
		g.meas[0] = math.NaN()
		g.ticks(11, 1)
		if g.row.Mode != c.want {
			t.Errorf("90 ms, %d ms of rest, 11 ms: %v, want %v", c.between, g.row.Mode, c.want)
		}
	}
}

// A board that delivers now and then, a sensor that says NaN now and then, frames that get lost: the time without sight adds up.
// Declared: 100 ms of HOLD, and stale after five periods or 20 ms, whichever is longer.
func TestGuardInstalments(t *testing.T) {
	for _, c := range []struct {
		name string
		rate int                              // Hz
		come func(k int, random float64) bool // sample k arrives
		bad  float64                          // share that is no number
		want Mode
		most int // ms until it trips
	}{
		{"every 22nd frame", 200, func(k int, _ float64) bool { return k%22 == 0 }, 0, Trip, 200},
		{"every 8th frame", 200, func(k int, _ float64) bool { return k%8 == 0 }, 0, Trip, 400},
		{"every 5th frame", 200, func(k int, _ float64) bool { return k%5 == 0 }, 0, Run, 0},
		{"15 % NaN", 200, func(int, float64) bool { return true }, 0.15, Trip, 5000},
		{"2 % NaN", 200, func(int, float64) bool { return true }, 0.02, Run, 0},
		{"70 % lost", 200, func(_ int, x float64) bool { return x > 0.7 }, 0, Trip, 5000},
		{"50 % lost", 500, func(_ int, x float64) bool { return x > 0.5 }, 0, Run, 0},
		{"10 % lost", 500, func(_ int, x float64) bool { return x > 0.1 }, 0, Run, 0},
		{"60 ms lost every 500 ms", 500, func(k int, _ float64) bool { return k%250 >= 30 }, 0, Run, 0},
		{"60 ms lost every 300 ms", 500, func(k int, _ float64) bool { return k%150 >= 30 }, 0, Trip, 1000},
		{"16 ms lost every 100 ms", 500, func(k int, _ float64) bool { return k%50 >= 8 }, 0, Run, 0},
		{"10 % lost, slower", 200, func(_ int, x float64) bool { return x > 0.1 }, 0, Run, 0},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		g := newRigged(t, func(s *GuardSpec) {
			stale := max(0.02, 5/float64(c.rate))
			s.Meas[0].Stale, s.Meas[1].Stale, s.HoldTime = stale, stale, 0.1
		})
		g.running()
		trip, holds := 0, 0
		for ms := 1; ms <= 30000 && trip == 0; ms++ {
			every := 1000 / c.rate
			g.dead = ms%every != 0 || !c.come(ms/every, rng.Float64())
			if !g.dead {
				if g.meas[0] = 0; rng.Float64() < c.bad {
					g.meas[0] = math.NaN()
				}
			}
			before := g.row.Mode
			g.tick(1, ReqNone)
			if g.row.Mode == Hold && before == Run {
				holds++
			}
			if g.row.Mode == Trip {
				trip = ms
			}
		}
		t.Logf("%s: %v after %d ms, held %d times", c.name, g.row.Mode, trip, holds)
		if (g.row.Mode == Trip) != (c.want == Trip) || trip > c.most && c.want == Trip {
			t.Errorf("%s: %v after %d ms, want %v within %d ms", c.name, g.row.Mode, trip, c.want, c.most)
		}
	}
}
