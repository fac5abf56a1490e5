package device

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"hilrig/hil/protocol"
	"hilrig/hil/wire"
)

// ears is a rig that is given its bytes by hand, with a clock of the test.
type ears struct {
	*Rig
	t     *testing.T
	now   int64 // ns
	y     []float64
	fresh uint64
	at    map[string]int
}

func newEars(t *testing.T, o Options) *ears {
	t.Helper()
	e := &ears{t: t, now: 1e15, at: map[string]int{}}
	o.Name, o.HostTime, o.Rate, o.Loop = "x", func() int64 { return e.now }, 1000, 1000
	if o.Command == nil {
		o.Command, o.Safe = []wire.Field{}, []float64{}
	}
	var err error
	if e.Rig, err = NewRig(o); err != nil {
		t.Fatal(err)
	}
	meas, _ := e.Signals()
	for i, s := range meas {
		e.at[s.Name] = i
	}
	e.y = make([]float64, len(meas))
	return e
}

// hear takes bytes, for a turn if there are any, and the tick looks after that.
func (e *ears) hear(b []byte) {
	if e.turns != nil && !e.plan.Streams {
		e.turn.Store(e.turn.Load() + turnOne | uint64(len(e.turns)))
	}
	e.decodeChunk(b, e.now)
	e.fresh = e.Poll(e.now, e.y)
}

func (e *ears) pass(s float64) { e.now += int64(s * 1e9); e.fresh = e.Poll(e.now, e.y) }

// want compares what the row holds: NaN is nothing there.
func (e *ears) want(what, name string, v float64, fresh bool) {
	e.t.Helper()
	i, ok := e.at[name]
	if !ok {
		e.t.Fatalf("%s: no signal %s among %v", what, name, e.at)
	}
	if got := e.y[i]; !(math.Abs(got-v) < 1e-6) && !(got != got && v != v) || e.fresh>>i&1 != 0 != fresh {
		e.t.Errorf("%s: %s is %v, fresh %v; want %v, %v", what, name, got, e.fresh>>i&1 != 0, v, fresh)
	}
}

var none = math.NaN()

// crcFalse is CRC-16/CCITT-FALSE, bit by bit, from docs/reference/link.md alone.
func crcFalse(p []byte) uint16 {
	r := uint16(0xFFFF)
	for _, b := range p {
		r ^= uint16(b) << 8
		for range 8 {
			if r&0x8000 != 0 {
				r = r<<1 ^ 0x1021
			} else {
				r <<= 1
			}
		}
	}
	return r
}

// linkFrame is a measurement of an i32, an i16 and a u8; nil is left out.
func linkFrame(seq int, us int64, v [3]*int) []byte {
	p := []byte{1, byte(seq)}
	p = binary.LittleEndian.AppendUint32(p, uint32(us))
	bits := byte(0)
	for i := range v {
		if v[i] != nil {
			bits |= 1 << i
		}
	}
	if bits != 7 {
		p[0] |= 128
		p = append(p, bits)
	}
	if v[0] != nil {
		p = binary.LittleEndian.AppendUint32(p, uint32(int32(*v[0])))
	}
	if v[1] != nil {
		p = binary.LittleEndian.AppendUint16(p, uint16(int16(*v[1])))
	}
	if v[2] != nil {
		p = append(p, byte(*v[2]))
	}
	p = binary.LittleEndian.AppendUint16(p, crcFalse(p))
	out, at := []byte{0}, 0 // stuffed: each piece behind its length plus one
	for i := 0; i <= len(p); i++ {
		if i == len(p) || p[i] == 0 {
			out = append(append(out, byte(i-at+1)), p[at:i]...)
			at = i + 1
		}
	}
	return append(out, 0)
}

// A status that is never sent is not there, though the frames come; one that is sent no more stands up to its limit, and not beyond; both
// over a binary link and in text, where its column is empty.
func TestFieldsThatAreLeftOut(t *testing.T) {
	binaryTable := []wire.Field{{Name: "angle", Unit: "rad", Type: wire.I32, Scale: 1},
		{Name: "current", Unit: "A", Type: wire.I16, Scale: 1}, {Name: "status", Type: wire.U8, Scale: 1}}
	textTable := []wire.Field{{Name: "angle", Unit: "rad", Type: wire.Text, Scale: 1},
		{Name: "current", Unit: "A", Type: wire.Text, Scale: 1}, {Name: "status", Type: wire.Text, Scale: 1}}
	for name, c := range map[string]struct {
		table []wire.Field
		proto protocol.Section
		frame func(k int, us int64, v [3]*int) []byte
	}{
		"link": {binaryTable, nil, linkFrame},
		"line": {textTable, &protocol.Line{}, func(_ int, _ int64, v [3]*int) []byte {
			col := func(p *int) string {
				if p == nil {
					return ""
				}
				return fmt.Sprint(*p)
			}
			return fmt.Appendf(nil, "%s,%s,%s\n", col(v[0]), col(v[1]), col(v[2]))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []float64{0.1, 0} {
				e := newEars(t, Options{Measure: c.table, Protocol: c.proto, MaxAges: []float64{0.02, 0.02, limit}})
				k, us := 0, int64(5e6)
				e.decodeChunk([]byte{'\n'}, e.now) // the first piece is nobody's
				send := func(n int, v func(k int) [3]*int) {
					for range n {
						k++
						e.now += 1e6
						us += 1000
						e.hear(c.frame(k, us, v(k)))
					}
				}
				value := func(x int) *int { return &x }
				without := func(k int) [3]*int { return [3]*int{value(k), value(-3), nil} }
				e.pass(0)
				for _, s := range []string{"angle", "current", "status", "age"} {
					e.want("before the first frame", s, none, false)
				}
				send(300, without)
				e.want("never sent", "status", none, false)
				e.want("never sent", "angle", float64(k), true)
				e.want("never sent", "age", 0, true)
				send(1, func(k int) [3]*int { return [3]*int{value(k), nil, value(4)} })
				e.want("a fault", "status", 4, true)
				e.want("a fault", "current", -3, false)
				limitTicks := 100 // of 1 ms
				if limit == 0 {
					limitTicks = 5000 // one sample says nothing of its interval
				}
				send(limitTicks, without)
				e.want("at its limit", "status", 4, false)
				send(1, without)
				e.want("beyond its limit", "status", none, false)
				e.want("beyond its limit", "current", -3, true)
				// it comes again
				send(1, func(k int) [3]*int { return [3]*int{value(k), value(0), value(0)} })
				e.want("back again", "status", 0, true)
				// only the status comes: the others are gone, and the group lives
				for range 21 {
					send(1, func(k int) [3]*int { return [3]*int{nil, nil, value(k % 2)} })
				}
				e.want("only status", "angle", none, false)
				e.want("only status", "current", none, false)
				e.want("only status", "age", 0, true)
				// nothing comes at all
				for range 70 {
					e.pass(1)
				}
				for _, s := range []string{"angle", "current", "status"} {
					e.want("silence", s, none, false)
				}
				e.want("silence", "age", 70, false)
			}
		})
	}
}

// A field that a board sends now and then by its own habit is there in between: ten of its intervals, from 1 s to a minute.
func TestFieldSentRarely(t *testing.T) {
	table := []wire.Field{{Name: "angle", Type: wire.I32, Scale: 1}, {Name: "current", Type: wire.I16, Scale: 1},
		{Name: "status", Type: wire.U8, Scale: 1}}
	for _, c := range []struct{ every, stands float64 }{{0.02, 1}, {0.2, 2}, {2, 20}, {30, 60}} {
		e := newEars(t, Options{Measure: table})
		one, k := 1, 0
		for range 5 {
			k++
			e.pass(c.every)
			e.hear(linkFrame(k, e.now/1000, [3]*int{nil, nil, &one}))
		}
		e.pass(c.stands - 1e-3)
		e.want(fmt.Sprintf("every %g s, just before", c.every), "status", 1, false)
		e.pass(2e-3)
		e.want(fmt.Sprintf("every %g s, just after", c.every), "status", none, false)
	}
}

// ndiReply closes a text reply of an NDI system: CRC-16 with 0xA001 from 0, and CR.
func ndiReply(text string) []byte { return fmt.Appendf(nil, "%s%04X\r", text, ndiCRC([]byte(text))) }

func ndiCRC(b []byte) (r uint16) {
	for _, c := range b {
		r ^= uint16(c)
		for range 8 {
			if r&1 != 0 {
				r = r>>1 ^ 0xA001
			} else {
				r >>= 1
			}
		}
	}
	return r
}

// A tool that was refused at the start is in no reply, and one that vanishes is in no later one: neither is 0, nor does the other tool
// keep it young. A tool that is disabled, or out of sight, is told of: it is no number.
func TestToolsThatAreAway(t *testing.T) {
	n := &protocol.NDI{Tools: []protocol.Tool{{Name: "B", Number: 10}, {Name: "C", Number: 11}}, Reply: protocol.ReplyTX, Timeout: 1}
	e := newEars(t, Options{Protocol: n, Measure: []wire.Field{{Name: "B.x", Unit: "m", Scale: 1}, {Name: "C.x", Unit: "m", Scale: 1},
		{Name: "C.missing", Scale: 1}}})
	frame := 0
	tool := func(handle, x string) string {
		return fmt.Sprintf("%s+10000+00000+00000+00000%s+000000+000000+0000000000031%08X\n", handle, x, frame)
	}
	see := func(tools ...func() string) {
		for range 20 {
			list := []string{}
			for _, f := range tools {
				list = append(list, f())
			}
			text := fmt.Sprintf("%02X", len(list))
			for _, s := range list {
				text += s
			}
			e.now += 16e6
			e.hear(ndiReply(text + "0000"))
			frame++
		}
	}
	b := func() string { return tool("0A", "+050000") } // 0.5 m
	c := func() string { return tool("0B", "-025000") }
	see(b)
	e.want("C was refused", "B.x", 0.5, true)
	for _, s := range []string{"C.x", "C.missing", "C.age"} {
		e.want("C was refused", s, none, false)
	}
	e.want("C was refused", "B.age", 0, true)
	see(b, c)
	e.want("both", "C.x", -0.25, true)
	e.want("both", "C.missing", 0, true)
	for range 4 { // 1.28 s
		see(b)
	}
	e.want("C vanished", "C.x", none, false)
	e.want("C vanished", "C.missing", none, false)
	e.want("C vanished", "C.age", 1.28, false)
	e.want("C vanished", "B.x", 0.5, true)
	see(b, func() string { return fmt.Sprintf("0BMISSING00000031%08X\n", frame) })
	e.want("C out of sight", "C.x", none, true)
	e.want("C out of sight", "C.missing", 1, true)
	see(b, func() string { return "0BDISABLED\n" })
	e.want("C disabled", "C.x", none, true)
	e.want("C disabled", "C.missing", 1, true)
}

// An Xsens that was set up without rates sends none: they are not 0.
func TestSensorWithoutRates(t *testing.T) {
	e := newEars(t, Options{Protocol: &protocol.Xsens{}, Measure: []wire.Field{{Name: "q.w", Scale: 1}, {Name: "q.z", Scale: 1},
		{Name: "w.z", Unit: "rad/s", Scale: 1}}})
	for k := range 50 {
		data := []byte{0x10, 0x20, 2, byte(k >> 8), byte(k), 0x10, 0x60, 4} // packet counter, fine time
		data = binary.BigEndian.AppendUint32(data, uint32(100*k))
		data = append(data, 0x20, 0x10, 16) // quaternion
		for _, q := range []float32{0.6, 0, 0, 0.8} {
			data = binary.BigEndian.AppendUint32(data, math.Float32bits(q))
		}
		p := append([]byte{0xFF, 0x36, byte(len(data))}, data...)
		sum := byte(0)
		for _, b := range p {
			sum += b
		}
		e.now += 10e6
		e.hear(append(append([]byte{0xFA}, p...), -sum))
	}
	e.want("without rates", "q.w", float64(float32(0.6)), true)
	e.want("without rates", "w.z", none, false)
	e.want("without rates", "age", 0, true)
}

// A slave that refuses a register has never said it, and one that stops answering says it no more; the other slave goes on.
func TestRegistersThatAreRefused(t *testing.T) {
	e := newEars(t, Options{Protocol: quick(), Baud: 115200,
		Measure: []wire.Field{at("speed", wire.U16, 1, wire.Input, 4), at("torque", wire.U16, 2, wire.Input, 4)}, MaxAges: []float64{0.1, 0.1}})
	say := func(turn int, b []byte) {
		e.turn.Store(e.turn.Load()&^(turnOne-1) + turnOne | uint64(turn+1))
		e.decodeChunk(b, e.now)
		e.fresh = e.Poll(e.now, e.y)
	}
	say(0, crc(1, 4, 2, 0, 7))
	e.want("read", "speed", 7, true)
	say(1, crc(2, 0x84, 2))
	e.want("refused", "torque", none, false)
	e.want("refused", "slave2.input4.age", none, false)
	e.want("refused", "speed", 7, false)
	say(1, crc(2, 4, 2, 0, 9))
	e.want("read at last", "torque", 9, true)
	for range 11 {
		e.now += 10e6
		say(0, crc(1, 4, 2, 0, 7))
		say(1, crc(2, 0x84, 2))
	}
	e.want("refused again", "torque", none, false)
	e.want("refused again", "speed", 7, false)
	e.want("refused again", "slave2.input4.age", 0.11, false)
	if s := stats(e.Rig); s.Refusals != 12 || s.CommandsRefused != 0 {
		t.Errorf("%+v", s)
	}
}

// The bytes of a board at 200 Hz: a way that takes 40 ms longer makes samples 40 ms older, on and off again, and no clock jumps; a clock
// that is set makes them no older. A board 2 % fast for 5 s and then right is as old as before within 1.5 s.
func TestAgesOfBytes(t *testing.T) {
	table := []wire.Field{{Name: "angle", Type: wire.I32, Scale: 1}, {Name: "current", Type: wire.I16, Scale: 1},
		{Name: "status", Type: wire.U8, Scale: 1}}
	for name, c := range map[string]struct {
		fast, late, set func(t float64) float64
		age             func(t float64) float64 // ns; NaN: whatever
		jumps, rates    uint64
	}{
		"delay": {late: func(at float64) float64 {
			if at > 8 && at < 12 {
				return 40e6
			}
			return 0
		}, age: func(at float64) float64 {
			switch {
			case at > 8.1 && at < 12:
				return 40e6
			case at < 8 || at > 12.1:
				return 0
			}
			return none
		}},
		"set ahead": {set: func(at float64) float64 {
			if at > 8 {
				return 40.3e6
			}
			return 0
		}, age: func(at float64) float64 {
			if at > 8 && at < 8.1 {
				return none
			}
			return 0
		}, jumps: 1},
		"fast, then right": {fast: func(at float64) float64 { return 0.02 * min(at, 5) * 1e9 }, age: func(at float64) float64 {
			if at < 1.5 || at > 5 && at < 6.5 {
				return none
			}
			return 0
		}, rates: 2},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEars(t, Options{Measure: table})
			add := func(f func(float64) float64, at float64) float64 {
				if f == nil {
					return 0
				}
				return f(at)
			}
			start := e.now
			one := 1
			for k := 1; k < 4000; k++ {
				at := float64(k) * 5e-3
				clock := 3e9 + at*1e9 + add(c.fast, at) + add(c.set, at)
				e.now = max(e.now+1000, start+int64(at*1e9+add(c.late, at)))
				angle := k
				e.hear(linkFrame(k, int64(clock/1e3), [3]*int{&angle, &one, &one}))
				if want := c.age(at); want == want && math.Abs(e.y[e.at["age"]]*1e9-want) > 0.5e6 {
					t.Fatalf("at %g s a sample is %.2f ms old, want %.0f", at, e.y[e.at["age"]]*1e3, want/1e6)
				}
			}
			if s := stats(e.Rig); s.ClockJumps != c.jumps || s.ClockRates != c.rates || s.Arrived != 3999 {
				t.Errorf("%d jumps, %d rates, %d arrived", s.ClockJumps, s.ClockRates, s.Arrived)
			}
		})
	}
}

// f32s are numbers of four bytes, low byte first.
func f32s(dst []byte, v ...float32) []byte {
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// sum8 is the sum of bytes.
func sum8(p []byte) (s byte) {
	for _, b := range p {
		s += b
	}
	return s
}

// vectorNavAngles is a binary message of group 1 with yaw, pitch and roll, or with the rates too.
func vectorNavAngles(yaw float32, rates bool) []byte {
	p := []byte{1, 1 << 3, 0}
	if rates {
		p[1] |= 1 << 5
	}
	if p = f32s(p, yaw, 0, 0); rates {
		p = f32s(p, 0, 0, 0.5)
	}
	r := uint16(0) // CRC-16 XMODEM
	for _, b := range p {
		r ^= uint16(b) << 8
		for range 8 {
			if r&0x8000 != 0 {
				r = r<<1 ^ 0x1021
			} else {
				r <<= 1
			}
		}
	}
	return append(append([]byte{0xFA}, p...), byte(r>>8), byte(r))
}

// witPacket is a packet of WitMotion.
func witPacket(kind byte, v ...int16) []byte {
	p := []byte{0x55, kind}
	for _, x := range v {
		p = binary.LittleEndian.AppendUint16(p, uint16(x))
	}
	return append(p, sum8(p))
}

// bnoReport is a report of a BNO08x with a yaw of 45°.
func bnoReport(k int) []byte {
	p := []byte{byte(k)}
	for _, x := range []int16{4500, 0, 0, 0, 0, 1000} {
		p = binary.LittleEndian.AppendUint16(p, uint16(x))
	}
	p = append(p, 0, 0, 0)
	return append(append([]byte{0xAA, 0xAA}, p...), sum8(p))
}

// libertyRecord is a record of a station with its position x (cm).
func libertyRecord(station byte, x float32) []byte {
	return f32s([]byte{'L', 'Y', station, 'C', ' ', 0, 12, 0}, x, 0, 0)
}

// fastrakRecord is the same of a FASTRAK.
func fastrakRecord(station byte, x float32) []byte {
	return append(f32s([]byte{'0', '0' + station, ' '}, x, 0, 0), "\r\n"...)
}

// What a sensor was not set up to send, a station that is not plugged in and what a protocol does not have are not there, however many
// frames come; what comes no more is gone after a while, and is there again when it comes again. Nothing of it is ever 0.
func TestQuantitiesThatAreNotSent(t *testing.T) {
	angles := []wire.Field{{Name: "yaw", Unit: "rad", Scale: 1}, {Name: "w.z", Unit: "rad/s", Scale: 1},
		{Name: "pressure", Unit: "Pa", Scale: 1}, {Name: "temperature", Unit: "degC", Scale: 1}}
	stations := []protocol.Part{{Name: "hand", Number: 1}, {Name: "foot", Number: 2}}
	places := []wire.Field{{Name: "hand.x", Unit: "m", Scale: 1}, {Name: "foot.x", Unit: "m", Scale: 1}, {Name: "foot.y", Unit: "m", Scale: 1}}
	for name, c := range map[string]struct {
		proto        protocol.Section
		table        []wire.Field
		part, all    func(k int) []byte // what comes
		there, rest  string             // what that brings, and what only all brings; "": nothing does
		value, other float64
		never        []string
	}{
		"vectornav": {&protocol.VectorNav{}, angles, func(int) []byte { return vectorNavAngles(45, false) },
			func(int) []byte { return vectorNavAngles(45, true) },
			"yaw", "w.z", math.Pi / 4, 0.5, []string{"pressure", "temperature"}},
		"vectornav, text": {&protocol.VectorNav{}, angles, func(int) []byte {
			text := "VNYPR,+045.000,+000.000,+000.000"
			x := byte(0)
			for _, b := range []byte(text) {
				x ^= b
			}
			return fmt.Appendf(nil, "$%s*%02X\r\n", text, x)
		}, nil, "yaw", "", math.Pi / 4, 0, []string{"w.z", "pressure", "temperature"}},
		"witmotion": {&protocol.WitMotion{}, angles, func(int) []byte { return witPacket(0x53, 0, 0, 8192, 7) }, func(int) []byte {
			return append(witPacket(0x52, 0, 0, 8192, 7), witPacket(0x53, 0, 0, 8192, 7)...)
		}, "yaw", "w.z", math.Pi / 4, 500 * math.Pi / 180, []string{"pressure", "temperature"}},
		"bno08x": {&protocol.BNO08x{}, angles, bnoReport, nil, "yaw", "", math.Pi / 4, 0, []string{"w.z", "pressure", "temperature"}},
		"liberty": {&protocol.Liberty{Stations: stations, Items: []int{2}, Unit: protocol.Centimetres}, places,
			func(int) []byte { return libertyRecord(1, 25) },
			func(int) []byte { return append(libertyRecord(2, -50), libertyRecord(1, 25)...) }, "hand.x", "foot.x", 0.25, -0.5, nil},
		"fastrak": {&protocol.Fastrak{Stations: stations, Items: []int{2, 1}, Unit: protocol.Centimetres}, places,
			func(int) []byte { return fastrakRecord(1, 25) },
			func(int) []byte { return append(fastrakRecord(2, -50), fastrakRecord(1, 25)...) }, "hand.x", "foot.x", 0.25, -0.5, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEars(t, Options{Protocol: c.proto, Measure: c.table})
			k := 0
			hear := func(what func(int) []byte, seconds float64) {
				for range int(seconds * 100) {
					k++
					e.now += 10e6
					e.hear(what(k))
				}
			}
			never := c.never
			hear(c.part, 0.5)
			e.want("a part", c.there, c.value, true)
			for _, q := range never {
				e.want("a part", q, none, false)
			}
			if c.rest == "" {
				return
			}
			e.want("a part", c.rest, none, false)
			hear(c.all, 2)
			e.want("all", c.there, c.value, true)
			e.want("all", c.rest, c.other, true)
			hear(c.part, 2)
			e.want("a part again", c.there, c.value, true)
			e.want("a part again", c.rest, none, false)
			hear(c.all, 0.1)
			e.want("all again", c.rest, c.other, true)
			for _, q := range never {
				e.want("all again", q, none, false)
			}
		})
	}
}
