package identify

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hilrig/identify/fit"
)

// Ranked is a model in a comparison.
type Ranked struct {
	Name    string   `json:"name"`
	Rank    int      `json:"rank"`
	Params  int      `json:"parameters"` // free ones
	Verdict Verdict  `json:"verdict"`
	RMS     *float64 `json:"rms"`           // on the records that were fitted
	Percent *float64 `json:"fit_percent"`   //
	AICc    *float64 `json:"aicc"`          // with the number of rows
	DAICc   *float64 `json:"delta_aicc"`    // with the rows that count, above the best model, see weigh
	Weight  *float64 `json:"akaike_weight"` // from that
	VRMS    *float64 `json:"validation_rms"`
	VFit    *float64 `json:"validation_fit_percent"`

	// Against the best: is the difference more than chance? See Differ.
	PValue *float64 `json:"p_against_best"`
	Tied   bool     `json:"tied_with_best"`
	// it leaves far more over than the best, and the test has not the power to call that more than chance
	Undecided bool `json:"undecided"`

	Unit   string  `json:"unit"`
	Result *Result `json:"result,omitempty"`
	Err    string  `json:"error,omitempty"` // why there is no result
}

// Comparison ranks models of the same records.
type Comparison struct {
	By       string   `json:"ranked_by"` // what the ranking rests on
	Models   []Ranked `json:"models"`    // best first; those without a result last
	Headline string   `json:"headline"`
	Supports []string `json:"supports"` // what the records say, and what they do not
}

// evenMisfit is the ratio of two misfits up to which models are called equally good. A difference may be beyond chance and yet
// mean nothing: no law of friction is true to a hundredth, and on the next day the axis is another.
const evenMisfit = 1.01

// farMisfit is the ratio of two misfits from which a test that finds no difference beyond chance has not the power to: that is no tie.
const farMisfit = 1.2

// Compare ranks results of models of the same records: by what they leave over on the validation records if every model
// has them, else by AICc with the number of effective rows. A model whose squared residuals do not differ from those of the
// best by more than chance, or by less than a hundredth in size, is called tied with it: the records do not support a
// preference.
func Compare(models []Ranked) (*Comparison, error) {
	if len(models) < 2 {
		return nil, fmt.Errorf("a comparison needs at least two models, got %d", len(models))
	}
	c := &Comparison{Models: slices.Clone(models)}
	validated, quantity := true, ""
	for i := range c.Models {
		m := &c.Models[i]
		r := m.Result
		if r == nil {
			continue
		}
		m.Verdict, m.Unit = r.Verdict, r.Fit.Unit
		m.Params, m.RMS, m.Percent, m.AICc = r.Fit.Params, &r.Fit.RMS, r.Explained(), r.Fit.AICc
		q := r.Quantity + r.Fit.Unit
		if quantity = cmp.Or(quantity, q); q != quantity {
			return nil, fmt.Errorf("%s explains %s and another model %s: only models of the same quantity can be compared", m.Name, q, quantity)
		}
		if validated = validated && r.Validation != nil; r.Validation != nil {
			m.VRMS, m.VFit = &r.Validation.Fit.RMS, r.Validation.Fit.Percent
		}
	}
	weigh(c.Models)

	key := func(m *Ranked) float64 {
		x := m.DAICc
		if validated {
			x = m.VRMS
		}
		if m.Result == nil || x == nil {
			return math.Inf(1)
		}
		return *x
	}
	left := func(m *Ranked) float64 { // where no criterion ranks
		if m.Result == nil || m.RMS == nil || !math.IsInf(key(m), 1) {
			return 0
		}
		return *m.RMS
	}
	slices.SortStableFunc(c.Models, func(a, b Ranked) int { return cmp.Or(cmp.Compare(key(&a), key(&b)), cmp.Compare(left(&a), left(&b))) })
	c.By = "AICc on the fitted records, with effective rows: no second record was given"
	if validated {
		c.By = "residual on the validation records"
	}
	for i := range c.Models {
		m := &c.Models[i]
		m.Rank = i + 1
		if i == 0 || m.Result == nil || c.Models[0].Result == nil {
			continue
		}
		a, least := c.Models[0].Result.rows(validated)
		b, misfit := m.Result.rows(validated)
		if p, ok := Differ(a, b); ok {
			// one that ranks lower for its parameters alone is not worse either; without a criterion there is no rank
			best := &c.Models[0]
			chance := p > 0.05 || !validated && (m.DAICc == nil || best.DAICc == nil)
			m.PValue, m.Tied, m.Undecided = &p, misfit <= evenMisfit*least || chance && misfit < farMisfit*least, chance && misfit >= farMisfit*least
		}
	}
	c.describe(validated)
	return c, nil
}

// Worse finds the models that ended worse than one they hold as a special case, such as LuGre and Coulomb friction, or a law
// by direction and the same law without: their descents missed what the simpler one found. It gives for each of them the
// parameters of the best such model, to begin from (Plan.SimplerParams).
func Worse(models []Ranked) map[int]map[string]float64 {
	out := map[int]map[string]float64{}
	for i, m := range models {
		best := math.Inf(1)
		for _, s := range models {
			if m.Result == nil || s.Result == nil || !s.Result.nestedIn(m.Result) || s.Result.Fit.RMS >= min(best, m.Result.Fit.RMS*(1-1e-4)) {
				continue
			}
			best, out[i] = s.Result.Fit.RMS, map[string]float64{}
			for _, p := range s.Result.Parameters {
				out[i][p.Name] = p.Value
			}
		}
	}
	return out
}

// nestedIn tells that the model of r is a special case of that of a result on the same rows: it has fewer free parameters, and
// each of them is there, under its own name, another, or by direction.
func (r *Result) nestedIn(m *Result) bool {
	if r.Fit.Params >= m.Fit.Params || r.Fit.Rows != m.Fit.Rows || r.Fit.Unit != m.Fit.Unit {
		return false
	}
	free := found{}
	for _, p := range m.Parameters {
		if !p.Fixed {
			free[p.Name] = p.Value
		}
	}
	_, rise := free["dFs"]
	for _, p := range r.Parameters {
		if _, ok := free.get(p.Name); !ok && !p.Fixed && !(rise && p.Name == "Fs") && !(p.Name == "offset" && free.split()) {
			return false
		}
	}
	return true
}

// split tells that Coulomb friction has two directions, which take an offset in.
func (f found) split() bool {
	_, ok := f["Fc+"]
	return ok
}

// placeIn is the place in the free parameters of a model where a simpler one ended, and which of them that has: the others stay where they
// are. Without a break-away level there is none above sliding friction.
func (f found) placeIn(free []fit.Param) (theta []float64, known []bool) {
	own := f
	f = maps.Clone(f)
	if fc, ok := f.get("Fc"); ok {
		fs, has := f.get("Fs")
		if !has {
			fs = fc
		}
		if _, has := f["dFs"]; !has {
			f["dFs"] = fs - fc
		}
		f["Fs"] = fs
		if offset := f["offset"]; !f.split() { // the directions hold it
			f["Fc+"], f["Fc-"] = fc+offset, fc-offset
		}
	}
	theta, known = make([]float64, len(free)), make([]bool, len(free))
	for i, q := range free {
		theta[i] = q.Value
		if x, ok := f.get(q.Name); ok {
			theta[i] = math.Min(math.Max(x, q.Lo), q.Hi)
			_, known[i] = own.get(q.Name)
		}
	}
	return theta, known
}

// rows is the solution whose residuals rank, that of the validation or of the fit, and what these are in size.
func (r *Result) rows(validated bool) (s *fit.Solution, misfit float64) {
	if validated {
		return r.checked, r.Validation.Fit.RMS
	}
	return r.solution, r.Fit.RMS
}

// weigh gives every model the AICc of its residuals, above that of the best, and from these Akaike weights exp(−Δ/2)/Σ.
// Rows that depend on their neighbours repeat themselves, so only those that count enter, and for all models the same number:
// the smallest that any of them has. Counted one by one, a model would be rewarded for leaving over what depends on itself.
func weigh(models []Ranked) {
	rows := math.Inf(1)
	for _, m := range models {
		if m.Result != nil {
			rows = math.Min(rows, m.Result.Residual.Effective)
		}
	}
	best := math.Inf(1)
	for i := range models {
		m := &models[i]
		if m.Result == nil {
			continue
		}
		k := float64(m.Params)
		if !(m.Result.Fit.RMS > 0) || rows <= k+2 {
			continue
		}
		x := 2*rows*math.Log(m.Result.Fit.RMS) + 2*k + 2*k*(k+1)/(rows-k-1)
		if m.Result.Weighted {
			x = rows*m.Result.Fit.MSE + 2*k + 2*k*(k+1)/(rows-k-1)
		}
		m.DAICc, best = &x, math.Min(best, x)
	}
	sum := 0.0
	for i := range models {
		if m := &models[i]; m.DAICc != nil {
			*m.DAICc -= best
			w := math.Exp(-*m.DAICc / 2)
			m.Weight = &w
			sum += w
		}
	}
	for i := range models {
		if w := models[i].Weight; w != nil && sum > 0 {
			*w /= sum
		}
	}
}

// Differ tells how probable a difference of the mean squared residuals of two models as large as this one is if they are
// equally good [DM95]: with d_k = a_k² − b_k², the mean of d over its long-run standard error is about normal. Residuals
// depend on their neighbours, hence the long-run error [NW87][A91]. ok is false for residuals that do not belong to the
// same rows.
func Differ(a, b *fit.Solution) (p float64, ok bool) {
	if a == nil || b == nil || len(a.Residual) != len(b.Residual) || len(a.Residual) < 30 {
		return 0, false
	}
	n := len(a.Residual)
	d := make([]float64, n)
	for k := range d {
		d[k] = a.Residual[k]*a.Residual[k] - b.Residual[k]*b.Residual[k]
	}
	mean := stat.Mean(d, nil)
	floats.AddConst(-mean, d)
	v, _ := fit.LongRun([][]float64{d}, a.Pieces) // of the sum
	if !(v[0] > 0) {
		return 1, true
	}
	t := mean * float64(n) / math.Sqrt(v[0])
	return math.Erfc(math.Abs(t) / math.Sqrt2), true // not by a difference to 1, which ends at 1e-16
}

// describe puts the ranking into words.
func (c *Comparison) describe(validated bool) {
	var group []Ranked // the best model and those tied with it
	for i, m := range c.Models {
		if m.Result != nil && (i == 0 || m.Tied) {
			group = append(group, m)
		}
	}
	var open []string
	for _, m := range c.Models {
		if m.Undecided {
			open = append(open, m.Name)
		}
	}
	untested := slices.ContainsFunc(c.Models[1:], func(m Ranked) bool { return m.Result != nil && m.PValue == nil })
	on := "the fitted records"
	if validated {
		on = "the validation records"
	}
	switch {
	case len(group) == 0:
		c.Headline = "no model could be fitted"
		return
	case len(group) == 1 && untested:
		c.Headline = fmt.Sprintf("%s leaves least over on %s; whether that is more than chance cannot be said: the residuals are not those of "+
			"the same rows, or not at hand", group[0].Name, on)
	case len(group) == 1 && open != nil:
		c.Headline = fmt.Sprintf("%s leaves least over on %s; %s far more, though the rows count as too few to call that more than chance",
			group[0].Name, on, leave(open))
	case len(group) == 1:
		c.Headline = fmt.Sprintf("%s explains %s best, beyond chance", group[0].Name, on)
	default:
		simplest := c.Models[0]
		for _, m := range group {
			if m.Params < simplest.Params {
				simplest = m
			}
		}
		c.Headline = fmt.Sprintf("%d models explain %s equally well; the one with the fewest parameters is %s", len(group), on, simplest.Name)
	}
	for i, m := range c.Models {
		switch {
		case m.Result == nil:
			c.Supports = append(c.Supports, fmt.Sprintf("%s: %s", m.Name, m.Err))
		case m.Undecided:
			_, least := c.Models[0].Result.rows(validated)
			_, misfit := m.Result.rows(validated)
			c.Supports = append(c.Supports, fmt.Sprintf("%s: leaves %.3g times as much over as %s; the residual depends so much on itself that "+
				"the test has no power (p = %.2g): record longer, or other motions", m.Name, misfit/least, c.Models[0].Name, *m.PValue))
		case !validated && m.DAICc == nil:
			c.Supports = append(c.Supports, fmt.Sprintf("%s: the rows count as too few for its %d parameters, so that no criterion ranks it",
				m.Name, m.Params))
		case i > 0 && m.Tied && *m.PValue > 0.05:
			c.Supports = append(c.Supports, fmt.Sprintf("%s: no worse than %s beyond chance (p = %.2g)", m.Name, c.Models[0].Name, *m.PValue))
		case i > 0 && m.Tied:
			c.Supports = append(c.Supports, fmt.Sprintf("%s: leaves hardly more over than %s, or less with more parameters: no ground for a choice",
				m.Name, c.Models[0].Name))
		}
		if m.Result != nil && m.Verdict == Rejected && len(m.Result.Reasons) > 0 {
			c.Supports = append(c.Supports, fmt.Sprintf("%s: rejected, %s", m.Name, m.Result.Reasons[0].Text))
		}
		if m.VRMS != nil && m.RMS != nil && m.Result.Validation.Fit.Unit == m.Unit && *m.VRMS > 1.5**m.RMS {
			c.Supports = append(c.Supports, fmt.Sprintf("%s leaves %.3g %s over on the validation records and %.3g on its own: it does not "+
				"carry over", m.Name, *m.VRMS, m.Unit, *m.RMS))
		}
	}
	if b := c.bristle(validated); b != "" {
		c.Supports = append(c.Supports, b)
	}
	elsewhere := func(m Ranked) bool { return m.Result != nil && m.Result.Data.SHA256 != c.Models[0].Result.Data.SHA256 }
	if i := slices.IndexFunc(c.Models, elsewhere); i >= 0 {
		c.Supports = append(c.Supports, fmt.Sprintf("%s rests on another record than %s: a ranking of models has to rest on one",
			c.Models[i].Name, c.Models[0].Name))
	}
	if !validated {
		c.Supports = append(c.Supports, "a second record, --validate, would tell which of the models carries over")
	}
}

// leave is the beginning of what models leave over.
func leave(names []string) string {
	if len(names) == 1 {
		return names[0] + " leaves"
	}
	return list(names) + " leave"
}

// bristle says whether the records need one: the best model with a bristle is held against the best without, which may have a
// dip or rise of friction with speed all the same. "" where not both kinds are there.
func (c *Comparison) bristle(validated bool) string {
	has := func(m *Ranked, names ...string) bool {
		return m.Result != nil && slices.ContainsFunc(m.Result.Parameters, func(p Parameter) bool { return slices.Contains(names, p.Name) })
	}
	var with, without *Ranked
	dips := false
	for i := range c.Models {
		switch m := &c.Models[i]; {
		case m.Result == nil:
		case has(m, "sigma0", "kt", "k0"):
			with = cmp.Or(with, m)
		default:
			without = cmp.Or(without, m)
			dips = dips || has(m, "vs")
		}
	}
	if with == nil || without == nil {
		return ""
	}
	if !dips {
		return fmt.Sprintf("whether a bristle is needed is not said: no model without one, such as %s, has friction that depends on the speed "+
			"near zero; add a Stribeck curve", without.Name)
	}
	one, a := with.Result.rows(validated)
	other, b := without.Result.rows(validated)
	p, ok := Differ(one, other)
	worse := !validated && with.DAICc != nil && without.DAICc != nil && *without.DAICc <= *with.DAICc
	switch {
	case !ok:
		return fmt.Sprintf("whether a bristle is needed cannot be said: %s and %s do not explain the same rows", with.Name, without.Name)
	case p > 0.05 && b >= farMisfit*a && !worse:
		return fmt.Sprintf("whether a bristle is needed is not certain: %s leaves %.4g %s over, the best model without one, %s, %.4g %s, and "+
			"the test has not the power to call that more than chance (p = %.2g)",
			with.Name, a, with.Unit, without.Name, b, without.Unit, p)
	case p > 0.05 || b <= evenMisfit*a || worse:
		return fmt.Sprintf("no bristle is needed: %s leaves %.4g %s over, %s %.4g %s with one", without.Name, b, without.Unit, with.Name, a,
			with.Unit)
	}
	return fmt.Sprintf("a bristle is needed: %s leaves %.4g %s over, the best model without one, %s, %.4g %s (p = %.2g)", with.Name, a,
		with.Unit, without.Name, b, without.Unit, p)
}
