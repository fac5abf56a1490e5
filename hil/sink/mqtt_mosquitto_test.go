package sink

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"hilrig/engine/peer"
)

// freeze is how long the foreign broker is stopped; the build tag soak makes it longer than every time-out of the client.
var freeze = 4 * time.Second

// A foreign broker and a foreign client: mosquitto_sub reads every row of the stream, in order, without a gap.
func TestForeignBrokerAndClient(t *testing.T) {
	t.Parallel()
	m := startMosquitto(t, "allow_anonymous true", false)
	sub := peer.Program(t, "mosquitto_sub", "mosquitto-clients")
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	host, port, _ := strings.Cut(strings.TrimPrefix(m.plain, "tcp://"), ":")
	cmd := exec.CommandContext(ctx, sub, "-h", host, "-p", port, "-t", "hil/bench/samples", "-C", "20")
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, end := runPublisher(t, testOptions(m.plain))
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	end()
	last, rows := uint64(0), 0
	for line := range strings.Lines(out.String()) {
		var message []struct{ Seq uint64 }
		decode(t, []byte(line), &message)
		rows += len(message)
		for _, r := range message {
			if r.Seq != last+1 && last > 0 {
				t.Fatalf("row %d follows row %d", r.Seq, last)
			}
			last = r.Seq
		}
	}
	if rows < 700 {
		t.Errorf("%d rows in 20 messages of 40", rows)
	}
	if s := p.Stats(); s.Dropped+s.Unconfirmed != 0 {
		t.Errorf("%+v", s)
	}
}

// Users with passwords, TLS with our own authority, and what is said when either is wrong.
func TestForeignBrokerWithPasswordAndTLS(t *testing.T) {
	t.Parallel()
	mk := peer.Program(t, "mosquitto_passwd", "mosquitto")
	dir := t.TempDir()
	if msg, err := exec.Command(mk, "-b", "-c", dir+"/users", "lab", "right").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	m := startMosquitto(t, "allow_anonymous false\npassword_file "+dir+"/users", true)
	connect := func(broker, user, password, ca string) error {
		o := testOptions(broker)
		o.User, o.Password, o.CA = user, password, ca
		p, err := NewPublisher(o)
		if err != nil {
			return err
		}
		defer p.Close()
		return p.Connect(t.Context())
	}
	other := t.TempDir()
	makeCertificates(t, other)
	for _, c := range []struct {
		what, broker, user, password, ca, want string
	}{
		{"plain", m.plain, "lab", "right", "", ""},
		{"wrong password", m.plain, "lab", "wrong", "", "bad user name or password"},
		{"anonymous", m.plain, "", "", "", "bad user name or password"},
		{"tls", m.tls, "lab", "right", m.file("ca.pem"), ""},
		{"tls, unknown authority", m.tls, "lab", "right", "", "TLS verification failed"},
		{"tls, other authority", m.tls, "lab", "right", other + "/ca.pem", "TLS verification failed"},
		{"tls, other host name", strings.Replace(m.tls, "localhost", "127.0.0.1", 1), "lab", "right", m.file("ca.pem"),
			"TLS verification failed"},
		{"plain to the TLS port", strings.Replace(m.tls, "ssl:", "tcp:", 1), "lab", "right", "", "scheme fits the port"},
	} {
		err := connect(c.broker, c.user, c.password, c.ca)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		var ce *ConnectError
		if !errors.As(err, &ce) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.what, err, c.want)
		}
	}

	// rows arrive over TLS
	o := testOptions(m.tls)
	o.User, o.Password, o.CA = "lab", "right", m.file("ca.pem")
	_, seen := client(t, m.plain, "lab", "right")
	_, end := runPublisher(t, o)
	seen.wait(t, "samples", onTopic("hil/bench/samples"))
	made := end()
	seen.wait(t, "offline", func(m received) bool {
		return m.topic == "hil/bench/status" && strings.Contains(string(m.body), `"offline"`)
	})
	checkSequence(t, seen, made)
}

// The broker is stopped like a frozen machine: its sockets stay open and take bytes until they are full. The draining
// goroutine must not notice; what is lost is counted, said afterwards, and the rest is in order.
func TestFrozenBroker(t *testing.T) {
	if testing.Short() {
		t.Skip("freezing a broker takes seconds")
	}
	t.Parallel()
	m := startMosquitto(t, "allow_anonymous true", false)
	// this subscriber survives the freeze: no keep-alive within it
	l := &listener{wake: make(chan struct{}, 1)}
	co := paho.NewClientOptions().AddBroker(m.plain).SetClientID("survivor").SetKeepAlive(5 * time.Minute).SetDefaultPublishHandler(l.handle)
	sub := paho.NewClient(co)
	if err := token(sub.Connect()); err != nil {
		t.Fatal(err)
	}
	defer sub.Disconnect(50)
	if err := token(sub.Subscribe("hil/#", 1, nil)); err != nil {
		t.Fatal(err)
	}

	o := testOptions(m.plain)
	o.Metrics = NewMetrics(MetricsOptions{})
	o.OnRow = o.Metrics.Add
	p, end := runPublisher(t, o)
	time.Sleep(time.Second)
	before := p.Stats()
	if err := m.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(freeze)
	frozen := p.Stats()
	if err := m.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if frozen.Dropped == before.Dropped {
		t.Error("nothing was dropped while the broker was frozen")
	}
	// during the freeze the rows kept coming out of the ring at their own pace
	if got, want := frozen.Rows-before.Rows, uint64(freeze/time.Millisecond); got < want*9/10 {
		t.Errorf("%d rows were drained during the freeze, want about %d", got, want)
	}
	loss := l.wait(t, "the event about the loss", func(m received) bool {
		return m.topic == "hil/bench/event" && strings.Contains(string(m.body), "BROKER_UP") && strings.Contains(string(m.body), "not published")
	})
	var health struct {
		Dropped float64 `json:"samples_dropped"`
	}
	decode(t, l.wait(t, "health with the loss", func(m received) bool {
		return m.topic == "hil/bench/health" && !strings.Contains(string(m.body), `"samples_dropped":0,`)
	}).body, &health)
	made := end()
	l.wait(t, "offline", func(m received) bool {
		return m.topic == "hil/bench/status" && strings.Contains(string(m.body), `"offline"`)
	})

	s := p.Stats()
	if s.RingDropped != 0 || s.Gaps != 0 {
		t.Errorf("the ring overflowed: %+v", s)
	}
	got := sequence(t, l)
	for i := 1; i < len(got); i++ {
		if got[i] <= got[i-1] {
			t.Fatalf("row %d after row %d", got[i], got[i-1])
		}
	}
	// every row is accounted for: received, or counted as dropped, or at most counted as unconfirmed
	missing := made - uint64(len(got))
	if missing < s.Dropped || missing > s.Dropped+s.Unconfirmed {
		t.Errorf("%d rows are missing; dropped %d, unconfirmed %d", missing, s.Dropped, s.Unconfirmed)
	}
	if got[len(got)-1] != made {
		t.Errorf("the last row is %d of %d", got[len(got)-1], made)
	}
	t.Logf("frozen for %v: %d rows made, %d dropped, %d unconfirmed, %d missing, longest gap between drains %v, before %v; %s",
		freeze, made, s.Dropped, s.Unconfirmed, missing, s.MaxGap, before.MaxGap, loss.body)
}
