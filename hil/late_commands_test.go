package hil

import (
	"math"
	"slices"
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// Commands that reach a drive of currents or efforts 30 to 80 ms late make a stiff controller swing: found within 0.25 s and 3 rad,
// before it reaches its limits. From where the swing fits them, the cause is the delay.
func TestLateCommands(t *testing.T) {
	named := 0
	for _, drive := range []plant.DriveKind{plant.CurrentDrive, plant.EffortDrive} {
		for _, late := range []int{10, 30, 50, 80} {
			for _, side := range []float64{1, -1} {
				p := rotaryShop(drive)
				s := newShop(t, p, shopOptions{limits: AxisLimits{MaxSpeed: 100, MaxError: 10}, ref: sineOf(3, 0.5)(3 * side)})
				s.start(t)
				s.seconds(t, 1.6)
				s.lateCommands = slices.Repeat([]float64{s.u[0]}, late)
				from, way, n := p.x, 0.0, 0
				for ; s.row.Mode.Energised() && n < 1000; n++ {
					s.step()
					way = max(way, math.Abs(p.x-from))
				}
				t.Logf("%v %d ms late %+g: %d ms %.3g rad %.60s", drive, late, side, n, way, s.row.CauseText(&s.ctl.schema))
				if c := s.row.Cause; late == 10 {
					if n < 1000 {
						t.Errorf("%v, 10 ms late, %+g: %s", drive, side, s.row.CauseText(&s.ctl.schema))
					}
				} else if c == CauseDelay {
					named++
				} else if c != CauseFrozen && c != CauseDisagree && c != CauseDirection {
					t.Errorf("%v, %d ms late, %+g: %s", drive, late, side, s.row.CauseText(&s.ctl.schema))
				}
				if late > 10 && (n > 250 || way > 3) {
					t.Errorf("%v, %d ms late, %+g: after %d ms and %.3g rad", drive, late, side, n, way)
				}
			}
		}
	}
	if named < 8 {
		t.Errorf("the delay is named %d times of 12", named)
	}
}

// Readings that all come so many ms late, below what makes them stale, and tell no age: a rig runs with them, or is told that it is the
// delay. So it is where the voltage is told that the drive applied, as late as the rest, and where the loop swings so fast that the
// inductance of the winding takes part of the voltage.
func TestConstantDelay(t *testing.T) {
	ran, named := 0, 0
	for _, kind := range []struct {
		drive    plant.DriveKind
		measured []estimator.Quantity
		inertias []float64 // of the file's
	}{
		{plant.VoltageDrive, []estimator.Quantity{estimator.Current, estimator.Voltage}, []float64{0.45, 0.6, 1}},
		{plant.VoltageDrive, []estimator.Quantity{estimator.Current}, []float64{0.6, 1}},
		{plant.VoltageDrive, []estimator.Quantity{estimator.Voltage}, []float64{0.6, 1}},
		{plant.VoltageDrive, nil, []float64{0.6, 1}},
		{plant.CurrentDrive, []estimator.Quantity{estimator.Current}, []float64{0.6, 1}},
		{plant.EffortDrive, nil, []float64{0.6, 1}},
		{plant.VelocityDrive, nil, []float64{0.6, 1}},
	} {
		for _, inertia := range kind.inertias {
			for _, late := range []int{8, 14, 17, 19} {
				for _, side := range []float64{1, -1} {
					p := rotaryShop(kind.drive) // a motor of 24 V and 0.3 N·m/A on a linkage
					p.j, p.fc, p.fs, p.vs, p.fv, p.stiffness = 5e-3, 50e-3, 70e-3, 0.2, 2e-3, 60
					p.r, p.l, p.k, p.drop, p.top, p.kp, p.ki = 2, 5e-3, 0.3, 0, 3, 0.5, 10
					top := map[plant.DriveKind]float64{plant.VoltageDrive: 24, plant.CurrentDrive: 10, plant.EffortDrive: 3,
						plant.VelocityDrive: 40}[kind.drive]
					s := newShop(t, p, shopOptions{measured: kind.measured, top: top, late: late, limits: AxisLimits{MaxSpeed: 60, MaxError: 3},
						pid: &control.PID{Kp: 5, Ki: 10, Kd: 0.25, Limit: 3}, ref: sineOf(2.5, 0.35)(3 * side)})
					s.ctl.guard.s.Meas[0].Stale = 0.05
					p.j *= inertia
					s.start(t)
					n := 0
					for ; s.row.Mode.Energised() && n < 3000; n++ {
						s.step()
					}
					switch {
					case n == 3000:
						ran++
					case s.row.Cause == CauseDelay:
						named++
					default:
						t.Errorf("%v, measured %v, J×%g, %d ms late, %+g: after %d ms %s", kind.drive, kind.measured, inertia, late, side, n,
							s.row.CauseText(&s.ctl.schema))
					}
				}
			}
		}
	}
	t.Logf("%d run, %d name the delay", ran, named)
	if ran < 80 || named == 0 {
		t.Errorf("%d run, %d name the delay", ran, named)
	}
}

// Commands 80 ms late, a sine of 3 rad and 0.5 Hz, 500 samples a second: as long as the effort stays below what friction may take (2·Fs
// and 1 % of the largest), a command of before moves the axis as well as that of now, and nothing can tell. From the first moment above
// it, or sooner, the loop that swings is found within 0.1 s, on every drive of efforts, both ways, from four moments of the motion.
func TestLateCommandsFromWhereTheyShow(t *testing.T) {
	for _, kind := range shopKinds[:4] {
		for _, side := range []float64{1, -1} {
			for _, moment := range []int{240, 300, 450, 560} { // ticks
				p := kind.p()
				s := newShop(t, p, shopOptions{measured: kind.measured, tick: 2, fade: 0.3, limits: AxisLimits{MaxSpeed: 100, MaxError: 10},
					pid: &control.PID{Kp: 0.1, Kd: 0.004, Limit: 0.4}, ref: sineOf(3, 0.5)(3 * side)})
				s.start(t)
				for range moment {
					s.step()
				}
				s.lateCommands = slices.Repeat([]float64{s.u[0]}, 40)
				n, shows := 0, -1
				for ; s.row.Mode.Energised() && n < 1000; n += 2 {
					if s.step(); shows < 0 && math.Abs(p.effort) > 2.2*p.fs {
						shows = n
					}
				}
				if shows < 0 {
					shows = n
				}
				t.Logf("%-17s %+g, tick %d: shows after %d ms, found after %d ms: %s", kind.name, side, moment, shows, n, s.row.Cause)
				if n-shows > 100 || n > 550 {
					t.Errorf("%s, %+g, tick %d: shows after %d ms, after %d ms %s", kind.name, side, moment, shows, n, s.row.CauseText(&s.ctl.schema))
				}
			}
		}
	}
}
