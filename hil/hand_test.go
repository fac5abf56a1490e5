package hil

import (
	"math"
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// A hand of 1 N·m/rad and 1 N·m at most, stronger than the controller, grips the shaft of a sound rig: it holds it, turns it on or
// back, to and fro, jerks and shakes it. Where the current of the winding is measured the position is known to be right, and the trip is
// called a blocked shaft, or a model residual; never a sign, a scale, a position or a delay. Without limits and with them, to both sides,
// at four moments. Without a current nobody can tell a hand from a fault; a shaft that is only held still is no trip there either.
func TestHandIsNoFault(t *testing.T) {
	for _, what := range []string{"grips", "grips slowly", "turns on", "turns back", "to and fro", "jerks", "shakes"} {
		for k := range 8 {
			side, p := float64(1-2*(k%2)), rotaryShop(plant.VoltageDrive)
			o := shopOptions{measured: []estimator.Quantity{estimator.Current}, fade: 0.3, pid: &control.PID{Kp: 0.25, Kd: 6e-3, Limit: 0.4},
				ref: reference.Spec{Kind: "sine", Amplitude: 3 * side, Frequency: 0.5}}
			if k%4 < 2 {
				o.limits = AxisLimits{MaxSpeed: 100, MaxError: 10}
			}
			s := newShop(t, p, o)
			s.start(t)
			s.seconds(t, 1.1+0.25*float64(k/2))
			from, begin := p.x, p.t
			p.load = func(now, x float64) float64 {
				now -= begin
				grip, to := min(1, now/0.1), from
				switch what {
				case "grips slowly":
					grip = min(1, now/0.4)
				case "turns on":
					to += side * 2 * (1 - math.Cos(math.Pi*min(1, now)))
				case "turns back":
					to -= side * 2 * (1 - math.Cos(math.Pi*min(1, now)))
				case "to and fro":
					to += 2 * math.Sin(2*math.Pi*now)
				case "jerks":
					to -= side * 1.5 * (1 - math.Cos(math.Pi*min(1, 4*now)))
				case "shakes":
					to += 0.5 * math.Sin(8*math.Pi*now)
				}
				return grip * max(-1, min(1, x-to))
			}
			n := 0
			for ; s.row.Mode.Energised() && n < 2000; n++ {
				s.step()
			}
			if c := s.row.Cause; n == 2000 || c != CauseBlocked && c != CauseResidual && c != CauseError {
				t.Errorf("%s, %+g, %d: after %d ms %v: %s", what, side, k, n, s.row.Mode, s.row.CauseText(&s.ctl.schema))
			}
		}
	}
	for _, kind := range shopKinds[:5] { // held where it is wanted
		p := kind.p()
		s := newShop(t, p, shopOptions{measured: kind.measured, fade: 0.3, pid: &control.PID{Kp: 0.25, Kd: 6e-3, Limit: 0.4},
			ref: reference.Spec{Kind: "constant", Offset: 0.5}})
		s.start(t)
		s.seconds(t, 1.1)
		from := p.x
		p.load = func(_, x float64) float64 { return max(-1, min(1, x-from)) }
		s.seconds(t, 2)
	}
}
