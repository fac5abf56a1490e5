package daemon

import (
	"math"
	"slices"

	"hilrig/configs"
	"hilrig/hil"
	"hilrig/hil/models"
)

// modelSpec is a configured model beside the rig with these measured channels.
func modelSpec(cfg *configs.Config, m *configs.Model, measured []hil.Channel) hil.ModelSpec {
	if m.Kind == models.BallChoice {
		s := &models.Spec{Ball: ballSpec(m.Ball, measured)}
		return hil.ModelSpec{Name: m.Name, Share: m.Share, Build: func() (hil.Model, error) { return m.Kind.Kind().Build(s) }}
	}
	if m.Kind == models.MachineChoice {
		return hil.ModelSpec{Name: m.Name, Share: m.Share, Build: func() (hil.Model, error) {
			chain, err := cfg.ChainModel(m)
			if err != nil {
				return nil, err
			}
			s := &models.Spec{Chain: chain}
			if chain == nil {
				s.Machine = cfg.MachineModel(m)
			}
			return m.Kind.Kind().Build(s)
		}}
	}
	at := slices.IndexFunc(cfg.Axes, func(a configs.Axis) bool { return a.Name == m.Axis })
	a := &cfg.Axes[at]
	s := &models.Spec{Axis: at, BrushKeys: m.BrushKeys, LawsKeys: m.LawsKeys, Laws: m.Rivals(), Resolution: cfg.Resolution(a),
		Effort: a.Unit("N·m")}
	if m.Kind == models.SensorChoice {
		s.Sensor = sensorSpec(cfg, m.Sensor, at, measured)
	}
	if m.Parameters != nil {
		s.Brush = m.Parameters.Of(a.MotorModel())
	}
	return hil.ModelSpec{Name: m.Name, Axis: m.Axis, Share: m.Share, Build: func() (hil.Model, error) { return m.Kind.Kind().Build(s) }}
}

// sensorSpec finds the reading of a second sensor of the axis among the measured channels.
func sensorSpec(cfg *configs.Config, b *configs.RigSensor, axis int, measured []hil.Channel) *models.SensorSpec {
	at := slices.IndexFunc(measured, func(c hil.Channel) bool { return c.Name == b.Reading })
	age := slices.IndexFunc(measured, func(c hil.Channel) bool { return c.Name == measured[at].Age })
	s := &models.SensorSpec{Axis: axis, SensorKeys: b.SensorKeys, Reading: at, Age: age, Dt: 1 / cfg.Loop.Rate, Unit: measured[at].Unit}
	for i, name := range []string{b.Reading, cfg.Axes[axis].Position} {
		at := slices.IndexFunc(cfg.Devices, func(d configs.Device) bool {
			return slices.ContainsFunc(cfg.MeasuredChannels(&d), func(c hil.Channel) bool { return c.Name == name })
		})
		if at < 0 {
			continue
		}
		known, most := cfg.Budget(&cfg.Devices[at]).Wire()
		if i == 1 {
			known = -known // the position is late by that itself
		}
		s.Wire += known
		s.WireErr = math.Hypot(s.WireErr, most/math.Sqrt(12)) // anywhere between nothing and all of it
	}
	return s
}

// ballSpec finds the signals of a ball among the measured channels.
func ballSpec(b *configs.RigBall, measured []hil.Channel) *models.BallSpec {
	s := &models.BallSpec{BallKeys: b.BallKeys}
	place := func(name string) int {
		return slices.IndexFunc(measured, func(c hil.Channel) bool { return c.Name == name })
	}
	for i, name := range b.Position {
		s.Position[i] = place(name)
	}
	for i, name := range b.Orientation {
		s.Orientation[i] = place(name)
	}
	s.Age = place(measured[s.Position[0]].Age)
	return s
}
