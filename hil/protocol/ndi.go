package protocol

import (
	"bytes"
	"errors"
	"fmt"

	"hilrig/engine"
	"hilrig/hil/wire/tracker"
)

// NDIReply is the form in which poses are asked for.
type NDIReply uint8

const (
	ReplyBX NDIReply = iota // binary
	ReplyTX                 // text
)

// Words are the names of the forms.
func (NDIReply) Words() []string { return []string{"bx", "tx"} }

func (r NDIReply) String() string { return [...]string{"BX", "TX"}[r] }

// NDI is the section of an NDI Polaris or Aurora.
type NDI struct {
	Tools   []Tool   `yaml:"tools" doc:"the tools, each with a name and its port handle, or the definition file of a wireless one: [{name: B, number: 10}, {name: C, rom: probe.rom}]; a measurement is called B.x"`
	Reply   NDIReply `yaml:"reply" doc:"how poses are asked for: bx, binary, or tx, text"`
	Reset   bool     `yaml:"reset" doc:"the system is reset before it is started. It speaks 9600 baud afterwards: only for a port at that speed, or one whose speed is a name, as on USB"`
	Delay   float64  `yaml:"delay" unit:"s" want:">=0 <=1" doc:"time that the system takes before it answers; hil check reckons with it"`
	Timeout float64  `yaml:"timeout" unit:"s" want:">=0.001 <=10" doc:"longest time from a question for poses to its reply; commands of the start have ten seconds"`
}

// Tool is one tool of the system: wired with its number, or wireless with its definition.
type Tool struct {
	Name   string `yaml:"name" doc:"the beginning of the names of its measurements: B of B.x; letters, digits, - and _"`
	Number int    `yaml:"number" want:">=0 <=255" doc:"port handle of a wired tool (0x0A is 10). hil decode --protocol ndi shows the handles in a reply to PHSR or BX. 0: it is wireless"`
	ROM    string `yaml:"rom" doc:"definition file of a wireless tool, which is loaded at the start; relative to this file. The system gives it a handle"`
	Serial string `yaml:"serial" doc:"serial number of the tool, eight characters as PHINF tells it: another tool at its port is refused. Left out: the one that is there at the first start"`

	Definition []byte `yaml:"-"` // what is in ROM
}

// SetDefaults are those of a system at 60 Hz.
func (n *NDI) SetDefaults() { *n = NDI{Delay: 2e-3, Timeout: 0.2} }

func (s *Sections) ndi() *NDI {
	if s.NDI == nil {
		s.NDI = new(NDI)
		s.NDI.SetDefaults()
	}
	return s.NDI
}

// Check finds tools that contradict each other.
func (n *NDI) Check() (bad []engine.Problem) {
	bad = checkParts("tools", n.parts())
	number := map[int]bool{}
	for i, t := range n.Tools {
		at := fmt.Sprintf("tools[%d]", i)
		switch {
		case t.Number == 0 && t.ROM == "":
			bad = append(bad, *engine.Problemf(at+".number", "missing: the port handle of a wired tool, or rom, the definition file of a "+
				"wireless one"))
		case t.Number != 0 && t.ROM != "":
			bad = append(bad, *engine.Problemf(at+".number", "%d beside rom: a wireless tool gets its handle from the system", t.Number))
		case t.Number != 0 && number[t.Number]:
			bad = append(bad, *engine.Problemf(at+".number", "%d is there twice", t.Number))
		}
		if t.Serial != "" && len(t.Serial) != tracker.NDISerialLength {
			bad = append(bad, *engine.Problemf(at+".serial", "%q, want the %d characters that PHINF tells", t.Serial, tracker.NDISerialLength))
		}
		number[t.Number] = true
	}
	return bad
}

// parts are the tools by their place, from 1 on: what the fields know of them.
func (n *NDI) parts() (list []Part) {
	for i, t := range n.Tools {
		list = append(list, Part{Name: t.Name, Number: i + 1})
	}
	return list
}

const ndiStart = 10 // s  that a command of the start may take

// Plan is the start (stop, initialize, all tools, track), then a question for poses at the rate of the device.
func (n *NDI) Plan(t *Table) (*Plan, error) {
	parts := n.parts()
	list, bad := slots(t, "ndi", parts, 0)
	if len(n.Tools) == 0 {
		bad = append(bad, engine.Problemf("ndi.tools", "missing: the tools with their port handles, such as [{name: B, number: 10}]"))
	}
	for i, tool := range n.Tools {
		if size := len(tool.Definition); tool.ROM != "" && (size == 0 || size > romLongest) {
			bad = append(bad, engine.Problemf(fmt.Sprintf("ndi.tools[%d].rom", i), "%s: %d bytes, want a definition of 1 to %d bytes", tool.ROM,
				size, romLongest))
		}
		for j := range i {
			if len(tool.Definition) > 0 && bytes.Equal(tool.Definition, n.Tools[j].Definition) {
				bad = append(bad, engine.Problemf(fmt.Sprintf("ndi.tools[%d].rom", i), "%s: the same definition as that of %s: the system takes "+
					"one for the other", tool.ROM, n.Tools[j].Name))
			}
		}
	}
	if !(t.Rate > 0) {
		bad = append(bad, engine.Problemf("rate", "%v Hz, want > 0", t.Rate))
	}
	if n.Reset && t.Baud > 9600 {
		bad = append(bad, engine.Problemf("ndi.reset", "after a reset the system speaks 9600 baud, and the port %d; want reset: no, or "+
			"baud: 9600", t.Baud))
	}
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	p := &Plan{Meas: t.Measure, Cmd: t.Command, Port: PortSpec{Baud: t.Baud}}
	tools := newNDITools(n.Tools)
	n.start(p, tools)
	reply := 6 + 1 + 42*len(n.Tools) + 4 // of BX
	if n.Reply == ReplyTX {
		reply = 2 + 70*len(n.Tools) + 9
	}
	ask := tracker.AppendNDI(nil, n.Reply.String(), "0801")
	p.Groups = partGroups(list, parts, Flow{Data: 32, Bytes: reply / max(1, len(n.Tools)), Rate: t.Rate})
	p.Turns = append(p.Turns, Turn{Name: n.Reply.String(), Group: 0, Ask: ask, AskLen: len(ask), Reply: reply, Delay: seconds(n.Delay),
		ReplyTimeout: seconds(n.Timeout) + p.Port.Wire(reply), LateReplyPause: seconds(n.Timeout), Period: seconds(1 / t.Rate)})
	for i := range p.Turns {
		p.Turns[i].Reason = ndiReason
	}
	d := tracker.NewNDI()
	d.Option = tracker.NDITransforms
	s := newSamples(d, list)
	s.newestNumber, s.part = map[int]float64{}, tools.part
	s.ends = func(turn int, f *tracker.Frame) end { return p.ndiEnds(tools, turn, f) }
	p.Decoder = s
	p.FarEnd = func() Far {
		s := newNDISystem(n.Tools, list)
		return Far{Decoder: s, Restart: s.Restart}
	}
	return p, nil
}

// start are the questions that are asked once. Those with a handle are made when they are asked.
func (n *NDI) start(p *Plan, tools *ndiTools) {
	add := func(t Turn, tool int) {
		p.Turns, tools.toolOfTurn = append(p.Turns, t), append(tools.toolOfTurn, tool)
	}
	fixed := func(name, word, parameters string, tool int) {
		add(startTurn(p, name, tracker.AppendNDI(nil, word, parameters), 9, ndiStart), tool)
	}
	made := func(name string, make func([]byte) []byte, longest, tool int) {
		t := startTurn(p, name, nil, 9, ndiStart)
		t.Make, t.AskLen = make, longest
		add(t, tool)
	}
	fixed("TSTOP", "TSTOP", "", -1)
	if n.Reset {
		fixed("RESET", "RESET", "0", -1)
	}
	fixed("INIT", "INIT", "", -1)
	fixed("PHSR 01", "PHSR", "01", -1) // handles to be freed
	made("PHF", tools.giveBack, len("PHF:0A0000\r"), -1)
	for i := range tools.tools {
		if len(tools.tools[i].definition) > 0 {
			fixed("PHRQ", "PHRQ", "*********1****", i) // any device, any system, wireless, any port
			made("PVWR", tools.tools[i].write, len("PVWR:0A00000000\r")+2*romBlock, i)
		}
	}
	fixed("PHSR 00", "PHSR", "00", -1)
	for i := range tools.tools {
		o := &tools.tools[i]
		made("PINIT", o.initialize, len("PINIT:0A0000\r"), i)
		made("PHINF", o.inform, len("PHINF:0A00010000\r"), i)
		made("PENA", o.enable, len("PENA:0AD0000\r"), i)
	}
	fixed("TSTART", "TSTART", "", -1)
}

// Errors of NDI that a system which was started and tracks does not make: it was reset since.
var ndiForgot = map[int]bool{0x08: true, 0x0C: true, 0x0D: true, 0x0E: true, 0x0F: true, 0x10: true}

// ndiEnds is what a reply means for the open turn.
func (p *Plan) ndiEnds(tools *ndiTools, turn int, f *tracker.Frame) end {
	name := ""
	if turn >= 0 {
		name = p.Turns[turn].Name
	}
	poses := name == "BX" || name == "TX"
	switch f.Role {
	case tracker.Began:
		if name == "RESET" {
			return answered
		}
		return anew
	case tracker.Refusal:
		switch {
		case name == "":
			return notYet
		case poses && ndiForgot[f.Code]:
			return anew
		case poses:
			return denied
		}
		return tools.onRefusal(turn, name, f)
	case tracker.Data:
		switch {
		case !poses:
		case tools.plugged(f): // it is initialized and enabled by a new start
			return anew
		default:
			return answered
		}
	case tracker.Answer:
		if name != "" && !poses {
			return tools.onReply(turn, name, f)
		}
	}
	return notYet
}
