package fit

import (
	"context"
	"fmt"
	"slices"
)

// A search on islands falls into rounds: round 0 evaluates the random members, and each of the following goes from an exchange to the next.
// Within a round islands know nothing of each other, so that programs on different machines may do them. What an island needs of the round
// before is its own state and the best of the island before it in the ring, in round 1 the costs of all first members, for f̄0. All
// islands of all rounds, joined, are the population of Search, to the last bit.

// Needs tells whose states of the round before an island needs, the least first.
func (a AEP) Needs(round, island int) (islands []int) {
	n := a.withDefaults().Islands
	switch {
	case round == 1:
		for k := range n {
			islands = append(islands, k)
		}
	case round > 1:
		islands = []int{island, (island + n - 1) % n}
		slices.Sort(islands)
	}
	return slices.Compact(islands)
}

// Round does a round of an island. before are the states that it needs, in any order. When ctx ends it, there is no state, and the error is
// that of ctx; other errors are those of Search.
func (a AEP) Round(ctx context.Context, p *Problem, island int, before []*Checkpoint) (*Checkpoint, error) {
	a = a.withDefaults()
	a.Resume = nil
	if err := a.check(p); err != nil {
		return nil, err
	}
	pop, err := a.populate(p)
	if err != nil {
		return nil, err
	}
	if island < 0 || island >= a.Islands {
		return nil, fmt.Errorf("aep: there is no island %d: there are %d, from 0", island, a.Islands)
	}
	given := map[int]bool{}
	for _, c := range before {
		if err := pop.restore(c); err != nil {
			return nil, err
		}
		if c.Island == nil || c.Generation != before[0].Generation {
			return nil, fmt.Errorf("aep: the states are not those of islands after the same round")
		}
		given[*c.Island] = true
	}
	for _, k := range a.Needs(min(pop.Generation, 2), island) { // of round 1 the generation is 1
		if !given[k] {
			return nil, fmt.Errorf("aep: the state of island %d is missing", k)
		}
	}
	switch {
	case len(before) > 0 && pop.Generation == 1:
		pop.mean = meanCost(pop.order)
	case len(before) > 0:
		if pop.immigrate(island) {
			pop.sort()
		}
	}
	pop.keepIsland(island)
	c := newCrew(p, a.Workers, len(pop.individuals))
	if len(before) == 0 {
		if !pop.first(ctx, c) {
			return nil, context.Cause(ctx)
		}
		pop.mean = 0 // that of all islands is not known yet
	} else {
		for range a.Migrate {
			if !pop.generation(ctx, c, &a) {
				return nil, context.Cause(ctx)
			}
		}
	}
	state := pop.Checkpoint()
	state.Islands, state.Island = a.Islands, &island
	return state, nil
}

// keepIsland leaves one island of a population.
func (pop *Population) keepIsland(island int) {
	pop.islands = pop.islands[island : island+1]
	pop.individuals = slices.Clone(pop.islands[0])
	pop.order = slices.Clone(pop.individuals)
	n := len(pop.individuals)
	pop.u, pop.limit, pop.cost = pop.u[:n], pop.limit[:n], pop.cost[:n]
}

// Join is the state of the whole search after a round, of the states of all islands. The exchange that ends the round is in it.
func (a AEP) Join(p *Problem, parts []*Checkpoint) (*Checkpoint, error) {
	a = a.withDefaults()
	a.Resume = nil
	if err := a.check(p); err != nil {
		return nil, err
	}
	pop, err := a.populate(p)
	if err != nil {
		return nil, err
	}
	simulated, seen := 0, make([]bool, a.Islands)
	for _, c := range parts {
		if err := pop.restore(c); err != nil {
			return nil, err
		}
		if c.Island == nil || seen[*c.Island] || c.Generation != parts[0].Generation {
			return nil, fmt.Errorf("aep: the states are not those of %d islands after the same round", a.Islands)
		}
		seen[*c.Island] = true
		simulated += c.Simulated
	}
	if slices.Contains(seen, false) {
		return nil, fmt.Errorf("aep: the state of island %d is missing", slices.Index(seen, false))
	}
	if pop.Simulated = simulated; pop.Generation > 1 {
		pop.migrate()
		pop.sort()
	}
	return pop.Checkpoint(), nil
}

// Agreement tells how many islands have their best member where the best of all is: within two hundredths of the range of every parameter.
func (c *Checkpoint) Agreement() (islands int) {
	size := len(c.Members) / c.Islands
	best := &c.Members[0]
	for i := 0; i < len(c.Members); i += size {
		if m := &c.Members[i]; m.Cost < best.Cost {
			best = m
		}
	}
	for i := 0; i < len(c.Members); i += size {
		if areNeighbours(c.Members[i].Place, best.Place) {
			islands++
		}
	}
	return islands
}
