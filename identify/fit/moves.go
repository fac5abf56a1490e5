package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
)

// Linear is the linear model of a solution around its estimate, for questions that need no other fit: how far would the
// parameters move if the model said something else?
type Linear struct {
	s      *Solution
	n      int         // free parameters
	held   []bool      // on a bound, or without any effect: they do not move
	x      [][]float64 // columns of √W·J, of length one
	length []float64
	r      []float64 // its triangle, row-major
	err    []float64
}

// NewLinear factors the Jacobian of a solution.
func NewLinear(s *Solution) *Linear {
	n, rows := len(s.Free), len(s.Residual)
	l := &Linear{s: s, n: n, held: make([]bool, n), length: make([]float64, n), err: make([]float64, n)}
	buf := make([]float64, n*rows)
	for j, i := range s.Free {
		p, x := &s.Params[i], buf[j*rows:(j+1)*rows]
		for k := range x {
			x[k] = s.Jac[k*n+j]
		}
		l.length[j] = length(x)
		l.held[j] = p.Value == p.Lo || p.Value == p.Hi || l.length[j] == 0
		in := 0.0
		if !l.held[j] {
			in = 1 / l.length[j]
		}
		floats.Scale(in, x)
		l.x = append(l.x, x)
	}
	tri := numeric.NewFactor(n)
	tri.AddColumns(l.x, make([]float64, rows))
	l.r, _ = tri.Triangle()
	// s²·(XᵀX)⁻¹ by the rows of R⁻¹
	s2 := 1.0
	if !s.Known {
		s2 = inner(s.Residual, s.Residual) / float64(max(1, rows-n))
	}
	e, y := make([]float64, n), make([]float64, n)
	for j := range e {
		clear(e)
		e[j] = 1
		if l.held[j] {
			continue
		}
		l.forward(e, y) // Rᵀ·y = e_j: the length of y is that of row j of R⁻¹
		l.err[j] = math.Sqrt(s2*inner(y, y)) / l.length[j]
	}
	return l
}

// forward solves Rᵀ·y = b.
func (l *Linear) forward(b, y []float64) {
	r := l.r
	for k := range y {
		v := b[k]
		for i := range k {
			v -= r[i*l.n+k] * y[i]
		}
		if y[k] = 0; r[k*l.n+k] != 0 {
			y[k] = v / r[k*l.n+k]
		}
	}
}

// Err are the classical standard errors of the free parameters, in their units; 0 for those on a bound.
func (l *Linear) Err() []float64 { return l.err }

// Move is by how much the free parameters would move, in their units, to first order, if the rows of the model rose by dy, in
// the unit of the rows without weights:
//
//	Δθ = −J⁺·dy.
func (l *Linear) Move(dy []float64) []float64 {
	b, y := make([]float64, l.n), make([]float64, l.n)
	for j, x := range l.x {
		for k, q := range x {
			b[j] -= q * l.weight(k) * dy[k]
		}
	}
	l.forward(b, y)
	backward(l.r, y, b)
	for j := range b {
		if b[j] /= l.length[j]; l.held[j] || b[j] != b[j] {
			b[j] = 0
		}
	}
	return b
}

// after is what is left of the residual, weighted, when the rows of the model rise by dy and the parameters move.
func (l *Linear) after(dy, move []float64) []float64 {
	e := slices.Clone(l.s.Residual)
	for k, v := range dy {
		e[k] -= l.weight(k) * v
	}
	for j, x := range l.x {
		axpy(-move[j]*l.length[j], x, e)
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
