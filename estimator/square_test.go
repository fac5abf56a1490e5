package estimator

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The exponential is that of gonum (Padé), for slow and stiff matrices alike, and allocates nothing.
func TestSquareExp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, size := range []float64{0, 1e-9, 1e-3, 0.4, 0.6, 3, 30} {
		for range 50 {
			var a, e square
			want := mat.NewDense(nX+1, nX+1, nil)
			for i := range a {
				for j := range a {
					a[i][j] = size * (2*rnd.Float64() - 1)
					want.Set(i, j, a[i][j]*0.25)
				}
			}
			if size == 30 { // a winding much faster than the tick: decays to nothing
				a = square{}
				want.Zero()
				a[2][2], a[1][2], a[0][1], a[2][4] = -4e4, 600, 1, 2e3
				for i := range a {
					for j := range a {
						want.Set(i, j, a[i][j]*0.25)
					}
				}
			}
			want.Exp(want)
			e.exp(&a, 0.25)
			top := mat.Norm(want, 1)
			for i := range e {
				for j := range e {
					if d := math.Abs(e[i][j] - want.At(i, j)); !(d <= 3e-13*top) {
						t.Fatalf("size %g, entry %d %d: %.17g, want %.17g", size, i, j, e[i][j], want.At(i, j))
					}
				}
			}
		}
	}
	a, e := square{{0, 1}, {0, -3}}, square{}
	if n := testing.AllocsPerRun(10, func() { e.exp(&a, 0.1) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
