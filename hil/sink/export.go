package sink

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"hilrig/hil"
)

// ExportOptions choose what ExportCSV writes.
type ExportOptions struct {
	Channels           []string // columns behind timestamp: signals or fields of the row, in this order; nil: see ExportCSV
	StartTime, EndTime float64  // s after the first row; EndTime 0: to the end
	Decimate           int      // keep every n-th row, without a filter against aliasing; 0 and 1: all
}

// Exported is what was written.
type Exported struct {
	Rows    uint64   // lines of data
	Columns []string // names, timestamp first
}

// ErrChannel says that a chosen channel is not in the run.
var ErrChannel = errors.New("no such channel")

// ExportColumn is a column of an export.
type ExportColumn struct {
	Name, Unit string
	Kind       string // number, integer, string; time: ns since 1970
	append     func(b []byte, r *hil.Row, wall int64) []byte
	number     func(r *hil.Row) float64 // nil: there is none
}

// Export is what was chosen of a run.
type Export struct {
	Columns []ExportColumn // timestamp first
	run     *Run
	opt     ExportOptions
}

// Export chooses columns and rows; without a choice of channels the columns are timestamp, seq, epoch, mode, flags, late_us, busy_us and
// every signal, in SI.
func (r *Run) Export(opt ExportOptions) (*Export, error) {
	cols, err := columnsOf(&r.Info.Schema, opt.Channels)
	if err != nil {
		return nil, err
	}
	return &Export{cols, r, opt}, nil
}

// Rows are those of the choice; a row is the caller's until the next one. The last error, of reading or of ctx, ends them.
func (e *Export) Rows(ctx context.Context) iter.Seq2[*hil.Row, error] {
	return func(yield func(*hil.Row, error) bool) {
		it, more, err := e.run.window(e.opt.StartTime, e.opt.EndTime)
		if err != nil {
			yield(nil, err)
			return
		}
		var row hil.Row
		every := uint64(max(1, e.opt.Decimate))
		for n := uint64(0); more && it.Next(&row); n++ {
			if n%1024 == 0 && ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if n%every == 0 && !yield(&row, nil) {
				return
			}
		}
		if err := it.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// Number is a number of a row, NaN for a text.
func (e *Export) Number(column int, r *hil.Row) float64 {
	if f := e.Columns[column].number; f != nil {
		return f(r)
	}
	return math.NaN()
}

// Text is a field of a row as it stands in CSV.
func (e *Export) Text(column int, r *hil.Row) string {
	return string(e.Columns[column].append(nil, r, e.run.wall))
}

// Nanoseconds is when a row was due, since 1970.
func (e *Export) Nanoseconds(r *hil.Row) int64 { return r.T + e.run.wall }

// ExportCSV writes a run as CSV: the first line holds the names, the second the units behind "# ", then a line per row.
// The first column is timestamp, s since 1970 to the ns. Numbers have the digits that read back as the same float64; NaN, Inf and
// -Inf stand for themselves. ctx ends it early with ctx's error.
func ExportCSV(ctx context.Context, run *Run, w io.Writer, opt ExportOptions) (Exported, error) {
	e, err := run.Export(opt)
	if err != nil {
		return Exported{}, err
	}
	var res Exported
	out := bufio.NewWriterSize(w, 1<<16)
	units := make([]string, len(e.Columns))
	for i, c := range e.Columns {
		res.Columns, units[i] = append(res.Columns, c.Name), c.Unit
	}
	units[0] = "# " + units[0]
	head := csv.NewWriter(out) // its errors show up at the flush
	_ = head.WriteAll([][]string{res.Columns, units})

	var line []byte
	for row, err := range e.Rows(ctx) {
		if err != nil {
			return res, err
		}
		line = line[:0]
		for i := range e.Columns {
			if i > 0 {
				line = append(line, ',')
			}
			line = e.Columns[i].append(line, row, run.wall)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return res, err
		}
		res.Rows++
	}
	return res, out.Flush()
}

// window gives the rows between from and to, in s after the first row; more is false when there is no row at all.
func (r *Run) window(from, to float64) (it *RowIter, more bool, err error) {
	if !(from >= 0) || to != 0 && !(to >= from) {
		return nil, false, fmt.Errorf("from %g s to %g s is no stretch of time: want 0 ≤ from ≤ to, in seconds after the first row", from, to)
	}
	var first hil.Row
	it = r.Iter()
	if !it.Next(&first) {
		return it, false, nil
	}
	end := int64(math.MaxInt64)
	if to > 0 && to < 9e9 {
		end = first.T + int64(math.Round(to*1e9))
	}
	if from > 9e9 {
		return it, false, nil
	}
	return r.RowsBetween(first.T+int64(math.Round(from*1e9)), end), true, nil
}

// columnOf writes a field of a row that is no signal: as in the recording, without quotes. Times have all their digits.
func columnOf(f *rowField) ExportColumn {
	write := func(b []byte, r *hil.Row, _ int64) []byte {
		at := len(b)
		if b = f.encode(b, r); b[at] == '"' {
			b = append(b[:at], b[at+1:len(b)-1]...)
		}
		return b
	}
	kind, number := f.kind, f.number
	switch f.name {
	case "timestamp":
		kind = "time"
		write = func(b []byte, r *hil.Row, wall int64) []byte { return appendDecimal(b, r.T+wall, 9) }
	case "t":
		number = func(r *hil.Row) float64 { return float64(r.T) * 1e-9 }
	}
	return ExportColumn{f.name, f.unit, kind, write, number}
}

// columnsOf finds the columns by name. All unknown names are reported at once.
func columnsOf(s *hil.Schema, want []string) ([]ExportColumn, error) {
	var all []ExportColumn
	for i := range rowFields {
		all = append(all, columnOf(&rowFields[i]))
	}
	for i, sig := range s.Signals() {
		write := func(b []byte, r *hil.Row, _ int64) []byte {
			x := r.X[i]
			if math.IsInf(x, 1) {
				return append(b, "Inf"...) // strconv's "+Inf" is less widely read
			}
			return strconv.AppendFloat(b, x, 'g', -1, 64)
		}
		all = append(all, ExportColumn{sig.Name, sig.Unit, "number", write, func(r *hil.Row) float64 { return r.X[i] }})
	}
	var have []string // signals first
	for _, c := range slices.Concat(all[nFixed:], all[1:nFixed]) {
		have = append(have, c.Name)
	}
	if want == nil {
		want = append([]string{"seq", "epoch", "mode", "flags", "late_us", "busy_us"}, have[:len(all)-nFixed]...)
	}
	cols := all[:1:1]
	var unknown []string
	for _, name := range want {
		i := slices.IndexFunc(all, func(c ExportColumn) bool { return c.Name == name })
		switch {
		case i > 0:
			cols = append(cols, all[i])
		case i < 0:
			unknown = append(unknown, strconv.Quote(name))
		}
	}
	if unknown != nil {
		return nil, fmt.Errorf("%w: %s; the run has %s", ErrChannel, strings.Join(unknown, ", "), strings.Join(have, ", "))
	}
	return cols, nil
}
