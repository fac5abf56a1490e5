package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
)

// span is an orthonormal basis of columns that come one after the other.
type span struct {
	q              [][]float64
	r              [][]float64 // column basisColumns[j], but for what the first ones hold of it, is Σ_i r[j][i]·q[first+i]
	basisColumns   []int       // columns that are not sums of those before
	count          int         // columns so far
	inheritedCount int         // of q, which stood before them
	room           *room       // for the columns; nil: they stay
}

// room are slices of one length that are used again once reset says that nothing needs them.
type room struct {
	slices    [][]float64
	usedCount int
}

func (r *room) reset() { r.usedCount = 0 }

// of is a slice of n numbers, whatever they are.
func (r *room) of(n int) []float64 {
	if r == nil {
		return make([]float64, n)
	}
	if r.usedCount++; r.usedCount > len(r.slices) {
		r.slices = append(r.slices, nil)
	}
	x := &r.slices[r.usedCount-1]
	*x = slices.Grow((*x)[:0], n)[:n]
	return *x
}

// split is c without its part in the basis from the given place on, that part, and the length of what remains.
func (s *span) split(c []float64, from int) (z, part []float64, size float64) {
	z, part = s.room.of(len(c)), make([]float64, len(s.q)-from)
	copy(z, c)
	before := numeric.Length(c)
	for {
		for i, q := range s.q[from:] {
			a := floats.Dot(q, z)
			part[i] += a
			floats.AddScaled(z, -a, q)
		}
		size = numeric.Length(z)
		if size > 0.5*before || !(size > 1e-12*before) { // twice is enough
			return z, part, size
		}
		before = size
	}
}

// add takes a column in, if more than the share least of it is not in the basis.
func (s *span) add(c []float64, least float64) bool {
	z, part, size := s.split(c, 0)
	return s.admit(z, part[s.inheritedCount:], size, least*numeric.Length(c))
}

// admit takes in z, what remains of a column, if its size is more than least; part is what the columns from first on hold of it.
func (s *span) admit(z, part []float64, size, least float64) bool {
	s.count++
	if !(size > least) || math.IsInf(size, 0) {
		return false
	}
	floats.Scale(1/size, z)
	s.q, s.r, s.basisColumns = append(s.q, z), append(s.r, append(part, size)), append(s.basisColumns, s.count-1)
	return true
}

// clipped is the basis, to which columns may be added beside others.
func (s *span) clipped() span {
	return span{q: slices.Clip(s.q), r: slices.Clip(s.r), basisColumns: slices.Clip(s.basisColumns), count: s.count}
}

// trial is a column that is tried, again and again: what those of a growing basis do not hold of it.
type trial struct {
	rest         []float64
	minLength    float64 // length of what is not in the basis from which on it counts
	removedCount int     // of the basis that were taken out
}

func newTrial(c []float64, minColumnShare float64) *trial {
	return &trial{rest: c, minLength: minColumnShare * numeric.Length(c)}
}

// try takes a column in behind those that stood before, as add does.
func (s *span) try(c *trial) bool {
	if c.removedCount < s.inheritedCount {
		before := span{q: s.q[:s.inheritedCount], room: s.room}
		z, _, _ := before.split(c.rest, c.removedCount)
		copy(c.rest, z)
		c.removedCount = s.inheritedCount
	}
	z, part, size := s.split(c.rest, s.inheritedCount)
	return s.admit(z, part, size, c.minLength)
}

// products are those of the columns that were kept, but for what the first ones hold of them, with e.
func (s *span) products(e []float64) []float64 {
	out := make([]float64, len(s.r))
	for j, r := range s.r {
		for i, v := range r {
			out[j] += v * floats.Dot(s.q[s.inheritedCount+i], e)
		}
	}
	return out
}

// columnProducts are the products of the basis with a vector, by those of the columns.
func (s *span) columnProducts(products []float64) []float64 {
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
			v -= s.r[l][i] * theta[s.basisColumns[l]]
		}
		theta[s.basisColumns[i]] = v / s.r[i][i]
	}
	return theta
}
