package lcp

import (
	"math"

	"hilrig/engine/numeric"
)

// pathEps is added to the diagonal of the scaled D on a path, so that redundant contacts leave no pivot without a number.
// The states that come out are those of D itself but for contacts that are within this of changing.
const pathEps = 1e-9

// path follows x(t) = x(0) + t·e from t = 1, where e makes the states at hand a solution, to t = 0, the problem as given
// [CPS09] 4.4. Its tableau has two rows per contact and not the three of the complementarity problem:
//
//	state     basic      zero
//	open      v_N, v_T   p_N, p_T
//	slides    p_N, v_T   v_N, p_T + s·μ·p_N      s = sgn v_T
//	sticks    p_N, p_T   v_N, v_T
//
// and an edge of the path ends where v_N or p_N, s·v_T, or μ·p_N ± p_T becomes zero. The contact then goes to the
// neighbouring state by one pivot, and t goes the way that lets the quantity that is now free grow from zero: what Lemke's
// method does on the larger problem, less the pivots in which an open contact turns round. Columns: 2n, then x(0), then e.
//
// statePath follows the same kind of path for matrices that need not be symmetric and contacts of which some slide for good. From
// all open both take the same time (0.7 µs with 5 contacts, 5 µs with 14) and arrive. This one starts from any states and adds pathEps,
// which is what shows a clash; it relies on the check behind it, where statePath steps across pivots that vanish.
type path struct {
	a  []float64
	s  []float64 // scales 1/√D_ii
	mu []float64 // scaled
	st []State
}

func newPath(contacts int) path {
	k := 2 * contacts
	return path{a: make([]float64, k*(k+2)), s: make([]float64, k), mu: make([]float64, contacts), st: make([]State, contacts)}
}

// follow goes along the path from the states f.st to the states of a solution, which it leaves in f.st;
// its impulses are left in f.keep. It is false when the path leaves on a ray or the pivots are used up.
func (f *Frictional) follow(eps float64, limit int, count *int) bool {
	p, n, w := &f.path, f.n, 2*f.n
	sigma := math.Sqrt(f.sig2)
	if sigma == 0 {
		sigma = 1
	}
	p.fill(f, eps, sigma)
	for i := range n {
		p.st[i] = Open
	}
	for i, s := range f.st[:n] {
		if s != Open {
			p.enter(n, i, s)
		}
	}
	if !p.cover(n) {
		return false
	}
	for t, way := 1.0, -1.0; ; {
		i, kind, at := p.next(n, t, way)
		if way < 0 && at <= 0 {
			break
		}
		if i < 0 || *count >= limit {
			return false
		}
		*count++
		t = at
		way = p.exchange(n, i, kind, t, way)
		if way == 0 {
			return false
		}
	}
	for i, st := range p.st[:n] {
		f.st[i] = st
		pn, pt := 0.0, 0.0
		if st != Open {
			pn = sigma * p.s[2*i] * max(p.a[2*i*(w+2)+w], 0)
			bound := f.mu[i] * pn
			pt = -st.sense() * bound
			if st == Stick {
				pt = min(max(sigma*p.s[2*i+1]*p.a[(2*i+1)*(w+2)+w], -bound), bound)
			}
		}
		if !numeric.Finite(pn) || !numeric.Finite(pt) {
			return false
		}
		f.keep[2*i], f.keep[2*i+1] = pn, pt
	}
	return true
}

// fill is the tableau of all contacts open, scaled, with eps on the diagonal.
func (p *path) fill(f *Frictional, eps, sigma float64) {
	n, w := f.n, 2*f.n
	for i := range w {
		p.s[i] = math.Sqrt(f.ig[i])
	}
	for i := range n {
		p.mu[i] = f.mu[i] * p.s[2*i] / p.s[2*i+1]
	}
	for i := range w {
		row, from, si := p.a[i*(w+2):(i+1)*(w+2)], f.d[i*w:i*w+w], p.s[i]
		for j, x := range from {
			row[j] = x * si * p.s[j]
		}
		row[i] += eps
		row[w], row[w+1] = f.b[i]*si/sigma, 0
	}
}

// enter brings contact i from open to a state without regard to signs, as far as the pivots allow.
func (p *path) enter(n, i int, st State) {
	s := st.sense()
	p.lean(n, i, -s*p.mu[i])
	if !p.pivot(n, 2*i) {
		p.lean(n, i, s*p.mu[i])
		return
	}
	p.st[i] = st
	if st == Stick && !p.pivot(n, 2*i+1) {
		p.pivot(n, 2*i)
		p.st[i] = Open
	}
}

// cover sets e so that the states are a solution at t = 1. The numbers are all different, so that no two events fall together.
func (p *path) cover(n int) bool {
	w := 2 * n
	c := w + 2
	low := 0.0
	for i := range n {
		xn, xt := p.a[2*i*c+w], p.a[(2*i+1)*c+w]
		if !numeric.Finite(xn) || !numeric.Finite(xt) {
			return false
		}
		low = min(low, xn)
		if s := p.st[i].sense(); s != 0 {
			low = min(low, s*xt)
		}
	}
	size := max(-low, 1e-3)
	for i := range n {
		p.a[2*i*c+w+1] = size * (1.1 + golden(2*i))
		xt, s := p.a[(2*i+1)*c+w], p.st[i].sense()
		e := 0.0
		switch {
		case p.st[i] == Stick:
			// back to the middle of the cone, or nearly
			e = -xt * (0.9 + 0.1*golden(2*i+1))
		case s != 0:
			e = s * size * (1.1 + golden(2*i+1))
		}
		p.a[(2*i+1)*c+w+1] = e
	}
	// every cone must hold at t = 1
	for i := range n {
		if p.st[i] == Stick {
			r := p.a[2*i*c:]
			over := math.Abs(p.a[(2*i+1)*c+w]+p.a[(2*i+1)*c+w+1]) - p.mu[i]*(r[w]+r[w+1])
			if over > 0 {
				if p.mu[i] == 0 {
					return false
				}
				r[w+1] += over / p.mu[i] * 1.1
			}
		}
	}
	return true
}

// events of a contact
const (
	normal = iota // v_N or p_N
	across        // s·v_T of a sliding contact
	upper         // μ·p_N − p_T of a sticking one
	lower         // μ·p_N + p_T
)

// next is the first event from t on, downwards or upwards; −1 when there is none.
func (p *path) next(n int, t, way float64) (contact, kind int, at float64) {
	w := 2 * n
	c := w + 2
	contact = -1
	step := math.Inf(1)
	try := func(i, k int, x, e float64) {
		// x(t) = x + t·e falls along the way
		if rate := e * way; rate < 0 {
			if d := max(x+t*e, 0) / -rate; d < step {
				contact, kind, step = i, k, d
			}
		}
	}
	for i := range n {
		xn, en := p.a[2*i*c+w], p.a[2*i*c+w+1]
		switch st := p.st[i]; st {
		case Open:
			try(i, normal, xn, en)
		case Stick:
			xt, et, mu := p.a[(2*i+1)*c+w], p.a[(2*i+1)*c+w+1], p.mu[i]
			try(i, upper, mu*xn-xt, mu*en-et)
			try(i, lower, mu*xn+xt, mu*en+et)
		default:
			s := st.sense()
			try(i, normal, xn, en)
			try(i, across, s*p.a[(2*i+1)*c+w], s*p.a[(2*i+1)*c+w+1])
		}
	}
	return contact, kind, t + way*step
}

// exchange takes contact i through its event at t and returns the way t goes from there; 0: no pivot.
func (p *path) exchange(n, i, kind int, t, way float64) float64 {
	w := 2 * n
	c := w + 2
	st := p.st[i]
	rate := func(e float64) float64 {
		if e > 0 {
			return 1
		}
		return -1
	}
	switch {
	case kind == normal && st == Open:
		row := p.a[(2*i+1)*c:]
		st = sliding(row[w] + t*row[w+1])
		p.lean(n, i, -st.sense()*p.mu[i])
		if !p.pivot(n, 2*i) {
			return 0
		}
		p.st[i] = st
		return rate(p.a[2*i*c+w+1])
	case kind == normal:
		if !p.pivot(n, 2*i) {
			return 0
		}
		p.lean(n, i, st.sense()*p.mu[i])
		p.st[i] = Open
		return rate(p.a[2*i*c+w+1])
	case kind == across && p.mu[i] == 0:
		p.st[i] = SlipPlus + SlipMinus - st
		return way
	case kind == across:
		if !p.pivot(n, 2*i+1) {
			return 0
		}
		// the basic quantity is p_T + s·μ·p_N, which grows with sign s; the row is to hold p_T
		s := st.sense()
		out := rate(s * p.a[(2*i+1)*c+w+1])
		p.shift(n, i, -s*p.mu[i])
		p.st[i] = Stick
		return out
	default:
		s := 1.0
		p.st[i] = SlipPlus
		if kind == upper {
			s = -1
			p.st[i] = SlipMinus
		}
		p.shift(n, i, s*p.mu[i])
		if !p.pivot(n, 2*i+1) {
			return 0
		}
		return rate(s * p.a[(2*i+1)*c+w+1])
	}
}

// lean adds g times the column of p_T of contact i to that of p_N.
func (p *path) lean(n, i int, g float64) {
	if g == 0 {
		return
	}
	c := 2*n + 2
	for r := 2 * i; r < 2*n*c; r += c {
		p.a[r] += g * p.a[r+1]
	}
}

// shift adds g times the first row of contact i to its second.
func (p *path) shift(n, i int, g float64) {
	c := 2*n + 2
	first, second := p.a[2*i*c:(2*i+1)*c], p.a[(2*i+1)*c:(2*i+2)*c]
	for j, x := range first {
		second[j] += g * x
	}
}

// pivot exchanges the quantities of row and column r.
func (p *path) pivot(n, r int) bool {
	w := 2 * n
	c := w + 2
	top := p.a[r*c : r*c+c]
	d := top[r]
	if !(math.Abs(d) > 1e-14) {
		return false
	}
	inv := 1 / d
	for j, x := range top {
		top[j] = -x * inv
	}
	top[r] = inv
	for i := range w {
		if i == r {
			continue
		}
		row := p.a[i*c : i*c+c]
		g := row[r]
		if g == 0 {
			continue
		}
		row[r] = 0
		row = row[:len(top)]
		for j, x := range top {
			row[j] += g * x
		}
	}
	return true
}

// clashSize is the size of the impulses on a path, in units of σ/√D_ii, from which on the contacts are said to clash: they
// are as large as the violation they are to remove over pathEps.
const clashSize = 1e4

// huge is the largest of f.keep in units of σ/√D_ii.
func (f *Frictional) huge() float64 {
	big := 0.0
	for i, x := range f.keep[:2*f.n] {
		big = max(big, x*x*f.dg[i])
	}
	if f.sig2 == 0 {
		return 0
	}
	return math.Sqrt(big / f.sig2)
}
