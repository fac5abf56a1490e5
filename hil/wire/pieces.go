package wire

// pieces cuts a stream at its delimiters. It keeps the piece that is coming in, and the counters of what comes of all.
type pieces struct {
	c        Counters
	misfit   Misfit
	limit    int  // bytes of a piece that are kept, at most
	n        int  // bytes kept
	oversize bool // it is already too long
	unsynced bool // no delimiter since the start: the first piece may be half a one
	part     [max(MaxLine, maxPayload)]byte
}

// Reset drops the piece that is coming in, up to the next delimiter.
func (p *pieces) Reset() { p.n, p.oversize, p.unsynced = 0, false, true }

// Counters are owned by the decoder.
func (p *pieces) Counters() *Counters { return &p.c }

// Misfit tells about frames that came whole and do not fit the table.
func (p *pieces) Misfit() *Misfit { return &p.misfit }

// nextPiece takes the next piece off b, whose delimiter is at i; with i = −1 the delimiter is still to come and the piece nil. over tells
// that it is longer than the longest there is; lost that it is the first, perhaps half a one.
func (p *pieces) nextPiece(b []byte, i, longest int) (piece []byte, used int, over, lost bool) {
	if i < 0 {
		p.store(b)
		p.c.Bytes += uint64(len(b))
		return nil, len(b), false, false
	}
	p.c.Bytes += uint64(i + 1)
	if piece = b[:i]; p.n > 0 || p.oversize {
		p.store(piece)
		piece = p.part[:p.n]
	}
	over, lost = p.oversize || len(piece) > longest, p.unsynced
	p.n, p.oversize, p.unsynced = 0, false, false
	return piece, i + 1, over, lost
}

// store keeps the beginning of a piece whose end is still to come; of an oversize one only the fact is kept.
func (p *pieces) store(b []byte) {
	if p.oversize = p.oversize || p.n+len(b) > p.limit; p.oversize {
		p.c.Resync += uint64(p.n + len(b))
		p.n = 0
		return
	}
	p.n += copy(p.part[p.n:], b)
}
