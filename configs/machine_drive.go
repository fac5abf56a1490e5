package configs

// What drives a machine and stands between its motors and its bodies.

// MachineMotor is an electric motor on a joint with one coordinate.
type MachineMotor struct {
	Name      string       `yaml:"-" names:"motors"`
	Kind      string       `yaml:"kind" enum:"dc,synchronous,three-phase,electromagnet" doc:"dc: commutator and permanent magnets; synchronous: permanent magnets and an inverter, in the axes of the rotor; three-phase: the same machine with its windings between nodes; electromagnet: a coil that draws the air gap shut, which is the position of its joint"`
	Joint     string       `yaml:"joint" doc:"revolute or prismatic joint that it turns or draws, by the name of its body"`
	Gear      float64      `yaml:"gear" doc:"turns of the rotor for one of the joint; on a prismatic joint rad per m. Negative: the other way"`
	Rotor     float64      `yaml:"rotor_inertia" unit:"kg·m²|N·m·s²/rad" want:">=0" doc:"the joint feels it times gear²"`
	R         float64      `yaml:"R" unit:"ohm" want:">0 <=1e6" doc:"armature; of a phase"`
	L         float64      `yaml:"L" unit:"H" want:">=0 <=100" doc:"dc: armature; 0: the current follows the voltage at once. electromagnet: what is left of the inductance with the gap wide open"`
	K         float64      `yaml:"K" unit:"N·m/A|V·s/rad" doc:"dc: torque and back-emf constant"`
	BrushDrop float64      `yaml:"brush_drop" unit:"V" want:">=0" doc:"dc: voltage drop of both brushes"`
	DropScale float64      `yaml:"drop_current" unit:"A" want:">=0" doc:"dc: current at which the brush drop is 76 % developed"`
	Voltage   *Signal      `yaml:"voltage,omitempty" unit:"V" doc:"dc, electromagnet: at its terminals, a number or a generator; or give nodes"`
	Nodes     []string     `yaml:"nodes,omitempty" doc:"dc, electromagnet: the two nodes of the circuit that it stands between; a positive current flows from the first to the second inside it. three-phase: three nodes, with the star point inside; or six, from and to of each winding in turn"`
	Amperes   float64      `yaml:"start_current" unit:"A" doc:"dc, electromagnet: at the start"`
	GapC      float64      `yaml:"gap_constant" unit:"H·m" want:">=0" doc:"electromagnet: the inductance is L + gap_constant/(position + gap_rest)"`
	GapRest   float64      `yaml:"gap_rest" unit:"m" want:">=0" doc:"electromagnet: gap that is left when it is shut, iron and varnish"`
	Ld        float64      `yaml:"Ld" unit:"H" want:">=0" doc:"synchronous, three-phase: along the magnets"`
	Lq        float64      `yaml:"Lq" unit:"H" want:">=0" doc:"synchronous, three-phase: across them"`
	L0        float64      `yaml:"L0" unit:"H" want:">=0" doc:"three-phase: of the zero sequence; 0: that of Lq"`
	Psi       float64      `yaml:"psi" unit:"Wb" want:">=0" doc:"synchronous, three-phase: flux linkage of the magnets"`
	Pairs     float64      `yaml:"pole_pairs" want:">=0 <=1000" doc:"synchronous, three-phase: of poles"`
	Cogging   []MachineCog `yaml:"cogging,omitempty" doc:"synchronous, three-phase: harmonics of the torque without current"`
	Ud        *Signal      `yaml:"ud,omitempty" unit:"V" doc:"synchronous: along the magnets"`
	Uq        *Signal      `yaml:"uq,omitempty" unit:"V" doc:"synchronous: across them"`
}

// MachineCog is a harmonic of the cogging torque, amplitude·sin(order·angle of the rotor).
type MachineCog struct {
	Amplitude float64 `yaml:"amplitude" unit:"N·m" doc:"of the torque on the rotor"`
	Order     float64 `yaml:"order" want:">0" doc:"periods in a turn of the rotor"`
}

// SetDefaults is a dc motor without a gear.
func (m *MachineMotor) SetDefaults() { m.Kind, m.Gear = "dc", 1 }

// CircuitElement is a branch of a circuit.
type CircuitElement struct {
	Name    string  `yaml:"-" names:"elements"`
	Kind    string  `yaml:"kind" enum:"resistor,inductor,capacitor,voltage-source,current-source,switch,diode" doc:"what it is; a diode conducts from from to to"`
	From    string  `yaml:"from" doc:"node; of a voltage source its positive pole. A current source drives from here through itself"`
	To      string  `yaml:"to" doc:"node"`
	R       float64 `yaml:"R" unit:"ohm" want:">=0" doc:"resistor; inside an inductor or a voltage source"`
	L       float64 `yaml:"L" unit:"H" want:">=0" doc:"inductor"`
	C       float64 `yaml:"C" unit:"F" want:">=0" doc:"capacitor"`
	Voltage *Signal `yaml:"voltage,omitempty" unit:"V" doc:"voltage-source: a number or a generator"`
	Current *Signal `yaml:"current,omitempty" unit:"A" doc:"current-source: a number or a generator"`
	Closed  *Signal `yaml:"closed,omitempty" doc:"switch: closed while this is above 0.5, a number or a generator"`
	Ron     float64 `yaml:"on" unit:"ohm" want:">=0" doc:"switch, diode: resistance that conducts"`
	Roff    float64 `yaml:"off" unit:"ohm" want:">=0" doc:"switch, diode: resistance that does not"`
	Knee    float64 `yaml:"knee" unit:"V" want:">=0" doc:"diode: voltage from which it conducts"`
	Amperes float64 `yaml:"start_current" unit:"A" doc:"inductor: at the start"`
	Volts   float64 `yaml:"start_voltage" unit:"V" doc:"capacitor: at the start"`
}

// MachineShaft is a spring and a damper between two joints.
type MachineShaft struct {
	Name       string   `yaml:"-" names:"shafts"`
	A          string   `yaml:"a" doc:"joint, by the name of its body, or ground"`
	B          string   `yaml:"b" doc:"joint, or ground"`
	Ratio      float64  `yaml:"ratio" doc:"turns of a for one of b"`
	Stiffness  float64  `yaml:"stiffness" unit:"N·m/rad|N/m" want:">=0" doc:"on the side of b"`
	Damping    float64  `yaml:"damping" unit:"N·m·s/rad|N·m·s|N·s/m" want:">=0" doc:"on the side of b"`
	Efficiency float64  `yaml:"efficiency" want:">0 <=1" doc:"of the gear while a drives; 1: no loss"`
	Back       *float64 `yaml:"back_efficiency,omitempty" want:">=0 <=1" auto:"2 − 1/efficiency" doc:"of the gear while b drives; 0: it locks itself"`
	Speed      float64  `yaml:"efficiency_speed" unit:"rad/s" want:">=0" doc:"of a, at which the loss is 76 % developed"`
}

// SetDefaults is a shaft without a gear.
func (s *MachineShaft) SetDefaults() { s.Ratio, s.Efficiency = 1, 1 }

// MachineBelt is a belt over two pulleys.
type MachineBelt struct {
	Name      string  `yaml:"-" names:"belts"`
	A         string  `yaml:"a" doc:"joint with the driving pulley"`
	B         string  `yaml:"b" doc:"joint with the driven pulley"`
	RadiusA   float64 `yaml:"radius_a" unit:"m" want:">0" doc:"pitch radius"`
	RadiusB   float64 `yaml:"radius_b" unit:"m" want:">0" doc:"pitch radius"`
	Stiffness float64 `yaml:"stiffness" unit:"N/m" want:">0" doc:"of one strand"`
	Damping   float64 `yaml:"damping" unit:"N·s/m" want:">=0" doc:"of one strand"`
	Tension   float64 `yaml:"tension" unit:"N" want:">0" doc:"of both strands at rest"`
	Grip      float64 `yaml:"grip" want:">=0" doc:"exp(µ·wrap) of the pulley that slips first; 0: it cannot slip"`
}

// MachineStop is a gap with a spring at each end.
type MachineStop struct {
	Name      string     `yaml:"-" names:"stops"`
	A         string     `yaml:"a" doc:"joint"`
	B         string     `yaml:"b" doc:"joint, or ground: the ends of the travel of a"`
	Ratio     float64    `yaml:"ratio" doc:"turns of a for one of b"`
	Travel    [2]float64 `yaml:"travel" unit:"rad|m" doc:"free way of a/ratio − b, from and to; ±x is a backlash of 2x"`
	Stiffness float64    `yaml:"stiffness" unit:"N·m/rad|N/m" want:">0" doc:"of both ends"`
	Loss      float64    `yaml:"loss" unit:"s/rad|s/m" want:">=0" doc:"after Hunt and Crossley: force = stiffness·depth·(1 + loss·speed)"`
}

// SetDefaults is a stop against the ground.
func (s *MachineStop) SetDefaults() { s.Ratio, s.B = 1, "ground" }
