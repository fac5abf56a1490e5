package lcp

import (
	"math"
	"slices"
)

// contactForm recognises the stick–slip problem of planar contact with n_N normals, n_H ≥ 1 of them with friction, and lays it out
// for statePath. Two forms are known, x = (λ_N, λ⁺, λ⁻, k⁺, k⁻) and x = (λ_N, s, g̈⁻) with λ_T = s − μ·λ_N:
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

// claim gives tangent h its normal; false when another has it.
func (p *statePath) claim(h, normal int, mu float64) bool {
	if normal >= 0 && slices.Contains(p.normal[:h], normal) {
		return false
	}
	p.normal[h], p.mu[h] = normal, mu
	return true
}

// rest gives tangents without friction the normals that are left: their forces are zero whatever the normal ones are.
func (p *statePath) rest() {
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
}

func (s *Solver) large(nh int) bool {
	n, p := s.n, &s.path
	nn := n - 4*nh
	if nh < 1 || nn < nh || !zeros(s.q[nn+2*nh:]) {
		return false
	}
	p.nn, p.nh = nn, nh
	m, k := nn+nh, 0
	for i := range m {
		row := s.m[i*n : i*n+n]
		copy(p.g[k:k+m], row[:m])
		k += m
		for j, v := range row[nn:m] {
			if row[m+j] != -v {
				return false
			}
		}
		if i < nn && !zeros(row[m+nh:]) || i >= nn && !unit(row[m+nh:], i-nn, 1) {
			return false
		}
	}
	copy(p.b, s.q[:m])
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
	p.rest()
	return true
}

func (s *Solver) slim(nh int) bool {
	n, p := s.n, &s.path
	nn := n - 2*nh
	if nh < 1 || nn < nh || !zeros(s.q[nn+nh:]) {
		return false
	}
	p.nn, p.nh = nn, nh
	m := nn + nh
	for h := range nh {
		i, mu, ok := s.bounds(s.m[(m+h)*n:(m+h)*n+n], nn, h)
		if !ok || !p.claim(h, i, mu/2) {
			return false
		}
	}
	p.rest()
	for i := range m {
		row, g := s.m[i*n:i*n+n], p.g[i*m:i*m+m]
		if i < nn && !zeros(row[m:]) || i >= nn && !unit(row[m:], i-nn, 1) {
			return false
		}
		copy(g, row)
		for h, j := range p.normal[:nh] {
			g[j] += p.mu[h] * g[nn+h]
		}
	}
	copy(p.b, s.q[:m])
	return true
}

// unfold writes the unknowns of the form from the forces and tangential accelerations of the path.
func (s *Solver) unfold(form int, z []float64) {
	p := &s.path
	nn, nh := p.nn, p.nh
	clear(z)
	for i := range nn {
		low, high, vt := p.force(i)
		z[i] = low + high
		h := p.tangent[i]
		if h < 0 {
			continue
		}
		if form == 3 {
			// λ_T = s − μ·λ_N, g̈ = g̈⁺ − g̈⁻
			z[nn+h], z[nn+nh+h] = 2*p.mu[h]*high, max(-vt, 0)
			continue
		}
		pt := p.mu[h] * (high - low)
		z[nn+h], z[nn+nh+h] = max(pt, 0), max(-pt, 0)
		z[nn+2*nh+h], z[nn+3*nh+h] = max(-vt, 0), max(vt, 0)
	}
}

// contactScale are the scales of the numbers of a contact problem from the diagonal of G: 1/√G_NN for forces and √G_NN for
// accelerations, in z. Of 8000 problems Lemke's path solves all with them and all but one with those of scale, which cost more.
func (s *Solver) contactScale() {
	p := &s.path
	nn, nh := p.nn, p.nh
	copy(s.s, p.scale[:nn])
	back := s.s[nn:s.n]
	for h, i := range p.normal[:nh] {
		force, slack := p.scale[i], 1/p.scale[i]
		back[h] = force
		if s.n == nn+2*nh {
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

// contact follows the path of states of a contact problem, the scales of which it leaves in s.s whether it arrives or not. form
// is 0 if it is none.
func (s *Solver) contact(limit int, z []float64) (st Status, pivots, form int) {
	if form = s.contactForm(); form == 0 {
		return RayUnknown, 0, 0
	}
	ok, pivots := s.path.solve(limit)
	s.contactScale()
	if !ok {
		return RayUnknown, pivots, form
	}
	y := s.y[:s.n]
	s.unfold(form, y)
	s.offer(z, y)
	if s.best <= pathTol {
		return Solved, pivots, form
	}
	return RayUnknown, pivots, form
}

// pathTol is the residual up to which the path of states needs no other method behind it.
const pathTol = 1e-12
