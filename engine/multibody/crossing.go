package multibody

import "math"

// Crossing carries a machine that is stepped over singular positions of its loops, as the flat one of a parallelogram. There equations
// that are independent nearby are not: Jac loses rank, multipliers are not determined, and the way back to the constraints may lead to the
// other branch in which the machine could go on. The motion is smooth all the same, and so are the directions that the constraints forbid:
// the row of an equation W that comes to depend on the others S is
//
//	J_W = C·J_S + Φ·r(σ),   r of constant length and orthogonal to J_S by H⁻¹,
//
// where only Φ passes through zero. So near the position J_W is replaced by r, continued by a cubic in the way σ through four positions
// that were passed before: r·v = 0, r·dv/dt = −r′·v·dσ/dt. S stays as it is. By what the continuation misses the equations is
// left open there and closed behind it; where it is more than a share of the way, as where the links only nearly become flat, it was no
// such position.
type Crossing struct {
	Passages int // singular positions that were gone over

	m          *Model
	history    [crossingPoints]crossingPoint // positions on the way to the singular one, the newest last
	historyLen int                           // of them
	angle      float64                       // between the equations, at the end of the last step
	rate       float64                       // 1/s  how fast it falls
	approach   float64                       // 1/s  rate where the continuation began
	active     bool
	replaced   bool // rows of Jac are
	doubt      bool // the last continuation missed

	order             []int                      // equations S and W
	weak, redundant   []int                      // those of W, the last of order, and those that say what others say
	points            int                        // of the continuation
	sigma             [crossingPoints]float64    // kg½·m  of each
	rows              [crossingPoints][]float64  // weak×nv  r there
	weight            [2][crossingPoints]float64 // of the points in r and in r′
	origin            []float64                  // nq  position where the continuation began: there σ is 0
	sigmaRow          []float64                  // nv  dσ/dt = sigmaRow·v
	reach             float64                    // kg½·m  from there to the singular position, as expected
	size              []float64                  // of weak: length of r
	leave             []float64                  // of weak: Φ where it began
	actual            []float64                  // weak×nv  J_W
	gap               []float64                  // of weak: G
	phi               []float64                  // weak×weak
	shares            []float64                  // weak×nc  C
	lambda            []float64                  // of weak: multipliers of the step before
	w, jac            []float64                  // nc×nv  scratch: orthogonal rows of L⁻ᵀ·Jacᵀ, and the same of Jac
	lastVelocities, y []float64                  // nv
	a, b              []float64                  // weak×weak, weak
}

// crossingPoint is a state that was passed.
type crossingPoint struct {
	q, v  []float64
	angle float64
}

const (
	crossingPoints = 4
	crossingSteps  = 3    // a singular position is near if it is fewer steps away
	crossingAngle  = 1e-3 // rad  or, for slow motion, by this angle: below it the error of a position, 1e-12/angle, turns a row too far
	crossingApart  = 4e-4 // rad  angles of the points differ by so much at least
	crossingFar    = 0.5  // rad  beyond it no points are kept
	crossingLimit  = 0.25 // rad  angle below which an equation may be one of W
	crossingMiss   = 1e-3 // share of the way that a continuation may miss
	crossingKick   = 2e-3 // share of the speeds by which they may be changed behind it
	crossingFold   = 0.05 // and beside it, without a continuation
	unknownAngle   = 2    // of the first step
	flattestApart  = 0.05 // rad, m  from position to position
	flattestSlope  = 8    // of the angle along the way: none that is steeper is gone over
	flattestSteps  = 300
	crossingBlend  = 0.2 // of Φ at the beginning: below it the multipliers stay near those of the step before
)

// NewCrossing makes the workspace, which evaluations with d use from now on.
func NewCrossing(m *Model, d *Data) *Crossing {
	n, k := m.nv, m.loops.n
	f := func(n int) []float64 { return make([]float64, n) }
	c := &Crossing{
		m: m, order: make([]int, 0, k), redundant: make([]int, 0, k), origin: f(m.nq), sigmaRow: f(n), size: f(k), leave: f(k), actual: f(k * n),
		gap: f(k),
		phi: f(k * k), shares: f(k * k), lambda: f(k), w: f(k * n), jac: f(k * n), lastVelocities: f(n), y: f(n), a: f(k * k), b: f(k),
	}
	for i := range c.history {
		c.history[i].q, c.history[i].v, c.rows[i] = f(m.nq), f(n), f(k*n)
	}
	d.crossing = c
	c.Clear()
	return c
}

// Active tells whether the machine is on its way over a singular position.
func (c *Crossing) Active() bool { return c != nil && c.active }

// TimeToSingular is the time (s) from or to a singular position, if the machine came nearer, or went away, as fast as in the last step;
// 0: none is known, or it is on its way over one.
func (c *Crossing) TimeToSingular() float64 {
	if c.active || c.rate == 0 {
		return 0
	}
	return c.angle / math.Abs(c.rate)
}

// Angle is that between the equations (rad) at the end of the last step.
func (c *Crossing) Angle() float64 { return c.angle }

// Flattest is the smallest angle between the equations (rad) on the whole way on which loops lead a machine of one degree of freedom, both
// ways from q; unknownAngle: it has another number of them. Positions are 0.05 rad (m) apart, or nearer, and a flat one is not gone over.
func (c *Crossing) Flattest(d *Data, from []float64) float64 {
	m, least := c.m, float64(unknownAngle)
	if m.loops.n == 0 || m.nv-d.FullRank != 1 {
		return least
	}
	q, v := make([]float64, m.nq), make([]float64, m.nv)
	for _, way := range [2]float64{1, -1} {
		copy(q, from)
		for i := range v {
			v[i] = way * (1 + 0.1*float64(i))
		}
		for range flattestSteps {
			if Project(m, d, q, v) != OK || d.Rank < d.FullRank {
				return 0
			}
			angle := math.Sqrt(d.gram.minPivot)
			if least = min(least, angle); least < flattestApart {
				return least
			}
			fast := largestOf(v)
			for i := range v {
				v[i] /= fast
			}
			Integrate(m, q, v, min(flattestApart, angle/flattestSlope), q)
		}
	}
	return least
}

// Clear forgets what came before.
func (c *Crossing) Clear() { c.historyLen, c.angle, c.rate, c.active = 0, unknownAngle, 0, false }

// Miss forgets it where the continuation has missed: where the machine goes on is in doubt until it is away from there. The state that it
// has led away from the constraints returns to them. false: they would turn its velocities by too much.
func (c *Crossing) Miss(d *Data, q, v []float64) bool {
	c.Clear()
	c.doubt = true
	if len(c.m.loops.drives)+len(c.m.loops.relations) > 0 {
		return true
	}
	copy(c.lastVelocities, v)
	return Project(c.m, d, q, v) == OK && !c.kicked(v, crossingFold)
}

// Imminent tells whether a singular position is so near that a step of h (s) may reach it.
func (c *Crossing) Imminent(h float64) bool {
	return c.active || c.doubt || c.m.loops.n > 0 && (c.angle <= crossingSteps*h*math.Abs(c.rate) || c.angle <= crossingAngle)
}

// Begin looks ahead where a step of h (s) begins, and takes the continuation where a singular position is near.
func (c *Crossing) Begin(d *Data, h float64) {
	if c.active {
		for i, r := range c.weak {
			c.lambda[i] = d.Lambda[r]
		}
		return
	}
	near := c.angle <= crossingSteps*h*c.rate || c.angle <= crossingAngle && c.historyLen > 1 &&
		c.angle <= crossingSteps*(c.history[0].angle-c.angle)
	if c.historyLen > 1 && c.rate > 0 && near {
		c.active, c.approach = c.enter(d), c.rate
	}
}

// End is Project, at the end of a step of h (s). It is Undecided where the way back to the constraints says nothing of where the machine
// goes on, and Missed where the continuation has missed them: the step has to be taken again, without it. q and v are of no use then.
func (c *Crossing) End(d *Data, q, v []float64, h float64) (Status, Continued) {
	m := c.m
	if m.loops.n == 0 {
		return OK, Continued{}
	}
	near := c.Imminent(h)
	if near {
		copy(c.lastVelocities, v)
	}
	st := Project(m, d, q, v)
	switch {
	case !c.active:
		if st == OK {
			near = near && c.kicked(v, crossingFold)
			c.note(d, q, v, h)
		}
		return st, Continued{Undecided: near}
	case st != OK:
		return OK, Continued{Missed: true}
	}
	passed, done := 0, true
	for i := range c.weak {
		miss, phi := c.gap[i], c.phi[i*len(c.weak)+i]
		for r, x := range c.shares[i*m.loops.n : (i+1)*m.loops.n] {
			miss -= x * d.G[r]
		}
		if !(math.Abs(miss) <= crossingMiss*c.leave[i]*c.size[i]*c.reach) {
			return OK, Continued{Missed: true}
		}
		done = done && math.Abs(phi) >= c.leave[i]
		if phi < 0 {
			passed = 1
		}
	}
	if !done {
		return OK, Continued{}
	}
	c.active = false
	copy(c.lastVelocities, v)
	if st = Project(m, d, q, v); st != OK || c.kicked(v, crossingKick) {
		return OK, Continued{Undecided: true}
	}
	c.Passages += passed
	c.historyLen = 0
	c.note(d, q, v, h)
	c.rate = -c.approach // it leaves as it came
	return OK, Continued{}
}

// Continued says why a step did not end.
type Continued struct{ Missed, Undecided bool }

// kicked tells whether the velocities before were changed to v by more than a share of them.
func (c *Crossing) kicked(v []float64, share float64) bool {
	change := 0.0
	for i, x := range v {
		change = math.Max(change, math.Abs(x-c.lastVelocities[i]))
	}
	return !(change <= share*largestOf(v))
}

// note keeps the state q, v at the end of a step of h (s).
func (c *Crossing) note(d *Data, q, v []float64, h float64) {
	before := c.angle
	c.angle = math.Sqrt(d.gram.minPivot)
	if d.Rank < d.FullRank {
		c.angle = 0
	}
	if c.rate = (before - c.angle) / h; before == unknownAngle {
		c.rate = 0
	}
	if !(c.rate > 0) {
		c.historyLen = 0
	}
	if before != unknownAngle && c.rate < 0 && c.angle > -crossingSteps*h*c.rate {
		c.doubt = false
	}
	if c.angle > crossingFar {
		c.historyLen = 0
		return
	}
	switch {
	case c.historyLen > 1 && c.history[c.historyLen-2].angle-c.angle < crossingApart:
		c.historyLen-- // the newest has not gone far
	case c.historyLen == crossingPoints:
		first := c.history[0]
		copy(c.history[:], c.history[1:])
		c.historyLen--
		c.history[c.historyLen] = first
	}
	p := &c.history[c.historyLen]
	c.historyLen++
	copy(p.q, q)
	copy(p.v, v)
	p.angle = c.angle
}

// enter finds W and r at the points that are known.
func (c *Crossing) enter(d *Data) bool {
	m := c.m
	c.points = c.historyLen
	now := &c.history[c.historyLen-1]
	copy(c.origin, now.q)
	for k := c.historyLen - 1; k >= 0; k-- {
		p := &c.history[k]
		if !c.visit(d, p) {
			return false
		}
		if p == now {
			if !c.choose(d) {
				return false
			}
			c.follow(d, p.v)
		}
		Difference(m, c.origin, p.q, c.y)
		c.sigma[k] = dot(c.sigmaRow, c.y)
		c.orthogonal(d, p, c.rows[k], p == now)
		// how far Φ is from zero, by the last two points
		if k == c.historyLen-2 {
			c.reach = 0
			for i := range c.weak {
				if fall := c.b[i] - c.leave[i]; fall > 0 {
					c.reach = math.Max(c.reach, c.leave[i]/fall*-c.sigma[k])
				}
			}
		}
	}
	for i := range c.weak {
		c.lambda[i] = d.Lambda[c.weak[i]]
	}
	for k := range c.points - 1 { // there is no way back in σ
		if !(c.sigma[k] < c.sigma[k+1]) {
			return false
		}
	}
	return c.reach > 0
}

// visit evaluates the constraints at a point, to rounding.
func (c *Crossing) visit(d *Data, p *crossingPoint) bool {
	m := c.m
	for k := 0; ; k++ {
		if m.closing(d, p.q, p.v, k == 0) != OK {
			return false
		}
		m.delassus(d)
		if k == 2 || len(m.loops.drives)+len(m.loops.relations) > 0 { // what is prescribed is known at this time alone
			return true
		}
		for r, g := range d.G {
			d.right[r] = -g
		}
		m.respond(d)
		Integrate(m, p.q, d.y, 1, p.q)
	}
}

// choose finds W and what is idle where the constraints have been factored.
func (c *Crossing) choose(d *Data) bool {
	g, n := &d.gram, c.m.loops.n
	c.order, c.redundant = c.order[:0], c.redundant[:0]
	if g.rank < d.FullRank {
		return false
	}
	c.order = append(c.order, g.perm[:g.rank]...)
	c.redundant = append(c.redundant, g.perm[g.rank:]...)
	limit := math.Max(crossingLimit, 8*math.Sqrt(g.minPivot))
	strong := g.rank // pivots fall
	for strong > 0 && g.a[(strong-1)*n+strong-1] <= limit {
		strong--
	}
	c.weak = c.order[strong:]
	return len(c.weak) > 0
}

// follow takes the direction of σ from the velocity v.
func (c *Crossing) follow(d *Data, v []float64) {
	energy := c.momentum(d, v, c.sigmaRow)
	for i := range c.sigmaRow {
		c.sigmaRow[i] /= math.Sqrt(energy)
	}
}

// momentum writes H·v, and returns twice the kinetic energy.
func (c *Crossing) momentum(d *Data, v, to []float64) (energy float64) {
	n := c.m.nv
	for i := range n {
		x := 0.0
		for k := range n {
			x += d.H[max(i, k)*n+min(i, k)] * v[k]
		}
		to[i] = x
		energy += x * v[i]
	}
	return energy
}

// orthogonal writes r of W at a point, and Φ to b; at the beginning size and leave too.
func (c *Crossing) orthogonal(d *Data, p *crossingPoint, to []float64, first bool) {
	n := c.m.nv
	copy(c.w, d.w)
	copy(c.jac, d.Jac)
	for k, r := range c.order {
		w, jac := c.w[r*n:r*n+n], c.jac[r*n:r*n+n]
		before := math.Sqrt(dot(w, w))
		for range 2 {
			for _, s := range c.order[:k] {
				x := dot(w, c.w[s*n:s*n+n])
				for i := range w {
					w[i] -= x * c.w[s*n+i]
					jac[i] -= x * c.jac[s*n+i]
				}
			}
		}
		after := math.Sqrt(dot(w, w))
		for i := range w {
			w[i] /= after
			jac[i] /= after
		}
		i := k - (len(c.order) - len(c.weak))
		if i < 0 {
			continue
		}
		if first {
			c.size[i], c.leave[i] = before, after/before
		}
		c.b[i] = after / c.size[i]
		row := to[i*n : i*n+n]
		for l, x := range jac {
			row[l] = c.size[i] * x
		}
		c.removePrescribed(d, p.v, row)
	}
}

// removePrescribed takes from a row what prescribed motions, equations J_s·v ≠ 0 of S, do along it: its product with v is zero
// afterwards.
func (c *Crossing) removePrescribed(d *Data, v, row []float64) {
	m, n := c.m, c.m.nv
	if len(m.loops.drives)+len(m.loops.relations) == 0 {
		return
	}
	strong := c.order[:len(c.order)-len(c.weak)]
	sum := 0.0
	for _, s := range strong {
		x := dot(d.Jac[s*n:s*n+n], v)
		sum += x * x
	}
	if sum == 0 {
		return
	}
	along := dot(row, v) / sum
	for _, s := range strong {
		jac := d.Jac[s*n : s*n+n]
		x := along * dot(jac, v)
		for l := range row {
			row[l] -= x * jac[l]
		}
	}
}

// prepare makes rows of Jac zero that were replaced before; constrain writes but what is other than zero.
func (c *Crossing) prepare(d *Data) {
	if c == nil || !c.replaced {
		return
	}
	n := c.m.nv
	for _, r := range c.order {
		clear(d.Jac[r*n : r*n+n])
	}
	for _, r := range c.redundant {
		clear(d.Jac[r*n : r*n+n])
	}
	c.replaced = c.active
}

// replace puts r in place of W, after constrain.
func (c *Crossing) replace(d *Data, q, v []float64) {
	if !c.Active() {
		return
	}
	c.replaced = true
	n := c.m.nv
	Difference(c.m, c.origin, q, c.y)
	c.weigh(dot(c.sigmaRow, c.y))
	way := dot(c.sigmaRow, v)
	for i, r := range c.weak {
		row := d.Jac[r*n : r*n+n]
		copy(c.actual[i*n:], row)
		c.gap[i] = d.G[r]
		rate, turn := 0.0, 0.0
		for l := range row {
			x, dx := 0.0, 0.0
			for k := range c.points {
				y := c.rows[k][i*n+l]
				x += c.weight[0][k] * y
				dx += c.weight[1][k] * y
			}
			row[l] = x
			rate += x * v[l]
			turn += dx * v[l]
		}
		d.G[r], d.rate[r], d.GRate[r], d.Bias[r] = 0, 0, rate, turn*way
	}
	for _, r := range c.redundant {
		clear(d.Jac[r*n : r*n+n])
		d.G[r], d.rate[r], d.GRate[r], d.Bias[r] = 0, 0, 0, 0
	}
}

// weigh finds the weights of the points in r and r′ at s: Lagrange's polynomials.
func (c *Crossing) weigh(s float64) {
	for k := range c.points {
		value, slope := 1.0, 0.0
		for l := range c.points {
			if l == k {
				continue
			}
			apart := c.sigma[k] - c.sigma[l]
			slope = (slope*(s-c.sigma[l]) + value) / apart
			value *= (s - c.sigma[l]) / apart
		}
		c.weight[0][k], c.weight[1][k] = value, slope
	}
}

// split finds C and Φ, after delassus.
func (c *Crossing) split(d *Data) {
	if !c.Active() {
		return
	}
	n, nc := c.m.nv, c.m.loops.n
	for i := range c.weak {
		copy(c.y, c.actual[i*n:i*n+n])
		c.m.halfSolve(d, c.y)
		share := c.shares[i*nc : i*nc+nc]
		for r := range share {
			share[r] = dot(d.w[r*n:r*n+n], c.y)
		}
		d.gram.solve(share)
		for k, r := range c.weak {
			c.phi[i*len(c.weak)+k] = share[r]
			share[r] = 0
		}
	}
}

// share turns the multipliers of r into those of W, which are not determined where Φ is zero: there they stay as they were.
func (c *Crossing) share(d *Data) {
	if !c.Active() {
		return
	}
	n, nc := len(c.weak), c.m.loops.n
	blend := crossingBlend * c.leave[0]
	for _, x := range c.leave[1:n] {
		blend = math.Min(blend, crossingBlend*x)
	}
	// least |Φᵀλ − μ|² + blend²·|λ − λ of the step before|²
	for i := range n {
		c.b[i] = blend * blend * c.lambda[i]
		for k, r := range c.weak {
			c.b[i] += c.phi[i*n+k] * d.Lambda[r]
		}
		for k := range i + 1 {
			c.a[i*n+k] = dot(c.phi[i*n:i*n+n], c.phi[k*n:k*n+n])
		}
		c.a[i*n+i] += blend * blend
	}
	if !choleskySolve(c.a, n, c.b[:n]) {
		return
	}
	for i, r := range c.weak {
		d.Lambda[r] = c.b[i]
		for s, x := range c.shares[i*nc : i*nc+nc] {
			d.Lambda[s] -= x * c.b[i]
		}
	}
}
