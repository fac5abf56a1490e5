package contact

import (
	"cmp"
	"math"

	"hilrig/engine"
	"hilrig/engine/lcp"
	"hilrig/engine/numeric"
)

// Moreau steps a System with a fixed length h at the level of velocities and impulses [M88b]: contacts that close, slip, stick or
// open during a step are all settled by one problem of two unknowns per closed contact, so the work of a step is bounded.
// One step from (q, u) at t, in this order:
//
//	u_free = u + M̂⁻¹·h·(f − hθK·u),  M̂ = M + hθC + h²θ²K          all at (t, q)
//	q_m    = q + ½h·u                                             the contacts are looked for here, at t + ½h
//	closed = {i: g_N(q_m) ≤ 0}
//	0 ≤ P_N ⊥ ġ_N⁺ + ε_N·ġ_N⁻ + β·g_N/h ≥ 0,   |P_T| ≤ μ·P_N against ġ_T⁺ + ε_T·ġ_T⁻,   ġ⁺ = ġ(u_free) + WᵀM̂⁻¹W·P
//	u⁺ = u_free + M̂⁻¹W·P,   q⁺ = q + h·(θu⁺ + (1−θ)u)
//
// ε counts where ġ_N⁻ = ġ_N(u) < −VTh, β·g_N/h where g_N < 0. The error is of first order in h with β = 0 or
// Positions, which puts the times of impacts right (moreau_impact.go). With β·g_N/h
// a contact that opens soon after an impact keeps some of the speed of that impact, as if its ε were larger by about β/2:
// of no account where spring forces keep contacts closed, as on the brush, but an error that does not fall with h.
//
// With EndOfStep the contacts are looked for at the end of the step, q + (1−θ)h·u at t + h, the way [ST96] does: closed are those
// that u_free would bring to g_N + hθ·w_N·u_free ≤ 0, and the row is w_N·u⁺ + g_N/(hθ) ≥ 0, without drift. The velocity of
// the surface is in the gap already. A contact that is new and approaches faster than VTh has the row of restitution instead
// where that asks for more. This is quieter at rest and rebounds by (1−θ)/θ from contacts that close just at the
// start of a step: θ ≥ 0.75 where restitution matters.
//
// A System that is Stiff has K and C; every other force is explicit. One goroutine at a time may use a Moreau.
type Moreau struct {
	// Of the last step: the contacts looked at, the closed ones among them, and for closed contact k the impulses
	// P_N = Impulse[2k], P_T = Impulse[2k+1] (N·s; P/h is the force) and how it ended.
	Set          *Set
	ClosedPlaces []int32
	Impulse      []float64
	State        []lcp.State

	MoreauCounts
	Overrun Overrun // the worst of Overruns; a missed contact comes before depth, which may be its consequence

	sys            System
	swp            Sweeper // nil: does not know
	dyn            Dynamics
	opt            MoreauOptions
	fric           *lcp.Frictional
	mem            memory
	two            *poisson   // nil: Newton's law
	positionSolver *positions // nil: penetration is taken back in the rows of velocity

	maxClosedGap float64 // m, the gap up to which a contact is closed
	closedReach  float64 // m, the next number, below which contacts are listed
	lift         float64 // m, the gap up to which one that lasts is closed as well, see turning
	dof          int
	qm, ufree    []float64
	qLook        []float64 // qm of the step before
	tLook        float64   // s, its time
	qnew         []float64
	unew         []float64
	lag          []float64 // s, see sinceImpact; 0: no impact
	stays        []bool
	visited      []bool    // contact of an impact, see impactGroup
	queue        []int32   // contacts of one impact
	coordMoved   []bool    // coordinate
	struck       bool      // the step has an impact
	lastBlow     int64     // number of the last step in which a contact approached faster than forces explain
	maxLag       float64   // s, the most of lag in the step before: bodies moved as much further without a look for contacts
	maxApproach  float64   // m/s, the fastest approach of a closed contact, which fades at half the rate at which depth is taken back
	maxForced    float64   // m/s, the largest change of the approach of a closed contact by forces in a step, which fades in the same way
	vf           []float64 // ġ(u_free), N and T of each closed contact
	vk           []float64 // ġ_N(u)
	turn         []float64 // m/s, see turning
	blow         []bool    // it approaches faster than forces explain
	c            []float64 // what restitution and β·g_N/h add to it
	d, x         []float64
	mu           []float64
	memPlaces    []uint32 // places in mem
}

// StepResult says how a step went. Status is OK; NotConverged when the contact problem was not verified; Limited when closed
// contacts were left out; NonFinite when q, u, the forces or the result were not finite or M̂ was not positive definite: then
// q and u are as before.
type StepResult struct {
	Status      engine.Status
	ClosedCount int
	Solve       lcp.FrictionResult
}

// crowded is the number of steps below which the time between blows is not much longer than what a step resolves.
const crowded = 4

// firstRoom is the number of closed contacts that find room without MaxContacts, until a step has more.
const firstRoom = 24

// Gaps up to which a contact counts as closed (m).
const (
	touchGap   = 1e-15 // the rounding of positions of some metres
	touchScene = 1e-13 // with Positions: stacks of bodies add it up, and hop where it leaves a gap
)

// looked is the least number of contacts that find room in Set: with EndOfStep all pairs are listed, however wide their gaps.
const looked = 512

// NewMoreau checks the options, all of them at once, and makes room for everything a step needs.
func NewMoreau(sys System, opt MoreauOptions) (*Moreau, error) {
	f := sys.DOF()
	if err := opt.setDefaults(f); err != nil {
		return nil, err
	}

	v := func(k int) []float64 { return make([]float64, k) }
	set := newSet(0, looked, f)
	if opt.MaxContacts > 0 {
		set = NewSet(max(4*opt.MaxContacts, looked), f)
	}
	m := &Moreau{
		Set: set, maxClosedGap: touchGap, sys: sys, dyn: dynamicsOf(sys), opt: opt, dof: f,
		qm: v(f), qLook: v(f), qnew: v(f), ufree: v(f), unew: v(f), coordMoved: make([]bool, f),
	}
	m.swp, _ = sys.(Sweeper)
	if opt.Positions {
		m.maxClosedGap = touchScene
	}
	m.closedReach = math.Nextafter(m.maxClosedGap, 1)
	m.room(cmp.Or(opt.MaxContacts, firstRoom))
	m.Reset()
	return m, nil
}

// room makes room for n closed contacts and keeps those chosen so far.
func (m *Moreau) room(n int) {
	m.ClosedPlaces = append(make([]int32, 0, n), m.ClosedPlaces...)
	m.State, m.memPlaces, m.stays, m.visited, m.queue = resized(m.State, n), resized(m.memPlaces, n), make([]bool, n), make([]bool, n),
		make([]int32, 0, n)
	m.Impulse, m.vf, m.c = resized(m.Impulse, 2*n), resized(m.vf, 2*n), resized(m.c, 2*n)
	m.vk, m.mu, m.lag, m.turn = resized(m.vk, n), resized(m.mu, n), resized(m.lag, n), resized(m.turn, n)
	m.blow = resized(m.blow, n)
	m.d, m.x = make([]float64, 4*n*n), make([]float64, 2*n*m.dof)
	m.fric = lcp.NewFrictional(n)
	makeRoom(m.dyn, n)
	if m.opt.Impact == Poisson || m.opt.Positions {
		m.two = newPoisson(m.opt.Impact, n)
	}
	if m.opt.Positions && m.opt.Beta > 0 {
		m.positionSolver = newPositions(n)
	}
	old := m.mem.slot
	m.mem = newMemory(n)
	for _, e := range old {
		if e.stamp != 0 {
			at, _ := m.mem.place(e.id)
			m.mem.slot[at] = e
		}
	}
	for i, c := range m.ClosedPlaces {
		m.memPlaces[i], _ = m.mem.place(m.Set.ID[c])
	}
}

// Reset forgets contact states and counters.
func (m *Moreau) Reset() {
	m.MoreauCounts, m.Overrun, m.maxLag, m.maxApproach, m.maxForced, m.lift, m.lastBlow = MoreauCounts{}, Overrun{}, 0, 0, 0, 0, 0
	m.Set.Clear()
	m.Set.Dropped = 0
	m.clearResults()
	clear(m.mem.slot)
}

// clearResults empties the results of the last step.
func (m *Moreau) clearResults() {
	m.ClosedPlaces, m.Impulse, m.State = m.ClosedPlaces[:0], m.Impulse[:0], m.State[:0]
}

// SetStep changes the length of the steps to come (s, > 0).
func (m *Moreau) SetStep(h float64) {
	if !(h > 0) || math.IsInf(h, 0) {
		panic("contact: SetStep: length is not positive")
	}
	m.opt.Step = h
}

// StepLength is h (s).
func (m *Moreau) StepLength() float64 { return m.opt.Step }

// Step advances q and u in place from t to t+h. It allocates nothing, but for a step that makes room (MaxContacts 0), and keeps no
// reference to its arguments.
func (m *Moreau) Step(t float64, q, u []float64) StepResult {
	if len(q) != m.dof || len(u) != m.dof {
		panic("contact: Step: q or u is not of the size of the system")
	}
	h, theta := m.opt.Step, m.opt.Theta
	m.Steps++

	// motion without contact
	if t-t != 0 || !numeric.AllFinite(q...) || !numeric.AllFinite(u...) || !m.dyn.Free(t, h, theta, q, u, m.ufree) {
		return m.refuse()
	}
	// contacts, their states and right-hand sides
	ahead, tc, reach := 0.5*h, t+0.5*h, m.closedReach+m.lift
	if m.opt.EndOfStep {
		ahead, tc, reach = (1-theta)*h, t+h, m.opt.Reach
	}
	if m.swp != nil {
		m.qm, m.qLook = m.qLook, m.qm
	}
	qm := m.qm
	for j, v := range u {
		qm[j] = q[j] + ahead*v
	}
	dropped := m.Set.Dropped
	m.sys.Contacts(tc, qm, u, reach, m.Set)
	left := m.Set.Dropped - dropped + m.close(u)
	if m.swp != nil {
		far := m.deepest(t)
		if m.Steps == 1 {
			copy(m.qLook, q)
			m.tLook = t
		}
		if a, b, share := m.swp.Missed(h+m.maxLag, m.tLook, m.qLook); share > 0 {
			far = Overrun{A: a, B: b, T: t, Share: share, Missed: true}
		}
		m.tLook = tc
		if far.Share > 1 {
			m.Overruns++
		}
		if far.Missed && !m.Overrun.Missed || far.Missed == m.Overrun.Missed && far.Share > m.Overrun.Share {
			m.Overrun = far
		}
	}

	// impulses
	res := StepResult{ClosedCount: len(m.ClosedPlaces)}
	unew := m.unew
	copy(unew, m.ufree)
	m.maxLag = 0
	var gain, scale float64
	if n := len(m.ClosedPlaces); n > 0 {
		x, d := m.x[:2*n*m.dof], m.d[:4*n*n]
		m.dyn.Project(m.Set, m.ClosedPlaces, x, d)
		if m.two == nil {
			res.Solve = m.fric.SolveEased(d, m.vf[:2*n], m.c[:2*n], m.mu[:n], m.State, m.Impulse)
			gain, scale = work(d, m.Impulse, m.vf)
		} else {
			res.Solve, gain, scale = m.two.solve(m, d)
		}
		if res.Solve.Status == lcp.Failed {
			return m.refuse()
		}
		addRows(unew, m.Impulse, x)
	}

	// positions; what is not finite is not taken
	qnew := m.qnew
	for j, v := range unew {
		qnew[j] = q[j] + h*(theta*v+(1-theta)*u[j])
	}
	if m.opt.Positions && len(m.ClosedPlaces) > 0 {
		m.sinceImpact(m.d[:4*len(m.ClosedPlaces)*len(m.ClosedPlaces)], u, qnew)
		if m.positionSolver != nil {
			m.positionSolver.correct(m, qm, qnew)
		}
	}
	if !numeric.AllFinite(qnew...) || !numeric.AllFinite(unew...) {
		return m.refuse()
	}
	copy(q, qnew)
	copy(u, unew)

	// what the next step starts from
	for k, c := range m.ClosedPlaces {
		e := &m.mem.slot[m.memPlaces[k]]
		e.stamp, e.h, e.pn, e.pt, e.id = m.Steps, h, m.Impulse[2*k], m.Impulse[2*k+1], m.Set.ID[c]
		e.state, e.hit, e.blow = m.State[k], m.struck, m.blow[k]
		if m.positionSolver != nil {
			e.positionState, e.lambda = m.positionSolver.state[k], m.positionSolver.p[2*k]
		}
	}
	m.count(&res, left, gain, scale)
	return res
}

// Forces appends what closed contacts did in the last step: their impulses over span (s).
func (m *Moreau) Forces(list []ContactForce, span float64) []ContactForce {
	for k, c := range m.ClosedPlaces {
		list = append(list, m.Set.force(int(c), m.Impulse[2*k]/span, m.Impulse[2*k+1]/span))
	}
	return list
}

// refuse ends a step that leaves q and u alone.
func (m *Moreau) refuse() StepResult {
	m.clearResults()
	m.NonFiniteSteps++
	return StepResult{Status: engine.NonFinite}
}

// close fills ClosedPlaces with the closed contacts of Set and the right-hand sides, expected states and impulses that belong to
// them. It returns how many found no room.
func (m *Moreau) close(u []float64) (left int) {
	s, f, h := m.Set, m.dof, m.opt.Step
	atEnd, perDepth, perGap := m.opt.EndOfStep, m.opt.Beta/h, 1/(h*m.opt.Theta)
	if m.positionSolver != nil {
		perDepth = 0
	}
	uf := m.ufree[:f]
	u = u[:f]
	n := 0
	blowBefore := m.lastBlow == m.Steps-1
	blows := 0
	m.struck = false
	approach, forced := m.maxApproach*(1-0.5*m.opt.Beta), m.maxForced*(1-0.5*m.opt.Beta)
	m.ClosedPlaces, m.Impulse, m.State = m.ClosedPlaces[:0], m.Impulse[:cap(m.Impulse)], m.State[:cap(m.State)]
	lift := 0.0
	for c := range s.N {
		gap := s.Gap[c]
		apart := gap > m.maxClosedGap && !atEnd
		if apart && (m.lift == 0 || !m.lasted(s.ID[c])) { // lift is that of the step before
			continue
		}
		wn, wt := s.WN[c*f:][:f], s.WT[c*f:][:f]
		var nk, nf, tf float64
		for j, v := range uf {
			a := wn[j]
			nk += a * u[j]
			nf += a * v
			tf += wt[j] * v
		}
		end := nf + gap*perGap
		nk, nf, tf = nk+s.VN[c], nf+s.VN[c], tf+s.VT[c]
		bend, turn := 0.0, 0.0
		if m.opt.Positions && s.AN[c] > 0 {
			bend = m.turning(c, u)
			lift = max(lift, 4*h*bend)
			if nk-bend >= -m.opt.VTh || s.Law[c].EpsN == 0 {
				turn = bend
			}
		}
		if apart && gap > m.maxClosedGap+2*h*turn {
			continue
		}
		// u_free would not close it
		if atEnd && end > 0 {
			continue
		}
		i := n
		if n == cap(m.ClosedPlaces) && m.opt.MaxContacts == 0 {
			m.room(2 * n)
		}
		if n == cap(m.ClosedPlaces) {
			left++
			if i = m.shallowest(); gap >= s.Gap[m.ClosedPlaces[i]] {
				continue
			}
		}
		pull := math.Abs(nf - nk) // of the forces of a step
		if -nk > approach {
			approach = -nk
		}
		if pull > forced {
			forced = pull
		}

		law := &s.Law[c]
		at, known := m.mem.place(s.ID[c])
		old := &m.mem.slot[at]
		was := known && old.stamp == m.Steps-1 && old.pn > 0
		approaches := -nk > m.opt.VTh+2*pull // faster than the forces of the steps without it make it
		if approaches {
			blows++
		}
		if known && old.stamp == m.Steps-2 && old.pn > 0 {
			switch {
			case !approaches:
				m.Flickers++
			case blowBefore && !old.blow:
				m.Unsupported++
			}
		}
		cn, ct, blow := 0.0, 0.0, approaches
		switch {
		case atEnd:
			cn = end - nf
		case turn > 0:
			if was {
				nk -= turn // at the beginning of the step
				blow = -nk > m.opt.VTh+2*math.Abs(nf-nk)
			}
			cn = turn + m.opt.Beta*max(gap-0.25*h*turn, 0)/h
		case gap < 0:
			cn = perDepth * gap
		}
		if nk < -m.opt.VTh && m.two == nil && !(atEnd && was) {
			if atEnd {
				cn = min(cn, law.EpsN*nk)
			} else {
				cn += law.EpsN * nk
			}
			if law.EpsT > 0 {
				_, tk := s.Rate(c, u)
				ct = law.EpsT * tk
			}
		}
		if i == n {
			m.ClosedPlaces = m.ClosedPlaces[:n+1]
			n++
		}
		m.ClosedPlaces[i] = int32(c)
		m.vk[i], m.mu[i], m.memPlaces[i] = nk, law.Mu, at
		m.vf[2*i], m.vf[2*i+1] = nf, tf
		m.c[2*i], m.c[2*i+1] = cn, ct
		m.lag[i], m.turn[i], m.blow[i] = 0, bend, blow
		if m.opt.Positions && (nk < -m.opt.VTh || nk < 0 && !was) {
			hit := 0.5*h + min(gap/-nk, 0) // gap may be a rounding error
			if was {
				hit = max(hit, 0)
			}
			m.lag[i] = (1-m.opt.Theta)*h - max(hit, -0.5*h)
			m.struck = true
		}
		m.State[i], m.Impulse[2*i], m.Impulse[2*i+1] = old.expect(known, was, h, nf+cn, tf+ct)
	}
	m.Impulse, m.State = m.Impulse[:2*n], m.State[:n]
	m.lift, m.maxApproach, m.maxForced = lift, approach, forced
	if blows > 0 {
		m.Blows++
		if blows > 1 || m.lastBlow > 0 && m.Steps-m.lastBlow <= crowded {
			m.Crowded++
		}
		m.lastBlow = m.Steps
	}
	return left
}

// lasted tells whether contact id had an impulse in the step before.
func (m *Moreau) lasted(id uint32) bool {
	at, known := m.mem.place(id)
	return known && m.mem.slot[at].stamp == m.Steps-1 && m.mem.slot[at].pn > 0
}

// turning is ½h·A_N, by which ġ_N of contact c grows in half a step because its bodies turn about each other (m/s). It is 0 where they
// turn so much that A_N tells nothing of half a step.
func (m *Moreau) turning(c int, u []float64) float64 {
	half, size := 0.5*m.opt.Step*m.Set.AN[c], math.Abs(m.Set.VN[c])+math.Abs(m.Set.VT[c])
	wn, wt := m.Set.RowN(c), m.Set.RowT(c)
	for j, v := range u {
		size += math.Abs(wn[j]*v) + math.Abs(wt[j]*v)
	}
	if half > 0.1*size {
		return 0
	}
	return half
}

// deepest is the deepest of the closed contacts at t, against three times what the fastest approach of late closes in a step: an impact
// is found at half of that or less, and a body that hops at rest closes no faster than forces make it while depth is taken back. Deeper are
// bodies that were struck again from behind before a step could part them: those impacts have no order in time.
func (m *Moreau) deepest(t float64) (o Overrun) {
	at, deep := int32(-1), 0.0
	for _, c := range m.ClosedPlaces {
		if g := -m.Set.Gap[c]; g > deep {
			at, deep = c, g
		}
	}
	fast := max(m.maxApproach, m.opt.VTh, m.maxForced/max(m.opt.Beta, 0.1))
	if share := deep / (3*m.opt.Step*fast + 1e-8); share > 1 {
		o.T, o.Share = t, share
		o.A, o.B = Pair(m.sys, m.Set.ID[at])
	}
	return o
}

// shallowest is the place of the chosen contact with the widest gap.
func (m *Moreau) shallowest() (at int) {
	for k, c := range m.ClosedPlaces {
		if m.Set.Gap[c] > m.Set.Gap[m.ClosedPlaces[at]] {
			at = k
		}
	}
	return at
}

// work is what impulses p do on the bodies that come with relative velocities v, those of the surfaces included:
//
//	E = ½·Σ P·(ġ(u_free) + ġ(u⁺)) = Pᵀ·(v + ½·D·P)
//
// At most zero without restitution and without β; scale is what its rounding is measured by.
func work(d, p, v []float64) (e, scale float64) {
	for i, pi := range p {
		if pi == 0 {
			continue
		}
		row, dp := d[i*len(p):][:len(p)], 0.0
		for j, pj := range p {
			dp += row[j] * pj
		}
		e += pi * (v[i] + 0.5*dp)
		scale += math.Abs(pi*v[i]) + math.Abs(0.5*pi*dp)
	}
	return e, scale
}

func (m *Moreau) count(res *StepResult, left int, gain, scale float64) {
	if n := len(m.ClosedPlaces); n > 0 {
		m.ClosedContacts += int64(n)
		m.Solves++
		m.Pivots += int64(res.Solve.Pivots)
		m.ByMethod[int(res.Solve.Method)%len(m.ByMethod)]++
		if res.Solve.Rounds > 0 {
			m.Updates++
		}
		m.Exchanged += scale
		if gain > 1e-10*scale {
			m.EnergyGains++
			m.Gained += gain
		} else {
			m.Dissipated -= gain
		}
		if res.Solve.Jams > 0 {
			m.Painleve++
		}
		switch {
		case res.Solve.Status != lcp.Verified:
			m.Degraded++
			if res.Solve.NoSolution {
				m.NoSolution++
			}
			res.Status = engine.NotConverged
		case res.Solve.Eased > 0:
			m.Eased++
		}
	}
	if left > 0 {
		m.DroppedContacts += int64(left)
		if res.Status == engine.OK {
			res.Status = engine.Limited
		}
	}
}
