package configs

// What drives a machine and stands between its motors and its bodies.

// MachineMotor is an electric motor on a joint with one coordinate.
type MachineMotor struct {
	Name      string          `yaml:"-" names:"motors"`
	Kind      string          `yaml:"kind" enum:"dc,synchronous,three-phase" doc:"dc: commutator and permanent magnets; synchronous: permanent magnets and an inverter, in the axes of the rotor; three-phase: the same machine with its three windings between nodes of the circuit"`
	Joint     string          `yaml:"joint" doc:"revolute or prismatic joint that it turns, by the name of its body"`
	Gear      float64         `yaml:"gear" doc:"turns of the rotor for one of the joint; on a prismatic joint rad per m. Negative: the other way"`
	Rotor     float64         `yaml:"rotor_inertia" unit:"kg·m²|N·m·s²/rad" want:">=0" doc:"the joint feels it times gear²"`
	R         float64         `yaml:"R" unit:"ohm" want:">0 <=1e6" doc:"armature; of a phase"`
	L         float64         `yaml:"L" unit:"H" want:">=0 <=100" doc:"dc: armature; 0: the current follows the voltage at once"`
	K         float64         `yaml:"K" unit:"N·m/A|V·s/rad" doc:"dc: torque and back-emf constant"`
	BrushDrop float64         `yaml:"brush_drop" unit:"V" want:">=0" doc:"dc: voltage drop of both brushes"`
	DropScale float64         `yaml:"drop_current" unit:"A" want:">=0" doc:"dc: current at which the brush drop is 76 % developed"`
	Voltage   *Signal         `yaml:"voltage,omitempty" unit:"V" doc:"dc: at its terminals, a number or a generator; or give nodes"`
	Nodes     []string        `yaml:"nodes,omitempty" doc:"dc: the two nodes of the circuit that it stands between; a positive current flows from the first to the second inside it. three-phase: three nodes, of windings that end in a star point of their own; or six, from and to of each winding"`
	Amperes   float64         `yaml:"start_current" unit:"A" doc:"dc: at the start"`
	Ld        float64         `yaml:"Ld" unit:"H" want:">=0" doc:"synchronous, three-phase: along the magnets"`
	Lq        float64         `yaml:"Lq" unit:"H" want:">=0" doc:"synchronous, three-phase: across them"`
	L0        float64         `yaml:"L0" unit:"H" want:">=0" doc:"three-phase: of the zero sequence; 0: that of Lq"`
	Psi       *float64        `yaml:"psi,omitempty" unit:"Wb" want:">=0" doc:"synchronous, three-phase: flux linkage of the magnets; 0: a reluctance motor"`
	Pairs     float64         `yaml:"pole_pairs" want:">=0 <=1000" doc:"synchronous, three-phase: of poles"`
	Cogging   []MachineCog    `yaml:"cogging,omitempty" doc:"synchronous, three-phase: harmonics of the cogging torque"`
	Thermal   *MachineThermal `yaml:"thermal,omitempty" doc:"dc: resistance of the winding by its temperature"`
	Ud        *Signal         `yaml:"ud,omitempty" unit:"V" doc:"synchronous: along the magnets"`
	Uq        *Signal         `yaml:"uq,omitempty" unit:"V" doc:"synchronous: across them"`
}

// SetDefaults is a dc motor without a gear.
func (m *MachineMotor) SetDefaults() { m.Kind, m.Gear = "dc", 1 }

// MachineCog is a harmonic of the cogging torque of a motor.
type MachineCog struct {
	Amplitude float64 `yaml:"amplitude" unit:"N·m" doc:"on the rotor: amplitude·sin(order·angle of the rotor)"`
	Order     float64 `yaml:"order" want:">0" doc:"periods for one turn of the rotor"`
}

// MachineThermal warms the winding of a motor.
type MachineThermal struct {
	Copper     float64 `yaml:"copper_tc" unit:"1/K" doc:"relative change of R per kelvin, 0.0039 for copper; R belongs to 20 °C"`
	Ambient    float64 `yaml:"ambient" unit:"degC" want:">=-273.15" doc:"temperature around the motor, and of the winding at the start"`
	Resistance float64 `yaml:"resistance" unit:"K/W" want:">=0" doc:"winding to ambient"`
	Capacity   float64 `yaml:"capacity" unit:"J/K" want:">=0" doc:"heat capacity of the winding; 0: it stays at ambient"`
}

// SetDefaults is copper in a room.
func (t *MachineThermal) SetDefaults() { t.Copper, t.Ambient = 0.0039, 20 }

// MachineMagnet is an electromagnet or the coil of a relay.
type MachineMagnet struct {
	Name           string   `yaml:"-" names:"magnets"`
	Joint          string   `yaml:"joint" doc:"prismatic or revolute joint whose position opens the gap, by the name of its body"`
	ClosedPosition float64  `yaml:"closed" unit:"m|rad" doc:"position of the joint at which the gap x is closed: x = position − closed"`
	Reverse        bool     `yaml:"reverse" doc:"x = closed − position: the magnet pulls towards larger positions"`
	R              float64  `yaml:"R" unit:"ohm" want:">0 <=1e6" doc:"of the coil"`
	Linf           float64  `yaml:"L_inf" unit:"H" want:">=0 <=100" doc:"L(x) = L_inf + c/(x + x0): inductance that is left with a wide gap"`
	C              float64  `yaml:"c" unit:"H·m|H·rad" want:">0" doc:"c of L(x): µ0/2·turns²·area of a pole for two gaps in series"`
	X0             float64  `yaml:"x0" unit:"m|rad" want:">0" doc:"gap that is left when it is closed: iron and varnish. A run ends where the gap falls below −x0/2"`
	Voltage        *Signal  `yaml:"voltage,omitempty" unit:"V" doc:"at the coil, a number or a generator; or give nodes"`
	Nodes          []string `yaml:"nodes,omitempty" doc:"the two nodes of the circuit that the coil stands between"`
	Amperes        float64  `yaml:"start_current" unit:"A" doc:"at the start"`
}

// CoilBranch is one of several windings on one core.
type CoilBranch struct {
	Name     string  `yaml:"-" names:"windings"`
	FromNode string  `yaml:"from" doc:"node, at the dot"`
	ToNode   string  `yaml:"to" doc:"node"`
	L        float64 `yaml:"L" unit:"H" want:">0" doc:"inductance"`
	R        float64 `yaml:"R" unit:"ohm" want:">=0" doc:"of its wire"`
	Amperes  float64 `yaml:"start_current" unit:"A" doc:"at the start"`
}

// CircuitPWM is a source or a switch that changes between two values.
type CircuitPWM struct {
	Frequency   float64 `yaml:"frequency" unit:"Hz" want:">0 <=1e7" doc:"of the periods; each begins with high"`
	LowVoltage  float64 `yaml:"low" unit:"V" doc:"voltage-source: for the rest of the period"`
	HighVoltage float64 `yaml:"high" unit:"V" doc:"voltage-source: for the share duty of the period"`
	Duty        *Signal `yaml:"duty,omitempty" doc:"0 to 1, a number or a generator, taken at the beginning of each period"`
}

// CircuitElement is a branch of a circuit.
type CircuitElement struct {
	Name     string       `yaml:"-" names:"elements"`
	Kind     string       `yaml:"kind" enum:"resistor,inductor,capacitor,voltage-source,current-source,switch,diode,transformer" doc:"what it is; a diode conducts from from to to; a transformer has several windings on one core"`
	FromNode string       `yaml:"from" doc:"node; of a voltage source its positive pole. A current source drives from here through itself"`
	ToNode   string       `yaml:"to" doc:"node"`
	R        float64      `yaml:"R" unit:"ohm" want:">=0" doc:"resistor; inside an inductor or a voltage source"`
	L        float64      `yaml:"L" unit:"H" want:">=0" doc:"inductor"`
	C        float64      `yaml:"C" unit:"F" want:">=0" doc:"capacitor"`
	Voltage  *Signal      `yaml:"voltage,omitempty" unit:"V" doc:"voltage-source: a number or a generator"`
	Current  *Signal      `yaml:"current,omitempty" unit:"A" doc:"current-source: a number or a generator"`
	Control  *Signal      `yaml:"closed,omitempty" doc:"switch: closed while this is above 0.5, a number or a generator"`
	Ron      float64      `yaml:"on" unit:"ohm" want:">=0" doc:"switch, diode: resistance that conducts"`
	Roff     float64      `yaml:"off" unit:"ohm" want:">=0" doc:"switch, diode: resistance that does not"`
	Knee     float64      `yaml:"knee" unit:"V" want:">=0" doc:"diode: voltage from which it conducts"`
	Amperes  float64      `yaml:"start_current" unit:"A" doc:"inductor: at the start"`
	Volts    float64      `yaml:"start_voltage" unit:"V" doc:"capacitor: at the start"`
	PWM      *CircuitPWM  `yaml:"pwm,omitempty" doc:"voltage-source, switch: pulses; instead of voltage and closed. A switch is closed for the share duty"`
	Windings []CoilBranch `yaml:"windings,omitempty" doc:"transformer: its windings, by name"`
	Coupling float64      `yaml:"coupling" want:">=-1 <=1" doc:"transformer: M/√(L·L) of each two of its windings; below 1"`
}

// MachineShaft is a spring and a damper between two joints.
type MachineShaft struct {
	Name           string   `yaml:"-" names:"shafts"`
	A              string   `yaml:"a" doc:"joint, by the name of its body, or ground"`
	B              string   `yaml:"b" doc:"joint, or ground"`
	Ratio          float64  `yaml:"ratio" doc:"turns of a for one of b"`
	Stiffness      float64  `yaml:"stiffness" unit:"N·m/rad|N/m" want:">=0" doc:"on the side of b"`
	Damping        float64  `yaml:"damping" unit:"N·m·s/rad|N·m·s|N·s/m" want:">=0" doc:"on the side of b"`
	Efficiency     float64  `yaml:"efficiency" want:">0 <=1" doc:"of the gear while a drives; 1: no loss"`
	BackEfficiency *float64 `yaml:"back_efficiency,omitempty" want:">=0 <=1" auto:"2 − 1/efficiency" doc:"of the gear while b drives; 0: it locks itself"`
	Speed          float64  `yaml:"efficiency_speed" unit:"rad/s" want:">=0" doc:"of a, at which the loss is 76 % developed"`
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
