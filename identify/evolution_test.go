package identify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/independent"
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
	law := &friction.LuGre{Sigma0: p["sigma0"], Sigma1: p["sigma1"], Sigma2: p["sigma2"], Fc: p["Fc"], Fs: p["Fs"], Vs: p["vs"],
		Offset: p["offset"]}
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

// Members go from one record to the next by their names. States of a record stay at its own start; what a result found comes first.
func TestPopulationIsCarried(t *testing.T) {
	data := []byte(`{"parameters":["M","Fc","x0"],"members":[[2,3,9],[4,5,9],[6,7,9]],"mean_first_cost":0.5}`)
	p := &fit.Problem{Rows: 100, Params: []fit.Param{
		{Param: engine.Param{Name: "Fc", Value: 1}}, {Param: engine.Param{Name: "Fv", Value: 0.25}}, {Param: engine.Param{Name: "M", Value: 1}},
		{Param: engine.Param{Name: "x0", Value: -1}},
	}}
	members, mean := carriedMembers(data, p)
	if want := [][]float64{{3, 0.25, 2, -1}, {5, 0.25, 4, -1}, {7, 0.25, 6, -1}}; !reflect.DeepEqual(members, want) || mean != 50 {
		t.Errorf("%v, mean %g, want %v and 50", members, mean, want)
	}
	if members, mean := carriedMembers(nil, p); members != nil || mean != 0 {
		t.Errorf("of nothing: %v %g", members, mean)
	}
	r := &Result{Verdict: Weak, Parameters: []Parameter{{Estimate: fit.Estimate{Name: "M", Value: 2.5}},
		{Estimate: fit.Estimate{Name: "Fv", Value: 1}}}}
	members, _ = carriedMembers(Polished(data, r), p)
	if want := [][]float64{{3, 0.25, 2.5, -1}, {3, 0.25, 2, -1}, {5, 0.25, 4, -1}}; !reflect.DeepEqual(members, want) {
		t.Errorf("with a result: %v, want %v", members, want)
	}
	if r.Verdict = Rejected; string(Polished(data, r)) != string(data) {
		t.Error("a rejected result is among the members")
	}
}

// members keeps a population between two fits.
type members map[string][]byte

func (m members) Load(key string) []byte {
	if key == PopulationKey {
		return m[key]
	}
	return nil
}
func (m members) Save(key string, data []byte) { m[key] = slices.Clone(data) }

// A noisy recorded force takes a simulation of ten seconds off the record by far more than its sensor sees: an evolution is led back along
// it, and comes nearer with every record that it goes on with.
func TestEvolutionGoesOnOverRecords(t *testing.T) {
	truth := map[string]float64{"M": 2, "Fc": 3, "Fv": 1.5}
	draw := func(seed uint64) *record.Record {
		a := independent.Axis{M: 2, Friction: independent.Friction{Fc: 3, Sigma2: 1.5}}
		tr := a.Simulate(independent.Run{Dt: 1e-3, N: 5000, Force: independent.Sines(seed, []float64{18, 9, 4}, []float64{0.7, 1.9, 5})})
		r := rand.New(rand.NewPCG(seed, 5))
		d := &record.Record{Dt: 1e-3}
		for k := range tr.X {
			d.Position, d.Force = append(d.Position, tr.X[k]+1e-5*r.NormFloat64()), append(d.Force, tr.U[k]+0.8*r.NormFloat64())
		}
		return d
	}
	keep := members{}
	plan := Plan{Methods: Chain{"aep"}, Model: axis.Spec{Law: "static-coulomb-viscous", Drive: axis.Force, Hold: axis.Linear},
		AEP: fit.AEP{Generations: 30}, Seed: 3}
	for _, name := range []string{"M", "Fc", "Fs", "Fv"} {
		start, lo, hi := 0.5, 0.1, 50.0
		plan.GivenParams = append(plan.GivenParams, Given{Name: name, Start: &start, Lo: &lo, Hi: &hi})
	}
	off := func(r *Result) (worst float64) {
		for name, want := range truth {
			p, ok := r.Param(name)
			if !ok {
				t.Fatalf("no %s in %v", name, r.Parameters)
			}
			worst = math.Max(worst, math.Abs(p.Value/want-1))
		}
		return worst
	}
	var worst []float64
	for seed := range uint64(4) {
		r, err := Run(t.Context(), plan, Records{Fit: []*record.Record{draw(seed + 1)}}, keep, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s := r.Stages[0].Extra["simulator"]; !strings.Contains(fmt.Sprint(s), "led back") {
			t.Errorf("simulated by %v", s)
		}
		worst = append(worst, off(r))
	}
	t.Logf("off by %.3f", worst)
	if last := worst[3]; last > 0.15 || last > worst[0]/4 {
		t.Errorf("off by %.3f, want less than 0.15 at the end and a quarter of what it was at the beginning", worst)
	}
}
