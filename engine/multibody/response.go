package multibody

// Response writes to a (nv) the acceleration that a unit of torque i adds, the constraints met. It follows Dynamics, at the same position.
func Response(m *Model, d *Data, i int, a []float64) { m.response(d, i, a) }
