package fit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/numeric"

	"gonum.org/v1/gonum/floats"
)

// A descent is a fit at work: where it is, and its workspace, which is made once for a problem and serves every step.
type descent struct {
	m     LM
	ctx   context.Context
	watch Watch
	phase string

	p     *Problem
	slope *slope
	tri   *arrow // of √W·J and √W·r
	sub   *arrow // of what is free in the box, with the damping

	theta, trial      []float64
	s, sTrial         []float64
	r, rTrial, w      []float64
	g, d, length      []float64 // gradient, step, lengths of the columns
	boxLo, boxHi      []float64
	x                 []float64
	freeParams        []int
	side              []int8 // 0 free, 1 held
	cost, lambda      float64
	previousCost      float64   // cost before the last step
	lastStep          []float64 // that step, in scales
	cost0             float64   // where work on this problem began
	roughOffset       float64   // relative offset below which the model is too rough to see; 0: smooth enough
	offset            float64   // relative; −1: not known
	step              float64   // of the differences now
	columnsValid      bool      // the columns belong to s
	firstTrialRefused bool      // the first trial of the last step
	converged         bool
	reason            string
	iterations        int
	trace             []float64 // costs on this problem
	simulated         int       // on problems that are closed
	stageStart        int       // place in trace of the first cost of this stage
	hopeless          int       // steps in turn from which the target is out of reach
}

// open starts work on p at theta.
func (f *descent) open(p *Problem, phase string) error {
	before := f.slope
	n := len(p.Params)
	at := newCoordinates(p.Params, f.m.Scale)
	f.p, f.phase = p, phase
	f.slope = newSlope(p, at, f.m.Forward, f.m.Workers)
	if before != nil {
		f.simulated += before.simulated
		copy(f.slope.reach, before.reach)
	}
	f.tri = newArrow(p, numeric.BlockRows)
	f.sub = newArrow(p, len(f.tri.sharedColumns))
	f.s, f.sTrial, f.trial = make([]float64, n), make([]float64, n), make([]float64, n)
	f.g, f.d, f.length = make([]float64, n), make([]float64, n), make([]float64, n)
	f.boxLo, f.boxHi, f.x = make([]float64, n), make([]float64, n), make([]float64, n)
	f.freeParams, f.side = make([]int, 0, n), make([]int8, n)
	f.r, f.rTrial, f.w = make([]float64, p.Rows), make([]float64, p.Rows), make([]float64, p.Rows)
	f.columnsValid, f.offset = false, -1

	at.from(f.theta, f.s)
	st := f.slope.first(f.theta, f.r)
	if f.cost = f.m.Loss.Cost(f.r); st == engine.NonFinite || math.IsInf(f.cost, 1) {
		return startError(p, f.theta, st)
	}
	f.cost0, f.trace = f.cost, append(make([]float64, 0, 1+len(f.m.Steps)*f.m.MaxIterations), f.cost)
	return nil
}

// grow fits the shares of the records below 1 in turn: a slip that comes too late puts every later one out of phase, so the cost
// over the whole record has a trap for every slip, that over the beginning has few. A share that is too short for the parameters
// is left out.
func (f *descent) grow(p *Problem) error {
	for _, share := range slices.Sorted(slices.Values(f.m.Horizons)) {
		if share >= 1 || f.ctx.Err() != nil || f.slope != nil && f.spent() {
			return nil
		}
		short := p.Horizon(share)
		if short == nil || short.Rows < len(p.Params) {
			continue
		}
		if err := f.open(short, fmt.Sprintf("horizon %.0f %%", 100*share)); err != nil {
			return err
		}
		f.lambda = f.m.Damping
		f.stages(false)
	}
	f.lambda = f.m.Damping
	return nil
}

// tolerances of a stage; those of all but the last are loose.
type tolerances struct{ cost, step, offset float64 }

// stages descends with one difference step after the other.
func (f *descent) stages(last bool) {
	steps := f.m.Steps
	if _, ok := f.slope.workers[0].ev.(Differentiable); ok {
		steps = steps[len(steps)-1:]
	}
	for i, step := range steps {
		tol := tolerances{max(f.m.CostTol, 1e-4), 1e-4, max(f.m.OffsetTol, 0.3)}
		if last && i == len(steps)-1 {
			tol = tolerances{f.m.CostTol, stepTol, f.m.OffsetTol}
		}
		f.step, f.columnsValid, f.roughOffset = step, false, 0
		f.lambda = min(max(f.lambda, 1e-8), firstLambda)
		f.converged, f.reason = f.descend(tol)
		if f.ctx.Err() != nil || f.spent() {
			return
		}
	}
}

func (f *descent) spent() bool {
	return f.m.MaxEvaluations > 0 && f.simulated+f.slope.simulated >= f.m.MaxEvaluations || f.m.MaxSteps > 0 && f.slope.steps() >= f.m.MaxSteps
}

// descend takes steps until one of the ends is reached.
func (f *descent) descend(tol tolerances) (converged bool, reason string) {
	before := math.Inf(1) // offset
	f.stageStart = len(f.trace) - 1
	for i := 0; ; i++ {
		if f.ctx.Err() != nil {
			return false, "interrupted"
		}
		if f.cost == 0 {
			return true, "the model explains every number exactly"
		}
		if i == f.m.MaxIterations {
			return false, fmt.Sprintf("stopped after %d steps", i)
		}
		if f.spent() {
			return false, fmt.Sprintf("stopped after %d simulations", f.simulated+f.slope.simulated)
		}
		if !f.slope.columns(f.ctx, f.s, f.r, f.step) {
			return false, "interrupted"
		}
		f.columnsValid = true
		f.factor()
		if floats.Norm(f.length, math.Inf(1)) == 0 { // of the columns
			return false, "no parameter has any effect: steps of the differences are below what the model resolves, or the start is where nothing " +
				"matters"
		}

		// close enough in standard errors?
		f.hold()
		if f.offset = f.relativeOffset(); f.offset >= 0 && f.offset <= tol.offset {
			return true, "what is left cannot be explained by the parameters"
		}
		if why := f.race(); why != "" {
			return why == joined, why
		}
		got := f.improve()
		if got.ok {
			f.iterations++
			f.trace = append(f.trace, f.cost)
			f.watch.Report(Progress{
				Method: "lm", Phase: cmp.Or(f.phase, "step"), Step: f.iterations, BestCost: f.cost, Unit: squared(f.p.Unit),
				Simulated: f.simulated + f.slope.simulated, Theta: f.theta,
			})
		}
		if f.ctx.Err() != nil || f.spent() {
			continue
		}
		// below half a standard error, λ had to be raised for a step worth less than a tenth, and the slope remains: it is
		// the model's own roughness
		worthless := got.refusedTrials > 0 && got.decrease*float64(len(f.r)-len(f.s)) <= 1e-2 && f.offset > 0 && f.offset <= 0.5 &&
			f.offset >= 0.9*before
		before = f.offset
		switch {
		case !got.ok, worthless:
			return f.stalled(got.firstDecrease)
		case got.decrease <= tol.cost, f.creeps(tol.cost):
			return true, "the cost hardly changes any more"
		case got.size <= tol.step:
			return true, "the parameters hardly change any more"
		}
	}
}

// Many small steps along a flat valley bring nothing either: so many of them together, less than so many tolerances, a thousandth at most.
const (
	creepSteps      = 10
	creepTolerances = 100
	maxCreep        = 1e-3
)

// creeps tells that the last steps together hardly lowered the cost.
func (f *descent) creeps(tolerance float64) bool {
	n := len(f.trace)
	return n-f.stageStart > creepSteps && f.trace[n-1-creepSteps]-f.cost <= min(creepTolerances*tolerance, maxCreep)*f.cost
}

// stalled judges the end at a place where only steps of no worth lower the cost, though the linear model promises the
// relative decrease first: it is the optimum as far as a model that is rough can be seen, or a place to get stuck.
func (f *descent) stalled(first float64) (converged bool, reason string) {
	switch {
	case f.offset < 0 && (first <= f.m.CostTol || f.cost <= 1e-20*f.cost0), f.offset >= 0 && f.offset <= 0.1:
		return true, "no step lowers the cost any more"
	case f.offset >= 0 && f.offset <= 0.5:
		f.roughOffset = f.offset
		return true, "no step lowers the cost any more, as far as the roughness of the model lets it be seen"
	}
	return false, "stalled: no step lowers the cost, though its slope says otherwise; the model is not smooth at this scale"
}

// A gain is what a step brought.
type gain struct {
	ok            bool    // there was one
	refusedTrials int     // steps that did not lower the cost before
	decrease      float64 // of the cost, relative, the expected or the real one if that is larger
	firstDecrease float64 // that the first, the longest step was expected to bring
	size          float64 // of the largest component
}

// improve raises λ until a step lowers the cost, and takes it.
func (f *descent) improve() (g gain) {
	at := f.slope.coords
	for tries := 0; f.lambda <= 1e16; f.lambda *= 4 {
		if f.ctx.Err() != nil || f.spent() {
			break
		}
		expected := f.inBox(f.lambda)
		g.size = 0
		for j := range f.s {
			f.sTrial[j] = min(max(f.s[j]+f.d[j], at.lo[j]), at.hi[j])
			g.size = max(g.size, math.Abs(f.sTrial[j]-f.s[j])/at.scale[j])
		}
		if tries == 0 {
			g.firstDecrease = expected / f.cost
		}
		tries++
		g.refusedTrials = tries - 1
		if g.size == 0 {
			break
		}
		if !(expected > 0) {
			continue
		}
		at.theta(f.sTrial, f.trial)
		more := !f.m.Draft || expected > f.m.CostTol*f.cost // steps, or derivatives at the end
		if !f.slope.residuals(f.trial, f.rTrial, f.limit(), more && !f.firstTrialRefused && tries == 1) {
			continue
		}
		cost := f.m.Loss.Cost(f.rTrial)
		if !(cost < f.cost) {
			continue
		}

		f.firstTrialRefused = g.refusedTrials > 0
		g.ok, g.decrease = true, max(f.cost-cost, expected)/f.cost
		if f.cost-cost > 0.1*expected {
			f.lambda = max(f.lambda/5, 1e-15)
		}
		f.previousCost = f.cost
		f.accept(cost)
		f.columnsValid = false
		if f.turned() && g.refusedTrials == 0 && f.previousCost-f.cost < 0.25*expected {
			f.halve()
		}
		return g
	}
	f.lambda = min(f.lambda, 1e16)
	return g
}

// limit is a sum of squared residuals that no better place exceeds, with room for rounding.
func (f *descent) limit() float64 {
	if f.m.Loss.Kind != Squares {
		return math.Inf(1)
	}
	return 2 * f.cost * (1 + 1e-9)
}

// turned tells whether the step just taken goes back on the one before, and remembers it.
func (f *descent) turned() bool {
	if len(f.lastStep) != len(f.s) {
		f.lastStep = make([]float64, len(f.s))
	}
	dot := 0.0
	for j := range f.s {
		d := (f.s[j] - f.sTrial[j]) / f.slope.coords.scale[j]
		dot += d * f.lastStep[j]
		f.lastStep[j] = d
	}
	return dot < 0
}

// halve tries the middle of a step that brought much less than expected, and keeps it if it is better. Where the residuals
// are large and bent, JᵀJ is only part of the curvature: steps are then too long by a factor, and would swing from one side
// of the valley to the other without λ ever noticing.
func (f *descent) halve() {
	at := f.slope.coords
	for j := range f.s { // sTrial and rTrial are those before the step
		f.sTrial[j] = (f.s[j] + f.sTrial[j]) / 2
	}
	at.theta(f.sTrial, f.trial)
	if !f.slope.residuals(f.trial, f.rTrial, f.limit(), false) {
		return
	}
	if cost := f.m.Loss.Cost(f.rTrial); cost < f.cost {
		f.accept(cost)
	}
}

// accept makes the trial, which has this cost, the place of the descent.
func (f *descent) accept(cost float64) {
	f.cost = cost
	f.s, f.sTrial = f.sTrial, f.s
	f.theta, f.trial = f.trial, f.theta
	f.r, f.rTrial = f.rTrial, f.r
}
