package ball

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
)

// uniform is a ball with its centre of mass in the centre: its motions are known in closed form.
func uniform() Params {
	i := 0.4 * 0.2 * 0.05 * 0.05
	return Params{Radius: 0.05, Mass: 0.2, Inertia: [3]float64{i, i, i}, InertiaAbout: AboutCenter, Gravity: 9.81}
}

// A uniform ball under friction of Coulomb's type slows evenly, with δ·m·g over I + m·R², stops at the time that follows, and stays
// where it is, exactly.
func TestStops(t *testing.T) {
	p := uniform()
	p.Roll.Arm, p.Spin.Arm = 1e-4, 5e-5
	m := model(t, p)
	s := State{Q: quat.Number{Real: 1}, W: r3.Vec{X: 2, Z: -3}}
	m.Place(&s)
	slow := p.Roll.Arm * p.Mass * p.Gravity / (p.Inertia[0] + p.Mass*p.Radius*p.Radius)
	slowSpin := p.Spin.Arm * p.Mass * p.Gravity / p.Inertia[0]
	end := max(2/slow, 3/slowSpin)
	steps := int(end/5e-3) + 2
	for k := range steps {
		if _, st := m.Step(5e-3, &s); st != engine.OK {
			t.Fatal(st)
		}
		at := float64(k+1) * 5e-3
		f := s.Frame()
		wn := r3.Dot(s.W, f.C)
		roll, spin := r3.Norm(axpy(-wn, f.C, s.W)), -wn
		if math.Abs(roll-max(0, 2-slow*at)) > 1e-7 || math.Abs(spin-max(0, 3-slowSpin*at)) > 1e-7 {
			t.Fatalf("t = %g s: rolls with %.9g, want %.9g; spins with %.9g, want %.9g", at, roll, max(0, 2-slow*at), spin, max(0, 3-slowSpin*at))
		}
	}
	if want := p.Radius * 2 * 2 / (2 * slow); math.Abs(math.Hypot(s.X, s.Y)-want) > 1e-8 {
		t.Errorf("stopped after %.9g m, want %.9g m", math.Hypot(s.X, s.Y), want)
	}
	if !s.Mode.RollHeld || !s.Mode.SpinHeld || s.W != (r3.Vec{}) {
		t.Fatalf("at the end %+v turns with %v", s.Mode, s.W)
	}
	before := s
	for range 1000 {
		if m.Step(5e-3, &s); s != before {
			t.Fatal("a ball at rest moved")
		}
	}
}

// On a slope friction of Coulomb's type holds up to tan(tilt) = δ/R, and no further.
func TestHoldsOnSlope(t *testing.T) {
	for _, c := range []struct {
		share float64
		moves bool
	}{{0.999, false}, {1.001, true}} {
		p := uniform()
		p.Roll.Arm = 1e-3
		p.Tilt[1] = math.Atan(c.share * p.Roll.Arm / p.Radius)
		m := model(t, p)
		s := State{Q: quat.Number{Real: 1}}
		m.Place(&s)
		for range 1000 {
			m.Step(1e-3, &s)
		}
		// down the slope evenly, from rest
		g := p.Gravity * (math.Sin(p.Tilt[1]) - p.Roll.Arm/p.Radius*math.Cos(p.Tilt[1])) / (1 + 0.4)
		want := 0.0
		if c.moves {
			want = g / 2
		}
		if math.Abs(s.Y-want) > 1e-8 || math.Abs(s.X) > 1e-12 {
			t.Errorf("at %g of what holds: moved by %.6g m, %.6g m down the slope, want %.6g m", c.share, s.X, s.Y, want)
		}
	}
}

// An unbalanced ball under dry friction comes to rest within the sector in which friction can hold it, |sin φ| ≤ δ·N/(m·g·c), and
// the swings before lose the same angle each, nearly: it does not creep, and it does not chatter.
func TestSwingsToRest(t *testing.T) {
	p := Paper()
	p.Roll = Friction{Arm: 2e-4}
	m, s := model(t, p), at(0.5)
	m.Place(&s)
	turns, before, held := 0, 0.0, -1
	for k := range 10000 {
		if _, st := m.Step(1e-3, &s); st != engine.OK {
			t.Fatal(st)
		}
		if before*s.W.X < 0 {
			turns++
		}
		if s.W.X != 0 {
			before = s.W.X
		}
		if s.Mode.RollHeld && held < 0 {
			held = k
		}
		if held >= 0 && !s.Mode.RollHeld {
			t.Fatalf("moved again at step %d after it had come to rest at %d", k, held)
		}
	}
	f := s.Frame()
	if sector := p.Roll.Arm / p.Center[2]; held < 0 || math.Abs(f.C.Y) > sector*1.0001 {
		t.Errorf("at rest since step %d with sin φ = %.5g, friction holds up to %.5g", held, f.C.Y, sector)
	}
	// each half swing loses 2·δ/c of angle for small angles, so 0.5 rad last 0.5/(2·2e-4/0.0109) = 13.6 of them, less what the finite
	// angle takes
	if turns < 11 || turns > 14 {
		t.Errorf("%d reversals before rest, want about 13", turns)
	}
}

// A uniform ball set down with a spin about a horizontal axis slides until it rolls: v = (2/7)·R·ω0 at t = (2/7)·R·ω0/(μ·g), whatever
// the coefficient.
func TestSlidesUntilItRolls(t *testing.T) {
	for _, mu := range []float64{0.05, 0.3} {
		p := uniform()
		p.Slips, p.Slide = true, mu
		m := model(t, p)
		s := State{Q: quat.Number{Real: 1}, W: r3.Vec{Y: 20}}
		m.Place(&s)
		v := 2.0 / 7 * p.Radius * 20
		stick := v / (mu * p.Gravity)
		for k := 1; k <= 1500; k++ {
			a, st := m.Step(1e-3, &s)
			if st != engine.OK {
				t.Fatal(st)
			}
			now := float64(k) * 1e-3
			want := min(v, mu*p.Gravity*now)
			if math.Abs(s.VX-want) > 1e-8 || math.Abs(s.VY) > 1e-12 || s.Mode.Slip != (now < stick) {
				t.Fatalf("μ = %g, t = %g s: v = %.10g, %.3g m/s, want %.10g; %+v, rolls from %.6g s", mu, now, s.VX, s.VY, want, s.Mode, stick)
			}
			if s.Mode.Slip && math.Abs(math.Hypot(a.Force.X, a.Force.Y)-mu*a.Force.Z) > 1e-12 {
				t.Fatal("sliding friction is not μ·N")
			}
		}
	}
}

// On a slope a uniform ball rolls while tan(tilt) ≤ 3.5·μ, and slides beyond.
func TestSlipsOnSlope(t *testing.T) {
	for _, c := range []struct {
		share float64
		slips bool
	}{{0.999, false}, {1.001, true}} {
		p := uniform()
		p.Slips, p.Slide = true, 0.1
		p.Tilt[0] = math.Atan(3.5 * 0.1 * c.share)
		m := model(t, p)
		s := State{Q: quat.Number{Real: 1}}
		m.Place(&s)
		for range 500 {
			m.Step(1e-3, &s)
		}
		want := 5.0 / 7 * p.Gravity * math.Sin(p.Tilt[0])
		if c.slips {
			want = p.Gravity * (math.Sin(p.Tilt[0]) - 0.1*math.Cos(p.Tilt[0]))
		}
		if s.Mode.Slip != c.slips || math.Abs(s.VX-want*0.5) > 1e-8 {
			t.Errorf("at %g of what holds: %+v, v = %.9g m/s, want %.9g", c.share, s.Mode, s.VX, want*0.5)
		}
	}
}

// A swing that asks for more than the coefficient slips where it does and sticks again: the time of breaking away is where T = μ·N of the
// rolling ball, whatever the step.
func TestBreaksAwayInTime(t *testing.T) {
	p := Paper()
	roll := model(t, p)
	p.Slips, p.Slide = true, 0.12
	slip := model(t, p)
	// by the rolling ball, in small steps
	begin := at(0.05)
	begin.W.X = 9
	s := begin
	roll.Place(&s)
	want := 0.0
	for {
		a := roll.Accel(&s)
		if math.Hypot(a.Force.X, a.Force.Y) > 0.12*a.Force.Z {
			break
		}
		if roll.Step(1e-5, &s); want > 1 {
			t.Fatal("never")
		}
		want += 1e-5
	}
	for _, dt := range []float64{1e-3, 5e-3} {
		s := begin
		roll.Place(&s)
		slip.Place(&s)
		s2, now := s, 0.0
		for !s2.Mode.Slip && now < 1 {
			s = s2
			slip.Step(dt, &s2)
			now += dt
		}
		// within the step: by ever shorter ones
		lo, hi := 0.0, dt
		for range 30 {
			mid, try := (lo+hi)/2, s
			if slip.Step(mid, &try); try.Mode.Slip {
				hi = mid
			} else {
				lo = mid
			}
		}
		if got := now - dt + hi; math.Abs(got-want) > 2e-5 {
			t.Errorf("steps of %g s: slips at %.6f s, a rolling ball needs more than μ from %.6f s on", dt, got, want)
		}
	}
}
