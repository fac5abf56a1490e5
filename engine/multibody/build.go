package multibody

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
	"hilrig/engine/spelling"
)

// What Build refuses, beside ErrMass and ErrTriangle.
var (
	ErrName   = errors.New("name")
	ErrParent = errors.New("unknown body")
	ErrCycle  = errors.New("bodies hang on each other in a circle")
	ErrJoint  = errors.New("joint")
	ErrPose   = errors.New("pose")
)

// Build checks a machine and compiles it. The error joins everything that is wrong, each with the body it is about.
func Build(s Spec) (*Model, error) {
	b := builder{spec: s, bodyIndex: map[string]int{}, m: &Model{gravity: s.Gravity, index: map[string]int{}}}
	if !isFinite(s.Gravity) {
		b.fail("gravity: %v m/s², want finite numbers", s.Gravity)
	}
	b.m.body = append(b.m.body, body{name: Ground})
	b.names()
	order := b.order()
	for _, i := range order {
		b.check(&b.spec.Bodies[i])
	}
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	b.host = map[string]frame{Ground: {}}
	b.frame(Ground, frame{})
	for _, i := range order {
		b.add(&b.spec.Bodies[i])
	}
	for _, f := range s.Frames {
		h := b.host[called(f.Body)]
		b.frame(f.Name, frame{body: h.body, pose: h.pose.Compose(f.Pose)})
	}
	for i := range b.m.frames {
		f := &b.m.frames[i]
		f.rot = rotation.MatrixOf(f.pose.turn())
	}
	for j := 1; j < len(b.m.body); j++ {
		b.m.body[j].compile()
	}
	b.springs()
	b.close()
	if len(b.m.springs) == 0 && len(b.errs) == 0 {
		b.m.plane = planeOf(b.m)
	}
	b.checkMobility()
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	return b.m, nil
}

type builder struct {
	spec      Spec
	m         *Model
	bodyIndex map[string]int   // place of a body in the specification
	host      map[string]frame // the moving body that a name belongs to
	errs      []error
}

func (b *builder) fail(format string, a ...any) {
	b.errs = append(b.errs, fmt.Errorf(format, a...))
}

func called(parent string) string {
	if parent == "" {
		return Ground
	}
	return parent
}

// names finds names that are missing or stand twice, and frames on bodies that do not exist.
func (b *builder) names() {
	seen := map[string]string{Ground: "the ground"}
	note := func(kind, name string, at int) {
		switch {
		case name == "":
			b.fail("%s %d: %w is missing", kind, at+1, ErrName)
		case seen[name] != "":
			b.fail("%s %q: %w is already that of %s: choose another", kind, name, ErrName, seen[name])
		default:
			seen[name] = "a " + kind
		}
	}
	for i, body := range b.spec.Bodies {
		note("body", body.Name, i)
		if _, twice := b.bodyIndex[body.Name]; !twice {
			b.bodyIndex[body.Name] = i
		}
		if body.Flex != nil {
			for _, n := range body.Flex.Nodes {
				if n.Name != "" {
					b.bodyIndex[body.Name+"."+n.Name] = i
				}
			}
		}
	}
	for i, f := range b.spec.Frames {
		note("frame", f.Name, i)
		b.hasParent("frame", f.Name, "body", f.Body)
		if p, err := f.Pose.tidy(); err != nil {
			b.fail("frame %q: %w: %w", f.Name, ErrPose, err)
		} else {
			b.spec.Frames[i].Pose = p
		}
	}
}

// hasParent tells whether there is a body of that name.
func (b *builder) hasParent(kind, name, key, parent string) bool {
	if _, ok := b.bodyIndex[parent]; ok || called(parent) == Ground {
		return true
	}
	names := []string{Ground}
	for _, body := range b.spec.Bodies {
		names = append(names, body.Name)
	}
	b.fail("%s %q: %s: %w %q%s: name one of the bodies, or %q", kind, name, key, ErrParent, parent, spelling.DidYouMean(parent, names), Ground)
	return false
}

// order puts parents before their children, and changes no more than that.
func (b *builder) order() []int {
	const open, done = 1, 2
	state := make([]int, len(b.spec.Bodies))
	var list, path []int
	var visit func(i int)
	visit = func(i int) {
		switch state[i] {
		case done:
			return
		case open:
			ring := []string{}
			for _, k := range append(path[slices.Index(path, i):], i) {
				ring = append(ring, b.spec.Bodies[k].Name)
			}
			b.fail("body %q: parent: %w (%s): cut the loop at one joint and close it with a constraint", ring[0], ErrCycle,
				strings.Join(ring, " on "))
			return
		}
		state[i] = open
		path = append(path, i)
		one := &b.spec.Bodies[i]
		if b.hasParent("body", one.Name, "parent", one.Parent) && called(one.Parent) != Ground {
			visit(b.bodyIndex[one.Parent])
		}
		path = path[:len(path)-1]
		state[i] = done
		list = append(list, i)
	}
	for i := range b.spec.Bodies {
		visit(i)
	}
	return list
}

// check looks at a body by itself.
func (b *builder) check(s *Body) {
	if s.Flex != nil {
		b.checkFlex(s)
	}
	if err := s.Inertia.Check(); err != nil {
		b.fail("body %q: inertia: %w", s.Name, err)
	}
	if p, err := s.Place.tidy(); err != nil {
		b.fail("body %q: %w of its joint: %w", s.Name, ErrPose, err)
	} else {
		s.Place = p
	}
	j := &s.Joint
	bad := func(format string, a ...any) {
		b.fail("body %q: %w (%v): %s", s.Name, ErrJoint, j.Kind, fmt.Sprintf(format, a...))
	}
	if j.Kind > Free {
		bad("want fixed, revolute, prismatic, spherical or free")
		return
	}
	single := j.Kind == Revolute || j.Kind == Prismatic
	if single {
		if n := r3.Norm(j.Axis); n == 0 {
			j.Axis = r3.Vec{Z: 1}
		} else if !(n < math.Inf(1)) {
			bad("axis %v, want finite numbers", j.Axis)
		} else {
			j.Axis = r3.Scale(1/n, j.Axis)
		}
	} else if j.Axis != (r3.Vec{}) {
		bad("an axis belongs to revolute and prismatic joints: leave it out")
	}
	for _, p := range []struct {
		name          string
		value         float64
		oneCoordinate bool
	}{{"armature", j.Armature, false}, {"damping", j.Damping, false}, {"coulomb", j.Coulomb, true}, {"stiffness", j.Stiffness, true}} {
		switch {
		case !(p.value >= 0) || math.IsInf(p.value, 0):
			bad("%s %g, want a number ≥ 0", p.name, p.value)
		case p.value > 0 && (p.oneCoordinate && !single || j.Kind == Fixed):
			bad("%s %g belongs to a joint with one axis: leave it out", p.name, p.value)
		}
	}
	if math.IsNaN(j.Rest) || math.IsInf(j.Rest, 0) {
		bad("rest %g, want a finite number", j.Rest)
	}
}

// add takes a body into the model, or into the body that it is fixed to.
func (b *builder) add(s *Body) {
	h := b.host[called(s.Parent)]
	place := h.pose.Compose(s.Place)
	if s.Joint.Kind == Fixed && s.Flex == nil && (h.body == 0 || b.m.body[h.body].node == nil && b.m.body[h.body].flex == nil) {
		f := frame{body: h.body, pose: place}
		if h.body > 0 {
			p := &b.m.body[h.body]
			p.inertia = p.inertia.Plus(s.Inertia.Transform(place))
		}
		b.host[s.Name] = f
		b.frame(s.Name, f)
		return
	}
	j, k := len(b.m.body), s.Joint.Kind
	b.m.body = append(b.m.body, body{
		name: s.Name, parent: h.body, kind: k, iq: b.m.nq, iv: b.m.nv, nv: k.NV(), joint: s.Joint, place: place, inertia: s.Inertia,
	})
	// the velocity before this one on the way to the ground
	before := b.m.lastVelocity(h.body)
	for i := range k.NV() {
		b.m.dof = append(b.m.dof, dof{body: j, parent: before})
		before = b.m.nv + i
	}
	b.m.nq, b.m.nv = b.m.nq+k.NQ(), b.m.nv+k.NV()
	b.host[s.Name] = frame{body: j}
	b.frame(s.Name, frame{body: j})
	if s.Flex != nil {
		b.flexible(j, s)
	}
}

func (b *builder) frame(name string, f frame) {
	f.name = name
	b.m.index[name] = len(b.m.frames)
	b.m.frames = append(b.m.frames, f)
}

// minInertiaShare is the part of its inertia that has to be left of a coordinate when those before it may move: rounding leaves about
// 1e-16.
const minInertiaShare = 1e-13

// checkMobility refuses joints that move nothing, or nothing that those before them do not move: there the equations of motion cannot be
// solved. Three places without symmetry are looked at, which no such joint escapes but by its geometry.
func (b *builder) checkMobility() {
	m := b.m
	d := m.NewData()
	q, v := m.Neutral(), make([]float64, m.nv)
	idle, same := make([]int, m.nv), make([]int, m.nv)
	for try := range 3 {
		for i := range v {
			v[i] = math.Sin(float64(17*i+31*try) + 0.7)
		}
		Integrate(m, q, v, 1, q)
		CRBA(m, d, q)
		size := 0.0
		for i := range m.nv {
			size = max(size, d.H[i*m.nv+i])
		}
		for i := range m.nv {
			// moments about the axes of one joint have the same rounding
			least, k := 1e-18*size, &m.body[m.dof[i].body]
			for j := k.iv; j < k.iv+min(3, k.nv) && i < k.iv+3; j++ {
				least = max(least, 1e-15*d.H[j*m.nv+j])
			}
			if !(d.H[i*m.nv+i] > least) {
				idle[i]++
			}
		}
		for i, left := range choleskyRest(d.H, m.nv) {
			if left <= minInertiaShare {
				same[i]++
			}
		}
	}
	said := map[int]bool{}
	for i := range idle {
		k := &m.body[m.dof[i].body]
		switch {
		case said[m.dof[i].body]:
		case idle[i] == 3 && k.nv == 1:
			b.errs = append(b.errs, &Idle{k.name, k.kind})
		case idle[i] == 3 || same[i] == 3:
			b.fail("body %q: %w or inertia is missing: its joint (%v) moves nothing about or along one direction that the joints before it do not "+
				"move: give moments of inertia to the body, "+
				"to one that it carries or, between two joints, to its parent; or the joint an armature", k.name, ErrMass, k.kind)
		default:
			continue
		}
		said[m.dof[i].body] = true
	}
}

// Idle is what Build says of a joint with one coordinate that moves nothing that has inertia: its own motion is not determined, and no
// other depends on it.
type Idle struct {
	Body string
	Kind Kind
}

func (e *Idle) Error() string {
	return fmt.Sprintf("body %q: %v 0 kg: its joint (%v) moves nothing that has inertia: give the body or one that it carries a mass, or "+
		"the joint an armature", e.Body, ErrMass, e.Kind)
}

// Unwrap is ErrMass.
func (e *Idle) Unwrap() error { return ErrMass }

// choleskyRest is, of each coordinate of a positive semidefinite n×n matrix, the part of its diagonal that is left when those before it
// are eliminated.
func choleskyRest(h []float64, n int) []float64 {
	l, rest := make([]float64, n*n), make([]float64, n)
	for i := range n {
		for j := range i + 1 {
			x := h[max(i, j)*n+min(i, j)]
			for k := range j {
				x -= l[i*n+k] * l[j*n+k]
			}
			switch {
			case i == j && x > minInertiaShare*h[i*n+i]:
				rest[i], l[i*n+i] = x/h[i*n+i], math.Sqrt(x)
			case i != j && l[j*n+j] > 0:
				l[i*n+j] = x / l[j*n+j]
			}
		}
	}
	return rest
}
