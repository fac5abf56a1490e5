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
// With Bounds, p_N is what comes on top of Base, and a contact that is apart slides or sticks like a closed one.
type path struct {
	a       []float64
	s       []float64 // scales 1/√D_ii
	st      []State
	lo, hi  []edge  // bounds of p_T, scaled: of SlipPlus and of SlipMinus
	hasBase []bool  // Base > 0: friction acts whether the contact is closed or not
	oneWay  []State // the one way a contact slides whatever v_T is; Open: v_T decides
}

// edge is a bound of p_T, con + slope·p_N.
type edge struct{ slope, con float64 }

func newPath(contacts int) path {
	k := 2 * contacts
	return path{
		a: make([]float64, k*(k+2)), s: make([]float64, k), st: make([]State, contacts), lo: make([]edge, contacts), hi: make([]edge, contacts),
		hasBase: make([]bool, contacts), oneWay: make([]State, contacts),
	}
}

// edge is the bound of p_T at which contact i slides in state st.
func (p *path) edge(i int, st State) edge {
	if st&closedState == SlipPlus {
		return p.lo[i]
	}
	return p.hi[i]
}

// follow goes along the path from the states f.st to the states of a solution, which it leaves in f.st;
// its impulses are left in f.guessImpulses. It is false when the path leaves on a ray or the pivots are used up.
func (f *Frictional) follow(eps float64, limit int, count *int) bool {
	p, n, w := &f.path, f.n, 2*f.n
	sigma := math.Sqrt(f.sig2)
	if sigma == 0 {
		sigma = 1
	}
	p.fill(f, eps, sigma)
	for i := range n {
		p.st[i] = Open
		if p.hasBase[i] {
			p.st[i] = apart | p.slide(i, 0)
			p.addColumn(n, i, p.edge(i, p.st[i]).slope)
		}
	}
	for i, s := range f.st[:n] {
		if s != Open && !p.hasBase[i] {
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
		pn, pt := f.base[i], 0.0
		if st != Open {
			if st < apart {
				pn += sigma * p.s[2*i] * max(p.a[2*i*(w+2)+w], 0)
			}
			low, high := f.bounds(i, pn)
			pt = confined(st, sigma*p.s[2*i+1]*p.a[(2*i+1)*(w+2)+w], low, high)
		}
		if !numeric.IsFinite(pn) || !numeric.IsFinite(pt) {
			return false
		}
		f.guessImpulses[2*i], f.guessImpulses[2*i+1] = pn, pt
	}
	return true
}

// at is the bound at p_N = pn.
func (e edge) at(pn float64) float64 { return e.con + e.slope*pn }

// fill is the tableau of all contacts open, scaled, with eps on the diagonal.
func (p *path) fill(f *Frictional, eps, sigma float64) {
	n, w := f.n, 2*f.n
	for i := range w {
		p.s[i] = math.Sqrt(f.ig[i])
	}
	for i := range n {
		mu := f.mu[i] * p.s[2*i] / p.s[2*i+1]
		p.lo[i], p.hi[i] = edge{-mu, 0}, edge{mu, 0}
		p.hasBase[i], p.oneWay[i] = f.base[i] > 0, f.side[i].oneWayState()
		if p.hasBase[i] {
			scaled := func(e edge) edge {
				return edge{e.slope * p.s[2*i] / p.s[2*i+1], e.at(f.base[i]) / (sigma * p.s[2*i+1])}
			}
			p.lo[i], p.hi[i] = scaled(f.edge(i, SlipPlus)), scaled(f.edge(i, SlipMinus))
		}
	}
	for i := range w {
		row, from, si := p.a[i*(w+2):(i+1)*(w+2)], f.d[i*w:i*w+w], p.s[i]
		for j, x := range from {
			row[j] = x * si * p.s[j]
		}
		b := f.b[i] * si / sigma
		if !f.coulombOnly {
			for j, kept := range p.hasBase[:n] {
				if kept {
					b += row[2*j]*f.base[j]/(sigma*p.s[2*j]) + row[2*j+1]*p.edge(j, p.slide(j, 0)).con
				}
			}
		}
		row[i] += eps
		row[w], row[w+1] = b, 0
	}
}

// enter brings contact i from open to a state without regard to signs, as far as the pivots allow.
func (p *path) enter(n, i int, st State) {
	slope := 0.0
	if st != Stick {
		slope = p.edge(i, st).slope
	}
	p.addColumn(n, i, slope)
	if !p.pivot(n, 2*i) {
		p.addColumn(n, i, -slope)
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
		if !numeric.IsFinite(xn) || !numeric.IsFinite(xt) {
			return false
		}
		low = min(low, xn)
		if s := p.st[i].sense(); s != 0 && p.oneWay[i] == Open {
			low = min(low, s*xt/p.side(i))
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
		case s != 0 && p.oneWay[i] == Open:
			e = s * size * p.side(i) * (1.1 + golden(2*i+1))
		}
		p.a[(2*i+1)*c+w+1] = e
	}
	// every cone must hold at t = 1
	for i := range n {
		if p.st[i] == Stick {
			r, mu := p.a[2*i*c:], p.hi[i].slope
			over := math.Abs(p.a[(2*i+1)*c+w]+p.a[(2*i+1)*c+w+1]) - mu*(r[w]+r[w+1])
			if over > 0 {
				if mu == 0 {
					return false
				}
				r[w+1] += over / mu * 1.1
			}
		}
	}
	return true
}

// side is the share of e that an open contact with friction gets along its tangent: with less than 1/μ, impulses along a ray do no work on
// e, and the path of copositive problems arrives.
func (p *path) side(i int) float64 {
	if !p.hasBase[i] {
		return 1
	}
	return min(1, 0.5/max(p.hi[i].slope, -p.lo[i].slope))
}

// events of a contact
const (
	normal = iota // v_N or p_N
	across        // s·v_T of a sliding contact
	upper         // upper bound of p_T less p_T, of a sticking one
	lower         // p_T less its lower bound
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
	for i, st := range p.st[:n] {
		xn, en := p.a[2*i*c+w], p.a[2*i*c+w+1]
		if st != Stick || p.hasBase[i] {
			try(i, normal, xn, en)
		}
		switch xt, et := p.a[(2*i+1)*c+w], p.a[(2*i+1)*c+w+1]; {
		case st == Open:
		case st&closedState == Stick:
			if st >= apart {
				xn, en = 0, 0
			}
			hi, lo := p.hi[i], p.lo[i]
			try(i, upper, hi.at(xn)-xt, hi.slope*en-et)
			try(i, lower, xt-lo.at(xn), et-lo.slope*en)
		case p.oneWay[i] == Open:
			s := st.sense()
			try(i, across, s*xt, s*et)
		}
	}
	return contact, kind, t + way*step
}

// slide is the state in which contact i begins to slide with vt.
func (p *path) slide(i int, vt float64) State {
	if s := p.oneWay[i]; s != Open {
		return s
	}
	return sliding(vt)
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
	case kind == normal:
		if st == Open {
			row := p.a[(2*i+1)*c:]
			st = p.slide(i, row[w]+t*row[w+1])
			p.addColumn(n, i, p.edge(i, st).slope)
			st |= apart
		}
		if !p.pivot(n, 2*i) {
			return 0
		}
		if st ^= apart; st >= apart && !p.hasBase[i] {
			p.addColumn(n, i, -p.edge(i, st).slope)
			st = Open
		}
		p.st[i] = st
		return rate(p.a[2*i*c+w+1])
	case kind == across && p.hi[i].slope == 0 && !p.hasBase[i]:
		p.st[i] = SlipPlus + SlipMinus - st
		return way
	case kind == across:
		if !p.pivot(n, 2*i+1) {
			return 0
		}
		// the basic quantity is p_T less its bound, which grows with sign s; the row is to hold p_T
		out := rate(st.sense() * p.a[(2*i+1)*c+w+1])
		p.shift(n, i, p.edge(i, st), 1)
		p.st[i] = st&apart | Stick
		return out
	default:
		to := st&apart | SlipPlus
		if kind == upper {
			to = st&apart | SlipMinus
		}
		p.shift(n, i, p.edge(i, to), -1)
		if !p.pivot(n, 2*i+1) {
			return 0
		}
		p.st[i] = to
		return rate(to.sense() * p.a[(2*i+1)*c+w+1])
	}
}

// addColumn adds g times the column of p_T of contact i to that of p_N.
func (p *path) addColumn(n, i int, g float64) {
	if g == 0 {
		return
	}
	c := 2*n + 2
	for r := 2 * i; r < 2*n*c; r += c {
		p.a[r] += g * p.a[r+1]
	}
}

// shift adds sign times a bound to the row of p_T of contact i.
func (p *path) shift(n, i int, e edge, sign float64) {
	c := 2*n + 2
	first, second := p.a[2*i*c:(2*i+1)*c], p.a[(2*i+1)*c:(2*i+2)*c]
	second[2*n] += sign * e.con
	if p.st[i] >= apart { // p_N is no row but a column
		second[2*i] += sign * e.slope
		return
	}
	for j, x := range first {
		second[j] += sign * e.slope * x
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

// huge is the largest of f.guessImpulses in units of σ/√D_ii.
func (f *Frictional) huge() float64 {
	big := 0.0
	for i, x := range f.guessImpulses[:2*f.n] {
		big = max(big, x*x*f.dg[i])
	}
	if f.sig2 == 0 {
		return 0
	}
	return math.Sqrt(big / f.sig2)
}
