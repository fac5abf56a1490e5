package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// Resampled is what a bootstrap says about the parameters of a solution.
type Resampled struct {
	FittedReplicates int // replicates that were fitted, fewer than wanted if interrupted …
	FailedReplicates int // … or if the fit of some failed
	Block            int // rows
	// 2.5 % and 97.5 % of the replicates, by name, for a Log parameter in its logarithm; none with fewer than 40
	CI95  map[string]*[2]float64
	Theta [][]float64 // of every replicate that was fitted, in their order
}

// percentileRows is the fewest replicates whose percentiles mean something: one beyond each end.
const percentileRows = 40

// Bootstrap fits n synthetic records that are what the model says at the estimate s plus residuals of the fit, drawn anew
// in blocks of consecutive rows [K89], which keeps what a residual has to do with its neighbours. It assumes that
// residuals look alike along the record, and takes neither the model for linear nor the errors for normal.
//
// Residuals are taken about their mean and scaled by √(N/(N−p)), for what fitting took from them; blocks never run across
// the border of a piece. block 0 takes the length that is best for a mean of an AR(1) series [PW04],
//
//	b = (6ρ²/(1−ρ²)²)^⅓·N^⅓,
//
// with ρ the autocorrelation of the residual at one row; at least 1, and 1 where rows are no series in time (Dt = 0).
//
// refit fits a problem from the values of its parameters. Replicates
// are computed side by side and each has the stream of random numbers of its own number, so the result depends on the seed
// alone. An interruption through ctx leaves the replicates that were done, without an error.
func Bootstrap(ctx context.Context, p *Problem, s *Solution, n, block int, seed uint64,
	refit func(context.Context, *Problem) (*Solution, error)) (*Resampled, error) {
	theta := make([]float64, len(p.Params))
	for j, q := range p.Params {
		i := Index(s.Params, q.Name)
		if i < 0 {
			return nil, fmt.Errorf("bootstrap: the solution has no parameter %s", q.Name)
		}
		theta[j] = s.Params[i].Value
	}
	switch {
	case n < 1 || block < 0:
		return nil, fmt.Errorf("bootstrap: %d replicates in blocks of %d rows, want at least 1 and 0", n, block)
	case p.Rows != len(s.Residual) || p.Rows <= len(p.Params):
		return nil, fmt.Errorf("bootstrap: %d rows, the solution has %d and %d parameters", p.Rows, len(s.Residual), len(p.Params))
	}
	start := p.At(theta)

	// residuals at the estimate, of the model itself: those of the solution may be weighted by a robust loss
	base := make([]float64, p.Rows)
	if st := p.NewEvaluator().Residuals(theta, base); st == engine.NonFinite {
		return nil, errors.New("bootstrap: the model fails at the estimate")
	}
	drawn := centred(base)
	if block == 0 {
		block = blockLength(drawn, s)
	}
	block = min(block, longest(p.Rows, s.Pieces))
	floats.Scale(math.Sqrt(float64(p.Rows)/float64(p.Rows-len(p.Params))), drawn)
	var from []int // rows where a block may begin
	eachPiece(p.Rows, s.Pieces, func(a, b int) {
		for k := a; k+block <= b; k++ {
			from = append(from, k)
		}
	})

	ends, errs := make([]*Solution, n), make([]error, n)
	newPool(0, n, func(_, i int) {
		// residuals become r + shift, and at the estimate those that were drawn
		shift := make([]float64, p.Rows)
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		eachPiece(p.Rows, s.Pieces, func(a, b int) {
			for k := a; k < b; k += block {
				copy(shift[k:min(k+block, b)], drawn[from[rng.IntN(len(from))]:])
			}
		})
		floats.Sub(shift, base)
		end, err := refit(ctx, shifted(start, shift))
		if ctx.Err() == nil {
			ends[i], errs[i] = end, err
		}
	}).run(ctx, n)
	return summary(p, ends, errs, block)
}

// summary forms percentiles of the replicates, whose parameters are those of the problem.
func summary(p *Problem, ends []*Solution, errs []error, block int) (*Resampled, error) {
	r := &Resampled{Block: block, CI95: map[string]*[2]float64{}}
	for i, s := range ends {
		switch {
		case errs[i] != nil:
			r.FailedReplicates++
		case s != nil:
			r.Theta = append(r.Theta, Values(s.Params))
		}
	}
	if r.FittedReplicates = len(r.Theta); r.FittedReplicates == 0 && r.FailedReplicates > 0 {
		return nil, fmt.Errorf("bootstrap: none of %d replicates could be fitted, one because: %w", r.FailedReplicates, cmp.Or(errs...))
	}
	for j, q := range p.Params {
		var x []float64
		for _, t := range r.Theta {
			x = append(x, t[j])
		}
		if slices.Sort(x); r.FittedReplicates >= percentileRows {
			log := q.Log && x[0] > 0
			r.CI95[q.Name] = interval(percentile(x, 0.025, log), percentile(x, 0.975, log))
		}
	}
	return r, nil
}

// percentile is numeric.Quantile, in logarithms if asked.
func percentile(x []float64, share float64, log bool) float64 {
	if !log {
		return numeric.Quantile(x, share)
	}
	l := make([]float64, len(x))
	for i, v := range x {
		l[i] = math.Log(v)
	}
	return math.Exp(numeric.QuantileInPlace(l, share))
}

// blockLength is the plug-in for the length of blocks, a quarter of the longest piece at most.
func blockLength(e []float64, s *Solution) int {
	rho, _ := lagCorrelation(e, 1, s.Pieces)
	if s.Dt == 0 || rho == 0 {
		return 1
	}
	rho = math.Min(math.Abs(rho), 0.999)
	b := math.Cbrt(6*rho*rho/((1-rho*rho)*(1-rho*rho))) * math.Cbrt(float64(len(e)))
	return max(1, min(int(math.Round(b)), longest(len(e), s.Pieces)/4))
}

// shifted is p with a number added to every residual: a fit to other measured numbers.
func shifted(p *Problem, shift []float64) *Problem {
	q := *p
	q.Horizon = nil
	q.NewEvaluator = func() Evaluator {
		s := shiftEvaluator{p.NewEvaluator(), shift}
		if d, exact := s.Evaluator.(Differentiable); exact {
			return struct {
				shiftEvaluator
				Differentiable
			}{s, d}
		}
		return s
	}
	return &q
}

type shiftEvaluator struct {
	Evaluator
	shift []float64
}

func (s shiftEvaluator) Residuals(theta, r []float64) engine.Status {
	st := s.Evaluator.Residuals(theta, r)
	floats.Add(r, s.shift)
	return st
}
