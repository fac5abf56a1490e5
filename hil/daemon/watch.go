package daemon

import (
	"fmt"
	"math"
	"slices"
	"time"

	"hilrig/hil"
	"hilrig/hil/rt"
)

// rowEvents turns rows into events: changes of mode, late ticks with their cause, the link going and coming.
type rowEvents struct {
	emit         func(hil.Event)
	wall         func(t int64) time.Time
	schema       *hil.Schema
	mode         hil.Mode
	hasMode      bool
	link         bool      // link was down in the last row
	absentDevice string    // the device that was
	wait         int64     // ns  since when the self-test waits for the same thing; −1: told
	waitCause    hil.Cause // what it waits for
	lateTicks    burst
	stat         steal
	levels       []levelEvents
	thermal      []float64 // s  time constant of the i²t budget of each axis
	feeds        []feedForwardEvents
	Trips        uint64

	minute        burst
	lateTold      int64      // ns  when late ticks were told last; 0: never
	lateAt        int64      // ns  of the newest one
	ran           bool       // the rig was energised
	tripped       string     // why it tripped last …
	cause         hil.Cause  // … of it
	rejectedTicks uint64     // ticks with samples that were not taken …
	refusedFrom   int64      // ns  … since then
	requests      []repeated // that were refused
	sickHolds     repeated   // for a sick sensor
	holdTold      bool       // the newest one was told
	notOff        bool       // a drive was not off in the newest row
	offs          repeated   // of it
	offTold       bool       // the newest of them was told
}

// repeated is something that is told at once, and then once a second, with the number of times, for as long as it goes on.
type repeated struct {
	req        hil.Request
	res        hil.Refusal
	text       string // of the newest
	reportTime int64  // ns
	reported   bool   // it was told before
	n          uint64 // times since
}

// record counts one at t (ns); true: it is to be told now.
func (p *repeated) record(t int64, text string) bool {
	p.text = text
	if p.reported && t-p.reportTime < 1e9 {
		p.n++
		return false
	}
	p.reportTime, p.reported = t, true
	return true
}

// due is what is to be told of those that were not; "": nothing.
func (p *repeated) due(t int64) string {
	if p.n == 0 || t-p.reportTime < 1e9 {
		return ""
	}
	text := fmt.Sprintf("%d more times in %.1f s: %s", p.n, float64(t-p.reportTime)/1e9, p.text)
	p.reportTime, p.n = t, 0
	return text
}

// burst collects the late ticks of a stretch of time.
type burst struct {
	startTime                    int64
	ticks, n, skipped            uint64
	model, device, host, unknown uint64
	worst                        int32
}

// Late ticks are told once a minute at most: at once where they are more than a hundredth of a second's, else when a minute is over.
const (
	lateShare = 0.01
	lateEvery = 60e9 // ns
)

// deadline counts the row's lateness, and tells.
func (w *rowEvents) deadline(r *hil.Row) {
	b, m := &w.lateTicks, &w.minute
	if b.ticks > 0 && r.T-b.startTime >= 1e9 { // a second is over
		many := float64(b.n+b.skipped) > lateShare*float64(b.ticks) && (w.lateTold == 0 || r.T-w.lateTold >= lateEvery)
		m.add(b)
		*b = burst{}
		if many || r.T-m.startTime >= lateEvery {
			if m.n > 0 {
				w.reportLate(r, m)
				w.lateTold = r.T
			}
			*m = burst{}
		}
	}
	if b.ticks == 0 {
		b.startTime = r.T
	}
	b.ticks += 1 + uint64(r.Skip)
	// why was it late? The loop knows about model and device; what the host took shows in its processor accounting.
	if r.Flags&(hil.FlagLate|hil.FlagSkipped) != 0 {
		b.n, w.lateAt = b.n+1, r.T
		b.skipped += uint64(r.Skip)
		b.worst = max(b.worst, r.Lateness)
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
}

func (b *burst) add(o *burst) {
	if b.ticks == 0 {
		b.startTime = o.startTime
	}
	b.ticks, b.n, b.skipped, b.worst = b.ticks+o.ticks, b.n+o.n, b.skipped+o.skipped, max(b.worst, o.worst)
	b.model, b.device, b.host, b.unknown = b.model+o.model, b.device+o.device, b.host+o.host, b.unknown+o.unknown
}

func (w *rowEvents) reportLate(r *hil.Row, b *burst) {
	text := fmt.Sprintf("%d of %d ticks late in %.0f s, %d skipped, worst %.2f ms; causes:", b.n, b.ticks, float64(r.T-b.startTime)/1e9,
		b.skipped, float64(b.worst)/1e6)
	for _, c := range []struct {
		n     uint64
		cause string
	}{{b.model, "model"}, {b.device, "device"}, {b.host, "host"}, {b.unknown, "woke late"}} {
		if c.n > 0 {
			text += fmt.Sprintf(" %s %d,", c.cause, c.n)
		}
	}
	text = text[:len(text)-1]
	if quiet := r.T - w.lateAt; quiet > 5e9 {
		text += fmt.Sprintf("; none in the last %.0f s", float64(quiet)/1e9)
	}
	w.event(r, "warn", "LATE", text)
}

func (w *rowEvents) row(r *hil.Row) {
	w.deadline(r)
	w.samples(r)
	for i := range w.levels {
		w.levels[i].row(w, r)
	}
	for i := range w.feeds {
		w.feeds[i].row(w, r)
	}
	if down := r.Flags&hil.FlagLinkDown != 0; down != w.link {
		w.link = down
		if down {
			w.absentDevice = "a device"
			if at := int(r.CauseSignal) - 1; r.Cause == hil.CauseLink && at >= 0 {
				w.absentDevice = w.schema.Channels()[at].Owner
			}
			w.event(r, "error", "LINK_DOWN", w.absentDevice+" is gone, or began anew: its port is opened again, its position may be another one")
		} else {
			w.event(r, "info", "LINK_UP", w.absentDevice+" is back")
		}
	}
	if r.Flags&hil.FlagLatched != 0 {
		w.tripped, w.cause = r.CauseText(w.schema), r.Cause
		w.event(r, "error", "LATCHED", fmt.Sprintf("mode %s (%s): the core or the run before ended so. Find out why, then reset", r.Mode,
			w.tripped))
		w.hasMode, w.mode = true, r.Mode
	}
	w.repeats(r)
	if now := r.Flags&hil.FlagNotOff != 0; now != w.notOff {
		w.notOff = now
		if text := notOff(r, w.schema); now {
			if w.offTold = w.offs.record(r.T, text); w.offTold {
				w.event(r, "error", "NOT_OFF", fmt.Sprintf("mode %s: %s", r.Mode, text))
			}
		} else if w.offTold {
			w.event(r, "info", "OFF", fmt.Sprintf("mode %s: nothing tells any more that a drive is not off", r.Mode))
		}
	}
	if (!w.hasMode || r.Mode != w.mode) && !w.chatters(r) {
		level := "info"
		text := fmt.Sprintf("mode %s", r.Mode)
		if w.hasMode {
			text = fmt.Sprintf("mode %s → %s", w.mode, r.Mode)
		}
		if r.Cause != hil.CauseNone {
			text += " (" + r.CauseText(w.schema) + ")"
		}
		if r.Mode == hil.Trip || r.Mode == hil.Estop {
			level = "error"
			w.Trips++
			w.tripped, w.cause = r.CauseText(w.schema), r.Cause
		} else if r.Mode == hil.Hold && r.Cause != hil.CauseCommand {
			level = "warn"
		}
		w.event(r, level, "MODE", text)
	}
	w.hasMode, w.mode = true, r.Mode
	w.ran = w.ran || r.Mode.Energised()
	w.waits(r)
	if r.Req != 0 && r.Res != hil.Taken {
		w.refusal(r)
	}
}

// refusalText says why the request of a row was not taken. While a winding is hot it says how long that lasts; thermal (s) are the time
// constants of the axes.
func refusalText(r *hil.Row, schema *hil.Schema, thermal []float64) string {
	text := hil.RefusalText(r.Res, hil.Request(r.Req), r.Mode)
	if r.Res != hil.StillWrong(hil.CauseThermal) {
		return text
	}
	for i, name := range schema.Axes() {
		at := schema.Find(hil.Modelled, name, hil.RoleHeat)
		if i >= len(thermal) || at < 0 {
			continue
		}
		if wait := hil.CoolingTime(r.X[at], thermal[i]); wait > 0 {
			text += fmt.Sprintf(". %s has used %.2f of its budget: it takes about %.0f s without a current", name, r.X[at], math.Ceil(wait))
		}
	}
	return text
}

// refusal tells of a request that was not taken.
func (w *rowEvents) refusal(r *hil.Row) {
	q := hil.Request(r.Req)
	i := slices.IndexFunc(w.requests, func(p repeated) bool { return p.req == q && p.res == r.Res })
	if i < 0 {
		i = len(w.requests)
		w.requests = append(w.requests, repeated{req: q, res: r.Res})
	}
	if p := &w.requests[i]; p.record(r.T, refusalText(r, w.schema, w.thermal)) {
		w.event(r, "warn", "REFUSED", p.text)
	}
}

// chatters keeps the way to HOLD for a sick sensor and back out of the events where it is gone more than once a second.
func (w *rowEvents) chatters(r *hil.Row) bool {
	switch {
	case w.mode == hil.Run && r.Mode == hil.Hold && r.Cause != hil.CauseCommand && r.Cause != hil.CauseLateTicks:
		w.holdTold = w.sickHolds.record(r.T, r.CauseText(w.schema))
		return !w.holdTold
	case w.mode == hil.Hold && r.Mode == hil.Run && r.Cause == hil.CauseNone:
		return !w.holdTold
	}
	return false
}

// repeats tells how often something happened that is told once a second.
func (w *rowEvents) repeats(r *hil.Row) {
	for i := range w.requests {
		if text := w.requests[i].due(r.T); text != "" {
			w.event(r, "warn", "REFUSED", text)
		}
	}
	if text := w.offs.due(r.T); text != "" {
		w.event(r, "error", "NOT_OFF", text)
	}
	if text := w.sickHolds.due(r.T); text != "" {
		w.event(r, "warn", "CHATTER", "from RUN to HOLD and back, "+text+". The sensor is blind again and again: its wiring, its rate. More "+
			"than guard.hold_time of it within a second trips")
	}
}

// samples tells of samples that were not taken, once a second, and of every jump of the position.
func (w *rowEvents) samples(r *hil.Row) {
	if r.Flags&hil.FlagRefused != 0 {
		if w.rejectedTicks == 0 {
			w.refusedFrom = r.T
		}
		w.rejectedTicks++
	}
	if w.rejectedTicks > 0 && r.T-w.refusedFrom > 1e9 {
		w.event(r, "warn", "SAMPLES", fmt.Sprintf("%d samples in 1 s were not taken: position or current out of range, of no believable time, "+
			"or nothing that this axis can do", w.rejectedTicks))
		w.rejectedTicks = 0
	}
	if r.Flags&hil.FlagJump != 0 {
		w.event(r, "warn", "JUMP", "the position jumped as no axis can, and stays there: it is taken as the new position")
	}
}

// waits tells once what the self-test has been waiting for, when that has been the same for a second.
func (w *rowEvents) waits(r *hil.Row) {
	switch {
	case r.Mode != hil.SelfTest || r.Cause != w.waitCause:
		w.wait, w.waitCause = r.T, r.Cause
	case w.wait >= 0 && r.T-w.wait > 1e9 && r.Cause != hil.CauseStart && r.Cause != hil.CauseCommand:
		w.wait = -1
		w.event(r, "warn", "WAITING", "not ready: "+r.CauseText(w.schema))
	}
}

func (w *rowEvents) event(r *hil.Row, level, code, text string) {
	w.emit(hil.Event{Time: w.wall(r.T), Seq: r.Seq, Level: level, Code: code, Text: text})
}

// steal remembers whether the host took processor time away lately: /proc/stat, looked at ten times a second.
type steal struct {
	readTime  int64
	lastSteal uint64
	rose      int64 // ns of rt.Now when steal last rose
}

func (s *steal) update() {
	now := rt.Now()
	if now-s.readTime < 100e6 {
		return
	}
	s.readTime = now
	ticks, err := rt.ReadCPUStat()
	if err != nil {
		return
	}
	var sum uint64
	for _, t := range ticks {
		sum += t.Steal
	}
	if sum > s.lastSteal && s.lastSteal > 0 {
		s.rose = now
	}
	s.lastSteal = sum
}

func (s *steal) stolen() bool { return s.rose != 0 && rt.Now()-s.rose < 200e6 }
