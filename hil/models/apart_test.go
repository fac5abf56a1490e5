package models

import (
	"math"
	"math/rand/v2"
	"testing"
)

// response is that of a Butterworth low-pass of third order: 1 − e^−τ − 2/√3·e^(−τ/2)·sin(√3/2·τ) after a step, τ = ω0·t; and the mean lag
// is 2/ω0.
func TestResponse(t *testing.T) {
	const lag, dt = 2.6e-3, 1e-3
	var f response
	var x [3]float64
	f.tune(dt, lag)
	late := 0.0
	for k := 1; k <= 100; k++ {
		f.respond(&x, 1)
		tau := 2 / lag * dt * float64(k)
		want := 1 - math.Exp(-tau) - 2/math.Sqrt(3)*math.Exp(-tau/2)*math.Sin(math.Sqrt(3)/2*tau)
		if math.Abs(x[2]-want) > 1e-12 {
			t.Fatalf("after %d ticks %g, want %g", k, x[2], want)
		}
		late += 1 - x[2]
	}
	if mean := dt * (late + 0.5); math.Abs(mean-lag) > 0.02*lag { // trapezoids
		t.Errorf("lags by %g s, want %g", mean, lag)
	}
	f.tune(dt, 0)
	if f.respond(&x, 7); x[2] != 7 {
		t.Errorf("without a lag %g, want 7", x[2])
	}
}

// Two laws of equal mean squares are told apart by chance hardly ever, however much neighbouring batches have in common; one that is worse
// by more than the margin and the noise nearly always.
func TestVerdictsOfChance(t *testing.T) {
	const n = 4000
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		rho, worse, least, most float64
	}{{0, 0, 0, 0.02}, {0.3, 0, 0, 0.02}, {0.6, 0, 0, 0.02}, {0.8, 0, 0, 0.03}, {-0.5, 0, 0, 0.02}, {0, 1, 0.99, 1}, {0.3, 1, 0.8, 1}} {
		m := &RivalLaws{laws: make([]rival, 2), memory: 32, filled: batches}
		m.quantiles()
		told := 0
		for range n {
			d := rng.NormFloat64()
			m.squares, m.motionTime = [MaxRivals]float64{}, batches
			for k := range m.history {
				d = c.rho*d + math.Sqrt(1-c.rho*c.rho)*rng.NormFloat64()
				m.history[k] = batch{time: 1, squares: [MaxRivals]float64{1, 1 + 0.5*(d+c.worse)}}
				m.history[k].squares[0] = 1e-3 // the margin is out of the way
				m.history[k].squares[1] = 1e-3 + 0.5*(d+c.worse)
				m.squares[0] += m.history[k].squares[0]
			}
			m.head = batches - 1
			if m.significant(0, 1) {
				told++
			}
		}
		if share := float64(told) / n; share < c.least || share > c.most {
			t.Errorf("correlation %g, mean %g standard deviations: told apart in %g of %d", c.rho, c.worse, share, n)
		} else {
			t.Logf("correlation %g, mean %g standard deviations: told apart in %g", c.rho, c.worse, share)
		}
	}
	// few batches, and a difference within the margin, tell nothing
	m := &RivalLaws{laws: make([]rival, 2), memory: 32, head: batches - 1}
	m.quantiles()
	for k := range m.history {
		m.history[k] = batch{time: 1, squares: [MaxRivals]float64{1, 1.2 + 1e-3*float64(k%2)}}
	}
	for _, c := range []struct {
		full  int
		other float64
		want  bool
	}{{batches, 1.2, true}, {minBatches, 1.2, true}, {minBatches - 1, 1.2, false}, {batches, 1.05, false}} {
		m.filled, m.squares[0], m.motionTime = c.full, float64(c.full), float64(c.full)
		for k := range m.history {
			m.history[k].squares[1] = c.other + 1e-3*float64(k%2)
		}
		if got := m.significant(0, 1); got != c.want {
			t.Errorf("%d batches, mean square %g times as large: told apart %v", c.full, c.other, got)
		}
	}
}
