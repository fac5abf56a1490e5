package device

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// unread is the number of bytes that wait to be read from a port.
func unread(t *testing.T, p Port) int {
	t.Helper()
	n, err := unix.IoctlGetInt(p.Info().FD, unix.TIOCINQ)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The library's select cannot take descriptors from 1024 on; OpenPort must work all the same.
func TestManyDescriptors(t *testing.T) {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil || lim.Cur < 1200 {
		t.Skipf("needs 1200 descriptors, limit is %d", lim.Cur)
	}
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	defer slave.Close()
	for range 1050 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Skip(err)
		}
		defer f.Close()
	}
	p, err := OpenPort(slave.Name(), 115200)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	master.Write([]byte("hello"))
	b := make([]byte, 5)
	if _, err := readFull(p.Read, b); err != nil || string(b) != "hello" || p.Info().FD < 1024 {
		t.Fatalf("%q, %v on descriptor %d", b, err, p.Info().FD)
	}
}

// What is written to a terminal that nobody has open waits for nobody: a virtual board beside a daemon that is away would spin at its
// real-time priority.
func TestWriteToNobody(t *testing.T) {
	p, _, err := OpenPTY("")
	if err != nil {
		t.Skip(err)
	}
	defer p.Close()
	const within = 2 * time.Second
	for range 1 << 10 {
		begin := time.Now()
		_, err := p.Write(make([]byte, 1<<10), within)
		if took := time.Since(begin); took > within/2 {
			t.Fatalf("a write took %v of %v, %v", took, within, err)
		}
		if errors.Is(err, ErrTimeout) {
			return
		}
	}
	t.Error("a terminal that nobody has open takes 1 MB")
}
