package circuit

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The functions against the exponential of gonum: of the matrix [Z 1 0 0; 0 0 1 0; 0 0 0 1; 0 0 0 0], whose first row of
// blocks is E, P1, P2, P3 [VL78]. Norms from nothing to stiff.
func TestPhis(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{1, 2, 5} {
		p := newPhis(n)
		for _, size := range []float64{0, 1e-9, 0.01, 0.49, 0.51, 3, 40} {
			z := mat.NewDense(n, n, nil)
			for i := range n {
				for j := range n {
					z.Set(i, j, rng.NormFloat64()*size)
				}
				z.Set(i, i, z.At(i, i)-size*float64(n))
			}
			big := mat.NewDense(4*n, 4*n, nil)
			for i := range n {
				for j := range n {
					big.Set(i, j, z.At(i, j))
				}
				big.Set(i, n+i, 1)
				big.Set(n+i, 2*n+i, 1)
				big.Set(2*n+i, 3*n+i, 1)
			}
			var e mat.Dense
			e.Exp(big)
			const h = 1e-3
			a := make([]float64, n*n)
			for i := range a {
				a[i] = z.RawMatrix().Data[i] / h
			}
			p.set(a, h)
			for i := range n {
				for j := range n {
					near(t, "E", p.e[i*n+j], e.At(i, j), 1e-12)
					near(t, "P1", p.p1[i*n+j], e.At(i, n+j), 1e-12)
					near(t, "P2", p.p2[i*n+j], e.At(i, 2*n+j), 1e-12)
					near(t, "P3", p.p3[i*n+j], e.At(i, 3*n+j), 1e-12)
				}
			}
		}
	}
}

// Far beyond the time constant: E is gone, P1 = −1/Z.
func TestPhisOfTheStiff(t *testing.T) {
	p := newPhis(2)
	p.set([]float64{-1e12, 0, 3e5, -2}, 1e-3)
	near(t, "E", p.e[0], 0, 1e-12)
	near(t, "P1", p.p1[0], 1e-9, 1e-15)
	near(t, "E slow", p.e[3], math.Exp(-2e-3), 1e-12)
}
