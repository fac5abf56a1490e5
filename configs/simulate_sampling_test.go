package configs

import (
	"strings"
	"testing"
)

// What the step does to a run is said before it: no row kept, an end beside the duration, a signal too fast to be seen, a
// load that no law looks at.
func TestSamplingIsChecked(t *testing.T) {
	const base = "plant: {kind: drawn-mass, mass: 1 kg, spring: 100 N/m}\nstep: 1 ms\n"
	const ramp, lugre = "input: {kind: ramp, velocity: 0.1 m/s}\n", "friction: lugre\n"
	for _, c := range []struct{ name, text, fails, warns string }{
		{"nothing to say", ramp + lugre + "duration: 1 s\n", "", ""},
		{"a whole number but for rounding", ramp + lugre + "duration: 0.3 s\n", "", ""},
		{"a row a minute", ramp + lugre + "duration: 1 s\noutputs: {every: 60 s}\n",
			"outputs.every: one row in 60000 steps, but the run has 1000", ""},
		{"every 1001st step", ramp + lugre + "duration: 1 s\noutputs: {decimate: 1001}\n", "outputs.decimate: one row in 1001 steps", ""},
		{"the last step only", ramp + lugre + "duration: 1 s\noutputs: {decimate: 1000}\n", "", ""},
		{"a broken step", ramp + lugre + "duration: 1.0004 s\n", "", "the run ends at 1 s"},
		{"5 kHz at 1 kHz", "input: {kind: sine, amplitude: 1 mm, frequency: 5 kHz}\n" + lugre + "duration: 1 s\n", "",
			"input: 5000 Hz is beyond half the rate of the steps, 500 Hz"},
		{"a chirp that gets there", "input: {kind: chirp, amplitude: 1 mm, frequency: 1 Hz, frequency_end: 600 Hz, " +
			"sweep: 1 s}\n" + lugre + "duration: 1 s\n", "", "input: 600 Hz"},
		{"a fast load", ramp + "friction: {law: lugre, defaults: public, N0: 5 N}\nnormal: {kind: multisine, offset: 5 N, tones: [{amplitude: " +
			"1 N, frequency: 700 Hz}]}\nduration: 1 s\n", "", "normal: 700 Hz"},
		{"an idle load", ramp + lugre + "normal: 5 N\nduration: 1 s\n", "", "normal: not used by lugre"},
		{"a load that counts", ramp + "friction: [lugre, {law: coulomb, defaults: public, mu: 0.2}]\nnormal: 5 N\nduration: 1 s\n", "", ""},
		{"an idle current", ramp + lugre + "current: 5 A\nduration: 1 s\n", "", "current: not used by lugre"},
		{"a current that counts", ramp + "friction: graphite-brush\ncurrent: 5 A\nduration: 1 s\n", "", ""},
	} {
		_, warnings, err := SimulateBytes("x.yaml", []byte(base+c.text))
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v, want %q", c.name, err, c.fails)
		}
		said := ""
		for _, w := range warnings {
			said += w.Msg + "\n"
		}
		if (said == "") != (c.warns == "") || !strings.Contains(said, c.warns) {
			t.Errorf("%s: warned %q, want %q", c.name, said, c.warns)
		}
	}
}

// Sensors have the units of their columns, on a rotary axis too; what is wrong with them is said at its place.
func TestSensorsAreChecked(t *testing.T) {
	const base = "plant: {kind: imposed-velocity}\ninput: 1\nduration: 1 s\nfriction: {law: dahl, sigma0: 1e3, Fc: 1, exponent: 1}\n"
	for _, c := range []struct{ text, fails, warns string }{
		{"sensors: {seed: 3, position: {noise: 1 µm, resolution: 5 nm}, velocity: {noise: 1 mm/s}, force: {noise: 2 mN}}", "", ""},
		{"axis: rotary\nsensors: {position: {resolution: 0.1 deg}, velocity: {noise: 1 rpm}, force: {noise: 2 mN·m}}", "", ""},
		{"sensors: {position: {noise: 1 N}}", "sensors.position.noise: 1 N is in N (force), want m (length)", ""},
		{"axis: rotary\nsensors: {force: {noise: 1 N}}", "sensors.force.noise: 1 N is in N (force), want N·m", ""},
		{"sensors: {force: {resolution: -1 mN}}", "sensors.force.resolution: -0.001 N, want ≥ 0", ""},
		{"sensors: {force: {nois: 1}}", `did you mean "noise"?`, ""},
		{"sensors: {force: 1 N}", "want {noise, resolution}", ""},
		{"sensors: {seed: -1}", "sensors.seed: -1, want ≥ 0", ""},
		{"sensors: {velocity: {noise: 1 mm/s}}\noutputs: {columns: [position]}", "", "outputs.columns has no velocity or mean_velocity"},
	} {
		_, warnings, err := SimulateBytes("x.yaml", []byte(base+c.text+"\n"))
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v, want %q", c.text, err, c.fails)
		}
		said := ""
		for _, w := range warnings {
			said += w.Msg + "\n"
		}
		if (said == "") != (c.warns == "") || !strings.Contains(said, c.warns) {
			t.Errorf("%s: warned %q, want %q", c.text, said, c.warns)
		}
	}
}

// A misspelt word for the defaults is one problem, and on a rotary axis the reason for the missing numbers is named.
func TestMissingParametersSayWhy(t *testing.T) {
	const rest = "plant: {kind: imposed-velocity}\ninput: 1\nduration: 1 s\n"
	_, _, err := SimulateBytes("x.yaml", []byte(rest+"friction: {law: dahl, defaults: privat, Fc: 1 N}\n"))
	if err == nil || !strings.Contains(err.Error(), "is not one of public") || strings.Contains(err.Error(), "lacks") {
		t.Error(err)
	}
	_, _, err = SimulateBytes("x.yaml", []byte("axis: rotary\n"+rest+"friction: lugre\n"))
	if err == nil || !strings.Contains(err.Error(), "lugre lacks sigma0") || !strings.Contains(err.Error(), "the public set is one of a "+
		"linear axis") {
		t.Error(err)
	}
}
