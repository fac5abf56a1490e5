package rotation

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// A constant rate is found exactly, at any angle, with signs flipped at will.
func TestTurnOfConstantRate(t *testing.T) {
	omega := r3.Vec{X: 3, Y: -7, Z: 2}
	times, q := make([]float64, 60), make([]quat.Number, 60)
	for k := range times {
		times[k] = 0.005 * float64(k)
		q[k] = quat.Mul(Exp(r3.Vec{Y: 2}), Exp(r3.Scale(times[k], omega)))
		if k%3 == 0 {
			q[k] = quat.Scale(-1, q[k])
		}
	}
	p := Polynomial{HalfWindow: 0.05, Order: 3}
	for _, at := range []float64{0, 0.1, 0.1012, 0.295} {
		m, err := p.Turn(at, times, q)
		if err != nil {
			t.Fatal(err)
		}
		nearVec(t, "rate", m.Omega, omega, 1e-11)
		nearVec(t, "acceleration", m.Alpha, r3.Vec{}, 1e-9)
		near(t, "rotation", r3.Norm(Difference(m.R, quat.Mul(Exp(r3.Vec{Y: 2}), Exp(r3.Scale(at, omega))))), 0, 1e-13)
	}
}

// A rate that changes in all axes, from SciPy, at uneven times with a gap: the error falls with the order of the fit.
func TestTurnAgainstScipy(t *testing.T) {
	c := load(t).Turning
	q := make([]quat.Number, len(c.Q))
	for k := range q {
		q[k] = c.Q[k].quat()
	}
	q[30] = quat.NaN()
	omega := func(t float64) r3.Vec { return r3.Vec{X: 1 + t, Y: -2 + math.Cos(3*t), Z: 0.5 - t*t} }
	alpha := func(t float64) r3.Vec { return r3.Vec{X: 1, Y: -3 * math.Sin(3*t), Z: -2 * t} }
	for _, at := range []float64{0.3, 0.777, 1.2301, 1.5} { // 1.23 lies in the gap of 60 ms
		for _, w := range []struct {
			half  float64
			order int
			rate  float64 // rad/s, about the size of the terms left out
			acc   float64 // rad/s²
		}{{0.08, 3, 4e-3, 0.1}, {0.08, 5, 1e-4, 2e-3}, {0.04, 3, 5e-4, 2.5e-2}} {
			m, err := Polynomial{HalfWindow: w.half, Order: w.order}.Turn(at, c.T, q)
			if at == 1.2301 && w.half == 0.04 {
				if !errors.Is(err, ErrFewSamples) {
					t.Errorf("a window of 80 ms about a gap of 60 ms, %d samples: %v", m.Count, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("t %g: %v (%d samples)", at, err, m.Count)
			}
			nearVec(t, "rate", m.Omega, omega(at), w.rate)
			nearVec(t, "acceleration", m.Alpha, alpha(at), w.acc)
		}
	}
}

// The standard errors are those of numpy.polyfit, and so are the coefficients.
func TestPointAgainstNumpy(t *testing.T) {
	for _, c := range load(t).Points {
		p, err := Polynomial{HalfWindow: 0.11, Order: c.Order}.Point(0, c.T, vecs(c.Y))
		if err != nil {
			t.Fatal(err)
		}
		at := func(v r3.Vec, k int) float64 { return [3]float64{v.X, v.Y, v.Z}[k] }
		for k := range 3 {
			near(t, "value", at(p.P, k), c.C[k][0], 1e-12)
			near(t, "velocity", at(p.V, k), c.C[k][1], 1e-9)
			near(t, "its error", at(p.VError, k)/c.SE[k][1], 1, 1e-8)
			if c.Order == 1 {
				if !math.IsInf(at(p.AError, k), 1) {
					t.Error("a line has an acceleration")
				}
				continue
			}
			near(t, "acceleration", at(p.A, k), 2*c.C[k][2], 1e-7)
			near(t, "its error", at(p.AError, k)/(2*c.SE[k][2]), 1, 1e-8)
		}
	}
}

// With noise, the errors of rate and acceleration scatter as the standard errors say, with the noise known and with it taken from
// the residuals.
func TestTurnErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const n, sigma, draws = 21, 3e-3, 2000
	omega, acc := r3.Vec{X: 2, Y: 1}, r3.Vec{Z: 5}
	times, q := make([]float64, n), make([]quat.Number, n)
	for _, known := range []float64{0, sigma} {
		var rate, accel float64
		for range draws {
			for k := range q {
				s := 0.005 * float64(k-n/2)
				times[k] = s
				// about s = 0 a motion with ω and dω/dt to second order; the third stays below the noise
				truth := Exp(r3.Add(r3.Scale(s, omega), r3.Scale(s*s/2, acc)))
				q[k] = quat.Mul(truth, Exp(r3.Vec{X: sigma * rng.NormFloat64(), Y: sigma * rng.NormFloat64(), Z: sigma * rng.NormFloat64()}))
			}
			m, err := Polynomial{HalfWindow: 0.05, Order: 3, Noise: known}.Turn(0, times, q)
			if err != nil {
				t.Fatal(err)
			}
			d, a := r3.Sub(m.Omega, omega), r3.Sub(m.Alpha, acc)
			rate += (d.X*d.X/(m.OmegaError.X*m.OmegaError.X) + d.Z*d.Z/(m.OmegaError.Z*m.OmegaError.Z)) / 2 / draws
			accel += (a.X*a.X/(m.AlphaError.X*m.AlphaError.X) + a.Y*a.Y/(m.AlphaError.Y*m.AlphaError.Y)) / 2 / draws
		}
		want := 1.0
		if known == 0 {
			want = 17.0 / 15 // variance of Student's t with 21 − 4 degrees of freedom
		}
		near(t, "mean squared error of the rate / that expected", rate, want, 0.1)
		near(t, "mean squared error of the acceleration / that expected", accel, want, 0.1)
	}
}

func TestTurnRefuses(t *testing.T) {
	times, q := make([]float64, 40), make([]quat.Number, 40)
	spin := func(rate float64) {
		for k := range times {
			times[k] = 0.01 * float64(k)
			q[k] = Exp(r3.Vec{Z: rate * times[k]})
		}
	}
	p := Polynomial{HalfWindow: 0.05, Order: 3}
	spin(59)
	if _, err := p.Turn(0.2, times, q); err != nil {
		t.Errorf("2.95 rad to the end of the window: %v", err)
	}
	spin(61)
	if _, err := p.Turn(0.2, times, q); !errors.Is(err, ErrTurn) {
		t.Errorf("3.05 rad to the end of the window: %v", err)
	}
	spin(1)
	for _, c := range []struct {
		half, noise float64
		err         error
	}{{0.02, 0, nil}, {0.015, 0, ErrFewSamples}, {0.015, 1e-3, ErrFewSamples}} { // 5 and 3 samples; a cubic needs 4
		p := Polynomial{HalfWindow: c.half, Order: 3, Noise: c.noise}
		if m, err := p.Turn(0.2, times, q); !errors.Is(err, c.err) {
			t.Errorf("half window %g s: %v with %d samples, want %v", c.half, err, m.Count, c.err)
		}
	}
	if m, err := (Polynomial{HalfWindow: 0.02, Order: 4, Noise: 1e-3}).Turn(0.2, times, q); err != nil {
		t.Errorf("5 samples of known noise and order 4: %v (%d)", err, m.Count)
	}
	if _, err := (Polynomial{HalfWindow: 0.02, Order: 4}).Turn(0.2, times, q); !errors.Is(err, ErrFewSamples) {
		t.Errorf("5 samples of unknown noise and order 4: %v", err)
	}
	for k := range times {
		times[k] = 0.1 * float64(k/10) // ten samples at each of four times
	}
	if _, err := (Polynomial{HalfWindow: 0.1, Order: 3}).Turn(0.1, times, q); !errors.Is(err, ErrFewSamples) {
		t.Errorf("samples at 3 times: %v", err)
	}
	for _, bad := range []Polynomial{{HalfWindow: 0, Order: 3}, {HalfWindow: 1, Order: 0}, {HalfWindow: 1, Order: 7},
		{HalfWindow: 1, Order: 1, Noise: -1}, {HalfWindow: math.NaN(), Order: 1}} {
		if bad.Validate() == nil {
			t.Errorf("%+v passed", bad)
		}
	}
	for _, good := range []Polynomial{{HalfWindow: 1, Order: 1}, {HalfWindow: 1e-3, Order: 6, Noise: 1}} {
		if err := good.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	times, q := make([]float64, 40), make([]quat.Number, 40)
	for k := range times {
		times[k], q[k] = 0.01*float64(k), Exp(r3.Vec{X: 0.01 * float64(k)})
	}
	body := []r3.Vec{{X: 1}, {Y: 1}, {Z: 1}, {}}
	p := Polynomial{HalfWindow: 0.05, Order: 3}
	if n := testing.AllocsPerRun(100, func() {
		p.Turn(0.2, times, q)
		Align(body, body, nil)
		Align(body[:2], body[:2], nil)
		Eye.Eigen()
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkAlign5(b *testing.B) {
	body := []r3.Vec{{X: 1}, {Y: 1}, {Z: 1}, {}, {X: 1, Y: 2, Z: 3}}
	b.ReportAllocs()
	for b.Loop() {
		Align(body, body, nil)
	}
}

func BenchmarkTurn21(b *testing.B) {
	times, q := make([]float64, 40), make([]quat.Number, 40)
	for k := range times {
		times[k], q[k] = 0.01*float64(k), Exp(r3.Vec{X: 0.01 * float64(k)})
	}
	p := Polynomial{HalfWindow: 0.1, Order: 3}
	b.ReportAllocs()
	for b.Loop() {
		p.Turn(0.2, times, q)
	}
}
