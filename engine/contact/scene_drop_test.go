package contact

import (
	"math"
	"testing"
)

// Bodies with corners that fall turning clatter to rest on one of their sides: contacts change their order in the list while a side
// comes to lie, which must not change who carries.
func TestCornersClatterToRest(t *testing.T) {
	box, err := Rectangle(0.1, 0.05, 0)
	if err != nil {
		t.Fatal(err)
	}
	ell := []Point{{0, 0}, {0.1, 0}, {0.1, 0.02}, {0.03, 0.02}, {0.03, 0.08}, {0, 0.08}}
	for i := range ell {
		ell[i].X -= 0.0334210526
		ell[i].Y -= 0.0289473684
	}
	angle, err := NewOutline(ell)
	if err != nil {
		t.Fatal(err)
	}
	wedge, err := NewOutline([]Point{{-0.1 / 3, -0.08 / 3}, {0.2 / 3, -0.08 / 3}, {-0.1 / 3, 0.16 / 3}})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]*Outline{"box": box, "angle": angle, "wedge": wedge} {
		for _, law := range []ImpactLaw{Poisson, Newton} {
			for _, mu := range []float64{0, 0.3} {
				for _, spin := range []float64{-1, 0.4, 1} {
					area, _, moment := o.Section()
					sc, err := NewScene(SceneSpec{Gravity: [2]float64{0, -9.81},
						Bodies: []BodySpec{{Name: "floor", Shape: Shape{HalfPlane: true}, Locked: [3]bool{true, true, true}},
							{Name: name, Mass: 1, Inertia: moment / area, Shape: Shape{Outline: o}, Pose: [3]float64{0, 0.079, 0},
								Speed: [3]float64{0, 0, spin}}},
						Pairs: []PairSpec{{A: name, B: "floor", Law: Law{Mu: mu, EpsN: 0.4}}}})
					if err != nil {
						t.Fatal(err)
					}
					e, err := NewEventDriven(sc, EventOptions{Law: law})
					if err != nil {
						t.Fatal(err)
					}
					q, u := make([]float64, 3), make([]float64, 3)
					sc.Start(q, u)
					if err := e.Start(0, q, u); err != nil {
						t.Fatal(err)
					}
					before := 9.81*q[1] + 0.5*moment/area*spin*spin
					if err := e.Run(1.5, nil); err != nil {
						t.Errorf("%s, law %d, μ = %g, spin %g: %v", name, law, mu, spin, err)
						continue
					}
					e.State(q, u)
					set := NewSet(16, 3)
					sc.Contacts(e.T, q, u, 1e-9, set)
					if set.N != 2 || math.Abs(u[1]) > 1e-7 || math.Abs(u[2]) > 1e-7 {
						t.Errorf("%s, law %d, μ = %g, spin %g: %d contacts, u = %.3g, want rest on two", name, law, mu, spin, set.N, u)
					}
					// without friction on the way, impacts are all that takes energy
					if lost := before - 9.81*q[1]; mu == 0 && math.Abs(lost-e.ImpactLoss) > 1e-6 {
						t.Errorf("%s, law %d, spin %g: %.8g J are gone, impacts took %.8g J", name, law, spin, lost, e.ImpactLoss)
					}
				}
			}
		}
	}
}

// The two walls of the only notch of an outline are two contacts of a point, with two numbers; a body that falls into the bend of a ramp
// finds both, whatever lies beside them.
func TestTheOnlyNotchHasTwoWalls(t *testing.T) {
	ramp, err := NewOutline([]Point{{-2, -1}, {2, -1}, {2, 0}, {0.3, 0}, {-0.6, 0.3}, {-2, 0.3}})
	if err != nil {
		t.Fatal(err)
	}
	stone, err := NewOutline([]Point{{0.065223, 0.026944}, {-0.00448, 0.070511}, {-0.082417, 0.021528}, {-0.040776, -0.026947},
		{-0.056269, -0.069184}, {0.04335, -0.06842}, {0.05243, -0.069709}})
	if err != nil {
		t.Fatal(err)
	}
	for _, spin := range []float64{-5.021, -2, 0, 3} {
		sc, err := NewScene(SceneSpec{Gravity: [2]float64{0, -9.81},
			Bodies: []BodySpec{{Name: "ramp", Shape: Shape{Outline: ramp}, Locked: [3]bool{true, true, true}},
				{Name: "stone", Mass: 0.737, Inertia: 0.002, Shape: Shape{Outline: stone}, Pose: [3]float64{-0.184, 0.45, 0.605},
					Speed: [3]float64{-0.309, 0, spin}}},
			Pairs: []PairSpec{{A: "stone", B: "ramp", Law: Law{Mu: 0.2, EpsN: 0.3}}}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := NewEventDriven(sc, EventOptions{})
		if err != nil {
			t.Fatal(err)
		}
		q, u, set := make([]float64, 3), make([]float64, 3), NewSet(64, 3)
		sc.Start(q, u)
		if err := e.Start(0, q, u); err != nil {
			t.Fatal(err)
		}
		err = e.Run(1.5, func(e *EventDriven) bool {
			e.State(q, u)
			sc.Contacts(e.T, q, u, math.Inf(1), set)
			seen := map[uint32]bool{}
			for i := range set.N {
				if seen[set.ID[i]] {
					t.Fatalf("spin %g, t = %g s: two contacts have the number %d", spin, e.T, set.ID[i])
				}
				seen[set.ID[i]] = true
			}
			return true
		})
		if err != nil {
			t.Errorf("spin %g: %v", spin, err)
		}
	}
}
