package ball

import (
	"context"
	"testing"
)

// BenchmarkFit is a fit of 4 s at 200 Hz with 12 free parameters: friction, two moments and the height, the centre of mass, and the start.
func BenchmarkFit(b *testing.B) {
	rec := recorded(scipy(b, "spun", 4), 1e-4, 1)
	spec := Spec{Body: guess(), Markers: fiveMarkers, FreeParams: []string{"mu_roll", "mu_spin", "height", "cz"}}
	for b.Loop() {
		if _, err := Fit(context.Background(), spec, rec, nil); err != nil {
			b.Fatal(err)
		}
	}
}
