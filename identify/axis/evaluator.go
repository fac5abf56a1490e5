package axis

import (
	"math"
	"slices"
	"strings"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/identify/fit"
)

// Problem is the search for the free ones of the parameters. Those that params leaves out are as in Params.
func (m *Model) Problem(params []fit.Param) (*fit.Problem, error) {
	q, err := m.planOf(params)
	if err != nil {
		return nil, err
	}
	return q.problem(1), nil
}

// planOf is the plan of params.
func (m *Model) planOf(params []fit.Param) (*plan, error) {
	all, err := m.merge(params)
	if err != nil {
		return nil, err
	}
	return m.plan(all)
}

// plan is what the evaluators of a problem share.
type plan struct {
	m           *Model
	params      []fit.Param
	freeParams  []int
	parts       []int   // substeps of every piece
	rowStep     int     // samples from row to row
	firstSample int     // sample of the first row
	worst       float64 // residual of a simulation that failed
	limit       float64 // s, longest step of a law with a stick mode
}

func (m *Model) plan(all []fit.Param) (*plan, error) {
	q := &plan{m: m, params: all, rowStep: m.spec.Decimate, worst: 1e4 * m.span}
	_, q.freeParams = fit.Free(all)
	q.firstSample = m.first(all)
	b, err := m.newBody(all)
	if err != nil {
		return nil, err
	}
	if !b.set() {
		if err := b.law.Validate(); err != nil {
			return nil, fit.Refuse("the start is no law: %v", err)
		}
		return nil, fit.Refuse("the start is outside what the law allows")
	}
	q.limit, _ = b.mass.Limit()
	springs := b.loads.kd + math.Abs(b.loads.k) + math.Abs(b.loads.sin) + math.Abs(b.loads.cos)
	for i, p := range m.pieces {
		n := m.spec.Substeps
		if n < 1 {
			n = p.substeps(b.mass.M, b.law, b.switched, springs)
		}
		if m.parts != nil {
			n = m.parts[i]
		}
		q.parts = append(q.parts, n)
	}
	return q, nil
}

// first is the sample of the first row of every piece. Where the record says where the motion starts, sample 0 says no more.
// Under a force or in a controller it is a row all the same.
func (m *Model) first(all []fit.Param) int {
	searched := slices.ContainsFunc(all, func(p fit.Param) bool { return !p.Fixed && strings.HasPrefix(p.Name, "x0") })
	if searched || m.spec.Drive == Force || m.spec.Drive == Servo {
		return 0
	}
	return m.spec.Decimate
}

// samples of a piece that a share of the problem runs through.
func (q *plan) samples(p *piece, share float64) int {
	return min(p.n, max(shortest, int(math.Ceil(share*float64(p.n)))))
}

// rowsOf the first n samples.
func (q *plan) rowsOf(n int) int { return max(0, (n-1-q.firstSample+q.rowStep)/q.rowStep) }

func (q *plan) problem(share float64) *fit.Problem {
	free, _ := fit.Free(q.params)
	rows := 0
	for _, p := range q.m.pieces {
		rows += q.rowsOf(q.samples(p, share))
	}
	_, unit := q.m.compared()
	pr := &fit.Problem{Params: free, Rows: rows, Unit: unit, NewEvaluator: func() fit.Evaluator { return q.solver(share) }}
	if len(q.m.pieces) > 1 {
		pr.Local = slices.DeleteFunc(q.states(share), func(l fit.Local) bool { return len(l.Params) == 0 })
	}
	if share == 1 {
		pr.Horizon = func(share float64) *fit.Problem { return q.problem(min(1, share)) }
	}
	return pr
}

// states are the free states at the beginning of every piece, which move its rows alone.
func (q *plan) states(share float64) (out []fit.Local) {
	row := 0
	for _, p := range q.m.pieces {
		l := fit.Local{FirstRow: row, EndRow: row + q.rowsOf(q.samples(p, share))}
		for j, i := range q.freeParams {
			if name := q.params[i].Name; name == "x0"+p.suffix || name == "v0"+p.suffix {
				l.Params = append(l.Params, j)
			}
		}
		out, row = append(out, l), l.EndRow
	}
	return out
}

// evaluator simulates the pieces one after the other.
type evaluator struct {
	q      *plan
	b      *body
	n      []int      // samples of every piece
	rows   int        // of all pieces
	inputs [][]window // of every piece, what acts in every part of an interval
	lag    float64    // s, of inputs; NaN: none yet
	servos []*servo   // of every piece; nil: no controller
	gains  leads      // of the present mass, where the simulation is led back
	steps  int        // so far

	bristle *friction.LuGreMass // takes most steps; nil: the mass takes them all
}

func (q *plan) evaluator(share float64) *evaluator {
	b, err := q.m.newBody(q.params)
	if err != nil {
		panic("axis: " + err.Error()) // the plan has made one before
	}
	e := &evaluator{q: q, b: b, lag: math.NaN(), inputs: make([][]window, len(q.m.pieces))}
	if !b.loads.turns {
		e.bristle = b.mass.Bristle()
	}
	for _, p := range q.m.pieces {
		n := q.samples(p, share)
		e.n, e.rows = append(e.n, n), e.rows+q.rowsOf(n)
		if q.m.spec.Drive == Servo {
			e.servos = append(e.servos, newServo(&q.m.spec, p, len(b.x)))
		}
	}
	return e
}

// Steps are those of all simulations so far.
func (e *evaluator) Steps() int { return e.steps }

// Residuals simulates with the free parameters theta.
func (e *evaluator) Residuals(theta, r []float64) engine.Status {
	_, status := e.run(theta, r, math.Inf(1), nil)
	return status
}

// ResidualsWithin is Residuals, given up where the sum of their squares exceeds limit.
func (e *evaluator) ResidualsWithin(theta, r []float64, limit float64) (engine.Status, bool) {
	cost, status := e.run(theta, r, limit, nil)
	return status, cost <= limit
}

// run simulates all pieces, with derivatives if there is a tangent. r may be nil. Rows behind a failure count with the largest
// residual.
func (e *evaluator) run(theta, r []float64, limit float64, t *tangent) (cost float64, status engine.Status) {
	q, b := e.q, e.b
	for j, i := range q.freeParams {
		b.value[i] = theta[j]
	}
	if t != nil {
		t.sensitivities()
		t.keptCount = 0
	}
	row := 0
	if !b.set() {
		return e.fail(r, row, 0, limit), engine.NonFinite
	}
	e.divide()
	if q.m.leading != nil {
		e.gains.set(q.m, b.mass.M)
		if t != nil {
			t.setNeighbourGains()
		}
	}
	for i, p := range q.m.pieces {
		if t != nil && t.leftOut(row, q.rowsOf(e.n[i])) {
			row += q.rowsOf(e.n[i])
			continue
		}
		x, v := b.initial(i)
		b.start(x, v)
		if t != nil {
			t.begin(i, x, v)
		}
		if e.bristle != nil {
			e.bristle.Begin(p.dt / float64(len(e.inputs[i])))
		}
		if e.servos != nil {
			e.servos[i].begin(start{x, v, p.a0})
		}
		var s engine.Status
		row, cost, s = e.leg(i, 0, e.n[i]-1, r, row, cost, limit, t)
		if s == engine.NonFinite {
			return e.fail(r, row, cost, limit), s
		}
		if status = max(status, s); cost > limit {
			break
		}
	}
	return cost, status
}

// leg simulates piece i between two samples from the present state on. Its rows go to r, if there is one, from the given one on, and
// their squares to the cost. A row at a first sample that is not that of the piece belongs to the leg before. It ends early where
// the cost exceeds the limit or the simulation fails, and returns the row behind the last.
func (e *evaluator) leg(i, from, to int, r []float64, row int, cost, limit float64, t *tangent) (int, float64, engine.Status) {
	q, b, p := e.q, e.b, e.q.m.pieces[i]
	var c *servo
	if e.servos != nil {
		c = e.servos[i]
	}
	status, begin, next := engine.OK, row, q.firstSample
	if from > 0 {
		next += q.rowStep * q.rowsOf(from+1)
	}
	for k := from; ; k++ {
		if c != nil {
			if c.ask(k, b.x[0]); !(math.Abs(b.x[0]) < c.reach) {
				return row, cost, engine.NonFinite
			}
			if t != nil {
				t.ask(c, k)
			}
		}
		if k == next {
			d := b.x[0]
			switch q.m.spec.Output {
			case Velocity:
				d = b.x[1]
			case Command:
				d = c.u
			}
			d -= p.measured[k]
			if !(math.Abs(d) < q.worst) {
				return row, cost, engine.NonFinite
			}
			if t != nil {
				t.recordRow(i, row-begin, row, d)
			}
			if q.m.leading != nil {
				d = e.leadBack(i, row-begin, d)
			}
			if r != nil {
				r[row] = d
			}
			if cost += float64(d * d); cost > limit {
				return row, cost, status
			}
			row++
			next += q.rowStep
		}
		if k == to {
			return row, cost, status
		}
		e.steps += len(e.inputs[i])
		s := e.interval(i, k, c, t)
		if status = max(status, s); s == engine.NonFinite {
			return row, cost, s
		}
	}
}

// divide divides the intervals into as many parts as the present parameters want, whose scheme takes steps of at most h (s), and
// finds what acts in each. A stick mode depends on the step, if at all, by a dead zone: it keeps the limit of the start.
func (e *evaluator) divide() {
	h, lag := e.q.limit, e.b.lagTime()
	if !e.b.switched {
		h, _ = e.b.mass.Limit()
	}
	for i, p := range e.q.m.pieces {
		n := e.q.parts[i]
		if e.q.m.spec.Substeps == 0 && float64(n)*h < p.dt {
			n = int(min(maxSubsteps, math.Ceil(p.dt/h)))
		}
		if n == len(e.inputs[i]) && lag == e.lag {
			continue
		}
		if n > cap(e.inputs[i]) {
			e.inputs[i] = make([]window, n, max(n, maxSubsteps))
		}
		e.inputs[i] = e.inputs[i][:n]
		windows(e.inputs[i], lag/p.dt, e.q.m.spec.Hold == Linear)
		if e.servos != nil {
			e.servos[i].setWindows(e.inputs[i])
		}
	}
	e.lag = lag
}

// interval moves the body, and with t its derivatives, from sample k of piece i to the next.
func (e *evaluator) interval(i, k int, c *servo, t *tangent) engine.Status {
	b, p := e.b, e.q.m.pieces[i]
	if p.load != nil || p.current != nil {
		b.channels(p, k)
	}
	switch {
	case t != nil && t.pushes != nil:
		return t.pushes.interval(t, i, k)
	case c == nil:
		return e.pass(i, k, nil, t)
	case c.nextWeight == 0:
		c.un = c.u0 // does not act, but would a little earlier
		return e.pass(i, k, c, t)
	case t == nil:
		return e.drive(i, k, c)
	}
	// again with derivatives, once the command at the end is known
	copy(c.saved, b.x)
	if s := e.drive(i, k, c); s == engine.NonFinite {
		return s
	}
	copy(b.x, c.saved)
	n := len(t.columns)
	t.sx[n], t.sv[n], t.sz[n] = 0, 0, 0
	s := e.pass(i, k, c, t)
	if s != engine.NonFinite {
		t.answer(c, k)
	}
	return s
}

// pass moves the body, and with t its derivatives, by an interval, at whose end c.un acts where there is a controller.
func (e *evaluator) pass(i, k int, c *servo, t *tangent) engine.Status {
	b, p, in := e.b, e.q.m.pieces[i], e.inputs[i]
	l, h, status := &b.loads, p.dt/float64(len(in)), engine.OK
	for j := range in {
		if p.springEnd != nil {
			l.dp = (p.springEnd[k+1] - p.springEnd[k]) / p.dt
			l.p = p.springEnd[k] + l.dp*float64(j)*h
		}
		switch {
		case c != nil:
			l.u, l.du = c.taps[j].at(c, h)
		case p.force != nil:
			in[j].act(l, p.force, k, h)
		}
		var s engine.Status
		if t != nil {
			t.push(i, k, j, c)
			s = t.step(h, c)
		} else {
			_, _, s = e.step(h)
		}
		if status = max(status, s); s == engine.NonFinite {
			return s
		}
	}
	return status
}

// step moves the body by h (s) at the mean velocity w (m/s); quick: bristle took the step.
func (e *evaluator) step(h float64) (w float64, quick bool, status engine.Status) {
	b, l := e.b, &e.b.loads
	if e.bristle == nil || l.q != 0 {
		r := b.mass.Step(h, b.x, l)
		return r.W, false, r.Status
	}
	if e.bristle.Step(b.x, l.u+0.5*h*l.du+l.kd*(l.p+0.5*h*l.dp)-l.offset, l.kd+l.k, l.fv) {
		return e.bristle.W, true, engine.OK
	}
	v := b.x[1]
	r := b.mass.Step(h, b.x, l)
	e.bristle.Skip(v, r.W)
	return r.W, false, r.Status
}

// fail fills the rows from row on with the largest residual and returns the cost.
func (e *evaluator) fail(r []float64, row int, cost, limit float64) float64 {
	w := e.q.worst
	for ; row < e.rows; row++ {
		if r != nil {
			r[row] = w
		}
		if cost += float64(w * w); cost > limit {
			return cost
		}
	}
	return cost
}
