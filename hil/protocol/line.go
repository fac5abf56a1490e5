package protocol

import (
	"strings"

	"hilrig/engine"
	"hilrig/hil/wire"
)

// Line is the section of the text protocol.
type Line wire.Format

// Check finds what contradicts itself.
func (l *Line) Check() (bad []engine.Problem) {
	if l.Separator == "comma" && l.Decimal == "comma" {
		bad = append(bad, *engine.Problemf("decimal", "comma cannot be both separator and decimal sign"))
	}
	if strings.ContainsAny(l.Time, ",; \t") {
		bad = append(bad, *engine.Problemf("time", "%q is not the name of a column", l.Time))
	}
	return bad
}

// Plan describes the lines.
func (l *Line) Plan(t *Table) (*Plan, error) {
	p, err := push(t,
		func(fields []wire.Field, kinds ...wire.Kind) (wire.Decoder, error) {
			return wire.NewLineDecoder(fields, l.format(kinds[0]), kinds[0]) // a text line has no kind: it gets the first
		},
		func(fields []wire.Field, kind wire.Kind) (wire.Encoder, error) {
			return wire.NewLineEncoder(fields, l.format(kind))
		},
		func(fields []wire.Field, kind wire.Kind) (data, head int) {
			return lineBytes(l.format(kind), len(fields))
		})
	if err == nil {
		p.Clocked = l.Time != ""
	}
	return p, err
}

// format is that of one direction: the time column belongs to measurements.
func (l *Line) format(kind wire.Kind) wire.Format {
	f := wire.Format(*l)
	if kind != wire.Measurement {
		f.Time = ""
	}
	return f
}

// lineBytes takes twelve bytes for a column and its separator: sign, six digits, point, exponent.
func lineBytes(f wire.Format, columns int) (data, head int) {
	const column = 12
	data = column * columns
	if f.Time != "" {
		data += column
	}
	if f.LineEnd == "crlf" { // the other ends take the place of the last separator
		head++
	}
	if f.Checksum == "xor" {
		head += 3
	}
	return data, head
}
