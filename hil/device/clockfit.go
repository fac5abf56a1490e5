package device

import (
	"math"
	"math/bits"
)

// clockFit maps a device's clock to the host's. Model of frame k, sent at device time d and arrived at host time h:
//
//	h = α + β·d + delay,  delay ≥ 0
//
// Delays only add, so the clock is the line below all points that lies closest to them in sum: a linear program whose
// solution is the edge of the lower convex hull above which the mean of d lies [MST99]. The window is 256 blocks of
// 200 ms; a block keeps only its lowest point, since no other can be on the hull's edge for long. Per frame that costs a
// handful of operations, per block one pass over the hull.
//
// A point below the line pushes it down at once. A device clock that jumps (reset, set) shows as points far below the
// line, or nothing but points far above it, for 20 ms. Then the fit begins anew and jumps counts; where the new clock has run no
// longer than nothing was heard of the old one, the board itself began anew. Numbers are kept relative to the first frame in float64,
// which resolves 1 ns for 100 days.
type clockFit struct {
	wrap      int64 // ns  modulus of the device's clock; 0: none
	seen      bool
	raw       int64   // ns  device time of the newest frame as it came
	h         int64   // ns  host time of the newest frame
	d         int64   // ns  device time of the newest frame, wraps undone
	d0, h0    int64   // ns  origin
	a, b      float64 // ns, –  line: h − h0 = (d − d0)·(1 + b) + a
	ready     bool    // the window spans enough for a drift
	jumps     uint64
	reboots   uint64
	frozen    uint64 // frames whose clock stood still
	low, high int    // suspicious frames in a row
	highSince float64
	trusted   int64   // ns  host time of the newest frame before the suspicious ones
	step      float64 // ns  how high the first of them lay
	above     int     // frames in a row that lie higher

	cur      point // lowest point of the block that is filling
	curStart float64
	block    [fitBlocks]point // ring
	first, n int
	hull     [fitBlocks]uint16

	hist     [4 * 64]uint32 // residuals, four bins per octave of ns
	histN    uint32
	histLast float64 // ns  when the histogram was last halved
	p99      float64 // ns
}

// point is (d − d0, (h − h0) − (d − d0)): the second number is small, so differences keep their digits.
type point struct{ x, r float64 }

const (
	fitBlocks  = 256
	fitBlock   = 200e6  // ns of device time per block
	fitSpan    = 2e9    // ns of window before the slope is believed
	fitDrift   = 0.03   // largest believable drift, a bad RC oscillator
	fitLow     = 2e6    // ns below the line that is a jump …
	fitLowN    = 3      // … when so many frames in a row say so
	fitHigh    = 5e6    // ns above the line that is a jump …
	fitStep    = 20e6   // ns … when it lasts so long
	fitStepN   = 5      // … and so many frames
	fitBegin   = 20e6   // ns that a clock may be older than the silence in which its board began anew
	fitStepIn  = 2e6    // ns … are so near the first of them
	fitCreep   = 200e-6 // drift that may change between two frames
	fitHistory = 5e9    // ns after which old residuals count half
)

// add takes the device time raw (ns modulo wrap) of a frame that arrived at h (ns).
func (c *clockFit) add(raw, h int64) {
	if !c.seen {
		c.begin(raw, h)
		return
	}
	// undo the wrap: the multiple that fits the time the host saw pass
	step, passed := raw-c.raw, h-c.h
	if c.wrap > 0 {
		step += int64(math.Round(float64(passed-step)/float64(c.wrap))) * c.wrap
	}
	if step == 0 {
		c.frozen++
		return
	}
	d := c.d + step
	p := point{x: float64(d - c.d0)}
	p.r = float64(h-c.h0) - p.x
	e := p.r - c.b*p.x - c.a

	// far below the line: impossible for this clock, so it is another one, or one wrong frame
	allowed := fitLow + fitCreep*float64(passed)
	switch {
	case c.n == 0: // the line has only begun: its first point may have been a late one
		allowed = math.Inf(1)
	case !c.ready:
		allowed = fitLow + fitDrift*float64(passed)
	}
	if e < -allowed {
		c.trusted = c.h
		if c.low++; c.low >= fitLowN {
			c.restart(raw, h, d)
		}
		return
	}
	if c.low = 0; c.high == 0 {
		c.trusted = c.h
	}
	c.raw, c.h, c.d = raw, h, d

	// far above it, one like the other: the clock went back. What a stalled host kept back lies ever less high, and ends on time
	switch now := float64(h); {
	case e <= fitHigh:
		c.high = 0
	case c.high == 0 || e < c.step-fitStepIn || c.above == fitStepN:
		c.step, c.high, c.above, c.highSince = e, 1, 0, now
	case e < c.step+fitStepIn:
		c.above = 0
		if c.high++; c.high >= fitStepN && now-c.highSince >= fitStep {
			c.restart(raw, h, d)
			return
		}
	default: // one that was late, or the first of them was one from before the step
		c.above++
	}

	if e < 0 {
		c.a += e
		e = 0
	}
	c.residual(e)
	switch {
	case p.x >= c.curStart+fitBlock || p.x < c.curStart:
		c.push(c.cur)
		c.fit()
		c.a = min(c.a, p.r-c.b*p.x) // the window does not hold this frame yet
		c.quantile(float64(h))
		c.cur, c.curStart = p, p.x
	case p.r-c.b*p.x < c.cur.r-c.b*c.cur.x:
		c.cur = p
	}
}

func (c *clockFit) begin(raw, h int64) {
	c.seen, c.raw, c.h, c.d, c.d0, c.h0 = true, raw, h, raw, raw, h
	c.a, c.b, c.curStart, c.cur = 0, 0, 0, point{}
}

// restart begins anew at a jump. The drift belongs to the oscillator and stays as the first guess.
func (c *clockFit) restart(raw, h, d int64) {
	c.jumps++
	if raw <= h-c.trusted+fitBegin {
		c.reboots++
	}
	c.raw, c.h, c.d, c.d0, c.h0 = raw, h, d, d, h
	c.a, c.low, c.high, c.n, c.ready = 0, 0, 0, 0, false
	c.cur, c.curStart = point{}, 0
}

// reset forgets everything: another device may be on the line.
func (c *clockFit) reset() {
	*c = clockFit{wrap: c.wrap, jumps: c.jumps, reboots: c.reboots, frozen: c.frozen}
}

// host is the host time at which a frame of the newest device time would have arrived without any delay beyond the
// smallest. Never later than the arrival.
func (c *clockFit) host() int64 { return c.h0 + (c.d - c.d0) + int64(c.a+c.b*float64(c.d-c.d0)) }

// offset is host minus device time at the newest frame, in ns.
func (c *clockFit) offset() int64 { return c.host() - c.d }

// driftPPM is how much faster than the host's the device's clock runs, in parts per million; 0 until it is known.
func (c *clockFit) driftPPM() float64 {
	if !c.ready {
		return 0
	}
	return (1/(1+c.b) - 1) * 1e6
}

// push puts a point at the end of the window.
func (c *clockFit) push(p point) {
	c.block[(c.first+c.n)%fitBlocks] = p
	if c.n < fitBlocks {
		c.n++
	} else {
		c.first = (c.first + 1) % fitBlocks
	}
}

func (c *clockFit) at(i int) point { return c.block[(c.first+i)%fitBlocks] }

// fit finds the edge of the lower hull over the mean of x.
func (c *clockFit) fit() {
	if c.at(c.n-1).x-c.at(0).x < fitSpan {
		// too short for a slope: keep the one there is and touch from below
		c.touch(c.b)
		return
	}
	// lower hull of points sorted by x (monotone chain): drop what lies above the chord of its neighbours
	k, mean := 0, 0.0
	for i := range c.n {
		p := c.at(i)
		mean += p.x
		for k >= 2 && cross(c.at(int(c.hull[k-2])), c.at(int(c.hull[k-1])), p) <= 0 {
			k--
		}
		c.hull[k] = uint16(i)
		k++
	}
	mean /= float64(c.n)
	i := 0
	for i < k-2 && c.at(int(c.hull[i+1])).x < mean {
		i++
	}
	p, q := c.at(int(c.hull[i])), c.at(int(c.hull[i+1]))
	slope := (q.r - p.r) / (q.x - p.x)
	if !(math.Abs(slope) < fitDrift) {
		c.touch(0)
		return
	}
	c.b, c.a, c.ready = slope, p.r-slope*p.x, true
}

// touch sets the line of slope b that touches the window from below.
func (c *clockFit) touch(b float64) {
	a := math.Inf(1)
	for i := range c.n {
		p := c.at(i)
		a = min(a, p.r-b*p.x)
	}
	c.a, c.b = a, b
}

// cross is positive when p → q → s turns left.
func cross(p, q, s point) float64 { return (q.x-p.x)*(s.r-p.r) - (q.r-p.r)*(s.x-p.x) }

// residual counts the delay e ≥ 0 (ns) of a frame beyond the smallest.
func (c *clockFit) residual(e float64) {
	c.hist[bin(uint64(e))]++
	c.histN++
}

// bin numbers the quarter octaves: 4·⌊log2⌋ and the two bits below the leading one.
func bin(ns uint64) int {
	n := bits.Len64(ns)
	if n < 3 {
		return int(ns)
	}
	return 4*(n-2) + int(ns>>(n-3)&3)
}

// edge is the lower edge of a bin.
func edge(i int) float64 {
	if i < 4 {
		return float64(i)
	}
	return math.Ldexp(float64(4+i%4), i/4-1)
}

// quantile reads the 99th percentile off the histogram and lets it forget.
func (c *clockFit) quantile(h float64) {
	want, sum := 0.99*float64(c.histN), 0.0
	for i, n := range c.hist {
		if s := sum + float64(n); s >= want && n > 0 {
			c.p99 = edge(i) + (want-sum)/float64(n)*(edge(i+1)-edge(i))
			break
		}
		sum += float64(n)
	}
	if h-c.histLast < fitHistory {
		return
	}
	c.histLast, c.histN = h, 0
	for i := range c.hist {
		c.hist[i] /= 2
		c.histN += c.hist[i]
	}
}
