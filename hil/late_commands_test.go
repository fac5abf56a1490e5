package hil

import (
	"math"
	"slices"
	"testing"

	"hilrig/engine/plant"
)

// Commands that reach a drive of currents or efforts 30 to 80 ms late make a stiff controller swing: found within 0.25 s and 3 rad, before it reaches
// its limits. From where the swing fits them, the cause is the delay.
func TestLateCommands(t *testing.T) {
	named := 0
	for _, drive := range []plant.DriveKind{plant.CurrentDrive, plant.EffortDrive} {
		for _, late := range []int{10, 30, 50, 80} {
			for _, side := range []float64{1, -1} {
				p := rotaryShop(drive)
				s := newShop(t, p, shopOptions{limits: AxisLimits{MaxSpeed: 100, MaxError: 10}, ref: sineOf(3, 0.5)(3 * side)})
				s.start(t)
				s.seconds(t, 1.6)
				s.lateCommands = slices.Repeat([]float64{s.u[0]}, late)
				from, way, n := p.x, 0.0, 0
				for ; s.row.Mode.Energised() && n < 1000; n++ {
					s.step()
					way = max(way, math.Abs(p.x-from))
				}
				t.Logf("%v %d ms late %+g: %d ms %.3g rad %.60s", drive, late, side, n, way, s.row.Why(&s.ctl.schema))
				if c := s.row.Cause; late == 10 {
					if n < 1000 {
						t.Errorf("%v, 10 ms late, %+g: %s", drive, side, s.row.Why(&s.ctl.schema))
					}
				} else if c == CauseDelay {
					named++
				} else if c != CauseFrozen && c != CauseDisagree && c != CauseDirection {
					t.Errorf("%v, %d ms late, %+g: %s", drive, late, side, s.row.Why(&s.ctl.schema))
				}
				if late > 10 && (n > 250 || way > 3) {
					t.Errorf("%v, %d ms late, %+g: after %d ms and %.3g rad", drive, late, side, n, way)
				}
			}
		}
	}
	if named < 8 {
		t.Errorf("the delay is named %d times of 12", named)
	}
}
