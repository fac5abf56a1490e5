package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/cmd/report"
)

// The exit codes and the sentences that go with them, as a script sees them.
func TestExitCodes(t *testing.T) {
	t.Parallel()
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
	noBroker := demoFile(t, virtualPort, "  listen: localhost:1883  # embedded broker; an external one: broker: ssl://host:8883",
		"  broker: tcp://127.0.0.1:9")
	for _, c := range []struct {
		name string
		args []string
		code int
		says []string // on stderr, or stdout for code 0
	}{
		{"version", []string{"version"}, report.OK, []string{"hil "}},
		{"completion", []string{"completion", "bash"}, report.OK, []string{"complete"}},
		{"ports", []string{"ports", "--json"}, report.OK, nil},
		{"unknown verb", []string{"rnu"}, report.Usage, []string{`unknown command "rnu"`, "run"}},
		{"unknown flag", []string{"run", "--dri-run"}, report.Usage, []string{"unknown flag: --dri-run"}},
		{"too many arguments", []string{"run", "a", "b"}, report.Usage, []string{"2 arguments given; want "}},
		{"contradiction", []string{"run", good, "--dry-run", "--arm"}, report.Usage, []string{"exclude each other"}},
		{"check", []string{"check", good}, report.OK, nil},
		{"misspelt key", []string{"run", misspelt}, report.Invalid, []string{"rig.yaml:", `unknown key "sgima0"`, `did you mean "sigma0"`, "^"}},
		{"misspelt key, check", []string{"check", misspelt}, report.Invalid, []string{`did you mean "sigma0"`}},
		{"wrong unit", []string{"run", wrongUnit}, report.Invalid, []string{"motor.K", "^"}},
		{"out of range", []string{"run", outOfRange}, report.Invalid, []string{"loop.rate"}},
		{"missing file", []string{"run", filepath.Join(dir, "nothing.yaml")}, report.Invalid, []string{"nothing.yaml"}},
		{"missing port", []string{"run", noPort, "--dry-run", "--no-web", "--record", dir}, report.Unavailable,
			[]string{"/dev/ttyUSB-nowhere", "hil ports"}},
		{"broker refused", []string{"run", noBroker, "--no-web", "--record", dir}, report.Unavailable, []string{"127.0.0.1:9"}},
		{"no recording", []string{"replay", filepath.Join(dir, "none")}, report.Invalid, []string{"none"}},
		{"not a recording", []string{"export", write("junk.mcap", "this is not MCAP"), "-o", "-"}, report.Invalid, []string{"junk.mcap"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errs, code := execute(t, c.args...)
			if code != c.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, c.code, out, errs)
			}
			text := errs
			if c.code == report.OK {
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

// A run that was to drive the rig and did not, or lost its core, does not end with 0; one that went well does, and says what it
// found.
func TestDaemonExitCodesOfRuns(t *testing.T) {
	inPairs(t)
	never := demoFile(t, virtualPort, "range: ±20 A", "range: [10 A, 20 A]")                 // no current flows before the rig is armed
	still := tolerant(t, virtualPort, "min_velocity: 1.5 rad/s", "min_velocity: 1000 rad/s") // no motion is fast enough for an estimate
	for _, c := range []struct {
		name string
		args []string
		kill bool // the core
		code int
		says string
	}{
		{"good", []string{tolerant(t, virtualPort), "--duration", "6s"}, false, report.OK,
			`estimates ± standard error: J = [67]\d\.\d+e-6 ± \S+ kg·m², Fv = `},
		{"good, without estimates", []string{still, "--duration", "4s"}, false, report.OK,
			`no estimates: .* too short a run`},
		{"never ready", []string{never, "--duration", "2s"}, false, report.Trip,
			`the rig never ran: the run ended in mode selftest \(.*motor\.current`},
		{"never ready, dry run", []string{never, "--duration", "1s", "--dry-run"}, false, report.OK, ""},
		{"core lost", []string{tolerant(t, virtualPort), "--duration", "5s"}, true, report.Trip, `the core was lost, and the rig was made safe`},
		{"core lost, interrupted", []string{tolerant(t, virtualPort)}, true, report.Trip, `the core was lost`},
	} {
		t.Run(c.name, func(t *testing.T) {
			inPairs(t)
			says := regexp.MustCompile(c.says)
			d := runToItsEnd(t, c.args, c.kill)
			// skipped ticks break the windows of the estimate
			for again := 0; again < 3 && !says.MatchString(d.errs.String()) && strings.Contains(d.errs.String(), "code=LATE"); again++ {
				d = runToItsEnd(t, c.args, c.kill)
			}
			if code := d.cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, d.errs)
			}
			if !says.MatchString(d.errs.String()) {
				t.Errorf("says nothing of %q:\n%s", c.says, d.errs)
			}
		})
	}
}

// runToItsEnd is a run that ended; its core may be killed on the way.
func runToItsEnd(t *testing.T, args []string, killCore bool) *daemonUnderTest {
	t.Helper()
	d := startRun(t, append(slices.Clone(args), "--record", t.TempDir())...)
	if killCore {
		d.awaitMode("run")
		syscall.Kill(d.ready.Core, syscall.SIGKILL)
		if len(args) == 1 {
			for end := time.Now().Add(5 * time.Second); !strings.Contains(d.errs.String(), "CORE_LOST") &&
				time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			}
			d.cmd.Process.Signal(syscall.SIGINT)
		}
	}
	select {
	case <-d.done:
	case <-time.After(30 * time.Second):
		t.Fatalf("the run does not end:\n%s", d.errs)
	}
	return d
}
