package filter

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every step-th sample is that of ZeroPhase, at the ends too, with samples that do not count or without, for filters of even and odd order.
func TestDecimator(t *testing.T) {
	filters := map[string]Lowpass{"Chebyshev 8": Chebyshev(8, 0.05, 40, 1000), "Chebyshev 8, narrow": Chebyshev(8, 0.05, 2, 1000),
		"Butterworth 4": Butterworth(4, 100, 1000), "Butterworth 5": Butterworth(5, 30, 1000), "Butterworth 1": Butterworth(1, 20, 1000)}
	for name, f := range filters {
		for _, step := range []int{1, 2, 3, 10, 25} {
			d := NewDecimator(f, step)
			for _, n := range []int{f.Padding() + 1, 100, 1537} {
				rng := rand.New(rand.NewPCG(1, uint64(n)))
				x, cut, kept := make([]float64, n), make([]float64, n), make([]bool, n)
				for k := range x {
					x[k] = 5 + 0.01*float64(k) + rng.NormFloat64()
					if kept[k] = k%97 > 20; kept[k] {
						cut[k] = x[k]
					}
				}
				for _, c := range []struct {
					full []float64
					kept []bool
				}{{f.ZeroPhase(x), nil}, {f.ZeroPhase(cut), kept}} {
					for _, first := range []int{0, min(step-1, n-1), n / 3} {
						for _, less := range []int{0, 7} { // rows before the end
							rows := make([]float64, max((n-1-first)/step+1-less, 0))
							d.Rows(x, c.kept, first, rows)
							for k, y := range rows {
								if want := c.full[first+k*step]; !(math.Abs(y-want) < 1e-9) {
									t.Fatalf("%s, every %d of %d from %d, cut %v: row %d of %d is %.14g, want %.14g", name, step, n, first, c.kept != nil,
										k, len(rows), y, want)
								}
							}
						}
					}
				}
			}
		}
	}
}

// BenchmarkDecimator is the low-pass of both sides of a regression over a stretch, of which every tenth sample is kept.
func BenchmarkDecimator(b *testing.B) {
	d, x := NewDecimator(Chebyshev(8, 0.05, 40, 1000), 10), make([]float64, 1<<16)
	kept, rows := make([]bool, len(x)), make([]float64, len(x)/10)
	for k := range x {
		x[k], kept[k] = math.Sin(0.01*float64(k)), k%1000 > 100
	}
	for b.Loop() {
		d.Rows(x, kept, 0, rows)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(x)), "ns/sample")
}
