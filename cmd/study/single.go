package study

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hilrig/cmd/report"
)

// single is a study that is one computation: no runs, no tasks, no folder but for its figures.
type single struct {
	name    string
	takes   []string // flags
	draws   string   // what --plot draws
	compute func(ctx context.Context, f Options) (singleResult, error)
}

// singleResult is what it finds; as JSON it is the value itself.
type singleResult interface {
	print(w io.Writer)
	figures() ([]namedFigure, error)
	setFigures(paths []string) // takes the names of the figures in
}

// singles are the studies of this kind.
var singles = []single{rollingStudy, beamStudy}

// findSingle is that of a name; nil: there is none.
func findSingle(name string) *single {
	for i := range singles {
		if singles[i].name == name {
			return &singles[i]
		}
	}
	return nil
}

// run is hil study with its name.
func (s *single) run(ctx context.Context, interrupted func() bool, f Options, stdout, stderr io.Writer) error {
	for _, flag := range wholeFlags {
		if f.Changed(flag) && !slices.Contains(s.takes, flag) {
			return report.Exitf(report.Usage, "study: --%s is for studies that vary parameters; %s has --%s", flag, s.name,
				strings.Join(s.takes, ", --"))
		}
	}
	bar := report.NewProgress(stderr)
	bar.Watch(report.Stage{Method: "study", Phase: s.name})
	r, err := s.compute(ctx, f)
	bar.Finish()
	if err != nil {
		if interrupted() {
			return report.Exitf(report.Interrupted, "study: interrupted; nothing was written")
		}
		return report.Exitf(report.Internal, "study: %w", err)
	}
	var paths []string
	if f.Plot {
		dir := cmp.Or(f.OutputFolder, filepath.Join("runs", s.name))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return report.Exitf(report.Unavailable, "study: %w", err)
		}
		figures, err := r.figures()
		if err != nil {
			return report.Exitf(report.Internal, "study: %w", err)
		}
		if paths, err = writeFigures(dir, figures); err != nil {
			return err
		}
		r.setFigures(paths)
	}
	if f.Json {
		return report.EncodeJSON(stdout, r)
	}
	r.print(stdout)
	if !f.Plot {
		fmt.Fprintf(stdout, "\nnext: %s\n", report.AsStarted("hil study "+s.name+" --plot      draws "+s.draws))
	} else {
		fmt.Fprintf(stdout, "\n%d figures, each as SVG and PNG, in %s\n", len(paths)/2, filepath.Dir(paths[0]))
	}
	return nil
}
