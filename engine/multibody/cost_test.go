package multibody

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"
)

// arm is a chain of n links whose axes lie in turn along z, y and x, as those of an industrial arm.
func arm(n int) Spec {
	s := chain(n, r3.Vec{Z: 1})
	for i := range s.Bodies {
		s.Bodies[i].Joint.Axis = [...]r3.Vec{{Z: 1}, {Y: 1}, {X: 1}}[i%3]
	}
	return s
}

// skewArm has axes along none of those of the bodies.
func skewArm(n int) Spec {
	s := arm(n)
	for i := range s.Bodies {
		s.Bodies[i].Joint.Axis = r3.Vec{X: 0.3, Y: float64(i%2) - 0.4, Z: 1}
		s.Bodies[i].Place = s.Bodies[i].Place.Turned(r3.Vec{X: 0.4, Y: 1})
	}
	return s
}

func BenchmarkABA(b *testing.B) {
	for _, c := range []struct {
		name string
		spec Spec
	}{{"planar 2", chain(2, r3.Vec{Z: 1})}, {"planar 7", chain(7, r3.Vec{Z: 1})}, {"spatial 2", arm(2)}, {"spatial 7", arm(7)},
		{"skew 7", skewArm(7)}} {
		b.Run(c.name, func(b *testing.B) {
			m, d := build(b, c.spec)
			q, v, tau := motion(rand.New(rand.NewPCG(1, 1)), m)
			b.ReportAllocs()
			for b.Loop() {
				ABA(m, d, q, v, tau)
			}
		})
	}
}

func BenchmarkSpatial7(b *testing.B) {
	m, d := build(b, arm(7))
	q, v, tau := motion(rand.New(rand.NewPCG(1, 1)), m)
	y := make([]float64, m.NV()*len(m.Params()))
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"RNEA", func() { RNEA(m, d, q, v, tau) }},
		{"CRBA", func() { CRBA(m, d, q) }},
		{"Factor", func() { Factor(m, d) }},
		{"Velocities", func() { Velocities(m, d, q, v) }},
		{"Regressor", func() { Regressor(m, d, q, v, tau, y) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.run()
			}
		})
	}
}

func TestNoAllocations(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, s := range []Spec{chain(7, r3.Vec{Z: 1}), arm(7), randomSpec(r, 12)} {
		m, d := build(t, s)
		q, v, tau := motion(r, m)
		y := make([]float64, m.NV()*len(m.Params()))
		jac := make([]float64, 6*m.NV())
		to, dv := make([]float64, m.NQ()), make([]float64, m.NV())
		if n := testing.AllocsPerRun(20, func() {
			d.Push(1, Wrench{F: r3.Vec{X: 1}})
			ABA(m, d, q, v, tau)
			RNEA(m, d, q, v, tau)
			d.Release()
			CRBA(m, d, q)
			Factor(m, d)
			Solve(m, d, dv)
			Velocities(m, d, q, v)
			Jacobian(m, d, 1, jac)
			Energy(m, d, q, v)
			Momentum(m, d, q, v)
			Regressor(m, d, q, v, tau, y)
			Integrate(m, q, v, 0.01, to)
			Difference(m, q, to, dv)
			Rates(m, q, v, to)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}
