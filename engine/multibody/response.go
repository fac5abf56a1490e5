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

// Response writes to a (nv) the acceleration that a unit of torque i adds, the constraints met. It follows Dynamics or Accelerate, at the same position.
func Response(m *Model, d *Data, i int, a []float64) { m.response(d, i, a) }
