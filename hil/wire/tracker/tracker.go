// Package tracker turns the bytes of motion trackers and inertial sensors into samples and back. Like package wire it does no I/O,
// keeps no time and allocates nothing once a codec is built.
//
// A frame is what the manufacturer calls a message, packet, record or reply. It brings one Sample for each device that it speaks of: a
// tool of an optical tracker, a station of a magnetic one. Values are in SI; a quantity that is not sent has its bit clear.
//
// What is promised: the same bytes cut anywhere give the same frames and the same counters; memory is bounded whatever arrives; a frame
// that is whole is never swallowed by something before it that only looked like the beginning of one: what was refused is searched
// again from its second byte. Such a frame may come late, once it is clear that the first one was none. A protocol without a
// checksum (Polhemus) can be fooled.
//
// Axes and directions are those of the device. A quaternion is w + xi + yj + zk and turns vectors of the sensor into the reference of
// the device, as each manufacturer defines it: nothing is turned here.
package tracker

import (
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/hil/wire"
)

// Quantity is one number that a device may send.
type Quantity uint8

const (
	QW Quantity = iota
	QX
	QY
	QZ
	Yaw // turns in the order yaw (z), pitch (y), roll (x), each about the axis turned so far
	Pitch
	Roll
	X
	Y
	Z
	Error // root mean square of the fit of a rigid body
	VX
	VY
	VZ
	WX
	WY
	WZ
	AX // specific force
	AY
	AZ
	FreeX // acceleration without gravity
	FreeY
	FreeZ
	MagX
	MagY
	MagZ
	FieldX // magnetic field in the device's own unit
	FieldY
	FieldZ
	DVX // velocity gained since the sample before
	DVY
	DVZ
	DQW // rotation since the sample before
	DQX
	DQY
	DQZ
	DThetaX
	DThetaY
	DThetaZ
	DT // time in which these were gained
	Temperature
	Pressure
	Latitude
	Longitude
	Altitude
	EarthX // earth-centred, earth-fixed
	EarthY
	EarthZ
	Time   // of the device's clock, since it began or wrapped
	Count  // the device's number of the sample
	Status // word of status bits, as sent
	Missing
	OutOfVolume
	PartlyOut // of the volume
	Distortion
	Stylus
	System // word of status bits of the whole system, as sent
	Quantities
)

// Quantity names and units, in the order of the constants. Temperatures are in degC, as everywhere on signals.
var quantities = [Quantities]struct{ name, unit string }{
	{"q.w", ""}, {"q.x", ""}, {"q.y", ""}, {"q.z", ""}, {"yaw", "rad"}, {"pitch", "rad"}, {"roll", "rad"},
	{"x", "m"}, {"y", "m"}, {"z", "m"}, {"error", "m"}, {"v.x", "m/s"}, {"v.y", "m/s"}, {"v.z", "m/s"},
	{"w.x", "rad/s"}, {"w.y", "rad/s"}, {"w.z", "rad/s"}, {"a.x", "m/s²"}, {"a.y", "m/s²"}, {"a.z", "m/s²"},
	{"free.x", "m/s²"}, {"free.y", "m/s²"}, {"free.z", "m/s²"}, {"mag.x", "T"}, {"mag.y", "T"}, {"mag.z", "T"},
	{"field.x", ""}, {"field.y", ""}, {"field.z", ""}, {"dv.x", "m/s"}, {"dv.y", "m/s"}, {"dv.z", "m/s"},
	{"dq.w", ""}, {"dq.x", ""}, {"dq.y", ""}, {"dq.z", ""}, {"dtheta.x", "rad"}, {"dtheta.y", "rad"}, {"dtheta.z", "rad"}, {"dt", "s"},
	{"temperature", "degC"}, {"pressure", "Pa"}, {"latitude", "rad"}, {"longitude", "rad"}, {"altitude", "m"},
	{"earth.x", "m"}, {"earth.y", "m"}, {"earth.z", "m"}, {"time", "s"}, {"count", ""}, {"status", ""},
	{"missing", ""}, {"out_of_volume", ""}, {"partly_out", ""}, {"distortion", ""}, {"stylus", ""}, {"system", ""},
}

func (q Quantity) String() string { return quantities[q].name }

// Unit is that in which the quantity is given.
func (q Quantity) Unit() string { return quantities[q].unit }

// QuantityOf finds a quantity by its name.
func QuantityOf(name string) (q Quantity, ok bool) {
	for q := range Quantities {
		if quantities[q].name == name {
			return q, true
		}
	}
	return 0, false
}

// Set has a bit for each quantity.
type Set uint64

// Contains tells whether q is in the set.
func (s Set) Contains(q Quantity) bool { return s>>q&1 != 0 }

// Of is the set of these quantities.
func Of(list ...Quantity) (s Set) {
	for _, q := range list {
		s |= 1 << q
	}
	return s
}

// Run is the set of n quantities from q on, such as three components.
func Run(q Quantity, n int) Set { return Set(1<<n-1) << q }

// Sample is what one frame says of one device.
type Sample struct {
	Device  int // port handle or station; 0: there is only one
	Present Set
	Extra   int // pieces of the frame about this device that are no quantity here
	V       [Quantities]float64
}

func (s *Sample) begin(device int) { s.Device, s.Present, s.Extra = device, 0, 0 }

// SetValue sets quantity q to v (in its unit) and marks it as present.
func (s *Sample) SetValue(q Quantity, v float64) {
	s.V[q] = v
	s.Present |= 1 << q
}

// SetVector sets three components that begin with q.
func (s *Sample) SetVector(q Quantity, x, y, z float64) {
	s.V[q], s.V[q+1], s.V[q+2] = x, y, z
	s.Present |= 7 << q
}

// PutRotation sets the quaternion.
func (s *Sample) PutRotation(r quat.Number) { s.put4(QW, r.Real, r.Imag, r.Jmag, r.Kmag) }

// put4 sets a quaternion.
func (s *Sample) put4(q Quantity, w, x, y, z float64) {
	s.V[q], s.V[q+1], s.V[q+2], s.V[q+3] = w, x, y, z
	s.Present |= 15 << q
	s.unitOnly()
}

// isUnit tells whether the square of the length of a quaternion is near enough to one: devices round to 1 %.
func isUnit(square float64) bool { return math.Abs(square-1) < 0.05 }

// unitOnly takes a quaternion away that is not of length one. Devices write zeros where they have none; a matrix of zeros or of noise
// makes none that is finite.
func (s *Sample) unitOnly() {
	if q := s.V[QW : QW+4]; s.Present.Contains(QW) && !isUnit(q[0]*q[0]+q[1]*q[1]+q[2]*q[2]+q[3]*q[3]) {
		s.Present &^= Run(QW, 4)
	}
}

// Convert adds the quaternion of angles that were sent, or the angles of the quaternion, as far as one of these quantities is wanted.
func (s *Sample) Convert(wanted Set) {
	quaternion, angles := Run(QW, 4), Run(Yaw, 3)
	switch {
	case wanted&quaternion != 0 && s.Present&quaternion == 0 && s.Present&angles == angles:
		s.PutRotation(FromAngles(s.V[Yaw], s.V[Pitch], s.V[Roll]))
	case wanted&angles != 0 && s.Present&angles == 0 && s.Present&quaternion == quaternion:
		r, _ := s.Rotation()
		s.SetVector(Yaw, 0, 0, 0)
		s.V[Yaw], s.V[Pitch], s.V[Roll] = Angles(r)
	}
}

// CompleteVectors sets the components that are missing of vectors of which some are there to 0. The first one that is missing of a
// quaternion gives it the length one, as every attitude has it.
func (s *Sample) CompleteVectors() {
	for _, v := range vectors {
		if s.Present&Run(v.start, v.n) == 0 {
			continue
		}
		rest := 0.0
		if v.n == 4 {
			for q := v.start; q < v.start+4; q++ {
				if s.Present.Contains(q) {
					rest += float64(s.V[q] * s.V[q])
				}
			}
			rest = math.Sqrt(max(0, 1-rest))
		}
		for q := v.start; q < v.start+Quantity(v.n); q++ {
			if !s.Present.Contains(q) {
				s.SetValue(q, rest)
				rest = 0
			}
		}
	}
}

// vectors are the quantities that are sent together.
var vectors = [...]struct {
	start Quantity
	n     int
}{{QW, 4}, {Yaw, 3}, {X, 3}, {VX, 3}, {WX, 3}, {AX, 3}, {FreeX, 3}, {MagX, 3}, {FieldX, 3}, {DVX, 3}, {DQW, 4}, {DThetaX, 3},
	{Latitude, 3}, {EarthX, 3}}

// VectorOf is the vector or quaternion that q is a component of: the quantities that are sent together.
func VectorOf(q Quantity) Set {
	for _, v := range vectors {
		if r := Run(v.start, v.n); r.Contains(q) {
			return r
		}
	}
	return Of(q)
}

// Vec is three components that begin with q.
func (s *Sample) Vec(q Quantity) r3.Vec { return r3.Vec{X: s.V[q], Y: s.V[q+1], Z: s.V[q+2]} }

// Rotation is the quaternion that was sent, or that of the angles that were; ok is false where there is neither.
func (s *Sample) Rotation() (r quat.Number, ok bool) {
	switch {
	case s.Present&Run(QW, 4) == Run(QW, 4):
		return quat.Number{Real: s.V[QW], Imag: s.V[QX], Jmag: s.V[QY], Kmag: s.V[QZ]}, true
	case s.Present&Run(Yaw, 3) == Run(Yaw, 3):
		return FromAngles(s.V[Yaw], s.V[Pitch], s.V[Roll]), true
	}
	return r, false
}

// FromAngles is the quaternion of a turn by yaw about z, then by pitch about the new y, then by roll about the new x; rad.
func FromAngles(yaw, pitch, roll float64) quat.Number {
	sy, cy := math.Sincos(yaw / 2)
	sp, cp := math.Sincos(pitch / 2)
	sr, cr := math.Sincos(roll / 2)
	return quat.Number{
		Real: cy*cp*cr + sy*sp*sr,
		Imag: cy*cp*sr - sy*sp*cr,
		Jmag: cy*sp*cr + sy*cp*sr,
		Kmag: sy*cp*cr - cy*sp*sr,
	}
}

// Angles are the angles of a unit quaternion in the order of FromAngles. At pitch ±π/2 roll is 0.
func Angles(q quat.Number) (yaw, pitch, roll float64) {
	w, x, y, z := q.Real, q.Imag, q.Jmag, q.Kmag
	sin := min(1, max(-1, 2*(w*y-x*z)))
	pitch = math.Asin(sin)
	if math.Abs(sin) > 1-1e-12 {
		return -2 * math.Copysign(1, sin) * math.Atan2(x, w), pitch, 0
	}
	return math.Atan2(2*(w*z+x*y), 1-2*(y*y+z*z)), pitch, math.Atan2(2*(w*x+y*z), 1-2*(x*x+y*y))
}

// MaxDevices bounds what one frame says.
const MaxDevices = 16

// Role is what a frame is for.
type Role uint8

const (
	Data    Role = iota // samples
	Answer              // a command was taken
	Refusal             // a command was not taken; Code tells why
	Began               // the device has started anew, and forgot what it was told
	Other               // nothing that is understood here
)

// Words are the names of the roles.
func (Role) Words() []string { return []string{"data", "answer", "refusal", "began", "other"} }

func (r Role) String() string { return r.Words()[r] }

// Frame is one decoded frame.
type Frame struct {
	Name string // as the manufacturer calls it
	Role Role
	Code int    // of an answer or a refusal
	Raw  []byte // the whole frame; valid until the next call of the decoder
	N    int    // samples
	S    [MaxDevices]Sample

	SystemStatus int // word of status bits of the whole system; 0 where the device has none
}

func (f *Frame) begin(name string, role Role) {
	f.Name, f.Role, f.Code, f.N, f.SystemStatus = name, role, 0, 0, 0
}

// Add is the next sample, empty; nil when there is no room.
func (f *Frame) Add(device int) *Sample {
	if f.N == MaxDevices {
		return nil
	}
	s := &f.S[f.N]
	f.N++
	s.begin(device)
	return s
}

// Find is the sample of a device; nil: the frame has none.
func (f *Frame) Find(device int) *Sample {
	for i := range f.N {
		if f.S[i].Device == device {
			return &f.S[i]
		}
	}
	return nil
}

// Decoder finds frames in a stream of bytes.
type Decoder interface {
	// Next reads from buf until one frame is complete. n bytes are used up whatever st is; with wire.More, n = len(buf). Call again
	// with buf[n:] until then. A frame that is wire.Good or wire.Repeat is in f.
	Next(buf []byte, f *Frame) (n int, st wire.Status)
	// End tells that no more bytes come: Next(nil, f) then searches what waits for its end, until wire.More.
	End()
	// Reset forgets a half-received frame: the next bytes may begin anywhere. Counters stay.
	Reset()
	// NewRun ends a run of bytes that were left out: a frame that is refused from here on is counted though the one before was.
	NewRun()
	Counters() *wire.Counters
	// Resyncs counts how often bytes had to be left out.
	Resyncs() uint64
	// Offset counts the bytes of the stream up to the end of the newest frame.
	Offset() uint64
	// Wrap is the modulus of Time in s; 0 if it never wraps or is not sent.
	Wrap() float64
}

// Encoder writes frames as the device does, for its far end.
type Encoder interface {
	// Append writes behind dst what f says, as far as the protocol can. Numbers are rounded and clamped to its types.
	Append(dst []byte, f *Frame) []byte
}

const (
	degree  = math.Pi / 180 // rad
	inch    = 0.0254        // m
	gravity = 9.80665       // m/s², standard
	gauss   = 1e-4          // T
)
