package hil

import (
	"errors"
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/estimator"
)

// timed is a model that takes as long as its clock says and grows cheaper when its steps take more than its room.
type timed struct {
	clk   *spending
	takes []int64 // ns  by level
	level uint8
	st    engine.Status
	steps int
	in    ModelInput // of the last step
}

func (*timed) Signals() []engine.Signal {
	return []engine.Signal{{Name: "twice", Unit: "rad/s"}, {Name: "seen", Unit: "s"}}
}

func (m *timed) Step(in *ModelInput, y []float64) (engine.Status, uint8) {
	m.steps++
	m.in = *in
	if m.level = 0; in.StepTime > in.Room {
		m.level = 1
	}
	y[0], y[1] = 2*in.Axes[0].Velocity, in.StepTime
	if m.clk != nil {
		m.clk.spend(m.takes[m.level])
	}
	return m.st, m.level
}

func (m *timed) spec(name string, share float64) ModelSpec {
	return ModelSpec{Name: name, Axis: "shaft", Share: share, Build: func() (Model, error) { return m, nil }}
}

// spending is a virtual clock on which only models take time: deadlines stay in their raster.
type spending struct {
	VirtualClock
	spent int64 // ns  since the deadline at
	at    int64
}

func (c *spending) Now() int64 {
	c.spend(0)
	return c.T + c.spent
}

func (c *spending) spend(ns int64) {
	if c.at != c.T {
		c.at, c.spent = c.T, 0
	}
	c.spent += ns
}

// Two models of different cost each hear what their own step took; the row has it, with the level; the command is the same as without
// them; and a replay, whose clock stands still, makes the same rows.
func TestModelsHearTheirOwnTime(t *testing.T) {
	o := benchOptions{seed: 5, comp: observer, ref: slowSine, fade: 0.5}
	plain := newBench(t, o)
	without := plain.run(t, 500)
	u := plain.controller.schema.Index("drive.voltage")

	clk := &spending{}
	clk.Period = 1e6
	cheap, dear := &timed{clk: clk, takes: []int64{20e3}}, &timed{clk: clk, takes: []int64{300e3, 50e3}}
	o.models = []ModelSpec{cheap.spec("cheap", 0.1), dear.spec("dear", 0.25)}
	b := newBench(t, o)
	b.ctlClk, b.ctl.clock, b.ctl.watch = &clk.VirtualClock, clk, &clockWatch{Clock: clk}
	var rows []Row
	b.out.keep = &rows
	b.energise(t)
	for range 500 {
		b.step()
	}
	b.out.keep = nil
	s := b.controller.Schema()
	busy, channels := s.FindAll(Modelled, RoleBusy)
	level, _ := s.FindAll(Modelled, RoleLevel)
	if len(busy) != 2 || len(level) != 2 || channels[0].Name != "cheap.busy" || channels[1].Owner != "dear" || channels[1].Axis != "shaft" ||
		channels[1].Range != [2]float64{0, 0.25e-3} {
		t.Fatalf("channels %+v", channels)
	}
	for i := range rows {
		x := &rows[i].X
		if k := i - (len(rows) - 500); k >= 0 && x[s.Index("drive.voltage")] != without[k].X[u] {
			t.Fatalf("tick %d: %g V with models, %g V without", i, x[s.Index("drive.voltage")], without[k].X[u])
		}
		if math.Abs(x[busy[0]]-20e-6) > 1e-12 || x[level[0]] != 0 || x[s.Index("cheap.twice")] != 2*x[s.Index("shaft.est.velocity")] {
			t.Fatalf("tick %d: the cheap model %g s, level %g", i, x[busy[0]], x[level[0]])
		}
		// 300 µs are more than its 250 µs: every second step is the cheaper one
		if want := [2]float64{300e-6, 50e-6}[int(x[level[1]])]; math.Abs(x[busy[1]]-want) > 1e-12 || i > 0 &&
			x[level[1]] == rows[i-1].X[level[1]] {
			t.Fatalf("tick %d: the dear model %g s, level %g", i, x[busy[1]], x[level[1]])
		}
		if i > 0 && x[s.Index("dear.seen")] != rows[i-1].X[busy[1]] {
			t.Fatalf("tick %d: told %g s, took %g s", i, x[s.Index("dear.seen")], rows[i-1].X[busy[1]])
		}
	}

	cheap.clk, dear.clk = nil, nil
	sameAgain(t, b.controller.s, rows)
}

// Which signal of a device comes first makes no difference: with the current before the position a run has the same numbers bit for bit,
// and so has what the models are told.
func TestOrderOfSignals(t *testing.T) {
	run := func(turned bool) (*bench, []Row, ModelInput) {
		m := &timed{}
		b := newBench(t, benchOptions{seed: 5, comp: observer, ref: slowSine, fade: 0.5, turned: turned, models: []ModelSpec{m.spec("one", 0.5)}})
		if turned { // as an effort it reaches the models from there, too
			b.controller.axes[0].s.Measured[estimator.Effort] = 0
		}
		return b, b.run(t, 800), m.in
	}
	a, straight, told := run(false)
	b, turned, toldTurned := run(true)
	first, second := a.controller.Schema(), b.controller.Schema()
	for from, c := range first.Channels() {
		to := second.Index(c.Name)
		for i := range straight {
			if x, y := straight[i].X[from], turned[i].X[to]; x != y && c.Role != RoleBusy {
				t.Fatalf("tick %d: %s is %g, with the current first %g", i, c.Name, x, y)
			}
		}
	}
	want := told.Axes[0]
	if want.Effort = want.Current; want.Current == 0 || toldTurned.Axes[0] != want {
		t.Errorf("a model is told %+v, with the current first %+v", want, toldTurned.Axes[0])
	}
}

// What a model is told of the axis is what the row has.
func TestMotionOfModels(t *testing.T) {
	m := &timed{}
	b := newBench(t, benchOptions{seed: 5, comp: observer, ref: slowSine, fade: 0.5, models: []ModelSpec{m.spec("one", 0.5)}})
	rows := b.run(t, 400)
	s, x := b.controller.Schema(), rows[len(rows)-1].X
	of := func(name string) float64 { return x[s.Index(name)] }
	motor := demoMotor()
	want := Motion{Position: of("shaft.est.position"), Velocity: of("shaft.est.velocity"), Friction: of("shaft.est.friction"),
		Current: of("drive.motor.current"), Command: of("drive.voltage"), Energised: true,
		Acceleration: (motor.K*of("shaft.est.current") - of("shaft.est.friction")) / motor.J}
	// 2·(J·r/q)^⅓ of 7e-5 kg·m², a count of 2π/65536/√12 rad in 1 ms, 0.15 N·m/√s
	if want.Lag = m.in.Axes[0].Lag; math.Abs(want.Lag-1.4839e-3) > 1e-7 {
		t.Errorf("lag %g s, want 1.4839 ms", want.Lag)
	}
	if m.in.Axes[0] != want || m.in.Dt != 1e-3 || m.in.Room != 0.5e-3 || m.in.Skip != 0 {
		t.Errorf("told %+v, want %+v", m.in, want)
	}
	// 200 rad/s² are the largest of the reference of 2 rad at 1 Hz by far
	if a := want.Acceleration; math.Abs(a) > 200 {
		t.Errorf("acceleration %g rad/s²", a)
	}
	b.ctl.row.Mode = Ready
	b.out.req = ReqStop
	b.step()
	if m.in.Axes[0].Energised {
		t.Error("energised after a stop")
	}
}

func TestModelsAreChecked(t *testing.T) {
	m := &timed{}
	nine := make([]ModelSpec, 9)
	for i := range nine {
		nine[i] = m.spec(strings.Repeat("x", i+1), 0.01)
	}
	eight := append([]ModelSpec{}, nine[:8]...)
	for i := range eight {
		eight[i].Share = 0.0625 // 0.5 in all
	}
	for _, c := range []struct {
		name  string
		specs []ModelSpec
		want  string
	}{
		{"none", nil, ""},
		{"eight", eight, ""},
		{"nine", nine, "9 models, want at most 8"},
		{"no share", []ModelSpec{m.spec("a", 0)}, "model a: share 0"},
		{"a share that is no number", []ModelSpec{m.spec("a", math.NaN())}, "model a: share NaN"},
		{"too much together", []ModelSpec{m.spec("a", 0.3), m.spec("b", 0.21)}, "model b: share 0.21"},
		{"cannot be built", []ModelSpec{{Name: "a", Share: 0.1, Build: func() (Model, error) { return nil, errors.New("no bristles") }}},
			"model a: no bristles"},
	} {
		_, _, err := newSideModels(c.specs, 1e-3, 1, 0)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	b := newBench(t, benchOptions{seed: 1, comp: observer, ref: slowSine, models: []ModelSpec{m.spec("a", 0.2), m.spec("b", 0.2)}})
	spec := b.controller.s
	for len(spec.Meas) < 160 {
		spec.Meas = append(spec.Meas, Of("drive", engine.Signal{Name: strings.Repeat("x", len(spec.Meas))})...)
	}
	if _, err := NewController(spec); err == nil || !strings.Contains(err.Error(), "193 signals, a row holds 192") ||
		!strings.Contains(err.Error(), "leave out the model b, which has 4") {
		t.Errorf("%v", err)
	}
}

// A model that has no numbers raises the flag of the estimator in its tick, and nothing else happens; a tick allocates nothing.
func TestModelWithoutNumbers(t *testing.T) {
	m := &timed{}
	b := newBench(t, benchOptions{seed: 1, comp: observer, ref: slowSine, models: []ModelSpec{m.spec("a", 0.2)}})
	b.run(t, 50)
	for st, want := range map[engine.Status]Flags{engine.OK: 0, engine.NotConverged: 0, engine.NonFinite: FlagEstimator,
		engine.Limited: FlagEstimator} {
		m.st = st
		if b.step(); b.ctl.row.Flags&FlagEstimator != want || b.ctl.row.Mode != Run {
			t.Errorf("status %v: flags %b, mode %v", st, b.ctl.row.Flags, b.ctl.row.Mode)
		}
	}
	if n := testing.AllocsPerRun(100, b.step); n != 0 {
		t.Errorf("%g allocations in a tick", n)
	}
}

// Without models nothing follows the command.
func TestNoModels(t *testing.T) {
	b := newBench(t, benchOptions{seed: 1, comp: observer, ref: slowSine})
	if b.controller.Follows() || b.ctl.follower != nil {
		t.Error("something follows")
	}
}
