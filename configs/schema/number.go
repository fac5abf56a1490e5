package schema

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Number reads "12", "1e4" or "12 mN·m" and returns SI.
func (w *Walker) Number(path string, at Place, s string, f Field, owner reflect.Value) (float64, bool) {
	if _, _, err := SplitNumber(s); err != nil {
		w.ErrorAt(path, at, "", "%s: %v", path, err)
		return 0, false
	}
	want, ok := w.wantUnits(path, at, f, owner)
	if !ok {
		return 0, false
	}
	x, hint, err := parseNumber(s, strings.TrimSpace, want, f)
	if err != nil {
		w.ErrorAt(path, at, hint, "%s: %v", path, err)
	} else if _, unit, _ := SplitNumber(s); unit != "" {
		w.spelt[path] = unit
	}
	return x, err == nil
}

// Measures tells whether the number at a path stands without a unit, or with one that measures what the other unit does. It is for fields
// that take several units, of which a section elsewhere chooses one. The unit that was given comes with it.
func (r *Report) Measures(path, unit string) (given string, ok bool) {
	given = r.spelt[path]
	if given == "" {
		return "", true
	}
	a, bad := ParseUnit(given)
	b, worse := ParseUnit(unit)
	return given, bad != nil || worse != nil || a.Dim == b.Dim
}

// Counts finds a number at or under a path whose unit, as the file has it, counts a base unit such as m or rad; "": there is none.
func (r *Report) Counts(path, base string) (at, given string) {
	b, err := ParseUnit(base)
	if err != nil {
		panic("schema: " + err.Error())
	}
	for _, key := range slices.Sorted(maps.Keys(r.spelt)) {
		if key != path && !strings.HasPrefix(key, path+".") {
			continue
		}
		u, err := ParseUnit(r.spelt[key])
		if err != nil {
			continue
		}
		for k, n := range b.Dim {
			if n != 0 && u.Dim[k] != 0 {
				return key, r.spelt[key]
			}
		}
	}
	return "", ""
}

// parseNumber reads a number with or without one of the wanted units; show is how messages repeat it, and hint says what was probably
// meant.
func parseNumber(s string, show func(string) string, want []Unit, f Field) (x float64, hint string, err error) {
	num, text, err := SplitNumber(s)
	if err != nil {
		return 0, "", err
	}
	u := want[0]
	if text != "" {
		if u, err = ParseUnit(text); err != nil {
			return 0, "", err
		}
		if hint, ok := agree(u, want); !ok {
			return 0, hint, fmt.Errorf("%s is %s, want %s", show(s), DescribeValue(u), DescribeUnit(want[0]))
		}
	}
	if x = convert(num, u, want[0], f); math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, "", fmt.Errorf("%s is beyond all floating-point numbers", show(s))
	}
	return x, "", nil
}

// convert brings the digits of a number to the unit in which the field is stored: SI, but for fields kept in degC or ppm.
func convert(num string, u, want Unit, f Field) float64 {
	_, _, sibling := siblingUnit(f.Unit)
	switch {
	case u.absolute && want.absolute:
		return u.Parse(num, true) // untouched, no detour through kelvin
	case want.absolute && !f.Delta:
		return u.Parse(num, false) - want.Offset
	case !sibling && want.Factor != 1:
		if u.exp10 == want.exp10 && u.mult == want.mult {
			u.exp10, u.mult, want.Factor = 0, 1, 1
		}
		return u.Parse(num, true) / want.Factor
	}
	return u.Parse(num, f.Delta)
}

// ParseValue reads a number with or without a unit, as a file would, and returns it in the unit named: ParseValue("2 kHz",
// "Hz") is 2000. For flags of the command line.
func ParseValue(s, unit string) (float64, error) {
	want, err := ParseUnit(unit)
	if err != nil {
		return 0, err
	}
	x, hint, err := parseNumber(s, Quote, []Unit{want}, Field{Unit: unit})
	if hint != "" {
		err = fmt.Errorf("%w (%s)", err, hint)
	}
	return x, err
}

// Parse converts the digits of a number in one rounding where the factor is a power of ten.
func (u Unit) Parse(num string, delta bool) float64 {
	mantissa, exp := num, 0
	if i := strings.IndexAny(num, "eE"); i >= 0 {
		mantissa = num[:i]
		exp, _ = strconv.Atoi(strings.TrimPrefix(num[i+1:], "+"))
	}
	x, err := strconv.ParseFloat(fmt.Sprintf("%se%d", mantissa, exp+u.exp10), 64)
	if err != nil {
		return math.Inf(1) // out of range; the caller reports it
	}
	x *= u.mult
	if !delta {
		x += u.Offset
	}
	return x
}

var numberText = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?`)

// fractionText is a number with π or a divisor in it: 2π/65536, -π/180, 2*pi, 1/4096. Behind it stands no letter.
var fractionText = regexp.MustCompile(`^([+-]?)(\d+\.?\d*(?:[eE][+-]?\d{1,3})?)?\s*[·*]?\s*(π|pi\b)?\s*(?:/\s*(\d+\.?\d*(?:[eE][+-]?\d{1,3})?))?`)

// fraction takes such a number off s and gives its digits; "": there is none.
func fraction(s string) (num, rest string) {
	m := fractionText.FindStringSubmatch(s)
	if m == nil || m[3] == "" && (m[2] == "" || m[4] == "") {
		return "", s
	}
	x := 1.0
	if m[2] != "" {
		x, _ = strconv.ParseFloat(m[2], 64)
	}
	if m[3] != "" {
		x *= math.Pi
	}
	if m[4] != "" {
		over, _ := strconv.ParseFloat(m[4], 64)
		x /= over
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "", s
	}
	return m[1] + strconv.FormatFloat(x, 'g', -1, 64), s[len(m[0]):]
}

// clockText is a time of more than one unit, the longest first: 1m30s, 1 h 2 min 3.5 s.
var clockText = regexp.MustCompile(`^([+-]?)(?:(\d+)\s*h)?\s*(?:(\d+)\s*m(?:in)?)?\s*(?:(\d+\.?\d*|\.\d+)\s*s)?$`)

// clockTime gives the digits of such a time in s; "": there is none.
func clockTime(s string) string {
	m := clockText.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	x, parts := 0.0, 0
	for i, size := range []float64{3600, 60, 1} {
		if m[i+2] != "" {
			n, _ := strconv.ParseFloat(m[i+2], 64)
			x, parts = x+n*size, parts+1
		}
	}
	if parts < 2 || math.IsInf(x, 0) {
		return ""
	}
	return m[1] + strconv.FormatFloat(x, 'g', -1, 64)
}

// SplitNumber cuts "12 mN·m" into digits and unit; the digits of "2π/65536 rad" and of "1m30s" are those of their values.
func SplitNumber(s string) (num, unit string, err error) {
	s = strings.TrimSpace(strings.ReplaceAll(s, "−", "-"))
	if num := clockTime(s); num != "" {
		return num, "s", nil
	}
	num, rest := fraction(s)
	if num == "" {
		num = numberText.FindString(s)
		rest = s[len(num):]
	}
	unit = strings.TrimSpace(rest)
	switch low := strings.ToLower(strings.TrimLeft(s, "+-.")); {
	case num == "" && (strings.HasPrefix(low, "nan") || strings.HasPrefix(low, "inf")):
		return "", "", fmt.Errorf("%s: only finite numbers are possible", s)
	case num == "":
		return "", "", fmt.Errorf("%s is not a number", Quote(s))
	case strings.HasPrefix(unit, ","):
		return "", "", fmt.Errorf("%s: decimals are written with a point", Quote(s))
	case strings.HasPrefix(unit, "_"):
		return "", "", fmt.Errorf("%s: digits are written without _", Quote(s))
	case len(num) > 1 && num[0] == '0' && num[1] >= '0' && num[1] <= '9':
		return "", "", fmt.Errorf("%s: a leading zero; is that an octal number?", Quote(s))
	case unit != "" && (unit[0] >= '0' && unit[0] <= '9' || unit[0] == '.') && rest == unit:
		return "", "", fmt.Errorf("%s is not a number", Quote(s))
	}
	return num, unit, nil
}

// wantUnits gives the unit a field is stored in (first) and its other accepted spellings.
func (w *Walker) wantUnits(path string, at Place, f Field, owner reflect.Value) ([]Unit, bool) {
	tag := w.UnitOf(f.Unit)
	if sib, rest, ok := siblingUnit(tag); ok {
		name := cmp.Or(siblingString(owner, sib), "1")
		u, err := ParseUnit(name)
		if err != nil {
			return nil, false // reported where the unit stands
		}
		if rest == "" {
			return []Unit{u}, true
		}
		if u.absolute {
			name = "K" // a rate of a temperature
		}
		tag = "(" + name + ")" + rest
	}
	var out []Unit
	for alt := range strings.SplitSeq(tag, "|") {
		u, err := ParseUnit(alt)
		if err != nil {
			panic(fmt.Sprintf("schema: %s: tag: %v", path, err))
		}
		out = append(out, u)
	}
	return out, true
}

// siblingUnit splits "@unit/s" into the sibling's key and what follows it.
func siblingUnit(tag string) (key, rest string, ok bool) {
	tag, ok = strings.CutPrefix(tag, "@")
	if i := strings.IndexAny(tag, "/·"); i >= 0 {
		return tag[:i], tag[i:], ok
	}
	return tag, "", ok
}

func siblingString(owner reflect.Value, key string) string {
	for _, f := range FieldsOf(owner.Type()) {
		if f.Key == key {
			return owner.FieldByIndex(f.Index).String()
		}
	}
	panic(fmt.Sprintf("schema: %s has no key %q for its unit", owner.Type(), key))
}

// agree tells whether a unit measures what is wanted, and if not, what was probably meant.
func agree(u Unit, want []Unit) (hint string, ok bool) {
	for _, v := range want {
		if u.Dim == v.Dim {
			return "", true
		}
	}
	v := want[0]
	bare, vbare := u.Dim, v.Dim
	bare[7], vbare[7] = 0, 0
	switch {
	case v.Dim == dimOmega && u.cycle && u.Dim == dimFreq:
		return "1 Hz = 2π rad/s; write rad/s, rpm or turn/s", false
	case v.Dim == dimTime && u.SI == "m" && u.Factor == 1:
		return "minutes are written min, or with seconds: 1m30s", false
	case v.Dim == dimFreq && u.Dim == dimOmega:
		return "2π rad/s = 1 Hz; write Hz", false
	case bare == vbare && u.Dim[7] == 0:
		return "the angle counts: write " + v.SI, false
	}
	return "", false
}

// DescribeUnit names unit and quantity: "V (voltage)".
func DescribeUnit(u Unit) string {
	if u.SI == "" {
		return "a pure number"
	}
	if q := u.Quantity(); q != u.SI {
		return fmt.Sprintf("%s (%s)", u.SI, q)
	}
	return u.SI
}

// DescribeValue is describe behind a number: "in V (voltage)".
func DescribeValue(u Unit) string {
	if u.SI == "" {
		return "a pure number"
	}
	return "in " + DescribeUnit(u)
}

// CutPlusMinus takes the sign off ±x.
func CutPlusMinus(s string) (half string, ok bool) {
	for _, sign := range []string{"±", "+-", "+/-"} {
		if half, ok = strings.CutPrefix(strings.TrimSpace(s), sign); ok {
			break
		}
	}
	return half, ok
}

// pair decodes [lo, hi], or ±x.
func (w *Walker) pair(path string, e Entry, v reflect.Value, f Field, owner reflect.Value) {
	at := e.Place()
	if seq, ok := e.Value.(*ast.SequenceNode); ok {
		if len(seq.Values) != v.Len() {
			w.ErrorAt(path, at, "", "%s: want %d values, got %d", path, v.Len(), len(seq.Values))
			return
		}
		i := 0
		for p, item := range w.Items(path, f.Key, seq) {
			w.value(p, item, v.Index(i), f, owner)
			i++
		}
		return
	}
	s, _, _ := Text(e.Value)
	s = strings.TrimSpace(s)
	if half, ok := CutPlusMinus(s); ok && v.Len() == 2 && v.Type().Elem().Kind() == reflect.Float64 {
		if x, ok := w.Number(path, at, half, f, owner); ok {
			if x <= 0 || strings.HasPrefix(strings.TrimSpace(half), "+") {
				w.ErrorAt(path, at, "", "%s: want ± and a positive number, got %s", path, Quote(s))
				return
			}
			v.Index(0).SetFloat(-x)
			v.Index(1).SetFloat(x)
		}
		return
	}
	w.ErrorAt(path, at, "write [low, high] or ±value", "%s: want a range, got %s", path, KindName(e.Value))
}
