package protocol

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hilrig/engine"
	"hilrig/hil/wire"
)

// at is a field in registers of a slave.
func at(ty wire.Type, slave int, table wire.RegisterTable, register int) wire.Field {
	return wire.Field{Name: fmt.Sprintf("s%d.%v%d", slave, table, register), Type: ty, Scale: 1,
		Register: &wire.Register{Slave: slave, Table: table, Register: &register}}
}

// table is one that every protocol takes: a field as it wants it.
func table(k *Kind) *Table {
	if k.Tracker {
		t := &Table{Measure: []wire.Field{{Name: "roll", Unit: "rad", Scale: 1}}, Baud: 115200, Rate: 100, Loop: 100}
		if k.Name == "ndi" {
			t.Measure[0] = wire.Field{Name: "B.z", Unit: "m", Scale: 1}
		}
		return t
	}
	m, c := at(wire.I16, 1, wire.Input, 3), at(wire.I16, 1, wire.Holding, 9)
	m.Name, c.Name = "force", "voltage"
	if k.Text {
		m.Type, c.Type = wire.Text, wire.Text
	}
	if !k.Registers {
		m.Register, c.Register = nil, nil
	}
	return &Table{Measure: []wire.Field{m}, Command: []wire.Field{c}, Safe: []float64{-7}, Baud: 115200, Rate: 100, Loop: 100}
}

// Properties hold for every protocol; a new one joins by its line in Kinds.
func TestKinds(t *testing.T) {
	keys := map[string]bool{}
	for i, typ := 0, reflect.TypeFor[Sections](); i < typ.NumField(); i++ {
		key, _, _ := strings.Cut(typ.Field(i).Tag.Get("yaml"), ",")
		keys[key] = true
	}
	if len(Kinds) != int(BNO08xChoice)+1 || BNO08xChoice.String() != "bno08x" || XsensChoice.String() != "xsens" ||
		LinkChoice.String() != "link" || LineChoice.String() != "line" || ModbusChoice.String() != "modbus" {
		t.Errorf("%d kinds: %v", len(Kinds), Choice(0).Words())
	}
	for i := range Kinds {
		k := &Kinds[i]
		t.Run(k.Name, func(t *testing.T) {
			delete(keys, k.Name) // its section, if it has one, is called as it is
			if k.Title == "" || Choice(i).Kind() != k {
				t.Error("no title, or not in its place")
			}
			list := &Sections{}
			s := k.Section(list)
			if k.Name == "ndi" {
				list.NDI.Tools = []Tool{{Name: "B", Number: 10}}
			}
			if bad := s.Check(); len(bad) > 0 {
				t.Errorf("the defaults: %v", bad)
			}
			p, err := s.Plan(table(k))
			if err != nil {
				t.Fatal(err)
			}
			if k.Tracker {
				testTracker(t, k, p)
				for _, q := range []string{"q.w", "q.x", "q.y", "q.z"} { // one component alone: the far end sends a whole attitude
					one := table(k)
					part := map[bool]string{true: "B."}[k.Name == "ndi"]
					one.Measure[0] = wire.Field{Name: part + q, Scale: 1}
					if p, err = s.Plan(one); err != nil {
						t.Fatal(err)
					}
					testTracker(t, k, p)
				}
				return
			}
			testBothEnds(t, p)
			testSafe(t, p)
			if p.Encoder != nil && len(p.Turns) > 0 || p.Encoder == nil && len(p.Turns) == 0 {
				t.Error("want an encoder, or turns")
			}
			if len(p.Groups) != 1 || !p.Groups[0].Contains(0) || p.Groups[0].Contains(1) || p.GroupOf(0) != 0 {
				t.Errorf("groups %+v", p.Groups)
			}
			for _, v := range []float64{math.NaN(), math.Inf(1)} {
				bad := table(k)
				bad.Safe[0] = v
				if _, err := k.Section(&Sections{}).Plan(bad); err == nil || !strings.Contains(err.Error(), "finite") {
					t.Errorf("safe %v: %v", v, err)
				}
			}
		})
	}
	if len(keys) > 0 {
		t.Errorf("sections of no protocol: %v", keys)
	}
}

// What one end says the other understands.
func testBothEnds(t *testing.T, p *Plan) {
	far, f, want := p.FarEnd(), wire.Frame{}, -12.0
	take := func(d wire.Decoder, b []byte) {
		t.Helper()
		f = wire.Frame{}
		for i := range b { // in the worst pieces
			if _, st := d.Next(b[i:i+1], &f); st == wire.Good {
				return
			}
		}
		if _, st := d.Next([]byte{'\n'}, &f); st != wire.Good {
			t.Fatalf("% x is not understood", b)
		}
	}
	if p.Encoder != nil {
		h := wire.Header{Kind: wire.Measurement, FreshFields: 1, HasTime: true}
		b, _ := far.Encoder.Append(far.Encoder.Resync(nil), h, []float64{want}) // what comes before the first end is dropped
		take(p.Decoder, b)
		if f.V[0] != want || f.FreshFields != 1 {
			t.Errorf("measured %v (%b), want %v", f.V[0], f.FreshFields, want)
		}
		h.Kind = wire.Command
		b, _ = p.Encoder.Append(p.Encoder.Resync(nil), h, []float64{want})
		take(far.Decoder, b)
		if f.V[0] != want || f.FreshFields != 1 {
			t.Errorf("commanded %v (%b), want %v", f.V[0], f.FreshFields, want)
		}
		return
	}
	answers := far.Decoder.(wire.Responder)
	for k, turn := range p.Turns {
		ask, ok := turn.Ask, true
		if turn.Fill != nil {
			ask, ok = turn.Fill(nil, []float64{want})
		}
		if !ok || len(ask) != turn.AskLen {
			t.Errorf("%s: a question of %d bytes, want %d", turn.Name, len(ask), turn.AskLen)
		}
		take(answers, ask)
		if turn.Fill != nil && (f.V[0] != want || f.FreshFields != 1) {
			t.Errorf("commanded %v (%b), want %v", f.V[0], f.FreshFields, want)
		}
		reply := answers.Answer(nil, []float64{want})
		if len(reply) != turn.Reply {
			t.Errorf("%s: a reply of %d bytes, want %d", turn.Name, len(reply), turn.Reply)
		}
		p.Decoder.(wire.TurnDecoder).Expect(k)
		take(p.Decoder, reply)
		if turn.Fill == nil && (f.V[0] != want || f.FreshFields != 1) {
			t.Errorf("measured %v (%b), want %v", f.V[0], f.FreshFields, want)
		}
	}
}

// The safe frames mean the safe values at the far end, any number of times.
func testSafe(t *testing.T, p *Plan) {
	var all []byte
	n := 0
	p.Safe.Write(func(b []byte) error { n++; all = append(all, b...); return nil })
	if n != 3*len(p.Safe.Frames) || n == 0 {
		t.Fatalf("%d frames written, want three times %d", n, len(p.Safe.Frames))
	}
	far, f, safe := p.FarEnd(), wire.Frame{}, 0
	for rest := append([]byte("\n"), all...); ; {
		n, st := far.Decoder.Next(rest, &f)
		if rest = rest[n:]; st == wire.More {
			break
		}
		if st == wire.Good && f.V[0] == -7 && f.FreshFields == 1 {
			safe++
		}
	}
	if safe != 3 {
		t.Errorf("%d of 3 safe frames arrive", safe)
	}
}

// What can be read in one request is one; what cannot is not.
func TestModbusRequests(t *testing.T) {
	polled := func(f wire.Field, hz float64) wire.Field { f.Register.Poll = hz; return f }
	for _, c := range []struct {
		name   string
		fields []wire.Field
		gap    int
		want   []string
	}{
		{"neighbours", []wire.Field{at(wire.F32, 1, 0, 12), at(wire.U16, 1, 0, 10), at(wire.I16, 1, 0, 11)}, 0,
			[]string{"slave 1, holding registers 10 to 13 (function 3)"}},
		{"a gap", []wire.Field{at(wire.U16, 1, 0, 10), at(wire.U16, 1, 0, 12)}, 0,
			[]string{"slave 1, holding register 10 (function 3)", "slave 1, holding register 12 (function 3)"}},
		{"a gap that may be read", []wire.Field{at(wire.U16, 1, 0, 10), at(wire.U16, 1, 0, 12)}, 1,
			[]string{"slave 1, holding registers 10 to 12 (function 3)"}},
		{"a gap that is too long", []wire.Field{at(wire.U16, 1, 0, 10), at(wire.U16, 1, 0, 13)}, 1,
			[]string{"slave 1, holding register 10 (function 3)", "slave 1, holding register 13 (function 3)"}},
		{"two slaves", []wire.Field{at(wire.U16, 2, 0, 10), at(wire.U16, 1, 0, 11)}, 0,
			[]string{"slave 1, holding register 11 (function 3)", "slave 2, holding register 10 (function 3)"}},
		{"two tables", []wire.Field{at(wire.U16, 1, 1, 10), at(wire.U16, 1, 0, 11)}, 0,
			[]string{"slave 1, holding register 11 (function 3)", "slave 1, input register 10 (function 4)"}},
		{"two rates", []wire.Field{polled(at(wire.U16, 1, 0, 10), 5), at(wire.U16, 1, 0, 11)}, 0,
			[]string{"slave 1, holding register 10 (function 3)", "slave 1, holding register 11 (function 3)"}},
		{"one register as two fields", []wire.Field{at(wire.U16, 1, 0, 10), at(wire.U32, 1, 0, 10), at(wire.U16, 1, 0, 11)}, 0,
			[]string{"slave 1, holding registers 10 to 11 (function 3)"}},
		{"125 registers", []wire.Field{at(wire.U16, 1, 0, 0), at(wire.U16, 1, 0, 124)}, 124,
			[]string{"slave 1, holding registers 0 to 124 (function 3)"}},
		{"126 registers", []wire.Field{at(wire.U16, 1, 0, 0), at(wire.U16, 1, 0, 125)}, 124,
			[]string{"slave 1, holding register 0 (function 3)", "slave 1, holding register 125 (function 3)"}},
	} {
		var m Modbus
		m.SetDefaults()
		m.Gap = c.gap
		p, err := m.Plan(&Table{Measure: c.fields, Baud: 9600, Rate: 50, Loop: 50})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		all := Fields(0)
		for i, turn := range p.Turns {
			got = append(got, turn.Name)
			if turn.Group != i || all&p.Groups[i].Fields != 0 {
				t.Errorf("%s: turn %d brings group %d; fields %b after %b", c.name, i, turn.Group, p.Groups[i].Fields, all)
			}
			all |= p.Groups[i].Fields
		}
		if !slices.Equal(got, c.want) || all != Fields(wire.AllFields(len(c.fields))) {
			t.Errorf("%s: %q, want %q; fields %b", c.name, got, c.want, all)
		}
	}
	// commands: by 6 where a register stands alone, by 16 else; never together over a gap
	cmd := []wire.Field{at(wire.U16, 1, 0, 4), at(wire.U16, 1, 0, 5), at(wire.U16, 1, 0, 7)}
	for form, want := range map[WriteForm][]string{
		WriteAuto: {"slave 1, holding registers 4 to 5 (function 16)", "slave 1, holding register 7 (function 6)"},
		WriteMany: {"slave 1, holding registers 4 to 5 (function 16)", "slave 1, holding register 7 (function 16)"},
		WriteSingle: {"slave 1, holding register 4 (function 6)", "slave 1, holding register 5 (function 6)",
			"slave 1, holding register 7 (function 6)"},
	} {
		var m Modbus
		m.SetDefaults()
		m.Write = form
		p, err := m.Plan(&Table{Command: cmd, Safe: []float64{1, 2, 3}, Baud: 9600, Rate: 50, Loop: 50})
		if err != nil || len(p.Turns) != len(want) || len(p.Safe.Frames) != len(want) {
			t.Fatalf("%v: %v, %d turns", form, err, len(p.Turns))
		}
		for i, turn := range p.Turns {
			if turn.Name != want[i] || turn.Group != -1 {
				t.Errorf("form %d: %s, want %s", form, turn.Name, want[i])
			}
		}
	}
}

// The line of the standard's own example of times: 9600 baud, 11 bits a character.
func TestModbusTimes(t *testing.T) {
	near := func(what string, got time.Duration, want float64) {
		if math.Abs(got.Seconds()-want) > 2e-9 {
			t.Errorf("%s: %v, want %v s", what, got, want)
		}
	}
	var m Modbus
	m.SetDefaults()
	m.Delay, m.Latency = 6e-3, 1e-3
	p, err := m.Plan(&Table{Measure: []wire.Field{at(wire.F32, 1, 0, 0)}, Command: []wire.Field{at(wire.U16, 1, 0, 9)}, Safe: []float64{0},
		Baud: 9600, Rate: 10, Loop: 20})
	if err != nil {
		t.Fatal(err)
	}
	const char = 11 / 9600.0
	near("silence", p.Silence, 3.5*char)
	read := (8+9)*char + 7e-3 + 3.5*char // delay is longer than the slave's own silence
	near("read", p.Turns[0].Takes(p), read)
	near("within", p.Turns[0].ReplyTimeout, 0.1+9*char)
	near("quiet", p.Turns[0].LateReplyPause, 0.2)
	write := (8+8)*char + 7e-3 + 3.5*char
	near("write", p.Turns[1].Takes(p), write)
	if want := 10*read + 20*write; math.Abs(p.Load()-want) > 1e-6 {
		t.Errorf("load %v, want %v", p.Load(), want)
	}
	near("pause of safe frames", p.Safe.Pause, read)
	for _, c := range []struct {
		parity     Parity
		stop, baud int
		silence    float64
	}{{ParityNone, 1, 19200, 3.5 * 10 / 19200.0}, {ParityNone, 2, 19200, 3.5 * 11 / 19200.0}, {ParityOdd, 2, 1200, 3.5 * 12 / 1200.0},
		{ParityEven, 1, 19201, 1.75e-3}, {ParityEven, 1, 921600, 1.75e-3}} {
		m.Parity, m.StopBits = c.parity, c.stop
		spec := PortSpec{Baud: c.baud, Parity: c.parity, StopBits: c.stop}
		near(fmt.Sprint(c), m.silence(&spec), c.silence)
	}
	// a line that echoes brings the question first
	m.Echo, m.Parity, m.StopBits = true, ParityEven, 1
	p, _ = m.Plan(&Table{Measure: []wire.Field{at(wire.F32, 1, 0, 0)}, Baud: 9600, Rate: 10, Loop: 20})
	near("within, with an echo", p.Turns[0].ReplyTimeout, 0.1+17*char)
}

// Every slip is told with its place.
func TestModbusProblems(t *testing.T) {
	noRegister, input := at(wire.U16, 1, 0, 5), at(wire.U16, 1, wire.Input, 5)
	noRegister.Register.Register = nil
	for _, c := range []struct {
		meas, cmd  []wire.Field
		write      WriteForm
		path, text string
	}{
		{[]wire.Field{{Name: "x", Type: wire.U16, Scale: 1}}, nil, 0, "measure[0]", "x stands nowhere"},
		{[]wire.Field{at(wire.U16, 1, 0, 5), at(wire.U8, 1, 0, 6)}, nil, 0, "measure[1].type", "u8 is no whole register"},
		{[]wire.Field{at(0, 1, 0, 6)}, nil, 0, "measure[0].type", "missing"},
		{[]wire.Field{at(wire.Text, 1, 0, 6)}, nil, 0, "measure[0].type", "text is no whole register"},
		{[]wire.Field{at(wire.U16, 0, 0, 6)}, nil, 0, "measure[0].at.slave", "0, want the address of a slave, 1 to 247"},
		{[]wire.Field{at(wire.U16, 248, 0, 6)}, nil, 0, "measure[0].at.slave", "248"},
		{[]wire.Field{noRegister}, nil, 0, "measure[0].at.register", "missing"},
		{[]wire.Field{at(wire.U32, 1, 0, 65535)}, nil, 0, "measure[0].at.register", "65535, want 0 to 65535 for all its registers"},
		{nil, []wire.Field{input}, 0, "command[0].at.table", "cannot be written"},
		{nil, []wire.Field{at(wire.F32, 1, 0, 5), at(wire.U16, 1, 0, 6)}, 0, "command[1].at.register",
			"register 6 of slave 1 is written by s1.holding5 too"},
		{nil, []wire.Field{at(wire.F32, 1, 0, 5)}, WriteSingle, "modbus.write", "single writes one register at a time"},
	} {
		var m Modbus
		m.SetDefaults()
		m.Write = c.write
		_, err := m.Plan(&Table{Measure: c.meas, Command: c.cmd, Safe: make([]float64, len(c.cmd)), Baud: 9600, Rate: 10, Loop: 10})
		problems := engine.Problems(err)
		if len(problems) != 1 || problems[0].Path != c.path || !strings.Contains(problems[0].Text, c.text) {
			t.Errorf("%v, want %s: %s", problems, c.path, c.text)
		}
	}
	for _, rates := range [][2]float64{{0, 10}, {10, 0}} {
		var m Modbus
		m.SetDefaults()
		if _, err := m.Plan(&Table{Rate: rates[0], Loop: rates[1]}); err == nil || !strings.Contains(err.Error(), "want both > 0") {
			t.Errorf("rates %v: %v", rates, err)
		}
	}
	// and the last that fits
	var m Modbus
	m.SetDefaults()
	if _, err := m.Plan(&Table{Measure: []wire.Field{at(wire.U32, 247, 0, 65534), at(wire.U16, 1, 0, 0)}, Baud: 9600, Rate: 10,
		Loop: 10}); err != nil {
		t.Error(err)
	}
}
