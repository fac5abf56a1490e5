package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Essential are the base parameters for which the record says more than the machine file: the others stay at the value of the file.
type Essential struct {
	FreeParams []int
	Values     []float64 // of all base parameters
	Grown      float64   // weighted rms over that with all of them
}

const (
	wellKnown = 0.10  // standard error relative to the value, below which a parameter is taken from the record in any case
	maxGrowth = 1.005 // times the rms of all parameters, which leaving parameters out may cost: no model is exact
)

// Essential leaves out, one after the other, the parameter with the largest relative standard error, as long as that is above a tenth,
// the value of the file is within its 95 % interval, and the rms does not grow for it. errs are half the half-widths of the intervals of
// the free parameters, which scale with the errors of least squares as fewer are free. Where the file says nothing (0), what is left are
// the essential parameters of [KD04] ch. 12.
func (r *Result) Essential(errs []float64) Essential {
	out := Essential{FreeParams: slices.Clone(r.FreeParams), Values: r.Values, Grown: 1}
	full := r.sys.sumSquares(r.Values)
	plain := r.sys.errors(r.FreeParams)
	widened := map[int]float64{} // standard error over that of least squares
	for j, k := range r.FreeParams {
		widened[k] = 1
		if plain[j] > 0 && errs[j] > 0 && !math.IsInf(errs[j], 0) {
			widened[k] = errs[j] / plain[j]
		}
	}
	needed := map[int]bool{}
	for len(out.FreeParams) > 0 {
		now := r.sys.errors(out.FreeParams)
		worst, most := -1, wellKnown
		for j, k := range out.FreeParams {
			se, x := now[j]*widened[k], out.Values[k]
			if relative := se / math.Abs(x); !needed[k] && relative > most && math.Abs(x-r.Start[k]) <= 2*se {
				worst, most = j, relative
			}
		}
		if worst < 0 {
			break
		}
		fewer := slices.Delete(slices.Clone(out.FreeParams), worst, worst+1)
		theta, err := r.sys.solveFree(fewer)
		if err != nil {
			break
		}
		grown := math.Sqrt(r.sys.sumSquares(theta) / full)
		if full > 0 && grown > maxGrowth {
			needed[out.FreeParams[worst]] = true
			continue
		}
		out = Essential{fewer, theta, grown}
	}
	return out
}

// errors are the standard errors of least squares of some parameters, the rows weighted to unit variance.
func (s *system) errors(which []int) []float64 {
	out := make([]float64, len(which))
	if len(which) == 0 {
		return out
	}
	x, length := s.picked(which)
	inv := inverseOf(x)
	if inv == nil {
		return out
	}
	for j := range out {
		out[j] = mat.Norm(inv.RowView(j), 2) / length[j]
	}
	return out
}
