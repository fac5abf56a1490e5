package device

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Kept is the supervisor's share of the descriptors on which the core drives its ports, for the one moment when the core is
// dead: it writes safe frames. The core hands them over after every opening, so each belongs to the device that is plugged in
// now, whatever its name, and whoever has the name for himself. It also keeps DTR up, so boards that reset on DTR do not.
type Kept struct {
	sock  int                  // where the core hands over; −1: no core yet
	ports [MaxDevices]*rawPort // nil: the core does not have the port of this device open
}

// What passes: a letter, the number of the device, and with keptOpen a descriptor.
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

// HandOver returns the core's end for device i: it tells the supervisor of a port that was opened, and with −1 that it was closed. A
// supervisor that does not listen is not waited for.
func HandOver(sock uintptr, i int) func(fd int) {
	return func(fd int) {
		if fd < 0 {
			unix.Sendmsg(int(sock), []byte{keptClose, byte(i)}, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
			return
		}
		unix.Sendmsg(int(sock), []byte{keptOpen, byte(i)}, unix.UnixRights(fd), nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	}
}

// ReceivePorts takes the ports that the core handed over since the last call. It never waits.
func (k *Kept) ReceivePorts() {
	var what [2]byte
	var rights [64]byte
	for k.sock >= 0 {
		n, nr, _, _, err := unix.Recvmsg(k.sock, what[:], rights[:], unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return
		}
		if n != len(what) || int(what[1]) >= MaxDevices {
			continue
		}
		k.drop(int(what[1]))
		if what[0] == keptOpen {
			k.addPort(int(what[1]), rights[:nr])
		}
	}
}

// addPort makes a port of the descriptor in a message.
func (k *Kept) addPort(i int, rights []byte) {
	msgs, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(msgs) != 1 {
		return
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != 1 {
		return
	}
	k.ports[i], _ = newRawPort(fds[0], Info{Name: "port of the core", Kind: "raw"}) // without room for another descriptor there is no port
}

// Open tells whether the core had the port of device i open when it last said so.
func (k *Kept) Open(i int) bool { return k.ports[i] != nil }

// Write writes one frame (see SafeFrame) to device i within the given time.
func (k *Kept) Write(i int, frame []byte, within time.Duration) error {
	if k.ports[i] == nil {
		return errors.New("no port is open")
	}
	_, err := k.ports[i].Write(frame, within)
	return err
}

// Free lifts the locks and the exclusive use that a killed core left behind, so that its successor can open the ports.
func (k *Kept) Free() {
	for _, p := range k.ports {
		if p != nil {
			release(p.fd)
		}
	}
}

func (k *Kept) drop(i int) {
	if k.ports[i] != nil {
		k.ports[i].Close()
		k.ports[i] = nil
	}
}

// Close frees the descriptors.
func (k *Kept) Close() {
	for i := range k.ports {
		k.drop(i)
	}
	if k.sock >= 0 {
		unix.Close(k.sock)
		k.sock = -1
	}
}
