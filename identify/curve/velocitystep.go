package curve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// StepOptions say how velocity steps are read.
type StepOptions struct {
	Rotary      bool    // the axis turns: units are N·m and rad
	Coefficient bool    // the force channel holds the coefficient of friction, no load is needed
	Machine     float64 // N/m, stiffness between what imposes the velocity and the contact; 0: not known
	Ratios      int     // different ratios of speed that are wanted; 0: 5
}

var stepNames = []string{"mu0", "v0", "A", "B", "L", "N0"}

const minPlateau = 12 // samples

// step is what a step of the velocity from v1 to v2 tells: A·r and B·r with r = ln(v2/v1), ln L, and the level f2.
type step struct {
	r, v2   float64
	machine float64 // 1/m, stiffness over load; 0: rigid
	y       [4]float64
	cov     [4][4]float64
	has     [4]bool
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
		{Param: engine.Param{Name: "v0", Unit: "m/s", Doc: "speed at which the coefficient is mu0", Value: math.Exp(sum / n), Lo: 1e-12, Hi: 1e6, Fixed: true}},
		{Param: engine.Param{Name: "A", Doc: "direct effect", Value: 1e-3, Hi: 10}},
		{Param: engine.Param{Name: "B", Doc: "effect of the state", Value: 2e-3, Hi: 10}},
		{Param: engine.Param{Name: "L", Unit: "m", Doc: "distance over which the state follows the speed", Value: 2e-5, Lo: 1e-9, Hi: 1}, Log: true},
	}
}

// VelocitySteps fits A, B, L and mu0 of the state-variable law to records of friction under an imposed velocity that
// steps up and down. Every step is fitted by itself, (6.40), with fmax by extrapolation to the instant of the step:
//
//	fmax − f1 = A·ln(v2/v1)   (6.38),   fmax − f2 − (f1 − f1∞) = B·ln(v2/v1)   (6.39),   f2 = mu0 + (A − B)·ln(v2/v0)   (6.37)
//
// and A, B, L, mu0 are the regression over all steps, with a scatter of A·r, B·r, ln L and f2 from step to step beside their
// errors where they need one. Against the source (6.39) has f1 − f1∞, what the step before had left to decay. f1 is the
// level right before the step, so the record must hold it. What a machine of known stiffness does to the numbers is told by
// yielding.
//
// The friction coefficient is force over load: the recorded load, or the parameter N0, or with Coefficient it is the force
// channel itself. The residuals are those of the regression, a few for every step. Extra holds "steps" (ratio, A, B, L and
// f2 of each by itself) and the scatter from step to step, "scatter_A_ln", "scatter_B_ln", "scatter_ln_L", "scatter_f2".
func VelocitySteps(ctx context.Context, recs []*record.Record, params []fit.Param, o StepOptions, watch fit.Watch) (*fit.Solution, error) {
	began := time.Now()
	if err := only(params, "velocity-step", stepNames...); err != nil {
		return nil, err
	}
	if err := fit.Check(params); err != nil {
		return nil, err
	}
	x := &stepFit{at: index(params)}
	if err := x.checkNames(params, rotary(o.Rotary)); err != nil {
		return nil, err
	}
	load := value(values(params), x.at.of("N0"), 0)
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
			p.fit(ctx)
			watch.Say(fit.Progress{Method: "velocity-step", Phase: fmt.Sprintf("record %d of %d", i+1, len(recs)), Step: k + 1, Of: len(ps)})
		}
		all = append(all, ps...)
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
	for k, p := range all {
		if p.decays {
			x.add(all[k-1], p)
		}
	}
	if err := x.enough(recs, o.Ratios); err != nil {
		return nil, err
	}
	sol, err := x.regress(ctx, params, watch)
	if err != nil {
		return nil, err
	}
	x.judge(sol, all, lengths != nil)
	if n := timing(recs, all, lengths); n != "" {
		sol.Refused = append(sol.Refused, fit.Indistinct{Names: []string{"A", "B"}, Why: n,
			Advice: "Record the position, sample faster, or step to lower speeds"})
	}
	sol.Compute = time.Since(began)
	return sol, nil
}

// lateShare is the part of the decay within one sample from which the instant of a step has to be known better than that.
const lateShare = 0.02

// timing says what it costs that without a position a step is known to one sample only: within a sample friction falls from its
// peak by the part 1 − exp(−v·Δt/L), and A and B come out low by up to that much. "": nothing worth saying.
func timing(recs []*record.Record, all []*plateau, lengths []float64) string {
	if len(lengths) == 0 || slices.ContainsFunc(recs, func(d *record.Record) bool { return len(d.Position) > 0 }) {
		return ""
	}
	l, dt, parts := numeric.Median(lengths), recs[0].Dt, []float64{}
	for _, p := range all {
		if p.decays {
			parts = append(parts, -math.Expm1(-math.Abs(p.v)*dt/l))
		}
	}
	if share := numeric.Median(parts); share > lateShare {
		return fmt.Sprintf("without a position the instant of a step is known to one sample, in which friction falls by %.0f %% of its peak: both are low by up to that much", 100*share)
	}
	return ""
}

// stepsOf finds the plateaus of a record, with coefficient and slip.
func stepsOf(d *record.Record, o StepOptions, load float64) ([]*plateau, error) {
	n := len(d.Velocity)
	if n == 0 || len(d.Force) != n {
		return nil, d.Fail(0, "Name both columns in data.columns.", "velocity steps need the imposed velocity and the force, here %d and %d samples", n, len(d.Force))
	}
	if len(d.Load) != n && !(load > 0) && !o.Coefficient {
		return nil, d.Fail(0, "Name the column of the normal load, give N0, or say that the force is a coefficient.", "no normal load")
	}
	if !(o.Machine >= 0) {
		return nil, &fit.ParamError{Problems: []string{fmt.Sprintf("machine: %g %s, want ≥ 0", o.Machine, rotary(o.Rotary).unit("N/m"))}}
	}
	v, f, normal := make([]float64, n), make([]float64, n), make([]float64, n)
	sign := math.Copysign(1, numeric.Median(d.Velocity))
	for k := range n {
		v[k], f[k] = sign*d.Velocity[k], sign*d.Force[k]
		normal[k] = 1
		switch {
		case o.Coefficient:
		case len(d.Load) == n:
			normal[k] = d.Load[k]
		default:
			normal[k] = load
		}
		if !(normal[k] > 0) {
			return nil, d.Fail(0, "Cut the record to the part under load.", "sample %d: normal load %g, want > 0", k, normal[k])
		}
		if f[k] /= normal[k]; math.IsNaN(f[k]+v[k]) || math.IsInf(f[k]+v[k], 0) {
			return nil, d.Fail(0, "", "sample %d: velocity %g, force %g: want finite numbers", k, d.Velocity[k], d.Force[k])
		}
	}
	ps := plateausOf(v, minPlateau)
	if len(ps) < 2 {
		return nil, d.Fail(0, "The level before a step must be in the record: begin it well before the first step, and hold every speed for several L.",
			"%d stretches of constant speed: no step of the velocity with both of its levels", len(ps))
	}
	for i, p := range ps {
		p.t0, p.machine = float64(p.from), o.Machine/numeric.Median(normal)
		if i > 0 {
			p.t0, p.decays = instant(d, v, ps[i-1], p), math.Abs(math.Log(p.v/ps[i-1].v)) > 0.02
		}
		before := mean(f[max(0, p.from-3):max(1, p.from)])
		for k := p.from; k < p.to; k++ {
			s := p.v * (float64(k) - p.t0) * d.Dt
			if o.Machine > 0 && p.decays {
				s -= (f[k] - before) * normal[k] / o.Machine
			}
			p.slip, p.f = append(p.slip, s), append(p.f, f[k])
		}
	}
	for i := 0; i+1 < len(ps); i++ { // slip up to the next step
		ps[i].last = ps[i].v * (ps[i+1].t0 - ps[i].t0) * d.Dt
		if o.Machine > 0 && ps[i].decays {
			ps[i].last += ps[i].slip[len(ps[i].slip)-1] - ps[i].v*(float64(ps[i].to-1)-ps[i].t0)*d.Dt
		}
	}
	return ps, nil
}

// stepFit is the regression over the steps.
type stepFit struct {
	at    names
	steps []step
	tau   [4]float64
	white []*mat.TriDense // per step: inverse of the root of its covariance
}

func (x *stepFit) checkNames(params []fit.Param, turn rotary) error {
	var bad []string
	for _, n := range []string{"A", "B", "L"} {
		if x.at.of(n) < 0 {
			bad = append(bad, n+": missing")
		}
	}
	if x.at.of("mu0") >= 0 && x.at.of("v0") < 0 {
		bad = append(bad, "v0: missing; it is the speed at which the coefficient is mu0")
	}
	for _, n := range []string{"v0", "N0"} {
		if i := x.at.of(n); i >= 0 && !params[i].Fixed {
			bad = append(bad, n+": must be fixed, it is a choice and no result")
		}
	}
	if i := x.at.of("v0"); i >= 0 && !(params[i].Value > 0) {
		bad = append(bad, fmt.Sprintf("v0: %g %s, want > 0", params[i].Value, turn.unit("m/s")))
	}
	if bad != nil {
		return &fit.ParamError{Problems: bad}
	}
	return nil
}

// add reads a step between two plateaus.
func (x *stepFit) add(before, p *plateau) {
	f1, g := before.end(before.last)
	rest := f1 - before.f2 // what had not decayed
	s := step{r: math.Log(p.v / before.v), v2: p.v, machine: p.machine}
	s.y = [4]float64{p.f2 + p.a - f1, p.a - rest, math.Log(p.l), p.f2}
	s.has = [4]bool{true, true, p.resolved, x.at.of("mu0") >= 0}
	// derivatives of the four by (f2, a, L) of both plateaus
	now := [4][3]float64{{1, 1, 0}, {0, 1, 0}, {0, 0, 1 / p.l}, {1, 0, 0}}
	was := [4][3]float64{{-g[0], -g[1], -g[2]}, {0, -g[1], -g[2]}, {}, {}}
	for i := range 4 {
		for j := range 4 {
			for a := range 3 {
				for b := range 3 {
					s.cov[i][j] += now[i][a]*p.cov[a][b]*now[j][b] + was[i][a]*before.cov[a][b]*was[j][b]
				}
			}
		}
	}
	// never better than double precision lets it be
	size := math.Abs(p.f2) + math.Abs(p.a)
	for i, e := range []float64{1e-12 * size, 1e-12 * size, 1e-10, 1e-12 * size} {
		s.cov[i][i] += e * e
	}
	x.steps = append(x.steps, s)
}

// enough asks for different ratios.
func (x *stepFit) enough(recs []*record.Record, want int) error {
	if want == 0 {
		want = 5
	}
	var r []float64
	for _, s := range x.steps {
		r = append(r, s.r)
	}
	slices.Sort(r)
	have := 0
	for i := range r {
		if i == 0 || r[i]-r[i-1] > 0.01 {
			have++
		}
	}
	if have < want {
		return recs[0].Fail(0, "Record steps up and down between several speeds, each held for several L.",
			"%d different ratios of speed in %d steps, want at least %d", have, len(x.steps), want)
	}
	return nil
}

// predict are the four numbers of a step, with derivatives by A, B, L, mu0.
func (x *stepFit) predict(theta []float64, s step) (y [4]float64, d [4][4]float64) {
	a, b, l := theta[x.at.of("A")], theta[x.at.of("B")], theta[x.at.of("L")]
	y = [4]float64{a * s.r, b * s.r, math.Log(l), 0}
	d = [4][4]float64{{s.r, 0, 0, 0}, {0, s.r, 0, 0}, {0, 0, 1 / l, 0}, {}}
	if s.machine > 0 {
		// the change that the machine makes, and its derivatives by differences: it is small
		more := func(p [3]float64) (m [3]float64) {
			amplitude, faster := yielding(p[0], p[1], s.machine*p[2], s.r)
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
	if m := x.at.of("mu0"); m >= 0 {
		q := math.Log(s.v2 / theta[x.at.of("v0")])
		y[3] = theta[m] + (a-b)*q
		d[3] = [4]float64{q, -q, 0, 1}
	}
	return y, d
}
