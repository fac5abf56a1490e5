package wire

// pieces cuts a stream at its delimiters. It keeps the piece that is coming in, and the counters of what comes of all.
type pieces struct {
	c      Counters
	misfit Misfit
	limit  int  // bytes of a piece that are kept, at most
	n      int  // bytes kept
	over   bool // it is already too long
	lost   bool // no delimiter since the start: the first piece may be half a one
	part   [max(MaxLine, maxPayload)]byte
}

// Reset drops the piece that is coming in, up to the next delimiter.
func (p *pieces) Reset() { p.n, p.over, p.lost = 0, false, true }

// Counters are owned by the decoder.
func (p *pieces) Counters() *Counters { return &p.c }

// Misfit tells about frames that came whole and do not fit the table.
func (p *pieces) Misfit() *Misfit { return &p.misfit }

// cut takes the next piece off b, whose delimiter is at i; with i = −1 the delimiter is still to come and the piece nil. over tells
// that it is longer than the longest there is; lost that it is the first, perhaps half a one.
func (p *pieces) cut(b []byte, i, longest int) (piece []byte, used int, over, lost bool) {
	if i < 0 {
		p.keep(b)
		p.c.Bytes += uint64(len(b))
		return nil, len(b), false, false
	}
	p.c.Bytes += uint64(i + 1)
	if piece = b[:i]; p.n > 0 || p.over {
		p.keep(piece)
		piece = p.part[:p.n]
	}
	over, lost = p.over || len(piece) > longest, p.lost
	p.n, p.over, p.lost = 0, false, false
	return piece, i + 1, over, lost
}

// keep stores the beginning of a piece whose end is still to come; of an oversize one only the fact is kept.
func (p *pieces) keep(b []byte) {
	if p.over = p.over || p.n+len(b) > p.limit; p.over {
		p.c.Resync += uint64(p.n + len(b))
		p.n = 0
		return
	}
	p.n += copy(p.part[p.n:], b)
}
