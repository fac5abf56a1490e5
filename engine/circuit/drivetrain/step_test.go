package drivetrain

import (
	"math"
	"slices"

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

	even       []bool    // parts whose forces are affine in w
	some       bool      // there are such
	origin     []float64 // w at which they were taken
	base, ramp []float64 // their forces there, n; and slope, n×n
	last, goal []float64 // Newton: dw of the turn before, and where it led
	past       past
}

// affine is a part whose forces and states may be straight lines in the mean speeds.
type affine interface {
	Affine() bool
	Shift(w, dw, zn []float64) (circuit.Power, bool)
}

// past is what the steps before tell of the acceleration of the next one.
type past struct {
	known int       // steps
	h     float64   // s  of each
	v     []float64 // at the end of the last one
	a     [3][]float64
}

// guess writes the mean speeds that the accelerations of the steps before lead to; v where there are none.
func (p *past) guess(h float64, v, w []float64) {
	if h != p.h || !slices.Equal(v, p.v) {
		p.known = 0
	}
	for i, x := range v {
		a := 0.0
		switch p.known {
		case 0:
		case 1:
			a = p.a[0][i]
		case 2:
			a = 2*p.a[0][i] - p.a[1][i]
		default:
			a = 3*(p.a[0][i]-p.a[1][i]) + p.a[2][i]
		}
		w[i] = x + h/2*a
	}
}

// note takes a step of h from the speeds v0 to v.
func (p *past) note(h float64, v0, v []float64) {
	p.a[0], p.a[1], p.a[2] = p.a[2], p.a[0], p.a[1]
	for i, x := range v {
		p.a[0][i] = (x - v0[i]) / h
	}
	copy(p.v, v)
	p.known, p.h = min(3, p.known+1), h
}

func newFixed(tr *Train) fixed {
	n, k := tr.n, tr.eq.k
	f := func(n int) []float64 { return make([]float64, n) }
	fx := fixed{tau: f(n), bias: f(n), rho: f(k), slope: f(n * n), left: f(n * n), w: f(n), try: f(n), qm: f(n), residual: f(n),
		zn: f(tr.nz), dw: f(n),
		p: make([]circuit.Power, len(tr.Parts)+len(tr.Rows)), lambda: f(k), keep: f(2*n + tr.nz),
		even: make([]bool, len(tr.Parts)), origin: f(n), base: f(n), ramp: f(n * n), last: f(n), goal: f(n),
		past: past{v: f(n), a: [3][]float64{f(n), f(n), f(n)}}}
	for i, part := range tr.Parts {
		a, ok := part.(affine)
		fx.even[i] = ok && a.Affine()
		fx.some = fx.some || fx.even[i]
	}
	return fx
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
	f.past.guess(h, v, f.w)
	status := tr.evaluate(t, h, q, v, z, f.w, true)
	if status == engine.NonFinite {
		return status
	}
	cost := math.Inf(1)
	held, before := false, 0.0
	for turn := 0; ; turn++ {
		if held {
			tr.correct()
		} else if st := tr.newton(h, v); st != engine.OK {
			if status = worse(status, st); st == engine.NonFinite {
				return st
			}
		}
		size, way := 0.0, 0.0
		small := true
		for i, d := range f.dw {
			size = max(size, math.Abs(f.w[i]), math.Abs(v[i]))
			way = max(way, math.Abs(d))
		}
		for _, d := range f.dw {
			small = small && math.Abs(d) <= wRel*size+wAbs
		}
		if small {
			break
		}
		// the factors of a turn serve the next ones as long as these come nearer fast
		held = len(tr.Rows) == 0 && (turn == 0 || way < 0.2*before)
		before = way
		if turn == mostTurns {
			status = engine.NotConverged
			break
		}
		f.hasten(turn, n, tr.eq.m)
		// the whole way, or as much of it as brings the equations nearer
		copy(f.try, f.w)
		for share := 1.0; ; share /= 2 {
			for i := range n {
				f.w[i] = f.try[i] + share*f.dw[i]
			}
			st := tr.evaluate(t, h, q, v, z, f.w, false)
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
	if f.some && !slices.Equal(f.w, f.origin) {
		if st := tr.settle(t, h, q, v, z); st == engine.NonFinite {
			return st
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
		f.past.known = 0
	} else {
		f.past.note(h, f.keep[n:2*n], v)
	}
	return status
}

// newton finds dw and the forces of the rows by (2M/h − ∂τ/∂w)·w⁺ − B·λ = 2M/h·v + τ − c − (∂τ/∂w)·w,   X·w⁺ = ρ.
func (tr *Train) newton(h float64, v []float64) engine.Status {
	f, n := &tr.fixed, tr.n
	for i := range n {
		sum := f.tau[i] - f.bias[i]
		for j := range n {
			m := 2 / h * tr.eq.m[i*n+j]
			f.left[i*n+j] = m - f.slope[i*n+j]
			sum += m*v[j] - f.slope[i*n+j]*f.w[j]
		}
		f.residual[i] = sum
	}
	status := tr.eq.solve(tr.Rows, f.left, f.residual, f.rho, f.w)
	for i := range n {
		f.dw[i] = tr.eq.rhs[i] - f.w[i]
	}
	copy(f.lambda, tr.eq.lambda)
	return status
}

// correct is newton with the factors of a turn before, for what miss has left in residual. There are no rows but those of loops.
func (tr *Train) correct() {
	f, e, n := &tr.fixed, &tr.eq, tr.n
	for i, r := range f.residual {
		e.rhs[i] = -r
	}
	for r, rho := range f.rho {
		for i, x := range e.x[r*n : (r+1)*n] {
			rho -= x * f.w[i]
		}
		e.rhs[n+r] = rho - e.soft*f.lambda[r]
	}
	e.lu.Solve(e.rhs)
	copy(f.dw, e.rhs)
	for r := range f.lambda {
		f.lambda[r] += e.rhs[n+r]
	}
	copy(e.lambda, f.lambda)
}

// hasten lengthens or shortens dw by what the turn before says of how such steps miss: the derivatives of inertia and bias are not in
// Newton's matrix. It is Aitken's step in several coordinates [A65], in the measure of their inertia m.
func (f *fixed) hasten(turn, n int, m []float64) {
	up, down := 0.0, 0.0
	for i, d := range f.dw {
		c := d - f.last[i]
		up += m[i*n+i] * d * c
		down += m[i*n+i] * c * c
	}
	share := 0.0
	if turn > 0 && math.Abs(up) < down/2 {
		share = up / down
	}
	for i, d := range f.dw {
		goal := f.w[i] + d
		f.dw[i] -= share * (goal - f.goal[i])
		f.last[i], f.goal[i] = d, goal
	}
}

// settle takes the states and powers of the affine parts at w.
func (tr *Train) settle(t, h float64, q, v, z []float64) engine.Status {
	f := &tr.fixed
	worst := engine.OK
	for i, w := range f.w {
		f.origin[i] = w - f.origin[i]
	}
	for k, part := range tr.Parts {
		if f.even[k] {
			if p, ok := part.(affine).Shift(f.w, f.origin, tr.own(k, f.zn)); ok {
				f.p[k] = p
				continue
			}
			var st engine.Status
			f.p[k], st = part.Trial(t, h, q, v, f.w, tr.own(k, z), tr.own(k, f.zn), f.base, f.ramp)
			worst = worse(worst, st)
		}
	}
	return worst
}

// evaluate takes mass, bias and the forces of all parts at the mean speeds w; those of the affine ones from a first evaluation.
func (tr *Train) evaluate(t, h float64, q, v, z, w []float64, first bool) engine.Status {
	f := &tr.fixed
	worst := engine.OK
	if first && f.some {
		clear(f.base)
		clear(f.ramp)
		copy(f.origin, w)
		for k, part := range tr.Parts {
			if f.even[k] {
				var st engine.Status
				f.p[k], st = part.Trial(t, h, q, v, w, tr.own(k, z), tr.own(k, f.zn), f.base, f.ramp)
				worst = worse(worst, st)
			}
		}
	}
	copy(f.tau, f.base)
	copy(f.slope, f.ramp)
	if f.some && !first {
		for i := range f.tau {
			for k, x := range f.ramp[i*tr.n : (i+1)*tr.n] {
				f.tau[i] += x * (w[k] - f.origin[k])
			}
		}
	}
	for k, part := range tr.Parts {
		if f.even[k] {
			continue
		}
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

// miss is how far the equations are from holding at w (rad/s): the residual of each, which it leaves in residual, by its inertia. The
// forces of the rows are those of the last solution.
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
		f.residual[i] = sum
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
