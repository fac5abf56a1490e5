// Package recordings keeps the folder of recordings: hil runs.
package recordings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"hilrig/cmd/report"
	"hilrig/configs/schema"
	"hilrig/engine/spelling"
	"hilrig/hil/sink"
)

// Folder is where hil run records if the rig file names no other one.
const Folder = "runs"

// FolderOptions are what the user chose.
type FolderOptions struct {
	report.Output
	untag, force, dryRun bool
	keepText             string
}

// anyNumber of arguments.
const anyNumber = 1 << 30

// Verb is hil runs, or a verb below it.
type Verb struct {
	Use, Short, Description, Example string
	MinArgs, MaxArgs                 int
	Flags                            []string
	Do                               func(ctx context.Context, args []string, o FolderOptions) error
}

// AddFlags adds --json and those of the verb.
func (o *FolderOptions) AddFlags(fl *pflag.FlagSet, names ...string) {
	o.Output.Flags(fl)
	all := pflag.NewFlagSet("runs", pflag.ContinueOnError)
	all.BoolVar(&o.untag, "remove", false, "take the tags away")
	all.BoolVar(&o.force, "force", false, "also runs that were written to within the last minute")
	all.BoolVar(&o.dryRun, "dry-run", false, "say what would be removed, and remove nothing")
	all.StringVar(&o.keepText, "keep", "", "how much may stay, such as 20 GB")
	for _, name := range names {
		fl.AddFlag(all.Lookup(name))
	}
}

// Whole is hil runs itself: a list.
var Whole = Verb{
	Use:   "runs [DIR]",
	Short: "The recordings of a folder: list, tag, verify, remove",
	Description: `Lists the recordings below DIR, oldest first: when, how long, how long the rig ran, trips, warnings, what fits
beside the loop said, size, tags. DIR is runs if it is left out.

A folder of runs in place of a run, as in hil identify runs, is the newest run in it that can be identified: one with rows, in which the rig ran.
What is newer and was passed over is said. Only where there is none, a dry run or a run that never ran is taken.

The tag keep keeps a run from being pruned, also by record.keep of a rig file.`,
	Example: "  hil runs\n  hil runs --json\n  hil runs tag runs/2026-11-21T08-30-01Z_motor keep new-bearing\n" +
		"  hil runs verify runs/2026-11-21T08-30-01Z_motor\n  hil runs prune --keep \"20 GB\" --dry-run",
	MaxArgs: 1, Do: list,
}

// Below are the verbs below hil runs.
var Below = []Verb{{
	Use: "list [DIR]", Short: "The same list", MaxArgs: 1, Do: list,
}, {
	Use: "tag RUN TAG...", Short: "Give a run tags, or take them away with --remove", MinArgs: 2, MaxArgs: anyNumber, Flags: []string{"remove"},
	Description: `Tags are words without spaces. They stand in run.tags in the folder of the run, a line each. The tag keep keeps a run
from being pruned.`,
	Do: tag,
}, {
	Use: "remove RUN...", Short: "Remove runs", MinArgs: 1, MaxArgs: anyNumber, Flags: []string{"force"},
	Description: `Removes the folders of runs. A folder that holds anything that is not the run's stays as it is, and so does a run that was
written to within the last minute, unless --force says otherwise. What can be removed is removed, whatever becomes of the others.`,
	Do: remove,
}, {
	Use: "verify RUN...", Short: "Read runs to the last byte and say what is damaged or missing", MinArgs: 1, MaxArgs: anyNumber,
	Description: `Reads every chunk with its checksum, and every row. Says what is damaged, rows that are missing, and whether the run was
closed. What can be read of a damaged run is read by all verbs. A folder of runs stands for all runs in it.`,
	Do: verify,
}, {
	Use: "prune [DIR] --keep SIZE", Short: "Remove the oldest runs until the rest fits", MaxArgs: 1, Flags: []string{"keep", "dry-run"},
	Description: `Removes the oldest runs until all together take at most this much. Runs with the tag keep, runs that were written to within
the last minute, and folders that hold files of somebody else stay, and count.`,
	Example: "  hil runs prune --keep \"20 GB\" --dry-run", Do: prune,
}}

// listed is a run as JSON.
type listed struct {
	Run             string     `json:"run"`
	Rig             string     `json:"rig,omitempty"`
	Start           *time.Time `json:"start,omitempty"`
	State           string     `json:"state"` // ran, recorded (there is nothing to drive), never ran, dry run, empty, unreadable
	Duration        float64    `json:"duration_s"`
	RunTime         float64    `json:"run_s"` // in mode RUN
	EndMode         string     `json:"end_mode,omitempty"`
	Trips           int        `json:"trips"`
	TripCause       string     `json:"trip_cause,omitempty"`
	Warnings        int        `json:"warnings"`
	Errors          int        `json:"errors"`
	Verdicts        []string   `json:"verdicts"`
	WasClosed       bool       `json:"closed"`
	RecentlyWritten bool       `json:"live"` // written to within the last minute
	Size            int64      `json:"bytes"`
	Tags            []string   `json:"tags"`
	Problem         string     `json:"problem,omitempty"` // why it cannot be read
}

func listedOf(r *sink.ListedRun) listed {
	l := listed{Run: r.Path, Size: r.Size, RecentlyWritten: r.RecentlyWritten, Tags: orEmpty(r.Tags), Verdicts: orEmpty(r.Verdicts), State: "unreadable"}
	if r.Err != nil {
		l.Problem = r.Err.Error()
		return l
	}
	start := r.Info.Start.UTC()
	l.Rig, l.Start, l.State = r.Info.Schema.Rig, &start, r.State()
	l.Duration, l.RunTime = r.Duration.Seconds(), r.RunTime.Seconds()
	l.Trips, l.TripCause, l.Warnings, l.Errors, l.WasClosed = r.Trips, r.TripCause, r.Warnings, r.Errors, !r.IsCut
	if r.Rows {
		l.EndMode = r.EndMode.String()
	}
	return l
}

func orEmpty(texts []string) []string { return append([]string{}, texts...) }

// folderOf is the folder of runs that the user named, or the usual one, which need not be there yet.
func folderOf(args []string) (string, error) {
	dir := cmp.Or(append(args, "")[0], Folder)
	if st, err := os.Stat(dir); err == nil && !st.IsDir() {
		return dir, report.Exitf(report.Invalid, "runs: %s is no folder; want one with runs in it", dir)
	} else if err != nil && len(args) > 0 {
		for _, verb := range []string{"list", "tag", "remove", "verify", "prune"} {
			if spelling.Nearest(dir, []string{verb}) != "" {
				return dir, report.Exitf(report.Invalid, "runs: there is no folder %s; did you mean hil runs %s?", dir, verb)
			}
		}
		return dir, report.Exitf(report.Invalid, "runs: %w", err)
	}
	return dir, nil
}

func list(_ context.Context, args []string, o FolderOptions) error {
	run := ""
	if file, ok := sink.FindRun(append(args, "")[0]); ok && (file == args[0] || filepath.Dir(file) == filepath.Clean(args[0])) {
		run = filepath.Dir(file) // itself, not a folder of them
		args = []string{filepath.Dir(run)}
	}
	dir, err := folderOf(args)
	if err != nil {
		return err
	}
	found, err := sink.ListRuns(dir)
	if err != nil {
		return report.ExitWith(report.Unavailable, fmt.Errorf("runs: %w", err))
	}
	if run != "" {
		found = slices.DeleteFunc(found, func(r sink.ListedRun) bool { return r.Path != run })
	}
	answer := struct {
		Dir   string   `json:"dir"`
		Runs  []listed `json:"runs"`
		Bytes int64    `json:"bytes"`
	}{Dir: dir, Runs: []listed{}}
	for i := range found {
		answer.Runs = append(answer.Runs, listedOf(&found[i]))
		answer.Bytes += found[i].Size
	}
	return o.Give(answer, func(w io.Writer) {
		if len(found) == 0 {
			fmt.Fprintln(w, report.AsStarted("no run in "+dir+"; hil run makes one"))
			return
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "run\tduration\tran\tstate\tsize\ttags")
		for _, l := range answer.Runs {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", filepath.Base(l.Run), report.Span(l.Duration), report.Span(l.RunTime), l.text(),
				report.Bytes(l.Size), strings.Join(l.Tags, " "))
		}
		t.Flush()
		fmt.Fprintf(w, "%s, %s\n", report.CountOf(len(found), "run"), report.Bytes(answer.Bytes))
	})
}

// text is what there is to know of a run in a few words.
func (l *listed) text() string {
	parts := []string{l.State}
	if l.Trips > 0 {
		parts[0] = "tripped: " + l.TripCause
		if l.Trips > 1 {
			parts[0] = fmt.Sprintf("tripped %d times, last: %s", l.Trips, l.TripCause)
		}
	}
	if l.Problem != "" {
		parts = append(parts, l.Problem)
	}
	if n := l.Warnings; n > 0 {
		parts = append(parts, report.CountOf(n, "warning"))
	}
	if n := l.Errors - l.Trips; n > 0 {
		parts = append(parts, report.CountOf(n, "error"))
	}
	if len(l.Verdicts) > 0 {
		parts = append(parts, l.Verdicts[len(l.Verdicts)-1])
	}
	switch {
	case l.Problem != "" || l.WasClosed:
	case l.RecentlyWritten:
		parts = append(parts, "being recorded")
	default:
		parts = append(parts, "not closed")
	}
	return strings.Join(parts, "; ")
}

// pathOf is the folder of a run that is named by its path, its file or its name below runs.
func pathOf(name string) string {
	if _, err := os.Stat(name); err != nil {
		if below := filepath.Join(Folder, name); exists(below) {
			name = below
		}
	}
	if strings.EqualFold(filepath.Ext(name), ".mcap") {
		return filepath.Dir(name)
	}
	return filepath.Clean(name)
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func tag(_ context.Context, args []string, o FolderOptions) error {
	run, words := pathOf(args[0]), args[1:]
	for _, word := range words {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' }) {
			return report.ExitWith(report.Usage, fmt.Errorf("runs tag: %q: a tag is a word without spaces", word))
		}
	}
	tags := sink.Tags(run)
	if o.untag {
		tags = slices.DeleteFunc(tags, func(t string) bool { return slices.Contains(words, t) })
	} else {
		tags = append(tags, words...)
	}
	if err := sink.SetTags(run, tags); err != nil {
		return report.ExitWith(codeOf(err), fmt.Errorf("runs tag: %w", err))
	}
	answer := struct {
		Run  string   `json:"run"`
		Tags []string `json:"tags"`
	}{run, orEmpty(sink.Tags(run))}
	return o.Give(answer, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", run, cmp.Or(strings.Join(answer.Tags, " "), "no tags")) })
}

// codeOf tells a file that is not there, or is no run, from one that may not be touched.
func codeOf(err error) int {
	if errors.Is(err, fs.ErrPermission) {
		return report.Unavailable
	}
	return report.Invalid
}

func remove(_ context.Context, args []string, o FolderOptions) error {
	answer := struct {
		Removed     []string `json:"removed"`
		RefusedRuns []string `json:"kept"` // and why
	}{[]string{}, []string{}}
	code := report.OK
	for _, name := range args {
		run := pathOf(name)
		err := fmt.Errorf("%s is no run: there is no such folder", run)
		if exists(run) {
			err = sink.RemoveRun(run, o.force)
		}
		if err != nil {
			answer.RefusedRuns, code = append(answer.RefusedRuns, err.Error()), max(code, codeOf(err))
			continue
		}
		answer.Removed = append(answer.Removed, run)
	}
	err := o.Give(answer, func(w io.Writer) {
		for _, run := range answer.Removed {
			fmt.Fprintf(w, "removed %s\n", run)
		}
	})
	if code != report.OK {
		return report.ExitWith(code, fmt.Errorf("runs remove: %s", strings.Join(answer.RefusedRuns, "\n     ")))
	}
	return err
}

// verified is what a run turned out to be.
type verified struct {
	Run         string   `json:"run"`
	IsSound     bool     `json:"sound"`
	Rows        uint64   `json:"rows"`
	MissingRows uint64   `json:"missing_rows"`
	Problems    []string `json:"problems"`
}

func verify(ctx context.Context, args []string, o FolderOptions) error {
	var paths []string
	for _, name := range args {
		path := pathOf(name)
		if below, err := sink.ListRuns(path); err == nil && len(below) > 0 {
			for _, r := range below {
				paths = append(paths, r.Path)
			}
			continue
		}
		paths = append(paths, path)
	}
	answer, bad := []verified{}, 0
	progress := report.NewProgress(o.Stderr)
	defer progress.Finish()
	for i, path := range paths {
		progress.Watch(report.Stage{Method: "verify", Note: filepath.Base(path), Step: i, StepCount: len(paths)})
		v := verified{Run: path, Problems: []string{}}
		run, err := sink.OpenRun(path)
		if err != nil {
			v.Problems = append(v.Problems, err.Error())
		} else {
			found, err := run.Verify(ctx)
			run.Close()
			if err != nil {
				return report.ExitWith(report.Interrupted, errors.New("runs verify: interrupted"))
			}
			v.IsSound, v.Rows, v.MissingRows, v.Problems = found.IsSound(), found.Rows, found.MissingRows, append(v.Problems, found.Problems...)
		}
		if !v.IsSound {
			bad++
		}
		answer = append(answer, v)
	}
	progress.Finish()
	err := o.Give(answer, func(w io.Writer) {
		for _, v := range answer {
			if v.IsSound {
				fmt.Fprintf(w, "%s: sound, %d rows\n", v.Run, v.Rows)
			}
			for _, p := range v.Problems {
				fmt.Fprintf(w, "%s: %s\n", v.Run, p)
			}
		}
	})
	if bad > 0 {
		return report.ExitWith(report.Invalid, fmt.Errorf("runs verify: %s of %d not sound", report.CountOf(bad, "run"), len(paths)))
	}
	return err
}

func prune(_ context.Context, args []string, o FolderOptions) error {
	dir, err := folderOf(args)
	if err != nil {
		return err
	}
	keep, err := schema.ParseValue(o.keepText, "B")
	if err != nil || !(keep >= 1 && keep < 1e18) {
		return report.ExitWith(report.Usage, fmt.Errorf("runs prune: --keep %q: want a size, such as --keep \"20 GB\"", o.keepText))
	}
	work := func() (sink.Pruned, error) { return sink.Prune(dir, int64(keep), "") }
	if o.dryRun {
		work = func() (sink.Pruned, error) { return sink.PrunePlan(dir, int64(keep)) }
	}
	p, err := work()
	answer := struct {
		Dir        string   `json:"dir"`
		DryRun     bool     `json:"dry_run"`
		Removed    []string `json:"removed"`
		TaggedRuns []string `json:"kept"`    // by their tag
		Foreign    []string `json:"foreign"` // with files of somebody else
		Bytes      int64    `json:"bytes"`   // that remain
	}{dir, o.dryRun, orEmpty(p.Removed), orEmpty(p.TaggedRuns), orEmpty(p.Foreign), p.Bytes}
	if err == nil {
		err = o.Give(answer, func(w io.Writer) {
			did := "removed"
			if o.dryRun {
				did = "would remove"
			}
			for _, run := range p.Removed {
				fmt.Fprintf(w, "%s %s\n", did, run)
			}
			for _, run := range p.TaggedRuns {
				fmt.Fprintf(w, "kept by its tag: %s\n", run)
			}
			for _, run := range p.Foreign {
				fmt.Fprintf(w, "left alone, it holds other files: %s\n", run)
			}
			fmt.Fprintf(w, "%s remain in %s\n", report.Bytes(p.Bytes), dir)
		})
	}
	if err != nil {
		return report.ExitWith(report.Unavailable, fmt.Errorf("runs: %w", err))
	}
	return nil
}
