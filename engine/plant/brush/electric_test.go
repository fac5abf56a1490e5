package brush

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine"
)

func drop() Drop {
	return Drop{V0: 1, Ilin: 0.5, AR: 0.02, BR: 0.01, Rb: 0.014, Varc: 13, Earc: 2e3, Iarc: 0.3}
}

func TestDropOfOneContact(t *testing.T) {
	d := drop()
	rc := func(f float64) float64 { return 0.02/math.Sqrt(f) + 0.01/f }
	for _, c := range []struct{ i, f, want float64 }{
		{0, 2.5, 0},
		{0.25, 2.5, 0.5 + 0.25*(0.014+rc(2.5))}, // half of the linear range
		{2, 2.5, 1 + 2*(0.014+rc(2.5))},
		{-2, 2.5, -1 - 2*(0.014+rc(2.5))},
		{2, 1e-2, 1 + 2*(0.014+rc(1e-2))},
		{2, 0, math.Inf(1)},
		{0, 0, 0},
	} {
		if v := d.Voltage(c.i, c.f); v != c.want && math.Abs(v-c.want) > 1e-14*math.Abs(c.want) {
			t.Errorf("V(%g A, %g N) = %.16g V, want %.16g", c.i, c.f, v, c.want)
		}
	}
	if g := d.Conductance(0); g != 0 {
		t.Errorf("open contact conducts: %g S", g)
	}
	if g := (&Drop{}).Conductance(1); !math.IsInf(g, 1) {
		t.Errorf("contact without resistance: %g S", g)
	}
	// the law of an arc: its voltage from 0.3 A on, nothing below
	b := d.at(&Touch{Gap: 1e-3})
	if r, v, arc := b.line(0.3, d.Ilin); r != 0.014 || v != 15 || arc != 1 {
		t.Errorf("arc over 1 mm: %g Ω, %g V, share %g", r, v, arc)
	}
	if r, _, arc := b.line(0.29, d.Ilin); !math.IsInf(r, 1) || arc != 0 {
		t.Errorf("below 0.3 A the gap is %g Ω, share of the arc %g", r, arc)
	}
}

// The integrals of an exponential agree with Gauss quadrature on both sides of the change to the series.
func TestExponentialIntegrals(t *testing.T) {
	for _, z := range []float64{-3, -0.6, -0.49, -1e-3, -1e-9, 0, 1e-12, 1e-4, 0.3, 0.499, 0.501, 2, 40, 700, 1e6} {
		f1, f2, f3 := phi(z)
		f := func(x float64) float64 {
			if math.Abs(z*x) < 1e-9 {
				return x * (1 - z*x/2)
			}
			return -math.Expm1(-z*x) / z
		}
		// Simpson's rule on a mesh that is fine where the exponential is
		w2, w3, x0 := 0.0, 0.0, 0.0
		n := 4000
		for k := 1; k <= n; k++ {
			s := float64(k) / float64(n)
			x1 := s
			if z > 10 {
				x1 = math.Expm1(s*math.Log1p(z)) / z
			}
			m, h := (x0+x1)/2, x1-x0
			a, b, c := f(x0), f(m), f(x1)
			w2 += h / 6 * (a + 4*b + c)
			w3 += h / 6 * (a*a + 4*b*b + c*c)
			x0 = x1
		}
		for i, e := range [3][2]float64{{f1, f(1)}, {f2, w2}, {f3, w3}} {
			if math.Abs(e[0]-e[1]) > 2e-11*math.Abs(e[1]) {
				t.Errorf("z = %g: f%d = %.15g, want %.15g", z, i+1, e[0], e[1])
			}
		}
	}
}

func motor24() Circuit { return Circuit{R: 1.2, L: 0.6e-3, K: 0.042, Drop: drop()} }

func TestSteadyCurrentMatchesClosedForm(t *testing.T) {
	rc := 0.02/math.Sqrt(2.5) + 0.01/2.5 + 0.014
	for _, c := range []struct {
		name    string
		u, w    float64
		series  bool
		k, want float64
	}{
		{"magnets, saturated drop", 24, 200, false, 0.042, (24 - 0.042*200 - 2) / (1.2 + 2*rc)},
		{"magnets, linear drop", 2, 0, false, 0.042, 2 / (1.2 + 2*rc + 2/0.5)},
		{"magnets, driven backwards", 0, 300, false, 0.042, -(0.042*300 - 2) / (1.2 + 2*rc)},
		{"series", 24, 314, true, 0.1, (24 - 2) / (1.2 + 2*rc + 0.1*314)},
	} {
		e := motor24()
		e.Series, e.K = c.series, c.k
		touch := [2]Touch{{Force: 2.5}, {Force: 2.5}}
		i, out := 0.0, Flow{}
		for range 2000 {
			if st := e.Step(50e-6, i, c.u, c.w, 0, &touch, &out); st != engine.OK {
				t.Fatal(st)
			}
			i = out.I
		}
		if math.Abs(i-c.want) > 1e-12*math.Abs(c.want) {
			t.Errorf("%s: %.15g A, want %.15g", c.name, i, c.want)
		}
		torque := c.k * c.want
		if c.series {
			torque *= c.want
		}
		if math.Abs(out.Torque-torque) > 1e-12*math.Abs(torque) {
			t.Errorf("%s: torque %g N·m, want %g", c.name, out.Torque, torque)
		}
	}
}

// A contact opens at 5 A: the arcs hold until 0.3 A, after a time in closed form, and the rest of the current is cut off.
func TestOpeningContactArcsUntilTheCurrentIsSmall(t *testing.T) {
	e := motor24()
	touch := [2]Touch{{Gap: 1e-4}, {Gap: 1e-4}}
	var out Flow
	const h, i0 = 5e-3, 5.0
	if st := e.Step(h, i0, 12, 0, 0, &touch, &out); st != engine.OK {
		t.Fatal(st)
	}
	r, v := 1.2+2*0.014, 2*(13+0.2)-12.0
	want := e.L / r * math.Log((i0+v/r)/(0.3+v/r))
	if math.Abs(out.Burning-want) > 1e-12*want || out.I != 0 || out.Broken != 1 {
		t.Errorf("burns %.12g s to %g A, %d breaks; want %.12g s, 0 A, 1", out.Burning, out.I, out.Broken, want)
	}
	if b := e.L / 2 * 0.09; math.Abs(out.Break-b) > 1e-15 {
		t.Errorf("cut off: %g J, want %g", out.Break, b)
	}
	// ∫i dt from the same exponential
	q := (-e.L*(0.3-i0) - v*want) / r
	if math.Abs(out.Arc-2*13.2*q) > 1e-11*out.Arc {
		t.Errorf("arcs take %g J, want %g", out.Arc, 2*13.2*q)
	}
}

// The energy of a step is complete, whatever happens in it.
func TestEnergyBalanceOfRandomSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	arcs, breaks, signs := 0, 0, 0
	for n := range 200000 {
		e := motor24()
		e.Series = n%3 == 0
		e.L = math.Pow(10, -5+4*rng.Float64())
		touch := [2]Touch{}
		for k := range touch {
			touch[k] = Touch{Force: math.Pow(10, -12+13*rng.Float64()), Gap: 1e-4 * rng.Float64(), Crowd: 1 + rng.Float64()}
			if rng.IntN(4) == 0 {
				touch[k].Force = 0
			}
			if rng.IntN(4) == 0 {
				touch[k].OpenShare = rng.Float64()
			}
		}
		i := rng.NormFloat64() * math.Pow(10, -2+3*rng.Float64())
		if rng.IntN(10) == 0 {
			i = 0
		}
		u, w, diode := 100*rng.NormFloat64(), 300*rng.NormFloat64(), 0.0
		if rng.IntN(5) == 0 {
			diode = 24
		}
		h := math.Pow(10, -6+3*rng.Float64())
		var o Flow
		if st := e.Step(h, i, u, w, diode, &touch, &o); st != engine.OK {
			if e.Series && w < 0 {
				continue // a generator that excites itself may run away
			}
			t.Fatal(st)
		}
		di := e.L / 2 * (o.I*o.I - i*i)
		spent := o.Copper + o.Contact + o.Arc + o.Break + o.Diode + o.EMF + di
		scale := math.Abs(o.Supply) + o.Copper + o.Contact + o.Arc + o.Break + o.Diode + math.Abs(o.EMF) + e.L/2*(o.I*o.I+i*i)
		if miss := math.Abs(o.Supply - spent); miss > 1e-11*scale {
			t.Fatalf("case %d: %g of %g J missing: %+v %+v", n, miss, scale, touch, o)
		}
		if o.Contact < -1e-13*scale || o.Arc < -1e-13*scale || o.Break < 0 || o.Diode < -1e-13*scale || o.Square < 0 || o.Burning > h*(1+1e-12) {
			t.Fatalf("case %d: a loss is negative: %+v", n, o)
		}
		if o.Arc > 0 {
			arcs++
		}
		if o.Broken > 0 {
			breaks++
		}
		if o.I*i < 0 {
			signs++
		}
	}
	if arcs < 10000 || breaks < 1000 || signs < 1000 {
		t.Errorf("the cases are too tame: %d with arcs, %d breaks, %d reversals", arcs, breaks, signs)
	}
}

// A contact that is open for half of the time, told as a mean, does to the current what one does that opens and closes much
// faster than the current can follow.
func TestMeanOfOpenAndClosed(t *testing.T) {
	e := motor24()
	const h = 1e-6
	var o Flow
	i, j := 8.0, 8.0
	arcs, mean := 0.0, 0.0
	for n := range 2000 {
		touch := [2]Touch{{Force: 5 * float64(n&1)}, {Force: 2.5}}
		e.Step(h, i, 24, 200, 0, &touch, &o)
		i, arcs = o.I, arcs+o.Arc
		touch = [2]Touch{{Force: 5, OpenShare: 0.5}, {Force: 2.5}}
		e.Step(h, j, 24, 200, 0, &touch, &o)
		j, mean = o.I, mean+o.Arc
	}
	if math.Abs(i/j-1) > 2e-3 || math.Abs(arcs/mean-1) > 2e-3 {
		t.Errorf("%g A, arcs %g J switching; %g A, %g J as a mean", i, arcs, j, mean)
	}
}

// A step is the same as many short ones: the pieces join.
func TestStepsCompose(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for n := range 3000 {
		e := motor24()
		e.Series = n%2 == 0
		touch := [2]Touch{{Force: math.Pow(10, -6+7*rng.Float64())}, {Force: math.Pow(10, -6+7*rng.Float64()), Gap: 1e-4}}
		if n%5 == 0 {
			touch[1].Force = 0
		}
		i, u, w := 5*rng.NormFloat64(), 40*rng.NormFloat64(), 200*rng.Float64()
		var one, o Flow
		e.Step(1e-3, i, u, w, 0, &touch, &one)
		j, q, arc := i, 0.0, 0.0
		for range 64 {
			e.Step(1e-3/64, j, u, w, 0, &touch, &o)
			j, q, arc = o.I, q+o.Charge, arc+o.Arc
		}
		if math.Abs(j-one.I) > 1e-10*(1+math.Abs(j)) || math.Abs(q-one.Charge) > 1e-13*(1+math.Abs(i)) ||
			math.Abs(arc-one.Arc) > 1e-10*(1e-3+arc) {
			t.Fatalf("case %d: %+v in one step, %g A %g A·s %g J in 64", n, one, j, q, arc)
		}
	}
}

func TestCircuitLeavesTheCurrentAloneWhenAskedForNonsense(t *testing.T) {
	e := motor24()
	for _, c := range []struct{ h, u, w, f float64 }{{1e-5, math.NaN(), 0, 1}, {1e-5, 1, math.Inf(1), 1}, {1e-5, 1, 0, math.NaN()},
		{0, 1, 0, 1}} {
		touch := [2]Touch{{Force: c.f}, {Force: 1}}
		out := Flow{I: 99}
		if st := e.Step(c.h, 1.5, c.u, c.w, 0, &touch, &out); st != engine.NonFinite || out.I != 1.5 {
			t.Errorf("%+v: %v, current %g A", c, st, out.I)
		}
	}
	touch := [2]Touch{{Force: 1}, {}}
	var out Flow
	if n := testing.AllocsPerRun(100, func() { e.Step(2e-5, 3, 12, 100, 0, &touch, &out) }); n != 0 {
		t.Errorf("%g allocations in a step", n)
	}
}

func BenchmarkCircuitStep(b *testing.B) {
	e := motor24()
	touch := [2]Touch{{Force: 2.5}, {Force: 2.5}}
	var out Flow
	i := 0.0
	b.ReportAllocs()
	for b.Loop() {
		touch[0].Force = 2.5 - touch[0].Force
		e.Step(2e-5, i, 12, 100, 0, &touch, &out)
		i = out.I
	}
}
