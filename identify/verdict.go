package identify

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"hilrig/engine/numeric"
	"hilrig/identify/ball"
	"hilrig/identify/fit"
	"hilrig/identify/machine"
	"hilrig/identify/record"
)

// Where a verdict falls. The limits are conventions, not laws; docs/reference/identify.md explains them.
const (
	goodFit      = 80.0  // %, below: weakly identified
	poorFit      = 50.0  // %, below: rejected, the model misses half of what moves
	looseWidth   = 0.20  // half of the interval relative to the value: about a standard error of a tenth …
	minorWidth   = 2.0   // %, … if that half is also more than this of the force, where that is known
	unknownWidth = 1.0   // half of the interval relative to the value beyond which the value is not told
	weakRelative = 0.10  // standard error relative to the value
	weakShare    = 1.0   // % of the force
	validLoss    = 10.0  // percentage points of fit lost on the second record
	cutoffDrift  = 0.10  // relative change at half the cutoff, if it is also more than 3 standard errors
	excluded     = 10.0  // twice the logarithm of the likelihood by which an alternative is excluded by the record
	formsApart   = 1.5   // half intervals by which two forms of a regression may differ
	beyondDoubt  = 3.0   // standard errors
	asGood       = 1.005 // times the residual: no alternative below this is excluded, since no model is exact
)

// nature is what the sign of a parameter says.
type nature uint8

const (
	ordinary nature = iota // zero is one value of many, and too little to be told
	positive               // below zero it contradicts physics
	damping                // below zero it drives, but something else may hold it up
	anySign                // zero and both signs are answers
)

// contradicts are the names of parameters whose negative value contradicts physics.
var contradicts = []string{"M", "J", "J1", "J2", "Fc", "Fc1", "Fc2", "Fs", "sigma0", "kt", "vs"}

// natureOf is that of a parameter.
func (r *Result) natureOf(p *Parameter) nature {
	name := r.axisName(p.Name)
	switch term := machine.Term(p.Term); {
	case slices.Contains(contradicts, name) || term == machine.Coulomb || term == machine.Armature:
		return positive
	case viscous(name) || term == machine.Viscous || term == machine.Stiffness:
		return damping
	case term == machine.Offset || term == machine.Lag || fit.MayBeZero(name):
		return anySign
	case r.Model.Law == rolling && ball.IsFriction(p.Name):
		return damping
	case r.Model.Law == rolling && !ball.IsMoment(p.Name):
		return anySign
	}
	return ordinary
}

// absent tells whether a parameter describes what the record does not hold at all.
func (r *Result) absent(name string) bool {
	return slices.ContainsFunc(r.Indistinct, func(in fit.Indistinct) bool { return in.Absent && slices.Contains(in.Names, name) })
}

// judgeAbsent says what the record does not hold at all.
func (r *Result) judgeAbsent(say sayer) {
	for _, in := range r.Indistinct {
		if in.Absent {
			say(fit.OverFitted, fit.Weaken, in.Names, "%s. %s", in.Reason, in.Advice)
		}
	}
}

// judgeIndistinct asks whether the record tells parameters apart.
func (r *Result) judgeIndistinct(say sayer) {
	for _, in := range r.Indistinct {
		if len(in.Names) == 1 && slices.ContainsFunc(r.Parameters,
			func(p Parameter) bool { return p.Name == in.Names[0] && p.weight >= priorAlone }) {
			continue // its prior says it
		}
		names := strings.Join(in.Names, ", ")
		asked := slices.ContainsFunc(in.Names, func(n string) bool { _, ok := r.Param(n); return ok && !fit.IsState(n) })
		switch {
		case slices.ContainsFunc(in.Names, r.absent): // said already
			continue
		case in.Remark || !asked: // a remark, or about what was not looked for
			say(fit.Indistinguished, fit.Remark, in.Names, "%s: %s. %s", names, in.Reason, sentence(in.Advice))
			continue
		case len(in.Names) > 1 && in.RelErr != nil && *in.RelErr <= weakRelative: // they lean on each other, and are known all the same
			say(fit.Indistinguished, fit.Remark, in.Names, "%s are strongly correlated, though each is known to %.2g %%: %s", names, 100**in.RelErr,
				in.Reason)
			continue
		case len(in.Names) > 1:
			say(fit.Indistinguished, fit.Weaken, in.Names, "%s cannot be told apart: %s. %s", names, in.Reason, sentence(in.Advice))
		default:
			say(fit.NotTold, fit.Weaken, in.Names, "%s: %s. %s", names, in.Reason, sentence(in.Advice))
		}
		for _, n := range in.Names {
			if p, ok := r.Param(n); ok && len(in.Names) == 1 {
				p.Worth = NotIdentifiable
			}
		}
	}
}

// judgeRefused names what a fit does not give.
func (r *Result) judgeRefused(say sayer) {
	for _, u := range r.unidentified {
		say(fit.NotTold, fit.Weaken, u.Names, "%s", u.text)
	}
}

// sentence begins with a capital letter.
func sentence(s string) string {
	for _, r := range s {
		return string(unicode.ToUpper(r)) + s[len(string(r)):]
	}
	return s
}

// judgeParameters asks of every parameter whether it is known, and whether a contact or body can have it.
func (r *Result) judgeParameters(say sayer) {
	var g graded
	for i := range r.Parameters {
		p := &r.Parameters[i]
		refused := slices.ContainsFunc(r.unidentified, func(u refused) bool {
			return slices.Contains(u.Names, p.Name) &&
				(p.Fixed || len(u.Names) == 1)
		})
		if p.Fixed {
			if p.Worth = KnownBefore; refused {
				p.Worth = NotIdentifiable
			} else if p.assumption {
				p.Worth = Assumed
			}
			continue
		}
		if p.Error, p.CI = r.combined(p), r.Interval(p); refused {
			p.Worth = NotIdentifiable
			continue
		}
		p.IntervalSource = r.origin(p)
		p.Budget, p.Combined = r.budget(p)
		p.Worth = r.worth(p, &g, say)
	}
	g.report(say)
	r.Equalities = r.equalities()
}

// graded are parameters with the same shortcoming, which are named together where they are many.
type graded struct{ zero, loose, unknown []grade }

type grade struct{ name, text string }

// fewNames is how many parameters with the same shortcoming get a reason each.
const fewNames = 3

func (g *graded) report(say sayer) {
	for _, c := range []struct {
		grades                []grade
		code                  fit.Code
		oneFormat, listFormat string
	}{
		{g.unknown, fit.NotTold, "%s", "the record does not tell %s"},
		{g.zero, fit.NearZero, "%s", "these cannot be told from zero: %s"},
		{g.loose, fit.Loose, "%s", "known to more than a fifth of their values only: %s"},
	} {
		var names, texts []string
		for _, p := range c.grades {
			names, texts = append(names, p.name), append(texts, p.text)
		}
		if len(names) > fewNames {
			say(c.code, fit.Weaken, names, c.listFormat, list(names))
			continue
		}
		for i := range names {
			say(c.code, fit.Weaken, names[i:i+1], c.oneFormat, texts[i])
		}
	}
}

// addWide takes in a parameter whose interval is wide. What a motion does not exclude is in the word of a parameter and no reason:
// certain is the interval without it.
func (g *graded) addWide(p *Parameter, certain *[2]float64) {
	half, size := math.Max(certain[1]-p.Value, p.Value-certain[0]), math.Abs(p.Value)
	only := fmt.Sprintf("%s is known to ±%.3g %% only", p.Name, 100*half/size)
	switch {
	case certain[0] <= 0 && certain[1] >= 0:
		g.zero = append(g.zero, grade{p.Name, fmt.Sprintf("%s cannot be told from zero (95 %% interval %.3g to %.3g %s)", p.Name, certain[0],
			certain[1], p.Unit)})
	case half > unknownWidth*size:
		g.unknown = append(g.unknown, grade{p.Name, only})
	case half > looseWidth*size:
		g.loose = append(g.loose, grade{p.Name, only})
	}
}

// worth judges one parameter by the interval that is printed, whatever it comes from.
func (r *Result) worth(p *Parameter, g *graded, say sayer) string {
	se, ci := r.Err(p), p.CI
	if r.absent(p.Name) {
		return NotIdentifiable
	}
	if (se == nil || ci == nil) && fit.IsState(p.Name) {
		return string(Weak) // where a record begins: nothing to know about the axis
	}
	if se == nil || ci == nil {
		g.unknown = append(g.unknown, grade{p.Name, p.Name + ": the data do not say how well it is known"})
		return NotIdentifiable
	}
	if p.weight >= priorAlone {
		return PriorAlone
	}
	half, size := p.halfInterval(), math.Abs(p.Value)
	zero := ci[0] <= 0 && ci[1] >= 0
	minor := p.Share != nil && *p.Share*half <= minorWidth*size // a small parameter that is known to be small
	out := string(Identified)
	weak := func(code fit.Code, format string, args ...any) {
		say(code, fit.Weaken, []string{p.Name}, format, args...)
		out = string(Weak)
	}
	kind, name := r.natureOf(p), r.axisName(p.Name)
	switch {
	case p.Value < 0 && !zero && kind == positive:
		if p.Share != nil && *p.Share <= weakShare { // of no weight: what is wrong elsewhere shows in it
			weak(fit.Negative, "%s is negative (%.4g %s), and makes no more than %.2g %% of the force", p.Name, p.Value, p.Unit, *p.Share)
			return out
		}
		say(fit.Negative, fit.Reject, nil, "%s is negative (%.4g %s): is the sign of force or position wrong?", p.Name, p.Value, p.Unit)
		return string(Rejected)
	case kind == damping && p.Value+beyondDoubt**se < 0 && ci[1] < 0:
		weak(fit.NegativeViscous, "%s is negative beyond doubt (%.4g, 95 %% interval %.3g to %.3g %s): friction that falls with speed is no "+
			"viscous one. Look for a force that the model lacks (gravity, a Stribeck dip, a late or saturated force), or for a wrong sign",
			p.Name, p.Value, ci[0], ci[1], p.Unit)
	case minor && zero && (name == "M" || strings.TrimRight(name, "12") == "J" && name != "J12"): // no axis is without inertia
		weak(fit.NearZero, "%s cannot be told from zero (95 %% interval %.3g to %.3g %s): the motion hardly accelerates in the rows that "+
			"are used", p.Name, ci[0], ci[1], p.Unit)
	case fit.IsState(p.Name): // where a record begins: nothing to know about the axis
	// zero is an answer, and so is what is near it
	case fit.MayBeZero(p.Name) || kind == anySign || slices.Contains(r.negligibleParams, p.Name):
		if half > looseWidth*r.scale(p) {
			g.loose = append(g.loose, grade{p.Name, fmt.Sprintf("%s is known to ±%.2g %s only", p.Name, half, p.Unit)})
			out = string(Weak)
		}
	case minor:
		if half > looseWidth*size { // the value is open, what it makes is not
			out = string(Weak)
		}
	case half > looseWidth*size:
		g.addWide(p, r.interval(p, false))
		if out = string(Weak); half > unknownWidth*size {
			return NotIdentifiable
		}
	}
	if p.AtBound != "" && !fit.IsState(p.Name) && !slices.Contains(r.negligibleParams, p.Name) {
		weak(fit.AtBound, "%s is on its %s bound, %.4g %s: the bound has the last word, not the data; widen it or fix the parameter", p.Name,
			p.AtBound, p.Value, p.Unit)
	}
	if h := r.tolerance[p.Name]; out == string(Identified) && h > 0 && math.Max(-p.shownMove[0], p.shownMove[1]) > h && !fit.IsState(p.Name) {
		return string(Weak) // moved by an alternative, or by what the model lacks: the reason says by which
	}
	return out
}

// scale is the value with which a parameter, of which zero is an answer, would make all that was measured; +Inf: not known.
func (r *Result) scale(p *Parameter) float64 {
	if r.solution != nil {
		for j, i := range r.solution.FreeParams {
			if q := &r.solution.Params[i]; q.Name == p.Name && (q.Zero || fit.MayBeZero(q.Name)) {
				return r.solution.Size(j)
			}
		}
	}
	return math.Inf(1)
}

// viscous tells whether a parameter is a coefficient of viscous friction, of one joint or direction or of all.
func viscous(name string) bool {
	return slices.Contains([]string{"Fv", "sigma", "alpha"}, strings.TrimRight(name, "+-12")) && name != "sigma1" && name != "alpha1"
}

// judgeStates says once which states are on their bounds.
func (r *Result) judgeStates(say sayer) {
	var held []string
	for _, p := range r.Parameters {
		if fit.IsState(p.Name) && p.AtBound != "" && !p.Fixed {
			held = append(held, p.Name)
		}
	}
	switch {
	case len(held) > 6:
		say(fit.AtBound, fit.Weaken, held, "%d states such as %s are on their bounds: the motion does not begin where the record says, or the "+
			"model bends it elsewhere", len(held), held[0])
	case held != nil:
		say(fit.AtBound, fit.Weaken, held, "%s on the bound: the motion does not begin where the record says, or the model bends it elsewhere; "+
			"give wider bounds, or begin the record later", strings.Join(held, ", "))
	}
}

// State tells whether the parameter is a state that had to be found along with the parameters of the axis.
func (p *Parameter) State() bool { return fit.IsState(p.Name) }

// judgeAlternatives looks at the fits that took something else for granted. One that explains the record as well is as true as
// the result: a parameter that moves with it beyond its interval is not known. Two forms of the regression weigh one motion
// differently; where the model holds, they differ by chance alone [HAU78]. Where they differ by more, intervals hold both.
func (r *Result) judgeAlternatives(say sayer) {
	for _, s := range r.Sensitivity {
		limit := asGood
		if n := r.Residual.Effective; n > 1 {
			limit = math.Max(limit, math.Exp(excluded/2/n))
		}
		if s.inIntervals || !s.Form && (s.RMS > limit*r.Fit.RMS || s.Deviation*s.Deviation > excluded) {
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
			m := (1 - p.weight) * (x - p.Value + p.pulled)
			if s.Form { // what tells less of a parameter may differ by more
				if ci := r.random(p); ci != nil && math.Abs(m) > math.Hypot((ci[1]-ci[0])/2, s.halfIntervals[name]) && !fit.MayBeZero(name) {
					p.addMove(m, false, s.What)
				}
				h = math.Max(h, s.halfIntervals[name])
			}
			if s.Form && (fit.MayBeZero(name) || math.Abs(m) <= formsApart*h) ||
				!s.Form && m >= p.possibleMove[0] && m <= p.possibleMove[1] { // its interval holds that already
				continue
			}
			p.addMove(m, false, s.What)
			if m := math.Abs(m) / h; m > most {
				worst, most = name, m
			}
		}
		if p, ok := r.Param(worst); ok && s.Form {
			say(fit.Forms, fit.Weaken, []string{worst}, "%s is %.4g %s instead of %.4g in %s, which weighs the same motion otherwise: the model "+
				"lacks something in a part of the motion (slow rows, reversals). Leave slow rows out with min_velocity, or fit a law with a bristle",
				worst, s.Values[worst], p.Unit, p.Value, s.What)
		} else if ok {
			say(fit.Alternative, fit.Weaken, []string{worst}, "%s is %.4g %s instead of %.4g with %s, which explains the record as well (%.4g "+
				"instead of %.4g %s rms): its interval does not hold that",
				worst, s.Values[worst], p.Unit, p.Value, s.What, s.RMS, r.Fit.RMS, s.Unit)
		}
	}
}

// judgeHalfCutoff looks at the fit that was repeated with half the band.
func (r *Result) judgeHalfCutoff(say sayer) {
	var names []string
	worst, moves := "", 0.0
	for j, half := range r.HalfCutoff {
		p := &r.Parameters[j]
		se, change := r.Err(p), math.Abs(half-p.Value)
		if se == nil || p.Share == nil {
			continue
		}
		chance := *se
		if r.halfErr != nil { // half of the same data tells less: the variance of the difference is at most its own [HAU78]
			chance = math.Max(chance, r.halfErr[j])
		}
		if change > cutoffDrift*math.Abs(p.Value) && change > 3*chance && change**p.Share > weakShare*math.Abs(p.Value) {
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
		say(fit.FilterSets, fit.Weaken, names, "%s %s on the filter, %s: noise of the position or a lag of the force if the cutoff is high, "+
			"lost motion if it is low; choose it where the values settle",
			strings.Join(names, ", "), verb, worst)
	}
}

// Headline is the verdict in one sentence: how well each parameter is known, which the record does not tell, and which numbers of the file
// the result rests on without a word of how well these are known.
func (r *Result) Headline() string {
	var told, not []string
	for i := range r.Parameters {
		p := &r.Parameters[i]
		switch {
		case p.Fixed && p.Worth != NotIdentifiable || fit.IsState(p.Name):
		case p.Worth == NotIdentifiable || p.CI == nil:
			not = append(not, p.Name)
		default:
			told = append(told, p.precision())
		}
	}
	var parts []string
	if told != nil {
		parts = append(parts, list(told))
	}
	if not != nil {
		parts = append(parts, list(not)+" not told")
	}
	s := fmt.Sprintf("%s: %s", r.Verdict, strings.Join(parts, "; "))
	if f := r.Explained(); f != nil {
		s += fmt.Sprintf("; fit %.1f %%", *f)
		if r.Validation != nil && r.Validation.Fit.Percent != nil {
			s += fmt.Sprintf(" (validation %.1f %%)", *r.Validation.Fit.Percent)
		}
	}
	var exact []string
	for _, g := range r.givenNumbers {
		if g.Uncertainty == 0 {
			exact = append(exact, g.Name)
		}
	}
	if exact != nil {
		s += "; assumed exact: " + list(exact)
	}
	return s
}

// precision tells how well a parameter is known: by half of its interval, relative to the value where that is no matter of chance.
func (p *Parameter) precision() string {
	half := p.halfInterval()
	if fit.MayBeZero(p.Name) || half >= math.Abs(p.Value) {
		return strings.TrimSpace(fmt.Sprintf("%s ± %.2g %s", p.Name, half, p.Unit))
	}
	return fmt.Sprintf("%s to %.2g %%", p.Name, 100*half/math.Abs(p.Value))
}

// halfInterval is that of the interval, to the wider side.
func (p *Parameter) halfInterval() float64 { return math.Max(p.CI[1]-p.Value, p.Value-p.CI[0]) }

// fillFrom begins the result of a fit that is not of an axis: it takes in records, findings and a solution, assessed and then adjusted.
func (r *Result) fillFrom(s *fit.Solution, adjust func(e *fit.Assessment), info []record.Info, findings []record.Finding, warnings []string,
	start []fit.Param) error {
	a, err := fit.Assess(s)
	if err != nil {
		return err
	}
	adjust(a)
	if r.Data = info[0]; len(info) > 1 {
		r.Records = info
	}
	r.Findings, r.Warnings = append([]record.Finding{}, findings...), append([]string{}, warnings...)
	r.fill(s, a, start)
	r.Indistinct = append([]fit.Indistinct{}, a.Indistinct...)
	return nil
}

// noRepetitions takes the scatter between pieces out of an assessment: of several outputs, or markers, that share one motion.
func noRepetitions(a *fit.Assessment) {
	for i := range a.Estimates {
		a.Estimates[i].BetweenErr, a.Estimates[i].BetweenCI95 = nil, nil
	}
}

// fill fills the result from an assessed solution.
func (r *Result) fill(s *fit.Solution, a *fit.Assessment, start []fit.Param) {
	r.solution = s
	r.Correlation, r.Condition, r.Scaled, r.Lags = a.Correlation, a.Condition, a.Scaled, a.Lags
	r.Fit, r.Residual, r.Quantity, r.Weighted = a.Fit, a.Residual, s.Quantity, s.NoiseKnown
	r.Indistinct = append(append([]fit.Indistinct{}, s.Unidentifiable...), a.Indistinct...)
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
