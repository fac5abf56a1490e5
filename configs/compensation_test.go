package configs

import (
	"errors"
	"strings"
	"testing"

	"hilrig/configs/schema"
	"hilrig/estimator"
	"hilrig/hil/axis"
)

// withCompensation is the demo's file with another compensation section.
func withCompensation(section string) []byte {
	text := string(DemoYAML())
	a := strings.Index(text, "    compensation:\n")
	b := a + strings.Index(text[a:], "\n\n")
	return []byte(text[:a] + "    " + strings.ReplaceAll(section, "\n", "\n    ") + text[b:])
}

// Every kind loads from a file with its own keys, without a warning, and means what it says.
func TestEveryCompensationLoads(t *testing.T) {
	for _, c := range []struct {
		section string
		is      func(k axis.CompSpec) bool
	}{
		{"compensation: {kind: none}", func(k axis.CompSpec) bool { return k.Scale == 0.9 && k.Dither.Kind == estimator.DitherNone }},
		{"compensation: {kind: feedforward, scale: 80 %, inertia: true}", func(k axis.CompSpec) bool { return k.Scale == 0.8 && k.Inertia }},
		{"compensation: {kind: feedforward-static, lead: 3 ms, band: 1 rpm}",
			func(k axis.CompSpec) bool { return k.LeadTime == 3e-3 && k.Band > 0.1047 && k.Band < 0.1048 }},
		{"compensation: {kind: observer, resolution: 0.2 mrad, rest: 20 ms, limit: 20 mN·m, slew: 5 N·m/s}", func(k axis.CompSpec) bool {
			return k.Resolution == 2e-4 && k.Rest == 0.02 && k.Limit == 0.02 && k.Slew == 5
		}},
		{"compensation: {kind: disturbance-observer, bandwidth: 20 Hz, order: 2, dead_band: 0.4 mrad}", func(k axis.CompSpec) bool {
			return k.Bandwidth == 20 && k.Order == 2 && k.DeadBand == 4e-4
		}},
		{"compensation:\n  kind: adaptive-gain\n  inertia: true\n  adapt: {time: 2 s, range: [0.7, 1.4], dead_zone: 20 mrad/s}",
			func(k axis.CompSpec) bool {
				return k.Adapt == axis.Adapt{Time: 2, Range: [2]float64{0.7, 1.4}, DeadZone: 0.02}
			}},
		{"compensation: {kind: adaptive-lugre, inertia: true}", func(k axis.CompSpec) bool {
			return k.Adapt == axis.Adapt{Time: 5, Range: [2]float64{0.5, 2}}
		}},
		{"compensation:\n  kind: none\n  dither: {kind: velocity, velocity: 1 rad/s, frequency: 60 Hz}", func(k axis.CompSpec) bool {
			return k.Dither == estimator.DitherSpec{Kind: estimator.DitherVelocity, Velocity: 1, Frequency: 60}
		}},
		{"compensation:\n  kind: feedforward\n  dither: {kind: force, amplitude: 60 mN·m, frequency: 60 Hz}",
			func(k axis.CompSpec) bool { return k.Dither.Amplitude == 0.06 }},
		{"compensation:\n  kind: none\n  dither: {kind: pulse, amplitude: 60 mN·m, frequency: 5 Hz}",
			func(k axis.CompSpec) bool { return k.Dither.Kind == estimator.DitherPulse }},
	} {
		cfg, err := LoadBytes("rig.yaml", withCompensation(c.section))
		if err != nil {
			t.Errorf("%s:\n%v", c.section, err)
			continue
		}
		if !c.is(cfg.Axes[0].Compensation) {
			t.Errorf("%s: read as %+v", c.section, cfg.Axes[0].Compensation)
		}
		if _, warnings := cfg.Validate(); len(warnings) > 0 {
			t.Errorf("%s: %v", c.section, warnings)
		}
	}
}

// Bad words and numbers are refused with line, caret, and a way out.
func TestBadCompensationIsRefused(t *testing.T) {
	for _, c := range []struct{ section, want, at string }{
		{"compensation:\n  kind: obsever", `did you mean "observer"?`, "obsever"},
		{"compensation:\n  kind: adaptive-lurge", `did you mean "adaptive-lugre"?`, "adaptive-lurge"},
		{"compensation:\n  kind: feedforward\n  bandwith: 10 Hz", `did you mean "bandwidth"?`, "bandwith"},
		{"compensation:\n  kind: disturbance-observer\n  bandwidth: 10 rad/s\n  dead_band: 1 mrad", "bandwidth", "10 rad/s"},
		{"compensation:\n  kind: disturbance-observer\n  dead_band: 1 mrad", "axes.shaft.compensation.bandwidth is missing: kind " +
			"disturbance-observer needs it, in Hz; at most 62.5 Hz", ""},
		{"compensation:\n  kind: disturbance-observer\n  bandwidth: 300 Hz\n  dead_band: 1 mrad", "at most a quarter of loop.rate, 250 Hz",
			"300 Hz"},
		{"compensation:\n  kind: disturbance-observer\n  bandwidth: 10 Hz\n  dead_band: 1 mrad\n  order: 3",
			"axes.shaft.compensation.order: 3, want 1 to 2", "3"},
		{"compensation:\n  kind: adaptive-gain\n  inertia: true\n  adapt: {range: [1.2, 2]}",
			"axes.shaft.compensation.adapt.range: 1.2 to 2, want two numbers > 0 around 1", "[1.2"},
		{"compensation:\n  kind: adaptive-gain\n  inertia: true\n  adapt: {time: 0 s}", "axes.shaft.compensation.adapt.time: 0 s, want > 0 s",
			"0 s"},
		{"compensation:\n  kind: none\n  dither: {kind: sine}", "sine", "sine"},
		{"compensation:\n  kind: none\n  dither: {kind: pulse, amplitude: 10 mN·m, frequency: 5 Hz}",
			"moves nothing; want more than the Coulomb friction, 0.015 N·m", "10 mN·m"},
		{"compensation:\n  kind: none\n  dither: {kind: pulse, amplitude: 60 mN·m, frequency: 500 Hz}", "must come to rest in between", "500 Hz"},
		{"compensation:\n  kind: none\n  dither: {kind: force, amplitude: 1 N·m, frequency: 60 Hz}", "above control.limit, 0.4 N·m", "1 N·m"},
		{"compensation:\n  kind: none\n  dither: {kind: force, amplitude: 60 mN·m}", "axes.shaft.compensation.dither.frequency is missing", ""},
		{"compensation:\n  kind: none\n  dither: {kind: force, amplitude: 60 mN·m, frequency: 400 Hz}", "at most a quarter of loop.rate, 250 Hz",
			"400 Hz"},
		{"compensation:\n  kind: none\n  dither: {kind: velocity, velocity: 50 rad/s, frequency: 60 Hz}", "more than control.limit", "50 rad/s"},
		{"compensation:\n  kind: none\n  dither: {kind: velocity, velocity: 60 mN·m, frequency: 60 Hz}", "velocity", "60 mN·m"},
	} {
		_, err := LoadBytes("rig.yaml", withCompensation(c.section))
		var list *schema.Errors
		if !errors.As(err, &list) || len(list.List) != 1 {
			t.Errorf("%s: got %v, want one problem", c.section, err)
			continue
		}
		p := list.List[0]
		if !strings.Contains(p.Error(), c.want) || p.Line == 0 || !strings.Contains(p.Excerpt, "^") {
			t.Errorf("%s: the message lacks line, caret or %q:\n%v", c.section, c.want, p)
		}
		if !strings.Contains(p.Excerpt, c.at) {
			t.Errorf("%s: the excerpt does not show %q:\n%v", c.section, c.at, p)
		}
	}
}

// What is legal and deserves a thought. The numbers of the SPR condition: sigma0·J/sigma1 − sigma2 = 11·7e-5/0.02 − 1.5e-4.
func TestCompensationWarnings(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(k *Config)
		want   string // "": no warning
	}{
		{"correction without SPR", func(c *Config) { c.Axes[0].Compensation.Gain = 5 },
			"want gain 0, or kd above 0.0384 N·m·s/rad (it is 0.006)"},
		{"correction with SPR", func(c *Config) { c.Axes[0].Compensation.Gain = 5; setParam(&c.Axes[0].Friction, "sigma0", 1.7) }, ""},
		{"correction just without SPR", func(c *Config) { c.Axes[0].Compensation.Gain = 5; setParam(&c.Axes[0].Friction, "sigma0", 1.8) },
			"is not sure to converge"},
		{"correction without bristle damping", func(c *Config) { c.Axes[0].Compensation.Gain = 5; setParam(&c.Axes[0].Friction, "sigma1", 0) },
			"sigma1 = 0"},
		{"gain of another kind", func(c *Config) { c.Axes[0].Compensation.Kind, c.Axes[0].Compensation.Gain = axis.CompFeedForward, 5 },
			"not used by kind feedforward"},
		{"bandwidth of another kind", func(c *Config) { c.Axes[0].Compensation.Bandwidth = 5 }, "not used by kind observer"},
		{"adaptation of another kind", func(c *Config) { c.Axes[0].Compensation.Adapt.Time = 3 }, "axes.shaft.compensation.adapt: not used"},
		{"no dead band", func(c *Config) {
			c.Axes[0].Compensation.Kind, c.Axes[0].Compensation.Bandwidth = axis.CompDisturbance, 10
		}, "hunts around a stuck position"},
		{"wide disturbance observer", func(c *Config) {
			c.Axes[0].Compensation.Kind, c.Axes[0].Compensation.Bandwidth, c.Axes[0].Compensation.DeadBand = axis.CompDisturbance, 80, 1e-3
		}, "above a sixteenth of loop.rate, 62.5 Hz"},
		{"learning without inertia", func(c *Config) { c.Axes[0].Compensation.Kind, c.Axes[0].Compensation.Inertia = axis.CompGain, false },
			"takes the missing J"},
		{"learning faster than the loop", func(c *Config) {
			c.Axes[0].Compensation.Kind, c.Axes[0].Compensation.Adapt.Time = axis.CompGain,
				0.05
		}, "below 8·J/kd = 0.0933 s"},
		{"dither below break-away", func(c *Config) {
			c.Axes[0].Compensation.Dither = estimator.DitherSpec{Kind: estimator.DitherForce, Amplitude: 0.02, Frequency: 60}
		}, "want more than break-away, 0.021 N·m"},
		{"dither within the bandwidth", func(c *Config) {
			c.Axes[0].Compensation.Dither = estimator.DitherSpec{Kind: estimator.DitherForce, Amplitude: 0.06, Frequency: 20}
		}, "five times its bandwidth, 47.6 Hz"},
	} {
		cfg := Demo()
		c.change(cfg)
		problems, warnings := cfg.Validate()
		switch {
		case len(problems) > 0:
			t.Errorf("%s: %v", c.name, problems)
		case c.want == "" && len(warnings) > 0, c.want != "" && (len(warnings) != 1 || !strings.Contains(warnings[0].Error(), c.want)):
			t.Errorf("%s: warnings %v, want one with %q", c.name, warnings, c.want)
		}
	}
}
