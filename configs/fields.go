package configs

import (
	"reflect"
	"strings"
)

// field is what the tags of a struct field say.
type field struct {
	index  int
	key    string
	unit   string // "ohm", "@unit", "@unit/s", alternatives with |
	delta  bool   // a difference: no offset of an affine unit
	enum   []string
	want   []bound
	secret bool   // may be ${VARIABLE}, is never shown
	auto   string // what the default follows from, where it has no number of its own
	isUnit bool   // the string is the unit of its siblings; it is stored in SI
	doc    string
}

// fieldsOf reads the tags of a struct: yaml, unit, delta, enum, secret, parse, doc.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if !f.IsExported() || key == "" || key == "-" {
			continue
		}
		fd := field{index: i, key: key, unit: f.Tag.Get("unit"), delta: f.Tag.Get("delta") != "", secret: f.Tag.Get("secret") != "", auto: f.Tag.Get("auto"),
			isUnit: f.Tag.Get("parse") == "unit", doc: f.Tag.Get("doc"), want: bounds(f.Tag.Get("want"))}
		if e, ok := f.Tag.Lookup("enum"); ok {
			fd.enum = strings.Split(e, ",")
		}
		out = append(out, fd)
	}
	return out
}
