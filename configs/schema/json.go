package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// NumberPattern is what a number with a unit looks like; the unit itself is checked on loading.
const NumberPattern = `^\s*[+\-−]?([0-9]+\.?[0-9]*|\.[0-9]+|π|pi)([eE][+-]?[0-9]{1,4})?(\s*\S.*)?$`

// RangePattern is ± and such a number.
const RangePattern = `^\s*(±|\+-|\+/-)\s*([0-9]+\.?[0-9]*|\.[0-9]+|π|pi)([eE][+-]?[0-9]{1,4})?(\s*\S.*)?$`

// JSON is the JSON Schema (draft 2020-12) of a struct with the tags of this package and its defaults: editors complete
// and check rig files with it. title names the document.
func JSON(title string, defaults any) ([]byte, error) {
	v := reflect.Indirect(reflect.ValueOf(defaults))
	s := SchemaOf(v.Type(), v, Field{})
	s.Set("title", title)
	s.Set("$schema", "https://json-schema.org/draft/2020-12/schema")
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return out.Bytes(), nil
}

// Object is a JSON object that keeps the order of its keys, so that editors list them as the documentation does.
type Object struct {
	keys   []string
	values map[string]any
}

// Set gives a key a value; a new key comes last.
func (o *Object) Set(key string, v any) *Object {
	if o.values == nil {
		o.values = map[string]any{}
	}
	if _, have := o.values[key]; !have {
		o.keys = append(o.keys, key)
	}
	o.values[key] = v
	return o
}

// MarshalJSON writes the keys in their order.
func (o *Object) MarshalJSON() ([]byte, error) {
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

// Typed describes a value of a JSON type.
func Typed(name string) *Object { return new(Object).Set("type", name) }

// AnyOf describes a value that is one of these.
func AnyOf(shapes ...any) *Object { return new(Object).Set("anyOf", shapes) }

// SchemaOf describes one type; v holds its default, or is invalid where there is none.
func SchemaOf(t reflect.Type, v reflect.Value, f Field) *Object {
	switch s := NewValue(t).Interface().(type) {
	case SelfDescribing:
		return s.Shape()
	case Tabled:
		return s.Keys().Shape("")
	}
	switch t.Kind() {
	case reflect.Pointer:
		if v.IsValid() && v.IsNil() {
			v = NewValue(t.Elem()).Elem()
		} else if v.IsValid() {
			v = v.Elem()
		}
		return SchemaOf(t.Elem(), v, f)
	case reflect.Struct:
		props := new(Object)
		for _, sub := range FieldsIn(t, f) {
			var d reflect.Value
			if v.IsValid() {
				d = v.FieldByIndex(sub.Index)
			}
			s := SchemaOf(t.FieldByIndex(sub.Index).Type, d, sub)
			s.Set("description", description(sub))
			if def, ok := ShownDefault(sub, d); ok {
				s.Set("default", def)
			}
			props.Set(sub.Key, s)
		}
		props.Set("<<", new(Object).Set("description", "YAML merge key"))
		return new(Object).Set("type", []string{"object", "null"}).Set("properties", props).Set("additionalProperties", false)
	case reflect.Slice:
		if Named(t.Elem()) {
			return new(Object).Set("type", []string{"object", "null"}).Set("additionalProperties", SchemaOf(t.Elem(), NewValue(t.Elem()).Elem(), f))
		}
		return new(Object).Set("type", []string{"array", "null"}).Set("items", SchemaOf(t.Elem(), NewValue(t.Elem()).Elem(), f))
	case reflect.Map:
		return new(Object).Set("type", []string{"object", "null"}).Set("additionalProperties", SchemaOf(t.Elem(), NewValue(t.Elem()).Elem(), f))
	case reflect.Array:
		list := Typed("array").Set("items", SchemaOf(t.Elem(), reflect.Value{}, f)).Set("minItems", t.Len()).Set("maxItems", t.Len())
		return AnyOf(list, Typed("string").Set("pattern", RangePattern))
	case reflect.Bool:
		return Typed("boolean")
	case reflect.Float64:
		// limits hold for plain numbers only where these are SI
		num := Typed("number")
		if _, _, sibling := siblingUnit(f.Unit); !sibling {
			limits(num, f)
		}
		return AnyOf(num, Typed("string").Set("pattern", NumberPattern))
	case reflect.String:
		s := Typed("string")
		if f.Enum != nil {
			s.Set("enum", f.Enum)
		}
		return s
	}
	if f.Enum != nil { // the word of 0 may be that of none
		return Typed("string").Set("enum", slices.DeleteFunc(slices.Clone(f.Enum), func(word string) bool { return word == "" }))
	}
	s := Typed("integer")
	if t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64 {
		s.Set("minimum", 0)
	}
	limits(s, f)
	return s
}

func limits(o *Object, f Field) {
	name := map[string]string{">": "exclusiveMinimum", ">=": "minimum", "<": "exclusiveMaximum", "<=": "maximum"}
	for _, b := range f.Bounds {
		o.Set(name[b.op], b.v)
	}
}

// description is the doc tag with the unit.
func description(f Field) string {
	unit, _, _ := strings.Cut(f.Unit, "|")
	switch {
	case unit == "":
		return f.Doc
	case strings.HasPrefix(unit, "#"): // that of the section
		return f.Doc + " [number, or with its own unit]"
	case unit == "input":
		return f.Doc + " [in the unit of the input]"
	case unit == "residual":
		return f.Doc + " [m, m/s or N by model.output, or with its own unit]"
	case strings.HasPrefix(unit, "@"):
		return f.Doc + " [in " + strings.TrimPrefix(unit, "@") + ", or with its own unit]"
	}
	return f.Doc + " [" + strings.Join(f.AllUnits(), " or ") + ", or with its own unit]"
}

// ShownDefault is the default of a scalar, if there is one worth showing.
func ShownDefault(f Field, v reflect.Value) (any, bool) {
	if !v.IsValid() || f.Secret || f.Auto != "" {
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
	if v.CanUint() && f.Enum != nil {
		return f.Enum[v.Uint()], f.Enum[v.Uint()] != ""
	}
	// a zero that the range refuses stands for "must be given"
	x := numberOf(v)
	return v.Interface(), !slices.ContainsFunc(f.Bounds, func(b Bound) bool { return !b.satisfiedBy(x) })
}
