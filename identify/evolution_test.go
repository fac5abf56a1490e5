package identify

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// lugre is the true contact of a mass of 1 kg, and pushed is its record: a multi-sine from rest, simulated by the midpoint rule
// in steps of a quarter of a millisecond, with white noise of 0.2 mm/s.
var lugre = map[string]float64{"M": 1, "sigma0": 1e4, "sigma1": 60, "sigma2": 0.6, "Fc": 1, "Fs": 1.6, "vs": 0.02, "offset": 0.05}

type push struct{ now float64 }

func (p *push) Span(tau, h, x float64)                       {}
func (p *push) At(tau, x, v float64) (force, dx, dv float64) { return p.now, 0, 0 }

func pushed(t *testing.T, n int) *record.Record {
	t.Helper()
	p := lugre
	law := &friction.LuGre{Sigma0: p["sigma0"], Sigma1: p["sigma1"], Sigma2: p["sigma2"], Fc: p["Fc"], Fs: p["Fs"], Vs: p["vs"], Offset: p["offset"]}
	b, err := friction.NewMass(p["M"], law, friction.Midpoint)
	if err != nil {
		t.Fatal(err)
	}
	const dt, parts = 1e-3, 4
	rec := &record.Record{Dt: dt, Position: make([]float64, n), Velocity: make([]float64, n), Force: make([]float64, n)}
	rng, x, f := rand.New(rand.NewPCG(1, 9)), b.NewState(), &push{}
	for k := range n {
		s := float64(k) * dt
		f.now = 1.3*math.Sin(2*math.Pi*0.7*s) + 0.9*math.Sin(2*math.Pi*1.9*s+1) + 0.5*math.Sin(2*math.Pi*5.3*s+2)
		rec.Force[k], rec.Position[k], rec.Velocity[k] = f.now, x[0], x[1]+2e-4*rng.NormFloat64()
		for range parts {
			if r := b.Step(dt/parts, x, f); r.Status != engine.OK {
				t.Fatal(r.Status)
			}
		}
	}
	return rec
}

// Evolution and descent arrive at the true contact from the model's own guesses and bounds, and the evolution runs on the
// kernels for it. Where these do not serve, it runs on the model and says so.
func TestEvolutionOfContact(t *testing.T) {
	plan := Plan{
		Methods: Chain{"aep", "lm"}, Seed: 3, AEP: fit.AEP{Members: 100, Generations: 150},
		Model: axis.Spec{Law: "lugre", Drive: axis.Force, Output: axis.Velocity, Initial: axis.Rest, Terms: []string{"offset"}},
	}
	rec := pushed(t, 4000)
	r, err := Run(t.Context(), plan, Records{Fit: []*record.Record{rec}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := r.Stages[0].Extra["simulator"].(string); !strings.HasPrefix(s, "population kernels") {
		t.Errorf("the evolution ran on %q, want the kernels", s)
	}
	first := math.Sqrt(r.Stages[0].Extra["mean_first_cost"].(float64) / float64(rec.Len()))
	if rms := r.Stages[0].RMS; !(rms < 0.1*first) {
		t.Errorf("%.3g m/s rms after the evolution, the first members left %.3g on average", rms, first)
	}
	if rms := r.Stages[1].RMS; !(rms < 1.05*2e-4) {
		t.Errorf("%.3g m/s rms are left after the evolution, %.3g after the descent; the noise is 2e-4", r.Stages[0].RMS, rms)
	}
	for name, want := range lugre {
		p, ok := r.Param(name)
		if !ok {
			t.Fatalf("no parameter %s", name)
		}
		t.Logf("%s: %g after the evolution, %g after the descent, %g in truth", name, r.Stages[0].Values[name], p.Value, want)
		if se := r.Err(p); se == nil || !(math.Abs(p.Value-want) <= 4**se+0.01*want) || !(*se < 0.1*want) {
			t.Errorf("%s: %v, want %v within four standard errors %v", name, p.Value, want, se)
		}
	}

	plan.Methods, plan.AEP.Members, plan.AEP.Generations = Chain{"aep"}, 4, 2
	short := &record.Record{Dt: rec.Dt, Position: rec.Position[:300], Velocity: rec.Velocity[:300], Force: rec.Force[:300]}
	for _, c := range []struct {
		name   string
		change func(p *Plan)
		kernel bool
	}{
		{"as it is", func(p *Plan) {}, true},
		{"position", func(p *Plan) { p.Model.Output = axis.Position }, true},
		{"state at the beginning from the record", func(p *Plan) { p.Model.Initial = axis.Measured }, true},
		{"state at the beginning free", func(p *Plan) { p.Model.Initial = axis.Free }, false},
		{"lag free", func(p *Plan) { p.LagFree = true }, false},
		{"a spring", func(p *Plan) { p.Model.Terms = []string{"stiffness"} }, false},
		{"force straight between samples", func(p *Plan) { p.Model.Hold = axis.Linear }, false},
		{"asymmetric", func(p *Plan) { p.Model.Asymmetric, p.Model.Terms = true, nil }, false},
		{"every second sample", func(p *Plan) { p.Model.Decimate = 2 }, false},
		{"another law", func(p *Plan) { p.Model.Law = "dahl" }, false},
	} {
		k := plan
		c.change(&k)
		r, err := Run(t.Context(), k, Records{Fit: []*record.Record{short}}, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if s, _ := r.Stages[0].Extra["simulator"].(string); strings.HasPrefix(s, "population kernels") != c.kernel {
			t.Errorf("%s: ran on %q, on kernels is expected to be %v", c.name, s, c.kernel)
		}
	}
}
