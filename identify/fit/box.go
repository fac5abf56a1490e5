package fit

import (
	"math"
	"slices"

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

// sensitive says that some parameter has an effect.
func (f *descent) sensitive() bool {
	r, _ := f.tri.Triangle()
	return slices.ContainsFunc(r, func(v float64) bool { return v != 0 })
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
	inside := inner(free, free)
	outside := inner(all, all) + f.tri.SumSquares() - inside
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

// inner is x·y.
func inner(x, y []float64) float64 { return floats.Dot(x, y[:len(x)]) }

// axpy adds s·x to y.
func axpy(s float64, x, y []float64) { floats.AddScaled(y[:len(x)], s, x) }
