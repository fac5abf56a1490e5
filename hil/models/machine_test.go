package models_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/circuit/drivetrain"
	mech "hilrig/engine/machine"
	"hilrig/engine/multibody"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/engine/rotation"
	"hilrig/hil"
	"hilrig/hil/models"
)

// A crank-rocker of rods of 1 kg/m under gravity, with a rotor and a damper on its crank.
const (
	crankL, couplerL, rockerL, groundL = 0.1, 0.35, 0.3, 0.4 // m
	crankRotor, crankDamping           = 1e-3, 0.002
)

func crankRocker() mech.Spec {
	rod := func(name, parent string, at, l float64) multibody.Body {
		i := l * l * l / 12
		return multibody.Body{Name: name, Parent: parent, Place: multibody.At(at, 0, 0), Joint: multibody.Joint{Kind: multibody.Revolute},
			Inertia: multibody.Inertia{Mass: l, Com: r3.Vec{X: l / 2}, I: rotation.Diag(r3.Vec{X: i / 2, Y: i / 2, Z: i})}}
	}
	s := mech.Spec{Spec: multibody.Spec{
		Gravity: r3.Vec{Y: -9.81},
		Bodies:  []multibody.Body{rod("crank", "", 0, crankL), rod("coupler", "crank", crankL, couplerL), rod("rocker", "", groundL, rockerL)},
		Frames: []multibody.Frame{{Name: "c", Body: "coupler", Pose: multibody.At(couplerL, 0, 0)},
			{Name: "r", Body: "rocker", Pose: multibody.At(rockerL, 0, 0)}},
		Cuts: []multibody.Cut{{Name: "pin", Kind: multibody.CutPoint, A: "c", B: "r"}},
	}}
	s.Bodies[0].Joint.Armature, s.Bodies[0].Joint.Damping = crankRotor, crankDamping
	return s
}

// made is the start of a machine with its crank at 0.5 rad.
func made(spec mech.Spec) func(mech.StepOptions) (*mech.Stepper, []float64, error) {
	return func(o mech.StepOptions) (*mech.Stepper, []float64, error) {
		s, err := mech.NewStepper(spec, o)
		if err != nil {
			return nil, nil, err
		}
		x := s.NewState()
		copy(x, []float64{0.5, 0.27711649, 1.78139383})
		for k := range o.MotionJoints {
			s.SetMotion(k, multibody.Motion{X: 0.5})
		}
		_, err = s.Begin(0, x, multibody.Assembly{Hold: []string{"crank"}[len(o.MotionJoints):]})
		return s, x, err
	}
}

// angles of coupler and rocker in the world when the crank stands at phi: where two circles meet.
func angles(phi float64) (coupler, rocker float64) {
	bx, by := crankL*math.Cos(phi), crankL*math.Sin(phi)
	dx, dy := groundL-bx, -by
	d := math.Hypot(dx, dy)
	coupler = math.Atan2(dy, dx) + math.Acos((couplerL*couplerL+d*d-rockerL*rockerL)/(2*couplerL*d))
	return coupler, math.Atan2(by+couplerL*math.Sin(coupler), bx+couplerL*math.Cos(coupler)-groundL)
}

// wanted is the torque of the drive by Lagrange's equation of the one coordinate phi, J·α + ½J′·ω² + V′ + c·ω, and the moment
// of the pin's force on the rocker about its bearing, by the rocker's own balance. Derivatives are central differences of the geometry.
func wanted(phi, omega, alpha float64) (torque, moment float64) {
	const d = 1e-4
	slope := func(f func(float64) float64, x float64) float64 {
		return (8*(f(x+d)-f(x-d)) - f(x+2*d) + f(x-2*d)) / (12 * d)
	}
	theta := func(p float64) float64 { c, _ := angles(p); return c }
	psi := func(p float64) float64 { _, r := angles(p); return r }
	inertia := func(p float64) float64 {
		cx := slope(func(p float64) float64 { return crankL*math.Cos(p) + couplerL/2*math.Cos(theta(p)) }, p)
		cy := slope(func(p float64) float64 { return crankL*math.Sin(p) + couplerL/2*math.Sin(theta(p)) }, p)
		t, r := slope(theta, p), slope(psi, p)
		return crankRotor + crankL*crankL*crankL/3 + couplerL*(cx*cx+cy*cy) + couplerL*couplerL*couplerL/12*t*t + rockerL*rockerL*rockerL/3*r*r
	}
	height := func(p float64) float64 {
		return crankL*crankL/2*math.Sin(p) + couplerL*(crankL*math.Sin(p)+couplerL/2*math.Sin(theta(p))) + rockerL*rockerL/2*math.Sin(psi(p))
	}
	torque = inertia(phi)*alpha + slope(inertia, phi)*omega*omega/2 + 9.81*slope(height, phi) + crankDamping*omega
	turn := slope(psi, phi)*alpha + slope(func(p float64) float64 { return slope(psi, p) }, phi)*omega*omega
	return torque, rockerL*rockerL*rockerL/3*turn + 9.81*rockerL*rockerL/2*math.Cos(psi(phi))
}

// beside is a machine beside an axis.
type beside struct {
	t     testing.TB
	model *models.Machine
	in    hil.ModelInput
	y     []float64
}

func newBeside(t testing.TB, s *models.MachineSpec) *beside {
	t.Helper()
	m, err := models.NewMachine(s)
	if err != nil {
		t.Fatal(err)
	}
	return &beside{t: t, model: m, in: hil.ModelInput{Dt: 1e-3, Axes: make([]hil.Motion, 1)}, y: make([]float64, len(m.Signals()))}
}

func (b *beside) shown(name string) float64 {
	for i, s := range b.model.Signals() {
		if s.Name == name {
			return b.y[i]
		}
	}
	b.t.Fatalf("no signal %s", name)
	return 0
}

// move tells the axis a motion and makes a tick.
func (b *beside) move(q, v, a float64) (engine.Status, int) {
	b.in.Axes[0].Position, b.in.Axes[0].Velocity, b.in.Axes[0].Acceleration = q, v, a
	st, _ := b.model.Step(&b.in, b.y)
	return st, int(b.y[0])
}

// Led by the motion of its axis, which begins far from where the file has it and counts the other way in degrees of its own, a linkage
// shows what Lagrange's equation and the balance of the rocker ask for.
func TestMachineIsLed(t *testing.T) {
	s := &models.MachineSpec{Stepper: made(crankRocker()), Outputs: []string{"crank", "rocker.q", "coupler.q", "pin", "residual"},
		Joints: []models.Following{{Joint: "crank", Source: models.ByMotion, Ratio: -0.5, Offset: 0.3}}}
	b, again := newBeside(t, s), newBeside(t, s)
	motion := func(k int) (q, v, a float64) { // of the crank
		return reference.Sine{Offset: 2.4, Tone: reference.Tone{Amplitude: 1.5, Frequency: 1.1, Phase: 1}}.At(float64(k) * 1e-3)
	}
	placed, worst := 0, [4]float64{}
	for k := range 2000 {
		q, v, a := motion(k)
		st, status := b.move((q-0.3)/-0.5, v/-0.5, a/-0.5)
		again.move((q-0.3)/-0.5, v/-0.5, a/-0.5)
		for i := range b.y {
			if math.Float64bits(b.y[i]) != math.Float64bits(again.y[i]) {
				t.Fatalf("tick %d: %s comes out as %g and %g", k, b.model.Signals()[i].Name, b.y[i], again.y[i])
			}
		}
		if status == models.MachinePlaced && k < 40 {
			placed++
			continue
		}
		if st != engine.OK || status != models.MachineOK {
			t.Fatalf("tick %d: %v, status %d", k, st, status)
		}
		if b.shown("crank.a") == 0 {
			continue // the tick in which it begins
		}
		theta, psi := angles(q)
		torque, moment := wanted(q, v, a)
		// the force of the pin on the rocker stands in axes of the coupler
		x, y := b.shown("pin.x"), b.shown("pin.y")
		cos, sin := math.Cos(theta-psi), math.Sin(theta-psi)
		lever := rockerL * (sin*x + cos*y)
		for i, d := range []float64{b.shown("crank.q") - q, b.shown("rocker.q") - psi, b.shown("crank.motion") - torque, lever - moment} {
			worst[i] = math.Max(worst[i], math.Abs(d))
		}
		if g := b.shown("residual"); g > 1e-10 {
			t.Fatalf("tick %d: the pin is off by %.3g m", k, g)
		}
	}
	t.Logf("placed in %d ticks; off by %.2g rad, %.2g rad, %.2g N·m, %.2g N·m", placed, worst[0], worst[1], worst[2], worst[3])
	if placed < 3 || worst[0] > 1e-12 || worst[1] > 1e-9 || worst[2] > 1e-6 || worst[3] > 1e-6 {
		t.Errorf("placed in %d ticks; off by %g", placed, worst)
	}
	for i, c := range b.model.Signals() {
		if c.Name == "pin.x" && (c.Unit != "N" || b.model.Roles()[i] != hil.RoleEffort) || c.Name == "crank.q" &&
			b.model.Roles()[i] != hil.RolePosition {
			t.Errorf("%v is %v", c, b.model.Roles()[i])
		}
	}
}

// withMotor has a DC motor on the crank whose voltage is held.
func withMotor(volts *circuit.Held) mech.Spec {
	s := crankRocker()
	s.Parts = func(axis func(string) (int, error), axes int) ([]drivetrain.Part, error) {
		c, err := circuit.Build(circuit.Spec{Axes: axes, Elements: []circuit.Element{
			&circuit.VoltageSource{Name: "supply", FromNode: "+", ToNode: "0", U: volts},
			&circuit.DC{Name: "motor", FromNode: "+", ToNode: "0", Motor: plant.Motor{R: 2, L: 5e-3, K: 0.3}, Axis: 0},
		}})
		return []drivetrain.Part{c}, err
	}
	return s
}

// Driven by the current, the measured effort, or the voltage of its axis, a linkage moves by itself as the integrator of adaptive steps has
// it, shows how far it comes off the axis, and accounts for its power.
func TestMachineRunsAhead(t *testing.T) {
	const torque, volts, end = 0.3, 4.0, 0.4
	volt := new(circuit.Held)
	for _, c := range []struct {
		by    models.FollowBy
		axis  hil.Motion
		spec  mech.Spec
		k     float64
		volts *circuit.Held
	}{
		{models.ByCurrent, hil.Motion{Current: 2}, crankRocker(), torque / 2, nil},
		{models.ByEffort, hil.Motion{Effort: torque}, crankRocker(), 0, nil},
		{models.ByCommand, hil.Motion{Command: torque}, crankRocker(), 1, nil},
		{models.ByCommand, hil.Motion{Command: volts}, withMotor(volt), 0, volt},
	} {
		want := crankRocker()
		if want.Efforts = []mech.Effort{{Joint: "crank", Generator: reference.Constant(torque)}}; c.volts != nil {
			want = withMotor(&circuit.Held{Value: volts})
		}
		m, err := mech.New(want)
		if err != nil {
			t.Fatal(err)
		}
		x := m.NewState()
		copy(x, []float64{0.5, 0.27711649, 1.78139383})
		if _, err := m.Assemble(0, x, multibody.Assembly{Hold: []string{"crank"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(context.Background(), x, 0, end, mech.Options{}, nil); err != nil {
			t.Fatal(err)
		}
		b := newBeside(t, &models.MachineSpec{Stepper: made(c.spec), Audit: true, Outputs: []string{"crank"},
			Joints: []models.Following{{Joint: "crank", Source: c.by, Ratio: 1, K: c.k, Voltage: c.volts}}})
		c.axis.Position = 0.5
		b.in.Axes[0] = c.axis
		worst := 0.0
		for k := range int(end*1e3) + 2 {
			b.in.Axes[0].Energised = k > 0 // being switched on is a new beginning
			if st, status := b.move(0.5, 0, 0); st != engine.OK || status != models.MachineOK {
				t.Fatalf("%v: tick %d: %v, status %d", c.by, k, st, status)
			}
			if k > 1 {
				worst = math.Max(worst, math.Abs(b.shown("power.missing")))
			}
		}
		t.Logf("%v: off by %.2g rad, difference %.6g rad, power missed %.2g W", c.by, b.shown("crank.q")-x[0], b.shown("crank.difference"), worst)
		if math.Abs(b.shown("crank.q")-x[0]) > 1e-3*math.Abs(x[0]-0.5) ||
			math.Abs(b.shown("crank.difference")-(b.shown("crank.q")-0.5)) > 1e-12 || worst > 0.05 {
			t.Errorf("%v: crank at %g rad, want %g; difference %g rad, power missed %g W", c.by, b.shown("crank.q"), x[0],
				b.shown("crank.difference"), worst)
		}
	}
}

// A linkage that cannot follow says so, waits where it was, and follows again. What is no number moves nothing.
func TestMachineIsLost(t *testing.T) {
	// a rocker as the axis swings only so far
	b := newBeside(t, &models.MachineSpec{Stepper: func(o mech.StepOptions) (*mech.Stepper, []float64, error) {
		s, err := mech.NewStepper(crankRocker(), o)
		if err != nil {
			return nil, nil, err
		}
		x := s.NewState()
		copy(x, []float64{0.5, 0.27711649, 1.78139383})
		s.SetMotion(0, multibody.Motion{X: 1.78139383})
		_, err = s.Begin(0, x, multibody.Assembly{})
		return s, x, err
	}, Joints: []models.Following{{Joint: "rocker", Source: models.ByMotion, Ratio: 1}}, Outputs: []string{"rocker.q"}})
	lost, back := 0, 0
	for k := range 3000 {
		q := 1.78139383 + 0.9*math.Sin(float64(k)*2e-3)
		st, status := b.move(q, 0.9*2*math.Cos(float64(k)*2e-3), 0)
		for _, y := range b.y {
			if y-y != 0 {
				t.Fatalf("tick %d: %v", k, b.y)
			}
		}
		switch {
		case status == models.MachineLost || status == models.MachineUnmet:
			lost++
		case st != engine.OK:
			t.Fatalf("tick %d: %v, status %d", k, st, status)
		case lost > 0 && math.Abs(b.shown("rocker.q")-q) < 1e-9:
			back++
		}
	}
	t.Logf("lost for %d ticks, followed again for %d", lost, back)
	if lost < 100 || back < 100 {
		t.Errorf("lost for %d ticks, followed again for %d", lost, back)
	}
	before := b.shown("rocker.q")
	if st, status := b.move(math.NaN(), 0, 0); st != engine.NonFinite || status != models.MachineNonFinite || b.shown("rocker.q") != before {
		t.Errorf("%v, status %d", st, status)
	}
}

func TestMachineRefuses(t *testing.T) {
	joint := models.Following{Joint: "crank", Ratio: 1}
	for _, c := range []struct {
		s    models.MachineSpec
		want string
	}{
		{models.MachineSpec{Joints: []models.Following{{Joint: "crnk", Ratio: 1}}}, `"crank"`},
		{models.MachineSpec{Joints: []models.Following{{Joint: "crank"}}}, "ratio 0"},
		{models.MachineSpec{Joints: []models.Following{joint}, Outputs: []string{"pins"}}, "pin.x"},
	} {
		c.s.Stepper = made(crankRocker())
		if _, err := models.NewMachine(&c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestMachineAllocations(t *testing.T) {
	volt := new(circuit.Held)
	for _, s := range []*models.MachineSpec{
		{Stepper: made(crankRocker()), Joints: []models.Following{{Joint: "crank", Ratio: 1}}},
		{Stepper: made(withMotor(volt)), Audit: true, Joints: []models.Following{{Joint: "crank", Source: models.ByCommand, Ratio: 1,
			Voltage: volt}}},
	} {
		b := newBeside(t, s)
		k := 0.0
		if n := testing.AllocsPerRun(300, func() { k++; b.in.Axes[0].Command = 3; b.move(0.8+k*1e-3, 1, 0) }); n != 0 {
			t.Errorf("%g allocations", n)
		}
	}
}

func BenchmarkMachine(b *testing.B) {
	volt := &circuit.Held{Value: 4}
	for name, s := range map[string]*models.MachineSpec{
		"led": {Stepper: made(crankRocker()), Joints: []models.Following{{Joint: "crank", Ratio: 1}}},
		"voltage": {Stepper: made(withMotor(volt)), Outputs: []string{"crank.q"},
			Joints: []models.Following{{Joint: "crank", Source: models.ByCommand, Ratio: 1, Voltage: volt}}},
		"audited": {Stepper: made(withMotor(volt)), Audit: true,
			Joints: []models.Following{{Joint: "crank", Source: models.ByCommand, Ratio: 1, Voltage: volt}}},
	} {
		b.Run(name, func(b *testing.B) {
			r := newBeside(b, s)
			r.in.Axes[0].Command = 4
			k := 0.0
			b.ReportAllocs()
			for b.Loop() {
				k += 1e-3
				r.move(0.5+math.Sin(k), math.Cos(k), -math.Sin(k))
			}
		})
	}
}

// Every status in which a machine or a chain waits, or is not as its equations say, has words for the events of the rig; what it goes
// through has none. The channel is known by its role.
func TestStatusesHaveWords(t *testing.T) {
	for status, said := range map[int]bool{models.MachineOK: false, models.MachineSingular: false, models.MachineLost: true,
		models.MachineUnmet: true, models.MachineNonFinite: true, models.MachinePlaced: false, models.MachineLeft: true,
		models.MachineUndecided: true} {
		if text := hil.ModelStatusTexts[status]; text != "" != said {
			t.Errorf("status %d: %q", status, text)
		}
	}
	if n := len(hil.ModelStatusTexts); n != models.MachineUndecided+1 {
		t.Errorf("%d statuses", n)
	}
	b := newBeside(t, &models.MachineSpec{Stepper: made(crankRocker()), Joints: []models.Following{{Joint: "crank", Ratio: 1}}})
	if m := b.model; m.Signals()[0].Name != "status" || m.Roles()[0] != hil.RoleStatus {
		t.Errorf("%v has the role %v", m.Signals()[0], m.Roles()[0])
	}
}
