package daemon

import (
	"fmt"
	"time"

	"hilrig/hil"
	"hilrig/hil/device"
	"hilrig/hil/protocol"
)

// pace compares how often a device sends, or answers, with what the file says.
type pace struct {
	declared float64 // 1/s  frames or replies with measurements; 0: none
	polled   bool    // they are replies

	windowStats device.Stats  // when the window began …
	windowStart time.Duration // … which began then
	offWindows  int           // windows in a row with more, or negative with less
	reportedAt  time.Duration // when it was told last; 0: never
}

const (
	paceWindow = 600 * time.Millisecond
	paceFrames = 20 // in a window, at least
	paceOff    = 4.0 / 3
)

// paceOf is what a plan says of the frames.
func paceOf(p *protocol.Plan) (out pace) {
	out.polled = len(p.Turns) > 0 && !p.Streams
	if out.polled {
		for i := range p.Turns {
			if t := &p.Turns[i]; !t.AtStart && t.Fill == nil {
				out.declared += 1 / t.Period.Seconds()
			}
		}
		return out
	}
	for _, g := range p.Groups {
		out.declared += g.Rate
	}
	return out
}

// paced tells when a device sends at another rate than the file says, after two windows that say so, and then once a minute at most. What
// was lost on the way was sent all the same.
func (a *arrivals) paced(now device.Stats, at time.Duration) {
	p := &a.pace
	window := max(paceWindow, time.Duration(paceFrames/p.declared*1e9))
	was := &p.windowStats
	switch {
	case !(p.declared > 0):
		return
	case now.Connected == 0 || was.Connected == 0 || now.Reconnects != was.Reconnects || now.Arrived < was.Arrived ||
		at-p.windowStart > 2*window+time.Second:
		p.windowStats, p.windowStart, p.offWindows = now, at, 0
		return
	case at-p.windowStart < window:
		return
	}
	n := now.Arrived - was.Arrived
	if !p.polled && n > 0 {
		n += now.LostFrames() - was.LostFrames() + now.Repeats - was.Repeats
	}
	rate := float64(n) / (at - p.windowStart).Seconds()
	p.windowStats, p.windowStart = now, at
	switch { // what a stalled host takes later is too little, and then too much
	case n > 0 && rate >= p.declared*paceOff:
		p.offWindows = max(p.offWindows, 0) + 1
	case n > 0 && rate <= p.declared/paceOff:
		p.offWindows = min(p.offWindows, 0) - 1
	default: // none: told as such
		p.offWindows = 0
	}
	if p.offWindows > -2 && p.offWindows < 2 || p.reportedAt != 0 && at-p.reportedAt < time.Minute {
		return
	}
	p.reportedAt = at
	name := a.cfg.Devices[a.dev].Name
	text := fmt.Sprintf("%s sends %.4g frames per second, the file says %.4g. What is stale, the filter and the share of the line go by the "+
		"file: set devices.%s.rate to what the board sends, or the board to what the file says", name, rate, p.declared, name)
	if p.polled {
		text = fmt.Sprintf("%s gives %.4g replies per second, the file asks for %.4g. What is stale and the filter go by the file: set "+
			"devices.%s.rate to what the line and the slaves can do (hil check adds it up), or look for slaves that do not answer", name, rate,
			p.declared, name)
	}
	a.emit(hil.Event{Time: time.Now(), Level: "warn", Code: "RATE", Text: text})
}
