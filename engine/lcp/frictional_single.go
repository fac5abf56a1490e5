package lcp

import "math"

// oneContact solves the problem of a single contact, v = [a b; b2 c]·p + (rn, rt): open, else stick, else slide. ok is false when there is
// no solution, which needs a − μ·|b| ≤ 0 (Painlevé) and a matrix that is not positive definite.
func oneContact(a, b, b2, c, rn, rt, mu float64) (pn, pt float64, st State, ok bool) {
	if rn >= 0 {
		return 0, 0, Open, true
	}
	det := a*c - b*b2
	if det > 1e-13*a*c && mu > 0 {
		pn, pt = (b*rt-c*rn)/det, (b2*rn-a*rt)/det
		if pn >= 0 && math.Abs(pt) <= mu*pn {
			return pn, pt, Stick, true
		}
	}
	first := sliding(rt)
	for _, st := range [2]State{first, SlipPlus + SlipMinus - first} {
		s := st.sense()
		if den := a - s*mu*b; den > 0 {
			pn = -rn / den
			pt = -s * mu * pn // on the cone to the last bit
			if s*(b2*pn+c*pt+rt) >= 0 {
				return pn, pt, st, true
			}
		}
	}
	return 0, 0, Open, false
}

// single solves the problem of one contact in closed form; false when it has no solution, or none that passes for verified.
func (f *Frictional) single(r *FrictionResult) bool {
	d, b, mu := f.d[:4], f.b[:2], f.mu[0]
	pn, pt, st, ok := oneContact(d[0], d[1], d[2], d[3], b[0], b[1], mu)
	r.NoSolution = !ok
	old := f.st[0]
	f.st[0], f.p[0], f.p[1] = st, pn, pt
	f.sys.act = f.sys.act[:1]
	f.sys.act[0] = 0
	f.velocities()
	f.sys.flip[0], f.sys.rank = st, false
	e := f.stateResidual()
	if !(e <= FrictionTol) {
		f.st[0] = old
		return false
	}
	f.offer(e)
	r.Status, r.Method, r.Residual = Verified, ByWarm, e
	if st != old {
		r.Method = ByUpdate
		r.Rounds++
	}
	return true
}
