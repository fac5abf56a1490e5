package device

import (
	"math"
	"runtime"
	"time"

	"hilrig/engine/failure"
	"hilrig/hil/rt"
	"hilrig/hil/wire"
)

// receive is the receiving thread: read, stamp, decode, hand over; on loss of the port, open it anew. It never touches
// the sending side, so a peer that does not read cannot stop it.
func (l *line) receive(c *conn) {
	defer failure.Report()
	runtime.LockOSThread() // and never unlock: the thread ends with the goroutine
	defer l.wg.Done()
	buf := make([]byte, 4096)
	if c == nil {
		c = l.reopen(nil)
	}
	var rest rt.Rest
	for c != nil {
		rest.Due()
		n, err := c.Read(buf)
		stamp := l.hostTime()
		if n > 0 {
			l.decodeChunk(buf[:n], stamp)
		}
		if err != nil {
			c = l.reopen(c)
		}
	}
}

// decodeChunk decodes what one read brought. Each frame is dated back by the time that the bytes behind it took on the line,
// and hands over at the end, so that a burst costs the tick nothing.
func (l *line) decodeChunk(chunk []byte, stamp int64) {
	before, closing := l.news.N, false
	turn := l.expect(stamp)
	for rest := chunk; ; {
		n, st := l.dec.Next(rest, &l.frame)
		if rest = rest[n:]; st == wire.More {
			break
		}
		arrived := stamp - int64(float64(len(rest))*l.perByte)
		switch {
		case st == wire.Restarted:
			l.noteRestart()
			closing = true
		case l.streamer != nil:
			if st == wire.Good && l.frame.FreshFields != 0 && !l.repeated() {
				l.accept(arrived)
			}
			if turn != 0 && l.streamer.TurnEnded() {
				l.startAnswered(turn, st)
				closing = true
			}
		case l.turns != nil:
			l.answered(turn, st, arrived)
			closing = true
		case st != wire.Good || l.repeated():
		case l.answers == nil:
			l.accept(arrived)
		default:
			if l.frame.FreshFields != 0 {
				l.accept(arrived)
			}
			l.answer(stamp)
		}
	}
	if l.news.N > before {
		l.inbox.Publish(&l.news)
	}
	l.board.received(l.dec.Counters(), l.dec.Misfit())
	if closing {
		l.close(turn)
	}
}

// overtaken is how far (ns) the device's clock may lie back in a frame that a newer one overtook; further back it was set. More such frames
// than overtakenFrames in a row are no frames that one overtook: the clock runs backwards.
const (
	overtaken       = 20e6
	overtakenFrames = 8
)

// repeated tells, and counts, a frame that says the same as the one before at the same time of the device's clock: the device hangs
// and its line repeats. (A coarse clock may well stand still from one sample to the next; so may an axis at rest.) So is a frame that
// a newer one overtook: in its place it would be a sample from the past. A single one from long ago is a stray: a clock that was set back
// goes on from there.
func (l *line) repeated() bool {
	f, old := &l.frame, &l.previousFrame
	clocks := l.clocked && f.HasTime && old.HasTime
	same := clocks && f.Time == old.Time && f.FreshFields == old.FreshFields
	for i := range l.recvFields {
		same = same && math.Float64bits(f.V[i]) == math.Float64bits(old.V[i])
	}
	back := old.Time - f.Time
	past := clocks && back > 0 && (l.clock.wrap == 0 || back < l.clock.wrap/2) &&
		(back < overtaken && l.pastFrames < overtakenFrames || back >= overtaken && l.pastFrames == 0)
	if same || past {
		c := l.dec.Counters()
		c.Frames--
		c.Repeats++
	}
	if l.pastFrames++; !past {
		l.previousFrame, l.pastFrames = l.frame, 0
	}
	return same || past
}

// setBackWindow (ns): a clock that is set back twice within it, and between them went on by less than half of the time, is none: it runs
// backwards, or wraps where nobody said so. It counts as none for as long behind it.
const setBackWindow = 10e9

// setBacks looks for such a clock.
type setBacks struct {
	stepBack      int64 // ns  by which the newest frame went back; 0: it went on
	previous      int64 // ns  arrival of that frame …
	lapse         int64 // ns  … and by how much more the host saw pass since the frame before it than the clock went on
	newestArrival int64 // ns  arrival of the first frame behind the newest set-back; 0: none
	progress      int64 // ns  that the clock has gone on since
	invalidUntil  int64 // ns  arrival until which the clock is none
	wrap          int64 // ns  after which it begins anew, if that is why; 0: it runs backwards
}

// add takes the step (ns) of the clock to a frame that arrived at the given time. Where that is beyond the frame before the newest, that
// one was a stray and is no set-back.
func (s *setBacks) add(step, arrived int64) {
	s.progress += step
	if s.stepBack > 0 && step <= s.stepBack {
		if passed := arrived - s.newestArrival; s.newestArrival != 0 && passed < setBackWindow && 2*s.progress < passed {
			if s.invalidUntil, s.wrap = arrived+setBackWindow, 0; step > 0 {
				s.wrap = s.lapse
			}
		}
		s.newestArrival, s.progress = arrived, 0
	}
	s.stepBack, s.lapse, s.previous = max(0, -step), arrived-s.previous-step, arrived
}

// accept merges the frame that arrived at the given time. It may carry some of the fields only: only they are new, and only their groups.
func (l *line) accept(arrived int64) {
	l.news.N++
	l.news.Stamp = max(arrived, l.news.Stamp)
	stamp := l.news.Stamp
	if l.clocked && l.frame.HasTime {
		was := l.clock.reboots
		step := l.clock.add(l.frame.Time, arrived)
		l.board.reconnects.Add(l.clock.reboots - was)
		l.board.clock(&l.clock)
		// believe the line only for a frame that it describes
		if h := l.clock.host(); l.clock.n > 0 && !l.clock.wild && l.clock.raw == l.frame.Time && h <= stamp && stamp-h < 1e9 {
			stamp = h
		}
		l.board.stalled.Store(0)
		wrap, isClock := int64(0), step != 0
		if l.setBacks.add(step, arrived); arrived < l.setBacks.invalidUntil {
			wrap, isClock = l.setBacks.wrap, false
		}
		if !isClock { // sampled no later than the frame before, whenever it came
			stamp = min(stamp, l.clockStamp)
			l.board.stalled.Store(l.news.Stamp - stamp)
		}
		l.board.clockWrap.Store(wrap)
		l.clockStamp = stamp
	}
	for i := range l.recvFields {
		if l.frame.FreshFields>>i&1 != 0 {
			limit := int64(0)
			if l.maxAges != nil {
				limit = l.maxAges[i]
			}
			l.news.Field[i].update(l.frame.V[i], l.news.N, stamp, limit)
		}
	}
	for k := range l.groups {
		if uint64(l.groups[k].Fields)&l.frame.FreshFields != 0 {
			l.news.Group[k] = groupArrival{l.news.N, stamp}
		}
	}
	l.board.newestArrival.Store(l.news.Stamp)
	l.board.arrived.Store(l.news.N)
	l.pace.publish(stamp, l.news.N)
}

// reopen closes the port, if there is one, and opens it again, however long it takes; nil once the line is closing. Where
// nothing is ever collected, a try must leave next to nothing behind.
func (l *line) reopen(old *conn) *conn {
	if old != nil {
		l.port.Store(nil)
		l.close(l.turn.Load()) // nobody will answer
		l.board.connected.Store(0)
		old.Close()
		if l.opened != nil {
			l.opened(-1)
		}
	}
	wait := time.NewTimer(l.backoff[0])
	defer wait.Stop()
	for i := 1; !l.closing.Load(); i++ {
		select {
		case <-l.stopSignal:
			return nil
		case <-wait.C:
		}
		p, err := l.openPort()
		if err != nil {
			l.board.noteOpenError(err)
			wait.Reset(l.backoff[min(i, len(l.backoff)-1)])
			continue
		}
		// the device may have restarted, or be another one: its sequence and clock begin anew
		l.dec.Reset()
		l.clock.reset()
		l.setBacks = setBacks{}
		l.board.stalled.Store(0)
		l.previousFrame.HasTime = false
		l.board.reconnects.Add(1)
		c := l.connect(p)
		if l.closing.Load() { // closed in between, perhaps without having seen the new port
			l.board.connected.Store(0)
			c.Close()
			return nil
		}
		return c
	}
	return nil
}
