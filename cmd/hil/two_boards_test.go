package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
)

// Two boards with ports, clocks and rates of their own are one rig: configs/two-boards.yaml runs, its estimate follows the truth, each
// board is counted under its name, the recording replays bit for bit, and a core that is killed leaves the drive safe.
func TestDaemonTwoBoards(t *testing.T) {
	inPairs(t)
	data, err := os.ReadFile("../../configs/two-boards.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("stale: 50 ms", "stale: 500 ms", "stale: 100 ms", "stale: 500 ms", "hold_time: 200 ms", "hold_time: 1 s",
		"watchdog: 200 ms", "watchdog: 1 s",
		"overrun: {limit: 100 ms}\n  beat: 1 s", "overrun: {limit: 2 s}\n  beat: 3 s").Replace(string(data))
	file, runs := filepath.Join(t.TempDir(), "two.yaml"), t.TempDir()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d := startRun(t, file, "--record", runs)
	if m := d.awaitMode("run", "trip"); m != "run" {
		t.Fatalf("mode %s\n%s", m, d.errs)
	}
	before := d.health()
	time.Sleep(3 * time.Second)
	now, state := d.health(), d.state()
	frames := func(name string) float64 { return now[name+".frames"].(float64) - before[name+".frames"].(float64) }
	if fast, slow := frames("drive"), frames("encoder"); slow < 300 || fast/slow < 4.5 || fast/slow > 5.5 {
		t.Errorf("%g frames from the drive, %g from the encoder: want 5 to 1", fast, slow)
	}
	if now["encoder.tx_frames"] != 0.0 || now["drive.tx_frames"].(float64) < 1000 {
		t.Errorf("sent %v to the encoder, %v to the drive", now["encoder.tx_frames"], now["drive.tx_frames"])
	}
	position, ok := state["encoder.angle"].(float64)
	estimate, ok2 := state["shaft.est.position"].(float64)
	if age, ok3 := state["encoder.age"].(float64); !ok || !ok2 || !ok3 || state["drive.age"] == nil || age < 0 || position-estimate > 0.3 ||
		estimate-position > 0.3 {
		t.Errorf("position %v, estimate %v, age %v", position, estimate, state["encoder.age"])
	}

	// the core dies: every board that takes commands gets its safe frame
	syscall.Kill(d.ready.Core, syscall.SIGKILL)
	d.awaitLog("safe frame sent three times to drive")
	if strings.Contains(d.errs.String(), "to encoder") {
		t.Error("a safe frame for a board that takes no commands")
	}
	if code := d.stop(); code != report.Trip && code != report.Interrupted {
		t.Errorf("exit code %d", code)
	}
	res, err := daemon.Replay(t.Context(), d.ready.Run, report.NewProgress(io.Discard))
	if err != nil || res.Differ != 0 || res.Rows < 2000 {
		t.Errorf("%d of %d rows differ: %s %v (%v)", res.Differ, res.Rows, res.FirstDifference, res.Signals, err)
	}
}
