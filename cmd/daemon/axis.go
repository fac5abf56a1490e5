package daemon

import (
	"math"
	"slices"

	"hilrig/configs"
	"hilrig/engine/reference"
	"hilrig/estimator"
	"hilrig/hil"
	"hilrig/hil/axis"
)

// axisSpec is a configured axis among the signals of spec; every (s) is from sample to sample, of each measured signal.
func axisSpec(cfg *configs.Config, a *configs.Axis, spec *hil.ControllerSpec, every []float64) (hil.AxisSpec, error) {
	in := func(channels []hil.Channel, name string) int {
		return slices.IndexFunc(channels, func(c hil.Channel) bool { return c.Name == name && name != "" })
	}
	out := hil.AxisSpec{Name: a.Name, Delay: a.Estimator.Delay, Command: in(spec.Cmd, a.Drive.Command), Limits: a.Guard,
		Measured: [estimator.Quantities]int{estimator.Position: in(spec.Meas, a.Position), estimator.Current: in(spec.Meas, a.Current),
			estimator.Velocity: -1, estimator.Effort: -1, estimator.Voltage: in(spec.Meas, a.Drive.Applied)}}
	motion := a.Reference
	motion.Fade = 0 // begins with RUN, from where the axis is then
	gen, err := reference.New(motion)
	if err != nil {
		return out, err
	}
	position := out.Measured[estimator.Position]
	dev, at := cfg.Find(a.Position, false)
	count := math.Abs(cfg.Devices[dev].Measure[at].Scale)
	e := &a.Estimator
	limit := spec.Guard.Cmd[out.Command]
	out.Spec = axis.Spec{
		Every: every[position], Motor: a.Motor, Law: a.Friction.LuGre(), TopCommand: max(limit.Hi, -limit.Lo),
		Sampling: estimator.AxisSpec{Groups: groups(&out, spec.Ages, every)},
		Kalman: estimator.KalmanSpec{Motor: a.Motor, Count: count, PositionNoise: e.PositionNoise, CurrentNoise: e.CurrentNoise, TorqueWalk: e.TorqueWalk,
			VoltageNoise: e.VoltageNoise, TopSpeed: a.Guard.MaxSpeed},
		Ref: gen, Fade: a.Reference.Fade, PID: a.Control.PID, Comp: compSpec(cfg, a, count),
	}
	if a.Control.Kind == "pd" {
		out.PID.Ki = 0
	}
	if r := e.RLS; r.Enabled && out.Measured[estimator.Current] >= 0 {
		out.Sampling.RLS = &estimator.RLSSpec{Dt: out.Every, K: a.Motor.K, Window: r.Window, MinVel: r.MinVel, Memory: r.Memory, Count: count}
	}
	return out, nil
}

// groups are the samples of an axis that come at the same time: those of one age.
func groups(a *hil.AxisSpec, ages []int, every []float64) (out []estimator.Group) {
	of := map[int]int{} // by the signal of the age
	for _, q := range []estimator.Quantity{estimator.Position, estimator.Current, estimator.Velocity, estimator.Effort, estimator.Voltage} {
		at := a.Measured[q]
		if at < 0 {
			continue
		}
		g, ok := of[ages[at]]
		if !ok {
			g, of[ages[at]] = len(out), len(out)
			out = append(out, estimator.Group{Every: every[at]})
		}
		out[g].Of = append(out[g].Of, q)
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
		if top == 0 {
			top = 1.2 * max(a.Friction.Fs, a.Friction.Fc)
		}
		s.Slew = 2 * top * cfg.Loop.Rate / 5
	}
	return s
}
