package drivetrain

import (
	"errors"
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// A geared motor as a System: held voltage, names, the torque of the gear as an output, no allocation, and a bad input leaves it.
func TestSystem(t *testing.T) {
	u := &circuit.Held{}
	c, err := circuit.Build(circuit.Spec{Axes: 2, Elements: []circuit.Element{
		&circuit.VoltageSource{Name: "supply", FromNode: "+", ToNode: "0", U: u},
		&circuit.DC{Name: "motor", FromNode: "+", ToNode: "0", Motor: plant.Motor{R: 1, L: 2e-3, K: 0.05}, Axis: 0}}})
	if err != nil {
		t.Fatal(err)
	}
	tr := train(t, Inertias{{Name: "rotor", J: 1e-4}, {Name: "load", J: 0.02, Pull: 1}}, []Part{c}, []Row{&Gear{Label: "gear", Twist: Twist{A: 0, B: 1, Ratio: 10}}})
	s, err := NewSystem(tr, []Input{{engine.Signal{Name: "voltage", Unit: "V"}, u}})
	if err != nil {
		t.Fatal(err)
	}
	l := s.Layout()
	var names []string
	for _, o := range l.Outputs {
		names = append(names, o.Name)
	}
	if got := strings.Join(names, " "); got != "rotor.position load.position rotor.velocity load.velocity motor.current gear.multiplier" {
		t.Error(got)
	}
	x, y := tr.NewState(), make([]float64, len(l.Outputs))
	for range 3000 {
		if st := s.Step(1e-3, x, []float64{12}, y); st != engine.OK {
			t.Fatal(st)
		}
	}
	// steady: the load asks 1 N·m, 0.1 N·m at the motor, 2 A; 12 V − 2 V = 0.05·w
	near(t, "current", y[4], 2, 1e-9)
	near(t, "speed", y[2], 200, 1e-6)
	near(t, "torque", y[5], 1, 1e-9)
	near(t, "clock", s.Time, 3, 1e-9)
	in := []float64{12}
	if a := testing.AllocsPerRun(50, func() { s.Step(1e-3, x, in, y) }); a != 0 {
		t.Errorf("%g allocations", a)
	}
	before := append([]float64(nil), x...)
	if st := s.Step(1e-3, x, []float64{math.NaN()}, y); st != engine.NonFinite {
		t.Error(st)
	}
	for k := range x {
		near(t, "state after a bad input", x[k], before[k], 0)
	}
	if _, err := NewSystem(tr, []Input{{Source: u}}); err == nil {
		t.Error("an input without a name was accepted")
	}
	if _, err := NewSystem(tr, []Input{{Signal: engine.Signal{Name: "a"}}}); err == nil {
		t.Error("an input without a source was accepted")
	}
}

// An armature that settles in a nanosecond is too stiff offline: the error names it. In fixed steps it is no trouble, and the same
// machine as one without inductance.
func TestStiffArmature(t *testing.T) {
	machine := func(l float64) *Train {
		c, err := circuit.Build(circuit.Spec{Axes: 1, Elements: []circuit.Element{
			&circuit.VoltageSource{Name: "supply", FromNode: "+", ToNode: "0", U: reference.Constant(12)},
			&circuit.DC{Name: "tiny", FromNode: "+", ToNode: "0", Motor: plant.Motor{R: 1, L: l, K: 0.05}}}})
		if err != nil {
			t.Fatal(err)
		}
		return train(t, Inertias{{Name: "rotor", J: 1e-4}}, []Part{c}, nil)
	}
	tr := machine(1e-9)
	x := tr.NewState()
	if _, err := tr.Integrate(x, 0, 1, Offline{MaxSteps: 2000}, nil); err == nil || !errors.Is(err, engine.ErrSteps) || !strings.Contains(err.Error(), "the winding tiny settles in L/R = 1e-09 s") {
		t.Error(err)
	}
	// w = U/K·(1 − e^{−t·K²/(R·J)})
	want := 12 / 0.05 * -math.Expm1(-0.05*0.05/1e-4*0.05)
	for _, l := range []float64{1e-9, 0} {
		tr := machine(l)
		x := tr.NewState()
		if _, st := tr.Run(x, 0, 1e-3, 50, nil); st != engine.OK {
			t.Fatal(st)
		}
		near(t, "speed", x[1], want, 2e-4*want)
	}
	if _, err := machine(0).Integrate(machine(0).NewState(), 0, 1, Offline{}, nil); err != nil {
		t.Error(err)
	}
}
