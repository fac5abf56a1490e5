package fit

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// byRounds does a search in rounds, every island by itself, in an order drawn at random, through JSON.
func byRounds(t *testing.T, a AEP, p *Problem, rounds int) *Checkpoint {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var last []*Checkpoint
	for round := range rounds + 1 {
		now := make([]*Checkpoint, a.Islands)
		for _, k := range rng.Perm(a.Islands) {
			var before []*Checkpoint
			for _, n := range a.Needs(round, k) {
				before = append(before, last[n])
			}
			a.Workers = 1 + k%3
			state, err := a.Round(t.Context(), p, k, before)
			if err != nil {
				t.Fatalf("round %d of island %d: %v", round, k, err)
			}
			text, err := json.Marshal(state)
			if err != nil {
				t.Fatal(err)
			}
			now[k] = &Checkpoint{}
			if err := json.Unmarshal(text, now[k]); err != nil {
				t.Fatal(err)
			}
		}
		last = now
	}
	whole, err := a.Join(p, last)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// Islands done one by one are the search in one go, to the last bit: members, random numbers, counters; and the search can go on from
// there.
func TestRoundsAreTheSearch(t *testing.T) {
	// many that cost the same
	for name, f := range map[string]func(x, r []float64){"rosenbrock": rosenbrock, "rastrigin": rastrigin, "plateau": func(x, r []float64) {
		for i := range r {
			r[i] = float64(int(4 * x[i%len(x)]))
		}
	}} {
		for _, islands := range []int{1, 2, 5} {
			p := box(4, 6, -2, 3, f)
			if name == "rastrigin" {
				p = box(4, 8, -2, 3, f)
			}
			a := AEP{Seed: 3, Members: 10, Islands: islands, Migrate: 4, Start: true, Generations: 13}
			var want *Checkpoint
			one := a
			one.Save = func(c *Checkpoint) { want = c }
			pop := searched(t, one, p)
			got := byRounds(t, a, p, 3)
			if name != "plateau" && !reflect.DeepEqual(got, want) { // a search ends where nothing is left over
				t.Errorf("%s on %d islands: the states differ", name, islands)
			}
			a.Resume = got
			if again := searched(t, a, p); name != "plateau" && !reflect.DeepEqual(again, pop) {
				t.Errorf("%s on %d islands: joined %v, in one go %v", name, islands, again, pop)
			}
		}
	}
}

// What an island needs: nothing at first, then the first costs of all, then itself and the one before it in the ring.
func TestRoundsNeed(t *testing.T) {
	a := AEP{Islands: 4}
	for _, c := range []struct {
		round, island int
		want          []int
	}{{0, 2, nil}, {1, 2, []int{0, 1, 2, 3}}, {2, 2, []int{1, 2}}, {2, 0, []int{0, 3}}} {
		if got := a.Needs(c.round, c.island); !slices.Equal(got, c.want) {
			t.Errorf("round %d of island %d needs %v, want %v", c.round, c.island, got, c.want)
		}
	}
	if got := (AEP{}).Needs(2, 0); !slices.Equal(got, []int{0}) {
		t.Errorf("a single island needs %v", got)
	}
}

// Islands agree where their best are in one place, and not where they are in different ones.
func TestAgreement(t *testing.T) {
	c := &Checkpoint{Islands: 3, Members: []CheckpointMember{
		{Place: []float64{0.50, 0.2}, Cost: 2}, {Place: []float64{0, 0}, Cost: 9},
		{Place: []float64{0.51, 0.219}, Cost: 1}, {Place: []float64{0, 0}, Cost: 9},
		{Place: []float64{0.51, 0.24}, Cost: 1.5}, {Place: []float64{0.51, 0.219}, Cost: 1.6},
	}}
	if n := c.Agreement(); n != 2 {
		t.Errorf("%d islands agree, want 2", n)
	}
}

func TestRoundsRefuse(t *testing.T) {
	p := box(2, 2, -1, 1, sphere)
	a := AEP{Members: 4, Islands: 2, Migrate: 2}
	var states []*Checkpoint
	for k := range 2 {
		s, err := a.Round(t.Context(), p, k, nil)
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, s)
	}
	other := *states[0]
	other.Seed = 9
	later := *states[1]
	later.Generation = 5
	far := *states[0]
	far.Island = new(int)
	*far.Island = 2
	for _, c := range []struct {
		name string
		do   func() (*Checkpoint, error)
		want string
	}{
		{"no such island", func() (*Checkpoint, error) { return a.Round(t.Context(), p, 2, nil) }, "there is no island 2"},
		{"another seed", func() (*Checkpoint, error) { return a.Round(t.Context(), p, 0, []*Checkpoint{&other, states[1]}) }, "its seed is 9"},
		{"another size", func() (*Checkpoint, error) {
			return AEP{Members: 5, Islands: 2}.Round(t.Context(), p, 0, states)
		}, "it has 4 members"},
		{"of no island here", func() (*Checkpoint, error) { return a.Round(t.Context(), p, 0, []*Checkpoint{&far}) },
			"it is of island 2, here there are 2"},
		{"a cost missing", func() (*Checkpoint, error) { return a.Round(t.Context(), p, 0, states[:1]) }, "island 1 is missing"},
		{"rounds mixed", func() (*Checkpoint, error) { return a.Round(t.Context(), p, 0, []*Checkpoint{states[0], &later}) },
			"after the same round"},
		{"one missing", func() (*Checkpoint, error) { return a.Join(p, states[:1]) }, "island 1 is missing"},
		{"one twice", func() (*Checkpoint, error) { return a.Join(p, []*Checkpoint{states[0], states[0]}) }, "not those of 2 islands"},
		{"of two rounds", func() (*Checkpoint, error) { return a.Join(p, []*Checkpoint{states[0], &later}) }, "not those of 2 islands"},
	} {
		if _, err := c.do(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want …%s…", c.name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, before := range [][]*Checkpoint{nil, states} {
		if s, err := a.Round(ctx, p, 0, before); !errors.Is(err, context.Canceled) || s != nil {
			t.Errorf("interrupted: %v, %v", s, err)
		}
	}
}
