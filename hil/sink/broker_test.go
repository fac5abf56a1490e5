package sink

import (
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"hilrig/hil"
)

func TestBrokerTakesTheNextFreePort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	b, err := StartBroker(BrokerOptions{Listen: taken.Addr().String(), Prefix: "hil", Rig: "bench", Operator: "given"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if b.Addr() == taken.Addr().String() || b.Operator() != "given" {
		t.Errorf("address %s, operator %s", b.Addr(), b.Operator())
	}
	client(t, b.URL(), "", "")
}

func TestBrokerAddressesThatCannotBe(t *testing.T) {
	for listen, want := range map[string]string{
		"localhost":        "not host:port",
		"localhost:mqtt":   "not a number",
		"192.0.2.1:1883":   "address of this machine", // a documentation address, on no machine
		"127.0.0.1:999999": "not a number",
	} {
		b, err := StartBroker(BrokerOptions{Listen: listen, Prefix: "hil", Rig: "bench"})
		if err == nil {
			b.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", listen, err, want)
		}
	}
}

// Who may do what. A refused publish must neither end the connection nor reach anybody.
func TestBrokerRoles(t *testing.T) {
	leakCheck(t)
	b := testBroker(t)
	rigUser, rigPassword := b.Login()
	_, seen := client(t, b.URL(), rigUser, rigPassword)

	for _, c := range []struct {
		name, user, password string
		operator             bool
	}{
		{"anonymous", "", "", false},
		{"viewer", "viewer", "anything", false},
		{"operator", "operator", b.Operator(), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			pub, own := client(t, b.URL(), c.user, c.password)
			before := b.Stats().DeniedRequests
			for topic, body := range map[string]string{
				"hil/bench/cmd/run":     `{"id":"` + c.name + `"}`,
				"hil/bench/cmd/run/ack": `{"id":"forged","ok":true}`,
				"hil/bench/status":      "offline",
				"other/tree":            "x",
			} {
				if err := token(pub.Publish(topic, 1, false, body)); err != nil {
					t.Errorf("%s: %v: a refusal must not cost the connection", topic, err)
				}
			}
			if !pub.IsConnectionOpen() {
				t.Fatal("the connection was closed")
			}
			if c.operator {
				seen.wait(t, "the operator's command", func(m received) bool {
					return m.topic == "hil/bench/cmd/run" && strings.Contains(string(m.body), c.name)
				})
				if n := b.Stats().DeniedRequests - before; n != 3 {
					t.Errorf("%d refusals, want 3", n)
				}
				return
			}
			var r hil.Reply
			decode(t, own.wait(t, "the answer", onTopic("hil/bench/cmd/run/ack")).body, &r)
			if r.OK || r.ID != c.name || !strings.Contains(r.Error, "only read") {
				t.Errorf("%+v", r)
			}
			if n := b.Stats().DeniedRequests - before; n != 4 {
				t.Errorf("%d refusals, want 4", n)
			}
		})
	}
	for _, m := range seen.all() {
		body := string(m.body)
		if strings.Contains(body, "forged") || m.topic == "hil/bench/status" || m.topic == "hil/bench/cmd/run" &&
			!strings.Contains(body, "operator") {
			t.Errorf("got through: %s %s", m.topic, body)
		}
	}
}

func TestBrokerRefusesWrongPasswords(t *testing.T) {
	t.Parallel()
	b := testBroker(t)
	for _, c := range [][2]string{{"operator", "guess"}, {"rig", ""}, {"nobody", ""}} {
		cl := paho.NewClient(paho.NewClientOptions().AddBroker(b.URL()).SetUsername(c[0]).SetPassword(c[1]).SetProtocolVersion(4))
		if err := token(cl.Connect()); err == nil {
			t.Errorf("%s with password %q was let in", c[0], c[1])
			cl.Disconnect(0)
		}
	}
}

// A last will is a publish too: a viewer's must not reach anybody.
func TestBrokerTakesWillsFromViewers(t *testing.T) {
	b := testBroker(t)
	user, password := b.Login()
	rig, seen := client(t, b.URL(), user, password)

	nc := make(chan net.Conn, 1)
	co := paho.NewClientOptions().AddBroker(b.URL()).SetAutoReconnect(false).SetWill("hil/bench/cmd/estop", "{}", 1,
		true).SetProtocolVersion(4)
	co.SetCustomOpenConnectionFn(dialInto(nc))
	viewer := paho.NewClient(co)
	if err := token(viewer.Connect()); err != nil {
		t.Fatal(err)
	}
	(<-nc).Close() // no good-bye, so the will is due
	until(t, "the viewer gone", func() bool { return b.Stats().Clients == 1 })
	if err := token(rig.Publish("hil/bench/status", 1, false, "mark")); err != nil {
		t.Fatal(err)
	}
	seen.wait(t, "the mark", onTopic("hil/bench/status"))
	for _, m := range seen.all() {
		if strings.Contains(m.topic, "cmd") {
			t.Errorf("the will arrived: %s", m.topic)
		}
	}
}

// The operator's retained start would come back at every reconnection; his retained stop is meant to.
func TestBrokerKeepsNoRetainedStart(t *testing.T) {
	b := testBroker(t)
	op, own := client(t, b.URL(), "operator", b.Operator())
	for _, name := range []string{"run", "stop"} {
		if err := token(op.Publish("hil/bench/cmd/"+name, 1, true, `{"id":"1"}`)); err != nil {
			t.Fatal(err)
		}
	}
	own.wait(t, "the refusal", onTopic("hil/bench/cmd/run/ack"))
	_, late := client(t, b.URL(), "", "")
	late.wait(t, "the retained stop", onTopic("hil/bench/cmd/stop"))
	for _, m := range late.all() {
		if m.topic == "hil/bench/cmd/run" {
			t.Error("a retained run was kept")
		}
	}
}

// Anonymous reading over WebSocket, with an independent client, on the page's own HTTP server.
func TestBrokerOverWebSocket(t *testing.T) {
	leakCheck(t)
	b := testBroker(t)
	web := httptest.NewServer(b.Handler())
	defer web.Close()
	user, password := b.Login()
	rig, _ := client(t, b.URL(), user, password)
	if err := token(rig.Publish("hil/bench/meta", 1, true, `{"rig":"bench"}`)); err != nil {
		t.Fatal(err)
	}
	viewer, seen := client(t, "ws"+strings.TrimPrefix(web.URL, "http")+"/mqtt", "", "")
	if m := seen.wait(t, "retained meta", onTopic("hil/bench/meta")); !m.retained {
		t.Error("meta came without the retain flag")
	}
	big := strings.Repeat("x", 100_000)
	if err := token(rig.Publish("hil/bench/samples", 0, false, big)); err != nil {
		t.Fatal(err)
	}
	if m := seen.wait(t, "samples", onTopic("hil/bench/samples")); string(m.body) != big {
		t.Errorf("%d bytes arrived", len(m.body))
	}
	if err := token(viewer.Publish("hil/bench/cmd/run", 1, false, `{"id":"w"}`)); err != nil {
		t.Error(err)
	}
	seen.wait(t, "the refusal", onTopic("hil/bench/cmd/run/ack"))

	// browsers on other sites are not let in
	resp, err := web.Client().Do(crossSite(t, web.URL))
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.StatusCode != 403 {
		t.Errorf("a page of another site got %s", resp.Status)
	}
	b.Close() // also ends what came through the handler
	until(t, "the viewer gone", func() bool { return !viewer.IsConnectionOpen() })
	web.Client().CloseIdleConnections()
}

// One frozen subscriber, subscribed at QoS 1 and without keep-alive, must not hold up the others: the broker's publish at
// QoS 1 takes a lock that a blocked write to him holds.
func TestBrokerCutsAFrozenSubscriber(t *testing.T) {
	t.Parallel()
	b := testBroker(t)
	user, password := b.Login()
	rig, _ := client(t, b.URL(), user, password)

	ncs := make(chan net.Conn, 1)
	var frozen atomic.Bool
	hold := make(chan struct{})
	defer close(hold)
	co := paho.NewClientOptions().AddBroker(b.URL()).SetAutoReconnect(false).SetKeepAlive(0).SetOrderMatters(true)
	co.SetCustomOpenConnectionFn(dialInto(ncs))
	co.SetDefaultPublishHandler(func(paho.Client, paho.Message) { frozen.Store(true); <-hold })
	slow := paho.NewClient(co)
	if err := token(slow.Connect()); err != nil {
		t.Fatal(err)
	}
	nc := <-ncs
	defer nc.Close()
	nc.(*net.TCPConn).SetReadBuffer(4096)
	if err := token(slow.Subscribe("hil/#", 1, nil)); err != nil {
		t.Fatal(err)
	}
	_, seen := client(t, b.URL(), "", "")

	body := strings.Repeat("x", 60_000)
	start := time.Now()
	for b.Stats().StalledConnections == 0 {
		if time.Since(start) > 15*time.Second {
			t.Fatalf("still connected; %+v", b.Stats())
		}
		if err := token(rig.Publish("hil/bench/samples", 0, false, body)); err != nil {
			t.Fatal(err)
		}
		if err := token(rig.Publish("hil/bench/event", 1, false, "e")); err != nil {
			t.Fatalf("after %v: %v", time.Since(start), err)
		}
	}
	if !frozen.Load() {
		t.Error("the subscriber was never reached")
	}
	if b.Stats().Dropped == 0 {
		t.Error("no message was dropped: memory grew instead")
	}
	if err := token(rig.Publish("hil/bench/event", 1, false, "last")); err != nil {
		t.Fatal(err)
	}
	seen.wait(t, "the last event at the healthy viewer", func(m received) bool { return string(m.body) == "last" })
}

// Close returns although a connection never says CONNECT.
func TestBrokerCloseDoesNotWaitForTheSilent(t *testing.T) {
	leakCheck(t)
	b, err := StartBroker(BrokerOptions{Listen: "127.0.0.1:0", Prefix: "hil", Rig: "bench", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	nc, err := net.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	until(t, "the connection", func() bool { return b.(*mochi).open() > 0 })
	done := make(chan error, 1)
	go func() { done <- b.Close() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Close hangs")
	}
	if err := b.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func (b *mochi) open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.conns)
}

// Viewers fill their own seats only: commands and telemetry find theirs. A wrong password takes none, a seat left is free again,
// and connections that never say who they are do not keep others out.
func TestBrokerSeats(t *testing.T) {
	b := testBroker(t)
	try := func(user, password string) (paho.Client, error) {
		o := paho.NewClientOptions().AddBroker(b.URL()).SetUsername(user).SetPassword(password).SetAutoReconnect(false).SetConnectTimeout(5 * time.Second).
			SetProtocolVersion(4) // or a refused client tries an older one
		c := paho.NewClient(o)
		err := token(c.Connect())
		if err == nil {
			t.Cleanup(func() { c.Disconnect(0) })
		}
		return c, err
	}
	fill := func(user, password string) (all []paho.Client) {
		t.Helper()
		for range seats[userNamed(user)] {
			c, err := try(user, password)
			if err != nil {
				t.Fatalf("%q, connection %d: %v", user, len(all)+1, err)
			}
			all = append(all, c)
		}
		for _, name := range []string{user, userNamed(user)} {
			if _, err := try(name, password); err == nil || !strings.Contains(err.Error(), "Unavailable") {
				t.Fatalf("%q, one too many: %v", name, err)
			}
		}
		return all
	}
	for range 70 {
		nc, err := net.Dial("tcp", b.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
	}
	viewers := fill("", "")
	if _, err := try(userOperator, "wrong"); err == nil {
		t.Fatal("a wrong password was taken")
	}
	operators := fill(userOperator, b.Operator())
	rigs := fill(b.Login())
	if got := b.Stats().RefusedConnections; got != 6 {
		t.Errorf("%d refused, want 6", got)
	}
	for _, c := range []paho.Client{viewers[3], operators[3], rigs[3]} {
		c.Disconnect(0)
	}
	rigUser, rigPassword := b.Login()
	for _, c := range [][2]string{{"", ""}, {userOperator, b.Operator()}, {rigUser, rigPassword}} {
		var err error
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if _, err = try(c[0], c[1]); err == nil {
				break
			}
		}
		if err != nil {
			t.Errorf("%q: the seat that was left is not free: %v", c[0], err)
		}
	}
}

// userNamed is the user behind a name.
func userNamed(name string) string {
	if name == "" {
		return userViewer
	}
	return name
}

// A fit that runs elsewhere is on the topics of the rig for the operator; for who may only read, the broker's silence is found out.
func TestFitTopics(t *testing.T) {
	leakCheck(t)
	b := testBroker(t)
	_, seen := client(t, b.URL(), "", "")
	addr := strings.TrimPrefix(b.URL(), "tcp://")
	op, err := DialFitTopics(t.Context(), "tcp://operator:"+b.Operator()+"@"+addr, "hil/bench")
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	op.Status([]byte(`{"state":"running"}`))
	if err := op.Result([]byte(`{"id":"1"}`)); err != nil {
		t.Error(err)
	}
	seen.wait(t, "the status", onTopic("hil/bench/identify/status"))
	seen.wait(t, "the result", onTopic("hil/bench/identify/result"))
	_, late := client(t, b.URL(), "", "")
	if m := late.wait(t, "the retained result", onTopic("hil/bench/identify/result")); string(m.body) != `{"id":"1"}` {
		t.Errorf("retained: %s", m.body)
	}

	viewer, err := DialFitTopics(t.Context(), b.URL()+"/hil/bench", "hil/other")
	if err != nil {
		t.Fatal(err)
	}
	defer viewer.Close()
	if err := viewer.Result([]byte(`{"id":"2"}`)); err == nil || !strings.Contains(err.Error(), "hil/bench/identify/result") {
		t.Errorf("a viewer's result: %v", err)
	}
	for address, want := range map[string]string{
		"tcp://operator:wrong@" + addr: "user",
		"tcp://127.0.0.1:1":            "refused",
		"localhost":                    "not an address",
		"ftp://localhost":              "scheme",
		b.URL() + "/hil/a+b":           "wildcards",
		b.URL() + "/rig":               "empty",
	} {
		if f, err := DialFitTopics(t.Context(), address, "hil/bench"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
			if f != nil {
				f.Close()
			}
		}
	}
}

// The daemon hears a fit that runs elsewhere, for its page; what it published itself it knows already.
func TestFitElsewhereIsHeard(t *testing.T) {
	b := testBroker(t)
	heard := make(chan string, 16)
	o := testOptions(b.URL())
	o.User, o.Password = b.Login()
	o.Sole = true
	o.Heard = func(topic string, body []byte) { heard <- topic + " " + string(body) }
	p, end := runPublisher(t, o)
	defer end()
	p.PublishRetained(RetainedFitStatus, []byte(`{"state":"idle"}`))
	_, seen := client(t, b.URL(), "", "")
	seen.wait(t, "our own", onTopic("hil/bench/identify/status"))
	op, err := DialFitTopics(t.Context(), "tcp://operator:"+b.Operator()+"@"+strings.TrimPrefix(b.URL(), "tcp://"), "hil/bench")
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	op.Status([]byte(`{"state":"running"}`))
	select {
	case got := <-heard:
		if got != `identify/status {"state":"running"}` {
			t.Errorf("heard %s", got)
		}
	case <-time.After(10 * time.Second):
		t.Error("nothing was heard")
	}
}
