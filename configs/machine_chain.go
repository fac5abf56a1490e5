package configs

import (
	"fmt"
	"slices"
	"strings"

	"hilrig/configs/schema"
	plant "hilrig/engine/plant/manipulator"
	"hilrig/hil/models"
)

// drivenJoints are the joints of a chain that have a drive, by the names that they have in a rig: q1 is the first joint of the file.
func (c *ManipulatorRun) drivenJoints() (names []string) {
	for i := range c.Manipulator.Joints {
		if c.Manipulator.Joints[i].Drive != nil {
			names = append(names, fmt.Sprintf("q%d", i+1))
		}
	}
	return names
}

// completeChain gives the only driven joint of a chain to the only axis, where the file says nothing.
func (c *Config) completeChain(m *Model) {
	if driven := m.chain.drivenJoints(); len(m.Joints) == 0 && len(driven) == 1 && len(c.Axes) == 1 {
		m.Joints = []MachineFollow{{Joint: driven[0], Ratio: 1}}
	}
	for i := range m.Joints {
		if f := &m.Joints[i]; f.Axis == "" && len(c.Axes) == 1 {
			f.Axis = c.Axes[0].Name
		}
	}
}

// checkChain looks at a chain on a beam beside the rig: every driven joint is led by an axis, and no other.
func (c *Config) checkChain(r *schema.Report, m *Model) {
	p := m.path()
	if r.HasProblem(p) || r.HasProblem("axes") {
		return
	}
	driven := m.chain.drivenJoints()
	for _, name := range driven {
		if !slices.ContainsFunc(m.Joints, func(f MachineFollow) bool { return f.Joint == name }) {
			r.KeyErrorf(p+".joints", "the driven joint %s of the chain follows no axis; want {%s: {axis: %s}}", name, name, c.Axes[0].Name)
		}
	}
	for i := range m.Joints {
		f := &m.Joints[i]
		at := p + ".joints." + f.Joint
		k := slices.Index(driven, f.Joint)
		a := c.ModelOf(f.Axis)
		switch {
		case r.HasProblem(at):
		case k < 0:
			c.unknownSignal(r, at, f.Joint, "driven joint of the chain", driven)
		case a == nil:
			c.unknownSignal(r, at+".axis", f.Axis, "axis", listOf(c.Axes, func(a Axis) string { return a.Name }))
		case f.FollowBy != models.ByMotion:
			r.KeyErrorf(at+".by", "%s: the driven joint of a chain on a beam is led by motion", f.FollowBy)
		case f.Ratio == 0:
			r.KeyErrorf(at+".ratio", "0, want another number")
		case a.Linear() != (m.chain.Manipulator.Joints[jointNumber(f.Joint)].Kind == "prismatic") && f.Ratio == 1:
			r.KeyErrorf(at+".ratio", "the axis %s is %s, and the joint is not: want the ratio between them", a.Name, a.Kind)
		}
	}
	r.ErrorIf(m.Audit, p+".audit", "a chain on a beam has none beside a rig; hil simulate sums its energies up")
	if r.HasProblem(p) {
		return
	}
	s, err := c.ChainModel(m)
	if err == nil {
		var model *models.Chain
		if model, err = models.NewChain(s); err == nil && len(model.Signals()) > maxSignalsShown {
			err = fmt.Errorf("outputs: %d numbers, want at most %d: choose, such as [%s, tip, lambda]", len(model.Signals()),
				maxSignalsShown, driven[0])
		}
	}
	if err != nil {
		refuseModel(r, p, err)
	}
}

// refuseModel reports at a model what its engine says against its file or its outputs.
func refuseModel(r *schema.Report, path string, err error) {
	text := strings.TrimPrefix(err.Error(), "machine: ")
	if strings.Contains(text, "outputs: ") {
		r.KeyErrorf(path+".outputs", "%s", strings.TrimPrefix(text, "outputs: "))
		return
	}
	r.KeyErrorf(path+".file", "%s", text)
}

// jointNumber is the place of q1 … in the chain.
func jointNumber(name string) (k int) {
	fmt.Sscanf(name, "q%d", &k)
	return k - 1
}

// ChainModel is what a model of a chain on a beam, in a file without problems, is built from; nil: the model is a machine.
func (c *Config) ChainModel(m *Model) (*models.ChainSpec, error) {
	if m.chain == nil {
		return nil, nil
	}
	chain, err := plant.New(m.chain.Params())
	if err != nil {
		return nil, err
	}
	s := &models.ChainSpec{Model: chain, Outputs: m.Outputs}
	for _, f := range m.Joints {
		at := slices.IndexFunc(c.Axes, func(a Axis) bool { return a.Name == f.Axis })
		s.Joints = append(s.Joints, models.ChainJoint{Joint: jointNumber(f.Joint), Axis: at, Ratio: f.Ratio, Offset: f.Offset})
	}
	return s, nil
}
