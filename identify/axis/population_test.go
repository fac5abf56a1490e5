package axis

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/population"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// populationTruth made the records of these tests.
var populationTruth = map[string]float64{"M": 1, "sigma0": 1e4, "sigma1": 60, "sigma2": 0.6, "Fc": 1, "Fs": 1.6, "vs": 0.02, "offset": 0.05}

// populationOff starts a fit off by these factors.
var populationOff = map[string]float64{"sigma0": 0.6, "sigma1": 1.7, "sigma2": 0.5, "Fc": 1.2, "Fs": 0.8, "vs": 2}

// heldForce is a load that is told from outside.
type heldForce struct{ now float64 }

func (f *heldForce) Span(tau, h, x float64) {}
func (f *heldForce) At(tau, x, v float64) (force, dx, dv float64) {
	return f.now, 0, 0
}

// populationRecord is a multi-sine on the true contact with white noise on the velocity (m/s) and a hundredth of it on the
// position (m). The simulator is that of package friction, with the scheme of the kernels.
func populationRecord(t testing.TB, n int, noise float64, seed uint64) *record.Record {
	t.Helper()
	p := populationTruth
	law := &friction.LuGre{Sigma0: p["sigma0"], Sigma1: p["sigma1"], Sigma2: p["sigma2"], Fc: p["Fc"], Fs: p["Fs"], Vs: p["vs"],
		Offset: p["offset"]}
	b, err := friction.NewMass(p["M"], law, friction.ExplicitPade)
	if err != nil {
		t.Fatal(err)
	}
	const dt = 1e-3
	rec := &record.Record{Dt: dt, Position: make([]float64, n), Velocity: make([]float64, n), Force: make([]float64, n)}
	for k := range n {
		s := float64(k) * dt
		rec.Force[k] = 1.3*math.Sin(2*math.Pi*0.7*s) + 0.9*math.Sin(2*math.Pi*1.9*s+1) + 0.5*math.Sin(2*math.Pi*5.3*s+2)
	}
	rng := rand.New(rand.NewPCG(seed, 9))
	x, f := b.NewState(), &heldForce{}
	x[1] = -0.5 * dt * (rec.Force[0] - p["offset"]) / p["M"]
	for k, u := range rec.Force {
		f.now = 0.5 * (rec.Force[max(k-1, 0)] + u)
		pos, v := x[0], x[1]
		if r := b.Step(dt, x, f); r.Status != engine.OK {
			t.Fatal(r.Status)
		}
		rec.Position[k] = pos + 1e-2*noise*rng.NormFloat64()
		rec.Velocity[k] = 0.5*(v+x[1]) + noise*rng.NormFloat64()
	}
	return rec
}

// populationParams are the six parameters of the contact in a box of a factor either way, searched in logarithms, started off
// the truth. Mass, offset and the start at rest are known.
func populationParams(box float64, off map[string]float64) []fit.Param {
	var ps []fit.Param
	for _, name := range population.Names {
		v := populationTruth[name]
		p := fit.Param{Param: engine.Param{Name: name, Value: v, Lo: v / box, Hi: v * box}, Log: true}
		if name == "M" || name == "offset" {
			p.Fixed, p.Log = true, false
		} else if f, ok := off[name]; ok {
			p.Value *= f
		}
		ps = append(ps, p)
	}
	for _, name := range []string{"x0", "v0", "vd"} {
		ps = append(ps, fit.Param{Param: engine.Param{Name: name, Lo: -1, Hi: 1, Fixed: true}})
	}
	return ps
}

// populationOn is the problem on a path of choice.
func populationOn(tb testing.TB, p *fit.Problem, path population.Path) *fit.Problem {
	q := *p
	q.NewEvaluator = func() fit.Evaluator {
		e := p.NewEvaluator().(*populationEvaluator)
		if err := e.kernel.Use(path); err != nil {
			tb.Error(err)
		}
		return e
	}
	return &q
}

// A local fit from a start 0.5 to 2 times off finds the truth within its standard errors, with the same bits on every path.
func TestPopulationFit(t *testing.T) {
	rec := populationRecord(t, 6000, 2e-4, 1)
	for _, out := range []Output{Velocity, Position} {
		pr, err := PopulationProblem(rec, out, populationParams(5, populationOff))
		if err != nil {
			t.Fatal(err)
		}
		var first *fit.Solution
		for _, path := range population.Paths() {
			s, err := fit.LM{}.Fit(context.Background(), populationOn(t, pr, path), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !s.Converged {
				t.Errorf("output %d, %s: %s", out, path, s.Reason)
			}
			if first == nil {
				first = s
			}
			for j, p := range s.Params {
				if p.Value != first.Params[j].Value {
					t.Errorf("output %d: %s is %v on %s, %v on %s", out, p.Name, p.Value, path, first.Params[j].Value, population.Portable)
				}
			}
		}
		a, err := fit.Assess(first)
		if err != nil {
			t.Fatal(err)
		}
		for j, e := range a.Estimates {
			want, se := populationTruth[e.Name], a.Estimates[j].Err(a.Residual.White)
			if se == nil || !(math.Abs(e.Value-want) <= 4**se) || !(*se < 0.2*want) {
				t.Errorf("output %d: %s = %.6g ± %.2g, the truth is %.6g", out, e.Name, e.Value, *se, want)
				continue
			}
			t.Logf("output %d: %s = %.6g ± %.2g, the truth is %.6g", out, e.Name, e.Value, *se, want)
		}
	}
}

// A search has the same members on every path and for any number of workers, and a local
// fit from its survivors arrives at the noise.
func TestPopulationSearch(t *testing.T) {
	const noise = 2e-4
	rec := populationRecord(t, 3000, noise, 2)
	pr, err := PopulationProblem(rec, Velocity, populationParams(5, nil))
	if err != nil {
		t.Fatal(err)
	}
	var first []float64
	var cost float64
	for _, path := range population.Paths() {
		for _, workers := range []int{1, 2, 3} {
			a := fit.AEP{Members: 40, Generations: 40, Workers: workers, Seed: 5}
			pop, err := a.Search(context.Background(), populationOn(t, pr, path), nil)
			if err != nil {
				t.Fatal(err)
			}
			theta, c := pop.BestMember()
			if first == nil {
				first, cost = slices.Clone(theta), c
			}
			if !slices.Equal(theta, first) || c != cost {
				t.Fatalf("%s, %d workers: %v costs %v; portable, 1 worker: %v costs %v", path, workers, theta, c, first, cost)
			}
		}
	}
	q := *pr
	q.Params = slices.Clone(pr.Params)
	for j, v := range first {
		q.Params[j].Value = v
	}
	s, err := fit.LM{}.Fit(context.Background(), &q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rms := math.Sqrt(2 * s.Cost / float64(rec.Len())); !(rms < 1.05*noise) {
		t.Errorf("rms %.3g m/s after the search, %.3g after the fit; the noise is %.3g", math.Sqrt(cost/float64(rec.Len())), rms, noise)
	}
}

// Single members and members of a batch have the same residuals, and nothing allocates.
func TestPopulationEvaluator(t *testing.T) {
	rec := populationRecord(t, 1000, 2e-4, 3)
	pr, err := PopulationProblem(rec, Position, populationParams(5, populationOff))
	if err != nil {
		t.Fatal(err)
	}
	e := pr.NewEvaluator().(*populationEvaluator)
	n := len(pr.Params)
	a, b := make([]float64, n), make([]float64, n)
	for j, p := range pr.Params {
		a[j], b[j] = p.Value, 1.01*p.Value
	}
	ra, rb, one := make([]float64, pr.Rows), make([]float64, pr.Rows), make([]float64, pr.Rows)
	e.kernel.Residuals(e.fill([][]float64{a, b}), [][]float64{ra, rb})
	check := func(what string, theta, want []float64) {
		t.Helper()
		if e.Residuals(theta, one); !slices.Equal(one, want) {
			t.Errorf("%s: residuals differ from those of the batch", what)
		}
		sum := 0.0
		for _, r := range want {
			sum += r * r
		}
		c := []float64{0}
		if e.Costs([][]float64{theta}, []float64{math.Inf(1)}, c); math.Abs(c[0]/sum-1) > 1e-12 {
			t.Errorf("%s: cost %v, the squares sum up to %v", what, c[0], sum)
		}
	}
	check("first", a, ra)
	check("second", b, rb)
	members, limit, cost := [][]float64{a, b}, []float64{1, 1}, make([]float64, 2)
	if free := testing.AllocsPerRun(5, func() {
		e.Residuals(a, one)
		e.Costs(members, limit, cost)
	}); free != 0 {
		t.Errorf("%g allocations", free)
	}
}

// A stiff box is simulated with divided steps, one that is too stiff at the start is refused.
func TestPopulationSubsteps(t *testing.T) {
	rec := populationRecord(t, 500, 2e-4, 3)
	for _, c := range []struct{ sigma0, top, parts float64 }{{1e4, 1e4, 1}, {1e4, 4e6, 2}, {1e4, 1e8, 4}, {1e8, 1e8, 8}} {
		ps := populationParams(5, nil)
		for i := range ps {
			if ps[i].Name == "sigma0" {
				ps[i].Value, ps[i].Hi = c.sigma0, max(c.top, ps[i].Value)
			}
		}
		p, err := newPopulationBox(ps, &population.Trace{})
		if err != nil {
			t.Fatal(err)
		}
		if n := p.substeps(1e-3); float64(n) != c.parts {
			t.Errorf("sigma0 %g up to %g: %d parts, want %g", c.sigma0, c.top, n, c.parts)
		}
		if pr, err := PopulationProblem(rec, Velocity, ps); err != nil || pr.Rows != 500 {
			t.Errorf("sigma0 %g up to %g: %v", c.sigma0, c.top, err)
		}
	}
	ps := populationParams(5, nil)
	ps[1].Value, ps[1].Hi = 1e10, 1e10
	if _, err := PopulationProblem(rec, Velocity, ps); err == nil || !strings.Contains(err.Error(), "so stiff") {
		t.Errorf("%v, want that the contact is too stiff", err)
	}
}

// Data and parameters that do not serve are refused with the reason.
func TestPopulationRefusals(t *testing.T) {
	whole := func() *record.Record { return populationRecord(t, 300, 2e-4, 3) }
	set := func(name string, change func(p *fit.Param)) []fit.Param {
		ps := populationParams(5, nil)
		for i := range ps {
			if ps[i].Name == name {
				change(&ps[i])
			}
		}
		return ps
	}
	for _, c := range []struct {
		name, want string
		rec        func(r *record.Record)
		out        Output
		params     []fit.Param
	}{
		{"no force", "0 samples of force", func(r *record.Record) { r.Force = nil }, Velocity, nil},
		{"no velocity", "no velocity was recorded", func(r *record.Record) { r.Velocity = nil }, Velocity, nil},
		{"NaN", "sample 7", func(r *record.Record) { r.Force[7] = math.NaN() }, Velocity, nil},
		{"command", "a command is asked for", func(r *record.Record) {}, Command, nil},
		{"unknown", "kt is not one of", func(r *record.Record) {}, Velocity, set("vd", func(p *fit.Param) { p.Name = "kt" })},
		{"free vd", "vd is not one of", func(r *record.Record) {}, Velocity, set("vd", func(p *fit.Param) { p.Fixed = false })},
		{"missing", "Fs is missing", func(r *record.Record) {}, Velocity, populationParams(5, nil)[:5]},
		{"start outside", "outside its bounds", func(r *record.Record) {}, Velocity, set("Fc", func(p *fit.Param) { p.Value = 100 })},
		{"no mass", "M: values from 0", func(r *record.Record) {}, Velocity, set("M", func(p *fit.Param) { p.Value = 0 })},
	} {
		rec := whole()
		c.rec(rec)
		if c.params == nil {
			c.params = populationParams(5, nil)
		}
		_, err := PopulationProblem(rec, c.out, c.params)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
}
