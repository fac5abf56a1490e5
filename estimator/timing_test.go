package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The voltage of a stretch of time: pieces that follow one another and together are the integral of the held commands, whether or not
// several commands make one piece; a sampling period has nine pieces at most beside those cut at its ends.
func TestVoltageBetween(t *testing.T) {
	c := commands{tick: 1e-3}
	for k := range 100 {
		c.add(math.Sin(0.7*float64(k)), 1)
	}
	held := func(ago float64) float64 { return c.mean(int(ago/c.tick), int(ago/c.tick)) } // of the tick that ended so many s ago or later
	for _, period := range []float64{1e-3, 10e-3, 20e-3, 50e-3} {
		group := max(1, int(period/c.tick/8))
		for _, from := range []float64{0.7e-3, 2.3e-3, 17.25e-3, 50.5e-3} {
			for _, to := range []float64{0, 0.4e-3, 1.6e-3} {
				if to >= from {
					continue
				}
				span, sum, pieces := 0.0, 0.0, 0
				c.forEachPiece(from, to, period, func(dt, u float64) {
					if dt <= 0 {
						t.Fatalf("a piece of %g s", dt)
					}
					span, sum, pieces = span+dt, sum+u*dt, pieces+1
				})
				want, fine := 0.0, 1e-6
				for ago := to + fine/2; ago < from; ago += fine {
					want += held(ago) * fine
				}
				if math.Abs(span-(from-to)) > 1e-12 {
					t.Errorf("period %g, %g to %g s ago: pieces of %g s", period, from, to, span)
				}
				// a group that is cut stands for its mean
				if off := math.Abs(sum - want); group == 1 && off > 1e-6 || off > 2*float64(group)*c.tick {
					t.Errorf("period %g, %g to %g s ago: %g V·s, want %g", period, from, to, sum, want)
				}
				if most := int((from-to)/c.tick/float64(group)) + 2; pieces > most {
					t.Errorf("period %g, %g to %g s ago: %d pieces, want %d at most", period, from, to, pieces, most)
				}
			}
		}
	}
}

// How far a voltage lies beyond those sent.
func TestBeyondWhatWasSent(t *testing.T) {
	// commands of 1 to 4 V, a millisecond each, the newest 4
	c := commands{tick: 1e-3}
	for u := 1.0; u <= 4; u++ {
		c.add(u, 1)
	}
	for _, x := range []struct{ u, since, want float64 }{
		{4, 0, 0}, {3, 0, 0}, {2.9, 0, 0.1}, {4.5, 0, 0.5}, // the one that acts now and the one before
		{2.9, 1e-3, 0}, {1.5, 1e-3, 0.5}, {1, 2e-3, 0}, {-1, 2e-3, 2}, {-1, 3e-3, 1}, {7, 3e-3, 3},
	} {
		if got := c.excess(x.u, x.since); math.Abs(got-x.want) > 1e-12 {
			t.Errorf("%g V since %g s: %g V beyond what was sent, want %g", x.u, x.since, got, x.want)
		}
	}
}

// The raster follows an oscillator 3 % off, and no more than 5 %; how far samples lie off it is known.
func TestRasterOfSamples(t *testing.T) {
	const nominal = 1e-3
	for _, c := range []struct{ real, want float64 }{{1.03, 1.03}, {0.97, 0.97}, {1, 1}} {
		var s raster
		for k := range 20000 {
			s.advance(int64(float64(k)*c.real*1e6), nominal)
		}
		if got := s.period / 1e6; math.Abs(got-c.want) > 1e-4 || math.Sqrt(s.off2) > 1e-3*1e6 {
			t.Errorf("%g: period %g, samples %g ns off", c.real, got, math.Sqrt(s.off2))
		}
	}
	for _, real := range []float64{1.2, 0.8} {
		var s raster
		for k := range 20000 {
			s.advance(int64(float64(k)*real*1e6), nominal)
			if p := s.period / 1e6; p > 1.05+1e-12 || p < 0.95-1e-12 {
				t.Fatalf("%g: period %g", real, p)
			}
		}
	}
	rng := rand.New(rand.NewPCG(3, 1))
	for _, sd := range []float64{0.02, 0.1} { // of a period
		var s raster
		mean := 0.0
		for k := range 4000 {
			s.advance(int64((float64(k)+sd*rng.NormFloat64())*1e6), nominal)
			if k >= 1000 {
				mean += s.off2 / 3000
			}
		}
		if got := math.Sqrt(mean) / 1e6; math.Abs(got/sd-1) > 0.1 {
			t.Errorf("scatter of %g periods is taken for %g", sd, got)
		}
	}
	var s raster // a clock that is set counts as five periods at most
	for k := range 1000 {
		s.advance(int64(k)*1e6, nominal)
	}
	s.advance(int64(0.3e9), nominal) // back
	if got := math.Sqrt(s.off2) / 1e6; math.Abs(got-0.5) > 1e-3 {
		t.Errorf("after a jump of the clock samples are %g periods off, want 0.5: five in one of a hundred", got)
	}
}

// A raster that is fitted knows an oscillator 3 % off from two samples, keeps it through losses and a clock that is set, and is as
// slow as the other in the end.
func TestRasterFitted(t *testing.T) {
	const real = 1.03e6 // ns
	s := raster{fitted: 1}
	at := 0.0
	for k := range 800 {
		if k%7 == 3 {
			continue
		}
		if k == 200 {
			at = -0.1e9
		}
		_, lost := s.advance(int64(at+float64(k)*real), 1e-3)
		if k > 0 && (math.Abs(s.period-real) > 20 || math.Abs(s.t-at-float64(k)*real) > 20 || lost != (k%7 == 4) && k != 200) {
			t.Fatalf("sample %d: period %g ns, %g ns off, lost %v", k, s.period, s.t-at-float64(k)*real, lost)
		}
	}
	// one sample off by a tenth of a period moves both as little as it moves the slow one
	slow := raster{t: s.t, period: s.period}
	phase, period := s.t+s.period, s.period
	off := 0.1 * period
	s.advance(int64(phase+off), 1e-3)
	slow.advance(int64(phase+off), 1e-3)
	if math.Abs(slow.t-phase-0.02*off) > 1 || math.Abs(slow.period-period-2e-4*off) > 0.1 {
		t.Errorf("%g ns moved the slow raster by %g ns, its period by %g", off, slow.t-phase, slow.period-period)
	}
	if math.Abs(s.t-slow.t) > 1 || math.Abs(s.period-slow.period) > 1 {
		t.Errorf("raster moved to %g ns, the slow one to %g; periods %g and %g", s.t, slow.t, s.period, slow.period)
	}
}
