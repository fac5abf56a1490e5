package hil

import (
	"fmt"
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/estimator"
	"hilrig/hil/axis"
)

// Every limit on both sides: at its edge the rig runs on, the next number beyond it trips at once, and the row says what it was.
func TestGuardLimits(t *testing.T) {
	spec := func(s *GuardSpec) {
		s.Axes[0].MaxError, s.Axes[0].MaxResidual, s.Axes[0].RatedI, s.Meas[0].Hot, s.Meas[0].Lo, s.Meas[0].Hi = 2, 0.3, 0, 0, 0, 0
		s.Axes[0].Measured[estimator.Velocity] = 0 // a tacho
	}
	for _, c := range []struct {
		cause Cause
		limit float64
		where uint16
		set   func(g *rigged, x float64)
	}{
		{CauseSpeed, 50, 0, func(g *rigged, x float64) { g.off.Speed = x }},
		{CauseSpeed, 50, 1, func(g *rigged, x float64) { g.off.Measured = x }},
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
				if g.row.Value != beyond || g.row.Limit != c.limit || g.row.CauseSignal != c.where {
					t.Errorf("value %g, limit %g, signal %d; want %g, %g, %d", g.row.Value, g.row.Limit, g.row.CauseSignal, beyond, c.limit, c.where)
				}
				// it stays tripped, a reset is refused while the cause lasts, and taken after it
				g.ticks(3, 1)
				if res := g.tick(0, ReqReset); !remains(res) {
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
	g := newRigged(t, func(s *GuardSpec) { s.Axes[0].MaxSpeed, s.Axes[0].MaxCurrent, s.Axes[0].RatedI = 0, 0, 0 })
	g.running()
	g.off = axis.State{Speed: 1e9, Error: -1e9, Residual: 1e9}
	g.meas[1] = 20
	g.ticks(100, 1)
	g.want(Run, CauseCommand)
	if heat := g.Heat(0); heat != 0 {
		t.Errorf("without a rated current the budget is used to %g", heat)
	}
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
	g := NewGuard(GuardSpec{Dt: 1e-3, Meas: []MeasLimit{{}}, Cmd: []CmdLimit{{Drives: true, Lo: -5, Hi: 5, Safe: -2, Slew: 1000}}})
	var r Row
	for k, c := range []struct {
		q    Request
		want float64
	}{{0, -2}, {ReqArm, -2}, {ReqRun, -1}, {0, 0}, {ReqStop, -2}} {
		r.T, r.FreshSignals, r.Req, r.Flags = r.T+1e6, Fresh{1}, uint8(c.q), 0
		u := []float64{4}
		g.Decide(&r, []float64{0})
		g.Watch(&r, nil, nil)
		g.Limit(&r, u)
		if u[0] != c.want {
			t.Errorf("tick %d: %g V, want %g", k, u[0], c.want)
		}
	}
	// without a slew limit the command may jump
	g = NewGuard(GuardSpec{Dt: 1e-3, Meas: []MeasLimit{{}}, Cmd: []CmdLimit{{Drives: true, Lo: -5, Hi: 5}}})
	r = Row{}
	for _, q := range []Request{0, ReqArm, ReqRun, 0, 0} {
		r.T, r.FreshSignals, r.Req, r.Flags = r.T+1e6, Fresh{1}, uint8(q), 0
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
	if g.row.CauseSignal != 8 || g.row.Flags&FlagNonFinite == 0 {
		t.Errorf("signal %d, flags %b", g.row.CauseSignal, g.row.Flags)
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
			heat := g.Heat(0)
			res := g.tick(0, ReqReset)
			if heat >= 0.5 && !remains(res) || k > 200 {
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
	g := newRigged(t, func(s *GuardSpec) { s.Axes[0].MaxCurrent = 0 })
	g.running()
	g.meas[1] = 1e6
	g.tick(1, 0)
	g.want(Hold, CauseRange)
	if g.Heat(0) != 0 {
		t.Errorf("a reading of 1e6 A heated to %g", g.Heat(0))
	}
	g = newRigged(t, func(s *GuardSpec) { s.Axes[0].MaxCurrent = 0 })
	g.meas[1] = 20
	g.ticks(100, 0)
	g.want(Trip, CauseThermal)
	if g.row.Limit != 0.5 || g.row.Value <= 0.5 {
		t.Errorf("used %g, limit %g", g.row.Value, g.row.Limit)
	}
}

// Divergence: a flag from the estimator, or a number that is none.
func TestGuardDiverged(t *testing.T) {
	nan := math.NaN()
	for _, m := range []axis.State{{Speed: nan}, {Speed: math.Inf(1)}, {Error: nan}, {Residual: nan}, {Residual: math.Inf(-1)}} {
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
	g.Watch(&g.row, []axis.State{{Diverged: true}}, g.meas)
	g.want(Trip, CauseDiverged)
	// a limit that is left because of a sign names the sign; a diverged estimate stays what it is, and a hint alone is nothing
	for _, c := range []struct {
		m    axis.State
		want Cause
	}{{axis.State{Speed: 60}, CauseDirection}, {axis.State{Residual: math.Inf(1)}, CauseDiverged}, {axis.State{Speed: 50}, CauseCommand}} {
		g := newRigged(t, nil)
		g.running()
		g.row.Flags = 0
		c.m.Hint = axis.Finding{Fault: axis.Direction, Value: 4, Limit: 3}
		g.Watch(&g.row, []axis.State{c.m}, g.meas)
		if g.row.Cause != c.want {
			t.Errorf("%+v: %v, want %v", c.m, g.row.Cause, c.want)
		}
		for fault, want := range map[axis.Fault]Cause{axis.Frozen: CauseFrozen, axis.Scale: CauseScale, axis.Delay: CauseDelay,
			axis.Disagree: CauseDisagree} {
			if c.want != CauseDirection {
				want = c.want
			}
			g = newRigged(t, nil)
			g.running()
			g.row.Flags = 0
			c.m.Hint.Fault = fault
			if g.Watch(&g.row, []axis.State{c.m}, g.meas); g.row.Cause != want {
				t.Errorf("%+v: %v, want %v", c.m, g.row.Cause, want)
			}
		}
	}
	// what an axis found is told, whatever it would be put down to
	for fault, want := range map[axis.Fault]Cause{axis.Jump: CauseJump, axis.Noise: CauseEstimate, axis.Frozen: CauseFrozen,
		axis.FrozenReading: CauseFrozenReading, axis.Disagree: CauseDisagree} {
		g := newRigged(t, nil)
		g.running()
		g.row.Flags = 0
		g.Watch(&g.row, []axis.State{{Finding: axis.Finding{Fault: fault, Quantity: estimator.Position, Value: 2, Limit: 1},
			Hint: axis.Finding{Fault: axis.Direction, Value: 4, Limit: 3}}}, g.meas)
		if g.row.Cause != want || g.row.Value != 2 {
			t.Errorf("found %d beside a hint: %v, want %v", fault, g.row.Cause, want)
		}
	}
	// signs are told before what follows from them
	g = newRigged(t, nil)
	g.running()
	g.off = axis.State{Speed: 60, Finding: axis.Finding{Fault: axis.Direction, Value: 9, Limit: 5}}
	g.tick(1, 0)
	g.want(Trip, CauseDirection)
	if g.row.Value != 9 || g.row.Limit != 5 || g.row.CauseSignal != 1 {
		t.Errorf("value %g, limit %g, signal %d", g.row.Value, g.row.Limit, g.row.CauseSignal)
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

// What the row says in words.
func TestWhy(t *testing.T) {
	driven := Of("drive", engine.Signal{Name: "voltage", Unit: "V"})
	driven[0].Axis, driven[0].Role = "shaft", RoleCommand
	s := &Schema{Cmd: driven, Meas: Of("drive", engine.Signal{Name: "motor.angle", Unit: "rad"},
		engine.Signal{Name: "motor.current", Unit: "A"}), Est: Of("stage", engine.Signal{Name: "at", Unit: "m"})}
	s.Meas[0].Axis = "shaft"
	for _, c := range []struct {
		r    Row
		want string
	}{
		{Row{Cause: CauseDirection, CauseSignal: 1, Value: 4, Limit: 3},
			"wrong direction drive.motor.angle: 4 V, limit 3 V; " + causes[CauseDirection].hint},
		{Row{Cause: CauseDirection, CauseSignal: 2, Value: 4, Limit: 3},
			"wrong direction drive.motor.current: 4, limit 3; " + causes[CauseDirection].hint},
		{Row{Cause: CauseDelay, CauseSignal: 1, Value: 0.08, Limit: 0.01},
			"delay drive.motor.angle: 0.08 s, limit 0.01 s; " + causes[CauseDelay].hint},
		{Row{Cause: CauseFrozen, CauseSignal: 1, Value: 0.2, Limit: 0.003},
			"frozen position drive.motor.angle: 0.2 rad, limit 0.003 rad; " + causes[CauseFrozen].hint},
		{Row{Cause: CauseDisagree, CauseSignal: 2, Value: 9, Limit: 3},
			"readings disagree drive.motor.current: 9 A, limit 3 A; " + causes[CauseDisagree].hint},
		{Row{}, "none"},
		{Row{Cause: CauseCommand}, "command"},
		{Row{Cause: CauseStale, CauseSignal: 1, Value: 0.0214, Limit: 0.02}, "stale sensor drive.motor.angle: 0.0214 s, limit 0.02 s"},
		{Row{Cause: CauseStale, CauseSignal: 1, Limit: 0.02}, "waiting for drive.motor.angle: never sent"},
		{Row{Cause: CauseRange, CauseSignal: 2, Value: -21.5, Limit: -20}, "out of range drive.motor.current: -21.5 A, limit -20 A"},
		{Row{Cause: CauseDevice, CauseSignal: 2, Value: 6}, "device fault drive.motor.current: 6 A, limit 0 A"},
		{Row{Cause: CauseNonFinite, CauseSignal: 2}, "non-finite number drive.motor.current"},
		{Row{Cause: CauseError, CauseSignal: 1, Value: -0.523, Limit: 0.349}, "tracking error drive.motor.angle: -0.523 rad, limit 0.349 rad"},
		{Row{Cause: CauseStarved, Value: 0.31, Limit: 0.25}, "supervisor starved: 0.31 s, limit 0.25 s"},
		{Row{Cause: CauseLateTicks, Value: 6, Limit: 5}, "late ticks: 6 of 100, limit 5 of 100"},
		{Row{Cause: CauseSpeed, CauseSignal: 99, Value: 2, Limit: 1}, "speed: 2, limit 1"},
		{Row{Cause: CauseBlocked, CauseSignal: 1, Value: 2, Limit: 1},
			"blocked shaft drive.motor.angle: 2 N·m, limit 1 N·m; " + causes[CauseBlocked].hint},
		{Row{Cause: CauseBlocked, CauseSignal: 3, Value: 2, Limit: 1}, "blocked shaft stage.at: 2 N, limit 1 N; " + causes[CauseBlocked].hint},
		{Row{Cause: 250}, "unknown"},
	} {
		if got := c.r.CauseText(s); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for i, ch := range s.Channels() { // the last is named like the others
		r := Row{Cause: CauseRange, CauseSignal: uint16(i + 1)}
		if why := r.CauseText(s); why != "out of range "+ch.Name {
			t.Errorf("signal %d: %q", i+1, why)
		}
	}
	if r := (Row{Cause: CauseRange, CauseSignal: uint16(len(s.Channels()) + 1)}); r.CauseText(s) != "out of range" {
		t.Errorf("a signal that is not there: %q", r.CauseText(s))
	}
	alone := &Schema{Cmd: driven} // a command comes first where nothing is measured
	if r := (Row{Cause: CauseScale, CauseSignal: 1, Value: 4,
		Limit: 3}); r.CauseText(alone) != "wrong scale "+driven[0].Name+": 4 V, limit 3 V; "+causes[CauseScale].hint {
		t.Errorf("%q", r.CauseText(alone))
	}
	// every cause has a name of its own, by which it is found
	for name, want := range map[string]Cause{"": CauseStart, "none": CauseNone, "unknown": CauseStart, "Speed": CauseStart} {
		if got := CauseNamed(name); got != want {
			t.Errorf("%q is cause %d, want %d", name, got, want)
		}
	}
	seen := map[string]bool{}
	for c := range causes {
		if got := CauseNamed(Cause(c).String()); got != Cause(c) {
			t.Errorf("%q is found as cause %d, want %d", Cause(c), got, c)
		}
		if name := Cause(c).String(); name == "" || name == "unknown" || seen[name] {
			t.Errorf("cause %d is called %q", c, name)
		} else {
			seen[name] = true
		}
	}
}
