package contact_test

import (
	"math"
	"testing"

	"hilrig/engine/contact"
)

// row is a line of discs of 10 mm at q, u along x, with laws of restitution.
func row(t *testing.T, eps float64, mass, x, v []float64) (s *contact.Scene, q, u []float64) {
	t.Helper()
	spec := contact.SceneSpec{}
	for i, m := range mass {
		b := discBody(string(rune('A'+i)), m, 0.01)
		b.Pose[0] = 0.1 * float64(i) // the test places them
		if spec.Bodies = append(spec.Bodies, b); i > 0 {
			spec.Pairs = append(spec.Pairs, contact.PairSpec{A: b.Name, B: spec.Bodies[i-1].Name, Law: contact.Law{EpsN: eps}})
		}
	}
	_, s, err := sceneOf(spec)
	if err != nil {
		t.Fatal(err)
	}
	q, u = make([]float64, s.DOF()), make([]float64, s.DOF())
	for i := range mass {
		q[3*i], u[3*i] = x[i], v[i]
	}
	return s, q, u
}

// Two impacts of one step that press a light disc between heavy ones move no body further than its speeds before and after do, leave the
// centre of mass on its way, and leave no disc deeper in its neighbour than before.
func TestImpactsThatShareABodyMoveItByItsSpeeds(t *testing.T) {
	const h = 1e-5
	for _, eps := range []float64{0, 0.25, 1} {
		for _, sign := range []float64{-1, 1} {
			for _, gap := range []float64{-1e-3, 1e-7, 1e-4} {
				mass := []float64{35, 1.9, 2.5e4}
				x := []float64{0, sign * 0.0200001, sign * (0.0400001 + gap)}
				v := []float64{sign * 35.4, sign * 35.1, sign * 10.5}
				s, q, u := row(t, eps, mass, x, v)
				m, err := contact.NewMoreau(s, contact.MoreauOptions{Step: h, Positions: true})
				if err != nil {
					t.Fatal(err)
				}
				m.Step(0, q, u)
				if len(m.ClosedPlaces) != 2 {
					t.Fatalf("%d contacts, want two impacts", len(m.ClosedPlaces))
				}
				centre, way := 0.0, 0.0
				for i := range mass {
					centre += mass[i] * (q[3*i] - x[i])
					way += mass[i] * v[i] * h
					most := 1.6*h*max(math.Abs(v[i]), math.Abs(u[3*i])) + max(0, -gap)
					if d := math.Abs(q[3*i] - x[i]); d > most {
						t.Errorf("ε = %g, gap %g m: disc %d moved by %g m, its speeds are %g and %g m/s", eps, sign*gap, i, d, v[i], u[3*i])
					}
				}
				near(t, "centre of mass", centre/way, 1, 1e-9)
				if between := sign*(q[6]-q[3]) - 0.02; between < min(gap, 0)-1e-12 {
					t.Errorf("ε = %g: %g m between discs that had %g m", eps, between, gap)
				}
			}
		}
	}
}

// An impact is of second order in the step wherever in the step it is, and however heavy the body behind that passes it on: a disc hits two
// that touch, all without restitution. The places are those of the impact at its time.
func TestImpactsPassedOnActFromTheirTime(t *testing.T) {
	const h, v = 1e-4, 2.0
	for _, mass := range [][]float64{{1, 1, 1}, {1, 1e-3, 1e3}, {1e3, 1, 1}} {
		for _, part := range []float64{-0.4, 0.1, 0.49} { // of the step, from its middle
			at := (0.5 + part) * h
			s, q, u := row(t, 0, mass, []float64{-0.02 - v*at, 0, 0.02}, []float64{v, 0, 0})
			m, err := contact.NewMoreau(s, contact.MoreauOptions{Step: h, Positions: true})
			if err != nil {
				t.Fatal(err)
			}
			for k := range 2 { // a contact that closes behind the middle of a step is found in the next one
				m.Step(float64(k)*h, q, u)
			}
			after := mass[0] * v / (mass[0] + mass[1] + mass[2])
			for i, x := range []float64{-0.02, 0, 0.02} {
				near(t, "speed", u[3*i], after, 1e-9*v)
				near(t, "place", q[3*i], x+after*(2*h-at), 1e-9)
			}
		}
	}
}

// Discs deeper in each other than three steps of their approach take them are counted, from either side; less deep they are not.
func TestDepthThatNoImpactExplainsIsCounted(t *testing.T) {
	const h, v = 1e-5, 20.0
	for _, sign := range []float64{-1, 1} {
		for _, c := range []struct {
			depth   float64
			overrun int64
		}{{2.9 * h * v, 0}, {3.1 * h * v, 1}} {
			// depth is that of the middle of the step
			s, q, u := row(t, 0.5, []float64{1, 2}, []float64{0, sign * (0.02 - c.depth + h/2*v)}, []float64{sign * v, 0})
			m, err := contact.NewMoreau(s, contact.MoreauOptions{Step: h, Positions: true})
			if err != nil {
				t.Fatal(err)
			}
			m.Step(3, q, u)
			if o := m.Overrun; m.Overruns != c.overrun || c.overrun > 0 &&
				(o.T != 3 || o.A+o.B != "AB" && o.A+o.B != "BA" || math.Abs(o.Share-3.1/3) > 1e-3) {
				t.Errorf("%g m deep: %d counted, %+v", sign*c.depth, m.Overruns, o)
			}
		}
	}
}

// A fast approach long ago explains no depth, but where none is taken back.
func TestDepthIsHeldAgainstApproachesOfLate(t *testing.T) {
	const h, v = 1e-5, 20.0
	for _, c := range []struct {
		beta    float64
		overrun int64
	}{{0.2, 1}, {-1, 0}} {
		s, q, u := row(t, 0, []float64{1, 2}, []float64{0, 0.02 + h/4*v}, []float64{v, 0})
		m, err := contact.NewMoreau(s, contact.MoreauOptions{Step: h, Positions: true, Beta: c.beta})
		if err != nil {
			t.Fatal(err)
		}
		put := func(between, v float64) {
			q[0], q[3], u[0], u[3] = 0, 0.02+between, v, 0
		}
		m.Step(0, q, u)
		for range 60 {
			put(0.01, 0)
			m.Step(0, q, u)
		}
		put(-2.5*h*v, 1)
		m.Step(0, q, u)
		if m.Overruns != c.overrun {
			t.Errorf("β = %g: %d counted, want %d", c.beta, m.Overruns, c.overrun)
		}
	}
}
