package hil

import (
	"math"
	"testing"
)

func TestLateCommands(t *testing.T) {
	for _, kind := range shopKinds {
		for _, late := range []int{10, 20, 30, 50, 80} {
			for _, side := range []float64{1, -1} {
				p := kind.p()
				scale := side
				if p.linear {
					scale = side * 20e-3
				}
				s := newShop(t, p, shopOptions{measured: kind.measured, limits: AxisLimits{MaxSpeed: 100 * math.Abs(scale), MaxError: 10 * math.Abs(scale)}, ref: sineOf(3, 0.5)(3 * scale)})
				s.start(t)
				s.seconds(t, 1.6)
				s.lateCommands = make([]float64, late)
				for i := range s.lateCommands {
					s.lateCommands[i] = s.u[0]
				}
				from, way, n := p.x, 0.0, 0
				for ; s.row.Mode.Energised() && n < 2000; n++ {
					s.step()
					way = max(way, math.Abs(p.x-from)/math.Abs(scale))
				}
				t.Logf("%-18s %d ms late %+g: %d ms %.3g rad %.120s", kind.name, late, side, n, way, s.row.Why(&s.ctl.schema))
			}
		}
	}
}
