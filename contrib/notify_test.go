package contrib

import (
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// serviceManager is the end of NOTIFY_SOCKET that systemd has.
type serviceManager struct {
	mu    sync.Mutex
	lines []notification
}

type notification struct {
	at   time.Time
	text string
}

func startManager(t *testing.T) (m *serviceManager, env string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	m = &serviceManager{}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			m.mu.Lock()
			for _, text := range strings.Split(string(buf[:n]), "\n") {
				m.lines = append(m.lines, notification{time.Now(), text})
			}
			m.mu.Unlock()
		}
	}()
	return m, "NOTIFY_SOCKET=" + path
}

// times at which the text came.
func (m *serviceManager) times(text string) (all []time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.lines {
		if strings.HasPrefix(n.text, text) {
			all = append(all, n.at)
		}
	}
	return all
}

func (m *serviceManager) await(t *testing.T, text string, n int) []time.Time {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if at := m.times(text); len(at) >= n {
			return at
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t.Fatalf("%s did not come %d times; got %v", text, n, m.lines)
	return nil
}

// The service manager is told that the daemon is ready once, after the self-test; the watchdog is fed while rows move and not while the
// supervisor or the core hangs; the end is told. A core that hangs is replaced by the supervisor, so the watchdog starves only until then.
func TestNotify(t *testing.T) {
	m, socket := startManager(t)
	d := startDaemon(t, socket, "WATCHDOG_USEC=200000") // fed every 50 ms
	ready := m.await(t, "READY=1", 1)
	if selftest := m.times("STATUS=mode selftest"); len(selftest) > 0 && !selftest[0].Before(ready[0]) {
		t.Errorf("ready at %v, self-test at %v", ready[0], selftest[0])
	}
	if !strings.Contains(d.Log.String(), "selftest → ready") {
		t.Errorf("ready before the self-test was over")
	}
	m.await(t, "WATCHDOG=1", 5)

	// the core hangs: its replacement comes up de-energised, and nothing is fed until its first row
	if err := syscall.Kill(d.ReadyLine.Core, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); !strings.Contains(d.Log.String(), "core up (epoch 2)"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no second core")
		}
	}
	up := time.Now()
	m.await(t, "WATCHDOG=1", len(m.times("WATCHDOG=1"))+3)
	longest, before := time.Duration(0), time.Time{}
	for _, at := range m.times("WATCHDOG=1") {
		if !before.IsZero() && at.Before(up.Add(2*time.Second)) {
			longest = max(longest, at.Sub(before))
		}
		before = at
	}
	if longest < 100*time.Millisecond { // the pause alone, before the core is started again
		t.Errorf("the watchdog was fed after %v at the latest while the core hung", longest)
	}

	// the supervisor hangs: whatever the core does, nothing is fed
	d.Cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(100 * time.Millisecond) // what is under way arrives
	n := len(m.times("WATCHDOG=1"))
	time.Sleep(300 * time.Millisecond)
	if more := len(m.times("WATCHDOG=1")); more != n {
		t.Errorf("a supervisor that hangs fed the watchdog %d times", more-n)
	}
	d.Cmd.Process.Signal(syscall.SIGCONT)

	d.stop()
	stopping := m.await(t, "STOPPING=1", 1)
	if feeds := m.times("WATCHDOG=1"); feeds[len(feeds)-1].After(stopping[0]) {
		t.Error("fed after the end was told")
	}
	if n := len(m.times("READY=1")); n != 1 {
		t.Errorf("ready %d times", n)
	}
}
