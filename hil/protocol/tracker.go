package protocol

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/engine/spelling"
	"hilrig/hil/wire"
	"hilrig/hil/wire/tracker"
)

// A tracker brings its quantities, and a file chooses among them: the name of a measurement is that of a quantity, such as q.w, or of a
// part of the tracker and a quantity, such as B.x. It takes no commands.

// Part is a tool of an optical tracker or a station of a magnetic one.
type Part struct {
	Name   string `yaml:"name" doc:"the beginning of the names of its measurements: B of B.x; letters, digits, - and _"`
	Number int    `yaml:"number" want:">=1 <=255" doc:"its port handle (0x0A is 10), or its station"`
}

// slot is where a measurement comes from.
type slot struct {
	device        int
	q             tracker.Quantity
	scale, offset float64
}

// slots finds the quantities of a table. Without parts the names are those of quantities of the device with the given number.
func slots(t *Table, kind string, parts []Part, number int) (list []slot, bad []error) {
	for i := range t.Command {
		bad = append(bad, engine.Problemf(fmt.Sprintf("command[%d]", i), "%s: a tracker (protocol %s) takes no commands", t.Command[i].Name,
			kind))
	}
	for i := range t.Measure {
		f, path := &t.Measure[i], fmt.Sprintf("measure[%d]", i)
		s := slot{device: number, scale: f.Scale, offset: f.Offset}
		name := f.Name
		if len(parts) > 0 {
			part, rest, _ := strings.Cut(name, ".")
			k, names := -1, []string{}
			for j := range parts {
				if names = append(names, parts[j].Name); parts[j].Name == part {
					k = j
				}
			}
			if k < 0 {
				bad = append(bad, engine.Problemf(path+".name", "%s: %q is no part of the tracker; %s", f.Name, part,
					spelling.Hint(part, names, "there are "+strings.Join(names, ", "))))
				continue
			}
			s.device, name = parts[k].Number, rest
		}
		q, ok := tracker.QuantityOf(name)
		if !ok {
			all := make([]string, tracker.Quantities)
			for q := range tracker.Quantities {
				all[q] = q.String()
			}
			bad = append(bad, engine.Problemf(path+".name", "%s: %q is no quantity of a tracker; %s", f.Name, name,
				spelling.Hint(name, all, "there are "+strings.Join(all, " "))))
			continue
		}
		if f.Unit != q.Unit() && f.Unit != "1" {
			want := q.Unit()
			if want == "" {
				want = "none"
			}
			bad = append(bad, engine.Problemf(path+".unit", "%s is a quantity in %s, not in %q", f.Name, want, f.Unit))
		}
		s.q = q
		list = append(list, s)
	}
	return list, bad
}

// checkParts finds what is wrong with a list of parts.
func checkParts(key string, parts []Part) (bad []engine.Problem) {
	names, numbers := map[string]bool{}, map[int]bool{}
	for i, p := range parts {
		switch at := fmt.Sprintf("%s[%d]", key, i); {
		case p.Name == "" || strings.Contains(p.Name, "."):
			bad = append(bad, *engine.Problemf(at+".name", "%q, want letters, digits, - and _", p.Name))
		case names[p.Name]:
			bad = append(bad, *engine.Problemf(at+".name", "%s is there twice", p.Name))
		case numbers[p.Number]:
			bad = append(bad, *engine.Problemf(at+".number", "%d is there twice", p.Number))
		}
		names[p.Name], numbers[p.Number] = true, true
	}
	if len(parts) > tracker.MaxDevices {
		bad = append(bad, *engine.Problemf(key, "%d, at most %d", len(parts), tracker.MaxDevices))
	}
	return bad
}

// samples turns the samples of trackers into frames of a table.
type samples struct {
	tracker.Decoder
	frame      tracker.Frame
	slots      []slot
	quantities tracker.Set
	misfit     wire.Misfit
	turn       int                                  // that is open; −1: none
	ends       func(turn int, f *tracker.Frame) end // what a frame means for the open turn; nil: there are no turns
	turnEnded  bool                                 // the frame that Next found last did
	// of a polled tracker: the number of the newest sample of a device; nil: the tracker sends by itself
	newestNumber map[int]float64
	part         func(device int) int // the number of the part that is a device; nil: they are the same
}

func newSamples(d tracker.Decoder, list []slot) *samples {
	s := &samples{Decoder: d, slots: list, turn: -1}
	for _, o := range list {
		s.quantities |= tracker.Of(o.q)
	}
	return s
}

// end is what a frame means for the question that is open.
type end uint8

const (
	notYet   end = iota
	answered     // it is the answer
	denied       // it says no; Code is the reason
	anew         // the device has forgotten what it was told
)

// Misfit stays as the decoder has it.
func (d *samples) Misfit() *wire.Misfit {
	if m, ok := d.Decoder.(interface{ Misfit() *wire.Misfit }); ok {
		return m.Misfit()
	}
	return &d.misfit
}

// Wrap is that of the clock in ns.
func (d *samples) Wrap() int64 { return int64(math.Round(d.Decoder.Wrap() * 1e9)) }

// Expect opens a question; see wire.TurnDecoder. A tracker that sends by itself is not interrupted by it. Of one that is asked, what is
// damaged from here on is another reply than the one that was damaged before.
func (d *samples) Expect(turn int) {
	d.turn = turn
	if d.newestNumber != nil && turn >= 0 {
		d.Decoder.NewRun()
	}
}

// Reset closes the question.
func (d *samples) Reset() {
	d.Decoder.Reset()
	d.turn = -1
	clear(d.newestNumber)
}

// TurnEnded tells whether the frame that Next found last ends the open question; see wire.StreamDecoder.
func (d *samples) TurnEnded() bool { return d.turnEnded }

// Next reads one frame; see wire.Decoder. A frame without any of the fields has FreshFields 0.
func (d *samples) Next(buf []byte, f *wire.Frame) (n int, st wire.Status) {
	for {
		k, st := d.Decoder.Next(buf[n:], &d.frame)
		n += k
		if d.turnEnded = false; st == wire.More {
			return n, st
		}
		if st == wire.Corrupt {
			if d.turnEnded = d.newestNumber != nil && d.turn >= 0; d.turnEnded { // the question was answered, whatever it said
				d.turn = -1
			}
			return n, st
		}
		f.Header = wire.Header{Kind: wire.Measurement}
		e := notYet
		if d.ends != nil {
			e = d.ends(d.turn, &d.frame)
		}
		if d.turnEnded = e != notYet; d.turnEnded {
			d.turn = -1 // what follows answers nothing
		}
		switch e {
		case anew:
			clear(d.newestNumber)
			return n, wire.Restarted
		case denied:
			f.Seq = uint8(d.frame.Code)
			return n, wire.Refused
		}
		if e == notYet && (d.frame.Role != tracker.Data || d.newestNumber != nil) {
			d.Counters().Foreign++ // an answer to nobody
			continue
		}
		if d.frame.Role == tracker.Data {
			d.fill(f)
		}
		return n, st
	}
}

// fill takes the values of the fields. Of a device without a pose they are no numbers: what a tracker does not see must show.
func (d *samples) fill(f *wire.Frame) {
	for i := range d.frame.N {
		s := &d.frame.S[i]
		if d.part != nil {
			s.Device = d.part(s.Device)
		}
		if d.newestNumber != nil && s.Present.Contains(tracker.Count) {
			if last, seen := d.newestNumber[s.Device]; seen && last == s.V[tracker.Count] {
				s.Present = 0 // asked again before the device had another
				continue
			}
			d.newestNumber[s.Device] = s.V[tracker.Count]
		}
		if s.Present.Contains(tracker.Time) {
			f.HasTime, f.Time = true, int64(math.Round(s.V[tracker.Time]*1e9))
		}
		lost := s.Present.Contains(tracker.Missing) && s.V[tracker.Missing] != 0
		s.Convert(d.quantities)
		for k := range d.slots {
			o := &d.slots[k]
			if o.device != s.Device {
				continue
			}
			v := math.NaN()
			switch {
			case s.Present.Contains(o.q):
				v = float64(s.V[o.q]*o.scale) + o.offset
			case !lost || o.q > tracker.Error:
				continue
			}
			f.V[k] = v
			f.FreshFields |= 1 << k
			if !numeric.IsFinite(v) {
				d.Counters().NonFinite++
			}
		}
	}
}

// poses writes the frames of a tracker from the values of a table: the far end.
type poses struct {
	slots   []slot
	write   func(dst []byte, f *tracker.Frame) []byte
	max     int
	running *atomic.Bool // the tracker has been started; nil: it always is
	parts   []int        // numbers of the devices
	count   float64
	frame   tracker.Frame
}

// Append writes the frames of one moment; see wire.Encoder. A tracker that was not started is silent.
func (e *poses) Append(dst []byte, h wire.Header, v []float64) ([]byte, bool) {
	if e.running != nil && !e.running.Load() {
		return dst, true
	}
	e.fill(h, v)
	return e.write(dst, &e.frame), true
}

// fill makes the samples of all devices.
func (e *poses) fill(h wire.Header, v []float64) {
	e.frame.N = 0
	for _, number := range e.parts {
		s, gone := e.frame.Add(number), tracker.Set(0)
		if h.HasTime {
			s.SetValue(tracker.Time, float64(h.Time)*1e-9)
		}
		s.SetValue(tracker.Count, e.count)
		for k := range e.slots {
			switch o := &e.slots[k]; {
			case o.device != number:
			case h.FreshFields>>k&1 != 0:
				s.SetValue(o.q, (v[k]-o.offset)/o.scale)
			default:
				gone |= tracker.VectorOf(o.q)
			}
		}
		s.Present &^= gone // what goes in one message with a reading that is not there
		s.CompleteVectors()
	}
	e.count++
}

// Resync appends nothing: a torn frame is one that is damaged.
func (e *poses) Resync(dst []byte) []byte { return dst }

// MaxLen bounds the frames of one moment, in bytes.
func (e *poses) MaxLen() int { return e.max }

// deaf is the decoder of a far end that is told nothing, or understands single characters.
type deaf struct {
	c      wire.Counters
	misfit wire.Misfit
	hear   func(b byte) // nil: nothing
}

func (d *deaf) Next(buf []byte, _ *wire.Frame) (int, wire.Status) {
	d.c.Bytes += uint64(len(buf))
	for _, b := range buf {
		if d.hear != nil {
			d.hear(b)
		}
	}
	return len(buf), wire.More
}
func (d *deaf) Reset()                   {}
func (d *deaf) Counters() *wire.Counters { return &d.c }
func (d *deaf) Misfit() *wire.Misfit     { return &d.misfit }
func (d *deaf) Wrap() int64              { return 0 }

// streaming is the plan of a tracker that sends by itself.
func streaming(t *Table, d tracker.Decoder, list []slot, parts []Part, bytes int) *Plan {
	p := &Plan{Meas: t.Measure, Cmd: t.Command, Port: PortSpec{Baud: t.Baud}, Streams: true}
	p.Decoder = newSamples(d, list)
	p.Clocked = d.Wrap() > 0
	p.Groups = partGroups(list, parts, Flow{Data: 4 * len(t.Measure) / max(1, len(parts)), Bytes: bytes, Rate: t.Rate})
	return p
}

// partGroups are the fields of each part: one may be away while the others go on. each is what a part takes of the line.
func partGroups(list []slot, parts []Part, each Flow) (groups []Group) {
	for _, part := range parts {
		g := Group{Name: part.Name, Flow: each}
		for k := range list {
			if list[k].device == part.Number {
				g.Fields |= 1 << k
			}
		}
		if g.Fields != 0 {
			groups = append(groups, g)
		}
	}
	if len(groups) <= 1 {
		groups = []Group{{Fields: Fields(wire.AllFields(len(list))), Flow: each}}
	}
	return groups
}

// numbers are those of the parts, or of the one device.
func numbers(parts []Part, number int) (out []int) {
	for _, p := range parts {
		out = append(out, p.Number)
	}
	if out == nil {
		out = []int{number}
	}
	return out
}

// startTurn is a turn of the start of a tracker.
func startTurn(p *Plan, name string, ask []byte, reply int, within float64) Turn {
	return Turn{Name: name, Group: -1, Ask: ask, AskLen: len(ask), Reply: reply, ReplyTimeout: seconds(within) + p.Port.Wire(reply),
		Period: seconds(1), AtStart: true}
}
