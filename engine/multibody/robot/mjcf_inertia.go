package robot

import (
	"cmp"
	"errors"
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// inertia of a body in the axes of the file: its inertial element, or that of its shapes.
func (m *mjcfReader) inertia(e *element, class string, moves bool) multibody.Inertia {
	b := m.ownInertia(e, class, moves)
	// what the compiler element wants of all bodies
	b.Mass = max(b.Mass, m.minimum.mass)
	for i := range 3 {
		b.I[i][i] = max(b.I[i][i], m.minimum.moment)
	}
	if m.balance && b.Mass > 0 && errors.Is(b.Check(), multibody.ErrTriangle) {
		mean := (b.I[0][0] + b.I[1][1] + b.I[2][2]) / 3
		b.I = rotation.Diag(r3.Vec{X: mean, Y: mean, Z: mean})
	}
	return b
}

func (m *mjcfReader) ownInertia(e *element, class string, moves bool) (sum multibody.Inertia) {
	inertial := e.first("inertial")
	if inertial != nil && m.fromGeom != "true" {
		for _, k := range e.kids {
			if k.name == "geom" {
				m.ignore("<geom> of a body with <inertial>")
			}
		}
		b := multibody.Inertia{Mass: m.number(inertial, "mass", 0)}
		if d := m.vector(inertial, "diaginertia", r3.Vec{}); inertial.attr["diaginertia"] != "" {
			b.I = rotation.Diag(d)
		} else if f := m.numbers(inertial, "fullinertia", 6, 0, 0, 0, 0, 0, 0); inertial.attr["fullinertia"] != "" {
			b.I = rotation.Matrix{{f[0], f[3], f[4]}, {f[3], f[1], f[5]}, {f[4], f[5], f[2]}}
		}
		return b.Transform(m.pose(inertial))
	}
	if m.fromGeom == "false" {
		return sum
	}
	for _, k := range e.kids {
		if k.name != "geom" {
			continue
		}
		g := m.withClass(k, class)
		if mass, ok := g.attr["mass"]; ok && m.number(g, "mass", 0) == 0 && mass != "" {
			continue
		}
		if group := m.number(g, "group", 0); group < m.groups[0] || group > m.groups[1] {
			continue
		}
		if one, ok := m.solid(g); ok {
			sum = sum.Plus(one)
		} else if moves {
			m.fail(g, "the inertia of a %s is not known here: give the body an <inertial>", cmp.Or(unknownSolid(g), g.text("type")))
		}
	}
	return sum
}

// unknownSolid is what a shape is whose size or mass does not follow from its numbers; "": they are enough.
func unknownSolid(g *element) string {
	switch {
	case g.text("mesh") != "":
		return "shape from a mesh"
	case g.text("shellinertia") == "true":
		return "shell (shellinertia)"
	}
	return ""
}

// span is where a shape from one point to another stands, z from the second to the first, and half its length (m).
func (m *mjcfReader) span(g *element) (p multibody.Pose, half float64, ok bool) {
	if g.attr["fromto"] == "" {
		return p, 0, false
	}
	t := m.numbers(g, "fromto", 6, 0, 0, 0, 0, 0, 1)
	from, to := r3.Vec{X: t[0], Y: t[1], Z: t[2]}, r3.Vec{X: t[3], Y: t[4], Z: t[5]}
	way := r3.Sub(from, to)
	if r3.Norm(way) == 0 {
		m.fail(g, "fromto: two points in one place")
		return p, 0, false
	}
	return multibody.Pose{P: r3.Scale(0.5, r3.Add(from, to)), R: rotationTo(way)}, r3.Norm(way) / 2, true
}

// solid is the inertia of a shape of even density, 1000 kg/m³ unless it says otherwise; false: the shape has none here.
func (m *mjcfReader) solid(g *element) (b multibody.Inertia, ok bool) {
	if unknownSolid(g) != "" {
		return b, false
	}
	size := append(m.numbers(g, "size", -1), 0, 0, 0)
	p := m.pose(g)
	if _, half, ok := m.span(g); ok {
		if size[1] = half; g.text("type") == "box" || g.text("type") == "ellipsoid" {
			size[1], size[2] = size[0], half
		}
	}
	x, y, z := size[0], size[1], size[2]
	var volume float64
	var i r3.Vec // per mass
	switch kind := g.text("type"); kind {
	case "", "sphere":
		volume, i = 4*math.Pi/3*x*x*x, r3.Vec{X: 0.4 * x * x, Y: 0.4 * x * x, Z: 0.4 * x * x}
	case "box":
		volume, i = 8*x*y*z, r3.Vec{X: (y*y + z*z) / 3, Y: (x*x + z*z) / 3, Z: (x*x + y*y) / 3}
	case "ellipsoid":
		volume, i = 4*math.Pi/3*x*y*z, r3.Vec{X: (y*y + z*z) / 5, Y: (x*x + z*z) / 5, Z: (x*x + y*y) / 5}
	case "cylinder": // radius x, half length y
		volume = 2 * math.Pi * x * x * y
		i = r3.Vec{X: x*x/4 + y*y/3, Y: x*x/4 + y*y/3, Z: x * x / 2}
	case "capsule":
		cylinder, ball := 2*math.Pi*x*x*y, 4*math.Pi/3*x*x*x
		volume = cylinder + ball
		// the halves of the ball have their centres 3/8 of the radius out of the ends
		across := cylinder*(x*x/4+y*y/3) + ball*(0.4*x*x+0.75*x*y+y*y)
		if volume > 0 {
			i = r3.Vec{X: across / volume, Y: across / volume, Z: (cylinder*x*x/2 + ball*0.4*x*x) / volume}
		}
	default: // plane, mesh, height field
		return b, false
	}
	b.Mass = m.number(g, "mass", volume*m.number(g, "density", 1000))
	b.I = rotation.Diag(r3.Scale(b.Mass, i))
	return b.Transform(p), true
}
