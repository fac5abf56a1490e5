package bristle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"
)

// The band in its dual form gives what dense normal equations give.
func TestSmootherAgainstDense(t *testing.T) {
	const n = 60
	r := rand.New(rand.NewPCG(1, 2))
	y := make([]float64, n)
	for k := range y {
		y[k] = math.Sin(0.2*float64(k)) + 0.1*r.NormFloat64()
	}
	for _, order := range []int{3, 4} {
		for _, lambda := range []float64{0.3, 40, 5e3} {
			t.Run(fmt.Sprintf("order %d, lambda %g", order, lambda), func(t *testing.T) {
				d := mat.NewDense(n-order, n, nil)
				for i := range n - order {
					for j := range order + 1 {
						d.Set(i, i+j, math.Pow(-1, float64(order-j))*float64(combin.Binomial(order, j)))
					}
				}
				var a, x mat.Dense
				a.Mul(d.T(), d)
				a.Scale(lambda, &a)
				for i := range n {
					a.Set(i, i, a.At(i, i)+1)
				}
				if err := x.Solve(&a, mat.NewDense(n, 1, y)); err != nil {
					t.Fatal(err)
				}
				got := make([]float64, n)
				newSmoother(order, n).run(y, lambda, got)
				for k := range y {
					if diff := math.Abs(got[k] - x.At(k, 0)); diff > 1e-9 {
						t.Fatalf("sample %d: %.12g, dense %.12g", k, got[k], x.At(k, 0))
					}
				}
			})
		}
	}
}

// A polynomial below the order of the penalty passes unchanged, however large the penalty and the position.
func TestSmootherKeepsPolynomials(t *testing.T) {
	y := make([]float64, 5000)
	for k := range y {
		s := float64(k) / 1000
		y[k] = 7 + 0.3*s - 0.02*s*s
	}
	x := make([]float64, len(y))
	newSmoother(3, len(y)).run(y, 1e9, x)
	for k := range y {
		if math.Abs(x[k]-y[k]) > 1e-10 {
			t.Fatalf("sample %d moved by %g", k, x[k]-y[k])
		}
	}
}

// The discrepancy rule finds the penalty that leaves the noise that is there.
func TestDiscrepancy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	y := make([]float64, 8000)
	for k := range y {
		y[k] = math.Sin(0.01*float64(k)) + 1e-3*r.NormFloat64()
	}
	s := newSmoother(4, len(y))
	x, d := make([]float64, len(y)), &data{spans: []span{{0, len(y), 1}}}
	s.run(y, s.discrepancy(d, y, 1e-3, x), x)
	err := 0.0
	for k := range y {
		err += math.Pow(x[k]-math.Sin(0.01*float64(k)), 2)
	}
	if rms := math.Sqrt(err / float64(len(y))); rms > 3e-4 {
		t.Errorf("rms error after smoothing %g of noise 1e-3", rms)
	}
}
