package contact

import (
	"math"

	"hilrig/engine/lcp"
	"hilrig/engine/numeric"
)

// ImpactLaw is how velocities jump when a contact closes with some speed.
type ImpactLaw uint8

const (
	ByEngine   ImpactLaw = iota // Newton in Moreau, Poisson in EventDriven
	Newton                      // one phase, ġ_N⁺ = −ε_N·ġ_N⁻ [M88b]; cheap, may gain energy when friction reverses
	Poisson                     // compression, then expansion with ε_N times its impulse [PG96]
	Sequential                  // one pair at a time, each by Poisson; tells more of a chain of balls than the two above
)

// Words are the names of the laws by number; the first stands for the choice of the engine.
func (ImpactLaw) Words() []string { return []string{"", "newton", "poisson", "sequential"} }

func (l ImpactLaw) String() string { return l.Words()[l] }

// ImpactStatus says how an impact was solved.
type ImpactStatus uint8

const (
	Resolved ImpactStatus = iota
	Lowered               // the restitution asked for makes energy or cannot be had; ImpactResult.Repeats says what was used
	Unsolved              // no impulses found, or the input is not finite: p is zero
)

var impactStatusNames = [...]string{"resolved", "lowered", "unsolved"}

func (s ImpactStatus) String() string { return impactStatusNames[s] }

// ImpactResult is how an impact went.
type ImpactResult struct {
	Status  ImpactStatus
	Repeats int     // 0: as asked; 1: one ε for all contacts, the smallest of them; 2: ε = 0
	Gain    float64 // J  energy made by the bodies in the frame of the surfaces; at most rounding above zero
	Pivots  int
}

// Impact solves collisions with friction of any number of contacts at once: positions and finite forces stand still, and
// velocities jump by impulses P,
//
//	v⁺ = v + G·P,   G = WᵀM⁻¹W
//
// with Poisson's law in two phases [PG96], [SNB06] 1.2. Compression brings all contacts to rest along the normal,
//
//	0 ≤ P_NC ⊥ v_NC ≥ 0,   |P_TC| ≤ μ·P_NC, Coulomb's law on v_TC
//
// and expansion gives back a share of its impulses, more where a contact would be driven into the surface otherwise:
//
//	P_NE = ε_N·P_NC + P_x,   0 ≤ P_x ⊥ v_NE ≥ 0,   R = ν*·ε_N·ε_T·P_TC
//	R > 0: R ≤ P_TE ≤ μ·P_NE    R < 0: −μ·P_NE ≤ P_TE ≤ R    R = 0: |P_TE| ≤ μ·P_NE
//
// with Coulomb's law on v_TE between the bounds; ν* is 1 for a contact that sticks at the end of compression and ν for one that slides.
// This use of ε_T and ν is our reading of the names in [SNB06]. Newton's law has one phase, Coulomb's law on v_T⁺ + ε_T·v_T and
//
//	0 ≤ P_N ⊥ v_N⁺ + ε_N·min(v_N, 0) ≥ 0      [M88b]
//
// [M88b] has ε_N·v_N for contacts that separate as well, which lets them close; hence the minimum. It has a price: contacts on
// opposite sides of a body, one closing and one separating, have no solution with ε_N > 0. The sequential law takes the
// pair that closes fastest, alone, by Poisson's law, until none closes.
//
// With friction in more than one contact Poisson's law may make energy [G13], with friction that reverses Newton's law does so
// even in one. What the bodies gain in the frame of the surfaces, ½·Pᵀ(v + v⁺), is therefore taken after each impact, and is
// the work on the coordinates less that of surfaces moved from outside. Where it is positive, or no impulses exist, the impact is repeated
// with one ε for all contacts, and then with ε = 0, which never gains: P_N·v_N⁺ = 0 and P_T·v_T⁺ ≤ 0.
//
// An Impact owns its workspace: one goroutine at a time, no allocation.
type Impact struct {
	law ImpactLaw
	c   *corner

	vc, ve  []float64 // velocities after compression and at the end
	pc, pe  []float64
	lws     []Law
	pair    *Impact // workspace of a single pair
	gg, vv  []float64
	pairLaw []Law
	pivots  int
}

// impactGain is what counts as rounding in the energy balance, relative to Σ|P|(|v| + |v⁺|)/2.
const impactGain = 1e-12

// NewImpact makes room for so many contacts. ByEngine means Poisson.
func NewImpact(law ImpactLaw, contacts int) *Impact {
	if law == ByEngine {
		law = Poisson
	}
	f := func() []float64 { return make([]float64, 2*contacts) }
	im := &Impact{law: law, c: newCorner(contacts), vc: f(), ve: f(), pc: f(), pe: f(), lws: make([]Law, contacts)}
	if law == Sequential {
		im.pair = NewImpact(Poisson, 1)
		im.gg, im.vv, im.pairLaw = make([]float64, 4), make([]float64, 2), make([]Law, 1)
	}
	return im
}

// Solve fills p with the impulses (N·s) of an impact with relative velocities v (m/s), surfaces included, in the order N0,
// T0, N1, T1, …; g is G in that order, row-major. It is for the caller to set EpsN of contacts to zero that close too slowly
// to rebound. Velocities afterwards are v + G·p.
func (im *Impact) Solve(g, v []float64, laws []Law, p []float64) ImpactResult {
	n := len(laws)
	w := 2 * n
	if w > len(im.vc) || len(g) != w*w || len(v) != w || len(p) != w {
		panic("contact: Impact.Solve: sizes do not fit")
	}
	clear(p)
	if !numeric.AllFinite(g...) || !numeric.AllFinite(v...) {
		return ImpactResult{Status: Unsolved}
	}
	im.pivots = 0
	l := im.lws[:n]
	copy(l, laws)
	var res ImpactResult
	for try := range 3 {
		if try > 0 && !im.lower(l, try) {
			continue
		}
		law := im.law
		if try == 2 && law == Sequential {
			law = Poisson // all at once: with ε = 0 a solution exists
		}
		if !im.solveBy(law, g, v, l, p) {
			continue
		}
		product(g, p, v, im.ve[:w])
		gain, size := energy(v, im.ve[:w], p)
		if gain <= impactGain*size {
			res.Repeats, res.Gain, res.Pivots = try, gain, im.pivots
			if try > 0 {
				res.Status = Lowered
			}
			return res
		}
	}
	clear(p)
	res.Status, res.Pivots = Unsolved, im.pivots
	return res
}

// lower sets the restitution of a repetition. It is false when that changes nothing. Newton's law with one ε for normal and
// tangent of all contacts makes no energy [M88b].
func (im *Impact) lower(l []Law, try int) bool {
	eps, changed := math.Inf(1), false
	for _, x := range l {
		eps = min(eps, x.EpsN)
	}
	if try == 2 {
		eps = 0
	}
	for i, x := range l {
		epsT := x.EpsT
		if im.law == Newton || try == 2 {
			epsT = eps
		}
		changed = changed || x.EpsN != eps || x.EpsT != epsT
		l[i].EpsN, l[i].EpsT = eps, epsT
	}
	return changed
}

// solveBy solves the impact by the law and fills p; false when there is no solution.
func (im *Impact) solveBy(law ImpactLaw, g, v []float64, l []Law, p []float64) bool {
	switch law {
	case Newton:
		return im.newton(g, v, l, p)
	case Sequential:
		return im.sequential(g, v, l, p)
	}
	return im.poisson(g, v, l, p)
}

// newton solves for ξ = v⁺ + ε·v.
func (im *Impact) newton(g, v []float64, l []Law, p []float64) bool {
	xi := im.vc[:len(v)]
	for i, x := range l {
		xi[2*i] = v[2*i] + x.EpsN*min(v[2*i], 0)
		xi[2*i+1] = (1 + x.EpsT) * v[2*i+1]
	}
	return im.compress(g, xi, l, p)
}

// solve is that of the corner, and counts its pivots.
func (im *Impact) solve(g, v, p []float64) bool {
	res, ok := im.c.solve(g, v, p)
	im.pivots += res.Pivots
	return ok
}

// compress brings all contacts to rest along the normal, with Coulomb's law.
func (im *Impact) compress(g, v []float64, l []Law, p []float64) bool {
	im.c.n = len(l)
	for i, x := range l {
		im.c.set(i, x.Mu, lcp.Either)
	}
	return im.solve(g, v, p)
}

// poisson solves compression, then expansion.
func (im *Impact) poisson(g, v []float64, l []Law, p []float64) bool {
	c, w := im.c, len(v)
	vc, pc, pe := im.vc[:w], im.pc[:w], im.pe[:w]
	if !im.compress(g, v, l, pc) {
		return false
	}
	product(g, pc, v, vc)

	// what expansion gives back
	stored := false
	for i, x := range l {
		bound := &c.bound[i]
		bound.Base = x.EpsN * pc[2*i]
		if bound.Base == 0 {
			continue
		}
		stored = true
		// inside the cone a contact sticks, on its edge it slides
		share := x.Nu
		if math.Abs(pc[2*i+1]) < x.Mu*pc[2*i]*(1-1e-12) {
			share = 1
		}
		switch r := share * x.EpsN * x.EpsT * pc[2*i+1]; {
		case r > 0:
			bound.Side, bound.R = lcp.AtLeast, r
		case r < 0:
			bound.Side, bound.R = lcp.AtMost, r
		}
	}
	if !stored {
		copy(p, pc)
		return true
	}
	ok := im.solve(g, vc, pe)
	for i := range p {
		p[i] = pc[i] + pe[i]
	}
	return ok
}

// sequential takes pairs one by one until none closes faster than 1e-9 of the fastest approach at the beginning, at most 200
// times the number of contacts. A last compression of all contacts brings what still closes to rest; where rounding leaves
// that without a solution, an approach of up to 1e-6 of the fastest stays.
func (im *Impact) sequential(g, v []float64, l []Law, p []float64) bool {
	n, w := len(l), len(v)
	ve := im.ve[:w]
	clear(p)
	copy(ve, v)
	slow := 0.0
	for i := range n {
		slow = max(slow, -1e-9*v[2*i])
	}
	for range 200 * n {
		at, fast := -1, -slow
		for i := range n {
			if ve[2*i] < fast {
				at, fast = i, ve[2*i]
			}
		}
		if at < 0 {
			break
		}
		a, b := 2*at, 2*at+1
		im.gg[0], im.gg[1], im.gg[2], im.gg[3] = g[a*w+a], g[a*w+b], g[b*w+a], g[b*w+b]
		im.vv[0], im.vv[1], im.pairLaw[0] = ve[a], ve[b], l[at]
		q := im.pe[:2]
		r := im.pair.Solve(im.gg, im.vv, im.pairLaw, q)
		im.pivots += r.Pivots
		if r.Status == Unsolved {
			return false
		}
		p[a] += q[0]
		p[b] += q[1]
		for i := range ve {
			ve[i] += g[i*w+a]*q[0] + g[i*w+b]*q[1]
		}
	}
	product(g, p, v, ve)
	fast := 0.0
	for i := range n {
		fast = max(fast, -ve[2*i])
	}
	if fast > 0 {
		if !im.compress(g, ve, l, im.pc[:w]) {
			return fast <= 1e3*slow
		}
		for i := range p {
			p[i] += im.pc[i]
		}
	}
	return true
}

// energy is what an impact makes in the frame of the surfaces, ½·Pᵀ(v + v⁺) (J), and the size of its terms.
func energy(v, after, p []float64) (gain, size float64) {
	for i, pi := range p {
		gain += 0.5 * pi * (v[i] + after[i])
		size += 0.5 * math.Abs(pi) * (math.Abs(v[i]) + math.Abs(after[i]))
	}
	return gain, size
}
