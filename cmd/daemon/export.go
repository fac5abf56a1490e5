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

	"hilrig/cmd/report"
	"hilrig/hil/sink"
)

// ExportOptions are what the user chose.
type ExportOptions struct {
	Output             string
	Channels           []string
	StartTime, EndTime float64 // s after the first row
	Decimate           int
	Force              bool
}

// Export checks what was asked before it touches anything, then writes a temporary file and renames it.
func Export(ctx context.Context, path string, f ExportOptions, stdout, stderr io.Writer) error {
	switch {
	case f.Output == "":
		return report.ExitWith(report.Usage, errors.New("export: say where to: -o FILE.csv, or -o - for standard output"))
	case f.Output != "-" && strings.ToLower(filepath.Ext(f.Output)) != ".csv":
		return report.ExitWith(report.Usage, fmt.Errorf("export: %s: only .csv can be written so far (the recording itself, run.mcap, opens in "+
			"Foxglove, Lichtblick and PlotJuggler)", f.Output))
	case f.Decimate < 1:
		return report.ExitWith(report.Usage, fmt.Errorf("export: --decimate %d, want 1 or more", f.Decimate))
	case !(f.StartTime >= 0) || f.EndTime != 0 && !(f.EndTime > f.StartTime):
		return report.ExitWith(report.Usage, fmt.Errorf("export: --from %g --to %g, want 0 ≤ from < to, in seconds after the first row",
			f.StartTime, f.EndTime))
	}
	if f.Output != "-" && !f.Force {
		if _, err := os.Lstat(f.Output); err == nil {
			return report.ExitWith(report.Usage, fmt.Errorf("export: %s exists; --force writes over it", f.Output))
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
	var res sink.Exported
	if f.Output == "-" {
		out := bufio.NewWriter(stdout)
		if res, err = sink.ExportCSV(ctx, run, out, opt); err == nil {
			err = out.Flush()
		}
		if err == nil && res.Rows == 0 {
			err = report.ExitWith(report.Invalid, fmt.Errorf("export: %s has no rows between --from and --to", run.Path))
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
		return report.ExitWith(report.Interrupted, fmt.Errorf("export: interrupted; %s is not complete", f.Output))
	case errors.Is(err, syscall.EPIPE):
		return nil // head has seen enough
	case errors.Is(err, sink.ErrChannel):
		return report.ExitWith(report.Usage, fmt.Errorf("export: %s: %w", run.Path, err))
	case err != nil:
		return err
	case f.Output != "-":
		fmt.Fprintf(stderr, "%s: %d rows, %d columns\n", f.Output, res.Rows, len(res.Columns))
	}
	return nil
}

// exportFile writes to a temporary file beside the wanted one, which appears whole or not at all.
func exportFile(ctx context.Context, run *sink.Run, f ExportOptions, opt sink.ExportOptions) (res sink.Exported, err error) {
	tmp, err := os.CreateTemp(filepath.Dir(f.Output), ".hil-export-*")
	if err != nil {
		return res, report.ExitWith(report.Unavailable, fmt.Errorf("export: cannot write beside %s: %w", f.Output, err))
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	defer tmp.Close()
	if res, err = sink.ExportCSV(ctx, run, tmp, opt); err != nil {
		var pe *fs.PathError
		switch {
		case errors.Is(err, context.Canceled), errors.Is(err, sink.ErrChannel):
			return res, err
		case errors.As(err, &pe) && pe.Path == tmp.Name():
			return res, report.ExitWith(report.Unavailable, fmt.Errorf("export: write %s: %w", f.Output, pe.Err))
		}
		return res, report.ExitWith(report.Invalid, fmt.Errorf("export: %w", err))
	}
	if res.Rows == 0 {
		return res, report.ExitWith(report.Invalid, fmt.Errorf("export: %s has no rows between --from and --to; %s was not written", run.Path,
			f.Output))
	}
	if err = tmp.Chmod(0o644); err == nil {
		err = tmp.Sync()
	}
	if err == nil {
		err = tmp.Close()
	}
	if err == nil {
		err = report.Place(tmp.Name(), f.Output, f.Force)
	}
	if err != nil {
		return res, report.ExitWith(report.Unavailable, fmt.Errorf("export: write %s: %w", f.Output, err))
	}
	return res, nil
}
