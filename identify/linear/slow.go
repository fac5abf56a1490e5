package linear

import (
	"fmt"
	"math"
	"slices"

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
	restErrs   = 4.0   // standard deviations of the velocity noise that rest may show
	restCounts = 1.5   // counts of an encoder within a period of the band: slower motion has no even velocity
	restShare  = 0.005 // of the top speed, that is slow in any case
	noisyShare = 0.03  // of the top speed, beyond which rest is too fast to be told by the wide band
	slowWorse  = 2.0   // mean square of slow rows over that of fast ones from which on they are left out
	slowRows   = 8     // rows that a mean takes
	fastShare  = 0.5   // of the rows are fast
	leastShare = 0.3   // of the rows that move are kept, however bad the slow ones are
	slowMost   = 0.5   // of the top speed, above which no motion is slow
	restMisses = 2.0   // friction levels that the model misses by at rest and more than friction can
	minorShare = 0.02  // of the rows in one direction, below which there is none
)

// moving tells which samples count: those at least as fast as limit and no nearer than blur to a slower one. nil: all.
func moving(way []float64, limit float64, blur int) []bool {
	if limit == 0 {
		return nil
	}
	out := make([]bool, len(way))
	last := -1 - blur // slow sample
	for k, v := range way {
		if math.Abs(v) < limit || k > 0 && (v > 0) != (way[k-1] > 0) {
			for i := max(k-blur, 0); i < k; i++ {
				out[i] = false
			}
			last = k
		}
		out[k] = k-last > blur
	}
	return out
}

// blurs are the periods of the low-pass of the position that count as slow beside a slow sample: the low-pass mixes what is
// there into them, a hundredth of it after two, 7e-5 after four. Where reversals follow each other too closely for that, fewer do.
var blurs = []float64{4, 3, 2, 1, 0.5, 0.25, 0}

const blurKeeps = 0.5 // of the rows there are without blur

// setBlur chooses how many samples beside slow ones do not count.
func (m *form) setBlur(s Spec, parts []part, limit [2]float64) {
	counts := make([][]int, len(parts))
	samples := func(periods float64) int { return int(math.Ceil(periods / (s.Cutoff * m.f.dt))) }
	fit.Each(len(parts), func(i int) {
		p := parts[i]
		way := m.way(p.rec, p.from, p.to)
		counts[i] = make([]int, len(blurs))
		for b, periods := range blurs {
			look := moving(way, limit[m.joint(p.rec)], samples(periods))
			for k := range p.n {
				counts[i][b] += indicator(look == nil || m.share(look, p.first+k*p.every) >= m.whole)
			}
		}
	})
	total := make([]int, len(blurs))
	for _, c := range counts {
		for b, n := range c {
			total[b] += n
		}
	}
	for b, periods := range blurs {
		if m.f.blur = samples(periods); float64(total[b]) >= blurKeeps*float64(total[len(blurs)-1]) {
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
		f(r.of[i], from, to)
	}
}

// joint is 0 or 1 for a record of two joints, 0 for one axis.
func (m *form) joint(rec int) int { return rec % 2 * indicator(m.joints) }

// each calls f with every row of a joint that is kept.
func (r *regression) each(joint int, f func(k int)) {
	r.eachPiece(func(rec, from, to int) {
		for k := from; k < to; k++ {
			if r.form.joint(rec) == joint && r.kept[k] {
				f(k)
			}
		}
	})
}

// turns tells whether the model has a term that depends on the direction of motion.
func (s Spec) turns() bool {
	return slices.ContainsFunc(s.Terms, func(t Term) bool { return t.rough() || t == ViscousPlus || t == ViscousMinus })
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
			gain := math.Sqrt(filter.Mean(func(w float64) float64 {
				g := low.Gain(w) * filter.Slope(w) / m.f.dt
				return g * g
			}))
			return max(restErrs*gain*noise, restCounts*band*step, restShare*top)
		}
		if limit[i] = rest(m.f.smooth, s.Cutoff); limit[i] > noisyShare*top {
			m.f.noisy = true
		}
		if m.f.noisy {
			limit[i] = rest(m.f.calm, directionShare*s.band(1/m.f.dt))
		}
	}
	return limit
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
	for _, k := range r.kept {
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
	r.each(joint, func(k int) { speed, square = append(speed, math.Abs(r.v[k])), append(square, e[k]*e[k]) })
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
		if n >= slowRows && hi <= most && sum > slowWorse*fast*float64(n) {
			return hi
		}
	}
	return 0
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
		r.each(joint, func(k int) {
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
			return fmt.Sprintf("in slow motion the force is off by %.3g %s forward and %.3g backward, the same way: the velocity is not zero where the axis turns. Look whether the sensor of position drifts", m0, r.unit, m1)
		}
	}
	return ""
}

// beyondFriction looks at the rows that are left out as slow. Friction of an axis at rest lies between its levels in both
// directions; where the model misses by more, slow motion is no excuse, and the rows have to stay.
func (r *regression) beyondFriction(parts []part) (string, error) {
	if r.spec.MinVelocity != FromRecord || r.form.free || r.rowsKept() == len(r.kept) {
		return "", nil
	}
	all, err := r.spec.assemble(r.recs, r.form, parts, [2]float64{}, [2]float64{})
	if err != nil {
		return "", err
	}
	all.push(r.lag, r.held)
	theta, err := r.theta()
	if err != nil {
		return "", err
	}
	friction := 0.0
	for j, c := range r.columns {
		if c.term.rough() {
			friction = math.Max(friction, math.Abs(theta[j]))
		}
	}
	var square, n [2]float64 // of rows left out, of those kept
	for k, e := range all.misfit(theta[:len(r.w)]) {
		i := indicator(r.kept[k])
		square[i], n[i] = square[i]+e*e, n[i]+1
	}
	miss := math.Sqrt(square[0] / n[0])
	if friction == 0 || miss < restMisses*friction || square[0]/n[0] < slowWorse*square[1]/n[1] {
		return "", nil
	}
	return fmt.Sprintf("in slow motion the model misses by %.3g %s rms, more than friction of %.3g %s can explain: the slow rows are not left out", miss, r.unit, friction, r.unit), nil
}

// oneWay tells that next to all of the rows of a joint are of motion in one direction.
func (r *regression) oneWay(joint int) (few, all int, yes bool) {
	var n [2]int
	r.each(joint, func(k int) {
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
	coulomb := slices.IndexFunc(r.spec.Terms, Term.rough)
	if coulomb < 0 {
		return nil
	}
	for joint := range 2 {
		few, all, yes := r.oneWay(joint)
		switch {
		case !yes:
		case !r.spec.has(Offset):
			r.single = true
		default:
			return OneNumber(r.spec.Terms[coulomb], few, all)
		}
	}
	return nil
}

// slowNote says what was left out.
func (r *regression) slowNote(units string) string {
	n := len(r.kept) - r.rowsKept()
	if n == 0 {
		return ""
	}
	limit := fmt.Sprintf("%.3g", r.slowest[0])
	if r.form.joints {
		limit += fmt.Sprintf(" and %.3g", r.slowest[1])
	}
	return fmt.Sprintf("%.0f %% of the rows are slower than %s %s and left out: friction is not that of sliding there, or the direction of motion is not known", 100*float64(n)/float64(len(r.kept)), limit, units)
}
