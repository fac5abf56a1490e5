package configs

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// keyTable is a section whose keys come from a table of the engine. A dot opens a section: commutator.radius is radius under
// commutator. What a file leaves out keeps its number.
type keyTable []tableKey

// tableKey is one key: a number in SI (Ptr) or a switch (Flag).
type tableKey struct {
	Key, Unit, Doc string
	Lo, Hi         float64
	Whole          bool
	Ptr            *float64
	Flag           *bool
}

// decode reads the keys that begin with prefix.
func (table keyTable) decode(w *walker, path, prefix string, e entry) {
	m := w.mapping(e.value)
	if m == nil {
		if e.value.Type() != ast.NullType {
			w.ErrorAt(path, e.Place(), "", "%s: want keys and values, got %s", path, kindName(e.value))
		}
		return
	}
	known, leaves := table.below(prefix)
	for _, k := range w.entries(path, m, 0) {
		at, p := k.Place(), join(path, k.key)
		w.Mark(p, at)
		i, leaf := leaves[k.key]
		if !leaf && !table.opens(prefix+k.key+".") {
			w.unknown(path, k, known)
			continue
		}
		if k.value = w.resolve(p, k.value, 0); k.value == nil {
			continue
		}
		if !leaf {
			table.decode(w, p, prefix+k.key+".", k)
			continue
		}
		f := table[i]
		if f.Flag != nil {
			w.scalar(p, at, k.value, reflect.ValueOf(f.Flag).Elem(), field{key: k.key}, reflect.Value{})
			continue
		}
		s, _, isText := text(k.value)
		if !isText || k.value.Type() == ast.NullType {
			w.ErrorAt(p, at, "", "%s: want a number, got %s", p, kindName(k.value))
			continue
		}
		spec := field{unit: f.Unit}
		if unit, _, several := strings.Cut(f.Unit, "|"); !several {
			spec = unitField(unit)
		}
		x, ok := w.number(p, at, s, spec, reflect.Value{})
		switch unit := behind(f.Unit); {
		case !ok:
		case f.Whole && x != math.Trunc(x):
			w.ErrorAt(p, at, "", "%s: %s, want a whole number: %s", p, short(x), f.Doc)
		case !(x >= f.Lo && x <= f.Hi):
			w.ErrorAt(p, at, "", "%s: %s%s, want %s: %s", p, short(x), unit, f.span(unit), f.Doc)
		default:
			*f.Ptr = x
		}
	}
}

// span is the range of a key in words.
func (f *tableKey) span(unit string) string {
	switch {
	case f.Lo == math.SmallestNonzeroFloat64 && math.IsInf(f.Hi, 1):
		return "> 0" + unit
	case f.Lo == math.SmallestNonzeroFloat64:
		return "> 0 to " + short(f.Hi) + unit
	case math.IsInf(f.Hi, 1):
		return "≥ " + short(f.Lo) + unit
	}
	return short(f.Lo) + " to " + short(f.Hi) + unit
}

// behind is a unit as it stands behind a number.
func behind(unit string) string {
	unit, _, _ = strings.Cut(unit, "|")
	if unit == "" {
		return ""
	}
	return " " + unit
}

// below lists the keys one level below a prefix, in the order of the table, and where those are that hold a number.
func (table keyTable) below(prefix string) (known []string, leaves map[string]int) {
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
func (table keyTable) opens(prefix string) bool {
	for _, f := range table {
		if strings.HasPrefix(f.Key, prefix) {
			return true
		}
	}
	return false
}

// emit writes what decode reads.
func (table keyTable) emit(e *emitter, indent int) {
	var open []string
	for _, f := range table {
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
		if f.Flag != nil {
			value = strconv.FormatBool(*f.Flag)
		} else {
			value = strconv.FormatFloat(*f.Ptr, 'g', -1, 64)
		}
		fmt.Fprintf(e, "%s%s: %s", strings.Repeat(" ", indent+2+2*len(groups)), key, value)
		if f.Unit != "" {
			fmt.Fprintf(e, " #%s", behind(f.Unit))
		}
		e.WriteByte('\n')
	}
}

// shape describes the keys below a prefix to editors.
func (table keyTable) shape(prefix string) *object {
	props := new(object)
	known, leaves := table.below(prefix)
	for _, k := range known {
		i, leaf := leaves[k]
		if !leaf {
			props.set(k, table.shape(prefix+k+"."))
			continue
		}
		f := table[i]
		if f.Flag != nil {
			props.set(k, typed("boolean").set("description", f.Doc).set("default", *f.Flag))
			continue
		}
		number := new(object).set("anyOf", []any{typed("number").set("minimum", f.Lo).set("maximum", f.Hi), typed("string").set("pattern", numberPattern)})
		doc := f.Doc
		if f.Unit != "" {
			doc += " [" + behind(f.Unit)[1:] + ", or with its own unit]"
		}
		props.set(k, number.set("description", doc).set("default", *f.Ptr))
	}
	props.set("<<", new(object).set("description", "YAML merge key"))
	return new(object).set("type", []string{"object", "null"}).set("properties", props).set("additionalProperties", false)
}

// unitField is a field of one unit. A unit that files cannot name, such as m^-n, leaves the number alone.
func unitField(unit string) field {
	if _, err := ParseUnit(unit); err != nil {
		return field{}
	}
	return field{unit: unit}
}
