//go:build linux

package main

import (
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/cmd/report"
	"hilrig/engine/peer"
)

// fence is a block of a page: its language, where it goes, its text.
var fence = regexp.MustCompile("(?ms)^```(\\w+)(?: ([^\n]+))?\n(.*?)^```$")

// Every command of docs/tutorials/first-motor.md, in the order of the page, by a shell in an empty folder. Blocks "yaml FILE" are
// appended to the file, blocks "sh" are run to their end, those of a "second terminal" run on. Times are shorter than on the page, the
// fit ends before its Kalman filter, and the live one is of least squares, which the daemon must refuse to hand to an observer; make soak
// keeps all that the page says, and the result has to be accepted and taken back. All is done on a busy computer: the patience of the
// file on the page is enough for that.
func TestDaemonFirstMotor(t *testing.T) {
	if testing.Short() {
		t.Skip("drives a rig")
	}
	peer.Program(t, "mosquitto_pub", "mosquitto-clients")
	page, err := os.ReadFile("../../docs/tutorials/first-motor.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	exe, err := os.Executable()
	if err == nil {
		err = os.Symlink(exe, filepath.Join(dir, "hil"))
	}
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	replace := func(s string, pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(string(page), pairs[i]) {
				t.Fatalf("the page has no %q", pairs[i])
			}
		}
		return strings.NewReplacer(pairs...).Replace(s)
	}
	text := replace(string(page), "/tmp/board", filepath.Join(dir, "board"), "-h localhost", "-h localhost -p "+port,
		"mqtt: {", "web: {listen: localhost:0}\nmqtt: {listen: localhost:"+port+", ",
		// a run that trips is repeated; the last one runs on, and waits longer
		"hil run rig2.yaml --arm --record live", `sed -i 's/stale: 50 ms/stale: 400 ms/; s/hold_time: 200 ms/hold_time: 1 s/; s/limit: 100 ms/limit: 2 s/; s/max_error: 1 rad/max_error: 50 rad/' rig2.yaml; exec hil run rig2.yaml --arm --record live`)
	if !soak {
		text = replace(text, "--dry-run --duration 20s", "--dry-run --duration 2s", "--duration 30s", "--duration 7s", "--duration 20s --record",
			"--duration 6s --record",
			"--law lugre --last 20s", "--law lugre --method lugre --last 5s", "--from 5", "--from 3",
			`"way":"lugre","window_s":20`, `"way":"least-squares","window_s":8`)
	}

	shell := func(script string) *exec.Cmd {
		c := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
		c.Dir = dir
		c.Env = append(os.Environ(), "HIL_TEST_MAIN=1", "NO_COLOR=1", "PATH="+dir+":"+os.Getenv("PATH"))
		return c
	}
	var busy []*exec.Cmd
	for range 4 {
		c := exec.Command("sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			c.Process.Kill()
			c.Wait()
		})
		busy = append(busy, c)
	}
	load := func(on bool) {
		for _, c := range busy {
			c.Process.Signal(map[bool]os.Signal{true: syscall.SIGCONT, false: syscall.SIGSTOP}[on])
		}
	}
	said := map[string]string{} // by what a command line begins with: what it printed
	watched := &syncBuffer{}    // what the last terminal that runs on prints
	blocks := 0
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		kind, where, body := m[1], m[2], m[3]
		load(!strings.Contains(body, "hil identify ")) // nothing is in a hurry there
		switch {
		case kind == "yaml":
			f, err := os.OpenFile(filepath.Join(dir, where), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			if err == nil {
				_, err = f.WriteString(body)
				f.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		case kind != "sh":
			t.Fatalf("a block of %q", kind)
		case where != "":
			blocks++
			out := &syncBuffer{}
			watched = out
			if !strings.HasPrefix(body, "sed ") {
				body = "exec " + body
			}
			c := shell(body)
			c.Stdout, c.Stderr = out, out
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a rig with a session of its own gets its share beside other programs
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			t.Cleanup(func() {
				c.Process.Signal(syscall.SIGINT)
				select {
				case <-ended:
				case <-time.After(20 * time.Second):
					c.Process.Kill()
					<-ended
					t.Errorf("does not stop: %s", body)
				}
				if t.Failed() {
					t.Logf("%s%s", body, shortOf(out.String()))
				}
			})
			await(t, out, `"ports"|mode armed → run|"state"`)
		default:
			blocks++
			if strings.Contains(body, "cmd/accept") {
				await(t, watched, `"state":"(done|failed)"`)
			}
			if strings.Contains(body, "cmd/rollback") {
				await(t, watched, `cmd/accept/ack`)
			}
			start := time.Now()
			c := shell(body)
			out, err := c.CombinedOutput()
			for again := 0; again < 4 && c.ProcessState.ExitCode() == report.Trip; again++ { // the host starved the rig: its guard trips, and should
				t.Logf("repeated: %s", tripText.FindString(string(out)))
				if m := regexp.MustCompile(`--record (\w+)`).FindStringSubmatch(body); m != nil {
					os.RemoveAll(filepath.Join(dir, m[1]))
				}
				c = shell(body)
				out, err = c.CombinedOutput()
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", body, err, out)
			}
			t.Logf("%.1f s: %s", time.Since(start).Seconds(), strings.SplitN(body, "\n", 2)[0])
			verb := regexp.MustCompile(`hil (\w+)`).FindStringSubmatch(body)
			if verb != nil {
				said[verb[1]] = string(out)
			}
		}
	}
	if blocks < 9 {
		t.Fatalf("%d blocks of commands on the page", blocks)
	}

	// what the page promises
	if out := said["identify"]; !regexp.MustCompile(`verdict +(weakly )?identified`).MatchString(out) {
		t.Errorf("identify: %s", out)
	}
	if st, err := os.Stat(filepath.Join(dir, "fit.html")); err != nil || st.Size() < 10_000 {
		t.Errorf("report: %v", err)
	}
	before, after := math.NaN(), math.NaN()
	for _, line := range strings.Split(said["run"], "\n") {
		fmt.Sscanf(line, "before %f mrad rms", &before)
		fmt.Sscanf(line, "after %f mrad rms", &after)
	}
	t.Logf("tracking error %.2f mrad rms before, %.2f after", before, after)
	if !(before > 40 && before < 100 && after < before/2) {
		t.Errorf("tracking error %g mrad before, %g after\n%s", before, after, said["run"])
	}
	await(t, watched, `cmd/rollback/ack`)
	want := `cmd/accept/ack \{"id":"2","ok":false,"error":"0001 may not be put in force: `
	if soak {
		want = `(?s)cmd/accept/ack \{"id":"2","ok":true\}.*cmd/rollback/ack \{"id":"3","ok":true\}`
	}
	if !regexp.MustCompile(want).MatchString(watched.String()) {
		t.Errorf("the daemon answered:\n%s", watched)
	}
}

// await waits until the output matches.
func await(t *testing.T, out *syncBuffer, pattern string) {
	t.Helper()
	p := regexp.MustCompile(pattern)
	for end := time.Now().Add(3 * time.Minute); !p.MatchString(out.String()); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s := out.String()
			t.Fatalf("no %s within 3 min:\n…%s", pattern, s[max(0, len(s)-2000):])
		}
	}
}

// freePort is a port of this machine that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
