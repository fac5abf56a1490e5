package population

import (
	"math"
	"testing"

	"hilrig/engine/friction"
)

// given is a load that is told from outside.
type given struct{ u float64 }

func (g *given) Span(tau, h, x float64) {}
func (g *given) At(tau, x, v float64) (force, dx, dv float64) {
	return g.u, 0, 0
}

func contact(th []float64) *friction.LuGre {
	return &friction.LuGre{Sigma0: th[thSigma0], Sigma1: th[thSigma1], Sigma2: th[thSigma2], Fc: th[thFc], Fs: th[thFs], Vs: th[thVs],
		Offset: th[thOffset]}
}

// The kernel is the scheme explicit-pade of package friction, with the stamps of a leapfrog.
func TestIsTheSchemeOfFriction(t *testing.T) {
	for _, out := range []Output{Velocity, Position} {
		tr := scene(3000, out)
		tr.X0, tr.V0 = 0.01, 0.03
		clear(tr.Y)
		y := matrix(1, len(tr.U))
		for _, th := range crowd(10, 11) {
			kernel(t, tr, Fastest()).Residuals([][]float64{th}, y)
			b, err := friction.NewMass(th[thM], contact(th), friction.ExplicitPade)
			if err != nil {
				t.Fatal(err)
			}
			x, f, h := b.NewState(), &given{}, tr.Dt
			a := (tr.U[0] - th[thOffset] - (th[thSigma1]+th[thSigma2])*tr.V0) / th[thM]
			x[0], x[1] = tr.X0, tr.V0-0.5*h*a
			worst, top := 0.0, 0.0
			for k, u := range tr.U {
				f.u = 0.5 * (tr.U[max(k-1, 0)] + u)
				pos, v := x[0], x[1]
				b.Step(h, x, f)
				want := pos
				if out == Velocity {
					want = 0.5 * (v + x[1])
				}
				worst, top = max(worst, math.Abs(y[0][k]-want)), max(top, math.Abs(want))
			}
			if worst > 1e-10*top {
				t.Errorf("output %d: %.1e off of %.1e", out, worst, top)
			}
		}
	}
}

// With its force held from stamp to stamp the kernel approaches the midpoint scheme at 20 µs as its steps are divided: the
// stamps of force, velocity and position are right, or half an interval would remain.
func TestApproachesAnotherScheme(t *testing.T) {
	th := truth
	for _, out := range []Output{Velocity, Position} {
		tr := scene(3000, out)
		tr.V0 = 0.02
		b, err := friction.NewMass(th[thM], contact(th), friction.Midpoint)
		if err != nil {
			t.Fatal(err)
		}
		x, f := b.NewState(), &given{}
		x[1] = tr.V0
		for k, u := range tr.U {
			tr.Y[k] = x[1]
			if out == Position {
				tr.Y[k] = x[0]
			}
			f.u = u
			b.Substeps(50, tr.Dt, x, f)
		}
		size := 0.0
		for _, y := range tr.Y {
			size += y * y
		}
		var err1, errN float64
		for _, n := range []int{1, 2, 4, 8, 16} {
			tr.Substeps = n
			cost, r := make([]float64, 1), matrix(1, len(tr.U))
			k := kernel(t, tr, Fastest())
			k.Costs([][]float64{th}, nil, cost)
			k.Residuals([][]float64{th}, r)
			sum := 0.0
			for _, e := range r[0] {
				sum += e * e
			}
			if math.Abs(sum/cost[0]-1) > 1e-9 {
				t.Errorf("output %d, %d parts: the cost %v is not the sum of the squared residuals %v", out, n, cost[0], sum)
			}
			errN = math.Sqrt(sum / size)
			if n == 1 {
				err1 = errN
			}
			t.Logf("output %d, %2d parts: %.1e off", out, n, errN)
		}
		if !(err1 < 0.02 && errN < err1/10) {
			t.Errorf("output %d: relative error %.1e with whole steps, %.1e with 16 parts; want below 0.02 and a tenth of it", out, err1, errN)
		}
	}
}

// The bell curve has a relative error below 5e-16, that of math.Exp2 included, down to where it vanishes beside anything.
func TestBell(t *testing.T) {
	worst := 0.0
	for i := range 200001 {
		s := 1020 * math.Pow(float64(i)/200000, 3)
		worst = max(worst, math.Abs(bell(s, 1)/math.Exp2(-s)-1))
	}
	t.Logf("relative error %.1e", worst)
	if !(worst <= 5e-16) {
		t.Errorf("relative error %.1e, want at most 5e-16", worst)
	}
	if b := bell(bellEnd, 1); !(b > 0 && b < 1e-300) {
		t.Errorf("at the end: %v", b)
	}
}
