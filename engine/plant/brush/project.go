package brush

import "hilrig/engine/contact"

// Project is contact.Dynamics: x = M̂⁻¹·w and D = Wᵀ·x for the chosen contacts, with the factors of the last Free.
func (b *Brush) Project(set *contact.Set, chosen []int32, x, d []float64) {
	sin, cos := b.f.sin, b.f.cos
	n := 2 * len(chosen)
	for k, c := range chosen {
		for side := range 2 {
			w := set.RowN(int(c))
			if side == 1 {
				w = set.RowT(int(c))
			}
			w = w[:dof]
			r := effort{
				t: cos*w[0] + sin*w[1], n: cos*w[1] - sin*w[0], p: w[2],
				u: [segments]float64{w[3], w[5], w[7]}, s: [segments]float64{w[4], w[6], w[8]}, h: w[colHolder], a: w[colArm],
			}
			b.solve(&r)
			xi := x[(2*k+side)*dof:][:dof]
			xi[0], xi[1], xi[2] = cos*r.t-sin*r.n, sin*r.t+cos*r.n, r.p
			xi[3], xi[4], xi[5], xi[6], xi[7], xi[8] = r.u[0], r.s[0], r.u[1], r.s[1], r.u[2], r.s[2]
			xi[colHolder], xi[colArm] = r.h, r.a
		}
	}
	// symmetric: the lower half, then mirrored
	for i := range n {
		xi := x[i*dof:][:dof]
		for k, c := range chosen[:i/2+1] {
			wn, wt := set.RowN(int(c))[:dof], set.RowT(int(c))[:dof]
			var sn, st float64
			for j, v := range xi {
				sn += wn[j] * v
				st += wt[j] * v
			}
			d[i*n+2*k], d[2*k*n+i] = sn, sn
			if 2*k+1 <= i {
				d[i*n+2*k+1], d[(2*k+1)*n+i] = st, st
			}
		}
	}
}
