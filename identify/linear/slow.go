package linear

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
	"hilrig/identify/filter"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Friction is that of sliding only above some speed: below it the direction of motion is noise, the contact sticks or slides
// within its bristles, or creeps where the Stribeck dip is. Rows of slow motion are therefore left out. What is slow is taken
// from the record: at first what the noise of the position cannot tell from rest; then, as long as the slowest rows are
// explained clearly worse than the fast ones, more of them.

// FromRecord as least speed of the rows has it found in the record.
const FromRecord = -1.0

const (
	restErrs    = 4.0   // standard deviations of the velocity noise that rest may show
	restCounts  = 1.5   // counts of an encoder within a period of the band: slower motion has no even velocity
	restShare   = 0.005 // of the top speed, that is slow in any case
	noisyShare  = 0.03  // of the top speed, beyond which rest is too fast to be told by the wide band
	slowWorse   = 2.0   // mean square of slow rows over that of fast ones from which on they are left out
	slowRows    = 8     // rows that a mean takes
	fastShare   = 0.5   // of the rows are fast
	minRowShare = 0.3   // of the rows that move are kept, however bad the slow ones are
	slowMost    = 0.5   // of the top speed, above which no motion is slow
	restMisses  = 2.0   // friction levels that the model misses by at rest and more than friction can
	minorShare  = 0.02  // of the rows in one direction, below which there is none
	softErrs    = 3.0   // standard errors from which on friction is less, or more, behind reversals …
	goesOnErrs  = 1.0   // … and from which on what shows nearer to the reversal goes on …
	softLeft    = 0.002 // of the friction may be missing in the rows that stay
	softShare   = 0.01  // … if that is also more than this of the friction: less is what the low-pass makes of a reversal
)

// sinceReversal is the way (m or rad) behind the last reversal, at every sample, in borrowed memory; fresh: the record begins here, and
// what was before is not known.
func sinceReversal(way []float64, dt float64, fresh bool) []float64 {
	out, since, before := filter.Borrow(len(way)), math.Inf(1), 0.0
	if fresh {
		since = 0
	}
	for k, v := range way {
		if v*before < 0 {
			since = 0
		}
		if v != 0 {
			before = v
		}
		since += math.Abs(v) * dt
		out[k] = since
	}
	return out
}

// movingMask tells which samples count: those at least as fast as limit and no nearer than blur to a slower one, and farther behind a
// reversal than build. nil: all.
func movingMask(way []float64, limit float64, blur int, since []float64, build float64) []bool {
	if limit == 0 {
		return nil
	}
	out := make([]bool, len(way))
	last := -1 - blur // slow sample
	for k, v := range way {
		if math.Abs(v) < limit || k > 0 && (v > 0) != (way[k-1] > 0) {
			for i := max(k-blur, last+1, 0); i < k; i++ {
				out[i] = false
			}
			last = k
		}
		out[k] = k-last > blur && since[k] > build
	}
	return out
}

// blurs are the periods of the low-pass of the position that count as slow beside a slow sample: the low-pass mixes what is
// there into them, a hundredth of it after two, 7e-5 after four. Where reversals follow each other too closely for that, fewer do.
var blurs = []float64{4, 3, 2, 1, 0.5, 0.25, 0}

const blurKeeps = 0.5 // of the rows there are without blur

// setBlur chooses how many samples beside slow ones do not count.
func (m *form) setBlur(s Spec, parts []part, limit [2]float64) {
	rows := func(periods float64) (total float64) { // that are kept
		m.f.blur = int(math.Ceil(periods / (s.Cutoff * m.f.dt)))
		counts := make([]int, len(parts))
		fit.Parallel(len(parts), func(i int) {
			p := parts[i]
			way := m.directionTrack(p.rec, p.start, p.stop).v
			since := sinceReversal(way, m.f.dt, p.start == 0)
			look := movingMask(way, limit[m.joint(p.rec)], m.f.blur, since, m.f.build[m.joint(p.rec)])
			filter.Return(since)
			for k := range p.n {
				counts[i] += indicator(look == nil || m.share(look, p.firstSample+k*p.rowStep) >= m.minMovingShare)
			}
		})
		for _, n := range counts {
			total += float64(n)
		}
		return total
	}
	least := blurKeeps * rows(0)
	for _, periods := range blurs {
		if rows(periods) >= least {
			return
		}
	}
}

// eachPiece calls f with the record and the rows of every piece.
func (r *regression) eachPiece(f func(rec, from, to int)) {
	for i, from := range r.pieces {
		to := len(r.y)
		if i+1 < len(r.pieces) {
			to = r.pieces[i+1]
		}
		f(r.pieceRecord[i], from, to)
	}
}

// joint is 0 or 1 for a record of two joints, 0 for one axis.
func (m *form) joint(rec int) int { return rec % 2 * indicator(m.joints) }

// eachFittedRow calls f with every row of a joint that is kept.
func (r *regression) eachFittedRow(joint int, f func(k int)) {
	r.eachPiece(func(rec, from, to int) {
		for k := from; k < to; k++ {
			if r.form.joint(rec) == joint && r.fittedRows[k] {
				f(k)
			}
		}
	})
}

// turns tells whether the model has a term that depends on the direction of motion.
func (s Spec) turns() bool {
	return slices.ContainsFunc(s.Terms, func(t Term) bool { return t.jumpsAtReversal() || t == ViscousPlus || t == ViscousMinus })
}

// restSpeed is the speed below which the position does not tell the direction, for every joint. It decides from which of the
// two low-passes the direction is taken: from that of the fit, which shows best when motion begins, or where that is too
// noisy from the narrower one.
func (s Spec) restSpeed(recs []*record.Record, m *form) (limit [2]float64) {
	var x [2][][]float64
	for i, d := range recs {
		x[m.joint(i)] = append(x[m.joint(i)], d.Position)
	}
	for i := range x {
		if x[i] == nil {
			continue
		}
		noise, step, top := numeric.Noise(x[i]...), numeric.EncoderStep(x[i]...), topSpeed(x[i], m.f.dt)
		rest := func(low filter.Lowpass, band float64) float64 {
			return RestSpeed(low, band, m.f.dt, noise, step, top)
		}
		if limit[i] = rest(m.f.positionLowpass, s.Cutoff); limit[i] > noisyShare*top {
			m.f.noisy = true
		}
		if m.f.noisy {
			limit[i] = rest(m.f.halfBandLowpass, directionShare*s.band(1/m.f.dt))
		}
	}
	return limit
}

// RestSpeed is the speed that a position does not tell from rest behind a low-pass of the given band (Hz), with samples every dt (s): by
// its white noise, the step of its encoder, and the top speed.
func RestSpeed(low filter.Lowpass, band, dt, noise, step, top float64) float64 {
	gain := math.Sqrt(filter.Mean(func(w float64) float64 {
		g := low.Gain(w) * filter.Slope(w) / dt
		return g * g
	}))
	return max(restErrs*gain*noise, restCounts*band*step, restShare*top)
}

// topSpeed is the speed that is seldom exceeded, by differences over many samples.
func topSpeed(pieces [][]float64, dt float64) float64 {
	const over = 20
	var v []float64
	for _, x := range pieces {
		stride := max(1, len(x)/20000)
		for k := 0; k+over < len(x); k += stride {
			v = append(v, math.Abs(x[k+over]-x[k])/(over*dt))
		}
	}
	if v == nil {
		return 0
	}
	return numeric.QuantileInPlace(v, 0.98)
}

// rowsKept is the number of rows that are kept.
func (r *regression) rowsKept() (n int) {
	for _, k := range r.fittedRows {
		n += indicator(k)
	}
	return n
}

// slower are the limits from which on the residual is no larger than that of fast rows.
func (r *regression) slower() ([2]float64, error) {
	limit := r.slowest
	theta, err := r.theta()
	if err != nil {
		return limit, err
	}
	e := r.misfit(theta)
	for joint := range limit {
		limit[joint] = math.Max(limit[joint], r.slowLimit(joint, e))
	}
	return limit, nil
}

// slowLimit is the speed below which the rows of a joint have a residual e larger than that of the fast half.
func (r *regression) slowLimit(joint int, e []float64) float64 {
	var speed, square []float64
	r.eachFittedRow(joint, func(k int) { speed, square = append(speed, math.Abs(r.v[k])), append(square, e[k]*e[k]) })
	if len(speed) < 2*slowRows {
		return 0
	}
	half := numeric.Quantile(speed, fastShare)
	most := slowMost * numeric.Quantile(speed, 0.98)
	fast, n := 0.0, 0
	for k, s := range speed {
		if s >= half {
			fast, n = fast+square[k], n+1
		}
	}
	fast /= float64(n)
	// bins an octave wide, from the fast end down
	for hi := half; hi > half/1024; hi /= 2 {
		sum, n := 0.0, 0
		for k, s := range speed {
			if s >= hi/2 && s < hi {
				sum, n = sum+square[k], n+1
			}
		}
		if n >= slowRows && hi <= most && sum > slowWorse*fast*float64(n) && r.misses(joint, e, hi/2, hi) {
			return hi
		}
	}
	return 0
}

// misses tells whether a residual e between two speeds is more than noise, which differs with the speed as well: rounding of the position
// does with the frequency of the motion. What the model misses is alike whenever the axis passes there forward or backward, faster or
// slower.
func (r *regression) misses(joint int, e []float64, from, to float64) bool {
	var of [4]miss
	pass, last := 0, 0
	r.eachFittedRow(joint, func(k int) {
		v := math.Abs(r.v[k])
		if v < from || v >= to {
			return
		}
		if k != last+1 {
			pass++
		}
		last = k
		faster := math.Abs(r.v[min(k+1, len(r.v)-1)]) > math.Abs(r.v[max(k-1, 0)])
		of[2*indicator(r.v[k] < 0)+indicator(faster)].add(pass, e[k])
	})
	few := true
	for i := range of {
		mean, err, ok := of[i].mean()
		if ok && math.Abs(mean) > softErrs*err {
			return true
		}
		few = few && !ok
	}
	return few
}

// builtUp is the way behind reversals (m or rad) along which friction builds up, for every joint; 0: it jumps. A bristle gives way over a
// length, however fast the axis is by then: what is missing of friction is of one sign behind every reversal and decays with the way. The
// mean over many reversals tells that long before the square does. An octave more than shows is left out: what decays over the octave that
// shows nothing any more is gone behind it.
func (r *regression) builtUp() (build [2]float64) {
	build = r.form.f.build
	columns, e, friction := r.beyondDrag()
	if e == nil || r.inertiaShrinkage() > softShare {
		return build
	}
	for joint := range build {
		if seen := r.builtUpOf(joint, e, softShare*friction[joint]); seen > build[joint] {
			build[joint] = math.Max(seen, r.builtUpAlong(joint, columns, friction[joint], seen))
		}
	}
	return build
}

// builtUpAlong is the way behind reversals beyond which no more than softLeft of the friction is missing, if what is missing decays
// exponentially over the length that explains most beside the columns of the model. Those take their part of it: what they leave over
// alone looks shorter than it is. seen is the way that shows.
func (r *regression) builtUpAlong(joint int, columns [][]float64, friction, seen float64) (way float64) {
	missing := make([]float64, len(r.y))
	theta := make([]float64, len(columns)+1)
	least := math.Inf(1)
	for length := seen / 32; length <= seen; length *= math.Sqrt2 {
		r.eachFittedRow(joint, func(k int) { missing[k] = numeric.Sign(r.v[k]) * math.Exp(-r.reversalDistance[k]/length) })
		f := r.factor(append(columns[:len(columns):len(columns)], missing))
		if f.Solve(theta) != nil || f.SumSquares() >= least {
			continue
		}
		least = f.SumSquares()
		way = length * math.Log(math.Max(1, math.Abs(theta[len(columns)])/(softLeft*friction)))
	}
	return way
}

// beyondDrag is what the model leaves over with a drag in it, and its columns: where motion is periodic, what grows with the square of
// the speed looks like something that belongs to the way behind reversals. friction is that of every joint. nil: not known.
func (r *regression) beyondDrag() (columns [][]float64, e []float64, friction [2]float64) {
	w, named := r.regressor()
	columns = slices.Clone(w)
	for joint := range 1 + indicator(r.form.joints) {
		drag := make([]float64, len(r.y))
		r.eachFittedRow(joint, func(k int) { drag[k] = r.v[k] * math.Abs(r.v[k]) })
		columns = append(columns, drag)
	}
	theta := make([]float64, len(columns))
	if r.factor(columns).Solve(theta) != nil {
		return nil, nil, friction
	}
	e = slices.Clone(r.y)
	for j, c := range columns {
		floats.AddScaled(e, -theta[j], c)
		if j < len(named) && named[j].term.jumpsAtReversal() {
			joint := indicator(strings.HasSuffix(named[j].name, "2"))
			friction[joint] = math.Max(friction[joint], math.Abs(theta[j]))
		}
	}
	return columns, e, friction
}

// inertiaShrinkage is the share by which noise of the position draws the inertia towards zero: what is missing of the acceleration,
// which has the sign of the velocity behind every reversal, looks like friction that builds up.
func (r *regression) inertiaShrinkage() float64 {
	at := slices.IndexFunc(r.columns, func(c column) bool { return c.term == Inertia })
	if at < 0 {
		return 0
	}
	var x [][]float64
	for _, d := range r.recs {
		x = append(x, d.Position)
	}
	noise, square, n := numeric.Noise(x...), 0.0, 0.0
	for k, keep := range r.fittedRows {
		if keep {
			square, n = square+r.w[at][k]*r.w[at][k], n+1
		}
	}
	return r.form.f.noise()[2][2] * noise * noise * n / square
}

// octaves are looked at, from the longest way between reversals down.
const octaves = 12

// builtUpOf is builtUp of a joint, for a residual e of which no more than least is little.
func (r *regression) builtUpOf(joint int, e []float64, least float64) float64 {
	var ways []float64
	r.eachFittedRow(joint, func(k int) {
		if !math.IsInf(r.reversalDistance[k], 1) {
			ways = append(ways, r.reversalDistance[k])
		}
	})
	if len(ways) < 2*slowRows {
		return 0
	}
	top := numeric.QuantileInPlace(ways, 0.9)
	var of [octaves]miss
	reversal, before, last := 0, 0.0, -1
	r.eachFittedRow(joint, func(k int) {
		if r.reversalDistance[k] < before || k > last+1 && r.v[k]*r.v[max(last, 0)] < 0 {
			reversal++
		}
		before, last = r.reversalDistance[k], k
		if i := int(math.Floor(math.Log2(top / r.reversalDistance[k]))); i >= 0 && i < octaves && r.v[k] != 0 {
			of[i].add(reversal, numeric.Sign(r.v[k])*e[k])
		}
	})
	build, near := 0.0, 0.0 // near: what is missing in the octave nearer to the reversal
	shows := softErrs
	for i := octaves - 1; i >= 2; i-- { // the longest quarter of the way is what the others are compared with
		mean, err, ok := of[i].mean()
		switch {
		case !ok:
			continue
		case mean*near < 0 || near != 0 && math.Abs(mean) > math.Abs(near) || math.Abs(mean) < math.Max(shows*err, least):
			return build
		}
		build, near, shows = 2*math.Ldexp(top, -i), mean, goesOnErrs
	}
	return build
}

// miss is what a model misses in a part of the motion. Rows of one pass are one draw.
type miss struct {
	n, sum, rowsSquared, passSum, rows float64 // n: passes that are done
	square, cross, count               float64
	pass                               int
}

func (s *miss) add(pass int, miss float64) {
	if pass != s.pass {
		s.close()
		s.pass = pass
	}
	s.passSum, s.rows = s.passSum+miss, s.rows+1
}

// close ends a pass.
func (s *miss) close() {
	if s.rows == 0 {
		return
	}
	s.n, s.sum, s.count = s.n+1, s.sum+s.passSum, s.count+s.rows
	s.square, s.cross, s.rowsSquared = s.square+s.passSum*s.passSum, s.cross+s.passSum*s.rows, s.rowsSquared+s.rows*s.rows
	s.passSum, s.rows = 0, 0
}

// mean is the mean over the rows with its standard error between passes; not ok: they are too few.
func (s *miss) mean() (mean, err float64, ok bool) {
	if s.close(); s.n < slowRows {
		return 0, 0, false
	}
	mean = s.sum / s.count
	return mean, math.Sqrt(math.Max(0, s.square-2*mean*s.cross+mean*mean*s.rowsSquared)*s.n/(s.n-1)) / s.count, true
}

// lopsided looks at the rows that r holds and the final regression leaves out for their misfit. What friction does in slow motion
// changes sign with the direction; a misfit that does not tells that the velocity is not zero where the axis turns.
func (r *regression) lopsided(final *regression) string {
	theta, err := final.theta()
	if w, _ := r.regressor(); err != nil || len(w) != len(theta) || r.slowest == final.slowest {
		return ""
	}
	e := r.misfit(theta)
	for joint := range 2 {
		var n, sum, square [2]float64 // forward, backward
		r.eachFittedRow(joint, func(k int) {
			if v := math.Abs(r.v[k]); v >= r.slowest[joint] && v < final.slowest[joint] {
				i := indicator(r.v[k] < 0)
				n[i], sum[i], square[i] = n[i]+1, sum[i]+e[k], square[i]+e[k]*e[k]
			}
		})
		if min(n[0], n[1]) < slowRows {
			continue
		}
		m0, m1 := sum[0]/n[0], sum[1]/n[1]
		scatter := math.Sqrt((square[0]/n[0]-m0*m0)/n[0] + (square[1]/n[1]-m1*m1)/n[1])
		if even, odd := math.Abs(m0+m1)/2, math.Abs(m0-m1)/2; even > 3*scatter && even > 0.4*odd {
			return fmt.Sprintf("in slow motion the force is off by %.3g %s forward and %.3g backward, the same way: the velocity is not zero "+
				"where the axis turns. Look whether the sensor of position drifts", m0, r.unit, m1)
		}
	}
	return ""
}

// beyondFriction looks at the rows that are left out as slow. Friction of an axis at rest lies between its levels in both
// directions; where the model misses by more, slow motion is no excuse, and the rows have to stay.
func (r *regression) beyondFriction(parts []part) (string, error) {
	if r.spec.MinVelocity != FromRecord || r.form.undriven || r.rowsKept() == len(r.fittedRows) {
		return "", nil
	}
	all, err := r.spec.assemble(r.recs, r.form, parts, [2]float64{}, [2]float64{}, false)
	if err != nil {
		return "", err
	}
	all.push(r.lag, r.zeroOrderHold)
	theta, err := r.theta()
	if err != nil {
		return "", err
	}
	friction := 0.0
	for j, c := range r.columns {
		if c.term.jumpsAtReversal() {
			friction = math.Max(friction, math.Abs(theta[j]))
		}
	}
	var square, n [2]float64 // of rows left out, of those kept
	for k, e := range all.misfit(theta[:len(r.w)]) {
		i := indicator(r.fittedRows[k])
		square[i], n[i] = square[i]+e*e, n[i]+1
	}
	miss := math.Sqrt(square[0] / n[0])
	if friction == 0 || miss < restMisses*friction || square[0]/n[0] < slowWorse*square[1]/n[1] {
		return "", nil
	}
	return fmt.Sprintf("in slow motion the model misses by %.3g %s rms, more than friction of %.3g %s can explain: the slow rows are not "+
		"left out", miss, r.unit, friction, r.unit), nil
}

// oneWay tells that next to all of the rows of a joint are of motion in one direction.
func (r *regression) oneWay(joint int) (few, all int, yes bool) {
	var n [2]int
	r.eachFittedRow(joint, func(k int) {
		if r.v[k] != 0 {
			n[indicator(r.v[k] < 0)]++
		}
	})
	few, all = min(n[0], n[1]), n[0]+n[1]
	return few, all, OneWay(few, all)
}

// OneWay tells that of all rows so few in the other direction are as good as none.
func OneWay(few, all int) bool {
	return all > 0 && (few < slowRows || float64(few) < minorShare*float64(all))
}

// OneNumber refuses Coulomb friction together with a constant force, where few of all rows are in the other direction.
func OneNumber(coulomb Term, few, all int) error {
	terms := []Term{coulomb, Offset}
	return &Unidentifiable{Condition: math.Inf(1), Limit: MaxCondition, Combinations: []Combination{{
		Terms: terms, Weights: []float64{1, -1}, Residue: 2 * math.Sqrt(float64(few)/float64(all)), Advice: advice(terms),
	}}}
}

// oneNumber refuses Coulomb friction together with a constant force where next to all motion is in one direction: they are one
// number there. Without a constant force among the terms it is a doubt.
func (r *regression) oneNumber() error {
	coulomb := slices.IndexFunc(r.spec.Terms, Term.jumpsAtReversal)
	if coulomb < 0 {
		return nil
	}
	for joint := range 2 {
		few, all, yes := r.oneWay(joint)
		switch {
		case !yes:
		case !r.spec.hasTerm(Offset):
			r.single = true
		default:
			return OneNumber(r.spec.Terms[coulomb], few, all)
		}
	}
	return nil
}

// slowNote says what was left out.
func (r *regression) slowNote(units string) string {
	n := len(r.fittedRows) - r.rowsKept()
	if n == 0 {
		return ""
	}
	limit := fmt.Sprintf("%.3g", r.slowest[0])
	if r.form.joints {
		limit += fmt.Sprintf(" and %.3g", r.slowest[1])
	}
	behind := ""
	if b := r.form.f.build; b[0] > 0 || b[1] > 0 {
		behind = fmt.Sprintf(", or less than %.2g %s behind a reversal, where friction still builds up,", math.Max(b[0], b[1]),
			strings.TrimSuffix(units, "/s"))
	}
	return fmt.Sprintf("%.0f %% of the rows are slower than %s %s%s and left out: friction is not that of sliding there, or the direction "+
		"of motion is not known", 100*float64(n)/float64(len(r.fittedRows)), limit, units, behind)
}
