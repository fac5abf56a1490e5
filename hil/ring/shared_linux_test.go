package ring

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The mapped form between two processes: this test binary runs itself as the producer. The race detector is blind here, so
// every sample carries its sequence number and a body derived from it.

const producerEnv = "RING_TEST_PRODUCER" // drop, wait, or forever

const stressRoom = 256

func TestMain(m *testing.M) {
	if mode := os.Getenv(producerEnv); mode != "" {
		if err := producer(mode, os.Getenv(producerEnv+"_N")); err != nil {
			os.Stderr.WriteString("producer: " + err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func stressSize() int { return ArenaSize(Size[sample](stressRoom), MailboxSize[sample]()) }

func channels(mem []byte, create bool) (*Ring[sample], *Mailbox[sample], error) {
	a := NewArena(mem)
	part, err := a.Allocate(Size[sample](stressRoom))
	if err != nil {
		return nil, nil, err
	}
	r, err := Attach[sample](part, stressRoom, create)
	if err != nil {
		return nil, nil, err
	}
	if part, err = a.Allocate(MailboxSize[sample]()); err != nil {
		return nil, nil, err
	}
	m, err := AttachMailbox[sample](part, create)
	return r, m, err
}

func producer(mode, count string) error {
	mem, err := OpenMemory(3, stressSize())
	if err != nil {
		return err
	}
	r, m, err := channels(mem.Bytes(), false)
	if err != nil {
		return err
	}
	n, _ := strconv.ParseUint(count, 10, 64)
	var s sample
	for seq := uint64(1); n == 0 || seq <= n; seq++ {
		s.fill(seq)
		m.Publish(&s)
		if mode == "wait" {
			for r.w.head-r.w.ctl.tail.Load() > r.w.mask {
				runtime.Gosched()
			}
		}
		r.Writer().Push(&s)
	}
	return nil
}

func startProducer(t *testing.T, mode string, n uint64) (*Ring[sample], *Mailbox[sample], *exec.Cmd) {
	t.Helper()
	mem, err := CreateMemory("ring-test", stressSize())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	r, m, err := channels(mem.Bytes(), true)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), producerEnv+"="+mode, producerEnv+"_N="+strconv.FormatUint(n, 10))
	cmd.ExtraFiles = []*os.File{mem.File()}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return r, m, cmd
}

func TestTwoProcesses(t *testing.T) {
	n := uint64(500_000)
	if testing.Short() {
		n = 50_000
	}
	for _, mode := range []string{"wait", "drop"} {
		t.Run(mode, func(t *testing.T) {
			r, m, cmd := startProducer(t, mode, n)
			start := time.Now()
			got, lost := consume(t, r.Reader(), n)
			took := time.Since(start)
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if lost != r.Reader().Dropped() || got+lost != n || mode == "wait" && lost != 0 {
				t.Errorf("%d received, %d missing, %d counted as dropped, %d offered", got, lost, r.Reader().Dropped(), n)
			}
			takeUntil(t, m, n)
			t.Logf("%d of %d samples of 568 B in %v", got, n, took.Round(time.Millisecond))
		})
	}
}

func TestMailboxTwoProcesses(t *testing.T) {
	const n = 500_000
	_, m, cmd := startProducer(t, "drop", n)
	taken := takeUntil(t, m, n)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d values taken", taken, n)
}

// Killed at any instruction, a producer leaves whole samples behind, readable up to the last one, and nothing locked.
func TestProducerKilled(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	for i := range rounds {
		r, m, cmd := startProducer(t, "forever", 0)
		var s, newest sample
		last := uint64(0)
		read := func() {
			for r.Reader().Pop(&s) {
				if s.Seq <= last || !s.whole() {
					t.Fatalf("round %d: after %d came %d (whole %v)", i, last, s.Seq, s.whole())
				}
				last = s.Seq
			}
			if m.Receive(&newest) && !newest.whole() {
				t.Fatalf("round %d: torn value %d in the mailbox", i, newest.Seq)
			}
		}
		for last == 0 {
			read()
		}
		stop := time.Now().Add(time.Duration(500+137*i) * time.Microsecond)
		for time.Now().Before(stop) {
			read()
		}
		cmd.Process.Kill()
		cmd.Wait()
		read()
		if r.Reader().Corrupt() || m.Corrupt() {
			t.Fatalf("round %d: corrupt after the kill", i)
		}
		if r.Reader().Len() != 0 || newest.Seq < last {
			t.Errorf("round %d: %d samples left behind, newest %d, last %d", i, r.Reader().Len(), newest.Seq, last)
		}
	}
}

func TestMemorySize(t *testing.T) {
	m, err := CreateMemory("ring-test", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Bytes()) != 10_000 {
		t.Errorf("%d B mapped, want 10000", len(m.Bytes()))
	}
	// nobody can pull the pages away from under the other process
	for _, size := range []int64{0, 4096, 20_000} {
		if err := unix.Ftruncate(int(m.File().Fd()), size); err != unix.EPERM {
			t.Errorf("resize to %d: %v, want EPERM", size, err)
		}
	}
	fd, err := unix.Dup(int(m.File().Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenMemory(uintptr(fd), 9_000); err == nil {
		t.Error("another size was accepted")
	}
	o, err := OpenMemory(uintptr(fd), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	m.Bytes()[9_999] = 7
	if o.Bytes()[9_999] != 7 {
		t.Error("the two mappings are not the same memory")
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenMemoryRefuses(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := OpenMemory(f.Fd(), 4096); err == nil {
		t.Error("an ordinary file was accepted as shared memory")
	}
	if _, err := OpenMemory(12345, 4096); err == nil {
		t.Error("a descriptor that is not open was accepted")
	}
	fd, err := unix.MemfdCreate("unsealed", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	unix.Ftruncate(fd, 4096)
	if _, err := OpenMemory(uintptr(fd), 4096); err == nil {
		t.Error("memory that can shrink was accepted")
	}
}
