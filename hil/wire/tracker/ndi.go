package tracker

import (
	"encoding/binary"
	"math/bits"

	"hilrig/hil/wire"
)

// NDI Polaris and Aurora, combined API [NDI11]: the host asks, the system replies.
//
// Command: a word, a colon, parameters, CRC-16 ARC as four hexadecimal digits, CR; or a space for the colon, and no CRC.
// Reply, text: OKAY, ERRORhh, WARNING, RESET or what was asked for; CRC-16 as four digits; CR.
// Reply, binary, low byte first: 0xC4 0xA5 · length of the data 2 · CRC-16 of these four bytes 2 · data · CRC-16 of the data 2.
const (
	ndiMost = 8192
	ndiHead = 6
)

// Reply options of TX and BX: what they tell of each handle.
const (
	NDITransforms   = 0x0001
	NDIMarkers      = 0x0002 // which markers the fit used
	NDIActiveStray  = 0x0004
	NDIPositions    = 0x0008 // of the markers of each tool
	NDIOutOfVolume  = 0x0800 // transforms outside the volume too
	NDIPassiveStray = 0x1000
)

// States of a handle in BX.
const (
	ndiValid    = 1
	ndiMissing  = 2
	ndiDisabled = 4
)

// Bits of the status of a port.
const (
	ndiPortOut    = 1 << 6
	ndiPortPartly = 1 << 7
)

// NDI decodes replies.
type NDI struct {
	stream
	Option int // that was asked for by BX; 0: the first whose lengths fit
}

// NewNDI is a decoder.
func NewNDI() *NDI {
	d := &NDI{}
	d.init(d, ndiMost, 0xC4)
	for b := ' ' + 1; b <= '~'; b++ {
		d.startBytes[b] = true
	}
	d.stops('\r', "\n")
	return d
}

// Wrap is 0: the number of the frame is all that is sent.
func (d *NDI) Wrap() float64 { return 0 }

func (d *NDI) recognize(p []byte) (int, verdict) {
	if p[0] == 0xC4 {
		return recognizeBinary(p)
	}
	if d.previousByte >= 0 && d.previousByte != '\r' { // in the middle of something only what cannot be anything else
		if n, v := ndiBegins(p); v != whole {
			return n, v
		}
	}
	end := d.line(p)
	switch {
	case end < 0 && len(p) < ndiMost:
		return 0, text
	case end < 0 || p[end] != '\r' || end < 5:
		return 0, nothing
	}
	if crc, ok := hexadecimal(p[end-4 : end]); !ok || uint16(crc) != wire.CRC16Reflected(0, p[:end-4]) {
		return 0, refused
	}
	return end + 1, whole
}

func recognizeBinary(p []byte) (int, verdict) {
	switch {
	case len(p) < 2:
		return 2, partial
	case p[1] != 0xA5:
		return 0, nothing
	case len(p) < ndiHead:
		return ndiHead, partial
	case wire.CRC16Reflected(0, p[:4]) != binary.LittleEndian.Uint16(p[4:]):
		return 0, refused
	}
	n := int(binary.LittleEndian.Uint16(p[2:]))
	all := ndiHead + n + 2
	switch {
	case all > ndiMost:
		return 0, nothing
	case len(p) < all:
		return all, partial
	case wire.CRC16Reflected(0, p[ndiHead:all-2]) != binary.LittleEndian.Uint16(p[all-2:]):
		return 0, refused
	}
	return all, whole
}

var ndiWords = []string{"OKAY", "ERROR", "WARNING", "RESET"}

// ndiBegins tells whether p begins with a word of a reply, or as the reply to TX.
func ndiBegins(p []byte) (int, verdict) {
	for _, w := range ndiWords {
		n := min(len(p), len(w))
		if string(p[:n]) == w[:n] {
			if n < len(w) {
				return n + 1, partial
			}
			return 0, whole
		}
	}
	for i := range 4 {
		if i == len(p) {
			return i + 1, partial
		}
		if _, ok := hexadecimal(p[i : i+1]); !ok {
			return 0, nothing
		}
	}
	if len(p) < 5 {
		return 5, partial
	}
	n, _ := hexadecimal(p[:2])
	switch p[4] {
	case '+', '-', 'M', 'D', 'U':
		if n >= 1 && n <= MaxDevices {
			return 0, whole
		}
	}
	return 0, nothing
}

// Next reads one reply; see Decoder.
func (d *NDI) Next(buf []byte, f *Frame) (n int, st wire.Status) {
	n, b, st := d.next(buf)
	if st != wire.Good {
		return n, st
	}
	f.Raw = b
	d.c.Frames++
	if b[0] == 0xC4 {
		if f.begin("BX", Data); !d.bx(b[ndiHead:len(b)-2], f) {
			f.begin("binary", Other)
			d.c.Frames--
			d.c.Foreign++
		}
		return n, wire.Good
	}
	d.reply(b[:len(b)-5], f)
	return n, wire.Good
}

// reply sorts a text without its CRC.
func (d *NDI) reply(t []byte, f *Frame) {
	starts := func(w string) bool { return len(t) >= len(w) && string(t[:len(w)]) == w }
	code := func(n int) int {
		v, _ := hexadecimal(t[n:])
		return int(v)
	}
	switch {
	case string(t) == "OKAY":
		f.begin("OKAY", Answer)
	case starts("ERROR"):
		f.begin("ERROR", Refusal)
		f.Code = code(5)
	case starts("WARNING"): // it was done all the same
		f.begin("WARNING", Answer)
		f.Code = code(7)
	case string(t) == "RESET":
		f.begin("RESET", Began)
	default:
		if f.begin("TX", Data); tx(t, f) {
			return
		}
		if f.begin("PHSR", Answer); handles(t, f) {
			return
		}
		f.begin("text", Answer)
	}
}

// handles reads the reply to PHSR: two digits, their number; of each two digits, and three of its status.
func handles(t []byte, f *Frame) bool {
	if len(t) < 2 || (len(t)-2)%5 != 0 {
		return false
	}
	n, ok := hexadecimal(t[:2])
	if !ok || int(n) != (len(t)-2)/5 {
		return false
	}
	for t = t[2:]; len(t) > 0; t = t[5:] {
		h, ok1 := hexadecimal(t[:2])
		st, ok2 := hexadecimal(t[2:5])
		if !ok1 || !ok2 {
			return false
		}
		if s := f.Add(int(h)); s != nil {
			s.SetValue(Status, float64(st))
		}
	}
	return true
}

// tx reads the reply to TX; false: it is none. What other options than 0001 add to a handle, up to its LF, is counted as one piece.
func tx(t []byte, f *Frame) bool {
	take := func(n int) (v uint64, ok bool) {
		if len(t) < n {
			return 0, false
		}
		v, ok = hexadecimal(t[:n])
		t = t[n:]
		return v, ok
	}
	decimal := func(n int, scale float64) (float64, bool) {
		if len(t) < n || t[0] != '+' && t[0] != '-' {
			return 0, false
		}
		v := 0
		for _, c := range t[1:n] {
			if c < '0' || c > '9' {
				return 0, false
			}
			v = v*10 + int(c-'0')
		}
		if t[0] == '-' {
			v = -v
		}
		t = t[n:]
		return float64(v) * scale, true
	}
	skip := func(w string) bool {
		if len(t) < len(w) || string(t[:len(w)]) != w {
			return false
		}
		t = t[len(w):]
		return true
	}
	count, ok := take(2)
	if !ok || len(t) < 4 {
		return false
	}
	for range count {
		h, ok := take(2)
		if !ok {
			return false
		}
		s := f.Add(int(h))
		if s == nil {
			return false
		}
		if skip("DISABLED") || skip("UNOCCUPIED") {
			s.SetValue(Missing, 1)
		} else {
			missing := skip("MISSING")
			if !missing {
				var v [8]float64
				for i := range v {
					n, scale := 6, 1e-4
					switch {
					case i >= 4 && i < 7:
						n, scale = 7, 1e-5 // 0.01 mm
					case i == 7:
						scale = 1e-7 // 0.0001 mm
					}
					if v[i], ok = decimal(n, scale); !ok {
						return false
					}
				}
				s.pose(&v)
			}
			port, ok1 := take(8)
			frame, ok2 := take(8)
			if !ok1 || !ok2 {
				return false
			}
			s.port(uint32(port), uint32(frame), missing)
		}
		if more := lineFeed(t); more < 0 {
			return false
		} else if t = t[more+1:]; more > 0 {
			s.Extra++
		}
	}
	for i := range t { // stray markers, up to the status of the system
		if _, ok := hexadecimal(t[i : i+1]); !ok && t[i] != '+' && t[i] != '-' && t[i] != '\n' {
			return false
		}
	}
	if len(t) < 4 {
		return false
	}
	extra := len(t) > 4
	t = t[len(t)-4:]
	system, ok := take(4)
	f.SystemStatus = int(system)
	for i := range f.N {
		f.S[i].SetValue(System, float64(system))
		if extra {
			f.S[i].Extra++
		}
	}
	return ok
}

func lineFeed(t []byte) int {
	for i, b := range t {
		if b == '\n' {
			return i
		}
	}
	return -1
}

// pose takes q0 qx qy qz, x y z in m and the error in m.
func (s *Sample) pose(v *[8]float64) {
	s.put4(QW, v[0], v[1], v[2], v[3])
	s.SetVector(X, v[4], v[5], v[6])
	s.SetValue(Error, v[7])
}

func (s *Sample) port(status, frame uint32, missing bool) {
	bit := func(q Quantity, on bool) {
		v := 0.0
		if on {
			v = 1
		}
		s.SetValue(q, v)
	}
	s.SetValue(Status, float64(status))
	s.SetValue(Count, float64(frame))
	bit(Missing, missing)
	bit(OutOfVolume, status&ndiPortOut != 0)
	bit(PartlyOut, status&ndiPortPartly != 0)
}

// ndiOptions are all sets of options that shape the reply to BX, those with few first.
var ndiOptions = func() (list []int) {
	for n := range 5 {
		for set := range 16 {
			if bits.OnesCount(uint(set)) == n {
				list = append(list, NDITransforms|set&1*NDIMarkers|set>>1&1*NDIPositions|set>>2&1*NDIPassiveStray|set>>3&1*NDIActiveStray)
			}
		}
	}
	return list
}()

// bx reads the data of the reply to BX; false: no option fits.
func (d *NDI) bx(b []byte, f *Frame) bool {
	if d.Option != 0 {
		return bx(b, d.Option, f)
	}
	for _, o := range ndiOptions {
		f.N = 0
		if bx(b, o, f) {
			return true
		}
	}
	return false
}

// bx reads the data of the reply to BX with an option; false: they do not fit.
func bx(b []byte, option int, f *Frame) bool {
	ok := len(b) > 0
	take := func(n int) []byte {
		if ok = ok && len(b) >= n; !ok {
			return nil
		}
		p := b[:n]
		b = b[n:]
		return p
	}
	if !ok {
		return false
	}
	for range take(1)[0] {
		p := take(2)
		if !ok {
			return false
		}
		s, state := f.Add(int(p[0])), p[1]
		if s == nil || s.Device == 0 { // no handle is 0: the container of BX2 looks so
			return false
		}
		if state == ndiDisabled {
			s.SetValue(Missing, 1)
			continue
		}
		if state != ndiValid && state != ndiMissing {
			return false
		}
		if option&NDITransforms != 0 {
			if state == ndiValid {
				if p = take(32); !ok {
					return false
				}
				var v [8]float64
				for i := range v {
					v[i] = f32(p[4*i:])
					if i >= 4 {
						v[i] *= 1e-3
					}
				}
				s.pose(&v)
			}
			if p = take(8); !ok {
				return false
			}
			s.port(binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:]), state == ndiMissing)
		}
		if option&NDIMarkers != 0 {
			take(11)
			s.Extra++
		}
		if option&NDIActiveStray != 0 {
			if p = take(1); ok && p[0] != 0 {
				take(12)
			}
			s.Extra++
		}
		if option&NDIPositions != 0 {
			points(take)
			s.Extra++
		}
	}
	if option&NDIPassiveStray != 0 {
		points(take)
		for i := range f.N {
			f.S[i].Extra++
		}
	}
	p := take(2)
	if !ok || len(b) != 0 {
		return false
	}
	f.SystemStatus = int(binary.LittleEndian.Uint16(p))
	for i := range f.N {
		f.S[i].SetValue(System, float64(f.SystemStatus))
	}
	return true
}

// points skips a number of markers, a bit for each that is out of the volume, and their positions.
func points(take func(int) []byte) {
	if p := take(1); p != nil {
		n := int(p[0])
		take((n + 7) / 8)
		take(12 * n)
	}
}
