package identify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/friction"
	"hilrig/identify/axis"
	"hilrig/identify/fit"
)

// maxStepShift is the share of a standard error by which steps half as long may move a parameter. Beyond it, the simulator and not
// the data would set the value [theory §9.1].
const maxStepShift = 1. / 3

// Into how many parts a sampling interval is divided at most: into more where all steps together are few.
const (
	maxParts = 64
	maxSteps = 1_000_000
)

// Stepping is how finely a motion was simulated, and what that is worth.
type Stepping struct {
	Scheme    string   `json:"scheme"`
	PerSample int      `json:"per_sample"` // steps in a sampling interval, the most of any piece
	Step      float64  `json:"step_s"`     // s, the longest
	Shift     *float64 `json:"shift"`      // standard errors by which steps half as long would move a parameter; null: not known
	Worst     string   `json:"worst"`      // that parameter
	key       string   // of the file, that gives the number of steps
}

// question is what a method asks of a model, and how it is answered again from a place near the answer.
type question struct {
	problem    func(m *axis.Model, params []fit.Param) (*fit.Problem, error)
	refit      func(ctx context.Context, p *fit.Problem) (*fit.Solution, error)
	leadBack   bool // from the beginning led back along the record, where noise of the recorded force takes it off
	fixedGains bool // with the weights of the start, whatever inertia is tried
}

// refineSteps makes the steps of the simulation so short that halving them moves no parameter too far. What that takes is foretold
// from the Jacobian of the solution, and the fit goes on from it with steps as short as that. Steps that were given stay.
func (j *job) refineSteps(ctx context.Context, m *axis.Model, params []fit.Param, sol *fit.Solution, q question) (*axis.Model,
	*fit.Solution, *Stepping, error) {
	order, most := j.order(), max(maxParts, maxSteps/max(1, samples(j.recs.Fit)))
	for {
		at := fit.Valued(params, sol.Params)
		parts, step, err := m.Parts(at)
		if err != nil {
			return nil, nil, nil, err
		}
		st := &Stepping{Scheme: j.plan.Model.Scheme.String(), PerSample: parts, Step: step, key: "model.substeps"}
		if len(sol.FreeParams) == 0 || len(sol.Jac) == 0 {
			return m, sol, st, nil
		}
		shift, worst, err := halved(m, at, sol, q)
		if err != nil {
			return nil, nil, nil, err
		}
		if st.Worst = worst; !math.IsInf(shift, 0) {
			st.Shift = &shift
		}
		times := int(min(float64(most), math.Ceil(math.Pow(1.2*shift/maxStepShift, 1/order))))
		times = min(max(times, 2), most/parts)
		if shift <= maxStepShift || j.plan.Model.Substeps > 0 || times < 2 || ctx.Err() != nil {
			return m, sol, st, nil
		}
		finer, err := m.Finer(at, times)
		if err != nil {
			return nil, nil, nil, err
		}
		p, err := q.problem(finer, at)
		if err != nil {
			return nil, nil, nil, err
		}
		p.Params = fit.Valued(p.Params, sol.Params)
		next, err := q.refit(ctx, p)
		if err != nil || ctx.Err() != nil { // the coarser answer is there all the same
			return m, sol, st, nil
		}
		next.Continue(sol)
		m, sol = finer, next
	}
}

// order is the power of the step with which the error of the simulation shrinks.
func (j *job) order() float64 {
	if j.plan.Model.Scheme == friction.Implicit {
		return 1
	}
	return 2
}

// halved is how far steps half as long would move a parameter, in its standard errors, to first order.
func halved(m *axis.Model, at []fit.Param, sol *fit.Solution, q question) (shift float64, worst string, err error) {
	finer, err := m.Finer(at, 2)
	if err != nil {
		return 0, "", err
	}
	var y [2][]float64
	for i, m := range []*axis.Model{m, finer} {
		p, err := q.problem(m, at)
		if err != nil {
			return 0, "", err
		}
		if i == 0 && p.Rows == len(sol.Residual) && lossOf(sol).Kind == fit.Squares { // those of the solution
			y[i] = slices.Clone(sol.Residual)
			floats.Scale(-1, y[i])
			continue
		}
		p.Params = fit.Valued(p.Params, sol.Params)
		if y[i] = p.Residuals(); y[i] == nil {
			return math.Inf(1), "", nil
		}
	}
	floats.Sub(y[1], y[0])
	l := fit.NewLinear(sol)
	move := l.Move(y[1])
	far := func(se func(k int) float64) {
		shift, worst = 0, ""
		for k, i := range sol.FreeParams {
			name := sol.Params[i].Name
			if s := se(k); s > 0 && !fit.IsState(name) && math.Abs(move[k])/s > shift {
				shift, worst = math.Abs(move[k])/s, name
			}
		}
	}
	far(func(k int) float64 { return l.Err()[k] })
	if shift <= maxStepShift || len(sol.Pieces) < 2 && fit.WhitenessOf(sol.Residual, sol.Pieces).White {
		return shift, worst, nil
	}
	// what depends on its neighbours is worth less than it seems: the errors that are reported decide
	a, err := fit.Assess(sol)
	if err != nil {
		return shift, worst, nil
	}
	far(func(k int) float64 {
		if se := a.Estimates[k].Err(a.Residual.White); se != nil {
			return *se
		}
		return 0
	})
	return shift, worst, nil
}

// doubt says that the steps, and not the data, may have set a value.
func (s *Stepping) doubt(given bool) string {
	why := fmt.Sprintf("%d steps in a sample are the most there are", s.PerSample)
	if given {
		why = "substeps are given"
	}
	switch {
	case s.Shift == nil && s.Worst == "":
		return ""
	case s.Shift == nil:
		return fmt.Sprintf("what shorter steps of the simulation would give is not known: %s", why)
	case *s.Shift <= maxStepShift:
		return ""
	}
	return fmt.Sprintf("steps of the simulation half as long would move %s by %.2g standard errors, and %s: the simulation sets its value, "+
		"not the data", s.Worst, *s.Shift, why)
}
