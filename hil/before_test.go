package hil

import (
	"math"
	"testing"
)

// A core that begins latched stays so until a reset, which is refused while the winding is hot; its first row shows what was handed on,
// and a replay of the rows makes the same bits.
func TestLatchedStart(t *testing.T) {
	for _, c := range []struct {
		name   string
		before Before
		mode   Mode
		hot    bool // a reset is refused at first
	}{
		{"nothing", Before{}, Init, false},
		{"a warm winding", Before{Heat: [MaxAxes]float64{0.7}}, Init, false},
		{"emergency stop", Before{Mode: Estop, Cause: CauseEstop}, Estop, false},
		{"trip", Before{Mode: Trip, Cause: CauseSpeed, CauseSignal: 4, Value: -310, Limit: 300, Heat: [MaxAxes]float64{0.2}}, Trip, false},
		{"trip of a hot winding", Before{Mode: Trip, Cause: CauseThermal, CauseSignal: 4, Value: 1.01, Limit: 1, Heat: [MaxAxes]float64{0.52}},
			Trip, true},
	} {
		b := newBench(t, benchOptions{seed: 4, comp: observer, ref: slowSine, fade: 0.5})
		b.out.before = c.before
		var rows []Row
		b.out.keep = &rows
		ask := func(q Request, ticks int) *Row {
			b.out.req = q
			for range ticks {
				b.step()
			}
			return &rows[len(rows)-1]
		}
		heat := b.controller.schema.Index("shaft.heat")
		first := *ask(ReqReset, 1) // too early for anybody
		if first.X[heat] != c.before.Heat[0] || first.Flags&FlagLatched != 0 != c.mode.Latched() || first.Res == Taken {
			t.Errorf("%s: the first row shows heat %g, flags %b, refusal %d", c.name, first.X[heat], first.Flags, first.Res)
		}
		if r := ask(ReqNone, 400); c.mode.Latched() {
			if r.Mode != c.mode || r.Cause != c.before.Cause || r.CauseSignal != c.before.CauseSignal || r.Value != c.before.Value ||
				r.Limit != c.before.Limit {
				t.Errorf("%s: %v (%s) after 0.4 s", c.name, r.Mode, r.CauseText(&b.controller.schema))
			}
			for _, q := range []Request{ReqArm, ReqRun} {
				if r := ask(q, 1); r.Res == Taken || r.Mode != c.mode {
					t.Errorf("%s: %v is taken: %v", c.name, q, r.Mode)
				}
			}
			if r := ask(ReqReset, 1); remains(r.Res) != c.hot {
				t.Errorf("%s: reset: refusal %d", c.name, r.Res)
			}
			if c.hot {
				ask(ReqNone, 1000) // 20 s · ln(0.52/0.5) = 0.78 s
				ask(ReqReset, 1)
			}
			ask(ReqNone, 300)
		}
		if r := ask(ReqNone, 1); r.Mode != Ready {
			t.Errorf("%s: %v (%s) at last", c.name, r.Mode, r.CauseText(&b.controller.schema))
		}
		if passed := float64(len(rows)-1) * 1e-3; math.Abs(rows[len(rows)-1].X[heat]-c.before.Heat[0]*math.Exp(-passed/20)) > 1e-4 {
			t.Errorf("%s: heat %g after %g s of rest", c.name, rows[len(rows)-1].X[heat], passed)
		}
		ask(ReqArm, 1)
		ask(ReqRun, 100)
		b.out.keep = nil
		sameAgain(t, b.controller.s, rows)
	}
}

// While the port is away the last current heats nothing; back again the budget goes on from where it was. A driven rig goes on with the
// last current until it trips.
func TestNoHeatFromAnOldCurrent(t *testing.T) {
	g := newRigged(t, func(s *GuardSpec) { s.HoldTime = 0.05 })
	g.running()
	g.meas[1] = 6
	g.ticks(50, 1)
	g.dead = true
	warm := g.Heat(0)
	g.ticks(54, 1) // 5 ms until it is stale, then HOLD
	if g.row.Mode != Hold || g.Heat(0) <= warm {
		t.Errorf("blind and driven: %v, heat %g, before %g", g.row.Mode, g.Heat(0), warm)
	}
	g.ticks(10, 1)
	g.want(Trip, CauseStale)
	warm = g.Heat(0)
	for _, flag := range []Flags{0, FlagLinkDown} {
		g.row.Flags = flag
		g.ticks(5000, 1)
		if g.Heat(0) != warm {
			t.Errorf("flags %b: heat %g after 5 s with the drive off, before %g", flag, g.Heat(0), warm)
		}
	}
	g.row.Flags, g.dead, g.meas[1] = 0, false, 0
	g.ticks(100, 0)
	if want := warm * math.Exp(-1); math.Abs(g.Heat(0)-want) > 0.02*want {
		t.Errorf("0.1 s after the current is measured again: heat %g, want %g", g.Heat(0), want)
	}
}

// With the drive off a winding cools as its current tells. A current that is not believed, or came too long ago, tells nothing: the heat
// stays.
func TestWindingCoolsByABelievedCurrent(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		amps   float64 // read with the drive off
		counts bool
	}{{0, true}, {20, true}, {-20, true}, {20.01, false}, {-20.01, false}, {nan, false}, {math.Inf(1), false}, {math.Inf(-1), false}} { // believed up to 20 A
		g := newRigged(t, func(s *GuardSpec) { s.Axes[0].MaxCurrent = 0 })
		g.Inherit(Before{Heat: [MaxAxes]float64{0.4}})
		g.ticks(25, 0)
		g.meas[1] = c.amps
		g.ticks(8, 0) // the last good one is stale after 5 ms
		before := g.Heat(0)
		g.ticks(10, 0)
		if counts := g.Heat(0) != before; counts != c.counts {
			t.Errorf("%g A: heat from %g to %g", c.amps, before, g.Heat(0))
		}
	}
	// a current whose age nobody limits counts for 0.1 s, one of a file for as long as that says
	for stale, ms := range map[float64]int{0: 100, -1: 100, 0.005: 5} {
		g := newRigged(t, func(s *GuardSpec) { s.Meas[1].Stale = stale })
		g.Inherit(Before{Heat: [MaxAxes]float64{0.4}})
		g.ticks(25, 0)
		g.dead = true
		n := 0
		for before := 1.0; g.Heat(0) < before && n < 1000; n++ {
			before = g.Heat(0)
			g.tick(0, ReqNone)
		}
		if n-1 != ms {
			t.Errorf("limit %g s: it cools for %d ms, want %d", stale, n-1, ms)
		}
	}
}

// A winding that was used up stays so until it is below one half, at that edge and at the one of its budget.
func TestHotWindingIsInherited(t *testing.T) {
	for _, c := range []struct {
		before Before
		want   Refusal
	}{
		{Before{Mode: Trip, Cause: CauseThermal, Heat: [MaxAxes]float64{0.5}}, StillWrong(CauseThermal)},
		{Before{Mode: Trip, Cause: CauseThermal, Heat: [MaxAxes]float64{math.Nextafter(0.5, 0)}}, Taken},
		{Before{Mode: Trip, Cause: CauseSpeed, Heat: [MaxAxes]float64{1}}, Taken},
		{Before{Mode: Trip, Cause: CauseSpeed, Heat: [MaxAxes]float64{math.Nextafter(1, 2)}}, StillWrong(CauseThermal)},
	} {
		g := newRigged(t, nil)
		g.Inherit(c.before)
		g.dead = true // nothing is known of the current: the heat stays
		for k := range g.s.Meas {
			g.s.Meas[k].Stale = 0
		}
		g.ticks(10, 0)
		if res := g.tick(0, ReqReset); res != c.want {
			t.Errorf("%+v: reset: refusal %d, want %d", c.before, res, c.want)
		}
	}
}

// HOLD pressed while a sensor is sick: the axis stands when it is well again, and a run goes on.
func TestHoldAskedForWhileBlind(t *testing.T) {
	b := newBench(t, benchOptions{seed: 4, comp: observer, ref: slowSine, fade: 0.5})
	var rows []Row
	b.out.keep = &rows
	d := &mutedDevice{Device: b.ctl.dev}
	b.ctl.dev = d
	steps := func(q Request, n int) *Row {
		b.out.req = q
		for range n {
			b.step()
		}
		return &rows[len(rows)-1]
	}
	steps(ReqNone, 400)
	steps(ReqArm, 1)
	steps(ReqRun, 700)
	d.gone = true
	if r := steps(ReqNone, 40); r.Mode != Hold || r.Cause != CauseStale {
		t.Fatalf("blind: %v (%v)", r.Mode, r.Cause)
	}
	if r := steps(ReqHold, 1); r.Res != Taken || r.Mode != Hold || r.Cause != CauseCommand {
		t.Fatalf("hold: refusal %d, %v (%v)", r.Res, r.Mode, r.Cause)
	}
	d.gone = false
	r := steps(ReqNone, 1000)
	at := b.controller.schema.Index("shaft.ref.position")
	if v := r.X[at+1]; r.Mode != Hold || v != 0 || math.Abs(b.plant.x[1]) > 0.1 {
		t.Errorf("well again: %v, reference at %g rad/s, shaft at %g rad/s", r.Mode, v, b.plant.x[1])
	}
	if r := steps(ReqRun, 800); r.Mode != Run || r.X[at+1] == 0 {
		t.Errorf("run: %v, reference at %g rad/s", r.Mode, r.X[at+1])
	}
	b.out.keep = nil
	sameAgain(t, b.controller.s, rows)
}

// mutedDevice says nothing while it is gone.
type mutedDevice struct {
	Device
	gone bool
	kept [2]float64
}

func (d *mutedDevice) Poll(now int64, y []float64) Fresh {
	fresh := d.Device.Poll(now, y)
	if d.gone {
		copy(y, d.kept[:])
		return Fresh{}
	}
	copy(d.kept[:], y)
	return fresh
}
