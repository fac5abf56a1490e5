package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Marshal writes the configuration in force as YAML: every key, numbers in SI with the unit as a comment. Loading it
// gives the same Config. Passwords are in it; see Redacted.
func (c *Config) Marshal() ([]byte, error) { return Marshal(c) }

// Redacted is a copy whose passwords read "redacted": for recordings, bug reports and the screen.
func (c *Config) Redacted() *Config {
	out := *c // no secret lies behind a pointer or in a slice; a test walks the tags
	redact(reflect.ValueOf(&out).Elem())
	return &out
}

// Hash is the hex SHA-256 of the redacted configuration as Marshal writes it.
func (c *Config) Hash() string {
	text, err := c.Redacted().Marshal()
	if err != nil {
		panic("configs: " + err.Error()) // a Config always marshals; a test does it
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func redact(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		x := v.Field(f.index)
		switch {
		case x.Kind() == reflect.Struct:
			redact(x)
		case f.secret && x.String() != "":
			x.SetString("redacted")
		}
	}
}

// Marshal writes a struct with the tags of this package as YAML that Decode reads back.
func Marshal(s any) ([]byte, error) {
	v := reflect.ValueOf(s)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	e := emitter{}
	e.structure(v, 0, "")
	if e.err != nil {
		return nil, e.err
	}
	return []byte(e.String()), nil
}

// emitter writes the YAML of a configuration.
type emitter struct {
	strings.Builder
	err error
}

// structure writes the keys of a struct; the first line may follow a list dash.
func (e *emitter) structure(v reflect.Value, indent int, dash string) {
	pad := strings.Repeat(" ", indent)
	lead := pad
	if dash != "" {
		lead = dash
	}
	for _, f := range fieldsOf(v.Type()) {
		x := v.Field(f.index)
		if x.Kind() == reflect.Pointer && x.IsNil() {
			continue
		}
		if n, ok := asNode[nodeEmitter](x); ok {
			e.WriteString(lead + f.key + ":")
			lead = pad
			n.emitNode(e, indent)
			continue
		}
		for x.Kind() == reflect.Pointer {
			x = x.Elem()
		}
		e.WriteString(lead + f.key + ":")
		lead = pad
		e.value(x, f, indent, v)
	}
}

// value writes what stands behind a key, with the line end.
func (e *emitter) value(x reflect.Value, f field, indent int, owner reflect.Value) {
	switch x.Kind() {
	case reflect.Struct:
		e.WriteByte('\n')
		e.structure(x, indent+2, "")
	case reflect.Slice:
		if x.Len() == 0 {
			e.WriteString(" []\n")
			return
		}
		if x.Type().Elem().Kind() != reflect.Struct {
			e.flow(x, f, owner)
			return
		}
		e.WriteByte('\n')
		for i := range x.Len() {
			e.structure(x.Index(i), indent+4, strings.Repeat(" ", indent+2)+"- ")
		}
	case reflect.Array:
		e.flow(x, f, owner)
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
			e.value(x.MapIndex(k), f, indent+2, owner)
		}
	default:
		e.WriteString(" " + e.scalar(x, f) + comment(f, owner) + "\n")
	}
}

func (e *emitter) flow(x reflect.Value, f field, owner reflect.Value) {
	parts := make([]string, x.Len())
	for i := range parts {
		parts[i] = e.scalar(x.Index(i), f)
	}
	e.WriteString(" [" + strings.Join(parts, ", ") + "]" + comment(f, owner) + "\n")
}

func (e *emitter) scalar(x reflect.Value, f field) string {
	switch {
	case x.Kind() == reflect.String:
		s := x.String()
		if f.secret {
			s = strings.ReplaceAll(s, "${", "$${")
		}
		return yamlQuote(s)
	case x.Kind() == reflect.Bool:
		return strconv.FormatBool(x.Bool())
	case x.CanFloat():
		return strconv.FormatFloat(x.Float(), 'g', -1, 64)
	case x.CanInt():
		return strconv.FormatInt(x.Int(), 10)
	case x.CanUint():
		return strconv.FormatUint(x.Uint(), 10)
	}
	e.err = fmt.Errorf("configs: %s: cannot write a %s", f.key, x.Kind())
	return ""
}

// comment gives the unit of a plain number.
func comment(f field, owner reflect.Value) string {
	unit, _, _ := strings.Cut(f.unit, "|")
	if sib, rest, ok := siblingUnit(f.unit); ok {
		if unit = siblingString(owner, sib) + rest; rest != "" && unit == rest {
			unit = "1" + rest
		}
	}
	if unit == "" {
		return ""
	}
	return " # " + unit
}

// yamlQuote writes a plain word bare and everything else in double quotes.
func yamlQuote(s string) string {
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
