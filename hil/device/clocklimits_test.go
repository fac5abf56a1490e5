package device

import (
	"math"
	"testing"
)

// The stride by hand: known from four steps on, lost where they scatter by a sixteenth, kept within a quarter, another one after eight
// others in a row.
func TestStride(t *testing.T) {
	var s stride
	for n := range 6 {
		if got, want := s.periods(1e6), map[bool]int{true: 1, false: 0}[n >= 4]; got != want {
			t.Errorf("after %d steps: %d periods, want %d", n, got, want)
		}
		s.add(1e6)
	}
	for scatter, want := range map[float64]int{0: 1, 60e3: 1, 65e3: 0} {
		if got := (&stride{usualStep: 1e6, scatter: scatter, n: 10}).periods(1e6); got != want {
			t.Errorf("scatter %g ns: %d periods, want %d", scatter, got, want)
		}
	}
	known := stride{usualStep: 1e6, scatter: 1e3, n: 10}
	for _, c := range []struct {
		step int64
		want int
	}{ // 4·1 µs, a thousandth and 10 µs
		{1e6 + 14.9e3, 1}, {1e6 + 15.1e3, 0}, {1e6 - 14.9e3, 1}, {1e6 - 15.1e3, 0}, {5e6 + 18.9e3, 5}, {5e6 + 19.1e3, 0}, {0, 0}, {-1e6, 0},
		{400e3, 0}, {3e15, 1e9},
	} {
		if got := known.periods(c.step); got != c.want {
			t.Errorf("a step of %d ns: %d periods, want %d", c.step, got, c.want)
		}
	}
	for _, c := range []struct {
		step   int64
		misses int
	}{{1.24e6, 0}, {1.26e6, 1}, {0.76e6, 0}, {0.74e6, 1}} {
		s := known
		if s.add(c.step); s.misses != c.misses {
			t.Errorf("a step of %d ns: %d misses, want %d", c.step, s.misses, c.misses)
		}
	}
	for _, step := range []int64{2e6, -2e6} {
		s := known
		for n := range 9 {
			if want := 1e6; (n < 8 || step < 0) && s.usualStep != want {
				t.Errorf("after %d steps of %d ns: usual is %g ns", n, step, s.usualStep)
			}
			if n == 8 && step > 0 && s.usualStep != 2e6 {
				t.Errorf("after eight steps of %d ns: usual is %g ns", step, s.usualStep)
			}
			s.add(step)
		}
	}
}

// A clock that falls behind by 1 % is followed piece by piece, of 20 ms and four frames at least; a delay that comes at once is none of
// it, and one that goes again gives back what was taken.
func TestCreep(t *testing.T) {
	for _, every := range []float64{1e6, 10e6} { // ns
		piece := max(20e6, 3*every)
		var c creep
		for now := 0.0; now < 400e6; now += every {
			was := c.hasFloor
			c.add(now, 0.01*now, 0)
			if c.hasFloor != (now >= piece) {
				t.Fatalf("a frame every %g ms: begun %v after %g ms, before %v", every*1e-6, c.hasFloor, now*1e-6, was)
			}
			if behind := 0.01*now - c.lag; behind < 0 || behind > 0.01*(2*piece+2*every) {
				t.Fatalf("a frame every %g ms: %g ns are not followed after %g ms", every*1e-6, behind, now*1e-6)
			}
		}
	}
	var c creep
	for k := range 1000 {
		e := 0.0
		if k >= 300 && k < 600 {
			e = 5e6
		}
		if c.add(1e6*float64(k), e, 0); c.lag != 0 {
			t.Fatalf("a delay of 5 ms after %d ms: %g ns are taken for a clock that falls behind", k, c.lag)
		}
	}
	for k := range 100 {
		if c.add(1e9+1e6*float64(k), 0.9e6, 1e6); c.lag != 0 {
			t.Fatalf("within what is jitter: %g ns", c.lag)
		}
	}
}

// The window of a minute slides: a clock that wanders is followed after hours as after seconds.
func TestClockFitSlides(t *testing.T) {
	b := newBoardClock(100, 5)
	b.rate = func(t float64) float64 { return 1 + 40e-6 + 20e-6*math.Sin(2*math.Pi*t/1000) }
	c := clockFit{wrap: 1000 << 32}
	for _, to := range []float64{45, 60, 120, 300} {
		lo, hi := b.follow(&c, to-10, to)
		if lo < -1e-3 || hi > 1e-3 || c.jumps != 0 || c.rates != 0 {
			t.Errorf("until %g s: off by %g to %g ms, %d jumps, %d rates", to, lo*1e3, hi*1e3, c.jumps, c.rates)
		}
	}
	if c.n != fitBlocks {
		t.Errorf("%d blocks in the window, want %d", c.n, fitBlocks)
	}
	if want := 40 + 20*math.Sin(2*math.Pi*0.27); math.Abs(c.driftPPM()-want) > 3 {
		t.Errorf("drift %g ppm, want %g", c.driftPPM(), want)
	}
}

// Frames that come late, and ever less late, are no clock that runs faster, though their points lie on a straight line, as long as they
// are 2 ms late. What is told apart no longer then is off by no more than that.
func TestClockFitLessLate(t *testing.T) {
	for _, late := range []float64{15e-3, 40e-3} { // s
		for seed := range uint64(5) {
			b := newBoardClock(500, seed)
			b.delay = func(t float64) float64 {
				if t < 10 || t > 13 {
					return 0
				}
				return late * (13 - t) / 3
			}
			c := clockFit{wrap: 1000 << 32}
			b.follow(&c, 0, 13-3*2.5e-3/late)
			if c.rates != 0 || c.jumps != 0 {
				t.Errorf("%g ms late, seed %d: %d rates, %d jumps", late*1e3, seed, c.rates, c.jumps)
			}
			if lo, hi := b.follow(&c, b.t, 20); c.jumps != 0 || hi > 2.5e-3 || lo < -2.5e-3 {
				t.Errorf("%g ms late, seed %d: %d jumps, off by %g to %g ms", late*1e3, seed, c.jumps, lo*1e3, hi*1e3)
			}
		}
	}
}

// The jitter is told of what is followed: a clock that is slow for a moment makes none.
func TestClockFitJitterOfACreep(t *testing.T) {
	b := newBoardClock(1000, 3)
	b.rate = func(t float64) float64 {
		if t > 10.03 && t < 10.18 {
			return 0.99
		}
		return 1
	}
	c := clockFit{wrap: 1000 << 32}
	b.follow(&c, 0, 10.45)
	if c.p99 > 1.3e6 {
		t.Errorf("slow by 1 %% for 150 ms: jitter %g ms", c.p99*1e-6)
	}
}
