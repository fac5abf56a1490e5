//go:build soak

package identify

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/identify/ball"
)

// All cases with several seeds: nothing is wrong without a word.
func TestRollingCases(t *testing.T) {
	const seeds = 5
	for _, c := range rollingCases() {
		t.Run(c.name, func(t *testing.T) {
			verdicts, held, of := map[Verdict]int{}, 0, 0
			for seed := range uint64(seeds) {
				r, wrong, h, n := c.look(t, 4, seed+10)
				c.check(t, r, wrong)
				verdicts[r.Verdict]++
				held, of = held+h, of+n
			}
			t.Logf("%v; %d of %d intervals hold the truth", verdicts, held, of)
		})
	}
}

// What has to pass every time: three exchanges in 800 frames, and a coefficient that is zero.
func TestRollingTwenty(t *testing.T) {
	for _, c := range rollingCases() {
		switch c.name {
		case "labels exchanged in three frames", "no friction against spinning", "no dry friction":
			passed := 0
			for seed := range uint64(20) {
				if r, _, _, _ := c.look(t, 4, seed+100); r.Verdict == Identified {
					passed++
				} else {
					t.Log(r.Because())
				}
			}
			if t.Logf("%s: %d of 20", c.name, passed); passed < 20 {
				t.Errorf("%s: %d of 20 identified", c.name, passed)
			}
		}
	}
}

// Intervals over 60 draws: of the noise with exact numbers, and of the noise and of the numbers in the file.
func TestRollingCoverage(t *testing.T) {
	const draws = 60
	for _, drawn := range []bool{false, true} {
		held, of, weak := map[string]int{}, 0, 0
		for seed := range uint64(draws) {
			rng := rand.New(rand.NewPCG(seed, 77))
			b := paperBall()
			spec := ball.Spec{FreeParams: []string{"mu_roll", "mu_spin", "height"}, Body: b.given()}
			rec := b.recorded(4, 1e-4, seed+1000)
			if drawn {
				spec.Uncertain = ball.Uncertainty{Radius: 0.002, Mass: 0.01, Inertia: 0.01, Center: 0.002, Markers: 0.002, Gravity: 0.001}
				by := func(v *float64, u float64) { *v += u * rng.NormFloat64() }
				g := &spec.Body
				by(&g.Mass, 0.01*b.mass)
				by(&g.Radius, 0.002*b.radius)
				by(&g.Gravity, 0.001*b.gravity)
				for k := range 3 {
					by(&g.Inertia[k], 0.01*b.inertia[k])
					by(&g.Center[k], 0.002*b.radius)
				}
				for _, m := range rollingMarkers {
					spec.Markers = append(spec.Markers, r3.Add(m, r3.Scale(0.002*b.radius,
						r3.Vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()})))
				}
			}
			r, _ := fitRolling(t, spec, rec)
			of++
			if r.Verdict != Identified {
				weak++
				t.Log(r.Because())
			}
			truth := truthOf(&b)
			for i := range r.Parameters {
				p := &r.Parameters[i]
				if want, ok := truth[p.Name]; ok && p.CI != nil && p.CI[0] <= want && want <= p.CI[1] {
					held[p.Name]++
				}
			}
		}
		t.Logf("drawn numbers %v: of %d, held %v, not identified %d", drawn, of, held, weak)
		for name, n := range held {
			if share := float64(n) / draws; share < 0.95-3*math.Sqrt(0.95*0.05/draws) {
				t.Errorf("%s: %.0f %% of the intervals hold it", name, 100*share)
			}
		}
	}
}
