// Package linear finds the parameters of a measured axis in which its model is linear.
//
// # Problem
//
// An axis is driven by a known force (a torque on a rotary axis) and its position is recorded. Wanted are its inertia, its
// friction, and how well the record supports them. The model is linear in its parameters:
//
//	F = M·a + Fv·v + Fc·sgn(v) + offset            (and variants, see Term)
//
// with F the force of the drive, positive in the direction of positive position, and friction on the right because the
// drive has to overcome it.
//
// # Method
//
// Inverse dynamics by linear least squares, the procedure published with the benchmark [EMPS]: velocity and acceleration
// are central differences of the position after a zero-phase low-pass; regressor columns and force pass the same zero-phase
// decimation filter [G96] and are decimated; Householder QR of the column-scaled regressor gives θ. Standard errors come in
// two forms: classical, for independent residuals of equal size, and robust [NW87][A91], for residuals that depend on their
// neighbours, which is the rule because a friction law is never exact. Whether residuals are independent is tested [LB78].
//
// Columns that the record cannot tell apart are found by the singular values of the regressor and refused, by name.
//
// # Assumptions
//
// Sampling is even. The position is exact up to its resolution: noise that survives the low-pass biases the result (least
// squares takes the columns as exact). The force is what the gain says: no saturation, no lag worth mentioning. Friction is
// that of sliding: below some speed, presliding and the Stribeck dip are not in the model, see Spec.MinVelocity.
//
// Quantities are SI; references resolve in docs/references.md.
package linear

import (
	"math"
	"slices"
	"time"

	"hilrig/engine"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// InverseDynamics fits the terms of s to the record d. The error is a *SpecError, a *record.Error or, where the record cannot
// answer the question, *Unidentifiable; there are no parameters then.
func InverseDynamics(d *record.Record, s Spec) (*Result, error) {
	start := time.Now()
	reg, err := prepare(d, s)
	if err != nil {
		return nil, err
	}
	sol, err := reg.solve(s.Terms)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Method:     "inverse dynamics, linear least squares",
		Data:       d.Info(),
		Spec:       s,
		Condition:  sol.condition,
		Scaled:     sol.scaled,
		Correlated: sol.corr,
		Lags:       sol.lags,
		Fit:        fit.MisfitOf(reg.y, sol.residual, len(s.Terms)),
		Residual:   fit.WhitenessOf(sol.residual, nil),
		Warnings:   slices.Clone(d.Warnings),
		reg:        reg,
	}
	for j, t := range s.Terms {
		r.Estimates = append(r.Estimates, estimate(t, s.Rotary, sol, j))
	}
	if w := reg.restWarning(); w != "" {
		r.Warnings = append(r.Warnings, w)
	}
	r.HalfCutoff = halfCutoff(d, s)
	r.judge()
	r.Compute = time.Since(start).Seconds()
	return r, nil
}

// Solution is the fit in the form that every method shares: its rows are those of the regression.
func (r *Result) Solution() *fit.Solution {
	theta := make([]float64, len(r.Estimates))
	for j, e := range r.Estimates {
		theta[j] = e.Value
	}
	s := r.reg.solution(theta, r.Spec)
	for j := range theta {
		s.Free = append(s.Free, j)
	}
	p := len(theta)
	s.Jac = make([]float64, len(s.Residual)*p)
	for j, col := range r.reg.w {
		for k, c := range col {
			s.Jac[k*p+j] = c
		}
	}
	s.Reason, s.Compute = "linear: solved at once", time.Duration(r.Compute*float64(time.Second))
	return s
}

// Explain is what the parameters of r leave over of another record, prepared in the same way. Nothing is fitted.
func (r *Result) Explain(d *record.Record) (*fit.Solution, error) {
	reg, err := prepare(d, r.Spec)
	if err != nil {
		return nil, err
	}
	theta := make([]float64, len(r.Estimates))
	for j, e := range r.Estimates {
		theta[j] = e.Value
	}
	return reg.solution(theta, r.Spec), nil
}

// solution is the regression at the parameters theta, none of them free.
func (reg *regression) solution(theta []float64, spec Spec) *fit.Solution {
	s := &fit.Solution{
		Residual: reg.misfit(theta), Measured: reg.y, Unit: "N", Quantity: "force", Dt: reg.dt, Velocity: reg.v,
		Objective: "half the sum of squares", Converged: true, Iterations: 1,
	}
	if spec.Rotary {
		s.Unit, s.Quantity = "N·m", "torque"
	}
	for j, t := range spec.Terms {
		s.Params = append(s.Params, fit.Param{Param: engine.Param{
			Name: t.symbol(spec.Rotary), Unit: t.unit(spec.Rotary), Value: theta[j], Lo: math.Inf(-1), Hi: math.Inf(1),
		}})
	}
	for _, e := range s.Residual {
		s.Cost += e * e / 2
	}
	return s
}

// Validate tells how well the parameters of r explain another record, prepared in the same way. Nothing is fitted.
func (r *Result) Validate(d *record.Record) error {
	reg, err := prepare(d, r.Spec)
	if err != nil {
		return err
	}
	theta := make([]float64, len(r.Estimates))
	for j, e := range r.Estimates {
		theta[j] = e.Value
	}
	v := &Validation{Data: d.Info(), Fit: fit.MisfitOf(reg.y, reg.misfit(theta), 0), Warnings: slices.Clone(d.Warnings)}
	r.Validation = v
	r.judge()
	return nil
}

// halfCutoff repeats the fit with the position low-pass at half the band that matters, that of the low-pass or of the
// decimation filter. Noise of the position, and a lag between position and force, bias the parameters the more the wider
// the band is; where they do not matter, the values stay. A record that cannot be fitted there gives nothing to compare.
func halfCutoff(d *record.Record, s Spec) []float64 {
	s.Cutoff = s.band(1/d.Dt) / 2
	reg, err := prepare(d, s)
	if err != nil {
		return nil
	}
	sol, err := reg.solve(s.Terms)
	if err != nil {
		return nil
	}
	return sol.theta
}

func estimate(t Term, rotary bool, s *solution, j int) Estimate {
	v := s.theta[j]
	return Estimate{
		Term: t, Symbol: t.symbol(rotary), Unit: t.unit(rotary), Value: v, Share: 100 * s.share[j],
		StdErr: s.se[j], CI95: [2]float64{v - s.t95*s.se[j], v + s.t95*s.se[j]},
		RobustErr: s.robust[j], RobustCI95: [2]float64{v - s.t95*s.robust[j], v + s.t95*s.robust[j]},
	}
}
