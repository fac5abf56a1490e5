package hil

import (
	"hilrig/estimator"
	"hilrig/hil/axis"
	"math"
	"slices"
	"testing"
)

// A reading outside its range, or one that is no number, holds the rig, names signal, value and edge, and trips after the hold time.
func TestGuardReadings(t *testing.T) {
	for _, c := range []struct {
		good, bad, limit float64
		cause            Cause
	}{
		{20, math.Nextafter(20, 30), 20, CauseRange}, {-20, math.Nextafter(-20, -30), -20, CauseRange},
		{0, math.NaN(), 0, CauseNonFinite}, {0, math.Inf(1), 0, CauseNonFinite}, {0, math.Inf(-1), 0, CauseNonFinite},
	} {
		g := newRigged(t, func(s *GuardSpec) { s.Axes[0].MaxCurrent, s.Axes[0].RatedI, s.HoldTime = 0, 0, 0.0105 })
		g.running()
		g.ticks(10, 3)
		g.meas[1] = c.good
		g.ticks(3, 3)
		g.want(Run, CauseCommand)
		g.meas[1] = c.bad
		g.tick(9, 0)
		g.want(Hold, c.cause)
		if g.row.CauseSignal != 2 || g.row.Limit != c.limit || c.cause == CauseRange && g.row.Value != c.bad {
			t.Errorf("%g: value %g, limit %g, signal %d", c.bad, g.row.Value, g.row.Limit, g.row.CauseSignal)
		}
		if g.u[0] != 3 {
			t.Errorf("%g: the blind HOLD sends %g, want the last command", c.bad, g.u[0])
		}
		// 10 ms of it are tolerated, 11 are not; the first tick in HOLD counts
		g.ticks(9, 9)
		g.want(Hold, c.cause)
		g.tick(9, 0)
		g.want(Trip, c.cause)
		if res := g.tick(0, ReqReset); !remains(res) {
			t.Errorf("%g: reset: refusal %d", c.bad, res)
		}
		g.meas[1] = c.good
		if res := g.tick(0, ReqReset); res != Taken {
			t.Errorf("%g: reset after it: refusal %d", c.bad, res)
		}
	}
	// no range: whatever is a number is believed
	g := newRigged(t, func(s *GuardSpec) { s.Axes[0].MaxCurrent, s.Axes[0].RatedI, s.Meas[1].Lo, s.Meas[1].Hi = 0, 0, 0, 0 })
	g.running()
	for _, x := range []float64{1e300, -1e300} {
		g.meas[1] = x
		g.ticks(3, 1)
		g.want(Run, CauseCommand)
	}
}

// A wrong reading is told before a missing one, and the first of two that are alike.
func TestGuardWorstReading(t *testing.T) {
	for _, c := range []struct {
		a, b  float64 // NaN, 1e9 (out of range) or 7 (stale)
		cause Cause
		where uint16
	}{
		{7, 7, CauseStale, 1}, {7, 1e9, CauseRange, 2}, {1e9, 7, CauseRange, 1}, {1e9, 1e9, CauseRange, 1},
		{math.NaN(), 1e9, CauseNonFinite, 1}, {1e9, math.NaN(), CauseNonFinite, 2}, {7, math.NaN(), CauseNonFinite, 2},
		{math.NaN(), 7, CauseNonFinite, 1},
	} {
		g := NewGuard(GuardSpec{Dt: 1e-3, GuardLimits: GuardLimits{HoldTime: 1},
			Meas: []MeasLimit{{Stale: 5e-3, Lo: -9, Hi: 9}, {Stale: 5e-3, Lo: -9, Hi: 9}}, Cmd: []CmdLimit{{Drives: true, Lo: -1, Hi: 1}}})
		var r Row
		meas := []float64{0, 0}
		for k, q := range []Request{0, ReqArm, ReqRun, 0, 0, 0, 0, 0, 0, 0, 0, 0} {
			r.T, r.FreshSignals, r.Req, r.Flags = r.T+1e6, Fresh{3}, uint8(q), 0
			if k > 2 {
				for i, x := range []float64{c.a, c.b} {
					if x == 7 {
						r.FreshSignals[0] &^= 1 << i
					} else if k == 11 {
						meas[i] = x
					}
				}
			}
			g.Decide(&r, meas)
		}
		if r.Mode != Hold {
			t.Fatalf("%+v: %v", c, r.Mode)
		}
		g.sensors(&r, meas)
		sick, _ := g.sensors(&r, meas)
		if sick.cause != c.cause || sick.signal != c.where {
			t.Errorf("%g and %g: %v of signal %d, want %v of %d", c.a, c.b, sick.cause, sick.signal, c.cause, c.where)
		}
	}
}

// Age: up to stale a sample is good; the age that it has when it comes counts, and so does one that has never come.
func TestGuardAge(t *testing.T) {
	g := newRigged(t, nil)
	g.running()
	g.dead = true
	g.ticks(5, 1)
	g.want(Run, CauseCommand)
	g.row.T++ // one ns more than 5 ms
	g.tick(1, 0)
	g.want(Hold, CauseStale)
	if g.row.CauseSignal != 1 || math.Abs(g.row.Value-0.006) > 1e-6 || g.row.Limit != 0.005 {
		t.Errorf("signal %d, %g s, limit %g s", g.row.CauseSignal, g.row.Value, g.row.Limit)
	}

	// samples that come old
	s := GuardSpec{Dt: 1e-3, GuardLimits: GuardLimits{HoldTime: 1}, Meas: []MeasLimit{{Stale: 5e-3}, {Age: true}},
		Cmd: []CmdLimit{{Drives: true, Lo: -1, Hi: 1}}}
	if g := NewGuard(GuardSpec{Meas: []MeasLimit{{}, {Age: true}, {}, {}, {Age: true}, {}}}); !slices.Equal(g.age, []int{1, 1, 4, 4, 4, -1}) {
		t.Errorf("the ages are signals %d", g.age)
	}
	for _, c := range []struct {
		age  float64
		want Mode
	}{{0.004, Run}, {0.005, Run}, {0.0051, Hold}, {-0.1, Run}} {
		g := NewGuard(s)
		var r Row
		for _, q := range []Request{0, ReqArm, ReqRun, 0} {
			r.T, r.FreshSignals, r.Req, r.Flags = r.T+1e6, Fresh{3}, uint8(q), 0
			age := 0.001
			if q == 0 && r.Mode == Run {
				age = c.age
			}
			g.Decide(&r, []float64{1, age})
		}
		if r.Mode != c.want {
			t.Errorf("a sample that comes %g s old: %v (%v), want %v", c.age, r.Mode, r.Cause, c.want)
		}
	}

	// each device has its own: the second one's sample is old, the first one's is not
	aged := NewGuard(GuardSpec{Dt: 1e-3, Meas: []MeasLimit{{Stale: 5e-3}, {Age: true}, {Stale: 5e-3}, {Age: true}}})
	r := Row{T: 1e9, FreshSignals: Fresh{15}}
	if sick, _ := aged.sensors(&r, []float64{1, 0.001, 1, 0.006}); sick.cause != CauseStale || sick.signal != 3 {
		t.Errorf("a sample that is 6 ms old: %+v", sick)
	}
	// the age may stand first
	first := NewGuard(GuardSpec{Dt: 1e-3, Meas: []MeasLimit{{Age: true}, {Stale: 5e-3}}, Ages: []int{-1, 0}})
	if sick, _ := first.sensors(&r, []float64{0.006, 1}); sick.cause != CauseStale || sick.signal != 2 {
		t.Errorf("a sample that is 6 ms old by the first number: %+v", sick)
	}
	// a sample of no believable time is none, on both sides
	for _, c := range []struct {
		age  float64
		seen bool
	}{{99, true}, {100, false}, {-99, true}, {-101, false}, {math.NaN(), false}} {
		g := NewGuard(GuardSpec{Dt: 1e-3, Meas: []MeasLimit{{}, {Age: true}}})
		g.sensors(&r, []float64{1, c.age})
		if g.hasSample[0] != c.seen {
			t.Errorf("a sample of age %g s counts: %v", c.age, g.hasSample[0])
		}
	}

	// one signal never comes
	g = newRigged(t, nil)
	for range 100 {
		g.row.T += 1e6
		g.row.FreshSignals, g.row.Flags, g.row.Req = Fresh{1}, 0, 0
		g.Decide(&g.row, g.meas)
	}
	g.want(SelfTest, CauseStale)
	if g.row.CauseSignal != 2 || g.row.Value != 0 || g.row.Limit != 0.005 || g.row.Flags&FlagStale == 0 {
		t.Errorf("signal %d, %g s, limit %g s, flags %b", g.row.CauseSignal, g.row.Value, g.row.Limit, g.row.Flags)
	}

	// a signal that is not watched may come late, or never
	g = newRigged(t, func(s *GuardSpec) { s.Meas[1] = MeasLimit{} })
	g.meas[1] = math.NaN() // never seen: what stands there is not a reading
	for k := range 60 {
		g.row.T += 1e6
		g.row.FreshSignals, g.row.Flags, g.row.Req = Fresh{1}, 0, 0
		if k == 50 {
			g.row.FreshSignals = Fresh{3}
		}
		g.Decide(&g.row, g.meas)
		if want := []Mode{SelfTest, Ready}[min(1, k/30)]; k == 29 && g.row.Mode != Ready || k >= 50 && g.row.Mode != SelfTest {
			t.Fatalf("tick %d: %v, want %v", k, g.row.Mode, want)
		}
	}
}

// A temperature above its limit trips what is energised and keeps the rest from READY; a reset waits until it has cooled.
func TestGuardTemperature(t *testing.T) {
	hot := func(s *GuardSpec) {
		s.Meas[0] = MeasLimit{Hot: 80, Lo: -40, Hi: 100, Stale: 0.005}
		s.Axes[0].MaxSpeed = 0
	}
	for _, reading := range []float64{math.Nextafter(80, 90), 101, 1e9} { // beyond its range as well: it may be an open wire
		g := newRigged(t, hot)
		g.meas[0] = 80
		g.running()
		g.ticks(10, 1)
		g.want(Run, CauseCommand)
		g.meas[0] = reading
		g.tick(1, 0)
		g.want(Trip, CauseTemperature)
		if g.row.CauseSignal != 1 || g.row.Value != reading || g.row.Limit != 80 {
			t.Errorf("signal %d, %g, limit %g", g.row.CauseSignal, g.row.Value, g.row.Limit)
		}
		if res := g.tick(0, ReqReset); !remains(res) {
			t.Errorf("reset while hot: refusal %d", res)
		}
		g.meas[0] = 80
		g.tick(0, ReqReset)
		g.ticks(25, 0)
		g.want(Ready, CauseNone)
		g.meas[0] = reading
		g.tick(0, 0)
		g.want(SelfTest, CauseTemperature)
	}
	g := newRigged(t, hot)
	g.running()
	g.meas[0] = -41 // too cold to be true
	g.tick(1, 0)
	g.want(Hold, CauseRange)
	g = newRigged(t, hot) // hot comes before a number that is none
	g.meas[0], g.meas[1] = 90, math.NaN()
	g.tick(0, 0)
	g.want(SelfTest, CauseTemperature)
}

// The port goes: whatever is energised trips at once, whatever is watched; the rest is not ready; nothing comes back by itself.
func TestGuardLinkDown(t *testing.T) {
	blind := func(s *GuardSpec) { s.Meas[0].Stale, s.Meas[1].Stale = 0, 0 }
	for _, spec := range []func(*GuardSpec){nil, blind} {
		for _, hold := range []bool{false, true} {
			g := newRigged(t, spec)
			g.running()
			if hold {
				g.tick(1, ReqHold)
			}
			g.row.Flags = FlagLinkDown // stays, see tick
			g.tick(1, 0)
			g.want(Trip, CauseLink)
			if res := g.tick(0, ReqReset); !remains(res) {
				t.Errorf("reset without a port: refusal %d", res)
			}
			g.row.Flags = 0
			g.ticks(200, 1)
			g.want(Trip, CauseLink)
			g.tick(0, ReqReset)
			g.ticks(200, 1)
			g.want(Ready, CauseNone)
		}
		g := newRigged(t, spec)
		g.ticks(25, 0)
		g.row.Flags = FlagLinkDown
		g.tick(0, 0)
		g.want(SelfTest, CauseLink)
		if res := g.tick(0, ReqArm); !remains(res) && res != WrongMode {
			t.Errorf("armed without a port: refusal %d", res)
		}
		g.row.Flags = 0
		g.ticks(25, 0)
		g.tick(0, ReqArm)
		g.row.Flags = FlagLinkDown
		g.tick(0, 0)
		g.want(Trip, CauseLink)
	}
}

// What needs watching and is not keeps the rig from being armed.
func TestGuardArmNeedsSight(t *testing.T) {
	for _, c := range []struct {
		m    MeasLimit
		want Refusal
	}{{MeasLimit{Needed: true}, Unwatched}, {MeasLimit{Needed: true, Stale: -1}, Unwatched}, {MeasLimit{Needed: true, Stale: 0.005}, Taken},
		{MeasLimit{}, Taken}} {
		for i := range 2 {
			g := newRigged(t, func(s *GuardSpec) { s.Meas[i] = c.m })
			g.ticks(25, 0)
			if res := g.tick(0, ReqArm); res != c.want {
				t.Errorf("%+v: refusal %d, want %d", c.m, res, c.want)
			}
		}
	}
}

// While a cause lasts, nobody can arm, run or reset, and everybody can stop.
func TestGuardRequestsWhileSick(t *testing.T) {
	g := newRigged(t, nil)
	g.running()
	g.dead = true
	g.ticks(8, 0)
	g.want(Hold, CauseStale)
	if res := g.tick(0, ReqRun); !remains(res) {
		t.Errorf("run: refusal %d", res)
	}
	if res := g.tick(0, ReqStop); res != Taken {
		t.Errorf("stop: refusal %d", res)
	}
	g.tick(0, 0)
	g.want(SelfTest, CauseStale)
	for q, want := range map[Request]Refusal{ReqArm: StillWrong(CauseStale), ReqRun: StillWrong(CauseStale), ReqReset: StillWrong(CauseStale),
		ReqHold: WrongMode, ReqStop: Taken} {
		if res := g.tick(0, q); res != want {
			t.Errorf("%v: refusal %d, want %d", q, res, want)
		}
	}
}

// Signals and commands are told by their place, whichever it is.
func TestGuardPlaces(t *testing.T) {
	g := NewGuard(GuardSpec{Dt: 1e-3, Meas: []MeasLimit{{Lo: -9, Hi: 9}}, Cmd: []CmdLimit{{Drives: true, Lo: -1, Hi: 1}, {Lo: -1, Hi: 1}},
		CmdAt: 30,
		Axes:  []AxisGuard{{AxisLimits: AxisLimits{RatedI: 1, Thermal: 1}, Measured: [estimator.Quantities]int{-1, 0, -1, -1, -1}}}})
	var r Row
	for _, q := range []Request{0, ReqArm, ReqRun} {
		r.T, r.FreshSignals, r.Req, r.Flags = r.T+1e6, Fresh{1}, uint8(q), 0
		g.Decide(&r, []float64{0})
	}
	if g.Watch(&r, []axis.State{{}}, []float64{10}); g.Heat(0) != 0 {
		t.Errorf("a current that was not believed heated to %g", g.Heat(0))
	}
	if g.Watch(&r, []axis.State{{Heating: 9}}, []float64{10}); g.Heat(0) == 0 {
		t.Error("a current that was believed heats nothing")
	}
	was := g.Heat(0)
	g.s.Axes[0].Thermal = 0 // not declared: nothing is reckoned
	if g.Watch(&r, []axis.State{{Heating: 9}}, []float64{10}); g.Heat(0) != was {
		t.Errorf("heated from %g to %g without a thermal time", was, g.Heat(0))
	}
	g.Limit(&r, []float64{0, math.NaN()})
	if r.Cause != CauseNonFinite || r.CauseSignal != 32 {
		t.Errorf("%v of signal %d, want the command at 32", r.Cause, r.CauseSignal)
	}
}

// The limit of a current holds for the first signal of a device as for any other.
func TestGuardCurrentComesFirst(t *testing.T) {
	for _, current := range []float64{4, 4.1, -4, -4.1} {
		g := NewGuard(GuardSpec{Dt: 1e-3, Meas: []MeasLimit{{Lo: -9, Hi: 9}}, Cmd: []CmdLimit{{Drives: true, Lo: -1, Hi: 1}},
			Axes: []AxisGuard{{AxisLimits: AxisLimits{MaxCurrent: 4}, Measured: [estimator.Quantities]int{-1, 0, -1, -1, -1}}}})
		var r Row
		for _, q := range []Request{0, ReqArm, ReqRun} {
			r.T, r.FreshSignals, r.Req, r.Flags = r.T+1e6, Fresh{1}, uint8(q), 0
			g.Decide(&r, []float64{0})
		}
		g.Watch(&r, []axis.State{{}}, []float64{current})
		if over := math.Abs(current) > 4; (r.Cause == CauseCurrent) != over || over &&
			(r.CauseSignal != 1 || r.Value != current || r.Limit != 4) {
			t.Errorf("%g A: %v of signal %d, %g of %g", current, r.Cause, r.CauseSignal, r.Value, r.Limit)
		}
	}
}

// A rig that waits blind is stopped by its limits too; the cause is what made it blind.
func TestGuardBlindHold(t *testing.T) {
	// … but not of a HOLD that was asked for, nor of one that has healed
	for _, q := range []Request{ReqHold, ReqNone} {
		g := newRigged(t, nil)
		g.running()
		if q == ReqNone {
			g.dead = true
			g.ticks(7, 0)
			g.dead = false
		}
		g.tick(2, q)
		g.tick(3, 0)
		if g.u[0] != 3 && q == ReqHold { // its command is the controller's
			t.Errorf("a commanded HOLD sends %g V", g.u[0])
		}
		g.off.Speed = 51
		g.tick(0, 0)
		g.want(Trip, CauseSpeed)
	}
	for _, m := range []axis.State{{Speed: -51}, {Error: 3}} {
		g := newRigged(t, func(s *GuardSpec) { s.Axes[0].MaxError = 2 })
		g.running()
		g.dead = true
		g.ticks(7, 0)
		g.want(Hold, CauseStale)
		g.off = m
		g.tick(0, 0)
		g.want(Trip, CauseStale)
		if g.row.CauseSignal != 1 || g.row.Limit != 0.005 {
			t.Errorf("signal %d, limit %g", g.row.CauseSignal, g.row.Limit)
		}
	}
	// what a wrong reading tells is told all the same: it says more than one that is missing
	for fault, want := range map[axis.Fault]Cause{axis.Blocked: CauseStale, axis.Frozen: CauseStale, axis.FrozenReading: CauseFrozenReading,
		axis.Disagree: CauseDisagree, axis.Scale: CauseScale} {
		g := newRigged(t, nil)
		g.running()
		g.dead = true
		g.ticks(7, 0)
		g.off.Finding = axis.Finding{Fault: fault, Quantity: estimator.Current, Value: 2, Limit: 1}
		g.tick(0, 0)
		g.want(Trip, want)
	}
}

// An estimate that is not sound keeps a rig from READY and from being armed; one that runs is watched by its limits.
func TestGuardUnsound(t *testing.T) {
	g := newRigged(t, nil)
	g.off.Unsound = true
	g.ticks(40, 0)
	g.want(SelfTest, CauseEstimate)
	g.off.Unsound = false
	g.ticks(25, 0)
	g.want(Ready, CauseNone)
	g.off.Unsound = true
	g.ticks(2, 0)
	g.want(SelfTest, CauseEstimate)
	g = newRigged(t, nil)
	g.ticks(25, 0)
	g.tick(0, ReqArm)
	g.off.Unsound = true
	g.ticks(2, 0)
	g.want(Trip, CauseEstimate)
	for _, hold := range []Request{ReqNone, ReqHold} {
		g = newRigged(t, nil)
		g.running()
		g.tick(1, hold)
		mode := g.row.Mode
		g.off.Unsound = true
		g.ticks(20, 1)
		g.want(mode, CauseCommand)
	}
}

// A position that is far noisier than declared keeps a rig from READY and trips one that is driven, also where noise looks like a wrong
// sign.
func TestGuardNoise(t *testing.T) {
	noise := axis.Finding{Fault: axis.Noise, Value: 37, Limit: 10}
	told := func(g *rigged, m Mode) {
		t.Helper()
		g.want(m, CauseEstimate)
		if r := &g.row; r.CauseSignal != 1 || r.Value != 37 || r.Limit != 10 {
			t.Errorf("%v: signal %d, %g, limit %g", m, r.CauseSignal, r.Value, r.Limit)
		}
	}
	g := newRigged(t, nil)
	g.off.Finding = noise
	g.ticks(40, 0)
	told(g, SelfTest)
	g.off.Finding = axis.Finding{}
	g.ticks(25, 0)
	g.want(Ready, CauseNone)
	g.off.Finding = noise
	g.ticks(2, 0)
	told(g, SelfTest)
	for _, hold := range []Request{ReqNone, ReqHold} {
		for _, hint := range []axis.Finding{{}, {Fault: axis.Direction, Value: 4, Limit: 3}} {
			g = newRigged(t, nil)
			g.running()
			g.tick(1, hold)
			g.off.Finding, g.off.Hint = noise, hint
			g.tick(1, ReqNone)
			told(g, Trip)
			g.tick(0, ReqNone)
			if res := g.tick(0, ReqReset); !remains(res) {
				t.Errorf("a reset while the noise lasts: refusal %d", res)
			}
		}
	}
}
