package curve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/identify/fit"
)

// Limits of what counts as known about the fall of friction with speed.
const (
	dipLimit = 0.25 // standard error of Fs − Fc, as a share of it
	vsLimit  = 0.5  // standard error of ln vs
	dipLevel = 0.01 // probability of as good a fall by chance
)

// judge looks for what the points do not tell. Without a visible fall the fit is that of the map without one, and Fs and vs
// are no results; with one that is seen only in part they keep their numbers, and those of the others their uncertainty.
func (e *staticFit) judge(ctx context.Context, sol *fit.Solution, watch fit.Watch) (*fit.Solution, error) {
	e.setDiagnostics(sol)
	if e.m.flatCurve {
		for _, s := range e.m.side {
			e.refuse(sol, []int{s.fs}, "the law slides at its Coulomb level, whatever the speed",
				"Measure break-away: a force ramp from rest, or the presliding loop.")
		}
		return sol, nil
	}
	free, a, b := e.free, e.m.side[0], e.m.side[1]
	if !free(a.fs) && !free(a.vs) && !free(b.fs) && !free(b.vs) {
		return sol, nil
	}

	// the map without a fall, with the same weights
	flat, err := e.fitFlat(ctx, watch)
	if err != nil {
		return nil, err
	}
	extra := float64(len(sol.FreeParams) - len(flat.FreeParams))
	rest := float64(len(e.y) - len(sol.FreeParams))
	p := 0.0
	if gain := flat.Cost - sol.Cost; !(gain > 1e-9*flat.Cost) {
		p = 1
	} else if sol.NoiseKnown {
		p = distuv.ChiSquared{K: extra + 1}.Survival(2 * gain)
	} else if rest > 0 && sol.Cost > 0 {
		// one degree more, as vs means nothing without a fall and was chosen to please
		p = distuv.F{D1: extra + 1, D2: rest}.Survival(gain / (extra + 1) / (sol.Cost / rest))
	}
	sol.Extra["fall_p"] = p
	if p > dipLevel && free(a.fs) && free(a.vs) {
		flat.Extra["fall_p"] = p
		e.setDiagnostics(flat)
		e.refuse(flat, []int{a.fs, b.fs, a.vs, b.vs, e.m.delta}, fmt.Sprintf("no change of friction at slow speeds is visible (one as good "+
			"comes by chance with probability %.2g)", p), e.slower())
		flat.Extra["scatter"] = e.tau
		return flat, nil
	}
	e.weakSpeed(sol)
	e.weakLevel(sol)
	return sol, nil
}

// fitFlat fits the map with Fs = Fc; Fs and vs are not free in it.
func (e *staticFit) fitFlat(ctx context.Context, watch fit.Watch) (*fit.Solution, error) {
	flat := *e
	bare := *e.m
	bare.flatCurve = true
	flat.m, flat.model = &bare, func() model { return &bare }
	flat.params = slices.Clone(e.params)
	for _, s := range e.m.side {
		for _, k := range []int{s.fs, s.vs, e.m.delta} {
			if k >= 0 {
				flat.params[k].Fixed = true
			}
		}
	}
	if free, _ := fit.Free(flat.params); len(free) == 0 {
		// nothing left to fit: the cost of what is fixed
		r := make([]float64, len(e.y))
		flat.evaluator().Residuals(nil, r)
		return &fit.Solution{Params: flat.params, Extra: map[string]any{}, Cost: floats.Dot(r, r) / 2}, nil
	}
	sol, err := flat.fromStarts(ctx, watch)
	if err != nil {
		return nil, err
	}
	for _, s := range e.m.side {
		if s.fs >= 0 {
			sol.Params[s.fs].Value = sol.Params[s.fc].Value
		}
		for _, k := range []int{s.fs, s.vs, e.m.delta} {
			if k >= 0 {
				sol.Params[k].Fixed = e.params[k].Fixed
			}
		}
	}
	sol.NoiseKnown = e.se != nil && !e.scaled && (!e.loose || e.tau == 0)
	return sol, nil
}

// weakSpeed refuses a vs that the points show in part only.
func (e *staticFit) weakSpeed(sol *fit.Solution) {
	cov := fit.Covariance(sol)
	slow, _ := e.m.speeds()
	done := map[int]bool{}
	for _, s := range e.m.side {
		c := slices.Index(sol.FreeParams, s.vs)
		if s.vs < 0 || c < 0 || done[s.vs] {
			continue
		}
		done[s.vs] = true
		p := sol.Params[s.vs]
		se := stdErr(cov, c) / p.Value
		switch {
		case p.Value <= p.Lo*1.001 || p.Value >= p.Hi*0.999:
			e.refuse(sol, []int{s.vs}, "it went to its bound", e.slower())
		case p.Value < slow/2:
			e.refuse(sol, []int{s.vs}, fmt.Sprintf("the slowest speed, %.3g %s, is %.1f times as fast: friction has fallen already", slow,
				e.turns.unit("m/s"), slow/p.Value), e.slower())
		case !(se <= vsLimit):
			e.refuse(sol, []int{s.vs}, fmt.Sprintf("its standard error is %.0f %%", 100*min(se, 100)), e.slower())
		}
	}
}

// weakLevel refuses an Fs that the points show in part only, or that is no fall at all.
func (e *staticFit) weakLevel(sol *fit.Solution) {
	cov := fit.Covariance(sol)
	done := map[int]bool{}
	for i, s := range e.m.side {
		c := slices.Index(sol.FreeParams, s.fs)
		if s.fs < 0 || s.vs < 0 || c < 0 || done[s.fs] {
			continue
		}
		done[s.fs] = true
		vs, dip := sol.Params[s.vs].Value, sol.Params[s.fs].Value-sol.Params[s.fc].Value
		se := math.Inf(1) // of the dip
		if cov != nil {
			variance := cov.At(c, c)
			if k := slices.Index(sol.FreeParams, s.fc); k >= 0 {
				variance += cov.At(k, k) - 2*cov.At(c, k)
			}
			se = math.Sqrt(max(variance, 0))
		}
		slow, _ := e.m.speeds()
		left, _, _ := e.m.share(slow/vs, value(fit.Values(sol.Params), e.m.delta, 2))
		switch {
		case dip < -2*se && e.mixed(sol):
			sol.Notes = append(sol.Notes, fmt.Sprintf("friction %s grows with speed where it falls in the other direction (Fs below Fc): an "+
				"offset or a temperature that changes between the recordings, or another law",
				[]string{"forward", "backward"}[i]))
			e.refuse(sol, []int{s.fs, s.vs}, "friction rises with speed instead of falling, which says nothing about break-away",
				"Record the speeds in both directions in turn, at one temperature; measure break-away by the presliding loop.")
		case !(se <= dipLimit*math.Abs(dip)):
			e.refuse(sol, []int{s.fs}, fmt.Sprintf("Fs − Fc has a standard error of %.0f %%", 100*min(se/math.Abs(dip), 100)), e.slower())
		case left < 0.3:
			e.refuse(sol, []int{s.fs}, fmt.Sprintf("it lies outside the data: at the slowest speed %.0f %% of Fs − Fc are left", 100*left),
				e.slower())
		case dip < 0:
			sol.Notes = append(sol.Notes, "friction grows with speed from Fs at rest to Fc, as of a contact that strengthens with speed: Fs is "+
				"the level to which the curve tends at rest, not break-away")
		}
	}
}

// mixed says that friction falls with speed in one direction and grows in the other.
func (e *staticFit) mixed(sol *fit.Solution) bool {
	var up, down bool
	for _, s := range e.m.side {
		dip := sol.Params[s.fs].Value - sol.Params[s.fc].Value
		up, down = up || dip < 0, down || dip > 0
	}
	return up && down
}

// speeds are the least and the most of the points.
func (m *staticMap) speeds() (slow, fast float64) {
	slow = math.Inf(1)
	for _, v := range m.v {
		slow, fast = min(slow, math.Abs(v)), max(fast, math.Abs(v))
	}
	return slow, fast
}

// refuse names parameters that are free in the fit's own list, once.
func (e *staticFit) refuse(sol *fit.Solution, at []int, why, advice string) {
	in := fit.Indistinct{Reason: why, Advice: advice}
	for _, k := range at {
		if !e.free(k) {
			continue
		}
		name := e.params[k].Name
		if !slices.ContainsFunc(append(sol.Unidentifiable, in), func(r fit.Indistinct) bool { return slices.Contains(r.Names, name) }) {
			in.Names = append(in.Names, name)
		}
	}
	if in.Names != nil {
		sol.Unidentifiable = append(sol.Unidentifiable, in)
	}
}

// slower is the advice for a fall that is not seen.
func (e *staticFit) slower() string {
	slow, _ := e.m.speeds()
	return fmt.Sprintf("Record speeds below %.2g %s, several per decade down to a tenth of vs, both directions; or fix Fs from a presliding "+
		"loop, or leave out Fs and vs.", slow, e.turns.unit("m/s"))
}

// setDiagnostics fills in what the judgement of all methods wants to know.
func (e *staticFit) setDiagnostics(sol *fit.Solution) {
	sol.Quantity = e.turns.quantity("force at constant velocity")
	sol.Velocity = e.m.v
	sum := 0.0
	for k, r := range sol.Residual {
		sum += r * r / (e.w[k] * e.w[k])
	}
	sol.Extra["rms"] = math.Sqrt(sum / float64(len(e.y)))
	sol.Extra["points"] = len(e.y)
}

// stdErr is the standard error of a free parameter, infinite where nothing tells it.
func stdErr(cov *mat.SymDense, free int) float64 {
	if cov == nil || free < 0 {
		return math.Inf(1)
	}
	return math.Sqrt(cov.At(free, free))
}
