package fit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"hilrig/engine"

	"gonum.org/v1/gonum/floats"
)

// LM is the method of Levenberg and Marquardt in bounds, for sums of squares and of robust losses. Every step d makes
//
//	‖√W·(r + J·d)‖² + λ·‖D·d‖²   least in the box   max(lo − s, −clip) ≤ d ≤ min(hi − s, clip)
//
// with D the lengths of the columns of √W·J [M63] and W the weights ρ' of the loss, by QR of [√W·J; √λ·D], never by
// normal equations. Parameters on a bound that want out are held; those that meet a side of the box go there and the rest
// is solved again. λ starts at 1e-2, is divided by 5 after a step that lowers the cost and multiplied by 4 after one that
// does not. Log parameters are searched in their logarithms.
//
// It ends when the part of the residuals that a change of the parameters could still remove has become small against the
// part that it could not [BW81], when cost or step hardly change, or when nothing lowers the cost any more.
//
// The zero value is a good method.
type LM struct {
	MaxIterations  int     // steps in each stage; 0: 100
	MaxEvaluations int     // simulations; 0: no limit
	MaxSteps       int     // of the integrator, where the evaluator counts them; 0: no limit
	CostTol        float64 // relative decrease of the cost that ends it; 0: 1e-10
	OffsetTol      float64 // the distance to the optimum in standard errors, about; 0: 1e-4

	// Scale is the size of change that matters for a parameter without logarithm, by name. Missing: a tenth of its range, or
	// of the size of its start if it has no bounds.
	Scale map[string]float64

	// Steps are the relative displacements of differences, one stage of the fit each: large first to see over a rugged cost,
	// then small to be exact; above the noise of the simulator. nil: 1e-2, 1e-3. Not used where the evaluator knows its
	// derivatives.
	Steps   []float64
	Forward bool // forward instead of central differences; the last Jacobian, for the errors, is central all the same

	Loss Loss

	// Horizons are the shares of the records to fit in turn, each from the result before; the whole comes last anyway.
	// nil: the whole at once.
	Horizons []float64

	Workers int // for differences; 0: as many as there are processors

	// Damping is λ at the beginning, small for a start that is near the optimum: λ bends steps along what the parameters hardly
	// tell apart, and has to become small against the squares of the singular values before such a direction is searched. 0: 1e-2
	Damping float64

	Draft bool // only the values are wanted, nothing to judge them

	ends []Start // of other drafts: one that leads to such an end stops there
}

// Measuring is an Evaluator that can tell what was measured: the rows in order, what they are for people, the first row of
// every piece and the distance of rows in s.
type Measuring interface {
	Measured() (y []float64, quantity string, pieces []int, dt float64)
}

// Fit starts at the values of the parameters. When ctx ends it, the best so far is returned without an error, not Converged.
//
// Residual, Jac and Measured (filled if the evaluator is Measuring) are those of the whole problem at the estimate. With a
// robust loss their rows are weighted by √ρ', so that s²·(JᵀJ)⁻¹ is the covariance of the reweighted problem: an
// approximation that is good while few rows are far off. Extra holds "lambda", "relative_offset" (the distance that is
// left, about in standard errors; missing where there are no rows to spare), "on_bound" (names), and "loss", "loss_scale" for a robust one.
func (m LM) Fit(ctx context.Context, p *Problem, watch Watch) (*Solution, error) {
	begin := time.Now()
	m = m.withDefaults()
	if err := m.check(p); err != nil {
		return nil, err
	}
	// shorter records first
	f := &descent{m: m, ctx: ctx, watch: watch, theta: Values(p.Params), lambda: m.Damping}
	var notes []string
	if len(m.Horizons) > 0 && p.Horizon == nil {
		notes = append(notes, "the records of this problem cannot be shortened: the growing horizon was left out")
	} else if err := f.grow(p); err != nil {
		return nil, err
	}

	// all of it
	if err := f.open(p, ""); err != nil {
		return nil, err
	}
	f.stages(true)
	s := f.solution(p)
	s.Notes = append(notes, s.Notes...)
	s.Compute = time.Since(begin)
	return s, nil
}

// At is the Solution at the values of the parameters without any fit: residuals and derivatives for a method that has found
// its answer in another way.
func (m LM) At(p *Problem) (*Solution, error) {
	begin := time.Now()
	m = m.withDefaults()
	if err := m.check(p); err != nil {
		return nil, err
	}
	f := &descent{m: m, ctx: context.Background(), theta: Values(p.Params)}
	if err := f.open(p, ""); err != nil {
		return nil, err
	}
	s := f.solution(p)
	s.Converged, s.Reason = false, "evaluated at given values"
	s.Compute = time.Since(begin)
	return s, nil
}

const (
	firstLambda = 1e-2
	longestStep = 1.5   // in logarithms, or in scales that are given
	stepTol     = 1e-10 // step that ends a descent, relative for Log parameters, else in scales
)

func (m LM) withDefaults() LM {
	m.CostTol, m.OffsetTol = cmp.Or(m.CostTol, 1e-10), cmp.Or(m.OffsetTol, 1e-4)
	m.MaxIterations, m.Damping = cmp.Or(m.MaxIterations, 100), cmp.Or(m.Damping, firstLambda)
	if m.Steps == nil {
		m.Steps = []float64{1e-2, 1e-3}
	}
	return m
}

// check tells every problem of the parameters and of what a user sets.
func (m LM) check(p *Problem) error {
	bad := p.check()
	add := bad.Add
	if p.Rows < len(p.Params) {
		add("%d numbers cannot determine %d parameters: fix some, or measure more", p.Rows, len(p.Params))
	}
	for _, v := range m.Horizons {
		if !(v > 0 && v <= 1) {
			add("horizon %g, want a share of the record above 0, at most 1", v)
		}
	}
	if err := m.Loss.Check(); err != nil {
		add("%v", err)
	}
	slices.Sort(bad.Problems)
	return bad.OrNil()
}

// solution describes where the descent is, on the problem p that is open.
func (f *descent) solution(p *Problem) *Solution {
	n, d := len(f.tri.sharedColumns), f.slope
	s := &Solution{
		Params: slices.Clone(p.Params), FreeParams: f.tri.sharedColumns, Unit: p.Unit,
		Objective: "half the sum of squared residuals", Cost: f.cost,
		Converged: f.converged, Reason: f.reason, Iterations: f.iterations, Trace: f.trace,
		Extra: map[string]any{"lambda": f.lambda},
	}
	bound := []string{}
	for j := range s.Params {
		q := &s.Params[j]
		q.Value = f.theta[j]
		if q.Value == q.Lo || q.Value == q.Hi {
			bound = append(bound, q.Name)
		}
	}
	s.Extra["on_bound"] = bound

	if s.Evaluations, s.Steps = f.simulated+d.simulated, d.steps(); f.m.Draft {
		return s
	}

	// derivatives at the estimate, with the last and smallest step; whoever interrupts still wants the errors
	if step := f.m.Steps[len(f.m.Steps)-1]; !f.columnsValid || f.step != step || d.forward {
		d.forward = false
		if d.hasUnknownReach() {
			d.columns(context.Background(), f.s, f.r, step)
		}
		d.columns(context.Background(), f.s, f.r, step)
		f.factor()
	}
	if failed := d.failedColumns.Load(); failed > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("the simulation fails on both sides of the estimate for %d parameters: their derivatives are not "+
			"known and set to zero", failed))
	}
	if f.roughOffset > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("the simulation is rough: differences of %g see a slope where the cost has none, worth %.2g "+
			"standard errors; with a smaller step of the solver the estimates may move by that much", f.step, f.roughOffset))
	}
	f.hold()
	if f.offset = f.relativeOffset(); f.offset >= 0 {
		s.Extra["relative_offset"] = f.offset
	}
	s.Residual, s.Jac = make([]float64, p.Rows), make([]float64, p.Rows*n)
	for c, j := range s.FreeParams {
		in := 1 / d.coords.slope(j, f.theta[j])
		for k, v := range d.j[j] {
			s.Jac[k*n+c] = v * in * f.w[k]
		}
	}
	for _, l := range p.Local {
		b := Block{FreeParams: slices.Clone(l.Params), FirstRow: l.FirstRow}
		for _, j := range l.Params {
			column := floats.MulTo(make([]float64, len(d.j[j])), d.j[j], f.w[l.FirstRow:l.EndRow])
			floats.Scale(1/d.coords.slope(j, f.theta[j]), column)
			b.Jac = append(b.Jac, column)
		}
		s.Local = append(s.Local, b)
	}
	floats.Scale(-1, floats.MulTo(s.Residual, f.r, f.w))
	if e, ok := d.workers[0].ev.(Measuring); ok {
		y, quantity, pieces, dt := e.Measured()
		s.Measured, s.Quantity, s.Pieces, s.Dt = slices.Clone(y), quantity, slices.Clone(pieces), dt
		floats.Mul(s.Measured, f.w[:len(s.Measured)])
	}
	if f.m.Loss.Kind != Squares {
		s.Objective = fmt.Sprintf("half the sum of %s losses with scale %g %s", f.m.Loss.Kind, f.m.Loss.Scale, p.Unit)
		s.weights = slices.Clone(f.w)
		s.Extra["loss"], s.Extra["loss_scale"] = f.m.Loss.Kind.String(), f.m.Loss.Scale
	}
	s.Evaluations = f.simulated + d.simulated
	return s
}

// startError says that the model fails where the fit begins.
func startError(p *Problem, theta []float64, st engine.Status) error {
	var at []string
	for j, q := range p.Params {
		at = append(at, fmt.Sprintf("%s = %.6g %s", q.Name, theta[j], q.Unit))
	}
	return fmt.Errorf("fit: the model cannot be simulated at the start (%v; %v): start from other values or narrow the bounds", st, at)
}
