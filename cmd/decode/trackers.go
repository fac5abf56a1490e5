package decode

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"hilrig/hil/wire"
	"hilrig/hil/wire/tracker"
)

// tracker is the decoder of a kind with the settings of the flags.
func (o *Options) tracker(k *tracker.Kind) (tracker.Decoder, error) {
	length, ok := map[string]float64{"inch": 0.0254, "cm": 0.01}[o.length]
	if !ok {
		return nil, fmt.Errorf("--length %q, want inch or cm", o.length)
	}
	var codes []int
	if o.items != "" {
		for word := range strings.SplitSeq(o.items, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(word))
			if err != nil || n < 0 || n > 255 {
				return nil, fmt.Errorf("--items: %q is no item", word)
			}
			codes = append(codes, n)
		}
	}
	switch k.Name {
	case "polhemus":
		var items []tracker.Item
		for _, n := range codes {
			if tracker.Item(n).Bytes() == 0 {
				return nil, fmt.Errorf("--items: %d is no item of LIBERTY and PATRIOT, which has 0 to 11", n)
			}
			items = append(items, tracker.Item(n))
		}
		d := tracker.NewPolhemus(items)
		d.Length = length
		return d, nil
	case "fastrak":
		var items []tracker.FastrakItem
		for _, n := range codes {
			if tracker.FastrakItem(n).Bytes() == 0 {
				return nil, fmt.Errorf("--items: %d is no item of FASTRAK that is spoken: 0, 1, 2, 3, 4, 11", n)
			}
			items = append(items, tracker.FastrakItem(n))
		}
		d := tracker.NewFastrak(items)
		d.Length = length
		return d, nil
	}
	return k.NewDecoder(), nil
}

// trackerSource decodes the frames of a tracker.
type trackerSource struct {
	kind *tracker.Kind
	d    tracker.Decoder
}

// ends are what a text ends with: at the end of the input it may be left out.
var ends = map[string]string{"ndi": "\r", "vectornav": "\r\n"}

func (s *trackerSource) decode(b []byte, w *writer) string {
	f := new(tracker.Frame)
	take := func(p []byte) {
		for {
			n, st := s.d.Next(p, f)
			if p = p[n:]; st == wire.More {
				return
			}
			if st != wire.Corrupt {
				s.frame(w, f, int(s.d.Offset())-len(f.Raw), len(b), st)
			}
		}
	}
	if s.kind.Name == "ndi" && b[len(b)-1] == '\n' && !bytes.ContainsAny(b, "\r\xc4") { // an editor's line end in place of CR
		b = append(bytes.Clone(b[:len(b)-1]), '\r')
	}
	take(b)
	extra := 0
	if end := ends[s.kind.Name]; end != "" && b[len(b)-1] >= ' ' && b[len(b)-1] <= '~' {
		before := s.d.Counters().Frames + s.d.Counters().Foreign
		take([]byte(end))
		if c := s.d.Counters(); c.Frames+c.Foreign == before {
			extra = len(end)
		}
	}
	s.d.End()
	take(nil)
	c := s.d.Counters()
	text := fmt.Sprintf("%d bad (checksum), %d missing by their number, %d restarts, %d repeats, %d not understood; %d bytes in %d pieces "+
		"are no frame",
		c.Malformed, c.Gaps, c.Restarts, c.Repeats, c.Foreign, int(c.Resync)-extra, s.d.Resyncs())
	return text
}

func (s *trackerSource) frame(w *writer, f *tracker.Frame, at, all int, st wire.Status) {
	w.begin(at, min(len(f.Raw), all-at), f.Name)
	if f.Role != tracker.Data {
		w.text("role", f.Role.String())
	}
	if f.Code != 0 {
		w.integer("code", f.Code)
	}
	if f.Role == tracker.Refusal && s.kind.Reason != nil {
		w.text("reason", s.kind.Reason(f.Code))
	}
	if st == wire.Repeat {
		w.key("repeat")
		w.line = append(w.line, "true"...)
	}
	if f.N > 0 {
		w.open("samples", '[')
		for i := range f.N {
			s := &f.S[i]
			if i > 0 {
				w.line = append(w.line, ',')
			}
			w.line = append(w.line, '{')
			w.integer("device", s.Device)
			if s.Extra > 0 {
				w.integer("not_decoded", s.Extra)
			}
			w.open("values", '{')
			for q := range tracker.Quantities {
				if s.Present.Contains(q) {
					w.value(q.String(), q.Unit(), s.V[q])
				}
			}
			w.line = append(w.line, '}', '}')
		}
		w.shut(']')
	}
	if f.Role != tracker.Data || f.N == 0 {
		w.raw("raw", f.Raw)
	}
	w.writeLine()
}
