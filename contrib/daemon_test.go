// Package contrib tests the files of this folder against a running daemon and the programs that read them.
package contrib

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"hilrig/cmd/daemontest"
)

// folder of what all tests share, made by TestMain
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "contrib"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// program is hil, built once, with the words of an installed one.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "hil")
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "../cmd/hil").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return path, err
})

func hil(t *testing.T) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// runningDaemon is hil run beside its virtual rig.
type runningDaemon struct {
	*daemontest.Daemon
	t        *testing.T
	password string // of the operator
}

var passwordInLog = regexp.MustCompile(`user operator, password ([\w-]+)`)

// startDaemon starts hil run at 200 Hz, which a crowded machine keeps up with, with free ports; it is stopped when the test ends.
func startDaemon(t *testing.T, env ...string) *runningDaemon {
	t.Helper()
	c := exec.Command(hil(t), "run", "--ready-line", "--rate", "200 Hz", "--web", "localhost:0", "--mqtt", "localhost:0",
		"--record", filepath.Join(t.TempDir(), "runs"))
	c.Env = append(append(os.Environ(), "NO_COLOR=1"), env...)
	d := &runningDaemon{Daemon: daemontest.Start(t, c), t: t}
	t.Cleanup(d.stop)
	if m := passwordInLog.FindStringSubmatch(d.Log.String()); m != nil {
		d.password = m[1]
	}
	return d
}

func (d *runningDaemon) stop() { d.Stop(syscall.SIGTERM) }

// port is that of its broker.
func (d *runningDaemon) port() string {
	u, err := url.Parse(d.ReadyLine.MQTT)
	if err != nil {
		d.t.Fatal(err)
	}
	return u.Port()
}

func (d *runningDaemon) get(path string) string {
	d.t.Helper()
	r, err := http.Get(d.ReadyLine.Page + path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		d.t.Fatalf("%s: %s, %v\n%s", path, r.Status, err, body)
	}
	return string(body)
}

// message is one of the daemon, or a command and its answer.
type message struct {
	topic    string // below prefix and rig
	retained bool
	body     []byte
}

var clients atomic.Int32 // of brokers, so far

// mqttClient reads everything as a viewer does, and gives orders as the operator.
func (d *runningDaemon) mqttClient(seen func(message)) paho.Client {
	d.t.Helper()
	o := paho.NewClientOptions().AddBroker("tcp://localhost:" + d.port())
	o.SetClientID(fmt.Sprint("test-", clients.Add(1))).SetUsername("operator").
		SetPassword(d.password).SetOrderMatters(true)
	c := paho.NewClient(o)
	if k := c.Connect(); k.Wait() && k.Error() != nil {
		d.t.Fatal(k.Error())
	}
	d.t.Cleanup(func() { c.Disconnect(100) })
	if k := c.Subscribe("hil/#", 1, func(_ paho.Client, m paho.Message) {
		seen(message{strings.TrimPrefix(m.Topic(), "hil/motor/"), m.Retained(), m.Payload()})
	}); k.Wait() && k.Error() != nil {
		d.t.Fatal(k.Error())
	}
	return c
}

// collect returns messages from the start of a subscription on: orders are given meanwhile, and every topic in want is awaited.
func (d *runningDaemon) collect(want []string, orders map[string]string) []message {
	d.t.Helper()
	var mu sync.Mutex
	var all []message
	topics := map[string]bool{}
	c := d.mqttClient(func(m message) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, m)
		topics[m.topic] = true
	})
	for name, body := range orders {
		c.Publish("hil/motor/cmd/"+name, 1, false, body).Wait()
	}
	missing := want
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		mu.Lock()
		missing = missing[:0:0]
		for _, w := range want {
			if !topics[w] {
				missing = append(missing, w)
			}
		}
		mu.Unlock()
		if len(missing) == 0 {
			break
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(missing) > 0 {
		d.t.Errorf("nothing came on %v", missing)
	}
	return all
}
