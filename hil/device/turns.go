package device

import (
	"hilrig/engine/failure"
	"hilrig/hil/rt"
	"hilrig/hil/wire"
)

// A line whose far end speaks only when it is asked. The sending thread owns the schedule, the receiving one completes a turn: the sender
// puts the turn into a word and writes the question; the receiver hands its number to the decoder, publishes what came, clears the word
// and rings. After a time-out the turn stays open as a late one, for as long as a late reply can take: otherwise that would answer the
// next question. A late reply ends the wait and counts as nothing else.

// The word of an open turn: its place + 1, whether it is late, and a number that no turn before it had.
const (
	turnBits = 8
	turnLate = 1 << turnBits
	turnOne  = 1 << (turnBits + 1)
)

// turnOf is the place of an open turn; −1: none is open.
func turnOf(word uint64) int { return int(word&(turnLate-1)) - 1 }

// longestSleep is how long a thread sleeps without looking whether the line is closing, ns.
const longestSleep = int64(100e6)

// ask is the sending thread of such a line.
func (l *line) ask() {
	defer failure.Report()
	defer l.wg.Done()
	l.pin()
	var (
		m     outgoing
		num   uint64 // of the newest command seen
		count uint64 // of turns
		on    *conn
		s     = newSchedule(l.turns)
		rest  rt.Rest
		most  = 0
	)
	for i := range l.turns {
		most = max(most, l.turns[i].AskLen)
	}
	buf := make([]byte, 0, most)
	begun := l.hostTime() // the start of the far end, last
	for !l.closing.Load() {
		rest.Due()
		l.outbox.Receive(&m)
		c := l.port.Load()
		if c == nil {
			l.doze(&m, 0, l.hostTime()+longestSleep)
			continue
		}
		if c != on {
			on = c
			begun = l.hostTime()
			s.reset(begun)
			l.replies.begin()
		}
		if l.restartRequested.Swap(false) || l.streamer != nil && s.allFinished() &&
			l.hostTime()-max(begun, l.board.newestArrival.Load()) > longestSilence {
			begun = max(l.hostTime(), begun+longestSilence/2) // one that keeps on beginning anew is not hurried
			s.reset(begun)
		}
		if m.Num != num {
			l.board.txDropped.Add(m.Num - num - 1)
			num = m.Num
		}
		if m.Gen != uint64(l.safeGen.Load()) { // overtaken by a safe frame
			s.drop(num)
		}
		k, at := s.next(l.hostTime(), num, !l.mute)
		if k < 0 {
			l.doze(&m, 0, at)
			continue
		}
		if free := l.heard.Load() + l.silence; free > l.hostTime() {
			l.doze(&m, 0, free)
			continue // perhaps something else is more urgent by now, or somebody still speaks
		}
		t, ok := &l.turns[k], true
		begin := l.hostTime()
		if t.Make != nil {
			if buf = t.Make(buf[:0]); len(buf) == 0 {
				s.finish(k)
				continue
			}
		} else if t.Fill == nil {
			buf = append(buf[:0], t.Ask...)
		} else if buf, ok = t.Fill(buf[:0], m.V[:len(l.sendFields)]); !ok {
			l.board.txErrors.Add(1)
			s.drop(num)
			continue
		}
		count++
		if l.exchange(&m, c, k, buf, count*turnOne|uint64(k+1)) {
			end := Confirmation(l.turnEnd.Load())
			s.questionEnded(k, begin, num, end != Unsent)
			if t.Fill != nil {
				l.replies.questionEnded(k, num, l.board.command(end)) // m may hold a newer one by now
			}
		} else {
			s.drop(num)
		}
	}
}

// longestSilence is how long a far end that sends by itself may be silent before it is started again, ns.
const longestSilence = int64(2e9)

// noteRestart notes that the far end has begun anew behind an open port: the sending thread starts it again.
func (l *line) noteRestart() {
	if l.news.N > l.startedAt { // it had been started
		l.startedAt = l.news.N
		l.board.deviceRestarts.Add(1)
		l.board.reconnects.Add(1)
	}
	l.clock.reset()
	l.previousFrame.HasTime = false
	l.restartRequested.Store(true)
}

// startAnswered takes the end of a question to a far end that sends by itself.
func (l *line) startAnswered(word uint64, st wire.Status) {
	switch {
	case word&turnLate != 0:
		l.board.lateReplies.Add(1)
	case st == wire.Refused:
		l.board.refusedTurn(turnOf(word), l.frame.Seq)
		l.turnEnd.Store(uint32(RefusedCommand))
	default:
		l.turnEnd.Store(uint32(Confirmed))
	}
}

// exchange asks one question and waits for its end; l.end then tells how it was answered. It returns false where the question was
// not written because a safe frame came first.
func (l *line) exchange(m *outgoing, c *conn, k int, question []byte, word uint64) bool {
	t := &l.turns[k]
	l.turnEnd.Store(uint32(Unsent))
	l.question.Store(wire.QuestionHead(question))
	l.turn.Store(word)
	l.wmu.Lock()
	// from before the write, which the far end may answer before it returns
	until := l.hostTime() + int64(float64(len(question))*l.perByte) + int64(t.ReplyTimeout)
	mine := !l.closing.Load() && (t.Fill == nil || m.Gen == uint64(l.safeGen.Load()))
	failed := mine && l.writeBytes(c, question) != nil
	l.wmu.Unlock()
	if !mine || failed {
		l.turn.Store(0)
		return mine
	}
	l.await(m, word, until)
	if l.turn.CompareAndSwap(word, word|turnLate) {
		l.board.timedOut(k)
		l.await(m, word|turnLate, until+int64(t.LateReplyPause))
		l.turn.CompareAndSwap(word|turnLate, 0)
	}
	return true
}

// await sleeps while the turn is as it was, until a time at most.
func (l *line) await(m *outgoing, word uint64, until int64) {
	for l.turn.Load() == word && l.hostTime() < until && !l.closing.Load() {
		l.doze(m, word, until)
	}
}

// doze sleeps until a time, a command, or the end of the turn, whichever comes first.
func (l *line) doze(m *outgoing, word uint64, until int64) {
	l.bell.arm()
	if l.outbox.Receive(m) || l.turn.Load() != word || l.closing.Load() {
		l.bell.disarm()
		return
	}
	l.bell.sleep(min(until-l.hostTime(), longestSleep))
}

// expect tells the decoder which turn is open, and returns its word.
func (l *line) expect(stamp int64) (word uint64) {
	if l.turns == nil {
		return 0
	}
	l.heard.Store(stamp)
	word = l.turn.Load()
	if word|turnLate != l.expectedTurn|turnLate {
		l.expecter.Expect(turnOf(word))
		if l.echoes != nil && word != 0 {
			l.echoes.SetQuestion(l.question.Load())
		}
	}
	l.expectedTurn = word
	return word
}

// answered takes what came for a turn.
func (l *line) answered(word uint64, st wire.Status, arrived int64) {
	k := turnOf(word)
	switch {
	case word&turnLate != 0:
		l.board.lateReplies.Add(1)
	case st == wire.Good:
		if l.frame.FreshFields != 0 {
			l.accept(arrived)
		}
		l.turnEnd.Store(uint32(Confirmed))
	case st == wire.Refused:
		l.board.refusedTurn(k, l.frame.Seq)
		l.turnEnd.Store(uint32(RefusedCommand))
	}
}

// close ends a turn, late by now or not, and wakes the sending thread.
func (l *line) close(word uint64) {
	if !l.turn.CompareAndSwap(word, 0) {
		l.turn.CompareAndSwap(word|turnLate, 0)
	}
	l.expectedTurn = 0
	l.bell.ring()
}

// answer says what the far end asked for. On a paced line it comes when its last bit would.
func (l *line) answer(asked int64) {
	c := l.port.Load()
	if c == nil {
		return
	}
	if l.enc == nil { // else the sending thread takes what there is to say
		l.outbox.Receive(&l.replyValues)
	}
	if l.reply = l.answers.Answer(l.reply[:0], l.replyValues.V[:len(l.sendFields)]); len(l.reply) == 0 {
		return
	}
	if l.writeAtEnd {
		rt.SleepUntil(asked+int64(float64(len(l.reply))*l.perByte), 0)
	}
	l.wmu.Lock()
	l.writeBytes(c, l.reply)
	l.wmu.Unlock()
}
