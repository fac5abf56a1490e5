package configs

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/control"
	"hilrig/engine/experiment"
	"hilrig/engine/friction"
)

// The examples load; those without a reason to warn do not.
func TestSimulateExamples(t *testing.T) {
	files, _ := filepath.Glob("*.yaml")
	n := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "\nplant:") {
			continue // the file of another verb
		}
		n++
		c, warnings, err := LoadSimulate(name)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if c.Description == "" || c.Name == "" {
			t.Errorf("%s has no name or description", name)
		}
		for _, w := range warnings {
			if !strings.Contains(w.Msg, "more energy than it was given") {
				t.Errorf("an example should not need a warning: %v", w)
			}
		}
	}
	if n < 5 {
		t.Errorf("%d examples", n)
	}
	c, warnings, err := LoadSimulate("stick-slip.yaml")
	if err != nil {
		t.Fatal(err)
	}
	law := c.Friction[0].Model.(*friction.LuGre)
	if *law != (friction.LuGre{Sigma0: 1e5, Sigma1: math.Sqrt(1e5), Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 1e-3}) {
		t.Errorf("%+v", *law)
	}
	if z := c.Friction[0].Zero; !slices.Equal(z, []string{"offset", "N0"}) || len(c.Friction[0].Public) != 0 {
		t.Errorf("left out: %v, public: %v", z, c.Friction[0].Public)
	}
	if x, v, _ := c.Input.Generator().At(3); math.Abs(x-0.3) > 1e-15 || v != 0.1 {
		t.Errorf("input at 3 s: %g m, %g m/s", x, v)
	}
	// σ2 ≥ σ1·(FS−FC)/FC = 158 N·s/m for the published set, and vd = √(2e)·FC/σ1 = 7.37 mm/s [theory §4.1]
	if len(warnings) != 1 || !strings.Contains(warnings[0].Msg, "= 158 N·s/m") || !strings.Contains(warnings[0].Msg, "0.00737 m/s") ||
		warnings[0].Line != 17 {
		t.Errorf("warnings %+v", warnings)
	}
}

// Every law of the registry can stand in a file: by its name alone, and with every parameter spelt out with its unit, on a
// linear and on a rotary axis.
func TestEveryLawCanBeWritten(t *testing.T) {
	for _, info := range friction.Laws() {
		t.Run(info.Name, func(t *testing.T) {
			head := "version: 1\nplant: {kind: drawn-mass, mass: 1, spring: 100}\ninput: {kind: ramp, velocity: 0.1}\nnormal: 10\ncurrent: " +
				"1\nduration: 1\n"
			c, _, err := SimulateBytes("x.yaml", []byte(head+"friction: "+info.Name+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			want := info.NewLaw().Params()
			if len(c.Friction[0].Public) != len(want) {
				t.Errorf("public: %v", c.Friction[0].Public)
			}
			for _, axis := range []string{"linear", "rotary"} {
				text := head + "axis: " + axis + "\nfriction:\n  law: " + info.Name + "\n"
				for _, p := range want {
					unit := p.Unit
					if axis == "rotary" {
						unit = engine.RotaryUnit(unit)
					}
					if _, err := schema.ParseUnit(unit); err != nil {
						unit = ""
					}
					text += fmt.Sprintf("  %s: %.17g %s\n", p.Name, p.Value, unit)
				}
				c, _, err := SimulateBytes("x.yaml", []byte(text))
				if err != nil {
					t.Fatalf("%s\n%v", text, err)
				}
				for i, p := range c.Friction[0].Model.Params() {
					if math.Abs(p.Value-want[i].Value) > 1e-15*math.Abs(want[i].Value) {
						t.Errorf("%s: %s = %g, want %g", axis, p.Name, p.Value, want[i].Value)
					}
				}
				if len(c.Friction[0].Public)+len(c.Friction[0].Zero) != 0 {
					t.Errorf("%s: public %v, zero %v", axis, c.Friction[0].Public, c.Friction[0].Zero)
				}
			}
		})
	}
}

// The input is what the plant wants, in its unit, and rates follow.
func TestInputFollowsThePlant(t *testing.T) {
	for _, c := range []struct{ plant, axis, input, err string }{
		{"{kind: drawn-mass, mass: 1 kg, spring: 1 N/m}", "linear", "{kind: ramp, velocity: 10 mm/s}", ""},
		{"{kind: drawn-mass, mass: 1 kg·m², spring: 1 N·m/rad}", "rotary", "{kind: ramp, velocity: 10 rpm}", ""},
		{"{kind: imposed-velocity}", "linear", "{kind: sine, offset: 60 mm/s, amplitude: 40 mm/s, frequency: 1 Hz}", ""},
		{"{kind: imposed-velocity}", "linear", "{kind: ramp, rate: 0.1 m/s²}", ""},
		{"{kind: imposed-motion}", "linear", "{kind: multisine, tones: [{amplitude: 1 µm, frequency: 3 Hz, phase: 90 deg}]}", ""},
		{"{kind: imposed-force, mass: 1 kg}", "linear", "{kind: ramp, rate: 5 N/s}", ""},
		{"{kind: imposed-force, mass: 1 kg}", "linear", "2 N", ""},
		{"{kind: imposed-force, mass: 1 kg·m²}", "rotary", "2 mN·m", ""},
		{"{kind: motor, motor: {R: 1, L: 1 mH, K: 0.1, J: 1e-4}}", "rotary", "{kind: step, amplitude: 12 V}", ""},
		{"{kind: imposed-velocity}", "linear", "{kind: levels, rise: 1 ms, levels: [{value: 1 mm/s, hold: 1 s}, {value: 2 mm/s, hold: 1 s}]}",
			""},

		{"{kind: drawn-mass, mass: 1 kg, spring: 1 N/m}", "linear", "{kind: ramp, velocity: 1 N/s}",
			"input.velocity: 1 N/s is in N/s, want m/s (velocity)"},
		{"{kind: imposed-force, mass: 1 kg}", "linear", "{kind: ramp, rate: 5 m/s}", "want N/s"},
		{"{kind: imposed-force, mass: 1 kg}", "linear", "2 N·m", "input: 2 N·m is in N·m (torque or energy), want N (force)"},
		{"{kind: imposed-force, mass: 1 kg}", "linear", "{kind: file, file: x.csv}", "a file holds positions"},
		{"{kind: imposed-force, mass: 1 kg}", "linear", "{kind: trapezoid, amplitude: 1 N, acceleration: 1}",
			"input.rate is missing: kind trapezoid needs the cruising speed"},
		{"{kind: imposed-force, mass: 1 kg}", "linear", "{kind: ramp, rate: 5, velocity: 5}", "leave one of them out"},
		{"{kind: imposed-motion}", "linear", "{kind: file, file: nowhere.csv}", "nowhere.csv"},
		{"{kind: imposed-velocity}", "linear", "{kind: levels, levels: [{value: 1 mm, hold: 1 s}]}",
			"input.levels[0].value: 1 mm is in m (length), want m/s"},
		{"{kind: imposed-velocity}", "linear", "{kind: levels, rise: 2 s, levels: [{value: 1, hold: 1 s}, {value: 2}]}",
			"input.levels[0].hold: 1 s are over before the rise of 2 s is"},
		{"{kind: imposed-velocity}", "linear", "{kind: levels, levels: [{value: 2}]}", "input.levels[0].hold: 0 s, want > 0"},
		{"{kind: imposed-velocity}", "linear", "{kind: levels}", "input.levels is missing: kind levels needs at least one level"},
		{"{kind: imposed-motion}", "linear", "[1, 2]", "want a number or a generator"},
		{"{kind: motor, motor: {R: 1, L: 1 mH, K: 0.1, J: 1e-4}}", "linear", "1 V", "a motor turns"},
		{"{kind: motor}", "rotary", "1 V", "plant.motor is missing"},
		{"{kind: motor, motor: {R: 1, L: 1 mH, K: 0.1, J: 1e-4, brush_drop: 1 V}}", "rotary", "1 V", "drop_current is missing"},
		{"{kind: motor, motor: {R: 1, L: 1 mH, K: 0.1, J: 1e-4, drop_current: 1 A}}", "rotary", "1 V",
			"plant.motor.drop_current: has no effect without brush_drop"},
		{"{kind: imposed-force}", "linear", "1 N", "plant.mass is missing or zero"},
		{"{kind: drawn-mass, mass: 1 kg}", "linear", "1 m", "plant.spring is missing or zero"},
		{"{kind: drawn-mas, mass: 1 kg}", "linear", "1 m", `did you mean "drawn-mass"?`},
		{"{mass: 1 kg}", "linear", "1 m", "plant.kind is missing"},
	} {
		law := "{law: dahl, sigma0: 1e3, Fc: 1, exponent: 1}"
		_, _, err := SimulateBytes("x.yaml", fmt.Appendf(nil, "version: 1\naxis: %s\nplant: %s\ninput: %s\nfriction: %s\nduration: 1 s\n",
			c.axis, c.plant, c.input, law))
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%s %s: %v", c.plant, c.input, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s %s: %v\nwant …%s…", c.plant, c.input, err, c.err)
		}
	}
}

func TestSimulateErrors(t *testing.T) {
	good, err := os.ReadFile("stick-slip.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		old, new string
		line     int
		want     string // "warning: …" for what is legal
	}{
		{"law: lugre", "law: lugr", 15, `there is no friction law "lugr" (did you mean "lugre"?)`},
		{"law: lugre", "law: sticky", 15, "known: "},
		{"  law: lugre\n", "", 14, "friction.law is missing"},
		{"  law: lugre\n", "  lwa: lugre\n", 15, `unknown key "lwa" under friction (did you mean "law"?)`},
		{"sigma0: 1e5 N/m", "sgima0: 1e5 N/m", 16, `unknown key "sgima0" under friction (did you mean "sigma0"?)`},
		{"sigma0: 1e5 N/m", "mass: 1e5 N/m", 16, `unknown key "mass" under friction (known here: label, defaults, backward, sigma0`},
		{"sigma0: 1e5 N/m", "sigma0: 1e5 N·m/rad", 16, "friction.sigma0: 1e5 N·m/rad is in N·m/rad (rotary stiffness), want N/m (stiffness)"},
		{"sigma0: 1e5 N/m", "sigma0: [1, 2]", 16, "friction.sigma0: want a number, got a list"},
		{"sigma0: 1e5 N/m", "sigma0: 0 N/m", 16, "friction.sigma0: 0 N/m, want > 0 N/m"},
		{"sigma0: 1e5 N/m", "sigma0: 1e16 N/m", 16, "friction.sigma0: 1e+16 N/m, want 1e-12 to 1e+15 N/m"},
		{"sigma0: 1e5 N/m", "sigma0: nan", 16, "only finite numbers"},
		{"sigma1: 316", "sigma1: -316", 17, "want ≥ 0 N·s/m"},
		{"  Fc: 1 N\n  Fs: 1.5 N\n", "", 15, "friction: lugre lacks Fc (Coulomb friction, N); Fs (break-away friction (total, not the " +
			"increment), N)"},
		{"  vd: 0 ", "  # vd: 0 ", 15, "lugre lacks vd (velocity at which sigma1 has faded to 1/e; 0: it does not fade, m/s)"},
		{"Fs: 1.5 N", "Fs: 0.5 N", 20, "warning: Fs, 0.5 N, lies below Fc, 1 N"},
		{"Fs: 1.5 N", "Fs: 1.5 N\n  defaults: privat", 21, `friction.defaults: "privat" is not one of public`},
		{"law: lugre", "label: ''\n  law: lugre", 15, "want 1 to 40 characters"},
		{"version: 1", "version: 1\naxis: rotary", 17, "friction.sigma0: 1e5 N/m is in N/m (stiffness), want N·m/rad (rotary stiffness)"},
		{"version: 1", "version: 3", 5, "this program reads version 1"},
		{"step: 1 ms", "step: 0 ms", 26, "step: 0 s, want > 0 s"},
		{"step: 1 ms", "step: 1 V", 26, "step: 1 V is in V (voltage), want s (time)"},
		{"duration: 20 s", "duration: 0.1 ms", 27, "want at least one step, 0.001 s"},
		{"duration: 20 s", "duration: 2e7 s", 27, "want at most 1e9"},
		{"duration: 20 s\n", "", 0, "duration is missing"},
		{"step: 1 ms", "step: 1 ms\nscheme: midpiont", 27, `did you mean "midpoint"?`},
		{"events: {", "outputs: {every: 2.5 ms}\nevents: {", 28, "outputs.every: 0.0025 s is no whole number of steps of 0.001 s"},
		{"events: {", "outputs: {every: 2 ms, decimate: 3}\nevents: {", 28, "leave one of them out"},
		{"events: {", "outputs: {columns: [position, positon]}\nevents: {", 28, `"positon" is not one of`},
		{"events: {", "outputs: {columns: [current]}\nevents: {", 28, "for a motor only"},
		{"speed: 0.01 m/s", "speed: 0.01 m", 28, "events.speed: 0.01 m is in m (length), want m/s (velocity)"},
		{"input: {kind: ramp, velocity: 0.1 m/s}", "", 0, "input is missing: the position of the far end of the spring"},
		{"kind: ramp, velocity: 0.1 m/s", "kind: sine, amplitude: 1 mm, velocity: 0.1 m/s, frequency: 1 Hz", 24,
			"warning: input.velocity: not used by kind sine"},
		{"kind: drawn-mass", "kind: imposed-motion", 11, "warning: plant.mass: not used by plant.kind imposed-motion"},
	} {
		if !strings.Contains(string(good), c.old) {
			t.Fatalf("%q is not in the file", c.old)
		}
		_, warnings, err := SimulateBytes("x.yaml", []byte(strings.Replace(string(good), c.old, c.new, 1)))
		want, legal := strings.CutPrefix(c.want, "warning: ")
		var list []schema.Problem
		if legal {
			list = warnings
		} else if e, ok := err.(*schema.Errors); ok {
			list = e.List
		}
		if legal && err != nil {
			t.Errorf("%s: %v", c.new, err)
		}
		if !slices.ContainsFunc(list, func(p schema.Problem) bool { return strings.Contains(p.Error(), want) && p.Line == c.line }) {
			t.Errorf("%s:\n%+v\nwant …%s… in line %d", c.new, list, want, c.line)
		}
	}
}

// Two laws need two names; the same law with another label runs beside itself.
func TestLabels(t *testing.T) {
	text := "version: 1\nplant: {kind: imposed-velocity}\ninput: 1 m/s\nduration: 1 s\nfriction:\n  - dahl\n  - {law: dahl, label: stiff, " +
		"defaults: public, sigma0: 5e4 N/m}\n"
	c, _, err := SimulateBytes("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if l := c.Friction[1]; l.Label != "stiff" || l.param("sigma0") != 5e4 || slices.Contains(l.Public, "sigma0") ||
		!slices.Contains(l.Public, "Fc") {
		t.Errorf("%+v", l)
	}
	_, _, err = SimulateBytes("x.yaml", []byte(strings.Replace(text, "label: stiff, ", "", 1)))
	if err == nil || !strings.Contains(err.Error(), `x.yaml:7:5: friction[1]: two laws are called "dahl"`) {
		t.Errorf("%v", err)
	}
	if _, _, err = SimulateBytes("x.yaml", []byte("version: 1\naxis: rotary\nplant: {kind: imposed-velocity}\ninput: 1\nduration: "+
		"1\nfriction: dahl\n")); err == nil || !strings.Contains(err.Error(), "dahl lacks sigma0") {
		t.Errorf("the public set on a rotary axis: %v", err)
	}
}

// A controller takes the keys of a rig file, in the units of what it holds and of the axis.
func TestControlledMass(t *testing.T) {
	const head = "version: 1\nname: x\nstep: 1 ms\nduration: 1 s\n"
	for _, c := range []struct{ text, want string }{
		{"plant: {kind: controlled-mass, mass: 1 kg}\nfriction: lugre\ninput: 10 mm\ncontrol: {kp: 3 N/mm, ki: 4 N/(m·s), kd: 6 N·s/m, " +
			"dead_zone: 1 mm, limit: 2 N, period: 2 ms}\n", ""},
		{"plant: {kind: controlled-mass, mass: 1 kg}\nfriction: lugre\ninput: 10 mm/s\ncontrol: {of: velocity, kp: 3 N·s/m, ki: 4 N/m, " +
			"dead_zone: 1 mm/s}\n", ""},
		{"axis: rotary\nplant: {kind: controlled-mass, mass: 1 kg·m²}\nfriction: {law: coulomb, Fc: 1 N·m}\ninput: 10 deg\ncontrol: {kp: 3 " +
			"N·m/rad, ki: 4 N·m/(rad·s), kd: 6 N·m·s}\n", ""},
		{"plant: {kind: controlled-mass, mass: 1 kg}\nfriction: lugre\ninput: 1 m\n", "control is missing"},
		{"plant: {kind: controlled-mass}\nfriction: lugre\ninput: 1 m\ncontrol: {kp: 1}\n", "plant.mass is missing"},
		{"plant: {kind: controlled-mass, mass: 1 kg}\nfriction: lugre\ninput: 1 m\ncontrol: {of: velocity, kp: 1}\n", "m/s"},
		{"plant: {kind: controlled-mass, mass: 1 kg}\nfriction: lugre\ninput: 1 m\ncontrol: {kp: 3 N·s/m}\n", "N/m"},
		{"plant: {kind: controlled-mass, mass: 1 kg}\nfriction: lugre\ninput: 1 m/s\ncontrol: {of: velocity, kp: 1, kd: 1}\n",
			"no derivative gain"},
		{"plant: {kind: controlled-mass, mass: 1 kg}\nfriction: lugre\ninput: 1 m\ncontrol: {kp: 1, period: 1.5 ms}\n", "whole number of steps"},
		{"plant: {kind: controlled-mass, mass: 1 kg}\nfriction: lugre\ninput: 1 m\ncontrol: {kp: 0}\n", "all gains are zero"},
		{"plant: {kind: controlled-mass, mass: 1 kg}\nfriction: lugre\ninput: 1 m\nscheme: explicit\ncontrol: {kp: 1}\n", "midpoint or implicit"},
	} {
		f, warnings, err := SimulateBytes("x.yaml", []byte(head+c.text))
		switch {
		case c.want == "" && (err != nil || len(warnings) > 0):
			t.Errorf("%s: %v %v", c.text, err, warnings)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
		if err == nil {
			if problems, _ := f.Validate(); len(problems) > 0 {
				t.Errorf("%s: not twice: %v", c.text, problems)
			}
		}
	}
	f, _, err := SimulateBytes("x.yaml", []byte(head+"plant: {kind: controlled-mass, mass: 1 kg}\nfriction: lugre\ninput: 10 mm\ncontrol: "+
		"{kp: 3 N/mm, ki: 4 N/(m·s), kd: 6 N·s/m, dead_zone: 1 mm, limit: 2 N, period: 2 ms}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Control.Spec(), (experiment.Control{PID: control.PID{Kp: 3000, Ki: 4, Kd: 6, Limit: 2, DeadZone: 1e-3},
		Period: 2e-3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A preset stands in for the parameters that a file leaves out, and the others are public; what stands in the file wins.
func TestPresets(t *testing.T) {
	file := func(law string) (*Simulate, error) {
		c, _, err := SimulateBytes("x.yaml", []byte("version: 1\nname: x\nplant: {kind: drawn-mass, mass: 1 kg, spring: 100 "+
			"N/m}\nfriction: "+law+"\ninput: {kind: ramp, velocity: 0.1 m/s}\nstep: 1 ms\nduration: 1 s\n"))
		return c, err
	}
	c, err := file("{law: state-variable, defaults: boundary-lubricant, N0: 10 N, L: 20 µm}")
	if err != nil {
		t.Fatal(err)
	}
	l := c.Friction[0]
	if got := *l.Model.(*friction.StateVariable); got != (friction.StateVariable{Mu0: 0.5, V0: 1e-3, A: 1.1e-3, B: 4e-3, L: 20e-6, N0: 10,
		Veps: 1e-9}) {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(l.Set, []string{"A", "B"}) || !slices.Equal(l.Public, []string{"mu0", "v0", "veps"}) ||
		l.Preset.Name != "boundary-lubricant" {
		t.Errorf("%v of %s, %v public", l.Set, l.Preset.Name, l.Public)
	}
	if _, err := file("{law: state-variable, defaults: boundary-lubricants}"); err == nil ||
		!strings.Contains(err.Error(), "dry-steel, paraffin-oil, boundary-lubricant") {
		t.Errorf("%v", err)
	}
	if _, err := file("{law: lugre, defaults: dry-steel}"); err == nil || !strings.Contains(err.Error(), "is not one of public") {
		t.Errorf("a preset of another law: %v", err)
	}
	// table 6.4, in µm and thousandths
	for choice, want := range map[string][3]float64{"state-variable:dry-steel": {2.8, 9.4, 64.7},
		"state-variable:paraffin-oil": {0, 11.1, 22.4}, "state-variable:boundary-lubricant": {1.1, 4.0, 19.2}} {
		l, err := ChosenLaw(choice)
		if err != nil {
			t.Fatal(err)
		}
		m := l.Model.(*friction.StateVariable)
		if got := [3]float64{1e3 * m.A, 1e3 * m.B, 1e6 * m.L}; math.Abs(got[0]-want[0])+math.Abs(got[1]-want[1])+math.Abs(got[2]-want[2]) > 1e-9 || l.Label != choice {
			t.Errorf("%s: %v, want %v", choice, got, want)
		}
		if !slices.Contains(LawChoices(), choice) {
			t.Errorf("%s cannot be completed", choice)
		}
	}
	for choice, want := range map[string]string{"state-variable:dry": "known: dry-steel", "lugre:dry-steel": "no presets",
		"lugr:x": "did you mean"} {
		if _, err := ChosenLaw(choice); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", choice, err, want)
		}
	}
}

// Whatever stands in a file, the loader answers; a file without problems has laws and an input.
func FuzzSimulate(f *testing.F) {
	for _, name := range []string{"stick-slip.yaml", "compare-laws.yaml", "presliding.yaml", "motor-coast.yaml", "motor-start.yaml",
		"hunting.yaml"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("friction: [dahl, {law: *a}]\ninput: {kind: sine}\nplant: &a {kind: motor}\n<<: *a")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "file") {
			return // of the machine that runs this
		}
		c, _, err := SimulateBytes("x.yaml", []byte(text))
		if err != nil {
			return
		}
		if len(c.Friction) == 0 || c.Input.Generator() == nil || !(c.Step > 0) || !(c.Duration > 0) {
			t.Errorf("accepted: %+v", c)
		}
		if problems, _ := c.Validate(); len(problems) > 0 {
			t.Errorf("accepted, but not twice: %v", problems)
		}
	})
}

// A law that takes its level from the normal load needs one; a law whose numbers belong to a nominal load does not.
func TestNormalLoadIsAskedFor(t *testing.T) {
	file := func(law string) []byte {
		return []byte("version: 1\nname: x\nplant: {kind: drawn-mass, mass: 1 kg, spring: 100 N/m}\nfriction: " + law + "\ninput: {kind: ramp, " +
			"velocity: 0.1 m/s}\nstep: 1 ms\nduration: 1 s\n")
	}
	if _, _, err := SimulateBytes("x.yaml", file("{law: coulomb, mu: 0.2, Fc: 0 N}")); err == nil ||
		!strings.Contains(err.Error(), "normal is not given") {
		t.Errorf("coulomb with mu and without load: %v", err)
	}
	for _, law := range []string{"{law: coulomb, mu: 0.2, N0: 10 N, Fc: 0 N}", "state-variable", "graphite-brush",
		"{law: lugre, defaults: public, N0: 10 N}"} {
		if _, _, err := SimulateBytes("x.yaml", file(law)); err != nil {
			t.Errorf("%s: %v", law, err)
		}
	}
}
