package numeric

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// system has condition kappa: orthogonal columns mixed by singular values that fall from 1 to 1/kappa, columns then scaled
// to very different sizes, and a right-hand side with a part that no combination reaches.
func system(rng *rand.Rand, n, p int, kappa float64) (w [][]float64, y []float64) {
	normal := func(n, m int) *mat.Dense {
		d := mat.NewDense(n, m, nil)
		d.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, d)
		return d
	}
	orthogonal := func(n, m int) mat.Matrix {
		var qr mat.QR
		qr.Factorize(normal(n, m))
		var q mat.Dense
		qr.QTo(&q)
		return q.Slice(0, n, 0, m)
	}
	s := mat.NewDense(p, p, nil)
	for i := range p {
		s.Set(i, i, math.Pow(kappa, -float64(i)/float64(p-1)))
	}
	var a mat.Dense
	a.Product(orthogonal(n, p), s, orthogonal(p, p))
	w = make([][]float64, p)
	for j := range w {
		w[j] = mat.Col(nil, j, &a)
		for k := range w[j] {
			w[j][k] *= math.Pow(10, float64(3*j-6))
		}
	}
	y = make([]float64, n)
	for k := range y {
		y[k] = 1e-3 * rng.NormFloat64()
		for j := range w {
			y[k] += w[j][k] * math.Pow(10, float64(6-3*j))
		}
	}
	return w, y
}

// exactly solves the normal equations in 600 bits: the least-squares solution of the numbers as they stand.
func exactly(w [][]float64, y []float64) []float64 {
	p := len(w)
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(x) }
	zero := func() *big.Float { return new(big.Float).SetPrec(600) }
	a := make([][]*big.Float, p)
	for i := range a {
		a[i] = make([]*big.Float, p+1)
		for j := range a[i] {
			col := y
			if j < p {
				col = w[j]
			}
			a[i][j] = zero()
			for k := range y {
				a[i][j].Add(a[i][j], zero().Mul(num(w[i][k]), num(col[k])))
			}
		}
	}
	for i := range p {
		for r := i + 1; r < p; r++ {
			f := zero().Quo(a[r][i], a[i][i])
			for j := i; j <= p; j++ {
				a[r][j].Sub(a[r][j], zero().Mul(f, a[i][j]))
			}
		}
	}
	x, out := make([]*big.Float, p), make([]float64, p)
	for i := p - 1; i >= 0; i-- {
		s := zero().Set(a[i][p])
		for j := i + 1; j < p; j++ {
			s.Sub(s, zero().Mul(a[i][j], x[j]))
		}
		x[i] = s.Quo(s, a[i][i])
		out[i], _ = x[i].Float64()
	}
	return out
}

// wrong is the error of x, every component by the size of its column.
func wrong(x, want []float64) float64 {
	e, size := 0.0, 0.0
	for j := range x {
		scale := math.Pow(10, float64(3*j-6))
		e = math.Max(e, math.Abs(x[j]-want[j])*scale)
		size = math.Max(size, math.Abs(want[j])*scale)
	}
	return e / size
}

// On systems of condition 1e2 … 1e8 the stream is as good as a QR of all rows at once, though it holds 128 of them; the
// normal equations are not.
func TestFactorIsAsGoodAsQR(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, kappa := range []float64{1e2, 1e4, 1e6, 1e8} {
		var stream, dense, normal float64
		for range 3 {
			w, y := system(rng, 600, 6, kappa)
			want := exactly(w, y)

			theta := make([]float64, len(w))
			f := NewFactor(len(w))
			f.AddColumns(w, y)
			if err := f.Solve(theta); err != nil {
				t.Fatal(err)
			}
			stream = math.Max(stream, wrong(theta, want))

			var a, g mat.Dense
			a.CloneFrom(mat.NewDense(6, 600, nil))
			for j, col := range w {
				a.SetRow(j, col)
			}
			x := mat.NewVecDense(6, nil)
			var qr mat.QR
			qr.Factorize(a.T())
			if err := qr.SolveVecTo(x, false, mat.NewVecDense(len(y), y)); err != nil {
				if _, ill := err.(mat.Condition); !ill {
					t.Fatal(err)
				}
			}
			dense = math.Max(dense, wrong(x.RawVector().Data, want))

			g.Mul(&a, a.T())
			rhs := mat.NewVecDense(6, nil)
			rhs.MulVec(&a, mat.NewVecDense(len(y), y))
			_ = x.SolveVec(&g, rhs)
			normal = math.Max(normal, wrong(x.RawVector().Data, want))
		}
		t.Logf("condition %.0e: error %.1e, gonum QR %.1e, normal equations %.1e", kappa, stream, dense, normal)
		if stream > 4*dense+1e-15 || stream > 1e-13*kappa {
			t.Errorf("condition %.0e: error %.1e, gonum QR %.1e", kappa, stream, dense)
		}
		if kappa >= 1e4 && normal < 10*stream {
			t.Errorf("condition %.0e: normal equations %.1e are no worse than %.1e: no test of anything", kappa, normal, stream)
		}
	}
}

// Columns that begin late and are often zero, written in blocks, in a factor that was larger before: R is that of gonum.
func TestFactorOfSparseBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	f := NewFactorBlock(7, 64)
	for _, rows := range []int{5, 100, 700} {
		const n = 5
		a, b := mat.NewDense(rows, n, nil), mat.NewDense(rows, 1, nil)
		f.Resize(n)
		for from := 0; from < rows; from += 64 {
			k := min(64, rows-from)
			f.AddBlock(k, func(j int, column []float64) {
				for i := range column {
					v := rng.NormFloat64() * math.Pow(1e3, float64(j))
					switch {
					case j == n:
						v = rng.NormFloat64()
						b.Set(from+i, 0, v)
					case rng.IntN(3) == 0 && j != n-1, 20*j > from+i && i >= n:
						v = 0
						fallthrough
					default:
						a.Set(from+i, j, v)
					}
					column[i] = v
				}
			})
		}

		var qr mat.QR
		qr.Factorize(a)
		var want, x, e mat.Dense
		qr.RTo(&want)
		r, _ := f.Triangle()
		for i := range n {
			for j := range n {
				// rows of R have a sign of their own
				got, want := r[i*n+j]*math.Copysign(1, r[i*n+i]), want.At(i, j)*math.Copysign(1, want.At(i, i))
				if math.Abs(got-want) > 1e-12*math.Pow(1e3, float64(j))*math.Sqrt(float64(rows)) {
					t.Errorf("%d rows: R[%d,%d] = %g, want %g", rows, i, j, got, want)
				}
			}
		}
		if err := qr.SolveTo(&x, false, b); err != nil {
			t.Fatal(err)
		}
		got := make([]float64, n)
		if err := f.Solve(got); err != nil {
			t.Fatal(err)
		}
		for j := range got {
			if want := x.At(j, 0); math.Abs(got[j]-want) > 1e-10*math.Abs(want) {
				t.Errorf("%d rows: x[%d] = %g, want %g", rows, j, got[j], want)
			}
		}
		e.Mul(a, &x)
		e.Sub(&e, b)
		if want := mat.Norm(&e, 2); math.Abs(math.Sqrt(f.SumSquares())-want) > 1e-9*(want+1e-3) {
			t.Errorf("%d rows: rest %g, want %g", rows, math.Sqrt(f.SumSquares()), want)
		}

		// half the weight, in a copy: the same solution, a quarter of the rest
		half := NewFactor(n)
		half.Set(f)
		half.Scale(0.5)
		again := make([]float64, n)
		if err := half.Solve(again); err != nil {
			t.Fatal(err)
		}
		for j := range got {
			if math.Abs(again[j]-got[j]) > 1e-14*math.Abs(got[j]) || math.Abs(half.SumSquares()-f.SumSquares()/4) > 1e-14*f.SumSquares() ||
				half.Rows() != rows {
				t.Errorf("%d rows, scaled: x[%d] = %g, want %g", rows, j, again[j], got[j])
			}
		}
	}
}

// Rows one by one, in columns, in two parts merged: the same answer, the same rest, for any number of rows.
func TestFactorMerges(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for _, n := range []int{6, 7, 100, 128, 129, 1000} {
		w, y := system(rng, n, 5, 100)
		whole, one, left, right := NewFactor(5), NewFactor(5), NewFactor(5), NewFactor(5)
		whole.AddColumns(w, y)
		row := make([]float64, 5)
		for k := range y {
			for j := range row {
				row[j] = w[j][k]
			}
			one.Add(row, y[k])
			if k < n/3 {
				left.Add(row, y[k])
			} else {
				right.Add(row, y[k])
			}
		}
		left.Merge(right)
		want := make([]float64, 5)
		if err := whole.Solve(want); err != nil {
			t.Fatal(err)
		}
		rest := 0.0
		for k := range y {
			e := y[k]
			for j := range w {
				e -= w[j][k] * want[j]
			}
			rest += e * e
		}
		for name, f := range map[string]*Factor{"columns": whole, "rows": one, "merged": left} {
			theta := make([]float64, 5)
			if err := f.Solve(theta); err != nil {
				t.Fatal(err)
			}
			if e := wrong(theta, want); e > 1e-11 {
				t.Errorf("%d rows, %s: θ differs by %.1e", n, name, e)
			}
			if math.Abs(f.SumSquares()-rest) > 1e-9*rest || f.Rows() != n {
				t.Errorf("%d rows, %s: rest %.6e of %d rows, want %.6e", n, name, f.SumSquares(), f.Rows(), rest)
			}
		}
	}
}

// The condition number of scaled columns, against that by singular values of the whole matrix.
func TestFactorCondition(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	se := make([]float64, 4)
	for _, kappa := range []float64{2, 1e3, 1e7} {
		w, y := system(rng, 300, 4, kappa)
		f := NewFactor(4)
		f.AddColumns(w, y)
		a := mat.NewDense(300, 4, nil)
		for j, col := range w {
			length := mat.Norm(mat.NewVecDense(300, col), 2)
			for k, v := range col {
				a.Set(k, j, v/length)
			}
		}
		exact := mat.Cond(a, 2)
		if c := f.Errors(se); c < exact*(1-1e-6) || c > 2*(exact+1/exact)*(1+1e-6) {
			t.Errorf("condition %g, want within [%g, %g]", c, exact, 2*(exact+1/exact))
		}
	}
	f := NewFactor(2)
	if c := f.Errors(se); !math.IsInf(c, 1) {
		t.Errorf("no rows: condition %g", c)
	}
	for range 5 {
		f.Add([]float64{1, 0}, 1)
	}
	if c := f.Errors(se); !math.IsInf(c, 1) {
		t.Errorf("one column zero: condition %g", c)
	}
}

func TestFactorRefusesDependence(t *testing.T) {
	f := NewFactor(3)
	for k := range 50 {
		x := float64(k)
		f.Add([]float64{1, x, 2 - 3*x}, x)
	}
	theta := make([]float64, 3)
	if err := f.Solve(theta); err == nil {
		t.Errorf("dependent columns solved: %v", theta)
	}
	f.Reset()
	f.Add([]float64{1, 2, math.NaN()}, 0)
	if err := f.Solve(theta); err == nil {
		t.Errorf("NaN solved: %v", theta)
	}
	if err := NewFactor(2).Solve(theta[:2]); err == nil {
		t.Error("no rows solved")
	}
}

func TestFactorAllocatesNothing(t *testing.T) {
	w, y := system(rand.New(rand.NewPCG(1, 1)), 1000, 6, 10)
	f, theta := NewFactor(6), make([]float64, 6)
	if n := testing.AllocsPerRun(10, func() {
		f.Reset()
		f.AddColumns(w, y)
		_ = f.Solve(theta)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// ns/sample of six regressors, and of a dense QR of the same rows.
func BenchmarkFactor(b *testing.B) {
	w, y := system(rand.New(rand.NewPCG(1, 1)), 1<<14, 6, 10)
	theta := make([]float64, 6)
	b.Run("columns", func(b *testing.B) {
		f := NewFactor(6)
		b.ReportAllocs()
		for b.Loop() {
			f.Reset()
			f.AddColumns(w, y)
			_ = f.Solve(theta)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(y)), "ns/sample")
	})
	b.Run("rows", func(b *testing.B) {
		f, row := NewFactor(6), make([]float64, 6)
		for b.Loop() {
			f.Reset()
			for k := range y {
				for j := range row {
					row[j] = w[j][k]
				}
				f.Add(row, y[k])
			}
			_ = f.Solve(theta)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(y)), "ns/sample")
	})
	b.Run("gonum", func(b *testing.B) {
		a := mat.NewDense(len(y), 6, nil)
		for j, col := range w {
			a.SetCol(j, col)
		}
		x := mat.NewVecDense(6, nil)
		for b.Loop() {
			var qr mat.QR
			qr.Factorize(a)
			_ = qr.SolveVecTo(x, false, mat.NewVecDense(len(y), y))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(y)), "ns/sample")
	})
}
