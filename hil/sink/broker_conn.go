package sink

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/mochi-mqtt/server/v2/listeners"

	"hilrig/engine/failure"
)

const (
	helloWait = 10 * time.Second       // a connection that has not sent CONNECT by then is closed
	writeWait = 2 * time.Second        // a client that takes nothing for so long is cut off
	byeWait   = 200 * time.Millisecond // for the last packets to leave when a connection is closed
	softQueue = 1 << 20                // bytes waiting for a client; beyond it messages at QoS 0 are dropped
	hardQueue = 4 << 20                // bytes; beyond it the client is cut off
	portion   = 64 << 10               // bytes written at once
)

// conn guards the broker against its clients. The broker writes while it holds a lock of the client, and a publish at QoS 1
// to that client takes the same lock: one frozen subscriber could hold up everybody. So Write never waits. It queues, and a
// goroutine of the connection's own writes; a slow client loses messages at QoS 0 and one that takes nothing is cut off.
type conn struct {
	net.Conn
	b          *mochi
	wake       chan struct{}
	firstRead  sync.Once // the first Read
	acceptedAt time.Time
	user       string // whose seat it has, guarded by the broker's lock; "": none yet

	mu      sync.Mutex
	pending []byte // whole packets
	closing bool
}

// track registers a connection; nil when the broker is closed already.
func (b *mochi) track(nc net.Conn) *conn {
	c := &conn{Conn: nc, b: b, wake: make(chan struct{}, 1), acceptedAt: time.Now()}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped {
		nc.Close()
		return nil
	}
	greeting, oldest := 0, c
	for o := range b.conns {
		if o.user == "" {
			greeting++
			if o.acceptedAt.Before(oldest.acceptedAt) {
				oldest = o
			}
		}
	}
	if greeting >= maxGreeting {
		go oldest.Close()
	}
	b.conns[c] = struct{}{}
	b.writers.Add(1)
	b.pendingConns.Add(1)
	nc.SetReadDeadline(time.Now().Add(helloWait))
	go c.write()
	return c
}

// sit gives a connection a seat of its user; false when all are taken.
func (b *mochi) sit(nc net.Conn, user string) bool {
	c, ok := nc.(*conn)
	if !ok {
		return true // within the process
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seated[user] >= seats[user] {
		b.refusedConnections.Add(1)
		return false
	}
	if _, open := b.conns[c]; open {
		b.seated[user]++
		c.user = user
	}
	return true
}

func (c *conn) Read(p []byte) (int, error) {
	c.firstRead.Do(c.b.pendingConns.Done)
	if c.b.share != nil && c.lowPriority() {
		c.b.share.Wait(c.b.ctx)
	}
	return c.Conn.Read(p)
}

// lowPriority tells whether a connection may be kept waiting: that of a viewer, or one that has not said whose it is.
func (c *conn) lowPriority() bool {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	return c.user != userRig && c.user != userOperator
}

// Write queues packets. The broker always hands over whole ones, so leaving one out keeps the stream intact.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return 0, net.ErrClosed
	}
	for rest := p; len(rest) > 0; {
		n := packetLen(rest)
		// 3 is PUBLISH, the two bits below the lowest are its QoS
		if rest[0]>>4 == 3 && rest[0]&6 == 0 && len(c.pending)+n > softQueue {
			c.b.droppedMessages.Add(1)
		} else {
			c.pending = append(c.pending, rest[:n]...)
		}
		rest = rest[n:]
	}
	if len(c.pending) > hardQueue {
		c.b.stalledConnections.Add(1)
		c.pending = nil
		c.close()
		return 0, net.ErrClosed
	}
	c.signal()
	return len(p), nil
}

// packetLen is the length of the first packet of p: type, remaining length in base 128, content.
func packetLen(p []byte) int {
	n := 0
	for i := 1; i < len(p) && i < 5; i++ {
		n |= int(p[i]&0x7f) << (7 * (i - 1))
		if p[i] < 0x80 {
			return min(1+i+n, len(p))
		}
	}
	return len(p)
}

func (c *conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write sends what is queued until the connection is closed and the queue empty, or the client takes nothing any more.
func (c *conn) write() {
	defer failure.Report()
	defer c.b.writers.Done()
	var out []byte
	for range c.wake {
		c.mu.Lock()
		out, c.pending = c.pending, out[:0]
		closing := c.closing
		c.mu.Unlock()
		for rest := out; len(rest) > 0; {
			n := min(len(rest), portion)
			c.Conn.SetWriteDeadline(time.Now().Add(writeWait))
			if _, err := c.Conn.Write(rest[:n]); err != nil {
				if ne, ok := err.(net.Error); ok && ne.Timeout() || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) &&
					!closing {
					c.b.stalledConnections.Add(1)
				}
				closing = true
				break
			}
			rest = rest[n:]
		}
		if closing {
			break
		}
	}
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.Conn.Close()
	c.firstRead.Do(c.b.pendingConns.Done)
	c.b.mu.Lock()
	delete(c.b.conns, c)
	if c.user != "" {
		c.b.seated[c.user]--
	}
	c.b.mu.Unlock()
}

// SetDeadline is what the broker calls for the keep-alive; it concerns reading only.
func (c *conn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return net.ErrClosed
	}
	return c.Conn.SetReadDeadline(t)
}

// Close ends reading at once and lets what is queued leave within byeWait, the refusal of a connection for example.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close()
	return nil
}

func (c *conn) close() {
	if c.closing {
		return
	}
	c.closing = true
	c.Conn.SetReadDeadline(time.Unix(1, 0))
	c.signal()
	time.AfterFunc(byeWait, func() { c.Conn.Close() })
}

type trackedListener struct {
	net.Listener
	b *mochi
}

func (l *trackedListener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.b.track(nc); c != nil {
			return c, nil
		}
	}
}

// wsListener is the broker's name for connections that come through Handler; it has no port of its own.
type wsListener struct {
	establish atomic.Pointer[listeners.EstablishFn]
}

func (l *wsListener) ID() string                       { return "ws" }
func (l *wsListener) Address() string                  { return "" }
func (l *wsListener) Protocol() string                 { return "ws" }
func (l *wsListener) Init(*slog.Logger) error          { return nil }
func (l *wsListener) Serve(e listeners.EstablishFn)    { l.establish.Store(&e) }
func (l *wsListener) Close(closeAll listeners.CloseFn) { closeAll(l.ID()) }

// Handler speaks MQTT over WebSocket (subprotocol "mqtt"). Browsers may come from pages of the same host only.
func (b *mochi) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		establish := b.ws.establish.Load()
		if establish == nil {
			http.Error(w, "the broker is starting", http.StatusServiceUnavailable)
			return
		}
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mqtt", "mqttv3.1"}})
		if err != nil {
			return // Accept has answered
		}
		if ws.Subprotocol() == "" {
			ws.Close(websocket.StatusPolicyViolation, "ask for the subprotocol mqtt")
			return
		}
		// the request's context ends with this handler, which returns when the connection is over
		c := b.track(wsConn{websocket.NetConn(r.Context(), ws, websocket.MessageBinary), ws})
		if c == nil {
			return
		}
		ws.SetReadLimit(maxPacket)
		_ = (*establish)(b.ws.ID(), c) // ends with every disconnection; nothing to report
		c.Close()
	})
}

// wsConn closes without waiting for the far side's half of the closing handshake, which a frozen browser never sends.
type wsConn struct {
	net.Conn
	ws *websocket.Conn
}

func (c wsConn) Close() error { return c.ws.CloseNow() }

// quietLog passes on warnings, at most one a second, without the packets that the broker attaches to them.
type quietLog struct {
	handler      slog.Handler
	lastLine     atomic.Int64 // ns  time of the newest line
	droppedLines atomic.Int64 // lines left out since
}

func (q *quietLog) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

func (q *quietLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "" { // every disconnection arrives as an empty warning
		return nil
	}
	now := r.Time.UnixNano()
	if prev := q.lastLine.Load(); now-prev < int64(time.Second) || !q.lastLine.CompareAndSwap(prev, now) {
		q.droppedLines.Add(1)
		return nil
	}
	out := slog.NewRecord(r.Time, slog.LevelWarn, "mqtt broker: "+r.Message, 0)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" || a.Key == "client" || a.Key == "listener" {
			out.AddAttrs(a)
		}
		return true
	})
	if n := q.droppedLines.Swap(0); n > 0 {
		out.AddAttrs(slog.Int64("similar", n))
	}
	return q.handler.Handle(ctx, out)
}

func (q *quietLog) WithAttrs([]slog.Attr) slog.Handler { return q }
func (q *quietLog) WithGroup(string) slog.Handler      { return q }
