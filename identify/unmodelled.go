package identify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// systematic is the share of a value by which something that the residual shows may move it without a word.
const systematic = 0.02

// worthSaying is the share of the squared residual, %, from which structure that does no harm is a warning.
const worthSaying = 10.0

// findUnmodelled looks for what the model lacks in the residual of a force: that of the fit, or, where the fit explains a motion,
// that of the motion under forces that are sought along it.
func (r *Result) findUnmodelled(j *job, st *stage) {
	if r.Interrupted {
		return
	}
	s, suspects := st.sol, []fit.Suspect(nil)
	if st.inverse == nil {
		suspects = fit.Suspects(s, j.plan.Model.Rotary, true)
	} else if inverse := st.inverse(); inverse != nil {
		suspects = fit.Suspects(inverse, j.plan.Model.Rotary, j.plan.Model.Drive.Recorded())
		if st.pushResponse != nil {
			if !j.plan.Model.Drive.Recorded() {
				suspects = fit.Likeliest(inverse, withFading(inverse, suspects), inverse.Looked())
			}
			suspects = st.onMotion(inverse, suspects, r.Residual.White || st.runs > 0 && st.runs < len(suspects))
			if s.NoiseKnown && s.Blur == 0 { // the columns answer to a smoothed motion, which holds noise of the prediction errors around it
				other := *s
				other.Blur, s = inverse.Blur, &other
			}
		} else { // smoothing bends the motion most where it turns
			s, suspects = inverse, slices.DeleteFunc(suspects, func(p fit.Suspect) bool { return p.Turn })
		}
	}
	r.lowPassed(suspects)
	r.grantZero(suspects, j.recs.Fit)
	found, possible := fit.Unmodelled(s, suspects, r.tolerance)
	if found != nil || doHarm(possible) {
		if noisier := st.noisierSolutions(j.plan.Model.Rotary, samples(j.recs.Fit)); noisier != nil {
			found, possible = fit.Unmodelled(s, suspects, r.tolerance, noisier...)
		}
	}
	least := weakRelative
	if !j.plan.Model.Drive.Recorded() { // nothing but the loss of energy tells of friction: one kind of it looks like another
		least = systematic
	}
	effects := append(found, possible...)
	if st.pushResponse == nil {
		effects = withoutUsualDrag(effects)
	}
	r.lacking(effects, least)
}

// withFading allows friction of free motion to rise or to fall along the record by as much as fadedShare either way: as the motion dies
// away with time, that looks like friction that depends on the speed. Of the courses of a parameter the first is the straight one.
func withFading(s *fit.Solution, suspects []fit.Suspect) []fit.Suspect {
	seen := map[int]bool{}
	for i := range suspects {
		sp := &suspects[i]
		if !sp.Drift || sp.Kind != "drift" || seen[sp.DriftParam] {
			continue
		}
		seen[sp.DriftParam] = true
		if p := s.Params[s.FreeParams[sp.DriftParam]]; strings.HasPrefix(p.Name, "F") {
			sp.Expected, sp.MaxCoefficient = true, fadedShare*math.Abs(p.Value)
			falls, rise := *sp, sp.Columns[0]
			falls.Columns = []func(int) float64{func(k int) float64 { return -rise(k) }}
			suspects = append(suspects, falls)
		}
	}
	return suspects
}

// fadedShare is by how much friction may differ from its mean, as a share of that: it warms up, and wears.
const fadedShare = 0.1

// withoutUsualDrag leaves out the drag that the rows of a recorded force do not exclude: unless the motion has one speed only, they would
// show as much of it as matters, and the intervals of short records would hold nothing but that.
func withoutUsualDrag(effects []fit.Effect) []fit.Effect {
	return slices.DeleteFunc(effects, func(l fit.Effect) bool { return l.Expected && !l.OneSpeed && l.Kind == "drag" })
}

// lacking takes in what the model lacks; what every axis has a little of where as much of it as the motion allows moves a value by more
// than the share least, or, where the motion has one speed, by more than any fault may.
func (r *Result) lacking(effects []fit.Effect, least float64) {
	for _, l := range effects {
		share := least
		if l.OneSpeed {
			share = systematic
		}
		if worst, ok := r.Param(l.Worst); l.Expected && (!ok || math.Abs(l.ParamMoves[l.Worst]) < share*math.Abs(worst.Value)) {
			continue
		}
		r.addEffect(l)
	}
}

// doHarm tells whether an effect moves a parameter by more than it may.
func doHarm(effects []fit.Effect) bool {
	return slices.ContainsFunc(effects, func(l fit.Effect) bool { return l.Worst != "" })
}

// noisierSolutions are solutions with as much noise of the position again: one of a long record, else some, whose mean tells.
func (st *stage) noisierSolutions(rotary bool, samples int) (list []fit.Noisier) {
	if st.noisier == nil {
		return nil
	}
	for seed := range uint64(min(max(maxDrawSamples/samples, 1), maxDraws)) {
		if s := st.noisier(seed); s != nil {
			list = append(list, fit.Noisier{Solution: s, Suspects: fit.Suspects(s, rotary, true)})
		}
	}
	return list
}

// Draws of noise.
const (
	maxDraws       = 6
	maxDrawSamples = 200_000 // of all draws together, but for the first one
)

// lowPassed allows what a low-pass of one channel does, whose corner the noise of the record shows: up to (1/ω)², that of one that does
// not delay. Where both have one, the larger stands for the difference.
func (r *Result) lowPassed(suspects []fit.Suspect) {
	for _, f := range r.Findings {
		if f.Kind != "filtered" || !(f.Value > 0) {
			continue
		}
		b := math.Pow(2*math.Pi*f.Value, -2)
		for i := range suspects {
			s := &suspects[i]
			switch {
			case s.Kind != fit.LowPass:
			case f.Channel == "force":
				s.Bounds[1] = math.Max(s.Bounds[1], b)
			case f.Channel == "position":
				s.Bounds[0] = math.Min(s.Bounds[0], -b)
			}
		}
	}
}

// grantZero grants the constant force that a spring or weight makes of the zero of the position, which lies anywhere within a step of the
// encoder.
func (r *Result) grantZero(suspects []fit.Suspect, recs []*record.Record) {
	stiffness, step := 0.0, 0.0
	for i := range r.Parameters {
		if p := &r.Parameters[i]; slices.Contains([]string{"k", "mgs"}, r.axisName(p.Name)) {
			stiffness += math.Abs(p.Value)
		}
	}
	for _, d := range recs {
		step = math.Max(step, numeric.EncoderStep(d.Position))
	}
	for i := range suspects {
		if suspects[i].Kind == fit.ConstantForce {
			suspects[i].Granted = stiffness * step
		}
	}
}

// addEffect takes in something that the model lacks: intervals hold what it does.
func (r *Result) addEffect(l fit.Effect) {
	r.Unmodelled = append(r.Unmodelled, l)
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if m, ok := l.ParamMoves[p.Name]; ok {
			p.addMove(m*(1+l.Uncertainty), l.Possible, l.Kind)
			if !l.Possible {
				p.structure += m
				p.addMove(p.structure, false, l.Kind)
			}
			if l.Kind == fit.LowPass || l.Kind == "late force" && l.Possible { // near a resonance it is the other way round; a lag has either sign
				p.addMove(-m, true, l.Kind)
			}
		}
		if or, ok := l.Range[p.Name]; ok { // what else explains as much, to either side
			p.addMove(or[0], l.Possible, l.Kind)
			p.addMove(or[1], l.Possible, l.Kind)
		}
	}
}

// pushShare is how large a force is that tells what a suspect does to the motion, relative to that of the drive.
const pushShare = 1e-3

// onMotion turns suspects of a force into those of the motion that the fit explains: the drive is given less by each, and what
// that does to the motion is found; few: one of each kind. Where the fit leaves white noise they are enough to be sure of it, and
// where a run takes long they are what there is time for.
func (st *stage) onMotion(inverse *fit.Solution, suspects []fit.Suspect, few bool) []fit.Suspect {
	rms := func(x func(k int) float64) float64 {
		sum := 0.0
		for k := range inverse.Measured {
			sum += x(k) * x(k)
		}
		return math.Sqrt(sum / float64(len(inverse.Measured)))
	}
	force := numeric.RMS(inverse.Measured)
	seen := map[any]bool{}
	var kept []fit.Suspect
	var pushes []fit.Course
	for _, sp := range suspects {
		kind := [2]any{sp.Kind, sp.DriftParam}
		if few && !sp.Expected && (seen[kind] || len(sp.Columns) > 2) {
			continue
		}
		seen[kind] = true
		kept = append(kept, sp)
		pushes = append(pushes, sp.Courses()...)
	}
	rows, at := st.sol.Looked(), make([]int, len(st.sol.Residual))
	for i, k := range rows {
		at[k] = i
	}
	moved := st.pushResponse(pushes, func(i int) float64 { return pushShare * force / rms(pushes[i].At) }, rows)
	var out []fit.Suspect
	for _, sp := range kept {
		own := moved[:len(sp.Columns)]
		moved = moved[len(sp.Columns):]
		if slices.ContainsFunc(own, func(e []float64) bool { return e == nil }) {
			continue
		}
		sp.Columns, sp.Wave = nil, nil
		for _, e := range own {
			sp.Columns = append(sp.Columns, func(k int) float64 { return e[at[k]] })
		}
		out = append(out, sp)
	}
	return out
}

// harm is by how much each free parameter may move without harm: its interval, or a little of its value if that is more. What
// may be zero is measured by the force.
func (r *Result) harm(s *fit.Solution) map[string]float64 {
	out := map[string]float64{}
	for j, i := range s.FreeParams {
		q := &r.Parameters[i]
		h := math.Inf(1)
		if ci := r.random(q); ci != nil && !r.absent(q.Name) {
			h = (ci[1] - ci[0]) / 2
		}
		out[q.Name] = math.Max(h, systematic*s.Size(j))
	}
	return out
}

// judgeUnmodelled names what the model lacks and what that does to the values.
func (r *Result) judgeUnmodelled(say sayer) {
	for _, l := range r.Unmodelled {
		code := fit.CodeOf(l.Kind)
		p, ok := r.Param(l.Worst)
		switch {
		case ok && l.Possible:
			say(code, fit.Remark, []string{l.Worst}, "%s: this motion does not exclude %s, with as much of which as it allows %s would be %.4g "+
				"instead of %.4g %s; the intervals hold that. Record faster motion for narrower ones.",
				l.Kind, l.What, p.Name, l.Values[p.Name], p.Value, strings.TrimSpace(p.Unit))
		case !ok && l.Share > worthSaying:
			say(code, fit.Remark, nil, "%s: the residual holds %s, %.0f %% of its square; it moves no value by more than its interval. %s", l.Kind,
				l.What, l.Share, l.Advice)
		case ok:
			say(code, fit.Weaken, r.harmed(&l), "%s: the residual holds %s%s. With it in the model %s would be %.4g instead of %.4g %s. %s",
				l.Kind, l.What, otherwise(l.Or), p.Name, l.Values[p.Name], p.Value, strings.TrimSpace(p.Unit), l.Advice)
		}
	}
}

// otherwise names what explains as much.
func otherwise(or []string) string {
	switch n := len(or); {
	case n == 0:
		return ""
	case n == 1:
		return " (or " + or[0] + ", which explains as much)"
	default:
		return fmt.Sprintf(" (or %s, or one of %d more, which explain as much)", or[0], n-1)
	}
}

// harmed are the parameters that an effect moves by more than they may.
func (r *Result) harmed(l *fit.Effect) (names []string) {
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if h := r.tolerance[p.Name]; h > 0 && math.Abs(l.ParamMoves[p.Name]) > h && !p.State() {
			names = append(names, p.Name)
		}
	}
	return names
}
