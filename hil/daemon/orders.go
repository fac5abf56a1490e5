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
	post    func(order) bool                // onto the order ring; false: full or no core
	publish func(*hil.Params)               // into the parameter mailbox
	kept    func(p hil.Params, from string) // for the recorder and whoever asks
	nextID  uint32
	waiting map[uint32]chan hil.Row
	params  hil.Params    // as last set
	shown   atomic.Uint32 // generation of the newest row
}

func newCommands(a *Assembly) *commands {
	return &commands{a: a, waiting: map[uint32]chan hil.Row{}, params: a.Params}
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
	d.waiting[id] = answer
	posted := d.post != nil && d.post(order{ID: id, Req: uint32(q)})
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.waiting, id)
		d.mu.Unlock()
	}()
	if !posted {
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
		return no("the loop did not answer within %v", replyTime)
	}
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
	d.publish(&p)
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
func (d *commands) connect(post func(order) bool, publish func(*hil.Params)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.post, d.publish = post, publish
	if d.params.Gen > 0 {
		publish(&d.params)
	}
}

func (d *commands) disconnect() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.post = nil
	d.publish = func(*hil.Params) {}
}

// seen matches a row with the command it answers.
func (d *commands) seen(r *hil.Row) {
	d.shown.Store(r.Gen)
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
