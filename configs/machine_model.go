package configs

import (
	"slices"

	"hilrig/configs/schema"
	"hilrig/engine/circuit"
	"hilrig/engine/machine"
	"hilrig/engine/plant"
	"hilrig/hil"
	"hilrig/hil/models"
)

// MachineKeys are those of a model of kind machine.
type MachineKeys struct {
	MachineSource
	Joints  []MachineFollow `yaml:"joints,omitempty" auto:"those with the name of an axis, by motion" doc:"of kind machine: joints that follow an axis, by name; of a chain on a beam q1 is the first"`
	Outputs []string        `yaml:"outputs,omitempty" doc:"of kind machine: the numbers that are shown: crank.q, pin.x; pin is all of pin; left out: all there are"`
	Audit   bool            `yaml:"audit" doc:"of kind machine: the powers that go in, turn into heat, are stored, and are missed by the step"`
}

// MachineFollow is a joint that follows an axis.
type MachineFollow struct {
	Joint    string          `yaml:"-" names:"joints"`
	Axis     string          `yaml:"axis" auto:"the axis of that name" doc:"the axis"`
	FollowBy models.FollowBy `yaml:"by" doc:"motion: the joint is led along the estimated motion, and what that takes is computed; current, effort, command: the measured current times K, the measured torque, or the command as it left pushes the joint, and the machine moves by itself. The command of a voltage drive is the voltage of the motor on the joint"`
	Ratio    float64         `yaml:"ratio" doc:"way of the joint for a unit of that of the axis"`
	Offset   float64         `yaml:"offset" unit:"rad|m" doc:"position of the joint where the axis is at 0"`
}

// SetDefaults is a joint that is the axis.
func (f *MachineFollow) SetDefaults() { f.Ratio = 1 }

// completeMachine reads the machine of a model.
func (c *Config) completeMachine(r *schema.Report, m *Model, dir string) {
	if m.Kind != models.MachineChoice || r.HasProblem(m.path()) {
		return
	}
	m.MachineSource.read(r, m.path(), dir)
	if m.chain != nil {
		c.completeChain(m)
		return
	}
	if m.run != nil && len(m.Joints) == 0 {
		for _, a := range c.Axes {
			if b, _ := m.run.joint(a.Name); b != nil {
				m.Joints = append(m.Joints, MachineFollow{Joint: a.Name, Ratio: 1})
			}
		}
	}
	for i := range m.Joints {
		if f := &m.Joints[i]; f.Axis == "" {
			f.Axis = f.Joint
			if c.ModelOf(f.Joint) == nil && len(c.Axes) == 1 {
				f.Axis = c.Axes[0].Name
			}
		}
	}
}

// maxSignalsShown is the number of signals that one machine may show.
const maxSignalsShown = 96

// checkMachine looks at a machine beside the rig.
func (c *Config) checkMachine(r *schema.Report, m *Model) {
	p := m.path()
	if m.chain != nil {
		c.checkChain(r, m)
		return
	}
	if m.MachineSource.reportAbsence(r, p) || r.HasProblem("axes") {
		return
	}
	if len(m.Joints) == 0 {
		r.KeyErrorf(p+".joints", "no joint has the name of an axis; want {JOINT: {axis: %s}}", c.Axes[0].Name)
		return
	}
	if len(m.run.Machine.Rows) > 0 {
		r.KeyErrorf(p+".file", "the machine has rows, which say nothing of where a joint is when it is brought to where its axis is; leave "+
			"them out, or take the machine as the plant of virtual")
		return
	}
	for i := range m.Joints {
		f := &m.Joints[i]
		at := p + ".joints." + f.Joint
		b, all := m.run.joint(f.Joint)
		a := c.ModelOf(f.Axis)
		switch {
		case r.HasProblem(at):
		case b == nil:
			c.unknownSignal(r, at, f.Joint, "revolute or prismatic joint", all)
		case a == nil:
			c.unknownSignal(r, at+".axis", f.Axis, "axis", listOf(c.Axes, func(a Axis) string { return a.Name }))
		case a.Linear() != (b.Joint.Kind == "prismatic") && f.Ratio == 1:
			r.KeyErrorf(at+".ratio", "the joint is %s and the axis %s is %s: want the ratio between them", b.Joint.Kind, a.Name, a.Kind)
		case f.Ratio == 0:
			r.KeyErrorf(at+".ratio", "0, want another number")
		case b.Joint.Motion != nil || b.Joint.Effort != nil:
			r.KeyErrorf(at, "the machine file gives the joint a motion or an effort already; leave it out there")
		case m.run.Machine.setBy(f.Joint+".effort") != "":
			r.KeyErrorf(at, "the controller %s of the machine file acts on the joint, which follows an axis; leave it out there",
				m.run.Machine.setBy(f.Joint+".effort"))
		case f.FollowBy == models.ByCurrent && (a.Current == "" || a.MotorModel().K == 0):
			r.KeyErrorf(at+".by", "current: the axis %s has no measured current, or no K", a.Name)
		case f.FollowBy == models.ByEffort && a.Effort == "":
			r.KeyErrorf(at+".by", "effort: of the axis %s none is measured", a.Name)
		case f.FollowBy == models.ByCommand && a.Drive.Kind == plant.VoltageDrive:
			m.checkMotor(r, at, f.Joint)
		case f.FollowBy == models.ByCommand && !a.Drive.Kind.Forces():
			r.KeyErrorf(at+".by", "command: that of %s is not known to be an effort: its drive is of kind %s", a.Name, a.Drive.Kind)
		}
	}
	if r.HasProblem(p) {
		return
	}
	model, err := models.NewMachine(c.MachineModel(m))
	if err != nil {
		refuseModel(r, p, err)
		return
	}
	joints := listOf(m.Joints, func(f MachineFollow) string { return f.Joint })
	m.run.withDrivenJoints(joints, false).checkStep(r, p+".file", joints, 1/c.Loop.Rate)
	n := len(model.Signals())
	r.ErrorIf(n > maxSignalsShown, p+".outputs", "%d numbers, want at most %d of the %d that a row holds: choose, such as [%s, %s.q]", n,
		maxSignalsShown, hil.MaxSignals, m.Joints[0].Joint, m.Joints[0].Joint)
}

// checkMotor wants one motor on a joint, for the voltage.
func (m *Model) checkMotor(r *schema.Report, at, joint string) {
	n, nodes := 0, false
	for _, k := range m.run.Machine.Motors {
		if k.Joint == joint {
			n, nodes = n+1, nodes || len(k.Nodes) > 0 || k.Kind != "dc" || m.run.Machine.setBy(k.Name+".voltage") != ""
		}
	}
	r.ErrorIf(n != 1 || nodes, at+".by",
		"command: the drive of the axis is a voltage; want one dc motor with a voltage on the joint %s in the machine file", joint)
}

// MachineModel is what a model of kind machine, in a file without problems, is built from.
func (c *Config) MachineModel(m *Model) *models.MachineSpec {
	s := &models.MachineSpec{Outputs: m.Outputs, Audit: m.Audit}
	voltages := map[string]*circuit.Held{}
	var driven []string
	for _, f := range m.Joints {
		at := slices.IndexFunc(c.Axes, func(a Axis) bool { return a.Name == f.Axis })
		a := &c.Axes[at]
		j := models.Following{Joint: f.Joint, Axis: at, Source: f.FollowBy, Ratio: f.Ratio, Offset: f.Offset, K: a.MotorModel().K}
		switch {
		case f.FollowBy == models.ByCommand && a.Drive.Kind == plant.VoltageDrive:
			j.Voltage = new(circuit.Held)
			voltages[f.Joint] = j.Voltage
		case f.FollowBy == models.ByCommand && a.Drive.Kind == plant.EffortDrive:
			j.K = 1
		}
		if j.Voltage == nil {
			driven = append(driven, f.Joint)
		}
		s.Joints = append(s.Joints, j)
	}
	run := m.run.withDrivenJoints(driven, false).supplied(voltages)
	s.Stepper = func(o machine.StepOptions) (*machine.Stepper, []float64, error) { return run.Stepper(o) }
	return s
}
