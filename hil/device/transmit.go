package device

import (
	"fmt"
	"runtime"

	"hilrig/engine/failure"
	"hilrig/hil/rt"
	"hilrig/hil/wire"
)

// Send leaves the command for the sending thread; the newest wins. It never waits and allocates nothing, whatever the
// peer does.
func (l *line) Send(u []float64) {
	if l.mute || l.closing.Load() {
		return
	}
	m := &l.mail
	m.Num++
	m.Stamp = l.hostTime()
	if !l.clocked && l.sampled != 0 {
		m.Stamp = l.sampled // a board stamps the moment it sampled, not the moment it got round to sending
	}
	m.Gen = uint64(l.safeGen.Load())
	copy(m.V[:len(l.sendFields)], u)
	l.outbox.Publish(m)
	l.bell.ring()
}

// transmit is the sending thread. It takes a command only when the line has carried the one before, so the newest is
// never queued behind older ones in the kernel.
func (l *line) transmit() {
	defer failure.Report()
	defer l.wg.Done()
	l.pin()
	var (
		m     outgoing
		last  uint64 // Num of the command before
		seq   uint8
		quiet int64 // when the line is free
		buf   = make([]byte, 0, l.enc.MaxLen()+8)
	)
	var rest rt.Rest
	for {
		rest.Due()
		l.next(&m)
		if !l.writeAtEnd && quiet > l.hostTime() {
			rt.SleepUntil(quiet, 0)
			l.outbox.Receive(&m) // perhaps there is a newer one by now
		}
		if l.closing.Load() {
			return
		}
		l.board.txDropped.Add(m.Num - last - 1)
		last = m.Num
		if m.Gen != uint64(l.safeGen.Load()) {
			l.board.txDropped.Add(1)
			continue
		}
		c := l.port.Load()
		if c == nil {
			l.board.txErrors.Add(1)
			continue
		}
		buf = buf[:0]
		if l.opens || c.torn.Load() {
			buf = l.enc.Resync(buf)
		}
		h := wire.Header{Kind: l.kind, Seq: seq, HasTime: true, Time: l.device(m.Stamp), FreshFields: wire.AllFields(len(l.sendFields))}
		if l.kind == wire.Measurement { // a sensor that says nothing: its field is not in the frame
			for i, x := range m.V[:len(l.sendFields)] {
				if x != x {
					h.FreshFields &^= 1 << i
				}
			}
			if h.FreshFields == 0 {
				continue
			}
		}
		var ok bool
		if buf, ok = l.enc.Append(buf, h, m.V[:len(l.sendFields)]); !ok {
			l.board.txErrors.Add(1)
			continue
		}
		if len(buf) == 0 { // a far end that was not started
			continue
		}
		seq++
		took := int64(float64(len(buf)) * l.perByte)
		if l.writeAtEnd {
			rt.SleepUntil(m.Leave, 0)
		}
		l.frameLen.Store(uint64(len(buf)))
		l.wmu.Lock()
		// a safe frame that went out meanwhile must stay the last word
		if !l.closing.Load() && m.Gen == uint64(l.safeGen.Load()) {
			l.writeBytes(c, buf)
		}
		l.wmu.Unlock()
		quiet = l.hostTime() + took
	}
}

// pin gives the sending goroutine a thread of its own, on its processor.
func (l *line) pin() {
	runtime.LockOSThread() // and never unlock: the thread ends with the goroutine
	if l.txCPU >= 0 {
		if err := rt.PinThread(l.txCPU); err != nil {
			err = fmt.Errorf("%s: sending thread: %w", l.name, err)
			l.pinErr.Store(&err)
		}
	}
}

// next waits for a command, or for the end.
func (l *line) next(m *outgoing) {
	for !l.outbox.Receive(m) && !l.closing.Load() {
		l.bell.arm()
		if l.outbox.Receive(m) {
			l.bell.disarm()
			return
		}
		if !l.closing.Load() {
			l.bell.sleep(longestSleep)
		}
	}
}
