package study

import (
	"math"
	"slices"
	"testing"

	"hilrig/engine/peer"
)

// The first 1024 points in 40 dimensions are those of SciPy.
func TestSobolAgainstSciPy(t *testing.T) {
	var want [][]float64
	peer.Ask(t, "scipy", nil, &want, "-c", `
import json
from scipy.stats import qmc
print(json.dumps(qmc.Sobol(40, scramble=False, bits=32).random(1024).tolist()))
`)
	for j := range SobolFactors {
		v := directions(j)
		for i := range want {
			if got := float64(sobol(&v, uint32(i))) / (1 << 32); got != want[i][j] {
				t.Fatalf("point %d, dimension %d: %g, SciPy has %g", i, j, got, want[i][j])
			}
		}
	}
}

// Of 2^k points every 2^k-th of the range of every factor holds one, and every quarter by quarter of two holds as many: whatever the seed.
func TestSobolPlanIsEven(t *testing.T) {
	var factors []Factor
	for k := range SobolFactors {
		factors = append(factors, Factor{Name: string(rune('A' + k)), Lo: 0, Hi: 1})
	}
	for seed := range uint64(4) {
		p, err := NewPlan(Sobol, factors, 256, 1, seed)
		if err != nil {
			t.Fatal(err)
		}
		for j := range factors {
			x := column(p, j, len(factors))
			slices.Sort(x)
			for i, u := range x {
				if int(u*256) != i {
					t.Fatalf("seed %d, factor %d: stratum %d holds %g", seed, j, i, u)
				}
			}
		}
		quarters := map[[2]int]int{}
		x := make([]float64, len(factors))
		for i := range 256 {
			p.Point(i, x)
			quarters[[2]int{int(x[0] * 4), int(x[1] * 4)}]++
		}
		for at, n := range quarters {
			if n != 16 {
				t.Errorf("seed %d: quarter %v holds %d of 256, want 16", seed, at, n)
			}
		}
	}
	if _, err := NewPlan(Sobol, append(factors, Factor{Name: "more", Lo: 0, Hi: 1}), 256, 1, 1); err == nil {
		t.Error("more factors than there are dimensions were taken")
	}
}

func TestListPlan(t *testing.T) {
	p, err := NewPlan(List, []Factor{{Name: "a", Values: []float64{3, 1, 2}}, {Name: "b", Values: []float64{7, 9, 8}}}, 0, 2, 1)
	if err != nil || p.Points() != 3 || p.Runs() != 6 {
		t.Fatalf("%+v, %v", p, err)
	}
	x := make([]float64, 2)
	for i, want := range [][2]float64{{3, 7}, {1, 9}, {2, 8}} {
		if p.Point(i, x); x[0] != want[0] || x[1] != want[1] {
			t.Errorf("point %d: %v, want %v", i, x, want)
		}
	}
	for _, bad := range [][]Factor{{{Name: "a", Values: []float64{1, 2}}, {Name: "b", Values: []float64{1}}}, {{Name: "a", Lo: 0, Hi: 1}}} {
		if _, err := NewPlan(List, bad, 0, 1, 1); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// Samples of a bootstrap follow from seed and run alone; run 0 has each once, and the share that a sample lacks is that of drawing with
// replacement, (1 − 1/n)ⁿ.
func TestDraw(t *testing.T) {
	const n = 50
	for i, k := range Draw(3, 0, n) {
		if i != k {
			t.Fatalf("run 0 has %d in place %d", k, i)
		}
	}
	if !slices.Equal(Draw(3, 7, n), Draw(3, 7, n)) || slices.Equal(Draw(3, 7, n), Draw(3, 8, n)) ||
		slices.Equal(Draw(3, 7, n), Draw(4, 7, n)) {
		t.Error("samples do not follow from seed and run")
	}
	lacks := 0.0
	for run := range 400 {
		seen := map[int]bool{}
		for _, k := range Draw(1, run+1, n) {
			seen[k] = true
		}
		lacks += float64(n-len(seen)) / (n * 400)
	}
	if want := math.Pow(1-1.0/n, n); math.Abs(lacks-want) > 0.01 {
		t.Errorf("a sample lacks %.3f of all, want %.3f", lacks, want)
	}
}
