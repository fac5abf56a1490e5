package contact_test

import (
	"math"
	"testing"

	"hilrig/engine/contact"
	"hilrig/engine/plant/toys"
)

func start(t *testing.T, toy toys.Toy, opt contact.EventOptions) *contact.EventDriven {
	t.Helper()
	e, err := contact.NewEventDriven(toy, opt)
	if err != nil {
		t.Fatal(err)
	}
	q, u := make([]float64, toy.DOF()), make([]float64, toy.DOF())
	toy.Start(q, u)
	if err := e.Start(0, q, u); err != nil {
		t.Fatal(err)
	}
	return e
}

// The period of the woodpecker is that of independent codes of the same equations, 0.14598 s.
func TestWoodpeckerPeriod(t *testing.T) {
	w, err := toys.NewWoodpecker(toys.DefaultWoodpecker())
	if err != nil {
		t.Fatal(err)
	}
	e := start(t, w, contact.EventOptions{})
	var pecks []float64
	q, u := make([]float64, 3), make([]float64, 3)
	top := [2]float64{}
	err = e.Run(3, func(e *contact.EventDriven) bool {
		e.State(q, u)
		if e.T > 1 {
			top[0], top[1] = max(top[0], math.Abs(q[1])), max(top[1], q[2])
		}
		if kind, id := e.Event(); kind == contact.Closing && id == 0 && (len(pecks) == 0 || e.T > pecks[len(pecks)-1]+0.02) {
			pecks = append(pecks, e.T)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("pecks %v, largest angles %v, %+v", pecks, top, e.EventStats)
	n := len(pecks)
	if n < 10 {
		t.Fatalf("%d pecks", n)
	}
	period := (pecks[n-1] - pecks[n-6]) / 5
	t.Logf("period %.7f s", period)
	if math.Abs(period-0.14598) > 2e-4 {
		t.Errorf("period %.6f s, want 0.14598 ± 0.0002", period)
	}
	if top[0] > 0.1035 || top[1] > 0.1201 {
		t.Errorf("angles to %v, the pole allows 0.1034 and 0.12", top)
	}
}
