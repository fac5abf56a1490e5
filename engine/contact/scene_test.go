package contact

import (
	"math"
	"math/rand/v2"
	"testing"
)

func mustScene(t testing.TB, spec SceneSpec) *Scene {
	t.Helper()
	s, err := NewScene(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func block(name string, o *Outline, x, y, angle float64) BodySpec {
	return BodySpec{Name: name, Mass: 2, Inertia: 0.3, Shape: Shape{Outline: o}, Pose: [3]float64{x, y, angle}}
}

func contactsOf(s *Scene, reach float64) *Set {
	set := NewSet(64, s.DOF())
	q, u := make([]float64, s.DOF()), make([]float64, s.DOF())
	s.Start(q, u)
	s.Contacts(0, q, u, reach, set)
	return set
}

// scenes of every kind of contact, bodies in the air and turned at random, one of them driven along a path of its own
func mixedScene(t *testing.T, rng *rand.Rand) *Scene {
	star := make([]Point, 10)
	for k := range star {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / 10)
		r := 0.5 + 0.3*float64(k%2)
		star[k] = Point{r * cos, r * sin}
	}
	gearWheel := mustOutline(t)(NewOutline(star))
	square := mustOutline(t)(Rectangle(0.8, 0.6, 0.1))
	hills := mustOutline(t)(NewOutline([]Point{{9, 0}, {1, 0.2}, {0, -0.4}, {-1, 0.3}, {-2, -0.5}, {-9, 0}, {-9, -9}, {9, -9}}))
	any3 := func(k float64) [3]float64 {
		return [3]float64{k * (rng.Float64() - 0.5), k * (rng.Float64() - 0.5), k * (rng.Float64() - 0.5)}
	}
	at := func(x, y float64) [3]float64 { p := any3(0.3); return [3]float64{x + p[0], y + p[1], 20 * p[2]} }
	drive := func() *Drive {
		p := any3(2)
		return &Drive{Rate: p[0], Amplitude: p[1] / 4, Omega: 3}
	}
	bodies := []BodySpec{
		{Name: "floor", Shape: Shape{HalfPlane: true}, Pose: [3]float64{0, -2.5, 0.1}, Drive: [3]*Drive{drive(), drive(), drive()}},
		{Name: "hills", Shape: Shape{Outline: hills}, Pose: at(0, -1.2), Drive: [3]*Drive{drive(), drive(), drive()}},
		{Name: "star", Mass: 1, Inertia: 0.1, Shape: Shape{Outline: gearWheel}, Pose: at(0.2, 0.6), Speed: any3(2)},
		{Name: "square", Mass: 2, Inertia: 0.2, Shape: Shape{Outline: square}, Pose: at(-1.4, 0.9), Speed: any3(2)},
		{Name: "disc", Mass: 3, Inertia: 0.3, Shape: Shape{Radius: 0.25}, Pose: at(1.6, 0.6), Speed: any3(2)},
		{Name: "wheel", Mass: 1, Inertia: 0.4, Shape: Shape{Radius: 0.3}, Pose: at(-0.1, 2.2), Speed: [3]float64{0, 1, 2},
			Drive: [3]*Drive{drive(), nil, nil}},
	}
	spec := SceneSpec{Bodies: bodies}
	for i := range bodies {
		for j := i + 1; j < len(bodies); j++ {
			if i+j > 1 {
				spec.Pairs = append(spec.Pairs, PairSpec{A: bodies[j].Name, B: bodies[i].Name, Law: Law{Mu: 0.3}})
			}
		}
	}
	s, err := NewScene(spec)
	if err != nil {
		return nil // overlapping at the start: another draw
	}
	return s
}

// Along an arbitrary smooth motion, w·u + w̃ is the derivative of the gap, and w·u̇ + w̄ that of w·u + w̃, for N and T, for every
// kind of contact.
func TestSceneKinematicsAgainstDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	kinds := map[string]int{}
	for range 60 {
		s := mixedScene(t, rng)
		if s == nil {
			continue
		}
		f := s.DOF()
		q0, u0, acc := make([]float64, f), make([]float64, f), make([]float64, f)
		s.Start(q0, u0)
		for k := range acc {
			acc[k] = 4 * (rng.Float64() - 0.5)
		}
		const h = 1e-6
		sets := [3]*Set{}
		us := [3][]float64{}
		for _, i := range [3]int{0, 2, 1} {
			dt := h * float64(i-1)
			q, u := make([]float64, f), make([]float64, f)
			for k := range q {
				q[k], u[k] = q0[k]+u0[k]*dt+acc[k]*dt*dt/2, u0[k]+acc[k]*dt
			}
			sets[i], us[i] = NewSet(200, f), u
			s.Contacts(0.7+dt, q, u, 3, sets[i])
		}
		c := sets[1]
		for i := range c.N {
			a, b := contactWith(sets[0], c.ID[i]), contactWith(sets[2], c.ID[i])
			if a < 0 || b < 0 || sets[0].Feature[a] != c.Feature[i] || sets[2].Feature[b] != c.Feature[i] {
				continue
			}
			if c.Gap[i] < 0.01 && c.Gap[i] > -0.01 {
				continue // bend 1/gap about a vertex spoils the differences
			}
			vn, vt := c.Rate(i, us[1])
			an, at := c.AN[i], c.AT[i]
			for k, v := range acc {
				an += c.RowN(i)[k] * v
				at += c.RowT(i)[k] * v
			}
			vn0, vt0 := sets[0].Rate(a, us[0])
			vn2, vt2 := sets[2].Rate(b, us[2])
			if d := (sets[2].Gap[b] - sets[0].Gap[a]) / (2 * h); math.Abs(d-vn) > 1e-8*(1+math.Abs(vn)) {
				t.Fatalf("id %d: dg/dt = %.10g, want %.10g", c.ID[i], d, vn)
			}
			if d := (vn2 - vn0) / (2 * h); math.Abs(d-an) > 1e-7*(1+math.Abs(an)) {
				t.Fatalf("id %d: normal acceleration %.10g, want %.10g", c.ID[i], d, an)
			}
			if d := (vt2 - vt0) / (2 * h); math.Abs(d-at) > 1e-7*(1+math.Abs(at)) {
				t.Fatalf("id %d: tangential acceleration %.10g, want %.10g", c.ID[i], d, at)
			}
			// two points of material, marked now: on A the contact, on B its foot
			p := s.passOf(c.ID[i])
			nx, ny := normalOf(s, p, c, i)
			q := func(dt float64) []float64 {
				q := make([]float64, f)
				for k := range q {
					q[k] = q0[k] + u0[k]*dt + acc[k]*dt*dt/2
				}
				return q
			}
			slip := func(body int, x, y float64) (float64, float64) {
				bx, by, angle := s.Pose(0.7, q(0), body)
				sin, cos := math.Sincos(angle)
				lx, ly := cos*(x-bx)+sin*(y-by), cos*(y-by)-sin*(x-bx)
				var v [2]float64
				for _, dt := range []float64{-h, h} {
					bx, by, angle := s.Pose(0.7+dt, q(dt), body)
					sin, cos := math.Sincos(angle)
					v[0] += (bx + cos*lx - sin*ly) / (2 * dt)
					v[1] += (by + sin*lx + cos*ly) / (2 * dt)
				}
				return v[0], v[1]
			}
			ax, ay := slip(p.a, c.X[i], c.Y[i])
			bx, by := slip(p.b, c.X[i]-c.Gap[i]*nx, c.Y[i]-c.Gap[i]*ny)
			if d := (ax-bx)*ny - (ay-by)*nx; math.Abs(d-vt) > 1e-8*(1+math.Abs(vt)) {
				t.Fatalf("id %d: the material slides at %.10g, want %.10g", c.ID[i], d, vt)
			}
			kind := s.spec.Bodies[p.a].Name + "–" + s.spec.Bodies[p.b].Name
			if o := s.spec.Bodies[p.b].Shape.Outline; o != nil && int(c.Feature[i]) >= o.edges {
				kind += " vertex"
			}
			kinds[kind]++
		}
	}
	for _, k := range []string{"disc–floor", "star–floor", "disc–hills", "disc–hills vertex", "star–hills", "hills–star",
		"star–hills vertex",
		"square–star", "star–square", "disc–star", "wheel–star vertex", "wheel–disc"} {
		if kinds[k] < 3 {
			t.Errorf("%s: seen %d times", k, kinds[k])
		}
	}
}

// normalOf is n of a contact of the last look.
func normalOf(s *Scene, p *scenePass, c *Set, i int) (nx, ny float64) {
	for k := range s.hits {
		h := &s.hits[k]
		if &s.passes[h.pass] == p && h.feature == c.Feature[i] &&
			p.base+uint32(h.point)*perPoint+uint32(h.chain)*ranks+uint32(h.rank) == c.ID[i] {
			return h.wx, h.wy
		}
	}
	return math.NaN(), math.NaN()
}

func contactWith(set *Set, id uint32) int {
	for i := range set.N {
		if set.ID[i] == id {
			return i
		}
	}
	return -1
}

func (s *Scene) passOf(id uint32) *scenePass {
	k := 0
	for i := range s.passes {
		if s.passes[i].base <= id {
			k = i
		}
	}
	return &s.passes[k]
}

// The velocity of the material of one body at its surface against the other's, from the motion of two marked points.
func TestTangentialVelocityIsThatOfTheMaterial(t *testing.T) {
	s := mustScene(t, SceneSpec{
		Bodies: []BodySpec{
			{Name: "a", Mass: 1, Inertia: 1, Shape: Shape{Radius: 0.3}, Pose: [3]float64{0, 1, 0}, Speed: [3]float64{0.2, -0.1, 3}},
			{Name: "b", Mass: 1, Inertia: 1, Shape: Shape{Radius: 0.5}, Pose: [3]float64{0, 0, 0}, Speed: [3]float64{-0.4, 0.3, -2}},
		},
		Pairs: []PairSpec{{A: "a", B: "b"}},
	})
	set := contactsOf(s, 1)
	if set.N != 1 || math.Abs(set.Gap[0]-0.2) > 1e-15 {
		t.Fatalf("%d contacts, gap %g", set.N, set.Gap[0])
	}
	q, u := make([]float64, 6), make([]float64, 6)
	s.Start(q, u)
	// n = (0, 1), t = (1, 0); lowest point of a: 0.2 + 3·0.3; highest point of b: −0.4 + 2·0.5
	vn, vt := set.Rate(0, u)
	if math.Abs(vn+0.4) > 1e-15 || math.Abs(vt-(0.2+0.9-(-0.4+1.0))) > 1e-15 {
		t.Errorf("velocity (%g, %g)", vn, vt)
	}
}

func TestBlocksStandOnTwoContacts(t *testing.T) {
	sq := mustOutline(t)(Rectangle(1, 1, 0))
	plane := BodySpec{Name: "ground", Locked: [3]bool{true, true, true}, Shape: Shape{HalfPlane: true}}
	for _, c := range []struct {
		name string
		spec SceneSpec
		n    int
	}{
		{"on a half-plane", SceneSpec{Bodies: []BodySpec{plane, block("a", sq, 0, 0.5, 0)}, Pairs: []PairSpec{{A: "a", B: "ground"}}}, 2},
		{"on a block of the same size", SceneSpec{
			Bodies: []BodySpec{block("low", sq, 0, 0, 0), block("a", sq, 0, 1, 0)}, Pairs: []PairSpec{{A: "a", B: "low"}}}, 2},
		{"shifted by half", SceneSpec{
			Bodies: []BodySpec{block("low", sq, 0, 0, 0), block("a", sq, 0.5, 1, 0)}, Pairs: []PairSpec{{A: "a", B: "low"}}}, 2},
		{"corner to corner", SceneSpec{
			Bodies: []BodySpec{block("low", sq, 0, 0, 0), block("a", sq, 1, 1, 0)}, Pairs: []PairSpec{{A: "a", B: "low"}}}, 1},
		{"on its corner", SceneSpec{
			Bodies: []BodySpec{plane, block("a", sq, 0, math.Sqrt2/2, math.Pi/4)}, Pairs: []PairSpec{{A: "a", B: "ground"}}}, 1},
	} {
		set := contactsOf(mustScene(t, c.spec), 1e-6)
		if set.N != c.n {
			t.Errorf("%s: %d contacts, want %d", c.name, set.N, c.n)
		}
		for i := range set.N {
			if math.Abs(set.Gap[i]) > 1e-12 {
				t.Errorf("%s: gap %g", c.name, set.Gap[i])
			}
		}
	}
}

// In the corner of a cavity a vertex touches both walls, with an id for each that stays when it moves along one of them.
// A block that sinks a little into another one of its size, shifted and turned by next to nothing, stays on its two lower corners.
func TestSunkenBlockIsPushedUpwards(t *testing.T) {
	sq := mustOutline(t)(Rectangle(1, 1, 0))
	s := mustScene(t, SceneSpec{
		Bodies: []BodySpec{block("low", sq, 0, 0, 0), block("a", sq, 0, 1, 0)}, Pairs: []PairSpec{{A: "a", B: "low"}},
	})
	set := NewSet(20, 6)
	rng := rand.New(rand.NewPCG(3, 1))
	for range 500 {
		size := math.Pow(10, -12+9*rng.Float64())
		q := []float64{0, 0, 0, size * (rng.Float64() - 0.5), 1 - 1e-5*rng.Float64(), 1e-2 * size * (rng.Float64() - 0.5)}
		s.Contacts(0, q, make([]float64, 6), 1e-4, set)
		left, right := false, false
		for i := range set.N {
			w := set.RowN(i)
			up := math.Abs(w[4])
			if up < 0.999 {
				t.Fatalf("q = %v: a contact along (%g, %g), gap %g", q[3:], w[3], w[4], set.Gap[i])
			}
			left, right = left || set.X[i] < -0.49, right || set.X[i] > 0.49
		}
		if !left || !right || set.N > 4 {
			t.Fatalf("q = %v: %d contacts, left %t, right %t", q[3:], set.N, left, right)
		}
	}
}

func TestVertexInANotchTouchesBothSides(t *testing.T) {
	room := mustOutline(t)(NewCavity([]Point{{0, 0}, {4, 0}, {4, 4}, {0, 4}}))
	pin := mustOutline(t)(NewOutline([]Point{{0, 0}, {1, 0.2}, {0.2, 1}}))
	s := mustScene(t, SceneSpec{
		Bodies: []BodySpec{{Name: "room", Locked: [3]bool{true, true, true}, Shape: Shape{Outline: room}}, block("pin", pin, 0.1, 0.2, 0)},
		Pairs:  []PairSpec{{A: "pin", B: "room"}},
	})
	set := NewSet(20, 3)
	u := make([]float64, 3)
	ids := map[float64]uint32{}
	for _, at := range []struct{ x, y float64 }{{0.1, 0.2}, {0.2, 0.1}, {-1e-6, 1e-6}, {-1e-6, -2e-6}, {1e-6, -1e-6}, {0, 0}} {
		s.Contacts(0, []float64{at.x, at.y, 0}, u, 0.5, set)
		for i := range set.N {
			if math.Hypot(set.X[i]-at.x, set.Y[i]-at.y) > 1e-12 {
				continue // another vertex
			}
			n := set.RowN(i)[0]
			want := at.x
			if n == 0 {
				want = at.y
			}
			if math.Abs(set.Gap[i]-want) > 1e-15 {
				t.Errorf("at %v: gap %g along (%g, %g)", at, set.Gap[i], n, set.RowN(i)[1])
			}
			if id, seen := ids[n]; seen && id != set.ID[i] {
				t.Errorf("at %v: the id of a wall changed", at)
			}
			ids[n] = set.ID[i]
		}
		if len(ids) != 2 || ids[0] == ids[1] {
			t.Fatalf("at %v: %v", at, ids)
		}
	}
}

// A disc in a groove lies on both its sides; over a hump of a rough line it keeps one id from edge to vertex to edge.
func TestDiscInAGrooveAndOverAHump(t *testing.T) {
	groove := mustOutline(t)(NewOutline([]Point{{2, 2}, {0, 0}, {-2, 2}, {-2, -2}, {2, -2}}))
	s := mustScene(t, SceneSpec{
		Bodies: []BodySpec{
			{Name: "groove", Locked: [3]bool{true, true, true}, Shape: Shape{Outline: groove}},
			{Name: "disc", Mass: 1, Inertia: 1, Shape: Shape{Radius: 0.5}, Pose: [3]float64{0, 0.5 * math.Sqrt2, 0}},
		},
		Pairs: []PairSpec{{A: "disc", B: "groove"}},
	})
	set := contactsOf(s, 0.1)
	if set.N != 2 || math.Abs(set.Gap[0])+math.Abs(set.Gap[1]) > 1e-15 || set.RowN(0)[0]*set.RowN(1)[0] > 0 || set.ID[0] == set.ID[1] {
		t.Errorf("%d contacts, gaps %v, rows %v", set.N, set.Gap[:set.N], set.WN[:6])
	}
	hump := mustOutline(t)(NewOutline([]Point{{2, 0}, {0, 0.5}, {-2, 0}, {-2, -2}, {2, -2}}))
	s = mustScene(t, SceneSpec{
		Bodies: []BodySpec{
			{Name: "hump", Locked: [3]bool{true, true, true}, Shape: Shape{Outline: hump}},
			{Name: "disc", Mass: 1, Inertia: 1, Shape: Shape{Radius: 0.5}, Pose: [3]float64{0, 1.01, 0}},
		},
		Pairs: []PairSpec{{A: "disc", B: "hump"}},
	})
	features := map[int32]bool{}
	var id uint32
	for k := range 200 {
		x := -0.5 + float64(k)/200
		s.Contacts(0, []float64{x, 1.01, 0}, make([]float64, 3), 1, set)
		if set.N != 1 || k > 0 && set.ID[0] != id {
			t.Fatalf("x = %g: %d contacts, id %d after %d", x, set.N, set.ID[0], id)
		}
		id = set.ID[0]
		features[set.Feature[0]] = true
	}
	if len(features) != 3 {
		t.Errorf("went over %v", features)
	}
}

// A rough block over a plane: the contacts are those on the lower hull of its face, and any motion that opens these opens all vertices.
func TestReductionKeepsWhatMatters(t *testing.T) {
	rough := mustOutline(t)(Roughen(mustOutline(t)(Rectangle(6e-3, 3e-3, 0)), 0, 5e-4, 5e-6, 4))
	s := mustScene(t, SceneSpec{
		Bodies: []BodySpec{{Name: "ground", Locked: [3]bool{true, true, true}, Shape: Shape{HalfPlane: true}}, block("a", rough, 0, 1.6e-3, 0)},
		Pairs:  []PairSpec{{A: "a", B: "ground"}},
	})
	set := contactsOf(s, 1.5e-4)
	if set.N < 2 || set.N > 20 {
		t.Errorf("%d contacts", set.N)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		angle := 0.02 * (rng.Float64() - 0.5)
		lowest, listed := math.Inf(1), math.Inf(1)
		for k := range rough.Vertices() {
			p := rough.Vertex(k)
			lowest = min(lowest, 1.6e-3+p.Y*math.Cos(angle)+p.X*math.Sin(angle))
		}
		for i := range set.N {
			x, y := set.X[i], set.Y[i]-1.6e-3
			listed = min(listed, 1.6e-3+y*math.Cos(angle)+x*math.Sin(angle))
		}
		if math.Abs(lowest-listed) > 1e-11 {
			t.Fatalf("turned by %g: lowest vertex at %g, lowest of the listed %g", angle, lowest, listed)
		}
	}
}

// The smallest gap of two polygons against all pairs of vertices and edges.
func TestSmallestGapAgainstAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	blob := func() *Outline {
		p := make([]Point, 5+rng.IntN(60))
		for k := range p {
			sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(len(p)))
			r := 0.6 + 0.3*rng.Float64()
			p[k] = Point{r * cos, r * sin}
		}
		return mustOutline(t)(NewOutline(p))
	}
	tried := 0
	for range 300 {
		a, b := blob(), blob()
		s, err := NewScene(SceneSpec{
			Bodies: []BodySpec{block("a", a, 0, 0, 6*rng.Float64()), block("b", b, 1.3+rng.Float64(), 0, 6*rng.Float64())},
			Pairs:  []PairSpec{{A: "a", B: "b"}},
		})
		if err != nil {
			continue
		}
		tried++
		want := math.Inf(1)
		brute := func(i, j int, p, o *Outline) {
			r := s.relative(i, j)
			for k := range p.Vertices() {
				x, y := r.cos*p.x[k]-r.sin*p.y[k]+r.dx, r.sin*p.x[k]+r.cos*p.y[k]+r.dy
				for e := range o.edges {
					want = min(want, math.Sqrt(o.footOn(e, x, y).d2))
				}
			}
		}
		brute(0, 1, a, b)
		brute(1, 0, b, a)
		for _, reach := range []float64{want * (1 + 1e-9), 2 * want, math.Inf(1)} {
			set := contactsOf(s, reach)
			got := math.Inf(1)
			for i := range set.N {
				got = min(got, set.Gap[i])
			}
			if math.Abs(got-want) > 1e-14 {
				t.Fatalf("reach %g: smallest gap %g, want %g", reach, got, want)
			}
		}
		if set := contactsOf(s, want*(1-1e-9)); set.N != 0 {
			t.Fatal("something nearer than the nearest")
		}
	}
	if tried < 100 {
		t.Errorf("%d pairs", tried)
	}
}

func TestIdsAreUnique(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 8))
	for range 50 {
		s := mixedScene(t, rng)
		if s == nil {
			continue
		}
		set := contactsOf(s, math.Inf(1))
		seen := map[uint32]bool{}
		for _, id := range set.ID[:set.N] {
			if seen[id] {
				t.Fatalf("id %d twice", id)
			}
			seen[id] = true
		}
	}
}
