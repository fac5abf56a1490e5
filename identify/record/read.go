package record

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hilrig/engine"
)

// Read reads a recording: text with columns (comma, semicolon or tab), or a MAT file of version 4 to 7, each plain or gzip;
// the content decides. It returns the pieces of the file, one if the mapping cuts nothing. Every wanted row must be complete
// and finite, and time even unless it is to be resampled; the error is a *Error with the line, or what the file system said.
func Read(path string, m Mapping) ([]*Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{Msg: err.Error(), Hint: "Paths in a configuration are relative to it; --data is relative to the current folder."}
	}
	defer f.Close()
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		return nil, &Error{File: path, Msg: "is a folder, want a CSV file"}
	}
	m.source = &source{file: f, hash: sha256.New(), watch: m.Watch}
	if err == nil {
		m.source.size = st.Size()
	}
	raw := bufio.NewReaderSize(m.source, 1<<16)
	t, err := open(path, raw, &m)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, raw); err != nil {
		return nil, &Error{File: path, Msg: err.Error()}
	}
	t.SHA256 = hex.EncodeToString(m.source.hash.Sum(nil))
	return FromTable(t, m)
}

// headRows are those of a text that Check looks at.
const headRows = 1000

// ReadHead is Read of the first rows of a text, with all that can be wrong there, or of everything where a part of the file is chosen or
// it is a MAT file. whole says that there are no more rows.
func ReadHead(path string, m Mapping) (recs []*Record, whole bool, err error) {
	if !m.allRows() {
		recs, err = Read(path, m)
		return recs, true, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, &Error{Msg: err.Error()}
	}
	defer f.Close()
	m.rowLimit = headRows
	t, err := open(path, bufio.NewReaderSize(f, 1<<16), &m)
	if err != nil {
		return nil, false, err
	}
	whole = t.lines.rows < headRows
	recs, err = FromTable(t, m)
	return recs, whole, err
}

// Head is what a text with columns says of itself in its first lines.
type Head struct {
	Names    []string // of the columns
	Units    []string // as the file states them, "" where it does not
	FirstRow []string // cells of the first row of numbers; nil: there is none
}

// ReadHeader reads the head of a text with columns, plain or gzip, or the names of the variables of a MAT file.
func ReadHeader(path string) (h Head, err error) {
	f, err := os.Open(path)
	if err != nil {
		return h, &Error{Msg: err.Error()}
	}
	defer f.Close()
	m := Mapping{head: &h}
	t, err := open(path, bufio.NewReaderSize(f, 1<<16), &m)
	if err != nil || t == nil {
		return h, err
	}
	if t.numeric {
		return h, t.fail(t.headLine, "Add a header row that names the columns.", "the first line holds numbers")
	}
	if len(h.FirstRow) > 0 && !anyNumber(h.FirstRow, false) && !anyNumber(h.FirstRow, true) {
		return h, t.fail(t.headLine, "Is this a table of numbers?", "the row behind the names holds no number: %s",
			strings.Join(h.FirstRow, ", "))
	}
	h.Names, h.Units = t.Names, append(slices.Clip(t.Units), make([]string, len(t.Names)-len(t.Units))...) // a MAT file states none
	return h, nil
}

// source is an open file that knows how much of it was read.
type source struct {
	file            io.Reader
	hash            hash.Hash
	bytesRead, size int64 // bytes; size 0: not known
	rows            int
	watch           func(read, size int64, rows int)
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.file.Read(b)
	s.hash.Write(b[:n])
	const every = 1 << 22
	if s.watch != nil && s.bytesRead/every != (s.bytesRead+int64(n))/every {
		s.watch(s.bytesRead+int64(n), s.size, s.rows)
	}
	s.bytesRead += int64(n)
	return n, err
}

// open reads the columns of the mapping from an open stream.
func open(name string, raw *bufio.Reader, m *Mapping) (*Table, error) {
	text, packed := raw, false
	fail := func(hint, format string, args ...any) (*Table, error) {
		return nil, &Error{File: name, Msg: fmt.Sprintf(format, args...), Hint: hint}
	}
	if magic, _ := raw.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(raw)
		if err != nil {
			return fail("Is the file complete?", "compressed file cannot be opened: %v", err)
		}
		text, packed = bufio.NewReaderSize(z, 1<<16), true
	}
	head, err := text.Peek(512)
	if damaged(err) {
		return fail("Copy it again.", "the compressed file is cut short or damaged")
	}
	kind := strings.ToLower(filepath.Ext(strings.TrimSuffix(name, ".gz")))
	switch order, level := matKind(head); {
	case level == 73 || bytes.HasPrefix(head, []byte("\x89HDF")):
		return fail("In MATLAB: save(file, '-v7', ...); in Octave: save -7.", "a MAT file of version 7.3 (HDF5), which is not read")
	case level > 0:
		return readMAT(name, text, order, level, m)
	case bytes.HasPrefix(head, []byte("# Created by Octave")):
		return fail("In Octave: save -7 file.mat ...", "is in the text format of Octave, which is not read")
	case kind == ".mat":
		return fail("In MATLAB: save(file, '-v7', ...); in Octave: save -7.", "is not a MAT file of version 4 to 7")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return fail("Export the sheet as CSV.", "is an archive or a workbook, want a text with columns")
	}
	if what, hint := Unread(head); what != "" {
		return fail(hint, "%s", what)
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return fail("CSV, TSV and MAT files of version 4 to 7 are read, plain or gzip.", "is not a text")
	}
	t, err := readText(name, text, m)
	if err != nil && packed { // a row that makes no sense may be one that was damaged: the checksum is at the end
		if _, rest := io.Copy(io.Discard, text); damaged(rest) {
			return fail("Copy it again.", "the compressed file is cut short or damaged")
		}
	}
	return t, err
}

// Unread tells by its beginning that a file is a text of a known format that is not read, and what to do; "": it is not.
func Unread(head []byte) (what, hint string) {
	switch head = bytes.TrimPrefix(head, []byte("\ufeff")); {
	case utf16(head):
		return "is a text in UTF-16, which is not read", "Save it as UTF-8."
	case bytes.HasPrefix(head, []byte("NO_OF_FRAMES")):
		return "is a TSV of Qualisys Track Manager, which is not read", "Export it as C3D."
	case bytes.Contains(head, []byte("\nendheader")) || bytes.Contains(head, []byte("\ninDegrees=")):
		const rest = "Remove the lines up to endheader: what is left is a table with a line of names."
		return "is a .mot or .sto of OpenSim, which is not read", rest
	}
	return "", ""
}

// utf16 tells UTF-16 by its mark, or without one by text in which every second byte is 0, always the first or always the second of two.
func utf16(head []byte) bool {
	if bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
		return true
	}
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	return len(head) >= 4 && min(zeros[0], zeros[1]) == 0 && max(zeros[0], zeros[1]) >= len(head)/2
}

// damaged tells that a compressed stream is not what was written.
func damaged(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) ||
		errors.As(err, &corrupt)
}

// Source is a recording that another package holds: channels with units, all of one length, read in place and only where asked for.
type Source interface {
	Signals() []engine.Signal                                             // what there is
	Columns(ctx context.Context, names []string) (x [][]float64, e error) // as recorded, in the units of Signals
	Notes() []string                                                      // what was left out or filled in by the last Columns
	// of an encoder, where the last Columns filled in samples that do not show it; 0: none
	Step(name string) float64
	// of a column that keeps its value until the next one, as a command does: since when (s, in the column of time) it has which value,
	// in the last Columns; nil: of another column
	CommandTimes(name string) (time, value []float64)
}

// signalTable is a table of the signals of a source, without their numbers.
func signalTable(file string, s Source) *Table {
	t := &Table{File: file, commandSteps: map[string][2][]float64{}}
	for _, sig := range s.Signals() {
		t.Names, t.Units = append(t.Names, sig.Name), append(t.Units, sig.Unit)
	}
	t.Columns = make([][]float64, len(t.Names))
	return t
}

// CheckSource tells which column of a mapping a source does not have, or has in another unit.
func CheckSource(file string, s Source, m Mapping) error {
	_, err := signalTable(file, s).find(&m)
	return err
}

// ReadSource makes records of a source as Read does of a file. file and its sha256 go into the records and messages.
func ReadSource(ctx context.Context, file, sha256 string, s Source, m Mapping) ([]*Record, error) {
	t := signalTable(file, s)
	t.SHA256 = sha256
	at, err := t.find(&m) // unknown names are refused with what there is instead
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(at))
	x, err := s.Columns(ctx, names)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return nil, err
	case err != nil:
		return nil, &Error{File: file, Msg: err.Error()}
	}
	for i, name := range names {
		t.Columns[at[name]] = x[i]
		if time, value := s.CommandTimes(name); time != nil {
			t.commandSteps[name] = [2][]float64{time, value}
		}
	}
	recs, err := FromTable(t, m)
	if err != nil {
		return nil, err
	}
	recs[0].Warnings = append(s.Notes(), recs[0].Warnings...)
	for _, d := range recs {
		d.PositionStep = max(d.PositionStep, math.Abs(cmp.Or(m.Position.Scale, 1))*s.Step(m.Position.Name))
	}
	return recs, nil
}
