package lcp

import (
	"math"

	"hilrig/engine/numeric"
)

// State is what a contact does.
type State uint8

const (
	Open      State = iota // p_N = p_T = 0
	Stick                  // v_N = 0, v_T = 0
	SlipPlus               // v_N = 0, v_T > 0, p_T = −μ·p_N
	SlipMinus              // v_N = 0, v_T < 0, p_T = +μ·p_N

	apart       State = 4 // beside a state: p_N = Base and v_N ≥ 0, see Bound
	closedState State = 3 // the state without
)

var stateNames = [...]string{"open", "stick", "slip +", "slip -"}

func (s State) String() string { return stateNames[s&closedState] }

// sense is the sign of v_T in a sliding contact, otherwise 0.
func (s State) sense() float64 { return senses[s&3] }

var senses = [4]float64{0, 0, 1, -1}

// sliding is the state of a contact that slides with vt.
func sliding(vt float64) State {
	if vt < 0 {
		return SlipMinus
	}
	return SlipPlus
}

// FrictionStatus says what p is worth after Frictional.Solve.
type FrictionStatus uint8

const (
	Verified FrictionStatus = iota // every condition holds on D and b as given, residual ≤ FrictionTol
	Degraded                       // p is finite and inside the friction cones, but the velocities are not all as they should be
	Failed                         // NaN, Inf or a negative μ came in: p is zero, the states are as they were
)

var frictionStatusNames = [...]string{"verified", "degraded", "failed"}

func (s FrictionStatus) String() string { return frictionStatusNames[s] }

// FrictionMethod is the stage that found p.
type FrictionMethod uint8

const (
	ByWarm   FrictionMethod = iota // the old states still held
	ByUpdate                       // states flipped where they were violated
	ByLemke                        // path of the covering parameter through the states
	BySafe                         // contacts made slightly compliant
	BySearch                       // all states tried, SolveBounded alone
)

var frictionMethodNames = [...]string{"warm", "update", "lemke", "safe", "search"}

func (m FrictionMethod) String() string { return frictionMethodNames[m] }

// FrictionTol is the largest residual of a verified solution.
const FrictionTol = 1e-10

const (
	flipTol      = 5e-11 // a condition violated by more than this asks for another state
	coneTol      = 1e-11 // an impulse outside its cone by less than this is put on the cone
	minDiagonal  = 1e-28 // of D_ii, relative to the largest: the square of what rounding leaves of a w that is zero
	largeImpulse = 1e2   // impulses beyond this many σ/√D_ii have their velocities computed in twice the precision
)

// FrictionResult of a Solve.
type FrictionResult struct {
	Status   FrictionStatus
	Method   FrictionMethod
	Rounds   int     // of flipped states
	Pivots   int     // on paths
	Eased    int     // contacts that went without their extra velocity, SolveEased alone
	Clash    bool    // Degraded because the contacts ask for velocities that exclude each other
	Residual float64 // of p in D and b as given, see Frictional
	// NoSolution comes with Degraded when the problem is known to have none: a Clash, or a single contact none of whose states hold.
	NoSolution bool
	// Jams is the number of contacts for which going on to slide as b has it would make the approach worse, D_NN − μ·D_NT·sgn b_T ≤ 0
	// with b_N < 0 [PG96]: Painlevé's case. They are solved like any other, and stick or turn back.
	Jams int
}

// Frictional finds the impulses p of n planar contacts with Coulomb friction from the velocities they have without,
//
//	v = D·p + b,   0 ≤ v_N ⊥ p_N ≥ 0,   |p_T| ≤ μ·p_N,   p_T = −μ·p_N·sgn v_T where v_T ≠ 0
//
// with the order N0, T0, N1, T1, … and D = WᵀM⁻¹W, symmetric and positive semidefinite: contacts may be redundant. There are
// two unknowns per contact instead of the three to five of a linear complementarity problem [PG96]; the third possibility
// of a friction pair is a state.
//
// Solve goes through stages until p is verified. It assumes the old states, which leaves one system of linear equations,
// and flips those that are violated (frictional_states.go). Where that does not settle, it follows Lemke's path from the old
// states, which are seldom more than a few pivots away, then from others (frictional_path.go), and at last makes the contacts a little
// compliant, for which there is always a solution (frictional_safe.go). Whatever found p, it is called verified after the residual has been
// computed on D and b as given.
//
// Some problems have no solution, because b asks opposite contacts for velocities that exclude each other. The path shows
// them by impulses without bound: the result is then degraded with Clash set. SolveEased deals with them.
//
// The residual is free of units and of the sizes of the masses: velocities are measured in √D_ii, the root of twice the energy
// of a unit impulse. With σ = max_i |b_i|/√D_ii it is the largest of |v_N|/√D_NN of a closed contact, |v_T|/√D_TT of one that
// sticks, and the negative part of v_N of an open and ±v_T of a sliding one, over σ + min(10⁻⁴·P, 10σ) with P² = max (p_N²·D_NN
// + p_T²·D_TT): the second term is for what rounding leaves of impulses that are far larger than the velocities ask for. The impulses
// themselves have no residual: p_N ≥ 0 and |p_T| ≤ μ·p_N hold to the last bit.
//
// Where contacts are redundant p is not unique; v is what counts. A contact that could do without its impulse may be
// reported as sliding with v_T = 0 or open with v_N = 0.
//
// One goroutine at a time may use a Frictional.
type Frictional struct {
	max  int
	n    int
	d    []float64 // D as given
	b    []float64 // b as given
	mu   []float64
	sig2 float64 // σ²

	dg, ig        []float64 // diagonal of D, freed of zeros, and 1 over it
	p, v          []float64
	st            []State
	startStates   []State   // at the start
	flipStates    []State   // where flipping ended
	guessImpulses []float64 // impulses at the start, for unknowns that the equations leave free
	bestP         []float64 // admissible impulses with the smallest residual so far
	bestSt        []State
	bestR         float64
	sum           []float64

	coulombOnly bool // Coulomb's law for every contact
	base, r     []float64
	side        []Side

	sys  system
	path path
}

// NewFrictional makes room for up to maxContacts contacts.
func NewFrictional(maxContacts int) *Frictional {
	if maxContacts < 0 {
		panic("lcp: NewFrictional: negative size")
	}
	f := func(k int) []float64 { return make([]float64, k) }
	n2 := 2 * maxContacts
	return &Frictional{
		max: maxContacts, dg: f(n2), ig: f(n2), p: f(n2), v: f(n2), guessImpulses: f(n2), bestP: f(n2), sum: f(n2),
		st: make([]State, maxContacts), startStates: make([]State, maxContacts), flipStates: make([]State, maxContacts),
		bestSt:      make([]State, maxContacts),
		coulombOnly: true, base: f(maxContacts), r: f(maxContacts), side: make([]Side, maxContacts),
		sys: newSystem(maxContacts), path: newPath(maxContacts),
	}
}

// Solve solves the problem of d, row-major with 2n rows, b and mu. state and p are what they were in the last step (all
// zero: nothing known) and become the solution. It allocates nothing and keeps no reference to its arguments; slices that do
// not fit each other are a panic.
func (f *Frictional) Solve(d, b, mu []float64, state []State, p []float64) FrictionResult {
	return f.SolveEased(d, b, nil, mu, state, p)
}

// check panics on slices that do not fit each other.
func (f *Frictional) check(n int, d, b, p []float64) {
	switch {
	case n > f.max:
		panic("lcp: Frictional: more contacts than NewFrictional has room for")
	case len(d) != 4*n*n:
		panic("lcp: Frictional: d has not 2n×2n numbers")
	case len(b) != 2*n || len(p) != 2*n:
		panic("lcp: Frictional: b or p is not of the size of mu")
	}
}

// start checks the problem and takes over what is known from the last step.
func (f *Frictional) start(d, b, mu []float64, state []State, p []float64) bool {
	if !f.setProblem(d, b, mu) {
		return false
	}
	for i, s := range state {
		f.st[i] = s & 3
		f.startStates[i] = s & 3
	}
	for i, x := range p {
		if !numeric.IsFinite(x) {
			x = 0
		}
		f.guessImpulses[i] = x
	}
	return true
}

// finish hands the solution over and says what kind of problem it was.
func (f *Frictional) finish(r *FrictionResult, state []State, p []float64) {
	r.Clash = r.Clash && r.Status == Degraded
	r.NoSolution = r.Status == Degraded && (r.Clash || r.NoSolution)
	for i, mu := range f.mu {
		row := f.d[4*f.n*i:]
		nt := row[2*i+1]
		if f.b[2*i+1] < 0 {
			nt = -nt
		}
		if f.b[2*i] < 0 && mu*nt >= row[2*i] && nt > 0 && f.b[2*i+1] != 0 {
			r.Jams++
		}
	}
	copy(p, f.bestP[:len(p)])
	copy(state, f.bestSt[:len(state)])
	f.d, f.b, f.mu = nil, nil, nil
}

// setProblem checks the problem and prepares the diagonal and σ.
func (f *Frictional) setProblem(d, b, mu []float64) bool {
	n := len(mu)
	w := 2 * n
	if !numeric.AllFinite(d...) {
		return false
	}
	for _, x := range mu {
		if !(x >= 0) || x > math.MaxFloat64 {
			return false
		}
	}
	f.n, f.d, f.b, f.mu = n, d, b, mu
	top := 0.0
	for i := 0; i < len(d); i += w + 1 {
		if d[i] > top {
			top = d[i]
		}
	}
	if top == 0 {
		top = 1
	}
	f.sig2 = 0
	bad := 0.0
	for i, x := range b {
		bad += x - x // NaN of what is not finite
		g := d[i*w+i]
		if g < minDiagonal*top {
			// no impulse changes this velocity: it says nothing about what the others should be measured by
			g = minDiagonal * top
			f.dg[i], f.ig[i] = g, 1/g
			continue
		}
		r := 1 / g
		f.dg[i], f.ig[i] = g, r
		if e := x * x * r; e > f.sig2 {
			f.sig2 = e
		}
	}
	return bad == 0
}

// chain goes through the stages until one is verified.
func (f *Frictional) chain(r *FrictionResult) {
	f.bestR = math.Inf(1)
	done := func(by FrictionMethod) bool {
		r.Status, r.Method, r.Residual = Verified, by, f.bestR
		return f.bestR <= FrictionTol
	}
	if f.n == 1 && f.coulombOnly && f.single(r) {
		return
	}
	// old states, flipped where need be
	before := r.Rounds
	if f.update(maxRounds, &r.Rounds); done(ByWarm) {
		if r.Rounds > before {
			r.Method = ByUpdate
		}
		return
	}
	// paths: from the old states, from those at hand, from all open
	limit := r.Pivots + 40*f.n + 40
	copy(f.flipStates, f.st[:f.n])
	r.Clash = false
	for from := range 3 {
		if from == 0 && !f.coulombOnly {
			continue // nothing is known
		}
		most := min(limit, r.Pivots+4*f.n+10)
		switch from {
		case 0:
			copy(f.st, f.startStates[:f.n])
		case 1:
			copy(f.st, f.flipStates[:f.n])
		case 2:
			most = limit
			clear(f.st[:f.n])
		}
		if f.follow(pathEps, most, &r.Pivots) {
			clash := f.huge() > clashSize
			if f.update(polishRounds, &r.Rounds); done(ByLemke) {
				return
			}
			if clash {
				// there is no solution to be found by other means
				r.Status, r.Clash = Degraded, true
				return
			}
		}
	}
	r.Status = Degraded
}
