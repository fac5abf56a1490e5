package configs

import (
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/engine/plant/ball"
	"hilrig/engine/plant/brush"
	"hilrig/hil"
)

// What a virtual rig is built from.

// Truth is the description of an axis of the plant, everything in SI; the zero value: there is none of that name.
func (c *Config) Truth(axis string) plant.AxisSpec {
	p := &c.Virtual.Plant
	i := slices.IndexFunc(p.Axes, func(a VirtualAxis) bool { return a.Name == axis })
	if i < 0 {
		return plant.AxisSpec{}
	}
	a := &p.Axes[i]
	kind := plant.DriveKind(slices.Index(a.Drive.Kind.Words(), string(a.Drive.Kind)))
	s := plant.AxisSpec{
		Name: a.Name, Linear: p.linear(), LoadJ: a.LoadJ, Cogging: a.Cogging, CoggingN: a.CoggingN, Gravity: a.Gravity, Stops: a.Stops,
		LoadTorque: a.Load,
		Supply:     p.Supply, Freewheel: p.Supply[1], Thermal: a.Thermal,
		Drive: plant.Drive{Kind: kind, Bandwidth: 2 * math.Pi * a.Drive.Bandwidth, Kp: a.Drive.Kp, Ki: a.Drive.Ki},
	}
	s.Friction = a.Friction.Model
	if a.Motor != nil {
		s.Motor = *a.Motor
	}
	if kind != plant.VoltageDrive {
		s.Motor.K, s.Motor.J = a.K, a.Inertia
		s.Drive.Limit, _ = a.Drive.Limit.inUnit(c.limitUnit(a))
		if m := c.ModelOf(a.Name); a.Drive.Limit == "" && m != nil && m.Drive.Kind.String() == string(a.Drive.Kind) && kind.Forces() {
			lim := c.limitOf(m)
			s.Drive.Limit = math.Max(-lim[0], lim[1])
		}
	}
	return s
}

// limitUnit is the unit of the limit of a drive.
func (c *Config) limitUnit(a *VirtualAxis) string {
	if a.Drive.Kind.is(plant.CurrentDrive) {
		return "A"
	}
	return engine.UnitOn(!c.Virtual.Plant.linear(), "N")
}

// Outputs are the numbers of the plant that a sensor may measure, without those of brushes.
func (v *Virtual) outputs(c *Config) (out []engine.Signal) {
	if v.Plant.Kind == ballPlant {
		return v.ballOutputs()
	}
	if v.Plant.Kind == machinePlant {
		if out := c.linkageOutputs(); out != nil {
			return out
		}
	}
	for _, a := range v.Plant.Axes {
		s := c.Truth(a.Name)
		out = append(out, s.Outputs()...)
	}
	return out
}

// settings are the numbers of the plant that a script may change.
func (v *Virtual) settings() []engine.Signal {
	if v.Plant.Kind == ballPlant {
		return nil
	}
	return plant.Settings(v.Plant.linear(), listOf(v.Plant.Axes, func(a VirtualAxis) string { return a.Name })...)
}

// outputOf is the output of the plant that a role of a signal asks for; −1: none.
var outputOf = map[hil.ChannelRole]int{hil.RolePosition: plant.OutPosition, hil.RoleVelocity: plant.OutVelocity,
	hil.RoleCurrent: plant.OutCurrent,
	hil.RoleEffort:  plant.OutEffort, hil.RoleVoltage: plant.OutApplied, hil.RoleTemperature: plant.OutTemperature}

// Readings are the sensors of the virtual rig, in the order of the frames. They belong to a file without problems.
func (c *Config) Readings() (out []plant.Reading) {
	c.eachReading(func(_ *Device, _ Measure, r plant.Reading, _ *VirtualSensor) { out = append(out, r) })
	return out
}

// eachReading calls do for each measurement of the file with what measures it; Output is −1 where that is nothing of the plant.
func (c *Config) eachReading(do func(d *Device, m Measure, r plant.Reading, s *VirtualSensor)) {
	v := c.Virtual
	outputs := v.outputs(c)
	for i := range c.Devices {
		d := &c.Devices[i]
		for _, m := range d.Measure {
			r := plant.Reading{Output: -1}
			u := c.use(d, m.Field, false)
			if v.Plant.Kind == ballPlant {
				r.Output, _ = v.ballOutput(d, m)
			} else if k, known := outputOf[u.role]; known {
				axis := -1
				switch {
				case u.axis != nil:
					axis = slices.IndexFunc(v.Plant.Axes, func(a VirtualAxis) bool { return a.Name == u.axis.Name })
				case u.role == hil.RoleTemperature: // nobody says of what: of the first
					axis = 0
				}
				if axis >= 0 && axis < len(v.Plant.Axes) {
					r.Output = axis*plant.Outputs + k
				}
			}
			var s *VirtualSensor
			if k := slices.IndexFunc(v.Sensors, func(s VirtualSensor) bool { return s.Name == d.Name+"."+m.Name }); k >= 0 {
				s = &v.Sensors[k]
				if s.Quantity != "" {
					r.Output = slices.IndexFunc(outputs, func(o engine.Signal) bool { return o.Name == s.Quantity })
				}
				r.Noise, _ = s.Noise.difference(m.Unit)
				r.Offset, _ = s.Offset.difference(m.Unit)
				r.Count, _ = s.Step.difference(m.Unit)
				if s.Counts > 0 {
					r.Count = 2 * math.Pi / float64(s.Counts)
				}
			}
			do(d, m, r, s)
		}
	}
}

// CurrentOffset is that of the sensor of the current of an axis (A).
func (c *Config) CurrentOffset(axis string) (offset float64) {
	c.eachReading(func(d *Device, m Measure, r plant.Reading, _ *VirtualSensor) {
		if u := c.use(d, m.Field, false); u.role == hil.RoleCurrent && u.axis != nil && u.axis.Name == axis {
			offset = r.Offset
		}
	})
	return offset
}

// Events are those of the script. They belong to a file without problems.
func (c *Config) Events() (out []plant.Event) {
	settings := c.Virtual.settings()
	measured, units := c.measurements()
	for _, e := range c.Virtual.Script {
		ev := plant.Event{StartTime: e.Time, Duration: e.For, Setting: -1, Fault: e.Fault}
		if e.Sensor != "" {
			ev.Sensor = slices.Index(measured, e.Sensor)
			ev.To, _ = e.Amount.difference(byUnit(e.Fault, units[ev.Sensor]))
		} else {
			ev.Setting = slices.IndexFunc(settings, func(s engine.Signal) bool { return s.Name == e.Set })
			ev.To, _ = e.To.inUnit(settings[ev.Setting].Unit)
		}
		out = append(out, ev)
	}
	return out
}

// byUnit is the unit of the amount of a fault of a sensor.
func byUnit(f plant.Fault, unit string) string {
	if f == plant.Delayed {
		return "s"
	}
	return unit
}

// BrushFriction is the Coulomb friction of the simulated brushes (N·m), beside that of the bearings; 0 without them.
func (c *Config) BrushFriction() float64 {
	if v := c.Virtual; v != nil && v.Plant.Kind == brushPlant {
		return 2 * v.Plant.Brush.Parameters.MeanTorque()
	}
	return 0
}

// Machine is the plant of the virtual rig, and how many steps it makes in a tick.
func (c *Config) Machine() (plant.Machine, int, error) {
	v := c.Virtual
	p := &v.Plant
	switch p.Kind {
	case brushPlant:
		return c.brushMachine()
	case ballPlant:
		m, err := ball.NewMachine(v.ballSpec())
		return m, 1, err
	case machinePlant:
		m, err := c.linkage()
		return m, max(1, int(v.InnerRate/c.PlantRate()+0.5)), err
	}
	s := plant.Spec{Kind: string(p.Kind)}
	s.Axes = listOf(p.Axes, func(a VirtualAxis) plant.AxisSpec { return c.Truth(a.Name) })
	if p.TwoLink != nil {
		s.TwoLink = p.TwoLink.TwoLink
	}
	m, err := plant.New(s)
	return m, max(1, int(v.InnerRate/c.PlantRate()+0.5)), err
}

// brushMachine is a motor with simulated brushes. It cuts its steps by itself.
func (c *Config) brushMachine() (plant.Machine, int, error) {
	const longest = 1e-3 // s  of a step: torque and current of the rows are means over it
	b, a := c.Virtual.Plant.Brush, c.Truth(c.Virtual.Plant.Axes[0].Name)
	period := 1 / c.PlantRate()
	inner := int(math.Ceil(period / longest * (1 - 1e-9)))
	m, err := brush.NewMachine(brush.MachineSpec{
		Name: a.Name, Params: b.Parameters.Of(a.Motor), SubStep: b.Step, MaxSubSteps: int(math.Ceil(period / float64(inner) / b.Step)),
		Pair: b.Pair, AlwaysAveraged: b.AveragedContact, Bearing: a.Friction, LoadJ: a.LoadJ, LoadTorque: a.LoadTorque, Supply: a.Supply,
		Freewheel: a.Freewheel,
		Thermal:   plant.Thermal{Resistance: a.Thermal.Resistance, Capacity: a.Thermal.Capacity, Ambient: a.Thermal.Ambient},
	})
	return m, inner, err
}
