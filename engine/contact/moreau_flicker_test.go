package contact_test

import (
	"math"
	"testing"

	"hilrig/engine/contact"
)

// A disc rests on a floor that is a little lower in every second step, by hand: its contact flickers. A ball that strikes it in such a
// step is settled without the floor, and one that strikes in another step with it.
func TestFlickeringContactsAreCounted(t *testing.T) {
	const h, n = 1e-3, 40
	for _, c := range []struct {
		name                  string
		amplitude             float64 // m, of the floor
		strike                float64 // steps until the ball arrives; 0: it does not
		flickers, unsupported bool
	}{
		{"a floor at rest", 0, 0, false, false}, {"a floor that shakes", 1e-5, 0, true, false},
		{"struck on a floor at rest", 0, 20, false, false}, {"struck on a floor at rest a step later", 0, 21, false, false},
		{"struck while the floor is there", 1e-5, 21, true, false}, {"struck while it is not", 1e-5, 20, true, true},
	} {
		spec := contact.SceneSpec{Gravity: [2]float64{0, -weight}, Bodies: []contact.BodySpec{floorBody(), discBody("disc", 1, 0.02)},
			Pairs: []contact.PairSpec{{A: "disc", B: "floor"}}}
		floor := &spec.Bodies[0]
		floor.Locked = [3]bool{true, false, true}
		floor.Drive[1] = &contact.Drive{Amplitude: c.amplitude, Omega: math.Pi / h, Phase: math.Pi}
		spec.Bodies[1].Pose[1] = 0.02
		if c.strike > 0 {
			ball, hit := discBody("ball", 0.1, 0.01), c.strike*h
			ball.Pose[1], ball.Speed[1] = 0.05+hit+weight*hit*hit/2, -1
			spec.Bodies, spec.Pairs = append(spec.Bodies, ball), append(spec.Pairs, contact.PairSpec{A: "ball", B: "disc"})
		}
		s, err := contact.NewScene(spec)
		if err != nil {
			t.Fatal(err)
		}
		m, err := contact.NewMoreau(s, contact.MoreauOptions{Step: h, Positions: true})
		if err != nil {
			t.Fatal(err)
		}
		q, u := make([]float64, s.DOF()), make([]float64, s.DOF())
		s.Start(q, u)
		for k := range n {
			m.Step(float64(k)*h, q, u)
		}
		if m.Flickers > 0 != c.flickers || m.Unsupported > 0 != c.unsupported {
			t.Errorf("%s: %d flickers, %d blows without support", c.name, m.Flickers, m.Unsupported)
		}
	}
}
