package contact

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func paperCommutator() CommutatorSpec {
	return CommutatorSpec{
		Radius: 0.011, Eccentricity: 5e-6, EccentricityPhase: 0.4, Bars: 24, Rz: 5e-6, Corr: 5e-4, SlotWidth: 5e-4, SlotDepth: 8e-4,
		DipDepth: 1e-5, EdgeLength: 3e-4, BarStep: 1e-6, Seed: 3,
	}
}

func mustCommutator(t testing.TB, spec CommutatorSpec) *Commutator {
	t.Helper()
	c, err := NewCommutator(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCommutatorVerticesFollowTheFormula(t *testing.T) {
	spec := paperCommutator()
	c := mustCommutator(t, spec)
	if c.n%spec.Bars != 0 {
		t.Errorf("%d edges do not divide into %d bars", c.n, spec.Bars)
	}
	steps := whiteNoise(spec.Bars, streamBars, spec.Seed)
	x, y := c.Vertices()
	n := c.n
	for k := range x {
		a := 2 * math.Pi * float64(k) / float64(n)
		bar := k / (n / spec.Bars)
		r := 0.011 + c.roughness[k] + 1e-6*steps[bar] + 5e-6*math.Cos(a-0.4)
		s := math.Remainder(a, 2*math.Pi/24) * 0.011
		if w := 5.5e-4; math.Abs(s) < w {
			r -= 0.5e-5 * (1 + math.Cos(math.Pi*s/w))
		}
		if math.Hypot(x[k]-r*math.Cos(a), y[k]-r*math.Sin(a)) > 1e-16 {
			t.Fatalf("vertex %d: %g %g, want radius %g at %g", k, x[k], y[k], r, a)
		}
		j := (k + 1) % n
		if d := math.Hypot(x[j]-x[k], y[j]-y[k]); d > 25.01e-6 {
			t.Fatalf("edge %d is %g m long", k, d)
		}
	}
}

// The chord formula against the intersection of a ray with the segment, and its slope against differences.
func TestCommutatorRadiusIsTheChord(t *testing.T) {
	for _, true_ := range []bool{false, true} {
		spec := paperCommutator()
		spec.TrueSlots = true_
		c := mustCommutator(t, spec)
		x, y := c.Vertices()
		rng := rand.New(rand.NewPCG(1, 1))
		var hint int32
		for range 20000 {
			a := 20 * (rng.Float64() - 0.5)
			r, slope := c.Radius(a, &hint)
			k := int(hint)
			j := (k + 1) % c.n
			// cross(p − p_k, e) = 0 with p = r·(cos, sin)
			ex, ey := x[j]-x[k], y[j]-y[k]
			sin, cos := math.Sincos(a)
			want := (x[k]*ey - y[k]*ex) / (cos*ey - sin*ex)
			if math.Abs(r-want) > 1e-12*(want+math.Abs(slope)) {
				t.Fatalf("α = %g: r = %.17g, want %.17g", a, r, want)
			}
			wantSlope := (x[k]*ey - y[k]*ex) * (sin*ey + cos*ex) / ((cos*ey - sin*ex) * (cos*ey - sin*ex))
			if math.Abs(slope-wantSlope) > 1e-9*math.Max(want, math.Abs(wantSlope)) {
				t.Fatalf("α = %g: slope %g, want %g", a, slope, wantSlope)
			}
			wild := int32(rng.Uint32())
			if r2, s2 := c.Radius(a, &wild); r2 != r || s2 != slope {
				t.Fatal("the hint changes the radius")
			}
		}
		// at vertices the radius is the vertex's
		for k := range x {
			if r, _ := c.Radius(c.angle[k], &hint); math.Abs(r-math.Hypot(x[k], y[k])) > 1e-15 {
				t.Fatalf("vertex %d: %g, want %g", k, r, math.Hypot(x[k], y[k]))
			}
		}
	}
}

// Edge against a search over all sectors by atan2; old edges near, far, opposite and out of range give the same answer.
func TestCommutatorEdgeIsTheSectorWhateverTheHint(t *testing.T) {
	for _, true_ := range []bool{false, true} {
		spec := paperCommutator()
		spec.TrueSlots = true_
		c := mustCommutator(t, spec)
		x, y := c.Vertices()
		n := c.n
		rng := rand.New(rand.NewPCG(2, 2))
		for range 5000 {
			a, r := 2*math.Pi*rng.Float64(), 0.011*(0.9+0.2*rng.Float64())
			px, py := r*math.Cos(a), r*math.Sin(a)
			k := 0
			for k < n-1 && a >= c.angle[k+1] {
				k++
			}
			j := (k + 1) % n
			l := math.Hypot(x[j]-x[k], y[j]-y[k])
			want := ((px-x[k])*(y[j]-y[k]) - (py-y[k])*(x[j]-x[k])) / l
			for _, hint := range []int32{int32(k), int32((k + 3) % n), int32((k + n - 5) % n), int32((k + n/2) % n), int32(rng.IntN(n)), -1,
				math.MaxInt32} {
				gap, nx, ny, edge := c.Edge(px, py, &hint)
				if int(edge) != k || hint != edge || math.Abs(gap-want) > 1e-15 || math.Abs(math.Hypot(nx, ny)-1) > 1e-14 || nx*px+ny*py < 0 && !true_ {
					t.Fatalf("α = %g: edge %d gap %g n (%g, %g), want edge %d gap %g", a, edge, gap, nx, ny, k, want)
				}
			}
		}
		// each vertex belongs to the edge that begins there, with gap 0
		for k := range x {
			hint := int32((k + n - 1) % n)
			if gap, _, _, edge := c.Edge(x[k], y[k], &hint); math.Abs(gap) > 1e-18 || int(edge) != k {
				t.Fatalf("vertex %d: edge %d, gap %g", k, edge, gap)
			}
		}
	}
}

func TestTrueSlotsHaveTheirWidthAndDepth(t *testing.T) {
	spec := CommutatorSpec{Radius: 0.011, Bars: 24, SlotWidth: 5e-4, SlotDepth: 8e-4, DipDepth: 1e-5, EdgeLength: 3e-4, TrueSlots: true}
	c := mustCommutator(t, spec)
	var hint int32
	for j := range 24 {
		at := func(x float64) float64 {
			r, _ := c.Radius(2*math.Pi*float64(j)/24+x/0.011, &hint)
			return 0.011 - r
		}
		for _, side := range []float64{-1, 1} {
			if d := at(side * (2.5e-4 - 1e-6)); math.Abs(d-8e-4) > 1e-7 {
				t.Errorf("slot %d: %g deep inside its wall", j, d)
			}
			if d := at(side * (2.5e-4 + 1e-9)); math.Abs(d-1e-5) > 1e-8 {
				t.Errorf("slot %d: %g deep at its edge", j, d)
			}
			if d := at(side * 4e-4); math.Abs(d-1e-5/4) > 3e-8 {
				t.Errorf("slot %d: rounding %g", j, d)
			}
		}
	}
	for k := range c.n {
		if c.angle[k+1] <= c.angle[k] {
			t.Fatalf("angles turn back at vertex %d", k)
		}
	}
}

func TestCommutatorRepeatsAndSeedsDiffer(t *testing.T) {
	a, b := mustCommutator(t, paperCommutator()), mustCommutator(t, paperCommutator())
	spec := paperCommutator()
	spec.Seed++
	c := mustCommutator(t, spec)
	same := true
	for k := range a.r {
		if a.r[k] != b.r[k] {
			t.Fatal("the same seed gave another contour")
		}
		same = same && a.r[k] == c.r[k]
	}
	if same {
		t.Error("another seed gave the same contour")
	}
	// leaving the bars' steps out does not move the roughness
	spec = paperCommutator()
	spec.BarStep = 0
	for k, h := range mustCommutator(t, spec).roughness {
		if h != a.roughness[k] {
			t.Fatal("roughness depends on the bars")
		}
	}
}

func TestCommutatorRefusals(t *testing.T) {
	for _, c := range []struct {
		change func(*CommutatorSpec)
		want   []string
	}{
		{func(s *CommutatorSpec) { s.Radius = -1; s.Rz = math.NaN() }, []string{"radius: -1 m, want > 0", "rz: NaN"}},
		{func(s *CommutatorSpec) { s.Bars = -1 }, []string{"bars"}},
		{func(s *CommutatorSpec) { s.SlotWidth = 3e-3 }, []string{"slot_width"}},
		{func(s *CommutatorSpec) { s.Spacing = 1e-4 }, []string{"twentieth"}},
		{func(s *CommutatorSpec) { s.Corr = 0 }, []string{"corr"}},
		{func(s *CommutatorSpec) { s.Eccentricity = 0.02 }, []string{"core"}},
		{func(s *CommutatorSpec) { s.Corr, s.Spacing = 1e-9, 0 }, []string{"vertices"}},
		{func(s *CommutatorSpec) { s.EccentricityPhase = math.Inf(1) }, []string{"eccentricity_phase"}},
	} {
		spec := paperCommutator()
		c.change(&spec)
		_, err := NewCommutator(spec)
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("want %q in %v", w, err)
			}
		}
	}
}

func TestCommutatorQueriesDoNotAllocate(t *testing.T) {
	c := mustCommutator(t, paperCommutator())
	var h1, h2 int32
	a := 0.0
	if n := testing.AllocsPerRun(100, func() {
		a += 0.1
		c.Radius(a, &h1)
		c.Edge(0.011*math.Cos(a), 0.011*math.Sin(a), &h2)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Fifteen face vertices over a commutator that turns by 69 µm, 2.8 edges, per look: 3000 rpm at 20 µs.
func BenchmarkCommutatorEdge(b *testing.B) {
	c := mustCommutator(b, paperCommutator())
	const turns = 1024
	var px, py [15 * turns]float64
	for i := range px {
		a := float64(i%15)*0.04 - float64(i/15)*6.28e-3
		px[i], py[i] = 0.01101*math.Cos(a), 0.01101*math.Sin(a)
	}
	var hints [15]int32
	sum, i := 0.0, 0
	for b.Loop() {
		for j := range hints {
			g, _, _, _ := c.Edge(px[i+j], py[i+j], &hints[j])
			sum += g
		}
		if i += 15; i == len(px) {
			i = 0
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/15, "ns/point")
	_ = sum
}
