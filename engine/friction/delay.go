package friction

import (
	"fmt"

	"hilrig/engine"
)

// A delay line for frictional memory, F(t) = F(v(t − τ)) (6.15): the history of a velocity as knots (t, v) in absolute
// time with straight lines between them, kept in the caller's state slice. Because the time is absolute, a missed cycle
// does not stretch the delay, and a change of τ only moves the place that is read; a delay that is no whole number of
// steps is not rounded to one (rounding would make the force a staircase in τ, without a derivative for a fit).
//
// Memory is bounded by thinning: the newest knot slides along until it is gap = span/(delayKnots−4) ahead of the one
// before, and only then becomes permanent, where span is a quarter more than the delay that was announced with delayFor, or
// than the longest one read so far. Steps longer than the gap are all kept. For shorter ones the error of the interpolation
// is at most (gap + h)²/8·|d²v/dt²|: with a delay of 20 ms the gap is 0.1 ms, and a velocity of 0.1 m/s that oscillates at
// 10 Hz is off by 0.5 µm/s.
//
// A delay that grows beyond the span finds the oldest knot until the line has filled up.

const (
	delayKnots = 256 // a power of two: positions in the ring are the low bits of the number of a knot

	delayUsual = 0.05 // s  upper end of the memories of table 6.2
	delaySlack = 1.25 // span over delay

	// places in the state: header, then pairs (t, v)
	delayHead   = 0 // number of the newest knot
	delayCursor = 1 // number of the knot found last
	delayGap    = 2 // s    least distance of permanent knots
	delaySpan   = 3 // s    longest delay provided for
	delayBefore = 4 // m/s  velocity before the first knot
	delayRing   = 5

	// delayDim is the number of states that a delay line takes.
	delayDim = delayRing + 2*delayKnots
)

// delayReset empties the line: at rest for ever, the first knot is v = 0 at t = 0. It is ready for a delay of delayUsual.
func delayReset(z []float64) {
	clear(z[:delayDim])
	delayFor(z, delayUsual)
}

// delayFor provides for the delay tau (s) from now on. To be told before the first reading matters where steps are short
// and reading is rare: nothing else would keep the line from filling up with the last few steps.
func delayFor(z []float64, tau float64) {
	if span := delaySlack * tau; z[delaySpan] != span {
		z[delaySpan], z[delayGap] = span, span/(delayKnots-4)
	}
}

// delayStart empties the line: moving at v (m/s) for ever, the first knot is at t (s).
func delayStart(z []float64, t, v float64) {
	delayReset(z)
	z[delayBefore], z[delayRing], z[delayRing+1] = v, t, v
}

// delayPush appends the velocity v (m/s) at the time t (s). A time that is not later than the newest knot replaces its
// velocity.
func delayPush(z []float64, t, v float64) {
	z = z[:delayDim]
	n := int(z[delayHead])
	at := delayRing + 2*(n&(delayKnots-1))
	if t <= z[at] {
		z[at+1] = v
		return
	}
	// the newest knot stays if it is far enough from the one before; the very first one always does
	if n == 0 || z[at]-z[delayRing+2*((n-1)&(delayKnots-1))] >= z[delayGap] {
		n++
		z[delayHead] = float64(n)
		at = delayRing + 2*(n&(delayKnots-1))
	}
	z[at], z[at+1] = t, v
}

// delayAt is the velocity (m/s) at the time t (s): v(0) = 0, or what delayStart was told, before the first knot; the newest
// velocity after the newest knot. Reading starts where the last reading ended, one or two knots away when t moves with the
// steps.
func delayAt(z []float64, t float64) float64 {
	z = z[:delayDim]
	n := int(z[delayHead])
	at := delayRing + 2*(n&(delayKnots-1))
	back := z[at] - t
	if back <= 0 {
		return z[at+1]
	}
	if back > z[delaySpan] {
		delayFor(z, back)
	}
	if n == 0 {
		return z[delayBefore]
	}
	// walk to the last knot i with t_i ≤ t; its successor exists because t lies before the newest
	first := max(0, n-delayKnots+1)
	i := min(max(int(z[delayCursor]), first), n-1)
	for i+1 < n && z[delayRing+2*((i+1)&(delayKnots-1))] <= t {
		i++
	}
	a := delayRing + 2*(i&(delayKnots-1))
	for z[a] > t {
		if i <= first {
			if i == 0 {
				return z[delayBefore]
			}
			return z[a+1]
		}
		i--
		a = delayRing + 2*(i&(delayKnots-1))
	}
	z[delayCursor] = float64(i)
	b := delayRing + 2*((i+1)&(delayKnots-1))
	return z[a+1] + (z[b+1]-z[a+1])*((t-z[a])/(z[b]-z[a]))
}

// delayStates names the places of a delay line.
func delayStates() []engine.Signal {
	s := make([]engine.Signal, 0, delayDim)
	s = append(s, engine.Signal{Name: "delay_head"}, engine.Signal{Name: "delay_cursor"},
		engine.Signal{Name: "delay_gap", Unit: "s"}, engine.Signal{Name: "delay_span", Unit: "s"},
		engine.Signal{Name: "delay_before", Unit: "m/s"})
	for i := range delayKnots {
		s = append(s, engine.Signal{Name: fmt.Sprintf("delay_t%d", i), Unit: "s"},
			engine.Signal{Name: fmt.Sprintf("delay_v%d", i), Unit: "m/s"})
	}
	return s
}
