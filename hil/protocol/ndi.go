package protocol

import (
	"errors"
	"fmt"
	"sync/atomic"

	"hilrig/engine"
	"hilrig/hil/wire"
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
	Tools   []Part   `yaml:"tools" doc:"the tools, each with a name and its port handle: [{name: B, number: 10}]; a measurement is called B.x. hil decode --protocol ndi shows the handles in a reply to PHSR or BX"`
	Reply   NDIReply `yaml:"reply" doc:"how poses are asked for: bx, binary, or tx, text"`
	Reset   bool     `yaml:"reset" doc:"the system is reset before it is started. It speaks 9600 baud afterwards: only for a port at that speed, or one whose speed is a name, as on USB"`
	Delay   float64  `yaml:"delay" unit:"s" want:">=0 <=1" doc:"time that the system takes before it answers; hil check reckons with it"`
	Timeout float64  `yaml:"timeout" unit:"s" want:">=0.001 <=10" doc:"longest time from a question for poses to its reply; commands of the start have ten seconds"`
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
func (n *NDI) Check() []engine.Problem { return checkParts("tools", n.Tools) }

const ndiStart = 10 // s  that a command of the start may take

// Plan is the start (stop, initialize, all tools, track), then a question for poses at the rate of the device.
func (n *NDI) Plan(t *Table) (*Plan, error) {
	list, bad := slots(t, "ndi", n.Tools, 0)
	if len(n.Tools) == 0 {
		bad = append(bad, engine.Problemf("ndi.tools", "missing: the tools with their port handles, such as [{name: B, number: 10}]"))
	}
	if !(t.Rate > 0) {
		bad = append(bad, engine.Problemf("rate", "%v Hz, want > 0", t.Rate))
	}
	if n.Reset && t.Baud > 9600 {
		bad = append(bad, engine.Problemf("ndi.reset", "after a reset the system speaks 9600 baud, and the port %d; want reset: no, or baud: 9600", t.Baud))
	}
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	p := &Plan{Meas: t.Measure, Cmd: t.Command, Port: PortSpec{Baud: t.Baud}}
	begin := func(word, parameters string) {
		p.Turns = append(p.Turns, once(p, word, tracker.AppendNDI(nil, word, parameters), 9, ndiStart))
	}
	begin("TSTOP", "")
	if n.Reset {
		begin("RESET", "0")
	}
	begin("INIT", "")
	begin("PHSR", "00")
	for _, tool := range n.Tools {
		begin("PINIT", fmt.Sprintf("%02X", tool.Number))
		begin("PENA", fmt.Sprintf("%02XD", tool.Number))
	}
	begin("TSTART", "")
	reply := 6 + 1 + 42*len(n.Tools) + 4 // of BX
	if n.Reply == ReplyTX {
		reply = 2 + 70*len(n.Tools) + 9
	}
	ask := tracker.AppendNDI(nil, n.Reply.String(), "0801")
	p.Groups = partGroups(list, n.Tools, Flow{Data: 32, Bytes: reply / max(1, len(n.Tools)), Rate: t.Rate})
	p.Turns = append(p.Turns, Turn{Name: n.Reply.String(), Group: 0, Ask: ask, AskLen: len(ask), Reply: reply, Delay: seconds(n.Delay),
		Within: seconds(n.Timeout) + p.Port.Wire(reply), Quiet: seconds(n.Timeout), Period: seconds(1 / t.Rate)})
	for i := range p.Turns {
		p.Turns[i].Reason = func(code uint8) string { return tracker.NDIReason(int(code)) }
	}
	d := tracker.NewNDI()
	d.Option = tracker.NDITransforms
	s := newSamples(d, list)
	s.newest, s.ends = map[int]float64{}, p.ndiEnds
	p.Decoder = s
	p.Far = func() Far {
		s := &NDISystem{poses: poses{slots: list, parts: numbers(n.Tools, 0)}}
		return Far{Decoder: s, Restart: s.Restart}
	}
	return p, nil
}

// Errors of NDI that a system which was started and tracks does not make: it was reset since.
var ndiForgot = map[int]bool{0x08: true, 0x0C: true, 0x0D: true, 0x0E: true, 0x0F: true, 0x10: true}

// ndiEnds is what a reply means for the open turn.
func (p *Plan) ndiEnds(turn int, f *tracker.Frame) end {
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
		case name == "TSTOP": // it did not track
			return answered
		}
		return denied
	case tracker.Data:
		if poses {
			return answered
		}
	case tracker.Answer:
		if name != "" && !poses && (f.Name == "PHSR") == (name == "PHSR") {
			return answered
		}
	}
	return notYet
}

// NDISystem is the far end of the line: a system that answers commands, with tools whose poses are the values of its table.
type NDISystem struct {
	poses
	c      wire.Counters
	misfit wire.Misfit
	line   [64]byte
	n      int
	reply  []byte // to the newest command, but for poses
	ask    byte   // 'B' or 'T': poses are asked for
	mode   atomic.Uint32
	state  map[int]int // of handles: 1 initialized, 2 enabled
}

// Modes of the system.
const (
	ndiSwitchedOn = iota
	ndiSetUp
	ndiTracking
)

// Restart is what the system says after it was reset: it forgot all it was told.
func (s *NDISystem) Restart() []byte {
	s.mode.Store(ndiSwitchedOn)
	return []byte("RESETBE6F\r")
}

func (s *NDISystem) Reset()                   { s.n = 0 }
func (s *NDISystem) Counters() *wire.Counters { return &s.c }
func (s *NDISystem) Misfit() *wire.Misfit     { return &s.misfit }
func (s *NDISystem) Wrap() int64              { return 0 }

// Next reads one command; see wire.Decoder.
func (s *NDISystem) Next(buf []byte, f *wire.Frame) (n int, st wire.Status) {
	for n < len(buf) {
		b := buf[n]
		n++
		s.c.Bytes++
		if b != '\r' {
			if s.n < len(s.line) {
				s.line[s.n] = b
				s.n++
			}
			continue
		}
		t := s.line[:s.n]
		s.n = 0
		s.command(string(t))
		s.c.Frames++
		f.Header = wire.Header{Kind: wire.Command}
		return n, wire.Good
	}
	return n, wire.More
}

// command takes one without its CR: WORD:parametersCRC, or WORD parameters.
func (s *NDISystem) command(t string) {
	s.ask = 0
	say := func(text string) { s.reply = append(s.reply[:0], text...) }
	refuse := func(code int) { say(fmt.Sprintf("ERROR%02X", code)) }
	i := 0
	for i < len(t) && t[i] != ':' && t[i] != ' ' {
		i++
	}
	word, rest := t[:i], ""
	if i < len(t) {
		rest = t[i+1:]
		if t[i] == ':' {
			if len(rest) < 4 {
				refuse(0x03)
				return
			}
			if fmt.Sprintf("%04X", wire.CRC16Reflected(0, []byte(t[:len(t)-4]))) != t[len(t)-4:] {
				refuse(0x04)
				return
			}
			rest = rest[:len(rest)-4]
		}
	}
	handle := func(to, from int) {
		var h int
		if _, err := fmt.Sscanf(rest, "%02X", &h); err != nil || !s.has(h) {
			refuse(0x08)
			return
		}
		if s.state[h] < from {
			refuse(0x0E)
			return
		}
		s.state[h] = max(s.state[h], to)
		say("OKAY")
	}
	mode := s.mode.Load()
	switch {
	case word == "RESET":
		s.mode.Store(ndiSwitchedOn)
		say("RESET")
	case word == "INIT":
		s.state = map[int]int{}
		s.mode.Store(ndiSetUp)
		say("OKAY")
	case word == "COMM":
		say("OKAY")
	case mode == ndiSwitchedOn:
		refuse(0x10)
	case word == "TSTOP" && mode == ndiTracking:
		s.mode.Store(ndiSetUp)
		say("OKAY")
	case word == "TSTOP", mode == ndiTracking && word != "BX" && word != "TX":
		refuse(0x0C)
	case word == "PHSR":
		text := fmt.Sprintf("%02X", len(s.parts))
		for _, h := range s.parts {
			text += fmt.Sprintf("%02X%03X", h, []int{0x01, 0x11, 0x31}[s.state[h]])
		}
		say(text)
	case word == "PINIT":
		handle(1, 0)
	case word == "PENA":
		handle(2, 1)
	case word == "TSTART":
		s.mode.Store(ndiTracking)
		say("OKAY")
	case (word == "BX" || word == "TX") && mode == ndiTracking:
		s.ask = word[0]
	case word == "BX" || word == "TX":
		refuse(0x0C)
	default:
		refuse(0x01)
	}
}

func (s *NDISystem) has(h int) bool {
	for _, n := range s.parts {
		if n == h {
			return true
		}
	}
	return false
}

// Answer answers the newest command; see wire.Responder. Only tools that are enabled are told of.
func (s *NDISystem) Answer(dst []byte, y []float64) []byte {
	if s.ask == 0 {
		dst = append(dst, s.reply...)
		return fmt.Appendf(dst, "%04X\r", wire.CRC16Reflected(0, s.reply))
	}
	fresh := uint64(0)
	for i, v := range y {
		if v == v {
			fresh |= 1 << i
		}
	}
	s.fill(wire.Header{Fresh: fresh}, y)
	n := 0
	for i := range s.frame.N {
		tool := &s.frame.S[i]
		if s.state[tool.Device] < 2 {
			continue
		}
		if !tool.Has.Has(tracker.Status) {
			tool.Put(tracker.Status, 0x31) // occupied, initialized, enabled
		}
		s.frame.S[n] = *tool
		n++
	}
	s.frame.N = n
	if s.ask == 'B' {
		return tracker.AppendBX(dst, &s.frame)
	}
	return tracker.AppendTX(dst, &s.frame)
}
