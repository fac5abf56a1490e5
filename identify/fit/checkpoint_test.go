package fit

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A search that is stopped, written as JSON, read and resumed, several times, ends as one that never stopped.
func TestResume(t *testing.T) {
	p := box(4, 6, -2, 3, rosenbrock)
	a := AEP{Seed: 3, Members: 10, Islands: 2, Migrate: 5, Generations: 50, Every: 1000}
	var state *Checkpoint
	a.Save = func(c *Checkpoint) { state = c }
	want := searched(t, a, p)
	final := state

	state = nil
	for _, stop := range []int{1, 2, 17, 30, 50} {
		b := a
		b.Generations, b.Resume, b.Workers = stop, state, 1+stop%3
		if state != nil {
			text, err := json.Marshal(state)
			if err != nil {
				t.Fatal(err)
			}
			b.Resume = &Checkpoint{}
			if err := json.Unmarshal(text, b.Resume); err != nil {
				t.Fatal(err)
			}
		}
		got := searched(t, b, p)
		if stop == 50 && !reflect.DeepEqual(got, want) {
			t.Errorf("resumed %v, in one go %v", got, want)
		}
	}
	if !reflect.DeepEqual(state, final) {
		t.Error("the states at the end differ")
	}

	// a state that does not belong here is refused, by its reason
	for _, c := range []struct {
		change func(*AEP, *Problem, *Checkpoint)
		want   string
	}{
		{func(a *AEP, p *Problem, c *Checkpoint) { a.Members = 11 }, "20 members on 2 islands, here there are 22"},
		{func(a *AEP, p *Problem, c *Checkpoint) { a.Seed = 4 }, "its seed is 3"},
		{func(a *AEP, p *Problem, c *Checkpoint) { p.Params[1].Hi = 9 }, "bounds"},
		{func(a *AEP, p *Problem, c *Checkpoint) { p.Params[1].Name = "Fc" }, "parameters are [x0 x1"},
		{func(a *AEP, p *Problem, c *Checkpoint) { c.Members[4].Random = []byte("x") }, "member 4 is damaged"},
		{func(a *AEP, p *Problem, c *Checkpoint) { c.Members[4].Place = nil }, "member 4 is damaged"},
		{func(a *AEP, p *Problem, c *Checkpoint) { c.Members[4].Birth = 99 }, "member 4 is damaged"},
		{func(a *AEP, p *Problem, c *Checkpoint) { c.Version = 9 }, "version is 9"},
		{func(a *AEP, p *Problem, c *Checkpoint) { c.Generation = 0 }, "generation 0"},
	} {
		b, q, s := a, *p, *state
		q.Params, s.Members = slices.Clone(p.Params), slices.Clone(state.Members)
		c.change(&b, &q, &s)
		b.Resume = &s
		if _, err := b.Search(t.Context(), &q, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want …%s…", err, c.want)
		}
	}
}

// An interruption in the middle of a generation leaves the state of the generation before: resumed, it ends as if nothing
// had happened; the best so far is returned without an error.
func TestInterruptedMidway(t *testing.T) {
	p := box(4, 6, -2, 3, rosenbrock)
	a := AEP{Seed: 5, Members: 10, Generations: 40}
	want := searched(t, a, p)

	ctx, cancel := context.WithCancel(t.Context())
	count := 0
	stopping := *p
	stopping.NewEvaluator = func() Evaluator {
		return formula(func(x, r []float64) {
			if count++; count == 137 {
				cancel()
			}
			rosenbrock(x, r)
		})
	}
	var state *Checkpoint
	b := a
	b.Workers, b.Save = 1, func(c *Checkpoint) { state = c }
	pop, err := b.Search(ctx, &stopping, nil)
	if err != nil || pop.Reason != "interrupted" || pop.Generation != 13 || pop.Simulated != 130 {
		t.Fatalf("%+v, %v", pop, err)
	}
	c := a
	c.Resume = state
	if got := searched(t, c, p); !reflect.DeepEqual(got, want) {
		t.Errorf("resumed %v, in one go %v", got, want)
	}

	// in the first generation there is the best of those who were simulated, before that an error
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	count = 132
	if pop, err := b.Search(ctx, &stopping, nil); err != nil || pop.Simulated != 5 {
		t.Errorf("%v, %v", pop, err)
	}
	if pop, err := a.Search(ctx, p, nil); !errors.Is(err, context.Canceled) || pop != nil {
		t.Errorf("%v, %v", pop, err)
	}
}
