package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/identify"
	"hilrig/cmd/report"
)

// resultSchema describes the JSON of hil identify by its Go types: what may be null, what may be missing.
func resultSchema() []byte {
	defs := map[string]any{}
	doc := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "JSON of hil identify and hil compare",
		"description": "a result of hil identify, its refusal, or a result of hil compare", "$defs": defs,
		"anyOf": []any{schemaOf(reflect.TypeFor[identify.Identification](), defs), schemaOf(reflect.TypeFor[identify.Refused](), defs),
			schemaOf(reflect.TypeFor[identify.Compared](), defs)},
	}
	out, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		panic(err)
	}
	return append(out, '\n')
}

// schemaOf is the schema of a type; structs go to defs.
func schemaOf(t reflect.Type, defs map[string]any) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "integer", "description": "ns"}
	case t.Kind() == reflect.Pointer:
		inner := schemaOf(t.Elem(), defs)
		if _, ref := inner["$ref"]; ref {
			return map[string]any{"anyOf": []any{inner, map[string]any{"type": "null"}}}
		}
		if _, also := inner["type"].([]any); !also {
			inner["type"] = []any{inner["type"], "null"}
		}
		return inner
	}
	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": []any{"number", "null"}} // null: not finite
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64, reflect.Uint8:
		return map[string]any{"type": "integer"}
	case reflect.Slice:
		return map[string]any{"type": []any{"array", "null"}, "items": schemaOf(t.Elem(), defs)}
	case reflect.Array:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), defs), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Map:
		return map[string]any{"type": []any{"object", "null"}, "additionalProperties": schemaOf(t.Elem(), defs)}
	case reflect.Interface:
		return map[string]any{}
	case reflect.Struct:
		name := strings.ToLower(t.Name()[:1]) + t.Name()[1:]
		ref := map[string]any{"$ref": "#/$defs/" + name}
		if _, done := defs[name]; done {
			return ref
		}
		props, required := map[string]any{}, []string{}
		defs[name] = nil // recursion ends here
		fieldsInto(t, defs, props, &required)
		slices.Sort(required)
		defs[name] = map[string]any{"type": "object", "properties": props, "required": required, "additionalProperties": false}
		return ref
	}
	panic(fmt.Sprintf("no schema for %v", t))
}

// fieldsInto adds the fields of a struct, those of embedded ones too.
func fieldsInto(t reflect.Type, defs, props map[string]any, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		ft := f.Type
		if f.Anonymous && tag == "" {
			if ft.Kind() == reflect.Pointer {
				ft = ft.Elem()
			}
			fieldsInto(ft, defs, props, required)
			continue
		}
		if tag == "-" || !f.IsExported() {
			continue
		}
		if tag == "" {
			tag = f.Name
		}
		props[tag] = schemaOf(ft, defs)
		if opts != "omitempty" {
			*required = append(*required, tag)
		}
	}
}

// conforms checks a value against a schema, as far as resultSchema goes.
func conforms(v any, s map[string]any, defs map[string]any, at string) error {
	if ref, ok := s["$ref"].(string); ok {
		return conforms(v, defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), defs, at)
	}
	if either, ok := s["anyOf"].([]any); ok {
		var first error
		for _, one := range either {
			err := conforms(v, one.(map[string]any), defs, at)
			if err == nil {
				return nil
			}
			if first == nil {
				first = err
			}
		}
		return first
	}
	kind := map[string]string{"<nil>": "null", "string": "string", "bool": "boolean", "float64": "number", "[]interface {}": "array",
		"map[string]interface {}": "object"}[fmt.Sprintf("%T", v)]
	want := fmt.Sprint(s["type"])
	if s["type"] != nil && !strings.Contains(want, kind) && !(kind == "number" && strings.Contains(want, "integer")) {
		return fmt.Errorf("%s is %s, want %s", at, kind, want)
	}
	switch x := v.(type) {
	case []any:
		items, _ := s["items"].(map[string]any)
		for i, e := range x {
			if err := conforms(e, items, defs, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		props, _ := s["properties"].(map[string]any)
		if required, ok := s["required"].([]any); ok {
			for _, k := range required {
				if _, there := x[k.(string)]; !there {
					return fmt.Errorf("%s.%s is missing", at, k)
				}
			}
		}
		for k, e := range x {
			sub, known := props[k].(map[string]any)
			if !known {
				more, free := s["additionalProperties"].(map[string]any)
				if !free {
					if s["additionalProperties"] == false {
						return fmt.Errorf("%s.%s is not in the schema", at, k)
					}
					continue
				}
				sub = more
			}
			if err := conforms(e, sub, defs, at+"."+k); err != nil {
				return err
			}
		}
	}
	return nil
}

var update = flag.Bool("update", false, "rewrite the generated parts of docs")

// docs/reference/identify-result.schema.json is what the program writes: go test ./cmd/hil -run ResultSchema -args -update renews it.
func TestResultSchema(t *testing.T) {
	t.Parallel()
	const path = "../../docs/reference/identify-result.schema.json"
	want := resultSchema()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != string(want) {
		t.Errorf("%s is not what the types say (%v): renew it with -args -update", path, err)
	}

	var doc map[string]any
	if err := json.Unmarshal(want, &doc); err != nil {
		t.Fatal(err)
	}
	defs, record := doc["$defs"].(map[string]any), axisRecord(t, 1)
	for _, c := range []struct {
		code int
		args []string
	}{
		{report.OK, []string{"identify", record, "--json"}},
		{report.Quality, []string{"identify", record, "--json", "--terms", "inertia,coulomb+,coulomb-,offset"}},
		{report.OK, []string{"compare", record, axisRecord(t, 1, "axis: linear", "axis: linear\nterms: [inertia, viscous, coulomb]"), "--json"}},
	} {
		out, errs, code := execute(t, c.args...)
		var v map[string]any
		if err := json.Unmarshal([]byte(out), &v); err != nil || code != c.code {
			t.Fatalf("%v: %v, exit code %d\n%s", c.args, err, code, errs)
		}
		if err := conforms(v, doc, defs, "result"); err != nil {
			t.Errorf("%v: %v", c.args, err)
		}
		// and it says no to something else
		delete(v, "verdict")
		delete(v, "headline")
		if conforms(v, doc, defs, "result") == nil {
			t.Errorf("%v: passes without its verdict", c.args)
		}
	}
}
