package study

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"hilrig/cmd/report"
	"hilrig/cmd/simulate"
	"hilrig/engine/numeric"
	"hilrig/engine/study"
)

// The keys of the JSON are documented in docs/reference/study.md.

type Summary struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Study       string           `json:"study"`
	Base        string           `json:"base"`
	Program     string           `json:"program"`
	Design      string           `json:"design"`
	Seed        int              `json:"seed"`
	Runs        int              `json:"runs"`
	Points      int              `json:"points"`
	Replicates  int              `json:"replicates"`
	Failed      int              `json:"failed"`
	Failures    []failure        `json:"failures"` // the first ones
	Factors     []factorSummary  `json:"factors"`
	Metrics     []metricSummary  `json:"metrics"`
	Words       []wordSummary    `json:"words,omitempty"`   // of results that are texts, how often each
	Fits        *fitSummary      `json:"fits,omitempty"`    // base of an identification
	Islands     *islandSummary   `json:"islands,omitempty"` // an evolution on islands
	Unverified  *unverifiedSteps `json:"unverified"`        // null: the runs do not say
	Warned      []int            `json:"warned"`            // runs with warnings
	Files       []string         `json:"files"`
}

type failure struct {
	Run    int    `json:"run"`
	Reason string `json:"reason"`
}

type factorSummary struct {
	Name   string   `json:"name"`
	Path   string   `json:"path"`
	Unit   string   `json:"unit"`
	Scale  string   `json:"scale"`
	Low    *float64 `json:"low"` // null: words
	High   *float64 `json:"high"`
	Values []string `json:"values,omitempty"`
}

type metricSummary struct {
	Name         string               `json:"name"`
	Unit         string               `json:"unit"`
	N            int                  `json:"n"`
	Mean         *float64             `json:"mean"`
	SD           *float64             `json:"sd"`
	Min          *float64             `json:"min"`
	Median       *float64             `json:"median"`
	Max          *float64             `json:"max"`
	Interval     *[2]float64          `json:"interval95,omitempty"` // bootstrap: between 2.5 and 97.5 % of the samples
	SeedSD       *float64             `json:"seed_sd"`              // between replicates; null: there are none
	SeedRelative *float64             `json:"seed_sd_relative"`
	Correlations []correlationSummary `json:"correlations"`
}

type correlationSummary struct {
	Factor   string           `json:"factor"`
	Points   int              `json:"points"`
	Spearman correlationValue `json:"spearman"`
	Partial  correlationValue `json:"partial"`
}

type correlationValue struct {
	R    *float64 `json:"r"` // null: nothing can be said
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
	P    *float64 `json:"p"`
}

// unverifiedSteps is the share of steps that were taken without a verified solution.
type unverifiedSteps struct {
	Mean        float64 `json:"mean"`
	Max         float64 `json:"max"`
	MaxRun      int     `json:"max_run"`
	RunsWithout int     `json:"runs_without"` // runs in which there was none
}

// sitting is what belongs to this time only.
type sitting struct {
	Folder      string  `json:"folder"`
	WallTime    float64 `json:"wall_time_s"`
	Workers     int     `json:"workers"` // 0: the runs were done elsewhere
	Resumed     int     `json:"resumed"` // runs that were done before
	MissingRuns int     `json:"missing"` // runs that are not done yet
}

const shownFailures = 20

func valueOf(c study.Correlation) correlationValue {
	return correlationValue{numeric.OrNull(c.R), numeric.OrNull(c.Lo), numeric.OrNull(c.Hi), numeric.OrNull(c.P)}
}

// summarise makes tables of the outcomes.
func (s *parameterStudy) summarise() *Summary {
	c := s.cfg
	out := &Summary{
		Name: c.Name, Description: c.Description, Study: s.folder.Manifest.Study, Base: s.base(), Program: s.folder.Manifest.Program.Version,
		Design: c.Design.Kind.String(), Seed: c.Design.Seed,
		Runs: s.plan.Runs(), Points: s.plan.Points(), Replicates: s.plan.Replicates(), Failures: []failure{}, Warned: []int{}, Files: []string{},
	}
	for _, o := range s.outcomes {
		if o.Failure == "" || o.Failure == study.NotDone {
			continue
		}
		if out.Failed++; out.Failed <= shownFailures {
			out.Failures = append(out.Failures, failure{o.Run, o.Failure})
		}
	}
	x, of := s.factorsForRanks()
	for i := range c.Vary {
		v := &c.Vary[i]
		f := factorSummary{Name: v.Name, Path: v.Path, Unit: v.Unit(), Scale: v.Scale}
		if k := slices.Index(of, i); k >= 0 {
			lo, hi := slices.Min(x[k]), slices.Max(x[k])
			f.Low, f.High = &lo, &hi
		}
		for _, w := range v.Values {
			f.Values = append(f.Values, w.Text())
		}
		out.Factors = append(out.Factors, f)
	}
	if out.Islands = s.evolved(); out.Islands == nil {
		out.Fits = s.fits()
	}
	for _, m := range s.resultNames() {
		if m.Text != "" {
			if m.Name != fitReason && !s.islands() {
				out.Words = append(out.Words, countWords(m.Name, s.texts(m.Name)))
			}
			continue
		}
		values := s.result(m.Name)
		if simulate.IsUnverified(m.Name) {
			out.doubt(values)
		}
		if m.Name == simulate.Warnings {
			for run, n := range values {
				if n > 0 {
					out.Warned = append(out.Warned, run)
				}
			}
		}
		if len(c.Metrics) > 0 && !slices.Contains(c.Metrics, m.Name) {
			continue
		}
		if n := c.Design.Islands; s.islands() { // of all rounds the last, and of the end nothing: it is in Islands
			if values = values[c.Design.Rounds*n : (c.Design.Rounds+1)*n]; len(numeric.OnlyFinite(values...)) == 0 {
				continue
			}
		}
		d := study.Summarise(values, s.plan.Replicates())
		sum := metricSummary{
			Name: m.Name, Unit: m.Unit, N: d.N, Mean: numeric.OrNull(d.Mean), SD: numeric.OrNull(d.SD), Min: numeric.OrNull(d.Min),
			Median: numeric.OrNull(d.Median), Max: numeric.OrNull(d.Max),
			SeedSD: numeric.OrNull(d.WithinSD), SeedRelative: numeric.OrNull(d.RelativeWithin), Correlations: []correlationSummary{},
		}
		if c.Design.Kind == study.Bootstrap && len(values) > 1 {
			if x := numeric.OnlyFinite(values[1:]...); len(x) > 1 {
				sum.Interval = &[2]float64{numeric.Quantile(x, 0.025), numeric.Quantile(x, 0.975)}
			}
		}
		means := s.means(values)
		for k, p := range study.Partial(x, means) {
			sum.Correlations = append(sum.Correlations, correlationSummary{c.Vary[of[k]].Name, p.N, valueOf(study.Spearman(x[k], means)),
				valueOf(p)})
		}
		out.Metrics = append(out.Metrics, sum)
	}
	if len(c.Metrics) > 0 { // in the order asked for
		slices.SortStableFunc(out.Metrics, func(a, b metricSummary) int {
			return slices.Index(c.Metrics, a.Name) - slices.Index(c.Metrics,
				b.Name)
		})
	}
	return out
}

// doubt takes in the shares of one result; of several laws the worst counts.
func (s *Summary) doubt(share []float64) {
	if s.Unverified == nil {
		s.Unverified = &unverifiedSteps{MaxRun: -1}
	}
	d, n, sum, without := s.Unverified, 0, 0.0, 0
	for run, v := range share {
		if math.IsNaN(v) {
			continue
		}
		n++
		if sum += v; v == 0 {
			without++
		}
		if v > d.Max {
			d.Max, d.MaxRun = v, run
		}
	}
	if n > 0 {
		if m := sum / float64(n); m >= d.Mean {
			d.Mean, d.RunsWithout = m, without
		}
	}
}

// print writes the summary for people.
func (s *Summary) print(w io.Writer, sit sitting) {
	plan := fmt.Sprintf("%d runs", s.Runs)
	if s.Replicates > 1 {
		plan = fmt.Sprintf("%d points, %d times each", s.Points, s.Replicates)
	}
	fmt.Fprintf(w, "%s\n%s of %s, %s, seed %d", report.Titled(s.Name, s.Description), plan, s.Base, s.Design, s.Seed)
	if sit.Workers > 0 {
		fmt.Fprintf(w, "; %.3g s with %d workers", sit.WallTime, sit.Workers)
	}
	if sit.MissingRuns > 0 {
		fmt.Fprintf(w, "; %d runs are not done yet and count for nothing", sit.MissingRuns)
	}
	if sit.Workers > 0 && sit.Resumed > 0 {
		fmt.Fprintf(w, ", %d runs were there already", sit.Resumed)
	}
	fmt.Fprintln(w)
	if s.Failed > 0 {
		fmt.Fprintf(w, "%d runs failed:\n", s.Failed)
		for _, f := range s.Failures[:min(len(s.Failures), 5)] {
			fmt.Fprintf(w, "   run %d: %s\n", f.Run, f.Reason)
		}
	}
	if d := s.Unverified; d != nil {
		fmt.Fprint(w, "steps without a verified solution: ")
		if d.Max == 0 {
			fmt.Fprintln(w, "none")
		} else {
			fmt.Fprintf(w, "%.2g of all on average, at most %.2g (run %d); none in %d runs\n", d.Mean, d.Max, d.MaxRun, d.RunsWithout)
		}
	}
	if n := len(s.Warned); n > 0 {
		fmt.Fprintf(w, "%d of %d runs have warnings, run %d is the first: hil simulate with its factors says them\n", n, s.Runs, s.Warned[0])
	}
	for _, x := range s.Words {
		fmt.Fprintf(w, "%s: %s\n", x.Name, x)
	}
	fmt.Fprintln(w)
	s.printMetrics(w)
	s.Fits.print(w)
	s.Islands.print(w)
	for i := range s.Metrics {
		s.printCorrelations(w, &s.Metrics[i])
	}
	fmt.Fprintf(w, "\n%s: %s, summary.json\n", sit.Folder, strings.Join(s.Files, ", "))
}

func (s *Summary) printMetrics(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "result%s\tunit\truns\tmean\tsd\tmin\tmedian\tmax\t", strings.Repeat(" ", 18))
	if s.Replicates > 1 {
		fmt.Fprint(t, "sd of seeds\t")
	}
	if s.Design == study.Bootstrap.String() {
		fmt.Fprint(t, "95 % of samples\t")
	}
	fmt.Fprintln(t)
	for _, m := range s.Metrics {
		fmt.Fprintf(t, "%-24s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t", m.Name, m.Unit, m.N, four(m.Mean), four(m.SD), four(m.Min), four(m.Median),
			four(m.Max))
		if s.Replicates > 1 {
			fmt.Fprintf(t, "%s\t", four(m.SeedSD))
		}
		if m.Interval != nil {
			fmt.Fprintf(t, "%.4g … %.4g\t", report.Number(m.Interval[0]), report.Number(m.Interval[1]))
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// printCorrelations lists the factors, the strongest first.
func (s *Summary) printCorrelations(w io.Writer, m *metricSummary) {
	if len(m.Correlations) == 0 {
		return
	}
	list := slices.Clone(m.Correlations)
	strength := func(c correlationSummary) float64 {
		for _, r := range []*float64{c.Partial.R, c.Spearman.R} {
			if r != nil {
				return math.Abs(*r)
			}
		}
		return -1
	}
	slices.SortStableFunc(list, func(a, b correlationSummary) int { return cmp.Compare(strength(b), strength(a)) })
	fmt.Fprintf(w, "\n%s against\n", m.Name)
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "   factor%s\tSpearman\t95 %% interval\tothers held\t95 %% interval\tp\t\n", strings.Repeat(" ", 15))
	for _, c := range list {
		fmt.Fprintf(t, "   %-21s\t%s\t%s\t%s\t%s\t%s\t\n", c.Factor, signed(c.Spearman.R), interval(c.Spearman), signed(c.Partial.R),
			interval(c.Partial), report.OrDash("%.2g", c.Partial.P))
	}
	t.Flush()
}

func four(x *float64) string { return report.OrDash("%.4g", x) }

func signed(x *float64) string { return strings.Replace(report.OrDash("%+.2f", x), "-", "−", 1) }

func interval(c correlationValue) string {
	if c.R == nil {
		return "–"
	}
	return signed(c.Low) + " … " + signed(c.High)
}
