package axis

import (
	"fmt"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/identify/fit"
)

// Multiple shooting. Over a long record of stick-slip or chaos the motion at the end depends on the parameters through
// every slip before: the cost of a simulation from the beginning has a trap beside each of them, and no derivative that
// helps. So every piece is cut into segments, each of which starts from a state of its own, near the record, and the states
// are parameters. Position and velocity at the end of a segment shall be those at the beginning of the next: these gaps are
// further residuals,
//
//	min Σ (model − measured)² + Σ c²·[(x_end − x_next)² + τ²·(v_end − v_next)²],
//
// with c = Continuity and τ the ratio of the ranges of position and velocity. No segment is long enough for the traps, and
// where the gaps have closed the answer is one motion. The contact goes on through a cut with the state that it has at the
// end of the segment before; the derivative with respect to a state of one segment leaves out what the contact hands on.

// Noise of a recorded force adds up along a segment: its rows repeat each other, and the gaps are no errors of rows. Where that noise
// explains what is left over, the simulation is led back along the record (led.go) and needs no segments any more.

// Continuity is the weight of the gaps against the rows: a gap costs as much as an error of one row that is so many times
// larger. It holds the gaps well below the noise of a position; the higher, the slower the search.
const Continuity = 10

// Shooting is the problem with every piece in so many segments; 0: two for every swing or slip, so that none is longer than
// the motion stays simple. The states follow the parameters of the model, named x, v
// with the time of the cut and the piece. The last rows of the residual, two for every cut, are the gaps in the unit of the
// rows.
func (m *Model) Shooting(params []fit.Param, segments int) (*fit.Problem, error) {
	if m.spec.Drive == Servo {
		return nil, fit.Refuse("multishoot: a servo holds its motion on its path: use lm")
	}
	if segments < 0 {
		return nil, fit.Refuse("%d segments, want at least 1, or 0 for as many as there are swings", segments)
	}
	free := *m
	free.leading = nil // the states of the segments follow the record
	q, err := free.planOf(params)
	if err != nil {
		return nil, err
	}
	s := &shots{plan: q}
	whole := q.problem(1)
	states := whole.Params
	s.model = len(states)
	lo, hi := 0.0, 0.0
	for i, p := range m.pieces {
		if len(p.rec.Position) == 0 {
			return nil, p.rec.Fail(0, "Name the column in data.columns.position.", "the %s was not recorded, and multiple shooting starts its "+
				"segments from it", m.names.position)
		}
		n := segments
		if n == 0 {
			n = 2 * p.swings()
		}
		n = max(1, min(n, (p.n-1)/shortest))
		for j := range n {
			c := cut{piece: i, from: j * (p.n - 1) / n, to: (j + 1) * (p.n - 1) / n}
			if s.cuts = append(s.cuts, c); j == 0 {
				continue
			}
			at := fmt.Sprintf("(%.6g s)%s", float64(c.from)*p.dt, p.suffix)
			dx, dv := max(0.1*m.roughSizes.x, 10*p.noise), m.roughSizes.v
			x, v := p.smoothedPosition(c.from), p.v[c.from]
			states = append(states,
				fit.Param{Param: engine.Param{Name: "x" + at, Unit: m.names.unitX, Doc: "position at a cut", Value: x, Lo: x - dx, Hi: x + dx}},
				fit.Param{Param: engine.Param{Name: "v" + at, Unit: m.names.unitV, Doc: "velocity at a cut", Value: v, Lo: v - dv, Hi: v + dv}})
			s.gaps++
		}
		for k := range p.n {
			lo, hi = min(lo, p.v[k]), max(hi, p.v[k])
		}
	}
	tau := m.roughSizes.x / (hi - lo)
	s.wx, s.wv = Continuity, Continuity*tau
	if m.spec.Output == Velocity {
		s.wx, s.wv = Continuity/tau, Continuity
	}
	s.rows = whole.Rows
	return &fit.Problem{Params: states, Rows: s.rows + 2*s.gaps, Unit: whole.Unit,
		NewEvaluator: func() fit.Evaluator { return s.shooter() }}, nil
}

// swings counts how often the velocity crosses the middle between its extremes, by more than a tenth of their distance.
func (p *piece) swings() int {
	lo, hi := slices.Min(p.v), slices.Max(p.v)
	band, side, n := 0.1*(hi-lo), 0, 0
	for _, v := range p.v {
		switch d := v - (lo+hi)/2; {
		case d > band && side <= 0:
			side, n = 1, n+1
		case d < -band && side >= 0:
			side, n = -1, n+1
		}
	}
	return n
}

// smoothedPosition is the position at sample k by the mean of its neighbours on a straight line, or the sample itself at the ends.
func (p *piece) smoothedPosition(k int) float64 {
	x := p.rec.Position
	if k < 2 || k > p.n-3 {
		return x[k]
	}
	return (-3*x[k-2] + 12*x[k-1] + 17*x[k] + 12*x[k+1] - 3*x[k+2]) / 35 // the parabola through five
}

// cut is a segment of a piece, from sample to sample.
type cut struct{ piece, from, to int }

// shots are a plan in segments.
type shots struct {
	*plan
	cuts   []cut
	model  int // parameters of the model; the states follow
	gaps   int
	rows   int // of measurements
	wx, wv float64
}

// shooter simulates segment after segment.
type shooter struct {
	*evaluator
	s             *shots
	contact       [][]float64 // of every segment at its beginning
	rPlus, rMinus []float64
	theta         []float64
	columns       [][]float64 // ∂r/∂θ
}

func (s *shots) shooter() *shooter {
	e := &shooter{evaluator: s.evaluator(1), s: s, theta: make([]float64, s.model+2*s.gaps)}
	for range s.cuts {
		e.contact = append(e.contact, make([]float64, len(e.b.x)-2))
	}
	rows := s.rows + 2*s.gaps
	e.rPlus, e.rMinus = make([]float64, rows), make([]float64, rows)
	for range e.theta {
		e.columns = append(e.columns, make([]float64, rows))
	}
	return e
}

// Residuals simulates all segments, and remembers the contact at the beginning of each.
func (e *shooter) Residuals(theta, r []float64) engine.Status {
	for j, i := range e.q.freeParams {
		e.b.value[i] = theta[j]
	}
	if !e.b.set() {
		for k := range r {
			r[k] = e.q.worst
		}
		return engine.NonFinite
	}
	e.divide()
	status := engine.OK
	row, gap := 0, 0
	for c := range e.s.cuts {
		if e.s.cuts[c].from > 0 {
			gap++
			copy(e.contact[c], e.b.x[2:])
		}
		var st engine.Status
		row, st = e.segment(c, theta, r, row, gap)
		if st == engine.NonFinite {
			e.b.law.Reset(e.b.x[2:])
		}
		status = max(status, st)
	}
	return status
}

// segment simulates segment c, which is behind gap cuts, and writes its rows from row on and the gap at its end. It returns
// the row behind them. The contact is that of the body, relaxed at the beginning of a piece.
func (e *shooter) segment(c int, theta, r []float64, row, gap int) (int, engine.Status) {
	s, q, b := e.s, e.q, e.b
	at := s.cuts[c]
	if at.from == 0 {
		b.start(b.initial(at.piece))
	} else {
		b.x[0], b.x[1] = theta[s.model+2*(gap-1)], theta[s.model+2*(gap-1)+1]
	}
	last := row + e.rowsIn(at)
	row, _, status := e.leg(at.piece, at.from, at.to, r, row, 0, math.Inf(1), nil)
	for ; row < last; row++ {
		r[row] = q.worst
	}
	// the gap to the next segment
	if c+1 < len(s.cuts) && s.cuts[c+1].piece == at.piece {
		g := s.rows + 2*gap
		r[g], r[g+1] = q.worst, q.worst
		if status != engine.NonFinite {
			j := s.model + 2*gap
			r[g] = min(max(s.wx*(b.x[0]-theta[j]), -q.worst), q.worst)
			r[g+1] = min(max(s.wv*(b.x[1]-theta[j+1]), -q.worst), q.worst)
		}
	}
	return row, status
}

// Displacements of the central differences: relative for logarithmic parameters, else of the range.
const shootStep = 1e-4

// Columns takes central differences. A parameter of the model moves all segments; a state only its own, which makes the
// many states as cheap as two parameters.
func (e *shooter) Columns(theta []float64) ([][]float64, engine.Status) {
	copy(e.theta, theta)
	th := e.theta
	pr := e.s.params
	difference := func(column []float64, from, to int, over float64) {
		for k := from; k < to; k++ {
			column[k] = (e.rPlus[k] - e.rMinus[k]) / over
		}
	}
	for j := range e.s.model {
		p := pr[e.q.freeParams[j]]
		h := shootStep * 0.1 * (p.Hi - p.Lo)
		if p.Log {
			h = shootStep * theta[j]
		}
		hi, lo := min(theta[j]+h, p.Hi), max(theta[j]-h, p.Lo)
		th[j] = hi
		if e.Residuals(th, e.rPlus) == engine.NonFinite {
			return nil, engine.NonFinite
		}
		th[j] = lo
		if e.Residuals(th, e.rMinus) == engine.NonFinite {
			return nil, engine.NonFinite
		}
		th[j] = theta[j]
		difference(e.columns[j], 0, len(e.rPlus), hi-lo)
	}
	// the states, from the contact that the undisturbed motion has at the cut
	status := e.Residuals(theta, e.rPlus)
	if status == engine.NonFinite {
		return nil, status
	}
	row, gap := 0, 0
	for c, at := range e.s.cuts {
		first := row
		row += e.rowsIn(at)
		if at.from == 0 {
			continue
		}
		gap++
		last := c+1 == len(e.s.cuts) || e.s.cuts[c+1].piece != at.piece
		for i := range 2 {
			j := e.s.model + 2*(gap-1) + i
			h := 1e-3 * shootStep * [2]float64{e.q.m.roughSizes.x, e.q.m.roughSizes.v}[i] * 10
			for _, side := range []struct {
				d float64
				r []float64
			}{{h, e.rPlus}, {-h, e.rMinus}} {
				th[j] = theta[j] + side.d
				copy(e.b.x[2:], e.contact[c])
				if _, st := e.segment(c, th, side.r, first, gap); st == engine.NonFinite {
					return nil, st
				}
			}
			th[j] = theta[j]
			column := e.columns[j]
			clear(column)
			difference(column, first, row, 2*h)
			if !last {
				difference(column, e.s.rows+2*gap, e.s.rows+2*gap+2, 2*h)
			}
			g := e.s.rows + 2*(gap-1) + i // the end of the segment before does not depend on it
			column[g] = -[2]float64{e.s.wx, e.s.wv}[i]
		}
	}
	return e.columns, status
}

// rowsIn a segment.
func (e *shooter) rowsIn(at cut) int {
	if at.from == 0 {
		return e.q.rowsOf(at.to + 1)
	}
	return e.q.rowsOf(at.to+1) - e.q.rowsOf(at.from+1)
}

// ResidualsWithin is Residuals: the gaps come last.
func (e *shooter) ResidualsWithin(theta, r []float64, _ float64) (engine.Status, bool) {
	return e.Residuals(theta, r), true
}

// Measured has the gaps behind the rows, measured to be zero.
func (e *shooter) Measured() (y []float64, quantity string, pieces []int, dt float64) {
	y, quantity, pieces, dt = e.evaluator.Measured()
	if e.s.gaps == 0 {
		return y, quantity, pieces, dt
	}
	return append(y, make([]float64, 2*e.s.gaps)...), quantity, append(pieces, len(y)), dt
}
