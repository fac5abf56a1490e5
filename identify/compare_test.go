package identify

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/identify/axis"
	"hilrig/identify/fit"
)

// noise is a residual of n rows with the given size and autocorrelation.
func noise(rng *rand.Rand, n int, size, rho float64) []float64 {
	e, x := make([]float64, n), 0.0
	for k := range e {
		x = rho*x + math.Sqrt(1-rho*rho)*rng.NormFloat64()
		e[k] = size * x
	}
	return e
}

// Two equally good models differ beyond chance in about 5 of 100 records, and one that is clearly better in all of them:
// residuals that depend on their neighbours change neither.
func TestDifferCounts(t *testing.T) {
	for _, rho := range []float64{0, 0.8} {
		rng := rand.New(rand.NewPCG(3, 4))
		alike, better := 0, 0
		const records = 1000
		for range records {
			common := noise(rng, 1000, 1, rho)
			a, b, c := noise(rng, 1000, 0.5, rho), noise(rng, 1000, 0.5, rho), noise(rng, 1000, 0.9, rho)
			for k, x := range common {
				a[k], b[k], c[k] = a[k]+x, b[k]+x, c[k]+x
			}
			if p, ok := Differ(&fit.Solution{Residual: a}, &fit.Solution{Residual: b}); !ok || p < 0.05 {
				alike++
			}
			if p, ok := Differ(&fit.Solution{Residual: a}, &fit.Solution{Residual: c}); ok && p < 0.05 {
				better++
			}
		}
		// binomial, 4 standard deviations; with dependence the long-run error is a little small
		top := 0.05 + 4*math.Sqrt(0.05*0.95/records)
		if rho > 0 {
			top += 0.03
		}
		if share := float64(alike) / records; share > top || share < 0.02 {
			t.Errorf("ρ %g: %.3f of the equally good models differ, want about 0.05", rho, share)
		}
		if share := float64(better) / records; share < 0.9 {
			t.Errorf("ρ %g: the worse model is found out in %.3f of the records only", rho, share)
		}
	}
	if _, ok := Differ(&fit.Solution{Residual: make([]float64, 50)}, &fit.Solution{Residual: make([]float64, 60)}); ok {
		t.Error("residuals of different rows were compared")
	}
}

// ranked is a model with given residuals.
func ranked(name string, params int, e, checked []float64) Ranked {
	s := &fit.Solution{Residual: e, Measured: e, Unit: "N", Quantity: "force"}
	a, _ := fit.Assess(s)
	r := &Result{evidence: evidence{solution: s}, Fit: a.Fit, Residual: a.Residual, Quantity: "force", Verdict: Identified, Chain: Chain{"lm"}}
	r.Fit.Params = params
	if checked != nil {
		c := &fit.Solution{Residual: checked, Measured: checked, Unit: "N", Quantity: "force"}
		b, _ := fit.Assess(c)
		r.Validation, r.checked = &Validation{Fit: b.Fit}, c
	}
	return Ranked{Name: name, Result: r}
}

// Without a second record AICc ranks: more parameters have to pay for themselves. With one the residual there ranks, and a
// model that only describes its own record falls back.
func TestCompareRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	base := noise(rng, 2000, 1, 0)
	little := make([]float64, len(base)) // hardly better
	for k := range base {
		little[k] = 0.9999 * base[k]
	}
	c, err := Compare([]Ranked{ranked("ornate", 12, little, nil), ranked("simple", 3, base, nil), {Name: "none", Err: "no result"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Models[0].Name != "simple" || c.Models[2].Name != "none" || *c.Models[0].DAICc != 0 {
		t.Errorf("order %s, %s, %s", c.Models[0].Name, c.Models[1].Name, c.Models[2].Name)
	}
	// closed form: Δ = N·ln(mse ratio) + 2Δk + the corrections
	n := math.Min(c.Models[0].Result.Residual.Effective, c.Models[1].Result.Residual.Effective)
	want := 2*n*math.Log(0.9999) + 2*9 + 2*12*13/(n-13) - 2*3*4/(n-4)
	if d := *c.Models[1].DAICc; math.Abs(d-want) > 1e-6*want {
		t.Errorf("ΔAICc %g, want %g", d, want)
	}

	over := noise(rng, 2000, 0.7, 0)
	second := noise(rng, 1500, 1, 0)
	worse := make([]float64, len(second))
	for k := range worse {
		worse[k] = second[k] + 0.8*rng.NormFloat64()
	}
	c, err = Compare([]Ranked{ranked("over-fitted", 12, over, worse), ranked("sound", 3, base, second)})
	if err != nil || c.Models[0].Name != "sound" || c.Models[1].Tied || !strings.Contains(c.Headline, "sound explains the validation "+
		"records best") {
		t.Errorf("%v: %+v", err, c)
	}
	if !strings.Contains(strings.Join(c.Supports, "\n"), "does not carry over") {
		t.Errorf("nothing about carrying over in %q", c.Supports)
	}
	c, err = Compare([]Ranked{ranked("a", 12, over, second), ranked("b", 3, base, second)})
	if err != nil || !c.Models[1].Tied || !strings.Contains(c.Headline, "the one with the fewest parameters is b") {
		t.Errorf("equal on the second record: %v, %+v", err, c)
	}

	other := ranked("position", 3, base, nil)
	other.Result.Quantity = "position"
	if _, err := Compare([]Ranked{ranked("force", 3, base, nil), other}); err == nil {
		t.Error("models of different quantities were compared")
	}
}

// A difference that is large, and that depends so much on itself that no test can call it more than chance, is no tie.
func TestCompareWithoutPowerIsNoTie(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	base := noise(rng, 2000, 1, 0)
	slow := make([]float64, len(base))
	for k := range slow { // one swing over the whole record
		slow[k] = base[k] + 24*math.Sin(2*math.Pi*float64(k)/4000)
	}
	for _, checked := range []bool{false, true} {
		own, other := []float64(nil), []float64(nil)
		if checked {
			own, other = base, slow
		}
		c, err := Compare([]Ranked{ranked("coulomb", 2, slow, other), ranked("true", 5, base, own)})
		if err != nil {
			t.Fatal(err)
		}
		m := c.Models[1]
		if c.Models[0].Name != "true" || m.Tied || strings.Contains(c.Headline, "equally well") {
			t.Errorf("validated %v: %s first, tied %v, p %v: %s %q", checked, c.Models[0].Name, m.Tied, *m.PValue, c.Headline, c.Supports)
		}
		if m.Undecided && !strings.Contains(c.Headline, "coulomb leaves far more, though the rows count as too few") {
			t.Error(c.Headline)
		}
		if said := strings.Join(c.Supports, "\n"); m.Undecided && !strings.Contains(said, "has no power") {
			t.Errorf("nothing about power in %q", said)
		}
	}
}

// Whether a bristle is needed is said against the best model without one, and not at all where none of those has friction
// that depends on the speed near zero.
func TestCompareSaysWhetherABristleIsNeeded(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	base := noise(rng, 2000, 1, 0)
	larger := noise(rng, 2000, 1.5, 0)
	with := func(m Ranked, name string) Ranked {
		m.Result.Parameters = []Parameter{{Estimate: fit.Estimate{Name: name}}}
		return m
	}
	for _, c := range []struct {
		bristle, dip []float64
		name, want   string
	}{
		{base, larger, "vs", "a bristle is needed: bristle leaves"},
		{base, base, "vs", "no bristle is needed: dip leaves"},
		{larger, base, "vs", "no bristle is needed: dip leaves"},
		{base, larger, "Fc", "whether a bristle is needed is not said"},
	} {
		r, err := Compare([]Ranked{with(ranked("bristle", 8, c.bristle, nil), "sigma0"), with(ranked("dip", 6, c.dip, nil), c.name)})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(r.Supports, "\n"); !strings.Contains(said, c.want) {
			t.Errorf("nothing about %q in %q", c.want, said)
		}
	}
}

// A model that ends worse than a special case of it is found, with the values to begin from; they are those of the special
// case in its own parameters.
func TestWorseThanASpecialCase(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	base := noise(rng, 500, 1, 0)
	more := make([]float64, len(base))
	for k := range base {
		more[k] = 1.1 * base[k]
	}
	with := func(m Ranked, values map[string]float64) Ranked {
		for name, x := range values {
			m.Result.Parameters = append(m.Result.Parameters, Parameter{Estimate: fit.Estimate{Name: name, Value: x}})
		}
		return m
	}
	models := []Ranked{
		with(ranked("simple", 4, base, nil), map[string]float64{"M": 2, "Fc": 3, "Fv": 4, "offset": 0.5}),
		with(ranked("by direction", 5, more, nil), map[string]float64{"M": 1, "Fc+": 1, "Fc-": 1, "sigma2+": 1, "sigma2-": 1, "dFs": 1,
			"sigma0": 7}),
		with(ranked("other", 5, more, nil), map[string]float64{"M": 1, "alpha0": 1, "sigma2": 1}),
	}
	worse := Worse(models)
	if len(worse) != 1 || worse[1]["Fc"] != 3 {
		t.Fatalf("worse: %v, want the second, from the first", worse)
	}
	var free []fit.Param
	for _, name := range []string{"M", "Fc+", "Fc-", "sigma2+", "dFs", "sigma0"} {
		p := fit.Param{}
		p.Name, p.Value, p.Lo, p.Hi = name, 7, -1e9, 1e9
		free = append(free, p)
	}
	want := []float64{2, 3.5, 2.5, 4, 0, 7}
	theta, known := found(worse[1]).placeIn(free)
	for i, x := range theta {
		if x != want[i] || known[i] != (i < 4) {
			t.Errorf("%s begins at %g (known: %v), want %g", free[i].Name, x, known[i], want[i])
		}
	}
}

// A model that ends above a special case of its own is fitted again from there, within one run; where that does not help it is said.
func TestModelEndsNoWorseThanItsSpecialCases(t *testing.T) {
	for _, seed := range []uint64{1, 2} {
		b := newBench(seed, 2)
		drag := b.axis.Friction.Sigma2 / 0.3
		b.axis.Load = func(_, _, v float64) float64 { return drag * v * math.Abs(v) } // more than noise is left over
		tr := b.record(nil)
		fitted := func(law string, terms ...string) *Result {
			spec := axis.Spec{Law: law, Terms: append(terms, "offset"), Drive: axis.Force, Output: axis.Position, Initial: axis.Free}
			r, err := Run(t.Context(), Plan{Methods: Chain{"lm"}, Seed: seed, LM: LM{Starts: 1, Draws: 2}, Model: spec, RunFree: true},
				Records{Fit: tr.recs}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		coulomb, static, bristle := fitted("coulomb", "viscous"), fitted("stribeck-bo-pavelescu"), fitted("lugre")
		t.Logf("seed %d: %.4g, %.4g, %.4g %s", seed, coulomb.Fit.RMS, static.Fit.RMS, bristle.Fit.RMS, bristle.Fit.Unit)
		for _, c := range [][2]*Result{{coulomb, static}, {coulomb, bristle}, {static, bristle}} {
			if c[1].Fit.RMS > 1.001*c[0].Fit.RMS && !strings.Contains(strings.Join(c[1].Because(), "\n"), "alone leaves") {
				t.Errorf("%s leaves %.4g over, its special case %s %.4g: %v", c[1].Method, c[1].Fit.RMS, c[0].Method, c[0].Fit.RMS, c[1].Reasons)
			}
		}
	}
}
