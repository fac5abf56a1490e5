package fit

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"hilrig/engine"
	"hilrig/engine/numeric"

	"gonum.org/v1/gonum/floats"
)

// A slope is the derivative of the residuals by differences, or from the evaluator if it knows it.
//
// Differences are central, 2 simulations per parameter, of second order at a bound too,
//
//	∂r/∂s ≈ (r(s+h) − r(s−h)) / 2h,   at a bound (4·r(s+h) − r(s+2h) − 3·r(s)) / 2h
//
// or forward, (r(s+h) − r(s))/h. They must be larger than what a simulator does by chance when a parameter moves a little,
// so h is a number given by the user, relative for logarithms and times a scale for the others.
type slope struct {
	p        *Problem
	coords   *coordinates
	forward  bool
	workers  []*hand
	pool     *pool
	groups   [][]int // parameters that are displaced together: none moves a row of another
	firstRow []int   // first row that a parameter moves

	h       []float64   // signed displacement of the first member
	central []bool      // the second member goes the other way
	j       [][]float64 // columns ∂r/∂s, of the rows that the parameter moves
	reach   []float64   // the change that would change all residuals by their size, last time; 0: not known

	s, r          []float64    // where the differences are taken, and the residuals there
	failedColumns atomic.Int64 // columns without a trustworthy side
	theta0        []float64    // for evaluators that know their derivatives

	simulated int
}

// A hand is a worker with its evaluator and the members it has in work.
type hand struct {
	ev    Evaluator
	s     []float64
	theta [][]float64
	r     [][]float64
	ok    []bool
}

func newSlope(p *Problem, at *coordinates, forward bool, workers int) *slope {
	n := len(p.Params)
	d := &slope{
		p: p, coords: at, forward: forward,
		h: make([]float64, n), central: make([]bool, n), reach: make([]float64, n), theta0: make([]float64, n),
	}
	for _, j := range p.sharedParams() {
		d.groups = append(d.groups, []int{j})
	}
	first := len(d.groups)
	for _, l := range p.Local {
		for k, j := range l.Params {
			if first+k == len(d.groups) {
				d.groups = append(d.groups, nil)
			}
			d.groups[first+k] = append(d.groups[first+k], j)
		}
	}
	d.pool = newPool(workers, len(d.groups), d.work)
	from, to := p.extent()
	d.firstRow = from
	for j := range n {
		d.j = append(d.j, make([]float64, to[j]-from[j]))
	}
	d.hire(1)
	return d
}

// steps are those of the integrator in all simulations on this problem, where the evaluators count them.
func (d *slope) steps() (n int) {
	for _, h := range d.workers {
		if c, ok := h.ev.(Counting); ok {
			n += c.Steps()
		}
	}
	return n
}

// per is the number of members of a difference.
func (d *slope) per() int {
	if d.forward {
		return 1
	}
	return 2
}

// hire makes sure of n hands.
func (d *slope) hire(n int) {
	for len(d.workers) < n {
		d.workers = append(d.workers, &hand{ev: d.p.NewEvaluator(), s: make([]float64, len(d.p.Params))})
	}
}

// room makes sure of room for n members.
func (h *hand) room(n int, p *Problem) {
	for len(h.theta) < n {
		h.theta, h.r = append(h.theta, make([]float64, len(p.Params))), append(h.r, make([]float64, p.Rows))
		h.ok = append(h.ok, false)
	}
}

// residuals simulates one member of which only a sum of squares up to limit is of interest; ok is false if there are none
// to look at. They may be infinite or no numbers: no loss is finite then. ahead: derivatives will be wanted there.
func (d *slope) residuals(theta, r []float64, limit float64, ahead bool) (ok bool) {
	d.simulated++
	if f, can := d.workers[0].ev.(Foresighted); can && ahead {
		st, whole := f.ResidualsAhead(theta, r, limit)
		return whole && st != engine.NonFinite
	}
	if b, bounded := d.workers[0].ev.(Bounded); bounded && limit < math.Inf(1) {
		st, whole := b.ResidualsWithin(theta, r, limit)
		return whole && st != engine.NonFinite
	}
	return d.workers[0].ev.Residuals(theta, r) != engine.NonFinite
}

// first simulates the member from which a descent begins, where derivatives are wanted next.
func (d *slope) first(theta, r []float64) engine.Status {
	d.simulated++
	if f, can := d.workers[0].ev.(Foresighted); can {
		st, _ := f.ResidualsAhead(theta, r, math.Inf(1))
		return st
	}
	return d.workers[0].ev.Residuals(theta, r)
}

// columns fills j at s, where the residuals are r, with relative displacements step. It is false if ctx ended it.
func (d *slope) columns(ctx context.Context, s, r []float64, step float64) bool {
	if d.analyticColumns(s) {
		return true
	}
	d.displacements(s, step)

	d.hire(len(d.pool.workers))
	for _, h := range d.workers {
		h.room(d.per(), d.p)
	}
	d.s, d.r = s, r
	d.failedColumns.Store(0)
	if d.pool.run(ctx, len(d.groups)); ctx.Err() != nil {
		return false
	}
	size := math.Sqrt(floats.Dot(r, r))
	for j := range d.j {
		if norm := math.Sqrt(floats.Dot(d.j[j], d.j[j])); norm > 0 {
			d.reach[j] = size / norm
		}
	}
	d.simulated += d.per() * len(d.groups)
	return true
}

// displacements sets h and the kind of difference of every parameter.
//
// A linear parameter without a scale of the user's has only a coarse one. Once the size of its column is known, the
// displacement that changes all residuals by the share step of their size is better, within a hundredth of the coarse one.
func (d *slope) displacements(s []float64, step float64) {
	for j := range s {
		h := step * d.coords.scale[j]
		if !d.coords.userScale[j] && d.reach[j] > 0 {
			h = step * min(max(d.reach[j], 0.01*d.coords.scale[j]), d.coords.scale[j])
		}
		lo, hi := d.coords.lo[j], d.coords.hi[j]
		h = min(h, (hi-lo)/4)
		d.central[j] = !d.forward && s[j]-h >= lo && s[j]+h <= hi
		if !d.central[j] && s[j]+2*h > hi {
			h = -h
		}
		// what is really displaced, after rounding
		d.h[j] = (s[j] + h) - s[j]
	}
}

// hasUnknownReach says that some displacements are still chosen without knowing the size of the column.
func (d *slope) hasUnknownReach() bool {
	if _, ok := d.workers[0].ev.(Differentiable); ok {
		return false
	}
	for j, reach := range d.reach {
		if reach == 0 && !d.coords.userScale[j] {
			return true
		}
	}
	return false
}

// work fills the columns of group g: each for itself where the simulation fails, for it may have failed in the rows of one only.
func (d *slope) work(worker, g int) {
	h, group := d.workers[worker], d.groups[g]
	d.displaced(h, group)
	if slices.Contains(h.ok[:d.per()], false) && len(group) > 1 {
		for k := range group {
			d.displaced(h, group[k:k+1])
			d.difference(h, group[k], d.r)
		}
		return
	}
	for _, j := range group {
		d.difference(h, j, d.r)
	}
}

// displaced simulates the members of parameters that are displaced together.
func (d *slope) displaced(h *hand, group []int) {
	for m := range d.per() {
		copy(h.s, d.s)
		for _, j := range group {
			switch {
			case m == 0:
				h.s[j] += d.h[j]
			case d.central[j]:
				h.s[j] -= d.h[j]
			default:
				h.s[j] += 2 * d.h[j]
			}
		}
		d.coords.theta(h.s, h.theta[m])
		h.ok[m] = h.ev.Residuals(h.theta[m], h.r[m]) != engine.NonFinite && numeric.AllFinite(h.r[m]...)
	}
}

// difference writes column j from the first member and, if there is one, the second.
func (d *slope) difference(h *hand, j int, r []float64) {
	in := 1 / d.h[j]
	var wa, wb float64 // weights of the members
	switch a, b := h.ok[0], !d.forward && h.ok[1]; {
	case a && b && d.central[j]:
		wa, wb = in/2, -in/2
	case a && b:
		wa, wb = 2*in, -in/2
	case a:
		wa = in
	case b && d.central[j]:
		wb = -in
	case b:
		wb = in / 2
	default:
		d.failedColumns.Add(1)
	}
	out, from := d.j[j], d.firstRow[j]
	clear(out)
	for m, w := range []float64{wa, wb} {
		if w == 0 {
			continue
		}
		for k := range out {
			out[k] += w * (h.r[m][from+k] - r[from+k])
		}
	}
}

// analyticColumns asks the evaluator for its own derivatives; false if it has none here.
func (d *slope) analyticColumns(s []float64) bool {
	e, ok := d.workers[0].ev.(Differentiable)
	if !ok {
		return false
	}
	d.coords.theta(s, d.theta0)
	d.simulated++
	columns, st := e.Columns(d.theta0)
	if st == engine.NonFinite {
		return false
	}
	for j, x := range columns {
		if !numeric.AllFinite(x...) {
			return false
		}
		floats.ScaleTo(d.j[j], d.coords.slope(j, d.theta0[j]), x)
	}
	return true
}
