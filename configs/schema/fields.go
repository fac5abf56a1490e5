package schema

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Field is what the tags of a struct field say.
type Field struct {
	Index  []int // of reflect.Value.FieldByIndex
	Key    string
	Unit   string // "ohm", "@unit", "@unit/s", alternatives with |
	Delta  bool   // a difference: no offset of an affine unit
	Enum   []string
	Bounds []Bound
	Secret bool   // may be ${VARIABLE}, is never shown
	Auto   string // what the default follows from, where it has no number of its own
	IsUnit bool   // the string is the unit of its siblings; it is stored in SI
	Doc    string

	allUnits func(tag string) []string // what unit tags of its section may mean; nil: what they say
}

// AllUnits are the units that a number in a file may have without naming it, by the words of the sections around it: one, or more on
// different kinds of axes. They are those of the first spelling.
func (f *Field) AllUnits() []string {
	unit, _, _ := strings.Cut(f.Unit, "|")
	if f.allUnits == nil {
		return []string{unit}
	}
	return f.allUnits(f.Unit)
}

// fieldsByType is what has been read: the loader of a fit's machine comes by hundreds of times.
var fieldsByType sync.Map // of reflect.Type, a []Field

// FieldsOf reads the tags of a struct: yaml, unit, delta, enum, secret, parse, doc. The fields of an embedded struct without a key
// stand among its own. The list is the caller's.
func FieldsOf(t reflect.Type) []Field {
	fields, ok := fieldsByType.Load(t)
	if !ok {
		fields, _ = fieldsByType.LoadOrStore(t, readFields(t))
	}
	return slices.Clone(fields.([]Field))
}

func readFields(t reflect.Type) []Field {
	var out []Field
	for i := range t.NumField() {
		f := t.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if f.Anonymous && key == "" && f.Type.Kind() == reflect.Struct {
			for _, inner := range FieldsOf(f.Type) {
				inner.Index = append([]int{i}, inner.Index...)
				out = append(out, inner)
			}
			continue
		}
		if !f.IsExported() || key == "" || key == "-" {
			continue
		}
		fd := Field{Index: []int{i}, Key: key, Unit: f.Tag.Get("unit"), Delta: f.Tag.Get("delta") != "", Secret: f.Tag.Get("secret") != "",
			Auto: f.Tag.Get("auto"), IsUnit: f.Tag.Get("parse") == "unit", Doc: f.Tag.Get("doc"), Bounds: bounds(f.Tag.Get("want"))}
		if e, ok := f.Tag.Lookup("enum"); ok {
			fd.Enum = strings.Split(e, ",")
		} else if w, ok := reflect.Zero(single(f.Type)).Interface().(Worded); ok {
			fd.Enum = w.Words()
		}
		out = append(out, fd)
	}
	return out
}

// nameField is the field of a section that holds its name, where sections of this type stand in a list by name: the tag names says what
// the names are, and the mapping from name to section keeps the order of the file.
func nameField(t reflect.Type) (index int, ok bool) {
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if t.Field(i).Tag.Get("names") != "" {
				return i, true
			}
		}
	}
	return 0, false
}

// Named tells whether sections of this type stand in a list by name.
func Named(t reflect.Type) bool { _, ok := nameField(t); return ok }

// single is the type of one of them, behind pointers and lists.
func single(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// FieldsIn are the fields of a section in this field: # in their unit tags stands for its unit.
func FieldsIn(t reflect.Type, section Field) []Field {
	fields, all := FieldsOf(t), section.allUnits
	if u := turningType(t); u != nil {
		all = u.AllUnits
	}
	for i := range fields {
		f := &fields[i]
		f.allUnits = all
		if section.Unit == "" {
			continue
		}
		if f.Unit == "rad" { // of a phase, also on a linear axis
			f.allUnits = nil
		}
		f.Unit = quantity(section.Unit)(f.Unit)
	}
	return fields
}

// quantity tells what #, #/s and #/s² mean in a section whose field has this unit; every other tag is what it says.
func quantity(unit string) func(tag string) string {
	return func(tag string) string {
		switch tag {
		case "#":
			return unit
		case "#/s":
			return PerSecond(unit)
		case "#/s²":
			return PerSecond(PerSecond(unit))
		}
		return tag
	}
}

// PerSecond is the unit of a rate of change, of each spelling after |.
func PerSecond(unit string) string {
	if one, others, several := strings.Cut(unit, "|"); several {
		return PerSecond(one) + "|" + PerSecond(others)
	}
	if u, ok := strings.CutSuffix(unit, "/s"); ok {
		return u + "/s²"
	}
	if u, ok := strings.CutSuffix(unit, "/s²"); ok {
		return u + "/s³"
	}
	return unit + "/s"
}
