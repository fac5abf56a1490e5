package axis

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/engine/friction"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// drawn is the far end of a spring that moves at a constant speed.
type drawn struct{ kd, speed, t float64 }

func (d *drawn) Span(tau, h, x float64) {}
func (d *drawn) At(tau, x, v float64) (force, dx, dv float64) {
	return d.kd * (d.speed*(d.t+tau) - x), -d.kd, 0
}

// stickSlip draws 1 kg over 100 N/m for 10 s and samples it every 5 ms, once for every speed. The step of the generator is
// a fiftieth of that of the fit.
func stickSlip(t testing.TB, truth friction.Seven, noise float64, seed uint64, speeds ...float64) []*record.Record {
	t.Helper()
	const n, dt, sub, kd = 2001, 5e-3, 250, 100
	rng := rand.New(rand.NewPCG(seed, 1))
	var recs []*record.Record
	for _, speed := range speeds {
		law := truth
		mass, err := friction.NewMass(1, &law, friction.Midpoint)
		if err != nil {
			t.Fatal(err)
		}
		x, load := mass.NewState(), &drawn{kd: kd, speed: speed}
		r := &record.Record{Dt: dt}
		for k := range n {
			r.Position = append(r.Position, x[0]+noise*rng.NormFloat64())
			r.Reference = append(r.Reference, speed*float64(k)*dt)
			for i := range sub {
				load.t = float64(k)*dt + float64(i)*dt/sub
				mass.Step(dt/sub, x, load)
			}
		}
		recs = append(recs, r)
	}
	return recs
}

// sevenTruth is the public set of theory §8 with the spring of a rig: 1.5 N over 0.3 mm.
var sevenTruth = friction.Seven{Fc: 1, Fv: 0.4, FsInf: 0.5, Kt: 5e3, Vs: 0.05, TauL: 0.02, Gamma: 0.1, Ct: 30}

var sevenSpec = Spec{Law: "seven-parameter", Drive: Spring, Initial: Rest, Substeps: 5}

// sevenProblem has the box of table 6.2, narrowed by what the record shows: force at release, presliding slope.
func sevenModel(t testing.TB, recs []*record.Record) (*Model, []fit.Param) {
	t.Helper()
	m, err := New(sevenSpec, recs)
	if err != nil {
		t.Fatal(err)
	}
	ps := m.Params()
	set := func(name string, value, lo, hi float64) {
		i := slices.IndexFunc(ps, func(p fit.Param) bool { return p.Name == name })
		ps[i].Value, ps[i].Lo, ps[i].Hi, ps[i].Log, ps[i].Fixed = value, lo, hi, true, false
	}
	fix := func(name string, value float64) {
		i := slices.IndexFunc(ps, func(p fit.Param) bool { return p.Name == name })
		ps[i].Value, ps[i].Fixed = value, true
	}
	fix("M", 1)
	fix("kd", 100)
	fix("ct", 30)
	for i := range ps { // the body starts from where its position is counted
		if strings.HasPrefix(ps[i].Name, "x0") {
			ps[i].Value = 0
		}
	}
	set("Fc", 0.8, 0.3, 3)
	set("Fv", 1, 0.04, 4)
	set("dFs_inf", 0.3, 0.1, 3)
	set("kt", 2e3, 1e3, 3e4)
	set("vs", 0.03, 5e-3, 0.5)
	set("tauL", 0.01, 1e-3, 0.05)
	set("gamma", 0.3, 0.01, 10)
	return m, ps
}

func TestSevenParametersFromTwoSpeeds(t *testing.T) {
	recs := stickSlip(t, sevenTruth, 20e-6, 1, 0.01, 0.03)
	m, ps := sevenModel(t, recs)
	for i, q := range sevenTruth.Params() {
		j := slices.IndexFunc(ps, func(p fit.Param) bool { return p.Name == q.Name })
		ps[j].Value = q.Value
		_ = i
	}
	pr, err := m.Problem(ps)
	if err != nil {
		t.Fatal(err)
	}
	ev := pr.New()
	var truth []float64
	for _, p := range pr.Params {
		truth = append(truth, p.Value)
		t.Log(p.Name, p.Value)
	}
	r := make([]float64, pr.Rows)
	st := ev.Residuals(truth, r)
	t.Log(st, rms(r))
	s, err := fit.LM{Horizons: fit.GrowingHorizon}.Fit(context.Background(), pr, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range s.Params {
		t.Logf("%s %.6g (%.3f %%)", p.Name, p.Value, 100*(p.Value/truth[i]-1))
	}
	t.Log(rms(s.Residual), s.Reason, s.Compute, s.Evaluations)
	_ = math.Pi
}

func BenchmarkSevenSimulation(b *testing.B) {
	recs := stickSlip(b, sevenTruth, 20e-6, 1, 0.01, 0.03)
	m, ps := sevenModel(b, recs)
	pr, _ := m.Problem(ps)
	ev := pr.New()
	var theta []float64
	for _, p := range pr.Params {
		theta = append(theta, p.Value)
	}
	r := make([]float64, pr.Rows)
	b.ReportAllocs()
	for b.Loop() {
		ev.Residuals(theta, r)
	}
}
