// Package protocol is the list of the ways in which a device speaks over its port. Each has a file with its section of the configuration,
// and turns the table of a device into a plan: which bytes mean what, who speaks when, what puts the device into its safe state. It does
// no I/O; package device follows the plan.
//
// There are two manners. Where the far side speaks by itself (link, line), a plan has an encoder for the commands and no turns. Where it
// answers questions (modbus), a plan is a list of turns: the sending thread asks, the receiving one takes the reply.
package protocol

import (
	"slices"
	"time"

	"hilrig/engine"
	"hilrig/hil/wire"
)

// Kind is one protocol.
type Kind struct {
	Name, Title string
	Text        bool // fields are columns of text
	Registers   bool // fields stand in registers: each has a key at
	Tracker     bool // fields are quantities of a tracker, chosen by name, and there are no commands
	Asks        bool // the far side speaks only when it is asked
	Bare        bool // has no section
	Section     func(*Sections) Section
}

// Kinds are all protocols, by Choice.
var Kinds = []Kind{
	{Name: "link", Title: "COBS frames with CRC-16", Bare: true, Section: func(*Sections) Section { return Link{} }},
	{Name: "line", Title: "text lines", Text: true, Section: func(s *Sections) Section { return (*Line)(&s.Line) }},
	{Name: "modbus", Title: "registers of Modbus RTU slaves", Registers: true, Asks: true,
		Section: func(s *Sections) Section { return s.modbus() }},
	{Name: "ndi", Title: "NDI Polaris and Aurora", Tracker: true, Asks: true, Section: func(s *Sections) Section { return s.ndi() }},
	{Name: "xsens", Title: "Xsens MTi", Tracker: true, Section: func(s *Sections) Section { return s.xsens() }},
	{Name: "vectornav", Title: "VectorNav", Tracker: true, Bare: true, Section: func(*Sections) Section { return VectorNav{} }},
	{Name: "polhemus", Title: "Polhemus LIBERTY, LATUS and PATRIOT", Tracker: true,
		Section: func(s *Sections) Section { return s.polhemus() }},
	{Name: "fastrak", Title: "Polhemus FASTRAK", Tracker: true, Section: func(s *Sections) Section { return s.fastrak() }},
	{Name: "witmotion", Title: "WitMotion", Tracker: true, Bare: true, Section: func(*Sections) Section { return WitMotion{} }},
	{Name: "bno08x", Title: "BNO08x in its mode UART-RVC", Tracker: true, Bare: true, Section: func(*Sections) Section { return BNO08x{} }},
}

// Sections are those of a device, under the names of their protocols. The one of another protocol than the device's is not used.
type Sections struct {
	Line     wire.Format `yaml:"line,omitempty" doc:"the text protocol"`
	Modbus   *Modbus     `yaml:"modbus,omitempty" doc:"a bus of Modbus RTU slaves (docs/reference/protocols.md); left out: as below"`
	NDI      *NDI        `yaml:"ndi,omitempty" doc:"an NDI Polaris or Aurora (docs/reference/trackers.md)"`
	Xsens    *Xsens      `yaml:"xsens,omitempty" doc:"an Xsens MTi (docs/reference/trackers.md); left out: as below"`
	Polhemus *Liberty    `yaml:"polhemus,omitempty" doc:"a Polhemus LIBERTY, LATUS or PATRIOT (docs/reference/trackers.md); left out: as below"`
	Fastrak  *Fastrak    `yaml:"fastrak,omitempty" doc:"a Polhemus FASTRAK (docs/reference/trackers.md); left out: as below"`
}

// Choice is a protocol: its place in Kinds.
type Choice uint8

const (
	LinkChoice Choice = iota
	LineChoice
	ModbusChoice
	NDIChoice
	XsensChoice
	VectorNavChoice
	PolhemusChoice
	FastrakChoice
	WitMotionChoice
	BNO08xChoice
)

// Words are the names of the protocols.
func (Choice) Words() []string {
	names := make([]string, len(Kinds))
	for i, k := range Kinds {
		names[i] = k.Name
	}
	return names
}

func (c Choice) String() string { return c.Kind().Name }

// Kind describes the protocol.
func (c Choice) Kind() *Kind { return &Kinds[c] }

// Section is what a file says of a protocol.
type Section interface {
	Check() []engine.Problem // paths below the section
	// Plan needs a section without problems. Its errors are engine.Problems with paths below the device, such as measure[2].at.
	Plan(*Table) (*Plan, error)
}

// Table is what a file says of a device beside the section of its protocol.
type Table struct {
	Measure, Command []wire.Field
	Safe             []float64 // one value for each command, in its unit; nil: no safe frame is wanted
	Baud             int       // bits per second; 0: the speed of the line is not known
	Rate             float64   // Hz  at which the device sends, or is asked
	Loop             float64   // Hz
}

// Plan is how to speak with a device.
type Plan struct {
	Meas, Cmd []wire.Field
	Groups    []Group
	Port      PortSpec
	Decoder   wire.Decoder  // a wire.TurnDecoder where there are turns
	Encoder   wire.Encoder  // nil: commands travel in turns
	Commands  Flow          // what Encoder sends
	Clocked   bool          // samples carry the time of the device
	Opens     bool          // every frame opens with what ends a torn one
	Turns     []Turn        // none: the far side speaks by itself
	Streams   bool          // it does although there are turns, all of which come once: they start it. Decoder is a wire.StreamDecoder
	Silence   time.Duration // between two frames of a line whose ends take turns
	Safe      SafeFrames
	FarEnd    func() Far
}

// GroupOf is the place of the group that brings a measurement.
func (p *Plan) GroupOf(measure int) int {
	return max(0, slices.IndexFunc(p.Groups, func(g Group) bool { return g.Contains(measure) }))
}

// Group is one kind of frame or reply: its fields are of one age.
type Group struct {
	Name string // "": there is only one
	Fields
	Flow
}

// Fields are places in a table, as bits.
type Fields uint64

// Contains tells whether field i is one of them.
func (f Fields) Contains(i int) bool { return f>>i&1 != 0 }

// Flow is what one kind of frame takes of the line.
type Flow struct {
	Data, Bytes int     // of a frame: fields, and all of it; of text an estimate
	Rate        float64 // Hz
}

// Parity is the bit that a character carries for its check.
type Parity uint8

const (
	ParityNone Parity = iota
	ParityEven
	ParityOdd
)

// Words are the names of the parities.
func (Parity) Words() []string { return []string{"none", "even", "odd"} }

func (p Parity) String() string { return p.Words()[p] }

// PortSpec is how the port is opened: 8 data bits, no flow control. The zero value is 8N1 at a speed that is not known.
type PortSpec struct {
	Baud     int
	Parity   Parity
	StopBits int  // 0: 1
	RS485    bool // the driver of the port switches its transceiver
	Echo     bool // what is sent comes back
}

// Bits is the number of bits of a character, with start and stop.
func (s *PortSpec) Bits() int {
	n := 1 + 8 + max(1, s.StopBits)
	if s.Parity != ParityNone {
		n++
	}
	return n
}

// Wire is the time that n bytes take on the line; 0 where its speed is not known.
func (s *PortSpec) Wire(n int) time.Duration {
	if s.Baud <= 0 {
		return 0
	}
	return time.Duration(float64(n*s.Bits()) / float64(s.Baud) * 1e9)
}

// Turn is a question and its reply.
type Turn struct {
	Name  string
	Group int // that the reply brings; −1: none
	Ask   []byte
	Fill  func(dst []byte, u []float64) ([]byte, bool) // instead of Ask in a turn that commands; pure. false: a value is not finite
	// instead of Ask in a turn that comes once: from what the replies before it told. It is asked again until it has nothing to ask
	Make func(dst []byte) []byte

	AskLen, Reply  int           // bytes of both frames
	Delay          time.Duration // that the device needs before it answers, with what the adapter adds
	ReplyTimeout   time.Duration // from the end of the question to the end of the reply, at most
	LateReplyPause time.Duration // after a time-out: as long as a late reply can take
	Period         time.Duration
	Retry          int                     // times that a question is repeated at once
	AtStart        bool                    // before all others, after each opening of the port
	Reason         func(code uint8) string // what the code of a refusal means; nil: as of Modbus
}

// Takes is the time that the turn keeps the line.
func (t *Turn) Takes(p *Plan) time.Duration {
	return p.Port.Wire(t.AskLen+t.Reply) + max(t.Delay, p.Silence) + p.Silence
}

// Load is the share of the line that all turns together take; more than 1 does not fit.
func (p *Plan) Load() (share float64) {
	for i := range p.Turns {
		if t := &p.Turns[i]; !t.AtStart {
			share += t.Takes(p).Seconds() / t.Period.Seconds()
		}
	}
	return share
}

// AllOnce tells whether the turns only start the far side.
func (p *Plan) AllOnce() bool {
	return !slices.ContainsFunc(p.Turns, func(t Turn) bool { return !t.AtStart })
}

// SafeFrames put the device into its safe state: bytes to keep for the moment when nobody is left to encode them. They may be written
// any number of times.
type SafeFrames struct {
	Frames [][]byte
	Pause  time.Duration // after each: as long as a reply can keep a line whose ends take turns
}

// safeRepeats is how often safe frames are written: on a line whose ends take turns the first may meet a reply.
const safeRepeats = 3

// Write hands all frames to put, three times, with their pauses. It returns the first error, and writes on all the same.
func (s *SafeFrames) Write(put func([]byte) error) (err error) {
	for range safeRepeats {
		for _, f := range s.Frames {
			if e := put(f); err == nil {
				err = e
			}
			time.Sleep(s.Pause)
		}
	}
	return err
}

// Far is the other end of the line, for tests and virtual rigs: frames of commands come in, measurements go out.
type Far struct {
	Decoder wire.Decoder // a wire.Responder where the far end answers questions
	Encoder wire.Encoder // nil where it answers questions
	Opens   bool
	Restart func() []byte // the far end forgets all it was told, as after a power cut, and may say so; nil: it remembers nothing anyway
}
