package sink

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"os"

	"github.com/klauspost/compress/zstd"
)

// mcapChunk gathers messages in memory until they are written as one Chunk record with its message indices.
type mcapChunk struct {
	buf                []byte   // Message records, one after the other
	index              [][]byte // per channel id: pairs of log time (ns) and offset into buf, as they stand in the file
	counts             []uint64 // per channel id: messages
	startTime, endTime uint64   // ns since 1970, earliest and latest log time
	n                  int      // messages
	lengthPos          int      // position of the open message's length
}

// chunkBytes closes a chunk early when rows come fast: uncompressed size, bytes.
const chunkBytes = 1 << 20

func newChunk(channels int) *mcapChunk {
	return &mcapChunk{buf: make([]byte, 0, chunkBytes+1<<16), index: make([][]byte, channels+1), counts: make([]uint64, channels+1)}
}

func (c *mcapChunk) reset() {
	c.buf, c.startTime, c.endTime, c.n = c.buf[:0], 0, 0, 0
	for i := range c.index {
		c.index[i], c.counts[i] = c.index[i][:0], 0
	}
}

// open starts a message on a channel; the caller appends the data to c.buf and then calls shut.
func (c *mcapChunk) open(channel uint16, seq uint32, t uint64) {
	c.index[channel] = le.AppendUint64(le.AppendUint64(c.index[channel], t), uint64(len(c.buf)))
	c.counts[channel]++
	if c.n == 0 || t < c.startTime {
		c.startTime = t
	}
	c.endTime = max(c.endTime, t)
	c.n++

	c.buf, c.lengthPos = openRecord(c.buf, opMessage)
	c.buf = le.AppendUint32(le.AppendUint16(c.buf, channel), seq)
	c.buf = le.AppendUint64(le.AppendUint64(c.buf, t), t)
}

func (c *mcapChunk) shut() { c.buf = closeRecord(c.buf, c.lengthPos) }

// mcapFile is what the writer needs of a file; *os.File is one.
type mcapFile interface {
	WriteAt(p []byte, off int64) (int, error)
	Sync() error
	Truncate(size int64) error
	Close() error
}

var _ mcapFile = (*os.File)(nil)

// mcapWriter writes one file, chunk by chunk, each with one write. It belongs to one goroutine. A write that fails is
// cut off again, so that the file always ends after a whole record.
type mcapWriter struct {
	f      mcapFile
	offset int64  // bytes in the file so far
	crc    uint32 // of those bytes
	enc    *zstd.Encoder
	buf    []byte // scratch for one write
	zip    []byte // scratch for compressed records

	schemas, channels  []byte // the records, repeated in the summary
	chunkIndex         []byte // the summary's records so far …
	attachIndex        []byte
	metaIndex          []byte
	nSchemas           uint16 // … and the numbers for the statistics
	nChannels          uint32
	nChunks            uint32
	nAttach, nMeta     uint32
	counts             []uint64 // messages per channel id
	messages           uint64
	startTime, endTime uint64 // ns since 1970
}

// newMCAPWriter starts a file; prologue fills in what stands before the first chunk.
func newMCAPWriter(f mcapFile, library string, prologue func(*mcapWriter)) (*mcapWriter, error) {
	// 512 KiB of window are enough to see the row before; one encoder, no goroutines
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(1<<19), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("zstd encoder: %w", err)
	}
	w := &mcapWriter{f: f, enc: enc}
	w.buf = append(w.buf[:0], mcapMagic...)
	b, at := openRecord(w.buf, opHeader)
	w.buf = closeRecord(appendString(appendString(b, ""), library), at)
	prologue(w)
	return w, w.flush()
}

// metadata, attachment, schema and channel add a record each to the prologue.

func (w *mcapWriter) metadata(name string, m []kv) {
	at := len(w.buf)
	w.buf = appendMetadata(w.buf, name, m)
	b, r := openRecord(w.metaIndex, opMetadataIndex)
	b = le.AppendUint64(le.AppendUint64(b, uint64(w.offset)+uint64(at)), uint64(len(w.buf)-at))
	w.metaIndex = closeRecord(appendString(b, name), r)
	w.nMeta++
}

func (w *mcapWriter) attachment(t uint64, name, media string, data []byte) {
	at := len(w.buf)
	w.buf = appendAttachment(w.buf, t, name, media, data)
	b, r := openRecord(w.attachIndex, opAttachmentIndex)
	b = le.AppendUint64(le.AppendUint64(b, uint64(w.offset)+uint64(at)), uint64(len(w.buf)-at))
	b = le.AppendUint64(le.AppendUint64(b, t), t)
	b = le.AppendUint64(b, uint64(len(data)))
	w.attachIndex = closeRecord(appendString(appendString(b, name), media), r)
	w.nAttach++
}

func (w *mcapWriter) channel(c mcapChannel, s mcapSchema) {
	at := len(w.schemas)
	w.schemas = appendSchema(w.schemas, s)
	w.buf = append(w.buf, w.schemas[at:]...)
	at = len(w.channels)
	w.channels = appendChannel(w.channels, c)
	w.buf = append(w.buf, w.channels[at:]...)
	w.nSchemas++
	w.nChannels++
	for len(w.counts) <= int(c.id) {
		w.counts = append(w.counts, 0)
	}
}

// writeChunk compresses a chunk and writes it with its message indices in one write.
func (w *mcapWriter) writeChunk(c *mcapChunk) error {
	w.zip = w.enc.EncodeAll(c.buf, w.zip[:0])

	b, at := openRecord(w.buf[:0], opChunk)
	b = le.AppendUint64(le.AppendUint64(b, c.startTime), c.endTime)
	b = le.AppendUint64(b, uint64(len(c.buf)))
	b = le.AppendUint32(b, crc32.ChecksumIEEE(c.buf))
	b = appendString(b, zstdName)
	b = append(le.AppendUint64(b, uint64(len(w.zip))), w.zip...)
	b = closeRecord(b, at)
	length := len(b)

	// index records behind the chunk, one per channel that has messages in it; the summary keeps where they are
	x, r := openRecord(w.chunkIndex, opChunkIndex)
	x = le.AppendUint64(le.AppendUint64(x, c.startTime), c.endTime)
	x = le.AppendUint64(le.AppendUint64(x, uint64(w.offset)), uint64(length))
	m := len(x)
	x = le.AppendUint32(x, 0)
	for id, entries := range c.index {
		if len(entries) == 0 {
			continue
		}
		x = le.AppendUint64(le.AppendUint16(x, uint16(id)), uint64(w.offset)+uint64(len(b)))
		var at int
		b, at = openRecord(b, opMessageIndex)
		b = le.AppendUint16(b, uint16(id))
		b = append(le.AppendUint32(b, uint32(len(entries))), entries...)
		b = closeRecord(b, at)
	}
	le.PutUint32(x[m:], uint32(len(x)-m-4))
	x = le.AppendUint64(x, uint64(len(b)-length))
	x = appendString(x, zstdName)
	x = le.AppendUint64(le.AppendUint64(x, uint64(len(w.zip))), uint64(len(c.buf)))
	x = closeRecord(x, r)

	w.buf = b
	if err := w.flush(); err != nil {
		return err
	}

	// only what is on file counts
	w.chunkIndex = x
	if w.nChunks == 0 || c.startTime < w.startTime {
		w.startTime = c.startTime
	}
	w.endTime = max(w.endTime, c.endTime)
	w.nChunks++
	w.messages += uint64(c.n)
	for id, n := range c.counts {
		w.counts[id] += n
	}
	return nil
}

// flush writes w.buf at the end of the file; if that fails the file is cut back to where it was.
func (w *mcapWriter) flush() error {
	if _, err := w.f.WriteAt(w.buf, w.offset); err != nil {
		// the count that comes back is no help: os.File says 0 even when a part was written
		if cut := w.f.Truncate(w.offset); cut != nil {
			return fmt.Errorf("%w (and a half-written record may stand at byte %d: %v)", bare(err), w.offset, bare(cut))
		}
		return err
	}
	w.crc = crc32.Update(w.crc, crc32.IEEETable, w.buf)
	w.offset += int64(len(w.buf))
	w.buf = w.buf[:0]
	return nil
}

// finish writes the end of the data, the summary and the footer, and closes the file.
func (w *mcapWriter) finish() error {
	b, at := openRecord(w.buf[:0], opDataEnd)
	b = closeRecord(le.AppendUint32(b, w.crc), at)

	// groups of records of one kind, and after them an offset record for each group
	first := len(b)
	var offsets []byte
	group := func(op byte, records []byte) {
		if len(records) == 0 {
			return
		}
		o, at := openRecord(offsets, opSummaryOffset)
		o = le.AppendUint64(append(o, op), uint64(w.offset)+uint64(len(b)))
		offsets = closeRecord(le.AppendUint64(o, uint64(len(records))), at)
		b = append(b, records...)
	}
	group(opSchema, w.schemas)
	group(opChannel, w.channels)
	group(opChunkIndex, w.chunkIndex)
	group(opAttachmentIndex, w.attachIndex)
	group(opMetadataIndex, w.metaIndex)
	group(opStatistics, w.statistics())
	offsetStart := uint64(w.offset) + uint64(len(b))
	b = append(b, offsets...)

	// the footer's CRC runs from the summary to the field before it
	b, at = openRecord(b, opFooter)
	b = le.AppendUint64(b, uint64(w.offset)+uint64(first))
	b = le.AppendUint64(b, offsetStart)
	le.PutUint64(b[at:], 20)
	b = le.AppendUint32(b, crc32.ChecksumIEEE(b[first:]))
	w.buf = append(b, mcapMagic...)

	err := w.flush()
	if err == nil {
		err = w.f.Sync()
	}
	w.enc.Close()
	return cmp.Or(err, w.f.Close())
}

func (w *mcapWriter) statistics() []byte {
	b, at := openRecord(nil, opStatistics)
	b = le.AppendUint64(b, w.messages)
	b = le.AppendUint16(b, w.nSchemas)
	b = le.AppendUint32(b, w.nChannels)
	b = le.AppendUint32(b, w.nAttach)
	b = le.AppendUint32(b, w.nMeta)
	b = le.AppendUint32(b, w.nChunks)
	b = le.AppendUint64(le.AppendUint64(b, w.startTime), w.endTime)
	m := len(b)
	b = le.AppendUint32(b, 0)
	for id, n := range w.counts {
		if id > 0 && n > 0 {
			b = le.AppendUint64(le.AppendUint16(b, uint16(id)), n)
		}
	}
	le.PutUint32(b[m:], uint32(len(b)-m-4))
	return closeRecord(b, at)
}
