package machine

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// mu is a law whose level is the coefficient µ.
func mu(x float64) friction.Model { return &friction.Coulomb{Fc: x} }

// both is the state at end (s) by Run and by n fixed steps.
func both(t *testing.T, s Spec, start func(x []float64), end float64, n int) (offline, fixed []float64) {
	t.Helper()
	m := build(t, s)
	offline = m.NewState()
	start(offline)
	if _, err := m.Assemble(0, offline, multibody.Assembly{}); err != nil {
		t.Fatal(err)
	}
	r, err := m.Run(context.Background(), offline, 0, end, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Audit.Check(1e-9); err != nil {
		t.Error(err)
	}
	st := newStepper(t, s, StepOptions{Audited: true})
	x := st.NewState()
	start(x)
	return offline, follow(t, st, x, end, n)
}

// A block on an incline is held up to µ = tan α, and slides with g·(sin α − µ·cos α) below.
func TestIncline(t *testing.T) {
	const alpha, g, end = 0.3, 9.81, 1.0
	for _, c := range []struct{ mu, a float64 }{
		{math.Tan(alpha) * 1.001, 0}, {math.Tan(alpha) * 0.999, 1e-3 * g * math.Sin(alpha)}, {0.1, g * (math.Sin(alpha) - 0.1*math.Cos(alpha))},
	} {
		off, fixed := both(t, Spec{
			Spec: multibody.Spec{Gravity: r3.Vec{Y: -g}, Bodies: []multibody.Body{{
				Name: "block", Joint: multibody.Joint{Kind: multibody.Prismatic, Axis: r3.Vec{X: -math.Cos(alpha), Y: -math.Sin(alpha)}},
				Inertia: multibody.Inertia{Mass: 2},
			}}},
			Friction: []Friction{{Joint: "block", Law: mu(c.mu), Lever: 1}},
		}, func([]float64) {}, end, 100)
		want := c.a * end * end / 2
		if math.Abs(off[0]-want) > 1e-9 || math.Abs(fixed[0]-want) > 1e-9 || c.a == 0 && (off[0] != 0 || fixed[0] != 0) {
			t.Errorf("µ = %g: %.12g m and with fixed steps %.12g m, want %.12g m", c.mu, off[0], fixed[0], want)
		}
	}
}

// An arm that turns without weight in a journal bearing presses it by the force that keeps its centre on the circle and by that which slows
// it down: J·α = −µ·r·m·ρ·√(ω⁴ + α²), so α = −c·ω² with c = k/√(1 − k²), k = µ·r·m·ρ/J, and ω = ω₀/(1
// + c·ω₀·t). The axis stands as it likes.
func TestJournal(t *testing.T) {
	const m, rho, j, r, omega, end = 1.5, 0.4, 0.3, 0.05, 20.0, 2.0
	arm := func(coefficient, speed float64) Spec {
		inertia := j - m*rho*rho
		return Spec{
			Spec: multibody.Spec{Bodies: []multibody.Body{{
				Name: "arm", Place: multibody.Pose{R: rotation.Exp(r3.Vec{X: 0.4, Y: 1})}, Joint: multibody.Joint{Kind: multibody.Revolute},
				Inertia: multibody.Inertia{Mass: m, Com: r3.Vec{X: rho}, I: rotation.Diag(r3.Vec{X: inertia / 2, Y: inertia / 2, Z: inertia})},
			}}},
			Friction: []Friction{{Joint: "arm", Law: mu(coefficient), Lever: r, Speed: speed}},
		}
	}
	const coefficient = 0.6
	k := coefficient * r * m * rho / j
	c := k / math.Sqrt(1-k*k)
	want := omega / (1 + c*omega*end)
	off, fixed := both(t, arm(coefficient, 0), func(x []float64) { x[1] = omega }, end, 2000)
	_, coarse := both(t, arm(coefficient, 0), func(x []float64) { x[1] = omega }, end, 200)
	e, e10 := math.Abs(fixed[1]/want-1), math.Abs(coarse[1]/want-1)
	t.Logf("error %.2g, with steps of 10 ms %.2g, of 1 ms %.2g", off[1]/want-1, e10, e)
	if math.Abs(off[1]/want-1) > 1e-8 || e > 1e-5 || e > e10/50 {
		t.Errorf("speed %.12g and with fixed steps %.12g rad/s, want %.12g rad/s", off[1], fixed[1], want)
	}
	if off, _ := both(t, arm(coefficient, 1e-3), func(x []float64) { x[1] = omega }, end, 2000); math.Abs(off[1]/want-1) > 1e-8 {
		t.Errorf("speed %.12g with a smoothed sign, want %.12g", off[1], want)
	}

	// with k ≥ 1 no force is enough
	jam := coefficient / k * 1.01
	a := build(t, arm(jam, 0))
	x := a.NewState()
	x[1] = omega
	if _, err := a.Run(context.Background(), x, 0, end, Options{}, nil); err == nil || !strings.Contains(err.Error(), "jammed") {
		t.Errorf("jammed: %v", err)
	}
	s := newStepper(t, arm(jam, 0), StepOptions{})
	x = s.NewState()
	x[1] = omega
	if _, err := s.Begin(0, x, multibody.Assembly{}); err != nil {
		t.Fatal(err)
	}
	if st := s.Step(0, 1e-3, x); st != engine.NotConverged || !finite(x) {
		t.Errorf("jammed: %v, %v: %s", st, x, s.StatusText())
	}
}

// A law of bristles under load has the friction of the same law with its numbers for that load.
func TestBristlesUnderLoad(t *testing.T) {
	const m, g, nominal, end = 2.0, 9.81, 10.0, 0.4
	block := func(law friction.Model, lever float64) Spec {
		return Spec{
			Spec: multibody.Spec{Gravity: r3.Vec{Z: -g}, Bodies: []multibody.Body{{
				Name: "block", Joint: multibody.Joint{Kind: multibody.Prismatic, Axis: r3.Vec{X: 1}}, Inertia: multibody.Inertia{Mass: m},
			}}},
			Friction: []Friction{{Joint: "block", Law: law, Lever: lever}},
		}
	}
	start := func(x []float64) { x[1] = 1 }
	k := m * g / nominal
	loaded, loadedFixed := both(t, block(&friction.Dahl{Sigma0: 1e4, Fc: 3, Exponent: 1}, 1/nominal), start, end, 400)
	want, wantFixed := both(t, block(&friction.Dahl{Sigma0: 1e4 * k, Fc: 3 * k, Exponent: 1}, 0), start, end, 400)
	for i := range want {
		if math.Abs(loaded[i]-want[i]) > 1e-8 || math.Abs(loadedFixed[i]-wantFixed[i]) > 1e-8 {
			t.Errorf("state %d: %.12g and with fixed steps %.12g, want %.12g and %.12g", i, loaded[i], loadedFixed[i], want[i], wantFixed[i])
		}
	}
}
