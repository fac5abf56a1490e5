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

// Several columns that a model lacks, by Fourier's sums: of cos + 3 and cos + sin/5 + 1 beside a constant the factors are A − 5·B and 5·B,
// where A and B are the parts of cos and sin. Of a column and its double only one combination is told.
func TestSeveralColumns(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(5, 3))
	y, one, d := make([]float64, n), make([]float64, n), [3][]float64{}
	mean, a, b := 0.0, 0.0, 0.0
	for k := range n {
		sin, cos := math.Sincos(2 * math.Pi * 3 * float64(k) / n)
		y[k], one[k] = 0.2*rng.NormFloat64(), 1
		d[0], d[1], d[2] = append(d[0], cos+3), append(d[1], cos+sin/5+1), append(d[2], 2*(cos+3))
		mean, a, b = mean+y[k]/n, a+2*y[k]*cos/n, b+2*y[k]*sin/n
	}
	s := &Solution{Jac: one, FreeParams: []int{0}, Params: make([]Param, 1)}
	s.Params[0].Value, s.Params[0].Lo, s.Params[0].Hi = mean, math.Inf(-1), math.Inf(1)
	for k := range y {
		s.Residual = append(s.Residual, y[k]-mean)
	}
	l := NewLinear(s)
	f := l.RobustFactors([][]float64{d[0], d[1]}, [][]float64{l.Move(d[0]), l.Move(d[1])})
	for i, want := range []float64{a - 5*b, 5 * b} {
		got, variance := 0.0, 0.0
		for j, axis := range f.Axes {
			got, variance = got+axis[i]*f.Values[j], variance+axis[i]*axis[i]*f.Err[j]*f.Err[j]
		}
		of := 0.2 * math.Sqrt(2./n) * math.Sqrt([]float64{26, 25}[i])
		if math.Abs(got-want) > 1e-9 || math.Abs(math.Sqrt(variance)/of-1) > 0.2 {
			t.Errorf("factor %d: %g ± %g, want %g ± %g", i, got, math.Sqrt(variance), want, of)
		}
	}
	f = l.RobustFactors([][]float64{d[0], d[2]}, [][]float64{l.Move(d[0]), l.Move(d[2])})
	for j, axis := range f.Axes {
		if none := math.Abs(axis[0]+2*axis[1]) < 1e-6; none != math.IsInf(f.Err[j], 1) {
			t.Errorf("along %v: error %g", axis, f.Err[j])
		}
	}
	for k, got := range l.Less(d[2], []float64{6}) {
		if math.Abs(got-d[2][k]+6) > 1e-9 {
			t.Fatalf("row %d: %g less 6 is %g", k, d[2][k], got)
		}
	}
}
