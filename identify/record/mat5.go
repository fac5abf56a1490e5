package record

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Types of elements in a file of version 5, and classes of arrays.
const (
	miMatrix     = 14
	miCompressed = 15

	mxCell   = 1
	mxStruct = 2
	mxObject = 3
	mxChar   = 4
	mxSparse = 5
	mxFirst  = 6 // double
	mxLast   = 15
)

// matStorage tells how the numbers of an element are stored, by its type. A matrix of doubles may be stored in bytes.
var matStorage = map[uint32]matNumber{
	1: matInt8, 2: matUint8, 3: matInt16, 4: matUint16, 5: matInt32, 6: matUint32, 7: matSingle, 9: matDouble, 12: matInt64, 13: matUint64,
}

// element is the tag of an element: its type, and its length in bytes. Up to four bytes may stand in the tag itself.
type element struct {
	kind   uint32
	size   int64
	inline []byte // contents within the tag, nil: they follow, filled up to a multiple of eight
}

var errElement = errors.New("an element does not hold what it should")

// tag reads the next tag.
func (f *matReader) tag(r io.Reader) (element, error) {
	b := make([]byte, 8)
	if _, err := io.ReadFull(r, b); err != nil {
		return element{}, err
	}
	w := f.order.Uint32(b)
	if n := w >> 16; n > 0 { // small
		if n > 4 {
			return element{}, errElement
		}
		return element{kind: w & 0xffff, size: int64(n), inline: b[4 : 4+n]}, nil
	}
	return element{kind: w, size: int64(f.order.Uint32(b[4:]))}, nil
}

// short reads an element of at most limit bytes as a whole.
func (f *matReader) short(r io.Reader, limit int64) ([]byte, error) {
	e, err := f.tag(r)
	switch {
	case err == io.EOF:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	case e.inline != nil:
		return e.inline, nil
	case e.size > limit:
		return nil, errElement
	}
	b := make([]byte, (e.size+7)/8*8)
	if _, err = io.ReadFull(r, b); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return b[:e.size], nil
}

// version5 reads a file of version 5 to 7: a header of 128 bytes, then elements.
func (f *matReader) version5() error {
	if _, err := io.CopyN(io.Discard, f.r, 128); err != nil {
		return io.ErrUnexpectedEOF
	}
	for {
		e, err := f.tag(f.r)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case e.inline != nil:
			continue
		}
		body := &io.LimitedReader{R: f.r, N: e.size}
		switch e.kind {
		case miMatrix:
			err = f.matrix(body, "", 0)
		case miCompressed:
			err = f.compressed(body)
		}
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, body); err != nil {
			return err
		}
		if body.N > 0 {
			return io.ErrUnexpectedEOF
		}
	}
}

// compressed reads one element behind zlib. What is not wanted is not even inflated.
func (f *matReader) compressed(body io.Reader) error {
	z, err := zlib.NewReader(body)
	if err != nil {
		return err
	}
	defer z.Close()
	e, err := f.tag(z)
	if err != nil {
		return fmt.Errorf("compressed element: %w", err)
	}
	if e.kind != miMatrix || e.inline != nil {
		return nil
	}
	had := len(f.t.Names)
	if err := f.matrix(&io.LimitedReader{R: z, N: e.size}, "", 0); err != nil {
		return err
	}
	if slices.ContainsFunc(f.t.Columns[had:], func(c []float64) bool { return c != nil }) { // something was used: its checksum must be right
		const most = 64 // padding, in a sound file
		if n, err := io.Copy(io.Discard, io.LimitReader(z, most+1)); err != nil || n > most {
			return errors.Join(errElement, err)
		}
	}
	return nil
}

// matrix reads an array from its element. path is the structure that holds it, "" at the top; the rest of the element may
// be left unread.
func (f *matReader) matrix(body *io.LimitedReader, path string, field int) error {
	if body.N == 0 {
		return nil // an empty field
	}
	flags, err := f.short(body, 16)
	if err != nil || len(flags) < 8 {
		return errors.Join(errElement, err)
	}
	word := f.order.Uint32(flags)
	class, imaginary := word&0xff, word&0x800 != 0
	if class > mxLast {
		return nil // functions and objects of newer releases, built in another way
	}
	raw, err := f.short(body, 4*32)
	if err != nil {
		return err
	}
	var dims []int
	for len(raw) >= 4 {
		dims, raw = append(dims, int(int32(f.order.Uint32(raw)))), raw[4:]
	}
	name, err := f.short(body, 1024)
	if err != nil {
		return err
	}
	if field == 0 {
		path = string(bytes.TrimRight(name, "\x00"))
	}
	n, err := product(dims...)
	if err != nil || len(dims) < 2 {
		return errors.Join(errElement, err)
	}

	switch {
	case class == mxStruct && field == 0 && n == 1:
		return f.fields(body, path)
	case class == mxStruct && field == 0:
		return f.refuseFields(path, fmt.Sprintf("an array of %d structures, want a single one", n))
	case class == mxStruct:
		return f.refuseFields(path, "a structure in a structure; only one level is read")
	case class < mxFirst:
		return f.refuse(path, map[uint32]string{mxCell: "a cell array", mxObject: "an object", mxChar: "a text",
			mxSparse: "a sparse matrix"}[class])
	case imaginary:
		return f.refuse(path, "complex")
	}
	rows, cols, flat := squeeze(dims)
	if !flat {
		return f.refuse(path, fmt.Sprintf("an array with %d dimensions", len(dims)))
	}
	f.list(path, rows, cols)
	if len(f.addresses[path]) == 0 {
		return nil
	}
	e, err := f.tag(body)
	if err != nil {
		return err
	}
	number, known := matStorage[e.kind]
	if !known || e.size != int64(n)*int64(number.size) {
		return errElement
	}
	var from io.Reader = body
	if e.inline != nil {
		from = bytes.NewReader(e.inline)
	}
	x, err := f.numbers(from, number, n)
	if err != nil {
		return err
	}
	return f.store(path, rows, cols, x)
}

// fields reads the arrays of a structure.
func (f *matReader) fields(body *io.LimitedReader, path string) error {
	raw, err := f.short(body, 8)
	if err != nil || len(raw) < 4 {
		return errors.Join(errElement, err)
	}
	width := int(int32(f.order.Uint32(raw)))
	names, err := f.short(body, 1<<20)
	if err != nil || width < 1 || len(names)%width != 0 {
		return errors.Join(errElement, err)
	}
	for ; len(names) > 0; names = names[width:] {
		name, _, _ := bytes.Cut(names[:width], []byte{0})
		e, err := f.tag(body)
		switch {
		case err != nil:
			return io.ErrUnexpectedEOF
		case e.kind != miMatrix || e.inline != nil || e.size > body.N:
			return errElement
		}
		one := &io.LimitedReader{R: body, N: e.size}
		if err := f.matrix(one, path+"."+string(name), 1); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, one); err != nil {
			return err
		}
	}
	return nil
}

// refuseFields refuses a structure if one of its fields was asked for.
func (f *matReader) refuseFields(path, what string) error {
	for wanted := range f.addresses {
		if wanted == path || strings.HasPrefix(wanted, path+".") {
			return f.t.fail(0, "Save the fields as variables of their own.", "variable %s is %s", path, what)
		}
	}
	return nil
}

// squeeze drops dimensions of one.
func squeeze(dims []int) (rows, cols int, ok bool) {
	if len(dims) == 2 {
		return dims[0], dims[1], true
	}
	long := slices.DeleteFunc(slices.Clone(dims), func(d int) bool { return d == 1 })
	long = append(long, 1, 1)
	return long[0], long[1], len(long) <= 4
}
