package daemon

import (
	"context"
	"errors"
	"fmt"
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
	PreviousRun   hil.Before // what the run before left
	// something latched or was reset, for the next run: see LatchState; must not block; may be nil
	Latched  func()
	Offered  func(p hil.Params, t int64)     // a parameter block goes to the tick; for the recording
	InForce  func(p hil.Params, from string) // … is in force, and who asked for it
	Row      func(*hil.Row)                  // sees every row in the pump, must not block
	OnCoreUp func(pid int, fifo bool)        // a core has begun to tick; may be nil
}

// Supervisor starts the core, watches it, pumps its rows to the sinks, and brings the rig to rest when the core is lost.
type Supervisor struct {
	a        *Assembly
	o        Options
	commands *commands
	events   *rowEvents
	info     *hil.Info

	fan       []*ring.Writer[hil.Row]
	handOver  *handOver    // to the next core
	corePorts *device.Kept // the core's ports, for safe frames when it is dead

	epoch         uint16
	links         [device.MaxDevices]device.Stats
	linkMu        sync.Mutex
	reportedErrno [device.MaxDevices]uint64 // why a port could not be opened, as last told

	lastMode atomic.Uint32
	rows     atomic.Uint64 // rows pumped
	lostRows atomic.Uint64 // rows the core could not push
	deaths   []time.Time
	starved  bool         // the last core was no more than starved: no death
	gap      atomic.Int64 // ns  longest time between two passes of the pump
	coreLost bool         // a core ended without being asked to, or did not when asked
}

// ErrTrip ends a run that ends tripped; ErrDevice one whose device could not be had.
var (
	ErrTrip   = errors.New("the safety guard tripped")
	ErrDevice = errors.New("device unavailable")
)

// New prepares a supervisor; nothing runs yet.
func New(a *Assembly, info *hil.Info, o Options) *Supervisor {
	s := &Supervisor{a: a, o: o, info: info, commands: newCommands(a), corePorts: device.NewKept(), handOver: newHandOver(a, o.PreviousRun)}
	s.events = &rowEvents{emit: o.Emit, wall: info.Wall, schema: &a.Schema, thermal: a.Thermal, levels: newLevelEvents(&a.Schema),
		feeds: newFeedForwardEvents(&a.Schema)}
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

// LatchState is what the next run must know: what is latched, and the heat of the windings.
func (s *Supervisor) LatchState() hil.Before { return s.handOver.snapshot() }

// latchEstop keeps an emergency stop while no core runs: the next one begins in it.
func (s *Supervisor) latchEstop() {
	s.handOver.estop()
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

// Ran tells whether the rig was ever energised. To be asked when Run has returned, as CoreLost.
func (s *Supervisor) Ran() bool { return s.events.ran }

// TripCause is why the rig tripped last. To be asked when Run has returned.
func (s *Supervisor) TripCause() hil.Cause { return s.events.cause }

// CoreLost tells whether a core died, hung, or did not end when it was asked to.
func (s *Supervisor) CoreLost() bool { return s.coreLost }

// Gap is the longest time between two passes of the pump: for so long the supervisor got no processor.
func (s *Supervisor) Gap() time.Duration { return time.Duration(s.gap.Load()) }

// LostRows counts the rows that found the ring full.
func (s *Supervisor) LostRows() uint64 { return s.lostRows.Load() }

// Run runs until ctx ends, the core is lost for good, or a trip ends it. When it returns the rig is safe and every sink
// has written what it got.
func (s *Supervisor) Run(ctx context.Context) error {
	defer s.corePorts.Close()

	// sinks live a little longer than the core, to drain what it left
	sinkCtx, endSinks := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	sinkErr := make([]error, len(s.o.Sinks))
	for i, sink := range s.o.Sinks {
		r := ring.New[hil.Row](rowRoom(s.a.Schema.Rate))
		s.fan = append(s.fan, r.Writer())
		wg.Add(1)
		go func() {
			defer failure.Report()
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
	defer func() { h.memoryUsers.Wait(); h.release() }()
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
	s.coreLost = true
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

// sendSafe writes the safe frames on the dead core's descriptors, three times each, and frees the ports for the next core. All devices
// get theirs at once: one that does not listen keeps no other waiting.
func (s *Supervisor) sendSafe() string {
	s.corePorts.ReceivePorts()
	defer s.corePorts.Free()
	said := make([]string, len(s.a.Ports))
	var wg sync.WaitGroup
	for i, p := range s.a.Ports {
		switch {
		case len(p.Safe.Frames) == 0:
		case !s.corePorts.Open(i):
			said[i] = "no safe frame to " + p.Name + ": its port was not open"
		default:
			wg.Go(func() {
				defer failure.Report()
				err := p.Safe.Write(func(b []byte) error { return s.corePorts.Write(i, b, 50*time.Millisecond) })
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
