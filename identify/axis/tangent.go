package axis

import (
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/identify/fit"
)

// The variational equations of a simulation. A step of friction.Mass solves, for its mean velocity w (Midpoint) or its velocity
// at the end (Implicit),
//
//	R(w; v, x, z, θ) = c·M/h·(w − v) − u(x + s·w, w) + F(w, z; θ) = 0,   c = 2 or 1,  s = h/2 or h,
//
// and continues with x⁺ = x + h·w, v⁺ = 2w − v or w, z⁺ = Z(w, z; θ). So a small change of the parameters and of the state
// before moves it by
//
//	δw = −(∂R/∂v·δv + ∂R/∂x·δx + ∂R/∂z·δz + ∂R/∂θ·δθ) / ∂R/∂w,
//
// and the state after it by what follows. The law gives the derivatives of F and Z (friction.Sloped). Parameters act through
// places: the mass, the numbers of a law for each direction, the loads. How a parameter moves its places is asked of the body
// itself, by differences. One pass gives the derivatives of all parameters, in the time of two or three simulations.

// tangent is an evaluator that knows its derivatives.
type tangent struct {
	*evaluator
	laws          [2]friction.Sloped // forward, backward; nil: a contact with a stick mode
	slopes        friction.Slopes
	rigidContact  friction.Rigid  // that contact
	exponent      bool            // its exponent is searched
	parts         []friction.Part // of a step of it
	level         []float64       // ∂L/∂θ of its break-away level
	st            []float64       // ∂τ/∂θ of the beginning of a part
	restForce     float64         // N, on the body at rest at the end of the step before; NaN: it moved
	dt            float64         // s, between samples of the present piece
	place         []*float64      // mass, the loads offset, k, sin, cos, fv and q, numbers of the laws
	firstLawPlace [2]int          // place of the first number of a law
	placeMoves    [][]move        // by every free parameter, of its places but those of the laws …
	bends         [2][][]move
	sx, sv        []float64   // ∂x/∂θ, ∂v/∂θ
	sz            []float64   // ∂z/∂θ
	columns       [][]float64 // ∂r/∂θ, of the rows that the parameter moves
	firstRow      []int       // first row of every column
	length        []int       // and how many it has
	columnTheta   []float64   // the free parameters at which the columns are; nil: not known
	keptRows      []int       // that the columns keep, rising; nil: all
	keptCount     int         // how many of them are behind
	active        [][]int     // of every piece, the columns of what moves it, and behind them that of the command at the end of an interval
	pieceColumns  []int       // of the present piece, without that last one
	lag           int         // the free parameter that is the lag; −1: none
	early         [][]window  // of every piece, with a lag a little shorter …
	later         [][]window  // … and a little longer
	lighter       leads       // gains of a mass a little smaller …
	heavier       leads       // … and a little larger
	eps           float64     // s, by how much

	pushes *pushes // the columns are of forces; nil: of parameters

	// of a controller, per parameter; behind the last one stands the command at the end of the interval
	su0, su1, su2           []float64
	du                      []float64
	positionSlopes          [][]float64 // of the positions, a ring
	savedValues             []float64
	shorterTaps, longerTaps [][]taps
}

// move is by how much a place moves with a parameter.
type move struct {
	place int
	rate  float64
}

// tangent is the evaluator with derivatives, nil if the law has none, or where rugged motion wants wide differences.
func (q *plan) tangent(share float64) *tangent {
	if q.m.spec.Drive != Force && q.m.spec.Drive != Servo {
		return nil
	}
	e := q.evaluator(share)
	t := &tangent{evaluator: e, lag: -1}
	switch law := e.b.fullLaw.(type) {
	case *friction.TwoSided:
		fore, back := law.Sides()
		t.laws[0], _ = fore.(friction.Sloped)
		t.laws[1], _ = back.(friction.Sloped)
	case friction.Rigid:
		t.rigidContact = law
	default:
		t.laws[0], _ = e.b.fullLaw.(friction.Sloped)
		t.laws[1] = t.laws[0]
	}
	if t.rigidContact == nil && (t.laws[0] == nil || t.laws[1] == nil) {
		return nil
	}
	l := &e.b.loads
	t.place = []*float64{&e.b.mass.M, &l.offset, &l.k, &l.sin, &l.cos, &l.fv, &l.q}
	t.firstLawPlace = [2]int{len(t.place), len(t.place)}
	numbers := len(friction.Bind(e.b.law))
	t.place = append(t.place, friction.Bind(e.b.law)...)
	if t.laws[0] != t.laws[1] {
		t.firstLawPlace[1] = len(t.place)
		t.place = append(t.place, friction.Bind(t.laws[1].(friction.Model))...)
	}
	n := len(q.freeParams)
	t.slopes.Force, t.slopes.State, t.level = make([]float64, numbers), make([]float64, numbers), make([]float64, numbers)
	t.parts = make([]friction.Part, 0, 32)
	t.room(n)
	t.savedValues = make([]float64, len(t.place))
	t.placeMoves = make([][]move, n)
	t.bends = [2][][]move{make([][]move, n), make([][]move, n)}
	for j, i := range q.freeParams {
		if i == e.b.lag {
			t.lag = j
		}
		t.exponent = t.exponent || q.params[i].Name == "delta"
	}
	t.share(n, q.states(share))
	t.early, t.later = make([][]window, len(e.inputs)), make([][]window, len(e.inputs))
	if e.servos != nil {
		t.su0, t.su1, t.su2 = make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
		pad := 0
		for _, c := range e.servos {
			pad = max(pad, c.pad)
		}
		t.positionSlopes = make([][]float64, n+1)
		for j := range t.positionSlopes {
			t.positionSlopes[j] = make([]float64, pad+2)
		}
		t.shorterTaps, t.longerTaps = make([][]taps, len(e.servos)), make([][]taps, len(e.servos))
	}
	return t
}

// leftOut tells that none of n rows from the given one on is kept.
func (t *tangent) leftOut(row, n int) bool {
	return t.keptRows != nil && (t.keptCount == len(t.keptRows) || t.keptRows[t.keptCount] >= row+n)
}

// room makes it for n derivatives of the state.
func (t *tangent) room(n int) {
	for _, s := range []*[]float64{&t.sx, &t.sv, &t.sz, &t.st, &t.du} {
		*s = make([]float64, n+1)
	}
}

// share divides the rows among n columns, those of states of a piece as long as its rows, and tells which of them a piece moves.
func (t *tangent) share(n int, states []fit.Local) {
	t.columns, t.firstRow, t.active = make([][]float64, n), make([]int, n), make([][]int, len(t.inputs))
	length := t.rows
	if t.keptRows != nil {
		length = len(t.keptRows)
	}
	t.length = slices.Repeat([]int{length}, n)
	own := make([]bool, n)
	for _, l := range states {
		for _, j := range l.Params {
			t.length[j], t.firstRow[j], own[j] = l.EndRow-l.FirstRow, l.FirstRow, true
		}
	}
	var all []int
	for j := range n {
		if !own[j] {
			all = append(all, j)
		}
	}
	for i := range t.active {
		t.active[i] = slices.Clone(all)
		if states != nil {
			t.active[i] = append(t.active[i], states[i].Params...)
		}
		t.active[i] = append(t.active[i], n)
	}
}

// allocateColumns makes the columns, which a simulation without derivatives does not need.
func (t *tangent) allocateColumns() {
	for j, n := range t.length {
		if t.columns[j] == nil {
			t.columns[j] = make([]float64, n)
		}
	}
}

// Columns simulates with the free parameters theta and returns the derivatives of the residuals.
func (t *tangent) Columns(theta []float64) ([][]float64, engine.Status) {
	if len(t.columnTheta) > 0 && slices.Equal(t.columnTheta, theta) {
		return t.columns, engine.OK
	}
	t.columnTheta = t.columnTheta[:0]
	t.allocateColumns()
	if _, status := t.run(theta, nil, math.Inf(1), t); status == engine.NonFinite {
		return nil, status
	}
	return t.columns, engine.OK
}

// ResidualsAhead is ResidualsWithin with the derivatives for Columns, which cost less along with the residuals.
func (t *tangent) ResidualsAhead(theta, r []float64, limit float64) (engine.Status, bool) {
	t.columnTheta = t.columnTheta[:0]
	if t.servos != nil { // which repeat an interval for the derivatives
		return t.ResidualsWithin(theta, r, limit)
	}
	t.allocateColumns()
	cost, status := t.run(theta, r, limit, t)
	whole := cost <= limit
	if whole && status != engine.NonFinite {
		t.columnTheta = append(t.columnTheta, theta...)
	}
	return status, whole
}

// setNeighbourGains finds the gains of masses around the present one.
func (t *tangent) setNeighbourGains() {
	t.lighter.set(t.q.m, t.gains.mass*(1-massRelStep))
	t.heavier.set(t.q.m, t.gains.mass*(1+massRelStep))
}

// massRelStep is the relative displacement of the mass by which gains are asked, which stay where they change by less than 1e-6.
const massRelStep = 1e-3

// recordRow writes the given row, row k of piece i, where the simulation is off by d, and leads the derivatives back like the body.
func (t *tangent) recordRow(i, k, row int, d float64) {
	sx, sv, columns := t.sx, t.sv, t.pieceColumns
	if p := t.pushes; p != nil {
		sx, sv, columns = p.x, p.v, p.places
	}
	out := sx
	switch t.q.m.spec.Output {
	case Velocity:
		out = sv
	case Command:
		out = t.su0
	}
	at := row
	if t.keptRows != nil {
		if at = -1; t.keptCount < len(t.keptRows) && t.keptRows[t.keptCount] == row {
			at, t.keptCount = t.keptCount, t.keptCount+1
		}
	}
	if t.q.m.leading == nil {
		for _, j := range columns {
			if at >= 0 {
				t.columns[j][at-t.firstRow[j]] = out[j]
			}
		}
		return
	}
	g, less, more := t.gains.at(i, k), t.lighter.at(i, k), t.heavier.at(i, k)
	by := d / (2 * massRelStep * t.gains.mass) // per unit of the mass
	turn := gain{(more.x - less.x) * by, (more.v - less.v) * by, (more.weight - less.weight) * by}
	for _, j := range columns {
		y, mass := out[j], 0.0
		if j < len(t.placeMoves) {
			for _, m := range t.placeMoves[j] {
				if m.place == 0 {
					mass = m.rate
				}
			}
		}
		sx[j] -= g.x*y + turn.x*mass
		sv[j] -= g.v*y + turn.v*mass
		if at >= 0 {
			t.columns[j][at-t.firstRow[j]] = y*g.weight + turn.weight*mass
		}
	}
}

// relStep is the relative displacement of the differences by which places are asked: they are straight lines, or have a corner.
const relStep = 1e-6

// sensitivities asks by how much every place moves with every parameter.
func (t *tangent) sensitivities() {
	b := t.b
	for j, i := range t.q.freeParams {
		x := b.value[i]
		h := relStep * max(math.Abs(x), 1e-3*(t.q.params[i].Hi-t.q.params[i].Lo), 1e-300)
		if math.IsInf(h, 0) {
			h = relStep
		}
		b.value[i] = x + h
		b.place()
		for k, at := range t.place {
			t.savedValues[k] = *at
		}
		b.value[i] = x - h
		b.place()
		b.value[i] = x
		t.placeMoves[j], t.bends[0][j], t.bends[1][j] = t.placeMoves[j][:0], t.bends[0][j][:0], t.bends[1][j][:0]
		numbers := len(t.slopes.Force)
		for k, at := range t.place {
			by := (t.savedValues[k] - *at) / (2 * h)
			if by == 0 {
				continue
			}
			if k < t.firstLawPlace[0] {
				t.placeMoves[j] = append(t.placeMoves[j], move{k, by})
				continue
			}
			for side, first := range t.firstLawPlace {
				if k >= first && k < first+numbers {
					t.bends[side][j] = append(t.bends[side][j], move{k - first, by})
				}
			}
		}
	}
	b.place()
}

// begin puts the body at the beginning of piece i, and finds how that moves.
func (t *tangent) begin(i int, x, v float64) {
	b := t.b
	t.pieceColumns = t.active[i][:len(t.active[i])-1]
	t.setLagWindows(i)
	clear(t.sx)
	clear(t.sv)
	clear(t.sz)
	t.restForce, t.dt = math.NaN(), t.q.m.pieces[i].dt
	if t.pushes != nil {
		t.pushes.begin(t, i)
		return
	}
	for _, j := range t.pieceColumns {
		at := t.q.freeParams[j]
		switch at {
		case b.x0[2*i]:
			t.sx[j] = 1
		case b.x0[2*i+1]:
			t.sv[j] = 1
		}
		if len(b.x) < 3 || v == 0 && t.sv[j] == 0 { // no contact, or relaxed, whatever the law
			continue
		}
		was := b.value[at]
		h := relStep * max(math.Abs(was), 1e-3*(t.q.params[at].Hi-t.q.params[at].Lo), 1e-300)
		var z [2]float64
		for side, sign := range []float64{1, -1} {
			b.value[at] = was + sign*h
			b.place()
			b.start(x, v+sign*h*t.sv[j])
			z[side] = b.x[2]
		}
		b.value[at] = was
		t.sz[j] = (z[0] - z[1]) / (2 * h)
	}
	b.place()
	b.start(x, v)
	if t.servos == nil {
		return
	}
	c := t.servos[i]
	for _, j := range t.pieceColumns {
		ring := t.positionSlopes[j]
		for k := range c.pad { // the parabola that leads to the start
			ring[(k)%len(ring)] = t.sx[j] - float64(c.pad-k)*c.h*t.sv[j]
		}
	}
}

// setLagWindows finds the windows of a piece for lags around the present one.
func (t *tangent) setLagWindows(i int) {
	if t.lag < 0 {
		return
	}
	p, n := t.q.m.pieces[i], len(t.inputs[i])
	t.early[i], t.later[i] = slices.Grow(t.early[i][:0], n)[:n], slices.Grow(t.later[i][:0], n)[:n]
	t.eps = 1e-4 * p.dt
	straight := t.q.m.spec.Hold == Linear
	windows(t.early[i], (t.b.lagTime()-t.eps)/p.dt, straight)
	windows(t.later[i], (t.b.lagTime()+t.eps)/p.dt, straight)
	if t.servos != nil {
		t.shorterTaps[i], t.longerTaps[i] = tapsOf(t.shorterTaps[i], t.early[i]), tapsOf(t.longerTaps[i], t.later[i])
	}
}

// ask finds how the command at sample k moves.
func (t *tangent) ask(c *servo, k int) {
	n := len(t.columns)
	t.su0, t.su1, t.su2 = t.su2, t.su0, t.su1
	ring := len(t.positionSlopes[0])
	for _, j := range t.pieceColumns {
		t.positionSlopes[j][(c.pad+k)%ring] = t.sx[j]
		t.su0[j] = 0
	}
	t.su0[n], t.su1[n], t.su2[n] = 0, 0, 0
	if k >= c.pad && math.Abs(c.u) < c.limit {
		i := c.pad + k - c.delay
		now, then := i%ring, (i-c.mean)%ring
		for _, j := range t.pieceColumns {
			t.su0[j] = -c.stiffness*t.sx[j] - c.damping*(t.positionSlopes[j][now]-t.positionSlopes[j][then])
		}
	}
	if k == 0 {
		copy(t.su1, t.su0)
		copy(t.su2, t.su0)
	}
}

// push finds how what acts in part j of interval k of piece i moves.
func (t *tangent) push(i, k, j int, c *servo) {
	n := len(t.columns)
	if t.pushes != nil {
		t.pushes.push(t.du, &t.inputs[i][j])
		return
	}
	clear(t.du)
	if c != nil {
		tap := &c.taps[j]
		for _, col := range t.pieceColumns {
			t.du[col] = tap.mean[0]*t.su2[col] + tap.mean[1]*t.su1[col] + tap.mean[2]*t.su0[col]
		}
		t.du[n] = tap.mean[3]
		if t.lag >= 0 {
			t.du[t.lag] += (t.longerTaps[i][j].meanOf(c) - t.shorterTaps[i][j].meanOf(c)) / (2 * t.eps)
		}
		return
	}
	if t.lag >= 0 {
		force := t.q.m.pieces[i].force
		t.du[t.lag] = (t.later[i][j].meanOf(force, k) - t.early[i][j].meanOf(force, k)) / (2 * t.eps)
	}
}

// answer puts in how the command at the end of interval k moves: u = target − slope·x, with x after the interval.
func (t *tangent) answer(c *servo, k int) {
	n := len(t.columns)
	if k+1 < c.pad || math.Abs(c.answered) >= c.limit {
		return // recorded, or held by the limit
	}
	i, ring := c.pad+k+1-c.delay, len(t.positionSlopes[0])
	in := 1 / (1 + c.slope*t.sx[n])
	for _, j := range t.pieceColumns {
		target := c.damping * t.positionSlopes[j][(i-c.mean)%ring]
		if c.delay > 0 {
			target -= c.damping * t.positionSlopes[j][i%ring]
		}
		du := (target - c.slope*t.sx[j]) * in
		t.sx[j] += t.sx[n] * du
		t.sv[j] += t.sv[n] * du
		t.sz[j] += t.sz[n] * du
	}
}

// step moves body and derivatives by h (s); the inputs move by du. Where the command at the end of the interval acts, it is one of
// them.
func (t *tangent) step(h float64, c *servo) engine.Status {
	b, d, columns := t.b, &t.slopes, t.pieceColumns
	if c != nil && c.nextWeight != 0 {
		columns = columns[:len(columns)+1]
	}
	if t.rigidContact != nil {
		return t.stepRigid(h, columns)
	}
	scheme := t.q.m.spec.Scheme
	x, v, z := b.x[0], b.x[1], 0.0
	if len(b.x) > 2 {
		z = b.x[2]
	}
	w, quick, status := t.evaluator.step(h)
	if status == engine.NonFinite {
		return status
	}
	twice, at, side := 2.0, 0.5*h, 0
	if scheme == friction.Implicit {
		w, twice, at = b.x[1], 1, h
	}
	if w < 0 {
		side = 1
	}
	if quick {
		t.bristle.Slopes(d)
	} else {
		t.laws[side].TrialSlopes(scheme, z, friction.Input{Dt: h, V: w, N: b.mass.N, I: b.mass.I}, d)
	}
	l, xm := &b.loads, x+at*w
	_, ux, uv := l.At(at, xm, w)
	inertia := twice * b.mass.M / h
	over := 1 / (inertia - at*ux - uv + d.ForceV)
	// by the mass and the loads, of what holds the mass back
	by := [...]float64{twice / h * (w - v), 1, xm, 0, 0, w, math.Abs(w)}
	if l.turns {
		by[3], by[4] = math.Sincos(xm)
	}
	bends, keeps := t.bends[side], 1.0 // of the velocity before: none for Implicit
	if scheme == friction.Implicit {
		keeps = 0
	}
	n := len(t.sx)
	sx, sv, sz, du := t.sx[:n], t.sv[:n], t.sz[:n], t.du[:n]
	forceZ, stateZ, stateV := d.ForceZ, d.StateZ, d.StateV
	for _, j := range columns {
		x, v, z := sx[j], sv[j], sz[j]
		rhs, state := inertia*v+ux*x+du[j]-forceZ*z, stateZ*z
		if j < len(bends) {
			for _, m := range bends[j] {
				rhs -= d.Force[m.place] * m.rate
				state += d.State[m.place] * m.rate
			}
			for _, m := range t.placeMoves[j] {
				rhs -= m.rate * by[m.place]
			}
		}
		dw := rhs * over
		sx[j], sv[j], sz[j] = x+h*dw, twice*dw-keeps*v, state+stateV*dw
	}
	return status
}

// solver is the evaluator of a problem: with derivatives where they are to be had.
func (q *plan) solver(share float64) fit.Evaluator {
	if t := q.tangent(share); t != nil {
		return t
	}
	return q.evaluator(share)
}
