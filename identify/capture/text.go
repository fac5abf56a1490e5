package capture

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// rows reads the lines of a text as cells, trimmed; blank lines are left out.
type rows struct {
	csv         *csv.Reader
	line        int  // of the row that was read last, 1-based
	semi        bool // the separator is no comma: a comma in a number is its decimal sign
	unreadCells []string
}

// newRows finds the separator of a text.
func newRows(data []byte) *rows {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.IndexByte(data, '\n') < 0 && bytes.IndexByte(data, '\r') >= 0 { // lines of old Macintoshes
		data = bytes.ReplaceAll(data, []byte{'\r'}, []byte{'\n'})
	}
	comma := separator(data)
	r := &rows{csv: csv.NewReader(bytes.NewReader(data)), semi: comma != ','}
	r.csv.Comma, r.csv.FieldsPerRecord, r.csv.LazyQuotes, r.csv.ReuseRecord = comma, -1, true, true
	return r
}

// separator is the one that stands most often in the first lines.
func separator(data []byte) rune {
	head := data[:min(len(data), 1<<14)]
	best, most := ',', bytes.Count(head, []byte{','})
	for _, c := range "\t;" {
		if n := bytes.Count(head, []byte{byte(c)}); n > most || n == most && n > 0 && c == ';' { // decimal commas: as many, or more
			best, most = c, n
		}
	}
	if best == ',' && bytes.Count(head, []byte{';'}) > 0 {
		line, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte{'\n'})
		if bytes.Count(line, []byte{';'}) > bytes.Count(line, []byte{','}) {
			best = ';'
		}
	}
	return best
}

// read gives the next line that is not empty; io.EOF at the end. The slice is used again by the next call, the strings are not.
func (r *rows) read() ([]string, error) {
	if back := r.unreadCells; back != nil {
		r.unreadCells = nil
		return back, nil
	}
	cells, err := r.csv.Read()
	var wrong *csv.ParseError
	switch {
	case errors.As(err, &wrong):
		r.line = wrong.Line
		return nil, fmt.Errorf("%w", wrong.Err)
	case err != nil:
		return nil, err
	}
	r.line, _ = r.csv.FieldPos(0)
	for i, c := range cells {
		cells[i] = strings.TrimSpace(c)
	}
	return cells, nil
}

// unread makes the line that was read last the next one.
func (r *rows) unread(cells []string) { r.unreadCells = cells }

// numbered is a name for the n-th thing of that name.
func numbered(name string, n int) string { return fmt.Sprintf("%s (%d)", name, n) }

// blank says that a line has nothing in it but separators.
func blank(cells []string) bool {
	for _, c := range cells {
		if c != "" {
			return false
		}
	}
	return true
}

// errNumber says that a cell is neither a number nor empty.
var errNumber = errors.New("not a number")

// number reads a cell: NaN where it is empty or says that there is none.
func (r *rows) number(cell string) (float64, error) {
	switch cell {
	case "", "NaN", "nan", "NAN", "-nan", "-nan(ind)", "-1.#IND", "1.#QNAN", "NA", "-":
		return math.NaN(), nil
	}
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil && r.semi && strings.Count(cell, ",") == 1 {
		x, err = strconv.ParseFloat(strings.Replace(cell, ",", ".", 1), 64)
	}
	if err != nil || !usable(x) || strings.ContainsAny(cell, "xX_") {
		return math.NaN(), errNumber
	}
	return x, nil
}

// cell is the j-th of a line that may be too short: "" then.
func cell(cells []string, j int) string {
	if j < len(cells) {
		return cells[j]
	}
	return ""
}

// clone copies the cells of a line, so that the next one can be read.
func clone(cells []string) []string { return append([]string(nil), cells...) }

// isNumber says that a cell holds one.
func (r *rows) isNumber(cell string) bool {
	x, err := r.number(cell)
	return err == nil && !math.IsNaN(x)
}

// next reads the next line with anything in it, and says what is wrong with the text.
func (c *Capture) next(r *rows) ([]string, error) {
	for {
		cells, err := r.read()
		switch {
		case err == io.EOF:
			return nil, io.EOF
		case err != nil:
			return nil, c.fail(r.line, "Correct the line, or export the file again.", "%v", err)
		case !blank(cells):
			return cells, nil
		}
	}
}

// headerLine is next in a header, which is called so.
func (c *Capture) headerLine(r *rows, header string) ([]string, error) {
	cells, err := c.next(r)
	if err == io.EOF {
		err = c.fail(r.line, "Export it again.", "the file ends in %s", header)
	}
	return cells, err
}

// positive reads a number above 0; 0: it is none.
func positive(cell string) float64 {
	if x, err := strconv.ParseFloat(cell, 64); err == nil && x > 0 && usable(x) {
		return x
	}
	return 0
}
