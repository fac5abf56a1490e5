package hil

import (
	"fmt"
	"slices"
	"strings"

	"hilrig/engine"
)

// Schema says what a row's X holds: channel after channel, block by block, and the rate of the rows.
type Schema struct {
	Rig    string
	Rate   float64 // Hz
	Owners []Owner
	Meas   []Channel
	Est    []Channel
	Model  []Channel
	Cmd    []Channel
}

// Owner is who a channel belongs to: a device, an axis or a model beside the rig. All share one name space.
type Owner struct {
	Name  string
	Kind  OwnerKind
	Title string // for people
}

// OwnerKind is the kind of an owner.
type OwnerKind uint8

const (
	DeviceOwner OwnerKind = iota
	AxisOwner
	ModelOwner
)

// Words are the kinds by number.
func (OwnerKind) Words() []string { return []string{"device", "axis", "model"} }

func (k OwnerKind) String() string { return k.Words()[k] }

// Channel is one signal of a row with what it stands for. Whoever makes something of rows asks for axis, block and role, not for a
// name.
type Channel struct {
	engine.Signal             // Name: <owner>.<signal>, such as drive.rotor.angle, shaft.est.position
	Owner         string      // name of the owner
	Axis          string      // axis that has it, or that uses the signal of a device; "": none
	Role          ChannelRole // what it is
	Range         [2]float64  // in the unit of the signal; [0, 0]: not known
	Age           string      // measured: name of the channel with the age (s) of its samples; "": none
}

// ChannelRole is what a channel is, in the axis and the block in which it stands: the position among the estimated signals is the estimated
// one, that among the modelled ones the reference.
type ChannelRole uint8

const (
	RolePlain        ChannelRole = iota // nothing that the program knows
	RolePosition                        // rad or m
	RoleVelocity                        // rad/s or m/s
	RoleAcceleration                    // rad/s² or m/s²
	RoleEffort                          // N·m or N; modelled: what the compensation adds
	RoleCurrent                         // A
	RoleVoltage                         // V
	RoleTemperature                     // degC or K
	RoleStatus                          // status word of a device or a model: 0 is healthy
	RoleAge                             // s  of the newest sample of a device
	RoleError                           // tracking error
	RoleCommand                         // drives the axis; modelled: the effort that the controller asks for
	RoleFriction                        // N·m or N
	RoleResidual                        // what a model leaves unexplained
	RoleHeat                            // used share of the i²t budget
	RoleParameter                       // estimated parameter …
	RoleStdErr                          // … and its standard error, in the same order
	RoleCount                           // windows that the parameters rest on
	RoleBusy                            // s  that the last step of a model took; the range ends with its share of the period
	RoleLeft                            // what a feed-forward leaves to the feedback, as a share of it
	RoleLevel                           // how a model did its last step: 0 in full, higher is cheaper
)

// Words are the roles by number.
func (ChannelRole) Words() []string {
	return []string{"plain", "position", "velocity", "acceleration", "effort", "current", "voltage", "temperature", "status", "age", "error",
		"command",
		"friction", "residual", "heat", "parameter", "stderr", "count", "busy", "left", "level"}
}

func (r ChannelRole) String() string { return r.Words()[r] }

// RoleNamed is the role with a name.
func RoleNamed(name string) (ChannelRole, error) {
	if i := slices.Index(ChannelRole(0).Words(), name); i >= 0 {
		return ChannelRole(i), nil
	}
	return 0, fmt.Errorf("role %q is not known", name)
}

// Block is one of the four parts of a row.
type Block uint8

const (
	Measured Block = iota
	Estimated
	Modelled
	Commanded
)

// Words are the blocks by number.
func (Block) Words() []string { return []string{"measured", "estimated", "modelled", "command"} }

func (b Block) String() string { return b.Words()[b] }

// Block is the list of channels of a block.
func (s *Schema) Block(b Block) []Channel { return *s.block(b) }

func (s *Schema) block(b Block) *[]Channel {
	return [...]*[]Channel{&s.Meas, &s.Est, &s.Model, &s.Cmd}[b]
}

// SetBlock replaces the channels of a block.
func (s *Schema) SetBlock(b Block, channels []Channel) { *s.block(b) = channels }

// Len is the number of signals in use.
func (s *Schema) Len() int { return len(s.Meas) + len(s.Est) + len(s.Model) + len(s.Cmd) }

// Channels lists all channels in the order of Row.X.
func (s *Schema) Channels() []Channel { return slices.Concat(s.Meas, s.Est, s.Model, s.Cmd) }

// Signals lists the signals of all channels in the order of Row.X.
func (s *Schema) Signals() []engine.Signal { return Signals(s.Channels()) }

// Signals are those of some channels.
func Signals(channels []Channel) []engine.Signal {
	out := make([]engine.Signal, len(channels))
	for i := range channels {
		out[i] = channels[i].Signal
	}
	return out
}

// Of makes channels of an owner from its signals, whose names get the owner's in front.
func Of(owner string, signals ...engine.Signal) []Channel {
	out := make([]Channel, len(signals))
	for i, s := range signals {
		out[i] = Channel{Signal: engine.Signal{Name: owner + "." + s.Name, Unit: s.Unit}, Owner: owner}
	}
	return out
}

// Index finds a signal by name; -1 if the schema has none of that name.
func (s *Schema) Index(name string) int {
	return slices.IndexFunc(s.Channels(), func(c Channel) bool { return c.Name == name })
}

// Find is the place in X of the channel with a role in a block of an axis; -1 if there is none.
func (s *Schema) Find(b Block, axis string, role ChannelRole) int {
	at := 0
	for before := range b {
		at += len(s.Block(before))
	}
	i := slices.IndexFunc(s.Block(b), func(c Channel) bool { return c.Axis == axis && c.Role == role })
	if i < 0 {
		return -1
	}
	return at + i
}

// FindAll are the places in X of all channels with a role in a block, in their order, and the channels.
func (s *Schema) FindAll(b Block, role ChannelRole) (at []int, channels []Channel) {
	first := 0
	for before := range b {
		first += len(s.Block(before))
	}
	for i, c := range s.Block(b) {
		if c.Role == role {
			at, channels = append(at, first+i), append(channels, c)
		}
	}
	return at, channels
}

// Short is the name behind the last dot: J of shaft.rls.J.
func (c *Channel) Short() string { return c.Name[strings.LastIndexByte(c.Name, '.')+1:] }

// Axes are the names of the axes, in the order of the file.
func (s *Schema) Axes() (names []string) {
	for _, o := range s.Owners {
		if o.Kind == AxisOwner {
			names = append(names, o.Name)
		}
	}
	return names
}

// Blocks are views into Row.X, cut once.
func (s *Schema) Blocks(r *Row) (meas, est, model, cmd []float64) {
	a := len(s.Meas)
	b := a + len(s.Est)
	c := b + len(s.Model)
	d := c + len(s.Cmd)
	return r.X[:a:a], r.X[a:b:b], r.X[b:c:c], r.X[c:d:d]
}
