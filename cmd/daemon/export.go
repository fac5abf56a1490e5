package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"hilrig/cmd/report"
	"hilrig/cmd/table"
	"hilrig/hil"
	"hilrig/hil/sink"
)

// ExportHelp is the help of hil export.
var ExportHelp = `Writes the rows of a recording (its folder or its .mcap file) as a table, everything in SI. The ending of FILE says how:

  .csv       a line of names, a line of units behind "# ", then a line per tick; timestamp (s since 1970) first
  .mat       for MATLAB and Octave: a variable for each signal, motor_angle for motor.angle; time in s after the first row
  .parquet   for pandas, Polars, DuckDB: timestamp as UTC to the ns; units in the metadata

-o - writes CSV to standard output. An existing file is written over with --force only.`

// ExportOptions are what the user chose.
type ExportOptions struct {
	report.Output
	Path               string // "-": CSV on standard output
	Channels           []string
	StartTime, EndTime float64 // s after the first row
	Decimate           int
	Force              bool
}

// Flags are those of hil export.
func (f *ExportOptions) Flags(fl *pflag.FlagSet) {
	f.Output.Flags(fl)
	fl.StringVarP(&f.Path, "output", "o", "", "file to write, ending in "+table.Endings()+"; - for CSV on standard output")
	fl.StringSliceVar(&f.Channels, "channels", nil, "columns, separated by commas: signals, or seq, t, mode, cause, flags, late_us …; "+
		"default: all signals")
	fl.Var(report.Seconds(&f.StartTime), "from", "begin this long after the first row, such as 2s or 1m30s")
	fl.Var(report.Seconds(&f.EndTime), "to", "end this long after the first row; 0: to the end")
	fl.IntVar(&f.Decimate, "decimate", 1, "keep every n-th row (no filter against aliasing)")
	fl.BoolVar(&f.Force, "force", false, "write over an existing file")
}

// exported is the answer of hil export.
type exported struct {
	Run      string   `json:"run"`
	File     string   `json:"file"`
	Rows     uint64   `json:"rows"`
	Columns  []string `json:"columns"`
	Warnings []string `json:"warnings"`
}

var errNoRows = errors.New("no rows between --from and --to")

// Export checks what was asked before it touches anything, then writes a temporary file and renames it.
func Export(ctx context.Context, path string, f ExportOptions) error {
	format, known := table.FormatOf(f.Path)
	switch csv := f.Path == "-" || strings.ToLower(filepath.Ext(f.Path)) == ".csv"; {
	case f.Path == "":
		return report.ExitWith(report.Usage, fmt.Errorf("export: say where to: -o FILE that ends in %s, or -o - for standard output",
			table.Endings()))
	case !csv && !known:
		return report.ExitWith(report.Usage, fmt.Errorf("export: %s: want a file that ends in %s (the recording itself, run.mcap, opens in "+
			"Foxglove, Lichtblick and PlotJuggler)", f.Path, table.Endings()))
	case f.Path == "-" && f.JSON:
		return report.ExitWith(report.Usage, errors.New("export: -o - and --json exclude each other: both write to standard output"))
	case f.Decimate < 1:
		return report.ExitWith(report.Usage, fmt.Errorf("export: --decimate %d, want 1 or more", f.Decimate))
	case !(f.StartTime >= 0) || f.EndTime != 0 && !(f.EndTime > f.StartTime):
		return report.ExitWith(report.Usage, fmt.Errorf("export: --from %g --to %g, want 0 ≤ from < to, in seconds after the first row",
			f.StartTime, f.EndTime))
	}
	if f.Path != "-" && !f.Force {
		if _, err := os.Lstat(f.Path); err == nil {
			return report.ExitWith(report.Usage, fmt.Errorf("export: %s exists; --force writes over it", f.Path))
		}
	}
	run, err := sink.OpenRun(path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return report.ExitWith(report.Unavailable, err)
		}
		return report.ExitWith(report.Invalid, err)
	}
	defer run.Close()

	opt := sink.ExportOptions{Channels: f.Channels, StartTime: f.StartTime, EndTime: f.EndTime, Decimate: f.Decimate}
	seen := f.Stderr
	if f.Path == "-" { // the terminal may show the rows themselves
		seen = io.Discard
	}
	bar := report.NewProgress(seen)
	defer bar.Finish()
	bar.Watch(report.Stage{Method: "export", Note: f.Path})
	answer := exported{Run: run.Path, File: f.Path, Warnings: []string{}}
	write := func(w io.Writer) error {
		var res sink.Exported
		var err error
		if known {
			res, err = exportTable(ctx, run, w, opt, format, alongRun(bar, "export", run))
		} else {
			res, err = sink.ExportCSV(ctx, run, w, opt)
		}
		answer.Rows, answer.Columns = res.Rows, res.Columns
		if err == nil && res.Rows == 0 {
			err = errNoRows
		}
		return err
	}
	if f.Path == "-" {
		out := bufio.NewWriter(f.Stdout)
		if err = write(out); err == nil {
			err = out.Flush()
		}
	} else {
		err = report.WriteWhole(f.Path, f.Force, write)
	}

	bar.Finish()
	// what could not be read is said even when the rest was written
	if cut, lost := run.Truncated(); cut {
		answer.Warnings = append(answer.Warnings, lost)
	}
	for _, p := range run.Problems() {
		answer.Warnings = append(answer.Warnings, p.String())
	}
	for _, text := range answer.Warnings {
		fmt.Fprintf(f.Stderr, "warning: %s: %s\n", run.Path, text)
	}
	var own *fs.PathError
	switch {
	case errors.Is(err, context.Canceled):
		return report.ExitWith(report.Interrupted, fmt.Errorf("export: interrupted; %s is not complete", f.Path))
	case errors.Is(err, syscall.EPIPE):
		return nil // head has seen enough
	case errors.Is(err, sink.ErrChannel):
		return report.ExitWith(report.Usage, fmt.Errorf("export: %s: %w", run.Path, err))
	case errors.Is(err, errNoRows):
		return report.ExitWith(report.Invalid, fmt.Errorf("export: %s has %w; nothing was written", run.Path, errNoRows))
	case report.ExitCode(err) == report.Internal && (errors.As(err, &own) && own.Path != run.Path || errors.Is(err, fs.ErrExist)):
		return report.ExitWith(report.Unavailable, fmt.Errorf("export: %w", err))
	case report.ExitCode(err) == report.Internal:
		return report.ExitWith(report.Invalid, fmt.Errorf("export: %w", err))
	case err != nil || f.Path == "-":
		return err
	}
	return f.Give(answer, func(io.Writer) {
		fmt.Fprintf(f.Stderr, "%s: %d rows, %d columns\n", f.Path, answer.Rows, len(answer.Columns))
	})
}

// alongRun shows how far the rows of a run are read, by their times.
func alongRun(bar *report.Progress, verb string, run *sink.Run) func(*hil.Row) {
	first, last, err := run.Span()
	begin, rows := int64(0), 0
	return func(row *hil.Row) {
		if rows++; rows == 1 {
			begin = row.T
		}
		if err == nil && rows%1000 == 1 {
			bar.Watch(report.Stage{Method: verb, Phase: "t in ms", Step: int((row.T - begin) / 1e6), StepCount: int(last.Sub(first).Milliseconds())})
		}
	}
}

// exportTable writes what was chosen of a run in a format of tables.
func exportTable(ctx context.Context, run *sink.Run, w io.Writer, opt sink.ExportOptions, format table.Format,
	watch func(*hil.Row)) (res sink.Exported, err error) {
	e, err := run.Export(opt)
	if err != nil {
		return res, err
	}
	kinds := map[string]table.ColumnKind{"integer": table.Integer, "string": table.Text, "time": table.Time}
	t := table.Table{Title: run.Info.Schema.Rig}
	for _, c := range e.Columns {
		t.Columns = append(t.Columns, table.Column{Name: c.Name, Unit: c.Unit, Kind: kinds[c.Kind]})
		res.Columns = append(res.Columns, c.Name)
	}
	cells := make([]table.Cell, len(t.Columns))
	t.Rows = func(yield func([]table.Cell, error) bool) {
		for row, err := range e.Rows(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			watch(row)
			for i, c := range t.Columns {
				fillCell(&cells[i], c.Kind, e, i, row)
			}
			if res.Rows++; !yield(cells, nil) {
				return
			}
		}
	}
	return res, format.Write(w, &t)
}

func fillCell(c *table.Cell, kind table.ColumnKind, e *sink.Export, column int, row *hil.Row) {
	switch kind {
	case table.Number:
		c.X = e.Number(column, row)
	case table.Integer:
		c.N = int64(e.Number(column, row))
	case table.Text:
		c.S = e.Text(column, row)
	case table.Time:
		c.N = e.Nanoseconds(row)
	}
}
