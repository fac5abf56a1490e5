package machine

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// A pendulum carries a small wheel about its own axis, whose damper takes it along within 10 ns: both swing as one body, by Runge and
// Kutta below. Explicit steps would be 30 ns long. The joint is named, and the energies add up.
func TestStiffJoint(t *testing.T) {
	const inertia, small, damping, mass, arm, end = 0.02, 1e-8, 1.0, 0.5, 0.2, 3.0
	turn := multibody.Joint{Kind: multibody.Revolute, Axis: r3.Vec{Z: 1}}
	wheel := turn
	wheel.Damping = damping
	m := build(t, Spec{Spec: multibody.Spec{
		Gravity: r3.Vec{Y: -9.81},
		Bodies: []multibody.Body{
			{Name: "arm", Joint: turn, Inertia: multibody.Inertia{Mass: mass, Com: r3.Vec{X: arm},
				I: rotation.Diag(r3.Vec{X: 1e-3, Y: inertia, Z: inertia})}},
			{Name: "wheel", Parent: "arm", Joint: wheel, Inertia: multibody.Inertia{Mass: 1e-5,
				I: rotation.Diag(r3.Vec{X: small, Y: small, Z: small})}},
		},
	}})
	x := m.NewState()
	copy(x, []float64{0.4, 0, 1, 0})
	// own: (J + m·a² + j)·φ″ = −m·g·a·cos φ
	at := [2]float64{0.4, 1}
	rate := func(y [2]float64) [2]float64 {
		return [2]float64{y[1], -mass * 9.81 * arm * math.Cos(y[0]) / (inertia + mass*arm*arm + small)}
	}
	const n = 30000
	follow := func(y [2]float64, h float64) [2]float64 {
		k := [4][2]float64{rate(y)}
		for i, c := range []float64{h / 2, h / 2, h} {
			k[i+1] = rate([2]float64{y[0] + c*k[i][0], y[1] + c*k[i][1]})
		}
		for i := range y {
			y[i] += h / 6 * (k[0][i] + 2*k[1][i] + 2*k[2][i] + k[3][i])
		}
		return y
	}
	worst, rows := 0.0, 0
	r, err := m.Run(context.Background(), x, 0, end, Options{SampleInterval: end / 100}, func(s *Sample) error {
		if rows > 0 {
			for range n / 100 {
				at = follow(at, end/n)
			}
		}
		rows++
		worst = max(worst, math.Abs(s.X[0]-at[0]), math.Abs(s.X[2]-at[1]))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	left := 0.0
	for _, e := range r.Audit.Lines {
		left += math.Abs(e.Residual())
	}
	t.Logf("%d steps, implicit from %.3g s, off by %.2g, energies by %.2g J: %s", r.Accepted, r.StiffFrom, worst, left, r.StiffReason)
	if rows != 101 || worst > 1e-7 || left > 1e-8 || r.Accepted > 10000 {
		t.Errorf("%d steps, %d rows, off by %.3g, energies by %.3g J", r.Accepted, rows, worst, left)
	}
	if !(r.StiffFrom > 0 && r.StiffFrom < 0.01) || !strings.Contains(r.StiffReason, `joint "wheel"`) ||
		!strings.Contains(r.StiffReason, "1e-08 s") {
		t.Errorf("implicit from %g s: %s", r.StiffFrom, r.StiffReason)
	}
}
