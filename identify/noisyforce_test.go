package identify

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/independent"
)

// A noisy sensor of the force leads a simulation astray. That is taken into account: the values are true and known to be, between
// the holds of the force is decided, and what the model lacks is found all the same. A force without noise leads nothing astray.
func TestNoisyForceInOpenLoop(t *testing.T) {
	way := ways[slices.IndexFunc(ways, func(w way) bool { return w.name == "lm in open loop" })]
	seeds := uint64(3)
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
			tr.plan.Model.LinearHold = c.straight
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
				t.Logf("seed %d, %+v: %s %s", seed, c, o.verdict, strings.Join(o.result.Reasons, "; "))
			}
			for i := range o.result.Parameters {
				p := &o.result.Parameters[i]
				if truth, ok := tr.truth[p.Name]; ok && !p.Fixed && math.Abs(p.Value-truth) > 4**o.result.Err(p) && math.Abs(p.Value-truth) > 0.003*math.Abs(truth) {
					t.Errorf("seed %d, %+v: %s = %.6g, made with %g: %.1f standard errors off", seed, c, p.Name, p.Value, truth, (p.Value-truth) / *o.result.Err(p))
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
