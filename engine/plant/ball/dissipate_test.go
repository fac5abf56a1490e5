package ball

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
	"pgregory.net/rapid"

	"hilrig/engine"
)

// halfTurned is the angle (rad) of a step from which on it may fail to converge, by its status.
const halfTurned = 0.5

// Any ball under any friction, through slip, rolling and rest: every step converges, and none gives energy but what the speed faint is worth
// when something breaks away or comes to rest. Balls that would leave the plane are left aside from there on.
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
			if st == engine.NotConverged && r3.Norm(s.W)*5e-3 > halfTurned {
				lifted++ // it says so, and a shorter step is asked for
				return
			}
			if st != engine.OK {
				r.Fatalf("step %d: %v in %+v", k, st, s)
			}
			after := m.Energy(&s)
			if after > before+faint*scale {
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
