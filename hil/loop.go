package hil

import (
	"hilrig/hil/ring"
	"hilrig/hil/rt"
)

// Loop is the tick and what it touches. It is built once, runs on one goroutine, and shares nothing but rings.
type Loop struct {
	clock     Clock
	dev       Device
	externals Outside
	role      Role
	taps      []*ring.Writer[Row]
	follower  Follower // nil: nothing follows the command
	tuned     Tuned    // nil: it has no parameters
	heir      Heir     // nil: it takes nothing over
	watch     Stopwatch

	period int64 // ns
	row    Row
	b      Blocks
	prevT  int64
	paced  interface{ DeviceLate() bool } // nil unless the device paces the clock
}

// Role is what the loop does between Poll and Send: the controller of a rig, or the plant for somebody else's controller.
// None of its methods allocates.
type Role interface {
	Schema() Schema
	Decide(r *Row, b *Blocks)  // estimate; then orders and faults → the mode of this tick
	Compute(r *Row, b *Blocks) // model, compensate → the wanted command
	Guard(r *Row, b *Blocks)   // the last word on the command
}

// Tuned is a role with parameters that change while it runs. Prepare may take its time, beside the tick; blocks are prepared one after the
// other, and each is adopted or discarded before the next. Check refuses what the role cannot run. Adopt puts a block in force at the edge
// of a tick.
type Tuned interface {
	Check(p *Params) error
	Prepare(p *Params) (*Change, error)
	Discard()           // the block that was prepared last is not adopted
	FadeComplete() bool // nothing still fades in: another change may come
	Adopt(c *Change)
}

// Heir is a role that goes on from where the one before ended.
type Heir interface {
	Inherit(b Before) // before the first tick
}

// Follower is a role with work that the command need not wait for.
type Follower interface {
	Follows() bool                           // is there any? Asked once
	FollowUp(r *Row, b *Blocks, w Stopwatch) // runs when the command has been left for the sending thread
}

// Stopwatch tells how long parts of a tick took: by the clock, or in a replay what the recording says.
type Stopwatch interface {
	Begin()
	Took(at int) float64 // s  since Begin; kept at this place of the modelled block
}

// clockWatch is a stopwatch by the clock of the loop.
type clockWatch struct {
	Clock
	start int64 // ns
}

func (w *clockWatch) Begin()           { w.start = w.Now() }
func (w *clockWatch) Took(int) float64 { return float64(w.Now()-w.start) * 1e-9 }

// Blocks are the four views into the row's flat array.
type Blocks struct {
	Meas, Est, Model, Cmd []float64
}

// Outside is what reaches a tick beside samples. In the running core these are a ring, a mailbox and atomic words; in a
// replay they come from the recording, which is what makes the rows repeat bit for bit.
type Outside interface {
	Flags() Flags     // conditions raised elsewhere: link down, supervisor lost, dry run …
	Silence() float64 // s  since the supervisor's last beat; asked for when FlagSupLost is up
	// place in X of the age of the device that is gone, or takes no commands, −1: not known; asked for when FlagLinkDown, FlagCommandRefused
	// or FlagCommandLost is up
	AbsentDevice() int
	PreviousRun() Before           // what the core or the run before left; asked for in the first tick
	Order() (id uint32, q Request) // at most one order a tick; q is ReqNone when there is none
	Change() *Change               // the prepared parameter block that the newest order, or the first tick, is about; nil: there is none
	OnRow(r *Row)                  // the finished row, before it is published
}

// NewLoop builds a loop. The role's schema fixes the row; the taps receive every row and drop the newest when full.
func NewLoop(clock Clock, dev Device, out Outside, role Role, epoch uint16, taps ...*ring.Writer[Row]) *Loop {
	l := &Loop{clock: clock, dev: dev, externals: out, role: role, taps: taps}
	s := role.Schema()
	if s.Len() > MaxSignals {
		panic("hil: schema has more signals than a row holds")
	}
	l.b.Meas, l.b.Est, l.b.Model, l.b.Cmd = s.Blocks(&l.row)
	l.period = int64(1e9/s.Rate + 0.5)
	l.row.Epoch = epoch
	l.paced, _ = clock.(interface{ DeviceLate() bool })
	l.tuned, _ = role.(Tuned)
	l.heir, _ = role.(Heir)
	if f, ok := role.(Follower); ok && f.Follows() {
		l.follower = f
	}
	if w, ok := clock.(Stopwatch); ok {
		l.watch = w
	} else {
		l.watch = &clockWatch{Clock: clock}
	}
	return l
}

// Run ticks until the clock ends. Nothing in it allocates, locks or logs.
func (l *Loop) Run() {
	for {
		t, late, ok := l.clock.Wait()
		if !ok {
			return
		}
		l.tick(t, late)
	}
}

func (l *Loop) tick(t, late int64) {
	r, b := &l.row, &l.b
	l.pace(r, t, late)

	// sense
	if r.Flags |= l.externals.Flags(); r.Flags&FlagSupLost != 0 {
		r.Value = l.externals.Silence() // the guard tells a dead supervisor from a starved one by it
	}
	r.CauseSignal = 0
	if r.Flags&(FlagLinkDown|FlagCommandRefused|FlagCommandLost) != 0 {
		r.CauseSignal = uint16(l.externals.AbsentDevice() + 1) // and names the device
	}
	r.FreshSignals = l.dev.Poll(t, b.Meas)
	if r.Seq == 1 && l.heir != nil {
		l.heir.Inherit(l.externals.PreviousRun())
	}

	// adopt what came from outside, estimate, then settle what this tick may do
	r.Cmd, r.Req = l.order()
	l.adopt(r)
	l.role.Decide(r, b)

	// model, compensate
	l.role.Compute(r, b)

	// guard, act
	l.role.Guard(r, b)
	l.dev.Send(b.Cmd)

	// models that stand beside the rig
	if l.follower != nil {
		rt.Yield() // the sending thread has this processor too
		l.follower.FollowUp(r, b, l.watch)
	}

	// publish
	r.BusyTime = sat32(l.clock.Now() - t - late)
	if int64(r.BusyTime) > l.period {
		r.Flags |= FlagOverrun
	}
	l.externals.OnRow(r)
	for _, tap := range l.taps {
		tap.Push(r) // full ring: dropped and counted
	}
}

// pace does the bookkeeping of time: which deadlines were missed before this tick, and why this one is late if it is.
func (l *Loop) pace(r *Row, t, late int64) {
	busyBefore, lateBefore := int64(r.BusyTime), int64(r.Lateness)
	r.Seq++
	r.T, r.Lateness, r.Flags, r.Skip, r.Res = t, sat32(late), 0, 0, 0
	if l.prevT != 0 {
		// device-paced periods breathe, so round to the nearest whole number of them
		if n := (t - l.prevT + l.period/2) / l.period; n > 1 {
			r.Skip = uint32(n - 1)
			r.Flags |= FlagSkipped
		}
	}
	l.prevT = t
	if late >= l.period {
		r.Flags |= FlagLate
		if lateBefore >= l.period && r.Skip == 0 {
			r.Flags |= FlagCatchUp
		}
		if busyBefore > l.period*8/10 {
			r.Flags |= FlagLateModel
		}
	}
	if l.paced != nil && l.paced.DeviceLate() {
		r.Flags |= FlagLateDevice
	}
}

func (l *Loop) order() (uint32, uint8) {
	id, q := l.externals.Order()
	return id, uint8(q)
}

// adopt puts the parameter block in force that the order of this tick is about, or says why not: an order that is refused here never comes
// into force later. The first tick of a core goes on with the block that was in force before it, without an order.
func (l *Loop) adopt(r *Row) {
	ordered := Request(r.Req) == ReqSet || Request(r.Req) == ReqAdopt
	if l.tuned == nil || !ordered && r.Seq > 1 {
		return
	}
	if !l.tuned.FadeComplete() {
		r.Res = StillFades
		return
	}
	if c := l.externals.Change(); c != nil {
		l.tuned.Adopt(c)
		r.Gen = c.Gen
	} else if ordered {
		r.Res = NotPrepared
	}
}

// sat32 keeps a duration in ns within an int32: a VM pause of more than 2.1 s would wrap otherwise.
func sat32(ns int64) int32 {
	const most = 1<<31 - 1
	switch {
	case ns > most:
		return most
	case ns < -most:
		return -most
	}
	return int32(ns)
}
