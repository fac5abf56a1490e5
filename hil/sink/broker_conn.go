package sink

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/mochi-mqtt/server/v2/listeners"
)

const (
	helloWait = 10 * time.Second       // a connection that has not sent CONNECT by then is closed
	writeWait = 2 * time.Second        // a client that takes no byte for so long is cut off
	byeWait   = 200 * time.Millisecond // for the good-bye to leave when the broker closes
)

// conn guards the broker against its clients. The broker writes while it holds a lock of the client, and a publish at QoS 1
// to that client takes the same lock: one frozen subscriber could hold up everybody for its whole keep-alive. So every write
// has a deadline of its own, and missing it ends the connection.
type conn struct {
	net.Conn
	b    *mochi
	once sync.Once
}

// track registers a connection; nil when the broker is closed already.
func (b *mochi) track(nc net.Conn) *conn {
	c := &conn{Conn: nc, b: b}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		nc.Close()
		return nil
	}
	b.conns[c] = struct{}{}
	nc.SetReadDeadline(time.Now().Add(helloWait))
	return c
}

func (c *conn) Write(p []byte) (int, error) {
	c.Conn.SetWriteDeadline(time.Now().Add(writeWait))
	n, err := c.Conn.Write(p)
	if err != nil {
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			c.b.cut.Add(1)
		}
		c.Close() // part of a packet may be out: the stream cannot go on
	}
	return n, err
}

// SetDeadline is what the broker calls for the keep-alive; it concerns reading only, see Write.
func (c *conn) SetDeadline(t time.Time) error { return c.Conn.SetReadDeadline(t) }

func (c *conn) Close() (err error) {
	c.once.Do(func() {
		c.b.mu.Lock()
		delete(c.b.conns, c)
		c.b.mu.Unlock()
		err = c.Conn.Close()
	})
	return err
}

// closeSoon ends the connection after byeWait, or when its client has gone by itself.
func (c *conn) closeSoon() { time.AfterFunc(byeWait, func() { c.Close() }) }

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
	out  slog.Handler
	last atomic.Int64 // ns  time of the newest line
	lost atomic.Int64 // lines left out since
}

func (q *quietLog) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

func (q *quietLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "" { // every disconnection arrives as an empty warning
		return nil
	}
	now := r.Time.UnixNano()
	if prev := q.last.Load(); now-prev < int64(time.Second) || !q.last.CompareAndSwap(prev, now) {
		q.lost.Add(1)
		return nil
	}
	out := slog.NewRecord(r.Time, slog.LevelWarn, "mqtt broker: "+r.Message, 0)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" || a.Key == "client" || a.Key == "listener" {
			out.AddAttrs(a)
		}
		return true
	})
	if n := q.lost.Swap(0); n > 0 {
		out.AddAttrs(slog.Int64("similar", n))
	}
	return q.out.Handle(ctx, out)
}

func (q *quietLog) WithAttrs([]slog.Attr) slog.Handler { return q }
func (q *quietLog) WithGroup(string) slog.Handler      { return q }
