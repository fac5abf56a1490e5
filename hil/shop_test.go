package hil

import (
	"context"
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

// shop is an axis with everything that can be measured of it, written apart from the engine: winding or loop of current, effort or speed,
// an inertia, a Prandtl element that yields before it slides, and a load. It is integrated by the semi-implicit Euler method at 40 µs.
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
	return &shop{drive: kind, j: 7e-5, fc: 15e-3, fs: 21e-3, vs: 0.5, fv: 1.5e-4, stiffness: 11, r: 1.2, l: 0.6e-3, k: 0.042, drop: 0.6,
		lag: 0.5e-3, kp: 0.02, ki: 1, top: 0.4,
		count: 2 * math.Pi / 65536, noise: [estimator.Quantities]float64{estimator.Current: 0.02, estimator.Velocity: 0.2,
			estimator.Effort: 1e-3}, current: true, turned: 1}
}

func linearShop(kind plant.DriveKind) *shop {
	return &shop{drive: kind, linear: true, j: 95.1, fc: 20.4, fs: 22, vs: 2e-3, fv: 203.5, stiffness: 2e6, r: 4, l: 2e-3, k: 35.15,
		lag: 0.5e-3, kp: 5e3, ki: 1e5, top: 350,
		count: 1e-6, noise: [estimator.Quantities]float64{estimator.Current: 0.02, estimator.Velocity: 2e-3, estimator.Effort: 1}, current: true,
		turned: 1}
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
	fade      float64 // s  0: 1
	comp      axis.CompSpec
	pid       *control.PID
	top       float64 // V, A …  largest command; 0: that of the drive
	motor     func(*plant.Motor)
	tick      int     // ms  of the loop; 0: 1
	late      int     // ticks that a reading and its current need to get here
	unsteady  float64 // s  readings are taken up to so long before they get here, which their age tells; 0: they have no age
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
	unsteady     float64                                         // s
	age          int                                             // place of the age; −1: none
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
	if s.age >= 0 {
		y[s.age] = s.unsteady * s.rng.Float64()
		truth[estimator.Position] -= p.v * y[s.age]
	}
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
	if o.fade == 0 {
		o.fade = 1
	}
	s := &shopRig{clock: &VirtualClock{Period: int64(o.tick) * 1e6}, out: &hand2{}, p: p, rng: rand.New(rand.NewPCG(p.seed, 77)),
		every: o.every, ms: o.tick, late: make([][]float64, o.late)}
	unit, names := "rad", [estimator.Quantities]engine.Signal{{Name: "x"}, {Name: "i", Unit: "A"}, {Name: "v"}, {Name: "tau"},
		{Name: "volts", Unit: "V"}}
	if p.linear {
		unit = "m"
	}
	names[estimator.Position].Unit, names[estimator.Velocity].Unit, names[estimator.Effort].Unit = unit, unit+"/s",
		map[bool]string{true: "N", false: "N·m"}[p.linear]
	every := 1e-3 * float64(o.every*o.tick)
	law := &friction.LuGre{Sigma0: p.stiffness, Sigma1: 0.5 * math.Sqrt(p.stiffness*p.j), Sigma2: p.fv, Fc: p.fc, Fs: p.fs, Vs: p.vs, Vd: p.vs}
	if o.law != nil {
		o.law(law)
	}
	motor := plant.Motor{R: p.r, L: p.l, K: p.k, BrushDrop: p.drop, DropScale: 0.05, J: p.j}
	a := AxisSpec{Name: "shaft", Command: 0, Limits: o.limits,
		Spec: axis.Spec{Linear: p.linear, Drive: p.drive, SamplePeriod: every, Law: law, Ref: gen, RefKind: o.of, Fade: o.fade,
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
	limit := map[plant.DriveKind]float64{plant.VoltageDrive: 24, plant.CurrentDrive: 10, plant.EffortDrive: 10 * p.k,
		plant.VelocityDrive: 100}[p.drive]
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
	spec := ControllerSpec{Rig: "shop", Rate: 1000 / float64(o.tick), Mechanism: o.mechanism,
		Guard: GuardSpec{GuardLimits: GuardLimits{HoldTime: 0.1, SelfTest: 0.05}}}
	for _, q := range append([]estimator.Quantity{estimator.Position}, o.measured...) {
		s.at[q] = len(spec.Meas)
		c := Of("board", names[q])[0]
		if c.Axis = "shaft"; q == estimator.Position {
			c.Role = RolePosition
		}
		spec.Meas, spec.Guard.Meas = append(spec.Meas, c), append(spec.Guard.Meas, MeasLimit{Stale: max(0.02, 5*every)})
		switch { // what says something to the filter
		case q == estimator.Velocity, q == estimator.Current && (p.drive == plant.VoltageDrive || p.drive == plant.CurrentDrive),
			q == estimator.Effort && p.drive == plant.EffortDrive, q == estimator.Voltage && p.drive == plant.VoltageDrive:
			group = append(group, q)
		}
	}
	a.Measured = s.at
	walk := 5 * p.fs
	if p.drive == plant.VoltageDrive {
		a.Motor = motor
		a.Kalman = estimator.KalmanSpec{Motor: motor, Count: p.count, CurrentNoise: p.noise[estimator.Current], TorqueWalk: walk,
			VoltageNoise: 0.05, TopSpeed: o.limits.MaxSpeed}
		a.Kalman.VelocityNoise = p.noise[estimator.Velocity]
	} else {
		a.Motor = plant.Motor{J: motor.J, K: motor.K}
		a.Mechanical = estimator.MechanicalSpec{Inertia: motor.J, Count: p.count, Walk: walk, VelocityNoise: p.noise[estimator.Velocity],
			TopSpeed: o.limits.MaxSpeed}
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
	a.Sampling.Groups = []estimator.Group{{SamplePeriod: every, Quantities: group}}
	if s.age = -1; o.unsteady > 0 {
		s.age, s.unsteady = len(spec.Meas), o.unsteady
		spec.Meas, spec.Guard.Meas = append(spec.Meas, Of("board", engine.Signal{Name: "age", Unit: "s"})[0]),
			append(spec.Guard.Meas, MeasLimit{})
		for range spec.Meas {
			spec.Ages = append(spec.Ages, s.age)
		}
	}
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
		t.Fatalf("not running: %v, refusal %d (%s)", s.row.Mode, s.row.Res, s.row.CauseText(&s.ctl.schema))
	}
}

// seconds runs so long, and fails the test where the rig trips.
func (s *shopRig) seconds(t testing.TB, sec float64) {
	t.Helper()
	for k := range int(1000 * sec) {
		if s.step(); !s.row.Mode.Energised() {
			t.Fatalf("after %.3f s: %v: %s", 1e-3*float64(k), s.row.Mode, s.row.CauseText(&s.ctl.schema))
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
