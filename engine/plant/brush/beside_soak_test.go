//go:build soak && linux

package brush

import (
	"math"
	"slices"
	"testing"
)

// What a tick of 50 sub-steps costs over the hypercube of the eleven parameters and over its corner of tight, soft brushes with much
// friction, in processor time; the dearest sets are named in costly.
func TestSoakCostInTheLoop(t *testing.T) {
	type found struct {
		what       string
		x          []float64
		seed       float64
		mean, tail float64
	}
	var all []found
	try := func(what string, x []float64, seed float64) {
		p := DefaultParams()
		eleven(&p, x)
		p.Commutator.Seed, p.Face.Seed = seed, seed
		took, _ := ticks(t, p, 1000)
		all = append(all, found{what, x, seed, meanOf(took), quantileOf(took, 0.999)})
	}
	for _, seed := range []uint64{1, 2} {
		for i, x := range design(240, 11, seed) {
			try("design", x, float64(1000*seed)+float64(i))
		}
	}
	for i, x := range design(120, 11, 7) {
		y := slices.Clone(x)
		y[4], y[5], y[7] = 0.15*x[4], 0.15*x[5], 1-0.15*x[7] // κ and clearance low, μ high
		try("wedged", y, float64(7000+i))
	}
	for _, by := range []struct {
		name string
		of   func(found) float64
	}{{"mean", func(f found) float64 { return f.mean }}, {"p99.9", func(f found) float64 { return f.tail }}} {
		slices.SortFunc(all, func(a, b found) int { return int(math.Copysign(1, by.of(b)-by.of(a))) })
		for _, f := range all[:8] {
			p := DefaultParams()
			eleven(&p, f.x)
			p.Commutator.Seed, p.Face.Seed = f.seed, f.seed
			took, b := ticks(t, p, 4000)
			t.Logf("by %-5s %-6s seed %5.0f  %s  x %.3f", by.name, f.what, f.seed, describeCost(took, b), f.x)
			usual, _ := ticks(t, DefaultParams(), 1000) // right after it, on the same machine in the same mood
			if m := meanOf(took) / meanOf(usual); m > 5 {
				t.Errorf("%s, seed %g: %.1f times the default on average", f.what, f.seed, m)
			}
			if b.Counts.Unverified > 0 || b.Counts.Restarts > 0 {
				t.Errorf("%s, seed %g: %d sub-steps not verified, %d restarts", f.what, f.seed, b.Counts.Unverified, b.Counts.Restarts)
			}
		}
	}
}
