package fit

import (
	"math"
	"slices"

	"hilrig/engine/numeric"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
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

// Less is dy less what a move of the parameters does to the rows of the model.
func (l *Linear) Less(dy, move []float64) []float64 {
	back := floats.ScaleTo(make([]float64, len(move)), -1, move)
	left, weights := l.ResidualAfter(dy, back), l.s.Weigh(slices.Repeat([]float64{1}, len(dy)))
	for k, e := range l.s.Residual {
		if left[k] = e - left[k]; weights[k] != 0 {
			left[k] /= weights[k]
		}
	}
	return left
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
	f := l.RobustFactors([][]float64{dy}, [][]float64{move})
	return f.Values[0] * f.Axes[0][0], f.Err[0]
}

// Factors are the numbers by which several dy lower the sum of squares most together. Of each axis, a combination of them of length one,
// the rows tell the factor by itself, with its standard error; ∞: they do not tell it.
type Factors struct {
	Axes        [][]float64
	Values, Err []float64
}

// RobustFactors is RobustFactor of several dy, each with the move of the parameters that answers it.
func (l *Linear) RobustFactors(dy, moves [][]float64) (f Factors) {
	left, m := slices.Clone(l.s.Residual), len(dy)
	taken, squares, pull := make([][]float64, m), mat.NewSymDense(m, nil), make([]float64, m) // off the residual
	for i := range dy {
		taken[i] = floats.SubTo(make([]float64, len(left)), left, l.ResidualAfter(dy[i], moves[i]))
		pull[i] = floats.Dot(taken[i], left)
		for j := range i + 1 {
			squares.SetSym(i, j, floats.Dot(taken[i], taken[j]))
		}
	}
	var eigen mat.EigenSym
	var axes mat.Dense
	size := make([]float64, m)
	if eigen.Factorize(squares, true) {
		eigen.Values(size)
		eigen.VectorsTo(&axes)
	} else {
		axes.CloneFrom(mat.NewDiagDense(m, slices.Repeat([]float64{1}, m)))
	}
	for j, largest := 0, slices.Max(size); j < m; j++ {
		axis, best := mat.Col(nil, j, &axes), 0.0
		if size[j] <= nullSquares*largest {
			size[j] = 0
		} else {
			best = floats.Dot(axis, pull) / size[j]
		}
		for i, a := range axis {
			floats.AddScaled(left, -best*a, taken[i])
		}
		f.Axes, f.Values = append(f.Axes, axis), append(f.Values, best)
	}
	rows := math.Max(1, WhitenessOf(left, l.s.Pieces).Effective)
	noise := numeric.RMS(left) * math.Sqrt(float64(len(left))/rows)
	for _, size := range size {
		f.Err = append(f.Err, math.Inf(1))
		if size > 0 {
			f.Err[len(f.Err)-1] = noise / math.Sqrt(size)
		}
	}
	return f
}

// nullSquares is the share of the largest sum of squares below which one is rounding.
const nullSquares = 1e-12

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
