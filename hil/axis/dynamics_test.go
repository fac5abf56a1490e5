package axis

import (
	"math"
	"testing"

	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// An axis pushed by a constant effort against a constant friction moves as x = (tau − F)/(2J)·t². What the filter makes of exact
// positions is told as acceleration and friction, whatever tells the effort; without an inertia only the acceleration is.
func TestDynamics(t *testing.T) {
	const (
		tau, friction, j, k = 0.03, 0.02, 7e-5, 0.05 // N·m, N·m, kg·m², N·m/A
		a                   = (tau - friction) / j
	)
	position := estimator.Group{SamplePeriod: 1e-3, Quantities: []estimator.Quantity{estimator.Position}}
	for _, c := range []struct {
		name     string
		drive    plant.DriveKind
		j        float64
		of       []estimator.Quantity
		command  float64
		friction float64
	}{
		{"effort that is measured", plant.EffortDrive, j, []estimator.Quantity{estimator.Effort}, 0, friction},
		{"current that is measured", plant.CurrentDrive, j, []estimator.Quantity{estimator.Current}, 0, friction},
		{"current that is commanded", plant.CurrentDrive, j, nil, tau / k, friction},
		{"effort that is commanded", plant.EffortDrive, j, nil, tau, friction},
		{"no drive", plant.NoDrive, 0, nil, 0, 0},
	} {
		s := motorSpec(t, reference.Spec{Kind: "constant"})
		s.Drive, s.Motor.J, s.Motor.K, s.Sampling.Groups = c.drive, c.j, k,
			[]estimator.Group{{SamplePeriod: position.SamplePeriod, Quantities: append(position.Quantities[:1:1], c.of...)}}
		s.TopCommand = 1
		s.Mechanical = estimator.MechanicalSpec{Inertia: c.j, PositionNoise: 1e-6, Walk: 100}
		if c.j > 0 {
			s.Mechanical.Walk = 0.05
		}
		b := newBed(t, s)
		in := estimator.Inputs{Command: c.command, DriveActive: true}
		for n := range 400 {
			now := 1e-3 * float64(n)
			in.Position = estimator.Sample{Value: a / 2 * now * now, Updated: true}
			in.Effort, in.Current = estimator.Sample{Value: tau, Updated: true}, estimator.Sample{Value: tau / k, Updated: true}
			b.Estimate(int64(n+1)*1e6, 0, &in, b.x)
		}
		acceleration, f := b.Dynamics(&in, b.x)
		if math.Abs(acceleration/a-1) > 0.02 || math.Abs(f-c.friction) > 0.02*friction {
			t.Errorf("%s: %g rad/s² and %g N·m, want %g and %g", c.name, acceleration, f, a, c.friction)
		}
	}
}

// Lag is how long the estimate of friction takes, on average, after a step of it: a mass at a steady speed meets a friction that jumps by
// 10 mN·m. The mean lag is the area between step and estimate.
func TestLag(t *testing.T) {
	const f, j, k, speed, jump = 10e-3, 7e-5, 0.042, 20.0, 200 // N·m, kg·m², N·m/A, rad/s, tick
	for _, c := range []struct {
		name  string
		drive plant.DriveKind
		noise float64 // rad
		walk  float64 // N·m/√s
		every int     // ticks from sample to sample
	}{
		{"motor with a voltage drive", plant.VoltageDrive, 1e-4, 0.1, 1},
		{"a noisier position", plant.VoltageDrive, 1e-3, 0.1, 1},
		{"a friction that changes more", plant.VoltageDrive, 1e-4, 1, 1},
		{"measured effort", plant.EffortDrive, 1e-4, 0.1, 1},
		{"a sample every fourth tick", plant.EffortDrive, 1e-4, 0.1, 4},
	} {
		s := motorSpec(t, reference.Spec{Kind: "constant"})
		s.Drive, s.SamplePeriod, s.Motor.BrushDrop = c.drive, 1e-3*float64(c.every), 0
		s.Kalman.Motor, s.Kalman.PositionNoise, s.Kalman.TorqueWalk = s.Motor, c.noise, c.walk
		s.Mechanical = estimator.MechanicalSpec{Inertia: j, PositionNoise: c.noise, Walk: c.walk}
		s.Sampling.Groups[0].SamplePeriod, s.TopCommand = s.SamplePeriod, 100
		if c.drive == plant.EffortDrive {
			s.Sampling.Groups[0].Quantities[1] = estimator.Effort
		} else {
			s.Sampling.Groups[0].Quantities = append(s.Sampling.Groups[0].Quantities, estimator.Voltage)
		}
		b := newBed(t, s)
		var est []float64 // after the jump
		x, v := 0.0, speed
		for n := range jump + 150 {
			in := estimator.Inputs{DriveActive: true, Command: 0.042 * v}
			fresh := n%c.every == 0
			in.Position, in.Current = estimator.Sample{Value: x, Updated: fresh}, estimator.Sample{Updated: fresh}
			in.Effort, in.Voltage = estimator.Sample{Updated: fresh}, estimator.Sample{Value: k * v, Updated: fresh}
			if !fresh {
				age := 1e-3 * float64(n%c.every)
				in.Position.Age, in.Current.Age, in.Effort.Age, in.Voltage.Age = age, age, age, age
			}
			b.Estimate(int64(n+1)*1e6, 0, &in, b.x)
			// the current is zero: the back-emf is all of the voltage
			a := 0.0
			if n >= jump {
				a = -f / j
				est = append(est, b.x[b.layout.friction])
			}
			x, v = x+1e-3*v+a/2*1e-6, v+1e-3*a
		}
		area, end := 0.0, est[len(est)-1]
		for _, e := range est {
			area += 1e-3 * (1 - e/end)
		}
		if math.Abs(end/f-1) > 0.05 {
			t.Errorf("%s: ends at %g N·m, want %g", c.name, end, f)
		}
		if got := b.Lag(); math.Abs(area-got) > 0.1*got+0.2e-3 {
			t.Errorf("%s: lags by %.3g ms, want %.3g", c.name, 1e3*area, 1e3*got)
		} else {
			t.Logf("%s: lags by %.3g ms, told %.3g", c.name, 1e3*area, 1e3*got)
		}
	}
}
