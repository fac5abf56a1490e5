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
	s      *Solution
	moving []int       // free parameters that are not on a bound and have an effect: the others stay
	x      [][]float64 // their columns of √W·J, of length one
	length []float64
	err    []float64
}

// NewLinear factors the Jacobian of a solution.
func NewLinear(s *Solution) *Linear {
	l := &Linear{s: s, err: make([]float64, len(s.Free))}
	x, length := s.scaled()
	for j, i := range s.Free {
		if p := &s.Params[i]; p.Value != p.Lo && p.Value != p.Hi && length[j] > 0 {
			l.moving, l.x, l.length = append(l.moving, j), append(l.x, x[j]), append(l.length, length[j])
		}
	}
	f, se := numeric.NewFactor(len(l.x)), make([]float64, len(l.x))
	f.AddColumns(l.x, make([]float64, len(s.Residual)))
	f.Errors(se)
	for k, j := range l.moving {
		l.err[j] = math.Sqrt(s.variance()) * se[k] / l.length[k]
	}
	return l
}

// Err are the classical standard errors of the free parameters, in their units; 0 for those on a bound.
func (l *Linear) Err() []float64 { return l.err }

// Move is by how much the free parameters would move, in their units, to first order, if the rows of the model rose by dy, in
// the unit of the rows without weights:
//
//	Δθ = −J⁺·dy.
//
// Nothing moves where the columns depend on each other.
func (l *Linear) Move(dy []float64) []float64 {
	b, theta, move := make([]float64, len(dy)), make([]float64, len(l.x)), make([]float64, len(l.err))
	for k, v := range dy {
		b[k] = -l.weight(k) * v
	}
	f := numeric.NewFactor(len(l.x))
	f.AddColumns(l.x, b)
	if f.Solve(theta) == nil {
		for k, j := range l.moving {
			move[j] = theta[k] / l.length[k]
		}
	}
	return move
}

// after is what is left of the residual, weighted, when the rows of the model rise by dy and the parameters move.
func (l *Linear) after(dy, move []float64) []float64 {
	e := slices.Clone(l.s.Residual)
	for k, v := range dy {
		e[k] -= l.weight(k) * v
	}
	for k, j := range l.moving {
		floats.AddScaled(e, -move[j]*l.length[k], l.x[k])
	}
	return e
}

func (l *Linear) weight(k int) float64 {
	if l.s.weights == nil {
		return 1
	}
	return l.s.weights[k]
}

// Left is the rms of the weighted residual when the rows of the model rise by dy and the parameters move.
func (l *Linear) Left(dy, move []float64) float64 {
	return numeric.RMS(l.after(dy, move))
}

// RMS is the rms of the residuals r (model − measured), with the weights of the solution.
func (l *Linear) RMS(r []float64) float64 {
	sum := 0.0
	for k, v := range r {
		v *= l.weight(k)
		sum += v * v
	}
	return math.Sqrt(sum / float64(max(1, len(r))))
}

// Best is the number by which dy, with the move of the parameters that answers it, lowers the sum of squares most, and its
// classical standard error.
func (l *Linear) Best(dy, move []float64) (best, err float64) {
	a, b := l.after(dy, move), 0.0
	size := 0.0
	for k, e := range l.s.Residual {
		d := e - a[k] // what the two take off the residual
		b += d * e
		size += d * d
	}
	if size == 0 {
		return 0, math.Inf(1)
	}
	return b / size, l.RMS(l.s.Residual) / math.Sqrt(size)
}
