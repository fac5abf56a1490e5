package ball

import (
	"math"
	"testing"
)

// What a little more of an assumed number, less than bends the motion by its noise, is said to move is what a fit with that number gives.
func TestAssumedNumbersMoveAsRefitsDo(t *testing.T) {
	rec := recorded(scipy(t, "spun", 1.5), 1e-4, 1)
	free := []string{"mu_roll", "mu_spin", "height"}
	known := Uncertainty{Radius: 1e-3, Mass: 2e-3, Inertia: 2e-3, Center: 5e-4, Markers: 2e-3, Gravity: 1e-3}
	exact := mustFit(t, Spec{FreeParams: free}, rec)
	doubted := mustFit(t, Spec{FreeParams: free, Uncertain: known}, rec)
	names := map[string]bool{"Izz": true, "cz": true}
	for _, a := range doubted.Assumed {
		if !names[a.Name] {
			continue
		}
		delete(names, a.Name)
		for _, side := range []float64{-1, 1} {
			base := setup{body: guess(), markers: append(fiveMarkers[:0:0], fiveMarkers...)}
			for _, p := range append(parameters(), markerParameters(len(fiveMarkers))...) {
				if p.name == a.Name {
					*p.field(&base) += side * a.Uncertainty
				}
			}
			moved := mustFit(t, Spec{FreeParams: free, Body: base.body, Markers: base.markers}, rec)
			for _, name := range free {
				v0, se := value(t, exact, name)
				v, _ := value(t, moved, name)
				if said := side * a.ParamMoves[name]; math.Abs(v-v0-said) > 0.1*math.Abs(said)+0.2*se {
					t.Errorf("%s moved by %.2g: %s moves by %.3g, said %.3g ± %.2g", a.Name, side*a.Uncertainty, name, v-v0, said, se)
				}
			}
		}
	}
	if len(names) > 0 {
		t.Errorf("nothing is said of %v", names)
	}
}
