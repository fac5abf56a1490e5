package fit

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// Population is the state of an AEP search: its members on their islands.
type Population struct {
	Generation int    // complete ones; the first are the random members
	Simulated  int    // simulations, abandoned ones too
	Reason     string // why the search ended

	box       unitBox
	seed      uint64
	converged bool
	mean      float64   // f̄0
	trace     []float64 // least cost after every generation of this search

	individuals []*individual   // in the order of birth; places in memory
	islands     [][]*individual // each sorted by cost
	order       []*individual   // all, sorted by cost

	// views for the crew
	u           [][]float64
	limit, cost []float64
}

// populate makes room for the population and gives it its random numbers: individual i has the stream i of the seed.
func (a *AEP) populate(p *Problem) (*Population, error) {
	n, d := a.Members*a.Islands, len(p.Params)
	pop := &Population{
		box: slices.Clone(p.Params), seed: a.Seed, mean: a.Mean, islands: make([][]*individual, a.Islands),
		u: make([][]float64, n), limit: make([]float64, n), cost: make([]float64, n),
	}
	flat := make([]float64, 2*n*d)
	for i := range n {
		m := &individual{birth: i, u: flat[:d:d], child: flat[d : 2*d : 2*d], dir: make([]int8, d), cost: math.Inf(1)}
		flat = flat[2*d:]
		m.source.Seed(a.Seed, uint64(i))
		m.normal = rand.New(&m.source)
		m.begin()
		switch {
		case a.Start && i%a.Members == 0:
			pop.box.from(Values(p.Params), m.u)
		case i < len(a.InitialMembers):
			pop.box.from(a.InitialMembers[i], m.u)
		}
		pop.individuals = append(pop.individuals, m)
		pop.islands[i/a.Members] = append(pop.islands[i/a.Members], m)
	}
	pop.order = slices.Clone(pop.individuals)
	if a.Resume != nil {
		if err := pop.restore(a.Resume); err != nil {
			return nil, err
		}
	}
	return pop, nil
}

// first evaluates the random members. Interrupted, it keeps what it has.
func (pop *Population) first(ctx context.Context, c *crew) bool {
	for i, m := range pop.individuals {
		pop.u[i], pop.limit[i] = m.u, math.Inf(1)
	}
	complete := c.evaluate(ctx, pop.u, pop.limit, pop.cost)
	for i, m := range pop.individuals {
		if c.computed[i] {
			m.cost = pop.cost[i]
			pop.Simulated++
		}
	}
	pop.sort()
	if !complete {
		return false
	}
	pop.mean = cmp.Or(pop.mean, meanCost(pop.order))
	pop.Generation = 1
	return true
}

// generation lets every member bear a child and compete with it. Interrupted, the population stays as it was, random
// numbers included.
func (pop *Population) generation(ctx context.Context, c *crew, a *AEP) bool {
	// evaluated by rank, so that neighbours in a batch are given up at about the same cost
	for i, m := range pop.order {
		m.generationSource = m.source
		s := 1.0
		if a.Spread == SpreadCost {
			s = spread(m.cost, pop.mean)
		}
		m.bear(m.normal, a.Beta1, a.Beta2, s)
		pop.u[i], pop.limit[i] = m.child, m.cost
	}
	if !c.evaluate(ctx, pop.u, pop.limit, pop.cost) {
		for _, m := range pop.individuals {
			m.source = m.generationSource
		}
		return false
	}
	for i, m := range pop.order {
		m.contest = pop.cost[i]
		m.compete(oldestAge)
	}
	pop.Generation++
	pop.Simulated += len(pop.individuals)
	pop.sort()
	if len(pop.islands) > 1 && (pop.Generation-1)%a.Migrate == 0 {
		pop.migrate()
		pop.sort()
	}
	return true
}

// migrate copies the best of every island over the worst of the next, in a ring. Random numbers stay where they are. The
// best have all been read before anything is written: the worst of an island is not its best.
func (pop *Population) migrate() {
	for i := range pop.islands {
		pop.immigrate(i)
	}
}

// immigrate copies the best of the island before over the worst of this one, if it costs less.
func (pop *Population) immigrate(island int) bool {
	n := len(pop.islands)
	to := pop.islands[island]
	best, worst := pop.islands[(island+n-1)%n][0], to[len(to)-1]
	if n == 1 || !(best.cost < worst.cost) {
		return false
	}
	copy(worst.u, best.u)
	copy(worst.dir, best.dir)
	worst.age, worst.cost = best.age, best.cost
	return true
}

// sort orders islands and the whole by cost. Members that cost the same keep their order, so that the order is one of
// the population and not of the machine.
func (pop *Population) sort() {
	for _, island := range pop.islands {
		sortByCost(island)
	}
	n := 0
	for _, island := range pop.islands {
		n += copy(pop.order[n:], island)
	}
	sortByCost(pop.order)
}

func sortByCost(m []*individual) {
	slices.SortStableFunc(m, func(a, b *individual) int { return cmp.Compare(a.cost, b.cost) })
}

// theta are the parameters of a member.
func (pop *Population) theta(m *individual) []float64 {
	t := make([]float64, len(m.u))
	pop.box.theta(m.u, t)
	return t
}

// BestMember is the member of least cost and this cost, Σ r².
func (pop *Population) BestMember() (theta []float64, cost float64) {
	t, c := pop.Survivors(1)
	return t[0], c[0]
}

// survivorSpacing is how far two survivors are from each other in some parameter, as a share of its range.
const survivorSpacing = 0.02

// Survivors are the best members, k at most, none next to a better one: starts for a method that finds the last digits.
func (pop *Population) Survivors(k int) (theta [][]float64, cost []float64) {
	var chosen []*individual
	for _, m := range pop.order {
		if len(chosen) < k && !math.IsInf(m.cost, 0) && !slices.ContainsFunc(chosen,
			func(o *individual) bool { return areNeighbours(m.u, o.u) }) {
			chosen = append(chosen, m)
			theta, cost = append(theta, pop.theta(m)), append(cost, m.cost)
		}
	}
	return theta, cost
}

// areNeighbours tells whether two places are less than two survivors apart.
func areNeighbours(a, b []float64) bool {
	for j, u := range a {
		if math.Abs(u-b[j]) > survivorSpacing {
			return false
		}
	}
	return true
}
