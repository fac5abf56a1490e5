package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/report"
	"hilrig/hil"
	"hilrig/hil/sink"
)

// ballFile is configs/ball.yaml with changes.
func ballFile(t *testing.T, changes ...string) string {
	t.Helper()
	data, err := os.ReadFile("../../configs/ball.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("the example has no %q", changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	file := filepath.Join(t.TempDir(), "ball.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// The virtual motion-capture rig and the daemon beside it: the poses arrive, the friction is that of the plant,
// the recording has it, and a rig without an axis ends in READY.
func TestDaemonBallRun(t *testing.T) {
	inPairs(t)
	for _, c := range []struct {
		name    string
		changes []string
		roll    float64
	}{
		{"polhemus", []string{"roll: {linear: 2.5e-4}", "roll: {linear: 3.1e-4}"}, 3.1e-4},
		{"ndi", []string{"baud: 230400", "baud: 921600", "polhemus: {items: [9, 8, 2, 7]}",
			"ndi: {tools: [{name: B, number: 10}], timeout: 1 s}", "protocol: polhemus", "protocol: ndi", "{name: ", "{name: B.",
			"tools: [{name: B.B", "tools: [{name: B",
			"[tracker.", "[tracker.B.", ", tracker.", ", tracker.B."}, 2.5e-4},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := startRun(t, ballFile(t, c.changes...), "--record", t.TempDir())
			d.awaitMode("ready")
			s := d.state()
			for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				if s = d.state(); s["friction.reason"] == 0.0 && s["friction.roll_se"].(float64) < 1.2e-6 {
					break
				}
			}
			roll, _ := s["friction.roll"].(float64)
			if !(math.Abs(roll-c.roll) < 0.02*c.roll) || s["mode"] != "ready" {
				t.Errorf("rolling friction %v ± %v N·m·s (reason %v) in mode %v, want %g", s["friction.roll"], s["friction.roll_se"],
					s["friction.reason"], s["mode"], c.roll)
			}
			if h := d.health(); !(h["tracker.frames"].(float64) > 100) || h["tracker.bad"] != 0.0 || h["trips"] != 0.0 {
				t.Errorf("health: frames %v, bad %v, trips %v", h["tracker.frames"], h["tracker.bad"], h["trips"])
			}
			if code := d.stop(); code != report.Interrupted {
				t.Fatalf("exit code %d\n%s", code, d.errs)
			}
			lengths(t, d.ready.Run)
			if out, errs, code := execute(t, "import", d.ready.Run); code != 0 || !strings.Contains(out, "friction.roll") ||
				strings.Contains(out, "hil identify") {
				t.Errorf("import: code %d\n%s%s", code, out, errs)
			}
			if _, errs, code := execute(t, "identify", d.ready.Run); code == 0 || !strings.Contains(errs, "has no axis") {
				t.Errorf("identify: code %d\n%s", code, errs)
			}
		})
	}
}

// lengths reads the quaternions and heights of a recording back: unit rotations of a ball whose centre is at its radius.
func lengths(t *testing.T, run string) {
	t.Helper()
	rec, err := sink.OpenRun(run)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	part := "tracker."
	if rec.Info.Schema.Index("tracker.x") < 0 {
		part = "tracker.B."
	}
	var at [4]int
	for i, c := range "wxyz" {
		at[i] = rec.Info.Schema.Index(part + "q." + string(c))
	}
	z := rec.Info.Schema.Index(part + "z")
	var r hil.Row
	rows, seen := 0, 0
	for it := rec.Iter(); it.Next(&r); {
		rows++
		n := 0.0
		for _, k := range at {
			n += r.X[k] * r.X[k]
		}
		if n != n || n == 0 { // before the first pose, and without one
			continue
		}
		seen++
		if math.Abs(n-1) > 1e-5 || math.Abs(r.X[z]-0.035) > 1e-3 {
			t.Fatalf("row %d: quaternion of length² %g at a height of %g m", rows, n, r.X[z])
		}
	}
	if seen < rows/2 {
		t.Errorf("%d of %d rows have a pose", seen, rows)
	}
}

// What the rig records of itself: the energy falls, and every pose that a run on its port received is one that it sent, near the truth.
func TestDaemonBallRigRecordsTheTruth(t *testing.T) {
	inPairs(t)
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "tracker")
	rig, stop := startRigDaemon(t, ballFile(t), "--link", link, "--record", dir, "--no-mqtt")
	defer func() { stop() }()
	d := startRun(t, ballFile(t, "port: virtual", "port: "+link), "--record", dir, "--no-mqtt")
	d.awaitMode("ready")
	time.Sleep(2 * time.Second)
	d.stop()
	stop()
	stop = func() {}

	var sent []float64 // m
	energy, trial := math.Inf(1), 1.0
	plant := readRun(t, rig.Run, func(s *hil.Schema) func(*hil.Row) {
		x, e, n, seen := s.Index("ball.x"), s.Index("ball.energy"), s.Index("ball.trial"), s.Index("tracker.x")
		return func(r *hil.Row) {
			if r.X[n] != trial {
				energy, trial = math.Inf(1), r.X[n]
			}
			if !(r.X[e] <= energy+1e-12) || r.Mode != hil.Ready {
				t.Fatalf("energy %g J after %g J, mode %v", r.X[e], energy, r.Mode)
			}
			energy = r.X[e]
			if v := r.X[seen]; v == v {
				sent = append(sent, v)
				if math.Abs(v-r.X[x]) > 1e-3 {
					t.Fatalf("seen at %g m, is at %g m", v, r.X[x])
				}
			}
		}
	})
	received, strange := 0, 0
	run := readRun(t, d.ready.Run, func(s *hil.Schema) func(*hil.Row) {
		at, last := s.Index("tracker.x"), math.NaN()
		return func(r *hil.Row) {
			v := r.X[at]
			if v == 0 || v != v || v == last {
				return
			}
			last = v
			if received++; !slices.ContainsFunc(sent, func(x float64) bool { return math.Abs(x-v) < 1e-8 }) { // float32 of some inches

				strange++
			}
		}
	})
	if plant < 300 || run < 500 || received < 100 || strange > 0 {
		t.Errorf("%d rows of the rig, %d of the run, %d poses received, %d of them never sent", plant, run, received, strange)
	}
}

// Nothing to drive, nothing to arm.
func TestBallIsNotArmed(t *testing.T) {
	_, errs, code := execute(t, "run", ballFile(t), "--arm")
	if code == 0 || !strings.Contains(errs, "nothing to arm") {
		t.Errorf("code %d\n%s", code, errs)
	}
}
