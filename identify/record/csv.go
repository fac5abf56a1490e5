package record

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

// Column says where a signal stands in a file and how its numbers become SI: SI = Scale·number + Shift.
type Column struct {
	Name  string  // in the header row; a header "name [unit]" also answers to name
	Unit  string  // of the numbers as they stand in the file; checked against the file's own unit, if it states one
	Scale float64 // SI unit per unit; for the force with the gain of the drive
	Shift float64 // SI
}

// Mapping says how a text file is read.
type Mapping struct {
	Time, Position, Force Column
	Rate                  float64                // Hz, used where Time.Name is empty
	Separator             rune                   // between columns; 0: found in the header row
	DecimalComma          bool                   // 1,5 instead of 1.5
	SameUnit              func(a, b string) bool // compares spellings of units; nil: equal but for spaces and products
}

// ReadCSV reads a record from a text file, plain or gzip: a header row with names, possibly a row of units, then rows of
// numbers separated by comma, semicolon or tab. Lines that begin with # are comments, but directly below the header one
// with as many cells is the row of units. Every row must be complete and finite, and time even; the error is a *Error
// with the line, or what the file system said.
func ReadCSV(path string, m Mapping) (*Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{Msg: err.Error(), Hint: "Paths in a configuration are relative to it; --data is relative to the current folder."}
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return nil, &Error{File: path, Msg: "is a folder, want a CSV file"}
	}
	hash := sha256.New()
	raw := bufio.NewReaderSize(io.TeeReader(f, hash), 1<<16)
	d, err := read(path, raw, m)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, raw); err != nil {
		return nil, &Error{File: path, Msg: err.Error()}
	}
	d.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return d, nil
}

// read is ReadCSV on an open stream.
func read(name string, raw *bufio.Reader, m Mapping) (*Record, error) {
	d := &Record{File: name}
	text := raw
	if magic, _ := raw.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, d.Fail(0, "Is the file complete?", "compressed file cannot be opened: %v", err)
		}
		text = bufio.NewReaderSize(z, 1<<16)
	}
	if bom, _ := text.Peek(3); string(bom) == "\ufeff" {
		_, _ = text.Discard(3)
	}
	r := table{d: d, m: m}
	r.csv = csv.NewReader(text)
	r.csv.FieldsPerRecord, r.csv.ReuseRecord, r.csv.TrimLeadingSpace = -1, true, m.Separator != '\t'
	if r.csv.Comma = m.Separator; m.Separator == 0 {
		r.csv.Comma = separator(text)
		r.csv.TrimLeadingSpace = r.csv.Comma != '\t'
	}
	if m.DecimalComma && r.csv.Comma == ',' {
		return nil, d.Fail(1, "Set data.separator to semicolon or tab, or data.decimal to point.", "columns and decimals cannot both use the comma")
	}
	t, lines, err := r.rows()
	if err != nil {
		return nil, err
	}
	if len(lines) < 2 {
		return nil, d.Fail(0, "", "%d rows of numbers, want at least 2", len(lines))
	}
	if m.Time.Name == "" {
		d.Dt = 1 / m.Rate
	} else if err := d.uniform(t, lines); err != nil {
		return nil, err
	}
	d.saturation()
	return d, nil
}

// separator finds the character between columns in the first line that is no comment.
func separator(r *bufio.Reader) rune {
	head, _ := r.Peek(r.Size())
	for line := range strings.Lines(string(head)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		best := ','
		for _, c := range "\t;" {
			if strings.Count(line, string(c)) > strings.Count(line, string(best)) {
				best = c
			}
		}
		return best
	}
	return ','
}

// table reads the rows of one file.
type table struct {
	d      *Record
	m      Mapping
	csv    *csv.Reader
	header []string
	cols   [3]int // of time (−1: none), position, force
}

// next gives a row that is no blank line, with its line number.
func (r *table) next() (rec []string, line int, err error) {
	rec, err = r.csv.Read()
	var pe *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return nil, 0, io.EOF
	case errors.As(err, &pe):
		return nil, 0, r.d.Fail(pe.Line, "", "column %d: %v", pe.Column, pe.Err)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum):
		return nil, 0, r.d.Fail(0, "Copy it again.", "the compressed file is cut short or damaged")
	case err != nil:
		return nil, 0, r.d.Fail(0, "", "%v", err)
	}
	line, _ = r.csv.FieldPos(0)
	return rec, line, nil
}

// rows reads the header and all numbers into r.d, and returns times (s; nil without a time column) and line numbers.
func (r *table) rows() (t []float64, lines []int32, err error) {
	headerLine := 0
	for {
		rec, line, err := r.next()
		switch {
		case err == io.EOF && r.header == nil:
			return nil, nil, r.d.Fail(0, "", "empty file")
		case err == io.EOF:
			return t, lines, nil
		case err != nil:
			return nil, nil, err
		}
		comment := strings.HasPrefix(rec[0], "#")
		switch {
		case r.header == nil && comment:
			continue
		case r.header == nil:
			if err := r.setHeader(rec, line); err != nil {
				return nil, nil, err
			}
			headerLine = line
			continue
		case len(lines) == 0 && line == headerLine+1 && len(rec) == len(r.header) && (comment || !anyNumber(rec, r.m.DecimalComma)):
			if err := r.checkUnits(rec, line); err != nil {
				return nil, nil, err
			}
			continue
		case comment:
			continue
		case len(rec) != len(r.header):
			hint := "If this is the last line, the file was cut short while it was written: remove the line."
			if len(rec) > len(r.header) && !r.m.DecimalComma && r.csv.Comma == ',' {
				hint = "Decimal commas? Then columns need another separator: export with semicolons and set data.decimal: comma."
			}
			return nil, nil, r.d.Fail(line, hint, "%d cells, the header has %d", len(rec), len(r.header))
		}
		var x [3]float64
		for i, c := range []Column{r.m.Time, r.m.Position, r.m.Force} {
			if r.cols[i] < 0 {
				continue
			}
			if x[i], err = r.number(rec[r.cols[i]], r.cols[i], line, c); err != nil {
				return nil, nil, err
			}
		}
		if r.cols[0] >= 0 {
			t = append(t, x[0])
		}
		r.d.Position = append(r.d.Position, x[1])
		r.d.Force = append(r.d.Force, x[2])
		lines = append(lines, int32(line))
	}
}

// setHeader finds the wanted columns.
func (r *table) setHeader(rec []string, line int) error {
	names := make([]string, len(rec)) // without units
	units := make([]string, len(rec))
	for i, h := range rec {
		r.header = append(r.header, strings.TrimSpace(h))
		names[i], units[i] = splitHeader(r.header[i])
	}
	for i, c := range []Column{r.m.Time, r.m.Position, r.m.Force} {
		r.cols[i] = -1
		if c.Name == "" && i == 0 {
			continue
		}
		for j := range rec {
			if r.header[j] != c.Name && names[j] != c.Name {
				continue
			}
			if r.cols[i] >= 0 {
				return r.d.Fail(line, "", "column %q exists twice (columns %d and %d)", c.Name, r.cols[i]+1, j+1)
			}
			r.cols[i] = j
		}
		if r.cols[i] < 0 {
			hint := "Columns here: " + strings.Join(r.header, ", ") + "."
			switch near := Nearest(c.Name, names); {
			case near != "":
				hint = fmt.Sprintf("Did you mean %q? ", near) + hint
			case anyNumber(rec, r.m.DecimalComma):
				hint = "The first line holds numbers: add a header row that names the columns."
			}
			return r.d.Fail(line, hint, "no column %q", c.Name)
		}
	}
	return r.checkUnits(units, line)
}

// checkUnits compares what the file says about units with what the mapping says.
func (r *table) checkUnits(units []string, line int) error {
	for i, c := range []Column{r.m.Time, r.m.Position, r.m.Force} {
		if r.cols[i] < 0 || c.Unit == "" {
			continue
		}
		u := strings.TrimSpace(units[r.cols[i]])
		if r.cols[i] == 0 {
			u = strings.TrimSpace(strings.TrimPrefix(u, "#"))
		}
		u = strings.TrimSuffix(strings.TrimPrefix(u, "["), "]")
		same := r.m.SameUnit
		if same == nil {
			same = func(a, b string) bool { return plainUnit(a) == plainUnit(b) }
		}
		if u != "" && u != "unit" && !same(u, c.Unit) {
			return r.d.Fail(line, "Give the unit of the file in data.columns; the conversion is done for you.",
				"column %q is in %s, the configuration says %s", c.Name, u, c.Unit)
		}
	}
	return nil
}

// number reads one cell and converts it to SI.
func (r *table) number(cell string, col, line int, c Column) (float64, error) {
	s := strings.TrimSpace(cell)
	if r.m.DecimalComma {
		s = strings.Replace(s, ",", ".", 1)
	}
	x, err := strconv.ParseFloat(s, 64)
	name := r.header[col]
	switch {
	case err == nil && math.Abs(c.Scale*x+c.Shift) < largest: // not so for NaN
		return c.Scale*x + c.Shift, nil
	case s == "":
		return 0, r.d.Fail(line, "Cut the record before or after the missing value.", "empty cell in column %s", name)
	case err == nil || errors.Is(err, strconv.ErrRange):
		return 0, r.d.Fail(line, "Cut the record before or after it: a filter would spread it over its neighbours.", "%s in column %s is not a usable number", s, name)
	case strings.Count(cell, ",") == 1 && !r.m.DecimalComma:
		return 0, r.d.Fail(line, "Decimal comma? Set data.decimal: comma.", "%q in column %s is not a number", s, name)
	}
	return 0, r.d.Fail(line, "", "%q in column %s is not a number", s, name)
}

// largest is the limit of what is taken for a measurement, in SI; squares and sums of such numbers do not overflow.
const largest = 1e100

// splitHeader cuts "position [mm]" or "position (mm)" into name and unit.
func splitHeader(h string) (name, unit string) {
	for _, br := range []string{"[]", "()"} {
		if i := strings.IndexByte(h, br[0]); i > 0 && h[len(h)-1] == br[1] {
			return strings.TrimSpace(h[:i]), strings.TrimSpace(h[i+1 : len(h)-1])
		}
	}
	return h, ""
}

// plainUnit unites spellings of a unit that differ in spaces and product signs only.
func plainUnit(u string) string {
	return strings.NewReplacer(" ", "", "·", "", "*", "", "⋅", "", "\u03bc", "µ").Replace(u)
}

func anyNumber(rec []string, comma bool) bool {
	for _, c := range rec {
		c = strings.TrimSpace(c)
		if comma {
			c = strings.Replace(c, ",", ".", 1)
		}
		if _, err := strconv.ParseFloat(c, 64); err == nil {
			return true
		}
	}
	return false
}
