//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hilrig/cmd/report"
)

// Results never take the place of a device, of a pipe, or of what they were made from, --force or not.
func TestSimulateSparesWhatIsNoResult(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	link := filepath.Join(dir, "link.csv")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	track := filepath.Join(dir, "track.csv")
	const points = "time_s,position_m\n0,0\n1,0.1\n"
	if err := os.WriteFile(track, []byte(points), 0o644); err != nil {
		t.Fatal(err)
	}
	own := simulateFile(t, "stick-slip.yaml", "{kind: ramp, velocity: 0.1 m/s}", "{kind: file, file: "+track+"}", "20 s", "0.5 s")
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ out, says string }{
		{pipe, "is a device or a pipe"},
		{link, "is a device or a pipe"},
		{own, "is the file to simulate"},
		{track, "is an input of the run"},
	} {
		_, errs, code := execute(t, "simulate", own, "-o", c.out, "--force")
		if code != report.Usage || !strings.Contains(errs, c.says) {
			t.Errorf("-o %s: exit code %d, %s", c.out, code, errs)
		}
	}
	if st, err := os.Lstat(pipe); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is gone: %v %v", st.Mode(), err)
	}
	if now, _ := os.ReadFile(own); string(now) != string(text) {
		t.Error("the file to simulate was written over")
	}
	if now, _ := os.ReadFile(track); string(now) != points {
		t.Error("the input was written over")
	}
}
