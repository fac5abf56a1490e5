package bristle

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// small is a drive well below break-away, with lines at the resonance of mass and bristles.
func small(level float64, bent bool) *bench {
	b := &bench{name: "linear", truth: medium, seconds: 5, count: 1.5e-8, sensor: 0.002}
	if bent {
		b.name = "bent, Fs given"
	} else { // levels so high that the bristles hardly notice them
		b.truth[coulomb], b.truth[breakout] = 1e4, 1.5e4
	}
	b.truth[offset] = 0.03
	f0 := math.Sqrt(b.truth[sigma0]/b.truth[inertia]) / (2 * math.Pi)
	b.amplitude = []float64{level, level / 2, level / 3, level / 6}
	b.frequency = []float64{1.3, 7, f0 * 0.8, f0 * 1.5}
	return b
}

// presliders are experiments of small motion, with what is known in them.
func presliders() (out []*bench, known []map[string]float64) {
	for _, bent := range []bool{false, true} {
		for _, noise := range []string{"", ", white noise", ", noisy force", ", disturbed"} {
			level := 0.02
			if bent {
				level = 0.2
			}
			b := small(level, bent)
			switch noise {
			case ", white noise":
				b.count, b.white = 0, 2e-8
			case ", noisy force":
				b.sensor = level / 5
				if bent {
					b.sensor = level / 10
				}
			case ", disturbed":
				b.sensor, b.push = 0, level/10
			}
			b.name += noise
			k := map[string]float64{"sigma2": b.truth[sigma2]}
			if bent {
				k["Fs"], k["Fc"], k["vs"] = b.truth[breakout], b.truth[coulomb], b.truth[stribeck]
			}
			out, known = append(out, b), append(known, k)
		}
	}
	return out, known
}

func fixed(params []fit.Param, values map[string]float64) []fit.Param {
	for i := range params {
		if v, ok := values[params[i].Name]; ok {
			params[i].Value, params[i].Fixed = v, true
		}
	}
	return params
}

// Far below break-away inertia, stiffness and damping are found; with Fs given also where the bristles bend.
func TestPresliding(t *testing.T) {
	benches, known := presliders()
	for i, b := range benches {
		t.Run(b.name, func(t *testing.T) {
			s, err := Presliding(context.Background(), []*record.Record{b.draw(1)}, fixed(Params(false), known[i]), Options{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			off, _ := within(t, s, &b.truth)
			for j, tol := range map[int]float64{inertia: 0.02, sigma0: 0.02, sigma1: 0.06} {
				if rel := s.Params[j].Value/b.truth[j] - 1; math.Abs(rel) > tol || math.Abs(off[j]) > 4 {
					t.Errorf("%s = %.6g, truth %.6g, off by %.2f %%, %.1f standard errors", names[j], s.Params[j].Value, b.truth[j], 100*rel, off[j])
				}
			}
			if len(s.FreeParams) != 4 || len(s.Jac) != len(s.Residual)*len(s.FreeParams) {
				t.Errorf("Jac has %d numbers for %d rows and %d columns", len(s.Jac), len(s.Residual), len(s.FreeParams))
			}
		})
	}
}

// Both dampings cannot be told apart, the levels not at all: said, not guessed.
func TestPreslidingRefuses(t *testing.T) {
	b := small(0.02, false)
	s, err := Presliding(context.Background(), []*record.Record{b.draw(1)}, Params(false), Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var refused []string
	for _, r := range s.Unidentifiable {
		refused = append(refused, strings.Join(r.Names, "+"))
	}
	for _, want := range []string{"sigma1+sigma2", "Fc", "Fs", "vs"} {
		if !slices.Contains(refused, want) {
			t.Errorf("%s is not refused, only %v", want, refused)
		}
	}
}

// Bristles that bend are no linear spring: without Fs that is a doubt, with it none.
func TestPreslidingBends(t *testing.T) {
	b := small(0.2, true)
	for _, c := range []struct {
		known map[string]float64
		doubt bool
	}{
		{map[string]float64{"sigma2": b.truth[sigma2]}, true},
		{map[string]float64{"sigma2": b.truth[sigma2], "Fs": b.truth[breakout]}, false},
	} {
		s, err := Presliding(context.Background(), []*record.Record{b.draw(1)}, fixed(Params(false), c.known), Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(s.Doubts, "\n"), "linear spring"); said != c.doubt {
			t.Errorf("with %v given: doubts %q", c.known, s.Doubts)
		}
	}
}
