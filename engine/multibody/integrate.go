package multibody

import (
	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

func quaternion(q []float64) quat.Number {
	return quat.Number{Real: q[0], Imag: q[1], Jmag: q[2], Kmag: q[3]}
}

func setQuaternion(q []float64, g quat.Number) {
	q[0], q[1], q[2], q[3] = g.Real, g.Imag, g.Jmag, g.Kmag
}

func vec(v []float64) r3.Vec { return r3.Vec{X: v[0], Y: v[1], Z: v[2]} }

func setVec(to []float64, v r3.Vec) { to[0], to[1], to[2] = v.X, v.Y, v.Z }

// Integrate writes to the position that q reaches with constant v after dt (s): spherical joints move on SO(3), free ones on
// SE(3) (screws). to may be q; quaternions come out with length one.
func Integrate(m *Model, q, v []float64, dt float64, to []float64) {
	m.check("Integrate", q, v, nil)
	for j := 1; j < len(m.body); j++ {
		b := &m.body[j]
		if f := b.flex; f != nil {
			for k := range f.n {
				to[f.iq+k] = q[f.iq+k] + dt*v[f.ia+k]
			}
		}
		if b.kind < Spherical {
			if b.nv == 1 {
				to[b.iq] = q[b.iq] + dt*v[b.iv]
			}
			continue
		}
		g, _ := rotation.Unit(quaternion(q[b.iq:]))
		phi := r3.Scale(dt, vec(v[b.iv:]))
		if b.kind == Free {
			u := rotation.LeftJacobian(phi).Vec(r3.Scale(dt, vec(v[b.iv+3:])))
			setVec(to[b.iq+4:], r3.Add(vec(q[b.iq+4:]), rotation.Rotate(g, u)))
		}
		g, _ = rotation.Unit(quat.Mul(g, rotation.Exp(phi)))
		setQuaternion(to[b.iq:], g)
	}
}

// Difference writes to v the constant velocity that leads from a to b in 1 s: Integrate(a, v, 1) = b, quaternions up to their sign.
func Difference(m *Model, a, b, v []float64) {
	m.check("Difference", a, v, nil)
	for j := 1; j < len(m.body); j++ {
		k := &m.body[j]
		if f := k.flex; f != nil {
			for i := range f.n {
				v[f.ia+i] = b[f.iq+i] - a[f.iq+i]
			}
		}
		if k.kind < Spherical {
			if k.nv == 1 {
				v[k.iv] = b[k.iq] - a[k.iq]
			}
			continue
		}
		g := quaternion(a[k.iq:])
		phi := rotation.Difference(g, quaternion(b[k.iq:]))
		setVec(v[k.iv:], phi)
		if k.kind == Free {
			u := rotation.Unrotate(g, r3.Sub(vec(b[k.iq+4:]), vec(a[k.iq+4:])))
			setVec(v[k.iv+3:], rotation.LeftJacobianInv(phi).Vec(u))
		}
	}
}

// Rates writes to dq the derivative dq/dt of the numbers of q for v.
func Rates(m *Model, q, v, dq []float64) {
	m.check("Rates", q, v, nil)
	for j := 1; j < len(m.body); j++ {
		b := &m.body[j]
		if f := b.flex; f != nil {
			copy(dq[f.iq:f.iq+f.n], v[f.ia:])
		}
		if b.kind < Spherical {
			if b.nv == 1 {
				dq[b.iq] = v[b.iv]
			}
			continue
		}
		g := quaternion(q[b.iq:])
		w := v[b.iv:]
		setQuaternion(dq[b.iq:], quat.Scale(0.5, quat.Mul(g, quat.Number{Imag: w[0], Jmag: w[1], Kmag: w[2]})))
		if b.kind == Free {
			g, _ = rotation.Unit(g)
			setVec(dq[b.iq+4:], rotation.Rotate(g, vec(w[3:])))
		}
	}
}

// Normalise gives the quaternions of q length one.
func Normalise(m *Model, q []float64) {
	for j := 1; j < len(m.body); j++ {
		if b := &m.body[j]; b.kind >= Spherical {
			g, _ := rotation.Unit(quaternion(q[b.iq:]))
			setQuaternion(q[b.iq:], g)
		}
	}
}
