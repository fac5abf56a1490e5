package configs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// numberPattern is what a number with a unit looks like; the unit itself is checked on loading.
const numberPattern = `^\s*[+\-−]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?(\s*\S.*)?$`

// rangePattern is ± and such a number.
const rangePattern = `^\s*(±|\+-|\+/-)\s*([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?(\s*\S.*)?$`

// Schema is the JSON Schema (draft 2020-12) of a struct with the tags of this package and its defaults: editors complete
// and check rig files with it. title names the document.
func Schema(title string, defaults any) ([]byte, error) {
	v := reflect.ValueOf(defaults)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	s := schemaOf(v.Type(), v, field{})
	s.set("title", title)
	s.set("$schema", "https://json-schema.org/draft/2020-12/schema")
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("configs: schema: %w", err)
	}
	return out.Bytes(), nil
}

// object is a JSON object that keeps the order of its keys, so that editors list them as the documentation does.
type object struct {
	keys   []string
	values map[string]any
}

func (o *object) set(key string, v any) *object {
	if o.values == nil {
		o.values = map[string]any{}
	}
	if _, have := o.values[key]; !have {
		o.keys = append(o.keys, key)
	}
	o.values[key] = v
	return o
}

func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(k); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(o.values[k]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func typed(name string) *object { return new(object).set("type", name) }

// schemaOf describes one type; v holds its default, or is invalid where there is none.
func schemaOf(t reflect.Type, v reflect.Value, f field) *object {
	if s, ok := reflect.New(t).Interface().(shaped); ok {
		return s.shape()
	}
	switch t.Kind() {
	case reflect.Pointer:
		if v.IsValid() && v.IsNil() {
			v = newValue(t.Elem()).Elem()
		} else if v.IsValid() {
			v = v.Elem()
		}
		return schemaOf(t.Elem(), v, f)
	case reflect.Struct:
		props := new(object)
		for _, sub := range fieldsOf(t) {
			var d reflect.Value
			if v.IsValid() {
				d = v.Field(sub.index)
			}
			s := schemaOf(t.Field(sub.index).Type, d, sub)
			s.set("description", description(sub))
			if def, ok := shownDefault(sub, d); ok {
				s.set("default", def)
			}
			props.set(sub.key, s)
		}
		props.set("<<", new(object).set("description", "YAML merge key"))
		return new(object).set("type", []string{"object", "null"}).set("properties", props).set("additionalProperties", false)
	case reflect.Slice:
		return new(object).set("type", []string{"array", "null"}).set("items", schemaOf(t.Elem(), newValue(t.Elem()).Elem(), f))
	case reflect.Map:
		return new(object).set("type", []string{"object", "null"}).set("additionalProperties", schemaOf(t.Elem(), newValue(t.Elem()).Elem(), f))
	case reflect.Array:
		list := typed("array").set("items", schemaOf(t.Elem(), reflect.Value{}, f)).set("minItems", t.Len()).set("maxItems", t.Len())
		return new(object).set("anyOf", []any{list, typed("string").set("pattern", rangePattern)})
	case reflect.Bool:
		return typed("boolean")
	case reflect.Float64:
		// limits hold for plain numbers only where these are SI
		num := typed("number")
		if _, _, sibling := siblingUnit(f.unit); !sibling {
			limits(num, f)
		}
		return new(object).set("anyOf", []any{num, typed("string").set("pattern", numberPattern)})
	case reflect.String:
		s := typed("string")
		if f.enum != nil {
			s.set("enum", f.enum)
		}
		return s
	}
	s := typed("integer")
	if t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64 {
		s.set("minimum", 0)
	}
	limits(s, f)
	return s
}

func limits(o *object, f field) {
	name := map[string]string{">": "exclusiveMinimum", ">=": "minimum", "<": "exclusiveMaximum", "<=": "maximum"}
	for _, b := range f.want {
		o.set(name[b.op], b.v)
	}
}

// description is the doc tag with the unit.
func description(f field) string {
	unit, _, _ := strings.Cut(f.unit, "|")
	switch {
	case unit == "":
		return f.doc
	case strings.HasPrefix(unit, "#"): // that of the section
		return f.doc + " [number, or with its own unit]"
	case unit == "input":
		return f.doc + " [in the unit of the input]"
	case unit == "residual":
		return f.doc + " [m, m/s or N by model.output, or with its own unit]"
	case strings.HasPrefix(unit, "@"):
		return f.doc + " [in " + strings.TrimPrefix(unit, "@") + ", or with its own unit]"
	}
	return f.doc + " [" + unit + ", or with its own unit]"
}

// shownDefault is the default of a scalar, if there is one worth showing.
func shownDefault(f field, v reflect.Value) (any, bool) {
	if !v.IsValid() || f.secret || f.auto != "" {
		return nil, false
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map, reflect.Pointer:
		return nil, false
	case reflect.Array:
		return v.Interface(), !v.IsZero()
	case reflect.String:
		return v.String(), v.String() != ""
	case reflect.Bool:
		return v.Bool(), true
	}
	// a zero that the range refuses stands for "must be given"
	x := 0.0
	switch {
	case v.CanFloat():
		x = v.Float()
	case v.CanInt():
		x = float64(v.Int())
	default:
		x = float64(v.Uint())
	}
	for _, b := range f.want {
		if !b.holds(x) {
			return nil, false
		}
	}
	return v.Interface(), true
}
