package sink

import (
	"encoding/binary"
	"hash/crc32"
)

// mcapMagic opens and closes every file; '0' is the major version.
const mcapMagic = "\x89MCAP0\r\n"

// Opcodes of the records ([MCAP] "Records").
const (
	opHeader          = 0x01
	opFooter          = 0x02
	opSchema          = 0x03
	opChannel         = 0x04
	opMessage         = 0x05
	opChunk           = 0x06
	opMessageIndex    = 0x07
	opChunkIndex      = 0x08
	opAttachment      = 0x09
	opAttachmentIndex = 0x0A
	opStatistics      = 0x0B
	opMetadata        = 0x0C
	opMetadataIndex   = 0x0D
	opSummaryOffset   = 0x0E
	opDataEnd         = 0x0F
)

const (
	recordHead = 9                             // opcode + content length
	footerSize = recordHead + 20 + 8           // footer record and the closing magic
	chunkFix   = 8 + 8 + 8 + 4 + 4 + 8         // fixed part of a chunk, without the name of the compression
	maxChunk   = 64 << 20                      // largest uncompressed chunk the reader accepts, bytes
	zstdName   = "zstd"                        // name of the compression in chunk and chunk index
	zstdMark   = "\x04\x00\x00\x00" + zstdName // the same as it stands in a chunk record
)

// mcapSchema describes the messages of a channel.
type mcapSchema struct {
	id       uint16
	name     string
	encoding string
	data     []byte
}

// mcapChannel is a stream of messages on a topic.
type mcapChannel struct {
	id, schema uint16
	topic      string
	encoding   string
	meta       []kv
}

// mcapMessage is one message; data is valid until the next one is read.
type mcapMessage struct {
	channel uint16
	seq     uint32
	time    uint64 // ns since 1970
	data    []byte
}

// kv is one entry of a Map<string, string>; a slice keeps the order.
type kv struct{ key, value string }

// chunkAt is where a chunk lies in the file and what time it covers.
type chunkAt struct {
	offset, length     int64  // bytes, the whole Chunk record
	startTime, endTime uint64 // ns since 1970, of its messages
	channels           uint64 // bit per channel id below 64 that has messages in it; 0: not known
}

// The little-endian pieces that records are made of ([MCAP] "Serialization"); records grow at the end of a slice.

var le = binary.LittleEndian

func appendString(b []byte, s string) []byte { return append(le.AppendUint32(b, uint32(len(s))), s...) }

func appendMap(b []byte, m []kv) []byte {
	at := len(b)
	b = le.AppendUint32(b, 0)
	for _, e := range m {
		b = appendString(appendString(b, e.key), e.value)
	}
	le.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// openRecord starts a record; closeRecord fills in its length, given the position openRecord returned.
func openRecord(b []byte, op byte) ([]byte, int) {
	b = append(b, op)
	return le.AppendUint64(b, 0), len(b)
}

func closeRecord(b []byte, at int) []byte {
	le.PutUint64(b[at:], uint64(len(b)-at-8))
	return b
}

func appendSchema(b []byte, s mcapSchema) []byte {
	b, at := openRecord(b, opSchema)
	b = le.AppendUint16(b, s.id)
	b = appendString(appendString(b, s.name), s.encoding)
	b = le.AppendUint32(b, uint32(len(s.data)))
	return closeRecord(append(b, s.data...), at)
}

func appendChannel(b []byte, c mcapChannel) []byte {
	b, at := openRecord(b, opChannel)
	b = le.AppendUint16(le.AppendUint16(b, c.id), c.schema)
	b = appendString(appendString(b, c.topic), c.encoding)
	return closeRecord(appendMap(b, c.meta), at)
}

func appendMetadata(b []byte, name string, m []kv) []byte {
	b, at := openRecord(b, opMetadata)
	return closeRecord(appendMap(appendString(b, name), m), at)
}

func appendAttachment(b []byte, t uint64, name, media string, data []byte) []byte {
	b, at := openRecord(b, opAttachment)
	body := len(b)
	b = le.AppendUint64(le.AppendUint64(b, t), t)
	b = appendString(appendString(b, name), media)
	b = append(le.AppendUint64(b, uint64(len(data))), data...)
	b = le.AppendUint32(b, crc32.ChecksumIEEE(b[body:]))
	return closeRecord(b, at)
}

// cursor takes a record's content apart. Reading past the end sets overrun and yields zeros, so that a parser checks once.
type cursor struct {
	b       []byte
	overrun bool
}

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.overrun, c.b = true, nil
		return nil
	}
	p := c.b[:n]
	c.b = c.b[n:]
	return p
}

func (c *cursor) u16() uint16 {
	if p := c.bytes(2); p != nil {
		return le.Uint16(p)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if p := c.bytes(4); p != nil {
		return le.Uint32(p)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if p := c.bytes(8); p != nil {
		return le.Uint64(p)
	}
	return 0
}

func (c *cursor) str() string { return string(c.bytes(uint64(c.u32()))) }

func (c *cursor) strMap() []kv {
	in := cursor{b: c.bytes(uint64(c.u32()))}
	var m []kv
	for len(in.b) > 0 && !in.overrun {
		m = append(m, kv{in.str(), in.str()})
	}
	c.overrun = c.overrun || in.overrun
	return m
}

// nextRecord cuts one record off b: its opcode, its content and what follows. ok is false when b ends inside it.
func nextRecord(b []byte) (op byte, content, rest []byte, ok bool) {
	if len(b) < recordHead {
		return 0, nil, b, false
	}
	n := le.Uint64(b[1:])
	if n > uint64(len(b)-recordHead) {
		return 0, nil, b, false
	}
	return b[0], b[recordHead : recordHead+n], b[recordHead+n:], true
}

func parseChannel(content []byte) (mcapChannel, bool) {
	c := cursor{b: content}
	ch := mcapChannel{id: c.u16(), schema: c.u16(), topic: c.str(), encoding: c.str(), meta: c.strMap()}
	return ch, !c.overrun
}

func parseMessage(content []byte) (mcapMessage, bool) {
	c := cursor{b: content}
	m := mcapMessage{channel: c.u16(), seq: c.u32(), time: c.u64()}
	c.u64() // publish time: the same as the log time here
	m.data = c.b
	return m, !c.overrun
}

// chunkHead is a Chunk record without its content.
type chunkHead struct {
	startTime, endTime uint64 // ns since 1970
	size               uint64 // bytes, uncompressed
	crc                uint32 // of the uncompressed content; 0: unknown
	compression        string
}

func parseChunk(content []byte) (h chunkHead, records []byte, ok bool) {
	c := cursor{b: content}
	h = chunkHead{startTime: c.u64(), endTime: c.u64(), size: c.u64(), crc: c.u32(), compression: c.str()}
	records = c.bytes(c.u64())
	return h, records, !c.overrun
}
