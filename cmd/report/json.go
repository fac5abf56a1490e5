package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
)

// EncodeJSON prints v, indented. A number that is NaN or infinite is null, wherever it stands.
func EncodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v) // writes nothing when it fails
	if bad := (*json.UnsupportedValueError)(nil); errors.As(err, &bad) {
		return enc.Encode(nullable{reflect.ValueOf(v)})
	}
	return err
}

// nullable marshals as its value does, but for numbers that are not finite, which are null.
type nullable struct{ reflect.Value }

// MarshalJSON writes structs, maps and lists member by member and leaves everything else to encoding/json.
func (n nullable) MarshalJSON() ([]byte, error) {
	v := n.Value
	if !v.IsValid() {
		return []byte("null"), nil
	}
	if _, own := v.Interface().(json.Marshaler); own {
		return marshal(v.Interface())
	}
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			return []byte("null"), nil
		}
	case reflect.Pointer, reflect.Interface:
		return nullable{v.Elem()}.MarshalJSON()
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			break
		}
		list := make([]nullable, v.Len())
		for i := range list {
			list[i] = nullable{v.Index(i)}
		}
		return marshal(list)
	case reflect.Map:
		if v.IsNil() {
			break
		}
		members := map[string]nullable{}
		for _, k := range v.MapKeys() {
			members[fmt.Sprint(k)] = nullable{v.MapIndex(k)}
		}
		return marshal(members)
	case reflect.Struct:
		var out bytes.Buffer
		for _, f := range reflect.VisibleFields(v.Type()) { // those of embedded structs too
			tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			x, err := v.FieldByIndexErr(f.Index)
			if err != nil || !f.IsExported() || f.Anonymous && tag == "" || tag == "-" || slices.Contains(strings.Split(options, ","), "omitempty") && isEmpty(x) {
				continue
			}
			if tag == "" {
				tag = f.Name
			}
			value, err := nullable{x}.MarshalJSON()
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&out, ",%q:%s", tag, value)
		}
		return fmt.Appendf(nil, "{%s}", bytes.TrimPrefix(out.Bytes(), []byte(","))), nil
	}
	return marshal(v.Interface())
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// marshal is json.Marshal that leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return out.Bytes(), err
}
