package configs

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
)

// endOf is the state of a machine file at a time, by the integrator of adaptive steps.
func endOf(t *testing.T, c *MachineRun, end float64) []float64 {
	t.Helper()
	m, x, _, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(context.Background(), x, 0, end, machine.Options{Rtol: 1e-11, Atol: 1e-13}, nil); err != nil {
		t.Fatal(err)
	}
	return x
}

// stepped is the same by n fixed steps, and the stepper.
func stepped(t *testing.T, c *MachineRun, end float64, n int) ([]float64, *machine.Stepper) {
	t.Helper()
	s, x, err := c.Stepper(machine.StepOptions{Audited: true})
	if err != nil {
		t.Fatal(err)
	}
	h := end / float64(n)
	for k := range n {
		if st := s.Step(float64(k)*h, h, x); st != engine.OK {
			t.Fatalf("step %d: %v: %s", k, st, s.StatusText())
		}
		if st := s.Forces(float64(k+1)*h, h, x); st != multibody.OK {
			t.Fatalf("step %d: %v", k, st)
		}
		if gap, _ := s.M.Data.Residual(); gap > 1e-10 {
			t.Fatalf("step %d: the constraints are missed by %.3g", k, gap)
		}
	}
	return x, s
}

// Every example goes at 1 ms and 0.1 ms where the integrator of adaptive steps goes, by order two. The squeezer turns 0.7 rad in a step of
// 1 ms at its end, which no scheme of order two follows.
func TestMachineExamplesStep(t *testing.T) {
	files, err := filepath.Glob("machine/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		c, _, err := LoadMachine(f)
		if err != nil {
			t.Fatal(err)
		}
		end := math.Min(c.Duration, 0.5)
		want := endOf(t, c, end)
		off := func(n int) (e float64, miss float64) {
			x, s := stepped(t, c, end, n)
			for i := range x {
				e = math.Max(e, math.Abs(x[i]-want[i])/(1+math.Abs(want[i])))
			}
			return e, s.BalanceError() / (math.Abs(s.Input) + math.Abs(s.StoredEnergy))
		}
		n := int(math.Round(end * 1e3))
		if strings.HasSuffix(f, "servo.yaml") {
			n *= 10 // its steps are cut where it samples, every 100 µs
		}
		if strings.HasSuffix(f, "relay.yaml") {
			n *= 20 // its seat is resolved by steps below √(m/k)/10
		}
		coarse, m1 := off(n)
		fine, m2 := off(10 * n)
		limit, known := map[string]float64{"crank-rocker": 4e-3, "driven-four-bar": 4e-3, "double-pendulum": 3e-5, "four-bar": 3e-6,
			"motor-gear-load": 4e-4, "drive-guess": 4e-4, "slider-crank": 1e-11, "squeezer": 30, "top": 0.04, "two-link-arm": 3e-5, "arm": 3e-5,
			"relay": 1e-4, "servo": 4e-6, "elastic-arm": 4e-3}[strings.TrimSuffix(filepath.Base(f), ".yaml")]
		switch {
		case !known:
			t.Errorf("%s: no limit of its error is known: add one", f)
		case coarse > limit || fine > max(limit/50, 1e-11):
			t.Errorf("%s: error %.3g at 1 ms and %.3g at 0.1 ms, want %.3g and a fiftieth of it", f, coarse, fine, limit)
		case math.Abs(m2) > 2e-5 && limit < 1 || math.Abs(m2) > math.Abs(m1)/30 && math.Abs(m2) > 1e-7:
			t.Errorf("%s: energy missed %.3g at 1 ms, %.3g at 0.1 ms", f, m1, m2)
		}
		t.Logf("%s: error %.3g at 1 ms, %.3g at 0.1 ms; energy missed %.3g, %.3g", f, coarse, fine, m1, m2)
	}
}

// A machine that is to start in its equilibrium does so with fixed steps too: a pendulum of 1 kg at 0.5 m on a spring of 20 N·m/rad, where
// 20·q = 0.5·9.81·cos q.
func TestStepperStartsInEquilibrium(t *testing.T) {
	c, _, err := MachineBytes("m.yaml", []byte(`{version: 1, name: m, duration: 1 s, start: {equilibrium: true}, machine: {gravity: [0, 9.81, 0], bodies: {
  arm: {parent: ground, joint: {kind: revolute, stiffness: 20 N·m/rad}, mass: 1 kg, com: [0.5, 0, 0], inertia_z: 0.1}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s, x, err := c.Stepper(machine.StepOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 100 {
		if st := s.Step(float64(k)*1e-3, 1e-3, x); st != engine.OK {
			t.Fatal(s.StatusText())
		}
	}
	if off := 20*x[0] - 0.5*9.81*math.Cos(x[0]); math.Abs(off) > 1e-6 || math.Abs(x[1]) > 1e-6 {
		t.Errorf("at %.9g rad, %.3g rad/s the torques differ by %.3g N·m", x[0], x[1], off)
	}
}

func BenchmarkMachineStep(b *testing.B) {
	files, err := filepath.Glob("machine/*.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		c, _, err := LoadMachine(f)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Base(f), func(b *testing.B) {
			s, x, err := c.Stepper(machine.StepOptions{})
			if err != nil {
				b.Fatal(err)
			}
			const h = 1e-4
			start := append([]float64(nil), x...)
			b.ReportAllocs()
			t := 0.0
			for b.Loop() {
				if s.Step(t, h, x) != engine.OK {
					b.Fatal(s.StatusText())
				}
				if t += h; t > 0.02 {
					copy(x, start)
					t = 0
				}
			}
		})
	}
}
