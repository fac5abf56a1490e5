package bristle

import (
	"context"
	"math"
	"testing"

	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// The smoother finds every parameter within a few per cent from nothing. Its intervals hold what smoothing does to a contact of medium
// stiffness, and are wrong for a stiff one, which turns round between a few samples: that is why its verdict calls it a start only.
func TestSmootherCoverage(t *testing.T) {
	const draws = 3
	for name, right := range map[string]bool{"medium, fine encoder": true, "stiff, fine encoder": false} {
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
			if right != (hold > draws*count*3/4) {
				t.Errorf("%d of %d intervals hold the truth", hold, draws*count)
			}
		})
	}
}

// The motion tells whether the force was held between its samples, in a servo too; the damping was 2 to 9 % off where it was taken for one
// that runs straight.
func TestSmootherFeelsTheHold(t *testing.T) {
	for _, c := range []struct {
		bench   string
		between independent.Between
		hold    Hold
	}{
		{"medium, fine encoder", independent.Exact, Auto}, {"medium, fine encoder", independent.Held, Held},
		{"medium, servo, noisy force sensor", independent.Held, Held},
	} {
		b := named(t, c.bench)
		b.between = c.between
		s, err := Separable(t.Context(), []*record.Record{b.draw(3)}, Params(false), Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Extra["hold"] != c.hold.String() {
			t.Errorf("%s, %v: the force is taken for %v", c.bench, c.between, s.Extra["hold"])
		}
		for i, p := range s.Params[:sigma2] {
			t.Logf("%s, %v, %s: %+.2f %%", c.bench, c.between, p.Name, 100*(p.Value/b.truth[i]-1))
			if off := math.Abs(p.Value/b.truth[i] - 1); off > 0.01 {
				t.Errorf("%s, %v: %s = %.6g, truth %.6g", c.bench, c.between, p.Name, p.Value, b.truth[i])
			}
		}
	}
}

// In a good experiment it finds them within 1.5 %.
func TestSmootherFindsValues(t *testing.T) {
	for _, b := range fine()[1:] {
		s, err := Separable(context.Background(), []*record.Record{b.draw(20)}, Params(false), Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range s.Params {
			off := p.Value/b.truth[i] - 1
			t.Logf("%s, %s: %+.2f %%", b.name, p.Name, 100*off)
			if math.Abs(off) > 0.015 {
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
