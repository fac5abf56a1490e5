package tracker

import (
	"encoding/binary"
	"math"

	"hilrig/engine/numeric"
	"hilrig/hil/wire"
)

// BNO08x in its mode UART-RVC [BNO17] §1.3.5.2: 19 bytes a hundred times per second, low byte first,
//
//	0xAA 0xAA · number 1 · yaw, pitch, roll 2 each, 0.01° · acceleration x, y, z 2 each, mg · 3 reserved · sum of the 16 bytes behind 0xAA 0xAA
const bnoLen = 19

// BNO08x decodes UART-RVC.
type BNO08x struct {
	stream
	number counted
}

// NewBNO08x is a decoder.
func NewBNO08x() *BNO08x {
	d := &BNO08x{}
	d.init(d, bnoLen, 0xAA)
	return d
}

// Reset forgets a half-received report and the number of the newest.
func (d *BNO08x) Reset() {
	d.stream.Reset()
	d.number.hasNumber = false
}

// Wrap is 0: no time is sent.
func (d *BNO08x) Wrap() float64 { return 0 }

func (d *BNO08x) recognize(p []byte) (int, verdict) {
	switch {
	case len(p) < 2:
		return 2, partial
	case p[1] != 0xAA:
		return 0, nothing
	case len(p) < bnoLen:
		return bnoLen, partial
	case sum(p[2:bnoLen-1]) != p[bnoLen-1], !angleInRange(p[3:], 181), !angleInRange(p[5:], 91), !angleInRange(p[7:], 181), p[17] != 0:
		return 0, refused // eight bits are a weak check: the angles and the last reserved byte are more
	}
	return bnoLen, whole
}

// angleInRange tells whether an angle of 0.01° lies between ± the given degrees.
func angleInRange(b []byte, degrees float64) bool { return math.Abs(i16(b)) <= degrees*100 }

// sum is that of the bytes modulo 256.
func sum(p []byte) (s byte) {
	for _, b := range p {
		s += b
	}
	return s
}

func i16(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }

func put16(dst []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint16(dst, uint16(int16(numeric.Clamp(math.Round(v), math.MinInt16, math.MaxInt16))))
}

// Next reads one report; see Decoder.
func (d *BNO08x) Next(buf []byte, f *Frame) (n int, st wire.Status) {
	n, b, st := d.next(buf)
	if st != wire.Good {
		return n, st
	}
	f.begin("RVC", Data)
	f.Raw = b
	s := f.Add(0)
	s.SetValue(Count, float64(b[2]))
	s.SetVector(Yaw, i16(b[3:])*0.01*degree, i16(b[5:])*0.01*degree, i16(b[7:])*0.01*degree)
	s.SetVector(AX, i16(b[9:])*1e-3*gravity, i16(b[11:])*1e-3*gravity, i16(b[13:])*1e-3*gravity)
	if b[15]|b[16]|b[17] != 0 { // reserved; newer firmware puts hints about motion there
		s.Extra++
	}
	return n, d.number.step(&d.c, uint64(b[2]), 0xFF)
}

// BNO08xEncoder writes reports.
type BNO08xEncoder struct{}

// Append writes one report; see Encoder. What f does not have is 0.
func (BNO08xEncoder) Append(dst []byte, f *Frame) []byte {
	if f.N == 0 {
		return dst
	}
	s, at := &f.S[0], len(dst)
	dst = append(dst, 0xAA, 0xAA, byte(uint64(s.value(Count))))
	for _, q := range [...]Quantity{Yaw, Pitch, Roll} {
		dst = put16(dst, s.value(q)/(0.01*degree))
	}
	for q := AX; q <= AZ; q++ {
		dst = put16(dst, s.value(q)/(1e-3*gravity))
	}
	dst = append(dst, 0, 0, 0)
	return append(dst, sum(dst[at+2:]))
}

// value is that of a quantity; 0 where the sample does not have it. Angles are those of the quaternion where only that is there.
func (s *Sample) value(q Quantity) float64 {
	if s.Present.Contains(q) {
		return s.V[q]
	}
	if q >= Yaw && q <= Roll && s.Present.Contains(QW) {
		r, _ := s.Rotation()
		var a [3]float64
		a[0], a[1], a[2] = Angles(r)
		return a[q-Yaw]
	}
	if q <= QZ && s.Present.Contains(Yaw) {
		r, _ := s.Rotation()
		return [4]float64{r.Real, r.Imag, r.Jmag, r.Kmag}[q]
	}
	return 0
}
