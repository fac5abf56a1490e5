package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// inRounds are tasks of one run each: three in each of six rounds, which begin from their own and the one before in a ring, and a last one
// from all.
func inRounds(t *testing.T) (*Folder, Work) {
	t.Helper()
	const ring, rounds = 3, 6
	m := Manifest{Format: ManifestFormat, Description: "test", Runs: ring*rounds + 1, Tasks: SplitTasks(ring*rounds+1, 1, nil)}
	for k := range m.Tasks {
		switch r, i := k/ring, k%ring; {
		case r == rounds:
			m.Tasks[k].Dependencies = []int{k - 3, k - 2, k - 1}
		case r > 0:
			m.Tasks[k].Dependencies = []int{(r-1)*ring + i, (r-1)*ring + (i+ring-1)%ring}
		}
	}
	f := plannedAs(t, filepath.Join(t.TempDir(), "rounds"), m)
	return f, func(_ context.Context, run int) (Outcome, error) {
		time.Sleep(time.Duration(run*7919%13) * 50 * time.Microsecond)
		text := fmt.Sprint(run)
		for _, k := range m.Tasks[run].Dependencies {
			list, err := f.Read(k)
			if err != nil {
				return Outcome{}, err
			}
			var s string
			if err := json.Unmarshal(list[0].State, &s); err != nil {
				return Outcome{}, err
			}
			text += "<" + s[:min(len(s), 40)] + ">"
		}
		state, err := json.Marshal(text)
		return Outcome{Metrics: []Metric{{Name: "length", Value: float64(len(text))}}, State: state}, err
	}
}

// Tasks that come after others get their states: the same bytes for any number of workers, and one by one in any order that there can be.
func TestRoundsGiveTheSameBytes(t *testing.T) {
	f, work := inRounds(t)
	if got := f.Manifest.Rounds(); !slices.Equal(got, []int{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6}) {
		t.Errorf("rounds %v", got)
	}
	p, err := f.Progress()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Run(t.Context(), p, 1, work, nil); err != nil {
		t.Fatal(err)
	}
	want := bytesOf(t, f)
	if !strings.Contains(want, `"state":"18\u003c15`) {
		t.Errorf("%s", want)
	}
	for _, workers := range []int{2, 5, 40} {
		g, work := inRounds(t)
		if err := g.Run(t.Context(), p0(t, g), workers, work, nil); err != nil {
			t.Fatal(err)
		}
		if bytesOf(t, g) != want {
			t.Errorf("%d workers give something else", workers)
		}
	}
	g, work := inRounds(t)
	rng, refused := rand.New(rand.NewPCG(4, 4)), 0
	for len(p0(t, g).OpenTasks) > 0 {
		k := rng.IntN(len(g.Manifest.Tasks))
		var early *Early
		switch err := g.Do(t.Context(), k, work, nil); {
		case errors.As(err, &early):
			refused++
			if early.Task != k || len(early.OpenTasks) == 0 || len(g.parts(k)) > 0 {
				t.Errorf("%v", err)
			}
		case err != nil:
			t.Fatal(err)
		}
	}
	if bytesOf(t, g) != want || refused == 0 {
		t.Errorf("in any order, %d times too early: something else", refused)
	}
}

func p0(t *testing.T, f *Folder) Progress {
	t.Helper()
	p, err := f.Progress()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An interruption lets nobody wait for what does not come any more; a run that panics leaves no state.
func TestRoundsInterrupted(t *testing.T) {
	f, work := inRounds(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := f.Run(ctx, p0(t, f), 4, func(ctx context.Context, run int) (Outcome, error) {
		if run == 7 {
			cancel()
			<-ctx.Done()
			return Outcome{}, ctx.Err()
		}
		return work(ctx, run)
	}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := f.Run(t.Context(), p0(t, f), 4, func(ctx context.Context, run int) (Outcome, error) {
		if run == 10 {
			panic("ten")
		}
		return work(ctx, run)
	}, nil); err != nil {
		t.Fatal(err)
	}
	all, _, err := f.Outcomes()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all { // what comes after it has nothing to begin from
		if failed := slices.Contains([]int{10, 13, 14, 15, 16, 17, 18}, o.Run); failed != (o.Failure != "") {
			t.Errorf("%+v", o)
		}
	}
}

func TestTaskAfterItself(t *testing.T) {
	for _, after := range []int{-1, 4, 5} {
		m := Manifest{Runs: 6, Tasks: SplitTasks(6, 1, nil)}
		m.Tasks[4].Dependencies = []int{after}
		if err := m.check(); err == nil || !strings.Contains(err.Error(), "task 4 comes after task") {
			t.Errorf("after %d: %v", after, err)
		}
	}
}
