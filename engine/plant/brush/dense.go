package brush

// Mass is M, dense (kg, kg·m, kg·m²).
func (b *Brush) Mass(_ float64, q, m []float64) {
	clear(m[:dof*dof])
	at := func(i, j int) *float64 { return &m[i*dof+j] }
	*at(0, 0), *at(1, 1), *at(2, 2) = b.m0, b.m0, b.j0
	*at(colHolder, colHolder), *at(colArm, colArm) = b.jH, b.jA
	var u [dof]float64
	var y state
	b.unpack(q, u[:], &y)
	path := b.path()
	for i := range segments {
		// J_i, two rows
		var jx, jy [dof]float64
		jx[0], jy[1] = 1, 1
		jx[2] = -y.sin*y.xi[i] - y.cos*y.eta[i]
		jy[2] = y.cos*y.xi[i] - y.sin*y.eta[i]
		for j := range segments {
			jx[colU(j)], jy[colU(j)] = -y.sin*path[i][j], y.cos*path[i][j]
			jx[colS(j)], jy[colS(j)] = y.cos*path[i][j], y.sin*path[i][j]
		}
		for r := range dof {
			for c := range dof {
				*at(r, c) += b.ms * (jx[r]*jx[c] + jy[r]*jy[c])
			}
		}
	}
}

// Force is f(q, u): weight, joints, holder, arm, and the terms quadratic in the velocities.
func (b *Brush) Force(_ float64, q, u, f []float64) {
	var y state
	b.unpack(q, u, &y)
	var r effort
	b.forces(&y, 0, &r)
	f[0], f[1], f[2] = y.cos*r.t-y.sin*r.n, y.sin*r.t+y.cos*r.n, r.p
	for i := range segments {
		f[colU(i)], f[colS(i)] = r.u[i], r.s[i]
	}
	f[colHolder], f[colArm] = r.h, r.a
}

// Linear is contact.Stiff: the springs and dampers of joints, holder and arm.
func (b *Brush) Linear(k, c []float64) {
	clear(k[:dof*dof])
	clear(c[:dof*dof])
	for i := range segments {
		for j := range segments {
			k[colU(i)*dof+colU(j)], c[colU(i)*dof+colU(j)] = b.kU[i][j], b.cU[i][j]
			k[colS(i)*dof+colS(j)], c[colS(i)*dof+colS(j)] = b.kS[i][j], b.cS[i][j]
		}
	}
	k[colHolder*dof+colHolder], c[colHolder*dof+colHolder] = b.kH, b.cH
	k[colArm*dof+colArm], c[colArm*dof+colArm] = b.kA, b.cA
}
