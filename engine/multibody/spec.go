package multibody

import (
	"fmt"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// Ground is the name of body 0.
const Ground = "ground"

// Spec describes a machine. Bodies may come in any order; a body whose parent comes first keeps its place.
type Spec struct {
	Gravity r3.Vec // m/s²  world axes, for instance {Z: -9.81}
	Bodies  []Body
	Frames  []Frame
	Springs []Spring

	// what holds beside the tree; names are those of constraints and differ
	Cuts      []Cut
	Couplings []Coupling
	Drives    []Drive
	Relations []Relation
}

// Body is a rigid body and the joint that carries it. Its axes are those of the joint on its side; with q = 0 they are the axes of
// Place.
type Body struct {
	Name    string
	Parent  string // name of a body, or of a node of a flexible one, "beam.tip"; "" or "ground"
	Place   Pose   // of the joint in the axes of the parent
	Joint   Joint
	Inertia Inertia // body axes; of a flexible body none: that of its nodes
	Flex    *Flex   // nil: rigid
}

// Joint moves a body relative to its parent.
type Joint struct {
	Kind Kind
	Axis r3.Vec // revolute, prismatic: direction in body axes, any length; zero: z

	Armature  float64 // kg·m², kg  inertia of a rotor seen at the joint, ratio squared
	Damping   float64 // N·m·s/rad, N·s/m
	Coulomb   float64 // N·m, N     torque opposing the sense of motion, none at rest; revolute and prismatic only
	Stiffness float64 // N·m/rad, N/m  spring; revolute and prismatic only
	Rest      float64 // rad, m     where the spring is relaxed
}

// Frame is a place on a body that is known by name: a tool, a bearing, a marker.
type Frame struct {
	Name string
	Body string // name of a body, or of a node of one, "beam.tip"; "" or "ground"
	Pose Pose   // in the axes of the body
}

// Pose is where axes stand in other axes: pOther = R·p + P. A zero R turns nothing.
type Pose struct {
	P r3.Vec      // m
	R quat.Number // unit quaternion
}

// At is the pose of axes moved by x, y, z (m) and not turned.
func At(x, y, z float64) Pose { return Pose{P: r3.Vec{X: x, Y: y, Z: z}} }

// Turned is the pose with its axes turned by the rotation vector φ (rad) in these axes.
func (p Pose) Turned(phi r3.Vec) Pose {
	return Pose{P: p.P, R: quat.Mul(p.turn(), rotation.Exp(phi))}
}

// Compose is the pose of b, given in the axes of p, in the axes in which p is given.
func (p Pose) Compose(b Pose) Pose {
	r := p.turn()
	return Pose{P: r3.Add(p.P, rotation.Rotate(r, b.P)), R: quat.Mul(r, b.turn())}
}

func (p Pose) turn() quat.Number {
	if p.R == (quat.Number{}) {
		return rotation.Identity
	}
	return p.R
}

// tidy is the pose with a quaternion of length one; it refuses one that was not meant to be.
func (p Pose) tidy() (Pose, error) {
	n := quat.Abs(p.turn())
	if !(n > 1-1e-6 && n < 1+1e-6) {
		return p, fmt.Errorf("orientation: quaternion of length %.9g, want 1: normalise it", n)
	}
	if !isFinite(p.P) {
		return p, fmt.Errorf("position %v m, want finite numbers", p.P)
	}
	p.R = quat.Scale(1/n, p.turn())
	return p, nil
}
