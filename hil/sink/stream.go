package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hilrig/hil"
)

// Stream serves the rows of a run, its events and what is known of it to the pages of this process, under the names and with the payloads
// of the MQTT topics, whether there is a broker or not. Nothing is encoded while nobody listens. A page that does not keep up loses whole
// messages, which it sees by the sequence numbers and finds in the recording; it holds up nobody.
type Stream struct {
	o             StreamOptions
	enc           *encoder
	est           estimates
	listenerCount atomic.Int32 // pages that listen

	mu        sync.Mutex
	listeners map[*Listener]struct{}
	retained  map[string][]byte // newest message of the topics that a newcomer needs
	events    [][]byte          // the newest, oldest first
}

// StreamOptions say what is sent, and how often.
type StreamOptions struct {
	Info     *hil.Info
	Batch    float64       // s  of rows in a message; 0: 40 ms
	Estimate float64       // s  between two estimates; 0: 0.5 s
	Health   func() []byte // the report of every second; nil or nothing: none
}

// StreamMessage is one message to a page.
type StreamMessage struct {
	Topic string
	Body  []byte // shared by all listeners
}

// Listener is one page.
type Listener struct {
	s *Stream
	C <-chan StreamMessage
	c chan StreamMessage
}

// eventRoom is how many events are kept for pages that are opened later.
const eventRoom = 1000

// streamRoom is how many messages may wait for a page: some 4 s.
const streamRoom = 128

// NewStream checks that the rows can be encoded. Run must follow.
func NewStream(o StreamOptions) (*Stream, error) {
	if o.Batch <= 0 {
		o.Batch = 0.04
	}
	if o.Estimate <= 0 {
		o.Estimate = 0.5
	}
	enc, err := newEncoder(o.Info)
	if err != nil {
		return nil, err
	}
	return &Stream{o: o, enc: enc, est: newEstimates(&o.Info.Schema), listeners: map[*Listener]struct{}{}, retained: map[string][]byte{}}, nil
}

// Listen begins with what is kept.
func (s *Stream) Listen() *Listener {
	l := &Listener{s: s, c: make(chan StreamMessage, streamRoom)}
	l.C = l.c
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[l] = struct{}{}
	s.listenerCount.Store(int32(len(s.listeners)))
	for topic, body := range s.retained {
		l.c <- StreamMessage{topic, body} // has room for all topics there are
	}
	return l
}

// Close ends it; nothing is sent any more.
func (l *Listener) Close() {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	delete(l.s.listeners, l)
	l.s.listenerCount.Store(int32(len(l.s.listeners)))
}

func (s *Stream) send(topic string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.listeners {
		select {
		case l.c <- StreamMessage{topic, body}:
		default: // a page that does not keep up misses rows, and goes on with the next ones
		}
	}
}

// PublishRetained sends a message on a topic if it is news, and keeps it for those who come later.
func (s *Stream) PublishRetained(topic string, body []byte) {
	s.mu.Lock()
	known := bytes.Equal(s.retained[topic], body)
	s.retained[topic] = body
	s.mu.Unlock()
	if !known {
		s.send(topic, body)
	}
}

// Event sends an event, and keeps it for EventsJSON. It never blocks.
func (s *Stream) Event(e hil.Event) {
	body := encodeEvent(e, appendSeconds(nil, e.Time.UnixNano()))
	s.mu.Lock()
	s.events = append(s.events, body)
	if len(s.events) > eventRoom {
		s.events = slices.Delete(s.events, 0, len(s.events)-eventRoom)
	}
	s.mu.Unlock()
	s.send("event", body)
}

// EventsJSON are the newest events of the run, oldest first, as an array of JSON.
func (s *Stream) EventsJSON() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Concat([]byte("["), bytes.Join(s.events, []byte(",")), []byte("]"))
}

// Run sends rows until ctx ends.
func (s *Stream) Run(ctx context.Context, rows RowSource) error {
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	var row hil.Row
	var buf []byte // rows of the message under way
	var slot int64
	var stated, estimated, reported time.Time
	batch := int64(span(s.o.Batch))
	flush := func() {
		if len(buf) > 0 {
			s.send("samples", append(bytes.Clone(buf), ']'))
			buf = buf[:0]
		}
	}
	for ctx.Err() == nil {
		some := false
		for rows.Pop(&row) {
			some = true
			if s.listenerCount.Load() == 0 {
				buf = buf[:0]
				continue
			}
			if at := row.T / batch; at != slot || len(buf) > maxMessage {
				flush()
				slot = at
			}
			if len(buf) == 0 {
				buf = append(buf, '[')
			} else {
				buf = append(buf, ',')
			}
			buf = s.enc.sample(buf, &row)
		}
		now := time.Now()
		switch {
		case some:
		case now.UnixNano() > s.enc.zero+(slot+3)*batch:
			flush() // the loop has stopped
		}
		if s.listenerCount.Load() > 0 && row.Seq > 0 {
			if now.Sub(stated) > 50*time.Millisecond {
				stated = now
				s.send("state", s.enc.state(nil, &row))
			}
			if len(s.est.columns) > 0 && now.Sub(estimated) > span(s.o.Estimate) {
				estimated = now
				s.send("estimate", s.est.appendFlat(nil, s.enc, &row))
			}
			if s.o.Health != nil && now.Sub(reported) > time.Second {
				reported = now
				if body := s.o.Health(); json.Valid(body) {
					s.send("health", body)
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return nil
}
