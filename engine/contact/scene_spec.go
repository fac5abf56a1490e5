package contact

import (
	"fmt"
	"math"
)

// SceneSpec describes planar rigid bodies, what holds and drives them, and which of them may touch. Body names join the parts; an empty
// name stands for the world.
type SceneSpec struct {
	Gravity [2]float64 // m/s², along x and y
	Bodies  []BodySpec
	Springs []SpringSpec
	Mounts  []MountSpec
	Forces  []ForceSpec
	Pairs   []PairSpec
}

// BodySpec is a rigid body with the coordinates x, y (m) of its centre of mass and its angle (rad), which is where the frame of its
// Shape is. A coordinate is free, or locked, or driven.
type BodySpec struct {
	Name    string
	Mass    float64 // kg, needed when x or y is free
	Inertia float64 // kg·m² about the centre of mass, needed when the angle is free
	Shape   Shape
	Pose    [3]float64 // m, m, rad at t = 0
	Speed   [3]float64 // m/s, m/s, rad/s of the free coordinates at t = 0
	Locked  [3]bool
	Drive   [3]*Drive
}

// Drive prescribes a coordinate (m or rad), p0 being its value in Pose:
//
//	p(t) = p0 + Rate·t + Amplitude·sin(Omega·t + Phase)
type Drive struct {
	Rate      float64 // 1/s
	Amplitude float64
	Omega     float64 // rad/s
	Phase     float64 // rad
}

func (d *Drive) at(t float64) (p, v, a float64) {
	s, c := math.Sincos(d.Omega*t + d.Phase)
	return d.Rate*t + d.Amplitude*s, d.Rate + d.Amplitude*d.Omega*c, -d.Amplitude * d.Omega * d.Omega * s
}

// Shape is one of: a polyline; an exact disc of a Radius; a half-plane, whose surface is the x axis of the body, material
// below. The zero value is a body that touches nothing.
type Shape struct {
	Outline   *Outline
	Radius    float64 // m
	HalfPlane bool
}

// SpringSpec is a spring and damper along the line between point PA of body A and point PB of body B, in the frames of the bodies. With l
// the distance of the points, l0 that at the start, the pull is Tension + Stiffness·(l − l0) + Damping·dl/dt.
//
// Linearized freezes direction and lever arms at the start: the pull is then linear in the coordinates, and Moreau takes it implicitly.
type SpringSpec struct {
	A, B       string
	PA, PB     Point
	Stiffness  float64 // N/m
	Damping    float64 // N·s/m
	Tension    float64 // N at the start
	Linearized bool
}

// MountSpec ties each coordinate p of a body to its place at the start with −Stiffness·(p − p0) − Damping·dp/dt: a guide when it
// is stiff.
type MountSpec struct {
	Body      string
	Stiffness [3]float64 // N/m, N/m, N·m/rad
	Damping   [3]float64 // N·s/m, N·s/m, N·m·s/rad
}

// ForceSpec acts on Point of a body, in its frame: Constant + Amplitude·sin(Omega·t + Phase), along the axes of the world. The third
// component is a moment.
type ForceSpec struct {
	Body      string
	Point     Point
	Constant  [3]float64 // N, N, N·m
	Amplitude [3]float64 // N, N, N·m
	Omega     float64    // rad/s
	Phase     float64    // rad
}

// PairSpec lets two bodies touch.
type PairSpec struct {
	A, B string
	Law  Law
}

// axes are the names of the three coordinates of a body.
var axes = [3]string{"x", "y", "angle"}

// free tells which coordinates of the body are unknowns.
func (b *BodySpec) free(j int) bool { return !b.Locked[j] && b.Drive[j] == nil }

// touches tells whether the shape is one.
func (s *Shape) touches() bool { return s.Outline != nil || s.Radius != 0 || s.HalfPlane }

// validate reports every problem at once, each with its key.
func (s *SceneSpec) validate(index map[string]int) error {
	var p problems
	p.requireFinite("gravity", s.Gravity[:]...)
	freedom := 0
	for i := range s.Bodies {
		b := &s.Bodies[i]
		key := fmt.Sprintf("bodies[%d] %q", i, b.Name)
		p.addIf(b.Name == "", "%s: the name is missing", key)
		p.addIf(b.Name != "" && index[b.Name] != i, "%s: bodies[%d] has the same name", key, index[b.Name])
		p.requireFinite(key+".pose", b.Pose[:]...)
		p.requireFinite(key+".speed", b.Speed[:]...)
		for j, axis := range axes {
			if b.free(j) {
				freedom++
			} else {
				p.addIf(b.Speed[j] != 0, "%s.speed: %g for %s, which is not free", key, b.Speed[j], axis)
			}
			if d := b.Drive[j]; d != nil {
				p.requireFinite(key+".drive."+axis, d.Rate, d.Amplitude, d.Omega, d.Phase)
				p.addIf(b.Locked[j], "%s.drive.%s: the coordinate is locked as well", key, axis)
			}
		}
		positive := func(v float64, needed bool) bool { return v >= 0 && v <= math.MaxFloat64 && !(needed && v == 0) }
		shape := &b.Shape
		p.addIf(!positive(b.Mass, b.free(0) || b.free(1)), "%s.mass: %g kg, want > 0", key, b.Mass)
		p.addIf(!positive(b.Inertia, b.free(2)), "%s.inertia: %g kg·m², want > 0", key, b.Inertia)
		p.addIf(!positive(shape.Radius, false), "%s.shape.radius: %g m, want > 0", key, shape.Radius)
		p.addIf(shape.Outline != nil && shape.Radius != 0 || shape.HalfPlane && (shape.Outline != nil || shape.Radius != 0),
			"%s.shape: an outline, a disc and a half-plane exclude each other", key)
	}
	p.addIf(freedom == 0, "bodies: no coordinate is free, so nothing moves")
	known := func(key, name string) bool {
		_, ok := index[name]
		p.addIf(!ok, "%s: no body is called %q", key, name)
		return ok
	}
	for i, sp := range s.Springs {
		key := fmt.Sprintf("springs[%d]", i)
		if sp.A != "" {
			known(key+".a", sp.A)
		}
		if sp.B != "" {
			known(key+".b", sp.B)
		}
		p.upTo(math.MaxFloat64, key+".stiffness", sp.Stiffness)
		p.upTo(math.MaxFloat64, key+".damping", sp.Damping)
		p.requireFinite(key, sp.Tension, sp.PA.X, sp.PA.Y, sp.PB.X, sp.PB.Y)
		p.addIf(sp.A == sp.B, "%s: both ends are on %q", key, sp.A)
	}
	for i, m := range s.Mounts {
		key := fmt.Sprintf("mounts[%d]", i)
		known(key+".body", m.Body)
		p.upTo(math.MaxFloat64, key+".stiffness", m.Stiffness[:]...)
		p.upTo(math.MaxFloat64, key+".damping", m.Damping[:]...)
	}
	for i, f := range s.Forces {
		key := fmt.Sprintf("forces[%d]", i)
		known(key+".body", f.Body)
		p.requireFinite(key, f.Omega, f.Phase, f.Point.X, f.Point.Y)
		p.requireFinite(key+".constant", f.Constant[:]...)
		p.requireFinite(key+".amplitude", f.Amplitude[:]...)
	}
	for i, pair := range s.Pairs {
		key := fmt.Sprintf("pairs[%d]", i)
		okA, okB := known(key+".a", pair.A), known(key+".b", pair.B)
		p.upTo(math.MaxFloat64, key+".mu", pair.Law.Mu)
		p.upTo(1, key+".eps_n", pair.Law.EpsN)
		p.upTo(1, key+".eps_t", pair.Law.EpsT)
		p.upTo(1, key+".nu", pair.Law.Nu)
		if !okA || !okB {
			continue
		}
		if p.addIf(pair.A == pair.B, "%s: %q cannot touch itself", key, pair.A); pair.A == pair.B {
			continue
		}
		a, b := &s.Bodies[index[pair.A]], &s.Bodies[index[pair.B]]
		p.addIf(!a.Shape.touches(), "%s: %q has no shape", key, a.Name)
		p.addIf(!b.Shape.touches(), "%s: %q has no shape", key, b.Name)
		p.addIf(a.Shape.HalfPlane && b.Shape.HalfPlane, "%s: two half-planes touch everywhere or nowhere", key)
		moves := false
		for j := range axes {
			moves = moves || a.free(j) || b.free(j)
		}
		p.addIf(!moves, "%s: neither %q nor %q is free to move", key, pair.A, pair.B)
	}
	return p.err()
}
