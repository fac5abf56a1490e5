package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hilrig/hil"
)

// Every topic, seen by a viewer of the embedded broker.
func TestPublisherTopics(t *testing.T) {
	leakCheck(t)
	b := testBroker(t)
	o := testOptions(b.URL())
	o.User, o.Password = b.Login()
	o.Metrics = NewMetrics(MetricsOptions{})
	o.OnRow = o.Metrics.Add
	_, seen := client(t, b.URL(), "viewer", "")
	p, end := runPublisher(t, o)
	p.Event(hil.Event{Time: time.Now(), Seq: 7, Level: "warn", Code: "TEST", Text: `quoted "text"`})

	var meta Meta
	m := seen.wait(t, "meta", onTopic("hil/bench/meta"))
	decode(t, m.body, &meta)
	if meta.Rig != "bench" || meta.Rate != 1000 || meta.Run != "20261123T000000Z" || len(meta.Owners) != 2 ||
		meta.Owners[0] != (Owner{"drive", "device", "motor board"}) || len(meta.Channels) != len(o.Info.Schema.Signals()) {
		t.Errorf("%s", m.body)
	}
	if c := meta.Channels[1]; c.Name != "drive.motor.current" || c.Unit != "A" || c.Block != "measured" || c.Owner != "drive" ||
		c.Axis != "shaft" || c.Role != "current" || c.Min == nil || *c.Max != 20 {
		t.Errorf("%+v", c)
	}
	var status map[string]any
	decode(t, seen.wait(t, "status", onTopic("hil/bench/status")).body, &status)
	if status["state"] != "online" || status["run"] != "20261123T000000Z" || status["pid"] != float64(os.Getpid()) {
		t.Errorf("status is %v", status)
	}
	var state, estimate, health, event map[string]any
	decode(t, seen.wait(t, "state", onTopic("hil/bench/state")).body, &state)
	decode(t, seen.wait(t, "estimate", onTopic("hil/bench/estimate")).body, &estimate)
	decode(t, seen.wait(t, "health", onTopic("hil/bench/health")).body, &health)
	decode(t, seen.wait(t, "event", onTopic("hil/bench/event")).body, &event)
	seen.wait(t, "report", onTopic("hil/bench/estimate/report"))
	if state["mode"] != "run" || estimate["shaft.rls.J"] != 7e-5 || event["text"] != `quoted "text"` || event["seq"] != 7.0 {
		t.Errorf("state %v\nestimate %v\nevent %v", state, estimate, event)
	}
	for dec, seen := json.NewDecoder(bytes.NewReader(p.HealthJSON())), map[string]bool{}; ; {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		if key, ok := tok.(string); ok && strings.Contains(key, "_") && seen[key] {
			t.Errorf("health has two %s", key)
		} else if ok {
			seen[key] = true
		}
	}
	if health["samples_dropped"] != 0.0 || health["ticks"].(float64) < 1 {
		t.Errorf("health %v", health)
	}

	// a late comer gets what is retained and nothing else
	_, late := client(t, b.URL(), "", "")
	for _, topic := range []string{"status", "meta", "estimate", "estimate/report"} {
		if m := late.wait(t, topic, onTopic("hil/bench/"+topic)); !m.retained {
			t.Errorf("%s is not retained", topic)
		}
	}
	for _, m := range late.all() {
		if m.retained && (strings.HasSuffix(m.topic, "samples") || strings.HasSuffix(m.topic, "state")) {
			t.Errorf("%s is retained", m.topic)
		}
	}

	made := end()
	seen.wait(t, "offline", func(m received) bool {
		return m.topic == "hil/bench/status" && strings.Contains(string(m.body), `"offline"`)
	})
	checkSequence(t, seen, made)
	if s := p.Stats(); s.SentRows != made || s.Dropped+s.Unconfirmed+s.RingDropped+s.Gaps != 0 {
		t.Errorf("%+v of %d rows", s, made)
	}
}

// checkSequence demands that the samples are rows 1 to want, each once, in order.
func checkSequence(t *testing.T, l *listener, want uint64) {
	t.Helper()
	last := uint64(0)
	for _, seq := range sequence(t, l) {
		if seq != last+1 {
			t.Fatalf("row %d follows row %d", seq, last)
		}
		last = seq
	}
	if last != want {
		t.Errorf("the last row is %d of %d", last, want)
	}
}

func sequence(t *testing.T, l *listener) []uint64 {
	t.Helper()
	var out []uint64
	for _, m := range l.all() {
		if m.topic != "hil/bench/samples" {
			continue
		}
		var rows []struct{ Seq uint64 }
		decode(t, m.body, &rows)
		for _, r := range rows {
			out = append(out, r.Seq)
		}
	}
	return out
}

// The first connection fails with a reason and a way on; nothing stays behind.
func TestConnectErrors(t *testing.T) {
	leakCheck(t)
	b := testBroker(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ca := filepath.Join(t.TempDir())
	makeCertificates(t, ca)
	for name, c := range map[string]struct {
		broker, user, password, want string
	}{
		"wrong password": {b.URL(), "operator", "secret-guess", "bad user name or password"},
		"nobody there":   {fmt.Sprintf("tcp://127.0.0.1:%d", freePort(t)), "u", "secret-guess", "connection refused"},
		"not TLS":        {strings.Replace(b.URL(), "tcp:", "ssl:", 1), "u", "secret-guess", "closed the connection"},
		"unknown host":   {"tcp://no-such-host.invalid:1883", "u", "secret-guess", "no-such-host.invalid"},
	} {
		o := testOptions(c.broker)
		o.User, o.Password = c.user, c.password
		p, err := NewPublisher(o)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Connect(t.Context())
		var ce *ConnectError
		if !errors.As(err, &ce) || !strings.Contains(ce.Error(), c.want) || ce.Hint == "" || strings.Contains(ce.Error(), "secret-guess") {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.Run(t.Context(), nil); err == nil {
			t.Errorf("%s: Run without a connection", name)
		}
		p.Close()
	}

	// a broker that accepts and says nothing is given up when the context ends
	p, err := NewPublisher(testOptions("tcp://" + silent.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := p.Connect(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("silent broker: %v", err)
	}
	p.Close()
	silent.Close()
}

// The broker goes away and another comes in its place: the loss is noticed, counted and reported, the order is kept.
func TestReconnection(t *testing.T) {
	leakCheck(t)
	b := testBroker(t)
	way := openWay(t, b.Addr())
	o := testOptions("tcp://" + way.addr)
	var mu sync.Mutex
	var own []hil.Event
	o.Emit = func(e hil.Event) { mu.Lock(); own = append(own, e); mu.Unlock() }
	o.User, o.Password = b.Login()
	p, end := runPublisher(t, o)
	until(t, "rows", func() bool { return p.Stats().SentRows >= 200 })
	b.Close()
	until(t, "dropped rows", func() bool { return p.Stats().Dropped > 0 })
	// the same login, since the publisher knows no other
	again, err := StartBroker(BrokerOptions{Listen: "127.0.0.1:0", Prefix: "hil", Rig: "bench", login: o.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	_, seen := client(t, again.URL(), "", "")
	way.open(again.Addr())
	until(t, "the connection", func() bool { return p.Stats().Reconnects > 0 })
	seen.wait(t, "online again", onTopic("hil/bench/status"))
	seen.wait(t, "samples again", onTopic("hil/bench/samples"))
	codes := func() string { // of the publisher's own events so far
		mu.Lock()
		defer mu.Unlock()
		var c []string
		for _, e := range own {
			c = append(c, e.Code)
		}
		return strings.Join(c, " ")
	}
	until(t, "the event", func() bool { return strings.HasSuffix(codes(), "BROKER_UP") })
	made := end()
	seen.wait(t, "offline", func(m received) bool {
		return m.topic == "hil/bench/status" && strings.Contains(string(m.body), `"offline"`)
	})
	last := uint64(0)
	for _, seq := range sequence(t, seen) {
		if seq <= last {
			t.Fatalf("row %d after %d", seq, last)
		}
		last = seq
	}
	if last != made {
		t.Errorf("last row %d of %d", last, made)
	}
	s := p.Stats()
	if s.SentRows+s.Dropped != made || s.RingDropped != 0 || s.Unconfirmed == 0 {
		t.Errorf("%d rows made: %+v", made, s)
	}
	if got := codes(); got != "BROKER_DOWN BROKER_UP" {
		t.Errorf("events: %s", got)
	}
}

// kill -9 of the publishing process: the broker sends its last will.
func TestLastWill(t *testing.T) {
	if url := os.Getenv("SINK_TEST_BROKER"); url != "" {
		o := testOptions(url)
		o.User, o.Password = userRig, os.Getenv("SINK_TEST_PASSWORD")
		_, end := runPublisher(t, o)
		time.Sleep(time.Minute) // killed long before
		end()
		return
	}
	b := testBroker(t)
	_, seen := client(t, b.URL(), "", "")
	_, password := b.Login()
	child := exec.Command(os.Args[0], "-test.run=^TestLastWill$")
	child.Env = append(os.Environ(), "SINK_TEST_BROKER="+b.URL(), "SINK_TEST_PASSWORD="+password)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	status := func(text string) func(received) bool {
		return func(m received) bool {
			return m.topic == "hil/bench/status" && strings.Contains(string(m.body), `"state":"`+text+`"`)
		}
	}
	seen.wait(t, "online", status("online"))
	child.Process.Kill()
	child.Wait()
	seen.wait(t, "the last will", status("offline"))
	_, late := client(t, b.URL(), "", "")
	if m := late.wait(t, "retained status", onTopic("hil/bench/status")); !status("offline")(m) || !m.retained {
		t.Errorf("%s", m.body)
	}
}

// Events in an outage wait for the connection and arrive in order once the way is open again.
func TestEventsWaitForTheConnection(t *testing.T) {
	t.Parallel()
	b := testBroker(t)
	_, seen := client(t, b.URL(), "", "")
	way := openWay(t, b.Addr())
	o := testOptions("tcp://" + way.addr)
	o.User, o.Password = b.Login()
	p, end := runPublisher(t, o)
	seen.wait(t, "samples", onTopic("hil/bench/samples"))
	way.cut()
	until(t, "dropped rows", func() bool { return p.Stats().Dropped > 0 })
	for i := range 10 {
		p.Event(hil.Event{Time: time.Now(), Level: "info", Code: "DURING", Text: fmt.Sprint(i)})
	}
	seen.wait(t, "the last will", func(m received) bool {
		return m.topic == "hil/bench/status" && strings.Contains(string(m.body), `"offline"`)
	})
	way.open(b.Addr())
	seen.wait(t, "the last event", func(m received) bool { return strings.Contains(string(m.body), `"code":"DURING","text":"9"`) })
	end()
	next := 0
	for _, m := range seen.all() {
		if strings.Contains(string(m.body), `"DURING"`) {
			if want := fmt.Sprintf(`"text":"%d"`, next); !strings.Contains(string(m.body), want) {
				t.Errorf("%s, want %s", m.body, want)
			}
			next++
		}
	}
	if next != 10 {
		t.Errorf("%d events of 10", next)
	}
}
