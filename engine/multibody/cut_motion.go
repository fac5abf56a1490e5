package multibody

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/spelling"
)

// CutIndex is the number of a cut by its name, in the order of the specification.
func (m *Model) CutIndex(name string) (int, error) {
	names := make([]string, len(m.loops.cuts))
	for k := range m.loops.cuts {
		if names[k] = m.loops.cuts[k].name; names[k] == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("unknown cut %q%s", name, spelling.DidYouMean(name, names))
}

// Cuts is how many there are.
func (m *Model) Cuts() int { return len(m.loops.cuts) }

// CutFreedom is how cut k moves: Revolute for a revolute cut and a point, which turns in its plane, Prismatic for a prismatic one, Fixed
// for all others, which have no one axis.
func (m *Model) CutFreedom(k int) Kind { return m.loops.cuts[k].jointKind }

// CutRow writes to row (nv) the direction in which cut k moves: row·v is the speed of B seen from A, rad/s about or m/s along z of A, and
// −F·row the torques of a friction F that opposes it. Positions must be valid.
func (m *Model) CutRow(d *Data, k int, row []float64) {
	c := &m.loops.cuts[k]
	clear(row)
	axis, b := turn(&d.body[c.a].rot, c.axis), &d.body[c.b]
	p := r3.Add(b.pos, turn(&b.rot, c.pb))
	switch c.jointKind {
	case Revolute:
		m.wrenchRow(d, c, r3.Vec{}, axis, p, row)
	case Prismatic:
		m.wrenchRow(d, c, axis, r3.Vec{}, p, row)
	}
}

// CutDrift is what d(row·v)/dt has beside row·dv/dt, row that of CutRow (rad/s², m/s²). It follows Dynamics at once.
func (m *Model) CutDrift(d *Data, k int) float64 {
	c := &m.loops.cuts[k]
	a, b := &d.body[c.a], &d.body[c.b]
	axis := turn(&a.rot, c.axis)
	switch c.jointKind {
	case Revolute:
		turned := r3.Sub(b.vel.ang, a.vel.ang)
		return r3.Dot(axis, r3.Sub(b.acc.ang, a.acc.ang)) + r3.Dot(r3.Cross(a.vel.ang, axis), turned)
	case Prismatic:
		db := turn(&b.rot, c.pb)
		at := r3.Sub(r3.Add(b.pos, db), a.pos)
		u := r3.Sub(velocityAt(b, db), velocityAt(a, at))
		rel := r3.Sub(r3.Sub(accelerationAt(b, db), accelerationAt(a, at)), r3.Scale(2, r3.Cross(a.vel.ang, u)))
		return r3.Dot(axis, rel)
	}
	return 0
}

// CutLoad is the force (N) that presses the surfaces of cut k on each other, by its multipliers: what NormalLoad is of a joint of the tree.
// Valid after Dynamics.
func (m *Model) CutLoad(d *Data, k int) float64 {
	_, f := m.CutForce(d, k)
	return math.Sqrt(r3.Norm2(f))
}

// RubCut notes for the next Loads what a friction F in cut k, N·m or N against the motion of CutRow, does to its bodies; Positions must be
// valid.
func (m *Model) RubCut(d *Data, k int, friction float64) {
	c := &m.loops.cuts[k]
	a, b := &d.body[c.a], &d.body[c.b]
	w := r3.Scale(-friction, turn(&a.rot, c.axis))
	if c.jointKind == Revolute {
		d.joined[c.b].push(Wrench{M: w})
		d.joined[c.a].push(Wrench{M: r3.Scale(-1, w)})
		return
	}
	arm := turn(&b.rot, c.pb)
	d.joined[c.b].push(Wrench{r3.Cross(arm, w), w})
	d.joined[c.a].push(Wrench{r3.Scale(-1, r3.Cross(r3.Sub(r3.Add(b.pos, arm), a.pos), w)), r3.Scale(-1, w)})
}
