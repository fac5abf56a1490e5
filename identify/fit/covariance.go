package fit

import (
	"errors"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/engine/numeric"
)

// covariance holds what the Jacobian of a solution says about its parameters.
type covariance struct {
	length            []float64   // of the columns of J
	classical, robust []float64   // standard errors in the units of the parameters, the local ones behind; +Inf where the data say nothing
	betweenGroups     []float64   // the same with groups of rows as the sample; nil: too few groups
	groups            int         // how many
	correlation       [][]float64 // of the estimates
	condition         float64     // of J as it stands
	scaled            float64     // of J with columns of length one
	lags              int         // of the robust one …
	carry             []float64   // … and how many equal rows would carry as much of its scatter, by parameter
	slowDOF           []float64   // degrees of freedom of a robust one by what the scores have slow; 0: by windows
	rank              int         // of the scaled J
	singular          []float64   // its values, largest first …
	v                 *mat.Dense  // … and its right vectors, in columns
}

// nullSingular is where a singular value of the scaled J, relative to the largest, is taken for zero.
const nullSingular = 1e-12

// variance is that of the noise of the rows: what is left over per degree of freedom, or 1 if it is known.
func (s *Solution) variance() float64 {
	if s.NoiseKnown {
		return 1
	}
	return floats.Dot(s.Residual, s.Residual) / float64(max(1, len(s.Residual)-s.count()))
}

// count is the number of parameters that were searched.
func (s *Solution) count() int {
	n := len(s.FreeParams)
	for _, b := range s.Local {
		n += len(b.FreeParams)
	}
	return n
}

// takeApart takes the column-scaled Jacobian apart, X = Q·R and R = U·Σ·Vᵀ, and gives a matrix B with (XᵀX)⁺ = B·Bᵀ:
// V·Σ⁻¹·Vᵀ, or V·Σ⁻¹ without the directions that vanish; as many columns as do not. It is empty where all do.
func (s *Solution) takeApart() (c *covariance, m *marginal, b *mat.Dense, err error) {
	m = s.marginal(nil)
	x, length := m.x, m.length
	p := len(x)
	c = &covariance{length: length, classical: make([]float64, p), robust: make([]float64, p), v: &mat.Dense{}}
	t := numeric.NewFactor(p)
	t.AddColumns(x, make([]float64, len(s.Residual)))
	tri, _ := t.Triangle()
	r := mat.NewDense(p, p, tri)
	var svd mat.SVD
	if !svd.Factorize(r, mat.SVDFull) {
		return nil, nil, nil, errors.New("assess: the singular values of the Jacobian do not converge")
	}
	c.singular = svd.Values(nil)
	svd.VTo(c.v)
	c.scaled, c.condition = math.Inf(1), math.Inf(1)
	for _, sv := range c.singular {
		if sv > nullSingular*c.singular[0] {
			c.rank++
		}
	}
	b = &mat.Dense{}
	if c.rank == p {
		c.scaled = c.singular[0] / c.singular[p-1]
		unscaled := mat.DenseCopyOf(r)
		unscaled.Apply(func(_, j int, v float64) float64 { return v * length[j] }, unscaled)
		c.condition = mat.Cond(unscaled, 2)
	}
	if c.rank > 0 {
		b.CloneFrom(c.v.Slice(0, p, 0, c.rank))
		b.Apply(func(_, i int, v float64) float64 { return v / c.singular[i] }, b)
		if c.rank == p { // turned back, so that it does not depend on the order of the columns
			b.Mul(mat.DenseCopyOf(b), c.v.T())
		}
	}
	return c, m, b, nil
}

// newCovariance forms both covariances: s²·B·Bᵀ and B·S·Bᵀ with S the long-run covariance of the scores of X·B.
func newCovariance(s *Solution) (*covariance, error) {
	if len(s.FreeParams) == 0 {
		c := &covariance{}
		c.local(s, s.marginal(nil), nil, nil)
		return c, nil
	}
	c, m, b, err := s.takeApart()
	if err != nil {
		return nil, err
	}
	x := m.x
	c.correlate()
	var scores []float64
	if c.rank > 0 {
		scores = c.errors(s, x, b)
	} else {
		b = nil
	}
	// parameters with a part in a direction that vanishes
	for i := c.rank; i < len(x); i++ {
		for j := range x {
			if c.rank == 0 || math.Abs(c.v.At(j, i)) > 1e-6 {
				c.classical[j], c.robust[j] = math.Inf(1), math.Inf(1)
			}
		}
	}
	for j, i := range s.FreeParams {
		spread := s.Spread[s.Params[i].Name]
		c.classical[j], c.robust[j] = math.Hypot(c.classical[j], spread), math.Hypot(c.robust[j], spread)
		if c.betweenGroups != nil && c.betweenGroups[j] > 0 {
			c.betweenGroups[j] = math.Hypot(c.betweenGroups[j], spread)
		}
	}
	c.local(s, m, b, scores)
	return c, nil
}

// Covariance is the classical covariance of the free parameters of a solution, theory §9.5; nil if it is singular.
func Covariance(s *Solution) *mat.SymDense {
	p := len(s.FreeParams)
	if p == 0 || len(s.Residual) == 0 {
		return nil
	}
	c, _, b, err := s.takeApart()
	if err != nil || c.rank < p {
		return nil
	}
	cov := mat.NewSymDense(p, nil)
	cov.SymOuterK(s.variance(), b)
	for i := range p {
		for j := i; j < p; j++ {
			cov.SetSym(i, j, cov.At(i, j)/c.length[i]/c.length[j])
		}
	}
	return cov
}

// Marginal frees a solution of all parameters behind the first own ones: their columns are projected out of the Jacobian, which
// leaves (JᵀJ)⁻¹ the block of the others of the whole inverse.
func (s *Solution) Marginal(own int) {
	n := len(s.Residual)
	keep := sort.SearchInts(s.FreeParams, own)
	m := s.marginal(nil)
	x, length := m.x, m.length
	var others span
	for _, c := range x[keep:] {
		others.add(c, 1e-9)
	}
	s.Jac = make([]float64, n*keep)
	for j := range keep {
		rest, _, _ := others.split(x[j], 0)
		for k, v := range rest {
			s.Jac[k*keep+j] = v * length[j]
		}
	}
	s.FreeParams, s.Params = s.FreeParams[:keep], s.Params[:own]
}

// errors computes both kinds of standard errors from the root b of (XᵀX)⁺, and gives the long-run covariance of its scores. x is used
// up.
func (c *covariance) errors(s *Solution, x [][]float64, b *mat.Dense) []float64 {
	n, p := len(s.Residual), len(x)
	_, rank := b.Dims()
	s2 := s.variance()
	// scores of X·B
	g, buf := make([][]float64, rank), make([]float64, n*rank)
	for i := range g {
		g[i] = buf[i*n : i*n+n]
		for j := range x {
			floats.AddScaled(g[i], b.At(j, i), x[j])
		}
	}
	c.carry = carrying(g, b, p)
	q := g
	g = x[:rank] // its columns are in q
	for i := range g {
		floats.MulTo(g[i], q[i], s.Residual)
	}
	var sum []float64
	if s.Dt > 0 {
		c.lags = bandwidth(g, n, s.Pieces, s.Lags)
		sum = windows(g, q, n, c.lags, s.Pieces)
	} else {
		sum = windows(g, q, n, 0, nil)
	}
	ends, pieces := s.groups(rank)
	if ends != nil {
		c.betweenGroups, c.groups = make([]float64, p), len(ends)
	}
	of := make([]float64, rank)
	from := 0
	for _, to := range ends {
		for i := range g {
			of[i] = 0
			for _, v := range g[i][from:to] {
				of[i] += v
			}
		}
		from = to
		for j := range p {
			v := floats.Dot(b.RawRowView(j), of)
			c.betweenGroups[j] += v * v
		}
	}
	hac := variances(b, sum)
	if half := (c.lags + 1) / 2; s.Dt > 0 && half > 0 {
		sharpen(hac, variances(b, windows(g, q, n, half-1, s.Pieces)), half, c.lags+1)
	}
	c.slowDOF = s.cancelling(g, q, b, hac, c.lags)
	for j := range p {
		row := b.RawRowView(j)
		c.classical[j] = math.Sqrt(s2*floats.Dot(row, row)) / c.length[j]
		c.robust[j] = math.Sqrt(math.Max(hac[j], 0)) / c.length[j]
		if c.length[j] == 0 {
			c.classical[j], c.robust[j] = math.Inf(1), math.Inf(1)
		}
		if c.betweenGroups != nil && c.length[j] > 0 {
			count := float64(c.groups)
			c.betweenGroups[j] = math.Sqrt(c.betweenGroups[j]*count/(count-1)) / c.length[j]
			// blocks of one record are no experiments: they count where they scatter beyond chance
			limit := distuv.ChiSquared{K: count - 1}.Quantile(0.99) / (count - 1)
			if !pieces && !(c.betweenGroups[j]*c.betweenGroups[j] > limit*c.robust[j]*c.robust[j]) {
				c.betweenGroups[j] = 0
			}
		}
	}
	return sum
}

// carrying is, for every parameter, the number of equal rows that would tell the variance of its estimate as well as these do
// [BM02]: with the estimate Σ a_k·y_k it is (Σa²)²/Σa⁴, few where few rows carry the parameter. q are the columns of Q, a = B·q.
func carrying(q [][]float64, b *mat.Dense, p int) []float64 {
	out := make([]float64, p)
	for j := range out {
		row, square, fourth := b.RawRowView(j), 0.0, 0.0
		for k := range q[0] {
			a := 0.0
			for i, col := range q {
				a += row[i] * col[k]
			}
			square, fourth = square+a*a, fourth+a*a*a*a
		}
		if out[j] = 1; fourth > 0 {
			out[j] = square * square / fourth
		}
	}
	return out
}

// Groups of rows that may stand for the sample.
const (
	minGroups = 3
	maxGroups = 200
	blocks    = 8 // of one record
)

// groups are the ends of the pieces, where there are enough, else those of blocks of one long record; nil: neither.
func (s *Solution) groups(rank int) (ends []int, pieces bool) {
	n, count := len(s.Residual), len(s.Pieces)
	switch {
	case count >= minGroups && count <= maxGroups:
		return append(slices.Clone(s.Pieces[1:]), n), true
	case s.Dt > 0 && count <= 1 && n >= 10*blocks*rank:
		for i := range blocks {
			ends = append(ends, (i+1)*n/blocks)
		}
		return ends, false
	}
	return nil, false
}

// correlate forms the correlations of the estimates. Singular values that vanish are lifted a little above zero: the
// parameters in such a direction come out fully correlated, and the others are left as they are.
func (c *covariance) correlate() {
	p := len(c.length)
	c.correlation = make([][]float64, p)
	var cov mat.Dense
	root := mat.DenseCopyOf(c.v)
	root.Apply(func(_, i int, v float64) float64 {
		return v / math.Max(c.singular[i], math.Max(c.singular[0], 1)*nullSingular)
	}, root)
	cov.Mul(root, root.T())
	for i := range p {
		c.correlation[i] = make([]float64, p)
		for j := range p {
			r := cov.At(i, j) / math.Sqrt(cov.At(i, i)*cov.At(j, j))
			c.correlation[i][j] = math.Max(-1, math.Min(1, r))
		}
		c.correlation[i][i] = 1
	}
}
