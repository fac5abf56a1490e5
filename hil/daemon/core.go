package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"hilrig/engine/failure"
	"hilrig/hil"
	"hilrig/hil/device"
	"hilrig/hil/ring"
	"hilrig/hil/rt"
)

// outside is what reaches the core's tick beside samples: all of it atomic words, a ring and a mailbox.
type outside struct {
	orders      *ring.Reader[order]
	words       *words
	turn        bool                       // the tick before took a stop or a hold: the ring is looked at first
	change      atomic.Pointer[hil.Change] // a block that waits for its order
	orderedGen  uint32                     // generation that the newest order is about
	raised      atomic.Uint32              // hil.Flags raised by the watchers
	fixedFlags  hil.Flags                  // dry run, unprivileged
	rig         Rig
	previousRun hil.Before // what the core or the run before left

	reconnects   [device.MaxDevices]uint64 // seen by the tick before
	absentDevice int                       // place in X of the age of the device that is gone, or takes no commands; −1: none is
	devices      int                       // how many there are
	silence      atomic.Int64              // ns  of the supervisor when it was found missing
	mode         atomic.Uint32             // the guard's mode after the last tick
	ticks        atomic.Uint64
}

func (o *outside) Flags() hil.Flags {
	f := o.fixedFlags | hil.Flags(o.raised.Load())
	away, ok := o.rig.Connected()
	n := o.rig.Reconnects()
	for i := range n { // a port that went and came between two ticks was gone all the same
		if n[i] != o.reconnects[i] && ok {
			away, ok = o.rig.AgeAt(i), false
		}
	}
	if !ok {
		f |= hil.FlagLinkDown
	}
	if ok {
		for i := range o.devices {
			switch said, _ := o.rig.Confirmation(i); said {
			case device.RefusedCommand:
				f |= hil.FlagCommandRefused
			case device.UnansweredCommand:
				f |= hil.FlagCommandLost
			default:
				continue
			}
			away = o.rig.AgeAt(i)
		}
	}
	o.reconnects, o.absentDevice = n, away
	return f
}

func (o *outside) AbsentDevice() int { return o.absentDevice }

func (o *outside) PreviousRun() hil.Before { return o.previousRun }

func (o *outside) Silence() float64 { return float64(o.silence.Load()) * 1e-9 }

// Order is the emergency stop, if somebody pressed it, else a stop, a hold and an order of the ring by turns: a flood of neither keeps the
// other waiting.
func (o *outside) Order() (uint32, hil.Request) {
	if o.turn {
		o.turn = false
		if o.words.pressed[0].Load() == 0 {
			if id, q := o.next(); q != hil.ReqNone {
				return id, q
			}
		}
	}
	if id, q := o.words.released(); q != hil.ReqNone {
		o.turn = true
		return id, q
	}
	return o.next()
}

// next is the oldest order of the ring that was not withdrawn.
func (o *outside) next() (uint32, hil.Request) {
	var q order
	for range orderRoom {
		if !o.orders.Pop(&q) {
			break
		}
		if !o.words.claim(&q) {
			continue
		}
		o.orderedGen = q.Gen
		if hil.Request(q.Req) == hil.ReqArm {
			o.rig.Flush() // what waited in the port since before arming would look like fresh samples
		}
		return q.ID, hil.Request(q.Req)
	}
	return 0, hil.ReqNone
}

func (o *outside) Change() *hil.Change {
	c := o.change.Load()
	if c == nil || c.Gen != o.orderedGen || !o.change.CompareAndSwap(c, nil) {
		return nil
	}
	return c
}

func (o *outside) OnRow(r *hil.Row) {
	o.mode.Store(uint32(r.Mode))
	o.ticks.Store(r.Seq)
}

func (o *outside) raise(f hil.Flags) { o.raised.Or(uint32(f)) }

// body is a core at work, in its own process or beside the supervisor.
type body struct {
	a         *Assembly
	sh        *shared
	externals *outside
	rig       Rig
	stop      atomic.Bool // the clock ends the loop
	done      chan struct{}
}

// newBody opens the device and starts its threads. A port that is missing at the start of the daemon is an error: the daemon
// says so and exits; one that goes away later is waited for, by the cores after the first from their start on.
func newBody(ctx context.Context, a *Assembly, sh *shared, edit func(i int, o *device.Options)) (*body, error) {
	rig, err := a.NewRig(edit)
	if err != nil {
		return nil, err
	}
	b := &body{a: a, sh: sh, rig: rig, done: make(chan struct{})}
	b.externals = &outside{orders: sh.orders.Reader(), words: sh.words, rig: rig, previousRun: sh.words.PreviousRun, devices: len(a.Ports)}
	if a.DryRun {
		b.externals.fixedFlags |= hil.FlagDryRun
	}
	if a.Locked {
		b.externals.fixedFlags |= hil.FlagLocked
	}
	if err := rig.Start(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// tick runs the loop on this goroutine until stopped; on return the device has had its safe frame.
func (b *body) tick(epoch uint16) {
	defer close(b.done)
	first := (rt.Now()/b.a.Period + 1) * b.a.Period
	first += 20e6 / b.a.Period * b.a.Period
	missed := hil.Missed{CatchUp: b.a.CatchUp}
	var clock hil.Clock = hil.NewWallClock(b.a.Period, b.a.Spin, first, missed, b.stop.Load)
	if b.a.DevicePaced {
		clock = hil.NewDeviceClock(b.a.Period, b.a.Spin, first, b.a.Lag, missed, b.rig, b.stop.Load)
	}
	role := b.a.NewRole()
	loop := hil.NewLoop(clock, b.rig, b.externals, role, epoch, b.sh.rows.Writer())
	if t, ok := role.(hil.Tuned); ok {
		var p hil.Params
		if b.sh.params.Receive(&p) { // what was in force before this core
			b.prepareBlock(t, &p)
			b.externals.orderedGen = p.Gen
		}
		go b.prepare(t)
	}
	b.sh.words.State.Store(coreReady)
	loop.Run()
	b.rig.Safe()
}

// prepare makes parameter blocks ready beside the tick, one after the other. The core collects no garbage (rt.DisableGC): a block is made
// in place of one that is in force no more, see axis.Changes.
func (b *body) prepare(role hil.Tuned) {
	defer failure.Report()
	var p hil.Params
	var rest rt.Rest
	for !b.stop.Load() {
		rest.Due()
		if b.sh.params.Receive(&p) {
			b.prepareBlock(role, &p)
		} else {
			rt.SleepUntil(rt.Now()+5e6, 0)
		}
	}
}

// prepareBlock prepares a block in place of one that still waits for its order: that one will not get it any more.
func (b *body) prepareBlock(role hil.Tuned, p *hil.Params) {
	if b.externals.change.Swap(nil) != nil {
		role.Discard()
	}
	if c, err := role.Prepare(p); err == nil { // what is refused was refused by the supervisor already
		b.externals.change.Store(c)
	}
	b.sh.words.Prepared.Store(p.Gen)
}

// housekeeping looks for the supervisor's word to end, and publishes the counters of the devices ten times a second, beside the tick
// and without allocating.
func (b *body) housekeeping() {
	defer failure.Report()
	var st [device.MaxDevices]device.Stats
	var rest rt.Rest
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}} // read without stopping anything
	for k := 0; !b.stop.Load(); k++ {
		if k%200 == 0 {
			metrics.Read(heap)
			b.sh.words.Heap.Store(heap[0].Value.Uint64())
		}
		if k%20 == 0 {
			b.rig.Stats(&st)
			b.sh.link.Publish(&st)
		}
		if b.sh.words.Quit.Load() != 0 {
			b.quit()
			return
		}
		rest.Due()
		rt.SleepUntil(rt.Now()+5e6, 0)
	}
}

// Environment of the core, set by the supervisor.
const (
	envRate  = "HIL_CORE_RATE"  // Hz, fixes the layout of the shared memory
	envEpoch = "HIL_CORE_EPOCH" // number of this incarnation
	envLog   = "HIL_CORE_LOG"   // file for the core's last words
)

// Core is main of the re-executed process. assemble turns the configuration handed over on a descriptor into the rig.
// It returns the exit code: 0 after an orderly stop, 4 when the device could not be opened, 5 when the supervisor was lost.
func Core(assemble func(config []byte) (*Assembly, error)) int {
	boot, err := rt.Boot() // stage 1 ends here by re-executing; stage 2 comes back with what the host granted
	if err != nil {
		fmt.Fprintln(os.Stderr, "hil core:", err)
		return 1
	}
	rate, _ := strconv.ParseFloat(os.Getenv(envRate), 64)
	epoch, _ := strconv.Atoi(os.Getenv(envEpoch))
	mem, err := ring.OpenMemory(boot.MemoryFD, sharedSize(rate))
	if err != nil {
		fmt.Fprintln(os.Stderr, "hil core: shared memory:", err)
		return 1
	}
	sh, err := carve(mem.Bytes(), rate, uint16(epoch), false)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hil core:", err)
		return 1
	}
	fail := func(code int, err error) int {
		sh.words.setText(err.Error())
		sh.words.Code.Store(uint32(code))
		sh.words.State.Store(coreFailed)
		return code
	}
	failure.Handle(func(p *failure.Panic) { // the supervisor says it, and makes the rig safe
		os.Exit(fail(1, errors.New(p.Report())))
	})
	defer failure.Report()
	config, err := readAll(os.NewFile(boot.Extra[0], "config"))
	if err != nil {
		return fail(1, fmt.Errorf("configuration from the supervisor: %w", err))
	}
	a, err := assemble(config)
	if err != nil {
		return fail(1, err)
	}
	// only the tick and its senders may run on the tick's processor. The runtime's monitor thread sleeps 20 µs at a time: on a
	// slow virtual timer it never really leaves the processor, and at the tick's own priority the tick cannot push it aside
	if err := rt.KeepOff(a.ReservedCPU); err != nil {
		sh.words.setText(err.Error())
	}
	b, err := newBody(context.Background(), a, sh, func(i int, o *device.Options) {
		o.Opened = device.HandOver(boot.Extra[1], i)
		o.WaitForPort = o.WaitForPort || epoch > 1
		o.TxCPU = a.CPU
	})
	if err != nil {
		return fail(4, err)
	}
	privs := boot.Privileges
	var bits uint32
	if privs.FIFO {
		bits |= privFIFO
	} else {
		b.externals.fixedFlags |= hil.FlagUnprivileged
	}
	if privs.Locked {
		bits |= privLocked
	}
	sh.words.Privs.Store(bits)
	sh.words.setText(strings.Join(privs.Notes, "\n"))

	// the watchers: loss of the supervisor and an orderly stop; the tick only reads flags
	life := boot.WatchLife(&sh.words.Beat, time.Duration(a.Beat))
	lost := make(chan string, 1)
	go b.watch(life, lost)
	go b.housekeeping()

	time.Sleep(100 * time.Millisecond) // every thread exists and has touched its memory
	if a.CPU >= 0 {
		if err := rt.PinThread(a.CPU); err != nil {
			sh.words.setText(sh.words.text() + "\n" + err.Error())
		}
	}
	rt.DisableGC()
	b.tick(uint16(epoch))
	select {
	case why := <-lost:
		lastWords(os.Getenv(envLog), why)
		sh.words.setText("the core lost its supervisor (" + why + "): tripped, safe command sent, ended")
		sh.words.Code.Store(5)
		sh.words.State.Store(coreFailed)
		return 5
	default:
	}
	sh.words.State.Store(coreStopped)
	return 0
}

// termWait is how long the core, told to end by a signal, waits for its supervisor to stop the rig: whoever ends a group, a service or a
// container tells all its processes.
const termWait = 4 * time.Second

// watch ends the loop when the supervisor has ended, after a few ticks in TRIP that send safe values, or after a signal. A supervisor that
// does not beat, or was stopped, may come back: the guard trips, and the loop goes on.
func (b *body) watch(life *rt.LifeLine, lost chan<- string) {
	defer failure.Report()
	var term <-chan time.Time
	for {
		switch {
		case life.SupervisorLost():
			if hil.Flags(b.externals.raised.Load())&hil.FlagSupLost == 0 {
				b.externals.silence.Store(rt.Now() - b.sh.words.Beat.Load())
				b.externals.raise(hil.FlagSupLost)
			}
		default:
			b.externals.raised.And(^uint32(hil.FlagSupLost))
		}
		switch {
		case life.SupervisorEnded():
			lost <- life.LossText()
			b.quit()
			return
		case life.Stop() && term == nil:
			term = time.After(termWait)
		}
		select {
		case <-life.News():
		case <-term:
			b.quit()
			return
		}
	}
}

// quit ends the loop; a rig that is still energised trips first and gets a few safe commands.
func (b *body) quit() {
	if hil.Mode(b.externals.mode.Load()).Energised() {
		b.externals.raise(hil.FlagTripIn)
	}
	from := b.externals.ticks.Load()
	until := rt.Now() + 20e6
	for b.externals.ticks.Load() < from+3 && rt.Now() < until {
		rt.SleepUntil(rt.Now()+1e6, 0)
	}
	b.stop.Store(true)
}

// lastWords leaves a line for the next start; the supervisor is gone, so there is nobody to tell now.
func lastWords(path, why string) {
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%s core: supervisor lost (%s): tripped, safe command sent, exit\n", time.Now().UTC().Format(time.RFC3339Nano), why)
	f.Sync()
}

func readAll(f *os.File) ([]byte, error) {
	if f == nil {
		return nil, errors.New("no descriptor")
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	buf := make([]byte, st.Size())
	n, err := f.ReadAt(buf, 0)
	if n == len(buf) {
		return buf, nil
	}
	return nil, err
}
