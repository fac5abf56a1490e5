package bristle

import (
	"context"
	"math"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// tally counts the intervals that hold the truth over draws of one experiment, each with noise of its own.
type tally struct {
	held, all    int
	by           [count]int
	mean, square theta // of the errors in standard errors
	checks       int   // draws whose mean of e²/S is within its limit
	doubted      int
	cpu          float64 // s, one core
}

func (c *tally) draw(t *testing.T, b *bench, seed uint64,
	method func(context.Context, []*record.Record, []fit.Param, Options, fit.Watch) (*fit.Solution, error), known map[string]float64) {
	t.Helper()
	s, err := method(context.Background(), []*record.Record{b.draw(seed)}, fixed(Params(false), known), Options{Workers: 1}, nil)
	if err != nil {
		t.Fatalf("draw %d: %v", seed, err)
	}
	off, held := within(t, s, &b.truth)
	for _, i := range s.FreeParams {
		c.all++
		c.mean[i] += off[i]
		c.square[i] += off[i] * off[i]
		if held[i] {
			c.held++
			c.by[i]++
		}
	}
	if in, lim := s.Extra["innovation"].(float64), s.Extra["innovation_limit"].(float64); math.Abs(in-1) < lim {
		c.checks++
	}
	if len(s.Doubts) > 0 {
		c.doubted++
	}
	c.cpu += s.Compute.Seconds()
}

// share is that of the intervals which hold the truth.
func (c *tally) share() float64 { return float64(c.held) / float64(c.all) }

func (c *tally) log(t *testing.T, draws int) {
	n := float64(draws)
	var bias, spread theta
	for i := range bias {
		bias[i] = math.Round(10*c.mean[i]/n) / 10
		spread[i] = math.Round(10*math.Sqrt(math.Max(c.square[i]/n-c.mean[i]*c.mean[i]/n/n, 0))) / 10
	}
	t.Logf("%.1f %% of %d intervals hold, by parameter %v of %d; mean error %v, scatter %v standard errors; self-check passed %d times, "+
		"doubted %d times; %.1f s each",
		100*c.share(), c.all, c.by, draws, bias, spread, c.checks, c.doubted, c.cpu/n)
}

// The intervals hold: the short form of TestSoakCoverage.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("four fits")
	}
	var c tally
	for _, name := range []string{"soft, fine encoder", "soft, servo, coarse encoder"} {
		b := named(t, name)
		b.seconds = 2.5
		for seed := range uint64(2) { // soak draws many
			c.draw(t, b, 500+seed, Kalman, nil)
		}
	}
	c.log(t, 4)
	if c.share() < 0.83 { // 95 % less three standard errors
		t.Errorf("%.1f %% of the intervals hold the truth, want 95", 100*c.share())
	}
}
