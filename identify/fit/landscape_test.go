package fit

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"hilrig/engine"
)

// landscape is an evaluator whose cost is the sum of the squares of its formula; it may be given up, and batched.
type landscape struct {
	formula
	r       []float64 // of a member of a batch
	reached int       // terms that were summed
	whole   bool      // nobody is given up
}

// ResidualsWithin adds up term by term, in the same order with and without a limit.
func (l *landscape) ResidualsWithin(theta, r []float64, limit float64) (engine.Status, bool) {
	l.formula(theta, r)
	sum := 0.0
	for _, x := range r {
		l.reached++
		if sum += x * x; sum > limit && !l.whole {
			return engine.OK, false
		}
	}
	return engine.OK, true
}

type batched struct{ landscape }

func (b *batched) Width() int { return 4 }

func (b *batched) Costs(theta [][]float64, limit, cost []float64) {
	for i := range theta {
		cost[i] = math.Inf(1)
		if _, whole := b.ResidualsWithin(theta[i], b.r, limit[i]); whole {
			cost[i] = squares(b.r)
		}
	}
}

// box is a landscape over d parameters from lo to hi.
func box(d, rows int, lo, hi float64, f formula) *Problem {
	p := &Problem{Rows: rows, NewEvaluator: func() Evaluator { return &landscape{formula: f} }}
	for j := range d {
		p.Params = append(p.Params, free(fmt.Sprint("x", j), (lo+hi)/2, lo, hi))
	}
	return p
}

func sphere(x, r []float64) {
	for j := range x {
		r[j] = x[j] - 0.3
	}
}

func rosenbrock(x, r []float64) {
	for j := 0; j+1 < len(x); j++ {
		r[2*j], r[2*j+1] = 10*(x[j+1]-x[j]*x[j]), 1-x[j]
	}
}

// rastrigin: Σ r² = Σ x² + 10·(1 − cos 2πx), shifted so that the goal is not in the middle of the box.
func rastrigin(x, r []float64) {
	for j := range x {
		y := x[j] - 0.7
		r[2*j], r[2*j+1] = y, math.Sqrt(math.Max(10*(1-math.Cos(2*math.Pi*y)), 0))
	}
}

// schwefel: Σ r² = Σ 418.98 − x·sin √|x|, whose goal is near a corner, far from the second best.
func schwefel(x, r []float64) {
	for j := range x {
		r[j] = math.Sqrt(math.Max(418.9828872724339-x[j]*math.Sin(math.Sqrt(math.Abs(x[j]))), 0))
	}
}

var landscapes = []struct {
	name   string
	p      *Problem
	python string  // the same cost
	goal   float64 // cost to be below for success
	within float64 // median cost of AEP relative to that of random search, at most
}{
	{"sphere", box(6, 6, -2, 3, sphere), "np.sum((x - 0.3)**2)", 1e-3, 1e-3},
	{"rosenbrock", box(4, 6, -2, 3, rosenbrock), "np.sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)", 0.5, 0.02},
	// traps a step apart in every coordinate: no better than chance
	{"rastrigin", box(4, 8, -5.12, 5.12, rastrigin), "np.sum((x - .7)**2 + 10*(1 - np.cos(2*np.pi*(x - .7))))", 8, 1.2},
	{"schwefel", box(4, 4, -500, 500, schwefel), "np.sum(418.9828872724339 - x*np.sin(np.sqrt(abs(x))))", 200, 0.8},
}

const evaluations = 6000 // for each landscape and seed

// evolved are the costs that AEP reaches on a landscape from the given number of seeds, in order, and how many reach the goal.
func evolved(t *testing.T, p *Problem, goal float64, seeds uint64, a AEP) (costs []float64, reached int) {
	for seed := range seeds {
		a.Seed = seed
		pop, err := a.Search(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if pop.Simulated > evaluations {
			t.Errorf("%d simulations, at most %d were wanted", pop.Simulated, evaluations)
		}
		_, f := pop.BestMember()
		if costs = append(costs, f); f < goal {
			reached++
		}
	}
	slices.Sort(costs)
	return costs, reached
}

// Ten seeds on each landscape against random search with as many evaluations, which is a first generation of everybody. It
// wins by far where a direction leads on, by some where few traps are far apart, and not at all among many close ones.
func TestAgainstRandomSearch(t *testing.T) {
	for _, l := range landscapes {
		ours, reached := evolved(t, l.p, l.goal, 10, AEP{Simulations: evaluations})
		random, chance := evolved(t, l.p, l.goal, 10, AEP{Members: evaluations, Generations: 1})
		t.Logf("%s: median cost %.3g, below %g in %d of 10; random search %.3g, %d", l.name, ours[5], l.goal, reached, random[5], chance)
		if ours[5] > l.within*random[5] || reached < chance {
			t.Errorf("%s: median cost %.3g, random search %.3g; below %g in %d of 10", l.name, ours[5], random[5], l.goal, reached)
		}
	}
}
