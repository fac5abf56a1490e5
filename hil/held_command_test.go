package hil

import (
	"math"
	"slices"
	"testing"

	"hilrig/engine/control"
	"hilrig/estimator"
)

// A drive that holds its last command, at 17 moments of a sine of 3 rad and 0.5 Hz (stage: 40 mm), to both sides: until the command of the
// loop has changed, the one that is held is right. Where the current or the effort is measured, it is found with the axis 5 rad away at
// most.
func TestDriveThatHoldsItsCommand(t *testing.T) {
	for _, c := range []struct {
		kind     int // of shopKinds
		measured estimator.Quantity
		ms       int
		way      float64 // rad, m
	}{
		{0, estimator.Current, 500, 4.5}, {2, estimator.Current, 385, 3.8}, {3, estimator.Effort, 455, 4.3},
		{5, estimator.Current, 280, 0.035}, {6, estimator.Current, 300, 0.027}, {7, estimator.Effort, 300, 0.027},
	} {
		var times []int
		var ways []float64
		kind, causes := shopKinds[c.kind], map[Cause]int{}
		for _, side := range []float64{1, -1} {
			for n := range 17 {
				p := kind.p()
				o := shopOptions{measured: []estimator.Quantity{c.measured}, tick: 2, fade: 0.3, limits: AxisLimits{MaxSpeed: 100, MaxError: 10},
					pid: &control.PID{Kp: 0.1, Kd: 0.004, Limit: 0.4}, ref: sineOf(3, 0.5)(3 * side)}
				if p.linear {
					o.limits, o.pid = AxisLimits{MaxSpeed: 1, MaxError: 0.15}, &control.PID{Kp: 100e3, Kd: 5e3, Limit: 300}
					o.ref = sineOf(3, 0.5)(40e-3 * side)
				}
				s := newShop(t, p, o)
				s.start(t)
				for range 250 + n*1000/17 {
					s.step()
				}
				s.lateCommands = slices.Repeat([]float64{s.u[0]}, 2000)
				x, ms, way := p.x, 0, 0.0
				for ; s.row.Mode.Energised() && ms < 2000; ms += 2 {
					s.step()
					way = max(way, math.Abs(p.x-x))
				}
				times, ways = append(times, ms), append(ways, way)
				causes[s.row.Cause]++
			}
		}
		slices.Sort(times)
		slices.Sort(ways)
		t.Logf("%-18s middle %d ms, %.3g; worst %d ms, %.3g; %v", kind.name, times[17], ways[17], times[33], ways[33], causes)
		if times[33] > c.ms || ways[33] > c.way {
			t.Errorf("%s: %d ms and %.3g rad or m, want %d and %g", kind.name, times[33], ways[33], c.ms, c.way)
		}
	}
}
