package wire

import (
	"math"
	"strconv"
)

// LineEncoder writes text lines.
type LineEncoder struct {
	layout
	fields []Field
	buf    [MaxLine + 2]byte
}

// NewLineEncoder checks the table and the format and names all their problems.
func NewLineEncoder(fields []Field, format Format) (*LineEncoder, error) {
	l, err := format.check(fields)
	if err != nil {
		return nil, err
	}
	return &LineEncoder{layout: l, fields: append([]Field(nil), fields...)}, nil
}

// MaxLen bounds a line: 25 characters and a separator per column, checksum and end.
func (e *LineEncoder) MaxLen() int { return min(26*e.columns(len(e.fields))+5, MaxLine+2) }

// Resync appends an end of line: it ends whatever was begun, and an empty line is nothing.
func (e *LineEncoder) Resync(dst []byte) []byte { return append(dst, e.lineEnd...) }

// Append writes one line behind dst; see Encoder. A field that is absent gives an empty column, or a - between blanks.
// Numbers are written in the shortest form that reads back to the same float64 (float32 for f32), integers as integers.
// It also returns false for a line longer than MaxLine.
func (e *LineEncoder) Append(dst []byte, h Header, v []float64) ([]byte, bool) {
	b := e.buf[:0]
	for col, n := 0, e.columns(len(e.fields)); col < n; col++ {
		if col > 0 {
			b = append(b, e.sep)
		}
		i := col
		if e.extra {
			i--
		}
		switch {
		case col == e.timeCol && h.HasTime:
			b = e.number(b, e.counts(h.Time), 64)
		case i < 0 || h.FreshFields>>i&1 == 0:
			if e.dashes { // an empty line would be nothing
				b = append(b, '-')
			}
		default:
			f := &e.fields[i]
			raw, ok := f.raw(v[i])
			if !ok {
				return dst, false
			}
			size := 64
			if f.Type == F32 {
				size = 32
			}
			b = e.number(b, raw, size)
		}
		if len(b) > MaxLine-3 {
			return dst, false
		}
	}
	if e.xor {
		hi, lo := xorHex(b)
		b = append(b, '*', hi, lo)
	}
	return append(append(dst, b...), e.lineEnd...), true
}

// counts turns ns into counts of the time column: whole ones if it wraps.
func (e *LineEncoder) counts(ns int64) float64 {
	if e.wrap > 0 {
		if ns %= e.wrap; ns < 0 {
			ns += e.wrap
		}
		return math.Mod(math.Round(float64(ns)/e.unit), math.Ldexp(1, e.timeBits))
	}
	return float64(ns) / e.unit
}

// number appends the shortest form of v with the declared decimal sign; whole numbers below 10¹⁵ without an exponent.
func (e *LineEncoder) number(b []byte, v float64, size int) []byte {
	at := len(b)
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.AppendInt(b, int64(v), 10)
	}
	b = strconv.AppendFloat(b, v, 'g', -1, size)
	if e.decimal != '.' {
		for i := at; i < len(b); i++ {
			if b[i] == '.' {
				b[i] = e.decimal
			}
		}
	}
	return b
}
