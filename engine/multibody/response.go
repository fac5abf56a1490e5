package multibody

// Accelerate is Dynamics without the bodies: QDD and Lambda from Terms, which a machine in a plane has for less. Valid afterwards: QDD, Lambda,
// Rank, Residual, L, and what Terms says.
func Accelerate(m *Model, d *Data, q, v, tau []float64) Status {
	m.check("Accelerate", q, v, tau)
	Terms(m, d, q, v)
	if st := Factor(m, d); st != OK {
		return st
	}
	m.delassus(d)
	copy(d.QDD, tau)
	m.resolve(d)
	return m.conclude(d)
}

// Answer replaces the torques in a (nv) by the accelerations that they add, the constraints met. It follows Dynamics or Accelerate, at the same position.
func Answer(m *Model, d *Data, a []float64) { m.answer(d, a) }

// Again is Dynamics once more under other torques, at the q, v of Dynamics. Valid afterwards: QDD, Lambda.
func Again(m *Model, d *Data, q, v, tau []float64) Status {
	m.check("Again", q, v, tau)
	copy(d.QDD, tau)
	m.losses(q, v, d.QDD, -1)
	m.resolve(d)
	return m.conclude(d)
}
