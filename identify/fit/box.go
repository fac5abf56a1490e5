package fit

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
)

// The linear problem of a step: its factor, what of it may move, and its solution within a box.

// factor eats √W·J and √W·r, and leaves gradient and lengths of the columns.
func (f *descent) factor() {
	n, rows := len(f.s), len(f.r)
	f.m.Loss.Roots(f.r, f.w)
	f.tri.Reset()
	for from := 0; from < rows; from += numeric.BlockRows {
		to := min(from+numeric.BlockRows, rows)
		f.tri.AddBlock(to-from, func(c int, column []float64) {
			x := f.r
			if c < n {
				x = f.slope.j[c]
			}
			if f.m.Loss.Kind == Squares { // all weights are 1
				copy(column, x[from:to])
			} else {
				floats.MulTo(column, x[from:to], f.w[from:to])
			}
		})
	}
	r, rhs := f.tri.Triangle()

	widest := 0.0
	for c := range n {
		g, ss := 0.0, 0.0
		for i := range c + 1 {
			v := r[i*n+c]
			g += v * rhs[i]
			ss += v * v
		}
		f.g[c], f.length[c] = g, math.Sqrt(ss)
		widest = max(widest, f.length[c]*f.slope.at.scale[c])
	}
	// a parameter without effect stays where it is instead of being thrown about
	for j := range f.length {
		f.length[j] = max(f.length[j], 1e-10*widest/f.slope.at.scale[j])
	}
}

// hold marks the parameters on a bound that want out.
func (f *descent) hold() {
	at := f.slope.at
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
	p, rows := len(f.free), len(f.r)
	if p == 0 {
		return 0
	}
	if rows <= p {
		return -1
	}
	_, all := f.tri.Triangle()
	_, free := f.sub.Triangle()
	inside := floats.Dot(free, free)
	outside := floats.Dot(all, all) + f.tri.SumSquares() - inside
	// residuals at the level of rounding: nothing to compare with
	if !(outside > 1e-20*inside) {
		return -1
	}
	return math.Sqrt(inside / float64(p) * float64(rows-p) / outside)
}

// reduced fills sub with the columns that are free, damped by lambda, and the right-hand side at the step d of the others.
func (f *descent) reduced(lambda float64) {
	n := len(f.s)
	f.free = f.free[:0]
	for j := range n {
		if f.side[j] == 0 {
			f.free = append(f.free, j)
		}
	}
	p := len(f.free)
	r, rhs := f.tri.Triangle()
	f.sub.Resize(p)
	f.sub.AddBlock(n, func(k int, column []float64) {
		if k < p {
			for i := range column {
				column[i] = r[i*n+f.free[k]]
			}
			return
		}
		for i := range column {
			v := rhs[i]
			for c := i; c < n; c++ {
				if f.side[c] != 0 {
					v += r[i*n+c] * f.d[c]
				}
			}
			column[i] = -v
		}
	})
	if lambda == 0 || p == 0 {
		return
	}
	root := math.Sqrt(lambda)
	f.sub.AddBlock(p, func(k int, column []float64) {
		clear(column)
		if k < p {
			column[k] = root * f.length[f.free[k]]
		}
	})
}

// inBox writes the damped step within the box to d, and returns by how much the linear model lowers the cost.
func (f *descent) inBox(lambda float64) float64 {
	at := f.slope.at
	f.hold()
	clear(f.d)
	for j, s := range f.s {
		f.boxLo[j] = max(at.lo[j]-s, -at.clip[j])
		f.boxHi[j] = min(at.hi[j]-s, at.clip[j])
	}
	for {
		f.reduced(lambda)
		r, c := f.sub.Triangle() // the step of what is free
		backward(r, c, f.x)
		met := false
		for k, j := range f.free {
			f.d[j] = min(max(f.x[k], f.boxLo[j]), f.boxHi[j])
			if f.d[j] != f.x[k] {
				f.side[j], met = 1, true
			}
		}
		if !met {
			break
		}
	}

	// ½·(‖c‖² − ‖R·d + c‖²)
	n, sum := len(f.s), 0.0
	r, rhs := f.tri.Triangle()
	for i := range n {
		v := 0.0
		for c := i; c < n; c++ {
			v += r[i*n+c] * f.d[c]
		}
		sum -= v * (v + 2*rhs[i])
	}
	return sum / 2
}

// backward solves R·x = c, R row-major. A column without any size of its own gets 0.
func backward(r, c, x []float64) {
	n := len(c)
	for k := n - 1; k >= 0; k-- {
		s := c[k]
		for j := k + 1; j < n; j++ {
			s -= r[k*n+j] * x[j]
		}
		if x[k] = 0; r[k*n+k] != 0 {
			x[k] = s / r[k*n+k]
		}
	}
}

// coordinates are those in which LM works: s = ln θ for Log parameters, s = θ for the others.
type coordinates struct {
	params []Param
	lo, hi []float64
	scale  []float64 // by which a linear parameter typically changes; 1 for logarithms
	given  []bool    // the scale is the user's
	clip   []float64 // the longest step
}

func newCoordinates(params []Param, scale map[string]float64) *coordinates {
	n := len(params)
	c := &coordinates{
		params: params, lo: make([]float64, n), hi: make([]float64, n),
		scale: make([]float64, n), given: make([]bool, n), clip: make([]float64, n),
	}
	for j, p := range params {
		c.lo[j], c.hi[j] = p.Lo, p.Hi
		width := p.Hi - p.Lo
		s, given := scale[p.Name]
		switch {
		case p.Log:
			c.lo[j], c.hi[j] = math.Log(p.Lo), math.Log(p.Hi)
			c.scale[j], c.given[j], c.clip[j] = 1, true, longestStep
		case given:
			c.scale[j], c.given[j], c.clip[j] = s, true, longestStep*s
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
