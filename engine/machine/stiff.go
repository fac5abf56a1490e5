package machine

import (
	"fmt"
	"math"

	"hilrig/engine/multibody"
)

// stiffest names the joint whose damper or spring is the fastest at the state x and the time t (s), by the inertia that it moves there,
// and its time constant; "" where no joint has one.
func (m *Machine) stiffest(t float64, x []float64) string {
	q, v, _ := m.split(x)
	m.drive(t)
	clear(m.tau)
	if st := multibody.Dynamics(m.Model, m.Data, q, v, m.tau); st != multibody.OK && st != multibody.Singular {
		return ""
	}
	mobility := func(iv int) float64 {
		clear(m.tau)
		m.tau[iv] = 1
		multibody.Answer(m.Model, m.Data, m.tau)
		return m.tau[iv]
	}
	what, fastest := "", 0.0
	note := func(rate float64, format string, a ...any) {
		if rate > fastest {
			what, fastest = fmt.Sprintf(format, a...), rate
		}
	}
	for _, d := range m.damped {
		a := mobility(d.v)
		name, unit, inertia := m.called(d.v)
		note(d.viscous*a, "the damping of joint %q, %.4g %s on %.3g %s, has a time constant of %.3g s", name, d.viscous, unit, 1/a, inertia,
			1/(d.viscous*a))
	}
	for k := range m.axes {
		a := &m.axes[k]
		if a.cutIndex >= 0 {
			continue
		}
		j, _ := m.Model.Joint(a.name)
		if stiffness := m.Model.Stiffness(j); stiffness > 0 {
			rate := math.Sqrt(stiffness * mobility(a.iv))
			unit, inertia := "N·m/rad", "kg·m²"
			if a.linear {
				unit, inertia = "N/m", "kg"
			}
			note(rate, "the spring of joint %q, %.4g %s on %.3g %s, has a time constant of %.3g s", a.name, stiffness, unit, stiffness/(rate*rate),
				inertia, 1/rate)
		}
	}
	return what
}

// called is the joint of a velocity, with the units of its damping and of its inertia.
func (m *Machine) called(iv int) (joint, damping, inertia string) {
	j, bends := m.Model.BodyOfVelocity(iv)
	name, kind, _, _ := m.Model.JointOf(j)
	switch {
	case bends:
		return "of a flexible body", "N·s/m", "kg"
	case kind == multibody.Prismatic:
		return name, "N·s/m", "kg"
	}
	return name, "N·m·s/rad", "kg·m²"
}
