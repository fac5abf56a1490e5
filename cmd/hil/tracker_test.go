package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/report"
)

// The pendulum of the example file, watched by a tracker in place of its encoder: one that is asked and one that sends by itself. The
// angle that arrives is that of the plant, which swings from 120° to both sides.
func TestDaemonTrackersWatchAPendulum(t *testing.T) {
	data, err := os.ReadFile("../../configs/pendulum-rig.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, device, field string }{
		{"ndi", "    protocol: ndi\n    rate: 100 Hz\n    ndi: {tools: [{name: B, number: 10}], timeout: 1 s}\n", "B.yaw"},
		{"xsens", "    protocol: xsens\n", "roll"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(string(data), "    port: virtual\n", "    port: virtual\n"+c.device, 1)
			text = strings.Replace(text, "{name: angle, unit: rad, type: i32, scale: 9.587379924285257e-05, stale: 100 ms}",
				"{name: "+c.field+", unit: rad, stale: 1 s}", 1)
			text = strings.ReplaceAll(text, "encoder.angle", "encoder."+c.field)
			file := filepath.Join(t.TempDir(), "pendulum.yaml")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			d := startRun(t, file, "--no-record")
			d.awaitMode("ready")
			lo, hi := math.Inf(1), math.Inf(-1)
			for end := time.Now().Add(20 * time.Second); hi-lo < 1.5 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				if x, ok := d.state()["encoder."+c.field].(float64); ok {
					lo, hi = min(lo, x), max(hi, x)
				}
			}
			if !(hi-lo >= 1.5) || hi > 2.2 || lo < -2.2 {
				t.Errorf("the angle lay between %v and %v rad", lo, hi)
			}
			if h := d.health(); h["encoder.bad"] != 0.0 || h["encoder.begun"] != 0.0 || !(h["encoder.frames"].(float64) > 20) {
				t.Errorf("health %v", h)
			}
			if code := d.stop(); code != report.Interrupted {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
