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

// pull is the force of the drive and the known disturbance.
func pull(d *Record) []float64 {
	if d.Disturbance == nil {
		return d.Force
	}
	out := slices.Clone(d.Force)
	for k, f := range d.Disturbance {
		out[k] += f
	}
	return out
}

// regress solves the balance over all rows by Gram–Schmidt; a column that the ones before it explain is left out. nil: the
// force never changes.
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
	mean, spread := 0.0, 0.0
	for _, f := range y {
		mean += f / float64(n)
	}
	for _, f := range y {
		spread += (f - mean) * (f - mean)
	}
	if spread == 0 {
		return nil
	}

	q, kept, r := orthonormal(cols)
	p := len(q)
	if p == 0 || n <= 2*p {
		return nil
	}
	e := slices.Clone(y)
	qy := make([]float64, p)
	for i := range q {
		qy[i] = dot(q[i], e)
		for k := range e {
			e[k] -= qy[i] * q[i][k]
		}
	}

	// inverse of the triangle, then coefficients and their covariance
	inv := make([][]float64, p) // inv[i][j], j ≥ i
	for j := range p {
		for i := j; i >= 0; i-- {
			if inv[i] == nil {
				inv[i] = make([]float64, p)
			}
			s := 0.0
			if i == j {
				s = 1
			}
			for k := i + 1; k <= j; k++ {
				s -= r[k][i] * inv[k][j]
			}
			inv[i][j] = s / r[i][i]
		}
	}
	rho := 0.0
	ee := dot(e, e)
	for k := 1; k < n; k++ {
		rho += e[k] * e[k-1]
	}
	rho = min(max(rho/max(ee, math.SmallestNonzeroFloat64), 0), 0.999)
	s2 := ee / float64(n-p) * (1 + rho) / (1 - rho)

	b := &balance{r2: 1 - ee/spread}
	grad := make([]float64, p) // of the loss
	v2, v1 := 0.0, 0.0
	for k := range v {
		v2, v1 = v2+v[k]*v[k]/float64(n), v1+math.Abs(v[k])/float64(n)
		b.driven, b.gross = b.driven+y[k]*v[k]/float64(n), b.gross+math.Abs(y[k]*v[k])/float64(n)
	}
	for i, j := range kept {
		x, c := 0.0, 0.0
		for k := i; k < p; k++ {
			x, c = x+inv[i][k]*qy[k], c+inv[i][k]*inv[i][k]
		}
		b.names, b.coef, b.se = append(b.names, names[j]), append(b.coef, x), append(b.se, math.Sqrt(s2*c))
		switch names[j] {
		case "Fv":
			grad[i] = v2
		case "Fc":
			grad[i] = v1
		}
		b.loss += grad[i] * x
	}
	for k := range p {
		s := 0.0
		for i := 0; i <= k; i++ {
			s += grad[i] * inv[i][k]
		}
		b.lossSE += s2 * s * s
	}
	b.lossSE = math.Sqrt(b.lossSE)
	return b
}

// orthonormal gives columns q that span the same as cols, where cols[kept[j]] = Σ_i r[j][i]·q_i. Columns that the ones before
// them explain to a thousandth are left out.
func orthonormal(cols [][]float64) (q [][]float64, kept []int, r [][]float64) {
	for j, col := range cols {
		z := slices.Clone(col)
		size := math.Sqrt(dot(z, z))
		share := make([]float64, len(q))
		for range 2 { // twice, for accuracy
			for i := range q {
				s := dot(q[i], z)
				share[i] += s
				for k := range z {
					z[k] -= s * q[i][k]
				}
			}
		}
		rest := math.Sqrt(dot(z, z))
		if size == 0 || rest < 1e-3*size {
			continue
		}
		for k := range z {
			z[k] /= rest
		}
		q, kept, r = append(q, z), append(kept, j), append(r, append(share, rest))
	}
	return q, kept, r
}

func dot(a, b []float64) float64 {
	s := 0.0
	for k := range a {
		s += a[k] * b[k]
	}
	return s
}
