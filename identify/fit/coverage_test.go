package fit

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// repeated is an experiment of known truth, recorded again and again with other noise.
type repeated struct {
	name   string
	truth  []float64
	rows   int
	rho    float64 // correlation of neighbouring noise
	noise  float64
	pieces []int
	model  func(theta []float64, k int) float64
}

func trend(x []float64, k int) float64 {
	t := float64(k) / 400
	return x[0] + x[1]*t + x[2]*math.Sin(20*t)
}

func fading(x []float64, k int) float64 { return x[0]*math.Exp(-float64(k)/400/x[1]) + x[2] }

var repetitions = []repeated{
	{"linear, white", []float64{1, 2, 0.5}, 400, 0, 0.3, nil, trend},
	{"linear, correlated", []float64{1, 2, 0.5}, 400, 0.5, 0.3, []int{0, 150}, trend},
	{"decay, white", []float64{3, 0.3, 1}, 400, 0, 0.2, nil, fading},
	{"decay, correlated", []float64{3, 0.3, 1}, 400, 0.5, 0.2, nil, fading},
}

// measuring is a formula that knows what it was compared with.
type measuring struct {
	formula
	y      []float64
	pieces []int
}

func (m measuring) Measured() ([]float64, string, []int, float64) { return m.y, "", m.pieces, 1e-3 }

// record is the problem of one more record, to start from 1.
func (c repeated) record(seed uint64) *Problem {
	e := series(rand.New(rand.NewPCG(seed, 77)), c.rows, c.rho, c.pieces)
	y := make([]float64, c.rows)
	for k := range y {
		y[k] = c.model(c.truth, k) + c.noise*e[k]
	}
	p := &Problem{Rows: c.rows, NewEvaluator: func() Evaluator {
		return measuring{func(x, r []float64) {
			for k := range r {
				r[k] = c.model(x, k) - y[k]
			}
		}, y, c.pieces}
	}}
	for j := range c.truth {
		p.Params = append(p.Params, Param{Param: engine.Param{Name: string(rune('a' + j)), Value: 1, Lo: 1e-3, Hi: 1e3}, Log: j == 1})
	}
	return p
}

func covers(ci *[2]float64, x float64) bool { return ci != nil && ci[0] <= x && x <= ci[1] }

// share of the intervals of all kinds that hold the truth, over many records.
func (c repeated) coverage(t *testing.T, records int) (goBy, classical, logs float64) {
	total := 1 / float64(records*len(c.truth))
	for seed := range uint64(records) {
		s, err := LM{Workers: 1}.Fit(t.Context(), c.record(seed), nil)
		if err != nil {
			t.Fatal(err)
		}
		a := assessed(t, s)
		for j, x := range c.truth {
			if covers(a.Estimates[j].Interval(a.Residual.White), x) {
				goBy += total
			}
			if covers(a.Estimates[j].CI95, x) {
				classical += total
			}
			if j == 1 && covers(a.Estimates[j].LogCI95, x) {
				logs += 1 / float64(records)
			}
		}
	}
	return goBy, classical, logs
}

// The intervals to go by hold the truth in 90 … 98 % of records, linear or not, with white and with correlated noise,
// where the classical ones are far too narrow.
func TestIntervalsCoverTheTruth(t *testing.T) {
	for _, c := range repetitions {
		goBy, classical, logs := c.coverage(t, 150)
		t.Logf("%s: intervals to go by hold the truth in %.1f %%, classical %.1f %%, classical of the logarithm %.1f %%", c.name, 100*goBy,
			100*classical, 100*logs)
		if goBy < 0.90 || goBy > 0.98 || (c.rho > 0) != (classical < 0.87) {
			t.Errorf("%s: %.1f %% covered, classical %.1f %%", c.name, 100*goBy, 100*classical)
		}
	}
}

// fromEstimate refits from the estimate, with small steps only.
func fromEstimate(ctx context.Context, p *Problem) (*Solution, error) {
	return LM{Steps: []float64{1e-3}, Workers: 1}.Fit(ctx, p, nil)
}

// spreadOf is the standard deviation of parameter j over the replicates.
func spreadOf(b *Resampled, j int) float64 {
	var x []float64
	for _, theta := range b.Theta {
		x = append(x, theta[j])
	}
	return stat.StdDev(x, nil)
}

// Of a mean, everything is known: with white residuals the bootstrap gives s/√N; with correlated ones, in blocks, the
// long-run value, which single rows miss.
func TestBootstrapOfAMean(t *testing.T) {
	c := repeated{"mean", []float64{1}, 600, 0, 1, nil, func(x []float64, k int) float64 { return x[0] }}
	for _, v := range []struct {
		rho   float64
		block int
		want  float64 // standard error relative to s/√N
		least int     // length of blocks
	}{
		{0, 0, 1, 1}, {0.6, 1, 1, 1}, {0.6, 0, math.Sqrt(1.6 / 0.4), 10}, {0.6, 40, math.Sqrt(1.6 / 0.4), 40},
	} {
		c.rho = v.rho
		sum, records := 0.0, 12
		for seed := range uint64(records) {
			p := c.record(seed)
			s, err := LM{}.Fit(t.Context(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := Bootstrap(t.Context(), p, s, 100, v.block, seed, fromEstimate)
			if err != nil {
				t.Fatal(err)
			}
			if b.FittedReplicates != 100 || b.Block < v.least {
				t.Errorf("%d replicates, blocks of %d", b.FittedReplicates, b.Block)
			}
			sum += spreadOf(b, 0) / (math.Sqrt(floats.Dot(s.Residual, s.Residual)/599/600) * float64(records))
		}
		if sum < 0.82*v.want || sum > 1.06*v.want {
			t.Errorf("correlation %g, block %d: standard error %.3f·s/√N, closed form %.3f", v.rho, v.block, sum, v.want)
		}
	}
}

// Bootstrap and Jacobian agree where both hold, through every kind of evaluator, whoever computes; an interruption and
// fits that fail are counted.
func TestBootstrapOfADecay(t *testing.T) {
	c := repetitions[2]
	p := c.record(4)
	s, err := LM{}.Fit(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := assessed(t, s)
	var last *Resampled
	kinds := map[string]func(measuring) Evaluator{
		"plain": func(m measuring) Evaluator { return m },
		"exact": func(m measuring) Evaluator { return differentiated{m.formula} },
	}
	for _, name := range []string{"plain", "exact"} {
		q := *p
		q.NewEvaluator = func() Evaluator { return kinds[name](p.NewEvaluator().(measuring)) }
		b, err := Bootstrap(t.Context(), &q, s, 200, 0, 9, fromEstimate)
		if err != nil {
			t.Fatal(err)
		}
		for j, q := range s.Params {
			se, err := spreadOf(b, j), *a.Estimates[j].StdErr
			bias := -q.Value
			for _, theta := range b.Theta {
				bias += theta[j] / float64(b.FittedReplicates)
			}
			if r := se / err; r < 0.85 || r > 1.15 || math.Abs(bias) > 0.3*se || !covers(b.CI95[q.Name], q.Value) {
				t.Errorf("%s: %s ± %g by bootstrap, %g by Jacobian; bias %g, %v", name, q.Name, se, err, bias, b.CI95[q.Name])
			}
			if last != nil && math.Abs(se/spreadOf(last, j)-1) > 1e-3 {
				t.Errorf("%s: another evaluator gives another error, %g instead of %g", name, se, spreadOf(last, j))
			}
		}
		last = b
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if b, err := Bootstrap(ctx, p, s, 50, 0, 9, fromEstimate); err != nil || b.FittedReplicates != 0 || len(b.CI95) != 0 {
		t.Errorf("%+v, %v", b, err)
	}
	for _, bad := range []int{-1, 0} {
		if _, err := Bootstrap(t.Context(), p, s, bad, 0, 9, fromEstimate); err == nil {
			t.Errorf("%d replicates were accepted", bad)
		}
	}
	fails := func(context.Context, *Problem) (*Solution, error) { return nil, context.DeadlineExceeded }
	if _, err := Bootstrap(t.Context(), p, s, 3, 0, 9, fails); err == nil {
		t.Error("no error though every fit failed")
	}
}

// differentiated knows the derivatives of fading.
type differentiated struct{ formula }

func (d differentiated) Columns(x []float64) ([][]float64, engine.Status) {
	j := make([]float64, 3*400)
	for k := range 400 {
		t := float64(k) / 400
		e := math.Exp(-t / x[1])
		j[3*k], j[3*k+1], j[3*k+2] = e, x[0]*e*t/(x[1]*x[1]), 1
	}
	return byColumn(j, 3), engine.OK
}

// A residual follows what it depends on, at the lag it does; an unrelated signal, with a memory of its own and against a
// residual with memory, is called related in about 1 % of records.
func TestCrossCorrelation(t *testing.T) {
	wrong, found := 0, 0
	const records = 300
	for seed := range uint64(records) {
		rng := rand.New(rand.NewPCG(seed, 5))
		e, u := series(rng, 1500, 0.7, nil), series(rng, 1500, 0.9, nil)
		if CrossOf(e, u, nil).Correlated {
			wrong++
		}
		for k := range e[3:] {
			e[k+3] += 0.4 * u[k]
		}
		if c := CrossOf(e, u, nil); c.Correlated && max(c.WorstLag-3, 3-c.WorstLag) <= 1 {
			found++
		}
	}
	t.Logf("of %d records, %d unrelated ones called related (expected 3), %d related ones found at their lag", records, wrong, found)
	if wrong > 12 || found < 285 {
		t.Errorf("of %d records, %d unrelated ones called related (expected 3), %d related ones found at their lag", records, wrong, found)
	}
	if c := CrossOf([]float64{1, 2, 3}, []float64{4, 4, 4}, nil); c.Correlated || c.Worst != 0 {
		t.Errorf("a constant is related: %+v", c)
	}
}
