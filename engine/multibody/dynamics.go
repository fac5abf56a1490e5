package multibody

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// Dynamics is forward dynamics with the constraints: QDD is dv/dt and Lambda the multipliers of
//
//	H·dv/dt = τ − h + Jacᵀ·λ,   Jac·dv/dt = −Bias − 2·Alpha·dg/dt − Beta²·g,
//
// by the Delassus matrix Jac·H⁻¹·Jacᵀ. Where Jac has not full rank the multipliers are those of least norm: the acceleration is
// the only one if the equations agree, and meets them by least squares if they do not. The status is Singular where fewer than
// FullRank equations are independent. Valid afterwards: QDD, Lambda, H, L, Jac, G, GRate, Rank and all of
// Velocities.
func Dynamics(m *Model, d *Data, q, v, tau []float64) Status {
	m.check("Dynamics", q, v, tau)
	if st := m.prepare(d, q, v); st != OK {
		return st
	}
	m.delassus(d)
	copy(d.QDD, tau)
	m.losses(q, v, d.QDD, -1)
	m.resolve(d)
	return m.conclude(d)
}

// resolve finds QDD and Lambda for the torques in QDD, with what prepare and delassus left.
func (m *Model) resolve(d *Data) {
	for i := range d.QDD {
		d.y[i] = d.QDD[i] - d.Tau[i]
	}
	m.halfSolve(d, d.y) // what the torques alone would do: y = L⁻ᵀ(τ − h)
	if m.loops.n > 0 {
		n := m.nv
		for r := range d.Lambda {
			x := -d.Bias[r] - 2*d.Alpha*d.GRate[r] - d.Beta*d.Beta*d.G[r]
			for i, w := range d.w[r*n : r*n+n] {
				x -= w * d.y[i]
			}
			d.Lambda[r] = x
		}
		d.gram.solve(d.Lambda)
		m.addMultipliers(d, d.Lambda, d.y)
	}
	copy(d.QDD, d.y)
	m.restSolve(d, d.QDD)
	d.crossing.share(d)
}

// answer replaces torques by the accelerations that they add.
func (m *Model) answer(d *Data, a []float64) {
	switch d.method {
	case byTree:
		m.yield(d, a)
		return
	case byPlane:
		m.plane.yield(d, a)
		return
	}
	n := m.nv
	m.halfSolve(d, a)
	if m.loops.n > 0 {
		for r := range d.right {
			x := 0.0
			for k, w := range d.w[r*n : r*n+n] {
				x -= w * a[k]
			}
			d.right[r] = x
		}
		d.gram.solve(d.right)
		m.addMultipliers(d, d.right, a)
	}
	m.restSolve(d, a)
}

// conclude is the status of an evaluation.
func (m *Model) conclude(d *Data) Status {
	if finiteStatus(d.QDD) != OK {
		return NonFinite
	}
	if m.loops.n > 0 && (d.Rank < d.FullRank || d.crossing.Active()) {
		return Singular
	}
	return OK
}

// prepare finds velocities, bias torques (Tau), H, its factor, and the constraints.
func (m *Model) prepare(d *Data, q, v []float64) Status {
	m.assess(d, q, v)
	if st := m.factor(d); st != OK {
		return st
	}
	d.crossing.prepare(d)
	m.constrain(d, q, v, true)
	d.crossing.replace(d, q, v)
	return OK
}

// assess finds velocities, bias torques (Tau) and H.
func (m *Model) assess(d *Data, q, v []float64) {
	for j := 1; j < len(m.body); j++ {
		m.place(d, j, q)
		m.move(d, j, v)
		m.weigh(d, j, q, v)
	}
	if d.Springless {
		clear(d.passive)
	} else if len(m.springs) > 0 {
		m.pull(d)
	}
	m.accelerate(d, nil)
	m.balance(d, nil)
	m.composite(d)
}

// delassus factors Jac·H⁻¹·Jacᵀ = WᵀW.
func (m *Model) delassus(d *Data) {
	n, k := m.nv, m.loops.n
	if k == 0 {
		return
	}
	copy(d.w, d.Jac)
	for r := range k {
		w := d.w[r*n : r*n+n]
		m.halfSolve(d, w)
		for s := range r + 1 {
			x := 0.0
			for i, y := range d.w[s*n : s*n+n] {
				x += w[i] * y
			}
			d.gram.a[r*k+s] = x
		}
	}
	d.gram.maxRank = d.FullRank
	d.gram.factor()
	d.Rank = d.gram.rank
	d.crossing.split(d)
}

// addMultipliers adds W·λ to y = L⁻ᵀ·torques.
func (m *Model) addMultipliers(d *Data, lambda, y []float64) {
	n := m.nv
	for r, x := range lambda {
		for i, w := range d.w[r*n : r*n+n] {
			y[i] += x * w
		}
	}
}

// CutForce is what cut c (in the order of the specification) does to the body of its frame B: force F (N) and moment M (N·m) about the
// origin of B, world axes; its opposite acts on A. Valid after Dynamics.
func (m *Model) CutForce(d *Data, k int) (moment, force r3.Vec) {
	c := &m.loops.cuts[k]
	row := c.row
	a, b := &d.body[c.a], &d.body[c.b]
	if c.length > 0 {
		gap := r3.Sub(r3.Add(b.pos, turn(&b.rot, c.pb)), r3.Add(a.pos, turn(&a.rot, c.pa)))
		return r3.Vec{}, r3.Scale(d.Lambda[row]/c.length, gap)
	}
	for _, s := range c.slides {
		force = r3.Add(force, r3.Scale(d.Lambda[row], turn(&a.rot, s)))
		row++
	}
	for i := range c.aligned {
		t := r3.Cross(turn(&b.rot, c.aligned[i][1]), turn(&a.rot, c.aligned[i][0]))
		moment = r3.Add(moment, r3.Scale(d.Lambda[row], t))
		row++
	}
	return moment, force
}

// Loads finds the wrench that each joint of the tree carries, from the parent to body j about the origin of j, world axes; Load and
// NormalLoad read them. It follows Dynamics, whose QDD and Lambda it takes, at the same q, v; external wrenches must be as they were.
// What relations do to the bodies is not known and left out.
func Loads(m *Model, d *Data, v []float64) {
	m.accelerate(d, d.QDD)
	loaded := d.loaded
	for k := range m.loops.cuts {
		c := &m.loops.cuts[k]
		t, f := m.CutForce(d, k)
		b, a := &d.body[c.b], &d.body[c.a]
		arm := turn(&b.rot, c.pb)
		p := r3.Add(b.pos, arm)
		d.joined[c.b].push(Wrench{r3.Add(t, r3.Cross(arm, f)), f})
		d.joined[c.a].push(Wrench{r3.Scale(-1, r3.Add(t, r3.Cross(r3.Sub(p, a.pos), f))), r3.Scale(-1, f)})
	}
	copy(d.y, d.Tau) // Tau holds the bias torques
	d.wrench, d.joined = d.joined, d.wrench
	if loaded {
		for j := range d.wrench {
			d.wrench[j].push(d.joined[j])
		}
	}
	d.loaded = true
	m.balance(d, d.QDD)
	d.wrench, d.joined = d.joined, d.wrench
	clear(d.joined)
	d.loaded = loaded
	copy(d.Tau, d.y)
}

func (w *Wrench) push(x Wrench) {
	w.M, w.F = r3.Add(w.M, x.M), r3.Add(w.F, x.F)
}

// Load is the wrench that the joint of body j carries, after Loads.
func (d *Data) Load(j int) Wrench { return d.body[j].force }

// NormalLoad is the force (N) that presses the surfaces of the joint of body j on each other, after Loads: what is carried across the
// directions in which it moves. Of revolute joints it is the whole force on the bearing.
func (m *Model) NormalLoad(d *Data, j int) float64 { return math.Sqrt(r3.Norm2(m.NormalForce(d, j))) }

// NormalForce is that force, world axes.
func (m *Model) NormalForce(d *Data, j int) r3.Vec {
	b, f := &m.body[j], d.body[j].force.F
	switch b.kind {
	case Prismatic:
		a := d.column[b.iv].lin
		f = r3.Sub(f, r3.Scale(r3.Dot(f, a), a))
	case Free:
		return r3.Vec{}
	}
	return f
}

// LargestLoad is the largest force (N) that a joint of the tree or a cut carries, after Loads: rounding of all of them is a part of it.
func (m *Model) LargestLoad(d *Data) (size float64) {
	for j := 1; j < len(m.body); j++ {
		size = math.Max(size, r3.Norm2(d.body[j].force.F))
	}
	for k := range m.loops.cuts {
		_, f := m.CutForce(d, k)
		size = math.Max(size, r3.Norm2(f))
	}
	return math.Sqrt(size)
}
