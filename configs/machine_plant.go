package configs

import (
	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/machine"
	"hilrig/engine/plant"
	"hilrig/engine/plant/linkage"
)

// jointFriction is that of the joint of the machine that an axis is; nil: there is none.
func (p *VirtualPlant) jointFriction(axis string) *Friction {
	if p.Kind != machinePlant || p.Machine == nil || p.Machine.run == nil {
		return nil
	}
	if b, _ := p.Machine.run.joint(axis); b != nil && b.Joint.Friction.Model != nil && b.Joint.Smoothing == 0 {
		return &b.Joint.Friction
	}
	return nil
}

// linkage is the machine behind the axes of the virtual rig. The inertia of rotors is that of the machine: what the file says of an axis's
// own is not used.
func (c *Config) linkage() (*linkage.Plant, error) {
	p := &c.Virtual.Plant
	s := linkage.Spec{Watch: p.Machine.Outputs}
	var joints []string
	for _, a := range p.Axes {
		truth := c.Truth(a.Name)
		truth.Motor.J, truth.LoadJ, truth.Linear = 0, 0, false
		if b, _ := p.Machine.run.joint(a.Name); b != nil {
			truth.Linear = b.Joint.Kind == "prismatic"
		}
		s.Axes = append(s.Axes, truth)
		joints = append(joints, a.Name)
	}
	run := p.Machine.run.withDrivenJoints(joints, true)
	s.Stepper = func(o machine.StepOptions) (*machine.Stepper, []float64, error) { return run.Stepper(o) }
	return linkage.New(s)
}

// linkageOutputs are the numbers of the machine behind the rig; none where its section has problems.
func (c *Config) linkageOutputs() []engine.Signal {
	if c.Virtual.Plant.Machine == nil || c.Virtual.Plant.Machine.run == nil {
		return nil
	}
	p, err := c.linkage()
	if err != nil {
		return nil
	}
	return p.Layout().Outputs
}

// checkLinkage looks at the machine behind the axes.
func (c *Config) checkLinkage(r *schema.Report) {
	const at = "virtual.plant.machine"
	p := &c.Virtual.Plant
	if p.Machine.reportAbsence(r, at) {
		return
	}
	for i := range p.Axes {
		a := &p.Axes[i]
		b, all := p.Machine.run.joint(a.Name)
		if b == nil {
			c.unknownSignal(r, a.path(), a.Name, "revolute or prismatic joint of the machine", all)
			continue
		}
		r.ErrorIf(b.Joint.Nominal > 0 || b.Joint.asks(), a.path()+".friction", "the force that the joint carries acts on its friction in the "+
			"machine file, and an axis does not know it: take friction_load, or mu, out there")
		if b.Joint.Smoothing > 0 {
			r.KeyErrorf(a.path()+".friction", "leave friction_speed of the joint out of the machine file: an axis sticks")
		}
		r.ErrorIf(b.Joint.Motion != nil || b.Joint.Effort != nil, a.path(),
			"the machine file gives the joint a motion or an effort already; leave it out there")
		by := p.Machine.run.Machine.setBy(a.Name + ".effort")
		r.ErrorIf(by != "", a.path(), "the controller %s of the machine file acts on the joint, which the axis drives; leave it out there", by)
		if m := c.ModelOf(a.Name); m != nil && m.Linear() != (b.Joint.Kind == "prismatic") && !r.HasProblem(m.path()+".kind") {
			r.KeyErrorf(m.path()+".kind", "%s, but the joint of the machine is %s", m.Kind, b.Joint.Kind)
		}
		for key, x := range map[string]float64{"inertia": a.Inertia, "load_inertia": a.LoadJ, "start": a.Start} {
			r.ErrorIf(x != 0, a.path()+"."+key,
				"of a plant of kind machine the machine file says it: inertia and armature of the joint, joint.position")
		}
	}
	if r.HasProblem("virtual.plant") || r.HasProblem("axes") || len(p.Axes) == 0 || len(p.Axes) > plant.MostAxes {
		return
	}
	if _, err := c.linkage(); err != nil {
		r.KeyErrorf(at, "%v", err)
		return
	}
	joints := listOf(p.Axes, func(a VirtualAxis) string { return a.Name })
	if c.Virtual.InnerRate > 0 {
		p.Machine.run.withDrivenJoints(joints, true).checkStep(r, at+".file", joints, 1/c.Virtual.InnerRate)
	}
}

const (
	coarseSteps = 200
	coarseError = 0.01 // of the state, above which a step is too coarse
)

// checkStep warns of a fixed step of h (s) that a machine is too fast for, by its motion from the start of its file with the joints pushed
// off.
func (c *MachineRun) checkStep(r *schema.Report, at string, joints []string, h float64) {
	found, err := machine.MeasureCoarseness(func() (*machine.Stepper, []float64, error) { return c.Stepper(machine.StepOptions{}) }, joints,
		h, coarseSteps)
	switch {
	case err != nil: // said where it is built
	case found.Reason != "":
		r.KeyWarnf(at, "a trial of the machine by itself with steps of %s s fails after %s s: %s", schema.Short(h), schema.Short(found.T),
			found.Reason)
	case found.Error > coarseError:
		r.KeyWarnf(at, "steps of %s s are too coarse for this machine: by itself, pushed off from the start of its file, its %s is off by %.2g "+
			"of one plus its size within %s s, as half steps say. Take a faster rate: half the step has a quarter of the error", schema.Short(h),
			found.Signal, found.Error, schema.Short(found.T))
	}
}
