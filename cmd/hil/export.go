package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"hilrig/hil/sink"
)

// exportFlags are what the user chose.
type exportFlags struct {
	out      string
	channels []string
	from, to float64 // s after the first row
	decimate int
	force    bool
}

func newExportCmd() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export RUN -o FILE.csv",
		Short: "Write a recording as CSV",
		Long: `Writes the rows of a recording (its folder or its .mcap file) as CSV: a line of names, a line of units behind "# ", then a
line per tick; timestamp (s since 1970) first, everything in SI. -o - writes to standard output. An existing file is
written over with --force only.`,
		Example: `  hil export runs/2026-11-21T08-30-01Z_motor -o run.csv
  hil export runs/2026-11-21T08-30-01Z_motor -o slip.csv --channels motor.angle,est.velocity --from 2 --to 5
  hil export runs/2026-11-21T08-30-01Z_motor -o - --decimate 100 | head`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("channels") {
				f.channels = nil
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return export(ctx, args[0], f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	fl := c.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "file to write, ending in .csv; - for standard output")
	fl.StringSliceVar(&f.channels, "channels", nil, "columns, separated by commas: signals, or seq, t, mode, cause, flags, late_us …; default: all signals")
	fl.Float64Var(&f.from, "from", 0, "begin this many seconds after the first row")
	fl.Float64Var(&f.to, "to", 0, "end this many seconds after the first row; 0: to the end")
	fl.IntVar(&f.decimate, "decimate", 1, "keep every n-th row (no filter against aliasing)")
	fl.BoolVar(&f.force, "force", false, "write over an existing file")
	return c
}

// export checks what was asked before it touches anything, then writes a temporary file and renames it.
func export(ctx context.Context, path string, f exportFlags, stdout, stderr io.Writer) error {
	switch {
	case f.out == "":
		return exitWith(exitUsage, errors.New("export: say where to: -o FILE.csv, or -o - for standard output"))
	case f.out != "-" && strings.ToLower(filepath.Ext(f.out)) != ".csv":
		return exitWith(exitUsage, fmt.Errorf("export: %s: only .csv can be written so far (the recording itself, run.mcap, opens in Foxglove, Lichtblick and PlotJuggler)", f.out))
	case f.decimate < 1:
		return exitWith(exitUsage, fmt.Errorf("export: --decimate %d, want 1 or more", f.decimate))
	case !(f.from >= 0) || f.to != 0 && !(f.to > f.from):
		return exitWith(exitUsage, fmt.Errorf("export: --from %g --to %g, want 0 ≤ from < to, in seconds after the first row", f.from, f.to))
	}
	if f.out != "-" && !f.force {
		if _, err := os.Lstat(f.out); err == nil {
			return exitWith(exitUsage, fmt.Errorf("export: %s exists; --force writes over it", f.out))
		}
	}
	run, err := sink.OpenRun(path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return exitWith(exitUnavailable, err)
		}
		return exitWith(exitInvalid, err)
	}
	defer run.Close()

	opt := sink.ExportOptions{Channels: f.channels, From: f.from, To: f.to, Every: f.decimate}
	var res sink.Exported
	if f.out == "-" {
		out := bufio.NewWriter(stdout)
		if res, err = sink.ExportCSV(ctx, run, out, opt); err == nil {
			err = out.Flush()
		}
		if err == nil && res.Rows == 0 {
			err = exitWith(exitInvalid, fmt.Errorf("export: %s has no rows between --from and --to", run.Path))
		}
	} else {
		res, err = exportFile(ctx, run, f, opt)
	}

	// what could not be read is said even when the rest was written
	if cut, lost := run.Truncated(); cut {
		fmt.Fprintf(stderr, "warning: %s: %s\n", run.Path, lost)
	}
	for _, p := range run.Problems() {
		fmt.Fprintf(stderr, "warning: %s: %s\n", run.Path, p)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return exitWith(exitInterrupted, fmt.Errorf("export: interrupted; %s is not complete", f.out))
	case errors.Is(err, syscall.EPIPE):
		return nil // head has seen enough
	case errors.Is(err, sink.ErrChannel):
		return exitWith(exitUsage, fmt.Errorf("export: %s: %w", run.Path, err))
	case err != nil:
		return err
	case f.out != "-":
		fmt.Fprintf(stderr, "%s: %d rows, %d columns\n", f.out, res.Rows, len(res.Columns))
	}
	return nil
}

// exportFile writes to a temporary file beside the wanted one, which appears whole or not at all.
func exportFile(ctx context.Context, run *sink.Run, f exportFlags, opt sink.ExportOptions) (res sink.Exported, err error) {
	tmp, err := os.CreateTemp(filepath.Dir(f.out), ".hil-export-*")
	if err != nil {
		return res, exitWith(exitUnavailable, fmt.Errorf("export: cannot write beside %s: %w", f.out, err))
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	defer tmp.Close()
	if res, err = sink.ExportCSV(ctx, run, tmp, opt); err != nil {
		var pe *fs.PathError
		switch {
		case errors.Is(err, context.Canceled), errors.Is(err, sink.ErrChannel):
			return res, err
		case errors.As(err, &pe) && pe.Path == tmp.Name():
			return res, exitWith(exitUnavailable, fmt.Errorf("export: write %s: %w", f.out, pe.Err))
		}
		return res, exitWith(exitInvalid, fmt.Errorf("export: %w", err))
	}
	if res.Rows == 0 {
		return res, exitWith(exitInvalid, fmt.Errorf("export: %s has no rows between --from and --to; %s was not written", run.Path, f.out))
	}
	if err = tmp.Chmod(0o644); err == nil {
		err = tmp.Sync()
	}
	if err == nil {
		err = tmp.Close()
	}
	if err == nil {
		err = place(tmp.Name(), f.out, f.force)
	}
	if err != nil {
		return res, exitWith(exitUnavailable, fmt.Errorf("export: write %s: %w", f.out, err))
	}
	return res, nil
}
