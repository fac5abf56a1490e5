package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// Resampled is what a bootstrap says about the parameters of a solution.
type Resampled struct {
	Wanted    int                 `json:"wanted"`        // replicates
	Done      int                 `json:"done"`          // of them fitted, fewer if interrupted …
	Failed    int                 `json:"failed"`        // … or if the fit of some failed
	Short     int                 `json:"not_converged"` // fitted, but stopped before an optimum; they count all the same
	Block     int                 `json:"block"`         // rows
	Estimates []ResampledEstimate `json:"parameters"`    // in the order of the problem
	Theta     [][]float64         `json:"-"`             // of every replicate that was fitted, in their order
}

// ResampledEstimate is one parameter over the replicates. Percentiles of a Log parameter are those of its logarithm.
type ResampledEstimate struct {
	Name   string      `json:"name"`
	Unit   string      `json:"unit"`
	StdErr *float64    `json:"std_err"` // null with fewer than two replicates
	CI95   *[2]float64 `json:"ci95"`    // 2.5 % and 97.5 % of the replicates; null with fewer than 40
	Bias   *float64    `json:"bias"`    // mean of the replicates − estimate
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
// refit fits a problem from the values of its parameters; nil: LM with small steps only, from the estimate. Replicates
// are computed side by side and each has the stream of random numbers of its own number, so the result depends on the seed
// alone. An interruption through ctx leaves the replicates that were done, without an error.
func Bootstrap(ctx context.Context, p *Problem, s *Solution, n, block int, seed uint64, refit func(context.Context, *Problem) (*Solution, error)) (*Resampled, error) {
	theta, err := valuesOf(p, s)
	switch {
	case err != nil:
		return nil, err
	case n < 1 || block < 0:
		return nil, fmt.Errorf("bootstrap: %d replicates in blocks of %d rows, want at least 1 and 0", n, block)
	case p.Rows != len(s.Residual) || p.Rows <= len(p.Params):
		return nil, fmt.Errorf("bootstrap: %d rows, the solution has %d and %d parameters", p.Rows, len(s.Residual), len(p.Params))
	}
	if refit == nil {
		refit = func(ctx context.Context, p *Problem) (*Solution, error) {
			return LM{Steps: []float64{1e-3}, Workers: 1}.Fit(ctx, p, nil)
		}
	}
	start := p.at(theta)

	// residuals at the estimate, of the model itself: those of the solution may be weighted by a robust loss
	base := make([]float64, p.Rows)
	if st := p.New().Residuals(theta, base); st == engine.NonFinite {
		return nil, errors.New("bootstrap: the model fails at the estimate")
	}
	drawn := centred(base)
	if block == 0 {
		block = blockLength(drawn, s)
	}
	block = min(block, longest(p.Rows, s.Pieces))
	floats.Scale(math.Sqrt(float64(p.Rows)/float64(p.Rows-len(p.Params))), drawn)
	var from []int // rows where a block may begin
	each(p.Rows, s.Pieces, func(a, b int) {
		for k := a; k+block <= b; k++ {
			from = append(from, k)
		}
	})

	ends, errs := make([]*Solution, n), make([]error, n)
	newPool(0, n, func(_, i int) {
		// residuals become r + shift, and at the estimate those that were drawn
		shift := make([]float64, p.Rows)
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		each(p.Rows, s.Pieces, func(a, b int) {
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
	return summary(p, theta, ends, errs, block)
}

// summary forms errors and percentiles of the replicates.
func summary(p *Problem, theta []float64, ends []*Solution, errs []error, block int) (*Resampled, error) {
	r := &Resampled{Wanted: len(ends), Block: block, Estimates: []ResampledEstimate{}}
	for i, s := range ends {
		switch {
		case errs[i] != nil:
			r.Failed++
		case s != nil:
			t, err := valuesOf(p, s)
			if err != nil {
				return nil, err
			}
			r.Theta = append(r.Theta, t)
			r.Done++
			if !s.Converged {
				r.Short++
			}
		}
	}
	if r.Done == 0 && r.Failed > 0 {
		i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
		return nil, fmt.Errorf("bootstrap: none of %d replicates could be fitted, the first because: %w", r.Failed, errs[i])
	}
	for j, q := range p.Params {
		e := ResampledEstimate{Name: q.Name, Unit: q.Unit}
		x := make([]float64, r.Done)
		mean, square := 0.0, 0.0
		for i, t := range r.Theta {
			x[i] = t[j]
			mean += t[j] / float64(r.Done)
		}
		for _, v := range x {
			square += (v - mean) * (v - mean)
		}
		if r.Done > 1 {
			e.StdErr, e.Bias = numeric.OrNull(math.Sqrt(square/float64(r.Done-1))), numeric.OrNull(mean-theta[j])
		}
		if r.Done >= percentileRows {
			sort.Float64s(x)
			e.CI95 = interval(percentile(x, 0.025, q.Log), percentile(x, 0.975, q.Log))
		}
		r.Estimates = append(r.Estimates, e)
	}
	return r, nil
}

// percentile interpolates in sorted x between the places (n−1)·share, in logarithms if asked.
func percentile(x []float64, share float64, log bool) float64 {
	at := share * float64(len(x)-1)
	k := min(int(at), len(x)-2)
	f := at - float64(k)
	if log && x[k] > 0 {
		return x[k] * math.Pow(x[k+1]/x[k], f)
	}
	return x[k] + f*(x[k+1]-x[k])
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

// valuesOf are the values of a solution in the order of the parameters of a problem.
func valuesOf(p *Problem, s *Solution) ([]float64, error) {
	theta := make([]float64, len(p.Params))
	for j, q := range p.Params {
		i := slices.IndexFunc(s.Params, func(o Param) bool { return o.Name == q.Name })
		if i < 0 {
			return nil, fmt.Errorf("bootstrap: the solution has no parameter %s", q.Name)
		}
		theta[j] = s.Params[i].Value
	}
	return theta, nil
}

// shifted is p with a number added to every residual: a fit to other measured numbers.
func shifted(p *Problem, shift []float64) *Problem {
	q := *p
	q.Horizon = nil
	q.New = func() Evaluator {
		s := shiftEvaluator{p.New(), shift}
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
