package tracker

import (
	"encoding/binary"
	"math"

	"hilrig/hil/wire"
)

// WitMotion's standard protocol [Wit20]: packets of 11 bytes, low byte first,
//
//	0x55 · kind 1 · four numbers of 2 · sum of the 10 bytes before
//
// A packet brings one kind of quantity; a sample of the device is a row of packets. Its magnetic field is in counts that differ from model
// to model. The packets without a checksum that the Bluetooth models send (0x61) are not spoken.
const witLen = 11

// Kinds of packets.
const (
	witTime     = 0x50
	witAccel    = 0x51
	witGyro     = 0x52
	witAngle    = 0x53
	witField    = 0x54
	witPorts    = 0x55
	witPressure = 0x56
	witPlace    = 0x57
	witGPS      = 0x58
	witQuat     = 0x59
	witSats     = 0x5A
	witRead     = 0x5F
)

var witNames = [...]string{"time", "acceleration", "angular velocity", "angle", "magnetic field", "ports", "pressure", "place", "GPS",
	"quaternion", "satellites", "", "", "", "", "register"}

// WitMotion decodes the standard protocol.
type WitMotion struct{ stream }

// NewWitMotion is a decoder.
func NewWitMotion() *WitMotion {
	d := &WitMotion{}
	d.init(d, witLen, 0x55)
	return d
}

// Wrap is 0: the clock counts from the year 2000.
func (d *WitMotion) Wrap() float64 { return 0 }

func (d *WitMotion) recognize(p []byte) (int, verdict) {
	switch {
	case len(p) < 2:
		return 2, partial
	case p[1] < witTime || p[1] > witRead || witNames[p[1]-witTime] == "":
		return 0, nothing
	case len(p) < witLen:
		return witLen, partial
	case sum(p[:witLen-1]) != p[witLen-1]:
		return 0, refused
	}
	return witLen, whole
}

// Full scales of a count of 32768.
const (
	witG    = 16 * gravity // m/s²
	witRate = 2000 * degree
	witTurn = 180 * degree
)

// Next reads one packet; see Decoder.
func (d *WitMotion) Next(buf []byte, f *Frame) (n int, st wire.Status) {
	n, b, st := d.next(buf)
	if st != wire.Good {
		return n, st
	}
	f.begin(witNames[b[1]-witTime], Data)
	f.Raw = b
	s, v := f.Add(0), [4]float64{i16(b[2:]), i16(b[4:]), i16(b[6:]), i16(b[8:])}
	switch b[1] {
	case witTime:
		s.SetValue(Time, witClock(b[2:]))
	case witAccel:
		s.SetVector(AX, v[0]/32768*witG, v[1]/32768*witG, v[2]/32768*witG)
		s.SetValue(Temperature, v[3]/100)
	case witGyro:
		s.SetVector(WX, v[0]/32768*witRate, v[1]/32768*witRate, v[2]/32768*witRate)
		s.Extra++ // temperature in some models, voltage of the battery in others
	case witAngle:
		s.SetVector(Yaw, v[2]/32768*witTurn, v[1]/32768*witTurn, v[0]/32768*witTurn)
		s.Extra++ // version of the firmware
	case witField:
		s.SetVector(FieldX, v[0], v[1], v[2])
		s.Extra++ // as of the angular velocity
	case witPressure:
		s.SetValue(Pressure, float64(int32(binary.LittleEndian.Uint32(b[2:]))))
		s.SetValue(Altitude, float64(int32(binary.LittleEndian.Uint32(b[6:])))*0.01)
	case witPlace:
		s.SetValue(Longitude, witDegrees(int32(binary.LittleEndian.Uint32(b[2:]))))
		s.SetValue(Latitude, witDegrees(int32(binary.LittleEndian.Uint32(b[6:]))))
	case witQuat:
		s.put4(QW, v[0]/32768, v[1]/32768, v[2]/32768, v[3]/32768)
	case witRead:
		f.Role = Answer
		f.N = 0
	default:
		s.Extra++
	}
	d.c.Frames++
	return n, wire.Good
}

// witDegrees is an angle in rad: degrees·10⁷ + minutes·10⁵.
func witDegrees(raw int32) float64 {
	return (float64(raw/1e7) + float64(raw%1e7)*1e-5/60) * degree
}

// witClock is the time since the beginning of 2000 in s. A clock that was never set has no month and no day.
func witClock(b []byte) float64 {
	y, m, day := int(b[0]), max(1, int(b[1])), max(1, int(b[2]))
	// days since 1 March of the year −1 of this century, whose year begins in March [Howard Hinnant, days_from_civil]
	if m <= 2 {
		y--
		m += 12
	}
	days := 365*y + floorDiv(y, 4) + (153*(m-3)+2)/5 + day - 1 + 60
	ms := float64(binary.LittleEndian.Uint16(b[6:])) * 1e-3
	return float64(days)*86400 + float64(b[3])*3600 + float64(b[4])*60 + float64(b[5]) + ms
}

func floorDiv(a, b int) int { return int(math.Floor(float64(a) / float64(b))) }

// WitMotionEncoder writes packets.
type WitMotionEncoder struct{}

// Append writes a packet for each kind of quantity that f has; see Encoder.
func (WitMotionEncoder) Append(dst []byte, f *Frame) []byte {
	if f.N == 0 {
		return dst
	}
	s := &f.S[0]
	if s.Present.Contains(Time) { // as on a device whose clock was never set: the day runs over
		t := int64(math.Round(s.V[Time] * 1e3))
		dst = append(dst, 0x55, witTime, 0, 0, byte(1+t/86400000%28), byte(t/3600000%24), byte(t/60000%60), byte(t/1000%60), byte(t%1000),
			byte(t%1000>>8))
		dst = append(dst, sum(dst[len(dst)-witLen+1:]))
	}
	packet := func(kind byte, scale float64, v ...float64) {
		at := len(dst)
		dst = append(dst, 0x55, kind)
		for _, x := range v {
			dst = put16(dst, x*scale)
		}
		dst = append(dst, sum(dst[at:]))
	}
	if s.Present.Contains(AX) {
		packet(witAccel, 1, s.V[AX]*32768/witG, s.V[AY]*32768/witG, s.V[AZ]*32768/witG, s.value(Temperature)*100)
	}
	if s.Present.Contains(WX) {
		packet(witGyro, 32768/witRate, s.V[WX], s.V[WY], s.V[WZ], 0)
	}
	if s.Present.Contains(Yaw) {
		packet(witAngle, 32768/witTurn, s.V[Roll], s.V[Pitch], s.V[Yaw], 0)
	}
	if s.Present.Contains(FieldX) {
		packet(witField, 1, s.V[FieldX], s.V[FieldY], s.V[FieldZ], 0)
	}
	if s.Present.Contains(QW) {
		packet(witQuat, 32768, s.V[QW], s.V[QX], s.V[QY], s.V[QZ])
	}
	return dst
}
