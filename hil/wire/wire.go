// Package wire turns bytes into frames and frames into bytes. It does no I/O, keeps no time and allocates nothing once a
// codec is built, so it can be fuzzed, replayed and run in the receiving thread of the real-time core.
//
// Formats, described by a table of fields and usable in both directions:
//
//   - link: binary, COBS framing [CB99] closed by a zero byte, CRC-16, a sequence number, the device's clock in µs and
//     the declared fields, little endian. docs/reference/link.md has the byte table and a worked example.
//   - line: one text line per frame, columns in the order of the table, separators, decimal sign, checksum and time
//     column declared.
//   - Modbus RTU: registers of slaves that a master asks; what arrives belongs to the question that is open (TurnDecoder).
//
// What is assumed: the stream may start inside a frame, bytes may be lost, changed, doubled or inserted anywhere, and
// reads may cut it anywhere. What is promised: the same bytes cut anywhere give the same frames and the same counters;
// memory is bounded whatever arrives; a frame that passed the CRC is never held back by the rubbish before it, except for
// the one frame the rubbish ran into.
//
// A number on the wire is raw; the value in SI is raw·Scale + Offset. A value that is not finite is never sent. When it arrives
// its field is present and not finite: what a sensor says while it is broken must reach the guard. A field that is absent says
// nothing.
package wire

import "math/bits"

// MaxFields bounds a table; the presence bits of a frame fit one word.
const MaxFields = 64

// Kind says what a frame is for. It is the first byte of a link frame; a line has no kind of its own.
type Kind uint8

const (
	Measurement Kind = 1 // device → host, the fields of the measurement table
	Command     Kind = 2 // host → device, the fields of the command table
	Safe        Kind = 3 // host → device, the same fields with the safe values: act at once
)

func (k Kind) String() string {
	switch k {
	case Measurement:
		return "measurement"
	case Command:
		return "command"
	case Safe:
		return "safe"
	}
	return "unknown kind"
}

// Header is what a frame says about itself.
type Header struct {
	Kind        Kind
	Seq         uint8  // counts frames of one sender, wraps at 256; 0 in a line
	HasTime     bool   // Time is set; always in a link frame
	Time        int64  // ns  the sender's clock, modulo Decoder.Wrap; µs resolution in a link frame
	FreshFields uint64 // bit i: field i is in this frame
}

// Frame is one decoded frame. Fields that are absent keep the value they had in the struct before.
type Frame struct {
	Header
	V [MaxFields]float64 // in the unit of the field
}

// Status is what Next found.
type Status uint8

const (
	More      Status = iota // all of buf is used up and no frame was completed
	Good                    // f holds a frame
	Repeat                  // f holds a frame with the sequence number of the one before: a duplicate
	Corrupt                 // something that looked like a frame was refused; f is unchanged or partly written
	Refused                 // an intact answer that says no; f.Seq is the reason
	Restarted               // the sender has begun anew and forgot what it was told
)

func (s Status) String() string {
	switch s {
	case More:
		return "more"
	case Good:
		return "good"
	case Repeat:
		return "repeat"
	case Corrupt:
		return "corrupt"
	case Refused:
		return "refused"
	case Restarted:
		return "restarted"
	}
	return "unknown status"
}

// Counters count since the codec was built; Reset does not clear them. Every frame that ends is counted in exactly one of
// Frames, Repeats, Malformed, Oversize and Foreign, or given out as Refused; idle delimiters, header lines and the piece before the first
// delimiter are none of these.
type Counters struct {
	Bytes     uint64 // bytes taken in
	Frames    uint64 // frames handed out as Good
	Repeats   uint64 // frames with the sequence number of the frame before, or with its time and values
	Malformed uint64 // refused: checksum, length, framing, columns, not a number
	Oversize  uint64 // refused: longer than the longest frame the table allows
	Foreign   uint64 // intact frames of a kind that is not for this side, such as an echo of our own
	Gaps      uint64 // frames missing by their sequence number
	Restarts  uint64 // sequence jumped by 128 or more: the sender restarted, or a long loss of unknown length
	NonFinite uint64 // fields that arrived as NaN, infinite or too large; they are handed out as such
	Resync    uint64 // bytes thrown away while looking for the next good frame
}

// Misfit counts the frames that came whole, by their checksum, and have another length, number of columns or a word where the
// table says otherwise: of Malformed and Oversize those that more bytes on the line would not help.
type Misfit struct {
	Count uint64
	Width uint64        // bytes of data, or columns, of the newest
	Text  [TextLen]byte // its beginning, if it is a text line; zeros behind its end
}

// TextLen is how much is kept of a line that does not fit.
const TextLen = 48

func (m *Misfit) note(width int, text []byte) {
	m.Count++
	m.Width, m.Text = uint64(width), [TextLen]byte{}
	copy(m.Text[:], text)
}

// Decoder finds frames in a stream of bytes.
type Decoder interface {
	// Next reads from buf until one frame is complete. n bytes are used up whatever st is; with More, n = len(buf) and
	// the codec has kept what it needs. Call again with buf[n:] until More.
	Next(buf []byte, f *Frame) (n int, st Status)
	// Reset forgets a half-received frame: the next bytes may begin anywhere. Counters stay.
	Reset()
	// Counters are owned by the codec; read them from the goroutine that calls Next.
	Counters() *Counters
	// Misfit is owned by the codec as Counters are.
	Misfit() *Misfit
	// Wrap is the modulus of Header.Time in ns; 0 if the clock never wraps.
	Wrap() int64
}

// Encoder writes frames.
type Encoder interface {
	// Append writes one frame behind dst: the fields of v whose bit is set in h.FreshFields. Values are rounded to the type of
	// the field and clamped to its range. It returns dst unchanged and false when a value is not finite. It allocates
	// only if dst has less than MaxLen bytes to spare.
	Append(dst []byte, h Header, v []float64) ([]byte, bool)
	// Resync appends what ends a torn frame, so that the next one is understood.
	Resync(dst []byte) []byte
	// MaxLen is the length of the longest frame, in bytes.
	MaxLen() int
}

// AllFields has the lowest n bits set: every field of a table of n is fresh. 0 ≤ n ≤ MaxFields.
func AllFields(n int) uint64 { return 1<<n - 1 }

// sequence sorts a frame by its number: frames lost before it, a duplicate, or a restart.
func (c *Counters) sequence(last, seq uint8) Status {
	switch d := seq - last; {
	case d == 0:
		c.Repeats++
		return Repeat
	case d < 128:
		c.Gaps += uint64(d) - 1
	default:
		c.Restarts++
	}
	c.Frames++
	return Good
}

// maskLen is the number of presence bytes for n fields.
func maskLen(n int) int { return (n + 7) / 8 }

// present counts the fields of h that a table of n has.
func present(h *Header, n int) int { return bits.OnesCount64(h.FreshFields & AllFields(n)) }
