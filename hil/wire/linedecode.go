package wire

import "hilrig/engine/numeric"

// LineDecoder reads text lines. A line ends with LF, CR or both; empty lines are nothing. The piece before the first end
// of line is dropped, since a half line can look like a whole one. A line with the right number of columns of which none
// is a number is a header, and a line that begins with # a comment: both are skipped. An empty column is a field that is not
// fresh; where no column can be empty (between blanks, or with one column) a - is. nan, inf and what is too large for a float64
// are numbers that are not finite. Anything else that does not parse, and any other number of columns, refuses the line.
type LineDecoder struct {
	layout
	pieces
	fields []Field
	kind   Kind
}

// NewLineDecoder reads lines with these fields; every frame is of the given kind.
func NewLineDecoder(fields []Field, format Format, kind Kind) (*LineDecoder, error) {
	l, err := format.check(fields)
	if err != nil {
		return nil, err
	}
	return &LineDecoder{layout: l, fields: append([]Field(nil), fields...), kind: kind, pieces: pieces{limit: MaxLine, unsynced: true}}, nil
}

// Wrap is the modulus of the time column in ns; 0 if it never wraps or there is none.
func (d *LineDecoder) Wrap() int64 { return d.wrap }

// Next reads one line from buf; see Decoder.
func (d *LineDecoder) Next(buf []byte, f *Frame) (n int, st Status) {
	for n < len(buf) {
		line, used, over, lost := d.nextPiece(buf[n:], lineEnd(buf[n:]), MaxLine)
		n += used
		switch {
		case line == nil:
			return n, More
		case over:
			d.c.Resync += uint64(len(line) + 1)
			d.c.Oversize++
			return n, Corrupt
		case lost:
			d.c.Resync += uint64(len(line) + 1)
			continue
		case len(line) == 0:
			continue
		}
		switch st = d.line(line, f); st {
		case Good:
			d.c.Frames++
			return n, Good
		case Corrupt:
			d.c.Malformed++
			d.c.Resync += uint64(len(line) + 1)
			return n, Corrupt
		}
	}
	return n, More
}

// lineEnd is the place of the first CR or LF; -1 if there is none.
func lineEnd(b []byte) int {
	for i, c := range b {
		if c == '\n' || c == '\r' {
			return i
		}
	}
	return -1
}

// line decodes one line without its end; More means a header or a comment.
func (d *LineDecoder) line(b []byte, f *Frame) Status {
	if b[0] == '#' {
		return More
	}
	body, intact := b, true
	if d.xor {
		body, intact = d.checked(b)
	}
	// columns in the order of the table; keep looking after a column that is no number, for it may all be a header
	h := Header{Kind: d.kind}
	want, col, words := d.columns(len(d.fields)), 0, 0
	nonFinite := uint64(0)
	for rest, more := body, true; more; col++ {
		var text []byte
		if text, rest, more = d.column(rest); col >= want {
			// one empty column behind the last separator is a habit of many devices
			if !more && len(text) == 0 && col == want {
				break
			}
			for col++; more; col++ {
				_, rest, more = d.column(rest)
			}
			d.misfit.note(col, b)
			return Corrupt
		}
		if len(text) == 0 || d.dashes && len(text) == 1 && text[0] == '-' {
			continue
		}
		v, ok := ParseNumber(text, d.decimal)
		if !ok {
			words++
			continue
		}
		if col == d.timeCol {
			h.HasTime, h.Time = d.time(v)
			if d.extra {
				continue
			}
		}
		i := col
		if d.extra {
			i--
		}
		// lines are refused as a whole, so values wait in the frame only under bits that are not handed out
		f.V[i] = d.fields[i].value(v)
		h.FreshFields |= 1 << i
		if !numeric.IsFinite(f.V[i]) {
			nonFinite++
		}
	}
	switch {
	case words == want && col == want && printable(b):
		return More
	case col < want || words > 0:
		d.misfit.note(col, b)
		return Corrupt
	case !intact:
		return Corrupt
	}
	d.c.NonFinite += nonFinite
	f.Header = h
	return Good
}

// checked cuts the checksum off a line and says whether it fits.
func (d *LineDecoder) checked(b []byte) (body []byte, ok bool) {
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	n := len(b) - 3
	if n < 0 || b[n] != '*' {
		return b, false
	}
	hi, lo := xorHex(b[:n])
	return b[:n], upper(b[n+1]) == hi && upper(b[n+2]) == lo
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'f' {
		return c - 0x20
	}
	return c
}

// column takes the next column off a line, without the blanks around it; more says that a separator followed.
func (d *LineDecoder) column(b []byte) (text, rest []byte, more bool) {
	i := 0
	if d.sep == ' ' {
		b = trim(b)
		for i < len(b) && b[i] != ' ' && b[i] != '\t' {
			i++
		}
		rest = trim(b[i:])
		return b[:i], rest, len(rest) > 0
	}
	for i < len(b) && b[i] != d.sep {
		i++
	}
	text = trim(b[:i])
	if i == len(b) {
		return text, nil, false
	}
	return text, b[i+1:], true
}

// trim cuts blanks and tabs off both ends. (A tab that separates columns is gone by then.)
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// time turns counts into ns modulo the wrap.
func (d *LineDecoder) time(counts float64) (ok bool, ns int64) {
	v := counts * d.unit
	if !(v > -1<<62 && v < 1<<62) {
		return false, 0
	}
	ns = int64(v + 0.5)
	if v < 0 {
		ns = int64(v - 0.5)
	}
	if d.wrap > 0 {
		if ns %= d.wrap; ns < 0 {
			ns += d.wrap
		}
	}
	return true, ns
}

// printable is true for a line without control characters; units in a header may go beyond ASCII.
func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
