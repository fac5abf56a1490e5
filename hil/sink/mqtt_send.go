package sink

import (
	"fmt"
	"slices"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"hilrig/hil"
)

// sender is the only goroutine that publishes. It may be held up by the network; nothing waits for it.
type sender struct {
	p      *Publisher
	topic  topics
	client paho.Client // of the connection in use; nil: none

	// acknowledged reports, see Publisher
	barrier       paho.Token // the report under way; nil: none
	barrierSentAt time.Time  // when it was sent
	mark          uint64     // rows sent before it
	confirmed     uint64     // rows that the broker has certainly taken

	retained [len(retainedTopics)]*[]byte // what was published of each last

	unacked []sentEvent // events that the broker has not acknowledged, oldest first
	lostAt  time.Time   // when the connection was lost; zero: it is up
	stalled bool        // an acknowledgement is overdue
	tally   lossTally
	buf     []byte // state payload
	timer   *time.Timer
}

// stallAfter is how long the broker may leave a report unacknowledged before nothing more is sent: socket buffers hold
// seconds of samples, and whatever is in them is lost without a count when the connection breaks.
const stallAfter = 2 * time.Second

// sentEvent is an event under way; it is sent again over the next connection when this one breaks.
type sentEvent struct {
	tok  paho.Token
	body []byte
}

type topics struct{ status, meta, params, state, samples, estimate, report, health, event, cmd string }

func newTopics(root string) topics {
	return topics{root + "status", root + "meta", root + "params", root + "state", root + "samples", root + "estimate",
		root + "estimate/report", root + "health", root + "event", root + "cmd/"}
}

func (s *sender) run(stop <-chan struct{}) {
	p := s.p
	s.timer = time.NewTimer(time.Hour)
	state := time.NewTicker(time.Duration(float64(time.Second) / p.o.State))
	sec := time.NewTicker(time.Second)
	defer s.timer.Stop()
	defer state.Stop()
	defer sec.Stop()
	var estimate <-chan time.Time
	if p.o.Estimate > 0 && len(p.est.columns) > 0 {
		t := time.NewTicker(span(p.o.Estimate))
		defer t.Stop()
		estimate = t.C
	}
	for {
		// what must arrive waits in its queue while the way is blocked
		events, acks := p.events, p.acks
		if !s.flowing() {
			events, acks = nil, nil
		}
		select {
		case c := <-p.link:
			s.changed(c)
		case m := <-p.queue:
			s.samples(m)
		case <-state.C:
			s.state()
		case <-estimate:
			s.estimate()
		case <-sec.C:
			s.second()
		case e := <-events:
			s.event(e)
		case a := <-acks:
			s.ack(a)
		case <-p.news:
			s.publishRetained(false)
		case <-stop:
			s.finish()
			return
		}
	}
}

// flowing says whether it makes sense to send: connected, and the broker answers.
func (s *sender) flowing() bool {
	if s.barrier != nil {
		select {
		case <-s.barrier.Done():
			s.acknowledged()
		default:
			if !s.stalled && time.Since(s.barrierSentAt) > stallAfter && s.open() {
				s.stalled = true
				s.p.emit("warn", "BROKER_DOWN", fmt.Sprintf("broker %s has not answered for %v; rows are dropped and counted until it does",
					redact(s.p.o.Broker), stallAfter))
			}
		}
	}
	return !s.stalled && s.open()
}

func (s *sender) open() bool { return s.client != nil && s.client.IsConnectionOpen() }

func (s *sender) acknowledged() {
	if s.barrier.Error() == nil {
		s.confirmed = s.mark
	}
	if s.stalled {
		s.p.emit("info", "BROKER_UP", fmt.Sprintf("broker %s answers again after %.1f s; %s", redact(s.p.o.Broker),
			time.Since(s.barrierSentAt).Seconds(), s.tally.summary(s.p.Stats())))
	}
	s.barrier, s.stalled = nil, false
}

// changed follows the connection. What was sent after the last acknowledgement may be lost with it.
func (s *sender) changed(c linkChange) {
	p := s.p
	if c.err != nil {
		if c.client != s.client {
			return // an earlier one
		}
		n := p.count.sentRows.Load()
		p.count.unconfirmed.Add(n - s.confirmed)
		s.client, s.lostAt = nil, c.time
		s.confirmed, s.barrier, s.stalled = n, nil, false
		p.emit("warn", "BROKER_DOWN", fmt.Sprintf("connection to broker %s lost: %v; rows are dropped and counted until it is back",
			redact(p.o.Broker), c.err))
		p.redial()
		return
	}
	s.client = c.client
	if p.holdsName(c.client) {
		p.commands.subscribe(c.client)
	}
	p.hear(c.client)
	s.publish(s.topic.status, 1, true, p.status(statusUp))
	s.publish(s.topic.meta, 1, true, p.meta)
	s.publishRetained(true)
	again := s.unsettled()
	s.unacked = nil
	for _, e := range again {
		s.sendEvent(e.body)
	}
	if !s.lostAt.IsZero() {
		p.count.reconnects.Add(1)
		p.emit("info", "BROKER_UP", fmt.Sprintf("connection to broker %s restored after %.1f s; %s", redact(p.o.Broker),
			c.time.Sub(s.lostAt).Seconds(), s.tally.summary(p.Stats())))
		s.lostAt = time.Time{}
	}
}

// samples sends one message, or counts its rows as dropped.
func (s *sender) samples(m *batch) {
	rows := m.rows
	if !s.flowing() {
		s.p.count.dropped.Add(rows)
		s.p.recycle(m)
		return
	}
	switch s.publish(s.topic.samples, 0, false, m.buf) {
	case wentOut:
		s.p.count.sentRows.Add(rows)
		s.p.recycle(m)
	case refused:
		s.p.count.dropped.Add(rows)
		s.p.recycle(m)
	case undecided: // paho may still read the buffer, so it is left to it
		s.p.count.dropped.Add(rows)
	}
}

func (s *sender) state() {
	var r hil.Row
	if !s.flowing() || !s.p.latest(&r) {
		return
	}
	s.buf = s.p.enc.state(s.buf[:0], &r)
	if s.publish(s.topic.state, 0, false, s.buf) == undecided {
		s.buf = nil
	}
}

func (s *sender) estimate() {
	var r hil.Row
	if !s.flowing() || !s.p.latest(&r) {
		return
	}
	s.publish(s.topic.estimate, 1, true, s.p.est.appendFlat(nil, s.p.enc, &r))
	if body, err := s.p.est.fullReport(&r); err == nil {
		s.publish(s.topic.report, 1, true, body)
	}
}

// second sends the health report, which is also the barrier, and says what was lost.
func (s *sender) second() {
	flowing := s.flowing()
	if text := s.tally.due(time.Now(), s.p.Stats(), flowing); text != "" {
		s.p.emit("warn", "BROKER_LOSS", text)
	}
	if !flowing || s.barrier != nil {
		return
	}
	body := s.p.HealthJSON()
	if body == nil {
		body = []byte(`{"timestamp":` + string(appendSeconds(nil, time.Now().UnixNano())) + `}`)
	}
	s.barrierSentAt, s.mark = time.Now(), s.p.count.sentRows.Load()
	s.barrier = s.client.Publish(s.topic.health, 1, false, body)
}

func (s *sender) event(e hil.Event) {
	s.sendEvent(encodeEvent(e, appendSeconds(nil, e.Time.UnixNano())))
}

// sendEvent sends an event and keeps it until it is acknowledged.
func (s *sender) sendEvent(body []byte) {
	s.unacked = append(s.unsettled(), sentEvent{s.client.Publish(s.topic.event, 1, false, body), body})
	if over := len(s.unacked) - eventQueue; over > 0 {
		s.unacked = s.unacked[over:]
		s.p.count.eventsDropped.Add(uint64(over))
	}
}

// unsettled are the events still without acknowledgement.
func (s *sender) unsettled() []sentEvent {
	return slices.DeleteFunc(s.unacked, func(e sentEvent) bool {
		select {
		case <-e.tok.Done():
			return e.tok.Error() == nil
		default:
			return false
		}
	})
}

// publishRetained publishes what is retained and has changed, or, after a new connection, all of it. What cannot be sent now is sent with
// the next connection.
func (s *sender) publishRetained(all bool) {
	for i, name := range retainedTopics {
		if body := s.p.retained[i].Load(); body != nil && s.open() && (all || body != s.retained[i]) {
			s.p.ownBodies.add(*body)
			s.publish(s.p.root+name, 1, true, *body)
			s.retained[i] = body
		}
	}
}

func (s *sender) ack(a ack) { s.publish(s.topic.cmd+a.name+"/ack", 1, false, a.body) }

// finish sends what is queued, says offline and waits for that to be acknowledged, all within finishWait.
func (s *sender) finish() {
	end := time.Now().Add(finishWait)
	for time.Now().Before(end) {
		select {
		case m := <-s.p.queue:
			s.samples(m)
			continue
		case e := <-s.p.events:
			if s.flowing() {
				s.event(e)
			}
			continue
		case a := <-s.p.acks:
			if s.flowing() {
				s.ack(a)
			}
			continue
		default:
		}
		break
	}
	if s.flowing() {
		s.client.Publish(s.topic.status, 1, true, s.p.status(statusDown)).WaitTimeout(max(time.Until(end), 100*time.Millisecond))
	}
}

// outcome is what is known about a message when publish returns.
type outcome int

const (
	wentOut   outcome = iota // QoS 0: written to the socket; QoS 1: handed over
	refused                  // not sent
	undecided                // paho may still send it
)

// publish hands a message to paho. At QoS 0 it waits until the bytes are written, so that the buffer may be used again; at
// QoS 1 paho keeps the payload until it is acknowledged, so it must be the message's own.
func (s *sender) publish(topic string, qos byte, retain bool, body []byte) outcome {
	tok := s.client.Publish(topic, qos, retain, body)
	if qos == 0 {
		s.timer.Reset(2 * writeLimit)
		select {
		case <-tok.Done():
		case <-s.timer.C:
			return undecided
		}
	}
	select {
	case <-tok.Done():
		if tok.Error() != nil {
			return refused
		}
	default:
	}
	return wentOut
}
