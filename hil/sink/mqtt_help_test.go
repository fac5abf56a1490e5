package sink

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"hilrig/engine"
	"hilrig/engine/peer"
	"hilrig/hil"
	"hilrig/hil/ring"
)

// testSchema is a small rig with running estimates.
func testSchema() hil.Schema {
	shaft := func(name, unit string, role hil.ChannelRole) hil.Channel {
		return hil.Channel{Signal: engine.Signal{Name: "shaft." + name, Unit: unit}, Owner: "shaft", Axis: "shaft", Role: role}
	}
	s := hil.Schema{Rig: "bench", Rate: 1000,
		Owners: []hil.Owner{{Name: "drive", Kind: hil.DeviceOwner, Title: "motor board"}, {Name: "shaft", Kind: hil.AxisOwner}},
		Meas:   hil.Of("drive", engine.Signal{Name: "motor.angle", Unit: "rad"}, engine.Signal{Name: "motor.current", Unit: "A"}),
		Est: []hil.Channel{shaft("est.velocity", "rad/s", hil.RoleVelocity), shaft("rls.J", "kg·m²", hil.RoleParameter),
			shaft("rls.J_se", "kg·m²", hil.RoleStdErr), shaft("rls.windows", "", hil.RoleCount)},
		Model: []hil.Channel{shaft("model.friction", "N·m", hil.RoleFriction)},
		Cmd:   hil.Of("drive", engine.Signal{Name: "voltage", Unit: "V"}),
	}
	s.Meas[0].Axis, s.Meas[0].Role = "shaft", hil.RolePosition
	s.Meas[1].Axis, s.Meas[1].Role, s.Meas[1].Range = "shaft", hil.RoleCurrent, [2]float64{-20, 20}
	s.Cmd[0].Axis, s.Cmd[0].Role = "shaft", hil.RoleCommand
	return s
}

func testInfo() *hil.Info {
	return &hil.Info{Run: "20261123T000000Z", Version: "test", ConfigHash: "abc", Schema: testSchema(), Start: time.Now(), Mono: 5_000_000_000}
}

func testOptions(broker string) PublisherOptions {
	return PublisherOptions{Info: testInfo(), MQTT: MQTT{Prefix: "hil", Broker: broker, State: 20, Batch: 0.04, Estimate: 0.1,
		Commands: "all"}, Log: slog.New(slog.DiscardHandler)}
}

// feed pushes rows at 1 kHz into a ring until ctx ends, as a core would, and says how many it made.
func feed(ctx context.Context, info *hil.Info) (RowSource, func() uint64) {
	r := ring.New[hil.Row](4096)
	w := r.Writer()
	done := make(chan uint64, 1)
	go func() {
		var row hil.Row
		start := time.Now()
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			for n := uint64(time.Since(start) / time.Millisecond); row.Seq < n; {
				row.Seq++
				row.T = info.Mono + int64(row.Seq)*1e6
				row.Lateness, row.BusyTime, row.Mode = 3000, 2100, hil.Run
				row.X[0] = float64(row.Seq) * 1e-3
				row.X[3], row.X[4] = 7e-5, 1e-7
				w.Push(&row)
			}
			<-tick.C
		}
		done <- row.Seq
	}()
	return r.Reader(), func() uint64 { return <-done }
}

// listener gathers what arrives at a client.
type listener struct {
	mu   sync.Mutex
	got  []received
	wake chan struct{}
}

type received struct {
	topic    string
	body     []byte
	retained bool
}

func (l *listener) handle(_ paho.Client, m paho.Message) {
	l.mu.Lock()
	l.got = append(l.got, received{m.Topic(), append([]byte(nil), m.Payload()...), m.Retained()})
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// wait returns the first message on a topic for which ok holds.
func (l *listener) wait(t *testing.T, what string, ok func(received) bool) received {
	t.Helper()
	end := time.After(15 * time.Second)
	next := 0
	for {
		l.mu.Lock()
		for ; next < len(l.got); next++ {
			if m := l.got[next]; ok(m) {
				l.mu.Unlock()
				return m
			}
		}
		l.mu.Unlock()
		select {
		case <-l.wake:
		case <-end:
			t.Fatalf("no message: %s", what)
		}
	}
}

func (l *listener) all() []received {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]received(nil), l.got...)
}

func onTopic(topic string) func(received) bool {
	return func(m received) bool { return m.topic == topic }
}

// client connects a plain paho client and subscribes it to everything.
func client(t *testing.T, broker, user, password string) (paho.Client, *listener) {
	t.Helper()
	l := &listener{wake: make(chan struct{}, 1)}
	var id [4]byte
	rand.Read(id[:])
	co := paho.NewClientOptions().AddBroker(broker).SetClientID(fmt.Sprintf("test-%x", id)).SetUsername(user).SetPassword(password).
		SetConnectTimeout(5 * time.Second).SetAutoReconnect(false).SetDefaultPublishHandler(l.handle)
	c := paho.NewClient(co)
	if err := token(c.Connect()); err != nil {
		t.Fatalf("connect %s as %q: %v", broker, user, err)
	}
	t.Cleanup(func() { c.Disconnect(50) })
	if err := token(c.Subscribe("hil/#", 1, nil)); err != nil {
		t.Fatal(err)
	}
	return c, l
}

func token(tok paho.Token) error {
	if !tok.WaitTimeout(10 * time.Second) {
		return fmt.Errorf("no answer within 10 s")
	}
	return tok.Error()
}

// runPublisher connects and runs until the returned function is called.
func runPublisher(t *testing.T, o PublisherOptions) (*Publisher, func() (made uint64)) {
	t.Helper()
	p, err := NewPublisher(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	rows, made := feed(ctx, o.Info)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := p.Run(ctx, rows); err != nil {
			t.Error(err)
		}
	}()
	var once sync.Once
	var n uint64
	end := func() uint64 {
		once.Do(func() {
			cancel()
			n = made()
			<-done
		})
		return n
	}
	t.Cleanup(func() { end() })
	return p, end
}

// testBroker is the embedded broker on a free port.
func testBroker(t *testing.T) Broker {
	t.Helper()
	b, err := StartBroker(BrokerOptions{Listen: "127.0.0.1:0", Prefix: "hil", Rig: "bench", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// mosquitto is a second, independent broker: plain listener for anonymous clients or with a password file, TLS listener.
type mosquitto struct {
	cmd             *exec.Cmd
	plain, tls, dir string
}

func startMosquitto(t *testing.T, extra string, withTLS bool) *mosquitto {
	t.Helper()
	path := peer.Program(t, "mosquitto", "mosquitto")
	m := &mosquitto{dir: t.TempDir()}
	plain := freePort(t)
	m.plain = fmt.Sprintf("tcp://127.0.0.1:%d", plain)
	conf := fmt.Sprintf("persistence false\nuser root\n%s\nlistener %d 127.0.0.1\n", extra, plain)
	if withTLS {
		port := freePort(t)
		m.tls = fmt.Sprintf("ssl://localhost:%d", port)
		makeCertificates(t, m.dir)
		conf += fmt.Sprintf("listener %d 127.0.0.1\ncertfile %s\nkeyfile %s\n", port, m.file("server.pem"), m.file("server.key"))
	}
	if err := os.WriteFile(m.file("mosquitto.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	m.cmd = exec.Command(path, "-c", m.file("mosquitto.conf"))
	m.cmd.Stderr = &said
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.cmd.Process.Kill(); m.cmd.Wait() })
	for range 100 {
		if c, err := net.Dial("tcp", strings.TrimPrefix(m.plain, "tcp://")); err == nil {
			c.Close()
			return m
		}
		time.Sleep(20 * time.Millisecond)
	}
	m.cmd.Process.Kill()
	m.cmd.Wait()
	t.Fatalf("mosquitto does not open its port: %s", said.String())
	return nil
}

func (m *mosquitto) file(name string) string { return filepath.Join(m.dir, name) }

func freePort(t *testing.T) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

// makeCertificates writes an authority (ca.pem) and a server certificate for localhost signed by it.
func makeCertificates(t *testing.T, dir string) {
	t.Helper()
	write := func(name, kind string, der []byte) {
		b := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sign := func(tpl, parent *x509.Certificate, pub any, key *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, tpl, parent, pub, key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	caKey, err1 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	key, err2 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	from, to := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: from, NotAfter: to,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	server := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: from, NotAfter: to,
		DNSNames: []string{"localhost"}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	write("ca.pem", "CERTIFICATE", sign(ca, ca, &caKey.PublicKey, caKey))
	write("server.pem", "CERTIFICATE", sign(server, ca, &key.PublicKey, caKey))
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write("server.key", "EC PRIVATE KEY", der)
}

// leakCheck fails when goroutines outlive the test; it must be called first, so that it looks last.
func leakCheck(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		var n int
		for range 300 {
			if n = runtime.NumGoroutine(); n <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		buf := make([]byte, 1<<16)
		t.Errorf("%d goroutines before, %d after:\n%s", before, n, buf[:runtime.Stack(buf, true)])
	})
}

func decode(t *testing.T, body []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
}

// dialInto opens plain TCP connections and hands them to the test as well.
func dialInto(ncs chan<- net.Conn) func(*url.URL, paho.ClientOptions) (net.Conn, error) {
	return func(u *url.URL, _ paho.ClientOptions) (net.Conn, error) {
		nc, err := net.Dial("tcp", u.Host)
		if err == nil {
			ncs <- nc
		}
		return nc, err
	}
}

// crossSite is the request of a browser that shows a page of another site.
func crossSite(t *testing.T, to string) *http.Request {
	t.Helper()
	r, err := http.NewRequest("GET", to, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Origin": "http://elsewhere.example", "Connection": "Upgrade", "Upgrade": "websocket",
		"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "mqtt"} {
		r.Header.Set(k, v)
	}
	return r
}

// way is a stretch of network between publisher and broker that can be cut. Its port stays open, so that no other program
// takes it meanwhile; while the way is cut, connections are closed as soon as they are accepted.
type way struct {
	addr string
	mu   sync.Mutex
	to   string // "": cut
	ends []net.Conn
}

func openWay(t *testing.T, to string) *way {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &way{addr: ln.Addr().String(), to: to}
	go func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			w.join(near)
		}
	}()
	t.Cleanup(func() { ln.Close(); w.cut() })
	return w
}

func (w *way) join(near net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.to == "" {
		near.Close()
		return
	}
	far, err := net.Dial("tcp", w.to)
	if err != nil {
		near.Close()
		return
	}
	w.ends = append(w.ends, near, far)
	for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
		go func() {
			io.Copy(pair[0], pair[1])
			pair[0].Close()
			pair[1].Close()
		}()
	}
}

func (w *way) open(to string) {
	w.mu.Lock()
	w.to = to
	w.mu.Unlock()
}

func (w *way) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = ""
	for _, c := range w.ends {
		c.Close()
	}
	w.ends = nil
}

// until waits for a condition and names it when it does not come.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still waiting: %s", what)
		}
	}
}
