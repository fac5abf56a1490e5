package curve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"hilrig/engine"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

var loopNames = []string{"sigma0", "sigma1", "Fs", "Fs+", "Fs-", "Fc", "offset"}

// farEnough is the share of break-away that a loop should reach for its asymptote to be seen.
const farEnough = 0.3

const sigma1Advice = "Excite presliding near √(σ0/M): a small chirp or a tap on the axis from rest, sampled ten times faster than that; or fit a whole motion (lugre, kalman)."

// PreslidingParams are sigma0 and Fs with starts and bounds from the loops, and offset with value zero, fixed.
func PreslidingParams(recs []*record.Record) []fit.Param {
	top, reach := 0.0, 0.0
	for _, d := range recs {
		if len(d.Force) == 0 || len(d.Position) == 0 {
			return nil
		}
		for _, u := range d.Force {
			top = max(top, math.Abs(u))
		}
		reach = max(reach, slices.Max(d.Position)-slices.Min(d.Position))
	}
	if top == 0 || reach == 0 {
		return nil
	}
	k := top / reach
	return []fit.Param{
		{Param: engine.Param{Name: "sigma0", Unit: "N/m", Doc: "bristle stiffness", Value: 4 * k, Lo: k / 100, Hi: 1e4 * k}, Log: true},
		{Param: engine.Param{Name: "Fs", Unit: "N", Doc: "break-away friction (total, not the increment)", Value: 1.2 * top, Lo: top / 10, Hi: 100 * top}, Log: true},
		{Param: engine.Param{Name: "offset", Unit: "N", Doc: "constant force that opposes positive motion", Lo: -10 * top, Hi: 10 * top, Fixed: true}},
	}
}

// Presliding fits the Dahl curve to force–displacement loops: sigma0 from the slopes behind the reversals, Fs from the
// asymptote (Fc where the law has no Fs). Noise in both channels is reckoned with; see branches for the equations.
//
// Fs from loops that stay far below break-away is poor: give the map of constant velocities with them (Joint). The loop is
// taken for slow. sigma1 is never told by it: free or not listed, it is refused; fixed, its force is taken into account.
//
// Extra holds "reversals", "loop_noise_x", "loop_noise_u" (of a row of the first loop, scaled to the residuals),
// "rate_se" (standard error that sigma1 would have), or "rate" where a part that goes with that rate was seen.
func Presliding(ctx context.Context, recs []*record.Record, params []fit.Param, o LoopOptions, watch fit.Watch) (*fit.Solution, error) {
	began := time.Now()
	if err := only(params, "presliding", loopNames...); err != nil {
		return nil, err
	}
	if err := fit.Check(params); err != nil {
		return nil, err
	}
	loops, err := newLoops(recs, o)
	if err != nil {
		return nil, err
	}
	held, sigma1 := holdSigma1(params)
	t, err := tie(nil, loops, held)
	if err != nil {
		return nil, err
	}
	t.begin()
	sol, err := t.fit(ctx, watch)
	if err != nil {
		return nil, err
	}
	sol, note, err := t.bristleRate(ctx, sol, watch)
	if err != nil {
		return nil, err
	}
	t.finish(sol, note)
	restoreSigma1(sol, params)
	if sigma1 {
		t.refuseSigma1(sol)
	}

	// an asymptote that is not seen
	cov := covariance(sol)
	for c, k := range sol.Free {
		if k != loops[0].level[0] && k != loops[0].level[1] {
			continue
		}
		p := sol.Params[k]
		se := math.Inf(1)
		if cov != nil {
			se = math.Sqrt(cov.At(c, c)) / p.Value
		}
		if se > 0.2 || p.Value >= p.Hi*0.999 {
			sol.Refused = append(sol.Refused, fit.Indistinct{Names: []string{p.Name}, Why: fmt.Sprintf("the branches are too straight: its standard error is %.0f %%", 100*min(se, 100)),
				Advice: "Draw the loop to 0.7 … 0.9 of break-away, or fit it together with the map of constant velocities (joint)."})
		}
	}
	if top := t.swing(sol); top < farEnough {
		sol.Notes = append(sol.Notes, fmt.Sprintf("the loop reaches %.0f %% of break-away only: Fs is an extrapolation", 100*top))
	}
	sol.Compute = time.Since(began)
	return sol, nil
}

func newLoops(recs []*record.Record, o LoopOptions) ([]*loop, error) {
	if len(recs) == 0 {
		return nil, &record.Error{Msg: "no presliding record", Hint: "Name the file of the loop in data."}
	}
	var loops []*loop
	for _, d := range recs {
		l, err := newLoop(d, o)
		if err != nil {
			return nil, err
		}
		loops = append(loops, l)
	}
	return loops, nil
}

// holdSigma1 takes a free sigma1 out of the parameters and says whether there is anything to be told about it: unless it is
// given there is.
func holdSigma1(params []fit.Param) (rest []fit.Param, unknown bool) {
	unknown = true
	for _, p := range params {
		if p.Name == "sigma1" && !p.Fixed {
			continue
		}
		unknown = unknown && p.Name != "sigma1"
		rest = append(rest, p)
	}
	return rest, unknown
}

// restoreSigma1 puts a sigma1 that was taken out back to its place, not free, with its start.
func restoreSigma1(sol *fit.Solution, params []fit.Param) {
	for i, p := range params {
		if p.Name != "sigma1" || p.Fixed {
			continue
		}
		sol.Params = slices.Insert(slices.Clone(sol.Params), i, p)
		free := slices.Clone(sol.Free)
		for c := range free {
			if free[c] >= i {
				free[c]++
			}
		}
		sol.Free = free
	}
}

// refuseSigma1 says what the loops know of sigma1.
func (t *tied) refuseSigma1(sol *fit.Solution) {
	fast := 0.0
	for _, l := range t.loops {
		for _, z := range l.zdot {
			fast = max(fast, math.Abs(z))
		}
	}
	turn := t.loops[0].turns
	why := fmt.Sprintf("a slow loop does not show it: bristles move at %.2g %s at most", fast, turn.unit("m/s"))
	if se, ok := sol.Extra["rate_se"].(float64); ok && !math.IsInf(se, 0) {
		why += fmt.Sprintf(", and %.2g %s would just be seen", 4*se, turn.unit("N·s/m"))
	} else {
		why += ", and what goes with that rate is σ1 together with every other loss of the rig"
	}
	sol.Refused = append(sol.Refused, fit.Indistinct{Names: []string{"sigma1"}, Why: why, Advice: sigma1Advice})
}

// begin looks for a start on a grid over sigma0 and Fs, with the forces at the reversals as
// measured; the given start is one of its nodes.
func (t *tied) begin() {
	l := t.loops[0]
	s0, lv := &t.params[l.sigma0], [2]*fit.Param{&t.params[l.level[0]], &t.params[l.level[1]]}
	offset := value(values(t.params), l.offset, 0)
	top, reach := 0.0, 0.0
	for _, l := range t.loops {
		reach = max(reach, l.reach)
		for _, u := range l.u {
			top = max(top, math.Abs(u-offset))
		}
	}
	type node struct{ sigma0, up, down float64 }
	nodes := []node{{s0.Value, lv[0].Value, lv[1].Value}}
	stiff, strong := []float64{s0.Value}, []float64{}
	if !s0.Fixed {
		for i := range 24 {
			stiff = append(stiff, top/reach*0.3*math.Pow(300, float64(i)/23))
		}
	}
	if !lv[0].Fixed {
		for _, f := range []float64{0.99, 1.01, 1.03, 1.06, 1.1, 1.17, 1.3, 1.5, 1.8, 2.4, 4} {
			strong = append(strong, f*top)
		}
	}
	in := func(p *fit.Param, v float64) float64 {
		if p.Fixed {
			return p.Value
		}
		return min(max(v, p.Lo), p.Hi)
	}
	for _, s := range stiff {
		nodes = append(nodes, node{in(s0, s), lv[0].Value, lv[1].Value})
		for _, f := range strong {
			nodes = append(nodes, node{in(s0, s), in(lv[0], f), in(lv[1], f)})
		}
	}
	best, least := nodes[0], math.Inf(1)
	for _, n := range nodes {
		s0.Value, lv[0].Value, lv[1].Value = n.sigma0, n.up, n.down
		theta, cost := values(t.params), 0.0
		for _, l := range t.loops {
			cost += l.roughCost(theta, offset)
		}
		if cost < least {
			best, least = n, cost
		}
	}
	s0.Value, lv[0].Value, lv[1].Value = best.sigma0, best.up, best.down
}

// roughCost is the sum of squares over some hundred samples when every branch begins where it was measured to begin.
func (l *loop) roughCost(theta []float64, offset float64) float64 {
	every := 1 + len(l.u)/1000
	cost := 0.0
	for p, from := range l.begin {
		to := len(l.u)
		if p+1 < len(l.begin) {
			to = l.begin[p+1]
		}
		for k := from; k < to; k += every {
			f, _ := l.on(theta, l.dir[p], l.x[k], l.x[from], l.u[from]-offset)
			r := f + offset - l.u[k]
			cost += r * r
		}
	}
	return cost
}

// finish turns the solution of the whole problem into that of its parameters.
func (t *tied) finish(sol *fit.Solution, note string) {
	sol.Extra["loop_noise_x"], sol.Extra["loop_noise_u"] = t.loops[0].noiseX*t.scale[0], t.loops[0].noiseU*t.scale[0]
	turns := 0
	for _, l := range t.loops {
		turns += len(l.turnX)
	}
	sol.Extra["reversals"] = turns
	if note != "" {
		sol.Notes = append(sol.Notes, note)
		sol.Extra["rate"] = sol.Params[t.rate].Value
	}
	if t.rate < t.own {
		sol.Notes = append(sol.Notes, "the force of the given sigma1 is taken into account")
	}
	t.marginal(sol)
	turn := t.loops[0].turns
	sol.Quantity = turn.quantity("force in presliding")
	sol.Pieces = nil
	if t.static != nil {
		sol.Quantity = turn.quantity("force at constant velocity and in presliding")
		sol.Pieces = append(sol.Pieces, 0)
	} else if len(t.loops) == 1 {
		sol.Dt = t.loops[0].dt
	}
	for i, from := range t.rows() {
		for _, b := range t.loops[i].begin {
			sol.Pieces = append(sol.Pieces, from+b)
		}
	}
}

// swing is the largest force of a bristle in the loops as a share of break-away.
func (t *tied) swing(sol *fit.Solution) float64 {
	top := 0.0
	for _, l := range t.loops {
		off := value(values(sol.Params), at(sol.Params, "offset"), 0)
		fs := sol.Params[max(at(sol.Params, "Fs+"), at(sol.Params, "Fs"), at(sol.Params, "Fc"))].Value
		for _, u := range l.u {
			top = max(top, math.Abs(u-off)/fs)
		}
	}
	return top
}

func at(params []fit.Param, name string) int { return index(params).of(name) }
