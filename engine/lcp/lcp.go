// Package lcp solves linear complementarity problems: find z with
//
//	z ≥ 0,   w = M·z + q ≥ 0,   zᵀw = 0        [CPS09] 1.1
//
// the form that unilateral contact with Coulomb friction, impacts and quadratic programs take. M may be any square matrix.
//
// Solve scales M symmetrically by powers of two (scale.go) and follows Lemke's path with lexicographic ties (lemke.go). Where that path
// does not end at a solution, more follow: Lemke–Howson for bimatrix games (bimatrix.go), Lemke's path with rows and columns scaled
// each for itself, and linear programs (branch.go). The first of these shows whether there is any z ≥ 0 with w ≥ 0, the others go
// through all parts of the problem, up to 100 unknowns. What any of them finds is a set of unknowns that may be positive, nothing more: z
// follows from M and q as given, and it is called solved after its residual has been computed from M and q as given (residual.go).
// "Infeasible" likewise takes a certificate that holds for M and q as given.
//
// Everything is dense and in double precision. The keys in brackets resolve in docs/reference/references.md.
package lcp

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// Status says how a Solve has ended. z holds a solution after Solved and Trivial alone; otherwise it is zero.
type Status uint8

const (
	Solved        Status = iota // solution with a residual of at most Tol
	Trivial                     // q ≥ 0: z = 0
	RayInfeasible               // no z ≥ 0 has M·z + q ≥ 0; Solver.Certificate is the proof
	RayUnknown                  // Lemke's path left on a ray and nothing else helped: there may be a solution or not, see Result.NoSolution
	PivotLimit                  // the pivots or the work allowed were used up
	Numeric                     // NaN or Inf in M or q, or rounding spoilt what was found
)

var statusNames = [...]string{"solved", "trivial", "ray infeasible", "ray unknown", "pivot limit", "numeric"}

func (s Status) String() string { return statusNames[s] }

// OK tells whether z is a solution.
func (s Status) OK() bool { return s <= Trivial }

// Method is what found the solution or the certificate.
type Method uint8

const (
	None        Method = iota // nothing was found, or nothing had to be
	Lemke                     // lexicographic Lemke, covering vector of ones
	LemkeHowson               // start for bimatrix games
	PhaseOne                  // phase one of the simplex method: certificates only
	Branch                    // all parts of a problem that is not too large
)

var methodNames = [...]string{"none", "lemke", "lemke-howson", "phase one", "branching"}

func (m Method) String() string { return methodNames[m] }

// Tol is the largest residual of a solution.
const Tol = 1e-9

// Result of a Solve.
type Result struct {
	Status   Status
	Pivots   int     // of all methods tried; a linear program counts once
	Residual float64 // of z in M and q as given (residual.go); after a failure that of the best candidate, +Inf without one
	Method   Method
	// NoSolution comes with RayUnknown and Branch: z ≥ 0 with w ≥ 0 may exist, but none with zᵀw = 0. Every part of the problem has
	// been looked at, to rounding (branch.go).
	NoSolution bool
}

// Solver holds the workspace of problems with up to a given number of unknowns. One goroutine at a time may use it.
type Solver struct {
	// Work bounds what is done in all behind Lemke's first path, in multiplications of two numbers, about: 10⁹ of them are a second or
	// less. 0: 10⁹ + 4n³. A link of the chain may use half of what the ones before it have left.
	Work float64

	max int
	n   int
	m   []float64 // M as given
	q   []float64 // q as given

	s, c  []float64 // scales of rows and of columns: M̃ = R·M·C, q̃ = R·q/sigma
	sigma float64

	basis basis
	// less the covering vector, d > 0: numbers between 1 and 2, all different, so that ties are rare and Murty's examples short
	d            []float64
	nonzero      []int     // unknowns that are not zero
	values       []float64 // the same
	positive     []bool    // unknowns that may be positive
	leavingRows  []bool    // rows of which w leaves a basis that is built up
	set          []int     // the same as a list
	lu           engine.LU
	colour       []int // side of each unknown in a game
	rhs          []float64
	x, y         []float64 // candidates for z
	br           brancher
	bestResidual float64 // residual of the best candidate
	exactRows    bool    // see residual
	sharp        bool    // see residual
	bestSharp    bool    // of the best candidate: exactRows and sharp
	workLeft     float64 // of Work, for the link at hand
	spare        float64 // for those behind it
	shareSpent   bool    // a link has used up its share
	cert         []float64
	proof        bool
}

// NewSolver makes room for problems with up to n unknowns.
func NewSolver(n int) *Solver {
	if n < 0 {
		panic("lcp: NewSolver: negative size")
	}
	f := func(k int) []float64 { return make([]float64, k) }
	d := f(n)
	for i := range d {
		d[i] = -1 - golden(i)
	}
	return &Solver{
		max: n, workLeft: math.Inf(1), s: f(n), c: f(n), d: d, nonzero: make([]int, n+1), values: f(n + 1), positive: make([]bool, n),
		set: make([]int, n), lu: engine.NewLU(n), colour: make([]int, n), rhs: f(n), x: f(n), y: f(n), br: newBrancher(n),
		leavingRows: make([]bool, n), cert: f(n), basis: newBasis(n),
	}
}

// Solve solves the problem of m, row-major, and q, and fills z. It allocates nothing and keeps no reference to its
// arguments. The size is that of q, at most that of NewSolver; slices that do not fit each other are a panic.
func (s *Solver) Solve(m, q, z []float64) Result {
	n := len(q)
	switch {
	case n > s.max:
		panic("lcp: Solve: more unknowns than NewSolver has room for")
	case len(m) != n*n:
		panic("lcp: Solve: m is not square, or not of the size of q")
	case len(z) != n:
		panic("lcp: Solve: z is not of the size of q")
	}
	s.n, s.m, s.q, s.bestResidual = n, m, q, math.Inf(1)
	r := s.chain(z)
	s.m, s.q, s.proof = nil, nil, r.Status == RayInfeasible
	if !r.Status.OK() {
		clear(z)
	}
	return r
}

// Certificate returns u of the last Solve when that ended with RayInfeasible, otherwise nil: u ≥ 0, Mᵀu ≤ 0 and qᵀu < 0,
// with which no z ≥ 0 can have w = M·z + q ≥ 0, because 0 ≤ uᵀw = (Mᵀu)ᵀz + qᵀu < 0. The slice is valid until the next
// Solve.
func (s *Solver) Certificate() []float64 {
	if !s.proof {
		return nil
	}
	return s.cert[:s.n]
}

// Dense makes the row-major matrix of Solve from rows, as a file has them, and says all that is wrong with rows and q.
func Dense(rows [][]float64, q []float64) ([]float64, error) {
	var errs []error
	n := len(q)
	if n == 0 {
		errs = append(errs, errors.New("q: empty, want one number or more"))
	}
	if len(rows) != n {
		errs = append(errs, fmt.Errorf("matrix M: %d rows, want %d as in q", len(rows), n))
	}
	for i, v := range q {
		if !numeric.IsFinite(v) {
			errs = append(errs, fmt.Errorf("q[%d]: %v, want a finite number", i, v))
		}
	}
	m := make([]float64, 0, n*n)
	for i, row := range rows {
		if len(row) != n {
			errs = append(errs, fmt.Errorf("matrix M[%d]: %d numbers, want %d as in q", i, len(row), n))
		}
		for j, v := range row {
			if !numeric.IsFinite(v) {
				errs = append(errs, fmt.Errorf("matrix M[%d][%d]: %v, want a finite number", i, j, v))
			}
		}
		m = append(m, row...)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return m, nil
}
