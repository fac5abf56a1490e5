package contact

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func mustOutline(t testing.TB) func(*Outline, error) *Outline {
	return func(o *Outline, err error) *Outline {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
}

var channel = []Point{{0, 0}, {4, 0}, {4, 3}, {3, 3}, {3, 1}, {1, 1}, {1, 3}, {0, 3}} // a U, open at the top

func TestOutlineDirectionAndNormals(t *testing.T) {
	ccw := mustOutline(t)(NewOutline([]Point{{0, 0}, {2, 0}, {2, 1}, {0, 1}}))
	cw := mustOutline(t)(NewOutline([]Point{{0, 0}, {0, 1}, {2, 1}, {2, 0}, {0, 0}}))
	for k := range 4 {
		if ccw.Vertex(k) != cw.Vertex(k) {
			t.Errorf("vertex %d: %v, turned round %v", k, ccw.Vertex(k), cw.Vertex(k))
		}
	}
	if nx, ny := ccw.Normal(0); nx != 0 || ny != -1 {
		t.Errorf("normal of the lower side (%g, %g)", nx, ny)
	}
	hole := mustOutline(t)(NewCavity([]Point{{0, 0}, {2, 0}, {2, 1}, {0, 1}}))
	if f := hole.nearest(1, 0.1, 1, -1); f.edge < 0 {
		t.Error("no edge near")
	} else if _, ny := hole.Normal(f.edge); ny != 1 {
		t.Errorf("the floor of a cavity points along %g", ny)
	}
	if ccw.Length() != 6 || ccw.arc[2] != 3 {
		t.Errorf("lengths %g %g", ccw.Length(), ccw.arc[2])
	}
}

func TestSectionOfARectangleAndARing(t *testing.T) {
	r := mustOutline(t)(NewOutline([]Point{{100, 50}, {104, 50}, {104, 53}, {100, 53}}))
	a, c, j := r.Section()
	if math.Abs(a-12) > 1e-12 || math.Hypot(c.X-102, c.Y-51.5) > 1e-12 || math.Abs(j-12*(16+9)/12.0) > 1e-11 {
		t.Errorf("area %g, centroid %v, moment %g", a, c, j)
	}
	p := mustOutline(t)(RegularPolygon(100000, 2, 0.3))
	a, c, j = p.Section()
	if math.Abs(a-4*math.Pi) > 1e-7 || math.Hypot(c.X, c.Y) > 1e-12 || math.Abs(j-8*math.Pi) > 1e-7 {
		t.Errorf("circle: area %g, centroid %v, moment %g", a, c, j)
	}
}

func TestOutlineRefusals(t *testing.T) {
	for _, c := range []struct {
		name, want string
		p          []Point
	}{
		{"two points", "at least 3", []Point{{0, 0}, {1, 0}, {0, 0}}},
		{"bow tie", "meets edge", []Point{{0, 0}, {1, 1}, {1, 0}, {0, 1.1}}},
		{"not a number", "point 1", []Point{{0, 0}, {math.NaN(), 1}, {1, 0}}},
		{"no length", "no length", []Point{{0, 0}, {1, 0}, {1, 0}, {0, 1}}},
		{"spike", "spike", []Point{{0, 0}, {2, 0}, {2, 1}, {3, 1}, {2, 1}, {0, 1}}},
		{"vertex on an edge", "meets edge", []Point{{0, 0}, {4, 0}, {4, 2}, {2, 0}, {0, 2}}},
		{"vertex on a vertex", "meets edge", []Point{{0, 0}, {1, 1}, {2, 0}, {2, 2}, {1, 1}, {0, 2}}},
	} {
		if _, err := NewOutline(c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := Rectangle(1, 1, 0.6); err == nil {
		t.Error("a chamfer longer than half a side")
	}
	if _, err := RegularPolygon(2, 1, 0); err == nil {
		t.Error("a polygon of two vertices")
	}
}

// A closed loop of 10⁵ points, crossing itself once, at a random place: found; without it: accepted. The answers for small random loops
// are those of the test of all pairs.
func TestSelfCrossingIsFound(t *testing.T) {
	const n = 100000
	p := make([]Point, n)
	for k := range p {
		a := 2 * math.Pi * float64(k) / n
		r := 1 + 0.3*math.Sin(40*a)
		p[k] = Point{r * math.Cos(a), r * math.Sin(a)}
	}
	if _, err := NewOutline(p); err != nil {
		t.Error(err)
	}
	p[31234], p[31236] = p[31236], p[31234]
	if _, err := NewOutline(p); err == nil {
		t.Error("a loop in the line was not seen")
	}
	rng := rand.New(rand.NewPCG(5, 5))
	crossed := 0
	for range 2000 {
		m := 4 + rng.IntN(40)
		q := make([]Point, m)
		for k := range q {
			a, r := 2*math.Pi*(float64(k)+2.5*rng.Float64())/float64(m), 0.5+rng.Float64()
			q[k] = Point{r * math.Cos(a), r * math.Sin(a)}
		}
		want := false
		for i := range m {
			for j := i + 2; j < m; j++ {
				if i == 0 && j == m-1 {
					continue
				}
				a, b, c, d := q[i], q[i+1], q[j], q[(j+1)%m]
				want = want || segmentsMeet(a.X, a.Y, b.X, b.Y, c.X, c.Y, d.X, d.Y)
			}
		}
		if want {
			crossed++
		}
		if _, err := NewOutline(q); (err != nil) != want {
			t.Fatalf("%v: %v, all pairs say %t", q, err, want)
		}
	}
	if crossed < 100 || crossed > 1900 {
		t.Errorf("%d of 2000 loops cross themselves: the test shows little", crossed)
	}
}

// The tree against a look at all edges, with any hint.
func TestNearestEdgeIsTheNearest(t *testing.T) {
	c := mustCommutator(t, paperCommutator())
	o := mustOutline(t)(c.Outline())
	rng := rand.New(rand.NewPCG(6, 6))
	for range 300 {
		a, r := 2*math.Pi*rng.Float64(), 0.011*(0.8+0.4*rng.Float64())
		x, y := r*math.Cos(a), r*math.Sin(a)
		want := foot{edge: -1, d2: math.Inf(1)}
		for e := range o.edges {
			if f := o.footOn(e, x, y); f.d2 < want.d2 {
				want = f
			}
		}
		for _, hint := range []int32{-1, int32(want.edge), int32(rng.IntN(o.edges)), math.MaxInt32} {
			if got := o.nearest(x, y, math.Inf(1), hint); got != want {
				t.Fatalf("hint %d: %+v, want %+v", hint, got, want)
			}
		}
		if got := o.nearest(x, y, 0.999*math.Sqrt(want.d2), int32(want.edge)); got.edge != -1 {
			t.Fatal("found something beyond the bound")
		}
	}
}

func TestPointsFromAFile(t *testing.T) {
	for _, text := range []string{
		"# a part\nx_mm,y_mm\n0,0\n12.5,0\n\n12.5,3\n",
		"x [mm]; y [mm]\n0;0\n12.5;0\n12.5;3\n",
		"\ufeffx(mm) y(mm)\r\n0 0\r\n12.5\t0\r\n12.5 3\r\n",
		"x_m y_mm\n0 0\n0.0125 0\n0.0125 3",
	} {
		p, err := ReadPoints(strings.NewReader(text), "part.csv")
		if err != nil || len(p) != 3 || p[1] != (Point{0.0125, 0}) || p[2] != (Point{0.0125, 0.003}) {
			t.Errorf("%q: %v %v", text, p, err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"", "no points"},
		{"x,y\n0,0\n", `part.csv:1: header "x,y"`},
		{"x_in,y_in\n", `unit "in"`},
		{"x_m,y_m\n0,0\n1,two\n", `part.csv:3: "two"`},
		{"x_m,y_m\n0,0,0\n", "part.csv:2: 3 numbers"},
		{"0,0\n1,0\n", "part.csv:1: header"},
	} {
		if _, err := ReadPoints(strings.NewReader(c.text), "part.csv"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	file := filepath.Join(t.TempDir(), "o.csv")
	if err := os.WriteFile(file, []byte("x_um y_um\n1 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := LoadPoints(file); err != nil || len(p) != 1 || p[0] != (Point{1e-6, 2e-6}) {
		t.Errorf("%v %v", p, err)
	}
	if _, err := LoadPoints(file + "x"); err == nil {
		t.Error("a file that is not there")
	}
}

func TestRoughenedBlockHasTheRoughnessAskedFor(t *testing.T) {
	b := mustOutline(t)(Rectangle(0.02, 0.01, 1e-3))
	if b.Vertices() != 8 {
		t.Errorf("%d vertices", b.Vertices())
	}
	r := mustOutline(t)(Roughen(b, 0, 5e-4, 5e-6, 1))
	worst, sum := 0.0, 0.0
	for k := range r.Vertices() {
		p := r.Vertex(k)
		d := math.Sqrt(b.nearest(p.X, p.Y, 1, -1).d2)
		worst, sum = max(worst, d), sum+d
		if r.length[k] > 30e-6 {
			t.Fatalf("edge %d is %g m long", k, r.length[k])
		}
	}
	if mean := sum / float64(r.Vertices()); worst > 2e-5 || worst < 3e-6 || mean < 5e-7 {
		t.Errorf("largest height %g, mean %g", worst, mean)
	}
}

func TestChainsChangeInNotchesAlone(t *testing.T) {
	u := mustOutline(t)(NewOutline(channel))
	want := []uint8{0, 0, 0, 0, 1, 2, 2, 2}
	for e := range want {
		want[e] = []uint8{0, 0, 0, 0, 1, 0, 0, 0}[e] // the right arm goes round to the left one
		if u.chain[e] != want[e] {
			t.Errorf("edge %d: chain %d, want %d", e, u.chain[e], want[e])
		}
	}
	// the walls of the only notch differ, also where the outline begins in it
	corner := []Point{{1, 1}, {1, 2}, {0, 2}, {0, 0}, {2, 0}, {2, 1}}
	for first := range corner {
		l := mustOutline(t)(NewOutline(append(corner[first:len(corner):len(corner)], corner[:first]...)))
		if v := (len(corner) - first) % len(corner); l.corner[v] != notch || l.chain[v] == l.chain[l.edgeBefore(v)] {
			t.Errorf("notch at vertex %d: both walls are of chain %d", v, l.chain[v])
		}
	}
	spec := paperCommutator()
	spec.BarStep = 0 // steps of the bars can be notches
	rough := mustOutline(t)(mustCommutator(t, spec).Outline())
	for e, c := range rough.chain {
		if c != 0 {
			t.Fatalf("rough edge %d: chain %d", e, c)
		}
	}
}
