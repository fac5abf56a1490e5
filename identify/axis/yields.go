package axis

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine"
	"hilrig/identify/fit"
)

// pushes are forces that are taken from that of the drive, and what they do to the motion, to first order. Over a sampling interval the
// variational equations are linear: they run once for a unit of each state and of the force at each sample that acts in it. What comes out
// moves the states of all forces over the whole interval at once, however many parts it has.
type pushes struct {
	courses      []fit.Course        // of the forces, N at the rows of Inverse
	x, v, z      []float64           // ∂x, ∂v, ∂z by force
	places       []int               // the places of the forces
	units        []int               // the columns of the tangent that run: those of the states, and behind them those of samples that act
	offset       int                 // of the first sample that may act in an interval, from its beginning
	lastSample   int                 // sample of the present piece
	firstWithRow int                 // sample of it that has a row …
	endWithRow   int                 // … the one behind the last of these …
	row          int                 // … and the row of the first
	forces       [pushRing][]float64 // at samples of the present piece, each in its place of a ring
	forceTime    [pushRing]int       // which sample it is; −1: none
}

// Of a sampling interval: states, samples whose force acts in it, and more than these.
const (
	pushStates  = 3
	pushSamples = 4
	pushRing    = 8
)

// Of Yields at a time: the number of rows, and the fewest courses that are worth a simulation.
const yieldRoom, yieldLeast = 1 << 20, 32

// Yields is by how much some rows of the residuals move, to first order, for every newton that is taken from the force in a course of time
// given at the rows of a solution of Inverse, each up to the next sample; nil where derivatives are not to be had. Pieces without any of
// these rows are left out. workers share the courses.
func (m *Model) Yields(params []fit.Param, courses []fit.Course, rows []int, workers int) [][]float64 {
	params = slices.Clone(params)
	for i := range params {
		params[i].Fixed = true
	}
	q, err := m.planOf(params)
	if err != nil || m.spec.Drive != Force {
		return nil
	}
	if q.tangent(1) == nil {
		return nil
	}
	workers = max(1, min(workers, len(courses)/yieldLeast))
	most := max(yieldLeast, yieldRoom/max(1, len(rows)))
	parts := slices.Collect(slices.Chunk(courses, max(1, min(most, (len(courses)+workers-1)/workers))))
	of := make([][][]float64, len(parts))
	fit.ParallelOn(workers, len(parts), func(i int) {
		t := q.tangent(1)
		t.keptRows = rows
		t.setPushes(parts[i])
		if columns, status := t.Columns(nil); status != engine.NonFinite {
			of[i] = columns
		}
	})
	if slices.ContainsFunc(of, func(columns [][]float64) bool { return columns == nil }) {
		return nil
	}
	return slices.Concat(of...)
}

// setPushes makes the columns those of forces in these courses of time.
func (t *tangent) setPushes(courses []fit.Course) {
	n := len(courses)
	p := &pushes{courses: courses, x: make([]float64, n), v: make([]float64, n), z: make([]float64, n)}
	for c := range n {
		p.places = append(p.places, c)
	}
	for i := range p.forces {
		p.forces[i] = make([]float64, n)
	}
	t.pushes = p
	t.room(pushStates + pushSamples)
	t.share(n, nil)
}

// begin is at the beginning of piece i.
func (p *pushes) begin(t *tangent, i int) {
	m := t.q.m
	p.row = 0
	for _, before := range m.pieces[:i] {
		first, end := m.inverseSamples(before)
		p.row += end - first
	}
	p.firstWithRow, p.endWithRow = m.inverseSamples(m.pieces[i])
	p.lastSample, p.offset, p.units = m.pieces[i].n-1, t.inputs[i][0].firstCommand, append(p.units[:0], 0, 1, 2)
	for s := range pushSamples {
		if slices.ContainsFunc(t.inputs[i], func(w window) bool {
			place := p.offset + s - w.firstCommand
			return place >= 0 && place < len(w.mean) && w.mean[place] != 0
		}) {
			p.units = append(p.units, pushStates+s)
		}
	}
	t.pieceColumns, p.forceTime = p.units, [pushRing]int{-1, -1, -1, -1, -1, -1, -1, -1}
	clear(p.x)
	clear(p.v)
	clear(p.z)
}

// push puts into du what units of the force at the samples do in a part of an interval.
func (p *pushes) push(du []float64, w *window) {
	clear(du)
	for i, share := range w.mean {
		if share != 0 {
			du[pushStates+w.firstCommand-p.offset+i] -= share
		}
	}
}

// interval moves the body, and what the forces do to it, from sample k of piece i to the next.
func (p *pushes) interval(t *tangent, i, k int) engine.Status {
	clear(t.sx)
	clear(t.sv)
	clear(t.sz)
	t.sx[0], t.sv[1], t.sz[2] = 1, 1, 1
	status := t.pass(i, k, nil, t)
	xx, xv, xz, vx, vv, vz, zx, zv, zz := t.sx[0], t.sx[1], t.sx[2], t.sv[0], t.sv[1], t.sv[2], t.sz[0], t.sz[1], t.sz[2]
	v, z := p.v[:len(p.x)], p.z[:len(p.x)]
	for c, x := range p.x {
		v0, z0 := v[c], z[c]
		p.x[c], v[c], z[c] = xx*x+xv*v0+xz*z0, vx*x+vv*v0+vz*z0, zx*x+zv*v0+zz*z0
	}
	for _, j := range p.units[pushStates:] {
		f := p.force(k + p.offset + j - pushStates)
		floats.AddScaled(p.x, t.sx[j], f)
		floats.AddScaled(p.v, t.sv[j], f)
		floats.AddScaled(p.z, t.sz[j], f)
	}
	return status
}

// force is that of all courses at sample k of the present piece; outside it stays.
func (p *pushes) force(k int) []float64 {
	k = min(max(k, 0), p.lastSample)
	f := p.forces[k%pushRing]
	if p.forceTime[k%pushRing] != k {
		p.forceTime[k%pushRing] = k
		if k >= p.firstWithRow && k < p.endWithRow {
			fit.FillRow(p.courses, p.row+k-p.firstWithRow, f)
		} else {
			clear(f)
		}
	}
	return f
}
