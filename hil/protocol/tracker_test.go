package protocol

import (
	"errors"
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/hil/wire"
	"hilrig/hil/wire/tracker"
)

// The far end of a tracker takes the start, and what it says afterwards arrives. Before the start it says nothing.
func testTracker(t *testing.T, k *Kind, p *Plan) {
	far, f := p.FarEnd(), new(wire.Frame)
	if k.Asks == p.Streams || k.Asks && p.AllOnce() || !k.Asks && !p.AllOnce() {
		t.Errorf("asks %v, streams %v, all turns once %v", k.Asks, p.Streams, p.AllOnce())
	}
	if len(p.Safe.Frames) != 0 || p.Encoder != nil {
		t.Error("a tracker is sent commands")
	}
	say := func() []byte {
		b, ok := far.Encoder.Append(nil, wire.Header{Kind: wire.Measurement, HasTime: true, Time: 5e9, FreshFields: 1}, []float64{0.25})
		if !ok {
			t.Fatal("nothing said")
		}
		return b
	}
	if len(p.Turns) > 0 && p.Streams && len(say()) > 0 {
		t.Error("it speaks before it is started")
	}
	take := func(b []byte) (st wire.Status) {
		for i := range b { // in the worst pieces
			if _, s := p.Decoder.Next(b[i:i+1], f); s != wire.More {
				st = s
			}
		}
		return st
	}
	for i := range p.Turns {
		turn := &p.Turns[i]
		ask := turn.Ask
		if turn.Make != nil {
			if ask = turn.Make(nil); len(ask) == 0 {
				continue
			}
		}
		if len(ask) != turn.AskLen || turn.Name == "" {
			t.Errorf("turn %d: %+v", i, turn)
		}
		var reply []byte
		for j := range ask {
			if _, st := far.Decoder.Next(ask[j:j+1], f); st == wire.Good {
				reply = far.Decoder.(wire.Responder).Answer(nil, []float64{0.25})
			}
		}
		p.Decoder.(wire.TurnDecoder).Expect(i)
		if reply == nil {
			reply = say()
		}
		if st := take(reply); st != wire.Good && !(turn.Name == "TSTOP" && st == wire.Good) {
			t.Errorf("%s: %v to %q", turn.Name, st, reply)
		}
		if !turn.AtStart && len(reply) != turn.Reply {
			t.Errorf("%s: a reply of %d bytes, want %d", turn.Name, len(reply), turn.Reply)
		}
		if p.Streams && !p.Decoder.(wire.StreamDecoder).TurnEnded() {
			t.Errorf("%s: not ended by % x", turn.Name, reply)
		}
	}
	if p.Streams {
		if st := take(say()); st != wire.Good {
			t.Errorf("%v", st)
		}
	}
	if f.FreshFields != 1 || math.Abs(f.V[0]-0.25) > 1e-3 {
		t.Errorf("%v (%b) arrives, want 0.25", f.V[0], f.FreshFields)
	}
	// it begins anew
	if far.Restart == nil {
		return
	}
	if p.Streams {
		if b := far.Restart(); len(b) > 0 && take(b) != wire.Restarted {
			t.Errorf("% x does not tell of a restart", b)
		}
		if len(say()) > 0 {
			t.Error("it speaks after a restart")
		}
		return
	}
	far.Restart()
	last := len(p.Turns) - 1
	far.Decoder.Next(p.Turns[last].Ask, f)
	p.Decoder.(wire.TurnDecoder).Expect(last)
	if st := take(far.Decoder.(wire.Responder).Answer(nil, []float64{0})); st != wire.Restarted {
		t.Errorf("%v to a question that the system does not understand any more", st)
	}
}

// A tool that is not seen says so in all its fields; the other does not.
func TestMissingTool(t *testing.T) {
	n := NDI{Tools: []Tool{{Name: "B", Number: 10}, {Name: "C", Number: 11}}, Timeout: 1}
	fields := []wire.Field{{Name: "B.x", Unit: "m", Scale: 1}, {Name: "B.missing", Scale: 1}, {Name: "C.x", Unit: "m", Scale: 1},
		{Name: "C.missing", Scale: 1}}
	p, err := n.Plan(&Table{Measure: fields, Rate: 60, Loop: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var src tracker.Frame
	b := src.Add(10)
	b.SetValue(tracker.Missing, 1)
	c := src.Add(11)
	c.SetVector(tracker.X, 0.5, 0, 0)
	for count := range 3 {
		c.SetValue(tracker.Count, float64(count/2)) // the second is asked for again
		b.SetValue(tracker.Count, float64(count/2))
		d, f := p.Decoder.(wire.TurnDecoder), new(wire.Frame)
		d.Expect(len(p.Turns) - 1)
		if _, st := d.Next(tracker.AppendBX(nil, &src), f); st != wire.Good {
			t.Fatal(st)
		}
		if count == 1 {
			if f.FreshFields != 0 {
				t.Errorf("a sample that came before is fresh: %b", f.FreshFields)
			}
			continue
		}
		if f.FreshFields != 15 || !math.IsNaN(f.V[0]) || f.V[1] != 1 || math.Abs(f.V[2]-0.5) > 1e-9 || f.V[3] != 0 {
			t.Errorf("%v (%b)", f.V[:4], f.FreshFields)
		}
	}
	if p.Decoder.Counters().NonFinite != 2 {
		t.Errorf("%+v", *p.Decoder.Counters())
	}
	// a reply that nobody asked for is nobody's: the question before it was answered
	d, f := p.Decoder.(wire.TurnDecoder), new(wire.Frame)
	if _, st := d.Next(tracker.AppendBX(nil, &src), f); st != wire.More || d.Counters().Foreign != 1 {
		t.Errorf("%v %+v", st, *d.Counters())
	}
}

// The line of a Polaris with two tools, added up by hand: TX has 2 + 2·70 + 4 + 5 characters, BX 6 + 1 + 2·42 + 2 + 2 bytes, both after
// 12 of the question; 10 bits each at 115200 baud, 2 ms until the system answers.
func TestNDITimes(t *testing.T) {
	for reply, bytes := range map[NDIReply]int{ReplyTX: 151, ReplyBX: 95} {
		n := NDI{Tools: []Tool{{Name: "B", Number: 1}, {Name: "C", Number: 2}}, Reply: reply, Delay: 2e-3, Timeout: 0.2}
		p, err := n.Plan(&Table{Measure: []wire.Field{{Name: "C.x", Unit: "m", Scale: 1}, {Name: "B.x", Unit: "m", Scale: 1}}, Baud: 115200,
			Rate: 50, Loop: 1000})
		if err != nil {
			t.Fatal(err)
		}
		turn := &p.Turns[len(p.Turns)-1]
		char := 10 / 115200.0
		for what, v := range map[string][2]float64{
			"load":   {p.Load(), 50 * (float64(12+bytes)*char + 2e-3)},
			"within": {turn.ReplyTimeout.Seconds(), 0.2 + float64(bytes)*char},
			"bytes":  {float64(turn.Reply), float64(bytes)},
			"groups": {float64(len(p.Groups)), 2}, // a tool may be away
		} {
			if math.Abs(v[0]-v[1]) > 1e-6 {
				t.Errorf("%v: %s is %v, want %v", reply, what, v[0], v[1])
			}
		}
	}
}

// Decoding runs in the receiving thread of the core, where nothing is ever collected.
func TestTrackersAllocateNothing(t *testing.T) {
	for i := range Kinds {
		k := &Kinds[i]
		if !k.Tracker {
			continue
		}
		list := &Sections{}
		s := k.Section(list)
		if k.Name == "ndi" {
			list.NDI.Tools = []Tool{{Name: "B", Number: 10}}
		}
		p, err := s.Plan(table(k))
		if err != nil {
			t.Fatal(err)
		}
		last := len(p.Turns) - 1
		var src tracker.Frame
		tool := src.Add(10)
		tool.SetVector(tracker.X, 1, 2, 3)
		b := tracker.AppendBX(nil, &src)
		if p.Streams {
			far := p.FarEnd()
			if last >= 0 {
				for _, turn := range p.Turns {
					far.Decoder.Next(turn.Ask, new(wire.Frame))
				}
			}
			b, _ = far.Encoder.Append(nil, wire.Header{FreshFields: 1}, []float64{0.25})
		}
		f, frames := new(wire.Frame), 0
		if n := testing.AllocsPerRun(100, func() {
			if d, ok := p.Decoder.(wire.TurnDecoder); ok {
				d.Expect(last)
			}
			for rest := b; ; {
				n, st := p.Decoder.Next(rest, f)
				if rest = rest[n:]; st == wire.More {
					break
				}
				frames++
			}
		}); n != 0 || frames < 100 {
			t.Errorf("%s: %v allocations, %d frames", k.Name, n, frames)
		}
	}
}

// What a file asks for is told with its place.
func TestTrackerSlips(t *testing.T) {
	part := []Tool{{Name: "B", Number: 10}}
	for _, c := range []struct {
		section Section
		measure wire.Field
		command []wire.Field
		path    string
		says    string
	}{
		{&NDI{Tools: part}, wire.Field{Name: "B.X", Unit: "m", Scale: 1}, nil, "measure[0].name", "no quantity of a tracker"},
		{&NDI{Tools: part}, wire.Field{Name: "D.x", Unit: "m", Scale: 1}, nil, "measure[0].name", `"D" is no part of the tracker`},
		{&NDI{Tools: part}, wire.Field{Name: "B.x", Unit: "rad", Scale: 1}, nil, "measure[0].unit", "is a quantity in m"},
		{&NDI{}, wire.Field{Name: "x", Unit: "m", Scale: 1}, nil, "ndi.tools", "missing"},
		{&NDI{Tools: []Tool{{Name: "B", ROM: "b.rom", Definition: make([]byte, 1025)}}}, wire.Field{Name: "B.x", Unit: "m", Scale: 1}, nil,
			"ndi.tools[0].rom", "1025 bytes"},
		{&NDI{Tools: []Tool{{Name: "B", ROM: "b.rom", Definition: []byte("one")}, {Name: "C", ROM: "c.rom", Definition: []byte("one")}}},
			wire.Field{Name: "B.x", Unit: "m", Scale: 1}, nil, "ndi.tools[1].rom", "the same definition as that of B"},
		{&NDI{Tools: part, Reset: true}, wire.Field{Name: "B.x", Unit: "m", Scale: 1}, nil, "ndi.reset", "9600 baud"},
		{&Xsens{}, wire.Field{Name: "w.x", Unit: "rad/s", Scale: 1}, []wire.Field{{Name: "u"}}, "command[0]", "takes no commands"},
	} {
		_, err := c.section.Plan(&Table{Measure: []wire.Field{c.measure}, Command: c.command, Baud: 115200, Rate: 60, Loop: 1000})
		var p *engine.Problem
		if !errors.As(err, &p) || p.Path != c.path || !strings.Contains(p.Text, c.says) {
			t.Errorf("%v, want %s: %s", err, c.path, c.says)
		}
	}
	for _, c := range []struct {
		s    Section
		path string
	}{
		{&NDI{Tools: []Tool{{Name: "B", Number: 1}, {Name: "B", Number: 2}}}, "tools[1].name"},
		{&NDI{Tools: []Tool{{Name: "B", Number: 1}, {Name: "C", Number: 1}}}, "tools[1].number"},
		{&NDI{Tools: []Tool{{Name: "B.C", Number: 1}}}, "tools[0].name"},
		{&NDI{Tools: []Tool{{Name: "B"}}}, "tools[0].number"}, {&NDI{Tools: []Tool{{Name: "B", Number: 1, ROM: "b.rom"}}}, "tools[0].number"},
		{&NDI{Tools: []Tool{{Name: "B", Number: 1, Serial: "12"}}}, "tools[0].serial"},
		{&Liberty{Items: []int{2, 12}}, "items[1]"}, {&Fastrak{Items: []int{18}}, "items[0]"}, {&Liberty{}, "items"},
	} {
		if bad := c.s.Check(); len(bad) != 1 || bad[0].Path != c.path {
			t.Errorf("%v, want %s", bad, c.path)
		}
	}
}
