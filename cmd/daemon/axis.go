package daemon

import (
	"math"
	"slices"

	"hilrig/configs"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
	"hilrig/hil"
	"hilrig/hil/axis"
	"hilrig/hil/wire"
)

// positionCount is one count of a position, in its unit. The scale of a float or a text need not be one: of an angle in radians it is 1.
// What it can be is bounded by the noise that is declared.
func positionCount(m *configs.Measure, noise float64) float64 {
	count := math.Abs(m.Scale)
	if noise > 0 && (m.Type == wire.F32 || m.Type == wire.F64 || m.Type == wire.Text) {
		count = min(count, math.Sqrt(12)*noise)
	}
	return count
}

// axisSpec is a configured axis among the signals of spec; every (s) is from sample to sample, of each measured signal.
func axisSpec(cfg *configs.Config, a *configs.Axis, spec *hil.ControllerSpec, every []float64) (hil.AxisSpec, error) {
	in := func(channels []hil.Channel, name string) int {
		return slices.IndexFunc(channels, func(c hil.Channel) bool { return c.Name == name && name != "" })
	}
	out := hil.AxisSpec{Name: a.Name, Delay: a.Estimator.Delay, Command: in(spec.Cmd, a.Drive.Command), Limits: a.Guard,
		Measured: [estimator.Quantities]int{estimator.Position: in(spec.Meas, a.Position), estimator.Velocity: in(spec.Meas, a.Velocity),
			estimator.Current: in(spec.Meas, a.Current), estimator.Effort: in(spec.Meas, a.Effort),
			estimator.Voltage: in(spec.Meas, a.Drive.Applied)}}
	motion := a.Reference.Spec
	motion.Fade = 0 // begins with RUN, from where the axis is then
	gen, err := reference.New(motion)
	if err != nil {
		return out, err
	}
	dev, at := cfg.Find(a.Position, false)
	e, motor := &a.Estimator, a.MotorModel()
	count := positionCount(&cfg.Devices[dev].Measure[at], e.PositionNoise)
	out.Spec = axis.Spec{
		Linear: a.Linear(), Drive: a.Drive.Kind, SamplePeriod: every[out.Measured[estimator.Position]], Motor: motor, Law: a.Friction.Model,
		Ref: gen, RefKind: a.Reference.Quantity, Fade: a.Reference.Fade, PID: a.Control.PID, Gain: a.Control.Gain, Comp: compSpec(cfg, a, count),
	}
	if out.Command >= 0 {
		limit := spec.Guard.Cmd[out.Command]
		out.TopCommand = max(limit.Hi, -limit.Lo)
	}
	if a.Control.Kind == "pd" {
		out.PID.Ki = 0
	}
	told := measuredQuantities(a)
	if out.Drive == plant.VoltageDrive {
		out.Kalman = estimator.KalmanSpec{Motor: motor, Count: count, PositionNoise: e.PositionNoise, CurrentNoise: e.CurrentNoise,
			VelocityNoise: e.VelocityNoise,
			VelocityShare: e.VelocityShare, TorqueWalk: e.EffortWalk, VoltageNoise: e.VoltageNoise, TopSpeed: a.Guard.MaxSpeed}
		if a.Current == "" {
			out.Kalman.CurrentNoise = 1 // A  any number: no current comes
		}
	} else {
		out.Mechanical = estimator.MechanicalSpec{Inertia: a.Inertia, Count: count, PositionNoise: e.PositionNoise,
			VelocityNoise: e.VelocityNoise, VelocityShare: e.VelocityShare,
			EffortNoise: e.EffortNoise, Walk: e.EffortWalk, TopSpeed: a.Guard.MaxSpeed}
		if a.Inertia == 0 {
			out.Mechanical.Walk = e.AccelWalk
		}
		if slices.Contains(told, estimator.Current) && e.EffortNoise == 0 {
			out.Mechanical.EffortNoise = motor.K * e.CurrentNoise
		}
	}
	out.Sampling.Groups = groups(&out, told, spec.Ages, every)
	if r := e.RLS; r.Enabled && (slices.Contains(told, estimator.Current) || slices.Contains(told, estimator.Effort)) {
		out.Sampling.RLS = &estimator.RLSSpec{Dt: out.SamplePeriod, K: motor.K, Window: r.Window, MinVel: r.MinVel, Memory: r.Memory,
			Count: count}
		asked := cfg.Devices[dev].Protocol.Kind().Asks // its commands wait for the line
		// it may take a command as it comes, or the newest at any phase of its sampling period
		if tick := 1 / cfg.Loop.Rate; out.SamplePeriod > rarely*tick || asked {
			out.Sampling.FreeTiming = true
		}
	}
	return out, nil
}

// rarely is the number of ticks from sample to sample beyond which it is not known when a device takes commands.
const rarely = 1.5

// measuredQuantities are the measured quantities that say something to the filter of an axis.
func measuredQuantities(a *configs.Axis) []estimator.Quantity {
	out := []estimator.Quantity{estimator.Position}
	add := func(q estimator.Quantity, measured string, ok bool) {
		if measured != "" && ok {
			out = append(out, q)
		}
	}
	voltage := a.Drive.Kind == plant.VoltageDrive
	add(estimator.Current, a.Current, voltage || a.Inertia > 0 && a.Drive.K > 0 && a.Effort == "")
	add(estimator.Velocity, a.Velocity, true)
	add(estimator.Effort, a.Effort, !voltage && a.Inertia > 0)
	add(estimator.Voltage, a.Drive.Applied, voltage)
	return out
}

// groups are the samples of these quantities that come at the same time: those of one age.
func groups(a *hil.AxisSpec, told []estimator.Quantity, ages []int, every []float64) (out []estimator.Group) {
	of := map[int]int{} // by the signal of the age
	for _, q := range told {
		at := a.Measured[q]
		g, ok := of[ages[at]]
		if !ok {
			g, of[ages[at]] = len(out), len(out)
			out = append(out, estimator.Group{SamplePeriod: every[at]})
		}
		out[g].Quantities = append(out[g].Quantities, q)
	}
	return out
}

// compSpec is the configured compensation; count is the resolution of the position in rad.
func compSpec(cfg *configs.Config, a *configs.Axis, count float64) axis.CompSpec {
	s := a.Compensation
	if s.Resolution == 0 {
		s.Resolution = count
	}
	if s.Slew == 0 { // from limit to limit within five ticks
		top := s.Limit
		if top == 0 && a.Friction.Model != nil {
			top = 1.2 * friction.Ceiling(a.Friction.Model)
		}
		s.Slew = 2 * top * cfg.Loop.Rate / 5
	}
	return s
}
