package hil

import (
	"fmt"
	"math"
	"testing"

	"hilrig/engine/reference"
	"hilrig/estimator"
)

// A coupling that slips, or an encoder of another scale or sign, shows a part of the motion.
func TestPartOfTheMotion(t *testing.T) {
	for _, share := range []float64{-1, 0.05, 0.1, 0.2, 0.5} {
		for _, kind := range shopKinds {
			line := ""
			for _, motion := range []string{"sine 0.9 rad", "sine 3 rad", "multisine", "ramp", "multisine and a weight"} {
				for _, rest := range []bool{true, false} {
					worst, far, causes := 0, 0.0, map[string]int{}
					for _, side := range []float64{1, -1} {
						moments := []float64{1.1, 1.3, 1.7, 2.1}
						if rest {
							moments = []float64{0}
						}
						for _, at := range moments {
							p := kind.p()
							scale := side
							if p.linear {
								scale = side * 20e-3
							}
							if motion == "multisine and a weight" {
								weight := 3 * p.fs
								p.load, p.brake = func(_, _ float64) float64 { return weight }, true
							}
							ref := map[string]reference.Spec{"multisine and a weight": {Kind: "multisine", Tones: turned(demoTones, scale)}, "sine 0.9 rad": {Kind: "sine", Amplitude: 0.9 * scale, Frequency: 0.5}, "sine 3 rad": {Kind: "sine", Amplitude: 3 * scale, Frequency: 0.5},
								"multisine": {Kind: "multisine", Tones: turned(demoTones, scale)}, "ramp": {Kind: "ramp", Velocity: 2 * scale}}[motion]
							s := newShop(t, p, shopOptions{measured: kind.measured, ref: ref})
							s.start(t)
							s.seconds(t, at)
							from, way := p.x, 0.0
							s.fault = func(y []float64, at [estimator.Quantities]int) {
								y[0] = p.count * math.Round((from+share*(p.x-from))/p.count)
							}
							n, moved := 0, 0
							for s.row.Mode.Energised() && n < 2000 {
								s.step()
								if n++; math.Abs(p.x-from) < 20*p.count {
									moved = n
								}
								way = max(way, math.Abs(p.x-from))
							}
							worst, far = max(worst, n-moved), max(far, way/math.Abs(scale))
							c := s.row.Cause.String()
							if s.row.Mode.Energised() {
								c = "ON"
							}
							causes[c]++
						}
					}
					line += fmt.Sprintf(" | %4d %5.3g %v", worst, far, causes)
				}
			}
			t.Logf("%4g %-18s%s", share, kind.name, line)
		}
	}
}
