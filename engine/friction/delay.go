package friction

import (
	"fmt"
	"math"

	"hilrig/engine"
)

// A delay line for frictional memory, F(t) = F(v(t − τ)) [MOGI] (6.15): the history of a velocity as knots (t, v) in absolute
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

	delayUsual = 0.05 // s  upper end of the memories of table 6.2 of [MOGI]
	delaySlack = 1.25 // span over delay

	// places in the state: header, then pairs (t, v)
	delayHead   = 0 // number of the newest knot, see knotOf
	delayCursor = 1 // number of the knot found last
	delayGap    = 2 // s    least distance of permanent knots
	delaySpan   = 3 // s    longest delay provided for
	delayBefore = 4 // m/s  velocity before the first knot
	delayRing   = 5

	// delayDim is the number of states that a delay line takes.
	delayDim = delayRing + 2*delayKnots
)

// Knots are counted in the last 52 bits of a state, from 2⁵² after delayReset: the state is a plain number, and no conversion
// stands between a step and its place in the ring.
const delayCount = 1<<52 - 1

// place is where the time of knot n stands; its velocity is next to it.
func place(n uint64) uint64 { return delayRing + 2*(n&(delayKnots-1)) }

// delayReset empties the line: at rest for ever, the first knot is v = 0 at t = 0. It is ready for a delay of delayUsual.
func delayReset(z []float64) {
	clear(z[:delayDim])
	z[delayHead], z[delayCursor] = delayCount+1, delayCount+1
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
func delayPush(state []float64, t, v float64) {
	z := (*[delayDim]float64)(state)
	if at := place(math.Float64bits(z[delayHead])); t <= z[at] {
		z[at+1] = v
		return
	}
	delayAppend(z, t, v)
}

// delayAppend is delayPush for a time later than the newest knot.
func delayAppend(z *[delayDim]float64, t, v float64) {
	n := math.Float64bits(z[delayHead])
	// the newest knot stays if it is far enough from the one before; the very first one always does
	if n&delayCount == 0 || z[place(n)]-z[place(n-1)] >= z[delayGap] {
		n++
		z[delayHead] = math.Float64frombits(n)
	}
	at := place(n)
	z[at], z[at+1] = t, v
}

// delayAt is the velocity (m/s) at the time t (s): v(0) = 0, or what delayStart was told, before the first knot; the newest
// velocity after the newest knot. Reading starts where the last reading ended, one or two knots away when t moves with the
// steps.
func delayAt(state []float64, t float64) float64 {
	z := (*[delayDim]float64)(state)
	n := math.Float64bits(z[delayHead])
	newest := place(n)
	back := z[newest] - t
	if back <= 0 {
		return z[newest+1]
	}
	if back > z[delaySpan] {
		delayFor(state, back)
	}
	// one knot further on, as nearly always; over the seam of the ring time runs backwards
	i := math.Float64bits(z[delayCursor]) + 1
	if a, b := place(i), place(i+1); !(z[a] <= t && t < z[b]) {
		// walk to the last knot i with t_i ≤ t; its successor exists because t lies before the newest
		first := n &^ delayCount
		if n == first {
			return z[delayBefore]
		}
		oldest := first
		if n-first >= delayKnots {
			oldest = n - (delayKnots - 1)
		}
		i = min(max(i-1, oldest), n-1)
		for i+1 < n && z[place(i+1)] <= t {
			i++
		}
		for z[place(i)] > t {
			if i == first {
				return z[delayBefore]
			}
			if i == oldest {
				return z[place(i)+1]
			}
			i--
		}
	}
	z[delayCursor] = math.Float64frombits(i)
	a, b := place(i), place(i+1)
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
