package bristle

import (
	"context"
	"math"
	"testing"

	"hilrig/identify/record"
)

// The smoother finds every parameter within a few per cent from nothing, but its intervals are wrong: that is why its
// verdict calls it a start only.
func TestSmootherFailsCoverage(t *testing.T) {
	const draws = 3
	for _, name := range []string{"medium, fine encoder", "stiff, fine encoder"} {
		t.Run(name, func(t *testing.T) {
			b, hold := named(t, name), 0
			for seed := range uint64(draws) {
				s, err := Separable(context.Background(), []*record.Record{b.draw(20 + seed)}, Params(false), Options{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i, p := range s.Params {
					if off := math.Abs(p.Value/b.truth[i] - 1); off > 0.08 {
						t.Errorf("%s = %.6g, truth %.6g", p.Name, p.Value, b.truth[i])
					}
				}
				_, held := within(t, s, &b.truth)
				for _, in := range held {
					if in {
						hold++
					}
				}
			}
			if hold > draws*count*3/4 {
				t.Errorf("%d of %d intervals hold the truth: then the warning about the smoother is not needed", hold, draws*count)
			}
		})
	}
}

// In a good experiment it finds them within 6 %.
func TestSmootherFindsValues(t *testing.T) {
	for _, b := range fine()[1:] {
		s, err := Separable(context.Background(), []*record.Record{b.draw(20)}, Params(false), Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range s.Params {
			off := p.Value/b.truth[i] - 1
			t.Logf("%s, %s: %+.2f %%", b.name, p.Name, 100*off)
			if math.Abs(off) > 0.06 {
				t.Errorf("%s: %s = %.6g, truth %.6g", b.name, p.Name, p.Value, b.truth[i])
			}
		}
	}
}

// A contact that strengthens with speed, as lubricated guides do, is found from a cold start like one that weakens.
func TestStrengtheningContact(t *testing.T) {
	if testing.Short() {
		t.Skip("a Kalman fit")
	}
	b := benches()[1]
	b.truth[breakout] = 0.6 * b.truth[coulomb]
	for name, method := range methods {
		s, err := method(context.Background(), []*record.Record{b.draw(5)}, Params(false), Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, within := range map[int]float64{coulomb: 0.02, breakout: 0.03, inertia: 0.01} {
			if math.Abs(s.Params[i].Value/b.truth[i]-1) > within {
				t.Errorf("%s: %s = %.4g, want %.4g", name, names[i], s.Params[i].Value, b.truth[i])
			}
		}
	}
}

// A bound that the user sets is kept to the last bit, though the search runs in logarithms and in the distance of Fs from Fc,
// and the answer is one that can be explained again.
func TestBoundsAreKept(t *testing.T) {
	b := benches()[0]
	rec := []*record.Record{b.draw(1)}
	params := Params(false)
	params[breakout].Hi = 0.6 // truth 0.62
	params[breakout].Value = 0.55
	params[stribeck].Lo = math.Exp(math.Log(0.04)) // truth 0.03
	params[stribeck].Value = 0.05
	for name, method := range methods {
		s, err := method(context.Background(), rec, params, Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{breakout, stribeck} {
			if p := s.Params[i]; p.Value < p.Lo || p.Value > p.Hi {
				t.Errorf("%s: %s = %v outside %v … %v", name, p.Name, p.Value, p.Lo, p.Hi)
			}
		}
		if _, err := Explain(rec, s.Params, Options{}); err != nil {
			t.Errorf("%s: its own answer cannot be explained: %v", name, err)
		}
	}
}
