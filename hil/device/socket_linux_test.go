package device

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func init() {
	portKinds = append(portKinds, struct {
		name string
		open func(t *testing.T) (p Port, peer *os.File)
	}{"socket", overSocket})
}

// overSocket opens a port at a listener of package net; its connection is the peer.
func overSocket(t *testing.T) (Port, *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "port")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := OpenPort(path, 921600)
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	peer, err := c.(*net.UnixConn).File()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	t.Cleanup(func() { p.Close(); peer.Close() })
	return p, peer
}

// The far end takes one after the other, the newest of two, and drops what it says to nobody. A path may be longer than an address.
func TestOpenSocket(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "drive")
	far, err := OpenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenSocket(path); err == nil {
		t.Error("two listen at one path")
	}
	begin, b := time.Now(), make([]byte, 16)
	if n, err := far.Read(b); n != 0 || err != nil || time.Since(begin) < ReadTimeout/2 {
		t.Errorf("alone: %d, %v after %v", n, err, time.Since(begin))
	}
	if n, err := far.Write([]byte("lost"), time.Second); n != 4 || err != nil {
		t.Errorf("to nobody: %d, %v", n, err)
	}
	t.Chdir(dir) // for package net, which has no way to a long path
	near := func() net.Conn {
		c, err := net.Dial("unix", "drive")
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(5 * time.Second))
		return c
	}
	exchange := func(c net.Conn) {
		t.Helper()
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if n, err := readFull(far.Read, b[:5]); err != nil || string(b[:n]) != "hello" {
			t.Fatalf("%q %v", b, err)
		}
		if _, err := far.Write([]byte("there"), time.Second); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, b[:5]); err != nil || !bytes.Equal(b[:5], []byte("there")) {
			t.Fatalf("%q %v", b[:5], err)
		}
	}
	one := near()
	exchange(one)
	two := near()
	exchange(two)
	if _, err := one.Read(b); err == nil {
		t.Error("the older one is still connected")
	}
	two.Close()
	until(t, "the far end sees that it is alone", func() bool {
		n, err := far.Read(b)
		return n == 0 && err == nil && far.(*socketPort).peer.Load() == nil
	})
	three, err := OpenPort(path, 115200)
	if err != nil {
		t.Fatal(err)
	}
	three.Write([]byte("again"), time.Second)
	if n, err := readFull(far.Read, b[:5]); err != nil || string(b[:n]) != "again" {
		t.Fatalf("%q %v", b, err)
	}
	far.Close()
	if _, err := readFull(three.Read, b); !errors.Is(err, ErrUnplugged) {
		t.Errorf("after the end of the far end: %v", err)
	}
	three.Close()
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is still there")
	}
	if _, err := far.Write(b, time.Second); !errors.Is(err, ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
	if _, err := far.Read(b); !errors.Is(err, ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
	if _, err := OpenPort(path, 115200); err == nil || !strings.Contains(err.Error(), "no such port") {
		t.Errorf("a socket that is gone: %v", err)
	}
}
