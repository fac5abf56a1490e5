package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"hilrig/engine/spelling"

	"gonum.org/v1/gonum/floats"
)

// Table is what a file holds before its columns are given a meaning: numbers as they stand there, by name. Every reader
// makes one, and FromTable turns it into records.
type Table struct {
	File   string
	SHA256 string // of the file as it lies on disk, hex

	Names   []string    // of the columns
	Units   []string    // as the file states them, "" where it does not; nil: it states none
	Columns [][]float64 // all of one length where read; nil for a column that nobody asked for

	commandSteps map[string][2][]float64 // by name, times (s) and values of columns that keep their value until the next one

	lines    lineIndex // of the rows in a text
	heads    []string  // headers in full, where they are more than the name
	headLine int       // line of the header row
	unitLine []int     // line in which the unit of a column stands
	numeric  bool      // the header row holds numbers
	labels   []string  // texts of the piece column, whose numbers are their indices; nil: numbers are numbers
	flaws    []flaw    // cells without a usable number, in the order of the rows; the numbers there are NaN
}

// flaw is a row or cell that a text reader could not read.
type flaw struct {
	row int
	err error
}

// maxFlaws bounds what is remembered about the unreadable cells outside the wanted part of a file.
const maxFlaws = 10000

// largest is the limit of what is taken for a measurement, in SI; squares and sums of such numbers do not overflow.
const largest = 1e100

// FromTable finds the columns of the mapping, cuts the table into pieces, converts the numbers to SI and checks that every
// piece is finite and even in time. It returns at least one record, or a *Error. The table is used up: its columns become
// those of the records.
func FromTable(t *Table, m Mapping) ([]*Record, error) {
	at, err := t.find(&m)
	if err != nil {
		return nil, err
	}
	n, err := t.rows(&m, at)
	if err != nil {
		return nil, err
	}
	lo, hi := max(m.Rows[0]-1, 0), n
	if m.Rows[1] > 0 {
		hi = min(m.Rows[1], n)
	}
	least := 2
	if m.SteadyLevels {
		least = 1
	}
	if hi-lo < least {
		if m.Rows != [2]int{} {
			return nil, t.fail(0, "Rows of numbers are counted from 1, the last one is included.",
				"rows %d:%d of the %d rows of numbers, want at least %d", m.Rows[0], m.Rows[1], n, least)
		}
		return nil, t.fail(0, "Is this the whole file? Rows of numbers follow below the header.", "%d rows of numbers, want at least %d", n,
			least)
	}

	var out []*Record
	var dropped []string
	cuts := []int{lo, hi}
	if m.Piece != "" {
		if cuts = t.pieceStarts(at[m.Piece], lo, hi); n == m.rowLimit && len(cuts) > 2 { // the last piece goes on in the file
			cuts = cuts[:len(cuts)-1]
		}
	}
	c := t.convert(&m, at)
	if m.TailDuration > 0 {
		end := math.Inf(-1)
		for i := range len(cuts) - 1 {
			end = max(end, c.at(cuts[i+1]-1, cuts[i]))
		}
		m.Span = [2]float64{end - m.TailDuration, end}
	}
	for i := range len(cuts) - 1 {
		read := c.piece
		if m.SteadyLevels {
			read = c.levels
		}
		pieces, lost, err := read(cuts[i], cuts[i+1])
		if err != nil {
			return nil, err
		}
		out, dropped = append(out, pieces...), append(dropped, lost...)
	}
	if len(out) == 0 {
		return nil, t.fail(0, "Choose another span of time, or allow longer gaps: a stretch between "+
			"two needs "+strconv.Itoa(minFragment)+" samples.",
			"nothing is left: %s", dropped[0])
	}
	for _, d := range out {
		d.ForceStep = c.force
	}
	distinct(out)
	out[0].Warnings = append(t.doubtfulUnits(&m), append(ShortList(dropped), out[0].Warnings...)...)
	return out, nil
}

// fail makes an *Error about this table.
func (t *Table) fail(line int, hint, format string, args ...any) error {
	return &Error{File: t.File, Line: line, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// place names a row for people: by its line in a text, by its number elsewhere.
func (t *Table) place(row int) string {
	if line := t.line(row); line > 0 {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("row %d", row+1)
}

// line is the line of a row, 0 where there are none.
func (t *Table) line(row int) int { return t.lines.of(row) }

// find gives the place of every column that the mapping names, and compares units. Optional columns that are not there leave
// the mapping.
func (t *Table) find(m *Mapping) (map[string]int, error) {
	if m.head != nil {
		return nil, nil
	}
	if len(m.channels()) == 0 {
		return nil, t.fail(0, "Name at least one of position, velocity and force in data.columns.", "no column is wanted")
	}
	if m.Time.Name == "" && !m.SteadyLevels && !(m.Rate > 0 && m.Rate < largest) {
		return nil, t.fail(0, "Name the column of time, or give data.rate.", "no time: the sampling rate is %g Hz", m.Rate)
	}
	at := map[string]int{}
	for _, name := range m.names() {
		if _, known := at[name]; known {
			continue // one column may serve two channels
		}
		for j, h := range t.Names {
			if h != name && (j >= len(t.heads) || t.heads[j] != name) {
				continue
			}
			if first, twice := at[name]; twice {
				return nil, t.fail(t.headLine, "Rename one of them in the file.", "column %q exists twice (columns %d and %d)", name, first+1, j+1)
			}
			at[name] = j
		}
		if _, found := at[name]; !found && !m.spare(name) {
			return nil, t.missingColumn(name)
		}
	}
	for _, c := range append([]channel{{Column: m.Time}}, m.channels()...) {
		j, found := at[c.Name]
		if !found || t.Units == nil || c.Unit == "" || t.Units[j] == "" || m.sameUnit(t.Units[j], c.Unit) {
			continue
		}
		line := t.headLine
		if t.unitLine != nil {
			line = t.unitLine[j]
		}
		return nil, t.fail(line, "Give the unit of the file in data.columns; the conversion is done for you.",
			"column %q is in %s, the configuration says %s", c.Name, t.Units[j], c.Unit)
	}
	return at, nil
}

// converted is a table in SI.
type converted struct {
	*Table
	m       *Mapping
	labelOf []float64   // pieces of the rows; nil: there are none
	time    []float64   // s; nil: there is none
	x       [][]float64 // one for each of m.channels()
	step    float64     // s, median of the intervals between rows; 0: not known yet
	force   float64     // N or N·m, step of the force; 0: not known
}

// convert brings the wanted columns to SI in their place; one that serves several channels is copied.
func (t *Table) convert(m *Mapping, at map[string]int) *converted {
	c := &converted{Table: t, m: m}
	uses := map[int]int{}
	for _, name := range m.names() {
		uses[at[name]]++
	}
	take := func(col Column) []float64 {
		j := at[col.Name]
		x := t.Columns[j]
		if uses[j]--; uses[j] > 0 {
			x = slices.Clone(x)
		}
		col.toSI(x)
		return x
	}
	if m.Piece != "" {
		c.labelOf = t.Columns[at[m.Piece]]
	}
	if m.Time.Name != "" {
		c.time = take(m.Time)
	}
	for _, ch := range m.channels() {
		if channelNames[ch.place] == "force" {
			c.force = stepOf(ch.Column, t.Columns[at[ch.Name]])
		}
		c.x = append(c.x, take(ch.Column))
	}
	return c
}

// toSI brings numbers of a column to SI in their place.
func (c Column) toSI(x []float64) {
	floats.Scale(cmp.Or(c.Scale, 1), x)
	floats.AddConst(c.Shift, x)
}

// stepOf is the step of a column in SI: what is said of it, or that of whole numbers that a gain makes SI. 0: not known.
func stepOf(c Column, x []float64) float64 {
	scale := math.Abs(cmp.Or(c.Scale, 1))
	whole := func(v float64) bool { return v == math.Trunc(v) || math.IsNaN(v) }
	if c.Step > 0 || scale == 1 || slices.ContainsFunc(x, func(v float64) bool { return !whole(v) }) {
		return c.Step * scale
	}
	return scale
}

// missingColumn says which columns there are instead.
func (t *Table) missingColumn(name string) error {
	have := t.heads
	if have == nil {
		have = t.Names
	}
	const most = 40
	shown, more := have[:min(len(have), most)], ""
	if len(have) > most {
		more = fmt.Sprintf(" and %d more", len(have)-most)
	}
	hint := "Columns here: " + strings.Join(shown, ", ") + more + "."
	switch near := spelling.Nearest(name, t.Names); {
	case near != "":
		hint = fmt.Sprintf("Did you mean %q? ", near) + hint
	case t.numeric:
		hint = "The first line holds numbers: add a header row that names the columns."
	case len(have) == 0:
		hint = "The file holds no column of numbers."
	}
	return t.fail(t.headLine, hint, "no column %q", name)
}

// rows is the common length of the wanted columns.
func (t *Table) rows(m *Mapping, at map[string]int) (int, error) {
	first := m.names()[0]
	n := len(t.Columns[at[first]])
	for _, name := range m.names() {
		if k := len(t.Columns[at[name]]); k != n {
			return 0, t.fail(0, "All columns of a record must be of one length.", "column %s has %d numbers, %s has %d", name, k, first, n)
		}
	}
	return n, nil
}

// pieceStarts finds the first rows of the pieces in lo … hi, and hi.
func (t *Table) pieceStarts(col, lo, hi int) []int {
	cuts := []int{lo}
	for k := lo + 1; k < hi; k++ {
		if t.Columns[col][k] != t.Columns[col][k-1] && !(math.IsNaN(t.Columns[col][k]) && math.IsNaN(t.Columns[col][k-1])) {
			cuts = append(cuts, k)
		}
	}
	return append(cuts, hi)
}

// label is the name of the piece at a row.
func (c *converted) label(row int) string {
	if c.labelOf == nil {
		return ""
	}
	x := c.labelOf[row]
	if c.labels != nil && x >= 0 && int(x) < len(c.labels) {
		return c.m.Piece + " " + c.labels[int(x)]
	}
	return fmt.Sprintf("%s %g", c.m.Piece, x)
}

// distinct numbers pieces of the same name.
func distinct(pieces []*Record) {
	seen := map[string]int{}
	for _, d := range pieces {
		seen[d.Piece]++
		if k := seen[d.Piece]; k > 1 {
			d.Piece = strings.TrimSpace(fmt.Sprintf("%s (%d)", d.Piece, k))
		}
	}
}

// telling are syllables of column names that tell a unit beyond doubt.
var telling = []string{"mm", "um", "µm", "nm", "deg", "rpm", "ms", "us", "ns", "mA", "mN", "kN", "mNm", "counts"}

// doubtfulUnits warns about columns whose name says another unit than the mapping.
func (t *Table) doubtfulUnits(m *Mapping) []string {
	var out []string
	for _, c := range append([]channel{{Column: m.Time}}, m.channels()...) {
		if c.Unit == "" {
			continue
		}
		unit := strings.ReplaceAll(plainUnit(c.Unit), "µ", "u")
		for _, part := range strings.FieldsFunc(c.Name, func(r rune) bool { return strings.ContainsRune("_ .-/()[]", r) }) {
			if slices.Contains(telling, part) && !strings.Contains(unit, strings.ReplaceAll(part, "µ", "u")) &&
				!(part == "rpm" && strings.Contains(unit, "/min")) && !(part == "deg" && strings.Contains(unit, "°")) {
				out = append(out, fmt.Sprintf("column %s is read in %s, but its name says %s", c.Name, c.Unit, part))
			}
		}
	}
	return out
}
