package sink

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
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

// ExportCSV writes a run as CSV: the first line holds the names, the second the units behind "# ", then a line per row.
// The first column is timestamp, s since 1970 to the ns; without a choice of channels the rest are seq, epoch, mode, flags,
// late_us, busy_us and every signal, in SI. Numbers have the digits that read back as the same float64; NaN, Inf and
// -Inf stand for themselves. ctx ends it early with ctx's error.
func ExportCSV(ctx context.Context, run *Run, w io.Writer, opt ExportOptions) (Exported, error) {
	cols, err := columnsOf(&run.Info.Schema, opt.Channels)
	if err != nil {
		return Exported{}, err
	}
	var res Exported
	out := bufio.NewWriterSize(w, 1<<16)
	units := make([]string, len(cols))
	for i, c := range cols {
		res.Columns, units[i] = append(res.Columns, c.name), c.unit
	}
	units[0] = "# " + units[0]
	head := csv.NewWriter(out) // its errors show up at the flush
	_ = head.WriteAll([][]string{res.Columns, units})

	it, more, err := run.window(opt.StartTime, opt.EndTime)
	if err != nil {
		return res, err
	}
	var row hil.Row
	var line []byte
	every := uint64(max(1, opt.Decimate))
	for n := uint64(0); more && it.Next(&row); n++ {
		if n%every != 0 {
			continue
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return res, ctx.Err()
		}
		line = line[:0]
		for i, c := range cols {
			if i > 0 {
				line = append(line, ',')
			}
			line = c.append(line, &row, run.wall)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return res, err
		}
		res.Rows++
	}
	if err := it.Err(); err != nil {
		return res, err
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

// column is one column of the CSV.
type column struct {
	name, unit string
	append     func(b []byte, r *hil.Row, wall int64) []byte
}

// columnOf writes a field of a row that is no signal: as in the recording, without quotes. Times have all their digits.
func columnOf(f *rowField) column {
	write := func(b []byte, r *hil.Row, _ int64) []byte {
		at := len(b)
		if b = f.encode(b, r); b[at] == '"' {
			b = append(b[:at], b[at+1:len(b)-1]...)
		}
		return b
	}
	if f.name == "timestamp" {
		write = func(b []byte, r *hil.Row, wall int64) []byte { return appendDecimal(b, r.T+wall, 9) }
	}
	return column{f.name, f.unit, write}
}

// columnsOf finds the columns by name. All unknown names are reported at once.
func columnsOf(s *hil.Schema, want []string) ([]column, error) {
	var all []column
	for i := range rowFields {
		all = append(all, columnOf(&rowFields[i]))
	}
	for i, sig := range s.Signals() {
		all = append(all, column{sig.Name, sig.Unit, func(b []byte, r *hil.Row, _ int64) []byte {
			x := r.X[i]
			if math.IsInf(x, 1) {
				return append(b, "Inf"...) // strconv's "+Inf" is less widely read
			}
			return strconv.AppendFloat(b, x, 'g', -1, 64)
		}})
	}
	var have []string // signals first
	for _, c := range slices.Concat(all[nFixed:], all[1:nFixed]) {
		have = append(have, c.name)
	}
	if want == nil {
		want = append([]string{"seq", "epoch", "mode", "flags", "late_us", "busy_us"}, have[:len(all)-nFixed]...)
	}
	cols := all[:1:1]
	var unknown []string
	for _, name := range want {
		i := slices.IndexFunc(all, func(c column) bool { return c.name == name })
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
