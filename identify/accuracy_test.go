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

// driven is a record of n samples at 1 kHz of 1 kg on a contact, integrated apart, under a force that is held from sample
// to sample.
func (c apart) driven(n int, seed uint64, s independent.Sensors) (*record.Record, map[string]float64) {
	f := independent.Friction{Sigma0: c.sigma0, Sigma1: c.sigma1, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: c.vs}
	ax := &independent.Axis{M: 1, Friction: f}
	s.Seed = seed
	tr := ax.Simulate(independent.Run{Dt: 1e-3, N: n, Force: independent.Sines(seed, []float64{1.5, 1.2, 0.9}, []float64{0.7, 1.9, 5.3}),
		Intersample: independent.Held})
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
	if s := r.Steps; s == nil || s.Shift == nil || *s.Shift > maxStepShift {
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
	for i, c := range contacts {
		for k, out := range []axis.Output{axis.Velocity, axis.Position} {
			if !soak && (i+k)%2 > 0 {
				continue
			}
			for seed := range seeds {
				rec, truth := c.driven(10000, seed+1, independent.Sensors{Position: 1e-6, Velocity: 2e-4})
				plan := Plan{Methods: Chain{"lm"}, Model: axis.Spec{Law: "lugre", Output: out, Scheme: friction.Midpoint}}
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

// The same in a controller, where the commands are compared: quantised position, a contact as stiff as that of a slide.
func TestServoFitsOfRecordsMadeApart(t *testing.T) {
	const kp, kv, limit = 160, 8000, 350 // 1/s, N·s/m, N
	truth := map[string]float64{"M": 95, "sigma0": 1e6, "sigma1": 3000, "sigma2": 200, "Fc": 20, "Fs": 26, "vs": 0.01}
	seeds, held, of := uint64(1), 0, 0
	if soak {
		seeds = 10
	}
	for seed := range seeds {
		reference := independent.Sines(seed+1, []float64{0.02, 0.004}, []float64{0.9, 3.1})
		gentle := func(at float64) float64 { return (1 - math.Exp(-at*at/0.02)) * reference(at) }
		ax := &independent.Axis{M: 95, Friction: independent.Friction{Sigma0: 1e6, Sigma1: 3000, Sigma2: 200, Fc: 20, Fs: 26, Vs: 0.01}}
		tr := ax.Simulate(independent.Run{Dt: 1e-3, N: 6000, X0: gentle(0), Sampled: independent.Cascade(kp, kv, limit, 1e-3, gentle)})
		rec := tr.Record(independent.Sensors{Velocity: -1, Force: 0.5, Seed: seed}, gentle)
		spec := axis.Spec{Law: "lugre", Drive: axis.Servo, Output: axis.Command,
			Controller: &axis.Controller{Kp: kp, Kv: kv, Limit: limit, Gain: 1, Mean: 2}}
		r, err := Run(t.Context(), Plan{Methods: Chain{"lm"}, Model: spec, LM: LM{Starts: 2}}, Records{Fit: []*record.Record{rec}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		h, n := agree(t, r, truth)
		held, of = held+h, of+n
	}
	if float64(held) < 0.85*float64(of) {
		t.Errorf("%d of %d 95 %% intervals hold", held, of)
	}
}

// Both schemes answer alike: each in steps as short as it needs.
func TestSchemesAgree(t *testing.T) {
	rec, truth := apart{2e4, 150, 0.03}.driven(10000, 5, independent.Sensors{Velocity: 2e-3})
	for _, scheme := range []friction.Scheme{friction.Midpoint, friction.Implicit} {
		plan := Plan{Methods: Chain{"lm"}, Model: axis.Spec{Law: "lugre", Output: axis.Velocity, Scheme: scheme}, LM: LM{Starts: 2}}
		r, err := Run(t.Context(), plan, Records{Fit: []*record.Record{rec}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Steps == nil || r.Steps.Scheme != scheme.String() {
			t.Errorf("asked for %v, ran %+v", scheme, r.Steps)
		}
		if scheme == friction.Midpoint {
			agree(t, r, truth)
			continue
		}
		// of first order: within its errors, or it says that its steps are too long
		if s := r.Steps; s.Shift == nil || *s.Shift > maxStepShift {
			if r.Verdict == Identified {
				t.Errorf("steps %+v, %s", s, r.Verdict)
			}
			continue
		}
		agree(t, r, truth)
	}
}
