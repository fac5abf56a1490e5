package sink

import (
	"fmt"
	"hash/crc32"
)

// messages is a pass over the messages of one channel, in the order of the file, chunk by chunk.
type messages struct {
	m                  *mcapReader
	channel            uint16
	startTime, endTime uint64 // ns since 1970; chunks wholly outside are not read
	nextChunk          int    // chunk
	raw                []byte
	decompressed       []byte
	rest               []byte
	chunkOffset        int64 // of the chunk being read
}

func (m *mcapReader) pass(channel uint16, from, to uint64) *messages {
	return &messages{m: m, channel: channel, startTime: from, endTime: to}
}

// read gives the next message; false at the end. A damaged chunk becomes a Problem and is left out.
func (p *messages) read(msg *mcapMessage) (bool, error) {
	for {
		for len(p.rest) > 0 {
			op, content, rest, ok := nextRecord(p.rest)
			if !ok {
				p.m.problem(p.chunkOffset, "the chunk ends inside a record")
				p.rest = nil
				break
			}
			p.rest = rest
			if op != opMessage {
				continue
			}
			got, ok := parseMessage(content)
			if !ok {
				p.m.problem(p.chunkOffset, "a message of the chunk is cut short")
				continue
			}
			if got.channel == p.channel {
				*msg = got
				return true, nil
			}
		}
		if p.nextChunk >= len(p.m.chunks) {
			return false, nil
		}
		k := p.m.chunks[p.nextChunk]
		p.nextChunk++
		if k.endTime < p.startTime || k.startTime > p.endTime || p.channel < 64 && k.channels != 0 && k.channels>>p.channel&1 == 0 {
			continue
		}
		if err := p.load(k); err != nil {
			return false, err
		}
	}
}

// load reads and checks one chunk. The error is one of the disk; damage leaves rest empty.
func (p *messages) load(k chunkAt) error {
	p.rest, p.chunkOffset = nil, k.offset
	if k.length > 2*maxChunk {
		p.m.problem(k.offset, "the chunk claims %d bytes, more than %d", k.length, 2*maxChunk)
		return nil
	}
	if int64(cap(p.raw)) < k.length {
		p.raw = make([]byte, k.length)
	}
	p.raw = p.raw[:k.length]
	if _, err := p.m.r.ReadAt(p.raw, k.offset); err != nil {
		return fmt.Errorf("read chunk at byte %d: %w", k.offset, err)
	}
	op, content, _, ok := nextRecord(p.raw)
	if !ok || op != opChunk {
		p.m.problem(k.offset, "no chunk where the index says there is one")
		return nil
	}
	h, records, ok := parseChunk(content)
	switch {
	case !ok:
		p.m.problem(k.offset, "the chunk is cut short")
		return nil
	case h.size > maxChunk:
		p.m.problem(k.offset, "the chunk claims %d bytes, more than %d", h.size, maxChunk)
		return nil
	case h.compression == "":
		p.decompressed = append(p.decompressed[:0], records...)
	case h.compression == zstdName:
		var err error
		if p.decompressed, err = p.m.dec.DecodeAll(records, p.decompressed[:0]); err != nil {
			p.m.problem(k.offset, "the chunk does not decompress (%v); its rows are lost", err)
			return nil
		}
	default:
		p.m.problem(k.offset, "the chunk is compressed with %q, which this program does not read", h.compression)
		return nil
	}
	if uint64(len(p.decompressed)) != h.size || h.crc != 0 && crc32.ChecksumIEEE(p.decompressed) != h.crc {
		p.m.problem(k.offset, "the chunk is damaged (CRC); its rows are lost")
		return nil
	}
	p.rest = p.decompressed
	return nil
}
