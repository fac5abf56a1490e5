package identify

import (
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/identify/axis"
	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// apart is a contact that records are made of.
type apart struct {
	sigma0, sigma1, vs float64
}

// driven is a record of 10 000 samples at 1 kHz of 1 kg on a contact, integrated apart, under a force that runs straight
// between its samples.
func (c apart) driven(seed uint64, s independent.Sensors) (*record.Record, map[string]float64) {
	f := independent.Friction{Sigma0: c.sigma0, Sigma1: c.sigma1, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: c.vs}
	ax := &independent.Axis{M: 1, Friction: f}
	s.Seed = seed
	tr := ax.Simulate(independent.Run{Dt: 1e-3, N: 10000, Force: independent.Sines(seed, []float64{1.5, 1.2, 0.9}, []float64{0.7, 1.9, 5.3}), Between: independent.Held})
	return tr.Record(s, nil), map[string]float64{"M": 1, "sigma0": c.sigma0, "sigma1": c.sigma1, "sigma2": 0.4, "Fc": 1, "Fs": 1.5, "vs": c.vs}
}

var contacts = []apart{{1e5, 300, 0.01}, {1e4, 100, 0.05}, {1e6, 1000, 0.02}}

// agree holds every parameter within 4 of its own standard errors of the truth, and the steps within their limit. It returns
// how many of the 95 % intervals hold.
func agree(t *testing.T, r *Result, truth map[string]float64) (held, of int) {
	t.Helper()
	for i := range r.Parameters {
		p := &r.Parameters[i]
		want, ok := truth[p.Name]
		if !ok || p.Fixed {
			continue
		}
		se := r.Err(p)
		if se == nil {
			t.Errorf("%s: no standard error", p.Name)
			continue
		}
		off := (p.Value - want) / *se
		t.Logf("%-8s %12.6g of %10g: %+6.2f standard errors of %.2g", p.Name, p.Value, want, off, *se)
		if math.Abs(off) > 4 {
			t.Errorf("%s = %.6g, made with %g: %.1f standard errors off", p.Name, p.Value, want, off)
		}
		if ci := r.Interval(p); ci != nil && ci[0] <= want && want <= ci[1] {
			held++
		}
		of++
	}
	if s := r.Steps; s == nil || s.Shift == nil || *s.Shift > tooFar {
		t.Errorf("steps %+v", s)
	} else {
		t.Logf("%d steps a sample, half of them would move %s by %.2f", s.PerSample, s.Worst, *s.Shift)
	}
	return held, of
}

// The default everyday fit of records that were integrated apart, from velocity and from position, finds the truth within its
// own errors, however stiff the contact is.
func TestFitsOfRecordsMadeApart(t *testing.T) {
	held, of, seeds := 0, 0, uint64(1)
	if soak {
		seeds = 10
	}
	for _, c := range contacts {
		for _, out := range []axis.Output{axis.Velocity, axis.Position} {
			for seed := range seeds {
				rec, truth := c.driven(seed+1, independent.Sensors{Position: 1e-6, Velocity: 2e-4})
				plan := Plan{Methods: []string{"lm"}, Model: axis.Spec{Law: "lugre", Output: out, Scheme: friction.Midpoint}}
				r, err := Run(t.Context(), plan, Records{Fit: []*record.Record{rec}}, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("sigma0 %g, output %d, seed %d: %s, %.2g s", c.sigma0, out, seed, r.Headline(), r.Compute)
				h, n := agree(t, r, truth)
				held, of = held+h, of+n
			}
		}
	}
	t.Logf("%d of %d intervals hold", held, of)
	if float64(held) < 0.9*float64(of) {
		t.Errorf("%d of %d 95 %% intervals hold", held, of)
	}
}
