package tracker

import "hilrig/hil/wire"

// FastrakItem is a number of the command O of FASTRAK. Those of 16 bits (18 to 20) and the stylus (16) are not spoken.
type FastrakItem uint8

const (
	FastrakSpace      FastrakItem = 0
	FastrakEnd        FastrakItem = 1 // CR LF
	FastrakPosition   FastrakItem = 2
	FastrakRelative   FastrakItem = 3 // to the boresight
	FastrakAngles     FastrakItem = 4
	FastrakQuaternion FastrakItem = 11
)

// item is that of LIBERTY with the same bytes.
func (i FastrakItem) item() (Item, bool) {
	switch i {
	case FastrakSpace, FastrakEnd, FastrakPosition, FastrakAngles:
		return Item(i), true
	case FastrakRelative:
		return ItemPosition, true
	case FastrakQuaternion:
		return ItemQuaternion, true
	}
	return 0, false
}

// Bytes is the length of an item; 0: it is not spoken.
func (i FastrakItem) Bytes() int {
	if it, ok := i.item(); ok {
		return it.Bytes()
	}
	return 0
}

// Lists of items that are tried where none is given: the shorter first. The first of 29 bytes is what the device sends when it is
// switched on.
var fastrakLists = [][]Item{
	{ItemPosition, ItemEnd}, {ItemQuaternion, ItemEnd}, {ItemPosition, ItemAngles, ItemSpace}, {ItemPosition, ItemAngles, ItemEnd},
	{ItemPosition, ItemQuaternion, ItemSpace}, {ItemPosition, ItemQuaternion, ItemEnd},
}

const (
	fastrakHead = 3
	fastrakMost = 256
)

// Fastrak decodes the records of FASTRAK.
type Fastrak struct {
	stream
	lists  [][]Item
	Length float64 // m  of the unit of positions; 0: an inch
	items  []Item  // of the newest record
}

// NewFastrak is a decoder of records with these items; nil: that of a few lists which ends where it should.
func NewFastrak(list []FastrakItem) *Fastrak {
	d := &Fastrak{lists: fastrakLists}
	if list != nil {
		d.lists = [][]Item{nil}
		for _, i := range list {
			it, _ := i.item()
			d.lists[0] = append(d.lists[0], it)
		}
	}
	d.init(d, fastrakMost, '0')
	return d
}

// Wrap is 0: no time is sent.
func (d *Fastrak) Wrap() float64 { return 0 }

func (d *Fastrak) recognize(p []byte) (int, verdict) {
	if v := fastrakBegins(p); v != whole {
		return fastrakHead, v
	}
	for _, items := range d.lists {
		n := fastrakHead
		for _, it := range items {
			n += it.Bytes()
		}
		last := ItemPosition
		if len(items) > 0 {
			last = items[len(items)-1]
		}
		switch {
		case len(p) < n:
			return n, partial
		case last == ItemEnd && p[n-2] == '\r' && p[n-1] == '\n', last == ItemSpace && p[n-1] == ' ':
			d.items = items
			return n, whole
		case last == ItemEnd || last == ItemSpace:
			continue
		}
		// nothing marks the end: the next record does
		switch v := fastrakBegins(p[n:]); v {
		case partial:
			return n + fastrakHead, partial
		case whole:
			d.items = items
			return n, whole
		}
	}
	return 0, refused
}

// fastrakBegins tells whether p begins as a record.
func fastrakBegins(p []byte) verdict {
	switch {
	case len(p) < fastrakHead:
		return partial
	case p[0] == '0' && p[1] >= '1' && p[1] <= '4' && (p[2] == ' ' || p[2]|0x20 >= 'a' && p[2]|0x20 <= 'z'):
		return whole
	}
	return nothing
}

// Next reads one record; see Decoder.
func (d *Fastrak) Next(buf []byte, f *Frame) (n int, st wire.Status) {
	n, b, st := d.next(buf)
	if st != wire.Good {
		return n, st
	}
	f.Raw = b
	f.begin("FASTRAK", Data)
	s := f.Add(int(b[1] - '0'))
	s.SetValue(Status, float64(b[2]))
	length := d.Length
	if length == 0 {
		length = inch
	}
	s.polhemus(d.items, b[fastrakHead:], length)
	s.flagged(b[2])
	d.c.Frames++
	return n, wire.Good
}

// FastrakEncoder writes records.
type FastrakEncoder struct {
	Items  []FastrakItem
	Length float64 // m; 0: an inch
	items  []Item
}

// Append writes a record for each sample; see Encoder.
func (e *FastrakEncoder) Append(dst []byte, f *Frame) []byte {
	e.items = e.items[:0]
	for _, i := range e.Items {
		it, _ := i.item()
		e.items = append(e.items, it)
	}
	for i := range f.N {
		s := &f.S[i]
		dst = append(dst, '0', '0'+byte(s.Device), ' ')
		dst = s.appendItems(dst, e.items, e.Length)
	}
	return dst
}
