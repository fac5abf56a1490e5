package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"hilrig/engine/failure"
	"hilrig/hil"
)

const (
	maxCommand  = 16 << 10         // bytes of a command
	maxAtOnce   = 32               // commands under way; a stop is taken beyond it
	commandWait = 5 * time.Second  // for the tick to answer
	remember    = 60 * time.Second // an id is known for this long
	maxRemember = 1024             // ids known at once
)

// commands takes them from the topics cmd/<name> to the commander and publishes the answers. Each command has a goroutine of
// its own: paho delivers messages one after the other, and a handler that waited would hold up the stop behind an arm.
//
// A stop (stop, hold, estop) is carried out whenever it can be understood as one: without payload, with a payload that
// cannot be read, repeated with an id that was used before, retained, after it expired: clocks differ. All others need an id, are carried
// out once per id and name, and are refused when retained: a broker would repeat them at every reconnection.
type commands struct {
	p      *Publisher
	ctx    context.Context // ends the commands under way
	cancel context.CancelFunc
	wg     sync.WaitGroup
	seat   chan struct{} // one for each command under way

	mu      sync.Mutex
	stopped bool
	answers map[string]*answered // by name and id
}

// answered is a command that was taken; replied is closed once reply is there.
type answered struct {
	receivedAt time.Time
	replied    chan struct{}
	reply      hil.Reply
}

func newCommands(p *Publisher) commands {
	ctx, end := context.WithCancel(context.Background())
	return commands{p: p, ctx: ctx, cancel: end, seat: make(chan struct{}, maxAtOnce), answers: make(map[string]*answered)}
}

// subscribe is called for every connection; it does not wait.
func (d *commands) subscribe(c paho.Client) {
	if !d.enter() {
		return
	}
	go func() {
		defer failure.Report()
		defer d.wg.Done()
		tok := c.Subscribe(d.p.root+"cmd/+", 1, func(_ paho.Client, m paho.Message) {
			defer failure.Report()
			d.arrived(m)
		})
		select {
		case <-tok.Done():
			if err := tok.Error(); err != nil && c.IsConnectionOpen() {
				d.p.emit("error", "BROKER_COMMANDS", fmt.Sprintf("broker %s refuses the subscription to %scmd/+: %v; commands over MQTT do not work",
					redact(d.p.o.Broker), d.p.root, err))
			}
		case <-d.ctx.Done():
		}
	}()
}

// enter adds a goroutine to those that close waits for; false when closed.
func (d *commands) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return false
	}
	d.wg.Add(1)
	return true
}

func (d *commands) close() {
	d.mu.Lock()
	d.stopped = true
	d.mu.Unlock()
	d.cancel()
	d.wg.Wait()
}

// arrived runs in paho's goroutine and returns at once.
func (d *commands) arrived(m paho.Message) {
	name := strings.TrimPrefix(m.Topic(), d.p.root+"cmd/")
	stop := alwaysTaken(name)
	seated := false
	select {
	case d.seat <- struct{}{}:
		seated = true
	default:
		if !stop {
			d.reply(name, hil.Reply{ID: idOf(m.Payload()), Error: fmt.Sprintf("%d commands are under way; send this one again later", maxAtOnce)})
			return
		}
	}
	if !d.enter() {
		return
	}
	go func() {
		defer failure.Report()
		defer d.wg.Done()
		d.reply(name, d.serve(name, m.Retained(), m.Payload()))
		if seated {
			<-d.seat
		}
	}()
}

// alwaysTaken are the commands that make the rig safer.
func alwaysTaken(name string) bool {
	q, _ := hil.ParseRequest(name)
	return q.Safer()
}

// serve decides about one command and returns the answer.
func (d *commands) serve(name string, retained bool, payload []byte) hil.Reply {
	stop := alwaysTaken(name)
	o, err := parseOrder(payload, stop)
	fail := func(format string, a ...any) hil.Reply {
		return hil.Reply{ID: o.ID, Error: fmt.Sprintf(format, a...)}
	}
	if !hil.IsCommand(name) {
		return fail("unknown command %q; known are arm, run, hold, stop, estop, reset, set, adopt, %s", name, strings.Join(hil.FitCommands, ", "))
	}
	c := hil.Command{Name: name, ID: o.ID, Source: "mqtt", Set: o.Set, Adopt: o.Adopt, Confirm: o.Confirm, Identify: o.Identify,
		Accept: o.Accept}
	switch {
	case d.p.o.Commander == nil || d.p.o.Commands == "none":
		return fail("commands over MQTT are switched off (mqtt.commands: none)")
	case d.p.o.Commands == "stop" && !stop:
		return fail("only stop, hold and estop are taken over MQTT (mqtt.commands: stop)")
	case err != nil && !stop:
		return fail("%v", err)
	case retained && !stop:
		return fail("a retained %s is refused: it would be repeated at every reconnection. Clear it and publish without the retain flag", name)
	case !stop && c.Misfit() != "":
		return fail("%s", c.Misfit())
	}
	if o.Expires != nil && !stop {
		c.Expires = time.UnixMicro(int64(*o.Expires * 1e6))
		if late := time.Since(c.Expires); late >= 0 {
			return fail("expired %.1f s ago by the clock of this host", late.Seconds())
		}
	}

	if stop {
		c = hil.Command{Name: name, ID: o.ID, Source: "mqtt"}
		r := d.carryOut(c)
		if err != nil && r.OK {
			r.Error = "carried out, but the payload was ignored: " + err.Error()
		}
		return r
	}
	return d.executeOnce(c)
}

// executeOnce carries a command out unless its id is known, and waits for the answer either way.
func (d *commands) executeOnce(c hil.Command) hil.Reply {
	key := c.Name + "\x00" + c.ID
	now := time.Now()
	d.mu.Lock()
	for k, a := range d.answers {
		if now.Sub(a.receivedAt) > remember {
			delete(d.answers, k)
		}
	}
	a, repeated := d.answers[key]
	if !repeated {
		if len(d.answers) >= maxRemember {
			d.mu.Unlock()
			return hil.Reply{ID: c.ID, Error: fmt.Sprintf("more than %d commands within %v; slow down", maxRemember, remember)}
		}
		a = &answered{receivedAt: now, replied: make(chan struct{})}
		d.answers[key] = a
	}
	d.mu.Unlock()
	if repeated {
		select {
		case <-a.replied:
			return a.reply
		case <-d.ctx.Done():
			return hil.Reply{ID: c.ID, Error: "the daemon is ending"}
		}
	}
	a.reply = d.carryOut(c)
	close(a.replied)
	return a.reply
}

func (d *commands) carryOut(c hil.Command) hil.Reply {
	ctx, cancel := context.WithTimeout(d.ctx, commandWait)
	defer cancel()
	r := d.p.o.Commander(ctx, c)
	r.ID = c.ID
	return r
}

// reply queues an answer; the sender publishes it.
func (d *commands) reply(name string, r hil.Reply) {
	body, err := json.Marshal(r)
	if err != nil {
		return
	}
	select {
	case d.p.acks <- ack{name, body}:
	default:
		d.p.count.eventsDropped.Add(1)
	}
}

// parseOrder reads a payload strictly, so that a misspelt "expires" does not become a command that never expires. A stop may
// come without.
func parseOrder(payload []byte, stop bool) (hil.Order, error) {
	body := bytes.TrimSpace(payload)
	if len(body) == 0 {
		if stop {
			return hil.Order{}, nil
		}
		return hil.Order{}, errors.New(`empty payload; want {"id":"…"}`)
	}
	if len(body) > maxCommand {
		return hil.Order{}, fmt.Errorf("payload of %d bytes, at most %d are read", len(body), maxCommand)
	}
	o, err := hil.DecodeOrder(body)
	if err != nil {
		o.ID = idOf(body)
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &syntax):
			return o, fmt.Errorf(`not JSON at byte %d: %v; want {"id":"…","expires":<s since 1970>,"set":{…}}`, syntax.Offset, err)
		case errors.Is(err, io.ErrUnexpectedEOF):
			return o, errors.New(`JSON ends too early; want {"id":"…","expires":<s since 1970>,"set":{…}}`)
		}
		return o, fmt.Errorf(`%s; want {"id":"…","expires":<s since 1970>,"set":{…}}`, strings.TrimPrefix(err.Error(), "json: "))
	}
	if o.Expires != nil && math.Abs(*o.Expires) > 1e12 {
		e := *o.Expires
		o.Expires = nil
		return o, fmt.Errorf("expires is %g; want seconds since 1970, not milli- or nanoseconds", e)
	}
	if o.ID == "" && !stop {
		return o, errors.New(`"id" is missing; without it a repeated delivery would be carried out twice`)
	}
	return o, nil
}

// idOf finds the id in a payload that may otherwise be wrong.
func idOf(payload []byte) string {
	var c struct {
		ID string `json:"id"`
	}
	if len(payload) <= maxCommand {
		_ = json.Unmarshal(payload, &c)
	}
	return c.ID
}
