package main

import (
	"strings"
	"testing"

	"hilrig/cmd/report"
)

// A file that switches off the watch over the position is refused before anything is opened, unless nothing is driven.
func TestArmNeedsSight(t *testing.T) {
	t.Parallel()
	blind := func(port string) string { return demoFile(t, port, "stale: 50 ms", "stale: 0") }
	for _, args := range [][]string{{"run", blind("/dev/none"), "--arm"}, {"run", blind(virtualPort)}} {
		_, errs, code := execute(t, append(args, "--no-web", "--no-mqtt", "--no-record")...)
		for _, want := range []string{"devices.drive.measure[0].stale is 0", "motor.angle", "leave stale out (0.02 s here)", "--dry-run"} {
			if code != report.Invalid || !strings.Contains(errs, want) {
				t.Errorf("%v: exit code %d, want %d and %q:\n%s", args, code, report.Invalid, want, errs)
			}
		}
	}
	for _, key := range [][2]string{{"stale: 50 ms", "stale: 60 s"}, {"hold_time: 200 ms", "hold_time: 5 s"}} {
		_, errs, code := execute(t, "run", demoFile(t, "/dev/none", key[0], key[1]), "--arm", "--no-web", "--no-mqtt", "--no-record")
		if code != report.Invalid || !strings.Contains(errs, "so long the drive would") {
			t.Errorf("%s: exit code %d, want %d\n%s", key[1], code, report.Invalid, errs)
		}
	}
	for _, args := range [][]string{{"run", blind("/dev/none"), "--dry-run"}, {"run", blind("/dev/none")}} {
		if _, errs, code := execute(t, append(args, "--no-web", "--no-mqtt", "--no-record")...); code != report.Unavailable {
			t.Errorf("%v: exit code %d, want %d: it drives nothing, and there is no port\n%s", args, code, report.Unavailable, errs)
		}
	}
}
