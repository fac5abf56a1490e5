package identify

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
	"hilrig/identify/axis"
	"hilrig/identify/fit"
)

// nearDamping is that of a descent that begins near its end.
const nearDamping = 1e-6

// foretold is how far the residual that the linear model foretells may be from the simulated one, as a share of it.
const foretold = 0.02

// alternative fits a model beside that of a solution, near its end. It tells by how much values move, so a hundredth of a standard error is
// near enough to its optimum: of the error that rows have which depend on their neighbours.
func (j *job) alternative(sol *fit.Solution) fit.LM {
	alike := float64(len(sol.Residual)) / math.Max(fit.WhitenessOf(sol.Residual, sol.Pieces).Effective, 1)
	return fit.LM{Loss: lossOf(sol), Workers: j.plan.Workers, CostTol: math.Min(1e-6*alike, coarseAlternative),
		OffsetTol: 1e-2 * math.Sqrt(alike), Steps: []float64{1e-3}, Damping: nearDamping}
}

// coarseAlternative is the relative decrease of the cost from which on a step may not be the last, however few rows count.
const coarseAlternative = 1e-4

// varySome is vary on some of many records: by how much it moves the values that these alone would have, and what it leaves over.
func (j *job) varySome(ctx context.Context, m *axis.Model, params []fit.Param, sol *fit.Solution) []Sensitivity {
	p, err := m.Problem(params)
	if err != nil {
		return nil
	}
	own, err := j.alternative(sol).Fit(ctx, p, nil)
	if err != nil || ctx.Err() != nil || m.CompleteSolution(params, own) != nil {
		return nil
	}
	out := j.vary(ctx, m, own)
	whole := numeric.RMS(sol.Residual) / numeric.RMS(own.Residual)
	for i := range out {
		out[i].RMS *= whole
		for name := range out[i].Values {
			out[i].Values[name] += sol.Params[fit.Index(sol.Params, name)].Value - own.Params[fit.Index(own.Params, name)].Value
		}
	}
	return out
}

// vary tells what the fit would be with another hold of the force and with the lag free, or without it if it was. The linear
// model of the solution foretells it; where a simulation there does not bear that out, the fit is repeated.
func (j *job) vary(ctx context.Context, m *axis.Model, sol *fit.Solution) []Sensitivity {
	if d := j.plan.Model.Drive; d != axis.Force && d != axis.Servo || len(sol.FreeParams) == 0 {
		return nil
	}
	lag := fit.Index(sol.Params, "lag")
	if lag < 0 {
		return nil
	}
	if some, own := m.Subset(sol.Params); some != nil {
		return j.varySome(ctx, some, own, sol)
	}
	l := fit.NewLinear(sol)
	at := func(value float64) []fit.Param {
		params := slices.Clone(sol.Params)
		params[lag].Value = value
		return params
	}
	now := sol.Params[lag].Value
	base := residualsAt(m, sol)
	if len(base) != len(sol.Residual) { // nil, or gaps between segments stand behind the rows
		return nil
	}
	moved := func(params []fit.Param, move []float64) []fit.Param {
		for k, i := range sol.Searched() {
			p := &params[i]
			p.Value = math.Min(math.Max(p.Value+move[k], p.Lo), p.Hi)
		}
		return params
	}
	say := func(what string, m *axis.Model, params []fit.Param, left float64) []Sensitivity {
		rms := math.Inf(1)
		if r := residuals(m, params); r != nil {
			rms = l.RMS(r)
		}
		if math.Abs(rms-left) > foretold*left {
			// what leaves more over is known less well, and steps may be as much longer
			if coarser, err := m.Coarser(params, math.Pow(math.Max(left/l.RMS(base), 1), 1/j.order())); err == nil {
				m = coarser
			}
			p, err := m.Problem(params)
			if err != nil || len(p.Params) == 0 || ctx.Err() != nil {
				return nil
			}
			if math.IsInf(rms, 1) || rms > l.RMS(base) {
				p.Params = fit.Valued(p.Params, sol.Params)
			}
			s, err := j.alternative(sol).Fit(ctx, p, nil)
			if err != nil || ctx.Err() != nil {
				return nil
			}
			params, rms = fit.Valued(params, s.Params), numeric.RMS(s.Residual)
		}
		values := map[string]float64{}
		for _, q := range params {
			if !q.Fixed && !fit.IsState(q.Name) {
				values[q.Name] = q.Value
			}
		}
		return []Sensitivity{{What: what, RMS: rms, Unit: sol.Unit, Values: values}}
	}
	change := func(m *axis.Model, params []fit.Param) []float64 {
		y := residuals(m, params)
		if y != nil {
			floats.Sub(y, base)
		}
		return y
	}
	other := func(what string, m *axis.Model, params []fit.Param) []Sensitivity {
		y := change(m, params)
		if y == nil {
			return nil
		}
		move := l.Move(y)
		return say(what, m, moved(params, move), l.RMSAfter(y, move))
	}
	otherHold := func() (out []Sensitivity) {
		if j.plan.Model.Drive != axis.Force {
			return nil
		}
		what, hold := "the force held between its samples", axis.Held
		if j.plan.Model.Hold == axis.Held {
			what, hold = "the force straight between its samples", axis.Linear
		}
		out = other(what, m.Hold(hold), slices.Clone(sol.Params))
		if y := j.aside(m, sol, base, hold); y != nil && len(out) > 0 {
			if share, err := l.BestFactor(y, l.Move(y)); share < 0.5 {
				out[0].Deviation = (1 - share) / err
			}
		}
		return out
	}
	otherLag := func() []Sensitivity {
		if j.plan.LagFree {
			params := at(0)
			params[lag].Fixed = true
			return other("no lag of the force", m, params)
		}
		// a column more: the lag in the direction that the other parameters cannot take
		h := 0.02 * (sol.Params[lag].Hi - sol.Params[lag].Lo)
		up, down := residuals(m, at(now+h)), residuals(m, at(now-h))
		if up == nil || down == nil {
			return nil
		}
		for k := range up {
			up[k] = (up[k] - down[k]) / (2 * h)
		}
		move := l.Move(up)
		step, _ := l.BestFactor(up, move)
		params := at(math.Min(math.Max(now+step, sol.Params[lag].Lo), sol.Params[lag].Hi))
		step = params[lag].Value - now
		params[lag].Fixed = false
		floats.Scale(step, move)
		floats.Scale(step, up)
		return say("the lag of the force free", m, moved(params, move), l.RMSAfter(up, move))
	}
	ways := []func() []Sensitivity{otherHold, otherLag}
	found := make([][]Sensitivity, len(ways))
	fit.ParallelOn(j.plan.workers(), len(ways), func(i int) { found[i] = ways[i]() })
	return slices.Concat(found...)
}
