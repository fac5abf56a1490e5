package device

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"hilrig/hil/protocol"
)

// rawPort is a non-blocking descriptor with poll: a tty, the master of a pseudo-terminal or one end of a socket pair.
// An eventfd beside it wakes both directions on Close; readers and writers hold mu shared, so the descriptors are freed
// only when nobody uses them any more and their numbers cannot be reused under a system call.
type rawPort struct {
	info     Info
	fd       int
	wake     int // eventfd
	mu       sync.RWMutex
	isClosed atomic.Bool
	owned    bool // locked and in exclusive use
	onClose  func()
}

func newRawPort(fd int, info Info) (*rawPort, error) {
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	info.FD = fd
	return &rawPort{info: info, fd: fd, wake: wake}, nil
}

// openTTY opens a terminal device without changing its settings or taking it for itself.
func openTTY(name string) (*rawPort, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	if _, err := unix.IoctlGetTermios(fd, unix.TCGETS2); err != nil {
		unix.Close(fd)
		return nil, errNoSerial
	}
	return newRawPort(fd, Info{Name: name, Kind: "raw"})
}

// openRaw opens a port without the library.
func openRaw(name string, spec protocol.PortSpec) (Port, error) {
	p, err := openTTY(name)
	if err != nil {
		return nil, err
	}
	if err = p.lock(); err == nil {
		err = p.configure(spec)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// lock keeps other daemons out: the terminal's exclusive use does not bind root, the lock does not bind other programs. It ends
// with the process.
func (p *rawPort) lock() error {
	if _, err := retry(func() (int, error) { return 0, unix.Flock(p.fd, unix.LOCK_EX|unix.LOCK_NB) }); err != nil {
		if err == unix.EWOULDBLOCK {
			err = unix.EBUSY
		}
		return err
	}
	p.owned = true
	return nil
}

// configure takes exclusive use, sets raw mode, characters and the speed, and drops what waited in the port.
func (p *rawPort) configure(spec protocol.PortSpec) error {
	if err := unix.IoctlSetInt(p.fd, unix.TIOCEXCL, 0); err != nil {
		return fmt.Errorf("exclusive use: %w", err)
	}
	if err := makeRaw(p.fd, spec); err != nil {
		return err
	}
	if err := p.verify(spec); err != nil {
		return err
	}
	return p.Flush()
}

// verify reads back whether the driver took the parity, which it may refuse without a word (a pseudo-terminal has none and wants none),
// and has it switch the transceiver where asked.
func (p *rawPort) verify(spec protocol.PortSpec) error {
	t, err := unix.IoctlGetTermios(p.fd, unix.TCGETS2)
	if err != nil {
		return errNoSerial
	}
	want := unix.Termios{}
	setCharacter(&want, spec)
	const mask = unix.PARENB | unix.PARODD | unix.CSTOPB
	if t.Cflag&mask != want.Cflag&mask && !isPTY(p.fd) {
		return fmt.Errorf("the driver of the port does not take parity %v with %d stop bits", spec.Parity, max(1, spec.StopBits))
	}
	if !spec.RS485 {
		return nil
	}
	if err := setRS485(p.fd); err != nil {
		return fmt.Errorf("the driver of the port does not switch an RS-485 transceiver (%w); leave modbus.rs485 out where the adapter does it",
			err)
	}
	return nil
}

// isPTY tells whether a descriptor is the side of a pseudo-terminal that is opened by name.
func isPTY(fd int) bool {
	var st unix.Stat_t
	const first, last = 136, 143 // major numbers, Documentation/admin-guide/devices.txt
	return unix.Fstat(fd, &st) == nil && unix.Major(st.Rdev) >= first && unix.Major(st.Rdev) <= last
}

// rs485 is struct serial_rs485 of the kernel.
type rs485 struct {
	flags  uint32
	delays [2]uint32 // ms, of the direction line, before and after sending
	_      [5]uint32
}

// Of its flags: RTS is up while sending and down after it.
const (
	rs485Enabled   = 1 << 0
	rs485RTSOnSend = 1 << 1
)

// setRS485 has the driver switch the direction of the transceiver by RTS.
func setRS485(fd int) error {
	r := rs485{flags: rs485Enabled | rs485RTSOnSend}
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSRS485, uintptr(unsafe.Pointer(&r))); e != 0 {
		return e
	}
	return nil
}

// release gives a port free for the next one who opens it, even while others hold this descriptor too.
func release(fd int) {
	unix.IoctlSetInt(fd, unix.TIOCNXCL, 0)
	unix.Flock(fd, unix.LOCK_UN)
}

// makeRaw turns off everything a terminal does to bytes. Baud 0 leaves the speed alone.
func makeRaw(fd int, spec protocol.PortSpec) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS2)
	if err != nil {
		return errNoSerial
	}
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON | unix.IXOFF | unix.INPCK
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cflag &^= unix.CRTSCTS
	t.Cflag |= unix.CREAD | unix.CLOCAL
	setCharacter(t, spec)
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	if spec.Baud > 0 {
		t.Cflag = t.Cflag&^unix.CBAUD | unix.BOTHER
		t.Ispeed, t.Ospeed = uint32(spec.Baud), uint32(spec.Baud)
	}
	if err := unix.IoctlSetTermios(fd, unix.TCSETS2, t); err != nil {
		return fmt.Errorf("set 8 bits, parity %v, %d stop bits at %d baud: %w", spec.Parity, max(1, spec.StopBits), spec.Baud, err)
	}
	return nil
}

// setCharacter sets data bits, parity and stop bits. What fails its parity is left to the checksum of the frame.
func setCharacter(t *unix.Termios, spec protocol.PortSpec) {
	t.Cflag &^= unix.CSIZE | unix.PARENB | unix.PARODD | unix.CSTOPB
	t.Cflag |= unix.CS8
	switch spec.Parity {
	case protocol.ParityOdd:
		t.Cflag |= unix.PARENB | unix.PARODD
	case protocol.ParityEven:
		t.Cflag |= unix.PARENB
	}
	if spec.StopBits == 2 {
		t.Cflag |= unix.CSTOPB
	}
}

func (p *rawPort) Info() Info { return p.info }

// Read waits in poll, then reads what is there.
func (p *rawPort) Read(b []byte) (int, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	begin := time.Now()
	for {
		got, err := p.poll(unix.POLLIN, ReadTimeout-time.Since(begin))
		if err != nil || got == 0 {
			return 0, err
		}
		n, err := unix.Read(p.fd, b)
		switch {
		case n > 0:
			return n, nil
		case err == unix.EINTR || err == unix.EAGAIN:
		case err == unix.EIO && p.info.Kind == "pty":
			// nobody has the other side open; that may change. Wait on the eventfd alone: the master polls as hung up
			_, err := p.poll(0, 10*time.Millisecond)
			return 0, err
		case err == nil && len(b) == 0:
			return 0, nil
		default:
			return 0, unpluggedError(err)
		}
	}
}

// Write writes as much as the line takes at a time.
func (p *rawPort) Write(b []byte, within time.Duration) (done int, err error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.isClosed.Load() {
		return 0, ErrClosed
	}
	var begin time.Time
	for done < len(b) {
		n, err := unix.Write(p.fd, b[done:])
		if n > 0 {
			done += n
			continue
		}
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			if begin.IsZero() {
				begin = time.Now()
			}
			left := within - time.Since(begin)
			if left <= 0 {
				return done, ErrTimeout
			}
			got, err := p.poll(unix.POLLOUT, left)
			if err != nil {
				return done, err
			}
			if got != 0 && got&unix.POLLOUT == 0 { // a pseudo-terminal whose other side nobody has open polls as hung up at once
				return done, ErrTimeout
			}
		default:
			return done, unpluggedError(err)
		}
	}
	return done, nil
}

// poll waits for events on the descriptor, and tells which there are, 0 for none; ErrClosed as soon as Close was called. With events 0 it
// waits for that alone.
func (p *rawPort) poll(events int16, left time.Duration) (got int16, err error) {
	fds := [2]unix.PollFd{{Fd: int32(p.wake), Events: unix.POLLIN}, {Fd: int32(p.fd), Events: events}}
	if events == 0 {
		fds[1].Fd = -1
	}
	for end := time.Now().Add(left); ; left = time.Until(end) {
		if p.isClosed.Load() {
			return 0, ErrClosed
		}
		ts := unix.NsecToTimespec(max(0, left.Nanoseconds()))
		_, _, e := unix.Syscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), 2, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		switch {
		case e == unix.EINTR:
			continue
		case e != 0:
			return 0, unpluggedError(e)
		case fds[0].Revents != 0:
			return 0, ErrClosed
		}
		return fds[1].Revents, nil
	}
}

// Flush drops unread input.
func (p *rawPort) Flush() error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.isClosed.Load() {
		return ErrClosed
	}
	if p.info.Kind != "socket" {
		return unix.IoctlSetInt(p.fd, unix.TCFLSH, unix.TCIFLUSH)
	}
	for b := make([]byte, 4096); ; {
		if n, err := unix.Read(p.fd, b); n <= 0 && err != unix.EINTR {
			return nil
		}
	}
}

// Close wakes whoever waits, lets them leave, and frees the descriptors.
func (p *rawPort) Close() error {
	if p.isClosed.Swap(true) {
		return nil
	}
	if _, err := unix.Write(p.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}); err != nil {
		return fmt.Errorf("wake the users of %s: %w", p.info.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owned {
		release(p.fd)
	}
	err := unix.Close(p.fd)
	unix.Close(p.wake)
	if p.onClose != nil {
		p.onClose()
	}
	return err
}

func retry(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if err != unix.EINTR {
			return n, err
		}
	}
}
