package record

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MAT files hold variables, not columns. A variable that is a row or a column is addressed by its name, x, a field of a
// structure as s.x, a column of a matrix as X(:,2) or X[2], a row as X(2,:). Formats: version 4, and version 5 to 7,
// whose elements may be compressed, as in "MAT-File Format" of The MathWorks. Read are real numbers of every class;
// version 7.3 is another format (HDF5).

// maxNumbers bounds the numbers of a file or a channel. Memory grows with what is there, never with what a header claims.
const maxNumbers = 1 << 27

// matReader collects the wanted variables of one file.
type matReader struct {
	t                *Table
	r                io.Reader
	order            binary.ByteOrder
	addresses        map[string][]matAddress // by path of the variable
	remainingNumbers int                     // numbers that may still be read
	buf              [1 << 12]byte
}

// matAddress is what stands behind the path: a column or a row, counted from 1; both 0: the variable as a whole.
type matAddress struct {
	text     string // as in the mapping
	col, row int
}

// matKind tells by the first bytes which MAT file this is: 4, 5 (also 6 and 7), 73, or 0 for none.
func matKind(head []byte) (order binary.ByteOrder, level int) {
	if len(head) >= 128 {
		switch string(head[126:128]) {
		case "IM":
			order = binary.LittleEndian
		case "MI":
			order = binary.BigEndian
		}
		if order != nil {
			switch order.Uint16(head[124:]) {
			case 0x0100:
				return order, 5
			case 0x0200:
				return order, 73
			}
		}
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if _, ok := mat4Head(head, order); ok {
			return order, 4
		}
	}
	return nil, 0
}

// readMAT reads the variables of the mapping.
func readMAT(name string, text *bufio.Reader, order binary.ByteOrder, level int, m *Mapping) (*Table, error) {
	f := matReader{t: &Table{File: name}, r: text, order: order, addresses: map[string][]matAddress{}, remainingNumbers: maxNumbers}
	for _, n := range m.names() {
		path, a, err := parseAddress(n)
		if err != nil {
			return nil, f.t.fail(0, "Such as x, s.x, X(:,2), X(2,:) or X[2].", "%q: %v", n, err)
		}
		if !slices.Contains(f.addresses[path], a) {
			f.addresses[path] = append(f.addresses[path], a)
		}
	}
	read := f.version5
	if level == 4 {
		read = f.version4
	}
	err := read()
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return nil, err
	case err != nil:
		return nil, f.t.fail(0, "Save it again.", "the MAT file is damaged or cut short: %v", err)
	}
	return f.t, nil
}

// parseAddress takes X(:,2) apart.
func parseAddress(s string) (path string, a matAddress, err error) {
	a.text = s
	i := strings.IndexAny(s, "([")
	if i < 0 {
		return s, a, nil
	}
	path, rest := s[:i], strings.ReplaceAll(s[i:], " ", "")
	number := func(text string) (int, error) {
		k, err := strconv.Atoi(text)
		if err != nil || k < 1 {
			return 0, fmt.Errorf("%q is no column or row, they are counted from 1", text)
		}
		return k, nil
	}
	switch {
	case strings.HasPrefix(rest, "[") && strings.HasSuffix(rest, "]"):
		a.col, err = number(rest[1 : len(rest)-1])
	case strings.HasPrefix(rest, "(:,") && strings.HasSuffix(rest, ")"):
		a.col, err = number(rest[3 : len(rest)-1])
	case strings.HasPrefix(rest, "(") && strings.HasSuffix(rest, ",:)"):
		a.row, err = number(rest[1 : len(rest)-3])
	default:
		err = errors.New("not an address of a variable")
	}
	return path, a, err
}

// refuse says why a variable is no column. That is an error only if it was asked for.
func (f *matReader) refuse(path, what string) error {
	if len(f.addresses[path]) > 0 {
		return f.t.fail(0, "A column is a vector of real numbers, a field s.x with one, or a column of a matrix, X(:,2).", "variable %s is %s",
			path, what)
	}
	return nil
}

// list makes the variable known by its columns, for people who look for a name.
func (f *matReader) list(path string, rows, cols int) {
	add := func(name string) {
		if !slices.ContainsFunc(f.addresses[path], func(a matAddress) bool { return a.text == name }) {
			f.t.Names, f.t.Columns = append(f.t.Names, name), append(f.t.Columns, nil)
		}
	}
	if rows <= 1 || cols <= 1 {
		if len(f.addresses[path]) == 0 {
			add(path)
		}
		return
	}
	const most = 8
	address := "%s(:,%d)"
	if cols > rows {
		address = "%s(%d,:)"
	}
	for j := range min(rows, cols, most) {
		add(fmt.Sprintf(address, path, j+1))
	}
}

// store puts the wanted parts of a matrix, x column by column, into the table.
func (f *matReader) store(path string, rows, cols int, x []float64) error {
	for _, a := range f.addresses[path] {
		var column []float64
		switch {
		case a.col == 0 && a.row == 0 && (rows <= 1 || cols <= 1), a.col == 1 && rows == 1 && cols > 1, a.row == 1 && cols == 1 && rows > 1:
			column = x
		case a.col == 0 && a.row == 0:
			return f.t.fail(0, fmt.Sprintf("Address a column, %s(:,1) to %s(:,%d), or a row, %s(1,:).", path, path, cols, path),
				"variable %s is a matrix, %d × %d", path, rows, cols)
		case a.col > cols || a.row > rows:
			return f.t.fail(0, "Columns and rows are counted from 1.", "%s is outside of the variable, which is %d × %d", a.text, rows, cols)
		case a.col > 0:
			column = x[(a.col-1)*rows : a.col*rows]
		default:
			column = make([]float64, cols)
			for j := range column {
				column[j] = x[j*rows+a.row-1]
			}
		}
		f.t.Names, f.t.Columns = append(f.t.Names, a.text), append(f.t.Columns, column)
	}
	return nil
}

// numbers reads n numbers of the given kind. Storage is claimed as they come.
func (f *matReader) numbers(r io.Reader, k matNumber, n int) ([]float64, error) {
	if f.remainingNumbers -= n; f.remainingNumbers < 0 {
		return nil, f.t.fail(0, "Save the columns of one record only.", "more than %d numbers", maxNumbers)
	}
	out := make([]float64, 0, min(n, len(f.buf)))
	for len(out) < n {
		b := f.buf[:min((n-len(out))*k.size, len(f.buf)/k.size*k.size)]
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		for i := 0; i < len(b); i += k.size {
			out = append(out, k.decode(f.order, b[i:]))
		}
	}
	return out, nil
}

// matNumber is a way to store a number.
type matNumber struct {
	size   int
	decode func(o binary.ByteOrder, b []byte) float64
}

var (
	matInt8   = matNumber{1, func(_ binary.ByteOrder, b []byte) float64 { return float64(int8(b[0])) }}
	matUint8  = matNumber{1, func(_ binary.ByteOrder, b []byte) float64 { return float64(b[0]) }}
	matInt16  = matNumber{2, func(o binary.ByteOrder, b []byte) float64 { return float64(int16(o.Uint16(b))) }}
	matUint16 = matNumber{2, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint16(b)) }}
	matInt32  = matNumber{4, func(o binary.ByteOrder, b []byte) float64 { return float64(int32(o.Uint32(b))) }}
	matUint32 = matNumber{4, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint32(b)) }}
	matInt64  = matNumber{8, func(o binary.ByteOrder, b []byte) float64 { return float64(int64(o.Uint64(b))) }}
	matUint64 = matNumber{8, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint64(b)) }}
	matSingle = matNumber{4, func(o binary.ByteOrder, b []byte) float64 { return float64(math.Float32frombits(o.Uint32(b))) }}
	matDouble = matNumber{8, func(o binary.ByteOrder, b []byte) float64 { return math.Float64frombits(o.Uint64(b)) }}
)
