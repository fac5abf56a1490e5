package contact

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestFullSetKeepsTheNearestAndCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var s *Scene
	for s == nil {
		s = mixedScene(t, rng)
	}
	all := contactsOf(s, 2)
	few := NewSet(3, s.DOF())
	q, u := make([]float64, s.DOF()), make([]float64, s.DOF())
	s.Start(q, u)
	s.Contacts(0, q, u, 2, few)
	if few.N != 3 || few.Dropped != all.N-3 {
		t.Errorf("%d kept, %d dropped of %d", few.N, few.Dropped, all.N)
	}
	for i := range all.N {
		if widest := max(few.Gap[0], few.Gap[1], few.Gap[2]); contactWith(few, all.ID[i]) < 0 && all.Gap[i] < widest {
			t.Errorf("gap %g dropped, %g kept", all.Gap[i], widest)
		}
	}
}

func TestSceneRefusals(t *testing.T) {
	sq := mustOutline(t)(Rectangle(1, 1, 0))
	plane := BodySpec{Name: "ground", Locked: [3]bool{true, true, true}, Shape: Shape{HalfPlane: true}}
	pair := []PairSpec{{A: "a", B: "ground"}}
	good := func() SceneSpec {
		return SceneSpec{Bodies: []BodySpec{plane, block("a", sq, 0, 0.6, 0)}, Pairs: pair}
	}
	mustScene(t, good())
	cross := block("b", mustOutline(t)(Rectangle(0.2, 3, 0)), 0, 0.6, 0)
	for _, c := range []struct {
		change func(*SceneSpec)
		want   []string
	}{
		{func(s *SceneSpec) { s.Bodies[1].Mass = -1; s.Bodies[1].Inertia = 0 }, []string{`bodies[1] "a".mass: -1 kg`, "inertia: 0"}},
		{func(s *SceneSpec) { s.Pairs = []PairSpec{{A: "a", B: "grund"}} }, []string{`pairs[0].b: no body is called "grund"`}},
		{func(s *SceneSpec) { s.Bodies[1].Pose[1] = 0.49 }, []string{`"a" and "ground" overlap at the start: 0.01`}},
		{func(s *SceneSpec) { s.Bodies[1].Pose[0] = math.NaN() }, []string{"pose: NaN"}},
		{func(s *SceneSpec) { s.Bodies[1].Name = "ground" }, []string{"has the same name"}},
		{func(s *SceneSpec) { s.Bodies[1].Locked = [3]bool{true, true, true} }, []string{"no coordinate is free", "neither"}},
		{func(s *SceneSpec) { s.Pairs[0].Law = Law{Mu: -1, EpsN: 2} }, []string{"pairs[0].mu: -1", "pairs[0].eps_n: 2"}},
		{func(s *SceneSpec) { s.Springs = []SpringSpec{{A: "a", B: "x", Stiffness: -1}} }, []string{"springs[0].b", "springs[0].stiffness"}},
		{func(s *SceneSpec) { s.Bodies[1].Shape = Shape{} }, []string{"has no shape"}},
		{func(s *SceneSpec) { s.Bodies[1].Shape.Radius = 1 }, []string{"exclude each other"}},
		{func(s *SceneSpec) {
			cross.Pose[1] = 5
			s.Bodies = append(s.Bodies, cross, block("c", mustOutline(t)(Rectangle(3, 0.2, 0)), 0, 5, 0))
			s.Pairs = append(s.Pairs, PairSpec{A: "b", B: "c"})
		}, []string{`crosses edge`}},
	} {
		spec := good()
		spec.Pairs = append([]PairSpec(nil), spec.Pairs...)
		c.change(&spec)
		_, err := NewScene(spec)
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("want %q in %v", w, err)
			}
		}
	}
}

func TestSceneDoesNotAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var s *Scene
	for s == nil {
		s = mixedScene(t, rng)
	}
	set := NewSet(12, s.DOF())
	f := s.DOF()
	q, u, load, m := make([]float64, f), make([]float64, f), make([]float64, f), make([]float64, f*f)
	s.Start(q, u)
	if n := testing.AllocsPerRun(50, func() {
		s.Contacts(0, q, u, 2, set)
		s.Force(0, q, u, load)
		s.Mass(0, q, m)
		s.Linear(m, m)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What a scene remembers from call to call makes it fast and changes nothing.
func TestContactsDoNotDependOnThePast(t *testing.T) {
	wheel := mustOutline(t)(mustCommutator(t, paperCommutator()).Outline())
	rough := mustOutline(t)(Roughen(mustOutline(t)(Rectangle(6e-3, 3e-3, 0)), 0, 5e-4, 5e-6, 4))
	spec := SceneSpec{
		Bodies: []BodySpec{
			{Name: "wheel", Shape: Shape{Outline: wheel}, Locked: [3]bool{true, true, false}, Drive: [3]*Drive{nil, nil, {Rate: 314}}},
			block("a", rough, 0, 0.01254, 0),
		},
		Pairs: []PairSpec{{A: "a", B: "wheel"}},
	}
	old := mustScene(t, spec)
	rng := rand.New(rand.NewPCG(2, 1))
	q, u := make([]float64, 3), make([]float64, 3)
	old.Start(q, u)
	a, b := NewSet(200, 3), NewSet(200, 3)
	found := 0
	for k := range 60 {
		for j, size := range [3]float64{1e-4, 1e-4, 3e-3} {
			q[j] += size * (rng.Float64() - 0.5)
		}
		if k == 30 {
			q[1] += 1e-3 // away and back
		} else if k == 40 {
			q[1] -= 1.02e-3
		}
		reach := 1e-4 * rng.Float64()
		old.Contacts(2e-5*float64(k), q, u, reach, a)
		mustScene(t, spec).Contacts(2e-5*float64(k), q, u, reach, b)
		if a.N != b.N {
			t.Fatalf("step %d: %d contacts, %d without a past", k, a.N, b.N)
		}
		for i := range a.N {
			if a.ID[i] != b.ID[i] || a.Gap[i] != b.Gap[i] || a.Feature[i] != b.Feature[i] {
				t.Fatalf("step %d: contact %d with gap %g, %d with gap %g without a past", k, a.ID[i], a.Gap[i], b.ID[i], b.Gap[i])
			}
		}
		found += a.N
	}
	if found < 100 {
		t.Errorf("only %d contacts", found)
	}
}

func TestNonFiniteStateGivesNoContact(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var s *Scene
	for s == nil {
		s = mixedScene(t, rng)
	}
	set := NewSet(50, s.DOF())
	q, u := make([]float64, s.DOF()), make([]float64, s.DOF())
	for k := range q {
		q[k] = math.NaN()
	}
	s.Contacts(0, q, u, math.Inf(1), set)
	if set.N != 0 {
		t.Errorf("%d contacts of bodies that are nowhere", set.N)
	}
}

func benchmarkContacts(b *testing.B, spec SceneSpec, reach float64) {
	s := mustScene(b, spec)
	set := NewSet(12, s.DOF())
	q, u := make([]float64, s.DOF()), make([]float64, s.DOF())
	s.Start(q, u)
	t := 0.0
	for b.Loop() {
		t += 2e-5
		s.Contacts(t, q, u, reach, set)
	}
	b.ReportMetric(float64(set.N), "contacts")
}

func BenchmarkContactsBlockOnPlane(b *testing.B) {
	sq := mustOutline(b)(Rectangle(1, 1, 0))
	benchmarkContacts(b, SceneSpec{
		Bodies: []BodySpec{{Name: "ground", Locked: [3]bool{true, true, true}, Shape: Shape{HalfPlane: true}}, block("a", sq, 0, 0.5, 0)},
		Pairs:  []PairSpec{{A: "a", B: "ground"}},
	}, 1e-3)
}

// A rough wheel of 2780 vertices that turns under a rough block of 720.
func BenchmarkContactsRoughWheel(b *testing.B) {
	wheel := mustOutline(b)(mustCommutator(b, paperCommutator()).Outline())
	rough := mustOutline(b)(Roughen(mustOutline(b)(Rectangle(6e-3, 3e-3, 0)), 0, 5e-4, 5e-6, 4))
	benchmarkContacts(b, SceneSpec{
		Bodies: []BodySpec{
			{Name: "wheel", Shape: Shape{Outline: wheel}, Locked: [3]bool{true, true, false}, Drive: [3]*Drive{nil, nil, {Rate: 314}}},
			block("a", rough, 0, 0.01254, 0),
		},
		Pairs: []PairSpec{{A: "a", B: "wheel"}},
	}, 1e-4)
}
