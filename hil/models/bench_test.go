package models_test

import (
	"context"
	"math"
	"testing"

	"hilrig/cmd/daemon"
	"hilrig/configs"
	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/hil"
)

// bench is the controller of a rig file in a loop on a virtual clock, with a plant in place of the device. Every sample is taken at its
// tick; a command acts until the next.
type bench struct {
	t      testing.TB
	spec   hil.ControllerSpec
	ctl    *hil.Controller
	loop   *hil.Loop
	schema hil.Schema
	rows   []hil.Row // while keep
	keep   bool

	far   far
	volts float64
	t0    int64
	left  int
	req   hil.Request
	spent int64 // ns  of this tick, by models on the virtual clock
}

const count = 2 * math.Pi / 65536 // rad  of the encoder

// far is the plant: it goes on by dt (s) under a voltage (V), and tells angle (rad) and current (A).
type far interface {
	advance(dt, volts float64)
	read() (angle, current float64)
}

// newBench builds the bench of a configuration; edit may replace a model by one that wraps it.
func newBench(t testing.TB, cfg *configs.Config, f far, edit func(b *bench, s *hil.ModelSpec)) *bench {
	t.Helper()
	if problems, _ := cfg.Validate(); len(problems) > 0 {
		t.Fatal(problems)
	}
	spec, err := daemon.ControllerSpec(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, far: f, spec: spec}
	for i := range spec.Models {
		if edit != nil {
			edit(b, &spec.Models[i])
		}
	}
	if b.ctl, err = hil.NewController(spec); err != nil {
		t.Fatal(err)
	}
	b.schema = b.ctl.Schema()
	b.loop = hil.NewLoop(b, b, b, b.ctl, 1)
	return b
}

// The bench is the clock …
func (b *bench) Wait() (t, late int64, ok bool) {
	if b.left == 0 {
		return 0, 0, false
	}
	b.left--
	b.t0, b.spent = b.t0+int64(1e9/b.schema.Rate), 0
	return b.t0, 0, true
}

func (b *bench) Now() int64 { return b.t0 + b.spent }

// … the device …
func (b *bench) Signals() (m, c []engine.Signal) {
	return hil.Signals(b.schema.Meas), hil.Signals(b.schema.Cmd)
}
func (b *bench) Start(context.Context) error { return nil }
func (b *bench) Close() error                { return nil }

func (b *bench) Poll(_ int64, y []float64) (fresh hil.Fresh) {
	b.far.advance(1/b.schema.Rate, b.volts)
	angle, current := b.far.read()
	angle = count * math.Round(angle/count)
	for i, c := range b.schema.Meas {
		hil.SetFresh(&fresh, i)
		switch c.Role {
		case hil.RolePosition:
			y[i] = angle
		case hil.RoleCurrent:
			y[i] = current
		case hil.RoleVoltage:
			y[i] = b.volts
		case hil.RoleTemperature:
			y[i] = 25
		}
	}
	return fresh
}

func (b *bench) Send(u []float64) {
	for i, c := range b.schema.Cmd {
		if c.Role == hil.RoleCommand {
			b.volts = u[i]
		}
	}
}

// … and the outside.
func (b *bench) Flags() hil.Flags        { return 0 }
func (b *bench) Silence() float64        { return 0 }
func (b *bench) AbsentDevice() int       { return -1 }
func (b *bench) PreviousRun() hil.Before { return hil.Before{} }
func (b *bench) Change() *hil.Change     { return nil }
func (b *bench) Order() (uint32, hil.Request) {
	q := b.req
	b.req = hil.ReqNone
	return 1, q
}

func (b *bench) OnRow(r *hil.Row) {
	if b.keep {
		b.rows = append(b.rows, *r)
	} else {
		b.rows = append(b.rows[:0], *r)
	}
}

// tick runs n ticks.
func (b *bench) tick(n int) {
	b.left = n
	b.loop.Run()
}

// run arms, runs, and keeps the rows of n ticks of motion.
func (b *bench) run(n int) []hil.Row {
	b.t.Helper()
	b.tick(700)
	b.req = hil.ReqArm
	b.tick(1)
	b.req = hil.ReqRun
	b.tick(1)
	b.keep = true
	b.tick(n)
	if r := &b.rows[len(b.rows)-1]; r.Mode != hil.Run {
		b.t.Fatalf("not running: %v (%s)", r.Mode, r.CauseText(&b.schema))
	}
	return b.rows[1:]
}

// replay repeats rows from the first tick on, on another controller.
func (b *bench) replay(rows []hil.Row) {
	b.t.Helper()
	again, err := hil.NewController(b.spec)
	if err != nil {
		b.t.Fatal(err)
	}
	i := 0
	rp := hil.NewReplay(b.schema, func(r *hil.Row) bool {
		if i == len(rows) {
			return false
		}
		*r = rows[i]
		i++
		return true
	}, func(uint32) *hil.Change { return nil })
	hil.NewLoop(rp, rp, rp, again, 1).Run()
	if rp.N != uint64(len(rows)) || rp.Diff != 0 {
		b.t.Fatalf("%d of %d rows differ, first at tick %d:\nrecorded %+v\nreplayed %+v", rp.Diff, rp.N, rp.DiffRecorded.Seq, rp.DiffRecorded,
			rp.DiffReplayed)
	}
}

// machine is a plant of the program as the far side.
type machine struct {
	hil.Machine
	x, y, out []float64
	inner     int
}

// newMachine has an encoder of 16 bits and a sensor of the current.
func newMachine(t testing.TB, p plant.Machine, inner int, offset float64, seed uint64) *machine {
	t.Helper()
	m, err := plant.NewRig(p, plant.SensorSpec{Readings: []plant.Reading{{Output: plant.OutPosition, Count: 2 * math.Pi / 65536},
		{Output: plant.OutCurrent, Noise: 0.02, Offset: offset}}, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return &machine{m, m.NewState(), make([]float64, len(m.Layout().Outputs)), make([]float64, 2), inner}
}

func (m *machine) advance(dt, volts float64) {
	for range m.inner {
		m.Step(dt/float64(m.inner), m.x, []float64{volts, 1}, m.y)
	}
}

func (m *machine) read() (angle, current float64) {
	m.Read(m.y, m.out)
	return m.out[0], m.out[1]
}
