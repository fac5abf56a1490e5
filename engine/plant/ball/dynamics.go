package ball

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
)

// Model is a ball on its plane, checked and converted: constant, to be shared and copied. Made by New.
type Model struct {
	radius, mass float64
	inertia      sym    // kg·m²  about the centre of mass
	c            r3.Vec // m      centre of mass from the geometric centre
	weight       r3.Vec // N      in the frame of the plane
	roll, spin   Friction
	slips        bool
	slide        float64
	tol          float64 // error of a step, see Step
}

// New checks the parameters.
func New(p Params) (*Model, error) {
	if bad := p.Check(); len(bad) > 0 {
		errs := make([]error, len(bad))
		for k := range bad {
			errs[k] = fmt.Errorf("ball: %w", &bad[k])
		}
		return nil, errors.Join(errs...)
	}
	m := p.Unchecked()
	return &m, nil
}

// Unchecked is the model of parameters that may be those of no body, such as a fit tries on its way.
func (p *Params) Unchecked() Model {
	m := Model{
		radius: p.Radius, mass: p.Mass, inertia: p.inertiaAboutCom(), c: vec(p.Center), roll: p.Roll, spin: p.Spin,
		slips: p.Slips, slide: p.Slide, tol: Tolerance,
	}
	sx, cx := math.Sincos(p.Tilt[0])
	sy, cy := math.Sincos(p.Tilt[1])
	m.weight = r3.Scale(p.Mass*p.Gravity, r3.Vec{X: sx, Y: cx * sy, Z: -cx * cy})
	return m
}

// Frame is the frame of the plane seen from the body: its unit vectors in body axes, the source's α, β and γ.
type Frame struct{ A, B, C r3.Vec }

// FrameOf is that of an orientation, a unit quaternion from body to plane.
func FrameOf(q quat.Number) Frame {
	w, x, y, z := q.Real, q.Imag, q.Jmag, q.Kmag
	return Frame{
		A: r3.Vec{X: 1 - 2*(y*y+z*z), Y: 2 * (x*y - w*z), Z: 2 * (x*z + w*y)},
		B: r3.Vec{X: 2 * (x*y + w*z), Y: 1 - 2*(x*x+z*z), Z: 2 * (y*z - w*x)},
		C: r3.Vec{X: 2 * (x*z - w*y), Y: 2 * (y*z + w*x), Z: 1 - 2*(x*x+y*y)},
	}
}

// ToBody turns a vector of the plane's frame into body axes.
func (f *Frame) ToBody(a r3.Vec) r3.Vec {
	return r3.Vec{
		X: a.X*f.A.X + a.Y*f.B.X + a.Z*f.C.X,
		Y: a.X*f.A.Y + a.Y*f.B.Y + a.Z*f.C.Y,
		Z: a.X*f.A.Z + a.Y*f.B.Z + a.Z*f.C.Z,
	}
}

// ToPlane turns a vector of the body into the plane's frame.
func (f *Frame) ToPlane(a r3.Vec) r3.Vec {
	return r3.Vec{X: r3.Dot(f.A, a), Y: r3.Dot(f.B, a), Z: r3.Dot(f.C, a)}
}

// Mode is what the contact does.
type Mode struct {
	Slip     bool // it slips
	RollHeld bool // friction against rolling holds: ω_h = 0
	SpinHeld bool // friction against spinning holds: ω_n = 0
}

// Accel is what the equations of motion say of a state.
type Accel struct {
	W             r3.Vec  // rad/s²  dω/dt in body axes
	VX, VY        float64 // m/s²    acceleration of the centre in the plane
	Force         r3.Vec  // N       λ in the frame of the plane, N its Z
	Hold          r3.Vec  // N·m     moment in body axes with which friction holds what Mode says it holds
	pulls         bool    // N < 0
	indeterminate bool    // friction leaves no acceleration, or more than one
}

// Inverse is the moment of friction M_f (N·m, body axes) and the force of the plane λ (N, frame of the plane) of a ball that rolls, turning
// at w with dw/dt: [KKK17] (1.5) read from right to left.
func (m *Model) Inverse(f *Frame, w, dw r3.Vec) (moment, force r3.Vec) {
	rho := axpy(m.radius, f.C, m.c)
	a := r3.Add(r3.Cross(dw, rho), r3.Cross(w, r3.Cross(w, m.c)))
	lambda := axpy(m.mass, a, r3.Scale(-1, f.ToBody(m.weight)))
	moment = r3.Add(m.inertia.mulVec(dw), r3.Cross(w, m.inertia.mulVec(w)))
	return r3.Add(moment, r3.Cross(rho, lambda)), f.ToPlane(lambda)
}

// Momentum is the angular momentum about the contact, K·ω (N·m·s), in body axes, and its rate less K·dω/dt, which is dK/dt·ω (N·m).
func (m *Model) Momentum(f *Frame, w r3.Vec) (l, rate r3.Vec) {
	rho := axpy(m.radius, f.C, m.c)
	drho := r3.Scale(m.radius, r3.Cross(f.C, w))
	k := m.inertia.plus(m.mass, rho)
	rate = r3.Scale(2*r3.Dot(rho, drho), w)
	rate = r3.Sub(rate, axpy(r3.Dot(rho, w), drho, r3.Scale(r3.Dot(drho, w), rho)))
	return k.mulVec(w), r3.Scale(m.mass, rate)
}

// accelerate solves the equations of motion. u (m/s, frame of the plane) is the velocity of the contact of a ball that slips.
//
// In every mode they are K·dω/dt + m·d·(c×γ, dω/dt) = r, as N = N0 + m·(c×γ, dω/dt): one symmetric matrix, and a term of rank one
// from forces that go with N.
func (m *Model) accelerate(f *Frame, w, u r3.Vec, mode Mode) (a Accel) {
	g, c := f.C, m.c
	rho := axpy(m.radius, g, c)
	wc := r3.Cross(w, c)
	a0 := r3.Cross(w, wc)   // of the centre of mass against the centre, without dω/dt
	lever := r3.Cross(c, g) // = ρ×γ
	weight := f.ToBody(m.weight)
	held := axpy(m.mass, a0, r3.Scale(-1, weight)) // λ without dω/dt of a ball that rolls
	n0 := r3.Dot(g, held)

	moment, d := m.moment(g, w, mode)
	r := axpy(-n0, d, r3.Sub(moment, r3.Cross(w, m.inertia.mulVec(w))))
	var k sym
	var tau r3.Vec
	if mode.Slip {
		if s := math.Hypot(u.X, u.Y); s > 0 {
			tau = f.ToBody(r3.Vec{X: u.X / s, Y: u.Y / s})
		}
		k = m.inertia.add(m.mass, lever)
		slide := r3.Scale(-m.slide, r3.Cross(rho, tau))
		r = axpy(-n0, r3.Add(lever, slide), r)
		d = r3.Add(d, slide)
	} else {
		k = m.inertia.plus(m.mass, rho)
		r = r3.Sub(r, r3.Cross(rho, held))
	}

	dry := d != r3.Vec{}
	s := solver{f: k.factor(), hasFriction: dry}
	if dry {
		s.m, s.lever, s.kd = m.mass, lever, s.f.solve(d)
		s.denominator = 1 + m.mass*r3.Dot(lever, s.kd)
		a.indeterminate = !(s.denominator > 0)
	}
	switch {
	case mode.RollHeld && mode.SpinHeld:
		a.Hold = r3.Scale(-1, r)
	case mode.RollHeld: // dω/dt = a·γ; the term of rank one vanishes, (c×γ, γ) = 0
		kg := k.mulVec(g)
		turn := r3.Dot(g, r) / r3.Dot(g, kg)
		a.W = r3.Scale(turn, g)
		a.Hold = axpy(turn, kg, r3.Scale(-1, r))
	case mode.SpinHeld: // (dω/dt, γ) = 0, kept by a moment along γ
		a.W = s.solve(r)
		kg := s.solve(g)
		by := -r3.Dot(g, a.W) / r3.Dot(g, kg)
		a.W = axpy(by, kg, a.W)
		a.Hold = r3.Scale(by, g)
	default:
		a.W = s.solve(r)
	}

	// force and acceleration of the centre
	if mode.Slip {
		n := n0 + m.mass*r3.Dot(lever, a.W)
		a.Force = r3.Sub(r3.Scale(n, r3.Vec{Z: 1}), r3.Scale(m.slide*n, f.ToPlane(tau)))
		centre := f.ToPlane(r3.Add(r3.Cross(a.W, c), a0))
		a.VX = (a.Force.X+m.weight.X)/m.mass - centre.X
		a.VY = (a.Force.Y+m.weight.Y)/m.mass - centre.Y
	} else {
		a.Force = f.ToPlane(axpy(m.mass, r3.Cross(a.W, rho), held))
		a.VX, a.VY = m.radius*r3.Dot(f.B, a.W), -m.radius*r3.Dot(f.A, a.W)
	}
	a.pulls = a.Force.Z < 0
	return a
}

// solver solves (K + m·d·leverᵀ)·x = b.
type solver struct {
	f              factor
	hasFriction    bool
	m, denominator float64
	lever, kd      r3.Vec
}

func (s *solver) solve(b r3.Vec) r3.Vec {
	x := s.f.solve(b)
	if s.hasFriction {
		x = axpy(-s.m*r3.Dot(s.lever, x)/s.denominator, s.kd, x)
	}
	return x
}

// moment is that of the friction against rolling and spinning: M_f = moment − N·d. What holds is no part of it.
func (m *Model) moment(g, w r3.Vec, mode Mode) (moment, d r3.Vec) {
	wn := r3.Dot(w, g)
	wh := axpy(-wn, g, w)
	roll, spin := m.roll.Linear, m.spin.Linear
	if m.roll.Quadratic != 0 || m.roll.holdsAtRest() && !mode.RollHeld {
		h := r3.Norm(wh)
		roll += m.roll.Quadratic * h
		if m.roll.holdsAtRest() && !mode.RollHeld && h > 0 {
			roll += m.roll.Moment / h
			d = r3.Scale(m.roll.Arm/h, wh)
		}
	}
	if n := math.Abs(wn); n > 0 {
		spin += m.spin.Quadratic * n
		if !mode.SpinHeld {
			spin += m.spin.Moment / n
			d = axpy(math.Copysign(m.spin.Arm, wn), g, d)
		}
	}
	return axpy(-roll, wh, r3.Scale(-spin*wn, g)), d
}

// status of a step that ended with a.
func (a *Accel) status() engine.Status {
	switch {
	case !(r3.Norm2(a.W) < math.Inf(1)) || !(r3.Norm2(a.Force) < math.Inf(1)):
		return engine.NonFinite
	case a.indeterminate:
		return engine.NotConverged
	case a.pulls:
		return engine.Limited
	}
	return engine.OK
}
