package study

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"hilrig/cmd/report"
	"hilrig/configs/schema"
	"hilrig/engine/numeric"
	"hilrig/identify"
)

// wordSummary counts the texts of a result.
type wordSummary struct {
	Name  string         `json:"name"`
	Count map[string]int `json:"count"`
}

func countWords(name string, texts []string) wordSummary {
	w := wordSummary{name, map[string]int{}}
	for _, t := range texts {
		if t != "" {
			w.Count[t]++
		}
	}
	return w
}

func (w wordSummary) String() string {
	var parts []string
	for _, t := range slices.Sorted(maps.Keys(w.Count)) {
		parts = append(parts, fmt.Sprintf("%s %d times", t, w.Count[t]))
	}
	return strings.Join(parts, ", ")
}

// fitSummary says which fits explain their recordings best.
type fitSummary struct {
	Headline    string      `json:"headline"`
	BestRun     int         `json:"best_run"`     // the least rms; −1: none
	SameOptimum int         `json:"same_optimum"` // runs whose rms is within a thousandth of it
	Models      []modelFits `json:"models"`       // by the values of a factor of words that chooses a model, the best first
}

// modelFits are the fits that have one value of a factor.
type modelFits struct {
	Factor   string         `json:"factor"`
	Value    string         `json:"value"`
	Runs     int            `json:"runs"`
	Failed   int            `json:"failed"`
	Percent  *float64       `json:"fit_percent"` // mean
	AICc     *float64       `json:"aicc"`        // sum; null: a fit has none
	DAICc    *float64       `json:"delta_aicc"`  // against the best
	Wins     int            `json:"wins"`        // recordings, or settings of the other factors, of which it has the least AICc
	Verdicts map[string]int `json:"verdicts"`
}

// sameOptimum is by how much the rms of two fits that ended in the same place may differ.
const sameOptimum = 1e-3

// fits ranks the runs of an identification; nil if the runs are simulations.
func (s *parameterStudy) fits() *fitSummary {
	verdicts := s.texts(fitVerdict)
	if !slices.ContainsFunc(verdicts, func(v string) bool { return v != "" }) {
		return nil
	}
	out := &fitSummary{BestRun: -1, Models: []modelFits{}}
	rms := s.result(fitRMS)
	for run, x := range rms {
		if numeric.IsFinite(x) && (out.BestRun < 0 || x < rms[out.BestRun]) {
			out.BestRun = run
		}
	}
	for _, x := range rms {
		if out.BestRun >= 0 && x <= rms[out.BestRun]*(1+sameOptimum) {
			out.SameOptimum++
		}
	}
	for i := range s.cfg.Vary {
		if s.chooses(i) {
			out.Models = append(out.Models, s.models(i, verdicts)...)
			break // the first of them; further ones are settings
		}
	}
	out.Headline = out.verdict(verdicts)
	return out
}

// chooses tells whether factor i is one of words that are models of the same rows: AICc compares nothing else.
func (s *parameterStudy) chooses(i int) bool {
	v := &s.cfg.Vary[i]
	if !v.Words() || v.Files != "" || schema.PathWithin(v.Path, "data") {
		return false
	}
	x, first := make([]float64, len(s.cfg.Vary)), map[string]float64{}
	for run, rows := range s.result("rows") {
		point, _ := s.plan.Run(run)
		s.plan.Point(point, x)
		x[i] = 0
		other := fmt.Sprint(x) // the settings of the other factors
		if seen, known := first[other]; known && numeric.IsFinite(rows) && rows != seen {
			return false
		} else if numeric.IsFinite(rows) {
			first[other] = rows
		}
	}
	return true
}

// models gathers the runs by the values of factor i.
func (s *parameterStudy) models(i int, verdicts []string) []modelFits {
	v, x := &s.cfg.Vary[i], make([]float64, len(s.cfg.Vary))
	aicc, percent := s.result(fitAICc), s.result("fit_percent")
	list := make([]modelFits, len(v.Values))
	sums, fits := make([]float64, len(list)), make([][]float64, len(list))
	least := map[string]int{} // run with the least AICc, by the settings of the other factors
	for k := range list {
		list[k] = modelFits{Factor: v.Name, Value: v.Values[k].Text(), Verdicts: map[string]int{}}
	}
	var of []int
	for run := range s.outcomes {
		point, _ := s.plan.Run(run)
		s.plan.Point(point, x)
		k := int(x[i])
		of = append(of, k)
		m := &list[k]
		m.Runs++
		if verdicts[run] == "" {
			m.Failed++
			sums[k] = math.NaN()
			continue
		}
		m.Verdicts[verdicts[run]]++
		sums[k] += aicc[run]
		fits[k] = append(fits[k], percent[run])
		x[i] = 0
		if other := fmt.Sprint(x); numeric.IsFinite(aicc[run]) {
			if best, known := least[other]; !known || aicc[run] < aicc[best] {
				least[other] = run
			}
		}
	}
	for _, run := range least {
		list[of[run]].Wins++
	}
	best := math.Inf(1)
	for k := range list {
		list[k].AICc, list[k].Percent = numeric.OrNull(sums[k]), nil
		if f := numeric.OnlyFinite(fits[k]...); len(f) > 0 {
			mean := 0.0
			for _, p := range f {
				mean += p / float64(len(f))
			}
			list[k].Percent = &mean
		}
		if numeric.IsFinite(sums[k]) && list[k].Runs > 0 {
			best = math.Min(best, sums[k])
		}
	}
	for k := range list {
		list[k].DAICc = numeric.OrNull(sums[k] - best)
	}
	last := func(x *float64) float64 {
		if x == nil {
			return math.Inf(1)
		}
		return *x
	}
	slices.SortStableFunc(list, func(a, b modelFits) int {
		return cmp.Or(cmp.Compare(last(a.DAICc), last(b.DAICc)), cmp.Compare(b.Wins, a.Wins))
	})
	return list
}

// verdict is the sentence above the ranking.
func (f *fitSummary) verdict(verdicts []string) string {
	count := countWords("", verdicts).Count
	if len(f.Models) == 0 {
		return fmt.Sprintf("the best of %d fits is run %d; %d ended there; %d of all are identified", len(verdicts), f.BestRun, f.SameOptimum,
			count[string(identify.Identified)])
	}
	kept := slices.DeleteFunc(slices.Clone(f.Models),
		func(m modelFits) bool { return m.Verdicts[string(identify.Rejected)]+m.Failed == m.Runs })
	if len(kept) == 0 {
		return "no value of " + f.Models[0].Factor + " is left that is not rejected"
	}
	b := &kept[0]
	text := fmt.Sprintf("%s = %s describes the recordings best", b.Factor, b.Value)
	if b.Runs > 1 {
		text += fmt.Sprintf(": it has the least AICc in %d of %d fits", b.Wins, b.Runs)
	}
	if n := b.Verdicts[string(identify.Identified)]; b.Runs == 1 {
		for word := range b.Verdicts {
			text += ", " + word
		}
	} else {
		text += fmt.Sprintf(", and is identified in %d", n)
	}
	if b.Value != f.Models[0].Value {
		text += fmt.Sprintf("; %s has a lower AICc, but is rejected", f.Models[0].Value)
	}
	return text
}

func (f *fitSummary) print(w io.Writer) {
	if f == nil {
		return
	}
	if len(f.Models) > 0 {
		fmt.Fprintln(w)
		t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
		fmt.Fprintf(t, "%-24s\tfits\tfailed\tfit %%\tΔAICc\tbest of\tidentified\tweakly\trejected\t\n", f.Models[0].Factor)
		for _, m := range f.Models {
			fmt.Fprintf(t, "%-24s\t%d\t%d\t%s\t%s\t%d\t%d\t%d\t%d\t\n", m.Value, m.Runs, m.Failed, report.OrDash("%.2f", m.Percent),
				report.OrDash("%.1f", m.DAICc), m.Wins,
				m.Verdicts[string(identify.Identified)], m.Verdicts[string(identify.Weak)], m.Verdicts[string(identify.Rejected)])
		}
		t.Flush()
	}
	fmt.Fprintf(w, "\n%s\n", f.Headline)
}
