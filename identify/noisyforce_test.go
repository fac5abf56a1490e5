package identify

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/axis"
	"hilrig/identify/independent"
)

// A noisy sensor of the force leads a simulation astray. That is taken into account: the values are true and known to be, between
// the holds of the force is decided, and what the model lacks is found all the same. A force without noise leads nothing astray.
func TestNoisyForceInOpenLoop(t *testing.T) {
	way := ways[slices.IndexFunc(ways, func(w way) bool { return w.name == "lm in open loop" })]
	seeds := uint64(1)
	if soak {
		seeds = 20
	}
	identified, said := 0, 0
	for seed := range seeds {
		for _, c := range []struct {
			noise, drag float64
			straight    bool
		}{{0.15, 0, false}, {0.15, 0, true}, {0.15, 3, false}, {0, 0, false}} {
			b := newBench(7000+seed, 4)
			b.sensors.Force = c.noise * b.axis.M
			if c.drag > 0 {
				d := c.drag * b.axis.Friction.Sigma2
				b.axis.Load = func(_, _, v float64) float64 { return d * v * math.Abs(v) }
			}
			tr := b.record(nil)
			if c.straight {
				tr = b.driven(independent.Exact)
			}
			way.plan(b, &tr.plan)
			if c.straight {
				tr.plan.Model.Hold = axis.Linear
			}
			o := attempt(kind{}, tr)
			if o.wrong != nil || o.result == nil {
				t.Errorf("seed %d, %+v: %v %s %s", seed, c, o.wrong, o.verdict, o.reason)
				continue
			}
			led := slices.ContainsFunc(o.result.Warnings, func(s string) bool { return strings.Contains(s, "carries noise") })
			if led != (c.noise > 0 && c.drag == 0) && c.drag == 0 {
				t.Errorf("seed %d, %+v: led %v", seed, c, led)
			}
			if c.drag > 0 {
				if o.verdict == Identified {
					said++
				}
				continue
			}
			if o.verdict == Identified {
				identified++
			} else {
				t.Logf("seed %d, %+v: %s %s", seed, c, o.verdict, strings.Join(o.result.Because(), "; "))
			}
			for i := range o.result.Parameters {
				p := &o.result.Parameters[i]
				if truth, ok := tr.truth[p.Name]; ok && !p.Fixed && math.Abs(p.Value-truth) > 4**o.result.Err(p) &&
					math.Abs(p.Value-truth) > 0.003*math.Abs(truth) {
					t.Errorf("seed %d, %+v: %s = %.6g, made with %g: %.1f standard errors off", seed, c, p.Name, p.Value, truth,
						(p.Value-truth) / *o.result.Err(p))
				}
			}
		}
	}
	if of := 3 * int(seeds); float64(of-identified) > 0.05*float64(of) {
		t.Errorf("%d of %d are identified", identified, of)
	}
	if said > 0 {
		t.Errorf("%d of %d are called identified without their drag", said, seeds)
	}
}

// The command of a controller is held, the noise of the sensor that reads it is not. The damping of the bristles, which half a sample
// of delay changes by a tenth, is true all the same, or a doubt says that noise hides what the force does between its samples.
func TestHeldForceReadByANoisySensor(t *testing.T) {
	way := ways[slices.IndexFunc(ways, func(w way) bool { return w.name == "lugre, kalman" })]
	seeds := []uint64{9000}
	if soak {
		seeds = []uint64{9000, 9001, 9002, 9003, 9004, 9005, 9006, 9007}
	}
	right, of := 0, 0
	for _, seed := range seeds {
		for _, noise := range []float64{0.05, 0.08} { // N per kg
			for _, held := range []bool{true, false} {
				if !held && !soak {
					continue
				}
				b := newBench(seed, way.seconds)
				way.prepare(b)
				b.sensors.Force = noise * b.axis.M
				tr := b.record(nil)
				if !held {
					tr = b.driven(independent.Exact)
				}
				way.plan(b, &tr.plan)
				o := attempt(kind{}, tr)
				if o.wrong != nil || o.result == nil {
					t.Errorf("seed %d, noise %g, held %v: %v %s %s", seed, noise, held, o.wrong, o.verdict, o.reason)
					continue
				}
				of++
				if taken := o.result.Stages[len(o.result.Stages)-1].Extra["hold"] == "held"; taken != held {
					if o.verdict == Identified || !slices.ContainsFunc(o.result.Because(),
						func(s string) bool { return strings.Contains(s, "between its samples") }) {
						t.Errorf("seed %d, noise %g, held %v: taken for the other without a doubt: %s %q", seed, noise, held, o.verdict, o.result.Reasons)
					}
					continue
				}
				right++
				for _, name := range []string{"M", "sigma0", "sigma1", "Fs", "vs"} {
					p, _ := o.result.Param(name)
					off := p.Value/tr.truth[name] - 1
					if se := *o.result.Err(p) / tr.truth[name]; name == "sigma1" && math.Abs(off) > 0.055 || math.Abs(off) > 4*se+0.003 {
						t.Errorf("seed %d, noise %g, held %v: %s is off by %+.1f %% ± %.1f %%", seed, noise, held, name, 100*off, 100*se)
					}
				}
			}
		}
	}
	if 4*right < 3*of {
		t.Errorf("the hold is right in %d of %d", right, of)
	}
}

// A force that is held and read by a noisy sensor: half a sample is nearly a damping of the bristles, so the wrong signal between the
// samples costs sigma1 a tenth. The noise does not decide for it.
func TestNoisyForceOfABristle(t *testing.T) {
	way := ways[slices.IndexFunc(ways, func(w way) bool { return w.name == "lugre, kalman" })]
	seeds := []uint64{105}
	if soak {
		seeds = append(seeds, 205, 305, 405, 505, 605, 705, 805)
	}
	for _, seed := range seeds {
		b := newBench(seed, 8)
		way.prepare(b)
		b.sensors.Force = 0.15 * b.axis.M
		tr := b.record(nil)
		way.plan(b, &tr.plan)
		o := attempt(kind{}, tr)
		if o.result == nil || o.wrong != nil {
			t.Errorf("seed %d: %s %v", seed, o.reason, o.wrong)
			continue
		}
		if hold := o.result.Stages[1].Extra["hold"]; hold != "held" {
			t.Errorf("seed %d: the force is %v between its samples, want held", seed, hold)
		}
		for i := range o.result.Parameters {
			p := &o.result.Parameters[i]
			if p.Fixed {
				continue
			}
			if z := (p.Value - tr.truth[p.Name]) / *o.result.Err(p); !(math.Abs(z) < 3.5) {
				t.Errorf("seed %d: %s = %.4g, %.1f standard errors from the truth", seed, p.Name, p.Value, z)
			}
		}
	}
}

// Noise of a force sensor whose neighbours go together is stronger where it is slow than from sample to sample, and a simulation adds up
// what is slow. It is led back by as much; a record that lacks something is not taken for such noise without a word.
func TestSlowNoiseOfTheForceInOpenLoop(t *testing.T) {
	way := ways[slices.IndexFunc(ways, func(w way) bool { return w.name == "lm in open loop" })]
	identified, of := 0, 0
	for seed := range uint64(2) {
		for _, square := range []bool{false, true} {
			for _, drag := range []float64{0, 2} {
				b := newBench(7300+seed, 6)
				b.sensors.Force = 0.005 * b.axis.M
				b.axis.Load = func(_, _, v float64) float64 { return drag * b.axis.Friction.Sigma2 * v * math.Abs(v) }
				u := b.tones(0.5, 1.7, 3.9, 6.1)
				if square {
					u = b.square(3*b.axis.M, 5*b.axis.M)
				}
				tr := b.trial(b.axis.Simulate(independent.Run{Dt: b.dt, N: b.n, Force: u, Intersample: independent.Held}).Record(b.sensors, nil))
				slow := 0.0
				for k := range tr.recs[0].Force { // correlated over 20 samples
					slow = 0.95*slow + math.Sqrt(1-0.95*0.95)*b.rng.NormFloat64()
					tr.recs[0].Force[k] += 0.06 * b.axis.M * slow
				}
				way.plan(b, &tr.plan)
				o := attempt(kind{}, tr)
				if o.wrong != nil || o.result == nil {
					t.Errorf("seed %d, square %v, drag %g: %v %s %s", seed, square, drag, o.wrong, o.verdict, o.reason)
					continue
				}
				if drag > 0 {
					continue
				}
				if of++; o.verdict == Identified {
					identified++
				} else {
					t.Logf("seed %d, square %v: %s %s", seed, square, o.verdict, strings.Join(o.result.Because(), "; "))
				}
			}
		}
	}
	if of-identified > 1 {
		t.Errorf("%d of %d are identified", identified, of)
	}
}

// Two descents may end in one place and both be led astray by the noise of the force: the true values are near where they began.
func TestNoisyForceLeadsSeveralDescentsAstray(t *testing.T) {
	b := newBench(703, 3)
	contact(b)
	b.moves(0)
	tr := b.record(nil)
	tr.plan = Plan{Methods: Chain{"lm"}, Seed: 1, Model: axis.Spec{Law: "lugre", Terms: []string{"offset"}, Drive: axis.Force,
		Output: axis.Position, Initial: axis.Free, Rotary: b.rotary}}
	if o := attempt(kind{}, tr); o.verdict != Identified || o.wrong != nil {
		t.Errorf("%s %v (%s)", o.verdict, o.wrong, o.reason)
	}
}
