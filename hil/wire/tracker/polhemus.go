package tracker

import (
	"encoding/binary"
	"math"

	"hilrig/hil/wire"
)

// Polhemus LIBERTY, LATUS and PATRIOT in binary mode [Pol12] send a record for each station, low byte first:
//
//	"LY", "LU" or "PA" · station 1 · command 1 · error 1 · reserved 1 · bytes of data 2 · data
//
// and FASTRAK [Pol02]
//
//	'0' · station '1' to '4' · error 1 · data
//
// The data are the items that the host chose by the command O; the record does not say which. There is no checksum: a frame of FASTRAK is
// believed only where the next one, or the CR LF that the items end with, is in its place.

// Item is a number of the command O of LIBERTY and PATRIOT.
type Item uint8

const (
	ItemSpace      Item = 0 // one byte
	ItemEnd        Item = 1 // CR LF
	ItemPosition   Item = 2
	ItemPositionX  Item = 3 // with more digits, as text; the same in binary
	ItemAngles     Item = 4
	ItemAnglesX    Item = 5
	ItemCosines    Item = 6
	ItemQuaternion Item = 7
	ItemTime       Item = 8 // ms
	ItemCount      Item = 9
	ItemStylus     Item = 10
	ItemDistortion Item = 11
)

var itemBytes = [...]int{1, 2, 12, 12, 12, 12, 36, 16, 4, 4, 4, 4}

// Bytes is the length of an item; 0: there is no such item.
func (i Item) Bytes() int {
	if int(i) < len(itemBytes) {
		return itemBytes[i]
	}
	return 0
}

const (
	polHead = 8
	polMost = polHead + 256
)

// Polhemus decodes the records of LIBERTY, LATUS and PATRIOT.
type Polhemus struct {
	stream
	Items  []Item  // nil: guessed for each record from its length and its numbers
	Length float64 // m  of the unit of positions; 0: an inch
	number [256]counted
}

// NewPolhemus is a decoder of records with these items; nil: they are guessed.
func NewPolhemus(items []Item) *Polhemus {
	d := &Polhemus{Items: items}
	d.init(d, polMost, 'L', 'P')
	return d
}

// Reset forgets a half-received record and the numbers of the newest.
func (d *Polhemus) Reset() {
	d.stream.Reset()
	clear(d.number[:])
}

// Wrap is 2³² ms.
func (d *Polhemus) Wrap() float64 { return (1 << 32) * 1e-3 }

func (d *Polhemus) recognize(p []byte) (int, verdict) {
	if len(p) < 2 {
		return 2, partial
	}
	if w := string(p[:2]); w != "LY" && w != "LU" && w != "PA" {
		return 0, nothing
	}
	if len(p) < polHead {
		return polHead, partial
	}
	n := int(binary.LittleEndian.Uint16(p[6:]))
	switch {
	case p[2] == 0 || p[2] > 16 && p[2] != 0xFF || p[3] < ' ' || p[3] > '~' || n > polMost-polHead:
		return 0, nothing
	case len(p) < polHead+n:
		return polHead + n, partial
	}
	return polHead + n, whole
}

// Next reads one record; see Decoder.
func (d *Polhemus) Next(buf []byte, f *Frame) (n int, st wire.Status) {
	n, b, st := d.next(buf)
	if st != wire.Good {
		return n, st
	}
	f.Raw = b
	f.begin(polNames[b[0]][b[1]&1], Data)
	data := b[polHead:]
	if cmd := b[3]; cmd != 'P' && cmd != 'C' && cmd != 'p' && cmd != 'c' {
		f.Role, f.Code = Answer, int(b[4])
		if b[4] != ' ' && b[4] != 0 {
			f.Role = Refusal
		}
		d.c.Frames++
		return n, wire.Good
	}
	s := f.Add(int(b[2]))
	s.SetValue(Status, float64(b[4]))
	var guess [8]Item
	items := d.Items
	if items == nil {
		if items = guessItems(guess[:0], data); items == nil {
			s.Extra++
		}
	}
	length := d.Length
	if length == 0 {
		length = inch
	}
	if items != nil && !s.polhemus(items, data, length) {
		d.misfit.Count++
		d.misfit.Width = uint64(len(data))
		d.c.Malformed++
		return n, wire.Corrupt
	}
	s.flagged(b[4])
	if s.Present.Contains(Count) {
		return n, d.number[b[2]].step(&d.c, uint64(s.V[Count]), math.MaxUint32)
	}
	d.c.Frames++
	return n, wire.Good
}

// pose is where a station is and how it is turned.
var pose = Run(X, 3) | Run(Yaw, 3) | Run(QW, 4)

// flagged takes the pose of a sample away if the error indicator of its record is set: the station, or the way to it, was at fault.
func (s *Sample) flagged(indicator byte) {
	if indicator != ' ' && indicator != 0 {
		s.Present &^= pose
	}
}

// polNames are those of the systems by the first letter of a record and the lowest bit of the second: Y is 0x59, U 0x55, A 0x41.
var polNames = [256][2]string{'L': {"LIBERTY", "LIBERTY"}, 'P': {"PATRIOT", "PATRIOT"}}

// polhemus takes the items of a record; false where their lengths do not add up.
func (s *Sample) polhemus(items []Item, b []byte, length float64) bool {
	for _, it := range items {
		n := it.Bytes()
		if n == 0 || len(b) < n {
			return false
		}
		switch it {
		case ItemSpace, ItemEnd:
		case ItemPosition, ItemPositionX:
			s.f32x3(X, b, length)
		case ItemAngles, ItemAnglesX:
			s.f32x3(Yaw, b, degree)
		case ItemCosines: // of the axes of the station, column by column
			s.PutRotation(fromMatrix(f32(b), f32(b[12:]), f32(b[24:]), f32(b[4:]), f32(b[16:]), f32(b[28:]), f32(b[8:]), f32(b[20:]), f32(b[32:])))
		case ItemQuaternion:
			s.put4(QW, f32(b), f32(b[4:]), f32(b[8:]), f32(b[12:]))
		case ItemTime:
			s.SetValue(Time, float64(binary.LittleEndian.Uint32(b))*1e-3)
		case ItemCount:
			s.SetValue(Count, float64(binary.LittleEndian.Uint32(b)))
		case ItemStylus:
			s.SetValue(Stylus, float64(binary.LittleEndian.Uint32(b)))
		case ItemDistortion:
			s.SetValue(Distortion, float64(int32(binary.LittleEndian.Uint32(b))))
		}
		b = b[n:]
	}
	return len(b) == 0
}

// guessItems finds items that fill the data: whole numbers first (no position has an exponent so small), of two the smaller is the count,
// since no system samples a thousand times per second; then a position and angles, or a quaternion; then what ends the record. A zero may
// be a whole number or a place: it is one where what is behind it makes an attitude. nil: no guess.
func guessItems(items []Item, b []byte) []Item {
	var tail [2]Item
	n := 0
	if k := len(b); k >= 2 && b[k-2] == '\r' && b[k-1] == '\n' && k%4 != 0 {
		tail[n], n, b = ItemEnd, n+1, b[:k-2]
	}
	if k := len(b); k > 0 && b[k-1] == ' ' && k%4 == 1 {
		tail[n], n, b = ItemSpace, n+1, b[:k-1]
	}
	if len(b)%4 != 0 {
		return nil
	}
	var v [4]uint32
	whole, fitting := -1, -1
	for k := 0; k < len(v) && len(b) > 4*k; k++ {
		if v[k] = binary.LittleEndian.Uint32(b[4*k:]); v[k] == 0 || v[k] >= 0x10000000 {
			switch fits, sound := isPose(b[4*k:]); {
			case sound && whole < 0:
				whole = k
			case fits && fitting < 0:
				fitting = k
			}
		}
		if v[k] >= 0x10000000 {
			break
		}
	}
	if whole < 0 {
		if whole = fitting; whole < 0 {
			return nil
		}
	}
	switch {
	case whole == 1:
		items = append(items, ItemCount)
	case whole >= 2 && v[0] > v[1]:
		items = append(items, ItemTime, ItemCount)
	case whole >= 2:
		items = append(items, ItemCount, ItemTime)
	}
	if whole == 3 {
		items = append(items, ItemDistortion)
	}
	switch len(b)/4 - whole {
	case 3:
		items = append(items, ItemPosition)
	case 4:
		items = append(items, ItemQuaternion)
	case 6:
		items = append(items, ItemPosition, ItemAngles)
	case 7:
		items = append(items, ItemPosition, ItemQuaternion)
	case 12:
		items = append(items, ItemPosition, ItemCosines)
	}
	for n--; n >= 0; n-- {
		items = append(items, tail[n])
	}
	return items
}

// isPose tells whether b has the length of a position, an attitude or both, and whether a quaternion in it is of length one, or zero where
// there is none.
func isPose(b []byte) (fits, sound bool) {
	switch len(b) / 4 {
	case 3, 6, 12:
		return true, true
	case 4, 7:
		square := 0.0
		for k := len(b) - 16; k < len(b); k += 4 {
			square += f32(b[k:]) * f32(b[k:])
		}
		return true, square == 0 || isUnit(square)
	}
	return false, false
}

// PolhemusEncoder writes the records of a system.
type PolhemusEncoder struct {
	Head   string // "LY" or "PA"
	Items  []Item
	Length float64 // m; 0: an inch
}

// Append writes a record for each sample; see Encoder.
func (e *PolhemusEncoder) Append(dst []byte, f *Frame) []byte {
	for i := range f.N {
		s, at := &f.S[i], len(dst)
		dst = append(dst, e.Head[0], e.Head[1], byte(s.Device), 'C', ' ', 0, 0, 0)
		dst = s.appendItems(dst, e.Items, e.Length)
		binary.LittleEndian.PutUint16(dst[at+6:], uint16(len(dst)-at-polHead))
	}
	return dst
}

// appendItems writes items.
func (s *Sample) appendItems(dst []byte, items []Item, length float64) []byte {
	if length == 0 {
		length = inch
	}
	put := func(q Quantity, n int, scale float64) {
		for k := range n {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(s.value(q+Quantity(k))/scale)))
		}
	}
	for _, it := range items {
		switch it {
		case ItemSpace:
			dst = append(dst, ' ')
		case ItemEnd:
			dst = append(dst, '\r', '\n')
		case ItemPosition, ItemPositionX:
			put(X, 3, length)
		case ItemAngles, ItemAnglesX:
			put(Yaw, 3, degree)
		case ItemQuaternion:
			put(QW, 4, 1)
		case ItemTime:
			dst = binary.LittleEndian.AppendUint32(dst, uint32(uint64(math.Round(s.value(Time)*1e3))))
		case ItemCount:
			dst = binary.LittleEndian.AppendUint32(dst, uint32(uint64(s.value(Count))))
		case ItemStylus:
			dst = binary.LittleEndian.AppendUint32(dst, uint32(s.value(Stylus)))
		case ItemDistortion:
			dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(s.value(Distortion))))
		case ItemCosines:
			r, _ := s.Rotation()
			for _, v := range columns(r) {
				dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v)))
			}
		}
	}
	return dst
}
