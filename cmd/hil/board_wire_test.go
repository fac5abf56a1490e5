//go:build linux

package main

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// ---- text lines

func (r *boardRig) line(s *boardSample, other bool) []byte {
	cells := []string{strconv.FormatUint(uint64(uint32(s.clock.Microseconds())), 10)}
	for _, c := range r.channels {
		cell := strconv.FormatFloat(s.value[c], 'g', 9, 64)
		if s.absent[c] {
			cell = ""
		}
		cells = append(cells, strings.ToLower(cell))
	}
	if other {
		cells = append(cells, "7")
	}
	return []byte(strings.Join(cells, ",") + ",\n") // one empty column at the end is ignored: the last one may be left out
}

func (b *board) takeLine(line string) {
	cells := strings.Split(line, ",")
	if len(cells) != 2 {
		return
	}
	u, err := strconv.ParseFloat(cells[0], 64)
	on, err2 := strconv.ParseFloat(cells[1], 64)
	if err == nil && err2 == nil {
		b.take(boardOrder{command: u * 1e-6, on: on == 1})
	}
}

// ---- link frames

// frame is a measurement: kind, sequence, µs, presence bits where something is left out, numbers, CRC; COBS between two zeros.
func (r *boardRig) frame(seq byte, s *boardSample, other bool) []byte {
	body := []byte{1, seq}
	body = binary.LittleEndian.AppendUint32(body, uint32(s.clock.Microseconds()))
	present := byte(0)
	for i, c := range r.channels {
		if !s.absent[c] {
			present |= 1 << i
		}
	}
	if present != 1<<len(r.channels)-1 {
		body[0] |= 128
		body = append(body, present)
	}
	for _, c := range r.channels {
		switch {
		case s.absent[c]:
		case c == chStatus:
			body = append(body, byte(s.value[c]))
		default:
			body = binary.LittleEndian.AppendUint64(body, math.Float64bits(s.value[c]))
		}
	}
	if other {
		body = append(body, 7)
	}
	return cobs(binary.LittleEndian.AppendUint16(body, crcCCITT(body)))
}

func cobs(body []byte) []byte {
	out := []byte{0}
	for _, piece := range strings.Split(string(body), "\x00") {
		for len(piece) >= 254 {
			out = append(append(out, 255), piece[:254]...)
			piece = piece[254:]
		}
		out = append(append(out, byte(len(piece)+1)), piece...)
	}
	return append(out, 0)
}

func uncobs(in []byte) (out []byte, ok bool) {
	for len(in) > 0 {
		n := int(in[0])
		if n == 0 || n > len(in) {
			return nil, false
		}
		out = append(out, in[1:n]...)
		if in = in[n:]; n < 255 && len(in) > 0 {
			out = append(out, 0)
		}
	}
	return out, true
}

func crcCCITT(p []byte) uint16 {
	r := uint16(0xFFFF)
	for _, x := range p {
		r ^= uint16(x) << 8
		for range 8 {
			if r&0x8000 != 0 {
				r = r<<1 ^ 0x1021
			} else {
				r <<= 1
			}
		}
	}
	return r
}

// takeFrame reads a command of a number of 8 bytes and a byte.
func (b *board) takeFrame(stuffed []byte) {
	p, ok := uncobs(stuffed)
	if !ok || len(p) != 6+9+2 || crcCCITT(p[:15]) != binary.LittleEndian.Uint16(p[15:]) || p[0] != 2 && p[0] != 3 {
		return
	}
	b.take(boardOrder{kind: p[0], stamp: binary.LittleEndian.Uint32(p[2:]),
		command: math.Float64frombits(binary.LittleEndian.Uint64(p[6:])) * 1e-6, on: p[14] == 1})
}

// ---- Modbus

// serve answers the questions in rest, as slave 1, and returns what is left of it. Registers 0 to 9 are the channels as f32, high word
// first, 10 is the status, 20 to 22 take the command as f32 and the enable.
func (b *board) serve(rest []byte) []byte {
	for len(rest) >= 8 {
		n := 8
		if rest[1] == 16 {
			n = 9 + int(rest[6])
		}
		if len(rest) < n {
			return rest
		}
		q := rest[:n]
		if crcModbus(q[:n-2]) != binary.LittleEndian.Uint16(q[n-2:]) {
			rest = rest[1:]
			continue
		}
		rest = rest[n:]
		b.answer(q)
	}
	return rest
}

func (b *board) answer(q []byte) {
	f := &b.fault
	s := b.measure(b.now())
	if f.sample != nil {
		f.sample(&s)
	}
	at := int(binary.BigEndian.Uint16(q[2:]))
	reply := []byte{q[0], q[1]}
	switch q[1] {
	case 3, 4:
		var bank []byte
		for c := range boardChannels {
			word := math.Float32bits(float32(s.value[c]))
			if c == chStatus {
				word = uint32(s.value[c]) << 16
			}
			bank = binary.BigEndian.AppendUint32(bank, word)
		}
		bank = append(bank, make([]byte, 64)...)
		n := int(binary.BigEndian.Uint16(q[4:]))
		reply = append(append(reply, byte(2*n)), bank[2*at:2*(at+n)]...)
	case 16:
		if f.refuses {
			reply = []byte{q[0], q[1] | 128, 4}
			break
		}
		if at == 20 && len(q) >= 9+6 {
			u := math.Float32frombits(binary.BigEndian.Uint32(q[7:]))
			b.take(boardOrder{command: float64(u) * 1e-6, on: binary.BigEndian.Uint16(q[11:]) == 1})
		}
		reply = append(reply, q[2:6]...)
	default:
		reply = []byte{q[0], q[1] | 128, 1}
	}
	if !f.quiet {
		b.write(binary.LittleEndian.AppendUint16(reply, crcModbus(reply)))
	}
}

func crcModbus(p []byte) uint16 {
	r := uint16(0xFFFF)
	for _, x := range p {
		r ^= uint16(x)
		for range 8 {
			if r&1 != 0 {
				r = r>>1 ^ 0xA001
			} else {
				r >>= 1
			}
		}
	}
	return r
}
