package axis

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/population"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// populationTruth made the records of these tests, in the order of population.Names.
var populationTruth = map[string]float64{"M": 1, "sigma0": 1e4, "sigma1": 60, "sigma2": 0.6, "Fc": 1, "Fs": 1.6, "vs": 0.02, "offset": 0.05}

// heldForce is a load that does not change within a step; before is its value in the step before.
type heldForce struct{ now, offset float64 }

func (f *heldForce) Span(tau, h, x float64) {}
func (f *heldForce) At(tau, x, v float64) (force, dx, dv float64) {
	return f.now, 0, 0
}

// populationRecord is a multi-sine on the true contact, simulated by the midpoint scheme with parts of 0.1 ms, another
// simulator than the kernels, with white noise on position and velocity.
func populationRecord(t testing.TB, n int, noise float64, seed uint64) *record.Record {
	t.Helper()
	p := populationTruth
	law := &friction.LuGre{Sigma0: p["sigma0"], Sigma1: p["sigma1"], Sigma2: p["sigma2"], Fc: p["Fc"], Fs: p["Fs"], Vs: p["vs"], Offset: p["offset"]}
	b, err := friction.NewMass(p["M"], law, friction.Midpoint)
	if err != nil {
		t.Fatal(err)
	}
	const dt = 1e-3
	rec := &record.Record{Dt: dt, Position: make([]float64, n), Velocity: make([]float64, n), Force: make([]float64, n)}
	rng := rand.New(rand.NewPCG(seed, 9))
	x, f := b.NewState(), &heldForce{}
	for k := range n {
		rec.Position[k] = x[0] + 1e-2*noise*rng.NormFloat64()
		rec.Velocity[k] = x[1] + noise*rng.NormFloat64()
		s := float64(k) * dt
		f.now = 1.3*math.Sin(2*math.Pi*0.7*s) + 0.9*math.Sin(2*math.Pi*1.9*s+1) + 0.5*math.Sin(2*math.Pi*5.3*s+2)
		rec.Force[k] = f.now
		if r := b.Substeps(10, dt, x, f); r.Status != engine.OK {
			t.Fatal(r.Status)
		}
	}
	return rec
}

// populationParams are the six parameters of the contact, searched in logarithms, each started off by its factor; mass and
// offset are known.
func populationParams(box float64, off map[string]float64) []fit.Param {
	var ps []fit.Param
	for _, name := range []string{"M", "sigma0", "sigma1", "sigma2", "Fc", "Fs", "vs", "offset"} {
		v := populationTruth[name]
		p := fit.Param{Param: engine.Param{Name: name, Value: v, Lo: v / box, Hi: v * box}, Log: true}
		if name == "M" || name == "offset" {
			p.Fixed, p.Log = true, false
		} else if f, ok := off[name]; ok {
			p.Value *= f
		}
		ps = append(ps, p)
	}
	return ps
}

var populationOff = map[string]float64{"sigma0": 0.6, "sigma1": 1.7, "sigma2": 0.5, "Fc": 1.2, "Fs": 0.8, "vs": 2}

func TestQuickLM(t *testing.T) {
	rec := populationRecord(t, 10000, 2e-4, 1)
	for _, out := range []Output{Velocity} {
		pr, err := PopulationProblem(rec, out, populationParams(5, populationOff))
		if err != nil {
			t.Fatal(err)
		}
		inner := pr.New
		for _, path := range population.Paths() {
			lm := fit.LM{Workers: 1}
			pr.New = func() fit.Evaluator {
				e := inner().(*populationEvaluator)
				if err := e.kernel.Use(path); err != nil {
					t.Fatal(err)
				}
				return e
			}
			best := 1e9
			var s *fit.Solution
			for range 5 {
				t0 := time.Now()
				s, err = lm.Fit(context.Background(), pr, nil)
				best = min(best, time.Since(t0).Seconds())
			}
			fmt.Println(path, out, best*1e3, "ms", err, s.Converged, s.Reason, s.Iterations, s.Evaluations, math.Sqrt(2*s.Cost/1e4))
			for _, p := range s.Params {
				fmt.Printf("  %s %.4f", p.Name, p.Value/populationTruth[p.Name])
			}
			fmt.Println()
		}
	}
}
