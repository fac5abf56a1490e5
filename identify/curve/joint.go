package curve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// JointOptions are those of the two experiments.
type JointOptions struct {
	Static StaticOptions
	Loop   LoopOptions
}

// JointParams are those of the static map and sigma0.
func JointParams(points []Point, loops []*record.Record, law string, asymmetric bool) []fit.Param {
	params := StaticParams(points, law, asymmetric)
	if pre := PreslidingParams(loops); pre != nil {
		params = append(params, pre[0])
	}
	return params
}

// Joint fits the static map and presliding loops as one experiment: Fs, and offset, are the same in both, so that the map
// gives the loop its asymptote and the loop gives the map its value at rest. Points and loop samples are weighted by their
// own noise, which is found from the residuals of each.
//
// sigma1 is refused unless it is given: nothing here moves fast enough within presliding to show it. Extra is that of
// Presliding, with "points" and "scatter" of Static.
func Joint(ctx context.Context, points []Point, recs []*record.Record, params []fit.Param, o JointOptions, watch fit.Watch) (*fit.Solution,
	error) {
	began := time.Now()
	if err := check(params, "joint", append(slices.Clone(staticNames), "sigma0", "sigma1")...); err != nil {
		return nil, err
	}
	e, err := newStatic(points, params, o.Static)
	if err != nil {
		return nil, err
	}
	if err := e.checkSpeeds(); err != nil {
		return nil, err
	}
	loops, err := newLoops(recs, o.Loop)
	if err != nil {
		return nil, err
	}

	// the map alone gives starts, and the scatter of its points
	held := slices.Clone(params)
	for i := range e.params {
		p := &e.params[i]
		p.Fixed = p.Fixed || p.Name == "sigma0" || p.Name == "sigma1"
	}
	if e.freed > 0 {
		alone, err := e.fit(ctx, watch)
		if err != nil {
			return nil, err
		}
		for i := range held {
			held[i].Value = alone.Params[i].Value
		}
		e.believe(alone)
	}
	t, sol, err := solveTied(ctx, e, loops, held, watch)
	if err != nil {
		return nil, err
	}
	sol.NoiseKnown = true // the noise of both was found before
	own, zero, se := fit.Index(sol.Params, "offset"), sol.Params[loops[0].offset].Value, t.se(sol, loops[0].offset)
	t.finish(sol)
	if e.params = sol.Params; !e.m.flatCurve {
		e.weakSpeed(sol)
	}
	t.warnFastLoop(sol, e.m)
	if sol.Extra["loop_offset"] = zero; own >= 0 {
		apart := zero - sol.Params[own].Value
		if d := math.Hypot(se, t.se(sol, own)); math.Abs(apart) > 4*d {
			sol.Notes = append(sol.Notes, fmt.Sprintf("the constant force of the loop is %.3g ± %.2g %s more than that of the map, as when the "+
				"zero of the sensor or the load has changed; it is allowed for", apart, d, e.turns.unit("N")))
		}
	}
	sol.Extra["points"], sol.Extra["scatter"] = len(e.y), e.tau
	sol.Notes = append(e.notes, sol.Notes...)
	sol.Compute = time.Since(began)
	return sol, nil
}

// believe gives points whose standard errors are not known, or but for a factor, those that their distances from the curve show.
func (e *staticFit) believe(sol *fit.Solution) {
	if e.se != nil && !e.scaled {
		return
	}
	s, top := 0.0, 0.0
	for k, r := range sol.Residual {
		s, top = s+r*r, max(top, math.Abs(e.y[k]*e.w[k]))
	}
	factor := max(math.Sqrt(s/float64(max(1, len(e.y)-len(sol.FreeParams)))), 1e-9*top)
	if e.se == nil {
		e.se = slices.Repeat([]float64{1}, len(e.y))
	}
	floats.Scale(factor, e.se)
	e.loose, e.scaled = false, false
	e.weigh()
}

// warnFastLoop warns of a loop in which the bristles felt the fall of the Stribeck curve.
func (t *tied) warnFastLoop(sol *fit.Solution, m *staticMap) {
	if m.flatCurve || m.side[0].vs < 0 {
		return
	}
	theta := fit.Values(sol.Params)
	least := 1.0
	for _, l := range t.loops {
		for _, v := range l.v {
			s := m.side[direction(v)]
			left, _, _ := m.share(math.Abs(v)/theta[s.vs], value(theta, m.delta, 2))
			g := theta[s.fc] + (theta[s.fs]-theta[s.fc])*left
			least = min(least, g/theta[s.fs])
		}
	}
	if least < 0.998 {
		sol.Notes = append(sol.Notes, fmt.Sprintf("the loop was drawn so fast that break-away fell to %.1f %% of Fs at its ends: draw it slower",
			100*least))
	}
}
