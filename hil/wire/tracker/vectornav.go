package tracker

import (
	"encoding/binary"
	"math"

	"hilrig/hil/wire"
)

// VectorNav speaks text and binary on one line [VN19].
//
// Text: $VN, a word, numbers between commas, * and a checksum over what stands between $ and *: two hexadecimal digits (xor) or four
// (CRC-16 XMODEM).
//
// Binary, low byte first:
//
//	0xFA · groups 1 · fields of each group 2 · the fields · CRC-16 XMODEM over all behind 0xFA, high byte first
//
// A bit of groups is a group, a bit of its fields a field; their lengths are fixed.
const (
	vnStart  = 0xFA
	vnGroups = 7
	vnMost   = 1024 // bytes; all fields of all groups together take 1004
	vnText   = 256
)

// Lengths of the fields of each group [vnproglib 1.2, packet.cpp]; 0: not known.
var vnLengths = [vnGroups][16]uint8{
	{8, 8, 8, 12, 16, 12, 24, 12, 12, 24, 20, 28, 2, 4, 8},
	{8, 8, 8, 2, 8, 8, 8, 4, 4, 1},
	{2, 12, 12, 12, 4, 4, 16, 12, 12, 12, 12, 2, 40},
	{8, 8, 2, 1, 1, 24, 24, 12, 12, 12, 4, 4, 2, 28},
	{2, 12, 16, 36, 12, 12, 12, 12, 12, 12, 28, 24, 12},
	{2, 24, 24, 12, 12, 12, 12, 12, 12, 4, 4, 68, 64},
	{8, 8, 2, 1, 1, 24, 24, 12, 12, 12, 4, 4, 2, 28},
}

// VectorNav decodes text and binary.
type VectorNav struct {
	stream
}

// NewVectorNav is a decoder.
func NewVectorNav() *VectorNav {
	d := &VectorNav{}
	d.init(d, vnMost, vnStart, '$')
	d.stops('\n', "\r")
	return d
}

// Wrap is 0: the clock counts ns in 64 bits.
func (d *VectorNav) Wrap() float64 { return 0 }

func (d *VectorNav) recognize(p []byte) (int, verdict) {
	if p[0] == '$' {
		return d.recognizeText(p)
	}
	if len(p) < 2 {
		return 2, partial
	}
	groups := p[1]
	if groups == 0 || groups>>vnGroups != 0 {
		return 0, nothing
	}
	head := 2
	for g := range vnGroups {
		head += int(groups >> g & 1 * 2)
	}
	if len(p) < head {
		return head, partial
	}
	all, at := head+2, 2
	for g := range vnGroups {
		if groups>>g&1 == 0 {
			continue
		}
		fields := binary.LittleEndian.Uint16(p[at:])
		if at += 2; fields == 0 {
			return 0, nothing
		}
		for k := 0; fields != 0; k, fields = k+1, fields>>1 {
			if fields&1 != 0 {
				if vnLengths[g][k] == 0 {
					return 0, nothing
				}
				all += int(vnLengths[g][k])
			}
		}
	}
	switch {
	case all > vnMost:
		return 0, nothing
	case len(p) < all:
		return all, partial
	case wire.CRC16(0, p[1:all]) != 0:
		return 0, refused
	}
	return all, whole
}

// recognizeText judges $VN…*hh or $VN…*hhhh, with CR LF, or LF.
func (d *VectorNav) recognizeText(p []byte) (int, verdict) {
	for i, b := range []byte("$VN") {
		if len(p) == i {
			return i + 1, partial
		}
		if p[i] != b {
			return 0, nothing
		}
	}
	end := d.line(p)
	switch {
	case end < 0 && len(p) < vnText:
		return 0, text
	case end < 0 || end >= vnText || p[end] != '\n':
		return 0, nothing
	}
	t := p[1:end]
	if t[len(t)-1] == '\r' {
		t = t[:len(t)-1]
	}
	star := len(t) - 3
	if star < 0 || t[star] != '*' {
		if star = len(t) - 5; star < 0 || t[star] != '*' {
			return 0, refused
		}
	}
	want, ok := hexadecimal(t[star+1:])
	if !ok {
		return 0, refused
	}
	got := uint64(0)
	if len(t)-star == 3 {
		x := byte(0)
		for _, b := range t[:star] {
			x ^= b
		}
		got = uint64(x)
	} else {
		got = uint64(wire.CRC16(0, t[:star]))
	}
	if got != want {
		return 0, refused
	}
	return end + 1, whole
}

// hexadecimal reads up to 16 digits.
func hexadecimal(b []byte) (v uint64, ok bool) {
	if len(b) == 0 || len(b) > 16 {
		return 0, false
	}
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		default:
			return 0, false
		}
		v = v<<4 | uint64(c)
	}
	return v, true
}

// Next reads one message; see Decoder.
func (d *VectorNav) Next(buf []byte, f *Frame) (n int, st wire.Status) {
	n, b, st := d.next(buf)
	if st != wire.Good {
		return n, st
	}
	f.Raw = b
	if b[0] == '$' {
		return n, d.sentence(b, f)
	}
	f.begin("binary", Data)
	s, at := f.Add(0), 2
	for g := range vnGroups {
		if b[1]>>g&1 != 0 {
			at += 2
		}
	}
	head := 2
	for g := range vnGroups {
		if b[1]>>g&1 == 0 {
			continue
		}
		fields := binary.LittleEndian.Uint16(b[head:])
		head += 2
		for k := 0; fields != 0; k, fields = k+1, fields>>1 {
			if fields&1 == 0 {
				continue
			}
			if !s.vectornav(g, k, b[at:]) {
				s.Extra++
			}
			at += int(vnLengths[g][k])
		}
	}
	d.c.Frames++
	return n, wire.Good
}

func f32(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }
func f64(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

func (s *Sample) f32x3(q Quantity, b []byte, scale float64) {
	s.SetVector(q, f32(b)*scale, f32(b[4:])*scale, f32(b[8:])*scale)
}

// vectornav takes one field of a group (counted from 0); false where it is no quantity here, or was there before.
func (s *Sample) vectornav(g, k int, b []byte) bool {
	var to Quantity
	three, scale := false, 1.0
	switch g*16 + k {
	case 0, 16: // TimeStartup
		if s.Present.Contains(Time) {
			return false
		}
		s.SetValue(Time, float64(binary.LittleEndian.Uint64(b))*1e-9)
		return true
	case 3, 65: // YawPitchRoll
		three, to, scale = true, Yaw, degree
	case 4, 66: // Quaternion: vector first
		if s.Present.Contains(QW) {
			return false
		}
		s.put4(QW, f32(b[12:]), f32(b), f32(b[4:]), f32(b[8:]))
		return true
	case 67: // direction cosines, row by row
		if s.Present.Contains(QW) {
			return false
		}
		s.PutRotation(fromMatrix(f32(b), f32(b[4:]), f32(b[8:]), f32(b[12:]), f32(b[16:]), f32(b[20:]), f32(b[24:]), f32(b[28:]), f32(b[32:])))
		return true
	case 5, 42: // AngularRate
		three, to = true, WX
	case 8, 41: // Accel
		three, to = true, AX
	case 7: // Velocity, north east down
		three, to = true, VX
	case 6: // Position
		if s.Present.Contains(Latitude) {
			return false
		}
		s.SetValue(Latitude, f64(b)*degree)
		s.SetValue(Longitude, f64(b[8:])*degree)
		s.SetValue(Altitude, f64(b[16:]))
		return true
	case 9: // Imu: acceleration and rate without the filter's corrections
		if s.Present.Contains(AX) || s.Present.Contains(WX) {
			return false
		}
		s.f32x3(AX, b, 1)
		s.f32x3(WX, b[12:], 1)
		return true
	case 10: // MagPres
		if s.Present.Contains(MagX) {
			return false
		}
		s.f32x3(MagX, b, gauss)
		s.SetValue(Temperature, f32(b[12:]))
		s.SetValue(Pressure, f32(b[16:])*1e3)
		return true
	case 11: // DeltaTheta, degrees, with the velocity gained
		s.SetValue(DT, f32(b))
		s.f32x3(DThetaX, b[4:], degree)
		s.f32x3(DVX, b[16:], 1)
		return true
	case 38:
		if s.Present.Contains(DThetaX) {
			return false
		}
		s.SetValue(DT, f32(b))
		s.f32x3(DThetaX, b[4:], degree)
		return true
	case 39: // DeltaVel
		three, to = true, DVX
	case 12, 32, 64: // InsStatus, ImuStatus, VpeStatus
		if s.Present.Contains(Status) {
			return false
		}
		s.SetValue(Status, float64(binary.LittleEndian.Uint16(b)))
		return true
	case 36:
		s.SetValue(Temperature, f32(b))
		return true
	case 37:
		s.SetValue(Pressure, f32(b)*1e3)
		return true
	case 40: // Mag
		three, to, scale = true, MagX, gauss
	case 70: // LinearAccelBody
		three, to = true, FreeX
	case 13, 23: // SyncInCnt
		s.SetValue(Count, float64(binary.LittleEndian.Uint32(b)))
		return true
	}
	if !three || s.Present.Contains(to) {
		return false
	}
	s.f32x3(to, b, scale)
	return true
}

// VectorNavEncoder writes one binary message with fields of group 1, or as text the first of YMR, QMR, YPR, QTN that says all.
type VectorNavEncoder struct {
	Text bool
}

// Append writes one message with what f has; see Encoder.
func (e *VectorNavEncoder) Append(dst []byte, f *Frame) []byte {
	if f.N == 0 {
		return dst
	}
	s := &f.S[0]
	if e.Text {
		return s.appendSentence(dst)
	}
	at := len(dst)
	dst = append(dst, vnStart, 1, 0, 0)
	fields := uint16(0)
	put := func(q Quantity, scale float64, n int) {
		for k := range n {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(s.V[q+Quantity(k)]*scale)))
		}
	}
	has := func(bit int, q Quantity) bool {
		if !s.Present.Contains(q) {
			return false
		}
		fields |= 1 << bit
		return true
	}
	if has(0, Time) {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(math.Round(s.V[Time]*1e9)))
	}
	if has(3, Yaw) {
		put(Yaw, 1/degree, 3)
	}
	if has(4, QW) {
		put(QX, 1, 3)
		put(QW, 1, 1)
	}
	if has(5, WX) {
		put(WX, 1, 3)
	}
	if has(7, VX) {
		put(VX, 1, 3)
	}
	if has(8, AX) {
		put(AX, 1, 3)
	}
	if has(10, MagX) {
		put(MagX, 1/gauss, 3)
		put(Temperature, 1, 1)
		put(Pressure, 1e-3, 1)
	}
	if has(12, Status) {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(s.V[Status]))
	}
	if has(13, Count) {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(s.V[Count]))
	}
	binary.LittleEndian.PutUint16(dst[at+2:], fields)
	return binary.BigEndian.AppendUint16(dst, wire.CRC16(0, dst[at+1:]))
}
