package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// work is a run whose numbers depend on its number only; every seventh fails, every eleventh panics.
func work(_ context.Context, run int) ([]Metric, error) {
	time.Sleep(time.Duration(run*7919%13) * 50 * time.Microsecond) // they end out of order
	switch {
	case run%11 == 10:
		panic("eleven")
	case run%7 == 6:
		return nil, fmt.Errorf("seven\nof %d", run)
	}
	return []Metric{{"a", "m", math.Sqrt(float64(run))}, {"never", "", math.NaN()}}, nil
}

// bytesOf are the outcomes without the time they took.
func bytesOf(t *testing.T, all []Outcome) string {
	t.Helper()
	for i := range all {
		all[i].Seconds = 0
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func study(t *testing.T, path string, workers int, ctx context.Context, watch func(State)) (string, error) {
	t.Helper()
	j, err := OpenJournal(path, "key", "test", 200)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	all, err := Run(ctx, j, workers, work, watch)
	return bytesOf(t, all), err
}

func TestOutcomesDoNotDependOnTheWorkers(t *testing.T) {
	dir := t.TempDir()
	var last State
	one, err := study(t, filepath.Join(dir, "1"), 1, t.Context(), func(s State) { last = s })
	if err != nil {
		t.Fatal(err)
	}
	if last.Done != 200 || last.Now != 200 || last.Failed != 18+28-2 { // 76 and 153 would fail both ways
		t.Errorf("%+v", last)
	}
	for _, w := range []int{2, 8, 300} {
		if many, err := study(t, filepath.Join(dir, fmt.Sprint(w)), w, t.Context(), nil); err != nil || many != one {
			t.Errorf("%d workers give something else (%v)", w, err)
		}
	}
	var all []Outcome
	if err := json.Unmarshal([]byte(one), &all); err != nil {
		t.Fatal(err)
	}
	if all[6].Failed != "seven of 6" || !strings.HasPrefix(all[10].Failed, "panic: eleven at run_test.go:") {
		t.Errorf("%q, %q", all[6].Failed, all[10].Failed)
	}
	if !math.IsNaN(all[0].Metrics[1].Value) {
		t.Error("NaN came back as a number")
	}
}

// Cut short at many places, by the context or by tearing the file, a study goes on and ends with the same outcomes.
func TestStudyGoesOnWhereItStopped(t *testing.T) {
	dir := t.TempDir()
	want, err := study(t, filepath.Join(dir, "whole"), 2, t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "cut")
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := study(t, path, 3, ctx, func(s State) {
		if s.Now == 50 {
			cancel()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	var first State
	got, err := study(t, path, 3, t.Context(), func(s State) {
		if first.Of == 0 {
			first = s
		}
	})
	if err != nil || got != want {
		t.Errorf("after an interruption: %v", err)
	}
	if first.Done < 51 || first.Now != 1 {
		t.Errorf("began with %+v: what was done was done again", first)
	}

	// torn anywhere, as by a power cut
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 5, 40, 300, len(whole) / 2, len(whole)/2 + 17, len(whole) - 1} {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := study(t, path, 4, t.Context(), nil); err != nil || got != want {
			t.Errorf("torn after %d bytes: %v", cut, err)
		}
	}
	// a sector of zeros in the middle
	hole := append([]byte{}, whole...)
	clear(hole[2000:2400])
	if err := os.WriteFile(path, hole, 0o644); err != nil {
		t.Fatal(err)
	}
	j, err := OpenJournal(path, "key", "test", 200)
	if err != nil {
		t.Fatal(err)
	}
	if j.Damaged() == 0 || j.Done() > 199 || j.Done() < 180 {
		t.Errorf("%d damaged, %d done", j.Damaged(), j.Done())
	}
	j.Close()
	if got, err := study(t, path, 4, t.Context(), nil); err != nil || got != want {
		t.Errorf("with a hole: %v", err)
	}
}

func TestJournalsThatAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, err := OpenJournal(path, "key", "the first", 10)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(path, "key", "x", 10); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("opened twice: %v", err)
	}
	j.Close()
	before, _ := os.ReadFile(path)
	for _, c := range []struct {
		key  string
		runs int
		text string // in place of the journal
		want string
	}{
		{"other", 10, "", "belongs to other settings (the first)"},
		{"key", 11, "", "belongs to a study of 10 runs (the first); this one has 11"},
		{"key", 10, "time,x\n1,2\n", "is not the journal"},
		{"key", 10, "no line end", "is not the journal"},
		{"key", 10, `{"hil_study":2,"key":"key","runs":10,"about":""}` + "\n", "format 2"},
	} {
		want := before
		if c.text != "" {
			want = []byte(c.text)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := OpenJournal(path, c.key, "x", c.runs)
		var foreign *Foreign
		if !errors.As(err, &foreign) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
		if after, _ := os.ReadFile(path); string(after) != string(want) {
			t.Errorf("%+v: the file was changed", c)
		}
	}
}

// A disk that takes no more ends the study with the reason; nothing hangs.
func TestJournalOnAFullDisk(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	j := &Journal{f: f, runs: 100, done: map[int]Outcome{}}
	var started atomic.Int64
	_, err = Run(t.Context(), j, 2, func(ctx context.Context, run int) ([]Metric, error) {
		started.Add(1)
		return work(ctx, run)
	}, nil)
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v", err)
	}
	if started.Load() > 50 {
		t.Errorf("%d runs were done that nobody will remember", started.Load())
	}
}
