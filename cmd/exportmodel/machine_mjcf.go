package exportmodel

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// mjcf writes bodies inside bodies, what ties them, and where they start.
func (f *machineFile) mjcf() {
	var tree strings.Builder
	equal := f.mjcfTies()
	f.mjcfBodies(&tree, multibody.Ground, "    ")
	start := f.mjcfStart()
	f.comment()
	g := f.spec.Gravity
	fmt.Fprintf(&f.b, "<mujoco model=\"%s\">\n  <compiler angle=\"radian\"/>\n", identifier(f.name))
	fmt.Fprintf(&f.b, "  <option gravity=%s integrator=\"implicitfast\"/>\n", vec(g))
	fmt.Fprintf(&f.b, "  <worldbody>\n%s  </worldbody>\n", tree.String())
	if equal != "" {
		fmt.Fprintf(&f.b, "  <equality>\n%s  </equality>\n", equal)
	}
	f.b.WriteString(start + "</mujoco>\n")
}

// mjcfStart is where the machine starts, loops closed, as a key frame. MuJoCo has the joints in the order of the file.
func (f *machineFile) mjcfStart() string {
	m, x, _, err := f.run.Begin()
	if err != nil {
		f.lose("where the machine starts: %v", err)
		return ""
	}
	var q, v []float64
	for _, b := range f.written {
		k, err := m.Model.Joint(b.Name)
		if err != nil {
			panic("exportmodel: " + err.Error()) // it is built of these bodies
		}
		_, kind, iq, iv := m.Model.JointOf(k)
		at, speed := x[iq:iq+kind.NQ()], x[m.Model.NQ()+iv:][:kind.NV()]
		if kind == multibody.Free { // of the world, position and velocity first
			turn := quat.Number{Real: at[0], Imag: at[1], Jmag: at[2], Kmag: at[3]}
			p := b.Place.Compose(multibody.Pose{P: r3.Vec{X: at[4], Y: at[5], Z: at[6]}, R: turn})
			u := rotation.Rotate(p.R, r3.Vec{X: speed[3], Y: speed[4], Z: speed[5]})
			at = []float64{p.P.X, p.P.Y, p.P.Z, p.R.Real, p.R.Imag, p.R.Jmag, p.R.Kmag}
			speed = []float64{u.X, u.Y, u.Z, speed[0], speed[1], speed[2]}
		}
		q, v = append(q, at...), append(v, speed...)
	}
	return fmt.Sprintf("  <keyframe>\n    <key name=\"start\" qpos=%s qvel=%s/>\n  </keyframe>\n", quoted(q...), quoted(v...))
}

// light is a mass (kg) and a moment (kg·m²) that stand for none: MuJoCo wants 1e-15 of all that moves.
const light = 1e-12

// massive is an inertia with a mass and moments above 0.
func massive(m multibody.Inertia) multibody.Inertia {
	m.Mass = max(m.Mass, light)
	if p, _ := m.I.Eigen(); p[0] < light {
		for i := range m.I {
			m.I[i][i] += light - min(0, p[0])
		}
	}
	return m
}

func (f *machineFile) mjcfBodies(w *strings.Builder, parent, indent string) {
	bodies, frames := f.children(parent)
	for _, k := range frames {
		fmt.Fprintf(w, "%s<site name=\"%s\"%s/>\n", indent, k.Name, mjcfPose(k.Pose))
	}
	for _, b := range bodies {
		fmt.Fprintf(w, "%s<body name=\"%s\"%s>\n", indent, b.Name, mjcfPose(b.Place))
		j := &b.Joint
		damping, coulomb := f.resist(b)
		attr := ""
		for _, p := range []struct {
			name string
			x    float64
		}{{"armature", j.Armature}, {"damping", damping}, {"frictionloss", coulomb}, {"stiffness", j.Stiffness}, {"springref", j.Rest}} {
			if p.x != 0 {
				attr += fmt.Sprintf(" %s=%s", p.name, quoted(p.x))
			}
		}
		switch j.Kind {
		case multibody.Revolute:
			fmt.Fprintf(w, "%s  <joint name=\"%s\" type=\"hinge\" axis=%s%s/>\n", indent, b.Name, vec(axis(j)), attr)
		case multibody.Prismatic:
			fmt.Fprintf(w, "%s  <joint name=\"%s\" type=\"slide\" axis=%s%s/>\n", indent, b.Name, vec(axis(j)), attr)
		case multibody.Spherical:
			fmt.Fprintf(w, "%s  <joint name=\"%s\" type=\"ball\"%s/>\n", indent, b.Name, attr)
		case multibody.Free:
			fmt.Fprintf(w, "%s  <freejoint name=\"%s\"/>\n", indent, b.Name)
		}
		if j.Kind != multibody.Fixed {
			f.written = append(f.written, b)
		}
		if m := massive(b.Inertia); j.Kind != multibody.Fixed || b.Inertia.Mass > 0 {
			moments := quoted(m.I[0][0], m.I[1][1], m.I[2][2], m.I[0][1], m.I[0][2], m.I[1][2])
			fmt.Fprintf(w, "%s  <inertial pos=%s mass=%s fullinertia=%s/>\n", indent, vec(m.Com), quoted(m.Mass), moments)
		}
		f.mjcfBodies(w, b.Name, indent+"  ")
		fmt.Fprintf(w, "%s</body>\n", indent)
	}
}

// mjcfTies are loops and couplings. It comes first: it says what is lost, and adds the frames that it needs.
func (f *machineFile) mjcfTies() string {
	var w strings.Builder
	for i := range f.spec.Bodies {
		b := &f.spec.Bodies[i]
		if b.Joint.Kind != multibody.Fixed && massive(b.Inertia) != b.Inertia {
			f.lose("a mass or a moment of %s that is 0: %g kg and %g kg·m² stand in its place", b.Name, light, light)
		}
		if j := &b.Joint; j.Kind == multibody.Free && (j.Damping != 0 || j.Armature != 0) {
			f.lose("damping and armature of the free joint of %s", b.Name)
		}
		if b.Joint.Kind == multibody.Free && b.Parent != "" && b.Parent != multibody.Ground {
			f.lose("that %s moves freely as seen from %s: MuJoCo has free joints on the world only", b.Name, b.Parent)
		}
	}
	for _, c := range f.spec.Cuts {
		a, b := f.siteOf(c.A, false), f.siteOf(c.B, false)
		switch c.Kind {
		case multibody.CutSpherical, multibody.CutPoint:
			if c.Kind == multibody.CutPoint {
				f.lose("that b of the loop %s may move along z of a: it is held there, which is the same in a plane", c.Name)
			}
			fmt.Fprintf(&w, "    <connect name=\"%s\" site1=\"%s\" site2=\"%s\"/>\n", c.Name, a, b)
		case multibody.CutFixed:
			fmt.Fprintf(&w, "    <weld name=\"%s\" site1=\"%s\" site2=\"%s\"/>\n", c.Name, a, b)
		case multibody.CutRevolute:
			fmt.Fprintf(&w, "    <connect name=\"%s\" site1=\"%s\" site2=\"%s\"/>\n", c.Name, a, b)
			fmt.Fprintf(&w, "    <connect name=\"%s_axis\" site1=\"%s\" site2=\"%s\"/>\n", c.Name, f.siteOf(c.A, true), f.siteOf(c.B, true))
		default:
			f.lose("the loop %s, which is %v", c.Name, c.Kind)
		}
	}
	for _, c := range f.spec.Couplings {
		switch t := c.Terms; len(t) {
		case 1:
			fmt.Fprintf(&w, "    <joint name=\"%s\" joint1=\"%s\" polycoef=%s/>\n", c.Name, t[0].Joint, quoted(c.Offset/t[0].Factor, 0, 0, 0, 0))
		case 2:
			line := quoted(c.Offset/t[0].Factor, -t[1].Factor/t[0].Factor, 0, 0, 0)
			fmt.Fprintf(&w, "    <joint name=\"%s\" joint1=\"%s\" joint2=\"%s\" polycoef=%s/>\n", c.Name, t[0].Joint, t[1].Joint, line)
		default:
			f.lose("the coupling %s of %d joints", c.Name, len(t))
		}
	}
	return w.String()
}

// siteOf is the site of a frame, or one at the origin of a body; along: 1 m along its z.
func (f *machineFile) siteOf(name string, along bool) string {
	body, at := name, multibody.Pose{}
	for _, k := range f.spec.Frames {
		if k.Name == name {
			if body, at = k.Body, k.Pose; !along {
				return name
			}
		}
	}
	name += "_origin"
	if along {
		name, at = strings.TrimSuffix(name, "_origin")+"_along", at.Compose(multibody.At(0, 0, 1))
	}
	name = f.free(name, "")
	f.spec.Frames = append(f.spec.Frames, multibody.Frame{Name: name, Body: body, Pose: at})
	return name
}

func mjcfPose(p multibody.Pose) (s string) {
	if p.P != (r3.Vec{}) {
		s = " pos=" + vec(p.P)
	}
	if q, is := turned(p.R); is {
		s += " quat=" + quoted(q.Real, q.Imag, q.Jmag, q.Kmag)
	}
	return s
}
