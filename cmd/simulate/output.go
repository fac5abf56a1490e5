package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	"hilrig/cmd/report"
	"hilrig/configs"
)

// Outputs are looked at before anything runs: what cannot be written is better known at once than after the run, and some
// things must not be written over, --force or not. A finished file takes the place of what bears its name, so a device or a
// pipe would be gone, and a run would eat its own description.

// checkOutput tells whether a file of results can be written to path, and the exit code if not. source is what the results
// are made from.
func checkOutput(path string, force bool, source string) (code int, err error) {
	if path == "-" {
		return report.Usage, errors.New("-: standard output carries the report; name a file")
	}
	dir := filepath.Dir(path)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return report.Unavailable, fmt.Errorf("cannot write %s: there is no folder %s", path, dir)
	}
	if _, err := os.Lstat(path); err != nil {
		return report.OK, nil // nothing there
	}
	switch st, err := os.Stat(path); {
	case err != nil: // a link to nowhere
	case st.IsDir():
		return report.Usage, fmt.Errorf("%s is a folder", path)
	case !st.Mode().IsRegular():
		return report.Usage, fmt.Errorf("%s is a device or a pipe; name a file", path)
	case sameFile(path, source):
		return report.Usage, fmt.Errorf("%s is the file to simulate; name another one", path)
	}
	if !force {
		return report.Usage, fmt.Errorf("%s exists; --force writes over it", path)
	}
	return report.OK, nil
}

// spare keeps the files that the run reads from being written over.
func (f *Options) spare(cfg *configs.Simulate) error {
	for _, in := range cfg.Files() {
		for _, out := range []string{f.OutputPath, f.Plot} {
			if out != "" && sameFile(out, in) {
				return fmt.Errorf("%s is an input of the run; name another file", out)
			}
		}
	}
	return nil
}

// output is a file of results; without a path it is not wanted.
type output struct {
	path  string
	write func(io.Writer) error
}

// write writes the files of results, until ctx ends.
func (f *Options) write(ctx context.Context, outputs ...output) error {
	for _, o := range outputs {
		if o.path == "" {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := report.WriteWhole(o.path, f.Force, o.write); err != nil {
			return report.Exitf(report.Unavailable, "simulate: %w", err)
		}
	}
	return nil
}

// files are the paths of the results by what they are.
func (f *Options) files() map[string]string {
	files := map[string]string{"csv": f.OutputPath, "plot": f.Plot, "animation": f.Animate, "events": f.Events, "motion": f.Motion}
	maps.DeleteFunc(files, func(_, path string) bool { return path == "" })
	return files
}

// sameFile tells whether two paths lead to one file that is there.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
