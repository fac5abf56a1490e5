package configs

import (
	"fmt"
	"math"
	"slices"

	"hilrig/configs/schema"
	"hilrig/engine/multibody"
	"hilrig/engine/spelling"
	"hilrig/identify/machine"
)

// MachineFit describes how the parameters of a machine are found from recorded positions and torques of its joints. Numbers follow the
// rules of Config.
type MachineFit struct {
	Version     int               `yaml:"version" doc:"format of this file, 1"`
	Name        string            `yaml:"name" doc:"name of the fit"`
	Description string            `yaml:"description,omitempty" doc:"one line for people"`
	Machine     string            `yaml:"machine" doc:"file of the machine, relative to this file: a tree of revolute and prismatic joints. Its masses, inertias and friction are where the fit starts, and stay where the records say nothing"`
	Data        MachineFitData    `yaml:"data" doc:"the records that are fitted"`
	Validate    []string          `yaml:"validate,omitempty" doc:"records with the same columns, explained by the parameters but not used to find them"`
	Terms       []machine.Term    `yaml:"terms" doc:"what is fitted, of every joint"`
	ByDirection bool              `yaml:"by_direction" doc:"friction of its own for each direction; wants terms without offset"`
	Filter      MachineFitFilter  `yaml:"filter" doc:"the zero-phase Butterworth low-pass of positions, torques and signs of velocity"`
	Instruments MachineFitIV      `yaml:"instruments" doc:"instrumental variables: positions of a simulation in place of noisy ones"`
	Uncertainty machine.Uncertain `yaml:"uncertainty" doc:"standard uncertainty of what the files give and the records do not tell for sure. The intervals hold what it does; 0: taken for exact"`
	Decimate    int               `yaml:"decimate" want:">=0 <=10000" doc:"every n-th sample is a row, after a zero-phase filter of both sides; 0: four rows in a period of the cutoff; of one joint as for an axis"`
	Trim        *float64          `yaml:"trim,omitempty" unit:"s" want:">=0" doc:"left out at each end of a record; without it two periods of the cutoff; of one joint as for an axis"`
	RequireFit  float64           `yaml:"require_fit" unit:"%" want:">=0 <=100" doc:"a fit below this is a missed quality gate; 0: no gate"`

	run *MachineRun
}

// MachineFitData are the records of a machine with the columns of its joints.
type MachineFitData struct {
	MachineRecords
	Joints []MachineFitJoint `yaml:"joints" doc:"columns of each joint, by the name of its body; every joint of the machine is here"`
}

// MachineFitJoint are the columns of a joint.
type MachineFitJoint struct {
	Name        string         `yaml:"-" names:"joints"`
	Position    IdentifyColumn `yaml:"position" doc:"of the joint, as the machine counts it"`
	Velocity    IdentifyColumn `yaml:"velocity" doc:"as measured; checked against the position"`
	Passive     bool           `yaml:"passive" doc:"no drive acts on this joint: its torque is zero, but for its friction, and it has no column"`
	Torque      IdentifyColumn `yaml:"torque" doc:"torque or force of the drive on the joint, positive in the direction of positive position; a current with the constant of motor and gear as its gain"`
	Reference   IdentifyColumn `yaml:"reference" doc:"position that the controller was told; the simulation of the instruments follows it where all joints have it"`
	MinVelocity *float64       `yaml:"min_velocity,omitempty" unit:"rad/s|m/s" want:">=0" doc:"slower samples do not count for this joint; 0: none; left out: what the position cannot tell from rest"`
}

// MachineFitFilter is a low-pass.
type MachineFitFilter struct {
	Order  int     `yaml:"order" want:">=1 <=12" doc:"of one pass"`
	Cutoff float64 `yaml:"cutoff" unit:"Hz" want:">=0" doc:"−3 dB of one pass, −6 dB of both; 0: 10 Hz, or a fifth of a lower sampling rate; of a machine of one joint as for an axis"`
	Signs  bool    `yaml:"signs" doc:"the signs of velocity pass it too, as the friction in the torque does; false: as in much that is published, and Coulomb friction comes out smaller"`
}

// MachineFitIV are the instruments.
type MachineFitIV struct {
	Use       machine.Use `yaml:"use" doc:"check: least squares gives the values and is compared with them; estimate: they give the values"`
	Bandwidth float64     `yaml:"bandwidth" unit:"Hz" want:">=0" doc:"of what the simulation takes from positions and torques; 0: a quarter of the cutoff"`
}

// DefaultMachineFit is what a file to identify a machine starts from.
func DefaultMachineFit() *MachineFit {
	return &MachineFit{Version: 1, Data: MachineFitData{MachineRecords: MachineRecords{Records: defaultRecords()}},
		Terms: machine.DefaultSpec().Terms, Filter: MachineFitFilter{Order: 4, Signs: true}, Instruments: MachineFitIV{Use: machine.UseCheck}}
}

// NewMachineFit is a file to identify a machine that no file describes, and that is called name in messages.
func NewMachineFit(name string, m Machine) *MachineFit {
	c := DefaultMachineFit()
	c.Machine, c.run = name, DefaultMachineRun()
	c.run.Machine = m
	return c
}

// LoadMachineFit reads and checks a file to identify a machine, and the file of its machine. Paths come back joined to the folder of the
// file.
func LoadMachineFit(path string) (*MachineFit, []schema.Problem, error) {
	return fromFile(path, MachineFitBytes)
}

// MachineFitBytes is LoadMachineFit of a file in memory. The file of the machine is read.
func MachineFitBytes(name string, data []byte) (*MachineFit, []schema.Problem, error) {
	c := DefaultMachineFit()
	return loadOfMachine(name, data, c, c)
}

func (c *MachineFit) parts() (int, *string, *MachineRecords, []string) {
	return c.Version, &c.Machine, &c.Data.MachineRecords, c.Validate
}

// Files are all files that the fit reads.
func (c *MachineFit) Files() []string {
	return slices.Concat([]string{c.Machine}, c.run.Files(), c.Data.Files(), c.Validate)
}

// check looks at what the tags cannot say, but for the machine.
func (c *MachineFit) check(r *schema.Report) {
	r.FirstErrorIf(len(c.Terms) == 0, "terms", "empty, want at least one")
	r.ErrorIf(c.ByDirection && slices.Contains(c.Terms, machine.Offset) && !r.HasProblem("terms"), "by_direction",
		"friction of each direction and an offset look the same in motion; give terms without offset")
}

// checkMachine reads the file of the machine, and compares its joints with those of the data. The error is about that file.
func (c *MachineFit) checkMachine(r *schema.Report) error {
	run, _, err := LoadMachine(c.Machine)
	if err != nil {
		return err
	}
	c.run = run
	m := &run.Machine
	refuse := func(section string, names ...string) {
		for _, n := range names {
			r.KeyErrorf("machine", "%s has %s.%s: the torques of a tree are linear in its parameters; what ties joints together passes forces "+
				"that were not recorded. Identify the parts by themselves, or leave it out of the file",
				c.Machine, section, n)
		}
	}
	refuse("loops", listOf(m.Loops, func(l MachineLoop) string { return l.Name })...)
	refuse("couplings", listOf(m.Couplings, func(l MachineCoupling) string { return l.Name })...)
	refuse("forces", listOf(m.Forces, func(l MachineForce) string { return l.Name })...)
	refuse("springs", listOf(m.Springs, func(l MachineSpring) string { return l.Name })...)
	refuse("shafts", listOf(m.Shafts, func(l MachineShaft) string { return l.Name })...)
	refuse("belts", listOf(m.Belts, func(l MachineBelt) string { return l.Name })...)
	refuse("stops", listOf(m.Stops, func(l MachineStop) string { return l.Name })...)
	var joints []string
	for i := range m.Bodies {
		b := &m.Bodies[i]
		r.ErrorIf(b.Flexible != nil, "machine", "body %s of %s is flexible: its torques are not linear in ten inertial parameters. Fit it by "+
			"its response, docs/reference/identify-response.md, or make it rigid", b.Name, c.Machine)
		switch b.Joint.Kind {
		case "fixed":
			continue
		case "revolute", "prismatic":
			joints = append(joints, b.Name)
		default:
			r.KeyErrorf("machine", "joint %s of %s is %s, want revolute or prismatic joints: the fit takes one position and one torque for each",
				b.Name, c.Machine, b.Joint.Kind)
		}
	}
	r.ErrorIf(len(joints) == 0, "machine", "no joint of %s moves", c.Machine)
	for _, name := range joints {
		if i := slices.IndexFunc(c.Data.Joints, func(j MachineFitJoint) bool { return j.Name == name }); i < 0 && !r.HasProblem("data.joints") {
			r.Errorf("data.joints", "data.joints.%s is missing: the machine has this joint, and its position and torque have a part in all "+
				"others; a joint that was held is fixed in the file of the machine", name)
		}
	}
	for i := range c.Data.Joints {
		j := &c.Data.Joints[i]
		at := schema.Join("data.joints", j.Name)
		if !slices.Contains(joints, j.Name) {
			r.KeyErrorf(at, "the machine has no moving joint of this name%s", spelling.DidYouMean(j.Name, joints))
			continue
		}
		for _, ch := range c.channels(j) {
			path := at + "." + ch.Key
			switch {
			case r.HasProblem(path):
			case ch.Column.Name != "" && ch.Key == "torque" && j.Passive:
				r.KeyErrorf(path, "the joint is passive, its torque is zero; leave one of them out")
			case ch.Column.Name == "" && ch.Key == "torque" && !j.Passive:
				r.Errorf(path, "%s.name is missing: the column of the file that holds it; passive: true if no drive acts on the joint", path)
			default:
				ch.Column.check(r, path, ch.SI, ch.Key == "position")
			}
		}
	}
	return nil
}

// Rotary tells whether a joint turns.
func (c *MachineFit) Rotary(joint string) bool {
	i := slices.IndexFunc(c.run.Machine.Bodies, func(b MachineBody) bool { return b.Name == joint })
	return i >= 0 && c.run.Machine.Bodies[i].Joint.Kind == "revolute"
}

// channels are the columns of a joint with the unit of what they hold.
func (c *MachineFit) channels(j *MachineFitJoint) []IdentifyChannel {
	unit := []string{"m", "m/s", "N"}
	if c.Rotary(j.Name) {
		unit = []string{"rad", "rad/s", "N·m"}
	}
	return []IdentifyChannel{{"position", unit[0], j.Position}, {"velocity", unit[1], j.Velocity}, {"torque", unit[2], j.Torque},
		{"reference", unit[0], j.Reference}}
}

// Model is the machine of the fit, with the Coulomb friction of its file by joint.
func (c *MachineFit) Model() (m *multibody.Model, coulomb []float64, err error) {
	spec := multibody.Spec{Gravity: vector(c.run.Machine.Gravity)}
	for i := range c.run.Machine.Bodies {
		spec.Bodies = append(spec.Bodies, c.run.Machine.body(&c.run.Machine.Bodies[i]))
	}
	if m, err = multibody.Build(spec); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", c.Machine, err)
	}
	coulomb = make([]float64, m.NV())
	for i := range coulomb {
		if k := c.bodyOf(machine.JointName(m, i)); k.Joint.Friction.Model != nil {
			if x := k.Joint.Friction.param("Fc"); !math.IsNaN(x) {
				coulomb[i] = x
			}
		}
	}
	return m, coulomb, machine.Check(m)
}

func (c *MachineFit) bodyOf(name string) *MachineBody {
	for i := range c.run.Machine.Bodies {
		if b := &c.run.Machine.Bodies[i]; b.Name == name {
			return b
		}
	}
	return nil
}

// Joint are the columns of a joint.
func (c *MachineFit) Joint(name string) *MachineFitJoint {
	i := slices.IndexFunc(c.Data.Joints, func(j MachineFitJoint) bool { return j.Name == name })
	return &c.Data.Joints[i]
}

// Section is the data section of one joint as that of an axis, with the identification file that it would stand in. whole: without span,
// which belongs to the records that are fitted.
func (c *MachineFit) Section(joint string, whole bool) *Identify {
	out := DefaultIdentify()
	j := c.Joint(joint)
	if c.Rotary(joint) {
		out.Axis = "rotary"
	}
	d := &c.Data
	out.Name, out.Data = c.Name, IdentifyData{Records: d.Records,
		Columns: IdentifyColumns{Time: d.Time, Position: j.Position, Velocity: j.Velocity, Force: j.Torque, Reference: j.Reference}}
	if whole {
		out.Data.Span = [2]float64{}
	}
	return out
}

// Spec is what the fit asks of package identify/machine.
func (c *MachineFit) Spec(m *multibody.Model) machine.Spec {
	s := machine.Spec{Terms: c.Terms, ByDirection: c.ByDirection, Order: c.Filter.Order, Cutoff: c.Filter.Cutoff, RawSigns: !c.Filter.Signs,
		Decimate: c.Decimate, Trim: machine.FromRecord,
		Instruments: c.Instruments.Use, Bandwidth: c.Instruments.Bandwidth, Uncertain: c.Uncertainty}
	if c.Trim != nil {
		s.Trim = *c.Trim
	}
	for i := range m.NV() {
		least := machine.FromRecord
		if j := c.Joint(machine.JointName(m, i)); j.MinVelocity != nil {
			least = *j.MinVelocity
		}
		s.MinVelocity = append(s.MinVelocity, least)
		s.Passive = append(s.Passive, c.Joint(machine.JointName(m, i)).Passive)
	}
	return s
}
