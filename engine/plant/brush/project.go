package brush

import "hilrig/engine/contact"

// Project is contact.Dynamics: x = M̂⁻¹·w and D = Wᵀ·x for the chosen contacts, with the factors of the last Free. Rows of contacts
// have three elements for the main body and two more at most, which is what the sums run over.
func (b *Brush) Project(set *contact.Set, chosen []int32, x, d []float64) {
	for k, c := range chosen {
		seg := b.carrier(set, c)
		b.solveSegment(set.RowN(int(c)), x[2*k*dof:], seg)
		b.solveSegment(set.RowT(int(c)), x[(2*k+1)*dof:], seg)
	}
	n := 2 * len(chosen)
	if !b.star {
		dense(set, chosen, x, d)
		return
	}
	// symmetric: the half up to the diagonal, then mirrored
	for k, c := range chosen {
		wn, wt := set.RowN(int(c))[:dof:dof], set.RowT(int(c))[:dof:dof]
		c1, c2 := colHolder, colArm
		if seg := b.carrier(set, c); seg >= 0 {
			c1, c2 = colU(seg), colS(seg)
		}
		n0, n1, n2, n3, n4 := wn[0], wn[1], wn[2], wn[c1], wn[c2]
		t0, t1, t2, t3, t4 := wt[0], wt[1], wt[2], wt[c1], wt[c2]
		dn, dt := d[2*k*n:][:n], d[(2*k+1)*n:][:n]
		for j := range 2*k + 2 {
			xj := x[j*dof:][:dof:dof]
			x0, x1, x2, x3, x4 := xj[0], xj[1], xj[2], xj[c1], xj[c2]
			sn := n0*x0 + n1*x1 + n2*x2 + n3*x3 + n4*x4
			st := t0*x0 + t1*x1 + t2*x2 + t3*x3 + t4*x4
			dn[j], dt[j] = sn, st
			d[j*n+2*k], d[j*n+2*k+1] = sn, st
		}
	}
}

// carrier is the segment that contact c is on, −1 when it is none.
func (b *Brush) carrier(set *contact.Set, c int32) int {
	switch id := set.ID[c]; {
	case id < idHolder:
		return int(b.point[id-1].segment)
	case id >= idCorner:
		return int(set.Feature[c]) / int(b.p.Face.Vertices)
	}
	return -1
}

// solveSegment is x = M̂⁻¹·w for a row whose only joints are those of segment seg.
func (b *Brush) solveSegment(w, x []float64, seg int) {
	f := &b.f
	w, x = w[:dof:dof], x[:dof:dof]
	t, n, p := f.cos*w[0]+f.sin*w[1], f.cos*w[1]-f.sin*w[0], w[2]
	var u, s [segments]float64
	switch {
	case seg < 0:
	case b.star:
		wu, ws := w[colU(seg)], w[colS(seg)]
		t -= f.accS[seg] * ws
		n -= f.accU[seg] * wu
		p -= f.gu[seg]*wu + f.gs[seg]*ws
		iu, is := &f.invU[seg], &f.invS[seg]
		u = [segments]float64{iu[0] * wu, iu[1] * wu, iu[2] * wu}
		s = [segments]float64{is[0] * ws, is[1] * ws, is[2] * ws}
	default:
		wu, ws := [segments]float64{w[3], w[5], w[7]}, [segments]float64{w[4], w[6], w[8]}
		t -= dot(&f.accS, &ws)
		n -= dot(&f.accU, &wu)
		p -= dot(&f.gu, &wu) + dot(&f.gs, &ws)
		u, s = times(&f.invU, &wu), times(&f.invS, &ws)
	}
	t, n, p = f.schur(t, n, p)
	x[0], x[1], x[2] = f.cos*t-f.sin*n, f.sin*t+f.cos*n, p
	x[3], x[4] = u[0]-f.accU[0]*n-f.gu[0]*p, s[0]-f.accS[0]*t-f.gs[0]*p
	x[5], x[6] = u[1]-f.accU[1]*n-f.gu[1]*p, s[1]-f.accS[1]*t-f.gs[1]*p
	x[7], x[8] = u[2]-f.accU[2]*n-f.gu[2]*p, s[2]-f.accS[2]*t-f.gs[2]*p
	x[colHolder], x[colArm] = f.invH*w[colHolder], f.invA*w[colArm]
}

// dense fills D without knowing where the rows have zeros.
func dense(set *contact.Set, chosen []int32, x, d []float64) {
	n := 2 * len(chosen)
	for j := range n {
		xj := x[j*dof:][:dof]
		for k, c := range chosen {
			wn, wt := set.RowN(int(c))[:dof], set.RowT(int(c))[:dof]
			var sn, st float64
			for l, v := range xj {
				sn += wn[l] * v
				st += wt[l] * v
			}
			d[j*n+2*k], d[j*n+2*k+1] = sn, st
		}
	}
}
