package hil

import (
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// gearedShop is a slow motor with a gear.
func gearedShop() *shop {
	return &shop{drive: plant.VoltageDrive, j: 3.2e-3, fc: 9e-3, fs: 12e-3, vs: 0.3, fv: 2e-4, stiffness: 4, r: 3.4, l: 2.1e-3, k: 0.025,
		count: 1e-4, noise: [estimator.Quantities]float64{estimator.Current: 0.02}, turned: 1}
}

// A bus that is asked 50 times a second, and whose answers are up to three ticks old: nothing trips where the motion turns.
func TestSlowBusDoesNotTrip(t *testing.T) {
	for _, measured := range [][]estimator.Quantity{nil, {estimator.Current}} {
		for _, late := range []int{0, 1, 2, 3} {
			for _, amplitude := range []float64{0.3, 1.57, -1.57} {
				s := newShop(t, gearedShop(), shopOptions{tick: 20, late: late, measured: measured, top: 12, pid: &control.PID{Kp: 0.03, Kd: 0.02, Limit: 0.06},
					ref: reference.Spec{Kind: "sine", Amplitude: amplitude, Frequency: 0.2}})
				s.start(t)
				for k := range 50 * 20 {
					if s.step(); !s.row.Mode.Energised() {
						t.Errorf("%d ticks late, %g rad, measured %v: after %.2f s %v: %s", late, amplitude, measured, 0.02*float64(k), s.row.Mode, s.row.Why(&s.ctl.schema))
						break
					}
				}
			}
		}
	}
}
