package record

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
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
	r := textReader{t: &Table{File: name}, m: m, rows: rowReader{text: text, comma: byte(m.Separator)}}
	if m.Separator == 0 {
		r.rows.comma = separator(text)
	}
	r.rows.trim = r.rows.comma != '\t'
	if m.DecimalComma && r.rows.comma == ',' {
		return nil, r.t.fail(1, "Set data.separator to semicolon or tab, or data.decimal to point.",
			"columns and decimals cannot both use the comma")
	}
	return r.t, r.read()
}

// separator finds the character between columns in the first line that is no comment.
func separator(r *bufio.Reader) byte {
	head, _ := r.Peek(r.Size())
	for line := range strings.Lines(string(head)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		best := byte(',')
		for _, c := range []byte("\t;") {
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
	t           *Table
	m           *Mapping
	rows        rowReader
	readColumns []int          // columns that are read …
	grown       []chunks       // … and what they hold so far
	places      []int          // by column of the file, its place among the wanted ones, −1: not wanted
	values      []float64      // of a plain row
	expected    int            // rows that a column gets room for at once
	piece       int            // column of labels, −1: none
	label       map[string]int // numbers of the labels
}

// next gives a row that is no blank line.
func (r *textReader) next() (cells [][]byte, err error) {
	cells, err = r.rows.read()
	switch {
	case err == nil || err == io.EOF:
		return cells, err
	case damaged(err):
		return nil, r.t.fail(0, "Copy it again.", "the compressed file is cut short or damaged")
	case err == errQuote:
		return nil, r.t.fail(r.rows.line, "Close it, or take it out.", "%v", err)
	case err == errLong:
		return nil, r.t.fail(r.rows.line, "Want a text with a row a line.", "%v", err)
	}
	return nil, r.t.fail(r.rows.line, "Copy the file again, or to another disk.", "%v", err)
}

// read reads the header and all numbers.
func (r *textReader) read() error {
	t := r.t
	for {
		if t.lines.rows > 0 {
			r.plainRows()
		}
		cells, err := r.next()
		switch {
		case err == io.EOF && t.headLine == 0:
			return t.fail(0, "Was it closed properly when it was written?", "empty file")
		case err == io.EOF || err == nil && t.lines.rows > 0 && t.lines.rows == r.m.rowLimit:
			r.join()
			return nil
		case err != nil:
			return err
		}
		comment, line := len(cells[0]) > 0 && cells[0][0] == '#', r.rows.line
		switch {
		case t.headLine == 0 && comment:
			continue
		case t.headLine == 0:
			err = r.setHeader(texts(cells), line)
		case t.lines.rows == 0 && line == t.headLine+1 && len(cells) == len(t.heads) && (comment || !anyNumber(texts(cells), r.m.DecimalComma)):
			err = r.setUnits(texts(cells), line)
		case comment:
			continue
		case r.m.head != nil:
			r.m.head.FirstRow = texts(cells)
			return nil
		default:
			err = r.row(cells, line)
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
	r.readColumns = slices.Compact(slices.Sorted(maps.Values(at)))
	r.grown, r.values = make([]chunks, len(r.readColumns)), make([]float64, len(r.readColumns))
	for j := range rec {
		r.places = append(r.places, slices.Index(r.readColumns, j))
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
		if old := t.Units[j]; old != "" && !r.m.sameUnit(old, u) {
			return t.fail(line, "Correct the file: which one is it?", "column %q is in %s by its header and in %s by the row of units", t.Names[j],
				old, u)
		}
		t.Units[j], t.unitLine[j] = u, line
	}
	_, err := t.find(r.m) // which compares the units again
	return err
}

// row reads one row of numbers. What cannot be read is an error at once if every row is wanted, and is remembered otherwise.
func (r *textReader) row(cells [][]byte, line int) error {
	t := r.t
	var bad error
	if len(cells) != len(t.heads) {
		hint := "If this is the last line, the file was cut short while it was written: remove the line."
		if len(cells) > len(t.heads) && !r.m.DecimalComma && r.rows.comma == ',' {
			hint = "Decimal commas? Then columns need another separator: export with semicolons and set data.decimal: comma."
		}
		bad = t.fail(line, hint, "%d cells, the header has %d", len(cells), len(t.heads))
	}
	if t.lines.rows == 0 {
		r.expected = r.expectedRows()
	}
	for i, j := range r.readColumns {
		x := math.NaN()
		if bad == nil && j == r.piece {
			x, bad = r.labelOf(string(cells[j]), line)
		} else if bad == nil {
			x, bad = r.number(cells[j], j, line)
		}
		r.grown[i].add(x, r.expected)
	}
	if bad != nil {
		if r.m.allRows() {
			return bad
		}
		if len(t.flaws) < maxFlaws {
			t.flaws = append(t.flaws, flaw{t.lines.rows, bad})
		}
	}
	t.lines.add(line)
	if r.m.source != nil {
		r.m.source.rows = t.lines.rows
	}
	return nil
}

// chunkRows is how many rows a column grows by where the length of the file does not tell how many it has.
const chunkRows = 1 << 14

// chunks is a column that grows without being copied.
type chunks [][]float64

func (c *chunks) add(x float64, expected int) {
	n := len(*c) - 1
	if n < 0 || len((*c)[n]) == cap((*c)[n]) {
		*c, n = append(*c, make([]float64, 0, max(expected, chunkRows))), n+1
	}
	(*c)[n] = append((*c)[n], x)
}

// expectedRows is the number of rows left in a file of known length, by the lines that are in the buffer; 0: not known.
func (r *textReader) expectedRows() int {
	if r.m.source == nil || r.m.source.size == 0 {
		return 0
	}
	buffered, _ := r.rows.text.Peek(r.rows.text.Buffered())
	lines := bytes.Count(buffered, []byte{'\n'})
	if lines < 16 {
		return 0
	}
	left := float64(r.m.source.size-r.m.source.bytesRead) + float64(len(buffered))
	return min(int(1.02*left/float64(len(buffered))*float64(lines))+16, maxNumbers)
}

// join makes the columns of the table out of what was collected. The memory of each is given back before the next
// one is taken.
func (r *textReader) join() {
	for i, j := range r.readColumns {
		if len(r.grown[i]) == 1 {
			r.t.Columns[j] = r.grown[i][0]
			continue
		}
		r.t.Columns[j] = slices.Concat(r.grown[i]...)
		r.grown[i] = nil
		giveBack(r.t.lines.rows)
	}
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
func (r *textReader) number(cell []byte, col, line int) (float64, error) {
	cell = bytes.TrimSpace(cell)
	point := byte('.')
	if r.m.DecimalComma {
		point = ','
	}
	if x, n := decimalAt(cell, point); n > 0 && n == len(cell) {
		return x, nil
	}
	digits := cell
	if i := bytes.IndexByte(cell, ','); i >= 0 && r.m.DecimalComma {
		digits = bytes.Clone(cell)
		digits[i] = '.'
	}
	x, err := strconv.ParseFloat(string(digits), 64)
	program := bytes.ContainsAny(cell, "_xX") // numbers of programs, not of instruments
	if err == nil && math.Abs(x) < largest && !program {
		return x, nil // not so for NaN
	}
	s, name, fail := string(cell), r.t.heads[col], r.t.fail
	switch {
	case s == "":
		err = fail(line, "Cut the record before or after the missing value.", "empty cell in column %s", name)
	case (err == nil || errors.Is(err, strconv.ErrRange)) && !program:
		err = fail(line, cutHint, "%s in column %s is not a usable number", s, name)
	case strings.Count(s, ",") == 1 && !r.m.DecimalComma:
		err = fail(line, "Decimal comma? Set data.decimal: comma.", "%q in column %s is not a number", s, name)
	case strings.Count(s, ".") == 1 && r.m.DecimalComma:
		err = fail(line, "Decimal point? Set data.decimal: point.", "%q in column %s is not a number", s, name)
	default:
		err = fail(line, "Correct the cell, or read the rows before or after it with data.rows.", "%q in column %s is not a number", s, name)
	}
	return math.NaN(), err
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
	return slices.ContainsFunc(rec, func(c string) bool {
		if comma {
			c = strings.Replace(c, ",", ".", 1)
		}
		_, err := strconv.ParseFloat(c, 64)
		return err == nil
	})
}
