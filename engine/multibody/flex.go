package multibody

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// Flex makes a body flexible: it is a set of masses that move with modes of deformation, p = P + Σ shape·a in body axes. The
// inertia follows the deformation; the springs are those of the modes. Deformations are small: there is no stiffening by load.
type Flex struct {
	Nodes     []Node
	Stiffness []float64 // N/m for modes in m  of each mode: their number
	Damping   []float64 // N·s/m  of each mode; nil: none
}

// Node is a place on a flexible body.
type Node struct {
	Name  string   // bodies and frames may stand on a node with a name
	Mass  float64  // kg
	P     r3.Vec   // m   undeformed, body axes
	Shape []r3.Vec // of each mode: displacement for a unit
	Turn  []r3.Vec // rad  of each mode: rotation of the node's axes for a unit; nil: none
}

// ErrFlex is what Build finds wrong with a flexible body.
var ErrFlex = errors.New("flexible body")

// ErrNotRigid is why a machine has no regressor.
var ErrNotRigid = errors.New("no regressor")

// Rigid is an ErrNotRigid that names the flexible bodies and springs between bodies for which Regressor has no columns; nil: there are
// none, and Regressor, which panics with a flexible body, gives all torques. Who takes a file from a user asks before.
func (m *Model) Rigid() error {
	var errs []error
	for j := range m.body {
		if m.body[j].flex != nil {
			errs = append(errs, fmt.Errorf("%w: body %q is flexible: its torques are not linear in ten inertial parameters; make it rigid, or fit "+
				"by simulation", ErrNotRigid, m.body[j].name))
		}
	}
	for i := range m.springs {
		errs = append(errs, fmt.Errorf("%w: spring %q between bodies has no column: take its torque off the measured ones, or leave it out",
			ErrNotRigid, m.springs[i].name))
	}
	return errors.Join(errs...)
}

// flex is a flexible body: its modes are velocities ia … ia+n−1, coordinates from iq.
type flex struct {
	n, ia, iq int
	nodes     []Node
	k, c      []float64
	m2        []float64 // n×n  Σ m·shape·shape
}

// Modes are those of body j: how many, where they begin in q and in v; none of a rigid body.
func (m *Model) Modes(j int) (n, iq, iv int) {
	f := m.body[j].flex
	if f == nil {
		return 0, 0, 0
	}
	return f.n, f.iq, f.ia
}

// flexData is what a flexible body needs in an evaluation, world axes.
type flexData struct {
	m1   []Wrench  // n    force for a unit of acceleration of each mode, about the origin
	p    []float64 // n    force on the modes without accelerations
	c1   []Wrench  // n    m1, c2 (n×n) and cp with all that hangs on the body
	c2   []float64
	cp   []float64
	rho  []r3.Vec  // nodes: from the origin
	rate []r3.Vec  // nodes: speed by the deformation
	u    []float64 // n    scratch of the elimination
}

// checkFlex looks at a flexible body by itself.
func (b *builder) checkFlex(s *Body) {
	f := s.Flex
	n := len(f.Stiffness)
	bad := func(format string, a ...any) {
		b.fail("body %q: %w: %s", s.Name, ErrFlex, fmt.Sprintf(format, a...))
	}
	if n == 0 {
		bad("no modes: give the stiffness of each")
	}
	if f.Damping != nil && len(f.Damping) != n {
		bad("%d dampings for %d modes", len(f.Damping), n)
	}
	for _, k := range append(append([]float64(nil), f.Stiffness...), f.Damping...) {
		if !(k >= 0 && k < math.Inf(1)) {
			bad("stiffness or damping %g, want a number ≥ 0", k)
		}
	}
	if s.Inertia != (Inertia{}) {
		bad("its inertia is that of its nodes: leave the other out")
	}
	seen := map[string]bool{}
	for i, node := range f.Nodes {
		if len(node.Shape) != n || node.Turn != nil && len(node.Turn) != n {
			bad("node %d: %d shapes and %d turns for %d modes", i+1, len(node.Shape), len(node.Turn), n)
		}
		if !(node.Mass >= 0 && node.Mass < math.Inf(1)) || !isFinite(node.P) {
			bad("node %d: mass %g kg at %v m", i+1, node.Mass, node.P)
		}
		if node.Name != "" && seen[node.Name] {
			bad("node %q stands twice", node.Name)
		}
		seen[node.Name] = true
	}
}

// flexible takes the modes of a body into the model, and makes a body without inertia of every node that has a name.
func (b *builder) flexible(j int, s *Body) {
	n := len(s.Flex.Stiffness)
	f := &flex{n: n, ia: b.m.nv, iq: b.m.nq, nodes: s.Flex.Nodes, k: s.Flex.Stiffness, c: s.Flex.Damping, m2: make([]float64, n*n)}
	if f.c == nil {
		f.c = make([]float64, n)
	}
	before := b.m.lastVelocity(j)
	sum := Inertia{}
	for _, node := range f.nodes {
		sum = sum.Plus(Inertia{Mass: node.Mass, Com: node.P})
		for i, x := range node.Shape {
			for k, y := range node.Shape {
				f.m2[i*n+k] += node.Mass * r3.Dot(x, y)
			}
		}
	}
	b.m.body[j].flex, b.m.body[j].inertia, b.m.modal = f, sum, true
	for range n {
		b.m.dof = append(b.m.dof, dof{body: j, parent: before})
		before = b.m.nv
		b.m.nv, b.m.nq = b.m.nv+1, b.m.nq+1
	}
	for i := range f.nodes {
		node := &f.nodes[i]
		if node.Name == "" {
			continue
		}
		name := s.Name + "." + node.Name
		h := frame{body: len(b.m.body)}
		b.m.body = append(b.m.body, body{name: name, parent: j, node: node})
		b.host[name] = h
		b.frame(name, h)
	}
}

// newFlexData makes room for the flexible bodies, and for the columns of the nodes that carry something.
func (m *Model) newFlexData(d *Data) {
	for j := range m.body {
		b := &m.body[j]
		if f := b.flex; f != nil {
			d.body[j].flex = &flexData{
				m1: make([]Wrench, f.n), p: make([]float64, f.n),
				c1: make([]Wrench, f.n), c2: make([]float64, f.n*f.n), cp: make([]float64, f.n),
				rho: make([]r3.Vec, len(f.nodes)), rate: make([]r3.Vec, len(f.nodes)), u: make([]float64, f.n),
			}
		}
		if b.node != nil {
			d.body[j].modes = make([]spatial, m.body[b.parent].flex.n)
		}
	}
}

// placeNode places the axes of a node, and the columns of its modes.
func (m *Model) placeNode(d *Data, j int, q []float64) {
	b, s := &m.body[j], &d.body[j]
	p, f := &d.body[b.parent], m.body[b.parent].flex
	a := q[f.iq : f.iq+f.n]
	at, theta := b.node.P, r3.Vec{}
	for k, x := range a {
		at = r3.Add(at, r3.Scale(x, b.node.Shape[k]))
		if b.node.Turn != nil {
			theta = r3.Add(theta, r3.Scale(x, b.node.Turn[k]))
		}
	}
	s.arm = turn(&p.rot, at)
	s.pos = r3.Add(p.pos, s.arm)
	s.theta = theta
	turnedBy(&p.rot, theta, &s.rot)
	for k := range a {
		s.modes[k] = spatial{lin: turn(&p.rot, b.node.Shape[k])}
		if b.node.Turn != nil {
			s.modes[k].ang = turn(&p.rot, leftJacobian(theta, b.node.Turn[k]))
		}
	}
}

// moveNode finds the velocity of a node and what its acceleration is without that of the modes.
func (m *Model) moveNode(d *Data, j int, v []float64) {
	b, s := &m.body[j], &d.body[j]
	p, f := &d.body[b.parent], m.body[b.parent].flex
	var rel spatial
	var rate r3.Vec
	for k, x := range v[f.ia : f.ia+f.n] {
		rel.ang = r3.Add(rel.ang, r3.Scale(x, s.modes[k].ang))
		rel.lin = r3.Add(rel.lin, r3.Scale(x, s.modes[k].lin))
		if b.node.Turn != nil {
			rate = r3.Add(rate, r3.Scale(x, b.node.Turn[k]))
		}
	}
	w := p.vel.ang
	u := r3.Add(r3.Add(p.vel.lin, r3.Cross(w, s.arm)), rel.lin)
	s.vel = spatial{r3.Add(w, rel.ang), u}
	s.cor = spatial{
		r3.Add(r3.Cross(w, rel.ang), turn(&p.rot, leftJacobianRate(s.theta, rate))),
		r3.Add(r3.Cross(w, rel.lin), r3.Cross(u, rel.ang)),
	}
}

// deform finds the inertia of a flexible body as it is deformed, and the force on its modes by its motion; springs and dampers are in
// losses. Positions must be valid, and velocities with v.
func (m *Model) deform(d *Data, j int, q, v []float64) {
	b, s := &m.body[j], &d.body[j]
	f, e := b.flex, s.flex
	s.mc, s.io = r3.Vec{}, symmetric{}
	clear(e.m1)
	for i := range f.nodes {
		node := &f.nodes[i]
		at, rate := node.P, r3.Vec{}
		for k, shape := range node.Shape {
			at = r3.Add(at, r3.Scale(q[f.iq+k], shape))
			if v != nil {
				rate = r3.Add(rate, r3.Scale(v[f.ia+k], shape))
			}
		}
		rho := turn(&s.rot, at)
		e.rho[i], e.rate[i] = rho, turn(&s.rot, rate)
		s.mc = r3.Add(s.mc, r3.Scale(node.Mass, rho))
		s.io.addShifted(&symmetric{}, node.Mass, r3.Vec{}, rho)
		for k, shape := range node.Shape {
			lin := r3.Scale(node.Mass, turn(&s.rot, shape))
			e.m1[k].push(Wrench{r3.Cross(rho, lin), lin})
		}
	}
}

// rush adds what the motion of a flexible body takes: p to the wrench that a rigid one needs, and to the force on its modes.
func (m *Model) rush(d *Data, j int, p *Wrench) {
	b, s := &m.body[j], &d.body[j]
	f, e := b.flex, s.flex
	w := s.vel.ang
	clear(e.p)
	whole := r3.Cross(w, s.vel.lin)
	for i := range f.nodes {
		node := &f.nodes[i]
		coriolis := r3.Scale(2, r3.Cross(w, e.rate[i]))
		force := r3.Scale(node.Mass, coriolis)
		p.push(Wrench{r3.Cross(e.rho[i], force), force})
		acc := r3.Add(r3.Add(whole, r3.Cross(w, r3.Cross(w, e.rho[i]))), coriolis)
		for k, shape := range node.Shape {
			e.p[k] += node.Mass * r3.Dot(turn(&s.rot, shape), acc)
		}
	}
}

// bend adds to the force on a flexible body what its deformation takes, and finds that on its modes in Tau.
func (m *Model) bend(d *Data, j int, a []float64) {
	s, f := &d.body[j], m.body[j].flex
	e := s.flex
	m.rush(d, j, &s.force)
	for k := range f.n {
		x := e.p[k] + r3.Dot(e.m1[k].M, s.acc.ang) + r3.Dot(e.m1[k].F, s.acc.lin)
		if a != nil {
			y := a[f.ia+k]
			s.force.push(Wrench{r3.Scale(y, e.m1[k].M), r3.Scale(y, e.m1[k].F)})
			for i, m := range f.m2[k*f.n : (k+1)*f.n] {
				x += m * a[f.ia+i]
			}
		}
		d.Tau[f.ia+k] = x
	}
}

// armature is that of velocity i.
func (m *Model) armature(i int) float64 {
	b := &m.body[m.dof[i].body]
	if i >= b.iv+b.nv {
		return 0 // a mode
	}
	return b.joint.Armature
}

// begin makes c1, c2 and cp those of the body alone.
func (e *flexData) begin(f *flex) {
	copy(e.c1, e.m1)
	copy(e.c2, f.m2)
	copy(e.cp, e.p)
}

// strain is what the deformation adds to the kinetic energy of a flexible body, and to the potential.
func (m *Model) strain(d *Data, j int, q, v []float64) (kinetic, potential float64) {
	s, f := &d.body[j], m.body[j].flex
	for k := range f.n {
		a, da := q[f.iq+k], v[f.ia+k]
		potential += 0.5 * f.k[k] * a * a
		kinetic += da * (r3.Dot(s.vel.ang, s.flex.m1[k].M) + r3.Dot(s.vel.lin, s.flex.m1[k].F))
		for i, m := range f.m2[k*f.n : (k+1)*f.n] {
			kinetic += 0.5 * m * da * v[f.ia+i]
		}
	}
	return kinetic, potential
}

// leftJacobian is Jl(θ)·x for small θ, by its series: exp(θ + h·x) = exp(h·Jl·x)·exp(θ) to first order in h.
func leftJacobian(theta, x r3.Vec) r3.Vec {
	t := r3.Norm2(theta)
	a, b := seriesA(t), seriesB(t)
	c := r3.Cross(theta, x)
	return r3.Add(x, r3.Add(r3.Scale(a, c), r3.Scale(b, r3.Cross(theta, c))))
}

// leftJacobianRate is d(Jl(θ))/dt·θ′.
func leftJacobianRate(theta, rate r3.Vec) r3.Vec {
	t := r3.Norm2(theta)
	dt := 2 * r3.Dot(theta, rate)
	c := r3.Cross(theta, rate)
	da := dt * (-1.0/24 + t*(2.0/720-t*(3.0/40320-t*4.0/3628800)))
	db := dt * (-1.0/120 + t*(2.0/5040-t*(3.0/362880-t*4.0/39916800)))
	return r3.Add(r3.Add(r3.Scale(da, c), r3.Scale(db, r3.Cross(theta, c))), r3.Scale(seriesB(t), r3.Cross(rate, c)))
}

// (1 − cos θ)/θ² and (θ − sin θ)/θ³ of t = θ²; to 1e-13 for θ up to 1.
func seriesA(t float64) float64 {
	return 0.5 - t*(1.0/24-t*(1.0/720-t*(1.0/40320-t*(1.0/3628800-t/479001600))))
}

func seriesB(t float64) float64 {
	return 1.0/6 - t*(1.0/120-t*(1.0/5040-t*(1.0/362880-t*(1.0/39916800-t/6227020800))))
}
