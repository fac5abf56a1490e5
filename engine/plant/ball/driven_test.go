package ball

import (
	"testing"

	"gonum.org/v1/gonum/spatial/r3"
)

// A moment like that of the friction does what the friction does, and one on top of dry friction changes the normal force as a body with
// both says: the equations hold with the force returned.
func TestRollingUnder(t *testing.T) {
	free := otherBall()
	free.Roll, free.Spin, free.Slips = Friction{}, Friction{}, false
	viscous := free
	viscous.Roll.Linear, viscous.Spin.Linear = 3e-4, 5e-5
	dry := free
	dry.Roll.Arm, dry.Spin.Arm = 2e-4, 1e-4
	model := func(p Params) *Model {
		m, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	f := FrameOf(quaternion(r3.Vec{X: 0.4, Y: -0.9, Z: 0.3}))
	w := r3.Vec{X: 3, Y: -2, Z: 4}

	want := model(viscous).Accel(&State{Q: quaternion(r3.Vec{X: 0.4, Y: -0.9, Z: 0.3}), W: w})
	moment, _ := model(viscous).moment(f.C, w, Mode{})
	dw, force := model(free).RollingUnder(&f, w, moment)
	if d := r3.Norm(r3.Sub(dw, want.W)); d > 1e-11 {
		t.Errorf("dω/dt is %g rad/s² off that of the friction", d)
	}
	if d := r3.Norm(r3.Sub(force, want.Force)); d > 1e-13 {
		t.Errorf("the force is %g N off that of the friction", d)
	}

	// m·d(ω×ρ-kinematics)/dt: the force of the plane is mass times acceleration of the centre of mass less the weight, and the moment about
	// the centre of mass is friction, the moment given, and the force at the contact
	m := model(dry)
	extra := r3.Vec{X: 2e-3, Y: 1e-3, Z: -3e-3}
	dw, force = m.RollingUnder(&f, w, extra)
	rho := r3.Add(m.c, r3.Scale(m.radius, f.C))
	own, d := m.moment(f.C, w, Mode{})
	friction := r3.Sub(own, r3.Scale(force.Z, d))
	torque := r3.Add(r3.Add(friction, extra), r3.Cross(r3.Scale(-1, rho), f.ToBody(force)))
	left := r3.Sub(r3.Add(m.inertia.by(dw), r3.Cross(w, m.inertia.by(w))), torque)
	if r3.Norm(left) > 1e-15 {
		t.Errorf("Euler's equation about the centre of mass is %g N·m off", r3.Norm(left))
	}
}
