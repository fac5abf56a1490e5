package configs

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/friction"
)

// Every unit of every law has a partner on a rotary axis and comes back from there; a unit that has none panics.
func TestUnitsOfLawsHavePartners(t *testing.T) {
	for _, info := range friction.Laws() {
		law := info.NewLaw()
		units := map[string]string{}
		for _, p := range law.Params() {
			units[p.Name] = p.Unit
		}
		for _, s := range law.States() {
			units["state "+s.Name] = s.Unit
		}
		for name, unit := range units {
			rotary := engine.RotaryUnit(unit)
			if engine.LinearUnit(rotary) != unit {
				t.Errorf("%s %s: %s is %s on a rotary axis, and that is %s on a linear one", info.Name, name, unit, rotary, engine.LinearUnit(rotary))
			}
			if rotary == unit && strings.ContainsAny(unit, "Nk") {
				t.Errorf("%s %s: %s on a rotary axis", info.Name, name, unit)
			}
		}
	}
}

// Every tag of an axis has a partner on a linear one, and both are units that a file may name.
func TestUnitsOfAxesHavePartners(t *testing.T) {
	count, angles := map[string]int{}, 0
	var walk func(path string, v reflect.Value, section schema.Field)
	walk = func(path string, v reflect.Value, section schema.Field) {
		for _, f := range schema.FieldsIn(v.Type(), section) {
			x, p := v.FieldByIndex(f.Index), path+"."+f.Key
			if _, self := x.Addr().Interface().(schema.SelfReading); self {
				continue
			}
			if x.Kind() == reflect.Slice {
				x = schema.NewValue(x.Type().Elem()).Elem()
			}
			if x.Kind() == reflect.Struct {
				walk(p, x, f)
				continue
			}
			all := f.AllUnits()
			for _, u := range all {
				if _, err := schema.ParseUnit(u); err != nil {
					t.Errorf("%s: %v", p, err)
				}
			}
			angular := strings.HasPrefix(f.Unit, referenceTag) || strings.Contains(f.Unit, "rad") || strings.Contains(f.Unit, "N·m") ||
				strings.Contains(f.Unit, "kg")
			switch {
			case strings.HasSuffix(p, ".phase"):
				angles++
				if !slices.Equal(all, []string{"rad"}) {
					t.Errorf("%s: %v, want rad on both kinds of axis", p, all)
				}
			case angular && (len(all) != 2 || strings.Contains(all[1], "rad") || strings.Contains(all[1], "N·m")):
				t.Errorf("%s: %v", p, all)
			case !angular && len(all) != 1:
				t.Errorf("%s: %v, want one unit", p, all)
			}
			count[strings.Join(all, " ")]++
		}
	}
	a := schema.New[Axis]()
	walk("axis", reflect.ValueOf(a).Elem(), schema.Field{})
	if len(count) < 15 || angles == 0 {
		t.Errorf("%d units in the sections of an axis, %d phases: %v", len(count), angles, count)
	}
}

// linearFile is an axis that moves along a line, with a voice coil: {number, unit} of some of its keys, in the units of such an axis.
func linearFile(change map[string]string) string {
	keys := map[string]string{
		"count": "{name: carriage.position, unit: m, type: i32, scale: 1 µm}", "inertia": "0.4 kg", "K": "12 N/A", "Fc": "1 N",
		"sigma0": "1e5 N/m", "sigma1": "300 N·s/m", "vs": "1 mm/s",
		"effort_walk": "2 N/√s", "position_noise": "1 µm", "amplitude": "20 mm", "kp": "2 kN/m", "kd": "60 N·s/m", "limit": "20 N",
		"max_speed": "1 m/s", "max_error": "5 mm",
		"dead_band": "1 mm", "comp_limit": "3 N", "phase": "90 deg",
	}
	for k, v := range change {
		keys[k] = v
	}
	text := `version: 2
rig: {name: stage}
loop: {rate: 1 kHz}
devices:
  drive:
    port: /dev/ttyUSB0
    baud: 2000000
    protocol: link
    measure:
      - $count
      - {name: coil.current, unit: A, type: i16, scale: 1 mA}
    command:
      - {name: voltage, unit: V, type: i16, scale: 1 mV, limit: ±24 V}
      - {name: enable, type: u8}
axes:
  carriage:
    kind: linear
    position: drive.carriage.position
    current: drive.coil.current
    drive: {command: drive.voltage, enable: drive.enable}
    motor: {R: 3 ohm, L: 1 mH, K: $K, J: $inertia}
    friction: {law: lugre, sigma0: $sigma0, sigma1: $sigma1, sigma2: 0.4 N·s/m, Fc: $Fc, Fs: 1.5 N, vs: $vs, vd: 0}
    estimator: {position_noise: $position_noise, current_noise: 10 mA, effort_walk: $effort_walk}
    reference: {kind: multisine, tones: [{amplitude: $amplitude, frequency: 1 Hz, phase: $phase}]}
    control: {kind: pd, kp: $kp, kd: $kd, limit: $limit}
    compensation: {kind: feedforward, limit: $comp_limit}
    guard: {max_speed: $max_speed, max_error: $max_error, max_current: 5 A, rated_current: 2 A}
`
	for k, v := range keys {
		text = strings.ReplaceAll(text, "$"+k+",", v+",")
		text = strings.ReplaceAll(text, "$"+k+"}", v+"}")
		text = strings.ReplaceAll(text, "$"+k+"\n", v+"\n")
	}
	return text
}

func TestLinearAxis(t *testing.T) {
	c, err := LoadBytes("stage.yaml", []byte(linearFile(nil)))
	if err != nil {
		t.Fatal(err)
	}
	a := c.Axes[0]
	if a.Motor.J != 0.4 || a.Motor.K != 12 || a.Control.Kp != 2000 || a.Reference.Tones[0].Amplitude != 0.02 || a.Guard.MaxError != 0.005 ||
		a.Estimator.PositionNoise != 1e-6 {
		t.Errorf("%+v", a)
	}
	// what is in force says its units and loads again
	text, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"J: 0.4 # kg\n", "kp: 2000 # N/m\n", "effort_walk: 2 # N/√s\n", "amplitude: 0.02 # m\n",
		"max_speed: 1 # m/s\n", "K: 12 # N/A\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the configuration in force lacks %q", want)
		}
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "N·m") || strings.Contains(line, "rad") && !strings.Contains(line, "phase") {
			t.Errorf("a linear axis in force: %s", line)
		}
	}
	again, err := LoadBytes("again.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if twice, _ := again.Marshal(); string(twice) != string(text) {
		t.Errorf("it comes back as\n%s", twice)
	}
}

// Units of the other kind of axis are refused by the unit that is wanted.
func TestLinearAxisRefusesRotaryUnits(t *testing.T) {
	for key, c := range map[string][2]string{
		"inertia":        {"7e-5 kg·m²", "want kg (mass)"},
		"K":              {"40 mN·m/A", "want N/A"},
		"Fc":             {"15 mN·m", "want N (force)"},
		"sigma0":         {"11 N·m/rad", "want N/m (stiffness)"},
		"sigma1":         {"20 mN·m·s/rad", "want N·s/m (damping)"},
		"vs":             {"0.5 rad/s", "want m/s (velocity)"},
		"effort_walk":    {"1 mN·m/√s", "want N/√s"},
		"position_noise": {"1 mrad", "want m (length)"},
		"amplitude":      {"1 rad", "want m (length)"},
		"kp":             {"1 N·m/rad", "want N/m (stiffness)"},
		"kd":             {"1 N·m·s", "want N·s/m (damping)"},
		"limit":          {"0.1 N·m", "want N (force)"},
		"max_speed":      {"300 rpm", "want m/s (velocity)"},
		"max_error":      {"10 deg", "want m (length)"},
		"comp_limit":     {"0.1 N·m", "want N (force)"},
		"phase":          {"1 mm", "want rad (angle)"},
	} {
		_, err := LoadBytes("stage.yaml", []byte(linearFile(map[string]string{key: c[0]})))
		if err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %s: %v, want %q", key, c[0], err, c[1])
		}
	}
	// a range is refused in the unit of the axis
	_, err := LoadBytes("stage.yaml", []byte(linearFile(map[string]string{"Fc": "-1 N"})))
	if err == nil || !strings.Contains(err.Error(), "-1 N, want") {
		t.Error(err)
	}
}
