//go:build soak

package contrib

import (
	"bufio"
	"context"
	"io"
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
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Minute)
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
	var all strings.Builder
	answers := map[string]string{}
	line := regexp.MustCompile(`guest: (.*?) = (.*)`)
	for sc := bufio.NewScanner(io.TeeReader(out, &all)); sc.Scan(); {
		if m := line.FindStringSubmatch(strings.TrimRight(sc.Text(), "\r")); m != nil {
			if before := answers[m[1]]; before != "" {
				m[2] = before + "\n" + m[2]
			}
			answers[m[1]] = m[2]
		}
	}
	c.Wait()
	t.Logf("%s", all.String())
	if answers["end"] != "yes" {
		t.Fatalf("the guest did not get to its end (%v)", ctx.Err())
	}
	return answers
}

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
		"rig.yaml": write("rig.yaml", string(configs.DemoYAML())),
		"default":  write("default", `HIL_OPTIONS="--log-format text --arm --rate 100Hz"`+"\n"),
	})
	for name, want := range map[string]string{
		"installed":             `^installed, disabled, inactive$`,
		"without a rig":         `^inactive$`,
		"started":               `^active$`,
		"self-test before":      `^1$`,
		"status":                `^mode run$`,
		"user":                  `^hil$`,
		"groups":                `dialout`,
		"real time":             `^real-time scheduling on, memory locked$`,
		"process":               `FF 80`,
		"core that hangs":       `^core up \(epoch 2\), restarts 0$`,
		"supervisor that hangs": `^1, restarts 1$`,
		"after the watchdog":    `^mode run$`,
		"upgraded":              `^same process, 1$`,
		"stopped":               `^inactive, success, 130, 1$`,
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
		for _, fact := range []string{"CapEff: 0000000000000000", "NoNewPrivs: 1", "Seccomp: 2"} {
			if !strings.Contains(p, fact) {
				t.Errorf("%s: not %s", p, fact)
			}
		}
		if strings.Contains(p, "FF 80") && strings.Contains(p, "VmLck: 0 kB") {
			t.Errorf("not locked: %s", p)
		}
	}
}
