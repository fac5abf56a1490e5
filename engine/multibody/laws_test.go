package multibody

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/rotation"
)

// The energy rises by the power of the torques and of the external forces, less what the joints lose; checked by the difference
// quotient of the energy along the motion.
func TestPowerBalance(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for try := range 100 {
		s := randomSpec(r, 1+r.IntN(12))
		s.Bodies[0].Joint = Joint{Kind: Free}
		if try%2 == 0 {
			s.Springs = []Spring{{Name: "spring", A: "b0", Stiffness: 2, Length: 0.1}}
		}
		m, d := build(t, s)
		q, v, tau := motion(r, m)
		ABA(m, d, q, v, tau)
		a := append([]float64(nil), d.QDD...)
		Dynamics(m, d, q, v, tau)
		near(t, "Dynamics", d.QDD, a, 1e-11)
		RNEA(m, d, q, v, a)
		near(t, "RNEA", d.Tau, tau, 1e-9)
		energy := func(h float64) float64 {
			at, rate := make([]float64, m.NQ()), make([]float64, m.NV())
			mid := make([]float64, m.NV())
			for i := range v {
				mid[i], rate[i] = v[i]+h/2*a[i], v[i]+h*a[i]
			}
			Integrate(m, q, mid, h, at)
			Velocities(m, d, at, rate)
			k, p := Energy(m, d, at, rate)
			return k + p
		}
		power := 0.0
		for j := 1; j < len(m.body); j++ {
			b := &m.body[j]
			for i := b.iv; i < b.iv+b.nv; i++ {
				power += (tau[i] - b.joint.Damping*v[i]) * v[i]
				if b.joint.Coulomb != 0 {
					power -= b.joint.Coulomb * math.Abs(v[i])
				}
			}
		}
		// Richardson's extrapolation of central differences
		h := 1e-4
		one, two := (energy(h)-energy(-h))/(2*h), (energy(h/2)-energy(-h/2))/h
		got := (4*two - one) / 3
		if size := math.Abs(energy(0)) + math.Abs(power); math.Abs(got-power) > 1e-7*size {
			t.Errorf("energy rises by %.9g W, power is %.9g W", got, power)
		}
	}
}

// Without gravity, wrenches and ground the momentum of a flying machine stays, whatever its joints do.
func TestMomentumStays(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for try := range 6 {
		s := randomSpec(r, 6)
		s.Gravity = r3.Vec{}
		for i := range s.Bodies {
			if b := &s.Bodies[i]; i == 0 {
				b.Joint = Joint{Kind: Free}
			} else {
				b.Joint.Armature, b.Joint.Coulomb = 0, 0 // a rotor's spin is not in Momentum
				if b.Parent == "" {
					b.Parent = "b0"
				}
			}
		}
		m, d := build(t, s)
		q, v, tau := motion(r, m)
		clear(tau[:6])
		Velocities(m, d, q, v)
		spin, push := Momentum(m, d, q, v)
		o := engine.NewDormandPrince(orbit(m, d, tau), m.NQ()+m.NV())
		o.Rtol, o.Atol = 1e-11, 1e-11
		o.Start(0, append(q, v...))
		for o.T < 0.5 {
			if err := o.Step(0.5); err != nil {
				t.Fatal(err)
			}
		}
		Velocities(m, d, o.X[:m.NQ()], o.X[m.NQ():])
		a, l := Momentum(m, d, o.X[:m.NQ()], o.X[m.NQ():])
		if e := r3.Norm(r3.Sub(a, spin)) + r3.Norm(r3.Sub(l, push)); e > 1e-8*(r3.Norm(spin)+r3.Norm(push)) {
			t.Errorf("try %d: momentum moved by %.2g: %v, %v → %v, %v", try, e, spin, push, a, l)
		}
	}
}

// A Jacobian times v is the velocity of the frame, and that the difference quotient of its pose.
func TestJacobian(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 50 {
		s := randomSpec(r, 8)
		s.Frames = []Frame{{Name: "tool", Body: "b7", Pose: At(0.3, -0.2, 0.5).Turned(r3.Vec{X: 1, Y: 2})}}
		m, d := build(t, s)
		if m.NV() == 0 {
			continue
		}
		q, v, _ := motion(r, m)
		tool, err := m.Frame("tool")
		if err != nil {
			t.Fatal(err)
		}
		Velocities(m, d, q, v)
		w, u := m.FrameVelocity(d, tool)
		jac := make([]float64, 6*m.NV())
		Jacobian(m, d, tool, jac)
		got := make([]float64, 6)
		for i := range got {
			got[i] = floats.Dot(jac[i*m.NV():(i+1)*m.NV()], v)
		}
		want := []float64{w.X, w.Y, w.Z, u.X, u.Y, u.Z}
		if largest(want) == 0 {
			continue
		}
		near(t, "J·v", got, want, 1e-13)
		const h = 1e-5
		var rot [2]rotation.Matrix
		var pos [2]r3.Vec
		for k, h := range []float64{-h, h} {
			at := make([]float64, m.NQ())
			Integrate(m, q, v, h, at)
			Positions(m, d, at)
			rot[k], pos[k] = m.FramePose(d, tool)
		}
		u = r3.Scale(1/(2*h), r3.Sub(pos[1], pos[0]))
		turned, _, _ := rotation.FromMatrix(rot[1].Mul(rot[0].T()))
		w = r3.Scale(1/(2*h), rotation.Log(turned))
		near(t, "difference quotient", []float64{w.X, w.Y, w.Z, u.X, u.Y, u.Z}, want, 1e-8)
	}
}

// Integrate and Difference undo each other, and Rates is the slope of Integrate.
func TestIntegrate(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 50 {
		m, _ := build(t, randomSpec(r, 10))
		q, v, _ := motion(r, m)
		floats.Scale(0.6, v) // turns of less than π
		to, back, dq := make([]float64, m.NQ()), make([]float64, m.NV()), make([]float64, m.NQ())
		Integrate(m, q, v, 1, to)
		Difference(m, q, to, back)
		if m.NV() > 0 {
			near(t, "Difference", back, v, 1e-12)
		}
		const h = 1e-6
		ahead := make([]float64, m.NQ())
		Integrate(m, q, v, h, to)
		Integrate(m, q, v, -h, ahead)
		Rates(m, q, v, dq)
		for i := range dq {
			if x := (to[i] - ahead[i]) / (2 * h); math.Abs(x-dq[i]) > 1e-8 {
				t.Fatalf("dq/dt[%d] = %.12g, difference quotient %.12g", i, dq[i], x)
			}
		}
	}
}
