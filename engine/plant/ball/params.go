// Package ball is a sphere that rolls on a plane: dynamically asymmetric, its centre of mass beside the geometric centre, with
// friction against rolling and spinning [KKK17], and with sliding friction at the contact if it may slip.
//
// Vectors of the motion are in body axes unless a name says otherwise: ω angular velocity, c centre of mass from the geometric
// centre, and α, β, γ the unit vectors of the plane's frame (γ is its normal). ρ = c + R·γ goes from the contact to the centre of
// mass. While the ball rolls, the contact is at rest, v = R·ω×γ is the velocity of the centre, and with I the inertia about the
// centre of mass
//
//	K(γ)·dω/dt = M_f − h,   K = I + m·(|ρ|²·1 − ρρᵀ),   h = ω×I·ω + m·ρ×(ω×(ω×c)) − ρ×G
//	λ = m·(dω/dt×ρ + ω×(ω×c)) − G,   N = (λ, γ),   T = λ − N·γ
//
// which is [KKK17] (1.5) in short: K is the inertia about the contact, G the weight, λ the force of the plane on the ball. Friction is
// the moment
//
//	M_f = −(μ + q·|ω_h| + (M + δ·N)/|ω_h|)·ω_h − (μ' + q'·|ω_n| + (M' + δ'·N)/|ω_n|)·ω_n,   ω_n = (ω, γ)·γ,   ω_h = ω − ω_n
//
// against rolling and, with a dash, against spinning: linear, quadratic, and of Coulomb's type, which holds the ball at rest. N depends
// on dω/dt, so δ adds a term of rank one to K. The sign of M_roll in (1.6) of the source's text is a misprint, as its (2.3) shows.
//
// The frame of the plane has z along its normal; x and y lie in it, and gravity leans by the tilt. The ball does not leave the plane: a
// step in which the plane would have to pull says Limited.
package ball

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
)

// Friction is a moment against one kind of turning, the sum of its parts, in the units of its speed.
type Friction struct {
	Linear    float64 `yaml:"linear" unit:"N·m·s" want:">=0" doc:"viscous: grows with the speed"`
	Quadratic float64 `yaml:"quadratic" unit:"N·m·s²" want:">=0" doc:"grows with the square of the speed"`
	Moment    float64 `yaml:"moment" unit:"N·m" want:">=0" doc:"of Coulomb's type, whatever the normal force"`
	Arm       float64 `yaml:"arm" unit:"m" want:">=0" doc:"of Coulomb's type: moment over normal force"`
}

// holdsAtRest tells whether it holds at rest.
func (f *Friction) holdsAtRest() bool { return f.Moment > 0 || f.Arm > 0 }

// What Params.InertiaAbout may be.
const (
	AboutCenter       = "center" // the geometric centre, as in the source
	AboutCenterOfMass = "com"
)

// Params are those of ball, plane and friction.
type Params struct {
	Radius       float64    `yaml:"radius" unit:"m" want:">0" doc:"of the sphere"`
	Mass         float64    `yaml:"mass" unit:"kg" want:">0" doc:"of the ball"`
	Inertia      [3]float64 `yaml:"inertia" unit:"kg·m²" doc:"Ixx, Iyy, Izz in axes of the body"`
	Products     [3]float64 `yaml:"products" unit:"kg·m²" doc:"Ixy, Ixz, Iyz, elements of the tensor: Ixy = −∫xy dm"`
	InertiaAbout string     `yaml:"inertia_about" enum:"center,com" doc:"the point that the inertia belongs to: geometric centre or centre of mass"`
	Center       [3]float64 `yaml:"center_of_mass" unit:"m" doc:"from the geometric centre, in axes of the body"`
	Gravity      float64    `yaml:"gravity" unit:"m/s²" want:">=0" doc:"acceleration of free fall"`
	Tilt         [2]float64 `yaml:"tilt" unit:"rad" doc:"of the plane: the angles by which it falls towards +x and towards +y"`
	Roll         Friction   `yaml:"roll" doc:"against rolling"`
	Spin         Friction   `yaml:"spin" doc:"against turning about the normal"`
	Slips        bool       `yaml:"slips" doc:"the contact may slip; no: it rolls whatever force that takes"`
	Slide        float64    `yaml:"slide" want:">=0" doc:"coefficient of sliding friction of a contact that may slip"`
}

// Paper is the body of the source on paper: a hollow sphere with weights, 2.5e-4 N·m·s from its fit of trajectories.
func Paper() Params {
	return Params{
		Radius: 0.035, Mass: 0.054, Inertia: [3]float64{36535.4e-9, 36535.4e-9, 22355.6e-9}, InertiaAbout: AboutCenter,
		Center: [3]float64{0, 0, 0.0109}, Gravity: 9.81, Roll: Friction{Linear: 2.5e-4},
	}
}

// steepest is the largest tilt: gravity still presses the ball on the plane.
const steepest = math.Pi/2 - 1e-3 // rad

// Check tells all that is wrong with the parameters.
func (p *Params) Check() []engine.Problem {
	var errs []error
	add := func(path, format string, a ...any) { errs = append(errs, engine.Problemf(path, format, a...)) }
	number := func(path string, v float64, unit string, lo, hi float64) {
		switch {
		case v-v != 0:
			add(path, "%g %s, want a finite number", v, unit)
		case v < lo || v > hi || lo == tiny && v == 0:
			want := fmt.Sprintf("%g to %g %s", lo, hi, unit)
			switch {
			case lo == tiny:
				want = "> 0"
			case math.IsInf(hi, 1):
				want = fmt.Sprintf(">= %g", lo)
			}
			add(path, "%g %s, want %s", v, unit, want)
		}
	}
	inf := math.Inf(1)
	number("radius", p.Radius, "m", tiny, inf)
	number("mass", p.Mass, "kg", tiny, inf)
	number("gravity", p.Gravity, "m/s²", 0, inf)
	for k, v := range p.Tilt {
		number(fmt.Sprintf("tilt[%d]", k), v, "rad", -steepest, steepest)
	}
	for _, f := range []struct {
		path string
		Friction
	}{{"roll", p.Roll}, {"spin", p.Spin}} {
		number(f.path+".linear", f.Linear, "N·m·s", 0, inf)
		number(f.path+".quadratic", f.Quadratic, "N·m·s²", 0, inf)
		number(f.path+".moment", f.Moment, "N·m", 0, inf)
		number(f.path+".arm", f.Arm, "m", 0, inf)
		if f.Arm >= p.Radius && p.Radius > 0 {
			add(f.path+".arm", "%g m is not less than the radius, %g m: this is a length, moment over normal force, not a pure coefficient", f.Arm,
				p.Radius)
		}
	}
	number("slide", p.Slide, "", 0, inf)
	if p.InertiaAbout != AboutCenter && p.InertiaAbout != AboutCenterOfMass {
		add("inertia_about", "%q, want %s or %s", p.InertiaAbout, AboutCenter, AboutCenterOfMass)
	}
	p.checkBody(number, add)
	return engine.Problems(errors.Join(errs...))
}

// tiny stands for what has to be above zero.
const tiny = math.SmallestNonzeroFloat64

// checkBody tells what makes the inertia that of no body.
func (p *Params) checkBody(number func(path string, v float64, unit string, lo, hi float64), add func(path, format string, a ...any)) {
	finite := p.Radius > 0 && p.Mass > 0
	for k := range 3 {
		i, o, c := p.Inertia[k], p.Products[k], p.Center[k]
		number(fmt.Sprintf("inertia[%d]", k), i, "kg·m²", tiny, math.Inf(1))
		number(fmt.Sprintf("products[%d]", k), o, "kg·m²", math.Inf(-1), math.Inf(1))
		number(fmt.Sprintf("center_of_mass[%d]", k), c, "m", math.Inf(-1), math.Inf(1))
		finite = finite && i-i == 0 && o-o == 0 && c-c == 0 && i > 0
	}
	if !finite || p.InertiaAbout != AboutCenter && p.InertiaAbout != AboutCenterOfMass {
		return
	}
	c := vec(p.Center)
	if d := r3.Norm(c); d >= p.Radius {
		add("center_of_mass", "it lies %.4g m from the centre of a ball of radius %.4g m, want inside: lengths are metres", d, p.Radius)
		return
	}
	about := p.inertiaAboutCom()
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(3, []float64{about.xx, about.xy, about.xz, about.xy, about.yy, about.yz, about.xz, about.yz, about.zz}),
		false) {
		add("inertia", "its principal moments cannot be found: want a symmetric tensor of ordinary size")
		return
	}
	v := e.Values(nil)
	switch {
	case v[0] <= 0:
		add("inertia", "about the centre of mass a principal moment is %.4g kg·m², want > 0: the inertia (about the %s) is too small for a "+
			"mass of %.4g kg at %.4g m", v[0], p.InertiaAbout, p.Mass, r3.Norm(c))
	case v[2] > (v[0]+v[1])*(1+1e-9):
		add("inertia", "principal moments %.4g, %.4g and %.4g kg·m² about the centre of mass: of no body is the largest above the sum of "+
			"the others", v[0], v[1], v[2])
	}
	if most, trace := 2*p.Mass*p.Radius*p.Radius, v[0]+v[1]+v[2]+2*p.Mass*r3.Norm2(c); trace > most*(1+1e-9) {
		add("inertia", "the moments about the centre add up to %.4g kg·m², more than %.4g kg·m² of a thin shell with all its mass at the "+
			"radius: units are kg·m² and m", trace, most)
	}
}

// inertiaAboutCom is the inertia about the centre of mass (kg·m²).
func (p *Params) inertiaAboutCom() sym {
	i := sym{p.Inertia[0], p.Inertia[1], p.Inertia[2], p.Products[0], p.Products[1], p.Products[2]}
	if p.InertiaAbout == AboutCenter {
		i = i.plus(-p.Mass, vec(p.Center))
	}
	return i
}

func vec(a [3]float64) r3.Vec { return r3.Vec{X: a[0], Y: a[1], Z: a[2]} }
