package population

import (
	"math"
	"testing"
)

// Every path of the machine, and as many members as fill nothing, some and all of its vectors, give the same bits.
func TestSameBitsEverywhere(t *testing.T) {
	for _, out := range []Output{Velocity, Position} {
		tr := scene(1500, out)
		th := crowd(150, 3)
		want := make([]float64, len(th))
		k := kernel(t, tr, Portable)
		for i := range th { // one at a time
			k.Costs(th[i:i+1], nil, want[i:i+1])
		}
		for _, p := range Paths() {
			k := kernel(t, tr, p)
			for _, n := range []int{1, 5, 8, 9, 16, 23, 24, 33, 40, 64, 71, 128, 150} {
				got := make([]float64, n)
				k.Costs(th[len(th)-n:], nil, got) // so every member stands in other lanes
				for i, c := range got {
					if w := want[len(th)-n+i]; c != w {
						t.Fatalf("%s, %d members: member %d costs %v, alone on the portable path %v", p, n, i, c, w)
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
		r, plain := make([][]float64, len(th)), make([]float64, len(tr.U))
		for i := range r {
			r[i] = make([]float64, len(tr.U))
		}
		cost := make([]float64, len(th))
		for _, p := range Paths() {
			k := kernel(t, tr, p)
			k.Costs(th, nil, cost)
			if st := k.Residuals(th, r); st != 0 {
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
