package contact_test

import (
	"testing"

	"hilrig/engine/contact"
)

// Three discs on a line: the light one in the middle closes with both others, within one step or many steps apart. Within a step
// the engine settles one impact and says so.
func TestBlowsThatAreSettledAsOneAreCounted(t *testing.T) {
	const h, first = 1e-4, 0.01042 // s
	for _, c := range []struct {
		name   string
		later  float64 // s, the second closure
		middle float64 // kg
		merged int64
	}{{"in the same step", 3e-5, 0.01, 1}, {"at once", 0, 0.01, 0}, {"20 steps later", 20 * h, 1, 0}} {
		for _, side := range []float64{1, -1} {
			for _, law := range []contact.ImpactLaw{contact.Newton, contact.Poisson} {
				var spec contact.SceneSpec
				speeds, mass := [3]float64{3, 1, 0}, [3]float64{1, c.middle, 1}
				gaps := [3]float64{0, (speeds[0] - speeds[1]) * first, (speeds[1] - speeds[2]) * (first + c.later)}
				x := 0.0
				for i := range 3 {
					b := discBody([]string{"a", "b", "c"}[i], mass[i], 0.01)
					x += gaps[i] + 0.02
					b.Pose[0], b.Speed[0] = side*x, side*speeds[i]
					if i > 0 {
						spec.Pairs = append(spec.Pairs, contact.PairSpec{A: b.Name, B: spec.Bodies[i-1].Name, Law: contact.Law{EpsN: 0.5}})
					}
					spec.Bodies = append(spec.Bodies, b)
				}
				s, err := contact.NewScene(spec)
				if err != nil {
					t.Fatal(err)
				}
				m, err := contact.NewMoreau(s, contact.MoreauOptions{Step: h, Positions: true, Impact: law})
				if err != nil {
					t.Fatal(err)
				}
				q, u := make([]float64, 9), make([]float64, 9)
				s.Start(q, u)
				for k := range 140 {
					m.Step(float64(k)*h, q, u)
				}
				if m.Merged != c.merged {
					t.Errorf("%s, %v, side %g: %d merged, want %d", c.name, law, side, m.Merged, c.merged)
				}
			}
		}
	}
}
