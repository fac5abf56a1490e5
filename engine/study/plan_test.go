package study

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func column(p *Plan, j, factors int) []float64 {
	x, out := make([]float64, factors), make([]float64, p.Points())
	for i := range out {
		p.Point(i, x)
		out[i] = x[j]
	}
	return out
}

// Every stratum of every factor holds exactly one point, on linear and logarithmic scales, for any number of points.
func TestHypercubeHasOnePointInEachStratum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 700).Draw(t, "points")
		lo := rapid.Float64Range(1e-6, 10).Draw(t, "lo")
		hi := lo * rapid.Float64Range(1.5, 1e4).Draw(t, "ratio")
		seed := rapid.Uint64().Draw(t, "seed")
		p, err := NewPlan(Hypercube, []Factor{{Name: "lin", Lo: -lo, Hi: hi}, {Name: "log", Lo: lo, Hi: hi, Log: true}}, n, 1, seed)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 2 {
			seen := make([]int, n)
			for _, v := range column(p, j, 2) {
				u := (v + lo) / (hi + lo)
				if j == 1 {
					u = math.Log(v/lo) / math.Log(hi/lo)
				}
				// the value has been rounded; what lies within that of a border may count to either side
				k := int(u * float64(n))
				if near := math.Round(u * float64(n)); math.Abs(u*float64(n)-near) < 1e-9*float64(n) && int(near) < n && seen[int(near)] == 0 &&
					(k >= n || seen[k] > 0) {
					k = int(near)
				}
				seen[min(max(k, 0), n-1)]++
			}
			for k, c := range seen {
				if c != 1 {
					t.Fatalf("factor %d: stratum %d of %d holds %d points", j, k, n, c)
				}
			}
		}
	})
}

// The shares before any rounding by a range: exact strata.
func TestSharesAreStratified(t *testing.T) {
	for _, n := range []int{1, 2, 69, 1400, 4096} {
		s := shares(Hypercube, "a", n, 7)
		slices.Sort(s)
		for k, u := range s {
			if !(float64(k)/float64(n) <= u && u < float64(k+1)/float64(n)) {
				t.Fatalf("n = %d: share %g is not in stratum %d", n, u, k)
			}
		}
	}
}

// A point depends on the seed, its factor's name and its index: another seed moves it, another factor beside it does not.
func TestPointsDependOnSeedAndNameOnly(t *testing.T) {
	a, b := Factor{Name: "a", Lo: 0, Hi: 1}, Factor{Name: "b", Lo: 0, Hi: 1}
	plan := func(seed uint64, f ...Factor) *Plan {
		p, err := NewPlan(Hypercube, f, 50, 1, seed)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one := column(plan(1, a), 0, 1)
	if !slices.Equal(one, column(plan(1, b, a), 1, 2)) {
		t.Error("another factor moved the points")
	}
	if slices.Equal(one, column(plan(2, a), 0, 1)) {
		t.Error("another seed gives the same points")
	}
	if slices.Equal(one, column(plan(1, b), 0, 1)) {
		t.Error("two factors share their points")
	}
	// the numbers themselves are part of the promise: a study is found again by its seed
	if got := fmt.Sprintf("%.6f", one[:3]); got != "[0.636825 0.268965 0.971581]" {
		t.Errorf("the first points are %s: studies of before this change cannot be repeated; raise the version of results", got)
	}
}

func TestGridHasEveryCombinationOnce(t *testing.T) {
	p, err := NewPlan(Grid, []Factor{
		{Name: "a", Lo: 1, Hi: 100, Log: true, Levels: 3}, {Name: "b", Values: []float64{5, 3}}, {Name: "c", Lo: -1, Hi: 1, Levels: 2},
	}, 0, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p.Points() != 12 || p.Runs() != 48 {
		t.Fatalf("%d points, %d runs", p.Points(), p.Runs())
	}
	seen := map[[3]float64]bool{}
	var x [3]float64
	for i := range p.Points() {
		p.Point(i, x[:])
		seen[[3]float64{math.Round(x[0]*1e9) / 1e9, x[1], x[2]}] = true
	}
	for _, a := range []float64{1, 10, 100} {
		for _, b := range []float64{5, 3} {
			for _, c := range []float64{-1, 1} {
				if !seen[[3]float64{a, b, c}] {
					t.Errorf("%g, %g, %g is missing", a, b, c)
				}
			}
		}
	}
	p.Point(1, x[:])
	if x != [3]float64{1, 5, 1} {
		t.Errorf("the second point is %v: the last factor changes fastest", x)
	}
	if point, rep := p.Run(47); point != 11 || rep != 3 {
		t.Errorf("the last run is replicate %d of point %d", rep, point)
	}
}

// Listed values appear equally often in a hypercube.
func TestHypercubeOverValues(t *testing.T) {
	p, err := NewPlan(Hypercube, []Factor{{Name: "a", Values: []float64{1, 2, 4}}}, 30, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	count := map[float64]int{}
	for _, v := range column(p, 0, 1) {
		count[v]++
	}
	if count[1] != 10 || count[2] != 10 || count[4] != 10 {
		t.Errorf("%v", count)
	}
}

func TestPlansThatAreRefused(t *testing.T) {
	ok := Factor{Name: "a", Lo: 0, Hi: 1}
	for _, c := range []struct {
		name    string
		d       Design
		factors []Factor
		points  int
	}{
		{"falling range", Hypercube, []Factor{{Name: "a", Lo: 2, Hi: 1}}, 5},
		{"log from zero", Hypercube, []Factor{{Name: "a", Lo: 0, Hi: 1, Log: true}}, 5},
		{"not finite", Hypercube, []Factor{{Name: "a", Lo: math.NaN(), Hi: 1}}, 5},
		{"infinite value", Grid, []Factor{{Name: "a", Values: []float64{math.Inf(1)}}}, 5},
		{"twice", Hypercube, []Factor{ok, ok}, 5},
		{"no points", Hypercube, []Factor{ok}, 0},
		{"too many", Hypercube, []Factor{ok}, MaxRuns + 1},
		{"grid without levels", Grid, []Factor{ok}, 0},
		{"huge grid", Grid, []Factor{{Name: "a", Lo: 0, Hi: 1, Levels: 1 << 30}, {Name: "b", Lo: 0, Hi: 1, Levels: 1 << 30},
			{Name: "c", Lo: 0, Hi: 1, Levels: 1 << 30}}, 0},
	} {
		if _, err := NewPlan(c.d, c.factors, c.points, 1, 1); err == nil {
			t.Errorf("%s: taken", c.name)
		}
	}
}
