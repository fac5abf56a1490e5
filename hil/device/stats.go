package device

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"unicode"
	"unicode/utf8"

	"hilrig/hil/protocol"
	"hilrig/hil/wire"
)

// Stats is the state of a line since Start, as numbers only, so that it can lie in shared memory.
type Stats struct {
	// received; see wire.Counters
	Bytes, Frames, Repeats, Malformed, Oversize, Foreign, Gaps, Restarts, NonFinite, Resync uint64

	// frames that came whole and do not fit the table; see wire.Misfit and Line
	Misfits, Width uint64
	Text           [wire.TextLen / 8]uint64

	// sent
	TxFrames, TxBytes uint64
	TxErrors          uint64 // frames not or only partly written: timeout, no device, a value that is not finite
	TxDropped         uint64 // commands overtaken by a newer one before the line was free

	// questions, where the far end speaks only when it is asked; see protocol.Turn
	Timeouts    uint64 // not answered in time
	Silent      uint64 // 1 + the turn of the newest of these
	LateReplies uint64 // replies after the time-out
	Refusals    uint64
	Refusal     uint64 // of the newest: its reason + 256 · (1 + its turn)

	// commands in such questions
	CommandsRefused    uint64
	CommandsUnanswered uint64 // no good reply in time, or a damaged one
	Confirmation       uint64 // of the newest command: a Confirmation

	Time           int64  // ns  when this was so: whoever reads it may have been kept waiting
	Connected      uint64 // 1: the port is open
	Reconnects     uint64
	DeviceRestarts uint64  // of these, those in which the device said that it began anew behind an open port, and was started again
	OpenErrno      uint64  // number of the system's error that the last try to open the port ended with; 0: it is open, or no such number
	ClockJumps     uint64  // the device's clock was not where it should be, and was mapped anew
	ClockRates     uint64  // it went over to another rate
	ClockStalled   int64   // ns  it has not gone on for so long though frames came; 0: it goes on
	ClockWrap      int64   // ns  after which it begins anew though nobody said so, where that is why it has not gone on; 0: that is not why
	Arrived        uint64  // frames and replies with a measurement
	Age            int64   // ns  since the newest frame arrived; 0 before the first
	Offset         int64   // ns  host minus device clock at the newest frame, the smallest delay included; 0: no device clock
	DriftPPM       float64 // device clock against host clock, positive if it runs fast; NaN until known
	Residual       int64   // ns  99th percentile of the delay beyond the smallest
}

// LostFrames is the sum of frames that did not arrive as sent.
func (s *Stats) LostFrames() uint64 { return s.Malformed + s.Oversize + s.Gaps }

// Trouble says which questions were not answered, or refused, last; "" where all were answered.
func (s *Stats) Trouble(turns []protocol.Turn) string {
	var parts []string
	reason := wire.ModbusReason
	if k := int(s.Refusal>>8) - 1; k >= 0 && k < len(turns) && turns[k].Reason != nil {
		reason = turns[k].Reason
	}
	say := func(n, turn uint64, what string) {
		if n > 0 && turn > 0 && int(turn) <= len(turns) {
			parts = append(parts, fmt.Sprintf("%d %s, newest of %s", n, what, turns[turn-1].Name))
		}
	}
	say(s.Timeouts, s.Silent, "not answered in time")
	say(s.Refusals, s.Refusal>>8, "refused ("+reason(uint8(s.Refusal))+")")
	return strings.Join(parts, "; ")
}

// Line is the beginning of the newest text line that did not fit the table; what cannot be shown is a dot.
func (s *Stats) Line() string {
	var b [wire.TextLen]byte
	for i, w := range s.Text {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
	text, _, _ := bytes.Cut(b[:], []byte{0})
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) || c == utf8.RuneError {
			return '·'
		}
		return c
	}, string(text))
}

// board is where the threads of a line publish their numbers, each word by itself; a snapshot may fall between two. Of
// what was received the bytes are stored last and read first: who sees them sees all that they brought.
type board struct {
	rx             [12]atomic.Uint64
	text           [wire.TextLen / 8]atomic.Uint64
	txFrames       atomic.Uint64
	txBytes        atomic.Uint64
	txErrors       atomic.Uint64
	txDropped      atomic.Uint64
	timeouts       atomic.Uint64
	silent         atomic.Uint64
	lateReplies    atomic.Uint64
	refusals       atomic.Uint64
	refusal        atomic.Uint64
	denied         atomic.Uint64 // commands
	unanswered     atomic.Uint64 // commands
	connected      atomic.Uint64
	reconnects     atomic.Uint64
	deviceRestarts atomic.Uint64
	openErrno      atomic.Uint64
	jumps          atomic.Uint64
	rates          atomic.Uint64
	stalled        atomic.Int64 // ns  of the device's clock
	clockWrap      atomic.Int64 // ns
	arrived        atomic.Uint64
	newestArrival  atomic.Int64 // ns  arrival of the newest frame
	offset         atomic.Int64
	drift          atomic.Uint64 // bits of a float64
	residual       atomic.Int64
}

// received copies the decoder's counters.
func (b *board) received(c *wire.Counters, m *wire.Misfit) {
	if m.Count > 0 {
		for i := range b.text {
			b.text[i].Store(binary.LittleEndian.Uint64(m.Text[8*i:]))
		}
	}
	for i, v := range slices.Backward([]uint64{c.Bytes, c.Frames, c.Repeats, c.Malformed, c.Oversize, c.Foreign, c.Gaps, c.Restarts,
		c.NonFinite, c.Resync, m.Count, m.Width}) {
		b.rx[i].Store(v)
	}
}

// timedOut counts a question without an answer.
func (b *board) timedOut(turn int) {
	b.silent.Store(uint64(turn) + 1)
	b.timeouts.Add(1)
}

// refusedTurn counts a question that was refused, with the reason.
func (b *board) refusedTurn(turn int, reason uint8) {
	b.refusal.Store(uint64(turn+1)<<8 | uint64(reason))
	b.refusals.Add(1)
}

// command counts a command that was refused, or had no good reply, and returns what is known of it.
func (b *board) command(end Confirmation) Confirmation {
	switch end {
	case Confirmed:
	case RefusedCommand:
		b.denied.Add(1)
	default:
		b.unanswered.Add(1)
		end = UnansweredCommand
	}
	return end
}

// noteOpenError notes why the port could not be opened; nil: it is open.
func (b *board) noteOpenError(err error) {
	var why syscall.Errno
	if e, ok := err.(syscall.Errno); ok {
		why = e
	} else if err == errNoSerial {
		why = syscall.ENOTTY
	}
	b.openErrno.Store(uint64(why))
}

// OpenRefused says in words why the port cannot be opened; nil while it is open.
func (s *Stats) OpenRefused(port string) error {
	switch e := syscall.Errno(s.OpenErrno); {
	case s.Connected != 0 || e == 0:
		return nil
	case e == syscall.ENOTTY:
		return explain(port, errNoSerial)
	default:
		return explain(port, e)
	}
}

func (b *board) clock(c *clockFit) {
	b.jumps.Store(c.jumps)
	b.rates.Store(c.rates)
	b.offset.Store(c.offset())
	b.drift.Store(math.Float64bits(c.driftPPM()))
	b.residual.Store(int64(c.p99))
}

// read fills s.
func (b *board) read(s *Stats, now int64) {
	for i, p := range [...]*uint64{&s.Bytes, &s.Frames, &s.Repeats, &s.Malformed, &s.Oversize, &s.Foreign, &s.Gaps, &s.Restarts, &s.NonFinite,
		&s.Resync, &s.Misfits, &s.Width} {
		*p = b.rx[i].Load()
	}
	for i := range s.Text {
		s.Text[i] = b.text[i].Load()
	}
	s.TxFrames, s.TxBytes, s.TxErrors, s.TxDropped = b.txFrames.Load(), b.txBytes.Load(), b.txErrors.Load(), b.txDropped.Load()
	s.Timeouts, s.Silent, s.LateReplies, s.Refusals, s.Refusal = b.timeouts.Load(), b.silent.Load(), b.lateReplies.Load(), b.refusals.Load(),
		b.refusal.Load()
	s.CommandsRefused, s.CommandsUnanswered = b.denied.Load(), b.unanswered.Load()
	s.Time, s.DeviceRestarts = now, b.deviceRestarts.Load()
	s.Connected, s.Reconnects, s.OpenErrno, s.ClockJumps = b.connected.Load(), b.reconnects.Load(), b.openErrno.Load(), b.jumps.Load()
	s.ClockRates, s.ClockStalled, s.ClockWrap, s.Arrived = b.rates.Load(), b.stalled.Load(), b.clockWrap.Load(), b.arrived.Load()
	s.Offset, s.DriftPPM, s.Residual = b.offset.Load(), math.Float64frombits(b.drift.Load()), b.residual.Load()
	s.Age = 0
	if t := b.newestArrival.Load(); t != 0 {
		s.Age = max(0, now-t)
	}
}

// pacemaker publishes (stamp, count) of the newest frame for any number of readers without a lock: eight slots, so that
// a reader who loads the count, then its slot, then finds the count unchanged has a pair that belongs together.
type pacemaker struct {
	n     atomic.Uint64
	stamp [8]atomic.Int64
}

func (p *pacemaker) publish(stamp int64, n uint64) {
	p.stamp[n%8].Store(stamp)
	p.n.Store(n)
}

func (p *pacemaker) read() (stamp int64, n uint64) {
	for range 4 {
		n = p.n.Load()
		stamp = p.stamp[n%8].Load()
		if p.n.Load() == n {
			break
		}
	}
	return stamp, n
}
