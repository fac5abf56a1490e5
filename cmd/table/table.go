// Package table writes a table as a file that other programs read: Parquet, or the variables of MATLAB and Octave. A format is an entry of
// Formats. Rows are written as they come, so memory does not grow with their number.
package table

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
)

// ColumnKind is what a column holds.
type ColumnKind uint8

const (
	Number  ColumnKind = iota // Cell.X; NaN: none
	Integer                   // Cell.N
	Text                      // Cell.S; "": none
	Time                      // Cell.N, ns since 1970
)

// Column is one of a table. Unit may be part of Name as well.
type Column struct {
	Name, Unit string
	Kind       ColumnKind
}

// Cell is one value; the kind of its column says which field holds it.
type Cell struct {
	X float64
	N int64
	S string
}

// Table is what is written. A row is the reader's until the next one is asked for.
type Table struct {
	Title   string
	Columns []Column
	Rows    iter.Seq2[[]Cell, error] // ends with the first error
}

// Format is a kind of file.
type Format struct {
	Ending, Title string
	Write         func(w io.Writer, t *Table) error
}

// Formats are all that there are beside CSV, which each table writes in its own way.
var Formats = []Format{
	{".mat", "variables for MATLAB and Octave (MAT 5)", WriteMAT},
	{".parquet", "Parquet", WriteParquet},
}

// FormatOf finds a format by the ending of a file.
func FormatOf(file string) (Format, bool) {
	i := slices.IndexFunc(Formats, func(f Format) bool { return strings.HasSuffix(strings.ToLower(file), f.Ending) })
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}

// Endings are those of all formats: ".csv, .mat or .parquet".
func Endings() string {
	text := ".csv"
	for i, f := range Formats {
		if sep := ", "; i+1 < len(Formats) {
			text += sep + f.Ending
			continue
		}
		text += fmt.Sprintf(" or %s", f.Ending)
	}
	return text
}
