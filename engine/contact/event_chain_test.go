package contact_test

import (
	"math"
	"testing"

	"hilrig/engine/contact"
	"hilrig/engine/plant/toys"
)

// A ball strikes others that touch: (−1/3, 2/3, 2/3) in one problem for all pairs, (0, 0, 1) pair after pair, although the
// pair that collides first does not part then.
func TestBallStrikesARow(t *testing.T) {
	for _, c := range []struct {
		law  contact.ImpactLaw
		want [3]float64
	}{
		{contact.Poisson, [3]float64{-1. / 3, 2. / 3, 2. / 3}}, {contact.Newton, [3]float64{-1. / 3, 2. / 3, 2. / 3}},
		{contact.Sequential, [3]float64{0, 0, 1}},
	} {
		info, err := toys.Find("chain")
		if err != nil {
			t.Fatal(err)
		}
		toy, err := info.Make(map[string]float64{"pair.eps_n": 1})
		if err != nil {
			t.Fatal(err)
		}
		e, err := contact.NewEventDriven(toy, contact.EventOptions{Law: c.law})
		if err != nil {
			t.Fatal(err)
		}
		q, u := make([]float64, 3), make([]float64, 3)
		toy.Start(q, u)
		if err := e.Start(0, q, u); err != nil {
			t.Fatal(err)
		}
		if err := e.Run(0.1, nil); err != nil {
			t.Fatal(err)
		}
		e.State(q, u)
		for i, v := range u {
			if math.Abs(v-c.want[i]) > 1e-12 {
				t.Errorf("%v: velocities %v, want %v", c.law, u, c.want)
				break
			}
		}
	}
}
