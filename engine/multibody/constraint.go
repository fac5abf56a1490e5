package multibody

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// LoopData is about the constraints: values, multipliers, and what the next evaluation takes.
type LoopData struct {
	G      []float64 // nc     g(q, t): m, rad
	GRate  []float64 // nc     dg/dt
	Lambda []float64 // nc     multipliers: H·dv/dt = τ − h + Jacᵀ·λ
	Jac    []float64 // nc×nv  ∂g/∂q, rows first
	Bias   []float64 // nc     d²g/dt² less Jac·dv/dt
	Rank   int       // of Jac, where it was last factored

	// FullRank is the rank that Jac has but in singular positions: NC, less the redundant equations that Assemble finds.
	FullRank int

	// Alpha and Beta (1/s) are Baumgarte's: d²g/dt² + 2·Alpha·dg/dt + Beta²·g = 0 for the equations of motion; 0 by default, as
	// Project keeps the equations without changing the motion.
	Alpha, Beta float64

	drive    []Motion
	rate     []float64 // nc     explicit part of dg/dt
	crossing *Crossing // nil: none

	w     []float64 // nc×nv  rows L⁻ᵀ·Jacᵀ
	right []float64 // nc
	y     []float64 // nv
	gram  gram
}

// Motion is what a drive prescribes.
type Motion struct{ X, V, A float64 } // rad or m, 1/s, 1/s²

// Drive sets the motion of drive k = 0 … of the specification for the evaluations that follow.
func (d *Data) Drive(k int, x Motion) { d.drive[k] = x }

func newLoopData(m *Model) LoopData {
	n, k := m.nv, m.loops.n
	return LoopData{
		G: make([]float64, k), GRate: make([]float64, k), Lambda: make([]float64, k), Jac: make([]float64, k*n), Bias: make([]float64, k),
		drive: make([]Motion, len(m.loops.drives)), rate: make([]float64, k), w: make([]float64, k*n), right: make([]float64, k),
		y: make([]float64, n), gram: newGram(m.loops.group), FullRank: k,
	}
}

// constrain evaluates the constraints; Velocities and the accelerations for dv/dt = 0 must be valid. With motion false only G, Jac
// and rate are wanted, and only Positions need be valid.
func (m *Model) constrain(d *Data, q, v []float64, motion bool) {
	n, l := m.nv, &m.loops
	for i := range l.cuts {
		m.evalCut(d, &l.cuts[i], motion)
	}
	m.constrainJoints(d, q)
	for i := range l.relations {
		r := &l.relations[i]
		e := r.row + r.n
		r.relater.Relate(m, d, q, v, Equations{G: d.G[r.row:e], Rate: d.rate[r.row:e], Bias: d.Bias[r.row:e], Jac: d.Jac[r.row*n : e*n]})
	}
	if motion {
		m.rates(d, v)
	}
}

// constrainJoints evaluates couplings and drives.
func (m *Model) constrainJoints(d *Data, q []float64) {
	n, l := m.nv, &m.loops
	for i := range l.couplings {
		c := &l.couplings[i]
		row := d.Jac[c.row*n : (c.row+1)*n]
		g := -c.offset
		for _, t := range c.terms {
			row[t.v] = 0
		}
		for _, t := range c.terms {
			g += t.factor * q[t.q]
			row[t.v] += t.factor
		}
		d.G[c.row] = g
	}
	for i := range l.drives {
		c, x := &l.drives[i], d.drive[i]
		d.G[c.row] = q[c.terms[0].q] - x.X
		d.Jac[c.row*n+c.terms[0].v] = 1
		d.rate[c.row], d.Bias[c.row] = -x.V, -x.A
	}
}

// rates fills GRate.
func (m *Model) rates(d *Data, v []float64) {
	n := m.nv
	for r := range d.GRate {
		s := d.rate[r]
		for i, x := range d.Jac[r*n : r*n+n] {
			s += x * v[i]
		}
		d.GRate[r] = s
	}
}

// evalCut evaluates a cut joint.
func (m *Model) evalCut(d *Data, c *cut, motion bool) {
	n := m.nv
	a, b := &d.body[c.a], &d.body[c.b]
	da, db := turn(&a.rot, c.pa), turn(&b.rot, c.pb)
	p := r3.Add(b.pos, db)
	gap := r3.Sub(p, r3.Add(a.pos, da))
	row := c.row
	if c.length > 0 {
		k := r3.Scale(1/c.length, gap)
		d.G[row] = 0.5 * (r3.Dot(k, gap) - c.length)
		m.wrenchRow(d, c, k, r3.Vec{}, p, d.Jac[row*n:row*n+n])
		if motion {
			u := r3.Sub(velocityAt(b, db), velocityAt(a, da))
			d.Bias[row] = r3.Dot(k, r3.Sub(accelerationAt(b, db), accelerationAt(a, da))) + r3.Dot(u, u)/c.length
		}
		return
	}
	// motion of B's origin as seen from A
	var rel r3.Vec
	if motion && len(c.slides) > 0 {
		at := r3.Sub(p, a.pos) // the point of A that coincides with it
		u := r3.Sub(velocityAt(b, db), velocityAt(a, at))
		rel = r3.Sub(r3.Sub(accelerationAt(b, db), accelerationAt(a, at)), r3.Scale(2, r3.Cross(a.vel.ang, u)))
	}
	for _, s := range c.slides {
		k := turn(&a.rot, s)
		d.G[row] = r3.Dot(k, gap)
		m.wrenchRow(d, c, k, r3.Vec{}, p, d.Jac[row*n:row*n+n])
		if motion {
			d.Bias[row] = r3.Dot(k, rel)
		}
		row++
	}
	for i := range c.aligned {
		u, w := turn(&a.rot, c.aligned[i][0]), turn(&b.rot, c.aligned[i][1])
		t := r3.Cross(w, u)
		d.G[row] = r3.Dot(u, w)
		m.wrenchRow(d, c, r3.Vec{}, t, p, d.Jac[row*n:row*n+n])
		if motion {
			wa, wb := a.vel.ang, b.vel.ang
			dt := r3.Add(r3.Cross(r3.Cross(wb, w), u), r3.Cross(w, r3.Cross(wa, u)))
			d.Bias[row] = r3.Dot(t, r3.Sub(b.acc.ang, a.acc.ang)) + r3.Dot(dt, r3.Sub(wb, wa))
		}
		row++
	}
}

// wrenchRow is the power of a force f at p and a moment t, acting on B and back on A, for a unit of each velocity.
func (m *Model) wrenchRow(d *Data, c *cut, f, t, p r3.Vec, row []float64) {
	if m.modal {
		clear(row) // two nodes may share modes
	}
	for j, k := c.a, c.b; j != k; {
		// bodies that move both have no part
		at, sign := k, 1.0
		if j > k {
			at, sign = j, -1
		}
		b, o := &m.body[at], &d.body[at]
		moment := r3.Add(t, r3.Cross(r3.Sub(p, o.pos), f))
		for i := b.iv; i < b.iv+b.nv; i++ {
			s := &d.column[i]
			row[i] = sign * (r3.Dot(f, s.lin) + r3.Dot(s.ang, moment))
		}
		for l := range o.modes {
			i, s := m.body[b.parent].flex.ia+l, &o.modes[l]
			row[i] += sign * (r3.Dot(f, s.lin) + r3.Dot(s.ang, moment))
		}
		if sign > 0 {
			k = b.parent
		} else {
			j = b.parent
		}
	}
}

// velocityAt and accelerationAt are those of the point of a body at r from its origin; accelerations less gravity.
func velocityAt(s *bodyData, r r3.Vec) r3.Vec { return r3.Add(s.vel.lin, r3.Cross(s.vel.ang, r)) }

func accelerationAt(s *bodyData, r r3.Vec) r3.Vec {
	w := s.vel.ang
	u := r3.Add(s.acc.lin, r3.Cross(s.acc.ang, r))
	return r3.Add(u, r3.Cross(w, velocityAt(s, r)))
}

// Residual is the largest |g| (m, rad) and |dg/dt| of the last evaluation.
func (d *Data) Residual() (g, rate float64) {
	for i := range d.G {
		g, rate = math.Max(g, math.Abs(d.G[i])), math.Max(rate, math.Abs(d.GRate[i]))
	}
	return g, rate
}
