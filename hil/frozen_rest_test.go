package hil

import (
	"fmt"
	"math"
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// A position that tells nothing from before RUN, where the axis rests away from its reference, on every kind of drive and to both sides:
// from the first moment at which the drive can move the axis it is found within 0.25 s, and the axis goes less than 1.6 rad of the
// demo's. The reference goes on away from the axis, or comes back to it: the effort then may be above the break-away for a while and
// below it again before it is above twice of it.
func TestFrozenPositionFromRest(t *testing.T) {
	for _, kind := range shopKinds {
		for _, asked := range []float64{0.3, 0.6, 0.9, 1.2, 1.5, 1.8} { // rad, of a sine of 3 rad
			line := ""
			for _, side := range []float64{1, -1} {
				for _, away := range []float64{1, -1} {
					n, total, far, cause := playRest(t, kind.p(), kind.measured, asked, side, away)
					line += fmt.Sprintf(" | %3d of %3d ms %5.2g %s", n, total, far, cause)
					if cause != CauseFrozen && cause != CauseBlocked || n > 250 || far > 1.6 {
						t.Errorf("%s, %g rad asked, %+g, away %+g: after %d ms of %d ms and %.3g rad %s", kind.name, asked, side, away, n, total, far, cause)
					}
				}
			}
			t.Logf("%-18s %.1f%s", kind.name, asked, line)
		}
	}
}

// playRest is the time (ms) from the first moment at which the drive can move the axis to the trip, that from RUN on, the way (rad of the
// demo), and the cause; an axis that nothing finds goes on for 3 s. The reference goes away from the axis, or comes back to it (−1).
func playRest(t *testing.T, p *shop, measured []estimator.Quantity, asked, side, away float64) (ms, total int, far float64, cause Cause) {
	size := 1.0
	o := shopOptions{measured: measured, tick: 2, limits: AxisLimits{MaxSpeed: 100, MaxError: 10},
		pid: &control.PID{Kp: 0.1, Kd: 0.004, Limit: 0.4}}
	switch {
	case p.linear:
		size = 0.04 / 3
		o.limits, o.pid = AxisLimits{MaxSpeed: 1, MaxError: 0.15}, &control.PID{Kp: 100e3, Kd: 5e3, Limit: 300}
	case p.drive == plant.VoltageDrive:
		o.limits = AxisLimits{}
	}
	o.ref = reference.Spec{Kind: "sine", Amplitude: 3 * side * size, Frequency: 0.5}
	o.fade = 0.3
	s := newShop(t, p, o)
	p.x = -side * away * asked * size
	stuck := p.count * math.Round(p.x/p.count)
	s.fault = func(y []float64, _ [estimator.Quantities]int) { y[0] = stuck }
	from, moves := p.x, -1
	s.start(t)
	for ; s.row.Mode.Energised() && total < 3000; total += 2 {
		if s.step(); moves < 0 && math.Abs(p.effort) > p.fs {
			moves = total
		}
		far = max(far, math.Abs(p.x-from)/size)
	}
	return total - moves, total, far, s.row.Cause
}
