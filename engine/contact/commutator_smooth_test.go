package contact

import (
	"math"
	"math/rand/v2"
	"testing"
)

func smoothSpec() CommutatorSpec {
	s := paperCommutator()
	s.Rz, s.BarStep = 0, 0
	return s
}

// A polyline with fine vertices is a second way to the same contour.
func TestSmoothCommutatorAgreesWithAFinePolyline(t *testing.T) {
	spec := smoothSpec()
	c, err := NewSmoothCommutator(spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.Spacing = 1e-6
	poly := mustCommutator(t, spec)
	rng := rand.New(rand.NewPCG(1, 9))
	var hint int32
	for range 2000 {
		a, h := 2*math.Pi*rng.Float64(), 3e-5*(rng.Float64()-0.3)
		x, y := (0.011+h)*math.Cos(a), (0.011+h)*math.Sin(a)
		gap, nx, ny, _, _ := c.Edge(x, y)
		pg, px, py, _ := poly.Edge(x, y, &hint)
		// chord height s²·κ/8 = 3e-11, normal s·κ/2 + slope change between foot and radial point
		if math.Abs(gap-pg) > 1e-10+3e-4*math.Abs(h)*1e-1 || math.Hypot(nx-px, ny-py) > 5e-4 {
			t.Fatalf("α = %g h = %g: gap %g, polyline %g; normal off by %g", a, h, gap, pg, math.Hypot(nx-px, ny-py))
		}
	}
}

// The gap is a distance function: its gradient is n, and its second derivative along t is bend.
func TestSmoothCommutatorGradientAndBend(t *testing.T) {
	c, err := NewSmoothCommutator(smoothSpec())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 9))
	for range 500 {
		a, h := 2*math.Pi*rng.Float64(), 1e-3*(rng.Float64()-0.3)
		x, y := (0.011+h)*math.Cos(a), (0.011+h)*math.Sin(a)
		_, nx, ny, bend, zone := c.Edge(x, y)
		const d = 1e-7
		at := func(dx, dy float64) float64 { g, _, _, _, _ := c.Edge(x+dx, y+dy); return g }
		gx, gy := (at(d, 0)-at(-d, 0))/(2*d), (at(0, d)-at(0, -d))/(2*d)
		if math.Hypot(gx-nx, gy-ny) > 1e-5 { // at the border of a dip the bend jumps by 163 1/m
			t.Fatalf("gradient (%g, %g), normal (%g, %g)", gx, gy, nx, ny)
		}
		_, ax, ay, _, z1 := c.Edge(x+ny*d, y-nx*d)
		_, bx, by, _, z2 := c.Edge(x-ny*d, y+nx*d)
		if z1 != zone || z2 != zone {
			continue
		}
		if k := ((ax-bx)*ny - (ay-by)*nx) / (2 * d); math.Abs(k-bend) > 1e-3*math.Abs(bend)+1e-2 {
			t.Fatalf("α = %g: n turns by %g 1/m, want %g", a, k, bend)
		}
	}
}

// What is called beyond is: the quick look never hides a point within reach.
func TestBeyondIsBeyond(t *testing.T) {
	spec := smoothSpec()
	spec.EccentricityPhase = 2
	c, err := NewSmoothCommutator(spec)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 10))
	hidden := 0
	for range 5000 {
		a, h, reach := 2*math.Pi*rng.Float64(), 3e-5*(rng.Float64()-0.3), 1e-5*rng.Float64()
		r, _, _ := c.contour(a, math.Sin(a), math.Cos(a))
		x, y := (r+h)*math.Cos(a), (r+h)*math.Sin(a)
		if !c.OutOfReach(x, y, reach) {
			continue
		}
		hidden++
		if gap, _, _, _, _ := c.Edge(x, y); gap <= reach {
			t.Fatalf("gap %g within %g was hidden", gap, reach)
		}
	}
	if hidden < 1000 || c.OutOfReach(0.02, 0, math.Inf(1)) {
		t.Errorf("%d of 5000 hidden", hidden)
	}
}

func TestSmoothCircleIsExact(t *testing.T) {
	c, err := NewSmoothCommutator(CommutatorSpec{Radius: 0.011})
	if err != nil {
		t.Fatal(err)
	}
	gap, nx, ny, bend, _ := c.Edge(0.009, 0.012)
	if math.Abs(gap-0.004) > 1e-17 || math.Abs(nx-0.6) > 1e-15 || math.Abs(ny-0.8) > 1e-15 || math.Abs(bend-1/0.015) > 1e-12 {
		t.Errorf("gap %g n (%g, %g) bend %g", gap, nx, ny, bend)
	}
}

func TestSmoothCommutatorRefusesRoughness(t *testing.T) {
	if _, err := NewSmoothCommutator(paperCommutator()); err == nil {
		t.Error("a rough surface passed for a smooth one")
	}
}

func TestSmoothZones(t *testing.T) {
	c, _ := NewSmoothCommutator(smoothSpec())
	for j := range 24 {
		a := 2 * math.Pi * float64(j) / 24
		if z := c.zone(a + 1e-3); z != int32(2*j) {
			t.Errorf("slot %d: zone %d", j, z)
		}
		if z := c.zone(a - 1e-3); z != int32(2*j) {
			t.Errorf("slot %d, before its centre: zone %d", j, z)
		}
		if z := c.zone(a + math.Pi/24); z != int32(2*j+1) {
			t.Errorf("bar %d: zone %d", j, z)
		}
	}
}
