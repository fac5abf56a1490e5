package ball

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
	"pgregory.net/rapid"

	"hilrig/engine"
)

// Any ball under any friction, through slip, rolling and rest: every step converges, and none gives energy but what the speed
// minSlipSpeed is worth when something breaks away or comes to rest. Balls that would leave the plane are left aside from there on.
func TestNoStepGivesEnergy(t *testing.T) {
	rest, lifted := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		p := anyBall(r)
		p.Slips, p.Slide = rapid.Bool().Draw(r, "slips"), rapid.Float64Range(0, 0.6).Draw(r, "slide")
		m, err := New(p)
		if err != nil {
			r.Fatal(err)
		}
		num := func(name string, lo, hi float64) float64 { return rapid.Float64Range(lo, hi).Draw(r, name) }
		s := State{
			Q: quat.Number{Real: num("q0", 0.1, 1), Imag: num("q1", -1, 1), Jmag: num("q2", -1, 1), Kmag: num("q3", -1, 1)},
			W: r3.Vec{X: num("wx", -10, 10), Y: num("wy", -10, 10), Z: num("wz", -10, 10)}, VX: num("vx", -1, 1), VY: num("vy", -1, 1),
		}
		m.Place(&s)
		scale := p.Mass * (9.81*p.Radius + math.Pow(p.Radius*(1+r3.Norm(s.W)), 2) + 2)
		before := m.Energy(&s)
		for k := range 80 {
			_, st := m.Step(5e-3, &s)
			if st == engine.Limited {
				lifted++
				return
			}
			if st != engine.OK {
				r.Fatalf("step %d: %v in %+v", k, st, s)
			}
			after := m.Energy(&s)
			if after > before+minSlipSpeed*scale {
				r.Fatalf("step %d: the energy rises by %.3g J, %.2g of the scale, in %+v", k, after-before, (after-before)/scale, s)
			}
			before = after
			if n := quat.Abs(s.Q); math.Abs(n-1) > 1e-12 {
				r.Fatalf("length of the quaternion %.17g", n)
			}
		}
		if s.Mode.RollHeld && s.Mode.SpinHeld {
			rest++
		}
	})
	t.Logf("%d came to rest, %d left the plane", rest, lifted)
}

// On ice nothing turns a uniform ball and nothing slows it.
func TestIce(t *testing.T) {
	p := uniform()
	p.Slips, p.Slide = true, 0
	m := model(t, p)
	s := State{Q: quat.Number{Real: 1}, W: r3.Vec{X: 3, Y: 1, Z: 2}, VX: 0.2, VY: -0.1}
	m.Place(&s)
	for range 1000 {
		if _, st := m.Step(1e-3, &s); st != engine.OK {
			t.Fatal(st)
		}
	}
	if math.Abs(s.X-0.2) > 1e-12 || math.Abs(s.Y+0.1) > 1e-12 || r3.Norm(r3.Sub(s.W, r3.Vec{X: 3, Y: 1, Z: 2})) > 1e-12 {
		t.Errorf("%+v", s)
	}
}

// A small ball that rolls fast breaks away where the force is hardly more than friction can hold: its slip stays so slow that the
// direction of friction follows it within 0.1 µs. The step of 5 ms takes as many parts as that asks for, and none gives energy.
func TestHardlySlipping(t *testing.T) {
	m := model(t, Params{
		Radius: 0.010687807731288312, Mass: 0.4011152897920071, InertiaAbout: AboutCenter, Gravity: 9.81,
		Tilt:     [2]float64{0.03778687476278719, 0},
		Inertia:  [3]float64{1.1874240913885048e-05, 5.9952159185784245e-06, 1.0781529072686422e-05},
		Products: [3]float64{4.5583931190326204e-15, 2.1860677735956785e-15, 0},
		Center:   [3]float64{-0.00011157028972148232, -0.0025613425807182342, -0.000349904695037674},
		Roll:     Friction{Arm: 1.0845551995358298e-34}, Spin: Friction{Arm: 5.413570744608969e-59}, Slips: true, Slide: 0.1561858822288322,
	})
	s := State{
		Q: quat.Number{Real: -0.4673453886673996, Imag: 0.16777351738053897, Jmag: -0.8589150802715181, Kmag: -0.12532046696071136},
		X: -0.009276524344052864, Y: -0.0015228479271536366, W: r3.Vec{X: 64.40762617478201, Y: 3.6423815004973985, Z: 45.212152270434714},
		VX: 0.09755745188956444, VY: -0.002913669024668087,
	}
	m.Place(&s)
	slipped, before := false, m.Energy(&s)
	for k := range 3 {
		if _, st := m.Step(5e-3, &s); st != engine.OK {
			t.Fatalf("step %d: %v in %+v", k, st, s)
		}
		slipped = slipped || s.Mode.Slip
		if after := m.Energy(&s); after > before+minSlipSpeed*m.mass*m.radius {
			t.Errorf("step %d: the energy rises by %.3g J", k, after-before)
		} else {
			before = after
		}
	}
	if !slipped {
		t.Error("it never slips")
	}
}
