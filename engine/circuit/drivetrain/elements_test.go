package drivetrain

import (
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
)

// pair are two inertias with an element between them, the first pulled, the second held back.
func pair(t testing.TB, p Part, pullA, pullB float64) *Train {
	return train(t, Inertias{{Name: "a", J: 0.01, Pull: -pullA}, {Name: "b", J: 0.03, Pull: pullB}}, []Part{p}, nil)
}

// Every element offline: the energies of each close to 1e-9, losses are not negative; and with fixed steps the same end to second order.
func TestElementsCloseAndConverge(t *testing.T) {
	for _, c := range []struct {
		name  string
		tr    func() *Train
		v     [2]float64 // at the start
		tol   float64    // of the end at 0.1 ms, relative
		order float64    // at least; contacts begin inside steps
	}{
		{"shaft", func() *Train {
			return pair(t, &Shaft{Label: "s", Twist: Twist{A: 0, B: 1, Ratio: 3}, K: 40, C: 0.05}, 0.5, 0.2)
		}, [2]float64{3, -1}, 1e-5, 1.9},
		{"shaft behind a lossy mesh", func() *Train {
			return pair(t, &Shaft{Label: "s", Twist: Twist{A: 0, B: 1, Ratio: 3}, K: 40, C: 0.05,
				Mesh: &Mesh{Efficiency: 0.8, BackEfficiency: 0.6, Speed: 0.1}}, 0.5, 0.2)
		}, [2]float64{3, -1}, 1e-3, 0.9},
		{"backlash", func() *Train {
			return pair(t, &Contact{Label: "c", Twist: Twist{A: 0, B: 1, Ratio: 2},
				Stops: plant.Stops{Travel: [2]float64{-0.05, 0.05}, Stiffness: 300, Loss: 0.2}}, 0.5, 0.2)
		}, [2]float64{4, -1}, 1e-2, 0.9},
		{"seat", func() *Train {
			return pair(t, &Contact{Label: "c", Twist: Twist{A: 0, B: Ground},
				Stops: plant.Stops{Travel: [2]float64{0, math.Inf(1)}, Stiffness: 1e4, Loss: 0.05}}, -1, 0)
		}, [2]float64{-2, 0}, 5e-2, 0.9},
		{"belt", func() *Train {
			return pair(t, &Belt{Label: "b", A: 0, B: 1, RA: 0.03, RB: 0.05, K: 2e4, C: 5, Tension: 30}, 0.5, 0.2)
		}, [2]float64{20, 5}, 1e-3, 0.9},
		{"belt that slips", func() *Train {
			return pair(t, &Belt{Label: "b", A: 0, B: 1, RA: 0.03, RB: 0.05, K: 2e4, C: 5, Tension: 30, Grip: 2}, 0.5, 0.2)
		}, [2]float64{60, 5}, 1e-4, 0.8},
		{"bearing of bristles", func() *Train {
			return pair(t, &Bearing{Label: "l", Twist: Twist{A: 0, B: 1}, Law: &friction.Dahl{Sigma0: 50, Fc: 0.3, Exponent: 1}}, 0.5, 0.2)
		}, [2]float64{1, -1}, 1e-3, 0.9},
		{"bearing with a smoothed sign", func() *Train {
			return pair(t, &Bearing{Label: "l", Twist: Twist{A: 0, B: 1},
				Law: &friction.Stribeck{Curve: friction.Tustin, Fc: 0.2, Fs: 0.3, Vs: 0.5, Fv: 0.01}, Speed: 0.05}, 0.5, 0.2)
		}, [2]float64{1, -1}, 1e-3, 1.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			const end = 0.4
			begin := func(tr *Train) []float64 {
				x := tr.NewState()
				x[2], x[3] = c.v[0], c.v[1]
				if c.name == "seat" {
					x[0] = 0.1
				}
				return x
			}
			tr := c.tr()
			truth := begin(tr)
			a, err := tr.Integrate(truth, 0, end, Offline{Rtol: 1e-12, Atol: 1e-14}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Check(1e-9); err != nil {
				t.Error(err)
			}
			miss := func(h float64) (e float64) {
				tr := c.tr()
				x := begin(tr)
				if _, st := tr.Run(x, 0, h, int(math.Round(end/h)), nil); st != engine.OK {
					t.Fatal(st)
				}
				for k := range 4 {
					e = max(e, math.Abs(x[k]-truth[k])/max(1, math.Abs(truth[k])))
				}
				return e
			}
			e1, e01 := miss(1e-3), miss(1e-4)
			order := math.Log10(e1 / e01)
			t.Logf("loss %.4g J, errors %.1e at 1 ms, %.1e at 0.1 ms, order %.2f", a.Total().Loss, e1, e01, order)
			if e01 > c.tol || order < c.order {
				t.Errorf("error %.2e at 0.1 ms (want ≤ %.0e), order %.2f (want ≥ %.1f)", e01, c.tol, order, c.order)
			}
		})
	}
}

// Two inertias on a spring: their difference swings with ω² = K·(1/Ja' + 1/Jb) in the coordinates of B, Ja' = Ja·Ratio².
func TestShaftFrequency(t *testing.T) {
	tr := pair(t, &Shaft{Label: "s", Twist: Twist{A: 0, B: 1, Ratio: 3}, K: 40}, 0, 0)
	x := tr.NewState()
	x[0] = 0.3 // δ = 0.1
	const end = 0.37
	if _, err := tr.Integrate(x, 0, end, Offline{Rtol: 1e-12, Atol: 1e-14}, nil); err != nil {
		t.Fatal(err)
	}
	w := math.Sqrt(40 * (1/0.09 + 1/0.03))
	near(t, "twist", x[0]/3-x[1], 0.1*math.Cos(w*end), 1e-10)
}

// The rigid gear is the limit of a stiff one, without and with losses, driving and driven back: by the accelerations of the two
// shafts, which are known in closed form for each side.
func TestGearAccelerations(t *testing.T) {
	const ja, jb, n = 1e-4, 0.02, 10.0
	mesh := &Mesh{Efficiency: 0.8, BackEfficiency: 0.7, Speed: 1e-3}
	for _, c := range []struct {
		name         string
		mesh         *Mesh
		drive, load  float64 // torque on A; against B
		v            float64 // of A
		share        float64 // torque that A loses, by the torque carried
		wantPositive bool
	}{
		{"no loss", nil, 0.5, 1, 5, 0, true},
		{"driving", mesh, 0.5, 1, 5, 1/0.8 - 1, true},
		{"driving backwards", mesh, -0.5, -1, -5, 1/0.8 - 1, false},
		{"driven", mesh, -0.2, -6, 5, -(1 - 0.7), false},
		{"at rest: between the sides", mesh, 0.5, 1, 0, 0, true},
	} {
		tr := train(t, Inertias{{Name: "a", J: ja, Pull: -c.drive}, {Name: "b", J: jb, Pull: c.load}}, nil,
			[]Row{&Gear{Label: "g", Twist: Twist{A: 0, B: 1, Ratio: n}, Mesh: c.mesh}})
		x := tr.NewState()
		x[2], x[3] = c.v, c.v/n
		if err := tr.Start(0, x); err != nil {
			t.Error(err)
		}
		dx := make([]float64, 4)
		p := make([]circuit.Power, 1)
		if st := tr.Flow(0, x, dx, p); st != engine.OK {
			t.Fatal(st)
		}
		// ja·n·β = drive − T/n·(1 + share), jb·β = T − load
		f := 1 + c.share
		b := (c.drive*n - c.load*f) / (ja*n*n + jb*f)
		near(t, c.name+": B", dx[3], b, 1e-9*math.Abs(b))
		near(t, c.name+": A", dx[2], n*b, 1e-9*math.Abs(n*b))
		torque := jb*b + c.load
		if got := tr.Multipliers()[0]; math.Abs(got-torque) > 1e-9 || got > 0 != c.wantPositive {
			t.Errorf("%s: torque %g, want %g", c.name, got, torque)
		}
		near(t, c.name+": loss", p[0].Loss, -p[0].Output, 1e-12)
	}
}

// A lossy gear that a load swings back and forth through zero power: the energies close, no chatter (few steps), the ratio holds to
// rounding.
func TestGearThroughZeroPower(t *testing.T) {
	g := &Gear{Label: "g", Twist: Twist{A: 0, B: 1, Ratio: 10}, Mesh: &Mesh{Efficiency: 0.7, BackEfficiency: math.NaN(), Speed: 0.5}}
	make1 := func() *Train {
		return train(t, Inertias{{Name: "a", J: 1e-4}, {Name: "b", J: 0.02}},
			[]Part{&Shaft{Label: "spring", Twist: Twist{A: 1, B: Ground}, K: 8}}, []Row{g})
	}
	tr := make1()
	x := tr.NewState()
	x[0], x[1] = 10, 1
	a, err := tr.Integrate(x, 0, 3, Offline{Rtol: 1e-11, Atol: 1e-13}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Check(1e-9); err != nil {
		t.Error(err)
	}
	near(t, "ratio", x[0]-10*x[1], 0, 1e-12)
	y := make1().NewState()
	y[0], y[1] = 10, 1
	tr = make1()
	if _, st := tr.Run(y, 0, 1e-3, 3000, nil); st != engine.OK {
		t.Fatal(st)
	}
	near(t, "fixed steps", y[1], x[1], 1e-3)
	near(t, "ratio", y[0]-10*y[1], 0, 1e-12)
}

// A self-locking gear: the load cannot turn it, the motor can.
func TestSelfLocking(t *testing.T) {
	for _, c := range []struct{ drive, load, least, most float64 }{
		{0, 6, -1e-3, 1e-3}, {1.6, 6, 0.0833, 0.0834}, // (1.6·10 − 6/0.4)/(ja·n² + jb/0.4)·t²/2
	} {
		tr := train(t, Inertias{{Name: "a", J: 1e-4, Pull: -c.drive}, {Name: "b", J: 0.02, Pull: c.load}}, nil,
			[]Row{&Gear{Label: "g", Twist: Twist{A: 0, B: 1, Ratio: 10}, Mesh: &Mesh{Efficiency: 0.4, BackEfficiency: 0, Speed: 1e-3}}})
		x := tr.NewState()
		if _, st := tr.Run(x, 0, 1e-3, 100, nil); st != engine.OK {
			t.Fatal(st)
		}
		if x[1] < c.least || x[1] > c.most {
			t.Errorf("drive %g: B turned %g rad, want %g to %g", c.drive, x[1], c.least, c.most)
		}
	}
}

// A belt held at B carries at most its limit; a belt that cannot slip loses a strand.
func TestBeltLimits(t *testing.T) {
	b := &Belt{Label: "b", A: 0, B: Ground, RA: 0.05, RB: 0.05, K: 1e4, C: 10, Tension: 40, Grip: 3}
	near(t, "limit", b.Limit(), 2*40*2/4.0, 1e-12)
	tr := train(t, Inertias{{Name: "a", J: 0.01, Pull: -5}}, []Part{b}, nil)
	x := tr.NewState()
	if _, err := tr.Integrate(x, 0, 2, Offline{}, nil); err != nil {
		t.Fatal(err)
	}
	near(t, "acceleration in slip", x[1], 2*(5-0.05*b.Limit())/0.01, 2)
	near(t, "stretch", x[2], b.Limit()/2/b.K, 1e-9)
	// F₁ = Tension + x, F₂ = 0 beyond x = Tension
	b.Grip = 0
	for _, s := range []float64{-8e-3, -4e-3, -2e-3, 3e-3, 4e-3, 5e-3} {
		f, _ := b.pull(b.K * s)
		f1, f2 := math.Max(0, 40+b.K*s), math.Max(0, 40-b.K*s)
		near(t, "pull", f, f1-f2, 1e-12)
	}
}

// What is wrong is said, with the name of the part.
func TestRefusals(t *testing.T) {
	two := Inertias{{Name: "a", J: 1}, {Name: "b", J: 1}}
	for _, c := range []struct {
		name  string
		m     Mechanics
		parts []Part
		rows  []Row
		words string
	}{
		{"stick mode", two, []Part{&Bearing{Label: "brg", Twist: Twist{A: 0, B: Ground}, Law: &friction.Coulomb{Fc: 1}}}, nil,
			"brg: law: *friction.Coulomb has a stick mode"},
		{"no law", two, []Part{&Bearing{Label: "brg", Twist: Twist{A: 0, B: Ground}}}, nil, "brg: law: missing"},
		{"coordinate", two, []Part{&Shaft{Label: "s", Twist: Twist{A: 0, B: 2}}}, nil, "s: B: coordinate 2, want -1 (ground) to 1"},
		{"negative", two, []Part{&Shaft{Label: "s", Twist: Twist{A: 0, B: 1}, K: -1}}, nil, "s: K: -1 N·m/rad, want ≥ 0"},
		{"efficiency", two, []Part{&Shaft{Label: "s", Twist: Twist{A: 0, B: 1}, Mesh: &Mesh{Efficiency: 1.2, Speed: 1}}}, nil,
			"s: efficiency: 1.2"},
		{"names", two, []Part{&Shaft{Label: "s", Twist: Twist{A: 0, B: 1}}, &Shaft{Label: "s", Twist: Twist{A: 0, B: 1}}}, nil,
			"s: two parts of this name"},
		{"inertia", Inertias{{Name: "a"}}, nil, nil, "a: J: 0 kg·m², want > 0"},
		{"grip", two, []Part{&Belt{Label: "b", A: 0, B: 1, RA: 1, RB: 1, K: 1, C: 1, Tension: 1, Grip: 0.5}}, nil, "grip"},
		{"two gears in parallel", two, nil, []Row{&Gear{Label: "g1", Twist: Twist{A: 0, B: 1, Ratio: 2}},
			&Gear{Label: "g2", Twist: Twist{A: 0, B: 1, Ratio: 3}}, &Gear{Label: "g3", Twist: Twist{A: 0, B: 1, Ratio: 3}}},
			"g3: ties speeds that the rows before it tie already"},
	} {
		_, err := New(c.m, c.parts, c.rows)
		if err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, want %q", c.name, err, c.words)
		}
	}
	tr := train(t, two, nil, []Row{&Gear{Label: "g", Twist: Twist{A: 0, B: 1, Ratio: 2}}})
	if err := tr.Start(0, []float64{0, 0, 1, 1}); err == nil || !strings.Contains(err.Error(), "g: the speeds at the start miss it by -0.5") {
		t.Error(err)
	}
	if st := tr.Step(0, 1e-3, []float64{0, 0, math.NaN(), 1}); st != engine.NonFinite {
		t.Error(st)
	}
}
