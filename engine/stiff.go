package engine

import (
	"math"

	"hilrig/engine/numeric"
)

// stiffMethod is Euler's linearly implicit method with extrapolation, SEULEX of [HW96] IV.9, for what makes explicit steps short. A step
// of h is divided into n = 2, 3, … parts of H = h/n,
//
//	(1 − H·A)·(y_{i+1} − y_i) = H·f(t_{i+1}, y_i),   A ≈ ∂f/∂x at the beginning of the step,
//
// whose results are a polynomial of H at its end, and are extrapolated to H = 0. An A that is not exact costs steps and no order, so
// it is taken by differences, and the states behind depends, on which f does not depend, have no part in it.
type stiffMethod struct {
	f       RHS
	depends int
	a       []float64 // depends×depends
	lu      LU

	table                [stiffRows + 1][]float64 // of extrapolation: table[k] is that from the rows k to the last; table[0] is not used
	y, k                 []float64
	row                  int       // that the last step ended with
	startState, endState []float64 // states at both ends of the last step, before the caller changed the latter
}

// stiffRows is the largest number of rows, row j with j+1 parts.
const stiffRows = 8

func newStiffMethod(f RHS, n, depends int) *stiffMethod {
	s := &stiffMethod{f: f, depends: depends, a: make([]float64, depends*depends), lu: NewLU(depends)}
	for i := range s.table {
		s.table[i] = make([]float64, n)
	}
	s.y, s.k, s.startState, s.endState = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	return s
}

// linearise takes A at t (s), x, where f is slope.
func (s *stiffMethod) linearise(t float64, x, slope []float64) {
	const share, least = 1.5e-8, 1e-3 // root of the rounding; size below which the difference gets no smaller
	n := s.depends
	copy(s.y, x)
	for j := range n {
		d := share * max(math.Abs(x[j]), least)
		s.y[j] = x[j] + d
		d = s.y[j] - x[j]
		s.f(t, s.y, s.k)
		s.y[j] = x[j]
		for i := range n {
			s.a[i*n+j] = (s.k[i] - slope[i]) / d
		}
	}
}

// extrapolate computes row j of a step of h (s) from t, s.startState; the rows before have to be there. The result is in table[1], that
// of one order less in table[2]. It is false where something is not finite.
func (s *stiffMethod) extrapolate(j int, t, h float64) bool {
	n, parts := s.depends, j+1
	part := h / float64(parts)
	for i, a := range s.a {
		s.lu.A[i] = -part * a
	}
	for i := range n {
		s.lu.A[i*n+i]++
	}
	if !s.lu.Factor() {
		return false
	}
	y := s.table[j]
	copy(y, s.startState)
	for i := range parts {
		s.f(t+float64(i+1)*part, y, s.k)
		for l := range s.k {
			s.k[l] *= part
		}
		s.lu.Solve(s.k[:n])
		for l, d := range s.k {
			y[l] += d
		}
	}
	if !numeric.AllFinite(y...) {
		return false
	}
	for k := j - 1; k > 0; k-- {
		share := 1 / (float64(parts)/float64(k+1) - 1)
		to, next := s.table[k], s.table[k+1]
		for l, x := range next {
			to[l] = x + share*(x-to[l])
		}
	}
	return true
}

// at writes the state at t (s) in the last step, from old to end, by a step to there.
func (s *stiffMethod) at(old, end, t float64, x []float64) {
	if t == end {
		copy(x, s.endState)
		return
	}
	for j := 1; j <= s.row; j++ {
		if !s.extrapolate(j, old, t-old) {
			break
		}
	}
	copy(x, s.table[1])
}

// stiffStep is Step by the implicit method.
func (d *DormandPrince) stiffStep(end float64) error {
	s := d.implicit
	s.linearise(d.T, d.X, d.k[0])
	copy(s.startState, d.X)
	for cause := ErrStepSize; ; {
		h, last, ok := d.clip(end)
		if d.Accepted+d.Rejected >= d.MaxSteps {
			cause, ok = ErrSteps, false
		}
		if !ok {
			return d.stop(cause)
		}
		row, next := d.stiffTry(h)
		if row == 0 {
			d.Rejected++
			d.h = d.dir * next
			continue
		}
		s.row = row
		copy(s.endState, s.table[1])
		copy(d.X, s.endState)
		d.Accepted++
		d.StepStart, d.span, d.slopeStale = d.T, h, true
		if d.T += h; last {
			d.T = end
		}
		if next = math.Abs(next); math.Abs(h) < math.Abs(d.h) {
			next = max(next, math.Abs(d.h))
		}
		d.h = d.dir * next
		return nil
	}
}

// stiffTry makes a step of h (s) with as many rows as it needs; row is the last, 0: a shorter step, of next (s), has to be tried.
// Otherwise next is the step, of all rows that were computed, or one more, that goes farthest for its evaluations.
func (d *DormandPrince) stiffTry(h float64) (row int, next float64) {
	const safety, shrink, grow = 0.8, 0.1, 5
	s, size := d.implicit, math.Abs(h)
	cost, before, least := float64(s.depends), math.Inf(1), math.Inf(1)
	for j := 1; j <= stiffRows; j++ {
		if !s.extrapolate(j, d.T, h) {
			return 0, size * shrink
		}
		cost += float64(j + 2) // the parts, and the factors
		if j == 1 {
			continue
		}
		err := d.norm(s.table[1], s.table[2])
		if !(err < 1e12) || j > 2 && err > before && err > 1 {
			return 0, size * 0.3 // rows that do not come nearer
		}
		reach := size * min(grow, max(shrink, safety*math.Pow(max(err, 1e-12), -1/float64(j))))
		work := cost / reach
		better := work < 1.1*least // where both go as far, one row more: the next step may be longer
		if work < least {
			least, next = work, reach
		}
		if err <= 1 {
			if better && j < stiffRows {
				next = reach * (cost + float64(j+3)) / cost
			}
			return j, next
		}
		if j == stiffRows {
			return 0, min(next, 0.9*size)
		}
		before = err
	}
	panic("engine: no row of the extrapolation")
}

// norm is the difference of two states by the tolerance.
func (d *DormandPrince) norm(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		e := (x[i] - y[i]) / d.scale(max(math.Abs(d.X[i]), math.Abs(x[i])))
		sum += e * e
	}
	return math.Sqrt(sum / float64(d.n))
}
