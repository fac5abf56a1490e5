//go:build soak

package main

import (
	"strings"
	"testing"
	"time"
)

const soak = true

// No core hangs or dies at 10 kHz with serial traffic: the trap of unequal priorities, run twenty times.
func TestSoakStarts(t *testing.T) {
	file := tolerant(t, virtualPort)
	for k := range 20 {
		d := startRun(t, file, "--rate", "10 kHz", "--record", t.TempDir(), "--no-mqtt")
		time.Sleep(time.Second)
		h := d.health()
		if code := d.stop(); code != exitInterrupted || strings.Contains(d.errs.String(), "CORE_LOST") {
			t.Fatalf("start %d: exit code %d\n%s", k+1, code, d.errs)
		}
		t.Logf("start %2d: %.0f ticks, %.0f frames received, %.0f skipped", k+1, h["ticks"], h["link_frames"], h["skipped"])
	}
}
