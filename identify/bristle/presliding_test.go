package bristle

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/fit"
)

// small is a drive well below break-away, with a line at the resonance of mass and bristles.
func small(level float64, bent bool) *rig {
	g := rigs()[0]
	g.duration = 5
	if !bent { // levels so high that the bristles hardly notice them
		g.truth[coulomb], g.truth[breakout] = 100, 150
	}
	g.range_ = 1e-3 // an interferometer: 15 nm
	g.noise = 0.002
	g.truth[offset] = 0.03
	f0 := math.Sqrt(g.truth[sigma0]/g.truth[inertia]) / (2 * math.Pi)
	g.amplitude = []float64{level, level / 2, level / 3, level / 6}
	g.frequency = []float64{1.3, 7, f0 * 0.8, f0 * 1.5}
	g.run(3)
	return g
}

func fixed(params []fit.Param, values map[string]float64) []fit.Param {
	for i := range params {
		if v, ok := values[params[i].Name]; ok {
			params[i].Value, params[i].Fixed = v, true
		}
	}
	return params
}

func value(s *fit.Solution, name string) float64 {
	return s.Params[slices.IndexFunc(s.Params, func(p fit.Param) bool { return p.Name == name })].Value
}

// Far below break-away the linear form finds inertia, stiffness and damping; with Fs given also where the bristles bend.
func TestPresliding(t *testing.T) {
	for _, c := range []struct {
		name  string
		level float64 // N, of 1.5 N
		fs    bool
		tol   map[string]float64
	}{
		{"linear", 0.02, false, map[string]float64{"M": 0.02, "sigma0": 0.02, "sigma1": 0.06}},
		{"bent, Fs given", 0.2, true, map[string]float64{"M": 0.005, "sigma0": 0.01, "sigma1": 0.03}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := small(c.level, c.fs)
			known := map[string]float64{"sigma2": g.truth[sigma2], "Fc": g.truth[coulomb], "vs": g.truth[stribeck]}
			if c.fs {
				known["Fs"] = g.truth[breakout]
			}
			s, err := Presliding(context.Background(), g.record(1), fixed(Params(false), known), Options{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, tol := range c.tol {
				want := g.truth[slices.Index(names[:], name)]
				got := value(s, name)
				t.Logf("%s = %.5g, truth %.5g", name, got, want)
				if math.Abs(got/want-1) > tol {
					t.Errorf("%s = %.6g, truth %.6g, off by %.2f %%", name, got, want, 100*(got/want-1))
				}
			}
			if len(s.Jac) != len(s.Residual)*len(s.Free) {
				t.Errorf("Jac has %d numbers for %d rows and %d columns", len(s.Jac), len(s.Residual), len(s.Free))
			}
		})
	}
}

// Both dampings cannot be told apart, the levels not at all: said, not guessed.
func TestPreslidingRefuses(t *testing.T) {
	g := small(0.02, false)
	s, err := Presliding(context.Background(), g.record(1), Params(false), Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var refused []string
	for _, r := range s.Refused {
		refused = append(refused, strings.Join(r.Names, "+"))
	}
	for _, want := range []string{"sigma1+sigma2", "Fc", "Fs", "vs"} {
		if !slices.Contains(refused, want) {
			t.Errorf("%s is not refused, only %v", want, refused)
		}
	}
}
