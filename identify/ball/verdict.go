package ball

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/spatial/r3"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/engine/numeric"
	"hilrig/engine/plant/ball"
	"hilrig/identify/fit"
)

// Slip is the evidence for or against rolling without slipping.
type Slip struct {
	Contact  float64 `json:"contact_velocity"` // root mean square of v − R·ω×γ over its noise, per coordinate; 1 where there is only noise
	Lasting  float64 `json:"lasting"`          // the most that it keeps up for lastingFrames, over its noise
	TopSpeed float64 `json:"top_speed"`        // m/s  the largest of them
	TopTime  float64 `json:"at"`               // s    when
	Ratio    float64 `json:"force_ratio"`      // largest T/N that rolling asks for
	Assumed  float64 `json:"slide,omitempty"`  // coefficient that was given
	Residual float64 `json:"residual_ratio"`   // root mean square of the fit over the noise of the markers
	Frames   float64 `json:"frames_ratio"`     // the most that the residuals of a frame keep up for lastingFrames, likewise
	Time     float64 `json:"frames_at"`        // s    when
	Lifts    bool    `json:"lifts,omitempty"`  // N would be below zero
	Slips    bool    `json:"slips"`

	endChance float64 // that noise makes the first or the last frames as far off those beside them
	endTime   float64 // s  of the end where it is smallest
}

const (
	lastingFrames = 3   // that follow each other
	lasting       = 6.0 // times the noise, above which the contact slips: noise alone reaches it once in 1e8 windows
	lastingFit    = 2.5 // times the noise: frames are not explained; a little friction that the model lacks makes 2
	residual      = 1.2 // root mean square of the fit over the noise of the markers, known to 1 % from 4 s at 200 Hz
)

// contactOf is what the smoothed motion says of the contact: v − R·ω×γ.
func contactOf(radius float64, ms []motion) (s Slip) {
	var last [lastingFrames]float64 // of the frames before, over their noise
	for i := range ms {
		a := &ms[i]
		ux := a.v.X - radius*r3.Dot(a.f.B, a.w)
		uy := a.v.Y + radius*r3.Dot(a.f.A, a.w)
		noise := math.Sqrt(r3.Norm2(a.ve)/3 + radius*radius*r3.Norm2(a.we)/3)
		u := math.Hypot(ux, uy)
		s.Contact += u * u / (2 * noise * noise) / float64(len(ms))
		last[i%lastingFrames] = u / noise
		if i >= lastingFrames-1 {
			s.Lasting = max(s.Lasting, slices.Min(last[:]))
		}
		if u > s.TopSpeed {
			s.TopSpeed, s.TopTime = u, a.t
		}
	}
	s.Contact = math.Sqrt(s.Contact)
	return s
}

// judge adds what the fit says: the force that rolling asks for, and what is left over.
func (s *Slip) judge(b *ball.Params, ms []motion, sol *fit.Solution, sigma, slide float64) {
	s.Assumed = slide
	m := b.Unchecked()
	for i := range ms {
		_, force := m.RollingForce(&ms[i].f, ms[i].w)
		if force.Z <= 0 {
			s.Lifts = true
			continue
		}
		s.Ratio = max(s.Ratio, math.Hypot(force.X, force.Y)/force.Z)
	}
	s.Residual = overNoise(sol, sigma)
}

// judgeFrames looks for frames that follow each other and are not explained, such as those of a short slip.
func (s *Slip) judgeFrames(motion *shooting, sol *fit.Solution, noise float64) {
	var last [lastingFrames]float64
	seen := 0
	for f := range motion.rowPlaces {
		var squares []float64 // by marker
		motion.eachMarker(f, f+1, func(_, _ int, rows [3]int) { squares = append(squares, r3.Norm2(vectorAt(sol.Residual, rows))) })
		n := len(squares)
		if n == 0 {
			continue
		}
		if slices.Sort(squares); n > 2 { // what one marker has beside all others is no motion of the ball
			squares[n-1] = squares[n-2]
		}
		last[seen%lastingFrames] = math.Sqrt(floats.Sum(squares)/float64(3*n)) / noise
		if seen++; seen >= lastingFrames && slices.Min(last[:]) > s.Frames {
			s.Frames, s.Time = slices.Min(last[:]), motion.rec.Times[f]
		}
	}
}

// Frames at the ends of a recording.
const (
	endFrames  = 2    // that may be off: of more, lastingFit tells
	besideEnd  = 9    // that a line is laid through, to them
	wildChance = 1e-3 // probability below which a marker in these frames is not on the ball
	strangeEnd = 1e-3 // probability below which an end is not of the motion: the ball is let go there, or caught
)

// judgeEnds looks for a slip that is over after some frames, or begins so many before the end. What a parameter or a force does to the
// residual changes little over a dozen frames; a slip moves and turns the ball in the plane, beside the line through besideEnd of them.
// A marker that no motion of a ball takes where it is has no part in that.
func (s *Slip) judgeEnds(motion *shooting, sol *fit.Solution, noise float64) {
	s.endChance = 1
	left := slices.Clone(sol.Residual) // as it was before the loss of the fit cut it
	floats.Div(left, sol.Weigh(slices.Repeat([]float64{1}, len(left))))
	for _, end := range [2]struct{ frame, step int }{{0, 1}, {len(motion.rowPlaces) - 1, -1}} {
		markers := motion.rigidMarkers(end.frame, end.step, left, noise)
		if chance := motion.slipChance(end.frame, end.step, markers, left, noise); chance < s.endChance {
			s.endChance, s.endTime = chance, motion.rec.Times[end.frame]
		}
	}
}

// rigidMarkers are those near an end that move as on one body: as long as one of the frames tells of another by more than wildChance, the
// one is left out without which that frame tells least. Where no three are left that do, all are given.
func (s *shooting) rigidMarkers(end, step int, residual []float64, noise float64) []int {
	all := s.visibleNear(end, step)
	without := func(list []int, i int) []int { return slices.Delete(slices.Clone(list), i, i+1) }
	for rest := all; len(rest) >= 3; {
		chance, worst := 1.0, 0
		for f := end; f != end+(endFrames+besideEnd)*step; f += step {
			of := distuv.ChiSquared{K: float64(3*len(rest) - 6)}.Survival(s.bending(f, rest, residual) / (noise * noise))
			if of < chance {
				chance, worst = of, f
			}
		}
		if chance > wildChance/(endFrames+besideEnd) {
			return rest
		}
		var sums []float64
		for i := range rest {
			sums = append(sums, s.bending(worst, without(rest, i), residual))
		}
		rest = without(rest, floats.MinIdx(sums))
	}
	return all
}

// bending is the sum of squares of what markers do in a frame that no motion of a rigid body is.
func (s *shooting) bending(f int, markers []int, residual []float64) float64 {
	r := s.rigidFrame(f, markers, 3)
	e := r.rest(residual)
	return floats.Dot(e, e)
}

// visibleNear are the markers that all of the frames from an end inwards show; nil if the ball has no pose in one of them.
func (s *shooting) visibleNear(end, step int) (markers []int) {
	for j := range s.count {
		seen := 0
		for f := end; f != end+(endFrames+besideEnd)*step; f += step {
			if !s.poses.hasPose(f) {
				return nil
			}
			if s.rowPlaces[f][j] >= 0 {
				seen++
			}
		}
		if seen == endFrames+besideEnd {
			markers = append(markers, j)
		}
	}
	return markers
}

// slipChance is how often noise makes as much of a slip in the first frames from an end inwards: along and about x and y of the plane.
// 1: too few markers are in view.
func (s *shooting) slipChance(end, step int, markers []int, residual []float64, noise float64) float64 {
	if len(markers) < 2 {
		return 1
	}
	modes := make([][]float64, 4)
	for i := range endFrames + besideEnd {
		f := end + i*step
		r := s.rigidFrame(f, markers, 2)
		e := r.of(residual)
		for m, b := range r.modes {
			modes[m] = append(modes[m], floats.Dot(b, e))
		}
	}
	sum := 0.0
	for _, e := range modes {
		sum += aboutLine(e) - aboutLine(e[endFrames:])
	}
	return 2 * distuv.ChiSquared{K: float64(endFrames * len(modes))}.Survival(sum/(noise*noise))
}

// aboutLine is the sum of squares about the line of least squares.
func aboutLine(e []float64) float64 {
	v := stat.Variance(e, nil)
	if v == 0 {
		return 0
	}
	r := stat.Correlation(floats.Span(make([]float64, len(e)), 0, 1), e, nil)
	return (1 - r*r) * v * float64(len(e)-1)
}

// overNoise is the root mean square of what a solution leaves over, with its degrees of freedom, over the noise.
func overNoise(sol *fit.Solution, noise float64) float64 {
	n := float64(len(sol.Residual))
	return numeric.RMS(sol.Residual) * math.Sqrt(n/math.Max(1, n-float64(len(sol.FreeParams)))) / noise
}

// assess forms errors and intervals of the parameters, the first own of the free ones.
func (r *Result) assess(sol *fit.Solution, own int) error {
	a, err := fit.Assess(sol)
	if err != nil {
		return err
	}
	r.whiteResidual = a.Residual.White
	r.Adjust(a)
	r.Parameters = append(r.Parameters, a.Estimates[:own]...)
	for _, d := range a.Indistinct {
		if slices.ContainsFunc(d.Names, func(n string) bool { return !fit.IsState(n) }) && len(d.Names) > 1 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%v are not told apart: %s", d.Names, d.Reason))
		}
	}
	return nil
}

// Interval is the 95 % interval of a parameter, and its standard error; nil: unbounded.
func (r *Result) Interval(name string) (err *float64, interval *[2]float64) {
	for i := range r.Parameters {
		if e := &r.Parameters[i]; e.Name == name {
			return e.Err(r.whiteResidual), e.Interval(r.whiteResidual)
		}
	}
	return nil, nil
}

// littleShare is the share of all friction, or of the friction that would stop the ball within the recording, below which a coefficient is
// next to nothing.
const littleShare = 0.01

// littles are how large each coefficient of friction may be while what it does at the speed of the recording is next to nothing beside
// all friction against rolling. Spinning is taken at the speed of rolling: else a ball that did not spin would tell its friction against
// it.
func (r *Result) littles(ms []motion) map[string]float64 {
	b := &r.Body
	speed := 0.0
	for i := range ms {
		_, roll := split(&ms[i].f, ms[i].w)
		speed += r3.Norm2(roll) / float64(len(ms))
	}
	if speed = math.Sqrt(speed); speed == 0 {
		return nil
	}
	of := map[string]float64{"N·m·s": speed, "N·m·s²": speed * speed, "N·m": 1, "m": b.Mass * b.Gravity}
	all := 0.0
	for i := range terms {
		if t := &terms[i]; !spins(t.name) {
			all += math.Abs(*t.field(b)) * of[t.unit]
		}
	}
	stops := (b.Mass*b.Radius*b.Radius + (b.Inertia[0]+b.Inertia[1]+b.Inertia[2])/3) * speed / (ms[len(ms)-1].t - ms[0].t)
	out := map[string]float64{}
	for i := range terms {
		out[terms[i].name] = littleShare * max(all, stops) / of[terms[i].unit]
	}
	return out
}

// judge says what speaks against the result.
func (r *Result) judge(c Spec) {
	against := func(code fit.Code, format string, a ...any) {
		r.Reasons = append(r.Reasons, fit.Against(code, format, a...))
	}
	warn := func(format string, a ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, a...)) }
	s := &r.Slip
	if s.Lasting > lasting {
		against(fit.Slip, "the contact slips: its velocity stays above %.1f times its noise in frames that follow each other, up to %.3g m/s "+
			"at %.3f s; friction of rolling cannot be told from such a motion", s.Lasting, s.TopSpeed, s.TopTime)
	}
	s.Slips = s.Lasting > lasting || s.Residual > residual || s.Frames > lastingFit || s.endChance < strangeEnd
	if s.Residual > residual {
		against(fit.AboveNoise, "rolling does not explain the recording: the fit leaves %.2g m, %.1f times the noise of the markers, %.2g m: "+
			"it slips, or a dimension of the ball is wrong", s.Residual*r.Noise, s.Residual, r.Noise)
	} else if s.Frames > lastingFit {
		against(fit.AboveNoise, "rolling does not explain the recording about %.3f s: in frames that follow each other the fit leaves "+
			"%.1f times the noise of the markers: it slips there, or is touched", s.Time, s.Frames)
	} else if s.endChance < strangeEnd {
		against(fit.Slip, "rolling does not explain the frames about %.3f s: they are not where those beside them say (p = %.2g): the ball "+
			"slips there, or is let go or caught. Leave this end out, with span", s.endTime, s.endChance)
	} else if x := r.conflict; x.number != "" && x.chance < conflictP {
		r.Reasons = append(r.Reasons, fit.Reason{Code: fit.PriorContradicted, Level: fit.Weaken, Params: x.params, Text: fmt.Sprintf("recording "+
			"and file contradict each other: the recording moves %s by %.1f standard uncertainties, more than is expected (p = %.2g). "+
			"Measure that better, or search it too", x.number, x.shift, x.chance)})
	}
	if s.Assumed > 0 && s.Ratio > s.Assumed {
		against(fit.Slip, "rolling asks for T/N = %.3f, sliding friction is sure up to %.3f: it may have slipped", s.Ratio, s.Assumed)
	}
	if s.Lifts {
		against(fit.Lift, "rolling asks the plane to pull: the ball lifted off, or inertia and centre of mass are wrong")
	}
	if !r.Solution.Converged {
		against(fit.Unfinished, "the fit did not converge: %s", r.Solution.Reason)
	}
	body := r.Body // friction a little below zero is judged by its error, not by its sign
	for i := range terms {
		v := terms[i].field(&body)
		*v = max(0, *v)
	}
	for _, p := range body.Check() {
		against(fit.NoBodies, "what was found is no body: %s", p.Error())
	}

	for i := range r.Parameters {
		e := &r.Parameters[i]
		err, _ := r.Interval(e.Name)
		isTerm := IsFriction(e.Name)
		if isTerm && err != nil && *err <= r.little[e.Name] {
			r.NegligibleParams = append(r.NegligibleParams, e.Name)
			continue
		}
		if !isTerm || err != nil && *err <= looseErr*math.Abs(e.Value) {
			continue
		}
		why := "the recording says nothing of it"
		if err != nil {
			why = fmt.Sprintf("its standard error, %.2g %s, is more than half of its value, %.2g %s", *err, e.Unit, e.Value, e.Unit)
		}
		if spins(e.Name) {
			why += fmt.Sprintf("; the ball turned about the vertical with %.2g rad/s only: start it with a spin", r.SpinRMS)
		}
		r.Refusals = append(r.Refusals, Refusal{e.Name, why})
	}
	if r.TopRoll > shownTo {
		warn("extrapolated: the ball rolls with up to %.1f rad/s, the viscous law was shown up to %g rad/s [KKK17]", r.TopRoll, shownTo)
	}
	if r.drift.rms > 0 {
		warn("markers drift: each is off by %.2g m (root mean square) that changes slowly, beside noise of %.2g m. The intervals hold that as "+
			"long as each drifts in its own way: calibrate the cameras where the ball rolls", r.drift.rms, r.Noise)
	}
	r.Warnings = append(r.Warnings, r.labels()...)
	if r.LeftOut > 0 {
		warn("%d of %d frames show fewer than three markers: they were left out of the smoothing", r.LeftOut, r.Frames)
	}
	if r.Odd > 0 {
		warn("in %d of %d frames the markers do not fit the body, or all are off its way: they were left out", r.Odd, r.Frames)
	}
	last := &r.Levels[len(r.Levels)-1]
	for _, l := range r.Levels[:len(r.Levels)-1] {
		for _, v := range l.Values {
			final, ok := last.Value(v.Name)
			if ok && math.Abs(v.Value-final.Value) > disagreement*math.Abs(final.Value)+3*math.Hypot(v.Err, final.Err) {
				warn("%s: %s gives %.4g %s, the markers %.4g", v.Name, l.Name, v.Value, v.Unit, final.Value)
			}
		}
	}
	if c.Uncertain.Mass == 0 {
		warn("inertia and friction are told over the mass alone: a mass that is wrong by 1 %% makes mu_roll wrong by 1 %%")
	}
	r.Accepted = !slices.ContainsFunc(r.Reasons, func(x fit.Reason) bool { return x.Level == fit.Reject })
}
