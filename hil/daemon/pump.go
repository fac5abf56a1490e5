package daemon

import (
	"context"
	"fmt"
	"time"

	"hilrig/engine/failure"
	"hilrig/hil"
	"hilrig/hil/device"
	"hilrig/hil/ring"
	"hilrig/hil/rt"
)

// A core whose row counter stands still for longer than stall is lost. A loop that was late by more than loop.overrun.limit trips by
// itself; it gets stallMargin beyond that to do so. Stalls of a shared host reach 30 ms, and a core without real-time scheduling stands
// still for longer beside a single program that computes. The time in which the supervisor itself did not run does not count. A core that
// a signal has stopped says so to the kernel, and is not waited for.
const (
	stopTime          = 20 * time.Millisecond
	stallMargin       = 50 * time.Millisecond
	stallTime         = 60 * time.Millisecond  // at least
	stallTimeOrdinary = 200 * time.Millisecond // at least, without real-time scheduling
	killWait          = 100 * time.Millisecond // for a killed core to be gone before the safe frames are sent
)

func (s *Supervisor) stall(fifo bool) time.Duration {
	least := stallTime
	if !fifo {
		least = stallTimeOrdinary
	}
	return max(least, time.Duration(s.a.Limit)+stallMargin, 4*time.Duration(s.a.Period))
}

// pump moves rows from the core to the sinks every 2 ms, beats, and watches. ended is true when the core stopped because
// it was asked to.
func (s *Supervisor) pump(ctx context.Context, h *handle, arm bool) (cause string, ended bool) {
	rows := h.sh.rows.Reader()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	var (
		counter  uint64
		still    time.Duration
		last     = rt.Now()
		stopping <-chan time.Time
		asked    bool
		ready    bool
		stall    time.Duration
		ran      int64 // ns  that the core had had a processor when it stood still for stopTime …
		ranAt    int64 // ns  … which was then; 0: it does not
		reset    bool
		started  = time.Now()
		start    = starter{commands: s.commands, event: s.event, active: arm}
	)
	stop := func() {
		if !asked {
			asked = true
			text := "stopping: the rig goes to its safe state first"
			if s.a.DryRun {
				text = "stopping; nothing was sent to the rig"
			}
			s.event("info", "STOP", text)
			h.memoryUsers.Go(func() {
				defer failure.Report()
				s.commands.Do(context.Background(), hil.Command{Name: "stop", Source: "local"})
				h.term()
			})
			stopping = time.After(3 * time.Second)
		}
	}
	ctxDone := ctx.Done()
	for {
		select {
		case <-ctxDone:
			ctxDone = nil
			stop()
		case why := <-h.done:
			s.drain(rows)
			if asked && h.sh.words.State.Load() == coreStopped {
				return why, true
			}
			return why, false
		case <-stopping:
			h.kill()
			return "the core did not stop when asked; killed", false
		case <-poll.C:
		}
		now := rt.Now()
		gap := time.Duration(now - last)
		last = now
		s.gap.Store(max(s.gap.Load(), int64(gap)))
		h.sh.words.Beat.Store(now)
		s.corePorts.ReceivePorts()
		s.events.stat.update()
		s.drain(rows)

		switch state := h.sh.words.State.Load(); {
		case state == coreReady && !ready:
			ready = true
			stall = s.stall(h.sh.words.Privs.Load()&privFIFO != 0)
			s.reportCoreUp(h)
		case state == coreStarting && time.Since(started) > 10*time.Second:
			h.kill()
			return "the core did not get ready within 10 s; killed", false
		}
		if !ready {
			continue
		}

		// the row counter is the core's heartbeat; count only time in which this process was awake
		if n := rows.Offered(); n != counter {
			counter, still, ranAt = n, 0, 0
		} else if still += min(gap, 10*time.Millisecond); asked || s.o.SingleProcess {
			// it may end in its own time
		} else if still > stopTime {
			if ranAt == 0 {
				ranAt = now
				ran, _ = h.ran()
			}
			if held := h.isStopped(); held || still > stall {
				why := ""
				if held {
					why = ": a signal had stopped it"
				} else if has, wants := h.ran(); wants && has-ran < (now-ranAt)/20 {
					s.starved = true
					why = ": it got no processor"
				}
				h.kill()
				select {
				case <-h.done:
				case <-time.After(killWait): // it hangs in the kernel; the rig cannot wait for that
				}
				return fmt.Sprintf("the core stood still for %v%s; killed", still.Round(time.Millisecond), why), false
			}
		}
		var st [device.MaxDevices]device.Stats
		if h.sh.link.Receive(&st) {
			s.refusal(&st)
			s.linkMu.Lock()
			s.links = st
			s.linkMu.Unlock()
		}

		// arm and run, one step at a time as the guard gets there
		if s.o.Reset && !reset && s.epoch == 1 && s.Mode().Latched() && !asked {
			reset = true
			go s.commands.Do(ctx, hil.Command{Name: "reset", Source: "local"})
		}
		if !asked {
			start.step(ctx, s.Mode(), time.Now())
		}
		if s.o.UntilTrip && s.events.Trips > 0 {
			stop()
		}
	}
}

// refusal tells why a port cannot be opened again, once per cause, and of optional devices that come and go: they trip nothing.
func (s *Supervisor) refusal(all *[device.MaxDevices]device.Stats) {
	for i, p := range s.a.Ports {
		st, before := &all[i], s.links[i].Connected
		switch {
		case st.Connected != 0:
			s.reportedErrno[i] = 0
		case st.OpenErrno != s.reportedErrno[i]:
			s.reportedErrno[i] = st.OpenErrno
			if err := st.OpenRefused(p.Path); err != nil {
				s.event("warn", "LINK_WAIT", p.Name+": "+err.Error())
			}
		}
		if p.Optional && st.Connected != before {
			text := p.Name + " is gone; it is optional, and the rig runs on"
			if st.Connected != 0 {
				text = p.Name + " is there"
			}
			s.event("info", map[bool]string{true: "LINK_UP", false: "LINK_DOWN"}[st.Connected != 0], text)
		}
	}
}

// reportCoreUp tells what the new core got from the host.
func (s *Supervisor) reportCoreUp(h *handle) {
	notes := h.sh.words.text()
	text := fmt.Sprintf("core up (epoch %d): real-time scheduling %s, memory %s", s.epoch,
		yesNo(h.sh.words.Privs.Load()&privFIFO != 0, "on", "not granted"), yesNo(h.sh.words.Privs.Load()&privLocked != 0, "locked", "not locked"))
	s.event("info", "CORE_UP", text)
	if notes != "" {
		s.event("warn", "UNPRIVILEGED", notes)
	}
	if s.o.OnCoreUp != nil {
		s.o.OnCoreUp(h.pid, h.sh.words.Privs.Load()&privFIFO != 0)
	}
}

func yesNo(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// drain hands every waiting row to the events and the sinks.
func (s *Supervisor) drain(rows *ring.Reader[hil.Row]) {
	var r hil.Row
	for rows.Pop(&r) {
		s.events.row(&r)
		s.commands.onRow(&r)
		if s.handOver.row(&r) {
			s.tellLatched()
		}
		s.lastMode.Store(uint32(r.Mode))
		s.rows.Add(1)
		if s.o.Row != nil {
			s.o.Row(&r)
		}
		for _, w := range s.fan {
			w.Push(&r)
		}
	}
	s.lostRows.Store(rows.Dropped())
}
