package brush

import (
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
)

var _ engine.System = (*Machine)(nil)

// bench is a small motor with permanent magnets and the default brush.
func bench() MachineSpec {
	p := DefaultParams()
	m := &p.Motor
	m.Resistance, m.Inductance, m.Constant, m.Inertia, m.Fan, m.Frequency, m.Series = 1.2, 0.6e-3, 0.042, 7e-5, 0, 0, false
	return MachineSpec{Params: p, Thermal: plant.Thermal{Ambient: 20}}
}

func machine(t testing.TB, s MachineSpec) *Machine {
	t.Helper()
	m, err := NewMachine(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// held turns a machine at a constant speed by a huge inertia and returns means over the time after the first 0.2 s.
func held(t testing.TB, s MachineSpec, rpm, seconds float64) (force, torque, loss, tilt float64, m *Machine) {
	s.LoadJ = 1e6
	m = machine(t, s)
	x, y := m.NewState(), make([]float64, outputs)
	x[plant.Omega] = rpm * math.Pi / 30
	u := []float64{12, 1}
	n, skip := int(seconds/1e-3), 200
	for k := range n + skip {
		if st := m.Step(1e-3, x, u, y); st == engine.NonFinite {
			t.Fatal(st)
		}
		if k >= skip {
			w := 1 / float64(n)
			force += w * y[OutForce]
			torque += w * y[plant.OutFriction] / 2
			loss += w * y[OutLoss]
			tilt += w * y[OutTilt]
		}
	}
	return force, torque, loss, tilt, m
}

func TestFullModelAtConstantSpeed(t *testing.T) {
	force, torque, loss, tilt, m := held(t, bench(), 3000, 0.4)
	t.Logf("3000 rpm: %.4g N, %.4g mN·m, loss %.3f, tilt %.3g rad, %+v", force, 1e3*torque, loss, tilt, m.Counts)
	if math.Abs(force/2.492-1) > 0.01 || math.Abs(torque/5.7e-3-1) > 0.03 || loss < 0.25 || loss > 0.7 || tilt > -2.3e-3 || tilt < -6.4e-3 {
		t.Errorf("%g N, %g N·m, loss %g, tilt %g; want 2.492 N ± 1 %%, 5.7e-3 N·m ± 3 %%, 0.41, −6.4e-3 … −2.3e-3", force, torque, loss, tilt)
	}
	if c := m.Counts; c.AveragedSubSteps != 0 || c.Restarts != 0 || float64(c.Degraded) > 1e-3*float64(c.Sub) {
		t.Errorf("counts %+v", c)
	}
	// backwards, with a second brush of its own
	s := bench()
	s.Pair = true
	force, torque, _, tilt, m = held(t, s, -3000, 0.2)
	if math.Abs(force/2.5-1) > 0.1 || math.Abs(torque/-5.7e-3-1) > 0.1 || m.Counts.Sub != 20000 {
		t.Errorf("backwards: %g N, %g N·m, tilt %g", force, torque, tilt)
	}
}

// The motor settles where current, torque and voltage balance: K·i = 2·τ + bearing, u = R·i + K·ω + 2·V.
func TestMotorSettlesWhereItsEquationsSay(t *testing.T) {
	for _, averaged := range []bool{false, true} {
		s := bench()
		s.AlwaysAveraged, s.LoadTorque = averaged, 0.04
		m := machine(t, s)
		x, y := m.NewState(), make([]float64, outputs)
		u := []float64{12, 1}
		var w, i, tau, drop float64
		for k := range 30000 { // the current, which arcs make ragged, is told at the ends of steps: short ones have its mean
			if st := m.Step(1e-4, x, u, y); st != engine.OK {
				t.Fatalf("step %d: %v", k, st)
			}
			if k >= 10000 {
				w, i, tau, drop = w+y[plant.OutVelocity]/20000, i+y[plant.OutCurrent]/20000, tau+y[plant.OutFriction]/20000, drop+y[OutDrop]/20000
			}
		}
		t.Logf("averaged %v: %.4g rad/s, %.4g A, %.4g mN·m, drop %.3g V, loss %.3g", averaged, w, i, 1e3*tau, drop, y[OutLoss])
		if math.Abs(0.042*i/(tau+0.04)-1) > 0.003 {
			t.Errorf("averaged %v: torque %g N·m at %g A, brushes and load take %g", averaged, 0.042*i, i, tau+0.04)
		}
		if v := 1.2*i + 0.042*w + 2*drop; math.Abs(v/12-1) > 2e-3 {
			t.Errorf("averaged %v: %g V used of 12", averaged, v)
		}
		if got := y[OutAveraged] == 1; got != averaged {
			t.Errorf("averaged flag %g", y[OutAveraged])
		}
	}
}

// With a series winding on alternating current the motor runs in the same sense through both half waves.
func TestSeriesMotorRunsOnAlternatingCurrent(t *testing.T) {
	s := MachineSpec{Params: DefaultParams(), AlwaysAveraged: true}
	m := machine(t, s)
	x, y := m.NewState(), make([]float64, outputs)
	u := []float64{60, 1}
	low, high := 0.0, 0.0
	for k := range 3000 {
		if st := m.Step(1e-3, x, u, y); st == engine.NonFinite {
			t.Fatalf("step %d: %v", k, st)
		}
		if k > 2000 {
			low, high = min(low, y[plant.OutCurrent]), max(high, y[plant.OutCurrent])
		}
	}
	t.Logf("%.4g rad/s, current %.3g … %.3g A", y[plant.OutVelocity], low, high)
	if y[plant.OutVelocity] < 100 || math.Abs(high/-low-1) > 0.1 || high < 0.3 {
		t.Errorf("%g rad/s, current %g … %g A", y[plant.OutVelocity], low, high)
	}
}

// Above v·h = l_c/5 the averaged contact takes over, below nine tenths of it the full one comes back; the torque does not jump.
func TestSwitchToTheAveragedContact(t *testing.T) {
	s := bench()
	s.LoadJ = 1e-3
	m := machine(t, s)
	x, y := m.NewState(), make([]float64, outputs)
	limit := 5e-4 / 5 / 20e-6 / 0.011 // rad/s
	x[plant.Omega] = 0.93 * limit
	u := []float64{0, 1}
	const h = 1e-3
	torque, last, up, down, jump, span := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	for k := range 3000 {
		u[0] = 0.042*limit + 12
		if k > 1000 {
			u[0] = 0
		}
		if st := m.Step(h, x, u, y); st == engine.NonFinite {
			t.Fatal(st)
		}
		flag := y[OutAveraged]
		if k > 200 {
			// the fluctuation that is there anyway, and the one at a change
			torque += 0.02 * (y[plant.OutFriction] - torque)
			span = max(span, math.Abs(y[plant.OutFriction]-torque))
			if flag != last {
				jump = max(jump, math.Abs(y[plant.OutFriction]-torque))
			}
		} else {
			torque = 0.0114
		}
		if flag > last {
			up = x[plant.Omega]
		} else if flag < last {
			down = x[plant.Omega]
		}
		last = flag
	}
	t.Logf("up at %.4g, down at %.4g rad/s (limit %.4g); torque %.4g mN·m, jump %.3g at a change, fluctuation %.3g; %+v", up, down, limit,
		1e3*torque, 1e3*jump, 1e3*span, m.Counts)
	if m.Counts.Switches != 2 || up < limit || up > 1.01*limit || down > 0.9*limit || down < 0.88*limit {
		t.Errorf("%d changes, up at %g, down at %g rad/s; limit %g", m.Counts.Switches, up, down, limit)
	}
	if jump > 0.15*torque {
		t.Errorf("torque jumps by %g N·m of %g", jump, torque)
	}
}

// Whatever the length of the step, the work in it is bounded.
func TestSubStepsAreBounded(t *testing.T) {
	s := bench()
	m := machine(t, s)
	x, y := m.NewState(), make([]float64, outputs)
	u := []float64{6, 1}
	for _, c := range []struct {
		dt   float64
		want int
	}{{20e-6, 1}, {21e-6, 2}, {1e-4, 5}, {1e-3, 50}, {5e-3, 50}} {
		before := m.Counts.Sub
		m.Step(c.dt, x, u, y)
		if n := m.Counts.Sub - before; n != c.want {
			t.Errorf("%g s: %d sub-steps, want %d", c.dt, n, c.want)
		}
	}
}

func TestSupplyOff(t *testing.T) {
	m := machine(t, bench())
	x, y := m.NewState(), make([]float64, outputs)
	for range 300 {
		m.Step(1e-3, x, []float64{12, 1}, y)
	}
	for range 3 {
		m.Step(1e-3, x, []float64{12, 0}, y)
	}
	if x[plant.Current] != 0 || x[plant.Omega] < 50 {
		t.Errorf("%g A, %g rad/s right after switching off", x[plant.Current], x[plant.Omega])
	}
	for range 2000 {
		if st := m.Step(1e-3, x, []float64{0, 0}, y); st == engine.NonFinite {
			t.Fatal(st)
		}
	}
	if math.Abs(x[plant.Omega]) > 0.2 {
		t.Errorf("still %g rad/s after 2 s", x[plant.Omega])
	}
}

func TestMachineRepeatsAndRefuses(t *testing.T) {
	run := func() []float64 {
		m := machine(t, bench())
		x, y := m.NewState(), make([]float64, outputs)
		for range 200 {
			m.Step(1e-3, x, []float64{12, 1}, y)
		}
		return append(x, y...)
	}
	a, b := run(), run()
	for k := range a {
		if a[k] != b[k] {
			t.Fatalf("number %d: %g and %g from the same start", k, a[k], b[k])
		}
	}
	m := machine(t, bench())
	x, y := m.NewState(), make([]float64, outputs)
	keep := append([]float64{}, x...)
	if st := m.Step(1e-3, x, []float64{math.NaN(), 1}, y); st != engine.NonFinite {
		t.Errorf("NaN voltage: %v", st)
	}
	for k := range x {
		if x[k] != keep[k] {
			t.Fatalf("state %d changed", k)
		}
	}
	lay := m.Layout()
	if len(lay.States) != len(x) || lay.NQ+lay.NV+lay.NA != len(x) || len(lay.Outputs) != outputs {
		t.Errorf("layout of %d states, %d outputs; want %d, %d", len(lay.States), len(lay.Outputs), len(x), outputs)
	}
	u := []float64{12, 1}
	if n := testing.AllocsPerRun(20, func() { m.Step(1e-3, x, u, y) }); n != 0 {
		t.Errorf("%g allocations in a step", n)
	}
	s := bench()
	s.SubStep, s.LoadJ, s.Window, s.Params.Holder.Clearance = -1, math.NaN(), 1e-6, -1e-3
	if _, err := NewMachine(s); err == nil {
		t.Error("nonsense was accepted")
	} else {
		for _, w := range []string{"sub-step", "load inertia", "window", "holder.clearance"} {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%v: does not mention %s", err, w)
			}
		}
	}
}

func BenchmarkMachineStep(b *testing.B) {
	m := machine(b, bench())
	x, y := m.NewState(), make([]float64, outputs)
	u := []float64{14, 1}
	for range 500 {
		m.Step(1e-3, x, u, y)
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Step(1e-3, x, u, y)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/50, "ns/sub-step")
}

// A virtual rig steps it, reads its sensors and changes its settings.
func TestMachineInARig(t *testing.T) {
	spec := bench()
	spec.Name, spec.Supply = "shaft", [2]float64{-10, 20}
	m := machine(t, spec)
	r, err := plant.NewRig(m, plant.SensorSpec{Readings: []plant.Reading{{Output: plant.OutPosition, Count: math.Pi / 2048},
		{Output: plant.OutCurrent}, {Output: plant.OutApplied}}},
		plant.Event{StartTime: 1, Duration: 1, Setting: 0, To: 5}, plant.Event{StartTime: 1, Duration: 1, Setting: 1, To: 0.1},
		plant.Event{StartTime: 1, Duration: 1, Setting: 2, To: 80})
	if err != nil {
		t.Fatal(err)
	}
	x, y, got := r.NewState(), make([]float64, outputs), make([]float64, 3)
	for range 100 {
		r.Step(1e-3, x, []float64{12, 1}, y)
	}
	r.Read(y, got)
	if math.Abs(got[0]-x[plant.Theta]) > math.Pi/4096 || got[0] == 0 || got[1] != x[plant.Current] || got[2] != 12 ||
		y[plant.OutTemperature] != x[plant.Temperature] {
		t.Errorf("sensors %v, outputs %v, states %v", got, y[:plant.Outputs], x[:4])
	}
	warm := x[plant.Temperature]
	for _, c := range []struct{ at, up, down, load, temperature float64 }{{0.5, 20, -10, 0, warm}, {1, 5, -2.5, 0.1, 80},
		{2, 20, -10, 0, warm}} {
		r.Play(c.at, x)
		if m.s.LoadTorque != c.load || x[plant.Temperature] != c.temperature {
			t.Errorf("at %g s: load %g N·m, %g °C; want %g, %g", c.at, m.s.LoadTorque, x[plant.Temperature], c.load, c.temperature)
		}
		r.Step(1e-6, x, []float64{99, 1}, y)
		up := y[plant.OutApplied]
		r.Step(1e-6, x, []float64{-99, 1}, y)
		if down := y[plant.OutApplied]; up != c.up || down != c.down {
			t.Errorf("at %g s: supply %g to %g V, want %g to %g", c.at, down, up, c.down, c.up)
		}
		r.Step(1e-6, x, []float64{99, 0}, y)
		if y[plant.OutApplied] != 0 {
			t.Errorf("at %g s: %g V with the drive off", c.at, y[plant.OutApplied])
		}
	}
}

// The bearing adds its friction to that of the brushes, and the fan its load.
func TestBearingAndFanLoadTheMotor(t *testing.T) {
	s := bench()
	s.AlwaysAveraged = true
	s.Bearing = &friction.Coulomb{Fc: 0.02}
	s.Params.Motor.Fan = 1e-6
	m := machine(t, s)
	x, y := m.NewState(), make([]float64, outputs)
	var i, w, tau float64
	for k := range 3000 {
		if st := m.Step(1e-3, x, []float64{12, 1}, y); st == engine.NonFinite {
			t.Fatal(st)
		}
		if k >= 2000 {
			i, w, tau = i+y[plant.OutCurrent]/1000, w+y[plant.OutVelocity]/1000, tau+y[plant.OutFriction]/1000
		}
	}
	if want := tau + 0.02 + 1e-6*w*w; math.Abs(0.042*i/want-1) > 0.01 {
		t.Errorf("torque %g N·m at %g A and %g rad/s, want %g", 0.042*i, i, w, want)
	}
}

// Contact and friction heat the brush to Tamb + R·P, and a coefficient that falls with temperature lowers the torque.
func TestBrushWarmsAndSlips(t *testing.T) {
	s := bench()
	s.AlwaysAveraged, s.LoadJ = true, 1e6
	s.Params.Material.MuTemperature = -2e-3
	s.Thermal = plant.Thermal{Resistance: 8, Capacity: 0.02, Ambient: 20}
	m := machine(t, s)
	x, y := m.NewState(), make([]float64, outputs)
	x[plant.Omega] = 50
	u := []float64{0.042*50 + 5, 1}
	var torque, power float64
	for range 2000 {
		if st := m.Step(1e-3, x, u, y); st != engine.OK {
			t.Fatal(st)
		}
		torque, power = y[plant.OutFriction], y[plant.OutFriction]/2*50+y[OutDrop]*y[plant.OutCurrent]
	}
	temp := y[plant.OutTemperature]
	if want := 20 + 8*power; math.Abs(temp-want) > 0.01*(want-20) {
		t.Errorf("%g °C, want %g", temp, want)
	}
	v := 50 * s.Params.Commutator.Radius
	fit := m.mean.At(v)
	if want := 2 * s.Params.Commutator.Radius * 0.2 * (1 - 2e-3*(temp+zeroC-353)) * m.mean.Force * fit.Rise; math.Abs(torque/want-1) > 1e-3 {
		t.Errorf("torque %g N·m at %g °C, want %g", torque, temp, want)
	}
	// the full model slips with it
	full := bench()
	full.Params.Material = s.Params.Material
	full.Thermal = plant.Thermal{Ambient: 20}
	full.Params.Material.Temperature = 453
	_, hot, _, _, _ := held(t, full, 1000, 0.2)
	full.Params.Material.Temperature = 353
	_, cold, _, _, _ := held(t, full, 1000, 0.2)
	if math.Abs(hot/cold-0.8) > 0.02 {
		t.Errorf("100 K more: torque %g of %g N·m, want 0.8", hot, cold)
	}
}

// What a run of the full model measured becomes what the averaged contact says.
func TestMachineIsCalibrated(t *testing.T) {
	s := bench()
	s.AlwaysAveraged, s.LoadJ = true, 1e6
	m := machine(t, s)
	x, y := m.NewState(), make([]float64, outputs)
	x[plant.Omega] = 300
	m.Calibrate(3.3, 2.2, 0.55)
	for range 300 {
		m.Step(1e-3, x, []float64{14, 1}, y)
	}
	if math.Abs(y[OutForce]-2.2) > 1e-9 || math.Abs(y[OutLoss]-0.55) > 1e-3 {
		t.Errorf("force %g N, loss %g; want 2.2, 0.55", y[OutForce], y[OutLoss])
	}
}

// A brush that is lifted by 0.3 mm has arcs of that length: as it falls back, the drop of each is V_arc + E_arc·gap + Rb·i, the gap
// being how far it still is above where it stood.
func TestArcOfALiftedBrush(t *testing.T) {
	const h, lift = 20e-6, 0.3e-3
	seen := 0
	for _, gradient := range []float64{0, 2e4} {
		s := bench()
		s.LoadJ, s.SubStep, s.Params.Electric.ArcGradient = 1e6, h, gradient
		m := machine(t, s)
		x, y := m.NewState(), make([]float64, outputs)
		m.Step(h, x, []float64{0, 1}, y)
		stands := x[atBrush+1]
		x[atBrush+1] += lift
		x[plant.Current] = 8
		for range 30 {
			before, i := x[atBrush+1], x[plant.Current]
			m.Step(h, x, []float64{12, 1}, y)
			gap := (before+x[atBrush+1])/2 - stands
			if y[OutForce] > 0 || x[plant.Current] < 0.5 || gap < 0.1*lift {
				continue
			}
			seen++
			rb := s.Params.Circuit().Drop.Rb
			if want := 13 + gradient*gap + rb*(i+x[plant.Current])/2; math.Abs(y[OutDrop]-want) > 0.02*want {
				t.Errorf("gradient %g V/m, gap %.3g mm: %.4g V, want %.4g V", gradient, 1e3*gap, y[OutDrop], want)
			}
		}
	}
	if seen < 6 {
		t.Errorf("seen in %d steps only", seen)
	}
}
