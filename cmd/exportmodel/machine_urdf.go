package exportmodel

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// urdf writes links and joints. A link cannot bear the name of ground: it is called base, or so.
func (f *machineFile) urdf() {
	if g := f.spec.Gravity; g != (r3.Vec{Z: -9.81}) {
		f.lose("gravity, %g %g %g m/s²", g.X, g.Y, g.Z)
	}
	for i := range f.spec.Bodies {
		b := &f.spec.Bodies[i]
		if b.Joint.Armature != 0 {
			f.lose("the armature of %s, %g: add it to the motor of your program", b.Name, b.Joint.Armature)
		}
		if b.Joint.Stiffness != 0 {
			f.lose("the spring of %s, %g from %g", b.Name, b.Joint.Stiffness, b.Joint.Rest)
		}
	}
	for _, c := range f.spec.Cuts {
		f.lose("the loop %s: URDF has trees only", c.Name)
	}
	mimic := map[string]string{}
	for _, c := range f.spec.Couplings {
		if t := c.Terms; len(t) == 2 && mimic[t[0].Joint] == "" {
			factor, offset := quoted(-t[1].Factor/t[0].Factor), quoted(c.Offset/t[0].Factor)
			mimic[t[0].Joint] = fmt.Sprintf("    <mimic joint=\"%s\" multiplier=%s offset=%s/>\n", t[1].Joint, factor, offset)
			continue
		}
		f.lose("the coupling %s of %d joints", c.Name, len(c.Terms))
	}
	root := f.free("base", "")
	f.comment()
	fmt.Fprintf(&f.b, "<robot name=\"%s\">\n  <link name=\"%s\"/>\n", identifier(f.name), root)
	for i := range f.spec.Bodies {
		f.urdfBody(&f.spec.Bodies[i], root, mimic)
	}
	for _, k := range f.spec.Frames {
		fmt.Fprintf(&f.b, "  <link name=\"%s\"/>\n", k.Name)
		f.urdfJoint(k.Name, "fixed", orRoot(k.Body, root), k.Pose)
		f.b.WriteString("  </joint>\n")
	}
	f.b.WriteString("</robot>\n")
}

func orRoot(name, root string) string {
	if name == "" || name == multibody.Ground {
		return root
	}
	return name
}

var urdfKinds = map[multibody.Kind]string{
	multibody.Fixed: "fixed", multibody.Revolute: "continuous", multibody.Prismatic: "prismatic", multibody.Free: "floating",
}

// urdfJoint begins a joint that bears the name of its link.
func (f *machineFile) urdfJoint(name, kind, parent string, at multibody.Pose) {
	fmt.Fprintf(&f.b, "  <joint name=\"%s\" type=\"%s\">\n", name, kind)
	fmt.Fprintf(&f.b, "    <parent link=\"%s\"/>\n    <child link=\"%s\"/>\n%s", parent, name, urdfPose("    ", at))
}

func (f *machineFile) urdfBody(b *multibody.Body, root string, mimic map[string]string) {
	fmt.Fprintf(&f.b, "  <link name=\"%s\">\n", b.Name)
	if m := b.Inertia; m.Mass > 0 {
		fmt.Fprintf(&f.b, "    <inertial>\n      <origin xyz=%s rpy=\"0 0 0\"/>\n      <mass value=%s/>\n", vec(m.Com), quoted(m.Mass))
		fmt.Fprintf(&f.b, "      <inertia ixx=%s ixy=%s ixz=%s", quoted(m.I[0][0]), quoted(m.I[0][1]), quoted(m.I[0][2]))
		fmt.Fprintf(&f.b, " iyy=%s iyz=%s izz=%s/>\n    </inertial>\n", quoted(m.I[1][1]), quoted(m.I[1][2]), quoted(m.I[2][2]))
	}
	f.b.WriteString("  </link>\n")
	f.urdfJoint(b.Name, urdfKinds[b.Joint.Kind], orRoot(b.Parent, root), b.Place)
	if k := b.Joint.Kind; k == multibody.Revolute || k == multibody.Prismatic {
		damping, coulomb := f.resist(b)
		fmt.Fprintf(&f.b, "    <axis xyz=%s/>\n    <dynamics damping=%s friction=%s/>\n", vec(axis(&b.Joint)), quoted(damping), quoted(coulomb))
		if k == multibody.Prismatic {
			f.b.WriteString("    <!-- the limits are no part of the machine: set those of the axis -->\n")
			f.b.WriteString("    <limit lower=\"-1000\" upper=\"1000\" effort=\"1e9\" velocity=\"1e9\"/>\n")
		}
		f.b.WriteString(mimic[b.Name])
	}
	f.b.WriteString("  </joint>\n")
}

// urdfPose is an origin: roll, pitch and yaw about fixed axes.
func urdfPose(indent string, p multibody.Pose) string {
	rpy := r3.Vec{}
	if q, is := turned(p.R); is {
		m := rotation.MatrixOf(q)
		rpy.Y = math.Atan2(-m[2][0], math.Hypot(m[0][0], m[1][0]))
		if math.Hypot(m[0][0], m[1][0]) > 1e-9 {
			rpy.X, rpy.Z = math.Atan2(m[2][1], m[2][2]), math.Atan2(m[1][0], m[0][0])
		} else { // straight up or down: roll and yaw are one
			rpy.Z = math.Atan2(-m[0][1], m[1][1])
		}
	}
	if p.P == (r3.Vec{}) && rpy == (r3.Vec{}) {
		return ""
	}
	return strings.Join([]string{indent, "<origin xyz=", vec(p.P), " rpy=", vec(rpy), "/>\n"}, "")
}
