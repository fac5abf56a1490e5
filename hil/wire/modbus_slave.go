package wire

import (
	"encoding/binary"
	"fmt"
)

// Reasons with which a slave refuses.
const (
	ModbusOtherValue      = 0 // none of the standard: the reply to function 6 has another value than was asked for
	modbusIllegalFunction = 1
	modbusIllegalRegister = 2
	modbusIllegalValue    = 3
	modbusDeviceFailure   = 4
)

// ModbusReason says what the reason of a refusal means.
func ModbusReason(code uint8) string {
	switch code {
	case ModbusOtherValue:
		return "another value: the slave's reply has not the value that was written, so it took another one"
	case modbusIllegalFunction:
		return "illegal function: the slave does not know it"
	case modbusIllegalRegister:
		return "illegal data address: the slave has no such register, or not so many in a row"
	case modbusIllegalValue:
		return "illegal data value"
	case modbusDeviceFailure:
		return "slave device failure"
	case 5:
		return "acknowledge: the slave needs longer"
	case 6:
		return "slave device busy"
	case 8:
		return "memory parity error"
	}
	return fmt.Sprintf("reason %d", code)
}

// Responder decodes at an end of the line that speaks only when it is asked.
type Responder interface {
	Decoder
	// Answer writes the answer to the frame that Next found last behind dst. y are the values that may be asked for, in the order of
	// their table.
	Answer(dst []byte, y []float64) []byte
}

// ModbusSlaves are all slaves of a bus at its far end: measurements are read there, commands are written and can be read back where
// they stand among holding registers. Registers between those that fields name are 0.
type ModbusSlaves struct {
	sends, takes []Field
	got          []float64 // newest commands, in the units of the fields
	c            Counters
	misfit       Misfit
	n            int
	part         [modbusFrame]byte
	ask          [modbusFrame]byte // the newest question
	refuses      uint8             // reason to refuse it; 0: none
}

// NewModbusSlaves has these fields, whose Register is set.
func NewModbusSlaves(sends, takes []Field) *ModbusSlaves {
	return &ModbusSlaves{sends: sends, takes: takes, got: make([]float64, len(takes))}
}

// Reset forgets a half-received question.
func (s *ModbusSlaves) Reset() { s.n = 0 }

// Counters are owned by the decoder.
func (s *ModbusSlaves) Counters() *Counters { return &s.c }

// Misfit stays empty.
func (s *ModbusSlaves) Misfit() *Misfit { return &s.misfit }

// Wrap is 0: questions carry no time.
func (s *ModbusSlaves) Wrap() int64 { return 0 }

// Next reads one question to a slave of this bus; see Decoder. The commands that it writes are the frame's fields.
func (s *ModbusSlaves) Next(buf []byte, f *Frame) (n int, st Status) {
	for n < len(buf) {
		s.part[s.n] = buf[n]
		s.n++
		s.c.Bytes++
		n++
		for s.n >= 8 {
			want := 8
			if s.part[1] == ModbusWriteMany {
				want = min(9+int(s.part[6]), modbusFrame)
			}
			if s.n < want {
				break
			}
			p := s.part[:want]
			if modbusCRC(p[:want-2]) != binary.LittleEndian.Uint16(p[want-2:]) {
				s.n = copy(s.part[:], s.part[1:s.n])
				s.c.Resync++
				continue
			}
			copy(s.ask[:], p)
			s.n = copy(s.part[:], s.part[want:s.n])
			if lo, _ := s.bounds(p[0], Holding); lo < 0 {
				if lo, _ = s.bounds(p[0], Input); lo < 0 {
					s.c.Foreign++
					continue
				}
			}
			s.c.Frames++
			f.Header = Header{Kind: Command}
			s.refuses = s.execute(p, f)
			return n, Good
		}
	}
	return n, More
}

// bounds are the first and the last register of a slave's table; −1 where it has none.
func (s *ModbusSlaves) bounds(slave byte, table RegisterTable) (lo, hi int) {
	lo, hi = -1, -1
	for _, list := range [][]Field{s.sends, s.takes} {
		for i := range list {
			if at := list[i].Register; at.Slave == int(slave) && at.Table == table {
				first := *at.Register
				if lo < 0 || first < lo {
					lo = first
				}
				hi = max(hi, first+list[i].Type.Registers()-1)
			}
		}
	}
	return lo, hi
}

// execute does what a question asks for, and returns the reason to refuse it; 0: none.
func (s *ModbusSlaves) execute(p []byte, f *Frame) uint8 {
	first, count := int(binary.BigEndian.Uint16(p[2:])), int(binary.BigEndian.Uint16(p[4:]))
	data := p[4:6]
	table := Holding
	switch p[1] {
	case ModbusReadInput:
		table = Input
	case ModbusReadHolding:
	case ModbusWriteOne:
		count = 1
	case ModbusWriteMany:
		if data = p[7 : len(p)-2]; len(data) != 2*count {
			return modbusIllegalValue
		}
	default:
		return modbusIllegalFunction
	}
	if count < 1 || count > ModbusMostRead {
		return modbusIllegalValue
	}
	if lo, hi := s.bounds(p[0], table); lo < 0 || first < lo || first+count-1 > hi {
		return modbusIllegalRegister
	}
	if p[1] == ModbusReadInput || p[1] == ModbusReadHolding {
		return 0
	}
	written := 0
	for i := range s.takes {
		fd := &s.takes[i]
		at, n := *fd.Register.Register-first, fd.Type.Registers()
		if fd.Register.Slave != int(p[0]) || at < 0 || at+n > count {
			continue
		}
		s.got[i] = fd.value(fd.Type.getRegisters(data[2*at:], fd.Register.Order))
		f.V[i] = s.got[i]
		f.FreshFields |= 1 << i
		written += n
	}
	if written != count { // a register that is no command, or half of one
		f.FreshFields = 0
		return modbusIllegalRegister
	}
	return 0
}

// Answer answers the question that Next found last; see Responder.
func (s *ModbusSlaves) Answer(dst []byte, y []float64) []byte {
	at, q := len(dst), s.ask[:]
	dst = append(dst, q[0], q[1])
	refuse := func(reason uint8) []byte {
		dst = append(dst[:at], q[0], q[1]|modbusRefuses, reason)
		return appendModbusCRC(dst, at)
	}
	if s.refuses != 0 {
		return refuse(s.refuses)
	}
	if q[1] == ModbusWriteOne || q[1] == ModbusWriteMany {
		return appendModbusCRC(append(dst, q[2:6]...), at)
	}
	first, count, table := int(binary.BigEndian.Uint16(q[2:])), int(binary.BigEndian.Uint16(q[4:])), Holding
	if q[1] == ModbusReadInput {
		table = Input
	}
	var data [2 * ModbusMostRead]byte
	for k, list := range [][]Field{s.sends, s.takes} {
		values := [][]float64{y, s.got}[k]
		for i := range list {
			fd := &list[i]
			from, n := *fd.Register.Register-first, fd.Type.Registers()
			if fd.Register.Slave != int(q[0]) || fd.Register.Table != table || from+n <= 0 || from >= count {
				continue
			}
			raw, ok := fd.raw(values[i])
			if !ok {
				return refuse(modbusDeviceFailure)
			}
			var b [8]byte
			fd.Type.putRegisters(b[:], raw, fd.Register.Order)
			for r := range n {
				if from+r >= 0 && from+r < count {
					copy(data[2*(from+r):], b[2*r:2*r+2])
				}
			}
		}
	}
	dst = append(append(dst, byte(2*count)), data[:2*count]...)
	return appendModbusCRC(dst, at)
}
