package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hilrig/engine/failure"
	"hilrig/hil"
	"hilrig/hil/device"
	"hilrig/hil/ring"
	"hilrig/hil/rt"
)

// Options of a supervisor. The sinks get every row; Emit gets every event.
type Options struct {
	Config        []byte // handed to the core as it is
	Log           string // file for the core's last words
	SingleProcess bool   // the loop runs in this process: not real time
	Arm           bool   // arm and run as soon as the rig is ready (the demo, --arm)
	UntilTrip     bool   // end the run at the first trip
	Reset         bool   // a person wants what the run before left latched to be reset
	Sinks         []Sink
	Emit          func(hil.Event)
	Before        hil.Before                      // what the run before left
	Latched       func()                          // something latched or was reset, for the next run: see Left; must not block; may be nil
	Offered       func(p hil.Params, t int64)     // a parameter block goes to the tick; for the recording
	InForce       func(p hil.Params, from string) // … is in force, and who asked for it
	Row           func(*hil.Row)                  // sees every row in the pump, must not block
	Up            func(pid int, fifo bool)        // a core has begun to tick; may be nil
}

// Supervisor starts the core, watches it, pumps its rows to the sinks, and brings the rig to rest when the core is lost.
type Supervisor struct {
	a        *Assembly
	o        Options
	commands *commands
	events   *rowEvents
	info     *hil.Info

	fan  []*ring.Writer[hil.Row]
	hand *handOver    // to the next core
	kept *device.Kept // the core's ports, for safe frames when it is dead

	epoch   uint16
	links   [device.MaxDevices]device.Stats
	linkMu  sync.Mutex
	refused [device.MaxDevices]uint64 // why a port could not be opened, as last told

	lastMode atomic.Uint32
	rows     atomic.Uint64 // rows pumped
	lostRows atomic.Uint64 // rows the core could not push
	deaths   []time.Time
	starved  bool         // the last core was no more than starved: no death
	gap      atomic.Int64 // ns  longest time between two passes of the pump
	lost     bool         // a core ended without being asked to, or did not when asked
}

// ErrTrip ends a run that ends tripped; ErrDevice one whose device could not be had.
var (
	ErrTrip   = errors.New("the safety guard tripped")
	ErrDevice = errors.New("device unavailable")
)

// New prepares a supervisor; nothing runs yet.
func New(a *Assembly, info *hil.Info, o Options) *Supervisor {
	s := &Supervisor{a: a, o: o, info: info, commands: newCommands(a), kept: device.NewKept(), hand: newHandOver(a, o.Before)}
	s.events = &rowEvents{emit: o.Emit, wall: info.Wall, schema: &a.Schema, levels: newLevelEvents(&a.Schema), feeds: newFeedForwardEvents(&a.Schema)}
	s.commands.offered = func(p hil.Params) {
		if o.Offered != nil {
			o.Offered(p, rt.Now())
		}
	}
	s.commands.inForce = func(p hil.Params, from string) {
		if o.InForce != nil {
			o.InForce(p, from)
		}
	}
	s.commands.latch = s.latchEstop
	s.commands.disconnect()
	return s
}

// Left is what the next run must know: what is latched, and the heat of the windings.
func (s *Supervisor) Left() hil.Before { return s.hand.now() }

// latchEstop keeps an emergency stop while no core runs: the next one begins in it.
func (s *Supervisor) latchEstop() {
	s.hand.estop()
	s.event("error", "ESTOP", "emergency stop while no core runs: the next one begins in ESTOP")
	s.tellLatched()
}

func (s *Supervisor) tellLatched() {
	if s.o.Latched != nil {
		s.o.Latched()
	}
}

// Command is the way in for MQTT, the page and the command line.
func (s *Supervisor) Command(ctx context.Context, c hil.Command) hil.Reply {
	return s.commands.Do(ctx, c)
}

// Link is the newest state of the line of device i.
func (s *Supervisor) Link(i int) device.Stats {
	s.linkMu.Lock()
	defer s.linkMu.Unlock()
	return s.links[i]
}

// CoreHeap is the size of the core's heap in bytes, which only grows: 0 while no core runs.
func (s *Supervisor) CoreHeap() (bytes float64) {
	s.commands.linked(func(c *coreLink) { bytes = float64(c.words.Heap.Load()) })
	return bytes
}

// Mode is the mode of the newest row.
func (s *Supervisor) Mode() hil.Mode { return hil.Mode(s.lastMode.Load()) }

// Rows counts the rows that came from all cores.
func (s *Supervisor) Rows() uint64 { return s.rows.Load() }

// Ran tells whether the rig was ever energised. To be asked when Run has returned, as Lost.
func (s *Supervisor) Ran() bool { return s.events.ran }

// TripCause is why the rig tripped last. To be asked when Run has returned.
func (s *Supervisor) TripCause() hil.Cause { return s.events.cause }

// Lost tells whether a core died, hung, or did not end when it was asked to.
func (s *Supervisor) Lost() bool { return s.lost }

// Gap is the longest time between two passes of the pump: for so long the supervisor got no processor.
func (s *Supervisor) Gap() time.Duration { return time.Duration(s.gap.Load()) }

// LostRows counts the rows that found the ring full.
func (s *Supervisor) LostRows() uint64 { return s.lostRows.Load() }

// Run runs until ctx ends, the core is lost for good, or a trip ends it. When it returns the rig is safe and every sink
// has written what it got.
func (s *Supervisor) Run(ctx context.Context) error {
	defer s.kept.Close()

	// sinks live a little longer than the core, to drain what it left
	sinkCtx, endSinks := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	sinkErr := make([]error, len(s.o.Sinks))
	for i, sink := range s.o.Sinks {
		r := ring.New[hil.Row](rowRoom(s.a.Schema.Rate))
		s.fan = append(s.fan, r.Writer())
		wg.Add(1)
		go func() {
			defer failure.Tell()
			defer wg.Done()
			sinkErr[i] = sink(sinkCtx, r.Reader())
		}()
	}
	err := s.serve(ctx)
	endSinks()
	wg.Wait()
	return errors.Join(append([]error{err}, sinkErr...)...)
}

// serve runs one core after another until the end.
func (s *Supervisor) serve(ctx context.Context) error {
	backoff := []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second}
	arm := s.o.Arm && !s.a.DryRun
	for {
		s.epoch++
		end := s.incarnation(ctx, arm)
		arm = false // nothing re-arms by itself
		switch {
		case end.final:
			return end.err
		case ctx.Err() != nil:
			return nil
		}
		now := time.Now()
		if !s.starved {
			s.deaths = append(s.deaths, now)
		}
		s.starved = false
		recent := 0
		for _, d := range s.deaths {
			if now.Sub(d) < time.Minute {
				recent++
			}
		}
		if recent >= 3 {
			s.event("error", "CORE_DOWN", "the core died three times within a minute; it stays down and the rig stays safe")
			return fmt.Errorf("%w: the core died three times within a minute, last: %w", ErrTrip, end.err)
		}
		pause := backoff[max(0, min(recent-1, len(backoff)-1))]
		s.event("warn", "CORE_RESTART", fmt.Sprintf("starting the core again in %v; it comes up de-energised: arm and run by hand", pause))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// ending is how an incarnation of the core ended.
type ending struct {
	final bool // no restart
	err   error
}

// handle is a running core seen from outside: a process, or a goroutine in single-process mode.
type handle struct {
	sh   *shared
	done <-chan string                 // closed or sent with the cause when the core is gone
	held func() bool                   // a signal has stopped the core
	ran  func() (ns int64, wants bool) // time that its tick had a processor, and whether it wants one
	kill func()
	term func() // orderly stop
	free func()
	pid  int
	busy sync.WaitGroup // those who still touch the shared memory
}

// incarnation starts a core, pumps its rows until it is gone, and leaves the rig safe.
func (s *Supervisor) incarnation(ctx context.Context, arm bool) ending {
	var h *handle
	var err error
	if s.o.SingleProcess {
		h, err = s.startHere(ctx)
	} else {
		h, err = s.startCore()
	}
	if err != nil {
		if errors.Is(err, ErrDevice) || s.epoch == 1 {
			return ending{true, err}
		}
		return ending{false, err}
	}
	defer func() { h.busy.Wait(); h.free() }()
	orders := h.sh.orders.Writer()
	s.commands.connect(&coreLink{post: func(o order) bool { return orders.Push(&o) }, publish: h.sh.params.Publish, words: h.sh.words})
	defer func() {
		s.commands.disconnect()
		if h.sh.words.pressed[0].Load() != 0 { // pressed, and the core is gone before it took it
			s.latchEstop()
		}
	}()

	cause, ended := s.pump(ctx, h, arm)
	if ended {
		return ending{true, s.tripped()}
	}

	// the core is lost: the rig must not keep its last command
	s.lost = true
	frames := s.sendSafe()
	text := h.sh.words.text()
	if h.sh.words.State.Load() == coreFailed {
		err := errors.New(text)
		if h.sh.words.Code.Load() == 4 {
			return ending{s.rows.Load() == 0, fmt.Errorf("%w: %w", ErrDevice, err)}
		}
		s.event("error", "CORE_FAILED", text)
		return ending{s.rows.Load() == 0, err}
	}
	s.event("error", "CORE_LOST", fmt.Sprintf("%s; last mode %s after %d rows; %s", cause, s.Mode(), s.rows.Load(), frames))
	return ending{false, errors.New(cause)}
}

// tripped is ErrTrip with its reason when the run ends tripped, or has tripped and was to end then; a reset in the last moment
// does not undo that.
func (s *Supervisor) tripped() error {
	if m := s.Mode(); m == hil.Trip || m == hil.Estop || s.o.UntilTrip && s.events.Trips > 0 {
		return fmt.Errorf("%w: %s", ErrTrip, s.events.tripped)
	}
	return nil
}

// startCore re-executes this binary as the core.
func (s *Supervisor) startCore() (*handle, error) {
	size := sharedSize(s.a.Schema.Rate)
	mem, err := ring.CreateMemory("hil-rows", size)
	if err != nil {
		return nil, fmt.Errorf("shared memory for the core: %w", err)
	}
	sh, err := carve(mem.Bytes(), s.a.Schema.Rate, s.epoch, true)
	if err != nil {
		mem.Close()
		return nil, err
	}
	sh.words.Beat.Store(rt.Now())
	sh.words.Before = s.hand.now()
	s.commands.handOn(sh.params.Publish)
	conf, err := ring.CreateMemory("hil-config", len(s.o.Config))
	if err != nil {
		mem.Close()
		return nil, fmt.Errorf("configuration for the core: %w", err)
	}
	copy(conf.Bytes(), s.o.Config)
	ports, err := s.kept.Expect()
	if err != nil {
		conf.Close()
		mem.Close()
		return nil, err
	}
	core, err := rt.StartCore(rt.CoreSpec{
		Args: []string{"core"},
		Env: []string{
			fmt.Sprintf("%s=%g", envRate, s.a.Schema.Rate),
			fmt.Sprintf("%s=%d", envEpoch, s.epoch),
			envLog + "=" + s.o.Log,
		},
		Memory:   mem.File(),
		Extra:    []*os.File{conf.File(), ports},
		RealTime: s.a.RealTime,
	})
	conf.Close()
	ports.Close()
	if err != nil {
		mem.Close()
		return nil, fmt.Errorf("start the core: %w", err)
	}
	done := make(chan string, 1)
	go func() {
		x := <-core.Done()
		done <- x.String()
	}()
	return &handle{sh: sh, done: done, held: core.Stopped, ran: core.Ran, kill: core.Kill, term: func() { sh.words.Quit.Store(1) }, free: func() { mem.Close() }, pid: core.PID}, nil
}

// startHere runs the loop on a goroutine of this process.
func (s *Supervisor) startHere(ctx context.Context) (*handle, error) {
	sh := heapShared(s.a.Schema.Rate, s.epoch)
	sh.words.Before = s.hand.now()
	s.commands.handOn(sh.params.Publish)
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b, err := newBody(own, s.a, sh, func(int, *device.Options) {})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("%w: %w", ErrDevice, err)
	}
	b.out.steady |= hil.FlagUnprivileged
	sh.words.say("single process: the loop shares its process with everything that allocates; this is not real time")
	done := make(chan string, 1)
	go b.housekeeping()
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- "the loop failed: " + failure.Of(v).Report()
			}
		}()
		b.tick(s.epoch)
		b.rig.Close()
		sh.words.State.Store(coreStopped)
		done <- "loop ended"
	}()
	return &handle{sh: sh, done: done, kill: b.quit, term: b.quit, free: cancel, pid: os.Getpid()}, nil
}

// A core whose row counter stands still for longer than stall is lost. A loop that was late by more than loop.overrun.limit trips by itself;
// it gets stallMargin beyond that to do so. Stalls of a shared host reach 30 ms, and a core without real-time scheduling stands still for
// longer beside a single program that computes. The time in which the supervisor itself did not run does not count. A core that a signal
// has stopped says so to the kernel, and is not waited for.
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
		armStep  int
		stall    time.Duration
		ran      int64 // ns  that the core had had a processor when it stood still for stopTime …
		ranAt    int64 // ns  … which was then; 0: it does not
		reset    bool
		started  = time.Now()
	)
	stop := func() {
		if !asked {
			asked = true
			text := "stopping: the rig goes to its safe state first"
			if s.a.DryRun {
				text = "stopping; nothing was sent to the rig"
			}
			s.event("info", "STOP", text)
			h.busy.Go(func() {
				defer failure.Tell()
				s.commands.Do(context.Background(), hil.Command{Name: "stop", From: "local"})
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
		s.kept.Look()
		s.events.stat.look()
		s.drain(rows)

		switch state := h.sh.words.State.Load(); {
		case state == coreReady && !ready:
			ready = true
			stall = s.stall(h.sh.words.Privs.Load()&privFIFO != 0)
			s.up(h)
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
			if held := h.held(); held || still > stall {
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
		if h.sh.link.Take(&st) {
			s.refusal(&st)
			s.linkMu.Lock()
			s.links = st
			s.linkMu.Unlock()
		}

		// arm and run, one step at a time as the guard gets there
		if s.o.Reset && !reset && s.epoch == 1 && s.Mode().Latched() && !asked {
			reset = true
			go s.commands.Do(ctx, hil.Command{Name: "reset", From: "local"})
		}
		if arm && !asked {
			switch m := s.Mode(); {
			case armStep == 0 && m == hil.Ready:
				armStep = 1
				go s.commands.Do(ctx, hil.Command{Name: "arm", From: "local"})
			case armStep == 1 && m == hil.Armed:
				armStep, arm = 2, false
				go s.commands.Do(ctx, hil.Command{Name: "run", From: "local"})
			}
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
			s.refused[i] = 0
		case st.Refused != s.refused[i]:
			s.refused[i] = st.Refused
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

// up tells what the new core got from the host.
func (s *Supervisor) up(h *handle) {
	notes := h.sh.words.text()
	text := fmt.Sprintf("core up (epoch %d): real-time scheduling %s, memory %s", s.epoch,
		yesNo(h.sh.words.Privs.Load()&privFIFO != 0, "on", "not granted"), yesNo(h.sh.words.Privs.Load()&privLocked != 0, "locked", "not locked"))
	s.event("info", "CORE_UP", text)
	if notes != "" {
		s.event("warn", "UNPRIVILEGED", notes)
	}
	if s.o.Up != nil {
		s.o.Up(h.pid, h.sh.words.Privs.Load()&privFIFO != 0)
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
		s.commands.seen(&r)
		if s.hand.row(&r) {
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

// sendSafe writes the safe frames on the dead core's descriptors, three times each, and frees the ports for the next core. All devices
// get theirs at once: one that does not listen keeps no other waiting.
func (s *Supervisor) sendSafe() string {
	s.kept.Look()
	defer s.kept.Free()
	said := make([]string, len(s.a.Ports))
	var wg sync.WaitGroup
	for i, p := range s.a.Ports {
		switch {
		case len(p.Safe.Frames) == 0:
		case !s.kept.Open(i):
			said[i] = "no safe frame to " + p.Name + ": its port was not open"
		default:
			wg.Go(func() {
				defer failure.Tell()
				err := p.Safe.Write(func(b []byte) error { return s.kept.Write(i, b, 50*time.Millisecond) })
				if said[i] = "safe frame sent three times to " + p.Name; err != nil {
					said[i] = "safe frame could not be sent to " + p.Name + ": " + err.Error()
				}
			})
		}
	}
	wg.Wait()
	said = slices.DeleteFunc(said, func(text string) bool { return text == "" })
	if len(said) == 0 {
		return "no safe frame (nothing is ever sent in this mode)"
	}
	return strings.Join(said, "; ")
}

func (s *Supervisor) event(level, code, text string) {
	s.o.Emit(hil.Event{Time: time.Now(), Level: level, Code: code, Text: text})
}
