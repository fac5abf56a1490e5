package study

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"hilrig/cmd/report"
)

// rollingOnce is the study as it comes with the program.
var rollingOnce = sync.OnceValues(func() (*rollingResult, error) { return rolling(context.Background(), rollingDraws, 1) })

// The page and the claims on it follow from the study as it comes with the program.
func TestRollingDoc(t *testing.T) {
	r, err := rollingOnce()
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string) float64 { return r.number(name).Mean }
	for _, c := range []struct {
		name     string
		low, top float64 // what the page says of it
	}{
		{"moduli_linear", 0.95 * 3.42114e-4, 1.05 * 3.42114e-4}, {"moduli_quadratic", 0.9 * 5.2575e-5, 1.1 * 5.2575e-5}, // of the source
		{"trajectory", 0.998 * onPaper, 1.002 * onPaper}, {"markers", 0.999 * onPaper, 1.001 * onPaper},
		{"projection", 0.99 * onPaper, 1.01 * onPaper},
		{"glass_trajectory", 0.998 * onGlass, 1.002 * onGlass}, {"glass_moduli", 2.7e-4, 2.85e-4},
		{"cosine_fast", -1, -0.7}, {"cosine", -0.3, 0}, {"roll_max", shownSpeed, 7},
	} {
		if x := of(c.name); !(x >= c.low && x <= c.top) {
			t.Errorf("%s = %g, the page says %g to %g", c.name, x, c.low, c.top)
		}
	}
	if a, b := r.Ranking[0], r.Ranking[1]; a.Law != "linear" || a.Verdict != "accepted" || b.Verdict != "rejected" ||
		!(a.Moduli < b.Moduli) || b.Markers < 2 {
		t.Errorf("ranking: %+v", r.Ranking)
	}
	// rms|M|² = σ₁² + a²·rms|ω|² of a fit |M| = a·|ω| through zero, and no fit of |M| leaves more than rms|M|
	if rms := math.Sqrt(1.8e-3*1.8e-3-1.02e-3*1.02e-3) / 3.42114e-4; math.Abs(rms-4.3) > 0.05 {
		t.Errorf("rms|ω| would be above %.2f rad/s", rms)
	}

	var b strings.Builder
	b.WriteString("| number | figure | source | simulated | ± of a draw | unit | what it is |\n|---|---|---|---|---|---|---|\n")
	for _, n := range r.Numbers {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %.3g | %.1g | %s | %s |\n", n.Name, n.Figure, report.OrDash("%.6g", n.Source),
			report.Number(n.Mean), report.Number(n.Spread),
			n.Unit, strings.ReplaceAll(n.Text, "|", `\|`))
	}
	b.WriteString("\n| rank | law | left over of the moduli | left over of the motion | its fit is |\n|---|---|---|---|---|\n")
	for i, k := range r.Ranking {
		fmt.Fprintf(&b, "| %d | %s | %.2g N·m | %.2g times the noise | %s |\n", i+1, k.Law, k.Moduli, k.Markers, k.Verdict)
	}
	checkTable(t, "evidence/ball.md", b.String())
}

// Every figure of the source is there by its number, and the window does what the page says.
func TestRollingFigures(t *testing.T) {
	r, err := rollingOnce()
	if err != nil {
		t.Fatal(err)
	}
	figures, err := r.figures()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range figures {
		names[strings.Join(strings.SplitN(f.name, "-", 3)[:min(2, strings.Count(f.name, "-")+1)], "-")] = true
	}
	for _, n := range []string{"3a", "3b", "4a", "4b", "5a", "5b", "6a", "6b", "6c", "7a", "7b", "8a", "8b"} {
		if !names["fig-"+n] {
			t.Errorf("no figure %s in %v", n, names)
		}
	}
	w, err := r.overWindow()
	if err != nil {
		t.Fatal(err)
	}
	moduli, projection := w.Series[0], w.Series[1]
	for k := range moduli.Y {
		if k > 0 && moduli.X[k] <= 21 && moduli.Y[k] >= moduli.Y[k-1] {
			t.Errorf("slope of moduli grows from %g to %g frames", moduli.X[k-1], moduli.X[k])
		}
		if p := projection.Y[k]; math.Abs(p/onPaper-1) > 0.05 {
			t.Errorf("projection over %g frames: %g", moduli.X[k], p)
		}
	}
	if moduli.Y[0] < 1.8*onPaper {
		t.Errorf("slope of moduli over %g frames: %g", moduli.X[0], moduli.Y[0])
	}
}
