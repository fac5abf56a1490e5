package schema

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// Redact writes "redacted" over the secrets of a struct and of the structs in it, but not behind pointers and in slices.
func Redact(s any) { redact(reflect.ValueOf(s).Elem()) }

func redact(v reflect.Value) {
	for _, f := range FieldsOf(v.Type()) {
		x := v.FieldByIndex(f.Index)
		switch {
		case x.Kind() == reflect.Struct:
			redact(x)
		case f.Secret && x.String() != "":
			x.SetString("redacted")
		}
	}
}

// Marshal writes a struct with the tags of this package as YAML that Decode reads back.
func Marshal(s any) ([]byte, error) {
	v := reflect.Indirect(reflect.ValueOf(s))
	e := Emitter{}
	e.structure(v, Field{}, 0, "", spot{})
	if e.err != nil {
		return nil, e.err
	}
	return []byte(e.String()), nil
}

// MarshalOver is Marshal of what differs from defaults, of the same type, and of what has a comment, by path. The comment stands behind the
// key.
func MarshalOver(s, defaults any, comments map[string]string) ([]byte, error) {
	e := Emitter{comments: comments}
	e.structure(reflect.Indirect(reflect.ValueOf(s)), Field{}, 0, "", spot{"", reflect.Indirect(reflect.ValueOf(defaults))})
	return []byte(e.String()), e.err
}

// Emitter writes the YAML of a configuration.
type Emitter struct {
	strings.Builder
	err      error
	units    func(tag string) string // what unit tags mean here; nil: what they say
	comments map[string]string       // by path
}

// spot is where a value stands, and what it is by default.
type spot struct {
	path string
	base reflect.Value // the zero Value: it is written in any case
}

// key is a key of the structure at a spot.
func (s spot) key(f Field) spot {
	in := spot{path: Join(s.path, f.Key)}
	if base := s.base; base.IsValid() {
		if base.Kind() == reflect.Pointer {
			base = base.Elem() // invalid where it is nil
		}
		if base.IsValid() {
			in.base = base.FieldByIndex(f.Index)
		}
	}
	return in
}

// isOmitted tells that a value is not written: it is the default, and nothing is said about it.
func (e *Emitter) isOmitted(at spot, x reflect.Value) bool {
	said := func(p string) bool { return PathWithin(p, at.path) }
	return x.Kind() == reflect.Pointer && x.IsNil() || at.base.IsValid() && reflect.DeepEqual(at.base.Interface(), x.Interface()) &&
		!slices.ContainsFunc(slices.Collect(maps.Keys(e.comments)), said)
}

// UnitOf is the first spelling of the unit that a tag stands for here.
func (e *Emitter) UnitOf(tag string) string {
	if e.units != nil {
		tag = e.units(tag)
	}
	tag, _, _ = strings.Cut(tag, "|")
	return tag
}

// structure writes the keys of a struct; the first line may follow a list dash.
func (e *Emitter) structure(v reflect.Value, section Field, indent int, dash string, to spot) {
	if u, ok := asNode[UnitTurning](v); ok {
		outer := e.units
		e.units = u.Units()
		defer func() { e.units = outer }()
	}
	pad := strings.Repeat(" ", indent)
	lead := cmp.Or(dash, pad)
	for _, f := range FieldsIn(v.Type(), section) {
		x := v.FieldByIndex(f.Index)
		at := to.key(f)
		if e.isOmitted(at, x) {
			continue
		}
		e.WriteString(lead + f.Key + ":")
		lead = pad
		if n, ok := asNode[SelfWriting](x); ok {
			n.EmitNode(e, indent)
		} else if t, ok := asNode[Tabled](x); ok {
			e.WriteByte('\n')
			t.Keys().Emit(e, indent)
		} else {
			e.value(reflect.Indirect(x), f, indent, v, at)
		}
	}
}

// value writes what stands behind a key, with the line end.
func (e *Emitter) value(x reflect.Value, f Field, indent int, owner reflect.Value, at spot) {
	switch x.Kind() {
	case reflect.Struct:
		e.WriteString(e.TrailingComment(at.path, "") + "\n")
		e.structure(x, f, indent+2, "", at)
	case reflect.Slice:
		if x.Len() == 0 {
			e.WriteString(empty(x.Type()))
			return
		}
		if x.Type().Elem().Kind() != reflect.Struct {
			e.flow(x, f, owner, at)
			return
		}
		e.WriteByte('\n')
		if name, ok := nameField(x.Type().Elem()); ok {
			for i := range x.Len() {
				e.WriteString(strings.Repeat(" ", indent+2) + QuoteYAML(x.Index(i).Field(name).String()) + ":\n")
				e.structure(x.Index(i), f, indent+4, "", spot{path: at.path + "[]"})
			}
			return
		}
		for i := range x.Len() {
			e.structure(x.Index(i), f, indent+4, strings.Repeat(" ", indent+2)+"- ", spot{path: at.path + "[]"})
		}
	case reflect.Array:
		e.flow(x, f, owner, at)
	case reflect.Map:
		if x.Len() == 0 {
			e.WriteString(" {}\n")
			return
		}
		e.WriteByte('\n')
		keys := x.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			e.WriteString(strings.Repeat(" ", indent+2) + strconv.Quote(k.String()) + ":")
			e.value(x.MapIndex(k), f, indent+2, owner, spot{path: at.path + "[]"})
		}
	default:
		e.WriteString(" " + e.scalar(x, f) + e.TrailingComment(at.path, e.comment(f, owner)) + "\n")
	}
}

// empty is a list without an element, as the file has it.
func empty(t reflect.Type) string {
	if Named(t.Elem()) {
		return " {}\n"
	}
	return " []\n"
}

func (e *Emitter) flow(x reflect.Value, f Field, owner reflect.Value, at spot) {
	e.WriteString(" " + e.listed(x, f) + e.TrailingComment(at.path, e.comment(f, owner)) + "\n")
}

// listed is a list or an array between brackets.
func (e *Emitter) listed(x reflect.Value, f Field) string {
	parts := make([]string, x.Len())
	for i := range parts {
		parts[i] = e.scalar(x.Index(i), f)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// TrailingComment is the comment of a path, or another where it has none.
func (e *Emitter) TrailingComment(path, otherwise string) string {
	if c := e.comments[path]; c != "" {
		return " # " + c
	}
	return otherwise
}

func (e *Emitter) scalar(x reflect.Value, f Field) string {
	switch {
	case x.Kind() == reflect.Array:
		return e.listed(x, f)
	case x.Kind() == reflect.String:
		s := x.String()
		if f.Secret {
			s = strings.ReplaceAll(s, "${", "$${")
		}
		return QuoteYAML(s)
	case x.Kind() == reflect.Bool:
		return strconv.FormatBool(x.Bool())
	case x.CanFloat():
		return strconv.FormatFloat(x.Float(), 'g', -1, 64)
	case x.CanInt():
		return strconv.FormatInt(x.Int(), 10)
	case x.CanUint() && f.Enum != nil:
		return QuoteYAML(f.Enum[x.Uint()])
	case x.CanUint():
		return strconv.FormatUint(x.Uint(), 10)
	}
	e.err = fmt.Errorf("schema: %s: cannot write a %s", f.Key, x.Kind())
	return ""
}

// comment gives the unit of a plain number.
func (e *Emitter) comment(f Field, owner reflect.Value) string {
	unit, _, _ := strings.Cut(f.Unit, "|")
	if f.allUnits != nil {
		unit = e.UnitOf(f.Unit)
	}
	if sib, rest, ok := siblingUnit(f.Unit); ok {
		if unit = siblingString(owner, sib) + rest; rest != "" && unit == rest {
			unit = "1" + rest
		}
	}
	if unit == "" {
		return ""
	}
	return " # " + unit
}

// QuoteYAML writes a plain word bare and everything else in double quotes.
func QuoteYAML(s string) string {
	for i, c := range s {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && (c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-' || c == '/') {
			continue
		}
		return doubleQuote(s)
	}
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return doubleQuote(s)
	}
	return s
}

func doubleQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f || c == 0x85 || c == 0xa0 || c == 0x2028 || c == 0x2029 || c == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// ToJSON gives a document of YAML as JSON.
func ToJSON(text []byte) ([]byte, error) { return yaml.YAMLToJSON(text) }
