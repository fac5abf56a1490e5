package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// mat4Header stands before every variable of a file of version 4.
type mat4Header struct {
	number     matNumber
	kind       int // 0 numbers, 1 text, 2 sparse
	rows, cols int
	imaginary  bool
	name       int // bytes of the name, with the zero that ends it
}

const mat4HeadSize = 20

// mat4Head decodes five integers: the type as the digits MOPT (machine, zero, precision, kind), rows, columns, imaginary
// flag, length of the name. There is no magic number: ok says that all of them are possible.
func mat4Head(b []byte, order binary.ByteOrder) (h mat4Header, ok bool) {
	if len(b) < mat4HeadSize {
		return h, false
	}
	u := func(i int) uint32 { return order.Uint32(b[4*i:]) }
	machine := uint32(0) // little endian
	if order == binary.ByteOrder(binary.BigEndian) {
		machine = 1
	}
	const limit = 1 << 31
	mopt := u(0)
	if mopt/1000 != machine || mopt/100%10 != 0 || mopt/10%10 > 5 || mopt%10 > 2 || u(1) >= limit || u(2) >= limit || u(3) > 1 || u(4) < 2 ||
		u(4) > 1024 {
		return h, false
	}
	h = mat4Header{
		number: []matNumber{matDouble, matSingle, matInt32, matInt16, matUint16, matUint8}[mopt/10%10],
		kind:   int(mopt % 10), rows: int(u(1)), cols: int(u(2)), imaginary: u(3) == 1, name: int(u(4)),
	}
	name := b[mat4HeadSize:] // begins with a letter and ends with a zero, as far as it is there
	if len(name) >= h.name && name[h.name-1] != 0 {
		return h, false
	}
	return h, len(name) == 0 || name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z'
}

// version4 reads a file of version 4: headers, names and numbers one after the other.
func (f *matReader) version4() error {
	head := make([]byte, mat4HeadSize)
	for {
		switch _, err := io.ReadFull(f.r, head); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		h, ok := mat4Head(head, f.order)
		if !ok {
			return errors.New("no header of a variable where one is due")
		}
		name := make([]byte, h.name)
		if _, err := io.ReadFull(f.r, name); err != nil {
			return err
		}
		name, _, _ = bytes.Cut(name, []byte{0})
		if err := f.variable4(string(name), h); err != nil {
			return err
		}
	}
}

// variable4 reads or skips the numbers of a variable.
func (f *matReader) variable4(path string, h mat4Header) error {
	n, err := product(h.rows, h.cols)
	if err != nil {
		return err
	}
	size := int64(n) * int64(h.number.size)
	if h.imaginary {
		size *= 2
	}
	reason := []string{"", "a text", "a sparse matrix"}[h.kind]
	if reason == "" && h.imaginary {
		reason = "complex"
	}
	if reason != "" {
		if err := f.refuse(path, reason); err != nil {
			return err
		}
	} else {
		f.list(path, h.rows, h.cols)
	}
	if reason != "" || len(f.addresses[path]) == 0 {
		if k, _ := io.CopyN(io.Discard, f.r, size); k < size {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	x, err := f.numbers(f.r, h.number, n)
	if err != nil {
		return err
	}
	return f.store(path, h.rows, h.cols, x)
}

// product is the size of a matrix, or an error where no file could hold one.
func product(dims ...int) (int, error) {
	n := 1
	for _, d := range dims {
		if d < 0 || (d > 0 && n > (1<<30)/d) {
			return 0, errors.New("a matrix of impossible size")
		}
		n *= d
	}
	return n, nil
}
