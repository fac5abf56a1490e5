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
// decimation filter [G96] and are decimated; a triangular factor of the regressor, built by Householder reflections in blocks
// of rows, gives θ. Standard errors are those of package fit: classical, for independent residuals of equal size, and robust
// [NW87][A91], for residuals that depend on their neighbours, which is the rule because a friction law is never exact.
//
// That is the direct form. Noise of the position draws it towards zero; the other forms are for that: the weak form, which
// takes no derivative of data; instrumental variables, which are not drawn at all; total least squares, if the ratio of the
// two noises is known. Several records are fitted together, and what differs between them is said. TwoJoint does the same
// for two coupled joints.
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
	"slices"
	"time"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// InverseDynamics fits the terms of s to the record d. The error is a *SpecError, a *record.Error or, where the record cannot
// answer the question, *Unidentifiable; there are no parameters then.
func InverseDynamics(d *record.Record, s Spec) (*Result, error) {
	return Fit([]*record.Record{d}, s, Direct, Options{})
}

// Fit fits the terms of s to all records at once, in the given form. Errors are as those of InverseDynamics.
func Fit(recs []*record.Record, s Spec, form Form, o Options) (*Result, error) {
	if form == "" {
		form = Direct
	}
	r, err := fitted(recs, s, func(h Spec, recs []*record.Record) (*regression, error) {
		own := o
		if len(recs) > 0 { // a window that was given grows as the band shrinks
			own.Window *= s.band(1/recs[0].Dt) / h.band(1/recs[0].Dt)
		}
		return h.regression(recs, form, own)
	})
	if err != nil {
		return nil, err
	}
	r.Form, r.again = form, prepare
	return r, nil
}

// fitted solves the regression that rows prepares, and once more at half the band.
func fitted(recs []*record.Record, s Spec, rows func(Spec, []*record.Record) (*regression, error)) (*Result, error) {
	start := time.Now()
	reg, err := rows(s, recs)
	if err != nil {
		return nil, err
	}
	sol, err := reg.solve()
	if err != nil {
		return nil, err
	}
	r := &Result{
		Data:      recs[0].Info(),
		Spec:      s,
		Condition: sol.condition,
		Scaled:    sol.scaled,
		Warnings:  []string{},
		sol:       reg.solution(sol.theta),
		again:     rows,
	}
	p := len(reg.columns)
	r.sol.Blur = 1 / s.band(1/recs[0].Dt)
	r.sol.Jac = make([]float64, len(reg.y)*p)
	for j, col := range sol.influence {
		r.sol.Free = append(r.sol.Free, j)
		for k, c := range col {
			r.sol.Jac[k*p+j] = c
		}
	}
	if r.Estimates, err = reg.estimates(r.sol); err != nil {
		return nil, err
	}
	reg.compare(sol, r.sol, r.Estimates)
	r.Fit = fit.MisfitOf(reg.y, r.sol.Residual, p)
	for _, d := range recs {
		for _, w := range d.Warnings {
			if !slices.Contains(r.Warnings, w) {
				r.Warnings = append(r.Warnings, w)
			}
		}
	}
	r.Warnings = append(r.Warnings, reg.left...)
	if w := reg.restWarning(); w != "" {
		r.Warnings = append(r.Warnings, w)
	}
	r.HalfCutoff = halfCutoff(recs, s, rows)
	r.Compute = time.Since(start).Seconds()
	return r, nil
}

// halfCutoff repeats the fit with the position low-pass at half the band that matters, that of the low-pass or of the
// decimation filter. Noise of the position, and a lag between position and force, bias the parameters the more the wider
// the band is; where they do not matter, the values stay. A record that cannot be fitted there gives nothing to compare.
func halfCutoff(recs []*record.Record, s Spec, rows func(Spec, []*record.Record) (*regression, error)) []float64 {
	s.Cutoff = s.band(1/recs[0].Dt) / 2
	reg, err := rows(s, recs)
	if err != nil {
		return nil
	}
	sol, err := reg.solve()
	if err != nil {
		return nil
	}
	return sol.theta
}
