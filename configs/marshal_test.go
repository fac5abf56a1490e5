package configs

import (
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hilrig/configs/schema"
)

// rigFiles are all rig files that come with the program, and the good ones of the tests.
func rigFiles(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.yaml", "testdata/*.good.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if KindOf(name) == RigFile {
				names = append(names, name)
			}
		}
	}
	if len(names) < 8 {
		t.Fatalf("%d rig files only: %q", len(names), names)
	}
	return names
}

// The configuration in force loads back to itself, and its text no longer changes.
func TestMarshalRoundTrip(t *testing.T) {
	t.Setenv("LAB_MQTT_PASSWORD", `s"e\c${x} ü`)
	for _, name := range rigFiles(t) {
		c, err := Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		text, err := c.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		back, err := LoadBytes("effective", text)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		if d := cmp.Diff(c, back, sameFriction, sameRivals); d != "" {
			t.Errorf("%s changed:\n%s", name, d)
		}
		if c.Hash() != back.Hash() {
			t.Errorf("%s: hash changed", name)
		}
	}
}

// Any struct of any numbers and texts comes back bit for bit.
func TestMarshalProperties(t *testing.T) {
	type inner struct {
		Name string     `yaml:"name"`
		X    float64    `yaml:"x" unit:"N·m"`
		R    [2]float64 `yaml:"r"`
	}
	type outer struct {
		S    string           `yaml:"s"`
		Pw   string           `yaml:"pw" secret:"yes"`
		N    int              `yaml:"n"`
		U    uint64           `yaml:"u"`
		B    bool             `yaml:"b"`
		L    []inner          `yaml:"l"`
		W    []string         `yaml:"w"`
		P    *inner           `yaml:"p,omitempty"`
		M    map[string]inner `yaml:"m"`
		Nest struct {
			F []float64 `yaml:"f"`
		} `yaml:"nest"`
	}
	finite := rapid.Float64().Filter(func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) })
	text := rapid.OneOf(rapid.StringMatching(`[ -~äµ·Ω\n\t]{0,12}`),
		rapid.SampledFrom([]string{"", "yes", "1e4", "null", "~", "a: b", "#", "- x", "\\u0041", "${x}", "$${x}", "\r\n", "\u2028", "a\u0085b"}))
	plain := text.Filter(func(s string) bool { return !strings.Contains(s, "${") }) // refused outside of passwords
	one := rapid.Custom(func(t *rapid.T) inner {
		return inner{plain.Draw(t, "name"), finite.Draw(t, "x"), [2]float64{finite.Draw(t, "lo"), finite.Draw(t, "hi")}}
	})
	rapid.Check(t, func(t *rapid.T) {
		var v outer
		v.S, v.Pw, v.N, v.U, v.B = plain.Draw(t, "s"), text.Draw(t, "pw"), rapid.Int().Draw(t, "n"), rapid.Uint64().Draw(t, "u"),
			rapid.Bool().Draw(t, "b")
		v.L = rapid.SliceOfN(one, 0, 3).Draw(t, "l")
		v.W = rapid.SliceOfN(plain, 0, 3).Draw(t, "w")
		v.Nest.F = rapid.SliceOfN(finite, 0, 3).Draw(t, "f")
		if rapid.Bool().Draw(t, "pointer") {
			x := one.Draw(t, "p")
			v.P = &x
		}
		v.M = map[string]inner{}
		for _, k := range rapid.SliceOfN(rapid.StringMatching(`[a-z0-9 .]{1,5}`), 0, 3).Draw(t, "keys") {
			v.M[k] = one.Draw(t, "m")
		}
		data, err := schema.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		back := outer{M: map[string]inner{}}
		if err := Decode("x.yaml", data, &back); err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		empty := cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })
		if d := cmp.Diff(v, back, empty, cmp.Transformer("l", func(s []inner) []inner { return append([]inner{}, s...) }),
			cmp.Transformer("f", func(s []float64) []float64 { return append([]float64{}, s...) })); d != "" {
			t.Fatalf("%s\n%s", d, data)
		}
	})
}

// Whatever the bytes, loading does not panic, lets no non-finite number in, and what it accepts survives the round trip.
func FuzzLoad(f *testing.F) {
	f.Add(DemoYAML())
	for _, s := range []string{"", "rig:\n  name: x\n", "a: &x [*x]\n", "<<: *a", "motor: {R: 1e308 MΩ}", "loop: {rate: ±1}",
		"device: {measure: [{range: ±1 V, unit: mV}]}", "? [a]\n: b", "\"\\ud800\": 1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<13 {
			return // the parser's time grows with the square; the limit of the loader is tested elsewhere
		}
		c := Default()
		_ = Decode("x.yaml", data, c)
		if bad := nonFinite(reflect.ValueOf(c).Elem()); bad {
			t.Fatal("a non-finite number came through")
		}
		good, err := LoadBytes("x.yaml", data)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an empty message")
			}
			return
		}
		text, err := good.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		back, err := LoadBytes("x.yaml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if d := cmp.Diff(good, back, sameFriction); d != "" {
			t.Fatal(d)
		}
	})
}

func nonFinite(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Float64:
		return math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)
	case reflect.Struct:
		for i := range v.NumField() {
			if nonFinite(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if nonFinite(v.Index(i)) {
				return true
			}
		}
	case reflect.Pointer:
		return !v.IsNil() && nonFinite(v.Elem())
	}
	return false
}
