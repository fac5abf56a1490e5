package schema

import (
	"reflect"
	"strings"
)

// Field is what the tags of a struct field say.
type Field struct {
	Index  int
	Key    string
	Unit   string // "ohm", "@unit", "@unit/s", alternatives with |
	Delta  bool   // a difference: no offset of an affine unit
	Enum   []string
	Want   []Bound
	Secret bool   // may be ${VARIABLE}, is never shown
	Auto   string // what the default follows from, where it has no number of its own
	IsUnit bool   // the string is the unit of its siblings; it is stored in SI
	Doc    string
}

// FieldsOf reads the tags of a struct: yaml, unit, delta, enum, secret, parse, doc.
func FieldsOf(t reflect.Type) []Field {
	var out []Field
	for i := range t.NumField() {
		f := t.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if !f.IsExported() || key == "" || key == "-" {
			continue
		}
		fd := Field{Index: i, Key: key, Unit: f.Tag.Get("unit"), Delta: f.Tag.Get("delta") != "", Secret: f.Tag.Get("secret") != "", Auto: f.Tag.Get("auto"),
			IsUnit: f.Tag.Get("parse") == "unit", Doc: f.Tag.Get("doc"), Want: bounds(f.Tag.Get("want"))}
		if e, ok := f.Tag.Lookup("enum"); ok {
			fd.Enum = strings.Split(e, ",")
		}
		out = append(out, fd)
	}
	return out
}
