package hil

import (
	"fmt"
	"math"
	"testing"

	"hilrig/engine"
)

// Every limit on both sides: at its edge the rig runs on, the next number beyond it trips at once, and the row says what it was.
func TestGuardLimits(t *testing.T) {
	spec := func(s *GuardSpec) {
		s.MaxError, s.MaxResidual, s.RatedI, s.Meas[0].Hot, s.Meas[0].Lo, s.Meas[0].Hi = 2, 0.3, 0, 0, 0, 0
	}
	for _, c := range []struct {
		cause Cause
		limit float64
		where uint16
		set   func(g *rigged, x float64)
	}{
		{CauseSpeed, 50, 0, func(g *rigged, x float64) { g.off.Speed = x }},
		{CauseError, 2, 0, func(g *rigged, x float64) { g.off.Error = x }},
		{CauseResidual, 0.3, 0, func(g *rigged, x float64) { g.off.Residual = x }},
		{CauseCurrent, 15, 2, func(g *rigged, x float64) { g.meas[1] = x }},
	} {
		for _, side := range []float64{1, -1} {
			t.Run(fmt.Sprintf("%v %+g", c.cause, side), func(t *testing.T) {
				g := newRigged(t, spec)
				g.running()
				g.ticks(5, 1)
				c.set(g, side*c.limit)
				g.ticks(5, 1)
				g.want(Run, CauseCommand)
				beyond := side * math.Nextafter(c.limit, math.Inf(1))
				c.set(g, beyond)
				g.tick(1, 0)
				g.want(Trip, c.cause)
				if g.row.Value != beyond || g.row.Limit != c.limit || g.row.Where != c.where {
					t.Errorf("value %g, limit %g, signal %d; want %g, %g, %d", g.row.Value, g.row.Limit, g.row.Where, beyond, c.limit, c.where)
				}
				// it stays tripped, a reset is refused while the cause lasts, and taken after it
				g.ticks(3, 1)
				if res := g.tick(0, ReqReset); res != CauseRemains {
					t.Errorf("reset beyond the limit: refusal %d", res)
				}
				c.set(g, 0)
				g.tick(0, 0)
				if res := g.tick(0, ReqReset); res != Taken {
					t.Errorf("reset within the limit: refusal %d", res)
				}
				g.ticks(15, 0)
				g.want(SelfTest, CauseCommand) // the whole self-test again
				g.ticks(10, 0)
				g.want(Ready, CauseNone)
				// … and beyond it again the rig is not ready
				c.set(g, beyond)
				g.ticks(2, 0)
				g.want(SelfTest, c.cause)
			})
		}
	}
	// 0 is no limit
	g := newRigged(t, func(s *GuardSpec) { s.MaxSpeed, s.MaxCurrent, s.RatedI = 0, 0, 0 })
	g.running()
	g.off = Motion{Speed: 1e9, Error: -1e9, Residual: 1e9}
	g.meas[1] = 20
	g.ticks(100, 1)
	g.want(Run, CauseCommand)
}

// An armed rig that is moved beyond a limit trips, and says why.
func TestGuardLimitWhileArmed(t *testing.T) {
	g := newRigged(t, nil)
	g.ticks(25, 0)
	g.tick(0, ReqArm)
	g.want(Armed, CauseCommand)
	g.off.Speed = 51
	g.ticks(2, 0)
	g.want(Trip, CauseSpeed)
}

// A reading outside its range, or one that is no number, holds the rig, names signal, value and edge, and trips after the hold time.
func TestGuardReadings(t *testing.T) {
	for _, c := range []struct {
		good, bad, limit float64
		cause            Cause
	}{
		{20, math.Nextafter(20, 30), 20, CauseRange}, {-20, math.Nextafter(-20, -30), -20, CauseRange},
		{0, math.NaN(), 0, CauseNonFinite}, {0, math.Inf(1), 0, CauseNonFinite}, {0, math.Inf(-1), 0, CauseNonFinite},
	} {
		g := newRigged(t, func(s *GuardSpec) { s.MaxCurrent, s.RatedI, s.HoldTime = 0, 0, 0.0105 })
		g.running()
		g.ticks(10, 3)
		g.meas[1] = c.good
		g.ticks(3, 3)
		g.want(Run, CauseCommand)
		g.meas[1] = c.bad
		g.tick(9, 0)
		g.want(Hold, c.cause)
		if value := finite(c.bad); g.row.Where != 2 || g.row.Limit != c.limit || c.cause == CauseRange && g.row.Value != value {
			t.Errorf("%g: value %g, limit %g, signal %d", c.bad, g.row.Value, g.row.Limit, g.row.Where)
		}
		if g.u[0] != 3 {
			t.Errorf("%g: the blind HOLD sends %g, want the last command", c.bad, g.u[0])
		}
		// 10 ms of it are tolerated, 11 are not; the first tick in HOLD counts
		g.ticks(9, 9)
		g.want(Hold, c.cause)
		g.tick(9, 0)
		g.want(Trip, c.cause)
		if res := g.tick(0, ReqReset); res != CauseRemains {
			t.Errorf("%g: reset: refusal %d", c.bad, res)
		}
		g.meas[1] = c.good
		if res := g.tick(0, ReqReset); res != Taken {
			t.Errorf("%g: reset after it: refusal %d", c.bad, res)
		}
	}
	// no range: whatever is a number is believed
	g := newRigged(t, func(s *GuardSpec) { s.MaxCurrent, s.RatedI, s.Meas[1].Lo, s.Meas[1].Hi = 0, 0, 0, 0 })
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
		{math.NaN(), 1e9, CauseNonFinite, 1}, {1e9, math.NaN(), CauseNonFinite, 2}, {7, math.NaN(), CauseNonFinite, 2}, {math.NaN(), 7, CauseNonFinite, 1},
	} {
		g := NewGuard(GuardSpec{Dt: 1e-3, HoldTime: 1, Meas: []MeasLimit{{Stale: 5e-3, Lo: -9, Hi: 9}, {Stale: 5e-3, Lo: -9, Hi: 9}}, Cmd: []CmdLimit{{Lo: -1, Hi: 1}}})
		var r Row
		meas := []float64{0, 0}
		for k, q := range []Request{0, ReqArm, ReqRun, 0, 0, 0, 0, 0, 0, 0, 0, 0} {
			r.T, r.Fresh, r.Req, r.Flags = r.T+1e6, 3, uint8(q), 0
			if k > 2 {
				for i, x := range []float64{c.a, c.b} {
					if x == 7 {
						r.Fresh &^= 1 << i
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
		if sick.cause != c.cause || sick.where != c.where {
			t.Errorf("%g and %g: %v of signal %d, want %v of %d", c.a, c.b, sick.cause, sick.where, c.cause, c.where)
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
	if g.row.Where != 1 || math.Abs(g.row.Value-0.006) > 1e-6 || g.row.Limit != 0.005 {
		t.Errorf("signal %d, %g s, limit %g s", g.row.Where, g.row.Value, g.row.Limit)
	}

	// samples that come old
	s := GuardSpec{Dt: 1e-3, HoldTime: 1, Meas: []MeasLimit{{Stale: 5e-3}, {Age: true}}, Cmd: []CmdLimit{{Lo: -1, Hi: 1}}}
	if g := NewGuard(GuardSpec{Meas: []MeasLimit{{Age: true}, {}}}); g.age != 0 {
		t.Errorf("the age is signal %d", g.age)
	}
	for _, c := range []struct {
		age  float64
		want Mode
	}{{0.004, Run}, {0.005, Run}, {0.0051, Hold}, {-0.1, Run}} {
		g := NewGuard(s)
		var r Row
		for _, q := range []Request{0, ReqArm, ReqRun, 0} {
			r.T, r.Fresh, r.Req, r.Flags = r.T+1e6, 3, uint8(q), 0
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

	// the age may be any of the signals, the first too
	aged := NewGuard(GuardSpec{Dt: 1e-3, Meas: []MeasLimit{{Age: true}, {Stale: 5e-3}}})
	r := Row{T: 1e9, Fresh: 3}
	if sick, _ := aged.sensors(&r, []float64{0.006, 1}); sick.cause != CauseStale || sick.where != 2 {
		t.Errorf("a sample that is 6 ms old: %+v", sick)
	}

	// one signal never comes
	g = newRigged(t, nil)
	for range 100 {
		g.row.T += 1e6
		g.row.Fresh, g.row.Flags, g.row.Req = 1, 0, 0
		g.Decide(&g.row, g.meas)
	}
	g.want(SelfTest, CauseStale)
	if g.row.Where != 2 || g.row.Value != 0 || g.row.Limit != 0.005 || g.row.Flags&FlagStale == 0 {
		t.Errorf("signal %d, %g s, limit %g s, flags %b", g.row.Where, g.row.Value, g.row.Limit, g.row.Flags)
	}

	// a signal that is not watched may come late, or never
	g = newRigged(t, func(s *GuardSpec) { s.Meas[1] = MeasLimit{} })
	g.meas[1] = math.NaN() // never seen: what stands there is not a reading
	for k := range 60 {
		g.row.T += 1e6
		g.row.Fresh, g.row.Flags, g.row.Req = 1, 0, 0
		if k == 50 {
			g.row.Fresh = 3
		}
		g.Decide(&g.row, g.meas)
		if want := []Mode{SelfTest, Ready}[min(1, k/30)]; k == 29 && g.row.Mode != Ready || k >= 50 && g.row.Mode != SelfTest {
			t.Fatalf("tick %d: %v, want %v", k, g.row.Mode, want)
		}
	}
}

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

// A temperature above its limit trips what is energised and keeps the rest from READY; a reset waits until it has cooled.
func TestGuardTemperature(t *testing.T) {
	hot := func(s *GuardSpec) {
		s.Meas[0] = MeasLimit{Hot: 80, Lo: -40, Hi: 100, Stale: 0.005}
		s.MaxSpeed = 0
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
		if g.row.Where != 1 || g.row.Value != reading || g.row.Limit != 80 {
			t.Errorf("signal %d, %g, limit %g", g.row.Where, g.row.Value, g.row.Limit)
		}
		if res := g.tick(0, ReqReset); res != CauseRemains {
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

// The command is clamped on both sides, slewed on both sides, and at the edge of either not flagged.
func TestGuardCommand(t *testing.T) {
	for _, side := range []float64{1, -1} {
		g := newRigged(t, nil)
		g.running()
		for g.u[0] != 0 {
			g.tick(0, 0)
		}
		g.tick(side*1, 0)
		if g.u[0] != side || g.row.Flags&FlagSlewed != 0 {
			t.Errorf("a step of 1 V: %g V, flags %b", g.u[0], g.row.Flags)
		}
		g.tick(side*2.5, 0)
		if g.u[0] != 2*side || g.row.Flags&FlagSlewed == 0 || g.row.Flags&FlagClamped != 0 {
			t.Errorf("a step of 1.5 V: %g V, flags %b", g.u[0], g.row.Flags)
		}
		g.ticks(10, side*10)
		if g.u[0] != 10*side || g.row.Flags&(FlagClamped|FlagSlewed) != 0 {
			t.Errorf("10 V: %g V, flags %b", g.u[0], g.row.Flags)
		}
		g.tick(side*10.001, 0)
		if g.u[0] != 10*side || g.row.Flags&FlagClamped == 0 || g.row.Flags&FlagSlewed != 0 {
			t.Errorf("10.001 V: %g V, flags %b", g.u[0], g.row.Flags)
		}
	}
	// a safe value other than 0, sent until RUN and from the trip on; the slew begins at it
	g := NewGuard(GuardSpec{Dt: 1e-3, Meas: []MeasLimit{{}}, Cmd: []CmdLimit{{Lo: -5, Hi: 5, Safe: -2, Slew: 1000}}})
	var r Row
	for k, c := range []struct {
		q    Request
		want float64
	}{{0, -2}, {ReqArm, -2}, {ReqRun, -1}, {0, 0}, {ReqStop, -2}} {
		r.T, r.Fresh, r.Req, r.Flags = r.T+1e6, 1, uint8(c.q), 0
		u := []float64{4}
		g.Decide(&r, []float64{0})
		g.Watch(&r, Motion{})
		g.Limit(&r, u)
		if u[0] != c.want {
			t.Errorf("tick %d: %g V, want %g", k, u[0], c.want)
		}
	}
	// without a slew limit the command may jump
	g = NewGuard(GuardSpec{Dt: 1e-3, Meas: []MeasLimit{{}}, Cmd: []CmdLimit{{Lo: -5, Hi: 5}}})
	r = Row{}
	for _, q := range []Request{0, ReqArm, ReqRun, 0, 0} {
		r.T, r.Fresh, r.Req, r.Flags = r.T+1e6, 1, uint8(q), 0
		want := 5 - 10*float64(r.T/1e6%2)
		u := []float64{want}
		g.Decide(&r, []float64{0})
		g.Limit(&r, u)
		if on := r.Mode == Run; on && u[0] != want || !on && u[0] != 0 || r.Flags != 0 {
			t.Errorf("%v: %g V, want %g; flags %b", r.Mode, u[0], want, r.Flags)
		}
	}
}

// A command that is no number trips and names itself; de-energised it hurts nobody.
func TestGuardCommandNotFinite(t *testing.T) {
	g := newRigged(t, func(s *GuardSpec) { s.CmdAt = 7 })
	g.tick(math.NaN(), 0)
	g.want(SelfTest, CauseStart)
	g.running()
	g.tick(math.Inf(1), 0)
	g.want(Trip, CauseNonFinite)
	if g.row.Where != 8 || g.row.Flags&FlagNonFinite == 0 {
		t.Errorf("signal %d, flags %b", g.row.Where, g.row.Flags)
	}
	// what the controller writes into the enable line is nobody's business
	g = newRigged(t, nil)
	g.running()
	g.Limit(&g.row, []float64{0, math.NaN()})
	g.want(Run, CauseCommand)
}

// i²t heats to either sign alike, trips above 1 and lets a reset pass below one half, not at it.
func TestGuardThermalBothSigns(t *testing.T) {
	count := func(current float64) (n int) {
		g := newRigged(t, nil)
		g.running()
		for g.meas[1] = current; g.row.Mode == Run && n < 1000; n++ {
			g.tick(1, 0)
		}
		g.want(Trip, CauseThermal)
		if g.row.Value <= 1 || g.row.Limit != 1 {
			t.Errorf("%g A: used %g of %g", current, g.row.Value, g.row.Limit)
		}
		// it lasts, with the share that is still used up, until one half
		g.meas[1] = 0
		for k := 0; ; k++ {
			heat := g.Heat()
			res := g.tick(0, ReqReset)
			if heat >= 0.5 && res != CauseRemains || k > 200 {
				t.Fatalf("%g A: reset at %g: refusal %d", current, heat, res)
			}
			if res == Taken {
				if heat < 0.49 {
					t.Errorf("%g A: reset refused until %g", current, heat)
				}
				break
			}
		}
		// … and it is ready to trip again
		g.ticks(25, 0)
		g.tick(0, ReqArm)
		g.tick(0, ReqRun)
		for g.meas[1] = current; g.row.Mode == Run && n < 2000; n++ {
			g.tick(1, 0)
		}
		g.want(Trip, CauseThermal)
		return n
	}
	if a, b := count(12), count(-12); a != b {
		t.Errorf("12 A: %d ticks, −12 A: %d", a, b)
	}
	// what is not believed heats nothing; what heats while the rig rests keeps it from READY
	g := newRigged(t, func(s *GuardSpec) { s.MaxCurrent = 0 })
	g.running()
	g.meas[1] = 1e6
	g.tick(1, 0)
	g.want(Hold, CauseRange)
	if g.Heat() != 0 {
		t.Errorf("a reading of 1e6 A heated to %g", g.Heat())
	}
	g = newRigged(t, func(s *GuardSpec) { s.MaxCurrent = 0 })
	g.meas[1] = 20
	g.ticks(100, 0)
	g.want(Trip, CauseThermal)
	if g.row.Limit != 0.5 || g.row.Value <= 0.5 {
		t.Errorf("used %g, limit %g", g.row.Value, g.row.Limit)
	}
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
			if res := g.tick(0, ReqReset); res != CauseRemains {
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
		if res := g.tick(0, ReqArm); res != CauseRemains && res != WrongMode {
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
	}{{MeasLimit{Needed: true}, Unwatched}, {MeasLimit{Needed: true, Stale: -1}, Unwatched}, {MeasLimit{Needed: true, Stale: 0.005}, Taken}, {MeasLimit{}, Taken}} {
		for i := range 2 {
			g := newRigged(t, func(s *GuardSpec) { s.Meas[i] = c.m })
			g.ticks(25, 0)
			if res := g.tick(0, ReqArm); res != c.want {
				t.Errorf("%+v: refusal %d, want %d", c.m, res, c.want)
			}
		}
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

// Divergence: a flag from the estimator, or a number that is none.
func TestGuardDiverged(t *testing.T) {
	nan := math.NaN()
	for _, m := range []Motion{{Speed: nan}, {Speed: math.Inf(1)}, {Error: nan}, {Residual: nan}, {Residual: math.Inf(-1)}} {
		g := newRigged(t, nil)
		g.running()
		g.off = m
		g.tick(1, 0)
		g.want(Trip, CauseDiverged)
		if g.row.Flags&FlagDiverged == 0 || g.row.Value != 0 || g.row.Limit != 0 {
			t.Errorf("%+v: flags %b, value %g", m, g.row.Flags, g.row.Value)
		}
	}
	g := newRigged(t, nil)
	g.running()
	g.row.Flags = FlagDiverged
	g.Watch(&g.row, Motion{})
	g.want(Trip, CauseDiverged)
	// a limit that is left because of a sign names the sign; a diverged estimate stays what it is, and a hint alone is nothing
	for _, c := range []struct {
		m    Motion
		want Cause
	}{{Motion{Speed: 60}, CauseDirection}, {Motion{Residual: math.Inf(1)}, CauseDiverged}, {Motion{Speed: 50}, CauseCommand}} {
		g := newRigged(t, nil)
		g.running()
		g.row.Flags = 0
		c.m.Hint = reason{CauseDirection, 1, 4, 3}
		g.Watch(&g.row, c.m)
		if g.row.Cause != c.want {
			t.Errorf("%+v: %v, want %v", c.m, g.row.Cause, c.want)
		}
		g = newRigged(t, nil)
		g.running()
		g.row.Flags = 0
		c.m.Hint.cause = CauseFrozen
		if g.Watch(&g.row, c.m); g.row.Cause == CauseFrozen {
			t.Errorf("%+v: %v", c.m, g.row.Cause)
		}
	}
	// signs are told before what follows from them
	g = newRigged(t, nil)
	g.running()
	g.off = Motion{Speed: 60, Signs: reason{CauseDirection, 1, 9, 5}}
	g.tick(1, 0)
	g.want(Trip, CauseDirection)
	if g.row.Value != 9 || g.row.Limit != 5 || g.row.Where != 1 {
		t.Errorf("value %g, limit %g, signal %d", g.row.Value, g.row.Limit, g.row.Where)
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
	s := GuardSpec{Dt: 0.25, SelfTest: 1, HoldTime: 0.5, Meas: []MeasLimit{{Age: true}, {Lo: -1, Hi: 1}}, Cmd: []CmdLimit{{Lo: -1, Hi: 1}}}
	g := NewGuard(s)
	var r Row
	tick := func(x float64, q Request) (Mode, Refusal) {
		r.T, r.Fresh, r.Req, r.Res, r.Flags = r.T+250e6, 3, uint8(q), 0, 0
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

// While a cause lasts, nobody can arm, run or reset, and everybody can stop.
func TestGuardRequestsWhileSick(t *testing.T) {
	g := newRigged(t, nil)
	g.running()
	g.dead = true
	g.ticks(8, 0)
	g.want(Hold, CauseStale)
	if res := g.tick(0, ReqRun); res != CauseRemains {
		t.Errorf("run: refusal %d", res)
	}
	if res := g.tick(0, ReqStop); res != Taken {
		t.Errorf("stop: refusal %d", res)
	}
	g.tick(0, 0)
	g.want(SelfTest, CauseStale)
	for q, want := range map[Request]Refusal{ReqArm: CauseRemains, ReqRun: CauseRemains, ReqReset: CauseRemains, ReqHold: WrongMode, ReqStop: Taken} {
		if res := g.tick(0, q); res != want {
			t.Errorf("%v: refusal %d, want %d", q, res, want)
		}
	}
}

// Signals and commands are told by their place, whichever it is.
func TestGuardPlaces(t *testing.T) {
	g := NewGuard(GuardSpec{Dt: 1e-3, Meas: []MeasLimit{{Lo: -9, Hi: 9}}, Cmd: []CmdLimit{{Lo: -1, Hi: 1}, {Lo: -1, Hi: 1}}, CmdAt: 30, Current: 0, RatedI: 1, Thermal: 1})
	var r Row
	for _, q := range []Request{0, ReqArm, ReqRun} {
		r.T, r.Fresh, r.Req, r.Flags = r.T+1e6, 1, uint8(q), 0
		g.Decide(&r, []float64{0})
	}
	if g.Watch(&r, Motion{Current: 10}); g.Heat() != 0 {
		t.Errorf("a current that was not believed heated to %g", g.Heat())
	}
	if g.Watch(&r, Motion{Current: 10, Heating: 9}); g.Heat() == 0 {
		t.Error("a current that was believed heats nothing")
	}
	g.Limit(&r, []float64{0, math.NaN()})
	if r.Cause != CauseNonFinite || r.Where != 32 {
		t.Errorf("%v of signal %d, want the command at 32", r.Cause, r.Where)
	}
}

// Requests have names, and names are requests.
func TestRequestNames(t *testing.T) {
	for q := ReqArm; q <= ReqSet; q++ {
		if got, ok := ParseRequest(q.String()); got != q || !ok {
			t.Errorf("%v: %v, %v", q, got, ok)
		}
	}
	for _, name := range []string{"none", "", "ARM", "unknown"} {
		if got, ok := ParseRequest(name); got != ReqNone || ok {
			t.Errorf("%q: %v, %v", name, got, ok)
		}
	}
	for q := ReqNone; q < 20; q++ {
		if want := q == ReqStop || q == ReqHold || q == ReqEstop; q.Safer() != want {
			t.Errorf("%v makes safer: %v", q, !want)
		}
	}
	if Request(200).String() != "unknown" || Mode(200).String() != "unknown" || ReqNone.String() != "none" || Estop.String() != "estop" {
		t.Error("names beyond the list")
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
	for _, m := range []Motion{{Speed: -51}, {Error: 3}} {
		g := newRigged(t, func(s *GuardSpec) { s.MaxError = 2 })
		g.running()
		g.dead = true
		g.ticks(7, 0)
		g.want(Hold, CauseStale)
		g.off = m
		g.tick(0, 0)
		g.want(Trip, CauseStale)
		if g.row.Where != 1 || g.row.Limit != 0.005 {
			t.Errorf("signal %d, limit %g", g.row.Where, g.row.Limit)
		}
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

// What the row says in words.
func TestWhy(t *testing.T) {
	s := &Schema{Meas: []engine.Signal{{Name: "motor.angle", Unit: "rad"}, {Name: "motor.current", Unit: "A"}}}
	for _, c := range []struct {
		r    Row
		want string
	}{
		{Row{}, "none"},
		{Row{Cause: CauseCommand}, "command"},
		{Row{Cause: CauseStale, Where: 1, Value: 0.0214, Limit: 0.02}, "stale sensor motor.angle: 0.0214 s, limit 0.02 s"},
		{Row{Cause: CauseStale, Where: 1, Limit: 0.02}, "stale sensor motor.angle: no sample yet, limit 0.02 s"},
		{Row{Cause: CauseRange, Where: 2, Value: -21.5, Limit: -20}, "out of range motor.current: -21.5 A, limit -20 A"},
		{Row{Cause: CauseDevice, Where: 2, Value: 6}, "device fault motor.current: 6 A, limit 0 A"},
		{Row{Cause: CauseNonFinite, Where: 2}, "non-finite number motor.current"},
		{Row{Cause: CauseError, Value: -0.523, Limit: 0.349}, "tracking error: -0.523 rad, limit 0.349 rad"},
		{Row{Cause: CauseStarved, Value: 0.31, Limit: 0.25}, "supervisor starved: 0.31 s, limit 0.25 s"},
		{Row{Cause: CauseLateTicks, Value: 6, Limit: 5}, "late ticks: 6 of 100, limit 5 of 100"},
		{Row{Cause: CauseSpeed, Where: 99, Value: 2, Limit: 1}, "speed: 2 rad/s, limit 1 rad/s"},
		{Row{Cause: 250}, "unknown"},
	} {
		if got := c.r.Why(s); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	// every cause has a name of its own
	seen := map[string]bool{}
	for c := range causes {
		if name := Cause(c).String(); name == "" || name == "unknown" || seen[name] {
			t.Errorf("cause %d is called %q", c, name)
		} else {
			seen[name] = true
		}
	}
}
