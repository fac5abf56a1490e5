// Package beam is a straight Euler–Bernoulli beam of finite elements in its plane, and the point that slides along it.
//
// The coordinates are deflection and slope of the nodes, those that the supports hold left out. Within an element of length l, with
// z = x/l, the deflection is w = N(x)·q with Hermite's polynomials [Lip] (8),
//
//	N = [2z³−3z²+1, l·(z³−2z²+z), −2z³+3z², l·(z³−z²)]
//
// the beam obeys M·q″ + D·q′ + K·q + Nᵀ·λ = P, with D = α·M + β·K (Rayleigh), and a load between two nodes acts by N there. K and M are
// those of ∫EI·N″ᵀN″ and ∫ρA·NᵀN; the factors 1/2 of the source's (12) and (13) stand twice, and the D of its (14) is damping.
//
// What is assumed: slopes are small against one, the beam is straight without load, sections are the same all along, shear and the
// inertia of turning sections are left out. Deflections are exact at the nodes; under a load inside an element the error is of fourth
// order in l. Deflection is positive upwards, x runs from the left end; x is not extrapolated past an end (LeftError).
package beam

import (
	"errors"
	"math"

	"hilrig/engine"
)

// What Support.Kind may be.
const (
	Free    = "free"    // nothing
	Pinned  = "pinned"  // no deflection
	Clamped = "clamped" // neither deflection nor slope
	Elastic = "elastic" // springs
)

// Support is what holds an end.
type Support struct {
	Kind    string  `yaml:"kind" enum:"free,pinned,clamped,elastic" doc:"what holds this end"`
	Spring  float64 `yaml:"spring" unit:"N/m" want:">=0" doc:"stiffness against deflection of an elastic support"`
	Turning float64 `yaml:"turning" unit:"N·m/rad" want:">=0" doc:"stiffness against slope of an elastic support"`
}

// Damping is Rayleigh's, D = α·M + β·K. The damping ratio of a mode is α/(2ω) + β·ω/2.
type Damping struct {
	Mass      float64 `yaml:"mass" unit:"1/s" want:">=0" doc:"α: share of the mass matrix"`
	Stiffness float64 `yaml:"stiffness" unit:"s" want:">=0" doc:"β: share of the stiffness matrix"`
}

// Params describe a beam.
type Params struct {
	Length       float64 `yaml:"length" unit:"m" want:">0" doc:"from end to end"`
	Elements     int     `yaml:"elements" want:">=1 <=1000" doc:"number of them, of equal length"`
	Young        float64 `yaml:"young" unit:"Pa" want:">0" doc:"modulus of elasticity E"`
	SecondMoment float64 `yaml:"second_moment" unit:"m⁴" want:">0" doc:"second moment of area I of the section"`
	Area         float64 `yaml:"area" unit:"m²" want:">0" doc:"of the section"`
	Density      float64 `yaml:"density" unit:"kg/m³" want:">0" doc:"of the material"`
	Left         Support `yaml:"left" doc:"what holds the end at x = 0"`
	Right        Support `yaml:"right" doc:"what holds the other end"`
	Damping      Damping `yaml:"damping" doc:"Rayleigh's"`
}

// Paper is the beam of the source [Lip], with the ends and the damping that its example is completed with: clamped, β = 2e-4 s.
func Paper() Params {
	return Params{Length: 1, Elements: 10, Young: 2.1e8, SecondMoment: 1e-8, Area: 1e-3, Density: 4700,
		Left: Support{Kind: Clamped}, Right: Support{Kind: Clamped}, Damping: Damping{Stiffness: 2e-4}}
}

// MostElements bounds a mesh.
const MostElements = 1000

// ErrLoose says that the supports leave the beam a motion without strain: it has no static deflection.
var ErrLoose = errors.New("the supports do not hold the beam: it can move without bending, so no static deflection exists; pin both ends " +
	"or clamp one")

// Check tells all that is wrong with the parameters.
func (p *Params) Check() []engine.Problem {
	var errs []error
	add := func(path, format string, a ...any) { errs = append(errs, engine.Problemf(path, format, a...)) }
	above := func(path string, v float64, unit string) {
		if !(v > 0) || math.IsInf(v, 0) {
			add(path, "%g %s, want > 0", v, unit)
		}
	}
	notBelow := func(path string, v float64, unit string) {
		if !(v >= 0) || math.IsInf(v, 0) {
			add(path, "%g %s, want >= 0", v, unit)
		}
	}
	above("length", p.Length, "m")
	above("young", p.Young, "Pa")
	above("second_moment", p.SecondMoment, "m⁴")
	above("area", p.Area, "m²")
	above("density", p.Density, "kg/m³")
	if p.Elements < 1 || p.Elements > MostElements {
		add("elements", "%d, want 1 to %d", p.Elements, MostElements)
	}
	notBelow("damping.mass", p.Damping.Mass, "1/s")
	notBelow("damping.stiffness", p.Damping.Stiffness, "s")
	held := 0
	for _, end := range []struct {
		path string
		Support
	}{{"left", p.Left}, {"right", p.Right}} {
		notBelow(end.path+".spring", end.Spring, "N/m")
		notBelow(end.path+".turning", end.Turning, "N·m/rad")
		switch end.Kind {
		case Free:
		case Pinned:
			held++
		case Clamped:
			held += 2
		case Elastic:
			if end.Spring == 0 && end.Turning == 0 {
				add(end.path, "an elastic support without stiffness: give spring or turning, or write %s", Free)
			}
		default:
			add(end.path+".kind", "%q, want %s, %s, %s or %s", end.Kind, Free, Pinned, Clamped, Elastic)
		}
		if end.Kind != Elastic && (end.Spring != 0 || end.Turning != 0) {
			add(end.path, "stiffness is given to a support that is %s, want %s", end.Kind, Elastic)
		}
	}
	if p.Elements == 1 && held == 4 {
		add("elements", "one element clamped at both ends cannot move, want 2 or more")
	}
	return engine.Problems(errors.Join(errs...))
}

// Beam is built once, then constant and shared. Matrices are in the free coordinates, N of them.
type Beam struct {
	N       int  // free coordinates
	M, K, D Band // mass, stiffness, damping; to be read only

	p               Params
	l               float64 // m  of an element
	freeIndex       []int   // free coordinate of each deflection and slope; −1: held
	stiffnessFactor Band    // factors of K
	firm            bool    // K has an inverse
}

// New checks the parameters; the error joins *engine.Problem.
func New(p Params) (*Beam, error) {
	var errs []error
	for _, bad := range p.Check() {
		errs = append(errs, &bad)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	n := p.Elements
	b := &Beam{p: p, l: p.Length / float64(n), freeIndex: make([]int, 2*(n+1))}
	fixed := func(i int, s Support) { // i: its deflection
		if s.Kind == Pinned || s.Kind == Clamped {
			b.freeIndex[i] = -1
		}
		if s.Kind == Clamped {
			b.freeIndex[i+1] = -1
		}
	}
	fixed(0, p.Left)
	fixed(2*n, p.Right)
	for i, v := range b.freeIndex {
		if v == 0 {
			b.freeIndex[i] = b.N
			b.N++
		}
	}
	b.M, b.K, b.D = NewBand(b.N), NewBand(b.N), NewBand(b.N)
	ke, me := b.element()
	for e := range n {
		at := b.freeIndex[2*e:]
		for r := range 4 {
			for c := range r + 1 {
				if at[r] >= 0 && at[c] >= 0 {
					b.K.add(at[r], at[c], ke[r][c])
					b.M.add(at[r], at[c], me[r][c])
				}
			}
		}
	}
	spring := func(i int, s Support) {
		if s.Kind == Elastic {
			b.K.add(b.freeIndex[i], b.freeIndex[i], s.Spring)
			b.K.add(b.freeIndex[i+1], b.freeIndex[i+1], s.Turning)
		}
	}
	spring(0, p.Left)
	spring(2*n, p.Right)
	b.D.Sum(p.Damping.Mass, &b.M, p.Damping.Stiffness, &b.K)
	b.stiffnessFactor = NewBand(b.N)
	b.stiffnessFactor.Sum(0, &b.M, 1, &b.K)
	b.firm = b.blocksRigidMotion() && b.stiffnessFactor.Factor()
	return b, nil
}

// blocksRigidMotion tells whether no motion without strain is left: rigid motions w = a + b·x that cost no energy in the supports.
func (b *Beam) blocksRigidMotion() bool {
	// the energy of the supports as a form in (a, b): positive definite
	var aa, ab, bb float64
	for _, end := range []struct {
		x float64
		Support
	}{{0, b.p.Left}, {b.p.Length, b.p.Right}} {
		k, turn := end.Spring, end.Turning
		switch end.Kind {
		case Pinned:
			k = math.Inf(1)
		case Clamped:
			return true
		}
		if math.IsInf(k, 1) {
			k = 1 // any stiffness will do
		}
		aa, ab, bb = aa+k, ab+k*end.x, bb+k*end.x*end.x+turn
	}
	return aa > 0 && aa*bb-ab*ab > 0
}

// Params are those it was built of.
func (b *Beam) Params() Params { return b.p }

// Element is the length of an element (m).
func (b *Beam) Element() float64 { return b.l }

// Mass of all the beam (kg).
func (b *Beam) Mass() float64 { return b.p.Density * b.p.Area * b.p.Length }

// Node is the free coordinate of the deflection of a node, from 0 on, and of its slope; −1: a support holds it.
func (b *Beam) Node(k int) (w, slope int) { return b.freeIndex[2*k], b.freeIndex[2*k+1] }

// Nodes is their number.
func (b *Beam) Nodes() int { return b.p.Elements + 1 }

// Deflections writes that of every node (m) to w.
func (b *Beam) Deflections(q, w []float64) {
	for k := range w[:b.Nodes()] {
		w[k] = 0
		if i := b.freeIndex[2*k]; i >= 0 {
			w[k] = q[i]
		}
	}
}

// Energy of bending, supports included, and of motion (J).
func (b *Beam) Energy(q, v []float64) (bending, motion float64) {
	return b.K.Form(q, q) / 2, b.M.Form(v, v) / 2
}
