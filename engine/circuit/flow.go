package circuit

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// instant is the solution of the equations at one instant.
type instant struct {
	y     []float64 // i′ (A/s), φ (V), j (A)
	inCut []bool    // by node: its row belongs to a cut
	ohm   []float64 // Ω  of the windings, warm

	// the voltage of a winding is slope·i + offset where its brushes are taken on their tangent
	slope, offset []float64 // Ω, V
}

func newInstant(c *Circuit) instant {
	m := len(c.windings)
	in := instant{y: make([]float64, c.n), inCut: make([]bool, len(c.nodes)), ohm: make([]float64, m), slope: make([]float64, m),
		offset: make([]float64, m)}
	for _, p := range c.cuts {
		in.inCut[p.row] = true
	}
	return in
}

// Flow writes dx/dt at the time t (s), positions q and speeds v of the machine, and adds the forces of the circuit to tau. It
// returns the powers of the instant. Node voltages and currents of it are then at Voltage and Current.
func (c *Circuit) Flow(t float64, q, v, x, dx, tau []float64) (Power, engine.Status) {
	if !numeric.AllFinite(x...) || !numeric.AllFinite(q...) || !numeric.AllFinite(v...) {
		return Power{}, engine.NonFinite
	}
	if c.varyingFields {
		c.factored = false
	}
	c.throw(t)
	c.fields(q)
	c.setResistances(x)
	c.setTangents(x)
	y := c.solution.y
	st := c.solveDiodes(func() {
		c.homogeneous(x, v, y)
		c.affine(t, v, y)
	}, y)
	if st == engine.NonFinite {
		return Power{}, st
	}
	m := len(c.windings)
	copy(dx[:m], y[:m])
	for k := range c.capacitors {
		p := &c.capacitors[k]
		dx[m+k] = y[m+len(c.nodes)+p.leadIndex] / p.c
	}
	hot := m + len(c.capacitors)
	for k := range c.windings {
		if h := c.windings[k].heat; h >= 0 {
			p := &c.heaters[h]
			dx[hot+h] = (c.heat(k, x[k]) - (x[hot+h]-p.ta)/p.res) / p.capacity
		}
	}
	out := c.forces(v, x, y, tau)
	in, loss := c.power(t, x, y)
	return Power{Input: in, Loss: loss, Output: out}, st
}

// brushes is the voltage across them (V).
func (w *winding) brushes(i float64) float64 {
	if w.drop == 0 {
		return 0
	}
	return w.drop * math.Tanh(i/w.scale)
}

// heat is what winding k turns into it at the current i (W).
func (c *Circuit) heat(k int, i float64) float64 {
	return (c.solution.ohm[k]*i + c.windings[k].brushes(i)) * i
}

// throw sets the switches for the time t.
func (c *Circuit) throw(t float64) {
	for k := range c.conductors {
		p := &c.conductors[k]
		if p.kind != switched {
			continue
		}
		g := p.gOff
		if s, _, _ := p.control.At(t); s > 0.5 {
			g = p.gOn
		}
		if g != p.g {
			p.g, c.factored, c.step.matricesValid = g, false, false
		}
	}
}

// fields takes inductances and fluxes at q.
func (c *Circuit) fields(q []float64) {
	for g := range c.groups {
		p := &c.groups[g]
		p.field.At(coordinate(q, p.axis), &p.mag)
	}
}

// setResistances sets the resistances of the windings at their temperatures.
func (c *Circuit) setResistances(x []float64) {
	hot := len(c.windings) + len(c.capacitors)
	for k := range c.windings {
		w := &c.windings[k]
		c.solution.ohm[k] = w.r
		if w.heat >= 0 {
			c.solution.ohm[k] = w.ohm(&c.heaters[w.heat], x[hot+w.heat])
		}
	}
}

// setTangents takes the drops of brushes as their tangents at the currents x, with resistances that are set.
func (c *Circuit) setTangents(x []float64) {
	in := &c.solution
	for k := range c.windings {
		in.slope[k], in.offset[k] = in.ohm[k], 0
		if w := &c.windings[k]; w.drop > 0 {
			y := math.Tanh(x[k] / w.scale)
			tangent := w.drop / w.scale * (1 - y*y)
			in.slope[k], in.offset[k] = in.ohm[k]+tangent, w.drop*y-tangent*x[k]
		}
	}
}

// ohm is the resistance (Ω) at a temperature (°C), as in package plant.
func (w *winding) ohm(h *heater, temp float64) float64 { return w.r * max(0.1, 1+h.tc*(temp-t20)) }

// solveDiodes solves for y with the right-hand side that fill writes, and turns the diodes until each is on the line it is on: first all
// that are wrong at once, then the first of them alone, which ends for any network of resistors (Murty's least index, [CPS09] 4.1).
func (c *Circuit) solveDiodes(fill func(), y []float64) engine.Status {
	for turn := 0; ; turn++ {
		if !c.factor() {
			return engine.NonFinite
		}
		fill()
		c.lu.Solve(y)
		if !numeric.AllFinite(y...) {
			return engine.NonFinite
		}
		if !c.turn(y, turn >= 4) {
			return engine.OK
		}
		if turn > 64 {
			return engine.NotConverged
		}
	}
}

// turn puts diodes on the line that belongs to their voltage; false: all are there.
func (c *Circuit) turn(y []float64, one bool) bool {
	turned := false
	for k := range c.conductors {
		p := &c.conductors[k]
		if p.kind != rectifying {
			continue
		}
		on := p.g == p.gOn
		if u := c.branchVoltage(p.fromNode, p.toNode, y); on == (u > p.knee) || math.Abs(u-p.knee) < onLine*(1+p.knee) {
			continue
		}
		c.changeLine(p)
		if turned = true; one {
			break
		}
	}
	return turned
}

// changeLine puts a diode on its other line.
func (c *Circuit) changeLine(p *conductor) {
	if p.g == p.gOn {
		p.g, p.u0 = p.gOff, 0
	} else {
		p.g, p.u0 = p.gOn, p.knee
	}
	c.factored, c.step.matricesValid = false, false
}

// diodeDeviation is by how much (V) the diode that is furthest from its line is off it; negative: all are on theirs.
func (c *Circuit) diodeDeviation(y []float64) (worst float64, index int) {
	worst, index = math.Inf(-1), -1
	for k := range c.conductors {
		p := &c.conductors[k]
		if p.kind != rectifying {
			continue
		}
		off := c.branchVoltage(p.fromNode, p.toNode, y) - p.knee
		if p.g == p.gOn {
			off = -off
		}
		if off > worst || off-off != 0 {
			worst, index = off, k
		}
	}
	return worst, index
}

// phi is the voltage of a node.
func (c *Circuit) phi(node int, y []float64) float64 {
	if node == ground {
		return 0
	}
	return y[len(c.windings)+node]
}

func (c *Circuit) branchVoltage(from, to int, y []float64) float64 {
	return c.phi(from, y) - c.phi(to, y)
}

// current of a conductor.
func (p *conductor) current(u float64) float64 { return p.g*(u-p.u0) + p.gOff*p.u0 }

// factor assembles and factors the matrix, unless it is known. It is false for a singular one.
func (c *Circuit) factor() bool {
	if c.factored {
		return true
	}
	m, nn, n := len(c.windings), len(c.nodes), c.n
	a := c.lu.A
	clear(a)
	for g := range c.groups {
		p := &c.groups[g]
		for i := range p.m {
			copy(a[(p.firstWinding+i)*n+p.firstWinding:], p.mag.L[i*p.m:(i+1)*p.m])
		}
	}
	put := func(row, node int, v float64) {
		if node != ground {
			a[row*n+m+node] += v
		}
	}
	for k := range c.windings {
		put(k, c.windings[k].fromNode, -1)
		put(k, c.windings[k].toNode, 1)
	}
	for k := range c.conductors {
		p := &c.conductors[k]
		for _, end := range [2][2]int{{p.fromNode, p.toNode}, {p.toNode, p.fromNode}} {
			if end[0] != ground && !c.solution.inCut[end[0]] {
				put(m+end[0], end[0], p.g)
				put(m+end[0], end[1], -p.g)
			}
		}
	}
	for k := range c.leads {
		p, row := &c.leads[k], m+nn+k
		put(row, p.fromNode, 1)
		put(row, p.toNode, -1)
		a[row*n+row] = -p.r
		if p.fromNode != ground && !c.solution.inCut[p.fromNode] {
			a[(m+p.fromNode)*n+row]++
		}
		if p.toNode != ground && !c.solution.inCut[p.toNode] {
			a[(m+p.toNode)*n+row]--
		}
	}
	for _, p := range c.cuts {
		for _, k := range p.windings {
			a[(m+p.row)*n+max(k, ^k)] = signOf(k)
		}
	}
	ok := c.lu.Factor()
	c.factored = ok && !c.varyingFields
	return ok
}

// coordinate is the position on an axis (m, rad); 0 where a field moves with none.
func coordinate(q []float64, axis int) float64 {
	if axis < 0 {
		return 0
	}
	return q[axis]
}

// homogeneous writes the part of the right-hand side that is linear in the state x.
func (c *Circuit) homogeneous(x, v, y []float64) {
	m, nn := len(c.windings), len(c.nodes)
	clear(y)
	for k := range c.windings {
		w := &c.windings[k]
		y[k] = -c.solution.slope[k] * x[k]
		c.leave(w.fromNode, w.toNode, x[k], y)
	}
	for g := range c.groups {
		p := &c.groups[g]
		speed := coordinate(v, p.axis)
		i := x[p.firstWinding : p.firstWinding+p.m]
		for a := range p.m {
			sum := 0.0
			for b, z := range p.mag.Turn[a*p.m : (a+1)*p.m] {
				sum += z * i[b]
			}
			y[p.firstWinding+a] -= speed * sum
		}
	}
	for k := range c.capacitors {
		y[m+nn+c.capacitors[k].leadIndex] = x[m+k]
	}
}

// affine adds the part that is not: sources, what magnets induce and the offsets of brushes.
func (c *Circuit) affine(t float64, v, y []float64) {
	m, nn := len(c.windings), len(c.nodes)
	for k, u := range c.solution.offset {
		y[k] -= u
	}
	for g := range c.groups {
		p := &c.groups[g]
		speed := coordinate(v, p.axis)
		for a, k := range p.mag.EMF {
			y[p.firstWinding+a] -= speed * k
		}
	}
	for k := range c.conductors {
		if p := &c.conductors[k]; p.u0 != 0 {
			c.leave(p.fromNode, p.toNode, p.current(0), y)
		}
	}
	for k := range c.injections {
		p := &c.injections[k]
		i, _, _ := p.u.At(t)
		c.leave(p.fromNode, p.toNode, i, y)
	}
	for _, p := range c.cuts {
		for _, k := range p.injections {
			_, di, _ := c.injections[max(k, ^k)].u.At(t)
			y[m+p.row] -= signOf(k) * di
		}
	}
	for k := range c.leads {
		y[m+nn+k] += c.leads[k].electromotive(t, v)
	}
}

// electromotive is e of a lead without its capacitor.
func (p *lead) electromotive(t float64, v []float64) (e float64) {
	if p.u != nil {
		u, _, _ := p.u.At(t)
		e = p.weight * u
	}
	if p.axis >= 0 {
		e += p.k * v[p.axis]
	}
	return e
}

// leave notes a known current from one node to another in the rows of Kirchhoff's law.
func (c *Circuit) leave(from, to int, i float64, y []float64) {
	m := len(c.windings)
	if from != ground && !c.solution.inCut[from] {
		y[m+from] -= i
	}
	if to != ground && !c.solution.inCut[to] {
		y[m+to] += i
	}
}

// forces adds those of the circuit to tau and returns their power.
func (c *Circuit) forces(v, x, y, tau []float64) (out float64) {
	for g := range c.groups {
		p := &c.groups[g]
		if p.axis < 0 {
			continue
		}
		f := p.force(x[p.firstWinding : p.firstWinding+p.m])
		tau[p.axis] += f
		out += f * v[p.axis]
	}
	for k := range c.leads {
		if p := &c.leads[k]; p.axis >= 0 {
			f := p.k * y[len(c.windings)+len(c.nodes)+k]
			tau[p.axis] += f
			out += f * v[p.axis]
		}
	}
	return out
}

// force is that of a group with the currents i.
func (p *group) force(i []float64) float64 {
	f := -p.mag.Slope
	for a, ia := range i {
		f += ia * p.mag.EMF[a]
		for b, ib := range i {
			f += ia * (p.mag.Turn[a*p.m+b] - p.mag.DL[a*p.m+b]/2) * ib
		}
	}
	return f
}

// power is what the sources deliver and what turns into heat (W).
func (c *Circuit) power(t float64, x, y []float64) (in, loss float64) {
	base := len(c.windings) + len(c.nodes)
	for k := range c.windings {
		loss += c.heat(k, x[k])
	}
	for k := range c.conductors {
		p := &c.conductors[k]
		u := c.branchVoltage(p.fromNode, p.toNode, y)
		loss += u * p.current(u)
	}
	for k := range c.leads {
		p, j := &c.leads[k], y[base+k]
		loss += p.r * j * j
		if p.u != nil {
			u, _, _ := p.u.At(t)
			in -= p.weight * u * j
		}
	}
	for k := range c.injections {
		p := &c.injections[k]
		i, _, _ := p.u.At(t)
		in -= c.branchVoltage(p.fromNode, p.toNode, y) * i
	}
	return in, loss
}

// Voltage is that of a node (V) after Flow, or of the mean of the step after Trial. Nodes has the names.
func (c *Circuit) Voltage(node int) float64 { return c.phi(node, c.solution.y) }

// Potential is that of a node by its name; false: there is none. Ground has none.
func (c *Circuit) Potential(name string) (v float64, ok bool) {
	for k, n := range c.nodes {
		if n == name {
			return c.Voltage(k), true
		}
	}
	return 0, false
}

// Current is that of a source, capacitor, resistor, switch or diode by its name (A), from FromNode to ToNode inside it, as Voltage; false:
// there is none of this name. The currents of windings are states.
func (c *Circuit) Current(name string) (i float64, ok bool) {
	for k := range c.leads {
		if c.leads[k].name == name {
			return c.solution.y[len(c.windings)+len(c.nodes)+k], true
		}
	}
	for k := range c.conductors {
		if p := &c.conductors[k]; p.name == name {
			return p.current(c.branchVoltage(p.fromNode, p.toNode, c.solution.y)), true
		}
	}
	return 0, false
}
