package identify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/identify/independent"
)

// coarseChirp is a motor under a chirp of the torque, from a fifth of a hertz to the given frequency (Hz), on an encoder of so many
// counts a turn. Nothing is wrong with the record.
func coarseChirp(seed uint64, counts int, top float64) trial {
	r := rand.New(rand.NewPCG(seed, uint64(counts)))
	b := newBench(seed, 10)
	j := math.Pow(10, -4+1.5*r.Float64())
	b.rotary = true
	b.axis.M = j
	b.axis.Friction = independent.Friction{Fc: j * (10 + 15*r.Float64()), Sigma2: j * (1 + 3*r.Float64())}
	amplitude, phase := j*(120+60*r.Float64()), 2*math.Pi*r.Float64()
	rate := (top - 0.2) / 10 / 2
	chirp := func(t float64) float64 {
		return amplitude * math.Sin(2*math.Pi*(0.2*t+rate*t*t)+phase) * min(1, t/0.2)
	}
	b.sensors = independent.Sensors{Count: 2 * math.Pi / float64(counts), Velocity: -1, Force: 0.005 * amplitude * float64(seed%2), Seed: seed}
	tr := b.axis.Simulate(independent.Run{Dt: b.dt, N: b.n, Force: chirp, Intersample: independent.Held})
	return b.trial(tr.Record(b.sensors, nil))
}

// Chirps on coarse encoders are clean records: rounding of the position is known noise, which neither draws the inertia nor looks like
// something that the model lacks.
func TestCoarseChirps(t *testing.T) {
	seeds, all, tops := uint64(1), []int{2048, 4096}, []float64{4, 15}
	if soak {
		seeds, all, tops = 6, []int{1000, 2048, 4096, 16384}, []float64{4, 8, 15}
	}
	held, told, n, identified, sound := map[string]int{}, map[string]int{}, 0, 0, 0
	for _, counts := range all {
		for _, top := range tops {
			line := ""
			for seed := range seeds {
				tr := coarseChirp(seed, counts, top)
				o := attempt(kind{}, tr)
				if o.result == nil || o.wrong != nil {
					t.Errorf("%d counts to %g Hz, seed %d: %v %s", counts, top, seed, o.wrong, o.reason)
					continue
				}
				line += fmt.Sprintf(" | %.5s", o.verdict)
				if counts >= 2048 { // of 1000 counts half of the force is noise, and the fit says so
					if n++; o.verdict == Identified {
						identified++
					} else {
						line += " " + string(o.result.Reasons[0].Code)
					}
				}
				for _, name := range []string{"J", "Fv", "Fc"} {
					p, ok := o.result.Param(name)
					if !ok || p.CI == nil {
						continue
					}
					told[name]++
					truth := tr.truth[name]
					if truth >= p.CI[0] && truth <= p.CI[1] {
						held[name]++
					} else {
						line += fmt.Sprintf(" %s %+.2g%%±%.2g", name, 100*(p.Value/truth-1), 100*p.halfInterval()/truth)
					}
				}
				if p, _ := o.result.Param("J"); counts == 4096 && top == 15 && p.halfInterval() < 0.01*p.Value {
					sound++
				}
			}
			t.Logf("%5d counts to %2g Hz%s", counts, top, line)
		}
	}
	t.Logf("%d of %d identified, in their intervals %v of %v", identified, n, held, told)
	if 20*identified < 19*n {
		t.Errorf("%d of %d clean records are identified", identified, n)
	}
	for name, k := range told {
		if 20*held[name] < 19*k-20 {
			t.Errorf("%s: %d of %d intervals hold the truth", name, held[name], k)
		}
	}
	if sound != int(seeds) {
		t.Errorf("%d of %d inertias are known to 1 %%", sound, seeds)
	}
}
