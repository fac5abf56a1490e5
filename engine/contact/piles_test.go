package contact_test

import (
	"fmt"
	"testing"

	"hilrig/engine/contact"
)

// pile is boxes that rest on the floor and on each other, by their centres and sizes (m); each weighs 1 kg.
type pile struct {
	name  string
	boxes [][4]float64 // x, y, width, height
}

// rows are rows of boxes of w by h from the floor up, each shifted by so much (m).
func rows(name string, w, h float64, shifts []float64, columns ...int) pile {
	p := pile{name: name}
	for r, n := range columns {
		for c := range n {
			p.boxes = append(p.boxes, [4]float64{w*float64(c) + shifts[r%len(shifts)], h * (float64(r) + 0.5), w, h})
		}
	}
	return p
}

func piles() []pile {
	ones := func(n int) (list []int) {
		for range n {
			list = append(list, 1)
		}
		return list
	}
	const w, h = 0.1, 0.04
	return []pile{
		rows("stack of 20", w, h, []float64{0.123}, ones(20)...), rows("stack of 30", w, h, []float64{0}, ones(30)...),
		rows("two beside each other", w, h, []float64{0}, 2), rows("six beside each other", w, h, []float64{-0.3}, 6),
		rows("wall of bricks", w, h, []float64{0, w / 2}, 3, 2, 3, 2), rows("boxes in rows and columns", w, h, []float64{0}, 3, 3, 3),
		{"box on two boxes", [][4]float64{{-0.07, 0.03, 0.05, 0.06}, {0.07, 0.03, 0.05, 0.06}, {0.01, 0.075, 0.25, 0.03}}},
		{"box that ends with two boxes", [][4]float64{{-0.1, 0.03, 0.05, 0.06}, {0.1, 0.03, 0.05, 0.06}, {0, 0.075, 0.25, 0.03}}},
	}
}

// Piles of boxes whose corners and sides coincide rest, with friction and without, in both engines: nothing moves, and the floor carries
// the weight of all; in a stack each box carries that of the boxes above it.
func TestPilesOfEqualBoxesRest(t *testing.T) {
	for _, p := range piles() {
		for _, law := range []contact.Law{{Mu: 0.5}, {}, {Mu: 0.3, EpsN: 0.4}} {
			spec := contact.SceneSpec{Gravity: [2]float64{0, -weight}, Bodies: []contact.BodySpec{floorBody()}}
			for i, b := range p.boxes {
				body := boxBody(fmt.Sprintf("box %d", i), 1, b[2], b[3])
				body.Pose = [3]float64{b[0], b[1]}
				for _, other := range spec.Bodies {
					spec.Pairs = append(spec.Pairs, contact.PairSpec{A: body.Name, B: other.Name, Law: law})
				}
				spec.Bodies = append(spec.Bodies, body)
			}
			c, _, err := sceneOf(spec)
			if err != nil {
				t.Fatal(err)
			}
			n := len(p.boxes)
			c.end, c.step = 0.05, 1e-4
			q0, u0 := make([]float64, 3*n), make([]float64, 3*n)
			c.start(q0, u0)
			c.judge = func(o *outcome, slack float64) (says string) {
				floor := 0.0
				for i := range n {
					floor += o.load[key(spec.Bodies[i+1].Name, "floor")]
					if len(p.name) > 5 && p.name[:5] == "stack" && i > 0 {
						says += off("load", o.load[key(spec.Bodies[i+1].Name, spec.Bodies[i].Name)], float64(n-i)*weight, 1e-4*weight)
					}
				}
				for i, x := range o.q {
					says += off(fmt.Sprintf("coordinate %d", i), x, q0[i], 1e-8) + off(fmt.Sprintf("speed %d", i), o.u[i], 0, 1e-6)
				}
				return says + off("load of the floor", floor, float64(n)*weight, 1e-4*weight)
			}
			for _, run := range []func() (verdict, string){c.byEvents, c.bySteps} {
				if v, says := run(); v != right {
					t.Errorf("%s, mu %g, eps %g: %v: %.300s", p.name, law.Mu, law.EpsN, v, says)
				}
			}
		}
	}
}

// Boxes that fall on each other a little tilted, light under heavy, end flat on each other: depth that one step leaves is not taken back by
// pushing the next corner into the floor.
func TestTiltedBoxesComeToRest(t *testing.T) {
	for _, side := range []float64{1, -1} {
		spec := contact.SceneSpec{Gravity: [2]float64{0, -weight}, Bodies: []contact.BodySpec{floorBody()}}
		want, top := []float64{}, 0.0
		for i, b := range [][6]float64{ // width, height, mass, place, angle
			{0.0897, 0.0278, 0.419, 0.00673, 0.02024, -0.01851}, {0.0845, 0.0251, 2.008, -0.00716, 0.06415, 0.00109},
			{0.0728, 0.0426, 5.121, -0.00875, 0.1148, 0.01295}, {0.0713, 0.0346, 2.046, 0.00018, 0.165, 0.01893},
		} {
			box := boxBody(fmt.Sprint("box ", i), b[2], b[0], b[1])
			box.Pose = [3]float64{side * b[3], b[4], side * b[5]}
			for _, other := range spec.Bodies {
				spec.Pairs = append(spec.Pairs, contact.PairSpec{A: box.Name, B: other.Name, Law: contact.Law{Mu: 0.228}})
			}
			spec.Bodies = append(spec.Bodies, box)
			want, top = append(want, top+b[1]/2), top+b[1]
		}
		c, _, err := sceneOf(spec)
		if err != nil {
			t.Fatal(err)
		}
		c.end, c.step, c.law = 0.5, 1e-4, contact.Poisson
		c.judge = func(o *outcome, _ float64) (says string) {
			for i, y := range want {
				says += off(fmt.Sprintf("height of box %d", i), o.q[3*i+1], y, 1e-6) + off("angle", o.q[3*i+2], 0, 1e-6)
			}
			return says
		}
		for e, run := range []func() (verdict, string){c.byEvents, c.bySteps} {
			if v, says := run(); v != right {
				t.Errorf("side %g, %v by %s: %s", side, v, []string{"events", "steps"}[e], says)
			}
		}
	}
}
