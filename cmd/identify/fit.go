package identify

import (
	"context"
	"io"
	"slices"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/identify"
	"hilrig/identify/axis"
)

// Fit reads the records of a file to identify of any kind and fits its model on one processor, silently. One of many: what ends early is an
// error.
func Fit(ctx context.Context, c configs.Simulation) (r *identify.Result, err error) {
	switch {
	case c.MachineFit != nil:
		r, _, _, _, err = fitMachine(ctx, c.MachineFit, report.NewProgress(io.Discard))
	case c.ResponseFit != nil:
		r, _, _, err = fitResponse(ctx, c.ResponseFit, 1, report.NewProgress(io.Discard))
	case c.BallFit != nil:
		r, _, err = fitBall(ctx, c.BallFit, nil)
	default:
		r, err = fitAxis(ctx, c.Identify)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return r, err
}

func fitAxis(ctx context.Context, cfg *configs.Identify) (*identify.Result, error) {
	plan, recs, err := silently(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return identify.Run(ctx, plan, recs, nil, nil)
}

// silently reads the records of a file. A law that has viscous friction itself takes the place of the term, as with --law.
func silently(ctx context.Context, cfg *configs.Identify) (plan identify.Plan, recs identify.Records, err error) {
	if axis.Damped(cfg.Model.Law) {
		cfg.Model.Terms = slices.DeleteFunc(cfg.Model.Terms, func(t string) bool { return t == "viscous" })
	}
	recs, err = readRecords(ctx, cfg, report.NewProgress(io.Discard))
	return PlanOf(cfg, 1), recs, err
}
