package device

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// boardClock is a board that samples at its rate by true time and stamps by a clock that runs as the test says, and a line that delays as
// the test says. Frames never overtake each other.
type boardClock struct {
	rng    *rand.Rand
	hz     float64
	rate   func(t float64) float64 // of the clock at true time t (s), 1: right
	set    func(t float64) float64 // s   by which it was set so far
	delay  func(t float64) float64 // s   beside the smallest and the jitter
	pause  func(t float64) float64 // s   the host is away from t until so long after; 0: it is not
	jitter func(r *rand.Rand, t float64) float64

	t, dev, arrived float64 // s
}

const boardLeast = 300e-6 // s  smallest delay

func newBoardClock(hz float64, seed uint64) *boardClock {
	zero := func(float64) float64 { return 0 }
	return &boardClock{rng: rand.New(rand.NewPCG(seed, 77)), hz: hz, rate: func(float64) float64 { return 1 + 40e-6 }, set: zero, delay: zero,
		pause:  zero,
		jitter: func(r *rand.Rand, _ float64) float64 { return 100e-6 * r.ExpFloat64() }, dev: 12}
}

// next is the next frame: what its clock says (ns, whole µs) and when the host takes it (ns).
func (b *boardClock) next() (raw, h int64) {
	b.t += 1 / b.hz
	b.dev += b.rate(b.t) / b.hz
	at := b.t + boardLeast + b.delay(b.t) + b.jitter(b.rng, b.t)
	at += b.pause(at)
	b.arrived = max(b.arrived+1e-6, at)
	us := int64((b.dev + b.set(b.t)) * 1e6)
	return us * 1000 % (1000 << 32), int64(1e15) + int64(b.arrived*1e9)
}

// mapped is how far (s) the map is off for the newest frame: true age less told age.
func (b *boardClock) mapped(c *clockFit) float64 {
	return (float64(c.host()) - 1e15 - (b.t+boardLeast)*1e9) * 1e-9
}

// follow runs until the true time t (s) and tells the largest error of the map from a time on (s), to both sides.
func (b *boardClock) follow(c *clockFit, from, to float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for b.t < to {
		c.add(b.next())
		if b.t >= from {
			e := b.mapped(c)
			lo, hi = min(lo, e), max(hi, e)
		}
	}
	return lo, hi
}

var boardRates = []float64{50, 200, 1000, 5000}

// lines are what may lie between board and host: the jitter of each, and how far it may put off the map (s).
var boardLines = []struct {
	name   string
	jitter func(r *rand.Rand, t float64) float64
	off    float64
}{
	{"quiet", func(r *rand.Rand, _ float64) float64 { return 100e-6 * r.ExpFloat64() }, 0.5e-3},
	{"USB, packets of 1 ms", func(r *rand.Rand, t float64) float64 {
		return math.Ceil(t/1.0003e-3)*1.0003e-3 - t + 20e-6*r.ExpFloat64()
	}, 1.2e-3},
	{"latency timer of 16 ms", func(r *rand.Rand, t float64) float64 {
		return math.Ceil(t/16.0007e-3)*16.0007e-3 - t + 20e-6*r.ExpFloat64()
	}, 6e-3},
	{"outliers", func(r *rand.Rand, _ float64) float64 {
		if r.IntN(100) == 0 {
			return 30e-3 * r.Float64()
		}
		return 200e-6 * r.ExpFloat64()
	}, 1e-3},
	{"uneven, 8 ms", func(r *rand.Rand, _ float64) float64 { return 8e-3 * r.Float64() }, 5e-3},
}

// Clean streams with bursts, pauses of the host and any jitter of the line: nothing jumps, no rate changes.
func TestClockModelClean(t *testing.T) {
	for _, hz := range boardRates {
		for _, l := range boardLines {
			for seed := range uint64(2) {
				b, c := newBoardClock(hz, seed), clockFit{wrap: 1000 << 32}
				b.jitter = l.jitter
				stops := []float64{3.1, 7.7, 12.2, 18.4, 26}
				long := []float64{0.01, 0.03, 0.12, 0.5, 2}
				b.pause = func(at float64) float64 {
					for i, s := range stops {
						if at >= s && at < s+long[i] {
							return s + long[i] - at
						}
					}
					return 0
				}
				lo, hi := b.follow(&c, 3, 40)
				if c.jumps != 0 || c.rates != 0 || lo < -l.off || hi > l.off {
					t.Errorf("%g Hz, %s: %d jumps, %d rates, the map off by %.2g to %.2g ms", hz, l.name, c.jumps, c.rates, lo*1e3, hi*1e3)
				}
			}
		}
	}
}

// A clock that runs at another rate for 5 s, at the start or later, or for good: no jump is told, the map is right again within 1.5 s of a
// change, and the drift is that of now.
func TestClockModelRates(t *testing.T) {
	for _, hz := range boardRates {
		for _, drift := range []float64{0.02, -0.02, 0.004, -0.004, 0.001, -0.001} {
			for name, during := range map[string][2]float64{"at the start": {0, 5}, "later": {30, 35}, "from then on": {30, 1e9},
				"always": {0, 1e9}} {
				b, c := newBoardClock(hz, 5), clockFit{wrap: 1000 << 32}
				b.rate = func(at float64) float64 {
					if at >= during[0] && at < during[1] {
						return 1 + drift
					}
					return 1 + 40e-6
				}
				settle := 1.5
				if math.Abs(drift) < 0.003 {
					settle = 4
				}
				where := fmt.Sprintf("%g Hz, %g %s", hz, drift, name)
				check := func(from, to, want float64) {
					lo, hi := b.follow(&c, from, to)
					if lo < -1e-3 || hi > 1e-3 {
						t.Errorf("%s, %g to %g s: the map off by %.2g to %.2g ms", where, from, to, lo*1e3, hi*1e3)
					}
					if got := c.driftPPM(); !(math.Abs(got-want*1e6) < 100) {
						t.Errorf("%s, at %g s: drift %.0f ppm, want %.0f", where, to, got, want*1e6)
					}
				}
				if during[0] > 0 {
					check(2, during[0], 40e-6)
				}
				if b.t < during[1] {
					check(during[0]+settle, min(during[0]+5, during[1]), drift)
				}
				if during[1] < 1e9 {
					check(during[1]+settle, during[1]+12, 40e-6)
				}
				if c.jumps != 0 || c.reboots != 0 {
					t.Errorf("%s: %d jumps, %d boards that began anew", where, c.jumps, c.reboots)
				}
				want := uint64(2)
				if during[1] > 1e8 {
					want = 1
				}
				if c.rates > want+1 || c.rates < want-1 || during[0] > 0 && c.rates == 0 {
					t.Errorf("%s: %d changes of the rate", where, c.rates)
				}
			}
		}
	}
}

// A clock that slows down a little is found by the longest look, 6.4 s; a large change in a second. (One that is a little faster pushes the
// line down, frame by frame: there the map is right all the time.)
func TestClockModelRateIsFoundInTime(t *testing.T) {
	for _, hz := range boardRates {
		for _, c := range []struct{ drift, within float64 }{{-4e-4, 7.5}, {0.02, 1.1}, {-0.02, 1.1}} {
			b, f := newBoardClock(hz, 11), clockFit{wrap: 1000 << 32}
			b.rate = func(at float64) float64 {
				if at >= 20.05 {
					return 1 + c.drift
				}
				return 1
			}
			b.follow(&f, 0, 20.05+c.within)
			if got := f.driftPPM(); f.rates != 1 || !(math.Abs(got-c.drift*1e6) < 250) {
				t.Errorf("%g Hz, %g: after %g s %d changes of the rate, drift %.0f ppm", hz, c.drift, c.within, f.rates, got)
			}
		}
	}
}

// A clock that is set jumps once, to either side; the map is right again at once.
func TestClockModelSet(t *testing.T) {
	for _, hz := range boardRates {
		for _, by := range []float64{6e-3, -6e-3, 0.05, -0.05, 0.0731, -0.0731, 1, -1, 600, -11} {
			b, c := newBoardClock(hz, 6), clockFit{wrap: 1000 << 32}
			b.set = func(at float64) float64 {
				if at > 20 {
					return by
				}
				return 0
			}
			b.follow(&c, 3, 20)
			lo, hi := b.follow(&c, 20.3, 30)
			if c.jumps != 1 || c.rates != 0 || lo < -0.8e-3 || hi > 0.8e-3 {
				t.Errorf("%g Hz, set by %g s: %d jumps, %d rates, then the map off by %.2g to %.2g ms", hz, by, c.jumps, c.rates, lo*1e3, hi*1e3)
			}
		}
	}
}

// A constant delay of the way is age: no clock jumps when it comes or goes, and the map stays where it was. After a minute it is taken for
// a clock that was set, once.
func TestClockModelDelay(t *testing.T) {
	for _, hz := range boardRates {
		for _, by := range []float64{6e-3, 20e-3, 60e-3, 0.3} {
			for _, span := range []float64{0.1, 1, 20} {
				b, c := newBoardClock(hz, 7), clockFit{wrap: 1000 << 32}
				b.delay = func(at float64) float64 {
					if at > 20 && at < 20+span {
						return by
					}
					return 0
				}
				lo, hi := b.follow(&c, 3, 30+span)
				if c.jumps != 0 || c.rates != 0 || lo < -0.8e-3 || hi > 0.8e-3 {
					t.Errorf("%g Hz, %g ms for %g s: %d jumps, %d rates, the map off by %.2g to %.2g ms", hz, by*1e3, span, c.jumps, c.rates, lo*1e3,
						hi*1e3)
				}
			}
		}
		// the line is made while the way is long: it goes down without a jump
		b, c := newBoardClock(hz, 8), clockFit{wrap: 1000 << 32}
		b.delay = func(at float64) float64 {
			if at < 10 {
				return 30e-3
			}
			return 0
		}
		b.follow(&c, 3, 10)
		lo, hi := b.follow(&c, 10.1, 30)
		if c.jumps != 0 || c.rates != 0 || lo < -0.8e-3 || hi > 0.8e-3 {
			t.Errorf("%g Hz, long at first: %d jumps, %d rates, then the map off by %.2g to %.2g ms", hz, c.jumps, c.rates, lo*1e3, hi*1e3)
		}
	}
	b, c := newBoardClock(200, 9), clockFit{wrap: 1000 << 32}
	b.delay = func(at float64) float64 {
		if at > 20 {
			return 40e-3
		}
		return 0
	}
	if b.follow(&c, 3, 79); c.jumps != 0 {
		t.Errorf("a delay of 59 s: %d jumps", c.jumps)
	}
	b.follow(&c, 3, 82)
	if lo, hi := b.follow(&c, 82, 100); c.jumps != 1 || lo < 39e-3 || hi > 41e-3 {
		t.Errorf("a delay for good: %d jumps, the map off by %.2g to %.2g ms", c.jumps, lo*1e3, hi*1e3)
	}
}

// A clock that runs at a rate that no clock has, such as one in other units, tells no time: only arrivals count, and that is told. Once it
// is right it counts again.
func TestClockModelWild(t *testing.T) {
	for _, hz := range boardRates {
		for _, rate := range []float64{2, 0.5, 10, 1e-3, 1.04, 0.96} {
			for _, begin := range []float64{0, 10} {
				b, c := newBoardClock(hz, 10), clockFit{wrap: 1000 << 32}
				b.rate = func(at float64) float64 {
					if at >= begin && at < begin+10 {
						return rate
					}
					return 1
				}
				for b.t < begin+10 {
					c.add(b.next())
				}
				where := fmt.Sprintf("%g Hz, %g times as fast from %g s", hz, rate, begin)
				told := c.jumps // going over to a faster rate looks like being set ahead at first
				if got := c.driftPPM()*1e-6 + 1; !c.wild || c.rates > 2 || told > 3 || (begin == 0 || rate < 1.5) && told > 0 ||
					!(math.Abs(got-rate) < 0.01*rate) {
					t.Errorf("%s: wild %v, %d rates, %d jumps, %g times told", where, c.wild, c.rates, c.jumps, got)
				}
				b.follow(&c, 0, begin+12)
				lo, hi := b.follow(&c, 0, begin+20)
				if c.wild || c.rates > 4 || c.jumps != told || lo < -2.5e-3 || hi > 0.8e-3 {
					t.Errorf("%s, and right again: wild %v, %d rates, %d jumps, the map off by %.2g to %.2g ms", where, c.wild, c.rates, c.jumps, lo*1e3,
						hi*1e3)
				}
			}
		}
	}
}
