package axis

import (
	"math"
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// What a drive can do unseen, by hand: 0.06 N·m on 3.2e-3 kg·m² for 0.12 s at 50 samples a second, whatever makes the effort; 0.4 N·m on
// 7e-5 kg·m² goes 1000 counts within 31 ms at 1000 samples a second; a motor is no faster than its voltage makes it.
func TestUnwatched(t *testing.T) {
	counted := estimator.KalmanSpec{Count: 1e-4}
	for _, c := range []struct {
		name             string
		s                Spec
		time, way, speed float64
	}{
		{"effort, 50 Hz", Spec{Drive: plant.EffortDrive, Tick: 0.02, TopCommand: 0.06,
			Motor: plant.Motor{J: 3.2e-3}, Mechanical: estimator.MechanicalSpec{Count: 1e-3}}, 0.12, 0.135, 2.25},
		{"current, 50 Hz of 1 kHz", Spec{Drive: plant.CurrentDrive, Tick: 1e-3, SamplePeriod: 0.02, TopCommand: 4, PID: control.PID{Limit: 0.06},
			Motor: plant.Motor{J: 3.2e-3, K: 0.025}, Kalman: counted}, 0.12, 0.135, 2.25},
		{"voltage, 1 kHz", Spec{Drive: plant.VoltageDrive, Tick: 1e-3, TopCommand: 24, PID: control.PID{Limit: 0.4},
			Motor: plant.Motor{R: 1.2, K: 0.042, BrushDrop: 0.6, J: 7e-5}, Kalman: counted}, 0.031, 2.7457, 177.14},
		{"voltage, slow motor", Spec{Drive: plant.VoltageDrive, Tick: 1e-3, TopCommand: 2.4,
			Motor: plant.Motor{R: 1.2, K: 0.24, J: 7e-5}, Kalman: counted}, 0.031, 10*0.031 - 100*7e-5/0.48/2, 10},
		{"velocity", Spec{Drive: plant.VelocityDrive, Tick: 2e-3, TopCommand: 40}, 0.032, 1.28, 40},
		{"no inertia", Spec{Drive: plant.EffortDrive, Tick: 2e-3, TopCommand: 1}, 0, 0, 0},
		{"no drive", Spec{Tick: 2e-3,
			Motor: plant.Motor{J: 1}}, 0, 0, 0},
	} {
		time, way, speed := c.s.Unwatched()
		if math.Abs(time-c.time) > 1e-9 || math.Abs(way-c.way) > 1e-3*c.way || math.Abs(speed-c.speed) > 1e-3*c.speed {
			t.Errorf("%s: %g s, %g rad, %g rad/s; want %g, %g, %g", c.name, time, way, speed, c.time, c.way, c.speed)
		}
	}
}
