package fit

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
)

// The linear problem of a step: its factor, what of it may move, and its solution within a box.

// factor eats √W·J and √W·r, and leaves gradient and lengths of the columns.
func (f *descent) factor() {
	f.m.Loss.Roots(f.r, f.w)
	f.tri.reset()
	row := 0
	for i, l := range f.p.Local {
		f.eat(f.tri.tri, f.tri.sharedColumns, row, l.FirstRow)
		part, at := f.tri.open(i)
		f.eat(part, at, l.FirstRow, l.EndRow)
		f.tri.close(i)
		row = l.EndRow
	}
	f.eat(f.tri.tri, f.tri.sharedColumns, row, len(f.r))

	clear(f.g)
	clear(f.length)
	f.tri.eachHead(func(h *head) {
		n := len(h.columns)
		for i, rhs := range h.c {
			for k := i; k < n; k++ {
				v := h.r[i*n+k]
				f.g[h.columns[k]] += v * rhs
				f.length[h.columns[k]] += v * v
			}
		}
	})
	widest := 0.0
	for c, ss := range f.length {
		f.length[c] = math.Sqrt(ss)
		widest = max(widest, f.length[c]*f.slope.coords.scale[c])
	}
	// a parameter without effect stays where it is instead of being thrown about
	for j := range f.length {
		f.length[j] = max(f.length[j], 1e-10*widest/f.slope.coords.scale[j])
	}
}

// eat takes rows of the columns at into a factor.
func (f *descent) eat(into *numeric.Factor, at []int, first, last int) {
	for from := first; from < last; from += numeric.BlockRows {
		to := min(from+numeric.BlockRows, last)
		into.AddBlock(to-from, func(c int, column []float64) {
			x := f.r[from:to]
			if c < len(at) {
				j := at[c]
				x = f.slope.j[j][from-f.slope.firstRow[j] : to-f.slope.firstRow[j]]
			}
			if f.m.Loss.Kind == Squares { // all weights are 1
				copy(column, x)
			} else {
				floats.MulTo(column, x, f.w[from:to])
			}
		})
	}
}

// hold marks the parameters on a bound that want out.
func (f *descent) hold() {
	at := f.slope.coords
	for j := range f.s {
		f.side[j] = 0
		if f.s[j] <= at.lo[j] && f.g[j] >= 0 || f.s[j] >= at.hi[j] && f.g[j] <= 0 {
			f.side[j] = 1
		}
	}
}

// relativeOffset is √(‖Q₁ᵀr‖²/p) / √((‖r‖² − ‖Q₁ᵀr‖²)/(n − p)) of the parameters that are not held: about the distance to
// the optimum in standard errors. −1 if there are no rows to spare.
func (f *descent) relativeOffset() float64 {
	clear(f.d)
	f.reduced(0)
	p, rows := len(f.freeParams), len(f.r)
	if p == 0 {
		return 0
	}
	if rows <= p {
		return -1
	}
	inside := f.sub.explained()
	outside := f.tri.explained() + f.tri.unexplained() - inside
	// residuals at the level of rounding: nothing to compare with
	if !(outside > 1e-20*inside) {
		return -1
	}
	return math.Sqrt(inside / float64(p) * float64(rows-p) / outside)
}

// reduced fills sub with the columns that are free, damped by lambda, and the right-hand side at the step d of the others.
func (f *descent) reduced(lambda float64) {
	f.freeParams = f.freeParams[:0]
	among := func(free, columns []int) []int {
		for _, j := range columns {
			if f.side[j] == 0 {
				free = append(free, j)
			}
		}
		f.freeParams = append(f.freeParams, free...)
		return free
	}
	t, u := f.tri, f.sub
	u.sharedColumns = among(u.sharedColumns[:0], t.sharedColumns)
	u.reset()
	for i := range t.blockColumns {
		u.blockColumns[i] = among(u.blockColumns[i][:0], t.blockColumns[i])
		part, at := u.open(i)
		f.reduce(part, len(at), &t.heads[i])
		f.addDamping(part, u.blockColumns[i], lambda)
		u.close(i)
	}
	f.reduce(u.tri, len(u.sharedColumns), t.sharedHead())
	f.addDamping(u.tri, u.sharedColumns, lambda)
}

// reduce takes the rows of a head into a factor of its p columns that are free.
func (f *descent) reduce(into *numeric.Factor, p int, h *head) {
	n, at := len(h.columns), 0 // at: of free column k, asked for in order
	into.AddBlock(len(h.c), func(k int, column []float64) {
		if k < p {
			for f.side[h.columns[at]] != 0 {
				at++
			}
			for i := range column {
				column[i] = h.r[i*n+at]
			}
			at++
			return
		}
		for i := range column {
			v := h.c[i]
			for c := i; c < n; c++ {
				if f.side[h.columns[c]] != 0 {
					v += h.r[i*n+c] * f.d[h.columns[c]]
				}
			}
			column[i] = -v
		}
	})
}

// addDamping adds a row for each of the first columns of a factor, those of these parameters.
func (f *descent) addDamping(into *numeric.Factor, params []int, lambda float64) {
	if lambda == 0 || len(params) == 0 {
		return
	}
	root := math.Sqrt(lambda)
	into.AddBlock(len(params), func(k int, column []float64) {
		clear(column)
		if k < len(params) {
			column[k] = root * f.length[params[k]]
		}
	})
}

// inBox writes the damped step within the box to d, and returns by how much the linear model lowers the cost.
func (f *descent) inBox(lambda float64) float64 {
	at := f.slope.coords
	f.hold()
	clear(f.d)
	for j, s := range f.s {
		f.boxLo[j] = max(at.lo[j]-s, -at.clip[j])
		f.boxHi[j] = min(at.hi[j]-s, at.clip[j])
	}
	for {
		f.reduced(lambda)
		f.sub.solve(f.x) // the step of what is free
		met := false
		for _, j := range f.freeParams {
			f.d[j] = min(max(f.x[j], f.boxLo[j]), f.boxHi[j])
			if f.d[j] != f.x[j] {
				f.side[j], met = 1, true
			}
		}
		if !met {
			break
		}
	}

	return f.decrease(f.d)
}

// decrease is by how much the linear model lowers the cost by the step d: ½·(‖c‖² − ‖R·d + c‖²).
func (f *descent) decrease(d []float64) float64 {
	sum := 0.0
	f.tri.eachHead(func(h *head) {
		n := len(h.columns)
		for i, rhs := range h.c {
			v := 0.0
			for k := i; k < n; k++ {
				v += h.r[i*n+k] * d[h.columns[k]]
			}
			sum -= v * (v + 2*rhs)
		}
	})
	return sum / 2
}

// coordinates are those in which LM works: s = ln θ for Log parameters, s = θ for the others.
type coordinates struct {
	params    []Param
	lo, hi    []float64
	scale     []float64 // by which a linear parameter typically changes; 1 for logarithms
	userScale []bool    // the scale is the user's
	clip      []float64 // the longest step
}

func newCoordinates(params []Param, scale map[string]float64) *coordinates {
	n := len(params)
	c := &coordinates{
		params: params, lo: make([]float64, n), hi: make([]float64, n),
		scale: make([]float64, n), userScale: make([]bool, n), clip: make([]float64, n),
	}
	for j, p := range params {
		c.lo[j], c.hi[j] = p.Lo, p.Hi
		width := p.Hi - p.Lo
		s, given := scale[p.Name]
		switch {
		case p.Log:
			c.lo[j], c.hi[j] = math.Log(p.Lo), math.Log(p.Hi)
			c.scale[j], c.userScale[j], c.clip[j] = 1, true, longestStep
		case given:
			c.scale[j], c.userScale[j], c.clip[j] = s, true, longestStep*s
		case !math.IsInf(width, 0):
			c.scale[j], c.clip[j] = width/10, width/4
		default:
			c.clip[j] = math.Inf(1)
			if c.scale[j] = math.Abs(p.Value); p.Value == 0 {
				c.scale[j] = 1
			}
		}
	}
	return c
}

// from writes the coordinates of theta, pulled into the bounds.
func (c *coordinates) from(theta, s []float64) {
	for j, p := range c.params {
		v := theta[j]
		if p.Log {
			v = math.Log(v)
		}
		s[j] = min(max(v, c.lo[j]), c.hi[j])
	}
}

// theta writes the parameters at s; on a bound, the bound to the last bit.
func (c *coordinates) theta(s, theta []float64) {
	for j, p := range c.params {
		switch {
		case s[j] <= c.lo[j]:
			theta[j] = p.Lo
		case s[j] >= c.hi[j]:
			theta[j] = p.Hi
		case p.Log:
			theta[j] = min(max(math.Exp(s[j]), p.Lo), p.Hi)
		default:
			theta[j] = s[j]
		}
	}
}

// slope is dθ/ds.
func (c *coordinates) slope(j int, theta float64) float64 {
	if c.params[j].Log {
		return theta
	}
	return 1
}
