package record

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// longestRow bounds a row, bytes: with a quote that is never closed the rest of a file would be one.
const longestRow = 1 << 20

// rowReader cuts a text into rows of cells, without a copy of what it reads. Quotes are as in RFC 4180.
type rowReader struct {
	text  *bufio.Reader
	comma byte
	trim  bool // spaces before a cell mean nothing

	line     int      // of the row, 1-based
	nextLine int      // line after it
	longRow  []byte   // a row longer than the buffer of text, or of several lines
	cells    [][]byte // of the row; valid until the next one
}

var errQuote = errors.New(`a quote (") that is not closed, or text behind one`)
var errLong = errors.New("more than a million bytes in one row")

// read gives the cells of the next row that is no blank line; io.EOF at the end.
func (r *rowReader) read() ([][]byte, error) {
	for {
		r.line = r.nextLine + 1
		row, err := r.oneLine(r.longRow[:0])
		if err != nil {
			return nil, err
		}
		row = bytes.TrimRight(row, "\r\n")
		if r.trim {
			row = bytes.TrimLeft(row, " ")
		}
		if len(row) == 0 {
			continue
		}
		if row[0] != '#' && bytes.IndexByte(row, '"') >= 0 {
			return r.quoted(row)
		}
		r.cells = r.cells[:0]
		for {
			i := bytes.IndexByte(row, r.comma)
			if i < 0 {
				r.cells = append(r.cells, row)
				return r.cells, nil
			}
			r.cells, row = append(r.cells, row[:i]), row[i+1:]
		}
	}
}

// oneLine gives a line with its end. Where it has to be put together, it is appended to into.
func (r *rowReader) oneLine(into []byte) ([]byte, error) {
	for {
		part, err := r.text.ReadSlice('\n')
		switch {
		case err == nil || err == io.EOF && len(into)+len(part) > 0:
			r.nextLine++
			if len(into) == 0 {
				return part, nil
			}
			r.longRow = append(into, part...)
			return r.longRow, nil
		case err != bufio.ErrBufferFull:
			return nil, err
		}
		if into = append(into, part...); len(into) > longestRow {
			return nil, errLong
		}
	}
}

// quoted reads a row with quotes, which may hold ends of lines.
func (r *rowReader) quoted(row []byte) ([][]byte, error) {
	row = append(bytes.Clone(row), '\n')
	for bytes.Count(row, []byte{'"'})%2 != 0 {
		more, err := r.oneLine(nil)
		switch {
		case err == io.EOF || len(row) > longestRow:
			return nil, errQuote
		case err != nil:
			return nil, err
		}
		row = append(row, more...)
	}
	c := csv.NewReader(bytes.NewReader(row))
	c.Comma, c.FieldsPerRecord, c.TrimLeadingSpace = rune(r.comma), -1, r.trim
	cells, err := c.Read()
	if err != nil {
		return nil, errQuote
	}
	r.cells = r.cells[:0]
	for _, s := range cells {
		r.cells = append(r.cells, []byte(s))
	}
	return r.cells, nil
}

// texts are copies of the cells.
func texts(cells [][]byte) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = strings.TrimSpace(string(c))
	}
	return out
}

// lineIndex remembers the lines of rows, which follow each other as a rule: only where one does not is noted.
type lineIndex struct {
	rows   int
	breaks [][2]int // a row, counted from 0, and its line; the rows behind it are on the lines behind it
}

func (l *lineIndex) add(line int) {
	if n := len(l.breaks); n == 0 || line != l.breaks[n-1][1]+l.rows-l.breaks[n-1][0] {
		l.breaks = append(l.breaks, [2]int{l.rows, line})
	}
	l.rows++
}

// of gives the line of a row, 0 where rows have none.
func (l *lineIndex) of(row int) int {
	line := 0
	for _, b := range l.breaks {
		if b[0] > row {
			break
		}
		line = b[1] + row - b[0]
	}
	return line
}
