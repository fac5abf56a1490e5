package contact_test

import (
	"errors"
	"math"
	"testing"

	"hilrig/engine/contact"
)

// ledge is a point of 1 kg on a smooth floor that is 5 µm higher from x = 0.1 m on: its gap jumps below zero.
type ledge struct{ side float64 }

func (ledge) DOF() int                           { return 2 }
func (ledge) Mass(_ float64, _, m []float64)     { m[0], m[1], m[2], m[3] = 1, 0, 0, 1 }
func (ledge) Force(_ float64, _, _, f []float64) { f[0], f[1] = 0, -weight }

func (s ledge) height(x float64) float64 {
	if s.side*x > 0.1 {
		return 5e-6
	}
	return 0
}

func (s ledge) Contacts(_ float64, q, _ []float64, reach float64, set *contact.Set) {
	set.Clear()
	if gap := q[1] - s.height(q[0]); gap <= reach {
		i := set.Add(1, contact.Law{}, gap)
		set.RowN(i)[1], set.RowT(i)[0] = 1, 1
	}
}

// Fixed steps lead over a gap that is suddenly too deep for an event; without them the run ends there.
func TestOverlapIsBridged(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, bridge := range []float64{0, 1e-5} {
			sys := ledge{side}
			e, err := contact.NewEventDriven(sys, contact.EventOptions{Bridge: bridge})
			if err != nil {
				t.Fatal(err)
			}
			q, u := []float64{0, 0}, []float64{side, 0}
			if err := e.Start(0, q, u); err != nil {
				t.Fatal(err)
			}
			if err = e.Run(0.3, nil); bridge == 0 {
				if !errors.Is(err, contact.ErrPenetration) {
					t.Errorf("side %g: %v, want an overlap", side, err)
				}
				continue
			}
			e.State(q, u)
			if err != nil || e.Bridges != 1 || math.Abs(q[0]-side*0.3) > 1e-9 || math.Abs(q[1]-5e-6) > 1e-9 || math.Abs(u[1]) > 1e-9 {
				t.Errorf("side %g: %v, %d bridges, at %g with %g", side, err, e.Bridges, q, u)
			}
		}
	}
}
