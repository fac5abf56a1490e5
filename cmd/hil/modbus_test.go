package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
)

// The example of a bus runs as it stands, with limits that a crowded test machine does not trip over: the virtual slaves are asked, the
// axis follows its reference, and the recording replays equal.
func TestDaemonModbusExample(t *testing.T) {
	inPairs(t)
	data, err := os.ReadFile("../../configs/modbus.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("at: {slave: 1, register: 0,", "stale: 500 ms, at: {slave: 1, register: 0,", "range: ±3 A",
		"range: ±3 A, stale: 500 ms",
		"timeout: 50 ms", "timeout: 400 ms", "late: 100 ms", "late: 1 s", "watchdog: 200 ms", "watchdog: 1 s", "hold_time: 200 ms",
		"hold_time: 1 s", "frequency: 0.1 Hz", "frequency: 0.3 Hz").Replace(string(data))
	file := filepath.Join(t.TempDir(), "modbus.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d := startRun(t, file, "--record", t.TempDir())
	d.awaitMode("run")
	lo, hi := math.Inf(1), math.Inf(-1)
	for end := time.Now().Add(30 * time.Second); hi-lo < 1 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if x, ok := d.state()["bus.motor.angle"].(float64); ok {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	if !(hi-lo >= 1) {
		t.Errorf("the axis moved by %v rad", hi-lo)
	}
	state, health := d.state(), d.health()
	for _, name := range []string{"bus.table.torque", "bus.slave1.holding0.age", "bus.slave2.input100.age"} {
		if x, ok := state[name].(float64); !ok || strings.HasSuffix(name, "age") && !(x < 1) {
			t.Errorf("%s is %v in %v", name, state[name], state)
		}
	}
	if health["bus.refusals"] != 0.0 || health["bus.bad"] != 0.0 || !(health["bus.frames"].(float64) > 50) {
		t.Errorf("health %v", health)
	}
	if code := d.stop(); code != report.Interrupted {
		t.Errorf("exit code %d", code)
	}
	out, errs, code := execute(t, "replay", "--json", d.ready.Run)
	var rep daemon.ReplayResult
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 0 || rep.Rows < 50 || rep.Differ != 0 {
		t.Errorf("replay: code %d, %v, %+v\n%s", code, err, rep, errs)
	}
}

// A Modbus sensor stands beside the motor board: the board drives the axis, the sensor tells the temperature of the virtual winding.
func TestDaemonModbusSensorBesideABoard(t *testing.T) {
	data, err := os.ReadFile("../../configs/modbus-sensor.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("stale: 50 ms", "stale: 500 ms", "hold_time: 200 ms", "hold_time: 1 s", "watchdog: 200 ms", "watchdog: 1 s",
		"delay: 2 ms", "delay: 2 ms, timeout: 400 ms").Replace(string(data))
	file := filepath.Join(t.TempDir(), "modbus-sensor.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d := startRun(t, file, "--no-record")
	d.awaitMode("run")
	var state map[string]any
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		state = d.state()
		x, there := state["sensor.winding"].(float64)
		age, known := state["sensor.age"].(float64)
		if there && known && x > 15 && x < 60 && age < 0.5 { // ambient is 20 degC
			if code := d.stop(); code != report.Interrupted {
				t.Errorf("exit code %d", code)
			}
			return
		}
	}
	t.Errorf("no temperature from the sensor: %v", state)
}
