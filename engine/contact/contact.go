// Package contact simulates planar bodies that touch, stick, slide, separate and collide: unilateral contact with Coulomb
// friction, with f generalised coordinates q and velocities u = dq/dt,
//
//	M(q,t)·du/dt = f(q,u,t) + Σ_i (w_N·λ_N + w_T·λ_T)_i          [SNB06] (1)–(7)
//	0 ≤ λ_N ⊥ g_N ≥ 0,   |λ_T| ≤ μ·λ_N,   λ_T = −μ·λ_N·sgn(ġ_T) while sliding
//
// A System says what the bodies are; two engines run it. EventDriven integrates the smooth motion between events and solves
// a complementarity problem at each of them [PG96]: the reference. Moreau steps with a fixed length at the level of
// velocities and impulses, with bounded work per step [M88b]: the loop.
//
// Signs: the gap g_N is positive when open; n points from the surface B to the body A, and a positive λ_N pushes A along n. t is
// n turned by −90°, and ġ_T is the velocity of A relative to B along t. Friction opposes ġ_T.
package contact

import "cmp"

// System is a mechanical system with its possible contacts. Its methods allocate nothing and keep no reference to their
// arguments. Positions that are prescribed (a commutator that turns) depend on t alone and are no coordinates.
type System interface {
	DOF() int
	Mass(t float64, q, m []float64)     // M, row-major f×f, symmetric and positive definite
	Force(t float64, q, u, f []float64) // everything but contact: weight, springs, dampers, gyroscopic terms
	// Contacts clears set and lists every pair whose gap is below reach (m; +Inf: all). q and u are not changed.
	Contacts(t float64, q, u []float64, reach float64, set *Set)
}

// Stiff is a System with linear springs and dampers that Moreau treats implicitly: Force contains −K·(q − q0) − C·u.
type Stiff interface {
	Linear(k, c []float64) // K and C, row-major f×f, constant
}

// Dynamics is a System that brings its own linear algebra; others are factored densely.
type Dynamics interface {
	// Free factors M̂ = M + hθC + h²θ²K at (t, q) and fills ufree = u + M̂⁻¹·h·(f(t,q,u) − hθK·u). It is false when M̂ is not
	// positive definite or something is not finite.
	Free(t, h, theta float64, q, u, ufree []float64) bool
	// Accelerate factors M̂ = M at (t, q) and fills acc = M⁻¹·f. It is false as Free is.
	Accelerate(t float64, q, u, acc []float64) bool
	// Project fills x with M̂⁻¹·w for the chosen contacts, two rows of length f each (w_N, w_T), and d, row-major with 2·len(chosen)
	// rows, with D = WᵀM̂⁻¹W in the same order, for the factors of the last Free or Accelerate.
	Project(set *Set, chosen []int32, x, d []float64)
}

// Law is how two surfaces touch.
type Law struct {
	Mu   float64 `symbol:"mu_" max:"2" doc:"coefficient of friction"`
	EpsN float64 `symbol:"eps_n" max:"1" doc:"normal restitution"`
	EpsT float64 `symbol:"eps_t" max:"1" doc:"tangential restitution"`
	Nu   float64 `symbol:"nu_" max:"1" doc:"share of tangential restitution kept by a contact that slides"` // at the end of compression
}

// Set is a list of contacts in flat slices: i is a contact, rows of WN and WT have length f.
//
//	ġ_N = w_N·u + VN,   g̈_N = w_N·du/dt + AN        and the same with T
type Set struct {
	N       int
	ID      []uint32  // the same pair of features keeps its number from step to step
	Feature []int32   // edge or side under the point: a change of it is a kink of the outline
	Law     []Law     //
	Gap     []float64 // m
	WN, WT  []float64 // capacity × f
	VN, VT  []float64 // m/s   velocity from surfaces that move by themselves
	AN, AT  []float64 // m/s²  acceleration without du/dt
	X, Y    []float64 // m     the point, for pictures
	NX, NY  []float64 //       n, for pictures
	Dropped int       // contacts that found no room since the set was made

	dof   int
	grows bool // makes room for more where none is left
}

// newSet is NewSet for limit contacts, or for as many as come where limit is 0.
func newSet(limit, first, dof int) *Set {
	s := NewSet(cmp.Or(limit, first), dof)
	s.grows = limit == 0
	return s
}

// NewSet makes room for up to capacity contacts of a system with dof coordinates.
func NewSet(capacity, dof int) *Set {
	s := &Set{dof: dof}
	s.room(capacity)
	return s
}

// room makes room for n contacts and keeps those that are there.
func (s *Set) room(n int) {
	s.ID, s.Feature, s.Law = resized(s.ID, n), resized(s.Feature, n), resized(s.Law, n)
	s.WN, s.WT = resized(s.WN, n*s.dof), resized(s.WT, n*s.dof)
	for _, x := range [...]*[]float64{&s.Gap, &s.VN, &s.VT, &s.AN, &s.AT, &s.X, &s.Y, &s.NX, &s.NY} {
		*x = resized(*x, n)
	}
}

// resized is a slice of n elements that begins with those of s.
func resized[T any](s []T, n int) []T { return append(make([]T, 0, n), s...)[:n] }

// Clear empties the set.
func (s *Set) Clear() { s.N = 0 }

// Add takes the next place, with rows of zeros, and returns its index; −1 when the set is full, which is counted.
func (s *Set) Add(id uint32, law Law, gap float64) int {
	i := s.N
	if i == len(s.ID) {
		if !s.grows {
			s.Dropped++
			return -1
		}
		s.room(2*i + 8)
	}
	s.N++
	s.ID[i], s.Feature[i], s.Law[i], s.Gap[i] = id, 0, law, gap
	s.VN[i], s.VT[i], s.AN[i], s.AT[i] = 0, 0, 0, 0
	s.X[i], s.Y[i], s.NX[i], s.NY[i] = 0, 0, 0, 0
	clear(s.RowN(i))
	clear(s.RowT(i))
	return i
}

// RowN is w_N of contact i.
func (s *Set) RowN(i int) []float64 { return s.WN[i*s.dof : (i+1)*s.dof] }

// RowT is w_T of contact i.
func (s *Set) RowT(i int) []float64 { return s.WT[i*s.dof : (i+1)*s.dof] }

// Rate is the velocity of contact i along n and t (m/s).
func (s *Set) Rate(i int, u []float64) (vn, vt float64) {
	vn, vt = s.VN[i], s.VT[i]
	wn, wt := s.RowN(i), s.RowT(i)
	for j, uj := range u {
		vn += wn[j] * uj
		vt += wt[j] * uj
	}
	return vn, vt
}
