package device

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// synth is a device clock and a line with delays, both known.
type synth struct {
	rng    *rand.Rand
	period float64 // ns of host time between frames
	ppm    float64 // the device's clock is so much too fast
	base   float64 // ns  smallest delay
	mean   float64 // ns  mean of the exponential delay beyond it
	jump   float64 // ns  added to the device's clock
	t      float64 // ns  host time of the newest frame's sending
	start  uint32  // µs
}

// next is the raw device time (u32 µs, in ns) and the arrival of one frame; the true offset can be had from dev.
func (s *synth) next() (raw, h int64) {
	s.t += s.period
	delay := s.base + s.rng.ExpFloat64()*s.mean
	if s.rng.IntN(200) == 0 { // an outlier: the host was away
		delay += s.rng.Float64() * 20e6
	}
	us := uint32(uint64(s.dev()/1000) + uint64(s.start))
	return int64(us) * 1000, 1e15 + int64(s.t+delay)
}

func (s *synth) dev() float64 { return s.t*(1+s.ppm*1e-6) + s.jump }

// After 30 s of frames the drift is right to 1 ppm and the mapped time to a few µs, at any drift, rate, delay and
// starting point of a clock that wraps in between.
func TestClockFitRecovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &synth{
			rng:    rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)),
			period: rapid.SampledFrom([]float64{1e6, 2e6, 5e6}).Draw(t, "period"),
			ppm:    rapid.Float64Range(-300, 300).Draw(t, "ppm"),
			base:   rapid.Float64Range(0, 1e6).Draw(t, "base"),
			mean:   rapid.Float64Range(1e3, 200e3).Draw(t, "mean"),
			start:  math.MaxUint32 - uint32(rapid.IntRange(0, 40e6).Draw(t, "before the wrap, µs")),
		}
		c := clockFit{wrap: 1000 << 32}
		worst := 0.0
		for s.t < 30e9 {
			c.add(s.next())
			if e := float64(c.host()) - (1e15 + s.t + s.base); s.t > 10e9 {
				worst = max(worst, math.Abs(e))
			}
		}
		if c.jumps != 0 || !c.driftKnown {
			t.Fatalf("jumps %d, ready %v", c.jumps, c.driftKnown)
		}
		if e := c.driftPPM() - s.ppm; math.Abs(e) > 1 {
			t.Errorf("drift %.3f ppm, want %.3f", c.driftPPM(), s.ppm)
		}
		// the smallest of n exponential delays has mean mean/n: 40 to 200 frames per block; 1 µs is the clock's resolution
		if worst > 3e3+0.3*s.mean {
			t.Errorf("mapped time up to %.1f µs off, mean delay %.1f µs", worst/1e3, s.mean/1e3)
		}
	})
}

// 50 ppm, 1 kHz, mean delay 100 µs: the case of the data sheet. The residual's 99th percentile of an exponential
// distribution is mean·ln 100, here with one outlier in 200 frames ln 200 at the most.
func TestClockFitNominal(t *testing.T) {
	s := &synth{rng: rand.New(rand.NewPCG(1, 2)), period: 1e6, ppm: 50, base: 400e3, mean: 100e3}
	c := clockFit{wrap: 1000 << 32}
	for s.t < 30e9 {
		c.add(s.next())
	}
	if e := c.driftPPM() - 50; math.Abs(e) > 0.3 {
		t.Errorf("drift %.3f ppm, want 50 ± 0.3", c.driftPPM())
	}
	lo, hi := 0.9*100e3*math.Log(100), 1.3*100e3*math.Log(200)
	if c.p99 < lo || c.p99 > hi {
		t.Errorf("p99 of the residual %.0f ns, want %.0f to %.0f", c.p99, lo, hi)
	}
	wantOffset := 1e15 + s.t + s.base - s.dev()
	if e := float64(c.offset()) - wantOffset; math.Abs(e) > 5e3 {
		t.Errorf("offset %.1f µs off", e/1e3)
	}
	t.Logf("drift %.3f ppm, offset error %.2f µs, p99 %.0f µs", c.driftPPM(), (float64(c.offset())-wantOffset)/1e3, c.p99/1e3)
}

// A clock that jumps in either direction, or restarts at zero, is noticed once and mapped anew; a stalled host, whose
// frames arrive late in a burst, is not a jump; nor is one frame with a wrong time.
func TestClockFitJumps(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(s *synth, c *clockFit)
		jumps uint64
		anew  uint64
	}{
		{"nothing", func(*synth, *clockFit) {}, 0, 0},
		{"forward 50 ms", func(s *synth, _ *clockFit) { s.jump += 50e6 }, 1, 0},
		{"forward 10 min", func(s *synth, _ *clockFit) { s.jump += 600e9 }, 1, 0},
		{"back 50 ms", func(s *synth, _ *clockFit) { s.jump -= 50e6 }, 1, 0},
		{"restart at 0", func(s *synth, _ *clockFit) { s.jump = -s.t; s.start = 0 }, 1, 1},
		{"restart at 0, silent for 0.3 s", func(s *synth, _ *clockFit) { s.t += 300e6; s.jump = -s.t; s.start = 0 }, 1, 1},
		{"set to 0.1 s", func(s *synth, _ *clockFit) { s.jump = 100e6 - s.t; s.start = 0 }, 1, 0},
		{"host stalled for 2 s", func(s *synth, c *clockFit) {
			at := s.t + 2e9
			for s.t < at {
				raw, _ := s.next()
				c.add(raw, 1e15+int64(at+s.base)+1e5)
			}
		}, 0, 0},
		{"one wrong time", func(s *synth, c *clockFit) {
			raw, h := s.next()
			c.add(raw+3e9, h)
		}, 0, 0},
		{"clock stands still for 1 s", func(s *synth, c *clockFit) {
			raw, _ := s.next()
			for range 1000 {
				_, h := s.next()
				c.add(raw, h)
			}
		}, 0, 0},
		{"line silent for 3 h: the wrap count is guessed from the host", func(s *synth, _ *clockFit) { s.t += 3 * 3600e9 }, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &synth{rng: rand.New(rand.NewPCG(3, 4)), period: 1e6, ppm: -80, base: 200e3, mean: 50e3, start: 1e9}
			f := clockFit{wrap: 1000 << 32}
			run := func(d float64) {
				for end := s.t + d; s.t < end; {
					f.add(s.next())
				}
			}
			run(20e9)
			c.do(s, &f)
			run(30e9)
			if f.jumps != c.jumps {
				t.Errorf("%d jumps, want %d", f.jumps, c.jumps)
			}
			if f.reboots != c.anew {
				t.Errorf("%d boards that began anew, want %d", f.reboots, c.anew)
			}
			if e := f.driftPPM() + 80; math.Abs(e) > 1 {
				t.Errorf("drift %.2f ppm, want −80", f.driftPPM())
			}
			if e := float64(f.host()) - (1e15 + s.t + s.base); math.Abs(e) > 30e3 {
				t.Errorf("mapped time %.1f µs off", e/1e3)
			}
		})
	}
}

// A clock set back makes samples look old. That lasts 25 ms, or five frames, not a second; what a stalled host kept back never looks
// like it, at any rate of frames.
func TestClockFitSetBack(t *testing.T) {
	for _, hz := range []float64{20, 100, 1000, 8000} {
		for _, back := range []float64{6e6, 50e6, 900e6, 60e9} {
			s := &synth{rng: rand.New(rand.NewPCG(3, 4)), period: 1e9 / hz, ppm: 40, base: 200e3, mean: 50e3, start: 3e9}
			s.rng = rand.New(rand.NewPCG(uint64(hz), uint64(back)))
			f := clockFit{wrap: 1000 << 32}
			for s.t < 20e9 {
				f.add(s.next())
			}
			s.jump -= back
			n, from := 0, s.t
			for f.jumps == 0 && n < 20000 {
				f.add(s.next())
				n++
			}
			// an outlier among them, the host being away for up to 20 ms, costs another 20 ms
			if took := s.t - from; n > 5 && took > 75e6 || n < 5 {
				t.Errorf("%g Hz, back by %g ms: noticed after %d frames, %.1f ms", hz, back/1e6, n, took/1e6)
			}
			if back < 10e9 && f.reboots != 0 { // its clock says that it has been on for 20 s
				t.Errorf("%g Hz, back by %g ms: taken for a board that begins anew", hz, back/1e6)
			}
		}
		for _, age := range []float64{0, 400e6} { // a board that begins anew counts from nothing; a clock that is set does not
			s := &synth{rng: rand.New(rand.NewPCG(9, uint64(hz))), period: 1e9 / hz, ppm: 40, base: 200e3, mean: 50e3}
			f := clockFit{wrap: 1000 << 32}
			for s.t < 20e9 {
				f.add(s.next())
			}
			s.jump = age - s.t*(1+s.ppm*1e-6)
			for n := 0; f.jumps == 0 && n < 20000; n++ {
				f.add(s.next())
			}
			if anew := age == 0; f.jumps != 1 || (f.reboots == 1) != anew {
				t.Errorf("%g Hz, clock at %g ms: %d jumps, %d boards that began anew", hz, age/1e6, f.jumps, f.reboots)
			}
		}
		for _, stall := range []float64{10e6, 30e6, 300e6, 3e9} {
			s := &synth{rng: rand.New(rand.NewPCG(5, 6)), period: 1e9 / hz, ppm: 40, base: 200e3, mean: 50e3}
			f := clockFit{wrap: 1000 << 32}
			for s.t < 20e9 {
				f.add(s.next())
			}
			for k, at := 0, s.t+stall; s.t < at; k++ {
				raw, _ := s.next()
				f.add(raw, 1e15+int64(at)+int64(k)*1e4) // handed over one by one when the host is back
			}
			for end := s.t + 1e9; s.t < end; {
				f.add(s.next())
			}
			if f.jumps != 0 {
				t.Errorf("%g Hz: a stall of %g ms was taken for a jump", hz, stall/1e6)
			}
		}
	}
}

// Without noise the numbers are exact: a clock set ahead is believed at the third frame, one set back at the fifth and after 20 ms,
// not before; what is known of its drift begins anew.
func TestClockFitExact(t *testing.T) {
	for _, c := range []struct {
		period, jump float64 // ns
		frames       int
	}{{5e6, 2.1e6, 3}, {5e6, 1.9e6, 0}, {5e6, 60e9, 3}, {5e6, -5.1e6, 5}, {5e6, -4.9e6, 0}, {4e6, -50e6, 6}, {20e6, -50e6, 5},
		{1e6, -50e6, 21}} {
		f := clockFit{wrap: 1000 << 32}
		at, ahead := 0.0, 0.0
		next := func() { at += c.period; f.add(int64(at+ahead)/1000*1000, 1e15+int64(at)) }
		for at < 10e9 {
			next()
		}
		if f.driftPPM() > 0.01 || !f.driftKnown {
			t.Fatalf("drift %g, ready %v", f.driftPPM(), f.driftKnown)
		}
		ahead = c.jump
		n := 0
		for ; f.jumps == 0 && n < 1000; n++ {
			next()
		}
		if want := c.frames; n != want && (want != 0 || f.jumps != 0) {
			t.Errorf("a frame every %g ms, by %g ms: noticed after %d, want %d", c.period/1e6, c.jump/1e6, n, want)
		} else if want != 0 && (f.driftKnown || f.lowFrames != 0 || f.highFrames != 0) {
			t.Errorf("after the jump: %v, %d, %d", f.driftKnown, f.lowFrames, f.highFrames)
		}
	}
	// two frames from another time, one at a time, are two wrong frames
	f := clockFit{wrap: 1000 << 32}
	for k := range 4000 {
		raw := int64(k) * 5e6
		if k > 3000 && k%3 != 0 {
			raw += 1e9
		}
		f.add(raw, 1e15+int64(k)*5e6)
	}
	if f.jumps != 0 {
		t.Errorf("%d jumps", f.jumps)
	}
	// the first seconds of a slow device with a bad oscillator are no jump
	for _, drift := range []float64{0.02, -0.02} {
		f := clockFit{wrap: 1000 << 32}
		for k := range 40 {
			at := float64(k) * 500e6
			f.add(int64(at*(1+drift))/1000*1000, 1e15+int64(at))
		}
		if f.jumps != 0 || math.Abs(f.driftPPM()-drift*1e6) > 500 {
			t.Errorf("drift %g: %d jumps, found %g ppm", drift, f.jumps, f.driftPPM())
		}
	}
}

// The line of a window of points against the best of all lines through two of them: below every point, highest at the mean.
func TestClockFitIsTheBestLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c clockFit
		n := rapid.IntRange(2, 9).Draw(t, "points")
		pts := make([]point, n)
		x := rapid.Float64Range(0, 1e10).Draw(t, "start")
		for i := range pts {
			pts[i] = point{x, rapid.Float64Range(-3e6, 3e6).Draw(t, "r")}
			c.push(pts[i])
			x += rapid.Float64Range(2e9/float64(n-1), 1e10).Draw(t, "step")
		}
		if pts[n-1].x-pts[0].x < fitSpan {
			t.Skip("too short for a slope")
		}
		mean := 0.0
		for _, p := range pts {
			mean += p.x / float64(n)
		}
		best := math.Inf(-1)
		for i := range pts {
			for j := range i {
				b := (pts[i].r - pts[j].r) / (pts[i].x - pts[j].x)
				a := pts[i].r - b*pts[i].x
				below := true
				for _, p := range pts {
					below = below && a+b*p.x <= p.r+1e-3
				}
				if below {
					best = max(best, a+b*mean)
				}
			}
		}
		c.fit()
		if got := c.a + c.b*mean; math.Abs(got-best) > 1e-2 || !c.driftKnown {
			t.Fatalf("%g ns at the mean, the best line has %g; ready %v", got, best, c.driftKnown)
		}
	})
	// a slope that no oscillator has is not believed, to either side
	for _, slope := range []float64{0.031, -0.031} {
		var c clockFit
		for i := range 4 {
			c.push(point{float64(i) * 1e9, slope * float64(i) * 1e9})
		}
		if c.fit(); c.b != 0 || c.driftKnown || c.a != min(0, slope*3e9) {
			t.Errorf("slope %g: line %g + %g·x, ready %v", slope, c.a, c.b, c.driftKnown)
		}
	}
	// too short for a slope: the one that is known, touching from below
	c := clockFit{b: 1e-3}
	c.push(point{1e9, 5e6})
	c.push(point{2e9, 2e6})
	if c.fit(); c.b != 1e-3 || c.a != 0 || c.driftKnown {
		t.Errorf("line %g + %g·x, ready %v", c.a, c.b, c.driftKnown)
	}
}

// The 99th percentile by hand, and how it forgets.
func TestClockFitQuantile(t *testing.T) {
	const a, b = 40, 60
	for _, c := range []struct {
		inA, inB uint32
		want     float64
	}{{99, 1, edge(a + 1)}, {98, 2, edge(b) + 0.5*(edge(b+1)-edge(b))}, {50, 50, edge(b) + 0.98*(edge(b+1)-edge(b))},
		{100, 0, edge(a) + 0.99*(edge(a+1)-edge(a))}} {
		var f clockFit
		f.hist[a], f.hist[b], f.histN = c.inA, c.inB, c.inA+c.inB
		f.histLast = 1e15
		f.quantile(1e15 + fitHistory - 1)
		if math.Abs(f.p99-c.want) > 1e-6*c.want || f.histN != 100 {
			t.Errorf("%d and %d: %g ns, want %g; %d kept", c.inA, c.inB, f.p99, c.want, f.histN)
		}
		if f.quantile(1e15 + fitHistory); f.histN != c.inA/2+c.inB/2 || f.histLast != 1e15+fitHistory {
			t.Errorf("%d and %d: after 5 s %d are kept", c.inA, c.inB, f.histN)
		}
	}
}

// A board whose clock is set to and fro, on a line with late frames now and then: every step is found soon, whatever came before it.
func TestClockFitSetToAndFro(t *testing.T) {
	for seed := range uint64(200) {
		s := &synth{rng: rand.New(rand.NewPCG(seed, 4)), period: 2e6, ppm: 0, base: 200e3, mean: 300e3, start: 0}
		f := clockFit{wrap: 4294967296000}
		run := func(d float64) {
			for end := s.t + d; s.t < end; {
				f.add(s.next())
			}
		}
		run(5e9 + float64(seed)*7e6)
		s.jump += 10e9
		run(1e9)
		s.jump -= 10e9
		run(0.45e9)
		for k := range 4 {
			s.jump -= 300e6
			from, j := s.t, f.jumps
			for f.jumps == j && s.t < from+1e9 {
				f.add(s.next())
			}
			if s.t-from > 100e6 {
				t.Errorf("seed %d, step %d: not found after %.0f ms", seed, k, (s.t-from)/1e6)
			}
			run(0.1e9)
			s.jump += 300e6
			run(1.5e9)
		}
	}
}

// Whatever a clock says, the fit neither panics nor maps a frame to later than it came, once it describes it.
func TestClockFitNonsense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := clockFit{wrap: rapid.SampledFrom([]int64{0, 1000 << 32, 1 << 24}).Draw(t, "wrap")}
		h := int64(1e15)
		for range rapid.IntRange(1, 600).Draw(t, "frames") {
			h += rapid.Int64Range(0, 1e9).Draw(t, "step")
			raw := rapid.Int64Range(0, 1<<42).Draw(t, "raw")
			c.add(raw, h)
			if c.raw == raw && c.h == h && !c.wild && c.host() > h+2 {
				t.Fatalf("mapped to %d ns after its arrival", c.host()-h)
			}
			if math.IsNaN(c.a+c.b+c.p99) || c.driftKnown == math.IsNaN(c.driftPPM()) {
				t.Fatalf("line %g + %g·x, p99 %g, drift %g ppm, ready %v", c.a, c.b, c.p99, c.driftPPM(), c.driftKnown)
			}
		}
	})
}

// The histogram's bins follow one another without gap or overlap.
func TestClockFitBins(t *testing.T) {
	for i := range 4*64 - 5 {
		if edge(i+1) <= edge(i) {
			t.Fatalf("bin %d is empty", i)
		}
		if e := edge(i); e < 1e18 && bin(uint64(e)) != i {
			t.Fatalf("bin(%g) = %d, want %d", e, bin(uint64(e)), i)
		}
	}
}

func TestClockFitAllocs(t *testing.T) {
	s := &synth{rng: rand.New(rand.NewPCG(1, 2)), period: 1e6, ppm: 50, mean: 1e5}
	c := clockFit{wrap: 1000 << 32}
	if n := testing.AllocsPerRun(5000, func() { c.add(s.next()) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkClockFit(b *testing.B) {
	s := &synth{rng: rand.New(rand.NewPCG(1, 2)), period: 1e6, ppm: 50, mean: 1e5}
	c := clockFit{wrap: 1000 << 32}
	type pair struct{ raw, h int64 }
	pairs := make([]pair, 1<<16)
	for i := range pairs {
		pairs[i].raw, pairs[i].h = s.next()
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if i == len(pairs) {
			i = 0
			c.reset()
		}
		c.add(pairs[i].raw, pairs[i].h)
		i++
	}
}
