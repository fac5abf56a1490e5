package hil

import (
	"context"
	"math"
	"slices"
	"testing"

	"hilrig/engine"
	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
	"hilrig/hil/axis"
	"hilrig/hil/ring"
)

// bench is a controller loop and a plant loop in lock step on virtual clocks, joined by a line that carries integers and
// takes one tick each way: the demo without an operating system. Same seed, same rows.
type bench struct {
	ctl, rig       *Loop
	ctlClk, rigClk *VirtualClock
	out            *hand2
	up, down       wireEnd
	plant          *Plant
	machine        *plant.Rig
	controller     *Controller
	rows           []Row
	every, n       int
}

// wireEnd is one direction of the line: values rounded to their scale, delivered a tick later.
type wireEnd struct {
	now, next []float64
	scale     []float64
	fresh     bool
	sent      bool
}

func (w *wireEnd) put(u []float64) {
	for i, v := range u {
		w.next[i] = math.Round(v/w.scale[i]) * w.scale[i]
	}
	w.sent = true
}

func (w *wireEnd) turn() {
	copy(w.now, w.next)
	w.fresh, w.sent = w.sent, false
}

// benchDev is a loop's view of the line.
type benchDev struct {
	in, out   *wireEnd
	meas, cmd []engine.Signal
}

func (d *benchDev) Signals() (m, c []engine.Signal) { return d.meas, d.cmd }
func (d *benchDev) Start(context.Context) error     { return nil }
func (d *benchDev) Close() error                    { return nil }
func (d *benchDev) Send(u []float64)                { d.out.put(u) }
func (d *benchDev) Poll(now int64, y []float64) Fresh {
	copy(y, d.in.now)
	if !d.in.fresh {
		return Fresh{}
	}
	return Fresh{1<<len(d.in.now) - 1}
}

// hand2 is the outside of the controller: orders given by the test, no allocation.
type hand2 struct {
	flags  Flags
	req    Request
	params *Params
	tuned  Tuned // prepares them
	keep   *[]Row
	before Before
}

func (h *hand2) Flags() Flags        { return h.flags }
func (h *hand2) Silence() float64    { return 0.3 }
func (h *hand2) AbsentDevice() int   { return -1 }
func (h *hand2) PreviousRun() Before { return h.before }
func (h *hand2) Order() (uint32, Request) {
	q := h.req
	h.req = ReqNone
	if q == ReqNone && h.params != nil {
		q = ReqAdopt
	}
	if q != ReqNone {
		return 1, q
	}
	return 0, q
}
func (h *hand2) Change() *Change {
	if h.params == nil {
		return nil
	}
	c, err := h.tuned.Prepare(h.params)
	if h.params = nil; err != nil {
		panic(err)
	}
	return c
}
func (h *hand2) OnRow(r *Row) {
	if h.keep != nil {
		*h.keep = append(*h.keep, *r)
	}
}

// benchOptions are what the tests change.
type benchOptions struct {
	seed     uint64
	comp     axis.CompSpec
	ref      reference.Spec
	truth    func(*plant.AxisSpec) // what the plant is that the model does not know
	law      friction.Model        // as the model knows it; nil: that of the demo
	inner    int
	every    int // the rig samples every so many ticks of the controller
	fade     float64
	limit    float64 // N·m  of the controller
	approach float64 // rad/s  0: a tenth of max_speed
	blind    bool    // the controller has no current
	turned   bool    // the current comes before the position
	models   []ModelSpec
}

func demoLaw() *friction.LuGre {
	return &friction.LuGre{Sigma0: 11, Sigma1: 0.02, Sigma2: 1.5e-4, Fc: 15e-3, Fs: 21e-3, Vs: 0.5, Vd: 0.3}
}

func demoMotor() plant.Motor {
	return plant.Motor{R: 1.2, L: 0.6e-3, K: 0.042, BrushDrop: 0.6, DropScale: 0.05, J: 7e-5}
}

// motorAxis is the axis of the demo with this filter, position and current in one frame, every (s).
func motorAxis(k estimator.KalmanSpec, every float64) AxisSpec {
	return AxisSpec{Name: "shaft", Measured: [estimator.Quantities]int{0, 1, -1, -1, -1}, Spec: axis.Spec{
		SamplePeriod: every, Motor: k.Motor, Law: demoLaw(), TopCommand: 24, Kalman: k, PID: control.PID{Kp: 0.25, Kd: 6e-3, Limit: 0.4},
		Sampling: estimator.AxisSpec{Groups: []estimator.Group{{SamplePeriod: every,
			Quantities: []estimator.Quantity{estimator.Position, estimator.Current}}},
			RLS: &estimator.RLSSpec{Dt: every, K: k.Motor.K, Window: 0.2, MinVel: 1.5, Memory: 20, Count: 2 * math.Pi / 65536}},
	}}
}

func newBench(tb testing.TB, o benchOptions) *bench {
	tb.Helper()
	const rate = 1000.0
	gen, err := reference.New(o.ref)
	if err != nil {
		tb.Fatal(err)
	}
	o.every = max(1, o.every)
	every := float64(o.every) / rate
	if o.limit == 0 {
		o.limit = 0.4
	}
	if o.inner == 0 {
		o.inner = 20
	}
	count := 2 * math.Pi / 65536
	sensors := []engine.Signal{{Name: "motor.angle", Unit: "rad"}, {Name: "motor.current", Unit: "A"}}
	commands := []engine.Signal{{Name: "voltage", Unit: "V"}, {Name: "enable"}}
	readings := []plant.Reading{{Output: plant.OutPosition, Count: count}, {Output: plant.OutCurrent, Noise: 0.02, Offset: 0.01}}
	scale, limits := []float64{count, 1e-3}, []MeasLimit{{Stale: 0.02}, {Stale: 0.02, Lo: -20, Hi: 20}}
	if o.turned {
		slices.Reverse(sensors)
		slices.Reverse(readings)
		slices.Reverse(scale)
		slices.Reverse(limits)
	}
	b := &bench{ctlClk: &VirtualClock{Period: 1e6}, rigClk: &VirtualClock{Period: 1e6}}
	b.every = o.every
	b.up = wireEnd{now: make([]float64, 2), next: make([]float64, 2), scale: scale}
	b.down = wireEnd{now: make([]float64, 2), next: make([]float64, 2), scale: []float64{1e-3, 1}}

	law := demoLaw()
	drive := plant.AxisSpec{Motor: demoMotor(), Friction: law, Supply: [2]float64{-24, 24}, Thermal: plant.Thermal{Ambient: 20}}
	if o.truth != nil {
		o.truth(&drive)
	}
	motor, err := plant.New(plant.Spec{Kind: "motor", Axes: []plant.AxisSpec{drive}})
	if err != nil {
		tb.Fatal(err)
	}
	b.machine, err = plant.NewRig(motor, plant.SensorSpec{Readings: readings, Seed: o.seed})
	if err != nil {
		tb.Fatal(err)
	}
	b.plant = NewPlant(PlantSpec{Name: "rig", Rate: rate, Substeps: o.inner, Machine: b.machine, State: b.machine.NewState(),
		Recv: Of("drive", commands...), Send: Of("drive", sensors...),
		Truth: Of("plant", b.machine.Layout().Outputs...), Drives: []PlantDrive{{Command: 0, Enable: 1, Status: -1, Watchdog: 0.05}}})
	spec := ControllerSpec{
		Rig: "bench", Owners: []Owner{{Name: "shaft", Kind: AxisOwner}}, Rate: rate, Meas: Of("drive", sensors...),
		Cmd: Of("drive", commands...), Models: o.models,
		Axes: []AxisSpec{motorAxis(estimator.KalmanSpec{Motor: demoMotor(), Count: count, CurrentNoise: 0.02, TorqueWalk: 0.15,
			VoltageNoise: 0.05, TopSpeed: 300}, every)},
		Guard: GuardSpec{Meas: limits,
			Cmd:         []CmdLimit{{Lo: -24, Hi: 24, Slew: 20000}, {Hi: 1, Enable: true}},
			GuardLimits: GuardLimits{HoldTime: 0.1, SelfTest: 0.1}},
	}
	a := &spec.Axes[0]
	a.Limits = AxisLimits{MaxSpeed: 300, MaxError: 2, MaxCurrent: 15, RatedI: 5, Thermal: 20, Approach: o.approach}
	a.Ref, a.Fade, a.PID.Limit, a.Comp = gen, o.fade, o.limit, o.comp
	if o.law != nil {
		a.Law = o.law
	}
	if o.turned {
		a.Measured[estimator.Position], a.Measured[estimator.Current] = 1, 0
	}
	if o.blind {
		a.Measured[estimator.Current], a.Sampling.RLS, a.Sampling.Groups[0].Quantities = -1, nil, []estimator.Quantity{estimator.Position}
	}
	if b.controller, err = NewController(spec); err != nil {
		tb.Fatal(err)
	}
	b.out = &hand2{tuned: b.controller}
	b.ctl = NewLoop(b.ctlClk, &benchDev{&b.up, &b.down, sensors, commands}, b.out, b.controller, 1, ring.New[Row](64).Writer())
	b.rig = NewLoop(b.rigClk, &benchDev{&b.down, &b.up, commands, sensors}, &hand2{}, b.plant, 1)
	return b
}

// step runs one tick of each side.
func (b *bench) step() {
	b.ctlClk.N, b.rigClk.N = 1, 1
	t, late, _ := b.rigClk.Wait()
	b.rig.tick(t, late)
	b.n++
	if b.n%b.every == 0 {
		b.up.turn()
	} else {
		b.up.fresh = false
	}
	t, late, _ = b.ctlClk.Wait()
	b.ctl.tick(t, late)
	b.down.turn()
}

// run goes through self-test, arming and n ticks of motion, keeping the rows.
func (b *bench) run(tb testing.TB, n int) []Row {
	tb.Helper()
	b.energise(tb)
	b.rows = make([]Row, 0, n)
	b.out.keep = &b.rows
	for range n {
		b.step()
	}
	b.out.keep = nil
	if b.ctl.row.Mode != Run {
		tb.Fatalf("tripped: %v", b.ctl.row.Cause)
	}
	return b.rows
}

// rms of a signal over rows.
func (b *bench) rms(rows []Row, name string) float64 {
	s := b.controller.Schema()
	k := s.Index(name)
	sum := 0.0
	for i := range rows {
		sum += rows[i].X[k] * rows[i].X[k]
	}
	return math.Sqrt(sum / float64(len(rows)))
}
