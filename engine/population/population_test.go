package population

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/engine"
)

func kernel(tb testing.TB, tr *Trace, p Path) *Kernel {
	tb.Helper()
	k, err := New(*tr)
	if err != nil {
		tb.Fatal(err)
	}
	if err := k.Use(p); err != nil {
		tb.Fatal(err)
	}
	return k
}

// matrix makes n rows of m numbers.
func matrix(n, m int) [][]float64 {
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, m)
	}
	return a
}

// Every path of the machine, and as many members as fill nothing, some and all of its vectors, give the same bits.
func TestSameBitsEverywhere(t *testing.T) {
	for _, out := range []Output{Velocity, Position} {
		tr := scene(1500, out)
		th := crowd(150, 3)
		want := make([]float64, len(th))
		wantR := matrix(len(th), len(tr.U))
		k := kernel(t, tr, Portable)
		for i := range th { // one at a time
			k.Costs(th[i:i+1], nil, want[i:i+1])
			k.Residuals(th[i:i+1], wantR[i:i+1])
		}
		for _, p := range Paths() {
			k := kernel(t, tr, p).Fork()
			for _, n := range []int{1, 5, 8, 9, 16, 23, 24, 33, 40, 64, 71, 128, 150} {
				got, r, first := make([]float64, n), matrix(n, len(tr.U)), len(th)-n // so every member stands in other lanes
				k.Costs(th[first:], nil, got)
				k.Residuals(th[first:], r)
				for i, c := range got {
					if w := want[first+i]; c != w {
						t.Fatalf("%s, %d members: member %d costs %v, alone on the portable path %v", p, n, i, c, w)
					}
					for j, e := range r[i] {
						if w := wantR[first+i][j]; e != w {
							t.Fatalf("%s, %d members: residual %d of member %d is %v, alone on the portable path %v", p, n, j, i, e, w)
						}
					}
				}
			}
		}
	}
}

// Costs and residuals agree with the plain program with math.Exp within 1e-12.
func TestAgreesWithPlainProgram(t *testing.T) {
	for _, out := range []Output{Velocity, Position} {
		tr := scene(10000, out)
		th := crowd(40, 5)
		r, plain := matrix(len(th), len(tr.U)), make([]float64, len(tr.U))
		cost := make([]float64, len(th))
		for _, p := range Paths() {
			k := kernel(t, tr, p)
			k.Costs(th, nil, cost)
			if st := k.Residuals(th, r); st != engine.OK {
				t.Errorf("%s: status %v", p, st)
			}
			worst, off := 0.0, 0.0
			for i := range th {
				want := plainPade(tr, th[i], plain)
				worst = max(worst, math.Abs(cost[i]/want-1))
				d := 0.0
				for j := range plain {
					d += (r[i][j] - plain[j]) * (r[i][j] - plain[j])
				}
				off = max(off, math.Sqrt(d/want))
			}
			t.Logf("%s, output %d: costs differ by %.1e, residuals by %.1e", p, out, worst, off)
			if !(worst <= 1e-12 && off <= 1e-12) {
				t.Errorf("%s, output %d: costs differ by %.1e, residuals by %.1e relative, want at most 1e-12", p, out, worst, off)
			}
		}
	}
}

// A cost at or below its limit has the bits that it has without limits; one above is given up with a number above the limit.
func TestGivingUpKeepsTheWinners(t *testing.T) {
	tr := scene(3000, Velocity)
	th := crowd(130, 7)
	full, cost, limit := make([]float64, len(th)), make([]float64, len(th)), make([]float64, len(th))
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range Paths() {
		k := kernel(t, tr, p)
		k.Costs(th, nil, full)
		kept, left := 0, 0
		for range 5 {
			for i := range limit {
				limit[i] = full[rng.IntN(len(full))]
				if i%10 == 0 {
					limit[i] = full[i] // exactly at it
				}
			}
			k.Costs(th, limit, cost)
			for i, c := range cost {
				switch {
				case full[i] <= limit[i]:
					kept++
					if c != full[i] {
						t.Fatalf("%s: member %d costs %v with a limit of %v, %v without", p, i, c, limit[i], full[i])
					}
				case !(c > limit[i]):
					t.Fatalf("%s: member %d costs %v, which is above its limit of %v, but %v is said", p, i, full[i], limit[i], c)
				case c < full[i]:
					left++
				}
			}
		}
		if kept < 100 || left < 100 {
			t.Errorf("%s: %d members kept, %d given up early: the case shows nothing", p, kept, left)
		}
	}
}

// Parameters without meaning and motions beyond all bounds cost the worst, have large finite residuals, and leave their
// neighbours alone.
func TestFailuresStayFiniteAndAlone(t *testing.T) {
	tr := scene(2000, Velocity)
	for i := range tr.U {
		tr.U[i] *= 3
	}
	nan, inf := math.NaN(), math.Inf(1)
	bad := map[string][]float64{
		"no mass":          {0, 1e4, 60, 0.6, 1, 1.6, 0.02, 0},
		"negative mass":    {-1, 1e4, 60, 0.6, 1, 1.6, 0.02, 0},
		"NaN":              {1, 1e4, nan, 0.6, 1, 1.6, 0.02, 0},
		"infinite offset":  {1, 1e4, 60, 0.6, 1, 1.6, 0.02, inf},
		"infinite level":   {1, 1e4, 60, 0.6, 1, inf, 0.02, 0},
		"no Stribeck":      {1, 1e4, 60, 0.6, 1, 1.6, 0, 0},
		"minute Stribeck":  {1, 1e4, 60, 0.6, 1, 1.6, 1e-200, 0},
		"stiff":            {1, 1e7, 60, 0.6, 1, 1.6, 0.02, 0},
		"damped":           {1, 1e4, 3000, 0.6, 1, 1.6, 0.02, 0},
		"runs away":        {1e-4, 1e-4, 0, 0, 1e-9, 1e-9, 0.02, -1e5},
		"negative viscous": {1, 1e4, 60, -0.1, 1, 1.6, 0.02, 0},
	}
	for _, p := range Paths() {
		k := kernel(t, tr, p)
		for name, th := range bad {
			members := [][]float64{truth, th, crowd(1, 1)[0]}
			cost, r := make([]float64, 3), matrix(3, len(tr.U))
			k.Costs(members, nil, cost)
			st := k.Residuals(members, r)
			if cost[1] != k.Worst() || st != engine.NonFinite {
				t.Errorf("%s, %s: cost %v, status %v, want %v and %v", p, name, cost[1], st, k.Worst(), engine.NonFinite)
			}
			sum := 0.0
			for _, e := range r[1] {
				sum += e * e
			}
			if math.Abs(sum/k.Worst()-1) > 1e-9 {
				t.Errorf("%s, %s: squares of the residuals sum up to %v, want the cost %v", p, name, sum, k.Worst())
			}
			alone := make([]float64, 1)
			for _, i := range []int{0, 2} {
				if k.Costs(members[i:i+1], nil, alone); alone[0] != cost[i] || !(cost[i] < k.Worst()/1e3) {
					t.Errorf("%s, %s: a neighbour costs %v, alone %v", p, name, cost[i], alone[0])
				}
			}
		}
	}
}

// No call allocates.
func TestFree(t *testing.T) {
	tr := scene(600, Velocity)
	th := crowd(140, 3)
	cost, r := make([]float64, len(th)), matrix(40, len(tr.U))
	for _, p := range Paths() {
		k := kernel(t, tr, p)
		if n := testing.AllocsPerRun(5, func() {
			k.Costs(th, cost, cost)
			k.Residuals(th[:40], r)
		}); n != 0 {
			t.Errorf("%s: %g allocations", p, n)
		}
	}
}

// A trace that cannot be simulated is refused with its reason.
func TestBadTraces(t *testing.T) {
	u := []float64{1, 2, 3}
	for _, c := range []struct {
		name, want string
		t          Trace
	}{
		{"no interval", "sampling interval", Trace{U: u}},
		{"no samples", "samples of force", Trace{Dt: 1e-3}},
		{"lengths", "3 samples of force, 2 of output", Trace{Dt: 1e-3, U: u, Y: u[:2]}},
		{"NaN", "sample 1: force NaN", Trace{Dt: 1e-3, U: []float64{1, math.NaN(), 2}}},
		{"start", "first state", Trace{Dt: 1e-3, U: u, V0: math.Inf(1)}},
	} {
		if _, err := New(c.t); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
	k := kernel(t, scene(50, Velocity), Portable)
	if err := k.Use(Path(9)); err == nil {
		t.Error("a path that does not exist was accepted")
	}
}
