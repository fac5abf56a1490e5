package brush

import (
	"context"
	"math"
	"strings"
	"testing"

	"hilrig/engine/contact"
)

// turnOf is an outline r(α) measured at 4000 angles.
func turnOf(t testing.TB, r func(a float64) float64) *contact.Profile {
	t.Helper()
	var angle, radius []float64
	for k := range 4000 {
		a := 2 * math.Pi * float64(k) / 4000
		angle, radius = append(angle, a), append(radius, r(a))
	}
	p, err := contact.RingProfile(angle, radius)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// acrossFace is a face h(x) measured every 10 µm.
func acrossFace(t testing.TB, h func(x float64) float64) *contact.Profile {
	t.Helper()
	var x, y []float64
	for k := -320; k <= 320; k++ {
		x, y = append(x, 1e-5*float64(k)), append(y, h(1e-5*float64(k)))
	}
	p, err := contact.LineProfile(x, y)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// statistics runs a brush for a tenth of a second.
func statistics(t *testing.T, change func(*Params)) Stats {
	t.Helper()
	b := build(t, false, change)
	s, err := b.Run(context.Background(), RunOptions{Time: 0.1, Discard: 0.02})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// An eccentric circle measured by a profilometer moves the brush as the parameter eccentricity does. 4000 straight lines round the
// circle are 6e-12 m off. It is asked in the first three quarters of a turn: contacts that come and go let neighbours part later.
func TestEccentricityAsAProfile(t *testing.T) {
	const e, phase = 20e-6, 0.7
	path := func(change func(*Params)) (at [][dof]float64) {
		b := build(t, false, func(p *Params) {
			p.Commutator.Roughness, p.Commutator.BarStep, p.Commutator.DipDepth, p.Commutator.EdgeLength = 0, 0, 0, 0
			p.Commutator.Eccentricity = 0
			change(p)
		})
		if _, err := b.Run(context.Background(), RunOptions{Time: 0.015, Discard: 0.01, TraceInterval: 10, Trace: func(s *Snapshot) {
			at = append(at, [dof]float64(s.Q))
		}}); err != nil {
			t.Fatal(err)
		}
		return at
	}
	profile := path(func(p *Params) {
		p.Commutator.Profile = turnOf(t, func(a float64) float64 { return p.Commutator.Radius + e*math.Cos(a-phase) })
	})
	parameter := path(func(p *Params) { p.Commutator.Eccentricity, p.Commutator.Phase = e, phase })
	round := path(func(*Params) {})
	var worst, moved float64
	for k := range profile {
		worst = max(worst, math.Abs(profile[k][1]-parameter[k][1]))
		moved = max(moved, math.Abs(parameter[k][1]-round[k][1]))
	}
	if worst > 2e-9 || moved < e {
		t.Errorf("heights differ by %.3g m, want less than 2 nm; without eccentricity by %.3g m", worst, moved)
	}
}

// A brush falls on a round commutator at rest without friction. The points of the face that hit leave it with the restitution of
// the table at their temperature times the speed at which they came.
func TestRestitutionOfADroppedFace(t *testing.T) {
	const came = 0.1 // m/s
	for _, c := range []struct{ temperature, density, length, want float64 }{
		{300, 1e5, 0.032, 0.5 * 0.9}, {350, 1e5, 0.032, 0.5 * 0.55}, {400, 1e5, 0.032, 0.5 * 0.2},
		{300, 3e5, 0.032, 0.5 * 0.9 * 0.5}, {300, 1e5, 0.022, 0.5 * 0.9 * 0.8},
	} {
		b := build(t, false, func(p *Params) {
			p.Commutator.Roughness, p.Commutator.BarStep, p.Commutator.DipDepth, p.Commutator.EdgeLength = 0, 0, 0, 0
			p.Commutator.Eccentricity, p.Commutator.Speed = 0, 0
			p.Face.Profile = acrossFace(t, func(float64) float64 { return 0 })
			p.Brush.Gravity, p.Brush.Length = 0, c.length
			p.Segment.AxialDamping, p.Segment.ShearDamping = 0, 0
			p.Contact.Face = contact.Law{EpsN: 0.5}
			p.Material.Factors[ofEps] = [3]*Curve{
				{[]float64{300, 400}, []float64{0.9, 0.2}},
				{[]float64{1e5, 3e5}, []float64{1, 0.5}},
				{[]float64{0.012, 0.032}, []float64{0.6, 1}},
			}
			p.Material.Temperature, p.Material.CurrentDensity = c.temperature, c.density
		})
		q, u := make([]float64, dof), make([]float64, dof)
		if err := b.Start(q, u); err != nil {
			t.Fatal(err)
		}
		q[1] -= startGap - 1e-8 // 10 nm up, with the arm out of the way
		q[colArm] += 0.3
		u[1] = -came
		m, err := contact.NewMoreau(b, contact.MoreauOptions{Step: 1e-9, Beta: -1})
		if err != nil {
			t.Fatal(err)
		}
		// the middle segment meets the round first; its points move along y with the brush and their own spring
		for k := 0; k < 1e5 && u[5] == 0; k++ {
			m.Step(float64(k)*1e-9, q, u)
		}
		if left := (u[1] + u[5]) / came; math.Abs(left-c.want) > 2e-3*c.want {
			t.Errorf("%g K, %g A/m², %g m: leaves with %.5g of the speed, want %g", c.temperature, c.density, c.length, left, c.want)
		}
	}
}

// At a turn in two seconds the brush follows a sine profile: its centre rises and falls by twice the amplitude of r = R + A·cos α,
// with the point α = 90° − ωt of the outline under it.
func TestLiftOfASineProfile(t *testing.T) {
	const A, speed = 40e-6, math.Pi
	b := build(t, false, func(p *Params) {
		p.Commutator.Profile = turnOf(t, func(a float64) float64 { return p.Commutator.Radius + A*math.Cos(a) })
		p.Commutator.Speed, p.Face.Profile = speed, acrossFace(t, func(float64) float64 { return 0 })
		p.Contact.Face.Mu, p.Contact.Holder.Mu, p.Contact.Spring.Mu = 0, 0, 0
	})
	var sin, cos float64
	n := 0
	if _, err := b.Run(context.Background(), RunOptions{Time: 2.2, Discard: 0.2, Trace: func(s *Snapshot) {
		if s.T > 0.2 {
			wave, other := math.Sincos(speed * s.T)
			sin, cos, n = sin+2*wave*s.Q[1], cos+2*other*s.Q[1], n+1
		}
	}}); err != nil {
		t.Fatal(err)
	}
	sin, cos = sin/float64(n), cos/float64(n)
	if math.Abs(sin/A-1) > 0.01 || math.Abs(cos) > 0.01*A {
		t.Errorf("the centre moves by %.4g·sin ωt %+.4g·cos ωt, want %g·sin ωt", sin, cos, A)
	}
}

// A point of the face that stands out by h lies h lower.
func TestMeasuredFace(t *testing.T) {
	flat := build(t, false, func(p *Params) { p.Face.Profile = acrossFace(t, func(float64) float64 { return 0 }) })
	wavy := build(t, false, func(p *Params) {
		p.Face.Profile = acrossFace(t, func(x float64) float64 { return 3e-6 * math.Sin(2*math.Pi*x/3.2e-3) })
	})
	for k := range flat.point {
		x := flat.point[k].xi
		if got, want := wavy.point[k].eta-flat.point[k].eta, -3e-6*math.Sin(2*math.Pi*x/3.2e-3); math.Abs(got-want) > 1e-9 {
			t.Errorf("at %g m it lies %g m higher, want %g", x, got, want)
		}
	}
}

// A table of one row with the factor 1 is the constant, bit for bit; a factor of a half is a parameter of half the size; between
// two rows the factor lies on the line; the cause is the one that the key names.
func TestTablesOfMaterial(t *testing.T) {
	plain := statistics(t, func(*Params) {})
	for _, c := range []struct {
		name      string
		by, other func(*Params)
	}{
		{"one row for everything", func(p *Params) {
			for i := range Properties {
				p.Material.Factors[i] = [3]*Curve{{[]float64{353}, []float64{1}}, {[]float64{1e5}, []float64{1}}, {[]float64{0.032}, []float64{1}}}
			}
		}, func(*Params) {}},
		{"restitution on temperature", func(p *Params) {
			p.Material.Factors[ofEps][0] = &Curve{[]float64{343, 363}, []float64{0.75, 0.25}}
		}, func(p *Params) { p.Contact.Face.EpsN /= 2; p.Contact.Holder.EpsN /= 2; p.Contact.Spring.EpsN /= 2 }},
		{"restitution on current", func(p *Params) {
			p.Material.Factors[ofEps][1] = &Curve{[]float64{0, 2e5}, []float64{1, 0}}
		}, func(p *Params) { p.Contact.Face.EpsN /= 2; p.Contact.Holder.EpsN /= 2; p.Contact.Spring.EpsN /= 2 }},
		{"restitution on length", func(p *Params) {
			p.Material.Factors[ofEps][2] = &Curve{[]float64{0.016, 0.032}, []float64{1, 0.5}}
		}, func(p *Params) { p.Contact.Face.EpsN /= 2; p.Contact.Holder.EpsN /= 2; p.Contact.Spring.EpsN /= 2 }},
		{"stiffness on current", func(p *Params) { p.Material.Factors[ofStiffness][1] = &Curve{[]float64{0, 2e5}, []float64{1, 3}} },
			func(p *Params) { p.Segment.Factor *= 2 }},
		{"damping on temperature", func(p *Params) { p.Material.Factors[ofDamping][0] = &Curve{[]float64{353, 400}, []float64{0.5, 2}} },
			func(p *Params) { p.Segment.AxialDamping /= 2; p.Segment.ShearDamping /= 2 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, want := statistics(t, c.by), statistics(t, c.other)
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			if c.name != "one row for everything" && got == plain {
				t.Error("the table changes nothing")
			}
		})
	}
}

// Bad tables and surfaces are refused in words, on both sides of every limit.
func TestMeasuredRefused(t *testing.T) {
	good := func(r float64) *contact.Profile {
		return turnOf(t, func(a float64) float64 { return r + 1e-6*math.Sin(10*a) })
	}
	by := func(property, cause int, x, y []float64) func(*Params) {
		return func(p *Params) { p.Material.Factors[property][cause] = &Curve{x, y} }
	}
	two := []float64{300, 400}
	for _, c := range []struct {
		want   string // "": accepted
		change func(*Params)
	}{
		{"", func(p *Params) { p.Commutator.Profile = good(0.011 * 1.0099) }},
		{"mean radius", func(p *Params) { p.Commutator.Profile = good(0.011 * 1.0101) }},
		{"mean radius", func(p *Params) { p.Commutator.Profile = good(0.011 * 0.9899) }},
		{"neither smooth", func(p *Params) { p.Commutator.Profile, p.Commutator.SmoothOutline = good(0.011), true }},
		{"", func(p *Params) { p.Commutator.Profile, p.Commutator.Spacing = good(0.011), 2.6e-4 }}, // 11 mm·acos(1/e)/10/5 = 2.63e-4 m
		{"commutator.spacing", func(p *Params) { p.Commutator.Profile, p.Commutator.Spacing = good(0.011), 2.7e-4 }},
		{"face.profile", func(p *Params) {
			p.Face.Profile, p.Brush.Width = acrossFace(t, func(float64) float64 { return 0 }), 6.5e-3
		}},
		{"", by(ofEps, 0, two, []float64{2.5, 0})},
		{"raise a restitution", by(ofEps, 0, two, []float64{2.6, 0})},
		{"want rising", by(ofEps, 0, []float64{400, 300}, []float64{1, 1})},
		{"as many of each", by(ofEps, 0, two, []float64{1})},
		{"as many of each", by(ofEps, 0, nil, nil)},
		{"factor -1", by(ofDamping, 0, two, []float64{-1, 1})},
		{"", by(ofDamping, 0, two, []float64{0, 1})},
		{"factor 0", by(ofStiffness, 0, two, []float64{0, 1})},
		{"factor NaN", by(ofStiffness, 0, two, []float64{math.NaN(), 1})},
		{"is 353 K, outside the table, which goes from 300 to 352.9 K: add rows", by(ofStiffness, 0, []float64{300, 352.9}, []float64{1, 1})},
		{"outside the table", by(ofStiffness, 0, []float64{353.1, 400}, []float64{1, 1})},
		{"", by(ofStiffness, 0, []float64{353, 400}, []float64{1, 1})},
		{"the length is 0.032", by(ofStiffness, 2, []float64{0.01, 0.03}, []float64{1, 1})},
	} {
		p := DefaultParams()
		c.change(&p)
		err := p.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// A step of a measured brush is judged by the correlation length of its surface: refused beyond a fifth, warned about beyond a
// seventh. A table that is left while it runs is held and said. A step allocates nothing.
func TestMeasuredBrushRuns(t *testing.T) {
	b := build(t, false, func(p *Params) {
		p.Commutator.Profile = turnOf(t, func(a float64) float64 { return 0.011 + 1e-6*math.Sin(20*a) })
		p.Face.Profile = acrossFace(t, func(float64) float64 { return 0 })
		p.Material.Factors[ofDamping][0] = &Curve{[]float64{300, 400}, []float64{1, 2}}
	})
	p := b.Params()
	l, v := 0.011*math.Acos(1/math.E)/20, p.Commutator.Speed*p.Commutator.Radius
	for _, c := range []struct {
		share        float64
		refused, say bool
	}{{1 / 4.99, true, true}, {1 / 5.01, false, true}, {1 / 6.98, false, true}, {1 / 7.02, false, false}} {
		h := c.share * l / v
		if err := b.Resolvable(h); (err != nil) != c.refused {
			t.Errorf("a step over %.4g of the length: %v", c.share, err)
		}
		if said := strings.Contains(strings.Join(b.Warnings(h), " "), "a seventh of the correlation length of "+
			"commutator.profile"); said != c.say {
			t.Errorf("a step over %.4g of the length: %v", c.share, b.Warnings(h))
		}
	}
	held := func() bool { return strings.Contains(strings.Join(b.Warnings(1e-6), " "), "its nearest row was held") }
	b.Heat(400, 1e5)
	if held() {
		t.Error("held at the end of the table")
	}
	at := b.cU
	b.Heat(401, 1e5)
	if !held() || b.cU != at {
		t.Error("beyond the table: not held, or not said")
	}

	// a current has no direction in a table
	stiffer := func(p *Params) { p.Material.Factors[ofStiffness][1] = &Curve{[]float64{0, 2e5}, []float64{1, 3}} }
	plus, minus := build(t, false, stiffer), build(t, false, stiffer)
	plus.Heat(353, 5e4)
	minus.Heat(353, -5e4)
	if plus.kU != minus.kU || minus.outOfTable {
		t.Error("a current the other way has another stiffness")
	}

	m, err := contact.NewMoreau(b, contact.MoreauOptions{Step: 20e-6})
	if err != nil {
		t.Fatal(err)
	}
	q, u := make([]float64, b.DOF()), make([]float64, b.DOF())
	if err := b.Start(q, u); err != nil {
		t.Fatal(err)
	}
	now := 0.0
	if n := testing.AllocsPerRun(2000, func() { b.Heat(401, 2e5); m.Step(now, q, u); now += 20e-6 }); n != 0 {
		t.Errorf("a step allocates %g times", n)
	}
}
