package ball

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// The derivatives are those of differences of the equations, on a level plane and on a slope.
func TestSlopes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	random := func(sd float64) r3.Vec {
		return r3.Vec{X: sd * rng.NormFloat64(), Y: sd * rng.NormFloat64(), Z: sd * rng.NormFloat64()}
	}
	for _, tilt := range [][2]float64{{}, {0.1, -0.2}} {
		p := otherBall()
		p.Slips, p.Tilt = false, tilt
		p.Roll, p.Spin = Friction{Linear: 3e-4, Quadratic: 2e-5}, Friction{Linear: 5e-5, Quadratic: 1e-5}
		m, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			q, w := quaternion(random(1)), random(4)
			at := func(q quat.Number, w r3.Vec) r3.Vec {
				f := FrameOf(q)
				a, _ := m.RollingForce(&f, w)
				return a
			}
			f := FrameOf(q)
			s := m.Slopes(&f, w, at(q, w))
			const h = 1e-5
			check := func(what string, got, hi, lo r3.Vec, h float64) {
				t.Helper()
				want := r3.Scale(1/(2*h), r3.Sub(hi, lo))
				if d := r3.Norm(r3.Sub(got, want)); d > 1e-6*(1+r3.Norm(want)) {
					t.Errorf("tilt %v, by %s: %v, differences say %v", tilt, what, got, want)
				}
			}
			for j, e := range [3]r3.Vec{{X: h}, {Y: h}, {Z: h}} {
				check("ω", s.Omega[j], at(q, r3.Add(w, e)), at(q, r3.Sub(w, e)), h)
				check("turn", s.Turn[j], at(quat.Mul(q, quaternion(e)), w), at(quat.Mul(q, quaternion(r3.Scale(-1, e))), w), h)
			}
			with := func(change func(roll, spin *Friction)) r3.Vec {
				n := *m
				roll, spin := m.roll, m.spin
				change(&roll, &spin)
				n.SetFriction(roll, spin)
				a, _ := n.RollingForce(&f, w)
				return a
			}
			check("rolling friction", s.Roll, with(func(r, _ *Friction) { r.Linear += h }), with(func(r, _ *Friction) { r.Linear -= h }), h)
			check("spinning friction", s.Spin, with(func(_, s *Friction) { s.Linear += h }), with(func(_, s *Friction) { s.Linear -= h }), h)
			check("quadratic friction", s.Quadratic, with(func(r, _ *Friction) { r.Quadratic += h }),
				with(func(r, _ *Friction) { r.Quadratic -= h }), h)
		}
	}
}

func BenchmarkSlopes(b *testing.B) {
	p := Paper()
	m, err := New(p)
	if err != nil {
		b.Fatal(err)
	}
	f := FrameOf(quaternion(r3.Vec{X: 0.4, Y: -0.9, Z: 0.3}))
	w := r3.Vec{X: 3, Y: -2, Z: 4}
	dw, _ := m.RollingForce(&f, w)
	b.ReportAllocs()
	for b.Loop() {
		m.Slopes(&f, w, dw)
	}
}
