package tracker

import "hilrig/hil/wire"

// verdict is what a protocol says of bytes that may be a frame.
type verdict uint8

const (
	whole   verdict = iota // n bytes are an intact frame
	partial                // n bytes at least are needed to tell more
	text                   // the text goes on to a byte of the stop set
	refused                // it looked like a frame, and its check failed
	nothing                // no frame begins here
)

// protocol tells frames from other bytes.
type protocol interface {
	// recognize judges what begins at p[0], one of the start bytes. What it says depends on no more bytes than it takes to say it: more of
	// them behind change nothing. n counts bytes, and is used with whole and partial.
	recognize(p []byte) (n int, v verdict)
}

// stream cuts frames out of bytes that come in pieces.
type stream struct {
	c                  wire.Counters
	misfit             wire.Misfit
	resyncs            uint64
	protocol           protocol
	startBytes         [256]bool // bytes with which a frame begins
	stopBytes          [256]bool // bytes with which a text ends, or that cannot stand in one
	maxFrame           int       // bytes of the longest frame
	part               []byte    // part[partStart:partEnd] waits for its end
	partStart, partEnd int
	need               int  // bytes of it, from partStart on, before it is judged again
	reading            bool // a text, to a stop byte
	skipping           bool // of step: bytes were left out since the last frame
	blamed             bool // and one of them was counted as bad
	streamEnded        bool
	previousByte       int // the byte before the candidate; −1: none, or the end of a frame
}

func (s *stream) init(p protocol, most int, first ...byte) {
	s.protocol, s.maxFrame, s.part, s.previousByte = p, most, make([]byte, 2*most), -1
	for _, b := range first {
		s.startBytes[b] = true
	}
}

// stops sets the bytes that end a text: last, and all that are not printable and not in allowed.
func (s *stream) stops(last byte, allowed string) {
	for b := range 256 {
		s.stopBytes[b] = b < ' ' || b > '~'
	}
	for _, b := range []byte(allowed) {
		s.stopBytes[b] = false
	}
	s.stopBytes[last] = true
}

// Counters are owned by the decoder.
func (s *stream) Counters() *wire.Counters { return &s.c }

// Misfit tells about frames that came whole and do not fit what was declared.
func (s *stream) Misfit() *wire.Misfit { return &s.misfit }

// Resyncs counts how often bytes had to be left out.
func (s *stream) Resyncs() uint64 { return s.resyncs }

// Offset counts the bytes of the stream up to the end of the newest frame.
func (s *stream) Offset() uint64 { return s.c.Bytes - uint64(s.partEnd-s.partStart) }

// Reset forgets a half-received frame.
func (s *stream) Reset() {
	s.drop(s.partEnd - s.partStart)
	s.empty()
	s.streamEnded, s.previousByte = false, 0
}

// NewRun ends a run of bytes that were left out; see Decoder.
func (s *stream) NewRun() { s.skipping, s.blamed = false, false }

// End tells that no more bytes come.
func (s *stream) End() { s.streamEnded = true }

func (s *stream) empty() { s.partStart, s.partEnd, s.need, s.reading = 0, 0, 0, false }

// drop counts n bytes that belong to no frame.
func (s *stream) drop(n int) {
	if n <= 0 {
		return
	}
	if !s.skipping {
		s.skipping = true
		s.resyncs++
	}
	s.c.Resync += uint64(n)
}

// blame counts a frame that was refused: one in each run of bytes that are left out, whose inside may look like others.
func (s *stream) blame() bool {
	if s.blamed {
		return false
	}
	s.blamed = true
	s.c.Malformed++
	return true
}

// next finds one frame; with wire.More buf is used up. The frame is valid until the next call.
func (s *stream) next(buf []byte) (n int, frame []byte, st wire.Status) {
	for {
		if s.partStart == s.partEnd {
			// most frames are whole in buf, and are not copied
			s.empty()
			i := n
			for i < len(buf) && !s.startBytes[buf[i]] {
				i++
			}
			if i > n {
				s.previousByte = int(buf[i-1])
			}
			s.drop(i - n)
			s.c.Bytes += uint64(i - n)
			if n = i; n == len(buf) {
				return n, nil, wire.More
			}
			p := buf[n:]
			k, v := s.protocol.recognize(p)
			switch v {
			case whole:
				n += k
				s.c.Bytes += uint64(k)
				s.skipping, s.blamed, s.previousByte = false, false, -1
				return n, p[:k], wire.Good
			case partial, text:
				s.need, s.reading = k, v == text
				if s.reading {
					s.need = 1
				}
				t := min(len(p), s.maxFrame)
				if !s.reading {
					t = min(t, s.need)
				}
				s.partEnd = copy(s.part, p[:t])
				n += t
				s.c.Bytes += uint64(t)
				if s.reading && t == s.maxFrame {
					s.need, s.reading = t, false
				}
			default:
				n++
				s.c.Bytes++
				s.previousByte = int(p[0])
				s.drop(1)
				if v == refused && s.blame() {
					return n, nil, wire.Corrupt
				}
			}
			continue
		}
		p := s.part[s.partStart:s.partEnd]
		if !s.reading && len(p) >= s.need {
			k, v := s.protocol.recognize(p)
			switch v {
			case whole:
				s.partStart += k
				s.need = 0
				s.skipping, s.blamed, s.previousByte = false, false, -1
				return n, p[:k], wire.Good
			case partial:
				s.need = k
			case text:
				s.reading = true
			default:
				s.skip()
				if v == refused && s.blame() {
					return n, nil, wire.Corrupt
				}
				continue
			}
		}
		// more bytes are needed
		rest := buf[n:]
		if len(rest) == 0 {
			if !s.streamEnded {
				return n, nil, wire.More
			}
			s.skip() // they will not come
			continue
		}
		n += s.appendPart(rest, len(p))
	}
}

// appendPart moves bytes of rest behind the part that waits, which has the given length, and returns how many.
func (s *stream) appendPart(rest []byte, have int) (t int) {
	found := false
	if s.reading {
		room := min(len(rest), s.maxFrame-have)
		for t < room && !found {
			found = s.stopBytes[rest[t]]
			t++
		}
		if found || have+t == s.maxFrame {
			s.need, s.reading = have+t, false
		}
	} else {
		t = min(s.need-have, len(rest))
	}
	if s.partEnd+t > len(s.part) {
		s.partEnd = copy(s.part, s.part[s.partStart:s.partEnd])
		s.partStart = 0
	}
	copy(s.part[s.partEnd:], rest[:t])
	s.partEnd += t
	s.c.Bytes += uint64(t)
	return t
}

// skip goes on to the next byte in the part that can begin a frame.
func (s *stream) skip() {
	from := s.partStart
	s.partStart++
	for s.partStart < s.partEnd && !s.startBytes[s.part[s.partStart]] {
		s.partStart++
	}
	s.previousByte = int(s.part[s.partStart-1])
	s.drop(s.partStart - from)
	s.need, s.reading = 0, false
}

// line finds the end of a text: the place of the first byte of the stop set behind p[0]; −1 where it is still to come.
func (s *stream) line(p []byte) int {
	for i := 1; i < len(p); i++ {
		if s.stopBytes[p[i]] {
			return i
		}
	}
	return -1
}

// counted sorts a frame by its number: those missing before it, a repeat, or a restart. The number wraps at mask + 1.
type counted struct {
	hasNumber  bool
	lastNumber uint64
}

func (k *counted) step(c *wire.Counters, n, mask uint64) wire.Status {
	d := (n - k.lastNumber) & mask
	first := !k.hasNumber
	k.hasNumber, k.lastNumber = true, n
	switch {
	case first:
	case d == 0:
		c.Repeats++
		return wire.Repeat
	case d <= mask/2:
		c.Gaps += d - 1
	default:
		c.Restarts++
	}
	c.Frames++
	return wire.Good
}
