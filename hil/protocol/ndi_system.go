package protocol

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"hilrig/hil/wire"
	"hilrig/hil/wire/tracker"
)

// NDISystem is the far end of the line: a system that answers commands, with tools whose poses are the values of its table.
type NDISystem struct {
	poses
	c      wire.Counters
	misfit wire.Misfit
	line   [4 * romBlock]byte
	n      int
	reply  []byte // to the newest command, but for poses
	ask    byte   // 'B' or 'T': poses are asked for
	mode   atomic.Uint32
	tools  []Tool
	ports  map[int]*ndiPort // by their handles
}

// ndiPort is what a port handle stands for.
type ndiPort struct {
	tool       int // its place in the list; −1: its definition is still to come
	state      int // 1 initialized, 2 enabled
	definition []byte
}

func newNDISystem(tools []Tool, list []slot) *NDISystem {
	s := &NDISystem{poses: poses{slots: list}, tools: tools}
	for i := range tools {
		s.parts = append(s.parts, i+1)
	}
	s.forget()
	return s
}

// forget leaves the ports of wired tools.
func (s *NDISystem) forget() {
	s.ports = map[int]*ndiPort{}
	for i, t := range s.tools {
		if t.ROM == "" {
			s.ports[t.Number] = &ndiPort{tool: i}
		}
	}
}

// handles are those in use, from the lowest on.
func (s *NDISystem) handles() []int { return slices.Sorted(maps.Keys(s.ports)) }

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
	var h int
	_, err := fmt.Sscanf(rest, "%02X", &h)
	port := s.ports[h]
	known := err == nil && port != nil
	mode := s.mode.Load()
	switch {
	case word == "RESET":
		s.mode.Store(ndiSwitchedOn)
		s.forget()
		say("RESET")
	case word == "INIT":
		for _, p := range s.ports {
			p.state = 0
		}
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
		say(s.list(rest == "01"))
	case word == "PHRQ":
		for h = 1; s.ports[h] != nil; h++ {
		}
		s.ports[h] = &ndiPort{tool: -1}
		say(fmt.Sprintf("%02X", h))
	case !known && (word == "PHF" || word == "PVWR" || word == "PINIT" || word == "PHINF" || word == "PENA"):
		refuse(0x08)
	case word == "PHF":
		delete(s.ports, h)
		say("OKAY")
	case word == "PVWR":
		if !port.write(rest[2:]) {
			refuse(0x07)
			break
		}
		say("OKAY")
	case word == "PINIT":
		if port.tool < 0 {
			port.tool = slices.IndexFunc(s.tools, func(t Tool) bool {
				return t.ROM != "" && bytes.Equal(t.Definition, bytes.TrimRight(port.definition, "\x00"))
			})
		}
		if port.tool < 0 {
			refuse(0x13)
			break
		}
		port.state = max(port.state, 1)
		say("OKAY")
	case word == "PHINF" && port.tool < 0:
		say("UNOCCUPIED")
	case word == "PHINF":
		say(fmt.Sprintf("02000000%-12s%03d%08s%02X", "HIL", 0, s.tools[port.tool].Serial, 0x11))
	case word == "PENA" && port.state < 1:
		refuse(0x0E)
	case word == "PENA":
		port.state = 2
		say("OKAY")
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

// list is the reply to PHSR: all handles, or those to be freed: none.
func (s *NDISystem) list(toFree bool) string {
	handles := s.handles()
	if toFree {
		handles = nil
	}
	text := fmt.Sprintf("%02X", len(handles))
	for _, h := range handles {
		text += fmt.Sprintf("%02X%03X", h, []int{0x01, 0x11, 0x31}[s.ports[h].state])
	}
	return text
}

// write takes a block of a definition: its place in four digits, and its bytes.
func (p *ndiPort) write(t string) bool {
	var place int
	if len(t) != 4+2*romBlock {
		return false
	}
	block, err := hex.DecodeString(t[4:])
	if _, e := fmt.Sscanf(t[:4], "%04X", &place); e != nil || err != nil || place > len(p.definition) {
		return false
	}
	p.definition = append(p.definition[:place], block...)
	return true
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
	s.fill(wire.Header{FreshFields: fresh}, y)
	n := 0
	for i := range s.frame.N {
		tool := &s.frame.S[i]
		if tool.Device = s.enabled(tool.Device - 1); tool.Device == 0 {
			continue
		}
		if !tool.Present.Contains(tracker.Status) {
			tool.SetValue(tracker.Status, 0x31) // occupied, initialized, enabled
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

// enabled is the handle of a tool that is enabled; 0: it is not.
func (s *NDISystem) enabled(tool int) int {
	for h, p := range s.ports {
		if p.tool == tool && p.state == 2 {
			return h
		}
	}
	return 0
}
