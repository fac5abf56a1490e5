package daemon

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hilrig/hil"
	"hilrig/hil/axis"
)

// blocks are the parameter blocks on their way to the tick. A command that changes parameters makes a block, the core makes it ready beside
// its tick, and the tick takes it with the order that names its generation, or refuses that order and never takes it. What a core had in
// force the next one begins with.
type blocks struct {
	changes      sync.Mutex // one change after the other
	lastGen      uint32     // … of those that were offered; belongs to changes
	pending      atomic.Pointer[offeredBlock]
	appliedBlock atomic.Pointer[offeredBlock] // in force, and not told yet
	rowGen       atomic.Uint32                // generation of the newest row

	params  hil.Params                      // in force; belongs to commands.mu
	offered func(p hil.Params)              // for the recording; may be nil
	inForce func(p hil.Params, from string) // for whoever asks; may be nil
}

// offeredBlock is a block that the tick may take, and who asked for it.
type offeredBlock struct {
	hil.Params
	source string
}

// readyTime is for the core to make a block ready.
const readyTime = 2 * time.Second

// block makes the block that a command asks for. question is not empty where somebody has to confirm it.
func (d *commands) block(c *hil.Command) (p *hil.Params, question string, err error) {
	d.mu.Lock()
	now := d.params
	d.mu.Unlock()
	next := now
	if c.Name == hil.ReqSet.String() {
		err = d.set(&next, c.Set)
	} else {
		err = d.adopt(&next, c.Adopt)
	}
	if err != nil {
		return nil, "", err
	}
	d.lastGen++
	next.Gen = d.lastGen
	if err := d.a.Check(&next); err != nil {
		return nil, "", err
	}
	doubts := factors(d.a.LiveParams, &now, &next)
	if d.a.Review != nil {
		more, err := d.a.Review(&now, &next)
		if err != nil {
			return nil, "", err
		}
		doubts = append(doubts, more...)
	}
	if len(doubts) > 0 {
		question = fmt.Sprintf(`%s: %s. Not taken; to take it send the same command with a new id and "confirm": true`, c.Name,
			strings.Join(doubts, "; "))
	}
	return &next, question, nil
}

// set puts values into a block, all or none.
func (d *commands) set(p *hil.Params, values map[string]float64) error {
	names := d.a.Names()
	if len(values) == 0 {
		return fmt.Errorf("set needs {\"set\": {name: value}}; names: %s", strings.Join(names, ", "))
	}
	var bad []string
	for name, v := range values {
		i := slices.Index(names, name)
		if i < 0 {
			bad = append(bad, fmt.Sprintf("unknown parameter %q; names: %s", name, strings.Join(names, ", ")))
			continue
		}
		if err := d.a.LiveParams[i].Check(v); err != nil {
			bad = append(bad, err.Error())
			continue
		}
		p.V[i] = v
	}
	if len(bad) > 0 {
		sort.Strings(bad)
		return errors.New(strings.Join(bad, "; "))
	}
	return nil
}

// adopt puts a model in the place of that of an axis, as one whole set.
func (d *commands) adopt(p *hil.Params, o *hil.Adopt) error {
	axes := d.a.Schema.Axes()
	if o == nil {
		return fmt.Errorf("adopt needs {\"adopt\": {axis, law, params}}; axes: %s", strings.Join(axes, ", "))
	}
	i := slices.Index(axes, o.Axis)
	if i < 0 {
		return fmt.Errorf("unknown axis %q; there are %s", o.Axis, strings.Join(axes, ", "))
	}
	if o.Law == "" && len(o.Params)+len(o.Motor) > 0 {
		return errors.New("adopt: numbers without a law; a model is one whole set. Without both it is that of the file again")
	}
	set := &o.Set
	if o.Law == "" {
		set = nil
	}
	if err := p.Sets[i].Encode(set); err != nil {
		return fmt.Errorf("%s: %w", o.Axis, err)
	}
	return nil
}

// maxFactor is by how much a number may change, either way, before somebody has to confirm that it is meant.
const maxFactor = 10

// factors are the changes of numbers that have to be confirmed: by more than maxFactor, to zero or from it, or of the sign.
func factors(live []axis.Param, now, next *hil.Params) (out []string) {
	for i := range live {
		l, a, b := &live[i], now.V[i], next.V[i]
		if a == b || l.Additive {
			continue
		}
		at := fmt.Sprintf("%s would be %.6g %s in place of %.6g", l.Name, b, l.Unit, a)
		switch by := math.Abs(b / a); {
		case a == 0:
			out = append(out, at)
		case b == 0:
			out = append(out, at)
		case a*b < 0:
			out = append(out, at+", of the other sign")
		case by > maxFactor:
			out = append(out, fmt.Sprintf("%s, %.3g times as much", at, by))
		case by < 1./maxFactor:
			out = append(out, fmt.Sprintf("%s, %.3g times less", at, 1/by))
		}
	}
	return out
}

// offer hands a block to the core and waits until it is ready there: the order that follows needs no more than its tick.
func (d *commands) offer(ctx context.Context, p *hil.Params, from string) error {
	if d.offered != nil {
		d.offered(*p)
	}
	d.pending.Store(&offeredBlock{*p, from})
	first := d.linked(func(c *coreLink) { c.publish(p) })
	if first == nil {
		return errors.New("the core is not running")
	}
	for end := time.Now().Add(readyTime); ; time.Sleep(time.Millisecond) {
		ready := false
		switch c := d.linked(func(c *coreLink) { ready = c.words.Prepared.Load() == p.Gen }); {
		case c != first:
			return errors.New("not taken, and will not be: the core has ended")
		case ready:
			return nil
		case ctx.Err() != nil || time.Now().After(end):
			return fmt.Errorf("not taken, and will not be: the core did not make the change ready within %v", readyTime)
		}
	}
}

// linked does something with the core while its memory is there, and gives it; nil: none runs.
func (d *commands) linked(do func(*coreLink)) *coreLink {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.core != nil {
		do(d.core)
	}
	return d.core
}

// shows takes the generation of a row: when it is that of the offered block, that is in force.
func (d *commands) shows(gen uint32) {
	if d.rowGen.Swap(gen) == gen {
		return
	}
	p := d.pending.Load()
	if p == nil || p.Gen != gen {
		return
	}
	d.mu.Lock()
	d.params = p.Params
	d.mu.Unlock()
	d.appliedBlock.Store(p)
	time.AfterFunc(2*rowTime, d.reportApplied) // whoever waited for it tells it, unless nobody does any more
}

// reportApplied says what came into force, once.
func (d *commands) reportApplied() {
	if p := d.appliedBlock.Swap(nil); p != nil && d.inForce != nil {
		d.inForce(p.Params, p.source)
	}
}

// handOn gives a core that is being started the block in force, which it begins with. Nothing that was offered to another one is left.
func (d *commands) handOn(publish func(*hil.Params)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.params.Gen > 0 {
		publish(&d.params)
	}
}

// connect leads to a core that runs.
func (d *commands) connect(c *coreLink) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core = c
	if d.latched {
		d.latched = false
		d.nextID++
		c.send(order{ID: d.nextID, Req: uint32(hil.ReqEstop)})
	}
}

func (d *commands) disconnect() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core = nil
}
