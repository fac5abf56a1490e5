package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The exit codes and the sentences that go with them, as a script sees them.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := demoFile(t, virtualPort)
	misspelt := demoFile(t, virtualPort, "  sigma0: 11 N·m/rad\n", "  sgima0: 11 N·m/rad\n")
	wrongUnit := demoFile(t, virtualPort, "K: 0.042 N·m/A          # = 0.042 V·s/rad", "K: 0.042 V")
	outOfRange := demoFile(t, virtualPort, "rate: 1 kHz", "rate: 1 MHz")
	noPort := demoFile(t, "/dev/ttyUSB-nowhere")
	noBroker := demoFile(t, virtualPort, "  listen: localhost:1883  # embedded broker; an external one: broker: ssl://host:8883", "  broker: tcp://127.0.0.1:9")
	for _, c := range []struct {
		name string
		args []string
		code int
		says []string // on stderr, or stdout for code 0
	}{
		{"version", []string{"version"}, exitOK, []string{"hil "}},
		{"completion", []string{"completion", "bash"}, exitOK, []string{"complete"}},
		{"ports", []string{"ports", "--json"}, exitOK, nil},
		{"unknown verb", []string{"rnu"}, exitUsage, []string{`unknown command "rnu"`, "run"}},
		{"unknown flag", []string{"run", "--dri-run"}, exitUsage, []string{"unknown flag: --dri-run"}},
		{"too many arguments", []string{"run", "a", "b"}, exitUsage, []string{"accepts at most 1 arg"}},
		{"contradiction", []string{"run", good, "--dry-run", "--arm"}, exitUsage, []string{"exclude each other"}},
		{"check", []string{"check", good}, exitOK, nil},
		{"misspelt key", []string{"run", misspelt}, exitInvalid, []string{"rig.yaml:", `unknown key "sgima0"`, `did you mean "sigma0"`, "^"}},
		{"misspelt key, check", []string{"check", misspelt}, exitInvalid, []string{`did you mean "sigma0"`}},
		{"wrong unit", []string{"run", wrongUnit}, exitInvalid, []string{"motor.K", "^"}},
		{"out of range", []string{"run", outOfRange}, exitInvalid, []string{"loop.rate"}},
		{"missing file", []string{"run", filepath.Join(dir, "nothing.yaml")}, exitInvalid, []string{"nothing.yaml"}},
		{"missing port", []string{"run", noPort, "--dry-run", "--no-web", "--record", dir}, exitUnavailable, []string{"/dev/ttyUSB-nowhere", "hil ports"}},
		{"broker refused", []string{"run", noBroker, "--no-web", "--record", dir}, exitUnavailable, []string{"127.0.0.1:9"}},
		{"no recording", []string{"replay", filepath.Join(dir, "none")}, exitInvalid, []string{"none"}},
		{"not a recording", []string{"export", write("junk.mcap", "this is not MCAP"), "-o", "-"}, exitInvalid, []string{"junk.mcap"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errs, code := execute(t, c.args...)
			if code != c.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, c.code, out, errs)
			}
			text := errs
			if c.code == exitOK {
				text = out
			}
			for _, s := range c.says {
				if !strings.Contains(text, s) {
					t.Errorf("says nothing of %q:\n%s", s, text)
				}
			}
		})
	}
}
