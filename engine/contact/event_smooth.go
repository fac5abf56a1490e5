package contact

import (
	"math"
	"slices"

	"hilrig/engine/numeric"
)

// smooth is the motion between two events, with the contacts of held kept as they are: ġ_N stays zero, and ġ_T of those
// that stick; those that slide have λ_T = −μ·σ·λ_N.
//
//	M·du/dt = f + W·λ,   g̈_N = 0,   g̈_T = 0 (sticking)
//
// With G = WᵀM⁻¹W and b = WᵀM⁻¹f + w̄ the forces follow from one dense system, scaled by 1/√G_ii so that its diagonal is
// about one.
type smooth struct {
	sys          System
	f            int
	set          *Set
	lin          Dynamics
	heldContacts []held
	remaining    []held // of held, see runPastEnd

	selected []int32
	acc      []float64 // du/dt
	x        []float64 // M⁻¹·w of the chosen, N0, T0, N1, …
	g        []float64 // G of the chosen
	b        []float64 // accelerations of the chosen without forces
	lam      []float64 // forces of the chosen
	scale    float64   // largest |b_i|/√G_ii
	short    bool      // contacts depend on each other: lam is one of many

	eq   *pivoted
	unk  []int // unknowns: places in lam
	root []float64
	sol  []float64
}

func newSmooth(sys System, set *Set) *smooth {
	return &smooth{sys: sys, f: sys.DOF(), set: set, lin: dynamicsOf(sys), acc: make([]float64, sys.DOF())}
}

// room makes room for n chosen contacts.
func (s *smooth) room(n int) {
	w := 2 * n
	v := func(k int) []float64 { return make([]float64, k) }
	s.heldContacts, s.remaining, s.selected = append(make([]held, 0, n), s.heldContacts...), make([]held, 0, n),
		append(make([]int32, 0, n), s.selected...)
	s.x, s.g, s.b, s.lam, s.root, s.sol = v(w*s.f), v(w*w), v(w), v(w), v(w), v(w)
	s.eq, s.unk = newPivoted(w), make([]int, 0, w)
	makeRoom(s.lin, n)
}

// findContacts fills set at (t, q, u).
func (s *smooth) findContacts(t float64, q, u []float64, reach float64) {
	s.sys.Contacts(t, q, u, reach, s.set)
}

// idsOf appends the numbers of contacts by their places.
func (s *smooth) idsOf(places []int32, ids []uint32) []uint32 {
	for _, i := range places {
		ids = append(ids, s.set.ID[i])
	}
	return ids
}

// placesOf appends the places of contacts that are still there.
func (s *smooth) placesOf(ids []uint32, places []int32) []int32 {
	for _, id := range ids {
		if i := slices.Index(s.set.ID[:s.set.N], id); i >= 0 {
			places = append(places, int32(i))
		}
	}
	return places
}

// project fills x and g for the chosen contacts and b with their accelerations without forces; acc is M⁻¹·f.
func (s *smooth) project() {
	n := len(s.selected)
	w := 2 * n
	s.lin.Project(s.set, s.selected, s.x[:w*s.f], s.g[:w*w])
	s.scale = 0
	for k, c := range s.selected {
		i := int(c)
		bn, bt := s.set.AN[i], s.set.AT[i]
		wn, wt := s.set.RowN(i), s.set.RowT(i)
		for j, a := range s.acc {
			bn += wn[j] * a
			bt += wt[j] * a
		}
		s.b[2*k], s.b[2*k+1] = bn, bt
		for l, b := range [2]float64{bn, bt} {
			// rows of zeros have no scale
			s.root[2*k+l] = 0
			if d := s.g[(2*k+l)*w+2*k+l]; d > 0 {
				s.root[2*k+l] = 1 / math.Sqrt(d)
				s.scale = max(s.scale, math.Abs(b)*s.root[2*k+l])
			}
		}
	}
}

// run fills acc with du/dt and lam with the forces of the held contacts. It is false when a held contact is not there, when no
// forces hold all of them, or when something is not finite.
func (s *smooth) run(t float64, q, u []float64, reach float64) bool {
	if len(s.heldContacts) > 0 {
		s.findContacts(t, q, u, reach)
	}
	return s.runInSet(t, q, u)
}

// runPastEnd is run without those held contacts that the last run did not find: what moves on past the end of a surface. The
// integrator needs it where that end lies within a step, to get past the event that is then found.
func (s *smooth) runPastEnd(t float64, q, u []float64) bool {
	all := s.heldContacts
	s.remaining = s.remaining[:0]
	for _, h := range all {
		if h.place >= 0 {
			s.remaining = append(s.remaining, h)
		}
	}
	if len(s.remaining) == len(all) {
		return false
	}
	s.heldContacts = s.remaining
	ok := s.runInSet(t, q, u)
	s.heldContacts = all
	return ok
}

// runInSet is run with the contacts in set as they are.
func (s *smooth) runInSet(t float64, q, u []float64) bool {
	return s.gather(t, q, u) && s.hold()
}

// gather fills acc with the acceleration without forces of the held contacts, and chosen, g and b with their equations. It is false when
// a held contact is not there, or when something is not finite.
func (s *smooth) gather(t float64, q, u []float64) bool {
	s.selected, s.short = s.selected[:0], false
	there := true
	for k := range s.heldContacts {
		h := &s.heldContacts[k]
		i := slices.Index(s.set.ID[:s.set.N], h.id)
		if h.place = int32(i); i < 0 {
			there = false
			continue
		}
		h.mu, s.selected = s.set.Law[i].Mu, append(s.selected, h.place)
	}
	if !s.lin.Accelerate(t, q, u, s.acc) || !there {
		return false
	}
	s.scale = 0
	if len(s.heldContacts) > 0 {
		s.project()
	}
	return true
}

// hold solves the gathered equations for lam and adds what those forces do to acc. It is false when no forces hold all contacts.
func (s *smooth) hold() bool {
	if len(s.heldContacts) == 0 {
		return true
	}
	// one equation for every kept motion, its force as the unknown
	s.unk = s.unk[:0]
	for k, h := range s.heldContacts {
		s.unk = append(s.unk, 2*k)
		if h.sigma == 0 && h.mu > 0 {
			s.unk = append(s.unk, 2*k+1)
		}
	}
	lam := s.lam[:2*len(s.heldContacts)]
	rank, left := s.balance(s.b, s.heldContacts, lam)
	if left > 1e-8*s.scale {
		return false
	}
	s.short = rank < len(s.unk)
	for k, h := range s.heldContacts {
		if h.sigma != 0 {
			lam[2*k+1] = -h.mu * h.sigma * lam[2*k]
		}
	}
	s.push(lam, s.acc)
	return numeric.AllFinite(s.acc...)
}

// balance fills p with the forces or impulses of the unknowns that take v away, 0 elsewhere; held contacts that slide (nil: none) bring
// their friction along. rank and left are those of pivoted.
func (s *smooth) balance(v []float64, held []held, p []float64) (rank int, left float64) {
	n, w := len(s.unk), len(p)
	for r, i := range s.unk {
		row := s.g[i*w : i*w+w]
		for c, j := range s.unk {
			x := row[j]
			if held != nil && j&1 == 0 {
				x -= held[j/2].mu * held[j/2].sigma * row[j+1]
			}
			s.eq.a[r*n+c] = x * s.root[i] * s.root[j]
		}
		s.eq.b[r] = -v[i] * s.root[i]
	}
	rank, left = s.eq.solve(n, s.sol)
	clear(p)
	for c, j := range s.unk {
		p[j] = s.sol[c] * s.root[j]
	}
	return rank, left
}

// push adds M⁻¹·W·p of the chosen contacts to v.
func (s *smooth) push(p, v []float64) {
	addRows(v, p, s.x)
}

// rates fills v with the velocities of the chosen contacts.
func (s *smooth) rates(u, v []float64) {
	for k, c := range s.selected {
		v[2*k], v[2*k+1] = s.set.Rate(int(c), u)
	}
}
