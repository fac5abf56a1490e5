package lcp

import (
	"math"

	"hilrig/engine/numeric"
)

const (
	// safeEps is the compliance of the contacts in the last stage, as a share of D_ii: a contact that ought to be closed may give way by a
	// hundredth of what its impulse would move it alone.
	safeEps    = 1e-2
	safeSweeps = 50
)

// safe solves the problem with D_ii·(1 + 10⁻²) in place of D_ii. D is then positive definite, for which a solution exists
// whatever b [PT96], also where b asks for the impossible, such as two opposite walls that both push a body away. The
// impulses stay below a hundred times what b asks for. Should the path fail even so, the normal impulses follow from sweeps
// without friction, in which every contact is compliant, and the friction from one sweep of clipping.
func (f *Frictional) safe(res *FrictionResult) {
	n, w := f.n, 2*f.n
	spent := 0
	clear(f.st[:n])
	ok := f.follow(safeEps, 40*n+40, &spent)
	res.Pivots += spent
	p := f.guessImpulses[:w]
	if !ok {
		clear(p)
		for range safeSweeps {
			for i := range n {
				v := f.b[2*i]
				for j := 0; j < w; j += 2 {
					v += f.d[2*i*w+j] * p[j]
				}
				p[2*i] = max(0, p[2*i]-(v+safeEps*f.dg[2*i]*p[2*i])/(f.dg[2*i]*(1+safeEps)))
				f.st[i] = Open
				if p[2*i] > 0 {
					f.st[i] = Stick
				}
			}
		}
		for i := range n {
			v := f.b[2*i+1]
			for j, x := range p {
				v += f.d[(2*i+1)*w+j] * x
			}
			bound := f.mu[i] * p[2*i]
			p[2*i+1] = min(max(-v*f.ig[2*i+1]/(1+safeEps), -bound), bound)
		}
	}
	f.sys.act = f.sys.act[:0]
	for i := range n {
		f.sys.flip[i] = f.st[i]
		if f.st[i] != Open {
			f.sys.act = append(f.sys.act, int32(i))
		} else {
			p[2*i], p[2*i+1] = 0, 0
		}
	}
	f.sys.rank = false
	copy(f.p, p)
	f.velocities()
	r := f.stateResidual()
	if !numeric.IsFinite(r) {
		// numbers so large that they overflow
		clear(f.p[:w])
		clear(f.st[:n])
		r = math.MaxFloat64
	}
	f.bestR = math.Inf(1)
	f.offer(r)
	res.Status, res.Method, res.Residual = Degraded, BySafe, r
}
