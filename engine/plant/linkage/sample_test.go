package linkage

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/circuit/drivetrain"
	"hilrig/engine/circuit/servo"
	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// A controller of the machine holds the elbow while the rig drives the shoulder. It samples at instants of its own, at which the steps of
// the plant are cut. Between samples of the command, which a step holds, it does what smaller steps do; nothing is allocated.
func TestPlantWithController(t *testing.T) {
	s := arm()
	s.Parts = func(axis func(string) (int, error), axes int) ([]drivetrain.Part, error) {
		p, err := servo.New("hold", nil, axes, []servo.Controller{{Name: "hold", SamplePeriod: 2.5e-3,
			PID: control.PID{Kp: 20, Ki: 50, Kd: 1, Limit: 6},
			Channels: []servo.Channel{{Measured: servo.Measured{Quantity: servo.Position, Axis: 1},
				Reference: reference.Sine{Tone: reference.Tone{Amplitude: 0.3, Frequency: 1}}, To: servo.Target{Axis: 1}}}}})
		return []drivetrain.Part{p}, err
	}
	end := func(n int) []float64 {
		p, err := New(Spec{Stepper: by(s), Axes: []plant.AxisSpec{{Name: "shoulder", Drive: plant.Drive{Kind: plant.EffortDrive, Limit: 10},
			Friction: &friction.Viscous{Delta: 1, Fv: 0.2}}}})
		if err != nil {
			t.Fatal(err)
		}
		x, y, h := p.NewState(), make([]float64, len(p.Layout().Outputs)), 0.4/float64(n)
		step := func() {
			if st := p.Step(h, x, []float64{2 * math.Sin(5*x[len(x)-1]), 1}, y); st != engine.OK {
				t.Fatal(st, p.StatusText())
			}
		}
		for range n - 10 {
			step()
		}
		if a := testing.AllocsPerRun(9, step); a > 0 {
			t.Errorf("%g allocations", a)
		}
		if at := x[len(x)-1]; math.Abs(at-0.4) > 1e-12 {
			t.Errorf("the clock is at %.15g s", at)
		}
		return x[:4]
	}
	want := end(16000)
	off := func(n int) (worst float64) {
		for i, x := range end(n) {
			worst = math.Max(worst, math.Abs(x-want[i]))
		}
		return worst
	}
	coarse, fine := off(100), off(400) // 4 ms and 1 ms
	if !(coarse < 0.05) || !(fine < coarse/2) {
		t.Errorf("error %.3g at 4 ms, %.3g at 1 ms", coarse, fine)
	}
	t.Logf("error %.3g at 4 ms, %.3g at 1 ms", coarse, fine)
}
