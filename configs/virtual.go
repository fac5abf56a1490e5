package configs

import (
	"cmp"
	"slices"

	"hilrig/configs/schema"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
)

// VirtualPort is the port name that stands for the virtual rig.
const VirtualPort = "virtual"

// Virtual is what stands behind the ports of a virtual rig: the plant, which is the truth that the model of an axis may know only
// roughly, the firmware of its boards, its sensors, and what happens to all of them.
type Virtual struct {
	Seed      uint64          `yaml:"seed" doc:"of all noise; the same seed gives the same run"`
	InnerRate float64         `yaml:"inner_rate" unit:"Hz" want:">=10000 <=1000000" doc:"steps of the plant per second; a multiple of the rates of loop and device. A plant of kind brush has brush.step"`
	Plant     VirtualPlant    `yaml:"plant" doc:"what moves"`
	Devices   []VirtualDevice `yaml:"devices,omitempty" doc:"the firmware of the devices, by their names"`
	Sensors   []VirtualSensor `yaml:"sensors,omitempty" doc:"what measures, by the measurement: drive.rotor.angle. Left out: the plant's own number for what the axis uses it for, as fine as its frame"`
	Script    []VirtualEvent  `yaml:"script,omitempty" doc:"what happens to the plant and its sensors, and when"`
}

// SetDefaults of the virtual rig.
func (v *Virtual) SetDefaults() {
	v.Seed, v.InnerRate = 1, 20000
	v.Plant.SetDefaults()
}

// PlantKind is a kind of plant: one of package plant, the motor whose brushes are simulated, or a ball.
type PlantKind string

const (
	motorPlant PlantKind = "motor"
	stagePlant PlantKind = "stage"
	brushPlant PlantKind = "brush"
	armPlant   PlantKind = "two-link"
	ballPlant  PlantKind = "ball"
	// an axis is a joint of a machine
	machinePlant PlantKind = "machine"
)

// Words are the kinds.
func (PlantKind) Words() []string {
	return append(listOf(plant.Kinds, func(k plant.Kind) string { return k.Name }), string(brushPlant), string(ballPlant),
		string(machinePlant))
}

// VirtualPlant is a plant with its axes.
type VirtualPlant struct {
	Kind    PlantKind     `yaml:"kind" auto:"motor; stage where the first axis is linear" doc:"motor: shafts on motors; stage: slides on a line; pendulum: rods that swing under gravity; two-link: planar arm; brush: a motor whose brushes are simulated (docs/reference/brush-loop.md); ball: a ball that rolls in front of a motion-capture system (docs/howto/ball-rig.md); machine: the axes are joints of a machine of bodies and loops (docs/reference/machine.md). Where it is left out, keys below speak of rad and N·m"`
	Supply  [2]float64    `yaml:"supply" unit:"V" doc:"of all drives: a voltage saturates there, and a current where a resistance is known"`
	Axes    []VirtualAxis `yaml:"axes,omitempty" auto:"the axes of the file" doc:"the axes of the plant, by name. Those of the file need not be named; others are there and nobody drives them. An arm's first one is its shoulder"`
	TwoLink *TwoLink      `yaml:"two_link,omitempty" doc:"the links of an arm, kind two-link"`
	Brush   *BrushRig     `yaml:"brush,omitempty" doc:"the motor's brushes by their model, kind brush; the friction beside it is that of the bearings: left out, the model's less that of the brushes"`
	Machine *PlantMachine `yaml:"machine,omitempty" doc:"the machine whose joints the axes are, kind machine"`
	Ball    *BallRig      `yaml:"ball,omitempty" doc:"the ball, its start and the camera, kind ball; every frame of the camera is a step, so inner_rate is not used"`
}

// SetDefaults of a plant: the supply of the demo.
func (p *VirtualPlant) SetDefaults() { p.Supply = [2]float64{-24, 24} }

// Units makes the axes speak of m, N and kg on a line, of rad, N·m and kg·m² where they turn.
func (p *VirtualPlant) Units() func(tag string) string {
	if p.linear() {
		return linearTag
	}
	return rotaryTag
}

// AllUnits are both.
func (*VirtualPlant) AllUnits(tag string) []string { return bothUnits(tag) }

func (p *VirtualPlant) linear() bool {
	k := plant.Find(string(p.Kind))
	return k != nil && k.Linear
}

// PlantMachine is the machine behind the axes of a virtual rig.
type PlantMachine struct {
	MachineSource
	Outputs []string `yaml:"outputs,omitempty" doc:"numbers of the machine that stand behind those of the axes, and that sensors may measure: rocker.q; pin is all of pin"`
}

// TwoLink are the links of an arm, in the units that they name.
type TwoLink struct{ plant.TwoLink }

// Units are what tags say: a length is in m though the arm turns.
func (*TwoLink) Units() func(tag string) string { return func(tag string) string { return tag } }

// AllUnits is that one.
func (*TwoLink) AllUnits(tag string) []string { return []string{tag} }

// SetDefaults of an arm that hangs.
func (l *TwoLink) SetDefaults() { l.Gravity = 9.81 }

// VirtualAxis is an axis of the plant. What is left out is as the model of the axis has it.
type VirtualAxis struct {
	Name     string        `yaml:"-" names:"axes"`
	Motor    *plant.Motor  `yaml:"motor,omitempty" auto:"as the model" doc:"the true motor of a voltage drive; J is the rotor alone"`
	K        float64       `yaml:"K" unit:"N·m/A" want:">=0 <=1e6" auto:"as the model" doc:"effort per current of a drive that is not a voltage; 0: there is no current"`
	Inertia  float64       `yaml:"inertia" unit:"kg·m²|N·m·s²/rad" want:">=0 <=1e6" auto:"as the model" doc:"what moves, where the drive is not a voltage"`
	LoadJ    float64       `yaml:"load_inertia" unit:"kg·m²|N·m·s²/rad" want:">=0 <=1e6" doc:"added to motor.J or inertia"`
	Drive    VirtualDrive  `yaml:"drive" doc:"what turns the command into an effort"`
	Friction Friction      `yaml:"friction" auto:"that of the axis" doc:"the true friction, by any law that moves a mass: one with a stick mode has no backward"`
	Cogging  float64       `yaml:"cogging" unit:"N·m" want:">=0" doc:"amplitude of the cogging torque"`
	CoggingN int           `yaml:"cogging_periods" want:">=0 <=10000" doc:"periods of the cogging torque per turn"`
	Gravity  float64       `yaml:"gravity" unit:"N·m" want:">=0" doc:"torque of gravity on a pendulum that stands out horizontally; it hangs at 0"`
	Stops    plant.Stops   `yaml:"stops" doc:"the ends of the travel"`
	Start    float64       `yaml:"start" unit:"rad" doc:"where it rests at the start"`
	Load     float64       `yaml:"load" unit:"N·m" doc:"constant load against positive motion"`
	Thermal  plant.Thermal `yaml:"thermal" doc:"drift with the motor's own heat; of one brush where those are simulated"`
}

// SetDefaults of an axis of the plant.
func (a *VirtualAxis) SetDefaults() {
	a.Thermal = plant.Thermal{Resistance: 10, Capacity: 20, Ambient: 20}
}

// VirtualDrive is the true drive of an axis.
type VirtualDrive struct {
	Kind      DriveName `yaml:"kind,omitempty" auto:"that of the axis; none where nothing drives it" doc:"what the command is"`
	Bandwidth float64   `yaml:"bandwidth" unit:"Hz" want:">=0 <=1e6" doc:"current: of its loop, of first order; 0: it follows at once"`
	Kp        float64   `yaml:"kp" unit:"N·m·s/rad" want:">=0" doc:"velocity: effort per error of speed"`
	Ki        float64   `yaml:"ki" unit:"N·m/rad" want:">=0" doc:"velocity: effort per integral of that error"`
	Limit     Amount    `yaml:"limit,omitempty" auto:"the limit of the command" doc:"current: of the current; effort, velocity: of the effort"`
}

// DriveName is the name of a kind of drive of package plant.
type DriveName string

// Words are the names.
func (DriveName) Words() []string { return plant.VoltageDrive.Words() }

// is tells whether it is that kind.
func (n DriveName) is(k plant.DriveKind) bool { return string(n) == k.String() }

// VirtualDevice is the firmware of a device.
type VirtualDevice struct {
	Name     string  `yaml:"-" names:"devices"`
	Pacing   bool    `yaml:"pacing" doc:"bytes leave at the baud rate"`
	Watchdog float64 `yaml:"watchdog" unit:"s" want:">=0.001 <=10" doc:"the firmware switches its drives off after this silence"`
	ClockPPM float64 `yaml:"clock_drift" unit:"ppm" want:">=-1000 <=1000" doc:"drift of the device clock"`
}

// SetDefaults of a board with the manners of one.
func (d *VirtualDevice) SetDefaults() { d.Pacing, d.Watchdog = true, 0.05 }

// VirtualSensor is what measures a signal. Amounts are in the unit of the signal.
type VirtualSensor struct {
	Name     string `yaml:"-" names:"measurements"`
	Quantity string `yaml:"of,omitempty" auto:"what the axis uses it for" doc:"the number of the plant that it measures, such as shaft.position"`
	Counts   int    `yaml:"counts" want:">=0 <=16777216" doc:"of an encoder, per turn; 0: as fine as the frame"`
	Step     Amount `yaml:"step,omitempty" doc:"the reading is a whole multiple of it; in place of counts"`
	Noise    Amount `yaml:"noise,omitempty" doc:"standard deviation, white"`
	Offset   Amount `yaml:"offset,omitempty" doc:"of the reading"`
}

// VirtualEvent is something that happens to the virtual rig. The time counts from its start.
type VirtualEvent struct {
	Time   float64     `yaml:"at" unit:"s" want:">=0" doc:"when"`
	For    float64     `yaml:"for" unit:"s" want:">=0" doc:"how long, then it is as before; 0: to the end"`
	Set    string      `yaml:"set,omitempty" doc:"what changes: supply, shaft.load or shaft.temperature, with the names of the axes"`
	To     Amount      `yaml:"to,omitempty" doc:"what it changes to; of the supply the upper edge, and the lower one in proportion"`
	Sensor string      `yaml:"sensor,omitempty" doc:"the measurement that goes wrong, in place of set"`
	Fault  plant.Fault `yaml:"fault" doc:"how. stuck: it says what it said; lost: it says nothing; offset: it says so much more; delay: it says what was right so long ago"`
	Amount Amount      `yaml:"by,omitempty" doc:"how much: of an offset in the unit of the measurement, of a delay in s"`
}

// IsVirtual tells whether the ports stand for a virtual rig.
func (c *Config) IsVirtual() bool {
	return slices.ContainsFunc(c.Devices, func(d Device) bool { return d.isVirtual() })
}

func (d *Device) isVirtual() bool { return d.Port == VirtualPort }

// Firmware is that of a device of the virtual rig.
func (c *Config) Firmware(d *Device) VirtualDevice {
	if c.Virtual != nil {
		if i := slices.IndexFunc(c.Virtual.Devices, func(v VirtualDevice) bool { return v.Name == d.Name }); i >= 0 {
			return c.Virtual.Devices[i]
		}
	}
	v := VirtualDevice{Name: d.Name}
	v.SetDefaults()
	return v
}

// ModelOf is the axis of the file that an axis of the plant is the truth of; nil: there is none.
func (c *Config) ModelOf(name string) *Axis {
	if i := slices.IndexFunc(c.Axes, func(a Axis) bool { return a.Name == name }); i >= 0 {
		return &c.Axes[i]
	}
	return nil
}

// path is where the axis of the plant stands in the file.
func (a *VirtualAxis) path() string { return "virtual.plant.axes." + a.Name }

// completeVirtual makes the plant of a virtual rig as the models of the axes where the file does not say otherwise.
func (c *Config) completeVirtual(r *schema.Report, dir string) {
	if c.Virtual == nil && c.IsVirtual() {
		c.Virtual = schema.New[Virtual]()
	}
	if c.Virtual == nil {
		return
	}
	p := &c.Virtual.Plant
	if p.Kind == "" {
		p.Kind = motorPlant
		if len(c.Axes) > 0 && c.Axes[0].Linear() {
			p.Kind = stagePlant
		}
	}
	if p.Kind == brushPlant {
		if p.Brush == nil {
			p.Brush = schema.New[BrushRig]()
		}
		if p.Brush.Parameters == nil { // switched off: as left out
			p.Brush.Parameters = schema.New[RigBrush]()
		}
	}
	if p.Machine != nil {
		p.Machine.read(r, "virtual.plant.machine", dir)
	}
	if p.Kind == ballPlant {
		if p.Ball == nil {
			p.Ball = schema.New[BallRig]()
		}
		p.Ball.fillDefaults()
		return // what watches it is no axis of it
	}
	for _, a := range c.Axes {
		if !slices.ContainsFunc(p.Axes, func(v VirtualAxis) bool { return v.Name == a.Name }) {
			v := schema.New[VirtualAxis]()
			v.Name = a.Name
			p.Axes = append(p.Axes, *v)
		}
	}
	for i := range p.Axes {
		v := &p.Axes[i]
		if a := c.ModelOf(v.Name); a != nil {
			c.completeTruth(r, v, a)
		}
		v.Drive.Kind = cmp.Or(v.Drive.Kind, DriveName(plant.NoDrive.String()))
	}
}

// completeTruth takes over what the file does not say of an axis of the plant.
func (c *Config) completeTruth(r *schema.Report, v *VirtualAxis, a *Axis) {
	v.Drive.Kind = cmp.Or(v.Drive.Kind, DriveName(a.Drive.Kind.String()))
	p, model := v.path(), a.MotorModel()
	if v.Drive.Kind.is(plant.VoltageDrive) {
		if v.Motor == nil && a.Motor != nil {
			v.Motor = &model
			r.Copied(p+".motor", a.path()+".motor")
		}
	} else {
		if v.K == 0 && !r.HasKey(p+".K") {
			v.K = model.K
		}
		if v.Inertia == 0 && !r.HasKey(p+".inertia") && c.Virtual.Plant.Kind != machinePlant {
			v.Inertia = model.J
		}
	}
	own := c.Virtual.Plant.jointFriction(v.Name)
	switch {
	case v.Friction.Model != nil || r.HasProblem(p+".friction"):
	case own != nil:
		v.Friction = *own
	case a.Friction.Model == nil: // the model knows none, or it is missing there
		v.Friction = Friction{Law{Name: "viscous", Label: "viscous", Model: &friction.Viscous{Delta: 1}}}
	case c.Virtual.Plant.Kind == brushPlant: // what is left for the bearings
		v.Friction, _ = a.Friction.less(c.BrushFriction())
	default:
		v.Friction = a.Friction
		r.Copied(p+".friction", a.path()+".friction")
	}
}
