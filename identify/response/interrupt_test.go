package response

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
	"hilrig/identify/fit"
)

// rotor is a fit of inertia and damping to a record of a closed form, which tells of every machine that is built.
func rotor(built func()) (Spec, Recording) {
	const n, dt, J, b = 400, 1e-3, rotorInertia, 2e-3
	rec := Recording{Dt: dt, Inputs: [][]float64{make([]float64, n)}, Outputs: [][]float64{make([]float64, n)}}
	q, v := 0.0, 0.0
	for k := range n { // J·dv/dt = u − b·v, u held
		u := math.Copysign(0.05, math.Sin(0.1*float64(k)))
		rec.Inputs[0][k], rec.Outputs[0][k] = u, q+1e-4*math.Sin(7.3*float64(k*k))
		e := -math.Expm1(-b / J * dt)
		q += u/b*dt + (v-u/b)*e*J/b
		v += (u/b - v) * e
	}
	return Spec{Params: []fit.Param{{Param: engine.Param{Name: "J", Value: 2e-3, Lo: 1e-4, Hi: 1e-2}},
		{Param: engine.Param{Name: "b", Value: 1e-3, Lo: 1e-4, Hi: 1e-2}}}, Inputs: []string{"u"},
		Outputs: []Output{{Name: "rotor.q", Unit: "rad"}}, StartJoints: []string{"rotor"}, Workers: 1,
		Build: func(theta []float64) (*Machine, error) {
			built()
			u := &circuit.Held{}
			s, err := machine.NewStepper(machine.Spec{Spec: multibody.Spec{Bodies: []multibody.Body{{Name: "rotor",
				Joint: multibody.Joint{Kind: multibody.Revolute, Axis: r3.Vec{Z: 1}, Armature: theta[0], Damping: theta[1]}}}},
				Efforts: []machine.Effort{{Joint: "rotor", Generator: u}}}, machine.StepOptions{TorqueJoints: []string{"rotor"}})
			if err != nil {
				return nil, err
			}
			return &Machine{Step: s, Start: s.NewState(), Joints: []Joint{{"rotor", true}}, Inputs: []*circuit.Held{u}}, nil
		}}, rec
}

const rotorInertia = 1e-3

// A fit whose context ends simulates nothing more, wherever it is: in the first descents, in the middle of a derivative, and while it looks
// for what the machine lacks.
func TestInterruptEndsAtOnce(t *testing.T) {
	for after := 1; ; after += 1 + after/2 {
		ctx, cancel := context.WithCancel(t.Context())
		builds := 0
		spec, rec := rotor(func() {
			if builds++; builds == after {
				cancel()
			}
		})
		r, err := Fit(ctx, spec, []Recording{rec}, nil)
		if cancel(); builds < after {
			if err != nil || math.Abs(r.Solution.Params[0].Value/rotorInertia-1) > 0.01 {
				t.Errorf("to the end: %v", err)
			}
			return
		}
		if !errors.Is(err, context.Canceled) || r != nil || builds > after+1 {
			t.Errorf("ended at machine %d: %d more are built, %v", after, builds-after, err)
		}
	}
}
