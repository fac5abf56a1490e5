package axis

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// commandsOf runs a general model in its controller with the given values.
func commandsOf(t testing.TB, spec Spec, d *record.Record, values map[string]float64) []float64 {
	t.Helper()
	m, err := New(spec, []*record.Record{d})
	if err != nil {
		t.Fatal(err)
	}
	return runAt(t, m.Problem, m.Params(), values)
}

// runAt gives what was simulated, with every parameter fixed.
func runAt(t testing.TB, problem func([]fit.Param) (*fit.Problem, error), ps []fit.Param, values map[string]float64) []float64 {
	t.Helper()
	left := len(values)
	for i := range ps {
		p := &ps[i]
		if x, ok := values[p.Name]; ok {
			p.Value = x
			left--
		}
		p.Fixed = true
	}
	if left != 0 {
		t.Fatalf("%d of the values %v have no parameter", left, values)
	}
	pr, err := problem(ps)
	if err != nil {
		t.Fatal(err)
	}
	e, r := pr.NewEvaluator(), make([]float64, pr.Rows)
	if st := e.Residuals(nil, r); st == engine.NonFinite {
		t.Fatal(st)
	}
	y, _, _, _ := e.(fit.Measuring).Measured()
	for k := range r {
		r[k] += y[k]
	}
	return r
}

func apart(a, b []float64) float64 {
	d := make([]float64, len(a))
	for k := range d {
		d[k] = a[k] - b[k]
	}
	return numeric.RMS(d)
}

// The model agrees with the continuous solution, and better with finer parts: with a bristle and with a rigid contact, late
// and by direction.
func TestServoAgainstContinuousSolution(t *testing.T) {
	ref := sweep(0.35)
	for k := 290; k < len(ref); k++ { // a stop
		ref[k] = ref[290]
	}
	for _, c := range []struct {
		name   string
		lag    float64 // s
		sigma0 float64 // N/m; 0: rigid
		split  bool
		parts  int     // of a sample, so that a jump within one does not matter
		limit  float64 // N, with these
	}{
		{"bristle", 0, 8e5, true, 1, 0.03},
		{"bristle, late command", 0.4e-3, 8e5, false, 2, 0.1},
		{"rigid", 0, 0, true, 1, 0.06},
		{"rigid, late command", 0.4e-3, 0, false, 2, 0.15},
	} {
		t.Run(c.name, func(t *testing.T) {
			truth := map[string]float64{"M": 60, "Fc": 15, "Fs": 20, "sigma2": 160, "vs": 0.008, "sigma0": c.sigma0, "sigma1": 2500, "lag": c.lag}
			values := map[string]float64{"M": 60, "lag": c.lag}
			spec, damping := servoSpec("lugre", c.split), "sigma2"
			if c.sigma0 == 0 {
				spec, damping = servoSpec("coulomb", c.split), "Fv"
				truth["vs"], truth["Fs"] = 0, 15
			} else {
				maps.Copy(values, map[string]float64{"vs": 0.008, "sigma0": c.sigma0, "sigma1": 2500})
			}
			if c.split {
				maps.Copy(truth, map[string]float64{"Fc-": 18, "Fs-": 18 + truth["Fs"] - 15, "sigma2-": 220})
				maps.Copy(values, map[string]float64{"Fc+": 15, "Fc-": 18, damping + "+": 160, damping + "-": 220})
				if c.sigma0 > 0 {
					values["dFs"] = 5
				}
			} else {
				maps.Copy(values, map[string]float64{"Fc": 15, damping: 160, "offset": 0})
				if c.sigma0 > 0 {
					values["Fs"] = 20
				}
			}
			d := made(t, truth, ref, nil)
			spec.Decimate, spec.Initial = 1, Rest
			var miss []float64
			for _, times := range []int{1, 4, 16} {
				spec.Substeps = c.parts * times
				miss = append(miss, apart(commandsOf(t, spec, d, values), d.Force))
			}
			t.Logf("commands differ by %.4f N rms of %.1f N", miss, numeric.RMS(d.Force))
			if miss[0] > c.limit || miss[2] > miss[0]/8 {
				t.Errorf("commands differ by %.4f N with %d, 4 and 16 times as many parts, want at most %g and an eighth of it with the most", miss,
					c.parts, c.limit)
			}
		})
	}
}

// Weights of held commands and of straight ones are those of the integrals.
func TestWindows(t *testing.T) {
	u := make([]float64, 41)
	for k := range u {
		u[k] = math.Sin(float64(k * k))
	}
	for delta := -2.3; delta <= 2.3; delta += 0.1 {
		for _, straight := range []bool{false, true} {
			for _, parts := range []int{1, 3} {
				w := make([]window, parts)
				windows(w, delta, straight)
				for j := range w {
					at := func(tau float64) float64 {
						s := 20 + (float64(j)+tau)/float64(parts) - delta
						k := int(math.Floor(s))
						if !straight {
							return u[k]
						}
						return u[k] + (s-float64(k))*(u[k+1]-u[k])
					}
					const n = 4000
					mean, l := 0.0, loads{}
					for i := range n {
						mean += at((float64(i)+0.5)/n) / n
					}
					w[j].act(&l, u, 20, 0.25)
					if got := l.u + l.du*0.125; math.Abs(got-mean) > 1e-3 || math.Abs(w[j].meanOf(u, 20)-mean) > 1e-3 {
						t.Fatalf("lag %.1f, straight %v, part %d of %d: mean %g, want %g", delta, straight, j, parts, got, mean)
					}
					rise := 0.0
					if straight {
						rise = at(1-1e-9) - at(1e-9)
					}
					if math.Abs(l.du*0.25-rise) > 1e-6 {
						t.Fatalf("lag %.1f, straight %v, part %d of %d: rise %g, want %g", delta, straight, j, parts, l.du*0.25, rise)
					}
				}
			}
		}
	}
}

// What was made with LuGre is found again with LuGre, and nearly explained by the elasto-plastic law.
func TestServoModelFindsLaws(t *testing.T) {
	truth := map[string]float64{"M": 80, "Fc": 15, "Fs": 19, "sigma2": 150, "vs": 0.01, "sigma0": 8e5, "sigma1": 2000, "offset": 2}
	spec := servoSpec("lugre", false)
	d := made(t, truth, sweep(1.2), nil)
	spec.Initial = Rest
	for _, c := range []struct {
		law    string
		rms    float64 // N
		within map[string]float64
	}{
		{"lugre", 0.05, map[string]float64{"M": 0.01, "Fc": 0.01, "Fs": 0.02, "sigma2": 0.02, "vs": 0.05, "sigma0": 0.05, "sigma1": 0.05,
			"offset": 0.02}},
		{"elasto-plastic", 0.5, map[string]float64{"M": 0.01, "offset": 0.05}}, // stiffer before it gives way: a cousin
	} {
		spec.Law = c.law
		m, err := New(spec, []*record.Record{d})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Fit(t.Context(), m.Params(), Search{Starts: 2, Draws: 8, Seed: 3, LM: fit.LM{Steps: []float64{1e-3}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.4f N rms, %d simulations", c.law, numeric.RMS(s.Residual), s.Evaluations)
		if numeric.RMS(s.Residual) > c.rms {
			t.Errorf("%s: residual %.3f N, want below %g N", c.law, numeric.RMS(s.Residual), c.rms)
		}
		for name, within := range c.within {
			if x := valueOf(t, s.Params, name); math.Abs(x/truth[name]-1) > within {
				t.Errorf("%s: %s = %.5g, made with %.5g", c.law, name, x, truth[name])
			}
		}
		if err := m.CompleteSolution(m.Params(), s); err != nil {
			t.Fatal(err)
		}
		if len(s.Params) != len(m.Params()) || len(s.Input) != len(s.Residual) {
			t.Errorf("%d parameters and %d inputs", len(s.Params), len(s.Input))
		}
	}
}

// A simulation in a controller allocates nothing, whatever the lag, never gives NaN, and sticks to the limit of a cost.
func TestServoModelRuns(t *testing.T) {
	d := made(t, empsContact, sweep(0.5), nil)
	for _, law := range []string{"gms", "stribeck-tustin", "coulomb"} {
		m, err := New(servoSpec(law, true), []*record.Record{d})
		if err != nil {
			t.Fatal(err)
		}
		ps := m.Params()
		for i := range ps {
			if ps[i].Name == "lag" {
				ps[i].Value, ps[i].Fixed = -0.4e-3, false
			}
		}
		pr, err := m.Problem(ps)
		if err != nil {
			t.Fatal(err)
		}
		e, r, theta := pr.NewEvaluator(), make([]float64, pr.Rows), startOf(pr)
		if n := testing.AllocsPerRun(3, func() { e.Residuals(theta, r) }); n != 0 {
			t.Errorf("%s: Residuals allocates %v times", law, n)
		}
		cost := costOf(e, pr.Rows)
		sum := cost(theta, math.Inf(1))
		if again := cost(theta, sum); again != sum || cost(theta, sum/2) <= sum/2 {
			t.Errorf("%s: cost %v, again %v", law, sum, again)
		}
		for j := range theta {
			for _, x := range []float64{math.NaN(), -1, 1e300, 1e-300} {
				bad := slices.Clone(theta)
				bad[j] = x
				e.Residuals(bad, r)
				for k := range r {
					if math.IsNaN(r[k]) || math.IsInf(r[k], 0) {
						t.Fatalf("%s, %s = %g: residual %g", law, pr.Params[j].Name, x, r[k])
					}
				}
			}
		}
	}
	spec := servoSpec("gms", true)
	spec.Controller = nil
	if _, err := New(spec, []*record.Record{d}); err == nil || !strings.Contains(err.Error(), "controller: missing") {
		t.Errorf("without a controller: %v", err)
	}
	if m, err := New(servoSpec("gms", true), []*record.Record{d}); err != nil {
		t.Error(err)
	} else if _, err := m.Shooting(m.Params(), 3); err == nil || !strings.Contains(err.Error(), "use lm") {
		t.Errorf("multiple shooting of a servo: %v", err)
	}
}

func BenchmarkServoModel(b *testing.B) {
	d := empsRecord(b)
	for _, law := range []string{"coulomb", "lugre", "gms"} {
		m, err := New(servoSpec(law, true), []*record.Record{d})
		if err != nil {
			b.Fatal(err)
		}
		pr, err := m.Problem(m.Params())
		if err != nil {
			b.Fatal(err)
		}
		e, r, theta := pr.NewEvaluator(), make([]float64, pr.Rows), startOf(pr)
		b.Run(law, func(b *testing.B) {
			for b.Loop() {
				e.Residuals(theta, r)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(d.Position)), "ns/sample")
		})
	}
}
