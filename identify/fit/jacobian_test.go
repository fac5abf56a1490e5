package fit

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// wave has third derivatives of every kind; it fails where broken says so.
type wave struct{ broken func(x []float64) bool }

func (e wave) Residuals(x, r []float64) engine.Status {
	if e.broken != nil && e.broken(x) {
		for k := range r {
			r[k] = 1e12
		}
		return engine.NonFinite
	}
	for k := range r {
		r[k] = math.Sin(x[0]*float64(k)) * math.Exp(x[1]) / x[2]
	}
	return engine.OK
}

func (wave) exact(x, r []float64, n int) []float64 {
	j := make([]float64, n*3)
	for k := range n {
		u, e := float64(k), math.Exp(x[1])
		j[3*k], j[3*k+1], j[3*k+2] = u*math.Cos(x[0]*u)*e/x[2], math.Sin(x[0]*u)*e/x[2], -math.Sin(x[0]*u)*e/x[2]/x[2]
	}
	return j
}

func waveProblem(e wave, x ...float64) *Problem {
	return &Problem{
		Params: []Param{free("frequency", x[0], 0.1, 1), free("power", x[1], -2, 2), logarithmic("divisor", x[2], 0.5, 50)},
		Rows:   8, NewEvaluator: func() Evaluator { return e },
	}
}

// worst is the largest error of a Jacobian against the exact one, in the largest element of its column.
func worst(got, want []float64, columns int) float64 {
	w := 0.0
	for c := range columns {
		size := 0.0
		for k := c; k < len(want); k += columns {
			size = max(size, math.Abs(want[k]))
		}
		for k := c; k < len(want); k += columns {
			w = max(w, math.Abs(got[k]-want[k])/size)
		}
	}
	return w
}

func TestDifferencesAreOfSecondOrder(t *testing.T) {
	scale := map[string]float64{"frequency": 0.3, "power": 1}
	for _, c := range []struct {
		where   string
		x       []float64
		forward bool
		order   float64
	}{
		{"inside", []float64{0.4, 0.3, 3}, false, 4},
		{"on lower bounds", []float64{0.1, -2, 0.5}, false, 4},
		{"on upper bounds", []float64{1, 2, 50}, false, 4},
		{"forward", []float64{0.4, 0.3, 3}, true, 2},
	} {
		var e [2]float64
		for i, h := range []float64{2e-3, 1e-3} {
			p := waveProblem(wave{}, c.x...)
			at := newCoordinates(p.Params, scale)
			d := newSlope(p, at, c.forward, 1)
			s, r := make([]float64, 3), make([]float64, p.Rows)
			at.from(c.x, s)
			d.residuals(c.x, r, math.Inf(1), false)
			d.columns(context.Background(), s, r, h)
			got := make([]float64, 3*p.Rows)
			for j := range 3 {
				for k := range r {
					got[3*k+j] = d.j[j][k] / at.slope(j, c.x[j])
				}
			}
			e[i] = worst(got, wave{}.exact(c.x, nil, p.Rows), 3)
		}
		t.Logf("%s: error %.2e, with half the step %.2e", c.where, e[0], e[1])
		if ratio := e[0] / e[1]; math.Abs(ratio/c.order-1) > 0.1 {
			t.Errorf("%s: half the step divides the error by %.3g, want %g", c.where, ratio, c.order)
		}
	}
}

// A side on which the simulation fails is left out instead of spoiling the column.
func TestFailingSideIsLeftOut(t *testing.T) {
	x := []float64{0.4, 0.3, 3}
	for side, broken := range []func(y []float64) bool{
		func(y []float64) bool { return y[0] > x[0] || y[2] > x[2]*(1+1e-9) },
		func(y []float64) bool { return y[1] < x[1] || y[2] < x[2]*(1-1e-9) },
	} {
		s, err := LM{}.At(waveProblem(wave{broken}, x...))
		if err != nil {
			t.Fatal(err)
		}
		if e := worst(s.Jac, wave{}.exact(x, nil, 8), 3); e > 0.02 || len(s.Notes) != 0 {
			t.Errorf("side %d: error %g, notes %q", side, e, s.Notes)
		}
	}
	s, err := LM{}.At(waveProblem(wave{func(y []float64) bool { return y[1] != x[1] }}, x...))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Notes) != 1 || !numeric.AllFinite(s.Jac...) {
		t.Errorf("both sides fail: notes %q", s.Notes)
	}
}

// knowing is a wave that knows its derivatives.
type knowing struct{ wave }

func (e knowing) Columns(x []float64) ([][]float64, engine.Status) {
	return byColumn(e.exact(x, nil, 8), len(x)), engine.OK
}

// byColumn is a matrix of p columns, given by row, by column.
func byColumn(flat []float64, p int) [][]float64 {
	columns := make([][]float64, p)
	for k, v := range flat {
		columns[k%p] = append(columns[k%p], v)
	}
	return columns
}

func TestOwnDerivativesAreUsed(t *testing.T) {
	x := []float64{0.4, 0.3, 3}
	p := waveProblem(wave{}, x...)
	p.NewEvaluator = func() Evaluator { return knowing{} }
	s, err := LM{}.At(p)
	if err != nil {
		t.Fatal(err)
	}
	if e := worst(s.Jac, wave{}.exact(x, nil, 8), 3); e > 1e-15 || s.Evaluations != 2 {
		t.Errorf("error %g with %d evaluations", e, s.Evaluations)
	}
}

// segments is a chain as multiple shooting makes it: x' = −a·x + b of a long record, cut into parts that begin at states of
// their own and must join.
type segments struct {
	n, rows int // parts, rows of each without the join
	y       []float64
}

func (e segments) Residuals(x, r []float64) engine.Status {
	a, b := x[0], x[1]
	i := 0
	for s := range e.n {
		v := x[2+s]
		for range e.rows {
			r[i] = v - e.y[i-s]
			v += 0.05 * (b - a*v - 0.1*a*v*v)
			i++
		}
		if s+1 < e.n {
			r[i] = 10 * (v - x[3+s])
			i++
		}
	}
	return engine.OK
}

func shooting(n, rows int) *Problem {
	e := segments{n: n, rows: rows, y: make([]float64, n*rows)}
	rng := rand.New(rand.NewPCG(3, 3))
	v := 3.0
	for k := range e.y {
		e.y[k] = v + 0.01*rng.NormFloat64()
		v += 0.05 * (1.5 - 0.7*v - 0.07*v*v)
	}
	params := []Param{logarithmic("a", 0.2, 0.01, 10), free("b", 0, -10, 10)}
	for s := range n {
		params = append(params, free("x"+string(rune('a'+s%26))+string(rune('a'+s/26)), e.y[s*rows], -10, 10))
	}
	return &Problem{Params: params, Rows: n*(rows+1) - 1, NewEvaluator: func() Evaluator { return e }}
}

func BenchmarkShooting(b *testing.B) {
	p := shooting(298, 66)
	f := &descent{m: LM{Workers: 1}.withDefaults(), ctx: context.Background(), theta: Values(p.Params)}
	if err := f.open(p, ""); err != nil {
		b.Fatal(err)
	}
	f.slope.columns(f.ctx, f.s, f.r, 1e-3)
	for b.Loop() {
		f.factor()
		f.inBox(1e-2)
	}
}

func BenchmarkFactor(b *testing.B) {
	p := toneProblem(10000, 0.1)
	f := &descent{m: LM{Workers: 1}.withDefaults(), ctx: context.Background(), theta: Values(p.Params)}
	if err := f.open(p, ""); err != nil {
		b.Fatal(err)
	}
	f.slope.columns(f.ctx, f.s, f.r, 1e-3)
	b.ReportAllocs()
	for b.Loop() {
		f.factor()
		f.inBox(1e-2)
	}
}
