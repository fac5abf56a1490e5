package pose

import (
	"math"

	"hilrig/engine/rotation"
)

// maxStates is the largest number of states of a filter here.
const maxStates = 16

// square is an n×n matrix in fixed memory, rows first.
type square [maxStates][maxStates]float64

// measured is a row of a measurement matrix: len values at the states listed.
type measured struct {
	len    int
	states [6]int
	v      [6]float64
}

func (h *measured) add(at int, v float64) {
	h.states[h.len], h.v[h.len] = at, v
	h.len++
}

// correct takes one scalar measurement: residual z against the state before all measurements of the frame, of which dx is the
// correction so far, and variance r. It changes the lower triangle of P, the only one it reads, and dx, and returns the normalised
// innovation. After the last of a frame, mirror.
func correct(p *square, dx *[maxStates]float64, h *measured, n int, z, r float64) float64 {
	var ph [maxStates]float64
	for k, at := range h.states[:h.len] {
		f := h.v[k]
		row := p[at][:at+1]
		for i, v := range row {
			ph[i] += f * v
		}
		for i := at + 1; i < n; i++ {
			ph[i] += f * p[i][at]
		}
	}
	s := r
	for k, at := range h.states[:h.len] {
		s += h.v[k] * ph[at]
		z -= h.v[k] * dx[at]
	}
	inv := 1 / s
	for i := range n {
		g := ph[i] * inv
		dx[i] += g * z
		row := p[i][:i+1]
		q := ph[:len(row)]
		for j, v := range q {
			row[j] -= g * v
		}
	}
	return z * math.Sqrt(inv)
}

// mirror copies the lower triangle to the upper one.
func (p *square) mirror(n int) {
	for i := range n {
		for j := range i {
			p[j][i] = p[i][j]
		}
	}
}

// whitened is L⁻¹ of a covariance R = L·Lᵀ, row by row; false where R is not positive definite.
func whitened(r *rotation.Matrix) (w [3][3]float64, ok bool) {
	var l [3][3]float64
	for i := range 3 {
		for j := range i + 1 {
			s := r[i][j]
			for k := range j {
				s -= l[i][k] * l[j][k]
			}
			if i > j {
				l[i][j] = s / l[j][j]
				continue
			}
			if !(s > 0) {
				return w, false
			}
			l[i][i] = math.Sqrt(s)
		}
	}
	for i := range 3 {
		w[i][i] = 1 / l[i][i]
		for j := i - 1; j >= 0; j-- {
			for k := j + 1; k <= i; k++ {
				w[i][j] -= w[i][k] * l[k][j]
			}
			w[i][j] /= l[j][j]
		}
	}
	return w, true
}
