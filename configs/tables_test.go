package configs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/friction"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// Tables lists all keys as Markdown, for docs/reference/config.md: one table per section, from the tags and the defaults.
func Tables(defaults any) string {
	v := reflect.ValueOf(defaults)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	var b strings.Builder
	sectionTable(&b, "", schema.Field{}, v)
	return b.String()
}

// motions is the table of the kinds of a reference.
func motions() string {
	var b strings.Builder
	b.WriteString("\n## Kinds of motion\n\nof `reference`, and of a generator in a file to simulate; every kind takes `offset` and " +
		"`fade`.\n\n| kind | must have | may have | such as |\n|---|---|---|---|\n")
	for _, s := range reference.Shapes {
		var needs []string
		for _, n := range s.Needs {
			needs = append(needs, n.Key)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` |\n", s.Kind, strings.Join(needs, ", "), strings.Join(s.Takes, ", "), s.Example)
	}
	return b.String()
}

// laws is the table of the laws of friction.
func laws() string {
	var b strings.Builder
	b.WriteString("\n## Laws of friction\n\nof `friction: {law: NAME, …}` in axes and in `virtual`: all parameters are to be given but " +
		"those in brackets, which are 0 if left out.\n" +
		"Those named under *backward* may have numbers of their own for v < 0. Every law serves the compensations `feedforward` and " +
		"`feedforward-static`; those that\n" +
		"do not yield before they slide are refused by the ones that follow the measured motion, where the sign of a speed would be positive " +
		"feedback.\n\n" +
		"| law | parameters | backward | follows the measured motion |\n|---|---|---|---|\n")
	for _, i := range friction.Laws() {
		var params, sided []string
		law := i.NewLaw()
		for _, p := range law.Params() {
			text := "`" + p.Name + "`"
			if units := strings.Join(bothUnits(p.Unit), " or "); units != "" {
				text += " " + units
			}
			if optional(p) {
				text = "(" + text + ")"
			}
			params = append(params, text)
			if slices.Contains(friction.Sided, p.Name) {
				sided = append(sided, "`"+p.Name+"`")
			}
		}
		if _, err := friction.NewTwoSided(law, i.NewLaw()); err != nil {
			sided = nil
		}
		follows := "yes"
		if estimator.Yields(law) != nil {
			follows = "no"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", i.Name, strings.Join(params, ", "), strings.Join(sided, " "), follows)
	}
	return b.String()
}

// sectionTable writes the scalars of a struct, then its sections one by one.
func sectionTable(b *strings.Builder, path string, section schema.Field, v reflect.Value) {
	var inner []schema.Field
	rows := 0
	row := func(f schema.Field, x reflect.Value) {
		if rows++; rows == 1 {
			if path != "" {
				fmt.Fprintf(b, "\n## %s\n\n%s.\n", path, section.Doc)
			}
			b.WriteString("\n| key | unit | default | range | meaning |\n|---|---|---|---|---|\n")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", f.Key, unitCell(f), defaultCell(f, x), rangeCell(f), meaningCell(f))
	}
	for _, f := range schema.FieldsIn(v.Type(), section) {
		x := v.FieldByIndex(f.Index)
		if holdsStruct(x.Type()) {
			inner = append(inner, f)
			continue
		}
		row(f, x)
	}
	for _, f := range inner {
		x, name := v.FieldByIndex(f.Index), schema.Join(path, f.Key)
		switch x.Kind() {
		case reflect.Slice:
			more := "[]"
			if schema.Named(x.Type().Elem()) {
				more = ".NAME"
			}
			x, name = schema.NewValue(x.Type().Elem()).Elem(), name+more
		case reflect.Map:
			x, name = schema.NewValue(x.Type().Elem()).Elem(), name+".NAME"
		case reflect.Pointer:
			x = schema.NewValue(x.Type().Elem()).Elem()
		}
		sectionTable(b, name, f, x)
	}
}

func holdsStruct(t reflect.Type) bool {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[schema.Tabled]()) || t.Implements(reflect.TypeFor[schema.Tabled]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[schema.SelfDescribing]()) || t.Implements(reflect.TypeFor[schema.SelfDescribing]()) {
		return false // its keys depend on what it says: one row
	}
	switch t.Kind() {
	case reflect.Struct:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return holdsStruct(t.Elem())
	}
	return false
}

func unitCell(f schema.Field) string {
	if rest, ok := strings.CutPrefix(f.Unit, "@unit"); ok {
		return "*unit*" + rest
	}
	return strings.Join(f.AllUnits(), " or ")
}

func defaultCell(f schema.Field, v reflect.Value) string {
	def, ok := schema.ShownDefault(f, v)
	switch {
	case f.Auto != "":
		return f.Auto
	case v.Kind() == reflect.Array && v.IsZero(), v.Kind() == reflect.Slice, v.Kind() == reflect.Map, v.Kind() == reflect.Pointer:
		return ""
	case !ok && (v.Kind() == reflect.String || f.Enum != nil):
		return ""
	case !ok:
		return "**to be given**"
	}
	if x, isFloat := def.(float64); isFloat {
		def = schema.Short(x)
	}
	return fmt.Sprintf("`%v`", def)
}

func rangeCell(f schema.Field) string {
	if f.Bounds == nil {
		return ""
	}
	return f.BoundsText("")
}

func meaningCell(f schema.Field) string {
	parts := []string{f.Doc}
	if f.Enum != nil {
		var words []string
		for _, e := range f.Enum {
			if e != "" {
				words = append(words, "`"+e+"`")
			}
		}
		parts = append(parts, "one of "+strings.Join(words, " "))
	}
	if f.Secret {
		parts = append(parts, "secret")
	}
	return strings.ReplaceAll(strings.Join(parts, "; "), "|", "\\|")
}
