package identify

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/identify/axis"
	"hilrig/identify/bristle"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// judged is the verdict over numbers that were put together by hand: one parameter M = 1 ± 0.01 and what edit makes of them.
func judged(edit func(r *Result)) *Result {
	one, se, good := 1.0, 0.01, 99.0
	r := &Result{Stages: []Stage{{Method: "lm", Converged: true}}}
	r.Fit.Rows, r.Fit.Params, r.Fit.Percent = 1000, 1, &good
	r.Residual.White, r.Residual.Effective = true, 1000
	r.Parameters = []Parameter{{Estimate: fit.Estimate{Name: "M", Value: one, StdErr: &se, CI95: &[2]float64{0.98, 1.02}}}}
	edit(r)
	r.judge()
	return r
}

// The first reason of a rejection is one that rejects, whatever was found before it.
func TestRejectionsComeFirst(t *testing.T) {
	r := judged(func(r *Result) {
		poor := 70.0
		r.channels = []channel{{percent: &poor}}
		r.Parameters[0].Value, r.Parameters[0].CI95 = -1, &[2]float64{-1.02, -0.98}
	})
	if r.Verdict != Rejected || !strings.HasPrefix(r.Reasons[0].Text, "M is negative") || len(r.Reasons) != 2 {
		t.Errorf("%s: %q, want the negative mass first", r.Verdict, r.Reasons)
	}
}

// Rows that say the same over and over support no interval, and no verdict above weak.
func TestVerdictCountsRows(t *testing.T) {
	expect(t, "a thousand rows", judged(func(r *Result) {}), Identified, "")
	expect(t, "half a row", judged(func(r *Result) { r.Residual.Effective = 0.5 }), Weak, "count as about 0.5")
}

// States are no properties of the axis: they are named once if they lie on their bounds, and not in the headline.
func TestVerdictOnStates(t *testing.T) {
	se := 1e-3
	r := judged(func(r *Result) {
		for _, n := range []string{"x0[1]", "v0", "x(0.3 s)", "v(0.3 s)"} {
			r.Parameters = append(r.Parameters, Parameter{Estimate: fit.Estimate{Name: n, StdErr: &se, CI95: &[2]float64{-1, 1}, AtBound: "lower"}})
		}
	})
	if r.Verdict != Weak || len(r.Reasons) != 1 || !strings.HasPrefix(r.Reasons[0].Text, "x0[1], v0, x(0.3 s), v(0.3 s) on the bound") {
		t.Errorf("%s %q, want one reason for all four", r.Verdict, r.Reasons)
	}
	if h := r.Headline(); strings.Contains(h, "x0") || strings.Contains(h, "0.3 s") {
		t.Errorf("headline %q lists states", h)
	}
}

// Zero is an answer for a constant force, a lag, the line from which an angle counts; for friction it is none.
func TestZeroIsAnAnswer(t *testing.T) {
	for name, want := range map[string]Verdict{"offset": Identified, "offset2": Identified, "lag": Identified, "mgc1": Identified, "Fv": Weak,
		"mgs": Weak} {
		for _, half := range []float64{0.02, 8e-4} { // the interval holds zero, or hardly does not
			r := judged(func(r *Result) {
				p := &r.Parameters[0]
				se := half / 2
				p.Name, p.Value, p.StdErr, p.CI95 = name, 1e-3, &se, &[2]float64{1e-3 - half, 1e-3 + half}
			})
			if r.Verdict != want {
				t.Errorf("%s 1e-3 ± %g: %s %q, want %s", name, half, r.Verdict, r.Reasons, want)
			}
		}
	}
}

// No axis is without inertia: one that may be zero is not known, however small its part of the force. Friction may be that small.
func TestInertiaIsNeverNothing(t *testing.T) {
	for name, want := range map[string]Verdict{"M": Weak, "J": Weak, "Fv": Identified} {
		r := judged(func(r *Result) {
			p, se, share := &r.Parameters[0], 1e-3, 0.1
			p.Name, p.Value, p.StdErr, p.CI95, p.Share = name, 1e-3, &se, &[2]float64{-1e-3, 3e-3}, &share
		})
		if r.Verdict != want {
			t.Errorf("%s 1e-3 ± 1e-3, 0.1 %% of the force: %s %q, want %s", name, r.Verdict, r.Reasons, want)
		}
	}
}

// Ranking of results whose residuals are not at hand claims no test, and says when they rest on different records.
func TestCompareOfStoredResults(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	a, b := ranked("monday", 3, noise(rng, 500, 1, 0), nil), ranked("tuesday", 3, noise(rng, 500, 2, 0), nil)
	a.Result.solution, b.Result.solution = nil, nil
	a.Result.Data.SHA256, b.Result.Data.SHA256 = "aa", "bb"
	c, err := Compare([]Ranked{b, a})
	if err != nil {
		t.Fatal(err)
	}
	if c.Models[0].Name != "monday" || strings.Contains(c.Headline, "beyond chance") {
		t.Errorf("%s first, %q", c.Models[0].Name, c.Headline)
	}
	if s := strings.Join(c.Supports, "\n"); !strings.Contains(s, "tuesday rests on another record") {
		t.Errorf("nothing about the records in %q", s)
	}
}

// A difference beyond chance that is smaller than a hundredth is no ground for a choice. Where the rows count as fewer than the
// parameters none is, and a large one is no tie either.
func TestCompareCallsSmallDifferencesEven(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	base := noise(rng, 5000, 1, 0)
	hardly, clearly := make([]float64, len(base)), make([]float64, len(base))
	for k, x := range base {
		hardly[k], clearly[k] = 1.005*x, 1.1*x
	}
	c, err := Compare([]Ranked{ranked("a", 3, base, nil), ranked("b", 3, hardly, nil), ranked("c", 3, clearly, nil)})
	if err != nil {
		t.Fatal(err)
	}
	if b, w := c.Models[1], c.Models[2]; !b.Tied || *b.PValue > 0.01 || w.Tied {
		t.Errorf("tied: %s %v (p %.2g), %s %v; want the one of a half percent, beyond chance, alone", b.Name, b.Tied, *b.PValue, w.Name, w.Tied)
	}
	slow := noise(rng, 5000, 1, 0.9995) // worth a row or two
	worse := make([]float64, len(slow))
	for k, x := range slow {
		worse[k] = 1.5 * x
	}
	c, err = Compare([]Ranked{ranked("a", 3, slow, nil), ranked("b", 4, worse, nil)})
	if err != nil || c.Models[1].Tied || !c.Models[1].Undecided || !strings.Contains(strings.Join(c.Supports, "\n"), "no criterion ranks it") {
		t.Errorf("%v: %+v", err, c)
	}
}

// wagon is a mass with viscous friction under a recorded force, and what its position is worth with noise of the given size.
func wagon(t *testing.T, noise float64) *record.Record {
	t.Helper()
	const n, h = 3000, 1e-3
	rng := rand.New(rand.NewPCG(2, 3))
	x, v := 0.0, 0.0
	q, f := make([]float64, n), make([]float64, n)
	e := math.Exp(-3.0 / 2 * h) // 2 kg, 3 N·s/m: exact under a held force
	for k := range q {
		f[k] = 4*math.Sin(5*float64(k)*h) + 3*math.Sin(17*float64(k)*h)
		q[k] = x + noise*rng.NormFloat64()
		end := f[k] / 3
		x, v = x+end*h+(v-end)*(1-e)*2/3, end+(v-end)*e
	}
	d := &record.Record{Dt: h, Position: q, Force: f}
	return d
}

// jolt makes some samples of the farther half of the way wild.
func jolt(rec *record.Record) {
	for k := 500; k < len(rec.Position); k += 23 {
		if rec.Position[k] > 0.3 {
			rec.Position[k] += 2e-3
		}
	}
}

// fitted is the result for the wagon.
func fitted(t *testing.T, edit func(p *Plan), recs Records) *Result {
	t.Helper()
	p := Plan{Methods: Chain{"lm"}, Model: axis.Spec{Terms: []string{"viscous"}, Drive: axis.Force, Initial: axis.Rest}, Seed: 1}
	edit(&p)
	r, err := Run(t.Context(), p, recs, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A robust loss without a scale takes it from the noise of the record: a few wild samples hardly move the mass, which least
// squares lets them.
func TestLossScaleByTheData(t *testing.T) {
	rec := wagon(t, 1e-5)
	jolt(rec)
	m := func(loss fit.LossKind) float64 {
		r := fitted(t, func(p *Plan) { p.LM.Kind = loss }, Records{Fit: []*record.Record{rec}})
		p, _ := r.Param("M")
		return math.Abs(p.Value/2 - 1)
	}
	squares, soft := m(fit.Squares), m(fit.SoftL1)
	if !(soft < 1e-3) || !(squares > 3*soft) {
		t.Errorf("the mass is off by %.2g with squares and %.2g with soft-l1", squares, soft)
	}
	y := make([]float64, 5000)
	rng := rand.New(rand.NewPCG(7, 7))
	for k := range y {
		y[k] = math.Sin(1e-3*float64(k)) + 0.01*rng.NormFloat64()
	}
	if s := noiseOf(y, nil); math.Abs(s/0.01-1) > 0.1 {
		t.Errorf("noise %.4g, want 0.01", s)
	}
}

// What a result cannot give is said, and takes nothing else with it.
func TestWhatIsNotGivenIsSaid(t *testing.T) {
	recs := Records{Fit: []*record.Record{wagon(t, 1e-4)}}
	said := func(r *Result, what string) {
		t.Helper()
		if s := strings.Join(r.Warnings, "\n"); !strings.Contains(s, what) {
			t.Errorf("nothing about %q in %q", what, s)
		}
	}
	said(fitted(t, func(p *Plan) { p.Bootstrap = 5 }, recs), "40 are the least")
	if r := fitted(t, func(p *Plan) { p.Bootstrap = 40 }, recs); r.Bootstrap == nil || r.Parameters[0].Boot95 == nil {
		t.Error("no interval from 40 refits")
	}
	said(fitted(t, func(p *Plan) { p.Methods, p.Bootstrap = Chain{"lm", "multishoot"}, 40 }, recs), "multishoot has none")
}

// Sensitivity keeps the loss of the fit, and frees the lag only if it is not free already.
func TestSensitivityKeepsTheLoss(t *testing.T) {
	rec := wagon(t, 1e-5)
	jolt(rec)
	r := fitted(t, func(p *Plan) { p.LM.Kind = fit.SoftL1 }, Records{Fit: []*record.Record{rec}})
	for _, s := range r.Sensitivity {
		if m := s.Values["M"]; s.What == "the lag of the force free" && math.Abs(m/2-1) > 3e-3 {
			t.Errorf("with %s M is %.5g, want 2: another loss was used", s.What, m)
		}
	}
	r = fitted(t, func(p *Plan) { p.LagFree = true }, Records{Fit: []*record.Record{rec}})
	for _, s := range r.Sensitivity {
		if s.What == "the lag of the force free" {
			t.Error("the lag was free and was freed again")
		}
	}
}

// A record that contradicts itself carries no verdict above weak; one that is merely odd may.
func TestVerdictHearsTheChecks(t *testing.T) {
	for s, want := range map[record.Severity]Verdict{record.Fatal: Weak, record.Warning: Identified, record.Note: Identified} {
		r := judged(func(r *Result) {
			r.Findings = []record.Finding{{Severity: s, Text: "velocity is 9.5 times what it should be"}}
		})
		if r.Verdict != want {
			t.Errorf("%s: %s %q, want %s", s, r.Verdict, r.Reasons, want)
		}
	}
}

// A known force besides the drive counts for every method: without it the mass is wrong, with it right.
func TestDisturbanceCounts(t *testing.T) {
	rec := swing(t, slide, 0.1, 0)
	rec.Disturbance = make([]float64, rec.Len())
	for k := range rec.Force {
		x := 40 * math.Sin(0.02*float64(k))
		rec.Force[k], rec.Disturbance[k] = rec.Force[k]-x, x
	}
	whole := append([]float64(nil), rec.Force...)
	r := regressed(t, linear.DefaultSpec(), rec, nil)
	if p, _ := r.Param("M"); math.Abs(p.Value/12-1) > 2e-3 || r.Verdict != Identified {
		t.Errorf("M %.5g kg, %s; want 12 kg", p.Value, r.Headline())
	}
	for k, f := range whole {
		if rec.Force[k] != f {
			t.Fatal("the record was changed")
		}
	}
}

// The record that was fitted is no validation, and a method that explains no other record says that it did not.
func TestValidationByTheSameRecord(t *testing.T) {
	rec := swing(t, slide, 1, 0)
	rec.File, rec.SHA256 = "slide.csv", "aa"
	r := regressed(t, linear.DefaultSpec(), rec, rec)
	if s := strings.Join(r.Validation.Warnings, "\n"); !strings.Contains(s, "slide.csv is a record that was fitted") {
		t.Errorf("nothing about it in %q", s)
	}
	other := *rec
	other.SHA256 = "bb"
	if r := regressed(t, linear.DefaultSpec(), rec, &other); len(r.Validation.Warnings) > 0 {
		t.Errorf("another record: %q", r.Validation.Warnings)
	}
}

// Several validation records of a contact are explained one after the other, and their rows do not run into each other.
func TestContactExplainedOnSeveralRecords(t *testing.T) {
	rec := pushed(t, 3000)
	params := bristle.Params(false)
	for i := range params {
		params[i].Value = lugre[params[i].Name]
	}
	one, err := bristle.Explain([]*record.Record{rec}, params, bristle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	two, err := bristle.Explain([]*record.Record{rec, rec}, params, bristle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := len(one.Residual)
	if len(two.Residual) != 2*n || len(two.Pieces) != 2 || two.Pieces[1] != n || two.Residual[n+7] != one.Residual[7] ||
		two.Measured[2*n-1] != one.Measured[n-1] {
		t.Errorf("%d rows in pieces %v, want twice %d", len(two.Residual), two.Pieces, n)
	}
	if _, err := fit.Assess(two); err != nil {
		t.Error(err)
	}
}

// A contact of the smoother or the filter that no machine has is called over-fitted; the true one of a record is not doubted.
func TestAbsurdContactIsDoubted(t *testing.T) {
	rec := pushed(t, 8000)
	run := func(given ...Given) *Result {
		r, err := Run(t.Context(), Plan{Methods: Chain{"lugre"}, GivenParams: given}, Records{Fit: []*record.Record{rec}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if s := strings.Join(run().Because(), "\n"); strings.Contains(s, "over-fitted") {
		t.Errorf("the true contact: %q", s)
	}
	fs, yes := 100.0, true
	if s := strings.Join(run(Given{Name: "Fs", Start: &fs, Fixed: &yes}).Because(), "\n"); !strings.Contains(s,
		"over-fitted bristle: break-away friction") {
		t.Errorf("Fs of a hundred times Fc: %q", s)
	}
}

// Values that the simulator has a part in are not identified.
func TestVerdictHearsTheSteps(t *testing.T) {
	for shift, want := range map[float64]Verdict{0.2: Identified, 3: Weak} {
		r := judged(func(r *Result) { r.Steps = &Stepping{Step: 1e-3, Shift: &shift, Worst: "M"} })
		if r.Verdict != want {
			t.Errorf("shift %g: %s %q, want %s", shift, r.Verdict, r.Reasons, want)
		}
	}
}

// What the residual holds takes the verdict down where it moves a value, and is a warning where it is much and does not.
func TestVerdictHearsTheResidual(t *testing.T) {
	for _, c := range []struct {
		worst string
		share float64
		want  Verdict
		warns int
	}{{"M", 5, Weak, 0}, {"", 40, Identified, 1}, {"", 2, Identified, 0}} {
		r := judged(func(r *Result) {
			r.Unmodelled = []fit.Effect{{Kind: "drag", What: "a force", Advice: "Do.", Share: c.share, Worst: c.worst,
				Values: map[string]float64{"M": 1.4}}}
		})
		if r.Verdict != c.want || len(r.Warnings) != c.warns || c.want == Weak &&
			!strings.Contains(r.Reasons[0].Text, "M would be 1.4 instead of 1") {
			t.Errorf("%+v: %s %q, warnings %q", c, r.Verdict, r.Reasons, r.Warnings)
		}
	}
}
