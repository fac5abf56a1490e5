package configs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"hilrig/engine/spelling"
)

// Defaulter is implemented by types that appear in lists, maps or behind pointers and have defaults of their own.
type Defaulter interface{ SetDefaults() }

// noder is a type that reads its node itself, because its keys depend on what is said in it.
type noder interface {
	decodeNode(w *walker, path string, e entry, f field)
}

// speller is the type of a file in which the meaning of unit tags depends on what the file says. word reads a word at the
// path of a key before everything else is read; "" if it is not there.
type speller interface {
	units(word func(path ...string) string) func(tag string) string
}

const maxDepth = 32 // nesting of keys, and of aliases

// walker carries a YAML tree into a struct, reporting on the way.
type walker struct {
	*Report
	anchors map[string]ast.Node
}

// reader starts a walk from the root of a tree.
func reader(r *Report, root ast.Node) *walker {
	w := &walker{Report: r, anchors: map[string]ast.Node{}}
	w.collectAnchors(root, 0)
	return w
}

// entry is a key with its value after merge keys were followed.
type entry struct {
	key   string
	at    place
	value ast.Node
}

// structure fills a struct from a mapping. Strings come first, since the unit of a value may be named by a sibling.
func (w *walker) structure(path string, m *ast.MappingNode, v reflect.Value) {
	fields := fieldsOf(v.Type())
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.key
	}
	given := map[string]entry{}
	for _, e := range w.entries(path, m, 0) {
		i := slices.Index(known, e.key)
		if i < 0 {
			w.unknown(path, e, known)
			continue
		}
		given[e.key] = e
		w.Mark(join(path, e.key), e.Place())
	}
	for _, stringsFirst := range []bool{true, false} {
		for _, f := range fields {
			if e, ok := given[f.key]; ok && (v.Field(f.index).Kind() == reflect.String) == stringsFirst {
				w.value(join(path, f.key), e, v.Field(f.index), f, v)
			}
		}
	}
	w.toSI(fields, given, v)
}

// toSI turns the units named inside a struct, and the defaults that are in these units, into SI: a scale that the file
// leaves at 1 means 1 mA in a column in mA. Values from the file are SI already.
func (w *walker) toSI(fields []field, given map[string]entry, v reflect.Value) {
	for _, unitField := range fields {
		if !unitField.isUnit {
			continue
		}
		u, err := ParseUnit(v.Field(unitField.index).String())
		if err != nil {
			continue // reported where it stands
		}
		for _, f := range fields {
			sibling, _, ok := siblingUnit(f.unit)
			if _, read := given[f.key]; !ok || read || sibling != unitField.key {
				continue
			}
			switch x := v.Field(f.index); x.Kind() {
			case reflect.Float64:
				x.SetFloat(u.scale(x.Float()))
			case reflect.Array:
				for i := range x.Len() {
					x.Index(i).SetFloat(u.scale(x.Index(i).Float()))
				}
			}
		}
		v.Field(unitField.index).SetString(u.SI)
	}
}

func (w *walker) unknown(path string, e entry, known []string) {
	under := ""
	if path != "" {
		under = " under " + path
	}
	hint := "known here: " + strings.Join(known, ", ")
	if s := spelling.Nearest(e.key, known); s != "" {
		hint = fmt.Sprintf("did you mean %q?", s)
		w.guess(join(path, s))
	}
	w.ErrorAt(join(path, e.key), e.at, hint, "unknown key %q%s", e.key, under)
}

// value decodes one node into one field; owner is the struct that holds it.
func (w *walker) value(path string, e entry, v reflect.Value, f field, owner reflect.Value) {
	if strings.Count(path, ".")+strings.Count(path, "[") > maxDepth {
		w.ErrorAt(path, e.at, "", "nested too deeply")
		return
	}
	n := w.resolve(path, e.value, 0)
	if n == nil {
		return // an alias without anchor, already reported
	}
	e.value = n
	at := e.Place()
	empty := n.Type() == ast.NullType
	if d, ok := v.Addr().Interface().(noder); ok && v.Kind() != reflect.Pointer {
		d.decodeNode(w, path, e, f)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if empty && !isImplicit(n) {
			v.SetZero() // an explicit null or ~ switches the section off
			return
		}
		if v.IsNil() {
			v.Set(newValue(v.Type().Elem()))
		}
		w.value(path, e, v.Elem(), f, owner)
	case reflect.Struct:
		m := w.mapping(n)
		switch {
		case m != nil:
			w.structure(path, m, v)
		case !empty: // an empty section leaves the defaults
			w.ErrorAt(path, at, "", "%s: want keys and values, got %s", path, kindName(n))
		}
	case reflect.Slice:
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
func (w *walker) list(path string, e entry, v reflect.Value, f field, owner reflect.Value) {
	seq, ok := e.value.(*ast.SequenceNode)
	if !ok {
		if e.value.Type() != ast.NullType {
			w.ErrorAt(path, e.Place(), "", "%s: want a list, got %s", path, kindName(e.value))
		}
		return
	}
	out := reflect.Zero(v.Type())
	for i, item := range seq.Values {
		el := newValue(v.Type().Elem()).Elem()
		p := fmt.Sprintf("%s[%d]", path, i)
		ie := entry{key: f.key, at: nodePlace(item), value: item}
		w.Mark(p, ie.at)
		w.value(p, ie, el, f, owner)
		out = reflect.Append(out, el)
	}
	v.Set(out)
}

// dictionary fills map[string]T, entry by entry over what is there.
func (w *walker) dictionary(path string, e entry, v reflect.Value, f field, owner reflect.Value) {
	m := w.mapping(e.value)
	if m == nil {
		if e.value.Type() != ast.NullType {
			w.ErrorAt(path, e.Place(), "", "%s: want keys and values, got %s", path, kindName(e.value))
		}
		return
	}
	if v.Type().Key().Kind() != reflect.String {
		panic(fmt.Sprintf("configs: %s: map keys must be strings", path))
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, ent := range w.entries(path, m, 0) {
		el := newValue(v.Type().Elem()).Elem()
		key := reflect.ValueOf(ent.key).Convert(v.Type().Key())
		if old := v.MapIndex(key); old.IsValid() {
			el.Set(old)
		}
		p := join(path, ent.key)
		w.Mark(p, ent.Place())
		w.value(p, ent, el, f, owner)
		v.SetMapIndex(key, el)
	}
}

// entries lists the keys of a mapping once each: own keys first, then those of merge keys (<<) that it does not have.
func (w *walker) entries(path string, m *ast.MappingNode, depth int) []entry {
	var own []entry
	var merged []ast.Node
	first := map[string]place{}
	for _, kv := range m.Values {
		if kv.Key.Type() == ast.MergeKeyType {
			merged = append(merged, kv.Value)
			continue
		}
		name, ok := keyText(kv.Key)
		at := nodePlace(kv.Key)
		if !ok {
			w.ErrorAt(path, at, "", "a key must be a plain word, got %s", kindName(kv.Key))
			continue
		}
		if f, twice := first[name]; twice {
			w.ErrorAt(join(path, name), at, fmt.Sprintf("first on line %d", f.line), "key %q appears twice", join(path, name))
			continue
		}
		first[name] = at
		own = append(own, entry{name, at, kv.Value})
	}
	for _, n := range merged {
		for _, from := range w.mergeSources(path, n, depth) {
			for _, e := range w.entries(path, from, depth+1) {
				if _, have := first[e.key]; !have {
					first[e.key] = e.at
					own = append(own, e)
				}
			}
		}
	}
	return own
}

// mergeSources gives the mappings behind a merge key: one alias, or a list of them, the first winning.
func (w *walker) mergeSources(path string, n ast.Node, depth int) []*ast.MappingNode {
	if depth > maxDepth {
		w.ErrorAt(path, nodePlace(n), "", "merge keys nested too deeply; do they contain themselves?")
		return nil
	}
	n = w.resolve(path, n, 0)
	var out []*ast.MappingNode
	if seq, ok := n.(*ast.SequenceNode); ok {
		for _, item := range seq.Values {
			if m := w.mapping(w.resolve(path, item, 0)); m != nil {
				out = append(out, m)
			} else {
				w.ErrorAt(path, nodePlace(item), "", "<< takes sections, got %s", kindName(item))
			}
		}
		return out
	}
	if m := w.mapping(n); m != nil {
		return []*ast.MappingNode{m}
	}
	if n != nil {
		w.ErrorAt(path, nodePlace(n), "write <<: *name", "<< takes a section, got %s", kindName(n))
	}
	return nil
}

// wordAt reads the word at the path of a key below m; "" if there is none.
func (w *walker) wordAt(m *ast.MappingNode, path ...string) string {
	for _, e := range w.entries("", m, 0) {
		if e.key != path[0] {
			continue
		}
		n := w.resolve(path[0], e.value, 0)
		if len(path) > 1 {
			if inner := w.mapping(n); inner != nil {
				return w.wordAt(inner, path[1:]...)
			}
			return ""
		}
		if n != nil {
			s, _, _ := text(n)
			return s
		}
	}
	return ""
}

// newValue makes a pointer to a fresh T with T's own defaults.
func newValue(t reflect.Type) reflect.Value {
	p := reflect.New(t)
	if d, ok := p.Interface().(Defaulter); ok {
		d.SetDefaults()
	}
	return p
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
