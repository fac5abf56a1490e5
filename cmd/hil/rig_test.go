//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
	"hilrig/hil"
	"hilrig/hil/sink"
)

// startRigDaemon plays the virtual rig of a file with its sinks and returns it once its ports are there.
func startRigDaemon(t *testing.T, args ...string) (r daemon.RigReady, stop func()) {
	t.Helper()
	c := program(t, append([]string{"rig"}, args...)...)
	errs := &syncBuffer{}
	c.Stderr = errs
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	stop = func() {
		c.Process.Signal(syscall.SIGINT)
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			c.Process.Kill()
			<-done
			t.Error("the rig did not stop")
		}
		if t.Failed() {
			t.Logf("the rig said:\n%s", errs)
		}
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() { c.Wait(); close(done) }()
	if err == nil {
		err = json.Unmarshal([]byte(line), &r)
	}
	if err != nil {
		stop()
		t.Fatalf("no ports: %v\n%s", err, errs)
	}
	return r, stop
}

// The virtual rig is the same daemon with the plant in place of the controller: its page and its recording hold the truth, and by the
// time of the rows that truth stands beside what a run on its port estimated.
func TestDaemonRigRecordsTheTruth(t *testing.T) {
	inPairs(t)
	if testing.Short() {
		t.Skip("drives a rig for some seconds")
	}
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "rig")
	file := tolerant(t, "virtual")
	rig, stop := startRigDaemon(t, file, "--link", link, "--record", dir, "--no-mqtt")
	defer func() { stop() }()
	if len(rig.Ports) != 1 || rig.Ports[0] != link || rig.Page == "" || !strings.HasSuffix(rig.Run, "_motor-plant") {
		t.Fatalf("ready %+v", rig)
	}
	d := startRun(t, tolerant(t, link), "--arm", "--record", dir, "--no-mqtt")
	d.awaitMode("run")
	time.Sleep(3 * time.Second)
	resp, err := http.Get(rig.Page + "/api/state")
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]any
	json.NewDecoder(resp.Body).Decode(&state)
	resp.Body.Close()
	if _, ok := state["shaft.friction"].(float64); !ok || state["mode"] != "run" {
		t.Errorf("the page of the rig says %v", state)
	}
	asked := &daemonUnderTest{t: t, ready: daemon.ReadyLine{Page: rig.Page}}
	if r := asked.command("stop", "{}"); r.OK || !strings.Contains(r.Error, "virtual rig") {
		t.Errorf("a command to the rig: %+v", r)
	}
	d.stop()
	stop()
	stop = func() {}

	truth := map[int64]float64{}
	plant := readRun(t, rig.Run, func(s *hil.Schema) func(*hil.Row) {
		if s.Rig != "motor-plant" {
			t.Errorf("the rows are of %s", s.Rig)
		}
		at := s.Find(hil.Modelled, "shaft", hil.RolePosition)
		if at < 0 || s.Index("shaft.friction") < 0 || s.Find(hil.Commanded, "shaft", hil.RolePosition) < 0 {
			t.Fatalf("channels of the rig: %v", s.Signals())
		}
		return func(r *hil.Row) { truth[r.T] = r.X[at] }
	})
	off, n := []float64{}, 0
	run := readRun(t, d.ready.Run, func(s *hil.Schema) func(*hil.Row) {
		pos := s.Find(hil.Estimated, "shaft", hil.RolePosition)
		return func(r *hil.Row) {
			if r.Mode != hil.Run {
				return
			}
			if x, ok := truth[r.T]; ok { // both tick at whole periods of the same clock
				n++
				off = append(off, math.Abs(r.X[pos]-x))
			}
		}
	})
	slices.Sort(off)
	if plant < 3000 || run < 2000 || n < 1000 {
		t.Fatalf("%d rows of the rig, %d of the run, %d of both", plant, run, n)
	}
	t.Logf("%d rows of both: the estimate is %.2g rad from the truth in the middle, %.2g rad at the 90th percentile", n, off[n/2], off[n*9/10])
	if off[n/2] > 2e-3 {
		t.Errorf("half of the estimates are more than %g rad from the truth", off[n/2])
	}
}

// What the script of a virtual rig does to its sensors the guard of a run sees: a lost angle is stale, and the current beside it is not;
// a stuck one is named frozen, or shows as a tracking error.
func TestDaemonScriptTripsARun(t *testing.T) {
	if testing.Short() {
		t.Skip("drives a rig for some seconds")
	}
	for fault, want := range map[string][]string{"lost": {"stale sensor drive.motor.angle"},
		"stuck": {"frozen position", "tracking error", "blocked shaft"}} {
		t.Run(fault, func(t *testing.T) {
			file := demoFile(t, virtualPort, "hold_time: 200 ms", "hold_time: 300 ms", "beat: 1 s", "beat: 3 s",
				"  # script:                   # what happens while it runs\n", "  script: [{at: 3 s, sensor: drive.motor.angle, fault: "+fault+"}]\n")
			d := startRun(t, file, "--no-mqtt", "--no-record")
			d.awaitMode("run")
			d.awaitMode("trip")
			if m := tripText.FindStringSubmatch(d.errs.String()); m == nil || !containsOne(m[1], want) {
				t.Errorf("the cause named is %q, want one of %q", m, want)
			}
			d.stop()
		})
	}
}

// A recording of a rig is not that of a controller.
func TestDaemonReplayRefusesARig(t *testing.T) {
	rig, stop := startRigDaemon(t, "../../configs/motor.yaml", "--record", t.TempDir(), "--no-mqtt", "--no-web")
	time.Sleep(300 * time.Millisecond)
	stop()
	if _, errs, code := execute(t, "replay", rig.Run); code != report.Invalid || !strings.Contains(errs, "a virtual rig recorded them") {
		t.Errorf("code %d\n%s", code, errs)
	}
}

// readRun calls what look gives for every row of a recording, and counts them.
func readRun(t *testing.T, path string, look func(*hil.Schema) func(*hil.Row)) (n int) {
	t.Helper()
	r, err := sink.OpenRun(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	row := look(&r.Info.Schema)
	if err := r.Rows(func(x *hil.Row) error { n++; row(x); return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}
