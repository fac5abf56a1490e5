package schema

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Bound is one comparison of a want tag, in the unit of the field.
type Bound struct {
	op string // ">", ">=", "<", "<="
	v  float64
}

// bounds reads a want tag such as ">0 <=1".
func bounds(tag string) []Bound {
	var out []Bound
	for part := range strings.FieldsSeq(tag) {
		op := part[:1]
		if strings.HasPrefix(part[1:], "=") {
			op = part[:2]
		}
		v, err := strconv.ParseFloat(part[len(op):], 64)
		if err != nil || op[0] != '<' && op[0] != '>' {
			panic(fmt.Sprintf("schema: want tag %q", tag))
		}
		out = append(out, Bound{op, v})
	}
	return out
}

// Range is that of the want tag, infinite where it has no end.
func (f *Field) Range() (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	for _, b := range f.Bounds {
		if b.op[0] == '>' {
			lo = max(lo, b.v)
		} else {
			hi = min(hi, b.v)
		}
	}
	return lo, hi
}

func (b Bound) satisfiedBy(x float64) bool {
	switch b.op {
	case ">":
		return x > b.v
	case ">=":
		return x >= b.v
	case "<":
		return x < b.v
	}
	return x <= b.v
}

// CheckBounds reports every number of a struct that is outside its want tag, or of a size that nothing has, at any depth. A
// number that the file left out and that has no default is reported as missing.
func (r *Report) CheckBounds(s any) {
	v := reflect.Indirect(reflect.ValueOf(s))
	r.boundsOf("", Field{}, v)
}

func (r *Report) boundsOf(path string, section Field, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			r.boundsOf(path, section, v.Elem())
		}
	case reflect.Slice:
		name, named := nameField(v.Type().Elem())
		for i := range v.Len() {
			p := fmt.Sprintf("%s[%d]", path, i)
			if named {
				p = Join(path, v.Index(i).Field(name).String())
			}
			r.boundsOf(p, section, v.Index(i))
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			r.boundsOf(Join(path, it.Key().String()), section, it.Value())
		}
	case reflect.Struct:
		if u, ok := asNode[UnitTurning](v); ok {
			defer r.WithUnits(u.Units())()
		} else if section.Unit != "" {
			defer r.WithQuantity(section.Unit)()
		}
		for _, f := range FieldsOf(v.Type()) {
			x, p := v.FieldByIndex(f.Index), Join(path, f.Key)
			if len(f.Bounds) > 0 {
				r.bounded(p, f, x)
			}
			r.boundsOf(p, f, x)
		}
	case reflect.Array:
		for i := range v.Len() {
			r.boundsOf(path, section, v.Index(i))
		}
	case reflect.Float64:
		if x := math.Abs(v.Float()); x != 0 && !(x >= Smallest && x <= largest) && !r.HasProblem(path) {
			r.KeyErrorf(path, "%s in SI, want 0, or a magnitude from %s to %s; is its unit right?", Short(v.Float()), Short(Smallest),
				Short(largest))
		}
	}
}

// Smallest and largest magnitude of a quantity in SI, but 0: no quantity of a rig lies outside, and no product of a few that lie inside
// overflows.
const Smallest, largest = 1e-30, 1e30

func (r *Report) bounded(path string, f Field, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	x := numberOf(v)
	if r.HasProblem(path) {
		return
	}
	unit := ""
	if u, _, ok := siblingUnit(f.Unit); !ok && u != "" {
		unit = UnitSuffix(r.UnitOf(f.Unit))
	}
	for _, b := range f.Bounds {
		switch {
		case b.satisfiedBy(x): // also refuses NaN
		case x == 0 && !r.HasKey(path):
			if unit != "" {
				unit = ", in" + unit
			}
			r.KeyErrorf(path, "is missing: %s%s", f.Doc, unit)
			return
		default:
			r.KeyErrorf(path, "%s%s, want %s", Short(x), unit, f.BoundsText(unit))
			return
		}
	}
}

// numberOf is the number in a field.
func numberOf(v reflect.Value) float64 {
	switch {
	case v.CanFloat():
		return v.Float()
	case v.CanInt():
		return float64(v.Int())
	}
	return float64(v.Uint()) // panics where a want tag stands on something else
}

// BoundsText says a want tag in words: "> 0 V", "10 to 20000 Hz".
func (f *Field) BoundsText(unit string) string {
	if len(f.Bounds) == 2 && f.Bounds[0].op == ">=" && f.Bounds[1].op == "<=" {
		return fmt.Sprintf("%s to %s%s", Short(f.Bounds[0].v), Short(f.Bounds[1].v), unit)
	}
	parts := make([]string, len(f.Bounds))
	for i, b := range f.Bounds {
		parts[i] = b.op + " " + Short(b.v) + unit
	}
	return strings.ReplaceAll(strings.ReplaceAll(strings.Join(parts, " and "), ">=", "≥"), "<=", "≤")
}

// Short prints a number for people: nine digits at most.
func Short(x float64) string { return strconv.FormatFloat(x, 'g', 9, 64) }
