package curve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

var loopNames = []string{"sigma0", "sigma1", "Fs", "Fs+", "Fs-", "Fc", "offset"}

const (
	farEnough  = 0.3   // share of break-away that a loop should reach for its asymptote to be seen
	levelLimit = 0.2   // standard error of Fs, as a share of it
	fastShare  = 0.004 // share of break-away that goes with the rate of the bristle and is worth a word
)

const sigma1Advice = "Excite presliding near √(σ0/M): a small chirp or a tap on the axis from rest, sampled ten times faster " +
	"than that; " +
	"or fit a whole motion (lugre, kalman)."

// PreslidingParams are sigma0, Fs and offset with starts and bounds from the loops.
func PreslidingParams(recs []*record.Record) []fit.Param {
	top, mid, reach := 0.0, 0.0, 0.0
	for _, d := range recs {
		if len(d.Force) == 0 || len(d.Position) == 0 {
			return nil
		}
		hi, lo := slices.Max(d.Force), slices.Min(d.Force)
		top, mid = max(top, hi/2-lo/2), mid+(hi/2+lo/2)/float64(len(recs))
		reach = max(reach, slices.Max(d.Position)-slices.Min(d.Position))
	}
	k := top / reach
	if !(k > 0) || math.IsInf(k, 0) {
		return nil
	}
	far := math.Abs(mid) + 10*top
	return []fit.Param{
		{Param: engine.Param{Name: "sigma0", Unit: "N/m", Doc: "bristle stiffness", Value: 4 * k, Lo: k / 100, Hi: 1e4 * k}, Log: true},
		{Param: engine.Param{Name: "Fs", Unit: "N", Doc: "break-away friction (total, not the increment)", Value: 1.2 * top, Lo: top / 10,
			Hi: 100 * top}, Log: true},
		{Param: engine.Param{Name: "offset", Unit: "N", Doc: "constant force that opposes positive motion", Value: mid, Lo: -10 * far,
			Hi: 10 * far}},
	}
}

// Presliding fits the Dahl curve to force–displacement loops: sigma0 from the slopes behind the reversals, Fs from the
// asymptote (Fc where the law has no Fs), and offset, a constant force beside friction: gravity, a load, the zero of the
// sensor. Without offset among the parameters there is none. Noise in both channels is reckoned with; see branches for the
// equations. A small part of the force may go with the rate of the bristle, see bristleTime.
//
// Force that was drawn one way only shows Fs + offset, not the two; all three are refused then, unless offset is given or the
// record begins relaxed. Fs from loops that stay far below break-away is poor: give the map of constant velocities with them
// (Joint). sigma1 is never told by a loop: free or not listed, it is refused; fixed, its force is taken into account.
//
// Extra holds "reversals", "loop_noise_x", "loop_noise_u" (of a row of the first loop, scaled to the residuals),
// and of what goes with the rate of the bristle "rate", N·s/m, with its standard error "rate_se".
func Presliding(ctx context.Context, recs []*record.Record, params []fit.Param, o LoopOptions, watch fit.Watch) (*fit.Solution, error) {
	began := time.Now()
	loops, err := newLoops(recs, o)
	if err != nil {
		return nil, err
	}
	if err := check(params, "presliding", loopNames...); err != nil {
		return nil, err
	}
	t, sol, err := solveTied(ctx, nil, loops, params, watch)
	if err != nil {
		return nil, err
	}
	oneWay := t.oneWay()
	if fit.Covariance(sol) == nil && !oneWay {
		return nil, recs[0].Fail(0, "Look at force over displacement: behind every reversal it should bend towards break-away. Cut out wild "+
			"samples and other motion with data.span.",
			"force and displacement do not follow each other as in presliding: neither stiffness nor break-away can be told")
	}
	t.finish(sol)
	if oneWay {
		sol.Unidentifiable = append(sol.Unidentifiable, fit.Indistinct{Names: []string{"sigma0", "Fs", "offset"},
			Reason: "the force was drawn one way only, so a constant force (gravity, a load, the zero of the sensor) looks like more or less " +
				"break-away friction; only Fs + offset and σ0/Fs are seen",
			Advice: "Draw the loop to and fro; or begin with relaxed bristles and say so (presliding.relaxed); or give offset if it is known."})
	}

	// an asymptote that is not seen
	cov := fit.Covariance(sol)
	for c, k := range sol.FreeParams {
		if k != loops[0].level[0] && k != loops[0].level[1] || oneWay {
			continue
		}
		p := sol.Params[k]
		se := stdErr(cov, c) / p.Value
		if se > levelLimit || p.Value >= p.Hi*0.999 {
			sol.Unidentifiable = append(sol.Unidentifiable,
				fit.Indistinct{Names: []string{p.Name}, Reason: fmt.Sprintf("the branches are too straight: its standard error is %.0f %%",
					100*min(se, 100)),
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

// oneWay says that the offset of the loops cannot be told from Fs: it is free, the force never turns, and where the bristles are
// relaxed is not known.
func (t *tied) oneWay() bool {
	l := t.loops[0]
	if t.static != nil || t.params[l.offset].Fixed || t.params[l.level[0]].Fixed && t.params[l.level[1]].Fixed {
		return false
	}
	return !slices.ContainsFunc(t.loops, func(l *loop) bool { return l.relaxed || len(l.turnX) > 0 || l.dir[0] != t.loops[0].dir[0] })
}

// refuseSigma1 says what the loops know of sigma1.
func (t *tied) refuseSigma1(sol *fit.Solution) {
	fast := 0.0
	for _, l := range t.loops {
		fast = max(fast, floats.Norm(l.zdot, math.Inf(1)))
	}
	why := fmt.Sprintf("a slow loop does not show it: bristles move at %.2g %s at most", fast, t.turns.unit("m/s"))
	if c, se := sol.Params[t.rate].Value, t.se(sol, t.rate); !math.IsInf(se, 0) {
		sol.Extra["rate"], sol.Extra["rate_se"] = c, se
		if share := c * fast / sol.Params[t.loops[0].level[0]].Value; math.Abs(share) > fastShare && math.Abs(c) > 2*se {
			sol.Notes = append(sol.Notes, fmt.Sprintf("%.1f %% of the force go with the rate of the bristle: the loop was drawn fast, or the rig "+
				"has losses of its own; it is allowed for, but draw the loop slower", 100*share))
		}
	}
	sol.Unidentifiable = append(sol.Unidentifiable, fit.Indistinct{Names: []string{"sigma1"}, Reason: why, Advice: sigma1Advice})
}

// begin looks for a better start than the given one. On a branch u is a straight line over exp(−κ·|x − x_j|) with κ = σ0/Fs,
// whose level at the far end is offset ± Fs: κ by a grid, the levels by regression.
func (t *tied) begin() {
	l := t.loops[0]
	up, down := l.level[0], l.level[1]
	given := fit.Values(t.params)
	best, cost, slope := [2]float64{}, math.Inf(1), 0.0 // levels forward and backward, κ
	for i := range 60 {
		kappa := 0.03 / l.reach * math.Pow(1e4, float64(i)/59)
		sum, level, weight := 0.0, [2]float64{}, [2]float64{}
		for _, l := range t.loops {
			for p := range l.pieceStarts {
				a, w, rest := l.asymptote(p, kappa)
				d := direction(l.dir[p])
				sum, level[d], weight[d] = sum+rest, level[d]+w*a, weight[d]+w
			}
		}
		if sum < cost {
			cost, slope = sum, kappa
			for d := range best {
				best[d] = level[d] / weight[d] // NaN without a branch of this direction
			}
		}
	}
	set := func(i int, v float64) {
		if p := &t.params[i]; !p.Fixed && !math.IsNaN(v) {
			p.Value = min(max(v, p.Lo), p.Hi)
		}
	}
	switch fs := t.params[up].Value; {
	case l.relaxed:
		set(l.offset, l.u[0])
	case t.static != nil: // which knows Fs
		set(l.offset, stat.Mean(numeric.OnlyFinite(best[0]-fs, best[1]+fs), nil))
	default:
		set(l.offset, (best[0]+best[1])/2)
	}
	off := t.params[l.offset].Value
	switch {
	case t.static != nil:
	case up == down:
		set(up, stat.Mean(numeric.OnlyFinite(best[0]-off, off-best[1]), nil))
	default:
		set(up, best[0]-off)
		set(down, off-best[1])
	}
	set(l.sigma0, slope*(t.params[up].Value+t.params[down].Value)/2)
	for _, l := range t.loops {
		if !l.relaxed {
			t.params[l.start].Value = l.u[0] - off
		}
	}
	if found := fit.Values(t.params); t.roughCost(given) < t.roughCost(found) {
		for i := range given {
			t.params[i].Value = given[i]
		}
	}
}

// asymptote is the level to which a branch tends at a given κ, with its weight and what is left over.
func (l *loop) asymptote(p int, kappa float64) (level, weight, rest float64) {
	from, to := l.pieceStarts[p], l.end(p)
	var e, u []float64
	for k := from; k < to; k += 1 + len(l.u)/1000 {
		e, u = append(e, math.Exp(-max(kappa*l.dir[p]*(l.x[k]-l.x[from]), -30))), append(u, l.u[k])
	}
	level, b := line(e, u)
	m := stat.Mean(e, nil)
	for k := range e {
		r := u[k] - level - b*e[k]
		rest, weight = rest+r*r, weight+(e[k]-m)*(e[k]-m)
	}
	return level, weight + 1e-300, rest
}

// roughCost is the sum of squares over some hundred samples when every branch begins where it was measured to begin.
func (t *tied) roughCost(theta []float64) float64 {
	cost := 0.0
	for _, l := range t.loops {
		off := theta[l.offset]
		for k := 0; k < len(l.u); k += 1 + len(l.u)/1000 {
			p, from := l.part[k], l.pieceStarts[l.part[k]]
			f, _ := l.branchForce(theta, l.dir[p], l.x[k], l.x[from], l.u[from]-off)
			r := f + off - l.u[k]
			cost += r * r
		}
	}
	return cost
}

// swing is the largest force of a bristle in the loops as a share of break-away.
func (t *tied) swing(sol *fit.Solution) float64 {
	top := 0.0
	for _, l := range t.loops {
		fs := min(sol.Params[l.level[0]].Value, sol.Params[l.level[1]].Value)
		for _, u := range l.u {
			top = max(top, math.Abs(u-t.params[l.offset].Value)/fs)
		}
	}
	return top
}
