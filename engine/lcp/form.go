package lcp

import (
	"math"
	"slices"
)

// contactForm recognises the stick–slip problem of planar contact with n_N normals, n_H ≥ 1 of them with friction, and lays it out
// for Frictional. Two forms are known, x = (λ_N, λ⁺, λ⁻, k⁺, k⁻) and x = (λ_N, s, g̈⁻) with λ_T = s − μ·λ_N:
//
//	| G_NP   G_NH  −G_NH  0  0 |  b_N       | G_NP − G_NH·μ   G_NH  0 |  b_N
//	| G_HP   G_HH  −G_HH  I  0 |  b_H       | G_HP − G_HH·μ   G_HH  I |  b_H        [SNB06] (14)–(15), [PG96]
//	| −G_HP −G_HH   G_HH  0  I | −b_H       |     2μ           −I   0 |  0
//	|   μ     −I      0   0  0 |  0
//	|   μ      0     −I   0  0 |  0
//
// It looks at every number: anything else that merely resembles these is left alone. form is the number of blocks, 5 or 3, 0: neither.
func (s *Solver) contactForm() (form int) {
	n := s.n
	if n < 3 || s.general {
		return 0
	}
	// the −1 of the last row tells the sizes
	last := s.m[n*n-n:]
	one := n - 1
	for one >= 0 && last[one] == 0 {
		one--
	}
	if one < 0 || last[one] != -1 || one == n-1 {
		return 0
	}
	k := n - 1 - one // unknowns behind it: 2·n_H or n_H
	switch {
	case s.large(k / 2):
		return 5
	case s.slim(k):
		return 3
	}
	return 0
}

// zeros tells whether all of v is 0.
func zeros(v []float64) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}

// unit tells whether v is 0 but for v[at].
func unit(v []float64, at int, value float64) bool {
	return v[at] == value && zeros(v[:at]) && zeros(v[at+1:])
}

// bounds reads the row of a bound, f·μ·λ_N minus unknown h behind the normals: μ and the normal, which is −1 where μ = 0.
func (s *Solver) bounds(row []float64, nn, h int) (normal int, mu float64, ok bool) {
	if !unit(row[nn:], h, -1) {
		return 0, 0, false
	}
	normal = -1
	for j, v := range row[:nn] {
		if v == 0 {
			continue
		}
		if normal >= 0 || v < 0 {
			return 0, 0, false
		}
		normal, mu = j, v
	}
	return normal, mu, true
}

// form is a contact problem found in M and q.
type form struct {
	nn, nh int       // normals; tangents
	normal []int     // of each tangent: the normal of the same contact
	place  []int     // of each row of M in D
	d, b   []float64 // D and b of Frictional, zero in the rows and columns of tangents that are not there
	mu     []float64
	fric   *Frictional
}

// newForm makes room for contact problems with up to n unknowns: at most n−2 normals.
func newForm(n int) form {
	n = max(n-2, 0)
	return form{
		normal: make([]int, n), place: make([]int, 2*n), d: make([]float64, 4*n*n), b: make([]float64, 2*n), mu: make([]float64, n),
		fric: NewFrictional(n),
	}
}

// claim gives tangent h its normal; false when another has it.
func (p *form) claim(h, normal int, mu float64) bool {
	if normal >= 0 {
		if slices.Contains(p.normal[:h], normal) {
			return false
		}
		p.mu[normal] = mu
	}
	p.normal[h] = normal
	return true
}

// lay decides which contact each row belongs to. Tangents without friction get the normals that are left: their forces are zero whatever
// the normal ones are. Contacts without a tangent slide, which the columns of their normals contain.
func (p *form) lay() {
	next := 0
	for h, j := range p.normal[:p.nh] {
		if j >= 0 {
			continue
		}
		for slices.Contains(p.normal[:p.nh], next) {
			next++
		}
		p.normal[h] = next
	}
	f := p.fric
	f.n, f.plain = p.nn, p.nh == p.nn
	for i := range p.nn {
		p.place[i], f.side[i] = 2*i, Forward
	}
	for h, j := range p.normal[:p.nh] {
		p.place[p.nn+h], f.side[j] = 2*j+1, Either
	}
	f.d, f.b, f.mu = p.d[:4*p.nn*p.nn], p.b[:2*p.nn], p.mu[:p.nn]
	clear(f.b)
	if !f.plain {
		clear(f.d)
	}
}

// start of a search for a form with nn normals and nh tangents.
func (p *form) start(nn, nh int) bool {
	if nh < 1 || nn < nh {
		return false
	}
	p.nn, p.nh = nn, nh
	clear(p.mu[:nn])
	return true
}

func (s *Solver) large(nh int) bool {
	n, p := s.n, &s.form
	nn := n - 4*nh
	m := nn + nh
	if !p.start(nn, nh) || !zeros(s.q[m+nh:]) {
		return false
	}
	for h := range nh {
		up, down := s.m[(nn+h)*n:(nn+h)*n+n], s.m[(m+h)*n:(m+h)*n+n]
		for j, v := range up[:m+nh] {
			if down[j] != -v {
				return false
			}
		}
		if !unit(down[m+nh:], nh+h, 1) || s.q[m+h] != -s.q[nn+h] {
			return false
		}
		a, b := s.m[(m+nh+h)*n:(m+nh+h)*n+n], s.m[(m+2*nh+h)*n:(m+2*nh+h)*n+n]
		i, mu, ok := s.bounds(a, nn, h)
		j, nu, fine := s.bounds(b, nn, nh+h)
		if !ok || !fine || i != j || mu != nu || !p.claim(h, i, mu) {
			return false
		}
	}
	p.lay()
	for i, at := range p.place[:m] {
		row, to := s.m[i*n:i*n+n], p.d[2*nn*at:2*nn*at+2*nn]
		for j, k := range p.place[:m] {
			to[k] = row[j]
		}
		for j, v := range row[nn:m] {
			if row[m+j] != -v {
				return false
			}
		}
		if i < nn && !zeros(row[m+nh:]) || i >= nn && !unit(row[m+nh:], i-nn, 1) {
			return false
		}
		p.b[at] = s.q[i]
	}
	return true
}

func (s *Solver) slim(nh int) bool {
	n, p := s.n, &s.form
	nn := n - 2*nh
	m := nn + nh
	if !p.start(nn, nh) || !zeros(s.q[m:]) {
		return false
	}
	for h := range nh {
		i, mu, ok := s.bounds(s.m[(m+h)*n:(m+h)*n+n], nn, h)
		if !ok || !p.claim(h, i, mu/2) {
			return false
		}
	}
	p.lay()
	for i, at := range p.place[:m] {
		row, to := s.m[i*n:i*n+n], p.d[2*nn*at:2*nn*at+2*nn]
		if i < nn && !zeros(row[m:]) || i >= nn && !unit(row[m:], i-nn, 1) {
			return false
		}
		for j, k := range p.place[:m] {
			to[k] = row[j]
		}
		for h, j := range p.normal[:nh] {
			to[2*j] += p.mu[j] * row[nn+h]
		}
		p.b[at] = s.q[i]
	}
	return true
}

// measure sets the scales of Frictional, and those of Lemke's path from them: 1/√G_NN for forces and √G_NN for accelerations, in z.
// G_NP of a contact that slides may be anything: where it is small beside its row, the row counts.
func (s *Solver) measure() {
	p, n := &s.form, s.n
	f, nn, nh := p.fric, p.nn, p.nh
	f.sig2 = 0
	for i := range nn {
		row, top := p.d[4*nn*i:4*nn*i+2*nn], 0.0
		d := math.Abs(row[2*i])
		if !f.plain {
			for j := 0; j < 2*nn; j += 2 {
				top = max(top, math.Abs(row[j]))
			}
		}
		if d < 0.01*top {
			d = top
		}
		if d == 0 {
			d = 1
		}
		for k := 2 * i; k < 2*i+2; k++ {
			f.dg[k], f.ig[k] = d, 1/d
			f.sig2 = max(f.sig2, f.b[k]*f.b[k]/d)
		}
		s.s[i] = math.Sqrt(f.ig[2*i])
	}
	back := s.s[nn:n]
	for h, i := range p.normal[:nh] {
		force, slack := s.s[i], 1/s.s[i]
		if back[h] = force; n == nn+2*nh {
			back[nh+h] = slack
			continue
		}
		back[nh+h], back[2*nh+h], back[3*nh+h] = force, slack, slack
	}
	s.sigma = 0
	for i, v := range s.q {
		s.sigma = max(s.sigma, math.Abs(v)*s.s[i])
	}
}

// unfold writes the unknowns of the form from the forces p in the states of Frictional.
func (s *Solver) unfold(form int, p, z []float64) {
	c := &s.form
	nn, nh, w := c.nn, c.nh, 2*c.nn
	for i := range nn {
		z[i] = p[2*i]
	}
	for h, i := range c.normal[:nh] {
		pn, pt, v, st := p[2*i], p[2*i+1], 0.0, c.fric.st[i]
		if st != Stick {
			v = c.b[2*i+1]
			for j, x := range c.d[(2*i+1)*w : (2*i+2)*w] {
				v += x * p[j]
			}
			if v*st.sense() < 0 && c.mu[i] > 0 {
				v = 0 // by rounding
			}
		}
		if form == 3 {
			// λ_T = s − μ·λ_N, g̈ = g̈⁺ − g̈⁻
			z[nn+h], z[nn+nh+h] = max(pt+c.mu[i]*pn, 0), max(-v, 0)
			continue
		}
		z[nn+h], z[nn+nh+h] = max(pt, 0), max(-pt, 0)
		z[nn+2*nh+h], z[nn+3*nh+h] = max(-v, 0), max(v, 0)
	}
}

// contact follows the path of states of a contact problem, as it stands and then with pathEps on the diagonal and the
// equations of the states behind it. It leaves the scales of the problem in s.s. form is 0 if it is none.
func (s *Solver) contact(limit int, z []float64) (st Status, pivots, form int) {
	if form = s.contactForm(); form == 0 {
		return RayUnknown, 0, 0
	}
	s.measure()
	f, y := s.form.fric, s.y[:s.n]
	clear(f.st[:f.n])
	if f.follow(0, limit, &pivots) {
		s.unfold(form, f.keep, y)
		if s.offer(z, y); s.best <= pathTol {
			return Solved, pivots, form
		}
	}
	clear(f.st[:f.n])
	if f.follow(pathEps, limit, &pivots) {
		f.bestR = math.Inf(1)
		f.update(polishRounds, new(int))
		copy(f.st, f.bestSt)
		s.unfold(form, f.best, y)
		if s.offer(z, y); s.best <= pathTol {
			return Solved, pivots, form
		}
	}
	return RayUnknown, pivots, form
}

// pathTol is the residual up to which the path of states needs no other method behind it.
const pathTol = 1e-12
