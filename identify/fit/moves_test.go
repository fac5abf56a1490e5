package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The linear model of a solution foretells what a fit of other rows would be, exactly where the model is linear: the move of
// the parameters, their errors, what is left, and the best share of a further column.
func TestLinearForetells(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	const n = 300
	cols := make([][3]float64, n)
	y := make([]float64, n)
	for k := range cols {
		cols[k] = [3]float64{1e3 * rng.NormFloat64(), 1, float64(k) / n}
		y[k] = 2e-3*cols[k][0] + 3 - 5*cols[k][2] + 0.1*rng.NormFloat64()
	}
	fitted := func(dy []float64, extra bool) (theta []float64, left float64) {
		p := 3
		if extra {
			p = 4
		}
		a, b := make([][]float64, p), make([]float64, p)
		row := func(k int) []float64 {
			r := append([]float64{}, cols[k][:]...)
			if extra {
				r = append(r, dy[k])
			}
			return r
		}
		target := func(k int) float64 {
			if extra {
				return y[k]
			}
			return y[k] - dy[k]
		}
		for i := range a {
			a[i] = make([]float64, p)
		}
		for k := range y {
			r := row(k)
			for i := range r {
				for j := range r {
					a[i][j] += r[i] * r[j]
				}
				b[i] += r[i] * target(k)
			}
		}
		for i := range p { // Gauss
			for j := i + 1; j < p; j++ {
				f := a[j][i] / a[i][i]
				for c := range p {
					a[j][c] -= f * a[i][c]
				}
				b[j] -= f * b[i]
			}
		}
		theta = make([]float64, p)
		for i := p - 1; i >= 0; i-- {
			theta[i] = b[i]
			for j := i + 1; j < p; j++ {
				theta[i] -= a[i][j] * theta[j]
			}
			theta[i] /= a[i][i]
		}
		for k := range y {
			e := target(k)
			for i, x := range row(k) {
				e -= x * theta[i]
			}
			left += e * e
		}
		return theta, math.Sqrt(left / n)
	}
	zero, dy := make([]float64, n), make([]float64, n)
	for k := range dy {
		dy[k] = math.Sin(float64(k))*0.2 + 0.3*cols[k][2]
	}
	theta, _ := fitted(zero, false)
	s := &Solution{Residual: make([]float64, n), Jac: make([]float64, 3*n), FreeParams: []int{0, 1, 2}, Params: make([]Param, 3)}
	for j := range s.Params {
		s.Params[j].Value, s.Params[j].Lo, s.Params[j].Hi = theta[j], math.Inf(-1), math.Inf(1)
	}
	for k := range y {
		s.Residual[k] = y[k]
		for j := range 3 {
			s.Jac[3*k+j] = cols[k][j]
			s.Residual[k] -= cols[k][j] * theta[j]
		}
	}
	l := NewLinear(s)
	move := l.Move(dy)
	other, left := fitted(dy, false)
	for j := range move {
		if math.Abs(theta[j]+move[j]-other[j]) > 1e-9*math.Abs(other[j]) {
			t.Errorf("parameter %d goes to %g, a fit finds %g", j, theta[j]+move[j], other[j])
		}
	}
	if got := l.RMSAfter(dy, move); math.Abs(got/left-1) > 1e-9 {
		t.Errorf("%g is left, after a fit %g", got, left)
	}
	with, least := fitted(dy, true)
	share, _ := l.BestFactor(dy, move)
	if math.Abs(share-with[3]) > 1e-9 {
		t.Errorf("share %g of the column, a fit finds %g", share, with[3])
	}
	for j := range move {
		move[j] *= share
	}
	for k := range dy {
		dy[k] *= share
	}
	if got := l.RMSAfter(dy, move); math.Abs(got/least-1) > 1e-9 {
		t.Errorf("%g is left with the column, after a fit %g", got, least)
	}
	a, err := Assess(s)
	if err != nil {
		t.Fatal(err)
	}
	for j, e := range a.Estimates {
		if math.Abs(l.Err()[j] / *e.StdErr - 1) > 1e-9 {
			t.Errorf("error %g, %g by the covariance", l.Err()[j], *e.StdErr)
		}
	}
}
