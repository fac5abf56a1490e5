package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// span is an orthonormal basis of columns that come one after the other.
type span struct {
	q     [][]float64
	r     [][]float64 // column kept[j], but for what the first ones hold of it, is Σ_i r[j][i]·q[first+i]
	kept  []int       // columns that are not sums of those before
	count int         // columns so far
	first int         // of q, which stood before them
	room  *room       // for the columns; nil: they stay
}

// room are slices of one length that are used again once reset says that nothing needs them.
type room struct {
	slices [][]float64
	used   int
}

func (r *room) reset() { r.used = 0 }

// of is a slice of n numbers, whatever they are.
func (r *room) of(n int) []float64 {
	if r == nil {
		return make([]float64, n)
	}
	if r.used++; r.used > len(r.slices) {
		r.slices = append(r.slices, nil)
	}
	x := &r.slices[r.used-1]
	*x = slices.Grow((*x)[:0], n)[:n]
	return *x
}

// split is c without its part in the basis, that part, and the length of what remains.
func (s *span) split(c []float64) (z, part []float64, size float64) {
	z, part = s.room.of(len(c)), make([]float64, len(s.q))
	copy(z, c)
	before := floats.Norm(c, 2)
	for {
		for i, q := range s.q {
			a := floats.Dot(q, z)
			part[i] += a
			floats.AddScaled(z, -a, q)
		}
		size = floats.Norm(z, 2)
		if size > 0.5*before || !(size > 1e-12*before) { // twice is enough
			return z, part, size
		}
		before = size
	}
}

// add takes a column in, if more than the share least of it is not in the basis.
func (s *span) add(c []float64, least float64) bool {
	z, part, size := s.split(c)
	s.count++
	if !(size > least*floats.Norm(c, 2)) || math.IsInf(size, 0) {
		return false
	}
	floats.Scale(1/size, z)
	s.q, s.r, s.kept = append(s.q, z), append(s.r, append(part[s.first:], size)), append(s.kept, s.count-1)
	return true
}

// products are those of the columns that were kept, but for what the first ones hold of them, with e.
func (s *span) products(e []float64) []float64 {
	out := make([]float64, len(s.r))
	for j, r := range s.r {
		for i, v := range r {
			out[j] += v * floats.Dot(s.q[s.first+i], e)
		}
	}
	return out
}

// within are the products of the basis with a vector, by those of the columns.
func (s *span) within(products []float64) []float64 {
	b := make([]float64, len(s.r))
	for j, r := range s.r {
		v := products[j]
		for i := range j {
			v -= r[i] * b[i]
		}
		b[j] = v / r[j]
	}
	return b
}

// solve are the coefficients of the columns, those that are sums of others 0, of a vector by its products b with their basis.
func (s *span) solve(b []float64) []float64 {
	theta := make([]float64, s.count)
	for i := len(s.r) - 1; i >= 0; i-- {
		v := b[i]
		for l := i + 1; l < len(s.r); l++ {
			v -= s.r[l][i] * theta[s.kept[l]]
		}
		theta[s.kept[i]] = v / s.r[i][i]
	}
	return theta
}
