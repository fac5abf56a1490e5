package hil

import (
	"errors"
	"fmt"

	"hilrig/engine"
	"hilrig/engine/multibody"
	"hilrig/engine/numeric"
)

// MechanismSpec is the machine that joins the axes of a rig: its equations give the torque that the wanted motion of all axes takes,
// gravity, coupling and the inertia of the motors (armature) included. Friction stays with the axes.
type MechanismSpec struct {
	Model *multibody.Model // a tree
	Joint []int            // of each axis, its velocity in the model; −1: the axis is no part of it
}

// includes tells whether an axis is part of the machine.
func (s *MechanismSpec) includes(axis int) bool { return s != nil && s.Joint[axis] >= 0 }

// mechanism is a machine under the motion that is wanted of its axes. A nil one has no axes.
type mechanism struct {
	s       MechanismSpec
	data    *multibody.Data
	q, v, a []float64
}

// newMechanism checks that each joint of the machine is one axis: the position of a joint that nobody measures is not known.
func newMechanism(s *MechanismSpec, axes int) (*mechanism, error) {
	if s == nil {
		return nil, nil
	}
	if len(s.Model.Constraints()) > 0 {
		return nil, errors.New("mechanism: it has loops or couplings: only a tree of bodies can be fed forward")
	}
	n := s.Model.NV()
	if len(s.Joint) != axes || s.Model.NQ() != n {
		return nil, fmt.Errorf("mechanism: %d joints are given for %d axes, and every joint must be revolute or prismatic", len(s.Joint), axes)
	}
	seen := make([]bool, n)
	left := n
	for i, at := range s.Joint {
		switch {
		case at >= n || at >= 0 && seen[at]:
			return nil, fmt.Errorf("mechanism: axis %d moves joint %d, want each of 0 to %d once", i, at, n-1)
		case at >= 0:
			seen[at] = true
			left--
		}
	}
	if left > 0 {
		return nil, fmt.Errorf("mechanism: %d of its %d joints are no axis", left, n)
	}
	return &mechanism{s: *s, data: s.Model.NewData(), q: make([]float64, n), v: make([]float64, n), a: make([]float64, n)}, nil
}

// setReference takes the motion that is wanted of an axis: position, velocity, acceleration.
func (m *mechanism) setReference(axis int, ref [3]float64) {
	if m == nil || m.s.Joint[axis] < 0 {
		return
	}
	at := m.s.Joint[axis]
	m.q[at], m.v[at], m.a[at] = ref[0], ref[1], ref[2]
}

// effort computes what the motion takes.
func (m *mechanism) effort() engine.Status {
	if m == nil {
		return engine.OK
	}
	multibody.RNEA(m.s.Model, m.data, m.q, m.v, m.a)
	if !numeric.AllFinite(m.data.Tau...) {
		clear(m.data.Tau)
		return engine.NonFinite
	}
	return engine.OK
}

// load is that of an axis (N·m, N).
func (m *mechanism) load(axis int) float64 {
	if m == nil || m.s.Joint[axis] < 0 {
		return 0
	}
	return m.data.Tau[m.s.Joint[axis]]
}
