package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hilrig/hil"
)

// ListedRun is a run of a folder.
type ListedRun struct {
	Path            string
	Size            int64 // bytes of all its files
	RecentlyWritten bool  // written to within the last minute
	Tags            []string
	RunSummary
	Err error // why it cannot be read; there is no summary then
}

// ListRuns gives the runs below dir, oldest first.
func ListRuns(dir string) (list []ListedRun, err error) {
	runs, err := listRuns(dir)
	if err != nil {
		return nil, err
	}
	for _, d := range runs {
		l := ListedRun{Path: d.path, Size: d.size, RecentlyWritten: isLive(d.written), Tags: Tags(d.path)}
		var run *Run
		if run, l.Err = OpenRun(d.path); l.Err == nil {
			l.RunSummary, l.Err = run.Summary()
			run.Close()
		}
		list = append(list, l)
	}
	return list, nil
}

// Tags are the words that somebody gave a run, sorted.
func Tags(runDir string) []string {
	text, err := os.ReadFile(filepath.Join(runDir, runTags))
	if err != nil {
		return nil // there are none
	}
	return strings.Fields(string(text))
}

// SetTags gives a run the tags in place of those that it has.
func SetTags(runDir string, tags []string) error {
	if _, err := os.Stat(filepath.Join(runDir, runFile)); err != nil {
		return fmt.Errorf("%s is no run: %w", runDir, bare(err))
	}
	file := filepath.Join(runDir, runTags)
	tags = slices.Compact(slices.Sorted(slices.Values(tags)))
	if len(tags) == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return os.WriteFile(file, []byte(strings.Join(tags, "\n")+"\n"), 0o644)
}

// Errors of a removal.
var (
	ErrNoRun   = errors.New("is no run of its own folder")
	ErrLive    = errors.New("was written to within the last minute: a daemon may be recording it")
	ErrForeign = errors.New("holds files that no recorder made")
)

// RemoveRun removes the folder of a run, but nothing that is not the run's. live: although it may be being recorded.
func RemoveRun(path string, live bool) error {
	path = filepath.Clean(path)
	runs, err := listRuns(filepath.Dir(path))
	if err != nil {
		return err
	}
	i := slices.IndexFunc(runs, func(r runDir) bool { return sameFile(r.path, path) })
	switch {
	case i < 0:
		return fmt.Errorf("%s %w", path, ErrNoRun)
	case runs[i].foreign:
		return fmt.Errorf("%s %w", path, ErrForeign)
	case isLive(runs[i].written) && !live:
		return fmt.Errorf("%s %w", path, ErrLive)
	}
	return removeRun(path)
}

// VerifiedRun is what reading every byte of a run has shown.
type VerifiedRun struct {
	Rows         uint64
	MissingRows  uint64   // rows between the first and the last that are not there
	BackwardRows uint64   // rows that are not behind the one before
	IsCut        bool     // was not closed
	Problems     []string // damaged places, and what else is wrong
}

// IsSound tells whether all that was recorded is there.
func (v *VerifiedRun) IsSound() bool { return len(v.Problems) == 0 }

// Verify reads all rows, events and parameters; every chunk has its checksum. The error is that of ctx.
func (r *Run) Verify(ctx context.Context) (v VerifiedRun, err error) {
	var row, prev hil.Row
	it := r.Iter()
	for ; it.Next(&row); prev = row {
		if v.Rows%1024 == 0 && ctx.Err() != nil {
			return v, ctx.Err()
		}
		switch v.Rows++; {
		case v.Rows == 1 || row.Epoch != prev.Epoch:
		case row.Seq <= prev.Seq || row.T < prev.T:
			v.BackwardRows++
		default:
			v.MissingRows += row.Seq - prev.Seq - 1
		}
	}
	if err := it.Err(); err != nil {
		v.Problems = append(v.Problems, err.Error())
	}
	if _, err := r.Params(); err != nil {
		v.Problems = append(v.Problems, err.Error())
	}
	if _, err := r.Summary(); err != nil {
		v.Problems = append(v.Problems, err.Error())
	}
	if err := r.m.checkData(); err != nil {
		v.Problems = append(v.Problems, err.Error())
	}
	for _, p := range r.Problems() {
		v.Problems = append(v.Problems, p.String())
	}
	if v.MissingRows > 0 {
		v.Problems = append(v.Problems, fmt.Sprintf("%d rows are missing in between", v.MissingRows))
	}
	if v.BackwardRows > 0 {
		v.Problems = append(v.Problems, fmt.Sprintf("%d rows are not behind the one before", v.BackwardRows))
	}
	cut, lost := r.Truncated()
	if v.IsCut = cut; cut {
		v.Problems = append(v.Problems, lost)
	}
	return v, nil
}
