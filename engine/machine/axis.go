package machine

import (
	"fmt"

	"hilrig/engine/multibody"
)

// axis is a joint with one coordinate: one of the tree, or one that closes a loop, whose speed is row·v.
type axis struct {
	name     string
	linear   bool
	iq, iv   int       // of the tree
	cutIndex int       // of the loop; −1: of the tree
	row      []float64 // nv  of a cut, where the machine stands
}

// velocity is what the velocities v (nv) are along the axis.
func (a *axis) velocity(v []float64) float64 {
	if a.cutIndex < 0 {
		return v[a.iv]
	}
	return dot(a.row, v)
}

// push adds a torque on the axis (N·m, N) to those of the velocities.
func (a *axis) push(torque float64, tau []float64) {
	if a.cutIndex < 0 {
		tau[a.iv] += torque
		return
	}
	for i, x := range a.row {
		tau[i] += torque * x
	}
}

// unit is that of what acts along the axis.
func (a *axis) unit() string {
	if a.linear {
		return "N"
	}
	return "N·m"
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// tree makes axes of the joints of the tree.
func (m *Machine) tree() {
	for j := 1; j <= m.Model.Bodies(); j++ {
		if name, kind, iq, iv := m.Model.JointOf(j); kind.NV() == 1 {
			m.axes = append(m.axes, axis{name: name, linear: kind == multibody.Prismatic, iq: iq, iv: iv, cutIndex: -1})
		}
	}
}

// close makes an axis of a joint that closes a loop.
func (m *Machine) close(name string) error {
	k, err := m.Model.CutIndex(name)
	if err != nil {
		return err
	}
	free := m.Model.CutFreedom(k)
	if free == multibody.Fixed {
		return fmt.Errorf("loop %q has no one axis: friction belongs to one that is revolute, a point or prismatic", name)
	}
	m.cuts = append(m.cuts, len(m.axes))
	m.axes = append(m.axes, axis{name: name, linear: free == multibody.Prismatic, cutIndex: k, row: make([]float64, m.Model.NV())})
	return nil
}

// Axis is the number of a joint with one coordinate, of the tree or, with friction, of a loop.
func (m *Machine) Axis(joint string) (int, error) {
	for k := range m.axes {
		if m.axes[k].name == joint {
			return k, nil
		}
	}
	j, err := m.Model.Joint(joint)
	if err != nil {
		return 0, err
	}
	_, kind, _, _ := m.Model.JointOf(j)
	return 0, fmt.Errorf("joint %q is %v: want a revolute or prismatic one", joint, kind)
}

// direct takes the directions of the cuts that are axes; positions must be valid.
func (m *Machine) direct() {
	for _, k := range m.cuts {
		a := &m.axes[k]
		m.Model.CutRow(m.Data, a.cutIndex, a.row)
	}
}

// setAxes takes positions and speeds of the axes; a cut has no position.
func (m *Machine) setAxes(q, v []float64) {
	for k := range m.axes {
		a := &m.axes[k]
		if m.v[k] = a.velocity(v); a.cutIndex < 0 {
			m.q[k] = q[a.iq]
		}
	}
}
