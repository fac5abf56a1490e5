package fit

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine"
)

// Survivors come best first and none next to another.
func TestSurvivorsAreDistinct(t *testing.T) {
	pop, err := AEP{Generations: 20, Members: 60}.Search(t.Context(), box(2, 4, -5.12, 5.12, rastrigin), nil)
	if err != nil {
		t.Fatal(err)
	}
	theta, cost := pop.Survivors(4)
	if len(theta) != 4 || !slices.IsSorted(cost) {
		t.Fatalf("%v %v", theta, cost)
	}
	for i := range theta {
		for j := range i {
			if d := math.Max(math.Abs(theta[i][0]-theta[j][0]), math.Abs(theta[i][1]-theta[j][1])); d < 0.02*10.24 {
				t.Errorf("%v and %v are the same", theta[i], theta[j])
			}
		}
	}
}

// Islands exchange their best in a ring and only then: until the first exchange they are alone.
func TestIslandsMigrate(t *testing.T) {
	p := box(3, 3, -2, 3, sphere)
	a := AEP{Members: 6, Islands: 3, Migrate: 5}.withDefaults()
	pop, err := a.populate(p)
	if err != nil {
		t.Fatal(err)
	}
	c := newCrew(p, 2, 18)
	pop.first(t.Context(), c)
	for pop.Generation < 5 {
		pop.generation(t.Context(), c, &a)
	}
	type one struct {
		u   []float64
		age int
	}
	var best []one
	for _, island := range pop.islands {
		best = append(best, one{slices.Clone(island[0].u), island[0].age})
	}
	pop.migrate()
	pop.sort()
	for i, b := range best {
		next := pop.islands[(i+1)%3]
		if !slices.ContainsFunc(next, func(m *individual) bool { return slices.Equal(m.u, b.u) && m.age == b.age }) {
			t.Errorf("the best of island %d is not on island %d", i, (i+1)%3)
		}
		if len(next) != 6 {
			t.Errorf("island %d has %d members", i, len(next))
		}
	}
}

// Generations allocate nothing, on one processor or several.
func TestGenerationAllocs(t *testing.T) {
	for _, workers := range []int{1, 2} {
		p := box(4, 6, -2, 3, rosenbrock)
		a := AEP{Islands: 2, Workers: workers}.withDefaults()
		pop, err := a.populate(p)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		c := newCrew(p, workers, len(pop.individuals))
		pop.first(ctx, c)
		if n := testing.AllocsPerRun(50, func() { pop.generation(ctx, c, &a) }); n != 0 {
			t.Errorf("%d workers: %g allocations in a generation of %d simulations", workers, n, len(pop.individuals))
		}
		cancel()
	}
}

// A population goes on where another one ended: its members are the first, clipped into the box, and the rest is drawn.
func TestAEPFromMembers(t *testing.T) {
	p := &Problem{Rows: 2, Params: []Param{{Param: engine.Param{Name: "a", Lo: 1, Hi: 100, Value: 3}, Log: true},
		{Param: engine.Param{Name: "b", Lo: -1, Hi: 1}}}}
	p.NewEvaluator = func() Evaluator {
		return formula(func(theta, r []float64) { r[0], r[1] = theta[0]-50, theta[1]-0.5 })
	}
	var last *Checkpoint
	a := AEP{Members: 8, Generations: 1, Start: true, InitialMembers: [][]float64{{9, 9}, {40, 0.25}, {1000, -0.75}},
		Save: func(c *Checkpoint) { last = c }}
	if _, err := a.Search(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	all := last.Values()
	if len(all) != 8 {
		t.Fatalf("%d members", len(all))
	}
	for _, want := range [][]float64{{3, 0}, {40, 0.25}, {100, -0.75}} {
		if !slices.ContainsFunc(all, func(m []float64) bool { return floats.EqualApprox(m, want, 1e-12) }) {
			t.Errorf("no member at %v: %v", want, all)
		}
	}
}
