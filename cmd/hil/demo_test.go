package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
	"hilrig/hil/rt"
)

// inRealTime looks at the scheduling of a virtual rig: where the core runs in real time the rig does so too, every thread one below it.
func inRealTime(t *testing.T, d *daemonUnderTest) {
	t.Helper()
	core, err := rt.Threads(d.ready.Core)
	rig, err2 := rt.Threads(d.ready.Rig)
	if err != nil || err2 != nil || len(core) == 0 || len(rig) == 0 {
		t.Fatalf("%d threads of the core, %d of the rig: %v, %v", len(core), len(rig), err, err2)
	}
	if core[0].Policy != "FIFO" {
		return
	}
	for _, th := range rig {
		if th.Policy != "FIFO" || th.Priority != core[0].Priority-1 {
			t.Errorf("a thread of the virtual rig: %+v", th)
		}
	}
}

// The whole daemon as a newcomer starts it: virtual rig, core, broker, page, recording; then the
// recording is replayed and exported.
func TestDaemonDemo(t *testing.T) {
	inPairs(t)
	dir := t.TempDir()
	d := startRun(t, tolerant(t, virtualPort), "--record", dir)
	d.awaitMode("run")
	inRealTime(t, d)

	// every sample, in order, by a foreign client
	want := 3 * time.Second
	if soak {
		want = 60 * time.Second
	}
	seen := countSamples(t, d, want)
	t.Logf("%d samples by MQTT, none missing", seen)

	// commands as the page sends them
	if r := d.command("set", `{"id":"a","set":{"shaft.compensation.scale":0.5}}`); !r.OK || r.ID != "a" {
		t.Errorf("set: %+v", r)
	}
	if r := d.command("set", `{"set":{"shaft.compensation.scale":7}}`); r.OK || !strings.Contains(r.Error, "from 0 to 1") {
		t.Errorf("a scale of 7 was taken: %+v", r)
	}
	if r := d.command("set", `{"set":{"shaft.compensation.scal":0.5}}`); r.OK || !strings.Contains(r.Error, "shaft.compensation.scale") {
		t.Errorf("a misspelt name: %+v", r)
	}
	for _, step := range []struct{ cmd, mode string }{{"hold", "hold"}, {"run", "run"}, {"stop", "ready"}} {
		if r := d.command(step.cmd, "{}"); !r.OK {
			t.Errorf("%s: %+v", step.cmd, r)
		}
		d.awaitMode(step.mode)
	}
	if r := d.command("run", "{}"); r.OK || !strings.Contains(r.Error, "not possible in mode ready") {
		t.Errorf("run without arming: %+v", r)
	}
	d.command("arm", "{}")
	d.command("run", "{}")
	d.awaitMode("run")

	if code := d.stop(); code != report.Interrupted {
		t.Fatalf("exit code %d, want %d\n%s", code, report.Interrupted, d.errs)
	}

	// the recording
	out, errs, code := execute(t, "replay", "--json", d.ready.Run)
	var rep daemon.ReplayResult
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 0 {
		t.Fatalf("replay: code %d, %v\n%s%s", code, err, out, errs)
	}
	if rep.Rows < 3000 || rep.Differ != 0 {
		t.Errorf("replay: %+v", rep)
	}
	file := filepath.Join(dir, "out.csv")
	if out, errs, code = execute(t, "export", d.ready.Run, "-o", file); code != 0 {
		t.Fatalf("export: code %d\n%s%s", code, out, errs)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cr := csv.NewReader(f)
	cr.FieldsPerRecord = -1
	rows, err := cr.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if n := uint64(len(rows) - 2); n != rep.Rows {
		t.Errorf("%d rows exported, %d recorded", n, rep.Rows)
	}
	if _, _, code = execute(t, "export", d.ready.Run, "-o", file); code != report.Invalid && code != report.Usage {
		t.Errorf("export wrote over a file: code %d", code)
	}
}

// countSamples subscribes with mosquitto_sub and checks that no sequence number is missing.
func countSamples(t *testing.T, d *daemonUnderTest, during time.Duration) int {
	t.Helper()
	path, err := exec.LookPath("mosquitto_sub")
	if err != nil {
		t.Log("mosquitto_sub is not installed (apt-get install mosquitto-clients): samples not checked by a foreign client")
		time.Sleep(during) // the recording is to be as long all the same
		return 0
	}
	host, port, _ := strings.Cut(strings.TrimPrefix(d.ready.MQTT, "tcp://"), ":")
	sub := exec.Command(path, "-h", host, "-p", port, "-u", "viewer", "-t", "hil/motor/samples")
	out, err := sub.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.Start(); err != nil {
		t.Fatal(err)
	}
	defer sub.Wait()
	timer := time.AfterFunc(during, func() { sub.Process.Kill() })
	defer timer.Stop()
	sc := bufio.NewScanner(out)
	sc.Buffer(nil, 1<<20)
	n, last := 0, uint64(0)
	for sc.Scan() {
		var batch []struct {
			Timestamp float64  `json:"timestamp"`
			Seq       uint64   `json:"seq"`
			Angle     *float64 `json:"drive.motor.angle"`
		}
		if err := json.Unmarshal(sc.Bytes(), &batch); err != nil {
			t.Fatalf("samples: %v: %s", err, shortOf(sc.Text()))
		}
		for _, s := range batch {
			if last != 0 && s.Seq != last+1 {
				t.Errorf("samples: %d follows %d", s.Seq, last)
			}
			if s.Angle == nil || s.Timestamp < 1e9 {
				t.Fatalf("samples: %+v", s)
			}
			last = s.Seq
			n++
		}
	}
	if n < int(during.Seconds()*500) {
		t.Errorf("only %d samples in %v", n, during)
	}
	return n
}

// A guard that trips ends the run with its own exit code, in one process or two, and the rig is safe.
func TestDaemonTripExitCode(t *testing.T) {
	inPairs(t)
	for _, mode := range [][]string{nil, {"--single-process"}, {"--no-realtime"}} {
		args := append([]string{tolerant(t, virtualPort), "--until-trip", "--record", t.TempDir()}, mode...)
		d := startRun(t, args...)
		d.awaitMode("run")
		if r := d.command("estop", "{}"); !r.OK {
			t.Errorf("%v: estop: %+v", mode, r)
		}
		select {
		case <-d.done:
		case <-time.After(20 * time.Second):
			t.Fatalf("%v: the run does not end:\n%s", mode, d.errs)
		}
		if code := d.cmd.ProcessState.ExitCode(); code != report.Trip {
			t.Errorf("%v: exit code %d, want %d\n%s", mode, code, report.Trip, d.errs)
		}
		if len(mode) > 0 && mode[0] == "--single-process" && !strings.Contains(d.errs.String(), "not real time") {
			t.Error("single-process mode does not say that it is not real time")
		}
	}
}

// A dry run reads and estimates, refuses to be armed, and never sends a byte.
func TestDaemonDryRun(t *testing.T) {
	inPairs(t)
	rig := startWatchedRig(t)
	d := startRun(t, tolerant(t, rig.port), "--dry-run", "--record", t.TempDir())
	d.awaitMode("ready")
	if r := d.command("arm", "{}"); r.OK || !strings.Contains(r.Error, "dry run") {
		t.Errorf("arm in a dry run: %+v", r)
	}
	if v, ok := d.state()["shaft.est.position"].(float64); !ok || v != v {
		t.Errorf("no estimate in a dry run: %v", d.state())
	}
	resp := d.health()
	if resp["drive.tx_frames"] != 0.0 || resp["drive.frames"].(float64) < 100 {
		t.Errorf("frames received %v, sent %v", resp["drive.frames"], resp["drive.tx_frames"])
	}
	if d.stop() != report.Interrupted {
		t.Error("exit code")
	}

	// every channel is shown; a table that is not the board's is told with what the board sends
	other := strings.NewReplacer("type: u8\n    command", "type: u32\n    command")
	text, err := os.ReadFile(tolerant(t, rig.port))
	if err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(t.TempDir(), "wrong.yaml")
	if err := os.WriteFile(wrong, []byte(other.Replace(string(text))), 0o644); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][3]string{
		tolerant(t, rig.port): {"drive.motor.angle", "Hz", ""},
		wrong:                 {"never came", "drive.motor.angle", "frames arrive whole, but with 11 bytes of data; those of the file have 14"},
	} {
		out, errs, code := execute(t, "run", file, "--dry-run", "--duration", "4s", "--no-web", "--no-mqtt", "--no-record")
		if code != report.OK || !strings.Contains(out, want[0]) || !strings.Contains(out, want[1]) || !strings.Contains(errs, want[2]) {
			t.Errorf("exit code %d\n%s%s", code, out, errs)
		}
	}
}

// A real port is not driven unless --arm says so.
func TestDaemonNotArmed(t *testing.T) {
	inPairs(t)
	rig := startWatchedRig(t)
	d := startRun(t, tolerant(t, rig.port), "--record", t.TempDir())
	d.awaitMode("ready")
	time.Sleep(500 * time.Millisecond)
	if on, _ := rig.energised(); on || d.awaitMode("ready") != "ready" {
		t.Error("driven without --arm")
	}
	if r := d.command("arm", "{}"); r.OK || !strings.Contains(r.Error, "without --arm") {
		t.Errorf("arm without --arm: %+v", r)
	}
	if !strings.Contains(d.errs.String(), "--arm") {
		t.Errorf("the log does not say how to arm:\n%s", d.errs)
	}
}
