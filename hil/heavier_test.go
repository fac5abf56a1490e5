package hil

import (
	"math"
	"testing"

	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// Hard steps show the inertia of an axis. A load of eight times, put on while the drive is off, then looks like a coupling that slips: one
// trip. With a reset, in the next tick or a second later, it is looked at afresh and runs, as it does from the start.
func TestHeavierLoadIsLookedAtAfresh(t *testing.T) {
	for _, drive := range []plant.DriveKind{plant.VoltageDrive, plant.CurrentDrive, plant.EffortDrive} {
		for _, side := range []float64{1, -1} {
			for k := range 3 {
				before, later := k > 0, k > 1
				p := rotaryShop(drive)
				s := newShop(t, p, shopOptions{fade: 0.1, ref: reference.Spec{Kind: "step", Amplitude: 6 * side, Frequency: 0.7}})
				order := func(requests ...Request) {
					for _, q := range requests {
						s.out.req = q
						for range 100 {
							s.step()
						}
					}
				}
				if !before {
					p.j *= 8
				}
				s.start(t)
				s.seconds(t, 2)
				order(ReqStop)
				p.x, p.v = 0, 0
				if before {
					p.j *= 8
				}
				order(ReqReset, ReqArm, ReqRun)
				for k := 0; k < 2000 && s.row.Mode.Energised(); k++ {
					s.step()
				}
				if tripped := s.row.Mode == Trip; tripped != before || before && s.row.Cause != CauseDisagree && s.row.Cause != CauseFrozen {
					t.Errorf("%v, %+g, shown before %v: %v, %s",
						drive, side, before, s.row.Mode, s.row.CauseText(&s.ctl.schema))
				}
				if before {
					p.v = 0
					for k := 0; later && k < 1000; k++ {
						s.step()
					}
					order(ReqReset, ReqArm, ReqRun)
					s.seconds(t, 2)
				}
				if math.Abs(p.x) > 50 {
					t.Errorf("%v, %+g: at %g rad", drive, side, p.x)
				}
			}
		}
	}
}
