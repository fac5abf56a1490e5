package study

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/study"
)

const evolving = "method: [aep, lm]\nmodel: {law: coulomb, terms: [viscous], initial: rest, output: position, drive: force}\naep: " +
	"{members: 8, migrate: 3}\nseed: 5\n"

// filesOf are all files of a folder by name.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, err := os.ReadFile(path)
			all[strings.TrimPrefix(path, dir)] = string(text)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t *testing.T, name string, got, want map[string]string) {
	t.Helper()
	for file := range want {
		if got[file] != want[file] {
			t.Errorf("%s: %s differs", name, file)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d files, want %d", name, len(got), len(want))
	}
}

// An evolution on islands as a study is that of hil identify on as many islands, to the last bit, for any number of workers and task by
// task in any order; the mass that went into the recording comes out.
func TestIslandsAreTheEvolution(t *testing.T) {
	file := sliders(t, evolving, "design: {kind: islands, islands: 3, rounds: 4}\nfigures: [{name: descent, kind: scatter, x: generation, "+
		"y: best_rms, log_y: true}]\n")
	dir := filepath.Dir(file)
	no := func() bool { return false }
	ask := func(verb func(ctx context.Context, was func() bool, arg string, f Options, out, errs io.Writer) error, arg string,
		f Options) (string, error) {
		var out, errs bytes.Buffer
		if f.Changed == nil {
			f.Changed = func(string) bool { return false }
		}
		f.Format, f.Resume = "csv", true
		err := verb(context.Background(), no, arg, f, &out, &errs)
		return out.String() + errs.String(), err
	}

	one := filepath.Join(dir, "one")
	said, err := ask(Run, file, Options{OutputFolder: one, Workers: 1, Plot: true, Report: true})
	if err != nil || !strings.Contains(said, "3 islands, 4 rounds, 312 simulations") {
		t.Fatalf("%v\n%s", err, said)
	}
	want := filesOf(t, one)
	two := filepath.Join(dir, "two")
	if _, err := ask(Run, file, Options{OutputFolder: two, Workers: 3, Plot: true, Report: true}); err != nil {
		t.Fatal(err)
	}
	same(t, "3 workers", filesOf(t, two), want)

	// task by task; too early ones do nothing
	each := filepath.Join(dir, "each")
	if _, err := ask(Plan, file, Options{OutputFolder: each}); err != nil {
		t.Fatal(err)
	}
	if said, err := ask(Collect, each, Options{}); report.ExitCode(err) != report.Invalid {
		t.Errorf("collect of nothing: %v\n%s", err, said)
	}
	rng, done, early := rand.New(rand.NewPCG(1, 1)), map[int]bool{}, 0
	for len(done) < 16 {
		k := rng.IntN(16)
		before := filesOf(t, each)
		said, err := ask(Task, each, Options{Index: k, Changed: func(name string) bool { return name == "index" }})
		switch {
		case err == nil:
			done[k] = true
		case report.ExitCode(err) == report.Unavailable && strings.Contains(err.Error(), "which are not done; nothing was done"):
			early++
			same(t, "too early", filesOf(t, each), before)
		default:
			t.Fatalf("%v\n%s", err, said)
		}
		if len(done) == 8 {
			if said, err := ask(Collect, each, Options{Partial: true}); report.ExitCode(err) != report.OK ||
				!strings.Contains(said, "the evolution has no result: not done yet") {
				t.Errorf("partial: %v\n%s", err, said)
			}
		}
	}
	if early == 0 {
		t.Error("no task was too early")
	}
	if _, err := ask(Collect, each, Options{Plot: true, Report: true}); err != nil {
		t.Fatal(err)
	}
	same(t, "task by task", filesOf(t, each), want)

	// the file of a round that was damaged: it is noticed, said and done again, by the same command or task by task, and nothing else is
	spoil := func(task int) {
		t.Helper()
		path := filepath.Join(each, study.TaskFolder, fmt.Sprintf("%06d.jsonl", task))
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, task := range []int{1, 7, 15} { // of the first round, of a later one, and what comes after the evolution
		spoil(task)
		if said, err := ask(Collect, each, Options{}); report.ExitCode(err) != report.Invalid ||
			!strings.Contains(err.Error(), fmt.Sprintf("missing are the tasks %d.", task)) {
			t.Errorf("task %d damaged: %v\n%s", task, err, said)
		}
		if said, err := ask(RunTasks, each, Options{Executor: "local", Workers: 2}); err != nil ||
			!strings.Contains(said, fmt.Sprintf("the files of the tasks %d cannot be read", task)) {
			t.Errorf("task %d damaged: %v\n%s", task, err, said)
		}
		same(t, fmt.Sprintf("task %d damaged", task), filesOf(t, each), want)
	}
	spoil(1)
	spoil(4)
	byIndex := func(k int) error {
		_, err := ask(Task, each, Options{Index: k, Changed: func(name string) bool { return name == "index" }})
		return err
	}
	if err := byIndex(4); report.ExitCode(err) != report.Unavailable || !strings.Contains(err.Error(), "begins from the tasks 1, which are "+
		"not done") {
		t.Errorf("too early: %v", err)
	}
	if err := errors.Join(byIndex(1), byIndex(4)); err != nil {
		t.Error(err)
	}
	same(t, "two rounds damaged", filesOf(t, each), want)

	// hil identify, with the islands in its file
	text, err := os.ReadFile(filepath.Join(dir, "fit.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "whole.yaml")
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "migrate: 3", "migrate: 3, islands: 3, generations: 13", 1)),
		0o644); err != nil {
		t.Fatal(err)
	}
	cfg, err := configs.LoadIdentify(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := identify.Fit(context.Background(), configs.Simulation{Identify: cfg})
	if err != nil {
		t.Fatal(err)
	}
	var got identify.Identification
	if err := json.Unmarshal([]byte(want["/result.json"]), &got); err != nil {
		t.Fatal(err)
	}
	plain := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), dir+string(filepath.Separator), "")), &m); err != nil {
			t.Fatal(err)
		}
		delete(m, "compute_s")
		for _, s := range m["stages"].([]any) {
			delete(s.(map[string]any), "compute_s")
			delete(s.(map[string]any), "cost_trace") // that of a search that was resumed begins there
		}
		text, _ = json.Marshal(m)
		return string(text)
	}
	if a, b := plain(got.Result), plain(r); a != b {
		t.Errorf("as a study\n%s\nin one go\n%s", a, b)
	}
	if m, ok := got.Param("M"); !ok || math.Abs(m.Value-2) > 0.02 || got.Seed != 5 || got.Data.File != "a.csv" {
		t.Errorf("M %+v, seed %d, file %s", m, got.Seed, got.Data.File)
	}

	// another seed is another evolution, and belongs to another folder
	if _, err := ask(Run, file, Options{OutputFolder: one, Seed: 6,
		Changed: func(name string) bool { return name == "seed" }}); report.ExitCode(err) != report.Invalid {
		t.Errorf("another seed: %v", err)
	}
	if _, err := ask(Plan, file, Options{OutputFolder: filepath.Join(dir, "x"), Chunk: 4}); report.ExitCode(err) != report.Usage {
		t.Errorf("--chunk: %v", err)
	}
}

// An island that fails, fails those that come after it; what failed is a row, and the study ends with 6.
func TestIslandFails(t *testing.T) {
	file := sliders(t, evolving, "design: {kind: islands, islands: 2, rounds: 2}\n")
	s, _, err := load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.dir = filepath.Join(filepath.Dir(file), "r")
	if err := s.open(1, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "a.csv"), []byte("t,x,F\n0,0,0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if _, err := s.local(context.Background(), func() bool { return false }, 2, "again", &errs); err != nil {
		t.Fatal(err)
	}
	f := Options{Format: "csv", Changed: func(string) bool { return false }}
	err = s.collect(context.Background(), func() bool { return false }, f, sitting{Folder: s.dir}, "again", &out)
	if report.ExitCode(err) != report.Quality || !strings.Contains(out.String(), "7 runs failed") ||
		!strings.Contains(out.String(), "which it begins from, failed") || !strings.Contains(out.String(), "run 0: a.csv: ") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
