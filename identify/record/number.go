package record

import (
	"bytes"
	"math"
	"math/bits"
)

// decimalAt reads the plain number at the beginning of text, such as -12.345: digits with a point, of which 19 count at most. n is its
// length, 0 where there is none or it is another kind of number. Its digits are a whole number w, and the number is w/10^q. Where w is
// below 2⁵³ both are exact in floating point, and the quotient is rounded once, as it should be [Cli90]; else the quotient is made of
// whole numbers with 64 bits and a remainder, which tell how it is rounded.
func decimalAt(text []byte, point byte) (x float64, n int) {
	i, w, digits, behind := 0, uint64(0), 0, 0
	negative := len(text) > 0 && text[0] == '-'
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		i = 1
	}
	begin := i
	for ; i < len(text) && text[i]-'0' <= 9; i++ {
		w = 10*w + uint64(text[i]-'0')
	}
	digits = i - begin
	if i < len(text) && text[i] == point {
		at := i + 1
		for i = at; i < len(text) && text[i]-'0' <= 9; i++ {
			w = 10*w + uint64(text[i]-'0')
		}
		behind = i - at
		digits += behind
	}
	if digits == 0 || behind >= len(tens) {
		return 0, 0
	}
	if digits > 19 { // w may have run over; zeros in front do not count
		for _, c := range text[begin:i] {
			if c != '0' && c != point {
				break
			}
			if c == '0' {
				digits--
			}
		}
		if digits > 19 {
			return 0, 0
		}
	}
	switch {
	case w < 1<<53 && behind == 0:
		x = float64(w)
	case w < 1<<53:
		x = float64(w) / float64(tens[behind])
	default:
		x = quotient(w, tens[behind])
	}
	if negative {
		x = -x
	}
	return x, i
}

// tens are the powers of ten below 2⁶⁴; as floating-point numbers they are exact.
var tens = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// quotient is a/b, rounded once to the nearest number, to an even one from the middle between two; a and b > 0.
func quotient(a, b uint64) float64 {
	za, zb := bits.LeadingZeros64(a), bits.LeadingZeros64(b)
	a, b = a<<za, b<<zb
	exponent := zb - za - 64
	hi, lo := a, uint64(0)
	if a >= b {
		hi, lo = a>>1, a<<63
		exponent++
	}
	q, rest := bits.Div64(hi, lo, b) // 2⁶³ ≤ q
	const cut = 64 - 53
	m, below := q>>cut, q&(1<<cut-1)
	if below > 1<<(cut-1) || below == 1<<(cut-1) && (rest > 0 || m&1 == 1) {
		m++
	}
	return float64(m) * math.Float64frombits(uint64(exponent+cut+1023)<<52) // exact
}

// plainRows reads the rows in the buffer that are plain numbers and nothing else, each with all its cells: nearly all rows of a
// recording are such. It stops before the first other one, and where the buffer ends.
func (r *textReader) plainRows() {
	if r.piece >= 0 || r.m.head != nil {
		return
	}
	text := r.rows.text
	buffered, _ := text.Peek(text.Buffered())
	done := 0
	for r.m.rowLimit == 0 || r.t.lines.rows < r.m.rowLimit {
		n := r.plainRow(buffered[done:])
		if n == 0 {
			break
		}
		done += n
		r.rows.nextLine++
		for i, x := range r.values {
			r.grown[i].add(x, r.expected)
		}
		r.t.lines.add(r.rows.nextLine)
	}
	_, _ = text.Discard(done)
	if r.m.source != nil {
		r.m.source.rows = r.t.lines.rows
	}
}

// plainRow reads the row at the beginning of text into values. n is its length with the end of the line, 0 where it is no plain row or
// goes on behind text.
func (r *textReader) plainRow(text []byte) (n int) {
	point := byte('.')
	if r.m.DecimalComma {
		point = ','
	}
	last := len(r.places) - 1
	for j, place := range r.places {
		end := r.rows.comma
		if j == last {
			end = '\n'
		}
		cell := text[n:]
		if place < 0 {
			k := bytes.IndexByte(cell, end)
			if k < 0 || bytes.ContainsAny(cell[:k], "\"\n#") || j == last && bytes.IndexByte(cell[:k], r.rows.comma) >= 0 {
				return 0
			}
			n += k + 1
			continue
		}
		x, k := decimalAt(cell, point)
		if j == last && k < len(cell) && cell[k] == '\r' {
			k++
		}
		if k == 0 || k >= len(cell) || cell[k] != end {
			if x, k = r.otherNumber(cell, j, end); k == 0 {
				return 0
			}
		}
		r.values[place] = x
		n += k + 1
	}
	return n
}

// otherNumber reads a cell that is a number and not a plain one, as 1.5e-7; n is its length without its end, 0 where it is none.
func (r *textReader) otherNumber(cell []byte, column int, end byte) (x float64, n int) {
	n = bytes.IndexByte(cell, end)
	if n <= 0 || bytes.ContainsAny(cell[:n], "\"\n#") || end == '\n' && bytes.IndexByte(cell[:n], r.rows.comma) >= 0 {
		return 0, 0
	}
	x, err := r.number(cell[:n], column, 0)
	if err != nil {
		return 0, 0
	}
	return x, n
}
