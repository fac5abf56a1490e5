package daemon

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"hilrig/cmd/report"
	"hilrig/hil"
)

const (
	logWait    = 2 * time.Second // for what the log still holds when the run is over
	stuckAfter = 2 * time.Second // a reader that takes nothing for so long is told of
)

// openScreen puts outlets that never wait in front of the output and of the log: no reader may hold up what watches a rig.
func openScreen(out *io.Writer) (*report.Redrawn, *report.Outlets) {
	keepWriting()
	outlets := report.NewOutlets(*out, os.Stderr)
	screen := report.NewRedrawn(*out, nil) // which asks the terminal for its width
	screen.UseOutlets(outlets)
	*out = outlets.Stdout
	return screen, outlets
}

// outletLoop tells of a log that nobody reads, where events can still be read: recording, MQTT, page. What was lost is said in the log too
// when its reader is back.
func (d *services) outletLoop(ctx context.Context) {
	var stuck, failed bool
	var lost uint64
	var since time.Time
	every(ctx, time.Second, func() {
		s := d.bus.outlets.State()
		say := func(level, code, text string) {
			d.bus.emit(hil.Event{Time: time.Now(), Level: level, Code: code, Text: text})
		}
		switch {
		case s.StuckTime > stuckAfter && !stuck:
			stuck, since = true, time.Now().Add(-s.StuckTime)
			say("warn", "LOG_STUCK", "nobody reads the log: a paused terminal, or a program behind a pipe that hangs. Its lines wait, up to 1 MB "+
				"of them; further ones are dropped and counted. The rig runs on")
		case s.Err != nil && !failed:
			failed, since = true, time.Now()
			say("warn", "LOG_FAILED", fmt.Sprintf("the log cannot be written: %v. Lines are lost and counted; the rig runs on", s.Err))
		case stuck && s.StuckTime < stuckAfter, failed && s.Err == nil:
			stuck, failed = false, false
			say("info", "LOG_READ", fmt.Sprintf("the log is written again after %.0f s; %s of it lost", time.Since(since).Seconds(),
				count(s.LostLines-lost, "line")))
			lost = s.LostLines
		}
	})
}
