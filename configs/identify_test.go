package configs

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hilrig/configs/schema"
	"hilrig/identify"
)

func TestIdentifyExamples(t *testing.T) {
	c, err := LoadIdentify("emps.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := c.Data.Columns.Force.Scale("N"); err != nil || s != 35.15065188248547 {
		t.Errorf("gain %v N/V, %v", s, err)
	}
	if want := filepath.Join("..", "..", "shared", "data", "emps",
		"emps_estimation.csv.gz"); filepath.Clean(c.Data.File) != filepath.Join("..", want[3:]) {
		t.Errorf("file %s, want it relative to configs/", c.Data.File)
	}
	if c.Trim == nil || *c.Trim != 0.1 || c.Filter.Cutoff != 100 || c.Decimate != 10 {
		t.Errorf("%+v", c)
	}
	if c, err = LoadIdentify("pendulum.yaml"); err != nil || c.Axis != "rotary" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestIdentifyColumnScale(t *testing.T) {
	for _, c := range []struct {
		col  IdentifyColumn
		want string
		f    float64
		err  string
	}{
		{IdentifyColumn{Unit: "mm"}, "m", 1e-3, ""},
		{IdentifyColumn{Unit: "deg"}, "rad", math.Pi / 180, ""},
		{IdentifyColumn{Unit: "V", Gain: "-2.5 N/V"}, "N", -2.5, ""},
		{IdentifyColumn{Unit: "mA", Gain: "42 mN·m/A"}, "N·m", 42e-6, ""},
		{IdentifyColumn{Gain: "5e-8 m"}, "m", 5e-8, ""},
		{IdentifyColumn{Unit: "N", Gain: "2"}, "N", 2, ""},
		{IdentifyColumn{Unit: "V"}, "N", 0, "the column is in V (voltage), want N (force); if something else was recorded, give gain"},
		{IdentifyColumn{Unit: "V", Gain: "2 N/A"}, "N", 0, "gain 2 N/A times a column in V is"},
		{IdentifyColumn{Unit: "rad"}, "m", 0, "rad (angle), want m (length)"},
		{IdentifyColumn{Unit: "parsec"}, "m", 0, "parsec"},
		{IdentifyColumn{Unit: "V", Gain: "two N/V"}, "N", 0, "gain"},
		{IdentifyColumn{Unit: "V", Gain: "0 N/V"}, "N", 0, "other than zero"},
		{IdentifyColumn{Unit: "degC"}, "K", 0, "no unit for this"},
	} {
		f, err := c.col.Scale(c.want)
		switch {
		case c.err == "" && (err != nil || math.Abs(f/c.f-1) > 1e-15):
			t.Errorf("%+v: %g, %v; want %g", c.col, f, err, c.f)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%+v: %v, want …%s…", c.col, err, c.err)
		}
	}
}

func TestSteadyTable(t *testing.T) {
	text := "version: 1\nmethod: [static]\nmodel: {law: stribeck-tustin}\ndata:\n  file: map.csv\n  steady: true\n  columns:\n    velocity: " +
		"{name: v, unit: mm/s}\n" +
		"    force: {name: f, unit: mN}\n    deviation: {name: sd, unit: mN}\n    count: {name: n}\n"
	if err := Decode("map.yaml", []byte(text), DefaultIdentify()); err != nil {
		t.Error(err)
	}
	for bad, want := range map[string]string{
		"  rate: 1 kHz\n":                          "data.rate: a table of steady friction has no time",
		"    time: {name: t, unit: s}\n":           "data.columns.time: a table of steady friction has no time",
		"    position: {name: x, unit: m}\nx: 1\n": `unknown key "x"`,
	} {
		if strings.HasPrefix(bad, "  rate") {
			bad = strings.Replace(text, "  steady", bad+"  steady", 1)
		} else {
			bad = text + bad
		}
		if err := Decode("map.yaml", []byte(bad), DefaultIdentify()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want …%s…", err, want)
		}
	}
}

func TestIdentifyErrors(t *testing.T) {
	good, err := os.ReadFile("emps.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"decimate: 10", "decimat: 10", `unknown key "decimat"`},
		{"decimate: 10", "decimate: -1", "decimate: -1, want 0 to 1000"},
		{"cutoff: 100 Hz", "cutoff: 100 s", "filter.cutoff: 100 s is in s (time), want Hz"},
		{"axis: linear", "axis: rotary", "data.columns.position: the column is in m (length), want rad (angle)"},
		{"axis: linear", "axis: lnear", `did you mean "linear"?`},
		{"unit: V, gain: 35.15065188248547 N/V", "unit: V", "give gain"},
		{"[inertia, viscous, coulomb, offset]", "[inertia, viscus]", `did you mean "viscous"?`},
		{"[inertia, viscous, coulomb, offset]", "[]", "terms: empty"},
		{"    time: {name: time_s, unit: s}\n", "", "data.columns.time is missing"},
		{"name: position_m, ", "", "data.columns.position.name is missing"},
		{"trim: 100 ms", "trim: 100 ms\nmin_velocity: 3 N", "min_velocity: 3 N"},
		{"trim: 100 ms", "parameters: {M: -3}", "parameters.M: -3, an inertia is above zero"},
		{"version: 1", "version: 2", "this program reads version 1"},
		{"  columns:\n", "  rate: 1 kHz\n  columns:\n", "leave one of them out"},
		{"  columns:\n", "  span: [5 s, 3 s]\n  columns:\n", "data.span: from 5 to 3 s, want rising times"},
		{"  columns:\n", "  winding: {R: 1 ohm, L: 1 mH, K: 1 N/A, brush_drop: 1 V}\n  columns:\n", "data.winding.drop_current is missing"},
		{"  columns:\n", "  winding: {R: 1 ohm, L: 1 mH, K: 1 N/A, drop_current: 1 A}\n  columns:\n",
			"data.winding.drop_current: has no effect without brush_drop"},
		{"  file: ../../shared", "  # file: ../../shared", "data.file is missing"},
		{"  columns:\n", "  steady: true\n  columns:\n", "data.steady: regress needs samples in time"},
		{"  columns:\n", "  columns:\n    count: {name: n}\n", "deviation and count belong to a table of steady friction"},
	} {
		text := strings.Replace(string(good), c.old, c.new, 1)
		if text == string(good) {
			t.Fatalf("%q is not in the example", c.old)
		}
		err := Decode("axis.yaml", []byte(text), DefaultIdentify())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant …%s…", c.new, err, c.want)
		} else if c.new != "" && !strings.Contains(err.Error(), "axis.yaml:") {
			t.Errorf("%s: no place in %v", c.new, err)
		}
	}
}

// docs/reference/identify.md lists every method with its keys, which are those of a file, and the examples that show it.
func TestMethodsDocs(t *testing.T) {
	shown := map[identify.Method][]string{}
	files, _ := filepath.Glob("identify/*.yaml")
	for _, path := range append(files, "emps.yaml", "pendulum.yaml") {
		if KindOf(path) != IdentifyFile {
			continue
		}
		c, err := LoadIdentify(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Method {
			shown[m] = append(shown[m], fmt.Sprintf("[%s](../../configs/%s)", strings.TrimSuffix(filepath.Base(path), ".yaml"), path))
		}
	}
	file := reflect.ValueOf(DefaultIdentify())
	var b strings.Builder
	b.WriteString("| method | what it does | keys | examples |\n|---|---|---|---|\n")
	for _, m := range identify.Methods {
		keys := make([]string, len(m.Settings))
		for i, key := range m.Settings {
			if keys[i] = "`" + key + "`"; !hasKey(file.Type(), key) {
				t.Errorf("%s: no file has a key %s", m.Name, key)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Title, strings.Join(keys, ", "), strings.Join(shown[m.Name], ", "))
	}
	const page, begin, end = "../docs/reference/identify.md", "<!-- methods: begin -->\n", "<!-- methods: end -->"
	doc, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(doc), begin)
	_, tail, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("%s has no %s … %s", page, begin, end)
	}
	want := head + begin + b.String() + end + tail
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(doc) {
		t.Errorf("%s is not current: make docs", page)
	}
}

// hasKey tells whether a section has a key, with those of its sections behind a dot.
func hasKey(t reflect.Type, path string) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	key, inner, more := strings.Cut(path, ".")
	for _, f := range schema.FieldsOf(t) {
		if f.Key == key {
			return !more || hasKey(t.FieldByIndex(f.Index).Type, inner)
		}
	}
	return false
}
