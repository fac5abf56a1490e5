//go:build soak

package identify

import (
	"math"
	"math/rand/v2"
	"testing"

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

// What has to pass every time: three exchanges in 800 frames, and a coefficient that is zero; of clean ones chance may take one.
func TestRollingTwenty(t *testing.T) {
	for _, c := range rollingCases() {
		switch c.name {
		case "clean", "labels exchanged in three frames", "no friction against spinning", "no dry friction":
			passed, chance := 0, 0
			if c.name == "clean" {
				chance = 1
			}
			for seed := range uint64(20) {
				if r, _, _, _ := c.look(t, 4, seed+100); r.Verdict == Identified {
					passed++
				} else {
					t.Log(r.Because())
				}
			}
			if t.Logf("%s: %d of 20", c.name, passed); passed+chance < 20 {
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
				spec.Body, spec.Markers = b.drawn(spec.Uncertain, rng)
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
		if weak > draws/20 {
			t.Errorf("drawn numbers %v: %d of %d are not identified", drawn, weak, draws)
		}
		for name, n := range held {
			if share := float64(n) / draws; share < 0.95-3*math.Sqrt(0.95*0.05/draws) {
				t.Errorf("%s: %.0f %% of the intervals hold it", name, 100*share)
			}
		}
	}
}

// Intervals over 60 draws of markers that drift: half of them with numbers of the file drawn from their uncertainty.
func TestDriftCoverage(t *testing.T) {
	const draws = 60
	held, of := 0, 0
	for seed := range uint64(draws) {
		b := newBallBench(seed + 5000)
		if seed%2 == 1 {
			b.drawn(measured)
		} else {
			b.spec.Body, b.spec.Markers = b.ball.given(), b.ball.markers
		}
		rec := b.record()
		slowly(b, 0.998)(b, rec)
		r, _ := fitRolling(t, b.spec, rec)
		truth := truthOf(&b.ball)
		for _, name := range b.spec.FreeParams {
			p, _ := r.Param(name)
			if p.CI == nil {
				continue
			}
			if of++; p.CI[0] <= truth[name] && truth[name] <= p.CI[1] {
				held++
			}
		}
	}
	if t.Logf("%d of %d intervals hold the truth", held, of); float64(held) < 0.92*float64(of) {
		t.Errorf("%d of %d intervals hold the truth", held, of)
	}
}

// The whole suite of balls.
func TestWholeSuiteOfBalls(t *testing.T) {
	ballSuite(t, 1, 5, func(*ballKind) bool { return true })
}
