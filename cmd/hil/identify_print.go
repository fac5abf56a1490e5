package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// printIdentification writes a result for people.
func printIdentification(w io.Writer, r identification) {
	s := r.Spec
	fmt.Fprintf(w, "%s: %d samples, %.4g s at %.6g Hz\n", r.Data.File, r.Data.Samples, r.Data.Duration, 1/r.Data.Interval)
	fmt.Fprintf(w, "%s, position below %.4g Hz (order %d), every %s sample: %d rows\n", r.Method, s.Cutoff, s.Order, ordinal(s.Decimate), r.Fit.Rows)
	fmt.Fprintf(w, "%s = %s\n\n", forceName(s.Rotary), equation(r.Estimates))

	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "parameter\tvalue\t± classical\t± robust\t95 % interval\tunit\tof the force\t\n")
	for j, e := range r.Estimates {
		d := decimals(math.Min(e.StdErr, e.RobustErr))
		ci := r.Interval(j)
		fmt.Fprintf(t, "%s\t%.*f\t%.*f\t%.*f\t%.*f … %.*f\t%s\t%.0f %%\t\n", e.Symbol, d, e.Value, d, e.StdErr, d, e.RobustErr, d, ci[0], d, ci[1], e.Unit, e.Share)
	}
	t.Flush()

	fmt.Fprintf(w, "\nverdict      %s\n", r.Headline())
	for _, reason := range r.Reasons {
		fmt.Fprintf(w, "             %s\n", reason)
	}
	unit := "N"
	if s.Rotary {
		unit = "N·m"
	}
	fmt.Fprintf(w, "residual     %.3g %s rms, relative force error %.2f %%\n", r.Fit.RMS, unit, r.Fit.Relative)
	if v := r.Validation; v != nil {
		fmt.Fprintf(w, "validation   %.3g %s rms, relative force error %.2f %%, %s\n", v.Fit.RMS, unit, v.Fit.Relative, v.Data.File)
	}
	white := "white: the classical errors hold, and the interval is theirs"
	if !r.Residual.White {
		white = fmt.Sprintf("not white (autocorrelation %.2f from row to row): %d rows count as about %.0f; go by the robust errors, as the interval does",
			r.Residual.Lag1, r.Fit.Rows, r.Residual.Effective)
	}
	fmt.Fprintf(w, "whiteness    %s\n", white)
	fmt.Fprintf(w, "condition    %.2f, with columns of length one %.2f (refused from %.0f)\n", r.Condition, r.Scaled, float64(linear.MaxCondition))
	printCorrelation(w, r.Result)
	fmt.Fprintf(w, "computed in  %.1f ms\n", 1e3*r.Compute)
}

// printCorrelation writes the lower half of the matrix.
func printCorrelation(w io.Writer, r *linear.Result) {
	for i, row := range r.Correlated {
		lead := ""
		if i == 0 {
			lead = "correlation"
		}
		fmt.Fprintf(w, "%-13s%-6s", lead, r.Estimates[i].Symbol)
		for _, c := range row[:i+1] {
			fmt.Fprintf(w, " %6.3f", c)
		}
		fmt.Fprintln(w)
	}
}

// nextIdentify is the command that makes sense after this result. Whether friction depends on the direction is tried, not
// guessed.
func nextIdentify(path string, f identifyFlags, data *record.Record, r identification) string {
	again := "hil identify " + path
	if f.data != "" {
		again += " --data " + f.data
	}
	if split, ok := r.Spec.Asymmetric(); ok && !f.asymmetric {
		if a, err := linear.InverseDynamics(data, split); err == nil && a.Fit.RMS < 0.95*r.Fit.RMS {
			return fmt.Sprintf("%s --asymmetric      friction depends on the direction: relative force error %.2f %% instead of %.2f %%", again, a.Fit.Relative, r.Fit.Relative)
		}
	}
	if f.asymmetric {
		again += " --asymmetric"
	}
	switch {
	case r.Verdict != linear.Identified:
		return "see docs/identify.md, section Verdict, for what each reason asks for"
	case r.Validation == nil:
		return again + " --validate OTHER.csv      a second record tells what the parameters are worth"
	}
	return again + " -o result.json      keeps the result with its provenance"
}

// equation writes the model with the symbols of its parameters.
func equation(est []linear.Estimate) string {
	factor := map[linear.Term]string{
		linear.Inertia: "·a", linear.Viscous: "·v", linear.Coulomb: "·sgn(v)",
		linear.ViscousPlus: "·v⁺", linear.ViscousMinus: "·v⁻", linear.CoulombPlus: "·[v>0]", linear.CoulombMinus: "·(−[v<0])",
		linear.Stiffness: "·x", linear.GravitySin: "·sin(x)", linear.GravityCos: "·cos(x)",
	}
	parts := make([]string, len(est))
	for i, e := range est {
		parts[i] = e.Symbol + factor[e.Term]
	}
	return strings.Join(parts, " + ")
}

func forceName(rotary bool) string {
	if rotary {
		return "torque"
	}
	return "force"
}

// decimals shows a value to two digits of its smaller error.
func decimals(err float64) int {
	if !(err > 0) {
		return 6
	}
	return min(max(1-int(math.Floor(math.Log10(err))), 0), 12)
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
