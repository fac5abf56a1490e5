package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"

	"hilrig/hil"
)

// commands takes them from MQTT, the page and the command line, puts them on the order ring, and matches the rows that
// come back with the replies that are owed.
type commands struct {
	mu      sync.Mutex
	a       *Assembly
	core    *coreLink // nil: none runs
	nextID  uint32
	waiting map[uint32]chan hil.Row
	blocks
}

// coreLink leads to the core.
type coreLink struct {
	post    func(order) bool  // onto the order ring; false: full
	publish func(*hil.Params) // into the parameter mailbox
	words   *words
}

func newCommands(a *Assembly) *commands {
	return &commands{a: a, waiting: map[uint32]chan hil.Row{}, blocks: blocks{params: a.Params, lastGen: a.Params.Gen}}
}

// replyTime bounds how long a command waits for its tick; the tick takes one order each period.
const replyTime = time.Second

// Do carries out one command and says what became of it.
func (d *commands) Do(ctx context.Context, c hil.Command) hil.Reply {
	no := func(format string, args ...any) hil.Reply {
		return hil.Reply{ID: c.ID, Error: fmt.Sprintf(format, args...)}
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
			return hil.Reply{ID: c.ID, Error: question, Confirm: true}
		}
		if err := d.offer(ctx, p, c.From); err != nil {
			return no("%v", err)
		}
		o.Gen = p.Gen
	}
	answer := make(chan hil.Row, 1)
	d.mu.Lock()
	d.nextID++
	o.ID = d.nextID
	d.waiting[o.ID] = answer
	posted := d.core != nil && d.core.post(o)
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.waiting, o.ID)
		d.mu.Unlock()
	}()
	if !posted {
		return no("the core is not running")
	}
	r, ok := d.await(ctx, answer, o.Gen)
	switch {
	case !ok:
		return no("the loop did not answer within %v", replyTime)
	case r.Res != hil.Taken:
		return no("%s", hil.RefusalText(r.Res, q, r.Mode))
	}
	d.tell()
	return hil.Reply{ID: c.ID, OK: true}
}

// await is the row that answers an order. A block that was not taken in time is given up, so that it never comes into force later.
func (d *commands) await(ctx context.Context, answer <-chan hil.Row, gen uint32) (r hil.Row, ok bool) {
	wait, cancel := context.WithTimeout(ctx, replyTime)
	defer cancel()
	select {
	case r := <-answer:
		return r, true
	case <-wait.Done():
	}
	if gen == 0 {
		return r, false
	}
	d.giveUp(gen)
	select { // taken in the last moment?
	case r := <-answer:
		return r, true
	case <-time.After(giveUpTime):
		return r, false
	}
}

// seen matches a row with the command it answers.
func (d *commands) seen(r *hil.Row) {
	d.shows(r.Gen)
	if r.Cmd == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if ch := d.waiting[r.Cmd]; ch != nil {
		select {
		case ch <- *r:
		default:
		}
	}
}
