package multibody

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/rotation"
)

// ErrConstraint is what Build finds wrong with a cut, a coupling, a drive or a relation.
var ErrConstraint = errors.New("constraint")

// cut is a Cut in the axes of its bodies.
type cut struct {
	name      string
	row       int // first
	a, b      int // bodies
	pa, pb    r3.Vec
	slides    []r3.Vec    // directions of A: n·(pb − pa) = 0
	aligned   [][2]r3.Vec // directions of A and B: u·w = 0
	upright   [][2]r3.Vec // directions of A and B: u·w > 0, which u·w = 0 above cannot tell from u·w < 0
	length    float64     // > 0: |pb − pa|
	axis      r3.Vec      // of A: along which B slides, or about which it turns
	jointKind Kind        // Revolute or Prismatic where that is all that it may do, else Fixed
}

type coupling struct {
	row    int
	terms  []coupled
	offset float64
}

type coupled struct {
	q, v   int
	factor float64
}

type relation struct {
	row, n  int
	relater Relater
}

// loops are the constraints of a model.
type loops struct {
	n         int             // equations
	rows      []engine.Signal // of each equation: name and unit of its multiplier
	group     []int           // of each equation: those that measure lengths at one cut, or angles, belong together
	cuts      []cut
	couplings []coupling
	drives    []coupling
	relations []relation
}

// close compiles the constraints of the specification.
func (b *builder) close() {
	l := &b.m.loops
	seen, groups := map[string]bool{}, map[string]int{}
	var name string
	bad := func(format string, a ...any) {
		b.fail("%w %q: %s", ErrConstraint, name, fmt.Sprintf(format, a...))
	}
	begin := func(n string, i int) {
		if name = n; n == "" {
			bad("number %d has no name", i+1)
		} else if seen[n] {
			bad("the name stands twice: choose another")
		}
		seen[n] = true
	}
	row := func(suffix, unit string) {
		together := name + unit
		if unit == "" {
			together += suffix
		}
		if _, ok := groups[together]; !ok {
			groups[together] = len(groups)
		}
		l.group = append(l.group, groups[together])
		if suffix != "" {
			suffix = "." + suffix
		}
		l.rows = append(l.rows, engine.Signal{Name: name + suffix, Unit: unit})
		l.n++
	}
	single := func(joint string) (c coupled, unit string) {
		j, err := b.m.Joint(joint)
		if err != nil {
			bad("%v", err)
			return c, ""
		}
		k := &b.m.body[j]
		if k.nv != 1 {
			bad("joint %q is %v: name a revolute or prismatic one", joint, k.kind)
		}
		if unit = "N·m"; k.kind == Prismatic {
			unit = "N"
		}
		return coupled{q: k.iq, v: k.iv, factor: 1}, unit
	}
	for i, s := range b.spec.Cuts {
		begin(s.Name, i)
		fa, errA := b.m.Frame(s.A)
		fb, errB := b.m.Frame(s.B)
		if err := errors.Join(errA, errB); err != nil {
			bad("%v", err)
			continue
		}
		at := l.n
		c, ok := cutBetween(&b.m.frames[fa], &b.m.frames[fb], s, row)
		if !ok {
			bad("want fixed, revolute, prismatic, cylindrical, spherical, point or distance")
		}
		if c.a == c.b {
			bad("frames %q and %q are on the same body", called(s.A), called(s.B))
		}
		if s.Kind == CutDistance && !(s.Length > 0 && s.Length < math.Inf(1)) {
			bad("length %g m, want a positive number; for 0 use a spherical cut", s.Length)
		}
		c.name, c.row = s.Name, at
		l.cuts = append(l.cuts, c)
	}
	for i, s := range b.spec.Couplings {
		begin(s.Name, i)
		c := coupling{row: l.n, offset: s.Offset}
		for _, t := range s.Terms {
			k, _ := single(t.Joint)
			if k.factor = t.Factor; !(math.Abs(t.Factor) > 0 && math.Abs(t.Factor) < math.Inf(1)) {
				bad("factor %g of joint %q, want a number other than 0", t.Factor, t.Joint)
			}
			c.terms = append(c.terms, k)
		}
		if len(c.terms) == 0 {
			bad("no terms")
		}
		if math.IsNaN(s.Offset) || math.IsInf(s.Offset, 0) {
			bad("offset %g, want a finite number", s.Offset)
		}
		row("", "N·m")
		l.couplings = append(l.couplings, c)
	}
	for i, s := range b.spec.Drives {
		begin(s.Name, i)
		c, unit := single(s.Joint)
		l.drives = append(l.drives, coupling{row: l.n, terms: []coupled{c}})
		row("", unit)
	}
	for i, s := range b.spec.Relations {
		begin(s.Name, i)
		if s.Relater == nil || len(s.Rows) == 0 {
			bad("no equations")
		}
		l.relations = append(l.relations, relation{row: l.n, n: len(s.Rows), relater: s.Relater})
		for _, r := range s.Rows {
			row(r, "")
		}
	}
}

// cutBetween writes a cut as equations; row names each.
func cutBetween(fa, fb *frame, s Cut, row func(suffix, unit string)) (c cut, ok bool) {
	c = cut{a: fa.body, b: fb.body, pa: fa.pose.P, pb: fb.pose.P}
	axis := func(m *rotation.Matrix, k int) r3.Vec { return column(m, k) }
	names := [3]string{"x", "y", "z"}
	slide := func(axes ...int) {
		for _, k := range axes {
			c.slides = append(c.slides, axis(&fa.rot, k))
			row(names[k], "N")
		}
	}
	align := func(pairs ...[2]int) {
		for _, p := range pairs {
			c.aligned = append(c.aligned, [2]r3.Vec{axis(&fa.rot, p[0]), axis(&fb.rot, p[1])})
			row("turn "+names[3-p[0]-p[1]], "N·m") // what u·w measures is a turn about the third axis
		}
	}
	upright := func(axes ...int) {
		for _, k := range axes {
			c.upright = append(c.upright, [2]r3.Vec{axis(&fa.rot, k), axis(&fb.rot, k)})
		}
	}
	c.axis = axis(&fa.rot, 2)
	switch s.Kind {
	case CutRevolute, CutPoint:
		c.jointKind = Revolute
	case CutPrismatic:
		c.jointKind = Prismatic
	}
	switch s.Kind {
	case CutFixed:
		slide(0, 1, 2)
		align([2]int{0, 1}, [2]int{1, 2}, [2]int{2, 0})
		upright(0, 1, 2)
	case CutRevolute:
		slide(0, 1, 2)
		align([2]int{0, 2}, [2]int{1, 2})
		upright(2)
	case CutPrismatic:
		slide(0, 1)
		align([2]int{0, 1}, [2]int{1, 2}, [2]int{2, 0})
		upright(0, 1, 2)
	case CutCylindrical:
		slide(0, 1)
		align([2]int{0, 2}, [2]int{1, 2})
		upright(2)
	case CutSpherical:
		slide(0, 1, 2)
	case CutPoint:
		slide(0, 1)
	case CutDistance:
		c.length = s.Length
		row("", "N")
	default:
		return c, false
	}
	return c, true
}

// Constraints are the names of the equations beside the tree, "loop.x", with the units of their multipliers.
func (m *Model) Constraints() []engine.Signal { return append([]engine.Signal(nil), m.loops.rows...) }

// NC is the number of these equations.
func (m *Model) NC() int { return m.loops.n }
