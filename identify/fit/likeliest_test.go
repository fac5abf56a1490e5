package fit

import (
	"math/rand/v2"
	"testing"
)

// Of 60 suspects of one kind, none of which is there, the likeliest shows by chance as seldom as unmodelledP says.
func TestLikeliestOfManyShowsByChance(t *testing.T) {
	const n, draws = 300, 400
	alarms, certain := 0, 0
	for seed := range uint64(draws) {
		rng := rand.New(rand.NewPCG(seed, 7))
		draw := func() []float64 {
			x := make([]float64, n)
			for k := range x {
				x[k] = rng.NormFloat64()
			}
			return x
		}
		s := &Solution{Unit: "N", Residual: draw(), Jac: draw(), FreeParams: []int{0}, Params: make([]Param, 1)}
		s.Params[0].Name = "Fv"
		s.Measured = s.Residual
		var list []Suspect
		for range 60 {
			x := draw()
			list = append(list, Suspect{Kind: "cogging", Columns: []func(int) float64{func(k int) float64 { return x[k] }}})
		}
		kept := Likeliest(s, list, s.Looked())
		if len(kept) != 1 {
			t.Fatalf("%d suspects of one kind", len(kept))
		}
		if found, _ := Unmodelled(s, kept, nil); len(found) > 0 {
			alarms++
		}
		if Certain(s, kept) {
			certain++
		}
	}
	t.Logf("%d alarms, %d certain, in %d draws", alarms, certain, draws)
	if alarms > 12 || certain > 1 { // 4 and 0.04 are expected
		t.Errorf("%d alarms and %d certain in %d draws", alarms, certain, draws)
	}
}
