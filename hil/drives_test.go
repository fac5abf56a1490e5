package hil

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hilrig/engine"
	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
	"hilrig/hil/axis"
)

// body is the truth of an axis: M·v' = effort − F(v) − pull·sin(x), F by a smooth curve of its own, with the drive in front of it. It is
// integrated by the classical Runge-Kutta method, apart from all that the program integrates with.
type body struct {
	kind            plant.DriveKind
	mass, fc, fs    float64 // kg·m², N·m
	vs, fv, pull    float64 // rad/s, N·m·s/rad, N·m
	r, l, k         float64 // ohm, H, N·m/A  of a voltage or current drive
	gain            float64 // N·m·s/rad  of a velocity drive's own loop
	count, noise    float64 // rad, A
	x, v, i, effort float64
}

func (p *body) friction(v float64) float64 {
	q := v / p.vs
	return (p.fc+(p.fs-p.fc)*math.Exp(-q*q))*math.Tanh(v/(0.02*p.vs)) + p.fv*v
}

// move is a tick of dt (s) under the command u.
func (p *body) move(u, dt float64) {
	const n = 50
	h := dt / n
	f := func(s [3]float64) [3]float64 { // x v i
		var tau, di float64
		switch p.kind {
		case plant.VoltageDrive:
			tau, di = p.k*s[2], (u-p.r*s[2]-p.k*s[1])/p.l
		case plant.CurrentDrive:
			tau = p.k * u
		case plant.EffortDrive:
			tau = u
		case plant.VelocityDrive:
			tau = p.gain * (u - s[1])
		}
		p.effort = tau
		return [3]float64{s[1], (tau - p.friction(s[1]) - p.pull*math.Sin(s[0])) / p.mass, di}
	}
	s := [3]float64{p.x, p.v, p.i}
	for range n {
		a := f(s)
		b := f(along(s, a, h/2))
		c := f(along(s, b, h/2))
		d := f(along(s, c, h))
		for j := range s {
			s[j] += h / 6 * (a[j] + 2*b[j] + 2*c[j] + d[j])
		}
	}
	p.x, p.v, p.i = s[0], s[1], s[2]
	switch p.kind {
	case plant.CurrentDrive:
		p.i = u
	case plant.EffortDrive, plant.VelocityDrive:
		p.i = p.effort / p.k
	}
}

func along(s, d [3]float64, h float64) [3]float64 {
	return [3]float64{s[0] + h*d[0], s[1] + h*d[1], s[2] + h*d[2]}
}

// yard is a controller at 1 kHz with axes that are such bodies: each sends position and current, all in one frame, and takes a command
// behind an enable line.
type yard struct {
	*Loop
	clock  *VirtualClock
	out    *hand2
	ctl    *Controller
	bodies []*body
	rng    *rand.Rand
	u      []float64 // sent last
	dead   bool      // nothing comes
}

func (y *yard) Signals() (m, c []engine.Signal) {
	return Signals(y.ctl.schema.Meas), Signals(y.ctl.schema.Cmd)
}
func (y *yard) Start(context.Context) error { return nil }
func (y *yard) Close() error                { return nil }
func (y *yard) Send(u []float64)            { copy(y.u, u) }
func (y *yard) Poll(now int64, m []float64) Fresh {
	for i, p := range y.bodies {
		u := y.u[i]
		if y.u[len(y.bodies)] == 0 {
			u = 0
		}
		p.move(u, 1e-3)
		if !y.dead {
			m[2*i] = math.Round(p.x/p.count) * p.count
			m[2*i+1] = p.i + p.noise*y.rng.NormFloat64()
		}
	}
	if y.dead {
		return Fresh{}
	}
	return Fresh{1<<(2*len(y.bodies)) - 1}
}

// bodySpec is the axis of a body as the program is told of it: with a LuGre law of the same levels.
func bodySpec(t testing.TB, name string, p *body, ref reference.Spec, comp axis.CompSpec, linear bool) AxisSpec {
	t.Helper()
	gen, err := reference.New(ref)
	if err != nil {
		t.Fatal(err)
	}
	motor := plant.Motor{R: p.r, L: p.l, K: p.k, J: p.mass}
	s := AxisSpec{Name: name, Limits: AxisLimits{MaxSpeed: 1e3 * p.vs, MaxError: 100 * p.vs}, Spec: axis.Spec{
		Linear: linear, Drive: p.kind, Motor: motor, TopCommand: 24,
		Law: &friction.LuGre{Sigma0: 2000 * p.fs / p.vs, Sigma1: 20 * math.Sqrt(p.fs/p.vs*p.mass), Sigma2: p.fv, Fc: p.fc, Fs: p.fs, Vs: p.vs,
			Vd: p.vs},
		Ref: gen, Fade: 0.3, Comp: comp, PID: control.PID{Kp: p.mass * 60 * 60, Kd: p.mass * 84, Limit: 24 * max(p.k, 1e-9)},
		Sampling: estimator.AxisSpec{Groups: []estimator.Group{{SamplePeriod: 1e-3,
			Quantities: []estimator.Quantity{estimator.Position, estimator.Current}}}},
	}}
	walk := 10 * p.fs
	switch p.kind {
	case plant.VoltageDrive:
		s.Kalman = estimator.KalmanSpec{Motor: motor, Count: p.count, CurrentNoise: p.noise, TorqueWalk: walk, VoltageNoise: 0.05}
	case plant.CurrentDrive:
		s.Mechanical = estimator.MechanicalSpec{Inertia: p.mass, Count: p.count, EffortNoise: p.k * p.noise, Walk: walk}
	case plant.EffortDrive:
		s.Motor.K, s.PID.Limit = 0, 24
		s.Mechanical = estimator.MechanicalSpec{Inertia: p.mass, Count: p.count, Walk: walk}
		s.Sampling.Groups[0].Quantities = s.Sampling.Groups[0].Quantities[:1]
	default:
		s.Motor, s.Gain = plant.Motor{}, 20
		s.Mechanical = estimator.MechanicalSpec{Count: p.count, Walk: 100 * p.fs / p.mass}
		s.Sampling.Groups[0].Quantities = s.Sampling.Groups[0].Quantities[:1]
	}
	return s
}

// newYard puts them together; the commands of axes without a drive go nowhere.
func newYard(t testing.TB, seed uint64, bodies []*body, axes []AxisSpec) *yard {
	t.Helper()
	y := &yard{clock: &VirtualClock{Period: 1e6}, out: &hand2{}, bodies: bodies, rng: rand.New(rand.NewPCG(seed, 5)),
		u: make([]float64, len(bodies)+1)}
	s := ControllerSpec{Rig: "yard", Rate: 1000, Axes: axes, Guard: GuardSpec{GuardLimits: GuardLimits{HoldTime: 0.1, SelfTest: 0.05}}}
	for i := range axes {
		a := &axes[i]
		a.Measured = [estimator.Quantities]int{2 * i, 2*i + 1, -1, -1, -1}
		a.Command = i
		if a.Drive == plant.NoDrive {
			a.Command = -1
		}
		unit := map[bool]string{true: "m", false: "rad"}[a.Linear]
		s.Meas = append(s.Meas, Of("board", engine.Signal{Name: a.Name + ".x", Unit: unit}, engine.Signal{Name: a.Name + ".i", Unit: "A"})...)
		s.Cmd = append(s.Cmd, Of("board", engine.Signal{Name: a.Name + ".u"})...)
		s.Guard.Meas = append(s.Guard.Meas, MeasLimit{Stale: 0.02}, MeasLimit{Stale: 0.02})
		s.Guard.Cmd = append(s.Guard.Cmd, CmdLimit{Lo: -24, Hi: 24})
	}
	s.Cmd = append(s.Cmd, Of("board", engine.Signal{Name: "on"})...)
	s.Guard.Cmd = append(s.Guard.Cmd, CmdLimit{Hi: 1, Enable: true})
	var err error
	if y.ctl, err = NewController(s); err != nil {
		t.Fatal(err)
	}
	y.Loop = NewLoop(y.clock, y, y.out, y.ctl, 1)
	return y
}

func (y *yard) step() {
	y.clock.N = 1
	at, late, _ := y.clock.Wait()
	y.tick(at, late)
}

// start goes to RUN.
func (y *yard) start(t testing.TB) {
	t.Helper()
	for range 300 {
		y.step()
	}
	y.out.req = ReqArm
	y.step()
	y.out.req = ReqRun
	if y.step(); y.row.Mode != Run {
		t.Fatalf("not running: %v, refusal %d (%s)", y.row.Mode, y.row.Res, y.row.CauseText(&y.ctl.schema))
	}
}

// errorOf runs for n ticks and gives the rms tracking error of the first axis by the truth, after the first second.
func (y *yard) errorOf(t testing.TB, n int) float64 {
	t.Helper()
	at, sum := y.ctl.schema.Find(Modelled, y.ctl.s.Axes[0].Name, RolePosition), 0.0
	for k := range n {
		if y.step(); y.row.Mode != Run {
			t.Fatalf("tick %d: %s", k, y.row.CauseText(&y.ctl.schema))
		}
		if e := y.row.X[at] - y.bodies[0].x; k >= 1000 {
			sum += e * e
		}
	}
	return math.Sqrt(sum / float64(n-1000))
}

func motorBody(kind plant.DriveKind) *body {
	return &body{kind: kind, mass: 7e-5, fc: 15e-3, fs: 21e-3, vs: 0.5, fv: 1.5e-4, r: 1.2, l: 0.6e-3, k: 0.042, gain: 0.05,
		count: 2 * math.Pi / 65536, noise: 0.02}
}

// stageBody is a linear stage like that of the EMPS, its forces divided by ten.
func stageBody(kind plant.DriveKind) *body {
	return &body{kind: kind, mass: 9.5, fc: 2, fs: 3, vs: 0.02, fv: 20, k: 3.5, gain: 500, count: 1e-6, noise: 0.01}
}

func forward() axis.CompSpec {
	return axis.CompSpec{Kind: axis.CompFeedForward, Scale: 0.95, Inertia: true}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// One plant on a drive of voltages, currents and torques: 20 seeds each, the medians of the rms tracking error within 1.1 times of one
// another.
func TestDrivesTrackAlike(t *testing.T) {
	ref := reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.5}
	var medians []float64
	for _, kind := range []plant.DriveKind{plant.VoltageDrive, plant.CurrentDrive, plant.EffortDrive} {
		var errors []float64
		for seed := range uint64(20) {
			p := motorBody(kind)
			p.fc, p.fs = p.fc*(0.95+0.005*float64(seed)), p.fs*(0.95+0.005*float64(seed))
			a := bodySpec(t, "shaft", p, ref, forward(), false)
			lugre := a.Law.(*friction.LuGre)
			lugre.Fc, lugre.Fs = 15e-3, 21e-3
			y := newYard(t, seed, []*body{p}, []AxisSpec{a})
			y.start(t)
			errors = append(errors, y.errorOf(t, 3000))
		}
		medians = append(medians, median(errors))
		t.Logf("%v: median %.3f mrad", kind, 1e3*medians[len(medians)-1])
	}
	if most := slices.Max(medians) / slices.Min(medians); most > 1.1 {
		t.Errorf("rms errors %v rad, by up to %.3f times", medians, most)
	}
}

// A linear stage on a current or force drive: five times better with its friction compensated.
func TestLinearStageTracks(t *testing.T) {
	ref := reference.Spec{Kind: "sine", Amplitude: 0.05, Frequency: 0.5}
	for _, kind := range []plant.DriveKind{plant.CurrentDrive, plant.EffortDrive} {
		run := func(comp axis.CompSpec) float64 {
			p := stageBody(kind)
			y := newYard(t, 1, []*body{p}, []AxisSpec{bodySpec(t, "stage", p, ref, comp, true)})
			y.start(t)
			return y.errorOf(t, 5000)
		}
		without, with := run(axis.CompSpec{}), run(forward())
		t.Logf("%v: %.1f µm without, %.1f µm with", kind, 1e6*without, 1e6*with)
		if with*5 > without {
			t.Errorf("%v: rms error %g m without compensation, %g m with it", kind, without, with)
		}
	}
}

// A velocity drive follows by its own loop: the error is what its gain leaves of the friction.
func TestVelocityDrive(t *testing.T) {
	p := stageBody(plant.VelocityDrive)
	y := newYard(t, 1, []*body{p}, []AxisSpec{bodySpec(t, "stage", p, reference.Spec{Kind: "ramp", Velocity: 0.05}, axis.CompSpec{}, true)})
	y.start(t)
	y.errorOf(t, 3000)
	// at rest with respect to the ramp: gain·(u − v) = F(v), u = 20·e + v
	want := p.friction(0.05) / p.gain / 20
	e := y.row.X[y.ctl.schema.Find(Modelled, "stage", RolePosition)] - p.x
	if math.Abs(e-want) > 0.02*want {
		t.Errorf("error %g m behind the ramp, want %g", e, want)
	}
	if est := y.row.X[y.ctl.schema.Find(Estimated, "stage", RoleVelocity)]; math.Abs(est-0.05) > 0.002 {
		t.Errorf("estimated %g m/s, want 0.05", est)
	}
}

// A pendulum that nobody drives: it is ready, estimated as it swings, and arming it is refused in words of its own.
func TestNothingDrives(t *testing.T) {
	p := &body{kind: plant.NoDrive, mass: 0.02, fc: 1e-3, fs: 1e-3, vs: 0.1, fv: 1e-3, pull: 0.02 * 30, count: 2 * math.Pi / 65536, x: 1}
	y := newYard(t, 1, []*body{p}, []AxisSpec{bodySpec(t, "arm", p, reference.Spec{Kind: "constant"}, axis.CompSpec{}, false)})
	names := y.ctl.schema.Channels()
	if slices.ContainsFunc(names, func(c Channel) bool { return c.Role == RoleError || c.Role == RoleHeat }) {
		t.Errorf("signals of a controller: %v", names)
	}
	for k := range 3000 {
		y.step()
		if v := y.row.X[y.ctl.schema.Find(Estimated, "arm", RoleVelocity)]; k > 500 && math.Abs(v-p.v) > 0.05 {
			t.Fatalf("tick %d: %g rad/s, truth %g", k, v, p.v)
		}
	}
	if y.row.Mode != Ready {
		t.Fatalf("%v: %s", y.row.Mode, y.row.CauseText(&y.ctl.schema))
	}
	y.out.req = ReqArm
	if y.step(); y.row.Res != NoDrive || y.row.Mode != Ready {
		t.Errorf("armed: refusal %d, %v", y.row.Res, y.row.Mode)
	}
}

// Blind, each kind of drive holds as it must, to either side: the voltage stays, current and effort go to zero along a straight line within
// the time of HOLD, a velocity by its slew.
func TestHoldByDrive(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, kind := range []plant.DriveKind{plant.VoltageDrive, plant.CurrentDrive, plant.EffortDrive, plant.VelocityDrive} {
			p := motorBody(kind)
			a := bodySpec(t, "shaft", p, reference.Spec{Kind: "ramp", Velocity: 20 * side}, axis.CompSpec{}, false)
			a.Limits = AxisLimits{}
			y := newYard(t, 1, []*body{p}, []AxisSpec{a})
			y.ctl.guard.s.Cmd[0].Slew = 400
			y.start(t)
			for range 1500 {
				y.step()
			}
			y.dead = true
			for y.step(); y.row.Mode == Run; y.step() {
			}
			first := y.ctl.guard.holdCommand[0]
			if y.row.Mode != Hold || first*side <= 0 {
				t.Fatalf("%v: %v with %g", kind, y.row.Mode, first)
			}
			last, n := first, 0
			for ; y.row.Mode == Hold; n++ {
				want := first
				switch kind {
				case plant.CurrentDrive, plant.EffortDrive:
					want = first * max(0, 1-float64(n+1)/100)
				case plant.VelocityDrive:
					want = math.Copysign(max(0, math.Abs(first)-0.4*float64(n+1)), first)
				}
				if math.Abs(y.u[0]-want) > 1e-9*math.Abs(first) {
					t.Fatalf("%v %+g, tick %d of HOLD: %g, want %g", kind, side, n, y.u[0], want)
				}
				last = y.u[0]
				y.step()
			}
			if y.row.Mode != Trip || y.row.Cause != CauseStale || y.u[0] != 0 || n < 99 || n > 100 {
				t.Errorf("%v: %v (%v) after %d ticks with %g, at last %g", kind, y.row.Mode, y.row.Cause, n, y.u[0], last)
			}
		}
	}
}

// An effort or a command without feedback is what is sent, and at its stop it pushes no further out; beyond its travel the axis trips.
func TestReferenceOfEffort(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, of := range []axis.ReferenceOf{axis.OfEffort, axis.OfCommand} {
			p := motorBody(plant.CurrentDrive)
			a := bodySpec(t, "shaft", p, reference.Spec{Kind: "constant", Offset: side * 0.03}, axis.CompSpec{}, false)
			a.RefKind, a.Limits = of, AxisLimits{MaxError: 1e-9, Stop: [2]float64{-2, 2}, Travel: [2]float64{-4, 4}}
			want := side * 0.03
			if of == axis.OfEffort {
				want /= p.k
			} else {
				p.fc, p.fs, p.fv = 1e-5, 1e-5, 0 // 0.03 A
			}
			y := newYard(t, 1, []*body{p}, []AxisSpec{a})
			y.start(t)
			for range 400 { // the fade
				y.step()
			}
			if math.Abs(p.x) < 2 && math.Abs(y.u[0]-want) > 1e-12 {
				t.Errorf("%v: %g A, want %g", of, y.u[0], want)
			}
			for math.Abs(p.x) < 2.01 && y.row.Mode == Run {
				y.step()
			}
			for range 3 {
				y.step()
			}
			if y.row.Mode != Run || y.u[0] != 0 {
				t.Errorf("%v beyond its stop at %g rad: %v with %g A", of, p.x, y.row.Mode, y.u[0])
			}
			p.fc, p.fs, p.fv, p.v = 0, 0, 0, side*30
			for k := 0; y.row.Mode == Run && k < 1000; k++ {
				y.step()
			}
			if y.row.Cause != CauseTravel || y.row.Limit != 4*side || math.Abs(y.row.Value) < 4 || math.Abs(y.row.Value) > 4.1 {
				t.Errorf("%v: %s", of, y.row.CauseText(&y.ctl.schema))
			}
		}
	}
}

// The reference of a position stays within its stop on both sides.
func TestReferenceStops(t *testing.T) {
	p := motorBody(plant.EffortDrive)
	a := bodySpec(t, "shaft", p, reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 1}, forward(), false)
	a.Limits = AxisLimits{Stop: [2]float64{-1, 2}}
	y := newYard(t, 1, []*body{p}, []AxisSpec{a})
	y.start(t)
	at, lo, hi := y.ctl.schema.Find(Modelled, "shaft", RolePosition), 0.0, 0.0
	for range 3000 {
		y.step()
		lo, hi = min(lo, y.row.X[at]), max(hi, y.row.X[at])
	}
	if lo != -1 || hi != 2 {
		t.Errorf("the reference went from %g to %g rad, want -1 to 2", lo, hi)
	}
}

// Axes of one rig do not touch one another: each gives the numbers that it gives alone, bit for bit. A limit of one trips all, and the
// row names the axis.
func TestSeveralAxes(t *testing.T) {
	kinds := []plant.DriveKind{plant.VoltageDrive, plant.CurrentDrive, plant.EffortDrive, plant.VelocityDrive}
	ref := reference.Spec{Kind: "sine", Amplitude: 2, Frequency: 0.7}
	quiet := func(kind plant.DriveKind) *body { p := motorBody(kind); p.noise = 1e-12; return p } // the generator of noise is shared
	spec := func(kind plant.DriveKind, p *body) AxisSpec {
		comp := forward()
		if kind == plant.VelocityDrive {
			comp = axis.CompSpec{}
		}
		a := bodySpec(t, "axis"+fmt.Sprint(int(kind)), p, ref, comp, false)
		a.Kalman.CurrentNoise, a.Mechanical.EffortNoise = 0.02*min(1, a.Kalman.CurrentNoise*1e12), 0.001*min(1, a.Mechanical.EffortNoise*1e15)
		return a
	}
	var bodies []*body
	var specs []AxisSpec
	for _, kind := range kinds {
		p := quiet(kind)
		p.noise = 0
		bodies = append(bodies, p)
		specs = append(specs, spec(kind, quiet(kind)))
	}
	all := newYard(t, 1, bodies, specs)
	all.start(t)
	var alone []*yard
	for _, kind := range kinds {
		p := quiet(kind)
		a := spec(kind, p)
		p.noise = 0
		y := newYard(t, 1, []*body{p}, []AxisSpec{a})
		y.start(t)
		alone = append(alone, y)
	}
	for k := range 1500 {
		all.step()
		for i, y := range alone {
			y.step()
			for _, c := range y.ctl.schema.Channels() {
				if c.Axis == "" {
					continue
				}
				a, b := all.row.X[all.ctl.schema.Index(c.Name)], y.row.X[y.ctl.schema.Index(c.Name)]
				if math.Float64bits(a) != math.Float64bits(b) {
					t.Fatalf("tick %d, %v: %s is %g beside others and %g alone", k, kinds[i], c.Name, a, b)
				}
			}
		}
	}
	if n := testing.AllocsPerRun(200, all.step); n != 0 {
		t.Errorf("%g allocations in a tick of four axes", n)
	}
	bodies[2].v = 900
	for k := 0; all.row.Mode == Run && k < 50; k++ {
		all.step()
	}
	if name := all.ctl.schema.Channels()[max(1, all.row.CauseSignal)-1].Axis; all.row.Mode != Trip || name != "axis2" {
		t.Errorf("%v of %q: %s", all.row.Mode, name, all.row.CauseText(&all.ctl.schema))
	}
	for i, u := range all.u {
		if u != 0 {
			t.Errorf("command %d is %g after the trip", i, u)
		}
	}
}

// One tick of rigs with one to four axes.
func BenchmarkTickOfAxes(b *testing.B) {
	for n := 1; n <= 4; n++ {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var bodies []*body
			var specs []AxisSpec
			for i := range n {
				p := motorBody(plant.CurrentDrive)
				bodies, specs = append(bodies, p), append(specs, bodySpec(b, fmt.Sprintf("axis%d", i), p, slowSine, forward(), false))
			}
			y := newYard(b, 1, bodies, specs)
			y.start(b)
			y.Loop.dev = &stillYard{y}
			b.ReportAllocs()
			for b.Loop() {
				y.step()
			}
		})
	}
}

// stillYard is a yard whose bodies stand: what is timed is the controller.
type stillYard struct{ *yard }

func (y *stillYard) Poll(int64, []float64) Fresh { return Fresh{1<<(2*len(y.bodies)) - 1} }
