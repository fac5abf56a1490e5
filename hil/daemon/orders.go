package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
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
	core    *coreLink                       // nil: none runs
	latch   func()                          // keeps an emergency stop for the next core and the next run
	latched bool                            // … and the next core is to begin with it
	kept    func(p hil.Params, from string) // for the recorder and whoever asks
	nextID  uint32
	waiting map[uint32]waiter
	params  hil.Params    // as last set
	shown   atomic.Uint32 // generation of the newest row
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
	row chan hil.Row
	req hil.Request
}

func newCommands(a *Assembly) *commands {
	return &commands{a: a, waiting: map[uint32]waiter{}, params: a.Params}
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
	var gen uint32 // of the block that this makes
	var err error
	switch q {
	case hil.ReqSet:
		gen, err = d.set(c.Set, c.From)
	case hil.ReqAdopt:
		gen, err = d.adopt(c.Adopt, c.From)
	}
	if err != nil {
		return no("%v", err)
	}
	answer := make(chan hil.Row, 1)
	d.mu.Lock()
	d.nextID++
	id := d.nextID
	d.waiting[id] = waiter{answer, q}
	core := d.core
	posted := core != nil && core.send(order{ID: id, Req: uint32(q)})
	d.latched = d.latched || core == nil && q == hil.ReqEstop
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.waiting, id)
		d.mu.Unlock()
	}()
	switch {
	case posted:
	case core != nil:
		return no("%d orders wait for the loop already: not taken", orderRoom)
	case q == hil.ReqEstop && d.latch != nil:
		d.latch()
		return hil.Reply{ID: c.ID, OK: true} // the next core begins in ESTOP
	default:
		return no("the core is not running")
	}
	wait, cancel := context.WithTimeout(ctx, replyTime)
	defer cancel()
	select {
	case r := <-answer:
		if r.Res != hil.Taken {
			return no("%s", hil.RefusalText(r.Res, q, r.Mode))
		}
		if gen > 0 && !d.inForce(wait, gen) {
			return no("taken, but not in force yet: another change still fades in")
		}
		return hil.Reply{ID: c.ID, OK: true}
	case <-wait.Done():
	}
	switch {
	case q.Safer():
		return no("the loop did not answer within %v; the order stays, and is carried out as soon as the loop can", replyTime)
	case d.withdraw(id):
		return no("the loop did not answer within %v; the order is withdrawn", replyTime)
	}
	select { // taken in the last moment
	case r := <-answer:
		if r.Res != hil.Taken {
			return no("%s", hil.RefusalText(r.Res, q, r.Mode))
		}
		return hil.Reply{ID: c.ID, OK: true}
	case <-time.After(rowTime):
		return no("the loop took the order, and nothing came back")
	}
}

// rowTime is how long the row of an order that the tick has taken is waited for.
const rowTime = 100 * time.Millisecond

// withdraw takes an order of the ring back, so that it never comes into force; false: the tick has it.
func (d *commands) withdraw(id uint32) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.core == nil || d.core.words.withdraw(id) // those of a core that is gone are gone
}

// set validates every value first, then hands the whole block over; gen is its generation.
func (d *commands) set(values map[string]float64, from string) (gen uint32, err error) {
	if len(values) == 0 {
		return 0, fmt.Errorf("set needs {\"set\": {name: value}}; names: %s", strings.Join(d.a.Names(), ", "))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.params
	var bad []string
	for name, v := range values {
		i := slices.Index(d.a.Names(), name)
		if i < 0 {
			bad = append(bad, fmt.Sprintf("unknown parameter %q", name))
			continue
		}
		if err := d.a.Live[i].Check(v); err != nil {
			bad = append(bad, err.Error())
			continue
		}
		p.V[i] = v
	}
	if len(bad) > 0 {
		sort.Strings(bad)
		return 0, fmt.Errorf("%s; names: %s", strings.Join(bad, "; "), strings.Join(d.a.Names(), ", "))
	}
	return d.take(p, from)
}

// adopt puts a model in the place of that of an axis, as one whole set.
func (d *commands) adopt(o *hil.Adopt, from string) (gen uint32, err error) {
	axes := d.a.Schema.Axes()
	if o == nil {
		return 0, fmt.Errorf("adopt needs {\"adopt\": {axis, law, params}}; axes: %s", strings.Join(axes, ", "))
	}
	i := slices.Index(axes, o.Axis)
	if i < 0 {
		return 0, fmt.Errorf("unknown axis %q; there are %s", o.Axis, strings.Join(axes, ", "))
	}
	var text []byte
	if o.Law != "" {
		if text, err = json.Marshal(o.Set); err != nil {
			return 0, fmt.Errorf("adopt: %w", err)
		}
	} else if len(o.Params)+len(o.Motor) > 0 {
		return 0, errors.New("adopt: numbers without a law; a model is one whole set. Without both it is that of the file again")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.params
	if !p.Sets[i].Put(text) {
		return 0, fmt.Errorf("adopt: %d bytes, too long for a model", len(text))
	}
	return d.take(p, from)
}

// take hands a block over that the rig can run.
func (d *commands) take(p hil.Params, from string) (gen uint32, err error) {
	p.Gen++
	if d.a.Prepare != nil {
		if _, err := d.a.Prepare(&p); err != nil {
			return 0, err
		}
	}
	d.params = p
	if d.kept != nil {
		d.kept(p, from)
	}
	if d.core != nil {
		d.core.publish(&p)
	}
	return p.Gen, nil
}

// inForce waits until rows show a generation, or a newer one.
func (d *commands) inForce(ctx context.Context, gen uint32) bool {
	for d.shown.Load() < gen {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(time.Millisecond):
		}
	}
	return true
}

// connect leads to a fresh core; the parameters are handed over again before anything else.
func (d *commands) connect(core *coreLink) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core = core
	if d.latched {
		d.latched = false
		d.nextID++
		core.send(order{ID: d.nextID, Req: uint32(hil.ReqEstop)})
	}
	if d.params.Gen > 0 {
		core.publish(&d.params)
	}
}

func (d *commands) disconnect() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core = nil
}

// seen matches a row with the command it answers.
func (d *commands) seen(r *hil.Row) {
	d.shown.Store(r.Gen)
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
