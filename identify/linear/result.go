package linear

import (
	"math"
	"time"

	"hilrig/engine"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Result is a fit.
type Result struct {
	Form       Form        `json:"form"`
	Data       record.Info `json:"data"` // the first record
	Spec       Spec        `json:"settings"`
	Estimates  []Estimate  `json:"parameters"`
	Condition  float64     `json:"condition"`                       // of the regressor in SI units, as published for such fits
	Scaled     float64     `json:"condition_scaled"`                // of the regressor with columns of length one: what the refusal looks at
	HalfCutoff []float64   `json:"values_at_half_cutoff,omitempty"` // the parameters fitted with half the band
	Fit        fit.Misfit  `json:"fit"`                             // of the rows
	Warnings   []string    `json:"warnings"`
	Compute    float64     `json:"compute_s"` // s, from data in memory to this result

	sol   *fit.Solution
	again func(Spec, []*record.Record) (*regression, error) // rows of other records
}

// Estimate is one parameter; its errors are those of fit.Assess.
type Estimate struct {
	Term              Term       `json:"term"`
	Symbol            string     `json:"name"`
	Unit              string     `json:"unit"`
	Value             float64    `json:"value"`
	Share             float64    `json:"share_percent"` // rms of this term's force relative to that of the whole force
	StdErr, RobustErr float64    `json:"-"`
	CI95, RobustCI95  [2]float64 `json:"-"`
}

// Solution is the fit in the form that every method shares: its rows are those of the regression.
func (r *Result) Solution() *fit.Solution {
	s := *r.sol
	s.Compute = time.Duration(r.Compute * float64(time.Second))
	return &s
}

// Explain is what the parameters of r leave over of other records, prepared as for a direct fit. Nothing is fitted.
func (r *Result) Explain(recs ...*record.Record) (*fit.Solution, error) {
	reg, err := r.again(r.Spec, recs)
	if err != nil {
		return nil, err
	}
	theta := make([]float64, len(r.Estimates))
	for j, e := range r.Estimates {
		theta[j] = e.Value
	}
	return reg.solution(theta), nil
}

// solution is the regression at the parameters theta, none of them free.
func (reg *regression) solution(theta []float64) *fit.Solution {
	s := &fit.Solution{
		Residual: reg.misfit(theta), Measured: reg.y, Unit: reg.unit, Quantity: reg.quantity, Dt: reg.dt, Velocity: reg.v, Position: reg.q,
		Objective: "half the sum of squares", Converged: true, Iterations: 1, Reason: "linear: solved at once",
	}
	if len(reg.pieces) > 1 {
		s.Pieces = reg.pieces
	}
	for j, c := range reg.columns {
		s.Params = append(s.Params, fit.Param{Param: engine.Param{
			Name: c.name, Unit: c.unit, Value: theta[j], Lo: math.Inf(-1), Hi: math.Inf(1),
		}})
	}
	for _, e := range s.Residual {
		s.Cost += e * e / 2
	}
	if reg.joints {
		reg.byJoint(s)
	}
	return s
}

// estimates are the parameters of an assessed solution.
func (reg *regression) estimates(s *fit.Solution) ([]Estimate, error) {
	a, err := fit.Assess(s)
	if err != nil {
		return nil, err
	}
	force := math.Sqrt(dot(reg.y, reg.y))
	out := make([]Estimate, len(a.Estimates))
	for j, e := range a.Estimates {
		if e.CI95 == nil || e.RobustCI95 == nil {
			return nil, unlikeMotion
		}
		out[j] = Estimate{
			Term: reg.columns[j].term, Symbol: e.Name, Unit: e.Unit, Value: e.Value,
			StdErr: *e.StdErr, RobustErr: *e.RobustErr, CI95: *e.CI95, RobustCI95: *e.RobustCI95,
		}
		if force > 0 {
			out[j].Share = 100 * math.Abs(e.Value) * math.Sqrt(dot(reg.w[j], reg.w[j])) / force
		}
	}
	return out, nil
}
