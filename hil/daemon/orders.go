package daemon

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"hilrig/hil"
)

// commands takes them from MQTT, the page and the command line, puts them on the order ring, and matches the rows that
// come back with the replies that are owed.
type commands struct {
	mu      sync.Mutex
	a       *Assembly
	core    *coreLink // nil: none runs
	latch   func()    // keeps an emergency stop for the next core and the next run
	latched bool      // … and the next core is to begin with it
	nextID  uint32
	offNews offNews
	waiting map[uint32]waiter
	// a person has ordered hold, stop or estop: nothing starts the rig by itself any more
	overruled atomic.Bool
	blocks
}

// coreLink leads to the core.
type coreLink struct {
	post    func(order) bool  // onto the order ring; false: full
	publish func(*hil.Params) // into the parameter mailbox
	words   *words
}

// send leads an order to the tick; false: too many wait.
func (c *coreLink) send(o order) bool {
	if c.words.press(o) {
		return true
	}
	if !c.words.slot(&o) {
		return false
	}
	if !c.post(o) {
		c.words.withdraw(o.ID)
		return false
	}
	return true
}

// waiter is somebody who waits for the row that answers an order.
type waiter struct {
	row    chan hil.Row
	req    hil.Request
	starts bool // the rig by itself: see starter
}

func newCommands(a *Assembly) *commands {
	return &commands{a: a, waiting: map[uint32]waiter{}, blocks: blocks{params: a.Params, lastGen: a.Params.Gen}}
}

// replyTime bounds how long a command waits for its tick; the tick takes one order each period.
const replyTime = time.Second

// Do carries out one command and says what became of it.
func (d *commands) Do(ctx context.Context, c hil.Command) hil.Reply {
	reply, _ := d.carry(ctx, c)
	return reply
}

// carry is Do, with why the tick refused it.
func (d *commands) carry(ctx context.Context, c hil.Command) (hil.Reply, hil.Refusal) {
	no := func(format string, args ...any) (hil.Reply, hil.Refusal) {
		return hil.Reply{ID: c.ID, Error: fmt.Sprintf(format, args...)}, hil.Taken
	}
	q, ok := hil.ParseRequest(c.Name)
	if !ok {
		return no("unknown command %q; known: arm, run, hold, stop, reset, estop, set, adopt", c.Name)
	}
	if !q.Safer() && !c.Expires.IsZero() && time.Now().After(c.Expires) {
		return no("expired %.1f s ago", time.Since(c.Expires).Seconds())
	}
	o := order{Req: uint32(q)}
	if q == hil.ReqSet || q == hil.ReqAdopt {
		d.changes.Lock()
		defer d.changes.Unlock()
		p, question, err := d.block(&c)
		switch {
		case err != nil:
			return no("%v", err)
		case question != "" && !c.Confirm:
			return hil.Reply{ID: c.ID, Error: question, Confirm: true}, hil.Taken
		}
		if err := d.offer(ctx, p, c.Source); err != nil {
			return no("%v", err)
		}
		o.Gen = p.Gen
	}
	answer := make(chan hil.Row, 1)
	d.mu.Lock()
	d.nextID++
	o.ID = d.nextID
	starts := c.Source == startSource
	if q.Safer() && c.Source != "local" {
		d.overrule()
	} else if starts && d.overruled.Load() {
		d.mu.Unlock()
		return no("somebody has ordered otherwise")
	}
	d.waiting[o.ID] = waiter{answer, q, starts}
	core := d.core
	posted := core != nil && core.send(o)
	d.latched = d.latched || core == nil && q == hil.ReqEstop
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.waiting, o.ID)
		d.mu.Unlock()
	}()
	switch {
	case posted:
	case core != nil:
		return no("%d orders wait for the loop already: not taken", orderRoom)
	case q == hil.ReqEstop && d.latch != nil:
		d.latch()
		return hil.Reply{ID: c.ID, OK: true}, hil.Taken // the next core begins in ESTOP
	default:
		return no("the core is not running")
	}
	r, missing := d.await(ctx, answer, &o)
	switch {
	case missing != "":
		return no("%s", missing)
	case r.Res != hil.Taken:
		reply, _ := no("%s", refusalText(&r, &d.a.Schema, d.a.Thermal))
		return reply, r.Res
	}
	d.reportApplied()
	if c.Source != "local" && (q == hil.ReqStop || q == hil.ReqEstop) {
		if text := d.offNews.confirm(ctx, &r, &d.a.Schema); text != "" {
			return hil.Reply{ID: c.ID, Accepted: true, Error: "taken, but not in effect: " + text}, hil.Taken
		}
	}
	return hil.Reply{ID: c.ID, OK: true}, hil.Taken
}

// overrule ends what starts the rig by itself: an order of it that waits is withdrawn. The lock is held.
func (d *commands) overrule() {
	d.overruled.Store(true)
	for id, w := range d.waiting {
		if w.starts && d.core != nil {
			d.core.words.withdraw(id)
		}
	}
}

// rowTime is how long the row of an order that the tick has taken is waited for.
const rowTime = 100 * time.Millisecond

// await is the row that answers an order; missing says what became of an order without one. One that takes energy out stays until the tick
// has it; every other is withdrawn with its block, so that it never comes into force later.
func (d *commands) await(ctx context.Context, answer <-chan hil.Row, o *order) (r hil.Row, missing string) {
	wait, cancel := context.WithTimeout(ctx, replyTime)
	defer cancel()
	select {
	case r := <-answer:
		return r, ""
	case <-wait.Done():
	}
	switch {
	case hil.Request(o.Req).Safer():
		return r, fmt.Sprintf("the loop did not answer within %v; the order stays, and is carried out as soon as the loop can", replyTime)
	case d.withdraw(o):
		return r, fmt.Sprintf("the loop did not answer within %v; the order is withdrawn", replyTime)
	}
	select { // taken in the last moment
	case r := <-answer:
		return r, ""
	case <-time.After(rowTime):
		return r, "the loop took the order, and nothing came back"
	}
}

// withdraw takes an order of the ring back, so that it never comes into force; false: the tick has it.
func (d *commands) withdraw(o *order) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.core == nil || d.core.words.withdraw(o.ID) // those of a core that is gone are gone
}

// onRow matches a row with the command it answers.
func (d *commands) onRow(r *hil.Row) {
	d.shows(r.Gen)
	d.offNews.row(r)
	if r.Cmd == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, w := range d.waiting {
		if id == r.Cmd || id < r.Cmd && w.req == hil.Request(r.Req) && w.req.Safer() { // pressed again before the tick took it
			select {
			case w.row <- *r:
			default:
			}
		}
	}
}
