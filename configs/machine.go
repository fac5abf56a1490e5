package configs

import (
	"path/filepath"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/multibody"
)

// MachineRun describes a machine of bodies, joints, loops, drive train and circuit, to be simulated. Numbers follow the rules of Config.
type MachineRun struct {
	Version     int            `yaml:"version" doc:"format of this file, 1"`
	Name        string         `yaml:"name" doc:"name of the run"`
	Description string         `yaml:"description,omitempty" doc:"one line for people"`
	Machine     Machine        `yaml:"machine" doc:"the machine"`
	Start       MachineStart   `yaml:"start" doc:"how positions and velocities of the file become those of the start"`
	Duration    float64        `yaml:"duration" unit:"s" want:">0 <=1e6" doc:"length of the run"`
	Tolerance   float64        `yaml:"tolerance" want:">=1e-13 <=1e-3" doc:"relative error of a step"`
	Formulation string         `yaml:"constraints" enum:"projection,ggl,partition" doc:"how loops are kept closed. projection: the state is brought back after each step, by the shortest way; partition: the independent coordinates stay, and the dependent ones follow them; ggl: positions and velocities have multipliers of their own, the stabilised form of index 2 by an implicit method of order 5, about eight times as slow"`
	Outputs     MachineOutputs `yaml:"outputs" doc:"what is kept"`
}

// Machine is what moves.
type Machine struct {
	Gravity     [3]float64          `yaml:"gravity" unit:"m/s²" doc:"along x, y and z"`
	Bodies      []MachineBody       `yaml:"bodies" doc:"bodies, by name, each with the joint that carries it"`
	Frames      []MachineFrame      `yaml:"frames,omitempty" doc:"places on bodies, by name"`
	Loops       []MachineLoop       `yaml:"loops,omitempty" doc:"joints that close loops, by name"`
	Couplings   []MachineCoupling   `yaml:"couplings,omitempty" doc:"gears, belts and differentials that do not yield, by name: a sum of joint positions stays"`
	Springs     []MachineSpring     `yaml:"springs,omitempty" doc:"springs and dampers between two places, by name"`
	Forces      []MachineForce      `yaml:"forces,omitempty" doc:"forces and moments from outside on places of bodies, by name"`
	Motors      []MachineMotor      `yaml:"motors,omitempty" doc:"electric motors on joints, by name"`
	Circuit     []CircuitElement    `yaml:"circuit,omitempty" doc:"what stands between the nodes of motors, by name. The node ground has the potential 0"`
	Magnets     []MachineMagnet     `yaml:"magnets,omitempty" doc:"electromagnets and coils of relays on joints, by name"`
	Controllers []MachineController `yaml:"controllers,omitempty" doc:"controllers as a part of the machine, by name"`
	Rows        []MachineRow        `yaml:"rows,omitempty" doc:"constraints between speeds of joints and charges, currents and their rates, by name: Σ of·speed + Σ charge·ξ + Σ current·i + Σ rate·di/dt + offset = 0. The joints feel them, the circuit does not"`
	Shafts      []MachineShaft      `yaml:"shafts,omitempty" doc:"springs and dampers between two joints, behind a gear or not, by name"`
	Belts       []MachineBelt       `yaml:"belts,omitempty" doc:"belts over two pulleys, by name"`
	Stops       []MachineStop       `yaml:"stops,omitempty" doc:"backlash between two joints, or ends of the travel of one, by name"`
}

// MachineBody is a body and its joint.
type MachineBody struct {
	Name     string       `yaml:"-" names:"bodies"`
	Parent   string       `yaml:"parent" doc:"the body that its joint sits on, or ground; of a flexible one a place: BODY.tip"`
	Location [3]float64   `yaml:"at" unit:"m" doc:"place of the joint in the axes of the parent"`
	Turn     [3]float64   `yaml:"turn" unit:"rad" doc:"rotation vector from the axes of the parent to those of the joint"`
	RPY      [3]float64   `yaml:"rpy" unit:"rad" doc:"the same as roll, pitch and yaw about the fixed axes of the parent, as URDF has it; instead of turn"`
	Joint    MachineJoint `yaml:"joint" doc:"how the body moves on its parent. The axes of the body are those of the joint on its side"`
	Mass     float64      `yaml:"mass" unit:"kg" want:">=0" doc:"of the body; 0: it has inertia from joint.armature or from what it carries"`
	Com      [3]float64   `yaml:"com" unit:"m" doc:"centre of mass in axes of the body"`
	Inertia  [3]float64   `yaml:"inertia" unit:"kg·m²" doc:"Ixx, Iyy, Izz about the centre of mass, in axes of the body"`
	Products [3]float64   `yaml:"products" unit:"kg·m²" doc:"Ixy, Ixz, Iyz with the sign of the matrix, −∫xy dm"`
	InertiaZ float64      `yaml:"inertia_z" unit:"kg·m²" want:">=0" doc:"for a machine in the plane of x and y: Izz of a flat body, whose Ixx and Iyy are half of it; instead of inertia"`
	Flexible *MachineBeam `yaml:"flexible,omitempty" doc:"an elastic beam in place of mass and inertia"`
	Start    MachinePlace `yaml:"start" doc:"where a spherical or free joint starts"`
}

// MachinePlace is a pose and its rate.
type MachinePlace struct {
	Turn   [3]float64 `yaml:"turn" unit:"rad" doc:"rotation vector from the axes of the joint to those of the body"`
	Origin [3]float64 `yaml:"at" unit:"m" doc:"free joint: origin of the body in the axes of the joint"`
	Omega  [3]float64 `yaml:"omega" unit:"rad/s" doc:"angular velocity relative to the parent, in axes of the body"`
	Speed  [3]float64 `yaml:"speed" unit:"m/s" doc:"free joint: velocity of the origin relative to the parent, in axes of the body"`
}

// MachineJoint moves a body.
type MachineJoint struct {
	Kind      string     `yaml:"kind" enum:"revolute,prismatic,spherical,free,fixed" doc:"revolute: turns about axis; prismatic: slides along axis; spherical: turns any way; free: moves any way; fixed: not at all. A prismatic joint speaks of m, N and kg"`
	Axis      [3]float64 `yaml:"axis" doc:"revolute, prismatic: direction in axes of the body, any length; [0, 0, 0]: z"`
	Position  float64    `yaml:"position" unit:"rad" doc:"revolute, prismatic: at the start"`
	Velocity  float64    `yaml:"velocity" unit:"rad/s" doc:"revolute, prismatic: at the start"`
	Armature  float64    `yaml:"armature" unit:"kg·m²|N·m·s²/rad" want:">=0" doc:"inertia of a rotor as the joint feels it: times the square of its gear's ratio"`
	Damping   float64    `yaml:"damping" unit:"N·m·s/rad|N·m·s" want:">=0" doc:"viscous; not of a free joint"`
	Stiffness float64    `yaml:"stiffness" unit:"N·m/rad" want:">=0" doc:"revolute, prismatic: spring"`
	Rest      float64    `yaml:"rest" unit:"rad" doc:"where the spring is relaxed"`
	JointFriction
	Effort *Signal `yaml:"effort,omitempty" unit:"N·m" doc:"revolute, prismatic: torque or force from outside, a number or a generator"`
	Motion *Signal `yaml:"motion,omitempty" unit:"rad" doc:"revolute, prismatic: prescribed motion; the torque that it takes is a result"`
}

// JointFriction is that of a joint of the tree or of a loop.
type JointFriction struct {
	Friction  Friction `yaml:"friction,omitempty" auto:"none" doc:"revolute, prismatic, point: by any law: {law: lugre, …}; hil laws lists them"`
	Smoothing float64  `yaml:"friction_speed" unit:"rad/s" want:">=0" doc:"for laws with a stick mode, such as coulomb: speed over which the sign of the velocity is smoothed, tanh(v/friction_speed). What should stick creeps then. 0: the law as it is: the joint sticks and breaks away"`
	Radius    float64  `yaml:"friction_radius" unit:"m|m" want:">=0" doc:"of a journal bearing whose law has mu: friction is mu times the force that the joint carries times this. A prismatic joint needs none"`
	Nominal   float64  `yaml:"friction_load" unit:"N|N" want:">=0" doc:"force that the joint carries across its motion to which the numbers of the law belong: friction is in proportion to it. 0: it has no effect, but with mu"`
}

// Units make a prismatic joint speak of m, N and kg.
func (j *MachineJoint) Units() func(tag string) string {
	if j.Kind == "prismatic" {
		return linearTag
	}
	return rotaryTag
}

// AllUnits are both.
func (*MachineJoint) AllUnits(tag string) []string { return bothUnits(tag) }

// MachineFrame is a place on a body.
type MachineFrame struct {
	Name     string     `yaml:"-" names:"frames"`
	Body     string     `yaml:"body" doc:"a body, or ground"`
	Location [3]float64 `yaml:"at" unit:"m" doc:"in axes of the body"`
	Turn     [3]float64 `yaml:"turn" unit:"rad" doc:"rotation vector from axes of the body"`
}

// MachineLoop closes a loop.
type MachineLoop struct {
	Name   string     `yaml:"-" names:"loops"`
	Kind   string     `yaml:"kind" enum:"fixed,revolute,prismatic,cylindrical,spherical,point,distance" doc:"what b may do as seen from a. fixed: nothing; revolute: turn about z; prismatic: slide along z; cylindrical: both; spherical: turn any way; point: its origin stays on z of a, the joint of a machine in the plane of x and y; distance: its origin stays at length"`
	A      string     `yaml:"a" doc:"a body, a frame, or ground"`
	B      string     `yaml:"b" doc:"a body, a frame, or ground"`
	AtA    [3]float64 `yaml:"at_a" unit:"m|m" doc:"place in axes of a"`
	AtB    [3]float64 `yaml:"at_b" unit:"m|m" doc:"place in axes of b"`
	TurnA  [3]float64 `yaml:"turn_a" unit:"rad|rad" doc:"rotation vector from axes of a to those of the joint"`
	TurnB  [3]float64 `yaml:"turn_b" unit:"rad|rad" doc:"rotation vector from axes of b to those of the joint"`
	Length float64    `yaml:"length" unit:"m|m" want:">=0" doc:"of a distance"`
	JointFriction
}

// Units make the friction of a prismatic loop speak of m and N.
func (l *MachineLoop) Units() func(tag string) string {
	if l.Kind == "prismatic" {
		return linearTag
	}
	return rotaryTag
}

// AllUnits are both.
func (*MachineLoop) AllUnits(tag string) []string { return bothUnits(tag) }

// MachineSpring pulls two places together.
type MachineSpring struct {
	Name      string     `yaml:"-" names:"springs"`
	A         string     `yaml:"a" doc:"a body, a frame, or ground"`
	B         string     `yaml:"b" doc:"a body, a frame, or ground"`
	AtA       [3]float64 `yaml:"at_a" unit:"m" doc:"place in axes of a"`
	AtB       [3]float64 `yaml:"at_b" unit:"m" doc:"place in axes of b"`
	Stiffness float64    `yaml:"stiffness" unit:"N/m" want:">=0" doc:"times distance less length"`
	Damping   float64    `yaml:"damping" unit:"N·s/m" want:">=0" doc:"times the rate of the distance"`
	Length    float64    `yaml:"length" unit:"m" want:">=0" doc:"distance at which it is relaxed"`
}

// MachineForce acts on a place of a body.
type MachineForce struct {
	Name      string     `yaml:"-" names:"forces"`
	Target    string     `yaml:"on" doc:"a body, a frame, or BODY.tip of one that bends"`
	Point     [3]float64 `yaml:"at" unit:"m" doc:"point of attack in axes of on"`
	Direction [3]float64 `yaml:"along" doc:"direction, any length"`
	Axes      string     `yaml:"axes" enum:"world,body" doc:"of along. world: the direction stays; body: it turns with on"`
	Force     *Signal    `yaml:"force,omitempty" unit:"N" doc:"along it, a number or a generator"`
	Torque    *Signal    `yaml:"torque,omitempty" unit:"N·m" doc:"moment about it, a number or a generator"`
}

// SetDefaults is a direction of the world.
func (f *MachineForce) SetDefaults() { f.Axes = "world" }

// MachineCoupling is Σ factor·position = offset.
type MachineCoupling struct {
	Name    string             `yaml:"-" names:"couplings"`
	Factors map[string]float64 `yaml:"of" doc:"factor of each joint: {motor: 1, wheel: -10} turns the motor ten times for one turn of the wheel"`
	Offset  float64            `yaml:"offset" doc:"what the sum is, rad or m"`
}

// MachineStart says how the start is made consistent.
type MachineStart struct {
	Hold   []string `yaml:"hold,omitempty" doc:"joints whose position and velocity stay as given while loops are closed"`
	Limit  float64  `yaml:"limit" want:">=0" doc:"how far (rad, m) another joint may be moved to close the loops; 0: any way. What was moved is reported"`
	Rest   bool     `yaml:"equilibrium" doc:"start at rest in the static equilibrium that is found from the positions of the file, under the efforts, springs and voltages at the start"`
	Refuse bool     `yaml:"refuse" doc:"a start that misses a constraint by more than 1e-6 (rad, m) is refused in place of being moved"`
}

// MachineOutputs says what a run keeps.
type MachineOutputs struct {
	RowInterval float64  `yaml:"every" unit:"s" want:">=0" doc:"time between rows; 0: 1000 rows in all"`
	Frames      []string `yaml:"frames,omitempty" doc:"frames and bodies whose origin in the world stands in the table too"`
}

// DefaultMachineRun is what a machine file starts from.
func DefaultMachineRun() *MachineRun {
	return &MachineRun{Version: 1, Tolerance: 1e-10, Formulation: multibody.ByProjection, Machine: Machine{Gravity: [3]float64{0, 0, -9.81}}}
}

// LoadMachine reads and checks a machine file. Relative paths of input files start at its folder. The error is *Errors and holds every
// problem.
func LoadMachine(path string) (*MachineRun, []schema.Problem, error) {
	return fromFile(path, MachineBytes)
}

// MachineBytes is LoadMachine of a file in memory.
func MachineBytes(name string, data []byte) (*MachineRun, []schema.Problem, error) {
	c := DefaultMachineRun()
	return load(name, data, c, func(r *schema.Report) {
		for _, s := range c.signals() {
			joinPaths(filepath.Dir(name), &s.signal.File)
		}
		c.Check(r)
	})
}

// Files are the files that the run reads.
func (c *MachineRun) Files() (paths []string) {
	for _, s := range c.signals() {
		if s.signal.File != "" {
			paths = append(paths, s.signal.File)
		}
	}
	return paths
}

// machineSignal is a function of time of a machine, with its place and unit.
type machineSignal struct {
	signal    *Signal
	path      string
	unit      string
	fadeStart float64 // where a fade starts
}

// signals are all of them.
func (c *MachineRun) signals() (list []machineSignal) {
	m := &c.Machine
	add := func(s *Signal, unit string, from float64, path ...string) {
		if s == nil {
			return
		}
		at := "machine"
		for _, p := range path {
			at = schema.Join(at, p)
		}
		list = append(list, machineSignal{s, at, unit, from})
	}
	for i := range m.Bodies {
		b := &m.Bodies[i]
		effort, position := "N·m", "rad"
		if b.Joint.Kind == "prismatic" {
			effort, position = "N", "m"
		}
		add(b.Joint.Effort, effort, 0, "bodies", b.Name, "joint.effort")
		add(b.Joint.Motion, position, b.Joint.Position, "bodies", b.Name, "joint.motion")
	}
	for i := range m.Forces {
		f := &m.Forces[i]
		add(f.Force, "N", 0, "forces", f.Name, "force")
		add(f.Torque, "N·m", 0, "forces", f.Name, "torque")
	}
	for i := range m.Motors {
		k := &m.Motors[i]
		add(k.Voltage, "V", 0, "motors", k.Name, "voltage")
		add(k.Ud, "V", 0, "motors", k.Name, "ud")
		add(k.Uq, "V", 0, "motors", k.Name, "uq")
	}
	for i := range m.Rows {
		add(m.Rows[i].Offset, "rad/s", 0, "rows", m.Rows[i].Name, "offset")
	}
	for i := range m.Controllers {
		k := &m.Controllers[i]
		in, _ := k.units()
		in, _, _ = strings.Cut(in, "|")
		add(k.Reference, in, 0, "controllers", k.Name, "reference")
		add(k.ID, "A", 0, "controllers", k.Name, "id")
		add(k.IQ, "A", 0, "controllers", k.Name, "iq")
	}
	for i := range m.Magnets {
		add(m.Magnets[i].Voltage, "V", 0, "magnets", m.Magnets[i].Name, "voltage")
	}
	for i := range m.Circuit {
		e := &m.Circuit[i]
		add(e.Voltage, "V", 0, "circuit", e.Name, "voltage")
		add(e.Current, "A", 0, "circuit", e.Name, "current")
		add(e.Control, "", 0, "circuit", e.Name, "closed")
		if e.PWM != nil {
			add(e.PWM.Duty, "", 0, "circuit", e.Name, "pwm.duty")
		}
	}
	return list
}
