package record

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
)

// readText reads the columns of the mapping from a text: a header row with names, possibly a row of units, then rows of
// numbers separated by comma, semicolon or tab. Lines that begin with # are comments, but directly below the header one
// with as many cells is the row of units.
func readText(name string, text *bufio.Reader, m *Mapping) (*Table, error) {
	if bom, _ := text.Peek(3); string(bom) == "\ufeff" {
		_, _ = text.Discard(3)
	}
	r := textReader{t: &Table{File: name}, m: m}
	r.csv = csv.NewReader(text)
	r.csv.FieldsPerRecord, r.csv.ReuseRecord, r.csv.TrimLeadingSpace = -1, true, m.Separator != '\t'
	if r.csv.Comma = m.Separator; m.Separator == 0 {
		r.csv.Comma = separator(text)
		r.csv.TrimLeadingSpace = r.csv.Comma != '\t'
	}
	if m.DecimalComma && r.csv.Comma == ',' {
		return nil, r.t.fail(1, "Set data.separator to semicolon or tab, or data.decimal to point.", "columns and decimals cannot both use the comma")
	}
	return r.t, r.rows()
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

// textReader reads the rows of one file.
type textReader struct {
	t      *Table
	m      *Mapping
	csv    *csv.Reader
	wanted []int          // columns that are read
	piece  int            // column of labels, −1: none
	label  map[string]int // numbers of the labels
}

// next gives a row that is no blank line, with its line number.
func (r *textReader) next() (rec []string, line int, err error) {
	rec, err = r.csv.Read()
	var pe *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return nil, 0, io.EOF
	case errors.As(err, &pe):
		return nil, 0, r.t.fail(pe.Line, "", "column %d: %v", pe.Column, pe.Err)
	case damaged(err):
		return nil, 0, r.t.fail(0, "Copy it again.", "the compressed file is cut short or damaged")
	case err != nil:
		return nil, 0, r.t.fail(0, "", "%v", err)
	}
	line, _ = r.csv.FieldPos(0)
	return rec, line, nil
}

// rows reads the header and all numbers.
func (r *textReader) rows() error {
	t := r.t
	for {
		rec, line, err := r.next()
		switch {
		case err == io.EOF && t.headLine == 0:
			return t.fail(0, "", "empty file")
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		comment := strings.HasPrefix(rec[0], "#")
		switch {
		case t.headLine == 0 && comment:
			continue
		case t.headLine == 0:
			err = r.setHeader(rec, line)
		case len(t.Lines) == 0 && line == t.headLine+1 && len(rec) == len(t.heads) && (comment || !anyNumber(rec, r.m.DecimalComma)):
			err = r.setUnits(rec, line)
		case comment:
			continue
		default:
			err = r.row(rec, line)
		}
		if err != nil {
			return err
		}
	}
}

// setHeader names the columns and finds the wanted ones.
func (r *textReader) setHeader(rec []string, line int) error {
	t := r.t
	t.headLine, t.numeric = line, anyNumber(rec, r.m.DecimalComma)
	for _, h := range rec {
		h = strings.TrimSpace(h)
		name, unit := splitHeader(h)
		t.heads, t.Names, t.Units, t.unitLine = append(t.heads, h), append(t.Names, name), append(t.Units, unit), append(t.unitLine, line)
	}
	t.Columns = make([][]float64, len(rec))
	at, err := t.find(r.m)
	if err != nil {
		return err
	}
	r.piece = -1
	if r.m.Piece != "" {
		r.piece, r.label = at[r.m.Piece], map[string]int{}
	}
	read := make([]bool, len(rec))
	for _, j := range at {
		read[j] = true
	}
	for j := range rec {
		if read[j] {
			r.wanted = append(r.wanted, j)
			t.Columns[j] = []float64{}
		}
	}
	return nil
}

// setUnits takes the row of units, which must not contradict the header.
func (r *textReader) setUnits(rec []string, line int) error {
	t := r.t
	for j, u := range rec {
		if u = strings.TrimSpace(u); j == 0 {
			u = strings.TrimSpace(strings.TrimPrefix(u, "#"))
		}
		u = strings.TrimSuffix(strings.TrimPrefix(u, "["), "]")
		if u == "" || u == "unit" || u == "-" {
			continue
		}
		if old := t.Units[j]; old != "" && !r.m.same(old, u) {
			return t.fail(line, "Correct the file: which one is it?", "column %q is in %s by its header and in %s by the row of units", t.Names[j], old, u)
		}
		t.Units[j], t.unitLine[j] = u, line
	}
	_, err := t.find(r.m) // which compares the units again
	return err
}

// row reads one row of numbers. What cannot be read is an error at once if every row is wanted, and is remembered otherwise.
func (r *textReader) row(rec []string, line int) error {
	t := r.t
	var bad error
	if len(rec) != len(t.heads) {
		hint := "If this is the last line, the file was cut short while it was written: remove the line."
		if len(rec) > len(t.heads) && !r.m.DecimalComma && r.csv.Comma == ',' {
			hint = "Decimal commas? Then columns need another separator: export with semicolons and set data.decimal: comma."
		}
		bad = t.fail(line, hint, "%d cells, the header has %d", len(rec), len(t.heads))
	}
	for _, j := range r.wanted {
		x := math.NaN()
		if bad == nil && j == r.piece {
			x, bad = r.labelOf(rec[j], line)
		} else if bad == nil {
			x, bad = r.number(rec[j], j, line)
		}
		t.Columns[j] = append(t.Columns[j], x)
	}
	if bad != nil {
		if r.m.whole() {
			return bad
		}
		if len(t.flaws) < maxFlaws {
			t.flaws = append(t.flaws, flaw{len(t.Lines), bad})
		}
	}
	t.Lines = append(t.Lines, int32(line))
	return nil
}

// labelOf gives the label of a piece its number.
func (r *textReader) labelOf(cell string, line int) (float64, error) {
	s := strings.TrimSpace(cell)
	if s == "" {
		return math.NaN(), r.t.fail(line, "Every row must say to which piece it belongs.", "empty cell in column %s", r.m.Piece)
	}
	k, known := r.label[s]
	if !known {
		k = len(r.t.labels)
		s = strings.Clone(s)
		r.label[s], r.t.labels = k, append(r.t.labels, s)
	}
	return float64(k), nil
}

// number reads one cell; NaN with an error.
func (r *textReader) number(cell string, col, line int) (float64, error) {
	s := strings.TrimSpace(cell)
	if r.m.DecimalComma {
		s = strings.Replace(s, ",", ".", 1)
	}
	x, err := strconv.ParseFloat(s, 64)
	if err == nil && strings.ContainsAny(s, "_xX") { // numbers of programs, not of instruments
		err = strconv.ErrSyntax
	}
	t, name, nan := r.t, r.t.heads[col], math.NaN()
	switch {
	case err == nil && math.Abs(x) < largest: // not so for NaN
		return x, nil
	case s == "":
		return nan, t.fail(line, "Cut the record before or after the missing value.", "empty cell in column %s", name)
	case err == nil || errors.Is(err, strconv.ErrRange):
		return nan, t.fail(line, cutHint, "%s in column %s is not a usable number", s, name)
	case strings.Count(cell, ",") == 1 && !r.m.DecimalComma:
		return nan, t.fail(line, "Decimal comma? Set data.decimal: comma.", "%q in column %s is not a number", s, name)
	case strings.Count(cell, ".") == 1 && r.m.DecimalComma:
		return nan, t.fail(line, "Decimal point? Set data.decimal: point.", "%q in column %s is not a number", s, name)
	}
	return nan, t.fail(line, "", "%q in column %s is not a number", s, name)
}

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
