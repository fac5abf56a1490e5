package linear

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/identify/fit"
)

// solution is what linear least squares says about W·θ = y + e.
type solution struct {
	theta     []float64
	residual  []float64 // y − W·θ
	se        []float64 // classical: s²·(WᵀW)⁻¹, s² = eᵀe/(N−p)
	share     []float64 // length of θ_j·column relative to y
	robust    []float64 // heteroskedasticity and autocorrelation consistent
	corr      [][]float64
	condition float64 // of W as it stands, in SI
	scaled    float64 // of W with its columns scaled to length one
	t95       float64 // quantile of Student's distribution with N−p degrees of freedom
	lags      int     // bandwidth of the robust covariance
}

// MaxCondition is where a fit is refused: beyond it the digits of a parameter are made of noise. It bounds
// the condition number of the column-scaled regressor, which does not depend on units.
const MaxCondition = 1e4

// solve fits by Householder QR of the column-scaled regressor. Dependent columns are found on the triangular factor, whose
// singular values are those of W, before anything is solved; they come back as *Unidentifiable.
func (r *regression) solve(terms []Term) (*solution, error) {
	n, p := len(r.y), len(r.w)

	// every column divided by its length
	length := make([]float64, p)
	x := mat.NewDense(n, p, nil)
	for j, col := range r.w {
		for _, c := range col {
			length[j] = math.Hypot(length[j], c)
		}
		if length[j] == 0 {
			continue
		}
		for k, c := range col {
			x.Set(k, j, c/length[j])
		}
	}
	if err := zeroColumns(terms, length); err != nil {
		return nil, err
	}
	var qr mat.QR
	qr.Factorize(x)
	var full mat.Dense
	qr.RTo(&full)
	rs := mat.DenseCopyOf(full.Slice(0, p, 0, p))

	s := &solution{}
	var err error
	if s.scaled, err = checkRank(terms, rs, length); err != nil {
		return nil, err
	}
	unscaled := mat.DenseCopyOf(rs)
	unscaled.Apply(func(_, j int, v float64) float64 { return v * length[j] }, unscaled)
	s.condition = mat.Cond(unscaled, 2)

	// θ, back in the units of the terms
	var beta mat.VecDense
	if err := qr.SolveVecTo(&beta, false, mat.NewVecDense(n, r.y)); err != nil {
		return nil, err // not reached: the condition was checked
	}
	s.theta, s.share = make([]float64, p), make([]float64, p)
	force := math.Sqrt(dot(r.y, r.y))
	for j := range p {
		s.theta[j] = beta.AtVec(j) / length[j]
		if force > 0 {
			s.share[j] = math.Abs(beta.AtVec(j)) / force
		}
	}
	s.residual = r.misfit(s.theta)

	// covariance of the scaled coefficients: R⁻¹·S·R⁻ᵀ, with S = s²·I or the long-run covariance of the scores q·e
	var inv mat.Dense
	if err := inv.Inverse(rs); err != nil {
		return nil, err // not reached
	}
	dof := float64(n - p)
	s2 := dot(s.residual, s.residual) / dof
	var q mat.Dense
	q.Mul(x, &inv)
	sum, lags := fit.LongRun(q.RawMatrix().Data, p, s.residual, nil)
	long := mat.NewDense(p, p, sum)
	s.lags = lags
	long.Scale(float64(n)/dof, long) // the same correction for the fitted parameters as in s²
	var plain, hac mat.Dense
	plain.Mul(&inv, inv.T())
	hac.Product(&inv, long, inv.T())
	s.se, s.robust = make([]float64, p), make([]float64, p)
	s.corr = make([][]float64, p)
	for i := range p {
		s.se[i] = math.Sqrt(s2*plain.At(i, i)) / length[i]
		s.robust[i] = math.Sqrt(math.Max(hac.At(i, i), 0)) / length[i]
		s.corr[i] = make([]float64, p)
		for j := range p {
			s.corr[i][j] = plain.At(i, j) / math.Sqrt(plain.At(i, i)*plain.At(j, j))
		}
		s.corr[i][i] = 1
	}
	s.t95 = distuv.StudentsT{Sigma: 1, Nu: dof}.Quantile(0.975)
	return s, nil
}

// misfit is y − W·θ.
func (r *regression) misfit(theta []float64) []float64 {
	e := append([]float64(nil), r.y...)
	for j, col := range r.w {
		for k, c := range col {
			e[k] -= theta[j] * c
		}
	}
	return e
}

func dot(a, b []float64) float64 {
	s := 0.0
	for k, x := range a {
		s += x * b[k]
	}
	return s
}
