package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/engine/peer"
	"hilrig/hil"
	"hilrig/hil/rt"
	"hilrig/hil/sink"
)

// A broker that freezes, or a line that carries nothing but rubbish, must not be felt by the tick: all rows are recorded,
// and what the telemetry lost is counted and published afterwards. The lateness of each phase is logged, not judged: the
// machine is shared (make soak runs the phases of 30 s whose figures the documentation quotes).
func TestDaemonBrokerFrozen(t *testing.T) {
	inPairs(t)
	broker, address := startMosquitto(t)
	file := tolerant(t, virtualPort, "  listen: localhost:1883 ", "  broker: "+address+"\n  listen: localhost:1883 ")

	d := startRun(t, file, "--record", t.TempDir())
	d.awaitMode("run")
	p := phases{t: t, d: d}
	p.during("before", nil)
	p.during("frozen", func() { broker.Process.Signal(syscall.SIGSTOP) })
	p.during("after", func() { broker.Process.Signal(syscall.SIGCONT) })
	lost := func() float64 {
		h := d.health()
		return h["samples_dropped"].(float64) + h["samples_unconfirmed"].(float64)
	}
	for end := time.Now().Add(20 * time.Second); lost() == 0 ||
		!strings.Contains(d.errs.String(), "BROKER_UP"); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no loss in the health report, or no word of the broker's return: %v", d.health())
		}
	}
	t.Logf("published afterwards: %.0f rows did not get through", lost())
	if h := d.health(); h["record_rows_lost"] != 0.0 || h["rows_dropped"] != 0.0 {
		t.Errorf("rows lost: %v recorded, %v ring", h["record_rows_lost"], h["rows_dropped"])
	}
	d.stop()
	p.report()
}

// startMosquitto is a broker of somebody else.
func startMosquitto(t *testing.T) (broker *exec.Cmd, address string) {
	t.Helper()
	path := peer.Program(t, "mosquitto", "mosquitto")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	conf := filepath.Join(t.TempDir(), "mosquitto.conf")
	if err := os.WriteFile(conf, []byte(fmt.Sprintf("listener %d 127.0.0.1\nallow_anonymous true\n", port)), 0o644); err != nil {
		t.Fatal(err)
	}
	broker = exec.Command(path, "-c", conf)
	if err := broker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { broker.Process.Signal(syscall.SIGCONT); broker.Process.Kill(); broker.Wait() })
	for range 100 {
		if c, err := net.Dial("tcp", at); err == nil {
			c.Close()
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return broker, "tcp://" + at
}

func TestDaemonLineFlooded(t *testing.T) {
	d := startRun(t, tolerant(t, virtualPort), "--record", t.TempDir(), "--flood", "1e6")
	p := phases{t: t, d: d}
	p.during("flooded", nil)
	h := d.health()
	d.stop()
	p.report()
	bad, resync, frames := h["drive.bad"].(float64), h["drive.resync_bytes"].(float64), h["drive.frames"].(float64)
	t.Logf("%.0f frames, %.0f refused by the checksum, %.0f bytes skipped", frames, bad, resync)
	if resync < 1e5 || frames < 100 {
		t.Errorf("the flood left no trace: %v", h)
	}
}

// phases cuts a run into stretches of time.
type phases struct {
	t     *testing.T
	d     *daemonUnderTest
	names []string
	from  []int64
	to    []int64
}

func (p *phases) during(name string, begin func()) {
	each := 3 * time.Second
	if soak {
		each = 30 * time.Second
	}
	if begin != nil {
		begin()
	}
	p.names, p.from = append(p.names, name), append(p.from, rt.Now())
	time.Sleep(each)
	p.to = append(p.to, rt.Now())
}

// report reads the recording: no row may be missing; lateness per phase is logged.
func (p *phases) report() {
	p.t.Helper()
	run, err := sink.OpenRun(p.d.ready.Run)
	if err != nil {
		p.t.Fatal(err)
	}
	defer run.Close()
	late := make([][]int32, len(p.names))
	skipped := make([]uint32, len(p.names))
	last := uint64(0)
	if err := run.Rows(func(r *hil.Row) error {
		if last != 0 && r.Seq != last+1 {
			p.t.Errorf("row %d follows %d in the recording", r.Seq, last)
		}
		last = r.Seq
		for i := range p.names {
			if r.T >= p.from[i] && r.T < p.to[i] {
				late[i] = append(late[i], r.Lateness)
				skipped[i] += r.Skip
			}
		}
		return nil
	}); err != nil {
		p.t.Fatal(err)
	}
	for i, l := range late {
		if len(l) == 0 {
			p.t.Errorf("%s: no rows", p.names[i])
			continue
		}
		sort.Slice(l, func(a, b int) bool { return l[a] < l[b] })
		at := func(q float64) float64 { return float64(l[int(q*float64(len(l)-1))]) / 1e3 }
		p.t.Logf("%-8s %6d ticks, lateness p50 %.1f p99 %.0f p99.9 %.0f µs, %d skipped", p.names[i], len(l), at(0.5), at(0.99), at(0.999),
			skipped[i])
	}
}
