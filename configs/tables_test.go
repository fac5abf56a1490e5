package configs

import (
	"fmt"
	"reflect"
	"strings"
)

// Tables lists all keys as Markdown, for docs/config.md: one table per section, from the tags and the defaults.
func Tables(defaults any) string {
	v := reflect.ValueOf(defaults)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	var b strings.Builder
	sectionTable(&b, "", "", v)
	return b.String()
}

// sectionTable writes the scalars of a struct, then its sections one by one.
func sectionTable(b *strings.Builder, path, doc string, v reflect.Value) {
	var inner []field
	rows := 0
	row := func(f field, x reflect.Value) {
		if rows++; rows == 1 {
			if path != "" {
				fmt.Fprintf(b, "\n## %s\n\n%s.\n", path, doc)
			}
			b.WriteString("\n| key | unit | default | range | meaning |\n|---|---|---|---|---|\n")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", f.key, unitCell(f), defaultCell(f, x), rangeCell(f), meaningCell(f))
	}
	for _, f := range fieldsOf(v.Type()) {
		x := v.Field(f.index)
		if holdsStruct(x.Type()) {
			inner = append(inner, f)
			continue
		}
		row(f, x)
	}
	for _, f := range inner {
		x, name := v.Field(f.index), join(path, f.key)
		switch x.Kind() {
		case reflect.Slice:
			x, name = newValue(x.Type().Elem()).Elem(), name+"[]"
		case reflect.Map:
			x, name = newValue(x.Type().Elem()).Elem(), name+".NAME"
		case reflect.Pointer:
			x = newValue(x.Type().Elem()).Elem()
		}
		sectionTable(b, name, f.doc, x)
	}
}

func holdsStruct(t reflect.Type) bool {
	if t.Implements(reflect.TypeFor[shaped]()) {
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

func unitCell(f field) string {
	switch unit, _, _ := strings.Cut(f.unit, "|"); {
	case strings.HasPrefix(unit, "@"):
		return "*unit*" + unit[len("@unit"):]
	default:
		return unit
	}
}

func defaultCell(f field, v reflect.Value) string {
	def, ok := shownDefault(f, v)
	switch {
	case f.auto != "":
		return f.auto
	case v.Kind() == reflect.Array && v.IsZero(), v.Kind() == reflect.Slice, v.Kind() == reflect.Map, v.Kind() == reflect.Pointer:
		return ""
	case !ok && v.Kind() == reflect.String:
		return ""
	case !ok:
		return "**to be given**"
	}
	if x, isFloat := def.(float64); isFloat {
		def = short(x)
	}
	return fmt.Sprintf("`%v`", def)
}

func rangeCell(f field) string {
	if f.want == nil {
		return ""
	}
	return f.wanted("")
}

func meaningCell(f field) string {
	parts := []string{f.doc}
	if f.enum != nil {
		var words []string
		for _, e := range f.enum {
			if e != "" {
				words = append(words, "`"+e+"`")
			}
		}
		parts = append(parts, "one of "+strings.Join(words, " "))
	}
	if f.secret {
		parts = append(parts, "secret")
	}
	return strings.ReplaceAll(strings.Join(parts, "; "), "|", "\\|")
}
