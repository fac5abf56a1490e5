package fit

import "math"

// The linear problem of a step: its factor, what of it may move, and its solution within a box.

// factor eats √W·J and √W·r, and leaves gradient and lengths of the columns.
func (f *descent) factor() {
	n, rows := len(f.s), len(f.r)
	f.m.Loss.Roots(f.r, f.w)
	take := weigh
	if f.m.Loss.Kind == Squares { // all weights are 1
		take = func(y, x, _ []float64) { copy(y, x) }
	}
	f.tri.reset(n)
	for from := 0; from < rows; from += f.tri.rows {
		k := min(f.tri.rows, rows-from)
		w := f.w[from : from+k]
		for c, j := range f.slope.order {
			take(f.tri.column(c, k), f.slope.j[j][from:from+k], w)
		}
		take(f.tri.column(n, k), f.r[from:from+k], w)
		f.tri.eat(k)
	}

	widest := 0.0
	for c, j := range f.slope.order {
		g, ss := 0.0, 0.0
		for i := range c + 1 {
			v := f.tri.r[i*n+c]
			g += v * f.tri.c[i]
			ss += v * v
		}
		f.g[j], f.length[j] = g, math.Sqrt(ss)
		widest = max(widest, f.length[j]*f.slope.at.scale[j])
	}
	// a parameter without effect stays where it is instead of being thrown about
	for j := range f.length {
		f.length[j] = max(f.length[j], 1e-10*widest/f.slope.at.scale[j])
	}
}

// weigh writes w·x to y.
func weigh(y, x, w []float64) {
	x, w = x[:len(y)], w[:len(y)]
	for i := range y {
		y[i] = x[i] * w[i]
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
	for _, v := range f.tri.r[:len(f.s)*len(f.s)] {
		if v != 0 {
			return true
		}
	}
	return false
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
	inside := inner(f.sub.c[:p], f.sub.c[:p])
	outside := inner(f.tri.c, f.tri.c) + f.tri.rest - inside
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
	for c, j := range f.slope.order {
		if f.side[j] == 0 {
			f.free = append(f.free, c)
		}
	}
	p := len(f.free)
	f.sub.reset(p)
	rhs := f.sub.column(p, n)
	for i := range n {
		row := f.tri.r[i*n : i*n+n]
		v := f.tri.c[i]
		for c := i; c < n; c++ {
			if j := f.slope.order[c]; f.side[j] != 0 {
				v += row[c] * f.d[j]
			}
		}
		rhs[i] = v
		for k, c := range f.free {
			f.sub.block[k*f.sub.rows+i] = 0
			if c >= i {
				f.sub.block[k*f.sub.rows+i] = row[c]
			}
		}
	}
	f.sub.eat(n)
	if lambda == 0 || p == 0 {
		return
	}
	root := math.Sqrt(lambda)
	for k, c := range f.free {
		y := f.sub.column(k, p)
		clear(y)
		y[k] = root * f.length[f.slope.order[c]]
	}
	clear(f.sub.column(p, p))
	f.sub.eat(p)
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
		f.sub.solve(f.x)
		met := false
		for k, c := range f.free {
			j := f.slope.order[c]
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
	for i := range n {
		v := 0.0
		for c := i; c < n; c++ {
			v += f.tri.r[i*n+c] * f.d[f.slope.order[c]]
		}
		sum -= v * (v + 2*f.tri.c[i])
	}
	return sum / 2
}
