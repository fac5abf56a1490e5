package hil

import (
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// Two axes whose measured currents come in each other's place from the start: one follows a sine of 3 rad and 0.5 Hz, the other one of a
// third of it, of another frequency. A drive of currents or efforts is compared with its command: one of the two trips within 0.7 s of
// RUN, the fade of 0.3 s included. The winding of a drive of voltages tells it where a current is beyond its floor, within 2.5 s. Beside a
// velocity drive nothing tells how large a current must be.
func TestSwappedCurrents(t *testing.T) {
	for _, drive := range []plant.DriveKind{plant.VoltageDrive, plant.CurrentDrive, plant.EffortDrive, plant.VelocityDrive} {
		for _, side := range []float64{1, -1} {
			var rigs [2]*shopRig
			for k := range rigs {
				p := rotaryShop(drive)
				p.seed = uint64(k)
				ref := reference.Spec{Kind: "sine", Amplitude: 3 * side, Frequency: 0.5}
				if k == 1 {
					ref = reference.Spec{Kind: "sine", Amplitude: 1 * side, Frequency: 0.8}
				}
				rigs[k] = newShop(t, p, shopOptions{measured: []estimator.Quantity{estimator.Current}, tick: 2, fade: 0.3, ref: ref,
					pid: &control.PID{Kp: 0.1, Kd: 0.004, Limit: 0.4}})
			}
			for k := range rigs {
				rigs[k].fault = func(y []float64, at [estimator.Quantities]int) { y[at[estimator.Current]] = rigs[1-k].p.i }
				rigs[k].start(t)
			}
			ms := 0
			for ; ms < 5000 && rigs[0].row.Mode.Energised() && rigs[1].row.Mode.Energised(); ms += 2 {
				rigs[0].step()
				rigs[1].step()
			}
			within := map[plant.DriveKind]int{plant.VoltageDrive: 2500, plant.CurrentDrive: 700, plant.EffortDrive: 700}[drive]
			named := rigs[0].row.Cause == CauseDisagree || rigs[1].row.Cause == CauseDisagree
			if within == 0 && ms < 5000 || within > 0 && (ms > within || !named) {
				t.Errorf("%v, %+g: after %d ms %s | %s", drive, side, ms, rigs[0].row.CauseText(&rigs[0].ctl.schema),
					rigs[1].row.CauseText(&rigs[1].ctl.schema))
			}
		}
	}
}
