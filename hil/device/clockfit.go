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
// A point below the line pushes it down at once. What departs from the line is told apart by the stamps of the device and by time:
//
//   - The clock jumped (it was set, or the board began anew): the stamps did not go on in their usual stride, and then three frames lie
//     far below the line, or all lie equally far above it for 20 ms. The fit begins anew and jumps counts; where the new clock has run no
//     longer than nothing was heard of the old one, the board itself began anew.
//   - The way to the host takes longer: the stamps went on in their stride, and the frames come late, all of them perhaps. That is age,
//     and the line stays where it is. Late frames of a minute without one on time are a clock that was set all the same.
//   - The way was longer while the line was made: the stamps went on in their stride, and frames lie below it. The line goes down there.
//   - The clock runs at another rate: the lowest points of the last blocks lie on another straight line, to one side of the old one by a
//     millisecond and more. What was before is forgotten, and rates counts.
//
// What cannot be told: a clock that is set by whole strides while as many frames are lost is a delay for a minute; a delay that grows as
// evenly as that of a rate is one; stamps without a stride (their steps scatter by more than a sixteenth) jump with every delay of 20 ms.
// Numbers are kept relative to the first frame in float64, which resolves 1 ns for 100 days.
type clockFit struct {
	wrap                  int64 // ns  modulus of the device's clock; 0: none
	hasFrame              bool
	raw                   int64   // ns  device time of the newest frame as it came
	h                     int64   // ns  host time of the newest frame
	d                     int64   // ns  device time of the newest frame, wraps undone
	d0, h0                int64   // ns  origin
	a, b                  float64 // ns, –  line: h − h0 = (d − d0)·(1 + b) + a
	driftKnown            bool    // the window spans enough for a drift
	jumps                 uint64
	reboots               uint64
	frozen                uint64 // frames whose clock stood still
	stride                stride
	stamp                 int64   // ns  device time of the newest frame as it came, taken or not
	odd                   bool    // the stamps left their stride since the newest frame on the line
	lateSince             float64 // ns  host time since when every frame came late; 0: they come on time
	lateN                 int     // blocks of such frames
	lineDrop              float64 // ns  by which the line was pushed down in this block
	fell                  bool    // … and in the block before by so much that its points are not those of one line
	rates                 uint64  // times that the clock went over to another rate
	wild                  bool    // it runs at a rate that no clock has: only arrivals count
	curHost               float64 // ns  arrival of the first frame of the block that is filling
	curAbove              float64 // ns  how high its lowest point lay when it came
	lowFrames, highFrames int     // suspicious frames in a row
	highSince             float64
	trusted               int64   // ns  host time of the newest frame before the suspicious ones
	step                  float64 // ns  how high the first of them lay
	aboveFrames           int     // frames in a row that lie higher
	creep                 creep

	cur      point // lowest point of the block that is filling
	curStart float64
	block    [fitBlocks]point // ring
	head, n  int
	hull     [fitBlocks]uint16

	recent  [fitRecent]point // lowest points of the newest blocks, on the line or not; a ring
	nRecent int              // blocks since it was begun
	noise   float64          // ns  by which the lowest points of neighbouring blocks scatter

	hist     [4 * 64]uint32 // residuals, four bins per octave of ns
	histN    uint32
	histLast float64 // ns  when the histogram was last halved
	p99      float64 // ns
}

// point is (d − d0, (h − h0) − (d − d0)): the second number is small, so differences keep their digits.
type point struct{ x, r float64 }

const (
	fitBlocks   = 256
	fitBlock    = 200e6  // ns per block, by the host's clock
	fitSpan     = 2e9    // ns of window before the slope is believed
	fitDrift    = 0.03   // largest believable drift, a bad RC oscillator
	fitLow      = 2e6    // ns below the line that is a jump …
	fitLowN     = 3      // … when so many frames in a row say so
	fitHigh     = 5e6    // ns above the line that is a jump …
	fitStep     = 20e6   // ns … when it lasts so long
	fitStepN    = 5      // … and so many frames
	fitBegin    = 20e6   // ns that a clock may be older than the silence in which its board began anew
	fitStepIn   = 2e6    // ns … are so near the first of them
	fitCreep    = 200e-6 // drift that may change between two frames
	fitHistory  = 5e9    // ns after which old residuals count half
	fitRecent   = 32     // blocks in which another rate shows
	fitRate     = 2e6    // ns of departure from the line at which it does …
	fitStraight = 0.2    // … with no point further from the new line than this share of it
	fitNoise    = 8      // … and is so many times the usual scatter of blocks
	fitNear     = 50e3   // ns  from the new line of a block that belongs to it, at least
	fitLate     = 60e9   // ns of frames that all come late, after which they are on time
	fitLateN    = 20     // … and so many blocks

	fitCreepN     = 4     // frames of a piece, at least …
	fitCreepSpan  = 20e6  // … and ns
	fitCreepSpare = 1e6   // ns of jitter, or half a period, within which nothing is told
	fitCreepStep  = 100e3 // ns by which the floor rises from piece to piece without a cause
)

// creep is by how much the clock has fallen behind the line since it was made. A clock that slows down is found out by its blocks only
// after half a second and more, and until then its samples would look ever older, by 16 ms at 2 %. The lowest frames of every 20 ms tell it
// at once: they rise, and no faster than clocks differ. What rises faster is a delay, and age.
type creep struct {
	lag        float64 // ns  the samples are dated so much later than the line says
	delayed    float64 // ns  of the floor that is a delay
	floor      float64 // ns  above the line, of the piece before
	nextFloor  float64 // ns  … of the one that is filling
	pieceStart float64 // ns  host time when that began
	hasFloor   bool    // a piece came before
	n          int     // frames
}

// add takes a frame that lies e (ns) above the line at the host time now. Within spare nothing is told from jitter.
func (c *creep) add(now, e, spare float64) {
	c.delayed, c.lag = min(c.delayed, e), min(c.lag, e)
	if c.n++; c.n == 1 {
		c.nextFloor, c.pieceStart = e, now
		return
	}
	c.nextFloor = min(c.nextFloor, e)
	if c.n < fitCreepN || now-c.pieceStart < fitCreepSpan {
		return
	}
	if rise := c.nextFloor - c.floor; c.hasFloor && rise > fitDrift*(now-c.pieceStart)+fitCreepStep {
		c.delayed += rise
	}
	c.floor, c.hasFloor, c.n = c.nextFloor, true, 0
	c.lag = max(0, c.floor-spare-c.delayed)
}

// stride is the usual step of a device's stamps.
type stride struct {
	usualStep, scatter float64 // ns
	n, misses          int     // steps that fit, and in a row those that did not
}

// periods is how many usual steps a step is; 0: it is no whole number of them, or there is no stride.
func (s *stride) periods(step int64) (n int) {
	x := float64(step)
	if s.n < 4 || 4*s.scatter > s.usualStep/4 {
		return 0
	}
	k := math.Round(x / s.usualStep)
	if k < 1 || math.Abs(x-k*s.usualStep) > 4*s.scatter+1e-3*x+1e4 {
		return 0
	}
	return int(min(k, 1e9))
}

// add learns from a step.
func (s *stride) add(step int64) {
	x := float64(step)
	off := math.Abs(x - s.usualStep)
	if s.n > 0 && off > s.usualStep/4 {
		if s.misses++; s.misses >= 8 && x > 0 {
			*s = stride{usualStep: x, n: 1}
		}
		return
	}
	if s.misses, s.n = 0, s.n+1; s.n == 1 {
		s.usualStep = x
		return
	}
	share := 1 / float64(min(s.n, 32))
	s.usualStep += share * (x - s.usualStep)
	s.scatter += share * (off - s.scatter)
}

// add takes the device time raw (ns modulo wrap) of a frame that arrived at h (ns), and tells how far (ns) the clock went on since the
// frame before; where it began anew, 1.
func (c *clockFit) add(raw, h int64) (step int64) {
	if !c.hasFrame {
		c.begin(raw, h)
		return 1
	}
	// undo the wrap
	passed := h - c.h
	step = c.unwrap(raw-c.raw, passed)
	since := c.unwrap(raw-c.stamp, passed)
	periods := c.stride.periods(since)
	c.stride.add(since)
	c.stamp = raw
	c.odd = c.odd || periods == 0
	if step == 0 {
		c.frozen++
		return 0
	}
	jumps := c.jumps
	if c.fitFrame(raw, h, c.d+step, passed, periods); c.jumps != jumps {
		return 1
	}
	return step
}

// fitFrame fits a frame of the device time d (ns, wraps undone) that came passed (ns) after the one before, whose stamp went on by so many
// periods.
func (c *clockFit) fitFrame(raw, h, d, passed int64, periods int) {
	p := point{x: float64(d - c.d0)}
	p.r = float64(h-c.h0) - p.x
	if c.wild {
		c.raw, c.h, c.d = raw, h, d
		c.tame(p)
		return
	}
	e := p.r - c.b*p.x - c.a

	// far below the line: impossible for this clock, so it is another one, or one wrong frame
	allowed := fitLow + fitCreep*float64(passed)
	switch {
	case c.n == 0: // the line has only begun: its first point may have been a late one
		allowed = math.Inf(1)
	case !c.driftKnown:
		allowed = fitLow + fitDrift*float64(passed)
	}
	if e < -allowed && periods == 1 && !c.odd { // all frames before came late
		c.a, c.lineDrop, e = c.a+e, c.lineDrop-e, 0
	}
	if e < -allowed {
		c.odd = true
		c.trusted = c.h
		if c.lowFrames++; c.lowFrames >= fitLowN {
			c.restart(raw, h, d)
		}
		return
	}
	if c.lowFrames = 0; c.highFrames == 0 {
		c.trusted = c.h
	}
	c.raw, c.h, c.d = raw, h, d

	// far above it, one like the other: the clock went back. What a stalled host kept back lies ever less high, and ends on time
	switch now := float64(h); {
	case e <= fitHigh:
		c.highFrames, c.odd, c.lateSince, c.lateN = 0, false, 0, 0
	case !c.odd:
		if c.lateSince == 0 {
			c.lateSince = now
		}
	case c.highFrames == 0 || e < c.step-fitStepIn || c.aboveFrames == fitStepN:
		c.step, c.highFrames, c.aboveFrames, c.highSince = e, 1, 0, now
	case e < c.step+fitStepIn:
		c.aboveFrames = 0
		if c.highFrames++; c.highFrames >= fitStepN && now-c.highSince >= fitStep {
			c.restart(raw, h, d)
			return
		}
	default: // one that was late, or the first of them was one from before the step
		c.aboveFrames++
	}

	if e < 0 {
		c.a, c.lineDrop = c.a+e, c.lineDrop-e
		e = 0
	}
	c.creep.add(float64(h), e, c.spare())
	c.residual(e - c.creep.lag)
	switch {
	case c.blockComplete(p):
		late := c.curAbove > fitHigh
		if c.recent[c.nRecent%fitRecent] = c.cur; !late {
			c.push(c.cur)
		}
		c.nRecent++
		c.scatter()
		if late {
			if c.lateN++; c.lateSince != 0 && float64(h)-c.lateSince > fitLate && c.lateN > fitLateN {
				c.restart(raw, h, d)
				return
			}
		}
		fell := c.lineDrop > fitLow
		switch {
		case c.changed():
			fell = false
		case late:
		case fell: // perhaps for more than this block
		case c.fell && c.nRecent > 1: // all points but the last two came late
			c.n, c.head = 0, 0
			c.push(c.recent[(c.nRecent+fitRecent-2)%fitRecent])
			c.push(c.cur)
			c.setTangent(c.b)
		default:
			c.fit()
		}
		c.fell, c.lineDrop = fell, 0
		c.a = min(c.a, p.r-c.b*p.x) // the window does not hold this frame yet
		c.quantile(float64(h))
		c.open(p, e)
	case p.r-c.b*p.x < c.cur.r-c.b*c.cur.x:
		c.cur, c.curAbove = p, e
	}
}

func (c *clockFit) begin(raw, h int64) {
	c.hasFrame, c.raw, c.h, c.d, c.d0, c.h0, c.stamp = true, raw, h, raw, raw, h, raw
	c.a, c.b = 0, 0
	c.open(point{}, 0)
}

// restart begins anew at a jump. The drift belongs to the oscillator and stays as the first guess.
func (c *clockFit) restart(raw, h, d int64) {
	c.jumps++
	if raw <= h-c.trusted+fitBegin {
		c.reboots++
	}
	c.raw, c.h, c.d, c.d0, c.h0 = raw, h, d, d, h
	c.a, c.lowFrames, c.highFrames, c.n, c.driftKnown = 0, 0, 0, 0, false
	c.odd, c.lateSince, c.lateN, c.nRecent, c.fell, c.lineDrop = false, 0, 0, 0, false, 0
	c.creep = creep{}
	c.wild = false
	c.open(point{}, 0)
}

// reset forgets everything: another device may be on the line.
func (c *clockFit) reset() {
	*c = clockFit{wrap: c.wrap, jumps: c.jumps, reboots: c.reboots, frozen: c.frozen, rates: c.rates}
}

// unwrap adds the multiple of the wrap to a step of the device's clock that fits the time the host saw pass.
func (c *clockFit) unwrap(step, passed int64) int64 {
	if c.wrap > 0 {
		step += int64(math.Round(float64(passed-step)/float64(c.wrap))) * c.wrap
	}
	return step
}

// scatter learns how far the lowest points of neighbouring blocks lie from a straight line; one that is far off counts for little.
func (c *clockFit) scatter() {
	if c.nRecent < 3 {
		return
	}
	p, q, s := c.recent[(c.nRecent-3)%fitRecent], c.recent[(c.nRecent-2)%fitRecent], c.recent[(c.nRecent-1)%fitRecent]
	off := math.Abs(cross(p, q, s) / (s.x - p.x))
	c.noise += (min(off, max(3*c.noise, fitRate)) - c.noise) / float64(min(c.nRecent-2, 16))
}

// open begins a block, and blockComplete tells whether it ends before a point: 200 ms after its first frame came. What a host that was away
// takes at once is in one block.
func (c *clockFit) open(p point, above float64) {
	c.cur, c.curStart, c.curHost, c.curAbove = p, p.x, p.x+p.r, above
}

func (c *clockFit) blockComplete(p point) bool {
	return p.x < c.curStart || p.x+p.r >= c.curHost+fitBlock
}

// tame takes a frame of a clock that runs at a rate that no clock has, until it has another.
func (c *clockFit) tame(p point) {
	if !c.blockComplete(p) {
		if p.r-c.b*p.x < c.cur.r-c.b*c.cur.x {
			c.cur = p
		}
		return
	}
	c.recent[c.nRecent%fitRecent] = c.cur
	c.nRecent++
	c.open(p, 0)
	if c.changed() {
		c.a = min(c.a, p.r-c.b*p.x)
	}
}

// changed finds out whether the newest blocks lie on a line of another slope, and if so begins anew with them.
func (c *clockFit) changed() bool {
	for k := 4; k <= min(c.nRecent, fitRecent); k *= 2 {
		at := func(i int) point { return c.recent[(c.nRecent-k+i)%fitRecent] }
		span := at(k-1).x - at(0).x
		// the slope through means of the first and the last quarter
		var p, q point
		for i := range k / 4 {
			p.x, p.r, q.x, q.r = p.x+at(i).x, p.r+at(i).r, q.x+at(k-1-i).x, q.r+at(k-1-i).r
		}
		if !(q.x > p.x) {
			continue
		}
		b := (q.r - p.r) / (q.x - p.x)
		moved := math.Abs(b-c.b) * span
		switch {
		case c.wild && math.Abs(b) >= fitDrift, !c.wild && !(moved > max(fitRate, fitNoise*c.noise)):
			continue
		case !c.wild && b < c.b && c.curAbove > fitRate: // what came late comes less late
			continue
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range k {
			r := at(i).r - b*at(i).x
			lo, hi = min(lo, r), max(hi, r)
		}
		if hi-lo > fitStraight*moved || c.wild && hi-lo > fitRate {
			continue
		}
		// the oldest may be from before the change
		from, end := k-1, at(k-1)
		half := at(k / 2)
		if !(end.x > half.x) { // stamps that do not rise are no clock
			continue
		}
		b = (end.r - half.r) / (end.x - half.x)
		if math.Abs(b) >= fitDrift {
			c.b, c.wild, c.driftKnown, c.nRecent = b, true, true, 0
			c.rates++
			c.creep = creep{}
			return true
		}
		near := max(3*c.noise, fitNear)
		if c.wild { // nothing was learned of the scatter
			near = fitRate / 4
		}
		for ; from > 0; from-- {
			if p := at(from - 1); math.Abs(p.r-end.r-b*(p.x-end.x)) > near {
				break
			}
		}
		if from >= k/2 || !(end.x > at(from).x) {
			continue
		}
		b = (end.r - at(from).r) / (end.x - at(from).x)
		c.n, c.head = 0, 0
		for i := from; i < k; i++ {
			c.push(at(i))
		}
		c.setTangent(b)
		c.rates++
		c.creep = creep{}
		c.driftKnown, c.wild, c.highFrames, c.odd, c.lateSince, c.lateN, c.nRecent = true, false, 0, false, 0, 0, 0
		return true
	}
	return false
}

// spare is what the floor may rise by and be jitter still.
func (c *clockFit) spare() float64 { return min(c.p99, max(c.stride.usualStep/2, fitCreepSpare)) }

// host is the host time at which a frame of the newest device time would have arrived without any delay beyond the
// smallest. Never later than the arrival.
func (c *clockFit) host() int64 {
	return min(c.h, c.h0+(c.d-c.d0)+int64(c.a+c.b*float64(c.d-c.d0)+c.creep.lag))
}

// offset is host minus device time at the newest frame, in ns.
func (c *clockFit) offset() int64 { return c.host() - c.d }

// driftPPM is how much faster than the host's the device's clock runs, in parts per million; NaN until it is known.
func (c *clockFit) driftPPM() float64 {
	if !c.driftKnown {
		return math.NaN()
	}
	return (1/(1+c.b) - 1) * 1e6
}

// push puts a point at the end of the window.
func (c *clockFit) push(p point) {
	c.block[(c.head+c.n)%fitBlocks] = p
	if c.n < fitBlocks {
		c.n++
	} else {
		c.head = (c.head + 1) % fitBlocks
	}
}

func (c *clockFit) at(i int) point { return c.block[(c.head+i)%fitBlocks] }

// fit finds the edge of the lower hull over the mean of x.
func (c *clockFit) fit() {
	if c.at(c.n-1).x-c.at(0).x < fitSpan {
		// too short for a slope: keep the one there is and touch from below
		c.setTangent(c.b)
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
		c.setTangent(0)
		return
	}
	c.b, c.a, c.driftKnown = slope, p.r-slope*p.x, true
}

// setTangent sets the line of slope b that touches the window from below.
func (c *clockFit) setTangent(b float64) {
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
