package linear

import (
	"math"
	"slices"
	"time"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"

	"gonum.org/v1/gonum/floats"
)

// Result is a fit.
type Result struct {
	Spec       Spec         `json:"settings"`
	Estimates  []Estimate   `json:"parameters"`
	HalfCutoff []float64    `json:"values_at_half_cutoff,omitempty"` // the parameters fitted with half the band
	Fit        fit.Quality  `json:"fit"`                             // of the rows
	Warnings   []string     `json:"warnings"`
	Doubts     []fit.Reason `json:"doubts,omitempty"` // what speaks against the numbers
	OneWay     bool         `json:"one_way"`          // all motion that was fitted is in one direction, and no term is a constant force
	SlowRows   int          `json:"rows_slow"`        // rows that were left out
	Compute    float64      `json:"compute_s"`        // s, from data in memory to this result

	sol           *fit.Solution
	assessment    *fit.Assessment // of sol
	formMaker     maker
	lag           float64 // s
	zeroOrderHold bool
	alternative   *otherwise // what the force does between its samples, taken the other way; nil: it was not open
	blur          int
	build         [2]float64
	noisy         bool
	noiseShare    float64    // of what is left over that noise of the position makes; 0: not known
	slowest       [2]float64 // of rows, by joint
}

// Estimate is one parameter; its errors are those of fit.Assess, the robust ones or those between pieces.
type Estimate struct {
	Term              Term       `json:"term"`
	Symbol            string     `json:"name"`
	Unit              string     `json:"unit"`
	Value             float64    `json:"value"`
	Share             float64    `json:"share_percent"` // rms of this term's force relative to that of the whole force
	StdErr, RobustErr float64    `json:"-"`
	CI95, RobustCI95  [2]float64 `json:"-"`
}

// estimate finds a parameter; nil: there is none.
func (r *Result) estimate(name string) *Estimate {
	i := slices.IndexFunc(r.Estimates, func(e Estimate) bool { return e.Symbol == name })
	if i < 0 {
		return nil
	}
	return &r.Estimates[i]
}

// AlternativeHold is what the values are where the force does the other thing between its samples, which is what, and the rms that leaves
// over. nil: that was not open.
func (r *Result) AlternativeHold() (what string, values map[string]float64, rms float64) {
	o := r.alternative
	if o == nil || len(o.paramMoves) != len(r.Estimates) {
		return "", nil, 0
	}
	if what = "the force on a straight line between its samples"; o.zeroOrderHold {
		what = "the force held from sample to sample"
	}
	values = map[string]float64{}
	for i, e := range r.Estimates {
		values[e.Symbol] = e.Value + o.paramMoves[i]
	}
	return what, values, r.Fit.RMS * math.Sqrt(o.worse)
}

// Lag is the time by which the force acts later than its stamp, s.
func (r *Result) Lag() float64 { return r.lag }

// Lagged tells whether the lag of the force is a parameter.
func (r *Result) Lagged() bool { return r.estimate(r.Spec.nameOf(Lag)) != nil }

// Solution is the fit in the form that every method shares: its rows are those of the regression.
func (r *Result) Solution() *fit.Solution {
	s := *r.sol
	s.Compute = time.Duration(r.Compute * float64(time.Second))
	return &s
}

// Assessment is what the rows say about the parameters of Solution.
func (r *Result) Assessment() *fit.Assessment { return r.assessment }

// fill fills the result from a solved regression, whose columns are used up.
func (r *Result) fill(reg *regression, sol *solution, o Options) (err error) {
	r.slowest, r.noiseShare = reg.slowest, sol.noise
	if r.Spec.MinVelocity == FromRecord {
		r.Spec.MinVelocity = math.Max(reg.slowest[0], reg.slowest[1])
	}
	rows, size := r.explain(reg, sol, !o.ValuesOnly, true)
	record.Release(len(rows.y)) // before the judgement takes as much
	if r.assessment, err = fit.Assess(r.sol); err != nil {
		return err
	}
	r.Fit = r.assessment.Fit
	r.Estimates, err = rows.estimates(r.assessment, size)
	r.lag, r.zeroOrderHold, r.blur, r.build, r.noisy = reg.lag, reg.zeroOrderHold, reg.form.f.blur, reg.form.f.build, reg.form.f.noisy
	if lag := r.estimate(r.Spec.nameOf(Lag)); lag != nil {
		r.lag = lag.Value
	}
	return err
}

// explain makes the solution of the rows of a solved regression, whose columns are used up and had the given sizes. bend: with what a
// filter does; rounded: and with what rounding of the force does.
func (r *Result) explain(reg *regression, sol *solution, bend, rounded bool) (rows *regression, size []float64) {
	if rows = sol.rows; rows == nil {
		rows = reg.fittedRegression(false)
	}
	p := len(rows.columns)
	r.sol = rows.solution(sol.theta)
	r.sol.Jac = make([]float64, len(rows.y)*p)
	for i, col := range rows.noiseFreeColumns() {
		r.sol.FreeParams = append(r.sol.FreeParams, i)
		for k, x := range col {
			row := r.sol.Jac[k*p : k*p+p]
			if sol.turn == nil {
				row[i] = x
			} else {
				floats.AddScaled(row, x, sol.turn[i*p:i*p+p])
			}
		}
	}
	for _, col := range rows.w { // the columns themselves are in the way of what comes
		size = append(size, numeric.Length(col))
	}
	if bend && !reg.form.undriven && !reg.form.joints {
		var steps []float64
		if rounded {
			steps = reg.forceSteps()
		}
		r.sol.Bend, r.sol.Rounded = reg.bend(sol.theta[:len(reg.columns)], steps)
	}
	reg.w, reg.z, reg.slope, rows.w, rows.z = nil, nil, nil, nil, nil
	return rows, size
}

// Explain is what the parameters of r leave over of other records, prepared as for the fit. Nothing is fitted.
func (r *Result) Explain(recs ...*record.Record) (*fit.Solution, error) {
	m, err := r.formMaker(r.Spec, recs)
	if err != nil {
		return nil, err
	}
	parts, left, err := r.Spec.stretches(recs, m)
	if err != nil {
		return nil, err
	}
	m.f.blur, m.f.build, m.f.noisy = r.blur, r.build, r.noisy
	reg, err := r.Spec.assemble(recs, m, parts, r.slowest, r.slowest, false)
	if err != nil {
		return nil, err
	}
	if want, n := 10*len(reg.w), reg.rowsKept(); n < want {
		return nil, recs[0].Fail(0, "Record faster motion.", "only %d rows are faster than %.3g %s, the slowest that were fitted, want at "+
			"least %d", n, r.Spec.MinVelocity, r.Spec.unit("m/s"), want)
	}
	reg.push(r.lag, r.zeroOrderHold)
	theta := make([]float64, len(reg.columns))
	for j := range theta {
		theta[j] = r.Estimates[j].Value
	}
	out := reg.fittedRegression(false).solution(theta)
	out.Notes = append(out.Notes, record.ShortList(left)...)
	return out, nil
}

// solution is the regression at the parameters theta, none of them free.
func (reg *regression) solution(theta []float64) *fit.Solution {
	s := &fit.Solution{
		Residual: reg.misfit(theta), Measured: reg.y, Unit: reg.unit, Quantity: reg.quantity, Dt: reg.dt, Velocity: reg.v, Position: reg.q,
		Blur: 1 / reg.spec.band(1/reg.form.f.dt), Objective: "half the sum of squares", Converged: true, Iterations: 1,
		Reason: "linear: solved at once",
	}
	if len(reg.pieces) > 1 {
		s.Pieces = reg.pieces
	}
	for j, c := range reg.columns {
		value := theta[j]
		if c.term == Lag { // the column is that of its change
			value += reg.lag
		}
		s.Params = append(s.Params, fit.Param{Param: engine.Param{
			Name: c.name, Unit: c.unit, Value: value, Lo: math.Inf(-1), Hi: math.Inf(1),
		}, Zero: c.term == GravityCos})
	}
	s.Cost += floats.Dot(s.Residual, s.Residual) / 2
	if reg.form.joints {
		reg.byJoint(s)
	}
	return s
}

// estimates are the parameters of an assessed solution, with columns of the given length.
func (reg *regression) estimates(a *fit.Assessment, size []float64) ([]Estimate, error) {
	force := math.Sqrt(floats.Dot(reg.y, reg.y))
	out := make([]Estimate, len(a.Estimates))
	for j, e := range a.Estimates {
		err, ci := e.Err(false), e.Interval(false)
		if e.CI95 == nil || ci == nil || err == nil {
			return nil, unlikeMotion
		}
		out[j] = Estimate{
			Term: reg.columns[j].term, Symbol: e.Name, Unit: e.Unit, Value: e.Value,
			StdErr: *e.StdErr, RobustErr: *err, CI95: *e.CI95, RobustCI95: *ci,
		}
		if force > 0 {
			out[j].Share = 100 * math.Abs(e.Value) * size[j] / force
		}
	}
	return out, nil
}
