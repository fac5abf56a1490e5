package configs

import (
	"fmt"
	"slices"

	"hilrig/configs/schema"
	"hilrig/engine/spelling"
)

// Scene is a set of planar rigid bodies.
type Scene struct {
	Gravity [2]float64    `yaml:"gravity" unit:"m/s²" doc:"along x and y"`
	Bodies  []SceneBody   `yaml:"bodies" doc:"what may touch"`
	Pairs   []ScenePair   `yaml:"pairs" doc:"which bodies may touch, and how; the rest passes through each other; for two bodies the last entry counts"`
	Springs []SceneSpring `yaml:"springs,omitempty" doc:"along the line between two points"`
	Mounts  []SceneMount  `yaml:"mounts,omitempty" doc:"springs that tie a body to its place at the start; a guide when they are stiff"`
	Forces  []SceneForce  `yaml:"forces,omitempty" doc:"on points of bodies"`
}

// SetDefaults is the weight of the earth.
func (s *Scene) SetDefaults() { s.Gravity = [2]float64{0, -9.81} }

// SceneBody is a rigid body.
type SceneBody struct {
	Name      string       `yaml:"name" doc:"by which pairs and springs mean it; not ground, which is the fixed frame, nor all, which is every body"`
	Group     string       `yaml:"group,omitempty" doc:"by which pairs mean all bodies that have the same group"`
	Shape     string       `yaml:"shape" enum:"none,disc,box,polygon,cavity,half-plane,commutator" doc:"disc: radius; box: size; polygon: points or file; cavity: the same, with the material around it; half-plane: material below the x axis of the body; commutator: a rough wheel; none: it touches nothing"`
	Mass      float64      `yaml:"mass" unit:"kg" want:">=0" doc:"of a body that is free to move"`
	Inertia   float64      `yaml:"inertia" unit:"kg·m²" want:">=0" doc:"about its centre of mass; 0: that of its shape with even density"`
	Radius    float64      `yaml:"radius" unit:"m" want:">=0" doc:"disc, commutator"`
	Size      [2]float64   `yaml:"size" unit:"m" doc:"box: along x and y"`
	Chamfer   float64      `yaml:"chamfer" unit:"m" want:">=0" doc:"box: taken off each corner, at 45 degrees"`
	Points    [][2]float64 `yaml:"points,omitempty" unit:"m" doc:"polygon: its corners in order; the frame of a body that is not fixed is moved to its centre of mass"`
	File      string       `yaml:"file,omitempty" doc:"polygon: CSV with columns x_m, y_m or x_mm, y_mm; relative to this file"`
	Surface   SceneSurface `yaml:"surface" doc:"roughness of a commutator, a box or a polygon"`
	Position  [2]float64   `yaml:"position" unit:"m" doc:"of the centre of mass at the start"`
	Angle     float64      `yaml:"angle" unit:"rad" doc:"at the start"`
	Velocity  [2]float64   `yaml:"velocity" unit:"m/s" doc:"at the start; of a fixed body: for ever"`
	Spin      float64      `yaml:"spin" unit:"rad/s" doc:"at the start; of a fixed body: for ever"`
	Kinematic bool         `yaml:"fixed" doc:"moves as velocity, spin and shake say, whatever pushes"`
	Shake     SceneShake   `yaml:"shake" doc:"of a fixed body: a sine along x or y, beside its velocity"`
	Locked    []string     `yaml:"locked,omitempty" enum:"x,y,angle" doc:"coordinates that do not move"`
}

// SceneShake is a sine of a fixed body.
type SceneShake struct {
	Amplitude [2]float64 `yaml:"amplitude" unit:"m" doc:"peak, along x and y"`
	Frequency float64    `yaml:"frequency" unit:"Hz" want:">=0" doc:"of both"`
	Phase     float64    `yaml:"phase" unit:"rad" doc:"of both at t = 0"`
}

// SceneSurface is the roughness of an outline.
type SceneSurface struct {
	Rz           float64 `yaml:"rz" unit:"m" want:">=0" doc:"mean peak-to-valley height"`
	Correlation  float64 `yaml:"correlation" unit:"m" want:">=0" doc:"correlation length of the roughness"`
	Spacing      float64 `yaml:"spacing" unit:"m" want:">=0" doc:"of the vertices; 0: a twentieth of the correlation length, at most 25 µm"`
	Eccentricity float64 `yaml:"eccentricity" unit:"m" want:">=0" doc:"commutator: of the outline about the centre of turning"`
	Bars         int     `yaml:"bars" want:">=0 <=400" doc:"commutator: with dips of 10 µm between them; 0: none"`
	Seed         uint64  `yaml:"seed" doc:"of the roughness"`
}

// SceneSpring is a spring with a damper between two points.
type SceneSpring struct {
	A          string     `yaml:"a" doc:"a body, or ground"`
	B          string     `yaml:"b" doc:"a body, or ground"`
	AtA        [2]float64 `yaml:"at_a" unit:"m" doc:"point in the frame of a"`
	AtB        [2]float64 `yaml:"at_b" unit:"m" doc:"point in the frame of b"`
	Stiffness  float64    `yaml:"stiffness" unit:"N/m" want:">=0" doc:"along the line between the points"`
	Damping    float64    `yaml:"damping" unit:"N·s/m" want:">=0" doc:"along that line"`
	Tension    float64    `yaml:"tension" unit:"N" doc:"pull at the start"`
	Linearized bool       `yaml:"small" doc:"its line keeps the direction of the start: linear, taken implicitly, fit for stiff springs"`
}

// SceneMount ties a body to its place at the start.
type SceneMount struct {
	Body      string     `yaml:"body" doc:"a body"`
	Stiffness [2]float64 `yaml:"stiffness" unit:"N/m" doc:"along x and y"`
	Damping   [2]float64 `yaml:"damping" unit:"N·s/m" doc:"along x and y"`
	Turn      float64    `yaml:"turn_stiffness" unit:"N·m/rad" want:">=0" doc:"against turning"`
	TurnDamp  float64    `yaml:"turn_damping" unit:"N·m·s/rad" want:">=0" doc:"against turning"`
}

// SceneForce acts on a point of a body.
type SceneForce struct {
	Body      string     `yaml:"body" doc:"a body"`
	Point     [2]float64 `yaml:"at" unit:"m" doc:"point in its frame"`
	Constant  [2]float64 `yaml:"constant" unit:"N" doc:"along x and y"`
	Torque    float64    `yaml:"torque" unit:"N·m" doc:"constant"`
	Amplitude [2]float64 `yaml:"amplitude" unit:"N" doc:"of a sine, along x and y"`
	Frequency float64    `yaml:"frequency" unit:"Hz" want:">=0" doc:"of the sine"`
	Phase     float64    `yaml:"phase" unit:"rad" doc:"of the sine at t = 0"`
}

// ScenePair are bodies that may touch: each of A with each of B.
type ScenePair struct {
	A    string  `yaml:"a" doc:"a body, a group of bodies, or all"`
	B    string  `yaml:"b" doc:"a body, a group of bodies, or all; the group of a: each of it with each other"`
	Mu   float64 `yaml:"mu" want:">=0 <=10" doc:"coefficient of Coulomb friction"`
	EpsN float64 `yaml:"eps_n" want:">=0 <=1" doc:"restitution along the normal"`
	EpsT float64 `yaml:"eps_t" want:">=0 <=1" doc:"restitution along the tangent; 1: a super-ball"`
	Nu   float64 `yaml:"nu" want:">=0 <=1" doc:"share of eps_t that is left when the contact slides at the end of compression"`
}

// Names that are not those of a body.
const (
	groundName = "ground" // the fixed frame
	allName    = "all"    // every body
)

// check looks for what a scene cannot do without. Shapes and places are checked where the scene is built.
func (s *Scene) check(r *schema.Report) {
	var names []string
	for i, b := range s.Bodies {
		at := fmt.Sprintf("scene.bodies[%d]", i)
		switch {
		case b.Name == "":
			r.KeyErrorf(at+".name", "is missing")
		case b.Name == groundName:
			r.KeyErrorf(at+".name", "ground is the fixed frame, to which springs may be tied; give this body another name, such as floor")
		case b.Name == allName:
			r.KeyErrorf(at+".name", "all is every body, in pairs; give this body another name")
		case slices.Contains(names, b.Name):
			r.KeyErrorf(at+".name", "there are two bodies %q", b.Name)
		}
		names = append(names, b.Name)
		r.ErrorIf(b.Shape == "", at+".shape", "is missing")
		r.ErrorIf(!b.Kinematic && b.Shake != (SceneShake{}), at+".shake", "of a fixed body; %s is free", b.Name)
		r.ErrorIf(!b.Kinematic && b.Mass == 0, at+".mass", "is missing (or fixed: true, for a body that nothing moves)")
	}
	r.ErrorIf(len(s.Bodies) == 0, "scene.bodies", "no body")
	groups := []string{allName}
	for i, b := range s.Bodies {
		at := fmt.Sprintf("scene.bodies[%d].group", i)
		switch {
		case b.Group == "":
		case b.Group == groundName || b.Group == allName || slices.Contains(names, b.Group):
			r.KeyErrorf(at, "%q means something else already; give the group another name", b.Group)
		case !slices.Contains(groups, b.Group):
			groups = append(groups, b.Group)
		}
	}
	known := func(path, name, what string, others ...string) {
		if list := slices.Concat(names, others); !slices.Contains(list, name) {
			hint := spelling.Hint(name, list, "")
			if hint != "" {
				hint = "; " + hint
			}
			r.KeyErrorf(path, "there is no %s %q%s", what, name, hint)
		}
	}
	for i, p := range s.Pairs {
		at := fmt.Sprintf("scene.pairs[%d]", i)
		known(at+".a", p.A, "body or group", groups...)
		known(at+".b", p.B, "body or group", groups...)
		same := func(o ScenePair) bool { return o.A == p.A && o.B == p.B || o.A == p.B && o.B == p.A }
		switch {
		case p.A == p.B && slices.Contains(names, p.A):
			r.Errorf(at+".b", "%s: %q with itself", at, p.A)
		case slices.ContainsFunc(s.Pairs[:i], same):
			r.KeyErrorf(at, "%q and %q are given above already", p.A, p.B)
		case !slices.Contains(names, p.A) || !slices.Contains(names, p.B):
			r.ErrorIf(len(s.ContactPairs([]ScenePair{p})) == 0, at,
				"%q and %q have no two bodies that may touch: those with a shape, one of them free to move", p.A, p.B)
		}
	}
	for i, p := range s.Springs {
		at := fmt.Sprintf("scene.springs[%d]", i)
		known(at+".a", p.A, "body", groundName)
		known(at+".b", p.B, "body", groundName)
	}
	for i, p := range s.Mounts {
		known(fmt.Sprintf("scene.mounts[%d].body", i), p.Body, "body")
	}
	for i, p := range s.Forces {
		known(fmt.Sprintf("scene.forces[%d].body", i), p.Body, "body")
	}
}

// ContactPairs lists pairs by the names of two bodies. Groups stand for each two of their bodies that can touch: both have a shape, one is
// free to move, and they are not two half-planes. For two bodies the last entry counts, in the place of the first.
func (s *Scene) ContactPairs(pairs []ScenePair) (list []ScenePair) {
	place := map[[2]string]int{}
	for _, p := range pairs {
		for k := range s.Bodies {
			for i := range k {
				a, b := &s.Bodies[i], &s.Bodies[k]
				if !a.matches(p.A) || !b.matches(p.B) {
					a, b = b, a
				}
				named := a.Name == p.A && b.Name == p.B
				if !a.matches(p.A) || !b.matches(p.B) || !named && !a.touches(b) {
					continue
				}
				pair := p
				pair.A, pair.B = a.Name, b.Name
				id := [2]string{min(a.Name, b.Name), max(a.Name, b.Name)}
				if at, ok := place[id]; ok {
					list[at] = pair
					continue
				}
				place[id] = len(list)
				list = append(list, pair)
			}
		}
	}
	return list
}

// matches tells whether a name of a pair means the body.
func (b *SceneBody) matches(name string) bool {
	return name == b.Name || name == allName || name != "" && name == b.Group
}

// touches tells whether contact of two bodies has a meaning.
func (b *SceneBody) touches(o *SceneBody) bool {
	return b.Shape != "none" && o.Shape != "none" && (b.isMovable() || o.isMovable()) && !(b.Shape == "half-plane" && o.Shape == "half-plane")
}

// isMovable tells whether forces move the body.
func (b *SceneBody) isMovable() bool {
	return !b.Kinematic && !(slices.Contains(b.Locked, "x") && slices.Contains(b.Locked, "y") && slices.Contains(b.Locked, "angle"))
}
