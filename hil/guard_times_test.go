package hil

import (
	"math"
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
				t.Errorf("policy %d, four misses within %d ticks: %v (%v), %g of %g", policy, c.gap+1, g.row.Mode, g.row.Cause, g.row.Value, g.row.Limit)
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
	if g.row.Where != 1 || g.row.Value != 6 {
		t.Errorf("signal %d, status %g", g.row.Where, g.row.Value)
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
	s := GuardSpec{Dt: 0.25, GuardLimits: GuardLimits{SelfTest: 1, HoldTime: 0.5}, Meas: []MeasLimit{{Age: true}, {Lo: -1, Hi: 1}}, Cmd: []CmdLimit{{Drives: true, Lo: -1, Hi: 1}}}
	g := NewGuard(s)
	var r Row
	tick := func(x float64, q Request) (Mode, Refusal) {
		r.T, r.Fresh, r.Req, r.Res, r.Flags = r.T+250e6, Fresh{3}, uint8(q), 0, 0
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
	// a sensor that heals begins the hold time anew, a commanded HOLD too
	tick(0, ReqReset)
	modes(0, SelfTest, SelfTest, SelfTest, Ready)
	tick(0, ReqArm)
	tick(0, ReqRun)
	modes(2, Hold, Hold)
	modes(0, Run)
	modes(2, Hold, Hold)
	tick(0, ReqHold)
	if r.Res != WrongMode { // healed in this very tick: RUN, and from there it is taken
		modes(0, Hold, Hold, Hold, Hold)
		modes(2, Hold, Hold)
		modes(0, Hold)
		modes(2, Hold, Hold, Trip)
	}
}
