package multibody

import (
	"fmt"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
	"hilrig/engine/spelling"
)

// Model is a machine that was checked. It does not change; goroutines may share it.
type Model struct {
	gravity r3.Vec
	body    []body // 0: ground
	dof     []dof  // of each velocity
	frames  []frame
	index   map[string]int // frame of a name
	nq, nv  int
	plane   *plane // the same machine in two dimensions, if its tree moves in a plane
	loops   loops
	springs []spring
	modal   bool // some body is flexible
}

type body struct {
	name       string
	parent     int
	kind       Kind
	iq, iv, nv int
	joint      Joint
	place      Pose // of the joint in the axes of the parent
	inertia    Inertia
	flex       *flex // nil: rigid
	node       *Node // of a flexible parent, whose axes this is; nil: a body

	// compiled: joint
	straight bool            // the axes of the joint are those of the parent
	offset   r3.Vec          // m  joint in the axes of the parent
	t        rotation.Matrix // axes of the joint → of the parent
	tk, tkk  rotation.Matrix // T·[a]×, T·[a]×²: a turn about a is T + sin·T[a]× + (1−cos)·T[a]×²

	// compiled: inertia about the origin, body axes
	mass float64
	mc   r3.Vec
	io   symmetric
}

type dof struct {
	body   int
	parent int // the velocity before it on the way to the ground, −1: none
}

type frame struct {
	name string
	body int
	pose Pose
	rot  rotation.Matrix
}

func (b *body) compile() {
	if b.flex != nil {
		b.mass = b.inertia.Mass
	}
	b.offset, b.t = b.place.P, rotation.MatrixOf(b.place.turn())
	b.straight = b.t == rotation.Eye
	k := rotation.Skew(b.joint.Axis)
	b.tk = b.t.Mul(k)
	b.tkk = b.tk.Mul(k)
	b.mass, b.mc = b.inertia.Mass, r3.Scale(b.inertia.Mass, b.inertia.Com)
	b.io = symmetricOf(b.inertia.momentsAbout(r3.Vec{}))
}

// NQ is the length of q, NV that of v, τ and dv/dt; Bodies the number of moving bodies.
func (m *Model) NQ() int     { return m.nq }
func (m *Model) NV() int     { return m.nv }
func (m *Model) Bodies() int { return len(m.body) - 1 }

// Planar tells that the machine moves in a plane, without springs between bodies, and is computed in two dimensions by ABA.
func (m *Model) Planar() bool { return m.plane != nil }

// Neutral is a new q with all angles and displacements 0.
func (m *Model) Neutral() []float64 {
	q := make([]float64, m.nq)
	for _, b := range m.body {
		if b.kind == Spherical || b.kind == Free {
			q[b.iq] = 1
		}
	}
	return q
}

// JointOf describes the joint of body j = 1 … Bodies: its name, its kind, its place in q and in v.
func (m *Model) JointOf(j int) (name string, kind Kind, iq, iv int) {
	b := &m.body[j]
	return b.name, b.kind, b.iq, b.iv
}

// BodyOfVelocity is the body whose joint has velocity iv, or that bends along it.
func (m *Model) BodyOfVelocity(iv int) (j int, bends bool) {
	for j = 1; j < len(m.body); j++ {
		if b := &m.body[j]; iv >= b.iv && iv < b.iv+b.kind.NV() {
			return j, false
		}
		if n, _, first := m.Modes(j); iv >= first && iv < first+n {
			return j, true
		}
	}
	panic("multibody: BodyOfVelocity: no such velocity")
}

// Stiffness is that of the spring in the joint of body j (N·m/rad, N/m).
func (m *Model) Stiffness(j int) float64 { return m.body[j].joint.Stiffness }

// Parent is the body on which body j hangs, 0 for the ground.
func (m *Model) Parent(j int) int { return m.body[j].parent }

// InertiaOf is the inertia of body j with what is fixed to it, in its axes.
func (m *Model) InertiaOf(j int) Inertia { return m.body[j].inertia }

// Displaced is a copy of a machine of rigid bodies in which joint j stands elsewhere: moved by (m) and turned by phi (rad), in the axes
// of its parent. Regressor, RNEA and CRBA hold for it.
func (m *Model) Displaced(j int, by, phi r3.Vec) *Model {
	out := *m
	out.plane = nil // made of the old places
	out.body = append([]body(nil), m.body...)
	b := &out.body[j]
	b.place = Pose{P: r3.Add(b.place.P, by), R: quat.Mul(rotation.Exp(phi), b.place.turn())}
	b.compile()
	return &out
}

// Frame is the index of a frame by its name: a frame of the specification, a body, a body fixed to another, or "ground".
func (m *Model) Frame(name string) (int, error) {
	if f, ok := m.index[called(name)]; ok {
		return f, nil
	}
	names := make([]string, len(m.frames))
	for i, f := range m.frames {
		names[i] = f.name
	}
	return 0, fmt.Errorf("unknown frame %q%s: name a frame, a body or %q", name, spelling.DidYouMean(name, names), Ground)
}

// BodyOf is the moving body, or 0, that carries a frame.
func (m *Model) BodyOf(frame int) int { return m.frames[frame].body }

// Joint is the moving body of a name, whose joint has that name too.
func (m *Model) Joint(name string) (int, error) {
	names := make([]string, 0, len(m.body))
	for j := 1; j < len(m.body); j++ {
		if m.body[j].name == name {
			return j, nil
		}
		names = append(names, m.body[j].name)
	}
	return 0, fmt.Errorf("unknown joint %q%s: a joint has the name of the body that it moves", name, spelling.DidYouMean(name, names))
}
