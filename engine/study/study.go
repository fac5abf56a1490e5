// Package study runs a simulation many times over a plan of its parameters and says which of them matter.
//
// A Plan fixes every run in advance: which numbers each factor takes in it, as a function of the seed and the index of the
// run alone. So runs may be done in any order, by any number of workers, in several sittings, and give the same table. A Folder
// holds them on disk: a Manifest fixes tasks of some runs each, and every task has a file of its own, so that programs on
// other machines may do them too. Spearman and Partial then measure how far a result rises or falls
// with a factor, alone and with the other factors held: both look at ranks, so they ask for monotone relations, not for
// straight ones, and a single wild run does not decide.
//
// Assumed: a run is a pure function of its numbers. What a factor means, and how a run is made from it, is the caller's
// business; this package knows no physics.
package study

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// Design is the way in which a plan fills the space of its factors.
type Design uint8

const (
	Hypercube Design = iota // one point in each of n strata of every factor, the strata paired at random [MBC79]
	Grid                    // every combination of the levels
	Random                  // independent draws
	Sobol                   // Sobol's sequence, most even for powers of two [JK08]
	List                    // the values of all factors side by side
	Bootstrap               // no factors: recordings drawn with replacement
	Islands                 // no factors: rounds of one search, of several islands
)

// Words are the designs by number.
func (Design) Words() []string {
	return []string{"latin-hypercube", "grid", "random", "sobol", "list", "bootstrap", "islands"}
}

func (d Design) String() string { return d.Words()[d] }

// Factor is a parameter that a study varies: over a range, or over listed values.
type Factor struct {
	Name   string
	Lo, Hi float64   // range, in the unit of the factor
	Log    bool      // evenly spread in the logarithm
	Levels int       // values that a grid takes from the range, ends included
	Values []float64 // in place of a range
}

// at is the value of the factor at a share u of its range, 0 ≤ u < 1.
func (f *Factor) at(u float64) float64 {
	switch {
	case len(f.Values) > 0:
		return f.Values[min(int(u*float64(len(f.Values))), len(f.Values)-1)]
	case f.Log:
		return min(max(f.Lo*math.Exp(u*math.Log(f.Hi/f.Lo)), f.Lo), f.Hi)
	}
	return min(max(f.Lo+u*(f.Hi-f.Lo), f.Lo), f.Hi)
}

// level is the k-th value of the factor in a grid.
func (f *Factor) level(k int) float64 {
	switch {
	case len(f.Values) > 0:
		return f.Values[k]
	case k == 0:
		return f.Lo
	case k == f.Levels-1:
		return f.Hi // as written, not by way of the logarithm
	}
	return f.at(float64(k) / float64(f.Levels-1))
}

// levels is how many values a grid takes.
func (f *Factor) levels() int {
	if len(f.Values) > 0 {
		return len(f.Values)
	}
	return f.Levels
}

// check says what is wrong with a factor.
func (f *Factor) check(d Design) error {
	for _, v := range append([]float64{f.Lo, f.Hi}, f.Values...) {
		if v-v != 0 {
			return fmt.Errorf("%s: a value is not finite", f.Name)
		}
	}
	switch {
	case len(f.Values) > 0:
		return nil
	case !(f.Lo < f.Hi):
		return fmt.Errorf("%s: the range runs from %g to %g, want it to rise", f.Name, f.Lo, f.Hi)
	case f.Log && f.Lo <= 0:
		return fmt.Errorf("%s: a logarithmic range begins at %g, want more than 0", f.Name, f.Lo)
	case d == Grid && f.Levels < 2:
		return fmt.Errorf("%s: %d levels of a range, a grid wants at least 2", f.Name, f.Levels)
	}
	return nil
}

// MaxRuns is the largest plan.
const MaxRuns = 10_000_000

// Plan is the list of all runs of a study. It does not change once made and may be read by many goroutines.
type Plan struct {
	design     Design
	factors    []Factor
	points     int
	replicates int
	share      [][]float64 // by factor and point, for hypercube, random and Sobol'
}

// NewPlan makes a plan. points is ignored by a grid, which has as many as its levels make, and by a list. Every point is run replicates
// times (0 counts as 1), which differ in nothing but the seed that the caller gives them.
func NewPlan(d Design, factors []Factor, points, replicates int, seed uint64) (*Plan, error) {
	p := &Plan{design: d, factors: factors, points: points, replicates: max(replicates, 1)}
	names := map[string]bool{}
	for i := range factors {
		if err := factors[i].check(d); err != nil {
			return nil, err
		}
		if names[factors[i].Name] {
			return nil, fmt.Errorf("%s: varied twice", factors[i].Name)
		}
		names[factors[i].Name] = true
	}
	switch {
	case d != Bootstrap && d != Islands && len(factors) == 0:
		return nil, errors.New("there is nothing to vary")
	case d == List:
		p.points = len(factors[0].Values)
		for i := range factors {
			if n := len(factors[i].Values); n == 0 || n != p.points {
				return nil, fmt.Errorf("%s has %d listed values and %s %d: a list takes the n-th of all", factors[0].Name, p.points, factors[i].Name, n)
			}
		}
	case d == Sobol && len(factors) > SobolFactors:
		return nil, fmt.Errorf("%d factors, a Sobol' plan has at most %d", len(factors), SobolFactors)
	}
	if d == Grid {
		p.points = 1
		for i := range factors {
			if p.points *= factors[i].levels(); p.points > MaxRuns {
				break
			}
		}
	}
	if p.points < 1 || p.points > MaxRuns/p.replicates {
		return nil, fmt.Errorf("%d points, %d times each: want at least one run and at most %d", p.points, p.replicates, MaxRuns)
	}
	for i := range factors {
		switch d {
		case Hypercube, Random:
			p.share = append(p.share, shares(d, factors[i].Name, p.points, seed))
		case Sobol:
			p.share = append(p.share, sobolShares(i, factors[i].Name, p.points, seed))
		}
	}
	return p, nil
}

// shares draws where in the range of a factor the points lie. Each factor has a stream of its own, named by the factor: one
// more factor leaves the values of the others alone.
func shares(d Design, name string, n int, seed uint64) []float64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	rng := rand.New(rand.NewPCG(seed, h.Sum64()))
	out := make([]float64, n)
	if d == Random {
		for i := range out {
			out[i] = rng.Float64()
		}
		return out
	}
	// a random order of the strata, and a random place in each
	for i, stratum := range rng.Perm(n) {
		u := (float64(stratum) + rng.Float64()) / float64(n)
		out[i] = min(u, math.Nextafter(float64(stratum+1)/float64(n), 0)) // rounding must not lift it into the next stratum
	}
	return out
}

// Runs is the number of runs: points times replicates.
func (p *Plan) Runs() int { return p.points * p.replicates }

// Points is the number of different settings of the factors.
func (p *Plan) Points() int { return p.points }

// Replicates is how often each point is run.
func (p *Plan) Replicates() int { return p.replicates }

// Run tells which point and which replicate a run is. The replicates of a point follow one another.
func (p *Plan) Run(run int) (point, replicate int) { return run / p.replicates, run % p.replicates }

// Point fills x with the values of the factors at a point. In a grid the last factor changes fastest.
func (p *Plan) Point(point int, x []float64) {
	if len(x) != len(p.factors) || point < 0 || point >= p.points {
		panic(fmt.Sprintf("study: point %d with room for %d values; the plan has %d points of %d", point, len(x), p.points, len(p.factors)))
	}
	if p.design == Grid {
		for j := len(x) - 1; j >= 0; j-- {
			n := p.factors[j].levels()
			x[j] = p.factors[j].level(point % n)
			point /= n
		}
		return
	}
	for j := range x {
		if p.design == List {
			x[j] = p.factors[j].Values[point]
			continue
		}
		x[j] = p.factors[j].at(p.share[j][point])
	}
}

// Draw is a sample of n numbers below n with replacement, as a function of the seed and the run alone. Run 0 has each once.
func Draw(seed uint64, run, n int) []int {
	rng, out := rand.New(rand.NewPCG(seed, 0xb007+uint64(run)<<16)), make([]int, n)
	for i := range out {
		if out[i] = i; run > 0 {
			out[i] = rng.IntN(n)
		}
	}
	return out
}

// Seeds draws n seeds for runs, from 0 to 2³¹ − 1, as a function of the seed and their index alone.
func Seeds(seed uint64, n int) []int64 {
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	out := make([]int64, n)
	for i := range out {
		out[i] = rng.Int64N(1 << 31)
	}
	return out
}
