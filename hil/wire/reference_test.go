package wire

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A second, slow and obvious reader of link frames, written from docs/reference/link.md: the whole stream at once, one byte and one
// bit at a time. Tests compare frames and counters of the decoder with it.

func slowCRC(p []byte) uint16 {
	r := uint16(0xFFFF)
	for _, b := range p {
		for k := 7; k >= 0; k-- {
			top := r>>15 ^ uint16(b>>k&1)
			r <<= 1
			if top == 1 {
				r ^= 0x1021
			}
		}
	}
	return r
}

func slowCOBS(chunk []byte) ([]byte, bool) {
	var out []byte
	for len(chunk) > 0 {
		c := int(chunk[0])
		if c > len(chunk) {
			return nil, false
		}
		out = append(out, chunk[1:c]...)
		chunk = chunk[c:]
		if c < 255 && len(chunk) > 0 {
			out = append(out, 0)
		}
	}
	return out, true
}

// slowLink reads a stream of plain and partial frames of one kind.
func slowLink(fields []Field, kind Kind, max int, stream []byte) (frames []Frame, c Counters) {
	c.Bytes = uint64(len(stream))
	first, have, last := true, false, uint8(0)
	for {
		end := -1
		for i, b := range stream {
			if b == 0 {
				end = i
				break
			}
		}
		if end < 0 {
			if len(stream) > maxPayload { // its end is to come, but it is too long for any table
				c.Resync += uint64(len(stream))
			}
			return frames, c
		}
		chunk := stream[:end]
		stream = stream[end+1:]
		begin := first
		first = false
		if len(chunk) == 0 {
			continue
		}
		if len(chunk) > max {
			c.Oversize++
			c.Resync += uint64(len(chunk) + 1)
			continue
		}
		f, verdict := slowFrame(fields, kind, chunk, &c)
		switch {
		case verdict == "foreign":
			c.Foreign++
			c.Resync += uint64(len(chunk) + 1)
		case verdict == "bad":
			if !begin {
				c.Malformed++
			}
			c.Resync += uint64(len(chunk) + 1)
		case !have:
			have, last = true, f.Seq
			c.Frames++
			frames = append(frames, f)
		default:
			d := int(f.Seq) - int(last)
			if d < 0 {
				d += 256
			}
			last = f.Seq
			switch {
			case d == 0:
				c.Repeats++
				continue
			case d < 128:
				c.Gaps += uint64(d - 1)
			default:
				c.Restarts++
			}
			c.Frames++
			frames = append(frames, f)
		}
	}
}

func slowFrame(fields []Field, kind Kind, chunk []byte, c *Counters) (f Frame, verdict string) {
	p, ok := slowCOBS(chunk)
	if !ok || len(p) < 8 || slowCRC(p[:len(p)-2]) != uint16(p[len(p)-2])+256*uint16(p[len(p)-1]) {
		return f, "bad"
	}
	p = p[:len(p)-2]
	if Kind(p[0]&0x7f) != kind {
		return f, "foreign"
	}
	f.Kind, f.Seq, f.HasTime = kind, p[1], true
	f.Time = 1000 * int64(binary.LittleEndian.Uint32(p[2:6]))
	body := p[6:]
	here := make([]bool, len(fields))
	for i := range here {
		here[i] = true
	}
	if p[0]&0x80 != 0 {
		n := (len(fields) + 7) / 8
		if len(body) < n {
			return f, "bad"
		}
		for i := range 8 * n {
			bit := body[i/8]>>(i%8)&1 == 1
			if i < len(fields) {
				here[i] = bit
			} else if bit {
				return f, "bad"
			}
		}
		body = body[n:]
	}
	want := 0
	for i, fd := range fields {
		if here[i] {
			want += map[Type]int{U8: 1, I8: 1, U16: 2, I16: 2, U32: 4, I32: 4, F32: 4, F64: 8}[fd.Type]
		}
	}
	if len(body) != want {
		return f, "bad"
	}
	for i, fd := range fields {
		if !here[i] {
			continue
		}
		var raw float64
		size := fd.Type.Size()
		var u uint64
		for k := range size {
			u |= uint64(body[k]) << (8 * k)
		}
		switch fd.Type {
		case U8, U16, U32:
			raw = float64(u)
		case I8, I16, I32:
			raw = float64(int64(u<<(64-8*size)) >> (64 - 8*size))
		case F32:
			raw = float64(math.Float32frombits(uint32(u)))
		case F64:
			raw = math.Float64frombits(u)
		}
		body = body[size:]
		v := float64(raw*fd.Scale) + fd.Offset
		if math.IsNaN(v) || math.IsInf(v, 0) {
			c.NonFinite++
		}
		f.V[i] = v
		f.FreshFields |= 1 << i
	}
	return f, ""
}

// collect runs a decoder over a stream in pieces of the given lengths (the rest in one) and keeps the good frames.
func collect(d Decoder, stream []byte, cuts []int) (frames []Frame) {
	for len(stream) > 0 {
		n := len(stream)
		if len(cuts) > 0 {
			n, cuts = min(cuts[0], n), cuts[1:]
		}
		piece := stream[:n]
		stream = stream[n:]
		for {
			var f Frame
			used, st := d.Next(piece, &f)
			piece = piece[used:]
			if st == Good {
				frames = append(frames, f)
			}
			if st == More {
				break
			}
		}
	}
	return frames
}

// same fails when frames differ, by the bits of their numbers.
func same(t interface{ Fatalf(string, ...any) }, what string, got, want any) {
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })); d != "" {
		t.Fatalf("%s differ (-want +got):\n%s", what, d)
	}
}

// The published check value of CRC-16/CCITT-FALSE, and the fast form against the bitwise one for every length.
func TestCRC(t *testing.T) {
	if got := crc16([]byte("123456789")); got != 0x29B1 {
		t.Fatalf("check value %#04x, want 0x29B1", got)
	}
	p := make([]byte, 70)
	for i := range p {
		p[i] = byte(i*37 + 11)
	}
	for n := range p {
		if got, want := crc16(p[:n]), slowCRC(p[:n]); got != want {
			t.Fatalf("%d bytes: %#04x, want %#04x", n, got, want)
		}
	}
}

// The examples of [CB99] and of the edges of the 254-byte rule.
func TestCOBS(t *testing.T) {
	run := func(from, n int) (b []byte) {
		for i := range n {
			b = append(b, byte(from+i))
		}
		return b
	}
	for _, c := range []struct {
		name      string
		data, out []byte
	}{
		{"empty", nil, []byte{1}},
		{"one zero", []byte{0}, []byte{1, 1}},
		{"two zeros", []byte{0, 0}, []byte{1, 1, 1}},
		{"zero inside", []byte{0x11, 0x22, 0, 0x33}, []byte{3, 0x11, 0x22, 2, 0x33}},
		{"no zero", []byte{0x11, 0x22, 0x33, 0x44}, []byte{5, 0x11, 0x22, 0x33, 0x44}},
		{"zeros at the end", []byte{0x11, 0, 0, 0}, []byte{2, 0x11, 1, 1, 1}},
		{"254 bytes", run(1, 254), append([]byte{255}, run(1, 254)...)},
		{"255 bytes", run(1, 255), append(append([]byte{255}, run(1, 254)...), 2, 255)},
		{"zero and 254", run(0, 255), append([]byte{1, 255}, run(1, 254)...)},
		{"254 and zero", append(run(2, 254), 0), append(append([]byte{255}, run(2, 254)...), 1, 1)},
	} {
		if got := cobsAppend(nil, c.data); string(got) != string(c.out) {
			t.Errorf("%s: % x, want % x", c.name, got, c.out)
		}
		if len(c.out) > cobsLen(len(c.data)) {
			t.Errorf("%s: longer than cobsLen", c.name)
		}
		dst := make([]byte, len(c.out)+1)
		n, ok := cobsDecode(dst, c.out)
		if !ok || string(dst[:n]) != string(c.data) {
			t.Errorf("%s: back % x %v", c.name, dst[:n], ok)
		}
	}
}

// The CRCs that others name, by their check values over "123456789" (catalogue of parametrised CRC algorithms), and bit by bit.
func TestCRCNames(t *testing.T) {
	nine := []byte("123456789")
	if x, a, m := CRC16(0, nine), CRC16Reflected(0, nine), CRC16Reflected(0xFFFF, nine); x != 0x31C3 || a != 0xBB3D || m != 0x4B37 {
		t.Errorf("XMODEM %04X, ARC %04X, Modbus %04X", x, a, m)
	}
	p := make([]byte, 67)
	for i := range p {
		p[i] = byte(37*i + 11)
	}
	for n := range p {
		want := uint16(0)
		for _, b := range p[:n] {
			want ^= uint16(b)
			for range 8 {
				if want&1 != 0 {
					want = want>>1 ^ 0xA001
				} else {
					want >>= 1
				}
			}
		}
		if got := CRC16Reflected(0, p[:n]); got != want {
			t.Errorf("%d bytes: %04X, want %04X", n, got, want)
		}
	}
}
