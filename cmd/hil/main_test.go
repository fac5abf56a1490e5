package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hilrig/cmd/daemon"
	"hilrig/cmd/daemontest"
	"hilrig/configs"
	"hilrig/hil"
	"hilrig/hil/rt"
)

// The test binary is the program when the environment says so: the core re-executes it, the demo starts its rig with it.
func TestMain(m *testing.M) {
	if os.Getenv("HIL_TEST_MAIN") == "1" {
		panicLater()
		os.Exit(Main())
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // what is started may be hung up, though these tests run below nohup
	os.Exit(m.Run())
}

// virtualPort is the port of the demo.
const virtualPort = configs.VirtualPort

// program is a command line of hil.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, args...)
	c.Env = append(os.Environ(), "HIL_TEST_MAIN=1", "NO_COLOR=1")
	return c
}

// execute runs a short command and returns what it printed and its exit code.
func execute(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	c := program(t, args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// daemonUnderTest is a running daemon with the questions and commands of its page.
type daemonUnderTest struct {
	t     *testing.T
	run   *daemontest.Daemon
	cmd   *exec.Cmd
	ready daemon.ReadyLine
	errs  *syncBuffer
	done  chan struct{}
}

type syncBuffer = daemontest.Log

// pairs is how make test runs the tests named TestDaemon…: without any other, those with wide limits two at a time.
var pairs = flag.Bool("pairs", false, "daemons with wide limits run beside each other")

// inPairs lets a daemon run beside another one: its test has limits that a crowded machine does not trip over.
func inPairs(t *testing.T) {
	t.Helper()
	if *pairs {
		t.Parallel()
	}
}

// startRun starts hil run with free ports and waits until its core ticks.
func startRun(t *testing.T, args ...string) *daemonUnderTest {
	t.Helper()
	if name := t.Name(); !strings.HasPrefix(name, "TestDaemon") && !strings.HasPrefix(name, "TestSoak") {
		t.Fatalf("%s starts a daemon: only the tests named TestDaemon… have the machine to themselves (Makefile)", name)
	}
	args = append([]string{"run", "--ready-line", "--web", "localhost:0", "--mqtt", "localhost:0"}, args...)
	d := daemontest.Start(t, program(t, args...))
	return &daemonUnderTest{t, d, d.Cmd, d.ReadyLine, d.Log, d.EndedChannel}
}

// stop interrupts the daemon and returns its exit code.
func (d *daemonUnderTest) stop() int {
	d.t.Helper()
	return d.run.Stop(syscall.SIGINT)
}

// state asks the page's API for the newest state, health for the newest report.
func (d *daemonUnderTest) state() map[string]any { return d.ask("/api/state") }

func (d *daemonUnderTest) health() map[string]any { return d.ask("/api/health") }

func (d *daemonUnderTest) ask(path string) map[string]any {
	d.t.Helper()
	resp, err := http.Get(d.ready.Page + path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	var m map[string]any
	json.NewDecoder(resp.Body).Decode(&m)
	return m
}

// awaitMode waits until the daemon is in one of the modes.
func (d *daemonUnderTest) awaitMode(modes ...string) string {
	d.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		m, _ := d.state()["mode"].(string)
		for _, want := range modes {
			if m == want {
				return m
			}
		}
	}
	d.t.Fatalf("mode %v not reached; state %v\n%s", modes, d.state(), d.errs)
	return ""
}

// command posts a command as the page does.
func (d *daemonUnderTest) command(name, body string) hil.Reply {
	d.t.Helper()
	req, _ := http.NewRequest("POST", d.ready.Page+"/api/cmd/"+name, strings.NewReader(body))
	req.Header.Set("X-Hil", "1")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	var r hil.Reply
	if err := json.NewDecoder(resp.Body).Decode(&r); err != nil {
		d.t.Fatalf("answer to %s (%s): %v", name, resp.Status, err)
	}
	return r
}

// tolerant is the demo with limits that a crowded test machine does not trip over.
func tolerant(t *testing.T, port string, changes ...string) string {
	t.Helper()
	return demoFile(t, port, append([]string{
		"stale: 50 ms", "stale: 500 ms", "hold_time: 200 ms", "hold_time: 1 s", "watchdog: 200 ms", "watchdog: 1 s",
		"limit: 100 ms", "limit: 2 s", "beat: 1 s", "beat: 3 s", "max_error: 10 rad", "max_error: 50 rad", "max_speed: 300 rad/s",
		"max_speed: 5000 rad/s"}, changes...)...)
}

// demoFile writes the demo's configuration with the port and further texts replaced.
func demoFile(t *testing.T, port string, changes ...string) string {
	t.Helper()
	text := string(configs.DemoYAML())
	changes = append([]string{"port: virtual ", "port: " + port + " "}, changes...)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("the demo has no %q", changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	path := filepath.Join(t.TempDir(), "rig.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// watchedRig is a virtual rig in this process that tells when it is energised, and can be unplugged.
type watchedRig struct {
	daemon.Nobody
	t      *testing.T
	port   string // a link that stays the same
	unplug func() // the pseudo-terminal and the link are gone when it returns
	mu     sync.Mutex
	on     bool
	at     int64 // ns of rt.Now at the last change
	rows   uint64
}

func (w *watchedRig) OnRow(r *hil.Row) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rows++
	if on := r.Mode == hil.Run; on != w.on {
		w.on, w.at = on, rt.Now()
	}
}

func (w *watchedRig) energised() (on bool, since int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.on, w.at
}

// startWatchedRig plays the demo's rig on a pseudo-terminal.
func startWatchedRig(t *testing.T) *watchedRig {
	t.Helper()
	rt.Prefer() // a starved rig is a silent one
	w := &watchedRig{t: t, port: filepath.Join(t.TempDir(), "rig")}
	w.plug()
	t.Cleanup(func() { w.unplug() })
	return w
}

// plug puts a fresh rig on a new pseudo-terminal behind the old name.
func (w *watchedRig) plug() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	cfg := configs.Demo()
	cfg.Virtual.Devices[0].Watchdog = 30 // s: what takes the energy away is the daemon, not the rig by itself
	go func() { ended <- daemon.RunRig(ctx, in, cfg, daemon.RigPorts{Link: w.port}, 0, w) }()
	w.unplug = func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
		w.unplug = func() {}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.on = false
	}
	var ready daemon.RigReady
	if err := json.NewDecoder(out).Decode(&ready); err != nil {
		w.t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
}

// awaitOff waits for the rig to lose its energy and returns how long after t0 that was.
func (w *watchedRig) awaitOff(t *testing.T, t0 int64) time.Duration {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if on, at := w.energised(); !on {
			return time.Duration(at - t0)
		}
	}
	t.Fatal("the rig is still energised after 5 s")
	return 0
}

// awaitOn waits until the rig is energised.
func (w *watchedRig) awaitOn(within time.Duration) bool {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if on, _ := w.energised(); on {
			return true
		}
	}
	return false
}

func shortOf(s string) string {
	if len(s) > 600 {
		return s[:600] + fmt.Sprintf("… (%d bytes)", len(s))
	}
	return s
}
