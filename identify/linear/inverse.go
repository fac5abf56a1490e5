// Package linear finds the parameters of a measured axis in which its model is linear.
//
// # Problem
//
// An axis is driven by a known force (a torque on a rotary axis) and its position is recorded. Wanted are its inertia, its
// friction, and how well the record supports them. The model is linear in its parameters:
//
//	F = M·a + Fv·v + Fc·sgn(v) + offset            (and variants, see Term)
//
// with F the force of the drive, positive in the direction of positive position, and friction on the right because the
// drive has to overcome it.
//
// # Method
//
// Inverse dynamics by linear least squares, the procedure published with the benchmark [EMPS]: velocity and acceleration
// are differences of the position after a zero-phase low-pass; regressor columns and force pass the same zero-phase
// decimation filter [G96] and are decimated; a triangular factor of the regressor, built by Householder reflections in blocks
// of rows, gives θ. Standard errors are those of package fit: classical, for independent residuals of equal size, and robust
// [NW87][A91], for residuals that depend on their neighbours, which is the rule because a friction law is never exact.
//
// That is the direct form. Noise of the position draws it towards zero; the other forms are for that: the weak form, which
// takes no derivative of data; instrumental variables, which are not drawn at all; total least squares, if the ratio of the
// two noises is known. Several records are fitted together, and what differs between them is said. TwoJoint does the same
// for two coupled joints.
//
// Columns that the record cannot tell apart are found by the singular values of the regressor and refused, by name.
//
// # Assumptions
//
// Sampling is even. The position is exact up to its resolution: noise that survives the low-pass biases the result (least
// squares takes the columns as exact). The force is what the gain says: no saturation, no lag worth mentioning. Friction is
// that of sliding: below some speed, presliding and the Stribeck dip are not in the model, see Spec.MinVelocity.
//
// Quantities are SI; references resolve in docs/reference/references.md.
package linear

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"hilrig/identify/filter"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// InverseDynamics fits the terms of s to the record d. The error is a *SpecError, a *record.Error or, where the record cannot
// answer the question, *Unidentifiable; there are no parameters then.
func InverseDynamics(d *record.Record, s Spec) (*Result, error) {
	return Fit([]*record.Record{d}, s, Direct, Options{})
}

// Fit fits the terms of s to all records at once, in the given form. Errors are as those of InverseDynamics.
func Fit(recs []*record.Record, s Spec, by Form, o Options) (*Result, error) {
	if err := s.options(by, o); err != nil {
		return nil, err
	}
	return fitted(recs, s, by, o, func(s Spec, recs []*record.Record) (*form, error) {
		if by == Weak {
			return s.weak(recs)
		}
		return s.direct(recs, by != Direct || s.MinVelocity == FromRecord)
	})
}

// maker makes the form of records.
type maker func(Spec, []*record.Record) (*form, error)

// fitted prepares rows, decides which of them count and by how much the force is late, and solves.
func fitted(recs []*record.Record, s Spec, by Form, o Options, of maker) (*Result, error) {
	start := time.Now()
	if len(recs) > 0 {
		s = s.At(1 / recs[0].Dt)
	}
	r := &Result{Spec: s, Warnings: []string{}, formMaker: of}
	var reg *regression
	var sol *solution
	once := func() (err error) {
		if reg, sol, err = s.solved(recs, by, o, of); err != nil {
			return err
		}
		if r.alternative = reg.alternative; !o.ValuesOnly {
			r.HalfCutoff = reg.halfBandSolution(by, o, sol.theta)
		}
		record.Release(len(reg.y))
		return r.fill(reg, sol, o)
	}
	if err := once(); err != nil {
		return nil, err
	}
	lag := r.estimate(s.nameOf(Lag))
	if lag != nil && s.Lag == LagAuto && (reg.lagWithin > 0 ||
		lag.RobustErr > reg.form.f.dt && (lag.RobustCI95[0] < 0 && lag.RobustCI95[1] > 0 || sol.lagDrowned)) {
		// the record does not tell it: that it is small is known better
		s.Lag, r.Spec = LagFixed, s
		within := math.Max(-lag.RobustCI95[0], lag.RobustCI95[1])
		note := fmt.Sprintf("the record tells the lag of the force to ± %.2g s only; it is taken for zero", lag.RobustErr)
		if reg.lagWithin > 0 {
			within = reg.lagWithin
			note = fmt.Sprintf("no lag of the force explains the record as well as any within ± %.2g s; it is taken for zero", within)
		}
		if err := once(); err != nil {
			return nil, err
		}
		r.sol.Notes, r.sol.LagWithin = append(r.sol.Notes, note), within
	}
	for _, d := range recs {
		for _, w := range d.Warnings {
			if !slices.Contains(r.Warnings, w) {
				r.Warnings = append(r.Warnings, w)
			}
		}
	}
	r.Warnings = append(r.Warnings, record.ShortList(reg.omittedRecords)...)
	if w := reg.slowNote(s.unit("m/s")); w != "" && s.MinVelocity == FromRecord {
		r.Warnings = append(r.Warnings, w)
	}
	r.SlowRows = len(reg.fittedRows) - reg.rowsKept()
	r.Doubts, r.OneWay = append(r.Doubts, reg.doubts...), reg.single
	r.Compute = time.Since(start).Seconds()
	return r, nil
}

// solved is the regression of all rows, and the solution of those that are kept.
func (s Spec) solved(recs []*record.Record, by Form, o Options, of maker) (*regression, *solution, error) {
	m, err := of(s, recs)
	if err != nil {
		return nil, nil, err
	}
	reg, err := s.buildRegression(recs, m)
	if err != nil {
		return nil, nil, err
	}
	if by == Instrumental {
		if err := reg.instruments(); err != nil {
			return nil, nil, err
		}
	}
	sol, err := reg.solve(by, o)
	return reg, sol, err
}

// probeSamples are enough to decide by what is slow and how late the force is.
const probeSamples = 1 << 19

// buildRegression decides which samples count and what the lag is, and gives the regression with them.
func (s Spec) buildRegression(recs []*record.Record, m *form) (*regression, error) {
	parts, left, err := s.stretches(recs, m)
	if err != nil {
		return nil, err
	}
	probe, samples := parts, 0
	for _, p := range parts {
		samples += p.n * p.rowStep
	}
	if thin := samples / probeSamples; thin > 1 && len(parts) > 1 {
		probe = nil
		for i := 0; i < len(parts); i += thin {
			probe = append(probe, parts[i])
		}
	}

	m.tracks = map[trackKey]track{}
	defer func() { m.tracks = nil }()
	least := math.Max(s.MinVelocity, 0)
	limit := [2]float64{least, least}
	found := s.MinVelocity == FromRecord && s.turns()
	if found {
		limit = s.restSpeed(recs, m)
	}
	if limit != [2]float64{} {
		m.setBlur(s, probe, limit)
	}
	lag := 0.0
	if s.wantsLag() && !m.undriven {
		r, err := s.assemble(recs, m, probe, [2]float64{}, limit, false)
		if err == nil {
			err = r.checkRowCount(found)
		}
		if err != nil {
			return nil, err
		}
		lag = r.searchLag()
	}
	var known *regression // that tells what the force does between its samples
	try := func(parts []part, limit [2]float64) (*regression, error) {
		r, err := s.assemble(recs, m, parts, limit, limit, s.wantsLag() && !m.undriven)
		if err == nil {
			err = r.checkRowCount(found)
		}
		if err == nil {
			err = r.findLag(lag, known)
			known = r
		}
		return r, err
	}
	choose := func() (r, rest *regression, err error) { // rest: with all that is faster than rest
		if r, err = try(probe, limit); err != nil {
			return nil, nil, err
		}
		rest = r
		fewest := minRowShare * float64(r.rowsKept())
		few := func(n *regression, err error) bool { return err != nil || float64(n.rowsKept()) < fewest }
		leaveSlow := func(partly bool) (all bool) {
			for {
				next, err := r.slower()
				if err != nil || next == r.slowest {
					return true
				}
				lag = r.lag
				n, err := try(probe, next)
				for partly && few(n, err) {
					if next = octaveSlower(r.slowest, next); next == r.slowest {
						return false
					}
					n, err = try(probe, next)
				}
				if few(n, err) {
					return false
				}
				r = n
			}
		}
		all := !found || leaveSlow(false)
		for found && !m.undriven {
			was, next := m.f.build, r.builtUp()
			if next == was {
				break
			}
			m.f.build, lag = next, r.lag
			n, err := try(probe, r.slowest)
			if few(n, err) {
				m.f.build = was
				break
			}
			r = n
		}
		if !all && m.f.build == [2]float64{} { // neither all that is slow nor what follows reversals
			leaveSlow(true)
		}
		return r, rest, nil
	}
	r, rest, err := choose()
	if err != nil {
		return nil, err
	}
	// rows that were left out since have had a say in what the force does between its samples
	if r != rest && s.wantsLag() && s.betweenOpen() {
		was := r.zeroOrderHold
		known, lag = nil, r.lag
		if r, err = try(probe, r.slowest); err != nil {
			return nil, err
		}
		if r.zeroOrderHold != was {
			m.f.build, lag = [2]float64{}, r.lag
			if r, rest, err = choose(); err != nil {
				return nil, err
			}
		}
	}
	lopsided, dip := rest.lopsided(r), rest.wideDip(r)
	if beyond, err := r.beyondFriction(probe); err != nil {
		return nil, err
	} else if beyond != "" {
		lag, lopsided = r.lag, beyond
		if r, err = try(probe, [2]float64{}); err != nil {
			return nil, err
		}
	}
	other := r.theOther()
	if len(probe) < len(parts) {
		m.tracks = nil // each is wanted a moment later, or never
		lag = r.lag
		if r, err = try(parts, r.slowest); err != nil {
			return nil, err
		}
	}
	r.omittedRecords, r.alternative, r.turns = left, other, nil
	if lopsided != "" {
		r.doubts = append(r.doubts, fit.Doubt(fit.MethodDoubt, "%s", lopsided))
	}
	if dip != nil {
		r.doubts = append(r.doubts, *dip)
	}
	if far := lagReach - 1.0; math.Abs(r.lag) > far*m.f.dt {
		how := "later"
		if r.lag < 0 {
			how = "earlier"
		}
		r.doubts = append(r.doubts, fit.Doubt(fit.LateForce, "the force fits best %.0f samples or more %s than its stamp: look at how its time "+
			"stamps are made", far, how))
	}
	return r, nil
}

// octaveSlower are limits an octave slower than next, but none below slowest: where leaving out all that is worse would leave too little,
// as much of the slowest of it is left out as can be.
func octaveSlower(slowest, next [2]float64) [2]float64 {
	for joint := range next {
		if next[joint] /= 2; next[joint] < 1.01*slowest[joint] {
			next[joint] = slowest[joint]
		}
	}
	return next
}

// checkRowCount tells what makes the kept rows useless.
func (r *regression) checkRowCount(found bool) error {
	if want, n := 10*len(r.w), r.rowsKept(); n < want {
		if found {
			return r.recs[0].Fail(0, "Record faster motion, or a finer position; or lower the filter cutoff.",
				"only %d rows are faster than %.3g %s, what the noise of the position cannot tell from rest, want at least %d", n, r.slowest[0],
				r.spec.unit("m/s"), want)
		}
		return r.recs[0].Fail(0, "Lower min_velocity.", "only %d rows are faster than min_velocity %g, want at least %d", n, r.spec.MinVelocity,
			want)
	}
	if err := r.oneNumber(); err != nil {
		return err
	}
	return r.examine()
}

func (s Spec) wantsLag() bool { return s.Lag == LagFree || s.Lag == LagAuto }

// betweenOpen tells that the record decides what the force does between its samples.
func (s Spec) betweenOpen() bool { return s.Intersample != BetweenHold && s.Intersample != BetweenLine }

// findLag makes the lag a parameter if it is wanted and the record tells it. What the force does between its samples is as the
// specification says, as in known, or as it fits better.
func (r *regression) findLag(from float64, known *regression) error {
	defer func() { r.smoothed = nil }()
	hold := r.spec.Intersample == BetweenHold
	if !r.spec.wantsLag() || r.form.undriven {
		r.push(0, hold)
		return nil
	}
	given := !r.spec.betweenOpen()
	if !given && known != nil {
		given, hold = true, known.zeroOrderHold
	}
	_, held, err := r.refineLag(from, hold || !given)
	if err == nil && !given {
		straight := 0.0
		if _, straight, err = r.refineLag(from, false); err == nil && held < straight {
			_, _, err = r.refineLag(r.lag, true)
		}
	}
	if err == nil {
		err = r.examine()
	}
	if r.lagWithin = 0; err == nil && r.spec.Lag == LagAuto && math.Abs(r.lag) > r.form.f.dt {
		r.lagWithin = r.asGoodAsNone()
	}
	if err != nil && r.spec.Lag == LagAuto {
		r.push(0, hold)
		return nil
	}
	return err
}

// otherwise is what the rows make of the parameters where the force does the other thing between its samples.
type otherwise struct {
	zeroOrderHold bool
	paramMoves    []float64 // of the parameters, the lag the last
	worse         float64   // sum of squares over that of the regression
}

// theOther repeats a regression whose lag is a parameter with the force doing the other thing between its samples. nil: that has no answer.
func (r *regression) theOther() *otherwise {
	if r.slope == nil || !r.spec.betweenOpen() {
		return nil
	}
	theta, _, left, err := r.solveLS()
	if err != nil {
		return nil
	}
	r.unattenuated(&solution{theta: theta}, left)
	theta[len(r.w)] += r.lag
	other := *r
	moves, otherLeft, err := other.refineLag(r.lag, !r.zeroOrderHold)
	if err != nil {
		return nil
	}
	floats.Sub(moves, theta)
	return &otherwise{zeroOrderHold: other.zeroOrderHold, paramMoves: moves, worse: otherLeft / left}
}

// halfBandSolution is the solution with the rows once more through a low-pass at half the band. Noise of the position biases the
// parameters the more the wider the band is; where it does not matter, the values stay. nil: the record is too short for that.
func (r *regression) halfBandSolution(by Form, o Options, theta []float64) []float64 {
	low := filter.Butterworth(r.spec.Order, r.spec.band(1/r.form.f.dt)/2, 1/r.dt)
	// what is left out is as the model has it, so that nothing of it reaches other rows
	out := *r
	w, columns := r.regressor()
	e := r.misfit(theta)
	for k, keep := range r.fittedRows {
		if !keep {
			e[k] = 0
		}
	}
	filtered := func(x []float64) []float64 {
		y := make([]float64, 0, len(x))
		r.eachPiece(func(_, from, to int) {
			if to-from > low.Padding() {
				y = append(y, low.ZeroPhase(x[from:to])...)
			} else {
				y = append(y, make([]float64, to-from)...)
			}
		})
		return y
	}
	out.columns, out.slope, out.rowLowpass, out.y = columns, nil, low, filtered(e)
	out.w, out.z = r.mapped(filtered)
	for j := range w {
		floats.AddScaled(out.y, theta[j], out.w[j])
	}
	sol, err := out.solve(by, o)
	if err != nil {
		return nil
	}
	if r.slope != nil {
		sol.theta[len(sol.theta)-1] += r.lag
	}
	return sol.theta
}
