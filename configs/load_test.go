package configs

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hilrig/configs/schema"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/hil/wire"
)

// Files in testdata that must load.
func TestGoodFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.good.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, name := range files {
		if _, err := Load(name); err != nil {
			t.Error(err)
		}
	}
}

// Files in testdata that must be refused. Their comments name what the message must contain (want:) and how many problems
// there are (count:).
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bad.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, err = LoadBytes(filepath.Base(name), data)
			var list *schema.Errors
			if !errors.As(err, &list) {
				t.Fatalf("got %v, want *Errors", err)
			}
			for line := range strings.Lines(string(data)) {
				if want, ok := strings.CutPrefix(strings.TrimSpace(line), "# want: "); ok && !strings.Contains(err.Error(), want) {
					t.Errorf("the message lacks %q:\n%v", want, err)
				}
				if want, ok := strings.CutPrefix(strings.TrimSpace(line), "# count: "); ok && want != fmt.Sprint(len(list.List)) {
					t.Errorf("%d problems, want %s:\n%v", len(list.List), want, err)
				}
			}
		})
	}
}

// The message is the one of the design, character for character.
func TestMessageFormat(t *testing.T) {
	text := "motor:\n    R: 1 ohm\n    resistence: 260 ohm\n"
	err := Decode("rig.yaml", []byte(text), &struct {
		Motor struct {
			R          float64 `yaml:"R" unit:"ohm"`
			Resistance float64 `yaml:"resistance" unit:"ohm"`
		} `yaml:"motor"`
	}{})
	want := `rig.yaml:3:5: unknown key "resistence" under motor (did you mean "resistance"?)
  2 |     R: 1 ohm
> 3 |     resistence: 260 ohm
          ^`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	var p schema.Problem
	if !errors.As(err, &p) || p.Line != 3 || p.Col != 5 || p.Path != "motor.resistence" || p.Hint == "" {
		t.Errorf("problem %+v", p)
	}
}

func TestExamplesLoad(t *testing.T) {
	t.Setenv("LAB_MQTT_PASSWORD", "secret")
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "\ndevices:") {
			continue // the file of another verb
		}
		c, warnings, err := Check(name)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		for _, w := range warnings {
			t.Errorf("an example should not need a warning: %v", w)
		}
		if c.Rig.Description == "" {
			t.Errorf("%s has no description", name)
		}
	}
}

// The demo, number by number, in SI.
func TestDemo(t *testing.T) {
	c := Demo()
	count := 2 * math.Pi / 65536
	want := []Measure{
		{Field: wire.Field{Name: "motor.angle", Unit: "rad", Type: wire.I32, Scale: count}, Stale: 0.05},
		{Field: wire.Field{Name: "motor.current", Unit: "A", Type: wire.I16, Scale: 0.001}, Range: [2]float64{-20, 20}, Stale: 0.05},
		{Field: wire.Field{Name: "motor.voltage", Unit: "V", Type: wire.I16, Scale: 0.001}, Stale: 0.05},
		{Field: wire.Field{Name: "motor.temperature", Unit: "degC", Type: wire.I16, Scale: 0.01}, Range: [2]float64{-40, 150}, Stale: 5},
		{Field: wire.Field{Name: "status", Type: wire.U8, Scale: 1}, Stale: 0.1},
	}
	if d := cmp.Diff(want, c.Devices[0].Measure); d != "" {
		t.Error(d)
	}
	commands := []Command{
		{Field: wire.Field{Name: "voltage", Unit: "V", Type: wire.I16, Scale: 0.001}, Limit: [2]float64{-24, 24}, Slew: 20000},
		{Field: wire.Field{Name: "enable", Type: wire.U8, Scale: 1}, Limit: [2]float64{0, 1}},
	}
	if d := cmp.Diff(commands, c.Devices[0].Command); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(&plant.Motor{R: 1.2, L: 0.0006, K: 0.042, BrushDrop: 0.6, DropScale: 0.05, J: 7e-5}, c.Axes[0].Motor); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(&friction.LuGre{Sigma0: 11, Sigma1: 0.02, Sigma2: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5, Vd: 0.3},
		c.Axes[0].Friction.Model); d != "" {
		t.Error(d)
	}
	if a := c.Virtual.Plant.Axes[0]; math.Abs(a.Motor.J+a.LoadJ-c.Axes[0].Motor.J) > 1e-15*c.Axes[0].Motor.J {
		t.Errorf("virtual inertia %v + %v, the model has %v", a.Motor.J, a.LoadJ, c.Axes[0].Motor.J)
	}
	if c.Virtual.Devices[0].ClockPPM != 30 || c.Axes[0].Compensation.Scale != 0.95 || c.Record.MaxBytes != 2e9 {
		t.Errorf("clock drift %v ppm, scale %v, keep %v", c.Virtual.Devices[0].ClockPPM, c.Axes[0].Compensation.Scale, c.Record.MaxBytes)
	}
}

// Numbers of a signal may be written in its unit, in another unit of the same kind, or bare; all mean the same.
func TestSiblingUnits(t *testing.T) {
	load := func(text string) Measure {
		var v struct {
			M Measure `yaml:"m"`
		}
		v.M.SetDefaults()
		if err := Decode("x.yaml", []byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v.M
	}
	for _, c := range []struct {
		text string
		want Measure
	}{
		{"m: {unit: mA}", Measure{Field: wire.Field{Unit: "A", Scale: 1e-3}}}, // one count is one mA, the default
		{"m: {unit: mA, scale: 2, offset: 500, range: ±4 A}",
			Measure{Field: wire.Field{Unit: "A", Scale: 2e-3, Offset: 0.5}, Range: [2]float64{-4, 4}}},
		{"m: {unit: A, scale: 2 mA, offset: 500 mA, range: [-4000 mA, 4]}",
			Measure{Field: wire.Field{Unit: "A", Scale: 2e-3, Offset: 0.5}, Range: [2]float64{-4, 4}}},
		{"m: {range: [-90, 0.25 turn], unit: deg}", Measure{Field: wire.Field{Unit: "rad", Scale: math.Pi / 180},
			Range: [2]float64{-math.Pi / 2, math.Pi / 2}}},
		{"m: {unit: degC, scale: 0.01 K, offset: -40, range: [233.15 K, 60 degC]}",
			Measure{Field: wire.Field{Unit: "degC", Scale: 0.01, Offset: -40}, Range: [2]float64{-40, 60}}},
		{"m: {unit: K, scale: 0.01 degC, offset: 0 degC}", Measure{Field: wire.Field{Unit: "K", Scale: 0.01, Offset: 273.15}}},
		{"m: {unit: 1, scale: 50 %}", Measure{Field: wire.Field{Scale: 0.5}}},
	} {
		got := load(c.text)
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-15*math.Max(1, math.Abs(a)) })
		if d := cmp.Diff(c.want, got, near); d != "" {
			t.Errorf("%s\n%s", c.text, d)
		}
	}
	var cmd struct {
		C Command `yaml:"c"`
	}
	if err := Decode("x.yaml", []byte("c: {unit: mV, slew: 40, limit: ±24 V, safe: 1000}"), &cmd); err != nil {
		t.Fatal(err)
	}
	if c := cmd.C; c.Slew != 0.04 || c.Limit != [2]float64{-24, 24} || c.Safe != 1 || c.Unit != "V" {
		t.Errorf("%+v", c)
	}
	if err := Decode("x.yaml", []byte("c: {unit: mV, slew: 40 V/ms}"), &cmd); err != nil || cmd.C.Slew != 40000 {
		t.Errorf("slew %v, %v", cmd.C.Slew, err)
	}
}

// Files that no YAML parser should see, or that it must survive.
func TestHostileFiles(t *testing.T) {
	nested := struct {
		Rig Rig `yaml:"rig"`
	}{}
	for name, c := range map[string]struct{ text, says string }{
		"large":        {strings.Repeat("# comment\n", 110_000), "more than 1024 kB"},
		"lines":        {strings.Repeat("a\n", 30_000), "more than 10000 lines"},
		"keys":         {strings.Repeat("a: 1\n", 7000), "more than 6000 keys"},
		"lists":        {strings.Repeat("[", 30_000), "more than 6000 keys"},
		"dashes":       {strings.Repeat("- ", 30_000), "more than 6000 keys"},
		"many":         {strings.Repeat("a: 1\n", 200), "and 150 more"},
		"zero":         {"rig:\n  name: a\x00b\n", "x:2: the file contains a zero byte"},
		"latin1":       {"rig:\n  name: M\xfcller\n", "x:2:10: byte 0xfc is not valid UTF-8"},
		"scalar":       {"hello\n", `got the word "hello"`},
		"list":         {"- a\n", "got a list"},
		"documents":    {"rig: {name: a}\n---\nrig: {name: b}\n", "a second document"},
		"null":         {"~\n", "the file is empty"},
		"directive":    {"%YAML 1.2\n---\nrgi: {}\n", `did you mean "rig"?`},
		"self":         {"rig: &r {description: *r}\n", "rig.description: want a word"},
		"merge itself": {"rig: &r {<<: *r}\n", "do they contain themselves?"},
		"alias loop":   {"rig: &a *a\n", "not valid YAML"},
		"merge word":   {"rig: {<<: 5}\n", "<< takes a section"},
		"number key":   {"rig: {5: a}\n", `unknown key "5" under rig`},
		"bom, crlf":    {"\ufeffrig:\r\n  nmae: a\r\n", "x:2:3: unknown key \"nmae\""},
	} {
		err := Decode("x", []byte(c.text), &nested)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %.300v, want %q", name, err, c.says)
		}
		if err != nil && len(err.Error()) > 6000 {
			t.Errorf("%s: a message of %d characters", name, len(err.Error()))
		}
	}
}

func TestUnreadableFiles(t *testing.T) {
	if _, err := Load("testdata/none.yaml"); err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Load("testdata"); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("folder: %v", err)
	}
}

// Passwords come from the environment, and are shown nowhere.
func TestSecrets(t *testing.T) {
	t.Setenv("HIL_TEST_PASSWORD", "hunter2")
	text := strings.Replace(string(DemoYAML()), "  prefix: hil\n", "  prefix: hil\n  broker: ssl://lab:8883\n  user: me\n  password: "+
		"a${HIL_TEST_PASSWORD}$${b}\n", 1)
	c, err := LoadBytes("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if c.MQTT.Password != "ahunter2${b}" {
		t.Errorf("password %q", c.MQTT.Password)
	}
	red := c.Redacted()
	if c.MQTT.Password != "ahunter2${b}" || red.MQTT.Password != "redacted" || red.MQTT.Operator != "" {
		t.Errorf("redacted %q, original %q", red.MQTT.Password, c.MQTT.Password)
	}
	other := *c
	other.MQTT.Password = "another"
	if c.Hash() != other.Hash() {
		t.Error("the hash depends on the password")
	}
	// a problem on the next line must not show it
	for _, text := range []string{"mqtt:\n  password: hunter2\n  usr: me\n", "mqtt: {usr: me, password: hunter2}\n",
		"mqtt:\n  password: 12345\n"} {
		if _, err := LoadBytes("x.yaml", []byte(text)); err == nil || strings.Contains(err.Error(), "hunter2") ||
			strings.Contains(err.Error(), "12345") {
			t.Errorf("%v", err)
		}
	}
}

// redact looks for secrets in plain sections only: there must be none in lists or behind pointers.
func TestSecretsAreReachable(t *testing.T) {
	var walk func(typ reflect.Type, hidden bool)
	walk = func(typ reflect.Type, hidden bool) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(typ.Elem(), true)
		case reflect.Struct:
			for _, f := range schema.FieldsOf(typ) {
				if f.Secret && hidden {
					t.Errorf("secret %s.%s is out of reach", typ, f.Key)
				}
				walk(typ.FieldByIndex(f.Index).Type, hidden)
			}
		}
	}
	walk(reflect.TypeFor[Config](), false)
}

// The walker serves any struct with these tags: maps, pointers, plain lists.
func TestDecodeOtherTypes(t *testing.T) {
	type column struct {
		Unit string  `yaml:"unit" parse:"unit"`
		Gain float64 `yaml:"gain" unit:"@unit" delta:"yes"`
	}
	var v struct {
		Columns map[string]column `yaml:"columns"`
		Cut     *float64          `yaml:"cut" unit:"Hz"`
		Off     *float64          `yaml:"off" unit:"Hz"`
		Names   []string          `yaml:"names"`
		Grid    []float64         `yaml:"grid" unit:"m"`
		Small   uint8             `yaml:"small"`
	}
	x := 3.0
	v.Off = &x
	text := "columns:\n  q: {unit: mm, gain: 2}\n  u: {unit: V, gain: 3 mV}\ncut: 2 kHz\noff: ~\nnames: [a, \"1\"]\ngrid: [1 mm, " +
		"2]\nsmall: 0xff\n"
	if err := Decode("x.yaml", []byte(text), &v); err != nil {
		t.Fatal(err)
	}
	if v.Columns["q"] != (column{"m", 0.002}) || v.Columns["u"] != (column{"V", 0.003}) || *v.Cut != 2000 || v.Off != nil ||
		!reflect.DeepEqual(v.Names, []string{"a", "1"}) || !reflect.DeepEqual(v.Grid, []float64{0.001, 2}) || v.Small != 255 {
		t.Errorf("%+v", v)
	}
	err := Decode("x.yaml", []byte("small: 256\nnames: 5\ncut: {}\n"), &v)
	for _, want := range []string{"small: \"256\" is not a whole number from 0 to 2^8−1", "names: want a list",
		"cut: want a number, got keys and values"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
