package multibody

import "gonum.org/v1/gonum/spatial/r3"

// Energy is the kinetic energy (J), armatures included, and the potential energy (J) of gravity, 0 with the centre of mass in the
// origin of the world, and of all springs. Velocities must be valid for q, v.
func Energy(m *Model, d *Data, q, v []float64) (kinetic, potential float64) {
	m.check("Energy", q, v, nil)
	for j := 1; j < len(m.body); j++ {
		m.weigh(d, j, q, v)
		b, s := &m.body[j], &d.body[j]
		ang, lin := b.momentum(s, &s.vel)
		if b.flex != nil {
			k, p := m.strain(d, j, q, v)
			kinetic, potential = kinetic+k, potential+p
		}
		kinetic += 0.5 * (r3.Dot(s.vel.ang, ang) + r3.Dot(s.vel.lin, lin))
		potential -= r3.Dot(m.gravity, r3.Add(s.mc, r3.Scale(b.mass, s.pos)))
		for _, v := range v[b.iv : b.iv+b.nv] {
			kinetic += 0.5 * b.joint.Armature * v * v
		}
		if k := b.joint.Stiffness; k != 0 {
			x := q[b.iq] - b.joint.Rest
			potential += 0.5 * k * x * x
		}
	}
	return kinetic, potential + m.springEnergy(d)
}

// Momentum is the angular momentum about the origin of the world (kg·m²/s) and the momentum (kg·m/s) of all bodies, world axes, without
// that of armatures. Velocities must be valid for q, v.
func Momentum(m *Model, d *Data, q, v []float64) (angular, linear r3.Vec) {
	for j := 1; j < len(m.body); j++ {
		m.weigh(d, j, q, v)
		s := &d.body[j]
		ang, lin := m.body[j].momentum(s, &s.vel)
		if f := m.body[j].flex; f != nil {
			for k, w := range s.flex.m1 {
				ang, lin = r3.Add(ang, r3.Scale(v[f.ia+k], w.M)), r3.Add(lin, r3.Scale(v[f.ia+k], w.F))
			}
		}
		angular = r3.Add(angular, r3.Add(ang, r3.Cross(s.pos, lin)))
		linear = r3.Add(linear, lin)
	}
	return angular, linear
}
