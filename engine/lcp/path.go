package lcp

import "math"

// rays of a contact with friction, in the order in which its states follow each other round the origin:
//
//	open −|r0|− open  : no force, v_N > 0, v_T of either sign
//	slip+  = r1, r2   : v_T > 0, p_T = −μ·p_N
//	stick  = r2, r3   : |p_T| ≤ μ·p_N
//	slip−  = r3, −r1  : v_T < 0, p_T = +μ·p_N
//
// r0 is v_N, r1 is v_T (or −v_T), r2 and r3 are forces along the two edges of the friction cone.
const (
	rayN = iota
	rayT
	rayLow  // p = (1, −μ)
	rayHigh // p = (1, +μ); not used by contacts without a tangential unknown
	rays
)

const (
	shake    = 1e-11 // relative change of the right side that keeps two events from coinciding
	flatTol  = 1e-10 // of a pivot, relative to the largest number of its column: below it t stays constant
	pathTurn = 6     // pivots allowed, per unknown
)

// statePath solves contact problems in their own unknowns, one normal and at most one tangential for each contact:
//
//	v = G·p + b + d·t,   0 ≤ p_N ⊥ v_N ≥ 0,   |p_T| ≤ μ·p_N,   p_T = −μ·p_N·sgn v_T where v_T ≠ 0
//
// with d = 1 for normals and 0 for tangents. With t large all contacts are open; t goes down to 0 (and up again on the way
// where G has lost its positivity), and at every event one contact goes over to the neighbouring state. This is Lemke's
// path for cones with five rays instead of pairs [CPS09] 4.4, [PG96]; open contacts let v_T change sign without a pivot, and what
// takes five unknowns per contact as a complementarity problem takes two here. It comes without Lemke's guarantee for
// copositive matrices, so the caller has to check the result and to have another method.
//
// The tableau is x_B + T·x_N = b + d·t, row-major, n rows of n+3 columns: T, d, b with a small change that
// separates coinciding events, and b.
type statePath struct {
	nn, nh int       // normals; tangents
	g, b   []float64 // G, n×n with n = nn + nh, normals first; b
	mu     []float64 // of tangents
	normal []int     // of each tangent: the normal of the same contact
	scale  []float64 // of each contact: p = s·σ·p̃, v = σ/s·ṽ
	sigma  float64

	t       []float64
	tangent []int  // of each normal: its tangent, −1 without one
	basic   []int  // rays·contact + ray of each row
	other   []int  // the same of each column
	at      []int  // row of a ray in x_B, ^column of one in x_N
	flip    []bool // the ray of v_T stands for −v_T
	state   []contactState
	val     []float64
	full    []int
}

type contactState uint8

const (
	opened contactState = iota
	slipping
	sticking
)

// newStatePath makes room for n unknowns in all.
func newStatePath(n int) statePath {
	f := func(k int) []float64 { return make([]float64, k) }
	i := func(k int) []int { return make([]int, k) }
	return statePath{
		g: f(n * n), b: f(n), mu: f(n), normal: i(n), scale: f(n), t: f(n * (n + 3)), tangent: i(n), basic: i(n), other: i(n),
		at: i(rays * n), flip: make([]bool, n), state: make([]contactState, n), val: f(n),
		full: i(n + 3),
	}
}

// solve follows the path for g, b, mu and normal as they stand, with at most limit pivots. False: it did not arrive.
func (p *statePath) solve(limit int) (ok bool, pivots int) {
	p.load()
	n := p.nn + p.nh
	st := n + 3
	limit = min(limit, pathTurn*n+8)
	down, t := true, math.Inf(1)
	for {
		// the next event: the first of the rays in use that comes to zero
		var r int
		if r, t = p.event(down, t); r < 0 {
			return down, pivots
		}
		// another ray takes its place. Where t does not depend on that one, it grows at constant t until a third comes to zero,
		// whose place it takes, and so on
		for in := p.enters(p.basic[r], t); ; {
			if pivots == limit {
				return false, pivots
			}
			if p.at[in] >= 0 { // the one of row r, which has to grow
				down = p.t[r*st+n] < 0
				break
			}
			c := ^p.at[in]
			a, top := p.t[r*st+c], int64(0)
			for i := c; i < n*st; i += st {
				top = max(top, magnitude(p.t[i]))
			}
			big := math.Float64frombits(uint64(top))
			pivots++
			if math.Abs(a) > flatTol*big {
				// the ray that enters has to grow
				if a > 0 {
					down = !down
				}
				p.pivot(r, c)
				break
			}
			q := p.blocks(r, c, t, flatTol*big)
			if q < 0 {
				return false, pivots
			}
			out := p.basic[q]
			p.pivot(q, c)
			in = p.enters(out, t)
		}
	}
}

// event is the row whose ray is the first to come to zero when t goes down (or up) from where it is, and t there; −1 when there
// is none before 0 (or at all).
func (p *statePath) event(down bool, t float64) (r int, next float64) {
	n := p.nn + p.nh
	st := n + 3
	r = -1
	if down {
		for i := range n {
			row := p.t[i*st+n : i*st+n+2 : i*st+n+2]
			if rate := row[0]; rate > 0 {
				if e := min(-row[1]/rate, t); e > next && !p.free(i) {
					r, next = i, e
				}
			}
		}
		return r, next
	}
	next = math.Inf(1)
	for i := range n {
		row := p.t[i*st+n : i*st+n+2 : i*st+n+2]
		if rate := row[0]; rate < 0 {
			if e := max(-row[1]/rate, t); e < next && !p.free(i) {
				r, next = i, e
			}
		}
	}
	return r, next
}

// blocks is the row, other than r, whose ray is the first to come to zero when that of column c grows at constant t; −1: none.
func (p *statePath) blocks(r, c int, t, tol float64) int {
	n := p.nn + p.nh
	st := n + 3
	q, least := -1, math.Inf(1)
	for i := range n {
		row := p.t[i*st : i*st+st]
		if a := row[c]; a > tol && i != r && !p.free(i) {
			if e := max(row[n+1]+row[n]*t, 0) / a; e < least {
				q, least = i, e
			}
		}
	}
	return q
}

// load scales the problem by 1/√G_NN and writes the tableau with all contacts open: v in x_B, forces in x_N.
func (p *statePath) load() {
	nn, n := p.nn, p.nn+p.nh
	st := n + 3
	sc, val := p.scale[:nn], p.val[:n]
	for i := range sc {
		d := math.Abs(p.g[i*n+i])
		if p.nh < nn {
			// G_NP of a contact that slides may be anything
			top := 0.0
			for _, v := range p.g[i*n : i*n+nn] {
				top = max(top, math.Abs(v))
			}
			if d < 0.01*top {
				d = top
			}
		}
		if d == 0 {
			d = 1
		}
		sc[i], p.tangent[i], p.state[i] = 1/math.Sqrt(d), -1, opened
	}
	for h, i := range p.normal[:p.nh] {
		p.tangent[i] = h
	}
	p.sigma = 0
	for i, b := range p.b[:n] {
		s := 0.0
		if i < nn {
			s = sc[i]
		} else {
			s = sc[p.normal[i-nn]]
		}
		val[i] = s
		p.sigma = max(p.sigma, math.Abs(b)*s)
	}
	if p.sigma == 0 {
		p.sigma = 1
	}
	inv := 1 / p.sigma
	for i := range n {
		row, g, s := p.t[i*st:i*st+st], p.g[i*n:i*n+n], val[i]
		for j := range nn {
			row[j] = -g[j] * s * sc[j]
		}
		for h, j := range p.normal[:p.nh] {
			// the edges of the cone from its axis and its width
			side := g[nn+h] * s * sc[j] * p.mu[h]
			row[j], row[nn+h] = row[j]+side, row[j]-side
		}
		b := p.b[i] * s * inv
		row[n], row[n+1], row[n+2] = 0, b+shake*(1+golden(i)), b
		if i < nn {
			row[n] = 1
			p.set(i, i, rays*i+rayN, rays*i+rayLow)
		} else {
			j := p.normal[i-nn]
			p.flip[j] = false
			p.set(i, i, rays*j+rayT, rays*j+rayHigh)
		}
	}
}

func (p *statePath) set(r, c, basic, other int) {
	p.basic[r], p.other[c] = basic, other
	p.at[basic], p.at[other] = r, ^c
}

// free tells whether the ray of row r may have any sign: v_T of an open contact, or of one without friction.
func (p *statePath) free(r int) bool {
	k := p.basic[r]
	return k%rays == rayT && (p.state[k/rays] == opened || p.mu[p.tangent[k/rays]] == 0)
}

// enters is the ray that takes the place of ray k, which has come to zero at t. The ray of v_T is turned to the side on which it is
// needed.
func (p *statePath) enters(k int, t float64) int {
	c := k / rays
	first := c * rays
	if p.tangent[c] < 0 {
		return first + rayN + rayLow - k%rays
	}
	switch k % rays {
	case rayN: // closes
		p.state[c] = slipping
		if r := p.at[first+rayT]; r >= 0 {
			n := p.nn + p.nh
			if row := p.t[r*(n+3) : (r+1)*(n+3)]; row[n+1]+row[n]*t < 0 {
				p.turn(c)
			}
		}
		if p.flip[c] {
			return first + rayHigh
		}
		return first + rayLow
	case rayT: // stops
		p.state[c] = sticking
		if p.flip[c] {
			return first + rayLow
		}
		return first + rayHigh
	}
	if p.state[c] == slipping {
		p.state[c] = opened
		return first + rayN
	}
	// slips towards −v_T when the lower edge has gone
	p.state[c] = slipping
	if p.flip[c] != (k%rays == rayLow) {
		p.turn(c)
	}
	return first + rayT
}

// turn lets the ray of v_T stand for the other direction.
func (p *statePath) turn(c int) {
	n := p.nn + p.nh
	st := n + 3
	p.flip[c] = !p.flip[c]
	if r := p.at[rays*c+rayT]; r >= 0 {
		row := p.t[r*st : r*st+st]
		for j := range row {
			row[j] = -row[j]
		}
		return
	}
	for i := ^p.at[rays*c+rayT]; i < n*st; i += st {
		p.t[i] = -p.t[i]
	}
}

// pivot exchanges the rays of row r and column c.
func (p *statePath) pivot(r, c int) {
	n := p.nn + p.nh
	st := n + 3
	sweep(p.t[:n*st], st, r, c, p.full[:st])
	p.set(r, c, p.other[c], p.basic[r])
}

// force is what contact c has along the two edges of its cone, p_N = low + high and p_T = μ·(high − low), and v_T.
func (p *statePath) force(c int) (low, high, vt float64) {
	n := p.nn + p.nh
	value := func(ray int) float64 {
		if r := p.at[rays*c+ray]; r >= 0 {
			return p.t[r*(n+3)+n+2]
		}
		return 0
	}
	f := p.scale[c] * p.sigma
	low = max(value(rayLow), 0) * f
	if p.tangent[c] < 0 {
		return low, 0, 0
	}
	vt = value(rayT) * p.sigma / p.scale[c]
	if p.state[c] == slipping && p.mu[p.tangent[c]] > 0 {
		vt = max(vt, 0)
	}
	if p.flip[c] {
		vt = -vt
	}
	return low, max(value(rayHigh), 0) * f, vt
}
