package fit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// AEP is accelerated evolutionary programming, [MOGI] (6.23)–(6.32) [KC96]: a population that needs neither derivatives nor a
// good start, whose members remember in which direction they succeeded and for how long they have not.
//
// The cost is f = Σ r² (6.31). Every generation each member has exactly one child (rule 2, see bear), which takes its place
// if it costs less (rule 1, see compete). Places are those in the box of bounds scaled to 0 … 1, of Log parameters by the
// logarithm; steps that leave the box are reflected.
//
// The source leaves the factor S and the numbers open. Here S = √(f/f̄0), at most 1, with f̄0 the mean cost of the first
// generation, and the defaults below are ours. As f̄0 is fixed, steps become small as the fit becomes good.
//
// It brings a rough guess into the neighbourhood of a solution, and is slow from there: the last digits are LM's, from the
// Survivors. A seed gives the same result, to the last bit, for any number of workers, any width of batches, with or
// without early abandonment, and in one go or resumed from a Checkpoint; an interruption ends it early.
//
// The zero value is a good method.
type AEP struct {
	Members int `yaml:"members" want:">=2 <=100000" doc:"individuals"` // of an island; 0: 30
	// with that of the random members; 0: 100, or no limit if Simulations is given
	Generations int     `yaml:"generations" want:">=1 <=1000000" doc:"at most"`
	Islands     int     `yaml:"islands" want:">=1 <=1000" doc:"populations that exchange their best"`                // 0: 1
	Beta1       float64 `yaml:"beta1" want:">0 <=1" doc:"spread in the direction of the last success [MOGI] (6.26)"` // 0: 0.1
	Beta2       float64 `yaml:"beta2" want:">0 <=1" doc:"spread per age without it [MOGI] (6.26)"`                   // 0: 0.05
	Spread      Spread  `yaml:"spread" doc:"cost: the spread shrinks with the root of the cost; one: as [MOGI] (6.26) is written"`
	Survivors   int     `yaml:"survivors" want:">=1 <=100" doc:"best individuals that a following lm polishes"` // 0: 3

	Migrate int `yaml:"migrate" want:">=1 <=1000000" doc:"generations from one exchange between islands to the next"` // 0: 10
	// no generation begins that would exceed as many; 0: no limit
	Simulations int `yaml:"-"`

	Seed  uint64 `yaml:"-"`
	Start bool   `yaml:"-"` // the values of the parameters are among the first members

	// the first members, of each parameter a value, clipped into the box; the others are drawn. nil: all are
	InitialMembers [][]float64 `yaml:"-" json:"-"`
	// f̄0 of the evolution that InitialMembers goes on with, for as many rows as these; 0: that of the first members
	Mean    float64 `yaml:"-" json:"-"`
	Workers int     `yaml:"-"` // 0: as many as there are processors

	// Save is called with the state after every Every-th generation, and at the end. Resume continues from such a state;
	// it must come from the same problem and population.
	Save   func(*Checkpoint) `yaml:"-" json:"-"`
	Every  int               `yaml:"-"` // 0: 10
	Resume *Checkpoint       `yaml:"-" json:"-"`
}

// Spread is the factor S of (6.26).
type Spread uint8

const (
	SpreadCost Spread = iota // √(f/f̄0)
	SpreadOne                // 1
)

// Words are the spreads by number.
func (Spread) Words() []string { return []string{"cost", "one"} }

// Fit is Search with its best member as a solution, whose derivatives are by differences. Cost is Σ r²; Converged says that
// the model explains every number; Extra has "survivors" ([][]float64) and "survivor_costs", "mean_first_cost" and "generations".
func (a AEP) Fit(ctx context.Context, p *Problem, watch Watch) (*Solution, error) {
	begin := time.Now()
	pop, err := a.Search(ctx, p, watch)
	if err != nil {
		return nil, err
	}
	best, cost := pop.BestMember()
	s, err := LM{Workers: a.Workers}.At(p.At(best))
	if err != nil {
		return nil, err
	}
	s.Objective, s.Cost = "sum of squared residuals", cost
	s.Converged, s.Reason = pop.converged, pop.Reason
	s.Trace, s.Iterations, s.Evaluations = pop.trace, pop.Generation, s.Evaluations+pop.Simulated
	theta, costs := pop.Survivors(cmp.Or(a.Survivors, 3))
	s.Extra = map[string]any{"survivors": theta, "survivor_costs": costs, "mean_first_cost": pop.mean, "generations": pop.Generation,
		"on_bound": s.Extra["on_bound"]}
	s.Compute = time.Since(begin)
	return s, nil
}

// Search evolves a population until one of the limits. An interruption through ctx is no error: the population is that of
// the last complete generation, the best so far. An error is a *ParamError, or says that a Checkpoint does not belong here.
func (a AEP) Search(ctx context.Context, p *Problem, watch Watch) (*Population, error) {
	a = a.withDefaults()
	if err := a.check(p); err != nil {
		return nil, err
	}
	pop, err := a.populate(p)
	if err != nil {
		return nil, err
	}
	c := newCrew(p, a.Workers, len(pop.individuals))

	for {
		if pop.Reason, pop.converged = a.endReason(ctx, pop); pop.Reason != "" {
			break
		}
		complete := false
		if pop.Generation == 0 {
			complete = pop.first(ctx, c)
		} else {
			complete = pop.generation(ctx, c, &a)
		}
		if !complete {
			continue // ended by the context
		}
		best := pop.order[0]
		pop.trace = append(pop.trace, best.cost)
		if watch != nil {
			watch(Progress{
				Method: "aep", Phase: "generation", Step: pop.Generation, StepCount: a.Generations,
				BestCost: best.cost, Unit: squared(p.Unit), Simulated: pop.Simulated, Theta: pop.theta(best),
			})
		}
		if a.Save != nil && pop.Generation%a.Every == 0 {
			a.Save(pop.Checkpoint())
		}
	}
	if pop.Simulated == 0 {
		return nil, fmt.Errorf("fit: interrupted before the first member was simulated: %w", context.Cause(ctx))
	}
	if a.Save != nil && pop.Generation > 0 {
		a.Save(pop.Checkpoint())
	}
	return pop, nil
}

// endReason tells why the search is over, if it is, and whether it found what it was looking for.
func (a *AEP) endReason(ctx context.Context, pop *Population) (reason string, settled bool) {
	switch {
	case ctx.Err() != nil:
		return "interrupted", false
	case pop.Generation == 0:
		return "", false
	case pop.order[0].cost == 0:
		return "the model explains every number exactly", true
	case a.Generations > 0 && pop.Generation >= a.Generations:
		return fmt.Sprintf("%d generations", a.Generations), false
	case a.Simulations > 0 && pop.Simulated+len(pop.individuals) > a.Simulations:
		return fmt.Sprintf("%d simulations", pop.Simulated), false
	}
	return "", false
}

func (a AEP) withDefaults() AEP {
	a.Members, a.Islands = cmp.Or(a.Members, 30), cmp.Or(a.Islands, 1)
	a.Migrate, a.Every = cmp.Or(a.Migrate, 10), cmp.Or(a.Every, 10)
	a.Beta1, a.Beta2 = cmp.Or(a.Beta1, 0.1), cmp.Or(a.Beta2, 0.05)
	if a.Simulations == 0 {
		a.Generations = cmp.Or(a.Generations, 100)
	}
	return a
}

// check tells every problem of the settings and of the parameters: a box has to have sides.
func (a *AEP) check(p *Problem) error {
	bad := p.check()
	add := bad.Add
	for _, q := range p.Params {
		if math.IsInf(q.Lo, 0) || math.IsInf(q.Hi, 0) || math.IsInf(q.Hi-q.Lo, 0) {
			add("%s: bounds %g to %g %s, want finite ones: a population is drawn between them", q.Name, q.Lo, q.Hi, q.Unit)
		}
	}
	for _, v := range []struct {
		name string
		v    int
		min  int
	}{
		{"members", a.Members, 2}, {"generations", a.Generations, 0}, {"islands", a.Islands, 1},
		{"migrate", a.Migrate, 1}, {"simulations", a.Simulations, 0}, {"every", a.Every, 1}, {"workers", a.Workers, 0},
	} {
		if v.v < v.min {
			add("aep %s: %d, want at least %d", v.name, v.v, v.min)
		}
	}
	if n := a.Members * a.Islands; a.Simulations > 0 && a.Simulations < n {
		add("aep simulations: %d, want at least %d, one for each member", a.Simulations, n)
	}
	for _, beta := range []float64{a.Beta1, a.Beta2} {
		if !(beta > 0 && beta <= 1) {
			add("aep step size %g, want above 0, at most 1 (of the box)", beta)
		}
	}
	slices.Sort(bad.Problems)
	return bad.OrNil()
}
