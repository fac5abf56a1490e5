package machine

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/reference"
)

// Force acts on a place of a body from outside the machine.
type Force struct {
	Name      string
	Frame     string              // a frame or a body
	Direction r3.Vec              // direction, any length, in axes of the frame, or of the world
	World     bool                // Along is in axes of the world: it does not turn with the body
	Force     reference.Generator // N    along it; nil: none
	Torque    reference.Generator // N·m  about it; nil: none
}

// force is one of a machine.
type force struct {
	Force
	frame, body int
	f, moment   r3.Vec // N, N·m  on the body, world axes
}

// placeForces checks the forces.
func (m *Machine) placeForces(list []Force) (errs []error) {
	for _, f := range list {
		k, err := m.Model.Frame(f.Frame)
		n := r3.Norm(f.Direction)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("force %q: %w", f.Name, err))
			continue
		case !(n > 0 && n < math.Inf(1)):
			errs = append(errs, fmt.Errorf("force %q: direction %v, want finite numbers, not all 0", f.Name, f.Direction))
			continue
		}
		f.Direction = r3.Scale(1/n, f.Direction)
		m.forces = append(m.forces, force{Force: f, frame: k, body: m.Model.BodyOf(k)})
	}
	if len(m.forces) > 0 {
		m.thrust, m.jacobian = make([]float64, m.Model.NV()), make([]float64, 6*m.Model.NV())
	}
	return errs
}

// apply puts the forces of the time t (s) on the bodies, where the positions are q, as external wrenches of Data.
func (m *Machine) apply(t float64, q []float64) {
	if len(m.forces) == 0 {
		return
	}
	d := m.Data
	d.Release()
	multibody.Positions(m.Model, d, q)
	for k := range m.forces {
		p := &m.forces[k]
		axes, at := m.Model.FramePose(d, p.frame)
		along := p.Direction
		if !p.World {
			along = axes.Vec(along)
		}
		p.f, p.moment = r3.Vec{}, r3.Vec{}
		if p.Force.Force != nil {
			x, _, _ := p.Force.Force.At(t)
			p.f = r3.Scale(x, along)
		}
		if p.Torque != nil {
			x, _, _ := p.Torque.At(t)
			p.moment = r3.Scale(x, along)
		}
		if p.body > 0 {
			d.PushAt(p.body, at, p.f)
			d.Push(p.body, multibody.Wrench{M: p.moment})
		}
	}
}

// thrusting is the power of the forces (W), after apply and Velocities.
func (m *Machine) thrusting() (power float64) {
	for k := range m.forces {
		p := &m.forces[k]
		w, v := m.Model.FrameVelocity(m.Data, p.frame)
		power += r3.Dot(p.f, v) + r3.Dot(p.moment, w)
	}
	return power
}

// project writes to thrust what the forces are along the velocities, after apply, where Positions are still valid.
func (m *Machine) project() {
	clear(m.thrust)
	n := len(m.thrust)
	for k := range m.forces {
		p := &m.forces[k]
		multibody.Jacobian(m.Model, m.Data, p.frame, m.jacobian)
		for i := range m.thrust {
			at := func(row int) float64 { return m.jacobian[row*n+i] }
			m.thrust[i] += p.moment.X*at(0) + p.moment.Y*at(1) + p.moment.Z*at(2) + p.f.X*at(3) + p.f.Y*at(4) + p.f.Z*at(5)
		}
	}
}

// strike puts the forces of the middle of a step on the bodies, where they are then if their speeds stay: what that misses is of second
// order.
func (s *Stepper) strike(t, h float64, q, v []float64) {
	m := s.M
	if len(m.forces) == 0 {
		return
	}
	multibody.Integrate(m.Model, q, v, h/2, s.qm)
	m.apply(t+h/2, s.qm)
	m.project()
}
