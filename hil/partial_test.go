package hil

import (
	"fmt"
	"math"
	"testing"

	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// A coupling that slips, or an encoder of another scale or sign, shows a part of the motion. On every kind of drive and to both sides: a
// turned one is found within 0.26 s and 5 rad of the demo's motion, 5 and 10 % of a motion that goes on within half a second, a current
// or not, 5 % from rest on within 0.26 s and 14 rad. A slow motion is often explained by twice the friction, by a load, or by an inertia of
// ten times that of the file: docs/reference/safety.md says so. A file that says that the inertia is at most twice as large leaves the
// last one out: a stage of 95 kg that shows 5 % from rest is found within 0.25 s and 30 mm.
func TestPartOfTheMotion(t *testing.T) {
	for _, known := range []bool{false, true} {
		for _, share := range []float64{-1, 0.05, 0.1, 0.2, 0.5}[:map[bool]int{true: 5, false: 4}[soak]] {
			for _, kind := range shopKinds {
				line := ""
				for _, motion := range []string{"sine 0.9 rad", "sine 3 rad", "multisine", "ramp"} {
					for _, rest := range []bool{true, false} {
						stage := known && rest && share == 0.05 && kind.p().linear && kind.p().drive != plant.VelocityDrive
						if !soak && (known && !(stage && motion == "multisine") || !known &&
							(motion == "ramp" || rest && share > 0 && !(share == 0.05 && motion == "sine 3 rad"))) {
							continue
						}
						line += partCell(t, kind.name, kind.p, kind.measured, motion, share, rest, known, stage)
					}
				}
				if line == "" {
					continue
				}
				t.Logf("known %-5v %4g %-18s%s", known, share, kind.name, line)
			}
		}
	}
}

// partCell plays a cell of the table from both sides and all moments, and judges it.
func partCell(t *testing.T, name string, make func() *shop, measured []estimator.Quantity, motion string, share float64, rest, known,
	stage bool) string {
	moments := []float64{1.1, 1.3, 1.7, 2.1}
	if !soak {
		moments = moments[1:2]
	}
	if rest {
		moments = []float64{0}
	}
	worst, far, on, causes := 0, 0.0, 0, map[string]int{}
	for _, side := range []float64{1, -1} {
		for _, at := range moments {
			n, way, cause := playPart(t, make(), measured, motion, share, side, at, known)
			worst, far = max(worst, n), max(far, way)
			if causes[cause]++; cause == "runs on" {
				on++
			}
		}
	}
	p := make()
	force := p.drive != plant.VelocityDrive && !rest
	damped := p.drive == plant.VoltageDrive && !p.linear // the back-emf of the motion that is not shown takes its effort
	part := share > 0 && share < 0.15
	switch {
	case share < 0 && (on > 0 || worst > 260 || far > 5),
		part && force && !damped && motion == "sine 3 rad" && (on > 0 || worst > 110 || far > 2),
		share == 0.05 && damped && !rest && motion == "sine 3 rad" && (on > 0 || worst > 500 || far > 10),
		share == 0.05 && p.drive != plant.VelocityDrive && rest && motion == "sine 3 rad" && (on > 0 || worst > 260 || far > 14),
		share == 0.05 && force && motion == "multisine" && (on > 0 || worst > 500 || far > 10),
		stage && motion != "ramp" && motion != "sine 0.9 rad" && (on > 0 || worst > 250 || far > 1.5),
		part && !rest && motion == "multisine" && on > 0:
		t.Errorf("%g of the motion, %s, %s, from rest %v, inertia known %v: %d ms, %.3g rad, %v", share, name, motion, rest, known, worst, far,
			causes)
	}
	return fmt.Sprintf(" | %4d %5.3g %v", worst, far, causes)
}

// playPart is the time (ms) from the motion that is not shown to the trip, the way (rad of the demo), and the cause.
func playPart(t *testing.T, p *shop, measured []estimator.Quantity, motion string, share, side, at float64, known bool) (ms int,
	far float64, cause string) {
	scale := side
	if p.linear {
		scale = side * 20e-3
	}
	ref := map[string]reference.Spec{"sine 0.9 rad": {Kind: "sine", Amplitude: 0.9 * scale, Frequency: 0.5},
		"sine 3 rad": {Kind: "sine", Amplitude: 3 * scale, Frequency: 0.5},
		"multisine":  {Kind: "multisine", Tones: turned(demoTones, scale)}, "ramp": {Kind: "ramp", Velocity: 2 * scale}}[motion]
	o := shopOptions{measured: measured, ref: ref}
	if known {
		o.limits.MaxInertia = 2 * p.j
	}
	s := newShop(t, p, o)
	s.start(t)
	s.seconds(t, at)
	from := p.x
	s.fault = func(y []float64, at [estimator.Quantities]int) {
		y[0] = p.count * math.Round((from+share*(p.x-from))/p.count)
	}
	n, moved := 0, -1 // it may come by that place again
	for ; s.row.Mode.Energised() && n < 2000; n++ {
		if s.step(); moved < 0 && math.Abs(p.x-from) >= 20*p.count {
			moved = n
		}
		far = max(far, math.Abs(p.x-from)/math.Abs(scale))
	}
	if cause = s.row.Cause.String(); s.row.Mode.Energised() {
		cause = "runs on"
	}
	return n - max(0, moved), far, cause
}
