package configs

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
)

// demoVirtual is the demonstration with another virtual section.
func demoVirtual(t *testing.T, section string) []byte {
	t.Helper()
	text := string(DemoYAML())
	return []byte(text[:strings.Index(text, "\nvirtual:\n")] + "\nvirtual: " + section + "\n")
}

// What a plant does not say is as the model of its axis, what it says counts; and what is written is read back.
func TestVirtualFromModel(t *testing.T) {
	for _, c := range []struct {
		section string
		is      func(c *Config, a plant.AxisSpec) bool
	}{
		{"{}", func(c *Config, a plant.AxisSpec) bool {
			law := a.Friction.(*friction.LuGre)
			return c.Virtual.Plant.Kind == "motor" && a.Motor == *c.Axes[0].Motor && law.Fs == 0.021 && a.Supply == [2]float64{-24, 24} &&
				a.Drive.Kind == plant.VoltageDrive && !a.Linear
		}},
		{"{plant: {supply: [0 V, 12 V], axes: {shaft: {load_inertia: 1 kg·cm², load: 2 mN·m, friction: {law: karnopp, Fc: 10 mN·m, Fs: 12 " +
			"mN·m, Fv: 0}, start: 90 deg}}}}", func(c *Config, a plant.AxisSpec) bool {
			return a.Motor == *c.Axes[0].Motor && a.LoadJ == 1e-4 && a.LoadTorque == 2e-3 &&
				*a.Friction.(*friction.Karnopp) == friction.Karnopp{Fc: 0.01, Fs: 0.012} &&
				a.Supply == [2]float64{0, 12} && c.Virtual.Plant.Axes[0].Start == math.Pi/2
		}},
		{"{plant: {axes: {shaft: {drive: {kind: current, bandwidth: 1 kHz, limit: 3000 mA}}}}}", func(c *Config, a plant.AxisSpec) bool {
			bandwidth := a.Drive.Bandwidth
			a.Drive.Bandwidth = 0
			return a.Motor == plant.Motor{K: 0.042, J: 7e-5} && a.Drive == plant.Drive{Kind: plant.CurrentDrive, Limit: 3} &&
				math.Abs(bandwidth-2000*math.Pi) < 1e-9
		}},
		{"{plant: {axes: {shaft: {inertia: 2 kg·cm², K: 0, drive: {kind: velocity, kp: 0.1, ki: 2 N·m/rad, limit: 0.5 N·m}}}}}",
			func(c *Config, a plant.AxisSpec) bool {
				return a.Motor == plant.Motor{J: 2e-4} && a.Drive == plant.Drive{Kind: plant.VelocityDrive, Kp: 0.1, Ki: 2, Limit: 0.5}
			}},
		{"{plant: {kind: pendulum, axes: {shaft: {gravity: 0.3 N·m}}}}", func(c *Config, a plant.AxisSpec) bool { return a.Gravity == 0.3 }},
		{"{plant: {kind: two-link, axes: {elbow: {inertia: 1e-3, friction: {law: coulomb, Fc: 0.1 N·m}}}, two_link: {mass: [1, 0.5], length: " +
			"300 mm, centre: [15 cm, 0.1], inertia: [0.01, 40 kg·cm²]}}}", func(c *Config, a plant.AxisSpec) bool {
			l, b := c.Virtual.Plant.TwoLink.TwoLink, c.Truth("elbow")
			return l == plant.TwoLink{Mass: [2]float64{1, 0.5}, Length: 0.3, Centre: [2]float64{0.15, 0.1}, Inertia: [2]float64{0.01, 0.004},
				Gravity: 9.81} &&
				b.Drive.Kind == plant.NoDrive && b.Motor.J == 1e-3 && c.Virtual.Plant.Axes[0].Name == "elbow" && c.Virtual.Plant.Axes[1].Name == "shaft"
		}},
	} {
		cfg, err := LoadBytes("rig.yaml", demoVirtual(t, c.section))
		if err != nil {
			t.Errorf("%s: %v", c.section, err)
			continue
		}
		if a := cfg.Truth("shaft"); !c.is(cfg, a) {
			t.Errorf("%s: %+v", c.section, a)
		}
		if _, _, err := cfg.Machine(); err != nil {
			t.Errorf("%s: %v", c.section, err)
		}
		text, err := cfg.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		back, err := LoadBytes("back.yaml", text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.section, err, text)
		}
		if d := cmp.Diff(cfg, back, sameFriction); d != "" {
			t.Errorf("%s: %s", c.section, d)
		}
	}
}

// An axis whose model knows no friction has a plant without: it swings for ever, and what is written is read back.
func TestVirtualWithoutFriction(t *testing.T) {
	text := string(readFile(t, "pendulum-rig.yaml"))
	text = text[:strings.Index(text, "        friction: {")]
	c, err := LoadBytes("pendulum.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if a := c.Truth("rod"); a.Friction.SteadyForce(3) != 0 || a.Drive.Kind != plant.NoDrive || a.Gravity != 0.981 {
		t.Errorf("%+v", a)
	}
	written, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	back, err := LoadBytes("back.yaml", written)
	if err != nil {
		t.Fatalf("%v\n%s", err, written)
	}
	if d := cmp.Diff(c, back, sameFriction); d != "" {
		t.Error(d)
	}
}

// A stage speaks of m, N and kg in the axes of the plant too.
func TestVirtualStage(t *testing.T) {
	text := strings.NewReplacer("unit: rad\n", "unit: m\n", "N·m·s/rad", "N·s/m", "N·m/rad", "N/m", "N·m/A", "N/A", "kg·m²", "kg",
		"N·m", "N",
		"rad/s", "m/s", " mrad", " mm", " rad", " m").Replace(string(DemoYAML()))
	text = strings.Replace(text, "  shaft:\n    kind: rotary", "  shaft:\n    kind: linear", 1)
	text = text[:strings.Index(text, "\nvirtual:\n")] + `
virtual:
  plant:
    kind: stage
    axes:
      shaft:
        friction: {law: lugre, sigma0: 11 N/m, sigma1: 0, sigma2: 0, vd: 0, Fc: 15 mN, Fs: 21 mN, vs: 0.5 m/s}
        stops: {travel: ±50 mm, stiffness: 1e5 N/m, loss: 0.2 s/m}
        load: 1 mN
  sensors: {drive.motor.angle: {step: 1 µm}}
  script: [{at: 1 s, set: shaft.load, to: 2 mN}]
`
	cfg, err := LoadBytes("stage.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a := cfg.Truth("shaft")
	if cfg.Virtual.Plant.Kind != "stage" || !a.Linear || a.Stops != (plant.Stops{Travel: [2]float64{-0.05, 0.05}, Stiffness: 1e5,
		Loss: 0.2}) || a.LoadTorque != 1e-3 {
		t.Errorf("%+v", a)
	}
	if r := cfg.Readings()[0]; r != (plant.Reading{Output: plant.OutPosition, Count: 1e-6}) {
		t.Errorf("reading %+v", r)
	}
	m, _, err := cfg.Machine()
	if err != nil || m.Layout().Outputs[plant.OutEffort].Unit != "N" {
		t.Errorf("%v, %+v", err, m)
	}
}

// Each measurement has what the axis uses it for, each event its number.
func TestVirtualReadings(t *testing.T) {
	cfg, err := LoadBytes("rig.yaml", demoVirtual(t, `
  sensors:
    drive.motor.angle: {counts: 4096, noise: 0.1 mrad}
    drive.motor.current: {noise: 20 mA, offset: -0.01}
    drive.motor.temperature: {of: shaft.temperature, noise: 0.5 degC, step: 0.5}
  script:
    - {at: 2 s, set: shaft.load, to: 5 mN·m}
    - {at: 500 ms, for: 20 ms, set: supply, to: 12}
    - {at: 3 s, for: 1 s, set: shaft.temperature, to: 350 K}
    - {at: 4 s, for: 200 ms, sensor: drive.motor.angle, fault: stuck}
    - {at: 5 s, for: 200 ms, sensor: drive.motor.angle, fault: offset, by: 1 deg}
    - {at: 6 s, for: 200 ms, sensor: drive.motor.current, fault: delay, by: 20 ms}
    - {at: 7 s, sensor: drive.motor.current, fault: lost}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []plant.Reading{ // angle, current, voltage, temperature, status
		{Output: plant.OutPosition, Count: 2 * math.Pi / 4096, Noise: 1e-4},
		{Output: plant.OutCurrent, Noise: 0.02, Offset: -0.01},
		{Output: plant.OutApplied},
		{Output: plant.OutTemperature, Noise: 0.5, Count: 0.5},
		{Output: -1},
	}
	if got := cfg.Readings(); !slices.Equal(got, want) {
		t.Errorf("readings %+v, want %+v", got, want)
	}
	events := []plant.Event{
		{StartTime: 2, Setting: 1, To: 5e-3}, {StartTime: 0.5, Duration: 0.02, Setting: 0, To: 12},
		{StartTime: 3, Duration: 1, Setting: 2, To: 350 - 273.15},
		{StartTime: 4, Duration: 0.2, Setting: -1, Fault: plant.Stuck}, {StartTime: 5, Duration: 0.2, Setting: -1, Fault: plant.Shifted,
			To: math.Pi / 180},
		{StartTime: 6, Duration: 0.2, Setting: -1, Sensor: 1, Fault: plant.Delayed, To: 0.02},
		{StartTime: 7, Setting: -1, Sensor: 1, Fault: plant.Lost},
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*(1+math.Abs(a)) })
	if d := cmp.Diff(cfg.Events(), events, near); d != "" {
		t.Error(d)
	}
	text, err := cfg.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	back, err := LoadBytes("back.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if d := cmp.Diff(cfg, back, sameFriction); d != "" {
		t.Error(d)
	}
}

// A sensor of nothing is a warning: an axis may have stopped using it.
func TestVirtualSensorOfNothing(t *testing.T) {
	_, warnings, err := CheckBytes("rig.yaml", demoVirtual(t, "{sensors: {drive.status: {noise: 1}}}"))
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Error(),
		"virtual.sensors.drive.status: no axis uses drive.status, so it stays 0") {
		t.Errorf("%v, %v", warnings, err)
	}
}

// What a virtual section gets wrong is said where it stands, with what there is.
func TestVirtualProblems(t *testing.T) {
	for _, c := range []struct{ section, want string }{
		{"{plant: {kind: moter}}", `did you mean "motor"?`},
		{"{plant: {kind: stage}}", "virtual.plant.kind: stage, but axes.shaft is rotary"},
		{"{plant: {kind: two-link}}", "virtual.plant.two_link is missing"},
		{"{plant: {kind: two-link, two_link: {mass: [1, 1], length: 1, centre: [0.5, 0.5]}}}",
			"1 with those of the file; a plant of kind two-link has 2"},
		{"{plant: {kind: two-link, axes: {shift: {inertia: 1, friction: {law: coulomb, Fc: 1}}}, two_link: {mass: [1, 0], length: 1, centre: " +
			"[0.5, 0.5]}}}", "mass of the second link: 0 kg"},
		{"{plant: {axes: {shift: {}}}}", "virtual.plant.axes.shift.inertia is missing"},
		{"{plant: {axes: {shift: {inertia: 1}}}}", "virtual.plant.axes.shift.friction is missing: no axis of the file has that name"},
		{"{plant: {axes: {shift: {drive: {kind: voltage}, friction: {law: coulomb, Fc: 1}}}}}", "virtual.plant.axes.shift.motor is missing"},
		{"{plant: {axes: {shaft: {drive: {kind: velocity}}}}}", "virtual.plant.axes.shaft.drive.kp is missing"},
		{"{plant: {axes: {shaft: {drive: {kind: current, limit: 3 V}}}}}", "virtual.plant.axes.shaft.drive.limit: "},
		{"{plant: {axes: {shaft: {stops: {travel: [1, 0], stiffness: 1}}}}}", "want low < high and a stiffness"},
		{"{plant: {axes: {shaft: {cogging: 1 mN·m}}}}", "cogging_periods is missing"},
		{"{plant: {supply: [1, 12]}}", "virtual.plant.supply: 1 to 12 V, want low ≤ 0 < high"},
		{"{plant: {axes: {shaft: {friction: {law: lugre, sigma0: 1 N/m}}}}}", "want N·m/rad"},
		{"{devices: {driver: {}}}", `virtual.devices.driver: "driver" is no device (did you mean "drive"?)`},
		{"{devices: {drive: {watchdog: 2 ms}}}", "want at least three ticks"},
		{"{sensors: {drive.motor.angel: {}}}", `"drive.motor.angel" is no measurement (did you mean "drive.motor.angle"?)`},
		{"{sensors: {drive.motor.angle: {of: shaft.angle}}}",
			`"shaft.angle" is no number of the plant (there are shaft.position, shaft.velocity`},
		{"{sensors: {drive.motor.angle: {of: shaft.velocity}}}", "shaft.velocity is in rad/s, the measurement in rad"},
		{"{sensors: {drive.motor.angle: {noise: 1 mA}}}", "virtual.sensors.drive.motor.angle.noise: "},
		{"{sensors: {drive.motor.angle: {noise: -1}}}", "want ≥ 0"},
		{"{sensors: {drive.motor.current: {counts: 100}}}", "counts per turn of a measurement in A"},
		{"{script: [{at: 1, set: shaft.lod, to: 1}]}", `virtual.script[0].set: "shaft.lod" is no setting of the plant (did you mean "shaft.load"?)`},
		{"{script: [{at: 1, set: gravity, to: 1}]}", "there are supply, shaft.load, shaft.temperature"},
		{"{script: [{at: 1, set: shaft.load}]}", "virtual.script[0].to is missing: a number in N·m"},
		{"{script: [{at: 1, set: shaft.load, to: 5 mN}]}", "virtual.script[0].to: "},
		{"{script: [{at: 1, set: supply, to: -5 V}]}", "want ≥ 0"},
		{"{script: [{at: 1, set: supply, to: 5 V, by: 1}]}", "by: not used here"},
		{"{script: [{at: 1}]}", "want set or sensor, one of them"},
		{"{script: [{at: 1, sensor: drive.motor.angle}]}", "virtual.script[0].fault is missing: stuck, lost, offset, delay"},
		{"{script: [{at: 1, sensor: drive.angle, fault: lost}]}", `virtual.script[0].sensor: "drive.angle" is no measurement`},
		{"{script: [{at: 1, sensor: drive.status, fault: lost}]}", "drive.status measures nothing of the plant"},
		{"{script: [{at: 1, sensor: drive.motor.angle, fault: stuk}]}", `did you mean "stuck"?`},
		{"{script: [{at: 1, sensor: drive.motor.angle, fault: offset}]}", "virtual.script[0].by is missing: a number in rad"},
		{"{script: [{at: 1, sensor: drive.motor.angle, fault: delay, by: 1 h}]}", "want 0 to 10 s"},
		{"{script: [{at: 1, for: 2 s, set: supply, to: 1}, {at: 2, set: supply, to: 2}]}",
			"virtual.script[1]: virtual.script[0] is still in force then"},
	} {
		_, err := LoadBytes("rig.yaml", demoVirtual(t, c.section))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %q", c.section, err, c.want)
		}
	}
}
