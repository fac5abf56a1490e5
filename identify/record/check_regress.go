package record

import (
	"math"
	"slices"
)

// regressors forms the columns of the balance for one piece, without the outer margin of samples. Everything is behind a
// moving average of 2w samples and thinned out; w is the smallest that keeps the noise of the acceleration below a tenth.
func (c *checker) regressors(m *motion, margin int) (names []string, r *rowsOf) {
	n, dt := len(m.v), m.d.Dt
	v := m.v
	var a []float64
	w := 1
	for ; ; w *= 2 {
		if m.x != nil { // from the position: measured velocities are filtered as a rule
			x := average(m.x, w)
			v = slopeOver(x, w, dt)
			a = make([]float64, n)
			for k := w; k < n-w; k++ {
				a[k] = (x[k+w] - 2*x[k] + x[k-w]) / (float64(w*w) * dt * dt)
			}
		} else {
			v = average(average(m.v, w), w)
			a = slopeOver(average(m.v, w), w, dt)
		}
		noise := m.noise * math.Sqrt(6/float64(2*w)) / (float64(w*w) * dt * dt)
		if m.x == nil {
			noise = m.rest / 4 / (float64(w) * math.Sqrt(float64(2*w)) * dt)
		}
		if noise < 0.1*rms(a) || 4*w > max(n/100, 4) {
			break
		}
	}
	first, last, step := 2*w+margin, n-2*w-margin, max(w, (n+19999)/20000)
	r = &rowsOf{smooth: average(average(pull(m.d), w), w)}
	for k := first; k < last; k += step {
		r.at = append(r.at, k)
	}
	keep := func(x func(k int) float64) []float64 {
		out := make([]float64, len(r.at))
		for i, k := range r.at {
			out[i] = x(k)
		}
		return out
	}
	r.force, r.v = keep(func(k int) float64 { return r.smooth[k] }), keep(func(k int) float64 { return v[k] })
	if len(r.force) < 10 {
		return nil, nil
	}
	soft := max(m.rest, 0.01*m.top)
	add := func(name string, x func(k int) float64) { names, r.cols = append(names, name), append(r.cols, keep(x)) }
	add("Fv", func(k int) float64 { return v[k] })
	add("Fc", func(k int) float64 { return max(-1, min(1, v[k]/soft)) })
	add("offset", func(int) float64 { return 1 })
	switch {
	case m.x == nil || c.o.Static:
	case c.o.Rotary && slices.Max(m.x)-slices.Min(m.x) > 1:
		add("gs", func(k int) float64 { return math.Sin(m.x[k]) })
		add("gc", func(k int) float64 { return math.Cos(m.x[k]) })
	default:
		mid := 0.5 * (slices.Max(m.x) + slices.Min(m.x))
		add("k", func(k int) float64 { return m.x[k] - mid })
	}
	if !c.o.Static {
		add("M", func(k int) float64 { return a[k] })
	}
	return names, r
}

// where are the rows that are wanted.
func (r *rowsOf) where(want func(i int) bool) *rowsOf {
	out := &rowsOf{smooth: r.smooth, cols: make([][]float64, len(r.cols))}
	for i := range r.force {
		if !want(i) {
			continue
		}
		if r.at != nil {
			out.at = append(out.at, r.at[i])
		}
		out.v, out.force = append(out.v, r.v[i]), append(out.force, r.force[i])
		for j, c := range r.cols {
			out.cols[j] = append(out.cols[j], c[i])
		}
	}
	return out
}

// pull is the force of the drive and the known disturbance, if it is not in the force already.
func pull(d *Record) []float64 {
	if d.Disturbance == nil || d.InCommand() {
		return d.Force
	}
	out := slices.Clone(d.Force)
	for k, f := range d.Disturbance {
		out[k] += f
	}
	return out
}

// sums are the products of some rows that least squares needs: Xᵀ·X, Xᵀ·y and yᵀ·y.
type sums struct {
	xx [][]float64
	xy []float64
	yy float64
}

func newSums(p int) *sums {
	s := &sums{xx: make([][]float64, p), xy: make([]float64, p)}
	for i := range s.xx {
		s.xx[i] = make([]float64, p)
	}
	return s
}

// take adds the rows from … to − 1.
func (s *sums) take(cols [][]float64, y []float64, from, to int) {
	for i, a := range cols {
		for j := i; j < len(cols); j++ {
			s.xx[i][j] += dot(a[from:to], cols[j][from:to])
			s.xx[j][i] = s.xx[i][j]
		}
		s.xy[i] += dot(a[from:to], y[from:to])
	}
	s.yy += dot(y[from:to], y[from:to])
}

// add adds other sums, or takes them out with sign −1.
func (s *sums) add(o *sums, sign float64) {
	for i := range s.xx {
		for j := range s.xx[i] {
			s.xx[i][j] += sign * o.xx[i][j]
		}
		s.xy[i] += sign * o.xy[i]
	}
	s.yy += sign * o.yy
}

// solve gives the coefficients and what is left of yᵀ·y, by the factor of Cholesky. A column that the ones before it explain to
// a thousandth has no coefficient: NaN.
func (s *sums) solve() (coef []float64, rest float64) {
	l, c, rest := s.factor()
	p := len(c)
	coef = make([]float64, p)
	for i := p - 1; i >= 0; i-- {
		if l[i][i] == 0 {
			coef[i] = math.NaN()
			continue
		}
		coef[i] = c[i]
		for j := i + 1; j < p; j++ {
			if l[j][j] > 0 {
				coef[i] -= l[j][i] * coef[j]
			}
		}
		coef[i] /= l[i][i]
	}
	return coef, rest
}

// alone is the share of a column's square that the ones before it do not explain.
func (s *sums) alone(i int) float64 {
	l, _, _ := s.factor()
	return l[i][i] * l[i][i] / s.xx[i][i]
}

// factor is l of XᵀX = l·lᵀ, with zero on the diagonal for columns that are left out, and c of l·c = Xᵀy.
func (s *sums) factor() (l [][]float64, c []float64, rest float64) {
	p := len(s.xy)
	l, c, rest = make([][]float64, p), make([]float64, p), s.yy
	for i := range p {
		l[i] = make([]float64, p)
		for j := range i {
			if l[j][j] > 0 {
				l[i][j] = (s.xx[i][j] - dot(l[i][:j], l[j][:j])) / l[j][j]
			}
		}
		if left := s.xx[i][i] - dot(l[i][:i], l[i][:i]); left > 1e-6*s.xx[i][i] {
			l[i][i] = math.Sqrt(left)
			c[i] = (s.xy[i] - dot(l[i][:i], c[:i])) / l[i][i]
			rest -= c[i] * c[i]
		}
	}
	return l, c, max(rest, 0)
}

// jackBlocks is how many parts of a record the jackknife leaves out, one at a time.
const jackBlocks = 20

// partsOf are the sums of rows, cut into parts of one length.
func partsOf(cols [][]float64, y []float64) []*sums {
	parts := make([]*sums, min(jackBlocks, len(y)))
	for i := range parts {
		parts[i] = newSums(len(cols))
		parts[i].take(cols, y, i*len(y)/len(parts), (i+1)*len(y)/len(parts))
	}
	return parts
}

// variance is Σ(y − mean)².
func variance(y []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		sum += (v - mean) * (v - mean)
	}
	return sum
}

// jackknife is a statistic of all parts with its standard error, from the same without each of them: neighbouring rows may
// depend on each other as they like [T58].
func jackknife(parts []*sums, of func(*sums) []float64) (value, se []float64) {
	all := newSums(len(parts[0].xy))
	for _, s := range parts {
		all.add(s, 1)
	}
	value = of(all)
	n := float64(len(parts))
	mean, square := make([]float64, len(value)), make([]float64, len(value))
	for _, s := range parts {
		all.add(s, -1)
		for i, x := range of(all) {
			mean[i], square[i] = mean[i]+(x-value[i])/n, square[i]+(x-value[i])*(x-value[i])/n
		}
		all.add(s, 1)
	}
	for i := range mean {
		se = append(se, math.Sqrt(max(0, square[i]-mean[i]*mean[i])*(n-1)))
	}
	return value, se
}

// regress solves the balance over all rows. nil: the force never changes.
func regress(names []string, pieces []rowsOf) *balance {
	var y, v []float64
	cols := make([][]float64, len(names))
	for _, p := range pieces {
		y, v = append(y, p.force...), append(v, p.v...)
		for j := range cols {
			cols[j] = append(cols[j], p.cols[j]...)
		}
	}
	n := len(y)
	if n <= 2*len(names) || slices.Max(y) == slices.Min(y) {
		return nil
	}
	b := &balance{}
	v2, v1 := 0.0, 0.0
	for k := range v {
		v2, v1 = v2+v[k]*v[k]/float64(n), v1+math.Abs(v[k])/float64(n)
		b.driven, b.gross = b.driven+y[k]*v[k]/float64(n), b.gross+math.Abs(y[k]*v[k])/float64(n)
	}
	loss := map[string]float64{"Fv": v2, "Fc": v1}
	value, se := jackknife(partsOf(cols, y), func(s *sums) []float64 {
		coef, rest := s.solve()
		w := 0.0
		for i, name := range names {
			if g := loss[name]; g > 0 && !math.IsNaN(coef[i]) {
				w += g * coef[i]
			}
		}
		return append(coef, w, rest)
	})
	p := len(names)
	b.loss, b.lossSE = value[p], se[p]
	b.r2 = 1 - value[p+1]/variance(y)
	for i, name := range names {
		if !math.IsNaN(value[i]) && !math.IsNaN(se[i]) {
			b.names, b.coef, b.se = append(b.names, name), append(b.coef, value[i]), append(b.se, se[i])
		}
	}
	return b
}

func dot(a, b []float64) float64 {
	s := 0.0
	for k := range a {
		s += a[k] * b[k]
	}
	return s
}
