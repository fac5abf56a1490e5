package identify

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/identify/fit"
)

// Ranked is a model in a comparison.
type Ranked struct {
	Name    string   `json:"name"`
	Rank    int      `json:"rank"`
	Params  int      `json:"parameters"` // free ones
	Verdict Verdict  `json:"verdict"`
	RMS     *float64 `json:"rms"`            // on the records that were fitted
	Percent *float64 `json:"fit_percent"`    //
	AICc    *float64 `json:"aicc"`           // with the number of rows
	DAICc   *float64 `json:"aicc_effective"` // with the number of effective rows, relative to the best model
	Weight  *float64 `json:"akaike_weight"`  // from that
	VRMS    *float64 `json:"validation_rms"`
	VFit    *float64 `json:"validation_fit_percent"`

	// Against the model before it in the ranking: is the difference more than chance? See Differ.
	PValue *float64 `json:"p_against_previous"`
	Tied   bool     `json:"tied_with_previous"`

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

// Compare ranks results of models of the same records: by what they leave over on the validation records if every model
// has them, else by AICc with the number of effective rows. Two neighbours whose squared residuals do not differ by more
// than chance are called tied: the records do not support a preference.
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
		m.Params, m.RMS, m.Percent, m.AICc, m.DAICc = r.Fit.Params, &r.Fit.RMS, r.Fit.Percent, r.Fit.AICc, r.Fit.AICcEffective
		if quantity == "" {
			quantity = r.Quantity + r.Fit.Unit
		}
		if q := r.Quantity + r.Fit.Unit; q != quantity {
			return nil, fmt.Errorf("%s explains %s and another model %s: only models of the same quantity can be compared", m.Name, q, quantity)
		}
		if r.Validation == nil {
			validated = false
			continue
		}
		m.VRMS, m.VFit = &r.Validation.Fit.RMS, r.Validation.Fit.Percent
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
	slices.SortStableFunc(c.Models, func(a, b Ranked) int {
		switch x, y := key(&a), key(&b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	c.By = "AICc on the fitted records, with effective rows: no second record was given"
	if validated {
		c.By = "residual on the validation records"
	}
	for i := range c.Models {
		m := &c.Models[i]
		m.Rank = i + 1
		if i == 0 || m.Result == nil || c.Models[i-1].Result == nil {
			continue
		}
		a, b := c.Models[i-1].Result.rows(validated), m.Result.rows(validated)
		if p, ok := Differ(a, b); ok {
			m.PValue, m.Tied = &p, p > 0.05
		}
	}
	c.say(validated)
	return c, nil
}

// rows is the solution whose residuals rank: that of the validation, or of the fit.
func (r *Result) rows(validated bool) *fit.Solution {
	if validated {
		return r.checked
	}
	return r.solution
}

// weigh turns AICc into differences to the best and into Akaike weights exp(−Δ/2)/Σ.
func weigh(models []Ranked) {
	best := math.Inf(1)
	for _, m := range models {
		if m.DAICc != nil {
			best = math.Min(best, *m.DAICc)
		}
	}
	sum := 0.0
	for i := range models {
		if m := &models[i]; m.DAICc != nil {
			d := *m.DAICc - best
			w := math.Exp(-d / 2)
			m.DAICc, m.Weight = &d, &w
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
	d, mean := make([]float64, n), 0.0
	for k := range d {
		d[k] = a.Residual[k]*a.Residual[k] - b.Residual[k]*b.Residual[k]
		mean += d[k] / float64(n)
	}
	for k := range d {
		d[k] -= mean
	}
	ones := slices.Repeat([]float64{1}, n)
	v, _ := fit.LongRun(ones, 1, d, a.Pieces) // of the sum
	if !(v[0] > 0) {
		return 1, true
	}
	t := mean * float64(n) / math.Sqrt(v[0])
	return 2 * distuv.UnitNormal.Survival(math.Abs(t)), true
}

// say puts the ranking into words.
func (c *Comparison) say(validated bool) {
	var group []string // of the best model and those tied with it, one after the other
	for i, m := range c.Models {
		if m.Result == nil || i > 0 && !m.Tied {
			break
		}
		group = append(group, m.Name)
	}
	on := "the fitted records"
	if validated {
		on = "the validation records"
	}
	switch {
	case len(group) == 0:
		c.Headline = "no model could be fitted"
		return
	case len(group) == 1:
		c.Headline = fmt.Sprintf("%s explains %s best", group[0], on)
	default:
		simplest := c.Models[0]
		for _, m := range c.Models[:len(group)] {
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
		case i > 0 && m.Tied:
			c.Supports = append(c.Supports, fmt.Sprintf("%s and %s: no difference beyond chance (p = %.2g)", c.Models[i-1].Name, m.Name, *m.PValue))
		}
		if m.Result != nil && m.Verdict == Rejected {
			c.Supports = append(c.Supports, fmt.Sprintf("%s: rejected, %s", m.Name, m.Result.Reasons[0]))
		}
		if m.VRMS != nil && m.RMS != nil && *m.VRMS > 1.5**m.RMS {
			c.Supports = append(c.Supports, fmt.Sprintf("%s leaves %.3g %s over on the validation records and %.3g on its own: it does not carry over", m.Name, *m.VRMS, m.Unit, *m.RMS))
		}
	}
	if !validated {
		c.Supports = append(c.Supports, "a second record, --validate, would tell which of the models carries over")
	}
}
