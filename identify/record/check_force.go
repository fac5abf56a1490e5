package record

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"hilrig/engine/numeric"
)

// balanceRows are the rows of the balance: columns and force, smoothed alike.
type balanceRows struct {
	names []string
	cols  [][]float64
	force []float64
	v     []float64
}

// regressors forms the rows of one piece. Everything is behind a moving average of 2w samples and thinned out; w is the smallest
// that keeps the noise of the acceleration below a tenth. nil: too few.
func (c *checker) regressors(m *motion) *balanceRows {
	n, dt := len(m.v), m.d.Dt
	v := m.v
	var a []float64
	w := 1
	for ; ; w *= 2 {
		if m.x != nil { // from the position: measured velocities are filtered as a rule
			x := movingMean(m.x, w)
			v = numeric.Slope(x, w, dt)
			a = make([]float64, n)
			for k := w; k < n-w; k++ {
				a[k] = (x[k+w] - 2*x[k] + x[k-w]) / (float64(w*w) * dt * dt)
			}
		} else {
			v = movingMean(movingMean(m.v, w), w)
			a = numeric.Slope(movingMean(m.v, w), w, dt)
		}
		noise := m.noise * math.Sqrt(6/float64(2*w)) / (float64(w*w) * dt * dt)
		if m.x == nil {
			noise = m.rest / 4 / (float64(w) * math.Sqrt(float64(2*w)) * dt)
		}
		if noise < 0.1*numeric.RMS(a) || 4*w > max(n/100, 4) {
			break
		}
	}
	smooth := movingMean(movingMean(m.d.WithTotalForce().Force, w), w)
	keep := func(x func(k int) float64) (out []float64) {
		for k := 2 * w; k < n-2*w; k += max(w, (n+19999)/20000) {
			out = append(out, x(k))
		}
		return out
	}
	r := &balanceRows{force: keep(func(k int) float64 { return smooth[k] }), v: keep(func(k int) float64 { return v[k] })}
	if len(r.force) < 10 {
		return nil
	}
	soft := max(m.rest, 0.01*m.topSpeed)
	add := func(name string, x func(k int) float64) {
		r.names, r.cols = append(r.names, name), append(r.cols, keep(x))
	}
	add("Fv", func(k int) float64 { return v[k] })
	add("Fc", func(k int) float64 { return max(-1, min(1, v[k]/soft)) })
	add("offset", func(int) float64 { return 1 })
	switch {
	case m.x == nil || c.o.Static:
	case c.o.Rotary && numeric.Span(m.x) > 1:
		add("gs", func(k int) float64 { return math.Sin(m.x[k]) })
		add("gc", func(k int) float64 { return math.Cos(m.x[k]) })
	default:
		mid := 0.5 * (slices.Max(m.x) + slices.Min(m.x))
		add("k", func(k int) float64 { return m.x[k] - mid })
	}
	if !c.o.Static {
		add("M", func(k int) float64 { return a[k] })
	}
	return r
}

// selectRows are the rows that are wanted.
func (r *balanceRows) selectRows(want func(i int) bool) *balanceRows {
	pick := func(x []float64) []float64 {
		out := make([]float64, 0, len(x))
		for i, y := range x {
			if want(i) {
				out = append(out, y)
			}
		}
		return out
	}
	out := &balanceRows{names: r.names, force: pick(r.force), v: pick(r.v)}
	for _, col := range r.cols {
		out.cols = append(out.cols, pick(col))
	}
	return out
}

// join puts the rows of another piece behind, if they have the same columns; nil has no rows.
func (r *balanceRows) join(more *balanceRows) *balanceRows {
	switch {
	case r == nil:
		return more
	case more == nil || len(more.names) != len(r.names):
		return r
	}
	r.force, r.v = append(r.force, more.force...), append(r.v, more.v...)
	for j, col := range more.cols {
		r.cols[j] = append(r.cols[j], col...)
	}
	return r
}

// factorOf is the factor of some rows.
func factorOf(cols [][]float64, y []float64) *numeric.Factor {
	f := numeric.NewFactor(len(cols))
	f.AddColumns(cols, y)
	return f
}

// solve gives the coefficients and what is left of the squared right-hand side. A column that the ones before it explain to a
// thousandth has no coefficient: NaN.
func solve(f *numeric.Factor) (coef []float64, rest float64) {
	r, y := f.Triangle()
	p := len(y)
	for j := range p {
		size := 0.0
		for i := range j + 1 {
			size = math.Hypot(size, r[i*p+j])
		}
		if math.Abs(r[j*p+j]) > 1e-3*size {
			continue
		}
		// without it
		less := numeric.NewFactor(p - 1)
		for i := range p {
			less.Add(slices.Delete(slices.Clone(r[i*p:i*p+p]), j, j+1), y[i])
		}
		coef, rest = solve(less)
		return slices.Insert(coef, j, math.NaN()), rest + f.SumSquares()
	}
	coef = make([]float64, p)
	_ = f.Solve(coef) // no column depends on others
	return coef, f.SumSquares()
}

// jackknife is a statistic of a regression with its standard error, from the same without each of twenty parts of the rows:
// neighbouring rows may depend on each other as they like [T58].
func jackknife(cols [][]float64, y []float64, of func(coef []float64, rest float64) []float64) (value, se []float64) {
	var parts []*numeric.Factor
	for i, count := 0, min(20, len(y)); i < count; i++ {
		part, from, to := make([][]float64, len(cols)), i*len(y)/count, (i+1)*len(y)/count
		for j, col := range cols {
			part[j] = col[from:to]
		}
		parts = append(parts, factorOf(part, y[from:to]))
	}
	without := func(out int) []float64 {
		all := numeric.NewFactor(len(cols))
		for i, f := range parts {
			if i != out {
				all.Merge(f)
			}
		}
		return of(solve(all))
	}
	value = without(-1)
	n := float64(len(parts))
	mean, square := make([]float64, len(value)), make([]float64, len(value))
	for out := range parts {
		for i, x := range without(out) {
			mean[i], square[i] = mean[i]+(x-value[i])/n, square[i]+(x-value[i])*(x-value[i])/n
		}
	}
	for i := range mean {
		se = append(se, math.Sqrt(max(0, square[i]-mean[i]*mean[i])*(n-1)))
	}
	return value, se
}

// regress solves the balance over all rows. nil: the force never changes.
func (r *balanceRows) regress() *balance {
	y, v := r.force, r.v
	n := len(y)
	if n <= 2*len(r.names) || numeric.Span(y) == 0 {
		return nil
	}
	b := &balance{}
	v2, v1 := 0.0, 0.0
	for k := range v {
		v2, v1 = v2+v[k]*v[k]/float64(n), v1+math.Abs(v[k])/float64(n)
		b.meanPower, b.gross = b.meanPower+y[k]*v[k]/float64(n), b.gross+math.Abs(y[k]*v[k])/float64(n)
	}
	loss := map[string]float64{"Fv": v2, "Fc": v1}
	value, se := jackknife(r.cols, y, func(coef []float64, rest float64) []float64 {
		w := 0.0
		for i, name := range r.names {
			if g := loss[name]; g > 0 && !math.IsNaN(coef[i]) {
				w += g * coef[i]
			}
		}
		return append(coef, w, rest)
	})
	p := len(r.names)
	b.loss, b.lossSE = value[p], se[p]
	b.r2 = 1 - value[p+1]/(stat.Variance(y, nil)*float64(n-1))
	for i, name := range r.names {
		if !math.IsNaN(value[i]) && !math.IsNaN(se[i]) {
			b.names, b.coef, b.se = append(b.names, name), append(b.coef, value[i]), append(b.se, se[i])
		}
	}
	return b
}

// balance is what a plain regression says of the force of all pieces:
//
//	F = M·a + Fv·v + Fc·sgn v + offset + k·x        (for large angles gs·sin x + gc·cos x instead of k·x)
//
// It is no identification, only a witness: a sign or a unit that is wrong shows in it.
type balance struct {
	names     []string
	coef      []float64
	se        []float64 // with correlated residuals counted
	r2        float64
	loss      float64 // mean of Fv·v² + Fc·|v|, W: what friction takes
	lossSE    float64
	meanPower float64 // mean of F·v, W
	gross     float64 // mean of |F·v|, W
}

// mass is the inertia with its standard error, +Inf where the motion does not excite it.
func (b *balance) mass() (x, se float64) {
	if i := slices.Index(b.names, "M"); i >= 0 {
		return b.coef[i], b.se[i]
	}
	return 0, math.Inf(1)
}

// dynamics judges sign and inertia of the force, and what only the balance of all pieces shows.
func (c *checker) dynamics(all []*motion) {
	c.d = nil
	var rows *balanceRows
	for _, m := range all {
		if len(m.d.Force) > 0 && m.topSpeed > 0 {
			rows = rows.join(c.regressors(m))
		}
	}
	for _, m := range all {
		if !c.o.Static {
			c.d = m.d
			c.play(m)
		}
	}
	c.d = nil
	if rows == nil || c.o.Coupled {
		return
	}
	b := rows.regress()
	if b == nil {
		return
	}
	if sound := c.signs(b); sound && !c.o.Static {
		c.inertia(b)
		c.pace(b, rows, longestStep(all))
		c.clipped(rows)
	}
}

// signs reports a force that would feed the axis by friction, or turn its inertia negative; true if it does neither.
func (c *checker) signs(b *balance) bool {
	const sure = 5.0 // standard errors
	mass, se := b.mass()
	unit := c.o.unit("N")
	negative := !c.o.Static && mass < -sure*se
	gains := b.loss < -sure*b.lossSE && b.loss < -0.05*b.gross
	net := fmt.Sprintf("over the record the force does %.3g W of work on the axis on average, of %.3g W that change hands", b.meanPower,
		b.gross)
	advice := "Check the sign of force and position: both count positive in one direction."
	switch {
	case gains && (negative || c.o.Static) && b.r2 > 0.3:
		c.addFinding("force-sign", Fatal, "force", b.loss, "W", advice,
			"force has the wrong sign against the motion: inertia and friction both come out negative; %s", net)
	case gains:
		c.addFinding("force-power", Warning, "force", b.loss, "W", advice+" Otherwise something besides the recorded force moves the axis.",
			"friction would come out negative, feeding %.3g W to the axis; %s", -b.loss, net)
	case negative && b.r2 > 0.5:
		c.addFinding("inertia-sign", Warning, "force", mass, unit,
			"Check the signs of position and velocity, and the timing of the force; a load may be missing in the model.",
			"a plain regression gives a negative inertia, %.3g ± %.2g", mass, se)
	default:
		c.addFinding("power", Note, "force", b.meanPower, "W", "", "%s", net)
		return true
	}
	return false
}

// inertia says if there is none to be seen.
func (c *checker) inertia(b *balance) {
	unit := c.o.unit("kg")
	if mass, se := b.mass(); !(mass > 4*se) {
		c.addFinding("inertia-excitation", Note, "", mass, unit, "Accelerate harder if the inertia is wanted; otherwise fix it.",
			"the motion hardly shows an inertia: %.3g ± %.2g %s", mass, se, unit)
	}
}
