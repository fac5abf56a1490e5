package ball

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"
)

func TestCheck(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	thin := func(p *Params, share float64) { // a disc, of which the largest moment is the sum of the others
		p.Center, p.Inertia = [3]float64{}, [3]float64{1e-5, 1e-5, 2e-5 * share}
	}
	for _, c := range []struct {
		name string
		set  func(p *Params)
		path string // of the only problem; "": none
		text string
	}{
		{"paper", func(p *Params) {}, "", ""},
		{"about the centre of mass", func(p *Params) { p.InertiaAbout = AboutCenterOfMass }, "", ""},
		{"no gravity", func(p *Params) { p.Gravity = 0 }, "", ""},
		{"radius", func(p *Params) { p.Radius = 0 }, "radius", "> 0"},
		{"mass", func(p *Params) { p.Mass = -1 }, "mass", "> 0"},
		{"gravity", func(p *Params) { p.Gravity = -9.81 }, "gravity", ">= 0"},
		{"tilt", func(p *Params) { p.Tilt[1] = 1.6 }, "tilt[1]", "1.6 rad"},
		{"roll", func(p *Params) { p.Roll.Linear = -1e-9 }, "roll.linear", ">= 0"},
		{"spin", func(p *Params) { p.Spin.Quadratic = nan }, "spin.quadratic", "finite"},
		{"arm", func(p *Params) { p.Roll.Arm = 0.036 }, "roll.arm", "not a pure coefficient"},
		{"slide", func(p *Params) { p.Slide = -0.1 }, "slide", ">= 0"},
		{"about", func(p *Params) { p.InertiaAbout = "contact" }, "inertia_about", "center or com"},
		{"inertia infinite", func(p *Params) { p.Inertia[2] = inf }, "inertia[2]", "finite"},
		{"products", func(p *Params) { p.Products[1] = nan }, "products[1]", "finite"},
		{"centre outside", func(p *Params) { p.Center[2] = 0.0351 }, "center_of_mass", "want inside"},
		{"centre in millimetres", func(p *Params) { p.Center[2] = 10.9 }, "center_of_mass", "metres"},
		{"too small for its centre", func(p *Params) { p.Inertia = [3]float64{5e-6, 5e-6, 5e-6} }, "inertia", "too small for a mass"},
		{"a disc", func(p *Params) { thin(p, 1) }, "", ""},
		{"thinner than a disc", func(p *Params) { thin(p, 1.001) }, "inertia", "above the sum"},
		{"a shell", func(p *Params) {
			i := 2.0 / 3 * 0.054 * 0.035 * 0.035
			p.Center, p.Inertia = [3]float64{}, [3]float64{i, i, i}
		}, "", ""},
		{"more than a shell", func(p *Params) {
			i := 2.0 / 3 * 0.054 * 0.035 * 0.035 * 1.001
			p.Center, p.Inertia = [3]float64{}, [3]float64{i, i, i}
		}, "inertia", "thin shell"},
		{"products too large", func(p *Params) { p.Products[0] = 4e-5 }, "inertia", "too small for a mass"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Paper()
			c.set(&p)
			bad := p.Check()
			_, err := New(p)
			switch {
			case (err != nil) != (len(bad) > 0):
				t.Errorf("New says %v, Check %v", err, bad)
			case c.path == "" && len(bad) > 0:
				t.Errorf("refused: %v", bad)
			case c.path != "" && (len(bad) != 1 || bad[0].Path != c.path || !strings.Contains(bad[0].Text, c.text)):
				t.Errorf("got %v, want one problem of %s that says %q", bad, c.path, c.text)
			}
		})
	}
	p := Paper()
	p.Radius, p.Mass, p.Gravity = nan, 0, -1
	if bad := p.Check(); len(bad) != 3 {
		t.Errorf("three wrong values, told: %v", bad)
	}
}

// The same body described about either point moves the same.
func TestInertiaAbout(t *testing.T) {
	p := otherBall()
	q := p
	i := p.inertiaAboutCom()
	q.InertiaAbout, q.Inertia, q.Products = AboutCenterOfMass, [3]float64{i.xx, i.yy, i.zz}, [3]float64{i.xy, i.xz, i.yz}
	s := State{Q: quaternion(r3.Vec{X: 0.4, Y: 1.1, Z: -0.3}), W: r3.Vec{X: 5, Y: -3, Z: 4}}
	f := s.Frame()
	a, _ := model(t, p).RollingForce(&f, s.W)
	if b, _ := model(t, q).RollingForce(&f, s.W); r3.Norm(r3.Sub(a, b)) > 1e-12*r3.Norm(a) {
		t.Errorf("%v and %v", a, b)
	}
}
