package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/hil"
	"hilrig/hil/protocol"
	"hilrig/hil/wire"
)

// Load reads, decodes and checks a rig file. The error is *Errors and holds every problem, or says why the file could not
// be read. Relative paths inside (reference.file, mqtt.ca) come back joined to the folder of the file.
func Load(path string) (*Config, error) {
	c, _, err := Check(path)
	return c, err
}

// Check is Load that also returns the warnings: legal settings worth a thought.
func Check(path string) (c *Config, warnings []schema.Problem, err error) {
	return fromFile(path, CheckBytes)
}

// LoadBytes decodes and checks a rig file that is already in memory; name appears in messages, and its folder is where
// relative paths start.
func LoadBytes(name string, data []byte) (*Config, error) {
	c, _, err := CheckBytes(name, data)
	return c, err
}

// CheckBytes is LoadBytes that also returns the warnings.
func CheckBytes(name string, data []byte) (c *Config, warnings []schema.Problem, err error) {
	c = Default()
	return load(name, data, c, func(r *schema.Report) {
		c.fillDefaults(r, filepath.Dir(name))
		c.Check(r)
	})
}

// load reads a file of any kind over its defaults in c, then lets check look at the values; nil where something is wrong.
func load[T any](name string, data []byte, c *T, check func(r *schema.Report)) (*T, []schema.Problem, error) {
	warnings, err := schema.Load(name, data, c, check)
	if err != nil {
		return nil, warnings, err
	}
	return c, warnings, nil
}

// fromFile gives the contents of a file to what reads them.
func fromFile[T any](path string, read func(name string, data []byte) (*T, []schema.Problem, error)) (*T, []schema.Problem, error) {
	data, err := schema.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	return read(path, data)
}

// joinPaths makes relative paths start at the folder dir; an empty one stays.
func joinPaths(dir string, paths ...*string) {
	for _, p := range paths {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(dir, *p)
		}
	}
}

// Validate checks a configuration that was changed after loading (flags); there are no places in a file to point at.
func (c *Config) Validate() (problems, warnings []schema.Problem) {
	r := schema.NewReport(nil)
	c.Check(r)
	return r.Problems(), r.Warnings()
}

// Marshal writes the configuration in force as YAML: every key, numbers in SI with the unit as a comment. Loading it
// gives the same Config. Passwords are in it; see Redacted.
func (c *Config) Marshal() ([]byte, error) { return schema.Marshal(c) }

// Redacted is a copy whose passwords read "redacted": for recordings, bug reports and the screen.
func (c *Config) Redacted() *Config {
	out := *c // no secret lies behind a pointer or in a slice; a test walks the tags
	schema.Redact(&out)
	return &out
}

// Hash is the hex SHA-256 of the redacted configuration as Marshal writes it.
func (c *Config) Hash() string {
	text, err := c.Redacted().Marshal()
	if err != nil {
		panic("configs: " + err.Error()) // a Config always marshals; a test does it
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// path is where the device stands in the file.
func (d Device) path() string { return "devices." + d.Name }

// path is where the axis stands in the file.
func (a Axis) path() string { return "axes." + a.Name }

// path is where the model stands in the file.
func (m Model) path() string { return "models." + m.Name }

// section is that of the device's protocol, with its defaults where the file has none.
func (d *Device) section() protocol.Section { return d.Protocol.Kind().Section(&d.Sections) }

// Protocol is the section of a device's protocol, and what the file says beside it.
func (c *Config) Protocol(d *Device) (protocol.Section, *protocol.Table) {
	t := &protocol.Table{Baud: d.Baud, Rate: c.DeviceRate(d), Loop: c.Loop.Rate}
	t.Measure, t.Command = d.fields(false), d.fields(true)
	t.Safe = listOf(d.Command, func(m Command) float64 { return m.Safe })
	return d.section(), t
}

// fields are the measurements of the device, or its commands.
func (d *Device) fields(command bool) []wire.Field {
	if command {
		return listOf(d.Command, func(m Command) wire.Field { return m.Field })
	}
	return listOf(d.Measure, func(m Measure) wire.Field { return m.Field })
}

// Plan is how to speak with a device.
func (c *Config) Plan(d *Device) (*protocol.Plan, error) {
	s, t := c.Protocol(d)
	return s.Plan(t)
}

// Clocked tells whether samples carry the time of the device.
func (c *Config) Clocked(d *Device) bool {
	p, err := c.Plan(d)
	return err == nil && p.Clocked
}

// use is what a file makes of a signal of a device.
type use struct {
	role   hil.ChannelRole
	axis   *Axis // that names it; nil: none
	enable bool  // it switches the drive of the axis on
}

// use of a measurement or a command: what an axis or its device names it for, else what its unit tells.
func (c *Config) use(d *Device, f wire.Field, command bool) use {
	name := d.Name + "." + f.Name
	for i := range c.Axes {
		a := &c.Axes[i]
		keys := []struct {
			signal string
			role   hil.ChannelRole
		}{{a.Position, hil.RolePosition}, {a.Velocity, hil.RoleVelocity}, {a.Current, hil.RoleCurrent}, {a.Effort, hil.RoleEffort},
			{a.Drive.Applied, hil.RoleVoltage}}
		if command {
			keys = keys[:0]
			switch name {
			case a.Drive.Command:
				return use{role: hil.RoleCommand, axis: a}
			case a.Drive.Enable:
				return use{axis: a, enable: true}
			}
		}
		for _, k := range keys {
			if k.signal == name {
				return use{role: k.role, axis: a}
			}
		}
	}
	switch {
	case command:
		return use{}
	case d.Status == f.Name && d.Status != "":
		return use{role: hil.RoleStatus}
	}
	return use{role: roleOfUnit[f.Unit]}
}

// roleOfUnit is what a measurement that no axis names is taken for.
var roleOfUnit = map[string]hil.ChannelRole{
	"rad": hil.RolePosition, "m": hil.RolePosition, "rad/s": hil.RoleVelocity, "m/s": hil.RoleVelocity, "rad/s²": hil.RoleAcceleration,
	"m/s²": hil.RoleAcceleration,
	"N·m":  hil.RoleEffort, "N": hil.RoleEffort, "A": hil.RoleCurrent, "V": hil.RoleVoltage, "degC": hil.RoleTemperature,
	"K": hil.RoleTemperature,
}

// measurement is the one of that name; nil: there is none.
func (c *Config) measurement(name string) *Measure {
	if dev, at := c.Find(name, false); dev >= 0 {
		return &c.Devices[dev].Measure[at]
	}
	return nil
}

// StatusAt is the index of the status word of a device among its measurements; −1: none.
func (d *Device) StatusAt() int {
	return slices.IndexFunc(d.Measure, func(m Measure) bool { return m.Name == d.Status && d.Status != "" })
}

// Driving is the index of the command that drives an axis, and of the one that switches its drive on; −1: none.
func (c *Config) Driving(d *Device, a *Axis) (drive, enable int) {
	drive = slices.IndexFunc(d.Command, func(m Command) bool { u := c.use(d, m.Field, true); return u.axis == a && !u.enable })
	enable = slices.IndexFunc(d.Command, func(m Command) bool { u := c.use(d, m.Field, true); return u.axis == a && u.enable })
	return drive, enable
}

// MeasuredChannels are the channels of a device's measurements, without its age.
func (c *Config) MeasuredChannels(d *Device) []hil.Channel {
	return listOf(d.Measure, func(m Measure) hil.Channel { return c.channel(d, m.Field, false, m.Range) })
}

// CommandedChannels are the channels of a device's commands.
func (c *Config) CommandedChannels(d *Device) []hil.Channel {
	return listOf(d.Command, func(m Command) hil.Channel { return c.channel(d, m.Field, true, m.Limit) })
}

func (c *Config) channel(d *Device, f wire.Field, command bool, limits [2]float64) hil.Channel {
	ch := hil.Of(d.Name, engine.Signal{Name: f.Name, Unit: f.Unit})[0]
	u := c.use(d, f, command)
	ch.Role, ch.Range = u.role, limits
	if u.axis != nil {
		ch.Axis = u.axis.Name
	}
	return ch
}

// Owners are the devices, axes and models of the rig.
func (c *Config) Owners() []hil.Owner {
	return slices.Concat(listOf(c.Devices, func(d Device) hil.Owner { return hil.Owner{Name: d.Name, Kind: hil.DeviceOwner, Title: d.Port} }),
		listOf(c.Axes, func(a Axis) hil.Owner { return hil.Owner{Name: a.Name, Kind: hil.AxisOwner, Title: a.Kind} }),
		listOf(c.Models, func(m Model) hil.Owner {
			return hil.Owner{Name: m.Name, Kind: hil.ModelOwner, Title: m.Kind.Kind().Title}
		}))
}

// Pacer is the device whose frames make the ticks; −1: the wall clock does.
func (c *Config) Pacer() int {
	return slices.IndexFunc(c.Devices, func(d Device) bool { return d.Name == c.Loop.Clock })
}

// Find is the place of a signal of a device: the number of the device, and the index among its measurements or commands; −1, −1: there is
// none.
func (c *Config) Find(name string, command bool) (dev, at int) {
	for k := range c.Devices {
		d := &c.Devices[k]
		if i := slices.IndexFunc(d.fields(command), func(f wire.Field) bool { return d.Name+"."+f.Name == name }); i >= 0 {
			return k, i
		}
	}
	return -1, -1
}

// EveryTick tells whether a device samples in every tick of the loop: then the voltage is held from sample to sample.
func (c *Config) EveryTick(d *Device) bool { return c.DeviceRate(d) > c.Loop.Rate/1.5 }
