package configs

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/hil/axis"
)

// sameFriction compares the law of a rig by what it does, and not by where it stood and what the file left out.
var sameFriction = cmp.Comparer(func(a, b Friction) bool {
	return a.Name == b.Name && a.Label == b.Label && reflect.DeepEqual(a.Model, b.Model)
})

// demoWith is the demonstration with another law behind the virtual rig, and the one of the axis if it is not "".
func demoWith(t *testing.T, plant, axis string) []byte {
	t.Helper()
	text := string(DemoYAML())
	for _, l := range []struct{ before, law string }{{"\nvirtual:\n", plant}, {"\naxes:\n", axis}} {
		if l.law == "" {
			continue
		}
		at := strings.Index(text, l.before)
		head, rest := text[:at], text[at:]
		text = head + replaceSection(t, rest, "friction", l.law)
	}
	return []byte(text)
}

// replaceSection writes a flow section over the first one of that key, which stands below it in lines that are indented more.
func replaceSection(t *testing.T, text, key, section string) string {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if !strings.HasPrefix(line[indent:], key+":") {
			continue
		}
		end := i + 1
		for end < len(lines) && strings.HasPrefix(lines[end], strings.Repeat(" ", indent+1)) {
			end++
		}
		return strings.Join(lines[:i], "") + line[:indent] + key + ": " + section + "\n" + strings.Join(lines[end:], "")
	}
	t.Fatalf("no section %s", key)
	return ""
}

const gms = "{law: gms, sigma0: 11 N·m/rad, ratio: 2, elements: 6, C: 1 N·m/s, sigma2: 0.15 mN·m·s/rad, Fc: 15 mN·m, Fs: 21 " +
	"mN·m, vs: " +
	"0.5 rad/s}"

// Any law stands behind the virtual rig, in N·m and rad; what Marshal writes is the same law again.
func TestFrictionOfThePlant(t *testing.T) {
	c, err := LoadBytes("rig.yaml", demoWith(t, gms, ""))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if c.Virtual.Plant.Axes[0].Friction.Model == nil {
			t.Fatal("the law was not taken")
		}
		law, ok := c.Virtual.Plant.Axes[0].Friction.Model.(*friction.GMS)
		if !ok || law.Sigma0 != 11 || law.Fs != 0.021 || law.Elements != 6 {
			t.Fatalf("law %T %+v", c.Virtual.Plant.Axes[0].Friction.Model, c.Virtual.Plant.Axes[0].Friction.Model)
		}
		text, err := c.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if c, err = LoadBytes("again.yaml", text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	if c, err = LoadBytes("rig.yaml", demoWith(t, strings.Replace(gms, "}", ", backward: {Fc: 12 mN·m, sigma2: 0.2 mN·m·s/rad}}", 1),
		"")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // levels of their own for backward motion
		law, ok := c.Virtual.Plant.Axes[0].Friction.Model.(*friction.TwoSided)
		if !ok {
			t.Fatalf("law %T", c.Virtual.Plant.Axes[0].Friction.Model)
		}
		fore, back := law.Sides()
		f, b := fore.(*friction.GMS), back.(*friction.GMS)
		if f.Fc != 0.015 || b.Fc != 0.012 || f.Sigma2 != 0.15e-3 || b.Sigma2 != 0.2e-3 || b.Fs != 0.021 || b.Sigma0 != 11 {
			t.Fatalf("forward %+v, backward %+v", f, b)
		}
		text, err := c.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if c, err = LoadBytes("again.yaml", text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	for _, bad := range []struct{ law, want string }{
		{strings.Replace(gms, "}", ", backward: {sigma0: 12}}", 1), `unknown key "sigma0" under virtual.plant.axes.shaft.friction.backward`},
		{strings.Replace(gms, "}", ", backward: {Fc: 12 N}}", 1), "want N·m"},
		{strings.Replace(gms, "}", ", backward: {Fc: 30 mN·m}}", 1), "want at least Fc"},
		{strings.Replace(gms, "}", ", backward: {Fc: -1}}", 1), "backward.Fc: -1 N·m, want > 0"},
		{strings.Replace(gms, "}", ", backward: 12 mN·m}", 1), "want levels and viscosity for backward motion"},
		{"{law: karnopp, Fc: 1, Fs: 2, Fv: 0, backward: {Fc: 2}}", "stick mode"},
		{"{law: bouc-wen, K: 1, beta: 1, gamma: 1, n: 1, backward: {Fc: 2}}", "has none of"},
		{"{law: gsm}", `did you mean "gms"?`},
		{strings.Replace(gms, "N·m/rad", "N/m", 1), "want N·m/rad"},
		{strings.Replace(gms, "Fc: 15 mN·m, ", "", 1), "lacks Fc"},
		{strings.Replace(gms, "Fs:", "Fss:", 1), `did you mean "Fs"?`},
		{"{law: gms, defaults: public}", "published numbers are those of no rig"},
		{"{law: coulomb, Fc: 0 N·m, mu: 0.2}", "needs the normal load, but a rig has none"},
	} {
		if _, err := LoadBytes("rig.yaml", demoWith(t, bad.law, "")); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v, want %q", bad.law, err, bad.want)
		}
	}
}

// lawText is a law of the registry as a file has it, with the numbers of its public set in the units of an axis that turns.
func lawText(info friction.Info, more string) string {
	text := "{law: " + info.Name
	for _, p := range info.NewLaw().Params() {
		unit := engine.RotaryUnit(p.Unit)
		if _, err := schema.ParseUnit(unit); err != nil {
			unit = ""
		}
		text += fmt.Sprintf(", %s: %g %s", p.Name, p.Value, unit)
	}
	return text + more + "}"
}

// The friction of an axis is any law, and every compensation takes every law but for those that would feed the sign of a measured speed
// back, and for what belongs to lugre; a refusal says which law and why.
func TestFrictionOfAnAxis(t *testing.T) {
	for _, info := range friction.Laws() {
		c, err := LoadBytes("rig.yaml", demoWith(t, gms, lawText(info, "")))
		if c == nil {
			c, err = LoadBytes("rig.yaml", []byte(strings.Replace(string(demoWith(t, gms, lawText(info, ""))), "kind: observer",
				"kind: feedforward", 1)))
		}
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		law := info.NewLaw()
		if c.Axes[0].Friction.Name != info.Name || !reflect.DeepEqual(c.Axes[0].Friction.Model.Params(), law.Params()) {
			t.Errorf("%s came as %+v", info.Name, c.Axes[0].Friction)
		}
		for _, k := range []struct {
			kind axis.CompKind
			gain float64
			want string // "": taken
		}{
			{axis.CompNone, 0, ""}, {axis.CompFeedForward, 0, ""}, {axis.CompStatic, 0, ""},
			{axis.CompObserver, 0, refusal(law, info.Name+" does not yield before it slides")},
			{axis.CompGain, 0, refusal(law, "positive feedback of the sign of that speed")},
			{axis.CompObserver, 0.1, lugreOnly(info.Name, law, "corrects the bristle of lugre, and the law is "+info.Name)},
			{axis.CompLuGre, 0, lugreOnly(info.Name, nil, "learns three parameters of lugre, and the law is "+info.Name)},
		} {
			c.Axes[0].Compensation.Kind, c.Axes[0].Compensation.Gain = k.kind, k.gain
			problems, _ := c.Validate()
			switch {
			case k.want == "" && len(problems) > 0:
				t.Errorf("%s with %v: %v", info.Name, k.kind, problems)
			case k.want != "" && (len(problems) != 1 || !strings.Contains(problems[0].Error(), k.want)):
				t.Errorf("%s with %v: %v, want one problem with %q", info.Name, k.kind, problems, k.want)
			}
		}
	}
}

// An axis that no effort drives may do without a law, and one with a drive of efforts may not.
func TestFrictionMayBeLeftOut(t *testing.T) {
	text := func(drive, unit string) string {
		return `version: 2
rig: {name: x}
loop: {rate: 1 kHz}
devices:
  drive:
    port: /dev/ttyUSB0
    baud: 2000000
    protocol: link
    measure: [{name: angle, unit: rad, type: i32, scale: 1e-4}]
    command: [{name: u, unit: "` + unit + `", type: i16, scale: 1e-3, limit: ±30}]
axes:
  shaft:
    position: drive.angle
    drive: {kind: ` + drive + `, command: drive.u}
    inertia: 1e-4
    estimator: {effort_walk: 0.1, acceleration_walk: 100}
    control: {kp: 0.25, kd: 0.006, limit: 0.4, gain: 20 1/s}
    guard: {max_speed: 100, max_error: 1}
`
	}
	if _, err := LoadBytes("x.yaml", []byte(text("effort", "N·m"))); err == nil ||
		!strings.Contains(err.Error(), "axes.shaft.friction is missing: {law: lugre, sigma0: …}; hil laws lists") {
		t.Error(err)
	}
	without := strings.NewReplacer("    inertia: 1e-4\n", "", "effort_walk: 0.1, ", "", "kp: 0.25, kd: 0.006, limit: 0.4, ", "")
	c, err := LoadBytes("x.yaml", []byte(without.Replace(text("velocity", "rad/s"))))
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if c, err = LoadBytes("again.yaml", again); err != nil || c.Axes[0].Friction.Model != nil {
		t.Errorf("%v, %+v", err, c)
	}
}

// refusal is the message for a law that does not yield, else none.
func refusal(law friction.Model, message string) string {
	if law.Stiffness().K > 0 {
		return ""
	}
	return message
}

// lugreOnly is the message for any law but lugre; one that does not yield is refused for that.
func lugreOnly(name string, law friction.Model, message string) string {
	switch {
	case name == "lugre":
		return ""
	case law != nil && law.Stiffness().K == 0:
		return "does not yield"
	}
	return message
}

// A law with a stick mode may have levels of its own backward as the model of an axis, and not as a plant, which it would move.
func TestBackwardWithStickMode(t *testing.T) {
	coulomb := "{law: coulomb, Fc: 15 mN·m, backward: {Fc: 12 mN·m}}"
	forward := strings.Replace(string(demoWith(t, gms, coulomb)), "kind: observer", "kind: feedforward", 1)
	c, err := LoadBytes("rig.yaml", []byte(forward))
	if err != nil {
		t.Fatal(err)
	}
	if l := c.Axes[0].Friction.Model.Levels(); l.Sliding != (friction.ByDirection{Forward: 0.015, Backward: 0.012}) {
		t.Errorf("levels %+v", l)
	}
	for _, text := range []string{string(demoWith(t, coulomb, "")), strings.Replace(forward, "        friction: "+gms+"\n", "", 1)} {
		if _, err := LoadBytes("rig.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "coulomb has a stick mode, and moves a "+
			"mass with one set of parameters for both directions") {
			t.Error(err)
		}
	}
	// the same law under the axis and left out of the plant; simulated: refused as well
	if _, _, err := SimulateBytes("x.yaml", []byte("version: 1\nname: x\nplant: {kind: imposed-force, mass: 1}\nfriction: {law: coulomb, "+
		"Fc: 1, backward: {Fc: 2}}\ninput: 1\nduration: 1\n")); err == nil || !strings.Contains(err.Error(), "stick mode") {
		t.Error(err)
	}
}

// Editors learn from the schema which laws there are.
func TestFrictionSchema(t *testing.T) {
	text, err := schema.JSON("x", Demo())
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties struct {
			Virtual struct {
				Properties struct {
					Plant struct {
						Properties struct {
							Axes struct {
								AdditionalProperties struct {
									Properties struct {
										Friction struct {
											Properties struct{ Law struct{ Enum []string } }
										}
									}
								}
							}
						}
					}
				}
			}
		}
	}
	err = json.Unmarshal(text, &s)
	laws := s.Properties.Virtual.Properties.Plant.Properties.Axes.AdditionalProperties.Properties.Friction.Properties.Law.Enum
	if err != nil || len(laws) != len(friction.Laws()) {
		t.Errorf("%v, laws %v", err, laws)
	}
}
