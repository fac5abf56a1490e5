package ball

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
	"hilrig/identify/fit"
)

// setup is all that a recording follows from, but for where the ball starts.
type setup struct {
	body    ball.Params
	height  float64    // m    of the plane
	tilt    [2]float64 // rad  of the plane's normal in the frame of the cameras, about its x and y
	markers []r3.Vec   // m    from the geometric centre, in axes of the body
}

func (s *setup) clone() setup {
	c := *s
	c.markers = slices.Clone(s.markers)
	return c
}

// parameter is one number of a setup.
type parameter struct {
	name, unit, doc string
	field           func(s *setup) *float64
	output          bool                         // the motion does not depend on it
	bends           bool                         // the motion bends with it: friction that brings the ball to rest, inertia, centre of mass
	lo, hi          float64                      // in scales
	scale           func(b *ball.Params) float64 // a large step
}

// parameters are those that may be free, but for the markers, and behind them those that are refused.
func parameters() (all []parameter) {
	moment := func(b *ball.Params) float64 {
		return b.Mass*b.Radius*b.Radius + (b.Inertia[0]+b.Inertia[1]+b.Inertia[2])/3
	}
	for _, t := range terms {
		// the scale slows the ball by 1 rad/s² at 1 rad/s. Viscous friction may come out a little below zero, by noise
		p := parameter{name: t.name, unit: t.unit, doc: t.doc, bends: t.isDry,
			field: func(s *setup) *float64 { return t.field(&s.body) }, scale: moment}
		switch t.unit {
		case "m":
			p.scale = func(b *ball.Params) float64 { return moment(b) / (b.Mass * b.Gravity) }
		case "N·m":
		default:
			p.lo = -0.3
		}
		p.hi = 30
		all = append(all, p)
	}
	add := func(name, unit, doc string, output bool, lo float64, scale func(b *ball.Params) float64, at func(s *setup) *float64) {
		all = append(all, parameter{name, unit, doc, at, output, name[0] == 'I' || name[0] == 'c', lo, math.Inf(1), scale})
	}
	none := math.Inf(-1)
	radius := func(share float64) func(b *ball.Params) float64 {
		return func(b *ball.Params) float64 { return share * b.Radius }
	}
	angle := func(*ball.Params) float64 { return 0.02 }
	for k, name := range moments {
		add(name, "kg·m²", "moment of inertia", false, 0, func(b *ball.Params) float64 { return 0.1 * b.Inertia[k] },
			func(s *setup) *float64 { return &s.body.Inertia[k] })
	}
	for k, axes := range []string{"xy", "xz", "yz"} {
		add("I"+axes, "kg·m²", "element of the inertia tensor", false, none, func(b *ball.Params) float64 { return 0.1 * b.Inertia[0] },
			func(s *setup) *float64 { return &s.body.Products[k] })
	}
	for k, axis := range []string{"x", "y", "z"} {
		add("c"+axis, "m", "centre of mass", false, none, radius(0.05), func(s *setup) *float64 { return &s.body.Center[k] })
	}
	for k, axis := range []string{"x", "y"} {
		add("tilt_"+axis, "rad", "fall of the plane towards +"+axis, false, none, angle, func(s *setup) *float64 { return &s.body.Tilt[k] })
	}
	add("height", "m", "of the plane in the frame of the cameras", true, none, radius(0.1), func(s *setup) *float64 { return &s.height })
	for k, axis := range []string{"x", "y"} {
		add("lean_"+axis, "rad", "of the plane's normal about "+axis+" of the cameras", true, none, angle,
			func(s *setup) *float64 { return &s.tilt[k] })
	}
	for _, g := range []struct {
		name, unit, doc string
		field           func(b *ball.Params) *float64
	}{
		{"radius", "m", "of the ball", func(b *ball.Params) *float64 { return &b.Radius }},
		{"mass", "kg", "of the ball", func(b *ball.Params) *float64 { return &b.Mass }},
		{"gravity", "m/s²", "of free fall", func(b *ball.Params) *float64 { return &b.Gravity }},
	} {
		add(g.name, g.unit, g.doc, false, 0, func(b *ball.Params) float64 { return 0.1 * *g.field(b) },
			func(s *setup) *float64 { return g.field(&s.body) })
	}
	return all
}

// markerParameters are the offsets of the markers.
func markerParameters(n int) (all []parameter) {
	for j := range n {
		for k, axis := range []string{"x", "y", "z"} {
			all = append(all, parameter{
				fmt.Sprintf("marker%d_%s", j+1, axis), "m", "offset of a marker", func(s *setup) *float64 {
					return [3]*float64{&s.markers[j].X, &s.markers[j].Y, &s.markers[j].Z}[k]
				}, true, false, math.Inf(-1), math.Inf(1), func(b *ball.Params) float64 { return 0.1 * b.Radius },
			})
		}
	}
	return all
}

// Names are those of the parameters that may be free; "markers" frees all their offsets.
func Names() (names []string) {
	for _, p := range parameters() {
		if refused[p.name] == "" {
			names = append(names, p.name)
		}
	}
	return append(names, "markers")
}

// refused are parameters that no motion tells.
var refused = map[string]string{
	"mass":    "motion tells inertia and friction over the mass alone, I/m and μ/m: weigh the ball",
	"radius":  "motion tells inertia and friction over the mass and lengths over the radius: measure it",
	"gravity": "it scales friction like the time: take that of the place",
}

// moments are the principal moments of inertia.
var moments = []string{"Ixx", "Iyy", "Izz"}

// IsMoment tells whether a parameter is a principal moment of inertia, which no body is without.
func IsMoment(name string) bool { return slices.Contains(moments, name) }

// CheckFree tells what is wrong with the names of free parameters.
func CheckFree(names []string) error {
	_, err := choose(names, 3)
	return err
}

// choose gives the parameters of the names.
func choose(names []string, markers int) ([]parameter, error) {
	var bad fit.ParamError
	var free []parameter
	known := parameters()
	for _, p := range known {
		if slices.Contains(names, p.name) {
			free = append(free, p)
		}
	}
	for i, name := range names {
		switch {
		case slices.Contains(names[:i], name):
			bad.Add("free: %s stands twice", name)
		case refused[name] != "":
			bad.Add("free: %s cannot be found: %s", name, refused[name])
		case name == "markers":
			free = append(free, markerParameters(markers)...)
		case !slices.ContainsFunc(known, func(p parameter) bool { return p.name == name }):
			bad.Add("free: there is no parameter %q, there are %s", name, strings.Join(Names(), ", "))
		}
	}
	if len(freeTerms(names)) == 0 {
		bad.Add("free: no coefficient of friction is free, want one at least, such as mu_roll")
	}
	return free, bad.OrNil()
}

// leaning is the rotation from the frame of the plane to that of the cameras.
func (s *setup) leaning() quat.Number { return rotation.Exp(r3.Vec{X: s.tilt[0], Y: s.tilt[1]}) }

// point is where a marker is seen when the ball stands at x, y with orientation q.
func (s *setup) point(lean quat.Number, q quat.Number, x, y float64, marker r3.Vec) r3.Vec {
	at := r3.Add(r3.Vec{X: x, Y: y, Z: s.body.Radius}, rotation.Rotate(q, marker))
	if s.tilt != [2]float64{} {
		at = rotation.Rotate(lean, at)
	}
	at.Z += s.height
	return at
}

// bounds are the least and the largest value, lo and hi in the scale of the ball.
func (p *parameter) bounds(b *ball.Params) (lo, hi float64) {
	return p.lo * p.scale(b), p.hi * p.scale(b)
}

// fitParam is p as a solver sees it.
func (p *parameter) fitParam(s *setup) fit.Param {
	lo, hi := p.bounds(&s.body)
	return fit.Param{Param: engine.Param{Name: p.name, Unit: p.unit, Doc: p.doc, Value: min(max(*p.field(s), lo), hi), Lo: lo, Hi: hi}}
}
