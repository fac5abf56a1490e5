// Package fit solves the general problem of identification: parameters whose model explains measured numbers best, and what
// these numbers say about them.
//
// The problem: residuals r(θ) = model(θ) − measured, n of them, for p free parameters θ within bounds, are to be made small,
//
//	min Σ ρ(r_k(θ)),   lo ≤ θ ≤ hi,
//
// with ρ(r) = r² or a robust loss. Residuals come from an Evaluator, which knows the physics; nothing here does. Solvers are
// accelerated evolutionary programming [KC96], which needs no derivative and no good start, and a bounded
// Levenberg–Marquardt method with growing horizon and multi-start, which needs a start and gives the last digits. The
// answer of every method, of those in other packages too, is a Solution; its uncertainty, its correlation and what it
// cannot tell apart are judged in one way for all.
//
// Everything is deterministic: a seed gives the same digits whatever the number of workers.
package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/engine"
)

// Param is a parameter of a model. Value is the start before a fit and the estimate after it.
type Param struct {
	engine.Param      // name, unit, doc, value, bounds, fixed
	Log          bool // searched in its logarithm; Lo must be > 0
	Zero         bool // zero is as good a value as any, though its name does not say so: see MayBeZero
}

// Problem is what a solver works on. Its parameters are all free: what is fixed is the business of the evaluator.
type Problem struct {
	Params       []Param
	Rows         int              // residuals
	Unit         string           // of the residuals
	NewEvaluator func() Evaluator // one per worker; an evaluator is not for concurrent use
	Local        []Local          // parameters that move some rows only; nil: every one moves all
	Target       float64          // a cost above which no place is of use: descents that lead to none below it are given up; 0: any is

	// Horizon is the same problem on the first share (0 … 1] of every record: what a fit that grows its horizon starts with.
	// nil: cannot be shortened. Rows of the shorter problem are fewer.
	Horizon func(share float64) *Problem
}

// Local are parameters that move the rows FirstRow … EndRow − 1 alone, such as where one of many records begins. Blocks rise and do not
// overlap. Work on them grows with their number, that on other parameters with its square.
type Local struct {
	Params           []int // places in Problem.Params
	FirstRow, EndRow int
}

// extent is which rows every parameter moves, from the first to the one behind the last.
func (p *Problem) extent() (from, to []int) {
	from, to = make([]int, len(p.Params)), slices.Repeat([]int{p.Rows}, len(p.Params))
	for _, l := range p.Local {
		for _, j := range l.Params {
			from[j], to[j] = l.FirstRow, l.EndRow
		}
	}
	return from, to
}

// sharedParams are the parameters that are not local.
func (p *Problem) sharedParams() (shared []int) {
	local := make([]bool, len(p.Params))
	for _, l := range p.Local {
		for _, j := range l.Params {
			local[j] = true
		}
	}
	for j, own := range local {
		if !own {
			shared = append(shared, j)
		}
	}
	return shared
}

// Cost is that of residuals of the given root of mean square.
func (p *Problem) Cost(rms float64) float64 { return float64(p.Rows) * rms * rms / 2 }

// Residuals are those at the values of the parameters; nil: the model cannot be run there.
func (p *Problem) Residuals() []float64 {
	r := make([]float64, p.Rows)
	if p.NewEvaluator().Residuals(Values(p.Params), r) == engine.NonFinite {
		return nil
	}
	return r
}

// Evaluator runs the model. It owns its workspace and allocates nothing in Residuals.
type Evaluator interface {
	// Residuals writes model − measured for the parameters theta (in their units, not logarithms) to r, of length
	// Problem.Rows. A simulation that fails writes large finite residuals, never NaN, and says so with its status.
	Residuals(theta, r []float64) engine.Status
}

// Batcher is an Evaluator that runs several members at once faster than one after the other. Results do not depend on the
// place of a member in the batch or on its neighbours.
type Batcher interface {
	Width() int // members that fill a batch

	// Costs writes the sums of squared residuals of len(theta) members. As soon as a partial sum exceeds its limit the member may
	// be given up with any number above it; a cost at or below the limit is exact, bit for bit what it would be with limit +Inf.
	Costs(theta [][]float64, limit, cost []float64)
}

// Differentiable is an Evaluator that knows its derivatives, in the units of the parameters.
type Differentiable interface {
	// Columns gives ∂r/∂θ_j at theta, a slice of Problem.Rows for every j, of a local parameter of its own rows. They are valid until
	// the evaluator runs again, and not to be written to.
	Columns(theta []float64) (j [][]float64, st engine.Status)
}

// Bounded is an Evaluator that can give up a member whose residuals are already too large.
type Bounded interface {
	// ResidualsWithin is Residuals. As soon as the sum of their squares exceeds limit it may stop and return false; residuals
	// at or below limit are always whole.
	ResidualsWithin(theta, r []float64, limit float64) (st engine.Status, whole bool)
}

// Foresighted is a Differentiable that may find the derivatives along with the residuals, for less than both apart.
type Foresighted interface {
	// ResidualsAhead is ResidualsWithin. If the residuals are whole, Columns of the same theta are as good as there, until the evaluator finds
	// derivatives at another.
	ResidualsAhead(theta, r []float64, limit float64) (st engine.Status, whole bool)
}

// Counting is an Evaluator that counts its work: a simulation may take many times as long at one place as at another.
type Counting interface {
	// Steps are those of the integrator in all simulations so far.
	Steps() int
}

// Check tells every problem of the parameters: bounds, start, names.
func Check(params []Param) error {
	var bad ParamError
	add := bad.Add
	seen := map[string]bool{}
	for _, p := range params {
		if seen[p.Name] {
			add("parameter %s exists twice", p.Name)
		}
		seen[p.Name] = true
		switch {
		case math.IsNaN(p.Value) || math.IsInf(p.Value, 0):
			add("%s: start %g, want a finite number", p.Name, p.Value)
		case math.IsNaN(p.Lo) || math.IsNaN(p.Hi) || p.Lo > p.Hi || (p.Lo == p.Hi && !p.Fixed):
			add("%s: bounds %g to %g %s, want the lower below the upper", p.Name, p.Lo, p.Hi, p.Unit)
		case p.Fixed:
		case p.Value < p.Lo || p.Value > p.Hi:
			add("%s: the start %g %s is outside its bounds %g to %g: move the start or widen the bounds", p.Name, p.Value, p.Unit, p.Lo, p.Hi)
		case p.Log && !(p.Lo > 0):
			add("%s: searched in its logarithm, so the lower bound must be above zero, not %g %s", p.Name, p.Lo, p.Unit)
		}
	}
	return bad.OrNil()
}

// check tells what of its parameters makes a problem none, whatever the method.
func (p *Problem) check() (bad ParamError) {
	if err := Check(p.Params); err != nil {
		bad.Problems = err.(*ParamError).Problems
	}
	if len(p.Params) == 0 {
		bad.Add("no parameter is free: nothing to fit")
	}
	for _, q := range p.Params {
		if q.Fixed {
			bad.Add("%s is fixed, but a problem holds free parameters only", q.Name)
		}
	}
	return bad
}

// ParamError lists what is wrong with the parameters of a problem, or with the settings of a method.
type ParamError struct{ Problems []string }

func (e *ParamError) Error() string { return strings.Join(e.Problems, "\n") }

// Add lists another problem.
func (e *ParamError) Add(format string, args ...any) {
	e.Problems = append(e.Problems, fmt.Sprintf(format, args...))
}

// OrNil is the error, or nil where nothing is wrong.
func (e *ParamError) OrNil() error {
	if len(e.Problems) == 0 {
		return nil
	}
	return e
}

// Refuse is a ParamError of one problem.
func Refuse(format string, args ...any) error {
	return &ParamError{Problems: []string{fmt.Sprintf(format, args...)}}
}

// Index is the place in params of the first of the names that is there, −1 if none is.
func Index(params []Param, names ...string) int {
	for _, name := range names {
		if i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name }); i >= 0 {
			return i
		}
	}
	return -1
}

// Values are those of the parameters.
func Values(params []Param) []float64 {
	v := make([]float64, len(params))
	for j, p := range params {
		v[j] = p.Value
	}
	return v
}

// Valued are the params with the values of those found, within their bounds. Fixed ones stay as they are.
func Valued(params, found []Param) []Param {
	params = slices.Clone(params)
	for i := range params {
		if k := Index(found, params[i].Name); k >= 0 && !params[i].Fixed {
			params[i].Value = min(max(found[k].Value, params[i].Lo), params[i].Hi)
		}
	}
	return params
}

// Free are the parameters that are not fixed, and their places in params.
func Free(params []Param) (free []Param, at []int) {
	for i, p := range params {
		if !p.Fixed {
			free, at = append(free, p), append(at, i)
		}
	}
	return free, at
}
