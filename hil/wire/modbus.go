package wire

import (
	"encoding/binary"

	"hilrig/engine/numeric"
)

// Modbus RTU [MB06] [MB12]: a master asks, the slave with that address answers, and nobody else speaks. A frame is
//
//	address 1 byte · function 1 byte · data · CRC-16 2 bytes, low byte first
//
// with registers of 16 bits, high byte first. A reply does not say which registers it brings, so it belongs to the question that
// is open. A slave that refuses answers with the function + 128 and one byte, its reason.

// Functions of Modbus that are spoken here.
const (
	ModbusReadHolding = 3
	ModbusReadInput   = 4
	ModbusWriteOne    = 6
	ModbusWriteMany   = 16
	modbusRefuses     = 0x80 // added to the function of a refusal
)

// What fits a frame of 256 bytes.
const (
	ModbusMostRead  = 125 // registers
	ModbusMostWrite = 123
	modbusFrame     = 256 // bytes
)

// RegisterTable is one of the two tables of registers that a slave has.
type RegisterTable uint8

const (
	Holding RegisterTable = iota // read and written
	Input                        // read only
)

// Words are the names of the tables.
func (RegisterTable) Words() []string { return []string{"holding", "input"} }

func (t RegisterTable) String() string { return t.Words()[t] }

// WordOrder is the order of the registers of a number that takes several. Modbus leaves it open.
type WordOrder uint8

const (
	HighFirst WordOrder = iota
	LowFirst
)

// Words are the names of the orders.
func (WordOrder) Words() []string { return []string{"high-first", "low-first"} }

// Register is where a field stands on a Modbus slave.
type Register struct {
	Slave    int           `yaml:"slave" want:">=1 <=247" doc:"address of the slave on the bus"`
	Table    RegisterTable `yaml:"table" doc:"holding: read by function 3, written by 6 or 16; input: read by function 4"`
	Register *int          `yaml:"register,omitempty" want:">=0 <=65535" doc:"its first register, counted from 0: 100 is the one that manuals call 40101 in the holding and 30101 in the input table"`
	Order    WordOrder     `yaml:"words" doc:"order of the registers of a type of more than 16 bits"`
	Poll     float64       `yaml:"poll" unit:"Hz" want:">=0 <=1000" doc:"times per second that it is read; 0: the rate of the device"`
}

// Registers is the number of registers that a type takes; 0 where it takes none.
func (t Type) Registers() int { return types[t].size / 2 }

// putRegisters writes a raw number that is in range as registers.
func (t Type) putRegisters(b []byte, raw float64, order WordOrder) {
	var low [8]byte // little endian
	n := t.encode(low[:], raw) / 2
	for k := range n {
		at := n - 1 - k
		if order == LowFirst {
			at = k
		}
		b[2*at], b[2*at+1] = low[2*k+1], low[2*k]
	}
}

// getRegisters reads a raw number from registers.
func (t Type) getRegisters(b []byte, order WordOrder) float64 {
	var low [8]byte
	n := t.Registers()
	for k := range n {
		at := n - 1 - k
		if order == LowFirst {
			at = k
		}
		low[2*k+1], low[2*k] = b[2*at], b[2*at+1]
	}
	return t.get(low[:])
}

// ModbusRequest is one exchange: registers of a slave that follow each other, read or written at once.
type ModbusRequest struct {
	Slave         byte
	Function      byte
	StartRegister int     // register
	Count         int     // registers
	Fields        []Field // those that stand there; Register is set
	Index         []int   // of each, in the table of the device
}

// writes tells whether the request commands.
func (q *ModbusRequest) writes() bool {
	return q.Function == ModbusWriteOne || q.Function == ModbusWriteMany
}

// AskLen and ReplyLen are the lengths of both frames, in bytes; a refusal has 5.
func (q *ModbusRequest) AskLen() int {
	if q.Function == ModbusWriteMany {
		return 9 + 2*q.Count
	}
	return 8
}

func (q *ModbusRequest) ReplyLen() int {
	if q.writes() {
		return 8
	}
	return 5 + 2*q.Count
}

// Ask writes the question behind dst: of a request that reads.
func (q *ModbusRequest) Ask(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, q.Slave, q.Function, byte(q.StartRegister>>8), byte(q.StartRegister), byte(q.Count>>8), byte(q.Count))
	return appendModbusCRC(dst, at)
}

// Fill writes the frame that commands behind dst; u are the values of the whole table, in the units of its fields. Values are rounded
// and clamped as Encoder.Append does; ok is false, and dst unchanged, when one is not finite.
func (q *ModbusRequest) Fill(dst []byte, u []float64) (b []byte, ok bool) {
	at := len(dst)
	b = append(dst, q.Slave, q.Function, byte(q.StartRegister>>8), byte(q.StartRegister))
	if q.Function == ModbusWriteMany {
		b = append(b, byte(q.Count>>8), byte(q.Count), byte(2*q.Count))
	}
	var data [2 * ModbusMostWrite]byte
	for i := range q.Fields {
		f := &q.Fields[i]
		raw, ok := f.raw(u[q.Index[i]])
		if !ok {
			return dst, false
		}
		f.Type.putRegisters(data[2*(*f.Register.Register-q.StartRegister):], raw, f.Register.Order)
	}
	return appendModbusCRC(append(b, data[:2*q.Count]...), at), true
}

// begin is how an intact reply begins.
func (q *ModbusRequest) begin() []byte {
	b := []byte{q.Slave, q.Function, byte(2 * q.Count)}
	if q.writes() {
		b = append(b[:2], byte(q.StartRegister>>8), byte(q.StartRegister))
	}
	if q.Function == ModbusWriteMany {
		b = append(b, byte(q.Count>>8), byte(q.Count))
	}
	return b
}

// TurnDecoder decodes replies: what arrives belongs to the question that is open, and without one to nobody.
type TurnDecoder interface {
	Decoder
	// Expect names the question that was opened, by its place in the list that the decoder was made with; −1: none is open. What
	// came in of a frame before is forgotten.
	Expect(turn int)
}

// EchoDecoder is told what the open question wrote: a reply that should repeat it and does not says that something else was taken.
type EchoDecoder interface {
	// SetQuestion comes behind Expect; question are the first eight bytes, the first one lowest.
	SetQuestion(question uint64)
}

// QuestionHead is the beginning of a question for SetQuestion.
func QuestionHead(question []byte) uint64 {
	var b [8]byte
	copy(b[:], question)
	return binary.LittleEndian.Uint64(b[:])
}

// StreamDecoder decodes what comes by itself beside replies to questions.
type StreamDecoder interface {
	TurnDecoder
	// TurnEnded tells whether the frame that Next found last ends the open question. Good with FreshFields other than 0 is a sample all the
	// same.
	TurnEnded() bool
}

// ModbusDecoder is the master's decoder. Bytes that cannot begin the reply are left out one by one: lines that turn around may put
// a byte in front of it. A frame that begins as the reply and fails its CRC is Corrupt: the slave has answered.
type ModbusDecoder struct {
	requests []ModbusRequest
	begins   [][]byte
	echo     bool
	c        Counters
	misfit   Misfit
	turn     int    // −1: none
	skip     int    // bytes of our own question that are still to come back
	question uint64 // beginning of the open question
	compares bool   // … which is known
	n        int
	part     [modbusFrame]byte
}

// NewModbusDecoder decodes the replies to these requests. With echo, the line brings every question back before the reply.
func NewModbusDecoder(requests []ModbusRequest, echo bool) *ModbusDecoder {
	d := &ModbusDecoder{requests: requests, echo: echo, turn: -1}
	for i := range requests {
		d.begins = append(d.begins, requests[i].begin())
	}
	return d
}

// Expect opens a question; see TurnDecoder.
func (d *ModbusDecoder) Expect(turn int) {
	d.c.Resync += uint64(d.n)
	d.turn, d.n, d.skip, d.compares = turn, 0, 0, false
	if turn >= 0 && d.echo {
		d.skip = d.requests[turn].AskLen()
	}
}

// SetQuestion makes a reply of function 6 with another value than was asked for a refusal; see EchoDecoder. Replies of function 16 name no
// values.
func (d *ModbusDecoder) SetQuestion(question uint64) {
	d.question, d.compares = question, d.turn >= 0 && d.requests[d.turn].Function == ModbusWriteOne
}

// Reset closes the question.
func (d *ModbusDecoder) Reset() { d.Expect(-1) }

// Counters are owned by the decoder.
func (d *ModbusDecoder) Counters() *Counters { return &d.c }

// Misfit stays empty: a reply of another length is none.
func (d *ModbusDecoder) Misfit() *Misfit { return &d.misfit }

// Wrap is 0: replies carry no time.
func (d *ModbusDecoder) Wrap() int64 { return 0 }

// Next reads until the open question is answered; see Decoder. With Refused, f.Seq is the reason that the slave gave.
func (d *ModbusDecoder) Next(buf []byte, f *Frame) (n int, st Status) {
	for n < len(buf) {
		if d.turn < 0 {
			rest := uint64(len(buf) - n)
			d.c.Bytes += rest
			d.c.Resync += rest
			d.c.Foreign++
			return len(buf), More
		}
		d.c.Bytes++
		b := buf[n]
		n++
		if d.skip > 0 {
			d.skip--
			continue
		}
		d.part[d.n] = b
		d.n++
		for d.n > 0 && !d.fits() {
			d.n = copy(d.part[:], d.part[1:d.n])
			d.c.Resync++
		}
		if st = d.finishReply(f); st != More {
			d.turn, d.n = -1, 0
			return n, st
		}
	}
	return n, More
}

// fits tells whether what came in can be the beginning of the reply, or of a refusal.
func (d *ModbusDecoder) fits() bool {
	p, begin := d.part[:d.n], d.begins[d.turn]
	return sameBegin(p, begin) || p[0] == begin[0] && d.refusal()
}

// refusal tells whether what came in says that the slave refuses.
func (d *ModbusDecoder) refusal() bool {
	return d.n > 1 && d.part[1] == d.requests[d.turn].Function|modbusRefuses
}

// finishReply takes the reply once it is complete.
func (d *ModbusDecoder) finishReply(f *Frame) Status {
	refused, want := d.refusal(), 5
	if !refused {
		want = d.requests[d.turn].ReplyLen()
	}
	p := d.part[:d.n]
	switch {
	case len(p) < want:
		return More
	case modbusCRC(p[:want-2]) != binary.LittleEndian.Uint16(p[want-2:]):
		d.c.Malformed++
		d.c.Resync += uint64(want)
		return Corrupt
	case refused:
		f.Header = Header{Kind: Measurement, Seq: p[2]}
		return Refused
	case d.compares && QuestionHead(p) != d.question:
		f.Header = Header{Kind: Measurement, Seq: ModbusOtherValue}
		return Refused
	}
	d.values(p, f)
	d.c.Frames++
	return Good
}

// sameBegin tells whether both begin alike, as far as both go.
func sameBegin(p, begin []byte) bool {
	for i := range min(len(p), len(begin)) {
		if p[i] != begin[i] {
			return false
		}
	}
	return true
}

// values takes what a reply reads.
func (d *ModbusDecoder) values(p []byte, f *Frame) {
	q := &d.requests[d.turn]
	f.Header = Header{Kind: Measurement}
	if q.writes() {
		return
	}
	for i := range q.Fields {
		fd, k := &q.Fields[i], q.Index[i]
		f.V[k] = fd.value(fd.Type.getRegisters(p[3+2*(*fd.Register.Register-q.StartRegister):], fd.Register.Order))
		f.FreshFields |= 1 << k
		if !numeric.IsFinite(f.V[k]) {
			d.c.NonFinite++
		}
	}
}

// modbusTab[k][b] is the remainder of byte b followed by k zero bytes for the CRC-16 of Modbus: polynomial x¹⁶+x¹⁵+x²+1, bits
// reflected (0xA001), start 0xFFFF. Its check value over "123456789" is 0x4B37.
var modbusTab = func() (t [8][256]uint16) {
	for b := range 256 {
		r := uint16(b)
		for range 8 {
			if r&1 != 0 {
				r = r>>1 ^ 0xA001
			} else {
				r >>= 1
			}
		}
		t[0][b] = r
	}
	for k := 1; k < 8; k++ {
		for b := range 256 {
			r := t[k-1][b]
			t[k][b] = r>>8 ^ t[0][byte(r)]
		}
	}
	return t
}()

func modbusCRC(p []byte) uint16 { return CRC16Reflected(crcStart, p) }

// CRC16Reflected is the remainder of p by that polynomial behind a register that holds start: 0xFFFF for Modbus, 0 for ARC, whose check
// value is 0xBB3D.
func CRC16Reflected(start uint16, p []byte) uint16 {
	r := start
	for len(p) >= 8 {
		q := p[:8:8]
		r = modbusTab[7][q[0]^byte(r)] ^ modbusTab[6][q[1]^byte(r>>8)] ^
			modbusTab[5][q[2]] ^ modbusTab[4][q[3]] ^ modbusTab[3][q[4]] ^
			modbusTab[2][q[5]] ^ modbusTab[1][q[6]] ^ modbusTab[0][q[7]]
		p = p[8:]
	}
	for _, b := range p {
		r = r>>8 ^ modbusTab[0][byte(r)^b]
	}
	return r
}

// appendModbusCRC closes the frame that begins at dst[from].
func appendModbusCRC(dst []byte, from int) []byte {
	return binary.LittleEndian.AppendUint16(dst, modbusCRC(dst[from:]))
}
