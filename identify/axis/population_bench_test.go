//go:build unix

package axis

import (
	"context"
	"testing"

	"hilrig/engine/population"
	"hilrig/identify/fit"
)

// BenchmarkLocalFit is the fit of the six parameters of the contact to 10 000 samples, with all that its covariances need.
// Processor time is what counts on a machine that does other things.
func BenchmarkLocalFit(b *testing.B) {
	rec := populationRecord(b, 10000, 2e-4, 1)
	pr, err := PopulationProblem(rec, Velocity, populationParams(5, populationOff))
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range population.Paths() {
		b.Run(path.String(), func(b *testing.B) {
			on := populationOn(b, pr, path)
			b.ReportAllocs()
			begin := startWatch()
			for b.Loop() {
				s, err := fit.LM{}.Fit(context.Background(), on, nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := fit.Assess(s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(1e3*begin.since().cpu/float64(b.N), "cpu-ms/op")
		})
	}
}
