package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hilrig/cmd/report"
)

// recordingsIn are the folders below a folder.
func recordingsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// A start that fails leaves no recording, and the next start says nothing of a run that ended badly.
func TestFailedStartLeavesNoRecording(t *testing.T) {
	const foreign = "192.0.2.1:1" // of no machine [RFC 5737]; where a port is taken, the next one is
	good := demoFile(t, virtualPort)
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"port missing", report.Unavailable, []string{demoFile(t, "/dev/ttyUSB-nowhere"), "--no-web", "--no-mqtt"}},
		{"refused file", report.Invalid, []string{demoFile(t, virtualPort, "rate: 1 kHz", "rate: 1 MHz")}},
		{"no such file", report.Invalid, []string{"nothing.yaml"}},
		{"wrong flags", report.Usage, []string{good, "--dry-run", "--arm"}},
		{"MQTT cannot listen", report.Unavailable, []string{good, "--no-web", "--mqtt", foreign}},
		{"no broker", report.Unavailable, []string{demoFile(t, virtualPort, "  listen: localhost:1883  # embedded broker; an external one: "+
			"broker: ssl://host:8883", "  broker: tcp://127.0.0.1:9"), "--no-web"}},
		{"HTTP cannot listen", report.Unavailable, []string{good, "--no-mqtt", "--web", foreign}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for range 2 {
				out, errs, code := execute(t, append([]string{"run", "--duration", "1s", "--record", dir}, c.args...)...)
				if left := recordingsIn(t, dir); code != c.code || left != nil || strings.Contains(errs, "LAST_RUN") {
					t.Errorf("exit code %d, left %v\n%s%s", code, left, out, errs)
				}
			}
			if _, errs, code := execute(t, "identify", dir); code != report.Invalid || !strings.Contains(errs, "no recording there") {
				t.Errorf("identify: exit code %d: %s", code, errs)
			}
		})
	}
}

// A dry run is recorded, but the runs of a folder are identified without it.
func TestDaemonDryRunIsNotIdentified(t *testing.T) {
	inPairs(t)
	dir := t.TempDir()
	file := tolerant(t, virtualPort)
	// of a machine that is too busy
	if _, errs, code := execute(t, "run", file, "--no-web", "--no-mqtt", "--record", dir, "--duration", "2s"); code != report.OK &&
		code != report.Trip {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	driven := oneRun(t, dir)
	if _, errs, code := execute(t, "run", file, "--no-web", "--no-mqtt", "--record", dir, "--duration", "1s",
		"--dry-run"); code != report.OK || !strings.Contains(errs, "_dry-run") {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if all := recordingsIn(t, dir); len(all) != 2 || !strings.HasSuffix(all[1], "_dry-run") {
		t.Fatalf("recordings %q", all)
	}
	out, errs, _ := execute(t, "import", dir)
	if !strings.Contains(out, driven) || strings.Contains(out, "dry-run") {
		t.Errorf("import shows %s%s", out, errs)
	}
	// where there is no other, it is the one
	if err := os.RemoveAll(filepath.Join(dir, driven)); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := execute(t, "import", dir); code != report.OK || !strings.Contains(out, "_dry-run") {
		t.Errorf("import: exit code %d: %s%s", code, out, errs)
	}
}

// After a trip the last line says where to look and how to go on, and so does who would identify what was recorded.
func TestDaemonTripSaysWhatToDo(t *testing.T) {
	inPairs(t)
	dir := t.TempDir()
	file := tolerant(t, virtualPort, "max_error: 50 rad", "max_error: 5 mrad")
	_, errs, code := execute(t, "run", file, "--no-web", "--no-mqtt", "--record", dir, "--until-trip", "--duration", "20s")
	lines := strings.Split(strings.TrimSpace(errs), "\n")
	last := lines[len(lines)-1]
	if code != report.Trip || !strings.Contains(lines[len(lines)-2], "hil: the safety guard tripped: tracking error shaft") ||
		!strings.Contains(last, "are the gains too low") || !strings.Contains(last, "Then start again") ||
		!strings.Contains(errs, "what to do: ") {
		t.Errorf("exit code %d, %q", code, lines)
	}
	for _, args := range [][]string{{"--law", "lugre"}, {"--last", "1ms"}, nil} {
		_, errs, code := execute(t, append([]string{"identify", dir}, args...)...)
		if code != report.Invalid && code != report.Quality ||
			!regexp.MustCompile(`^hil: the run tripped at \d[\d.]* s \(tracking error shaft.*limit 0.005 rad\): `).MatchString(errs) {
			t.Errorf("identify %v: exit code %d: %s", args, code, errs)
		}
	}
}
