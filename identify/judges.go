package identify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// sayer takes in a reason. params are those that it concerns; nil: all.
type sayer func(code fit.Code, level fit.Level, params []string, format string, args ...any)

// Where the noise of a record says that something is missing.
const (
	// what is left over may be this many times the noise of the record: noise that depends on its neighbours hides in part
	timesNoise       = 5
	timesBand        = 3          // likewise where the noise next to the band of a fit is known: in the band it may be stronger
	timesUneven      = math.Sqrt2 // likewise of a motion that dies away, where what is left over changes along it: as much again as the noise
	minResidualShare = 1e-4       // of the spread of what was recorded: less is rounding, and steps of the simulation
	partsAbove       = 10         // times what is left over, from which the parts of a sum make what is explained next to nothing
)

// judges look at a result one after the other, whatever was fitted; one that has nothing to look at says nothing. Those above the
// parameters move intervals, which are judged then.
var judges = []struct {
	asks  string
	judge func(r *Result, say sayer)
}{
	{"do the records hold what the model describes?", (*Result).judgeAbsent},
	{"does the model explain the records?", (*Result).judgeFit},
	{"what does the method say of itself?", (*Result).judgeMethod},
	{"what do the checks of the records say?", (*Result).judgeRecords},
	{"what may rounding have done?", (*Result).judgeRounding},
	{"is it an optimum, and of the equations?", (*Result).judgeEnd},
	{"do the rows say as much as they are many?", (*Result).judgeRows},
	{"does something else explain them as well?", (*Result).judgeAlternatives},
	{"what was left as it was?", (*Result).judgeRefused},
	{"is every parameter known?", (*Result).judgeParameters},
	{"is it a contact that the record shows?", (*Result).judgeContact},
	{"do records begin where the model says?", (*Result).judgeStates},
	{"can they be told apart?", (*Result).judgeIndistinct},
	{"does the filter set them?", (*Result).judgeHalfCutoff},
	{"what does the residual hold?", (*Result).judgeUnmodelled},
	{"is it noise?", (*Result).judgeNoise},
	{"does friction take energy out?", (*Result).judgePassivity},
	{"is friction told from a constant force?", (*Result).judgeDirection},
	{"does noise of the position draw them away?", (*Result).judgeInstruments},
	{"has a real body these numbers?", (*Result).judgeBodies},
	{"does it carry over?", (*Result).judgeValidation},
	{"what was given, and not found?", (*Result).judgeAssumed},
	{"what was known before?", (*Result).judgePriors},
}

// judge asks all judges.
func (r *Result) judge() {
	r.Verdict, r.Reasons = Identified, []fit.Reason{}
	for _, j := range judges {
		j.judge(r, r.AddReason)
	}
	r.weakenConcerned()
}

// weakenConcerned takes the word identified from the parameters that a reason concerns: a reason that names none concerns all.
func (r *Result) weakenConcerned() {
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if p.Worth == string(Identified) && slices.ContainsFunc(r.Reasons, func(x fit.Reason) bool { return x.Concerns(p.Name) }) {
			p.Worth = string(Weak)
		}
	}
}

// AddReason adds a reason to the verdict. Those that reject come first; a remark is a warning, and one that was said before is not said
// again.
func (r *Result) AddReason(code fit.Code, level fit.Level, params []string, format string, args ...any) {
	one := fit.Reason{Code: code, Level: level, Params: append([]string{}, params...), Text: fmt.Sprintf(format, args...)}
	said := func(o fit.Reason) bool { return o.Text == one.Text }
	switch {
	case level == fit.Remark && !slices.Contains(r.Warnings, one.Text):
		r.Warnings = append(r.Warnings, one.Text)
	case level == fit.Remark || slices.ContainsFunc(r.Reasons, said):
	case level == fit.Reject:
		rejections := 0
		for rejections < len(r.Reasons) && r.Reasons[rejections].Level == fit.Reject {
			rejections++
		}
		r.Reasons = slices.Insert(r.Reasons, rejections, one)
		r.Verdict = Rejected
	default:
		r.Reasons = append(r.Reasons, one)
		if r.Verdict == Identified {
			r.Verdict = Weak
		}
	}
}

// Because are the texts of the reasons.
func (r *Result) Because() []string {
	texts := []string{}
	for _, x := range r.Reasons {
		texts = append(texts, x.Text)
	}
	return texts
}

// judgeFit asks whether the model explains what was recorded at all.
func (r *Result) judgeFit(say sayer) {
	for i := range r.channels {
		c := &r.channels[i]
		if c.percent == nil {
			continue
		}
		switch f := *c.percent; {
		case f < poorFit && !c.passive && c.parts > partsAbove*c.rms:
			say(fit.PoorFit, fit.Reject, nil, "%sfit %.1f %%: its torque is small beside its parts (%.3g %s), which cancel. If no drive acts on "+
				"it, say passive: true in place of its torque", c.label(), f, c.parts, c.unit)
		case f < poorFit && c.passive:
			say(fit.PoorFit, fit.Reject, nil, "%swithout a drive the parts of its torque should cancel, and %.0f %% of the largest is left: does "+
				"something act on it?", c.label(), 100-f)
		case f < poorFit:
			say(fit.PoorFit, fit.Reject, nil, "%sfit %.1f %%, below %.0f %%: this model does not describe these data", c.label(), f, poorFit)
		case f < goodFit:
			say(fit.PoorFit, fit.Weaken, nil, "%sfit %.1f %%, below %.0f %%: something is missing in the model, or it is mostly noise", c.label(),
				f, goodFit)
		}
	}
}

// judgeValidation asks whether records that were not fitted are explained as well.
func (r *Result) judgeValidation(say sayer) {
	for i := range r.channels {
		c := &r.channels[i]
		if c.percent == nil || c.validation == nil {
			continue
		}
		switch loss := *c.percent - *c.validation; {
		case *c.validation < poorFit && *c.percent >= poorFit:
			say(fit.Validation, fit.Reject, nil, "%sfit %.1f %% on the validation record", c.label(), *c.validation)
		case loss > validLoss:
			say(fit.Validation, fit.Weaken, nil, "%sthe validation record is explained %.1f points worse", c.label(), loss)
		}
	}
}

// judgeNoise asks whether what is left over is no more than the noise of the record. Errors of that kind move parameters, and no interval
// knows by how much.
func (r *Result) judgeNoise(say sayer) {
	for i := range r.channels {
		c := &r.channels[i]
		if c.noise == nil || c.rms <= minResidualShare*c.spread {
			continue
		}
		also := ""
		limit := float64(timesNoise)
		if c.hides != nil {
			limit = timesBand
		}
		if c.rms <= limit**c.noise {
			if !c.uneven || c.rms <= timesUneven**c.noise {
				continue
			}
			also = ", and changes along the record, as noise does not"
		}
		say(fit.AboveNoise, fit.Weaken, c.hides, "%swhat is left over, %.3g %s, is more than the noise of the record, about %.2g %s%s: "+
			"the model lacks something, or a number that is not searched is wrong; intervals hold no more of that than other reasons name",
			c.label(), c.rms, c.unit, *c.noise, c.unit, also)
	}
}

// judgeMethod takes in what a method says of itself.
func (r *Result) judgeMethod(say sayer) {
	for _, d := range r.doubts {
		if d.Code != fit.OverFitted {
			say(d.Code, d.Level, d.Params, "%s", d.Text)
		}
	}
}

// contactNames are parameters of a contact with a bristle.
var contactNames = []string{"sigma0", "sigma1", "sigma2", "Fc", "Fs", "dFs", "vs", "vd"}

// judgeContact takes in what no contact is, and what a record can hardly show of one where it does not tell it all the same: rules of what
// is plausible yield to intervals that hold all that moves a value. The levels of what is no contact are not those of friction.
func (r *Result) judgeContact(say sayer) {
	for _, d := range r.doubts {
		switch {
		case d.Code != fit.OverFitted:
		case len(d.Params) == 0:
			var names []string
			for i := range r.Parameters {
				if p := &r.Parameters[i]; slices.Contains(contactNames, strings.TrimRight(r.axisName(p.Name), "+-")) {
					names = append(names, p.Name)
				}
			}
			say(d.Code, d.Level, names, "%s", d.Text)
		case slices.ContainsFunc(d.Params, func(name string) bool { return !r.absent(name) && !r.tells(name) }):
			say(d.Code, d.Level, d.Params, "%s", d.Text)
		}
	}
}

// tells whether the interval of a parameter is within a tenth of its value, and the rows are enough to believe it.
func (r *Result) tells(name string) bool {
	p, ok := r.Param(name)
	if !ok || p.Fixed || p.CI == nil || p.Worth != string(Identified) || r.Residual.Effective < float64(r.Fit.Params) {
		return false
	}
	return p.halfInterval() <= weakRelative*math.Abs(p.Value)
}

// judgeRecords takes in the checks of the records that failed, and times that are taken as even and are not.
func (r *Result) judgeRecords(say sayer) {
	for _, f := range r.Findings {
		if f.Severity == record.Fatal || f.Kind == record.ClockDrift {
			say(fit.RecordCheck, fit.Weaken, nil, "a check of the record fails: %s", f.Text)
		}
	}
}

// rounding is the kind of finding that a channel rests on few levels; its value is by how much the gain may be wrong.
const rounding = "rounding"

// judgeRounding takes in by how much the gain of a force that rests on few levels may be wrong: intervals of what is in its unit hold that.
func (r *Result) judgeRounding(say sayer) {
	for _, f := range r.Findings {
		if f.Kind != rounding {
			continue
		}
		for i := range r.Parameters {
			if p := &r.Parameters[i]; f.Channel == "force" && inForce(p.Unit) {
				p.rounded = math.Max(p.rounded, f.Value*math.Abs(p.Value))
			}
		}
		say(fit.Rounding, fit.Remark, nil, "%s. The intervals hold that. %s", f.Text, f.Advice)
	}
}

// judgeEnd asks whether the last method came to an optimum, and whether the steps of a simulation have a part in it.
func (r *Result) judgeEnd(say sayer) {
	switch last := r.Stages[len(r.Stages)-1]; {
	case r.Interrupted:
		say(fit.Unfinished, fit.Weaken, nil, "interrupted: the best so far, not the optimum")
	case last.Converged:
	case FindMethod(last.Method) != nil && FindMethod(last.Method).Estimate:
		say(fit.Unfinished, fit.Weaken, nil, "evolution finds the neighbourhood of an optimum, not the optimum: let lm follow")
	default:
		say(fit.Unfinished, fit.Weaken, nil, "%s ended before it converged: %s", last.Method, last.Reason)
	}
	if st := r.Steps; st != nil && st.Shift != nil && *st.Shift > 1 {
		say(fit.CoarseSteps, fit.Weaken, []string{st.Worst}, "steps of the simulation half as long (%.3g s) would move %s by %.2g standard "+
			"errors: the simulator has a part in the values; leave %s out, or record faster", st.Step/2, st.Worst, *st.Shift, st.key)
	}
}

// judgeRows asks whether the rows say as much as they are many.
func (r *Result) judgeRows(say sayer) {
	if n := r.Residual.Effective; r.Fit.Params > 0 && n < float64(r.Fit.Params) {
		say(fit.FewRows, fit.Weaken, nil, "do not trust these intervals: the residual hardly changes from row to row, so that the %d rows "+
			"count as about %.2g independent ones, and there are %d parameters", r.Fit.Rows, n, r.Fit.Params)
	}
}

// judgeBodies asks whether real bodies have the parameters of a machine.
func (r *Result) judgeBodies(say sayer) {
	switch b := r.bodies; {
	case b == nil:
	case b.possible && b.unreal && b.grown > 1.05:
		say(fit.NoBodies, fit.Weaken, nil, "no real bodies have these base parameters: the nearest ones that some have leave an rms %.2f times "+
			"as large", b.grown)
	case !b.possible:
		say(fit.NoBodies, fit.Weaken, nil, "no real machine has the parameters that were found: %s", strings.Join(b.against, "; "))
	}
}

// judgeAssumed says which numbers the result rests on that were given, and what their uncertainty does to the intervals.
func (r *Result) judgeAssumed(say sayer) {
	var names, moves, given []string
	for _, g := range r.givenNumbers {
		given = append(given, g.String())
	}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if ci := r.random(p); ci != nil && p.CI != nil && p.givenErr > 0 && !p.State() {
			names = append(names, p.Name)
			moves = append(moves, fmt.Sprintf("%s to ±%.2g instead of ±%.2g %s", p.Name, (p.CI[1]-p.CI[0])/2, (ci[1]-ci[0])/2, p.Unit))
		}
	}
	keys := cmp.Or(r.givenKeys, "under uncertainty")
	switch {
	case given == nil:
	case names == nil:
		say(fit.Assumed, fit.Remark, nil, "assumed, as the file gives it: %s. The intervals do not hold errors of these numbers. "+
			"Say in the file how well they are known, %s", list(given), keys)
	default:
		say(fit.Assumed, fit.Remark, names, "assumed, as the file gives it: %s. The intervals hold that: %s. "+
			"Say in the file how well these numbers are known, %s", list(given), list(moves), keys)
	}
}
