package models_test

import (
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/plant/manipulator"
	"hilrig/hil"
	"hilrig/hil/models"
)

func chain(t testing.TB, outputs ...string) *models.Chain {
	t.Helper()
	m, err := manipulator.New(manipulator.Paper(1))
	if err != nil {
		t.Fatal(err)
	}
	c, err := models.NewChain(&models.ChainSpec{Model: m, Joints: []models.ChainJoint{{Joint: 0, Ratio: 2, Offset: -2}}, Outputs: outputs})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A chain that an axis leads along the drive of the example goes where another program says, down to the moment at which its tip leaves the
// beam. It waits there until the drive is switched on.
func TestChainFollowsItsAxis(t *testing.T) {
	c := chain(t, "q2", "q3", "q4", "tip", "lambda", "w5", "tau1")
	for i, want := range []string{"status", "q2", "q3", "q4", "tip.x", "tip.y", "lambda", "w5", "tau1"} {
		if got := c.Signals()[i].Name; got != want {
			t.Errorf("signal %d is %s, want %s", i, got, want)
		}
	}
	const dt = 1e-3
	drive := manipulator.Drive{Start: -2 * math.Pi / 3, Rate: 1, Ramp: 0.1}
	in := hil.ModelInput{Dt: dt, Axes: []hil.Motion{{Energised: true}}}
	y := make([]float64, len(c.Signals()))
	at := func(s float64) engine.Status {
		q, v, a := drive.At(s)
		m := &in.Axes[0]
		m.Position, m.Velocity, m.Acceleration = (q+2)/2, v/2, a/2
		st, _ := c.Step(&in, y)
		return st
	}
	for i := range 1500 {
		if at(0); y[0] != models.MachineOK && i > 1000 || y[0] != models.MachinePlaced && i < 900 {
			t.Fatalf("tick %d: status %g", i, y[0])
		}
	}
	near := func(s float64, k int, want, within float64) {
		t.Helper()
		if math.Abs(y[k]-want) > within {
			t.Errorf("at %g s %s is %.8g, want %.8g", s, c.Signals()[k].Name, y[k], want)
		}
	}
	// theory of this program, 2.4: SciPy
	near(0, 1, -0.0536274, 1e-6)
	near(0, 6, 0.7528, 1e-3)
	near(0, 8, 0.3273, 1e-3)
	for i := 1; i <= 1500; i++ {
		s := float64(i) * dt
		st := at(s)
		switch i {
		case 500:
			near(s, 1, -0.4160963, 2e-6)
			near(s, 2, 0.1992457, 2e-6)
			near(s, 3, -0.3232457, 2e-6)
			near(s, 4, 0.1663302, 2e-6)
			near(s, 6, 3.2354, 1e-3)
			near(s, 7, -0.0019677, 1e-6)
			near(s, 8, 2.0566, 1e-3)
		case 1000:
			near(s, 1, -0.2957798, 2e-6)
			near(s, 6, -2.3912, 2e-3)
			near(s, 8, 1.3967, 1e-3)
		case 1231:
			if y[0] != models.MachineOK {
				t.Errorf("at %g s: status %g", s, y[0])
			}
		}
		if s > 1.2318 && (y[0] != models.MachineLeft || st != engine.OK || math.Abs(y[4]-1) > 1e-6) {
			t.Fatalf("at %g s: status %g, tip at %g m", s, y[0], y[4])
		}
	}
	in.Axes[0].Energised = false
	if at(0); y[0] != models.MachineLeft {
		t.Errorf("status %g while nothing drives", y[0])
	}
	in.Axes[0].Energised = true
	if at(0); y[0] != models.MachinePlaced {
		t.Errorf("status %g when it begins anew", y[0])
	}
	for range 1500 {
		at(0)
	}
	near(0, 6, 0.7528, 1e-3)
	if n := testing.AllocsPerRun(50, func() { at(0) }); n != 0 {
		t.Errorf("%g allocations in a tick", n)
	}
	in.Axes[0].Velocity = math.NaN()
	if st, _ := c.Step(&in, y); st != engine.NonFinite || y[0] != models.MachineNonFinite || y[6]-y[6] != 0 {
		t.Errorf("%v, status %g", st, y[0])
	}
}

func TestChainRefuses(t *testing.T) {
	m, err := manipulator.New(manipulator.Paper(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec models.ChainSpec
		want string
	}{
		{models.ChainSpec{Joints: []models.ChainJoint{{Joint: 1, Ratio: 1}}}, "joint 2 is not driven"},
		{models.ChainSpec{Joints: []models.ChainJoint{{Joint: 0}}}, "ratio 0"},
		{models.ChainSpec{Outputs: []string{"lamda"}}, `did you mean "lambda"`},
	} {
		c.spec.Model = m
		if _, err := models.NewChain(&c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// BenchmarkChain is a tick of the example with 18 coordinates of the beam.
func BenchmarkChain(b *testing.B) {
	c := chain(b)
	in := hil.ModelInput{Dt: 1e-3, Axes: []hil.Motion{{Position: 0.1}}}
	y := make([]float64, len(c.Signals()))
	b.ReportAllocs()
	for b.Loop() {
		c.Step(&in, y)
	}
}
