package drivetrain

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/numeric"
)

// fixed is the workspace of Step.
type fixed struct {
	tau, bias, rho   []float64
	slope, left      []float64 // n×n
	w, try, qm       []float64
	residual, zn, dw []float64
	p                []circuit.Power
	lambda           []float64
	keep             []float64 // state at the beginning
}

func newFixed(tr *Train) fixed {
	n, k := tr.n, tr.eq.k
	f := func(n int) []float64 { return make([]float64, n) }
	return fixed{tau: f(n), bias: f(n), rho: f(k), slope: f(n * n), left: f(n * n), w: f(n), try: f(n), qm: f(n), residual: f(n), zn: f(tr.nz), dw: f(n),
		p: make([]circuit.Power, len(tr.Parts)+len(tr.Rows)), lambda: f(k), keep: f(2*n + tr.nz)}
}

const (
	mostTurns = 40    // Newton steps
	wRel      = 1e-9  // tolerance of w
	wAbs      = 1e-12 // rad/s
)

// Step advances x by h (s) from the time t in place and allocates nothing. A state that is not finite, or leads to one, is left alone.
// NotConverged leaves the best speeds found. Circuits that are Audited and the other parts put their mean powers into Powers.
func (tr *Train) Step(t, h float64, x []float64) engine.Status {
	n := tr.n
	f := &tr.fixed
	q, v, z := x[:n], x[n:2*n], x[2*n:]
	if !numeric.AllFinite(x...) {
		return engine.NonFinite
	}
	copy(f.w, v)
	status := tr.evaluate(t, h, q, v, z, f.w)
	if status == engine.NonFinite {
		return status
	}
	cost := math.Inf(1)
	for turn := 0; ; turn++ {
		// Newton: (2M/h − ∂τ/∂w)·w⁺ − B·λ = 2M/h·v + τ − c − (∂τ/∂w)·w,   X·w⁺ = ρ
		for i := range n {
			sum := f.tau[i] - f.bias[i]
			for j := range n {
				m := 2 / h * tr.eq.m[i*n+j]
				f.left[i*n+j] = m - f.slope[i*n+j]
				sum += m*v[j] - f.slope[i*n+j]*f.w[j]
			}
			f.residual[i] = sum
		}
		status = tr.eq.solve(tr.Rows, f.left, f.residual, f.rho, f.w)
		if status == engine.NonFinite {
			return status
		}
		size := 0.0
		small := true
		for i := range n {
			f.dw[i] = tr.eq.rhs[i] - f.w[i]
			size = max(size, math.Abs(f.w[i]), math.Abs(v[i]))
		}
		copy(f.lambda, tr.eq.lambda)
		for _, d := range f.dw {
			small = small && math.Abs(d) <= wRel*size+wAbs
		}
		if small {
			break
		}
		if turn == mostTurns {
			status = engine.NotConverged
			break
		}
		// the whole way, or as much of it as brings the equations nearer
		copy(f.try, f.w)
		for share := 1.0; ; share /= 2 {
			for i := range n {
				f.w[i] = f.try[i] + share*f.dw[i]
			}
			st := tr.evaluate(t, h, q, v, z, f.w)
			next := math.Inf(1)
			if st != engine.NonFinite {
				next = tr.miss(h, v)
			}
			if next < cost || share < 1e-3 || turn == 0 && st != engine.NonFinite {
				if st == engine.NonFinite {
					return st
				}
				status, cost = st, next
				break
			}
		}
	}
	copy(f.keep, x)
	for i := range n {
		q[i] += h * f.w[i]
		v[i] = 2*(f.w[i]+f.dw[i]) - v[i]
	}
	copy(z, f.zn)
	tr.rowPowers(f.w, f.p)
	if tr.looped != nil {
		status = worse(status, tr.looped.Project(q, v))
	}
	if status == engine.NonFinite {
		copy(x, f.keep)
	}
	return status
}

// evaluate takes mass, bias and the forces of all parts at the mean speeds w.
func (tr *Train) evaluate(t, h float64, q, v, z, w []float64) engine.Status {
	f := &tr.fixed
	clear(f.tau)
	clear(f.slope)
	worst := engine.OK
	for k, part := range tr.Parts {
		var st engine.Status
		f.p[k], st = part.Trial(t, h, q, v, w, tr.own(k, z), tr.own(k, f.zn), f.tau, f.slope)
		worst = worse(worst, st)
	}
	for i := range f.qm {
		f.qm[i] = q[i] + h/2*w[i]
	}
	for r, row := range tr.Rows {
		b := tr.eq.b[r*tr.n : (r+1)*tr.n]
		clear(b)
		row.force(w, f.lambda[r] > 0, b)
		row.steepenAt(w, f.lambda[r], tr.n, f.slope)
		f.rho[r] = row.mean(t, h, w, z, tr.eq.x[r*tr.n:(r+1)*tr.n])
	}
	if nr := len(tr.Rows); tr.looped != nil {
		if tr.looped.Closed(f.qm, w, tr.eq.x[nr*tr.n:], f.rho[nr:]) == engine.NonFinite {
			return engine.NonFinite
		}
		clear(f.rho[nr:]) // the mean speeds lie on the loops of the middle
		copy(tr.eq.b[nr*tr.n:], tr.eq.x[nr*tr.n:])
	}
	tr.Mech.Bias(f.qm, w, f.bias)
	tr.Mech.Mass(f.qm, tr.eq.m)
	if worst != engine.NonFinite && !numeric.AllFinite(f.tau...) {
		worst = engine.NonFinite
	}
	return worst
}

// miss is how far the equations are from holding at w (rad/s): the residual of each by its inertia. The forces of the rows are those
// of the last solution.
func (tr *Train) miss(h float64, v []float64) (worst float64) {
	f, n := &tr.fixed, tr.n
	for i := range n {
		sum := f.bias[i] - f.tau[i]
		for j := range n {
			sum += 2 / h * tr.eq.m[i*n+j] * (f.w[j] - v[j])
		}
		for r, l := range f.lambda {
			sum -= tr.eq.b[r*n+i] * l
		}
		worst = max(worst, math.Abs(sum)*h/2/tr.eq.m[i*n+i])
	}
	return worst
}

// Powers are the means of the last step, by part and row in their order.
func (tr *Train) Powers() []circuit.Power { return tr.fixed.p }

// Multipliers are the forces of the rows, of a gear the torque on B, then those of the loops.
func (tr *Train) Multipliers() []float64 { return tr.eq.lambda }

// Run takes n steps of h (s) from t and tells each state, the first before any step. It ends early with NonFinite; the worst status
// of all steps is returned. The audit is that of the means.
func (tr *Train) Run(x []float64, t, h float64, n int, each func(k int, x []float64)) (*circuit.Audit, engine.Status) {
	for _, p := range tr.Parts {
		if c, ok := p.(*circuit.Circuit); ok {
			c.Audited = true
		}
	}
	a := tr.audit(x)
	worst := engine.OK
	for k := range n {
		if each != nil {
			each(k, x)
		}
		st := tr.Step(t+float64(k)*h, h, x)
		worst = worse(worst, st)
		if st == engine.NonFinite {
			break
		}
		for i, p := range tr.fixed.p {
			a.Lines[i].Add(p, h)
		}
	}
	if each != nil {
		each(n, x)
	}
	tr.close(a, x)
	return a, worst
}
