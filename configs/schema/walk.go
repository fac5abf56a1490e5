package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"hilrig/engine/spelling"
)

const maxDepth = 32 // nesting of keys, and of aliases

// Walker carries a YAML tree into a struct, reporting on the way.
type Walker struct {
	*Report
	anchors map[string]ast.Node
}

// reader starts a walk from the root of a tree.
func reader(r *Report, root ast.Node) *Walker {
	w := &Walker{Report: r, anchors: map[string]ast.Node{}}
	w.collectAnchors(root, 0)
	return w
}

// Entry is a key with its value after merge keys were followed.
type Entry struct {
	Key      string
	KeyPlace Place
	Value    ast.Node
}

// Structure fills a struct from a mapping. Strings come first, since the unit of a value may be named by a sibling.
func (w *Walker) Structure(path string, m *ast.MappingNode, v reflect.Value) {
	fields := FieldsOf(v.Type())
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.Key
	}
	given := map[string]Entry{}
	for _, e := range w.Entries(path, m, 0) {
		i := slices.Index(known, e.Key)
		if i < 0 {
			w.Unknown(path, e, known)
			continue
		}
		given[e.Key] = e
		w.Mark(Join(path, e.Key), e.Place())
	}
	for _, stringsFirst := range []bool{true, false} {
		if u, ok := asNode[UnitTurning](v); ok && !stringsFirst {
			defer w.WithUnits(u.Units())()
		}
		for _, f := range fields {
			if e, ok := given[f.Key]; ok && (v.FieldByIndex(f.Index).Kind() == reflect.String) == stringsFirst {
				w.value(Join(path, f.Key), e, v.FieldByIndex(f.Index), f, v)
			}
		}
	}
	w.toSI(fields, given, v)
}

// toSI turns the units named inside a struct, and the defaults that are in these units, into SI: a scale that the file
// leaves at 1 means 1 mA in a column in mA. Values from the file are SI already.
func (w *Walker) toSI(fields []Field, given map[string]Entry, v reflect.Value) {
	for _, unitField := range fields {
		if !unitField.IsUnit {
			continue
		}
		u, err := ParseUnit(v.FieldByIndex(unitField.Index).String())
		if err != nil {
			continue // reported where it stands
		}
		for _, f := range fields {
			sibling, _, ok := siblingUnit(f.Unit)
			if _, read := given[f.Key]; !ok || read || sibling != unitField.Key {
				continue
			}
			switch x := v.FieldByIndex(f.Index); x.Kind() {
			case reflect.Float64:
				x.SetFloat(u.scale(x.Float()))
			case reflect.Array:
				for i := range x.Len() {
					x.Index(i).SetFloat(u.scale(x.Index(i).Float()))
				}
			}
		}
		v.FieldByIndex(unitField.Index).SetString(u.SI)
	}
}

// Unknown reports a key that a section does not have, with the one that was probably meant.
func (w *Walker) Unknown(path string, e Entry, known []string) {
	under := ""
	if path != "" {
		under = " under " + path
	}
	if s := spelling.Nearest(e.Key, known); s != "" {
		w.guessed[Join(path, s)] = true
	}
	w.ErrorAt(Join(path, e.Key), e.KeyPlace, spelling.Hint(e.Key, known, "known here: "+strings.Join(known, ", ")), "unknown key %q%s",
		e.Key, under)
}

// value decodes one node into one field; owner is the struct that holds it.
func (w *Walker) value(path string, e Entry, v reflect.Value, f Field, owner reflect.Value) {
	if strings.Count(path, ".")+strings.Count(path, "[") > maxDepth {
		w.ErrorAt(path, e.KeyPlace, "", "nested too deeply")
		return
	}
	n := w.Resolve(path, e.Value, 0)
	if n == nil {
		return // an alias without anchor, already reported
	}
	e.Value = n
	at := e.Place()
	empty := n.Type() == ast.NullType
	switch d := v.Addr().Interface().(type) {
	case SelfReading:
		d.DecodeNode(w, path, e, f)
		return
	case Tabled:
		defer w.WithUnits(nil)()
		d.Keys().Decode(w, path, "", e)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if empty && !isImplicit(n) {
			v.SetZero() // an explicit null or ~ switches the section off
			return
		}
		if v.IsNil() {
			v.Set(NewValue(v.Type().Elem()))
		}
		w.value(path, e, v.Elem(), f, owner)
	case reflect.Struct:
		m := w.Section(path, "keys and values", e) // an empty one leaves the defaults
		if f.Unit != "" {
			defer w.WithQuantity(f.Unit)()
		}
		if m != nil {
			w.Structure(path, m, v)
		}
	case reflect.Slice:
		if name, ok := nameField(v.Type().Elem()); ok {
			w.named(path, e, v, f, owner, name)
			return
		}
		w.list(path, e, v, f, owner)
	case reflect.Map:
		w.dictionary(path, e, v, f, owner)
	case reflect.Array:
		w.pair(path, e, v, f, owner)
	default:
		if empty {
			w.ErrorAt(path, at, "give a value or leave the key out", "%s has no value", path)
			return
		}
		w.scalar(path, at, n, v, f, owner)
	}
}

// list replaces a slice; its elements start from their own defaults.
func (w *Walker) list(path string, e Entry, v reflect.Value, f Field, owner reflect.Value) {
	seq, ok := e.Value.(*ast.SequenceNode)
	if !ok {
		if e.Value.Type() != ast.NullType {
			w.ErrorAt(path, e.Place(), "", "%s: want a list, got %s", path, KindName(e.Value))
		}
		return
	}
	out := reflect.Zero(v.Type())
	for p, item := range w.Items(path, f.Key, seq) {
		el := NewValue(v.Type().Elem()).Elem()
		w.value(p, item, el, f, owner)
		out = reflect.Append(out, el)
	}
	v.Set(out)
}

// named replaces a list of sections by name, in the order of the file; each starts from its own defaults.
func (w *Walker) named(path string, e Entry, v reflect.Value, f Field, owner reflect.Value, name int) {
	m := w.Section(path, "names, each with a section below it", e)
	if m == nil {
		return
	}
	out := reflect.Zero(v.Type())
	for _, ent := range w.Entries(path, m, 0) {
		el := NewValue(v.Type().Elem()).Elem()
		el.Field(name).SetString(ent.Key)
		p := Join(path, ent.Key)
		w.Mark(p, ent.KeyPlace)
		w.value(p, ent, el, f, owner)
		out = reflect.Append(out, el)
	}
	v.Set(out)
}

// dictionary fills map[string]T, entry by entry over what is there.
func (w *Walker) dictionary(path string, e Entry, v reflect.Value, f Field, owner reflect.Value) {
	m := w.Section(path, "keys and values", e)
	if m == nil {
		return
	}
	if v.Type().Key().Kind() != reflect.String {
		panic(fmt.Sprintf("schema: %s: map keys must be strings", path))
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, ent := range w.Entries(path, m, 0) {
		el := NewValue(v.Type().Elem()).Elem()
		key := reflect.ValueOf(ent.Key).Convert(v.Type().Key())
		if old := v.MapIndex(key); old.IsValid() {
			el.Set(old)
		}
		p := Join(path, ent.Key)
		w.Mark(p, ent.Place())
		w.value(p, ent, el, f, owner)
		v.SetMapIndex(key, el)
	}
}

// Entries lists the keys of a mapping once each: own keys first, then those of merge keys (<<) that it does not have.
func (w *Walker) Entries(path string, m *ast.MappingNode, depth int) []Entry {
	var own []Entry
	var merged []ast.Node
	first := map[string]Place{}
	for _, kv := range m.Values {
		if kv.Key.Type() == ast.MergeKeyType {
			merged = append(merged, kv.Value)
			continue
		}
		name, ok := KeyText(kv.Key)
		at := NodePlace(kv.Key)
		if !ok {
			w.ErrorAt(path, at, "", "a key must be a plain word, got %s", KindName(kv.Key))
			continue
		}
		if f, twice := first[name]; twice {
			w.ErrorAt(Join(path, name), at, fmt.Sprintf("first on line %d", f.line), "key %q appears twice", Join(path, name))
			continue
		}
		first[name] = at
		own = append(own, Entry{name, at, kv.Value})
	}
	for _, n := range merged {
		for _, from := range w.mergeSources(path, n, depth) {
			for _, e := range w.Entries(path, from, depth+1) {
				if _, have := first[e.Key]; !have {
					first[e.Key] = e.KeyPlace
					own = append(own, e)
				}
			}
		}
	}
	return own
}

// mergeSources gives the mappings behind a merge key: one alias, or a list of them, the first winning.
func (w *Walker) mergeSources(path string, n ast.Node, depth int) []*ast.MappingNode {
	if depth > maxDepth {
		w.ErrorAt(path, NodePlace(n), "", "merge keys nested too deeply; do they contain themselves?")
		return nil
	}
	n = w.Resolve(path, n, 0)
	var out []*ast.MappingNode
	if seq, ok := n.(*ast.SequenceNode); ok {
		for _, item := range seq.Values {
			if m := w.Mapping(w.Resolve(path, item, 0)); m != nil {
				out = append(out, m)
			} else {
				w.ErrorAt(path, NodePlace(item), "", "<< takes sections, got %s", KindName(item))
			}
		}
		return out
	}
	if m := w.Mapping(n); m != nil {
		return []*ast.MappingNode{m}
	}
	if n != nil {
		w.ErrorAt(path, NodePlace(n), "write <<: *name", "<< takes a section, got %s", KindName(n))
	}
	return nil
}

// WordAt reads the word at the path of a key below m; "" if there is none.
func (w *Walker) WordAt(m *ast.MappingNode, path ...string) string {
	for _, e := range w.Entries("", m, 0) {
		if e.Key != path[0] {
			continue
		}
		n := w.Resolve(path[0], e.Value, 0)
		if len(path) > 1 {
			if inner := w.Mapping(n); inner != nil {
				return w.WordAt(inner, path[1:]...)
			}
			return ""
		}
		if n != nil {
			s, _, _ := Text(n)
			return s
		}
	}
	return ""
}

// New is a fresh section with its own defaults.
func New[T any]() *T { return NewValue(reflect.TypeFor[T]()).Interface().(*T) }

// NewValue makes a pointer to a fresh T with T's own defaults.
func NewValue(t reflect.Type) reflect.Value {
	p := reflect.New(t)
	if d, ok := p.Interface().(Defaulter); ok {
		d.SetDefaults()
	}
	return p
}

// Join is the path of a key below another.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
