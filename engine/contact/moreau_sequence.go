package contact

import "math"

// sequence takes the blows of a step one after the other, as far as that is needed to tell whether their order matters: a step settles
// them all at once. Gaps move with constant velocities from blow to blow.
type sequence struct {
	gap      []float64 // m
	contacts []int32   // contacts of a blow
	g        []float64 // G of these
	v, p     []float64 // their velocities and impulses
	laws     []Law
	speeds   []float64 // m/s, of all contacts when their blows are settled at once
}

// maxBlows is how many blows of a step are looked at; what is left then is settled at once.
const maxBlows = 8

func newSequence(n int) *sequence {
	f := func() []float64 { return make([]float64, 2*n) }
	return &sequence{gap: make([]float64, n), contacts: make([]int32, 0, n), g: make([]float64, 4*n*n), v: f(), p: f(), laws: make([]Law, n),
		speeds: f()}
}

// differs tells whether blows at different times of the step leave other velocities one after the other than the impulses sum leave, by
// more than a fiftieth of the fastest approach. v are the velocities before; it changes them.
func (s *sequence) differs(m *Moreau, p *poisson, d, v, sum []float64) bool {
	n, h := len(m.ClosedPlaces), m.opt.Step
	lag, first, last, fast := m.lag[:n], math.Inf(-1), math.Inf(1), 0.0
	for k, l := range lag {
		if l != 0 {
			first, last, fast = max(first, l), min(last, l), max(fast, -v[2*k])
		}
	}
	if !(first-last > 1e-9*h) {
		return false
	}
	product(d, sum, v, s.speeds[:2*n])

	gap, left := s.gap[:n], 0.5*h-((1-m.opt.Theta)*h-first) // until the middle of the step
	for k, l := range lag {
		if gap[k] = 0; l != 0 {
			gap[k] = max(0, -v[2*k]*(first-l))
		}
	}
	for blow := 0; ; blow++ {
		s.blow(p, d, v, blow == maxBlows)
		next := math.Inf(1)
		for k, g := range gap {
			if v[2*k] < -m.opt.VTh {
				next = min(next, g/-v[2*k])
			}
		}
		if left -= next; left < 0 || blow == maxBlows {
			break
		}
		for k := range gap {
			gap[k] = max(0, gap[k]+v[2*k]*next)
		}
	}
	for i, x := range v {
		if math.Abs(x-s.speeds[i]) > 0.02*fast {
			return true
		}
	}
	return false
}

// blow settles the contacts that are closed, or all of them, and moves v.
func (s *sequence) blow(p *poisson, d, v []float64, all bool) {
	s.contacts = s.contacts[:0]
	for k := range len(v) / 2 {
		if all || s.gap[k] <= touchScene {
			s.contacts = append(s.contacts, int32(k))
		}
	}
	c, w := 2*len(s.contacts), len(v)
	for a, k := range s.contacts {
		s.laws[a] = p.laws[k]
		copy(s.v[2*a:2*a+2], v[2*k:])
		for b, l := range s.contacts {
			copy(s.g[2*a*c+2*b:][:2], d[2*int(k)*w+2*int(l):])
			copy(s.g[(2*a+1)*c+2*b:][:2], d[(2*int(k)+1)*w+2*int(l):])
		}
	}
	p.im.Solve(s.g[:c*c], s.v[:c], s.laws[:c/2], s.p[:c])
	for a, k := range s.contacts {
		for r, x := range s.p[2*a : 2*a+2] {
			if x == 0 {
				continue
			}
			for i := range v {
				v[i] += d[i*w+2*int(k)+r] * x
			}
		}
	}
}
