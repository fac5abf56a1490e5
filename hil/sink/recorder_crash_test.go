//go:build unix

package sink

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// These tests run the recorder in a process of its own (this test binary again) and let the kernel do the damage.

const crashEnv = "HIL_TEST_RECORD_IN" // folder to record in; set in the child only

// TestCrashChild is the child; it does nothing in an ordinary run.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv(crashEnv)
	if dir == "" {
		t.Skip("started by TestKillMinusNine and TestFileSizeLimit only")
	}
	if limit := os.Getenv("HIL_TEST_FILE_LIMIT"); limit != "" {
		var n uint64
		fmt.Sscan(limit, &n)
		signal.Ignore(syscall.SIGXFSZ) // the write then fails with EFBIG, as it would with ENOSPC
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := NewRecorder(dir, benchInfo(8), RecorderOptions{Chunk: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	fmt.Printf("\nDIR %s\n", rec.Dir())

	// rows at a steady rate, and every 10 ms a line that says how many the recorder has taken and has on file
	src := &countedRows{n: 1 << 40, signals: 8}
	start := time.Now()
	src.gate = func(at uint64) bool { return at < uint64(time.Since(start)/(50*time.Microsecond)) }
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			st := rec.Stats()
			fmt.Printf("ROWS %d\n", st.Rows)
			if st.LostRows > 1000 {
				stop()
			}
		}
	}()
	fmt.Printf("END %v\n", rec.Run(ctx, src))
}

// child starts a recording process and returns its lines.
func child(t *testing.T, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashChild$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), append(env, crashEnv+"="+t.TempDir())...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

// A recorder that is killed loses the chunk it was gathering, nothing that it had counted as written.
func TestKillMinusNine(t *testing.T) {
	cmd, lines := child(t)
	var dir string
	var written uint64
	for lines.Scan() {
		if d, ok := strings.CutPrefix(lines.Text(), "DIR "); ok {
			dir = d
		}
		if _, err := fmt.Sscanf(lines.Text(), "ROWS %d", &written); err == nil && written > 5000 {
			break
		}
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// what it said between the last line read and its death
	for lines.Scan() {
		fmt.Sscanf(lines.Text(), "ROWS %d", &written)
	}
	err := cmd.Wait()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		t.Fatalf("child ended otherwise: %v", err)
	}

	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	n := checkRows(t, run, 8)
	cut, lost := run.Truncated()
	if n < written || !cut || !strings.Contains(lost, "readable up to") {
		t.Errorf("%d rows readable, %d were on file; truncated %v: %s", n, written, cut, lost)
	}
	// without a gap from the first on
	var last uint64
	for it, row := run.Iter(), benchRow(1, 0); it.Next(&row); last = row.Seq {
		if row.Seq != last+1 {
			t.Fatalf("row %d after row %d", row.Seq, last)
		}
	}
	if yaml, err := os.ReadFile(filepath.Join(dir, runConfig)); err != nil || len(yaml) == 0 {
		t.Errorf("run.yaml: %q, %v", yaml, err)
	}
	t.Logf("killed with %d rows on file, %d readable", written, n)
}

// A disk that is full in the middle of a chunk (here: a file size limit of the kernel, which cuts a write short just
// the same): the half chunk is removed, the rest is readable, and the error says what is lost.
func TestFileSizeLimit(t *testing.T) {
	const limit = 300_000
	cmd, lines := child(t, fmt.Sprintf("HIL_TEST_FILE_LIMIT=%d", limit))
	var dir, end string
	for lines.Scan() {
		if d, ok := strings.CutPrefix(lines.Text(), "DIR "); ok {
			dir = d
		}
		if e, ok := strings.CutPrefix(lines.Text(), "END "); ok {
			end = e
			break
		}
	}
	var errExit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &errExit) && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	var rows, lost uint64
	i := strings.Index(end, "the first")
	if i < 0 || !strings.Contains(end, syscall.EFBIG.Error()) || !strings.Contains(end, "run.mcap") {
		t.Fatalf("ended with %q", end)
	}
	if _, err := fmt.Sscanf(end[i:], "the first %d rows are readable, %d are lost", &rows, &lost); err != nil || rows == 0 || lost < 1000 {
		t.Errorf("ended with %q (%v)", end, err)
	}
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if n := checkRows(t, run, 8); n != rows {
		t.Errorf("%d rows readable, the error said %d", n, rows)
	}
	if run.m.size > limit || run.m.size != run.m.dataEnd && !run.m.indexed {
		t.Errorf("file of %d bytes, sound up to %d, limit %d", run.m.size, run.m.dataEnd, limit)
	}
}
