package identify

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// Contribution is what one source adds to the uncertainty of a parameter, in the manner of the GUM (JCGM 100:2008).
type Contribution struct {
	Source   string  `json:"source"`
	Type     string  `json:"type"`                 // A: from the scatter of the rows; B: from anything else
	Standard float64 `json:"standard_uncertainty"` // in the unit of the parameter
}

// uniform is the standard deviation of what lies anywhere within ±1 [GUM, 4.3.7].
var uniform = 1 / math.Sqrt(3)

// budget lists what makes a parameter uncertain, and the sum of squares. What moves a value one way, or either way, counts as anywhere
// within that.
func (r *Result) budget(p *Parameter) (list []Contribution, combined *float64) {
	square := 0.0
	add := func(source, kind string, u float64) {
		if u > 0 && !math.IsInf(u, 0) {
			list = append(list, Contribution{source, kind, u})
			square += u * u
		}
	}
	if r.Err(p) == nil {
		return nil, nil
	}
	or0 := func(x *float64) float64 {
		if x == nil {
			return 0
		}
		return *x
	}
	beyond := func(u, less float64) float64 { return math.Sqrt(math.Max(u*u-less*less, 0)) }
	plain, own := or0(p.StdErr), or0(r.Err(p))
	switch {
	case p.Boot95 != nil:
		add("scatter of resampled rows", "A", (p.Boot95[1]-p.Boot95[0])/(2*normal95))
	default:
		add("noise of the rows", "A", math.Min(plain, own))
		if p.BetweenErr != nil {
			robust := or0(p.RobustErr)
			add("rows that depend on each other", "A", beyond(robust, plain))
			add("pieces of the record that differ", "A", beyond(own, math.Max(robust, plain)))
		} else {
			add("rows that depend on each other", "A", beyond(own, plain))
		}
	}
	add("what the residual holds: "+p.shownBy, "B", uniform*largerMove(p.shownMove))
	add("what the motion does not exclude: "+p.possibleBy, "B", uniform*largerMove(p.possibleMove))
	add("assumed values", "B", math.Hypot(uniform*largerMove(p.assumed), p.doubt.rms()))
	add("rounding of the force", "B", uniform*p.rounded)
	add("known values that were given with an error", "B", p.givenErr)
	add("prior", "B", p.prior)
	if st := r.Steps; st != nil && st.Worst == p.Name && st.Shift != nil {
		add("steps of the simulation", "B", *st.Shift*own)
	}
	return list, numeric.OrNull(math.Sqrt(square))
}

// normal95 are the standard deviations of half of a 95 % interval.
var normal95 = distuv.UnitNormal.Quantile(0.975)

// origin says where an interval comes from.
func (r *Result) origin(p *Parameter) string {
	var parts []string
	switch {
	case p.Boot95 != nil:
		parts = append(parts, "resampling")
	case p.BetweenErr != nil:
		parts = append(parts, "pieces of the record that differ")
	case r.Residual.White:
		parts = append(parts, "classical, white residual")
	default:
		parts = append(parts, "robust, rows depend on each other")
	}
	if s := r.reach(p); s != "" {
		parts = append(parts, s)
	}
	for _, w := range []struct {
		amount float64
		source string
	}{{largerMove(p.shownMove), p.shownBy}, {largerMove(p.possibleMove), p.possibleBy + ", which the motion does not exclude"},
		{math.Hypot(largerMove(p.assumed), p.doubt.rms()), "what was assumed"},
		{p.rounded, "the rounding of the force"}, {p.givenErr, "errors of what is known"}, {p.prior, "the uncertainty of a prior"}} {
		if w.amount != 0 {
			parts = append(parts, "widened by "+w.source)
		}
	}
	var exact []string
	for _, s := range p.takenFor() {
		exact = append(exact, s.Name)
	}
	if exact != nil {
		parts = append(parts, "times the "+list(exact)+", taken for exact")
	}
	return strings.Join(parts, "; ")
}

// reach says why the interval of chance alone does not reach two standard errors either way; "": it does.
func (r *Result) reach(p *Parameter) string {
	se, ci := r.Err(p), r.random(p)
	if se == nil || ci == nil || !(*se > 0) {
		return ""
	}
	down, up := (p.Value-ci[0]) / *se, (ci[1]-p.Value) / *se
	switch wide := (down + up) / 2; {
	case p.Boot95 != nil && (math.Abs(wide-normal95) > 0.1*normal95 || math.Abs(up-down) > 0.1*wide):
		return fmt.Sprintf("from %.2g standard errors below to %.2g above", down, up)
	case math.Abs(up-down) > 0.1*wide:
		return fmt.Sprintf("even in the logarithm: from %.2g standard errors below to %.2g above", down, up)
	case wide > 1.1*normal95:
		return fmt.Sprintf("%.2g standard errors either way: few of the rows are independent", wide)
	}
	return ""
}

// Equality is a test whether two parameters, which are the same in a simpler model, differ by more than chance.
type Equality struct {
	A          string   `json:"a"`
	B          string   `json:"b"`
	Difference float64  `json:"difference"` // a − b
	Error      *float64 `json:"error"`      // its standard error, with the correlation of both; null: infinite
	Unit       string   `json:"unit"`
	PValue     *float64 `json:"p"` // of a difference as large by chance
	Text       string   `json:"text"`
}

// equalities tests the pairs that are one parameter in a simpler model: both directions, break-away and sliding friction.
func (r *Result) equalities() (list []Equality) {
	test := func(a, b string) {
		p, okA := r.axisParam(a)
		q, okB := r.axisParam(b)
		if !okA || !okB || p.Fixed || q.Fixed {
			return
		}
		slope := make([]float64, len(r.Parameters))
		for i := range r.Parameters {
			switch r.axisName(r.Parameters[i].Name) {
			case a:
				slope[i] = 1
			case b:
				slope[i] = -1
			}
		}
		a, b = p.Name, q.Name
		e := Equality{A: a, B: b, Difference: p.Value - q.Value, Unit: p.Unit}
		e.Text = fmt.Sprintf("%s and %s: whether they differ is not told", a, b)
		if se := r.errOf(slope); se > 0 && !math.IsInf(se, 0) {
			chance := 2 * distuv.UnitNormal.Survival(math.Abs(e.Difference)/se)
			e.Error, e.PValue = &se, &chance
			words := "no difference beyond chance"
			if chance < equalP {
				words = "they differ"
			}
			e.Text = fmt.Sprintf("%s and %s: %s, %.3g ± %.2g %s (p = %.2g)", a, b, words, e.Difference, se, p.Unit, chance)
		}
		list = append(list, e)
	}
	for _, name := range []string{"Fc", "Fv", "sigma2", "Fs"} {
		test(name+"+", name+"-")
	}
	test("Fs", "Fc")
	return list
}

// equalP is the probability below which a difference is no chance.
const equalP = 0.01

// Next says in one line what would help most: what the first reason asks for.
func (r *Result) Next() string {
	for _, x := range r.Reasons {
		for _, l := range r.Unmodelled {
			if fit.CodeOf(l.Kind) == x.Code && l.Worst != "" {
				return l.Advice
			}
		}
		if s := remedies[x.Code]; s != "" {
			return s
		}
	}
	return ""
}

// remedies are what a reason asks for.
var remedies = map[fit.Code]string{
	fit.PoorFit: "Look at the figures of the fit (--report fit.html): is the sign of a column wrong, a load missing, or the law " +
		"another one? hil compare tries laws.",
	fit.AboveNoise:      "Look at the residual over time, position and speed (--report fit.html), and try other laws and terms: hil compare.",
	fit.Validation:      "Fit both records together, or record them under the same conditions.",
	fit.RecordCheck:     "Mend the record: the check says what is wrong with it.",
	fit.Unfinished:      "Let the method run to its end, or let lm follow.",
	fit.CoarseSteps:     "Leave substeps out of the file, or record faster.",
	fit.FewRows:         "Record longer, or more motions: the rows repeat themselves.",
	fit.Alternative:     "Say what the file leaves open (hold, lag), or record a motion that tells.",
	fit.Forms:           "Leave slow rows out (min_velocity), or fit a law with a bristle: --law lugre.",
	fit.FilterSets:      "Choose filter.cutoff where the values settle, or take a finer position sensor.",
	fit.NotTold:         "Record a motion that tells it: docs/reference/identify.md says which for each parameter; or fix it at a known value.",
	fit.Loose:           "Record longer, or a motion in which it matters more.",
	fit.NearZero:        "Record a motion in which it matters more, or leave its term out.",
	fit.Negative:        "Check the signs of force and position.",
	fit.NegativeViscous: "Look for a force that the model lacks, or a wrong sign.",
	fit.AtBound:         "Widen the bound, or fix the parameter.",
	fit.Indistinguished: "Fix one of them at a known value, or record the motion that its reason asks for.",
	fit.DrivingFriction: "Check the signs of force and position.",
	fit.OneDirection:    "Record both directions, or give the constant force: parameters: {offset: 0}.",
	fit.OverFitted:      "Take a law without a bristle, or record slow motion with reversals and a fine position.",
	fit.Slip:            "Record a ball that rolls: slower, or on a rougher plane.",
}
