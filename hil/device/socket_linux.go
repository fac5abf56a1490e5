package device

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// socketPort is the far end of a line that is a Unix socket: it takes the newest who opens it, as a pseudo-terminal's master takes any.
// Bytes pass a pseudo-terminal, or a serial port, by a worker of the kernel at ordinary priority, which programs that compute keep from
// the processor for a second; those of a socket are there when they are written.
type socketPort struct {
	listener *rawPort
	peer     atomic.Pointer[rawPort] // nil: nobody has it open
	path     string
}

// OpenSocket listens at path, where the other side can be opened like a serial port. While nobody has it open, Read times out and Write
// drops.
func OpenSocket(path string) (Port, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	err = socketAt(path, func(at unix.Sockaddr) error { return unix.Bind(fd, at) })
	if err == nil {
		err = unix.Listen(fd, 1)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("listen at %s: %w", path, err)
	}
	l, err := newRawPort(fd, Info{Name: path, Kind: "socket"})
	if err != nil {
		return nil, err
	}
	return &socketPort{listener: l, path: path}, nil
}

// dialSocket opens the near end.
func dialSocket(path string) (Port, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := socketAt(path, func(at unix.Sockaddr) error { return unix.Connect(fd, at) }); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return newRawPort(fd, Info{Name: path, Kind: "socket"})
}

// socketAt calls do with the address of a socket. An address has 107 bytes, a path may have more: it goes by the descriptor of its folder.
func socketAt(path string, do func(unix.Sockaddr) error) error {
	dir, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	return do(&unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/%s", dir, filepath.Base(path))})
}

// isSocket tells whether a port is a Unix socket.
func isSocket(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().Type() == os.ModeSocket
}

// accept takes who has opened the other side since the last Read.
func (p *socketPort) accept() {
	p.listener.mu.RLock()
	defer p.listener.mu.RUnlock()
	if p.listener.isClosed.Load() {
		return
	}
	fd, _, err := unix.Accept4(p.listener.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	if err != nil {
		return
	}
	if next, err := newRawPort(fd, p.listener.info); err == nil {
		p.replace(p.peer.Load(), next)
	}
}

// replace closes a peer and puts another in its place.
func (p *socketPort) replace(old, next *rawPort) {
	if p.peer.CompareAndSwap(old, next) && old != nil {
		old.Close()
	}
}

// Read is called by one goroutine, which alone takes and drops peers.
func (p *socketPort) Read(b []byte) (int, error) {
	p.accept()
	c := p.peer.Load()
	if c == nil {
		p.listener.mu.RLock()
		defer p.listener.mu.RUnlock()
		_, err := p.listener.poll(unix.POLLIN, ReadTimeout)
		return 0, err
	}
	n, err := c.Read(b)
	if errors.Is(err, ErrUnplugged) {
		p.replace(c, nil)
		return 0, nil
	}
	return n, err
}

func (p *socketPort) Write(b []byte, within time.Duration) (int, error) {
	if p.listener.isClosed.Load() {
		return 0, ErrClosed
	}
	c := p.peer.Load()
	if c == nil {
		return len(b), nil
	}
	n, err := c.Write(b, within)
	if errors.Is(err, ErrUnplugged) || errors.Is(err, ErrClosed) { // Read looks for the next one
		return len(b), nil
	}
	return n, err
}

func (p *socketPort) Flush() error {
	if c := p.peer.Load(); c != nil {
		return c.Flush()
	}
	return nil
}

func (p *socketPort) Close() error {
	if p.listener.isClosed.Load() {
		return nil
	}
	os.Remove(p.path)
	err := p.listener.Close()
	if c := p.peer.Load(); c != nil {
		err = errors.Join(err, c.Close())
	}
	return err
}

func (p *socketPort) Info() Info { return p.listener.info }
