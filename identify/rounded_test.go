package identify

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hilrig/identify/independent"
)

// sixTones is a motor under six of them, without a controller. between is what the force does between its samples.
func sixTones(b *bench, seed uint64, between independent.Between) trial {
	r := rand.New(rand.NewPCG(seed, 77))
	j := 1e-4 * (1 + r.Float64())
	b.rotary, b.axis.M = true, j
	b.axis.Friction = independent.Friction{Fc: j * (80 + 60*r.Float64()), Sigma2: j * (1 + r.Float64())}
	var amplitude, phase [6]float64
	for i := range amplitude {
		amplitude[i], phase[i] = j*(60+50*r.Float64()), 2*math.Pi*r.Float64()
	}
	force := func(t float64) (f float64) {
		for i, w := range []float64{0.3, 0.7, 1.3, 2.3, 4.1, 6.7} {
			f += amplitude[i] * math.Sin(2*math.Pi*w*t+phase[i])
		}
		return f
	}
	b.sensors = independent.Sensors{Count: 2 * math.Pi / 16384, Velocity: -1, Force: 0.5 * j, Seed: seed}
	return b.trial(b.axis.Simulate(independent.Run{Dt: b.dt, N: b.n, Force: force, Intersample: between}).Record(b.sensors, nil))
}

// A force in whole steps is off by the same amount each time: intervals hold that, whatever explains the motion.
func TestRoundedForceOfSimulation(t *testing.T) {
	methods, seeds := []Method{"lm"}, uint64(6)
	if soak {
		methods, seeds = append(methods, "multishoot"), 20
	}
	way := ways[slices.IndexFunc(ways, func(w way) bool { return w.name == "lm in open loop" })]
	for _, name := range methods {
		held, of := 0, 0
		for seed := range seeds {
			b := newBench(500+seed, 10)
			tr := sixTones(b, seed, independent.Exact)
			round(tr.recs[0].Force, peak(tr.recs[0].Force)/11)
			way.plan(b, &tr.plan)
			tr.plan.Methods = Chain{"regress", name}
			o := attempt(kind{}, tr)
			if o.result == nil {
				t.Errorf("%s, seed %d: %s", name, seed, o.reason)
				continue
			}
			for i := range o.result.Parameters {
				p := &o.result.Parameters[i]
				truth, ok := tr.truth[p.Name]
				ci := o.result.Interval(p)
				if !ok || p.Fixed || ci == nil {
					continue
				}
				of++
				off := (p.Value - truth) / (ci[1] - ci[0]) * 2
				if math.Abs(off) <= 1 {
					held++
				}
				t.Logf("%s, seed %d, %s: %.4g, truth %.4g, %.2f of its half interval, %s", name, seed, p.Name, p.Value, truth, off, o.verdict)
			}
		}
		t.Logf("%s: %d of %d", name, held, of)
		if float64(held) < 0.9*float64(of) {
			t.Errorf("%s: %d of %d values in their intervals", name, held, of)
		}
	}
}
