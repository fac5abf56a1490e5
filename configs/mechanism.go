package configs

import (
	"slices"

	"hilrig/configs/schema"
	"hilrig/engine/multibody"
	"hilrig/hil/axis"
)

// Mechanism is the machine that joins the axes of a rig: a tree of bodies whose joints the axes drive.
type Mechanism struct {
	Gravity [3]float64    `yaml:"gravity" unit:"m/s²" doc:"along x, y and z"`
	Bodies  []MachineBody `yaml:"bodies" doc:"rigid bodies, by name, as in docs/reference/machine.md. The joint of a body is driven by the axis of that name; all others are fixed"`
}

// SetDefaults of a mechanism.
func (m *Mechanism) SetDefaults() { m.Gravity = [3]float64{0, 0, -9.81} }

// Model builds the equations of a mechanism that was checked, and tells the velocity in it of each axis; −1: none.
func (c *Config) MechanismModel() (m *multibody.Model, joints []int, err error) {
	tree := Machine{Gravity: c.Mechanism.Gravity, Bodies: c.Mechanism.Bodies}
	s := multibody.Spec{Gravity: vector(tree.Gravity)}
	for i := range tree.Bodies {
		s.Bodies = append(s.Bodies, tree.body(&tree.Bodies[i]))
	}
	if m, err = multibody.Build(s); err != nil {
		return nil, nil, err
	}
	for i := range c.Axes {
		at := -1
		if j, err := m.Joint(c.Axes[i].Name); err == nil {
			_, _, _, at = m.JointOf(j)
		}
		joints = append(joints, at)
	}
	return m, joints, nil
}

// checkMechanism looks at the mechanism: each joint is an axis that is told an effort for a position, and what it knows of friction stays
// with the axis.
func (c *Config) checkMechanism(r *schema.Report) {
	m := c.Mechanism
	if m == nil || r.HasProblem("mechanism") || r.HasProblem("axes") {
		return
	}
	if len(m.Bodies) == 0 {
		r.KeyErrorf("mechanism.bodies", "is missing: bodies by name, each with its joint")
		return
	}
	for i := range m.Bodies {
		b := &m.Bodies[i]
		b.check(r, "mechanism")
		if b.Flexible != nil {
			r.KeyErrorf("mechanism.bodies."+b.Name+".flexible",
				"the bodies of a mechanism are rigid, their torque follows from the wanted motion of the axes alone; give mass, com and inertia")
			continue
		}
		at := "mechanism.bodies." + b.Name + ".joint"
		for _, key := range b.Joint.motionKeys() {
			r.KeyErrorf(at+"."+key, "belongs to a machine that is simulated; here the axis %s has its reference, its friction and its drive", b.Name)
		}
		if r.HasProblem(at) || b.Joint.Kind == "fixed" {
			continue
		}
		k := slices.IndexFunc(c.Axes, func(a Axis) bool { return a.Name == b.Name })
		if k < 0 {
			c.unknownSignal(r, "mechanism.bodies."+b.Name, b.Name, "axis", listOf(c.Axes, func(a Axis) string { return a.Name }))
			continue
		}
		a := &c.Axes[k]
		switch p := a.path(); {
		case b.Joint.Kind != map[bool]string{false: "revolute", true: "prismatic"}[a.Linear()]:
			r.KeyErrorf(at+".kind", "%s, and the axis %s is %s", b.Joint.Kind, a.Name, map[bool]string{false: "rotary", true: "linear"}[a.Linear()])
		case !a.Drive.Kind.Forces() || a.Reference.Quantity != axis.OfPosition:
			r.KeyErrorf("mechanism.bodies."+b.Name, "%s is not told an effort for a position: a velocity or position drive makes its own", p)
		case a.Compensation.Kind == axis.CompDisturbance:
			r.KeyErrorf(p+".compensation.kind",
				"disturbance-observer takes the load of the mechanism for a disturbance and compensates it a second time; take feedforward or observer")
		}
	}
	if len(r.Problems()) > 0 {
		return
	}
	_, _, err := c.MechanismModel()
	r.ErrorIf(err != nil, "mechanism", "%v", err)
}
