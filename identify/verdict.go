package identify

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Where a verdict falls. The limits are conventions, not laws; docs/identify.md explains them.
const (
	goodFit      = 80.0  // %, below: weakly identified
	poorFit      = 50.0  // %, below: rejected, the model misses half of what moves
	weakRelative = 0.10  // standard error relative to the value …
	weakShare    = 1.0   // %, … if that uncertainty is also more than this of the force, where that is known
	validLoss    = 10.0  // percentage points of fit lost on the second record
	cutoffDrift  = 0.10  // relative change at half the cutoff, if it is also more than 3 standard errors
	excluded     = 10.0  // twice the logarithm of the likelihood by which an alternative is excluded by the record
	formsApart   = 1.5   // half intervals by which two forms of a regression may differ
	beyondDoubt  = 3.0   // standard errors
	asGood       = 1.005 // times the residual: no alternative below this is excluded, since no model is exact
)

// passive are parameters whose negative value contradicts physics.
var passive = map[string]bool{"M": true, "J": true, "J1": true, "J2": true, "Fc": true, "Fc1": true, "Fc2": true, "Fs": true, "sigma0": true, "kt": true, "vs": true}

// judge turns the numbers into a verdict with reasons; each reason says what it rests on.
func (r *Result) judge(suspicions []string) {
	r.Verdict, r.Reasons = Identified, []string{}
	rejections := 0 // they come first: the first reason is one for the verdict
	say := func(v Verdict, format string, args ...any) {
		if v == Rejected || r.Verdict == Identified {
			r.Verdict = v
		}
		reason := fmt.Sprintf(format, args...)
		if v != Rejected {
			r.Reasons = append(r.Reasons, reason)
			return
		}
		r.Reasons = slices.Insert(r.Reasons, rejections, reason)
		rejections++
	}

	// does the model explain the data at all?
	if f := r.Explained(); f != nil {
		switch {
		case *f < poorFit:
			say(Rejected, "fit %.1f %%, below %.0f %%: this model does not describe these data", *f, poorFit)
		case *f < goodFit:
			say(Weak, "fit %.1f %%, below %.0f %%: something is missing in the model", *f, goodFit)
		}
	}
	for _, s := range suspicions {
		say(Rejected, "%s", s)
	}
	for _, f := range r.Findings {
		if f.Severity == record.Fatal {
			say(Weak, "a check of the record fails: %s", f.Text)
		}
	}
	for _, s := range r.doubts {
		say(Weak, "%s", s)
	}
	switch last := r.Stages[len(r.Stages)-1]; {
	case r.Interrupted:
		say(Weak, "interrupted: the best so far, not the optimum")
	case !last.Converged && !FindMethod(last.Method).Estimate:
		say(Weak, "%s ended before it converged: %s", last.Method, last.Reason)
	case !last.Converged:
		say(Weak, "evolution finds the neighbourhood of an optimum, not the optimum: let lm follow")
	}

	if st := r.Steps; st != nil && st.Shift != nil && *st.Shift > 1 {
		say(Weak, "steps of the simulation half as long (%.3g s) would move %s by %.2g standard errors: the simulator has a part in the values; leave %s out, or record faster", st.Step/2, st.Worst, *st.Shift, st.key)
	}

	// do the rows say as much as they are many?
	if n := r.Residual.Effective; r.Fit.Params > 0 && n < float64(r.Fit.Params) {
		say(Weak, "do not trust these intervals: the residual hardly changes from row to row, so that the %d rows count as about %.2g independent ones, and there are %d parameters", r.Fit.Rows, n, r.Fit.Params)
	}

	// is every parameter known? Not before the intervals hold what the alternatives do to the values
	r.judgeAlternatives(say)
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if p.Fixed {
			p.Worth = "known"
			continue
		}
		p.Worth, p.Error, p.CI = r.worth(p, say), r.Err(p), r.Interval(p)
	}
	r.judgeStates(say)
	for _, in := range r.Indistinct {
		names := strings.Join(in.Names, ", ")
		asked := slices.ContainsFunc(in.Names, func(n string) bool { _, ok := r.Param(n); return ok && !fit.IsState(n) })
		if in.Remark || !asked { // a remark, or about what was not looked for
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %s. %s", names, in.Why, sentence(in.Advice)))
			continue
		}
		if len(in.Names) > 1 && in.RelErr != nil && *in.RelErr <= weakRelative {
			// they lean on each other, and are known all the same
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s are strongly correlated, though each is known to %.2g %%: %s", names, 100**in.RelErr, in.Why))
			continue
		}
		if len(in.Names) > 1 {
			names += " cannot be told apart"
		}
		say(Weak, "%s: %s. %s", names, in.Why, sentence(in.Advice))
		for _, n := range in.Names {
			if p, ok := r.Param(n); ok && len(in.Names) == 1 {
				p.Worth = "not identifiable"
			} else if ok && p.Worth == string(Identified) {
				p.Worth = string(Weak)
			}
		}
	}
	r.judgeHalfCutoff(say)
	r.judgeUnmodelled(say)
	r.judgePassivity(r.tops, say)
	r.judgeDirection(r.offsetKnown, say)

	// does it carry over?
	if v, own := r.Validation, r.Explained(); v != nil && v.Fit.Percent != nil && own != nil {
		switch loss := *own - *v.Fit.Percent; {
		case *v.Fit.Percent < poorFit:
			say(Rejected, "fit %.1f %% on the validation record", *v.Fit.Percent)
		case loss > validLoss:
			say(Weak, "the validation record is explained %.1f points worse", loss)
		}
	}
}

// sentence begins with a capital letter.
func sentence(s string) string {
	for _, r := range s {
		return string(unicode.ToUpper(r)) + s[len(string(r)):]
	}
	return s
}

// worth judges one parameter.
func (r *Result) worth(p *Parameter, say func(Verdict, string, ...any)) string {
	se := r.Err(p)
	if se == nil && fit.IsState(p.Name) {
		return string(Weak) // where a record begins: nothing to know about the axis
	}
	if se == nil {
		say(Weak, "%s: the data do not say how well it is known", p.Name)
		return "not identifiable"
	}
	ci := widened(r.random(p), p.shown)
	zero := ci != nil && ci[0] <= 0 && ci[1] >= 0
	minor := p.Share != nil && *p.Share**se <= weakShare*math.Abs(p.Value) // a small parameter that is known to be small
	out := string(Identified)
	weak := func(format string, args ...any) {
		say(Weak, format, args...)
		out = string(Weak)
	}
	switch {
	case p.Value < 0 && !zero && passive[p.Name]:
		say(Rejected, "%s is negative (%.4g %s): is the sign of force or position wrong?", p.Name, p.Value, p.Unit)
		return string(Rejected)
	case viscous(p.Name) && p.Value+beyondDoubt**se < 0 && ci != nil && ci[1] < 0:
		weak("%s is negative beyond doubt (%.4g, 95 %% interval %.3g to %.3g %s): friction that falls with speed is no viscous one. Look for a force that the model lacks (gravity, a Stribeck dip, a late or saturated force), or for a wrong sign",
			p.Name, p.Value, ci[0], ci[1], p.Unit)
	case minor && zero && (p.Name == "M" || strings.TrimRight(p.Name, "12") == "J" && p.Name != "J12"): // no axis is without inertia
		weak("%s cannot be told from zero (95 %% interval %.3g to %.3g %s): the motion hardly accelerates in the rows that are used", p.Name, ci[0], ci[1], p.Unit)
	case minor:
	case fit.IsState(p.Name): // where a record begins: nothing to know about the axis
	case zero && !fit.MayBeZero(p.Name):
		weak("%s cannot be told from zero (95 %% interval %.3g to %.3g %s)", p.Name, ci[0], ci[1], p.Unit)
	case zero: // that is an answer
	case fit.MayBeZero(p.Name): // and so is one that is near it
	case *se > weakRelative*math.Abs(p.Value):
		weak("%s is known to ±%.0f %% only", p.Name, 100**se/math.Abs(p.Value))
	}
	if p.AtBound != "" && !fit.IsState(p.Name) {
		weak("%s is on its %s bound, %.4g %s: the bound has the last word, not the data; widen it or fix the parameter", p.Name, p.AtBound, p.Value, p.Unit)
	}
	if h := r.tolerance[p.Name]; out == string(Identified) && h > 0 && math.Abs(p.shown) > h && !fit.IsState(p.Name) {
		return string(Weak) // moved by an alternative, or by what the model lacks: the reason says by which
	}
	return out
}

// viscous tells whether a parameter is a coefficient of viscous friction, of one joint or direction or of all.
func viscous(name string) bool {
	return slices.Contains([]string{"Fv", "sigma", "alpha"}, strings.TrimRight(name, "+-12")) && name != "sigma1" && name != "alpha1"
}

// judgeStates says once which states are on their bounds.
func (r *Result) judgeStates(say func(Verdict, string, ...any)) {
	var held []string
	for _, p := range r.Parameters {
		if fit.IsState(p.Name) && p.AtBound != "" && !p.Fixed {
			held = append(held, p.Name)
		}
	}
	switch {
	case len(held) > 6:
		say(Weak, "%d states such as %s are on their bounds: the motion does not begin where the record says, or the model bends it elsewhere", len(held), held[0])
	case held != nil:
		say(Weak, "%s on the bound: the motion does not begin where the record says, or the model bends it elsewhere; give wider bounds, or begin the record later", strings.Join(held, ", "))
	}
}

// State tells whether the parameter is a state that had to be found along with the parameters of the axis.
func (p *Parameter) State() bool { return fit.IsState(p.Name) }

// judgeAlternatives looks at the fits that took something else for granted. One that explains the record as well is as true as
// the result: a parameter that moves with it beyond its interval is not known. Two forms of the regression weigh one motion
// differently; where the model holds, they differ by chance alone [H78].
func (r *Result) judgeAlternatives(say func(Verdict, string, ...any)) {
	for _, s := range r.Sensitivity {
		limit := asGood
		if n := r.Residual.Effective; n > 1 {
			limit = math.Max(limit, math.Exp(excluded/2/n))
		}
		if s.held || !s.Form && (s.RMS > limit*r.Fit.RMS || s.Off*s.Off > excluded) {
			continue
		}
		worst, most := "", 1.0
		if s.Form {
			most = formsApart
		}
		for name, x := range s.Values {
			p, ok := r.Param(name)
			h := r.tolerance[name]
			if !ok || p.Fixed || fit.IsState(name) || !(h > 0) {
				continue
			}
			m := x - p.Value
			if s.Form && (fit.MayBeZero(name) || math.Abs(m) <= formsApart*h) {
				continue
			}
			p.moved(m, false)
			if m := math.Abs(m) / h; m > most {
				worst, most = name, m
			}
		}
		if p, ok := r.Param(worst); ok && s.Form {
			say(Weak, "%s is %.4g %s instead of %.4g in %s, which weighs the same motion otherwise: the model lacks something in a part of the motion (slow rows, reversals). Leave slow rows out with min_velocity, or fit a law with a bristle",
				worst, s.Values[worst], p.Unit, p.Value, s.What)
		} else if ok {
			say(Weak, "%s is %.4g %s instead of %.4g with %s, which explains the record as well (%.4g instead of %.4g %s rms): its interval does not hold that",
				worst, s.Values[worst], p.Unit, p.Value, s.What, s.RMS, r.Fit.RMS, s.Unit)
		}
	}
}

// judgeHalfCutoff looks at the fit that was repeated with half the band.
func (r *Result) judgeHalfCutoff(say func(Verdict, string, ...any)) {
	var names []string
	worst, moves := "", 0.0
	for j, half := range r.HalfCutoff {
		p := &r.Parameters[j]
		se, change := r.Err(p), math.Abs(half-p.Value)
		if se == nil || p.Share == nil {
			continue
		}
		if change > cutoffDrift*math.Abs(p.Value) && change > 3**se && change**p.Share > weakShare*math.Abs(p.Value) {
			names = append(names, p.Name)
			if m := change / math.Abs(p.Value); m > moves {
				worst, moves = fmt.Sprintf("%s most: %.4g %s at its band, %.4g at half of it", p.Name, p.Value, p.Unit, half), m
			}
		}
	}
	if names != nil {
		verb := "depends"
		if len(names) > 1 {
			verb = "depend"
		}
		say(Weak, "%s %s on the filter, %s: noise of the position or a lag of the force if the cutoff is high, lost motion if it is low; choose it where the values settle",
			strings.Join(names, ", "), verb, worst)
	}
}

// Headline is the verdict in one sentence.
func (r *Result) Headline() string {
	var names []string
	for _, p := range r.Parameters {
		if !p.Fixed && !fit.IsState(p.Name) {
			names = append(names, p.Name)
		}
	}
	s := fmt.Sprintf("%s: %s", r.Verdict, strings.Join(names, ", "))
	if f := r.Explained(); f != nil {
		s += fmt.Sprintf(", fit %.1f %%", *f)
		if r.Validation != nil && r.Validation.Fit.Percent != nil {
			s += fmt.Sprintf(" (validation %.1f %%)", *r.Validation.Fit.Percent)
		}
	}
	return s
}

// take fills the result from an assessed solution.
func (r *Result) take(s *fit.Solution, a *fit.Assessment, start []fit.Param) {
	r.solution = s
	r.Correlation, r.Condition, r.Scaled, r.Lags = a.Correlation, a.Condition, a.Scaled, a.Lags
	r.Fit, r.Residual, r.Quantity, r.Weighted = a.Fit, a.Residual, s.Quantity, s.Known
	r.Indistinct = append(append([]fit.Indistinct{}, s.Refused...), a.Indistinct...)
	searched := make([]int, len(s.Params)) // by parameter, its number among the estimates and 1; 0: not searched
	for j, i := range s.Searched() {
		searched[i] = j + 1
	}
	for i, p := range s.Params {
		out := Parameter{}
		if j := searched[i] - 1; j >= 0 {
			out.Estimate = a.Estimates[j]
			out.Min, out.Max = numeric.OrNull(p.Lo), numeric.OrNull(p.Hi)
			if k := fit.Index(start, p.Name); k >= 0 {
				out.Start = &start[k].Value
			}
		} else {
			out.Estimate, out.Fixed = fit.Estimate{Name: p.Name, Unit: p.Unit, Value: p.Value}, true
		}
		r.Parameters = append(r.Parameters, out)
	}
}
