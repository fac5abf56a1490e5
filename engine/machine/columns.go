package machine

import (
	"fmt"
	"strings"

	"hilrig/engine"
	"hilrig/engine/multibody"
)

// Columns name the numbers of a row: joint.q and joint.v of every joint, more of them where it has more coordinates, the modes of flexible
// bodies behind them, the states of the parts, the multipliers of the constraints, what the constraints are off by, and the energies.
func (m *Machine) Columns() []engine.Signal {
	var c []engine.Signal
	add := func(unit string, names ...string) {
		for _, n := range names {
			c = append(c, engine.Signal{Name: n, Unit: unit})
		}
	}
	each := func(name, letters string) (out []string) {
		for _, l := range letters {
			out = append(out, name+"."+string(l))
		}
		return out
	}
	modes := func(j int, unit, suffix string) {
		name, _, _, _ := m.Model.JointOf(j)
		n, _, _ := m.Model.Modes(j)
		for k := range n {
			add(unit, fmt.Sprintf("%s.mode%d%s", name, k+1, suffix))
		}
	}
	for j := 1; j <= m.Model.Bodies(); j++ {
		switch name, kind, _, _ := m.Model.JointOf(j); kind {
		case multibody.Fixed:
		case multibody.Revolute:
			add("rad", name+".q")
		case multibody.Prismatic:
			add("m", name+".q")
		default:
			add("", name+".qw", name+".qx", name+".qy", name+".qz")
			if kind == multibody.Free {
				add("m", each(name, "xyz")...)
			}
		}
		modes(j, "m", ".q")
	}
	for j := 1; j <= m.Model.Bodies(); j++ {
		switch name, kind, _, _ := m.Model.JointOf(j); kind {
		case multibody.Fixed:
		case multibody.Revolute:
			add("rad/s", name+".v")
		case multibody.Prismatic:
			add("m/s", name+".v")
		default:
			add("rad/s", name+".wx", name+".wy", name+".wz")
			if kind == multibody.Free {
				add("m/s", name+".vx", name+".vy", name+".vz")
			}
		}
		modes(j, "m/s", ".v")
	}
	for _, s := range m.states {
		c = append(c, engine.Signal{Name: short.Replace(s.Name + "\n"), Unit: s.Unit})
	}
	for _, r := range m.Model.Constraints() {
		c = append(c, engine.Signal{Name: strings.ReplaceAll(r.Name, " ", "_"), Unit: r.Unit})
	}
	for _, b := range m.dryJoints {
		add(m.axes[b.axis].unit(), m.axes[b.axis].name+frictionSuffix)
	}
	for _, l := range m.loads {
		add("N", m.axes[l.axis].name+loadSuffix)
	}
	c = append(c, m.partSignals()...)
	if m.Model.NC() > 0 {
		add("", "residual", "residual_rate")
	}
	add("J", "kinetic", "potential", "input", "loss")
	return c
}

// short are the symbols of the states of a circuit.
var short = strings.NewReplacer(".current\n", ".i", ".voltage\n", ".u", "\n", "")

// Row writes the numbers of Columns for a sample.
func (m *Machine) Row(s *Sample, row []float64) {
	n := copy(row, s.X)
	n += copy(row[n:], s.Lambda)
	for k := range m.dryJoints {
		row[n] = -m.dryJoints[k].force
		n++
	}
	for _, l := range m.loads {
		row[n] = l.force
		n++
	}
	n += m.show(row[n:])
	if m.Model.NC() > 0 {
		row[n], row[n+1] = s.Residual, s.Rate
		n += 2
	}
	row[n], row[n+1], row[n+2], row[n+3] = s.Kinetic, s.Potential, s.Input, s.Loss
}
