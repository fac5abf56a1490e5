package tracker

import (
	"encoding/binary"
	"math"

	"hilrig/engine/numeric"
	"hilrig/hil/wire"
)

// Xsens MTi speaks XBus [Xsens19]: all numbers high byte first,
//
//	0xFA · bus 1 byte, 0xFF for the only device · message 1 byte · length 1 byte, or 0xFF and 2 bytes · data · checksum 1 byte
//
// where the sum of all bytes behind the first is 0 modulo 256. MTData2 is a list of items, each with an identifier of two bytes (group,
// type, format), a length and its numbers. The low two bits of the format are the precision.
const (
	xbusStart    = 0xFA
	xbusMaster   = 0xFF
	xbusBuses    = 0x1F // the highest address
	xbusExtended = 0xFF
	xbusData     = 2048 // bytes
	xbusMost     = 6 + xbusData + 1
)

// Messages of XBus.
const (
	XsensGoToMeasurement = 0x10
	XsensGoToConfig      = 0x30
	XsensMTData          = 0x32 // without a description of its items
	XsensMTData2         = 0x36
	XsensWakeUp          = 0x3E
	XsensWakeUpAck       = 0x3F
	XsensReset           = 0x40
	XsensError           = 0x42
	XsensWarning         = 0x43
)

var xsensNames = map[byte]string{
	0x01: "DeviceID", 0x0D: "Configuration", 0x11: "GoToMeasurementAck", 0x13: "FirmwareRev", 0x1D: "ProductCode", 0x31: "GoToConfigAck",
	XsensMTData: "MTData", XsensMTData2: "MTData2", XsensWakeUp: "WakeUp", 0x41: "ResetAck", XsensError: "Error", XsensWarning: "Warning",
	0xC1: "OutputConfiguration",
}

// Precision is how the numbers of an item travel.
type Precision uint8

const (
	Float32 Precision = iota
	FP1220            // 32 bits, of which 20 behind the point
	FP1632            // 48 bits: first the 32 behind the point, then the 16 before it
	Float64
)

func (p Precision) size() int { return [...]int{4, 4, 6, 8}[p] }

func (p Precision) get(b []byte) float64 {
	switch p {
	case Float32:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case FP1220:
		return float64(int32(binary.BigEndian.Uint32(b))) / (1 << 20)
	case FP1632:
		return float64(int16(binary.BigEndian.Uint16(b[4:]))) + float64(binary.BigEndian.Uint32(b))/(1<<32)
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b))
}

func (p Precision) appendNumber(dst []byte, v float64) []byte {
	switch p {
	case Float32:
		return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(v)))
	case FP1220:
		return binary.BigEndian.AppendUint32(dst, uint32(int32(numeric.Clamp(math.Round(v*(1<<20)), math.MinInt32, math.MaxInt32))))
	case FP1632:
		raw := int64(numeric.Clamp(math.Round(v*(1<<32)), -1<<47, 1<<47-1))
		return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(dst, uint32(raw)), uint16(raw>>32))
	}
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(v))
}

// Xsens decodes XBus.
type Xsens struct {
	stream
	number counted
}

// NewXsens is a decoder.
func NewXsens() *Xsens {
	d := &Xsens{}
	d.init(d, xbusMost, xbusStart)
	return d
}

// Reset forgets a half-received message and the number of the newest sample.
func (d *Xsens) Reset() {
	d.stream.Reset()
	d.number.hasNumber = false
}

// Wrap is 2³² ticks of 0.1 ms.
func (d *Xsens) Wrap() float64 { return (1 << 32) * 1e-4 }

func (d *Xsens) recognize(p []byte) (int, verdict) {
	switch {
	case len(p) < 2:
		return 2, partial
	case p[1] != xbusMaster && p[1] > xbusBuses:
		return 0, nothing
	case len(p) < 4:
		return 4, partial
	}
	head, n := 4, int(p[3])
	if n == xbusExtended {
		if head = 6; len(p) < head {
			return head, partial
		}
		if n = int(p[4])<<8 | int(p[5]); n > xbusData {
			return 0, nothing
		}
	}
	all := head + n + 1
	if len(p) < all {
		return all, partial
	}
	sum := byte(0)
	for _, b := range p[1:all] {
		sum += b
	}
	// eight bits are a weak check: what the items add up to is one more
	if sum != 0 || p[2] == XsensMTData2 && !xsensAddUp(p[head:all-1]) {
		return 0, refused
	}
	return all, whole
}

// Next reads one message; see Decoder.
func (d *Xsens) Next(buf []byte, f *Frame) (n int, st wire.Status) {
	n, b, st := d.next(buf)
	if st != wire.Good {
		return n, st
	}
	f.Raw = b
	return n, d.message(b, f)
}

func (d *Xsens) message(b []byte, f *Frame) wire.Status {
	id, data := b[2], b[4:len(b)-1]
	if b[3] == xbusExtended {
		data = b[6 : len(b)-1]
	}
	name := xsensNames[id]
	if name == "" {
		name = "XBus"
	}
	f.begin(name, Answer)
	f.Code = int(id)
	switch {
	case id == XsensMTData2:
		f.Role = Data
		f.Code = 0
		xsensItems(data, f.Add(0))
		if s := &f.S[0]; s.Present.Contains(Count) {
			return d.number.step(&d.c, uint64(s.V[Count]), 0xFFFF)
		}
	case id == XsensError, id == XsensWarning:
		f.Role = Refusal
		if len(data) > 0 {
			f.Code = int(data[0])
		}
	case id == XsensWakeUp:
		f.Role = Began
		d.number.hasNumber = false
	case id == XsensMTData || id&1 == 0: // a command, or an echo of ours
		f.Role = Other
		d.c.Foreign++
		return wire.Good
	}
	d.c.Frames++
	return wire.Good
}

// xsensItem is where the numbers of an item go.
type xsensItem struct {
	id    uint16 // without format
	to    Quantity
	n     int     // numbers
	scale float64 // to SI
}

var xsensFloats = [...]xsensItem{
	{0x2010, QW, 4, 1}, {0x4020, AX, 3, 1}, {0x8020, WX, 3, 1}, {0x4030, FreeX, 3, 1}, {0xC020, FieldX, 3, 1}, {0x4010, DVX, 3, 1},
	{0x8030, DQW, 4, 1},
	{0xD010, VX, 3, 1}, {0x5030, EarthX, 3, 1}, {0x0810, Temperature, 1, 1}, {0x5020, Altitude, 1, 1}, {0x5040, Latitude, 2, degree},
	{0x4040, AX, 3, 1}, {0x8040, WX, 3, 1}, // at the full rate of the sensor
}

// xsensAddUp tells whether the items of MTData2 fill the message.
func xsensAddUp(data []byte) bool {
	for len(data) >= 3 && len(data) >= 3+int(data[2]) {
		data = data[3+int(data[2]):]
	}
	return len(data) == 0
}

// xsensItems takes the items of MTData2, which fill the message.
func xsensItems(data []byte, s *Sample) {
	for len(data) > 0 {
		id, b := binary.BigEndian.Uint16(data), data[3:3+int(data[2])]
		data = data[3+len(b):]
		if !s.xsens(id, b) {
			s.Extra++
		}
	}
}

// xsens takes one item; false where it is no quantity here, or has another length than it should, or was there before.
func (s *Sample) xsens(id uint16, b []byte) bool {
	kind, p := id&0xF8F0, Precision(id&3)
	for i := range xsensFloats {
		if it := &xsensFloats[i]; it.id == kind {
			if len(b) != it.n*p.size() || s.Present.Contains(it.to) && it.to != QW {
				return false
			}
			if s.Present.Contains(it.to) { // a matrix came first
				s.Extra++
			}
			for k := range it.n {
				s.SetValue(it.to+Quantity(k), p.get(b[k*p.size():])*it.scale)
			}
			s.unitOnly()
			return true
		}
	}
	word := func(q Quantity, n int, scale float64) bool {
		if len(b) != n || s.Present.Contains(q) {
			return false
		}
		v := uint64(0)
		for _, c := range b {
			v = v<<8 | uint64(c)
		}
		s.SetValue(q, float64(v)*scale)
		return true
	}
	switch kind {
	case 0x1020:
		return word(Count, 2, 1)
	case 0x1060:
		return word(Time, 4, 1e-4)
	case 0x3010:
		return word(Pressure, 4, 1)
	case 0xE010:
		return word(Status, 1, 1)
	case 0xE020:
		return word(Status, 4, 1)
	case 0x2030: // roll, pitch, yaw
		if len(b) != 3*p.size() {
			return false
		}
		s.SetVector(Yaw, p.get(b[2*p.size():])*degree, p.get(b[p.size():])*degree, p.get(b)*degree)
		return true
	case 0x2020: // columns of the rotation matrix
		if len(b) != 9*p.size() || s.Present.Contains(QW) {
			return false
		}
		var m [9]float64
		for k := range m {
			m[k] = p.get(b[k*p.size():])
		}
		s.PutRotation(fromMatrix(m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]))
		return true
	}
	return false
}

// AppendXsens writes one message to a device.
func AppendXsens(dst []byte, message byte, data ...byte) []byte {
	return appendXBus(dst, message, data)
}

func appendXBus(dst []byte, message byte, data []byte) []byte {
	at := len(dst)
	dst = append(dst, xbusStart, xbusMaster, message)
	if n := len(data); n < xbusExtended {
		dst = append(dst, byte(n))
	} else {
		dst = append(dst, xbusExtended, byte(n>>8), byte(n))
	}
	dst = append(dst, data...)
	sum := byte(0)
	for _, b := range dst[at+1:] {
		sum += b
	}
	return append(dst, -sum)
}

// XsensEncoder writes MTData2.
type XsensEncoder struct {
	Precision Precision
	data      []byte
}

// Append writes one message with the items that f has; see Encoder.
func (e *XsensEncoder) Append(dst []byte, f *Frame) []byte {
	if f.N == 0 {
		return dst
	}
	s, b := &f.S[0], e.data[:0]
	if s.Present.Contains(Count) {
		b = append(b, 0x10, 0x20, 2)
		b = binary.BigEndian.AppendUint16(b, uint16(uint64(s.V[Count])))
	}
	if s.Present.Contains(Time) {
		b = append(b, 0x10, 0x60, 4)
		b = binary.BigEndian.AppendUint32(b, uint32(uint64(math.Round(s.V[Time]*1e4))))
	}
	for i := range xsensFloats[:len(xsensFloats)-2] {
		it := &xsensFloats[i]
		if !s.Present.Contains(it.to) {
			continue
		}
		b = binary.BigEndian.AppendUint16(b, it.id|uint16(e.Precision))
		b = append(b, byte(it.n*e.Precision.size()))
		for k := range it.n {
			b = e.Precision.appendNumber(b, s.V[it.to+Quantity(k)]/it.scale)
		}
	}
	if s.Present.Contains(Yaw) {
		b = append(b, 0x20, 0x30|byte(e.Precision), byte(3*e.Precision.size()))
		for _, q := range [...]Quantity{Roll, Pitch, Yaw} {
			b = e.Precision.appendNumber(b, s.V[q]/degree)
		}
	}
	if s.Present.Contains(Pressure) {
		b = append(b, 0x30, 0x10, 4)
		b = binary.BigEndian.AppendUint32(b, uint32(s.V[Pressure]))
	}
	if s.Present.Contains(Status) {
		b = append(b, 0xE0, 0x20, 4)
		b = binary.BigEndian.AppendUint32(b, uint32(s.V[Status]))
	}
	e.data = b
	return appendXBus(dst, XsensMTData2, b)
}
