package linear

import (
	"fmt"
	"math"
	"strings"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Verdict sums a fit up.
type Verdict string

const (
	Identified Verdict = "identified"        // every parameter is known well and the model explains the force
	Weak       Verdict = "weakly identified" // usable with the reservations that are listed
	Rejected   Verdict = "rejected"          // the numbers contradict physics or explain little
)

// Result is a fit with all that is needed to judge it. It marshals to JSON without loss; every number is finite.
type Result struct {
	Method     string      `json:"method"`
	Verdict    Verdict     `json:"verdict"`
	Reasons    []string    `json:"reasons"` // for a verdict below identified
	Data       record.Info `json:"data"`
	Spec       Spec        `json:"settings"`
	Estimates  []Estimate  `json:"parameters"`
	Correlated [][]float64 `json:"correlation"`                     // of the estimates, in their order
	Condition  float64     `json:"condition"`                       // of the regressor in SI units, as published for such fits
	Scaled     float64     `json:"condition_scaled"`                // of the regressor with columns of length one: what the refusal looks at
	HalfCutoff []float64   `json:"values_at_half_cutoff,omitempty"` // the parameters fitted with half the band
	Lags       int         `json:"robust_lags"`                     // bandwidth of the robust standard errors, rows
	Fit        Fit         `json:"fit"`
	Residual   Residual    `json:"residual"` // what the model leaves over
	Validation *Validation `json:"validation,omitempty"`
	Warnings   []string    `json:"warnings"`
	Compute    float64     `json:"compute_s"` // s, from data in memory to this result

	reg *regression // rows and columns behind the numbers
}

// Estimate is one parameter. The intervals hold the true value with 95 % probability (Student) if the model is right; the
// classical one also takes residuals for independent, which they seldom are.
type Estimate struct {
	Term       Term       `json:"term"`
	Symbol     string     `json:"name"`
	Unit       string     `json:"unit"`
	Value      float64    `json:"value"`
	Share      float64    `json:"share_percent"` // rms of this term's force relative to that of the whole force
	StdErr     float64    `json:"std_err"`
	CI95       [2]float64 `json:"ci95"`
	RobustErr  float64    `json:"std_err_robust"`
	RobustCI95 [2]float64 `json:"ci95_robust"`
}

// Fit says how well the model explains the filtered and decimated force; Residual, how much the rest depends on itself.
type (
	Fit      = fit.Misfit
	Residual = fit.Whiteness
)

// Validation is the fit to a record that was not used to find the parameters.
type Validation struct {
	Data     record.Info `json:"data"`
	Fit      Fit         `json:"fit"`
	Warnings []string    `json:"warnings"`
}

// Where a verdict falls. The limits are conventions, not laws; docs/identify.md explains them.
const (
	goodFit      = 80.0 // %, below: weakly identified
	poorFit      = 50.0 // %, below: rejected, the model misses half of the force
	weakRelative = 0.10 // robust standard error relative to the value …
	weakShare    = 1.0  // %, … if that uncertainty is also more than this of the force
	cutoffDrift  = 0.10 // relative change at half the cutoff, if it is also more than 3 robust standard errors
	looseScaled  = 100  // condition number of the scaled regressor; refused from MaxCondition on
	tightPair    = 0.98 // correlation of two estimates
	validLoss    = 10.0 // percentage points of fit lost on the second record
)

// judge turns the numbers into a verdict with reasons; each reason says what it rests on.
func (r *Result) judge() {
	r.Verdict, r.Reasons = Identified, []string{}
	say := func(v Verdict, format string, args ...any) {
		if v == Rejected || r.Verdict == Identified {
			r.Verdict = v
		}
		r.Reasons = append(r.Reasons, fmt.Sprintf(format, args...))
	}
	switch f := r.Fit.Percent; {
	case f < poorFit:
		say(Rejected, "fit %.1f %%, below %.0f %%: these terms do not describe this axis", f, poorFit)
	case f < goodFit:
		say(Weak, "fit %.1f %%, below %.0f %%: something is missing in the model", f, goodFit)
	}
	for _, e := range r.Estimates {
		zero := e.RobustCI95[0] <= 0 && e.RobustCI95[1] >= 0
		minor := e.Share*e.RobustErr <= weakShare*math.Abs(e.Value) // a small parameter that is known to be small
		switch {
		case e.Value < 0 && !zero && properties[e.Term].passive:
			say(Rejected, "%s is negative (%.4g %s): is the sign of force or position wrong?", e.Symbol, e.Value, e.Unit)
		case minor:
		case zero:
			say(Weak, "%s cannot be told from zero (95 %% interval %.3g to %.3g %s)", e.Symbol, e.RobustCI95[0], e.RobustCI95[1], e.Unit)
		case e.RobustErr > weakRelative*math.Abs(e.Value):
			say(Weak, "%s is known to ±%.0f %% only", e.Symbol, 100*e.RobustErr/math.Abs(e.Value))
		}
	}
	band := r.Spec.band(1 / r.Data.Interval)
	for j, half := range r.HalfCutoff {
		e := r.Estimates[j]
		change := math.Abs(half - e.Value)
		if change > cutoffDrift*math.Abs(e.Value) && change > 3*e.RobustErr && change*e.Share > weakShare*math.Abs(e.Value) {
			say(Weak, "%s depends on the filter: %.4g %s up to %.3g Hz, %.4g up to half of that: noise of the position or a lag of the force if the cutoff is high, lost motion if it is low; choose it where the values settle",
				e.Symbol, e.Value, e.Unit, band, half)
		}
	}
	if r.Scaled > looseScaled {
		say(Weak, "condition number %.0f of the scaled regressor, above %.0f: the parameters lean on small differences between columns", r.Scaled, float64(looseScaled))
	}
	for i, row := range r.Correlated {
		for j := range i {
			if math.Abs(row[j]) > tightPair {
				say(Weak, "%s and %s can hardly be told apart (correlation %.3f)", r.Estimates[j].Symbol, r.Estimates[i].Symbol, row[j])
			}
		}
	}
	if v := r.Validation; v != nil {
		switch loss := r.Fit.Percent - v.Fit.Percent; {
		case v.Fit.Percent < poorFit:
			say(Rejected, "fit %.1f %% on the validation record", v.Fit.Percent)
		case loss > validLoss:
			say(Weak, "the validation record is explained %.1f points worse", loss)
		}
	}
}

// Interval is the 95 % interval to go by: the classical one if the residuals are white, else the robust one.
func (r *Result) Interval(j int) [2]float64 {
	if r.Residual.White {
		return r.Estimates[j].CI95
	}
	return r.Estimates[j].RobustCI95
}

// Headline is the verdict in one sentence.
func (r *Result) Headline() string {
	var names []string
	for _, e := range r.Estimates {
		names = append(names, e.Symbol)
	}
	s := fmt.Sprintf("%s: %s, fit %.1f %%", r.Verdict, strings.Join(names, ", "), r.Fit.Percent)
	if r.Validation != nil {
		s += fmt.Sprintf(" (validation %.1f %%)", r.Validation.Fit.Percent)
	}
	return s
}
