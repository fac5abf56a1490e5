package hil

import (
	"testing"

	"hilrig/engine/reference"
)

// A position that jumps beside a drive with a limit of its speed is named so, and not by the speed that the jump would be: to both sides,
// by half a radian to six, on every kind of drive.
func TestJumpIsNamed(t *testing.T) {
	for _, kind := range shopKinds {
		for _, side := range []float64{1, -1} {
			for _, jump := range []float64{0.5, 2, 6} {
				p := kind.p()
				unit := p.size()
				s := newShop(t, p, shopOptions{measured: kind.measured, tick: 2, limits: AxisLimits{MaxSpeed: 80 * unit, MaxError: 10 * unit},
					ref: reference.Spec{Kind: "sine", Amplitude: 3 * unit, Frequency: 0.5}})
				s.start(t)
				s.seconds(t, 0.6)
				s.fault = func(y []float64, _ [5]int) { y[0] += side * jump * unit }
				n := 0
				for ; s.row.Mode.Energised() && n < 200; n++ {
					s.step()
				}
				if c := s.row.Cause; c != CauseJump || n > 60 {
					t.Errorf("%s, %+g of %g rad: after %d ms %s", kind.name, side, jump, 2*n, s.row.CauseText(&s.ctl.schema))
				}
			}
		}
	}
}
