package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/engine/numeric"
)

// Assessment is what the measured numbers say about the parameters of a solution. It marshals to JSON without loss; what
// would be infinite or does not exist is null.
type Assessment struct {
	Estimates   []Estimate   `json:"parameters"`       // of the free parameters, in the order of Solution.Searched
	Correlation [][]float64  `json:"correlation"`      // of the estimates of Solution.FreeParams, in their order
	Condition   *float64     `json:"condition"`        // of the Jacobian as it stands, in SI
	Scaled      *float64     `json:"condition_scaled"` // with columns of length one: does not depend on units
	Indistinct  []Indistinct `json:"indistinct"`       // what the data cannot tell apart, worst first
	Lags        int          `json:"robust_lags"`      // bandwidth of the robust covariance, rows
	Fit         Quality      `json:"fit"`
	Residual    Residual     `json:"residual"`
}

// Estimate is one parameter. Its intervals hold the true value with 95 % probability if the model is right and nearly
// linear over them; the classical one also takes residuals for independent and of equal size, which they seldom are.
type Estimate struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`

	StdErr     *float64    `json:"std_err"`
	CI95       *[2]float64 `json:"ci95"`
	RobustErr  *float64    `json:"std_err_robust"` // heteroskedasticity and autocorrelation consistent
	RobustCI95 *[2]float64 `json:"ci95_robust"`

	// With the pieces of the data as the sample, or blocks of one record where they scatter beyond chance: what the model lacks
	// differs from one to the next and moves the estimate by more than residuals within them tell. null: not larger than that.
	BetweenErr  *float64    `json:"std_err_between,omitempty"`
	BetweenCI95 *[2]float64 `json:"ci95_between,omitempty"`

	// Of a parameter searched in its logarithm: θ·exp(±t·s/θ). Formed where the estimate is nearly normal, in ln θ with
	// the standard error s/θ, and given in units, so that it never reaches below zero.
	LogCI95       *[2]float64 `json:"ci95_log,omitempty"`
	RobustLogCI95 *[2]float64 `json:"ci95_robust_log,omitempty"`

	Relative *float64 `json:"relative_err"`       // the larger of the two standard errors over |value|
	Degrees  float64  `json:"-"`                  // of freedom of RobustErr: windows are few
	Loose    bool     `json:"loose"`              // Relative is above a half, or infinite
	AtBound  string   `json:"at_bound,omitempty"` // "lower", "upper": the bound, not the data, has the last word
}

// Quality says how well the model explains the rows and what that is worth given its number of parameters; e are the
// residuals, N of them, as weighted, and p the free parameters.
//
// The criteria are those of the Gaussian likelihood with the constant kept,
//
//	−2 ln L = N·ln(eᵀe/N) + N·(ln 2π + 1),   or   eᵀe + N·ln 2π   if the noise level is known,
//	AIC = −2 ln L + 2p,   AICc = AIC + 2p(p+1)/(N−p−1),   BIC = −2 ln L + p·ln N,   FPE = eᵀe/N·(1+p/N)/(1−p/N).
//
// p counts parameters of the model and not the variance, as MATLAB's aic(…,'aic') does; its default aic(…,'nAIC') is
// ln(eᵀe/N) + 2p/N, and R counts the variance too, which adds 2 to AIC. Only differences on the same rows mean anything.
// Rows that depend on each other repeat themselves: AICcEffective is AICc with the number of effective rows for N, and
// the one to compare models by.
type Quality struct {
	Rows      int      `json:"rows"`
	Params    int      `json:"parameters"`
	Percent   *float64 `json:"fit_percent"`            // 100·(1 − ‖e‖/‖y − mean y‖)
	Relative  *float64 `json:"relative_error_percent"` // 100·‖e‖/‖y‖
	RMS       float64  `json:"rms"`
	StdDev    float64  `json:"std_dev"` // √(eᵀe/(N−p))
	Unit      string   `json:"unit"`
	MSE       float64  `json:"mse"`  // eᵀe/N
	Loss      float64  `json:"loss"` // what the method made small, at its least …
	Objective string   `json:"loss_is,omitempty"`

	FPE           *float64 `json:"fpe"`
	AIC           *float64 `json:"aic"`
	AICc          *float64 `json:"aicc"`
	AICcEffective *float64 `json:"aicc_effective"`
	BIC           *float64 `json:"bic"`
}

// Residual describes what the model leaves over.
type Residual struct {
	Whiteness
	Input    *Cross `json:"input,omitempty"`    // correlation with Solution.Input
	Velocity *Cross `json:"velocity,omitempty"` // and Velocity
}

// looseRelative is the relative standard error above which a value is hardly more than an order of magnitude.
const looseRelative = 0.5

// Assess judges a solution by its Jacobian and its residuals. With J the Jacobian, e the residuals, N rows and p free
// parameters,
//
//	Cov θ = s²·(JᵀJ)⁻¹,   s² = eᵀe/(N−p), or 1 if the noise level is known,
//	robust: (JᵀJ)⁻¹·S·(JᵀJ)⁻¹,   S the long-run covariance of the scores J_k·e_k, see LongRun, with the leverage of its windows made up for [BM02].
//
// Intervals take the quantile of Student's distribution with
// N−p degrees of freedom, or of the normal one if the noise level is known; the robust ones RobustQuantile, with as many rows
// as would carry the parameter as well if all were equal [BM02]. Where neighbours cancel, the robust ones come from what the scores
// have slow, see cancelling. Rows that are no series in time (Dt = 0) have a robust
// covariance without lags. Directions in which the columns of J, scaled to length one, vanish to 1e-12 have infinite errors,
// and only the parameters in them.
//
// Assumed: the model is linear over the errors, and the estimate lies inside its bounds; next to a bound the errors
// are those that the data alone would give.
func Assess(s *Solution) (*Assessment, error) {
	n, p := len(s.Residual), s.count()
	if err := s.check(); err != nil {
		return nil, err
	}
	a := &Assessment{Indistinct: []Indistinct{}, Estimates: []Estimate{}, Correlation: [][]float64{}}
	a.Residual.Whiteness = WhitenessOf(s.Residual, s.Pieces)
	cross := func(u []float64) *Cross {
		if len(u) != n {
			return nil
		}
		c := CrossOf(s.Residual, u, s.Pieces)
		return &c
	}
	a.Residual.Input, a.Residual.Velocity = cross(s.Input), cross(s.Velocity)
	a.Fit = quality(s, a.Residual.Effective)
	if p == 0 {
		return a, nil
	}

	c, err := newCovariance(s)
	if err != nil {
		return nil, err
	}
	a.Condition, a.Scaled, a.Correlation, a.Lags = numeric.OrNull(c.condition), numeric.OrNull(c.scaled), c.correlation, c.lags
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - p)}.Quantile(0.975)
	if s.NoiseKnown {
		t = distuv.UnitNormal.Quantile(0.975)
	}
	for j, i := range s.Searched() {
		robust, rows := math.Inf(1), 1.0
		if j < len(c.carry) {
			rows = math.Min(c.carry[j], float64(n-p))
			robust = RobustQuantile(float64(c.lags+1) / rows)
		}
		dof := degrees(c.lags, rows)
		if j < len(c.slowDOF) && c.slowDOF[j] > 0 {
			dof = c.slowDOF[j]
			robust = distuv.StudentsT{Sigma: 1, Nu: dof}.Quantile(0.975)
		}
		e := estimate(&s.Params[i], c.classical[j], c.robust[j], t, robust)
		e.Degrees = dof
		if j < len(c.betweenGroups) && !IsState(e.Name) {
			e.spread(c.betweenGroups[j], distuv.StudentsT{Sigma: 1, Nu: float64(c.groups - 1)}.Quantile(0.975))
		}
		a.Estimates = append(a.Estimates, e)
	}
	if len(s.FreeParams) > 0 {
		a.Indistinct = indistinct(s, c, a.Estimates[:len(s.FreeParams)])
	}
	return a, nil
}

// Err is the standard error to go by: that between groups where it is the larger one, else the classical one if the residuals
// are white, else the robust one. nil: infinite.
func (e *Estimate) Err(white bool) *float64 {
	switch {
	case e.BetweenErr != nil:
		return e.BetweenErr
	case white:
		return e.StdErr
	}
	return e.RobustErr
}

// Interval is the 95 % interval to go by, chosen like Err, the multiplicative one where there is one. nil: unbounded.
func (e *Estimate) Interval(white bool) *[2]float64 {
	switch {
	case e.BetweenCI95 != nil:
		return e.BetweenCI95
	case white && e.LogCI95 != nil:
		return e.LogCI95
	case white:
		return e.CI95
	case e.RobustLogCI95 != nil:
		return e.RobustLogCI95
	}
	return e.RobustCI95
}

// check tells what makes a solution impossible to judge.
func (s *Solution) check() error {
	n, p := len(s.Residual), len(s.FreeParams)
	all := s.count()
	switch {
	case len(s.Jac) != n*p:
		return fmt.Errorf("assess: the Jacobian has %d numbers, want %d rows × %d parameters", len(s.Jac), n, p)
	case len(s.Measured) != 0 && len(s.Measured) != n:
		return fmt.Errorf("assess: %d measured numbers for %d residuals", len(s.Measured), n)
	case n <= all:
		return fmt.Errorf("assess: %d rows cannot tell the errors of %d parameters: give more data or fix parameters", n, all)
	}
	for i, from := range s.Pieces {
		if (i == 0 && from != 0) || (i > 0 && from <= s.Pieces[i-1]) || from >= n {
			return fmt.Errorf("assess: piece %d begins at row %d of %d, want the first at 0 and the others behind each other", i, from, n)
		}
	}
	wild := func(x float64) bool { return !numeric.IsFinite(x) }
	if k := slices.IndexFunc(s.Residual, wild); k >= 0 {
		return fmt.Errorf("assess: residual %g in row %d: the model fails at the estimate", s.Residual[k], k)
	}
	if k := slices.IndexFunc(s.Jac, wild); k >= 0 {
		return fmt.Errorf("assess: the derivative with respect to %s is not finite in row %d: the model fails next to the estimate",
			s.Params[s.FreeParams[k%p]].Name, k/p)
	}
	for _, b := range s.Local {
		for k, column := range b.Jac {
			if row := slices.IndexFunc(column, wild); row >= 0 {
				return fmt.Errorf("assess: the derivative with respect to %s is not finite in row %d: the model fails next to the estimate",
					s.Params[b.FreeParams[k]].Name, b.FirstRow+row)
			}
		}
	}
	if e := floats.Dot(s.Residual, s.Residual); math.IsInf(e, 0) {
		return errors.New("assess: the sum of squared residuals overflows: the model fails at the estimate")
	}
	return nil
}

// estimate forms the intervals of a parameter from its two standard errors, +Inf where the data say nothing, and their
// quantiles.
func estimate(p *Param, plain, robust, t, tRobust float64) Estimate {
	v := p.Value
	e := Estimate{Name: p.Name, Unit: p.Unit, Value: v, StdErr: numeric.OrNull(plain), RobustErr: numeric.OrNull(robust)}
	around := func(half float64) *[2]float64 { return interval(v-half, v+half) }
	e.CI95, e.RobustCI95 = around(t*plain), around(tRobust*robust)
	if p.Log && v > 0 {
		factor := func(half float64) *[2]float64 { return interval(v*math.Exp(-half/v), v*math.Exp(half/v)) }
		e.LogCI95, e.RobustLogCI95 = factor(t*plain), factor(tRobust*robust)
	}
	relative := math.Max(plain, robust) / math.Abs(v)
	if v == 0 {
		relative = math.Inf(1)
	}
	e.Relative, e.Loose = numeric.OrNull(relative), relative > looseRelative
	e.AtBound = atBound(p)
	return e
}

// spread takes the standard error between groups, with its quantile, where it gives the wider interval.
func (e *Estimate) spread(between, t float64) {
	ci := e.RobustCI95
	if between == 0 || ci == nil || t*between <= (ci[1]-ci[0])/2 {
		return
	}
	e.BetweenErr, e.BetweenCI95 = numeric.OrNull(between), interval(e.Value-t*between, e.Value+t*between)
	if relative := between / math.Abs(e.Value); e.Relative != nil && relative > *e.Relative {
		e.Relative, e.Loose = numeric.OrNull(relative), relative > looseRelative
	}
}

// atBound tells whether a value lies on a bound, to a millionth of it. Bounds that leave no room are none.
func atBound(p *Param) string {
	near := func(bound float64) float64 {
		return 1e-6*math.Abs(bound) + 1e-12*math.Min(p.Hi-p.Lo, math.Abs(p.Value))
	}
	switch {
	case !(p.Lo < p.Hi):
		return ""
	case !math.IsInf(p.Lo, 0) && p.Value-p.Lo <= math.Min(near(p.Lo), (p.Hi-p.Lo)/2):
		return "lower"
	case !math.IsInf(p.Hi, 0) && p.Hi-p.Value <= math.Min(near(p.Hi), (p.Hi-p.Lo)/2):
		return "upper"
	}
	return ""
}

// quality measures the misfit and forms the criteria; effective rows carry the information of all.
func quality(s *Solution, effective float64) Quality {
	k, n := float64(s.count()), float64(len(s.Residual))
	left := numeric.Length(s.Residual)
	mse := left * left / n
	q := Quality{Rows: len(s.Residual), Params: s.count(), RMS: math.Sqrt(mse), Unit: s.Unit, MSE: mse, Loss: s.Cost, Objective: s.Objective}
	if n > k {
		q.StdDev = left / math.Sqrt(n-k)
	}
	if len(s.Measured) > 0 {
		q.Percent = numeric.OrNull(Percent(s.Measured, s.Residual))
		if size := numeric.Length(s.Measured); size > 0 {
			q.Relative = numeric.OrNull(100 * left / size)
		} else {
			q.Relative = new(float64)
		}
	}
	minus2L := func(rows float64) float64 {
		if s.NoiseKnown {
			return rows * (mse + math.Log(2*math.Pi))
		}
		return rows * (math.Log(mse) + math.Log(2*math.Pi) + 1)
	}
	corrected := func(rows float64) *float64 {
		if rows <= k+1 {
			return nil
		}
		return numeric.OrNull(minus2L(rows) + 2*k + 2*k*(k+1)/(rows-k-1))
	}
	q.FPE = numeric.OrNull(mse * (1 + k/n) / (1 - k/n))
	q.AIC = numeric.OrNull(minus2L(n) + 2*k)
	q.BIC = numeric.OrNull(minus2L(n) + k*math.Log(n))
	q.AICc, q.AICcEffective = corrected(n), corrected(effective)
	return q
}

// Percent is how much of the measured y a model explains that leaves e over, 100·(1 − ‖e‖/‖y − mean y‖); 0 where y does not
// change.
func Percent(y, e []float64) float64 {
	if around := numeric.Length(centred(y)); around > 0 {
		return 100 * (1 - numeric.Length(e)/around)
	}
	return 0
}

// interval is lo to hi, or nothing if one of them is no finite number.
func interval(lo, hi float64) *[2]float64 {
	if numeric.OrNull(lo) == nil || numeric.OrNull(hi) == nil {
		return nil
	}
	return &[2]float64{lo, hi}
}
