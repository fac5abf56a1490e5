package configs

import "testing"

// Who is patient with the position is so with the status word beside it; a status that is watched closely by the file stays so.
func TestStatusIsAsPatientAsThePosition(t *testing.T) {
	for _, c := range []struct {
		position string
		want     float64 // s
	}{{"stale: 50 ms", 0.1}, {"stale: 400 ms", 0.4}} {
		cfg := sighted(t, "stale: 50 ms", c.position)
		if m := cfg.Devices[0].Measure[4]; m.Name != "status" || m.Stale != c.want {
			t.Errorf("%s: %s is stale after %g s, want %g", c.position, m.Name, m.Stale, c.want)
		}
	}
}
