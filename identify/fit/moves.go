package fit

import (
	"math"
	"slices"

	"hilrig/engine/numeric"

	"gonum.org/v1/gonum/floats"
)

// Linear is the linear model of a solution around its estimate, for questions that need no other fit: how far would the
// parameters move if the model said something else?
type Linear struct {
	s *Solution
	*marginal
	movableColumns []int // columns that are not on a bound and have an effect: the others stay
	err            []float64
}

// NewLinear factors the Jacobian of a solution.
func NewLinear(s *Solution) *Linear {
	inside := func(place int) bool {
		p := &s.Params[place]
		return p.Value != p.Lo && p.Value != p.Hi
	}
	l := &Linear{s: s, marginal: s.marginal(inside), err: make([]float64, len(s.FreeParams))}
	for j, i := range s.FreeParams {
		if inside(i) && l.length[j] > 0 {
			l.movableColumns = append(l.movableColumns, j)
		}
	}
	f, se := numeric.NewFactor(len(l.movableColumns)), make([]float64, len(l.movableColumns))
	f.AddColumns(l.columns(), make([]float64, len(s.Residual)))
	f.Errors(se)
	for k, j := range l.movableColumns {
		l.err[j] = math.Sqrt(s.variance()) * se[k] / l.length[j]
	}
	return l
}

// columns are those that move.
func (l *Linear) columns() (x [][]float64) {
	for _, j := range l.movableColumns {
		x = append(x, l.x[j])
	}
	return x
}

// Err are the classical standard errors of the parameters in Solution.FreeParams, in their units; 0 for those on a bound.
func (l *Linear) Err() []float64 { return l.err }

// Move is by how much the parameters of Solution.Searched would move, in their units, to first order, if the rows of the model rose by
// dy, in the unit of the rows without weights:
//
//	Δθ = −J⁺·dy.
//
// Nothing moves where the columns depend on each other.
func (l *Linear) Move(dy []float64) []float64 {
	theta, move := make([]float64, len(l.movableColumns)), make([]float64, len(l.err))
	b := floats.ScaleTo(make([]float64, len(dy)), -1, l.s.Weigh(dy))
	var own [][]float64 // what local parameters do of it
	for i := range l.bases {
		own = append(own, l.bases[i].projectOut(b))
	}
	f := numeric.NewFactor(len(l.movableColumns))
	f.AddColumns(l.columns(), b)
	if f.Solve(theta) != nil {
		return make([]float64, l.s.count())
	}
	for k, j := range l.movableColumns {
		move[j] = theta[k] / l.length[j]
	}
	for i, block := range l.s.Local {
		for _, j := range l.movableColumns {
			floats.AddScaled(own[i], -move[j], l.part[j][i])
		}
		rest := l.bases[i].solve(own[i])
		for _, place := range block.FreeParams {
			by := 0.0
			if k := slices.Index(l.bases[i].freeParams, place); k >= 0 {
				by = rest[k]
			}
			move = append(move, by)
		}
	}
	return move
}

// ResidualAfter is what is left of the residual, weighted, when the rows of the model rise by dy and the parameters move.
func (l *Linear) ResidualAfter(dy, move []float64) []float64 {
	e, p := slices.Clone(l.s.Residual), len(l.s.FreeParams)
	for k, v := range l.s.Weigh(dy) {
		e[k] -= v
		for j, by := range move[:p] {
			e[k] -= by * l.s.Jac[k*p+j]
		}
	}
	move = move[p:]
	for _, b := range l.s.Local {
		for k, column := range b.Jac {
			floats.AddScaled(e[b.FirstRow:b.FirstRow+len(column)], -move[k], column)
		}
		move = move[len(b.FreeParams):]
	}
	return e
}

// RMSAfter is the rms of the weighted residual when the rows of the model rise by dy and the parameters move.
func (l *Linear) RMSAfter(dy, move []float64) float64 {
	return numeric.RMS(l.ResidualAfter(dy, move))
}

// RMS is the rms of the residuals r (model − measured), with the weights of the solution.
func (l *Linear) RMS(r []float64) float64 {
	return numeric.RMS(l.s.Weigh(r))
}

// RobustFactor is BestFactor with a standard error by what it leaves over, whose rows may depend on each other: that of a fit in which
// dy is one more column.
func (l *Linear) RobustFactor(dy, move []float64) (best, err float64) {
	best, _ = l.BestFactor(dy, move)
	a := l.ResidualAfter(dy, move)
	left, size := make([]float64, len(a)), 0.0
	for k, e := range l.s.Residual {
		d := e - a[k]
		left[k] = e - best*d
		size += d * d
	}
	if size == 0 {
		return 0, math.Inf(1)
	}
	rows := math.Max(1, WhitenessOf(left, l.s.Pieces).Effective)
	return best, numeric.RMS(left) / math.Sqrt(size) * math.Sqrt(float64(len(left))/rows)
}

// BestFactor is the number by which dy, with the move of the parameters that answers it, lowers the sum of squares most, and its
// classical standard error.
func (l *Linear) BestFactor(dy, move []float64) (best, err float64) {
	a, b := l.ResidualAfter(dy, move), 0.0
	size := 0.0
	for k, e := range l.s.Residual {
		d := e - a[k] // what the two take off the residual
		b += d * e
		size += d * d
	}
	if size == 0 {
		return 0, math.Inf(1)
	}
	return b / size, numeric.RMS(l.s.Residual) / math.Sqrt(size)
}
