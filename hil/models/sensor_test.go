package models

import (
	"math"
	"testing"

	"hilrig/hil"
)

// Readings that are 30 ms old when they come, were 0.3 ms on the line, and are 12 ms later than their device says: the time comes from
// age and line, the shift from the model. Its error holds that no device says when it looked.
func TestSensorTakesTheAge(t *testing.T) {
	m, err := NewSensor(&SensorSpec{SensorKeys: SensorKeys{Memory: 60, Depth: 0.5}, Reading: 0, Age: 1, Dt: 1e-3, Unit: "rad", Wire: 3e-4,
		WireErr: 1e-4})
	if err != nil {
		t.Fatal(err)
	}
	angle := func(t float64) float64 { return 2*math.Sin(3*t) + 0.5*math.Sin(11*t) }
	speed := func(t float64) float64 { return 6*math.Cos(3*t) + 5.5*math.Cos(11*t) }
	meas, axes, y := make([]float64, 2), make([]hil.Motion, 1), make([]float64, nSensor)
	in := hil.ModelInput{Dt: 1e-3, Axes: axes, Meas: meas}
	k := 0
	step := func() {
		now := float64(k) * 1e-3
		in.T = int64(k) * 1e6
		axes[0].Position, axes[0].Velocity = angle(now), speed(now)
		in.FreshSignals = hil.Fresh{}
		if k%5 == 0 {
			meas[0], meas[1] = 0.25-1.5*angle(now-0.030-0.012-3e-4), 0.030 // 0.3 ms on the line
			hil.SetFresh(&in.FreshSignals, 0)
		}
		m.Step(&in, y)
		k++
	}
	step()
	if !math.IsNaN(y[sOffset]) || !math.IsNaN(y[sShiftSe]) {
		t.Errorf("before anything is known: %v", y)
	}
	if n := testing.AllocsPerRun(10000, step); n != 0 {
		t.Errorf("%g allocations", n)
	}
	for _, c := range []struct {
		at         int
		want, most float64
	}{{sOffset, 0.25, 1e-4}, {sShift, 0.012, 2e-5}, {sShiftSe, 1e-4, 1e-5}, {sGain, -1.5, 1e-4}, {sRestarts, 0, 0}} {
		if math.Abs(y[c.at]-c.want) > c.most {
			t.Errorf("%s = %g, want %g", m.Signals()[c.at].Name, y[c.at], c.want)
		}
	}
	if r := m.Roles(); r[sOffset] != hil.RoleParameter || r[sGainSe] != hil.RoleStdErr || len(r) != len(m.Signals()) {
		t.Error(r)
	}
}
