package bristle

import (
	"context"
	"math"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// covered counts the parameters whose interval at 95 % holds the truth, over several records of one experiment.
func covered(t *testing.T, g *rig, records int, o Options) (in [count]int) {
	t.Helper()
	for seed := range uint64(records) {
		s, err := Separable(context.Background(), g.record(20+seed), Params(false), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		se := deviations(t, s)
		for i, p := range s.Params {
			if math.Abs(p.Value-g.truth[i]) < 1.96*se[i] {
				in[i]++
			}
		}
	}
	return in
}

// The smoother finds every parameter within a few per cent from nothing, but its intervals are wrong: that of the
// break-away level misses the truth every time, for it is at the reversals that smoothing rounds.
func TestSmootherFailsCoverage(t *testing.T) {
	const records = 3
	for _, g := range rigs()[:2] {
		t.Run(g.name, func(t *testing.T) {
			g.run(1)
			s, err := Separable(context.Background(), g.record(20), Params(false), Options{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range s.Params {
				if off := math.Abs(p.Value/g.truth[i] - 1); off > 0.06 {
					t.Errorf("%s = %.6g, truth %.6g", p.Name, p.Value, g.truth[i])
				}
			}
			in := covered(t, g, records, Options{})
			all := 0
			for _, n := range in {
				all += n
			}
			t.Logf("intervals that hold the truth, of %d each: %v", records, in)
			if in[breakout] > 0 {
				t.Errorf("the interval of Fs holds the truth in %d of %d records: then the warning about the smoother is not needed", in[breakout], records)
			}
			if all > 6*records {
				t.Errorf("%d of %d intervals hold the truth: then the warning about the smoother is not needed", all, count*records)
			}
		})
	}
}

// The bootstrap takes the bias off and widens the intervals to what they should be.
func TestBootstrap(t *testing.T) {
	g := rigs()[0]
	g.run(1)
	plain, err := Separable(context.Background(), g.record(21), Params(false), Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Separable(context.Background(), g.record(21), Params(false), Options{Bootstrap: 12}, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := math.Abs(plain.Params[breakout].Value/g.truth[breakout] - 1)
	after := math.Abs(s.Params[breakout].Value/g.truth[breakout] - 1)
	t.Logf("Fs off by %.3f %% before, %.3f %% after", 100*before, 100*after)
	if after > before/2 {
		t.Errorf("Fs is off by %.3f %%, before the bootstrap by %.3f %%", 100*after, 100*before)
	}
	se := deviations(t, s)
	wide := s.Extra["bootstrap_error"].(map[string]float64)
	for i, p := range s.Params {
		if d := math.Abs(p.Value-g.truth[i]) / se[i]; d > 5 {
			t.Errorf("%s = %.6g is %.1f standard errors from %.6g", p.Name, p.Value, d, g.truth[i])
		}
		if math.Abs(se[i]/wide[p.Name]-1) > 1e-6 {
			t.Errorf("%s: Jac gives the error %.6g, the bootstrap %.6g", p.Name, se[i], wide[p.Name])
		}
	}
}

// Fixed parameters stay, and the others are found around them.
func TestSeparableFixed(t *testing.T) {
	g := rigs()[2]
	g.run(1)
	known := map[string]float64{"sigma2": g.truth[sigma2], "Fs": g.truth[breakout]}
	s, err := Separable(context.Background(), g.record(1), fixed(Params(false), known), Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range s.Params {
		if v, ok := known[p.Name]; ok && p.Value != v {
			t.Errorf("%s was fixed to %g and became %g", p.Name, v, p.Value)
		}
		if off := math.Abs(p.Value/g.truth[i] - 1); off > 0.06 {
			t.Errorf("%s = %.6g, truth %.6g", p.Name, p.Value, g.truth[i])
		}
	}
	if len(s.Free) != count-2 || len(s.Jac) != len(s.Residual)*(count-2) {
		t.Errorf("%d free parameters, Jac of %d numbers for %d rows", len(s.Free), len(s.Jac), len(s.Residual))
	}
}

// A contact that strengthens with speed, as lubricated guides do, is found from a cold start like one that weakens.
func TestStrengtheningContact(t *testing.T) {
	if testing.Short() {
		t.Skip("a Kalman fit")
	}
	g := *rigs()[0]
	g.truth[breakout] = 0.6 * g.truth[coulomb]
	g.run(5)
	for _, method := range []func(context.Context, *record.Record, []fit.Param, Options, fit.Watch) (*fit.Solution, error){Separable, Kalman} {
		s, err := method(context.Background(), g.record(5), Params(false), Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		by := map[string]float64{}
		for _, p := range s.Params {
			by[p.Name] = p.Value
		}
		for _, c := range []struct {
			name   string
			want   float64
			within float64
		}{{"Fc", g.truth[coulomb], 0.02}, {"Fs", g.truth[breakout], 0.03}, {"M", g.truth[inertia], 0.01}} {
			if math.Abs(by[c.name]/c.want-1) > c.within {
				t.Errorf("%s = %.4g, want %.4g", c.name, by[c.name], c.want)
			}
		}
	}
}
