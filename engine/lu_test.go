package engine

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A·x of the solution gives b back, also when the largest number of a column is never on the diagonal.
func TestLU(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 12; n++ {
		a, b := make([]float64, n*n), make([]float64, n)
		for i := range a {
			a[i] = rng.NormFloat64()
		}
		for i := range b {
			b[i] = rng.NormFloat64()
			a[i*n+i] = 0
			a[i*n+(i+1)%n] += 3
		}
		l := NewLU(n)
		copy(l.A, a)
		if !l.Factor() {
			t.Fatalf("n = %d: singular", n)
		}
		x := append([]float64(nil), b...)
		l.Solve(x)
		for i := range n {
			r := -b[i]
			for j := range n {
				r += a[i*n+j] * x[j]
			}
			if math.Abs(r) > 1e-11 {
				t.Errorf("n = %d: residual %g", n, r)
			}
		}
	}
	l := NewLU(2)
	copy(l.A, []float64{1, 2, 2, 4})
	if l.Factor() {
		t.Error("a singular matrix is factored")
	}
}
