package identify

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// letGo is the swing of a mass on a spring that was let go.
func letGo(seed uint64) *record.Record {
	r := rand.New(rand.NewPCG(seed, 5))
	k := 20 + 60*r.Float64()
	f := independent.Friction{Fc: 0.2 + 0.6*r.Float64(), Sigma2: 0.1 + 0.4*r.Float64()}
	if seed%2 == 0 {
		f.Sigma0, f.Sigma1, f.Fs, f.Vs = 3e3+5e3*r.Float64(), 20, f.Fc*1.4, 0.02
	}
	if seed%3 == 0 {
		f.Split, f.FcBack, f.FsBack, f.Sigma2Back = true, f.Fc*1.3, f.Fs*1.3, f.Sigma2*1.2
	}
	a := independent.Axis{M: 1, Friction: f, Load: func(_, x, _ float64) float64 { return k * x }}
	tr := a.Simulate(independent.Run{Dt: 2e-3, N: 2000, X0: 0.5 + 0.5*r.Float64(), Force: func(float64) float64 { return 0 }})
	d := tr.Record(independent.Sensors{Position: 2e-4, Velocity: -1, Seed: seed}, nil)
	d.Force = nil
	return d
}

// A bristle holds Coulomb friction and, by direction, that without directions. Where its own descent ends above what these leave over,
// it goes on from there; without that it left 4 % more here, and twenty times as much by direction.
func TestASwingEndsNoWorseThanItsSpecialCases(t *testing.T) {
	seeds := []uint64{12}
	if soak {
		seeds = []uint64{6, 9, 12, 15, 18, 21}
	}
	for _, seed := range seeds {
		d, least := letGo(seed), math.Inf(1)
		for _, spec := range []axis.Spec{
			{Law: "coulomb", Terms: []string{"viscous", "stiffness"}},
			{Law: "lugre", Terms: []string{"stiffness"}},
			{Law: "lugre", Terms: []string{"stiffness"}, Asymmetric: true},
		} {
			spec.Drive, spec.Output, spec.Initial = axis.Coast, axis.Position, axis.Free
			r, err := Run(context.Background(), Plan{Methods: Chain{"lm"}, Seed: 1, Model: spec}, Records{Fit: []*record.Record{d}}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("seed %d, %s, by direction %v: %.5g m", seed, spec.Law, spec.Asymmetric, r.Fit.RMS)
			if !(r.Fit.RMS <= least*(1+1e-3)) {
				t.Errorf("seed %d, %s, by direction %v: %.5g m are left over, a special case leaves %.5g", seed, spec.Law, spec.Asymmetric, r.Fit.RMS,
					least)
			}
			least = min(least, r.Fit.RMS)
		}
	}
}

// While special cases are tried, which may take as long as the fit itself, those who wait see which one it is and how far it is.
func TestSpecialCasesAreWatched(t *testing.T) {
	d, _ := apart{1e4, 100, 0.05}.driven(3000, 1, independent.Sensors{Position: 1e-6, Velocity: 2e-4})
	d.Force = append(make([]float64, 3), d.Force[:len(d.Force)-3]...) // late: a contact might look so
	plan := Plan{Methods: Chain{"lm"}, Model: axis.Spec{Law: "lugre", Output: axis.Velocity}, Workers: 1}
	last := map[string]fit.Progress{}
	if _, err := Run(t.Context(), plan, Records{Fit: []*record.Record{d}}, nil, func(p fit.Progress) { last[p.Phase] = p }); err != nil {
		t.Fatal(err)
	}
	for _, law := range []string{"coulomb", "stribeck-bo-pavelescu"} {
		if p := last["special case "+law+", start"]; p.Method != "lm" || p.Step == 0 || p.StepCount < p.Step {
			t.Errorf("%s: %d of %d starts by %q", law, p.Step, p.StepCount, p.Method)
		}
	}
}
