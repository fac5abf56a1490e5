package contact_test

import (
	"fmt"
	"math"
	"math/rand/v2"
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
		if ev := e.Event(); ev.Kind == contact.Closing && ev.ID == 0 && (len(pecks) == 0 || e.T > pecks[len(pecks)-1]+0.02) {
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

// Ten days from zero, where a double resolves 15 ps, the same events come at the same places.
func TestTimeFarFromZero(t *testing.T) {
	for _, name := range []string{"ball", "rod", "oscillator", "woodpecker"} {
		info, err := toys.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		toy, err := info.Make(nil)
		if err != nil {
			t.Fatal(err)
		}
		var place [2][]float64
		var events [2]int
		for k, from := range []float64{0, 864000} {
			e, err := contact.NewEventDriven(toy, contact.EventOptions{})
			if err != nil {
				t.Fatal(err)
			}
			q, u := make([]float64, toy.DOF()), make([]float64, toy.DOF())
			toy.Start(q, u)
			if err := e.Start(from, q, u); err != nil {
				t.Fatal(err)
			}
			if err := e.Run(from+0.4, nil); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			e.State(q, u)
			place[k], events[k] = q, e.Events
		}
		for j, x := range place[0] {
			near(t, fmt.Sprintf("%s: q[%d]", name, j), place[1][j], x, 1e-7)
		}
		if events[0] != events[1] || events[0] == 0 {
			t.Errorf("%s: %d events", name, events)
		}
	}
}

// Random blocks, rods, chains and discs, friction up to 2.4 and each impact law: no run ends with an error, and the energy
// of bodies under constant forces never rises.
func TestRandomRunsEndWellAndGainNoEnergy(t *testing.T) {
	var sum contact.EventStats
	worst := 0.0
	for k := range 240 {
		r := rand.New(rand.NewPCG(uint64(k), 1))
		l := contact.Law{Mu: 1.2 * r.Float64(), EpsN: r.Float64() * 0.9, EpsT: r.Float64(), Nu: r.Float64()}
		var toy toys.Toy
		var err error
		switch k % 4 {
		case 0:
			p := toys.DefaultBlock()
			p.Law, p.Slope, p.Gap, p.Tilt, p.VX = l, 0.8*r.Float64(), 0.1*r.Float64(), 3*(r.Float64()-0.5), r.NormFloat64()
			if r.IntN(3) == 0 {
				p.Gap, p.Tilt = 0, 0
			}
			toy, err = toys.NewBlock(p)
		case 1:
			p := toys.DefaultRod()
			p.Law, p.Angle, p.Gap, p.VX, p.Spin = l, 3*(r.Float64()-0.5), 0.1*r.Float64(), 3*r.NormFloat64(), 5*r.NormFloat64()
			p.Law.Mu *= 2
			if r.IntN(2) == 0 {
				p.Gap, p.Spin = 0, 0
			}
			toy, err = toys.NewRod(p)
		case 2:
			p := toys.DefaultChain()
			p.Law.EpsN, p.Balls, p.Ratio = r.Float64(), float64(2+r.IntN(8)), 0.5+r.Float64()
			toy, err = toys.NewChain(p)
		case 3:
			p := toys.DefaultDiscs()
			p.Law, p.Spin, p.Offset = l, 30*r.NormFloat64(), 0.05*(r.Float64()-0.5)
			toy, err = toys.NewDiscs(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		law := contact.ImpactLaw(k / 4 % 4)
		e := start(t, toy, contact.EventOptions{Law: law})
		f := toy.DOF()
		q, u, m, g := make([]float64, f), make([]float64, f), make([]float64, f*f), make([]float64, f)
		before := math.Inf(1)
		err = e.Run(2, func(e *contact.EventDriven) bool {
			e.State(q, u)
			toy.Mass(e.T, q, m)
			toy.Force(e.T, q, u, g)
			energy, size := 0.0, 1e-3
			for i := range f {
				for j := range f {
					energy += 0.5 * u[i] * m[i*f+j] * u[j]
				}
				energy -= g[i] * q[i]
				size += math.Abs(energy)
			}
			if rise := (energy - before) / size; before < math.Inf(1) {
				worst = max(worst, rise)
			}
			before = energy
			return true
		})
		if err != nil {
			t.Errorf("run %d (%T, %v): %v", k, toy, law, err)
		}
		sum.Events += e.Events
		sum.Impacts += e.Impacts
		sum.Lowered += e.Lowered
		sum.Redundant += e.Redundant
		sum.Inconsistent += e.Inconsistent
		sum.Indeterminate += e.Indeterminate
	}
	t.Logf("largest rise of the energy between two looks: %.1e of it; %+v", worst, sum)
	if worst > 1e-8 {
		t.Errorf("energy rose by %.2e of it", worst)
	}
}
