package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// hexBytes reads "11 03 00".
func hexBytes(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// register is a field on a slave.
func register(name string, ty Type, slave int, table RegisterTable, at int, order WordOrder) Field {
	return Field{Name: name, Type: ty, Scale: 1, Register: &Register{Slave: slave, Table: table, Register: &at, Order: order}}
}

// The frames of the table of examples at simplymodbus.ca, and the check value of the CRC's definition.
func TestModbusPublishedFrames(t *testing.T) {
	if got := modbusCRC([]byte("123456789")); got != 0x4B37 {
		t.Errorf("CRC-16/MODBUS of 123456789: %04x, want 4b37", got)
	}
	three := []Field{register("a", U16, 17, Holding, 107, HighFirst), register("b", U16, 17, Holding, 108, HighFirst),
		register("c", I16, 17, Holding, 109, HighFirst)}
	two := []Field{register("d", U16, 17, Holding, 1, HighFirst), register("e", U16, 17, Holding, 2, HighFirst)}
	for _, c := range []struct {
		name       string
		q          ModbusRequest
		u          []float64
		ask, reply string
		want       []float64
	}{
		{"read holding registers", ModbusRequest{17, ModbusReadHolding, 107, 3, three, []int{0, 1, 2}}, nil,
			"11 03 00 6B 00 03 76 87", "11 03 06 AE 41 56 52 43 40 49 AD", []float64{44609, 22098, 17216}},
		{"read input registers", ModbusRequest{17, ModbusReadInput, 8, 1, []Field{register("a", U16, 17, Input, 8, HighFirst)}, []int{0}}, nil,
			"11 04 00 08 00 01 B2 98", "11 04 02 00 0A F8 F4", []float64{10}},
		// beyond 255; checksums by pymodbus
		{"read a register of two bytes", ModbusRequest{17, ModbusReadInput, 0x1234, 2, []Field{register("a", F32, 17, Input, 0x1234, HighFirst)},
			[]int{0}}, nil,
			"11 04 12 34 00 02 37 ED", "11 04 04 13 88 00 0A EE EC", []float64{float64(math.Float32frombits(0x1388000A))}},
		{"write a register of two bytes", ModbusRequest{17, ModbusWriteOne, 0x1234, 1,
			[]Field{register("a", U16, 17, Holding, 0x1234, HighFirst)}, []int{0}}, []float64{0xABCD},
			"11 06 12 34 AB CD 71 49", "11 06 12 34 AB CD 71 49", nil},
		{"write one register", ModbusRequest{17, ModbusWriteOne, 1, 1, two[:1], []int{0}}, []float64{3}, "11 06 00 01 00 03 9A 9B",
			"11 06 00 01 00 03 9A 9B", nil},
		{"write registers", ModbusRequest{17, ModbusWriteMany, 1, 2, two, []int{0, 1}}, []float64{10, 258},
			"11 10 00 01 00 02 04 00 0A 01 02 C6 F0", "11 10 00 01 00 02 12 98", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask, ok := []byte(nil), true
			if c.u == nil {
				ask = c.q.Ask(nil)
			} else {
				ask, ok = c.q.Fill(nil, c.u)
			}
			if !ok || !slices.Equal(ask, hexBytes(t, c.ask)) || c.q.AskLen() != len(ask) {
				t.Errorf("question % x, want %s", ask, c.ask)
			}
			reply := hexBytes(t, c.reply)
			if c.q.ReplyLen() != len(reply) {
				t.Errorf("a reply of %d bytes, want %d", c.q.ReplyLen(), len(reply))
			}
			d := NewModbusDecoder([]ModbusRequest{c.q}, false)
			var f Frame
			d.Expect(0)
			if n, st := d.Next(reply, &f); n != len(reply) || st != Good || f.FreshFields != AllFields(len(c.want)) ||
				!slices.Equal(f.V[:len(c.want)], c.want) {
				t.Errorf("%d %v %v, want %v", n, st, f.V[:3], c.want)
			}
		})
	}
}

// Every type, both orders, against the bytes that IEEE 754 and two's complement give; what is written is read back.
func TestModbusTypes(t *testing.T) {
	for _, c := range []struct {
		ty    Type
		order WordOrder
		v     float64
		bytes string
	}{
		{U16, HighFirst, 0xFEDC, "FE DC"}, {I16, HighFirst, -2, "FF FE"}, {I16, LowFirst, -2, "FF FE"},
		{U32, HighFirst, 0x12345678, "12 34 56 78"}, {U32, LowFirst, 0x12345678, "56 78 12 34"},
		{I32, HighFirst, -2, "FF FF FF FE"}, {I32, LowFirst, -2, "FF FE FF FF"},
		{F32, HighFirst, -118.625, "C2 ED 40 00"}, {F32, LowFirst, -118.625, "40 00 C2 ED"},
		{F64, HighFirst, -2.5, "C0 04 00 00 00 00 00 00"}, {F64, LowFirst, -2.5, "00 00 00 00 00 00 C0 04"},
	} {
		f := register("x", c.ty, 1, Holding, 7, c.order)
		n := c.ty.Registers()
		write := ModbusRequest{1, ModbusWriteMany, 7, n, []Field{f}, []int{0}}
		b, ok := write.Fill(nil, []float64{c.v})
		if want := hexBytes(t, c.bytes); !ok || !slices.Equal(b[7:7+2*n], want) {
			t.Errorf("%v %v: % x, want %s", c.ty, c.order, b, c.bytes)
		}
		reply := appendModbusCRC(append([]byte{1, 3, byte(2 * n)}, hexBytes(t, c.bytes)...), 0)
		d := NewModbusDecoder([]ModbusRequest{{1, ModbusReadHolding, 7, n, []Field{f}, []int{0}}}, false)
		var fr Frame
		d.Expect(0)
		if _, st := d.Next(reply, &fr); st != Good || fr.V[0] != c.v {
			t.Errorf("%v %v: read %v, want %v", c.ty, c.order, fr.V[0], c.v)
		}
	}
	// scale, rounding, clamping, and what is not finite
	f := register("x", I16, 1, Holding, 0, HighFirst)
	f.Scale, f.Offset = 0.5, 10
	q := ModbusRequest{1, ModbusWriteOne, 0, 1, []Field{f}, []int{1}}
	for v, want := range map[float64]int16{10: 0, 10.74: 1, 10.76: 2, 1e9: math.MaxInt16, -1e9: math.MinInt16} {
		if b, ok := q.Fill(nil, []float64{99, v}); !ok || int16(uint16(b[4])<<8|uint16(b[5])) != want {
			t.Errorf("%v travels as % x, want %d", v, b, want)
		}
	}
	if b, ok := q.Fill([]byte{1}, []float64{0, math.NaN()}); ok || len(b) != 1 {
		t.Errorf("NaN was written: % x", b)
	}
}

// bus is a decoder with two reads of one shape, a refusal to come, and replies.
func bus() (*ModbusDecoder, [][]byte) {
	at := func(slave, reg int) ModbusRequest {
		return ModbusRequest{byte(slave), ModbusReadHolding, reg, 2, []Field{register("x", U32, slave, Holding, reg, HighFirst)},
			[]int{slave - 1}}
	}
	q := []ModbusRequest{at(1, 10), at(2, 10)}
	var replies [][]byte
	for i := range q {
		replies = append(replies, appendModbusCRC([]byte{q[i].Slave, 3, 4, 0, 1, 0, byte(i + 1)}, 0))
	}
	return NewModbusDecoder(q, false), replies
}

func TestModbusReplies(t *testing.T) {
	_, replies := bus()
	bad := slices.Clone(replies[0])
	bad[4] ^= 1
	refusal := appendModbusCRC([]byte{1, 0x83, 2}, 0)
	for _, c := range []struct {
		name  string
		bytes []byte
		st    Status
		want  Counters // without Bytes
	}{
		{"the reply", replies[0], Good, Counters{Frames: 1}},
		{"bytes of the line's turn before it", append([]byte{0, 0xFF, 1, 3}, replies[0]...), Good, Counters{Frames: 1, Resync: 4}},
		{"a bit turned", bad, Corrupt, Counters{Malformed: 1, Resync: 9}},
		{"the slave asked before", replies[1], More, Counters{Resync: 9}},
		{"the slave asked before, then the reply", slices.Concat(replies[1], replies[0]), Good, Counters{Frames: 1, Resync: 9}},
		{"another function", appendModbusCRC([]byte{1, 4, 4, 0, 1, 0, 1}, 0), More, Counters{Resync: 9 - 1}}, // its last byte may begin a reply
		{"more registers than asked", appendModbusCRC([]byte{1, 3, 6, 0, 1, 0, 1, 0, 1}, 0), More, Counters{Resync: 11}},
		{"a refusal", refusal, Refused, Counters{}},
		{"a refusal of the slave asked before", appendModbusCRC([]byte{2, 0x83, 2}, 0), More, Counters{Resync: 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for cut := range len(c.bytes) { // the same in one piece and in two
				d, _ := bus()
				var f Frame
				d.Expect(0)
				n, st := d.Next(c.bytes[:cut], &f)
				if st != More || n != cut {
					t.Fatalf("cut at %d: %d %v", cut, n, st)
				}
				_, st = d.Next(c.bytes[cut:], &f)
				got := *d.Counters()
				if c.name == "another function" && d.n == 1 { // its CRC may end like the address
					got.Resync++
				}
				if got.Bytes = 0; st != c.st || got != c.want && got.Resync != c.want.Resync+1 {
					t.Fatalf("cut at %d: %v %+v, want %v %+v", cut, st, got, c.st, c.want)
				}
				if st == Good && (f.FreshFields != 1 || f.V[0] != 65537) {
					t.Fatalf("cut at %d: %b %v", cut, f.FreshFields, f.V[0])
				}
				if st == Refused && f.Seq != 2 {
					t.Fatalf("reason %d", f.Seq)
				}
			}
		})
	}
	// a reply that was cut is none, however short it is cut, also when the next question brings its end
	for cut := range len(replies[0]) {
		d, _ := bus()
		var f Frame
		d.Expect(0)
		if _, st := d.Next(replies[0][:cut], &f); st != More {
			t.Fatal(st)
		}
		d.Expect(1)
		if _, st := d.Next(replies[0][cut:], &f); st != More {
			t.Fatalf("cut at %d: %v", cut, st)
		}
		if _, st := d.Next(replies[1], &f); st != Good || f.V[1] != 65538 {
			t.Fatalf("cut at %d: the next reply is %v", cut, st)
		}
	}
	// nobody asked
	d, _ := bus()
	var f Frame
	if n, st := d.Next(replies[0], &f); n != 9 || st != More || d.Counters().Foreign != 1 || d.Counters().Resync != 9 {
		t.Errorf("%d %v %+v", n, st, d.Counters())
	}
}

// On a line that echoes, the confirmation of a written register is the second time the same bytes come.
func TestModbusEcho(t *testing.T) {
	q := ModbusRequest{1, ModbusWriteOne, 4, 1, []Field{register("x", U16, 1, Holding, 4, HighFirst)}, []int{0}}
	ask, _ := q.Fill(nil, []float64{77})
	for _, echo := range []bool{true, false} {
		d := NewModbusDecoder([]ModbusRequest{q}, echo)
		d.Expect(0)
		var f Frame
		if _, st := d.Next(ask, &f); (st == Good) == echo {
			t.Errorf("echo %v: the first copy is %v", echo, st)
		}
		if _, st := d.Next(ask, &f); (st == Good) != echo {
			t.Errorf("echo %v: the second copy is %v", echo, st)
		}
	}
}

// Master and slaves agree over any table; no flipped bit gets through, and noise between questions costs no question.
func TestModbusBothEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	sends := []Field{register("a", I16, 1, Input, 3, HighFirst), register("b", F32, 1, Input, 4, LowFirst),
		register("c", U32, 2, Holding, 0, LowFirst)}
	takes := []Field{register("u", F32, 2, Holding, 10, HighFirst), register("v", U16, 2, Holding, 12, HighFirst)}
	reads := []ModbusRequest{{1, ModbusReadInput, 3, 3, sends[:2], []int{0, 1}}, {2, ModbusReadHolding, 0, 2, sends[2:], []int{2}},
		{2, ModbusWriteMany, 10, 3, takes, []int{0, 1}}}
	d, s := NewModbusDecoder(reads, false), NewModbusSlaves(sends, takes)
	for range 3000 {
		y := []float64{float64(rng.IntN(65536) - 32768), float64(float32(rng.NormFloat64())), float64(rng.Uint32())}
		u := []float64{float64(float32(rng.NormFloat64())), float64(rng.IntN(65536))}
		k := rng.IntN(3)
		var ask []byte
		if k == 2 {
			ask, _ = reads[k].Fill(nil, u)
		} else {
			ask = reads[k].Ask(nil)
		}
		var f, g Frame
		if rng.IntN(4) == 0 { // bytes that no slave is named by
			ask = append([]byte{0, 9, 0xFF}[:1+rng.IntN(3)], ask...)
		}
		if _, st := s.Next(ask, &f); st != Good {
			// noise that begins like a longer frame keeps the question back until more comes, as a slave without a timer must
			continue
		}
		if k == 2 && (f.FreshFields != 3 || f.V[0] != u[0] || f.V[1] != u[1]) {
			t.Fatalf("commands %v arrive as %v", u, f.V[:2])
		}
		reply := s.Answer(nil, y)
		if rng.IntN(3) == 0 {
			reply[rng.IntN(len(reply))] ^= 1 << rng.IntN(8)
			d.Expect(k)
			if _, st := d.Next(reply, &g); st == Good || st == Refused {
				t.Fatalf("% x was believed", reply)
			}
			continue
		}
		d.Expect(k)
		if _, st := d.Next(reply, &g); st != Good {
			t.Fatalf("% x: %v", reply, st)
		}
		for i := range y {
			if g.FreshFields>>i&1 != 0 && g.V[i] != y[i] {
				t.Fatalf("%v arrives as %v", y, g.V[:3])
			}
		}
	}
	// refusals
	for _, c := range []struct {
		q      ModbusRequest
		reason uint8
	}{
		{ModbusRequest{Slave: 1, Function: ModbusReadInput, StartRegister: 3, Count: 4}, 2},
		{ModbusRequest{Slave: 1, Function: ModbusReadInput, StartRegister: 2, Count: 1}, 2},
		{ModbusRequest{Slave: 1, Function: ModbusReadHolding, StartRegister: 3, Count: 1}, 2},
		{ModbusRequest{Slave: 2, Function: 7, Count: 1}, 1}, {ModbusRequest{Slave: 2, Function: ModbusReadHolding, Count: 0}, 3},
		{ModbusRequest{2, ModbusWriteOne, 10, 1, []Field{register("u", U16, 2, Holding, 10, HighFirst)}, []int{0}}, 2},
	} {
		ask := c.q.Ask(nil)
		if c.q.writes() {
			ask, _ = c.q.Fill(nil, []float64{1})
		}
		var f Frame
		s.Next(ask, &f)
		if b := s.Answer(nil, []float64{0, 0, 0}); len(b) != 5 || b[1] != c.q.Function|0x80 || b[2] != c.reason || f.FreshFields != 0 {
			t.Errorf("% x is answered % x, want reason %d", ask, b, c.reason)
		}
	}
	var f Frame
	if _, st := s.Next((&ModbusRequest{Slave: 3, Function: ModbusReadInput, Count: 1}).Ask(nil), &f); st != More {
		t.Error("a slave that is not there answers")
	}
}

// Slaves of one bus may have the same registers: a write reaches the one that it names, and a write beside the registers none.
func TestModbusSlavesApart(t *testing.T) {
	fields := []Field{register("u", U16, 2, Holding, 10, HighFirst), register("v", U16, 3, Holding, 10, HighFirst),
		register("w", U16, 3, Holding, 11, HighFirst)}
	s := NewModbusSlaves(nil, fields)
	for i, fresh := range []uint64{1, 2, 4} {
		q := ModbusRequest{byte(fields[i].Register.Slave), ModbusWriteOne, *fields[i].Register.Register, 1, fields[i : i+1], []int{0}}
		ask, _ := q.Fill(nil, []float64{7})
		var f Frame
		if _, st := s.Next(ask, &f); st != Good || f.FreshFields != fresh || f.V[i] != 7 {
			t.Errorf("a write to %s: %v, fresh %b, want %b", fields[i].Name, st, f.FreshFields, fresh)
		}
	}
}

// Any window of registers is answered from those of its slave and table, whole values or parts of them, and zeros between.
func TestModbusWindows(t *testing.T) {
	type place struct{ slave, table, register int }
	var sends []Field
	words := map[place]uint16{} // high word first, as the registers stand on the wire
	var y []float64
	for slave := 1; slave <= 2; slave++ {
		for table, at := range map[RegisterTable][]int{Input: {4, 6, 9}, Holding: {4, 5, 8}} {
			for i, first := range at {
				v := uint32(1e6*slave + 1e5*int(table) + 1e4*i + 0x10000*7)
				sends = append(sends, register(fmt.Sprint(slave, table, i), U32, slave, table, first, HighFirst))
				if table == Holding && i == 0 { // one register
					v &= 0xFFFF
					sends[len(sends)-1].Type = U16
					words[place{slave, int(table), first}] = uint16(v)
				} else {
					words[place{slave, int(table), first}], words[place{slave, int(table), first + 1}] = uint16(v>>16), uint16(v)
				}
				y = append(y, float64(v))
			}
		}
	}
	s := NewModbusSlaves(sends, nil)
	for slave := 1; slave <= 2; slave++ {
		for table, function := range map[RegisterTable]byte{Input: ModbusReadInput, Holding: ModbusReadHolding} {
			last := map[RegisterTable]int{Input: 10, Holding: 9}[table]
			for first := 4; first <= last; first++ {
				for count := 1; first+count-1 <= last; count++ {
					ask := (&ModbusRequest{Slave: byte(slave), Function: function, StartRegister: first, Count: count}).Ask(nil)
					var f Frame
					s.Next(ask, &f)
					want := []byte{byte(slave), function, byte(2 * count)}
					for r := range count {
						want = binary.BigEndian.AppendUint16(want, words[place{slave, int(table), first + r}])
					}
					if got := s.Answer(nil, y); !bytes.Equal(got[:len(got)-2], want) {
						t.Fatalf("slave %d, table %v, %d registers from %d: % x, want % x", slave, table, count, first, got, want)
					}
					for k, fd := range sends { // a sensor that is lost fails the windows that it stands in, and no other
						asked := fd.Register.Slave == slave && fd.Register.Table == table && *fd.Register.Register < first+count &&
							*fd.Register.Register+fd.Type.Registers() > first
						was := y[k]
						y[k] = math.NaN()
						if got := s.Answer(nil, y); (got[1] != function) != asked {
							t.Fatalf("slave %d, table %v, %d registers from %d without %s: % x", slave, table, count, first, fd.Name, got)
						}
						y[k] = was
					}
				}
			}
		}
	}
}

func TestModbusAllocs(t *testing.T) {
	d, replies := bus()
	write := ModbusRequest{1, ModbusWriteMany, 0, 2, []Field{register("x", F32, 1, Holding, 0, HighFirst)}, []int{0}}
	var f Frame
	buf, u := make([]byte, 0, 64), []float64{1.5}
	if n := testing.AllocsPerRun(100, func() {
		d.Expect(0)
		d.Next(replies[0], &f)
		write.Fill(buf, u)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Whatever arrives, no byte is lost to the counters and nothing breaks.
func FuzzModbus(f *testing.F) {
	_, replies := bus()
	f.Add(replies[0], uint8(3))
	f.Add(append([]byte{1, 0x83}, replies[1]...), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		d, _ := bus()
		s := NewModbusSlaves([]Field{register("a", F32, 1, Holding, 1, LowFirst)}, []Field{register("u", U16, 1, Holding, 3, LowFirst)})
		var fr Frame
		for k, rest := 0, b; len(rest) > 0; k++ {
			d.Expect(k % 2)
			piece := rest[:min(len(rest), 1+int(cut)%9)]
			n, _ := d.Next(piece, &fr)
			if n < 1 || n > len(piece) {
				t.Fatal(n)
			}
			rest = rest[n:]
		}
		for rest := b; len(rest) > 0; {
			n, st := s.Next(rest, &fr)
			if st == Good {
				s.Answer(nil, []float64{1})
			}
			rest = rest[n:]
		}
		if d.Counters().Bytes != uint64(len(b)) || s.Counters().Bytes != uint64(len(b)) {
			t.Fatalf("%d bytes, counted %d and %d", len(b), d.Counters().Bytes, s.Counters().Bytes)
		}
	})
}
