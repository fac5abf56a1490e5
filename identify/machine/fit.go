package machine

import (
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/engine/multibody"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// Result is a fit.
type Result struct {
	Spec           Spec
	Model          *multibody.Model
	Base           *Base
	Start          []float64 // of the base parameters, by the machine file
	Values         []float64 // and as they were found; start where refused
	FreeParams     []int     // base parameters that were found
	Unidentifiable []Unidentifiable
	Solution       *fit.Solution
	HalfCutoff     []float64 // of the free ones, with half the cutoff; nil: not known
	HalfErr        []float64 // and their standard errors; +Inf: not known
	Joints         []Joint
	Widened        []float64     // by how much the standard errors of the free ones change as residuals of joints go together; 1: not at all
	LongRunErr     []float64     // standard errors of the free ones by what is slow of the scores; nil: least squares
	quantile       float64       // 97.5 % of an estimate over these
	RecordingErr   []float64     // standard errors of the free ones with the recordings as the sample; nil: fewer than three
	Groups         int           // of so many
	Share          []float64     // of the free ones: rms of its torques over that of all, weighted, %
	Suspects       []fit.Suspect // what the machine may lack, for the rows of Solution
	GivenErr       []float64     // standard uncertainty of the free ones by that of gains, lengths, axes and zeros
	ExactScales    []fit.ScaleMove
	OneWay         []int // joints that move in one direction: their Coulomb friction and a constant torque are one number
	Warnings       []string
	Compute        time.Duration

	Axis       *linear.Result // of the only joint, fitted as an axis; nil: by the regression of several joints
	AxisSpec   linear.Spec    // for that
	RawRecords []Recording    // its records as they were read

	IV *Instruments // the estimate by instrumental variables; nil: it was not asked for

	scatter []float64 // covariance of the scores of the free ones, columns orthonormal, with the joints together

	sys     *system
	rowTime float64     // s, between rows
	rest    []float64   // rad/s or m/s, least speed by joint
	blur    int         // place among blurs
	motions []Recording // the simulated motions of the last round of IV

	progress *progress
}

// Joint is how well the torque of a joint is explained.
type Joint struct {
	Name     string   `json:"name"`
	Unit     string   `json:"unit"`        // of the torque
	Passive  bool     `json:"passive"`     // no drive acts on it: fit and R² are those of the largest part of its torque, which is zero
	Percent  float64  `json:"fit_percent"` // 100·(1 − ‖e‖/‖y − mean y‖)
	R2       float64  `json:"r2"`          // 1 − ‖e‖²/‖y − mean y‖²
	RMS      float64  `json:"rms"`         // of the residual
	Noise    *float64 `json:"noise"`       // what noise of the records alone would leave over, rms; null: not known
	Rows     int      `json:"rows"`
	SlowRows int      `json:"rows_slow"`   // rows that were left out for being slow
	MinSpeed float64  `json:"least_speed"` // rad/s or m/s, speed below which they were
	Largest  float64  `json:"-"`           // rms of the largest of its parts, as the parameters make them
}

// explain says how well a joint explains y, of which e is left over.
func (j *Joint) explain(y, e []float64) {
	j.Rows, j.RMS, j.Percent = len(e), numeric.RMS(e), fit.Percent(y, e)
	j.R2 = 1 - (1-j.Percent/100)*(1-j.Percent/100)
}

// Fit finds the base parameters from all recordings at once. coulomb has the Coulomb friction of the machine file by joint; nil: none.
// The error is ErrMachine, a *record.Error, about the settings, or that of ctx: there are no values then.
func Fit(ctx context.Context, m *multibody.Model, s Spec, recs []Recording, coulomb []float64, watch fit.Watch) (*Result, error) {
	began := time.Now()
	if err := Check(m); err != nil {
		return nil, err
	}
	asked := s
	s, err := s.resolve(m, recs)
	if err != nil {
		return nil, err
	}
	r := &Result{Spec: s, Model: m, Base: NewBase(m, s, coulomb)}
	if done, err := r.fitAlone(asked, recs); done || err != nil {
		r.Compute = time.Since(began)
		return r, err
	}
	recs = withoutSpikes(recs)
	r.progress = &progress{ctx: ctx, watch: watch}
	for _, rec := range recs {
		r.progress.samples += rec[0].Len()
	}
	rounds := 0.
	if s.Instruments == UseCheck || s.Instruments == UseEstimate {
		rounds = usualRounds
	}
	if err := r.progress.begin("columns of the motion", columnsWork, timingWork+rounds+halfWork+lackingWork); err != nil {
		return nil, err
	}
	r.Start = r.Base.Of(r.Base.Start())
	f := s.filters(recs[0][0].Dt)
	r.rowTime = recs[0][0].Dt * float64(s.Decimate)
	r.rest, s.halfBandDirection = s.restSpeed(m, recs, &f)
	r.Spec = s
	r.blur = findBlur
	if slices.Contains(s.halfBandDirection, true) { // the direction is not known beside reversals: what is left out there says nothing
		r.blur = 0
	}
	p, err := r.Base.prepare(m, s, recs, r.rest, r.blur)
	if err != nil {
		return nil, err
	}
	r.blur = p.blur
	r.Warnings = append(r.Warnings, p.omittedRecordings...)
	if runsIn(recs, s) {
		r.Warnings = append(r.Warnings, "the recordings are short beside the time in which the low-pass runs in at their ends: inertia and "+
			"weight come out 1 to 2 % low, more where the motion hardly tells them apart. Record without gaps, or raise filter.cutoff")
	}
	r.sys = &system{base: r.Base, blocks: p.blocks, joints: m.NV(), start: r.Start}
	if err := r.checkRowCount(p, recs); err != nil {
		return nil, err
	}
	if err := r.checkDrives(recs); err != nil {
		return nil, err
	}
	if err := r.oneWay(); err != nil {
		return nil, err
	}
	if r.Unidentifiable, err = r.sys.solve(); err != nil {
		return nil, err
	}
	if err := r.progress.begin("times of the torques", timingWork, rounds+halfWork+lackingWork); err != nil {
		return nil, err
	}
	if err := r.settleTiming(recs, &f, p); err != nil {
		return nil, err
	}
	r.Values, r.FreeParams = r.sys.theta, r.sys.freeParams
	if rounds > 0 {
		iv := (*system)(nil)
		r.IV, iv = r.instruments(recs)
		if s.Instruments == UseEstimate {
			if iv == nil {
				return nil, &record.Error{Msg: "no estimate by instrumental variables: " + r.IV.Failure,
					Hint: "Take least squares, by instruments.use: check or none, or record more motion."}
			}
			r.sys, r.Values = iv, iv.theta
		}
	}
	r.Solution = r.sys.solution(r.sys.blocks, r.FreeParams, r.rowTime, 1/s.Cutoff)
	if s.Instruments == UseEstimate {
		r.Solution.Lags = r.slowRows(r.IV.Bandwidth)
	}
	r.Joints = r.explain(p, r.Values)
	r.combineJointErrors(r.sys.blocks)
	r.Share = r.shares()
	if err := r.progress.begin("half the cutoff", halfWork, lackingWork); err != nil {
		return nil, err
	}
	r.HalfCutoff, r.HalfErr = r.halfCutoffValues(recs)
	if err := r.progress.begin("what machine and records may lack", lackingWork, 0); err != nil {
		return nil, err
	}
	r.Suspects = r.suspects(recs)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.Compute = time.Since(began)
	return r, nil
}

// oneWay finds the joints that move in one direction where Coulomb friction and an offset are asked for; the only joint is refused, as an
// axis is.
func (r *Result) oneWay() error {
	if !slices.Contains(r.Spec.Terms, Coulomb) || !slices.Contains(r.Spec.Terms, Offset) {
		return nil
	}
	for i := range r.Model.NV() {
		fore, back := 0, 0
		for _, b := range r.sys.blocks {
			for _, v := range b.v {
				if b.joint == i && v > 0 {
					fore++
				} else if b.joint == i && v < 0 {
					back++
				}
			}
		}
		if few, all := min(fore, back), fore+back; linear.OneWay(few, all) {
			if r.Model.NV() == 1 {
				return linear.OneNumber(linear.Coulomb, few, all)
			}
			r.OneWay = append(r.OneWay, i)
		}
	}
	return nil
}

// settleTiming finds when torques act, and solves the system with that once more. The blocks get the torque of the model at all samples.
func (r *Result) settleTiming(recs []Recording, f *filters, p *prepared) error {
	t := &timing{lag: make([]float64, r.Model.NV()), lagFree: make([]bool, r.Model.NV())}
	if slices.Contains(r.Spec.Terms, Lag) {
		if found := r.findTiming(recs, f); found != nil {
			t = found
		}
	}
	t.theta = r.sys.theta
	r.Base = r.Base.timed(r.Model, t)
	r.Start = r.Base.Of(r.Base.Start())
	again, err := r.Base.prepare(r.Model, r.Spec, recs, r.rest, r.blur)
	if err != nil {
		return err
	}
	p.blocks = again.blocks
	r.sys = &system{base: r.Base, blocks: p.blocks, joints: r.Model.NV(), start: r.Start}
	r.Unidentifiable, err = r.sys.solve()
	return err
}

// resolve is s with what the records say, checked.
func (s Spec) resolve(m *multibody.Model, recs []Recording) (Spec, error) {
	if len(recs) == 0 {
		return s, &record.Error{Msg: "no record to fit"}
	}
	for _, r := range recs {
		if err := r.check(m); err != nil {
			return s, err
		}
		if err := r[0].CheckRate(recs[0][0]); err != nil {
			return s, err
		}
	}
	fs := 1 / recs[0][0].Dt
	s = s.at(fs, m.NV())
	return s, s.check(fs)
}

// The low-pass takes a position to go on in another way than its torque at the ends of a record. What that does has faded after
// runInPeriods of the cutoff; it shows where that leaves less than runInShare of the samples behind the trim.
const (
	runInPeriods = 3
	runInShare   = 0.75
)

func runsIn(recs []Recording, s Spec) bool {
	left := func(trim float64) (n float64) {
		for _, r := range recs {
			n += math.Max(0, float64(r[0].Len())-2*trim/r[0].Dt)
		}
		return n
	}
	return left(math.Max(s.Trim, runInPeriods/s.Cutoff)) < runInShare*left(s.Trim)
}

// checkRowCount refuses records with too few rows.
func (r *Result) checkRowCount(p *prepared, recs []Recording) error {
	n := make([]int, r.Model.NV())
	for _, b := range p.blocks {
		n[b.joint] += len(b.y)
	}
	all := 0
	for i, rows := range n {
		all += rows
		if want := 20; rows < want {
			d := recs[0][i]
			if p.total[i] >= want {
				return d.Fail(0, "Move the joint, lower its min_velocity, or leave it out by making it fixed.",
					"joint %s: %d of %d rows are faster than %.3g %s, want at least %d: does it move?",
					JointName(r.Model, i), rows, p.total[i], r.rest[i], r.speedUnit(i), want)
			}
			return d.Fail(0, "Record longer, or lower trim or decimate.", "joint %s: %d rows after trimming %.3g s at each end and taking every "+
				"%dth, want at least %d", JointName(r.Model, i), rows, r.Spec.Trim, r.Spec.Decimate, want)
		}
	}
	if want := 10 * len(r.Base.Pivot); all < want {
		return recs[0][0].Fail(0, "Record longer, or lower trim or decimate.", "%d rows of all joints for %d base parameters, want at least %d",
			all, len(r.Base.Pivot), want)
	}
	return nil
}

func (r *Result) prismatic(i int) bool {
	_, kind, _, _ := r.Model.JointOf(bodyOf(r.Model, i))
	return kind == multibody.Prismatic
}

func (r *Result) speedUnit(i int) string {
	if r.prismatic(i) {
		return "m/s"
	}
	return "rad/s"
}

// TorqueUnit is that of joint i.
func (r *Result) TorqueUnit(i int) string {
	if r.prismatic(i) {
		return "N"
	}
	return "N·m"
}

// explain says how well each joint is explained by values of the base parameters.
func (r *Result) explain(p *prepared, values []float64) (out []Joint) {
	for i := range r.Model.NV() {
		j := Joint{Name: JointName(r.Model, i), Unit: r.TorqueUnit(i),
			SlowRows: p.slowRows[i], MinSpeed: r.rest[i], Passive: r.Spec.Passive[i]}
		var y, e []float64
		parts := make([][]float64, len(values))
		for k := range p.blocks {
			b := &p.blocks[k]
			if b.joint != i {
				continue
			}
			y, e = append(y, b.y...), append(e, b.residual(values)...)
			for c, w := range b.w {
				parts[c] = append(parts[c], scaled(values[c], w)...)
			}
		}
		var largest []float64
		for _, part := range parts {
			if rms := numeric.RMS(part); rms > j.Largest {
				j.Largest, largest = rms, part
			}
		}
		if j.Passive && largest != nil && len(largest) == len(e) { // its torque is zero: there is nothing but its parts to compare with
			y = largest
		}
		j.explain(y, e)
		out = append(out, j)
	}
	return out
}

// shares are, for the free parameters, the rms of its torques over that of all.
func (r *Result) shares() []float64 {
	out := make([]float64, len(r.FreeParams))
	all := floats.Norm(r.Solution.Measured, 2)
	for i, j := range r.Joints { // a passive joint has no torque but its parts
		if j.Passive {
			all = math.Hypot(all, j.Largest*math.Sqrt(float64(j.Rows))/r.sys.sigma[i])
		}
	}
	for j, k := range r.FreeParams {
		if all > 0 {
			out[j] = 100 * math.Abs(r.Values[k]) * r.sys.length(k) / all
		}
	}
	return out
}

// fewGroups are the recordings from which on their scatter is looked at, as in package fit.
const fewGroups = 3

// combineJointErrors finds by how much standard errors change as the residuals of the joints at one time go together: that by the scores
// of all joints added up at each time over that of each joint by itself, both by fit.LongRun; and the standard errors by the sums of the
// scores of each recording, for what the model lacks differs from one to the next.
func (r *Result) combineJointErrors(blocks []block) {
	p := len(r.FreeParams)
	out := make([]float64, p)
	r.Widened = out
	for j := range out {
		out[j] = 1
	}
	if p == 0 {
		return
	}
	x, length := r.sys.picked(r.FreeParams)
	inv := inverseOf(x)
	if inv == nil {
		return
	}
	sc := r.scores(blocks, inv, length)
	// variance of the estimate of parameter j, for columns of length one
	variance := func(j int, of []float64) (v float64) {
		for k := range p {
			for l := range p {
				v += inv.At(j, k) * of[k*p+l] * inv.At(j, l)
			}
		}
		return v
	}
	if r.Spec.Instruments == UseEstimate {
		all, dof := fit.LongRunSlow(sc.sum, sc.drawing, sc.grid.ends, slowPeriods*r.slowRows(r.IV.Bandwidth))
		r.scatter = all
		r.LongRunErr, r.quantile = make([]float64, p), distuv.StudentsT{Sigma: 1, Nu: float64(dof)}.Quantile(0.975)
		for j := range p {
			r.LongRunErr[j] = math.Sqrt(math.Max(variance(j, all), 0)) / length[j]
		}
	} else {
		own, _ := fit.LongRun(sc.perJoint, sc.ends)
		all, _ := fit.LongRun(sc.sum, sc.grid.ends)
		r.scatter = all
		for j := range p {
			if a, b := variance(j, own), variance(j, all); a > 0 && b > 0 { // to either side: by chance alone the larger of both is too large
				out[j] = math.Sqrt(b / a)
			}
		}
	}
	if r.Groups = len(sc.grid.ends); r.Groups >= fewGroups {
		r.RecordingErr = sc.recordingErrors(inv, length)
	}
}

// scores are those of the free parameters, for columns of length one: residual times row of X·R⁻¹.
type scores struct {
	perJoint [][]float64 // of each joint in pieces of their own, which begin at ends
	ends     []int
	sum      [][]float64 // of all joints on the grid of the recordings
	grid     grid
	drawing  fit.Drawing
}

func (r *Result) scores(blocks []block, inv *mat.Dense, length []float64) *scores {
	p := len(r.FreeParams)
	s := &scores{perJoint: make([][]float64, p), grid: gridOf(blocks)}
	s.sum = s.grid.zeros(p)
	for i := range blocks {
		b := &blocks[i]
		if len(b.y) == 0 {
			continue
		}
		s.ends = append(s.ends, len(s.perJoint[0]))
		e := b.residual(r.Values)
		scale := 1 / r.sys.sigma[b.joint]
		for row := range e {
			q, at := make([]float64, p), s.grid.row(b, row)
			for j := range p {
				for l := range j + 1 {
					if w := b.column(r.FreeParams[l]); w != nil {
						q[j] += scale * inv.At(l, j) * w[row] / length[l]
					}
				}
				g := q[j] * scale * e[row]
				s.perJoint[j] = append(s.perJoint[j], g)
				s.sum[j][at] += g
			}
			s.drawing.Places, s.drawing.Rows = append(s.drawing.Places, at), append(s.drawing.Rows, q)
		}
	}
	return s
}

// recordingErrors are the standard errors with the recordings as the sample.
func (s *scores) recordingErrors(inv *mat.Dense, length []float64) []float64 {
	p, groups := len(length), len(s.grid.ends)
	out := make([]float64, p)
	for i, from := range s.grid.ends {
		to := s.grid.n
		if i+1 < groups {
			to = s.grid.ends[i+1]
		}
		score := make([]float64, p)
		for k := range p {
			score[k] = floats.Sum(s.sum[k][from:to])
		}
		for j := range p {
			x := floats.Dot(inv.RawRowView(j), score)
			out[j] += x * x
		}
	}
	for j := range p {
		out[j] = math.Sqrt(out[j]*float64(groups)/float64(groups-1)) / length[j]
	}
	return out
}

// slowPeriods of the bandwidth of the instruments are the shortest period of the scores that tells their sum: the residual holds the noise
// of the acceleration, and most of it is quicker.
const slowPeriods = 4

// Spread puts into an assessment of the solution what the joints have together and what the recordings scatter: it knows rows, not that
// each joint is no experiment of its own.
func (r *Result) Spread(a *fit.Assessment) {
	t := distuv.StudentsT{Sigma: 1, Nu: float64(max(r.Groups-1, 1))}.Quantile(0.975)
	around := func(x, half float64) *[2]float64 { return &[2]float64{x - half, x + half} }
	for j := range a.Estimates {
		e := &a.Estimates[j]
		e.BetweenErr, e.BetweenCI95 = nil, nil
		if e.RobustErr == nil || e.RobustCI95 == nil {
			continue
		}
		se := r.Widened[j] * *e.RobustErr
		half := se * distuv.StudentsT{Sigma: 1, Nu: e.Degrees}.Quantile(0.975) // leverage is made up for: only that windows are few is left
		if r.LongRunErr != nil {
			se, half = r.LongRunErr[j], r.quantile*r.LongRunErr[j]
		}
		e.RobustErr, e.RobustCI95 = &se, around(e.Value, half)
		if r.RecordingErr != nil && t*r.RecordingErr[j] > half {
			e.BetweenErr, e.BetweenCI95 = &r.RecordingErr[j], around(e.Value, t*r.RecordingErr[j])
		}
	}
}

// halfCutoffValues are the values with half the cutoff, and their standard errors. Noise of the position moves them the more the wider
// the band is.
func (r *Result) halfCutoffValues(recs []Recording) (values, errs []float64) {
	s := r.Spec
	s.Cutoff /= 2
	p, err := r.Base.prepare(r.Model, s, recs, r.rest, r.blur)
	if err != nil {
		return nil, nil
	}
	sys := *r.sys
	sys.blocks, sys.sigma = p.blocks, slices.Clone(r.sys.sigma)
	if s.Instruments == UseEstimate {
		if _, err := sys.project(r.Base, r.simulatedBlocks(s, r.motions, sys.blocks)); err != nil {
			return nil, nil
		}
	}
	sys.factor()
	theta, err := sys.solveFree(r.FreeParams)
	if err != nil {
		return nil, nil
	}
	sys.theta = theta
	a, err := fit.Assess(sys.solution(sys.blocks, r.FreeParams, r.rowTime, 1/s.Cutoff))
	if err != nil {
		return nil, nil
	}
	for j, k := range r.FreeParams {
		values, errs = append(values, theta[k]), append(errs, math.Inf(1))
		if se := a.Estimates[j].Err(false); se != nil {
			errs[j] = *se
		}
	}
	return values, errs
}

// Explain is what the values leave over of other recordings, by joint, and as a solution with nothing free.
func (r *Result) Explain(recs []Recording, values []float64) (*fit.Solution, []Joint, []string, error) {
	if _, err := r.Spec.resolve(r.Model, recs); err != nil {
		return nil, nil, nil, err
	}
	if r.Axis != nil {
		return r.explainAlone(recs)
	}
	if err := recs[0][0].CheckRate(&record.Record{Dt: r.Solution.Dt / float64(r.Spec.Decimate)}); err != nil {
		return nil, nil, nil, err
	}
	recs = withoutSpikes(recs)
	p, err := r.Base.prepare(r.Model, r.Spec, recs, r.rest, r.blur)
	if err != nil {
		return nil, nil, nil, err
	}
	sys := *r.sys
	sys.theta = values
	s := sys.solution(p.blocks, nil, recs[0][0].Dt*float64(r.Spec.Decimate), 1/r.Spec.Cutoff)
	if len(s.Residual) < 2 {
		return nil, nil, nil, recs[0][0].Fail(0, "Give a longer record.", "no rows are left of it: %v", p.omittedRecordings)
	}
	return s, r.explain(p, values), p.omittedRecordings, nil
}

// ExplainFit is Explain of the records of the fit.
func (r *Result) ExplainFit(values []float64) []Joint {
	p := &prepared{blocks: r.sys.blocks, slowRows: make([]int, r.Model.NV())}
	for i := range p.slowRows {
		p.slowRows[i] = r.Joints[i].SlowRows
	}
	return r.explain(p, values)
}
