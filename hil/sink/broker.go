package sink

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"

	"hilrig/hil/rt"
)

// Broker is the embedded MQTT broker as the rest of the program sees it; what is behind it may be exchanged.
type Broker interface {
	Addr() string                   // address in use, which may differ from the one asked for
	URL() string                    // for the publisher of this process: tcp://127.0.0.1:1883
	Login() (user, password string) // of the publisher of this process
	Operator() string               // password of the user operator, given or generated
	Handler() http.Handler          // MQTT over WebSocket, to be mounted on the page's port
	Stats() BrokerStats
	Close() error // ends all connections and waits for them
}

// BrokerStats are counters since start.
type BrokerStats struct {
	Clients            int64 // connected now
	DeniedRequests     int64 // publishes, last wills and client ids of those who may not have them
	Dropped            int64 // messages a slow subscriber did not get
	RefusedConnections int64 // connections refused because all seats of their user were taken
	StalledConnections int64 // connections ended because the far side took no byte for writeWait
}

// BrokerOptions describe who may reach the broker and where.
type BrokerOptions struct {
	Listen   string // "localhost:1883"; when the port is taken the next free one within portRange is used
	Prefix   string // of the topics, "hil"
	Rig      string
	Operator string    // password of the user operator; empty: a fresh one
	Share    *rt.Share // what connections of viewers wait for; nil: nothing
	Log      *slog.Logger

	login string // password of the user rig; empty: a fresh one
}

const (
	portRange   = 20        // ports tried after the one asked for
	maxGreeting = 64        // connections that have not said who they are; a further one ends the oldest of them
	maxPending  = 64        // messages waiting for one slow subscriber; the next is dropped
	maxInflight = 256       // unacknowledged QoS 1 messages for one subscriber
	maxPacket   = 1 << 20   // bytes; bounds what an unknown client can make the broker allocate
	idleSession = 3600      // s  a persistent session outlives its connection by this
	quietSys    = 24 * 3600 // s  between two $SYS reports; each costs a stop-the-world pause
)

// seats are the connections of each user at once, so that viewers cannot take those of commands and of the rig itself.
var seats = map[string]int{userViewer: 96, userOperator: 24, userRig: 8}

type mochi struct {
	server   *mqtt.Server
	access   *access
	addr     net.Addr
	rig      string // password of the user rig, never leaves the process
	operator string
	ws       *wsListener
	share    *rt.Share
	log      *slog.Logger
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc

	mu                 sync.Mutex
	conns              map[*conn]struct{} // every open connection, also those that have not said CONNECT yet
	seated             map[string]int     // connections of each user
	stopped            bool
	refusedConnections atomic.Int64
	writers            sync.WaitGroup // one for each connection
	pendingConns       sync.WaitGroup // connections that the broker has not begun to read
	stalledConnections atomic.Int64
	droppedMessages    atomic.Int64 // messages dropped at a full queue of a connection
}

// StartBroker opens the TCP listener and serves. Errors name the address and what to do about it.
func StartBroker(o BrokerOptions) (Broker, error) {
	if err := checkTopicPart("mqtt.prefix", o.Prefix, true); err != nil {
		return nil, err
	}
	if err := checkTopicPart("rig.name", o.Rig, false); err != nil {
		return nil, err
	}
	o.Log, o.Operator, o.login = cmp.Or(o.Log, slog.Default()), cmp.Or(o.Operator, secret()), cmp.Or(o.login, secret())
	ln, err := listen(o.Listen)
	if err != nil {
		return nil, err
	}

	caps := mqtt.NewDefaultServerCapabilities()
	caps.MaximumClientWritesPending = maxPending
	caps.MaximumInflight = maxInflight
	caps.MaximumPacketSize = maxPacket
	caps.MaximumSessionExpiryInterval = idleSession
	b := &mochi{addr: ln.Addr(), rig: o.login, operator: o.Operator, ws: &wsListener{}, conns: make(map[*conn]struct{}),
		seated: make(map[string]int)}
	b.share, b.log = o.Share, o.Log
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.server = mqtt.New(&mqtt.Options{
		Capabilities:           caps,
		Logger:                 slog.New(&quietLog{handler: o.Log.Handler()}),
		InlineClient:           true, // answers refused commands
		SysTopicResendInterval: quietSys,
	})
	b.server.Listeners.ClientsWg.Add(1) // see Close
	b.access = &access{b: b, root: topicRoot(o.Prefix, o.Rig)}
	err = errors.Join(
		b.server.AddHook(b.access, nil),
		b.server.AddListener(listeners.NewNet("tcp", &trackedListener{ln, b})),
		b.server.AddListener(b.ws),
	)
	if err == nil {
		err = b.server.Serve()
	}
	if err != nil {
		b.cancel()
		ln.Close()
		return nil, fmt.Errorf("mqtt: start the embedded broker on %s: %w", ln.Addr(), err)
	}
	return b, nil
}

// listen opens addr, or the next free port after it.
func listen(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("mqtt.listen: %q is not host:port, for example localhost:1883", addr)
	}
	first, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("mqtt.listen: port %q of %q is not a number from 0 to 65535", port, addr)
	}
	last := min(first+portRange, 65535)
	for p := first; p <= last; p++ {
		ln, err := net.Listen("tcp", net.JoinHostPort(host, strconv.FormatUint(p, 10)))
		if err == nil {
			return ln, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("mqtt.listen: open %s: %w. Ports below 1024 need privileges; the host must be an address of this machine", addr,
				err)
		}
	}
	return nil, fmt.Errorf("mqtt.listen: ports %d to %d on %s are all in use. Set mqtt.listen to a free one, or to :0 for any", first, last,
		host)
}

func (b *mochi) Addr() string            { return b.addr.String() }
func (b *mochi) Operator() string        { return b.operator }
func (b *mochi) Login() (string, string) { return userRig, b.rig }

// URL reaches the listener from this machine, also when it listens on every address.
func (b *mochi) URL() string {
	tcp := b.addr.(*net.TCPAddr)
	host := tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "tcp://" + net.JoinHostPort(host, strconv.Itoa(tcp.Port))
}

func (b *mochi) Stats() BrokerStats {
	return BrokerStats{
		Clients:            atomic.LoadInt64(&b.server.Info.ClientsConnected),
		DeniedRequests:     b.access.deniedRequests.Load(),
		Dropped:            atomic.LoadInt64(&b.server.Info.MessagesDropped) + b.droppedMessages.Load(),
		RefusedConnections: b.refusedConnections.Load(),
		StalledConnections: b.stalledConnections.Load(),
	}
}

// Close says good-bye to the clients, then cuts what is still open: a client that never sent CONNECT would otherwise be
// waited for.
func (b *mochi) Close() error {
	b.mu.Lock()
	if b.stopped {
		b.mu.Unlock()
		b.writers.Wait()
		return nil
	}
	b.stopped = true
	b.cancel()
	open := slices.Collect(maps.Keys(b.conns))
	b.mu.Unlock()

	// the broker adds to its wait group when it begins with a connection, which must not happen while Close waits for the
	// group to become empty: one seat is held until every connection was begun
	go func() {
		b.pendingConns.Wait()
		b.server.Listeners.ClientsWg.Done()
	}()
	bye := time.AfterFunc(byeWait, func() {
		for _, c := range open {
			c.Close()
		}
	})
	defer bye.Stop()

	// the broker's own way of disconnecting its clients locks their list twice for reading, and hangs for ever when a client
	// leaves in between. So they are sent away here, and its Close finds the list at rest
	for _, cl := range b.server.Clients.GetAll() {
		b.server.DisconnectClient(cl, packets.ErrServerShuttingDown)
	}
	b.server.Listeners.ClientsWg.Wait()
	err := b.server.Close()
	b.writers.Wait()
	return err
}

// secret is 128 random bits as text.
func secret() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: the program would have ended
	return base64.RawURLEncoding.EncodeToString(b[:])
}
