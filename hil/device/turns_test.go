package device

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hilrig/hil/protocol"
	"hilrig/hil/rt"
	"hilrig/hil/wire"
)

// at is a field in registers of a slave; its value is what travels.
func at(name string, ty wire.Type, slave int, table wire.RegisterTable, register int) wire.Field {
	return wire.Field{Name: name, Type: ty, Scale: 1, Register: &wire.Register{Slave: slave, Table: table, Register: &register}}
}

// quick is a bus without parity whose ends need no time.
func quick() *protocol.Modbus {
	m := &protocol.Modbus{}
	m.SetDefaults()
	m.Parity, m.Delay, m.Latency, m.Silence = protocol.ParityNone, 0, 0, 1e-9
	return m
}

// slowClock runs a thousand times slower than the host's, and jumps when it is told to. So nothing times out unless a test says so,
// however long the test machine takes.
type slowClock struct{ ahead atomic.Int64 }

func (c *slowClock) now() int64 { return 1e15 + rt.Now()/1000 + c.ahead.Load() }

// master is a rig that asks over a pseudo-terminal, and its peer's end.
type master struct {
	*Rig
	clock slowClock
	peer  Port
	buf   []byte
	y     []float64
	wrote uint64 // bytes
}

func newMaster(t testing.TB, edit func(*Options)) *master {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("lines in tests need Linux")
	}
	m := &master{buf: make([]byte, 300)}
	peer, name, err := OpenPTY("")
	if err != nil {
		t.Fatal(err)
	}
	m.peer = peer
	o := Options{Name: "bus", Port: name, Protocol: quick(), Rate: 1e6, Loop: 1e6, TxCPU: -1, HostTime: m.clock.now}
	edit(&o)
	if m.Rig, err = NewRig(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close(); peer.Close() })
	m.y = make([]float64, wire.MaxFields)
	return m
}

func (m *master) start(t testing.TB) {
	t.Helper()
	if err := m.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func (m *master) stats() (s Stats) { m.Stats(&s); return s }

// jump lets time pass for the sending thread.
func (m *master) jump(d time.Duration) {
	m.clock.ahead.Add(int64(d))
	m.bell.ring()
}

// timeOut lets the open question time out.
func (m *master) timeOut(t testing.TB) {
	t.Helper()
	was := m.stats().Timeouts
	m.jump(110 * time.Millisecond) // a late reply may still come then
	until(t, "the question times out", func() bool { return m.stats().Timeouts > was })
}

// question reads one from the line. Everything must be questions.
func (m *master) question(t testing.TB) []byte {
	t.Helper()
	n := 0
	for end := time.Now().Add(10 * time.Second); ; {
		k, err := m.peer.Read(m.buf[n : n+1])
		if n += k; err != nil || time.Now().After(end) {
			t.Fatalf("no question: %v; % x; %+v", err, m.buf[:n], m.stats())
		}
		if n >= 8 && (m.buf[1] != wire.ModbusWriteMany || n == 9+int(m.buf[6])) {
			return m.buf[:n]
		}
	}
}

// write writes, and waits until the rig has taken it: what a thread that is kept waiting takes later would be late by its own fault.
func (m *master) write(t testing.TB, b []byte) {
	t.Helper()
	if _, err := m.peer.Write(b, time.Second); err != nil {
		t.Fatal(err)
	}
	m.wrote += uint64(len(b))
	until(t, "the bytes are in", func() bool { return m.stats().Bytes == m.wrote })
}

// checker watches what the decoder believes.
type checker struct {
	wire.TurnDecoder
	look func(f *wire.Frame)
}

func (c *checker) Next(buf []byte, f *wire.Frame) (n int, st wire.Status) {
	n, st = c.TurnDecoder.Next(buf, f)
	if st == wire.Good {
		c.look(f)
	}
	return n, st
}

// crc closes a frame as a slave does; a few lines from the standard's appendix, not those of package wire.
func crc(b ...byte) []byte {
	r := uint16(0xFFFF)
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
	return append(b, byte(r), byte(r>>8))
}

// faults plays a peer that answers rightly, late, wrongly, cut, twice, or not at all. Each register says which one it is, so a value under
// the wrong name shows.
func faults(t *testing.T, replies int) {
	var fields []wire.Field
	var ids []uint32
	for _, p := range [][2]int{{1, 10}, {1, 20}, {1, 30}, {2, 10}, {2, 20}, {3, 10}} { // six questions, replies of one shape
		fields = append(fields, at(fmt.Sprintf("s%d.r%d", p[0], p[1]), wire.U32, p[0], wire.Holding, p[1]))
		ids = append(ids, uint32(p[0]*100+p[1]))
	}
	m := newMaster(t, func(o *Options) { o.Measure = fields })
	var wrong, good atomic.Uint64
	m.expecter = &checker{m.expecter, func(f *wire.Frame) {
		for i := range fields {
			if f.FreshFields>>i&1 != 0 {
				if good.Add(1); uint32(f.V[i])>>16 != ids[i] {
					wrong.Add(1)
				}
			}
		}
	}}
	m.dec = m.expecter
	m.start(t)
	rng := rand.New(rand.NewPCG(20, 26))
	var last []byte // the reply before
	done := map[string]int{}
	for n := range replies {
		q := m.question(t)
		reg := binary.BigEndian.Uint16(q[2:])
		right := crc(q[0], q[1], 4, byte((uint16(q[0])*100+reg)>>8), byte(uint16(q[0])*100+reg), byte(n>>8), byte(n))
		kind := "right"
		switch rng.IntN(40) {
		case 0:
			kind = "late"
			m.timeOut(t)
			m.write(t, right)
		case 1:
			kind = "late and cut"
			m.timeOut(t)
			m.write(t, right[:rng.IntN(len(right))])
			m.jump(time.Second)
		case 2:
			kind = "cut"
			m.write(t, right[:rng.IntN(len(right))])
			m.timeOut(t)
			m.jump(time.Second)
		case 3:
			kind = "none"
			m.timeOut(t)
			m.jump(time.Second)
		case 4:
			kind = "of the slave asked before"
			if last == nil || last[0] == q[0] {
				m.write(t, right)
				break
			}
			m.write(t, last)
			m.timeOut(t)
			m.jump(time.Second)
		case 5:
			kind = "a bit turned"
			bad, at := slices.Clone(right), rng.IntN(len(right))
			bad[at] ^= 1 << rng.IntN(7)  // the eighth bit of the function would make it a refusal
			if m.write(t, bad); at < 3 { // no beginning of the reply: else its checksum ends the turn
				m.timeOut(t)
				m.jump(time.Second)
			}
		case 6:
			kind = "another length"
			m.write(t, crc(q[0], q[1], 2, right[3], right[4]))
			m.timeOut(t)
			m.jump(time.Second)
		case 7:
			kind = "refused"
			m.write(t, crc(q[0], q[1]|0x80, byte(1+rng.IntN(6))))
		case 8:
			kind = "twice"
			m.write(t, slices.Concat(right, right))
		case 9:
			kind = "rubbish before it"
			m.write(t, slices.Concat([]byte{0, 0xFF, q[0], 0x55}[:1+rng.IntN(4)], right))
		default:
			m.write(t, right)
		}
		done[kind]++
		last = right
	}
	s := m.stats()
	t.Logf("%d questions, %v; %d values, %d wrong; %+v", replies, done, good.Load(), wrong.Load(), s)
	if wrong.Load() != 0 {
		t.Errorf("%d wrong registers in %d", wrong.Load(), good.Load())
	}
	if good.Load() < uint64(replies)*7/10 || s.LateReplies == 0 || s.Refusals == 0 || s.Malformed == 0 {
		t.Errorf("%d values from %d questions, %+v", good.Load(), replies, s)
	}
	if tr := s.Trouble(m.turns); !strings.Contains(tr, "not answered in time, newest of slave ") || !strings.Contains(tr, "refused (") ||
		!strings.Contains(tr, "function 3") {
		t.Errorf("trouble: %q", tr)
	}
}

func TestBusFaults(t *testing.T) { faults(t, 800) }

// A reply that arrives in two pieces is one reply, and the end of a cut one is never taken for the next.
func TestReplyCutAtEveryByte(t *testing.T) {
	m := newMaster(t, func(o *Options) {
		o.Measure = []wire.Field{at("a", wire.I32, 1, wire.Holding, 4), at("b", wire.I32, 1, wire.Holding, 40)}
	})
	m.start(t)
	want := [2]float64{}
	k := 0 // of the question
	answer := func() (i int, reply []byte) {
		q := m.question(t)
		if q[3] == 40 {
			i = 1
		}
		k++
		return i, crc(1, 3, 4, 0, byte(1+i), 0, byte(k))
	}
	for cut := 1; cut < 9; cut++ {
		i, reply := answer()
		m.write(t, reply[:cut])
		m.write(t, reply[cut:])
		want[i] = float64(65536*(1+i) + k)
		until(t, "it is believed", func() bool { m.Poll(m.clock.now(), m.y); return m.y[i] == want[i] })
	}
	for cut := 1; cut < 9; cut++ { // its end comes with the next reply
		_, reply := answer()
		m.write(t, reply[:cut])
		m.timeOut(t)
		m.jump(time.Second)
		i, next := answer()
		m.write(t, slices.Concat(reply[cut:], next))
		want[i] = float64(65536*(1+i) + k)
		until(t, "the next one is believed", func() bool { m.Poll(m.clock.now(), m.y); return m.y[i] == want[i] })
		if old := m.y[1-i]; old != want[1-i] && old == old { // NaN: too old by now
			t.Fatalf("cut at %d: a value of half a reply: %v, want %v", cut, m.y[:2], want)
		}
	}
}

// A dry run asks, and never commands: every byte on the wire is one of a question that reads.
func TestDryRunAsksOnly(t *testing.T) {
	for _, dry := range []bool{true, false} {
		m := newMaster(t, func(o *Options) {
			o.Measure, o.DryRun = []wire.Field{at("a", wire.U16, 1, wire.Input, 4)}, dry
			o.Command, o.Safe = []wire.Field{at("u", wire.U16, 1, wire.Holding, 9)}, []float64{3}
		})
		m.start(t)
		var wrote, asked int
		for n := range 100 {
			m.Send([]float64{float64(n)})
			q := m.question(t)
			if q[1] == wire.ModbusReadInput {
				asked++
				m.write(t, crc(1, 4, 2, 0, byte(n)))
			} else {
				wrote++
				m.write(t, q[:8])
			}
		}
		closed := make(chan bool)
		go func() { m.Close(); close(closed) }()
		var tail []byte // the question under way, and safe frames
		for ended := false; !ended; {
			n, err := m.peer.Read(m.buf)
			tail = append(tail, m.buf[:n]...)
			select {
			case <-closed:
				ended = n == 0 || err != nil
			default:
			}
		}
		safe := strings.Count(string(tail), string(crc(1, 6, 0, 9, 0, 3)))
		if dry && (wrote+safe != 0 || asked != 100 || len(tail) > 8) {
			t.Errorf("a dry run wrote %d commands and %d safe frames; the line carried % x at the end", wrote, safe, tail)
		}
		if !dry && (wrote == 0 || asked == 0 || safe != 3) {
			t.Errorf("%d commands, %d questions, %d safe frames, want some, some and 3", wrote, asked, safe)
		}
	}
}

// Both ends of this program on one terminal: values of two slaves and their ages come in, commands go out, the safe values last.
func TestBusBothEnds(t *testing.T) {
	f32 := at("torque", wire.F32, 2, wire.Input, 6)
	f32.Register.Order = wire.LowFirst
	meas := []wire.Field{at("speed", wire.I16, 1, wire.Holding, 3), f32, at("count", wire.U32, 1, wire.Holding, 4)}
	cmd := []wire.Field{at("volts", wire.I16, 1, wire.Holding, 100), at("enable", wire.U16, 1, wire.Holding, 101),
		at("fan", wire.U16, 2, wire.Holding, 7)}
	section := quick()
	fw, err := NewFirmware(FirmwareOptions{Protocol: section, Recv: cmd, Send: meas})
	if err != nil {
		t.Fatal(err)
	}
	rig, err := NewRig(Options{Name: "x", Port: fw.Name(), Protocol: section, Measure: meas, Command: cmd, Safe: []float64{-1, 0, 9},
		Rate: 500, Loop: 500, TxCPU: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer fw.Close()
	defer rig.Close()
	names, _ := rig.Signals()
	if len(names) != 5 || names[3].Name != "slave1.holding3.age" || names[4].Name != "slave2.input6.age" {
		t.Fatalf("signals %v", names)
	}
	for _, l := range []interface{ Start(context.Context) error }{fw, rig} {
		if err := l.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	y, u := make([]float64, 5), make([]float64, 4)
	seen := uint64(0)
	for k := range 40 {
		want := []float64{float64(-k), float64(k) / 8, float64(70000 + k)}
		fw.Send(want)
		until(t, "the values arrive", func() bool {
			rig.Send([]float64{float64(k), 1, 5})
			seen |= rig.Poll(rt.Now(), y)
			return slices.Equal(y[:3], want) && y[3] < 1 && y[4] < 1
		})
		until(t, "the commands arrive", func() bool { fw.Poll(rt.Now(), u); return slices.Equal(u[:3], []float64{float64(k), 1, 5}) })
	}
	if seen != 31 {
		t.Errorf("fresh bits seen: %b, want 11111", seen)
	}
	rig.Close()
	until(t, "the safe values arrive", func() bool { fw.Poll(rt.Now(), u); return slices.Equal(u[:3], []float64{-1, 0, 9}) })
}

// Questions and replies allocate nothing.
func TestTurnsAllocate(t *testing.T) {
	m := newMaster(t, func(o *Options) {
		o.Measure = []wire.Field{at("a", wire.U16, 1, wire.Input, 4), at("b", wire.F32, 2, wire.Input, 4)}
		o.Command, o.Safe = []wire.Field{at("u", wire.U16, 1, wire.Holding, 9)}, []float64{0}
	})
	m.start(t)
	replies := map[byte][]byte{1: crc(1, 4, 2, 0, 7), 2: crc(2, 4, 4, 0, 0, 0, 0)}
	u := []float64{0}
	step := func() {
		u[0]++
		m.Send(u)
		q := m.question(t)
		if q[1] == wire.ModbusWriteOne {
			m.write(t, q)
		} else {
			m.write(t, replies[q[0]])
		}
		m.Poll(m.clock.now(), m.y)
	}
	for range 100 {
		step()
	}
	least := uint64(1 << 60)
	for range 3 { // the runtime allocates now and then by itself
		var m0, m1 runtime.MemStats
		runtime.ReadMemStats(&m0)
		for range 200 {
			step()
		}
		runtime.ReadMemStats(&m1)
		least = min(least, m1.Mallocs-m0.Mallocs)
	}
	if least > 8 {
		t.Errorf("%d allocations in 200 exchanges", least)
	}
}

// A safe frame goes out although a question is open, is repeated after the longest reply, and is the last word: a command from before it is
// not sent any more.
func TestSafeBetweenTurns(t *testing.T) {
	m := newMaster(t, func(o *Options) {
		o.Command, o.Safe, o.HostTime = []wire.Field{at("u", wire.U16, 1, wire.Holding, 9)}, []float64{3}, nil
		s := quick()
		s.Delay = 5e-3
		o.Protocol = s
	})
	m.start(t)
	m.Send([]float64{77})
	if q := m.question(t); q[5] != 77 {
		t.Fatalf("% x", q)
	}
	m.Send([]float64{78}) // waits behind the open question
	begin := time.Now()
	var wg sync.WaitGroup
	wg.Go(m.Safe)
	for range 3 {
		if q := m.question(t); q[5] != 3 {
			t.Fatalf("% x, want the safe frame", q)
		}
	}
	if d := time.Since(begin); d < 2*m.plan.Safe.Pause || m.plan.Safe.Pause < 5*time.Millisecond {
		t.Errorf("three safe frames in %v, pause %v", d, m.plan.Safe.Pause)
	}
	wg.Wait()
	m.Send([]float64{79})
	for {
		switch q := m.question(t); q[5] {
		case 78:
			t.Fatal("a command from before the safe frame was sent after it")
		case 79:
			return
		default:
			m.write(t, q)
		}
	}
}

// What comes once comes first, again behind every new opening, and nothing is fresh before it.
func TestOnceComesFirst(t *testing.T) {
	turns := []protocol.Turn{{Name: "poll", Period: time.Millisecond}, {Name: "identity", Period: time.Millisecond, AtStart: true, Group: -1},
		{Name: "name", Period: time.Millisecond, AtStart: true}}
	s := newSchedule(turns)
	s.reset(0)
	now := int64(0)
	ask := func(answered bool) int {
		k, at := s.next(now, 0, true)
		for k < 0 {
			now = at
			k, at = s.next(now, 0, true)
		}
		s.questionEnded(k, now, 0, answered)
		return k
	}
	for round := range 2 {
		for i, want := range []int{1, 1, 2, 0, 0} {
			if k := ask(i != 0); k != want {
				t.Errorf("round %d, question %d: %s, want %s", round, i, turns[k].Name, turns[want].Name)
			}
		}
		s.reset(now)
	}
	// all have come where all come once, and have
	once := newSchedule(turns[1:])
	for k := range once.turns {
		if once.allFinished() || s.allFinished() {
			t.Errorf("all have come before question %d, or where one is asked again and again", k)
		}
		once.questionEnded(k, 0, 0, true)
	}
	if !once.allFinished() {
		t.Error("all have been answered")
	}
}

// identified asks the second of its questions once.
type identified struct{ *protocol.Modbus }

func (s identified) Plan(t *protocol.Table) (*protocol.Plan, error) {
	p, err := s.Modbus.Plan(t)
	if err == nil {
		p.Turns[1].AtStart = true
	}
	return p, err
}

// The same over a line that is unplugged: the identity is asked until it is answered, then never again, and anew behind each opening.
func TestOnceBehindEachOpening(t *testing.T) {
	ends := make(chan Port, 2)
	m := newMaster(t, func(o *Options) {
		o.Measure, o.Protocol = []wire.Field{at("a", wire.U16, 1, wire.Holding, 4), at("identity", wire.U16, 1, wire.Holding, 40)},
			identified{quick()}
		o.Backoff = []time.Duration{time.Millisecond}
		o.OpenPort = func() (Port, error) {
			a, b, err := Pair()
			if err == nil {
				ends <- b
			}
			return a, err
		}
	})
	m.start(t)
	for round := range 2 {
		m.peer = <-ends
		for k := range 6 {
			q := m.question(t)
			if once := q[3] == 40; once != (k < 2) {
				t.Fatalf("opening %d: question %d is % x", round, k, q)
			}
			if k == 0 { // nobody answers
				m.timeOut(t)
				m.jump(time.Second)
				continue
			}
			m.write(t, crc(1, 3, 2, 0, byte(k)))
		}
		m.question(t) // one is open when the line goes away
		m.peer.Close()
	}
}
