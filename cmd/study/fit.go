package study

import (
	"context"
	"math"
	"strings"

	"hilrig/cmd/identify"
	"hilrig/configs"
	"hilrig/engine/study"
	fits "hilrig/identify"
)

// Names of results of a fit that tables and rankings look for.
const (
	fitVerdict = "verdict"
	fitReason  = "reason"
	fitRMS     = "rms"
	fitAICc    = "aicc"
)

// fitMetrics fits a model and gives what hil identify reports: how well it explains the record, the verdict with its first reason,
// and each parameter that was searched with its standard error.
func fitMetrics(ctx context.Context, c configs.Simulation) ([]study.Metric, error) {
	r, err := identify.Fit(ctx, c)
	if err != nil {
		return nil, err
	}
	return resultMetrics(r), nil
}

// resultMetrics are those of a result.
func resultMetrics(r *fits.Result) []study.Metric {
	or := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	validation := math.NaN()
	if r.Validation != nil {
		validation = or(r.Validation.Fit.Percent)
	}
	out := []study.Metric{
		{Name: "fit_percent", Unit: "%", Value: or(r.Explained())}, {Name: fitRMS, Unit: r.Fit.Unit, Value: r.Fit.RMS},
		{Name: "loss", Value: r.Fit.Loss},
		{Name: fitAICc, Value: or(r.Fit.AICc)}, {Name: "validation_fit_percent", Unit: "%", Value: validation},
		{Name: "rows", Value: float64(r.Fit.Rows)}, {Name: "free_parameters", Value: float64(r.Fit.Params)},
	}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if p.Fixed || p.State() {
			continue
		}
		out = append(out, study.Metric{Name: p.Name, Unit: p.Unit, Value: p.Value},
			study.Metric{Name: p.Name + ".error", Unit: p.Unit, Value: or(p.Error)})
	}
	out = append(out, study.Metric{Name: fitVerdict, Text: string(r.Verdict), Value: math.NaN()})
	if r.Verdict != fits.Identified && len(r.Reasons) > 0 {
		out = append(out, study.Metric{Name: fitReason, Text: strings.Join(strings.Fields(r.Reasons[0].Text), " "), Value: math.NaN()})
	}
	return out
}
