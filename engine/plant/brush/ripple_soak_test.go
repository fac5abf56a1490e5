//go:build soak

package brush

import (
	"math"
	"testing"
)

// The slot ripple over many seeds.
func TestSlotRippleOverSeeds(t *testing.T) {
	force, current := spectra(t, 16, 40, 52)
	for k := 20; k <= 28; k++ {
		t.Logf("%d: force %.4g N, current %.4g mA", k, math.Sqrt(force[k]), 1e3*math.Sqrt(current[k]))
	}
	for k := 44; k <= 52; k++ {
		t.Logf("%d: force %.4g N, current %.4g mA", k, math.Sqrt(force[k]), 1e3*math.Sqrt(current[k]))
	}
	for _, c := range []struct {
		name string
		got  float64
		want float64
	}{
		{"force, 24th", stands(force, 24), 2}, {"force, 48th", stands(force, 48), 1.6}, {"force, 48th against 20 … 28", above(force, 48), 3},
		{"current, 24th", stands(current, 24), 1.4},
	} {
		t.Logf("%s: %.2f of its neighbours", c.name, c.got)
		if c.got < c.want {
			t.Errorf("%s: %.2f of its neighbours, want %g", c.name, c.got, c.want)
		}
	}
	t.Logf("current, 48th: %.2f", stands(current, 48))
}
