package contact

import (
	"errors"
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
//	p(t) = p0 + Rate·t + Amplitude·sin(Omega·t)
type Drive struct {
	Rate      float64 // 1/s
	Amplitude float64
	Omega     float64 // rad/s
}

func (d *Drive) at(t float64) (p, v, a float64) {
	s, c := math.Sincos(d.Omega * t)
	return d.Rate*t + d.Amplitude*s, d.Rate + d.Amplitude*d.Omega*c, -d.Amplitude * d.Omega * d.Omega * s
}

// Shape is one of: a polyline; an exact disc of a Radius; a half-plane, whose surface is the x axis of the body, material
// below. The zero value is a body that touches nothing.
type Shape struct {
	Outline   *Outline
	Radius    float64 // m
	HalfPlane bool
}

// SpringSpec is a spring and damper along the line between point PA of body A and point PB of body B, in the frames of the bodies. With l the
// distance of the points, l0 that at the start, the pull is Tension + Stiffness·(l − l0) + Damping·dl/dt.
//
// Small freezes direction and lever arms at the start: the pull is then linear in the coordinates, and Moreau takes it implicitly.
type SpringSpec struct {
	A, B      string
	PA, PB    Point
	Stiffness float64 // N/m
	Damping   float64 // N·s/m
	Tension   float64 // N at the start
	Small     bool
}

// MountSpec ties each coordinate p of a body to its place at the start with −Stiffness·(p − p0) − Damping·dp/dt: a guide when it is stiff.
type MountSpec struct {
	Body      string
	Stiffness [3]float64 // N/m, N/m, N·m/rad
	Damping   [3]float64 // N·s/m, N·s/m, N·m·s/rad
}

// ForceSpec acts on point At of a body, in its frame: Constant + Amplitude·sin(Omega·t), along the axes of the world. The third
// component is a moment.
type ForceSpec struct {
	Body      string
	At        Point
	Constant  [3]float64 // N, N, N·m
	Amplitude [3]float64 // N, N, N·m
	Omega     float64    // rad/s
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

// validate reports every problem at once, each with its key.
func (s *SceneSpec) validate(index map[string]int) error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	number := func(key string, v ...float64) bool {
		for _, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				bad("%s: %g, want a number", key, x)
				return false
			}
		}
		return true
	}
	number("gravity", s.Gravity[:]...)
	freedom := 0
	for i := range s.Bodies {
		b := &s.Bodies[i]
		key := fmt.Sprintf("bodies[%d] %q", i, b.Name)
		if b.Name == "" {
			bad("%s: the name is missing", key)
		} else if j := index[b.Name]; j != i {
			bad("%s: bodies[%d] has the same name", key, j)
		}
		number(key+".pose", b.Pose[:]...)
		number(key+".speed", b.Speed[:]...)
		for j, axis := range axes {
			if b.free(j) {
				freedom++
			} else if b.Speed[j] != 0 {
				bad("%s.speed: %g for %s, which is not free", key, b.Speed[j], axis)
			}
			if d := b.Drive[j]; d != nil {
				number(key+".drive."+axis, d.Rate, d.Amplitude, d.Omega)
				if b.Locked[j] {
					bad("%s.drive.%s: the coordinate is locked as well", key, axis)
				}
			}
		}
		if moves := b.free(0) || b.free(1); !(b.Mass >= 0) || moves && b.Mass == 0 || math.IsInf(b.Mass, 0) {
			bad("%s.mass: %g kg, want > 0", key, b.Mass)
		}
		if !(b.Inertia >= 0) || b.free(2) && b.Inertia == 0 || math.IsInf(b.Inertia, 0) {
			bad("%s.inertia: %g kg·m², want > 0", key, b.Inertia)
		}
		kinds := 0
		for _, is := range []bool{b.Shape.Outline != nil, b.Shape.Radius != 0, b.Shape.HalfPlane} {
			if is {
				kinds++
			}
		}
		if kinds > 1 {
			bad("%s.shape: an outline, a disc and a half-plane exclude each other", key)
		}
		if !(b.Shape.Radius >= 0) || math.IsInf(b.Shape.Radius, 0) {
			bad("%s.shape.radius: %g m, want > 0", key, b.Shape.Radius)
		}
	}
	if freedom == 0 {
		bad("bodies: no coordinate is free, so nothing moves")
	}
	body := func(key, name string, world bool) {
		if _, ok := index[name]; !ok && !(world && name == "") {
			bad("%s: no body is called %q", key, name)
		}
	}
	positive := func(key string, v ...float64) {
		for _, x := range v {
			if !(x >= 0) || math.IsInf(x, 0) {
				bad("%s: %g, want ≥ 0", key, x)
			}
		}
	}
	for i, p := range s.Springs {
		key := fmt.Sprintf("springs[%d]", i)
		body(key+".a", p.A, true)
		body(key+".b", p.B, true)
		positive(key+".stiffness", p.Stiffness)
		positive(key+".damping", p.Damping)
		number(key, p.Tension, p.PA.X, p.PA.Y, p.PB.X, p.PB.Y)
		if p.A == p.B {
			bad("%s: both ends are on %q", key, p.A)
		}
	}
	for i, p := range s.Mounts {
		key := fmt.Sprintf("mounts[%d]", i)
		body(key+".body", p.Body, false)
		positive(key+".stiffness", p.Stiffness[:]...)
		positive(key+".damping", p.Damping[:]...)
	}
	for i, p := range s.Forces {
		key := fmt.Sprintf("forces[%d]", i)
		body(key+".body", p.Body, false)
		number(key, p.Omega, p.At.X, p.At.Y)
		number(key+".constant", p.Constant[:]...)
		number(key+".amplitude", p.Amplitude[:]...)
	}
	for i, p := range s.Pairs {
		key := fmt.Sprintf("pairs[%d]", i)
		body(key+".a", p.A, false)
		body(key+".b", p.B, false)
		errs = append(errs, s.validatePair(key, p, index))
	}
	return errors.Join(errs...)
}

func (s *SceneSpec) validatePair(key string, p PairSpec, index map[string]int) error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(key+format, a...)) }
	positive := func(name string, v, most float64) {
		if !(v >= 0 && v <= most) || math.IsInf(v, 0) {
			bad("%s: %g, want 0 … %g", name, v, most)
		}
	}
	positive(".mu", p.Law.Mu, math.MaxFloat64)
	positive(".eps_n", p.Law.EpsN, 1)
	positive(".eps_t", p.Law.EpsT, 1)
	positive(".nu", p.Law.Nu, 1)
	a, okA := index[p.A]
	b, okB := index[p.B]
	if !okA || !okB {
		return errors.Join(errs...)
	}
	if a == b {
		bad(": %q cannot touch itself", p.A)
		return errors.Join(errs...)
	}
	planes, moves := 0, false
	for _, k := range []int{a, b} {
		shape := &s.Bodies[k].Shape
		if shape.Outline == nil && shape.Radius == 0 && !shape.HalfPlane {
			bad(": %q has no shape", s.Bodies[k].Name)
		}
		if shape.HalfPlane {
			planes++
		}
		for j := range axes {
			moves = moves || s.Bodies[k].free(j)
		}
	}
	if planes == 2 {
		bad(": two half-planes touch everywhere or nowhere")
	}
	if !moves {
		bad(": neither %q nor %q is free to move", p.A, p.B)
	}
	return errors.Join(errs...)
}
