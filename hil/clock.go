package hil

import (
	"hilrig/hil/rt"
)

// Missed says what a wall clock does with deadlines that passed while the loop was away.
type Missed struct {
	CatchUp int // deadlines repeated at once before the rest is skipped; 0: skip them all
}

// WallClock gives deadlines on CLOCK_MONOTONIC at a fixed period: an absolute sleep, then a short spin. Missed deadlines
// are skipped, or repeated at once up to Missed.CatchUp.
type WallClock struct {
	period, spin, nextDeadline int64
	missed                     Missed
	stop                       func() bool
	rest                       rt.Rest
}

// NewWallClock starts at the absolute time first (ns of rt.Now). stop is asked once a tick; nil never stops.
func NewWallClock(period, spin, first int64, missed Missed, stop func() bool) *WallClock {
	return &WallClock{period: period, spin: spin, nextDeadline: first, missed: missed, stop: stop}
}

// Wait sleeps until the next deadline. When the deadline before was missed by k periods, k are skipped.
func (c *WallClock) Wait() (t, late int64, ok bool) {
	if c.stop != nil && c.stop() {
		return 0, 0, false
	}
	t = c.nextDeadline
	c.rest.Due()
	rt.SleepUntil(t, c.spin)
	late = rt.Now() - t
	c.nextDeadline = afterMiss(t, late, c.period, c.missed.CatchUp)
	return t, late, true
}

func (c *WallClock) Now() int64 { return rt.Now() }

// afterMiss is the deadline after one that was met `late` ns after t: the next in the raster that still lies ahead, or
// at most catchUp periods before that.
func afterMiss(t, late, period int64, catchUp int) int64 {
	k := late / period // whole periods missed
	return t + (1+max(0, k-int64(catchUp)))*period
}

// Pacer is a device whose frames can pace the loop: the host time of the newest frame and how many frames there were.
type Pacer interface {
	Pace() (stamp int64, n uint64)
}

// DeviceClock follows the device's own clock: a phase-locked loop puts each deadline a fixed share of the period after
// the frame that it will read, so that samples are equally old at every tick and host and device never beat. Without new
// frames it keeps the last period.
type DeviceClock struct {
	WallClock
	pacer      Pacer
	lag        int64   // ns  wanted time from frame to deadline
	adj        float64 // ns  learned correction of the period
	frameCount uint64
	deviceLate bool
}

// Gains of the phase-locked loop per tick: critically damped, settles in about 50 ticks, ignores 95 % of arrival noise.
const (
	pllPhase = 0.05
	pllFreq  = 0.0006
)

// NewDeviceClock paces by p with the deadline lag ns behind the frame.
func NewDeviceClock(period, spin, first, lag int64, missed Missed, p Pacer, stop func() bool) *DeviceClock {
	return &DeviceClock{WallClock: WallClock{period: period, spin: spin, nextDeadline: first, missed: missed, stop: stop}, pacer: p, lag: lag}
}

// Wait sleeps until the next deadline and then moves the raster towards the device's.
func (c *DeviceClock) Wait() (t, late int64, ok bool) {
	t, late, ok = c.WallClock.Wait()
	if !ok {
		return
	}
	stamp, n := c.pacer.Pace()
	c.follow(t, stamp, n)
	return t, late, true
}

// follow moves the raster after the deadline t, when the newest of n frames is stamped stamp.
func (c *DeviceClock) follow(t, stamp int64, n uint64) {
	if c.nextDeadline <= t {
		c.nextDeadline = t + c.period
	}
	c.deviceLate = n == c.frameCount
	if !c.deviceLate && n > 0 {
		// phase error to the nearest frame of the raster, within half a period either way
		e := (stamp + c.lag - t) % c.period
		if e > c.period/2 {
			e -= c.period
		} else if e < -c.period/2 {
			e += c.period
		}
		lim := float64(c.period) / 20 // the device may be 5 % off, not more
		c.adj = min(lim, max(-lim, c.adj+pllFreq*float64(e)))
		c.nextDeadline += int64(min(lim, max(-lim, pllPhase*float64(e)+c.adj)))
	}
	c.frameCount = n
}

// DeviceLate tells whether the last deadline passed without a new frame.
func (c *DeviceClock) DeviceLate() bool { return c.deviceLate }
