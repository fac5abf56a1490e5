package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// work is a run whose numbers depend on its number only; every seventh fails, every eleventh panics.
func work(_ context.Context, run int) (Outcome, error) {
	time.Sleep(time.Duration(run*7919%13) * 50 * time.Microsecond) // they end out of order
	switch {
	case run%11 == 10:
		panic("eleven")
	case run%7 == 6:
		return Outcome{}, fmt.Errorf("seven\nof %d", run)
	}
	return Outcome{Metrics: []Metric{{Name: "a", Unit: "m", Value: math.Sqrt(float64(run))}, {Name: "never", Value: math.NaN()},
		{Name: "says", Value: math.NaN(), Text: "so"}}}, nil
}

// planned makes a folder of 200 runs in tasks of seven.
func planned(t *testing.T, dir string) *Folder {
	t.Helper()
	return plannedAs(t, dir, Manifest{Format: ManifestFormat, Description: "test", Runs: 200, Tasks: SplitTasks(200, 7, nil)})
}

func plannedAs(t *testing.T, dir string, m Manifest) *Folder {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestName), text, 0o644); err != nil {
		t.Fatal(err)
	}
	return opened(t, dir)
}

func opened(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// runs does what is open in a folder and gives all outcomes as text.
func runs(ctx context.Context, t *testing.T, f *Folder, workers int, watch func(State)) (string, error) {
	t.Helper()
	p, err := f.Progress()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Run(ctx, p, workers, work, watch); err != nil {
		return "", err
	}
	all, missing, err := f.Outcomes()
	if err != nil || missing > 0 {
		t.Fatalf("%d missing, %v", missing, err)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

// bytesOf are all files of tasks.
func bytesOf(t *testing.T, f *Folder) (all string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(f.dir, TaskFolder))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		text, err := os.ReadFile(filepath.Join(f.dir, TaskFolder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all += e.Name() + "\n" + string(text)
	}
	return all
}

func TestOutcomesDoNotDependOnTheWorkers(t *testing.T) {
	dir := t.TempDir()
	var last State
	f := planned(t, filepath.Join(dir, "1"))
	one, err := runs(t.Context(), t, f, 1, func(s State) { last = s })
	if err != nil {
		t.Fatal(err)
	}
	if last.DoneRuns != 200 || last.NewRuns != 200 || last.FailedRuns != 18+28-2 { // 76 and 153 would fail both ways
		t.Errorf("%+v", last)
	}
	for _, w := range []int{2, 8, 300} {
		g := planned(t, filepath.Join(dir, fmt.Sprint(w)))
		if many, err := runs(t.Context(), t, g, w, nil); err != nil || many != one || bytesOf(t, g) != bytesOf(t, f) {
			t.Errorf("%d workers give something else (%v)", w, err)
		}
	}
	var all []Outcome
	if err := json.Unmarshal([]byte(one), &all); err != nil {
		t.Fatal(err)
	}
	if all[6].Failure != "seven of 6" || !strings.HasPrefix(all[10].Failure, "panic: eleven at engine/study/run_test.go:") {
		t.Errorf("%q, %q", all[6].Failure, all[10].Failure)
	}
	if !math.IsNaN(all[0].Metrics[1].Value) || all[0].Metrics[2].Text != "so" {
		t.Error("NaN came back as a number")
	}
}

// Interrupted many times, in the middle of tasks too, a study goes on and ends with the same files.
func TestStudyGoesOnWhereItStopped(t *testing.T) {
	dir := t.TempDir()
	whole := planned(t, filepath.Join(dir, "whole"))
	want, err := runs(t.Context(), t, whole, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := planned(t, filepath.Join(dir, "cut"))
	done := 0
	for _, more := range []int{1, 5, 13, 2, 50, 31} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := runs(ctx, t, opened(t, f.dir), 3, func(s State) {
			if s.NewRuns == more {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		done += more
	}
	fresh := 0
	got, err := runs(t.Context(), t, opened(t, f.dir), 3, func(s State) { fresh = s.NewRuns })
	if err != nil || got != want || bytesOf(t, f) != bytesOf(t, whole) {
		t.Errorf("after interruptions: %v", err)
	}
	// what was done is not done again; a worker that was stopped may have ended its run
	if fresh > 200-done || fresh < 200-done-6*3 {
		t.Errorf("%d runs were left after %d", fresh, done)
	}
}

// Files torn or spoilt anywhere are done again; leftovers of killed programs are taken over as far as they are whole.
func TestDamagedTasks(t *testing.T) {
	dir := t.TempDir()
	f := planned(t, filepath.Join(dir, "a"))
	want, err := runs(t.Context(), t, f, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	clean := bytesOf(t, f)
	path := f.taskPath(3)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hole := append([]byte{}, text...)
	clear(hole[len(hole)/2 : len(hole)/2+40])
	other, _ := os.ReadFile(f.taskPath(4))
	swapped := []byte(strings.Replace(string(text), `"value":`, `"value":1`, 1))
	for name, spoilt := range map[string][]byte{"empty": {}, "torn": text[:len(text)/2], "no end": text[:len(text)-1], "zeros": hole,
		"of another task": other, "a digit": swapped} {
		if err := os.WriteFile(path, spoilt, 0o644); err != nil {
			t.Fatal(err)
		}
		if p, err := f.Progress(); err != nil || len(p.OpenTasks) != 1 || len(p.Damaged) != 1 || p.OpenTasks[0] != 3 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if _, missing, err := f.Outcomes(); missing != 7 || err != nil {
			t.Errorf("%s: %d missing, %v", name, missing, err)
		}
		if got, err := runs(t.Context(), t, f, 1, nil); err != nil || got != want || bytesOf(t, f) != clean {
			t.Errorf("%s: %v", name, err)
		}
	}
	// a part as a killed program leaves it, cut anywhere
	body, _, _ := cutLastLine(text)
	for _, cut := range []int{0, 5, 90, len(body) / 2, len(body) - 1, len(body)} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		part := filepath.Join(filepath.Dir(path), "000003.77.part")
		if err := os.WriteFile(part, body[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		fresh := 0
		got, err := runs(t.Context(), t, f, 1, func(s State) { fresh = s.NewRuns })
		if err != nil || got != want || bytesOf(t, f) != clean {
			t.Errorf("part of %d bytes: %v", cut, err)
		}
		if lines := strings.Count(string(body[:cut]), "\n"); fresh != 7-max(lines-1, 0) {
			t.Errorf("part of %d bytes, %d lines: %d runs done", cut, lines, fresh)
		}
	}
}

// A task that two programs do at the same time is whole in the end, and its bytes are those of one.
func TestTaskDoneTwice(t *testing.T) {
	f, g := planned(t, filepath.Join(t.TempDir(), "a")), planned(t, filepath.Join(t.TempDir(), "b"))
	started, goOn := make(chan bool), make(chan bool)
	first := make(chan error)
	go func() {
		first <- f.Do(t.Context(), 2, func(ctx context.Context, run int) (Outcome, error) {
			if run == 17 {
				started <- true
				<-goOn
			}
			return work(ctx, run)
		}, nil)
	}()
	<-started
	if err := opened(t, f.dir).Do(t.Context(), 2, work, nil); err != nil {
		t.Error(err)
	}
	goOn <- true
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := g.Do(t.Context(), 2, work, nil); err != nil {
		t.Error(err)
	}
	if bytesOf(t, f) != bytesOf(t, g) {
		t.Errorf("done twice:\n%s\ndone once:\n%s", bytesOf(t, f), bytesOf(t, g))
	}
	if err := f.Do(t.Context(), 2, func(context.Context, int) (Outcome, error) {
		t.Error("a finished task was done again")
		return Outcome{}, nil
	}, nil); err != nil {
		t.Error(err)
	}
	if _, err := f.Read(5); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestManifestsThatAreRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	f := planned(t, dir)
	path := filepath.Join(dir, ManifestName)
	good, _ := os.ReadFile(path)
	for _, c := range []struct{ old, new, want string }{
		{`"hil_study":2`, `"hil_study":3`, "was written in format 3, this program reads 2"},
		{`"hil_study":2`, `"x":2`, "is not the manifest"},
		{`{`, `time,x`, "is not the manifest"},
		{`"runs":200`, `"runs":201`, "its tasks make up 200 runs, want 201"},
		{`"first":7`, `"first":8`, "want it to begin with run 7"},
		{`"about"`, `"abuot"`, "unknown field"},
	} {
		text := strings.Replace(string(good), c.old, c.new, 1)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var foreign *Foreign
		if _, err := Open(dir); !errors.As(err, &foreign) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.new, err)
		}
		if err := Discard(dir); strings.Contains(c.want, "is not") && err == nil {
			t.Errorf("%s: removed", c.new)
		}
	}
	// the tasks of another plan are not mistaken for this one's
	if err := f.Do(t.Context(), 0, work, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(good), "test", "more", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if p, err := opened(t, dir).Progress(); err != nil || len(p.OpenTasks) != 29 || len(p.Damaged) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if err := Discard(dir); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestManifestSaysWhatChanged(t *testing.T) {
	then := Manifest{Program: Program{"v1", "aaaaaaaaaa", "amd64"}, Inputs: []Input{{"the design", "1"}, {"a.csv", "2"}, {"b.csv", "3"}},
		Runs: 5}
	now := then
	if p, in := then.Changed(&now); p != "" || in != nil {
		t.Errorf("%q, %q", p, in)
	}
	now.Inputs, now.Runs = []Input{{"the design", "1"}, {"a.csv", "9"}, {"c.csv", "3"}}, 6
	_, in := then.Changed(&now)
	if got := strings.Join(in, "; "); got != "a.csv has changed; c.csv is read now and was not then; b.csv was read then and is not now; it "+
		"had 5 runs then and has 6 now" {
		t.Error(got)
	}
	for _, c := range []struct {
		now  Program
		want string
	}{
		{Program{"v1", "aaaaaaaaaa", "arm64"}, "planned for amd64, and this is arm64"},
		{Program{"v2", "bbbbbbbbbb", "amd64"}, "was v1 then, and is v2 now"},
		{Program{"v1", "bbbbbbbbbb", "amd64"}, "v1, was built anew since (aaaaaaaa… then, bbbbbbbb… now)"},
	} {
		if p, _ := then.Changed(&Manifest{Program: c.now, Inputs: then.Inputs, Runs: 5}); !strings.Contains(p, c.want) {
			t.Errorf("%+v: %q", c.now, p)
		}
	}
}

// A folder that takes no more ends the study with the reason; nothing hangs, and with room again it goes on.
func TestFolderThatTakesNoMore(t *testing.T) {
	f := planned(t, filepath.Join(t.TempDir(), "a"))
	tasks := filepath.Join(f.dir, TaskFolder)
	if err := os.Rename(tasks, tasks+".away"); err != nil {
		t.Fatal(err)
	}
	var started atomic.Int64
	p, err := f.Progress()
	if err != nil {
		t.Fatal(err)
	}
	err = f.Run(t.Context(), p, 2, func(ctx context.Context, run int) (Outcome, error) {
		started.Add(1)
		return work(ctx, run)
	}, nil)
	if err == nil || !strings.Contains(err.Error(), "task ") || !errors.Is(err, fs.ErrNotExist) || started.Load() > 0 {
		t.Errorf("%v after %d runs", err, started.Load())
	}
	if err := os.Rename(tasks+".away", tasks); err != nil {
		t.Fatal(err)
	}
	if _, err := runs(t.Context(), t, f, 2, nil); err != nil {
		t.Error(err)
	}
}

// Seeds or an order that someone has changed in the file are noticed; how the runs are cut into tasks does not matter.
func TestManifestSaysThatItWasAltered(t *testing.T) {
	seeds := []int64{7, 8, 9, 10}
	now := Manifest{Runs: 4, Tasks: SplitTasks(4, 1, seeds)}
	for _, c := range []struct {
		name  string
		tasks []TaskSpan
		want  bool
	}{
		{"as planned", SplitTasks(4, 1, seeds), false},
		{"cut otherwise", SplitTasks(4, 3, seeds), false},
		{"another seed", SplitTasks(4, 1, []int64{7, 8, 0, 10}), true},
		{"no seeds", SplitTasks(4, 1, nil), true},
		{"another order", append(SplitTasks(3, 1, seeds), TaskSpan{FirstRun: 3, Runs: 1, Seeds: seeds[3:], Dependencies: []int{0}}), true},
	} {
		if got := (&Manifest{Runs: 4, Tasks: c.tasks}).Altered(&now); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}

// The shorter the fewer runs are left: no task is longer than a 64th of what was left, or than the least; all runs are there with their
// seeds.
func TestTasksTaper(t *testing.T) {
	seeds := make([]int64, 5000)
	for i := range seeds {
		seeds[i] = int64(i)
	}
	for _, c := range []struct{ runs, least, most int }{{1, 1, 1}, {60, 1, 60}, {1400, 2, 300}, {5000, 5, 400}} {
		m := Manifest{Runs: c.runs, Tasks: Taper(c.runs, c.least, seeds[:c.runs])}
		if err := m.check(); err != nil || len(m.Tasks) > c.most || fmt.Sprint(m.Seeds()) != fmt.Sprint(seeds[:c.runs]) {
			t.Errorf("%d runs: %d tasks, %v", c.runs, len(m.Tasks), err)
		}
		for i, s := range m.Tasks {
			if left := c.runs - s.FirstRun; s.Runs > max(c.least, left/64) || s.Runs < c.least && i+1 < len(m.Tasks) {
				t.Errorf("%d runs: task %d has %d of the %d that are left", c.runs, i, s.Runs, left)
			}
		}
	}
}
