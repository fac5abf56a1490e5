package schema

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// KeyTable is a section whose keys come from a table of the engine. A dot opens a section: commutator.radius is radius under
// commutator. What a file leaves out keeps its number.
type KeyTable []TableKey

// TableKey is one key: a number in SI (Ptr), a switch (Flag) or a word (Word), which is empty when left out.
type TableKey struct {
	Key, Unit, Doc string
	Lo, Hi         float64
	Integer        bool
	Ptr            *float64
	Flag           *bool
	Word           *string
}

// Decode reads the keys that begin with prefix.
func (table KeyTable) Decode(w *Walker, path, prefix string, e Entry) {
	m := w.Section(path, "keys and values", e)
	if m == nil {
		return
	}
	known, leaves := table.childKeys(prefix)
	for _, k := range w.Entries(path, m, 0) {
		at, p := k.Place(), Join(path, k.Key)
		w.Mark(p, at)
		i, leaf := leaves[k.Key]
		if !leaf && !table.opens(prefix+k.Key+".") {
			w.Unknown(path, k, known)
			continue
		}
		if k.Value = w.Resolve(p, k.Value, 0); k.Value == nil {
			continue
		}
		if !leaf {
			table.Decode(w, p, prefix+k.Key+".", k)
			continue
		}
		f := table[i]
		if f.Flag != nil {
			w.scalar(p, at, k.Value, reflect.ValueOf(f.Flag).Elem(), Field{Key: k.Key}, reflect.Value{})
			continue
		}
		if f.Word != nil {
			s, _, isText := Text(k.Value)
			if !isText || s == "" || k.Value.Type() == ast.NullType {
				w.ErrorAt(p, at, "", "%s: want a word, got %s: %s", p, KindName(k.Value), f.Doc)
				continue
			}
			*f.Word = s
			continue
		}
		s, ok := w.Scalar(p, "a number", at, k.Value)
		if !ok {
			continue
		}
		spec := Field{Unit: f.Unit}
		if unit, _, several := strings.Cut(f.Unit, "|"); !several {
			spec = UnitField(unit)
		}
		var x float64
		x, ok = w.Number(p, at, s, spec, reflect.Value{})
		switch unit := UnitSuffix(f.Unit); {
		case !ok:
		case f.Integer && x != math.Trunc(x):
			w.ErrorAt(p, at, "", "%s: %s, want a whole number: %s", p, Short(x), f.Doc)
		case !(x >= f.Lo && x <= f.Hi):
			w.ErrorAt(p, at, "", "%s: %s%s, want %s: %s", p, Short(x), unit, f.span(unit), f.Doc)
		default:
			*f.Ptr = x
		}
	}
}

// span is the range of a key in words.
func (f *TableKey) span(unit string) string {
	switch {
	case f.Lo == math.SmallestNonzeroFloat64 && math.IsInf(f.Hi, 1):
		return "> 0" + unit
	case f.Lo == math.SmallestNonzeroFloat64:
		return "> 0 to " + Short(f.Hi) + unit
	case math.IsInf(f.Hi, 1):
		return "≥ " + Short(f.Lo) + unit
	}
	return Short(f.Lo) + " to " + Short(f.Hi) + unit
}

// UnitSuffix is the first spelling of a unit as it stands behind a number: with a space, or nothing.
func UnitSuffix(unit string) string {
	unit, _, _ = strings.Cut(unit, "|")
	if unit == "" {
		return ""
	}
	return " " + unit
}

// childKeys lists the keys one level below a prefix, in the order of the table, and where those are that hold a number.
func (table KeyTable) childKeys(prefix string) (known []string, leaves map[string]int) {
	leaves = map[string]int{}
	seen := map[string]bool{}
	for i, f := range table {
		rest, ok := strings.CutPrefix(f.Key, prefix)
		if !ok {
			continue
		}
		key, _, deeper := strings.Cut(rest, ".")
		if !deeper {
			leaves[key] = i
		}
		if !seen[key] {
			seen[key] = true
			known = append(known, key)
		}
	}
	return known, leaves
}

// opens tells whether keys begin with a prefix.
func (table KeyTable) opens(prefix string) bool {
	return slices.ContainsFunc(table, func(f TableKey) bool { return strings.HasPrefix(f.Key, prefix) })
}

// Emit writes what decode reads.
func (table KeyTable) Emit(e *Emitter, indent int) {
	var open []string
	for _, f := range table {
		if f.Word != nil && *f.Word == "" {
			continue
		}
		parts := strings.Split(f.Key, ".")
		groups, key := parts[:len(parts)-1], parts[len(parts)-1]
		same := 0
		for same < len(groups) && same < len(open) && groups[same] == open[same] {
			same++
		}
		for i := same; i < len(groups); i++ {
			fmt.Fprintf(e, "%s%s:\n", strings.Repeat(" ", indent+2+2*i), groups[i])
		}
		open = groups
		value := ""
		switch {
		case f.Flag != nil:
			value = strconv.FormatBool(*f.Flag)
		case f.Word != nil:
			value = strconv.Quote(*f.Word)
		default:
			value = strconv.FormatFloat(*f.Ptr, 'g', -1, 64)
		}
		fmt.Fprintf(e, "%s%s: %s", strings.Repeat(" ", indent+2+2*len(groups)), key, value)
		if f.Unit != "" {
			fmt.Fprintf(e, " #%s", UnitSuffix(f.Unit))
		}
		e.WriteByte('\n')
	}
}

// Shape describes the keys below a prefix to editors.
func (table KeyTable) Shape(prefix string) *Object {
	props := new(Object)
	known, leaves := table.childKeys(prefix)
	for _, k := range known {
		i, leaf := leaves[k]
		if !leaf {
			props.Set(k, table.Shape(prefix+k+"."))
			continue
		}
		f := table[i]
		if f.Flag != nil {
			props.Set(k, Typed("boolean").Set("description", f.Doc).Set("default", *f.Flag))
			continue
		}
		if f.Word != nil {
			props.Set(k, Typed("string").Set("description", f.Doc))
			continue
		}
		number := AnyOf(Typed("number").Set("minimum", f.Lo).Set("maximum", f.Hi), Typed("string").Set("pattern", NumberPattern))
		doc := f.Doc
		if f.Unit != "" {
			doc += " [" + UnitSuffix(f.Unit)[1:] + ", or with its own unit]"
		}
		props.Set(k, number.Set("description", doc).Set("default", *f.Ptr))
	}
	props.Set("<<", new(Object).Set("description", "YAML merge key"))
	return new(Object).Set("type", []string{"object", "null"}).Set("properties", props).Set("additionalProperties", false)
}

// UnitField is a field of one unit. A unit that files cannot name, such as m^-n, leaves the number alone.
func UnitField(unit string) Field {
	if _, err := ParseUnit(unit); err != nil {
		return Field{}
	}
	return Field{Unit: unit}
}
