package friction

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Steps of LuGreMass are those of the equation of Midpoint, which bisection solves here from the exact step for a displacement alone:
// whatever the contact, the motion, the step and the load. Few steps are refused, and most take one evaluation.
func TestLuGreMassSolvesItsStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	log := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rng.Float64()) }
	taken, refused, evals := 0, 0, 0
	for range 120 {
		p := &LuGre{Sigma0: log(1e3, 1e6), Sigma1: log(1, 1e3), Sigma2: log(1e-2, 10), Fc: log(0.3, 3), Vs: log(2e-3, 0.2),
			Offset: rng.NormFloat64() / 10}
		p.Fs = p.Fc * (0.7 + rng.Float64())
		if rng.IntN(3) == 0 {
			p.Vd = log(2e-3, 0.2)
		}
		if rng.IntN(4) == 0 {
			p.N0 = 10
		}
		b, err := NewMass(log(0.1, 10), p, Midpoint)
		if err != nil {
			t.Fatal(err)
		}
		b.N = 8
		h := log(5e-5, 1e-3)
		if long, _ := b.Limit(); h > 0.5*long {
			continue
		}
		kx, kv := log(1e-2, 100), log(1e-3, 1)
		m := b.Bristle()
		m.Begin(h)
		x, big := []float64{0, 0, 0}, log(1, 5)
		w0, w1, sign := log(1, 40), log(1, 40), float64(1-2*rng.IntN(2))
		for k := range 500 {
			tau := float64(k) * h
			u := sign * p.Fs * big * (math.Sin(w0*tau+0.1) + 0.4*math.Cos(w1*tau))
			want := bisected(p, b, h, x, u, kx, kv)
			v, z := x[1], x[2]
			before := m.evals
			if !m.Step(x, u, kx, kv) {
				refused++
				if x[1] != v || x[2] != z {
					t.Fatal("a refused step moves the body")
				}
				x = []float64{want[0], want[1], want[2]}
				m.Skip(v, 0.5*(v+want[1]))
				continue
			}
			taken, evals = taken+1, evals+m.evals-before
			tol := 2e-9 * (math.Abs(m.W) + 1e-3*p.Vs)
			if off := math.Abs(m.W - (v+want[1])/2); off > tol {
				t.Fatalf("%+v, %g kg, h %g, v %g: w %.12g, by bisection %.12g", p, b.M, h, v, m.W, (v+want[1])/2)
			}
			if off := math.Abs(x[2] - want[2]); off > tol*m.slope/p.Sigma0+1e-14 {
				t.Fatalf("%+v: z %.12g, by bisection %.12g", p, x[2], want[2])
			}
		}
	}
	t.Logf("%d steps with %.3f evaluations, %d refused", taken, float64(evals)/float64(taken), refused)
	if refused > taken/20 || float64(evals) > 1.03*float64(taken) {
		t.Errorf("%d of %d steps refused, %d evaluations", refused, taken+refused, evals)
	}
}

// bisected is the state after a step of Midpoint.
func bisected(p *LuGre, b *Mass, h float64, x []float64, u, kx, kv float64) [3]float64 {
	k := 1.0
	if p.N0 > 0 {
		k = b.N / p.N0
	}
	force := func(w float64) float64 {
		_, _, f := p.StepDx(x[2], h*w, h)
		return k*(f-p.Offset) + p.Offset
	}
	left := func(w float64) float64 { return 2*b.M/h*(w-x[1]) - (u - kx*(x[0]+h*w/2) - kv*w) + force(w) }
	lo, hi := -1.0, 1.0
	for left(lo) > 0 {
		lo *= 2
	}
	for left(hi) < 0 {
		hi *= 2
	}
	for range 200 {
		if w := 0.5 * (lo + hi); left(w) > 0 {
			hi = w
		} else {
			lo = w
		}
	}
	w := 0.5 * (lo + hi)
	zn, _, _ := p.StepDx(x[2], h*w, h)
	return [3]float64{x[0] + h*w, 2*w - x[1], zn}
}

// Slopes of LuGreMass are those of the law at the same place.
func TestSlopesOfLuGreMass(t *testing.T) {
	for _, p := range []*LuGre{
		{Sigma0: 1e5, Sigma1: 300, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.01},
		{Sigma0: 1e5, Sigma1: 300, Sigma2: 0.4, Fc: 1.2, Fs: 0.9, Vs: 0.01, Vd: 0.02, N0: 5},
	} {
		b, err := NewMass(1, p, Midpoint)
		if err != nil {
			t.Fatal(err)
		}
		b.N = 4
		for _, sign := range []float64{1, -1} {
			m := b.Bristle()
			m.Begin(2e-4)
			x := []float64{0, sign * 0.03, sign * 4e-6}
			for range 20 {
				z := x[2]
				if !m.Step(x, 0.7*sign, 0, 0) {
					t.Fatal("refused")
				}
				got := Slopes{Force: make([]float64, 9), State: make([]float64, 9)}
				want := Slopes{Force: make([]float64, 9), State: make([]float64, 9)}
				m.Slopes(&got)
				p.TrialSlopes(Midpoint, z, Input{Dt: 2e-4, V: m.w, N: b.N}, &want) // where the step was evaluated
				near := func(name string, a, b float64) {
					if math.Abs(a-b) > 1e-9*(math.Abs(b)+1e-12) {
						t.Errorf("%s %.12g, want %.12g", name, a, b)
					}
				}
				near("∂F/∂z", got.ForceZ, want.ForceZ)
				near("∂z/∂z", got.StateZ, want.StateZ)
				near("∂F/∂v", got.ForceV, want.ForceV)
				near("∂z/∂v", got.StateV, want.StateV)
				for i, q := range p.Params() {
					near("∂F/∂"+q.Name, got.Force[i], want.Force[i])
					near("∂z/∂"+q.Name, got.State[i], want.State[i])
				}
			}
		}
	}
}
