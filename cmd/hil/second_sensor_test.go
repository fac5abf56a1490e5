package main

import (
	"math"
	"testing"
	"time"

	"hilrig/cmd/report"
)

// A motor board and a tracker in one rig: what the file says of the virtual tracker (turned by 0.4 rad, late by 8 ms) is found while it
// runs.
func TestDaemonMotorAndTracker(t *testing.T) {
	d := startRun(t, "../../configs/motor-tracker.yaml", "--no-record")
	d.awaitMode("run")
	value := func(name string) float64 {
		if x, ok := d.state()["mount."+name].(float64); ok {
			return x
		}
		return math.NaN()
	}
	known := func() bool { return value("offset_se") < 3e-4 && value("shift_se") < 3e-4 && value("gain_se") < 4e-4 }
	for end := time.Now().Add(30 * time.Second); !known(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nothing is known: %v", d.state())
		}
	}
	// the lines take some 0.2 ms beside the script's delay; more where the host holds frames back
	if o, s, g := value("offset"), value("shift"), value("gain"); math.Abs(o-0.4) > 0.003 || math.Abs(s-8e-3) > 1.5e-3 ||
		math.Abs(g-1) > 2e-3 {
		t.Errorf("offset %g rad, shift %g s, gain %g, want 0.4, 0.008, 1", o, s, g)
	}
	if code := d.stop(); code != report.Interrupted {
		t.Errorf("exit code %d", code)
	}
}
