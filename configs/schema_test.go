package configs

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"hilrig/configs/schema"
	"hilrig/engine/peer"
)

var update = flag.Bool("update", false, "rewrite docs/reference/config.md")

// Every key has a meaning, in the schema and in the docs.
func TestEveryKeyHasADoc(t *testing.T) {
	var walk func(path string, typ reflect.Type)
	walk = func(path string, typ reflect.Type) {
		if p := reflect.PointerTo(typ); p.Implements(reflect.TypeFor[schema.SelfDescribing]()) || p.Implements(reflect.TypeFor[schema.Tabled]()) {
			return // its keys depend on what it says; its own test
		}
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(path, typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				f := typ.Field(i)
				switch {
				case f.Tag.Get("yaml") == "-":
					continue
				case f.Anonymous && f.Tag.Get("yaml") == "":
					walk(path, f.Type) // its keys stand among those of the section
					continue
				}
				if f.Tag.Get("yaml") == "" || f.Tag.Get("doc") == "" {
					t.Errorf("%s.%s has no key or no doc", path, f.Name)
				}
			}
			for _, f := range schema.FieldsOf(typ) {
				walk(schema.Join(path, f.Key), typ.FieldByIndex(f.Index).Type)
			}
		}
	}
	walk("", reflect.TypeFor[Config]())
}

const docHead = `# Configuration

One YAML file describes a rig: ` + "`hil run FILE`, `hil check FILE`, `hil config show FILE`" + `. Start from ` + "`hil config example`" + `;
` + "`hil config schema`" + ` gives editors completion. This page is made from the source: ` + "`make docs`" + `.

**Numbers** are SI, or carry their unit: ` + "`15 mN·m`, `600 µH`, `1 kHz`, `1m30s`, `300 rpm`, `95 %`, `±24 V`" + `. Products are written with ` + "`·`, `*`" + ` or a
space, powers with ` + "`²`" + ` or ` + "`^2`" + `, roots with ` + "`√`" + `; after a ` + "`/`" + ` a further product needs brackets, ` + "`N·m/(rad·s)`" + `. A unit of another
dimension is refused. Angle counts as a dimension: Hz, rad/s and rpm are told apart, and N·m is not N·m/rad. Three usual
spellings without the radian are taken as well: N·m·s for a rotary damping, V·s/rad for a torque constant in N·m/A,
N·m·s²/rad for an inertia. Where the unit column gives two units, the first is that of an axis of ` + "`kind: rotary`" + ` and the second that
of one of ` + "`kind: linear`" + `; the other one is refused. Where the unit column says *unit*, plain numbers are in the unit that the entry names; after
loading everything is SI, except that a signal in degC stays in degC.

**Keys** that are not listed here are errors, and so are repeated ones; every problem of a file is reported at once, with
its line. Anchors, aliases and merge keys (` + "`<<: *name`" + `) work. Passwords may be or contain ` + "`${VARIABLE}`" + `. Relative paths start
at the folder of the file, except ` + "`record.dir`" + `, which starts where the program was started.

**What was identified** comes into the file by a command:

    hil identify runs --law lugre -o result.json
    hil config apply result.json --rig rig.yaml -o identified.yaml

It writes law and parameters of the friction, and the inertia (` + "`motor.J`" + ` with a voltage drive, else ` + "`inertia`" + `), of one axis. Parameters by direction
stand under ` + "`backward`" + `. Each number gets a comment with its source: date, record, SHA-256 of the record, standard error, method. Comments, order and
all other lines of the file stay. Keys of an old law are taken out. Without ` + "`--rig`" + ` the file is the configuration in the recording of the result: complete,
without comments, and without passwords. A result is refused with exit code 6 when

- it is rejected or interrupted,
- one of its parameters cannot be told from the record,
- a second record is not explained;

and with exit code 3 when

- it is of another rig, another axis or another kind of axis,
- the compensation of the axis cannot use the law,
- other parts of the file take their numbers from this axis by an anchor.

Without friction of its own, the plant of a virtual rig takes the new numbers too; that is said.
`

// docs/reference/config.md is made from the tags.
func TestDocsAreCurrent(t *testing.T) {
	current(t, "config.md", docHead+Tables(Default())+motions()+laws())
}

// The schema takes what the loader takes: every example and every good file, read by an independent YAML decoder.
func TestSchemaTakesExamples(t *testing.T) {
	text, err := schema.JSON("hil rig file", Default())
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	good, _ := filepath.Glob("testdata/*.good.yaml")
	files := append([]string{"motor.yaml", "serial-line.yaml", "modbus.yaml", "modbus-sensor.yaml", "bench-usb.yaml"}, good...)
	for _, name := range files {
		if errs := validate(schema, decodeAny(t, name), name); len(errs) > 0 {
			t.Error(strings.Join(errs, "\n"))
		}
	}
	effective, err := Demo().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(effective, &v); err != nil {
		t.Fatal(err)
	}
	if errs := validate(schema, jsonValue(t, v), "effective"); len(errs) > 0 {
		t.Error(strings.Join(errs, "\n"))
	}
	// and refuses what the loader refuses
	for _, bad := range []string{`{"rgi":{}}`, `{"loop":{"rate":5}}`, `{"loop":{"rate":"fast"}}`, `{"loop":{"cpu":1.5}}`,
		`{"devices":{"a":{"measure":[{"range":[1]}]}}}`, `{"devices":{"a":{"measure":[{"range":"24 V"}]}}}`, `{"device":{}}`,
		`{"record":{"enabled":"yes"}}`, `{"web":"off"}`} {
		var v any
		if err := json.Unmarshal([]byte(bad), &v); err != nil {
			t.Fatal(err)
		}
		if len(validate(schema, v, "")) == 0 {
			t.Errorf("the schema takes %s", bad)
		}
	}
}

// Files to simulate and to identify: every example loads and fits its schema, and what the schema refuses is wrong.
func TestSchemasTakeExamples(t *testing.T) {
	top, _ := filepath.Glob("*.yaml")
	inner, _ := filepath.Glob("identify/*.yaml")
	seen := map[Kind]int{}
	for _, c := range []struct {
		kind     Kind
		defaults any
		bad      []string
	}{
		{SimulateFile, DefaultSimulate(), []string{`{"step":"fast"}`, `{"sensors":{"position":{"nois":1}}}`, `{"input":{"kind":"level"}}`,
			`{"input":[1]}`, `{"friction":"lugr"}`, `{"friction":[{"sigma0":1}]}`}},
		{IdentifyFile, DefaultIdentify(), []string{`{"method":["llm"]}`, `{"data":{"fiel":"x"}}`, `{"lm":{"loss":"none"}}`,
			`{"parameters":{"M":{"begin":1}}}`}},
	} {
		text, err := schema.JSON("file", c.defaults)
		if err != nil {
			t.Fatal(err)
		}
		var schema map[string]any
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("[#")) || bytes.Contains(text, []byte("[residual")) || bytes.Contains(text, []byte("[input,")) {
			t.Error("the schema speaks of units by their tags")
		}
		for _, name := range append(top, inner...) {
			if KindOf(name) != c.kind {
				continue
			}
			seen[c.kind]++
			if errs := validate(schema, decodeAny(t, name), name); len(errs) > 0 {
				t.Error(strings.Join(errs, "\n"))
			}
			var err error
			if c.kind == SimulateFile {
				_, _, err = LoadSimulate(name)
			} else {
				_, err = LoadIdentify(name)
			}
			if err != nil {
				t.Error(err)
			}
		}
		for _, bad := range c.bad {
			var v any
			if err := json.Unmarshal([]byte(bad), &v); err != nil {
				t.Fatal(err)
			}
			if len(validate(schema, v, "")) == 0 {
				t.Errorf("the schema takes %s", bad)
			}
		}
	}
	if seen[SimulateFile] < 14 || seen[IdentifyFile] < 17 {
		t.Errorf("%d files to simulate, %d to identify: some are not told by their kind", seen[SimulateFile], seen[IdentifyFile])
	}
	for _, name := range inner {
		if KindOf(name) == RigFile {
			t.Errorf("%s counts as a rig file", name)
		}
	}
}

// A foreign validator agrees: Python's jsonschema, where installed.
func TestSchemaWithJSONSchemaOfPython(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Python")
	}
	python := peer.Python(t, "jsonschema")
	schema, err := schema.JSON("hil rig file", Default())
	if err != nil {
		t.Fatal(err)
	}
	var in bytes.Buffer
	docs := []any{json.RawMessage(schema)}
	for _, name := range []string{"motor.yaml", "serial-line.yaml", "modbus.yaml", "modbus-sensor.yaml", "bench-usb.yaml"} {
		docs = append(docs, decodeAny(t, name))
	}
	if err := json.NewEncoder(&in).Encode(docs); err != nil {
		t.Fatal(err)
	}
	script := `import json, sys, jsonschema
schema, *docs = json.load(sys.stdin)
V = jsonschema.Draft202012Validator
V.check_schema(schema)
for d in docs:
    V(schema).validate(d)
bad = dict(docs[0]); bad["loop"] = {"rate": "fast"}
assert not V(schema).is_valid(bad)
`
	cmd := exec.Command(python, "-c", script)
	cmd.Stdin = &in
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func decodeAny(t *testing.T, name string) any {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return jsonValue(t, v)
}

// jsonValue sends a value through JSON, so that numbers and maps have their JSON types.
func jsonValue(t *testing.T, v any) (out any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// validate applies the keywords of JSON Schema that Schema writes.
func validate(s map[string]any, v any, path string) (errs []string) {
	bad := func(format string, args ...any) { errs = append(errs, path+": "+fmt.Sprintf(format, args...)) }
	for key, arg := range s {
		switch key {
		case "type":
			names, list := arg.([]any)
			if !list {
				names = []any{arg}
			}
			if !slices.ContainsFunc(names, func(n any) bool { return hasType(v, n.(string)) }) {
				bad("%v is not of type %v", v, arg)
			}
		case "properties":
			m, _ := v.(map[string]any)
			for k, x := range m {
				if sub, ok := arg.(map[string]any)[k]; ok {
					errs = append(errs, validate(sub.(map[string]any), x, path+"."+k)...)
				} else if more, ok := s["additionalProperties"].(map[string]any); ok {
					errs = append(errs, validate(more, x, path+"."+k)...)
				} else if s["additionalProperties"] == false {
					bad("unknown key %s", k)
				}
			}
		case "required":
			m, _ := v.(map[string]any)
			for _, k := range arg.([]any) {
				if _, ok := m[k.(string)]; !ok {
					bad("%v is missing", k)
				}
			}
		case "items":
			l, _ := v.([]any)
			for i, x := range l {
				errs = append(errs, validate(arg.(map[string]any), x, fmt.Sprintf("%s[%d]", path, i))...)
			}
		case "minItems", "maxItems":
			if l, ok := v.([]any); ok && (key == "minItems" && len(l) < int(arg.(float64)) || key == "maxItems" && len(l) > int(arg.(float64))) {
				bad("%d items", len(l))
			}
		case "anyOf":
			if !slices.ContainsFunc(arg.([]any), func(a any) bool { return len(validate(a.(map[string]any), v, path)) == 0 }) {
				bad("%v fits none", v)
			}
		case "enum":
			if !slices.Contains(arg.([]any), v) {
				bad("%v is none of %v", v, arg)
			}
		case "pattern":
			if x, ok := v.(string); ok && !regexp.MustCompile(arg.(string)).MatchString(x) {
				bad("%q does not match", x)
			}
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
			if x, ok := v.(float64); ok {
				limit := arg.(float64)
				if !map[string]bool{"minimum": x >= limit, "maximum": x <= limit, "exclusiveMinimum": x > limit, "exclusiveMaximum": x < limit}[key] {
					bad("%v, want %s %v", x, key, limit)
				}
			}
		case "additionalProperties":
			if more, ok := arg.(map[string]any); ok && s["properties"] == nil {
				m, _ := v.(map[string]any)
				for k, x := range m {
					errs = append(errs, validate(more, x, path+"."+k)...)
				}
			}
		case "description", "default", "title", "$schema":
		default:
			bad("keyword %s is not known to this test", key)
		}
	}
	return errs
}

func hasType(v any, name string) bool {
	switch x := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && x == float64(int64(x))
	case []any:
		return name == "array"
	}
	return name == "object"
}
