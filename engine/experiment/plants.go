package experiment

import (
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
)

// slider is a mass under friction, drawn over a spring, pushed by a force or moved by a controller. It is its own friction.Load.
type slider struct {
	*Spec
	body  *friction.Mass
	parts int
	x     []float64
	t     float64 // s  beginning of the step
	work  float64
	feedback
}

func newSlider(s *Spec) (*slider, error) {
	n, limit, why, err := s.Substeps()
	if err != nil {
		return nil, err
	}
	if n > 1 && !s.Substep {
		return nil, &LimitError{Step: s.Step, Limit: limit, Scheme: s.Scheme, Reason: why}
	}
	if n > MaxParts {
		return nil, fmt.Errorf("step: %g s would be divided into %.3g parts; want a step of at most %.3g s: %s", s.Step, s.Step/limit,
			MaxParts*limit, why)
	}
	body, err := friction.NewMass(s.Mass, s.Law, s.Scheme)
	if err != nil {
		return nil, err
	}
	r := &slider{Spec: s, body: body, parts: n, x: body.NewState(), feedback: newFeedback(s)}
	r.x[0], r.x[1] = s.X0, s.V0
	copy(r.x[2:], s.State)
	return r, nil
}

func (r *slider) Span(tau, h, x float64) {}

// At is the force of spring, damper, input and controller.
func (r *slider) At(tau, x, v float64) (force, dx, dv float64) {
	y, dy, _ := r.Input.At(r.t + tau)
	switch r.Plant {
	case DrawnMass:
		return r.Spring*(y-x) + r.Damper*(dy-v), -r.Spring, -r.Damper
	case ControlledMass:
		e, de := r.Control.error(y, dy, x, v)
		u, ue, ude := r.force(tau, e, de)
		if r.Control.Speed {
			ue, ude = 0, ue
		}
		return u - r.Spring*x - r.Damper*v, -ue - r.Spring, -ude - r.Damper
	}
	return y - r.Spring*x - r.Damper*v, -r.Spring, -r.Damper
}

func (r *slider) step(t, h float64, q *Sample) {
	r.t = t
	if r.Plant == ControlledMass {
		y, dy, _ := r.Input.At(t)
		r.begin(r.Control.error(y, dy, r.x[0], r.x[1]))
	}
	r.body.N, r.body.I = normal(r.Normal, t+h/2), at(r.Current, t+h/2)
	m := r.body.Substeps(r.parts, h, r.x, r)
	r.work += m.Work
	q.X, q.V, q.W, q.F, q.Work, q.Z, q.Status = r.x[0], r.x[1], m.W, m.F, r.work, r.x[2:], m.Status
	q.Evals += m.Evals
	q.Parts += m.Parts
	y, dy, _ := r.Input.At(t + h)
	if r.Plant == ControlledMass {
		e, _ := r.Control.error(y, dy, q.X, q.V)
		r.end(h, e)
	}
	r.t = t + h
	q.Input = y
	q.Drive, _, _ = r.At(0, q.X, q.V)
}

// imposed moves the contact itself.
type imposed struct {
	*Spec
	z       []float64
	x, work float64
}

func newImposed(s *Spec) *imposed {
	r := &imposed{Spec: s, z: make([]float64, s.Law.StateDim()), x: s.X0}
	s.Law.Reset(r.z)
	copy(r.z, s.State)
	return r
}

// gauss3 are the abscissas in [0, 1] and weights of Gauss's rule with three points, exact to the fifth degree.
var gauss3 = [3][2]float64{{0.5 - math.Sqrt(0.15), 5.0 / 18}, {0.5, 8.0 / 18}, {0.5 + math.Sqrt(0.15), 5.0 / 18}}

func (r *imposed) step(t, h float64, q *Sample) {
	dx := 0.0
	if r.Plant == ImposedMotion {
		dx = at(r.Input, t+h) - at(r.Input, t)
		_, q.V, _ = r.Input.At(t + h)
	} else {
		for _, g := range gauss3 {
			dx += g[1] * h * at(r.Input, t+g[0]*h)
		}
		q.V = at(r.Input, t+h)
	}
	f := r.Law.Step(r.z, friction.Input{Dt: h, V: dx / h, N: normal(r.Normal, t+h/2), I: at(r.Current, t+h/2)})
	r.x += dx
	r.work += f * dx
	q.X, q.W, q.F, q.Work, q.Z, q.Input = r.x, dx/h, f, r.work, r.z, at(r.Input, t+h)
	q.Evals++
	q.Parts++
	q.Status = engine.OK
	if math.IsNaN(f) || math.IsInf(f, 0) {
		q.Status = engine.NonFinite
	}
}

// motorAxis is a motor with the law in its bearings and brushes.
type motorAxis struct {
	*Spec
	drive   *plant.Axis
	x, u, y []float64
	work    float64
}

func newMotorAxis(s *Spec) (*motorAxis, error) {
	d := s.Motor
	d.Friction = s.Law
	drive, err := plant.NewAxis(d)
	if err != nil {
		return nil, err
	}
	r := &motorAxis{Spec: s, drive: drive, x: drive.NewState(), u: []float64{0, 1}, y: make([]float64, len(drive.Layout().Outputs))}
	r.x[plant.Theta], r.x[plant.Omega] = s.X0, s.V0
	copy(r.x[plant.Contact:], s.State)
	return r, nil
}

func (r *motorAxis) step(t, h float64, q *Sample) {
	r.u[0] = at(r.Input, t+h/2)
	r.drive.Normal = normal(r.Normal, t+h/2)
	q.Status = r.drive.Step(h, r.x, r.u, r.y)
	m := r.drive.Last()
	r.work += m.Work
	q.X, q.V, q.W, q.F, q.Work, q.Z = r.x[plant.Theta], r.x[plant.Omega], m.W, m.Friction, r.work, r.x[plant.Contact:]
	q.Amps, q.Temp, q.Input = r.x[plant.Current], r.x[plant.Temperature], at(r.Input, t+h)
	q.Drive = r.Motor.Motor.K * q.Amps
	q.Evals += m.Evals
	q.Parts++
}
