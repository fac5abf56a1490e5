package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"hilrig/engine/numeric"
)

// A link frame before COBS, all numbers little endian:
//
//	byte 0      kind: 1 measurement, 2 command, 3 safe; +128 when presence bits follow
//	byte 1      sequence, +1 per frame of this sender, wraps at 256
//	byte 2–5    u32 µs of the sender's clock, wraps after 71.6 min
//	[⌈n/8⌉]     presence bits, only with +128: bit i of the little endian number is field i
//	…           the present fields in the order of the table
//	last 2      CRC-16 over everything before it, low byte first
//
// then COBS, then one zero byte.
const (
	headLen    = 6
	partial    = 0x80
	maxPayload = headLen + MaxFields/8 + 8*MaxFields + 2
	wrapLink   = int64(1000) << 32 // ns
)

// LinkEncoder writes link frames of one table.
type LinkEncoder struct {
	fields []Field
	max    int
	buf    [maxPayload]byte
}

// NewLinkEncoder checks the table (at most MaxFields, unique names, scale not 0, no text) and names all its problems.
func NewLinkEncoder(fields []Field) (*LinkEncoder, error) {
	if err := checkFields(fields, false); err != nil {
		return nil, fmt.Errorf("link frame: %w", err)
	}
	return &LinkEncoder{fields: append([]Field(nil), fields...), max: linkLen(fields)}, nil
}

// linkLen bounds the length on the wire of a frame with these fields, presence bits and closing zero included. (Leaving
// out one u8 of nine costs two bytes of presence bits, so the partial frame can be the longer one.)
func linkLen(fields []Field) int {
	n := headLen + 2 + maskLen(len(fields))
	for _, f := range fields {
		n += f.Type.Size()
	}
	return cobsLen(n) + 1
}

// MaxLen is the length of the longest frame, in bytes.
func (e *LinkEncoder) MaxLen() int { return e.max }

// Resync appends a zero byte: it ends whatever was begun and is nothing by itself.
func (e *LinkEncoder) Resync(dst []byte) []byte { return append(dst, 0) }

// Append writes one frame behind dst; see Encoder. Time travels in µs modulo 2³².
func (e *LinkEncoder) Append(dst []byte, h Header, v []float64) ([]byte, bool) {
	b, nf := e.buf[:], len(e.fields)
	b[0], b[1] = byte(h.Kind), h.Seq
	binary.LittleEndian.PutUint32(b[2:], uint32(h.Time/1000))
	n := headLen
	fresh := h.FreshFields & AllFields(nf)
	if present(&h, nf) < nf {
		b[0] |= partial
		for i := range maskLen(nf) {
			b[n] = byte(fresh >> (8 * i))
			n++
		}
	}
	for i := range e.fields {
		if fresh>>i&1 == 0 {
			continue
		}
		f := &e.fields[i]
		raw, ok := f.raw(v[i])
		if !ok {
			return dst, false
		}
		n += f.Type.encode(b[n:], raw)
	}
	binary.LittleEndian.PutUint16(b[n:], crc16(b[:n]))
	return append(cobsAppend(dst, b[:n+2]), 0), true
}

// LinkDecoder reads link frames of one table.
type LinkDecoder struct {
	pieces
	fields   []Field
	kinds    uint8 // bit k: frames of kind k are for this side
	frameLen int   // bytes of a complete frame before COBS, with CRC
	max      int   // bytes of the longest chunk between zeros
	hasSeq   bool  // seq is the number of a frame
	seq      uint8
	pay      [maxPayload + 8]byte
}

// NewLinkDecoder reads frames of the given kinds, all with the same table.
func NewLinkDecoder(fields []Field, kinds ...Kind) (*LinkDecoder, error) {
	if err := checkFields(fields, false); err != nil {
		return nil, fmt.Errorf("link frame: %w", err)
	}
	d := &LinkDecoder{fields: append([]Field(nil), fields...), max: linkLen(fields) - 1, pieces: pieces{limit: maxPayload, unsynced: true},
		frameLen: headLen + 2}
	for _, f := range fields {
		d.frameLen += f.Type.Size()
	}
	for _, k := range kinds {
		d.kinds |= 1 << k
	}
	return d, nil
}

// Reset forgets a half-received frame and the sequence number.
func (d *LinkDecoder) Reset() {
	d.pieces.Reset()
	d.hasSeq = false
}

// Wrap is 2³² µs.
func (d *LinkDecoder) Wrap() int64 { return wrapLink }

// Next reads one frame from buf; see Decoder.
func (d *LinkDecoder) Next(buf []byte, f *Frame) (n int, st Status) {
	for n < len(buf) {
		chunk, used, over, lost := d.nextPiece(buf[n:], bytes.IndexByte(buf[n:], 0), d.max)
		n += used
		switch {
		case chunk == nil:
			return n, More
		case over:
			if p, ok := d.intact(chunk); ok && len(p) >= headLen {
				d.misfit.note(len(p)-headLen, nil)
			}
			d.c.Resync += uint64(len(chunk) + 1)
			d.c.Oversize++
			return n, Corrupt
		case len(chunk) == 0: // an idle zero
			continue
		}
		switch st = d.frame(chunk, f); st {
		case Good, Repeat:
			return n, st
		case More: // intact but not for this side
			continue
		}
		d.c.Resync += uint64(len(chunk) + 1)
		if !lost { // before the first zero half a frame is nobody's fault
			d.c.Malformed++
			return n, Corrupt
		}
	}
	return n, More
}

// intact takes COBS and checksum off what stood between two zeros; ok is false when they do not fit.
func (d *LinkDecoder) intact(chunk []byte) (p []byte, ok bool) {
	if len(chunk) > maxPayload {
		return nil, false
	}
	n, ok := cobsDecode(d.pay[:], chunk)
	if !ok || n < 2 {
		return nil, false
	}
	p = d.pay[:n-2]
	return p, crc16(p) == binary.LittleEndian.Uint16(d.pay[n-2:])
}

// OpenLink takes COBS and checksum off what stood between two zeros of a stream of link frames, into dst, which has room for it. data are
// the presence bits, if any, and the fields: what they mean the table says. ok is false when it is no link frame.
func OpenLink(dst, chunk []byte) (h Header, partly bool, data []byte, ok bool) {
	if len(dst) < len(chunk) {
		return h, false, nil, false
	}
	n, ok := cobsDecode(dst, chunk)
	if !ok || n < headLen+2 || crc16(dst[:n-2]) != binary.LittleEndian.Uint16(dst[n-2:]) {
		return h, false, nil, false
	}
	h = Header{Kind: Kind(dst[0] &^ partial), Seq: dst[1], HasTime: true, Time: int64(binary.LittleEndian.Uint32(dst[2:])) * 1000}
	return h, dst[0]&partial != 0, dst[headLen : n-2], true
}

// frame decodes what stood between two zeros. More means: intact, not for this side, counted as foreign.
func (d *LinkDecoder) frame(chunk []byte, f *Frame) Status {
	p, ok := d.intact(chunk)
	if !ok || len(p) < headLen {
		return Corrupt
	}
	// the length must be exactly what the table and the presence bits say
	kind, fresh, at := Kind(p[0]&^partial), AllFields(len(d.fields)), headLen
	if kind > 7 || d.kinds>>kind&1 == 0 {
		d.c.Foreign++
		d.c.Resync += uint64(len(chunk) + 1)
		return More
	}
	if p[0]&partial != 0 {
		m := maskLen(len(d.fields))
		if len(p) < at+m {
			return Corrupt
		}
		var bits uint64
		for i := range m {
			bits |= uint64(p[at+i]) << (8 * i)
		}
		if bits&^fresh != 0 {
			return Corrupt
		}
		fresh, at = bits, at+m
		want := at
		for i := range d.fields {
			if fresh>>i&1 != 0 {
				want += d.fields[i].Type.Size()
			}
		}
		if len(p) != want {
			d.misfit.note(len(p)-at, nil)
			return Corrupt
		}
	} else if len(p)+2 != d.frameLen {
		d.misfit.note(len(p)-headLen, nil)
		return Corrupt
	}
	f.Header = Header{Kind: kind, Seq: p[1], HasTime: true, Time: int64(binary.LittleEndian.Uint32(p[2:])) * 1000, FreshFields: fresh}
	for i := range d.fields {
		if fresh>>i&1 == 0 {
			continue
		}
		fd := &d.fields[i]
		f.V[i] = fd.value(fd.Type.get(p[at:]))
		if !numeric.IsFinite(f.V[i]) {
			d.c.NonFinite++
		}
		at += fd.Type.Size()
	}
	// a safe frame is obeyed whatever its number: it may come from another sender, who does not know ours
	if kind == Safe {
		d.c.Frames++
		return Good
	}
	if !d.hasSeq {
		d.hasSeq, d.seq = true, p[1]
		d.c.Frames++
		return Good
	}
	st := d.c.sequence(d.seq, p[1])
	d.seq = p[1]
	return st
}
