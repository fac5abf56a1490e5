package contact

import (
	"math"
	"testing"
)

// Bodies that rest while a force changes: friction opposes the force of each instant, and the weight of both boxes stands on the floor, in
// closed form, for forces from far below to far above what counts as unchanged; in the order of time and not.
func TestForcesOfARestingStackFollowTheLoad(t *testing.T) {
	const mass, omega = 2.0, 7.0
	for _, amplitude := range []float64{1e-9, 1e-6, 3} {
		box := Shape{Outline: mustOutline(t)(Rectangle(0.2, 0.1, 0))}
		s := mustScene(t, SceneSpec{
			Gravity: [2]float64{0, -weight},
			Bodies: []BodySpec{
				{Name: "floor", Locked: [3]bool{true, true, true}, Shape: Shape{HalfPlane: true}},
				{Name: "low", Mass: mass, Inertia: 0.01, Shape: Shape{Outline: mustOutline(t)(Rectangle(0.3, 0.1, 0))}, Pose: [3]float64{0, 0.05, 0}},
				{Name: "high", Mass: mass, Inertia: 0.01, Shape: box, Pose: [3]float64{0, 0.15, 0}},
			},
			Forces: []ForceSpec{{Body: "high", Point: Point{Y: -0.05}, Amplitude: [3]float64{amplitude, 0, 0}, Omega: omega}},
			Pairs:  []PairSpec{{A: "low", B: "floor", Law: Law{Mu: 0.5}}, {A: "high", B: "low", Law: Law{Mu: 0.5}}},
		})
		q, u := make([]float64, s.DOF()), make([]float64, s.DOF())
		s.Start(q, u)
		e, err := NewEventDriven(s, EventOptions{Reach: 0.2})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(0, q, u); err != nil {
			t.Fatal(err)
		}
		check := func(at float64) {
			var push, floor float64
			for _, f := range e.ForcesAt(at, nil) {
				if f.Y < 0.05 {
					floor, push = floor+f.N, push+f.T
				}
			}
			if want := amplitude * math.Sin(omega*at); math.Abs(math.Abs(push)-math.Abs(want)) > 1e-10+1e-9*amplitude ||
				math.Abs(floor-2*mass*weight) > 1e-8 {
				t.Errorf("force of %g N at %g s: friction %.12g N, want ±%.12g; on the floor %.12g N, want %.12g", amplitude, at, push, want, floor,
					2*mass*weight)
			}
		}
		if err := e.Run(0.6, func(e *EventDriven) bool {
			for k := range 20 {
				check(e.StepStart() + (e.T-e.StepStart())*float64(7*k%20)/20)
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
}
