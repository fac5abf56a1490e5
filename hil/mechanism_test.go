package hil

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// twoLinks is the arm of configs/two-link.yaml in the plane of x and y, gravity along −y, hanging down at 0.
func twoLinks(t testing.TB) *multibody.Model {
	t.Helper()
	flat := func(m, c, i float64) multibody.Inertia {
		return multibody.Inertia{Mass: m, Com: r3.Vec{Y: -c}, I: rotation.Diag(r3.Vec{X: i / 2, Y: i / 2, Z: i})}
	}
	m, err := multibody.Build(multibody.Spec{Gravity: r3.Vec{Y: -9.81}, Bodies: []multibody.Body{
		{Name: "shoulder", Joint: multibody.Joint{Kind: multibody.Revolute, Armature: 0.01}, Inertia: flat(1.3, 0.18, 0.02)},
		{Name: "elbow", Parent: "shoulder", Place: multibody.At(0, -0.4, 0), Joint: multibody.Joint{Kind: multibody.Revolute, Armature: 0.004},
			Inertia: flat(0.8, 0.15, 0.009)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The torques of the arm are those of [KD04] in closed form, and nothing is allocated.
func TestMechanismOfTwoLinks(t *testing.T) {
	m, err := newMechanism(&MechanismSpec{Model: twoLinks(t), Joint: []int{0, -1, 1}}, 3) // the second axis is no part of it
	if err != nil {
		t.Fatal(err)
	}
	const m1, m2, l1, c1, c2, i1, i2, j1, j2, g = 1.3, 0.8, 0.4, 0.18, 0.15, 0.02, 0.009, 0.01, 0.004, 9.81
	alpha, beta, delta := i1+m1*c1*c1+m2*l1*l1, m2*l1*c2, i2+m2*c2*c2
	g1, g2 := (m1*c1+m2*l1)*g, m2*c2*g
	for k := range 50 {
		s := float64(k)
		q1, q2, v1, v2, a1, a2 := 3*math.Sin(s), 2*math.Cos(2*s), 5*math.Sin(3*s), 4*math.Cos(s), 20*math.Sin(5*s), 30*math.Cos(7*s)
		m.setReference(0, [3]float64{q1, v1, a1})
		m.setReference(1, [3]float64{9, 9, 9})
		m.setReference(2, [3]float64{q2, v2, a2})
		if st := m.effort(); st != engine.OK {
			t.Fatal(st)
		}
		tau1 := (alpha+delta+2*beta*math.Cos(q2)+j1)*a1 + (delta+beta*math.Cos(q2))*a2 - beta*math.Sin(q2)*(2*v1*v2+v2*v2) + g1*math.Sin(q1) + g2*math.Sin(q1+q2)
		tau2 := (delta+beta*math.Cos(q2))*a1 + (delta+j2)*a2 + beta*math.Sin(q2)*v1*v1 + g2*math.Sin(q1+q2)
		if math.Abs(m.load(0)-tau1) > 1e-12*(1+math.Abs(tau1)) || math.Abs(m.load(2)-tau2) > 1e-12*(1+math.Abs(tau2)) || m.load(1) != 0 {
			t.Fatalf("%g %g %g, want %g 0 %g", m.load(0), m.load(1), m.load(2), tau1, tau2)
		}
	}
	if n := testing.AllocsPerRun(100, func() { m.setReference(0, [3]float64{1, 2, 3}); m.effort(); m.load(2) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
	m.setReference(0, [3]float64{math.NaN(), 0, 0})
	if m.effort() != engine.NonFinite || m.load(0) != 0 {
		t.Errorf("a reference that is no number gives %g N·m", m.load(0))
	}
}

func TestMechanismRefuses(t *testing.T) {
	for _, c := range []struct {
		joints []int
		want   string
	}{{[]int{0, 0}, "once"}, {[]int{0, 2}, "want each of 0 to 1"}, {[]int{0, -1}, "1 of its 2 joints are no axis"},
		{[]int{0}, "1 joints are given for 2 axes"}} {
		if _, err := newMechanism(&MechanismSpec{Model: twoLinks(t), Joint: c.joints}, 2); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.joints, err)
		}
	}
	if m, err := newMechanism(nil, 2); m != nil || err != nil || m.effort() != engine.OK || m.load(1) != 0 {
		t.Error(m, err)
	}
}

func BenchmarkMechanism(b *testing.B) {
	m, err := newMechanism(&MechanismSpec{Model: twoLinks(b), Joint: []int{0, 1}}, 2)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for k := range b.N {
		m.setReference(0, [3]float64{float64(k) * 1e-3, 1, 2})
		m.setReference(1, [3]float64{float64(k) * 2e-3, 3, 4})
		m.effort()
	}
}
