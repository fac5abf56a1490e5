package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"hilrig/hil/protocol"
	"hilrig/hil/wire"
)

// modbusSource decodes what was heard on a bus of Modbus RTU slaves: questions and replies. The reply of a slave does not say which
// registers it brings; with a table it is taken for the reply to the question heard before it, else for that of the only question it
// fits.
type modbusSource struct{ plan *protocol.Plan }

func (s *modbusSource) decode(b []byte, w *writer) string {
	open, bad := -1, 0
	var asked []byte // the newest question, while its reply is to come
	for at := 0; at+4 <= len(b); {
		n, question := modbusFrame(b[at:], asked)
		if n == 0 {
			at++
			bad++
			continue
		}
		p := b[at : at+n]
		if question {
			open = s.turn(p)
			asked = p
			w.begin(at, n, "question")
		} else {
			w.begin(at, n, "reply")
		}
		w.integer("slave", int(p[0]))
		w.integer("function", int(p[1]&0x7F))
		switch {
		case !question && p[1]&0x80 != 0:
			w.integer("code", int(p[2]))
			w.text("reason", wire.ModbusReason(p[2]))
		case question || p[1] == wire.ModbusWriteOne || p[1] == wire.ModbusWriteMany:
			w.integer("register", int(binary.BigEndian.Uint16(p[2:])))
			if p[1] == wire.ModbusWriteOne {
				w.integer("written", int(binary.BigEndian.Uint16(p[4:])))
			} else {
				w.integer("count", int(binary.BigEndian.Uint16(p[4:])))
			}
			if question && p[1] == wire.ModbusWriteMany {
				w.registers(p[7 : n-2])
			}
			if !question && asked != nil && !bytes.Equal(p[2:6], asked[2:6]) { // the specification demands that both are the same
				w.text("reason", wire.ModbusReason(wire.ModbusOtherValue))
			}
		default:
			w.registers(p[3 : n-2])
			s.reply(open, p, w)
		}
		w.writeLine()
		if !question {
			open, asked = -1, nil
		}
		at += n
	}
	return fmt.Sprintf("%d bytes are no frame", bad)
}

func (w *writer) registers(b []byte) {
	w.open("registers", '[')
	for i := 0; i+1 < len(b); i += 2 {
		if i > 0 {
			w.line = append(w.line, ',')
		}
		w.number(float64(binary.BigEndian.Uint16(b[i:])))
	}
	w.shut(']')
}

// modbusFrame is the length of the frame that b begins with, by its checksum, and whether it is a question; 0: none.
func modbusFrame(b, asked []byte) (n int, question bool) {
	if b[0] == 0 || b[0] > 247 {
		return 0, false
	}
	intact := func(n int) bool {
		return n <= len(b) && wire.CRC16Reflected(0xFFFF, b[:n-2]) == binary.LittleEndian.Uint16(b[n-2:])
	}
	expected := asked != nil && asked[0] == b[0] && asked[1] == b[1]&0x7F
	switch f := b[1]; {
	case f&0x80 != 0:
		if len(b) >= 5 && intact(5) {
			return 5, false
		}
	case f >= 1 && f <= 4:
		if expected && intact(5+int(b[2])) {
			return 5 + int(b[2]), false
		}
		if intact(8) {
			return 8, true
		}
		if intact(5 + int(b[2])) {
			return 5 + int(b[2]), false
		}
	case f == wire.ModbusWriteOne || f == 5:
		if intact(8) {
			return 8, !expected
		}
	case f == wire.ModbusWriteMany || f == 15:
		if len(b) > 6 && intact(9+int(b[6])) {
			return 9 + int(b[6]), true
		}
		if intact(8) {
			return 8, false
		}
	}
	return 0, false
}

// turn is that of the plan which asks this; −1: none.
func (s *modbusSource) turn(question []byte) int {
	if s.plan == nil {
		return -1
	}
	for k := range s.plan.Turns {
		if string(s.plan.Turns[k].Ask) == string(question) {
			return k
		}
	}
	return -1
}

// reply adds the values of a reply, where it is known to which question it belongs.
func (s *modbusSource) reply(open int, p []byte, w *writer) {
	if s.plan == nil {
		return
	}
	if open < 0 {
		for k := range s.plan.Turns {
			if t := &s.plan.Turns[k]; t.Ask != nil && t.Ask[0] == p[0] && t.Ask[1] == p[1] && t.Reply == len(p) {
				if open >= 0 {
					w.text("values", "of several questions")
					return
				}
				open = k
			}
		}
	}
	if open < 0 {
		return
	}
	d, f := s.plan.Decoder.(wire.TurnDecoder), new(wire.Frame)
	d.Expect(open)
	if _, st := d.Next(p, f); st == wire.Good {
		w.fields(s.plan.Meas, f)
	}
}
