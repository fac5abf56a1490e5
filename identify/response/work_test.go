package response

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"hilrig/identify/fit"
)

// sampleCounter counts the samples that are simulated, each of which asks whether to go on.
type sampleCounter struct {
	context.Context
	samples atomic.Int64
}

func (c *sampleCounter) Err() error {
	c.samples.Add(1)
	return c.Context.Err()
}

// The share of the work that is said to be done is that of the samples, within a third, whatever is fitted.
func TestShareOfTheWork(t *testing.T) {
	for _, starts := range []int{0, 3} {
		shares, at := []float64{}, []int64{}
		ctx := &sampleCounter{Context: t.Context()}
		spec, rec := rotor(func() {})
		spec.Starts = starts
		_, err := Fit(ctx, spec, []Recording{rec}, func(p fit.Progress) {
			share := math.NaN()
			fmt.Sscanf(p.Note, "%f %% of the work", &share)
			shares, at = append(shares, share/100), append(at, ctx.samples.Load())
		})
		all := float64(ctx.samples.Load())
		if err != nil || len(shares) < 5 {
			t.Fatalf("%d reports: %v", len(shares), err)
		}
		for i, share := range shares {
			t.Logf("%d starts: %.0f %% is said to be done, %.0f %% is", starts, 100*share, 100*float64(at[i])/all)
			if done := float64(at[i]) / all; !(math.Abs(share-done) < 1./3) {
				t.Errorf("%d starts: %.0f %% is said to be done, %.0f %% is", starts, 100*share, 100*done)
			}
		}
	}
}
