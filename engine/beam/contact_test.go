package beam

import (
	"math"
	"testing"
)

// Rate and Gamma are the time derivatives of Phi along a motion that is given in closed form: point and beam coordinates swing, with the
// element held, and differences of Φ are taken.
func TestContactLevels(t *testing.T) {
	b := like(t, Clamped, Pinned, 5)
	q, v, a := make([]float64, b.N), make([]float64, b.N), make([]float64, b.N)
	motion := func(s float64) (p Point, ax, ay float64) {
		for i := range q {
			f := 1 + 0.3*float64(i)
			q[i], v[i], a[i] = 0.01*math.Sin(f*s), 0.01*f*math.Cos(f*s), -0.01*f*f*math.Sin(f*s)
		}
		p = Point{X: 0.45 + 0.1*math.Sin(2*s), Y: 0.2 * math.Cos(3*s), VX: 0.2 * math.Cos(2*s), VY: -0.6 * math.Sin(3*s)}
		return p, -0.4 * math.Sin(2*s), -1.8 * math.Cos(3*s)
	}
	const at, h, e = 0.4, 1e-4, 2
	phi := func(s float64) float64 {
		p, _, _ := motion(s)
		c := b.Contact(e, &p, q, v)
		return c.Phi
	}
	first := (phi(at+h) - phi(at-h)) / (2 * h)
	second := (phi(at+h) - 2*phi(at) + phi(at-h)) / (h * h)
	p, ax, ay := motion(at)
	p.GX, p.GY = ax, ay // a point without coordinates: all its acceleration is given
	c := b.Contact(e, &p, q, v)
	near(t, "first derivative", c.Rate, first, 1e-8)
	near(t, "second derivative", c.Gamma+c.Of(&c.N, a), second, 1e-6)
	row := make([]float64, 2)
	c.Row([]float64{1, 0}, []float64{0, 1}, row)
	near(t, "along the beam", row[0], c.Slope, 0)
	near(t, "across", row[1], -1, 0)
}

// On a border deflection and slope are those of either element, the curvature is not.
func TestBorder(t *testing.T) {
	b := like(t, Clamped, Clamped, 10)
	q := make([]float64, b.N)
	at, _ := b.At(0.43)
	at.Add(1, q)
	if err := b.Static(q); err != nil {
		t.Fatal(err)
	}
	l, r := b.PlaceIn(3, 0.4), b.PlaceIn(4, 0.4)
	near(t, "deflection", l.Of(&l.N, q), r.Of(&r.N, q), 1e-16)
	near(t, "slope", l.Of(&l.Nx, q), r.Of(&r.Nx, q), 1e-15)
	if c := math.Abs(l.Of(&l.Nxx, q) - r.Of(&r.Nxx, q)); c < 1e-4 {
		t.Errorf("the curvature jumps by %g only", c)
	}
}

func TestContactAllocatesNothing(t *testing.T) {
	b := like(t, Clamped, Clamped, 10)
	q, p := make([]float64, b.N), Point{X: 0.3}
	sum := 0.0
	if n := testing.AllocsPerRun(10, func() { c := b.Contact(3, &p, q, q); sum += c.Phi }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
