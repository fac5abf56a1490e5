package multibody

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
)

// integrate carries a machine under constant torques to the times and looks there; formulation by name. It returns how the
// constraints were kept.
func integrate(t testing.TB, formulation string, m *Model, d *Data, q, v, torque []float64, tol float64, times []float64,
	look func(t float64, q, v []float64)) IntegratorStats {
	t.Helper()
	o, err := NewIntegrator(formulation, m, d, 0, func(t float64, q, v, z, tau, dz []float64) { copy(tau, torque) }, nil, tol, tol)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Start(0, append(append([]float64(nil), q...), v...)); err != nil {
		t.Fatal(err)
	}
	for _, end := range times {
		for {
			at, x := o.Reached()
			if at >= end {
				look(at, x[:m.NQ()], x[m.NQ():])
				break
			}
			if err := o.Step(end); err != nil {
				t.Fatalf("%s: %v", formulation, err)
			}
		}
	}
	k := o.Stats()
	if k.Status != OK || k.Gap > 1e-10 || k.Rate > 1e-10 {
		t.Errorf("%s: %v, constraints missed by %.2g, rates by %.2g", formulation, k.Status, k.Gap, k.Rate)
	}
	return k
}

// every is the multiples of dt up to end.
func every(dt, end float64) (times []float64) {
	for k := 1; float64(k)*dt <= end*(1+1e-12); k++ {
		times = append(times, float64(k)*dt)
	}
	return times
}

// Andrews' squeezer in both formulations against the reference of the test set.
func TestFormulationsAndrews(t *testing.T) {
	for _, c := range []struct {
		formulation string
		tol         float64
	}{{"projection", 1e-8}, {"projection", 1e-11}, {"ggl", 1e-6}, {"ggl", 1e-8}} {
		m, d := build(t, squeezer())
		q, v := squeezerStart(t, m, d)
		worst := 0.0
		k := integrate(t, c.formulation, m, d, q, v, []float64{0.033, 0, 0, 0, 0, 0, 0}, c.tol, []float64{0.03}, func(_ float64, q, _ []float64) {
			for i, w := range squeezerEnd {
				worst = math.Max(worst, math.Abs(q[i]-w))
			}
		})
		if c.tol <= 1e-8 && worst > 1e-6 {
			t.Errorf("%s: coordinates at 0.03 s differ by %.3g rad", c.formulation, worst)
		}
		t.Logf("%s, tolerance %g: %d steps, %d rejected, coordinates within %.2g rad, constraints within %.2g and %.2g", c.formulation, c.tol,
			k.Accepted, k.Rejected, worst, k.Gap, k.Rate)
	}
}

// The row of four-bars goes through its flat position in the stabilised form too: the closed form of a parallelogram.
func TestStabilisedThroughSingular(t *testing.T) {
	for n, tol := range map[int]float64{1: 1e-9, 2: 1e-8, 4: 1e-7} {
		m, d := build(t, fourBars(n))
		q, v := fourBarsStart(n)
		angle := fallingPosts(n)
		worst, drift := 0.0, 0.0
		start := total(m, d, q, v)
		k := integrate(t, "ggl", m, d, q, v, make([]float64, m.NV()), tol, every(0.037, 3), func(at float64, q, v []float64) {
			for angle.T < at {
				if err := angle.Step(at); err != nil {
					t.Fatal(err)
				}
			}
			for i := range n + 1 {
				worst = math.Max(worst, math.Abs(q[i]-angle.X[0]))
			}
			drift = math.Max(drift, math.Abs(total(m, d, q, v)-start))
		})
		if worst > 10*tol || drift > 100*tol || k.Leaps == 0 {
			t.Errorf("n = %d: off by %.2g rad, energy by %.2g J", n, worst, drift)
		}
		t.Logf("n = %d: off by %.2g rad, energy by %.2g J, constraints within %.2g and %.2g, %d leaps, %d steps", n, worst, drift, k.Gap, k.Rate,
			k.Leaps, k.Accepted)
	}
}

// Bricard's mechanism, with its redundant equation, keeps its closed form; both formulations agree.
func TestStabilisedBricard(t *testing.T) {
	m, d := build(t, bricard())
	var at [3][5]float64
	for i, formulation := range Formulations() {
		q, v := make([]float64, 5), make([]float64, 5)
		if _, err := Assemble(m, d, q, v, Assembly{}); err != nil {
			t.Fatal(err)
		}
		worst, drift, start := 0.0, 0.0, total(m, d, q, v)
		k := integrate(t, formulation, m, d, q, v, make([]float64, 5), 1e-9, every(0.05, 3), func(_ float64, q, v []float64) {
			a, b := math.Sin(q[0]), math.Sin(q[1])
			for _, e := range []float64{q[0] - q[2], q[0] - q[4], q[1] - q[3], a + b + a*b} {
				worst = math.Max(worst, math.Abs(e))
			}
			drift = math.Max(drift, math.Abs(total(m, d, q, v)-start))
			copy(at[i][:], q)
		})
		if worst > 1e-9 || drift > 1e-5 {
			t.Errorf("%s: closed form missed by %.2g, energy by %.2g J", formulation, worst, drift)
		}
		t.Logf("%s: closed form within %.2g, energy within %.2g J, constraints within %.2g and %.2g, %d steps", formulation, worst, drift, k.Gap,
			k.Rate, k.Accepted)
	}
	for _, other := range at[1:] {
		near(t, "angles at the end", other[:], at[0][:], 1e-7)
	}
}

// The crank-rocker with its motor, whose current is a state beside the machine, against the table of another program; and the states
// inside the last step.
func TestStabilisedCrankRocker(t *testing.T) {
	for _, closed := range []CutKind{CutPoint, CutRevolute} {
		m, d := build(t, crankRocker(closed))
		q, v := crankStart(t, m, d)
		var between [3][7]float64
		for i, formulation := range Formulations() {
			o, err := NewIntegrator(formulation, m, d, 1, func(t float64, q, v, z, tau, dz []float64) {
				clear(tau)
				tau[0] = 0.3 * z[0]
				dz[0] = (12 - 2*z[0] - 0.3*v[0]) / 5e-3
			}, nil, 1e-10, 1e-10)
			if err != nil {
				t.Fatal(err)
			}
			if err := o.Start(0, append(append(append([]float64(nil), q...), v...), 0)); err != nil {
				t.Fatal(err)
			}
			past := false
			for at := 0.0; at < 1; at, _ = o.Reached() {
				if err := o.Step(1); err != nil {
					t.Fatal(err)
				}
				if now, _ := o.Reached(); now >= 0.5 && !past {
					past = true
					o.At(0.5, between[i][:])
				}
			}
			_, x := o.Reached()
			near(t, formulation+" at 1 s", []float64{x[0], x[0] + x[1], x[2], x[3], x[6]},
				[]float64{34.61049178, 0.64232841, 2.39211602, 43.02791667, -0.20721432}, 1e-6)
		}
		near(t, "inside a step", between[1][:], between[0][:], 1e-6)
		near(t, "inside a step, by partition", between[2][:], between[0][:], 1e-6)
	}
}

// A closed chain in space with spherical joints and a prescribed crank: the stabilised form agrees with the projected one.
func TestStabilisedInSpace(t *testing.T) {
	s := Spec{Gravity: r3.Vec{Z: -9.81}, Bodies: []Body{
		{Name: "crank", Joint: Joint{Kind: Revolute, Axis: r3.Vec{X: 0.2, Z: 1}}, Inertia: rod(0.2)},
		{Name: "coupler", Parent: "crank", Place: At(0.2, 0, 0), Joint: Joint{Kind: Spherical, Damping: 0.01},
			Inertia: Inertia{Mass: 1, Com: r3.Vec{X: 0.3}, I: rod(0.6).I.Add(0.01, [3][3]float64{{1}, {0, 1}, {0, 0, 1}})}},
		{Name: "slide", Place: At(0, 0.1, 0.3), Joint: Joint{Kind: Prismatic, Axis: r3.Vec{X: 1}, Stiffness: 20}, Inertia: Inertia{Mass: 0.4}},
	},
		Frames: []Frame{{"end", "coupler", At(0.6, 0, 0)}},
		Cuts:   []Cut{{Name: "pin", Kind: CutSpherical, A: "end", B: "slide"}},
		Drives: []Drive{{Name: "motor", Joint: "crank"}},
	}
	m, d := build(t, s)
	turn := func(t float64) Motion { return Motion{X: 5 * t * t, V: 10 * t, A: 10} }
	q, v := m.Neutral(), make([]float64, m.NV())
	d.Drive(0, turn(0))
	if a, err := Assemble(m, d, q, v, Assembly{}); err != nil || a.DOF != 1 {
		t.Fatal(a, err)
	}
	var end [3][]float64
	for i, formulation := range Formulations() {
		o, err := NewIntegrator(formulation, m, d, 0, func(t float64, q, v, z, tau, dz []float64) {}, []func(float64) Motion{turn}, 1e-9, 1e-9)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Start(0, append(append([]float64(nil), q...), v...)); err != nil {
			t.Fatal(err)
		}
		for at := 0.0; at < 1; at, _ = o.Reached() {
			if err := o.Step(1); err != nil {
				t.Fatal(err)
			}
		}
		if k := o.Stats(); k.Gap > 1e-10 || k.Rate > 1e-10 {
			t.Errorf("%s: constraints missed by %.2g, %.2g", formulation, k.Gap, k.Rate)
		}
		_, x := o.Reached()
		end[i] = append([]float64(nil), x...)
	}
	near(t, "the stabilised form", end[1], end[0], 1e-6)
	near(t, "the partition", end[2], end[0], 1e-6)
}

// Halving the step divides the error by 2⁵, in coordinates and speeds.
func TestStabilisedOrder(t *testing.T) {
	m, d := build(t, crankRocker(CutPoint))
	q, v := crankStart(t, m, d)
	torque := []float64{0.2, 0, 0}
	var exact, got []float64
	integrate(t, "projection", m, d, q, v, torque, 1e-13, []float64{0.25},
		func(_ float64, q, v []float64) { exact = append(append(exact, q...), v...) })
	var e [3]float64
	for k := range e {
		h := 0.25 / float64(int(10)<<k)
		s := NewStabilised(m, d, 0, func(t float64, q, v, z, tau, dz []float64) { copy(tau, torque) }, nil)
		s.Rtol, s.Atol = 1e-9, 1e-7 // of the iteration: the steps are not controlled here
		if err := s.Start(0, append(append([]float64(nil), q...), v...)); err != nil {
			t.Fatal(err)
		}
		for s.T < 0.25 {
			turns, ok := s.solve(h)
			if !ok {
				t.Fatal(turns)
			}
			s.accept(h, 1, false)
			if err := s.arrive(); err != nil {
				t.Fatal(err)
			}
			if s.T > 0.25-h/2 {
				break
			}
		}
		got = append(got[:0], s.X...)
		for i, x := range got {
			e[k] = math.Max(e[k], math.Abs(x-exact[i]))
		}
	}
	for k := range 2 {
		if p := math.Log2(e[k] / e[k+1]); p < 4.5 {
			t.Errorf("errors %.3g, order %.2f, want 5", e, p)
		}
	}
	t.Logf("errors %.3g", e)
}

// What goes wrong is said: unknown names, too many steps, torques that are no numbers.
func TestStabilisedRefuses(t *testing.T) {
	m, d := build(t, crankRocker(CutPoint))
	if _, err := NewIntegrator("gg", m, d, 0, nil, nil, 1, 1); err == nil ||
		!strings.Contains(err.Error(), `unknown formulation "gg" (did you mean "ggl"?)`) {
		t.Error(err)
	}
	q, v := crankStart(t, m, d)
	x := append(append([]float64(nil), q...), v...)
	s := NewStabilised(m, d, 0, func(t float64, q, v, z, tau, dz []float64) {
		tau[0] = 0.1
		if t > 0.1 {
			tau[0] = math.NaN()
		}
	}, nil)
	if err := s.Start(0, x); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(1); err == nil || s.T > 0.1 || math.IsNaN(s.X[0]) {
		t.Errorf("ended at %g s, %v, with %v", s.T, s.X, err)
	}
	s = NewStabilised(m, d, 0, func(t float64, q, v, z, tau, dz []float64) { tau[0] = 0.1 }, nil)
	s.MaxSteps = 5
	if err := s.Start(0, x); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(1); err == nil || !strings.Contains(err.Error(), engine.ErrSteps.Error()) {
		t.Error(err)
	}
}
