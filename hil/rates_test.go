package hil

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine"
	"hilrig/engine/control"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// freeBoard is a motor on a line, written from the equations (truthDot, Runge–Kutta): it samples at a raster of its own, whatever the
// loop's, and loses samples.
type freeBoard struct {
	rate   float64 // Hz
	loss   float64 // share lost at random
	burst  int     // samples lost in a row, once in forty
	report float64 // of the voltage that it says it applied
	brake  func(t, u float64) float64
	load   func(t float64) float64       // N·m on the shaft; nil: none
	shape  func(angle float64) float64   // what its encoder makes of the angle (rad); nil: as it is
	delay  func(t float64) (way float64) // s  from sample to arrival, where it has no clock; nil: it has one

	rng  *rand.Rand
	x    motion4
	t    float64 // s
	next float64 // s  of the next sample
	n    int     // samples so far
	u    float64 // V
	top  float64 // rad/s  fastest so far
	got  [4]float64
	at   float64 // s  of the newest sample that arrived; without a clock, of its arrival
	seen bool
	way  []onTheWay
}

// onTheWay is a sample that has not arrived yet.
type onTheWay struct {
	arrives float64 // s
	y       [4]float64
}

func (d *freeBoard) Signals() (m, c []engine.Signal) { return nil, nil }
func (d *freeBoard) Start(context.Context) error     { return nil }
func (d *freeBoard) Close() error                    { return nil }
func (d *freeBoard) Send(u []float64)                { d.u = u[0] }

func (d *freeBoard) Poll(now int64, y []float64) (fresh Fresh) {
	const count = 2 * math.Pi / 65536
	end := float64(now) * 1e-9
	for d.t < end {
		stop := min(end, d.next)
		u := d.u
		if d.brake != nil {
			u = d.brake(d.t, u)
		}
		steps := max(1, math.Ceil((stop-d.t)/50e-6))
		load := 0.0
		if d.load != nil {
			load = d.load(d.t)
		}
		for range int(steps) {
			rk4(d.x[:], (stop-d.t)/steps, func(x, dx []float64) {
				truthDot(x, dx, u)
				dx[1] -= load / demoMotor().J
			})
			d.top = max(d.top, math.Abs(d.x[1]))
		}
		if d.t = stop; d.t < d.next {
			break
		}
		angle := math.Round(d.x[0]/count) * count
		if d.shape != nil {
			angle = d.shape(d.x[0])
		}
		y0 := onTheWay{d.t, [4]float64{angle, d.x[2] + 0.02*d.rng.NormFloat64(), d.report * u}}
		if d.n++; d.rng.Float64() >= d.loss && d.n%40 >= d.burst {
			if d.delay != nil {
				y0.arrives += d.delay(d.t)
			}
			if n := len(d.way); n > 0 {
				y0.arrives = max(y0.arrives, d.way[n-1].arrives)
			}
			d.way = append(d.way, y0)
		}
		d.next += 1 / d.rate
	}
	for len(d.way) > 0 && d.way[0].arrives <= end {
		d.got, d.at, d.seen, fresh = d.way[0].y, d.way[0].arrives, true, Fresh{15}
		d.way = d.way[1:]
	}
	copy(y, d.got[:3])
	if y[3] = 1e3; d.seen {
		y[3] = end - d.at
	}
	return fresh
}

// free is a controller at 1 kHz, or at the rate of the board where that is higher, beside such a board.
type free struct {
	*Loop
	clock *VirtualClock
	out   *hand2
	board *freeBoard
	ctl   *Controller
}

func newFree(t *testing.T, b *freeBoard, seed uint64, reported bool, ref reference.Spec) *free {
	t.Helper()
	gen, err := reference.New(ref)
	if err != nil {
		t.Fatal(err)
	}
	b.rng, b.next = rand.New(rand.NewPCG(seed, 3)), 0.37/b.rate
	spec, pid, loop := samplingSpec(), control.PID{Kp: 0.25, Kd: 6e-3, Limit: 0.4}, max(1000, b.rate)
	if b.rate < 400 {
		pid.Kp, pid.Kd = 0.02, 1e-3
	}
	s := ControllerSpec{
		Rig: "free", Rate: loop, Ages: []int{3, 3, 3, 3}, Axes: []AxisSpec{motorAxis(spec, 1/b.rate)},
		Meas: Of("drive", engine.Signal{Name: "motor.angle", Unit: "rad"}, engine.Signal{Name: "motor.current", Unit: "A"},
			engine.Signal{Name: "motor.voltage", Unit: "V"}, engine.Signal{Name: "age", Unit: "s"}),
		Cmd: Of("drive", engine.Signal{Name: "voltage", Unit: "V"}),
		Guard: GuardSpec{Meas: []MeasLimit{{Stale: max(0.1, 12/b.rate)}, {Stale: max(0.1, 12/b.rate)}, {}, {Age: true}},
			Cmd:         []CmdLimit{{Lo: -24, Hi: 24, Slew: 20000}},
			GuardLimits: GuardLimits{HoldTime: 0.1, SelfTest: 0.1}},
	}
	a := &s.Axes[0]
	a.Ref, a.Fade, a.PID, a.Comp = gen, 0.5, pid, observer
	if reported {
		a.Measured[estimator.Voltage], a.Sampling.Groups[0].Quantities = 2, append(a.Sampling.Groups[0].Quantities, estimator.Voltage)
	}
	f := &free{clock: &VirtualClock{Period: int64(1e9 / loop)}, out: &hand2{}, board: b}
	if f.ctl, err = NewController(s); err != nil {
		t.Fatal(err)
	}
	f.Loop = NewLoop(f.clock, b, f.out, f.ctl, 1)
	return f
}

func (f *free) step() {
	f.clock.N = 1
	t, late, _ := f.clock.Wait()
	f.tick(t, late)
}

// seconds runs for so long.
func (f *free) seconds(s float64) {
	for range int(s * f.ctl.s.Rate) {
		f.step()
	}
}

func (f *free) drive(t *testing.T) {
	t.Helper()
	f.seconds(max(0.4, 40/f.board.rate))
	f.out.req = ReqArm
	f.step()
	f.out.req = ReqRun
	f.step()
	if f.row.Mode != Run {
		t.Fatalf("not running: %v", f.row.CauseText(&f.ctl.schema))
	}
}

// Devices whose rate is that of the loop, no part of it and no whole share, with up to half of the samples lost: the recursive least
// squares go on, and every value lies within 3.5 of its standard errors from the truth (1 of 2000 would not by chance; there are 72).
func TestRatesAndLossesInRLS(t *testing.T) {
	ref := reference.Spec{Kind: "multisine", Tones: []reference.Tone{{Amplitude: 3, Frequency: 0.4}, {Amplitude: 0.6, Frequency: 2.3}}}
	rates, losses := []float64{700, 400}, []float64{0, 0.5}
	if soak {
		rates, losses = []float64{1000, 700, 400}, []float64{0, 0.3, 0.5}
	}
	for _, rate := range rates {
		for _, loss := range losses {
			for seed := range seeds(2) {
				f := newFree(t, &freeBoard{rate: rate, loss: loss}, seed, false, ref)
				f.drive(t)
				for range 20000 {
					f.step()
				}
				x := f.b.Est
				if f.row.Mode != Run || x[12] < 45 {
					t.Errorf("%g Hz, %g lost: %g windows; %v", rate, loss, x[12], f.row.CauseText(&f.ctl.schema))
				}
				for i, truth := range []float64{7e-5, 1.5e-4, 15e-3, 0} {
					if v, se := x[4+i], x[8+i]; !(math.Abs(v-truth) <= 3.5*se) || i == 0 && se > 0.01*truth {
						t.Errorf("%g Hz, %g lost: parameter %d is %.4g ± %.2g, truth %.4g", rate, loss, i, v, se, truth)
					}
				}
			}
		}
	}
}

// A device of 400 Hz beside a loop of 1 kHz: the axis follows as well as with 1 kHz, and the speed is known as well as the samples allow.
func TestRateThatDoesNotDivide(t *testing.T) {
	run := func(rate float64) (tracking, speed float64) {
		f := newFree(t, &freeBoard{rate: rate}, 1, false, slowSine)
		f.drive(t)
		const n = 4000
		for k := range n {
			if f.step(); f.row.Mode != Run || f.row.Flags&(FlagRefused|FlagStale|FlagJump) != 0 {
				t.Fatalf("%g Hz, tick %d: %v, flags %b", rate, k, f.row.CauseText(&f.ctl.schema), f.row.Flags)
			}
			if k >= 1000 {
				e, v := f.b.Model[3], f.b.Est[estimator.XVel]-f.board.x[1]
				tracking, speed = tracking+e*e/(n-1000), speed+v*v/(n-1000)
			}
		}
		return math.Sqrt(tracking), math.Sqrt(speed)
	}
	e1, v1 := run(1000)
	e4, v4 := run(400)
	t.Logf("tracking %.2g and %.2g rad, speed %.2g and %.2g rad/s", e1, e4, v1, v4)
	if e4 > 1.2*e1 || v4 > 4*v1 || v4 > 0.5 {
		t.Errorf("at 400 Hz tracking %.2g rad and speed %.2g rad/s, at 1 kHz %.2g and %.2g", e4, v4, e1, v1)
	}
}

// Commands that do not arrive while samples are lost: the device then reports a voltage that was never sent, and the filter doubts the
// voltage of the gap. Its error of the speed stays within four of its standard deviations; where the voltage was sent there is no doubt.
func TestDoubtAboutTheVoltage(t *testing.T) {
	run := func(cut bool) (off, sd float64) {
		b := &freeBoard{rate: 500, report: 1}
		f := newFree(t, b, 1, true, reference.Spec{Kind: "sine", Amplitude: 4, Frequency: 1})
		f.drive(t)
		for range 1000 {
			f.step()
		}
		if cut {
			b.brake = func(t, u float64) float64 { return -5 }
		}
		b.loss = 1
		for range 30 {
			f.step()
		}
		b.loss = 0
		for f.step(); f.row.FreshSignals == (Fresh{}); {
			f.step()
		}
		var x, dev [4]float64
		f.ctl.axes[0].Filter().State(x[:])
		f.ctl.axes[0].Filter().StdDevs(dev[:])
		return x[estimator.XVel] - b.x[1], dev[estimator.XVel]
	}
	off, sd := run(false)
	offCut, sdCut := run(true)
	t.Logf("error %.2g ± %.2g rad/s, with commands that did not arrive %.2g ± %.2g", off, sd, offCut, sdCut)
	if math.Abs(off) > 4*sd || math.Abs(offCut) > 4*sdCut || sdCut < 3*sd {
		t.Errorf("error %.2g ± %.2g rad/s, with commands that did not arrive %.2g ± %.2g", off, sd, offCut, sdCut)
	}
}

// A drive that applies less than it is told, and says so: the least squares take its word, and find the truth.
func TestReportedVoltageInRLS(t *testing.T) {
	b := &freeBoard{rate: 500, report: 1, brake: func(_, u float64) float64 { return 0.5 * u }}
	f := newFree(t, b, 1, true, reference.Spec{Kind: "multisine",
		Tones: []reference.Tone{{Amplitude: 3, Frequency: 0.4}, {Amplitude: 0.6, Frequency: 2.3}}})
	f.drive(t)
	f.seconds(20)
	x := f.b.Est
	for i, truth := range []float64{7e-5, 1.5e-4, 15e-3, 0} {
		if v, se := x[4+i], x[8+i]; !(math.Abs(v-truth) <= 4*se) {
			t.Errorf("parameter %d is %.4g ± %.2g, truth %.4g", i, v, se, truth)
		}
	}
	if v := x[4]; math.Abs(v/7e-5-1) > 0.01 {
		t.Errorf("inertia %.5g kg·m²", v)
	}
	t.Log(x[4:12])
}
