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
)

// The whole daemon as a newcomer starts it: virtual rig on a pseudo-terminal, core, broker, page, recording; then the
// recording is replayed and exported.
func TestDemo(t *testing.T) {
	dir := t.TempDir()
	d := startRun(t, tolerant(t, virtualPort), "--record", dir)
	d.awaitMode("run")

	// every sample, in order, by a foreign client
	want := 3 * time.Second
	if soak {
		want = 60 * time.Second
	}
	seen := countSamples(t, d, want)
	t.Logf("%d samples by MQTT, none missing", seen)

	// commands as the page sends them
	if r := d.command("set", `{"id":"a","set":{"compensation.scale":0.5}}`); !r.OK || r.ID != "a" {
		t.Errorf("set: %+v", r)
	}
	if r := d.command("set", `{"set":{"compensation.scale":7}}`); r.OK || !strings.Contains(r.Error, "from 0 to 1") {
		t.Errorf("a scale of 7 was taken: %+v", r)
	}
	if r := d.command("set", `{"set":{"compensation.scal":0.5}}`); r.OK || !strings.Contains(r.Error, "compensation.scale") {
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

	if code := d.stop(); code != exitInterrupted {
		t.Fatalf("exit code %d, want %d\n%s", code, exitInterrupted, d.errs)
	}

	// the recording
	out, errs, code := execute(t, "replay", "--json", d.ready.Run)
	var rep replayResult
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
	if _, _, code = execute(t, "export", d.ready.Run, "-o", file); code != exitInvalid && code != exitUsage {
		t.Errorf("export wrote over a file: code %d", code)
	}
}

// countSamples subscribes with mosquitto_sub and checks that no sequence number is missing.
func countSamples(t *testing.T, d *daemonUnderTest, during time.Duration) int {
	t.Helper()
	path, err := exec.LookPath("mosquitto_sub")
	if err != nil {
		t.Log("mosquitto_sub is not installed (apt-get install mosquitto-clients): samples not checked by a foreign client")
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
			Angle     *float64 `json:"motor.angle"`
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
