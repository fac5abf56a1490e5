package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// An emergency stop outlives the core and the daemon: the next ones begin in it, say so, and neither arm nor run without a reset. The
// recordings of all of them repeat bit for bit. --reset is the reset of a person at the terminal.
func TestDaemonEstopStays(t *testing.T) {
	inPairs(t)
	dir, file, rig, d := energise(t)
	if r := d.command("estop", ""); !r.OK {
		t.Fatalf("estop: %+v", r)
	}
	stays := func(d *daemonUnderTest) {
		t.Helper()
		d.awaitMode("estop")
		for _, name := range []string{"arm", "run"} {
			if r := d.command(name, "{}"); r.OK {
				t.Errorf("%s is taken: %+v", name, r)
			}
		}
		time.Sleep(100 * time.Millisecond)
		if on, _ := rig.energised(); on || d.state()["mode"] != "estop" {
			t.Fatalf("energised %v in mode %v", on, d.state()["mode"])
		}
	}
	stays(d)
	if err := syscall.Kill(d.ready.Core, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.awaitLog("LATCHED")
	stays(d)
	if code := d.stop(); code != 5 {
		t.Errorf("exit code %d", code)
	}
	first := firstRun(t, dir)

	d = startRun(t, file, "--arm", "--record", dir)
	stays(d)
	if log := d.errs.String(); !strings.Contains(log, "LATCHED") || !strings.Contains(log, "emergency stop") {
		t.Errorf("nobody said so:\n%s", log)
	}
	for end := time.Now().Add(20 * time.Second); d.state()["mode"] == "estop" && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		d.command("reset", "{}") // refused until the port is open
	}
	d.drive(rig)
	if r := d.command("estop", ""); !r.OK {
		t.Fatalf("estop: %+v", r)
	}
	d.stop()

	d = startRun(t, file, "--arm", "--reset", "--record", dir)
	if !rig.awaitOn(20 * time.Second) {
		t.Fatalf("not driven with --reset: %v\n%s", d.state(), d.errs)
	}
	d.stop()

	out, err := program(t, "replay", first).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "all equal bit for bit") {
		t.Errorf("replay: %v\n%s", err, out)
	}
}
