package drivetrain

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// Train is a machine in which the parts are tried: a mechanics, its parts and rows. Its mean speeds w of a step make the equations hold
// for the means,
//
//	2·M·(w − v)/h + c(q + hw/2, w) = Σ τ̄(w) + Σ b_r·λ_r,   X_r·w = ρ̄_r,   q⁺ = q + hw,   v⁺ = 2w − v.
//
// A damper far stiffer than 2M/h leaves a speed that alternates about the w of the steps. State x = [q | v | z of the parts in their
// order]. Not for concurrent use.
type Train struct {
	Mech  Mechanics
	Parts []Part
	Rows  []Row

	n, nz  int
	at     []int // where the states of each part begin in z
	eq     equations
	fixed  fixed
	looped Looped     // nil: no loops
	owned  [][]number // parameters of the mechanics and of each part but circuits
}

// New checks the parts and rows against the mechanics. The error joins all that is wrong.
func New(m Mechanics, parts []Part, rows []Row) (*Train, error) {
	tr := &Train{Mech: m, Parts: parts, Rows: rows, n: len(m.Coordinates())}
	var errs []error
	if v, ok := m.(interface{ validate() error }); ok {
		errs = append(errs, v.validate())
	}
	errs = append(errs, Check(tr.n, parts))
	names := map[string]bool{}
	for _, p := range parts {
		names[p.Name()] = true
	}
	for _, r := range rows {
		errs = append(errs, prefixErrors(r.Name(), r.check(tr.n)))
		if names[r.Name()] {
			errs = append(errs, fmt.Errorf("%s: two parts of this name", r.Name()))
		}
		names[r.Name()] = true
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, p := range parts {
		tr.at = append(tr.at, tr.nz)
		tr.nz += len(p.States())
	}
	loops := 0
	if l, ok := m.(Looped); ok && l.Loops() > 0 {
		tr.looped, loops = l, l.Loops()
	}
	tr.eq = newEquations(tr.n, len(rows), loops)
	for k, r := range rows {
		if err := r.place(tr); err != nil {
			return nil, err
		}
		r.coefficients(tr.eq.x[k*tr.n : (k+1)*tr.n])
	}
	if err := tr.eq.independent(rows); err != nil {
		return nil, err
	}
	tr.fixed = newFixed(tr)
	tr.bind()
	return tr, nil
}

// Layout names the state; the outputs are positions and speeds.
func (tr *Train) Layout() engine.Layout {
	l := engine.Layout{NQ: tr.n, NV: tr.n, NA: tr.nz}
	l.States = append(l.States, tr.Mech.Coordinates()...)
	for _, q := range tr.Mech.Coordinates() {
		l.States = append(l.States, engine.Signal{Name: strings.TrimSuffix(q.Name, ".position") + ".velocity", Unit: q.Unit + "/s"})
	}
	l.Outputs = append(l.Outputs, l.States...)
	for _, p := range tr.Parts {
		l.States = append(l.States, p.States()...)
	}
	return l
}

// NewState is at rest at zero, every part as it begins.
func (tr *Train) NewState() []float64 {
	x := make([]float64, 2*tr.n+tr.nz)
	for k, p := range tr.Parts {
		p.Reset(tr.own(k, x[2*tr.n:]))
	}
	return x
}

// own are the states of part k in z.
func (tr *Train) own(k int, z []float64) []float64 {
	end := tr.nz
	if k+1 < len(tr.at) {
		end = tr.at[k+1]
	}
	return z[tr.at[k]:end:end]
}

// equations solve [M −B; X ε]·[a; λ] = [τ; ρ′], the columns of B by the signs of λ. The last rows are those of loops, B = Xᵀ; they may be
// redundant, for which ε is a trace of their compliance, 10⁻¹² of it; for all other rows it is zero.
type equations struct {
	n, k     int
	loops    int       // of k
	x        []float64 // k×n
	m, b     []float64 // n×n, k×n
	lambda   []float64
	positive []bool
	soft     float64 // ε
	lu       engine.LU
	rhs      []float64
}

func newEquations(n, rows, loops int) equations {
	k := rows + loops
	return equations{n: n, k: k, loops: loops, x: make([]float64, k*n), m: make([]float64, n*n), b: make([]float64, k*n),
		lambda:   make([]float64, k),
		positive: make([]bool, k), lu: engine.NewLU(n + k), rhs: make([]float64, n+k)}
}

// independent refuses rows that say the same or contradict each other.
func (e *equations) independent(rows []Row) error {
	basis := make([]float64, 0, len(e.x))
	for k := range rows {
		row := append([]float64(nil), e.x[k*e.n:(k+1)*e.n]...)
		size := numeric.RMS(row)
		for at := 0; at < len(basis); at += e.n {
			dot := 0.0
			for i := range row {
				dot += row[i] * basis[at+i]
			}
			for i := range row {
				row[i] -= dot * basis[at+i]
			}
		}
		left := numeric.RMS(row)
		if !(left > 1e-9*size) {
			return fmt.Errorf("%s: ties speeds that the rows before it tie already: it is redundant or contradicts them, leave it out",
				rows[k].Name())
		}
		length := 0.0
		for _, v := range row {
			length += v * v
		}
		for i := range row {
			row[i] /= math.Sqrt(length)
		}
		basis = append(basis, row...)
	}
	return nil
}

// solve finds a and λ for the matrix m (n×n) on the left, tau and rho on the right; v are the speeds that choose the losses. a is the
// first part of rhs then.
func (e *equations) solve(rows []Row, m, tau, rho, v []float64) engine.Status {
	n, k := e.n, e.k
	w := n + k
	e.soft = 0
	for r := len(rows); r < k; r++ {
		for i, c := range e.x[r*n : (r+1)*n] {
			e.soft += 1e-12 * c * c / m[i*n+i] / float64(e.loops)
		}
	}
	for turn := 0; ; turn++ {
		a := e.lu.A
		clear(a)
		for i := range n {
			copy(a[i*w:], m[i*n:(i+1)*n])
			e.rhs[i] = tau[i]
		}
		for r := range k {
			b, x := e.b[r*n:(r+1)*n], e.x[r*n:(r+1)*n]
			if r < len(rows) {
				clear(b)
				rows[r].force(v, e.positive[r], b)
			} else {
				copy(b, x)
				a[(n+r)*w+n+r] = e.soft
			}
			for i := range n {
				a[i*w+n+r] = -b[i]
			}
			copy(a[(n+r)*w:], x)
			e.rhs[n+r] = rho[r]
		}
		if !e.lu.Factor() {
			return engine.NonFinite
		}
		e.lu.Solve(e.rhs)
		if !numeric.AllFinite(e.rhs...) {
			return engine.NonFinite
		}
		agreed := true
		for r := range rows {
			l := e.rhs[n+r]
			if p := e.positive[r]; p != (l > 0) && l != 0 {
				e.positive[r] = l > 0
				agreed = false
				if turn >= 4 {
					break // one at a time
				}
			}
		}
		copy(e.lambda, e.rhs[n:])
		if agreed {
			return engine.OK
		}
		if turn > 64 {
			return engine.NotConverged
		}
	}
}
