package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"hilrig/engine/peer"
)

// The built program, started by a path: its hints, its help and its errors can be copied.
func TestStartedByAPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "hil")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"check", "../../configs/stick-slip.yaml"}, "next: " + bin + " simulate "},
		{[]string{"simulate", "../../configs/stick-slip.yaml"}, "next: " + bin + " simulate "},
		{[]string{"run", "../../configs/stick-slip.yaml"}, "Try:  " + bin + " simulate "},
		{[]string{"laws", "lugree"}, bin + " laws lists them"},
		{[]string{"--help"}, "without hardware:   " + bin + " run "},
		{[]string{"nonsense"}, "See " + bin + " --help."},
	} {
		out, _ := exec.Command(bin, c.args...).CombinedOutput()
		if !strings.Contains(string(out), c.want) {
			t.Errorf("hil %s lacks %q:\n%s", strings.Join(c.args, " "), c.want, out)
		}
	}
}

// Ctrl-C on make run, in a terminal: the program ends with 130, as documented, and make reports no error. With another code it does.
func TestMakeRunEndsQuietly(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for code, noisy := range map[int]bool{130: false, 5: true} {
		script := filepath.Join(t.TempDir(), "daemon")
		text := fmt.Sprintf("#!/bin/sh\ntrap 'exit %d' INT\necho started\nwhile :; do sleep 0.05; done\n", code)
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		bin, err := filepath.Rel(root, script)
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(peer.Program(t, "make", "make"), "-o", "build", "run", "BIN="+bin)
		c.Dir = root
		tty, err := pty.Start(c)
		if err != nil {
			t.Fatal(err)
		}
		defer tty.Close()
		var out strings.Builder
		buf := make([]byte, 4096)
		for stopped := false; ; {
			n, err := tty.Read(buf)
			out.Write(buf[:n])
			if err != nil {
				break
			}
			if !stopped && strings.Contains(out.String(), "started") {
				time.Sleep(300 * time.Millisecond) // the shell of the recipe waits for the program by then
				tty.WriteString("\x03")
				stopped = true
			}
		}
		c.Wait()
		if got := strings.Contains(out.String(), "***"); got != noisy {
			t.Errorf("exit code %d: make complains: %v, want %v\n%s", code, got, noisy, out.String())
		}
	}
}
