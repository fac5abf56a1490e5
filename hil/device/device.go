// Package device is both ends of a serial line: the rig as the loop's device (Rig), and the far end for a virtual rig
// (Firmware). Below them lie ports with deadlines in both directions, above them the loop, which is never made to wait.
//
// A sample's way in: the receiving thread blocks in Read; one stamp of the host's clock per read; the codec finds the
// frames; each is dated back by the bytes that came after it, 10 bits each at the line's speed; the newest values go into
// a newest-wins mailbox that Poll empties. A command's way out: Send leaves it in a mailbox and wakes the sending thread
// only if that one sleeps; it writes the newest command as soon as the line has carried the one before, so that no
// backlog of old commands builds up in the kernel.
//
// The device's clock is mapped to the host's by a line below all (device time, arrival) pairs of the last 50 s: delays
// only ever add, so the line that touches from below is the clock, and its slope the drift (clockFit).
//
// Assumed: 8 data bits, no parity, one stop bit, no flow control. Where baud is only a name, as on USB CDC, state it
// above the true throughput or as 0: dating back by too slow a line makes samples look older than they are.
package device

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Port is a byte stream with deadlines in both directions. Read belongs to one goroutine, everything else may be called
// from any. Read and Write allocate nothing as long as they succeed or time out.
type Port interface {
	// Read waits for at least one byte, for ReadTimeout at most: then it returns 0, nil.
	Read(p []byte) (n int, err error)
	// Write writes all of p or returns ErrTimeout after the given time, with the number of bytes the line took.
	Write(p []byte, within time.Duration) (n int, err error)
	// Flush drops what has arrived and was not read.
	Flush() error
	// Close ends a Read and a Write that are under way with ErrClosed, and frees the descriptors. It may be called twice.
	Close() error
	Info() Info
}

// Info names a port.
type Info struct {
	Name string // as opened
	Kind string // "serial" (of the library), "raw" (our own descriptor), "pty", "socket"
	FD   int    // descriptor of our own for ioctl; -1 if there is none
}

// ReadTimeout is how long a Read waits. It bounds how late a receiving thread notices what is not on its port.
const ReadTimeout = 50 * time.Millisecond

// DefaultBaud is used where no speed is given.
const DefaultBaud = 115200

// What a port can say besides success.
var (
	ErrTimeout   = errors.New("the peer does not read: write timed out")
	ErrUnplugged = errors.New("the device is gone (unplugged?)")
	ErrClosed    = textError("port closed", fs.ErrClosed)
)

// unpluggedError wraps what the system said when the device went away.
func unpluggedError(err error) error {
	if err == nil {
		return ErrUnplugged
	}
	return fmt.Errorf("%w: %w", ErrUnplugged, err)
}
