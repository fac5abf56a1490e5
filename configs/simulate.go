package configs

import (
	"math"
	"path/filepath"
	"slices"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/control"
	"hilrig/engine/experiment"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
)

// Simulate describes a run without hardware: a plant, one friction law or several that go through the same run, an input.
// Numbers follow the rules of Config. On a rotary axis N·m, rad and kg·m² take the place of N, m and kg in every unit, the
// normal load included: there it stands for the load times its effective radius [MOGI] (6.1).
type Simulate struct {
	Version     int             `yaml:"version" doc:"format of this file, 1"`
	Name        string          `yaml:"name" doc:"name of the run"`
	Description string          `yaml:"description,omitempty" doc:"one line for people"`
	Axis        string          `yaml:"axis" enum:"linear,rotary" doc:"linear: m, N, kg; rotary: rad, N·m, kg·m²; a motor is rotary"`
	Plant       SimPlant        `yaml:"plant" doc:"what the law works in"`
	Friction    Laws            `yaml:"friction" doc:"a law, or a list of laws that go through the same run"`
	Normal      *Signal         `yaml:"normal,omitempty" unit:"N" doc:"normal load, for laws that ask for it; a number or a generator"`
	Current     *Signal         `yaml:"current,omitempty" unit:"A" doc:"current through the contact, for laws that ask for it; a number or a generator"`
	Control     *SimControl     `yaml:"control,omitempty" doc:"controlled-mass: what moves it"`
	Input       Signal          `yaml:"input" unit:"input" doc:"position, velocity, force or voltage by plant.kind, or the reference of a controller; a number or a generator"`
	Initial     SimInitial      `yaml:"initial" doc:"where the run starts; the contact starts relaxed"`
	Scheme      friction.Scheme `yaml:"scheme" doc:"how a law is coupled to a mass; laws with a stick mode have their own"`
	Step        float64         `yaml:"step" unit:"s" want:">0" doc:"length of a step"`
	Duration    float64         `yaml:"duration" unit:"s" want:">0 <=1e9" doc:"length of the run"`
	OverLimit   string          `yaml:"over_limit" enum:"refuse,substep" doc:"a step beyond the limit of the scheme is refused or divided"`
	Outputs     SimOutputs      `yaml:"outputs" doc:"what is kept"`
	Events      SimEvents       `yaml:"events" doc:"what counts as rest"`
	Sensors     *SimSensors     `yaml:"sensors,omitempty" doc:"what stands between the run and the CSV; left out: the CSV is exact"`
}

// SimPlant is a plant. Which numbers matter depends on Kind.
type SimPlant struct {
	Kind       experiment.Plant `yaml:"kind" doc:"drawn-mass: a mass on a spring whose far end follows the input; imposed-force: a mass under the input; controlled-mass: a mass that a controller leads along the input; imposed-velocity, imposed-motion: the contact itself follows the input; motor: a motor axis under the voltage of the input"`
	Mass       float64          `yaml:"mass" unit:"kg" want:">=0" doc:"drawn-mass, imposed-force, controlled-mass"`
	Spring     float64          `yaml:"spring" unit:"N/m" want:">=0" doc:"drawn-mass: to the moving end; imposed-force, controlled-mass: to the ground"`
	Damper     float64          `yaml:"damper" unit:"N·s/m" want:">=0" doc:"beside the spring"`
	Motor      *plant.Motor     `yaml:"motor,omitempty" doc:"the motor, with the keys of a rig file"`
	LoadJ      float64          `yaml:"load_inertia" unit:"kg·m²|N·m·s²/rad" want:">=0" doc:"motor: added to its own"`
	LoadTorque float64          `yaml:"load_torque" unit:"N·m" doc:"motor: constant torque against positive motion"`
	Cogging    float64          `yaml:"cogging" unit:"N·m" want:">=0" doc:"motor: amplitude of the cogging torque"`
	CoggingN   int              `yaml:"cogging_periods" want:">=0 <=10000" doc:"motor: periods of the cogging torque per turn"`
	Thermal    *plant.Thermal   `yaml:"thermal,omitempty" doc:"motor: drift with its own heat; left out: none"`
}

// SimControl is a controller, with the keys of a rig file.
type SimControl struct {
	Quantity string  `yaml:"of" enum:"position,velocity" doc:"what it holds: the input is its reference"`
	Kp       float64 `yaml:"kp" unit:"#kp" want:">=0 <=1e9" doc:"proportional gain"`
	Ki       float64 `yaml:"ki" unit:"#ki" want:">=0 <=1e9" doc:"integral gain"`
	Kd       float64 `yaml:"kd" unit:"#kd" want:">=0 <=1e9" doc:"of a position: derivative gain"`
	Limit    float64 `yaml:"limit" unit:"N" want:">=0 <=1e9" doc:"largest force asked for; 0: none"`
	DeadZn   float64 `yaml:"dead_zone" unit:"#of" want:">=0" doc:"the integral rests inside it (no hunting)"`
	Period   float64 `yaml:"period" unit:"s" want:">=0" doc:"from sample to sample of a controller that holds its force, a whole number of steps; 0: continuous"`
}

// SimInitial is where a run starts.
type SimInitial struct {
	Position float64 `yaml:"position" unit:"m" doc:"of the mass or contact"`
	Velocity float64 `yaml:"velocity" unit:"m/s" doc:"of the mass; an imposed motion brings its own"`
}

// SimOutputs says what a run keeps.
type SimOutputs struct {
	RowInterval float64  `yaml:"every" unit:"s" want:">=0" doc:"time between rows, a whole number of steps; 0: by decimate"`
	Decimate    int      `yaml:"decimate" want:">=0" doc:"every n-th step is kept; 0: all, up to 200 000 rows"`
	Columns     []string `yaml:"columns" enum:"position,velocity,friction,load,input,mean_velocity,work,states,current,temperature" doc:"columns of the CSV, beside time_s"`
}

// SimEvents says what counts as rest.
type SimEvents struct {
	Speed float64 `yaml:"speed" unit:"m/s" want:">=0" doc:"threshold of break-away and arrest; 0: a fifth of the speed over which the law changes, the smallest of all laws"`
	Rest  float64 `yaml:"rest" unit:"s" want:">=0" doc:"shorter rests are passages through zero"`
}

// DefaultSimulate is what a simulation file starts from.
func DefaultSimulate() *Simulate {
	return &Simulate{
		Version: 1, Axis: "linear", OverLimit: "refuse", Step: 1e-3,
		Outputs: SimOutputs{Columns: []string{"position", "velocity", "friction", "load", "input", "work"}},
		Events:  SimEvents{Rest: 0.01},
	}
}

// LoadSimulate reads and checks a simulation file. The error is *Errors and holds every problem; warnings are legal settings
// worth a thought. Relative paths of input files start at the folder of the file.
func LoadSimulate(path string) (c *Simulate, warnings []schema.Problem, err error) {
	return fromFile(path, SimulateBytes)
}

// SimulateBytes is LoadSimulate for a file that is already in memory; name appears in messages.
func SimulateBytes(name string, data []byte) (c *Simulate, warnings []schema.Problem, err error) {
	c = DefaultSimulate()
	return load(name, data, c, func(r *schema.Report) {
		joinPaths(filepath.Dir(name), c.files()...)
		c.Check(r)
	})
}

// files are the paths of its signals that stand in files.
func (c *Simulate) files() (paths []*string) {
	for _, s := range []*Signal{&c.Input, c.Normal, c.Current} {
		if s != nil && s.File != "" {
			paths = append(paths, &s.File)
		}
	}
	return paths
}

// Files are the files that the run reads.
func (c *Simulate) Files() []string { return listOf(c.files(), behind) }

// Rotary tells whether the axis turns.
func (c *Simulate) Rotary() bool { return c.Axis == "rotary" }

// Unit is the unit of a quantity on this axis: Unit("N/m") is N·m/rad on a rotary one.
func (c *Simulate) Unit(linear string) string { return engine.UnitOn(c.Rotary(), linear) }

// ControlUnit is the unit of a key of the controller, such as #kp.
func (c *Simulate) ControlUnit(tag string) string {
	return c.Unit(gainUnits[c.Control.Quantity == "velocity"][tag])
}

// Spec is the controller for an experiment.
func (k *SimControl) Spec() experiment.Control {
	return experiment.Control{PID: control.PID{Kp: k.Kp, Ki: k.Ki, Kd: k.Kd, Limit: k.Limit, DeadZone: k.DeadZn},
		Speed: k.Quantity == "velocity", Period: k.Period}
}

// InputUnit is the unit of the input.
func (c *Simulate) InputUnit() string {
	of := ""
	if c.Control != nil {
		of = c.Control.Quantity
	}
	return c.Unit(inputUnit(c.Plant.Kind, of))
}

// inputUnit is the unit of the input of a plant, whose controller holds a position or a velocity.
func inputUnit(plant experiment.Plant, of string) string {
	if plant == experiment.ControlledMass && of == "velocity" {
		return "m/s"
	}
	return plant.Info().Unit
}

// gainUnits are the units of a controller, of a position or (true) of a velocity.
var gainUnits = map[bool]map[string]string{
	false: {"#kp": "N/m", "#ki": "N/(m·s)", "#kd": "N·s/m", "#of": "m"},
	true:  {"#kp": "N·s/m", "#ki": "N/m", "#kd": "kg", "#of": "m/s"},
}

// UnitTags makes the unit tags follow axis and plant.
func (c *Simulate) UnitTags(word func(path ...string) string) func(string) string {
	axis, of := word("axis"), word("control", "of")
	plant := experiment.Plant(max(0, slices.Index(experiment.Plant(0).Words(), word("plant", "kind"))))
	rotary := axis == "rotary" || axis == "" && plant == experiment.MotorAxis
	return func(tag string) string {
		switch tag {
		case "input":
			tag = inputUnit(plant, of)
		case "#kp", "#ki", "#kd", "#of":
			tag = gainUnits[of == "velocity"][tag]
		}
		if rotary {
			return rotaryTag(tag)
		}
		return tag
	}
}

// Decimation is the number of steps between two rows; 0: the run decides. It is an error when every is no whole number of
// steps.
func (c *Simulate) Decimation() (int, bool) {
	if c.Outputs.RowInterval == 0 {
		return c.Outputs.Decimate, true
	}
	n := math.Round(c.Outputs.RowInterval / c.Step)
	return int(n), n >= 1 && n < 1e9 && math.Abs(n*c.Step-c.Outputs.RowInterval) <= 1e-6*c.Step
}
