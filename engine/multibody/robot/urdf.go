package robot

import (
	"strings"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// urdf reads a robot of links and joints. The root link is fixed to the ground. Gravity is along −z.
func (r *reader) urdf(root *element) {
	s := &r.robot.Spec
	s.Gravity = r3.Vec{Z: -9.81}
	joint := map[string]*element{} // by child
	var joints []*element
	for _, e := range root.kids {
		switch e.name {
		case "link":
		case "joint":
			joints = append(joints, e)
			child := e.first("child")
			if child == nil || child.text("link") == "" || e.first("parent") == nil {
				r.fail(e, "parent or child is missing")
				continue
			}
			if joint[child.text("link")] != nil {
				r.fail(e, "link %q has two parents: URDF knows no loops", child.text("link"))
			}
			joint[child.text("link")] = e
		default:
			r.ignore("<" + e.name + ">")
		}
	}
	body := map[string]string{}   // of a joint
	fixed := map[string]bool{}    // joints
	called := map[string]string{} // bodies, by their links
	var roots []string
	for _, e := range root.kids {
		if e.name != "link" {
			continue
		}
		name := e.text("name")
		if called[name] != "" || name == "" {
			r.fail(e, "want a name that no other link has")
		}
		if called[name] = r.unique(clean(name), "link"); joint[name] == nil {
			roots = append(roots, name)
		}
	}
	if len(roots) > 1 {
		r.fail(root, "links without a parent: %s; want one, from which all others hang", strings.Join(roots, ", "))
	}
	for child, e := range joint {
		if called[child] == "" {
			r.fail(e, "there is no link %q", child)
		}
	}
	for _, e := range root.kids {
		if e.name != "link" {
			continue
		}
		b := multibody.Body{Name: called[e.text("name")], Inertia: r.urdfInertia(e)}
		if j := joint[e.text("name")]; j != nil {
			parent := j.first("parent").text("link")
			if b.Parent = called[parent]; b.Parent == "" && parent == "world" {
				b.Parent = multibody.Ground // which some programs do not list
			} else if b.Parent == "" {
				r.fail(j, "there is no link %q", parent)
			}
			if o := j.first("origin"); o != nil {
				b.Place = r.urdfPose(o)
			}
			b.Joint = r.urdfJoint(j)
			if body[j.text("name")] != "" {
				r.fail(j, "want a name that no other joint has")
			}
			body[j.text("name")], fixed[j.text("name")] = b.Name, b.Joint.Kind == multibody.Fixed
			r.robot.Joints[b.Name] = j.text("name")
		}
		for _, k := range e.kids {
			if k.name != "inertial" {
				r.ignore("<" + k.name + "> of a link")
			}
		}
		s.Bodies = append(s.Bodies, b)
	}
	for _, e := range joints {
		m := e.first("mimic")
		if m == nil {
			continue
		}
		leader, ok := body[m.text("joint")]
		if !ok {
			r.fail(m, "there is no joint %q", m.text("joint"))
			continue
		}
		if fixed[e.text("name")] {
			r.ignore("<mimic> of a fixed joint")
			continue
		}
		follower := body[e.text("name")]
		c := multibody.Coupling{Name: r.unique(clean(e.text("name"))+"_mimic", "coupling"), Offset: r.number(m, "offset", 0),
			Terms: []multibody.Term{{Joint: follower, Factor: 1}}}
		if k := r.number(m, "multiplier", 1); k != 0 && !fixed[m.text("joint")] {
			c.Terms = append(c.Terms, multibody.Term{Joint: leader, Factor: -k})
		}
		s.Couplings = append(s.Couplings, c)
	}
}

func (r *reader) urdfInertia(link *element) (b multibody.Inertia) {
	e := link.first("inertial")
	if e == nil {
		return b
	}
	var p multibody.Pose
	if o := e.first("origin"); o != nil {
		p = r.urdfPose(o)
	}
	if m := e.first("mass"); m != nil {
		b.Mass = r.number(m, "value", 0)
	}
	if i := e.first("inertia"); i != nil {
		xx, xy, xz := r.number(i, "ixx", 0), r.number(i, "ixy", 0), r.number(i, "ixz", 0)
		yy, yz, zz := r.number(i, "iyy", 0), r.number(i, "iyz", 0), r.number(i, "izz", 0)
		b.I = rotation.Matrix{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}
	}
	return b.Transform(p)
}

func (r *reader) urdfPose(e *element) (p multibody.Pose) {
	p.P = r.vector(e, "xyz", r3.Vec{})
	if a := r.vector(e, "rpy", r3.Vec{}); a != (r3.Vec{}) {
		p.R = quat.Mul(axisRotation(r3.Vec{Z: 1}, a.Z), quat.Mul(axisRotation(r3.Vec{Y: 1}, a.Y), axisRotation(r3.Vec{X: 1}, a.X)))
	}
	return p
}

func (r *reader) urdfJoint(e *element) (j multibody.Joint) {
	switch kind := e.text("type"); kind {
	case "revolute", "continuous":
		j.Kind = multibody.Revolute
	case "prismatic":
		j.Kind = multibody.Prismatic
	case "floating":
		j.Kind = multibody.Free
	case "spherical": // Bullet's
		j.Kind = multibody.Spherical
	case "fixed":
	default:
		r.fail(e, "type %q: want revolute, continuous, prismatic, spherical, fixed or floating", kind)
	}
	single := j.Kind == multibody.Revolute || j.Kind == multibody.Prismatic
	if single {
		j.Axis = r3.Vec{X: 1}
	}
	for _, k := range e.kids {
		switch k.name {
		case "origin", "parent", "child", "mimic":
		case "axis":
			if single {
				if j.Axis = r.vector(k, "xyz", r3.Vec{X: 1}); j.Axis == (r3.Vec{}) {
					r.fail(k, "a direction of length 0")
				}
			}
		case "dynamics":
			if damping, friction := r.number(k, "damping", 0), r.number(k, "friction", 0); single {
				j.Damping, j.Coulomb = damping, friction
			} else if damping != 0 || friction != 0 {
				r.ignore("<dynamics> of a joint without one axis")
			}
		default:
			r.ignore("<" + k.name + "> of a joint")
		}
	}
	return j
}
