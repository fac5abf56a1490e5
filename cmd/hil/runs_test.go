package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/report"
	"hilrig/engine"
	"hilrig/hil"
	"hilrig/hil/ring"
	"hilrig/hil/sink"
)

// recordModes records a second of rows at 1 kHz, in these modes one after the other, each for as long, and makes the run an hour old.
func recordModes(t *testing.T, dir string, minute int, dry bool, modes ...hil.Mode) string {
	t.Helper()
	info := hil.Info{Version: "test", Start: time.Date(2026, 11, 21, 8, minute, 0, 0, time.UTC), DryRun: dry,
		Schema: hil.Schema{Rig: "bench", Rate: 1000, Meas: hil.Of("drive", engine.Signal{Name: "motor.angle", Unit: "rad"})}}
	info.Schema.SetBlock(hil.Commanded, hil.Of("drive", engine.Signal{Name: "voltage", Unit: "V"}))
	rec, err := sink.NewRecorder(dir, info, sink.RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rows := ring.New[hil.Row](2048)
	last := hil.Mode(255)
	for k := 0; k < 1000 && len(modes) > 0; k++ {
		row := hil.Row{Seq: uint64(k + 1), T: int64(k) * 1e6, Mode: modes[k*len(modes)/1000]}
		if row.Mode == hil.Trip {
			row.Cause = hil.CauseCommand
		}
		if row.Mode != last {
			level := map[bool]string{true: "error", false: "info"}[row.Mode == hil.Trip]
			rec.Event(hil.Event{Time: info.Start.Add(time.Duration(row.T)), Seq: row.Seq, Level: level, Code: "MODE", Text: "mode"})
		}
		last = row.Mode
		rows.Writer().Push(&row)
	}
	rec.Event(hil.Event{Time: info.Start, Level: "warn", Code: "LATE", Text: "late"})
	ctx, end := context.WithCancel(context.Background())
	end()
	if err := rec.Run(ctx, rows.Reader()); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"run.mcap", "run.yaml"} {
		if err := os.Chtimes(filepath.Join(rec.Dir(), name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	return rec.Dir()
}

// The list tells what a run was without reading all of it, and a folder stands for the newest run that can be identified.
func TestRunsVerb(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tripped := recordModes(t, dir, 1, false, hil.Ready, hil.Run, hil.Hold, hil.Run, hil.Trip)
	ran := recordModes(t, dir, 2, false, hil.SelfTest, hil.Ready, hil.Run, hil.Ready)
	never := recordModes(t, dir, 3, false, hil.SelfTest)
	dry := recordModes(t, dir, 4, true, hil.Ready)
	empty := recordModes(t, dir, 5, false)
	out, errs, code := execute(t, "runs", dir, "--json")
	var answer struct {
		Runs []struct {
			Run, State string
			Duration   float64 `json:"duration_s"`
			RunTime    float64 `json:"run_s"`
			Trips      int
			Warnings   int
			Errors     int
			Closed     bool
		}
		Bytes int64
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != report.OK || len(answer.Runs) != 5 {
		t.Fatalf("%v, exit code %d\n%s%s", err, code, out, errs)
	}
	for i, want := range []struct {
		run, state        string
		duration, runTime float64
		trips             int
	}{{tripped, "ran", 0.999, 0.4, 1}, {ran, "ran", 0.999, 0.25, 0}, {never, "never ran", 0.999, 0, 0}, {dry, "dry run", 0.999, 0, 0},
		{empty, "empty", 0, 0, 0}} {
		got := answer.Runs[i]
		if got.Run != want.run || got.State != want.state || got.Duration != want.duration || got.RunTime != want.runTime ||
			got.Trips != want.trips || got.Errors != want.trips || !got.Closed || got.Warnings != min(1, int(10*want.duration)) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if out, _, _ := execute(t, "runs", dir); !strings.Contains(out, "tripped: command") || !strings.Contains(out, "5 runs") {
		t.Error(out)
	}

	// of a folder
	out, errs, code = execute(t, "export", dir, "-o", "-", "--channels", "mode")
	for _, skipped := range []string{filepath.Base(never) + " (never ran)", filepath.Base(dry) + " (dry run)", filepath.Base(empty) + " (empty)"} {
		if code != report.OK || !strings.Contains(errs, "taking "+ran) || !strings.Contains(errs, skipped) || !strings.Contains(out, ",run\n") {
			t.Errorf("exit code %d, nothing of %s:\n%s", code, skipped, errs)
		}
	}
	if _, errs, _ := execute(t, "export", ran, "-o", "-"); errs != "" {
		t.Errorf("a run by its own name: %s", errs)
	}

	// tags, and what they keep
	size := answer.Bytes
	execute(t, "runs", "tag", tripped, "keep", "bearing")
	if out, _, code := execute(t, "runs", "tag", tripped, "bearing", "--remove"); code != report.OK || !strings.HasSuffix(out, ": keep\n") {
		t.Errorf("exit code %d, %q", code, out)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
		gone []string
	}{
		{[]string{"runs", "prune", dir, "--keep", "1 kB", "--dry-run"}, report.OK, "would remove " + ran, nil},
		{[]string{"runs", "prune", dir, "--keep", "1 kB"}, report.OK, "kept by its tag: " + tripped, []string{ran, never, dry, empty}},
		{[]string{"runs", "prune", dir}, report.Usage, "want a size", nil},
		{[]string{"runs", "verify", tripped}, report.OK, "sound, 1000 rows", nil},
		{[]string{"runs", "remove", filepath.Join(dir, "none"), tripped}, report.Invalid, "none is no run", []string{tripped}},
		{[]string{"runs", "tag", ran, "x"}, report.Invalid, "is no run", nil},
		{[]string{"runs", filepath.Join(dir, "nowhere")}, report.Invalid, "nowhere", nil},
		{[]string{"runs", dir}, report.OK, "no run in", nil},
	} {
		out, errs, code := execute(t, c.args...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("hil %s: exit code %d, want %d with %q\n%s%s", strings.Join(c.args, " "), code, c.code, c.want, out, errs)
		}
		for _, run := range c.gone {
			if _, err := os.Stat(run); !os.IsNotExist(err) {
				t.Errorf("hil %s: %s is still there", strings.Join(c.args, " "), run)
			}
		}
	}
	if size < 10_000 {
		t.Errorf("%d bytes in all", size)
	}
}

// A damaged byte, a cut end and a foreign file are found; a run that may be live is not removed.
func TestRunsThatAreNotSound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	damaged := recordModes(t, dir, 1, false, hil.Run)
	cut := recordModes(t, dir, 2, false, hil.Run)
	data, err := os.ReadFile(filepath.Join(damaged, "run.mcap"))
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if os.WriteFile(filepath.Join(damaged, "run.mcap"), data, 0o644) != nil ||
		os.Truncate(filepath.Join(cut, "run.mcap"), int64(len(data)*9/10)) != nil {
		t.Fatal("the runs cannot be changed")
	}
	out, errs, code := execute(t, "runs", "verify", dir)
	if code != report.Invalid || !strings.Contains(errs, "2 runs of 2 not sound") || !strings.Contains(out, "damaged") ||
		!strings.Contains(out, "was not closed") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if _, errs, code := execute(t, "runs", "remove", cut); code != report.Invalid || !strings.Contains(errs, "within the last minute") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if err := os.WriteFile(filepath.Join(damaged, "notes.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := execute(t, "runs", "remove", "--force", damaged, cut); code != report.Invalid ||
		!strings.Contains(errs, "no recorder made") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if _, err := os.Stat(cut); !os.IsNotExist(err) {
		t.Error("a run that was to be removed by force is there")
	}
}
