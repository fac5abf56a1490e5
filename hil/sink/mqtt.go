package sink

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"hilrig/engine/failure"
	"hilrig/hil"
)

// MQTT is the section of the telemetry.
type MQTT struct {
	Enabled  bool    `yaml:"enabled" doc:"publish telemetry"`
	Prefix   string  `yaml:"prefix" doc:"first part of every topic; the name of the rig follows"`
	Broker   string  `yaml:"broker,omitempty" doc:"tcp://host:1883, ssl://host:8883 or ws://…; empty: the embedded broker"`
	User     string  `yaml:"user,omitempty" doc:"user at an external broker"`
	Password string  `yaml:"password,omitempty" secret:"yes" doc:"password at an external broker; may be ${VARIABLE}"`
	CA       string  `yaml:"ca,omitempty" doc:"PEM file of the certificate authority for ssl; relative to this file"`
	Listen   string  `yaml:"listen" doc:"address of the embedded broker"`
	Operator string  `yaml:"operator_password,omitempty" secret:"yes" doc:"password of the user operator of the embedded broker, who may send commands; empty: a fresh one at each start, printed"`
	State    float64 `yaml:"state" unit:"Hz" want:">0 <=50" doc:"rate of the state topic"`
	Batch    float64 `yaml:"batch" unit:"s" want:">=0.005 <=1" doc:"samples per message, as a time"`
	Estimate float64 `yaml:"estimate" unit:"s" want:">=0.1 <=3600" doc:"time between two estimates"`
	Commands string  `yaml:"commands" enum:"none,stop,all" doc:"commands taken from MQTT; stop: stop, hold, estop only; all: also arm, run, reset, set"`
}

// PublisherOptions describe what is published where. The embedded broker is started apart.
type PublisherOptions struct {
	MQTT
	Info *hil.Info
	Sole bool // the broker is of this process: nobody else can have the name of the rig

	Commander hil.Commander // takes the commands; nil: none are taken

	Heard   func(topic string, body []byte) // gets what others publish of an identification of this rig; may be nil
	Metrics *Metrics                        // published as health; nil: none
	OnRow   func(*hil.Row)                  // sees every row in the draining goroutine, must not block; may be nil
	// gets the publisher's own events, which it then leaves to Emit to publish; nil: it publishes them itself
	Emit func(hil.Event)
	Log  *slog.Logger
}

// Publisher drains rows and publishes them. Three parties share the work so that a frozen broker stops none but the last:
// the draining goroutine encodes rows and never waits; a bounded queue drops the oldest batch when full, and counts its
// rows; one sender goroutine talks to paho, whose Publish may block.
//
// QoS 0 says nothing about arrival. The health report therefore goes out at QoS 1: its acknowledgement means that the broker
// has taken everything before it on the same connection. While an acknowledgement is overdue nothing more is sent, and what
// was sent after the last acknowledged report on a connection that then broke is counted as unconfirmed.
type Publisher struct {
	o        PublisherOptions
	root     string // "hil/<rig>/"
	enc      *encoder
	est      estimates
	meta     []byte
	retained [len(retainedTopics)]atomic.Pointer[[]byte] // newest message of each; nil: none yet
	// client id, the same for every connection, so that a broker ends a stale one before it serves the next
	id  string
	tls *tls.Config

	queue     chan *batch
	spare     chan *batch // empty batches, so that the draining goroutine allocates nothing
	events    chan hil.Event
	acks      chan ack
	news      chan struct{} // a retained message is new; room for one
	link      chan linkChange
	commands  commands
	ownBodies ownBodies // of what Heard gets from others

	mu        sync.Mutex
	newestRow hil.Row // newest row, for state and estimates
	hasRow    bool

	drainer drainer
	sender  sender
	count   publishCounts

	connected atomic.Bool                 // Connect succeeded
	claimed   atomic.Pointer[paho.Client] // the connection that has the name of the rig; nil: none
	closeOnce sync.Once
}

// batch is one message of samples under way.
type batch struct {
	buf  []byte
	rows uint64
}

type ack struct {
	name string
	body []byte
}

// linkChange is a connection that came up (err is nil) or was lost.
type linkChange struct {
	client paho.Client
	err    error
	time   time.Time
}

// publishCounts are written by the goroutines of the publisher and read by anyone.
type publishCounts struct {
	rows, sentRows, dropped, unconfirmed, gaps atomic.Uint64
	eventsDropped, reconnects, ringDropped     atomic.Uint64
	maxGap                                     atomic.Int64 // ns
}

// PublisherStats are counters since start.
type PublisherStats struct {
	Rows       uint64        // rows taken from the ring
	SentRows   uint64        // rows handed to the connection
	lossCount                // what was not
	Gaps       uint64        // sequence numbers missing in what came from the ring
	Reconnects uint64        // times the connection came back
	MaxGap     time.Duration // longest time between two passes of the draining goroutine
}

const (
	drainEvery  = 5 * time.Millisecond
	queueFor    = 2 * time.Second // of samples that wait for a slow broker
	minQueue    = 16              // messages
	maxMessage  = 128 << 10       // bytes of samples in one message, far below the broker's limit
	maxState    = 50.0            // Hz
	eventQueue  = 256
	ackQueue    = 64
	finishWait  = time.Second // for the queue to empty at the end
	statusUp    = "online"
	statusDown  = "offline"
	dialWait    = 5 * time.Second
	keepAlive   = 6 * time.Second // the embedded broker warns below 5 s
	pingWait    = 3 * time.Second
	writeLimit  = time.Second            // paho gives a blocked write up after this, and the connection with it
	redialFirst = 100 * time.Millisecond // pause before the second attempt, doubled after each
	redialLast  = 5 * time.Second        // longest pause between two attempts
	goodbye     = 250                    // ms  for the last packets to leave
)

// NewPublisher checks the options and prepares everything; nothing is connected yet.
func NewPublisher(o PublisherOptions) (*Publisher, error) {
	if o.Info == nil {
		return nil, errors.New("mqtt: a publisher needs the run's info")
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	s := &o.Info.Schema
	var bad []error
	bad = append(bad, checkTopicPart("mqtt.prefix", o.Prefix, true), checkTopicPart("rig.name", s.Rig, false))
	if !(o.State > 0 && o.State <= maxState) {
		bad = append(bad, fmt.Errorf("mqtt.state: %g Hz, want above 0 and at most %g Hz; every row is in samples", o.State, maxState))
	}
	if !(o.Batch >= 1e-3 && o.Batch <= 10) {
		bad = append(bad, fmt.Errorf("mqtt.batch: %g s, want 1 ms to 10 s", o.Batch))
	}
	if !(o.Estimate >= 0) {
		bad = append(bad, fmt.Errorf("mqtt.estimate: %g s, want 0 (none) or more", o.Estimate))
	}
	if o.Commands != "none" && o.Commands != "stop" && o.Commands != "all" {
		bad = append(bad, fmt.Errorf("mqtt.commands: %q, want none, stop or all", o.Commands))
	}
	if !(s.Rate > 0) {
		bad = append(bad, fmt.Errorf("loop.rate: %g Hz, want above 0", s.Rate))
	}
	enc, err := newEncoder(o.Info)
	if err := errors.Join(append(bad, err)...); err != nil {
		return nil, err
	}

	root := topicRoot(o.Prefix, s.Rig)
	meta, err := metaJSON(&o, root)
	if err != nil {
		return nil, fmt.Errorf("mqtt: describe rig %s: %w", s.Rig, err)
	}
	n := max(minQueue, int(queueFor/span(o.Batch)))
	p := &Publisher{o: o, root: root, enc: enc, est: newEstimates(s), meta: meta,
		queue: make(chan *batch, n), spare: make(chan *batch, n+4),
		events: make(chan hil.Event, eventQueue), acks: make(chan ack, ackQueue), news: make(chan struct{}, 1), link: make(chan linkChange, 4),
	}
	p.commands = newCommands(p)
	p.drainer = drainer{p: p, batch: int64(span(o.Batch))}
	p.sender = sender{p: p, topic: newTopics(root)}
	if err := p.checkBroker(); err != nil {
		return nil, err
	}
	return p, nil
}

// Connect makes the first connection. Its failure is a *ConnectError that says why and how to go on; a connection that is
// lost later is restored in the background and never ends the program.
func (p *Publisher) Connect(ctx context.Context) error {
	c, err := p.dial(ctx)
	if err != nil {
		return err
	}
	p.changed(c, nil)
	p.connected.Store(true)
	return nil
}

// Run publishes rows until ctx ends, then what is left in the ring and the queue (for a second at most), says offline and
// disconnects. Connect must have succeeded.
func (p *Publisher) Run(ctx context.Context, rows RowSource) error {
	if !p.connected.Load() {
		return errors.New("mqtt: Run before Connect")
	}
	stop, sent := make(chan struct{}), make(chan struct{})
	go func() {
		defer failure.Report()
		defer close(sent)
		p.sender.run(stop)
	}()
	p.drainer.run(ctx, rows)
	close(stop)
	<-sent
	p.Close()
	return nil
}

// Close disconnects; Run does it at its end. A publisher that was connected and never ran needs it.
func (p *Publisher) Close() {
	p.closeOnce.Do(func() {
		p.commands.close()
		if c := p.sender.client; c != nil {
			c.Disconnect(goodbye)
		}
		for {
			select {
			case c := <-p.link:
				c.client.Disconnect(goodbye)
				continue
			default:
			}
			return
		}
	})
}

// Event queues an event for publishing. It never blocks; when the queue is full the event is dropped and counted.
func (p *Publisher) Event(e hil.Event) {
	select {
	case p.events <- e:
	default:
		p.count.eventsDropped.Add(1)
	}
}

// emit is for the publisher's own events.
func (p *Publisher) emit(level, code, text string) {
	e := hil.Event{Time: time.Now(), Level: level, Code: code, Text: text}
	if p.o.Emit != nil {
		p.o.Emit(e)
		return
	}
	p.Event(e)
}

// State is the newest row as on the topic state; nil before the first row.
func (p *Publisher) State() []byte {
	var r hil.Row
	if !p.latest(&r) {
		return nil
	}
	return p.enc.state(nil, &r)
}

// HealthJSON is the newest report as on the topic health; nil without metrics.
func (p *Publisher) HealthJSON() []byte {
	if p.o.Metrics == nil {
		return nil
	}
	h := p.Health()
	return h.AppendJSON(nil)
}

// Health is the newest report of the metrics, with what the publisher lost.
func (p *Publisher) Health() Health {
	h := p.o.Metrics.Health()
	s := p.Stats()
	h.Extra = append(h.Extra,
		Field{"mqtt_ring_dropped", float64(s.RingDropped)},
		Field{"samples_dropped", float64(s.Dropped)},
		Field{"samples_unconfirmed", float64(s.Unconfirmed)},
		Field{"events_dropped", float64(s.EventsDropped)},
		Field{"mqtt_reconnects", float64(s.Reconnects)},
	)
	return h
}

// Stats may be called from any goroutine.
func (p *Publisher) Stats() PublisherStats {
	c := &p.count
	return PublisherStats{
		Rows: c.rows.Load(), SentRows: c.sentRows.Load(), Gaps: c.gaps.Load(), Reconnects: c.reconnects.Load(),
		MaxGap:    time.Duration(c.maxGap.Load()),
		lossCount: lossCount{c.dropped.Load(), c.unconfirmed.Load(), c.ringDropped.Load(), c.eventsDropped.Load()},
	}
}

func (p *Publisher) setNewest(r *hil.Row) {
	p.mu.Lock()
	p.newestRow, p.hasRow = *r, true
	p.mu.Unlock()
}

func (p *Publisher) latest(r *hil.Row) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hasRow {
		*r = p.newestRow
	}
	return p.hasRow
}

// span is a time (s) as Go has it.
func span(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
