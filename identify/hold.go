package identify

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"hilrig/identify/axis"
	"hilrig/identify/fit"
)

// likelierHold goes on with the other way in which the force may run between its samples, where that is open and the motion answers so:
// at once, or once noise of the force is out of the way, which hides in what a wrong hold leaves over.
func (j *job) likelierHold(ctx context.Context, m *axis.Model, params []fit.Param, sol *fit.Solution, q question) (*axis.Model,
	*fit.Solution, bool) {
	if !j.holdOpen || j.plan.Model.Drive != axis.Force || len(sol.FreeParams) == 0 || len(sol.Jac) == 0 || ctx.Err() != nil {
		return m, sol, false
	}
	hold := axis.Linear
	if j.plan.Model.Hold == axis.Linear {
		hold = axis.Held
	}
	share, err := j.towards(m, params, sol, hold, q)
	if !(share > 0.5) {
		return m, sol, false
	}
	other := m.Hold(hold)
	p, bad := q.problem(other, params)
	if bad != nil {
		return m, sol, false
	}
	p.Params = fit.Valued(p.Params, sol.Params)
	next, bad := q.refit(ctx, p)
	if bad != nil || ctx.Err() != nil || !next.Converged {
		return m, sol, false
	}
	followed := false
	if !m.IsLed() {
		other, next, followed = j.follow(ctx, other, params, next, q)
	}
	if !(share*share > excluded*err*err) {
		if share, err = j.towards(other, params, next, j.plan.Model.Hold, q); !(share < 0.5 && (1-share)*(1-share) > excluded*err*err) {
			return m, sol, false
		}
		share = 1 - share
	}
	j.plan.Model.Hold = hold
	next.Continue(sol)
	next.Notes = append(next.Notes, fmt.Sprintf("the motion answers to a force that is %s between its samples, by %.0f standard errors: it "+
		"is taken for that. model.hold says it otherwise", hold, share/err))
	return other, next, followed
}

// towards is the share of the way from the hold of a solution to another one at which the motion is, and its standard error.
func (j *job) towards(m *axis.Model, params []fit.Param, sol *fit.Solution, hold axis.Hold, q question) (share, err float64) {
	base, other := residualsAt(m, sol), func() []float64 { return residuals(m.Hold(hold), sol.Params) }
	if len(base) != len(sol.Residual) { // its rows are those of segments, with their states
		base, other = q.residuals(m, params, sol), func() []float64 { return q.residuals(m.Hold(hold), params, sol) }
	}
	if len(base) != len(sol.Residual) {
		return 0, math.Inf(1)
	}
	y := j.aside(m, sol, base, hold)
	if y == nil { // nothing leads the simulation back, so noise of the force does not matter
		if y = other(); len(y) != len(base) {
			return 0, math.Inf(1)
		}
		floats.Sub(y, base)
	}
	l := fit.NewLinear(sol)
	return l.RobustFactor(y, l.Move(y))
}

// aside is by how much the residual changes, of a simulation that is led back along the record, under a force that acts half a sample
// earlier or later, as with the other hold; nil: it is not led. Noise of the force is less in the mean of two samples, so what is left
// over with that hold tells nothing.
func (j *job) aside(m *axis.Model, sol *fit.Solution, base []float64, hold axis.Hold) []float64 {
	ahead := m.WithShiftedForce(hold == axis.Linear)
	if ahead == nil {
		return nil
	}
	y := residuals(ahead, sol.Params)
	if len(y) != len(base) {
		return nil
	}
	floats.Sub(y, base)
	return y
}

// residuals are those of the problem of the question at a solution of it; nil: it cannot be simulated there.
func (q question) residuals(m *axis.Model, params []fit.Param, sol *fit.Solution) []float64 {
	p, err := q.problem(m, params)
	if err != nil {
		return nil
	}
	p.Params = fit.Valued(p.Params, sol.Params)
	return p.Residuals()
}
