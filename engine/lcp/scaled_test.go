package lcp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// pMatrix has positive principal minors: positive definite and not symmetric, dominated by its diagonal, or triangular.
func pMatrix(r *rand.Rand, n int) []float64 {
	m := make([]float64, n*n)
	switch r.IntN(3) {
	case 0: // AᵀA + D + skew
		a := normals(r, n*n)
		for i := range n {
			for j := range n {
				for k := range n {
					m[i*n+j] += a[k*n+i] * a[k*n+j]
				}
			}
		}
		for i := range n {
			m[i*n+i] += 0.5
			for j := range i {
				s := 2 * r.NormFloat64()
				m[i*n+j] += s
				m[j*n+i] -= s
			}
		}
	case 1:
		for i := range n {
			sum := 0.0
			for j := range n {
				if j != i {
					m[i*n+j] = r.NormFloat64()
					sum += math.Abs(m[i*n+j])
				}
			}
			m[i*n+i] = 1.2*sum + 0.1
		}
	default:
		for i := range n {
			m[i*n+i] = 0.5 + r.Float64()
			for j := range i {
				m[i*n+j] = r.NormFloat64()
			}
		}
	}
	return m
}

// A P-matrix has one solution for every q [CPS09] 3.3.7, in whatever units its rows and unknowns are. It is found, and never is it said
// that there is none.
func TestScaledPMatrices(t *testing.T) {
	r := source(11)
	failed := 0
	for range 2000 {
		n := 2 + r.IntN(9)
		m := pMatrix(r, n)
		z, w := make([]float64, n), make([]float64, n)
		for i := range n {
			if r.IntN(2) == 0 {
				z[i] = 0.1 + r.Float64()
			} else {
				w[i] = 0.1 + r.Float64()
			}
		}
		row, column, q := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			row[i], column[i] = math.Pow(10, 16*r.Float64()-8), math.Pow(10, 16*r.Float64()-8)
		}
		for i := range n {
			q[i] = w[i]
			for j := range n {
				q[i] -= m[i*n+j] * z[j]
				m[i*n+j] *= row[i] * column[j]
			}
			q[i] *= row[i]
		}
		got := make([]float64, n)
		res := NewSolver(n).Solve(m, q, got)
		if res.NoSolution || res.Status == RayInfeasible {
			t.Fatalf("%v: a P-matrix has a solution\nM=%v\nq=%v", res, m, q)
		}
		if !res.Status.OK() {
			failed++
			t.Logf("%v", res)
			continue
		}
		for i := range n {
			if math.Abs(got[i]*column[i]-z[i]) > 1e-8 {
				t.Fatalf("z%d is %g, want %g in %+v\nM=%v\nq=%v", i, got[i]*column[i], z[i], res, m, q)
			}
		}
	}
	if failed > 0 {
		t.Errorf("%d of 2000 are not solved", failed)
	}
}

// The instance that was called without a solution: units of 1e-7 beside 1e7.
func TestScaledAsReported(t *testing.T) {
	m := []float64{200, 1.5e10, 4e15, 150, 1.4e10, 2e15, 0.4, 2e7, 3e13}
	q, z := []float64{-1.32e10, -1.07e10, -2.9e7}, make([]float64, 3)
	res := NewSolver(3).Solve(m, q, z)
	for i, want := range []float64{3e7, 0.4, 3e-7} {
		if !res.Status.OK() || math.Abs(z[i]/want-1) > 1e-12 {
			t.Fatalf("%v %v", res, z)
		}
	}
}
