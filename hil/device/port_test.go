package device

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"hilrig/hil/protocol"
)

// Every kind of port keeps the same promises; a new one joins by one line.
var portKinds = []struct {
	name string
	open func(t *testing.T) (p Port, peer *os.File)
}{
	{"library", func(t *testing.T) (Port, *os.File) { return overPTY(t, OpenPort) }},
	{"raw", func(t *testing.T) (Port, *os.File) {
		return overPTY(t, func(name string, baud int) (Port, error) { return openRaw(name, protocol.PortSpec{Baud: baud}) })
	}},
}

// overPTY opens the slave side of a pseudo-terminal made by another package; its own master is the peer.
func overPTY(t *testing.T, open func(string, int) (Port, error)) (Port, *os.File) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("pseudo-terminals are tested on Linux")
	}
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	p, err := open(slave.Name(), 921600)
	if err != nil {
		t.Fatal(err)
	}
	slave.Close()
	t.Cleanup(func() { p.Close(); master.Close() })
	return p, master
}

func TestPorts(t *testing.T) {
	for _, k := range portKinds {
		t.Run(k.name, func(t *testing.T) {
			t.Run("bytes pass unchanged", func(t *testing.T) { testTransparent(t, k.open) })
			t.Run("read times out", func(t *testing.T) { testReadTimeout(t, k.open) })
			t.Run("write times out", func(t *testing.T) { testUnreadMaster(t, k.open) })
			t.Run("close wakes both", func(t *testing.T) { testCloseWakes(t, k.open) })
			t.Run("unplug", func(t *testing.T) { testUnplug(t, k.open) })
			t.Run("flush", func(t *testing.T) { testFlush(t, k.open) })
			t.Run("allocs", func(t *testing.T) { testPortAllocs(t, k.open) })
		})
	}
}

// A terminal in any other mode would change, echo or swallow some of the 256 bytes.
func testTransparent(t *testing.T, open func(*testing.T) (Port, *os.File)) {
	p, peer := open(t)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	if n, err := p.Write(all, time.Second); n != 256 || err != nil {
		t.Fatalf("write: %d, %v", n, err)
	}
	got := make([]byte, 256)
	if _, err := readFull(peer.Read, got); err != nil || !bytes.Equal(got, all) {
		t.Fatalf("peer got % x, %v", got, err)
	}
	if _, err := peer.Write(all); err != nil {
		t.Fatal(err)
	}
	clear(got)
	if _, err := readFull(p.Read, got); err != nil || !bytes.Equal(got, all) {
		t.Fatalf("port got % x, %v", got, err)
	}
	if n, err := p.Read(got); n != 0 || err != nil {
		t.Fatalf("an echo of %d bytes, %v", n, err)
	}
}

// readFull reads len(b) bytes from something whose reads may time out with 0, nil.
func readFull(read func([]byte) (int, error), b []byte) (n int, err error) {
	for end := time.Now().Add(5 * time.Second); n < len(b) && err == nil; {
		var k int
		k, err = read(b[n:])
		if n += k; time.Now().After(end) {
			return n, errors.New("nothing more came for 5 s")
		}
	}
	return n, err
}

func testReadTimeout(t *testing.T, open func(*testing.T) (Port, *os.File)) {
	p, _ := open(t)
	begin := time.Now()
	n, err := p.Read(make([]byte, 10))
	if n != 0 || err != nil || time.Since(begin) < ReadTimeout/2 {
		t.Fatalf("%d, %v after %v; want 0, nil after %v", n, err, time.Since(begin), ReadTimeout)
	}
}

// The kernel takes some kilobytes, then the deadline counts; once the peer reads, writing goes on.
func testUnreadMaster(t *testing.T, open func(*testing.T) (Port, *os.File)) {
	p, peer := open(t)
	total := 0
	for {
		n, err := p.Write(make([]byte, 1000), 20*time.Millisecond)
		if total += n; err != nil {
			if !errors.Is(err, ErrTimeout) {
				t.Fatal(err)
			}
			break
		}
		if total > 1<<20 {
			t.Fatal("a megabyte was taken by nobody")
		}
	}
	if _, err := readFull(peer.Read, make([]byte, total)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte("x"), time.Second); err != nil {
		t.Fatalf("after the peer read: %v", err)
	}
}

// Close ends a Read and a Write that no peer will ever answer.
func testCloseWakes(t *testing.T, open func(*testing.T) (Port, *os.File)) {
	p, _ := open(t)
	read, write := make(chan error), make(chan error)
	go func() {
		for {
			if _, err := p.Read(make([]byte, 10)); err != nil {
				read <- err
				return
			}
		}
	}()
	go func() {
		_, err := p.Write(make([]byte, 1<<20), time.Hour)
		write <- err
	}()
	time.Sleep(30 * time.Millisecond)
	p.Close()
	for what, c := range map[string]chan error{"read": read, "write": write} {
		select {
		case err := <-c:
			if !errors.Is(err, ErrClosed) || !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s ended with %v", what, err)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("Close did not wake the %s", what)
		}
	}
	if _, err := p.Write([]byte("x"), time.Second); !errors.Is(err, ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func testUnplug(t *testing.T, open func(*testing.T) (Port, *os.File)) {
	p, peer := open(t)
	peer.Close()
	if _, err := p.Read(make([]byte, 10)); !errors.Is(err, ErrUnplugged) {
		t.Errorf("read: %v", err)
	}
	if _, err := p.Write([]byte("x"), time.Second); !errors.Is(err, ErrUnplugged) {
		t.Errorf("write: %v", err)
	}
}

func testFlush(t *testing.T, open func(*testing.T) (Port, *os.File)) {
	p, peer := open(t)
	peer.Write([]byte("old"))
	until(t, "the kernel's worker has moved the bytes", func() bool { return unread(t, p) == 3 })
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	peer.Write([]byte("new"))
	b := make([]byte, 3)
	if _, err := readFull(p.Read, b); err != nil || string(b) != "new" {
		t.Fatalf("%q, %v", b, err)
	}
}

func testPortAllocs(t *testing.T, open func(*testing.T) (Port, *os.File)) {
	p, peer := open(t)
	out, in := make([]byte, 40), make([]byte, 100)
	if n := testing.AllocsPerRun(100, func() {
		p.Write(out, time.Second)
		peer.Read(in)
		peer.Write(out)
		p.Read(in)
	}); n != 0 {
		t.Errorf("%v allocations per exchange", n)
	}
	if n := testing.AllocsPerRun(4, func() { p.Read(in) }); n != 0 {
		t.Errorf("%v allocations per read that times out", n)
	}
	for _, err := p.Write(make([]byte, 30000), time.Millisecond); err == nil; {
		_, err = p.Write(in, time.Millisecond)
	}
	if n := testing.AllocsPerRun(10, func() { p.Write(out, time.Millisecond) }); n != 0 {
		t.Errorf("%v allocations per write that times out", n)
	}
}

// What, where, why, how to go on.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "file")
	os.WriteFile(plain, nil, 0o600)
	for _, c := range []struct {
		port string
		is   error
		want []string
	}{
		{"", nil, []string{"no port named", "hil ports"}},
		{"/dev/ttyNONE7", fs.ErrNotExist, []string{"cannot open /dev/ttyNONE7: no such port", "Is the cable in?", "hil ports"}},
		{plain, nil, []string{"not a serial port", "hil ports"}},
	} {
		_, err := OpenPort(c.port, 115200)
		var oe *OpenError
		if !errors.As(err, &oe) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%q: %v", c.port, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: missing %q in: %v", c.port, w, err)
			}
		}
	}
	if _, err := OpenPort("/dev/null", -5); err == nil || !strings.Contains(err.Error(), "baud -5") {
		t.Errorf("negative baud: %v", err)
	}
}

// The texts for permission and busy need other users and other programs, so their makers are asked directly.
func TestOpenHints(t *testing.T) {
	dir := t.TempDir()
	port := filepath.Join(dir, "ttyX")
	os.WriteFile(port, nil, 0o660)
	os.Chmod(port, 0o660) // whatever the umask
	if err := os.Chown(port, -1, 20); err == nil && os.Getgid() != 20 {
		err := explain(port, syscall.EACCES)
		if s := err.Error(); !strings.Contains(s, "cannot open "+port+": permission denied. Your user is not in group ") ||
			!strings.Contains(s, "sudo usermod -aG ") {
			t.Error(s)
		}
		if !errors.Is(err, fs.ErrPermission) {
			t.Error("not fs.ErrPermission")
		}
	}
	os.Chmod(port, 0o600)
	if s := explain(port, syscall.EACCES).Error(); !strings.Contains(s, "udev") || !strings.Contains(s, "-rw-------") {
		t.Error(s)
	}
	if s := explain(port, syscall.EBUSY).Error(); !strings.Contains(s, "the port is busy. Another program") {
		t.Error(s)
	}
	if s := explain(port, syscall.ENODEV).Error(); !strings.Contains(s, "no device answers") {
		t.Error(s)
	}
	if p := productOf("/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A5069RR4-if00-port0"); p != "FTDI FT232R USB UART A5069RR4" {
		t.Error(p)
	}
}

// A second opener is turned away, root too, and told who has the port. The supervisor's share of the core's descriptor gets
// the bytes out after every opening, and frees the port for a successor.
func TestKept(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("descriptors are handed over on Linux")
	}
	kept := NewKept()
	defer kept.Close()
	for round := range 3 { // each round is another core, or another device behind the name
		core, err := kept.Expect()
		if err != nil {
			t.Fatal(err)
		}
		handOver := HandOver(core.Fd(), 3)
		link := filepath.Join(t.TempDir(), "port")
		master, _, err := OpenPTY(link)
		if err != nil {
			t.Fatal(err)
		}
		owner, err := OpenPort(link, 115200)
		if err != nil {
			t.Fatal(err)
		}
		if kept.ReceivePorts(); kept.Open(3) != (round == 2) { // what the core before had open stays until the next has something
			t.Errorf("round %d: open %v before anything was handed over", round, kept.Open(3))
		}
		handOver(owner.Info().FD)
		kept.ReceivePorts()
		if err := kept.Write(3, []byte("safe"), time.Second); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 4)
		if _, err := readFull(master.Read, b); err != nil || string(b) != "safe" {
			t.Fatalf("%q %v", b, err)
		}
		if _, err := OpenPort(link, 115200); !errors.Is(err, syscall.EBUSY) {
			t.Errorf("second opener: %v", err)
		}
		if round == 0 { // unplugged: nothing may hold the old device, or it would come back under another name
			owner.Close()
			handOver(-1)
			if kept.ReceivePorts(); kept.Open(3) || kept.Write(3, []byte("safe"), time.Second) == nil {
				t.Error("the port that was closed is still kept")
			}
		} else { // the core is dead: its descriptor is gone, ours has its lock and its exclusive use
			syscall.Close(owner.Info().FD)
			if _, err := OpenPort(link, 115200); !errors.Is(err, syscall.EBUSY) {
				t.Errorf("beside a kept descriptor: %v", err)
			}
			kept.Free()
			next, err := OpenPort(link, 115200)
			if err != nil {
				t.Fatalf("the successor: %v", err)
			}
			next.Close()
		}
		core.Close()
		master.Close()
	}
}

// The link is made, replaced when it is ours, refused when it is not, and gone after Close.
func TestOpenPTYLink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "rig")
	for range 2 { // the second finds the stale link of the first
		p, name, err := OpenPTY(link)
		if err != nil {
			t.Fatal(err)
		}
		if name != link {
			t.Fatalf("name %s", name)
		}
		q, err := OpenPort(link, 250000)
		if err != nil {
			t.Fatal(err)
		}
		p.Write([]byte{0, 17, 3, 26}, time.Second) // control characters
		b := make([]byte, 4)
		if _, err := readFull(q.Read, b); err != nil || !bytes.Equal(b, []byte{0, 17, 3, 26}) {
			t.Fatalf("% x %v", b, err)
		}
		q.Close()
		p.Close()
		if _, err := os.Lstat(link); err == nil {
			t.Fatal("the link is still there")
		}
		os.Symlink("/dev/pts/99999", link)
	}
	os.Remove(link)
	os.WriteFile(link, []byte("precious"), 0o600)
	if _, _, err := OpenPTY(link); err == nil || !strings.Contains(err.Error(), "is not a link") {
		t.Errorf("over a file: %v", err)
	}
	if b, _ := os.ReadFile(link); string(b) != "precious" {
		t.Error("the file was touched")
	}
}

func TestListPorts(t *testing.T) {
	ports, err := ListPorts()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range ports {
		if p.Name == "" || p.Accessible == (p.Reason != "") || i > 0 && ports[i-1].Name > p.Name {
			t.Errorf("%+v", p)
		}
	}
}

// OpenPort opens a serial port, 8N1, without flow control, and keeps others out of it. baud 0 means DefaultBaud. Errors are
// of type *OpenError.
func OpenPort(name string, baud int) (Port, error) {
	if baud == 0 {
		baud = DefaultBaud
	}
	if baud < 0 {
		return nil, &OpenError{Port: name, Err: fmt.Errorf("baud %d, want > 0", baud)}
	}
	p, err := openPort(name, protocol.PortSpec{Baud: baud})
	if err != nil {
		return nil, explain(name, err)
	}
	return p, nil
}
