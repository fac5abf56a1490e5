package lcp

import (
	"math"

	"hilrig/engine/numeric"
)

const (
	maxSweeps    = 50
	budgetSweeps = 12 // with a budget
)

// sweep visits the contacts one after another and solves the problem of each exactly while the others stand still [JAJ98],
// starting from the impulses at hand; now and then the states it has come to are tried in the equations.
func (f *Frictional) sweep(most int, count *int) {
	n, w, p := f.n, 2*f.n, f.gs[:2*f.n]
	copy(p, f.keep[:w])
	for i := range n {
		p[2*i] = max(p[2*i], 0)
		bound := f.mu[i] * p[2*i]
		p[2*i+1] = min(max(p[2*i+1], -bound), bound)
	}
	for k := 1; k <= most; k++ {
		*count++
		for i := range n {
			rn, rt := f.b[2*i], f.b[2*i+1]
			rowN, rowT := f.d[2*i*w:2*i*w+w], f.d[(2*i+1)*w:(2*i+1)*w+w]
			for j, x := range p {
				rn += rowN[j] * x
				rt += rowT[j] * x
			}
			a, b, b2, c := rowN[2*i], rowN[2*i+1], rowT[2*i], rowT[2*i+1]
			rn -= a*p[2*i] + b*p[2*i+1]
			rt -= b2*p[2*i] + c*p[2*i+1]
			p[2*i], p[2*i+1], f.st[i], _ = oneContact(a, b, b2, c, rn, rt, f.mu[i])
		}
		if k == 5 || k == 12 || k == 25 || k == maxSweeps {
			for i, x := range p {
				if !numeric.Finite(x) {
					return
				}
				f.keep[i] = x
			}
			f.update(polishRounds, new(int))
			if f.bestR <= FrictionTol {
				return
			}
		}
	}
}

// oneContact solves the problem of a single contact, v = [a b; b2 c]·p + (rn, rt): open, else stick, else slide. ok is false when there is no solution, which needs a − μ·|b| ≤ 0 (Painlevé) and a matrix that is not
// positive definite; p_N is then what stops the approach without friction.
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
	first := SlipPlus
	if rt < 0 {
		first = SlipMinus
	}
	for _, st := range [2]State{first, SlipPlus + SlipMinus - first} {
		s := st.sense()
		if den := a - s*mu*b; den > 0 {
			pn = -rn / den
			pt = -s * mu * pn
			if s*(b2*pn+c*pt+rt) >= 0 {
				return pn, pt, st, true
			}
		}
	}
	if a > 0 {
		pn = -rn / a
	}
	pt = 0
	if c > 0 {
		pt = min(max(-(rt+b2*pn)/c, -mu*pn), mu*pn)
	}
	return pn, pt, Stick, false
}

// single solves the problem of one contact in closed form; false when it has no solution, or none that passes for verified.
func (f *Frictional) single(r *FrictionResult) bool {
	d, b, mu := f.d[:4], f.b[:2], f.mu[0]
	pn, pt, st, ok := oneContact(d[0], d[1], d[2], d[3], b[0], b[1], mu)
	r.NoSolution = !ok
	// on the cone to the last bit
	if s := st.sense(); s != 0 {
		pt = -s * mu * pn
	}
	old := f.st[0]
	f.st[0], f.p[0], f.p[1] = st, pn, pt
	f.sys.act = f.sys.act[:1]
	f.sys.act[0] = 0
	f.velocities()
	f.sys.flip[0], f.sys.rank = st, false
	e := f.wrong()
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
