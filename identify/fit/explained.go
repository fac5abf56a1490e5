package fit

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// explained is what the model, and the suspects that were accepted, explain.
type explained struct {
	span
	e             []float64 // what is left over
	local         []basis   // of local parameters, on these rows
	localLeverage []float64 // by how much these draw each row to themselves
	pieces        []int
	series        bool

	solution  *Solution
	rows      []int
	functions []func(k int) float64 // the columns of the model and of what was accepted, at any row

	modelPast *modelPast // of the functions; nil: not asked for

	noisier []*noisy // with as much noise again; nil: noise of the columns does not matter

	cells    []int // of the motion, by row; nil: not known
	clusters int   // how many

	independent float64 // rows that carry as much about a mean of e as all of them

	lever       []float64 // by how much local parameters and the first columns of q draw each row to themselves …
	levered     int       // … of so many
	trialRoom   *room     // of the columns that are tried
	workerRooms []*room   // the same of workers side by side
}

// leverage is by how much local parameters and the columns of q draw each row to themselves.
func (x *explained) leverage() []float64 {
	if x.lever == nil {
		x.lever = slices.Clone(x.localLeverage)
	}
	for ; x.levered < len(x.q); x.levered++ {
		addSquares(x.lever, x.q[x.levered])
	}
	return x.lever
}

func addSquares(sum, x []float64) {
	for k, v := range x {
		sum[k] += v * v
	}
}

// count is the number of independent rows: the variance of e over that of its mean, times the rows there would be.
func (x *explained) count() float64 {
	n := len(x.e)
	if !x.series || n == 0 {
		return float64(n)
	}
	long, _ := LongRun([][]float64{x.e}, x.pieces)
	if long[0] <= 0 {
		return float64(n)
	}
	return float64(n) * math.Min(1, floats.Dot(x.e, x.e)/long[0])
}

// finding is what columns do that are added to the model.
type finding struct {
	share         float64   // of the squared residual
	gain          float64   // twice the logarithm of the likelihood, with errors that depend on their neighbours
	p             float64   // of one suspect
	waldStatistic float64   // squared size of the coefficients in their standard errors; 0: not known
	b             []float64 // coefficients of the columns, those that are sums of others 0
}

// tryAll tries suspects that are not used, side by side; nil coefficients: of one that cannot be tried.
func (x *explained) tryAll(suspects []Suspect, used []bool, of [][]*trial) []finding {
	out := make([]finding, len(suspects))
	workers := max(1, x.solution.Workers)
	if x.noisier != nil { // which keep columns
		workers = 1
	}
	x.leverage()
	for len(x.workerRooms) < workers {
		x.workerRooms = append(x.workerRooms, new(room))
	}
	each := func(do func(own *explained, i int)) {
		newPool(workers, len(suspects), func(worker, i int) {
			if !used[i] {
				own := *x
				own.trialRoom = x.workerRooms[worker]
				do(&own, i)
			}
		}).run(context.Background(), len(suspects))
	}
	each(func(own *explained, i int) {
		if f, ok := own.try(i, of[i]); ok {
			out[i] = f
		}
	})
	if slices.ContainsFunc(out, func(f finding) bool { return f.b != nil && f.p < unmodelledP }) {
		x.pastOfModel()
		each(func(own *explained, i int) {
			if out[i].b != nil {
				out[i] = own.foretold(&suspects[i], out[i])
			}
		})
	}
	return out
}

// largeShare is the share of a residual from which on it leaves few rows to tell by.
const largeShare = 0.5

// try adds columns, those of suspect i, to the model and measures what they explain.
func (x *explained) try(i int, columns []*trial) (f finding, ok bool) {
	x.trialRoom.reset()
	first := len(x.q)
	y := span{q: slices.Clip(x.q), inheritedCount: first, room: x.trialRoom}
	for _, c := range columns {
		y.try(c)
	}
	m := len(y.basisColumns)
	n := len(x.e)
	if m == 0 || n <= 2*(x.columns()+m) {
		return f, false
	}
	e := x.trialRoom.of(n)
	copy(e, x.e)
	b := make([]float64, m)
	for i := range b {
		q := y.q[first+i]
		b[i] = floats.Dot(q, x.e)
		floats.AddScaled(e, -b[i], q)
	}
	before, after := floats.Dot(x.e, x.e), floats.Dot(e, e)
	if before == 0 {
		return f, false
	}
	f.share = 1 - after/before

	f.b = y.solve(b)
	dof := float64(n - first - m)
	g, cov, lags := x.errors(y.q[first:], e)
	beyond, ok := wald(b, cov)
	if !ok {
		return f, false
	}
	chance := func() float64 { return distuv.F{D1: float64(m), D2: math.Max(dof, 1)}.Survival(beyond / float64(m)) }
	if f.p = chance(); f.p >= unmodelledP && f.share <= largeShare { // what follows makes it no smaller
		return f, true
	}

	// the covariance is itself estimated, from as many rows as carry the columns [BM02], fewer if they depend on each other
	for _, q := range y.q[first:] {
		fourth := 0.0
		for _, v := range q {
			fourth += v * v * v * v
		}
		dof = math.Min(dof, 1/fourth/math.Max(1, float64(lags+1)/1.5))
	}
	if x.cells != nil && x.clusters > first+2*m {
		other, ok := wald(b, x.jointCovariance(g, cov))
		if ok && other < beyond {
			beyond, dof = other, math.Min(dof, float64(x.clusters-first-m))
		}
	}
	if m == len(columns) && x.noisier != nil {
		if without, more, grown := x.unbiased(i, &y, b); without != nil {
			floats.Add(more, cov)
			if other, ok := wald(without, more); ok && other < beyond {
				beyond, f.share, f.b = other, math.Min(f.share, floats.Dot(without, without)/before), y.solve(without)
			}
			floats.Scale(grown, f.b)
		}
	}
	f.p = chance()
	// Where most of the residual goes, few rows are left to tell that by. Then the other way round: how often would a residual
	// of as many independent rows as before lie as much in this direction? Either test may tell then
	if few := x.independent - float64(first+m); few >= 1 && f.share > largeShare {
		f.p = 2 * math.Min(f.p, distuv.F{D1: float64(m), D2: few}.Survival(f.share/(1-f.share)*few/float64(m)))
	}

	rows := math.Max(x.independent, 1)
	f.waldStatistic, f.gain = beyond, rows*math.Log1p(beyond/rows)
	return f, true
}

// errors is the covariance of the coefficients of the columns q beside those of x, which leave e over: that of the sum of the scores
// g, with residuals as they would be had their row not been fitted, over so many lags. The scores are in the room of the trial.
func (x *explained) errors(q [][]float64, e []float64) (g [][]float64, cov []float64, lags int) {
	free := x.trialRoom.of(len(e))
	copy(free, x.leverage())
	for _, c := range q {
		addSquares(free, c)
	}
	for k, h := range free {
		free[k] = e[k] / max(1-h, 0.1)
	}
	for _, c := range q {
		g = append(g, floats.MulTo(x.trialRoom.of(len(e)), c, free))
	}
	if x.series {
		cov, lags = LongRun(g, x.pieces)
	} else {
		cov = windows(g, nil, len(e), 0, nil)
	}
	w := widening(lags, len(e))
	floats.Scale(w*w, cov)
	return g, cov, lags
}

// allowed is the largest coefficient of the column of a suspect that the residual does not exclude.
func (x *explained) allowed(i int, sp *Suspect, c *trial) finding {
	least, most := sp.Bounds[0], sp.Bounds[1]
	own, err, ok := x.coefficient(i, c)
	switch {
	case sp.Expected && ok:
		if most = own + distuv.UnitNormal.Quantile(0.975)*err; sp.MaxCoefficient > 0 {
			most = math.Min(most, sp.MaxCoefficient)
		}
	case ok: // else the model makes as much of it
		least, most = math.Max(least, own-boundsApart*err), math.Min(most, own+boundsApart*err)
	}
	if most = math.Max(most, 0); -least > most {
		return finding{b: []float64{least}, p: 1}
	}
	return finding{b: []float64{most}, p: 1}
}

// boundsApart are the standard errors from which on what Bounds allow is excluded: as alternatives are, by ten in twice the logarithm of
// the likelihood.
const boundsApart = 3.2

// firstCoefficient is the coefficient; 0: there is none.
func (f *finding) firstCoefficient() float64 {
	if f.b == nil {
		return 0
	}
	return f.b[0]
}

// coefficient is that of a column, with its standard error; not ok: it cannot be told from the model.
func (x *explained) coefficient(i int, c *trial) (b, err float64, ok bool) {
	x.trialRoom.reset()
	y := span{q: slices.Clip(x.q), inheritedCount: len(x.q), room: x.trialRoom}
	if !y.try(c) {
		return 0, 0, false
	}
	z := y.q[y.inheritedCount]
	e, own := x.trialRoom.of(len(x.e)), floats.Dot(z, x.e)
	copy(e, x.e)
	floats.AddScaled(e, -own, z)
	g, cov, _ := x.errors(y.q[y.inheritedCount:], e)
	variance := cov[0]
	if x.cells != nil && x.clusters > len(y.q)+1 {
		variance = math.Max(variance, x.jointCovariance(g, cov)[0])
	}
	if without, more, grown := x.unbiased(i, &y, []float64{own}); without != nil {
		own, variance = grown*without[0], grown*grown*(variance+more[0])
	}
	return own / y.r[0][0], math.Sqrt(variance) / y.r[0][0], true
}

// wald is bᵀ·C⁻¹·b for the covariance C of b, row-major; ok is false if that has no inverse.
func wald(b, c []float64) (size float64, ok bool) {
	var chol mat.Cholesky
	v, x := mat.NewVecDense(len(b), b), mat.NewVecDense(len(b), nil)
	if !chol.Factorize(mat.NewSymDense(len(b), c)) || chol.SolveVecTo(x, v) != nil {
		return 0, false
	}
	return mat.Dot(v, x), true
}
