package fit

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// Local is an Evaluator with parameters that act on few rows only, as the states of the segments of multiple shooting do.
// Parameters that share no row are then displaced in one simulation, and the linear algebra skips what is zero.
type Local interface {
	// Support returns the first row of parameter j and the row after its last: elsewhere its derivative is zero.
	Support(j int) (from, to int)
}

// A slope is the derivative of the residuals by differences, or from the evaluator if it knows it.
//
// Differences are central, 2 simulations per parameter, of second order at a bound too,
//
//	∂r/∂s ≈ (r(s+h) − r(s−h)) / 2h,   at a bound (4·r(s+h) − r(s+2h) − 3·r(s)) / 2h
//
// or forward, (r(s+h) − r(s))/h. They must be larger than what a simulator does by chance when a parameter moves a little,
// so h is a number given by the user, relative for logarithms and times a scale for the others.
type slope struct {
	p       *Problem
	at      *coordinates
	forward bool
	groups  [][]int // parameters that are displaced together
	from    []int   // support
	to      []int
	order   []int // of the columns for the triangle
	crew    []*hand
	workers int

	h       []float64   // signed displacement of the first member
	central []bool      // the second member goes the other way
	j       [][]float64 // columns ∂r/∂s
	reach   []float64   // the change that would change all residuals by their size, last time; 0: not known

	next   atomic.Int64
	failed atomic.Int64 // columns without a trustworthy side
	flat   []float64    // for evaluators that know their derivatives
	theta0 []float64

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
		p: p, at: at, forward: forward, workers: workers,
		from: make([]int, n), to: make([]int, n), order: make([]int, n),
		h: make([]float64, n), central: make([]bool, n), reach: make([]float64, n), theta0: make([]float64, n),
	}
	if d.workers <= 0 {
		d.workers = runtime.GOMAXPROCS(0)
	}
	buf := make([]float64, n*p.Rows)
	for j := range n {
		d.j = append(d.j, buf[j*p.Rows:(j+1)*p.Rows])
		d.to[j], d.order[j] = p.Rows, j
	}
	d.hire(1)
	if l, ok := d.crew[0].ev.(Local); ok {
		for j := range n {
			d.from[j], d.to[j] = l.Support(j)
		}
		// by first row, those that act everywhere last
		slices.SortStableFunc(d.order, func(a, b int) int {
			wa, wb := d.to[a]-d.from[a] == p.Rows, d.to[b]-d.from[b] == p.Rows
			switch {
			case wa != wb && wa:
				return 1
			case wa != wb:
				return -1
			}
			return d.from[a] - d.from[b]
		})
	}
	for _, j := range d.order {
		d.join(j)
	}
	return d
}

// join puts parameter j to the first group that shares no row with it.
func (d *slope) join(j int) {
group:
	for g, group := range d.groups {
		for _, k := range group {
			if d.from[j] < d.to[k] && d.from[k] < d.to[j] {
				continue group
			}
		}
		d.groups[g] = append(group, j)
		return
	}
	d.groups = append(d.groups, []int{j})
}

// hire makes sure of n hands.
func (d *slope) hire(n int) {
	for len(d.crew) < n {
		d.crew = append(d.crew, &hand{ev: d.p.New(), s: make([]float64, len(d.p.Params))})
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
// to look at. They may be infinite or no numbers: no loss is finite then.
func (d *slope) residuals(theta, r []float64, limit float64) (ok bool) {
	d.simulated++
	if b, bounded := d.crew[0].ev.(Bounded); bounded && limit < math.Inf(1) {
		st, whole := b.ResidualsWithin(theta, r, limit)
		return whole && st != engine.NonFinite
	}
	return d.crew[0].ev.Residuals(theta, r) != engine.NonFinite
}

// columns fills j at s, where the residuals are r, with relative displacements step. It is false if ctx ended it.
func (d *slope) columns(ctx context.Context, s, r []float64, step float64) bool {
	if d.exact(s) {
		return true
	}
	d.displacements(s, step)

	per := 2
	if d.forward {
		per = 1
	}
	hands := min(d.workers, len(d.groups))
	d.hire(hands)
	for _, h := range d.crew[:hands] {
		h.room(per, d.p)
	}
	d.next.Store(0)
	d.failed.Store(0)
	if hands == 1 {
		d.work(ctx, d.crew[0], s, r, per)
	} else {
		d.share(ctx, hands, s, r, per)
	}
	if ctx.Err() != nil {
		return false
	}
	size := math.Sqrt(inner(r, r))
	for j := range d.j {
		if norm := math.Sqrt(inner(d.j[j], d.j[j])); norm > 0 {
			d.reach[j] = size / norm
		}
	}
	d.simulated += per * len(d.groups)
	return true
}

// displacements sets h and the kind of difference of every parameter.
//
// A linear parameter without a scale of the user's has only a coarse one. Once the size of its column is known, the
// displacement that changes all residuals by the share step of their size is better, within a hundredth of the coarse one.
func (d *slope) displacements(s []float64, step float64) {
	for j := range s {
		h := step * d.at.scale[j]
		if !d.at.given[j] && d.reach[j] > 0 {
			h = step * min(max(d.reach[j], 0.01*d.at.scale[j]), d.at.scale[j])
		}
		lo, hi := d.at.lo[j], d.at.hi[j]
		h = min(h, (hi-lo)/4)
		d.central[j] = !d.forward && s[j]-h >= lo && s[j]+h <= hi
		if !d.central[j] && s[j]+2*h > hi {
			h = -h
		}
		// what is really displaced, after rounding
		d.h[j] = (s[j] + h) - s[j]
	}
}

// coarse says that some displacements are still chosen without knowing the size of the column.
func (d *slope) coarse() bool {
	if _, ok := d.crew[0].ev.(Differentiable); ok {
		return false
	}
	for j, reach := range d.reach {
		if reach == 0 && !d.at.given[j] {
			return true
		}
	}
	return false
}

// share lets several hands work. It stands alone because what goroutines capture is allocated.
func (d *slope) share(ctx context.Context, hands int, s, r []float64, per int) {
	var wg sync.WaitGroup
	for _, h := range d.crew[:hands] {
		wg.Go(func() { d.work(ctx, h, s, r, per) })
	}
	wg.Wait()
}

// work takes groups until none is left.
func (d *slope) work(ctx context.Context, h *hand, s, r []float64, per int) {
	for ctx.Err() == nil {
		g := int(d.next.Add(1)) - 1
		if g >= len(d.groups) {
			return
		}
		for m := range per {
			copy(h.s, s)
			for _, j := range d.groups[g] {
				switch {
				case m == 0:
					h.s[j] += d.h[j]
				case d.central[j]:
					h.s[j] -= d.h[j]
				default:
					h.s[j] += 2 * d.h[j]
				}
			}
			d.at.theta(h.s, h.theta[m])
			h.ok[m] = h.ev.Residuals(h.theta[m], h.r[m]) != engine.NonFinite && numeric.AllFinite(h.r[m]...)
		}
		for _, j := range d.groups[g] {
			d.difference(h, j, r)
		}
	}
}

// difference writes column j from the first member and, if there is one, the second.
func (d *slope) difference(h *hand, j int, r []float64) {
	lo, hi := d.from[j], d.to[j]
	out, r, a := d.j[j][lo:hi], r[lo:hi], h.r[0][lo:hi]
	in := 1 / d.h[j]
	both := !d.forward && h.ok[0] && h.ok[1]
	switch {
	case both && d.central[j]:
		b := h.r[1][lo:hi]
		for k := range out {
			out[k] = (a[k] - b[k]) * (in / 2)
		}
	case both:
		b := h.r[1][lo:hi]
		for k := range out {
			out[k] = (4*(a[k]-r[k]) - (b[k] - r[k])) * (in / 2)
		}
	case h.ok[0]:
		for k := range out {
			out[k] = (a[k] - r[k]) * in
		}
	case !d.forward && h.ok[1]:
		if d.central[j] {
			in = -in
		} else {
			in /= 2
		}
		b := h.r[1][lo:hi]
		for k := range out {
			out[k] = (b[k] - r[k]) * in
		}
	default:
		clear(out)
		d.failed.Add(1)
	}
}

// exact asks the evaluator for its own derivatives; false if it has none here.
func (d *slope) exact(s []float64) bool {
	switch e := d.crew[0].ev.(type) {
	case Columnar:
		d.at.theta(s, d.theta0)
		d.simulated++
		columns, st := e.Columns(d.theta0)
		if st == engine.NonFinite {
			return false
		}
		for j, x := range columns {
			if !scaled(d.j[j], x, d.at.slope(j, d.theta0[j])) {
				return false
			}
		}
		return true

	case Differentiable:
		n, h := len(d.j), d.crew[0]
		if d.flat == nil {
			h.room(1, d.p)
			d.flat = make([]float64, n*d.p.Rows)
		}
		d.at.theta(s, d.theta0)
		d.simulated++
		if e.Jacobian(d.theta0, h.r[0], d.flat) == engine.NonFinite || !numeric.AllFinite(d.flat...) {
			return false
		}
		for j := range d.j {
			f := d.at.slope(j, d.theta0[j])
			for k := range d.j[j] {
				d.j[j][k] = d.flat[k*n+j] * f
			}
		}
		return true
	}
	return false
}

// scaled writes f·x to y; false if a number in x is none.
func scaled(y, x []float64, f float64) bool {
	x = x[:len(y)]
	for k, v := range x {
		if v-v != 0 {
			return false
		}
		y[k] = v * f
	}
	return true
}
