package circuit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/engine/reference"
)

// What a network can be refused for, beside numbers out of range. The text of the error names the elements and nodes.
var (
	ErrFloating = errors.New("nodes without a way to ground")
	ErrLoop     = errors.New("loop of voltage sources and capacitors")
	ErrCut      = errors.New("currents prescribed twice")
	ErrStart    = errors.New("currents at the start break Kirchhoff's law")
	ErrSingular = errors.New("singular network")
)

type builder struct {
	c        *Circuit
	ground   string
	element  string // element at hand
	numbered map[string]int
	errs     []error
	edges    []edge
	amperes  []float64 // currents at the start
	volts    []float64
}

// edge is a branch for the checks.
type edge struct {
	name             string
	fromNode, toNode int
	kind             edgeKind
}

type edgeKind uint8

const (
	resistive edgeKind = iota // or a lead with a resistance
	rigid                     // a lead without one: source, capacitor, wire
	inductive
	injected
)

func (b *builder) fault(format string, a ...any) {
	b.errs = append(b.errs, &problem{b.element, fmt.Sprintf(format, a...)})
}

func (b *builder) require(ok bool, name string, v float64, unit, rule string) {
	if !ok || !numeric.IsFinite(v) {
		b.fault("%s: %s, want %s", name, strings.TrimSpace(fmt.Sprintf("%g %s", v, unit)), rule)
	}
}

func (b *builder) axis(k int) {
	if k < 0 || k >= b.c.axes {
		b.fault("axis: %d, want 0 to %d", k, b.c.axes-1)
	}
}

// source notes a generator, so that its jumps are known.
func (b *builder) source(key string, g reference.Generator) reference.Generator {
	if g == nil {
		b.fault("%s: missing", key)
		return reference.Constant(0)
	}
	if v, ok := g.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			b.fault("%s: %v", key, err)
		}
	}
	b.c.drives = append(b.c.drives, g)
	return g
}

func (b *builder) node(name string) int {
	if name == b.ground {
		return ground
	}
	if name == "" {
		b.fault("a node without a name")
	}
	k, ok := b.numbered[name]
	if !ok {
		k = len(b.c.nodes)
		b.numbered[name] = k
		b.c.nodes = append(b.c.nodes, name)
	}
	return k
}

func (b *builder) nodeName(k int) string {
	if k == ground {
		return b.ground
	}
	return b.c.nodes[k]
}

func (b *builder) edge(name string, from, to int, kind edgeKind) {
	if from == to {
		b.fault("both ends at node %s", b.nodeName(from))
	}
	b.edges = append(b.edges, edge{name, from, to, kind})
}

func (b *builder) join(from, to string) {
	b.edge(b.element, b.node(from), b.node(to), injected)
}

func (b *builder) addLead(l lead, from, to string) {
	if l.weight == 0 {
		l.weight = 1
	}
	l.fromNode, l.toNode = b.node(from), b.node(to)
	b.c.leads = append(b.c.leads, l)
	kind := rigid
	if l.r > 0 {
		kind = resistive
	}
	b.edge(l.name, l.fromNode, l.toNode, kind)
}

func (b *builder) conductor(p conductor, from, to string) {
	p.fromNode, p.toNode = b.node(from), b.node(to)
	b.c.conductors = append(b.c.conductors, p)
	b.edge(p.name, p.fromNode, p.toNode, resistive)
}

func (b *builder) group(name string, f Field, axis int, branches []Winding) {
	m := len(branches)
	b.c.groups = append(b.c.groups, group{name: name, field: f, axis: axis, firstWinding: len(b.c.windings), m: m, mag: newMagnetic(m),
		static: f.Static()})
	for _, w := range branches {
		b.require(w.R >= 0, "R", w.R, "Ω", "≥ 0")
		b.require(numeric.IsFinite(w.I0), "start current", w.I0, "A", "a finite number")
		p := winding{name: w.Name, fromNode: b.node(w.FromNode), toNode: b.node(w.ToNode), r: w.R, heat: -1}
		b.c.windings = append(b.c.windings, p)
		b.edge(w.Name, p.fromNode, p.toNode, inductive)
		b.amperes = append(b.amperes, w.I0)
	}
}

// Build checks a network. The error joins all that is wrong with it; errors.Is finds the kinds above.
func Build(s Spec) (*Circuit, error) {
	b := &builder{c: &Circuit{axes: s.Axes}, ground: s.Ground, numbered: map[string]int{}}
	if b.ground == "" {
		b.ground = "0"
	}
	seen := map[string]bool{}
	for k, e := range s.Elements {
		b.element = e.label()
		if b.element == "" {
			b.element = fmt.Sprintf("element %d", k+1)
			b.fault("without a name")
		} else if seen[b.element] {
			b.fault("two elements of this name")
		}
		seen[b.element] = true
		e.add(b)
	}
	if len(s.Elements) == 0 {
		b.element = "circuit"
		b.fault("no elements")
	}
	if len(b.errs) == 0 {
		b.topology()
	}
	if len(b.errs) == 0 {
		b.finish()
	}
	if len(b.errs) == 0 {
		b.try()
	}
	if err := errors.Join(b.errs...); err != nil {
		return nil, err
	}
	return b.c, nil
}

// finish lays out states and workspace.
func (b *builder) finish() {
	c := b.c
	for k := range c.windings {
		c.signals = append(c.signals, c.windings[k].signal())
	}
	for k := range c.capacitors {
		c.signals = append(c.signals, c.capacitors[k].signal())
	}
	for k := range c.heaters {
		c.signals = append(c.signals, c.heaters[k].signal())
	}
	c.start = slices.Concat(b.amperes, b.volts)
	for k := range c.heaters {
		c.start = append(c.start, c.heaters[k].ta)
	}
	c.constantFields = true
	for _, g := range c.groups {
		c.varyingFields = c.varyingFields || !g.static
		_, constant := g.field.(*Constant)
		c.constantFields = c.constantFields && constant
	}
	c.switchedLinear = len(c.heaters) == 0 && c.constantFields
	for _, p := range c.conductors {
		c.switchedLinear = c.switchedLinear && p.kind != rectifying
	}
	for _, w := range c.windings {
		c.switchedLinear = c.switchedLinear && w.drop == 0
	}
	c.nx = len(c.start)
	c.n = len(c.windings) + len(c.nodes) + len(c.leads)
	c.lu = engine.NewLU(c.n)
	c.solution = newInstant(c)
	c.step = newStepper(c)
}

// try takes the equations at rest at zero: the currents at the start, and whether there is a solution.
func (b *builder) try() {
	c := b.c
	for _, p := range c.cuts {
		sum, scale, names := 0.0, 0.0, []string{}
		for _, k := range p.windings {
			i := c.start[max(k, ^k)]
			scale += math.Abs(i)
			sum += i * signOf(k)
			names = append(names, c.windings[max(k, ^k)].name)
		}
		for _, k := range p.injections {
			i, _, _ := c.injections[max(k, ^k)].u.At(0)
			scale += math.Abs(i)
			sum += i * signOf(k)
			names = append(names, c.injections[max(k, ^k)].name)
		}
		if math.Abs(sum) > 1e-9*scale {
			b.errs = append(b.errs, fmt.Errorf("%w: %s have no other way than each other, but %.6g A is left over; change their currents at "+
				"the start", ErrStart, strings.Join(names, ", "), sum))
		}
	}
	q := make([]float64, c.axes)
	x := slices.Clone(c.start)
	dx := make([]float64, c.nx)
	tau := make([]float64, c.axes)
	for g := range c.groups {
		p := &c.groups[g]
		p.field.At(0, &p.mag)
		if !positive(p.mag.L, p.m) {
			b.errs = append(b.errs, fmt.Errorf("%w: %s: the inductances are not symmetric and positive definite: a coupling of 1 or more",
				ErrSingular, p.name))
			return
		}
	}
	if _, st := c.Flow(0, q, q, x, dx, tau); st != engine.OK || !numeric.AllFinite(dx...) {
		b.errs = append(b.errs, fmt.Errorf("%w: the equations have no single solution at the start (%v)", ErrSingular, st))
	}
}

// positive tells whether a is symmetric and positive definite.
func positive(a []float64, n int) bool {
	l := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			if math.Abs(a[i*n+j]-a[j*n+i]) > 1e-12*(math.Abs(a[i*n+j])+math.Abs(a[j*n+i])) {
				return false
			}
			s := a[i*n+j]
			for k := range j {
				s -= l[i*n+k] * l[j*n+k]
			}
			if i == j {
				if !(s > 1e-14*a[i*n+i]) || math.IsInf(s, 0) {
					return false
				}
				l[i*n+i] = math.Sqrt(s)
			} else {
				l[i*n+j] = s / l[j*n+j]
			}
		}
	}
	return true
}

// signOf is −1 for a complemented index.
func signOf(k int) float64 {
	if k < 0 {
		return -1
	}
	return 1
}
