package daemon

import (
	"fmt"
	"time"

	"hilrig/hil"
	"hilrig/hil/rt"
)

// witness turns rows into events: changes of mode, late ticks with their cause, the link going and coming. At most one
// line a second per kind; what was left out is counted into the next.
type witness struct {
	emit   func(hil.Event)
	wall   func(t int64) time.Time
	schema *hil.Schema
	mode   hil.Mode
	begun  bool
	link   bool      // link was down in the last row
	wait   int64     // ns  since when the self-test waits for the same thing; −1: told
	what   hil.Cause // that thing
	late   burst
	stat   steal
	brush  contactWitness
	Trips  uint64
}

// burst collects late ticks of one second.
type burst struct {
	from                         int64
	n, skipped                   uint64
	model, device, host, unknown uint64
	worst                        int32
	lastSeq                      uint64
}

func (w *witness) row(r *hil.Row) {
	// why was it late? The loop knows about model and device; what the host took shows in its processor accounting.
	if r.Flags&(hil.FlagLate|hil.FlagSkipped) != 0 {
		b := &w.late
		if b.n == 0 {
			b.from = r.T
		}
		b.n++
		b.skipped += uint64(r.Skip)
		b.worst = max(b.worst, r.Late)
		b.lastSeq = r.Seq
		switch {
		case r.Flags&hil.FlagLateModel != 0:
			b.model++
		case w.stat.stolen():
			b.host++
			r.Flags |= hil.FlagLateHost
		case r.Flags&hil.FlagLateDevice != 0:
			b.device++
		default:
			b.unknown++
		}
	}
	if b := &w.late; b.n > 0 && r.T-b.from > 1e9 {
		w.event(r, "warn", "LATE", fmt.Sprintf("%d late ticks in 1 s, %d skipped, worst %.2f ms; causes: model %d, device %d, host %d, woke late %d",
			b.n, b.skipped, float64(b.worst)/1e6, b.model, b.device, b.host, b.unknown))
		*b = burst{}
	}
	w.brush.row(w, r)
	if down := r.Flags&hil.FlagLinkDown != 0; down != w.link {
		w.link = down
		if down {
			w.event(r, "error", "LINK_DOWN", "the device is gone; trying to open the port again")
		} else {
			w.event(r, "info", "LINK_UP", "the device is back")
		}
	}
	if !w.begun || r.Mode != w.mode {
		level := "info"
		text := fmt.Sprintf("mode %s", r.Mode)
		if w.begun {
			text = fmt.Sprintf("mode %s → %s", w.mode, r.Mode)
		}
		if r.Cause != hil.CauseNone {
			text += " (" + r.Why(w.schema) + ")"
		}
		if r.Mode == hil.Trip || r.Mode == hil.Estop {
			level = "error"
			w.Trips++
		} else if r.Mode == hil.Hold && r.Cause != hil.CauseCommand {
			level = "warn"
		}
		w.event(r, level, "MODE", text)
		w.begun, w.mode = true, r.Mode
	}
	w.waits(r)
	if r.Req != 0 && r.Res != hil.Taken {
		w.event(r, "warn", "REFUSED", hil.RefusalText(r.Res, hil.Request(r.Req), r.Mode))
	}
}

// waits tells once what the self-test has been waiting for, when that has been the same for a second.
func (w *witness) waits(r *hil.Row) {
	switch {
	case r.Mode != hil.SelfTest || r.Cause != w.what:
		w.wait, w.what = r.T, r.Cause
	case w.wait >= 0 && r.T-w.wait > 1e9 && r.Cause != hil.CauseStart && r.Cause != hil.CauseCommand:
		w.wait = -1
		w.event(r, "warn", "WAITING", "not ready: "+r.Why(w.schema))
	}
}

func (w *witness) event(r *hil.Row, level, code, text string) {
	w.emit(hil.Event{Time: w.wall(r.T), Seq: r.Seq, Level: level, Code: code, Text: text})
}

// steal remembers whether the host took processor time away lately: /proc/stat, looked at ten times a second.
type steal struct {
	at   int64
	last uint64
	rose int64 // ns of rt.Now when steal last rose
}

func (s *steal) look() {
	now := rt.Now()
	if now-s.at < 100e6 {
		return
	}
	s.at = now
	ticks, err := rt.ReadCPUStat()
	if err != nil {
		return
	}
	var sum uint64
	for _, t := range ticks {
		sum += t.Steal
	}
	if sum > s.last && s.last > 0 {
		s.rose = now
	}
	s.last = sum
}

func (s *steal) stolen() bool { return s.rose != 0 && rt.Now()-s.rose < 200e6 }
