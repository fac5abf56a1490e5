package multibody

import "gonum.org/v1/gonum/spatial/r3"

// elimination is how an evaluation solved for the accelerations, so that Answer and Reaccelerate go on with what it left.
type elimination uint8

const (
	byFactor elimination = iota // H = Lᵀ·L and multipliers: constraints couple the velocities of different branches
	byTree                      // joint by joint from the ends to the ground, O(n)
	byPlane                     // the same with three numbers for six
)

// Accelerate finds QDD and Lambda as Dynamics does, by the shortest way: a tree without constraints is eliminated joint by joint, O(n)
// as ABA;
// with constraints by Terms and the Delassus matrix, for which H is factored once. Valid afterwards: QDD, Lambda, Rank, Residual, with
// constraints what Terms says, and all of Velocities if Bodies are wanted.
func Accelerate(m *Model, d *Data, q, v, tau []float64) Status {
	m.check("Accelerate", q, v, tau)
	if m.loops.n == 0 {
		copy(d.torques, tau)
		return ABA(m, d, q, v, tau)
	}
	Terms(m, d, q, v)
	if st := m.factor(d); st != OK {
		return st
	}
	m.delassus(d)
	copy(d.QDD, tau)
	m.resolve(d)
	return m.conclude(d)
}

// factor is Factor with what is implicit.
func (m *Model) factor(d *Data) Status {
	for i, x := range d.Implicit {
		d.H[i*m.nv+i] += x
	}
	d.method = byFactor
	return Factor(m, d)
}

// Answer replaces the torques in a (nv) by the accelerations that they add, the constraints met. It follows Dynamics or Accelerate, at
// the same position.
func Answer(m *Model, d *Data, a []float64) { m.answer(d, a) }

// Reaccelerate is Dynamics or Accelerate once more under other torques, at their q, v. Valid afterwards: QDD, Lambda.
func Reaccelerate(m *Model, d *Data, q, v, tau []float64) Status {
	m.check("Again", q, v, tau)
	if d.method != byFactor {
		for i, x := range tau {
			d.y[i] = x - d.torques[i]
		}
		copy(d.torques, tau)
		m.answer(d, d.y)
		for i, x := range d.y {
			d.QDD[i] += x
		}
		return finiteStatus(d.QDD)
	}
	copy(d.QDD, tau)
	m.losses(q, v, d.QDD, -1)
	m.resolve(d)
	return m.conclude(d)
}

// yield is Answer with what the elimination of a tree has left.
func (m *Model) yield(d *Data, a []float64) {
	for j := range d.body {
		d.body[j].art.p = Wrench{}
		if e := d.body[j].flex; e != nil {
			clear(e.cp)
		}
	}
	for j := len(m.body) - 1; j > 0; j-- {
		b, s := &m.body[j], &d.body[j]
		t, p := &s.art, &d.body[b.parent].art.p
		if b.node != nil {
			e := d.body[b.parent].flex
			for k, c := range s.modes {
				e.cp[k] += r3.Dot(c.ang, t.p.M) + r3.Dot(c.lin, t.p.F)
			}
			p.push(Wrench{r3.Add(t.p.M, r3.Cross(s.arm, t.p.F)), t.p.F})
			continue
		}
		if f := b.flex; f != nil {
			t.load(s.flex, a[f.ia:f.ia+f.n])
		}
		switch b.kind {
		case Fixed:
		case Revolute:
			t.u = a[b.iv] - r3.Dot(d.column[b.iv].ang, t.p.M)
			t.p.push(Wrench{r3.Scale(t.u*t.d, t.ua), r3.Scale(t.u*t.d, t.ul)})
		case Prismatic:
			t.u = a[b.iv] - r3.Dot(d.column[b.iv].lin, t.p.F)
			t.p.push(Wrench{r3.Scale(t.u*t.d, t.ua), r3.Scale(t.u*t.d, t.ul)})
		default:
			t.multi.load(&t.p, d.column[b.iv:b.iv+b.nv], a[b.iv:b.iv+b.nv])
		}
		if b.parent > 0 {
			p.push(Wrench{r3.Add(t.p.M, r3.Cross(s.arm, t.p.F)), t.p.F})
		}
	}
	m.expand(d, a, r3.Vec{}, false)
}

// load is what torques on a joint with several velocities do to the body before it, after joint.
func (e *multiData) load(p *Wrench, s []spatial, tau []float64) {
	for k := range s {
		e.u[k] = tau[k] - r3.Dot(s[k].ang, p.M) - r3.Dot(s[k].lin, p.F)
		for i := range k {
			e.u[k] -= e.l[k][i] * e.u[i]
		}
		e.u[k] /= e.l[k][k]
	}
	for k := range s {
		p.push(Wrench{r3.Scale(e.u[k], e.ua[k]), r3.Scale(e.u[k], e.ul[k])})
	}
}

// load is what forces on the modes of a flexible body do to it, after condense.
func (t *articulated) load(e *flexData, tau []float64) {
	n := len(tau)
	for k := range n {
		x := tau[k] - e.cp[k]
		for i := range k {
			x -= e.c2[k*n+i] * e.u[i]
		}
		e.u[k] = x / e.c2[k*n+k]
	}
	for k := range n {
		t.p.push(Wrench{r3.Scale(e.u[k], e.c1[k].M), r3.Scale(e.u[k], e.c1[k].F)})
	}
}
