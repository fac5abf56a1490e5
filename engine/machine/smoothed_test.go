package machine

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/multibody"
	"hilrig/engine/reference"
)

// A joint under a torque that swings, with dry friction whose sign is smoothed over a speed that is passed in a small part of a step, goes
// as Runge and Kutta take it in steps a hundred times as short: with a Stribeck dip or without, turning through and resting in between.
func TestSmoothedFrictionIsFollowed(t *testing.T) {
	const inertia, omega, speed, damping, end = 1e-4, 30.0, 0.01, 1e-4, 1.0
	for _, c := range []struct {
		name   string
		law    friction.Model
		force  func(v float64) float64 // of sliding
		torque float64
	}{
		{"coulomb", &friction.Coulomb{Fc: 0.015}, func(float64) float64 { return 0.015 }, 0.05},
		{"rests", &friction.Coulomb{Fc: 0.04}, func(float64) float64 { return 0.04 }, 0.05},
		{"dip", &friction.Stribeck{Fc: 0.015, Fs: 0.02, Vs: 1, Delta: 2, Curve: friction.BoPavelescu},
			func(v float64) float64 { return 0.015 + 0.005*math.Exp(-v*v) }, 0.05},
	} {
		drive := func(t float64) float64 { return c.torque * (math.Cos(omega*t) + 0.3*math.Cos(2.3*omega*t)) }
		rate := func(t float64, y [2]float64) [2]float64 {
			return [2]float64{y[1], (drive(t) - damping*y[1] - c.force(y[1])*math.Tanh(y[1]/speed)) / inertia}
		}
		// truth at every millisecond
		var truth [][2]float64
		var y [2]float64
		const sub = 100
		for k := range int(end * 1e3) {
			truth = append(truth, y)
			for s := range sub {
				h, at := 1e-3/sub, float64(k)*1e-3+float64(s)*1e-3/sub
				step := func(k [2]float64, by float64) [2]float64 { return [2]float64{y[0] + by*k[0], y[1] + by*k[1]} }
				k1 := rate(at, y)
				k2 := rate(at+h/2, step(k1, h/2))
				k3 := rate(at+h/2, step(k2, h/2))
				k4 := rate(at+h, step(k3, h))
				for i := range y {
					y[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
				}
			}
		}
		spec := Spec{Spec: multibody.Spec{Bodies: []multibody.Body{{Name: "rotor",
			Joint: multibody.Joint{Kind: multibody.Revolute, Axis: r3.Vec{Z: 1}, Armature: inertia, Damping: damping}}}},
			Friction: []Friction{{Joint: "rotor", Law: c.law, Speed: speed}},
			Efforts: []Effort{{"rotor", reference.Multisine{Tones: []reference.Tone{{Amplitude: c.torque, Frequency: omega / (2 * math.Pi),
				Phase: math.Pi / 2}, {Amplitude: 0.3 * c.torque, Frequency: 2.3 * omega / (2 * math.Pi), Phase: math.Pi / 2}}}}}}
		var off [2]float64
		var s *Stepper
		var x []float64
		for i, steps := range []int{1, 4} {
			var err error
			if s, err = NewStepper(spec, StepOptions{Audited: true}); err != nil {
				t.Fatal(err)
			}
			x = s.NewState()
			if _, err := s.Begin(0, x, multibody.Assembly{}); err != nil {
				t.Fatal(err)
			}
			for k, want := range truth {
				off[i] = max(off[i], math.Abs(x[0]-want[0]))
				for part := range steps {
					h := 1e-3 / float64(steps)
					if st := s.Step(float64(k)*1e-3+float64(part)*h, h, x); st != engine.OK {
						t.Fatalf("%s: %v: %s", c.name, st, s.StatusText())
					}
				}
			}
			s.Forces(end, 0, x)
			if miss := math.Abs(s.BalanceError()); miss > 1e-2*s.Loss {
				t.Errorf("%s: %d steps: %.2g of %.2g J are not accounted for", c.name, steps, miss, s.Loss)
			}
		}
		if n := testing.AllocsPerRun(10, func() { s.Step(0, 1e-3, x) }); n > 0 {
			t.Errorf("%s: a step allocates %g times", c.name, n)
		}
		t.Logf("%s: off by %.2g rad at 1 ms, %.2g at 0.25 ms", c.name, off[0], off[1])
		if off[0] > 5e-4 || off[1] > 2.5e-5 {
			t.Errorf("%s: off by %.2g rad at 1 ms, %.2g at 0.25 ms", c.name, off[0], off[1])
		}
	}
}
