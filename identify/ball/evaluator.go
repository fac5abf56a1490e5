package ball

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/spatial/r3"
	"gonum.org/v1/gonum/stat"

	"hilrig/engine"
	"hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
	"hilrig/identify/fit"
)

// An evaluator runs a shooting. Its derivatives are central differences, each over what the parameter moves: all segments for one of the
// setup, one segment for one of its start, no motion at all for a height or a marker. The differences run on all processors.
type evaluator struct {
	s          *shooting
	workspaces []*workspace // one per column, the last one for the residuals
	columns    [][]float64
	scale      []float64
	y          []float64
}

// workspace is that of a simulation.
type workspace struct {
	theta  []float64
	setup  setup
	starts []ball.State
	poses  []pose
	a, b   []float64 // rows
	ok     bool
}

// difference is the displacement of a parameter, in its scale.
const difference = 1e-3

func (s *shooting) evaluator() *evaluator {
	ps, scale := s.params()
	e := &evaluator{s: s, columns: make([][]float64, len(ps)), scale: make([]float64, len(ps)), workspaces: make([]*workspace, len(ps)+1)}
	for j, p := range ps {
		e.scale[j] = scale[p.Name]
	}
	return e
}

// workspace makes the workspace number j when it is first asked for: a Solution of known values needs but one.
func (e *evaluator) workspace(j int) *workspace {
	if e.workspaces[j] == nil {
		s := e.s
		e.workspaces[j] = &workspace{
			theta: make([]float64, len(e.columns)), setup: s.base.clone(), starts: make([]ball.State, len(s.segments)),
			poses: make([]pose, len(s.rec.Times)), a: make([]float64, s.rows), b: make([]float64, s.rows),
		}
	}
	return e.workspaces[j]
}

// simulate runs the segments from to to (not included) at h.theta and writes their rows to r.
func (e *evaluator) simulate(h *workspace, from, to int, r []float64, less bool) bool {
	s := e.s
	s.apply(h.theta, &h.setup, h.starts)
	m := h.setup.body.Unchecked()
	m.SetTolerance(shootTolerance)
	for k := from; k < to; k++ {
		seg := &s.segments[k]
		if !s.run(&m, seg, h.starts[k], h.poses) {
			return false
		}
		s.fill(seg.firstFrame, seg.endFrame, &h.setup, h.poses, r, less)
	}
	return true
}

// Residuals are model less what was measured (m, or pure numbers for γ).
func (e *evaluator) Residuals(theta, r []float64) engine.Status {
	h := e.workspace(len(e.columns))
	copy(h.theta, theta)
	if e.simulate(h, 0, len(e.s.segments), r, true) {
		return engine.OK
	}
	for k := range r {
		r[k] = divergedResidual
	}
	return engine.NonFinite
}

// divergedResidual is the residual of a motion that came to no number.
const divergedResidual = 1e6

// Columns are the derivatives.
func (e *evaluator) Columns(theta []float64) ([][]float64, engine.Status) {
	for j := range e.columns {
		if e.columns[j] == nil {
			e.columns[j] = make([]float64, e.s.rows)
		}
		e.workspace(j)
	}
	base := e.workspace(len(e.columns)) // its motion serves what moves no ball
	copy(base.theta, theta)
	if !e.simulate(base, 0, len(e.s.segments), base.a, false) {
		return e.columns, engine.NonFinite
	}
	fit.Parallel(len(e.columns), func(j int) { e.column(j, theta) })
	for j := range e.columns {
		if !e.workspaces[j].ok {
			return e.columns, engine.NonFinite
		}
	}
	return e.columns, engine.OK
}

// column fills column j.
func (e *evaluator) column(j int, theta []float64) {
	s, h, out := e.s, e.workspaces[j], e.columns[j]
	copy(h.theta, theta)
	clear(out)
	nFree := len(s.freeParams)
	from, to := 0, len(s.segments)
	if j >= nFree {
		states := s.states()
		from = (j - nFree) / len(states)
		to = from + 1
		// the motion is the same wherever the ball starts
		if i := states[(j-nFree)%len(states)]; i < 2 {
			s.shift(s.segments[from], [2]r3.Vec{{X: 1}, {Y: 1}}[i], theta, h, out)
			h.ok = true
			return
		}
	}
	d := difference * e.scale[j]
	up, down := theta[j]+d, theta[j]-d
	if j < nFree {
		if lo, _ := s.freeParams[j].bounds(&s.base.body); down < lo {
			down = theta[j]
		}
	}
	for _, side := range [2]struct {
		v float64
		r []float64
	}{{up, h.a}, {down, h.b}} {
		h.theta[j] = side.v
		if j < nFree && s.freeParams[j].output {
			s.apply(h.theta, &h.setup, h.starts)
			s.fill(s.segments[0].firstFrame, s.segments[to-1].endFrame, &h.setup, e.workspaces[len(e.columns)].poses, side.r, false)
			h.ok = true
		} else if h.ok = e.simulate(h, from, to, side.r, false); !h.ok {
			return
		}
	}
	in := 1 / (up - down)
	s.eachMarker(s.segments[from].firstFrame, s.segments[to-1].endFrame, func(_, _ int, rows [3]int) {
		for _, k := range rows {
			out[k] = (h.a[k] - h.b[k]) * in
		}
	})
}

// shift is the derivative with respect to a place in the plane.
func (s *shooting) shift(seg segment, along r3.Vec, theta []float64, h *workspace, out []float64) {
	s.apply(theta, &h.setup, h.starts)
	if h.setup.tilt != [2]float64{} {
		along = rotation.Rotate(h.setup.leaning(), along)
	}
	s.eachMarker(seg.firstFrame, seg.endFrame, func(_, _ int, rows [3]int) { setVector(out, rows, along) })
}

// Measured tells what was measured: every series about its mean, so that a share explained means something.
func (e *evaluator) Measured() (y []float64, quantity string, pieces []int, dt float64) {
	s := e.s
	if e.y == nil {
		e.y = make([]float64, s.rows)
		s.eachMarker(0, len(s.rowPlaces), func(f, j int, rows [3]int) { setVector(e.y, rows, s.measured(f, j)) })
		for k := range s.pieces {
			series := s.series(k, e.y)
			floats.AddConst(-stat.Mean(series, nil), series)
		}
	}
	quantity = "positions of the markers"
	if s.gamma {
		quantity = "vertical in the body"
	}
	return e.y, quantity, s.pieces, s.dt
}

// problem is the shooting as a solver sees it.
func (s *shooting) problem() (*fit.Problem, fit.LM) {
	s.prepare()
	ps, scale := s.params()
	p := &fit.Problem{Params: ps, Rows: s.rows, Unit: "m", NewEvaluator: func() fit.Evaluator { return s.evaluator() }}
	if s.gamma {
		p.Unit = ""
	}
	return p, fit.LM{Scale: scale, Steps: []float64{difference}}
}

// adopt takes the values of a solution for base and starts.
func (s *shooting) adopt(sol *fit.Solution) {
	theta := fit.Values(sol.Params)
	starts := make([]ball.State, len(s.segments))
	to := s.base.clone()
	s.apply(theta, &to, starts)
	s.base = to
	for k := range starts {
		s.segments[k].start = starts[k]
	}
}
