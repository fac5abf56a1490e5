package configs

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// sighted is the demo with other text, loaded.
func sighted(t *testing.T, changes ...string) *Config {
	t.Helper()
	text := string(DemoYAML())
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("the demo has no %q", changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	c, err := LoadBytes("rig.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const watched = "stale: 50 ms"

// What the file leaves out is watched at five periods of the slower of loop and device, at least 20 ms; a zero in the file stays.
func TestStaleDefault(t *testing.T) {
	const rate = "  rate: 1 kHz\n  clock"
	for _, c := range []struct {
		loop, device string
		want         float64
	}{{"1 kHz", "0", 0.02}, {"2 kHz", "0", 0.02}, {"250 Hz", "0", 0.02}, {"200 Hz", "0", 0.025}, {"50 Hz", "0", 0.1},
		{"1 kHz", "100 Hz", 0.05}, {"100 Hz", "1 kHz", 0.05}} {
		cfg := sighted(t, "        "+watched, "", "    baud:", "    rate: "+c.device+"\n    baud:", rate, "  rate: "+c.loop+"\n  clock",
			"baud: 921600", "baud: 3000000",
			"inner_rate: 20 kHz", "inner_rate: 100 kHz", "{amplitude: 0.6 rad, frequency: 2.3 Hz}", "{amplitude: 0.6 rad, frequency: 1 Hz}",
			"kd: 6 mN", "kd: 0.5 mN")
		for i, want := range []float64{c.want, c.want, c.want, 5, max(0.1, c.want)} {
			if got := cfg.Devices[0].Measure[i].Stale; got != want {
				t.Errorf("loop %s, device %s: %s is stale after %g s, want %g", c.loop, c.device, cfg.Devices[0].Measure[i].Name, got, want)
			}
		}
	}
	off := sighted(t, watched, "stale: 0")
	data, err := off.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again, err := LoadBytes("again.yaml", data)
	if err != nil || again.Devices[0].Measure[0].Stale != 0 || !bytes.Contains(data, []byte("stale: 0")) {
		t.Errorf("a watch that was switched off comes back as %g s (%v)", again.Devices[0].Measure[0].Stale, err)
	}
	// another rate on the command line: what was enough for the file's may not be for it
	slow := sighted(t)
	slow.SetRate(20)
	if got := slow.Devices[0].Measure[0].Stale; got != 0.25 {
		t.Errorf("at 20 Hz stale after %g s, want 0.25", got)
	}
	if off.SetRate(20); off.Devices[0].Measure[0].Stale != 0 {
		t.Error("another rate switched the watch on")
	}
}

// A drive is not energised without watching the position, and what a limit rests on.
func TestMayDrive(t *testing.T) {
	none := func(c *Config) { c.Axes[0].Guard.MaxCurrent, c.Axes[0].Guard.RatedI = 0, 0 }
	for _, c := range []struct {
		name   string
		change func(c *Config)
		want   string
	}{
		{"the demo", func(*Config) {}, ""},
		{"position", func(c *Config) { c.Devices[0].Measure[0].Stale = 0 }, "devices.drive.measure[0].stale is 0: nobody would notice that " +
			"motor.angle stopped"},
		{"current under a limit", func(c *Config) { c.Devices[0].Measure[1].Stale = 0; c.Axes[0].Guard.RatedI = 0 },
			"devices.drive.measure[1].stale is 0"},
		{"current under a budget", func(c *Config) { c.Devices[0].Measure[1].Stale = 0; c.Axes[0].Guard.MaxCurrent = 0 },
			"devices.drive.measure[1].stale is 0"},
		{"current without either", func(c *Config) { c.Devices[0].Measure[1].Stale = 0; none(c) }, ""},
		{"voltage", func(c *Config) { c.Devices[0].Measure[2].Stale = 0 }, ""},
		{"temperature", func(c *Config) { c.Devices[0].Measure[3].Stale = 0 }, "devices.drive.measure[3].stale is 0"},
		{"position, half a second", func(c *Config) { c.Devices[0].Measure[0].Stale = 0.5 }, ""},
		{"position, more", func(c *Config) { c.Devices[0].Measure[0].Stale = 0.501 },
			"devices.drive.measure[0].stale is 0.501 s: so long the drive would be energised blind when motor.angle stops coming; want at most " +
				"0.5 s, or leave stale out (0.02 s here)"},
		{"position of a device of 4 Hz, five samples", func(c *Config) { c.Devices[0].Rate, c.Devices[0].Measure[0].Stale = 4, 1.25 }, ""},
		{"position of a device of 4 Hz, more", func(c *Config) { c.Devices[0].Rate, c.Devices[0].Measure[0].Stale = 4, 1.3 },
			"want at most 1.25 s"},
		{"current under a limit, a minute", func(c *Config) { c.Devices[0].Measure[1].Stale = 60 }, "devices.drive.measure[1].stale is 60 s"},
		{"current without a limit, a minute", func(c *Config) { c.Devices[0].Measure[1].Stale = 60; none(c) }, ""},
		{"temperature, five seconds", func(c *Config) { c.Devices[0].Measure[3].Stale = 5 }, ""},
		{"temperature, a minute", func(c *Config) { c.Devices[0].Measure[3].Stale = 60 }, "devices.drive.measure[3].stale is 60 s"},
		{"hold for a second", func(c *Config) { c.Guard.HoldTime = 1 }, ""},
		{"hold for more", func(c *Config) { c.Guard.HoldTime = 1.001 }, "guard.hold_time is 1.001 s: so long the drive would stay energised " +
			"while a sensor is sick; want at most 1 s"},
		{"temperature without a limit", func(c *Config) { c.Devices[0].Measure[3].Stale = 0; c.Devices[0].Measure[3].Range = [2]float64{} }, ""},
	} {
		cfg := Demo()
		c.change(cfg)
		err := cfg.MayDrive()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "--dry-run")) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// The limit of a temperature is its own, else the upper edge of its range, in the unit of the signal.
func TestHot(t *testing.T) {
	for _, c := range []struct {
		changes []string
		want    float64
	}{
		{nil, 150},
		{[]string{"range: [-40, 150]", "range: [-40, 150]\n        max: 110"}, 110},
		{[]string{"range: [-40, 150]", "range: [-40, 150]\n        max: 383.15 K"}, 110},
		{[]string{"        range: [-40, 150] ", "       "}, 0},
		{[]string{"unit: degC\n        type: i16\n        scale: 0.01 degC", "unit: K\n        type: u16\n        scale: 0.01 K", "[-40, 150]",
			"[233, 423]"}, 423},
		{[]string{"unit: degC\n        type: i16\n        scale: 0.01 degC", "unit: K\n        type: u16\n        scale: 0.01 K", "[-40, 150]",
			"[233, 423]\n        max: 110 degC"}, 383.15},
	} {
		cfg := sighted(t, c.changes...)
		if got := cfg.Hot(&cfg.Devices[0], cfg.Devices[0].Measure[3]); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%q: %g, want %g", c.changes, got, c.want)
		}
		if got := cfg.Hot(&cfg.Devices[0], cfg.Devices[0].Measure[1]); got != 0 {
			t.Errorf("the current has a temperature limit of %g", got)
		}
	}
}

// An optional device that stays away holds nothing unless the file asks for it: a temperature on it is watched where it has a limit or a
// time.
func TestOptionalDeviceHoldsNothing(t *testing.T) {
	const table = "  table:\n    port: virtual\n    required: %s\n    measure:\n      - {name: oven, unit: degC, type: i16, scale: " +
		"0.01%s}\n\n# ---- the axis"
	for _, c := range []struct {
		required, keys string
		want           float64
	}{{"true", "", 5}, {"true", ", max: 80", 5}, {"false", "", 0}, {"false", ", max: 80", 5}, {"false", ", range: [-40, 150]", 5},
		{"false", ", stale: 2 s", 2}, {"false", ", max: 80, stale: 2 s", 2}} {
		cfg := sighted(t, "\n# ---- the axis", fmt.Sprintf(table, c.required, c.keys))
		if got := cfg.Devices[1].Measure[0].Stale; got != c.want {
			t.Errorf("required %s%s: stale %g, want %g", c.required, c.keys, got, c.want)
		}
		if err := cfg.MayDrive(); err != nil {
			t.Errorf("required %s%s: %v", c.required, c.keys, err)
		}
	}
}
