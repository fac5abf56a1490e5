package hil

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
	"hilrig/hil/axis"
)

// shop is an axis with everything that can be measured of it, written apart from the engine: winding or loop of current, effort or speed, an
// inertia, a Prandtl element that yields before it slides, and a load. It is integrated by the semi-implicit Euler method at 40 µs.
type shop struct {
	drive         plant.DriveKind
	linear        bool
	j             float64 // kg·m², kg
	fc, fs, vs    float64 // N·m, N·m, rad/s
	fv, stiffness float64 // N·m·s/rad, N·m/rad
	r, l, k, drop float64 // ohm, H, N·m/A, V
	lag           float64 // s  of the loop of current or effort
	kp, ki        float64 // of the loop of speed
	top           float64 // N·m  that it gives
	load          func(t, x float64) float64
	blocked       bool
	brake         bool    // it holds the axis while the drive is off
	soft          float64 // N·m/rad  joint between motor and load; 0: rigid
	share         float64 // of the inertia that is the motor's, where there is a joint
	outside       bool    // the encoder sits on the load

	x2, v2     float64 // of the load behind a joint
	hot, heavy float64 // factors of R and J that the controller does not know; 0: none

	count   float64 // rad
	noise   [estimator.Quantities]float64
	current bool // tells a current
	seed    uint64

	t, x, v, z, i, sum, effort, volts float64
	turned                            float64 // of the drive: 1 or −1
}

func (p *shop) move(u, dt float64) {
	const n = 25
	h := dt / n
	u *= p.turned
	p.volts = 0
	for range n {
		switch p.drive {
		case plant.VoltageDrive:
			p.volts = u
			p.i += h / p.l * (u - p.r*p.i - p.drop*math.Tanh(p.i/0.05) - p.k*p.v)
			p.effort = p.k * p.i
		case plant.CurrentDrive:
			p.i += h / p.lag * (u - p.i)
			p.effort = p.k * p.i
		case plant.EffortDrive:
			p.effort += h / p.lag * (u - p.effort)
			p.i = p.effort / p.k
		case plant.VelocityDrive:
			p.sum += h * p.ki * (u - p.v)
			p.sum = math.Max(-p.top, math.Min(p.top, p.sum))
			p.effort = math.Max(-p.top, math.Min(p.top, p.kp*(u-p.v)+p.sum))
			p.i = p.effort / p.k
		}
		p.t += h
		if p.blocked {
			p.v = 0
			continue
		}
		q := p.v / p.vs
		level := p.fc + (p.fs-p.fc)*math.Exp(-q*q)
		p.z += h * p.v
		p.z = math.Max(-level/p.stiffness, math.Min(level/p.stiffness, p.z))
		damping := 0.0
		if math.Abs(p.z) < level/p.stiffness {
			damping = 0.5 * math.Sqrt(p.stiffness*p.j)
		}
		f := p.stiffness*p.z + p.fv*p.v + damping*p.v
		if p.load != nil {
			f += p.load(p.t, p.x)
		}
		if p.soft == 0 {
			p.v += h / p.j * (p.effort - f)
			p.x += h * p.v
			continue
		}
		// friction and load are at the motor; the joint has a damping of a twentieth
		joint := p.soft*(p.x-p.x2) + 0.1*math.Sqrt(p.soft*p.j*p.share*(1-p.share))*(p.v-p.v2)
		p.v += h / (p.share * p.j) * (p.effort - f - joint)
		p.v2 += h / ((1 - p.share) * p.j) * joint
		p.x, p.x2 = p.x+h*p.v, p.x2+h*p.v2
	}
}

// rotary is the demo's shaft, linear a stage of 95 kg.
func rotaryShop(kind plant.DriveKind) *shop {
	return &shop{drive: kind, j: 7e-5, fc: 15e-3, fs: 21e-3, vs: 0.5, fv: 1.5e-4, stiffness: 11, r: 1.2, l: 0.6e-3, k: 0.042, drop: 0.6, lag: 0.5e-3, kp: 0.02, ki: 1, top: 0.4,
		count: 2 * math.Pi / 65536, noise: [estimator.Quantities]float64{estimator.Current: 0.02, estimator.Velocity: 0.2, estimator.Effort: 1e-3}, current: true, turned: 1}
}

func linearShop(kind plant.DriveKind) *shop {
	return &shop{drive: kind, linear: true, j: 95.1, fc: 20.4, fs: 22, vs: 2e-3, fv: 203.5, stiffness: 2e6, r: 4, l: 2e-3, k: 35.15, lag: 0.5e-3, kp: 5e3, ki: 1e5, top: 350,
		count: 1e-6, noise: [estimator.Quantities]float64{estimator.Current: 0.02, estimator.Velocity: 2e-3, estimator.Effort: 1}, current: true, turned: 1}
}

// shopOptions are what a case says of a rig.
type shopOptions struct {
	measured  []estimator.Quantity // beside the position
	ref       reference.Spec
	mechanism *MechanismSpec
	limits    AxisLimits
	law       func(*friction.LuGre)
	every     int
	of        axis.ReferenceOf
	ki        float64
	comp      axis.CompSpec
	pid       *control.PID
	top       float64 // V, A …  largest command; 0: that of the drive
	motor     func(*plant.Motor)
	tick      int // ms  of the loop; 0: 1
	late      int // ticks that a reading and its current need to get here
}

// shopRig is a controller at 1 kHz before such an axis.
type shopRig struct {
	*Loop
	clock        *VirtualClock
	out          *hand2
	ctl          *Controller
	p            *shop
	rng          *rand.Rand
	at           [estimator.Quantities]int
	u            [2]float64
	every        int
	n            int
	ms           int
	lateCommands []float64                                       // on their way to the drive
	late         [][]float64                                     // readings on their way
	stand        int                                             // ms  that the board stands still for
	fault        func(y []float64, at [estimator.Quantities]int) // what the board makes of its readings
}

func (s *shopRig) Signals() (m, c []engine.Signal) {
	return Signals(s.ctl.schema.Meas), Signals(s.ctl.schema.Cmd)
}
func (s *shopRig) Start(context.Context) error { return nil }
func (s *shopRig) Close() error                { return nil }
func (s *shopRig) Send(u []float64)            { copy(s.u[:], u) }
func (s *shopRig) Poll(now int64, y []float64) (fresh Fresh) {
	p := s.p
	u := s.u[0]
	if s.u[1] == 0 {
		u, p.sum = 0, 0
	}
	if p.brake {
		p.blocked = s.u[1] == 0
	}
	if n := len(s.lateCommands); n > 0 {
		now := u
		u = s.lateCommands[n-1]
		copy(s.lateCommands[1:], s.lateCommands[:n-1])
		s.lateCommands[0] = now
	}
	for range s.ms {
		if s.stand > 0 {
			s.stand--
			continue
		}
		p.move(u, 1e-3)
	}
	if s.n++; s.n%s.every != 0 || s.stand > 0 {
		return Fresh{}
	}
	truth := [estimator.Quantities]float64{p.x, p.i, p.v, p.effort, p.volts}
	if p.outside {
		truth[estimator.Position], truth[estimator.Velocity] = p.x2, p.v2
	}
	for q, at := range s.at {
		if at < 0 {
			continue
		}
		y[at] = truth[q] + p.noise[q]*s.rng.NormFloat64()
		if q == int(estimator.Position) && p.count > 0 {
			y[at] = p.count * math.Round(y[at]/p.count)
		}
		SetFresh(&fresh, at)
	}
	if s.fault != nil {
		s.fault(y, s.at)
	}
	if n := len(s.late); n > 0 {
		now := slices.Clone(y)
		copy(y, s.late[n-1])
		copy(s.late[1:], s.late[:n-1])
		s.late[0] = now
	}
	return fresh
}

func newShop(t testing.TB, p *shop, o shopOptions) *shopRig {
	t.Helper()
	gen, err := reference.New(o.ref)
	if err != nil {
		t.Fatal(err)
	}
	if o.every == 0 {
		o.every = 1
	}
	if o.tick == 0 {
		o.tick = 1
	}
	s := &shopRig{clock: &VirtualClock{Period: int64(o.tick) * 1e6}, out: &hand2{}, p: p, rng: rand.New(rand.NewPCG(p.seed, 77)), every: o.every, ms: o.tick, late: make([][]float64, o.late)}
	unit, names := "rad", [estimator.Quantities]engine.Signal{{Name: "x"}, {Name: "i", Unit: "A"}, {Name: "v"}, {Name: "tau"}, {Name: "volts", Unit: "V"}}
	if p.linear {
		unit = "m"
	}
	names[estimator.Position].Unit, names[estimator.Velocity].Unit, names[estimator.Effort].Unit = unit, unit+"/s", map[bool]string{true: "N", false: "N·m"}[p.linear]
	every := 1e-3 * float64(o.every*o.tick)
	law := &friction.LuGre{Sigma0: p.stiffness, Sigma1: 0.5 * math.Sqrt(p.stiffness*p.j), Sigma2: p.fv, Fc: p.fc, Fs: p.fs, Vs: p.vs, Vd: p.vs}
	if o.law != nil {
		o.law(law)
	}
	motor := plant.Motor{R: p.r, L: p.l, K: p.k, BrushDrop: p.drop, DropScale: 0.05, J: p.j}
	a := AxisSpec{Name: "shaft", Command: 0, Limits: o.limits, Spec: axis.Spec{Linear: p.linear, Drive: p.drive, Every: every, Law: law, Ref: gen, Of: o.of, Fade: 1,
		PID: control.PID{Kp: 0.25, Kd: 6e-3, Ki: o.ki, Limit: 0.4}, Gain: 8, Comp: o.comp}}
	if a.Comp.Kind != axis.CompNone {
		a.Comp.Scale, a.Comp.Ramp, a.Comp.Slew, a.Comp.Resolution = 0.9, 1, 200*p.fs*1.2, p.count
	}
	if p.linear {
		a.PID = control.PID{Kp: 200e3, Kd: 7e3, Ki: o.ki, Limit: 300}
	}
	if o.pid != nil {
		a.PID = *o.pid
	}
	limit := map[plant.DriveKind]float64{plant.VoltageDrive: 24, plant.CurrentDrive: 10, plant.EffortDrive: 10 * p.k, plant.VelocityDrive: 100}[p.drive]
	if p.linear && p.drive == plant.VelocityDrive {
		limit = 1
	}
	if p.linear && p.drive == plant.VoltageDrive {
		limit = 48
	}
	if o.top > 0 {
		limit = o.top
	}
	a.TopCommand = limit
	if o.motor != nil {
		o.motor(&motor)
	}
	group := []estimator.Quantity{estimator.Position}
	s.at = [estimator.Quantities]int{-1, -1, -1, -1, -1}
	spec := ControllerSpec{Rig: "shop", Rate: 1000 / float64(o.tick), Mechanism: o.mechanism, Guard: GuardSpec{GuardLimits: GuardLimits{HoldTime: 0.1, SelfTest: 0.05}}}
	for _, q := range append([]estimator.Quantity{estimator.Position}, o.measured...) {
		s.at[q] = len(spec.Meas)
		c := Of("board", names[q])[0]
		if c.Axis = "shaft"; q == estimator.Position {
			c.Role = RolePosition
		}
		spec.Meas, spec.Guard.Meas = append(spec.Meas, c), append(spec.Guard.Meas, MeasLimit{Stale: max(0.02, 5*every)})
		switch { // what says something to the filter
		case q == estimator.Velocity, q == estimator.Current && (p.drive == plant.VoltageDrive || p.drive == plant.CurrentDrive), q == estimator.Effort && p.drive == plant.EffortDrive, q == estimator.Voltage && p.drive == plant.VoltageDrive:
			group = append(group, q)
		}
	}
	a.Measured = s.at
	walk := 5 * p.fs
	if p.drive == plant.VoltageDrive {
		a.Motor = motor
		a.Kalman = estimator.KalmanSpec{Motor: motor, Count: p.count, CurrentNoise: p.noise[estimator.Current], TorqueWalk: walk, VoltageNoise: 0.05, TopSpeed: o.limits.MaxSpeed}
		a.Kalman.VelocityNoise = p.noise[estimator.Velocity]
	} else {
		a.Motor = plant.Motor{J: motor.J, K: motor.K}
		a.Mechanical = estimator.MechanicalSpec{Inertia: motor.J, Count: p.count, Walk: walk, VelocityNoise: p.noise[estimator.Velocity], TopSpeed: o.limits.MaxSpeed}
		switch p.drive {
		case plant.CurrentDrive:
			a.Mechanical.EffortNoise = motor.K * p.noise[estimator.Current]
		case plant.EffortDrive:
			a.Mechanical.EffortNoise = p.noise[estimator.Effort]
		case plant.VelocityDrive:
			a.Motor.J, a.Law, a.Mechanical.Inertia, a.Mechanical.Walk = 0, nil, 0, 100*p.fs/p.j
		}
	}
	if s.at[estimator.Velocity] < 0 {
		a.Kalman.VelocityNoise, a.Mechanical.VelocityNoise = 0, 0
	}
	if p.noise[estimator.Position] > 0 {
		a.Kalman.PositionNoise, a.Mechanical.PositionNoise = p.noise[estimator.Position], p.noise[estimator.Position]
	}
	a.Sampling.Groups = []estimator.Group{{Every: every, Of: group}}
	command := Of("board", engine.Signal{Name: "u", Unit: p.drive.Unit()}, engine.Signal{Name: "on"})
	command[0].Axis, command[0].Role = "shaft", RoleCommand
	spec.Cmd = command
	spec.Guard.Cmd = []CmdLimit{{Lo: -limit, Hi: limit}, {Hi: 1, Enable: true}}
	spec.Axes = []AxisSpec{a}
	for k := range s.late {
		s.late[k] = make([]float64, len(spec.Meas))
	}
	if s.ctl, err = NewController(spec); err != nil {
		t.Fatal(err)
	}
	s.Loop = NewLoop(s.clock, s, s.out, s.ctl, 1)
	return s
}

func (s *shopRig) step() {
	s.clock.N = 1
	at, late, _ := s.clock.Wait()
	s.tick(at, late)
}

// start goes to RUN.
func (s *shopRig) start(t testing.TB) {
	t.Helper()
	for range 300 {
		s.step()
	}
	s.out.req = ReqArm
	s.step()
	s.out.req = ReqRun
	if s.step(); s.row.Mode != Run {
		t.Fatalf("not running: %v, refusal %d (%s)", s.row.Mode, s.row.Res, s.row.Why(&s.ctl.schema))
	}
}

// seconds runs so long, and fails the test where the rig trips.
func (s *shopRig) seconds(t testing.TB, sec float64) {
	t.Helper()
	for k := range int(1000 * sec) {
		if s.step(); !s.row.Mode.Energised() {
			t.Fatalf("after %.3f s: %v: %s", 1e-3*float64(k), s.row.Mode, s.row.Why(&s.ctl.schema))
		}
	}
}

var (
	demoTones = []reference.Tone{{Amplitude: 3, Frequency: 0.4}, {Amplitude: 0.6, Frequency: 2.3}}
	shopKinds = []struct {
		name     string
		p        func() *shop
		measured []estimator.Quantity
		motion   func(side float64) reference.Spec
	}{
		{"voltage, current", func() *shop { return rotaryShop(plant.VoltageDrive) }, []estimator.Quantity{estimator.Current}, nil},
		{"voltage", func() *shop { return rotaryShop(plant.VoltageDrive) }, nil, nil},
		{"current", func() *shop { return rotaryShop(plant.CurrentDrive) }, []estimator.Quantity{estimator.Current}, nil},
		{"effort", func() *shop { return rotaryShop(plant.EffortDrive) }, nil, nil},
		{"velocity", func() *shop { return rotaryShop(plant.VelocityDrive) }, nil, nil},
		{"voltage, linear", func() *shop { return linearShop(plant.VoltageDrive) }, []estimator.Quantity{estimator.Current}, nil},
		{"current, linear", func() *shop { return linearShop(plant.CurrentDrive) }, []estimator.Quantity{estimator.Current}, nil},
		{"effort, linear", func() *shop { return linearShop(plant.EffortDrive) }, nil, nil},
		{"velocity, linear", func() *shop { return linearShop(plant.VelocityDrive) }, nil, nil},
	}
)

func turned(tones []reference.Tone, factor float64) (out []reference.Tone) {
	for _, t := range tones {
		t.Amplitude *= factor
		out = append(out, t)
	}
	return out
}

// A position that stops telling in motion and before it, on every kind of drive and to both sides: named within 0.25 s of the first motion that it
// does not show, and before 5 rad of the demo's motion. A weight of 3·Fs that the brake lets go falls further: nobody knows of it, and at first nothing drives. The stage stays within its
// travel. No limit is declared.
func TestFrozenPositionOfEveryDrive(t *testing.T) {
	for _, kind := range shopKinds {
		for _, motion := range []string{"sine 0.9 rad", "sine 1.8 rad", "multisine", "ramp", "multisine and a weight", "the weight, from rest"} {
			worst, far, reach, causes := 0, 0.0, 0.0, map[Cause]int{}
			for _, side := range []float64{1, -1} {
				for _, at := range []float64{0, 2.1, 1.3, 2.6, 3.3}[:map[bool]int{true: 5, false: 2}[soak]] {
					p := kind.p()
					scale := side
					if p.linear {
						scale = side * 60e-3 / 3
					}
					if weight := 3 * p.fs; strings.Contains(motion, "weight") {
						p.load, p.brake = func(_, _ float64) float64 { return weight }, true
					}
					ref := map[string]reference.Spec{"multisine and a weight": {Kind: "multisine", Tones: turned(demoTones, scale)}, "the weight, from rest": {Kind: "multisine", Tones: turned(demoTones, scale)}, "sine 0.9 rad": {Kind: "sine", Amplitude: 0.9 * scale, Frequency: 0.5}, "sine 1.8 rad": {Kind: "sine", Amplitude: 1.8 * scale, Frequency: 0.8},
						"multisine": {Kind: "multisine", Tones: turned(demoTones, scale)}, "ramp": {Kind: "ramp", Velocity: 2 * scale}}[motion]
					if p.load != nil && (at == 0) != (motion == "the weight, from rest") {
						continue
					}
					s := newShop(t, p, shopOptions{measured: kind.measured, ref: ref})
					s.start(t)
					s.seconds(t, at)
					stuck := math.Round(p.x/p.count) * p.count
					s.fault = func(y []float64, at [estimator.Quantities]int) { y[0] = stuck }
					n, from, way := 0, p.x, 0.0
					moved := 0 // when the drive moved it
					for s.row.Mode.Energised() && n < 3000 {
						s.step()
						if n++; math.Abs(p.x-from) < 20*p.count {
							moved = n
						}
						way = max(way, math.Abs(p.x-from))
					}
					for range 300 { // it comes to rest
						if p.load != nil {
							break // or falls
						}
						p.move(0, 1e-3)
						reach = max(reach, math.Abs(p.x))
					}
					worst, far = max(worst, n-moved), max(far, way/math.Abs(scale))
					causes[s.row.Cause]++
					if s.row.Cause != CauseFrozen && s.row.Cause != CauseBlocked && (s.row.Cause != CauseDirection || at > 0) {
						t.Errorf("%s, %s, %+g, at %g s: after %d ms %s", kind.name, motion, side, at, n, s.row.Why(&s.ctl.schema))
					}
				}
			}
			shown := fmt.Sprintf("%.3g rad", far) // of the demo's motion
			if kind.p().linear {
				shown = fmt.Sprintf("%.3g mm", 20*far)
			}
			t.Logf("%-18s %-22s %4d ms %12s %v, reach %.3g", kind.name, motion, worst, shown, causes, reach)
			if worst > 300 || motion != "the weight, from rest" && (worst > 250 || far > 5) || reach > 0.12 && kind.p().linear && motion != "ramp" { // a ramp goes there by itself
				t.Errorf("%s, %s: %d ms, %g rad", kind.name, motion, worst, far)
			}
		}
	}
}

// cleanCases are what a sound rig may go through. Each is played on every kind of drive.
var cleanCases = []struct {
	name string
	ref  func(size float64) reference.Spec
	p    func(p *shop)
	o    shopOptions
}{
	{"multisine", multisine, nil, shopOptions{}},
	{"multisine, compensated", multisine, nil, shopOptions{comp: axis.CompSpec{Kind: axis.CompObserver, Inertia: true}}},
	{"multisine, feed-forward", multisine, nil, shopOptions{comp: axis.CompSpec{Kind: axis.CompFeedForward, Inertia: true}}},
	{"fast sine", sineOf(3, 1.5), nil, shopOptions{}},
	{"slow ramp", func(size float64) reference.Spec { return reference.Spec{Kind: "ramp", Velocity: size / 3 * 5e-3} }, nil, shopOptions{}},
	{"ramp of two counts a second", func(size float64) reference.Spec { return reference.Spec{Kind: "ramp", Velocity: size / 3 * 2e-4} }, nil, shopOptions{ki: 1}},
	{"dwell", func(size float64) reference.Spec { return reference.Spec{Kind: "constant", Offset: size / 10} }, nil, shopOptions{}},
	{"dwell with an integral", func(size float64) reference.Spec { return reference.Spec{Kind: "constant", Offset: size / 10} }, nil, shopOptions{ki: 1}},
	{"steps", func(size float64) reference.Spec {
		return reference.Spec{Kind: "step", Amplitude: size / 3, Frequency: 0.7}
	}, nil, shopOptions{}},
	{"steps of presliding", func(size float64) reference.Spec {
		return reference.Spec{Kind: "step", Amplitude: size / 3 * 1e-3, Frequency: 1}
	}, nil, shopOptions{ki: 1}},
	{"small sine", sineOf(0.05, 0.3), nil, shopOptions{}},
	{"coarse encoder", multisine, func(p *shop) { p.count *= 32 }, shopOptions{}},
	{"coarse encoder, small sine", sineOf(0.1, 0.2), func(p *shop) { p.count *= 32 }, shopOptions{ki: 0.5}},
	{"very coarse encoder", sineOf(3, 0.2), func(p *shop) { p.count *= 300 }, shopOptions{}},
	{"noisy position", multisine, func(p *shop) { p.noise[0] = 3 * p.count }, shopOptions{}},
	{"noisy position, dwell", func(size float64) reference.Spec { return reference.Spec{Kind: "constant", Offset: size / 10} }, func(p *shop) { p.noise[0] = 3 * p.count }, shopOptions{ki: 1}},
	{"weight", sineOf(1, 0.3), func(p *shop) { w := 5 * p.fs; p.load = func(_, _ float64) float64 { return w } }, shopOptions{}},
	{"weight the other way, dwell", sineOf(0, 1), func(p *shop) { w := -8 * p.fs; p.load = func(_, _ float64) float64 { return w } }, shopOptions{}},
	{"weight, dwell with an integral", sineOf(0, 1), func(p *shop) { w := 8 * p.fs; p.load = func(_, _ float64) float64 { return w } }, shopOptions{ki: 1}},
	{"weight, more friction than known", sineOf(0.5, 0.3), func(p *shop) { w := 5 * p.fs; p.load = func(_, _ float64) float64 { return w } }, shopOptions{law: func(l *friction.LuGre) { l.Fs /= 1.4; l.Fc /= 1.4 }}},
	{"spring", sineOf(1, 0.3), func(p *shop) { k := p.spring(); p.load = func(_, x float64) float64 { return k * x } }, shopOptions{}},
	{"a hand comes and goes", sineOf(0, 1), func(p *shop) { w := 5 * p.fs; p.load = func(t, _ float64) float64 { return w * math.Sin(2*t) } }, shopOptions{}},
	{"a hand pulls slowly", sineOf(0, 1), func(p *shop) { w := 5 * p.fs; p.load = func(t, _ float64) float64 { return w * math.Sin(0.3*t) } }, shopOptions{}},
	{"half as much friction again as known", sineOf(0.5, 0.2), nil, shopOptions{law: func(l *friction.LuGre) { l.Fs /= 1.5; l.Fc /= 1.5 }}},
	{"hot winding", multisine, func(p *shop) { p.r *= 1.5 }, shopOptions{}},
	{"hot winding, dwell", sineOf(0.3, 0.1), func(p *shop) { p.hot = 1.5 }, shopOptions{ki: 1}},
	{"three times the inertia", multisine, func(p *shop) { p.heavy = 3 }, shopOptions{}},
	{"half of it", multisine, func(p *shop) { p.heavy = 0.5 }, shopOptions{}},
	{"drive of 20 Hz", sineOf(1, 0.5), func(p *shop) { p.lag = 8e-3 }, shopOptions{}},
	{"half the inertia in the file", multisine, nil, shopOptions{motor: func(m *plant.Motor) { m.J /= 2 }}},
	{"half the inertia in the file, fast sine", sineOf(3, 1.5), nil, shopOptions{motor: func(m *plant.Motor) { m.J /= 2 }}},
	{"twice the inertia in the file", sineOf(3, 1.5), nil, shopOptions{motor: func(m *plant.Motor) { m.J *= 2 }}},
	{"half the friction in the file", sineOf(1, 0.3), nil, shopOptions{law: halved}},
	{"half the friction in the file, fast sine", sineOf(3, 1.5), nil, shopOptions{law: halved}},
	{"half the friction in the file, dwell", sineOf(0.3, 0.1), nil, shopOptions{law: halved}},
	{"half of both, multisine and a weight", multisine, func(p *shop) { w := 3 * p.fs; p.load = func(_, _ float64) float64 { return w } }, shopOptions{law: halved, motor: func(m *plant.Motor) { m.J /= 2 }}},
	{"half of both, steps", func(size float64) reference.Spec {
		return reference.Spec{Kind: "step", Amplitude: size / 3, Frequency: 1.7}
	}, nil, shopOptions{law: halved, motor: func(m *plant.Motor) { m.J /= 2 }}},
	{"half of both and a spring", sineOf(1, 0.7), func(p *shop) { k := p.spring(); p.load = func(_, x float64) float64 { return k * x } }, shopOptions{law: halved, motor: func(m *plant.Motor) { m.J /= 2 }}},
	{"twice the friction in the file", multisine, nil, shopOptions{law: func(l *friction.LuGre) { l.Fs *= 2; l.Fc *= 2 }}},
	{"pendulum that hangs", sineOf(1, 0.5), func(p *shop) { k := p.spring(); p.load = func(_, x float64) float64 { return 2 * k * math.Sin(x) } }, shopOptions{}},
	{"pendulum that stands", sineOf(1, 0.5), func(p *shop) { k := p.spring(); p.load = func(_, x float64) float64 { return -k * math.Sin(x) } }, shopOptions{}},
	{"elastic joint of 8 Hz, half is the motor", multisine, func(p *shop) { p.joint(8, 0.5, false) }, shopOptions{}},
	{"elastic joint of 8 Hz, encoder outside", sineOf(1, 0.5), func(p *shop) { p.joint(8, 0.5, true) }, shopOptions{pid: softened}},
	{"elastic joint of 25 Hz, encoder outside", multisine, func(p *shop) { p.joint(25, 0.5, true) }, shopOptions{pid: softened}},
	{"elastic joint of 25 Hz, half is the motor", sineOf(3, 1.5), func(p *shop) { p.joint(25, 0.5, false) }, shopOptions{}},
	{"samples 15 ms late", sineOf(1, 0.5), nil, shopOptions{late: 15, pid: softened}},
	{"samples at 200 Hz", multisine, nil, shopOptions{every: 5}},
	{"samples at 50 Hz, small", sineOf(0.3, 0.3), nil, shopOptions{every: 20}},
}

// softened is a controller that a joint or a delay bears; of the stage it is a hundred thousand times as strong.
var softened = &control.PID{Kp: 0.02, Kd: 1e-3, Limit: 0.4}

func halved(l *friction.LuGre) { l.Fs, l.Fc, l.Sigma2 = l.Fs/2, l.Fc/2, l.Sigma2/2 }

// joint has its resonance with the load alone at this frequency (Hz).
func (p *shop) joint(frequency, share float64, outside bool) {
	w := 2 * math.Pi * frequency
	p.share, p.outside, p.soft = share, outside, w*w*p.j*share*(1-share)
}

// spring pulls with five times the break-away at the size of the motion.
func (p *shop) spring() float64 {
	if p.linear {
		return 5 * p.fs / 20e-3
	}
	return 5 * p.fs
}

func multisine(size float64) reference.Spec {
	return reference.Spec{Kind: "multisine", Tones: turned(demoTones, size/3)}
}

func sineOf(amplitude, frequency float64) func(float64) reference.Spec {
	return func(size float64) reference.Spec {
		return reference.Spec{Kind: "sine", Amplitude: size / 3 * amplitude, Frequency: frequency}
	}
}

// Nothing that a sound rig may do is a trip: ten minutes in all, with every channel measured that there is, and with none but the position.
func TestCleanRigsDoNotTrip(t *testing.T) {
	sum := 0.0
	seed := uint64(0)
	for n, c := range cleanCases {
		for _, kind := range shopKinds {
			for _, all := range []bool{false, true} {
				if seed++; !soak && (seed+uint64(n))%3 != 0 { // each kind with every third
					continue
				}
				p := kind.p()
				p.seed = seed
				o := c.o
				if o.measured = kind.measured; all {
					o.measured = []estimator.Quantity{estimator.Current, estimator.Velocity, estimator.Effort, estimator.Voltage}
					if p.drive != plant.VoltageDrive {
						o.measured = o.measured[:3]
					}
				}
				size := 3.0
				if p.linear {
					size = 60e-3
				}
				side := 1.0
				if seed%4 < 2 {
					side = -1
				}
				o.ref = c.ref(side * size)
				o.ki *= map[bool]float64{true: 1e6, false: 1}[p.linear]
				if p.drive == plant.VelocityDrive {
					o.comp = axis.CompSpec{}
				}
				if o.pid != nil && p.linear {
					o.pid = &control.PID{Kp: 10e3, Kd: 700, Limit: 300}
				}
				if o.every > 5 {
					o.pid = &control.PID{Kp: 0.02, Kd: 1.5e-3, Limit: 0.4}
					if p.linear {
						o.pid = &control.PID{Kp: 10e3, Kd: 1.5e3, Limit: 300}
					}
				}
				if c.p != nil {
					c.p(p)
				}
				s := newShop(t, p, o)
				if p.hot > 0 {
					p.r *= p.hot
				}
				if p.heavy > 0 {
					p.j *= p.heavy
				}
				s.start(t)
				for k := range 1200 {
					if sum += 1e-3; s.row.Mode.Energised() {
						s.step()
					} else {
						t.Errorf("%s, %s, everything measured %v: after %d ms %v: %s", c.name, kind.name, all, k, s.row.Mode, s.row.Why(&s.ctl.schema))
						break
					}
				}
			}
		}
	}
	t.Logf("%.0f s", sum)
}

// readingFault is what becomes of one reading.
type readingFault struct {
	of   estimator.Quantity
	name string
	make func(good, last float64) float64
}

func faultsOf(q estimator.Quantity, of string) []readingFault {
	return []readingFault{
		{q, of + " frozen", func(_, last float64) float64 { return last }},
		{q, of + " zero", func(float64, float64) float64 { return 0 }},
		{q, of + " reversed", func(good, _ float64) float64 { return -good }},
		{q, of + " doubled", func(good, _ float64) float64 { return 2 * good }},
		{q, of + " five times too large", func(good, _ float64) float64 { return 5 * good }},
	}
}

// A reading beside the position that is frozen, zero, reversed, or of another scale, in motion to both sides: a trip that names it, on each kind
// of drive where something else tells about it. What nothing tells about runs on, and stands in docs/safety.md.
func TestReadingsAreCompared(t *testing.T) {
	all := []estimator.Quantity{estimator.Current, estimator.Velocity, estimator.Effort, estimator.Voltage}
	runsOn := map[string]bool{ // nothing tells about it; or not while currents are as small as those of the demo
		"velocity current reversed": true, "velocity current doubled": true, "velocity current five times too large": true,
		"velocity effort reversed": true, "velocity effort doubled": true, "velocity effort five times too large": true,
		"voltage current doubled": true, "voltage effort doubled": true, "voltage voltage doubled": true,
		"current current doubled": true, "current effort doubled": true, "effort current doubled": true, "effort effort doubled": true,
	}
	named := map[Cause]bool{CauseDisagree: true, CauseFrozenReading: true, CauseFrozenCurrent: true, CauseDirection: true}
	for _, kind := range []struct {
		name  string
		drive plant.DriveKind
	}{{"voltage", plant.VoltageDrive}, {"current", plant.CurrentDrive}, {"effort", plant.EffortDrive}, {"velocity", plant.VelocityDrive}} {
		for _, q := range all {
			if q == estimator.Voltage && kind.drive != plant.VoltageDrive {
				continue
			}
			for _, f := range faultsOf(q, [...]string{"", "current", "velocity", "effort", "voltage"}[q]) {
				line := ""
				for _, linear := range []bool{false, true} {
					worst, causes := 0, map[string]int{}
					for _, side := range []float64{1, -1} {
						for _, at := range []float64{1.5} {
							p, size := rotaryShop(kind.drive), 3.0
							if linear {
								p, size = linearShop(kind.drive), 60e-3
							}
							measured := []estimator.Quantity{q}
							if q == estimator.Effort && kind.drive == plant.VoltageDrive {
								measured = append(measured, estimator.Current)
							}
							s := newShop(t, p, shopOptions{measured: measured, ref: multisine(side * size)})
							s.start(t)
							s.seconds(t, at)
							last := s.row.X[s.at[q]]
							s.fault = func(y []float64, at [estimator.Quantities]int) { y[at[q]] = f.make(y[at[q]], last) }
							n := 0
							for ; s.row.Mode.Energised() && n < 4000; n++ {
								s.step()
							}
							if worst = max(worst, n); n == 4000 {
								causes["runs on"]++
							} else {
								causes[s.row.Cause.String()]++
							}
							if on := runsOn[kind.name+" "+f.name]; n == 4000 && !on || n < 4000 && (!named[s.row.Cause] || s.row.Value == 0 && s.row.Cause != CauseFrozenReading) {
								t.Errorf("%s, %s, linear %v: after %d ms %s", kind.name, f.name, linear, n, s.row.Why(&s.ctl.schema))
							}
							if c := s.row.Cause; n < 4000 && c != CauseDirection && int(s.row.Where) != s.at[q]+1 {
								t.Errorf("%s, %s, linear %v: names signal %d: %s", kind.name, f.name, linear, s.row.Where, s.row.Why(&s.ctl.schema))
							}
						}
					}
					line += fmt.Sprintf(" | %4d ms %v", worst, causes)
				}
				t.Logf("%-10s %-32s%s", kind.name, f.name, line)
			}
		}
	}
}

// A tacho beside an encoder that tells nothing: its speed is held against max_speed, one wild sample of it is not. Without a limit it tells that
// the position is frozen.
func TestMeasuredSpeedIsLimited(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, limit := range []float64{0, 50} {
			p := rotaryShop(plant.EffortDrive)
			p.fs, p.fc = 1e-3, 1e-3
			// the file believes in so much friction that nothing must move
			s := newShop(t, p, shopOptions{measured: []estimator.Quantity{estimator.Velocity}, limits: AxisLimits{MaxSpeed: limit}, of: axis.OfEffort, law: func(l *friction.LuGre) { l.Fs, l.Fc = 0.5, 0.5 },
				ref: reference.Spec{Kind: "constant", Offset: 0.02 * side}})
			s.start(t)
			s.fault = func(y []float64, at [estimator.Quantities]int) {
				if y[0] = 0; s.n == 400 {
					y[at[estimator.Velocity]] = -300 * side
				}
			}
			top := 0.0
			for n := 0; s.row.Mode.Energised() && n < 2000; n++ {
				s.step()
				top = max(top, math.Abs(p.v))
			}
			t.Logf("limit %g, %+g: %.0f rad/s, %s", limit, side, top, s.row.Why(&s.ctl.schema))
			if s.row.Mode != Trip || top > 60 || s.row.Cause != CauseFrozen && s.row.Cause != CauseSpeed {
				t.Errorf("limit %g, %+g: %v at %.0f rad/s: %s", limit, side, s.row.Mode, top, s.row.Why(&s.ctl.schema))
			}
		}
	}
}

// tutorialShop is the rig of docs/first-motor.md with its virtual board.
func tutorialShop(t *testing.T, side float64) *shopRig {
	p := rotaryShop(plant.VoltageDrive)
	p.drop = 0
	return newShop(t, p, shopOptions{measured: []estimator.Quantity{estimator.Current}, top: 12, limits: AxisLimits{MaxSpeed: 50, MaxError: 1, MaxCurrent: 10}, ref: multisine(3 * side),
		motor: func(m *plant.Motor) { m.J = 5e-5 }, law: func(l *friction.LuGre) { l.Sigma0, l.Sigma2, l.Fc, l.Fs, l.Vs, l.Vd = 10, 1e-4, 10e-3, 14e-3, 1, 0.3 }})
}

// What is wrong with the readings of the tutorial's rig is called by its name, from the start and in motion, to both sides.
func TestCausesAreNamed(t *testing.T) {
	type history struct{ x, i [400]float64 }
	for _, c := range []struct {
		name string
		make func(y []float64, at [estimator.Quantities]int, h *history, k int)
		want []Cause
	}{
		{"encoder turned round", func(y []float64, _ [estimator.Quantities]int, _ *history, _ int) { y[0] *= -1 }, []Cause{CauseDirection}},
		{"encoder ten times too small", func(y []float64, _ [estimator.Quantities]int, _ *history, _ int) { y[0] *= 0.1 }, []Cause{CauseScale, CauseFrozen}},
		{"encoder four times too large", func(y []float64, _ [estimator.Quantities]int, _ *history, _ int) { y[0] *= 4 }, []Cause{CauseScale}},
		{"current +10 A", func(y []float64, at [estimator.Quantities]int, _ *history, _ int) { y[at[estimator.Current]] += 9.5 }, []Cause{CauseDisagree, CauseCurrent}},
		{"current −10 A", func(y []float64, at [estimator.Quantities]int, _ *history, _ int) { y[at[estimator.Current]] -= 9.5 }, []Cause{CauseDisagree, CauseCurrent}},
		{"current +18 A", func(y []float64, at [estimator.Quantities]int, _ *history, _ int) { y[at[estimator.Current]] += 18 }, []Cause{CauseDisagree, CauseCurrent}},
		{"current −18 A", func(y []float64, at [estimator.Quantities]int, _ *history, _ int) { y[at[estimator.Current]] -= 18 }, []Cause{CauseDisagree, CauseCurrent}},
		{"samples 80 ms late", func(y []float64, at [estimator.Quantities]int, h *history, k int) {
			h.x[k%400], h.i[k%400] = y[0], y[at[estimator.Current]]
			if k > 80 {
				y[0], y[at[estimator.Current]] = h.x[(k-80)%400], h.i[(k-80)%400]
			}
		}, []Cause{CauseDelay, CauseFrozen}}, // "… or the drive does nothing or acts late"
	} {
		for _, side := range []float64{1, -1} {
			for _, at := range []float64{0, 1.4} {
				for _, limits := range []bool{true, false} {
					s := tutorialShop(t, side)
					if !limits {
						s.ctl.guard.s.Axes[0].AxisLimits = AxisLimits{}
					}
					h, k := new(history), 0
					s.start(t)
					s.seconds(t, at)
					s.fault = func(y []float64, at [estimator.Quantities]int) { c.make(y, at, h, k); k++ }
					n := 0
					for ; s.row.Mode.Energised() && n < 4000; n++ {
						s.step()
					}
					t.Logf("%-28s %+g at %g s, limits %-5v: %4d ms %s", c.name, side, at, limits, n, s.row.Why(&s.ctl.schema))
					if jumps := at > 0 && s.row.Cause == CauseJump; n == 4000 || !jumps && !slices.Contains(c.want, s.row.Cause) {
						t.Errorf("%s %+g at %g s, limits %v: after %d ms %s", c.name, side, at, limits, n, s.row.Why(&s.ctl.schema))
					}
				}
			}
		}
	}
}

// An encoder or a drive turned round makes the axis run away, and a limit trips, on every kind of drive and to both sides: the cause is the
// direction, however tight the limit. A measured current that is turned round with the drive may tell sooner.
func TestTurnedEncoderOfEveryDrive(t *testing.T) {
	for _, kind := range shopKinds {
		for _, drive := range []bool{false, true} {
			for _, most := range []float64{0.5, 1, 3} { // rad
				for _, side := range []float64{1, -1} {
					p, size := kind.p(), 1.0
					if p.linear {
						size = 20e-3
					}
					s := newShop(t, p, shopOptions{measured: kind.measured, limits: AxisLimits{MaxSpeed: 100 * size, MaxError: most * size}, ref: multisine(3 * side * size)})
					if drive {
						p.turned = -1
					} else {
						s.fault = func(y []float64, at [estimator.Quantities]int) { y[0] *= -1 }
					}
					s.start(t)
					n, top := 0, 0.0
					for ; s.row.Mode.Energised() && n < 3000; n++ {
						s.step()
						top = max(top, math.Abs(p.v)/size)
					}
					if c := s.row.Cause; c != CauseDirection && !(c == CauseDisagree && drive && p.drive == plant.CurrentDrive) {
						t.Errorf("%s, drive %v, max_error %g, %+g: after %d ms %s", kind.name, drive, most, side, n, s.row.Why(&s.ctl.schema))
					}
				}
			}
		}
	}
}
