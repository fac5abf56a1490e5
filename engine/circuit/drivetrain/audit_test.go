package drivetrain

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/plant"
)

// strong is a part whose forces are a little larger than it knows, as by a slip in its force law.
type strong struct {
	Part
	by  float64
	own []float64
}

func (s *strong) boost(p circuit.Power, tau []float64) circuit.Power {
	for i, x := range s.own {
		tau[i] += s.by * x
	}
	p.Output *= s.by
	return p
}

func (s *strong) Flow(t float64, q, v, z, dz, tau []float64) (circuit.Power, engine.Status) {
	s.own = make([]float64, len(tau))
	p, st := s.Part.Flow(t, q, v, z, dz, s.own)
	return s.boost(p, tau), st
}

func (s *strong) Trial(t, h float64, q, v, w, z, zn, tau, slope []float64) (circuit.Power, engine.Status) {
	s.own = make([]float64, len(tau))
	p, st := s.Part.Trial(t, h, q, v, w, z, zn, s.own, slope)
	return s.boost(p, tau), st
}

// knocking are machines in which belts and contacts work: strands become slack and slip, gaps are crossed and springs leave.
func knocking() map[string]struct {
	part Part
	v    [2]float64
} {
	type c = struct {
		part Part
		v    [2]float64
	}
	return map[string]c{
		"backlash": {&Contact{Label: "c", Twist: Twist{A: 0, B: 1, Ratio: 2},
			Stops: plant.Stops{Travel: [2]float64{-0.05, 0.05}, Stiffness: 300, Loss: 0.2}}, [2]float64{6, -2}},
		"leaves": {&Contact{Label: "c", Twist: Twist{A: 0, B: 1},
			Stops: plant.Stops{Travel: [2]float64{-0.02, 0.02}, Stiffness: 300, Loss: 3}}, [2]float64{6, -2}},
		"belt":     {&Belt{Label: "b", A: 0, B: 1, RA: 0.03, RB: 0.05, K: 2e4, C: 5, Tension: 30}, [2]float64{100, -30}},
		"slipping": {&Belt{Label: "b", A: 0, B: 1, RA: 0.03, RB: 0.05, K: 2e4, C: 5, Tension: 30, Grip: 2}, [2]float64{100, -30}},
	}
}

// The audit of belts and contacts closes because force, loss and store agree, each found by itself: a force that is a thousandth too
// large is noticed, offline and with fixed steps.
func TestAuditNotices(t *testing.T) {
	for name, c := range knocking() {
		run := func(part Part) (offline, fixed error) {
			x := func(tr *Train) []float64 {
				x := tr.NewState()
				x[2], x[3] = c.v[0], c.v[1]
				return x
			}
			tr := pair(t, part, 0, 0)
			a, err := tr.Integrate(x(tr), 0, 0.5, Offline{Rtol: 1e-12, Atol: 1e-14}, nil)
			if err != nil {
				t.Fatal(name, err)
			}
			tr = pair(t, part, 0, 0)
			b, st := tr.Run(x(tr), 0, 2e-5, 25000, nil)
			if st != engine.OK {
				t.Fatal(name, st)
			}
			t.Logf("%s: offline %.1e, steps of 20 µs %.1e", name, a.Lines[0].Relative(), b.Lines[0].Relative())
			return a.Check(1e-9), b.Check(2e-6)
		}
		if a, b := run(c.part); a != nil || b != nil {
			t.Errorf("%s: offline %v, fixed %v", name, a, b)
		}
		if a, b := run(&strong{Part: c.part, by: 1.001}); a == nil || b == nil {
			t.Errorf("%s: a force that is too large goes unnoticed: offline %v, fixed %v", name, a, b)
		}
	}
}

// The heat of a belt in closed form: both strands damp, one does when the other is slack, and a slipping belt rubs with its limit.
func TestBeltHeat(t *testing.T) {
	b := &Belt{Label: "b", A: 0, B: Ground, RA: 0.05, RB: 0.05, K: 1e4, C: 10, Tension: 40, Grip: 3}
	free := &Belt{Label: "b", A: 0, B: Ground, RA: 0.05, RB: 0.05, K: 1e4, C: 10, Tension: 40}
	for _, c := range []struct {
		name    string
		belt    *Belt
		s, v, w float64 // stretch, rate, heat
	}{
		{"taut", free, 1e-3, 0.2, 2 * 10 * 0.04},
		{"taut, loosening", free, 1e-3, -0.2, 2 * 10 * 0.04},
		{"slack", free, 6e-3, 0.2, 10 * 0.04},
		{"slack the other way", free, -6e-3, 0.2, 10 * 0.04},
		{"slips", b, 2e-3, 0.2, 40 * 0.2}, // 2K·s is the limit, 40 N: the stretch stays
	} {
		dz, tau := []float64{0}, []float64{0}
		p, _ := c.belt.Flow(0, []float64{0}, []float64{c.v / 0.05}, []float64{c.s}, dz, tau)
		if math.Abs(p.Loss-c.w) > 1e-12 {
			t.Errorf("%s: %g W, want %g", c.name, p.Loss, c.w)
		}
	}
}
