package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"hilrig/engine"
	"hilrig/hil/wire"
)

// WriteForm is the function by which commands are written.
type WriteForm uint8

const (
	WriteAuto   WriteForm = iota // 6 where one register stands alone, 16 else
	WriteSingle                  // 6, register by register
	WriteMany                    // 16
)

// Words are the names of the forms.
func (WriteForm) Words() []string { return []string{"auto", "single", "multiple"} }

// Modbus is the section of a bus of Modbus RTU slaves.
type Modbus struct {
	Parity    Parity    `yaml:"parity" doc:"of each character, as the slaves are set; even is the standard's own"`
	StopBits  int       `yaml:"stop_bits" want:">=1 <=2" doc:"of each character; slaves without parity often want 2"`
	RS485     bool      `yaml:"rs485" doc:"the driver of the port switches the direction of its RS-485 transceiver; an adapter that does it by itself needs no"`
	Echo      bool      `yaml:"echo" doc:"the adapter brings back what is sent"`
	Delay     float64   `yaml:"delay" unit:"s" want:">=0 <=10" doc:"time that a slave takes before it answers; hil check reckons with it"`
	Latency   float64   `yaml:"latency" unit:"s" want:">=0 <=1" doc:"time that the adapter holds bytes back; hil check reckons with it. An FTDI has 16 ms unless its latency timer is set to 1 ms"`
	Timeout   float64   `yaml:"timeout" unit:"s" want:">=0.0001 <=10" doc:"longest time from the end of a question to the beginning of its reply"`
	LateReply float64   `yaml:"late" unit:"s" want:">=0 <=10" doc:"longest time after the time-out at which a late reply can still come; nothing is asked meanwhile, since a late reply would answer the next question"`
	Retry     int       `yaml:"retry" want:">=0 <=10" doc:"times that a question without a good reply is repeated at once"`
	Silence   float64   `yaml:"silence" unit:"s" want:">=0 <=1" doc:"pause between two frames; 0: that of the standard, 3.5 characters, 1.75 ms above 19200 baud"`
	Gap       int       `yaml:"gap" want:">=0 <=124" doc:"registers that no field names and that may be read between two fields, to read both at once; 0: none, since slaves may refuse them"`
	Write     WriteForm `yaml:"write" doc:"auto: function 6 for a register that stands alone, 16 for several in a row; single: always 6; multiple: always 16"`
}

// SetDefaults are those of the standard, of a slave that answers within a tenth of a second, and of an adapter set to 1 ms.
func (m *Modbus) SetDefaults() {
	*m = Modbus{Parity: ParityEven, StopBits: 1, Delay: 5e-3, Latency: 1e-3, Timeout: 0.1, LateReply: 0.2, Retry: 1}
}

// modbus is the section, or its defaults.
func (s *Sections) modbus() *Modbus {
	if s.Modbus == nil {
		s.Modbus = new(Modbus)
		s.Modbus.SetDefaults()
	}
	return s.Modbus
}

// Check finds nothing: the ranges of the keys say it all.
func (m *Modbus) Check() []engine.Problem { return nil }

// Plan makes one turn of all registers that can be read, or written, in one request.
func (m *Modbus) Plan(t *Table) (*Plan, error) {
	p := &Plan{Meas: t.Measure, Cmd: t.Command, Port: PortSpec{Baud: t.Baud, Parity: m.Parity, StopBits: m.StopBits, RS485: m.RS485,
		Echo: m.Echo}}
	p.Silence = m.silence(&p.Port)
	var errs []error
	if !(t.Rate > 0 && t.Loop > 0) {
		errs = append(errs, engine.Problemf("rate", "%v Hz in a loop of %v Hz, want both > 0", t.Rate, t.Loop))
	}
	errs = append(errs, placed("measure", t.Measure, false)...)
	errs = append(errs, placed("command", t.Command, true)...)
	if len(errs) == 0 {
		errs = append(errs, overlaps(t.Command)...)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	reads := m.reads(t)
	writes, err := m.writes(t)
	if err != nil {
		return nil, err
	}
	for i := range reads {
		q := &reads[i]
		g := Group{Name: groupName(q), Flow: Flow{Bytes: q.ReplyLen(), Rate: pollRate(&q.Fields[0], t)}}
		if len(reads) == 1 {
			g.Name = ""
		}
		for k, f := range q.Fields {
			g.Fields |= 1 << q.Index[k]
			g.Data += f.Type.Size()
		}
		p.Groups = append(p.Groups, g)
		p.Turns = append(p.Turns, m.turn(p, q, i, g.Rate))
		p.Turns[i].Ask = q.Ask(nil)
	}
	for i := range writes {
		turn := m.turn(p, &writes[i], -1, t.Loop)
		turn.Fill = writes[i].Fill
		p.Turns = append(p.Turns, turn)
	}
	p.Decoder = wire.NewModbusDecoder(slices.Concat(reads, writes), m.Echo)
	p.FarEnd = func() Far { return Far{Decoder: wire.NewModbusSlaves(t.Measure, t.Command)} }
	if t.Safe != nil {
		for i := range writes {
			b, ok := writes[i].Fill(nil, t.Safe)
			if !ok {
				return nil, fmt.Errorf("safe state %v: every value must be finite", t.Safe)
			}
			p.Safe.Frames = append(p.Safe.Frames, b)
		}
	}
	for i := range p.Turns { // a reply may be on its way, or just begin
		p.Safe.Pause = max(p.Safe.Pause, p.Turns[i].Takes(p))
	}
	return p, nil
}

// silence is the pause between two frames: 3.5 characters, and no less than 1.75 ms, which the standard gives for all higher speeds.
func (m *Modbus) silence(port *PortSpec) time.Duration {
	if m.Silence > 0 {
		return seconds(m.Silence)
	}
	const fast = 1750 * time.Microsecond
	if port.Baud <= 0 || port.Baud > 19200 {
		return fast
	}
	return port.Wire(7) / 2
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }

// turn is the exchange of one request at a rate in Hz.
func (m *Modbus) turn(p *Plan, q *wire.ModbusRequest, group int, rate float64) Turn {
	ask := q.AskLen()
	if m.Echo {
		ask *= 2 // comes back before the reply
	}
	return Turn{
		Name: turnName(q), Group: group, AskLen: q.AskLen(), Reply: q.ReplyLen(), Delay: seconds(m.Delay + m.Latency),
		ReplyTimeout: seconds(m.Timeout) + p.Port.Wire(ask-q.AskLen()+q.ReplyLen()), LateReplyPause: seconds(m.LateReply),
		Period: seconds(1 / rate), Retry: m.Retry,
	}
}

// turnName says what a request is about, for people.
func turnName(q *wire.ModbusRequest) string {
	table, registers := wire.Holding, fmt.Sprintf("register %d", q.StartRegister)
	if q.Function == wire.ModbusReadInput {
		table = wire.Input
	}
	if q.Count > 1 {
		registers = fmt.Sprintf("registers %d to %d", q.StartRegister, q.StartRegister+q.Count-1)
	}
	return fmt.Sprintf("slave %d, %v %s (function %d)", q.Slave, table, registers, q.Function)
}

// groupName is part of the name of a signal.
func groupName(q *wire.ModbusRequest) string {
	table := wire.Holding
	if q.Function == wire.ModbusReadInput {
		table = wire.Input
	}
	return fmt.Sprintf("slave%d.%v%d", q.Slave, table, q.StartRegister)
}

// placed finds fields that do not stand where they can be read, or written.
func placed(list string, fields []wire.Field, command bool) (bad []error) {
	for i := range fields {
		f, path := &fields[i], fmt.Sprintf("%s[%d]", list, i)
		n := f.Type.Registers()
		switch {
		case f.Register == nil:
			bad = append(bad, engine.Problemf(path, "%s stands nowhere: protocol modbus wants at: {slave: 1, register: …} here", f.Name))
			continue
		case f.Type == 0:
			bad = append(bad, engine.Problemf(path+".type", "missing: one of u16, i16, u32, i32, f32, f64"))
		case n == 0 || f.Type.Size()%2 != 0:
			bad = append(bad, engine.Problemf(path+".type", "%s is no whole register; want one of u16, i16, u32, i32, f32, f64", f.Type))
		}
		if f.Register.Slave < 1 || f.Register.Slave > 247 {
			bad = append(bad, engine.Problemf(path+".at.slave", "%d, want the address of a slave, 1 to 247", f.Register.Slave))
		}
		switch {
		case f.Register.Register == nil:
			bad = append(bad, engine.Problemf(path+".at.register", "missing: the number of the first register, counted from 0"))
		case *f.Register.Register < 0 || *f.Register.Register+max(1, n) > 1<<16:
			bad = append(bad, engine.Problemf(path+".at.register", "%d, want 0 to 65535 for all its registers", *f.Register.Register))
		}
		if command && f.Register.Table != wire.Holding {
			bad = append(bad, engine.Problemf(path+".at.table", "a register of the table %v cannot be written; want holding", f.Register.Table))
		}
	}
	return bad
}

// overlaps finds commands that write the same register.
func overlaps(fields []wire.Field) (bad []error) {
	order := byRegister(fields, func(*wire.Field) float64 { return 0 })
	for k := 1; k < len(order); k++ {
		a, b := &fields[order[k-1]], &fields[order[k]]
		if a.Register.Slave == b.Register.Slave && *a.Register.Register+a.Type.Registers() > *b.Register.Register {
			bad = append(bad, engine.Problemf(fmt.Sprintf("command[%d].at.register", order[k]), "register %d of slave %d is written by %s too",
				*b.Register.Register, b.Register.Slave, a.Name))
		}
	}
	return bad
}

// byRegister sorts the places of a table by slave, table, rate and register.
func byRegister(fields []wire.Field, rate func(*wire.Field) float64) []int {
	order := make([]int, len(fields))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int {
		a, b := &fields[i], &fields[k]
		return cmp.Or(cmp.Compare(a.Register.Slave, b.Register.Slave), cmp.Compare(a.Register.Table, b.Register.Table),
			cmp.Compare(rate(a), rate(b)), cmp.Compare(*a.Register.Register, *b.Register.Register))
	})
	return order
}

// pollRate is how often a field is asked for, in Hz.
func pollRate(f *wire.Field, t *Table) float64 {
	if f.Register.Poll > 0 {
		return f.Register.Poll
	}
	return t.Rate
}

// reads makes one request of all measurements of one table and rate that lie next to each other.
func (m *Modbus) reads(t *Table) (out []wire.ModbusRequest) {
	rate := func(f *wire.Field) float64 { return pollRate(f, t) }
	function := map[wire.RegisterTable]byte{wire.Holding: wire.ModbusReadHolding, wire.Input: wire.ModbusReadInput}
	for _, i := range byRegister(t.Measure, rate) {
		f := &t.Measure[i]
		first, n := *f.Register.Register, f.Type.Registers()
		if k := len(out) - 1; k >= 0 {
			q := &out[k]
			end := q.StartRegister + q.Count
			count := max(end, first+n) - q.StartRegister
			if q.Slave == byte(f.Register.Slave) && q.Function == function[f.Register.Table] && rate(&q.Fields[0]) == rate(f) &&
				first <= end+m.Gap && count <= wire.ModbusMostRead {
				q.Count, q.Fields, q.Index = count, append(q.Fields, *f), append(q.Index, i)
				continue
			}
		}
		out = append(out, wire.ModbusRequest{Slave: byte(f.Register.Slave), Function: function[f.Register.Table], StartRegister: first, Count: n,
			Fields: []wire.Field{*f}, Index: []int{i}})
	}
	return out
}

// writes makes one request of all commands that lie next to each other, as far as the form allows.
func (m *Modbus) writes(t *Table) (out []wire.ModbusRequest, err error) {
	for _, i := range byRegister(t.Command, func(*wire.Field) float64 { return 0 }) {
		f := &t.Command[i]
		first, n := *f.Register.Register, f.Type.Registers()
		if m.Write == WriteSingle && n > 1 {
			return nil, engine.Problemf("modbus.write", "single writes one register at a time, but %s has %d; want multiple, or another type",
				f.Name, n)
		}
		if k := len(out) - 1; k >= 0 && m.Write != WriteSingle {
			q := &out[k]
			if q.Slave == byte(f.Register.Slave) && first == q.StartRegister+q.Count && q.Count+n <= wire.ModbusMostWrite {
				q.Count, q.Fields, q.Index = q.Count+n, append(q.Fields, *f), append(q.Index, i)
				continue
			}
		}
		out = append(out, wire.ModbusRequest{Slave: byte(f.Register.Slave), StartRegister: first, Count: n, Fields: []wire.Field{*f},
			Index: []int{i}})
	}
	for i := range out {
		out[i].Function = wire.ModbusWriteMany
		if out[i].Count == 1 && m.Write != WriteMany {
			out[i].Function = wire.ModbusWriteOne
		}
	}
	return out, nil
}
