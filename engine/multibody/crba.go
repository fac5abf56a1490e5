package multibody

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// CRBA finds the inertia matrix H(q) with the armatures, from the inertia of all that hangs on each joint [F08] 6.2; velocities of
// different branches have zeros. Valid afterwards: H, and all of Positions.
func CRBA(m *Model, d *Data, q []float64) {
	m.check("CRBA", q, nil, nil)
	for j := 1; j < len(m.body); j++ {
		m.place(d, j, q)
		m.weigh(d, j, q, nil)
	}
	m.composite(d)
	n := m.nv
	for i := range n {
		for k := range i {
			d.H[k*n+i] = d.H[i*n+k]
		}
	}
}

// composite fills the lower triangle of H.
func (m *Model) composite(d *Data) {
	n := m.nv
	for j := 1; j < len(m.body); j++ {
		s := &d.body[j]
		s.mass, s.mcAll, s.ioAll = m.body[j].mass, s.mc, s.io
		if f := m.body[j].flex; f != nil {
			s.flex.begin(f)
		}
	}
	for j := len(m.body) - 1; j > 0; j-- {
		b, s := &m.body[j], &d.body[j]
		for k := b.iv; k < b.iv+b.nv; k++ {
			// force that gives all that hangs on j the motion S_k
			c := &d.column[k]
			fl := r3.Add(r3.Scale(s.mass, c.lin), r3.Cross(c.ang, s.mcAll))
			fa := r3.Add(s.ioAll.vec(c.ang), r3.Cross(s.mcAll, c.lin))
			row := d.H[k*n : k*n+k+1]
			for i := b.iv; i <= k; i++ {
				row[i] = r3.Dot(fa, d.column[i].ang) + r3.Dot(fl, d.column[i].lin)
			}
			row[k] += b.joint.Armature
			m.climb(d, j, fa, fl, row)
		}
		if f := b.flex; f != nil {
			for k := range f.n {
				row, c := d.H[(f.ia+k)*n:(f.ia+k)*n+f.ia+k+1], &s.flex.c1[k]
				copy(row[f.ia:], s.flex.c2[k*f.n:k*f.n+k+1])
				for i := b.iv; i < b.iv+b.nv; i++ {
					row[i] = r3.Dot(c.M, d.column[i].ang) + r3.Dot(c.F, d.column[i].lin)
				}
				m.climb(d, j, c.M, c.F, row)
			}
		}
		if b.node != nil {
			m.compose(d, j)
		}
		if b.parent > 0 {
			p := &d.body[b.parent]
			p.ioAll.addShifted(&s.ioAll, s.mass, s.mcAll, s.arm)
			p.mcAll = r3.Add(p.mcAll, r3.Add(s.mcAll, r3.Scale(s.mass, s.arm)))
			p.mass += s.mass
		}
	}
}

// climb fills the row of H for a force and moment on body j in the velocities of the bodies before it.
func (m *Model) climb(d *Data, j int, fa, fl r3.Vec, row []float64) {
	for at := j; ; {
		b := &m.body[at]
		if b.node != nil {
			for k := range d.body[at].modes {
				c := &d.body[at].modes[k]
				row[m.body[b.parent].flex.ia+k] = r3.Dot(fa, c.ang) + r3.Dot(fl, c.lin)
			}
		}
		if b.parent == 0 {
			return
		}
		fa = r3.Add(fa, r3.Cross(d.body[at].arm, fl))
		at = b.parent
		for i := m.body[at].iv; i < m.body[at].iv+m.body[at].nv; i++ {
			row[i] = r3.Dot(fa, d.column[i].ang) + r3.Dot(fl, d.column[i].lin)
		}
	}
}

// addShifted adds moments about a point, with mass m and first moments mc from there, seen from where that point is at r.
func (s *symmetric) addShifted(io *symmetric, m float64, mc, r r3.Vec) {
	// Σ m(|x+r|²·1 − (x+r)(x+r)ᵀ) = Io + 2(mc·r)·1 − mc rᵀ − r mcᵀ + m(|r|²·1 − r rᵀ)
	e := r3.Vec{X: mc.X + 0.5*m*r.X, Y: mc.Y + 0.5*m*r.Y, Z: mc.Z + 0.5*m*r.Z}
	xx, yy, zz := 2*e.X*r.X, 2*e.Y*r.Y, 2*e.Z*r.Z
	s.xx += io.xx + yy + zz
	s.yy += io.yy + xx + zz
	s.zz += io.zz + xx + yy
	s.xy += io.xy - e.X*r.Y - e.Y*r.X
	s.xz += io.xz - e.X*r.Z - e.Z*r.X
	s.yz += io.yz - e.Y*r.Z - e.Z*r.Y
}

// Factor finds L with H = Lᵀ·L, which has zeros where H has, unlike that of Cholesky [F08] 6.5. Only the lower triangle of H is read.
// Valid afterwards: L, Solve.
func Factor(m *Model, d *Data) Status {
	n := m.nv
	copy(d.L, d.H)
	for k := n - 1; k >= 0; k-- {
		row := d.L[k*n : k*n+k+1]
		if !(row[k] > 0) || math.IsInf(row[k], 0) {
			return NotPositive
		}
		p := math.Sqrt(row[k])
		row[k] = p
		p = 1 / p
		for i := m.dof[k].parent; i >= 0; i = m.dof[i].parent {
			row[i] *= p
		}
		for i := m.dof[k].parent; i >= 0; i = m.dof[i].parent {
			x := row[i]
			to := d.L[i*n : i*n+i+1]
			for l := i; l >= 0; l = m.dof[l].parent {
				to[l] -= x * row[l]
			}
		}
	}
	return OK
}

// Solve replaces b by H⁻¹·b.
func Solve(m *Model, d *Data, b []float64) {
	m.halfSolve(d, b)
	m.restSolve(d, b)
}

// halfSolve replaces b by L⁻ᵀ·b.
func (m *Model) halfSolve(d *Data, b []float64) {
	n := m.nv
	for i := n - 1; i >= 0; i-- {
		row := d.L[i*n : i*n+i+1]
		x := b[i] / row[i]
		b[i] = x
		if x == 0 {
			continue
		}
		for j := m.dof[i].parent; j >= 0; j = m.dof[j].parent {
			b[j] -= x * row[j]
		}
	}
}

// restSolve replaces b by L⁻¹·b.
func (m *Model) restSolve(d *Data, b []float64) {
	n := m.nv
	for i := range n {
		row := d.L[i*n : i*n+i+1]
		x := b[i]
		for j := m.dof[i].parent; j >= 0; j = m.dof[j].parent {
			x -= row[j] * b[j]
		}
		b[i] = x / row[i]
	}
}
