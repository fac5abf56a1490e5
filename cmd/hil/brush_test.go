package main

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/plant"
	"hilrig/hil"
	"hilrig/hil/sink"
)

// brushFile is configs/brush-rig.yaml with changes, patient with a busy machine.
func brushFile(t *testing.T, changes ...string) string {
	t.Helper()
	data, err := os.ReadFile("../../configs/brush-rig.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	changes = append([]string{"stale: 50 ms", "stale: 500 ms", "hold_time: 200 ms", "hold_time: 1 s", "watchdog: 200 ms", "watchdog: 1 s",
		"limit: 100 ms", "limit: 2 s",
		"beat: 1 s", "beat: 3 s", "max_error: 10 rad", "max_error: 500 rad", "max_speed: 450 rad/s", "max_speed: 5000 rad/s",
		"max_current: 25 A", "max_current: 0 A"}, changes...)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("the example has no %q", changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	file := filepath.Join(t.TempDir(), "brush.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// The rig with brushes and the daemon with its own brush beside it: signals, health, a replay that
// repeats every row whatever time the ticks took.
func TestDaemonBrushRun(t *testing.T) {
	d := startRun(t, brushFile(t), "--record", t.TempDir())
	d.awaitMode("run")
	time.Sleep(2 * time.Second)
	s := d.state()
	for _, name := range []string{"brushes.tilt", "brushes.force", "brushes.torque", "brushes.drop", "brushes.loss", "brushes.busy",
		"brushes.level", "brushes.unverified", "brushes.sparking", "brushes.substeps", "brushes.room"} {
		if v, ok := s[name].(float64); !ok || math.IsNaN(v) {
			t.Errorf("%s: %v", name, s[name])
		}
	}
	if h := d.health(); h["drive.frames"].(float64) < 500 || h["brushes.busy_p50_us"].(float64) <= 0 || h["brushes.share"].(float64) <= 0 ||
		h["brushes.level_changes"] == nil {
		t.Errorf("health %v", h)
	}
	if code := d.stop(); code != report.Interrupted {
		t.Fatalf("exit code %d\n%s", code, d.errs)
	}
	out, errs, code := execute(t, "replay", "--json", d.ready.Run)
	var rep daemon.ReplayResult
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 0 || rep.Rows < 1000 || rep.Differ != 0 {
		t.Errorf("replay: code %d, %v, %+v\n%s", code, err, rep, errs)
	}
	if tilt := meanWhile(t, d.ready.Run, "brushes.tilt", "shaft.est.velocity", 60); tilt > -5e-4 || tilt < -8e-3 {
		t.Errorf("mean tilt forwards %g rad, want −8e-3 … 0", tilt)
	}
}

// meanWhile is the mean of a recorded signal over the rows in which another one is above a limit.
func meanWhile(t *testing.T, run, name, other string, limit float64) float64 {
	t.Helper()
	rec, err := sink.OpenRun(run)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	i, j := rec.Info.Schema.Index(name), rec.Info.Schema.Index(other)
	var r hil.Row
	sum, n := 0.0, 0
	for it := rec.Iter(); it.Next(&r); {
		if r.X[j] > limit {
			sum += r.X[i]
			n++
		}
	}
	if n < 50 {
		t.Fatalf("%s above %g in %d rows only", other, limit, n)
	}
	return sum / float64(n)
}

// A share that is too small for the model: averaged contact, an event, a count, no trip.
func TestDaemonBrushWithoutTime(t *testing.T) {
	d := startRun(t, brushFile(t, "share: 40 %", "share: 0.5 %"), "--record", t.TempDir())
	d.awaitMode("run")
	time.Sleep(time.Second)
	if s := d.state(); s["brushes.level"] != 1.0 || s["brushes.substeps"] != 0.0 || s["mode"] != "run" {
		t.Errorf("level %v, sub-steps %v, mode %v", s["brushes.level"], s["brushes.substeps"], s["mode"])
	}
	if h := d.health(); h["brushes.level_changes"].(float64) < 1 || h["brushes.cheaper_rows"].(float64) < 500 || h["trips"] != 0.0 {
		t.Errorf("health: changes %v, cheaper rows %v, trips %v", h["brushes.level_changes"], h["brushes.cheaper_rows"], h["trips"])
	}
	if !strings.Contains(d.errs.String(), "brushes goes on at level 1") {
		t.Errorf("no event:\n%s", d.errs)
	}
	if code := d.stop(); code != report.Interrupted {
		t.Errorf("exit code %d", code)
	}
}

// brushDemo is the example with simulated brushes.
func brushDemo(t *testing.T) *configs.Config {
	t.Helper()
	cfg, err := configs.Load("../../configs/brush-rig.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// hil rig names its port and sends frames that somebody else's program reads.
func TestBrushRigAnswers(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	w := &watchedRig{}
	go func() { ended <- daemon.RunRig(ctx, in, brushDemo(t), daemon.RigPorts{}, 0, w) }()
	defer func() { cancel(); <-ended }()
	var ready daemon.RigReady
	if err := json.NewDecoder(out).Decode(&ready); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	f, err := os.OpenFile(ready.Ports[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 22*200)
	f.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := io.ReadFull(f, buf); err != nil {
		t.Fatalf("%d bytes: %v", n, err)
	}
	zeros := 0 // every frame ends with one
	for _, b := range buf {
		if b == 0 {
			zeros++
		}
	}
	if zeros < 150 {
		t.Errorf("%d ends of frames in %d bytes", zeros, len(buf))
	}
}

// A plant of kind brush follows its configuration: two brushes or one, steps, friction of the bearings beside.
func TestBrushMachineFollowsTheConfig(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		inner int
	}{{1000, 1}, {2000, 1}, {500, 2}, {100, 10}} {
		cfg := brushDemo(t)
		cfg.Devices[0].Rate, cfg.Virtual.Plant.Brush.Pair = c.rate, c.rate == 2000
		m, inner, err := cfg.Machine()
		if err != nil || inner != c.inner {
			t.Fatalf("%g Hz: %d steps a tick, want %d: %v", c.rate, inner, c.inner, err)
		}
		states := len(m.Layout().States)
		if want := 4 + 22 + 1; c.rate != 2000 && states != want || c.rate == 2000 && states != want+22 {
			t.Errorf("%g Hz: %d states", c.rate, states)
		}
	}
	// at 12 V without load the torque of bearings and brushes is what the current makes
	cfg := brushDemo(t)
	m, _, err := cfg.Machine()
	if err != nil {
		t.Fatal(err)
	}
	x, y := m.NewState(), make([]float64, len(m.Layout().Outputs))
	var cur, speed, torque float64
	for k := range 2500 {
		m.Step(1e-3, x, []float64{12, 1}, y)
		if k >= 500 {
			cur, speed, torque = cur+y[2]/2000, speed+x[plant.Omega]/2000, torque+y[3]/2000
		}
	}
	want := 8e-3 + 5e-5*speed + 2*cfg.Virtual.Plant.Brush.Parameters.MeanTorque()
	t.Logf("%.4g rad/s, %.4g A: %.4g N·m, bearings and brushes %.4g N·m, brushes %.4g N·m", speed, cur, 0.042*cur, want, torque)
	if math.Abs(0.042*cur/want-1) > 0.05 {
		t.Errorf("%g N·m at %g rad/s, want %g", 0.042*cur, speed, want)
	}
}

func TestRigRefuses(t *testing.T) {
	t.Setenv("LAB_MQTT_PASSWORD", "secret")
	for _, c := range []struct{ file, want string }{
		{"../../configs/serial-line.yaml", "no section virtual"},
		{"../../configs/none.yaml", "no such file"},
	} {
		if _, errs, code := execute(t, "rig", c.file); code != report.Invalid || !strings.Contains(errs, c.want) {
			t.Errorf("%s: code %d\n%s", c.file, code, errs)
		}
	}
}
