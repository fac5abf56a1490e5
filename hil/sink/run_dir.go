package sink

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A run is a folder with these files; that of the tags is there when it has some.
const (
	runFile   = "run.mcap"
	runConfig = "run.yaml"
	runTags   = "run.tags"
)

// FitDir is the folder below that of a run for results of fits beside the loop and what these keep.
const FitDir = "identify"

// KeepTag keeps a run from being pruned.
const KeepTag = "keep"

const runTime = "2006-01-02T15-04-05Z" // UTC; colons would not do on every file system

// dryRun is behind the name of the rig where nothing was sent to it: there is nothing to identify in such a run.
const dryRun = "_dry-run"

// makeRunDir makes a new folder dir/<start>_<rig>, with "-2", "-3" … when it exists.
func makeRunDir(dir string, start time.Time, rig string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	base := filepath.Join(dir, start.UTC().Format(runTime)+"_"+fileName(rig))
	for n := 1; n < 10000; n++ {
		path := base
		if n > 1 {
			path += "-" + strconv.Itoa(n)
		}
		err := os.Mkdir(path, 0o755)
		if err == nil {
			syncDir(dir)
			return path, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("%s and 9998 more of that name exist already", base)
}

// fileName keeps what every file system takes and replaces the rest.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, s)
	if s == "" {
		return "rig"
	}
	return s[:min(len(s), 64)]
}

// writeNew writes a file that must not exist yet and brings it to the disk.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	return cmp.Or(err, f.Close())
}

// syncDir makes a new name in a folder survive a power cut, where the system can do that.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // not every system syncs folders; the data itself is synced on its own
		d.Close()
	}
}

// bare strips the operation and the path from an error of os; the message around it names the path once.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// liveFor keeps runs that were written to a moment ago: another daemon may be recording them.
const liveFor = time.Minute

// Pruned is what Prune did.
type Pruned struct {
	Removed    []string // folders that are gone, oldest first
	Foreign    []string // folders over the limit that hold files of somebody else and were left alone
	TaggedRuns []string // folders over the limit that are tagged to be kept
	Bytes      int64    // size of all runs that remain
}

// Prune removes the oldest runs below dir until all runs together take at most keep bytes; 0 keeps all. It removes whole
// runs only: never current, never one written to within the last minute, never one with the tag keep, never a folder that
// holds anything but a run's own files, and nothing whose name is not that of a run.
func Prune(dir string, keep int64, current string) (Pruned, error) {
	return prune(dir, keep, current, removeRun)
}

// PrunePlan is what Prune would do.
func PrunePlan(dir string, keep int64) (Pruned, error) {
	return prune(dir, keep, "", func(string) error { return nil })
}

func prune(dir string, keep int64, current string, remove func(path string) error) (Pruned, error) {
	var p Pruned
	runs, err := listRuns(dir)
	if err != nil {
		return p, fmt.Errorf("prune %s: %w", dir, err)
	}
	for _, r := range runs {
		p.Bytes += r.size
	}
	if keep <= 0 {
		return p, nil
	}
	var errs []error
	for _, r := range runs {
		if p.Bytes <= keep {
			break
		}
		switch {
		case sameFile(r.path, current) || isLive(r.written):
			continue
		case slices.Contains(Tags(r.path), KeepTag):
			p.TaggedRuns = append(p.TaggedRuns, r.path)
			continue
		case r.foreign:
			p.Foreign = append(p.Foreign, r.path)
			continue
		}
		if err := remove(r.path); err != nil {
			errs = append(errs, fmt.Errorf("prune: %w", err))
			continue
		}
		p.Bytes -= r.size
		p.Removed = append(p.Removed, r.path)
	}
	return p, errors.Join(errs...)
}

// runDir is a run as Prune sees it.
type runDir struct {
	path    string
	key     string // sorts by start
	n       int    // and then by the number behind the name
	size    int64  // bytes of all files
	written time.Time
	foreign bool // holds files that no recorder made
}

var runName = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ)_.*?(?:-(\d+))?$`)

// listRuns finds the runs below dir, oldest first.
func listRuns(dir string) ([]runDir, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var runs []runDir
	for _, e := range entries {
		name := runName.FindStringSubmatch(e.Name())
		if !e.IsDir() || name == nil {
			continue
		}
		r := runDir{path: filepath.Join(dir, e.Name()), key: name[1]}
		r.n, _ = strconv.Atoi(name[2])
		recording := false
		err := filepath.WalkDir(r.path, func(file string, e fs.DirEntry, err error) error {
			if err != nil || file == r.path {
				return err
			}
			name, _ := filepath.Rel(r.path, file)
			info, err := e.Info()
			switch {
			case err != nil: // gone in the meantime
			case e.IsDir():
				r.foreign = r.foreign || name != FitDir
			default:
				r.size += info.Size()
				if name != runTags && info.ModTime().After(r.written) {
					r.written = info.ModTime()
				}
				recording = recording || name == runFile
				r.foreign = r.foreign || !slices.ContainsFunc(ownFiles, func(own string) bool { ok, _ := filepath.Match(own, name); return ok })
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if recording {
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b runDir) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.n, b.n), cmp.Compare(a.path, b.path))
	})
	return runs, nil
}

// ownFiles are all that a folder of a run holds.
var ownFiles = []string{runFile, runConfig, runTags, filepath.Join(FitDir, "*.json")}

// removeRun removes the own files by name and then the folders, which fails rather than take anything else with it.
func removeRun(path string) error {
	for _, own := range append(ownFiles, FitDir) {
		files, _ := filepath.Glob(filepath.Join(escapeGlob(path), own))
		for _, f := range files {
			if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return os.Remove(path)
}

// escapeGlob is a path whose own signs stand for themselves in a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// isLive: a daemon may be recording there.
func isLive(written time.Time) bool { return time.Since(written) < liveFor }

func sameFile(a, b string) bool {
	ia, err1 := os.Stat(a)
	ib, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(ia, ib)
}
