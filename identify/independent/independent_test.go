package independent

import (
	"math"
	"testing"
)

// A block that slides to rest under rigid friction stops after v0²/(2·Fc/M) and stays.
func TestStopsWhereTheClosedFormSays(t *testing.T) {
	a := Axis{M: 2, Friction: Friction{Fc: 3}}
	tr := a.Simulate(Run{Dt: 1e-3, N: 2000, V0: 1.5, Force: func(float64) float64 { return 0 }})
	want := 1.5 * 1.5 / 2 / (3.0 / 2)
	if got := tr.X[len(tr.X)-1]; math.Abs(got-want) > 1e-9 || tr.V[len(tr.V)-1] != 0 {
		t.Errorf("stops at %.12g m with %g m/s, want %.12g and rest", got, tr.V[len(tr.V)-1], want)
	}
	for _, sign := range []float64{1, -1} { // held below the break-away force, let go above it
		a := Axis{M: 2, Friction: Friction{Fc: 3, Fs: 4, Vs: 0.01}}
		for _, c := range []struct {
			u     float64
			moves bool
		}{{3.99, false}, {4.01, true}} {
			tr := a.Simulate(Run{Dt: 1e-3, N: 100, Force: func(float64) float64 { return sign * c.u }})
			if moved := tr.X[99]*sign > 0; moved != c.moves {
				t.Errorf("under %g N: moves %v, want %v", sign*c.u, moved, c.moves)
			}
		}
	}
}

// Small motion of a bristle is a damped oscillation: x” + 2ζω·x' + ω²·x = 0 as long as |z| ≪ g/σ0.
func TestOscillatesAsTheClosedFormSays(t *testing.T) {
	const m, k, d, v0 = 1.0, 1e4, 10.0, 1e-9
	a := Axis{M: m, Friction: Friction{Sigma0: k, Sigma1: d, Fc: 1}}
	// from rest in the contact: V0 would start sliding, so a push of one sample sets the mass off
	tr := a.Simulate(Run{Dt: 1e-4, N: 3000, Force: func(t float64) float64 { return m * v0 / 1e-4 * b2f(t < 1e-4) }, Intersample: Held})
	w, z := math.Sqrt(k/m), d/(2*math.Sqrt(k*m))
	wd := w * math.Sqrt(1-z*z)
	worst := 0.0
	for i, x := range tr.X[1:] {
		// a rectangular push of length h is to second order one at h/2
		at := tr.T[i+1] - 0.5e-4
		worst = max(worst, math.Abs(x-v0/wd*math.Exp(-z*w*at)*math.Sin(wd*at)))
	}
	if worst > 1e-4*v0/wd {
		t.Errorf("off by %.2g of the amplitude, want ≤ 1e-4", worst/(v0/wd))
	}
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Dragged at constant speed for long, the bristle takes its steady force.
func TestSlidesWithSteadyForce(t *testing.T) {
	for _, v := range []float64{0.02, -0.02} {
		f := Friction{Sigma0: 1e6, Sigma1: 300, Sigma2: 4, Fc: 10, Fs: 15, Vs: 0.03, Split: true, FcBack: 12, FsBack: 13, Sigma2Back: 6}
		g, _, s2 := f.level(v)
		want := math.Copysign(g, v) + s2*v
		a := Axis{M: 1, Friction: f, Load: func(_, _, now float64) float64 { return 1e4 * (now - v) }}
		tr := a.Simulate(Run{Dt: 1e-3, N: 1000, Force: func(float64) float64 { return want }})
		if got := want - 1e4*(tr.V[999]-v); math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Errorf("at %g m/s %.9g N, want %.9g", v, got, want)
		}
	}
}

// Half the sampling interval, and so half the steps, moves the motion by a sixteenth of next to nothing.
func TestStepsAreFine(t *testing.T) {
	a := Axis{M: 1, Friction: Friction{Sigma0: 1e5, Sigma1: 300, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.01}}
	u := Sines(1, []float64{1.3, 0.9, 0.6}, []float64{0.6, 1.7, 4.3})
	one := a.Simulate(Run{Dt: 1e-3, N: 3001, Force: u})
	two := a.Simulate(Run{Dt: 0.5e-3, N: 6001, Force: u})
	worst, size := 0.0, 0.0
	for k, x := range one.X {
		worst, size = max(worst, math.Abs(x-two.X[2*k])), max(size, math.Abs(x))
	}
	if worst > 1e-7*size {
		t.Errorf("half the steps move the position by %.2g m of %.2g", worst, size)
	}
}

// A delay moves the motion of a held force by itself.
func TestDelayMovesTheMotion(t *testing.T) {
	a := Axis{M: 1}
	step := func(t float64) float64 { return b2f(t >= 0) }
	for _, d := range []float64{0, 0.4e-3, 1e-3, 2.3e-3} {
		tr := a.Simulate(Run{Dt: 1e-3, N: 101, Force: step, Intersample: Held, Delay: d})
		want := (0.1 - d) * (0.1 - d) / 2
		if math.Abs(tr.X[100]-want) > 1e-9 {
			t.Errorf("late by %g s: %.9g m, want %.9g", d, tr.X[100], want)
		}
	}
}
