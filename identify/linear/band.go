package linear

import (
	"errors"
	"math"
	"slices"
)

// Least squares takes the acceleration as exact. What noise of the position makes of it draws the inertia towards zero, and grows with the 2.5th power of
// the band; what the motion says of the inertia is where the motion is. So where the cutoff is to be found in the record it is lowered by halves as long as the
// noise draws the inertia by more than a tenth of its standard error.

const (
	drawnErrs = 0.1 // standard errors by which noise may draw the inertia
	narrowest = 5.0 // Hz
)

// errDrawn asks for a lower cutoff.
var errDrawn = errors.New("noise of the position draws the inertia towards zero")

// notDrawn is errDrawn where noise of the position draws the inertia by too much: with V = n·σ² of the noise in its column and C the inverse of WᵀW, by
// V·C·θ, while its standard error is √C·σ(e). A lag that is searched takes away from what the rows tell of the inertia, so it is one of the columns.
func (r *regression) notDrawn() error {
	at := slices.IndexFunc(r.columns, func(c column) bool { return c.term == Inertia })
	drawn := r.drawn()
	if at < 0 || !(drawn > 0) {
		return nil
	}
	r.pushSlope(0, false)
	theta, plain := make([]float64, len(r.w)), r.factor(r.w)
	if plain.Solve(theta) != nil {
		return nil
	}
	square := 0.0
	for k, keep := range r.kept {
		if keep {
			square += r.w[at][k] * r.w[at][k]
		}
	}
	all := slices.Clip(r.w)
	if r.spec.wantsLag() {
		all = append(all, r.rate)
	}
	f, with, se := r.factor(all), make([]float64, len(all)), make([]float64, len(all))
	if f.Solve(with) != nil {
		return nil
	}
	f.Errors(se)
	if drawn*square*se[at]*math.Abs(theta[at]) > drawnErrs*math.Sqrt(f.SumSquares()/float64(r.rowsKept())) {
		return errDrawn
	}
	return nil
}
