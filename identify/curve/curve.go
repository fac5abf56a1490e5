// Package curve identifies friction from experiments that show one curve of it at a time, so that no motion has to be
// simulated:
//
//   - the static map, friction at many constant velocities: Fc, Fs, vs, Fv and a constant offset [MOGI] (6.16)–(6.19),
//   - the presliding loop, friction over a displacement too small for sliding: σ0 and Fs (theory §3),
//   - both as one experiment, tied by Fs,
//   - velocity steps, friction after a jump of an imposed velocity: A, B, L and mu0 of the state-variable law (6.37)–(6.40).
//
// Friction opposes motion and is positive for positive velocity; Fs is the total break-away level. Forces are those of the
// drive on the axis at rest in its acceleration: inertia must not matter, which is what makes these experiments slow.
// Units are given for an axis that slides; for one that turns read N·m, rad and kg·m², as its results and messages do if the
// options say Rotary.
//
// Parameters are taken by name. A parameter that is not listed does not exist in the model: without Fs there is no fall at
// slow speeds, without offset no offset. A name with + or − at its end, Fc+ and Fc- for Fc, is that of one direction. What an
// experiment cannot tell is refused with advice (fit.Solution.Refused) instead of being given digits.
package curve

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"hilrig/engine"
	"hilrig/identify/fit"
	"hilrig/identify/record"

	"gonum.org/v1/gonum/floats"
)

// model is a curve, or several, at given places: one value per row, with derivatives. It may own workspace.
type model interface {
	// at writes the values for all parameters theta, fixed ones too, to f, and the derivatives (row-major,
	// len(f) × len(theta)) to j unless that is nil.
	at(theta, f, j []float64) engine.Status
}

// system is a weighted least-squares problem: y ≈ model(θ) with the weights w.
type system struct {
	params []fit.Param
	y, w   []float64
	model  func() model
	unit   string
	series []series
}

// series are rows [from, to) whose noise depends on its own past, r_k = rho·r_{k−1} + something new. They are fitted by what is new,
// which has the same variance by (r_k − rho·r_{k−1})/√(1 − rho²).
type series struct {
	start, stop int
	rho         float64
}

// renew replaces numbers of the rows by what is new in them.
func (s *system) renew(r []float64) {
	for _, x := range s.series {
		if x.rho == 0 {
			continue
		}
		scale := 1 / math.Sqrt(1-x.rho*x.rho)
		for k := x.stop - 1; k > x.start; k-- {
			r[k] = scale * (r[k] - x.rho*r[k-1])
		}
	}
}

// evaluator is a system at work.
type evaluator struct {
	s                  *system
	m                  model
	freePlaces         []int // places of the free parameters
	theta              []float64
	f, r, fullJacobian []float64
	columns            [][]float64
}

func (s *system) evaluator() *evaluator {
	_, at := fit.Free(s.params)
	n := len(s.y)
	e := &evaluator{s: s, m: s.model(), freePlaces: at, theta: fit.Values(s.params), f: make([]float64, n), r: make([]float64, n),
		fullJacobian: make([]float64, n*len(s.params))}
	for range at {
		e.columns = append(e.columns, make([]float64, n))
	}
	return e
}

const huge = 1e150 // stands for what is not finite; its square is finite

// Residuals is (model − measured)·weight.
func (e *evaluator) Residuals(theta, r []float64) engine.Status { return e.evaluate(theta, r, nil) }

// Columns are the derivatives of Residuals, which are in r then.
func (e *evaluator) Columns(theta []float64) ([][]float64, engine.Status) {
	clear(e.fullJacobian)
	st := e.evaluate(theta, e.r, e.fullJacobian)
	for j, p := range e.freePlaces {
		c := e.columns[j]
		for k, w := range e.s.w {
			if c[k] = e.fullJacobian[k*len(e.theta)+p] * w; !(math.Abs(c[k]) < huge) {
				c[k], st = 0, engine.NonFinite
			}
		}
		e.s.renew(c)
	}
	return e.columns, st
}

// evaluate writes the residuals, and the derivatives of the model unless full is nil.
func (e *evaluator) evaluate(theta, r, full []float64) engine.Status {
	for i, p := range e.freePlaces {
		e.theta[p] = theta[i]
	}
	st := e.m.at(e.theta, e.f, full)
	for k, f := range e.f {
		r[k] = (f - e.s.y[k]) * e.s.w[k]
		if !(math.Abs(r[k]) < huge) {
			r[k], st = huge, engine.NonFinite
		}
	}
	e.s.renew(r)
	return st
}

// solve fits by Levenberg–Marquardt from the values of the parameters.
func (s *system) solve(ctx context.Context, watch fit.Watch) (*fit.Solution, error) {
	began := time.Now()
	free, at := fit.Free(s.params)
	if len(free) == 0 {
		return nil, fit.Refuse("every parameter is fixed: free at least one")
	}
	p := &fit.Problem{Params: free, Rows: len(s.y), Unit: s.unit, NewEvaluator: func() fit.Evaluator { return s.evaluator() }}
	sol, err := (&fit.LM{}).Fit(ctx, p, watch)
	if err != nil {
		return nil, err
	}
	params := slices.Clone(s.params)
	for i, k := range at {
		params[k].Value = sol.Params[i].Value
	}
	sol.Params, sol.FreeParams, sol.Objective = params, at, "half the sum of squares"
	sol.Measured = floats.MulTo(make([]float64, len(s.y)), s.y, s.w)
	sol.Compute = time.Since(began)
	return sol, nil
}

// check complains about parameters that the method does not know, and about their bounds and starts.
func check(params []fit.Param, method string, known ...string) error {
	var bad fit.ParamError
	for _, p := range params {
		if !slices.Contains(known, p.Name) {
			bad.Add("%s: no parameter of the method %s, which knows %s", p.Name, method, strings.Join(known, ", "))
		}
	}
	return cmp.Or(bad.OrNil(), fit.Check(params))
}

// maxNumber is the largest number that a record may hold here: its square and sums of it are finite.
const maxNumber = 1e60

// sane refuses a channel with numbers that no instrument gives.
func sane(d *record.Record, channels ...[]float64) error {
	for _, x := range channels {
		for k, a := range x {
			if !(math.Abs(a) < maxNumber) {
				return d.Fail(0, "Look at that row of the file, or cut it out with data.rows.", "sample %d is %g: want finite numbers, below %g", k+1,
					a, maxNumber)
			}
		}
	}
	return nil
}

// value reads a parameter that may not exist.
func value(theta []float64, i int, without float64) float64 {
	if i < 0 {
		return without
	}
	return theta[i]
}

// rotary says whether units are those of an axis that turns.
type rotary bool

// unit gives a unit of an axis that slides as it is on this one.
func (r rotary) unit(linear string) string { return engine.UnitOn(bool(r), linear) }

// quantity gives what is explained its name on this axis.
func (r rotary) quantity(linear string) string {
	if r {
		return strings.Replace(linear, "force", "torque", 1)
	}
	return linear
}

// Rotary gives parameters, which come with the units of an axis that slides, those of one that turns.
func Rotary(params []fit.Param) []fit.Param {
	for i := range params {
		params[i].Unit = engine.RotaryUnit(params[i].Unit)
	}
	return params
}
