package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"hilrig/engine/numeric"
)

// Type is how a number travels: an integer or float of a link frame, or Text, a decimal number in a line.
type Type uint8

const (
	U8 Type = iota + 1
	I8
	U16
	I16
	U32
	I32
	F32
	F64
	Text
)

// One line per type: its name in the configuration, its bytes in a link frame, the range of its raw number.
var types = [...]struct {
	name   string
	size   int
	lo, hi float64
}{
	U8:   {"u8", 1, 0, math.MaxUint8},
	I8:   {"i8", 1, math.MinInt8, math.MaxInt8},
	U16:  {"u16", 2, 0, math.MaxUint16},
	I16:  {"i16", 2, math.MinInt16, math.MaxInt16},
	U32:  {"u32", 4, 0, math.MaxUint32},
	I32:  {"i32", 4, math.MinInt32, math.MaxInt32},
	F32:  {"f32", 4, -math.MaxFloat32, math.MaxFloat32},
	F64:  {"f64", 8, -math.MaxFloat64, math.MaxFloat64},
	Text: {"text", 0, -math.MaxFloat64, math.MaxFloat64},
}

func (t Type) String() string {
	if t >= U8 && t <= Text {
		return types[t].name
	}
	return "unknown type"
}

// Size is the number of bytes in a link frame; 0 for Text.
func (t Type) Size() int { return types[t].size }

// Words are the names of the types in files by number; the first stands for none.
func (Type) Words() []string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.name
	}
	return names
}

// Field is one column of a frame: value = raw·Scale + Offset, in Unit.
type Field struct {
	Name   string  `yaml:"name" doc:"letters, digits, dots, - and _; starts with a letter"`
	Unit   string  `yaml:"unit" parse:"unit" doc:"unit of the plain numbers below; empty: a pure number"`
	Type   Type    `yaml:"type" doc:"binary type in a link frame or in registers; text in a line"`
	Scale  float64 `yaml:"scale" unit:"@unit" delta:"yes" doc:"value per count; raw = (value − offset)/scale"` // never 0
	Offset float64 `yaml:"offset" unit:"@unit" doc:"value at count 0"`

	Register *Register `yaml:"at,omitempty" doc:"protocol modbus: the register where it stands"` // nil in a frame of fields
}

// Range is what the type carries; ok is false for floats and text, which carry everything.
func (f *Field) Range() (lo, hi float64, ok bool) {
	t := &types[f.Type]
	a, b := t.lo*f.Scale+f.Offset, t.hi*f.Scale+f.Offset
	return min(a, b), max(a, b), f.Type >= U8 && f.Type <= I32
}

// raw is the number that travels for v: rounded and clamped for integers, clamped for F32. ok is false if v, or the
// number that would travel, is not finite.
func (f *Field) raw(v float64) (raw float64, ok bool) {
	raw = (v - f.Offset) / f.Scale
	if !numeric.IsFinite(v) || !numeric.IsFinite(raw) {
		return 0, false
	}
	if f.Type <= I32 {
		raw = math.Round(raw)
	}
	t := &types[f.Type]
	return min(max(raw, t.lo), t.hi), true
}

// value turns a raw number into the unit of the field. The product is rounded by itself, so that machines which fuse
// multiply and add decode the same bits.
func (f *Field) value(raw float64) float64 { return float64(raw*f.Scale) + f.Offset }

// encode writes raw, already in range, to b; it returns the number of bytes.
func (t Type) encode(b []byte, raw float64) int {
	switch t {
	case U8:
		b[0] = uint8(raw)
	case I8:
		b[0] = uint8(int8(raw))
	case U16:
		binary.LittleEndian.PutUint16(b, uint16(raw))
	case I16:
		binary.LittleEndian.PutUint16(b, uint16(int16(raw)))
	case U32:
		binary.LittleEndian.PutUint32(b, uint32(raw))
	case I32:
		binary.LittleEndian.PutUint32(b, uint32(int32(raw)))
	case F32:
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(raw)))
	case F64:
		binary.LittleEndian.PutUint64(b, math.Float64bits(raw))
	}
	return types[t].size
}

// get reads the raw number at the start of b.
func (t Type) get(b []byte) float64 {
	switch t {
	case U8:
		return float64(b[0])
	case I8:
		return float64(int8(b[0]))
	case U16:
		return float64(binary.LittleEndian.Uint16(b))
	case I16:
		return float64(int16(binary.LittleEndian.Uint16(b)))
	case U32:
		return float64(binary.LittleEndian.Uint32(b))
	case I32:
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case F32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// checkFields returns every problem of a table at once.
func checkFields(fields []Field, text bool) error {
	var errs []error
	if len(fields) > MaxFields {
		errs = append(errs, fmt.Errorf("%d fields, at most %d fit a frame", len(fields), MaxFields))
	}
	seen := map[string]bool{}
	for i, f := range fields {
		bad := func(format string, a ...any) {
			errs = append(errs, fmt.Errorf("field %d (%q): %s", i, f.Name, fmt.Sprintf(format, a...)))
		}
		switch {
		case f.Name == "":
			bad("has no name")
		case seen[f.Name]:
			bad("the name is already taken")
		}
		seen[f.Name] = true
		switch {
		case f.Type < U8 || f.Type > Text:
			bad("has no type")
		case f.Type == Text && !text:
			bad("type text needs the line protocol; a link frame takes u8 i8 u16 i16 u32 i32 f32 f64")
		}
		if f.Scale == 0 || !numeric.IsFinite(f.Scale) {
			bad("scale %v, want a finite number that is not 0", f.Scale)
		}
		if !numeric.IsFinite(f.Offset) {
			bad("offset %v, want a finite number", f.Offset)
		}
	}
	return errors.Join(errs...)
}
