package linkage

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
	"hilrig/engine/plant"
	"hilrig/engine/rotation"
)

var links = plant.TwoLink{Mass: [2]float64{1.3, 0.8}, Length: 0.4, Centre: [2]float64{0.18, 0.15}, Inertia: [2]float64{0.02, 0.009},
	Gravity: 9.81}

const rotor1, rotor2 = 0.01, 0.004 // kg·m²

// arm is the arm of links as a machine; it hangs at 0.
func arm() machine.Spec {
	link := func(k int, name, parent string, place multibody.Pose, rotor float64) multibody.Body {
		i := links.Inertia[k]
		return multibody.Body{Name: name, Parent: parent, Place: place, Joint: multibody.Joint{Kind: multibody.Revolute, Armature: rotor},
			Inertia: multibody.Inertia{Mass: links.Mass[k], Com: r3.Vec{Y: -links.Centre[k]}, I: rotation.Diag(r3.Vec{X: i / 2, Y: i / 2, Z: i})}}
	}
	return machine.Spec{Spec: multibody.Spec{Gravity: r3.Vec{Y: -9.81}, Bodies: []multibody.Body{
		link(0, "shoulder", "", multibody.Pose{}, rotor1), link(1, "elbow", "shoulder", multibody.At(0, -links.Length, 0), rotor2),
	}}}
}

// by makes the stepper of a machine that starts at zero.
func by(s machine.Spec) func(machine.StepOptions) (*machine.Stepper, []float64, error) {
	return func(o machine.StepOptions) (*machine.Stepper, []float64, error) {
		m, err := machine.NewStepper(s, o)
		if err != nil {
			return nil, nil, err
		}
		x := m.NewState()
		_, err = m.Begin(0, x, multibody.Assembly{})
		return m, x, err
	}
}

// axes are those of the arm with a friction law and a drive.
func axes(law func(level float64) friction.Model, drive plant.Drive) []plant.AxisSpec {
	one := func(name string, rotor, level, k float64, stops plant.Stops) plant.AxisSpec {
		return plant.AxisSpec{Name: name, Drive: drive, Motor: plant.Motor{R: 1, L: 2e-3, K: k, J: rotor}, Friction: law(level), Stops: stops,
			Supply: [2]float64{-48, 48}, Cogging: 0.02, CoggingN: 7, LoadTorque: 0.03}
	}
	return []plant.AxisSpec{one("shoulder", rotor1, 0.4, 0.8, plant.Stops{Travel: [2]float64{-0.5, 0.4}, Stiffness: 3e3, Loss: 0.1}),
		one("elbow", rotor2, 0.2, 0.3, plant.Stops{})}
}

// The arm as a machine moves as the arm in closed form, under friction of every kind and every drive, stops and cogging: to what the steps
// of both are solved to with laws that do not stick. In a step in which a joint comes to rest the other one feels its mean force here and
// its mean acceleration there: with a law that sticks the two differ by the first power of the step.
func TestArmIsTheArm(t *testing.T) {
	laws := map[string]func(level float64) friction.Model{
		"viscous": func(l float64) friction.Model { return &friction.Viscous{Delta: 1, Fv: l} },
		"coulomb": func(l float64) friction.Model { return &friction.Coulomb{Fc: l} },
		"lugre": func(l float64) friction.Model {
			return &friction.LuGre{Sigma0: 400, Sigma1: 2, Sigma2: 0.05, Fc: l, Fs: 1.4 * l, Vs: 0.1, Vd: 0.1}
		},
	}
	drives := map[string]plant.Drive{
		"voltage": {}, "current": {Kind: plant.CurrentDrive, Bandwidth: 2000}, "velocity": {Kind: plant.VelocityDrive, Kp: 2, Ki: 10, Limit: 6},
	}
	for law, of := range laws {
		for drive, d := range drives {
			coarse, fine := apart(t, of, d, 1e-3), [plant.Outputs]float64{}
			t.Logf("%s, %s: differ by %.2g rad, %.2g rad/s, %.2g A, %.2g N·m", law, drive, coarse[0], coarse[1], coarse[2], coarse[3])
			if law == "coulomb" {
				fine = apart(t, of, d, 1e-4)
				t.Logf("at 0.1 ms: %.2g rad, %.2g rad/s", fine[0], fine[1])
				if coarse[plant.OutPosition] > 5e-4 || fine[plant.OutPosition] > coarse[plant.OutPosition]/5 {
					t.Errorf("%s, %s: positions differ by %.3g rad at 1 ms, %.3g rad at 0.1 ms", law, drive, coarse[0], fine[0])
				}
			} else if coarse[plant.OutPosition] > 2e-7 || coarse[plant.OutVelocity] > 1e-5 {
				t.Errorf("%s, %s: positions differ by %.3g rad, speeds by %.3g rad/s", law, drive, coarse[0], coarse[1])
			}
		}
	}
}

// apart is how far the outputs of both arms differ at most, in steps of h (s).
func apart(t *testing.T, law func(level float64) friction.Model, d plant.Drive, h float64) (worst [plant.Outputs]float64) {
	t.Helper()
	closed, err := plant.New(plant.Spec{Kind: "two-link", Axes: axes(law, d), TwoLink: links})
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(Spec{Stepper: by(arm()), Axes: axes(law, d)})
	if err != nil {
		t.Fatal(err)
	}
	x, y := closed.NewState(), m.NewState()
	a, b := [2 * plant.Outputs]float64{}, [2 * plant.Outputs]float64{}
	for k := range int(1.5 / h) {
		at := h * math.Floor(float64(k)*h*1e3) * 1e-3 / h // commands change each ms
		u := []float64{9 * math.Sin(5*at), 1, 4 * math.Sin(9*at), 1}
		if d.Kind == plant.VelocityDrive {
			u[0], u[2] = u[0]/6, u[2]/2
		}
		if at > 1.2 {
			u[1], u[3] = 0, 0
		}
		s1, s2 := closed.Step(h, x, u, a[:]), m.Step(h, y, u, b[:])
		if s1 == engine.NonFinite || s2 != engine.OK {
			t.Fatalf("step %d: %v and %v %s", k, s1, s2, m.StatusText())
		}
		for i := range a {
			worst[i%plant.Outputs] = math.Max(worst[i%plant.Outputs], math.Abs(a[i]-b[i]))
		}
	}
	return worst
}
