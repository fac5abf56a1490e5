package beam

import (
	"math"
	"testing"

	"hilrig/engine"
)

// With all modes nothing is left for the correction; with few, modes and correction together deflect under a static load as the whole
// beam does, wherever load and point are.
func TestStaticCorrection(t *testing.T) {
	b := like(t, Clamped, Pinned, 8)
	load, _ := b.At(0.31)
	at, _ := b.At(0.77)
	whole := make([]float64, b.N)
	load.Add(1.5, whole)
	if err := b.Static(whole); err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{1, 4, b.N} {
		m, err := b.Modes(k)
		if err != nil {
			t.Fatal(err)
		}
		phi := make([]float64, k)
		m.At(&load, phi)
		for i, w := range m.Omega {
			phi[i] *= 1.5 / (w * w)
		}
		near(t, "deflection", m.Deflection(phi, &at, &load, 1.5), at.Of(&at.N, whole), 1e-12)
		if c, ok := m.Correction(&load, &load); !ok || k < b.N && c < 1e-7 || k == b.N && math.Abs(c) > 1e-12 {
			t.Errorf("%d modes leave %g m/N, %v", k, c, ok)
		}
	}
	loose := like(t, Pinned, Free, 8)
	m, err := loose.Modes(2)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := m.Correction(&load, &load); ok {
		t.Error("a beam that is not held has a static correction")
	}
	for _, k := range []int{0, b.N + 1} {
		if _, err := b.Modes(k); err == nil {
			t.Errorf("%d modes were found", k)
		}
	}
}

// A force that travels along a pinned beam, against the series of its modes [Fry99] (undamped, from rest):
//
//	w = Σ 2F/(ρA·L)·sin(nπx/L)·(sin Ω_n t − (Ω_n/ω_n)·sin ω_n t)/(ω_n² − Ω_n²),   Ω_n = nπc/L
//
// Three modes come near, their static correction brings the rest.
func TestTravellingForce(t *testing.T) {
	const force, speed, end = 0.5, 0.4, 1.0
	p := Paper()
	p.Left.Kind, p.Right.Kind, p.Damping.Stiffness, p.Elements = Pinned, Pinned, 0, 20
	b, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	series := func(x, s float64) (w float64) {
		for n := 1.0; n < 400; n++ {
			wn, on := n*n*math.Pi*math.Pi*math.Sqrt(2.1/4.7), n*math.Pi*speed
			w += 2 * force / 4.7 * math.Sin(n*math.Pi*x) * (math.Sin(on*s) - on/wn*math.Sin(wn*s)) / (wn*wn - on*on)
		}
		return w
	}
	const modes = 3
	m, err := b.Modes(modes)
	if err != nil {
		t.Fatal(err)
	}
	phi := make([]float64, modes)
	d := engine.NewDormandPrince(func(s float64, x, dx []float64) {
		at, err := b.At(speed * s)
		if err != nil {
			t.Fatal(err)
		}
		m.At(&at, phi)
		for i := range phi {
			dx[i], dx[modes+i] = x[modes+i], force*phi[i]-m.Omega[i]*m.Omega[i]*x[i]
		}
	}, 2*modes)
	d.Rtol, d.Atol, d.MaxStep = 1e-8, 1e-11, 5e-3
	d.Start(0, make([]float64, 2*modes))
	for d.T < end {
		if err := d.Step(end); err != nil {
			t.Fatal(err)
		}
	}
	load, _ := b.At(speed * end)
	want := series(speed*end, end)
	got, bare := m.Deflection(d.X, &load, &load, force), m.Deflection(d.X, &load, &load, 0)
	near(t, "with the correction", got/want, 1, 1e-3)
	if without, with := math.Abs(bare-want), math.Abs(got-want); without < 10*with {
		t.Errorf("without the correction the error is %g m, with it %g m", without, with)
	}
}

// What is damped more than critically decays at ζω + ω·√(ζ²−1).
func TestFastest(t *testing.T) {
	p := Paper()
	p.Damping.Stiffness = 1e-2
	b, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.Modes(b.N)
	if err != nil {
		t.Fatal(err)
	}
	w, z := m.Omega[b.N-1], m.Zeta[b.N-1]
	want := w * (z + math.Sqrt(z*z-1))
	near(t, "decay", b.Fastest(), want, 0.06*want)
}
