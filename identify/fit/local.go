package fit

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hilrig/engine/numeric"
)

// Parameters that move some rows only are taken out of a Jacobian before anything else is asked of it: with Z their columns and
// X those of the others, X − Z·Z⁺X says of the others what X and Z say together, theorem of Frisch, Waugh and Lovell [FW33].

// basis is orthonormal, of the columns of a block.
type basis struct {
	span
	firstRow, endRow int   // rows
	freeParams       []int // places in Params of its columns
}

// bases are those of the blocks, of the columns that keep says; nil: of all.
func (s *Solution) bases(keep func(place int) bool) (out []basis) {
	for _, block := range s.Local {
		b := basis{firstRow: block.FirstRow, endRow: block.FirstRow}
		for k, place := range block.FreeParams {
			if b.endRow = block.FirstRow + len(block.Jac[k]); keep == nil || keep(place) {
				b.freeParams = append(b.freeParams, place)
				b.add(block.Jac[k], nullSingular)
			}
		}
		out = append(out, b)
	}
	return out
}

// projectOut takes out of rows what the basis holds of them, and returns it.
func (b *basis) projectOut(rows []float64) (part []float64) {
	own := rows[b.firstRow:b.endRow]
	z, part, _ := b.split(own, 0)
	copy(own, z)
	return part
}

// inverse is R⁻¹ of a basis, a row for every parameter.
func (b *basis) inverse() *mat.Dense {
	out := mat.NewDense(len(b.freeParams), len(b.q), nil)
	for i := range b.q {
		unit := make([]float64, len(b.q))
		unit[i] = 1
		out.SetCol(i, b.solve(unit))
	}
	return out
}

// marginal is the Jacobian without its local parameters.
type marginal struct {
	bases  []basis
	x      [][]float64   // its columns, of length one …
	length []float64     // … and their lengths, 0 where local parameters do all that this one does
	part   [][][]float64 // of every column and basis, what was taken out
}

// marginal takes the local parameters that keep says out of the Jacobian; nil: all.
func (s *Solution) marginal(keep func(place int) bool) *marginal {
	n, p := len(s.Residual), len(s.FreeParams)
	m := &marginal{bases: s.bases(keep), part: make([][][]float64, p)}
	buf := make([]float64, n*p)
	for j := range p {
		x := buf[j*n : j*n+n]
		for k := range x {
			x[k] = s.Jac[k*p+j]
		}
		length := numeric.Length(x)
		if len(m.bases) > 0 {
			whole := length
			for b := range m.bases {
				m.part[j] = append(m.part[j], m.bases[b].projectOut(x))
			}
			if length = numeric.Length(x); !(length > nullSingular*whole) {
				length = 0
				clear(x)
			}
		}
		if length > 0 {
			floats.Scale(1/length, x)
		}
		m.x, m.length = append(m.x, x), append(m.length, length)
	}
	return m
}

// local computes the standard errors of the local parameters: what the rows of a block tell of its own ones where the others are known, and
// what is not known of the others. root is that of (XᵀX)⁺ and scores the long-run covariance of its scores; nil: there are no others.
// The covariance of the two is left out: one block of many has a small part in the others.
func (c *covariance) local(s *Solution, m *marginal, root *mat.Dense, scores []float64) {
	s2 := s.variance()
	for len(c.carry) < len(s.FreeParams) {
		c.carry = append(c.carry, 1)
	}
	for i := range m.bases {
		b := &m.bases[i]
		if len(b.q) == 0 {
			for range b.freeParams {
				c.classical, c.robust, c.carry = append(c.classical, math.Inf(1)), append(c.robust, math.Inf(1)), append(c.carry, 1)
			}
			continue
		}
		e, own := s.Residual[b.firstRow:b.endRow], b.inverse()
		c.carry = append(c.carry, carrying(b.q, own, len(b.freeParams))...)
		for k := range b.freeParams {
			weights := own.RawRowView(k)
			plain := s2 * floats.Dot(weights, weights)
			if plain == 0 { // no effect
				c.classical, c.robust = append(c.classical, math.Inf(1)), append(c.robust, math.Inf(1))
				continue
			}
			g := make([]float64, b.endRow-b.firstRow)
			for i, w := range weights {
				floats.AddScaled(g, w, b.q[i])
			}
			floats.Mul(g, e)
			lags := 0
			if s.Dt > 0 {
				lags = min(c.lags, len(g)/4)
				if root == nil {
					lags = bandwidth([][]float64{g}, len(g), nil, s.Lags)
				}
			}
			robust := windows([][]float64{g}, nil, len(g), lags, nil)[0]
			if root != nil {
				_, rank := root.Dims()
				by := make([]float64, rank)
				for j, length := range m.length {
					if length > 0 {
						floats.AddScaled(by, b.solve(m.part[j][i])[k]/length, root.RawRowView(j))
					}
				}
				plain += s2 * floats.Dot(by, by)
				for r, x := range by {
					robust += x * floats.Dot(by, scores[r*rank:(r+1)*rank])
				}
			}
			c.classical, c.robust = append(c.classical, math.Sqrt(plain)), append(c.robust, math.Sqrt(math.Max(robust, 0)))
		}
	}
}
