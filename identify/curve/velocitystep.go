package curve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// StepOptions say how velocity steps are read.
type StepOptions struct {
	Rotary      bool    `yaml:"-"` // the axis turns: units are N·m and rad
	Coefficient bool    `yaml:"-"` // the force channel holds the coefficient of friction, no load is needed
	Machine     float64 `yaml:"machine_stiffness" unit:"N/m" want:">=0" doc:"of what lies between the drive that imposes the velocity and the contact; 0: not known"`
}

var stepNames = []string{"mu0", "v0", "A", "B", "L", "lag", "N0"}

const minPlateau = 12 // samples

// step is what a step of the velocity from v1 to v2 tells: A·r and B·r with r = ln(v2/v1), ln L, and the level f2.
type step struct {
	r           float64
	rest        float64 // what the step before had left to decay
	y           [4]float64
	ownVariance [4]float64       // variance that is its own: digits
	plateaus    [2]*plateau      // after and before the step …
	derivatives [2][4][3]float64 // … and the derivatives of y by their f2, a, L
	available   [4]bool
}

// StepParams are mu0, v0, A, B and L with starts and bounds for the recorded speeds; v0 is fixed at their geometric mean.
func StepParams(recs []*record.Record) []fit.Param {
	sum, n := 0.0, 0.0
	for _, d := range recs {
		for _, v := range d.Velocity {
			if v != 0 {
				sum, n = sum+math.Log(math.Abs(v)), n+1
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []fit.Param{
		{Param: engine.Param{Name: "mu0", Doc: "coefficient of friction at v0", Value: 0.5, Hi: 100}},
		{Param: engine.Param{Name: "v0", Unit: "m/s", Doc: "speed at which the coefficient is mu0", Value: math.Exp(sum / n), Lo: 1e-12, Hi: 1e6,
			Fixed: true}},
		{Param: engine.Param{Name: "A", Doc: "direct effect", Value: 1e-3, Lo: -10, Hi: 10}},
		{Param: engine.Param{Name: "B", Doc: "effect of the state", Value: 2e-3, Lo: -10, Hi: 10}},
		{Param: engine.Param{Name: "L", Unit: "m", Doc: "distance over which the state follows the speed", Value: 2e-5, Lo: 1e-9, Hi: 1},
			Log: true},
	}
}

// VelocitySteps fits A, B, L and mu0 of the state-variable law to records of friction under an imposed velocity that
// steps up and down. Every step is fitted by itself, [MOGI] (6.40), with fmax by extrapolation to the instant of the step:
//
//	fmax − f1 = A·ln(v2/v1)   (6.38),   fmax − f2 − (f1 − f1∞) = B·ln(v2/v1)   (6.39),   f2 = mu0 + (A − B)·ln(v2/v0)   (6.37)
//
// where fmax − f2 = a falls by v2·lag/L when the force is recorded that much later than the motion. A, B, L, mu0 are the regression over
// all steps, with a scatter of A·r, B·r, ln L and f2 from step to step beside their errors where they need one. Against the source (6.39)
// has f1 − f1∞, what the step before had left to decay. f1 is the level right before the step, so the record must hold it. What a
// machine of known stiffness does to the numbers is told by yielding.
//
// Force and motion are seldom sampled at one instant. Where the force is seen to jump between two of its samples it tells lag to
// a part of a sample, else it is known to be less than about one; steps of different v2/L tell it better. Unless it is among the
// parameters it is an unknown beside them, in Extra "lag" (s) with "lag_se". Without a position the motion knows every step to a
// sample only, and lag counts from its middle. One step is enough for A, B, L and mu0.
//
// The friction coefficient is force over load: the recorded load, or the parameter N0, or with Coefficient it is the force
// channel itself. The residuals are those of the regression, a few for every step. Extra holds "steps" (ratio, A, B, L and
// f2 of each by itself) and the scatter from step to step, "scatter_A_ln", "scatter_B_ln", "scatter_ln_L", "scatter_f2".
func VelocitySteps(ctx context.Context, recs []*record.Record, params []fit.Param, o StepOptions, watch fit.Watch) (*fit.Solution, error) {
	began := time.Now()
	if err := check(params, "velocity-step", stepNames...); err != nil {
		return nil, err
	}
	if err := checkSteps(params, rotary(o.Rotary)); err != nil {
		return nil, err
	}
	at := func(name string) int { return fit.Index(params, name) }
	x := &stepFit{a: at("A"), b: at("B"), l: at("L"), mu0: at("mu0"), v0: at("v0"), lagAt: at("lag")}
	load := value(fit.Values(params), at("N0"), 0)
	var all []*plateau
	for i, d := range recs {
		ps, err := stepsOf(d, o, load)
		if err != nil {
			return nil, err
		}
		for k, p := range ps {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			p.fit(ctx, 0)
			watch.Report(fit.Progress{Method: "velocity-step", Phase: fmt.Sprintf("record %d of %d", i+1, len(recs)), Step: k + 1,
				StepCount: len(ps)})
		}
		all = append(all, ps...)
	}
	// noise that depends on its own past
	var left [][]float64
	for _, p := range all {
		left = append(left, p.residuals())
	}
	if rho := min(autocorrelation(3*len(all), left...), 0.99); rho > 0 { // a machine that yields is no noise
		for _, p := range all {
			p.fit(ctx, rho)
		}
	}
	// decays that are not seen borrow their length from those that are
	var lengths []float64
	for _, p := range all {
		if p.decays && p.resolved {
			lengths = append(lengths, p.l)
		}
	}
	for _, p := range all {
		if p.decays && !p.resolved && lengths != nil {
			p.exponential(ctx, numeric.Median(lengths))
		}
	}
	pool(all)
	for k, p := range all {
		if p.decays {
			x.add(all[k-1], p)
		} else if x.mu0 >= 0 {
			x.begins = append(x.begins, p)
		}
	}
	switch {
	case len(x.steps) == 0:
		return nil, recs[0].Fail(0, "Record steps up and down between several speeds, each held for several L.",
			"no step of the velocity by more than 2 %%")
	case lengths == nil:
		return nil, x.onlyLevels(recs[0])
	}
	sol, err := x.regress(ctx, params, watch)
	if err != nil {
		return nil, err
	}
	x.judge(sol, all)
	sol.Compute = time.Since(began)
	return sol, nil
}

// pool gives the plateaus the noise of all of them: that of a short one alone is hardly known. Where a plateau scatters by far more
// it keeps its own.
func pool(all []*plateau) {
	of := func(p *plateau) (square, free float64) {
		r := p.residuals()
		return floats.Dot(r, r), float64(len(r) - 3)
	}
	square, free := 0.0, 0.0
	for _, p := range all {
		s, n := of(p)
		square, free = square+s, free+n
	}
	for _, p := range all {
		if s, n := of(p); s/n < 2*square/free && s > 0 {
			for i := range p.cov {
				for j := range p.cov[i] {
					p.cov[i][j] *= square / free / (s / n)
				}
			}
		}
	}
}

// onlyLevels is the refusal of steps after which no decay is seen: their levels show A − B and nothing else.
func (x *stepFit) onlyLevels(d *record.Record) error {
	var diff []float64
	for _, s := range x.steps {
		diff = append(diff, (s.y[0]-s.y[1])/s.r) // (f2 − f1∞)/ln(v2/v1), whatever the peak
	}
	return d.Fail(0, "Sample at least twenty times within L/v2, step to lower speeds, and hold every speed for 5·L/v2.",
		"no decay after a step is seen: A, B and L cannot be told, only A − B = %.2g (median of %d steps)", numeric.Median(diff), len(diff))
}

// stepsOf finds the plateaus of a record, with coefficient and slip.
func stepsOf(d *record.Record, o StepOptions, load float64) ([]*plateau, error) {
	n := len(d.Velocity)
	if n == 0 || len(d.Force) != n {
		return nil, d.Fail(0, "Name both columns in data.columns.", "velocity steps need the imposed velocity and the force, here %d and %d "+
			"samples", n, len(d.Force))
	}
	if len(d.Load) != n && !(load > 0) && !o.Coefficient {
		return nil, d.Fail(0, "Name the column of the normal load, give N0, or say that the force is a coefficient.", "no normal load")
	}
	v, f, normal := make([]float64, n), make([]float64, n), make([]float64, n)
	sign := math.Copysign(1, numeric.Median(d.Velocity))
	for k := range n {
		v[k], f[k], normal[k] = sign*d.Velocity[k], sign*d.Force[k], load
		if o.Coefficient {
			normal[k] = 1
		} else if len(d.Load) == n {
			normal[k] = d.Load[k]
		}
		if !(normal[k] > 0) {
			return nil, d.Fail(0, "Cut the record to the part under load.", "sample %d: normal load %g, want > 0", k, normal[k])
		}
		if f[k] /= normal[k]; !numeric.IsFinite(f[k] + v[k]) {
			return nil, d.Fail(0, "", "sample %d: velocity %g, force %g: want finite numbers", k, d.Velocity[k], d.Force[k])
		}
	}
	if lo, hi := slices.Min(f), slices.Max(f); !(hi-lo > 1e-12*max(hi, -lo)) {
		return nil, d.Fail(0, "Record the friction force, or its coefficient.", "the force is %.4g throughout", d.Force[0])
	}
	ps := plateausOf(v)
	if len(ps) < 2 {
		return nil, d.Fail(0, "The level before a step must be in the record: begin it well before the first step, and hold every speed for "+
			"several L.",
			"%d stretches of constant speed: no step of the velocity with both of its levels", len(ps))
	}
	noise := numeric.Noise(f)
	var late []float64 // of the force, samples, where its jump is seen
	for i, p := range ps {
		p.t0, p.machine = float64(p.start), o.Machine/numeric.Median(normal)
		if i == 0 || math.Abs(math.Log(p.v/ps[i-1].v)) <= 0.02 {
			continue
		}
		p.decays = true
		p.t0, p.unsure = instant(d, v, ps[i-1], p)
		if o.Machine == 0 {
			if p.forceDelay, p.jumpResolved = jump(f, ps[i-1], p, noise); p.jumpResolved {
				late = append(late, float64(p.forceDelay))
			}
		}
	}
	for i, p := range ps {
		if !p.jumpResolved && late != nil { // as late as the others
			p.forceDelay = int(math.Round(numeric.Median(late)))
		}
		if i > 0 && p.start == ps[i-1].stop {
			ps[i-1].stop += p.forceDelay
		}
		p.start += p.forceDelay
	}
	for i, p := range ps {
		p.stop = min(p.stop, n)
		if p.jumpResolved { // the force says that the step is before this sample and behind the one before
			p.lag = (float64(p.start) - 0.5 - p.t0) * d.Dt
		}
		p.t0 += p.lag / d.Dt
		before := stat.Mean(f[max(0, p.start-3):max(1, p.start)], nil)
		for k := max(p.start, 0); k < p.stop; k++ {
			s := p.v * (float64(k) - p.t0) * d.Dt
			if o.Machine > 0 && p.decays {
				s -= (f[k] - before) * normal[k] / o.Machine
			}
			p.slip, p.f = append(p.slip, s), append(p.f, f[k])
		}
		if len(p.f) < minPlateau {
			return nil, d.Fail(0, "Hold every speed longer, or sample faster.", "%d samples of a speed, want at least %d", len(p.f), minPlateau)
		}
		p.dt = d.Dt
		if i > 0 { // slip up to this step
			a := ps[i-1]
			a.endSlip = a.v * (p.t0 - a.t0) * d.Dt
			if o.Machine > 0 && a.decays {
				a.endSlip += a.slip[len(a.slip)-1] - a.v*(float64(a.stop-1)-a.t0)*d.Dt
			}
		}
	}
	return ps, nil
}

// stepFit is the regression over the steps.
type stepFit struct {
	a, b, l, mu0, v0, lagAt int // places of the parameters; −1: not there

	steps     []step
	begins    []*plateau // before the first steps
	lag       [2]float64 // s: what the force says of it, and how sure that is
	tau       [4]float64
	whitening *mat.Dense // inverse of the root of the covariance of all numbers
}

// checkSteps complains about parameters that are missing or have to be known.
func checkSteps(params []fit.Param, turn rotary) error {
	var bad fit.ParamError
	for _, n := range []string{"A", "B", "L"} {
		if fit.Index(params, n) < 0 {
			bad.Add("%s: missing", n)
		}
	}
	for _, n := range []string{"v0", "N0"} {
		if i := fit.Index(params, n); i >= 0 && !params[i].Fixed {
			bad.Add("%s: must be fixed, it is a choice and no result", n)
		}
	}
	if i := fit.Index(params, "v0"); i >= 0 && !(params[i].Value > 0) {
		bad.Add("v0: %g %s, want > 0", params[i].Value, turn.unit("m/s"))
	}
	return bad.OrNil()
}

// add reads a step between two plateaus.
func (x *stepFit) add(before, p *plateau) {
	f1, g := before.end(before.endSlip)
	rest := f1 - before.f2 // what had not decayed
	s := step{r: math.Log(p.v / before.v), rest: rest}
	s.y = [4]float64{p.f2 + p.a - f1, p.a - rest, math.Log(p.l), p.f2}
	s.available = [4]bool{true, true, p.resolved, x.mu0 >= 0}
	s.plateaus = [2]*plateau{p, before}
	s.derivatives = [2][4][3]float64{{{1, 1, 0}, {0, 1, 0}, {0, 0, 1 / p.l}, {1, 0, 0}}, {{-g[0], -g[1], -g[2]}, {0, -g[1], -g[2]}}}
	// never better than the digits of a record, or the root would lose its own
	size := math.Abs(p.f2) + math.Abs(p.a)
	for i, e := range []float64{1e-8 * size, 1e-8 * size, 1e-7, 1e-8 * size} {
		s.ownVariance[i] = e * e
	}
	x.steps = append(x.steps, s)
}

// predict are the four numbers of a step, with derivatives by A, B, L, mu0, lag.
func (x *stepFit) predict(theta []float64, s step) (y [4]float64, d [4][5]float64) {
	after, v1, v2 := s.plateaus[0], s.plateaus[1].v, s.plateaus[0].v
	a, b, l := theta[x.a], theta[x.b], theta[x.l]
	y = [4]float64{a * s.r, b * s.r, math.Log(l), 0}
	d = [4][5]float64{{s.r}, {0, s.r}, {0, 0, 1 / l}, {}}
	// a step that was later than taken has a higher peak where it was taken to be, and less is left of the decay before
	eps := theta[x.lagAt] - after.lag
	e, left := math.Exp(v2*eps/l), s.rest*math.Exp(-v1*eps/l)
	peak := b*s.r + left
	slope := peak*e*v2 - left*e*v1 // by eps/L
	for i := range 2 {
		y[i] += peak*(e-1) + left - s.rest
		d[i][1] += s.r * (e - 1)
		d[i][2] -= slope * eps / (l * l)
		d[i][4] += slope / l
	}
	if after.machine > 0 {
		// the change that the machine makes, and its derivatives by differences: it is small
		more := func(p [3]float64) (m [3]float64) {
			amplitude, faster := yielding(p[0], p[1], after.machine*p[2], s.r)
			more := amplitude - p[1]*s.r
			return [3]float64{more, more, -math.Log(faster)}
		}
		at := [3]float64{a, b, l}
		for i, m := range more(at) {
			y[i] += m
		}
		for j, h := range [3]float64{1e-5 * (a + b), 1e-5 * (a + b), 1e-5 * l} {
			up, down := at, at
			up[j], down[j] = up[j]+h, down[j]-h
			u, w := more(up), more(down)
			for i := range u {
				d[i][j] += (u[i] - w[i]) / (2 * h)
			}
		}
	}
	if s.available[3] {
		y[3], d[3] = x.level(theta, v2)
	}
	return y, d
}

// level is the steady level at a speed (6.37), with its derivatives.
func (x *stepFit) level(theta []float64, v float64) (y float64, d [5]float64) {
	q := math.Log(v / theta[x.v0])
	return theta[x.mu0] + (theta[x.a]-theta[x.b])*q, [5]float64{q, -q, 0, 1}
}
