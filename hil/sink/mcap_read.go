package sink

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Problem is a damaged place of a recording.
type Problem struct {
	Offset int64  // bytes from the start of the file
	Text   string // what is wrong and what that cost
}

func (p Problem) String() string { return fmt.Sprintf("at byte %d: %s", p.Offset, p.Text) }

// errNotMCAP says that a file is something else.
var errNotMCAP = errors.New("no recording: it is empty, cut off at its beginning, or not an MCAP file (version 0)")

// mcapReader reads a file through its summary, or record by record where there is none. Nothing in a damaged file makes
// it panic or ask for more memory than maxChunk; what cannot be read becomes a Problem. One goroutine at a time.
type mcapReader struct {
	r    io.ReaderAt
	size int64
	dec  *zstd.Decoder

	indexed  bool  // the summary was there and sound
	dataEnd  int64 // where the data that can be read ends, without a summary
	channels map[uint16]mcapChannel
	meta     map[string][]kv
	attach   map[string][]byte
	chunks   []chunkAt // in the order of the file
	problems []Problem
}

// openMCAP finds the chunks of a file. The error is errNotMCAP or one of reading; damage is in problems.
func openMCAP(r io.ReaderAt, size int64) (*mcapReader, error) {
	m := &mcapReader{r: r, size: size, channels: map[uint16]mcapChannel{}, meta: map[string][]kv{}, attach: map[string][]byte{}}
	head := make([]byte, len(mcapMagic))
	if size < int64(len(head)) {
		return nil, errNotMCAP
	}
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, err
	}
	if string(head) != mcapMagic {
		return nil, errNotMCAP
	}
	var err error
	if m.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxChunk)); err != nil {
		return nil, err
	}
	if err := m.summary(); err != nil {
		return nil, err
	}
	if err := m.walk(int64(len(mcapMagic))); err != nil {
		return nil, err
	}
	return m, nil
}

// checkData compares the data in front of a sound summary with its checksum, which covers what chunks do not: names, units, configuration.
func (m *mcapReader) checkData() error {
	end := make([]byte, recordHead+4)
	at := m.dataEnd - int64(len(end)) // a sound summary begins where the data ends
	if !m.indexed || at < int64(len(mcapMagic)) {
		return nil
	}
	if _, err := m.r.ReadAt(end, at); err != nil {
		return err
	}
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, io.NewSectionReader(m.r, 0, at)); err != nil {
		return err
	}
	if crc := le.Uint32(end[recordHead:]); end[0] != opDataEnd || crc != 0 && crc != sum.Sum32() {
		m.problem(at, "bytes in front of the index are damaged (CRC)")
	}
	return nil
}

// grow lists the chunks that a file without a summary has got since; its end, where a record may be under way, is no problem.
func (m *mcapReader) grow(size int64) error {
	m.size, m.problems = size, nil
	return m.walk(m.dataEnd)
}

func (m *mcapReader) close() { m.dec.Close() }

func (m *mcapReader) problem(at int64, format string, a ...any) {
	for _, p := range m.problems {
		if p.Offset == at {
			return // seen in an earlier pass
		}
	}
	m.problems = append(m.problems, Problem{at, fmt.Sprintf(format, a...)})
}

// topic finds the id of a channel by its topic: a tool that rewrites files may number them anew. or stands for it where
// the channel itself is lost.
func (m *mcapReader) topic(name string, or uint16) uint16 {
	for id, c := range m.channels {
		if c.topic == name {
			return id
		}
	}
	return or
}

// summary takes the list of chunks from the end of the file, if the file was closed in an orderly way.
func (m *mcapReader) summary() error {
	if m.size < int64(len(mcapMagic))+footerSize {
		return nil
	}
	at := m.size - footerSize
	foot := make([]byte, footerSize)
	if _, err := m.r.ReadAt(foot, at); err != nil {
		return err
	}
	c := cursor{b: foot[recordHead:]}
	start, _, crc := c.u64(), c.u64(), c.u32()
	if foot[0] != opFooter || le.Uint64(foot[1:]) != 20 || string(c.b) != mcapMagic || start == 0 {
		return nil // killed before it was closed: no problem of its own, walk says what is missing
	}
	if start < uint64(len(mcapMagic)) || start > uint64(at) {
		m.problem(at, "the footer points outside the file; read record by record instead")
		return nil
	}
	b := make([]byte, at-int64(start)+recordHead+16)
	if _, err := m.r.ReadAt(b, int64(start)); err != nil {
		return err
	}
	if crc != 0 && crc32.ChecksumIEEE(b) != crc {
		m.problem(int64(start), "the index is damaged (CRC); read record by record instead")
		return nil
	}
	var chunks []chunkAt
	for rest := b[:at-int64(start)]; len(rest) > 0; {
		op, content, after, ok := nextRecord(rest)
		if !ok {
			m.problem(int64(start), "the index is cut short; read record by record instead")
			return nil
		}
		c := cursor{b: content}
		switch op {
		case opSchema, opChannel:
			m.describe(op, content)
		case opAttachmentIndex, opMetadataIndex:
			if at, n := int64(c.u64()), int64(c.u64()); !c.overrun && m.inFile(at, n) && n <= maxChunk {
				if err := m.readDescription(at, n); err != nil {
					return err
				}
			}
		case opChunkIndex:
			k := chunkAt{startTime: c.u64(), endTime: c.u64(), offset: int64(c.u64()), length: int64(c.u64())}
			for in := (cursor{b: c.bytes(uint64(c.u32()))}); len(in.b) > 0 && !in.overrun; in.u64() {
				if id := in.u16(); id < 64 {
					k.channels |= 1 << id
				}
			}
			if c.overrun || !m.inFile(k.offset, k.length) {
				m.problem(int64(start), "the index points outside the file; read record by record instead")
				return nil
			}
			chunks = append(chunks, k)
		}
		rest = after
	}
	m.chunks, m.indexed, m.dataEnd = chunks, true, int64(start)
	return nil
}

// inFile tells whether length bytes at offset lie within the file.
func (m *mcapReader) inFile(offset, length int64) bool {
	return offset >= 0 && length >= recordHead && offset <= m.size-length
}

// walk reads the records from a position up to the first chunk and, without a summary, goes on to list the chunks.
func (m *mcapReader) walk(at int64) error {
	var head [recordHead + 64]byte
	for {
		n, err := m.r.ReadAt(head[:], at)
		if err != nil && err != io.EOF {
			return err
		}
		if n == 0 {
			m.noteEnd(at)
			return nil
		}
		kind, length := m.checkHead(at, head[:n])
		switch kind {
		case opDataEnd, opFooter:
			m.noteEnd(at)
			return nil
		case opChunk:
			if m.indexed {
				return nil
			}
			c := cursor{b: head[recordHead:n]}
			m.chunks = append(m.chunks, chunkAt{offset: at, length: length, startTime: c.u64(), endTime: c.u64()})
		case 0:
			next, err := m.nextChunk(at + 1)
			if err != nil {
				return err
			}
			if next < 0 {
				m.problem(at, "the file ends inside a record: %d bytes cannot be read", m.size-at)
				m.noteEnd(at)
				return nil
			}
			m.problem(at, "damaged record: %d bytes up to the next chunk cannot be read", next-at)
			at = next
			continue
		case opMessageIndex:
		default:
			if err := m.readDescription(at, length); err != nil {
				return err
			}
		}
		at += length
	}
}

func (m *mcapReader) noteEnd(at int64) {
	if !m.indexed {
		m.dataEnd = at
	}
}

// checkHead judges the record at a position by its first bytes: its opcode, 0 if it cannot be one, and its whole length.
func (m *mcapReader) checkHead(at int64, head []byte) (op byte, length int64) {
	if len(head) < recordHead {
		return 0, 0
	}
	op, size := head[0], le.Uint64(head[1:])
	if size > uint64(m.size-at-recordHead) {
		return 0, 0
	}
	c := cursor{b: head[recordHead:]}
	switch {
	case op == opChunk:
		// the length of the records inside must agree with the length of the chunk
		c.bytes(28)
		name := uint64(c.u32())
		c.bytes(name)
		inner := c.u64()
		if c.overrun || name > 16 || size < chunkFix+name || inner != size-chunkFix-name {
			return 0, 0
		}
	case op == opMessageIndex:
		c.u16()
		if n := uint64(c.u32()); c.overrun || size != 6+n {
			return 0, 0
		}
	case op == 0 || op > opDataEnd && op < 0x80:
		return 0, 0
	case size > maxChunk:
		return 0, 0
	}
	return op, recordHead + int64(size)
}

// readDescription reads one of the records that describe the file; what it does not know it leaves.
func (m *mcapReader) readDescription(at, length int64) error {
	b := make([]byte, length)
	if _, err := m.r.ReadAt(b, at); err != nil {
		return err
	}
	if op, content, _, ok := nextRecord(b); !ok || !m.describe(op, content) {
		m.problem(at, "damaged record (opcode 0x%02x)", b[0])
	}
	return nil
}

// describe keeps what a record says about the file; false if it is damaged.
func (m *mcapReader) describe(op byte, content []byte) (ok bool) {
	c := cursor{b: content}
	ok = true
	switch op {
	case opHeader:
		_, _ = c.str(), c.str() // profile, library
		ok = !c.overrun
	case opSchema: // of which nothing but its form matters
		_, _, _, _ = c.u16(), c.str(), c.str(), c.str()
		ok = !c.overrun
	case opChannel:
		var ch mcapChannel
		if ch, ok = parseChannel(content); ok {
			m.channels[ch.id] = ch
		}
	case opMetadata:
		name, kvs := c.str(), c.strMap()
		if ok = !c.overrun; ok {
			m.meta[name] = kvs
		}
	case opAttachment:
		c.bytes(16)
		name, _ := c.str(), c.str()
		data := c.bytes(c.u64())
		body := len(content) - len(c.b)
		crc := c.u32()
		if ok = !c.overrun && (crc == 0 || crc == crc32.ChecksumIEEE(content[:body])); ok {
			m.attach[name] = data
		}
	}
	return ok
}

// nextChunk searches for a chunk that hangs together, from a position on; −1 if there is none.
func (m *mcapReader) nextChunk(from int64) (int64, error) {
	const markAt = recordHead + 28 // where a chunk record names its compression
	buf := make([]byte, 1<<16)
	var head [recordHead + 64]byte
	for from < m.size {
		n, err := m.r.ReadAt(buf, from)
		if err != nil && err != io.EOF {
			return -1, err
		}
		for i := 0; i+markAt+len(zstdMark) <= n; i++ {
			if buf[i] != opChunk || string(buf[i+markAt:i+markAt+len(zstdMark)]) != zstdMark {
				continue
			}
			h, err := m.r.ReadAt(head[:], from+int64(i))
			if err != nil && err != io.EOF {
				return -1, err
			}
			if op, _ := m.checkHead(from+int64(i), head[:h]); op == opChunk {
				return from + int64(i), nil
			}
		}
		if n < len(buf) {
			break
		}
		from += int64(n - markAt - len(zstdMark)) // the blocks overlap, so that no mark falls between them
	}
	return -1, nil
}
