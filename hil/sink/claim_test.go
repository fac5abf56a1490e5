package sink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"hilrig/hil"
)

// claimant is a publisher of a run on a foreign broker that counts the commands it carries out.
type claimant struct {
	p    *Publisher
	mu   sync.Mutex
	done []string
	told []hil.Event
}

func (c *claimant) carried() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.done, " ")
}

func (c *claimant) codes() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var codes []string
	for _, e := range c.told {
		codes = append(codes, e.Code)
	}
	return strings.Join(codes, " ")
}

func newClaimant(t *testing.T, broker, run string) (*claimant, PublisherOptions) {
	t.Helper()
	c := &claimant{}
	o := testOptions(broker)
	info := *o.Info
	info.Run = run
	o.Info = &info
	o.Commander = func(_ context.Context, cmd hil.Command) hil.Reply {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.done = append(c.done, cmd.Name)
		return hil.Reply{OK: true}
	}
	o.Emit = func(e hil.Event) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.told = append(c.told, e)
	}
	return c, o
}

// start connects and publishes; the error is Connect's.
func (c *claimant) start(t *testing.T, o PublisherOptions) (end func(), err error) {
	t.Helper()
	if c.p, err = NewPublisher(o); err != nil {
		t.Fatal(err)
	}
	if err := c.p.Connect(t.Context()); err != nil {
		c.p.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	rows, _ := feed(ctx, o.Info)
	done := make(chan struct{})
	go func() { defer close(done); c.p.Run(ctx, rows) }()
	end = func() { cancel(); <-done }
	t.Cleanup(end)
	return end, nil
}

// Of two daemons with one name the second is refused, with words that say who has it; a command is carried out once. When the first has
// ended, in order or not, the name is free, whatever it left on the broker.
func TestNameIsTaken(t *testing.T) {
	t.Parallel()
	m := startMosquitto(t, "allow_anonymous true", false)
	first, o1 := newClaimant(t, m.plain, "run-1")
	end, err := first.start(t, o1)
	if err != nil {
		t.Fatal(err)
	}
	second, o2 := newClaimant(t, m.plain, "run-2")
	_, err = second.start(t, o2)
	var taken *NameTakenError
	if !errors.As(err, &taken) || taken.Holder.Run != "run-1" || !strings.Contains(err.Error(), "rig.name") {
		t.Fatalf("the second daemon: %v", err)
	}
	c, seen := client(t, m.plain, "", "")
	if err := token(c.Publish("hil/bench/cmd/hold", 1, false, `{"id":"1"}`)); err != nil {
		t.Fatal(err)
	}
	seen.wait(t, "the answer", onTopic("hil/bench/cmd/hold/ack"))
	if first.carried() != "hold" || second.carried() != "" {
		t.Errorf("first carried out %q, second %q", first.carried(), second.carried())
	}
	status := seen.wait(t, "status", onTopic("hil/bench/status"))
	if !strings.Contains(string(status.body), `"run":"run-1"`) || !strings.Contains(string(status.body), `"state":"online"`) {
		t.Errorf("status %s", status.body)
	}
	// the name under another prefix is another name
	other, o := newClaimant(t, m.plain, "run-3")
	o.Prefix = "lab"
	if _, err := other.start(t, o); err != nil {
		t.Errorf("another prefix: %v", err)
	}
	end()
	if _, err := second.start(t, o2); err != nil {
		t.Errorf("after the end of the first: %v", err)
	}
}

// What a dead run left locks nobody out, and the last will of a stranger does not make the status lie.
func TestNameOfTheDead(t *testing.T) {
	t.Parallel()
	m := startMosquitto(t, "allow_anonymous true", false)
	raw, seen := client(t, m.plain, "", "")
	if err := token(raw.Publish("hil/bench/status", 1, true, `{"state":"online","run":"run-0","host":"gone","pid":1,"id":"x"}`)); err != nil {
		t.Fatal(err)
	}
	c, o := newClaimant(t, m.plain, "run-1")
	begun := time.Now()
	if _, err := c.start(t, o); err != nil {
		t.Fatal(err)
	}
	t.Logf("taken after %v", time.Since(begun).Round(time.Millisecond))
	ours := func(n int) func(received) bool {
		return func(m received) bool {
			if m.topic == "hil/bench/status" && strings.Contains(string(m.body), `"online","run":"run-1"`) {
				n--
			}
			return n == 0
		}
	}
	seen.wait(t, "online", ours(1))
	if err := token(raw.Publish("hil/bench/status", 1, true, `{"state":"offline","run":"run-0","host":"gone","pid":1,"id":"x"}`)); err != nil {
		t.Fatal(err)
	}
	seen.wait(t, "online again", ours(2))
}

// Of several that ask at once one gets the name.
func TestNameAskedAtOnce(t *testing.T) {
	t.Parallel()
	m := startMosquitto(t, "allow_anonymous true", false)
	const n = 4
	var wg sync.WaitGroup
	won := make([]bool, n)
	for i := range n {
		c, o := newClaimant(t, m.plain, fmt.Sprint("run-", i))
		p, err := NewPublisher(o)
		if err != nil {
			t.Fatal(err)
		}
		c.p = p
		t.Cleanup(p.Close)
		wg.Go(func() {
			err := p.Connect(t.Context())
			var taken *NameTakenError
			if won[i] = err == nil; !won[i] && !errors.As(err, &taken) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if count := strings.Count(fmt.Sprint(won), "true"); count != 1 {
		t.Errorf("%d of %d have the name: %v", count, n, won)
	}
}

// A broker that does not let the question through leaves telemetry, and no commands: nobody can tell who else carries them out.
func TestNameThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	acl := t.TempDir() + "/acl"
	if err := os.WriteFile(acl, []byte("topic read hil/bench/cmd/#\ntopic write hil/bench/#\nuser lab\ntopic readwrite #\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	m := startMosquitto(t, "allow_anonymous true\nacl_file "+acl, false)
	c, o := newClaimant(t, m.plain, "run-1")
	if _, err := c.start(t, o); err != nil {
		t.Fatal(err)
	}
	if c.codes() != "NAME_UNCHECKED" {
		t.Errorf("told %q", c.codes())
	}
	_, seen := client(t, m.plain, "lab", "")
	seen.wait(t, "samples", onTopic("hil/bench/samples"))
	raw := paho.NewClient(paho.NewClientOptions().AddBroker(m.plain).SetUsername("lab"))
	if err := token(raw.Connect()); err != nil {
		t.Fatal(err)
	}
	defer raw.Disconnect(50)
	token(raw.Publish("hil/bench/cmd/arm", 1, false, `{"id":"1"}`))
	time.Sleep(300 * time.Millisecond)
	if c.carried() != "" {
		t.Errorf("carried out %s", c.carried())
	}
}

// One whose connection was away comes back to find the name taken: it says so and keeps silent until the other has gone.
func TestNameTakenMeanwhile(t *testing.T) {
	t.Parallel()
	m := startMosquitto(t, "allow_anonymous true", false)
	to := strings.TrimPrefix(m.plain, "tcp://")
	way := openWay(t, to)
	first, o1 := newClaimant(t, "tcp://"+way.addr, "run-1")
	if _, err := first.start(t, o1); err != nil {
		t.Fatal(err)
	}
	way.cut()
	until(t, "the loss", func() bool { return strings.Contains(first.codes(), "BROKER_DOWN") })
	second, o2 := newClaimant(t, m.plain, "run-2")
	end, err := second.start(t, o2)
	if err != nil {
		t.Fatal(err)
	}
	way.open(to)
	until(t, "the word", func() bool { return strings.Contains(first.codes(), "NAME_TAKEN") })
	c, seen := client(t, m.plain, "", "")
	token(c.Publish("hil/bench/cmd/hold", 1, false, `{"id":"1"}`))
	seen.wait(t, "the answer", onTopic("hil/bench/cmd/hold/ack"))
	if first.carried() != "" || second.carried() != "hold" {
		t.Errorf("first carried out %q, second %q", first.carried(), second.carried())
	}
	end()
	until(t, "the name again", func() bool { return strings.Contains(first.codes(), "BROKER_UP") })
	until(t, "a stop", func() bool { // its subscription follows the event
		token(c.Publish("hil/bench/cmd/stop", 1, false, ""))
		return strings.Contains(first.carried(), "stop")
	})
}

// A client id of the operator or of the rig is not to be had by those below; the operator may take that of a viewer.
func TestBrokerClientIDs(t *testing.T) {
	b := testBroker(t)
	connect := func(user, password, id string) (paho.Client, *bool, error) {
		lost := new(bool)
		var mu sync.Mutex
		co := paho.NewClientOptions().AddBroker(b.URL()).SetAutoReconnect(false).SetClientID(id).SetUsername(user).SetPassword(password).SetProtocolVersion(4).
			SetConnectionLostHandler(func(paho.Client, error) { mu.Lock(); *lost = true; mu.Unlock() })
		c := paho.NewClient(co)
		t.Cleanup(func() { c.Disconnect(50) })
		return c, lost, token(c.Connect())
	}
	rig, password := b.Login()
	users := []struct{ name, password string }{{"", ""}, {"viewer", "x"}, {"operator", b.Operator()}, {rig, password}}
	level := []int{0, 0, 1, 2}
	for i, had := range users {
		for k, wants := range users {
			id := fmt.Sprintf("desk-%d-%d", i, k)
			old, _, err := connect(had.name, had.password, id)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = connect(wants.name, wants.password, id)
			if ok := level[k] >= level[i]; (err == nil) != ok {
				t.Errorf("%q has the id, %q wants it: %v", had.name, wants.name, err)
			}
			if level[k] < level[i] && !old.IsConnectionOpen() {
				t.Errorf("%q was cut off by %q", had.name, wants.name)
			}
		}
	}
}

// The last will of an operator on a stop is carried out; on anything else, and a viewer's, it is not.
func TestBrokerWillOfTheOperator(t *testing.T) {
	b := testBroker(t)
	user, password := b.Login()
	_, seen := client(t, b.URL(), user, password)
	for _, c := range []struct {
		user, topic string
		ok          bool
	}{
		{"operator", "cmd/estop", true}, {"operator", "cmd/stop", true}, {"operator", "cmd/hold", true},
		{"operator", "cmd/arm", false}, {"operator", "cmd/run", false}, {"operator", "status", false}, {"viewer", "cmd/estop", false},
	} {
		nc := make(chan net.Conn, 1)
		co := paho.NewClientOptions().AddBroker(b.URL()).SetAutoReconnect(false).SetUsername(c.user).SetPassword(b.Operator()).
			SetWill("hil/bench/"+c.topic, "will "+c.user, 1, false).SetProtocolVersion(4).SetCustomOpenConnectionFn(dialInto(nc))
		if err := token(paho.NewClient(co).Connect()); err != nil {
			t.Fatal(err)
		}
		(<-nc).Close() // no good-bye
		arrived := false
		for end := time.Now().Add(time.Second); !arrived && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			for _, m := range seen.all() {
				arrived = arrived || m.topic == "hil/bench/"+c.topic && string(m.body) == "will "+c.user
			}
			if !c.ok && time.Until(end) < 700*time.Millisecond {
				break
			}
		}
		if arrived != c.ok {
			t.Errorf("will of %s on %s arrived: %v, want %v", c.user, c.topic, arrived, c.ok)
		}
	}
}
