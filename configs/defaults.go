package configs

import (
	_ "embed"
	"fmt"
	"os"

	"hilrig/configs/schema"
	"hilrig/engine/reference"
	"hilrig/hil"
	"hilrig/hil/axis"
	"hilrig/hil/dashboard"
	"hilrig/hil/protocol"
	"hilrig/hil/sink"
	"hilrig/hil/wire"
)

//go:embed motor.yaml
var motorYAML []byte

// DemoYAML is the text of motor.yaml, the commented example that `hil run` uses without a file.
func DemoYAML() []byte { return append([]byte(nil), motorYAML...) }

// Demo is the virtual motor rig that `hil run` starts without a file.
func Demo() *Config {
	c, err := LoadBytes("motor.yaml", motorYAML)
	if err != nil {
		panic("configs: the embedded demo is bad: " + err.Error()) // a test loads it
	}
	return c
}

// Default is what a file starts from: how the program behaves where the file says nothing. Numbers of the rig itself
// (motor, friction, gains, limits, noise) have no default, since a wrong guess would drive real hardware.
func Default() *Config {
	return &Config{
		Version: 2,
		Loop: Loop{Rate: 1000, Clock: "wall", CPU: -1, Spin: 40e-6, Beat: 0.25,
			Overrun: Overrun{Max: 10, Limit: 0.05}},
		Guard:  hil.GuardLimits{HoldTime: 0.1, SelfTest: 0.5, Armed: 60},
		MQTT:   sink.MQTT{Enabled: true, Prefix: "hil", Listen: "localhost:1883", State: 20, Batch: 0.04, Estimate: 1, Commands: "stop"},
		Web:    dashboard.Web{Enabled: true, Listen: "localhost:8080"},
		Record: sink.Record{Enabled: true, Dir: "runs", Chunk: 0.5},
	}
}

// SetDefaults of a device.
func (d *Device) SetDefaults() {
	d.Baud, d.Required = 921600, true
	d.Line = wire.Format{Separator: "comma", Decimal: "point", Checksum: "none", TimeUnit: 1e-6, TimeBits: 32, LineEnd: "lf"}
}

// SetDefaults of an axis.
func (a *Axis) SetDefaults() {
	a.Kind = "rotary"
	a.Estimator = Estimator{VoltageNoise: 0.05, RLS: RLS{Memory: 20, Window: 0.2}}
	a.Reference.Spec = reference.Spec{Kind: "constant", Fade: 1}
	a.Control = Control{Kind: "pd"}
	a.Compensation = axis.CompSpec{Scale: 0.9, Ramp: 1, LeadTime: 2e-3, Order: 1, Rest: 0.05,
		Adapt: axis.Adapt{Time: 5, Range: [2]float64{0.5, 2}}}
	a.Guard.Thermal = 20
	a.Guard.MaxLimitCycle = 10
}

// SetDefaults of a measurement: one unit per count.
func (m *Measure) SetDefaults() { m.Scale = 1 }

// SetDefaults of a command: one unit per count.
func (c *Command) SetDefaults() { c.Scale = 1 }

// fillDefaults fills what follows from other keys, and joins relative paths to the folder of the file.
func (c *Config) fillDefaults(r *schema.Report, dir string) {
	for i := range c.Devices {
		c.completeDevice(r, &c.Devices[i], dir)
	}
	paths := []*string{&c.MQTT.CA}
	for i := range c.Axes {
		paths = append(paths, &c.Axes[i].Reference.File)
	}
	joinPaths(dir, paths...)
	c.completeModels(r, dir)
	c.completeVirtual(r, dir)
}

// readDefinitions reads the definition files of the wireless tools of a tracker.
func readDefinitions(r *schema.Report, d *Device, dir string) {
	for i := range d.NDI.Tools {
		t := &d.NDI.Tools[i]
		if joinPaths(dir, &t.ROM); t.ROM == "" {
			continue
		}
		data, err := os.ReadFile(t.ROM)
		if err != nil {
			path := fmt.Sprintf("%s.ndi.tools[%d].rom", d.path(), i)
			r.KeyErrorf(path, "%v: want the definition file of the tool (.rom) that its maker or NDI's program wrote", err)
		}
		t.Definition = data
	}
}

// completeDevice gives columns of text their type, measurements their watch, and the enable line its limits.
func (c *Config) completeDevice(r *schema.Report, d *Device, dir string) {
	d.section() // with its defaults, where the file has none
	if d.NDI != nil && d.Protocol == protocol.NDIChoice {
		readDefinitions(r, d, dir)
	}
	text := d.Protocol.Kind().Text
	for i := range d.Measure {
		m := &d.Measure[i]
		if m.Type == 0 && text {
			m.Type = wire.Text
		}
		if !r.HasKey(fmt.Sprintf("%s.measure[%d].stale", d.path(), i)) {
			m.Stale = c.staleOf(d, *m, c.use(d, m.Field, false))
		}
	}
	for i := range d.Command {
		cmd := &d.Command[i]
		if cmd.Type == 0 && text {
			cmd.Type = wire.Text
		}
		if c.use(d, cmd.Field, true).enable && cmd.Limit == [2]float64{} {
			cmd.Limit = [2]float64{0, 1}
		}
	}
}
