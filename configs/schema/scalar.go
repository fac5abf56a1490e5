package schema

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"hilrig/engine/spelling"
)

// scalar decodes a single value.
func (w *Walker) scalar(path string, at Place, n ast.Node, v reflect.Value, f Field, owner reflect.Value) {
	s, quoted, ok := Text(n)
	if !ok {
		want := map[reflect.Kind]string{reflect.String: "a word", reflect.Bool: "true or false", reflect.Float64: "a number"}[v.Kind()]
		w.ErrorAt(path, at, "", "%s: want %s, got %s", path, cmp.Or(want, "a whole number"), KindName(n))
		return
	}
	if v.CanUint() && f.Enum != nil {
		word := reflect.New(reflect.TypeFor[string]()).Elem()
		if w.word(path, at, n, s, word, f); word.String() != "" {
			v.SetUint(uint64(slices.Index(f.Enum, word.String())))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		w.word(path, at, n, s, v, f)
	case reflect.Bool:
		if quoted || s != "true" && s != "false" {
			w.ErrorAt(path, at, "", "%s: want true or false, got %s", path, Quote(s))
			return
		}
		v.SetBool(s == "true")
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8,
		reflect.Uint, reflect.Uint64, reflect.Uint32, reflect.Uint16, reflect.Uint8:
		w.integer(path, at, s, v)
	case reflect.Float64:
		if x, ok := w.Number(path, at, s, f, owner); ok {
			v.SetFloat(x)
		}
	default:
		panic(fmt.Sprintf("schema: %s: fields of kind %s are not supported", path, v.Kind()))
	}
}

var (
	variable = regexp.MustCompile(`\$?\$\{[^}]*\}?`)
	varName  = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)
)

// word stores a string: one of a list, a unit, a password that may come from the environment, or plain text.
func (w *Walker) word(path string, at Place, n ast.Node, s string, v reflect.Value, f Field) {
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
	default:
		// 010 or 1e5 would come back as another text; whoever means a text quotes it
		if !f.IsUnit || s != "1" {
			shown := s
			if f.Secret {
				shown = "…"
			}
			w.ErrorAt(path, at, fmt.Sprintf("write \"%s\" if you mean the text", shown), "%s: want a word, got a number or the like", path)
			return
		}
	}
	if f.Secret {
		s = variable.ReplaceAllStringFunc(s, func(ref string) string {
			if strings.HasPrefix(ref, "$$") {
				return ref[1:] // $${ is a plain ${
			}
			m := varName.FindStringSubmatch(ref)
			if m == nil {
				w.ErrorAt(path, at, "write $${ for a plain ${", "%s: %q is not a variable", path, ref)
				return ""
			}
			value, ok := os.LookupEnv(m[1])
			if !ok {
				w.ErrorAt(path, at, "export "+m[1]+"=…", "%s: the environment has no variable %s", path, m[1])
			}
			return value
		})
	} else if strings.Contains(s, "${") {
		w.ErrorAt(path, at, "", "%s: variables are replaced in passwords only", path)
		return
	}
	if f.Enum != nil && !slices.Contains(f.Enum, s) {
		options := slices.DeleteFunc(slices.Clone(f.Enum), func(o string) bool { return o == "" })
		w.ErrorAt(path, at, spelling.Hint(s, options, ""), "%s: %s is not one of %s", path, Quote(s), strings.Join(options, ", "))
		return
	}
	if f.IsUnit {
		if _, err := ParseUnit(s); err != nil {
			w.ErrorAt(path, at, "", "%s: %v", path, err)
			return
		}
	}
	v.SetString(s)
}

// integer takes whole numbers, also as 0x… or 1e6.
func (w *Walker) integer(path string, at Place, s string, v reflect.Value) {
	unsigned := v.CanUint()
	fits := func() bool {
		digits, base := s, 10
		if hex, ok := strings.CutPrefix(s, "0x"); ok {
			digits, base = hex, 16
		}
		if unsigned {
			u, err := strconv.ParseUint(digits, base, 64)
			if err != nil || v.OverflowUint(u) {
				return false
			}
			v.SetUint(u)
			return true
		}
		i, err := strconv.ParseInt(digits, base, 64)
		if err != nil {
			// 1e6 is a whole number too
			x, ferr := strconv.ParseFloat(digits, 64)
			if ferr != nil || base != 10 || x != math.Trunc(x) || math.Abs(x) > 1<<53 || strings.Contains(digits, "_") {
				return false
			}
			i = int64(x)
		}
		if v.OverflowInt(i) {
			return false
		}
		v.SetInt(i)
		return true
	}
	if fits() {
		return
	}
	hint := ""
	if _, unit, err := SplitNumber(s); err == nil && unit != "" {
		hint = "it has no unit"
	}
	if unsigned {
		w.ErrorAt(path, at, hint, "%s: %s is not a whole number from 0 to 2^%d−1", path, Quote(s), v.Type().Bits())
		return
	}
	w.ErrorAt(path, at, hint, "%s: %s is not a whole number", path, Quote(s))
}

// Quote shows a piece of a file, shortened.
func Quote(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return strconv.Quote(s)
}
