package identify

import (
	"math"
	"strings"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// kindOf is the kind of record of a name.
func kindOf(t *testing.T, name string) kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	t.Fatalf("no kind %s", name)
	return kind{}
}

// A filter that looks like a delay moves values by percents: the intervals hold that, and those of records without one stay narrow.
func TestIntervalsHoldAFilter(t *testing.T) {
	for _, c := range []struct {
		name  string
		sign  float64 // of the error of the inertia
		least float64 // half of its interval, relative
		most  float64
	}{
		{"force behind 15 ms in the servo", -1, 0.01, 0.1},
		{"force behind 15 ms, rotary, two tones", -1, 0.02, 0.1},
		{"position behind 15 ms, force not", 1, 0.02, 0.2},
		{"encoder behind a shaft of 20 Hz", -1, 0.005, 0.2},
		{"tones to 6 Hz, rotary", 0, 0, 0.002},
		{"force recorded 3 samples late", 0, 0, 0.005},
	} {
		for seed := range uint64(2) {
			tr := kindOf(t, c.name).make(newBench(100*seed+7, 10))
			r := attempt(kind{}, tr).result
			p, ok := r.Param("M")
			if !ok {
				p, _ = r.Param("J")
			}
			truth := tr.truth["M"]
			half, mid := (p.CI[1]-p.CI[0])/2, (p.CI[0]+p.CI[1])/2
			switch {
			case c.sign*(p.Value-truth) < 0:
				t.Errorf("%s, seed %d: %s %.4g for %.4g, want it %+.0f", c.name, seed, p.Name, p.Value, truth, c.sign)
			case math.Abs(truth-mid) > 2*half || half < c.least*truth || half > c.most*truth:
				t.Errorf("%s, seed %d: %s for %.4g %s in %.4g", c.name, seed, p.Name, truth, p.Unit, *p.CI)
			}
		}
	}
}

// What is a filter is called one, on the side where it is, and with about its time constant.
func TestFilterIsNamed(t *testing.T) {
	for name, want := range map[string]string{
		"force averaged over 41 samples around":    "a recorded force that is smoother",
		"position averaged over 41 samples around": "a motion that is smoother",
	} {
		for seed := range uint64(2) {
			r := attempt(kind{}, kindOf(t, name).make(newBench(100*seed+7, 10))).result
			said := ""
			for _, l := range r.Unmodelled {
				if l.Kind == fit.LowPass && !l.Possible {
					said = l.What
				}
			}
			if !strings.Contains(said, want) || r.Verdict == Identified {
				t.Errorf("%s, seed %d: %s, %q", name, seed, r.Verdict, said)
			}
		}
	}
}

// What rounding may do to the gain of a force is in the intervals and in the budget; wild samples do nothing.
func TestIntervalsHoldRounding(t *testing.T) {
	for _, c := range []struct {
		name        string
		least, most float64 // half of an interval, relative
	}{
		{"force in whole per mille, two levels", 0.3, 0.6}, {"force in whole per mille, four levels", 0.03, 0.3},
		{"40 spikes of 26 to 200 counts", 0, 0.02}, {"40 spikes, rotary, one sign", 0, 0.02}, {"40 spikes of the force", 0, 0.02},
	} {
		tr := kindOf(t, c.name).make(newBench(7, 10))
		r := attempt(kind{}, tr).result
		for _, name := range []string{"M", "J"} {
			p, ok := r.Param(name)
			if !ok {
				continue
			}
			half, truth := (p.CI[1]-p.CI[0])/2, tr.truth["M"]
			if truth < p.CI[0]-half || truth > p.CI[1]+half || half < c.least*truth || half > c.most*truth {
				t.Errorf("%s: %s for %.4g in %.4g", c.name, name, truth, *p.CI)
			}
			said := false
			for _, b := range p.Budget {
				said = said || b.Source == "rounding of the force"
			}
			if said != (c.least > 0) {
				t.Errorf("%s: rounding in the budget: %v", c.name, said)
			}
		}
	}
}

// A filter as slow as the motion moves the mass by a tenth: its interval holds that, and no such record is identified.
func TestIntervalsHoldASlowFilter(t *testing.T) {
	for _, T := range []float64{20e-3, 40e-3} {
		for name, make := range map[string]func(b *bench, u func(t float64) float64) trial{
			"force behind a filter": func(b *bench, u func(t float64) float64) trial {
				return edited(drivetrain{}.record(b, u), func(d *record.Record) { d.Force = behind(d.Force, b.dt, T) })
			},
			"position behind a filter": func(b *bench, u func(t float64) float64) trial {
				return edited(drivetrain{}.record(b, u), func(d *record.Record) { d.Position = behind(d.Position, b.dt, T); b.count(d.Position) })
			},
			"drive behind its command": func(b *bench, u func(t float64) float64) trial { return drivetrain{lag: T}.record(b, u) },
		} {
			for seed := range uint64(draws(3)) {
				b := newBench(100*seed+31, 12)
				b.sensors.Count = 1e-4
				tr := make(b, b.tones(0.5, 1.4, 3.1))
				r := attempt(kind{}, tr).result
				if r == nil {
					t.Fatalf("%s of %.0f ms, seed %d: no result", name, 1e3*T, seed)
				}
				p, _ := r.Param("M")
				if truth := tr.truth["M"]; truth < p.CI[0] || truth > p.CI[1] || r.Verdict == Identified {
					t.Errorf("%s of %.0f ms, seed %d: %s, M %.4g in %.4g, true %.4g", name, 1e3*T, seed, r.Verdict, p.Value, *p.CI, truth)
				}
			}
		}
	}
}
