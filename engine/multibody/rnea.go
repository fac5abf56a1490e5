package multibody

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// RNEA is inverse dynamics: Tau is the torque of every joint that gives the acceleration a at q, v, by Newton and Euler's equations
// from the ground to the ends and back [F08] 5.3. Valid afterwards: Tau, and all of Velocities.
func RNEA(m *Model, d *Data, q, v, a []float64) {
	m.check("RNEA", q, v, a)
	for j := 1; j < len(m.body); j++ {
		m.place(d, j, q)
		m.move(d, j, v)
		m.weigh(d, j, q, v)
	}
	if len(m.springs) > 0 {
		m.pull(d)
	}
	m.accelerate(d, a)
	m.balance(d, a)
	m.losses(q, v, d.Tau, +1)
	if a != nil {
		for i := range d.Tau {
			d.Tau[i] += m.armature(i) * a[i]
		}
	}
}

// accelerate finds the accelerations of the bodies, less gravity, for dv/dt = a; nil is zero.
func (m *Model) accelerate(d *Data, a []float64) {
	d.body[0].acc.lin = r3.Scale(-1, m.gravity)
	for j := 1; j < len(m.body); j++ {
		b, s := &m.body[j], &d.body[j]
		p := &d.body[b.parent]
		w := r3.Add(p.acc.ang, s.cor.ang)
		u := r3.Add(r3.Add(p.acc.lin, r3.Cross(p.acc.ang, s.arm)), s.cor.lin)
		if a != nil {
			for k := b.iv; k < b.iv+b.nv; k++ {
				w = r3.Add(w, r3.Scale(a[k], d.column[k].ang))
				u = r3.Add(u, r3.Scale(a[k], d.column[k].lin))
			}
		}
		if b.node != nil && a != nil {
			for k, x := range a[m.body[b.parent].flex.ia:][:len(s.modes)] {
				w = r3.Add(w, r3.Scale(x, s.modes[k].ang))
				u = r3.Add(u, r3.Scale(x, s.modes[k].lin))
			}
		}
		s.acc = spatial{w, u}
	}
}

// balance gathers in Tau what the bodies need for their accelerations; a as in accelerate.
func (m *Model) balance(d *Data, a []float64) {
	for j := 1; j < len(m.body); j++ {
		b, s := &m.body[j], &d.body[j]
		ha, hl := b.momentum(s, &s.vel)
		fa, fl := b.momentum(s, &s.acc)
		w := s.vel.ang
		s.force.M = r3.Add(fa, r3.Add(r3.Cross(w, ha), r3.Cross(s.vel.lin, hl)))
		s.force.F = r3.Add(fl, r3.Cross(w, hl))
		if b.flex != nil {
			m.bend(d, j, a)
		}
		if d.loaded {
			s.force.M = r3.Sub(s.force.M, d.wrench[j].M)
			s.force.F = r3.Sub(s.force.F, d.wrench[j].F)
		}
		if len(m.springs) > 0 {
			s.force.M = r3.Sub(s.force.M, d.passive[j].M)
			s.force.F = r3.Sub(s.force.F, d.passive[j].F)
		}
	}
	for j := len(m.body) - 1; j > 0; j-- {
		b, s := &m.body[j], &d.body[j]
		for k := b.iv; k < b.iv+b.nv; k++ {
			d.Tau[k] = r3.Dot(d.column[k].ang, s.force.M) + r3.Dot(d.column[k].lin, s.force.F)
		}
		if b.node != nil {
			for k, c := range s.modes {
				d.Tau[m.body[b.parent].flex.ia+k] += r3.Dot(c.ang, s.force.M) + r3.Dot(c.lin, s.force.F)
			}
		}
		if b.parent > 0 {
			p := &d.body[b.parent]
			p.force.M = r3.Add(p.force.M, r3.Add(s.force.M, r3.Cross(s.arm, s.force.F)))
			p.force.F = r3.Add(p.force.F, s.force.F)
		}
	}
}

// losses adds sign times what springs and friction of the joints take from the torques.
func (m *Model) losses(q, v, tau []float64, sign float64) {
	for j := 1; j < len(m.body); j++ {
		b := &m.body[j]
		t := &b.joint
		if t.Damping != 0 {
			for k := b.iv; k < b.iv+b.nv; k++ {
				tau[k] += sign * t.Damping * v[k]
			}
		}
		if t.Coulomb != 0 && v[b.iv] != 0 {
			tau[b.iv] += sign * math.Copysign(t.Coulomb, v[b.iv])
		}
		if t.Stiffness != 0 {
			tau[b.iv] += sign * t.Stiffness * (q[b.iq] - t.Rest)
		}
		if f := b.flex; f != nil {
			for k := range f.n {
				tau[f.ia+k] += sign * (f.k[k]*q[f.iq+k] + f.c[k]*v[f.ia+k])
			}
		}
	}
}
