package population

import (
	"math"
	"slices"
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
	return &friction.LuGre{Sigma0: th[thSigma0], Sigma1: th[thSigma1], Sigma2: th[thSigma2], Fc: th[thFc], Fs: th[thFs], Vs: th[thVs], Offset: th[thOffset]}
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

// The derivatives are those of the residuals, as central differences see them; the residuals have the same bits.
func TestDerivatives(t *testing.T) {
	free := []int{0, 1, 2, 3, 4, 5, 6, 7}
	for _, out := range []Output{Velocity, Position} {
		for _, sub := range []int{1, 3} {
			tr := scene(2000, out)
			tr.Substeps, tr.V0 = sub, 0.01
			k := kernel(t, tr, Fastest())
			rows := len(tr.U)
			r, want, cost := make([]float64, rows), matrix(2, rows), make([]float64, 1)
			for _, th := range crowd(6, 13) {
				if st, whole := k.Follow(th, r, math.Inf(1)); st != 0 || !whole {
					t.Fatal(st, whole)
				}
				k.Residuals([][]float64{th}, want[:1])
				for i := range r {
					if r[i] != want[0][i] {
						t.Fatalf("output %d: residual %d is %v, Residuals says %v", out, i, r[i], want[0][i])
					}
				}
				// with the same bits on every path
				for _, p := range Paths() {
					otherR, o := make([]float64, rows), kernel(t, tr, p)
					o.Follow(th, otherR, math.Inf(1))
					for _, f := range free {
						if !slices.Equal(o.Derivatives(f), k.Derivatives(f)) || !slices.Equal(otherR, r) {
							t.Fatalf("output %d: %s differs from %s", out, p, k.Path())
						}
					}
				}
				for _, f := range free {
					h := 1e-5 * th[f]
					a, b := append([]float64(nil), th...), append([]float64(nil), th...)
					a[f], b[f] = th[f]+h, th[f]-h
					k.Residuals([][]float64{a, b}, want)
					off, size, j := 0.0, 0.0, k.Derivatives(f)
					for i := range rows {
						d := (want[0][i] - want[1][i]) / (a[f] - b[f])
						off += (j[i] - d) * (j[i] - d)
						size += d * d
					}
					if off = math.Sqrt(off / size); !(off < 1e-5) {
						t.Errorf("output %d, %d parts, %s: derivative differs from differences by %.1e relative", out, sub, Names[f], off)
					}
				}
				// followed within its own cost it is whole, below it is given up, and the member after it is as ever
				k.Costs([][]float64{th}, nil, cost)
				if st, whole := k.Follow(th, want[0], 0.5*cost[0]); st != 0 || whole {
					t.Errorf("within half of its cost: %v, whole %v", st, whole)
				}
				if st, whole := k.Follow(th, want[0], cost[0]); st != 0 || !whole || !slices.Equal(want[0], r) {
					t.Errorf("within its cost: %v, whole %v", st, whole)
				}
			}
		}
	}
}

// The first samples of a trace have the residuals that they have in the whole.
func TestHead(t *testing.T) {
	tr := scene(1000, Velocity)
	tr.Substeps = 3
	k := kernel(t, tr, Fastest())
	h := k.Head(321)
	if h.Rows() != 321 {
		t.Fatalf("%d rows, want 321", h.Rows())
	}
	whole, head := matrix(1, 1000), matrix(1, 321)
	k.Residuals([][]float64{truth}, whole)
	h.Residuals([][]float64{truth}, head)
	for i, e := range head[0] {
		if e != whole[0][i] {
			t.Fatalf("row %d: %v, in the whole %v", i, e, whole[0][i])
		}
	}
}
