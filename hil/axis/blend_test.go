package axis

import (
	"fmt"
	"math"
	"testing"

	"hilrig/engine/reference"
)

// Position, velocity and acceleration of the wanted motion are derivatives of one another on the whole way to the reference, to either
// side, with a limit of the approach that holds and without one, through a change of scale and offset and a pause in the middle of the
// blend: the integral of the velocity is the way, that of the acceleration the change of the velocity. The acceleration alone may jump, in
// the few ticks in which a limit begins or ends to hold.
func TestBlendIsConsistent(t *testing.T) {
	const dt = 1e-4
	for _, approach := range []float64{0, 5, 40} {
		for _, side := range []float64{1, -1} {
			for name, spec := range map[string]reference.Spec{
				"sine": {Kind: "sine", Amplitude: 3, Frequency: 0.5}, "far": {Kind: "constant", Offset: 20}, "ramp": {Kind: "ramp", Velocity: 30},
				"fast": {Kind: "sine", Amplitude: 10, Frequency: 2},
			} {
				for _, what := range []string{"plain", "scale", "offset", "pause"} {
					t.Run(fmt.Sprintf("%s %+g, approach %g, %s", name, side, approach, what), func(t *testing.T) {
						gen, err := reference.New(spec)
						if err != nil {
							t.Fatal(err)
						}
						m := motion{gen: gen, fade: 0.5, approach: approach, wantScale: side}
						m.start(2, false)
						p0, v0, a0 := m.step(dt)
						worst, top := 0.0, 0.0
						var off []float64
						for k := range 30000 {
							jump := false
							if k == 2500 {
								switch what {
								case "scale":
									m.wantScale, jump = 0.4*side, true
								case "offset":
									m.wantOffset, jump = -3*side, true
								case "pause":
									m.pause(p0)
									m.start(p0, true)
									p0, v0, a0 = m.step(dt)
								}
							}
							p, v, a := m.step(dt)
							if top = max(top, math.Abs(a)); !jump {
								worst = max(worst, math.Abs((p-p0)/dt-(v+v0)/2))
								off = append(off, math.Abs((v-v0)/dt-(a+a0)/2))
							}
							p0, v0, a0 = p, v, a
						}
						jumps, largest := 0, 0.0
						for _, d := range off {
							if largest = max(largest, d); d > 1e-3*top+0.1 {
								jumps++
							}
						}
						t.Logf("velocity off by %.3g, acceleration off in %d ticks, by %.3g of %.3g at most", worst, jumps, largest, top)
						if worst > 0.05 || jumps > 20 || largest > 0.6*top {
							t.Errorf("velocity off by %.3g, acceleration off in %d ticks, by %.3g of %.3g at most", worst, jumps, largest, top)
						}
					})
				}
			}
		}
	}
}
