package decode

import (
	"bytes"
	"fmt"

	"hilrig/hil/protocol"
	"hilrig/hil/wire"
)

// counterText says what a decoder with a table counted.
func counterText(c *wire.Counters) string {
	return fmt.Sprintf("%d bad (checksum, length, columns), %d too long, %d missing by their number, %d restarts, %d repeats, %d not for "+
		"this side; %d bytes are no frame",
		c.Malformed, c.Oversize, c.Gaps, c.Restarts, c.Repeats, c.Foreign, c.Resync)
}

// decodeDelimited decodes frames that end with a delimiter, by a table.
func decodeDelimited(plan *protocol.Plan, b []byte, w *writer, ends func(byte) bool) string {
	f, start := new(wire.Frame), 0
	for i := range b {
		if !ends(b[i]) {
			continue
		}
		// one piece at a time, so that its place is known; the decoder drops what comes before its first delimiter
		for p := b[start : i+1]; ; {
			n, st := plan.Decoder.Next(p, f)
			if p = p[n:]; st == wire.More {
				break
			}
			if st != wire.Good && st != wire.Repeat {
				continue
			}
			w.begin(start, i+1-start, f.Kind.String())
			if f.HasTime {
				w.value("time", "s", float64(f.Time)*1e-9)
			}
			if st == wire.Repeat {
				w.key("repeat")
				w.line = append(w.line, "true"...)
			}
			w.integer("sequence", int(f.Seq))
			w.fields(plan.Meas, f)
			w.writeLine()
		}
		start = i + 1
	}
	return counterText(plan.Decoder.Counters())
}

// linkSource decodes the binary protocol.
type linkSource struct{ plan *protocol.Plan }

func (s *linkSource) decode(b []byte, w *writer) string {
	if s.plan != nil {
		return decodeDelimited(s.plan, b, w, func(c byte) bool { return c == 0 })
	}
	bad, buf := 0, make([]byte, len(b))
	for start := 0; start < len(b); {
		n := bytes.IndexByte(b[start:], 0)
		if n < 0 {
			n = len(b) - start
		}
		if n > 0 {
			if h, partly, data, ok := wire.OpenLink(buf, b[start:start+n]); ok {
				w.begin(start, min(n+1, len(b)-start), h.Kind.String())
				w.integer("sequence", int(h.Seq))
				w.value("time", "s", float64(h.Time)*1e-9)
				if partly {
					w.text("payload", "presence bits and the fields that are present")
				}
				w.raw("raw", data)
				w.writeLine()
			} else {
				bad++
			}
		}
		start += n + 1
	}
	return fmt.Sprintf("%d bad (checksum); fields have no names: give --rig FILE --device NAME", bad)
}

// lineSource decodes text lines.
type lineSource struct{ plan *protocol.Plan }

func lineEnds(c byte) bool { return c == '\n' || c == '\r' }

func (s *lineSource) decode(b []byte, w *writer) string {
	if s.plan != nil {
		if !lineEnds(b[len(b)-1]) {
			b = append(b[:len(b):len(b)], '\n')
		}
		return decodeDelimited(s.plan, b, w, lineEnds)
	}
	empty := 0
	for start := 0; start < len(b); {
		n := bytes.IndexFunc(b[start:], func(r rune) bool { return r == '\n' || r == '\r' })
		if n < 0 {
			n = len(b) - start
		}
		if n == 0 {
			empty++
		} else {
			w.begin(start, min(n+1, len(b)-start), "line")
			w.text("text", string(b[start:start+n]))
			w.writeLine()
		}
		start += n + 1
	}
	return "columns have no names: give --rig FILE --device NAME"
}
