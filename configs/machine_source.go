package configs

import (
	"cmp"
	"os"
	"slices"

	"hilrig/configs/schema"
	"hilrig/engine/circuit"
	"hilrig/engine/reference"
)

// MachineSource is a machine file that a rig names. A recording has its text.
type MachineSource struct {
	File string `yaml:"file,omitempty" doc:"of kind machine: a machine file, see docs/reference/machine.md, or of a model a chain on a beam, see docs/reference/beam.md; its duration and table are not used"`
	Text string `yaml:"text,omitempty" doc:"of kind machine: what is in the file. A recording has it, so that a replay needs no other file"`

	run   *MachineRun     `yaml:"-"` // nil: it was bad, or missing, or is a chain
	chain *ManipulatorRun `yaml:"-"` // of a chain on a beam
}

// Equal tells whether both are the same machine.
func (s MachineSource) Equal(o MachineSource) bool { return s.File == o.File && s.Text == o.Text }

// read loads the machine; path is where it stands in the rig file, which lies in the folder dir.
func (s *MachineSource) read(r *schema.Report, path, dir string) {
	if s.Text == "" && s.File != "" {
		joinPaths(dir, &s.File)
		text, err := os.ReadFile(s.File)
		if err != nil {
			r.KeyErrorf(path+".file", "%v", err)
			return
		}
		s.Text = string(text)
	}
	if s.Text == "" {
		return
	}
	name := cmp.Or(s.File, path+".text")
	var warnings []schema.Problem
	var err error
	if kindOf([]byte(s.Text)) == ManipulatorFile {
		s.chain, warnings, err = ManipulatorRunBytes(name, []byte(s.Text))
	} else {
		s.run, warnings, err = MachineBytes(name, []byte(s.Text))
	}
	if err != nil {
		s.run, s.chain = nil, nil
		r.KeyErrorf(path+".file", "%v", err)
	}
	for _, w := range warnings {
		r.KeyWarnf(path+".file", "%s: %s", name, w.Msg)
	}
}

// reportAbsence reports a machine that is not there; false: it was there, or is bad.
func (s *MachineSource) reportAbsence(r *schema.Report, path string) bool {
	switch {
	case s.run != nil || r.HasProblem(path):
		return s.run == nil
	case s.chain != nil:
		r.KeyErrorf(path+".file", "a chain on a beam can be a model beside the rig, and not its plant")
		return true
	}
	r.KeyErrorf(path+".file", "is missing: the name of a machine file, such as machine/crank-rocker.yaml")
	return true
}

// joint is the body of a name and its joint, which has one coordinate; else nil, and all that have one.
func (c *MachineRun) joint(name string) (b *MachineBody, all []string) {
	for i := range c.Machine.Bodies {
		if one := &c.Machine.Bodies[i]; one.Joint.Kind == "revolute" || one.Joint.Kind == "prismatic" {
			all = append(all, one.Name)
			if one.Name == name {
				b = one
			}
		}
	}
	return b, all
}

// withDrivenJoints is the machine with joints that something else drives: motors on them leave their rotors alone, and their friction goes
// with what drives them if it does.
func (c *MachineRun) withDrivenJoints(joints []string, friction bool) *MachineRun {
	out := *c
	m := &out.Machine
	m.Bodies = slices.Clone(m.Bodies)
	for i := range m.Bodies {
		b := &m.Bodies[i]
		if !slices.Contains(joints, b.Name) {
			continue
		}
		for _, k := range m.Motors {
			if k.Joint == b.Name {
				b.Joint.Armature += k.Gear * k.Gear * k.Rotor
			}
		}
		if friction {
			b.Joint.JointFriction = JointFriction{}
		}
	}
	m.Controllers = m.controllersWithout(func(name string) bool { k := m.motor(name); return k != nil && slices.Contains(joints, k.Joint) })
	m.Motors = slices.DeleteFunc(slices.Clone(m.Motors), func(k MachineMotor) bool { return slices.Contains(joints, k.Joint) })
	return &out
}

// supplied is the machine with a motor whose voltage is held from outside.
func (c *MachineRun) supplied(voltages map[string]*circuit.Held) *MachineRun {
	out := *c
	m := &out.Machine
	m.Motors = slices.Clone(m.Motors)
	for i := range m.Motors {
		if by := voltages[m.Motors[i].Joint]; by != nil {
			m.Motors[i].Voltage = &Signal{gen: reference.Generator(by)}
		}
	}
	return &out
}
