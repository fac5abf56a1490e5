package configs

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"hilrig/configs/schema"
	"hilrig/engine/friction"

	"hilrig/engine/reference"
	"hilrig/hil"
	"hilrig/hil/wire"
)

// Each case changes one thing of the demo. want is part of the only problem, warn part of a warning.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name       string
		change     func(c *Config)
		want, warn string
	}{
		{"the demo", func(c *Config) {}, "", ""},
		{"version", func(c *Config) { c.Version = 1 }, "this program reads version 2", ""},
		{"rig without a name", func(c *Config) { c.Rig.Name = "" }, "rig.name is missing", ""},
		{"topic wildcard in the name", func(c *Config) { c.Rig.Name = "a/+" }, "rig.name: \"a/+\"", ""},
		{"slow loop", func(c *Config) { c.Loop.Rate = 5 }, "loop.rate: 5 Hz, want 10 to 20000 Hz", ""},
		{"fast loop", func(c *Config) { c.Loop.Rate, c.Loop.Spin, c.Virtual.Devices[0].Pacing = 10000, 40e-6, false }, "",
			"needs an isolated processor"},
		{"not a number", func(c *Config) { c.Axes[0].Motor.R = math.NaN() }, "axes.shaft.motor.R: NaN ohm, want > 0 ohm", ""},
		{"inertia forgotten", func(c *Config) { c.Axes[0].Motor.J = 0 }, "axes.shaft.motor.J is missing", ""},
		{"brush drop without its current", func(c *Config) { c.Axes[0].Motor.DropScale = 0 }, "axes.shaft.motor.drop_current is missing", ""},
		{"catch up by nothing", func(c *Config) { c.Loop.Overrun = Overrun{hil.OverrunCatchUp, 0, 0.05} },
			"want at least 1 with policy catch-up", ""},
		{"window of misses", func(c *Config) { c.Loop.Overrun = Overrun{hil.OverrunTrip, 101, 0.05} }, "window of 100 ticks", ""},
		{"limit below two periods", func(c *Config) { c.Loop.Overrun.Limit = 1e-3 }, "want at least two periods", ""},
		{"device clock at another rate", func(c *Config) { c.Loop.Clock, c.Devices[0].Rate = "drive", 500 }, "each frame makes a tick", ""},
		{"no position", func(c *Config) { c.Axes[0].Position = "" }, "axes.shaft.position is missing: the measurement, such as " +
			"drive.rotor.angle", ""},
		{"a position that is not there", func(c *Config) { c.Axes[0].Position = "drive.motor.angel" },
			`axes.shaft.position: "drive.motor.angel" is no measurement (did you mean "drive.motor.angle"?)`, ""},
		{"a position without its device", func(c *Config) { c.Axes[0].Position = "motor.angle" },
			`axes.shaft.position: "motor.angle" is no measurement`, ""},
		{"a command for a position", func(c *Config) { c.Axes[0].Position = "drive.voltage" },
			`axes.shaft.position: "drive.voltage" is no measurement`, ""},
		{"one signal twice", func(c *Config) { c.Axes[0].Effort = "drive.motor.current" },
			"axes.shaft.effort: drive.motor.current is axes.shaft.current already", ""},
		{"no drive", func(c *Config) { c.Devices[0].Command = c.Devices[0].Command[1:] },
			`axes.shaft.drive.command: "drive.voltage" is no command`, ""},
		{"a command that nobody gives", func(c *Config) {
			c.Devices[0].Command = append(c.Devices[0].Command, c.Devices[0].Command[1])
			c.Devices[0].Command[2].Name = "e"
		}, "devices.drive.command[2]: no axis uses drive.e", ""},
		{"two devices", second(nil), "", ""},
		{"two devices of one port", func(c *Config) {
			second(nil)(c)
			c.Devices[0].Port, c.Devices[1].Port, c.Virtual = "/dev/ttyUSB0", "/dev/ttyUSB0", nil
		}, "devices.table.port: /dev/ttyUSB0 is the port of devices.drive too; one port is one device: several slaves on a bus are fields with " +
			"an address", ""},
		{"half a virtual rig", second(func(d *Device) { d.Port = "/dev/ttyUSB0" }), "devices.table.port: /dev/ttyUSB0 beside a virtual rig", ""},
		{"an optional drive", func(c *Config) { c.Devices[0].Required = false }, "devices.drive.required: false, but axes.shaft.position is " +
			"drive.motor.angle", ""},
		{"a clock that is not there", func(c *Config) { c.Loop.Clock = "drvie" },
			`loop.clock: "drvie" is no device, nor wall (did you mean "drive"?)`, ""},
		{"a clock that may be away", func(c *Config) { second(func(d *Device) { d.Required = false })(c); c.Loop.Clock = "table" },
			"loop.clock: table is not required", ""},
		{"nine devices", func(c *Config) {
			for range 8 {
				second(func(d *Device) { d.Name = fmt.Sprint("d", len(c.Devices)) })(c)
			}
		}, "devices: 9, this version runs at most 8", ""},
		{"more measurements than bits", func(c *Config) {
			many := func(d *Device) {
				d.Name, d.Measure = fmt.Sprint("d", len(c.Devices)), nil
				for i := range 61 {
					d.Measure = append(d.Measure, Measure{Field: wire.Field{Name: fmt.Sprint("n", i), Type: wire.U8, Scale: 1}})
				}
			}
			second(many)(c)
			second(many)(c)
		}, "devices.d2.measure: 130 measurements and ages up to here, at most 128", ""},
		{"a name with a dot", func(c *Config) { c.Axes[0].Name = "a.b" }, `axes: "a.b", want up to 32 letters`, ""},
		{"status of nothing", func(c *Config) { c.Devices[0].Status = "stauts" },
			`devices.drive.status: "stauts" is no measurement of the device (did you mean "status"?)`, ""},
		{"a name twice", func(c *Config) { c.Devices[0].Status = ""; c.Devices[0].Measure[3].Name = "status" },
			"is the name of devices.drive.measure[3] too", ""},
		{"the age", func(c *Config) { c.Devices[0].Measure[3].Name = "age" }, "drive.age is the age of the device", ""},
		{"drive in ampere", func(c *Config) { c.Devices[0].Command[0].Unit = "A" },
			"axes.shaft.drive.command: drive.voltage is in A; a voltage drive of a rotary axis takes V", ""},
		{"linear axis", func(c *Config) { c.Devices[0].Measure[0].Unit = "m" }, "axes.shaft.position: drive.motor.angle is measured in m; " +
			"want rad", ""},
		{"text in a frame", func(c *Config) { c.Devices[0].Measure[0].Type = wire.Text }, "text does not fit a link frame", ""},
		{"type forgotten", func(c *Config) { c.Devices[0].Measure[0].Type = 0 }, "devices.drive.measure[0].type is missing", ""},
		{"no scale", func(c *Config) { c.Devices[0].Measure[2].Scale = 0 }, "makes every value the same", ""},
		{"a count of many turns", func(c *Config) {
			c.Devices[0].Measure[0].Scale, c.Devices[0].Measure[0].Type, c.Virtual = 7, wire.U8, nil
		}, "one count is 7 rad, want at most one turn", ""},
		{"no unit is so large", func(c *Config) { c.Devices[0].Measure[2].Offset = 1e31 },
			"devices.drive.measure[2].offset: 1e+31 in SI, want 0, or a magnitude from 1e-30 to 1e+30", ""},
		{"or so small", func(c *Config) { c.Devices[0].Measure[2].Offset = -1e-31 }, "devices.drive.measure[2].offset: -1e-31 in SI", ""},
		{"not even in a pair", func(c *Config) { c.Virtual.Plant.Supply[1] = 1e31 }, "virtual.plant.supply: 1e+31 in SI", ""},
		{"no friction", func(c *Config) { c.Axes[0].Friction = Friction{} }, "axes.shaft.friction is missing: {law: lugre, sigma0: …}", ""},
		{"range upside down", func(c *Config) { c.Devices[0].Measure[1].Range = [2]float64{2, -2} }, "want low < high", ""},
		{"range beyond the type", func(c *Config) { c.Devices[0].Measure[1].Range = [2]float64{-40, 40} }, "", "the range check stays silent"},
		{"limit beyond the type", func(c *Config) { c.Devices[0].Command[0].Limit = [2]float64{-24, 36} }, "does not fit i16", ""},
		{"no limit", func(c *Config) { c.Devices[0].Command[0].Limit = [2]float64{} }, "limit is missing", ""},
		{"safe outside the limit", func(c *Config) { c.Devices[0].Command[0].Safe = 25 }, "25 is outside the limit", ""},
		{"safe not zero", func(c *Config) { c.Devices[0].Command[0].Safe = 1 }, "", "keeps the drive energised"},
		{"enable safe at one", func(c *Config) { c.Devices[0].Command[1].Safe = 1 }, "enable is off in every safe state", ""},
		{"slew below a count", func(c *Config) { c.Devices[0].Command[0].Slew = 0.5 }, "would never move", ""},
		{"coarse drive", func(c *Config) { c.Devices[0].Command[0].Scale = 1; c.Devices[0].Command[0].Slew = 0 }, "", "coarse steps"},
		{"stale within two ticks", func(c *Config) { c.Devices[0].Measure[0].Stale = 2e-3 }, "want more than two periods of the loop", ""},
		{"stale within two frames", func(c *Config) {
			c.Devices[0].Rate = 10
			for i := range 4 {
				c.Devices[0].Measure[1+i].Stale = 0.5
			}
		}, "want more than two periods of the device", ""},
		{"position not watched", func(c *Config) { c.Devices[0].Measure[0].Stale = 0 }, "", "a cable that comes off"},
		{"limited current not watched", func(c *Config) { c.Devices[0].Measure[1].Stale = 0 }, "", "hil run --arm refuses this file"},
		{"limit of what is no temperature", func(c *Config) { c.Devices[0].Measure[2].Max = 20 },
			"devices.drive.measure[2].max: only a temperature", ""},
		{"temperature without a limit", func(c *Config) { c.Devices[0].Measure[3].Range = [2]float64{} }, "", "motor.temperature has no limit"},
		{"unknown virtual rig", func(c *Config) { c.Devices[0].Port = "virtual:motor" },
			"want virtual or a serial port; virtual.plant.kind says", ""},
		{"too many signals", func(c *Config) {
			for range 59 {
				c.Devices[0].Measure = append(c.Devices[0].Measure,
					Measure{Field: wire.Field{Name: fmt.Sprint("n", len(c.Devices[0].Measure)), Type: wire.U8, Scale: 1}})
			}
		}, "devices.drive.measure: 64, at most 63", ""},
		{"line too slow", func(c *Config) { c.Devices[0].Baud = 150000 }, "the device sends 22 bytes per frame × 1000 frames/s", ""},
		{"line nearly full", func(c *Config) { c.Devices[0].Baud = 230400 }, "", "(95 %)"},
		{"static below Coulomb", func(c *Config) { setParam(&c.Axes[0].Friction, "Fs", 0.01) }, "is less than Fc", ""},
		{"not passive", func(c *Config) { setParam(&c.Axes[0].Friction, "vd", 0) }, "", "sigma1·(Fs − Fc)/Fc = 0.008"},
		{"over-compensation", func(c *Config) { c.Axes[0].Compensation.Scale = 1.01 }, "axes.shaft.compensation.scale: 1.01, want 0 to 1", ""},
		{"bold compensation", func(c *Config) { c.Axes[0].Compensation.Scale = 0.97 }, "", "over-compensates"},
		{"coarse encoder", func(c *Config) {
			c.Devices[0].Measure[0].Scale = 2 * math.Pi / 4096
			c.Virtual.Sensors[0].Counts = 4096
		}, "", "will not see presliding"},
		{"velocity loop too fast", func(c *Config) { c.Axes[0].Control.Kd = 0.08 }, "it is unstable above", ""},
		{"velocity loop fast", func(c *Config) { c.Axes[0].Control.Kd = 0.02 }, "", "eats the damping"},
		{"ringing", func(c *Config) { c.Axes[0].Control.Kd = 0 }, "", "the axis rings"},
		{"integral too strong", func(c *Config) { c.Axes[0].Control.Kind, c.Axes[0].Control.Ki = "pid", 25 }, "makes the axis unstable", ""},
		{"integral of pd", func(c *Config) { c.Axes[0].Control.Ki = 1 }, "", "not used by kind pd"},
		{"pid without integral", func(c *Config) { c.Axes[0].Control.Kind = "pid" }, "", "is pd"},
		{"no gains", func(c *Config) { c.Axes[0].Control.Kp, c.Axes[0].Control.Kd = 0, 0 }, "nothing would follow", ""},
		{"torque out of reach", func(c *Config) { c.Axes[0].Control.Limit = 2 }, "", "is never reached"},
		{"reference above the speed limit", func(c *Config) { c.Axes[0].Guard.MaxSpeed = 10 }, "axes.shaft.guard.max_speed trips at 10 rad/s",
			""},
		{"reference above the voltage", func(c *Config) { c.Axes[0].Reference.Tones[1].Amplitude, c.Axes[0].Guard.MaxSpeed = 60, 0 }, "",
			"the drive gives 24 V"},
		{"reference above the rate", func(c *Config) { c.Axes[0].Reference.Tones[1].Frequency = 120; c.Axes[0].Guard.MaxSpeed = 0 },
			"more than a tenth of loop.rate", ""},
		{"sine without frequency", func(c *Config) { c.Axes[0].Reference.Spec = reference.Spec{Kind: "sine", Amplitude: 1} },
			"axes.shaft.reference.frequency is missing", ""},
		{"trapezoid without acceleration", func(c *Config) {
			c.Axes[0].Reference.Spec = reference.Spec{Kind: "trapezoid", Amplitude: 1, Velocity: 1}
		}, "axes.shaft.reference.acceleration is missing", ""},
		{"file without a name", func(c *Config) { c.Axes[0].Reference.Spec = reference.Spec{Kind: "file"} },
			"axes.shaft.reference.file is missing", ""},
		{"file not there", func(c *Config) { c.Axes[0].Reference.Spec = reference.Spec{Kind: "file", File: "testdata/none.csv"} },
			"no such file", ""},
		{"i²t above the trip", func(c *Config) { c.Axes[0].Guard.RatedI = 16 }, "the budget would never be used", ""},
		{"current guard without current", func(c *Config) { c.Axes[0].Current, c.Axes[0].Guard.RatedI = "", 0 },
			"axes.shaft.guard.max_current: needs a measured current, axes.shaft.current", ""},
		{"inertia above the largest", func(c *Config) { c.Axes[0].Guard.MaxInertia = 6.9e-5 },
			"max_inertia: 6.9e-05 kg·m² is below the inertia that the file gives, 7e-05", ""},
		{"inertia of the largest", func(c *Config) { c.Axes[0].Guard.MaxInertia = 7e-5 }, "", ""},
		{"inertia that nobody knows", func(c *Config) { c.Virtual, c.Devices[0].Port, c.Axes[0].Guard.MaxInertia = nil, "/dev/ttyUSB7", 0 }, "",
			"ten times that of the file"},
		{"RLS window", func(c *Config) { c.Axes[0].Estimator.RLS.Window = 5e-3 }, "want at least ten ticks", ""},
		{"RLS memory", func(c *Config) { c.Axes[0].Estimator.RLS.Memory = 0.5 }, "want at least five windows", ""},
		{"RLS in the Stribeck range", func(c *Config) { c.Axes[0].Estimator.RLS.MinVel = 0.1 }, "", "is below the Stribeck velocity, 0.5 rad/s"},
		{"topic with a leading slash", func(c *Config) { c.MQTT.Prefix = "/hil" }, "without a leading", ""},
		{"broker scheme", func(c *Config) { c.MQTT.Broker = "mqtts://lab:8883" }, "mqtts:// is ssl:// here", ""},
		{"broker without port", func(c *Config) { c.MQTT.Broker = "tcp://lab" }, "has no port", ""},
		{"broker with password", func(c *Config) { c.MQTT.Broker = "tcp://u:p@lab:1883" }, "not in the address", ""},
		{"certificate without TLS", func(c *Config) { c.MQTT.Broker, c.MQTT.CA = "tcp://lab:1883", "motor.yaml" }, "needs ssl:// or wss://", ""},
		{"password in clear", func(c *Config) { c.MQTT.Broker, c.MQTT.User, c.MQTT.Password = "tcp://lab:1883", "u", "p" }, "", "clear text"},
		{"address", func(c *Config) { c.Web.Listen = "8080" }, "want host:port", ""},
		{"open address", func(c *Config) { c.Web.Listen = ":8080" }, "", "everybody in the network"},
		{"inner rate", func(c *Config) { c.Virtual.InnerRate = 10500 }, "want a multiple of loop.rate", ""},
		{"inner rate too low", func(c *Config) { c.Virtual.InnerRate = 5000 }, "want 10000 to 1000000 Hz", ""},
		{"supply", func(c *Config) { c.Virtual.Plant.Supply = [2]float64{24, -24} }, "virtual.plant.supply", ""},
		{"watchdog", func(c *Config) { c.Virtual.Devices[0].Watchdog = 2e-3 }, "at least three ticks", ""},
		{"another encoder", func(c *Config) { c.Virtual.Sensors[0].Counts = 4096 }, "",
			"virtual.sensors.drive.motor.angle.counts: 4096 per turn, 0.0015"},
		{"true friction", func(c *Config) { setParam(&c.Virtual.Plant.Axes[0].Friction, "Fs", 0.01) }, "virtual.plant.axes.shaft.friction.Fs",
			""},
		{"recording nowhere", func(c *Config) { c.Record.Dir = "" }, "record.dir is empty", ""},
		{"recording hardly kept", func(c *Config) { c.Record.MaxBytes = 100 }, "less than one minute", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Demo()
			c.change(cfg)
			problems, warnings := cfg.Validate()
			switch {
			case c.want == "" && len(problems) > 0:
				t.Errorf("problems %v", problems)
			case c.want != "" && (len(problems) != 1 || !strings.Contains(problems[0].Error(), c.want)):
				t.Errorf("problems %v, want one with %q", problems, c.want)
			}
			if c.warn != "" && (len(warnings) != 1 || !strings.Contains(warnings[0].Error(), c.warn)) || c.warn == "" && c.want == "" &&
				len(warnings) > 0 {
				t.Errorf("warnings %v, want one with %q", warnings, c.warn)
			}
		})
	}
}

// setParam changes a parameter of a law.
func setParam(f *Friction, name string, x float64) {
	f.Model = friction.Clone(f.Model)
	var theta []float64
	for _, p := range f.Model.Params() {
		if p.Name == name {
			p.Value = x
		}
		theta = append(theta, p.Value)
	}
	if err := f.Model.SetParams(theta); err != nil {
		panic(err)
	}
}

// second adds a device with one measurement, changed.
func second(change func(d *Device)) func(c *Config) {
	return func(c *Config) {
		d := c.Devices[0]
		d.Name, d.Command, d.Status, d.Baud = "table", nil, "", 3000000
		d.Measure = []Measure{{Field: wire.Field{Name: "torque", Unit: "N·m", Type: wire.I16, Scale: 1e-4}}}
		if change != nil {
			change(&d)
		}
		c.Devices = append(c.Devices, d)
	}
}

// A friction section that is not passive, as the set of [C95], is advised how to become so, and the advice holds: a fading
// sigma1, or sigma2 ≥ sigma1·(Fs − Fc)/Fc.
func TestPassivityIsAdvised(t *testing.T) {
	advice := func(law friction.LuGre) string {
		r := schema.NewReport(rotaryTag)
		f := Friction{Law{Name: "lugre", Model: &law, path: "friction"}}
		f.check(r, "friction", true)
		if len(r.Warnings()) == 0 {
			return ""
		}
		return r.Warnings()[0].Msg
	}
	base := friction.LuGre{Sigma0: 1e5, Sigma1: math.Sqrt(1e5), Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 1e-3}
	// beyond vs g = Fc and y = Fs/Fc: Fs²/Fc + v·(σ2 − σ1·(Fs − Fc)/Fc) < 0 from v = 2.25/157.7 on; √(2e)·Fc/σ1 = 7.37e-3
	const want = "friction: with these parameters lugre can return more energy than it was given, from 0.0143 rad/s on; " +
		"give sigma1 a vd of about 0.00737 rad/s, or have sigma2 ≥ sigma1·(Fs − Fc)/Fc = 158 N·m·s/rad"
	if got := advice(base); got != want {
		t.Errorf("advice %q, want %q", got, want)
	}
	for _, c := range []struct {
		vd, sigma2 float64
		fine       bool
	}{{0.00737, 0.4, true}, {0.1, 0.4, false}, {0, 158.2, true}, {0, 150, false}} {
		f := base
		f.Vd, f.Sigma2 = c.vd, c.sigma2
		if got := advice(f); (got == "") != c.fine {
			t.Errorf("vd %g, sigma2 %g: %q", c.vd, c.sigma2, got)
		}
	}
}

// The loop that Check calls unstable is so in a simulation, and what it lets pass is stable: the velocity loop with one
// and a half ticks of delay, and the PID on the bare inertia (Routh).
func TestStabilityBounds(t *testing.T) {
	const rate, j = 1000.0, 7e-5
	grows := func(kd float64) bool { // J dω/dt = −kd·ω(t − 1.5 T)
		const sub = 100 // steps per tick
		delay := make([]float64, 3*sub/2)
		for i := range delay {
			delay[i] = 1
		}
		w, peak := 1.0, 0.0
		for n := range 400 * sub {
			i := n % len(delay)
			old := delay[i]
			delay[i] = w
			w -= kd / j / (rate * sub) * old
			if n > 350*sub {
				peak = math.Max(peak, math.Abs(w))
			}
		}
		return peak > 1
	}
	if grows(0.95 * rate * j) {
		t.Error("0.95·rate grows: the bound is too wide")
	}
	if !grows(1.1 * rate * j) {
		t.Error("1.1·rate decays: the bound is too narrow")
	}
	check := func(ki float64) bool {
		cfg := Demo()
		cfg.Axes[0].Control.Kind, cfg.Axes[0].Control.Ki = "pid", ki
		problems, _ := cfg.Validate()
		return len(problems) == 0
	}
	// θ'' = −(kp θ + ki ∫θ + (kd+σ2) θ')/J by Runge-Kutta
	c := Demo()
	settles := func(ki float64) bool {
		d := func(x [3]float64) [3]float64 {
			return [3]float64{x[1], -(c.Axes[0].Control.Kp*x[0] + ki*x[2] + (c.Axes[0].Control.Kd+c.Axes[0].Friction.viscosity())*x[1]) / c.Axes[0].Motor.J, x[0]}
		}
		x, h := [3]float64{1, 0, 0}, 1e-4
		add := func(a, b [3]float64, s float64) [3]float64 {
			return [3]float64{a[0] + s*b[0], a[1] + s*b[1], a[2] + s*b[2]}
		}
		for range 100_000 {
			k1 := d(x)
			k2 := d(add(x, k1, h/2))
			k3 := d(add(x, k2, h/2))
			k4 := d(add(x, k3, h))
			for i := range x {
				x[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
			}
		}
		return math.Abs(x[0]) < 1
	}
	for _, ki := range []float64{5, 20, 23, 25} {
		if check(ki) != settles(ki) {
			t.Errorf("ki %v: Check says %v, the simulation %v", ki, check(ki), settles(ki))
		}
	}
}

// The budget against numbers counted by hand.
func TestBudget(t *testing.T) {
	c := Demo()
	b := c.Budget(&c.Devices[0])
	// 4+2+2+2+1 bytes of data, kind, sequence, four of time, two of CRC, COBS byte, opening and closing zero
	if b.Rx.Bytes != 11+1+1+4+2+1+2 || b.Tx.Bytes != 3+11 {
		t.Errorf("bytes %d and %d, want 22 and 14", b.Rx.Bytes, b.Tx.Bytes)
	}
	if math.Abs(b.Rx.Use-0.2387152778) > 1e-9 || math.Abs(b.Age()-(0.0002387152778+0.001)) > 1e-12 {
		t.Errorf("use %v, age %v", b.Rx.Use, b.Age())
	}
	// bytes that fit per frame: table of the design notes
	for _, row := range []struct {
		baud, rate, bytes float64
	}{{115200, 1000, 11.5}, {115200, 8000, 1.4}, {921600, 1000, 92}, {921600, 4000, 23}, {3e6, 4000, 75}, {12e6, 8000, 150}} {
		c.Devices[0].Baud, c.Loop.Rate = int(row.baud), row.rate
		if b := c.Budget(&c.Devices[0]); math.Abs(b.Rx.Fit/row.bytes-1) > 0.03 {
			t.Errorf("%v baud at %v Hz: %v bytes fit, want %v", row.baud, row.rate, b.Rx.Fit, row.bytes)
		}
	}
	// 40 doubles need a second COBS block
	c.Devices[0].Measure = nil
	for i := range 40 {
		c.Devices[0].Measure = append(c.Devices[0].Measure, Measure{Field: wire.Field{Name: fmt.Sprint("f", i), Type: wire.F64, Scale: 1}})
	}
	if b := c.Budget(&c.Devices[0]); b.Rx.Bytes != 320+8+2+2 {
		t.Errorf("%d bytes for 40 doubles, want 332", b.Rx.Bytes)
	}
}
