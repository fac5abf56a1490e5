package configs

import (
	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/hil"
	"hilrig/hil/axis"
	"hilrig/hil/dashboard"
	"hilrig/hil/protocol"
	"hilrig/hil/sink"
	"hilrig/hil/wire"
)

// Config describes one rig and how `hil run` treats it. Fields are SI after loading. The tags of a field are its law:
//
//	yaml   the key; own key names only, the walker of this package reads them
//	doc    what it means; goes into the schema and docs/reference/config.md
//	unit   the SI unit in which it is stored; in the file stands a plain number in that unit, or a number with any unit of
//	       the same dimension ("12 mN·m"). Alternatives that mean the same number are separated by |, the first is the
//	       one shown. "@unit" is the unit named by the sibling key unit: plain numbers are in that unit, and after
//	       loading both the number and the named unit are SI (degC alone stays degC)
//	delta  the number is a difference: "0.01 degC" is 0.01 K
//	want   the range of a number in SI, as comparisons: ">0 <=1"
//	auto   the default follows from other keys: from which
//	enum   the words that are possible, comma separated
//	parse  unit: the word is the unit of its siblings
//	secret may be ${VARIABLE}; never shown, recorded or hashed
//	names  the field holds the name of a section that stands in a list by name; what the names are
type Config struct {
	Version   int             `yaml:"version" doc:"format of this file, 2"`
	Rig       Rig             `yaml:"rig" doc:"who this is"`
	Loop      Loop            `yaml:"loop" doc:"how the tick is paced"`
	Devices   []Device        `yaml:"devices" doc:"the ports and the numbers that pass them, by name; up to eight"`
	Axes      []Axis          `yaml:"axes" doc:"the degrees of freedom, by name; up to four"`
	Mechanism *Mechanism      `yaml:"mechanism,omitempty" doc:"what joins the axes: bodies, by name. The torque that their wanted motion takes is fed forward. See docs/howto/mechanism.md"`
	Models    []Model         `yaml:"models,omitempty" doc:"what is computed beside the rig and only watched, by name; up to eight. See docs/reference/models.md"`
	Guard     hil.GuardLimits `yaml:"guard" doc:"what holds and trips the whole rig; limits of signals and axes stand with them"`
	MQTT      sink.MQTT       `yaml:"mqtt" doc:"telemetry"`
	Web       dashboard.Web   `yaml:"web" doc:"the page"`
	Record    sink.Record     `yaml:"record" doc:"the recording"`
	Virtual   *Virtual        `yaml:"virtual,omitempty" doc:"the plant of the virtual rig; used where the port of the devices is virtual, and by hil rig; left out: a plant just like the models of the axes"`
}

// Rig names the test rig.
type Rig struct {
	Name        string `yaml:"name" doc:"name of the rig: letters, digits, - and _; part of every topic"`
	Description string `yaml:"description,omitempty" doc:"one line for people"`
}

// Loop paces the tick.
type Loop struct {
	Rate    float64 `yaml:"rate" unit:"Hz" want:">=10 <=20000" doc:"ticks per second"`
	Clock   string  `yaml:"clock" doc:"wall: absolute deadlines of the host; the name of a device: deadlines follow its frames"`
	Overrun Overrun `yaml:"overrun" doc:"what happens when deadlines are missed"`
	CPU     int     `yaml:"cpu" want:">=-1 <=1023" doc:"processor the tick is pinned to; -1: the last that no other daemon ticks on"`
	Spin    float64 `yaml:"spin" unit:"s" want:">=0 <=0.0001" doc:"busy wait at the end of the sleep"`
	Beat    float64 `yaml:"beat" unit:"s" want:">=0.02 <=10" doc:"longest silence of the supervisor that the core tolerates"`
}

// Overrun says what happens when deadlines are missed.
type Overrun struct {
	Policy hil.OverrunPolicy `yaml:"policy" doc:"skip: skip missed ticks and count them; catch-up: run up to max missed ticks at once, then skip; hold, trip: skip and change the mode"`
	Max    int               `yaml:"max" want:">=0 <=1000" doc:"catch-up: ticks run at once; hold, trip: tolerated misses in a window of 100 ticks"`
	Limit  float64           `yaml:"limit" unit:"s" want:">0 <=10" doc:"a single miss longer than this trips under every policy"`
}

// Device is a port and the layout of its frames.
type Device struct {
	Name     string          `yaml:"-" names:"devices"`
	Port     string          `yaml:"port" doc:"serial port, or virtual for a virtual rig"`
	Baud     int             `yaml:"baud" want:">=1200 <=12000000" doc:"bits per second; 8 data bits, no parity and one stop bit where the protocol has no keys for them"`
	Protocol protocol.Choice `yaml:"protocol" doc:"link: COBS frames with CRC-16; line: text lines; modbus: registers of Modbus RTU slaves; ndi, xsens, vectornav, polhemus, fastrak, witmotion, bno08x: trackers, whose measurements are chosen by name (docs/reference/trackers.md)"`
	protocol.Sections
	Rate     float64   `yaml:"rate" unit:"Hz" want:">=0 <=20000" doc:"frames per second the device sends, or times per second it is asked; 0: the rate of the loop"`
	Required bool      `yaml:"required" doc:"true: it is there from the start, and a rig without it trips; false: it may come later and go, and only its age and its counters tell"`
	Status   string    `yaml:"status,omitempty" doc:"the measurement that is the status word of the device: 0 is healthy, anything else trips once the drive is on"`
	Measure  []Measure `yaml:"measure" doc:"what the device sends, in the order of the frame"`
	Command  []Command `yaml:"command,omitempty" doc:"what is sent to the device, in the order of the frame"`
}

// Measure is one number the device sends, in the order of the frame: value = raw·scale + offset, in Unit, which is SI. Elsewhere it
// is called by the name of its device, a dot and its own.
type Measure struct {
	wire.Field
	Range    [2]float64 `yaml:"range,omitempty" unit:"@unit" doc:"outside it the measurement is not believed; [0, 0]: no check"`
	Max      float64    `yaml:"max,omitempty" unit:"@unit" auto:"upper edge of the range" doc:"of a temperature: above it the rig trips"`
	Stale    float64    `yaml:"stale" unit:"s" want:">=0 <=60" auto:"five sample periods, at least 20 ms, for what an axis names; the same, at least 0.1 s and that of the position, for the status; 5 s for a temperature of a required device or with a limit; else 0" doc:"age at which the guard holds, and beyond which the value is not there any more; 0: not watched, and the value is there for ten of its usual intervals, 1 to 60 s. hil run --arm refuses 0 and more than 0.5 s (or five sample periods) for the position, the status and what a limit needs"`
	Optional bool       `yaml:"optional,omitempty" doc:"yes: the device may never send it. Else a rig is not READY before every measurement of its required devices came once"`
}

// Command is one number sent to the device: raw = (value − offset)/scale, rounded, value in Unit, which is SI.
type Command struct {
	wire.Field
	Limit [2]float64 `yaml:"limit" unit:"@unit" doc:"the command never leaves it"`
	Slew  float64    `yaml:"slew" unit:"@unit/s" want:">=0" doc:"largest change per second; 0: no limit"`
	Safe  float64    `yaml:"safe" unit:"@unit" doc:"value sent in every state but RUN and HOLD"`
}

// Axis is one degree of freedom: what it is measured and driven by, and what the controller believes of it.
type Axis struct {
	Name         string         `yaml:"-" names:"axes"`
	Kind         string         `yaml:"kind" enum:"rotary,linear" doc:"rotary: rad, N·m and kg·m²; linear: m, N and kg in their place, in every unit of the axis"`
	Position     string         `yaml:"position" doc:"the measurement of its position, such as drive.rotor.angle"`
	Velocity     string         `yaml:"velocity,omitempty" doc:"the measurement of its velocity, by a tacho; needs estimator.velocity_noise"`
	Current      string         `yaml:"current,omitempty" doc:"the measurement of the motor's current; left out: friction is estimated from the command alone, and currents are not guarded"`
	Effort       string         `yaml:"effort,omitempty" doc:"the measurement of the torque or force on it: the input of the estimate, but not with a voltage drive, where it is recorded only"`
	Drive        Drive          `yaml:"drive" doc:"what drives it"`
	Motor        *plant.Motor   `yaml:"motor,omitempty" doc:"voltage drive: the brushed motor as the model knows it"`
	Inertia      float64        `yaml:"inertia,omitempty" unit:"kg·m²|N·m·s²/rad" want:">=0 <=1e6" doc:"of all that moves; a voltage drive has motor.J for it. Left out with drive none or velocity: not known"`
	Friction     Friction       `yaml:"friction" doc:"the friction law as the model knows it: {law: lugre, sigma0: …}, with the parameters that hil laws NAME lists, and levels and viscosity of its own for v < 0 under backward: {Fc: …}; with drive velocity or none it may be left out. See docs/reference/laws.md"`
	Estimator    Estimator      `yaml:"estimator" doc:"Kalman filter and recursive least squares"`
	Reference    Reference      `yaml:"reference" unit:"reference" doc:"the desired motion, effort or command"`
	Control      Control        `yaml:"control" doc:"the position controller"`
	Compensation axis.CompSpec  `yaml:"compensation" doc:"what is added against friction"`
	Guard        hil.AxisLimits `yaml:"guard" doc:"what trips it"`
}

// Drive is what drives an axis.
type Drive struct {
	Kind    plant.DriveKind `yaml:"kind" doc:"what a command is: voltage on the winding of a brushed motor, current of a motor, effort (torque or force), or velocity that the drive controls by itself; none: nothing drives the axis"`
	Command string          `yaml:"command,omitempty" doc:"the command that drives it, such as drive.voltage"`
	Applied string          `yaml:"applied,omitempty" doc:"voltage: the measurement of what the drive applied, after its own limits; left out: the command"`
	Enable  string          `yaml:"enable,omitempty" doc:"the command that switches it on: 1 only in RUN and HOLD"`
	K       float64         `yaml:"K,omitempty" unit:"N·m/A|V·s/rad" want:">=0 <=1000" doc:"torque or force per ampere of a current drive, or of a measured current; a voltage drive has motor.K for it"`
}

// Reference is what an axis should do.
type Reference struct {
	Quantity axis.ReferenceOf `yaml:"of" doc:"position: followed by the controller; effort: the torque or force itself, without feedback; command: sent as it is, in the unit of the drive. The last two are for experiments: max_error does not count"`
	reference.Spec

	Times *float64 `yaml:"-"` // of the motion: reference.scale of a rig that runs; nil: 1
}

// Estimator is the Kalman filter for position, velocity, current and friction torque, and the recursive least squares.
type Estimator struct {
	PositionNoise float64 `yaml:"position_noise" unit:"rad" want:">=0 <=1000" doc:"standard deviation of the position measurement; 0: count/√12"`
	CurrentNoise  float64 `yaml:"current_noise" auto:"to be given where a current is measured" unit:"A" want:">=0 <=1e6" doc:"standard deviation of the current measurement"`
	VelocityNoise float64 `yaml:"velocity_noise,omitempty" unit:"rad/s" want:">=0 <=1e6" doc:"standard deviation of a measured velocity at rest"`
	VelocityShare float64 `yaml:"velocity_share,omitempty" want:">=0 <=1" doc:"what comes to that in motion, as a share of the velocity: 0.01 of a tacho of 1 %"`
	EffortWalk    float64 `yaml:"effort_walk" auto:"to be given where an effort is known" unit:"N·m/√s" want:">=0 <=1e9" doc:"random walk of friction and load"`
	EffortNoise   float64 `yaml:"effort_noise,omitempty" unit:"N·m" want:">=0 <=1e9" doc:"standard deviation of a torque or force that is measured or commanded; 0: of a measured current, current_noise"`
	AccelWalk     float64 `yaml:"acceleration_walk,omitempty" unit:"rad/(s²·√s)" want:">=0 <=1e12" doc:"random walk of the acceleration, of an axis whose inertia is not known"`
	VoltageNoise  float64 `yaml:"voltage_noise" unit:"V" want:">=0 <=1e6" doc:"standard deviation of the applied voltage"`
	Delay         float64 `yaml:"delay" unit:"s" want:">=0 <=0.1" doc:"age of a sample when it reaches the tick; the filter predicts across it"`
	RLS           RLS     `yaml:"rls" doc:"recursive least squares for inertia, viscous, Coulomb and offset torque"`
}

// RLS is the recursive least squares for inertia, viscous, Coulomb and offset torque.
type RLS struct {
	Enabled bool    `yaml:"enabled" doc:"estimate while running; wants position and current in one frame; slower samples than the loop give wider errors"`
	Memory  float64 `yaml:"memory" unit:"s" want:">=0 <=1e6" doc:"exponential forgetting: weight 1/e after this time; 0: no forgetting"`
	Window  float64 `yaml:"window" unit:"s" want:">0 <=60" doc:"length of the test functions of the weak form"`
	MinVel  float64 `yaml:"min_velocity" unit:"rad/s" want:">=0 <=1e6" doc:"windows that go below this speed are left out (Stribeck and presliding)"`
}

// Control is the position controller; its output is a torque or force, which the drive makes a command of, or the command of a velocity
// drive.
type Control struct {
	Kind string  `yaml:"kind" enum:"pd,pid" doc:"pd ignores ki"`
	Gain float64 `yaml:"gain,omitempty" unit:"1/s" want:">=0 <=1e6" doc:"velocity drive: velocity per position error, beside that of the reference; it takes the place of the other gains"`
	control.PID
}
