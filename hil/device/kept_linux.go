package device

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Kept is the supervisor's share of the descriptor on which the core drives its port, for the one moment when the core is
// dead: it writes safe frames. The core hands it over after every opening, so it belongs to the device that is plugged in
// now, whatever its name, and whoever has the name for himself. It also keeps DTR up, so boards that reset on DTR do not.
type Kept struct {
	sock int      // where the core hands over; −1: no core yet
	port *rawPort // nil: the core has no port open
}

// What passes: a letter, and with keptOpen a descriptor.
const (
	keptOpen  = 'o'
	keptClose = 'c'
)

// NewKept is a Kept without a port.
func NewKept() *Kept { return &Kept{sock: -1} }

// Expect prepares for the next core, which gets the file and gives its descriptor to HandOver. What the core before had
// open stays until the next one opens a port.
func (k *Kept) Expect() (*os.File, error) {
	fd, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socketpair for the port's descriptor: %w", err)
	}
	if k.sock >= 0 {
		unix.Close(k.sock)
	}
	k.sock = fd[0]
	return os.NewFile(uintptr(fd[1]), "port descriptors"), nil
}

// HandOver returns the core's end: it tells the supervisor of a port that was opened, and with −1 that it was closed. A
// supervisor that does not listen is not waited for.
func HandOver(sock uintptr) func(fd int) {
	return func(fd int) {
		if fd < 0 {
			unix.Sendmsg(int(sock), []byte{keptClose}, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
			return
		}
		unix.Sendmsg(int(sock), []byte{keptOpen}, unix.UnixRights(fd), nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	}
}

// Look takes what the core handed over since. It never waits.
func (k *Kept) Look() {
	var what [1]byte
	var rights [64]byte
	for k.sock >= 0 {
		n, nr, _, _, err := unix.Recvmsg(k.sock, what[:], rights[:], unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return
		}
		k.drop()
		if what[0] == keptOpen {
			k.take(rights[:nr])
		}
	}
}

// take makes a port of the descriptor in a message.
func (k *Kept) take(rights []byte) {
	msgs, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(msgs) != 1 {
		return
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != 1 {
		return
	}
	k.port, _ = newRawPort(fds[0], Info{Name: "port of the core", Kind: "raw"}) // without room for another descriptor there is no port
}

// Open tells whether the core had a port open when it last said so.
func (k *Kept) Open() bool { return k.port != nil }

// Write writes one frame (see SafeFrame) within the given time.
func (k *Kept) Write(frame []byte, within time.Duration) error {
	if k.port == nil {
		return errors.New("no port is open")
	}
	_, err := k.port.Write(frame, within)
	return err
}

// Free lifts the lock and the exclusive use that a killed core left behind, so that its successor can open the port.
func (k *Kept) Free() {
	if k.port != nil {
		release(k.port.fd)
	}
}

func (k *Kept) drop() {
	if k.port != nil {
		k.port.Close()
		k.port = nil
	}
}

// Close frees the descriptors.
func (k *Kept) Close() {
	k.drop()
	if k.sock >= 0 {
		unix.Close(k.sock)
		k.sock = -1
	}
}
