package control

import (
	"math"
	"testing"
)

// The integral grows outside the dead zone only, on both sides, and stops at the limit on both sides.
func TestLoop(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		l := Loop{PID: PID{Kp: 3, Ki: 4, Kd: 6, Limit: 2, DeadZone: 0.1}}
		if u := l.Step(sign*0.1, 0, 0.5); u != 3*sign*0.1 {
			t.Errorf("on the edge of the zone %g, want the proportional part alone", u)
		}
		if u, want := l.Step(sign*0.11, sign*0.2, 0.5), sign*(3*0.11+4*0.11*0.5+6*0.2); math.Abs(u-want) > 1e-12 {
			t.Errorf("outside the zone %g, want %g", u, want)
		}
		for range 20 {
			l.Step(sign, 0, 0.5)
		}
		if l.Integral != 2*sign || l.Clamp(3*sign) != 2*sign || l.Clamp(1.9*sign) != 1.9*sign {
			t.Errorf("integral %g, want the limit %g", l.Integral, 2*sign)
		}
		if l.Reset(); l.Integral != 0 {
			t.Error("not reset")
		}
	}
	free := Loop{PID: PID{Ki: 1}}
	for range 100 {
		free.Step(10, 0, 1)
	}
	if free.Integral != 1000 || free.Clamp(1e9) != 1e9 {
		t.Errorf("without a limit the integral is %g, want 1000", free.Integral)
	}
}
