package identify

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/numeric"
	"hilrig/hil/sink"
	"hilrig/identify"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
)

// printIdentification writes a result for people.
func printIdentification(w io.Writer, r Identification, rotary bool) {
	records := r.Records
	if len(records) == 0 {
		records = append(records, r.Data)
	}
	for _, d := range records {
		fmt.Fprintf(w, "%s: %d samples, %.4g s at %.6g Hz\n", d.File, d.Samples, d.Duration, 1/d.Interval)
		if len(records) > 4 {
			fmt.Fprintf(w, "… and %d more pieces\n", len(records)-1)
			break
		}
	}
	for _, a := range r.Assumed {
		fmt.Fprintf(w, "%-12s %s\n", a.Topic, a.Text)
	}
	if r.Assumed != nil {
		fmt.Fprintln(w, "as a file    --write-config FILE")
	}
	fmt.Fprintf(w, "%s: %d rows\n", r.Method, r.Fit.Rows)
	if s, ok := r.Settings.(linear.Spec); ok {
		fmt.Fprintf(w, "position below %.4g Hz (order %d), every %s sample\n", s.Cutoff, s.Order, ordinal(s.Decimate))
		if r.Chain[len(r.Chain)-1] == "regress" {
			fmt.Fprintf(w, "%s = %s\n", map[bool]string{false: "force", true: "torque"}[rotary], equation(r.Parameters))
		}
	}
	fmt.Fprintln(w)
	printParameters(w, r.Result)
	printOrigins(w, r.Result)

	fmt.Fprintf(w, "\nverdict      %s\n", r.Headline())
	for _, reason := range r.Reasons {
		fmt.Fprintf(w, "             %s\n", reason)
	}
	if r.Run != nil {
		for i, l := range r.Run.remarks() {
			fmt.Fprintf(w, "%-12s %s\n", map[int]string{0: "live"}[i], l)
		}
	}
	fmt.Fprintf(w, "residual     %s\n", misfitLine(r.Fit, r.Weighted, r.Quantity))
	if own := r.Unweighted; own != nil {
		fmt.Fprintf(w, "unweighted   %s\n", misfitLine(*own, false, ""))
	}
	if v := r.Validation; v != nil {
		quantity := r.Quantity
		if r.Weighted { // there it is what the parameters explain unweighted
			quantity = ""
		}
		fmt.Fprintf(w, "validation   %s, %s\n", misfitLine(v.Fit, false, quantity), v.Data.File)
	}
	white := "white: the classical errors hold, and the interval is theirs"
	if !r.Residual.White {
		white = fmt.Sprintf("not white (autocorrelation %.2f from row to row): %d rows count as about %.3g; go by the robust errors, as the "+
			"interval does", report.Clean(math.Round(100*r.Residual.Lag1)/100), r.Fit.Rows, r.Residual.Effective)
	}
	fmt.Fprintf(w, "whiteness    %s\n", white)
	for _, c := range []struct {
		name      string
		isRelated bool
	}{{"the input", r.Residual.Input != nil && r.Residual.Input.Correlated},
		{"velocity", r.Residual.Velocity != nil && r.Residual.Velocity.Correlated}} {
		if c.isRelated {
			fmt.Fprintf(w, "             and related to %s: something that acts with it is not in the model\n", c.name)
		}
	}
	if q := r.Fit; q.AICc != nil && q.BIC != nil && q.FPE != nil {
		fmt.Fprintf(w, "criteria     AICc %.1f, BIC %.1f, FPE %.4g (%d parameters)\n", *q.AICc, *q.BIC, *q.FPE, q.Params)
	}
	if r.Condition != nil && r.Scaled != nil {
		fmt.Fprintf(w, "condition    %.4g, with columns of length one %.4g (dependent from %.0f)\n", *r.Condition, *r.Scaled,
			float64(linear.MaxCondition))
	} else if r.Fit.Params > 0 {
		fmt.Fprintln(w, "condition    infinite: a parameter, or several together, have no effect at all")
	}
	printCorrelation(w, r.Result)
	for _, s := range r.Sensitivity {
		fmt.Fprintf(w, "instead      %s: %s", s.What, strings.TrimSpace(fmt.Sprintf("%.4g %s", report.Number(s.RMS), s.Unit)))
		if s.Worst != "" {
			fmt.Fprintf(w, ", %s moves by %.1f standard errors", s.Worst, s.Moves)
		}
		fmt.Fprintln(w)
	}
	for i, e := range r.Equalities {
		fmt.Fprintf(w, "%-12s %s\n", map[int]string{0: "tests"}[i], e.Text)
	}
	if s := r.Steps; s != nil {
		fmt.Fprintf(w, "simulated    %s, steps of %s", s.Scheme, report.Prefixed(s.Step, 3, "s"))
		if s.Shift != nil && s.Worst != "" {
			fmt.Fprintf(w, "; half as long they would move %s by %.2g standard errors", s.Worst, *s.Shift)
		}
		fmt.Fprintln(w)
	}
	printBudget(w, r.Result)
	simulated := 0
	for _, s := range r.Stages {
		simulated += s.Evaluations
	}
	fmt.Fprintf(w, "computed in  %s", tookText(r.Compute))
	if simulated > 0 {
		fmt.Fprintf(w, ", %d simulations", simulated)
	}
	fmt.Fprintln(w)
}

// printParameters writes the table. Columns that nothing would stand in are left out.
func printParameters(w io.Writer, r *identify.Result) {
	shares, boots := false, r.Bootstrap != nil
	for _, p := range r.Parameters {
		shares = shares || p.Share != nil
	}
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "parameter\tvalue\t± classical\t± robust\t95 % interval\tunit\t")
	if boots {
		fmt.Fprint(t, "resampled\t")
	}
	if shares {
		fmt.Fprint(t, "of the force\t")
	}
	fmt.Fprintln(t)
	states := 0
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if p.State() {
			if states++; states > shownStates {
				continue
			}
		}
		if p.Fixed && p.Value == 0 {
			continue // what the model could have and has not
		}
		if p.Fixed {
			fmt.Fprintf(t, "%s\t%.6g\t%s\t\t\t%s\t\n", p.Name, report.Number(p.Value), p.Worth, p.Unit)
			continue
		}
		show := report.Digits(p.Value, p.StdErr, p.RobustErr)
		or := func(x *float64) string {
			if x == nil {
				return "∞"
			}
			return show(*x)
		}
		between := func(ci *[2]float64) string {
			if ci == nil {
				return "unbounded"
			}
			return show(ci[0]) + " … " + show(ci[1])
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t", p.Name, show(p.Value), or(p.StdErr), or(p.RobustErr), between(r.Interval(p)), p.Unit)
		if boots {
			fmt.Fprintf(t, "%s\t", between(p.Boot95))
		}
		if shares && p.Share != nil {
			fmt.Fprintf(t, "%.0f %%\t", *p.Share)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	if states > shownStates {
		fmt.Fprintf(w, "   and %d more states of the motion, in the JSON\n", states-shownStates)
	}
}

// printOrigins says where the intervals come from: for those that are wider than their standard errors say, why.
func printOrigins(w io.Writer, r *identify.Result) {
	var origins []string
	names := map[string][]string{}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if p.IntervalSource == "" || p.State() {
			continue
		}
		if names[p.IntervalSource] == nil {
			origins = append(origins, p.IntervalSource)
		}
		names[p.IntervalSource] = append(names[p.IntervalSource], p.Name)
	}
	for i, from := range origins {
		of := strings.Join(names[from], ", ")
		if len(names[from]) > maxSources {
			of = fmt.Sprintf("%d parameters", len(names[from]))
		}
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%-12s %s: %s\n", map[int]string{0: "intervals"}[i], of, from)
	}
	for i, text := range r.ExactMoves() {
		fmt.Fprintf(w, "%-12s %s\n", map[int]string{0: "exact"}[i], text)
	}
}

// shownStates of the motion, where records and segments begin, are printed.
const shownStates = 8

func misfitLine(q fit.Quality, weighted bool, quantity string) string {
	unit := " " + q.Unit
	switch {
	case q.Unit == "" && weighted:
		unit = " standard deviations"
	case q.Unit == "":
		unit = ""
	}
	s := fmt.Sprintf("%.3g%s rms", report.Number(q.RMS), unit)
	if q.Relative != nil && *q.Relative != 0 && !weighted {
		of := "relative error"
		switch {
		case strings.Contains(quantity, " "):
			of += " of the " + quantity
		case quantity != "":
			of = "relative " + quantity + " error"
		}
		s += fmt.Sprintf(", %s %.2f %%", of, *q.Relative)
	}
	return s
}

func tookText(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.1f ms", 1e3*s)
	}
	return fmt.Sprintf("%.2f s", s)
}

// maxSources is how many parameters have their sources of uncertainty printed; those of more are in the JSON.
const maxSources = 12

// printBudget writes where the uncertainty of each parameter comes from, the largest source first.
func printBudget(w io.Writer, r *identify.Result) {
	lead, width := "uncertainty", 8
	for i := range r.Parameters {
		width = max(width, utf8.RuneCountInString(r.Parameters[i].Name))
	}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if p.Fixed || p.State() || p.Combined == nil || !(*p.Combined > 0) {
			continue
		}
		if i >= maxSources {
			fmt.Fprintf(w, "%-13sof the others: in the JSON\n", lead)
			return
		}
		sources := slices.SortedFunc(slices.Values(p.Budget), func(a, b identify.Contribution) int { return cmp.Compare(b.Standard, a.Standard) })
		var parts []string
		for _, c := range sources {
			if share := 100 * c.Standard * c.Standard / (*p.Combined * *p.Combined); share >= 1 {
				parts = append(parts, fmt.Sprintf("%.0f %% %s", share, c.Source))
			}
		}
		fmt.Fprintf(w, "%-13s%-*s %s: %s\n", lead, width, p.Name, report.Prefixed(*p.Combined, 2, p.Unit), strings.Join(parts, ", "))
		lead = ""
	}
}

// printCorrelation writes the lower half of the matrix, without the states of the motion.
func printCorrelation(w io.Writer, r *identify.Result) {
	names, at := r.Correlated()
	if len(names) > 12 {
		fmt.Fprintf(w, "correlation  of %d parameters: in the JSON\n", len(names))
		return
	}
	for i, name := range names {
		lead := ""
		if i == 0 {
			lead = "correlation"
		}
		fmt.Fprintf(w, "%-13s%-8s", lead, name)
		for _, k := range at[:i+1] {
			fmt.Fprintf(w, " %6.3f", r.Correlation[at[i]][k])
		}
		fmt.Fprintln(w)
	}
}

// maxTrySamples is the number of samples up to which friction by direction is tried, which takes as long as the fit.
const maxTrySamples = 2e6

// nextIdentify is the command that makes sense after this result. Whether friction depends on the direction is tried, not
// guessed.
func nextIdentify(path string, f Options, cfg *configs.Identify, recs identify.Records, r *identify.Result, coupled bool) string {
	again := report.CommandLine()
	if s, ok := r.Settings.(linear.Spec); ok && len(recs.Fit) == 1 && recs.Fit[0].Len() <= maxTrySamples &&
		cfg.Method[len(cfg.Method)-1] == "regress" && cfg.Form == linear.Direct {
		if split, ok := s.Asymmetric(); ok && !f.Asymmetric && worthSplitting(r.Solution()) {
			if a, err := linear.InverseDynamics(recs.Fit[0], split); err == nil && a.Fit.RMS < splitGain*r.Fit.RMS && r.Fit.Relative != nil &&
				a.Fit.Relative != nil {
				return fmt.Sprintf("%s --asymmetric      friction depends on the direction: relative force error %.2f %% instead of %.2f %%", again,
					*a.Fit.Relative, *r.Fit.Relative)
			}
		}
	}
	_, isRun := sink.FindRun(path)
	switch {
	case coupled:
		return identifyMechanism(path) + "      identifies the bodies that all axes move together"
	case r.Verdict != identify.Identified:
		if s := r.Next(); s != "" {
			return s + " docs/reference/identify.md, section Verdict, says what each reason asks for"
		}
		return "see docs/reference/identify.md, section Verdict, for what each reason asks for"
	case f.outputPath != "" && isRun:
		return "hil config apply " + f.outputPath + " --rig rig.yaml -o identified.yaml      puts it into a rig file"
	case r.Validation == nil:
		other := "OTHER.csv"
		if isRun {
			other = "OTHER-RUN"
		}
		return again + " --validate " + other + "      a second record tells what the parameters are worth"
	}
	return again + " -o result.json      keeps the result with its provenance"
}

// splitGain is how much smaller the residual becomes if friction by direction is worth a word; its first order is allowed a little less.
const splitGain, splitGuess = 0.95, 0.97

// worthSplitting tells that friction by direction may make the residual of a regression so much smaller: to first order it adds a
// constant and the speed to the columns.
func worthSplitting(s *fit.Solution) bool {
	if s == nil || len(s.Jac) == 0 || len(s.Velocity) != len(s.Residual) {
		return true
	}
	n := len(s.Jac) / len(s.Residual)
	f, row := numeric.NewFactor(n+2), make([]float64, n+2)
	all := 0.0
	for k, e := range s.Residual {
		copy(row, s.Jac[k*n:][:n])
		row[n], row[n+1] = 1, math.Abs(s.Velocity[k])
		f.Add(row, e)
		all += e * e
	}
	return f.SumSquares() < splitGuess*splitGuess*all
}

// equation writes the linear model with the symbols of its parameters.
func equation(params []identify.Parameter) string {
	factor := map[string]string{
		"inertia": "·a", "viscous": "·v", "coulomb": "·sgn(v)",
		"viscous+": "·v⁺", "viscous-": "·v⁻", "coulomb+": "·[v>0]", "coulomb-": "·(−[v<0])",
		"stiffness": "·x", "gravity-sin": "·sin(x)", "gravity-cos": "·cos(x)",
	}
	parts := make([]string, len(params))
	for i, p := range params {
		parts[i] = p.Name + factor[p.Term]
	}
	return strings.Join(parts, " + ")
}

func ordinal(n int) string {
	switch {
	case n == 1:
		return "single"
	case n%10 == 2 && n%100 != 12:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3 && n%100 != 13:
		return fmt.Sprintf("%drd", n)
	case n%10 == 1 && n%100 != 11:
		return fmt.Sprintf("%dst", n)
	}
	return fmt.Sprintf("%dth", n)
}
