package population

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"
)

var costs = flag.Bool("costs", false, "measure and print the table of costs")

// What a member costs, as a ratio to the plain program of one member with two calls of math.Exp. Both sides are timed in one
// run, turn by turn, and the median of the ratios is taken, so that a busy machine slows both alike.

// goals of the ratio, for full batches.
var goals = map[Path]float64{Portable: 3.5, AVX2: 20, AVX512: 30}

var sink float64

// measure returns ns per member and step of the plain program and of a path, and their ratio.
func measure(tb testing.TB, p Path, members, turns int) (ref, ns, ratio float64) {
	tr := scene(10000, Velocity)
	k := kernel(tb, tr, p)
	th, cost := crowd(members, 3), make([]float64, members)
	k.Costs(th, nil, cost)
	steps := float64(len(tr.U))
	var refs, all, ratios []float64
	for turn := range turns {
		t := time.Now()
		for i := range 4 {
			sink += plainA(tr, th[(4*turn+i)%members])
		}
		a := float64(time.Since(t).Nanoseconds()) / steps / 4
		t = time.Now()
		k.Costs(th, nil, cost)
		b := float64(time.Since(t).Nanoseconds()) / steps / float64(members)
		refs, all, ratios = append(refs, a), append(all, b), append(ratios, a/b)
	}
	return median(refs), median(all), median(ratios)
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// BenchmarkMembers reports ns per member and step, and the ratio, of every path.
func BenchmarkMembers(b *testing.B) {
	for _, p := range Paths() {
		for _, n := range []int{1, 8, 16, 32, 64, 100} {
			b.Run(fmt.Sprintf("%s/%d", p, n), func(b *testing.B) {
				ref, ns, ratio := measure(b, p, n, 31)
				for b.Loop() {
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(ref, "ns/step-plain")
				b.ReportMetric(ns, "ns/step")
				b.ReportMetric(ratio, "ratio")
				if n == 64 {
					b.ReportMetric(goals[p], "goal")
				}
			})
		}
	}
}

// TestCostTable prints the table: go test ./engine/population -run TestCostTable -v -args -costs.
func TestCostTable(t *testing.T) {
	if !*costs {
		t.Skip("a measurement: asked for with -costs")
	}
	fmt.Println("| path | members | ns per member and step | plain program | ratio | goal |\n|---|---:|---:|---:|---:|---:|")
	for _, p := range Paths() {
		for _, n := range []int{1, 8, 16, 32, 64, 100} {
			ref, ns, ratio := measure(t, p, n, 31)
			fmt.Printf("| %s | %d | %.2f | %.1f | %.1f | %.1f |\n", p, n, ns, ref, ratio, goals[p])
		}
	}
}

// Ordinary float code runs as fast after a kernel as before it: the upper halves of the vector registers are clean again.
// Left dirty, they make every scalar operation wait.
func TestFloatCodeIsNotSlowedAfterwards(t *testing.T) {
	tr := scene(2000, Velocity)
	th, cost := crowd(64, 3), make([]float64, 64)
	k := kernel(t, tr, Portable)
	plain := func() float64 { // the batch row in Go: dense scalar code
		t := time.Now()
		k.Costs(th[:8], nil, cost)
		return float64(time.Since(t).Nanoseconds())
	}
	for _, p := range Paths()[1:] {
		v := kernel(t, tr, p)
		best := [2]float64{1e18, 1e18}
		for range 15 {
			best[0] = min(best[0], plain())
			for _, n := range []int{1, 16, 32, 64} {
				v.Costs(th[:n], nil, cost)
				best[1] = min(best[1], plain())
			}
		}
		t.Logf("%s: %.2f of the time before", p, best[1]/best[0])
		if best[1] > 2*best[0] {
			t.Errorf("%s: float code takes %.1f times as long after the kernel", p, best[1]/best[0])
		}
	}
}
