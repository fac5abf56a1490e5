package contact

import (
	"math"
	"testing"
)

func TestThicknessOfOutlines(t *testing.T) {
	hexagon := mustOutline(t)(RegularPolygon(6, 2, 0.3))
	// a comb of four teeth, 0.1 m wide and as far apart, on a back of 0.5 m
	var comb []Point
	for k := range 4 {
		x := 0.2 * float64(k)
		comb = append(comb, Point{x, 0}, Point{x, 1}, Point{x + 0.1, 1}, Point{x + 0.1, 0})
	}
	comb = append(comb, Point{0.7, -0.5}, Point{0, -0.5})
	room := mustOutline(t)(NewCavity([]Point{{0, 0}, {1, 0}, {1, 1}, {0, 1}}))
	for _, c := range []struct {
		name string
		o    *Outline
		want float64
	}{
		{"plate", mustOutline(t)(Rectangle(0.001, 0.2, 0)), 0.001},
		{"plate on its side", mustOutline(t)(Rectangle(0.3, 0.002, 0)), 0.002},
		{"hexagon", hexagon, 2 * math.Sqrt(3)},
		{"comb", mustOutline(t)(NewOutline(comb)), 0.1},
		{"room", room, math.Inf(1)},
	} {
		if got := c.o.thickness(); !(got == c.want || math.Abs(got-c.want) < 1e-12) {
			t.Errorf("%s: %g m thick, want %g m", c.name, got, c.want)
		}
	}
}

// A bullet at a plate: half the thickness in one step is the limit, whichever of the two moves, on both sides of the plate, and only
// while they are close.
func TestOverrunsAreFoundOnBothSidesOfTheLimit(t *testing.T) {
	const thick, h = 0.001, 20e-6
	plate, bullet := mustOutline(t)(Rectangle(thick, 0.2, 0)), mustOutline(t)(Rectangle(0.004, 0.004, 0))
	limit := thick / 2 / h
	for _, c := range []struct {
		name    string
		shape   Shape
		x       float64
		a, b    [3]float64 // velocities of bullet and plate
		overrun bool
	}{
		{"below", Shape{Outline: bullet}, -0.0028, [3]float64{0.999 * limit}, [3]float64{}, false},
		{"above", Shape{Outline: bullet}, -0.0028, [3]float64{1.001 * limit}, [3]float64{}, true},
		{"from the right, below", Shape{Outline: bullet}, 0.0028, [3]float64{-0.999 * limit}, [3]float64{}, false},
		{"from the right, above", Shape{Outline: bullet}, 0.0028, [3]float64{-1.001 * limit}, [3]float64{}, true},
		{"the plate, above", Shape{Outline: bullet}, 0.0028, [3]float64{}, [3]float64{1.001 * limit}, true},
		{"both, below", Shape{Outline: bullet}, 0.0028, [3]float64{900 + 0.999*limit}, [3]float64{900}, false},
		{"both, above", Shape{Outline: bullet}, 0.0028, [3]float64{-0.51 * limit}, [3]float64{0.51 * limit}, true},
		{"far away", Shape{Outline: bullet}, -0.5, [3]float64{2 * limit}, [3]float64{}, false},
		{"a disc has its radius beside, below", Shape{Radius: 0.002}, -0.004, [3]float64{4.99 * limit}, [3]float64{}, false},
		{"a disc has its radius beside, above", Shape{Radius: 0.002}, -0.004, [3]float64{5.01 * limit}, [3]float64{}, true},
		{"spin, below", Shape{Outline: bullet}, -0.0028, [3]float64{0, 0, 0.999 * limit / (0.002 * math.Sqrt2)}, [3]float64{}, false},
		{"spin, above", Shape{Outline: bullet}, -0.0028, [3]float64{0, 0, -1.001 * limit / (0.002 * math.Sqrt2)}, [3]float64{}, true},
		{"the plate turns, below", Shape{Outline: bullet}, 0.0028, [3]float64{}, [3]float64{0, 0, 0.999 * limit / (0.0028 + 0.002*math.Sqrt2)},
			false},
		{"the plate turns, above", Shape{Outline: bullet}, 0.0028, [3]float64{}, [3]float64{0, 0, 1.001 * limit / (0.0028 + 0.002*math.Sqrt2)},
			true},
	} {
		sc := mustScene(t, SceneSpec{
			Bodies: []BodySpec{
				{Name: "plate", Mass: 1, Inertia: 1, Shape: Shape{Outline: plate}, Speed: c.b},
				{Name: "bullet", Mass: 0.01, Inertia: 1e-6, Shape: c.shape, Pose: [3]float64{c.x}, Speed: c.a},
			},
			Pairs: []PairSpec{{A: "bullet", B: "plate"}},
		})
		q, u := make([]float64, 6), make([]float64, 6)
		sc.Start(q, u)
		sc.Contacts(0, q, u, 1e-9, NewSet(64, 6))
		if a, b, share := sc.Overrun(h); share > 1 != c.overrun || c.overrun &&
			!(share < 1.03 && (a+b == "platebullet" || a+b == "bulletplate")) {
			t.Errorf("%s: %q, %q, %g", c.name, a, b, share)
		}
	}
	// nothing gets behind a half-plane
	sc := mustScene(t, SceneSpec{
		Bodies: []BodySpec{{Name: "floor", Locked: [3]bool{true, true, true}, Shape: Shape{HalfPlane: true}},
			{Name: "bullet", Mass: 1, Inertia: 1, Shape: Shape{Outline: bullet}, Pose: [3]float64{0, 0.01}, Speed: [3]float64{0, -1e4}}},
		Pairs: []PairSpec{{A: "bullet", B: "floor"}},
	})
	m, _ := NewMoreau(sc, MoreauOptions{Step: 1e-3})
	q, u := make([]float64, 3), make([]float64, 3)
	sc.Start(q, u)
	m.Step(0, q, u)
	if m.Overruns > 0 {
		t.Errorf("half-plane: %+v", m.Overrun)
	}
}

// A bullet that moves by more than half the thickness of a plate in a step is found on its way in or out, by where the looks for contacts
// are: at h/2, 3h/2 and so on. The step counts as too long exactly where the bullet then comes out on the far side, or is not found.
func TestStepsAreTooLongWhereBodiesGetThrough(t *testing.T) {
	const thick, h = 0.001, 20e-6
	plate, box := mustOutline(t)(Rectangle(thick, 0.2, 0)), mustOutline(t)(Rectangle(0.004, 0.004, 0))
	hexagon := mustOutline(t)(RegularPolygon(6, 0.002, 0))
	through, stopped := 0, 0
	for _, bullet := range []Shape{{Outline: box}, {Outline: hexagon}, {Radius: 0.002}} {
		for _, depth := range []float64{0.05, 0.3, 0.45, 0.49, 0.51, 0.55, 0.8, 1.2, 2, 4.5, 5.2} { // of the plate, at the second look
			for _, way := range []float64{0.6, 1.3, 3.7} { // of the plate, in a step
				for side := -1.0; side < 2; side += 2 {
					for _, plateMoves := range []bool{false, true} {
						v := way * thick / h
						gap := (1.5*way - depth) * thick
						if gap < 0.51*way*thick { // met before the second look
							continue
						}
						shot := BodySpec{Name: "bullet", Mass: 0.01, Inertia: 1e-8, Shape: bullet, Pose: [3]float64{side * (0.002 + thick/2 + gap)}}
						wall := BodySpec{Name: "plate", Mass: 1, Inertia: 1, Shape: Shape{Outline: plate}}
						if plateMoves {
							wall.Speed[0] = side * v
						} else {
							shot.Speed[0] = -side * v
						}
						sc := mustScene(t, SceneSpec{Bodies: []BodySpec{wall, shot}, Pairs: []PairSpec{{A: "bullet", B: "plate", Law: Law{EpsN: 0.5}}}})
						m, err := NewMoreau(sc, MoreauOptions{Step: h, Positions: true})
						if err != nil {
							t.Fatal(err)
						}
						q, u := make([]float64, 6), make([]float64, 6)
						sc.Start(q, u)
						for k := range 12 {
							m.Step(float64(k)*h, q, u)
						}
						lost := side*(q[3]-q[0]) < 0
						if lost {
							through++
						} else {
							stopped++
						}
						if o := m.Overrun; m.Overruns > 0 != lost || lost && !(o.Share > 1 && (o.A+o.B == "platebullet" || o.A+o.B == "bulletplate")) {
							t.Errorf("%v: %g of the plate in a step, %g deep, side %g, plate moves %t: through %t, %d overruns, %+v", bullet.Radius, way,
								depth, side, plateMoves, lost, m.Overruns, o)
						}
					}
				}
			}
		}
	}
	if t.Logf("%d through, %d stopped", through, stopped); through < 20 || stopped < 20 {
		t.Errorf("%d through, %d stopped", through, stopped)
	}
}

// A slider on a thin plate: along the plate it may be as fast as it likes, on either side and with either of them moving; across it half
// the thickness in one step is the limit. A slider that is in the plate has no axis between itself and the plate.
func TestMotionAlongASurfaceIsNoOverrun(t *testing.T) {
	const thick, h = 0.001, 20e-6
	plate, slider := mustOutline(t)(Rectangle(0.4, thick, 0)), mustOutline(t)(Rectangle(0.01, 0.004, 0))
	limit := thick / 2 / h
	for _, c := range []struct {
		name    string
		shape   Shape
		y       float64
		a, b    [3]float64 // velocities of slider and plate
		overrun bool
	}{
		{"above", Shape{Outline: slider}, 0.0025, [3]float64{9 * limit}, [3]float64{}, false},
		{"above, to the left", Shape{Outline: slider}, 0.0025, [3]float64{-9 * limit}, [3]float64{}, false},
		{"below", Shape{Outline: slider}, -0.0025, [3]float64{9 * limit}, [3]float64{}, false},
		{"the plate moves", Shape{Outline: slider}, 0.0025, [3]float64{}, [3]float64{9 * limit}, false},
		{"a disc", Shape{Radius: 0.002}, 0.0025, [3]float64{9 * limit}, [3]float64{}, false},
		{"down, below the limit", Shape{Outline: slider}, 0.0025, [3]float64{9 * limit, -0.999 * limit}, [3]float64{}, false},
		{"down, above the limit", Shape{Outline: slider}, 0.0026, [3]float64{9 * limit, -1.001 * limit}, [3]float64{}, true},
		{"up, above the limit", Shape{Outline: slider}, -0.0026, [3]float64{-9 * limit, 1.001 * limit}, [3]float64{}, true},
		{"away, above the limit", Shape{Outline: slider}, 0.0026, [3]float64{9 * limit, 1.001 * limit}, [3]float64{}, true},
		{"in the plate", Shape{Outline: slider}, 0, [3]float64{9 * limit}, [3]float64{}, true},
	} {
		sc := mustScene(t, SceneSpec{
			Bodies: []BodySpec{
				{Name: "plate", Mass: 1, Inertia: 1, Shape: Shape{Outline: plate}, Speed: c.b},
				{Name: "slider", Mass: 0.01, Inertia: 1e-6, Shape: c.shape, Pose: [3]float64{0, math.Copysign(0.0026, c.y)}, Speed: c.a},
			},
			Pairs: []PairSpec{{A: "slider", B: "plate"}},
		})
		q, u := make([]float64, 6), make([]float64, 6)
		sc.Start(q, u)
		q[4] = c.y
		sc.Contacts(0, q, u, 1e-9, NewSet(64, 6))
		if _, _, share := sc.Overrun(h); share > 1 != c.overrun {
			t.Errorf("%s: %.4g of what is allowed", c.name, share)
		}
	}
}
