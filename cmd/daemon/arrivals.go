package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hilrig/configs"
	"hilrig/engine/failure"
	"hilrig/hil"
	"hilrig/hil/device"
	"hilrig/hil/protocol"
)

// arrivals watches what the line brings and tells when no frame of a whole second fitted the table, with what came instead.
type arrivals struct {
	cfg          *configs.Config
	dev          int // number of the device
	emit         func(hil.Event)
	secondStats  device.Stats  // when the second began …
	secondStart  time.Duration // … which began then
	reportedKind string

	sentStats device.Stats  // when a command was written last …
	sentAt    time.Duration // … which was then
	deaf      bool          // told that none is
	jumps     uint64        // of the device's clock, as told last …
	jumpsTold time.Duration // … which was then

	turns          []protocol.Turn // of a device that answers questions
	unanswered     uint64          // questions, as told last …
	answersTold    time.Duration   // … which was then
	deviceRestarts uint64          // times the device began anew, as told last …
	begunTold      time.Duration   // … which was then

	stalledTold time.Duration // when it was told that its clock stands still; 0: not since it went on

	rates     uint64        // changes of the rate of its clock, as told last …
	ratesTold time.Duration // … which was then
	pace      pace
}

func (d *services) arrivalsLoop(ctx context.Context) {
	defer failure.Report()
	all, begin := make([]arrivals, len(d.cfg.Devices)), time.Now()
	for i := range all {
		all[i] = arrivals{cfg: d.cfg, dev: i, emit: d.bus.emit}
		if p, err := d.cfg.Plan(&d.cfg.Devices[i]); err == nil {
			all[i].turns, all[i].pace = p.Turns, paceOf(p)
		}
	}
	every(ctx, 100*time.Millisecond, func() {
		at := time.Since(begin)
		for i := range all {
			now := d.sup.Load().Link(i)
			all[i].update(now, at)
			all[i].commands(now, at)
			all[i].clock(now, at)
			all[i].answers(now, at)
			all[i].restarts(now, at)
			all[i].paced(now, time.Duration(now.Time)) // a starved supervisor sees old numbers, and then many at once
		}
	})
}

// answers tells of questions that were refused or not answered, at once and then once a minute at most.
func (a *arrivals) answers(now device.Stats, at time.Duration) {
	n := now.Timeouts + now.Refusals
	if n <= a.unanswered {
		a.unanswered = n
	} else if a.answersTold == 0 || at-a.answersTold >= time.Minute {
		a.emit(hil.Event{Time: time.Now(), Level: "warn", Code: "NO_REPLY", Text: fmt.Sprintf("%s since the start without a reply or refused: "+
			"%s. Compare address, registers, speed and parity with the slave; one that does not answer is asked less often",
			count(n, "question"), now.Trouble(a.turns))})
		a.unanswered, a.answersTold = n, at
	}
}

// restarts tells of a device that began anew and was started again, at once and then once a minute at most.
func (a *arrivals) restarts(now device.Stats, at time.Duration) {
	if now.DeviceRestarts <= a.deviceRestarts {
		a.deviceRestarts = now.DeviceRestarts
	} else if a.begunTold == 0 || at-a.begunTold >= time.Minute {
		a.emit(hil.Event{Time: time.Now(), Level: "warn", Code: "RESTARTED", Text: fmt.Sprintf("%s began anew, %s, and was started again. Was "+
			"its power cut, or does another program reset it?",
			a.cfg.Devices[a.dev].Name, strings.Replace(count(now.DeviceRestarts-a.deviceRestarts, "time"), "1 time", "once", 1))})
		a.deviceRestarts, a.begunTold = now.DeviceRestarts, at
	}
}

// commands tells when none could be written for a second, once until one can.
func (a *arrivals) commands(now device.Stats, at time.Duration) {
	switch {
	case now.TxFrames != a.sentStats.TxFrames || now.Connected == 0 || now.TxErrors <= a.sentStats.TxErrors:
		a.sentStats, a.sentAt, a.deaf = now, at, false
	case at-a.sentAt >= time.Second && !a.deaf:
		a.deaf = true
		a.emit(hil.Event{Time: time.Now(), Level: "error", Code: "NO_COMMANDS", Text: fmt.Sprintf("no command could be written to %s for a "+
			"second (%d tried): the board does not read, or flow control holds the line. The drive may keep its last command",
			a.cfg.Devices[a.dev].Port, now.TxErrors-a.sentStats.TxErrors)})
	}
}

// clock tells of jumps of the device's clock, at once and then once a minute at most.
func (a *arrivals) clock(now device.Stats, at time.Duration) {
	if now.ClockJumps <= a.jumps {
		a.jumps = now.ClockJumps
	} else if a.jumpsTold == 0 || at-a.jumpsTold >= time.Minute {
		a.emit(hil.Event{Time: time.Now(), Level: "warn", Code: "CLOCK", Text: fmt.Sprintf("the clock of %s jumped, %s: it was set, the board "+
			"started anew, it runs at another rate than the file says, or it wraps elsewhere. Ages of samples may be wrong until it is "+
			"mapped again",
			a.cfg.Devices[a.dev].Name, strings.Replace(count(now.ClockJumps-a.jumps, "time"), "1 time", "once", 1))})
		a.jumps, a.jumpsTold = now.ClockJumps, at
	}
	if stalled := time.Duration(now.ClockStalled); stalled == 0 {
		a.stalledTold = 0 // the next time it is told at once
	} else if stalled >= time.Second/2 && (a.stalledTold == 0 || at-a.stalledTold >= time.Minute) {
		what := "stands still or runs backwards"
		if w := time.Duration(now.ClockWrap); w > 0 {
			what = fmt.Sprintf("begins anew every %.3g s, where the file and the protocol know of no wrap", w.Seconds())
		}
		a.emit(hil.Event{Time: time.Now(), Level: "error", Code: "CLOCK", Text: fmt.Sprintf("the clock of %s %s, for %.1f s now, though frames "+
			"arrive: nobody knows how old its samples are, so they count as stale and the rig does not get ready. The board must send the time "+
			"of its samples (link: in µs, rising, all 32 bits; text lines: line.time_bits says after how many bits it wraps); a board with text "+
			"lines and no clock leaves line.time out",
			a.cfg.Devices[a.dev].Name, what, stalled.Seconds())})
		a.stalledTold = at
	}
	if now.ClockRates <= a.rates || now.DriftPPM != now.DriftPPM {
		a.rates = min(a.rates, now.ClockRates)
	} else if a.ratesTold == 0 || at-a.ratesTold >= time.Minute {
		a.emit(hil.Event{Time: time.Now(), Level: "warn", Code: "CLOCK", Text: fmt.Sprintf("the clock of %s went over to another rate, %s: it "+
			"runs %+.0f ppm against this computer's now. Until that was known its samples were dated by their arrival; a board whose crystal is "+
			"good does so never",
			a.cfg.Devices[a.dev].Name, strings.Replace(count(now.ClockRates-a.rates, "time"), "1 time", "once", 1), now.DriftPPM)})
		a.rates, a.ratesTold = now.ClockRates, at
	}
}

// update takes the counters at a time. A second without a frame is told, the same trouble once until frames arrive again.
func (a *arrivals) update(now device.Stats, at time.Duration) {
	last := a.secondStats
	switch {
	case now.Frames != last.Frames:
		a.reportedKind = ""
	case now.Connected == 0 || last.Connected == 0 || now.Bytes < last.Bytes: // told by the link; or a new core
	case at-a.secondStart < time.Second:
		return
	default:
		if kind, text := a.instead(&last, &now); kind != a.reportedKind {
			a.reportedKind = kind
			a.emit(hil.Event{Time: time.Now(), Level: "error", Code: "NO_FRAMES", Text: text})
		}
	}
	a.secondStats, a.secondStart = now, at
}

// instead says what came in a second that brought no frame. kind is the same for the same trouble.
func (a *arrivals) instead(last, now *device.Stats) (kind, text string) {
	d := &a.cfg.Devices[a.dev]
	line, clock := d.Protocol.Kind().Text, d.Line.Time
	var names []string
	for _, m := range d.Measure {
		if line {
			names = append(names, m.Name)
		} else {
			names = append(names, m.Name+" "+m.Type.String())
		}
	}
	if line && clock != "" && !slices.Contains(names, clock) {
		names = slices.Insert(names, 0, clock)
	}
	table := strings.Join(names, ", ")
	bytes, misfits := now.Bytes-last.Bytes, now.Misfits-last.Misfits
	switch {
	case bytes == 0:
		return "silent", fmt.Sprintf("nothing arrives on %s: no byte in a second. Is the board powered, sending, and on this port?", d.Port)
	case a.turns != nil:
		if a.cfg.Devices[a.dev].Protocol.Kind().Tracker {
			break
		}
		return "no replies", fmt.Sprintf("%d bytes a second arrive, and no whole reply: %d with a wrong checksum; %s. Are the slaves at %d "+
			"baud, with this parity and these addresses?", bytes, now.Malformed-last.Malformed, now.Trouble(a.turns), d.Baud)
	case misfits > 0 && line && strings.Count(now.Line(), "·") > 2:
		return "no text", fmt.Sprintf("what arrives is no text: %q. Is the protocol link, or the board at another speed than %d baud?",
			now.Line(), d.Baud)
	case misfits > 0 && line && int(now.Width) != len(names):
		return fmt.Sprint("columns ", now.Width), fmt.Sprintf("lines arrive with %s, the file has %d (%s): %q. Compare measure and line of the "+
			"device with what the board sends", count(now.Width, "column"), len(names), table, now.Line())
	case misfits > 0 && line:
		return "words", fmt.Sprintf("lines arrive in which a column is no number: %q; the file has %s. Compare measure and line of the device "+
			"with what the board sends", now.Line(), table)
	case misfits > 0:
		return fmt.Sprint("bytes ", now.Width), fmt.Sprintf("frames arrive whole, but with %s of data; those of the file have %d (%s). Compare "+
			"measure of the device with the table of the board", count(now.Width, "byte"), a.cfg.Budget(d).Rx.Data, table)
	case now.Repeats > last.Repeats:
		return "repeats", fmt.Sprintf("%d frames a second arrive, and each says the same as the one before at the same time of the board's "+
			"clock: the board hangs and its line repeats, or its clock stands still", now.Repeats-last.Repeats)
	case now.Foreign > last.Foreign:
		return "foreign", fmt.Sprintf("frames arrive that a host sends, not a board: %d in a second. Is this an echo, or the port of "+
			"another hil?", now.Foreign-last.Foreign)
	case line:
		return "no lines", fmt.Sprintf("%d bytes a second arrive, and no whole line: %d refused by their checksum, %d without an end. Is the "+
			"board at %d baud, and line.checksum as it sends?", bytes, now.Malformed-last.Malformed, now.Oversize-last.Oversize, d.Baud)
	}
	if k := d.Protocol.Kind(); k.Tracker {
		return "no frames", fmt.Sprintf("%d bytes a second arrive, and no frame with a measurement of the file: %d with a wrong checksum; %s. "+
			"Is the device at %d baud, and does it send what the file measures? hil decode --protocol %s shows what it sends",
			bytes, now.Malformed-last.Malformed, now.Trouble(a.turns), d.Baud, d.Protocol)
	}
	return "no frames", fmt.Sprintf("%d bytes a second arrive, and no whole frame: %d with a wrong checksum, %d without an end. Is the "+
		"board at %d baud, and does it speak the protocol link?", bytes, now.Malformed-last.Malformed, now.Oversize-last.Oversize, d.Baud)
}

// count is a number of things: "1 byte", "2 bytes".
func count(n uint64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
