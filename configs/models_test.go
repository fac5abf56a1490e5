package configs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hilrig/configs/schema"
	"hilrig/hil"
)

// withModels is the demo's file with these models.
func withModels(section string) []byte {
	return append(DemoYAML(), "\nmodels:\n"+section...)
}

// Shares that a file leaves out are equal parts of 0.3; what it gives stays.
func TestSharesOfModels(t *testing.T) {
	for _, c := range []struct {
		section string
		want    []float64
	}{
		{"  a: {kind: brush}", []float64{0.3}},
		{"  a: {kind: brush}\n  b: {kind: brush, share: 20 %}\n  c: {kind: brush}", []float64{0.1, 0.2, 0.1}},
		{"  a: {share: 0.25}\n  b: {share: 0.25}", []float64{0.25, 0.25}},
	} {
		cfg, err := LoadBytes("rig.yaml", withModels(c.section))
		if err != nil {
			t.Errorf("%s:\n%v", c.section, err)
			continue
		}
		for i, m := range cfg.Models {
			if d := m.Share - c.want[i]; d > 1e-15 || d < -1e-15 || m.Axis != "shaft" {
				t.Errorf("%s: %s has the share %g on axis %q, want %g", c.section, m.Name, m.Share, m.Axis, c.want[i])
			}
		}
	}
}

// Mistakes in the list are told where they stand.
func TestModelsAreChecked(t *testing.T) {
	nine := ""
	for i := range hil.MaxModels + 1 {
		nine += fmt.Sprintf("  m%d: {kind: brush}\n", i)
	}
	for _, c := range []struct{ section, want string }{
		{"  a: {share: 30 %}\n  b: {share: 21 %}", "models: their shares add up to 0.51 of the period, want at most 0.5"},
		{"  a: {share: 60 %}", "models.a.share: 0.6"},
		{"  a: {share: 0}", "models.a.share"},
		{"  a: {kind: brsh}", `models.a.kind: "brsh"`},
		{"  a: {kind: second-sensor}", "models.a.sensor is missing"},
		{"  a: {kind: second-sensor, sensor: {reading: drive.motor.angel}}", "did you mean \"drive.motor.angle\"?"},
		{"  a: {kind: second-sensor, sensor: {reading: drive.motor.angle}}", "is the position of shaft itself"},
		{"  a: {kind: second-sensor, sensor: {reading: drive.motor.current}}", "is in \"A\", and shaft in \"rad\""},
		{"  a: {kind: second-sensor, sensor: {reading: drive.motor.current, depth: 0}}", "models.a.sensor.depth"},
		{"  a.b: {kind: brush}", `"a.b", want up to 32 letters`},
		{"  drive: {kind: brush}", "devices.drive has that name too"},
		{"  a: {kind: brush}\n  a: {kind: brush}", "a"},
		{nine, "models: 9, this version runs at most 8"},
		{"  a: {kind: rival-laws}", "models.a.laws: 0, want a list of 2 to 8 friction laws"},
		{"  a: {kind: rival-laws, laws: " + coulomb(10) + "}", "models.a.laws: 1, want"},
		{"  a: {kind: rival-laws, laws: [" + coulomb(10) + ", " + coulomb(12) + "]}",
			"models.a.laws[1].label: coulomb is the name of another signal"},
		{"  a: {kind: rival-laws, laws: [" + coulomb(10) + ", {law: coulomb, label: busy, Fc: 1}]}", "models.a.laws[1].label: busy is the name"},
		{"  a: {kind: rival-laws, laws: [" + coulomb(10) + ", {law: coulomb, label: a.b, Fc: 1}]}",
			"models.a.laws[1].label: \"a.b\", want up to 32"},
		{"  a: {kind: rival-laws, laws: [" + coulomb(10) + ", {law: dahl, Fc: 1 N}]}", "models.a.laws[1].Fc: 1 N is in N"},
		{"  a: {kind: rival-laws, laws: [" + coulomb(10) + ", {law: dahl, Fc: 1}]}", "dahl lacks sigma0 (bristle stiffness, N·m/rad)"},
		{"  a: {kind: rival-laws, laws: [" + coulomb(10) + ", {law: dahll}]}", "dahl"},
		{"  a: {kind: rival-laws, memory: 0.1, laws: [" + coulomb(10) + ", {law: dahl, sigma0: 1, Fc: 1, exponent: 1}]}",
			"models.a.memory: 0.1 s"},
		{"  a: {kind: rival-laws, axis: shift, laws: [" + coulomb(10) + ", {law: dahl, sigma0: 1, Fc: 1, exponent: 1}]}", `"shift" is no axis`},
		{"  a: {kind: ball}", "models.a.ball is missing"},
		{"  a: {kind: ball, ball: {body: {mass: 54 g}}}", "models.a.ball.body.radius is missing"},
		{"  a: {kind: ball, ball: {" + paperBody + ", position: [drive.x, drive.y, drive.z]}}", `"drive.x" is no measurement`},
		{"  a: {kind: ball, ball: {" + paperBody + ", position: [drive.motor.angle, drive.y, drive.z]}}",
			`drive.motor.angle is in "rad", want "m"`},
		{"  a: {kind: ball, ball: {" + paperBody + ", orientation: [drive.status, drive.status, drive.y, drive.z]}}",
			"drive.status is models.a.ball.orientation[0] already"},
		{"  a: {kind: ball, ball: {" + paperBody + ", position: [drive.x]}}", "models.a.ball.position: want 3 values, got 1"},
		{"  a: {kind: ball, ball: {" + paperBody + "}}", "models.a.ball.orientation is missing"},
		{"  a: {kind: ball, ball: {" + paperBody + ", position_noise: 0}}", "models.a.ball.position_noise"},
		{"  a: {kind: ball, ball: {" + strings.Replace(paperBody, "10.9 mm", "36 mm", 1) + "}}", "models.a.ball.body.center_of_mass"},
	} {
		if _, err := LoadBytes("rig.yaml", withModels(c.section)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n%v\nwant %q", c.section, err, c.want)
		}
	}
}

// paperBody is the body of [KKK17].
const paperBody = "body: {radius: 35 mm, mass: 54 g, inertia: [36535.4e-9, 36535.4e-9, 22355.6e-9], center_of_mass: [0, 0, 10.9 mm]}"

// sameRivals compares lists of laws as sameFriction does one.
var sameRivals = cmp.Comparer(func(a, b RivalLaws) bool {
	return slices.EqualFunc(a.Laws, b.Laws, func(x, y Law) bool { return cmp.Equal(Friction{x}, Friction{y}, sameFriction) })
})

// coulomb is a law in mN·m.
func coulomb(fc int) string { return fmt.Sprintf("{law: coulomb, Fc: %d mN·m}", fc) }

// Laws are in the units of the model's axis, also where the file names the axes last; they come back as they were written, and keys of
// another kind are warned about.
func TestRivalLawsOfAFile(t *testing.T) {
	text := "  laws: {kind: rival-laws, memory: 30 s, laws: [{law: coulomb, label: low, Fc: 10 mN·m}, {law: dahl, sigma0: 11 N·m/rad, Fc: " +
		"0.015, exponent: 1}, lugre]}"
	if _, err := LoadBytes("rig.yaml", withModels(text)); err == nil || !strings.Contains(err.Error(), "published numbers are those "+
		"of no rig") {
		t.Errorf("the public set on a rotary axis: %v", err)
	}
	text = strings.Replace(text, ", lugre]", "]", 1)
	c, err := LoadBytes("rig.yaml", withModels(text))
	if err != nil {
		t.Fatal(err)
	}
	m := &c.Models[0]
	rivals := m.Rivals()
	if m.Memory != 30 || m.Share != 0.3 || len(rivals) != 2 || rivals[0].Name != "low" || rivals[1].Name != "dahl" {
		t.Fatalf("%+v: %+v", m, rivals)
	}
	if l := m.Laws.Laws[1]; l.param("sigma0") != 11 || l.param("Fc") != 0.015 {
		t.Errorf("%+v", l.Model)
	}
	if got, want := c.Resolution(&c.Axes[0]), 1e-4; got != want { // the position noise is more than a count
		t.Errorf("resolution %g, want %g", got, want)
	}
	first, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"label: low", "Fc: 0.01 # N·m", "sigma0: 11 # N·m/rad"} {
		if !strings.Contains(string(first), line) {
			t.Errorf("lacks %q", line)
		}
	}
	back, warnings, err := CheckBytes("back.yaml", first)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		if strings.Contains(w.Error(), "models") {
			t.Error(w)
		}
	}
	if second, err := back.Marshal(); err != nil || string(second) != string(first) {
		t.Errorf("does not come back: %v", err)
	}
	for _, w := range []struct{ section, want string }{
		{"  a: {kind: brush, memory: 5 s}", "models.a.memory: not used by kind brush"},
		{"  a: {kind: brush, laws: [" + coulomb(1) + "]}", "models.a.laws: not used by kind brush"},
		{"  a: {kind: rival-laws, step: 10 µs, laws: [" + coulomb(1) + ", {law: dahl, sigma0: 1, Fc: 1, exponent: 1}]}",
			"models.a.step: not used by kind rival-laws"},
	} {
		_, warnings, err := CheckBytes("rig.yaml", withModels(w.section))
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Error(), w.want) {
			t.Errorf("%s: %v %v, want %q", w.section, err, warnings, w.want)
		}
	}
}

// A linear axis has its rival laws in N and m.
func TestRivalLawsOfALinearAxis(t *testing.T) {
	text := linearFile(nil) + "models: {laws: {kind: rival-laws, laws: [{law: coulomb, Fc: 10 N}, {law: dahl, sigma0: 1e5 N/m, Fc: 12, " +
		"exponent: 1}]}}\n"
	c, err := LoadBytes("stage.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Models[0].Laws.Laws[1].param("sigma0"); got != 1e5 {
		t.Errorf("sigma0 %g, want 1e5", got)
	}
	if linear, err := c.Marshal(); err != nil || !strings.Contains(string(linear), "sigma0: 100000 # N/m") {
		t.Errorf("%v\n%s", err, linear)
	}
	if _, err := LoadBytes("stage.yaml", []byte(linearFile(nil)+"models: {brushes: {kind: brush}}\n")); err == nil ||
		!strings.Contains(err.Error(), "models.brushes.axis: carriage is linear; brushes stand on a commutator") {
		t.Errorf("%v", err)
	}
	if _, err := LoadBytes("stage.yaml", []byte(strings.Replace(text, "Fc: 10 N}", "Fc: 10 mN·m}", 1))); err == nil ||
		!strings.Contains(err.Error(), "models.laws.laws[0].Fc: 10 mN·m is in N·m (torque or energy), want N (force)") {
		t.Errorf("%v", err)
	}
}

// On an axis of which little is known a brush has the model's own motor, and friction that nobody estimates has no rivals.
func TestModelsOfOtherAxes(t *testing.T) {
	text := `version: 2
rig: {name: other}
loop: {rate: 1 kHz}
devices:
  drive:
    port: /dev/ttyUSB0
    baud: 2000000
    measure:
      - {name: angle, unit: rad, type: i32, scale: 1e-4}
      - {name: current, unit: A, type: i16, scale: 1 mA, range: ±20 A}
    command:
      - {name: amps, unit: A, type: i16, scale: 1 mA, limit: ±10 A}
axes:
  shaft:
    position: drive.angle
    current: drive.current
    inertia: 7e-5 kg·m²
    drive: {kind: current, command: drive.amps, K: 0.042 N·m/A}
    friction: {law: lugre, sigma0: 11 N·m/rad, sigma1: 0.02 N·m·s/rad, sigma2: 1.5e-4 N·m·s/rad, Fc: 15 mN·m, Fs: 21 mN·m, vs: 0.5 rad/s, vd: 0.3 rad/s}
    estimator: {position_noise: 0.1 mrad, current_noise: 20 mA, effort_walk: 0.1 N·m/√s}
    reference: {kind: sine, amplitude: 2 rad, frequency: 0.5 Hz}
    control: {kind: pd, kp: 0.05 N·m/rad, kd: 2 mN·m·s/rad, limit: 0.3 N·m}
    compensation: {kind: feedforward, scale: 0.8, inertia: true}
    guard: {max_speed: 100 rad/s, max_error: 2 rad}
models: {brushes: {kind: brush}}
`
	c, err := LoadBytes("rig.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	own := schema.New[RigBrush]().Motor
	if m := c.Models[0].Parameters.Of(c.Axes[0].MotorModel()).Motor; m.Resistance != own.Resistance || m.Inductance != own.Inductance ||
		m.Constant != 0.042 || m.Inertia != 7e-5 {
		t.Errorf("motor %+v", m)
	}
	passive := `version: 2
rig: {name: other}
loop: {rate: 1 kHz}
devices:
  drive: {port: /dev/ttyUSB0, measure: [{name: angle, unit: rad, type: i32, scale: 1e-4}]}
axes:
  shaft:
    position: drive.angle
    drive: {kind: none}
    estimator: {position_noise: 0.1 mrad, acceleration_walk: 100}
models: {laws: {kind: rival-laws, laws: [` + coulomb(10) + `, {law: dahl, sigma0: 11, Fc: 1, exponent: 1}]}}
`
	if _, err := LoadBytes("rig.yaml", []byte(passive)); err == nil || !strings.Contains(err.Error(), "models.laws.axis: of shaft no "+
		"inertia is known, so its friction is not estimated") {
		t.Errorf("%v", err)
	}
}
