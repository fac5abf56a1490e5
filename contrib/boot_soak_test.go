//go:build soak

package contrib

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hilrig/configs"
	"hilrig/engine/peer"
)

// bootGuest boots a guest kernel as a process of this user (User Mode Linux), with the files for guest-check, and returns what it says.
func bootGuest(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	kernel := peer.Program(t, "linux.uml", "user-mode-linux")
	peer.Program(t, "insmod", "kmod")
	dir := t.TempDir()
	share := filepath.Join(dir, "share")
	os.Mkdir(share, 0o755)
	check, _ := filepath.Abs("testdata/guest-check")
	files["guest-check"] = check
	for name, path := range files {
		if err := os.Symlink(path, filepath.Join(share, name)); err != nil {
			t.Fatal(err)
		}
	}
	shim := filepath.Join(dir, "xstate.so")
	if out, err := exec.Command(peer.Program(t, "cc", "gcc"), "-shared", "-fPIC", "-o", shim, "testdata/xstate.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	init, _ := filepath.Abs("testdata/guest-init")
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, kernel, "mem=1G", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "quiet",
		"con=null", "con0=null,fd:1", "uml_dir="+dir, "umid=guest", "init="+init, "--", share)
	c.Env = append(os.Environ(), "LD_PRELOAD="+shim)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	start, answers := time.Now(), map[string]string{}
	line := regexp.MustCompile(`guest: (.*?) = (.*)`)
	for sc := bufio.NewScanner(out); sc.Scan(); {
		t.Logf("%4.0f s %s", time.Since(start).Seconds(), sc.Text())
		if m := line.FindStringSubmatch(strings.TrimRight(sc.Text(), "\r")); m != nil {
			if before := answers[m[1]]; before != "" {
				m[2] = before + "\n" + m[2]
			}
			answers[m[1]] = m[2]
		}
	}
	c.Wait()
	if answers["end"] != "yes" {
		t.Fatalf("the guest did not get to its end (%v)", ctx.Err())
	}
	return answers
}

// slow is the demo for a guest kernel: every tick costs it a hundred times as much as the host.
var slow = strings.NewReplacer("rate: 1 kHz", "rate: 20 Hz", "inner_rate: 20 kHz", "inner_rate: 10 kHz", "spin: 60 µs", "spin: 0 µs",
	"beat: 1 s", "beat: 10 s", "limit: 100 ms", "limit: 2 s", "stale: 50 ms", "stale: 500 ms", "hold_time: 200 ms", "hold_time: 1 s",
	"watchdog: 200 ms", "watchdog: 1 s", "window: 0.2 s", "window: 1 s", "frequency: 2.3 Hz", "frequency: 0.7 Hz", "kd: 6 mN", "kd: 1 mN")

// The package below a real systemd: the service is started after the self-test, with FIFO scheduling and locked memory from the limits of
// the unit and no privilege; the watchdog is fed while rows move and ends a supervisor that hangs; an upgrade leaves it alone; a stop ends
// in the safe state; a file that cannot be used is not tried again; a removal stops it.
func TestSoakServiceBoots(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program := packages(t).program("amd64")
	got := bootGuest(t, map[string]string{
		"one.deb":  debian(t, program, "amd64", "0~1"),
		"two.deb":  debian(t, program, "amd64", "0~2"),
		"rig.yaml": write("rig.yaml", slow.Replace(string(configs.DemoYAML()))),
	})
	mode := `^mode (ready|run|trip)` // a crowded machine starves the guest, whose rig may trip then; the service goes on
	for name, want := range map[string]string{
		"installed":             `^installed, disabled, inactive$`,
		"without a rig":         `^inactive$`,
		"started":               `^active$`,
		"self-test before":      `^selftest → ready$`,
		"status":                mode,
		"user":                  `^hil$`,
		"serial ports":          `^1$`,
		"real time":             `^real-time scheduling on, memory locked$`,
		"process":               `hil core ;  FF 50 -,; VmLck: ,[1-9]`,
		"core that hangs":       `^core up \(epoch 2\), restarts 0$`,
		"supervisor that hangs": `^[1-9], restarts [1-9]$`,
		"after the watchdog":    mode,
		"upgraded":              `^same process, 1$`,
		"stopped":               `^(inactive, success, 130, 1, 0|failed, exit-code, 5, 1, 1)$`, // 5: the run ended tripped
		"broken file":           `^failed, 3, restarts 0$`,
		"started again":         `^active$`,
		"removed":               `^inactive, process 0, file /etc/default/hil$`,
		"purged":                `^0, rig rig.yaml, recordings [3-9]$`,
	} {
		if !regexp.MustCompile(want).MatchString(got[name]) {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
	for p := range strings.SplitSeq(got["process"], "\n") {
		for _, fact := range []string{"CapEff: 0000000000000000,", "NoNewPrivs: 1,", "Seccomp: 2,"} {
			if !strings.Contains(p, fact) {
				t.Errorf("%s: not %s", p, fact)
			}
		}
	}
}
