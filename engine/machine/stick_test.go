package machine

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/friction"
	"hilrig/engine/multibody"
	"hilrig/engine/reference"
)

// A mass on a spring with Coulomb friction: every half swing is a cosine about ±Fc/k, so it turns at 1 − 2k·Fc/c, and stays where the
// spring holds it no more; there it sticks without creeping.
func TestDrySpring(t *testing.T) {
	const m, k, fc = 2.0, 200.0, 14.0
	s := Spec{
		Spec: multibody.Spec{Bodies: []multibody.Body{{Name: "b",
			Joint: multibody.Joint{Kind: multibody.Prismatic, Axis: r3.Vec{X: 1}, Stiffness: k}, Inertia: multibody.Inertia{Mass: m}}}},
		Friction: []Friction{{Joint: "b", Law: &friction.Coulomb{Fc: fc}}},
	}
	a := build(t, s)
	x := a.NewState()
	x[0] = 1
	// turning points 1, −0.86, 0.72 … until |x| ≤ 0.07
	want, halves := 1.0, 0
	for math.Abs(want) > fc/k {
		want = -math.Copysign(math.Abs(want)-2*fc/k, want)
		halves++
	}
	end := math.Pi * math.Sqrt(m/k) * float64(halves)
	at := 0.0
	r, err := a.Run(context.Background(), x, 0, end+5, Options{SampleInterval: 0.01}, func(s *Sample) error {
		if s.X[1] != 0 {
			at = s.T
		} else if s.T > end && s.X[0] != x[0] && math.Abs(s.X[0]-want) > 1e-8 {
			t.Fatalf("t = %g s: at %.12g m, want %.12g m", s.T, s.X[0], want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(x[0]-want) > 1e-8 || x[1] != 0 || at > end || at < end-0.011 {
		t.Errorf("it comes to rest at %.12g m after %g s, want %.12g m and %g s; speed %g", x[0], at, want, end, x[1])
	}
	if err := r.Audit.Check(1e-9); err != nil {
		t.Error(err)
	}
}

// A rotor at rest under a rising torque breaks away at its static level and slips under the lower one; in reverse order it comes to rest.
func TestBreakAway(t *testing.T) {
	const j, fs, fc, rate = 0.02, 0.5, 0.3, 0.4
	s := Spec{
		Spec:     multibody.Spec{Bodies: []multibody.Body{{Name: "b", Joint: multibody.Joint{Kind: multibody.Revolute, Armature: j}}}},
		Friction: []Friction{{Joint: "b", Law: &friction.StaticCoulombViscous{Fc: fc, Fs: fs, Delta: 1}}},
		Efforts:  []Effort{{Joint: "b", Generator: reference.Ramp{Velocity: rate}}},
	}
	m := build(t, s)
	x := m.NewState()
	x[1] = -2
	// it slows down: J·v′ = fc + rate·t, −2·J + fc·t + rate·t²/2 = 0
	stop := (-fc + math.Sqrt(fc*fc+2*rate*2*j)) / rate
	away := fs / rate
	const end = 2.0
	first, second := 0.0, 0.0
	r, err := m.Run(context.Background(), x, 0, end, Options{SampleInterval: 1e-3}, func(s *Sample) error {
		if s.X[1] < 0 {
			first = s.T
		} else if s.X[1] == 0 {
			second = s.T
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if first > stop || first < stop-1e-3 || second > away || second < away-1e-3 {
		t.Errorf("rest from %g to %g s, want %g to %g s", first, second, stop, away)
	}
	want := ((rate*end*end/2 - fc*end) - (rate*away*away/2 - fc*away)) / j
	if math.Abs(x[1]-want) > 1e-8 || r.Turns != 2 {
		t.Errorf("speed %.12g, want %.12g; %d turns", x[1], want, r.Turns)
	}
	if err := r.Audit.Check(1e-9); err != nil {
		t.Error(err)
	}
}

// With numbers of its own backward a joint breaks away at the level of the direction it goes.
func TestDryByDirection(t *testing.T) {
	law, err := friction.NewTwoSided(&friction.Coulomb{Fc: 0.5}, &friction.Coulomb{Fc: 0.2}, "Fc")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ rate, level float64 }{{1, 0.5}, {-1, 0.2}} {
		m := build(t, Spec{
			Spec:     multibody.Spec{Bodies: []multibody.Body{{Name: "b", Joint: multibody.Joint{Kind: multibody.Revolute, Armature: 0.1}}}},
			Friction: []Friction{{Joint: "b", Law: law}},
			Efforts:  []Effort{{Joint: "b", Generator: reference.Ramp{Velocity: c.rate}}},
		})
		x := m.NewState()
		if _, err := m.Run(context.Background(), x, 0, 1, Options{}, nil); err != nil {
			t.Fatal(err)
		}
		if want := c.rate * (1 - c.level) * (1 - c.level) / 2 / 0.1; math.Abs(x[1]-want) > 1e-9 {
			t.Errorf("rate %g: speed %.10g, want %.10g", c.rate, x[1], want)
		}
	}
}

// A crank turns against dry friction in every joint of a slider-crank. In its dead points the slider comes to rest and cannot be held: it
// goes on. At constant speed of the crank the work of each turn is known.
func TestDeadPoints(t *testing.T) {
	rod := multibody.Inertia{Mass: 0.4, Com: r3.Vec{X: 0.15}, I: brick.I}
	s := Spec{
		Spec: multibody.Spec{
			Bodies: []multibody.Body{
				{Name: "crank", Joint: multibody.Joint{Kind: multibody.Revolute, Armature: 5}},
				{Name: "rod", Parent: "crank", Place: multibody.At(0.1, 0, 0), Joint: multibody.Joint{Kind: multibody.Revolute}, Inertia: rod},
				{Name: "slide", Joint: multibody.Joint{Kind: multibody.Prismatic, Axis: r3.Vec{X: 1}}, Inertia: multibody.Inertia{Mass: 1}},
			},
			Frames: []multibody.Frame{{Name: "tip", Body: "rod", Pose: multibody.At(0.3, 0, 0)}},
			Cuts:   []multibody.Cut{{Name: "pin", Kind: multibody.CutPoint, A: "tip", B: "slide"}},
		},
		Friction: []Friction{{Joint: "crank", Law: &friction.Coulomb{Fc: 1}}, {Joint: "slide", Law: &friction.Coulomb{Fc: 4}}},
	}
	m := build(t, s)
	x := m.NewState()
	copy(x, []float64{0.5, -0.66, 0.38})
	x[3] = 10
	if _, err := m.Assemble(0, x, multibody.Assembly{Hold: []string{"crank"}}); err != nil {
		t.Fatal(err)
	}
	begin := append([]float64(nil), x...)
	r, err := m.Run(context.Background(), x, 0, 3, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Audit.Check(1e-9); err != nil {
		t.Error(err)
	}
	// the crank loses 1 N·m times its way, the slide 4 N times its: 0.4 m a turn between its ends at 0.2 and 0.4 m
	loss := map[string]float64{}
	for _, e := range r.Audit.Lines {
		loss[e.Name] = e.Loss
	}
	half := math.Floor(x[0] / math.Pi) // dead points passed
	way := (begin[2] - 0.2) + (half-1)*0.2
	if int(half)%2 == 1 {
		way += x[2] - 0.2
	} else {
		way += 0.4 - x[2]
	}
	if math.Abs(loss["crank.friction"]-(x[0]-begin[0])) > 1e-8 || math.Abs(loss["slide.friction"]-4*way) > 1e-8 || half < 6 {
		t.Errorf("losses %v, want %.9g and %.9g J; %g dead points", loss, x[0]-begin[0], 4*way, half)
	}
}

// A coupled machine: an arm on an arm, both with dry friction under gravity, against a small smoothing of the sign, which it is the limit
// of. The lower arm sticks to the upper one while that swings, and the friction that holds it is found with both in motion.
func TestDryArms(t *testing.T) {
	arm := multibody.Inertia{Mass: 1, Com: r3.Vec{X: 0.5}, I: brick.I}
	s := Spec{
		Spec: multibody.Spec{Gravity: r3.Vec{Y: -9.81}, Bodies: []multibody.Body{
			{Name: "a", Joint: multibody.Joint{Kind: multibody.Revolute}, Inertia: arm},
			{Name: "b", Parent: "a", Place: multibody.At(1, 0, 0), Joint: multibody.Joint{Kind: multibody.Revolute}, Inertia: arm},
		}},
		Friction: []Friction{{Joint: "a", Law: &friction.Coulomb{Fc: 2}}, {Joint: "b", Law: &friction.Coulomb{Fc: 3}}},
	}
	m := build(t, s)
	x := m.NewState()
	r, err := m.Run(context.Background(), x, 0, 6, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// the same with τ = Fc·tanh(v/ε), in fixed steps
	const eps, h = 1e-4, 1e-5
	d := m.Model.NewData()
	rate := func(x, dx []float64) {
		tau := []float64{-2 * math.Tanh(x[2]/eps), -3 * math.Tanh(x[3]/eps)}
		multibody.Dynamics(m.Model, d, x[:2], x[2:], tau)
		copy(dx, x[2:])
		copy(dx[2:], d.QDD)
	}
	y, mid, k1, k2 := make([]float64, 4), make([]float64, 4), make([]float64, 4), make([]float64, 4)
	for range int(6 / h) {
		rate(y, k1)
		for i := range mid {
			mid[i] = y[i] + h/2*k1[i]
		}
		rate(mid, k2)
		for i := range y {
			y[i] += h * k2[i]
		}
	}
	for i := range 2 {
		if math.Abs(x[i]-y[i]) > 2e-3 {
			t.Errorf("joint %d at %.6g, smoothed %.6g rad", i, x[i], y[i])
		}
	}
	if err := r.Audit.Check(1e-8); err != nil || r.Turns < 3 {
		t.Error(err, r.Turns)
	}
}
