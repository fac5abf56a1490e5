package fit

import (
	"context"
	"fmt"
	"math"

	"hilrig/engine"
)

// A descent is a fit at work: where it is, and its workspace, which is made once for a problem and serves every step.
type descent struct {
	m     LM
	ctx   context.Context
	watch Watch
	phase string

	p     *Problem
	slope *slope
	tri   *triangle // of √W·J and √W·r
	sub   *triangle // of what is free in the box, with the damping

	theta, trial []float64
	s, sTrial    []float64
	r, rTrial, w []float64
	g, d, length []float64 // gradient, step, lengths of the columns
	boxLo, boxHi []float64
	x            []float64
	free         []int
	side         []int8 // 0 free, 1 held
	cost, lambda float64
	offset       float64 // relative; −1: not known
	step         float64 // of the differences now
	fresh        bool    // the columns belong to s
	converged    bool
	reason       string
	iterations   int
	simulated    int // on problems that are closed
}

// open starts work on p at theta.
func (f *descent) open(p *Problem, phase string) error {
	before := f.slope
	n := len(p.Params)
	at := newCoordinates(p.Params, f.m.Scale, f.m.Clip)
	f.p, f.phase = p, phase
	f.slope = newSlope(p, at, f.m.Forward, f.m.Workers)
	if before != nil {
		f.simulated += before.simulated
		copy(f.slope.reach, before.reach)
	}
	f.tri, f.sub = newTriangle(n, 256), newTriangle(n, max(n, 1))
	f.s, f.sTrial, f.trial = make([]float64, n), make([]float64, n), make([]float64, n)
	f.g, f.d, f.length = make([]float64, n), make([]float64, n), make([]float64, n)
	f.boxLo, f.boxHi, f.x = make([]float64, n), make([]float64, n), make([]float64, n)
	f.free, f.side = make([]int, 0, n), make([]int8, n)
	f.r, f.rTrial, f.w = make([]float64, p.Rows), make([]float64, p.Rows), make([]float64, p.Rows)
	f.fresh, f.offset = false, -1

	at.from(f.theta, f.s)
	st := f.slope.crew[0].ev.Residuals(f.theta, f.r)
	f.slope.simulated++
	if f.cost = f.m.Loss.Cost(f.r); st == engine.NonFinite || math.IsInf(f.cost, 1) {
		return startError(p, f.theta, st)
	}
	return nil
}

// tolerances of a stage; those of all but the last are loose.
type tolerances struct {
	cost, step, offset float64
	iterations         int
}

// stages descends with one difference step after the other.
func (f *descent) stages(last bool) {
	steps := f.m.Steps
	if _, ok := f.slope.crew[0].ev.(Differentiable); ok {
		steps = steps[len(steps)-1:]
	}
	for i, step := range steps {
		tol := tolerances{max(f.m.CostTol, 1e-5), max(f.m.StepTol, 1e-4), max(f.m.OffsetTol, 1e-2), f.m.MaxIterations}
		if last && i == len(steps)-1 {
			tol = tolerances{f.m.CostTol, f.m.StepTol, f.m.OffsetTol, f.m.MaxIterations}
		}
		f.step, f.fresh = step, false
		f.lambda = min(max(f.lambda, 1e-8), f.m.Lambda)
		f.converged, f.reason = f.descend(tol)
		if f.ctx.Err() != nil || f.spent() {
			return
		}
	}
}

func (f *descent) spent() bool {
	return f.m.MaxEvaluations > 0 && f.simulated+f.slope.simulated >= f.m.MaxEvaluations
}

// descend takes steps until one of the ends is reached.
func (f *descent) descend(tol tolerances) (converged bool, reason string) {
	for i := 0; ; i++ {
		if f.ctx.Err() != nil {
			return false, "interrupted"
		}
		if f.cost == 0 {
			return true, "the model explains every number exactly"
		}
		if i == tol.iterations {
			return false, fmt.Sprintf("stopped after %d steps", i)
		}
		if f.spent() {
			return false, fmt.Sprintf("stopped after %d simulations", f.simulated+f.slope.simulated)
		}
		if !f.slope.columns(f.ctx, f.s, f.r, f.step) {
			return false, "interrupted"
		}
		f.fresh = true
		f.factor()

		if !f.sensitive() {
			return false, "no parameter has any effect: steps of the differences are below what the model resolves, or the start is where nothing matters"
		}

		// close enough in standard errors?
		f.hold()
		if f.offset = f.relativeOffset(); f.offset >= 0 && f.offset <= tol.offset {
			return true, "what is left cannot be explained by the parameters"
		}
		decrease, size, ok := f.improve()
		if !ok {
			if f.ctx.Err() != nil {
				return false, "interrupted"
			}
			if f.spent() {
				continue
			}
			// a tenth of a standard error is nothing to complain of
			if f.offset >= 0 && f.offset <= 0.1 || decrease <= tol.cost {
				return true, "no step lowers the cost any more"
			}
			return false, "stalled: no step lowers the cost, though its slope says otherwise; the model is not smooth at this scale"
		}
		f.iterations++
		f.say()
		switch {
		case decrease <= tol.cost:
			return true, "the cost hardly changes any more"
		case size <= tol.step:
			return true, "the parameters hardly change any more"
		}
	}
}

// improve raises λ until a step lowers the cost, and takes it. decrease is relative, the expected or the real one if that
// is larger; size is that of the largest step. ok is false if there is none.
func (f *descent) improve() (decrease, size float64, ok bool) {
	at := f.slope.at
	first := math.NaN()
	for ; f.lambda <= 1e16; f.lambda *= 4 {
		if f.ctx.Err() != nil || f.spent() {
			break
		}
		expected := f.inBox(f.lambda)
		size = 0
		for j := range f.s {
			f.sTrial[j] = min(max(f.s[j]+f.d[j], at.lo[j]), at.hi[j])
			size = max(size, math.Abs(f.sTrial[j]-f.s[j])/at.scale[j])
		}
		if math.IsNaN(first) {
			first = expected / f.cost
		}
		if size == 0 {
			break
		}
		if !(expected > 0) {
			continue
		}
		at.theta(f.sTrial, f.trial)
		if !f.slope.residuals(f.trial, f.rTrial) {
			continue
		}
		cost := f.m.Loss.Cost(f.rTrial)
		if !(cost < f.cost) {
			continue
		}

		decrease = max(f.cost-cost, expected) / f.cost
		if f.cost-cost > 0.1*expected {
			f.lambda = max(f.lambda/5, 1e-15)
		}
		f.cost = cost
		f.s, f.sTrial = f.sTrial, f.s
		f.theta, f.trial = f.trial, f.theta
		f.r, f.rTrial = f.rTrial, f.r
		f.fresh = false
		return decrease, size, true
	}
	f.lambda = min(f.lambda, 1e16)
	return first, 0, false
}

func (f *descent) say() {
	if f.watch == nil {
		return
	}
	phase := "step"
	if f.phase != "" {
		phase = f.phase
	}
	f.watch.Say(Progress{
		Method: "lm", Phase: phase, Step: f.iterations, Best: f.cost, Unit: f.p.Unit + "²",
		Simulated: f.simulated + f.slope.simulated, Theta: f.theta,
	})
}
