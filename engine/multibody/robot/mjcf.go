package robot

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// mjcfReader is what stands around the elements of an MJCF.
type mjcfReader struct {
	*reader
	degrees  bool
	sequence string                                  // of Euler angles
	fromGeom string                                  // inertiafromgeom
	groups   []float64                               // inertiagrouprange: of shapes that have inertia
	total    float64                                 // kg  settotalmass; 0: as it is
	balance  bool                                    // impossible moments become their mean
	minimum  struct{ mass, moment float64 }          // kg, kg·m²  of bodies
	copies   int                                     // of replicate elements
	class    map[string]map[string]map[string]string // defaults: class, element, attribute
	frames   map[string]place                        // bodies and sites of the file, in what became of them
	joints   map[string]string                       // joint of the file → body
	called   map[*element]string                     // names of the bodies
}

// place is where the axes of a body of the file stand in those of the body that it became.
type place struct {
	body    string
	pose    multibody.Pose
	movable bool // there is a joint between it and the world
}

func (r *reader) mjcf(root *element) {
	m := &mjcfReader{reader: r, degrees: true, sequence: "xyz", fromGeom: "auto", groups: []float64{0, 5},
		class:  map[string]map[string]map[string]string{"": {}},
		frames: map[string]place{"world": {}}, joints: map[string]string{}, called: map[*element]string{}}
	s := &r.robot.Spec
	s.Gravity = r3.Vec{Z: -9.81}
	for _, e := range root.kids {
		switch e.name {
		case "compiler":
			m.degrees = e.text("angle") != "radian"
			if q := e.text("eulerseq"); q != "" {
				if m.sequence = q; len(q) != 3 || strings.Trim(q, "xyzXYZ") != "" {
					r.fail(e, "eulerseq=%q: want three of x, y, z, X, Y, Z", q)
				}
			}
			if g := e.text("inertiafromgeom"); g != "" {
				m.fromGeom = g
			}
			if e.text("coordinate") == "global" {
				r.fail(e, `coordinate="global": want local, as MuJoCo itself does since 2.3.4`)
			}
			m.groups = r.numbers(e, "inertiagrouprange", 2, m.groups...)
			m.total = r.number(e, "settotalmass", m.total)
			m.balance = m.balance || e.text("balanceinertia") == "true"
			m.minimum.mass = r.number(e, "boundmass", m.minimum.mass)
			m.minimum.moment = r.number(e, "boundinertia", m.minimum.moment)
		case "option":
			m.option(e)
		case "default":
			if c := e.text("class"); c != "" && c != "main" {
				r.fail(e, "class=%q: the outermost defaults have the class main", c)
			}
			m.defaults(e, "", m.class[""])
		}
	}
	for _, e := range root.kids {
		if e.name == "worldbody" {
			e.kids = m.expand(e.kids, multibody.Pose{}, "")
		}
	}
	m.first(root)
	for _, e := range root.kids {
		switch e.name {
		case "worldbody":
			m.children(e, place{}, "")
		case "compiler", "option", "default":
		case "equality": // needs all bodies
		default:
			if len(e.kids) > 0 {
				for _, k := range e.kids {
					r.ignore("<" + k.name + "> of " + e.name)
				}
			} else if len(e.attr) > 0 {
				r.ignore("<" + e.name + ">")
			}
		}
	}
	m.scale()
	for _, e := range root.kids {
		if e.name == "equality" && len(r.errs) == 0 {
			m.equality(e)
		}
	}
}

// first names the bodies, so that they keep their names.
func (m *mjcfReader) first(e *element) {
	switch e.name {
	case "body":
		name := clean(e.text("name"))
		if name == "" {
			name = fmt.Sprintf("body%d", len(m.called)+1)
		}
		m.called[e] = m.unique(name, "body")
	}
	for _, k := range e.kids {
		m.first(k)
	}
}

// option takes gravity; a fluid and effects that are switched off are said.
func (m *mjcfReader) option(e *element) {
	s := &m.robot.Spec
	s.Gravity = m.vector(e, "gravity", s.Gravity)
	for _, key := range []string{"density", "viscosity"} {
		if m.number(e, key, 0) != 0 {
			m.ignore(key + " of the fluid around the bodies")
		}
	}
	for _, k := range e.kids {
		for _, key := range []string{"gravity", "constraint", "equality", "frictionloss", "passive", "spring", "damper"} {
			switch {
			case k.text(key) != "disable":
			case key == "gravity":
				s.Gravity = r3.Vec{}
			default:
				m.ignore("flag " + key + " that is disabled")
			}
		}
	}
}

// scale makes the sum of the masses that of settotalmass.
func (m *mjcfReader) scale() {
	sum, bodies := 0.0, m.robot.Spec.Bodies
	for i := range bodies {
		sum += bodies[i].Inertia.Mass
	}
	if m.total <= 0 || sum <= 0 {
		return
	}
	for i := range bodies {
		b := &bodies[i].Inertia
		b.Mass *= m.total / sum
		for j := range b.I {
			for k := range b.I[j] {
				b.I[j][k] *= m.total / sum
			}
		}
	}
}

// defaults notes a class of defaults, over those of the class around it.
func (m *mjcfReader) defaults(e *element, name string, outer map[string]map[string]string) {
	if n := e.text("class"); n != "main" {
		name = n
	}
	own := map[string]map[string]string{}
	for k, v := range outer {
		own[k] = maps.Clone(v)
	}
	for _, k := range e.kids {
		if k.name == "default" {
			continue
		}
		if own[k.name] == nil {
			own[k.name] = map[string]string{}
		}
		maps.Copy(own[k.name], k.attr)
	}
	m.class[name] = own
	for _, k := range e.kids {
		if k.name == "default" {
			if c := k.text("class"); c == "" || m.class[c] != nil {
				m.fail(k, "class=%q: want a name of its own", c)
			}
			m.defaults(k, k.text("class"), own)
		}
	}
}

// withClass is an element with the defaults of its class, or of the class of its body.
func (m *mjcfReader) withClass(e *element, class string) *element { return m.withOf(e, e.name, class) }

// withOf takes the defaults of another element.
func (m *mjcfReader) withOf(e *element, kind, class string) *element {
	if c := cmp.Or(e.text("class"), e.class); c != "" {
		class = c
	}
	if class == "main" {
		class = ""
	}
	set, ok := m.class[class]
	if !ok {
		m.fail(e, "there is no default class %q", class)
	}
	attr := maps.Clone(set[kind])
	if attr == nil {
		attr = map[string]string{}
	}
	maps.Copy(attr, e.attr)
	return &element{name: e.name, line: e.line, attr: attr, kids: e.kids, frame: e.frame, class: e.class}
}

func (m *mjcfReader) angle(x float64) float64 {
	if m.degrees {
		return x * math.Pi / 180
	}
	return x
}

// orientation reads quat, axisangle, euler, xyaxes or zaxis.
func (m *mjcfReader) orientation(e *element) quat.Number {
	column := func(v []float64) r3.Vec { return r3.Vec{X: v[0], Y: v[1], Z: v[2]} }
	zero := func(key string, v r3.Vec) bool {
		if r3.Norm(v) > 0 {
			return false
		}
		m.fail(e, "%s=%q: a direction of length 0", key, e.attr[key])
		return true
	}
	switch {
	case e.attr["quat"] != "":
		return m.unitQuaternion(e, m.numbers(e, "quat", 4, 1, 0, 0, 0))
	case e.attr["axisangle"] != "":
		a := m.numbers(e, "axisangle", 4, 0, 0, 1, 0)
		if zero("axisangle", column(a)) {
			break
		}
		return axisRotation(r3.Unit(column(a)), m.angle(a[3]))
	case e.attr["euler"] != "":
		a := m.numbers(e, "euler", 3, 0, 0, 0)
		g := rotation.Identity
		for i, c := range m.sequence {
			turn := map[rune]r3.Vec{'x': {X: 1}, 'y': {Y: 1}, 'z': {Z: 1}, 'X': {X: 1}, 'Y': {Y: 1}, 'Z': {Z: 1}}[c]
			if one := axisRotation(turn, m.angle(a[i%3])); strings.ContainsRune("XYZ", c) { // fixed axes
				g = quat.Mul(one, g)
			} else {
				g = quat.Mul(g, one)
			}
		}
		return g
	case e.attr["xyaxes"] != "":
		a := m.numbers(e, "xyaxes", 6, 1, 0, 0, 0, 1, 0)
		x, y := column(a), column(a[3:])
		if zero("xyaxes", r3.Cross(x, y)) {
			break
		}
		x = r3.Unit(x)
		y = r3.Unit(r3.Sub(y, r3.Scale(r3.Dot(x, y), x)))
		return fromAxes(x, y)
	case e.attr["zaxis"] != "":
		if z := column(m.numbers(e, "zaxis", 3, 0, 0, 1)); !zero("zaxis", z) {
			return rotationTo(z)
		}
	}
	return rotation.Identity
}

func (m *mjcfReader) unitQuaternion(e *element, q []float64) quat.Number {
	g := quat.Number{Real: q[0], Imag: q[1], Jmag: q[2], Kmag: q[3]}
	if quat.Abs(g) == 0 {
		m.fail(e, "a quaternion of length 0")
		return rotation.Identity
	}
	return quat.Scale(1/quat.Abs(g), g)
}

// rotationTo is the shortest turn of z into a direction.
func rotationTo(z r3.Vec) quat.Number {
	z = r3.Unit(z)
	axis := r3.Cross(r3.Vec{Z: 1}, z)
	if s := r3.Norm(axis); s > 1e-12 {
		return axisRotation(r3.Scale(1/s, axis), math.Atan2(s, z.Z))
	} else if z.Z < 0 {
		return axisRotation(r3.Vec{X: 1}, math.Pi)
	}
	return rotation.Identity
}

// fromAxes is the turn with these first two columns, which are at right angles and of length one.
func fromAxes(x, y r3.Vec) quat.Number {
	first := along3(r3.Vec{X: 1}, x)
	up := rotation.Rotate(first, r3.Vec{Y: 1})
	angle := math.Atan2(r3.Dot(x, r3.Cross(up, y)), r3.Dot(up, y))
	return quat.Mul(axisRotation(x, angle), first)
}

// along3 is the shortest turn of one direction into another.
func along3(from, to r3.Vec) quat.Number {
	axis := r3.Cross(from, to)
	if s := r3.Norm(axis); s > 1e-12 {
		return axisRotation(r3.Scale(1/s, axis), math.Atan2(s, r3.Dot(from, to)))
	} else if r3.Dot(from, to) < 0 {
		return axisRotation(r3.Vec{Z: 1}, math.Pi)
	}
	return rotation.Identity
}

func (m *mjcfReader) pose(e *element) multibody.Pose {
	if p, _, ok := m.span(e); ok {
		return e.frame.Compose(p)
	}
	return e.frame.Compose(multibody.Pose{P: m.vector(e, "pos", r3.Vec{}), R: m.orientation(e)})
}

// children takes what stands in a body; on is where its axes are.
func (m *mjcfReader) children(e *element, on place, class string) {
	for _, k := range e.kids {
		switch k.name {
		case "body":
			m.body(k, on, class)
		case "site":
			if s := m.withClass(k, class); s.text("name") != "" {
				p := on.pose.Compose(m.pose(s))
				m.robot.Spec.Frames = append(m.robot.Spec.Frames, multibody.Frame{Name: m.unique(clean(s.text("name")), "site"), Body: on.body,
					Pose: p})
				m.frames["site "+s.text("name")] = place{body: on.body, pose: p}
			}
		case "joint", "freejoint", "inertial":
		case "composite", "flexcomp", "attach":
			m.fail(k, "not understood here: save the model with MuJoCo first, which writes it out")
		case "geom": // looked at with the inertia
		default:
			m.ignore("<" + k.name + "> of a body")
		}
	}
}

// body takes a body: joint for joint a body without mass, the last one with it. The axes of a body here are at its joint.
func (m *mjcfReader) body(e *element, parent place, class string) {
	if c := cmp.Or(e.text("childclass"), e.class); c != "" {
		class = c
	}
	name := m.called[e]
	for _, key := range []string{"gravcomp", "mocap"} {
		if x := e.text(key); x != "" && x != "0" && x != "false" {
			m.ignore(key + " of a body")
		}
	}
	at := parent.pose.Compose(m.pose(e)) // of the axes of the file in those of the body before
	before := parent.body
	var joints []*element
	for _, k := range e.kids {
		if k.name == "joint" || k.name == "freejoint" {
			joints = append(joints, m.withClass(k, class))
		}
	}
	shift := r3.Vec{} // of the joint in the axes of the file
	add := func(b multibody.Body, joint string) {
		b.Parent = before
		b.Place = at
		m.robot.Spec.Bodies = append(m.robot.Spec.Bodies, b)
		if joint != "" {
			m.robot.Joints[b.Name] = joint
			m.joints[joint] = b.Name
		}
		before, at = b.Name, multibody.Pose{}
	}
	for i, j := range joints {
		joint, pos := m.joint(j)
		at = at.Compose(multibody.Pose{P: r3.Sub(pos, shift)})
		shift = pos
		b := multibody.Body{Name: name, Joint: joint}
		if i < len(joints)-1 {
			if b.Name = clean(j.text("name")); b.Name == "" {
				b.Name = fmt.Sprintf("%s_joint%d", name, i+1)
			}
			b.Name = m.unique(b.Name, "joint")
		}
		add(b, j.text("name"))
	}
	if len(joints) == 0 {
		add(multibody.Body{Name: name}, "")
	}
	self := place{name, multibody.Pose{P: r3.Scale(-1, shift)}, parent.movable || len(joints) > 0}
	if n := e.text("name"); n != "" {
		m.frames[n] = self
	}
	m.robot.Spec.Bodies[len(m.robot.Spec.Bodies)-1].Inertia = m.inertia(e, class, self.movable).Transform(self.pose)
	m.children(e, self, class)
}

// joint reads a joint and its place in the axes of its body.
func (m *mjcfReader) joint(e *element) (j multibody.Joint, pos r3.Vec) {
	kind := e.text("type")
	if e.name == "freejoint" {
		kind = "free"
	}
	switch kind {
	case "", "hinge":
		j.Kind = multibody.Revolute
	case "slide":
		j.Kind = multibody.Prismatic
	case "ball":
		j.Kind = multibody.Spherical
	case "free":
		j.Kind = multibody.Free
	default:
		m.fail(e, "type %q: want hinge, slide, ball or free", kind)
	}
	j.Damping, j.Armature = m.number(e, "damping", 0), m.number(e, "armature", 0)
	if j.Kind == multibody.Free && (j.Damping != 0 || j.Armature != 0) {
		m.ignore("damping and armature of a free joint")
		j.Damping, j.Armature = 0, 0
	}
	if j.Kind != multibody.Free {
		pos = e.frame.Compose(multibody.Pose{P: m.vector(e, "pos", r3.Vec{})}).P
	}
	loss, stiffness := m.number(e, "frictionloss", 0), m.number(e, "stiffness", 0)
	if j.Kind == multibody.Revolute || j.Kind == multibody.Prismatic {
		if j.Axis = m.vector(e, "axis", r3.Vec{Z: 1}); j.Axis == (r3.Vec{}) {
			m.fail(e, "an axis of length 0")
		}
		if e.frame.R != (quat.Number{}) {
			j.Axis = rotation.Rotate(e.frame.R, j.Axis)
		}
		j.Coulomb, j.Stiffness = loss, stiffness
		j.Rest = m.number(e, "springref", 0) - m.number(e, "ref", 0)
		if j.Kind == multibody.Revolute {
			j.Rest = m.angle(j.Rest)
		}
	} else if loss != 0 || stiffness != 0 {
		m.ignore("frictionloss and stiffness of a joint without one axis")
	}
	if e.attr["range"] != "" {
		m.ignore("range of a joint")
	}
	if e.attr["springdamper"] != "" {
		m.ignore("springdamper of a joint")
	}
	return j, pos
}

// equality takes constraints between bodies and joints. Where they name no places, those of the start hold.
func (m *mjcfReader) equality(e *element) {
	s := &m.robot.Spec
	model, err := multibody.Build(*s)
	if err != nil {
		m.errs = append(m.errs, err)
		return
	}
	d := model.NewData()
	multibody.Positions(model, d, model.Neutral())
	world := func(p place) multibody.Pose {
		k, _ := model.Frame(p.body)
		turn, at := model.FramePose(d, k)
		return multibody.Pose{P: at, R: fromAxes(r3.Vec{X: turn[0][0], Y: turn[1][0], Z: turn[2][0]},
			r3.Vec{X: turn[0][1], Y: turn[1][1], Z: turn[2][1]})}.Compose(p.pose)
	}
	inverse := func(p multibody.Pose) multibody.Pose {
		g := quat.Conj(p.R)
		return multibody.Pose{P: rotation.Rotate(g, r3.Scale(-1, p.P)), R: g}
	}
	for i, plain := range e.kids {
		k := m.withOf(plain, "equality", "")
		name := clean(k.text("name"))
		if name == "" {
			name = fmt.Sprintf("%s%d", k.name, i+1)
		}
		name = m.unique(name, "equality")
		if k.text("active") == "false" {
			m.ignore("<" + k.name + "> that is not active")
			continue
		}
		find := func(key string) (place, bool) {
			body := k.text(key)
			if key == "body2" {
				body = cmp.Or(body, "world")
			}
			p, ok := m.frames[body]
			if !ok {
				m.fail(k, "%s: there is no body %q", key, body)
			}
			return p, ok
		}
		loop := func(kind multibody.CutKind, a, b place) {
			cut := multibody.Cut{Name: name, Kind: kind, A: m.unique(name+"_a", "end"), B: m.unique(name+"_b", "end")}
			s.Frames = append(s.Frames, multibody.Frame{Name: cut.A, Body: a.body, Pose: a.pose},
				multibody.Frame{Name: cut.B, Body: b.body, Pose: b.pose})
			s.Cuts = append(s.Cuts, cut)
		}
		switch k.name {
		case "connect", "weld":
			kind := map[string]multibody.CutKind{"connect": multibody.CutSpherical, "weld": multibody.CutFixed}[k.name]
			if k.attr["site1"] != "" {
				a, okA := m.frames["site "+k.text("site1")]
				b, okB := m.frames["site "+k.text("site2")]
				if !okA || !okB {
					m.fail(k, "there is no site %q or %q", k.text("site1"), k.text("site2"))
					continue
				}
				loop(kind, a, b)
				continue
			}
			a, okA := find("body1")
			b, okB := find("body2")
			if !okA || !okB {
				continue
			}
			if p := m.numbers(k, "relpose", 7, 0, 0, 0, 0, 0, 0, 0); k.name == "weld" &&
				slices.ContainsFunc(p[3:], func(x float64) bool { return x != 0 }) {
				a.pose = a.pose.Compose(multibody.Pose{P: r3.Vec{X: p[0], Y: p[1], Z: p[2]}, R: m.unitQuaternion(k, p[3:])})
				loop(kind, a, b)
				continue
			}
			a.pose = a.pose.Compose(multibody.Pose{P: m.vector(k, "anchor", r3.Vec{})})
			if k.name == "weld" {
				a.pose = m.frames[k.text("body1")].pose
			}
			b.pose = inverse(world(place{body: b.body})).Compose(world(a))
			loop(kind, a, b)
		case "joint":
			p := m.numbers(k, "polycoef", -1)
			p = append(p, []float64{0, 1, 0, 0, 0}[min(5, len(p)):]...)
			a, ok := m.joints[k.text("joint1")]
			if !ok {
				m.fail(k, "there is no joint %q", k.text("joint1"))
				continue
			}
			for _, c := range p[2:] {
				if c != 0 {
					m.fail(k, "polycoef: a coupling here is a straight line, want zeros after the second number")
				}
			}
			c := multibody.Coupling{Name: name, Terms: []multibody.Term{{Joint: a, Factor: 1}}, Offset: p[0]}
			if k.text("joint2") != "" && p[1] != 0 {
				b, ok := m.joints[k.text("joint2")]
				if !ok {
					m.fail(k, "there is no joint %q", k.text("joint2"))
					continue
				}
				c.Terms = append(c.Terms, multibody.Term{Joint: b, Factor: -p[1]})
			}
			s.Couplings = append(s.Couplings, c)
		default:
			m.ignore("<" + k.name + "> of equality")
		}
	}
}
