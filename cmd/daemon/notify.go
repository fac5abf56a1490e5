package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"hilrig/engine/failure"
	"hilrig/hil"
)

// notifyEvery is how often a service manager that asked for no watchdog is told how the rig is.
const notifyEvery = time.Second

// serviceNotifier tells the service manager how the daemon is (sd_notify): ready once the self-test is over, alive while rows move, the
// mode in words, and that the run ends.
type serviceNotifier struct {
	rows  func() uint64   // that came from all cores
	mode  func() hil.Mode // of the newest row
	cause func() string   // of the newest row, in words; "": none
	send  func(text string)

	readyTold bool
	lastRows  uint64
	status    string // as last told
}

// step is called a few times within the watchdog's time.
func (n *serviceNotifier) step() {
	rows := n.rows()
	if rows == n.lastRows {
		return
	}
	n.lastRows = rows
	text := "WATCHDOG=1"
	mode := n.mode()
	// a rig that begins latched in TRIP or ESTOP has no self-test until somebody resets it: it is served, and waits for him
	if !n.readyTold && mode != hil.Init && mode != hil.SelfTest {
		n.readyTold = true
		text += "\nREADY=1"
	}
	status := "STATUS=mode " + mode.String()
	if cause := n.cause(); cause != "" {
		status += ": " + cause
	}
	if status != n.status {
		n.status = status
		text += "\n" + status
	}
	n.send(text)
}

// notifyManager tells the service manager, if there is one, how the daemon is. The returned function tells it that the run ends, unless
// the end of ctx has done so, and must be called at the end.
func (d *services) notifyManager(ctx context.Context) (stop func()) {
	if there, err := daemon.SdNotify(false, fmt.Sprintf("STATUS=%s is being started", d.cfg.Rig.Name)); !there {
		if err != nil {
			d.log.Warn(fmt.Sprintf("the service manager does not hear: %v", err))
		}
		return func() {}
	}
	every := notifyEvery
	if limit, err := daemon.SdWatchdogEnabled(false); err != nil {
		d.log.Warn(fmt.Sprintf("watchdog of the service manager: %v", err))
	} else if limit > 0 {
		every = min(every, limit/4)
	}
	send := func(text string) {
		if _, err := daemon.SdNotify(false, text); err != nil {
			d.log.Debug(fmt.Sprintf("the service manager does not hear: %v", err))
		}
	}
	n := serviceNotifier{rows: d.sup.Load().Rows, mode: d.sup.Load().Mode, send: send, cause: func() string {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.newestRow.Cause == hil.CauseNone {
			return ""
		}
		return d.newestRow.CauseText(&d.a.Schema)
	}}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer failure.Report()
		defer close(done)
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				send("STOPPING=1\nSTATUS=the run ends, the rig goes to its safe state")
				return
			case <-t.C:
				n.step()
			}
		}
	}()
	return func() { cancel(); <-done }
}
