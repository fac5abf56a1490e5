package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hilrig/engine"

	"gonum.org/v1/gonum/floats"
)

// script plays given numbers as if they were random.
type script struct {
	x []float64
	i int
}

func (s *script) NormFloat64() float64 {
	s.i++
	return s.x[s.i-1]
}

// Rules 1 and 2, one member through a life of contests, every number worked out by hand with β1 = 0.1, β2 = 0.05.
func TestRulesByHand(t *testing.T) {
	m := &individual{u: []float64{0.5, 0.5, 0.95}, dir: []int8{1, -1, 1}, age: 1, cost: 16, child: make([]float64, 3)}
	for i, c := range []struct {
		n       []float64 // normal numbers
		s       float64
		child   []float64
		contest float64
		u       []float64
		dir     []int8
		age     int
		cost    float64
	}{
		// age 1: along dir by 0.1·|N|·S; 0.95 + 0.1 = 1.05 is reflected to 0.95, which does not move: dir stays
		{[]float64{-2, 1, -1}, 1, []float64{0.7, 0.4, 0.95}, 9, []float64{0.7, 0.4, 0.95}, []int8{1, -1, 1}, 1, 9},
		// again age 1, S = ½; a cost that is equal does not win
		{[]float64{1, -2, -0.4}, 0.5, []float64{0.75, 0.3, 0.97}, 9, []float64{0.7, 0.4, 0.95}, []int8{1, -1, 1}, 2, 9},
		// age 2: anywhere by 0.05·2·N·S
		{[]float64{-1, 3, 0}, 1, []float64{0.6, 0.7, 0.95}, 10, []float64{0.7, 0.4, 0.95}, []int8{1, -1, 1}, 3, 9},
		// age 3: 0.05·3·N; 0.7 + 0.15·4 = 1.3 → 0.7; 0.4 − 0.6 = −0.2 → 0.2; it wins, dir = sgn(child − parent)
		{[]float64{4, -4, -1}, 1, []float64{0.7, 0.2, 0.8}, 4, []float64{0.7, 0.2, 0.8}, []int8{1, -1, -1}, 1, 4},
		{[]float64{1, 1, 1}, 1, []float64{0.8, 0.1, 0.7}, 5, []float64{0.7, 0.2, 0.8}, []int8{1, -1, -1}, 2, 4},
		{[]float64{1, 1, 1}, 1, []float64{0.8, 0.3, 0.9}, 5, []float64{0.7, 0.2, 0.8}, []int8{1, -1, -1}, 3, 4},
		{[]float64{1, 1, 1}, 1, []float64{0.85, 0.35, 0.95}, 5, []float64{0.7, 0.2, 0.8}, []int8{1, -1, -1}, 4, 4},
		// age 4 is the oldest here: after it comes 2
		{[]float64{1, 1, 0}, 1, []float64{0.9, 0.4, 0.8}, 5, []float64{0.7, 0.2, 0.8}, []int8{1, -1, -1}, 2, 4},
		// from age 2 to a win downwards
		{[]float64{-1, 1, 0}, 0.25, []float64{0.675, 0.225, 0.8}, 1, []float64{0.675, 0.225, 0.8}, []int8{-1, 1, -1}, 1, 1},
	} {
		m.bear(&script{x: c.n}, 0.1, 0.05, c.s)
		near := func(what string, got, want []float64) {
			for j := range want {
				if math.Abs(got[j]-want[j]) > 1e-12 {
					t.Errorf("step %d: %s %v, by hand %v", i, what, got, want)
				}
			}
		}
		near("child", m.child, c.child)
		copy(m.child, c.child) // ties exactly as by hand
		if i == 0 {
			m.child[2] = m.u[2]
		}
		m.contest = c.contest
		won := m.compete(4)
		near("place", m.u, c.u)
		if won != (c.age == 1) || m.age != c.age || m.cost != c.cost || !slices.Equal(m.dir, c.dir) {
			t.Errorf("step %d: won %v, age %d, cost %g, directions %v; by hand age %d, cost %g, %v", i, won, m.age, m.cost, m.dir, c.age, c.cost,
				c.dir)
		}
	}
}

func TestSpreadAndReflection(t *testing.T) {
	for _, c := range [][3]float64{{4, 16, 0.5}, {16, 16, 1}, {20, 16, 1}, {0, 16, 0}, {math.MaxFloat64, 1, 1}} {
		if s := spread(c[0], c[1]); s != c[2] {
			t.Errorf("S = %g for a cost of %g and a mean of %g, want %g", s, c[0], c[1], c[2])
		}
	}
	for _, c := range [][2]float64{{0.3, 0.3}, {-0.25, 0.25}, {1.25, 0.75}, {2.25, 0.25}, {-1.25, 0.75}, {-3.5, 0.5}, {1, 1}, {0, 0}} {
		if x := fold(c[0]); x != c[1] {
			t.Errorf("%g is reflected to %g, want %g", c[0], x, c[1])
		}
	}
	// failures are left out of the mean
	var m []*individual
	for i, f := range []float64{1, 2, 3, 1e12, math.MaxFloat64} {
		m = append(m, &individual{cost: f})
		if i == 2 && meanCost(m) != 2 {
			t.Errorf("mean %g, want 2", meanCost(m))
		}
	}
	if f := meanCost(m); f != 2 {
		t.Errorf("mean with failures %g, want 2", f)
	}
}

// What comes out of a search, for comparison to the last bit.
type outcome struct {
	Theta      [][]float64
	Cost       []float64
	Generation int
	Simulated  int
}

func searched(t *testing.T, a AEP, p *Problem) outcome {
	t.Helper()
	pop, err := a.Search(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	theta, cost := pop.Survivors(10)
	return outcome{theta, cost, pop.Generation, pop.Simulated}
}

// The same bits for any number of workers, in batches or alone, with losers given up or simulated to the end.
func TestSameBitsAnyWorkers(t *testing.T) {
	p := box(4, 6, -2, 3, rosenbrock)
	p.Params[0].Lo, p.Params[0].Log, p.Params[0].Value = 0.1, true, 1
	inBatches := *p
	inBatches.NewEvaluator = func() Evaluator { return &batched{landscape{formula: rosenbrock, r: make([]float64, 6)}} }
	whole, wholeBatches := *p, *p
	whole.NewEvaluator = func() Evaluator { return &landscape{formula: rosenbrock, whole: true} }
	wholeBatches.NewEvaluator = func() Evaluator { return &batched{landscape{formula: rosenbrock, r: make([]float64, 6), whole: true}} }
	plain := *p
	plain.NewEvaluator = func() Evaluator { return formula(rosenbrock) }
	base := AEP{Seed: 7, Members: 13, Islands: 3, Migrate: 4, Generations: 60, Workers: 1}
	want := searched(t, base, p)
	for _, c := range []struct {
		name   string
		change func(*AEP)
		p      *Problem
	}{
		{"2 workers", func(a *AEP) { a.Workers = 2 }, p},
		{"8 workers", func(a *AEP) { a.Workers = 8 }, p},
		{"batches", func(a *AEP) {}, &inBatches},
		{"batches, 3 workers", func(a *AEP) { a.Workers = 3 }, &inBatches},
		{"nobody given up", func(a *AEP) {}, &whole},
		{"batches, nobody given up", func(a *AEP) { a.Workers = 5 }, &wholeBatches},
		{"residuals only", func(a *AEP) {}, &plain},
	} {
		a := base
		c.change(&a)
		if got := searched(t, a, c.p); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
	base.Seed++
	if got := searched(t, base, p); reflect.DeepEqual(got.Theta, want.Theta) {
		t.Error("another seed gives the same result")
	}
}

// Giving up losers saves work: most terms of a long sum are never added.
func TestGivingUpSaves(t *testing.T) {
	terms := func(complete bool) int {
		l := &landscape{whole: complete}
		l.formula = func(x, r []float64) {
			for k := range r {
				r[k] = x[k%len(x)] - 0.3
			}
		}
		p := box(4, 400, -2, 3, nil)
		p.NewEvaluator = func() Evaluator { return l }
		searched(t, AEP{Workers: 1, Generations: 100}, p)
		return l.reached
	}
	if all, some := terms(true), terms(false); some > all*3/4 {
		t.Errorf("%d of %d terms were summed", some, all)
	}
}

func TestStops(t *testing.T) {
	p := box(4, 4, -2, 3, sphere)
	for _, c := range []struct {
		a       AEP
		want    string
		settled bool
	}{
		{AEP{Generations: 12}, "12 generations", false},
		{AEP{Simulations: 95}, "90 simulations", false},
	} {
		s, err := c.a.Fit(t.Context(), p, nil)
		if err != nil || !strings.Contains(s.Reason, c.want) || s.Converged != c.settled {
			t.Errorf("%+v: %v, want …%s…", s, err, c.want)
		}
	}
	var e *ParamError
	q := *p
	q.Params = slices.Clone(p.Params)
	q.Params[2].Hi = inf
	if _, err := (AEP{Members: 1, Beta1: -1, Islands: -2}).Fit(t.Context(), &q, nil); !errors.As(err, &e) || len(e.Problems) != 4 {
		t.Errorf("%v, want four problems", err)
	}
}

// A solution has the residuals and derivatives of its best member and can be assessed; progress is told every generation.
func TestSolutionOfAEP(t *testing.T) {
	p := box(2, 50, 0.1, 10, func(x, r []float64) {
		for k := range r {
			r[k] = x[0]*math.Exp(-x[1]*float64(k)/25) - 3*math.Exp(-0.5*float64(k)/25) + 0.05*math.Sin(float64(k*k))
		}
	})
	p.Params[0].Log, p.Params[1].Log = true, true
	told := 0
	s, err := AEP{Generations: 200}.Fit(t.Context(), p, func(g Progress) {
		if told++; g.Step != told || g.StepCount != 200 || g.Simulated != 30*told || len(g.Theta) != 2 {
			t.Errorf("%+v", g)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if sum := floats.Dot(s.Residual, s.Residual); math.Abs(sum/s.Cost-1) > 1e-12 {
		t.Errorf("cost %g, but the residuals give %g", s.Cost, sum)
	}
	a := assessed(t, s)
	for j, want := range []float64{3, 0.5} {
		e := a.Estimates[j]
		if math.Abs(e.Value-want) > 4**e.StdErr || e.LogCI95 == nil {
			t.Errorf("%s = %g ± %g, put in %g", e.Name, e.Value, *e.StdErr, want)
		}
	}
	for k := range 50 { // in closed form
		f := math.Exp(-s.Params[1].Value * float64(k) / 25)
		if math.Abs(s.Jac[2*k]-f) > 1e-5 || math.Abs(s.Jac[2*k+1]+s.Params[0].Value*float64(k)/25*f) > 1e-4 {
			t.Fatalf("derivatives of row %d: %g, %g", k, s.Jac[2*k], s.Jac[2*k+1])
		}
	}
	if told != 200 || len(s.Extra["survivors"].([][]float64)) == 0 || s.Evaluations < 6000 || s.Iterations != 200 {
		t.Errorf("told %d times; %+v", told, s.Extra)
	}
}

// A model that fails everywhere but in a corner is searched all the same.
func TestMostSimulationsFail(t *testing.T) {
	p := box(2, 2, 0, 1, func(x, r []float64) {
		r[0], r[1] = x[0]-0.1, x[1]-0.1
		if x[0]+x[1] > 0.5 {
			r[0] = math.NaN()
		}
	})
	pop, err := AEP{Generations: 150}.Search(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, f := pop.BestMember(); f > 1e-4 {
		t.Errorf("cost %g", f)
	}
}

func ExampleAEP() {
	// 3·exp(−t/2), recorded for 4 s
	p := &Problem{Rows: 40, NewEvaluator: func() Evaluator {
		return formula(func(x, r []float64) {
			for k := range r {
				t := float64(k) / 10
				r[k] = x[0]*math.Exp(-t/x[1]) - 3*math.Exp(-t/2)
			}
		})
	}}
	p.Params = []Param{
		{Param: engine.Param{Name: "height", Unit: "m", Value: 1, Lo: 0.1, Hi: 10}},
		{Param: engine.Param{Name: "decay", Unit: "s", Value: 1, Lo: 0.1, Hi: 10}, Log: true},
	}
	s, err := AEP{}.Fit(context.Background(), p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range s.Params {
		fmt.Printf("%s %.1f %s\n", q.Name, q.Value, q.Unit)
	}
	// Output:
	// height 3.0 m
	// decay 2.0 s
}
